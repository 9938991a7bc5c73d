use rowferry_wire::Malformed;

use crate::{DecodeError, MAX_SQL, Widths};

/// Why a message could not be read (yet).
#[derive(Debug)]
pub enum Stop {
    /// At least this many bytes, counted from the start of the message, are needed before trying again.
    More(usize),
    /// The stream is lost.
    Fatal(DecodeError),
}

impl From<Malformed> for Stop {
    fn from(malformed: Malformed) -> Self {
        Self::Fatal(malformed.into())
    }
}

impl From<DecodeError> for Stop {
    fn from(error: DecodeError) -> Self {
        Self::Fatal(error)
    }
}

/// Shorthand for a message that is malformed.
pub fn malformed<T>(what: &'static str) -> Result<T, Stop> {
    Err(Stop::Fatal(DecodeError::Malformed(Malformed::new(what))))
}

/// A cursor over bytes that may still be arriving: what is not there yet is [`Stop::More`], never an error.
///
/// `owed` counts bytes that are known to come after the field being read, so that a message of many parts is not
/// tried again for each of them.
#[derive(Debug)]
pub struct Scan<'a> {
    bytes: &'a [u8],
    position: usize,
    owed: usize,
}

macro_rules! fixed {
    ($($name:ident $ty:ty;)*) => {$(
        #[inline]
        pub fn $name(&mut self) -> Result<$ty, Stop> {
            Ok(<$ty>::from_be_bytes(self.array()?))
        }
    )*};
}

impl<'a> Scan<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, owed: 0 }
    }

    fixed! { u8 u8; u16 u16; i16 i16; i32 i32; i64 i64; f32 f32; f64 f64; }

    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        match self.bytes[self.position..].first_chunk::<N>() {
            Some(chunk) => {
                self.position += N;
                Ok(*chunk)
            }
            None => Err(self.more(N)),
        }
    }

    /// `len` bytes; the caller has bounded `len`.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Stop> {
        let rest = &self.bytes[self.position..];
        if len > rest.len() {
            return Err(self.more(len));
        }
        self.position += len;
        Ok(&rest[..len])
    }

    /// `len` bytes and, when that is odd, the byte of padding.
    #[inline]
    pub fn take_padded(&mut self, len: usize) -> Result<&'a [u8], Stop> {
        Ok(&self.take(len + (len & 1))?[..len])
    }

    /// A `CHAR` field: `u16` length, bytes, padding.
    pub fn char(&mut self) -> Result<&'a [u8], Stop> {
        let len = usize::from(self.u16()?);
        self.take_padded(len)
    }

    /// Passes over a word that is zero; leaves any other where it is. A message must follow, so that there is a word.
    pub fn skip_empty(&mut self) -> Result<(), Stop> {
        let before = self.position;
        if self.u16()? != 0 {
            self.position = before;
        }
        Ok(())
    }

    /// A non-negative `i32` length of at most `limit`.
    pub fn len32(&mut self, limit: usize, what: &'static str) -> Result<usize, Stop> {
        match usize::try_from(self.i32()?) {
            Ok(len) if len <= limit => Ok(len),
            _ => malformed(what),
        }
    }

    /// A non-negative `i16` count.
    pub fn count(&mut self, what: &'static str) -> Result<usize, Stop> {
        usize::try_from(self.i16()?).or_else(|_| malformed(what))
    }

    /// SQL text: `LCHAR` when the 64K limit is lifted, otherwise `CHAR`.
    pub fn sql(&mut self, widths: Widths) -> Result<&'a [u8], Stop> {
        if widths.long_sql {
            let len = self.len32(MAX_SQL, "SQL length")?;
            self.take_padded(len)
        } else {
            self.char()
        }
    }

    /// Runs `item` for each of `count` items of at least `least` bytes, once that much is known to be there.
    pub fn items<T>(
        &mut self,
        count: usize,
        least: usize,
        mut item: impl FnMut(&mut Self) -> Result<T, Stop>,
    ) -> Result<Vec<T>, Stop> {
        if self.remaining() < count * least {
            return Err(self.more(count * least));
        }
        let outer = self.owed;
        let mut items = Vec::with_capacity(count);
        for index in 0..count {
            self.owed = outer + (count - index - 1) * least;
            items.push(item(self)?);
        }
        self.owed = outer;
        Ok(items)
    }

    /// Counts `bytes` that must follow whatever is read next.
    pub const fn owe(&mut self, bytes: usize) {
        self.owed += bytes;
    }

    /// Forgets what [`owe`](Self::owe) counted.
    pub const fn settle(&mut self) {
        self.owed = 0;
    }

    pub const fn position(&self) -> usize {
        self.position
    }

    pub const fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    const fn more(&self, len: usize) -> Stop {
        Stop::More(self.position + len + self.owed)
    }
}
