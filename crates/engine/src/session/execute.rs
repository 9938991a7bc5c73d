//! Running plans.

use std::sync::Arc;
use std::time::Duration;

use rowferry_dialect::ir::{DmlAction, Statement as Ir, Value};
use rowferry_dialect::plan::Command;
use rowferry_dialect::postgres::CursorName;
use rowferry_dialect::{Condition, Error, Language, Result, postgres};

use super::state::{Met, Told};
use super::transaction::{Block, Open};
use super::{Outcome, Prepared, Session};
use crate::backend::errors::{self, Violation};
use crate::backend::{Failure, Point, Program, Statement, Step};
use crate::cursor::Cursor;
use crate::spool::Spool;

/// How often a plan is made anew for one execution before we give up: each time, somebody else has changed the schema.
pub(super) const RENEWALS: usize = 5;

/// A change that has been made: its plan, and the rows of RETURNING with the number of rows changed.
type Changed = (Arc<Prepared>, (Spool, u64));

/// A failure of a run.
pub(super) enum RunError {
    /// The back end's.
    Failed(Failure),
    /// Ours.
    Other(Error),
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Session {
    /// Runs a statement with its parameters, each in the stored form of its type (`prepared.bound.params`).
    ///
    /// A plan that the schema has left behind is renewed; if that changes its result columns, the error is `0A000`
    /// (`cached plan must not change result type`), as PostgreSQL has it.
    pub fn execute(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        self.execute_as(prepared, params, None)
    }

    /// The same for a plan that other texts share: `text` is what the client has said, and what others are shown.
    pub fn execute_as(
        &mut self,
        prepared: &Arc<Prepared>,
        params: &[Value],
        text: Option<&Arc<str>>,
    ) -> Result<Outcome> {
        if self.language() != Language::Mysql {
            return self.execute_one(prepared, params, text);
        }
        self.execute_mysql(prepared, params, text)
    }

    /// Runs one statement of ours.
    pub(super) fn execute_one(
        &mut self,
        prepared: &Arc<Prepared>,
        params: &[Value],
        text: Option<&Arc<str>>,
    ) -> Result<Outcome> {
        if params.len() != prepared.bound.params.len() {
            return Err(Error::new(
                Condition::ProtocolViolation,
                format!("the statement needs {} parameters, got {}", prepared.bound.params.len(), params.len()),
            ));
        }
        if self.inner && !is_plain(&prepared.bound.statement) {
            return Err(Error::new(
                Condition::RoutineStatement,
                format!(
                    "{} cannot run in a routine that a query or data change calls",
                    command_words(prepared.command)
                ),
            ));
        }
        self.begin_statement(prepared, text)?;
        let watched = self.watch(prepared, params, text);
        let measured = self.measure(prepared);
        let held = self.interrupter.hold();
        let mut result = self.dispatch(prepared, params).map_err(|error| {
            self.without_hidden_values(error, &super::identity::changed_columns(&prepared.bound.statement))
        });
        if self.line().is_some() {
            result = self.settle_upstream(result);
        }
        drop(held);
        // `set_config` may have been called.
        self.sync_variables();
        match (&mut result, measured) {
            (Ok(Outcome::Rows(cursor)), measured) => cursor.measure(measured),
            (Ok(Outcome::Done { rows, .. }), Some(measured)) => measured.finish(*rows),
            (Err(_), Some(measured)) => measured.fail(),
            (_, None) => {}
        }
        match (&mut result, watched) {
            (Ok(Outcome::Rows(cursor)), watched) => cursor.watch(watched),
            (Ok(Outcome::Done { rows, .. }), Some(watched)) => watched.finish(*rows),
            // What has failed is not told of.
            _ => {}
        }
        match &result {
            Ok(Outcome::Rows(_)) => {}
            // What the session does is told by the statement inside which this one ran.
            Ok(Outcome::Done { .. }) | Err(_) if self.inner => {}
            Ok(Outcome::Done { .. }) => {
                self.interrupter.disarm();
                self.publish_activity();
            }
            Err(error) => {
                let ends = self.language() == Language::Mysql && ends_transactions(error.condition());
                self.statement_failed();
                if ends && self.transaction.block == Block::Explicit {
                    self.end_rollback();
                    self.publish_activity();
                }
            }
        }
        result
    }

    fn begin_statement(&mut self, prepared: &Arc<Prepared>, text: Option<&Arc<str>>) -> Result<()> {
        if self.transaction.failed && !ends_transaction(&prepared.bound.statement) {
            return Err(Error::new(
                Condition::InFailedSqlTransaction,
                "current transaction is aborted, commands ignored until end of transaction block",
            ));
        }
        if self.interrupter.is_nested() {
            self.renew_settings();
            self.refresh_schema();
            self.tell_notices(prepared);
            return Ok(());
        }
        let now = super::state::now();
        if !ends_transaction(&prepared.bound.statement) {
            self.database.shared.file.look_at_times(now)?;
        }
        if self.transaction.block == Block::None {
            self.end_autocommitted();
            self.state.tally.begin(false);
        }
        let (timeout, timeouts) = {
            let variables = self.state.variables.read();
            self.wanted = variables.wanted();
            (variables.statement_timeout(), variables.timeouts())
        };
        // What a query says of itself counts for it alone.
        let limit = prepared.parsed.statement().and_then(|statement| statement.time_limit());
        let timeout = match &prepared.bound.statement {
            Ir::Query(_) => limit.map_or(timeout, |limit| Duration::from_millis(limit.into())),
            // MySQL's max_execution_time is about queries alone.
            _ if self.language() == Language::Mysql => Duration::ZERO,
            _ => timeout,
        };
        if self.transaction.block == Block::None && !timeouts.transaction.is_zero() {
            self.interrupter.set_transaction_deadline(Some(timeouts.transaction));
        }
        self.interrupter.set_client_check(timeouts.client_check);
        self.interrupter.arm(timeout);
        if let Some(end) = self.interrupter.ended() {
            return Err(end.error());
        }
        self.count_memory_anew();
        let query_id = self.wanted_query_id(prepared);
        {
            let mut activity = self.state.activity.lock();
            activity.query_id = query_id;
            activity.query = text.cloned().unwrap_or_else(|| prepared.parsed.shared_text());
            activity.statement_start = now;
            if self.transaction.block == Block::None {
                activity.transaction_start = now;
            }
            if activity.state != "active" {
                let since = super::state::coarse_now();
                self.state.tally.pass(activity.state, since - activity.state_change);
                (activity.state, activity.state_change) = ("active", since);
            }
        }
        self.renew_functions(now);
        self.refresh_schema();
        self.tell_notices(prepared);
        Ok(())
    }

    /// Passes on what was said when the statement was bound.
    fn tell_notices(&self, prepared: &Prepared) {
        if !prepared.bound.notices.is_empty() {
            self.state.notices.lock().extend(prepared.bound.notices.iter().cloned());
        }
    }

    /// Gives SQL functions the statement's time and the session's settings.
    pub(super) fn renew_functions(&self, statement: i64) {
        let settings = self.state.settings();
        let transaction = settings.now.unwrap_or(statement);
        self.functions.set_times(transaction, statement);
        self.functions.set_settings(&settings);
    }

    /// Gives them the settings that a routine has now, or those that it has left.
    pub(crate) fn renew_settings(&self) {
        self.functions.set_settings(&self.state.settings());
    }

    pub(super) fn dispatch(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        let Some((cursor, table)) =
            postgres::current_of(&prepared.bound).filter(|_| self.language() != Language::Informix)
        else {
            return self.dispatch_statement(prepared, params);
        };
        let row = match cursor {
            CursorName::Is(name) => self.row_of_cursor(name, table)?,
            CursorName::In(param) => match params.get(param) {
                Some(Value::Text(name)) => self.row_of_cursor(name, table)?,
                _ => {
                    let message = format!("no value found for parameter {}", param + 1);
                    return Err(Error::new(Condition::UndefinedObject, message));
                }
            },
        };
        let before = std::mem::replace(&mut *self.state.cursor_row.lock(), row);
        let outcome = self.dispatch_statement(prepared, params);
        *self.state.cursor_row.lock() = before;
        outcome
    }

    fn dispatch_statement(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        if prepared.upstream.is_some() || prepared.is_there_by_rows() {
            let plan = self.renew_upstream(prepared)?;
            if let Some(firing) = plan.triggers.clone().filter(|firing| firing.there) {
                return self.change_upstream_by_rows(&plan, &firing, params);
            }
            if let Some(there) = plan.upstream.clone() {
                return self.run_upstream(&plan, &there, params);
            }
        }
        if prepared.there.is_some() {
            let plan = self.renew(prepared)?;
            return self.run_there(&plan, params);
        }
        if !prepared.elsewhere.is_empty() {
            if let Some(outcome) = self.read_there(prepared, params)? {
                return Ok(outcome);
            }
            let plan = self.reach(prepared)?;
            return self.dispatch_reached(&plan, params);
        }
        self.forget_gone();
        self.dispatch_reached(prepared, params)
    }

    fn dispatch_reached(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        self.lock_tables(prepared)?;
        self.leave_temporary(prepared)?;
        if prepared.uses.materialized {
            self.check_populated(prepared)?;
        }
        self.check_needs(prepared)?;
        if prepared.direct.is_some() && !prepared.in_parts {
            let plan = self.renew(prepared)?;
            if let Some(direct) = &plan.direct {
                return self.run_direct(&plan, direct, params);
            }
        }
        match &prepared.bound.statement {
            _ if prepared.in_parts => self.run_in_parts(prepared, params),
            Ir::Dml(_) => self.run_dml(prepared, params),
            Ir::Ddl(_) | Ir::CreateTableAs(_) | Ir::CreateTableOfPrepared(_) | Ir::RefreshView(_) => {
                self.run_ddl(prepared, params)
            }
            Ir::Rewritten(_) => self.run_rewritten(prepared, params),
            Ir::Query(_) => self.run_query(prepared, params),
            // The routine may have been replaced since.
            Ir::CallRoutine(_) => {
                let plan = self.renew(prepared)?;
                match &plan.bound.statement {
                    Ir::CallRoutine(call) => self.call_routine(&plan, call, params),
                    _ => self.dispatch(&plan, params),
                }
            }
            Ir::CallProcedure(_) => {
                let plan = self.renew(prepared)?;
                match &plan.bound.statement {
                    Ir::CallProcedure(call) => self.call_procedure(&plan, call, params),
                    _ => self.dispatch(&plan, params),
                }
            }
            Ir::Do(function) => self.run_do(prepared, function),
            // Statements of our own, in the back end's words.
            Ir::Nothing { .. } if prepared.program.is_some() && prepared.bound.effects.writes => {
                self.run_dml(prepared, params)
            }
            Ir::Nothing { .. } if prepared.program.is_some() => self.run_query(prepared, params),
            _ => self.run_utility(prepared, params),
        }
    }

    /// A statement that returns rows and changes no table.
    pub(crate) fn run_query(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        if !prepared.uses.rows.is_empty() {
            return self.run_locking_query(prepared, params);
        }
        let writes = prepared.bound.effects.writes;
        if writes && prepared.bound.effects.calls_writers {
            self.open_for_writers()?;
        } else if writes {
            self.open_write("SELECT")?;
        } else {
            self.open_read()?;
        }
        let (plan, outcome) = self.with_renewals(prepared, params, |session, plan| {
            let mut statement = session.start(plan, params)?;
            match statement.step() {
                Ok(step) => Ok((statement, step)),
                // A statement that has failed on a changed schema is of no use any more.
                Err(failure) if errors::blames_schema(&failure) => Err(failure.into()),
                Err(failure) => {
                    // One that has failed on a changed schema would fail for ever.
                    if !errors::blames_schema(&failure) {
                        session.put_back(plan, statement);
                    }
                    Err(failure.into())
                }
            }
        })?;
        let (statement, step) = outcome;
        if step == Step::Done {
            self.put_back(&plan, statement);
            return self.rows_done(&plan, Spool::new(plan.bound.columns.len()), 0);
        }
        // Outside a transaction, a lock that was taken goes with the statement: its rows are read first.
        let locks = writes || self.state.owner.holds_transaction_locks();
        if locks && self.transaction.block == Block::None && !self.inner {
            let spool = self.read_all(&plan, statement)?;
            return self.rows_done(&plan, spool, 0);
        }
        let handle = self.handle()?;
        Ok(Outcome::Rows(Cursor::live(handle, plan.id, statement, plan, self.interrupter.clone())))
    }

    /// Ends a statement whose rows are all there.
    pub(super) fn rows_done(&mut self, plan: &Arc<Prepared>, spool: Spool, changed: u64) -> Result<Outcome> {
        if self.transaction.block == Block::None {
            self.end_commit()?;
        }
        let reader = spool.into_reader()?;
        Ok(Outcome::Rows(Cursor::spooled(reader, plan.clone(), self.interrupter.clone(), changed)))
    }

    /// INSERT, UPDATE, DELETE: run to the end, with the rows of RETURNING kept.
    fn run_dml(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        let (plan, (spool, changes)) = loop {
            let first = !matches!(self.transaction.open, Open::Write { .. } | Open::Outer { .. });
            self.open_change(prepared, command_words(prepared.command))?;
            self.check_counters(&prepared.uses.numbering)?;
            let done = self.atomically(|session| {
                let done = session.change_rows(prepared, params, first);
                let done = done.map_err(|error| session.out_of_numbers(prepared, error))?;
                if done.is_some() {
                    session.check_numbers(prepared)?;
                    session.check_now()?;
                }
                Ok(done)
            })?;
            if let Some(done) = done {
                break done;
            }
        };
        self.note_waiting_keys(&plan, changes);
        self.remember_serial(&plan)?;
        if plan.bound.columns.is_empty() {
            if self.transaction.block == Block::None {
                self.end_commit()?;
            }
            return Ok(Outcome::Done { command: plan.command, rows: changes });
        }
        let returned = spool.rows();
        // The back end counts an INSERT's own rows; with RETURNING both numbers are the same.
        self.rows_done(&plan, spool, returned.max(changes))
    }

    /// Informix undoes a statement that fails, and not its transaction.
    pub(super) fn atomically<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let atomic = self.language().undoes_statements() && self.transaction.block != Block::None;
        if !atomic {
            return run(self);
        }
        self.on_handle(|handle| handle.set_point(Point::Statement))?;
        let result = run(self);
        // What the back end or a wait for rows has undone as a whole has no savepoint any more.
        if !self.handle()?.lock().is_in_transaction() {
            return result;
        }
        if result.is_err() {
            self.on_handle(|handle| handle.go_back_to(Point::Statement))?;
        }
        self.on_handle(|handle| handle.forget_point(Point::Statement))?;
        result
    }

    /// Runs a change once; `None` when it must run again, since it has met rows that others had locked. `first` says
    /// that its transaction has written nothing before.
    fn change_rows(&mut self, prepared: &Arc<Prepared>, params: &[Value], first: bool) -> Result<Option<Changed>> {
        let result = self.with_renewals(prepared, params, |session, plan| {
            if let Some(firing) = plan.triggers.clone() {
                return Ok(session.change_under_triggers(plan, &firing, params)?);
            }
            let (spool, _) = session.noting_met(|session| {
                let statement = session.start(plan, params)?;
                session.read_all_of(plan, statement)
            });
            let spool = spool?;
            let changes = session.handle()?.lock().changes();
            Ok((spool, changes))
        });
        match result {
            Ok(done) => Ok(if self.settle_rows(&done.0, first, true)? { None } else { Some(done) }),
            Err(error) => {
                if self.settle_rows(prepared, first, false)? {
                    Ok(None)
                } else {
                    Err(error)
                }
            }
        }
    }

    /// Runs a statement of one row; with what ON CONFLICT has met in it. Functions that it calls run others meanwhile.
    pub(super) fn noting_met<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Met) {
        let outer = std::mem::take(&mut *self.state.met.lock());
        let result = run(self);
        let met = std::mem::replace(&mut *self.state.met.lock(), outer);
        (result, met)
    }

    pub(super) fn remember_serial(&mut self, plan: &Prepared) -> Result<()> {
        if let Some(table) = plan.uses.by_hand {
            self.database.shared.numbered_by_hand(table);
        }
        // Triggers may have inserted rows elsewhere meanwhile.
        if plan.triggers.is_some() {
            return Ok(());
        }
        if let Ir::Dml(dml) = &plan.bound.statement
            && matches!(dml.action, DmlAction::Insert { .. })
        {
            let numbered = dml.target.columns.iter().any(|column| column.row_identity && column.numbers_itself());
            if numbered {
                let handle = self.handle()?;
                let rowid = handle.lock().last_identity_given();
                self.note_serial(dml.target.oid, rowid);
            }
        }
        Ok(())
    }

    /// The rowid has numbered a row.
    pub(super) fn note_serial(&mut self, table: u32, rowid: i64) {
        let mut sequences = self.state.sequences.lock();
        if !matches!(sequences.told, Some(Told::Said(_))) {
            sequences.serial = Some(rowid);
            sequences.told = Some(Told::Row(rowid));
        }
        drop(sequences);
        self.remember_rowid_sequence(table, rowid);
    }

    /// Runs `run` with the plan, made anew as long as somebody else has changed the schema meanwhile.
    pub(super) fn with_renewals<T>(
        &mut self,
        prepared: &Arc<Prepared>,
        params: &[Value],
        mut run: impl FnMut(&mut Self, &Arc<Prepared>) -> std::result::Result<T, RunError>,
    ) -> Result<(Arc<Prepared>, T)> {
        let mut last = None;
        for _ in 0..RENEWALS {
            let plan = self.renew(prepared)?;
            errors::clear();
            match run(self, &plan) {
                Ok(value) => return Ok((plan, value)),
                // A parameter is converted before anything runs.
                Err(RunError::Other(error)) => return Err(self.with_unfitting(error, &plan, params)),
                Err(RunError::Failed(failure)) => {
                    let error = self.translate(&failure, &plan, params);
                    if !errors::blames_schema(&failure) {
                        return Err(error);
                    }
                    // The back end's own picture of the schema may be all that was old.
                    let changed = self.reload_if_changed()?;
                    if !failure.is_stale() && !changed {
                        return Err(error);
                    }
                    last = Some(error);
                }
            }
        }
        Err(last.unwrap_or_else(|| Error::internal("the schema changes all the time")))
    }

    /// True for a query of catalogs, or of nothing, that is better run without the file: where there are enough tables
    /// that the back end takes longer to read what they are, which it does for any SELECT, than to begin without.
    fn may_run_apart(&self, plan: &Prepared, program: &Program) -> bool {
        const ENOUGH: usize = 100;
        !program.tables
            && !self.inner
            && !plan.bound.effects.writes
            && matches!(plan.bound.statement, Ir::Query(_))
            && self.schema.main.has_more_relations_than(ENOUGH)
    }

    /// The back end's statement for a plan, with its parameters.
    pub(super) fn start(&mut self, plan: &Prepared, params: &[Value]) -> std::result::Result<Statement, RunError> {
        let Some(program) = &plan.program else {
            return Err(Error::internal("a plan without a program was run").into());
        };
        let handle = self.handle()?;
        let guard = handle.lock();
        let mut statement = if self.may_run_apart(plan, program) && !guard.knows_file() {
            // The back end itself does not see there that somebody else has changed the file's schema.
            if !program.catalogs.is_empty() && self.reload_if_changed()? {
                return Err(Failure::schema().into());
            }
            guard.start_apart(plan.id, program, &self.state)?
        } else {
            guard.start(plan.id, program, &self.state)?
        };
        if program.tables || plan.bound.effects.writes {
            statement.count_reads(|| plan.reads(program));
        }
        let settings = self.state.settings();
        for (index, used) in program.params.iter().enumerate() {
            let value = used.form.apply(&params[used.param], &settings)?;
            statement.bind(index + 1, &value)?;
        }
        Ok(statement)
    }

    fn read_all(&mut self, plan: &Prepared, statement: Statement) -> Result<Spool> {
        self.read_on(plan, statement, true).map_err(|error| match error {
            RunError::Other(error) => error,
            RunError::Failed(failure) => self.translate(&failure, plan, &[]),
        })
    }

    pub(super) fn read_all_of(
        &mut self,
        plan: &Prepared,
        statement: Statement,
    ) -> std::result::Result<Spool, RunError> {
        self.read_on(plan, statement, false)
    }

    /// Steps to the end and keeps the rows; `at_row` says that one stands ready.
    fn read_on(
        &mut self,
        plan: &Prepared,
        mut statement: Statement,
        mut at_row: bool,
    ) -> std::result::Result<Spool, RunError> {
        let columns = statement.columns();
        let mut spool = Spool::new(columns);
        let handle = self.handle()?;
        let guard = handle.lock();
        let result = loop {
            if at_row && let Err(error) = spool.push((0..columns).map(|index| statement.column(index))) {
                break Err(error.into());
            }
            match statement.step() {
                Ok(Step::Row) => at_row = true,
                Ok(Step::Done) => break Ok(()),
                Err(failure) => break Err(RunError::Failed(failure)),
            }
        };
        // A statement that has failed on a changed schema is of no use any more.
        match &result {
            Err(RunError::Failed(failure)) if errors::blames_schema(failure) => drop(statement),
            _ => guard.put_back(plan.id, statement),
        }
        result.map(|()| spool)
    }

    fn put_back(&mut self, plan: &Prepared, statement: Statement) {
        if let Some(handle) = &self.handle {
            handle.lock().put_back(plan.id, statement);
        }
    }

    /// A failure in the user's words.
    pub(super) fn translate(&mut self, failure: &Failure, plan: &Prepared, params: &[Value]) -> Error {
        let snapshot = self.transaction.is_snapshot() && matches!(self.transaction.open, Open::Write { .. });
        if failure.is_busy() && snapshot && !self.interrupter.must_stop() {
            return errors::serialization_failure();
        }
        let settings = self.state.settings();
        let last_number = |oid: u32| self.state.sequences.lock().current(oid);
        let handle = self.handle.clone();
        let evaluate = |expr: &rowferry_dialect::ir::Expr| handle.as_ref()?.lock().evaluate(expr).ok()?.ok();
        let violation = Violation {
            evaluate: &evaluate,
            failure,
            schema: &self.schema,
            bound: &plan.bound,
            params,
            settings: &settings,
            last_number: &last_number,
        };
        match violation.error() {
            Some(error) => {
                let error = self.with_broken_key(error, plan, params);
                let error = self.with_unfitting(error, plan, params);
                self.with_failing_row(error, plan, params)
            }
            None => {
                let error = violation.refused(errors::translate(failure, &self.interrupter, Some(plan)));
                let error = self.with_unfitting(error, plan, params);
                self.with_failing_row(error, plan, params)
            }
        }
    }
}

/// Statements that a failed transaction lets pass.
fn ends_transaction(statement: &Ir) -> bool {
    use rowferry_dialect::ir::Transaction;
    matches!(
        statement,
        Ir::Transaction(Transaction::Commit { .. } | Transaction::Rollback { .. } | Transaction::RollbackTo(_))
    )
}

/// Statements that can run inside another.
fn is_plain(statement: &Ir) -> bool {
    matches!(
        statement,
        Ir::Query(_)
            | Ir::Dml(_)
            | Ir::Rewritten(_)
            | Ir::CallRoutine(_)
            | Ir::CallProcedure(_)
            | Ir::Do(_)
            | Ir::Nothing { .. }
            | Ir::Notify(_)
            | Ir::Set(_)
    )
}

pub(crate) fn command_words(command: Command) -> &'static str {
    match command {
        Command::Select => "SELECT",
        Command::Insert => "INSERT",
        Command::Update => "UPDATE",
        Command::Delete => "DELETE",
        Command::Fetch => "FETCH",
        Command::Merge => "MERGE",
        Command::Move => "MOVE",
        Command::Copy => "COPY FROM",
        Command::Utility(words) => words,
    }
}

/// Failures with which MySQL undoes the whole transaction, so that others can go on.
fn ends_transactions(condition: Condition) -> bool {
    matches!(condition, Condition::DeadlockDetected | Condition::SerializationFailure)
}
