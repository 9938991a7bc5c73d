//! Where the statements of a script begin and end, before anybody parses them: as psql cuts what it is given.
//!
//! A parser stops at the first error of a text; who wants to know of each statement cuts it first. Statements end at a `;`
//! outside of strings, comments, parentheses and the bodies of SQL-standard routines (`BEGIN ATOMIC … END`).

use std::ops::Range;

/// A piece of a script.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Piece {
    /// A statement, without its `;`.
    Statement(Range<usize>),
    /// A command to psql, such as `\connect`.
    Command(Range<usize>),
    /// The lines behind `COPY … FROM stdin;` up to `\.`.
    Rows(Range<usize>),
}

/// Cuts a script into its pieces; what is never closed (a string, a comment) reaches to the end.
pub fn split(text: &str) -> Vec<Piece> {
    let mut splitter = Splitter { text, bytes: text.as_bytes(), at: 0, pieces: Vec::new() };
    while splitter.piece() {}
    splitter.pieces
}

struct Splitter<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    pieces: Vec<Piece>,
}

impl Splitter<'_> {
    /// Takes the next piece; false at the end.
    fn piece(&mut self) -> bool {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte.is_ascii_whitespace() || byte == b';' {
                self.at += 1;
            } else if !self.comment() {
                break;
            }
        }
        let start = self.at;
        match self.bytes.get(start) {
            None => false,
            Some(b'\\') => {
                self.at = self.line_end();
                self.pieces.push(Piece::Command(start..self.text[..self.at].trim_end().len()));
                true
            }
            Some(_) => {
                let end = self.statement();
                let statement = start..self.text[..end].trim_end().len();
                let takes_rows = is_copy_in(&self.text[statement.clone()]);
                self.pieces.push(Piece::Statement(statement));
                if takes_rows {
                    self.rows();
                }
                true
            }
        }
    }

    /// Goes behind the statement; the end of what belongs to it.
    fn statement(&mut self) -> usize {
        let start = self.at;
        let (mut parentheses, mut atomic) = (0usize, 0usize);
        let mut last = "";
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b';' if parentheses == 0 && atomic == 0 => {
                    self.at += 1;
                    return self.at - 1;
                }
                b'(' => parentheses += 1,
                b')' => parentheses = parentheses.saturating_sub(1),
                b'\'' => {
                    self.quoted(b'\'', last.eq_ignore_ascii_case("e") && self.text[..self.at].ends_with(last));
                    continue;
                }
                b'"' => {
                    self.quoted(b'"', false);
                    continue;
                }
                b'$' if self.dollar_quoted() => continue,
                b'-' | b'/' if self.comment() => continue,
                // psql takes one in the middle of a statement, too, such as `\gexec`: it ends the statement.
                b'\\' => return self.at,
                _ if is_word(byte) => {
                    let from = self.at;
                    while self.bytes.get(self.at).is_some_and(|&byte| is_word(byte) || byte == b'$') {
                        self.at += 1;
                    }
                    let word = &self.text[from..self.at];
                    let is = |wanted: &str| word.eq_ignore_ascii_case(wanted);
                    if is("atomic") && last.eq_ignore_ascii_case("begin") && defines_routine(&self.text[start..from]) {
                        atomic = 1;
                    } else if atomic > 0 && (is("begin") || is("case")) {
                        atomic += 1;
                    } else if atomic > 0 && is("end") {
                        atomic -= 1;
                    }
                    last = word;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at
    }

    /// Goes behind a string or a quoted name; a doubled quote is part of it.
    fn quoted(&mut self, quote: u8, escapes: bool) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            if byte == b'\\' && escapes {
                self.at += 1;
            } else if byte == quote {
                if self.bytes.get(self.at) != Some(&quote) {
                    return;
                }
                self.at += 1;
            }
        }
        self.at = self.bytes.len();
    }

    /// Goes behind `$tag$ … $tag$`, if that begins here.
    fn dollar_quoted(&mut self) -> bool {
        let rest = &self.text[self.at + 1..];
        let Some(length) = rest.find('$') else { return false };
        let tag = &rest[..length];
        let is_tag = !tag.starts_with(|first: char| first.is_ascii_digit()) && tag.bytes().all(is_word);
        if !is_tag {
            return false;
        }
        let mark = &self.text[self.at..self.at + length + 2];
        let body = self.at + mark.len();
        self.at = self.text[body..].find(mark).map_or(self.bytes.len(), |found| body + found + mark.len());
        true
    }

    /// Goes behind a comment, if one begins here; those with `/*` may be nested.
    fn comment(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"--") {
            self.at = self.line_end();
            return true;
        }
        if !rest.starts_with(b"/*") {
            return false;
        }
        let mut depth = 0usize;
        while self.at < self.bytes.len() {
            if self.bytes[self.at..].starts_with(b"/*") {
                depth += 1;
                self.at += 2;
            } else if self.bytes[self.at..].starts_with(b"*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    break;
                }
            } else {
                self.at += 1;
            }
        }
        true
    }

    /// Goes behind the rows of a COPY.
    fn rows(&mut self) {
        self.at = self.line_end();
        let start = self.at;
        while self.at < self.bytes.len() {
            let line = self.at;
            self.at = self.line_end();
            if self.text[line..self.at].trim_end() == "\\." {
                self.pieces.push(Piece::Rows(start..line));
                return;
            }
        }
        self.pieces.push(Piece::Rows(start..self.at));
    }

    /// Where the next line begins.
    fn line_end(&self) -> usize {
        self.text[self.at..].find('\n').map_or(self.bytes.len(), |length| self.at + length + 1)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The words before a body.
fn defines_routine(head: &str) -> bool {
    let mut words = head.split_ascii_whitespace().take(4);
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("create"))
        && words.any(|word| word.eq_ignore_ascii_case("function") || word.eq_ignore_ascii_case("procedure"))
}

/// Rows follow in the script.
fn is_copy_in(statement: &str) -> bool {
    let words: Vec<&str> = statement.split_ascii_whitespace().collect();
    words.first().is_some_and(|word| word.eq_ignore_ascii_case("copy"))
        && words.windows(2).any(|pair| {
            pair[0].eq_ignore_ascii_case("from") && pair[1].trim_end_matches(';').eq_ignore_ascii_case("stdin")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<String> {
        let piece = |piece| match piece {
            Piece::Statement(range) => format!("S {}", &text[range]),
            Piece::Command(range) => format!("C {}", &text[range]),
            Piece::Rows(range) => format!("R {}", &text[range]),
        };
        split(text).into_iter().map(piece).collect()
    }

    #[test]
    fn semicolons_inside_of_something_end_nothing() {
        assert_eq!(
            said("a; b -- ;\n; /* ; /* ; */ ; */ c 'd;''e' \"f;\"\"\" ; ;"),
            ["S a", "S b -- ;", "S c 'd;''e' \"f;\"\"\""]
        );
        assert_eq!(said("do $x$ ; $$ ; $x$; select $1;"), ["S do $x$ ; $$ ; $x$", "S select $1"]);
        assert_eq!(said(r"select e'\';', 'a\'; b"), [r"S select e'\';', 'a\'", "S b"]);
        assert_eq!(
            said("create rule r as on insert to t do (a; b); c"),
            ["S create rule r as on insert to t do (a; b)", "S c"]
        );
        assert_eq!(
            said("create function f() returns int begin atomic select case when true then 1 end; end; b"),
            ["S create function f() returns int begin atomic select case when true then 1 end; end", "S b"]
        );
        assert_eq!(said("select 'ä; never closed"), ["S select 'ä; never closed"]);
        assert_eq!(said("begin; end; b"), ["S begin", "S end", "S b"]);
    }

    #[test]
    fn dumps_have_rows_and_commands() {
        assert_eq!(
            said("\\restrict x\nCOPY public.t (a) FROM stdin;\n1;\\N\n\\.\n\nselect 1;\n\\connect b\n"),
            ["C \\restrict x", "S COPY public.t (a) FROM stdin", "R 1;\\N\n", "S select 1", "C \\connect b"]
        );
    }
}
