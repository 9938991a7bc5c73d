//! The data of COPY, without the conversation around it: rows to bytes and bytes to rows, in PostgreSQL's text, CSV and
//! binary formats.

mod ahead;
mod data_in;
mod data_out;

pub(super) use ahead::Ahead;
pub(super) use data_in::{CopyIn, InRow, Labels, RowAt, Take, columns};
pub(super) use data_out::CopyOut;

use std::sync::Arc;

use rowferry_dialect::ir::CopyOptions;
use rowferry_dialect::values::Settings;
use rowferry_encodings::Encoding;
use rowferry_engine::{Error, Result, Type};

use super::report;

/// The session's settings with the encoding of the data.
pub(super) fn settings(session: Arc<Settings>, options: &CopyOptions) -> Arc<Settings> {
    match options.encoding {
        None => session,
        Some(encoding) => {
            let client_encoding = Some(encoding).filter(|encoding| !encoding.is_utf8());
            Arc::new(Settings { client_encoding, ..(*session).clone() })
        }
    }
}

/// Makes UTF-8 of data that come in pieces, which need not end where characters do.
#[derive(Debug)]
pub(super) struct Decoder {
    encoding: &'static Encoding,
    /// The beginning of a character.
    rest: Vec<u8>,
}

impl Decoder {
    pub(super) fn new(encoding: &'static Encoding) -> Self {
        Self { encoding, rest: Vec::new() }
    }

    /// The whole characters that there are with this piece.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Result<String> {
        self.rest.extend_from_slice(piece);
        let bytes = &self.rest[..self.encoding.whole(&self.rest)];
        let text = self.encoding.decode(bytes).map_err(|failure| report::conversion(&failure))?;
        self.rest.drain(..bytes.len());
        Ok(text)
    }

    /// No more data are coming.
    pub(super) fn finish(&self) -> Result<()> {
        let failed = |failure: rowferry_encodings::Failure| -> Error { report::conversion(&failure) };
        self.encoding.decode(&self.rest).map(drop).map_err(failed)
    }
}

/// A column that is copied.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) ty: Type,
}

/// What a binary COPY begins with.
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";

/// The flag word's bits that a reader must understand; we understand none of them.
const CRITICAL_FLAGS: u32 = 0xffff_0000;
