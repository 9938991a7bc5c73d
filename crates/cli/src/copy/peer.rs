//! What the copy asks of a database, whichever it is.

use std::sync::Arc;

use rowferry_client::Url;

use super::ddl::Flavour;
use super::door::Door;
use super::informix::Informix;
use super::model::{Kind, Schema, Type};
use super::mysql::MySql;
use super::postgres::Postgres;
use super::row::Row;
use crate::Failure;
use crate::stop::Stop;

/// Why a piece of work was not done.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The connection is gone; another one may do it.
    Lost(String),
    /// Somebody asked to stop.
    Stopped,
    Failed(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// By what the pump says: a lost connection, or the hook that asks for the stop.
pub(super) fn transport(error: &rowferry_client::Error) -> Trouble {
    match error {
        rowferry_client::Error::Interrupted => Trouble::Stopped,
        rowferry_client::Error::Tls(_) => Trouble::Failed(Failure::new(error.to_string())),
        other => Trouble::Lost(other.to_string()),
    }
}

/// Takes rows that are read.
pub(super) type Each<'a> = &'a mut dyn FnMut(&Row) -> Result<(), Trouble>;

/// A connection. After any trouble but that of [`ask`](Self::ask) and [`run`](Self::run) it is of no further use.
pub(super) trait Peer: Send {
    /// Its tables, and what else there is.
    fn schema(&mut self) -> Result<Schema, Trouble>;
    /// What its tables are told.
    fn flavour(&mut self) -> Result<Flavour, Trouble>;
    /// What no other database has, where the server tells.
    fn identity(&mut self) -> Option<String>;
    /// Runs a statement without rows.
    fn run(&mut self, sql: &str) -> Result<(), Trouble>;
    /// Answers of a few rows, as text.
    fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Trouble>;
    /// Rows of any number: values as the server shows them, bytes as they are.
    fn read(&mut self, sql: &str, types: &[Type], each: Each<'_>) -> Result<(), Trouble>;
    /// Begins a transaction that puts rows into these columns; their values come as text of these types.
    fn begin(&mut self, table: &str, columns: &[(String, Type)]) -> Result<(), Trouble>;
    /// One row more.
    fn put(&mut self, row: &Row) -> Result<(), Trouble>;
    /// Ends the rows: the target has all of them and nothing against them, but they are not committed.
    fn end(&mut self) -> Result<(), Trouble>;
    /// Commits the rows.
    fn commit(&mut self) -> Result<(), Trouble>;
    /// Begins a transaction that reads these tables as of one moment, which is now; what fails says why that cannot be.
    fn keep_moment(&mut self, tables: &[&str]) -> Result<(), Trouble>;
    /// The name by which other connections read as of the moment that this one keeps; what fails says why there is none.
    fn share_moment(&mut self) -> Result<String, Trouble>;
    /// Begins a transaction that reads as of another connection's moment.
    fn join_moment(&mut self, name: &str) -> Result<(), Trouble>;
    /// A serial column goes on behind its greatest number.
    fn number_on(&mut self, table: &str, column: &str) -> Result<(), Trouble>;
}

/// Where a database is.
#[derive(Clone)]
pub(super) struct Place {
    pub kind: Kind,
    /// For people: without a password.
    pub shown: String,
    url: Url,
    is_target: bool,
    /// Our own door to a file, as long as a place with it lives.
    _door: Option<Arc<Door>>,
}

impl Place {
    /// Understands what stands on the command line. A file that is to be written is made when it is not there.
    pub(super) fn parse(text: &str, is_target: bool) -> Result<Self, Failure> {
        if let Some(path) = file(text) {
            let door = Door::open(path.as_ref(), is_target)?;
            let url = door.url()?;
            return Ok(Self {
                kind: Kind::Sqlite,
                shown: path.to_owned(),
                url,
                is_target,
                _door: Some(Arc::new(door)),
            });
        }
        let url = Url::parse(text).map_err(|error| Failure::new(error.to_string()))?;
        let url = crate::conversation::with_kept_password(url);
        let kind = match url.scheme.as_str() {
            "informix" | "gbase8s" => Kind::Informix,
            "mariadb" | "mysql" => Kind::MySql,
            "postgres" | "postgresql" => Kind::Postgres,
            other => {
                return Err(Failure::new(format!("`{other}://` is not a kind of database that we know"))
                    .hint("use a file name, sqlite://, postgresql://, mysql:// or informix://"));
            }
        };
        let port = url.port.map_or_else(String::new, |port| format!(":{port}"));
        let shown = format!("{}://{}{port}/{}", url.scheme, url.host, url.database);
        Ok(Self { kind, shown, url, is_target, _door: None })
    }

    /// What no other database has: by the server's word, else by the URL.
    pub(super) fn identity(&self, peer: &mut Box<dyn Peer>) -> String {
        peer.identity().unwrap_or_else(|| self.shown.clone())
    }

    /// Connects; to the source so that nothing can be written there.
    pub(super) fn open(&self, stop: &Stop) -> Result<Box<dyn Peer>, Trouble> {
        self.connect(stop).map_err(|trouble| match trouble {
            Trouble::Lost(why) => Trouble::Lost(format!("{}: {why}", self.shown)),
            Trouble::Failed(failure) => {
                Trouble::Failed(Failure { message: format!("{}: {}", self.shown, failure.message), ..failure })
            }
            Trouble::Stopped => Trouble::Stopped,
        })
    }

    fn connect(&self, stop: &Stop) -> Result<Box<dyn Peer>, Trouble> {
        let (mut peer, read_only): (Box<dyn Peer>, _) = match self.kind {
            Kind::Sqlite | Kind::Postgres => {
                (Box::new(Postgres::open(&self.url, stop)?), Some("SET default_transaction_read_only = on"))
            }
            Kind::MySql => (Box::new(MySql::open(&self.url, stop)?), Some("SET SESSION TRANSACTION READ ONLY")),
            Kind::Informix => (Box::new(Informix::open(&self.url, stop)?), None),
        };
        if let (false, Some(sql)) = (self.is_target, read_only) {
            peer.run(sql)?;
        }
        Ok(peer)
    }
}

/// The answer as one text, where there is one.
pub(super) fn told(answer: Result<Vec<Vec<Option<String>>>, Trouble>) -> Option<String> {
    Some(answer.ok()?.first()?.iter().map(|cell| cell.as_deref().unwrap_or_default()).collect::<Vec<_>>().join(" "))
}

/// The file that stands on the command line; nothing for a server.
pub(super) fn file(text: &str) -> Option<&str> {
    match text.split_once("://") {
        None => Some(text),
        Some((scheme, path)) if scheme.eq_ignore_ascii_case("sqlite") => Some(path),
        Some(_) => None,
    }
}
