//! SPL: routines as steps over numbered variables, their SQL as ordinary statements with variables for parameters.
//!
//! A name that is a variable's is the variable, also where a column has the same name (IBM, Guide to SQL: Syntax,
//! "Precedence of references"); a column is then written with its table. Therefore names are settled while parsing, and
//! a statement leaves here with its variables in the order of its parameters, as if each were a `?` of a known type.

mod block;
mod routine;
mod statement;
#[cfg(test)]
mod tests;
mod trigger;

use std::collections::HashMap;
use std::sync::Arc;

use super::Statement;
use crate::ir::{TriggerEvent, Value};
use crate::schema::QualifiedName;
use crate::{Condition, Error, Result, Schema, Type};

pub use trigger::{TriggerDefinition, TriggerEdit, edited_trigger, parse_trigger};

/// A parsed CREATE FUNCTION or CREATE PROCEDURE, or a list of a trigger's actions.
#[derive(Clone, Debug, PartialEq)]
pub struct Routine {
    /// Its name.
    pub name: String,
    /// `owner.` before the name.
    pub owner: Option<String>,
    /// SPECIFIC.
    pub specific: Option<String>,
    /// CREATE FUNCTION; else CREATE PROCEDURE.
    pub function: bool,
    /// CREATE DBA.
    pub dba: bool,
    /// NOT VARIANT: the same arguments give the same result.
    pub not_variant: bool,
    /// Parameters; each is the variable of the same number.
    pub params: Vec<Param>,
    /// What it returns.
    pub returns: Vec<Return>,
    /// Every variable of the routine, the parameters first.
    pub variables: Vec<Variable>,
    /// The variable that SQLCODE is.
    pub sqlcode: Option<usize>,
    /// REFERENCING … FOR: the table whose triggers call it.
    pub of_table: Option<QualifiedName>,
    /// What it does.
    pub body: Block,
    /// How many [`Sql`] it has; they are numbered from 0.
    pub statements: usize,
    /// DOCUMENT.
    pub document: Vec<String>,
    /// It changes data or schema, or runs texts of which nobody knows.
    pub writes: bool,
    /// Has RETURN … WITH RESUME.
    pub iterator: bool,
    /// Names of the functions and routines that it calls.
    pub calls: Vec<String>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: TypeRef,
    /// DEFAULT.
    pub default: Option<Expression>,
    /// IN, OUT or INOUT.
    pub mode: Mode,
}

/// The direction of a parameter.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Into the routine.
    #[default]
    In,
    /// Both ways.
    InOut,
    /// Out of the routine.
    Out,
}

/// A returned value.
#[derive(Clone, Debug, PartialEq)]
pub struct Return {
    /// AS name.
    pub name: Option<String>,
    /// Type.
    pub ty: TypeRef,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: TypeRef,
    /// DEFINE GLOBAL … DEFAULT: shared by the session's routines, with its first value.
    pub global: Option<Expression>,
    /// In a trigger or its routine: what it has of the row.
    pub row: Option<OfRow>,
}

/// What a variable has of the row that a trigger is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum OfRow {
    /// A column of the row as it was.
    Old(String),
    /// A column of the row as it is to be.
    New(String),
    /// INSERTING, UPDATING, DELETING: whether this happens to it.
    Event(TriggerEvent),
}

/// A type as declared.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeRef {
    /// This type.
    Is(Type),
    /// LIKE table.column.
    Like {
        /// The table.
        table: QualifiedName,
        /// The column.
        column: String,
    },
}

/// Statements with what is declared for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// ON EXCEPTION, in order; a later one is asked first.
    pub handlers: Vec<Handler>,
    /// Variables that have no value at its beginning.
    pub defines: Vec<usize>,
    /// What it does.
    pub steps: Vec<Step>,
}

/// ON EXCEPTION.
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    /// IN (…): the codes that it traps; none is all.
    pub codes: Vec<i32>,
    /// SET: the variables for SQL code, ISAM code and text.
    pub into: [Option<usize>; 3],
    /// What it does.
    pub body: Block,
    /// WITH RESUME: the block goes on behind the failed statement.
    pub resume: bool,
}

/// A statement and its line in the routine's text, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// `<<label>>`, to which GOTO leads.
    pub label: Option<String>,
    /// What.
    pub kind: StepKind,
    /// Where.
    pub line: u32,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// BEGIN … END.
    Block(Block),
    /// CLOSE cursor.
    Close(String),
    /// CONTINUE, perhaps of a labelled loop, perhaps WHEN.
    Continue(Option<LoopName>, Option<Expression>),
    /// DECLARE cursor FOR a prepared statement.
    Declare {
        /// The cursor.
        cursor: String,
        /// The prepared statement.
        statement: String,
    },
    /// EXIT, perhaps of a labelled loop, perhaps WHEN.
    Exit(Option<LoopName>, Option<Expression>),
    /// FETCH cursor INTO ….
    Fetch {
        /// The cursor.
        cursor: String,
        /// Where the row goes.
        into: Vec<usize>,
    },
    /// FOR.
    For {
        /// `<<label>>`
        label: Option<String>,
        /// The variable that counts.
        variable: usize,
        /// Its values.
        values: Vec<ForValue>,
        /// What is repeated.
        body: Block,
    },
    /// FOREACH.
    Foreach {
        /// `<<label>>`
        label: Option<String>,
        /// The rows: a query or a call.
        rows: Box<Sql>,
        /// Where each row goes.
        into: Vec<usize>,
        /// The variables that hold the row's place for WHERE CURRENT OF, when the cursor has a name.
        place: Option<usize>,
        /// What is repeated.
        body: Block,
    },
    /// FREE of a prepared statement or cursor.
    Free(String),
    /// GOTO a labelled statement of this block, or of one around it.
    Goto(String),
    /// IF, and CASE as its comparisons.
    If {
        /// Conditions and what they lead to.
        branches: Vec<(Expression, Block)>,
        /// ELSE; `None` in a CASE without it is an error by IBM's rules only when no branch fits, and does nothing here.
        otherwise: Option<Block>,
    },
    /// EXECUTE IMMEDIATE.
    Immediate(Expression),
    /// LET: each variable its value.
    Let {
        /// The variables.
        into: Vec<usize>,
        /// The values.
        values: Vec<Expression>,
    },
    /// LOOP, WHILE (the condition is asked before each round).
    Loop {
        /// `<<label>>`
        label: Option<String>,
        /// WHILE.
        condition: Option<Expression>,
        /// LOOP or WHILE, for EXIT.
        word: &'static str,
        /// What is repeated.
        body: Block,
    },
    /// Nothing: TRACE, a DEFINE of a routine.
    Nothing,
    /// OPEN cursor USING ….
    Open {
        /// The cursor.
        cursor: String,
        /// The statement's parameters.
        using: Vec<usize>,
    },
    /// PREPARE name FROM text.
    Prepare {
        /// The statement's name.
        statement: String,
        /// Its text.
        text: Expression,
    },
    /// RAISE EXCEPTION.
    Raise {
        /// SQL code.
        code: Expression,
        /// ISAM code.
        isam: Option<Expression>,
        /// Text.
        text: Option<Expression>,
    },
    /// RETURN.
    Return {
        /// The values.
        values: Vec<Expression>,
        /// A call whose values are returned.
        call: Option<Box<Sql>>,
        /// WITH RESUME.
        resume: bool,
    },
    /// A statement of SQL; its one row, if any, goes into the variables.
    Sql {
        /// The statement.
        sql: Box<Sql>,
        /// INTO, RETURNING, or LET's variables.
        into: Vec<usize>,
        /// Where the values come from, which decides what no row means.
        from: RowSource,
    },
}

/// Where the one row of [`StepKind::Sql`] comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowSource {
    /// A call: the values that a routine returns.
    Call,
    /// LET from a subquery.
    Let,
    /// SELECT … INTO, and statements without rows.
    Select,
}

/// What EXIT and CONTINUE name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LoopName {
    /// The innermost loop of this kind.
    Kind(&'static str),
    /// `<<label>>`
    Label(String),
}

/// One of FOR's values.
#[derive(Clone, Debug, PartialEq)]
pub enum ForValue {
    /// A single value.
    One(Expression),
    /// `first TO last [STEP step]`
    Range(Expression, Expression, Option<Expression>),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Literal(Value, Type),
    /// A variable's value.
    Variable(usize),
    /// Anything else: a query of one row and one column.
    Sql(Box<Sql>),
}

/// A statement of SQL inside a routine.
#[derive(Clone, Debug, PartialEq)]
pub struct Sql {
    /// Its number within the routine.
    pub id: usize,
    /// The statement; its parameters are variables.
    pub statement: Statement,
    /// The variable of each parameter.
    pub uses: Vec<usize>,
}

impl TypeRef {
    /// The type; LIKE and names of types ask the schema.
    ///
    /// # Errors
    /// That of a type that is not there; -206 and -217 when the table or column of LIKE does not exist.
    pub fn resolve(&self, schema: &dyn Schema) -> Result<Type> {
        let (table, column) = match self {
            Self::Is(ty) => return super::named_types::resolved(ty, schema),
            Self::Like { table, column } => (table, column),
        };
        let found = schema.relation(table).or_else(|| schema.relation(&QualifiedName::bare(&*table.name)));
        let relation = found.ok_or_else(|| {
            Error::new(
                Condition::UndefinedTable,
                format!("the specified table ({}) is not in the database", table.name),
            )
            .table("", table.name.clone())
        })?;
        let at = relation.column(column).ok_or_else(|| {
            Error::new(Condition::UndefinedColumn, format!("column ({column}) not found in table {}", table.name))
                .column(column.clone())
        })?;
        Ok(super::types::kept(&relation.columns[at].ty))
    }
}

impl Routine {
    /// Its parameters' types.
    ///
    /// # Errors
    /// Those of [`TypeRef::resolve`].
    pub fn param_types(&self, schema: &dyn Schema) -> Result<Vec<Type>> {
        self.params.iter().map(|param| param.ty.resolve(schema)).collect()
    }

    /// The columns that a call yields: names and types.
    ///
    /// # Errors
    /// Those of [`TypeRef::resolve`].
    pub fn result_columns(&self, schema: &dyn Schema) -> Result<Vec<(String, Type)>> {
        self.returns
            .iter()
            .map(|column| {
                let name = column.name.clone().unwrap_or_else(|| "(expression)".to_owned());
                Ok((name, column.ty.resolve(schema)?))
            })
            .collect()
    }

    /// How its signature is written: `name(integer,char(10))`.
    ///
    /// # Errors
    /// Those of [`TypeRef::resolve`].
    pub fn signature(&self, schema: &dyn Schema) -> Result<String> {
        let types = self.param_types(schema)?;
        let words: Vec<String> = types.iter().map(base_words).collect();
        Ok(format!("{}({})", self.name, words.join(",")))
    }
}

/// A type's words without its modifiers: by these are signatures told apart.
pub fn base_words(ty: &Type) -> String {
    if let Some(user) = ty.distinct() {
        return user.name.to_lowercase();
    }
    let words = super::types::type_words(ty).to_lowercase();
    match ty {
        Type::Composite(_) | Type::Datetime(_) | Type::QualifiedInterval(_) => words,
        _ => words.split('(').next().unwrap_or_default().trim_end().to_owned(),
    }
}

/// Parses the text of a routine that was created before.
///
/// # Errors
/// `42601`; a stored text has been parsed once, so only a file that somebody else has changed fails.
pub fn parse(definition: &str) -> Result<Routine> {
    match super::parse(definition)?.pop().map(|statement| statement.ast) {
        Some(super::ast::Ast::CreateRoutine(create)) => Ok(create.routine),
        _ => Err(Error::new(Condition::SyntaxError, "CREATE FUNCTION or CREATE PROCEDURE is expected")),
    }
}

/// What the parser knows of the routine that it is in.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The routine's whole text.
    text: Arc<str>,
    /// Names in scope, the innermost last.
    scopes: Vec<HashMap<String, usize>>,
    variables: Vec<Variable>,
    /// Variables of the statement under way, in the order of its parameters.
    uses: Vec<usize>,
    /// INTO of the SELECT under way.
    into: Vec<usize>,
    /// The statement under way may have INTO.
    takes_into: bool,
    statements: usize,
    /// How far lines have been counted, and how many there were.
    counted: (usize, u32),
    calls: Vec<String>,
    writes: bool,
    iterator: bool,
    /// `<<label>>` so far.
    labels: Vec<String>,
    /// GOTO whose labels have not been met in a block around them yet, with their places.
    jumps: Vec<(String, usize)>,
    /// In ON EXCEPTION.
    handling: bool,
    /// Cursors of FOREACH around: name, the variable of the row's place, whether that is used.
    cursors: Vec<(String, usize, bool)>,
    /// It is a list of a trigger's actions.
    actions: bool,
    /// The rows of the trigger that it is in.
    rows: Option<RowNames>,
}

/// How a trigger's actions name its rows.
#[derive(Clone, Debug)]
pub(super) struct RowNames {
    table: QualifiedName,
    old: Option<String>,
    new: Option<String>,
    /// An action gives the new row a value.
    sets_row: bool,
    /// What the trigger waits for; of a routine it does not matter.
    event: TriggerEvent,
    /// INSTEAD OF.
    instead: bool,
}

impl Names {
    /// The variable of a name.
    fn find(&self, name: &str) -> Option<usize> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }
}

/// Words with which a statement of SPL begins: none of them is an alias inside a routine.
pub(super) const STATEMENT_WORDS: &[&str] = &[
    "alter",
    "begin",
    "call",
    "case",
    "close",
    "commit",
    "continue",
    "create",
    "declare",
    "define",
    "delete",
    "drop",
    "elif",
    "execute",
    "exit",
    "fetch",
    "for",
    "foreach",
    "free",
    "goto",
    "grant",
    "if",
    "insert",
    "let",
    "lock",
    "loop",
    "merge",
    "open",
    "prepare",
    "raise",
    "release",
    "rename",
    "return",
    "revoke",
    "rollback",
    "savepoint",
    "select",
    "system",
    "trace",
    "truncate",
    "unlock",
    "update",
    "while",
];

/// A routine as the fast path names it: `function owner.name(integer, char(10))`.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// FUNCTION (`Some(true)`), PROCEDURE (`Some(false)`) or ROUTINE.
    pub function: Option<bool>,
    /// The name.
    pub name: String,
    /// Its parameters' types.
    pub types: Vec<Type>,
}

impl Signature {
    /// Reads a signature.
    ///
    /// # Errors
    /// `42601` for what is none, `42704` for types that are not known.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = super::parser::Parser::new(text)?;
        match parser.drop_routine()? {
            super::ast::Ast::DropRoutine { name, function, signature, .. } if parser.at_end() => {
                Ok(Self { function, name: name.name, types: signature.unwrap_or_default() })
            }
            _ => Err(Error::new(Condition::SyntaxError, "this is not the signature of a routine")),
        }
    }

    /// The statement that calls the routine of users that it names, with its parameters for arguments; `None` when there
    /// is no such routine.
    pub fn call(&self, schema: &dyn Schema) -> Option<String> {
        let words = |ty: &Type| super::named_types::resolved(ty, schema).map(|ty| base_words(&ty));
        let wanted: Vec<String> = self.types.iter().map(words).collect::<Result<_>>().ok()?;
        let found = schema.routines(&self.name).into_iter().find_map(|routine| {
            let parsed = routine.parsed().ok()?.clone();
            let types = parsed.param_types(schema).ok()?;
            let same = types.iter().map(base_words).eq(wanted.iter().cloned());
            (same && self.function.is_none_or(|function| function == parsed.function)).then_some(types)
        })?;
        let args: Vec<String> = found.iter().map(|ty| format!("?::{}", super::types::type_words(ty))).collect();
        Some(format!("EXECUTE FUNCTION {}({})", self.name, args.join(", ")))
    }
}
