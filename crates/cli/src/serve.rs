//! `rowferry serve`: gives a SQLite file the wires of other databases.

mod announce;
mod doors;
mod upstream;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use rowferry_engine::{Database, Databases, Durability, HostRules, Journal, NameMappings, Options};
use rowferry_server::SqliDoor;
use rowferry_server::aside::{Aside, Listening};
use rowferry_server::auth::{Gate, Users, hba};
use rowferry_server::metrics::{self, Vitals};
use rowferry_server::pg::PgDoor;
use rowferry_server::tls::{self, Tls};
use rowferry_server::{Bound, Door, Endpoint, Limits, MysqlDoor, Server};

use self::announce::{Told, announce, tell_sessions, warn_of_readers};
use self::doors::Doors;
use crate::Failure;
use crate::lifeline;
use crate::limits::{MemoryArguments, fit_connections, fit_messages};
use crate::service::{self, Handed};
use crate::signals::{self, Reload};

/// PostgreSQL's port.
const POSTGRES_PORT: u16 = 5432;
/// Where Prometheus looks for the figures of a PostgreSQL.
const METRICS_PORT: u16 = 9187;
/// Where pages are that are not for everybody.
const WEB_PORT: u16 = 8080;
/// What stops a statement of the page.
const WEB_STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// Where Informix clients look.
const INFORMIX_PORT: u16 = 9088;
/// Where MySQL clients look.
const MYSQL_PORT: u16 = 3306;

/// Under which heading `--help` shows an option.
const DOORS: &str = "Where to listen";
const USERS: &str = "Who may come in";
const TLS: &str = "TLS";
const FILE: &str = "The file";
const SESSIONS: &str = "Sessions";
const LIFE: &str = "The process";

/// When a transaction that was acknowledged is safe.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum DurabilityChoice {
    /// At once: neither a killed server nor a power cut loses it
    #[default]
    Full,
    /// A killed server loses nothing, a power cut may lose the last transactions
    Normal,
    /// A power cut may damage the file; for throw-away data
    Off,
}

/// What becomes of what has no effect here.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum Compat {
    /// It is passed over
    #[default]
    Lenient,
    /// It is refused by name
    Strict,
}

/// What becomes of the file's journal mode, which stays when the server ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum JournalChoice {
    /// The file is switched to write-ahead logging: readers and the writer do not block each other
    #[default]
    Wal,
    /// The file stays in its mode; with a rollback journal readers and the writer block each other
    Keep,
}

/// Serve a SQLite file to PostgreSQL, Informix and MySQL clients
///
/// Any SQLite file will do, whoever made it; what is written through the server reads
/// sensibly in the `sqlite3` shell, and other programs may use the file at the same time.
///
/// Examples:
///   rowferry serve app.db                    PostgreSQL clients on this machine, port 5432
///   rowferry serve app.db --postgres :0 --json      a free port, told in a line of JSON
///   rowferry serve app.db --unix-dir /tmp    the unix socket /tmp/.s.PGSQL.5432
///   rowferry serve app.db --informix :9088   Informix clients, such as IBM's JDBC driver
///   rowferry serve app.db --mysql :3306      MySQL clients
///   rowferry serve app.db --postgres 0.0.0.0 --tls --password-file users
///                                            the network, with passwords and encryption
///   rowferry serve app.db --databases more   clients may make databases, in the directory `more`
///   rowferry serve :memory:                  a database that is gone when the server stops
///   rowferry serve postgresql://ada@db/store --informix :9088
///                                            Informix clients of a PostgreSQL server's tables
///
/// Without users everybody who can connect is trusted; that is allowed on this machine
/// only. With users everybody proves a password (SCRAM-SHA-256).
///
/// Under systemd the server says when it is ready, and takes over sockets of a socket unit that
/// are named `postgres`, `informix` or `mysql` (FileDescriptorName=).
///
/// The server stops at SIGTERM or Ctrl-C: statements that run may finish (--stop-grace),
/// the rest is rolled back. SIGHUP reads --password-file, --hba, --ident,
/// --tls-cert and --tls-client-ca again.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The SQLite file, or `:memory:`; a file that does not exist is created. Or a PostgreSQL server's URL
    ///
    /// `postgresql://user:password@host:port/database`: then the tables are that server's, and clients of
    /// Informix and MySQL find them here. Better than in the URL a password stands in the environment (PGPASSWORD) or in ~/.pgpass.
    database: PathBuf,

    /// Listen for PostgreSQL clients at this address: 127.0.0.1:5432, :5432, 0.0.0.0, [::1]:0; port 0 is any free one
    ///
    /// The default when no other option opens a door is 127.0.0.1:5432.
    #[arg(long, value_name = "ADDR", env = "ROWFERRY_POSTGRES", help_heading = DOORS)]
    postgres: Option<String>,

    /// Listen for PostgreSQL clients at a unix socket in this directory, for `psql -h DIR`
    ///
    /// The socket is named `.s.PGSQL.<port>` after the port of --postgres, or 5432.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = DOORS)]
    unix_dir: Option<PathBuf>,

    /// Listen for Informix clients (SQLI) at this address: 127.0.0.1:9088, :9088, 0.0.0.0, [::1]:0
    #[arg(long, value_name = "ADDR", env = "ROWFERRY_INFORMIX", help_heading = DOORS)]
    informix: Option<String>,

    /// Listen for MySQL clients at this address: 127.0.0.1:3306, :3306, 0.0.0.0, [::1]:0
    #[arg(long, value_name = "ADDR", env = "ROWFERRY_MYSQL", help_heading = DOORS)]
    mysql: Option<String>,

    /// Listen for MySQL clients at a unix socket of this name, for `mysql -S PATH`
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = DOORS)]
    mysql_socket: Option<PathBuf>,

    /// Tell Prometheus figures at http://ADDR/metrics, and whether the server is well at /health: 127.0.0.1:9187, :9187, :0
    ///
    /// Whoever reaches the address is told; there are no statements, names of users or data among the figures.
    #[arg(long, value_name = "ADDR", env = "ROWFERRY_METRICS", help_heading = DOORS)]
    metrics: Option<String>,

    /// Show a page to look at the database at http://ADDR: 127.0.0.1:8080, :8080, :0
    ///
    /// Tables and rows, a box for questions, sessions, locks, slow statements, figures; by the users of the server, with their
    /// rights. Nothing can be changed there without --web-writes. With --tls or --tls-cert it is https; beyond this machine
    /// that is needed.
    #[arg(long, value_name = "ADDR", env = "ROWFERRY_WEB", help_heading = DOORS)]
    web: Option<String>,

    /// A name by which browsers reach the page through a proxy of this machine; can be given more than once
    #[arg(long = "web-name", value_name = "HOST", requires = "web", help_heading = DOORS)]
    web_names: Vec<String>,

    /// Let users of the page change what they may change
    #[arg(long, requires = "web", help_heading = DOORS)]
    web_writes: bool,

    /// A user who may connect; can be given more than once
    ///
    /// Arguments are seen by other users of the machine: prefer the environment or --password-file.
    #[arg(long = "user", value_name = "NAME:PASSWORD", env = "ROWFERRY_USER", hide_env_values = true, help_heading = USERS)]
    users: Vec<String>,

    /// A file with a line `name:password` for each user; it must be readable by its owner only (chmod 600)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = USERS)]
    password_file: Option<PathBuf>,

    /// Rules of who may come in from where, and how they prove who they are: a file as PostgreSQL's pg_hba.conf
    ///
    /// Without it everybody proves a password when there are users. SIGHUP reads it again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = USERS)]
    hba: Option<PathBuf>,

    /// The user name maps that rules of --hba name (map=): a file as PostgreSQL's pg_ident.conf
    ///
    /// SIGHUP reads it again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "hba", help_heading = USERS)]
    ident: Option<PathBuf>,

    /// Let everybody on the network in without a password
    #[arg(long, help_heading = USERS)]
    trust_network: bool,

    /// Offer TLS with a certificate that is generated at start (clients can encrypt, but not verify)
    #[arg(long, help_heading = TLS)]
    tls: bool,

    /// Offer TLS with the certificate chain in this PEM file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_key", conflicts_with = "tls", help_heading = TLS)]
    tls_cert: Option<PathBuf>,

    /// The private key of --tls-cert, as PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_cert", help_heading = TLS)]
    tls_key: Option<PathBuf>,

    /// Look at the certificates that clients show: those that the authorities in this PEM file have signed are good
    ///
    /// Rules of --hba say who must show one (cert, clientcert=).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = TLS)]
    tls_client_ca: Option<PathBuf>,

    /// Refuse TCP clients that do not use TLS
    ///
    /// Unix sockets are exempt: what goes through them does not leave the machine.
    #[arg(long, help_heading = TLS)]
    tls_required: bool,

    /// Ask Informix clients for their password by a challenge, as servers with PAM do
    ///
    /// The answer must come within --handshake-timeout.
    #[arg(long, requires = "informix", help_heading = DOORS)]
    informix_pam: bool,

    /// When a transaction that was acknowledged is safe
    #[arg(long, value_enum, default_value_t, env = "ROWFERRY_DURABILITY", help_heading = FILE)]
    durability: DurabilityChoice,

    /// What becomes of the file's journal mode
    #[arg(long, value_enum, default_value_t, env = "ROWFERRY_JOURNAL", help_heading = FILE)]
    journal: JournalChoice,

    /// Whether Informix's clients may say what has no effect here
    ///
    /// Where a table is stored (IN, EXTENT SIZE, FRAGMENT BY, …), SET EXPLAIN and its kin, GRANT where everybody may do
    /// everything. `lenient` passes over it, and logs each as a remark; `strict` refuses it by name.
    #[arg(long, value_enum, default_value_t, requires = "informix", env = "ROWFERRY_COMPAT", help_heading = DOORS)]
    compat: Compat,

    /// Serve the databases of this directory, too, and let clients make and drop some there
    ///
    /// A database is the file `NAME.db` in it. Without this, CREATE DATABASE is refused.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = FILE)]
    databases: Option<PathBuf>,

    /// Keep beside a PostgreSQL server what it cannot have, in this SQLite file: routines in SPL, synonyms, named types
    ///
    /// Without it they cannot be made.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = FILE)]
    beside: Option<PathBuf>,

    /// Make what MySQL's rules need in the PostgreSQL database, or bring it up to date, before it is served
    ///
    /// Collations by which texts are compared as in MySQL, and functions of SQL, in a schema called rowferry. Wanted once
    /// before --mysql, and after an update that says so.
    #[arg(long, help_heading = FILE)]
    install: bool,

    /// Where a table lies in the cluster behind (Citus) once a client makes it; can be given more than once
    ///
    /// orders=distributed:customer spreads its rows over the nodes by that column, country=reference keeps a copy on
    /// each, log=local (as without it) leaves it on the node that is spoken to.
    #[arg(long, value_name = "TABLE=PLACE", help_heading = FILE)]
    place: Vec<String>,

    /// Refuse all writes
    #[arg(long, help_heading = FILE)]
    read_only: bool,

    /// Fail when the file does not exist, instead of creating it
    #[arg(long, help_heading = FILE)]
    no_create: bool,

    /// Seconds that a statement waits for the write lock before it fails (55P03); 0 is for ever
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, help_heading = SESSIONS)]
    lock_timeout: f64,

    /// The version of PostgreSQL that clients are told, for a client that asks for a newer one; what the server does
    /// stays the same
    #[arg(long, value_name = "VERSION", default_value = rowferry_engine::settings::SERVER_VERSION, help_heading = DOORS)]
    server_version: String,

    /// The version of MySQL that clients are told; what the server does stays the same
    #[arg(long, value_name = "VERSION", default_value = rowferry_server::mysql::SERVER_VERSION, help_heading = DOORS)]
    mysql_server_version: String,

    /// What a setting is in every session until its role or client says otherwise; can be given more than once
    ///
    /// As `postgres -c`: -c log_min_duration_statement=250ms, -c timezone=Europe/Berlin.
    #[arg(short = 'c', long = "setting", value_name = "NAME=VALUE", help_heading = SESSIONS)]
    settings: Vec<String>,

    /// Sessions at a time
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().max_connections, help_heading = SESSIONS)]
    max_connections: usize,

    /// Seconds in which a client must have authenticated
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, help_heading = SESSIONS)]
    handshake_timeout: f64,

    /// Seconds after which a session that says nothing is closed; 0 is never
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, help_heading = SESSIONS)]
    idle_timeout: f64,

    /// Seconds after which a session that says nothing inside a transaction is closed; 0 is never
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, help_heading = SESSIONS)]
    idle_in_transaction_timeout: f64,

    /// The longest message from a client, in mebibytes
    #[arg(long, value_name = "MIB", default_value_t = Limits::default().max_message / (1024 * 1024), help_heading = SESSIONS)]
    max_message: usize,

    #[command(flatten)]
    memory: MemoryArguments,

    /// Seconds for which statements may go on when the server is asked to stop
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, help_heading = LIFE)]
    stop_grace: f64,

    /// Stop when standard input ends, as when the program that started the server is gone
    ///
    /// Statements that run are not waited for.
    #[arg(long, help_heading = LIFE)]
    until_stdin_ends: bool,

    /// Tell where the server listens as one line of JSON on standard output, once it does
    ///
    /// `{"event":"listening","pid":…,"database":…,"journal":"wal","postgres":"127.0.0.1:40123",
    /// "unix":"/tmp/.s.PGSQL.5432"}`, with the doors that are open; `"journal_before":"delete"` when the file's journal
    /// mode was changed.
    #[arg(long, help_heading = LIFE)]
    json: bool,
}

impl Arguments {
    /// There is a certificate.
    fn tls(&self) -> bool {
        self.tls || self.tls_cert.is_some()
    }
}

/// Serves until the process is asked to stop.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    // From the beginning: a signal that comes while the file is opened must not end the process by surprise.
    let signals = signals::watch()?;
    let handed = service::handed()?;
    let doors = Doors::plan(&arguments, &handed)?;
    let version = read_version(&arguments)?;
    let users = read_users(&arguments)?;
    let rules = read_rules(&arguments)?;
    doors.check_trust(&arguments, &users)?;
    let tls = read_tls(&arguments)?.map(|config| Arc::new(Tls::new(config, arguments.tls_required)));
    if arguments.tls_required && tls.is_none() {
        return Err(Failure::new("--tls-required: there is no TLS to be had")
            .hint("give a certificate with --tls-cert and --tls-key, or have one generated with --tls"));
    }
    let mut limits = read_limits(&arguments)?;
    fit_connections(&mut limits);
    let session_memory = arguments.memory.apply()?;
    fit_messages(&mut limits, session_memory);
    if arguments.informix_pam && users.is_empty() && rules.is_none() {
        return Err(Failure::new("--informix-pam: there are no users to ask")
            .hint("configure them with --user or --password-file"));
    }
    let open_to_all = !users.is_empty() || rules.is_some();
    if open_to_all {
        rowferry_server::keep_new_files_private();
    }
    let mapped = arguments.memory.mapped()?;
    let options = Options { session_memory, mapped, measured: doors.metrics.is_some(), ..options(&arguments)? };
    let behind = upstream::of(&arguments)?;
    let database = match &behind {
        Some(server) => upstream::open(&arguments, Arc::clone(server), options.clone())?,
        None => open(&arguments, options.clone())?,
    };
    let databases = beside(&arguments, &database, options)?;
    set_defaults(&arguments, &database)?;
    if open_to_all {
        warn_of_readers(database.path());
    }

    let gate = Arc::new(Gate::new(users));
    if let Some(rules) = rules {
        let path = rules.path().to_owned();
        database.announce_rules(HostRules(Arc::new(move || hba::described(&path))));
        if let Some(path) = arguments.ident.as_deref().map(absolute) {
            database.announce_name_mappings(NameMappings(Arc::new(move || hba::described_mappings(&path))));
        }
        gate.set_rules(rules);
    }
    let mut server =
        Server::new(limits, tls.clone()).map_err(|error| Failure::new(format!("cannot start the server: {error}")))?;
    let postgres: Arc<dyn Door> = match &behind {
        // Their own conversation is with that server.
        Some(server) => Arc::new(server.relay()),
        None => Arc::new(PgDoor::new(databases.clone(), Arc::clone(&gate))),
    };
    let watched = databases.clone();
    let informix: Arc<dyn Door> =
        Arc::new(SqliDoor::new(databases.clone(), Arc::clone(&gate)).with_pam(arguments.informix_pam));
    let mysql: Arc<dyn Door> =
        Arc::new(MysqlDoor::new(databases, Arc::clone(&gate)).with_version(arguments.mysql_server_version.as_str()));
    let mut bound = Vec::new();
    let mut listen = |endpoint: &Endpoint, door: &Arc<dyn Door>| {
        server.listen(endpoint, Arc::clone(door), open_to_all).map_err(|error| {
            let failure = Failure::new(error.to_string());
            match error.error.kind() {
                io::ErrorKind::AddrInUse => failure.hint("another server is there; choose another port, or :0"),
                _ => failure,
            }
        })
    };
    if let Some(address) = doors.postgres {
        bound.push(listen(&Endpoint::Tcp(address), &postgres)?);
    }
    if let Some(directory) = &doors.unix_dir {
        let port = match bound.first() {
            Some(Bound { endpoint: Endpoint::Tcp(address), .. }) => address.port(),
            _ => POSTGRES_PORT,
        };
        let path = directory.join(format!(".s.PGSQL.{port}"));
        bound.push(listen(&Endpoint::Unix(path), &postgres)?);
    }
    if let Some(address) = doors.informix {
        bound.push(listen(&Endpoint::Tcp(address), &informix)?);
    }
    if let Some(address) = doors.mysql {
        bound.push(listen(&Endpoint::Tcp(address), &mysql)?);
    }
    if let Some(path) = &doors.mysql_socket {
        bound.push(listen(&Endpoint::Unix(path.clone()), &mysql)?);
    }
    for Handed { socket, door } in handed {
        let door = match door {
            service::INFORMIX => &informix,
            service::MYSQL => &mysql,
            _ => &postgres,
        };
        bound.push(server.adopt(socket, Arc::clone(door)));
    }

    let page = doors
        .web
        .map(|address| show(address, &mut server, &postgres, tls.as_ref(), &arguments, &database, &gate))
        .transpose()?;
    let exporter = doors.metrics.map(|address| export(address, watched, server.vitals())).transpose()?;

    let arguments = Arc::new(arguments);
    let reload = reload(Arc::clone(&arguments), Arc::clone(&gate), tls);
    let signals = signals.obey(server.stopper(), reload)?;
    if arguments.until_stdin_ends {
        lifeline::watch(server.stopper())?;
    }
    tell_sessions(&arguments, version, &database, &bound);
    let metrics = exporter.as_ref().map(Aside::address);
    let told = Told { metrics, web: page.as_ref().map(|page| (page.address(), arguments.tls())) };
    announce(&arguments, &database, &bound, &told, &gate.users())?;
    service::begin(server.beats())?;
    let result = server.run();
    drop(page);
    drop(exporter);
    signals.close();
    result.map_err(|error| Failure::new(format!("the server failed: {error}")))
}

/// The settings of --setting.
fn set_defaults(arguments: &Arguments, database: &Database) -> Result<(), Failure> {
    for setting in &arguments.settings {
        let Some((name, value)) = setting.split_once('=') else {
            return Err(Failure::new(format!("--setting: \"{setting}\" is not NAME=VALUE")));
        };
        database.set_default(name.trim(), value.trim()).map_err(|error| {
            let failure = Failure::new(format!("--setting: {}", error.message));
            match &error.hint {
                Some(hint) => failure.hint(hint.clone()),
                None => failure,
            }
        })?;
    }
    Ok(())
}

/// Begins to show the page.
fn show(
    address: SocketAddr,
    server: &mut Server,
    door: &Arc<dyn Door>,
    tls: Option<&Arc<Tls>>,
    arguments: &Arguments,
    database: &Database,
    gate: &Gate,
) -> Result<Aside, Failure> {
    let options = rowferry_web::Options {
        database: database.name().to_owned(),
        writes: arguments.web_writes,
        names: arguments.web_names.clone(),
        statement_timeout: WEB_STATEMENT_TIMEOUT,
        trusts: gate.users().is_empty() && arguments.hba.is_none(),
    };
    let page = server
        .introducer(Arc::clone(door))
        .and_then(|introducer| rowferry_web::show(Listening::at(address)?, introducer, tls.cloned(), options));
    page.map_err(|error| cannot_listen("--web", address, &error))
}

/// Begins to tell figures.
fn export(address: SocketAddr, databases: Databases, vitals: Vitals) -> Result<Aside, Failure> {
    let exporter = Listening::at(address).and_then(|listening| metrics::tell(listening, databases, vitals));
    exporter.map_err(|error| cannot_listen("--metrics", address, &error))
}

fn cannot_listen(option: &str, address: SocketAddr, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("{option}: cannot listen at {address}: {error}"));
    match error.kind() {
        io::ErrorKind::AddrInUse => failure.hint("another server is there; choose another port, or :0"),
        _ => failure,
    }
}

/// What SIGHUP does: reads the users and the certificate again. What cannot be read leaves everything as it is.
fn reload(arguments: Arc<Arguments>, gate: Arc<Gate>, tls: Option<Arc<Tls>>) -> Reload {
    Box::new(move || {
        let users = read_users(&arguments)?;
        let rules = read_rules(&arguments)?;
        if rules.is_none() && users.is_empty() != gate.users().is_empty() {
            return Err(Failure::new("whether there are users at all cannot change while the server runs"));
        }
        // One that was generated stays, if there are no authorities to read again.
        let certificate = match arguments.tls_cert.is_some() || arguments.tls_client_ca.is_some() {
            true => read_tls(&arguments)?,
            false => None,
        };
        tracing::info!(users = users.len(), certificate = certificate.is_some(), "read again at SIGHUP");
        gate.replace(users);
        if let Some(rules) = rules {
            gate.set_rules(rules);
        }
        if let (Some(tls), Some(certificate)) = (&tls, certificate) {
            tls.replace(certificate);
        }
        Ok(())
    })
}

/// What --server-version is as a number.
fn read_version(arguments: &Arguments) -> Result<u32, Failure> {
    let version = &arguments.server_version;
    rowferry_engine::settings::version_number(version).ok_or_else(|| {
        Failure::new(format!("--server-version: \"{version}\" is no version of PostgreSQL"))
            .hint("write 15.18 or 17; versions before 10 are too old for today's clients")
    })
}

fn read_users(arguments: &Arguments) -> Result<Users, Failure> {
    let mut users = Users::none();
    for user in &arguments.users {
        match user.split_once(':') {
            Some((name, password)) if !name.is_empty() => {
                users.add(name, password).map_err(|error| Failure::new(format!("--user {name}: {error}")))?;
            }
            // The text may be a password: it is not repeated.
            _ => return Err(Failure::new("--user: expected NAME:PASSWORD")),
        }
    }
    if let Some(path) = &arguments.password_file {
        users.add_file(path).map_err(|error| Failure::new(format!("--password-file: {error}")))?;
        if users.is_empty() {
            return Err(Failure::new(format!("--password-file: {}: no user in it", path.display())));
        }
    }
    Ok(users)
}

/// A path that can be found again from elsewhere.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The rules of --hba with the maps of --ident.
fn read_rules(arguments: &Arguments) -> Result<Option<hba::Rules>, Failure> {
    let Some(path) = &arguments.hba else { return Ok(None) };
    let maps = arguments.ident.as_deref().map(absolute);
    let rules =
        hba::Rules::read(&absolute(path), maps.as_deref()).map_err(|error| Failure::new(format!("--hba: {error}")))?;
    if rules.is_empty() {
        return Err(Failure::new(format!("--hba: {}: no rule in it, so that nobody could come in", path.display())));
    }
    if rules.ask_for_tls() && !arguments.tls && arguments.tls_cert.is_none() {
        tracing::warn!(path = %path.display(), "hostssl rules fit nobody: there is no TLS (--tls, --tls-cert)");
    }
    if rules.ask_for_certificates() && arguments.tls_client_ca.is_none() {
        return Err(Failure::new(format!("--hba: {}: rules ask for certificates of clients", path.display()))
            .hint("say who signs them with --tls-client-ca"));
    }
    Ok(Some(rules))
}

fn read_tls(arguments: &Arguments) -> Result<Option<tls::Config>, Failure> {
    let authorities = arguments.tls_client_ca.as_deref().map(tls::Authorities::read).transpose();
    let authorities = authorities.map_err(|error| Failure::new(format!("--tls-client-ca: {error}")))?;
    let config = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => Some(tls::from_files(certificate, key, authorities.as_ref())),
        _ if arguments.tls => Some(tls::generated(vec!["localhost".to_owned()], authorities.as_ref())),
        _ if authorities.is_some() => {
            return Err(Failure::new("--tls-client-ca: there is no TLS, so that no client can show a certificate")
                .hint("give a certificate with --tls-cert and --tls-key, or have one generated with --tls"));
        }
        _ => None,
    };
    config.transpose().map_err(|error| Failure::new(error.to_string()))
}

fn read_limits(arguments: &Arguments) -> Result<Limits, Failure> {
    let optional = |option, seconds| {
        let timeout = duration(option, seconds)?;
        Ok::<_, Failure>(Some(timeout).filter(|timeout| !timeout.is_zero()))
    };
    if arguments.max_connections == 0 || arguments.max_message == 0 {
        return Err(Failure::new("--max-connections and --max-message must be at least 1"));
    }
    Ok(Limits {
        max_connections: arguments.max_connections,
        handshake_timeout: duration("--handshake-timeout", arguments.handshake_timeout)?.max(Duration::from_millis(1)),
        idle_timeout: optional("--idle-timeout", arguments.idle_timeout)?,
        idle_in_transaction_timeout: optional("--idle-in-transaction-timeout", arguments.idle_in_transaction_timeout)?,
        // The wire cannot say more than 2 GiB.
        max_message: arguments.max_message.saturating_mul(1024 * 1024).min(i32::MAX as usize),
        stop_grace: duration("--stop-grace", arguments.stop_grace)?,
        ..Limits::default()
    })
}

fn duration(option: &str, seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Failure::new(format!("{option}: {seconds} is no number of seconds")))
}

/// The database and those of --databases.
fn beside(arguments: &Arguments, database: &Database, options: Options) -> Result<Databases, Failure> {
    let Some(directory) = &arguments.databases else { return Ok(Databases::single(database.clone())) };
    if !directory.is_dir() {
        return Err(Failure::new(format!("--databases: {} is no directory", directory.display()))
            .hint("make it first; its databases are the files NAME.db in it"));
    }
    let directory = std::path::absolute(directory)
        .map_err(|error| Failure::new(format!("--databases: {}: {error}", directory.display())))?;
    Ok(Databases::with_directory(database.clone(), directory, options))
}

fn options(arguments: &Arguments) -> Result<Options, Failure> {
    Ok(Options {
        durability: match arguments.durability {
            DurabilityChoice::Full => Durability::Full,
            DurabilityChoice::Normal => Durability::Normal,
            DurabilityChoice::Off => Durability::Off,
        },
        journal: match arguments.journal {
            JournalChoice::Wal => Journal::Wal,
            JournalChoice::Keep => Journal::Keep,
        },
        create: !arguments.no_create && !arguments.read_only,
        read_only: arguments.read_only,
        strict: arguments.compat == Compat::Strict,
        lock_timeout: duration("--lock-timeout", arguments.lock_timeout)?,
        // Of the eight MiB that the listener gives a session's thread.
        routine_stack: 5 * 1024 * 1024,
        password_verifier: Some(rowferry_server::auth::password_verifier),
        mysql_verifier: Some(rowferry_server::auth::mysql_verifier),
        ..Options::default()
    })
}

fn open(arguments: &Arguments, options: Options) -> Result<Database, Failure> {
    let path = &arguments.database;
    let database = if path == Path::new(":memory:") {
        Database::memory("memory", options)
    } else {
        if options.create && !path.exists() {
            tracing::info!(path = %path.display(), "the file does not exist: it is created");
        }
        Database::open(path, options)
    };
    database.map_err(|error| {
        let failure = Failure::new(format!("cannot open {}: {error}", path.display()));
        match &error.hint {
            Some(hint) => failure.hint(hint.clone()),
            None => failure,
        }
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn arguments(line: &[&str]) -> Arguments {
        Line::try_parse_from([&["serve", "app.db"], line].concat()).unwrap().arguments
    }

    fn checked(line: &[&str]) -> Result<Doors, String> {
        let arguments = arguments(line);
        let doors = Doors::plan(&arguments, &[]).map_err(|failure| failure.message)?;
        let users = read_users(&arguments).map_err(|failure| failure.message)?;
        doors.check_trust(&arguments, &users).map_err(|failure| failure.message)?;
        Ok(doors)
    }

    #[test]
    fn listens_on_loopback_unless_told() {
        assert_eq!(checked(&[]).unwrap().postgres.unwrap().to_string(), "127.0.0.1:5432");
        assert_eq!(checked(&["--postgres", ":0"]).unwrap().postgres.unwrap().to_string(), "127.0.0.1:0");
        let unix = checked(&["--unix-dir", "/tmp"]).unwrap();
        assert_eq!((unix.postgres, unix.unix_dir), (None, Some(PathBuf::from("/tmp"))));
    }

    #[test]
    fn refuses_the_network_without_users() {
        assert!(checked(&["--postgres", "0.0.0.0"]).unwrap_err().contains("without users"));
        assert!(checked(&["--postgres", "0.0.0.0", "--trust-network"]).is_ok());
        assert!(checked(&["--postgres", "0.0.0.0", "--user", "ada:secret"]).is_ok());
        assert_eq!(checked(&["--metrics", ":0"]).unwrap().metrics.unwrap().to_string(), "127.0.0.1:0");
        assert!(checked(&["--metrics", "0.0.0.0"]).unwrap_err().contains("--metrics"));
        assert!(checked(&["--metrics", "0.0.0.0", "--user", "ada:secret"]).is_ok());
        assert_eq!(checked(&["--web", ":0"]).unwrap().web.unwrap().to_string(), "127.0.0.1:0");
        assert!(checked(&["--web", "0.0.0.0"]).unwrap_err().contains("without users"));
        assert!(checked(&["--web", "0.0.0.0", "--user", "ada:secret"]).unwrap_err().contains("TLS"));
        let behind = |line: &[&str]| {
            let line = [&["serve", "postgresql://ada@db/store", "--postgres", "0.0.0.0"], line].concat();
            let arguments = Line::try_parse_from(line).unwrap().arguments;
            let doors = Doors::plan(&arguments, &[]).map_err(|failure| failure.message)?;
            doors.check_trust(&arguments, &Users::none()).map_err(|failure| failure.message)
        };
        assert!(behind(&[]).unwrap_err().contains("this machine"));
        assert!(behind(&["--trust-network"]).is_ok());
        assert!(checked(&["--web", "0.0.0.0", "--user", "ada:secret", "--tls"]).is_ok());
    }

    #[test]
    fn says_what_is_wrong_without_repeating_passwords() {
        assert_eq!(checked(&["--user", "secret"]).unwrap_err(), "--user: expected NAME:PASSWORD");
        assert!(checked(&["--postgres", "nowhere"]).unwrap_err().contains("nowhere"));
        let limits = |line| read_limits(&arguments(line)).map_err(|failure| failure.message);
        assert!(limits(&["--stop-grace=-1"]).unwrap_err().contains("--stop-grace"));
        assert!(limits(&["--max-connections", "0"]).is_err());
        assert_eq!(limits(&["--idle-timeout", "0"]).unwrap().idle_timeout, None);
    }

    #[test]
    fn announces_a_version_with_its_number() {
        let version = |line| read_version(&arguments(line)).map_err(|failure| failure.message);
        assert_eq!(version(&[]).unwrap() / 10_000, 15);
        assert_eq!(version(&["--server-version", "17.2"]).unwrap(), 170_002);
        assert!(version(&["--server-version", "9.6"]).unwrap_err().contains("--server-version"));
    }
}
