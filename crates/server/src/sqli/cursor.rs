//! Statements by number, and the cursors open on them.

use std::collections::VecDeque;
use std::sync::Arc;

use rowferry_dialect::informix::Control;
use rowferry_engine::{Cursor, Prepared, Result, ValueRef};
use rowferry_wire_sqli::values::CellFormat;

use super::store::Rows;
use super::values::{Bound, RowContext, WireColumn, encode_cell};

/// A prepared statement.
#[derive(Debug)]
pub(super) struct Statement {
    /// Informix's number for this kind of statement.
    pub kind: i16,
    /// What it does when it is the door's own business.
    pub control: Option<Control>,
    /// The statements of a text of several, which are compiled when they run.
    pub parts: Vec<String>,
    /// What it does otherwise.
    pub prepared: Option<Arc<Prepared>>,
    /// The columns that are described: a query's result, an INSERT's target.
    pub columns: Arc<[WireColumn]>,
    /// The generated keys that the client wants of an INSERT.
    pub keys: Option<Arc<[WireColumn]>>,
    /// It was prepared FOR UPDATE.
    pub for_update: bool,
    /// How the client wants its rows, if it said.
    pub requested: Option<Arc<[CellFormat]>>,
    /// The values bound last.
    pub bound: Vec<Bound>,
    /// The name under which its cursor is known to WHERE CURRENT OF.
    pub cursor_name: Option<String>,
    /// Rows have their rowid behind their columns.
    pub positioned: bool,
    /// An INSERT that was opened: rows that were put and have not been told of.
    pub putting: Option<u64>,
    /// The next OPEN makes a scroll cursor.
    pub scroll: bool,
    /// The next OPEN makes a cursor that its transaction's end does not close.
    pub hold: bool,
    /// The cursor, while it is open.
    pub cursor: Option<OpenCursor>,
    /// The statement is freed with its cursor.
    pub auto_free: bool,
}

impl Statement {
    /// True when it is executed through a cursor.
    pub fn is_query(&self) -> bool {
        self.kind == 2 || (self.kind == 56 && !self.columns.is_empty())
    }
}

/// A row's buffer is not kept for the next one when it has become longer than this.
const LONG_ROW: usize = 65_536;

/// A running query and where its client stands.
#[derive(Debug)]
pub(super) struct OpenCursor {
    cursor: Option<Cursor>,
    /// Rows of a scroll cursor that have been passed, encoded.
    kept: Rows,
    scroll: bool,
    /// It stays open when its transaction ends.
    pub hold: bool,
    /// The rowid of the row fetched last, where rows have theirs behind their columns.
    pub position: Option<i64>,
    positioned: bool,
    /// The row where it stands, encoded.
    row: Vec<u8>,
    /// That row did not fit the last buffer.
    waiting: bool,
    /// Rows delivered; for a scroll cursor the row where it stands, from 1.
    pub delivered: i64,
}

impl OpenCursor {
    pub fn new(cursor: Cursor, scroll: bool, hold: bool, positioned: bool) -> Self {
        Self {
            cursor: Some(cursor),
            kept: Rows::default(),
            scroll,
            hold,
            position: None,
            positioned,
            row: Vec::new(),
            waiting: false,
            delivered: 0,
        }
    }

    /// Rows are fetched one at a time, so that the client and we mean the same one.
    pub fn is_positioned(&self) -> bool {
        self.positioned
    }

    /// Goes to the next row; false after the last.
    pub fn advance(&mut self, statement: &Layout, context: &mut RowContext<'_>) -> Result<bool> {
        if self.scroll {
            let next = self.delivered + 1;
            return self.go_to(next, statement, context);
        }
        let found = std::mem::take(&mut self.waiting) || self.pull(statement, context)?;
        self.delivered += i64::from(found);
        Ok(found)
    }

    /// The row where it stands, encoded.
    pub fn row(&self) -> &[u8] {
        &self.row
    }

    /// Goes back before the row where it stands: it did not fit.
    pub fn push_back(&mut self) {
        self.delivered -= 1;
        self.waiting = !self.scroll;
    }

    /// Goes to a scroll cursor's row by number, from 1; false where there is none.
    pub fn go_to(&mut self, row: i64, statement: &Layout, context: &mut RowContext<'_>) -> Result<bool> {
        let Some(index) = row.checked_sub(1).and_then(|index| usize::try_from(index).ok()) else {
            self.delivered = 0;
            return Ok(false);
        };
        while self.kept.len() <= index {
            if !self.pull(statement, context)? {
                self.delivered = self.kept.len() as i64 + 1;
                return Ok(false);
            }
            self.kept.push(&self.row)?;
        }
        self.delivered = row;
        let Some(kept) = self.kept.get(index)? else { return Ok(false) };
        self.row = kept;
        Ok(true)
    }

    /// The number of the last row of a scroll cursor.
    pub fn last(&mut self, statement: &Layout, context: &mut RowContext<'_>) -> Result<i64> {
        while self.pull(statement, context)? {
            self.kept.push(&self.row)?;
        }
        Ok(self.kept.len() as i64)
    }

    /// Encodes the next row of the query; false after the last.
    fn pull(&mut self, statement: &Layout, context: &mut RowContext<'_>) -> Result<bool> {
        let Some(cursor) = &mut self.cursor else { return Ok(false) };
        let Some(row) = cursor.next()? else {
            // Its resources go back as soon as it has nothing left.
            self.cursor = None;
            self.position = None;
            return Ok(false);
        };
        if self.positioned {
            self.position = match row.get(statement.columns.len()) {
                ValueRef::Integer(rowid) => Some(rowid),
                _ => None,
            };
        }
        self.row.clear();
        self.row.shrink_to(LONG_ROW);
        for (at, column) in statement.columns.iter().enumerate() {
            let format = match &statement.requested {
                None => column.format,
                Some(requested) => match requested.get(at) {
                    Some(format) => *format,
                    None => break,
                },
            };
            encode_cell(column, format, row.get(at), context, &mut self.row)?;
        }
        Ok(true)
    }
}

/// How a statement's rows are laid out.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    columns: Arc<[WireColumn]>,
    /// How the client wants its rows, if it said.
    requested: Option<Arc<[CellFormat]>>,
}

impl Layout {
    pub fn of(statement: &Statement) -> Self {
        Self { columns: statement.columns.clone(), requested: statement.requested.clone() }
    }
}

/// How many statements are kept that were to be freed with their cursors.
const MAX_SPENT: usize = 256;
/// How many statements a session may have prepared.
const MAX_STATEMENTS: usize = 4_096;

/// The statements of a session, by number.
#[derive(Debug, Default)]
pub(super) struct Statements {
    slots: Vec<Option<Statement>>,
    /// Statements that are freed when there are too many of them, oldest first.
    spent: VecDeque<usize>,
}

impl Statements {
    /// Keeps a statement under the lowest number that is free; `None` when there are too many.
    pub fn insert(&mut self, statement: Statement) -> Option<usize> {
        if let Some(free) = self.slots.iter().position(Option::is_none) {
            self.slots[free] = Some(statement);
            return Some(free);
        }
        if self.slots.len() >= MAX_STATEMENTS {
            return None;
        }
        self.slots.push(Some(statement));
        Some(self.slots.len() - 1)
    }

    pub fn get(&mut self, id: usize) -> Option<&mut Statement> {
        self.slots.get_mut(id)?.as_mut()
    }

    /// Notes a statement that nobody needs any more, but whose number may still be used. Yields one that is to go.
    pub fn spend(&mut self, id: usize) -> Option<usize> {
        self.spent.retain(|other| *other != id);
        self.spent.push_back(id);
        if self.spent.len() > MAX_SPENT { self.spent.pop_front() } else { None }
    }

    pub fn remove(&mut self, id: usize) -> Option<Statement> {
        self.spent.retain(|other| *other != id);
        self.slots.get_mut(id)?.take()
    }

    /// Closes the cursors that end with their transaction; yields whose they were.
    pub fn end_transaction(&mut self) -> Vec<usize> {
        let mut closed = Vec::new();
        for (id, statement) in self.slots.iter_mut().enumerate() {
            let Some(statement) = statement else { continue };
            statement.putting = None;
            if statement.cursor.as_ref().is_some_and(|cursor| !cursor.hold) {
                statement.cursor = None;
                closed.push(id);
            }
        }
        closed
    }

    /// The statement whose cursor has this name, an open one before others.
    pub fn by_cursor(&mut self, name: &str) -> Option<&mut Statement> {
        let named = |statement: &Statement| statement.cursor_name.as_deref() == Some(name);
        let is_open = |statement: &&mut Statement| statement.cursor.is_some();
        let any = self.slots.iter().position(|slot| slot.as_ref().is_some_and(named));
        let open =
            self.slots.iter_mut().position(|slot| slot.as_mut().filter(|s| named(s)).as_ref().is_some_and(is_open));
        self.slots.get_mut(open.or(any)?)?.as_mut()
    }

    pub fn clear(&mut self) {
        self.spent.clear();
        self.slots.clear();
    }
}
