//! MySQL and MariaDB, by text protocol.

use std::fmt::Write as _;

use rowferry_client::Url;
use rowferry_client::mysql::{self, Answer, Config, Connection, Error};
use rowferry_wire_mysql::messages::resultset::ColumnDefinition;
use rowferry_wire_mysql::types::ColumnType;

use super::{
    Answers, Canceller, Column, Conversation, Dialect, Done, Kind, Place, Refused, Transaction, login, unreachable,
};
use crate::Failure;

/// What the server says to a wrong password.
const ACCESS_DENIED: u16 = 1045;

/// An open connection.
pub(super) struct Open {
    config: Config,
    connection: Connection,
    database: String,
    lost: bool,
}

impl Open {
    pub(super) fn connect(url: &Url) -> Result<Self, Refused> {
        let config = Config::from_url(url).map_err(failure)?;
        let connection = Connection::connect(&config).map_err(|error| match &error {
            Error::Server(answer) if answer.code == ACCESS_DENIED => Refused::Password(failure(error)),
            Error::Transport(error) => Refused::Otherwise(unreachable(&config.address, error)),
            _ => Refused::Otherwise(failure(error)),
        })?;
        Ok(Self { config, connection, database: url.database.clone(), lost: false })
    }
}

/// What a URL says.
pub(super) fn place(url: &Url) -> Result<Place, Failure> {
    let config = Config::from_url(url).map_err(failure)?;
    Ok(Place {
        product: "MySQL",
        address: config.address,
        default_port: mysql::PORT,
        user: config.login.user,
        password_from: login::mysql(url).map(|found| found.from),
        tls: format!("{:?}", config.tls.mode).to_lowercase(),
    })
}

impl Conversation for Open {
    fn ask_with(&mut self, sql: &str, values: &[Option<&str>], answers: &mut dyn Answers) -> Result<(), Failure> {
        // Texts as hexadecimal digits: nothing in them means anything to the server's parser.
        let text = |text: &str| {
            let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            format!("CONVERT(X'{digits}' USING utf8mb4)")
        };
        let mut set = format!("SET @rowferry_sql = {}", text(sql));
        let mut names = Vec::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            let name = format!("@rowferry_{}", at + 1);
            let _ = write!(set, ", {name} = {}", value.map_or_else(|| "NULL".to_owned(), text));
            names.push(name);
        }
        let mut quiet = |sql: &str| self.connection.query(sql).map(drop);
        let prepared = quiet(&set).and_then(|()| quiet("PREPARE rowferry FROM @rowferry_sql"));
        if let Err(error) = prepared {
            self.lost = !matches!(error, Error::Server(_));
            return Err(failure(error));
        }
        let result = self.ask(&format!("EXECUTE rowferry USING {}", names.join(", ")), answers);
        if !self.lost {
            // It goes with the session, too.
            let _ = self.connection.query("DEALLOCATE PREPARE rowferry");
        }
        result
    }

    fn ask(&mut self, sql: &str, answers: &mut dyn Answers) -> Result<(), Failure> {
        let result = self.connection.answers(sql.as_bytes(), |answer| {
            let taken = match answer {
                Answer::Columns(columns) => answers.begin(columns.iter().map(column).collect()),
                Answer::Row(columns, row) => answers.row(mysql::shown(columns, row)),
                Answer::EndOfRows => answers.end(),
                Answer::Done { affected_rows, .. } => answers.done(&Done::changed(affected_rows)),
            };
            taken.map_err(Error::Output)
        });
        result.map_err(|error| {
            self.lost = !matches!(error, Error::Server(_));
            failure(error)
        })?;
        if let Some(database) = self.connection.database() {
            database.clone_into(&mut self.database);
        }
        Ok(())
    }

    fn sql(&self) -> Dialect {
        Dialect::MySql
    }

    fn whom(&self) -> String {
        let version = self.connection.server_version();
        let product = if version.contains("MariaDB") { "" } else { "MySQL " };
        let tls = self.connection.tls_description().map_or_else(String::new, |tls| format!(", {tls}"));
        format!("{product}{version} at {}, user {}{tls}", self.config.address, self.config.login.user)
    }

    fn database(&self) -> &str {
        &self.database
    }

    fn transaction(&self) -> Transaction {
        if self.connection.in_transaction() { Transaction::Open } else { Transaction::None }
    }

    fn canceller(&self) -> Option<Canceller> {
        let config = self.config.clone();
        let kill = format!("KILL QUERY {}", self.connection.id());
        Some(Box::new(move || {
            // Nobody is there to hear why it could not be asked.
            if let Ok(mut other) = Connection::connect(&config) {
                let _ = other.query(&kill);
                let _ = other.close();
            }
        }))
    }

    fn is_lost(&self) -> bool {
        self.lost
    }

    fn close(self: Box<Self>) -> Result<(), Failure> {
        self.connection.close().map_err(failure)
    }
}

fn column(definition: &ColumnDefinition) -> Column {
    let kind = match definition.column_type {
        ColumnType::DECIMAL
        | ColumnType::NEWDECIMAL
        | ColumnType::TINY
        | ColumnType::SHORT
        | ColumnType::LONG
        | ColumnType::INT24
        | ColumnType::LONGLONG
        | ColumnType::FLOAT
        | ColumnType::DOUBLE
        | ColumnType::YEAR => Kind::Number,
        _ => Kind::Text,
    };
    Column { name: definition.name.clone(), kind }
}

fn failure(error: mysql::Error) -> Failure {
    match error {
        Error::Server(error) => {
            Failure::new(format!("{} ({}, SQLSTATE {})", error.message, error.code, error.sqlstate))
        }
        Error::Output(error) => Failure::from(error),
        other => Failure::new(other.to_string()),
    }
}
