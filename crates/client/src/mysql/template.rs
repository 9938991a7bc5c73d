//! SQL with `%s` and `%(name)s`, taken apart by a lexer that knows MySQL's strings and comments.
//!
//! [`Template`] finds the placeholders; [`split_insert`] finds the part of an INSERT that can be repeated for each row.

use std::fmt;
use std::ops::Range;

/// A piece of a template.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Piece {
    /// Bytes of the text, as they are.
    Text(Range<usize>),
    /// One `%` for a doubled one.
    Percent,
    /// The next value of a sequence. `quoted` when it stands inside a string, a quoted name or a comment.
    Next {
        /// Inside quotes or a comment.
        quoted: bool,
    },
    /// The value of this name. `quoted` as above.
    Named {
        /// Where the name stands in the text.
        name: Range<usize>,
        /// Inside quotes or a comment.
        quoted: bool,
    },
}

/// A statement and its placeholders.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Template {
    /// In order.
    pub pieces: Vec<Piece>,
}

/// A `%` that is neither a placeholder nor doubled.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TemplateError {
    /// Where the `%` stands.
    pub offset: usize,
    found: Option<char>,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, found } = self;
        match found {
            Some(found) => write!(f, "`%{found}` at offset {offset} is no placeholder")?,
            None => write!(f, "`%` at the end is no placeholder")?,
        }
        f.write_str(": placeholders are `%s` and `%(name)s`, a literal percent sign is `%%`")
    }
}

impl std::error::Error for TemplateError {}

/// What the lexer is inside of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Inside {
    Code,
    Quoted(u8),
    Line,
    Block,
}

/// Walks over SQL, telling code from strings, quoted names and comments.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    sql: &'a [u8],
    pub(super) at: usize,
    pub(super) inside: Inside,
    backslash_escapes: bool,
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(sql: &'a [u8], backslash_escapes: bool) -> Self {
        Self { sql, at: 0, inside: Inside::Code, backslash_escapes }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.sql.get(self.at + ahead).copied()
    }

    /// Steps over one token of punctuation, or one byte. Answers the byte when it is code.
    pub(super) fn step(&mut self) -> Option<Option<u8>> {
        let byte = self.byte(0)?;
        let next = self.byte(1);
        let mut width = 1;
        let mut code = None;
        match self.inside {
            Inside::Code => match (byte, next) {
                (b'\'' | b'"' | b'`', _) => self.inside = Inside::Quoted(byte),
                (b'#', _) => self.inside = Inside::Line,
                // Two dashes begin a comment only before white space or the end: `5--3` is 8.
                (b'-', Some(b'-')) if self.byte(2).is_none_or(|b| b.is_ascii_whitespace() || b < b' ') => {
                    self.inside = Inside::Line;
                    width = 2;
                }
                // `/*!` and `/*M!` hold code for some servers, whose quotes count.
                (b'/', Some(b'*')) if self.byte(2) == Some(b'!') || self.sql[self.at..].starts_with(b"/*M!") => {
                    width = 2;
                }
                (b'/', Some(b'*')) => {
                    self.inside = Inside::Block;
                    width = 2;
                }
                _ => code = Some(byte),
            },
            Inside::Quoted(quote) => {
                if byte == b'\\' && quote != b'`' && self.backslash_escapes && next.is_some() {
                    width = 2;
                } else if byte == quote {
                    // A doubled quote closes and opens again: the same in effect.
                    self.inside = Inside::Code;
                }
            }
            Inside::Line => {
                if byte == b'\n' {
                    self.inside = Inside::Code;
                }
            }
            Inside::Block => {
                if byte == b'*' && next == Some(b'/') {
                    self.inside = Inside::Code;
                    width = 2;
                }
            }
        }
        self.at += width;
        Some(code)
    }
}

impl Template {
    /// Takes `sql` apart. `backslash_escapes` is false under the SQL mode NO_BACKSLASH_ESCAPES.
    pub fn parse(sql: &[u8], backslash_escapes: bool) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut lexer = Lexer::new(sql, backslash_escapes);
        let mut start = 0;
        loop {
            let at = lexer.at;
            match lexer.byte(0) {
                None => break,
                Some(b'%') => {}
                Some(b'\\') if lexer.byte(1) == Some(b'%') => {
                    // Whatever a backslash means, the percent sign behind it is a template's all the same.
                    lexer.at += 1;
                    continue;
                }
                Some(_) => {
                    lexer.step();
                    continue;
                }
            }
            let quoted = lexer.inside != Inside::Code;
            let found = lexer.byte(1).map(char::from);
            let invalid = TemplateError { offset: at, found };
            let (piece, width) = match lexer.byte(1) {
                Some(b's') => (Piece::Next { quoted }, 2),
                Some(b'%') => (Piece::Percent, 2),
                Some(b'(') => {
                    let name = &sql[at + 2..];
                    let len = name.iter().position(|&b| b == b')').ok_or(invalid.clone())?;
                    if name.get(len + 1) != Some(&b's') {
                        return Err(invalid);
                    }
                    (Piece::Named { name: at + 2..at + 2 + len, quoted }, len + 4)
                }
                _ => return Err(invalid),
            };
            if start < at {
                pieces.push(Piece::Text(start..at));
            }
            pieces.push(piece);
            lexer.at = at + width;
            start = lexer.at;
        }
        if start < sql.len() {
            pieces.push(Piece::Text(start..sql.len()));
        }
        Ok(Self { pieces })
    }

    /// True when there is nothing to fill in.
    pub fn is_constant(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Percent))
    }
}

/// What a text says of itself without being understood.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outline {
    /// The first word, in lower case; empty when there is none.
    pub keyword: String,
    /// Where the statement ends: without the semicolon and white space behind it.
    pub end: usize,
    /// It is one statement, which another may follow behind a semicolon: no quote or comment is left open.
    pub is_single: bool,
    /// It ends in a comment that the end of the line closes.
    pub ends_in_line_comment: bool,
}

impl Outline {
    /// Looks over `sql`.
    pub fn of(sql: &[u8], backslash_escapes: bool) -> Self {
        let mut lexer = Lexer::new(sql, backslash_escapes);
        let mut keyword = String::new();
        // Behind the last byte that is no white space; behind the last that is no semicolon either.
        let (mut end, mut semicolon) = (0, None);
        let mut is_single = true;
        while lexer.at < sql.len() {
            let at = lexer.at;
            if lexer.inside == Inside::Code && is_word(sql[at]) {
                let len = sql[at..].iter().position(|&b| !is_word(b)).unwrap_or(sql.len() - at);
                lexer.at += len;
                if keyword.is_empty() {
                    keyword = String::from_utf8_lossy(&sql[at..at + len]).to_ascii_lowercase();
                }
                is_single &= semicolon.is_none();
            } else {
                match lexer.step() {
                    Some(Some(b';')) => {
                        semicolon.get_or_insert(at);
                        continue;
                    }
                    Some(Some(byte)) if byte.is_ascii_whitespace() => continue,
                    Some(Some(_)) => is_single &= semicolon.is_none(),
                    _ => is_single &= semicolon.is_none() || !matches!(lexer.inside, Inside::Quoted(_)),
                }
            }
            if semicolon.is_none() {
                end = lexer.at;
            }
        }
        let ends_in_line_comment = lexer.inside == Inside::Line && semicolon.is_none();
        let is_single = is_single && matches!(lexer.inside, Inside::Code | Inside::Line);
        Self { keyword, end, is_single, ends_in_line_comment }
    }
}

/// An INSERT or REPLACE whose list of values can be repeated.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InsertParts {
    /// Up to the list of values.
    pub head: Range<usize>,
    /// One list of values with its parentheses.
    pub values: Range<usize>,
    /// Behind it.
    pub tail: Range<usize>,
}

/// Finds the list of values of `INSERT … VALUES (…) …`, if the statement is one that may carry several.
///
/// `None` for every other statement, for several statements, for more than one list, and when a placeholder stands
/// outside the list: each row then needs a statement of its own.
pub fn split_insert(sql: &[u8], backslash_escapes: bool) -> Option<InsertParts> {
    let mut lexer = Lexer::new(sql, backslash_escapes);
    let mut depth = 0_usize;
    let mut first = true;
    let mut values: Option<Range<usize>> = None;
    let mut open: Option<usize> = None;
    let mut awaits_list = false;
    while lexer.at < sql.len() {
        let at = lexer.at;
        if lexer.inside == Inside::Code && is_word(sql[at]) {
            let len = sql[at..].iter().position(|&b| !is_word(b)).unwrap_or(sql.len() - at);
            let word = &sql[at..at + len];
            lexer.at += len;
            // `%s` outside parentheses is no word of ours.
            let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
            if first {
                if !is("insert") && !is("replace") {
                    return None;
                }
                first = false;
            } else if awaits_list {
                return None;
            } else if depth == 0 && values.is_none() {
                if is("values") || is("value") {
                    awaits_list = true;
                } else if is("select") || is("set") || is("on") || is("with") || is("table") {
                    return None;
                }
            }
            continue;
        }
        let quotes_begin = matches!(sql[at], b'\'' | b'"' | b'`') && lexer.inside == Inside::Code;
        let Some(code) = lexer.step() else { break };
        if awaits_list && quotes_begin {
            return None;
        }
        match code {
            Some(b'(') => {
                if first {
                    return None;
                }
                if awaits_list {
                    awaits_list = false;
                    open = Some(at);
                }
                depth += 1;
            }
            Some(b')') => {
                depth = depth.checked_sub(1)?;
                if depth == 0
                    && let Some(start) = open.take()
                {
                    values = Some(start..lexer.at);
                }
            }
            // A second list, or a second statement.
            Some(b',') if depth == 0 && values.is_some() => {
                let behind = values.as_ref().map_or(0, |values| values.end);
                if sql[behind..at].iter().all(u8::is_ascii_whitespace) {
                    return None;
                }
            }
            Some(b';') if sql[lexer.at..].iter().any(|b| !b.is_ascii_whitespace()) => return None,
            Some(byte) if awaits_list && !byte.is_ascii_whitespace() => return None,
            _ => {}
        }
    }
    let values = values?;
    let end = sql.len() - sql.iter().rev().take_while(|b| b.is_ascii_whitespace() || **b == b';').count();
    let tail = values.end..end.max(values.end);
    let head = 0..values.start;
    let constant =
        |part: &Range<usize>| Template::parse(&sql[part.clone()], backslash_escapes).is_ok_and(|t| t.is_constant());
    (depth == 0 && constant(&head) && constant(&tail)).then_some(InsertParts { head, values, tail })
}

/// Letters of words, and bytes of characters beyond ASCII.
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders(sql: &str) -> Vec<String> {
        let template = Template::parse(sql.as_bytes(), true).unwrap();
        let text = |range: &Range<usize>| sql[range.clone()].to_owned();
        let mut found = Vec::new();
        for piece in &template.pieces {
            match piece {
                Piece::Next { quoted } => found.push(format!("?{}", if *quoted { "q" } else { "" })),
                Piece::Named { name, quoted } => {
                    found.push(format!("{}{}", text(name), if *quoted { "q" } else { "" }));
                }
                Piece::Text(_) | Piece::Percent => {}
            }
        }
        found
    }

    #[test]
    fn finds_placeholders_and_what_they_stand_in() {
        assert_eq!(placeholders("select %s, %(a b)s, 'x%%', '%s'"), ["?", "a b", "?q"]);
        assert_eq!(placeholders(r"select 'it\'s', %s"), ["?"]);
        assert_eq!(placeholders("select 'it''s', %s, \"a'b\", %s, `c'd`, %s"), ["?", "?", "?"]);
        assert_eq!(placeholders("select 5--3, %s -- it's\n, %s # '\n, %s /* ' */, %s"), ["?", "?", "?", "?"]);
        assert_eq!(placeholders("select /*! '%s', */ %s"), ["?q", "?"]);
        assert_eq!(placeholders("select -- %s\n %s"), ["?q", "?"]);
    }

    #[test]
    fn backslashes_count_only_where_the_server_says_so() {
        let sql = br"select '\', %s, '";
        let quoted = |escapes| match &Template::parse(sql, escapes).unwrap().pieces[1] {
            Piece::Next { quoted } => *quoted,
            piece => panic!("{piece:?}"),
        };
        assert!(quoted(true));
        assert!(!quoted(false));
    }

    #[test]
    fn refuses_other_uses_of_percent() {
        for sql in ["select 5 % 3", "select %d", "%", "like 'a%'", "%(name", "%(name)d"] {
            let error = Template::parse(sql.as_bytes(), true).unwrap_err();
            assert!(error.to_string().contains("%%"), "{error}");
        }
    }

    #[test]
    fn pieces_join_to_the_statement() {
        let sql = "a %% b %s c %(n)s";
        let template = Template::parse(sql.as_bytes(), true).unwrap();
        let mut joined = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(range) => joined += &sql[range.clone()],
                Piece::Percent => joined += "%",
                Piece::Next { .. } => joined += "1",
                Piece::Named { .. } => joined += "2",
            }
        }
        assert_eq!(joined, "a % b 1 c 2");
    }

    #[test]
    fn an_outline_tells_where_another_statement_may_follow() {
        let outline = |sql: &str| {
            let outline = Outline::of(sql.as_bytes(), true);
            (outline.keyword.clone(), sql[..outline.end].to_owned(), outline.is_single, outline.ends_in_line_comment)
        };
        let single = |keyword: &str, text: &str| (keyword.to_owned(), text.to_owned(), true, false);
        assert_eq!(outline("UPDATE t SET a = 1"), single("update", "UPDATE t SET a = 1"));
        assert_eq!(outline(" (select ';') ; ; \n"), single("select", " (select ';')"));
        assert_eq!(outline("/* a; */ Delete from `x;y`;"), single("delete", "/* a; */ Delete from `x;y`"));
        assert_eq!(outline("update t set a = 1; -- done"), single("update", "update t set a = 1"));
        assert!(outline("update t set a = 1 -- done").3);
        assert_eq!(outline("update t set a = 1 -- done; \n").0, "update");
        for sql in ["update t; delete from t", "select 'a", "select /* a", "do 1;;(select 1)", "do 1; 'x'"] {
            assert!(!outline(sql).2, "{sql}");
        }
        assert_eq!(outline("").0, "");
    }

    fn split(sql: &str) -> Option<(&str, &str, &str)> {
        let parts = split_insert(sql.as_bytes(), true)?;
        Some((&sql[parts.head], &sql[parts.values], &sql[parts.tail]))
    }

    #[test]
    fn splits_inserts_of_one_list() {
        assert_eq!(split("insert into t values (%s, %s)"), Some(("insert into t values ", "(%s, %s)", "")));
        assert_eq!(
            split("INSERT INTO t (a, `values`) VALUE (%s, now(%s)) ON DUPLICATE KEY UPDATE a = VALUES(a), b = 1;"),
            Some((
                "INSERT INTO t (a, `values`) VALUE ",
                "(%s, now(%s))",
                " ON DUPLICATE KEY UPDATE a = VALUES(a), b = 1"
            ))
        );
        assert_eq!(
            split("replace into t(a) values (%s) as new"),
            Some(("replace into t(a) values ", "(%s)", " as new"))
        );
        assert_eq!(
            split("/* values (%%) */ insert into t values ('),(', %s) -- end"),
            Some(("/* values (%%) */ insert into t values ", "('),(', %s)", " -- end"))
        );
        assert_eq!(
            split("insert into t (a) values (%(a)s) returning id, a"),
            Some(("insert into t (a) values ", "(%(a)s)", " returning id, a"))
        );
    }

    #[test]
    fn leaves_other_statements_alone() {
        for sql in [
            "update t set a = %s where b = %s",
            "delete from t where a = %s",
            "insert into t select %s, %s",
            "insert into t (a) select x from u on duplicate key update a = values(a)",
            "insert into t set a = %s",
            "insert into t values (%s), (%s)",
            "insert into t values (%s) on duplicate key update a = %s",
            "insert into t values (%s); insert into u values (1)",
            "insert into t values (%s",
            "insert into t values row(%s)",
            "(insert into t values (%s))",
            "select 'insert into t values (1)'",
            "insert into t values 'x' (%s)",
            "",
        ] {
            assert_eq!(split(sql), None, "{sql}");
        }
    }
}
