//! Anything that speaks PostgreSQL's protocol, `rowferry serve --postgres` included.

use std::io;

use rowferry_client::Url;
use rowferry_client::postgres::{self, Config, Connection, Error};
use rowferry_wire_pg::messages::{FieldDescription, Notice, TransactionStatus};

use super::{
    Answers, Canceller, Column, Conversation, Dialect, Done, Kind, Place, Refused, Transaction, caret, login,
    unreachable,
};
use crate::Failure;

/// An open connection.
pub(super) struct Open {
    config: Config,
    database: String,
    connection: Connection,
    lost: bool,
}

impl Open {
    pub(super) fn connect(url: &Url) -> Result<Self, Refused> {
        let config = Config::from_url(url).map_err(|error| failure(error, ""))?;
        let connection = Connection::connect(&config).map_err(|error| match error {
            Error::Protocol(rowferry_wire_pg::client::Failure::NoPassword) => Refused::Password(failure(error, "")),
            error if error.sqlstate() == Some("28P01") => Refused::Password(failure(error, "")),
            Error::Transport(error) => Refused::Otherwise(unreachable(&config.address, &error)),
            error => Refused::Otherwise(failure(error, "")),
        })?;
        let database = if config.database.is_empty() { config.user.clone() } else { config.database.clone() };
        Ok(Self { config, database, connection, lost: false })
    }
}

impl Open {
    fn ended(&mut self, result: Result<(), Error>, sql: &str) -> Result<(), Failure> {
        result.map_err(|error| {
            self.lost = !matches!(error, Error::Server(_));
            failure(error, sql)
        })
    }
}

/// What a URL says.
pub(super) fn place(url: &Url) -> Result<Place, Failure> {
    let config = Config::from_url(url).map_err(|error| failure(error, ""))?;
    Ok(Place {
        product: "PostgreSQL",
        address: config.address,
        default_port: postgres::PORT,
        user: config.user,
        password_from: login::postgres(url).map(|found| found.from),
        tls: format!("{:?}", config.tls.mode).to_lowercase(),
    })
}

impl Conversation for Open {
    fn ask(&mut self, sql: &str, answers: &mut dyn Answers) -> Result<(), Failure> {
        let result = self.connection.query(sql, &mut Heard { answers, rows: false });
        self.ended(result, sql)
    }

    fn ask_with(&mut self, sql: &str, values: &[Option<&str>], answers: &mut dyn Answers) -> Result<(), Failure> {
        let result = self.connection.execute(sql, values, 0, &mut Heard { answers, rows: false });
        self.ended(result.map(drop), sql)
    }

    fn sql(&self) -> Dialect {
        Dialect::Postgres
    }

    fn whom(&self) -> String {
        let version = self.connection.parameter("server_version").unwrap_or("of an unknown version");
        let tls = self.connection.tls_description().map_or_else(String::new, |tls| format!(", {tls}"));
        format!("PostgreSQL {version} at {}, user {}{tls}", self.config.address, self.config.user)
    }

    fn database(&self) -> &str {
        &self.database
    }

    fn transaction(&self) -> Transaction {
        match self.connection.transaction() {
            TransactionStatus::IDLE => Transaction::None,
            TransactionStatus::FAILED => Transaction::Failed,
            _ => Transaction::Open,
        }
    }

    fn canceller(&self) -> Option<Canceller> {
        let canceller = self.connection.canceller()?;
        let config = self.config.clone();
        Some(Box::new(move || {
            // Nobody is there to hear why it could not be asked.
            let _ = canceller.cancel(&config);
        }))
    }

    fn is_lost(&self) -> bool {
        self.lost
    }

    fn close(self: Box<Self>) -> Result<(), Failure> {
        self.connection.close().map_err(|error| failure(error, ""))
    }
}

struct Heard<'a> {
    answers: &'a mut dyn Answers,
    rows: bool,
}

impl postgres::Answers for Heard<'_> {
    fn columns(&mut self, columns: &[FieldDescription<'_>]) -> io::Result<()> {
        self.rows = true;
        self.answers.begin(columns.iter().map(column).collect())
    }

    fn row(&mut self, cells: &mut dyn Iterator<Item = Option<&[u8]>>) -> io::Result<()> {
        self.answers.row(cells.map(|cell| cell.map(|bytes| String::from_utf8_lossy(bytes).into_owned())).collect())
    }

    fn complete(&mut self, tag: &str) -> io::Result<()> {
        if std::mem::take(&mut self.rows) {
            return self.answers.end();
        }
        let rows = tag.rsplit_once(' ').and_then(|(_, rows)| rows.parse().ok());
        self.answers.done(&Done { words: tag.to_owned(), rows })
    }

    fn copy_data(&mut self, data: &[u8]) -> io::Result<()> {
        self.answers.raw(data)
    }

    fn notice(&mut self, notice: &Notice<'_>) -> io::Result<()> {
        self.answers.notice(&format!("{}: {}", notice.severity.as_str().to_lowercase(), notice.message))
    }
}

/// By the numbers of the built-in types, which no server may change.
fn column(field: &FieldDescription<'_>) -> Column {
    let kind = match field.type_oid {
        16 => Kind::Boolean,
        // int8, int2, int4, oid, float4, float8, numeric
        20 | 21 | 23 | 26 | 700 | 701 | 1700 => Kind::Number,
        _ => Kind::Text,
    };
    Column { name: field.name.to_owned(), kind }
}

fn failure(error: Error, sql: &str) -> Failure {
    match error {
        Error::Server(notice) => {
            let mut message = format!("{} (SQLSTATE {})", notice.message, notice.sqlstate);
            if let Some(detail) = &notice.detail {
                message.push('\n');
                message.push_str(detail);
            }
            if let Some(position) = notice.position.as_deref().and_then(|text| text.parse().ok()) {
                message.push_str(&caret(sql, position));
            }
            Failure::of(message, notice.hint.as_deref().map(str::to_owned))
        }
        Error::Output(error) => Failure::from(error),
        other => Failure::new(other.to_string()),
    }
}
