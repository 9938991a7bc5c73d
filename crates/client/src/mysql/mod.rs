//! The smallest complete MySQL driver: blocking, text in and text out, for the command line.

mod local_file;
mod markers;
mod template;

use std::fmt;

use rowferry_wire::{Malformed, Secret};
use rowferry_wire_mysql::client::{Client, Event, Failure, Misuse, Options, TlsPolicy};
use rowferry_wire_mysql::messages::handshake::{Login, capability};
use rowferry_wire_mysql::messages::resultset::{BinaryRow, ColumnDefinition, TextRow};
use rowferry_wire_mysql::messages::statement::Params;
use rowferry_wire_mysql::messages::status::{ServerError, status_flag};
use rowferry_wire_mysql::types::BinaryForm;

pub use local_file::local_files;
pub use markers::{only_reads, question_marks};
pub use template::{InsertParts, Outline, Piece, Template, TemplateError, split_insert};

use crate::url::unknown_option;
use crate::{Address, Opening, Pump, Timeouts, TlsMode, TlsOptions, Url};

/// The port where MySQL servers listen.
pub const PORT: u16 = 3306;

/// Options of a URL.
const OPTIONS: [&str; 7] =
    ["unix_socket", "ssl_mode", "ssl_ca", "ssl_cert", "ssl_key", "connect_timeout", "read_timeout"];

/// Why a statement or connection failed.
#[derive(Debug)]
pub enum Error {
    /// Bytes do not move any more.
    Transport(crate::Error),
    /// The conversation cannot go on.
    Protocol(Failure),
    /// The server's own answer; the connection goes on.
    Server(ServerError),
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
            Self::Server(error) => error.fmt(f),
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

impl From<TlsMode> for TlsPolicy {
    fn from(mode: TlsMode) -> Self {
        match mode {
            TlsMode::Disabled => Self::Never,
            TlsMode::Preferred => Self::IfOffered,
            TlsMode::Required | TlsMode::VerifyCa | TlsMode::VerifyIdentity => Self::Always,
        }
    }
}

/// Where and how to connect.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the server listens.
    pub address: Address,
    /// Who connects.
    pub login: Login,
    /// When to encrypt, and what to check.
    pub tls: TlsOptions,
    /// How long to wait.
    pub timeouts: Timeouts,
}

impl Config {
    /// Reads `mysql://user:password@host:port/database`, with the options `unix_socket` (a path), `ssl_mode`
    /// (`disabled`, `preferred`, `required`, `verify_ca`, `verify_identity`; by default `preferred`, on unix sockets
    /// `disabled`), `ssl_ca`, `ssl_cert`, `ssl_key` (paths), `connect_timeout` and `read_timeout` (seconds).
    pub fn from_url(url: &Url) -> Result<Self, Error> {
        let misuse = |message: String| Error::Misuse(message);
        let mut tls = TlsOptions { mode: TlsMode::Preferred, ..TlsOptions::default() };
        let mut timeouts = Timeouts::default();
        let host = if url.host.is_empty() { "127.0.0.1" } else { &url.host };
        let mut address = Address::Tcp(host.into(), url.port.unwrap_or(PORT));
        for (name, value) in &url.options {
            let seconds = || {
                let seconds = value.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds < 1e9);
                let seconds = seconds.ok_or_else(|| misuse(format!("`{name}={value}`: expected seconds")))?;
                Ok::<_, Error>(Some(std::time::Duration::from_secs_f64(seconds)))
            };
            match name.as_str() {
                "unix_socket" => {
                    address = Address::Unix(value.into());
                    tls.mode = TlsMode::Disabled;
                }
                "ssl_mode" => {}
                "ssl_ca" => tls.ca = Some(value.into()),
                "ssl_cert" => tls.certificate = Some(value.into()),
                "ssl_key" => tls.key = Some(value.into()),
                "connect_timeout" => timeouts.connect = seconds()?,
                "read_timeout" => timeouts.read = seconds()?,
                _ => return Err(misuse(unknown_option(name, &OPTIONS))),
            }
        }
        if let Some(mode) = url.option("ssl_mode") {
            tls.mode = parse_tls_mode(mode).ok_or_else(|| {
                let modes = "disabled, preferred, required, verify_ca, verify_identity";
                misuse(format!("`ssl_mode={mode}`: expected one of {modes}"))
            })?;
        }
        let login = Login {
            user: url.user.clone(),
            password: url.password.clone().unwrap_or_else(|| Secret::new("")),
            database: url.database.clone(),
        };
        Ok(Self { address, login, tls, timeouts })
    }
}

/// Reads the name of a TLS mode as MySQL spells it, in any case, with `-` or `_`.
pub fn parse_tls_mode(name: &str) -> Option<TlsMode> {
    Some(match name.to_ascii_lowercase().replace('-', "_").as_str() {
        "disabled" => TlsMode::Disabled,
        "preferred" => TlsMode::Preferred,
        "required" => TlsMode::Required,
        "verify_ca" => TlsMode::VerifyCa,
        "verify_identity" => TlsMode::VerifyIdentity,
        _ => return None,
    })
}

/// One result of a statement.
#[derive(Clone, Debug, Default)]
pub struct QueryResult {
    /// Empty for statements without rows.
    pub columns: Vec<ColumnDefinition>,
    /// Cells as the server spells them; `None` for NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// Rows inserted, changed or deleted.
    pub affected_rows: u64,
    /// The first number that AUTO_INCREMENT gave out, 0 when none.
    pub last_insert_id: u64,
}

impl QueryResult {
    /// The names of the columns.
    pub fn column_names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }
}

/// What a statement answers, in the order in which it comes.
#[derive(Debug)]
pub enum Answer<'a> {
    /// The rows to come have these columns.
    Columns(&'a [ColumnDefinition]),
    /// Its columns and a row as the text protocol has it; `None` is NULL.
    Row(&'a [ColumnDefinition], &'a [Option<&'a [u8]>]),
    /// There are no more rows.
    EndOfRows,
    /// A statement without rows has ended.
    Done {
        /// Rows that it has changed.
        affected_rows: u64,
        /// The first number that AUTO_INCREMENT has given, 0 for none.
        last_insert_id: u64,
    },
}

/// A connection, blocking. Dropping it closes it.
#[derive(Debug)]
pub struct Connection {
    pump: Pump<Client>,
}

/// The host that a certificate must be issued for.
pub fn server_name(address: &Address) -> &str {
    match address {
        Address::Tcp(host, _) => host,
        Address::Unix(_) => "localhost",
    }
}

impl Connection {
    /// Connects and logs in.
    pub fn connect(config: &Config) -> Result<Self, Error> {
        let mut seed = [0; 32];
        rand::RngCore::fill_bytes(&mut rand::rng(), &mut seed);
        let client = Client::new(Options {
            login: config.login.clone(),
            tls: config.tls.mode.into(),
            secure_transport: matches!(config.address, Address::Unix(_)),
            capabilities: capability::MULTI_STATEMENTS,
            seed,
            ..Options::default()
        });
        let mut pump = Pump::connect(&config.address, config.timeouts, Opening::default(), client)?;
        loop {
            match pump.core_mut().poll()? {
                Event::Pending => pump.advance()?,
                Event::StartTls => {
                    pump.start_tls(config.tls.config(&config.address)?, server_name(&config.address))?;
                    pump.core_mut().tls_started();
                }
                Event::Connected => return Ok(Self { pump }),
                Event::Error(error) => return Err(Error::Server(error)),
                other => return Err(out_of_place(&other)),
            }
        }
    }

    /// Runs one or several statements and collects the last result that has rows, else the last result.
    pub fn query(&mut self, sql: &str) -> Result<QueryResult, Error> {
        let mut last = QueryResult::default();
        self.query_each(sql, |result| {
            if !result.columns.is_empty() || last.columns.is_empty() {
                last = result;
            }
        })?;
        Ok(last)
    }

    /// Runs one or several statements and hands each result to `each`.
    pub fn query_each(&mut self, sql: &str, mut each: impl FnMut(QueryResult)) -> Result<(), Error> {
        let mut result = QueryResult::default();
        self.answers(sql.as_bytes(), |answer| {
            match answer {
                Answer::Columns(columns) => result.columns = columns.to_vec(),
                Answer::Row(columns, row) => result.rows.push(shown(columns, row)),
                Answer::EndOfRows => each(std::mem::take(&mut result)),
                Answer::Done { affected_rows, last_insert_id } => {
                    each(QueryResult { affected_rows, last_insert_id, ..QueryResult::default() });
                }
            }
            Ok(())
        })
    }

    /// Runs one or several statements and hands on what they answer as it comes.
    ///
    /// # Errors
    ///
    /// The server's own, after which the connection goes on; and any other, `take`'s among them, after which it is of no more
    /// use.
    pub fn answers<E: From<Error>>(
        &mut self,
        sql: &[u8],
        mut take: impl FnMut(Answer<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pump.core_mut().query(sql).map_err(Error::from)?;
        let mut columns = Vec::new();
        loop {
            match self.pump.core_mut().poll().map_err(Error::from)? {
                Event::Pending => self.pump.advance().map_err(Error::from)?,
                Event::Columns(told) => {
                    columns.clone_from(&told.definitions);
                    take(Answer::Columns(&columns))?;
                }
                Event::Row(payload) => {
                    let mut cells = TextRow::new(payload);
                    let mut row = Vec::with_capacity(columns.len());
                    for _ in &columns {
                        row.push(cells.cell().map_err(Error::from)?);
                    }
                    cells.finish().map_err(Error::from)?;
                    take(Answer::Row(&columns, &row))?;
                }
                Event::Done { ok, more } | Event::EndOfRows { ok, more } => {
                    take(match columns.is_empty() {
                        true => Answer::Done { affected_rows: ok.affected_rows, last_insert_id: ok.last_insert_id },
                        false => Answer::EndOfRows,
                    })?;
                    columns.clear();
                    if !more {
                        return Ok(());
                    }
                }
                Event::Error(error) => return Err(Error::Server(error).into()),
                other => return Err(out_of_place(&other).into()),
            }
        }
    }

    /// Runs one statement by the binary protocol, which has all digits of numbers, and hands on its rows as they come: their
    /// columns to `begin`, then each to `each`. The parameters are texts, which the server takes as the types that it finds.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`] for a statement without rows, and for more or fewer values than parameters: it is not run. The
    /// server's own, after which the connection goes on; and any other, those of `begin` and `each` among them, after
    /// which it is of no more use.
    pub fn read<E: From<Error>>(
        &mut self,
        sql: &[u8],
        parameters: &[Option<&str>],
        mut begin: impl FnMut(&[ColumnDefinition]) -> Result<(), E>,
        mut each: impl FnMut(&[ColumnDefinition], &[Option<&[u8]>]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pump.core_mut().prepare(sql).map_err(Error::from)?;
        let prepared = loop {
            match self.pump.core_mut().poll().map_err(Error::from)? {
                Event::Pending => self.pump.advance().map_err(Error::from)?,
                Event::Prepared(prepared) => break prepared,
                Event::Error(error) => return Err(Error::Server(error).into()),
                other => return Err(out_of_place(&other).into()),
            }
        };
        if prepared.params != parameters.len() {
            let (wants, given) = (prepared.params, parameters.len());
            let message = format!("the statement has {wants} parameters, and {given} values are given");
            return Err(Error::Misuse(message).into());
        }
        if prepared.columns.as_ref().is_none_or(|columns| columns.definitions.is_empty()) {
            return Err(Error::Misuse("the statement answers no rows".into()).into());
        }
        let mut params = Params::default();
        for parameter in parameters {
            match parameter {
                Some(text) => params.text(text.as_bytes()),
                None => params.null(),
            }
        }
        self.pump.core_mut().execute(prepared.statement, &params).map_err(Error::from)?;
        let mut columns = Vec::new();
        let mut forms = Vec::new();
        loop {
            match self.pump.core_mut().poll().map_err(Error::from)? {
                Event::Pending => self.pump.advance().map_err(Error::from)?,
                Event::Columns(told) => {
                    columns.clone_from(&told.definitions);
                    let form =
                        |column: &ColumnDefinition| column.column_type.binary_form().unwrap_or(BinaryForm::Bytes);
                    forms = columns.iter().map(form).collect();
                    begin(&columns)?;
                }
                Event::Row(payload) => {
                    let mut cells = BinaryRow::new(payload, columns.len()).map_err(Error::from)?;
                    let mut row = Vec::with_capacity(columns.len());
                    for form in &forms {
                        row.push(cells.cell(*form).map_err(Error::from)?);
                    }
                    cells.finish().map_err(Error::from)?;
                    each(&columns, &row)?;
                }
                Event::EndOfRows { more: false, .. } => {
                    self.pump.core_mut().close_statement(prepared.statement).map_err(Error::from)?;
                    self.pump.flush().map_err(Error::from)?;
                    return Ok(());
                }
                Event::EndOfRows { .. } | Event::Done { .. } => {
                    return Err(
                        Error::Misuse("the statement has more than one answer, or none with rows".into()).into()
                    );
                }
                Event::Error(error) => return Err(Error::Server(error).into()),
                other => return Err(out_of_place(&other).into()),
            }
        }
    }

    /// What `KILL` takes.
    pub fn id(&self) -> u32 {
        self.pump.core().session().connection_id
    }

    /// A transaction is open.
    pub fn in_transaction(&self) -> bool {
        self.pump.core().session().status & status_flag::IN_TRANSACTION != 0
    }

    /// The default database where a statement has changed it, as far as the server tells.
    pub fn database(&self) -> Option<&str> {
        self.pump.core().session().state.schema.as_deref()
    }

    /// Runs one statement and hands its rows to `each` as they come, cell by cell, `None` for NULL; the number of rows that
    /// it changed.
    ///
    /// # Errors
    ///
    /// Those of `each` come back as they are; the connection is of no further use then, as after any error but the
    /// server's.
    pub fn query_rows<E: From<Error>>(
        &mut self,
        sql: &[u8],
        mut each: impl FnMut(&[Option<&[u8]>]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut affected = 0;
        self.answers(sql, |answer| match answer {
            Answer::Row(_, row) => each(row),
            Answer::Done { affected_rows, .. } => {
                affected += affected_rows;
                Ok(())
            }
            Answer::Columns(_) | Answer::EndOfRows => Ok(()),
        })?;
        Ok(affected)
    }

    /// Sets the hook that is asked while the connection waits; see [`Pump::set_keep_waiting`].
    pub fn set_keep_waiting(&mut self, hook: crate::KeepWaiting) {
        self.pump.set_keep_waiting(hook);
    }

    /// What the server has said about itself.
    pub fn server_version(&self) -> &str {
        &self.pump.core().session().server_version
    }

    /// The TLS version and cipher in use; `None` in plain text.
    pub fn tls_description(&self) -> Option<String> {
        self.pump.channel().tls_description()
    }

    /// Says good bye and closes.
    pub fn close(mut self) -> Result<(), Error> {
        self.say_goodbye()
    }

    /// Says good bye; nothing can be asked any more.
    pub fn say_goodbye(&mut self) -> Result<(), Error> {
        // In the middle of an answer it is not heard.
        if self.pump.core().is_idle() {
            self.pump.core_mut().quit()?;
            self.pump.flush()?;
        }
        Ok(())
    }
}

/// A row for people; `None` is NULL.
pub fn shown(columns: &[ColumnDefinition], row: &[Option<&[u8]>]) -> Vec<Option<String>> {
    columns.iter().zip(row).map(|(column, cell)| cell.map(|bytes| as_text(column, bytes))).collect()
}

/// Text as it is; bytes that are no text as `0x…`.
fn as_text(column: &ColumnDefinition, bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !column.is_binary() || text.chars().all(|c| !c.is_control() || c.is_whitespace()) => text.into(),
        _ => bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}")),
    }
}

fn out_of_place(event: &Event<'_>) -> Error {
    Error::Misuse(format!("event out of place: {event:?}"))
}
