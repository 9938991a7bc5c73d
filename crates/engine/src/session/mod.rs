//! One client's conversation with a database.

mod applied;
mod asked;
mod bind;
mod broken_keys;
mod called;
mod changes_elsewhere;
mod checks;
mod command;
mod compile;
mod constraints;
mod copying;
mod counting;
mod database;
mod ddl;
mod denied;
mod domains;
mod door_parts;
mod each;
mod execute;
mod explain;
mod failing_rows;
pub(crate) mod fulltext;
mod functions;
mod identity;
pub(crate) mod in_turn;
mod inspect;
mod lift;
pub mod locking;
pub(crate) mod logged;
mod maintenance;
mod misfits;
mod mysql;
mod named;
mod names;
mod notify;
mod parsed;
mod parts;
mod portals;
pub mod random;
mod reads_elsewhere;
mod rewritten;
mod routine_transactions;
mod routing;
mod savepoints;
pub mod sequences;
mod signals;
pub mod state;
mod table_maintenance;
mod temporary;
mod transaction;
mod transaction_end;
pub(crate) mod triggers;
mod unfitting;
mod upstream;
mod utility;
pub mod variables;
pub(crate) mod watched;
mod write_lock;

use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::{Mutex, RwLock};
use rowferry_dialect::plan::Command;
use rowferry_dialect::values::Settings;
use rowferry_dialect::{Condition, Error, Language, Result, mysql as of_mysql};
use rowferry_encodings::Encoding;

use crate::backend::{Backend as _, InUse, Opening, SharedHandle, Watch};
use crate::schema::{SessionSchema, Snapshot};
use crate::{Cursor, Database, Interrupter, SessionOptions};

pub use called::CalledFunction;
pub use compile::Prepared;
pub(crate) use ddl::constraints::mixed_nulls;
pub use each::Each;
pub(crate) use execute::command_words;
pub use inspect::{Finding, FindingKind, Looked};
pub use lift::{Lifts, Seen};
pub use misfits::Place;
use named::NamedStatement;
use names::{Names, Shown};
pub use parsed::Parsed;
pub use parts::Kept;
use portals::Portal;
pub use portals::{DoorPart, Resume};
use state::{Activity, State};
pub(crate) use table_maintenance::Said;
use transaction::{Block, Transaction};
pub use variables::MessageLevel;

/// One client's conversation with a database; used by one thread at a time. Dropping it rolls back.
#[derive(Debug)]
pub struct Session {
    // The handle goes first, so that the file is closed before a temporary database's directory is removed.
    handle: Option<SharedHandle>,
    transaction: Transaction,
    schema: SessionSchema,
    statements: Names<NamedStatement>,
    portals: Names<Portal>,
    state: Arc<State>,
    interrupter: Interrupter,
    /// What SQL functions know.
    functions: Arc<crate::functions::Context>,
    database: Database,
    /// The role whose rights count.
    user: Arc<str>,
    /// What the settings called the roles when the session looked last.
    role_names: Arc<identity::RoleNames>,
    language: Language,
    /// Checks that this handle may watch, and the schema's generation that they are of.
    watches: Vec<Watch>,
    checks_of: Option<u64>,
    /// Transactions that the server had committed when this session's oldest open snapshot was taken.
    commits_seen: u64,
    /// The handle does not look at foreign keys, see [`Session::follow_replication_role`].
    keys_off: bool,
    /// It runs a routine's statements inside a statement of another session, whose handle and transaction it uses.
    inner: bool,
    /// The rows of a COPY FROM or MERGE, which are one statement for triggers.
    batch: Option<Box<triggers::Changes>>,
    /// What foreign keys of the engine have in hand.
    referential: triggers::Referential,
    /// Tables whose changes go on, the outermost first.
    in_use: Vec<u32>,
    /// The CALL or DO that comes next may end the transaction.
    may_end_transaction: bool,
    /// What SET TRANSACTION of MySQL's has said of the transaction that comes next.
    next_modes: rowferry_dialect::ir::TransactionModes,
    /// What is wanted to be known of its statements.
    wanted: watched::Wanted,
    /// What the log calls the statement that comes next, where it was prepared before.
    source: Option<Box<str>>,
    /// The COPY FROM that runs.
    copying: Option<Box<copying::Copying>>,
    /// It changes tables for a session of another database.
    for_another: bool,
    /// The session of another database that changes tables there, as long as its transaction is open.
    there: Option<Box<Session>>,
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

impl Session {
    pub(crate) fn new(database: Database, options: SessionOptions, pid: u32) -> Self {
        Self::begin_at(database, options, pid, true)
    }

    /// The same; without `upstream` it sees the file alone, and not the server that has its tables.
    pub(crate) fn begin_at(database: Database, options: SessionOptions, pid: u32, upstream: bool) -> Self {
        let interrupter = Interrupter::new(database.shared.options.session_memory);
        let mut variables = database.shared.first_variables(&options.user);
        if !options.application_name.is_empty() {
            variables.set_initial("application_name", &options.application_name);
        }
        // Of what a role's sessions begin with Informix knows the default role; a door for PostgreSQL's sets them all itself.
        if options.language == Language::Informix {
            let settings = database.login(&options.user).settings;
            if let Some((name, role)) = settings.iter().find(|(name, _)| name == variables::INFORMIX_ROLE) {
                variables.set_initial(name, role);
            }
        }
        let wanted = variables.wanted();
        let mut schema = SessionSchema {
            main: database.shared.current(),
            temp: Snapshot::nothing(),
            search_path: variables.search_path(),
            language: options.language,
            user: options.user.as_str().into(),
            identity: Default::default(),
            overlay: None,
            neighbours: Default::default(),
        };
        schema.begin_identity();
        let role_names = variables.role_names();
        schema.enable_role(&role_names);
        let now = state::now();
        let owner = database.shared.locks.enter(pid, interrupter.clone());
        let line = upstream.then(|| database.shared.line(&options.user, &interrupter)).flatten();
        let state = Arc::new_cyclic(|this| State {
            settings: Mutex::default(),
            catalogs: crate::catalog::cache::Cache::default(),
            running: Default::default(),
            handle: Mutex::default(),
            routines: crate::routines::SessionRoutines::default(),
            this: this.clone(),
            pid,
            owner: owner.clone(),
            row_locking: Mutex::default(),
            cursor_row: Mutex::default(),
            met: Mutex::default(),
            waker: Mutex::default(),
            bell: Mutex::default(),
            mailbox: Default::default(),
            outgoing: Mutex::default(),
            has_outgoing: Default::default(),
            descriptors: Mutex::default(),
            has_descriptors: Default::default(),
            database: Arc::downgrade(&database.shared),
            database_name: database.name().to_owned(),
            user: options.user.clone(),
            language: options.language,
            client_address: options.client_address,
            server_address: options.server_address,
            interrupter: interrupter.clone(),
            schema: RwLock::new(schema.clone()),
            variables: RwLock::new(variables),
            activity: Mutex::new(Activity {
                query: "".into(),
                statement_start: now,
                transaction_start: now,
                query_id: None,
                state: "idle",
                state_change: now,
                writing: false,
            }),
            copying: Mutex::default(),
            slow: Mutex::default(),
            has_slow: Default::default(),
            tally: Default::default(),
            counts: Mutex::default(),
            write_serial: std::sync::atomic::AtomicU64::new(0),
            sequences: Mutex::default(),
            started: SystemTime::now(),
            notices: Mutex::default(),
            deferred: Mutex::default(),
            conditions: Mutex::default(),
            placements: Mutex::default(),
            exclusions: Mutex::default(),
            key_statements: Mutex::default(),
            diagnostics: Mutex::default(),
            mysql: Mutex::default(),
            searches: Mutex::default(),
            user_variables: Mutex::default(),
            user_kinds: Mutex::new(Arc::from("")),
            line,
            told_upstream: Mutex::default(),
            random: Mutex::default(),
            trigger_depth: Default::default(),
            statements: Shown::default(),
            kept: Default::default(),
            offers: Mutex::default(),
            snapshot_commits: Default::default(),
            known_rules: Default::default(),
            functions: Default::default(),
            portals: Shown::default(),
        });
        database.shared.register(&state);
        let functions = functions::FunctionState(Arc::downgrade(&state));
        let functions = Arc::new(crate::functions::Context::new(Arc::new(functions)));
        let functions = state.functions.get_or_init(|| functions).clone();
        Self {
            functions,
            handle: None,
            transaction: Transaction::default(),
            schema,
            statements: Names::new(state.statements.clone()),
            portals: Names::new(state.portals.clone()),
            state,
            interrupter,
            user: options.user.into(),
            role_names,
            language: options.language,
            watches: Vec::new(),
            checks_of: None,
            commits_seen: database.shared.commits(),
            keys_off: false,
            inner: false,
            batch: None,
            referential: triggers::Referential::default(),
            in_use: Vec::new(),
            may_end_transaction: false,
            next_modes: Default::default(),
            wanted,
            source: None,
            copying: None,
            for_another: false,
            there: None,
            database,
        }
    }

    /// A session for a routine that a running statement calls: it uses that statement's handle and transaction, and
    /// leaves both as they are when it is dropped.
    pub(crate) fn inside(state: &Arc<State>, read_only: bool) -> Result<Self> {
        let gone = || Error::internal("the session is over");
        let database = Database { shared: state.database.upgrade().ok_or_else(gone)? };
        let handle = state.handle.lock().upgrade().ok_or_else(gone)?;
        let write = state.activity.lock().writing && !read_only;
        Ok(Self {
            functions: state.functions.get().ok_or_else(gone)?.clone(),
            handle: Some(handle),
            transaction: Transaction { read_only: state.variables.read().is_read_only(), ..Transaction::inside(write) },
            schema: state.schema(),
            statements: Names::new(Shown::default()),
            portals: Names::new(Shown::default()),
            state: state.clone(),
            interrupter: state.interrupter.clone(),
            user: state.current_user().into(),
            role_names: state.variables.read().role_names(),
            language: state.language,
            watches: Vec::new(),
            checks_of: None,
            commits_seen: database.shared.commits(),
            keys_off: false,
            inner: true,
            batch: None,
            referential: triggers::Referential::default(),
            in_use: Vec::new(),
            may_end_transaction: false,
            next_modes: Default::default(),
            wanted: state.variables.read().wanted(),
            source: None,
            copying: None,
            for_another: false,
            there: None,
            database,
        })
    }

    /// What this session's functions share.
    pub(crate) fn functions_context(&self) -> &crate::functions::Context {
        &self.functions
    }

    /// Cancels from another thread what this session is doing.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// What wakes this session's thread when it waits for its client: the session may be over.
    pub fn on_end(&self, wake: impl Fn() + Send + Sync + 'static) {
        *self.state.waker.lock() = Some(Arc::new(wake));
    }

    /// Why the session is over although its client has not said so; the client is to be told, and the session dropped.
    pub fn ended(&self) -> Option<Error> {
        self.interrupter.ended().map(crate::End::error)
    }

    /// How long the client may be silent now, and what it is told then; `None` is for ever.
    pub fn idle_limit(&self) -> Option<(std::time::Duration, Error)> {
        let timeouts = self.state.variables.read().timeouts();
        let limit = |time: std::time::Duration, condition, message: &str| {
            (!time.is_zero()).then(|| (time, Error::new(condition, message)))
        };
        if self.transaction_status() == TransactionStatus::Idle {
            return limit(
                timeouts.idle,
                Condition::IdleSessionTimeout,
                "terminating connection due to idle-session timeout",
            );
        }
        let silence = limit(
            timeouts.idle_in_transaction,
            Condition::IdleInTransactionSessionTimeout,
            "terminating connection due to idle-in-transaction timeout",
        );
        let whole = self.interrupter.transaction_time_left();
        let whole = whole.map(|left| (left, crate::End::TransactionTimeout.error()));
        match (silence, whole) {
            (Some(silence), Some(whole)) => Some(if whole.0 < silence.0 { whole } else { silence }),
            (silence, whole) => silence.or(whole),
        }
    }

    /// What `pg_backend_pid()` says.
    pub fn pid(&self) -> u32 {
        self.state.pid
    }

    /// A session variable as SHOW prints it; `None` when there is none of this name.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.state.variables.read().get(name)
    }

    /// Sets a variable for the session, as SET does: the start-up packet's options come this way. RESET goes back to it.
    pub fn set_variable(&mut self, name: &str, value: &str) -> Result<()> {
        {
            self.state.check_setting(name, Some(value))?;
            let mut variables = self.state.variables.write();
            variables.set(name, Some(value), false)?;
            if self.transaction.block == Block::None {
                variables.keep_as_initial(name);
            }
        }
        self.sync_variables();
        Ok(())
    }

    /// What a door tells a session of itself, as a variable that its user may set; nothing is worked out of it.
    pub fn begin_with(&mut self, name: &'static str, value: &str) {
        self.state.variables.write().tell(name, value);
    }

    /// How values are printed and read in this session, with the transaction's time as `now`.
    pub fn settings(&self) -> Arc<Settings> {
        self.state.settings()
    }

    /// What the client's texts are in, where that is not UTF-8.
    pub fn client_encoding(&self) -> Option<&'static Encoding> {
        self.state.variables.read().client_encoding()
    }

    /// Variables that clients are told about and that have changed since the last call.
    pub fn drain_reports(&mut self) -> Vec<(String, String)> {
        self.state.variables.write().drain_reports()
    }

    /// Messages for the client since the last call: no errors, whatever their type says.
    pub fn drain_notices(&mut self) -> Vec<Error> {
        let mut notices = std::mem::take(&mut *self.state.notices.lock());
        if !notices.is_empty() {
            let level = self.state.variables.read().message_level();
            notices.retain(|notice| message_level(notice) >= level);
        }
        if self.language == Language::Mysql {
            self.keep_diagnostics(&notices);
        }
        notices
    }

    /// What SHOW WARNINGS tells from here on: the messages of the last statement, unless that was a SHOW.
    fn keep_diagnostics(&self, notices: &[Error]) {
        let shows = self
            .state
            .activity
            .lock()
            .query
            .trim_start()
            .get(..4)
            .is_some_and(|word| word.eq_ignore_ascii_case("show"));
        if shows && notices.is_empty() {
            return;
        }
        *self.state.diagnostics.lock() = notices.iter().map(|notice| self.diagnostic(notice)).collect();
    }

    /// A message as SHOW WARNINGS tells it.
    fn diagnostic(&self, notice: &Error) -> (&'static str, u16, String) {
        diagnostic(self.with_database(notice).as_ref().unwrap_or(notice))
    }

    /// What SHOW WARNINGS tells behind a statement that has failed: its warnings, and why.
    pub fn keep_failure(&mut self, error: &Error) {
        let notices = std::mem::take(&mut *self.state.notices.lock());
        let told = of_mysql::told::told(error);
        let mut rows: Vec<_> = notices.iter().map(|notice| self.diagnostic(notice)).collect();
        rows.push(("Error", told.code, told.message));
        *self.state.diagnostics.lock() = rows;
    }

    /// The last number that a SERIAL column gave itself in this session's last INSERT.
    pub fn last_serial(&self) -> Option<i64> {
        self.state.sequences.lock().serial
    }

    /// Everything as after connecting: DISCARD ALL.
    pub fn reset(&mut self) {
        if self.transaction.block != Block::None {
            self.end_rollback();
        }
        self.unlisten();
        self.database.shared.locks.release_session(&self.state.owner);
        self.portals.clear();
        self.statements.clear();
        if let Err(error) = self.drop_temporary_objects() {
            tracing::warn!(%error, "temporary objects stay until the session ends");
        }
        {
            let mut variables = self.state.variables.write();
            variables.reset_all();
            variables.commit();
            if self.language == Language::Mysql {
                variables.forget_lasting("mysql.");
            }
        }
        self.state.user_variables.lock().clear();
        self.state.mysql.lock().forget();
        *self.state.user_kinds.lock() = Arc::from("");
        self.state.sequences.lock().forget();
        self.sync_variables();
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Speaks another dialect from now on; the one before.
    pub(crate) fn speak(&mut self, language: Language) -> Language {
        std::mem::replace(&mut self.language, language)
    }

    /// It is inside a statement, one of whose functions it runs for.
    pub(crate) fn is_inside(&self) -> bool {
        self.inner
    }

    /// The dialect that this session speaks.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The user: the role whose rights count.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The schema as this session's next statement sees it.
    pub fn schema(&mut self) -> SessionSchema {
        self.refresh_schema();
        self.schema.clone()
    }

    /// The schema as the session knows it, without a look for a newer one.
    pub(crate) fn known_schema(&self) -> &SessionSchema {
        &self.schema
    }

    /// The session's handle, opened now if it has not been needed yet.
    pub(crate) fn handle(&mut self) -> Result<SharedHandle> {
        if let Some(handle) = &self.handle {
            return Ok(handle.clone());
        }
        let shared = &self.database.shared;
        let opened = InUse::session(&Opening {
            database: shared,
            state: &self.state,
            functions: &self.functions,
            interrupter: &self.interrupter,
        });
        let handle = opened.map_err(|failure| shared.open_error(&failure))?;
        Ok(self.handle.insert(handle).clone())
    }

    /// What the session shares with its functions.
    pub(crate) fn shared_state(&self) -> &Arc<State> {
        &self.state
    }

    /// What this session's routines share.
    pub(crate) fn routine_state(&self) -> &crate::routines::SessionRoutines {
        &self.state.routines
    }

    /// The schema's generation, without looking whether it is the newest.
    pub(crate) fn generation(&self) -> u64 {
        use rowferry_dialect::Schema as _;
        self.schema.generation()
    }

    /// Takes over what other sessions have made known about the schema.
    pub(crate) fn refresh_schema(&mut self) {
        if matches!(self.transaction.open, transaction::Open::No)
            && self.schema.main.generation != self.database.shared.generation()
        {
            self.schema.main = self.database.shared.current();
            self.schema_moved();
        }
    }

    /// Looks whether somebody else has changed the schema, and reads it anew if so.
    pub(crate) fn reload_if_changed(&mut self) -> Result<bool> {
        if !matches!(self.transaction.open, transaction::Open::No) {
            return Ok(false);
        }
        let handle = self.handle()?;
        let guard = handle.lock();
        let before = self.schema.main.generation;
        let snapshot = self.checked(self.database.shared.refresh(guard.connection()))?;
        drop(guard);
        self.schema.main = snapshot;
        self.schema_moved();
        Ok(self.schema.main.generation != before)
    }

    /// Reads the session's temporary objects.
    pub(crate) fn load_temporary_schema(&mut self) -> Result<()> {
        let handle = self.handle()?;
        let guard = handle.lock();
        let loaded = self.checked(InUse::load(guard.connection(), "temp"))?;
        drop(guard);
        self.schema.temp = Arc::new(loaded);
        self.schema_moved();
        Ok(())
    }

    /// Lets functions and catalogs see the session's schema.
    pub(crate) fn schema_moved(&mut self) {
        *self.state.schema.write() = self.schema.clone();
        self.sync_user();
        self.state.sequences.lock().cool();
    }

    /// Takes over variables on which other things depend.
    pub(crate) fn sync_variables(&mut self) {
        let (path, read_only) = {
            let variables = self.state.variables.read();
            (variables.search_path(), variables.made_read_only())
        };
        self.transaction.read_only |= read_only;
        self.wanted = self.state.variables.read().wanted();
        self.follow_path(path);
        self.sync_identity();
    }

    /// The search path may name the user.
    fn sync_path(&mut self) {
        let path = self.state.variables.read().search_path();
        self.follow_path(path);
    }

    fn follow_path(&mut self, path: Arc<[String]>) {
        if !Arc::ptr_eq(&path, &self.schema.search_path) {
            self.schema.search_path = path;
            self.schema_moved();
        }
    }

    /// SET LOCAL.
    pub(crate) fn set_local(&mut self, name: &str, values: &[String]) -> Result<()> {
        self.state.variables.write().set_list(name, values, true)?;
        self.sync_variables();
        Ok(())
    }

    /// SET LOCAL of a whole value, as a variable shows it.
    pub(crate) fn put_back_local(&mut self, name: &str, value: Option<&str>) -> Result<()> {
        self.state.variables.write().set(name, value, true)?;
        self.sync_variables();
        Ok(())
    }

    /// Adds a message of a routine for the client.
    pub(crate) fn remark(&self, message: Error) {
        self.state.notices.lock().push(message);
    }

    /// What PL/pgSQL has been asked to look for: an error or a warning.
    pub(crate) fn extra_check(&self, check: crate::settings::ExtraCheck) -> Option<bool> {
        self.state.variables.read().extra_check(check)
    }

    /// A function as the CONTEXT of messages names it.
    pub(crate) fn function_signature(&self, function: &rowferry_dialect::stored_function::StoredFunction) -> String {
        use rowferry_dialect::Schema as _;
        let name = rowferry_dialect::schema::QualifiedName::bare(function.name.clone());
        let visible = self.schema.functions(&name).iter().any(|known| known.namespace == function.namespace);
        let signature = format!(
            "{}({})",
            rowferry_dialect::postgres::quote_ident(&function.name),
            function.definition.input_words()
        );
        if visible {
            signature
        } else {
            format!("{}.{signature}", rowferry_dialect::postgres::quote_ident(&function.namespace))
        }
    }

    /// Adds a message for the client.
    pub(crate) fn warn(&self, condition: Condition, message: &str) {
        self.state.notices.lock().push(Error::new(condition, message));
    }

    /// What the session has used of Rust's memory until now is forgotten, unless it still holds rows of a query: what is
    /// kept on purpose has a charge.
    pub(crate) fn count_memory_anew(&self) {
        if self.handle.as_ref().is_none_or(|handle| handle.lock().cursors().is_empty()) {
            crate::memory::begin_anew();
        }
    }

    /// Runs something that takes as long as a client's text is long, stoppable as a statement is.
    pub(crate) fn supervised<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // Inside a statement, that one is supervised.
        if self.interrupter.is_nested() || self.inner {
            return run(self);
        }
        let in_cursor = self.interrupter.is_armed();
        let timeout = self.state.variables.read().statement_timeout();
        self.interrupter.arm(timeout);
        self.count_memory_anew();
        let result = run(self);
        if !in_cursor {
            self.interrupter.disarm();
        }
        result
    }

    /// Nothing is to be done until the client asks for more: other sessions see so.
    pub fn rest(&mut self) {
        self.log_plans();
        if self.state.activity.lock().state == "active" {
            self.publish_activity();
        }
    }

    /// Lets other sessions see what this one does.
    pub(crate) fn publish_activity(&self) {
        let mut activity = self.state.activity.lock();
        let state = match self.transaction_status() {
            TransactionStatus::Idle => "idle",
            TransactionStatus::Active => "idle in transaction",
            TransactionStatus::Failed => "idle in transaction (aborted)",
        };
        if activity.state != state {
            let now = state::coarse_now();
            self.state.tally.pass(activity.state, now - activity.state_change);
            (activity.state, activity.state_change) = (state, now);
        }
        activity.writing = matches!(self.transaction.open, transaction::Open::Write { .. });
        if !activity.writing && !self.inner {
            self.state.write_serial.store(0, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

/// How important a message is that is no error. What succeeded, or would have been an error of names but for IF [NOT]
/// EXISTS, is a notice; all else warns.
pub fn message_level(message: &Error) -> MessageLevel {
    use rowferry_dialect::error::Severity;
    match message.severity {
        Some(Severity::Debug) => return MessageLevel::Debug,
        Some(Severity::Log) => return MessageLevel::Log,
        Some(Severity::Notice) => return MessageLevel::Notice,
        Some(Severity::Warning) => return MessageLevel::Warning,
        Some(Severity::Info) => return MessageLevel::Info,
        None => {}
    }
    match message.condition().sqlstate().get(..2) {
        Some("00" | "42") => MessageLevel::Notice,
        _ => MessageLevel::Warning,
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.inner {
            // A routine may have changed them for good, or for itself.
            self.renew_settings();
            return;
        }
        self.there = None;
        self.unlisten();
        self.portals.clear();
        self.end_counting();
        if let Some(handle) = &self.handle {
            let guard = handle.lock();
            for cursor in guard.cursors() {
                cursor.close(&guard);
            }
            self.state.running.clear();
            guard.clear_statements();
            if guard.is_in_transaction()
                && let Err(failure) = guard.roll_back()
            {
                tracing::error!(failure.message, "ROLLBACK failed at the end of a session");
            }
        }
        // After the file's lock is free, and before anybody could believe that the session is gone.
        self.transaction = Transaction::default();
        self.database.shared.forget_sequences_of(self.state.pid);
        self.database.shared.locks.leave(&self.state.owner);
        self.database.shared.unregister(self.state.pid);
    }
}
/// A message as SHOW WARNINGS tells it: what was passed over as IF EXISTS says is a note.
fn diagnostic(notice: &Error) -> (&'static str, u16, String) {
    let told = of_mysql::told::told(notice);
    let noted = notice.message.ends_with(", skipping") || matches!(told.code, 3162 | 3163);
    let level = match told.code {
        // CHECKSUM TABLE of what is no table.
        1049 | 1146 | 1347 => "Error",
        _ if noted => "Note",
        _ => "Warning",
    };
    (level, told.code, told.message)
}
