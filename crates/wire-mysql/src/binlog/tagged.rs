//! MySQL's own serialisation, in which GTIDs with tags are written since 8.3.
//!
//! A message is: version of the format, its own length, the last field that a reader must know; then fields, each with
//! its number in front and in ascending order. Every integer is of variable length.

use rowferry_wire::{Malformed, Reader};

use super::event::Gtid;
use super::gtid::tag_of;

/// Reads an unsigned integer: as many ones as the first byte ends with, as many bytes follow it.
pub(super) fn unsigned(reader: &mut Reader<'_>, what: &'static str) -> Result<u64, Malformed> {
    let first = reader.u8(what)?;
    let more = first.trailing_ones() as usize;
    let rest = reader.take(more, what)?;
    let mut high = [0; 8];
    high[..more].copy_from_slice(rest);
    let high = u64::from_le_bytes(high);
    Ok(match more {
        // The first byte has no bits of the value left.
        7 | 8 => high,
        _ => (u64::from(first) >> (more + 1)) | (high << (7 - more)),
    })
}

/// Reads a signed integer: its sign is the lowest bit.
fn signed(reader: &mut Reader<'_>, what: &'static str) -> Result<i64, Malformed> {
    let value = unsigned(reader, what)?;
    Ok((value >> 1) as i64 ^ -((value & 1) as i64))
}

/// An unsigned integer in the shortest form.
pub(super) fn variable_length(value: u64) -> Vec<u8> {
    let bits = (64 - value.leading_zeros()).max(1) as usize;
    let more = (bits - 1) / 7;
    match more {
        0..=6 => {
            let marked = (value << (more + 1)) | ((1 << more) - 1);
            marked.to_le_bytes()[..=more].to_vec()
        }
        7 => std::iter::once(0x7f).chain(value.to_le_bytes().into_iter().take(7)).collect(),
        _ => std::iter::once(0xff).chain(value.to_le_bytes()).collect(),
    }
}

/// Decodes the body of a GTID_TAGGED event.
pub(super) fn decode_gtid(body: &[u8]) -> Result<Gtid, Malformed> {
    let mut reader = Reader::new(body);
    let what = "tagged GTID";
    if unsigned(&mut reader, what)? != 1 {
        return Err(Malformed::new("tagged GTID version"));
    }
    let len = unsigned(&mut reader, what)?;
    if len != body.len() as u64 {
        return Err(Malformed::new("tagged GTID length"));
    }
    unsigned(&mut reader, what)?;
    let mut gtid = Gtid::default();
    let mut has_original = (false, false);
    let mut least = 0;
    while !reader.is_empty() {
        let field = unsigned(&mut reader, what)?;
        if field < least {
            return Err(Malformed::new("tagged GTID order"));
        }
        least = field + 1;
        match field {
            0 => gtid.may_have_statements = unsigned(&mut reader, what)? & 1 != 0,
            1 => {
                for byte in &mut gtid.uuid {
                    *byte = u8::try_from(unsigned(&mut reader, what)?).map_err(|_| Malformed::new(what))?;
                }
            }
            2 => gtid.number = u64::try_from(signed(&mut reader, what)?).map_err(|_| Malformed::new(what))?,
            3 => {
                let len = usize::try_from(unsigned(&mut reader, what)?).map_err(|_| Malformed::new(what))?;
                gtid.tag = tag_of(reader.take(len, what)?)?;
            }
            4 => gtid.last_committed = signed(&mut reader, what)?,
            5 => gtid.sequence_number = signed(&mut reader, what)?,
            6 => gtid.immediate_commit = unsigned(&mut reader, what)?,
            7 => {
                gtid.original_commit = unsigned(&mut reader, what)?;
                has_original.0 = true;
            }
            8 => gtid.transaction_length = unsigned(&mut reader, what)?,
            9 => gtid.immediate_version = unsigned(&mut reader, what)? as u32,
            10 => {
                gtid.original_version = unsigned(&mut reader, what)? as u32;
                has_original.1 = true;
            }
            // A later version's; the fields behind it cannot be found.
            _ => break,
        }
    }
    if !has_original.0 {
        gtid.original_commit = gtid.immediate_commit;
    }
    if !has_original.1 {
        gtid.original_version = gtid.immediate_version;
    }
    Ok(gtid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_variable_length_round_trip() {
        let edges = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit]).chain([u64::MAX, 300, 65_535]);
        for value in edges {
            let bytes = variable_length(value);
            let mut reader = Reader::new(&bytes);
            assert_eq!(unsigned(&mut reader, "value"), Ok(value), "{bytes:x?}");
            assert!(reader.is_empty());
            assert!(unsigned(&mut Reader::new(&bytes[..bytes.len() - 1]), "value").is_err());
        }
    }

    #[test]
    fn lengths_beyond_the_body_are_refused() {
        assert!(decode_gtid(&[2, 4, 0, 6, 0xfe]).is_err());
        assert!(decode_gtid(&[]).is_err());
    }
}
