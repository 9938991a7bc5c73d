//! Stored procedures, functions and triggers in MySQL's language, as the steps that PL/pgSQL's functions are, too
//! ([`crate::postgres::plpgsql::Function`]), so that one interpreter runs both.
//!
//! The block structure is read here, over the tokens of MySQL's tokenizer; what stands in it, expressions and statements,
//! is left to the parser that reads them elsewhere, and kept as text with the scope that it stands in.
//!
//! - `parser`: tokens; `header`: CREATE up to the body; `block`: BEGIN, DECLARE, loops, branches; `statement`: SQL, its INTO;
//!   `conditions`: handlers, SIGNAL, GET DIAGNOSTICS;
//! - [`steps`]: what MySQL's steps do that PL/pgSQL has none like.

mod block;
mod conditions;
mod errors;
mod header;
mod parser;
mod statement;
pub mod steps;

use pg_query::protobuf::node::Node as N;
use sqlparser::tokenizer::TokenWithSpan;

use crate::postgres::plpgsql::Function;
use crate::schema::QualifiedName;
use crate::{Result, Type};

pub(super) use header::begins;
pub(crate) use parser::Finder;

/// A CREATE of a routine or trigger.
#[derive(Debug)]
pub struct Routine {
    /// What it makes.
    pub kind: Kind,
    /// The database before the name.
    pub database: Option<String>,
    /// Its name, as it is written.
    pub name: String,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// DEFINER, as it is written: `root@localhost`.
    pub definer: Option<String>,
    /// Its parameters.
    pub params: Vec<Parameter>,
    /// What a function returns: the words, and the type.
    pub returns: Option<TypeOf>,
    /// Its characteristics.
    pub characteristics: Characteristics,
    /// The text of its parameters, as it is written.
    pub params_text: String,
    /// The text of its body.
    pub body: String,
    /// Its body, parsed.
    pub function: Function,
    /// MySQL's own types that it names, with what makes them.
    pub(crate) types: Vec<(String, N)>,
}

/// A type with its words.
#[derive(Clone, Debug)]
pub struct TypeOf {
    /// As it is written, in small letters.
    pub words: String,
    pub(crate) name: pg_query::protobuf::TypeName,
}

/// What is made.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// CREATE FUNCTION.
    Function,
    /// CREATE PROCEDURE.
    Procedure,
    /// CREATE TRIGGER.
    Trigger(TriggerHead),
}

/// When a trigger fires.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerHead {
    /// BEFORE.
    pub before: bool,
    /// INSERT, UPDATE or DELETE.
    pub event: crate::ir::TriggerEvent,
    /// The table, with its database if that is said.
    pub table: (Option<String>, String),
    /// FOLLOWS (`true`) or PRECEDES another.
    pub order: Option<(bool, String)>,
}

impl Kind {
    /// Its word.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Function => "FUNCTION",
            Self::Procedure => "PROCEDURE",
            Self::Trigger(_) => "TRIGGER",
        }
    }
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// IN, OUT or INOUT.
    pub mode: crate::stored_function::ParamMode,
    /// Its name, as it is written.
    pub name: String,
    /// Its type.
    pub ty: TypeOf,
}

/// What a routine says of itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Characteristics {
    /// COMMENT.
    pub comment: Option<String>,
    /// DETERMINISTIC.
    pub deterministic: bool,
    /// Of its SQL.
    pub data: DataAccess,
    /// SQL SECURITY INVOKER.
    pub invoker: bool,
}

/// What a routine says of its SQL.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DataAccess {
    /// CONTAINS SQL.
    #[default]
    Contains,
    /// MODIFIES SQL DATA.
    Modifies,
    /// NO SQL.
    No,
    /// READS SQL DATA.
    Reads,
}

impl DataAccess {
    /// The one of some words.
    pub fn of_words(words: &str) -> Option<Self> {
        [Self::Contains, Self::Modifies, Self::No, Self::Reads].into_iter().find(|of| of.words() == words)
    }

    /// Its words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Contains => "CONTAINS SQL",
            Self::Modifies => "MODIFIES SQL DATA",
            Self::No => "NO SQL",
            Self::Reads => "READS SQL DATA",
        }
    }
}

impl Routine {
    /// The text that a file keeps of it, which is what SHOW CREATE shows.
    pub fn text(&self, definer: &str) -> String {
        use super::print::quoted;
        let mut text = match definer.rsplit_once('@') {
            Some((user, host)) => format!("CREATE DEFINER={}@{} ", quoted(user), quoted(host)),
            None => format!("CREATE DEFINER={}@{} ", quoted(definer), quoted("%")),
        };
        text.push_str(self.kind.word());
        text.push(' ');
        text.push_str(&quoted(&self.name));
        if let Kind::Trigger(head) = &self.kind {
            let time = if head.before { "BEFORE" } else { "AFTER" };
            // As in MySQL the order is no part of it: a dump has the triggers in their order.
            text.push_str(&format!(
                " {time} {} ON {} FOR EACH ROW {}",
                head.event.words(),
                quoted(&head.table.1),
                self.body
            ));
            return text;
        }
        text.push_str(&format!("({})", self.params_text));
        if let Some(returns) = &self.returns {
            text.push_str(&format!(" RETURNS {}", returns.words));
        }
        text.push('\n');
        let of = &self.characteristics;
        if of.data != DataAccess::Contains {
            text.push_str(&format!("    {}\n", of.data.words()));
        }
        if of.deterministic {
            text.push_str("    DETERMINISTIC\n");
        }
        if of.invoker {
            text.push_str("    SQL SECURITY INVOKER\n");
        }
        if let Some(comment) = &of.comment {
            text.push_str(&format!("    COMMENT '{}'\n", comment.replace('\\', "\\\\").replace('\'', "''")));
        }
        text.push_str(&self.body);
        text
    }
}

/// Reads a CREATE at the beginning of some tokens; how many of them it takes.
pub(super) fn create(
    (sql, database): (&str, &str),
    tokens: &[TokenWithSpan],
    find: Finder<'_>,
) -> Result<(Routine, usize)> {
    parser::Parser::new((sql, database), tokens, find).create()
}

/// Reads the text that a file keeps, without a look at its types.
///
/// # Errors
/// `42601` for a text that somebody else has damaged.
pub fn read(text: &str) -> Result<Routine> {
    let tokens = super::tree::tokens(text, super::Modes::default())?;
    create((text, ""), &tokens, None).map(|(routine, _)| routine)
}

/// Reads the text that a file keeps.
///
/// # Errors
/// `42601` for a text that somebody else has damaged, `42704` for types that are not there.
pub fn parse(text: &str, database: &str, find: &dyn Fn(&QualifiedName) -> Option<Type>) -> Result<Routine> {
    let tokens = super::tree::tokens(text, super::Modes::default())?;
    let (routine, _) = create((text, database), &tokens, Some(find))?;
    Ok(routine)
}

/// What ALTER says that a routine says of itself.
///
/// # Errors
/// `42601` for what is no characteristic.
pub(super) fn altered(tokens: &[TokenWithSpan]) -> Result<Altered> {
    parser::Parser::new(("", ""), tokens, None).altered()
}

/// What ALTER changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Altered {
    /// COMMENT; an empty one takes it away.
    pub comment: Option<String>,
    /// Of its SQL.
    pub data: Option<DataAccess>,
    /// SQL SECURITY INVOKER, or DEFINER.
    pub invoker: Option<bool>,
}

impl Altered {
    /// Changes what a routine says of itself.
    pub fn apply(&self, of: &mut Characteristics) {
        if let Some(comment) = &self.comment {
            of.comment = Some(comment.clone()).filter(|comment| !comment.is_empty());
        }
        of.data = self.data.unwrap_or(of.data);
        of.invoker = self.invoker.unwrap_or(of.invoker);
    }
}
