//! The data of COPY, without the conversation around it: rows to bytes and bytes to rows, in PostgreSQL's text, CSV and
//! binary formats.

mod data_in;
mod data_out;

pub(super) use data_in::{CopyIn, InRow, columns};
pub(super) use data_out::CopyOut;

use rowferry_engine::Type;

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
