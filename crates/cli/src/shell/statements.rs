//! Where a statement ends: what is typed is sent when its last line ends with a terminator.

use crate::conversation::Dialect;

/// What ends a statement where nobody has said otherwise.
pub(super) const TERMINATOR: &str = ";";

/// What stands at the beginning of a text.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Cut<'a> {
    /// A statement without its terminator, and what stands behind that.
    Statement(&'a str, &'a str),
    /// A statement that goes on, and what is open in it.
    Open(Inside),
    /// Blanks and comments.
    Nothing,
}

/// What a text ends in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Inside {
    /// A statement.
    Statement,
    /// Parentheses.
    Parentheses,
    /// A comment.
    Comment,
    /// Quotes of this kind; `$` are those of PostgreSQL between dollars.
    Quotes(char),
    /// The body of a routine.
    Body,
}

/// Cuts the first statement off.
pub(super) fn cut<'a>(sql: Dialect, text: &'a str, terminator: &str) -> Cut<'a> {
    Scanner { sql, text, at: 0, words: Vec::new(), last: String::new(), depth: 0, body: 0, begun: false }
        .run(terminator)
}

/// Whether a text is one statement, with or without its terminator.
pub(crate) fn is_one_statement(sql: Dialect, text: &str) -> bool {
    match cut(sql, text, TERMINATOR) {
        Cut::Statement(_, behind) => matches!(cut(sql, behind, TERMINATOR), Cut::Nothing),
        Cut::Open(_) => true,
        Cut::Nothing => false,
    }
}

struct Scanner<'a> {
    sql: Dialect,
    text: &'a str,
    at: usize,
    /// The first words, in lower case: they tell whether a routine is made.
    words: Vec<String>,
    /// The word before.
    last: String,
    /// Open parentheses.
    depth: usize,
    /// Blocks of a routine's body that are open.
    body: usize,
    /// There is more than blanks and comments.
    begun: bool,
}

/// So many words tell whether a statement makes a routine: CREATE OR REPLACE DBA PROCEDURE.
const TELLING: usize = 5;

impl<'a> Scanner<'a> {
    fn run(mut self, terminator: &str) -> Cut<'a> {
        while let Some(character) = self.rest().chars().next() {
            if self.is_free() && !terminator.is_empty() && self.rest().starts_with(terminator) {
                let behind = &self.text[self.at + terminator.len()..];
                if self.begun {
                    return Cut::Statement(self.text[..self.at].trim(), behind);
                }
                // A statement of nothing.
                return cut(self.sql, behind, terminator);
            }
            match self.comment() {
                Some(true) => continue,
                Some(false) => return self.open(Inside::Comment),
                None => {}
            }
            if character.is_whitespace() {
                self.at += character.len_utf8();
                continue;
            }
            self.begun = true;
            match character {
                '\'' | '"' | '`' => {
                    if !self.quoted(character) {
                        return self.open(Inside::Quotes(character));
                    }
                }
                '$' if self.sql == Dialect::Postgres => match self.dollar_quoted() {
                    Some(true) => {}
                    Some(false) => return self.open(Inside::Quotes('$')),
                    None => self.at += 1,
                },
                _ if character.is_alphanumeric() || character == '_' => self.word(),
                _ => {
                    match character {
                        '(' => self.depth += 1,
                        ')' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                    self.at += character.len_utf8();
                }
            }
        }
        match self.begun {
            false => Cut::Nothing,
            true if self.body > 0 => Cut::Open(Inside::Body),
            true if self.depth > 0 => Cut::Open(Inside::Parentheses),
            true => Cut::Open(Inside::Statement),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn open(&self, inside: Inside) -> Cut<'a> {
        Cut::Open(inside)
    }

    /// A terminator here ends the statement.
    fn is_free(&self) -> bool {
        // MySQL's terminator is another one where routines are made.
        self.sql == Dialect::MySql || (self.body == 0 && self.depth == 0)
    }

    /// Goes behind a comment; whether it ends. `None` where there is none.
    fn comment(&mut self) -> Option<bool> {
        let rest = self.rest();
        let line = rest.starts_with("--") || (self.sql == Dialect::MySql && rest.starts_with('#'));
        if line {
            self.at += rest.find('\n').map_or(rest.len(), |end| end + 1);
            return Some(true);
        }
        if self.sql == Dialect::Informix && rest.starts_with('{') && !self.is_literal_brace() {
            return Some(self.skip_behind('}'.len_utf8(), rest[1..].find('}').map(|end| end + 1)));
        }
        if !rest.starts_with("/*") {
            return None;
        }
        if self.sql != Dialect::Postgres {
            return Some(self.skip_behind(2, rest[2..].find("*/").map(|end| end + 2)));
        }
        // They nest.
        let (mut depth, mut at) = (1, 2);
        while depth > 0 {
            let Some(next) = rest[at..].find(['*', '/']).map(|next| at + next) else { return Some(false) };
            if rest[next..].starts_with("*/") {
                depth -= 1;
                at = next + 2;
            } else if rest[next..].starts_with("/*") {
                depth += 1;
                at = next + 2;
            } else {
                at = next + 1;
            }
        }
        self.at += at;
        Some(true)
    }

    /// Braces behind these words hold members of a collection, not a comment.
    fn is_literal_brace(&self) -> bool {
        matches!(self.last.as_str(), "set" | "multiset" | "list" | "row")
    }

    fn skip_behind(&mut self, width: usize, end: Option<usize>) -> bool {
        match end {
            Some(end) => {
                self.at += end + width;
                true
            }
            None => false,
        }
    }

    /// Goes behind a text in quotes; false when it does not end.
    fn quoted(&mut self, quote: char) -> bool {
        let escapes = match self.sql {
            Dialect::MySql => quote != '`',
            Dialect::Postgres => quote == '\'' && self.last == "e" && self.text[..self.at].ends_with(['e', 'E']),
            Dialect::Informix => false,
        };
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            if escapes && character == '\\' {
                characters.next();
            } else if character == quote {
                // A doubled one begins the next at once, which comes to the same.
                self.at += at + quote.len_utf8();
                self.last.clear();
                return true;
            }
        }
        false
    }

    /// Goes behind `$tag$ … $tag$`; whether it ends. `None` where none begins.
    fn dollar_quoted(&mut self) -> Option<bool> {
        let rest = self.rest();
        let end = rest[1..].find('$')? + 2;
        let tag = &rest[..end];
        let name = &tag[1..end - 1];
        let is_tag =
            name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_numeric());
        if !is_tag {
            return None;
        }
        Some(match rest[end..].find(tag) {
            Some(close) => {
                self.at += end + close + tag.len();
                true
            }
            None => false,
        })
    }

    fn word(&mut self) {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
        let word = rest[..end].to_lowercase();
        self.at += end;
        if self.makes_routine() {
            match self.sql {
                // BEGIN ATOMIC … END; a body in quotes is a text.
                Dialect::Postgres => match word.as_str() {
                    "begin" => self.body += 1,
                    "case" if self.body > 0 => self.body += 1,
                    "end" => self.body = self.body.saturating_sub(1),
                    _ => {}
                },
                Dialect::Informix if self.last == "end" && matches!(word.as_str(), "procedure" | "function") => {
                    self.body = 0
                }
                Dialect::Informix | Dialect::MySql => {}
            }
        }
        if self.words.len() < TELLING {
            self.words.push(word.clone());
            // An SPL routine goes on until its END.
            if self.sql == Dialect::Informix
                && self.makes_routine()
                && matches!(word.as_str(), "procedure" | "function")
            {
                self.body = 1;
            }
        }
        self.last = word;
    }

    fn makes_routine(&self) -> bool {
        let mut words = self.words.iter().map(String::as_str);
        words.next() == Some("create")
            && words
                .find(|word| !matches!(*word, "or" | "replace" | "dba"))
                .is_some_and(|word| matches!(word, "procedure" | "function"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(sql: Dialect, text: &str) -> Vec<&str> {
        let (mut rest, mut found) = (text, Vec::new());
        while let Cut::Statement(statement, behind) = cut(sql, rest, TERMINATOR) {
            found.push(statement);
            rest = behind;
        }
        found
    }

    #[test]
    fn terminators_in_quotes_and_comments_end_nothing() {
        let text = "select ';', \"a;b\" -- ;\n/* ; /* ; */ ; */ from t; select $$;$$, $a$;$$;$a$ ; ;; select e'\\';'; select (1;2)";
        assert_eq!(
            all(Dialect::Postgres, text),
            ["select ';', \"a;b\" -- ;\n/* ; /* ; */ ; */ from t", "select $$;$$, $a$;$$;$a$", "select e'\\';'",]
        );
        assert_eq!(all(Dialect::MySql, "select '\\';', `;`; # ;\nselect 2;"), ["select '\\';', `;`", "# ;\nselect 2"]);
        assert_eq!(
            all(Dialect::Informix, "select '\\'; {;} select set{1}, 2;"),
            ["select '\\'", "{;} select set{1}, 2"]
        );
    }

    #[test]
    fn what_is_open_is_told() {
        let open = |sql, text| match cut(sql, text, TERMINATOR) {
            Cut::Open(inside) => inside,
            other => panic!("{other:?}"),
        };
        assert_eq!(open(Dialect::Postgres, "select 'a"), Inside::Quotes('\''));
        assert_eq!(open(Dialect::Postgres, "select $$ ; "), Inside::Quotes('$'));
        assert_eq!(open(Dialect::Postgres, "select (1;"), Inside::Parentheses);
        assert_eq!(open(Dialect::Postgres, "select 1 /* ;"), Inside::Comment);
        assert_eq!(open(Dialect::Postgres, "select 1"), Inside::Statement);
        assert_eq!(cut(Dialect::Postgres, " -- nothing\n ", TERMINATOR), Cut::Nothing);
    }

    #[test]
    fn bodies_of_routines_hold_terminators() {
        let text = "create function f() returns int begin atomic select case when true then 1 end; end; select 1;";
        assert_eq!(all(Dialect::Postgres, text).len(), 2);
        let text = "create procedure p() begin; end;";
        assert_eq!(all(Dialect::Postgres, text).len(), 1);
        let text = "create dba function f() returning int; define a int; return 1; end function; select 1 from t;";
        assert_eq!(all(Dialect::Informix, text).len(), 2);
        assert_eq!(cut(Dialect::Informix, "create procedure p() let a = 1;", TERMINATOR), Cut::Open(Inside::Body));
        assert_eq!(all(Dialect::Postgres, "begin; select 1; end;").len(), 3);
    }

    #[test]
    fn mysqls_terminator_is_what_the_user_says() {
        let text = "create procedure p() begin select 1; end//select 2//";
        let Cut::Statement(first, rest) = cut(Dialect::MySql, text, "//") else { panic!("none") };
        assert_eq!((first, rest), ("create procedure p() begin select 1; end", "select 2//"));
    }
}
