//! COPY: how the data to come are laid out. The data themselves are plain bytes.

use rowferry_wire::{Malformed, Reader, Writer};

use super::Formats;
use crate::Format;

/// The formats of a COPY's columns.
pub type CopyFormats<'a> = Formats<'a>;

/// Opens a COPY in one direction or both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CopyResponse<'a> {
    /// Text (and csv), or binary.
    pub overall: Format,
    /// One for each column.
    pub columns: CopyFormats<'a>,
}

/// Writes a piece of a COPY's data in place: CopyData.
///
/// The message is complete only after [`finish`](PieceEncoder::finish); [`abandon`](PieceEncoder::abandon) takes back what was
/// written.
#[derive(Debug)]
pub struct PieceEncoder<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> PieceEncoder<'a> {
    /// Begins a piece.
    #[inline]
    pub fn begin(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[b'd', 0, 0, 0, 0]);
        Self { out, start }
    }

    /// What data are appended to; they begin at [`PieceEncoder::data_at`].
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Where the data begin in what they are appended to.
    #[inline]
    pub fn data_at(&self) -> usize {
        self.start + 5
    }

    /// Fills in the length. How many bytes of data there are; `None`, and nothing is written, when they are more than a message can
    /// have.
    #[inline]
    #[must_use]
    pub fn finish(self) -> Option<usize> {
        let length = self.out.len() - self.start - 1;
        let Ok(word) = i32::try_from(length) else {
            self.out.truncate(self.start);
            return None;
        };
        self.out[self.start + 1..self.start + 5].copy_from_slice(&word.to_be_bytes());
        Some(length - 4)
    }

    /// Takes the piece back.
    pub fn abandon(self) {
        self.out.truncate(self.start);
    }
}

impl<'a> CopyResponse<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let overall = Format(u16::from(reader.u8("COPY format")?));
        Ok(Self { overall, columns: Formats::decode(reader)? })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.u8(self.overall.0 as u8);
        self.columns.encode(writer);
    }
}
