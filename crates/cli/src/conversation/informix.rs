//! Anything that speaks Informix's SQLI protocol, `rowferry serve --informix` included.

use arrow_schema::DataType;
use rowferry_client::Url;
use rowferry_client::informix::{self, Answer, Config, Connection, Error};
use rowferry_wire_sqli::TypeCode;
use rowferry_wire_sqli::types::TimeUnit;
use rowferry_wire_sqli::values::CellFormat;

use super::typed::{self, Rows, Value};
use super::{
    Answers, Canceller, Column, Conversation, Dialect, Done, Kind, Place, Refused, Transaction, caret, unreachable,
};
use crate::Failure;

/// What the server says to a wrong user or password.
const INCORRECT_PASSWORD: i32 = -951;

/// An open connection.
pub(super) struct Open {
    config: Config,
    connection: Connection,
    database: String,
    lost: bool,
}

impl Open {
    pub(super) fn connect(url: &Url) -> Result<Self, Refused> {
        let config = Config::from_url(url).map_err(|error| failure(&error, ""))?;
        let connection = Connection::connect(&config).map_err(|error| match &error {
            Error::Server(answer) if i32::from(answer.sqlcode) == INCORRECT_PASSWORD => {
                Refused::Password(failure(&error, ""))
            }
            Error::Transport(error) => Refused::Otherwise(unreachable(&config.address, error)),
            _ => Refused::Otherwise(failure(&error, "")),
        })?;
        let database = url.option("database").unwrap_or(&url.database).to_owned();
        Ok(Self { config, connection, database, lost: false })
    }
}

/// What a URL says.
pub(super) fn place(url: &Url) -> Result<Place, Failure> {
    let config = Config::from_url(url).map_err(|error| failure(&error, ""))?;
    Ok(Place {
        product: "Informix",
        address: config.address,
        default_port: informix::PORT,
        user: url.user.clone(),
        password_from: None,
        tls: if config.tls.is_some() { "required" } else { "disabled" }.to_owned(),
    })
}

impl Conversation for Open {
    fn ask(&mut self, sql: &str, answers: &mut dyn Answers) -> Result<(), Failure> {
        self.ask_with(sql, &[], answers)
    }

    fn ask_with(&mut self, sql: &str, values: &[Option<&str>], answers: &mut dyn Answers) -> Result<(), Failure> {
        let result = self.connection.answers(sql, values, &mut |answer| match answer {
            Answer::Columns(columns) => answers.begin(columns.iter().map(column).collect()),
            Answer::Row(row) => answers.row(row),
            Answer::EndOfRows => answers.end(),
            Answer::Done { affected_rows, .. } => {
                answers.done(&Done::changed(u64::try_from(affected_rows).unwrap_or_default()))
            }
        });
        result.map_err(|error| match error {
            Error::Output(error) => {
                self.lost = true;
                Failure::from(error)
            }
            error => {
                self.lost = !matches!(error, Error::Server(_) | Error::Misuse(_));
                failure(&error, sql)
            }
        })
    }

    fn read(&mut self, sql: &str, values: &[Option<&str>], rows: &mut dyn Rows) -> Result<(), Failure> {
        // Two closures take them in turns.
        let rows = std::cell::RefCell::new(rows);
        let is_bytes = std::cell::RefCell::new(Vec::new());
        self.lost = true;
        let result = self.connection.read(
            sql,
            values,
            |columns| {
                let is_locator = |format| matches!(format, CellFormat::LocatorHex | CellFormat::LocatorRaw);
                if let Some(column) = columns.iter().find(|column| is_locator(column.format)) {
                    let name = String::from_utf8_lossy(&column.name);
                    return Err(Error::Misuse(format!(
                        "the column `{name}` is a large object, and rows have no more than its place"
                    )));
                }
                let fields: Vec<_> = columns
                    .iter()
                    .map(|column| typed::column(&String::from_utf8_lossy(&column.name), data_type(column)))
                    .collect();
                *is_bytes.borrow_mut() = fields.iter().map(|field| *field.data_type() == DataType::Binary).collect();
                rows.borrow_mut().begin(fields).map_err(Error::Output)
            },
            |row| {
                let is_bytes = is_bytes.borrow();
                let cells = row.iter().zip(&*is_bytes).map(|(cell, is_bytes)| match (cell, is_bytes) {
                    (None, _) => Value::Null,
                    (Some(cell), true) => Value::Bytes(cell),
                    (Some(cell), false) => Value::Spelled(cell),
                });
                rows.borrow_mut().row(&cells.collect::<Vec<_>>()).map_err(Error::Output)
            },
        );
        result.map_err(|error| match error {
            Error::Output(error) => Failure::from(error),
            error => failure(&error, sql),
        })?;
        rows.borrow_mut().end()?;
        self.lost = false;
        Ok(())
    }

    fn sql(&self) -> Dialect {
        Dialect::Informix
    }

    fn whom(&self) -> String {
        format!("{} at {}", self.connection.server_version(), self.config.address)
    }

    fn database(&self) -> &str {
        &self.database
    }

    fn transaction(&self) -> Transaction {
        if self.connection.in_transaction() { Transaction::Open } else { Transaction::None }
    }

    fn canceller(&self) -> Option<Canceller> {
        let canceller = self.connection.canceller();
        Some(Box::new(move || {
            // A connection that is gone needs no stopping.
            let _ = canceller.cancel();
        }))
    }

    fn is_lost(&self) -> bool {
        self.lost
    }

    fn close(self: Box<Self>) -> Result<(), Failure> {
        self.connection.close().map_err(|error| failure(&error, ""))
    }
}

fn column(column: &informix::Column) -> Column {
    let kind = match column.code {
        TypeCode::SMALLINT
        | TypeCode::INTEGER
        | TypeCode::BIGINT
        | TypeCode::INT8
        | TypeCode::SERIAL
        | TypeCode::SERIAL8
        | TypeCode::BIGSERIAL
        | TypeCode::FLOAT
        | TypeCode::SMALLFLOAT
        | TypeCode::DECIMAL
        | TypeCode::MONEY => Kind::Number,
        _ => Kind::Text,
    };
    Column { name: String::from_utf8_lossy(&column.name).into_owned(), kind }
}

/// The same types as those of the driver for Python, but INTERVALs and collections, which are text.
fn data_type(column: &informix::Column) -> DataType {
    match column.format {
        CellFormat::SmallInt => DataType::Int16,
        CellFormat::Integer => DataType::Int32,
        CellFormat::BigInt | CellFormat::Int8 => DataType::Int64,
        CellFormat::Float => DataType::Float64,
        CellFormat::SmallFloat => DataType::Float32,
        CellFormat::Decimal { precision, scale: Some(scale) } => typed::decimal(i64::from(precision), i64::from(scale)),
        CellFormat::Date => DataType::Date32,
        // Fields that begin elsewhere are no day of a year.
        CellFormat::DateTime(qualifier) => match (qualifier.first(), qualifier.last()) {
            (TimeUnit::YEAR, TimeUnit::DAY) => DataType::Date32,
            (TimeUnit::YEAR, last) if last.0 >= TimeUnit::HOUR.0 => typed::timestamp(),
            (TimeUnit::HOUR, _) => typed::time(),
            _ => DataType::Utf8,
        },
        CellFormat::BooleanText | CellFormat::BooleanBinary => DataType::Boolean,
        CellFormat::SimpleLob(_) if column.code == TypeCode::BYTE => DataType::Binary,
        CellFormat::Opaque | CellFormat::Described => DataType::Binary,
        _ => DataType::Utf8,
    }
}

fn failure(error: &informix::Error, sql: &str) -> Failure {
    let mut message = error.to_string();
    if let informix::Error::Server(error) = error
        && let Ok(position @ 1..) = u32::try_from(error.offset)
    {
        message.push_str(&caret(sql, position));
    }
    Failure::new(message)
}
