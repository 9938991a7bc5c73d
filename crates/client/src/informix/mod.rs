//! The smallest complete Informix driver: blocking, text out, for the command line. Also what every Informix driver of
//! ours needs outside the protocol: [`placeholders`](parse), [texts of errors](error_text).

mod errors;
mod known;
mod many;
mod placeholders;
mod text;

use std::fmt;
use std::sync::Arc;

use rowferry_wire::Malformed;
use rowferry_wire_sqli::client::{Client, Event, Failure, Misuse, Options, Outcome, Params, Prepared, SqlError};
use rowferry_wire_sqli::login::{ApplicationInfo, ProcessInfo, RequestBlock};
use rowferry_wire_sqli::messages::{Param, ParamValue};
use rowferry_wire_sqli::{TypeCode, URGENT_INTERRUPT};

use crate::url::unknown_option;
use crate::{Address, Handle, Opening, Pump, Timeouts, TlsMode, TlsOptions, Url, legible};

pub use errors::{Kind, error_kind, error_text, message};
pub use known::Known;
pub use placeholders::{List, Placeholder, PlaceholderError, Statement, count_questions, expand, parse, wants_list};
pub use rowferry_wire_sqli::client::Column;
pub use text::cell_bytes;

/// The port where Informix servers listen.
pub const PORT: u16 = 9088;

/// DBSERVERNAME when none is given.
pub const SERVER: &str = "informix";

/// The DBSERVERNAME that the environment gives to the servers of a URL's scheme: `gbase8s` is for GBase 8s, whose settings have
/// other names.
fn server_of_environment(scheme: &str) -> Option<String> {
    let mut names = ["INFORMIXSERVER", "GBASEDBTSERVER"];
    if scheme == "gbase8s" {
        names.reverse();
    }
    names.iter().find_map(|name| std::env::var(name).ok().filter(|server| !server.is_empty()))
}

/// Options of a URL.
const OPTIONS: [&str; 6] = ["server", "client_locale", "tls", "tls_ca", "connect_timeout", "read_timeout"];

/// Why a statement or connection failed.
#[derive(Debug)]
pub enum Error {
    /// Bytes do not move any more.
    Transport(crate::Error),
    /// The conversation cannot go on.
    Protocol(Failure),
    /// The server's own answer; after the login the connection goes on.
    Server(SqlError),
    /// The caller's mistake.
    Misuse(String),
    /// Whoever takes the rows could not; what was still to come is not read.
    Output(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Protocol(failure) => failure.fmt(f),
            Self::Server(error) => f.write_str(&message(error)),
            Self::Misuse(message) => f.write_str(message),
            Self::Output(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Transport(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Protocol(failure)
    }
}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Self {
        Self::Misuse(misuse.to_string())
    }
}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Self {
        Self::Protocol(malformed.into())
    }
}

/// Where and how to connect.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the server listens.
    pub address: Address,
    /// Who connects, to which database.
    pub options: Options,
    /// `None` for plain text. Informix has ports of their own for TLS.
    pub tls: Option<TlsOptions>,
    /// How long to wait.
    pub timeouts: Timeouts,
}

impl Config {
    /// Reads `informix://user:password@host:port/database`, or the same as `gbase8s://`, with the options `server` (DBSERVERNAME), `client_locale`
    /// (by default `en_US.utf8`), `tls` (`required`, `verify_ca`, `verify_identity`), `tls_ca` (a path),
    /// `connect_timeout` and `read_timeout` (seconds).
    pub fn from_url(url: &Url) -> Result<Self, Error> {
        let mut timeouts = Timeouts::default();
        let (mut server, mut locale) = (None, "en_US.utf8");
        let (mut tls, mut authority) = (None, None);
        for (name, value) in &url.options {
            let seconds = || {
                let seconds = value.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds < 1e9);
                let seconds = seconds.ok_or_else(|| Error::Misuse(format!("`{name}={value}`: expected seconds")))?;
                Ok::<_, Error>(Some(std::time::Duration::from_secs_f64(seconds)))
            };
            match name.as_str() {
                "server" => server = Some(value.clone()),
                "client_locale" => locale = value,
                "tls" => tls = Some(value.as_str()),
                "tls_ca" => authority = Some(value.into()),
                "connect_timeout" => timeouts.connect = seconds()?,
                "read_timeout" => timeouts.read = seconds()?,
                _ => return Err(Error::Misuse(unknown_option(name, &OPTIONS))),
            }
        }
        let mode = match tls {
            None | Some("disabled") => None,
            Some("required") => Some(TlsMode::Required),
            Some("verify_ca") => Some(TlsMode::VerifyCa),
            Some("verify_identity") => Some(TlsMode::VerifyIdentity),
            Some(other) => {
                let modes = "disabled, required, verify_ca, verify_identity";
                return Err(Error::Misuse(format!("`tls={other}`: expected one of {modes}")));
            }
        };
        let tls = mode.map(|mode| TlsOptions { mode, ca: authority, ..TlsOptions::default() });
        let server = match server.or_else(|| server_of_environment(&url.scheme)) {
            Some(server) => server,
            None if url.scheme == "gbase8s" => {
                let message = "the server has no name: add ?server=NAME to the URL, or set GBASEDBTSERVER";
                return Err(Error::Misuse(message.into()));
            }
            None => SERVER.to_owned(),
        };
        let password = url.password.as_ref().map_or("", |password| password.expose());
        let mut options = Options::new(url.user.as_bytes(), password.as_bytes(), server.as_bytes())
            .with_environment(locale.as_bytes(), &[])
            .with_process(this_process(), this_application());
        if !url.database.is_empty() {
            options.database = Some(url.database.as_bytes().to_vec());
        }
        let host = if url.host.is_empty() { "127.0.0.1" } else { &url.host };
        let address = Address::Tcp(host.into(), url.port.unwrap_or(PORT));
        Ok(Self { address, options, tls, timeouts })
    }

    /// What stands in double quotes is a name (DELIMIDENT), so that names of any letters can be written.
    #[must_use]
    pub fn with_quoted_names(mut self) -> Self {
        for block in &mut self.options.login.blocks {
            if let RequestBlock::Environment(entries) = block {
                entries.push((b"DELIMIDENT".to_vec(), b"y".to_vec()));
            }
        }
        self
    }
}

/// What the login packet says of this process. Host, terminal and directory are nobody's business.
pub fn this_process() -> ProcessInfo {
    ProcessInfo { pid: i32::try_from(std::process::id()).unwrap_or(0), ..ProcessInfo::default() }
}

/// What the login packet says of this program.
pub fn this_application() -> ApplicationInfo {
    ApplicationInfo { name: b"rowferry".to_vec(), ..ApplicationInfo::default() }
}

/// The result of a statement.
#[derive(Clone, Debug, Default)]
pub struct QueryResult {
    /// Empty for statements without rows.
    pub columns: Vec<Column>,
    /// Cells as Informix prints them; `None` for NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// Rows inserted, changed or deleted.
    pub affected_rows: i64,
    /// The value that a serial column was given, 0 when none.
    pub serial: i64,
}

/// What a statement answers, in the order in which it comes.
#[derive(Debug)]
pub enum Answer<'a> {
    /// The rows to come have these columns.
    Columns(&'a [Column]),
    /// A row; `None` is NULL.
    Row(Vec<Option<Vec<u8>>>),
    /// There are no more rows.
    EndOfRows,
    /// A statement without rows has ended.
    Done {
        /// Rows inserted, changed or deleted.
        affected_rows: i64,
        /// The value that a serial column was given, 0 when none.
        serial: i64,
    },
}

/// Takes what a statement answers.
type Take<'a> = &'a mut dyn FnMut(Answer<'_>) -> std::io::Result<()>;

/// A connection, blocking. Dropping it closes it.
#[derive(Debug)]
pub struct Connection {
    pump: Pump<Client>,
}

impl Connection {
    /// Connects, logs in and opens the database. Follows one redirection.
    pub fn connect(config: &Config) -> Result<Self, Error> {
        match Self::connect_to(&config.address, config)? {
            Ok(connection) => Ok(connection),
            Err(detail) => {
                let address = redirected(&detail)
                    .ok_or_else(|| Error::Misuse(format!("the server redirects to `{detail}`, which is no address")))?;
                Self::connect_to(&address, config)?
                    .map_err(|_| Error::Misuse("the server redirects a second time".to_owned()))
            }
        }
    }

    /// A connection, or where the server sends us.
    fn connect_to(address: &Address, config: &Config) -> Result<Result<Self, String>, Error> {
        let client = Client::new(config.options.clone())?;
        let opening = Opening { speaks_first: true, ..Opening::default() };
        let mut pump = Pump::connect(address, config.timeouts, opening, client)?;
        if let Some(tls) = &config.tls {
            pump.channel_mut().start_tls(tls.config(address)?, crate::mysql::server_name(address))?;
        }
        loop {
            match pump.core_mut().poll()? {
                Event::Pending => pump.advance()?,
                Event::Connected => return Ok(Ok(Self { pump })),
                Event::Redirect(detail) => return Ok(Err(String::from_utf8_lossy(&detail).into_owned())),
                Event::Error(error) => return Err(Error::Server(error)),
                Event::Challenge { .. } => {
                    return Err(Error::Misuse(
                        "the server asks questions (PAM), which nobody is here to answer".into(),
                    ));
                }
                other => return Err(out_of_place(&other)),
            }
        }
    }

    /// Runs a statement and collects its rows.
    pub fn query(&mut self, sql: &str) -> Result<QueryResult, Error> {
        let mut result = QueryResult::default();
        self.answers(sql, &[], &mut |answer| {
            match answer {
                Answer::Columns(columns) => result.columns = columns.to_vec(),
                Answer::Row(row) => {
                    result.rows.push(row.into_iter().map(|cell| cell.map(|bytes| legible(bytes).0)).collect());
                }
                Answer::EndOfRows => {}
                Answer::Done { affected_rows, serial } => {
                    (result.affected_rows, result.serial) = (affected_rows, serial);
                }
            }
            Ok(())
        })?;
        Ok(result)
    }

    /// Runs a statement and hands on what it answers as it comes. Its `?` are given these texts, which the server takes as the
    /// types that it finds, or NULL.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`] when there are more or fewer values than `?`, or a text is too long for one: nothing was sent. The
    /// server's own, after which the connection goes on; and any other, after which it is of no more use.
    pub fn answers(&mut self, sql: &str, values: &[Option<&str>], take: Take<'_>) -> Result<(), Error> {
        let (params, count) = texts(sql, values)?;
        self.pump.core_mut().prepare(sql.as_bytes(), count)?;
        let mut prepared = None;
        loop {
            let outcome = self.drive(&mut prepared, &params, take)?;
            match &prepared {
                Some(prepared) if outcome.more => self.pump.core_mut().fetch(prepared)?,
                prepared => {
                    if let Some(prepared) = prepared.as_ref().filter(|prepared| prepared.has_lobs()) {
                        self.pump.core_mut().close(prepared);
                    }
                    let answer = match prepared.as_ref().is_some_and(|prepared| prepared.is_query()) {
                        true => Answer::EndOfRows,
                        false => Answer::Done { affected_rows: outcome.rows, serial: outcome.serial },
                    };
                    return take(answer).map_err(Error::Output);
                }
            }
        }
    }

    fn drive(
        &mut self,
        prepared: &mut Option<Arc<Prepared>>,
        params: &Params,
        take: Take<'_>,
    ) -> Result<Outcome, Error> {
        loop {
            match self.pump.core_mut().poll()? {
                Event::Pending => self.pump.advance()?,
                Event::Prepared(statement) => {
                    if statement.is_query() {
                        take(Answer::Columns(&statement.columns)).map_err(Error::Output)?;
                    }
                    *prepared = Some(statement);
                    self.pump.core_mut().run(params, false)?;
                }
                Event::Row(payload) => {
                    let Some(prepared) = prepared else { continue };
                    let mut row = Vec::with_capacity(prepared.columns.len());
                    prepared.decode_row(payload, |at, cell| row.push(cell_bytes(&prepared.columns[at], &cell)))?;
                    take(Answer::Row(row)).map_err(Error::Output)?;
                }
                Event::Done(outcome) => return Ok(outcome),
                Event::Error(error) => return Err(Error::Server(error)),
                other => return Err(out_of_place(&other)),
            }
        }
    }

    /// The server's version with its product name, as the login has it.
    pub fn server_version(&self) -> String {
        String::from_utf8_lossy(&self.pump.core().session().server_version).into_owned()
    }

    /// A transaction is open that was begun here.
    pub fn in_transaction(&self) -> bool {
        self.pump.core().session().in_transaction
    }

    /// What stops a statement of this connection from another thread, by a byte of urgent data.
    pub fn canceller(&self) -> Canceller {
        Canceller(self.pump.stream().handle())
    }

    /// Says good bye and closes.
    pub fn close(mut self) -> Result<(), Error> {
        self.pump.core_mut().exit()?;
        Ok(self.pump.flush_last()?)
    }

    /// Says good bye; nothing can be asked any more.
    pub fn say_goodbye(&mut self) -> Result<(), Error> {
        self.pump.core_mut().exit()?;
        self.pump.flush()?;
        Ok(())
    }
}

/// Values for the `?` of a statement, as texts, and how many they are.
fn texts(sql: &str, values: &[Option<&str>]) -> Result<(Params, u16), Error> {
    let questions = count_questions(sql);
    if questions != values.len() {
        return Err(Error::Misuse(format!("the statement has {questions} `?`, and {} values are given", values.len())));
    }
    let mut params = Params::default();
    for value in values {
        let param = match value {
            Some(text) => Param::new(TypeCode::CHAR, 0, ParamValue::Text(text.as_bytes())),
            None => Param::NULL,
        };
        params.push(&param).map_err(|error| Error::Misuse(error.to_string()))?;
    }
    Ok((params, u16::try_from(questions).unwrap_or(u16::MAX)))
}

/// Stops the statement that a connection is at.
#[derive(Debug)]
pub struct Canceller(Handle);

impl Canceller {
    /// Asks the server. Only while a statement runs: a byte that comes late would stop the next.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub fn cancel(&self) -> std::io::Result<()> {
        self.0.send_urgent(URGENT_INTERRUPT)
    }
}

/// The address in `server=host|port`.
pub fn redirected(detail: &str) -> Option<Address> {
    let (host, port) = detail.split_once('=')?.1.split_once('|')?;
    Some(Address::Tcp(host.into(), port.trim_end_matches('\0').parse().ok()?))
}

fn out_of_place(event: &Event<'_>) -> Error {
    Error::Misuse(format!("event out of place: {event:?}"))
}
