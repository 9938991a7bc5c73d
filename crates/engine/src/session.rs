//! One client's conversation with a database.

use std::sync::Arc;

use rowferry_dialect::ir::{TransactionModes, Value};
use rowferry_dialect::plan::{Bound, Command};
use rowferry_dialect::values::Settings;
use rowferry_dialect::{Error, Language, Result, Type};

use crate::{Cursor, Database, Interrupter, SessionOptions};

/// One client's conversation with a database; used by one thread at a time. Dropping it rolls back.
#[derive(Debug)]
pub struct Session {
    database: Database,
    options: SessionOptions,
    interrupter: Interrupter,
    settings: Arc<Settings>,
}

/// One statement of a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    text: String,
    offset: u32,
}

/// A compiled statement, shared through the database's plan cache.
#[derive(Debug)]
pub struct Prepared {
    /// What the front end made of it: parameters, result columns, effects.
    pub bound: Bound,
    /// The word for its completion.
    pub command: Command,
}

/// What an execution yields.
#[derive(Debug)]
pub enum Outcome {
    /// Rows to pull.
    Rows(Cursor),
    /// Done already.
    Done {
        /// The word for its completion.
        command: Command,
        /// Rows changed, where the command counts them.
        rows: u64,
    },
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TransactionStatus {
    /// Outside a transaction block.
    Idle,
    /// In a transaction block.
    Active,
    /// In a transaction block that an error has ended: only ROLLBACK helps.
    Failed,
}

impl Parsed {
    /// The statement's own text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many characters stand before it in the whole text; error positions count from the whole text's beginning.
    pub fn offset(&self) -> u32 {
        self.offset
    }
}

impl Session {
    pub(crate) fn new(database: Database, options: SessionOptions) -> Self {
        Self { database, options, interrupter: Interrupter::new(), settings: Arc::default() }
    }

    /// Splits a text into its statements; none for an empty text.
    pub fn parse(&mut self, _sql: &str) -> Result<Vec<Parsed>> {
        Err(Error::unsupported("parsing"))
    }

    /// Compiles a statement, or finds it in the plan cache; `None` for an empty text.
    ///
    /// `param_types` are the types that the client has declared for the first parameters; `None` leaves one open.
    ///
    /// # Errors
    /// `42601` for more than one statement, and whatever the front end has to say.
    pub fn prepare(&mut self, _sql: &str, _param_types: &[Option<Type>]) -> Result<Option<Arc<Prepared>>> {
        Err(Error::unsupported("preparing"))
    }

    /// Compiles one statement of a text.
    pub fn prepare_parsed(&mut self, _parsed: &Parsed, _param_types: &[Option<Type>]) -> Result<Arc<Prepared>> {
        Err(Error::unsupported("preparing"))
    }

    /// Runs a statement with its parameters, each in the stored form of its type (`prepared.bound.params`).
    ///
    /// A plan that the schema has left behind is renewed; if that changes its result columns, the error is `0A000`
    /// (`cached plan must not change result type`), as PostgreSQL has it.
    pub fn execute(&mut self, _prepared: &Arc<Prepared>, _params: &[Value]) -> Result<Outcome> {
        Err(Error::unsupported("executing"))
    }

    /// Where the session stands.
    pub fn transaction_status(&self) -> TransactionStatus {
        TransactionStatus::Idle
    }

    /// BEGIN.
    pub fn begin(&mut self, _modes: TransactionModes) -> Result<()> {
        Err(Error::unsupported("BEGIN"))
    }

    /// COMMIT; false when the transaction had failed and was rolled back instead.
    pub fn commit(&mut self) -> Result<bool> {
        Err(Error::unsupported("COMMIT"))
    }

    /// ROLLBACK.
    pub fn rollback(&mut self) -> Result<()> {
        Err(Error::unsupported("ROLLBACK"))
    }

    /// SAVEPOINT.
    pub fn savepoint(&mut self, _name: &str) -> Result<()> {
        Err(Error::unsupported("SAVEPOINT"))
    }

    /// RELEASE.
    pub fn release(&mut self, _name: &str) -> Result<()> {
        Err(Error::unsupported("RELEASE"))
    }

    /// ROLLBACK TO.
    pub fn rollback_to(&mut self, _name: &str) -> Result<()> {
        Err(Error::unsupported("ROLLBACK TO"))
    }

    /// The statements that follow are one transaction, unless they control transactions themselves: a simple query of
    /// several statements, a pipeline until Sync. Does nothing inside a transaction.
    pub fn begin_implicit(&mut self) {}

    /// Ends what [`Session::begin_implicit`] began: commits, or rolls back after an error.
    pub fn end_implicit(&mut self) -> Result<()> {
        Ok(())
    }

    /// Tells the session that the door itself has met an error: a transaction block is aborted.
    pub fn fail(&mut self) {}

    /// Cancels from another thread what this session is doing.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// What the text forms of values depend on in this session: its time zone, its styles.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings)
    }

    /// A session variable as SHOW prints it; `None` when there is none of this name.
    pub fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// Sets a variable for the session, as SET does: the start-up packet's options come this way.
    pub fn set_variable(&mut self, _name: &str, _value: &str) -> Result<()> {
        Ok(())
    }

    /// Variables that clients are told about and that have changed since the last call.
    pub fn drain_reports(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Notices since the last call.
    pub fn drain_notices(&mut self) -> Vec<Error> {
        Vec::new()
    }

    /// The last number that a SERIAL column gave itself in this session's last INSERT.
    pub fn last_serial(&self) -> Option<i64> {
        None
    }

    /// Everything as after connecting: DISCARD ALL.
    pub fn reset(&mut self) {}

    /// The database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The dialect that this session speaks.
    pub fn language(&self) -> Language {
        self.options.language
    }

    /// The user.
    pub fn user(&self) -> &str {
        &self.options.user
    }
}
