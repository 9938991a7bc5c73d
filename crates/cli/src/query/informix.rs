//! Anything that speaks Informix's SQLI protocol, `rowferry serve --informix` included.

use std::io::Write;

use rowferry_client::{Url, informix};
use rowferry_wire_sqli::TypeCode;

use super::{Column, Kind, Printer, caret, changed};
use crate::Failure;

pub(super) fn ask<W: Write>(url: &Url, sql: &str, printer: &mut Printer<W>) -> Result<(), Failure> {
    let fail = |error| failure(&error, sql);
    let config = informix::Config::from_url(url).map_err(fail)?;
    let mut connection = informix::Connection::connect(&config).map_err(fail)?;
    let result = connection.query(sql).map_err(fail)?;
    if result.columns.is_empty() {
        printer.done(&changed(u64::try_from(result.affected_rows).unwrap_or(0)))?;
    } else {
        printer.begin(result.columns.iter().map(column).collect())?;
        result.rows.into_iter().try_for_each(|row| printer.row(row))?;
    }
    connection.close().map_err(fail)
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

fn failure(error: &informix::Error, sql: &str) -> Failure {
    let mut message = error.to_string();
    if let informix::Error::Server(error) = error
        && let Ok(position @ 1..) = u32::try_from(error.offset)
    {
        message.push_str(&caret(sql, position));
    }
    Failure::new(message)
}
