//! MySQL's sets of transactions: `3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7,…`, with tags since 8.3.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rowferry_wire::{Malformed, Reader, Writer};

use super::tagged;

/// Where transactions come from: the server's UUID, or a given one, and a tag (empty for none).
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Source {
    /// The UUID's bytes.
    pub uuid: [u8; 16],
    /// At most 32 letters, digits and underscores, in lower case.
    pub tag: String,
}

/// Why a text is no set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoGtidSet {
    /// The part that cannot be read.
    pub part: String,
}

impl fmt::Display for NoGtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no part of a GTID set, which looks like `uuid:1-5:7,uuid:tag:1-3`", self.part)
    }
}

impl std::error::Error for NoGtidSet {}

/// A set of transactions. Intervals are kept sorted, disjoint and apart from each other.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct GtidSet {
    /// Intervals `[from, to)`.
    sources: BTreeMap<Source, Vec<(u64, u64)>>,
}

/// The largest number a transaction may have.
pub const LARGEST: u64 = i64::MAX as u64 - 1;

impl GtidSet {
    /// True when no transaction is in it.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The sources, each with its intervals `[from, to)`.
    pub fn sources(&self) -> impl Iterator<Item = (&Source, &[(u64, u64)])> {
        self.sources.iter().map(|(source, intervals)| (source, intervals.as_slice()))
    }

    /// Adds one transaction.
    pub fn add(&mut self, source: &Source, number: u64) {
        self.add_interval(source, number, number.saturating_add(1));
    }

    /// Adds the transactions `[from, to)`.
    pub fn add_interval(&mut self, source: &Source, from: u64, to: u64) {
        if from >= to {
            return;
        }
        if !self.sources.contains_key(source) {
            self.sources.insert(source.clone(), vec![(from, to)]);
            return;
        }
        let Some(intervals) = self.sources.get_mut(source) else { return };
        // The usual case: the next number of the last interval.
        if let Some(last) = intervals.last_mut()
            && last.1 == from
        {
            last.1 = to;
            return;
        }
        let begin = intervals.partition_point(|interval| interval.1 < from);
        let end = intervals.partition_point(|interval| interval.0 <= to);
        let joined = intervals[begin..end].iter().fold((from, to), |all, one| (all.0.min(one.0), all.1.max(one.1)));
        intervals.splice(begin..end, [joined]);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (source, intervals) in other.sources() {
            intervals.iter().for_each(|&(from, to)| self.add_interval(source, from, to));
        }
    }

    /// True when the transaction is in it.
    pub fn contains(&self, source: &Source, number: u64) -> bool {
        self.covers(source, number, number.saturating_add(1))
    }

    /// True when all of `other` is in it.
    pub fn contains_set(&self, other: &Self) -> bool {
        let mut all = other.sources().flat_map(|(source, each)| each.iter().map(move |&(from, to)| (source, from, to)));
        all.all(|(source, from, to)| self.covers(source, from, to))
    }

    fn covers(&self, source: &Source, from: u64, to: u64) -> bool {
        let Some(intervals) = self.sources.get(source) else { return false };
        let at = intervals.partition_point(|interval| interval.1 < to);
        intervals.get(at).is_some_and(|interval| interval.0 <= from && to <= interval.1)
    }

    /// Appends the set as `COM_BINLOG_DUMP_GTID` takes it.
    ///
    /// Wire: number of sources `u64le`, whose highest byte is the format; each with its UUID, in format 1 its tag (length
    /// as a variable-length integer), number of intervals `u64le`, each `[from, to)` as `u64le`. In format 1 the number
    /// of sources stands in bytes 1 to 6, and the format in byte 0, too.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        let count = self.sources.len() as u64;
        let has_tags = self.sources.keys().any(|source| !source.tag.is_empty());
        writer.u64_le(if has_tags { (1 << 56) | (count << 8) | 1 } else { count });
        for (source, intervals) in &self.sources {
            writer.raw(&source.uuid);
            if has_tags {
                writer.raw(&tagged::variable_length(source.tag.len() as u64)).raw(source.tag.as_bytes());
            }
            writer.u64_le(intervals.len() as u64);
            for (from, to) in intervals {
                writer.u64_le(*from).u64_le(*to);
            }
        }
    }

    /// Decodes what `encode` writes; the body of a PREVIOUS_GTIDS event is the same.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let head = reader.u64_le("GTID set size")?;
        let (has_tags, count) = match head >> 56 {
            0 => (false, head),
            1 => (true, (head >> 8) & 0xffff_ffff_ffff),
            _ => return Err(Malformed::new("GTID set format")),
        };
        let count = usize::try_from(count).map_err(|_| Malformed::new("GTID set size"))?;
        reader.fits(count, 24, "GTID set size")?;
        let mut set = Self::default();
        for _ in 0..count {
            let uuid = reader.array("GTID set uuid")?;
            let tag = match has_tags {
                true => {
                    let len = tagged::unsigned(&mut reader, "GTID set tag")?;
                    let len = usize::try_from(len).map_err(|_| Malformed::new("GTID set tag"))?;
                    tag_of(reader.take(len, "GTID set tag")?)?
                }
                false => String::new(),
            };
            let source = Source { uuid, tag };
            let intervals = reader.u64_le("GTID set intervals")?;
            let intervals = usize::try_from(intervals).map_err(|_| Malformed::new("GTID set intervals"))?;
            reader.fits(intervals, 16, "GTID set intervals")?;
            for _ in 0..intervals {
                let (from, to) = (reader.u64_le("GTID interval")?, reader.u64_le("GTID interval")?);
                if from == 0 || from >= to || to > LARGEST + 1 {
                    return Err(Malformed::new("GTID interval"));
                }
                set.add_interval(&source, from, to);
            }
        }
        reader.finish("GTID set trailer")?;
        Ok(set)
    }
}

/// Reads a tag.
pub(super) fn tag_of(bytes: &[u8]) -> Result<String, Malformed> {
    match std::str::from_utf8(bytes) {
        Ok(tag) if tag.is_empty() || is_tag(tag) => Ok(tag.to_ascii_lowercase()),
        _ => Err(Malformed::new("GTID tag")),
    }
}

fn is_tag(text: &str) -> bool {
    let mut letters = text.bytes();
    let begins = letters.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    begins && text.len() <= 32 && letters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The spelling of a UUID.
pub fn uuid_text(uuid: &[u8; 16]) -> String {
    let hex = |range: std::ops::Range<usize>| uuid[range].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("{}-{}-{}-{}-{}", hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16))
}

fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    if digits.len() != 32 || !matches!(text.len(), 32 | 36) {
        return None;
    }
    let mut uuid = [0; 16];
    for (byte, pair) in uuid.iter_mut().zip(digits.chunks(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = (digit(0)? << 4 | digit(1)?) as u8;
    }
    Some(uuid)
}

impl FromStr for GtidSet {
    type Err = NoGtidSet;

    fn from_str(text: &str) -> Result<Self, NoGtidSet> {
        let mut set = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let wrong = || NoGtidSet { part: part.to_owned() };
            let mut pieces = part.split(':').map(str::trim);
            let uuid = pieces.next().and_then(parse_uuid).ok_or_else(wrong)?;
            let mut source = Source { uuid, tag: String::new() };
            let mut any = false;
            for piece in pieces {
                if is_tag(piece) {
                    source.tag = piece.to_ascii_lowercase();
                    continue;
                }
                let number =
                    |text: &str| text.trim().parse::<u64>().ok().filter(|number| (1..=LARGEST).contains(number));
                let (from, to) = match piece.split_once('-') {
                    Some((from, to)) => (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?),
                    None => (number(piece).ok_or_else(wrong)?, number(piece).ok_or_else(wrong)?),
                };
                any = true;
                // As the server has it: an interval that ends before it begins is empty.
                set.add_interval(&source, from, to + 1);
            }
            if !any {
                return Err(wrong());
            }
        }
        Ok(set)
    }
}

impl fmt::Display for GtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut uuid = None;
        for (source, intervals) in &self.sources {
            if uuid == Some(source.uuid) {
                write!(f, ":{}", source.tag)?;
            } else {
                f.write_str(if uuid.is_some() { "," } else { "" })?;
                f.write_str(&uuid_text(&source.uuid))?;
                if !source.tag.is_empty() {
                    write!(f, ":{}", source.tag)?;
                }
                uuid = Some(source.uuid);
            }
            for &(from, to) in intervals {
                match to - from {
                    1 => write!(f, ":{from}")?,
                    _ => write!(f, ":{from}-{}", to - 1)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
    const B: &str = "4e11fa47-71ca-11e1-9e33-c80aa9429562";

    fn set(text: &str) -> GtidSet {
        text.parse().unwrap()
    }

    #[test]
    fn sets_print_in_one_spelling() {
        for (text, printed) in [
            (String::new(), String::new()),
            (format!("{A}:1-5"), format!("{A}:1-5")),
            (format!("{B}:7, {A}:3-4:1-2:6"), format!("{A}:1-4:6,{B}:7")),
            (format!("{}:1:2", A.to_uppercase().replace('-', "")), format!("{A}:1-2")),
            (format!("{A}:5:tag:1-2:other:9"), format!("{A}:5:other:9:tag:1-2")),
            (format!("{A}:Tag:1,{A}:tag:2"), format!("{A}:tag:1-2")),
            (format!("{A}:5-3"), String::new()),
        ] {
            assert_eq!(set(&text).to_string(), printed, "{text}");
            assert_eq!(set(&printed), set(&text));
            let mut bytes = Vec::new();
            set(&text).encode(&mut bytes);
            assert_eq!(GtidSet::decode(&bytes), Ok(set(&text)));
            for cut in 0..bytes.len() {
                assert!(GtidSet::decode(&bytes[..cut]).is_err());
            }
        }
        for text in ["x", A, &format!("{A}:0"), &format!("{A}:1-"), &format!("{A}:tag"), &format!("{A}1:1"), "0-1-2"] {
            assert!(text.parse::<GtidSet>().is_err(), "{text}");
        }
    }

    #[test]
    fn intervals_join_and_are_found() {
        let mut all = set(&format!("{A}:1-3:7-9"));
        let source = all.sources().next().unwrap().0.clone();
        all.add(&source, 5);
        assert_eq!(all.to_string(), format!("{A}:1-3:5:7-9"));
        all.add(&source, 4);
        all.add(&source, 10);
        assert_eq!(all.to_string(), format!("{A}:1-5:7-10"));
        all.add_interval(&source, 2, 8);
        assert_eq!(all.to_string(), format!("{A}:1-10"));
        assert!(all.contains(&source, 10) && !all.contains(&source, 11));
        assert!(all.contains_set(&set(&format!("{A}:2:9-10"))));
        assert!(!all.contains_set(&set(&format!("{A}:2:9-11"))));
        assert!(!all.contains_set(&set(&format!("{B}:2"))));
        all.merge(&set(&format!("{B}:2,{A}:11")));
        assert_eq!(all.to_string(), format!("{A}:1-11,{B}:2"));
    }

    #[test]
    fn counts_beyond_the_bytes_are_refused() {
        let mut bytes = Vec::new();
        set(&format!("{A}:1")).encode(&mut bytes);
        for at in [0, 24] {
            let mut wrong = bytes.clone();
            wrong[at..at + 6].fill(0xff);
            assert!(GtidSet::decode(&wrong).is_err());
        }
    }
}
