//! The smallest complete PostgreSQL driver: blocking, text out, rows as they come, for the command line.

use std::fmt;

use rowferry_wire_pg::client::{Client, Event, Failure, Options, TlsPolicy};
use rowferry_wire_pg::messages::{CancelRequest, FieldDescription, Notice, StartupPacket, TransactionStatus, Values};

use crate::mysql::{parse_tls_mode, server_name};
use crate::stream::Moved;
use crate::url::unknown_option;
use crate::{Address, Opening, Pump, Stream, Timeouts, TlsMode, TlsOptions, Url};

/// The port where PostgreSQL servers listen.
pub const PORT: u16 = 5432;

/// Clients begin.
const OPENING: Opening = Opening { bind: None, keepalive: true, speaks_first: true };

/// How long a server may take to pass a cancellation on.
const CANCEL_WAIT: std::time::Duration = std::time::Duration::from_secs(5);

/// Options of a URL: those of libpq that mean something here.
const OPTIONS: [&str; 10] =
    ["host", "port", "user", "password", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout"];

/// Why a statement or connection failed.
#[derive(Debug)]
pub enum Error {
    /// Bytes do not move any more.
    Transport(crate::Error),
    /// The conversation cannot go on.
    Protocol(Failure),
    /// The server's own answer; the connection goes on.
    Server(Box<Notice<'static>>),
    /// The caller's mistake.
    Misuse(String),
    /// Whoever takes the rows could not.
    Output(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Protocol(failure) => failure.fmt(f),
            Self::Server(notice) => write!(f, "{} (SQLSTATE {})", notice.message, notice.sqlstate),
            Self::Misuse(message) => f.write_str(message),
            Self::Output(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// The SQLSTATE of the server's answer, at the login too.
    pub fn sqlstate(&self) -> Option<&str> {
        match self {
            Self::Server(notice) | Self::Protocol(Failure::Refused(notice)) => Some(&notice.sqlstate),
            _ => None,
        }
    }
}

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

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

/// Takes what statements answer, in the order in which it comes.
pub trait Answers {
    /// The rows to come have these columns.
    fn columns(&mut self, columns: &[FieldDescription<'_>]) -> std::io::Result<()>;
    /// A row in text form; `None` is NULL.
    fn row(&mut self, cells: &mut dyn Iterator<Item = Option<&[u8]>>) -> std::io::Result<()>;
    /// A statement has ended; its tag, for example `INSERT 0 1`, and empty for an empty text.
    fn complete(&mut self, tag: &str) -> std::io::Result<()>;
    /// Data of a `COPY … TO STDOUT`.
    fn copy_data(&mut self, data: &[u8]) -> std::io::Result<()>;
    /// A remark of the server.
    fn notice(&mut self, notice: &Notice<'_>) -> std::io::Result<()>;
}

/// Where and how to connect.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the server listens.
    pub address: Address,
    /// Who connects; the nonce is made anew for each connection.
    pub user: String,
    /// For servers that ask for one.
    pub password: Option<rowferry_wire::Secret>,
    /// Empty for the server's choice.
    pub database: String,
    /// What the server shows of us in its list of sessions.
    pub application_name: String,
    /// When to encrypt, and what to check.
    pub tls: TlsOptions,
    /// How long to wait.
    pub timeouts: Timeouts,
}

impl Config {
    /// Reads `postgresql://user:password@host:port/database` with libpq's options `host` (a directory for a unix
    /// socket), `port`, `user`, `password`, `dbname`, `sslmode`, `sslrootcert`, `sslcert`, `sslkey` and
    /// `connect_timeout` (seconds). The user is `$USER` when none is given.
    pub fn from_url(url: &Url) -> Result<Self, Error> {
        let mut tls = TlsOptions { mode: TlsMode::Preferred, ..TlsOptions::default() };
        let mut timeouts = Timeouts::default();
        let (mut user, mut database, mut password) = (url.user.clone(), url.database.clone(), url.password.clone());
        let mut host = if url.host.is_empty() { "127.0.0.1".to_owned() } else { url.host.clone() };
        let mut port = url.port.unwrap_or(PORT);
        for (name, value) in &url.options {
            let misuse = |expected: &str| Error::Misuse(format!("`{name}={value}`: expected {expected}"));
            match name.as_str() {
                "host" => host.clone_from(value),
                "port" => port = value.parse().map_err(|_| misuse("a port number"))?,
                "user" => user.clone_from(value),
                "password" => password = Some(rowferry_wire::Secret::new(value.clone())),
                "dbname" => database.clone_from(value),
                "sslmode" => tls.mode = tls_mode(value).ok_or_else(|| misuse("one of libpq's modes"))?,
                "sslrootcert" => tls.ca = Some(value.into()),
                "sslcert" => tls.certificate = Some(value.into()),
                "sslkey" => tls.key = Some(value.into()),
                "connect_timeout" => {
                    let seconds: u64 = value.parse().map_err(|_| misuse("whole seconds"))?;
                    timeouts.connect = (seconds > 0).then(|| std::time::Duration::from_secs(seconds));
                }
                _ => return Err(Error::Misuse(unknown_option(name, &OPTIONS))),
            }
        }
        if user.is_empty() {
            user = std::env::var("USER").unwrap_or_else(|_| "postgres".into());
        }
        let address = if host.starts_with('/') {
            tls.mode = TlsMode::Disabled;
            Address::Unix(std::path::Path::new(&host).join(format!(".s.PGSQL.{port}")))
        } else {
            Address::Tcp(host, port)
        };
        let application_name = "rowferry".to_owned();
        Ok(Self { address, user, password, database, application_name, tls, timeouts })
    }
}

/// A TLS mode by libpq's name for it.
fn tls_mode(name: &str) -> Option<TlsMode> {
    match name {
        "disable" => Some(TlsMode::Disabled),
        "allow" | "prefer" => Some(TlsMode::Preferred),
        "require" => Some(TlsMode::Required),
        "verify-full" => Some(TlsMode::VerifyIdentity),
        other => parse_tls_mode(other),
    }
}

/// A connection, blocking. Dropping it closes it.
#[derive(Debug)]
pub struct Connection {
    pump: Pump<Client>,
}

impl Connection {
    /// Connects and logs in.
    pub fn connect(config: &Config) -> Result<Self, Error> {
        Self::connect_over(Stream::connect(&config.address, config.timeouts, OPENING)?, config)
    }

    /// The same over a stream that is connected already. What the configuration says of the address counts for TLS alone.
    pub fn connect_over(stream: Stream, config: &Config) -> Result<Self, Error> {
        let mut random = [0; 18];
        rand::RngCore::fill_bytes(&mut rand::rng(), &mut random);
        let nonce = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let client = Client::new(Options {
            user: config.user.clone(),
            password: config.password.clone(),
            database: config.database.clone(),
            application_name: config.application_name.clone(),
            tls: match config.tls.mode {
                TlsMode::Disabled => TlsPolicy::Never,
                TlsMode::Preferred => TlsPolicy::IfOffered,
                TlsMode::Required | TlsMode::VerifyCa | TlsMode::VerifyIdentity => TlsPolicy::Always,
            },
            secure_transport: matches!(config.address, Address::Unix(_)),
            nonce,
        });
        let mut pump = Pump::new(stream, client);
        loop {
            match pump.core_mut().poll()? {
                Event::Pending => pump.advance()?,
                Event::StartTls => {
                    pump.start_tls(config.tls.config(&config.address)?, server_name(&config.address))?;
                    pump.core_mut().tls_started();
                }
                Event::Ready(_) => return Ok(Self { pump }),
                // Remarks at the login are for nobody.
                _ => {}
            }
        }
    }

    /// Runs one or several statements and hands what they answer to `answers` as it comes.
    ///
    /// # Errors
    ///
    /// The first error of the server, after everything that came before it has been handed on; the connection is
    /// usable afterwards. After any other error it is not.
    pub fn query(&mut self, sql: &str, answers: &mut dyn Answers) -> Result<(), Error> {
        self.pump.core_mut().query(sql);
        self.answers(answers).map(drop)
    }

    /// Runs one statement with parameters in text form, whose types the server finds out, and hands on what it answers: all rows,
    /// or `most` if that is above 0. True when there may be more, which are given up.
    ///
    /// # Errors
    ///
    /// As those of [`query`](Self::query).
    pub fn execute(
        &mut self,
        sql: &str,
        parameters: &[Option<&str>],
        most: u32,
        answers: &mut dyn Answers,
    ) -> Result<bool, Error> {
        self.pump.core_mut().execute(sql, parameters, most);
        self.answers(answers)
    }

    fn answers(&mut self, answers: &mut dyn Answers) -> Result<bool, Error> {
        let (mut failed, mut suspended) = (None, false);
        loop {
            match self.pump.core_mut().poll()? {
                Event::Pending => self.pump.advance()?,
                Event::Columns(columns) => answers.columns(&columns)?,
                Event::Row(values) => answers.row(&mut values.iter())?,
                Event::Complete(tag) => answers.complete(tag)?,
                Event::CopyData(data) => answers.copy_data(data)?,
                Event::CopyIn => return Err(Error::Misuse("the server asks for data that nobody announced".into())),
                Event::Notice(notice) => answers.notice(&notice)?,
                Event::Error(notice) => failed = Some(Box::new(notice.into_owned())),
                Event::Ready(_) => return failed.map_or(Ok(suspended), |notice| Err(Error::Server(notice))),
                Event::StartTls => return Err(Error::Misuse("TLS begins before the login only".into())),
                Event::Suspended => suspended = true,
            }
        }
    }

    /// The core, to put the parts of a pipeline into it, [`Client::sync`] included; then [`Self::poll`].
    pub const fn core_mut(&mut self) -> &mut Client {
        self.pump.core_mut()
    }

    /// Waits until the pipeline has something to tell, and hands it to `take`: never [`Event::Pending`].
    ///
    /// # Errors
    ///
    /// The connection is of no use any more.
    pub fn poll<T>(&mut self, mut take: impl FnMut(Event<'_>) -> T) -> Result<T, Error> {
        loop {
            match self.pump.core_mut().poll()? {
                Event::Pending => {}
                event => return Ok(take(event)),
            }
            self.pump.advance()?;
        }
    }

    /// Hands the next row to `take`, if that is what comes next and it has come whole.
    ///
    /// # Errors
    ///
    /// The connection is of no use any more.
    pub fn next_row<T>(&mut self, take: impl FnOnce(Values<'_>) -> T) -> Result<Option<T>, Error> {
        Ok(self.pump.core_mut().next_row()?.map(take))
    }

    /// Whether [`Self::poll`] has something to tell at once.
    pub fn has_event(&mut self) -> bool {
        self.pump.core_mut().has_event().unwrap_or(true)
            || self.pump.take_available().is_err()
            || self.pump.core_mut().has_event().unwrap_or(true)
    }

    /// True while the server has neither closed the connection nor said anything that was not asked for.
    pub fn is_quiet(&self) -> bool {
        self.pump.stream().is_quiet()
    }

    /// A setting that the server reports, as it is now: `server_version`, `TimeZone`, ….
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.pump.core().server().parameters.get(name).map(String::as_str)
    }

    /// Where the session stands.
    pub fn transaction(&self) -> TransactionStatus {
        self.pump.core().server().transaction
    }

    /// The TLS version and cipher in use; `None` in plain text.
    pub fn tls_description(&self) -> Option<String> {
        self.pump.channel().tls_description()
    }

    /// What stops a statement of this connection from another thread; `None` where the server has given no key for it.
    pub fn canceller(&self) -> Option<Canceller> {
        let (process, key) = self.pump.core().server().key.clone()?;
        Some(Canceller { process, key })
    }

    /// Begins a `COPY … FROM STDIN`, for [`put_copy_data`](Self::put_copy_data) and [`end_copy`](Self::end_copy).
    ///
    /// # Errors
    ///
    /// As those of [`query`](Self::query).
    pub fn copy_in(&mut self, sql: &str) -> Result<(), Error> {
        self.pump.core_mut().copy_in(sql);
        self.drive_copy(true)
    }

    /// Sends data of the COPY. What the server has against them is told by [`end_copy`](Self::end_copy).
    pub fn put_copy_data(&mut self, data: &[u8]) -> Result<(), Error> {
        self.pump.core_mut().put_copy_data(data);
        self.pump.flush()?;
        Ok(())
    }

    /// Ends the COPY and waits until the server has all of it.
    ///
    /// # Errors
    ///
    /// The server's against any of the data; none of it is kept then.
    pub fn end_copy(&mut self) -> Result<(), Error> {
        self.pump.core_mut().end_copy();
        self.drive_copy(false)
    }

    fn drive_copy(&mut self, begins: bool) -> Result<(), Error> {
        let mut failed = None;
        loop {
            match self.pump.core_mut().poll()? {
                Event::Pending => self.pump.advance()?,
                Event::CopyIn if begins => return Ok(()),
                Event::Error(notice) => failed = Some(Box::new(notice.into_owned())),
                Event::Ready(_) if begins && failed.is_none() => {
                    return Err(Error::Misuse("the statement takes no data".into()));
                }
                Event::Ready(_) => return failed.map_or(Ok(()), |notice| Err(Error::Server(notice))),
                _ => {}
            }
        }
    }

    /// Sets the hook that is asked while the connection waits; see [`Pump::set_keep_waiting`].
    pub fn set_keep_waiting(&mut self, hook: crate::KeepWaiting) {
        self.pump.set_keep_waiting(hook);
    }

    /// Says goodbye and closes.
    pub fn close(mut self) -> Result<(), Error> {
        self.say_goodbye()
    }

    /// Says goodbye; nothing can be asked any more.
    pub fn say_goodbye(&mut self) -> Result<(), Error> {
        self.pump.core_mut().terminate();
        self.pump.flush()?;
        Ok(())
    }
}

/// Stops the statement that a connection is at.
#[derive(Clone, Debug)]
pub struct Canceller {
    process: u32,
    key: Vec<u8>,
}

impl Canceller {
    /// Asks the server, in plain text as libpq does. It says nothing: the statement fails, or has ended before.
    ///
    /// # Errors
    ///
    /// When the server is not reached.
    pub fn cancel(&self, config: &Config) -> Result<(), Error> {
        self.cancel_over(&Stream::connect(&config.address, config.timeouts, OPENING)?)
    }

    /// The same, until the server has passed it on, or there was nothing to stop: it closes the connection then.
    ///
    /// # Errors
    ///
    /// When the server is not reached, or does not answer.
    pub fn cancel_and_wait(&self, config: &Config) -> Result<(), Error> {
        let stream = Stream::connect(&config.address, config.timeouts, OPENING)?;
        self.cancel_over(&stream)?;
        let until = std::time::Instant::now() + CANCEL_WAIT;
        let mut byte = [0];
        while std::time::Instant::now() < until {
            match stream.try_receive(&mut byte, true) {
                Ok(_) => {}
                Err(crate::Error::Closed) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The same over a stream that is connected already, and of no more use afterwards.
    ///
    /// # Errors
    ///
    /// When the server is not reached.
    pub fn cancel_over(&self, stream: &Stream) -> Result<(), Error> {
        let mut packet = Vec::new();
        StartupPacket::Cancel(CancelRequest { process: self.process, key: &self.key }).encode(&mut packet);
        let mut rest = packet.as_slice();
        while !rest.is_empty() {
            match stream.try_send(rest, false)? {
                Moved::Bytes(count) => rest = &rest[count..],
                Moved::Nothing => stream.poll_both()?,
            }
        }
        Ok(())
    }
}
