//! Lists of documents, as bytes: of each how far its row and its version are from those of the one before, and how often it has the
//! word.

/// A document that has a word, as it was when its version was noted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Noted {
    pub(super) row: i64,
    pub(super) version: i64,
    pub(super) count: u32,
}

/// Adds a number, seven bits at a time.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes one off; `None` for what is none.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// A distance as a number that is small where it is near, in either direction.
fn folded(distance: i64) -> u64 {
    (distance << 1 ^ distance >> 63).cast_unsigned()
}

fn unfolded(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

/// The bytes of a list.
pub(super) fn encode(postings: &[Noted]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(postings.len() * 4);
    let (mut row, mut version) = (0_i64, 0_i64);
    for posting in postings {
        put(&mut bytes, folded(posting.row.wrapping_sub(row)));
        put(&mut bytes, folded(posting.version.wrapping_sub(version)));
        put(&mut bytes, posting.count.into());
        (row, version) = (posting.row, posting.version);
    }
    bytes
}

/// The list of some bytes; `None` for bytes that are none.
pub(super) fn decode(mut bytes: &[u8], out: &mut Vec<Noted>) -> Option<()> {
    let (mut row, mut version) = (0_i64, 0_i64);
    while !bytes.is_empty() {
        row = row.wrapping_add(unfolded(take(&mut bytes)?));
        version = version.wrapping_add(unfolded(take(&mut bytes)?));
        let count = u32::try_from(take(&mut bytes)?).ok()?;
        out.push(Noted { row, version, count });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_what_it_was() {
        let rows = [1, 2, 300, -5, i64::MAX, i64::MIN, 0];
        let list: Vec<Noted> =
            rows.iter().zip(1..).map(|(&row, version)| Noted { row, version, count: version as u32 * 100 }).collect();
        let bytes = encode(&list);
        let mut read = Vec::new();
        assert_eq!(decode(&bytes, &mut read), Some(()));
        assert_eq!(read, list);
        assert_eq!(encode(&list[..2]).len(), 7);
        for end in 1..bytes.len() {
            let mut read = Vec::new();
            assert!(decode(&bytes[..end], &mut read).is_none() || list.starts_with(&read), "{end}");
        }
    }
}
