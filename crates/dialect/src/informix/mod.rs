//! The Informix front end: SQL text → parse tree → names bound, types decided → IR.
//!
//! The parser is our own (see `docs/decisions/informix-parser.md`). Binding follows Informix's rules: SERIAL numbers,
//! blank-padded CHAR, silent truncation on assignment, DATETIME and INTERVAL qualifiers, NULLs first, names of
//! expression columns such as `(count(*))`.

pub mod aggregates;
mod ast;
mod bind;
pub mod casts;
pub mod codes;
pub mod in_postgres;
mod lexer;
mod named_types;
mod parse_access;
mod parse_definitions;
mod parse_expr;
mod parse_more;
mod parse_query;
mod parse_statement;
mod parse_types;
mod parser;
mod position;
pub mod spl;
mod split;
pub mod types;
pub mod values;

use std::sync::Arc;

pub(crate) use bind::view_query;
pub use bind::{Context, bind, changes_elsewhere, described, expression, renamed_in_expression, uses};
pub use position::{current_of, has_position};
pub use split::split;
pub use types::{import, type_from_words, type_words};

use crate::Result;
use ast::Ast;
use parser::Parser;

/// The server version that clients are told: the level of SQL and wire that is spoken, then what this really is.
pub const VERSION: &str =
    concat!("IBM Informix Dynamic Server Version 15.0.1.0.3 (rowferry ", env!("CARGO_PKG_VERSION"), ")");

/// The property of a table that tells whose it is said to be (`CREATE TABLE owner.t`).
pub const OWNER: &str = "informix_owner";

/// The variable of a session by which it has DELIMIDENT, when it has any value.
pub const DELIMIDENT: &str = "informix.delimident";

/// The variable of a session whose client writes UTF-8, when it has any value: lengths and places of strings count bytes.
pub const MULTIBYTE: &str = "informix.multibyte";

/// The variable of a session that has the form of its dates in text, in DBDATE's words.
pub const DATES: &str = "informix.dates";

/// A parsed statement of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    ast: Ast,
    text: Arc<str>,
    start: usize,
    end: usize,
    params: usize,
    /// `"x"` is a name everywhere.
    delimited: bool,
    /// What it says and what has no effect here.
    idle: Box<[&'static str]>,
}

/// What transactions of a database are.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Logging {
    /// There are none: each statement is for itself.
    None,
    /// WITH LOG: between BEGIN WORK and COMMIT WORK.
    #[default]
    Log,
    /// WITH BUFFERED LOG: the same, and the last may be lost in a power cut.
    Buffered,
    /// MODE ANSI: always.
    Ansi,
}

/// A statement that is not about a database's content but about which database is open: the door's business.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Control {
    /// CLOSE DATABASE.
    CloseDatabase,
    /// CREATE DATABASE.
    CreateDatabase {
        /// Its name.
        name: String,
        /// What its transactions are.
        logging: Logging,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// DATABASE.
    Database(String),
    /// DROP DATABASE.
    DropDatabase {
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
}

impl Statement {
    /// The call of a function with one value, by whatever name it has.
    pub fn call_with_one(name: &str) -> Self {
        let text: Arc<str> = format!("execute function {name}(?)").into();
        let function = ast::ObjectName { database: None, server: None, owner: None, name: name.to_owned(), at: 0 };
        let args = vec![ast::Node { kind: ast::NodeKind::Param(0), at: 0 }];
        let end = text.len();
        Self {
            ast: Ast::Execute { name: function, args },
            text,
            start: 0,
            end,
            params: 1,
            delimited: false,
            idle: [].into(),
        }
    }

    /// The statement's own text.
    pub fn text(&self) -> &str {
        &self.text[self.start..self.end]
    }

    /// How many characters of the whole text stand before it.
    pub fn offset(&self) -> u32 {
        lexer::position(&self.text, self.start) - 1
    }

    /// How many `?` it has.
    pub fn params(&self) -> usize {
        self.params
    }

    /// The number by which Informix describes a statement of this kind (ESQL/C's DESCRIBE).
    pub fn statement_type(&self) -> i16 {
        parse_statement::statement_type(&self.ast)
    }

    /// What the door has to do, if the statement is its business.
    pub fn control(&self) -> Option<Control> {
        Some(match &self.ast {
            Ast::CloseDatabase => Control::CloseDatabase,
            Ast::CreateDatabase { name, logging, if_not_exists } => {
                Control::CreateDatabase { name: name.clone(), logging: *logging, if_not_exists: *if_not_exists }
            }
            Ast::Database { name } => Control::Database(name.clone()),
            Ast::DropDatabase { name, if_exists } => {
                Control::DropDatabase { name: name.clone(), if_exists: *if_exists }
            }
            _ => return None,
        })
    }

    /// True for a statement that counts the rows that it changes.
    pub fn counts_rows(&self) -> bool {
        matches!(&self.ast, Ast::Insert { .. } | Ast::Update { .. } | Ast::Delete { .. })
    }

    /// True for a query that asks for its rows' locks: it cannot be a scroll cursor's.
    pub fn for_update(&self) -> bool {
        matches!(&self.ast, Ast::Query(query) if query.for_update)
    }
}

/// Splits a text into its statements and parses each; none for an empty text.
///
/// # Errors
/// `42601` with the position of the first token that does not fit.
pub fn parse(sql: &str) -> Result<Vec<Statement>> {
    statements(Parser::new(sql)?)
}

/// As [`parse`], for a session that has DELIMIDENT: `"x"` is a name everywhere, never a string.
///
/// # Errors
/// As those of [`parse`].
pub fn parse_delimited(sql: &str) -> Result<Vec<Statement>> {
    statements(Parser::reading(sql, true)?)
}

/// A kept text as its author wrote it, without what says how it is to be read.
pub fn shown(text: &str) -> &str {
    text.strip_suffix(parser::DELIMITED).unwrap_or(text)
}

fn statements(mut parser: Parser<'_>) -> Result<Vec<Statement>> {
    let text: Arc<str> = parser.text.into();
    let mut statements = Vec::new();
    loop {
        while parser.sign(";") {}
        if parser.at_end() {
            return Ok(statements);
        }
        let start = parser.start();
        parser.params = 0;
        parser.idle.clear();
        let ast = parser.statement()?;
        let (end, params, delimited) = (parser.end(), parser.params, parser.delimited);
        let idle = parser.idle.as_slice().into();
        statements.push(Statement { ast, text: text.clone(), start, end, params, delimited, idle });
        if !parser.at_end() && !parser.is_sign(";") {
            return Err(parser.unexpected());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Condition;

    #[test]
    fn statements_of_a_text_keep_their_places() {
        let statements = parse("select 1 from t; -- x\n insert into t values (?, 'a;b');").unwrap();
        assert_eq!(statements.len(), 2);
        assert_eq!(statements[1].text(), "insert into t values (?, 'a;b')");
        assert_eq!(statements[1].params(), 1);
        assert!(parse(" {nothing} ;").unwrap().is_empty());
    }

    #[test]
    fn quotes_delimit_names_where_the_session_says_so() {
        let sql = "select \"a\" from t order by \"a\"";
        let (names, strings) = (parse_delimited(sql).unwrap(), parse(sql).unwrap());
        assert_ne!(names, strings);
        // What is kept says so itself, and is shown without.
        let kept = format!("{sql}{}", parser::DELIMITED);
        assert_eq!(parse(&kept).unwrap(), names);
        assert_eq!(shown(&kept), sql);
    }

    #[test]
    fn statement_types_are_those_of_describe() {
        for (sql, expected) in [
            ("select first 3 a from t", 2),
            ("(select a from t)", 2),
            ("with c as (select 1 from t) select * from c", 2),
            ("select a from t into temp x with no log", 3),
            ("update t set a = 1 where b = 2", 4),
            ("update t set a = 1", 33),
            ("update t set a = 1 where current of c", 7),
            ("delete from t", 32),
            ("delete from t where a = 1", 5),
            ("insert into t values (1)", 6),
            ("create temp table t (a serial, b datetime year to second, c lvarchar(30)) with no log", 45),
            ("create table t (a int primary key constraint x) extent size 16 next size 16 lock mode row", 14),
            ("begin work", 34),
            ("commit work", 35),
            ("rollback", 36),
            ("execute function f(1, 2)", 56),
            ("set isolation to committed read retain update locks", 48),
            ("set lock mode to wait 17", 46),
            ("database stores", 1),
            ("create database testdb with log", 12),
            ("update statistics for table t", 30),
        ] {
            assert_eq!(parse(sql).unwrap()[0].statement_type(), expected, "{sql}");
        }
    }

    #[test]
    fn errors_say_where() {
        let error = parse("select from where").unwrap_err();
        assert_eq!((error.condition(), error.position), (Condition::SyntaxError, Some(8)));
        assert_eq!(parse("selct 1").unwrap_err().position, Some(1));
        assert_eq!(parse("select 'open from t").unwrap_err().condition(), Condition::UnterminatedString);
        let deep = format!("select {}1{} from t", "(".repeat(5_000), ")".repeat(5_000));
        assert_eq!(parse(&deep).unwrap_err().condition(), Condition::StatementTooComplex);
    }

    #[test]
    fn queries_of_ibms_driver_parse() {
        for sql in [
            "SELECT flags FROM informix.systables WHERE tabname = ' VERSION';",
            "select dbinfo('version','full') from  table (set{1});",
            "SELECT a, NULL::VARCHAR(1), informix.f(c.x, 0) FROM db:informix.systables t, OUTER db:informix.d d, db:informix.c c where t.a = d.a",
            "select unique owner,'testdb' from informix.systables where tabtype != '' AND owner LIKE ? order by 1",
            "select c[1,3], t.* from t where d matches '[a-z]*' and x > current - 3 units day",
            "select interval(-3 04:05:06) day to second, datetime(12:34:56) hour to second, extend(d, year to day) from t",
            "select case a when 1 then 'x' else 'y' end, cast(a as int), a::decimal(10,2), -1::smallint from t",
            "select count(distinct a), sum(b) over (partition by c order by d) from t left join u on t.a = u.a",
        ] {
            parse(sql).unwrap_or_else(|error| panic!("{sql}: {error} at {:?}", error.position));
        }
    }
}
