//! The conversation of COPY.

use std::sync::Arc;

use rowferry_dialect::ir::{Copy, CopyFormat, TriggerEvent, TriggerLevel, TriggerTime};
use rowferry_dialect::values::Settings;
use rowferry_encodings::Encoding;
use rowferry_engine::{Command, Condition, Each, Error, Outcome, Prepared, Session};
use rowferry_wire_pg::Format;
use rowferry_wire_pg::messages::{CopyFormats, CopyResponse};
use rowferry_wire_pg::server::{Request, Violation};

use super::super::copy::{self, Ahead, Column, CopyIn, CopyOut, Decoder, InRow, Labels, RowAt, Take};
use super::super::{report, values};
use super::{Began, Commands};
use crate::Ending;
use crate::kit::Failure;

/// A COPY FROM whose data are coming.
#[derive(Debug)]
pub(super) struct Copying {
    reading: Reading,
    labels: Arc<Labels>,
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
        let mut head = Vec::new();
        data.begin(&mut head);
        if format == Format::TEXT && !head.is_empty() {
            // The names are a message of their own; a binary header goes with what comes first.
            self.copy_piece(std::mem::take(&mut head), encoding)?;
        }
        let (mut rows, mut told, mut bytes) = (0, 0, 0);
        loop {
            let Some(row) = cursor.next()? else { break };
            rows += 1;
            let mut piece = self.wire.server.copy_piece();
            piece.out().append(&mut head);
            if let Err((index, error)) = data.row(piece.out(), |index| row.get(index), &settings) {
                piece.abandon();
                drop(row);
                let column = &cursor.columns()[index];
                return Err(values::place(error, &self.session, rows, column, format, &settings).into());
            }
            drop(row);
            if let Some(encoding) = encoding {
                let at = piece.data_at();
                if let Err(error) = report::recode(piece.out(), at, encoding) {
                    piece.abandon();
                    return Err(error.into());
                }
            }
            bytes += piece.finish().ok_or_else(|| too_long(rows))?;
            if self.wire.is_due() {
                self.session.copied(std::mem::take(&mut bytes), rows - told);
                told = rows;
                self.wire.flush()?;
            }
        }
        self.session.copied(bytes, rows - told);
        data.end(&mut head);
        if !head.is_empty() {
            self.copy_piece(head, None)?;
        }
        self.wire.server.copy_done();
        self.session.end_copy();
        Ok(rows)
    }

    /// Sends what is no row of a COPY TO.
    fn copy_piece(&mut self, mut data: Vec<u8>, encoding: Option<&'static Encoding>) -> Result<(), Error> {
        if let Some(encoding) = encoding {
            report::recode(&mut data, 0, encoding)?;
        }
        self.wire.server.copy_data(&data);
        self.session.copied(data.len(), 0);
        Ok(())
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
        let data = CopyIn::new(copy.options.clone(), (table, one_by_one), columns, limit);
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
        let labels = data.labels();
        let reading = Reading { reader: Reader::Here(Box::new(data)), decoder, here: 0 };
        Ok(Box::new(Copying { reading, labels, insert, rows: 0, simple }))
    }

    /// Obeys a request while the data of a COPY FROM are coming.
    pub(super) fn obey_copying(
        &mut self,
        request: Result<&Request<'_>, &Violation>,
        mut copying: Box<Copying>,
    ) -> Result<Began, Ending> {
        let settings = self.session.settings();
        let encoding = self.wire.server.texts().0;
        let Copying { reading, labels, insert, rows, simple } = &mut *copying;
        let mut inserter = Inserter { session: &mut self.session, insert, each: None, rows };
        let mut take = |row: &mut InRow, at: RowAt<'_>| inserter.insert(row).map_err(|error| labels.refused(error, at));
        let result = match request {
            Ok(Request::CopyData(piece)) => reading.feed(piece, settings, &mut take),
            Ok(Request::CopyDone) => reading.finish(settings, &mut take),
            Ok(Request::CopyFail(why)) => {
                let why = report::text(why, encoding).unwrap_or("(not a text)".into());
                let error = Error::new(Condition::QueryCanceled, format!("COPY from stdin failed: {why}"));
                Err(reading.instead_of_row(error, &mut take))
            }
            Ok(Request::Terminate) => return Err(Ending::Goodbye),
            Ok(_) => Err(Error::internal("a command amid the data of a COPY")),
            Err(violation) => Err(report::violation(violation)),
        };
        let ended = inserter.end();
        let result = result.and(ended);
        if let Ok(Request::CopyData(piece)) = request {
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
    fn insert(&mut self, row: &InRow) -> Result<(), Error> {
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

/// After so many bytes of the data a thread of its own reads ahead. What is shorter is not worth a thread.
const READ_HERE: usize = 256 * 1024;

/// Makes rows of the data.
#[derive(Debug)]
struct Reading {
    reader: Reader,
    /// For texts that are not UTF-8.
    decoder: Option<Decoder>,
    /// How many bytes of the data have been read here.
    here: usize,
}

#[derive(Debug)]
enum Reader {
    /// By this thread.
    Here(Box<CopyIn>),
    /// By a thread of its own.
    Ahead(Ahead),
    /// Reading has failed.
    Failed,
}

impl Reading {
    /// Takes a piece of the data.
    fn feed(&mut self, piece: &[u8], settings: Arc<Settings>, take: &mut Take<'_>) -> Result<(), Error> {
        if let Reader::Ahead(ahead) = &mut self.reader {
            ahead.feed(piece, |batch| batch.give(&mut *take))?;
            if !ahead.is_over() {
                return Ok(());
            }
            return self.here(take).map(drop);
        }
        let text = match &mut self.decoder {
            Some(decoder) => match decoder.feed(piece) {
                Ok(text) => Some(text),
                Err(error) => return Err(self.instead_of_row(error, take)),
            },
            None => None,
        };
        let reader = self.here(take)?;
        let settings = reader.settings(settings);
        reader.feed(text.as_ref().map_or(piece, String::as_bytes), &settings, take)?;
        let before = self.here;
        self.here = before.saturating_add(piece.len());
        // Once: what has come back from there stays here.
        if before < READ_HERE && self.here >= READ_HERE && self.decoder.is_none() {
            self.run_ahead(settings);
        }
        Ok(())
    }

    /// The data are complete.
    fn finish(&mut self, settings: Arc<Settings>, take: &mut Take<'_>) -> Result<(), Error> {
        if let Some(Err(error)) = self.decoder.as_ref().map(Decoder::finish) {
            return Err(self.instead_of_row(error, take));
        }
        let reader = self.here(take)?;
        let settings = reader.settings(settings);
        reader.finish(&settings, take)
    }

    /// An error that came instead of the next row, unless one before it fails.
    fn instead_of_row(&mut self, error: Error, take: &mut Take<'_>) -> Error {
        match self.here(take) {
            Ok(reader) => reader.instead_of_row(error),
            Err(earlier) => earlier,
        }
    }

    /// The reader, on this thread: what a thread of its own has still to read is taken before.
    fn here(&mut self, take: &mut Take<'_>) -> Result<&mut CopyIn, Error> {
        self.reader = match std::mem::replace(&mut self.reader, Reader::Failed) {
            Reader::Ahead(ahead) => Reader::Here(ahead.end(|batch| batch.give(&mut *take))?),
            other => other,
        };
        match &mut self.reader {
            Reader::Here(reader) => Ok(reader),
            Reader::Ahead(_) | Reader::Failed => Err(Error::internal("a COPY goes on that has failed")),
        }
    }

    fn run_ahead(&mut self, settings: Arc<Settings>) {
        self.reader = match std::mem::replace(&mut self.reader, Reader::Failed) {
            Reader::Here(reader) if Ahead::serves(&reader) => match Ahead::begin(reader, settings) {
                Ok(ahead) => Reader::Ahead(ahead),
                Err(reader) => Reader::Here(reader),
            },
            other => other,
        };
    }
}

fn too_long(row: u64) -> Error {
    let message = format!("row {row} is longer than a message can be");
    Error::new(Condition::ProgramLimitExceeded, message)
}

fn format_codes(format: Format, columns: usize) -> Vec<u8> {
    format.0.to_be_bytes().repeat(columns)
}
