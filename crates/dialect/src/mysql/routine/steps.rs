//! What a step of MySQL's does that PL/pgSQL has none like.

use crate::postgres::plpgsql::{Place, Sql, Step};

/// DECLARE … HANDLER of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// EXIT: the block is over; else CONTINUE, and it goes on behind what has failed.
    pub exit: bool,
    /// What it is for.
    pub conditions: Vec<Met>,
    /// What it does.
    pub steps: Vec<Step>,
}

/// What a handler is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Met {
    /// An error's number.
    Number(u16),
    /// SQLSTATE.
    State(String),
    /// SQLWARNING: the class 01.
    Warning,
    /// NOT FOUND: the class 02.
    NotFound,
    /// SQLEXCEPTION: all other classes but 00.
    Exception,
}

impl Met {
    /// How closely it fits an error; `None` when it does not.
    pub fn fits(&self, number: u16, state: &str) -> Option<u8> {
        let class = state.get(..2).unwrap_or_default();
        let fits = match self {
            Self::Number(wanted) => *wanted == number,
            Self::State(wanted) => wanted == state,
            Self::Warning => class == "01",
            Self::NotFound => class == "02",
            Self::Exception => !matches!(class, "00" | "01" | "02"),
        };
        let closeness = match self {
            Self::Number(_) => 3,
            Self::State(_) => 2,
            Self::Warning | Self::NotFound | Self::Exception => 1,
        };
        fits.then_some(closeness)
    }
}

/// Something that a value can be given to.
#[derive(Clone, Debug, PartialEq)]
pub enum Destination {
    /// A variable of the routine, or a column of NEW.
    Place(Place),
    /// `@name`.
    User(String),
}

/// SIGNAL and RESIGNAL.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// RESIGNAL: what is not said is that of the error whose handler runs.
    pub again: bool,
    /// SQLSTATE; RESIGNAL may leave it out.
    pub state: Option<String>,
    /// SET: what it says.
    pub items: Vec<(Information, Sql)>,
}

/// What a condition tells of itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Information {
    /// CATALOG_NAME.
    Catalog,
    /// CLASS_ORIGIN.
    ClassOrigin,
    /// COLUMN_NAME.
    Column,
    /// CONSTRAINT_CATALOG.
    ConstraintCatalog,
    /// CONSTRAINT_NAME.
    Constraint,
    /// CONSTRAINT_SCHEMA.
    ConstraintSchema,
    /// CURSOR_NAME.
    Cursor,
    /// MESSAGE_TEXT.
    Message,
    /// MYSQL_ERRNO.
    Number,
    /// RETURNED_SQLSTATE.
    State,
    /// SCHEMA_NAME.
    Schema,
    /// SUBCLASS_ORIGIN.
    SubclassOrigin,
    /// TABLE_NAME.
    Table,
}

impl Information {
    /// Every one with its word.
    pub const ALL: &[(&str, Self)] = &[
        ("CATALOG_NAME", Self::Catalog),
        ("CLASS_ORIGIN", Self::ClassOrigin),
        ("COLUMN_NAME", Self::Column),
        ("CONSTRAINT_CATALOG", Self::ConstraintCatalog),
        ("CONSTRAINT_NAME", Self::Constraint),
        ("CONSTRAINT_SCHEMA", Self::ConstraintSchema),
        ("CURSOR_NAME", Self::Cursor),
        ("MESSAGE_TEXT", Self::Message),
        ("MYSQL_ERRNO", Self::Number),
        ("RETURNED_SQLSTATE", Self::State),
        ("SCHEMA_NAME", Self::Schema),
        ("SUBCLASS_ORIGIN", Self::SubclassOrigin),
        ("TABLE_NAME", Self::Table),
    ];
}

/// What GET DIAGNOSTICS is asked of the statement before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OfStatement {
    /// NUMBER of conditions.
    Number,
    /// ROW_COUNT.
    RowCount,
}

/// GET DIAGNOSTICS.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// Of the statement.
    Statement(Vec<(Destination, OfStatement)>),
    /// CONDITION: of one of its conditions, by its number.
    Condition(Sql, Vec<(Destination, Information)>),
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub enum MysqlStep {
    /// A statement of SQL: its row goes INTO somewhere, or its rows to the client.
    Sql {
        /// The statement.
        sql: Sql,
        /// INTO.
        into: Option<Vec<Destination>>,
    },
    /// OPEN of a cursor, by its number.
    Open(usize),
    /// FETCH.
    Fetch(usize, Vec<Destination>),
    /// CLOSE.
    Close(usize),
    /// SIGNAL, RESIGNAL.
    Signal(Box<Signal>),
    /// GET DIAGNOSTICS.
    Diagnostics {
        /// STACKED: of the error whose handler runs.
        stacked: bool,
        /// What.
        asked: Asked,
    },
}

impl MysqlStep {
    /// Its words.
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Sql { .. } => "SQL statement",
            Self::Open(_) => "OPEN",
            Self::Fetch(..) => "FETCH",
            Self::Close(_) => "CLOSE",
            Self::Signal(_) => "SIGNAL",
            Self::Diagnostics { .. } => "GET DIAGNOSTICS",
        }
    }
}

/// A cursor that a block declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Its query.
    pub query: Sql,
}
