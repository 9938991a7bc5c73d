//! Connections to a PostgreSQL server whose tables are served: what the engine asks of one, said by our own client.

// Sockets and threads are the outside world.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod relay;

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

pub use relay::Relay;

use rowferry_client::postgres::{Config, Connection, Error as Failed};
use rowferry_client::{Timeouts, Url};
use rowferry_engine::upstream::{Canceller, Link, Reply, RowBytes, Upstream};
use rowferry_engine::{Condition, Error, Result};
use rowferry_wire_pg::client::{Event, Failure};
use rowferry_wire_pg::messages::{Notice, Values};

/// How long a connection may take where its URL does not say it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// What every session has set, so that texts mean here what they mean there.
const SETTINGS: &str = "SET search_path = public; SET DateStyle = 'ISO, MDY'; SET IntervalStyle = postgres; \
    SET extra_float_digits = 1; SET bytea_output = hex; SET standard_conforming_strings = on; \
    SET client_min_messages = warning";

/// A PostgreSQL server, by its URL.
#[derive(Debug)]
pub struct Server {
    config: Config,
}

impl Server {
    /// For `postgresql://user:password@host:port/database?options`, with the options of
    /// [`Config::from_url`](rowferry_client::postgres::Config::from_url).
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn from_url(url: &str) -> std::result::Result<Self, String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        let mut config = Config::from_url(&url).map_err(|error| error.to_string())?;
        config.timeouts = Timeouts { connect: config.timeouts.connect.or(Some(CONNECT_TIMEOUT)), ..config.timeouts };
        Ok(Self { config })
    }

    /// What passes PostgreSQL's own clients on to it.
    pub fn relay(&self) -> Relay {
        Relay::new(self.config.address.clone(), self.config.timeouts.connect.unwrap_or(CONNECT_TIMEOUT))
    }

    /// The database's name.
    pub fn database(&self) -> &str {
        if self.config.database.is_empty() { &self.config.user } else { &self.config.database }
    }
}

impl Upstream for Server {
    fn connect(&self, application: &str) -> Result<Box<dyn Link>> {
        let config = Config { application_name: application.to_owned(), ..self.config.clone() };
        let connection = Connection::connect(&config).map_err(|failed| self.refused(&failed))?;
        let mut link = ServerLink { connection, config: Arc::new(config), cancelling: Arc::default() };
        link.query(SETTINGS);
        let mut row = RowBytes::default();
        loop {
            match link.reply(&mut row)? {
                Reply::Failed(error) => return Err(error),
                Reply::Ready => return Ok(Box::new(link)),
                _ => {}
            }
        }
    }

    fn place(&self) -> String {
        format!("{}/{}", self.config.address, self.database())
    }
}

impl Server {
    fn refused(&self, failed: &Failed) -> Error {
        let message = format!("could not connect to the server behind at {}: {failed}", self.config.address);
        Error::new(Condition::ConnectionException, message)
            .hint("Look whether that server runs, and whether its URL is right.")
    }
}

/// A connection.
#[derive(Debug)]
struct ServerLink {
    connection: Connection,
    config: Arc<Config>,
    cancelling: Arc<Cancelling>,
}

/// Cancellations that are on their way. A statement that is sent meanwhile could be the one that they stop.
#[derive(Debug, Default)]
struct Cancelling {
    count: Mutex<usize>,
    none: Condvar,
}

impl Cancelling {
    /// Waits until there are none; each gives up in time.
    fn wait(&self) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.none.wait_while(count, |count| *count > 0));
    }

    fn begin(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn end(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.none.notify_all();
    }
}

impl Link for ServerLink {
    fn prepare(&mut self, name: &str, sql: &str) {
        let core = self.connection.core_mut();
        core.prepare(name, sql);
        core.describe(name);
    }

    fn bind(&mut self, portal: &str, name: &str, params: &[Option<Vec<u8>>], formats: &[u16]) {
        let params: Vec<Option<&[u8]>> = params.iter().map(Option::as_deref).collect();
        let formats: Vec<u8> = formats.iter().flat_map(|code| code.to_be_bytes()).collect();
        self.connection.core_mut().bind(portal, name, &params, &formats);
    }

    fn run(&mut self, portal: &str, most: u32) {
        self.connection.core_mut().run(portal, most);
    }

    fn close_portal(&mut self, portal: &str) {
        self.connection.core_mut().close_portal(portal);
    }

    fn close_statement(&mut self, name: &str) {
        self.connection.core_mut().close_statement(name);
    }

    fn statement(&mut self, sql: &str) {
        let core = self.connection.core_mut();
        core.prepare("", sql);
        core.bind("", "", &[], &[]);
        core.run("", 0);
    }

    fn sync(&mut self) {
        self.cancelling.wait();
        self.connection.core_mut().sync();
    }

    fn query(&mut self, sql: &str) {
        self.cancelling.wait();
        self.connection.core_mut().query(sql);
    }

    fn reply(&mut self, row: &mut RowBytes) -> Result<Reply> {
        let reply = self.connection.poll(|event| match event {
            Event::Row(values) => {
                fill(row, &values);
                Some(Reply::Row)
            }
            Event::Columns(columns) => Some(Reply::Columns(columns.iter().map(|column| column.type_oid).collect())),
            Event::Complete(tag) => {
                let rows = tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
                Some(Reply::Complete(tag.to_owned(), rows))
            }
            Event::Suspended => Some(Reply::Suspended),
            Event::Error(notice) => Some(Reply::Failed(error_of(&notice))),
            Event::Notice(notice) => Some(Reply::Notice(error_of(&notice))),
            Event::Ready(_) => Some(Reply::Ready),
            Event::CopyIn | Event::CopyData(_) | Event::StartTls | Event::Pending => None,
        });
        reply
            .map_err(broken)?
            .ok_or_else(|| Error::new(Condition::ProtocolViolation, "the server behind says what nobody asked for"))
    }

    fn next_row(&mut self, row: &mut RowBytes) -> Result<bool> {
        let taken = self.connection.next_row(|values| fill(row, &values)).map_err(broken)?;
        Ok(taken.is_some())
    }

    fn has_reply(&mut self) -> bool {
        self.connection.has_event()
    }

    fn is_quiet(&self) -> bool {
        self.connection.is_quiet()
    }

    fn canceller(&self) -> Option<Canceller> {
        let (canceller, config) = (self.connection.canceller()?, self.config.clone());
        let cancelling = self.cancelling.clone();
        Some(Canceller(Arc::new(move |wait| {
            let (canceller, config, under_way) = (canceller.clone(), config.clone(), cancelling.clone());
            let ask = move || {
                if let Err(error) = canceller.cancel_and_wait(&config) {
                    tracing::warn!(%error, "a statement of the server behind could not be stopped");
                }
                under_way.end();
            };
            cancelling.begin();
            if wait {
                ask();
            } else if let Err(error) = std::thread::Builder::new().name("cancel".into()).spawn(ask) {
                cancelling.end();
                tracing::warn!(%error, "a statement of the server behind could not be stopped");
            }
        })))
    }

    fn on_wait(&mut self, mut ask: Box<dyn FnMut() + Send>) {
        self.connection.set_keep_waiting(Box::new(move || {
            ask();
            true
        }));
    }
}

/// Puts a row where it is wanted.
fn fill(row: &mut RowBytes, values: &Values<'_>) {
    row.clear();
    row.bytes.extend_from_slice(values.wire());
    row.cells.extend(values.places());
}

impl Drop for ServerLink {
    fn drop(&mut self) {
        // It goes, whether or not the server can still be told.
        let _ = self.connection.say_goodbye();
    }
}

/// The connection is over.
fn broken(failed: Failed) -> Error {
    let mut error = match &failed {
        Failed::Protocol(Failure::Refused(notice)) => error_of(notice),
        other => {
            Error::new(Condition::ConnectionFailure, format!("the connection to the server behind is lost: {other}"))
        }
    };
    if error.condition() != Condition::ConnectionFailure {
        // What a server says as it goes is no failure of the statement: the connection is what is lost.
        error = Error::new(Condition::ConnectionFailure, format!("the server behind has gone: {}", error.message));
    }
    error
}

/// An error in our words for it, by its SQLSTATE.
fn error_of(notice: &Notice<'_>) -> Error {
    let mut error = Error::new(Condition::InternalError, notice.message.clone()).with_sqlstate(&notice.sqlstate);
    // One code of PostgreSQL's, two of others': whether the row that refers or the row that is referred to has changed.
    if error.condition() == Condition::ForeignKeyViolation && notice.message.starts_with("update or delete") {
        error.condition = Condition::ForeignKeyViolationByParent;
    }
    if error.condition() == Condition::NumericValueOutOfRange {
        error.condition = match notice.message.as_ref() {
            message if message.contains("bigint") => Condition::BigintOutOfRange,
            message if message.contains("integer") => Condition::IntegerOutOfRange,
            _ => Condition::NumericValueOutOfRange,
        };
    }
    let text = |field: &Option<std::borrow::Cow<'_, str>>| field.as_deref().map(str::to_owned);
    error.detail = text(&notice.detail);
    error.hint = text(&notice.hint);
    error.schema = text(&notice.schema);
    error.table = text(&notice.table);
    error.column = text(&notice.column);
    error.data_type = text(&notice.data_type);
    error.constraint = text(&notice.constraint);
    error
}
