use std::fmt;

/// Bytes that do not say what their place in the protocol requires.
///
/// `what` names the field in the protocol's own words; it never holds data from the wire.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Malformed {
    /// The field or message that could not be read.
    pub what: &'static str,
}

impl Malformed {
    /// Names the field that could not be read.
    pub const fn new(what: &'static str) -> Self {
        Self { what }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed message: {}", self.what)
    }
}

impl std::error::Error for Malformed {}

/// A cursor over one frame. Every read is checked; nothing panics.
///
/// Each method takes the name of the field it reads, for [`Malformed`].
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

macro_rules! fixed {
    ($($name:ident $ty:ty, $from:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $name(&mut self, what: &'static str) -> Result<$ty, Malformed> {
            Ok(<$ty>::$from(self.array(what)?))
        }
    )*};
}

impl<'a> Reader<'a> {
    /// Starts at the first byte of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    fixed! {
        u8 u8, from_be_bytes, "Reads one byte.";
        i8 i8, from_be_bytes, "Reads one signed byte.";
        u16 u16, from_be_bytes, "Reads a big-endian `u16`.";
        i16 i16, from_be_bytes, "Reads a big-endian `i16`.";
        u32 u32, from_be_bytes, "Reads a big-endian `u32`.";
        i32 i32, from_be_bytes, "Reads a big-endian `i32`.";
        u64 u64, from_be_bytes, "Reads a big-endian `u64`.";
        i64 i64, from_be_bytes, "Reads a big-endian `i64`.";
        f32 f32, from_be_bytes, "Reads a big-endian IEEE single.";
        f64 f64, from_be_bytes, "Reads a big-endian IEEE double.";
        u16_le u16, from_le_bytes, "Reads a little-endian `u16`.";
        u32_le u32, from_le_bytes, "Reads a little-endian `u32`.";
        u64_le u64, from_le_bytes, "Reads a little-endian `u64`.";
        f32_le f32, from_le_bytes, "Reads a little-endian IEEE single.";
        f64_le f64, from_le_bytes, "Reads a little-endian IEEE double.";
    }

    /// Reads `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        match self.bytes[self.position..].first_chunk::<N>() {
            Some(chunk) => {
                self.position += N;
                Ok(*chunk)
            }
            None => Err(Malformed { what }),
        }
    }

    /// Reads `len` bytes. A length beyond the frame is an error, whatever its size.
    #[inline]
    pub fn take(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let rest = &self.bytes[self.position..];
        if len > rest.len() {
            return Err(Malformed { what });
        }
        self.position += len;
        Ok(&rest[..len])
    }

    /// Reads up to a NUL, which is consumed and not returned.
    pub fn until_nul(&mut self, what: &'static str) -> Result<&'a [u8], Malformed> {
        let rest = &self.bytes[self.position..];
        let len = rest.iter().position(|&b| b == 0).ok_or(Malformed { what })?;
        self.position += len + 1;
        Ok(&rest[..len])
    }

    /// Takes everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.position..];
        self.position = self.bytes.len();
        rest
    }

    /// How many bytes are left.
    #[inline]
    pub const fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// True when nothing is left.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// Bytes consumed so far.
    #[inline]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Looks at the next byte without consuming it.
    pub fn peek_u8(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// Refuses leftovers: a frame must be consumed exactly.
    pub const fn finish(&self, what: &'static str) -> Result<(), Malformed> {
        if self.is_empty() { Ok(()) } else { Err(Malformed { what }) }
    }

    /// Checks a count of items against the bytes left, before anything is allocated for them.
    ///
    /// `least` is the size in bytes of the smallest possible item.
    pub const fn fits(&self, count: usize, least: usize, what: &'static str) -> Result<usize, Malformed> {
        match count.checked_mul(least) {
            Some(bytes) if bytes <= self.remaining() => Ok(count),
            _ => Err(Malformed { what }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_the_frame_does_not_hold() {
        let mut reader = Reader::new(&[0, 1, 2]);
        assert_eq!(reader.u16("word"), Ok(1));
        assert_eq!(reader.u16("second word"), Err(Malformed::new("second word")));
        assert_eq!(reader.take(usize::MAX, "text"), Err(Malformed::new("text")));
        assert_eq!(reader.fits(usize::MAX, 2, "count"), Err(Malformed::new("count")));
        assert_eq!(reader.u8("tail"), Ok(2));
        assert_eq!(reader.finish("leftover"), Ok(()));
    }

    #[test]
    fn reads_a_terminated_string() {
        let mut reader = Reader::new(b"ab\0c");
        assert_eq!(reader.until_nul("name"), Ok(&b"ab"[..]));
        assert_eq!(reader.until_nul("name"), Err(Malformed::new("name")));
        assert_eq!(reader.rest(), b"c");
    }
}
