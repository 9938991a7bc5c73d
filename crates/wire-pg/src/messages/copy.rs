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
