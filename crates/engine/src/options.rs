//! What a database and a session are opened with.

use std::time::Duration;

use rowferry_dialect::Language;
use rowferry_dialect::access::Plugin;
use rowferry_dialect::informix::Logging;

/// When an acknowledged transaction is safe on disk.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// At its acknowledgement: neither a killed server nor a power cut loses it.
    #[default]
    Full,
    /// A killed server loses nothing, a power cut may lose the last transactions (`synchronous=NORMAL`).
    Normal,
    /// A power cut may even damage the file (`synchronous=OFF`).
    Off,
}

/// What becomes of the file's journal mode, which stands in the file and stays.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Journal {
    /// The file is switched to WAL: readers and the writer do not stand in each other's way.
    #[default]
    Wal,
    /// It stays as it is. In a mode with a rollback journal a writer waits at its commit for all readers, and readers
    /// wait for it meanwhile, each as long as its lock time-out allows.
    Keep,
}

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// When an acknowledged transaction is safe on disk; [`Durability::Full`] by default.
    pub durability: Durability,
    /// What becomes of the file's journal mode; [`Journal::Wal`] by default.
    pub journal: Journal,
    /// Create the file when there is none (default: no).
    pub create: bool,
    /// Refuse every write (default: no).
    pub read_only: bool,
    /// How long a statement waits for the write lock before it fails with `55P03`; zero is for ever. Sessions begin with
    /// it as their `lock_timeout`; 30 s by default.
    pub lock_timeout: Duration,
    /// What transactions Informix clients have (default: [`Logging::Log`]). Without, BEGIN WORK is refused as Informix
    /// refuses it.
    pub logging: Logging,
    /// What Informix's clients say and what has no effect here is refused, and not passed over (default: no).
    pub strict: bool,
    /// Bytes of its thread's stack that a session's routines may use when they call each other; 1 MiB by default, half
    /// of what Rust gives a thread.
    pub routine_stack: usize,
    /// Bytes of memory that a session may use before its statement fails with `53200`; no limit by default. Counted as
    /// far as the program has made [`crate::memory::CountingAllocator`] its allocator.
    pub session_memory: usize,
    /// Bytes of the file that are read through a mapping of it, and not by calls; 0 by default, since a program must be
    /// ready for what happens when the file is cut short: see [`crate::mapped`].
    pub mapped: u64,
    /// Makes what is kept of a role's password (CREATE ROLE … PASSWORD) out of it, or says why it cannot. None by default:
    /// then there are no passwords.
    pub password_verifier: Option<PasswordVerifier>,
    /// Makes what MySQL's clients are asked to prove out of a password, beside that. None by default.
    pub mysql_verifier: Option<MysqlVerifier>,
    /// Statements are counted and their times taken, for [`crate::Database::measurements`] (default: no).
    pub measured: bool,
    /// The server that has the tables and their rows: then the file knows no more than what they look like. None by default.
    pub upstream: Option<std::sync::Arc<dyn crate::upstream::Upstream>>,
    /// Where tables lie that are made there, if it is a cluster. As the server has it by default.
    pub placements: crate::upstream::Placements,
}

/// Makes what is kept of a password out of it, or says which kind of password it cannot be made of.
pub type PasswordVerifier = fn(&str) -> Result<Option<String>, &'static str>;

/// Makes what MySQL keeps of a password for a plugin.
pub type MysqlVerifier = fn(Plugin, &str) -> String;

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            journal: Journal::Wal,
            create: false,
            read_only: false,
            lock_timeout: Duration::from_secs(30),
            logging: Logging::Log,
            strict: false,
            routine_stack: 1024 * 1024,
            session_memory: crate::memory::UNLIMITED,
            mapped: 0,
            password_verifier: None,
            mysql_verifier: None,
            measured: false,
            upstream: None,
            placements: Default::default(),
        }
    }
}

/// Whose session it is.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The user's name.
    pub user: String,
    /// What the client calls itself; may be empty.
    pub application_name: String,
    /// Whose SQL it speaks.
    pub language: Language,
    /// Where the client is, for `pg_stat_activity`; may be empty.
    pub client_address: String,
    /// The address and port at which it has met the server, for `inet_server_addr()`; may be empty.
    pub server_address: String,
}

impl SessionOptions {
    /// A session of a user, with no more known.
    pub fn new(user: impl Into<String>, language: Language) -> Self {
        let (client_address, server_address) = Default::default();
        Self { user: user.into(), application_name: String::new(), language, client_address, server_address }
    }
}
