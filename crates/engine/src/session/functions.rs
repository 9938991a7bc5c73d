//! The session as its SQL functions see it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rowferry_dialect::ir::{LockMode, LockWait, Value};
use rowferry_dialect::scalar::snapshots::Snapshot;
use rowferry_dialect::schema::QualifiedName;
use rowferry_dialect::stored_aggregate::Callee;
use rowferry_dialect::types::Reg;
use rowferry_dialect::values::Settings;
use rowferry_dialect::values::mysql::fulltext::{Found, Mode};
use rowferry_dialect::{Condition, Error, Language, Result, Schema};

use super::random::Generator;
use super::state::{Met, State, Told};
use crate::backend::Connection;
use crate::catalog::object_address::{Address, Finder};
use crate::catalog::object_identity::Identity;
use crate::catalog::{describe, names, partitions, pg_statistic_ext};
use crate::database::Shared;
use crate::exported::Exported;
use crate::functions::{Checker, Definition, RoutineRows, SessionState};
use crate::interrupt::{End, Wake};
use crate::locks::{AdvisoryKey, Hold, Patience, Refusal, Tag, TransactionStatus};
use crate::schema::{INFORMIX, PG_CATALOG, PG_TEMP};

/// A session, held so that its own handle does not keep it alive.
pub struct FunctionState(pub Weak<State>);

impl FunctionState {
    fn state(&self) -> Result<Arc<State>> {
        self.0.upgrade().ok_or_else(|| Error::internal("the session is over"))
    }

    fn both(&self) -> Result<(Arc<State>, Arc<Shared>)> {
        let state = self.state()?;
        let database = state.database.upgrade().ok_or_else(|| Error::internal("the database is closed"))?;
        Ok((state, database))
    }

    /// Another session, by the number that clients know it by; with a warning when there is none.
    fn neighbour(&self, pid: i32) -> Result<Option<Arc<State>>> {
        let (state, database) = self.both()?;
        let mut sessions = database.neighbours().into_iter().flat_map(|database| database.sessions());
        let found = sessions.find(|other| i64::from(other.pid) == i64::from(pid));
        if found.is_none() {
            let message = format!("PID {pid} is not a PostgreSQL backend process");
            state.notices.lock().push(Error::new(Condition::Warning, message));
        }
        Ok(found)
    }

    /// Runs with the session's handle, on which the calling function is running.
    fn with_connection<T>(&self, run: impl FnOnce(&State, Connection<'_>) -> Result<T>) -> Result<T> {
        let state = self.state()?;
        state.running.with(|connection| run(&state, connection))
    }
}

impl SessionState for FunctionState {
    fn notice(&self, notice: Error) {
        if let Ok(state) = self.state() {
            state.notices.lock().push(notice);
        }
    }

    fn schema(&self) -> Arc<dyn Schema> {
        match self.state() {
            Ok(state) => Arc::new(state.schema()),
            Err(_) => Arc::new(crate::schema::SessionSchema::empty()),
        }
    }

    fn statistic(&self, view: &str, column: &str, oid: Option<u32>) -> Result<Value> {
        let (state, database) = self.both()?;
        let schema = state.schema();
        let context = crate::catalog::Context { schema: &schema, state: &state, database: &database };
        Ok(crate::catalog::statistic(&context, view, column, oid).into())
    }

    fn statement_statistics(&self, texts: bool) -> Result<Vec<Vec<Value>>> {
        let (state, database) = self.both()?;
        let schema = state.schema();
        let context = crate::catalog::Context { schema: &schema, state: &state, database: &database };
        let rows = crate::catalog::pg_stat_statements::rows(&context, texts);
        Ok(rows.into_iter().map(|row| row.into_iter().map(Value::from).collect()).collect())
    }

    fn reset_statement_statistics(&self, user: u32, of: u32, query: i64) -> Result<()> {
        let (_, database) = self.both()?;
        if of == 0 || of == database.oid() {
            database.statistics.statements.reset(user, query);
        }
        Ok(())
    }

    fn reset_statistics(&self, oid: Option<u32>) -> Result<()> {
        let (state, database) = self.both()?;
        let whole = crate::statistics::collect(&database, &state);
        match oid {
            None => database.statistics.reset(whole),
            Some(oid) => database.statistics.reset_one(oid),
        }
        Ok(())
    }

    fn reset_function_statistics(&self, oid: u32) -> Result<()> {
        let (state, database) = self.both()?;
        crate::statistics::collect(&database, &state);
        database.statistics.reset_function(oid);
        Ok(())
    }

    fn reset_shared_statistics(&self, what: &str) -> Result<()> {
        let (_, database) = self.both()?;
        database.statistics.reset_shared(what)
    }

    fn check_rules(&self, words: &str, values: &[Value]) -> Result<()> {
        let checker = Checker::read(words)?;
        self.with_connection(|_, connection| connection.check_all(checker, values))
    }

    fn language(&self) -> Language {
        self.state().map_or(Language::Postgres, |state| state.language)
    }

    fn user(&self) -> String {
        self.state().map(|state| state.current_user()).unwrap_or_default()
    }

    fn database(&self) -> String {
        self.state().map(|state| state.database_name.clone()).unwrap_or_default()
    }

    fn pid(&self) -> i32 {
        self.state().map_or(0, |state| state.pid as i32)
    }

    fn search_path(&self, implicit: bool) -> Vec<String> {
        let Ok(state) = self.state() else { return Vec::new() };
        let schema = state.schema.read();
        let mut path: Vec<String> = Vec::new();
        if implicit {
            if !schema.temp.is_empty() {
                path.push(PG_TEMP.to_owned());
            }
            path.push(if state.language == Language::Informix { INFORMIX } else { PG_CATALOG }.to_owned());
        }
        path.extend(schema.search_path.iter().filter(|name| schema.has_namespace(name)).cloned());
        path
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.state().ok()?.variables.read().get(name)
    }

    fn default_variable(&self, name: &str) -> Option<String> {
        self.state().ok()?.variables.read().reset_value(name).map(str::to_owned)
    }

    fn set_variable(&self, name: &str, value: Option<&str>, local: bool) -> Result<()> {
        let state = self.state()?;
        state.check_setting(name, value)?;
        state.variables.write().set(name, value, local)
    }

    fn server_start(&self) -> i64 {
        crate::database::server_start()
    }

    fn nextval(&self, sequence: u32) -> Result<i64> {
        match self.state()?.nextval_again(sequence) {
            Some(number) => Ok(number),
            None => self.with_connection(|state, connection| state.nextval(connection, sequence)),
        }
    }

    fn numbers(&self, sequence: u32) -> Option<Box<dyn crate::functions::Numbers>> {
        let numbers = self.state().ok()?.numbers(sequence)?;
        Some(Box::new(numbers))
    }

    fn currval(&self, sequence: u32) -> Result<i64> {
        self.state()?.currval(sequence)
    }

    fn setval(&self, sequence: u32, value: i64, called: bool) -> Result<i64> {
        self.with_connection(|state, connection| state.setval(connection, sequence, value, called))
    }

    fn lastval(&self) -> Result<i64> {
        self.state()?.lastval()
    }

    fn last_serial(&self) -> Option<i64> {
        self.state().ok()?.sequences.lock().serial
    }

    fn set_last_serial(&self, number: i64) {
        if let Ok(state) = self.state() {
            let mut sequences = state.sequences.lock();
            sequences.serial = Some(number);
            sequences.told = Some(Told::Said(number));
        }
    }

    fn set_lasting(&self, name: &str, value: &str) -> Result<()> {
        let state = self.state()?;
        state.check_setting(name, Some(value))?;
        state.variables.write().set_lasting(name, value)
    }

    fn search_words(&self, index: u32, mode: Mode, text: &str) -> Result<Arc<Found>> {
        self.with_connection(|state, connection| state.search_words(connection, index, mode, text))
    }

    fn user_variable(&self, name: &str) -> Option<Value> {
        self.state().ok()?.user_variables.lock().get(name).cloned()
    }

    fn mysql_changes(&self, mode: i64, changed: bool) -> bool {
        self.state().map_or(changed, |state| state.mysql.lock().changes(mode, changed))
    }

    fn mysql_met(&self, met: Option<i64>, given: Option<i64>) {
        if let Ok(state) = self.state() {
            state.mysql.lock().meet(met, given);
        }
    }

    fn mysql_found_rows(&self) -> i64 {
        self.state().map_or(0, |state| state.mysql.lock().found_rows())
    }

    fn set_mysql_found_rows(&self, rows: i64) {
        if let Ok(state) = self.state() {
            state.mysql.lock().calculate(rows);
        }
    }

    fn warnings(&self) -> usize {
        self.state().map_or(0, |state| state.diagnostics.lock().len())
    }

    fn set_user_variable(&self, name: &str, value: Value) -> Result<()> {
        self.state()?.user_variables.lock().insert(name.to_owned(), value);
        Ok(())
    }

    fn set_user_kind(&self, name: &str, kind: &str) -> Result<()> {
        let state = self.state()?;
        let mut kinds = state.user_kinds.lock();
        let known = rowferry_dialect::mysql::user_kind(&kinds, name);
        // A NULL that is written is of no kind, and leaves a variable of the kind that it was.
        let kind = if kind == "null" { known.unwrap_or("bytes") } else { kind };
        if known != Some(kind) {
            *kinds = rowferry_dialect::mysql::with_user_kind(&kinds, name, kind).into();
        }
        Ok(())
    }

    fn call_routine(&self, routine: u32, given: &str, args: Vec<Value>) -> Result<RoutineRows> {
        crate::routines::call_inside(&self.state()?, routine, given, args)
    }

    fn call_function(&self, function: u32, element: Option<&str>, args: Vec<Value>) -> Result<RoutineRows> {
        crate::routines::call_stored(&self.state()?, function, element, args)
    }

    fn function_value(&self, function: u32, element: Option<&str>, args: Vec<Value>) -> Result<Value> {
        crate::routines::stored_value(&self.state()?, function, element, args)
    }

    fn support_function(&self, callee: &Callee, args: Vec<Value>) -> Result<Value> {
        crate::routines::support_value(&self.state()?, callee, args)
    }

    fn query(&self, sql: &str) -> Result<crate::functions::Queried> {
        crate::routines::query_inside(&self.state()?, sql)
    }

    fn function_result(&self, number: i64) -> Option<RoutineRows> {
        self.state().ok()?.routines.take_result(number)
    }

    fn rows_processed(&self) -> i64 {
        self.state().map_or(0, |state| state.routines.rows_processed())
    }

    fn trigger_depth(&self) -> i64 {
        let depth = |state: Arc<State>| state.trigger_depth.load(std::sync::atomic::Ordering::Relaxed);
        self.state().map_or(0, depth).into()
    }

    fn sequence_state(&self, sequence: u32, part: i64) -> Result<i64> {
        self.with_connection(|state, connection| {
            let details = state.schema.read().sequence_by_oid(sequence).cloned();
            let details = details.ok_or_else(|| {
                let message = format!("could not open relation with OID {sequence}");
                Error::new(Condition::UndefinedTable, message)
            })?;
            let counter = state.sequence_counter(connection, &details)?;
            Ok(match part {
                0 => counter.last,
                1 => counter.ahead,
                _ => i64::from(counter.called),
            })
        })
    }

    fn sequence_last_value(&self, sequence: u32) -> Result<Option<i64>> {
        self.with_connection(|state, connection| state.sequence_last_value(connection, sequence))
    }

    fn serial_sequence(&self, table: &str, column: &str) -> Result<Option<String>> {
        let state = self.state()?;
        let schema = state.schema.read();
        let name = rowferry_dialect::postgres::qualified_name(table)
            .ok_or_else(|| Error::new(Condition::InvalidName, format!("invalid name syntax: \"{table}\"")))?;
        let relation = schema
            .relation(&name)
            .ok_or_else(|| Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist")))?;
        let position = relation.column(column).ok_or_else(|| {
            Error::new(
                Condition::UndefinedColumn,
                format!("column \"{column}\" of relation \"{}\" does not exist", relation.name),
            )
        })?;
        let found = schema
            .sequences_of(relation.oid)
            .find(|details| details.owner == Some((relation.oid, position)))
            .map(|details| {
                let sequence = QualifiedName::new(&*details.sequence.namespace, &*details.sequence.name);
                let namespace = sequence.schema.as_deref().unwrap_or_default();
                format!("{}.{}", names::quote_ident(namespace), names::quote_ident(&sequence.name))
            });
        Ok(found)
    }

    fn notify(&self, channel: &str, payload: &str) -> Result<()> {
        self.state()?.outgoing().notify(channel, payload)
    }

    fn large_object(&self, call: crate::large_objects::Call<'_>) -> Result<Value> {
        self.with_connection(|state, connection| state.large_object(connection, call))
    }

    fn listening(&self) -> Vec<String> {
        let state = self.state().ok();
        let channels = state.and_then(|state| state.mailbox.get().map(|mailbox| mailbox.channels()));
        channels.into_iter().flatten().map(|channel| channel.to_string()).collect()
    }

    fn notification_queue_usage(&self) -> f64 {
        self.both().map_or(0.0, |(_, database)| database.exchange.usage())
    }

    fn sleep(&self, duration: Duration) -> Result<()> {
        let state = self.state()?;
        match state.interrupter.wait(Some(duration), || false) {
            Wake::Stopped => Err(state.interrupter.error()),
            Wake::Ready | Wake::TimedOut => Ok(()),
        }
    }

    fn transaction_id(&self) -> Result<i64> {
        let (state, database) = self.both()?;
        Ok(database.locks.xids.assign(&state.owner))
    }

    fn transaction_id_if_assigned(&self) -> Result<Option<i64>> {
        Ok(self.state()?.owner.xid())
    }

    fn catalog_writer(&self) -> Result<i64> {
        let (state, database) = self.both()?;
        let published = state.schema.read().main.generation == database.generation();
        let own = state.owner.xid().filter(|_| !published);
        Ok(own.unwrap_or_else(|| database.schema_writer()))
    }

    fn latest_transaction(&self) -> Result<i64> {
        let (state, database) = self.both()?;
        Ok(state.owner.xid().unwrap_or_else(|| database.locks.xids.next()))
    }

    fn transaction_outcome(&self, xid: i64) -> Result<Option<&'static str>> {
        let (_, database) = self.both()?;
        let status = database.locks.xids.status(xid);
        if database.sessions().iter().any(|session| session.owner.xid() == Some(xid)) {
            return Ok(Some("in progress"));
        }
        match status {
            TransactionStatus::Committed => Ok(Some("committed")),
            TransactionStatus::Aborted => Ok(Some("aborted")),
            TransactionStatus::Forgotten => Ok(None),
            TransactionStatus::Future => {
                let message = format!("transaction ID {xid} is in the future");
                Err(Error::new(Condition::InvalidParameterValue, message))
            }
        }
    }

    fn cancel(&self, pid: i32) -> Result<bool> {
        let found = self.neighbour(pid)?;
        if let Some(other) = &found {
            self.state()?.check_signal(other, "cancel", "query is being canceled")?;
            other.interrupter.interrupt();
        }
        Ok(found.is_some())
    }

    fn terminate(&self, pid: i32, wait: Duration) -> Result<bool> {
        let Some(other) = self.neighbour(pid)? else { return Ok(false) };
        self.state()?.check_signal(&other, "terminate", "process is being terminated")?;
        other.interrupter.end(End::Terminated);
        let wake = other.waker.lock().clone();
        if let Some(wake) = wake {
            wake();
        }
        if wait.is_zero() {
            return Ok(true);
        }
        let (state, database) = self.both()?;
        let gone = || {
            let mut sessions = database.neighbours().into_iter().flat_map(|database| database.sessions());
            !sessions.any(|session| session.pid == other.pid)
        };
        let until = std::time::Instant::now() + wait;
        while !gone() {
            if std::time::Instant::now() >= until {
                let message =
                    format!("backend with PID {pid} did not terminate within {} milliseconds", wait.as_millis());
                state.notices.lock().push(Error::new(Condition::Warning, message));
                return Ok(false);
            }
            if state.interrupter.wait(Some(Duration::from_millis(2)), || false) == Wake::Stopped {
                return Err(state.interrupter.error());
            }
        }
        Ok(true)
    }

    fn blocking_pids(&self, pid: i32) -> Result<Vec<u32>> {
        let (_, database) = self.both()?;
        Ok(u32::try_from(pid).map(|pid| database.locks.blockers(pid)).unwrap_or_default())
    }

    fn cursor_row(&self) -> Result<Option<i64>> {
        Ok(*self.state()?.cursor_row.lock())
    }

    fn note_met(&self, row: Option<i64>) -> Result<()> {
        *self.state()?.met.lock() = Met::Row(row);
        Ok(())
    }

    fn has_met(&self) -> Result<bool> {
        Ok(*self.state()?.met.lock() != Met::Nobody)
    }

    fn lock_row(&self, relation: u32, row: Option<i64>, mode: LockMode, wait: LockWait) -> Result<bool> {
        self.state()?.lock_row(relation, row, mode, wait)
    }

    fn advisory_lock(&self, key: AdvisoryKey, mode: LockMode, hold: Hold, wait: bool) -> Result<bool> {
        let (state, database) = self.both()?;
        let patience = wait.then(|| {
            let variables = state.variables.read();
            Patience { timeout: variables.lock_timeout(), deadlock: variables.timeouts().deadlock }
        });
        match database.locks.acquire(&state.owner, Tag::Advisory(key), mode, hold, patience) {
            Ok(_) => Ok(true),
            Err(Refusal::Busy) => Ok(false),
            Err(refusal) => Err(refusal.error(String::new)),
        }
    }

    fn advisory_unlock(&self, key: AdvisoryKey, mode: LockMode) -> Result<bool> {
        let (state, database) = self.both()?;
        let held = database.locks.release_advisory(&state.owner, key, mode);
        if !held {
            let message = format!("you don't own a lock of type {}", mode.name());
            state.notices.lock().push(Error::new(Condition::Warning, message));
        }
        Ok(held)
    }

    fn kept(&self, number: u32) -> Option<Arc<super::parts::Kept>> {
        self.state().ok()?.kept.lock().get(number)
    }

    fn advisory_holder(&self, key: AdvisoryKey) -> Result<Option<i32>> {
        let (_, database) = self.both()?;
        let rows = database.locks.rows();
        let held = rows.into_iter().find(|row| row.granted && row.tag == Tag::Advisory(key));
        Ok(held.and_then(|row| i32::try_from(row.pid).ok()))
    }

    fn advisory_unlock_all(&self) -> Result<usize> {
        let (state, database) = self.both()?;
        Ok(database.locks.release_session(&state.owner))
    }

    fn size(&self, relation: u32, indexes: Option<bool>) -> Result<i64> {
        self.with_connection(|state, connection| describe::size(state, connection, relation, indexes))
    }

    fn comment(&self, object: u32, column: Option<i32>) -> Option<String> {
        let state = self.state().ok()?;
        let schema = state.schema.read();
        if let Some(details) = schema.details(object) {
            return match column {
                None | Some(0) => details.comment.clone(),
                Some(column) => {
                    let at = schema.relation_by_oid(object)?.column_numbered(column.into())?;
                    details.column_comments.get(&at).cloned()
                }
            };
        }
        if let Some(sequence) = schema.sequence_by_oid(object) {
            return sequence.comment.clone();
        }
        if let Some(ty) = schema.user_type_by_oid(object) {
            return ty.comment.clone();
        }
        if let Some(number) = column.filter(|number| *number > 0) {
            let mut types = schema.main.user_types.iter().filter_map(|ty| ty.composite());
            let composite = types.find(|composite| composite.relation == object)?;
            let field = composite.fields.get(usize::try_from(number - 1).ok()?).filter(|field| !field.dropped)?;
            return field.comment.clone();
        }
        if let Some(comment) = crate::catalog::default_comment(&schema, object) {
            return Some(comment.to_owned());
        }
        if let Some((_, comment)) = schema.main.comments.get(&object) {
            return Some(comment.clone());
        }
        describe::part_comment(&schema, object)
            .or_else(|| crate::catalog::pg_trigger::comment(&schema, object))
            .or_else(|| crate::catalog::pg_policy::comment(&schema, object))
            .or_else(|| crate::catalog::pg_rewrite::comment(&schema, object))
    }

    fn describe_object(&self, catalog: u32, object: u32, column: i32) -> Result<Option<String>> {
        let state = self.state()?;
        let schema = state.schema.read();
        crate::catalog::object_names::describe(&schema, catalog, object, column)
    }

    fn identify_object(&self, catalog: u32, object: u32, column: i32) -> Result<Identity> {
        crate::catalog::object_identity::identify(&self.state()?.schema.read(), catalog, object, column)
    }

    fn object_address(&self, kind: &str, names: &[String], behind: &[String]) -> Result<Address> {
        let (state, database) = self.both()?;
        state
            .running
            .with(|connection| Finder { state: &state, database: &database, connection }.find(kind, names, behind))
    }

    fn definition(&self, kind: Definition, object: u32, column: i32) -> Option<String> {
        let state = self.state().ok()?;
        let settings = state.settings();
        let schema = state.schema.read();
        match kind {
            Definition::Index { pretty } => describe::index(&schema, object, column, pretty),
            Definition::Constraint { pretty } => describe::constraint(&schema, object, pretty),
            Definition::Trigger => crate::catalog::pg_trigger::definition(&schema, object, column != 0),
            Definition::Statistics(part) => pg_statistic_ext::definition(&schema, object, part),
            Definition::PartitionKey => partitions::key_definition(&schema, object),
            Definition::PartitionConstraint => partitions::constraint(&schema, object),
            // Names of objects are looked up in this schema, which is locked.
            Definition::Rule { pretty } => {
                let settings = Settings { names: None, ..Settings::clone(&settings) };
                crate::catalog::pg_rewrite::definition(&schema, object, &settings, pretty)
            }
            Definition::View { wrap } => {
                let settings = Settings { names: None, ..Settings::clone(&settings) };
                describe::view(&schema, object, &settings, column != 0, wrap)
            }
        }
    }

    fn index_order(&self, index: u32, column: i32) -> Option<(bool, bool)> {
        describe::index_order(&self.state().ok()?.schema.read(), index, column)
    }

    fn pretty_expression(&self, text: &str, relation: u32) -> Option<String> {
        let state = self.state().ok()?;
        let schema = state.schema.read();
        let relation = schema.relation_by_oid(relation)?;
        Some(describe::expression(&schema, &relation, text, true))
    }

    fn is_visible(&self, relation: u32) -> Option<bool> {
        names::is_visible(&self.state().ok()?.schema.read(), relation)
    }

    fn is_object_visible(&self, kind: &str, object: u32) -> Option<bool> {
        crate::catalog::visibility::is_visible(&self.state().ok()?.schema.read(), kind, object)
    }

    fn temporary_schema(&self) -> u32 {
        let there = self.state().is_ok_and(|state| !state.schema.read().temp.is_empty());
        if there { names::TEMPORARY } else { 0 }
    }

    fn is_statistics_visible(&self, object: u32) -> Option<bool> {
        pg_statistic_ext::is_visible(&self.state().ok()?.schema.read(), object)
    }

    fn session_user(&self) -> String {
        self.state().map(|state| state.session_user()).unwrap_or_default()
    }

    fn has_privilege(&self, question: &crate::functions::Question<'_>) -> Result<Option<bool>> {
        self.state()?.has_privilege(question)
    }

    fn has_row_security(&self, relation: &crate::functions::Named) -> Result<bool> {
        self.state()?.has_row_security(relation)
    }

    fn has_role(
        &self,
        member: Option<crate::functions::Named>,
        role: crate::functions::Named,
        words: &str,
    ) -> Result<Option<bool>> {
        self.state()?.has_role(member, &role, words)
    }

    fn random(&self) -> f64 {
        let seeded = self.state().ok().and_then(|state| state.random.lock().as_mut().map(Generator::next));
        seeded.unwrap_or_else(rand::random)
    }

    fn seed_random(&self, seed: f64) {
        if let Ok(state) = self.state() {
            *state.random.lock() = Some(Generator::seeded(seed));
        }
    }

    fn current_query(&self) -> Option<String> {
        Some(self.state().ok()?.activity.lock().query.to_string())
    }

    fn server_address(&self) -> String {
        self.state().map_or_else(|_| String::new(), |state| state.server_address.clone())
    }

    fn client_address(&self) -> String {
        self.state().map_or_else(|_| String::new(), |state| state.client_address.clone())
    }

    fn export_snapshot(&self) -> Result<String> {
        let (state, database) = self.both()?;
        let level = self.variable("transaction_isolation").unwrap_or_default();
        if level == "read committed" {
            return Err(Error::unsupported("pg_export_snapshot in a transaction that is READ COMMITTED")
                .hint("Use BEGIN ISOLATION LEVEL REPEATABLE READ: only then does a transaction keep a snapshot."));
        }
        if database.has_rollback_journal() {
            return Err(Error::unsupported("pg_export_snapshot of a file without a write-ahead log"));
        }
        if state.write_serial.load(std::sync::atomic::Ordering::Relaxed) != 0 {
            return Err(Error::unsupported("pg_export_snapshot in a transaction that has written"));
        }
        let exported = state.running.with(|connection| match connection.is_in_transaction() {
            true => Ok(Exported {
                state: connection.file_state(),
                commits: state.snapshot_commits.load(std::sync::atomic::Ordering::Relaxed),
                serializable: level == "serializable",
                read_only: self.variable("transaction_read_only").as_deref() == Some("on"),
            }),
            false => Err(Error::unsupported("pg_export_snapshot outside of a transaction block")),
        })?;
        let offer = database.exported.offer(state.pid, exported);
        let name = offer.name.clone();
        state.offers.lock().push(offer);
        Ok(name)
    }

    fn snapshot(&self) -> Result<Snapshot> {
        // What a transaction of these levels sees stands since its first statement, which nobody has written down.
        if self.variable("transaction_isolation").is_some_and(|level| level != "read committed") {
            return Err(Error::unsupported("pg_current_snapshot in a transaction of this isolation level"));
        }
        let (_, database) = self.both()?;
        let mut xmax = database.locks.xids.next();
        let mut running: Vec<i64> = database.sessions().iter().filter_map(|session| session.owner.xid()).collect();
        running.sort_unstable();
        running.retain(|number| *number < xmax);
        // As PostgreSQL, which ends a snapshot at the last transaction that has ended.
        while running.last().is_some_and(|last| last + 1 == xmax) {
            running.pop();
            xmax -= 1;
        }
        Ok(Snapshot { xmin: running.first().copied().unwrap_or(xmax), xmax, running })
    }

    fn is_superuser(&self, role: Option<crate::functions::Named>) -> Result<bool> {
        self.state()?.is_superuser(role.as_ref())
    }

    fn is_database(&self, oid: i64) -> bool {
        let Ok((_, database)) = self.both() else { return false };
        let others = database.siblings.get().and_then(crate::databases::Siblings::databases);
        i64::from(database.oid()) == oid
            || others.is_some_and(|all| all.list().into_iter().any(|(name, _)| i64::from(all.oid(&name)) == oid))
    }

    fn hash_keys(&self, relation: u32) -> Option<(String, Option<Vec<rowferry_dialect::Type>>)> {
        let state = self.state().ok()?;
        let schema = state.schema.read();
        let relation = schema.relation_by_oid(relation)?;
        Some((relation.name.clone(), partitions::hash_key_types(&schema, &relation)))
    }

    fn replica_index(&self, relation: u32) -> Option<Option<u32>> {
        let state = self.state().ok()?;
        let schema = state.schema.read();
        let Some(relation) = schema.relation_by_oid(relation) else {
            return crate::catalog::names::class_name(&schema, relation).map(|_| None);
        };
        let details = schema.details(relation.oid);
        let word = details.and_then(|details| details.properties.get("", "replica_identity"));
        let mut indexes = relation.indexes.iter();
        let found = match word {
            None => indexes.find(|index| index.primary && index.deferrability().is_none()),
            Some(word) => word.strip_prefix("i ").and_then(|name| indexes.find(|index| index.name == name)),
        };
        Some(found.map(|index| index.oid))
    }

    fn filenode(&self, relation: u32) -> Option<i64> {
        let state = self.state().ok()?;
        crate::catalog::filenode(&state.schema.read(), relation).map(i64::from)
    }

    fn index_method(&self, index: u32) -> Option<String> {
        let state = self.state().ok()?;
        let schema = state.schema.read();
        if rowferry_facts::Index::by_oid(index).is_some() {
            return Some("btree".to_owned());
        }
        let (relation, at) = schema.index_by_oid(index)?;
        let properties = schema.details(relation.oid).map(|details| &details.properties);
        let method = properties.and_then(|properties| properties.get(&relation.indexes[at].name, "index_method"));
        Some(method.unwrap_or("btree").to_owned())
    }

    fn sequence_parameters(&self, sequence: u32) -> Option<Vec<Value>> {
        let state = self.state().ok()?;
        let schema = state.schema.read();
        let details = schema.sequence_by_oid(sequence)?;
        let ty = rowferry_dialect::postgres::types::import(&details.sequence.ty);
        let numbers = [details.start, details.min, details.max, details.increment, details.cycle.into(), details.cache];
        let oid = i64::from(rowferry_dialect::postgres::types::oid(&ty));
        Some(numbers.into_iter().chain([oid]).map(Value::Integer).collect())
    }

    fn is_unicode_collation(&self, collation: u32) -> Option<bool> {
        if let Some(known) = rowferry_dialect::collation::Collation::by_oid(collation) {
            return Some(known.is_unicode());
        }
        let state = self.state().ok()?;
        let schema = state.schema.read();
        schema.main.collations.iter().find(|made| made.oid == collation).map(|made| made.is_unicode())
    }

    fn database_comment(&self, oid: u32) -> Option<String> {
        self.state().ok()?.database_comment(oid)
    }

    fn role_comment(&self, oid: u32) -> Option<String> {
        self.state().ok()?.role_comment(oid)
    }

    fn role_name(&self, oid: u32) -> Option<String> {
        self.state().ok()?.schema.read().role_name(oid)
    }

    fn object_name(&self, reg: Reg, oid: u32) -> Option<String> {
        names::name(&*self.state().ok()?, reg, oid)
    }

    fn search_object(&self, oid: u32) -> Option<Arc<rowferry_dialect::text_search::SearchObject>> {
        let state = self.state().ok()?;
        let schema = state.schema.read();
        schema.search_object_by_oid(oid)
    }

    fn object_oid(&self, reg: Reg, name: &str) -> Result<u32> {
        names::oid(&*self.state()?, reg, name)
    }
}
