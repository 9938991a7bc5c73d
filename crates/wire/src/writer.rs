/// Appends to a buffer that the caller owns and reuses.
///
/// `Writer` derefs to nothing on purpose: a message is written field by field in the protocol's order.
#[derive(Debug)]
pub struct Writer<'a> {
    /// The bytes written so far, after whatever the buffer held before.
    pub bytes: &'a mut Vec<u8>,
}

macro_rules! fixed {
    ($($name:ident $ty:ty, $to:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $name(&mut self, value: $ty) -> &mut Self {
            self.bytes.extend_from_slice(&value.$to());
            self
        }
    )*};
}

impl<'a> Writer<'a> {
    /// Appends to `bytes`.
    pub const fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes }
    }

    fixed! {
        u8 u8, to_be_bytes, "Writes one byte.";
        u16 u16, to_be_bytes, "Writes a big-endian `u16`.";
        i16 i16, to_be_bytes, "Writes a big-endian `i16`.";
        u32 u32, to_be_bytes, "Writes a big-endian `u32`.";
        i32 i32, to_be_bytes, "Writes a big-endian `i32`.";
        u64 u64, to_be_bytes, "Writes a big-endian `u64`.";
        i64 i64, to_be_bytes, "Writes a big-endian `i64`.";
        f32 f32, to_be_bytes, "Writes a big-endian IEEE single.";
        f64 f64, to_be_bytes, "Writes a big-endian IEEE double.";
        u16_le u16, to_le_bytes, "Writes a little-endian `u16`.";
        u32_le u32, to_le_bytes, "Writes a little-endian `u32`.";
        u64_le u64, to_le_bytes, "Writes a little-endian `u64`.";
        f32_le f32, to_le_bytes, "Writes a little-endian IEEE single.";
        f64_le f64, to_le_bytes, "Writes a little-endian IEEE double.";
    }

    /// Writes bytes as they are.
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Writes bytes and a NUL.
    pub fn terminated(&mut self, bytes: &[u8]) -> &mut Self {
        self.raw(bytes).u8(0)
    }

    /// How long the buffer is now.
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Overwrites four bytes at `at` with a big-endian `i32`: for lengths known only afterwards.
    ///
    /// # Panics
    /// When `at..at + 4` was not written before; a caller passes a position that it took from [`Writer::len`].
    pub fn patch_i32(&mut self, at: usize, value: i32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
}
