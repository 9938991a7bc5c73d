//! Encodings that PostgreSQL converts into each other without UTF-8 between them: what that gives differs from the way by
//! UTF-8, and is what a PostgreSQL 15 answers for each code (`tools/postgres_encodings.py`).

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;

/// What the codes of an encoding are in another.
#[derive(Debug)]
pub(super) struct Table {
    /// By code.
    runs: Vec<Run>,
}

/// Codes that follow each other.
#[derive(Debug)]
struct Run {
    first: u32,
    count: u32,
    /// What the first becomes.
    to: u32,
    /// Whether all of them become that; else what they become follows each other, too.
    is_constant: bool,
}

/// What a code becomes.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Found {
    Code(u32),
    /// The other encoding has no such character.
    Nothing,
    /// Bytes of the right shape that are no character for this conversion.
    Invalid,
}

impl Table {
    pub(super) fn converted(&self, code: u32) -> Found {
        let at = self.runs.partition_point(|run| run.first <= code);
        let run = at.checked_sub(1).and_then(|at| self.runs.get(at));
        match run.map(|run| (run, code - run.first)).filter(|(run, offset)| *offset < run.count) {
            None => Found::Nothing,
            Some((Run { to: 0, .. }, _)) => Found::Invalid,
            Some((run, _)) if run.is_constant => Found::Code(run.to),
            Some((run, offset)) => Found::Code(run.to.wrapping_add(offset)),
        }
    }

    /// `code+count=first` or `code+count*all`, in hexadecimal digits but for the count.
    fn read(text: &str) -> Self {
        let run = |word: &str| {
            let (first, rest) = word.split_once('+')?;
            let is_constant = rest.contains('*');
            let (count, to) = rest.split_once(['=', '*'])?;
            let hexadecimal = |digits| u32::from_str_radix(digits, 16).ok();
            Some(Run { first: hexadecimal(first)?, count: count.parse().ok()?, to: hexadecimal(to)?, is_constant })
        };
        Self { runs: text.split(' ').filter_map(run).collect() }
    }
}

/// Names of two encodings, and their table.
type Pair = (String, String, Table);

/// All of them: some thousand runs, read when the first is asked for.
static ALL: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let mut text = String::new();
    // The file is ours: one that cannot be read has no tables, as a test would see.
    let _ = DeflateDecoder::new(include_bytes!("../data/direct.z").as_slice()).read_to_string(&mut text);
    let pair = |line: &str| {
        let mut parts = line.splitn(3, ' ');
        let (from, to) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        Some((from, to, Table::read(parts.next()?)))
    };
    text.lines().filter_map(pair).collect()
});

/// The table of two encodings.
pub(super) fn between(from: &str, to: &str) -> Option<&'static Table> {
    ALL.iter().find(|pair| pair.0 == from && pair.1 == to).map(|pair| &pair.2)
}

#[cfg(test)]
mod tests {
    use super::{ALL, Found, between};

    #[test]
    fn codes_become_those_of_the_other_encoding() {
        assert_eq!(ALL.len(), 50);
        assert!(ALL.iter().all(|(_, _, table)| !table.runs.is_empty()));
        assert!(ALL.iter().all(|(_, _, table)| table.runs.is_sorted_by(|a, b| a.first + a.count <= b.first)));
        let table = between("KOI8R", "WIN1251").unwrap();
        assert_eq!([0xc1, 0x80].map(|code| table.converted(code)), [Found::Code(0xe0), Found::Nothing]);
        let table = between("EUC_JIS_2004", "SHIFT_JIS_2004").unwrap();
        assert_eq!([0xa4a2, 0x8fa2a1].map(|code| table.converted(code)), [Found::Code(0x82a0), Found::Invalid]);
        assert!(between("KOI8R", "LATIN1").is_none());
    }
}
