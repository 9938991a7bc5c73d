//! Length-encoded integers and strings.

use rowferry_wire::{Malformed, Reader, Writer};

/// Reads an integer of 1, 3, 4 or 9 bytes.
pub(crate) fn integer(reader: &mut Reader<'_>, what: &'static str) -> Result<u64, Malformed> {
    match reader.u8(what)? {
        first @ 0..=0xfa => Ok(u64::from(first)),
        0xfc => Ok(u64::from(reader.u16_le(what)?)),
        0xfd => {
            let [a, b, c] = reader.array(what)?;
            Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
        }
        0xfe => reader.u64_le(what),
        // NULL in a text row, and no length at all.
        _ => Err(Malformed::new(what)),
    }
}

/// Reads a string with its length in front.
pub(crate) fn bytes<'a>(reader: &mut Reader<'a>, what: &'static str) -> Result<&'a [u8], Malformed> {
    let len = integer(reader, what)?;
    reader.take(usize::try_from(len).map_err(|_| Malformed::new(what))?, what)
}

/// Cuts a string with its length in front off `rest`, for the cells of rows.
#[inline]
pub(crate) fn cut<'a>(rest: &mut &'a [u8], what: &'static str) -> Result<&'a [u8], Malformed> {
    // Nearly all cells are this short.
    if let [len @ 0..=0xfa, behind @ ..] = *rest
        && let Some((cell, behind)) = behind.split_at_checked(usize::from(*len))
    {
        *rest = behind;
        return Ok(cell);
    }
    cut_long(rest, what)
}

#[cold]
fn cut_long<'a>(rest: &mut &'a [u8], what: &'static str) -> Result<&'a [u8], Malformed> {
    let mut reader = Reader::new(rest);
    let cell = bytes(&mut reader, what)?;
    *rest = reader.rest();
    Ok(cell)
}

/// Cuts a string with its length in front, or NULL, off `rest`.
#[inline]
pub(crate) fn cut_nullable<'a>(rest: &mut &'a [u8], what: &'static str) -> Result<Option<&'a [u8]>, Malformed> {
    if let [0xfb, behind @ ..] = *rest {
        *rest = behind;
        return Ok(None);
    }
    cut(rest, what).map(Some)
}

/// Writes an integer in the shortest form.
pub(crate) fn put_integer(writer: &mut Writer<'_>, value: u64) {
    match value {
        0..=0xfa => writer.u8(value as u8),
        0xfb..=0xffff => writer.u8(0xfc).u16_le(value as u16),
        0x1_0000..=0xff_ffff => writer.u8(0xfd).raw(&value.to_le_bytes()[..3]),
        _ => writer.u8(0xfe).u64_le(value),
    };
}

/// Writes a string with its length in front.
pub(crate) fn put_bytes(writer: &mut Writer<'_>, bytes: &[u8]) {
    put_integer(writer, bytes.len() as u64);
    writer.raw(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_trip_at_every_boundary() {
        for value in [0, 0xfa, 0xfb, 0xfc, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut bytes = Vec::new();
            put_integer(&mut Writer::new(&mut bytes), value);
            let mut reader = Reader::new(&bytes);
            assert_eq!(integer(&mut reader, "value"), Ok(value));
            assert!(reader.is_empty());
        }
        assert!(integer(&mut Reader::new(&[0xff]), "value").is_err());
        assert!(bytes(&mut Reader::new(&[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), "text").is_err());
    }
}
