use rowferry_wire::Writer;

use crate::{MAX_SQL, TooLong, Widths};

/// Fields that SQLI writes and [`Writer`] does not know.
pub trait Put {
    /// Bytes and, when their number is odd, one zero byte.
    fn padded(&mut self, bytes: &[u8]) -> &mut Self;
    /// A `CHAR` field: `u16` length, bytes, padding.
    fn char(&mut self, bytes: &[u8], what: &'static str) -> Result<&mut Self, TooLong>;
    /// SQL text: `LCHAR` when the 64K limit is lifted, otherwise `CHAR`.
    fn sql(&mut self, bytes: &[u8], widths: Widths) -> Result<&mut Self, TooLong>;
    /// An `i32` length, bytes, padding.
    fn long(&mut self, bytes: &[u8], what: &'static str) -> Result<&mut Self, TooLong>;
    /// A count as `i16`.
    fn count(&mut self, count: usize, what: &'static str) -> Result<&mut Self, TooLong>;
}

impl Put for Writer<'_> {
    fn padded(&mut self, bytes: &[u8]) -> &mut Self {
        self.raw(bytes);
        if bytes.len() & 1 == 1 {
            self.u8(0);
        }
        self
    }

    fn char(&mut self, bytes: &[u8], what: &'static str) -> Result<&mut Self, TooLong> {
        let len = u16::try_from(bytes.len()).map_err(|_| TooLong { what, limit: usize::from(u16::MAX) })?;
        Ok(self.u16(len).padded(bytes))
    }

    fn sql(&mut self, bytes: &[u8], widths: Widths) -> Result<&mut Self, TooLong> {
        if !widths.long_sql {
            return self.char(bytes, "SQL text (for this server)");
        }
        if bytes.len() > MAX_SQL {
            return Err(TooLong { what: "SQL text", limit: MAX_SQL });
        }
        self.long(bytes, "SQL text")
    }

    fn long(&mut self, bytes: &[u8], what: &'static str) -> Result<&mut Self, TooLong> {
        let len = i32::try_from(bytes.len()).map_err(|_| TooLong { what, limit: i32::MAX as usize })?;
        Ok(self.i32(len).padded(bytes))
    }

    fn count(&mut self, count: usize, what: &'static str) -> Result<&mut Self, TooLong> {
        let count = i16::try_from(count).map_err(|_| TooLong { what, limit: i16::MAX as usize })?;
        Ok(self.i16(count))
    }
}
