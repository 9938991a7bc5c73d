//! From rows to requests: as many rows in each as are worth a round trip.

use pyo3::prelude::*;
use rowferry_wire_mysql::client::{Client, MOST_STATEMENTS, Misuse};
use rowferry_wire_mysql::messages::bulk::{BulkRows, RowFit};
use rowferry_wire_mysql::messages::statement::StatementId;

use super::source::Source;
use super::statement::Statement;
use crate::mysql::values::Encoding;

/// A request is sent once it is about this large: the server works on it while the next is made. Half or twice as much
/// makes no difference that can be measured, eight times as much costs MySQL 9 a fifth more for each row.
const WORTH_SENDING: usize = 128 * 1024;

/// Before the server has said what it takes, requests are so small that every server takes them.
const CAUTIOUS: usize = 16 * 1024;

/// How rows become requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// MariaDB executes a prepared statement for many rows.
    Bulk,
    /// One INSERT with many lists of values.
    Insert,
    /// Many statements in one text.
    Joined,
    /// A statement for each row.
    Single,
}

/// What is sent.
pub enum Payload {
    Text(Vec<u8>),
    Rows(Box<BulkRows>),
}

/// A request for rows from `first` on.
pub struct Request {
    pub payload: Payload,
    pub first: usize,
    pub rows: usize,
    pub way: Way,
}

impl Request {
    /// How many bytes the server must take at once.
    pub fn size(&self) -> usize {
        match &self.payload {
            Payload::Text(sql) => sql.len() + 1,
            Payload::Rows(rows) => rows.size(),
        }
    }

    /// True when it is small enough for every server.
    pub fn is_small(&self) -> bool {
        self.size() <= CAUTIOUS
    }

    pub fn send(&mut self, client: &mut Client) -> Result<(), Misuse> {
        match &mut self.payload {
            Payload::Text(sql) if self.way == Way::Joined => client.query_statements(sql),
            Payload::Text(sql) => client.query(sql),
            Payload::Rows(rows) => client.execute_rows(rows),
        }
    }
}

/// Makes requests.
pub struct Maker {
    pub statement: Statement,
    pub source: Source,
    pub way: Way,
    encoding: Encoding,
    /// At most this large, unless a single row is larger.
    most: usize,
    /// The prepared statement, once there is one.
    pub prepared: Option<StatementId>,
    /// The rows of requests that the server may yet decline as a whole: none once it has executed one.
    kept: Option<Vec<Py<PyAny>>>,
    joins: bool,
    /// Payloads to be filled again.
    spare_text: Vec<u8>,
    spare_rows: Option<Box<BulkRows>>,
}

impl Maker {
    pub fn new(statement: Statement, source: Source, encoding: Encoding, client: &Client, most: usize) -> Self {
        let joins = client.takes_statements();
        let mut maker = Self {
            statement,
            source,
            way: Way::Bulk,
            encoding,
            most,
            prepared: None,
            kept: Some(Vec::new()),
            joins,
            spare_text: Vec::new(),
            spare_rows: None,
        };
        if !client.takes_rows() || maker.statement.marked.is_none() {
            maker.write_text();
        }
        maker
    }

    /// From here on, values travel in the text.
    fn write_text(&mut self) {
        self.way = match &self.statement {
            Statement { insert: Some(_), .. } => Way::Insert,
            _ if self.may_join() => Way::Joined,
            _ => Way::Single,
        };
    }

    const fn may_join(&self) -> bool {
        self.joins && self.statement.is_joinable
    }

    /// True until the server has executed the statement for many rows.
    pub const fn may_be_declined(&self) -> bool {
        self.kept.is_some()
    }

    /// The server does not execute the statement for many rows: those that were to be its first come again, as text.
    pub fn declined(&mut self) {
        self.source.give_back(self.kept.take().unwrap_or_default().into_iter());
        self.write_text();
    }

    /// The server executes the statement for many rows.
    pub fn accepted(&mut self) {
        self.kept = None;
    }

    /// The request was sent; its memory serves again.
    pub fn recycle(&mut self, request: Request) {
        match request.payload {
            Payload::Text(mut sql) => {
                sql.clear();
                sql.shrink_to(4 * WORTH_SENDING);
                self.spare_text = sql;
            }
            Payload::Rows(rows) => self.spare_rows = Some(rows),
        }
    }

    /// The next request, `None` when the rows are over; and what was wrong with the row behind it.
    pub fn next(&mut self, py: Python<'_>, server_limit: Option<usize>) -> (Option<Request>, Option<PyErr>) {
        // Servers refuse what is as long as their limit; a command's byte goes in front of a text.
        let limit = server_limit.unwrap_or(CAUTIOUS).saturating_sub(2).min(WORTH_SENDING).min(self.most);
        let first = self.source.position();
        let (payload, rows, failed) = match self.way {
            Way::Bulk => {
                let (payload, failed) = self.bulk(py, limit);
                let rows = payload.len();
                if rows == 0 && failed.is_none() && !self.source.is_over() {
                    // The first row is none that can be bound.
                    self.spare_rows = None;
                    self.write_text();
                    return self.next(py, server_limit);
                }
                (Payload::Rows(payload), rows, failed)
            }
            Way::Insert => {
                let (sql, rows, failed) = self.insert(py, limit);
                (Payload::Text(sql), rows, failed)
            }
            Way::Joined | Way::Single => {
                let (sql, rows, failed) = self.statements(py, limit);
                (Payload::Text(sql), rows, failed)
            }
        };
        let request = (rows > 0).then_some(Request { payload, first, rows, way: self.way });
        (request, failed)
    }

    fn bulk(&mut self, py: Python<'_>, limit: usize) -> (Box<BulkRows>, Option<PyErr>) {
        let Some(marked) = &self.statement.marked else { return (Box::default(), None) };
        let mut payload = self.spare_rows.take().unwrap_or_else(|| Box::new(BulkRows::new(marked.params)));
        payload.begin(self.prepared.unwrap_or(StatementId::LAST_PREPARED), false);
        loop {
            let row = match self.source.next(py) {
                Ok(Some(row)) => row,
                Ok(None) => return (payload, None),
                Err(raised) => return (payload, Some(raised)),
            };
            payload.begin_row();
            let bound = marked.bind(&self.encoding, payload.as_mut(), &row);
            let fit = payload.end_row();
            let fits = bound && fit == RowFit::Fits;
            if bound && fit == RowFit::Fits && payload.size() > limit && payload.len() > 1 {
                payload.drop_last();
            } else if fits {
                if let Some(kept) = &mut self.kept {
                    kept.push(row.unbind());
                }
                continue;
            } else if fit == RowFit::Fits {
                payload.drop_last();
            }
            self.source.give_back(std::iter::once(row.unbind()));
            return (payload, None);
        }
    }

    fn insert(&mut self, py: Python<'_>, limit: usize) -> (Vec<u8>, usize, Option<PyErr>) {
        let mut sql = std::mem::take(&mut self.spare_text);
        let Some(insert) = &self.statement.insert else { return (sql, 0, None) };
        sql.extend_from_slice(&insert.head);
        let (rows, failed) = each_row(
            py,
            &mut self.source,
            &mut sql,
            limit - insert.tail.len().min(limit),
            usize::MAX,
            |sql, row, at| {
                if at > 0 {
                    sql.push(b',');
                }
                insert.values.fill(&self.encoding, sql, row)
            },
        );
        sql.extend_from_slice(&insert.tail);
        (sql, rows, failed)
    }

    fn statements(&mut self, py: Python<'_>, limit: usize) -> (Vec<u8>, usize, Option<PyErr>) {
        let mut sql = std::mem::take(&mut self.spare_text);
        let whole = &self.statement.whole;
        let between: &[u8] = if self.statement.ends_in_line_comment { b"\n;" } else { b";" };
        let limit = if self.way == Way::Single { 0 } else { limit };
        let (rows, failed) = each_row(py, &mut self.source, &mut sql, limit, MOST_STATEMENTS, |sql, row, at| {
            if at > 0 {
                sql.extend_from_slice(between);
            }
            whole.fill(&self.encoding, sql, row)
        });
        (sql, rows, failed)
    }
}

/// Appends rows up to `limit` bytes or `most` rows, at least one. Answers how many there are, and what was wrong with the one behind.
fn each_row(
    py: Python<'_>,
    source: &mut Source,
    sql: &mut Vec<u8>,
    limit: usize,
    most: usize,
    put: impl Fn(&mut Vec<u8>, &Bound<'_, PyAny>, usize) -> PyResult<()>,
) -> (usize, Option<PyErr>) {
    let mut rows = 0;
    loop {
        let row = match source.next(py) {
            Ok(Some(row)) => row,
            Ok(None) => return (rows, None),
            Err(raised) => return (rows, Some(raised)),
        };
        let before = sql.len();
        if let Err(wrong) = put(sql, &row, rows) {
            sql.truncate(before);
            // The attribute is there on all of our classes; others go without.
            let _ = wrong.value(py).setattr("row", source.position() - 1);
            return (rows, Some(wrong));
        }
        if rows > 0 && sql.len() > limit {
            sql.truncate(before);
            source.give_back(std::iter::once(row.unbind()));
            return (rows, None);
        }
        rows += 1;
        if sql.len() >= limit || rows == most {
            return (rows, None);
        }
    }
}
