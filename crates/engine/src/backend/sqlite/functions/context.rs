//! What functions know of the session that calls them.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use rowferry_dialect::ir::{LockMode, LockWait, Value};
use rowferry_dialect::stored_aggregate::Callee;
use rowferry_dialect::values::Settings;
use rowferry_dialect::values::mysql::fulltext::{Found, Mode};
use rowferry_dialect::{Error, Language, Result, Schema};

use crate::locks::{AdvisoryKey, Hold};

/// The rows that a routine of users returns.
pub type RoutineRows = Box<dyn Iterator<Item = Result<Vec<Value>>>>;

/// What a query inside a function has found.
#[derive(Debug, Default)]
pub struct Queried {
    /// Names and types of its columns.
    pub columns: Vec<(String, rowferry_dialect::Type)>,
    /// Its rows.
    pub rows: Vec<Vec<Value>>,
}

/// Numbers of one sequence, for one statement.
pub trait Numbers {
    /// The next number; `None` where the session must be asked.
    fn next(&self) -> Option<i64>;
}

/// The session as functions see it.
///
/// Methods with a default are those that not every kind of session has; their defaults are the honest `0A000`.
pub trait SessionState: Send + Sync {
    /// The schema, by the session's search path.
    fn schema(&self) -> Arc<dyn Schema>;
    /// Whose SQL the session speaks.
    fn language(&self) -> Language;
    /// The current user.
    fn user(&self) -> String;
    /// The user who logged in.
    fn session_user(&self) -> String {
        self.user()
    }
    /// The database's name.
    fn database(&self) -> String;
    /// The session's process id, as clients are told.
    fn pid(&self) -> i32;
    /// Schemas searched, in order; with the implicit ones if asked for.
    fn search_path(&self, implicit: bool) -> Vec<String>;
    /// A variable's value, as SHOW prints it.
    fn variable(&self, name: &str) -> Option<String>;
    /// What RESET of a variable goes back to.
    fn default_variable(&self, _name: &str) -> Option<String> {
        None
    }
    /// SET, for the session or the transaction; `None` is DEFAULT.
    fn set_variable(&self, name: &str, value: Option<&str>, local: bool) -> Result<()>;
    /// When the server started: microseconds since 1970 UTC.
    fn server_start(&self) -> i64 {
        0
    }
    /// The transaction's number, given now if it has none.
    fn transaction_id(&self) -> Result<i64> {
        Err(Error::unsupported("txid_current"))
    }
    /// The transaction's number, if it has one.
    fn transaction_id_if_assigned(&self) -> Result<Option<i64>> {
        Ok(None)
    }
    /// The number of the transaction that has changed the schema last, as this session sees it.
    fn catalog_writer(&self) -> Result<i64> {
        Err(Error::unsupported("the system column \"xmin\""))
    }
    /// The transaction's number, or the one that the next transaction will have.
    fn latest_transaction(&self) -> Result<i64> {
        Err(Error::unsupported("the age of a transaction"))
    }
    /// What has become of a transaction: `committed`, `aborted`, `in progress`; `None` when it is too long ago.
    fn transaction_outcome(&self, _xid: i64) -> Result<Option<&'static str>> {
        Err(Error::unsupported("txid_status"))
    }
    /// Fails where a value does not hold what these words ask
    /// ([`rules_words`](rowferry_dialect::lower::sqlite::rules_words)).
    fn check_rules(&self, _words: &str, _values: &[Value]) -> Result<()> {
        Err(Error::internal("no handle to check domains with"))
    }
    /// The next number of a sequence.
    fn nextval(&self, sequence: u32) -> Result<i64>;
    /// A short way to the further numbers of a sequence that has given one to the running statement.
    fn numbers(&self, _sequence: u32) -> Option<Box<dyn Numbers>> {
        None
    }
    /// The number that this session was given last.
    fn currval(&self, sequence: u32) -> Result<i64>;
    /// Sets a sequence; `called` decides whether the next number is `value` or the one behind it.
    fn setval(&self, sequence: u32, value: i64, called: bool) -> Result<i64>;
    /// The number that this session was given last by any sequence.
    fn lastval(&self) -> Result<i64>;
    /// The last SERIAL that this session was given (Informix's `sqlca.sqlerrd2`); `None` before the first.
    fn last_serial(&self) -> Option<i64> {
        None
    }
    /// The next question for the last SERIAL is answered with this number.
    fn set_last_serial(&self, _number: i64) {}
    /// Sets a variable for the session, whatever becomes of the transaction.
    fn set_lasting(&self, name: &str, value: &str) -> Result<()> {
        self.set_variable(name, Some(value), false)
    }
    /// A variable that a user of MySQL's has made, by its name in small letters.
    fn user_variable(&self, _name: &str) -> Option<Value> {
        None
    }
    /// What a text finds in a full-text index.
    fn search_words(&self, _index: u32, _mode: Mode, _text: &str) -> Result<Arc<Found>> {
        Err(Error::unsupported("MATCH … AGAINST"))
    }
    /// How many warnings the last statement has left.
    fn warnings(&self) -> usize {
        0
    }
    /// An upsert of MySQL's has met a row of this number; its own was to have the other.
    fn mysql_met(&self, _met: Option<i64>, _given: Option<i64>) {}
    /// Counts a row of MySQL's by what becomes of it; whether it is to be written.
    fn mysql_changes(&self, _mode: i64, changed: bool) -> bool {
        changed
    }
    /// FOUND_ROWS().
    fn mysql_found_rows(&self) -> i64 {
        0
    }
    /// The rows that a query had without its LIMIT.
    fn set_mysql_found_rows(&self, _rows: i64) {}
    /// Sets such a variable.
    fn set_user_variable(&self, _name: &str, _value: Value) -> Result<()> {
        Err(Error::unsupported("a variable of users"))
    }
    /// Notes what kind of value it has.
    fn set_user_kind(&self, _name: &str, _kind: &str) -> Result<()> {
        Ok(())
    }
    /// Calls a routine of users: which parameters `given` gives (a `1` or `0` for each, `-` before them when it may only
    /// read), and their values. Yields its rows.
    fn call_routine(&self, _routine: u32, _given: &str, _args: Vec<Value>) -> Result<RoutineRows> {
        Err(Error::unsupported("a routine"))
    }
    /// Calls a function that users have made in PostgreSQL's way: what its polymorphic types stand for, and its arguments.
    fn call_function(&self, _function: u32, _element: Option<&str>, _args: Vec<Value>) -> Result<RoutineRows> {
        Err(Error::unsupported("a function of users"))
    }
    /// The same for one value.
    fn function_value(&self, _function: u32, _element: Option<&str>, _args: Vec<Value>) -> Result<Value> {
        Err(Error::unsupported("a function of users"))
    }
    /// Calls a function behind an aggregate of users.
    fn support_function(&self, _callee: &Callee, _args: Vec<Value>) -> Result<Value> {
        Err(Error::unsupported("an aggregate of users"))
    }
    /// Runs a query that a function is given as a text. It must not change anything.
    fn query(&self, _sql: &str) -> Result<Queried> {
        Err(Error::unsupported("a query inside a function"))
    }
    /// The rows that a function has returned, by their number; they are read once.
    fn function_result(&self, _number: i64) -> Option<RoutineRows> {
        None
    }
    /// Rows that the last INSERT, UPDATE, DELETE or SELECT INTO processed (Informix's `sqlca.sqlerrd2`).
    fn rows_processed(&self) -> i64 {
        0
    }
    /// What is counted in a column of a view (`pg_stat_…`): of the table, index or database with an object id, or of the server.
    fn statistic(&self, _view: &str, _column: &str, _oid: Option<u32>) -> Result<Value> {
        Err(Error::unsupported("statistics"))
    }
    /// The rows of `pg_stat_statements`, with texts or without.
    fn statement_statistics(&self, _texts: bool) -> Result<Vec<Vec<Value>>> {
        Err(Error::unsupported("statistics"))
    }
    /// Forgets what is known of statements of a role, in a database, of a number; 0 stands for every one.
    fn reset_statement_statistics(&self, _user: u32, _database: u32, _query: i64) -> Result<()> {
        Err(Error::unsupported("statistics"))
    }
    /// Counts from 0 on: everything of the database (`None`), or of a table or an index.
    fn reset_statistics(&self, _oid: Option<u32>) -> Result<()> {
        Err(Error::unsupported("statistics"))
    }
    /// The same of a function that users have made.
    fn reset_function_statistics(&self, _oid: u32) -> Result<()> {
        Err(Error::unsupported("statistics"))
    }
    /// The same of the server: `archiver`, `bgwriter`, `wal`.
    fn reset_shared_statistics(&self, _what: &str) -> Result<()> {
        Err(Error::unsupported("statistics"))
    }
    /// How many triggers run inside each other.
    fn trigger_depth(&self) -> i64 {
        0
    }
    /// What a sequence's row says: `last_value` (0), `log_cnt` (1), `is_called` (2).
    fn sequence_state(&self, _sequence: u32, _part: i64) -> Result<i64> {
        Err(Error::internal("no session"))
    }
    /// Where a sequence stands; `None` if it has given no number yet.
    fn sequence_last_value(&self, _sequence: u32) -> Result<Option<i64>> {
        Ok(None)
    }
    /// The name of the sequence behind a column (`schema.name`).
    fn serial_sequence(&self, _table: &str, _column: &str) -> Result<Option<String>> {
        Ok(None)
    }
    /// Waits; ends early when the statement is cancelled.
    fn sleep(&self, duration: Duration) -> Result<()>;
    /// Cancels another session's statement; false if there is no such session.
    fn cancel(&self, _pid: i32) -> Result<bool> {
        Err(Error::unsupported("pg_cancel_backend"))
    }
    /// Ends another session, and waits until it is gone for so long; false if there is no such session, or if it is
    /// still there then.
    fn terminate(&self, _pid: i32, _wait: Duration) -> Result<bool> {
        Err(Error::unsupported("pg_terminate_backend"))
    }
    /// The sessions for which a session waits.
    fn blocking_pids(&self, _pid: i32) -> Result<Vec<u32>> {
        Err(Error::unsupported("pg_blocking_pids"))
    }
    /// Locks a row of a table; false when it is to be skipped.
    fn lock_row(&self, _relation: u32, _row: Option<i64>, _mode: LockMode, _wait: LockWait) -> Result<bool> {
        Err(Error::unsupported("SELECT FOR UPDATE"))
    }
    /// The row that WHERE CURRENT OF means.
    fn cursor_row(&self) -> Result<Option<i64>> {
        Err(Error::unsupported("WHERE CURRENT OF"))
    }
    /// ON CONFLICT DO UPDATE has met a row.
    fn note_met(&self, _row: Option<i64>) -> Result<()> {
        Err(Error::unsupported("ON CONFLICT DO UPDATE that notes its rows"))
    }
    /// Whether it has, of the row that is written.
    fn has_met(&self) -> Result<bool> {
        Ok(false)
    }
    /// Takes an advisory lock; false if it is not free and is not to be waited for.
    fn advisory_lock(&self, _key: AdvisoryKey, _mode: LockMode, _hold: Hold, _wait: bool) -> Result<bool> {
        Err(Error::unsupported("an advisory lock"))
    }
    /// Gives an advisory lock of the session back; false, with a warning, if it is not held.
    fn advisory_unlock(&self, _key: AdvisoryKey, _mode: LockMode) -> Result<bool> {
        Err(Error::unsupported("an advisory lock"))
    }
    /// The session that holds an advisory lock.
    fn advisory_holder(&self, _key: AdvisoryKey) -> Result<Option<i32>> {
        Err(Error::unsupported("an advisory lock"))
    }
    /// Gives all advisory locks of the session back.
    fn advisory_unlock_all(&self) -> Result<usize> {
        Ok(0)
    }
    /// Rows that a part of the running statement has left for others.
    fn kept(&self, _number: u32) -> Option<Arc<crate::session::Kept>> {
        None
    }
    /// Tells the client something beside the answer.
    fn notice(&self, _notice: Error) {}
    /// NOTIFY.
    fn notify(&self, _channel: &str, _payload: &str) -> Result<()> {
        Err(Error::unsupported("pg_notify"))
    }
    /// A function of large objects.
    fn large_object(&self, _call: crate::large_objects::Call<'_>) -> Result<Value> {
        Err(Error::unsupported("large objects"))
    }
    /// What the session listens to.
    fn listening(&self) -> Vec<String> {
        Vec::new()
    }
    /// The part of the queue of notifications that is in use, 0 to 1.
    fn notification_queue_usage(&self) -> f64 {
        0.0
    }
    /// Bytes of a table with (`Some(true)`) or without (`Some(false)`) its indexes, or of its indexes alone (`None`);
    /// oid 0 is the whole database.
    fn size(&self, _relation: u32, _indexes: Option<bool>) -> Result<i64> {
        Ok(0)
    }
    /// A number from 0 to below 1: by chance, or behind a seed that was set.
    fn random(&self) -> f64 {
        rand::random()
    }
    /// Makes the numbers that follow those of a seed.
    fn seed_random(&self, _seed: f64) {}
    /// The statement that the client has sent.
    fn current_query(&self) -> Option<String> {
        None
    }
    /// Where the client is; may be empty.
    fn client_address(&self) -> String {
        String::new()
    }
    /// Where the client has met the server; may be empty.
    fn server_address(&self) -> String {
        String::new()
    }
    /// Which transactions have ended, as the running statement sees it.
    fn snapshot(&self) -> Result<rowferry_dialect::scalar::snapshots::Snapshot> {
        Err(Error::unsupported("pg_current_snapshot"))
    }
    /// Lets others read what the transaction sees; the name by which they ask for it.
    fn export_snapshot(&self) -> Result<String> {
        Err(Error::unsupported("pg_export_snapshot"))
    }
    /// Whether a role (`None`: the current one) is a superuser.
    fn is_superuser(&self, _role: Option<super::Named>) -> Result<bool> {
        Err(Error::unsupported("a question about roles"))
    }
    /// True for the object id of a database of the server.
    fn is_database(&self, _oid: i64) -> bool {
        false
    }
    /// What `pg_class` shows as the file of a relation, sequence or index; `None` for what has none.
    fn filenode(&self, _relation: u32) -> Option<i64> {
        None
    }
    /// The access method of an index.
    fn index_method(&self, _index: u32) -> Option<String> {
        None
    }
    /// A relation's name, and the types of the keys by whose hash its rows are parted, if they are.
    fn hash_keys(&self, _relation: u32) -> Option<(String, Option<Vec<rowferry_dialect::Type>>)> {
        None
    }
    /// The index by whose columns replication tells a table's rows apart, if there is one; `None` for what is no relation.
    fn replica_index(&self, _relation: u32) -> Option<Option<u32>> {
        None
    }
    /// A sequence's start, least, greatest, increment, whether it goes round, how many are kept in store, and its type.
    fn sequence_parameters(&self, _sequence: u32) -> Option<Vec<Value>> {
        None
    }
    /// Whether a collation is one of ICU's; `None` for what is no collation.
    fn is_unicode_collation(&self, _collation: u32) -> Option<bool> {
        None
    }
    /// The comment on an object or on one of a relation's columns (counted from 1).
    fn comment(&self, _object: u32, _column: Option<i32>) -> Option<String> {
        None
    }
    /// Any object in words, by its catalog, its object id and the number of a column.
    ///
    /// # Errors
    /// `XX000` for what is no catalog of objects.
    fn describe_object(&self, _catalog: u32, _object: u32, _column: i32) -> Result<Option<String>> {
        Ok(None)
    }
    /// The definition of an index, constraint or view as SQL; `column` asks for one key of an index.
    fn definition(&self, _kind: Definition, _object: u32, _column: i32) -> Option<String> {
        None
    }
    /// Whether a key of an index is descending, and whether its NULLs stand first.
    fn index_order(&self, _index: u32, _column: i32) -> Option<(bool, bool)> {
        None
    }
    /// An expression over a relation's columns without the parentheses that precedence makes needless.
    fn pretty_expression(&self, _text: &str, _relation: u32) -> Option<String> {
        None
    }
    /// True if a relation is found by its bare name.
    fn is_visible(&self, _relation: u32) -> Option<bool> {
        Some(true)
    }

    /// Whether a name without schema finds an object of a kind (`type`, `function`, `ts_dict`, …); `None` where there is none.
    fn is_object_visible(&self, _kind: &str, _object: u32) -> Option<bool> {
        None
    }
    /// An object by its names: its catalog's object id, its own, and the number of a column.
    fn identify_object(&self, _: u32, _: u32, _: i32) -> Result<crate::catalog::object_identity::Identity> {
        Err(Error::unsupported("pg_identify_object"))
    }
    /// The object of a kind that names, and what stands behind them, mean.
    fn object_address(&self, _kind: &str, _names: &[String], _behind: &[String]) -> Result<(u32, u32, i32)> {
        Err(Error::unsupported("pg_get_object_address"))
    }
    /// The object id of the schema of the session's temporary objects; 0 while there are none.
    fn temporary_schema(&self) -> u32 {
        0
    }
    /// An object of CREATE STATISTICS is the one that its bare name means; `None` where there is none.
    fn is_statistics_visible(&self, _object: u32) -> Option<bool> {
        None
    }
    /// Whether policies of a table concern the current role.
    fn has_row_security(&self, _relation: &super::Named) -> Result<bool> {
        Err(Error::unsupported("row_security_active"))
    }
    /// Whether a role has one of some privileges; `None` when the object is not there.
    fn has_privilege(&self, _question: &super::Question<'_>) -> Result<Option<bool>> {
        Err(Error::unsupported("a question about privileges"))
    }
    /// Whether a role is a member of another.
    fn has_role(&self, _member: Option<super::Named>, _role: super::Named, _words: &str) -> Result<Option<bool>> {
        Err(Error::unsupported("a question about roles"))
    }
    /// The comment on a database.
    fn database_comment(&self, _oid: u32) -> Option<String> {
        None
    }
    /// The comment on a role.
    fn role_comment(&self, _oid: u32) -> Option<String> {
        None
    }
    /// The name of a role.
    fn role_name(&self, _oid: u32) -> Option<String> {
        Some(self.user())
    }
    /// The name of an object, for the output of `regclass` and its kin.
    fn object_name(&self, _reg: rowferry_dialect::types::Reg, _oid: u32) -> Option<String> {
        None
    }
    /// The object of a name, for the input of `regclass` and its kin.
    fn object_oid(&self, reg: rowferry_dialect::types::Reg, name: &str) -> Result<u32>;

    /// The configuration or dictionary of text search with an object id.
    fn search_object(&self, oid: u32) -> Option<std::sync::Arc<rowferry_dialect::text_search::SearchObject>>;
}

/// What is asked for by `pg_get_…def`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Definition {
    /// CREATE INDEX.
    Index {
        /// Without the parentheses that precedence makes needless.
        pretty: bool,
    },
    /// A constraint's definition.
    Constraint {
        /// Without the parentheses that precedence makes needless.
        pretty: bool,
    },
    /// A trigger's definition; its table with its schema when the number is 0.
    Trigger,
    /// A rule's definition.
    Rule {
        /// Without needless parentheses, and its relation without a schema where it is found so.
        pretty: bool,
    },
    /// A view's query; without needless parentheses when the number is not 0.
    View {
        /// How far a line goes on before the next member of a list has its own.
        wrap: i32,
    },
    /// PARTITION BY of a table.
    PartitionKey,
    /// Of an object of CREATE STATISTICS.
    Statistics(crate::catalog::pg_statistic_ext::Part),
    /// What the rows of a partition are.
    PartitionConstraint,
}

/// What functions share with the session that they belong to.
pub struct Context {
    settings: RwLock<Arc<Settings>>,
    times: RwLock<Times>,
    state: Arc<dyn SessionState>,
}

/// The clock readings that stand still.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Start of the transaction: microseconds since 1970 UTC.
    pub transaction: i64,
    /// Start of the statement: microseconds since 1970 UTC.
    pub statement: i64,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("times", &self.times()).finish_non_exhaustive()
    }
}

impl Context {
    /// A context of a session.
    pub fn new(state: Arc<dyn SessionState>) -> Self {
        Self { settings: RwLock::default(), times: RwLock::new(Times::default()), state }
    }

    /// The session.
    pub fn state(&self) -> &Arc<dyn SessionState> {
        &self.state
    }

    /// Zone, styles and the like; `now` is the transaction's start.
    pub fn set_settings(&self, settings: &Arc<Settings>) {
        if !Arc::ptr_eq(&self.settings.read(), settings) {
            *self.settings.write() = settings.clone();
        }
    }

    /// Sets the transaction's and the statement's start, in microseconds since 1970 UTC; before each statement.
    pub fn set_times(&self, transaction: i64, statement: i64) {
        *self.times.write() = Times { transaction, statement };
    }

    /// The transaction's and the statement's start.
    pub fn times(&self) -> Times {
        *self.times.read()
    }

    /// Uses the settings.
    pub fn with_settings<T>(&self, use_them: impl FnOnce(&Settings) -> T) -> T {
        // No lock is held meanwhile: what is done may call a routine, which may have settings of its own.
        let settings = self.settings.read().clone();
        use_them(&settings)
    }

    /// A copy of the settings.
    pub fn settings(&self) -> Settings {
        (**self.settings.read()).clone()
    }
}
