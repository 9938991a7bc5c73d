//! Routines and types to be.

/// CREATE FUNCTION, CREATE PROCEDURE in SPL.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateRoutine {
    /// Name.
    pub name: String,
    /// Name and base types of its parameters.
    pub signature: String,
    /// SPECIFIC.
    pub specific: Option<String>,
    /// The statement's text.
    pub definition: String,
    /// OR REPLACE.
    pub or_replace: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
}

/// CREATE FUNCTION, CREATE PROCEDURE in PostgreSQL's way.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateFunction {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Name and types of its input parameters.
    pub signature: String,
    /// What the file keeps of it: its canonical text.
    pub text: String,
    /// The function that it takes the place of.
    pub replaces: Option<u32>,
    /// What it makes.
    pub kind: RoutineKind,
    /// LEAKPROOF.
    pub leakproof: bool,
    /// Variables of its body that hide others: what becomes of them is the session's to say.
    pub shadows: Vec<crate::Error>,
    /// SET … FROM CURRENT: settings that it gets the session's values of.
    pub current: Vec<String>,
}

/// What CREATE FUNCTION and its kin make.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RoutineKind {
    /// A function.
    Function,
    /// A procedure.
    Procedure,
    /// An aggregate.
    Aggregate,
}

/// ALTER FUNCTION and its kin: the function with its new text.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterFunction {
    /// Its object id.
    pub function: u32,
    /// Its namespace from now on.
    pub namespace: String,
    /// Its name from now on.
    pub name: String,
    /// Its signature from now on.
    pub signature: String,
    /// Its canonical text from now on.
    pub text: String,
    /// It becomes LEAKPROOF.
    pub leakproof: bool,
    /// SET … FROM CURRENT: settings that it gets the session's values of.
    pub current: Vec<String>,
    /// The completion tag.
    pub tag: &'static str,
}

/// CREATE ROW TYPE, CREATE DISTINCT TYPE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateType {
    /// Name.
    pub name: String,
    /// It names a row; a DISTINCT type otherwise.
    pub is_row: bool,
    /// The row, or the source type.
    pub ty: crate::Type,
}

/// CREATE CAST in Informix's SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateInformixCast {
    /// The name of its entry.
    pub name: String,
    /// What it is, as [`crate::informix::casts::Definition`] is kept.
    pub words: String,
}

/// CREATE AGGREGATE in Informix's SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateAggregate {
    /// Name.
    pub name: String,
    /// What it is made of, as [`crate::informix::aggregates::Parts`] is kept.
    pub words: String,
}

/// DROP FUNCTION, DROP PROCEDURE.
#[derive(Clone, Debug, PartialEq)]
pub struct DropRoutine {
    /// The routine's object id.
    pub oid: u32,
}
