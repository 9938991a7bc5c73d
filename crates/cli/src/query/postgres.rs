//! Anything that speaks PostgreSQL's protocol, `rowferry serve` included.

use std::io::{self, Write};

use rowferry_client::Url;
use rowferry_client::postgres::{Answers, Config, Connection, Error};
use rowferry_wire_pg::messages::{FieldDescription, Notice};

use super::{Column, Kind, Printer, caret};
use crate::Failure;

pub(super) fn ask<W: Write>(url: &Url, sql: &str, printer: &mut Printer<W>) -> Result<(), Failure> {
    let fail = |error| failure(error, sql);
    let config = Config::from_url(url).map_err(fail)?;
    let mut connection = Connection::connect(&config).map_err(fail)?;
    let mut answers = Printing { printer, has_rows: false };
    connection.query(sql, &mut answers).map_err(fail)?;
    connection.close().map_err(fail)
}

struct Printing<'a, W: Write> {
    printer: &'a mut Printer<W>,
    has_rows: bool,
}

impl<W: Write> Answers for Printing<'_, W> {
    fn columns(&mut self, columns: &[FieldDescription<'_>]) -> io::Result<()> {
        self.has_rows = true;
        self.printer.begin(columns.iter().map(column).collect())
    }

    fn row(&mut self, cells: &mut dyn Iterator<Item = Option<&[u8]>>) -> io::Result<()> {
        self.printer.row(cells.map(|cell| cell.map(|bytes| String::from_utf8_lossy(bytes).into_owned())).collect())
    }

    fn complete(&mut self, tag: &str) -> io::Result<()> {
        if std::mem::take(&mut self.has_rows) { self.printer.end() } else { self.printer.done(tag) }
    }

    fn copy_data(&mut self, data: &[u8]) -> io::Result<()> {
        self.printer.raw(data)
    }

    fn notice(&mut self, notice: &Notice<'_>) -> io::Result<()> {
        eprintln!("{}: {}", notice.severity.as_str().to_lowercase(), notice.message);
        Ok(())
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
            Failure { message, hint: notice.hint.as_deref().map(str::to_owned) }
        }
        Error::Output(error) => Failure::from(error),
        other => Failure::new(other.to_string()),
    }
}
