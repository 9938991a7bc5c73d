//! PL/pgSQL: a function's body as steps over numbered variables, its SQL as texts with the names that they see.
//!
//! PL/pgSQL cuts its SQL out of the body by its own words and leaves it to PostgreSQL's parser; what a name in there
//! means is settled when the statement is bound, where a variable and a column may be told apart or found to clash. So a
//! [`Sql`] keeps its text and the [`Scope`] that it stands in.

mod conditions;
mod cursors;
mod declare;
mod lexer;
mod loops;
mod parser;
mod raise;
mod sql;
mod statement;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use super::binder::Binder;
use crate::collation::Collation;
use crate::mysql::routine::steps as mysql;
use crate::plan::Context;
use crate::schema::{QualifiedName, Schema};
use crate::stored_function::{Definition, TypeRef};
use crate::{Condition, Error, Result, Type};

pub use conditions::{name_of as condition_name, sqlstates_of};
pub(crate) use sql::may_write;

/// A body, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Every variable, parameters and the special ones first.
    pub variables: Vec<Variable>,
    /// Where names are looked for; the first is the function's own.
    pub scopes: Vec<Scope>,
    /// What it does.
    pub body: Block,
    /// How many [`Sql`] it has; they are numbered from 0.
    pub statements: usize,
    /// Variables of the parameters that a call gives, in order.
    pub inputs: Vec<usize>,
    /// Variables of the parameters that make the result, in order.
    pub outputs: Vec<usize>,
    /// The variable FOUND.
    pub found: usize,
    /// What a name means that is a variable's and a column's.
    pub conflict: Conflict,
    /// It is a trigger function's: variables NEW, OLD, TG_…, in the order of [`TRIGGER_VARIABLES`].
    pub trigger: Option<[usize; 12]>,
    /// It may change something: it has a statement other than queries, or runs texts.
    pub writes: bool,
    /// Names that may be those of functions that it calls.
    pub calls: Vec<String>,
    /// Variables that hide one of a block around: `42712`, with the place in the body.
    pub shadows: Vec<crate::Error>,
    /// Cursors that MySQL's blocks declare; they are numbered from 0.
    pub cursors: Vec<mysql::Declared>,
    /// Handlers that MySQL's blocks declare, those of a block behind one another.
    pub reactions: Vec<mysql::Reaction>,
}

/// The variables of a trigger function.
pub const TRIGGER_VARIABLES: [&str; 12] = [
    "new",
    "old",
    "tg_name",
    "tg_when",
    "tg_level",
    "tg_op",
    "tg_relid",
    "tg_relname",
    "tg_table_name",
    "tg_table_schema",
    "tg_nargs",
    "tg_argv",
];

/// What a name means that is a variable's and a column's.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Conflict {
    /// Nobody knows: an error.
    #[default]
    Error,
    /// The column.
    Column,
    /// The variable.
    Variable,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: VariableKind,
    /// COLLATE.
    pub collation: Option<QualifiedName>,
    /// CONSTANT.
    pub constant: bool,
    /// NOT NULL.
    pub not_null: bool,
    /// Its first value.
    pub default: Option<Sql>,
    /// The line of its declaration.
    pub line: u32,
}

/// The collations that variables are declared with, one for each variable.
///
/// # Errors
/// `42704` for one that does not exist, `42804` for a type that has none.
pub fn collations(function: &Function, name: &str, schema: &dyn Schema) -> Result<Vec<Option<Arc<Collation>>>> {
    let context = Context::default();
    let declared = |variable: &Variable| -> Result<Option<Arc<Collation>>> {
        let Some(collation) = &variable.collation else { return Ok(None) };
        if let VariableKind::Declared(DeclaredType::Is(TypeRef::Is(ty))) = &variable.kind
            && Collation::of_type(ty).is_none()
        {
            let message = format!("collations are not supported by type {}", super::types::words(ty));
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        let parts: Vec<&str> = collation.schema.as_deref().into_iter().chain([collation.name.as_str()]).collect();
        let found = Binder::detached(schema, &context).collation_named(&parts, -1).map_err(|error| {
            error.context(format!("compilation of PL/pgSQL function \"{name}\" near line {}", variable.line))
        })?;
        Ok(Some(found))
    };
    function.variables.iter().map(declared).collect()
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq)]
pub enum VariableKind {
    /// A value, or the row of a table.
    Declared(DeclaredType),
    /// A row of any shape.
    Record,
    /// A cursor with its query and the variables of its arguments.
    Cursor(Box<BoundCursor>),
}

/// A type as DECLARE names it.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclaredType {
    /// A type.
    Is(TypeRef),
    /// `table.column%TYPE`.
    Column(QualifiedName, String),
    /// `variable%TYPE`.
    Like(usize),
}

/// A cursor bound to its query.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundCursor {
    /// The variables of its arguments.
    pub args: Vec<usize>,
    /// Its query.
    pub query: Sql,
    /// `SCROLL` or `NO SCROLL`, when it is said.
    pub scroll: Option<bool>,
}

/// Names that a statement sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// The scope around it.
    pub parent: Option<usize>,
    /// Its label.
    pub label: Option<String>,
    /// Names and the variables that they mean.
    pub names: Vec<(String, usize)>,
}

/// A statement of SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct Sql {
    /// Its number within the function.
    pub id: usize,
    /// Its text: a whole statement.
    pub text: Arc<str>,
    /// Bytes at the text's beginning that the function does not have: `SELECT `.
    pub prefix: usize,
    /// The assignment that it is the value of, whole: what messages show.
    pub assignment: Option<Arc<str>>,
    /// The innermost scope.
    pub scope: usize,
    /// How many of that scope's names there were before it.
    pub names: usize,
}

/// BEGIN … END.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// `<<label>>`
    pub label: Option<String>,
    /// Variables that it declares.
    pub declares: Vec<usize>,
    /// What it does.
    pub steps: Vec<Step>,
    /// EXCEPTION, if it has it.
    pub handlers: Option<Handlers>,
    /// Handlers that it declares in MySQL's language, of the function's. It has a label then.
    pub reactions: Range<usize>,
    /// Cursors that it declares there, of the function's.
    pub cursors: Vec<usize>,
}

/// EXCEPTION.
#[derive(Clone, Debug, PartialEq)]
pub struct Handlers {
    /// The variables SQLSTATE and SQLERRM.
    pub sqlstate: usize,
    /// The error's message.
    pub sqlerrm: usize,
    /// WHEN, in order.
    pub handlers: Vec<Handler>,
}

/// WHEN … THEN.
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    /// What it traps.
    pub conditions: Vec<Trapped>,
    /// What it does.
    pub steps: Vec<Step>,
}

/// What a handler traps.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trapped {
    /// OTHERS: everything but cancellation and failed assertions.
    Others,
    /// A code; a code that ends in `000` is its whole class.
    State(String),
}

/// A statement and its line in the body, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What.
    pub kind: StepKind,
    /// Where.
    pub line: u32,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// ASSERT.
    Assert(Sql, Option<Sql>),
    /// `variable := value`.
    Assign(Place, Sql),
    /// BEGIN … END.
    Block(Block),
    /// CALL: its INOUT arguments go back into variables.
    Call(Sql),
    /// CASE.
    Case {
        /// The compared value and the variable that holds it.
        subject: Option<(usize, Sql)>,
        /// Conditions and what they lead to.
        branches: Vec<(Sql, Vec<Step>)>,
        /// ELSE.
        otherwise: Option<Vec<Step>>,
    },
    /// CLOSE.
    Close(usize),
    /// EXECUTE.
    Dynamic {
        /// The text and its values.
        text: DynamicSql,
        /// INTO.
        into: Option<Into>,
    },
    /// EXIT, or CONTINUE.
    Exit {
        /// CONTINUE.
        again: bool,
        /// Which loop or block.
        label: Option<String>,
        /// WHEN.
        when: Option<Sql>,
    },
    /// FETCH, MOVE.
    Fetch {
        /// The cursor's variable.
        cursor: usize,
        /// Where to.
        direction: Direction,
        /// Where the row goes; MOVE has none.
        into: Option<Target>,
    },
    /// FOR over numbers.
    ForNumbers {
        /// `<<label>>`
        label: Option<String>,
        /// The variable that counts.
        variable: usize,
        /// Bounds.
        bounds: Box<(Sql, Sql, Option<Sql>)>,
        /// REVERSE.
        reverse: bool,
        /// What is repeated.
        body: Vec<Step>,
    },
    /// FOR over rows.
    ForRows {
        /// `<<label>>`
        label: Option<String>,
        /// Where each row goes.
        target: Target,
        /// The rows.
        rows: Rows,
        /// What is repeated.
        body: Vec<Step>,
    },
    /// FOREACH.
    ForEach {
        /// `<<label>>`
        label: Option<String>,
        /// Where each member goes.
        target: Target,
        /// SLICE.
        slice: u32,
        /// The array.
        array: Sql,
        /// What is repeated.
        body: Vec<Step>,
    },
    /// GET DIAGNOSTICS.
    Diagnostics {
        /// STACKED.
        stacked: bool,
        /// What goes where.
        items: Vec<(Place, Diagnostic)>,
    },
    /// IF.
    If {
        /// Conditions and what they lead to.
        branches: Vec<(Sql, Vec<Step>)>,
        /// ELSE.
        otherwise: Vec<Step>,
    },
    /// LOOP, WHILE.
    Loop {
        /// `<<label>>`
        label: Option<String>,
        /// WHILE.
        condition: Option<Sql>,
        /// What is repeated.
        body: Vec<Step>,
    },
    /// What only MySQL has.
    Mysql(mysql::MysqlStep),
    /// OPEN.
    Open {
        /// The cursor's variable.
        cursor: usize,
        /// SCROLL or NO SCROLL.
        scroll: Option<bool>,
        /// What it is opened for.
        source: OpenSource,
    },
    /// PERFORM.
    Perform(Sql),
    /// RAISE.
    Raise(Box<Raise>),
    /// RETURN.
    Return(Option<Sql>),
    /// RETURN NEXT.
    ReturnNext(Option<Sql>),
    /// RETURN QUERY.
    ReturnQuery(Rows),
    /// A statement of SQL.
    Sql {
        /// The statement.
        sql: Sql,
        /// INTO.
        into: Option<Into>,
    },
    /// COMMIT, ROLLBACK.
    Transaction {
        /// Which.
        commit: bool,
        /// AND CHAIN.
        chain: bool,
    },
}

/// What OPEN opens a cursor for.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenSource {
    /// A bound cursor's query with its arguments, each for the parameter of a position.
    Bound(Vec<(usize, Sql)>),
    /// FOR query.
    Query(Sql),
    /// FOR EXECUTE.
    Dynamic(DynamicSql),
}

/// Rows of a loop or of RETURN QUERY.
#[derive(Clone, Debug, PartialEq)]
pub enum Rows {
    /// A query.
    Query(Sql),
    /// EXECUTE.
    Dynamic(DynamicSql),
    /// A bound cursor with its arguments.
    Cursor(usize, Vec<(usize, Sql)>),
}

/// A text to run, with its parameters' values.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicSql {
    /// The text.
    pub text: Sql,
    /// USING.
    pub using: Vec<Sql>,
}

/// INTO.
#[derive(Clone, Debug, PartialEq)]
pub struct Into {
    /// Where the row goes.
    pub target: Target,
    /// STRICT: it must be exactly one.
    pub strict: bool,
}

/// Where a row goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A variable that holds rows.
    Row(usize),
    /// A place for each column.
    Places(Vec<Place>),
}

/// Something that can be assigned to.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The variable.
    pub variable: usize,
    /// A field of its row.
    pub field: Option<String>,
    /// Subscripts of its array.
    pub subscripts: Vec<Sql>,
}

/// Where FETCH goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Direction {
    /// So many forward; `None` is ALL.
    Forward(Option<Sql>),
    /// So many backward; `None` is ALL.
    Backward(Option<Sql>),
    /// To a row.
    Absolute(Sql),
    /// To a row seen from here.
    Relative(Sql),
    /// One forward.
    Next,
    /// One backward.
    Prior,
    /// To the first.
    First,
    /// To the last.
    Last,
}

/// What GET DIAGNOSTICS tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Diagnostic {
    /// ROW_COUNT.
    RowCount,
    /// PG_ROUTINE_OID.
    RoutineOid,
    /// PG_CONTEXT.
    Context,
    /// RETURNED_SQLSTATE.
    Sqlstate,
    /// MESSAGE_TEXT.
    Message,
    /// PG_EXCEPTION_DETAIL.
    Detail,
    /// PG_EXCEPTION_HINT.
    Hint,
    /// PG_EXCEPTION_CONTEXT.
    ErrorContext,
    /// COLUMN_NAME.
    Column,
    /// CONSTRAINT_NAME.
    Constraint,
    /// PG_DATATYPE_NAME.
    DataType,
    /// TABLE_NAME.
    Table,
    /// SCHEMA_NAME.
    Schema,
}

/// RAISE.
#[derive(Clone, Debug, PartialEq)]
pub struct Raise {
    /// How loud.
    pub level: Level,
    /// The error's code, when it is named.
    pub sqlstate: Option<String>,
    /// The name under which it was given.
    pub condition: Option<String>,
    /// The message, `%` for each of the values.
    pub format: Option<String>,
    /// Values.
    pub values: Vec<Sql>,
    /// USING.
    pub options: Vec<(RaiseOption, Sql)>,
}

/// How loud a message is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Level {
    /// DEBUG.
    Debug,
    /// LOG.
    Log,
    /// INFO.
    Info,
    /// NOTICE.
    Notice,
    /// WARNING.
    Warning,
    /// EXCEPTION.
    Exception,
}

/// An option of RAISE.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RaiseOption {
    /// ERRCODE.
    Code,
    /// MESSAGE.
    Message,
    /// DETAIL.
    Detail,
    /// HINT.
    Hint,
    /// COLUMN.
    Column,
    /// CONSTRAINT.
    Constraint,
    /// DATATYPE.
    DataType,
    /// TABLE.
    Table,
    /// SCHEMA.
    Schema,
}

impl RaiseOption {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Code => "ERRCODE",
            Self::Message => "MESSAGE",
            Self::Detail => "DETAIL",
            Self::Hint => "HINT",
            Self::Column => "COLUMN",
            Self::Constraint => "CONSTRAINT",
            Self::DataType => "DATATYPE",
            Self::Table => "TABLE",
            Self::Schema => "SCHEMA",
        }
    }
}

impl Function {
    /// The fields of rows that it assigns to in MySQL's language.
    pub fn assigned_fields(&self) -> Vec<&str> {
        let mut fields = Vec::new();
        add_assigned(&self.body.steps, &mut fields);
        self.reactions.iter().for_each(|reaction| add_assigned(&reaction.steps, &mut fields));
        fields
    }
}

fn add_assigned<'b>(steps: &'b [Step], fields: &mut Vec<&'b str>) {
    for step in steps {
        match &step.kind {
            StepKind::Assign(place, _) => fields.extend(place.field.as_deref()),
            StepKind::Block(block) => add_assigned(&block.steps, fields),
            StepKind::Case { branches, otherwise, .. } => {
                branches.iter().for_each(|(_, steps)| add_assigned(steps, fields));
                otherwise.iter().for_each(|steps| add_assigned(steps, fields));
            }
            StepKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, steps)| add_assigned(steps, fields));
                add_assigned(otherwise, fields);
            }
            StepKind::Loop { body, .. } => add_assigned(body, fields),
            _ => {}
        }
    }
}

impl StepKind {
    /// How the CONTEXT of an error names it.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Assert(..) => "ASSERT",
            Self::Assign(..) => "assignment",
            Self::Block(_) => "statement block",
            Self::Call(_) => "CALL",
            Self::Case { .. } => "CASE",
            Self::Close(_) => "CLOSE",
            Self::Dynamic { .. } => "EXECUTE",
            Self::Exit { again: true, .. } => "CONTINUE",
            Self::Exit { .. } => "EXIT",
            Self::Fetch { into: None, .. } => "MOVE",
            Self::Fetch { .. } => "FETCH",
            Self::ForNumbers { .. } => "FOR with integer loop variable",
            Self::ForRows { rows: Rows::Query(_), .. } => "FOR over SELECT rows",
            Self::ForRows { rows: Rows::Dynamic(_), .. } => "FOR over EXECUTE statement",
            Self::ForRows { rows: Rows::Cursor(..), .. } => "FOR over cursor",
            Self::ForEach { .. } => "FOREACH over array",
            Self::Diagnostics { stacked: true, .. } => "GET STACKED DIAGNOSTICS",
            Self::Diagnostics { .. } => "GET DIAGNOSTICS",
            Self::If { .. } => "IF",
            Self::Loop { condition: None, .. } => "LOOP",
            Self::Loop { .. } => "WHILE",
            Self::Mysql(step) => step.words(),
            Self::Open { .. } => "OPEN",
            Self::Perform(_) => "PERFORM",
            Self::Raise(_) => "RAISE",
            Self::Return(_) => "RETURN",
            Self::ReturnNext(_) => "RETURN NEXT",
            Self::ReturnQuery(_) => "RETURN QUERY",
            Self::Sql { .. } => "SQL statement",
            Self::Transaction { commit: true, .. } => "COMMIT",
            Self::Transaction { commit: false, .. } => "ROLLBACK",
        }
    }
}

impl Place {
    /// A variable as a whole.
    pub fn variable(variable: usize) -> Self {
        Self { variable, field: None, subscripts: Vec::new() }
    }
}

/// Whether statements of SQL may change something by themselves, and names that may be those of functions they call.
///
/// # Errors
/// `42601`.
pub fn effects_of_sql(text: &str) -> Result<(bool, Vec<String>)> {
    let calls = parser::called(&lexer::tokens(text)?);
    let statements = crate::postgres::parse(text)?;
    let trees = statements.iter().map(|statement| statement.tree()).collect::<Result<Vec<_>>>()?;
    Ok((trees.iter().any(|tree| sql::may_write(tree)), calls))
}

/// Parses the body of a function; `find` knows the types that users have made.
///
/// # Errors
/// `42601` and others for what is wrong with it, in PostgreSQL's words.
pub fn parse(name: &str, definition: &Definition, find: &dyn Fn(&QualifiedName) -> Option<Type>) -> Result<Function> {
    parser::Parser::new(name, definition, find)?.function()
}
