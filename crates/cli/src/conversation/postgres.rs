//! Anything that speaks PostgreSQL's protocol, `rowferry serve --postgres` included.

use std::io;

use arrow_schema::DataType;
use rowferry_client::Url;
use rowferry_client::postgres::{self, Config, Connection, Error};
use rowferry_wire_pg::messages::{FieldDescription, Notice, TransactionStatus};

use super::typed::{self, Rows, Value};
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

/// What a value's text is must not hang on who connects. The order in which dates are read is left as it is.
const EXACT: &str =
    "BEGIN; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 3; SET LOCAL bytea_output = 'hex'";

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

    fn read(&mut self, sql: &str, values: &[Option<&str>], rows: &mut dyn Rows) -> Result<(), Failure> {
        let mut told = Told { rows, begun: false, refused: None };
        let begun = self.connection.query(EXACT, &mut told);
        self.ended(begun, "")?;
        let result = self.connection.execute(sql, values, 0, &mut Typed(&mut told)).map(drop);
        if let Some(failure) = told.refused.take() {
            self.lost = true;
            return Err(failure);
        }
        self.ended(result, sql)?;
        told.rows.end()?;
        let ended = self.connection.query("COMMIT", &mut told);
        self.ended(ended, "")
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
        self.answers.row(cells.map(|cell| cell.map(<[u8]>::to_vec)).collect())
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
        self.answers.notice(&remark(notice))
    }
}

/// Whoever takes values, and what became of that. By itself it hears what the statements around say, which is nothing.
struct Told<'a> {
    rows: &'a mut dyn Rows,
    begun: bool,
    /// Why nothing more is taken.
    refused: Option<Failure>,
}

impl Told<'_> {
    fn refuse(&mut self, why: Failure) -> io::Error {
        self.refused = Some(why);
        io::Error::other("refused")
    }
}

impl postgres::Answers for Told<'_> {
    fn columns(&mut self, _: &[FieldDescription<'_>]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &mut dyn Iterator<Item = Option<&[u8]>>) -> io::Result<()> {
        Ok(())
    }

    fn complete(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn copy_data(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn notice(&mut self, notice: &Notice<'_>) -> io::Result<()> {
        self.rows.notice(&remark(notice))
    }
}

/// Hears the statement's own answer.
struct Typed<'a, 'b>(&'a mut Told<'b>);

impl postgres::Answers for Typed<'_, '_> {
    fn columns(&mut self, columns: &[FieldDescription<'_>]) -> io::Result<()> {
        if columns.is_empty() {
            return Err(self.0.refuse(typed::no_rows()));
        }
        self.0.begun = true;
        let fields = columns.iter().map(|column| typed::column(column.name, data_type(column)));
        self.0.rows.begin(fields.collect())
    }

    fn row(&mut self, cells: &mut dyn Iterator<Item = Option<&[u8]>>) -> io::Result<()> {
        let cells: Vec<Value<'_>> = cells.map(|cell| cell.map_or(Value::Null, Value::Spelled)).collect();
        self.0.rows.row(&cells)
    }

    fn complete(&mut self, _: &str) -> io::Result<()> {
        // The transaction ends with the connection, and what the statement did is undone.
        if self.0.begun { Ok(()) } else { Err(self.0.refuse(typed::no_rows())) }
    }

    fn copy_data(&mut self, _: &[u8]) -> io::Result<()> {
        Err(self.0.refuse(typed::no_rows()))
    }

    fn notice(&mut self, notice: &Notice<'_>) -> io::Result<()> {
        self.0.rows.notice(&remark(notice))
    }
}

fn remark(notice: &Notice<'_>) -> String {
    format!("{}: {}", notice.severity.as_str().to_lowercase(), notice.message)
}

/// By the same numbers. Types that are not here, those that users have made among them, are text.
fn data_type(field: &FieldDescription<'_>) -> DataType {
    match field.type_oid {
        16 => DataType::Boolean,
        17 => DataType::Binary,
        21 => DataType::Int16,
        23 => DataType::Int32,
        20 => DataType::Int64,
        26 => DataType::UInt32,
        700 => DataType::Float32,
        701 => DataType::Float64,
        1700 => numeric(field.type_modifier),
        1082 => DataType::Date32,
        1083 => typed::time(),
        1114 => typed::timestamp(),
        1184 => typed::moment(),
        1000 => typed::list(DataType::Boolean),
        1001 => typed::list(DataType::Binary),
        1005 => typed::list(DataType::Int16),
        1007 => typed::list(DataType::Int32),
        1016 => typed::list(DataType::Int64),
        1028 => typed::list(DataType::UInt32),
        1021 => typed::list(DataType::Float32),
        1022 => typed::list(DataType::Float64),
        1231 => typed::list(numeric(field.type_modifier)),
        1182 => typed::list(DataType::Date32),
        1183 => typed::list(typed::time()),
        1115 => typed::list(typed::timestamp()),
        1185 => typed::list(typed::moment()),
        // text, varchar, bpchar, name, uuid, json, jsonb
        1009 | 1015 | 1014 | 1003 | 2951 | 199 | 3807 => typed::list(DataType::Utf8),
        _ => DataType::Utf8,
    }
}

/// The modifier has the precision above the scale, of which eleven bits with a sign count.
fn numeric(modifier: i32) -> DataType {
    if modifier < 4 {
        return DataType::Utf8;
    }
    let (precision, scale) = ((modifier - 4) >> 16 & 0xffff, (modifier - 4) & 0x7ff);
    typed::decimal(i64::from(precision), i64::from((scale ^ 0x400) - 0x400))
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
        Error::Server(notice) | Error::Protocol(rowferry_wire_pg::client::Failure::Refused(notice)) => {
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
