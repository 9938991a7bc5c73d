//! From a text to its statements.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use pg_query::protobuf::node::Node as N;

use super::raw;
use super::spelling::{self, StringRules};
use crate::{Condition, Error, Language, Result, mysql};

/// A statement of a text, parsed; what [`super::bind`] takes.
#[derive(Clone, Debug)]
pub struct Parsed {
    whole: Arc<str>,
    range: Range<usize>,
    /// Bytes of the whole text that the client has not sent, in their order.
    inserted: Arc<[usize]>,
    /// Which of the whole text's statements it is.
    place: usize,
    /// Whose SQL it is in.
    language: Language,
    /// Which of its trees it is: one statement of MySQL's may do several things.
    part: usize,
    /// What it does after that.
    then: Arc<[Parsed]>,
    /// The database that MySQL's names mean where they say the file's.
    database: Arc<str>,
    /// What `sql_mode` said when it was read.
    modes: mysql::Modes,
    /// What it does to sessions.
    control: Option<Arc<mysql::Control>>,
    /// Why it is no statement, where others stand before it.
    failed: Option<Box<Error>>,
    /// It is done only where there is no type of MySQL's of this name.
    unless: Option<Arc<str>>,
    /// Nobody is told its rows.
    silent: bool,
    time_limit: Option<u32>,
    /// How many of the user's variables it sets in expressions.
    assignments: usize,
    /// What the parser has made of it, shared by its copies, until it is forgotten.
    tree: Arc<Mutex<Option<Arc<raw::Tree>>>>,
}

impl Parsed {
    /// The statement's own text, without the semicolon behind it.
    pub fn text(&self) -> &str {
        &self.whole[self.range.clone()]
    }

    /// The whole text that it stood in.
    pub fn whole(&self) -> &Arc<str> {
        &self.whole
    }

    /// Its bytes in the whole text.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The position for an error: 1-based, in characters of the whole text, of a byte offset from the parse tree.
    /// `None` for the tree's "unknown" (-1).
    pub fn position(&self, location: i32) -> Option<u32> {
        let offset = usize::try_from(location).ok()?;
        let before = self.whole.get(..offset)?;
        let inserted = self.inserted.partition_point(|byte| *byte < offset);
        Some((before.chars().count() - inserted) as u32 + 1)
    }

    /// What it is.
    ///
    /// # Errors
    /// As of [`parse`], for a tree that was forgotten and cannot be made again.
    pub(super) fn tree(&self) -> Result<Arc<raw::Tree>> {
        if self.failed.is_none()
            && let Some(tree) = &*self.tree.lock().unwrap_or_else(PoisonError::into_inner)
        {
            return Ok(tree.clone());
        }
        if let Some(error) = &self.failed {
            return Err((**error).clone());
        }
        if self.language == Language::Mysql {
            let made = mysql::statements(&self.whole, &self.database, self.modes)?.into_iter().nth(self.place);
            let depth = made.as_ref().map_or(0, |made| made.depth);
            let tree = made.and_then(|made| made.trees.into_iter().nth(self.part)).map(|(tree, _)| tree);
            let tree = tree.ok_or_else(|| Error::internal("a statement is gone"))?;
            return Ok(Arc::new(raw::Tree::made(tree, depth)));
        }
        let statements = raw::parse(&self.whole).map_err(|error| classify(&error, &self.whole))?;
        let statement = statements.into_iter().nth(self.place);
        statement.map(|statement| Arc::new(statement.tree)).ok_or_else(|| Error::internal("a statement is gone"))
    }

    /// Whose rules it follows.
    pub fn language(&self) -> Language {
        self.language
    }

    /// What `sql_mode` said when it was read.
    pub(super) fn modes(&self) -> mysql::Modes {
        self.modes
    }

    /// What it does besides, in this order: a table's keys behind the table.
    pub fn then(&self) -> &[Parsed] {
        &self.then
    }

    /// What it does to sessions: USE and KILL of MySQL's.
    pub fn control(&self) -> Option<&mysql::Control> {
        self.control.as_deref()
    }

    /// The type of MySQL's that it makes, where there is none yet; the schema of them all for no name.
    pub fn unless(&self) -> Option<&str> {
        self.unless.as_deref()
    }

    /// How long it may take, in milliseconds: MySQL's hint of a query.
    pub fn time_limit(&self) -> Option<u32> {
        self.time_limit
    }

    /// How many of the user's variables it sets in expressions: MySQL warns of each.
    pub fn assignments(&self) -> usize {
        self.assignments
    }

    /// Its rows are told nobody: SET and DO of MySQL's.
    pub fn is_silent(&self) -> bool {
        self.silent
    }

    /// Gives the memory of the tree back; who asks for it again waits until the text has been parsed anew. A statement that
    /// is compiled needs its tree no more unless the schema changes, and the tree takes as much memory as the plan.
    pub fn forget_tree(&self) {
        let tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(tree);
    }

    /// True for statements that may stand in an aborted transaction: COMMIT, ROLLBACK and their kin.
    pub fn ends_transaction(&self) -> bool {
        use pg_query::protobuf::TransactionStmtKind as Kind;
        self.tree().is_ok_and(|tree| match &**tree {
            N::TransactionStmt(statement) => matches!(
                statement.kind(),
                Kind::TransStmtCommit | Kind::TransStmtRollback | Kind::TransStmtRollbackTo | Kind::TransStmtPrepare
            ),
            _ => false,
        })
    }
}

/// Splits a text into its statements and parses each. An empty text has none.
///
/// Errors: `SyntaxError` in PostgreSQL's words with the position in the whole text; `StatementTooComplex` for nesting
/// beyond what the parser bears.
pub fn parse(sql: &str) -> Result<Vec<Parsed>> {
    parse_with(sql, Arc::default())
}

/// Fails as [`parse`] does when strings mean what these rules say.
pub(super) fn check(sql: &str, rules: StringRules) -> Result<()> {
    raw::parse_as(sql, rules.standard).map_err(|error| classify(&error, sql))?;
    spelling::check_numbers(sql, rules.standard)
}

/// The position of a byte: 1-based, in characters.
pub(super) fn position_of(sql: &str, byte: usize) -> u32 {
    sql.get(..byte).unwrap_or(sql).chars().count() as u32 + 1
}

/// The same for a text in which these bytes do not count.
pub(super) fn parse_with(sql: &str, inserted: Arc<[usize]>) -> Result<Vec<Parsed>> {
    let parsed = raw::parse(sql).map_err(|error| classify(&error, sql))?;
    spelling::check_numbers(sql, true)?;
    let whole: Arc<str> = sql.into();
    let mut statements = Vec::with_capacity(parsed.len());
    for (place, statement) in parsed.into_iter().enumerate() {
        let start = statement.start.min(whole.len());
        let end = match statement.length {
            0 => whole.len(),
            length => start.saturating_add(length).min(whole.len()),
        };
        let leading = whole[start..end].len() - whole[start..end].trim_start().len();
        statements.push(Parsed {
            whole: whole.clone(),
            range: start + leading..end,
            inserted: inserted.clone(),
            place,
            language: Language::Postgres,
            part: 0,
            then: Arc::new([]),
            database: "".into(),
            modes: mysql::Modes::default(),
            control: None,
            failed: None,
            unless: None,
            silent: false,
            time_limit: None,
            assignments: 0,
            tree: Arc::new(Mutex::new(Some(Arc::new(statement.tree)))),
        });
    }
    Ok(statements)
}

/// Splits a text of MySQL's into its statements and parses each. An empty text has none. The file is the database of this
/// name, beside which its schemas are databases; the modes are those of `sql_mode`.
///
/// # Errors
/// `42601` in MySQL's words, `54001` for nesting too deep, `0A000` for what is not there.
pub fn parse_mysql(sql: &str, database: &str, modes: mysql::Modes) -> Result<Vec<Parsed>> {
    let (whole, database): (Arc<str>, Arc<str>) = (sql.into(), database.into());
    let statements = mysql::statements(sql, &database, modes)?.into_iter().enumerate();
    let parsed = statements.map(|(place, made)| {
        let one = |(part, (tree, unless)): (usize, (N, Option<String>))| Parsed {
            whole: whole.clone(),
            range: made.range.clone(),
            inserted: Arc::default(),
            place,
            language: Language::Mysql,
            part,
            then: Arc::new([]),
            database: database.clone(),
            modes,
            control: made.control.clone().map(Arc::new),
            failed: made.failed.clone(),
            unless: unless.map(Into::into),
            silent: made.silent,
            time_limit: made.time_limit,
            assignments: made.assignments,
            tree: Arc::new(Mutex::new(Some(Arc::new(raw::Tree::made(tree, made.depth))))),
        };
        let mut parts = made.trees.into_iter().enumerate().map(one);
        let first = parts.next();
        let then: Arc<[Parsed]> = parts.collect();
        first.map(|first| Parsed { then, ..first })
    });
    parsed.map(|parsed| parsed.ok_or_else(|| Error::internal("a statement that does nothing"))).collect()
}

const UNICODE_ESCAPE: &str = "invalid Unicode escape";

/// The condition of a parser's message: the C library does not hand out SQLSTATEs.
fn classify(error: &raw::ParseError, sql: &str) -> Error {
    let message = error.message.as_str();
    // Of `E'…'`: those of `U&'…'` have their backslash before the digits.
    let mut behind = sql.chars().skip((error.position as usize).saturating_sub(1));
    let in_escape_string = behind.next() == Some('\\') && matches!(behind.next(), Some('u' | 'U'));
    let condition = if ["stack depth limit exceeded", "memory exhausted", "parse tree is nested too deeply"]
        .iter()
        .any(|words| message.starts_with(words))
    {
        Condition::StatementTooComplex
    } else if message.contains("not yet implemented")
        || message.contains("not supported")
        || message.contains("not implemented")
        || message.contains("is only supported for")
        || message.contains("constraints cannot be marked ")
        || message == "aggregates cannot have output arguments"
    {
        Condition::FeatureNotSupported
    } else if message.starts_with("precision for type float must be ") {
        Condition::InvalidParameterValue
    } else if message.starts_with("frame start") || message.starts_with("frame end") {
        Condition::WindowingError
    } else if message.starts_with("invalid byte sequence") {
        Condition::CharacterNotInRepertoire
    } else if message.starts_with("unsafe use of \\'") {
        Condition::NonstandardUseOfEscapeCharacter
    } else if message == UNICODE_ESCAPE && in_escape_string {
        Condition::InvalidEscapeSequence
    } else if message.starts_with("unterminated") {
        Condition::UnterminatedString
    } else {
        Condition::SyntaxError
    };
    let mut failure = Error::new(condition, message);
    if condition == Condition::StatementTooComplex {
        failure = failure.hint("Split the statement: it nests too deeply or chains too many operators.");
    }
    if message == UNICODE_ESCAPE {
        failure = failure.hint(match in_escape_string {
            true => "Unicode escapes must be \\uXXXX or \\UXXXXXXXX.",
            false => "Unicode escapes must be \\XXXX or \\+XXXXXX.",
        });
    }
    if error.position > 0 { failure.at(error.position) } else { failure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_a_text_into_statements_with_their_places() {
        let statements = parse("select 'a;b' ; -- note\n  begin;;").expect("parses");
        let texts: Vec<_> = statements.iter().map(Parsed::text).collect();
        assert_eq!(texts, ["select 'a;b' ", "begin"]);
        assert!(parse(" ; ").expect("parses").is_empty());
    }

    #[test]
    fn syntax_errors_have_a_position_in_characters_of_the_whole_text() {
        let error = parse("select 'ä'; selec 1").expect_err("is no SQL");
        assert_eq!(error.condition(), Condition::SyntaxError);
        assert_eq!(error.message, "syntax error at or near \"selec\"");
        assert_eq!(error.position, Some(13));
        assert_eq!(parse("select 1 +").expect_err("ends early").message, "syntax error at end of input");
    }

    #[test]
    fn a_tree_that_was_forgotten_is_made_again() {
        let statements = parse("select 1; rollback; select 2").expect("parses");
        let before = format!("{:?}", statements[2].tree().expect("is there"));
        statements.iter().for_each(Parsed::forget_tree);
        assert!(statements[1].ends_transaction());
        assert_eq!(format!("{:?}", statements[2].tree().expect("parses")), before);
    }

    #[test]
    fn deep_nesting_ends_in_an_error() {
        let deep = format!("select {}1{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(parse(&deep).expect_err("too deep").condition(), Condition::StatementTooComplex);
        let chain = format!("select 1{}", "+1".repeat(200_000));
        assert_eq!(parse(&chain).expect_err("too long").condition(), Condition::StatementTooComplex);
    }
}
