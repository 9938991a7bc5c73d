//! Encodings of one byte a character that PostgreSQL converts into each other without UTF-8 between them: their tables differ
//! from the two ways by way of it, and are what a PostgreSQL 15 answers for each byte (`tools/postgres_encodings.py`).

/// One encoding's bytes as those of another.
#[derive(Debug)]
pub(super) struct Table {
    /// Two hexadecimal digits for each byte from 128 on; 00 for those that the other does not have.
    digits: &'static str,
}

impl Table {
    /// A byte in the other encoding.
    pub(super) fn converted(&self, byte: u8) -> Option<u8> {
        if byte.is_ascii() {
            return Some(byte);
        }
        let at = usize::from(byte - 128) * 2;
        let found = u8::from_str_radix(self.digits.get(at..at + 2)?, 16).ok()?;
        (found != 0).then_some(found)
    }
}

/// The table of two encodings.
pub(super) fn between(from: &str, to: &str) -> Option<Table> {
    include_str!("../data/direct.txt").lines().find_map(|line| {
        let mut parts = line.split(' ');
        let found = parts.next() == Some(from) && parts.next() == Some(to);
        let digits = parts.next().filter(|_| found)?;
        Some(Table { digits })
    })
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn bytes_become_those_of_the_other_encoding() {
        let all = include_str!("../data/direct.txt");
        assert!(
            all.lines().count() == 14 && all.lines().all(|line| line.split(' ').nth(2).is_some_and(|d| d.len() == 256))
        );
        let table = between("KOI8R", "WIN1251").unwrap();
        assert_eq!(
            (table.converted(0xc1), table.converted(b'a'), table.converted(0x80)),
            (Some(0xe0), Some(b'a'), None)
        );
        assert!(between("KOI8R", "LATIN1").is_none());
    }
}
