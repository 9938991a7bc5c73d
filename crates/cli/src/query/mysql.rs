//! MySQL and MariaDB, by text protocol.

use std::io::Write;

use rowferry_client::{Url, mysql};
use rowferry_wire_mysql::messages::resultset::ColumnDefinition;
use rowferry_wire_mysql::types::ColumnType;

use super::{Column, Kind, Printer, changed};
use crate::Failure;

pub(super) fn ask<W: Write>(url: &Url, sql: &str, printer: &mut Printer<W>) -> Result<(), Failure> {
    let config = mysql::Config::from_url(url).map_err(failure)?;
    let mut connection = mysql::Connection::connect(&config).map_err(failure)?;
    let mut printed = Ok(());
    connection
        .query_each(sql, |result| {
            if printed.is_ok() {
                printed = print(result, printer);
            }
        })
        .map_err(failure)?;
    printed?;
    connection.close().map_err(failure)
}

fn print<W: Write>(result: mysql::QueryResult, printer: &mut Printer<W>) -> std::io::Result<()> {
    if result.columns.is_empty() {
        return printer.done(&changed(result.affected_rows));
    }
    printer.begin(result.columns.iter().map(column).collect())?;
    result.rows.into_iter().try_for_each(|row| printer.row(row))
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
        mysql::Error::Server(error) => {
            Failure::new(format!("{} ({}, SQLSTATE {})", error.message, error.code, error.sqlstate))
        }
        other => Failure::new(other.to_string()),
    }
}
