//! What the client is told.

use rowferry_wire::Writer;

use super::{Server, State};
use crate::lenenc;
use crate::messages::handshake::capability;
use crate::messages::resultset::{BinaryRow, ColumnDefinition, TextRow};
use crate::messages::statement::PrepareOk;
use crate::messages::status::{Eof, Ok as OkPacket, ServerError};
use crate::packet::{self, HEADER, MAX_PAYLOAD};

/// The first byte of the wish for a file.
const LOCAL_FILE: u8 = 0xfb;

impl Server {
    /// The answer to the next command begins: its first packet has number 1. Only needed by who lets several commands come
    /// before it answers the first.
    pub fn begin_answer(&mut self) {
        self.sequence = 1;
    }

    /// Sends a payload as it is.
    pub fn put(&mut self, payload: &[u8]) {
        self.sequence = packet::put(&mut self.output, self.sequence, payload);
    }

    /// A payload that is written in place.
    fn put_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut row = self.row();
        write(row.payload());
        row.finish();
    }

    /// Sends OK. What it tells of the session is left out for who has not asked for it.
    pub fn ok(&mut self, ok: &OkPacket) {
        let tracked = self.tells(ok);
        self.put_with(|payload| tracked.as_ref().unwrap_or(ok).encode(OkPacket::HEADER, payload));
        self.seal();
    }

    /// Sends ERR.
    pub fn error(&mut self, error: &ServerError) {
        self.put_with(|payload| error.encode(payload));
        self.seal();
    }

    /// Sends a line of text, for `COM_STATISTICS`.
    pub fn line(&mut self, text: &[u8]) {
        self.put(text);
        self.seal();
    }

    /// Begins a result: how many columns, and what they are. With `is_cursor` its rows are to be fetched:
    /// [`end_of_rows`](Self::end_of_rows) follows at once.
    pub fn columns(&mut self, columns: &[ColumnDefinition], status: u16, is_cursor: bool) {
        self.put_with(|payload| lenenc::put_integer(&mut Writer::new(payload), columns.len() as u64));
        self.definitions(columns);
        if !is_cursor {
            self.end_of_definitions(status);
        }
    }

    /// Describes the columns of a table, for `COM_FIELD_LIST`.
    pub fn field_list(&mut self, columns: &[ColumnDefinition], ok: &OkPacket) {
        for column in columns {
            self.put_with(|payload| {
                column.encode(payload);
                // The default value, which nobody asks for any more.
                payload.push(LOCAL_FILE);
            });
        }
        self.end_of_rows(ok);
    }

    /// Sends the definitions of columns.
    pub fn definitions(&mut self, columns: &[ColumnDefinition]) {
        for column in columns {
            self.put_with(|payload| column.encode(payload));
        }
    }

    /// Ends them, for clients that look for it.
    pub fn end_of_definitions(&mut self, status: u16) {
        if !self.has(capability::DEPRECATE_EOF) {
            self.put_with(|payload| Eof { warnings: 0, status }.encode(payload));
        }
    }

    /// Begins a row; whoever does not finish it has sent nothing.
    pub fn row(&mut self) -> RowWriter<'_> {
        let start = self.output.len();
        self.output.extend_from_slice(&[0; HEADER]);
        RowWriter { server: self, start, is_finished: false }
    }

    /// Ends the rows.
    pub fn end_of_rows(&mut self, ok: &OkPacket) {
        if self.has(capability::DEPRECATE_EOF) {
            let tracked = self.tells(ok);
            self.put_with(|payload| tracked.as_ref().unwrap_or(ok).encode(OkPacket::END_HEADER, payload));
        } else {
            self.put_with(|payload| Eof { warnings: ok.warnings, status: ok.status }.encode(payload));
        }
        self.seal();
    }

    /// Tells of a prepared statement: its parameters and columns.
    pub fn prepared(&mut self, ok: PrepareOk, params: &[ColumnDefinition], columns: &[ColumnDefinition], status: u16) {
        self.put_with(|payload| ok.encode(payload));
        for definitions in [params, columns] {
            if !definitions.is_empty() {
                self.definitions(definitions);
                self.end_of_definitions(status);
            }
        }
        self.seal();
    }

    /// Asks for a file of the client; [`Request::File`](super::Request::File) brings it.
    pub fn ask_file(&mut self, name: &[u8]) {
        self.put_with(|payload| {
            payload.push(LOCAL_FILE);
            payload.extend_from_slice(name);
        });
        self.seal();
        self.inbox.sequence = self.sequence;
        self.state = State::File;
    }

    /// What this client is told in the place of an OK; `None` for all of it.
    fn tells(&self, ok: &OkPacket) -> Option<OkPacket> {
        use crate::messages::status::status_flag::SESSION_STATE_CHANGED;
        let tracks = self.has(capability::SESSION_TRACK) && !ok.state.is_empty();
        let wanted = if tracks { ok.status | SESSION_STATE_CHANGED } else { ok.status & !SESSION_STATE_CHANGED };
        let keeps = tracks || ok.state.is_empty();
        (wanted != ok.status || !keeps).then(|| OkPacket {
            status: wanted,
            state: if tracks { ok.state.clone() } else { Vec::new() },
            ..ok.clone()
        })
    }
}

/// A row that is being written.
#[derive(Debug)]
pub struct RowWriter<'s> {
    server: &'s mut Server,
    start: usize,
    is_finished: bool,
}

impl RowWriter<'_> {
    /// The payload so far, to be appended to.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.server.output
    }

    /// A cell of text, `None` for NULL.
    #[inline]
    pub fn text(&mut self, cell: Option<&[u8]>) {
        TextRow::encode_cell(cell, &mut self.server.output);
    }

    /// A cell whose bytes are written in place, behind their length.
    ///
    /// # Errors
    /// Those of `write`; the row is to be given up then.
    #[inline]
    pub fn cell_with<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        cell_with(&mut self.server.output, write)
    }

    /// Begins a row of the binary protocol: where its NULL bits are.
    #[inline]
    pub fn begin_binary(&mut self, columns: usize) -> usize {
        let output = &mut self.server.output;
        output.push(BinaryRow::HEADER);
        let at = output.len();
        output.resize(at + (columns + 2).div_ceil(8), 0);
        at
    }

    /// A cell of the binary protocol is NULL; `nulls` is what [`begin_binary`](Self::begin_binary) has told.
    #[inline]
    pub fn set_null(&mut self, nulls: usize, column: usize) {
        let bit = column + 2;
        self.server.output[nulls + bit / 8] |= 1 << (bit % 8);
    }

    /// The row is whole.
    #[inline]
    pub fn finish(mut self) {
        self.is_finished = true;
        let server = &mut *self.server;
        let len = server.output.len() - self.start - HEADER;
        if len < MAX_PAYLOAD {
            let header = &mut server.output[self.start..self.start + HEADER];
            header[..3].copy_from_slice(&(len as u32).to_le_bytes()[..3]);
            header[3] = server.sequence;
            server.sequence = server.sequence.wrapping_add(1);
            return;
        }
        let payload = server.output.split_off(self.start + HEADER);
        server.output.truncate(self.start);
        server.sequence = packet::put(&mut server.output, server.sequence, &payload);
    }
}

impl Drop for RowWriter<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.server.output.truncate(self.start);
        }
    }
}

/// Appends what `write` appends behind its length, which is only known then.
///
/// # Errors
/// Those of `write`.
#[inline]
pub fn cell_with<E>(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
    let start = bytes.len();
    bytes.push(0);
    write(bytes)?;
    let len = bytes.len() - start - 1;
    if len <= 0xfa {
        bytes[start] = len as u8;
        return Ok(());
    }
    let mut head = Vec::with_capacity(9);
    lenenc::put_integer(&mut Writer::new(&mut head), len as u64);
    bytes.splice(start..=start, head);
    Ok(())
}
