//! What the engine asks of a back end, answered by SQLite.

use std::sync::Arc;

use rowferry_dialect::Result;
use rowferry_dialect::ir::{Cte, Dml, Merge, Query, Statement as Ir};
use rowferry_dialect::lower::parts::{self, ByRows};
pub use rowferry_dialect::lower::sqlite::Program;
use rowferry_dialect::lower::sqlite::{self, ParamForm, ParamUse};
use rowferry_dialect::plan::Bound;
use rusqlite::{Connection, OpenFlags};

use super::busy::BusyHandler;
use super::connection;
use super::handle::{Parts, SharedHandle};
use super::open::FLAGS;
use super::statement::Failure;
use crate::backend::{Backend, Opening, Yield};
use crate::interrupt::Interrupter;
use crate::schema::Snapshot;

/// Virtual machine steps between two looks at the clock and the interrupter: some microseconds.
const PROGRESS_STEPS: i32 = 1_000;

/// SQLite, in this process.
#[derive(Debug)]
pub struct Sqlite;

/// What statements of ours need of a connection: our functions, and that they can be stopped.
fn equip(
    connection: &mut Connection,
    interrupter: Interrupter,
    functions: &Arc<crate::functions::Context>,
) -> rusqlite::Result<()> {
    connection.progress_handler(PROGRESS_STEPS, Some(move || interrupter.must_stop()))?;
    super::functions::begin(connection, functions)
}

impl Backend for Sqlite {
    type Program = Program;
    type Session = SharedHandle;
    type Reader<'c> = connection::Connection<'c>;
    type Failure = Failure;

    fn lower(bound: &Bound) -> Result<Program> {
        sqlite::lower(bound)
    }

    fn lower_query(query: &Query, rows: Yield) -> Result<Program> {
        match rows {
            Yield::Sent => sqlite::lower_query(query),
            Yield::Kept => sqlite::lower_kept_query(query),
        }
    }

    fn lower_change(dml: &Dml, rows: Yield) -> Result<Program> {
        match rows {
            Yield::Sent => sqlite::lower_dml(dml),
            Yield::Kept => sqlite::lower_kept_dml(dml),
        }
    }

    fn runs_in_parts(statement: &Ir) -> bool {
        parts::runs_in_parts(statement)
    }

    fn by_rows(dml: &Dml) -> Result<ByRows> {
        parts::by_rows(dml)
    }

    fn merge_by_rows(merge: &Merge) -> Result<ByRows> {
        parts::merge_by_rows(merge)
    }

    fn returned_apart(dml: &Dml) -> Option<(Cte, Query)> {
        parts::reads_changed(dml).then(|| parts::apart(dml))
    }

    fn native(text: &str, params: usize) -> Program {
        let params = (0..params).map(|param| ParamUse { param, form: ParamForm::AsIs }).collect();
        // Nobody has looked what stands in it.
        Program {
            sql: text.into(),
            params,
            native: true,
            catalogs: Vec::new(),
            in_order: None,
            virtual_tables: true,
            tables: true,
        }
    }

    fn session(of: &Opening<'_>) -> std::result::Result<SharedHandle, Failure> {
        let mut connection = of.database.open()?;
        let timeout = of.state.variables.read().lock_timeout();
        let busy = BusyHandler::install(&connection, of.interrupter.clone(), timeout);
        equip(&mut connection, of.interrupter.clone(), of.functions)?;
        // SAFETY: the handle is open; functions use it while it runs their statement.
        of.state.running.set(unsafe { connection.handle() });
        let (interrupter, functions) = (of.interrupter.clone(), of.functions.clone());
        let apart = Box::new(move || {
            let mut connection = Connection::open_in_memory_with_flags(FLAGS | OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
            super::explain::set_counting(&connection, false)?;
            equip(&mut connection, interrupter.clone(), &functions)?;
            Ok(connection)
        });
        let handle = SharedHandle::new(connection, Parts { busy, apart, durability: of.database.durability_words() });
        *of.state.handle.lock() = handle.downgrade();
        Ok(handle)
    }

    fn load(through: connection::Connection<'_>, database: &'static str) -> std::result::Result<Snapshot, Failure> {
        super::schema::load(through.bound(), database).map_err(Failure::from)
    }
}
