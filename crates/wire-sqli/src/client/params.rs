use rowferry_wire::Writer;

use crate::messages::{ClientMessage, Param, ParamValue, SimpleLob};
use crate::tag::Tag;
use crate::{TooLong, TypeCode, Widths};

/// Chunks in which `BYTE` and `TEXT` values are sent, as other clients do.
const CHUNK: usize = 1024;

/// The values of one execution, encoded. Cleared and used again for the next.
#[derive(Clone, Debug, Default)]
pub struct Params {
    blocks: Vec<u8>,
    count: u16,
    lobs: Vec<u8>,
    lob_count: i16,
}

impl Params {
    /// How many parameters a statement can have.
    pub const MAX: usize = i16::MAX as usize;

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.count = 0;
        self.lobs.clear();
        self.lob_count = 0;
    }

    /// How many values there are.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// True when there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a value.
    pub fn push(&mut self, param: &Param<'_>) -> Result<(), TooLong> {
        if usize::from(self.count) == Self::MAX {
            return Err(TooLong { what: "list of parameters", limit: Self::MAX });
        }
        let before = self.blocks.len();
        param.put(&mut Writer::new(&mut self.blocks)).inspect_err(|_| self.blocks.truncate(before))?;
        self.count += 1;
        Ok(())
    }

    /// Adds the contents of a `BYTE` or `TEXT` value (by `code`), which travel behind the other values.
    pub fn push_lob(&mut self, code: TypeCode, data: &[u8], widths: Widths) -> Result<(), TooLong> {
        let what = "BYTE or TEXT value";
        let size = i32::try_from(data.len()).map_err(|_| TooLong { what, limit: i32::MAX as usize })?;
        let descriptor = SimpleLob::param(size, widths);
        self.push(&Param::new(code, 0, ParamValue::SimpleLob(&descriptor)))?;
        for chunk in data.chunks(CHUNK) {
            ClientMessage::Blob(chunk).encode(&mut self.lobs, widths)?;
        }
        ClientMessage::Blob(b"").encode(&mut self.lobs, widths)?;
        self.lob_count += 1;
        Ok(())
    }

    /// Appends `SQ_BIND`, and `SQ_BBIND` with its chunks; nothing when there are no values.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        if self.count == 0 {
            return;
        }
        let mut w = Writer::new(out);
        w.u16(Tag::BIND.0).u16(self.count).raw(&self.blocks);
        if self.lob_count > 0 {
            w.u16(Tag::BBIND.0).i16(self.lob_count).raw(&self.lobs);
        }
    }
}
