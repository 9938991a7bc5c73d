use std::fmt;

/// SQL whose placeholders were found: each has become a `?`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Statement {
    /// The text for the server.
    pub sql: String,
    /// What stands at each `?`, in their order.
    pub params: Vec<Placeholder>,
}

/// What a placeholder asks for.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Placeholder {
    /// The value of this place, from 0: `?` or `:1`.
    Place(usize),
    /// The value of this name: `:name`.
    Name(String),
}

/// Why placeholders cannot be told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PlaceholderError {
    /// More than one style in a statement.
    Mixed,
    /// `:0`, or a number that no list has.
    Number,
}

impl fmt::Display for PlaceholderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mixed => "a statement uses placeholders of one style: `?`, `:1` or `:name`",
            Self::Number => "numbered placeholders begin with `:1`",
        })
    }
}

impl std::error::Error for PlaceholderError {}

/// Most values that a statement can have.
const MOST: usize = 32_767;

/// A part of a statement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Token<'a> {
    /// Anything that means nothing here, literals and comments among it.
    Text(&'a str),
    Question,
    Number(&'a str),
    Name(&'a str),
}

/// Splits a statement by Informix's rules: `''` doubles a quote and a backslash is nothing special, `--`, `/* */` and
/// `{ }` are comments, `::` is the cast, and a colon behind a name belongs to `database:table`.
struct Lexer<'a> {
    rest: &'a str,
    /// The last character before `rest` that is not blank, and whether blanks follow it.
    before: (Option<char>, bool),
    /// The last word, when nothing but blanks follows it.
    word: &'a str,
}

impl<'a> Lexer<'a> {
    const fn new(sql: &'a str) -> Self {
        Self { rest: sql, before: (None, false), word: "" }
    }

    fn cut(&mut self, len: usize) -> &'a str {
        let (head, tail) = self.rest.split_at(len);
        self.rest = tail;
        head
    }

    /// Up to and with the first `end` behind `skip` bytes; everything when there is none.
    fn until(&mut self, skip: usize, end: &str) -> &'a str {
        let len = self.rest[skip..].find(end).map_or(self.rest.len(), |at| skip + at + end.len());
        self.cut(len)
    }

    fn quoted(&mut self, quote: char) -> &'a str {
        let mut len = 1;
        loop {
            match self.rest[len..].find(quote) {
                None => return self.cut(self.rest.len()),
                Some(at) => len += at + 1,
            }
            if !self.rest[len..].starts_with(quote) {
                return self.cut(len);
            }
            len += 1;
        }
    }

    fn word_len(text: &str) -> usize {
        text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(text.len())
    }

    /// Braces behind `LIST`, `MULTISET` and `SET` hold a collection; elsewhere a comment. `UPDATE t SET {…}` has a blank.
    fn opens_collection(&self) -> bool {
        let is = |keyword: &str| self.word.eq_ignore_ascii_case(keyword);
        is("LIST") || is("MULTISET") || (is("SET") && !self.before.1)
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let first = self.rest.chars().next()?;
        let second = self.rest[first.len_utf8()..].chars().next();
        let token = match (first, second) {
            ('\'' | '"', _) => Token::Text(self.quoted(first)),
            ('-', Some('-')) => return Some(Token::Text(self.until(2, "\n"))),
            ('/', Some('*')) => return Some(Token::Text(self.until(2, "*/"))),
            ('{', _) if !self.opens_collection() => return Some(Token::Text(self.until(1, "}"))),
            ('?', _) => {
                self.cut(1);
                Token::Question
            }
            (':', Some(':')) => Token::Text(self.cut(2)),
            (':', Some(c)) if (c.is_alphanumeric() || c == '_') && !self.colon_joins() => {
                self.cut(1);
                let word = self.cut(Self::word_len(self.rest));
                if word.bytes().all(|byte| byte.is_ascii_digit()) { Token::Number(word) } else { Token::Name(word) }
            }
            (c, _) if c.is_whitespace() => {
                self.before.1 = true;
                let len = self.rest.find(|c: char| !c.is_whitespace()).unwrap_or(self.rest.len());
                return Some(Token::Text(self.cut(len)));
            }
            (c, _) if c.is_alphanumeric() || c == '_' => {
                let word = self.cut(Self::word_len(self.rest));
                self.word = word;
                self.before = (word.chars().last(), false);
                return Some(Token::Text(word));
            }
            (c, _) => Token::Text(self.cut(c.len_utf8())),
        };
        self.word = "";
        self.before = (
            match token {
                Token::Text(text) => text.chars().last(),
                _ => Some('?'),
            },
            false,
        );
        Some(token)
    }
}

impl Lexer<'_> {
    /// True when a colon continues what is before it: `database:table`, `12:34`.
    fn colon_joins(&self) -> bool {
        !self.before.1
            && self.before.0.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '"' | '\'' | ':'))
    }
}

/// Finds the placeholders of a statement.
pub fn parse(sql: &str) -> Result<Statement, PlaceholderError> {
    let mut statement = Statement { sql: String::with_capacity(sql.len()), params: Vec::new() };
    let mut style = None;
    for token in Lexer::new(sql) {
        let (this, param) = match token {
            Token::Text(text) => {
                statement.sql.push_str(text);
                continue;
            }
            Token::Question => (0, Placeholder::Place(statement.params.len())),
            Token::Number(digits) => match digits.parse() {
                Ok(number @ 1..=MOST) => (1, Placeholder::Place(number - 1)),
                _ => return Err(PlaceholderError::Number),
            },
            Token::Name(name) => (2, Placeholder::Name(name.to_owned())),
        };
        if *style.get_or_insert(this) != this {
            return Err(PlaceholderError::Mixed);
        }
        statement.sql.push('?');
        statement.params.push(param);
    }
    Ok(statement)
}

/// What a `?` of a statement stands for when its value is a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum List {
    /// So many values, at least one.
    Values(usize),
    /// None, of this type.
    Empty(String),
}

/// True for neither white space nor a comment; an opening brace alone is that of a collection.
fn matters(token: &Token<'_>) -> bool {
    match token {
        Token::Text(text) => {
            let comment = text.starts_with("--") || text.starts_with("/*") || (text.starts_with('{') && text.len() > 1);
            !comment && !text.starts_with(char::is_whitespace)
        }
        _ => true,
    }
}

/// True when a `?` stands right behind IN, where only a list can.
pub fn wants_list(sql: &str) -> bool {
    let tokens: Vec<Token<'_>> = Lexer::new(sql).filter(matters).collect();
    let is_in = |token: &Token<'_>| matches!(token, Token::Text(text) if text.eq_ignore_ascii_case("in"));
    tokens.windows(2).any(|pair| is_in(&pair[0]) && pair[1] == Token::Question)
}

/// Writes a statement with lists in the places of some of its `?`, by their numbers from 0, in ascending order: `(?, ?, ?)`, and a
/// query without rows for a list without values, so that IN is false then and NOT IN true. `None` when one of them does
/// not stand alone behind IN.
pub fn expand(sql: &str, lists: &[(usize, List)]) -> Option<String> {
    let tokens: Vec<Token<'_>> = Lexer::new(sql).collect();
    let is = |at: Option<usize>, wanted: &str| {
        at.is_some_and(|at| matches!(tokens[at], Token::Text(text) if text.eq_ignore_ascii_case(wanted)))
    };
    let before = |at: usize| (0..at).rev().find(|&at| matters(&tokens[at]));
    let behind = |at: usize| (at + 1..tokens.len()).find(|&at| matters(&tokens[at]));
    let mut expanded = String::with_capacity(sql.len() + 16 * lists.len());
    let (mut questions, mut lists) = (0, lists.iter().peekable());
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Question => {
                let number = questions;
                questions += 1;
                let Some((_, list)) = lists.next_if(|(place, _)| *place == number) else {
                    expanded.push('?');
                    continue;
                };
                let previous = before(at);
                let enclosed = is(previous, "(") && is(previous.and_then(before), "in") && is(behind(at), ")");
                if !enclosed && !is(previous, "in") {
                    return None;
                }
                let members = match list {
                    List::Values(count) => vec!["?"; *count].join(", "),
                    List::Empty(ty) => format!("SELECT NULL::{ty} FROM systables WHERE tabid < 0"),
                };
                match enclosed {
                    true => expanded.push_str(&members),
                    // `IN?` is written without a blank by some.
                    false => expanded.extend(["(", &members, ")"]),
                }
            }
            Token::Text(text) => expanded.push_str(text),
            Token::Number(word) | Token::Name(word) => expanded.extend([":", word]),
        }
    }
    lists.next().is_none().then_some(expanded)
}

/// How many `?` a statement has, whatever else looks like a placeholder.
pub fn count_questions(sql: &str) -> usize {
    Lexer::new(sql).filter(|token| *token == Token::Question).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(sql: &str) -> Vec<Placeholder> {
        parse(sql).unwrap().params
    }

    #[test]
    fn finds_all_three_styles() {
        let named = parse("select * from t where a = :low and b < :high or c = :low").unwrap();
        assert_eq!(named.sql, "select * from t where a = ? and b < ? or c = ?");
        let name = |name: &str| Placeholder::Name(name.into());
        assert_eq!(named.params, [name("low"), name("high"), name("low")]);
        assert_eq!(places("values (:2, :1)"), [Placeholder::Place(1), Placeholder::Place(0)]);
        assert_eq!(places("values (?, ?)"), [Placeholder::Place(0), Placeholder::Place(1)]);
        assert_eq!(places("values (?,?::int,:: ?)").len(), 3);
    }

    #[test]
    fn leaves_literals_comments_and_names_alone() {
        for sql in [
            "select 'http://host:8080/?x=:y' from t",
            "select 'it''s :1 ?' from t",
            "select '\\' , ':a' from t",
            "select \"a?:b\"\"c:d\" from t",
            "select a -- what? :b\nfrom t",
            "select a /* ? :b */ from t",
            "select a {? :b} from t",
            "update t set {?} a = 1",
            "select a::int from t",
            "select a from db:owner.table, db2@server:table",
            "select a from \"db\":t",
            "select DATETIME (12:34:56) HOUR TO SECOND from t",
            "select 'never closed ? :a",
            "select {never closed ? :a",
            "select a / b - c : d",
            "",
        ] {
            let statement = parse(sql).unwrap();
            assert_eq!((statement.sql.as_str(), statement.params.len()), (sql, 0), "{sql}");
        }
    }

    #[test]
    fn knows_where_only_a_list_can_stand() {
        assert!(wants_list("delete from t where a not in -- why\n ?") && wants_list("a IN?"));
        assert!(!wants_list("a in (?)") && !wants_list("a = ? and b in (1)") && !wants_list("'in' ?"));
    }

    #[test]
    fn looks_into_collections() {
        for sql in ["values (LIST{?, ?})", "values (multiset {?,?})", "values (SET{?,?})"] {
            assert_eq!(places(sql).len(), 2, "{sql}");
        }
    }

    #[test]
    fn refuses_what_is_ambiguous() {
        assert_eq!(parse("values (?, :1)"), Err(PlaceholderError::Mixed));
        assert_eq!(parse("values (:a, :1)"), Err(PlaceholderError::Mixed));
        assert_eq!(parse("values (:0)"), Err(PlaceholderError::Number));
        assert_eq!(parse("values (:99999999999999999999999)"), Err(PlaceholderError::Number));
    }

    #[test]
    fn counts_questions_only() {
        assert_eq!(count_questions("select ? from t where a = :b and c = '?' -- ?\n and d = ?"), 2);
    }

    #[test]
    fn writes_lists_behind_in() {
        let three = |place| [(place, List::Values(3))];
        let none = |place| [(place, List::Empty("CHAR(1)".into()))];
        let written = |sql: &str, lists: &[(usize, List)]| expand(sql, lists).unwrap();
        assert_eq!(written("a IN ?", &three(0)), "a IN (?, ?, ?)");
        assert_eq!(written("a in(?) and b = ?", &three(0)), "a in(?, ?, ?) and b = ?");
        assert_eq!(
            written("b = ? and a not In -- ? in\n /* ( */ ( ? {?} )", &three(1)),
            "b = ? and a not In -- ? in\n /* ( */ ( ?, ?, ? {?} )"
        );
        assert_eq!(written("x = 'in ?' AND a IN ?", &three(0)), "x = 'in ?' AND a IN (?, ?, ?)");
        let query = "SELECT NULL::CHAR(1) FROM systables WHERE tabid < 0";
        assert_eq!(written("a NOT IN ?", &none(0)), format!("a NOT IN ({query})"));
        assert_eq!(written("a NOT IN (?)", &none(0)), format!("a NOT IN ({query})"));
        assert_eq!(
            written("a IN ? OR b IN ?", &[three(0), [(1, List::Values(1))]].concat()),
            "a IN (?, ?, ?) OR b IN (?)"
        );
    }

    #[test]
    fn writes_lists_nowhere_else() {
        for sql in ["a = ?", "values (?)", "a IN (1, ?)", "a IN (?, 1)", "a IN (f(?))", "\"in\" ?", "'in' ?", "a = 1"] {
            assert_eq!(expand(sql, &[(0, List::Values(2))]), None, "{sql}");
        }
    }

    #[test]
    fn survives_other_alphabets() {
        assert_eq!(places("select 'é?' , :größe, größe from tünde where ñ = :größe").len(), 2);
    }
}
