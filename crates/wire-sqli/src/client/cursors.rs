//! Cursors: opening, fetching forwards and in any order, closing.

use std::sync::Arc;

use super::operation::{Awaited, Operation, Transaction};
use super::{Client, Misuse, Params, Prepared};
use crate::TooLong;
use crate::messages::{ClientMessage, FetchKind, NFetch, SFetch};

/// How a query's cursor is opened and fetched from.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CursorOptions {
    /// The name by which `UPDATE … WHERE CURRENT OF` knows the cursor. Such a cursor fetches row by row, so that its
    /// current row is the one that was delivered last, and stays open at its end.
    pub name: Option<Box<[u8]>>,
    /// Rows are fetched by their numbers, by [`Client::scroll`]. Opening such a cursor fetches none.
    pub scroll: bool,
    /// The cursor survives the end of its transaction.
    pub hold: bool,
}

impl CursorOptions {
    /// True when the cursor is open until somebody [closes](Client::close) it, also at its end.
    pub const fn stays_open(&self) -> bool {
        self.scroll || self.name.is_some()
    }
}

/// Which row of a scroll cursor is wanted first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ScrollTo {
    /// The row of this number, from 1.
    Row(i32),
    /// The last row.
    Last,
}

/// Bytes that a scroll fetch, which is for one row, says it can take: what other clients say.
const SCROLL_BYTES: i32 = 4096;

/// The name of a cursor whose name nobody needs: `rowferry` and eight hexadecimal digits of its number.
fn own_name(number: u64) -> [u8; 16] {
    let mut name = *b"rowferry00000000";
    for (place, digit) in name[8..].iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[(number >> (4 * place) & 15) as usize];
    }
    name
}

/// Room for the group of a statement with some values.
const GROUP_BYTES: usize = 256;

impl Client {
    /// As [`run`](Self::run), for a query with a cursor of the caller's making.
    pub fn run_cursor(&mut self, parameters: &Params, begin: bool, cursor: &CursorOptions) -> Result<(), Misuse> {
        let Operation::Described(running) = &self.operation else { return Err(self.not_now()) };
        let mut running = running.clone();
        let prepared = &running.prepared;
        let begin = begin && Transaction::of(prepared.statement_type) == Transaction::Unchanged;
        let widths = self.decoder.widths();
        let id = ClientMessage::Id(prepared.statement);
        let mut bytes = Vec::with_capacity(GROUP_BYTES);
        id.encode(&mut bytes, widths)?;
        if prepared.is_query() {
            self.cursors += 1;
            let own = own_name(self.cursors);
            let name = cursor.name.as_deref().unwrap_or(&own);
            ClientMessage::CursorName(name).encode(&mut bytes, widths)?;
            parameters.append_to(&mut bytes);
            if cursor.scroll {
                ClientMessage::Scroll.encode(&mut bytes, widths)?;
            }
            if cursor.hold {
                ClientMessage::Hold.encode(&mut bytes, widths)?;
            }
            ClientMessage::Open.encode(&mut bytes, widths)?;
            if !cursor.scroll {
                id.encode(&mut bytes, widths)?;
                ClientMessage::NFetch(self.nfetch(prepared, cursor)).encode(&mut bytes, widths)?;
            }
        } else {
            parameters.append_to(&mut bytes);
            ClientMessage::Execute.encode(&mut bytes, widths)?;
        }
        ClientMessage::Eot.encode(&mut bytes, widths)?;
        running.stays_open = cursor.stays_open();
        running.scrolls = cursor.scroll;
        self.send(bytes, Operation::Run(running), begin);
        Ok(())
    }

    fn nfetch(&self, prepared: &Prepared, cursor: &CursorOptions) -> NFetch {
        // As many bytes as one row can have: a fetch delivers at least one row.
        let buffer = if cursor.name.is_some() { prepared.tuple_size.max(1) } else { self.fetch_bytes };
        NFetch { buffer, reserved: 0 }
    }

    /// Fetches more rows of an open cursor. Events: [`Event::Row`](super::Event::Row)s, then
    /// [`Event::Done`](super::Event::Done).
    pub fn fetch(&mut self, prepared: &Arc<Prepared>) -> Result<(), Misuse> {
        self.fetch_cursor(prepared, &CursorOptions::default())
    }

    /// As [`fetch`](Self::fetch), for a cursor opened by [`run_cursor`](Self::run_cursor) that does not scroll.
    pub fn fetch_cursor(&mut self, prepared: &Arc<Prepared>, cursor: &CursorOptions) -> Result<(), Misuse> {
        self.ready()?;
        let fetch = self.nfetch(prepared, cursor);
        self.ask(&[ClientMessage::Id(prepared.statement), ClientMessage::NFetch(fetch)])?;
        self.operation = Operation::Fetch { prepared: Arc::clone(prepared), stays_open: cursor.stays_open() };
        Ok(())
    }

    /// Fetches up to `count` consecutive rows of a scroll cursor. Events: [`Event::Row`](super::Event::Row)s, then
    /// [`Event::Done`](super::Event::Done), whose `position` is the number of the last row delivered.
    ///
    /// Each row is a request of its own, as the protocol wants it; they travel together.
    pub fn scroll(&mut self, prepared: &Arc<Prepared>, first: ScrollTo, count: u16) -> Result<(), Misuse> {
        self.ready()?;
        let mut bytes = Vec::new();
        let groups = match first {
            ScrollTo::Last => {
                self.append_sfetch(prepared, FetchKind::LAST, 0, &mut bytes)?;
                1
            }
            ScrollTo::Row(first) => {
                let last = first.saturating_add(i32::from(count.max(1)) - 1);
                for row in first..=last {
                    self.append_sfetch(prepared, FetchKind::ABSOLUTE, row, &mut bytes)?;
                }
                usize::try_from(last - first + 1).unwrap_or(1)
            }
        };
        self.flush_cleanup();
        self.output.append(&mut bytes);
        self.awaited.extend(std::iter::repeat_n(Awaited::Operation, groups));
        let prepared = Arc::clone(prepared);
        self.operation = Operation::Scroll { prepared, groups, position: None, error: None };
        Ok(())
    }

    fn append_sfetch(
        &self,
        prepared: &Prepared,
        kind: FetchKind,
        row: i32,
        bytes: &mut Vec<u8>,
    ) -> Result<(), TooLong> {
        let widths = self.decoder.widths();
        ClientMessage::Id(prepared.statement).encode(bytes, widths)?;
        ClientMessage::SFetch(SFetch { kind, row, buffer: SCROLL_BYTES }).encode(bytes, widths)?;
        ClientMessage::Eot.encode(bytes, widths)
    }

    /// Closes a cursor that is open. It is sent with the next operation, so it may be called at any time.
    pub fn close(&mut self, prepared: &Arc<Prepared>) {
        if !self.closed {
            self.close_cursor(prepared.statement);
            self.keep_or_release(Arc::clone(prepared));
        }
    }
}
