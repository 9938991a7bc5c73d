//! Many rows: as they come out of a cursor, and as they go into a table.

use std::sync::Arc;

use rowferry_wire_sqli::Widths;
use rowferry_wire_sqli::client::{Column, Event, Params, Prepared};
use rowferry_wire_sqli::values::{Cell, CellFormat};

use super::{Connection, Error, cell_bytes, out_of_place, texts};

/// Rows of one fetch, apart from the connection: values of `BYTE` and `TEXT` are asked for between two fetches.
#[derive(Default)]
struct Fetched {
    rows: Vec<Vec<Fetch>>,
}

/// A text without the blanks that pad a `CHAR`.
fn unpadded(column: &Column, text: &[u8]) -> Vec<u8> {
    let end = match column.format {
        CellFormat::Char(_) => text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1),
        _ => text.len(),
    };
    text[..end].to_vec()
}

enum Fetch {
    Value(Option<Vec<u8>>),
    /// The descriptor of a `BYTE` or `TEXT` value.
    Lob(Vec<u8>),
}

impl Connection {
    /// Runs a query and hands its rows to `each` as they come, as [`cell_bytes`] prints them; texts, `BYTE` and `TEXT` values and
    /// opaque ones as they are. `CHAR` without its blanks.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`] for a statement without rows, which is not run. Those of `each` come back as they are; the
    /// connection is of no further use then.
    pub fn query_rows<E: From<Error>>(
        &mut self,
        sql: &str,
        each: impl FnMut(&[Option<&[u8]>]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read(sql, &[], |_| Ok(()), each)
    }

    /// The same with values for the `?`, which are taken as [`answers`](Self::answers) takes them; `begin` is told the columns
    /// before the query runs.
    ///
    /// # Errors
    ///
    /// As those of [`query_rows`](Self::query_rows), and for more or fewer values than `?`.
    pub fn read<E: From<Error>>(
        &mut self,
        sql: &str,
        values: &[Option<&str>],
        mut begin: impl FnMut(&[Column]) -> Result<(), E>,
        mut each: impl FnMut(&[Option<&[u8]>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (params, count) = texts(sql, values)?;
        self.pump.core_mut().prepare(sql.as_bytes(), count).map_err(Error::from)?;
        let mut prepared: Option<Arc<Prepared>> = None;
        let mut fetched = Fetched::default();
        loop {
            let outcome = loop {
                match self.pump.core_mut().poll().map_err(Error::from)? {
                    Event::Pending => self.pump.advance().map_err(Error::from)?,
                    Event::Prepared(statement) => {
                        if !statement.is_query() {
                            return Err(Error::Misuse("the statement answers no rows".into()).into());
                        }
                        begin(&statement.columns)?;
                        prepared = Some(statement);
                        self.pump.core_mut().run(&params, false).map_err(Error::from)?;
                    }
                    Event::Row(payload) => {
                        let Some(prepared) = &prepared else { continue };
                        let mut row = Vec::with_capacity(prepared.columns.len());
                        prepared
                            .decode_row(payload, |at, cell| {
                                row.push(match cell {
                                    Cell::SimpleLob(lob) => Fetch::Lob(lob.0.to_vec()),
                                    Cell::Opaque(bytes) => Fetch::Value(Some(bytes.to_vec())),
                                    Cell::Text(text) => Fetch::Value(Some(unpadded(&prepared.columns[at], text))),
                                    cell => Fetch::Value(cell_bytes(&prepared.columns[at], &cell)),
                                });
                            })
                            .map_err(Error::from)?;
                        fetched.rows.push(row);
                    }
                    Event::Done(outcome) => break outcome,
                    Event::Error(error) => return Err(Error::Server(error).into()),
                    Event::Unsupported(why) => return Err(Error::Misuse(why).into()),
                    other => return Err(out_of_place(&other).into()),
                }
            };
            let Some(prepared) = &prepared else { return Ok(()) };
            for row in std::mem::take(&mut fetched.rows) {
                let mut values = Vec::with_capacity(row.len());
                for value in row {
                    values.push(match value {
                        Fetch::Value(value) => value,
                        Fetch::Lob(descriptor) => Some(self.lob(prepared, &descriptor)?),
                    });
                }
                let cells: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
                each(&cells)?;
            }
            if !outcome.more {
                if prepared.has_lobs() {
                    self.pump.core_mut().close(prepared);
                }
                return Ok(());
            }
            self.pump.core_mut().fetch(prepared).map_err(Error::from)?;
        }
    }

    fn lob(&mut self, prepared: &Prepared, descriptor: &[u8]) -> Result<Vec<u8>, Error> {
        let lob = rowferry_wire_sqli::messages::SimpleLob(descriptor);
        if lob.size() <= 0 {
            return Ok(Vec::new());
        }
        self.pump.core_mut().fetch_blob(prepared, lob)?;
        loop {
            match self.pump.core_mut().poll()? {
                Event::Pending => self.pump.advance()?,
                Event::Blob(bytes) => return Ok(bytes),
                Event::Error(error) => return Err(Error::Server(error)),
                other => return Err(out_of_place(&other)),
            }
        }
    }

    /// What a query's columns are; it is not run.
    pub fn describe(&mut self, sql: &str) -> Result<Vec<Column>, Error> {
        self.pump.core_mut().prepare(sql.as_bytes(), 0)?;
        let prepared = self.until_prepared()?;
        self.pump.core_mut().abandon();
        Ok(prepared.columns.clone())
    }

    fn until_prepared(&mut self) -> Result<Arc<Prepared>, Error> {
        loop {
            match self.pump.core_mut().poll()? {
                Event::Pending => self.pump.advance()?,
                Event::Prepared(prepared) => return Ok(prepared),
                Event::Error(error) => return Err(Error::Server(error)),
                Event::Unsupported(why) => return Err(Error::Misuse(why)),
                other => return Err(out_of_place(&other)),
            }
        }
    }

    /// Prepares an INSERT with so many `?` for rows of [`put_row`](Self::put_row), which travel in groups; the columns that
    /// it writes.
    pub fn begin_rows(&mut self, sql: &str, parameters: u16) -> Result<Arc<Prepared>, Error> {
        self.pump.core_mut().prepare(sql.as_bytes(), parameters)?;
        let prepared = self.until_prepared()?;
        self.pump.core_mut().start_batch(false)?;
        self.until_taken()?;
        Ok(prepared)
    }

    /// Adds a row. An error may be another row's, which went before.
    pub fn put_row(&mut self, row: &Params) -> Result<(), Error> {
        if self.pump.core_mut().batch(row)? { Ok(()) } else { self.until_taken() }
    }

    fn until_taken(&mut self) -> Result<(), Error> {
        loop {
            match self.pump.core_mut().poll()? {
                Event::Pending => self.pump.advance()?,
                Event::BatchReady => return Ok(()),
                Event::Error(error) => return Err(Error::Server(error)),
                other => return Err(out_of_place(&other)),
            }
        }
    }

    /// Ends the rows and waits until the server has all of them; how many it has inserted.
    pub fn end_rows(&mut self) -> Result<i64, Error> {
        self.pump.core_mut().end_batch()?;
        loop {
            match self.pump.core_mut().poll()? {
                Event::Pending => self.pump.advance()?,
                Event::Done(outcome) => return Ok(outcome.rows),
                Event::Error(error) => return Err(Error::Server(error)),
                other => return Err(out_of_place(&other)),
            }
        }
    }

    /// The widths in force, which `BYTE` and `TEXT` values are encoded by.
    pub fn widths(&self) -> Widths {
        self.pump.core().widths()
    }

    /// Sets the hook that is asked while the connection waits; see [`Pump::set_keep_waiting`](crate::Pump::set_keep_waiting).
    pub fn set_keep_waiting(&mut self, hook: crate::KeepWaiting) {
        self.pump.set_keep_waiting(hook);
    }
}
