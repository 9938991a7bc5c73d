//! MySQL and MariaDB, by text protocol.

use std::fmt::Write as _;

use arrow_schema::{DataType, TimeUnit};
use rowferry_client::Url;
use rowferry_client::mysql::{self, Answer, Config, Connection, Error};
use rowferry_wire::civil;
use rowferry_wire_mysql::messages::resultset::{ColumnDefinition, DateTime, Time};
use rowferry_wire_mysql::types::ColumnType;

use super::typed::{self, Rows, Value};
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
                Answer::Row(columns, row) => {
                    let shown = mysql::shown(columns, row).into_iter();
                    answers.row(shown.map(|cell| cell.map(String::into_bytes)).collect())
                }
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

    fn read(&mut self, sql: &str, values: &[Option<&str>], rows: &mut dyn Rows) -> Result<(), Failure> {
        // Two closures take them in turns.
        let rows = std::cell::RefCell::new(rows);
        self.lost = true;
        self.connection.query("START TRANSACTION").map_err(failure)?;
        let result = self.connection.read(
            sql.as_bytes(),
            values,
            |columns| {
                let fields = columns.iter().map(|column| typed::column(&column.name, data_type(column))).collect();
                rows.borrow_mut().begin(fields).map_err(Error::Output)
            },
            |columns, row| {
                let cells: Vec<Value<'_>> =
                    columns.iter().zip(row).map(|(column, cell)| value(column, *cell)).collect();
                rows.borrow_mut().row(&cells).map_err(Error::Output)
            },
        );
        result.map_err(failure)?;
        rows.borrow_mut().end()?;
        self.connection.query("COMMIT").map_err(failure)?;
        self.lost = false;
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

/// The same types as those of the driver for Python, but decimals of more than 38 digits, which are text.
fn data_type(definition: &ColumnDefinition) -> DataType {
    let signed = |signed, unsigned| if definition.is_unsigned() { unsigned } else { signed };
    match definition.column_type {
        ColumnType::TINY => signed(DataType::Int8, DataType::UInt8),
        ColumnType::SHORT => signed(DataType::Int16, DataType::UInt16),
        ColumnType::LONG | ColumnType::INT24 => signed(DataType::Int32, DataType::UInt32),
        ColumnType::LONGLONG => signed(DataType::Int64, DataType::UInt64),
        // Up to 2155, whatever its flags say.
        ColumnType::YEAR => DataType::Int16,
        ColumnType::FLOAT => DataType::Float32,
        ColumnType::DOUBLE => DataType::Float64,
        ColumnType::DECIMAL | ColumnType::NEWDECIMAL => {
            // The display width counts the digits, a point where there are decimals, and a sign where there may be one.
            let beside = i64::from(definition.decimals > 0) + i64::from(!definition.is_unsigned());
            let scale = i64::from(definition.decimals);
            typed::decimal((i64::from(definition.length) - beside).clamp(1, 76), scale)
        }
        ColumnType::DATE | ColumnType::NEWDATE => DataType::Date32,
        ColumnType::DATETIME | ColumnType::TIMESTAMP => typed::timestamp(),
        // From -838 hours to 838: no time of a day.
        ColumnType::TIME => DataType::Duration(TimeUnit::Microsecond),
        ColumnType::JSON => DataType::Utf8,
        ColumnType::BIT | ColumnType::GEOMETRY | ColumnType::VECTOR => DataType::Binary,
        _ if definition.is_binary()
            && !matches!(definition.column_type, ColumnType::ENUM | ColumnType::SET | ColumnType::NULL) =>
        {
            DataType::Binary
        }
        _ => DataType::Utf8,
    }
}

/// A cell of the binary protocol.
fn value<'a>(definition: &ColumnDefinition, cell: Option<&'a [u8]>) -> Value<'a> {
    let Some(body) = cell else { return Value::Null };
    let unsigned = definition.is_unsigned();
    let integer = |signed: i64, number: u64| if unsigned { Value::UInt(number) } else { Value::Int(signed) };
    match (definition.column_type, body) {
        (ColumnType::TINY, &[a]) => integer(i64::from(a as i8), u64::from(a)),
        (ColumnType::SHORT | ColumnType::YEAR, &[a, b]) => {
            let number = u16::from_le_bytes([a, b]);
            integer(i64::from(number as i16), u64::from(number))
        }
        (ColumnType::LONG | ColumnType::INT24, &[a, b, c, d]) => {
            let number = u32::from_le_bytes([a, b, c, d]);
            integer(i64::from(number as i32), u64::from(number))
        }
        (ColumnType::FLOAT, &[a, b, c, d]) => Value::Single(f32::from_le_bytes([a, b, c, d])),
        (ColumnType::LONGLONG, body) if body.len() == 8 => {
            let number = body.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            integer(number as i64, number)
        }
        (ColumnType::DOUBLE, body) if body.len() == 8 => {
            let bits = body.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            Value::Double(f64::from_bits(bits))
        }
        (ColumnType::DATE | ColumnType::NEWDATE | ColumnType::DATETIME | ColumnType::TIMESTAMP, body) => {
            let date_only = matches!(definition.column_type, ColumnType::DATE | ColumnType::NEWDATE);
            match DateTime::decode(body) {
                Ok(moment) => day_or_moment(moment, date_only),
                Err(error) => Value::Wrong(error.to_string()),
            }
        }
        (ColumnType::TIME, body) => match Time::decode(body) {
            Ok(time) => {
                let hours = i64::from(time.days) * 24 + i64::from(time.hours);
                let seconds = hours * 3_600 + i64::from(time.minutes) * 60 + i64::from(time.seconds);
                let total = seconds * 1_000_000 + i64::from(time.microseconds);
                Value::Micros(if time.negative { -total } else { total })
            }
            Err(error) => Value::Wrong(error.to_string()),
        },
        _ if data_type(definition) == DataType::Binary => Value::Bytes(body),
        _ => Value::Spelled(body),
    }
}

fn day_or_moment(moment: DateTime, date_only: bool) -> Value<'static> {
    let DateTime { year, month, day, hour, minute, second, microsecond } = moment;
    if day == 0 || day > civil::days_in_month(i64::from(year), month) {
        return Value::Wrong(format!("`{year:04}-{month:02}-{day:02}` is no date of the calendar"));
    }
    let days = civil::days_from_civil(i64::from(year), i64::from(month), i64::from(day));
    if date_only {
        return Value::Days(days);
    }
    let seconds = days * 86_400 + i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
    Value::Micros(seconds * 1_000_000 + i64::from(microsecond))
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
