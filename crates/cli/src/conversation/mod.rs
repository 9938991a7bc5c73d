//! Databases that are asked, one text after another: a file, or a server of any kind whose protocol we speak.

mod informix;
mod login;
mod mysql;
mod postgres;
mod sqlite;
pub(crate) mod typed;

use std::io;
use std::path::PathBuf;

use rowferry_client::{Address, Url};

use crate::Failure;

pub(crate) use login::with_kept_password;

/// What a column holds, as far as showing it goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// `true` and `false` in JSON; the text is `t`, `true` or `1`, or anything else for false.
    Boolean,
    /// To the right in tables, bare in JSON.
    Number,
    /// To the left in tables, quoted in JSON.
    Text,
}

/// A column of an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Column {
    /// As the database names it.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// Takes what statements answer, in the order in which it comes.
pub trait Answers {
    /// Rows with these columns are to come.
    fn begin(&mut self, columns: Vec<Column>) -> io::Result<()>;
    /// A row; `None` is NULL. It has as many cells as there are columns. They are text as a rule, in UTF-8, and whatever was stored
    /// where it is none.
    fn row(&mut self, cells: Vec<Option<Vec<u8>>>) -> io::Result<()>;
    /// There are no more rows of the answer that was begun last.
    fn end(&mut self) -> io::Result<()>;
    /// What a statement without rows did.
    fn done(&mut self, what: &Done) -> io::Result<()>;
    /// Bytes that have a form of their own: the data of a COPY.
    fn raw(&mut self, data: &[u8]) -> io::Result<()>;
    /// A remark of the database.
    fn notice(&mut self, text: &str) -> io::Result<()>;
}

/// What a statement without rows did.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Done {
    /// In the words of people: `3 rows changed`, `CREATE TABLE`.
    pub words: String,
    /// How many rows it changed, where that can be said.
    pub rows: Option<u64>,
}

impl Done {
    /// So many rows are other than before.
    pub fn changed(rows: u64) -> Self {
        Self { words: format!("{rows} row{} changed", if rows == 1 { "" } else { "s" }), rows: Some(rows) }
    }

    /// A statement that changes no rows.
    pub fn words(words: &str) -> Self {
        Self { words: words.to_owned(), rows: None }
    }
}

/// Whose SQL a database speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dialect {
    /// PostgreSQL's, and what our engine makes of it over a file.
    Postgres,
    /// That of MySQL and MariaDB.
    MySql,
    /// Informix's.
    Informix,
}

impl Dialect {
    /// A query that costs next to nothing.
    pub fn shortest_query(self) -> &'static str {
        match self {
            Self::Postgres | Self::MySql => "SELECT 1",
            Self::Informix => "SELECT 1 FROM systables WHERE tabid = 1",
        }
    }
}

/// Where a conversation stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transaction {
    /// In none.
    None,
    /// In one that goes on.
    Open,
    /// In one that has failed: nothing but its end is taken.
    Failed,
}

/// Asks the database from another thread to give up the statement that it is at.
pub type Canceller = Box<dyn Fn() + Send>;

/// An open database.
pub trait Conversation {
    /// Runs one or several statements and hands on what they answer as it comes.
    ///
    /// # Errors
    ///
    /// What the database refuses, with the place in the statement where it says it; and when the connection is lost, after
    /// which [`Self::is_lost`] is true.
    fn ask(&mut self, sql: &str, answers: &mut dyn Answers) -> Result<(), Failure>;

    /// Runs one statement with parameters, as [`ask`](Self::ask) does several without. Values are texts, which the database takes as
    /// the types that it finds, or NULL.
    ///
    /// # Errors
    ///
    /// As those of [`ask`](Self::ask).
    fn ask_with(&mut self, sql: &str, values: &[Option<&str>], answers: &mut dyn Answers) -> Result<(), Failure>;

    /// Runs one statement, with or without parameters, and hands on its rows as values. What it changes is kept when
    /// [`Rows::end`](typed::Rows::end) has been content, as far as the database can undo it.
    ///
    /// # Errors
    ///
    /// As those of [`ask`](Self::ask); and for a statement without rows, which is not run. Nothing can be asked afterwards.
    fn read(&mut self, sql: &str, values: &[Option<&str>], rows: &mut dyn typed::Rows) -> Result<(), Failure>;

    /// Whose SQL it speaks.
    fn sql(&self) -> Dialect;

    /// Product, version and place, for people.
    fn whom(&self) -> String;

    /// The database that is open, by its name.
    fn database(&self) -> &str;

    /// Where it stands.
    fn transaction(&self) -> Transaction;

    /// What stops a statement; `None` where only hanging up does.
    fn canceller(&self) -> Option<Canceller>;

    /// The connection is of no more use.
    fn is_lost(&self) -> bool;

    /// Says goodbye.
    ///
    /// # Errors
    ///
    /// When what was said last may not have arrived.
    fn close(self: Box<Self>) -> Result<(), Failure>;
}

/// Opens the database at a place: a file's name or URL. Passwords that the URL does not have are looked for where the database's
/// own clients find them, and asked for at a terminal.
///
/// # Errors
///
/// When the place makes no sense, is not there, or does not let us in.
pub fn open(place: &str) -> Result<Box<dyn Conversation>, Failure> {
    if let Some(path) = file_of(place) {
        return Ok(Box::new(sqlite::Open::file(&path)?));
    }
    let url = Url::parse(place).map_err(|error| Failure::new(error.to_string()))?;
    match url.scheme.as_str() {
        "informix" | "gbase8s" => login::with_password(url, login::nowhere, informix::Open::connect),
        "mariadb" | "mysql" => login::with_password(url, login::mysql, mysql::Open::connect),
        "postgres" | "postgresql" => login::with_password(url, login::postgres, postgres::Open::connect),
        other => Err(unknown(other)),
    }
}

fn unknown(scheme: &str) -> Failure {
    Failure::new(format!("`{scheme}://` is not a kind of database that we know"))
        .hint("use a file name, sqlite://, postgresql://, mysql:// or informix://")
}

/// The file that a place names; `None` for a URL of a server.
pub fn file_of(place: &str) -> Option<PathBuf> {
    match place.split_once("://") {
        None => Some(place.into()),
        Some((scheme, path)) => scheme.eq_ignore_ascii_case("sqlite").then(|| path.into()),
    }
}

/// Where a URL leads.
#[derive(Clone, Debug)]
pub struct Place {
    /// What is to be spoken there.
    pub product: &'static str,
    /// Where it listens.
    pub address: Address,
    /// The port that it has where nobody chooses another.
    pub default_port: u16,
    /// Who comes.
    pub user: String,
    /// Where the password is from; `None` where there is none.
    pub password_from: Option<&'static str>,
    /// Whether TLS is asked for.
    pub tls: String,
}

/// What a URL of a server says.
///
/// # Errors
///
/// When it makes no sense.
pub fn place(url: &Url) -> Result<Place, Failure> {
    let given = (url.password.is_some() || url.option("password").is_some()).then_some("in the URL");
    let place = match url.scheme.as_str() {
        "informix" | "gbase8s" => informix::place(url)?,
        "mariadb" | "mysql" => mysql::place(url)?,
        "postgres" | "postgresql" => postgres::place(url)?,
        other => return Err(unknown(other)),
    };
    Ok(Place { password_from: given.or(place.password_from), ..place })
}

/// Why nobody was let in.
pub(super) enum Refused {
    /// A password may help.
    Password(Failure),
    /// It would not.
    Otherwise(Failure),
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Otherwise(failure)
    }
}

/// A server is not there.
fn unreachable(address: &Address, error: &rowferry_client::Error) -> Failure {
    Failure::new(format!("cannot connect to {address}: {error}")).hint("`rowferry doctor URL` looks step by step")
}

/// The line of `sql` that holds the character at `position`, counted from 1, with a mark under it.
fn caret(sql: &str, position: u32) -> String {
    let before: String = sql.chars().take(position.saturating_sub(1) as usize).collect();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = sql[line_start..].lines().next().unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let label = format!("line {number}: ");
    let indent = label.chars().count() + before[line_start..].chars().count();
    format!("\n{label}{line}\n{:indent$}^", "")
}

#[cfg(test)]
mod tests {
    use super::caret;

    #[test]
    fn caret_stands_under_the_character() {
        assert_eq!(caret("SELECT nosuch", 8), "\nline 1: SELECT nosuch\n               ^");
        assert_eq!(caret("SELECT 'ü',\n  nosuch", 15), "\nline 2:   nosuch\n          ^");
        // A position behind the end is the end.
        assert_eq!(caret("SELECT", 7), "\nline 1: SELECT\n              ^");
    }
}
