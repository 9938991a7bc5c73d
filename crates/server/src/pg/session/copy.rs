//! The conversation of COPY.

use std::sync::Arc;

use rowferry_dialect::ir::{Copy, CopyFormat, TriggerEvent, TriggerLevel, TriggerTime};
use rowferry_dialect::values::Settings;
use rowferry_engine::{Command, Condition, Each, Error, Outcome, Prepared, Session};
use rowferry_wire_pg::Format;
use rowferry_wire_pg::messages::{CopyFormats, CopyResponse};
use rowferry_wire_pg::server::{Request, Violation};

use super::super::copy::{self, Column, CopyIn, CopyOut, Decoder};
use super::super::{report, values};
use super::{Began, Commands};
use crate::Ending;
use crate::kit::Failure;

/// A COPY FROM whose data are coming.
#[derive(Debug)]
pub(super) struct Copying {
    data: CopyIn,
    /// For texts that are not UTF-8.
    decoder: Option<Decoder>,
    /// The INSERT of one row.
    insert: Arc<Prepared>,
    rows: u64,
    /// It was begun by a simple query, which ends with it.
    simple: bool,
}

impl Commands<'_> {
    /// COPY TO: sends all rows; how many.
    pub(super) fn copy_out(&mut self, prepared: &Arc<Prepared>, copy: &Copy) -> Result<u64, Failure> {
        let query = self.session.copy_plan(prepared)?;
        let columns = query.bound.columns.iter();
        let columns = columns.map(|column| Column { name: column.name.clone(), ty: column.ty.clone() }).collect();
        let mut data = CopyOut::new(copy.options.clone(), columns)?;
        let table = copy.origins.iter().flatten().next().filter(|_| copy.table).map_or(0, |(table, _)| *table);
        self.session.begin_copy(&query, table, false);
        let Outcome::Rows(mut cursor) = self.session.execute(&query, &[])? else {
            return Err(Error::internal("the query of a COPY returned no rows").into());
        };
        let format = if copy.options.format == CopyFormat::Binary { Format::BINARY } else { Format::TEXT };
        let codes = format_codes(format, data.len());
        self.wire.server.copy_out(CopyResponse { overall: format, columns: CopyFormats::from_wire(&codes) });
        let settings = copy::settings(self.session.settings(), &copy.options);
        let encoding = settings.client_encoding.filter(|_| format == Format::TEXT);
        let mut piece = Vec::new();
        data.begin(&mut piece);
        let mut rows = 0;
        loop {
            // A row, or the names, to a message; a binary header goes with what comes first.
            if !piece.is_empty() && (rows > 0 || format == Format::TEXT) {
                if let Some(encoding) = encoding {
                    report::recode(&mut piece, 0, encoding)?;
                }
                self.wire.server.copy_data(&piece);
                self.session.copied(piece.len(), 0);
                self.wire.relieve()?;
                piece.clear();
            }
            let Some(row) = cursor.next()? else { break };
            rows += 1;
            self.session.copied(0, 1);
            if let Err((index, error)) = data.row(&mut piece, |index| row.get(index), &settings) {
                drop(row);
                let column = &cursor.columns()[index];
                return Err(values::place(error, &self.session, rows, column, format, &settings).into());
            }
        }
        data.end(&mut piece);
        if !piece.is_empty() {
            self.wire.server.copy_data(&piece);
        }
        self.wire.server.copy_done();
        self.session.end_copy();
        Ok(rows)
    }

    /// COPY FROM: asks for the data, which the requests to come bring.
    pub(super) fn begin_copy_in(
        &mut self,
        prepared: &Arc<Prepared>,
        copy: &Copy,
        simple: bool,
    ) -> Result<Box<Copying>, Failure> {
        let insert = self.session.copy_plan(prepared)?;
        let columns = copy.from.as_ref().map(|from| copy::columns(from, insert.bound.params.len())).unwrap_or_default();
        let limit = self.wire.connection.limits().max_message;
        let table = copy.from.as_ref().map(|insert| insert.target.name.clone()).unwrap_or_default();
        let one_by_one = copy.from.as_ref().is_some_and(|insert| {
            let told = |time| insert.target.has_trigger(time, TriggerLevel::Row, TriggerEvent::Insert);
            told(TriggerTime::Before) || told(TriggerTime::InsteadOf)
        });
        let data = CopyIn::new(copy.options.clone(), table, columns, limit).one_by_one(one_by_one);
        // All rows or none.
        if simple {
            self.session.begin_implicit();
        } else {
            self.session.begin_pipeline();
        }
        let codes = format_codes(data.format(), data.len());
        let columns = CopyFormats::from_wire(&codes);
        self.wire.server.copy_in(CopyResponse { overall: data.format(), columns });
        self.wire.flush()?;
        // What follows fails behind the answer, as it does in PostgreSQL: the data that come are ignored then.
        self.session.check_freeze(copy)?;
        self.session.begin_rows(&insert)?;
        self.session.begin_copy(&insert, copy.from.as_ref().map_or(0, |insert| insert.target.oid), true);
        let settings = copy::settings(self.session.settings(), &copy.options);
        let decoder = settings.client_encoding.filter(|_| data.format() == Format::TEXT).map(Decoder::new);
        Ok(Box::new(Copying { data, decoder, insert, rows: 0, simple }))
    }

    /// Obeys a request while the data of a COPY FROM are coming.
    pub(super) fn obey_copying(
        &mut self,
        request: Result<Request<'_>, Violation>,
        mut copying: Box<Copying>,
    ) -> Result<Began, Ending> {
        let settings = copying.data.settings(self.session.settings());
        let encoding = self.wire.server.texts().0;
        let Copying { data, decoder, insert, rows, simple } = &mut *copying;
        let mut inserter = Inserter { session: &mut self.session, insert, each: None, rows };
        let mut take = |row: &copy::InRow| inserter.insert(row);
        let result = match &request {
            Ok(Request::CopyData(piece)) => feed(data, decoder, piece, &settings, &mut take),
            Ok(Request::CopyDone) => match decoder.as_ref().map_or(Ok(()), Decoder::finish) {
                Ok(()) => data.finish(&settings, &mut take),
                Err(error) => Err(data.instead_of_row(error)),
            },
            Ok(Request::CopyFail(why)) => Err(data.instead_of_row(Error::new(
                Condition::QueryCanceled,
                format!("COPY from stdin failed: {}", report::text(why, encoding).unwrap_or("(not a text)".into())),
            ))),
            Ok(Request::Terminate) => return Err(Ending::Goodbye),
            Ok(_) => Err(Error::internal("a command amid the data of a COPY")),
            Err(violation) => Err(report::violation(violation)),
        };
        let ended = inserter.end();
        let result = result.and(ended);
        if let Ok(Request::CopyData(piece)) = &request {
            self.session.copied(piece.len(), 0);
            if result.is_ok() {
                return Ok(Some(copying));
            }
        }
        let (rows, simple) = (*rows, *simple);
        // A simple query ends here: its transaction is committed before the client is told that it is.
        let result = result.and_then(|()| self.session.end_rows(insert));
        self.session.forget_rows();
        let result = result.and_then(|()| if simple { self.end_implicit() } else { Ok(()) });
        match result {
            Ok(()) => self.complete(Command::Copy, rows),
            Err(error) => self.failed(&error),
        }
        if simple { self.end_query() } else { self.wire.flush().map(|()| None) }
    }
}

/// Inserts the rows that come with a message.
struct Inserter<'a> {
    session: &'a mut Session,
    insert: &'a Arc<Prepared>,
    /// What takes the rows behind the first, where they are not statements of their own.
    each: Option<Each>,
    /// What a condition leaves out, or a trigger keeps away, does not count.
    rows: &'a mut u64,
}

impl Inserter<'_> {
    fn insert(&mut self, row: &copy::InRow) -> Result<(), Error> {
        if let Some(each) = &mut self.each {
            let written = self.session.execute_each(each, row)?;
            self.session.copied_row(written);
            *self.rows += written;
            return Ok(());
        }
        if let Outcome::Done { rows, .. } = self.session.execute(self.insert, row)? {
            self.session.copied_row(rows);
            *self.rows += rows;
        }
        self.each = self.session.begin_each(self.insert)?;
        Ok(())
    }

    /// The message has no more rows.
    fn end(self) -> Result<(), Error> {
        self.each.map_or(Ok(()), |each| self.session.end_each(each))
    }
}

/// Gives a piece of the data to those who read rows.
fn feed(
    data: &mut CopyIn,
    decoder: &mut Option<Decoder>,
    piece: &[u8],
    settings: &Settings,
    take: &mut dyn FnMut(&copy::InRow) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(decoder) = decoder else { return data.feed(piece, settings, take) };
    let text = decoder.feed(piece).map_err(|error| data.instead_of_row(error))?;
    data.feed(text.as_bytes(), settings, take)
}

fn format_codes(format: Format, columns: usize) -> Vec<u8> {
    format.0.to_be_bytes().repeat(columns)
}
