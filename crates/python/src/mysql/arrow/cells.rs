//! Where the cells of some rows lie in the bytes received, by columns.
//!
//! Rows are cut into cells first, and columns are built one after the other then: each of these loops does one thing,
//! which is twice as fast as asking for every cell what it is.

use std::ops::Range;

use rowferry_wire::Malformed;
use rowferry_wire_mysql::types::BinaryForm;

/// Rows of a block: few enough that the places of their cells stay in the cache.
pub const BLOCK: usize = 256;

const NULL: u32 = u32::MAX;

/// Places in `u32` reach this far.
const REACH: usize = (u32::MAX - 1) as usize;

/// The places of a block's cells.
#[derive(Debug, Default)]
pub struct Places {
    rows: usize,
    /// Start and length, [`BLOCK`] for each column.
    places: Vec<(u32, u32)>,
}

impl Places {
    /// Cuts the rows at `rows` of `bytes`, at most [`BLOCK`], into as many cells each as there are `forms`.
    pub fn cut(
        &mut self,
        bytes: &[u8],
        rows: &[Range<usize>],
        forms: &[BinaryForm],
        binary: bool,
    ) -> Result<(), Malformed> {
        let columns = forms.len();
        self.rows = 0;
        self.places.resize(columns * BLOCK, (0, NULL));
        if bytes.len() > REACH || rows.len() > BLOCK {
            return Err(Malformed::new("rows beyond the reach of a block"));
        }
        for (at, row) in rows.iter().enumerate() {
            // What lies behind the row is out of sight.
            let known = bytes.get(..row.end).ok_or(Malformed::new("row"))?;
            let places = self.places.iter_mut().skip(at).step_by(BLOCK);
            let mut cursor = Cursor { bytes: known, at: row.start };
            if binary {
                cursor.binary_row(places, forms)?;
            } else {
                for place in places {
                    *place = cursor.text()?;
                }
            }
            if cursor.at != row.end {
                return Err(Malformed::new("bytes behind the last cell"));
            }
        }
        self.rows = rows.len();
        Ok(())
    }

    /// The cells of a column.
    pub fn column<'a>(&'a self, bytes: &'a [u8], column: usize) -> Cells<'a> {
        Cells { bytes, places: &self.places[column * BLOCK..][..self.rows] }
    }
}

/// Walks over the cells of one row, as [`rowferry_wire_mysql::messages::resultset::TextRow`] and its sibling do, but
/// answers places.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// A cell with its length in front, or NULL.
    #[inline(always)]
    fn text(&mut self) -> Result<(u32, u32), Malformed> {
        match self.bytes.get(self.at) {
            Some(&len @ 0..=0xfa) => {
                self.at += 1;
                self.take(usize::from(len))
            }
            Some(0xfb) => {
                self.at += 1;
                Ok((0, NULL))
            }
            _ => self.long(),
        }
    }

    /// A cell whose length takes more than a byte.
    #[cold]
    fn long(&mut self) -> Result<(u32, u32), Malformed> {
        const TOO_SHORT: Malformed = Malformed::new("length of a cell");
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let width = match rest.first() {
            Some(0xfc) => 2,
            Some(0xfd) => 3,
            Some(0xfe) => 8,
            _ => return Err(TOO_SHORT),
        };
        let mut len = [0; 8];
        len[..width].copy_from_slice(rest.get(1..=width).ok_or(TOO_SHORT)?);
        self.at += 1 + width;
        self.take(usize::try_from(u64::from_le_bytes(len)).map_err(|_| TOO_SHORT)?)
    }

    #[inline(always)]
    fn take(&mut self, len: usize) -> Result<(u32, u32), Malformed> {
        if len > self.bytes.len() - self.at {
            return Err(Malformed::new("cell longer than its row"));
        }
        // The bytes are not beyond the reach of 32 bits.
        let place = (self.at as u32, len as u32);
        self.at += len;
        Ok(place)
    }

    fn binary_row<'p>(
        &mut self,
        places: impl Iterator<Item = &'p mut (u32, u32)>,
        forms: &[BinaryForm],
    ) -> Result<(), Malformed> {
        const SHORT: Malformed = Malformed::new("row NULL bits");
        if self.bytes.get(self.at) != Some(&0) {
            return Err(Malformed::new("row header"));
        }
        // Two bits are unused.
        let (nulls, width) = (self.at + 1, (forms.len() + 2).div_ceil(8));
        self.at = nulls + width;
        let nulls = self.bytes.get(nulls..self.at).ok_or(SHORT)?;
        for (at, (place, form)) in places.zip(forms).enumerate() {
            let bit = at + 2;
            *place = if nulls[bit / 8] >> (bit % 8) & 1 == 1 {
                (0, NULL)
            } else {
                match form {
                    BinaryForm::Fixed(len) => self.take(*len)?,
                    BinaryForm::Temporal => {
                        let len = self.bytes.get(self.at).ok_or(Malformed::new("temporal length"))?;
                        self.at += 1;
                        self.take(usize::from(*len))?
                    }
                    BinaryForm::Bytes => match self.text()? {
                        (_, NULL) => return Err(Malformed::new("binary cell")),
                        place => place,
                    },
                    BinaryForm::Nothing => self.take(0)?,
                }
            };
        }
        Ok(())
    }
}

/// The cells of one column.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    bytes: &'a [u8],
    places: &'a [(u32, u32)],
}

impl<'a> Cells<'a> {
    /// How many.
    pub const fn len(self) -> usize {
        self.places.len()
    }

    /// True when one of them is NULL.
    pub fn has_null(self) -> bool {
        // Without an early exit, so that it is done for many at once.
        self.places.iter().fold(false, |any, &(_, len)| any | (len == NULL))
    }

    /// Bytes of all of them.
    pub fn total(self) -> usize {
        self.places.iter().filter(|&&(_, len)| len != NULL).map(|&(_, len)| len as usize).sum()
    }

    /// All of them, `None` for NULL.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Option<Cell<'a>>> {
        let bytes = self.bytes;
        self.places.iter().map(move |&(start, len)| {
            (len != NULL).then(|| Cell { bytes, start: start as usize, end: start as usize + len as usize })
        })
    }
}

/// A cell, with the bytes around it.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    bytes: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> Cell<'a> {
    /// Its bytes.
    #[inline]
    pub fn body(self) -> &'a [u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Its length.
    #[inline]
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// The same without its first `count` bytes, at most all.
    #[inline]
    pub fn skip(self, count: usize) -> Self {
        Self { start: (self.start + count).min(self.end), ..self }
    }

    /// The same without all but its first `count` bytes.
    #[inline]
    pub fn first(self, count: usize) -> Self {
        Self { end: (self.start + count).min(self.end), ..self }
    }

    /// The value of up to 19 digits; `None` when they are more, or some are none. No digits are 0.
    #[inline]
    pub fn digits(self) -> Option<u64> {
        match self.len() {
            0 => Some(0),
            len @ 1..=8 => eight(self.ending_at(self.end), len),
            len @ 9..=16 => {
                let low = eight(self.ending_at(self.end), 8)?;
                Some(eight(self.ending_at(self.end - 8), len - 8)? * 100_000_000 + low)
            }
            len @ 17..=19 => {
                let low = eight(self.ending_at(self.end), 8)?;
                let middle = eight(self.ending_at(self.end - 8), 8)? * 100_000_000;
                Some(eight(self.ending_at(self.end - 16), len - 16)? * 10_000_000_000_000_000 + middle + low)
            }
            _ => None,
        }
    }

    /// The eight bytes in front of `end`, whatever they belong to; zeros in front of all.
    #[inline]
    fn ending_at(self, end: usize) -> u64 {
        match self.bytes.get(..end).and_then(<[u8]>::last_chunk::<8>) {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => {
                self.bytes.get(..end).unwrap_or_default().iter().fold(0, |all, &byte| all >> 8 | u64::from(byte) << 56)
            }
        }
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// The value of the last `len` of eight digits, 1 to 8; `None` when some are none.
#[inline]
fn eight(bytes: u64, len: usize) -> Option<u64> {
    let garbage = 64 - 8 * len as u32;
    // What stands in front becomes zeros.
    let bytes = (bytes >> garbage << garbage) | ((ONES * 0x30) & !(u64::MAX >> garbage << garbage));
    all_digits(bytes).then(|| join(bytes))
}

/// True when each of eight bytes is a digit.
#[inline]
const fn all_digits(bytes: u64) -> bool {
    (bytes.wrapping_add(ONES * 0x46) | bytes.wrapping_sub(ONES * 0x30)) & (ONES * 0x80) == 0
}

/// The number of eight digits: neighbours are joined three times.
#[inline]
const fn join(bytes: u64) -> u64 {
    let twos = ((bytes & (ONES * 0x0f)).wrapping_mul(10 << 8 | 1)) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = (twos.wrapping_mul(100 << 16 | 1)) >> 16 & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000 << 32 | 1)) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(bytes: &[u8], start: usize) -> Cell<'_> {
        Cell { bytes, start, end: bytes.len() }
    }

    #[test]
    fn digits_are_joined_whatever_stands_in_front() {
        for number in
            [0_u64, 7, 10, 99, 12_345_678, 99_999_999, 100_000_000, 1_234_567_890_123_456, 9_999_999_999_999_999]
        {
            let text = number.to_string();
            for front in ["", "9", "xyzabcdefgh", "\u{ff}\u{ff}\u{ff}\u{ff}\u{ff}"] {
                let bytes = [front.as_bytes(), text.as_bytes()].concat();
                assert_eq!(cell(&bytes, front.len()).digits(), Some(number), "{front}{text}");
            }
        }
    }

    #[test]
    fn what_is_no_digit_is_seen_at_every_place() {
        for len in 1..=19 {
            for at in 0..len {
                for wrong in [b'/', b':', b'-', b'.', 0, b' ', 0x80, 0xff, b'0' | 0x80, b'A'] {
                    let mut bytes = vec![b'5'; len];
                    bytes[at] = wrong;
                    assert_eq!(cell(&bytes, 0).digits(), None, "{bytes:?}");
                }
            }
        }
        assert_eq!(cell(b"12345678901234567890", 0).digits(), None);
    }

    #[test]
    fn rows_are_cut_exactly() {
        let mut places = Places::default();
        let forms = [BinaryForm::Bytes; 2];
        // Lengths 1 and 2; NULL and an empty one; a row that is too short, and one that is too long.
        let bytes = b"\x01a\x02bc\xfb\x00\x01a\x01a\x01b\x01c";
        places.cut(bytes, &[0..5, 5..7], &forms, false).unwrap();
        let column = |at| places.column(bytes, at).iter().map(|cell| cell.map(Cell::body)).collect::<Vec<_>>();
        assert_eq!(column(0), [Some(&b"a"[..]), None]);
        assert_eq!(column(1), [Some(&b"bc"[..]), Some(&b""[..])]);
        assert_eq!((places.column(bytes, 0).has_null(), places.column(bytes, 1).has_null()), (true, false));
        for row in [7..9, 7..13, 7..99] {
            assert!(places.cut(bytes, &[row], &forms, false).is_err());
        }
    }
}
