//! What a compiled statement looks like from outside: parameters, result columns, effects.

use crate::Type;
use crate::access::Needs;
use crate::ir::{Body, Statement};

/// A statement bound by a front end; what a back end lowers.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The statement.
    pub statement: Statement,
    /// Parameter types, decided (an undecided parameter is an error of the front end, or text by its rules).
    pub params: Vec<Type>,
    /// Result columns; empty when the statement returns no rows.
    pub columns: Vec<ResultColumn>,
    /// What it does, for transactions and clients.
    pub effects: Effects,
    /// The schema generation that it was bound against.
    pub generation: u64,
    /// What it needs to be allowed when it runs.
    pub needs: Needs,
    /// Inside a function: for each parameter the variable that is its value, as
    /// [`Variables`](crate::postgres::routine::Variables) counts them.
    pub inside: Vec<usize>,
    /// Notices to send with it (an object that IF EXISTS let pass, …).
    pub notices: Vec<crate::Error>,
}

impl Bound {
    /// Gives back what its lists have taken beyond what stands in them: plans are kept for long, and there are many.
    pub fn shrink(&mut self) {
        self.params.shrink_to_fit();
        self.columns.shrink_to_fit();
        self.needs.relations.shrink_to_fit();
        if let Statement::Query(query) = &mut self.statement {
            query.columns.shrink_to_fit();
            query.order_by.shrink_to_fit();
            if let Body::Select(select) = &mut query.body {
                select.items.shrink_to_fit();
            }
        }
    }
}

/// A column of a result, as clients are told.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultColumn {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// The table column that it is, when it is just that: relation's oid and number from 0, dropped columns counted.
    pub origin: Option<(u32, usize)>,
    /// It is never NULL, as far as is known.
    pub not_null: bool,
    /// The column gives itself numbers (Informix describes it as SERIAL).
    pub identity: bool,
    /// What the FROM list calls it, where MySQL's clients are told and a table's own names do not tell.
    pub listed: Option<Box<Listed>>,
}

/// A column as a FROM list knows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listed {
    /// The alias, or the name of what stands there.
    pub table: String,
    /// The column's name in it.
    pub column: String,
}

/// What a statement does.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Effects {
    /// Reads tables: takes part in the transaction's snapshot.
    pub reads: bool,
    /// Writes: takes the write lock.
    pub writes: bool,
    /// Changes the schema: plans are renewed.
    pub schema: bool,
    /// Controls the transaction.
    pub transaction: bool,
    /// Calls volatile functions, or depends on session settings: never run twice, never folded.
    pub volatile: bool,
    /// Calls functions of users that may change something.
    pub calls_writers: bool,
    /// MySQL's: how many digits a literal has behind its point says what is worked out of it.
    pub tells_digits: bool,
}

/// The word with which a door reports completion.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Command {
    /// A query: rows are counted.
    Select,
    /// INSERT: rows are counted.
    Insert,
    /// UPDATE: rows are counted.
    Update,
    /// DELETE: rows are counted.
    Delete,
    /// FETCH: rows are counted.
    Fetch,
    /// MERGE: rows are counted.
    Merge,
    /// MOVE: rows are counted.
    Move,
    /// COPY: rows are counted.
    Copy,
    /// Any other, under its own words (`CREATE TABLE`).
    Utility(&'static str),
}

/// What binding may depend on besides the schema; part of a plan's key.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Context {
    /// The session's user: owner of what it creates.
    pub user: String,
    /// The database's name, for three-part names.
    pub database: String,
    /// Policies of tables become part of the statement: not where only its text is looked at.
    pub asks_policies: bool,
    /// Nobody asks whether rows hold their foreign keys, nor whether the tables of such are there: MySQL's
    /// `foreign_key_checks` is off.
    pub keys_unchecked: bool,
    /// The tables are another server's, which alone knows what a column without a default here becomes.
    pub defaults_there: bool,
    /// Values for columns that compute themselves are passed over: MySQL's `sql_mode` is not strict.
    pub passes_generated: bool,
    /// How its literals are to be read.
    pub literals: crate::values::LiteralStyle,
    /// Of which kinds the variables of MySQL's users are.
    pub user_kinds: std::sync::Arc<str>,
}
