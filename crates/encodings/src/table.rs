//! Codes and characters.
//!
//! A file is a deflated list of tables, each with its length in front: numbers in seven bits a byte, the low ones first.
//! A table is four lists of pairs, each pair as its distance from the one before: codes and their characters; characters
//! whose code is not the least that decodes to them (0: they have none); and twice codes that are two characters.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;

/// The characters of one encoding.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// By code.
    decode: Vec<(u32, u32)>,
    /// By character.
    encode: Vec<(u32, u32)>,
    /// Codes that are two characters; some dozens, in two encodings.
    pairs: Vec<(u32, [u32; 2])>,
    /// Codes of four bytes beyond the table follow a rule.
    is_gb18030: bool,
}

/// Where a table is read from, at its first use.
pub(crate) type Source = &'static LazyTable;
/// A table that is read at its first use.
#[derive(Debug)]
pub(crate) struct LazyTable(LazyLock<Table, fn() -> Table>);

impl LazyTable {
    pub(crate) const fn new(read: fn() -> Table) -> Self {
        Self(LazyLock::new(read))
    }

    pub(crate) fn read(&'static self) -> &'static Table {
        &self.0
    }
}

/// The first code of the rule for characters beyond the basic plane, as an index.
const BEYOND: u32 = 0x1_0000;

impl Table {
    /// The table at a place of a file.
    pub(crate) fn nth(file: &[u8], place: usize) -> Self {
        let mut bytes = Vec::new();
        // The files are ours: one that cannot be read has no characters, as a test would see.
        let _ = DeflateDecoder::new(file).read_to_end(&mut bytes);
        let mut numbers = Numbers(&bytes);
        for _ in 0..place {
            let length = numbers.next() as usize;
            numbers.0 = numbers.0.get(length..).unwrap_or_default();
        }
        numbers.next();
        Self::read(&mut numbers)
    }

    /// The table of GB18030.
    pub(crate) fn gb18030(file: &[u8]) -> Self {
        Self { is_gb18030: true, ..Self::nth(file, 0) }
    }

    fn read(numbers: &mut Numbers<'_>) -> Self {
        let decode = numbers.pairs();
        let others = numbers.pairs();
        let (first, second) = (numbers.pairs(), numbers.pairs());
        let pairs = first.iter().zip(&second).map(|((code, first), (_, second))| (*code, [*first, *second])).collect();
        // Stable: the least code of each character comes first.
        let mut encode: Vec<(u32, u32)> = others;
        encode.extend(decode.iter().map(|(code, letter)| (*letter, *code)));
        encode.sort_by_key(|(letter, _)| *letter);
        encode.dedup_by_key(|(letter, _)| *letter);
        encode.retain(|(_, code)| *code != 0);
        encode.shrink_to_fit();
        Self { decode, encode, pairs, is_gb18030: false }
    }

    /// Adds what a code stands for; `None` where that is nothing.
    pub(crate) fn decode(&self, code: &[u8], out: &mut String) -> Option<()> {
        let number = code.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        if let Ok(at) = self.decode.binary_search_by_key(&number, |(code, _)| *code) {
            out.push(char::from_u32(self.decode[at].1)?);
            return Some(());
        }
        if let Some((_, letters)) = self.pairs.iter().find(|(code, _)| *code == number) {
            out.extend(letters.iter().filter_map(|letter| char::from_u32(*letter)));
            return Some(());
        }
        let [a @ 0x90..=0xe3, b, c, d] = *code else { return None };
        if !self.is_gb18030 {
            return None;
        }
        let digit = |byte: u8, least: u8| u32::from(byte) - u32::from(least);
        let index = ((digit(a, 0x90) * 10 + digit(b, b'0')) * 126 + digit(c, 0x81)) * 10 + digit(d, b'0');
        out.push(char::from_u32(BEYOND + index)?);
        Some(())
    }

    /// The code of a character.
    pub(crate) fn encode(&self, letter: char) -> Option<u32> {
        let point = u32::from(letter);
        if let Ok(at) = self.encode.binary_search_by_key(&point, |(letter, _)| *letter) {
            return Some(self.encode[at].1);
        }
        if !self.is_gb18030 || point < BEYOND {
            return None;
        }
        let index = point - BEYOND;
        let bytes = [0x90 + index / 12_600, 0x30 + index / 1_260 % 10, 0x81 + index / 10 % 126, 0x30 + index % 10];
        Some(bytes.iter().fold(0, |code, byte| code << 8 | byte))
    }

    /// The code of two characters that are one.
    pub(crate) fn encode_pair(&self, first: char, second: char) -> Option<u32> {
        let letters = [u32::from(first), u32::from(second)];
        self.pairs.iter().find(|(_, pair)| *pair == letters).map(|(code, _)| *code)
    }

    /// Every code of the table.
    #[cfg(test)]
    pub(crate) fn codes(&self) -> impl Iterator<Item = u32> + '_ {
        self.decode.iter().map(|(code, _)| *code).chain(self.pairs.iter().map(|(code, _)| *code))
    }
}

/// Numbers of a file.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let Some((byte, rest)) = self.0.split_first() else { break };
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                break;
            }
        }
        number
    }

    fn pairs(&mut self) -> Vec<(u32, u32)> {
        let count = self.next() as usize;
        let (mut first, mut second) = (0_u32, 0_u32);
        let mut pairs = Vec::with_capacity(count.min(self.0.len()));
        for _ in 0..count {
            first = first.wrapping_add(self.next() as u32);
            let step = self.next();
            // The sign is the lowest bit; of codes of four bytes a step takes more than 32 bits.
            second = second.wrapping_add(((step >> 1) ^ 0_u64.wrapping_sub(step & 1)) as u32);
            pairs.push((first, second));
        }
        pairs
    }
}
