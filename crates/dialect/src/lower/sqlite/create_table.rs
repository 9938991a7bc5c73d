//! Reads the CREATE TABLE statement that SQLite keeps of each table.
//!
//! SQLite's pragmas tell columns, indexes and foreign keys, but neither the names of constraints, nor the text of
//! checks and generated columns. Those stand in the statement. It is taken apart into spans, so that ALTER TABLE can
//! also write a changed statement in which everything else stays as its author wrote it.

use std::ops::Range;

/// A CREATE TABLE statement, in spans of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct TableText {
    /// The statement.
    pub sql: String,
    /// The table's name as it stands there (with its schema, if any).
    pub name: Range<usize>,
    /// What stands between the parentheses.
    pub body: Range<usize>,
    /// Columns in order.
    pub columns: Vec<ColumnText>,
    /// Table constraints.
    pub constraints: Vec<ConstraintText>,
}

/// A column's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnText {
    /// Name, without quotes.
    pub name: String,
    /// Where the name stands.
    pub name_span: Range<usize>,
    /// Where the type stands; empty behind the name when there is none.
    pub type_span: Range<usize>,
    /// The whole definition.
    pub span: Range<usize>,
    /// Its constraints.
    pub constraints: Vec<ConstraintText>,
}

/// A constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintText {
    /// Its name, when it has one.
    pub name: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// The whole of it, CONSTRAINT included.
    pub span: Range<usize>,
    /// The text in its (first) parentheses: an expression or a list of columns; empty when there is none.
    pub inner: Range<usize>,
    /// Columns named there, when it is a list of columns.
    pub columns: Vec<String>,
}

/// What a constraint is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// CHECK (…).
    Check,
    /// COLLATE.
    Collate,
    /// DEFAULT.
    Default,
    /// FOREIGN KEY … REFERENCES, or REFERENCES at a column.
    ForeignKey,
    /// [GENERATED ALWAYS] AS (…).
    Generated,
    /// NOT NULL.
    NotNull,
    /// NULL: says nothing.
    Null,
    /// PRIMARY KEY.
    PrimaryKey,
    /// UNIQUE.
    Unique,
}

impl TableText {
    /// Takes a statement apart; `None` when it is not of the shape (CREATE VIRTUAL TABLE, …).
    pub fn parse(sql: &str) -> Option<Self> {
        let tokens = tokens(sql);
        let mut parser = Parser { sql, tokens: &tokens, at: 0 };
        parser.expect("CREATE")?;
        if !parser.eat("TEMP") {
            parser.eat("TEMPORARY");
        }
        parser.expect("TABLE")?;
        if parser.eat("IF") {
            parser.expect("NOT")?;
            parser.expect("EXISTS")?;
        }
        let start = parser.next()?.span.start;
        let mut name = start..parser.tokens[parser.at - 1].span.end;
        if parser.eat(".") {
            name.end = parser.next()?.span.end;
        }
        let open = parser.expect("(")?;
        let close = parser.matching(open)?;
        let body = parser.tokens[open].span.end..parser.tokens[close].span.start;
        let mut table = Self { sql: sql.to_owned(), name, body, columns: Vec::new(), constraints: Vec::new() };
        while parser.at < close {
            let end = parser.item_end(close);
            let mut item = Parser { sql, tokens: &tokens[..end], at: parser.at };
            if item.at_table_constraint() {
                while item.at < end {
                    table.constraints.push(item.constraint(None)?);
                }
            } else {
                table.columns.push(item.column()?);
            }
            parser.at = end + 1;
        }
        Some(table)
    }

    /// The text of a span.
    pub fn text(&self, span: &Range<usize>) -> &str {
        &self.sql[span.clone()]
    }

    /// `WITHOUT ROWID` stands behind the parentheses.
    pub fn is_without_rowid(&self) -> bool {
        let tail = self.sql.get(self.body.end + 1..).unwrap_or_default();
        let mut words = tokens(tail).into_iter().map(|token| token.span);
        words.any(|word| tail[word].eq_ignore_ascii_case("without"))
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&ColumnText> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Every constraint, those at columns included, each with its column.
    pub fn all_constraints(&self) -> impl Iterator<Item = (Option<&ColumnText>, &ConstraintText)> {
        let at_columns =
            self.columns.iter().flat_map(|c| c.constraints.iter().map(move |constraint| (Some(c), constraint)));
        at_columns.chain(self.constraints.iter().map(|constraint| (None, constraint)))
    }
}

/// A CREATE TABLE statement to be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct EditableTable {
    /// Columns in order.
    pub columns: Vec<EditableColumn>,
    /// Table constraints.
    pub constraints: Vec<EditableConstraint>,
    /// What stands behind the parentheses.
    pub tail: String,
}

/// A column to be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct EditableColumn {
    /// Name, without quotes.
    pub name: String,
    /// Type words as they stand.
    pub type_words: String,
    /// Constraints in order.
    pub constraints: Vec<EditableConstraint>,
}

/// A constraint to be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct EditableConstraint {
    /// Name, without quotes.
    pub name: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// All of it.
    pub text: String,
    /// Columns concerned, in lower case: those of a list, or those that a check mentions.
    pub columns: Vec<String>,
}

impl TableText {
    /// Its parts, to be changed one by one.
    pub fn edit(&self) -> EditableTable {
        let constraint = |constraint: &ConstraintText| EditableConstraint {
            name: constraint.name.clone(),
            kind: constraint.kind,
            text: self.text(&constraint.span).to_owned(),
            columns: match constraint.kind {
                Kind::Check | Kind::Generated => {
                    let inner = self.text(&constraint.inner);
                    names_in(inner).map(|name| name.to_lowercase()).collect()
                }
                _ => constraint.columns.iter().map(|name| name.to_lowercase()).collect(),
            },
        };
        EditableTable {
            columns: self
                .columns
                .iter()
                .map(|column| EditableColumn {
                    name: column.name.clone(),
                    type_words: self.text(&column.type_span).to_owned(),
                    constraints: column.constraints.iter().map(constraint).collect(),
                })
                .collect(),
            constraints: self.constraints.iter().map(constraint).collect(),
            tail: self.sql.get(self.body.end + 1..).unwrap_or_default().trim().to_owned(),
        }
    }
}

impl EditableTable {
    /// The statement, for a table of this name.
    pub fn to_sql(&self, name: &str) -> String {
        let mut items: Vec<String> = Vec::with_capacity(self.columns.len() + self.constraints.len());
        for column in &self.columns {
            let mut item = quote(&column.name);
            for part in std::iter::once(&column.type_words).chain(column.constraints.iter().map(|c| &c.text)) {
                if !part.is_empty() {
                    item.push(' ');
                    item.push_str(part);
                }
            }
            items.push(item);
        }
        items.extend(self.constraints.iter().map(|constraint| constraint.text.clone()));
        let tail = if self.tail.is_empty() { String::new() } else { format!(" {}", self.tail) };
        format!("CREATE TABLE {} (\n    {}\n){tail}", quote(name), items.join(",\n    "))
    }

    /// The column of this name.
    pub fn column_mut(&mut self, name: &str) -> Option<&mut EditableColumn> {
        self.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// A CREATE INDEX statement, in spans of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexText {
    /// The statement.
    pub sql: String,
    /// The keys, each with its collation and direction.
    pub keys: Vec<Range<usize>>,
    /// The condition of a partial index.
    pub predicate: Option<Range<usize>>,
}

impl IndexText {
    /// Takes a statement apart; `None` when it is not of the shape.
    pub fn parse(sql: &str) -> Option<Self> {
        let tokens = tokens(sql);
        let mut parser = Parser { sql, tokens: &tokens, at: 0 };
        parser.expect("CREATE")?;
        parser.eat("UNIQUE");
        parser.expect("INDEX")?;
        while !parser.is("(") {
            parser.next()?;
        }
        let close = parser.matching(parser.at)?;
        parser.at += 1;
        let mut keys = Vec::new();
        while parser.at < close {
            let end = parser.item_end(close);
            let mut last = end.checked_sub(1)?;
            if ["ASC", "DESC"].iter().any(|word| parser.text(last).eq_ignore_ascii_case(word)) {
                last = last.checked_sub(1)?;
            }
            keys.push(tokens.get(parser.at)?.span.start..tokens.get(last)?.span.end);
            parser.at = end + 1;
        }
        parser.at = close + 1;
        let predicate = parser.eat("WHERE").then(|| Some(tokens.get(parser.at)?.span.start..tokens.last()?.span.end));
        Some(Self { sql: sql.to_owned(), keys, predicate: predicate.flatten() })
    }

    /// The text of a span.
    pub fn text(&self, span: &Range<usize>) -> &str {
        &self.sql[span.clone()]
    }
}

/// The words and names in an expression: among them every column that it is computed from.
fn names_in(expression: &str) -> impl Iterator<Item = String> {
    let texts = tokens(expression).into_iter().map(|token| &expression[token.span]);
    texts.filter(|text| !text.starts_with('\'')).map(unquote)
}

/// True when an expression mentions a column.
pub fn mentions(expression: &str, column: &str) -> bool {
    names_in(expression).any(|name| name.eq_ignore_ascii_case(column))
}

/// A name without its quotes.
pub fn unquote(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(quote @ ('"' | '`' | '\'')) if text.len() >= 2 && text.ends_with(quote) => {
            let doubled: String = [quote, quote].iter().collect();
            text[1..text.len() - 1].replace(&doubled, &quote.to_string())
        }
        Some('[') if text.ends_with(']') => text[1..text.len() - 1].to_owned(),
        _ => text.to_owned(),
    }
}

/// A name as an identifier of SQLite's: bare when it can be, so that files stay readable.
pub fn quote(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && KEYWORDS.binary_search(&name).is_err();
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// SQLite's keywords, <https://www.sqlite.org/lang_keywords.html>, in lower case and order.
const KEYWORDS: &[&str] = &[
    "abort",
    "action",
    "add",
    "after",
    "all",
    "alter",
    "always",
    "analyze",
    "and",
    "as",
    "asc",
    "attach",
    "autoincrement",
    "before",
    "begin",
    "between",
    "by",
    "cascade",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "commit",
    "conflict",
    "constraint",
    "create",
    "cross",
    "current",
    "current_date",
    "current_time",
    "current_timestamp",
    "database",
    "default",
    "deferrable",
    "deferred",
    "delete",
    "desc",
    "detach",
    "distinct",
    "do",
    "drop",
    "each",
    "else",
    "end",
    "escape",
    "except",
    "exclude",
    "exclusive",
    "exists",
    "explain",
    "fail",
    "false",
    "filter",
    "first",
    "following",
    "for",
    "foreign",
    "from",
    "full",
    "generated",
    "glob",
    "group",
    "groups",
    "having",
    "if",
    "ignore",
    "immediate",
    "in",
    "index",
    "indexed",
    "initially",
    "inner",
    "insert",
    "instead",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "key",
    "last",
    "left",
    "like",
    "limit",
    "match",
    "materialized",
    "natural",
    "no",
    "not",
    "nothing",
    "notnull",
    "null",
    "nulls",
    "of",
    "offset",
    "on",
    "or",
    "order",
    "others",
    "outer",
    "over",
    "partition",
    "plan",
    "pragma",
    "preceding",
    "primary",
    "query",
    "raise",
    "range",
    "recursive",
    "references",
    "regexp",
    "reindex",
    "release",
    "rename",
    "replace",
    "restrict",
    "returning",
    "right",
    "rollback",
    "row",
    "rowid",
    "rows",
    "savepoint",
    "select",
    "set",
    "table",
    "temp",
    "temporary",
    "then",
    "ties",
    "to",
    "transaction",
    "trigger",
    "true",
    "unbounded",
    "union",
    "unique",
    "update",
    "using",
    "vacuum",
    "values",
    "view",
    "virtual",
    "when",
    "where",
    "window",
    "with",
    "within",
    "without",
];

#[derive(Clone, Debug)]
struct Token {
    span: Range<usize>,
    /// A bare word: may be a keyword.
    word: bool,
}

/// SQLite's tokens, without white space and comments. An unterminated literal reaches to the end.
fn tokens(sql: &str) -> Vec<Token> {
    let bytes = sql.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0C => {
                at += 1;
                continue;
            }
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                at = sql[at..].find('\n').map_or(bytes.len(), |end| at + end);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = sql[at + 2..].find("*/").map_or(bytes.len(), |end| at + 2 + end + 2);
                continue;
            }
            b'"' | b'\'' | b'`' => {
                at += 1;
                while at < bytes.len() {
                    if bytes[at] == byte {
                        if bytes.get(at + 1) != Some(&byte) {
                            break;
                        }
                        at += 1;
                    }
                    at += 1;
                }
                at = (at + 1).min(bytes.len());
            }
            b'[' => at = sql[at..].find(']').map_or(bytes.len(), |end| at + end + 1),
            b'0'..=b'9' => {
                let sign = |at: usize| matches!(bytes[at], b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E');
                while at < bytes.len() && (is_word(bytes[at]) || bytes[at] == b'.' || sign(at)) {
                    at += 1;
                }
            }
            _ if is_word(byte) => {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
                tokens.push(Token { span: start..at, word: true });
                continue;
            }
            _ => at += 1,
        }
        tokens.push(Token { span: start..at, word: false });
    }
    tokens
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

struct Parser<'a> {
    sql: &'a str,
    tokens: &'a [Token],
    at: usize,
}

/// Words that end a column's type.
const COLUMN_CONSTRAINTS: &[&str] =
    &["AS", "CHECK", "COLLATE", "CONSTRAINT", "DEFAULT", "GENERATED", "NOT", "NULL", "PRIMARY", "REFERENCES", "UNIQUE"];

impl Parser<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.sql[token.span.clone()])
    }

    fn is(&self, word: &str) -> bool {
        let quoted = self.tokens.get(self.at).is_some_and(|token| !token.word && word.len() > 1);
        !quoted && self.text(self.at).eq_ignore_ascii_case(word)
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.is(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Option<usize> {
        self.eat(word).then(|| self.at - 1)
    }

    fn next(&mut self) -> Option<&Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn name(&mut self) -> Option<String> {
        let text = self.next()?.span.clone();
        Some(unquote(&self.sql[text]))
    }

    /// The parenthesis that closes the one at `open`.
    fn matching(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            match self.text(at) {
                "(" => depth += 1,
                ")" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Where the item that begins here ends: at a comma of this depth or at `close`.
    fn item_end(&self, close: usize) -> usize {
        let mut depth = 0_usize;
        for at in self.at..close {
            match self.text(at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                "," if depth == 0 => return at,
                _ => {}
            }
        }
        close
    }

    fn at_table_constraint(&self) -> bool {
        ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].iter().any(|word| self.is(word))
    }

    fn at_column_constraint(&self) -> bool {
        COLUMN_CONSTRAINTS.iter().any(|word| self.is(word))
    }

    fn column(&mut self) -> Option<ColumnText> {
        let name_span = self.tokens.get(self.at)?.span.clone();
        let name = self.name()?;
        let type_start = self.at;
        while self.at < self.tokens.len() && !self.at_column_constraint() {
            if self.is("(") {
                self.at = self.matching(self.at)?;
            }
            self.at += 1;
        }
        let type_span = if self.at == type_start {
            name_span.end..name_span.end
        } else {
            self.tokens[type_start].span.start..self.tokens[self.at - 1].span.end
        };
        let mut constraints = Vec::new();
        while self.at < self.tokens.len() {
            constraints.push(self.constraint(Some(&name))?);
        }
        let end = self.tokens.last()?.span.end;
        Some(ColumnText { span: name_span.start..end, name, name_span, type_span, constraints })
    }

    /// One constraint; `column` is the column at which it stands.
    fn constraint(&mut self, column: Option<&str>) -> Option<ConstraintText> {
        let start = self.at;
        let name = if self.eat("CONSTRAINT") { Some(self.name()?) } else { None };
        let mut inner = 0..0;
        let mut columns = Vec::new();
        let kind = if self.eat("PRIMARY") {
            self.expect("KEY")?;
            Kind::PrimaryKey
        } else if self.eat("UNIQUE") {
            Kind::Unique
        } else if self.eat("CHECK") {
            Kind::Check
        } else if self.eat("FOREIGN") {
            self.expect("KEY")?;
            Kind::ForeignKey
        } else if self.eat("REFERENCES") {
            self.next()?;
            Kind::ForeignKey
        } else if self.eat("NOT") {
            self.expect("NULL")?;
            Kind::NotNull
        } else if self.eat("NULL") {
            Kind::Null
        } else if self.eat("DEFAULT") {
            Kind::Default
        } else if self.eat("COLLATE") {
            self.next()?;
            Kind::Collate
        } else if self.eat("GENERATED") {
            self.expect("ALWAYS")?;
            self.expect("AS")?;
            Kind::Generated
        } else if self.eat("AS") {
            Kind::Generated
        } else {
            return None;
        };
        if kind == Kind::Default && !self.is("(") {
            let value = self.at;
            if self.is("+") || self.is("-") {
                self.at += 1;
            }
            self.next()?;
            inner = self.tokens[value].span.start..self.tokens[self.at - 1].span.end;
        } else if self.is("(") {
            let close = self.matching(self.at)?;
            inner = self.tokens[self.at].span.end..self.tokens[close].span.start;
            if matches!(kind, Kind::PrimaryKey | Kind::Unique | Kind::ForeignKey) && column.is_none() {
                let mut at = self.at + 1;
                while at < close {
                    columns.push(unquote(self.text(at)));
                    let rest = Parser { sql: self.sql, tokens: self.tokens, at };
                    at = rest.item_end(close) + 1;
                }
            }
            self.at = close + 1;
        }
        if let Some(column) = column {
            columns.push(column.to_owned());
        }
        // What may stand behind: conflict clauses, REFERENCES with its actions, ASC, AUTOINCREMENT, STORED.
        while self.at < self.tokens.len() {
            let behind_not_null = self.is("NOT") && self.text(self.at + 1).eq_ignore_ascii_case("DEFERRABLE");
            let set_null = self.is("NULL") && self.text(self.at - 1).eq_ignore_ascii_case("SET");
            let set_default = self.is("DEFAULT") && self.text(self.at - 1).eq_ignore_ascii_case("SET");
            let target = kind == Kind::ForeignKey && self.is("REFERENCES");
            if behind_not_null {
                self.at += 2;
            } else if set_null || set_default || target {
                self.at += 1;
            } else if self.is("(") {
                self.at = self.matching(self.at)? + 1;
            } else if self.at_column_constraint() || (column.is_none() && self.at_table_constraint()) {
                break;
            } else {
                self.at += 1;
            }
        }
        let span = self.tokens[start].span.start..self.tokens[self.at - 1].span.end;
        Some(ConstraintText { name, kind, span, inner, columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn takes_a_table_apart() {
        let sql = "CREATE TABLE \"odd \"\"name\" ( -- the key, first\n\
            id INTEGER CONSTRAINT t_pkey PRIMARY KEY AUTOINCREMENT,\n\
            [b b] numeric text(30,5) COLLATE decimal NOT NULL DEFAULT -1.5 CHECK ([b b] > 0 /* , */),\n\
            c DEFAULT (strftime('%s, )', 'now')),\n\
            'd' int REFERENCES p(x) ON DELETE SET NULL ON UPDATE SET DEFAULT DEFERRABLE INITIALLY DEFERRED NOT NULL,\n\
            e int GENERATED ALWAYS AS (a * (1 + 2)) STORED UNIQUE,\n\
            CONSTRAINT \"two\" UNIQUE (c, \"b b\" DESC),\n\
            FOREIGN KEY (c, d) REFERENCES q (y, z) ON DELETE CASCADE NOT DEFERRABLE,\n\
            CONSTRAINT positive CHECK (c <> ')' AND e > 0)) WITHOUT ROWID";
        let table = TableText::parse(sql).unwrap();
        assert_eq!(table.text(&table.name), "\"odd \"\"name\"");
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["id", "b b", "c", "d", "e"]);
        let types: Vec<&str> = table.columns.iter().map(|column| table.text(&column.type_span)).collect();
        assert_eq!(types, ["INTEGER", "numeric text(30,5)", "", "int", "int"]);
        assert_eq!(table.columns[0].constraints[0].name.as_deref(), Some("t_pkey"));
        let kinds: Vec<Kind> = table.columns[1].constraints.iter().map(|constraint| constraint.kind).collect();
        assert_eq!(kinds, [Kind::Collate, Kind::NotNull, Kind::Default, Kind::Check]);
        assert_eq!(table.text(&table.columns[1].constraints[2].inner), "-1.5");
        assert_eq!(table.text(&table.columns[1].constraints[3].inner), "[b b] > 0 /* , */");
        assert_eq!(table.text(&table.columns[2].constraints[0].inner), "strftime('%s, )', 'now')");
        let kinds: Vec<Kind> = table.columns[3].constraints.iter().map(|constraint| constraint.kind).collect();
        assert_eq!(kinds, [Kind::ForeignKey, Kind::NotNull]);
        let kinds: Vec<Kind> = table.columns[4].constraints.iter().map(|constraint| constraint.kind).collect();
        assert_eq!(kinds, [Kind::Generated, Kind::Unique]);
        assert_eq!(table.constraints.len(), 3);
        assert_eq!(table.constraints[0].columns, ["c", "b b"]);
        assert_eq!(table.constraints[1].columns, ["c", "d"]);
        assert_eq!(table.text(&table.constraints[2].inner), "c <> ')' AND e > 0");
    }

    #[test]
    fn writes_a_changed_table() {
        let sql = "create table t (a int primary key, b text default 'x' check (b <> ''), unique (a, b)) WITHOUT ROWID";
        let mut table = TableText::parse(sql).unwrap().edit();
        let column = table.column_mut("B").unwrap();
        column.constraints.retain(|constraint| constraint.kind != Kind::Default);
        column.type_words = "varchar(5)".into();
        assert_eq!(table.columns[1].constraints[0].columns, ["b", "<", ">"]);
        assert_eq!(
            table.to_sql("order"),
            "CREATE TABLE \"order\" (\n    a int primary key,\n    b varchar(5) check (b <> ''),\n    unique (a, b)\n) WITHOUT ROWID"
        );
    }

    #[test]
    fn takes_an_index_apart() {
        let index =
            IndexText::parse("CREATE UNIQUE INDEX \"x\" ON t (lower(a || ', '), b DESC) WHERE c > (1)").unwrap();
        let keys: Vec<&str> = index.keys.iter().map(|key| index.text(key)).collect();
        assert_eq!(keys, ["lower(a || ', ')", "b"]);
        assert_eq!(index.predicate.as_ref().map(|span| index.text(span)), Some("c > (1)"));
        assert_eq!(IndexText::parse("CREATE INDEX x ON t"), None);
    }

    #[test]
    fn refuses_other_shapes_without_panic() {
        for sql in ["", "CREATE", "CREATE VIRTUAL TABLE x USING fts5(a)", "CREATE TABLE x(a", "CREATE TABLE x(a 'b"] {
            assert_eq!(TableText::parse(sql), None, "{sql}");
        }
    }

    #[test]
    fn names_survive_quoting() {
        for name in ["plain", "Mixed", "select", "with \"quotes\"", "ünicode", "1st", ""] {
            assert_eq!(unquote(&quote(name)), name);
        }
        assert_eq!(quote("plain_1"), "plain_1");
        assert_eq!(quote("order"), "\"order\"");
    }
}
