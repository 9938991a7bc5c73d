//! MariaDB's transaction numbers: `domain-server-sequence`, and positions as lists of them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rowferry_wire::{Malformed, Reader};

/// One transaction.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct MariadbGtid {
    /// The stream of transactions that it belongs to.
    pub domain: u32,
    /// Where it was made.
    pub server_id: u32,
    /// Its number in the domain.
    pub sequence: u64,
}

impl fmt::Display for MariadbGtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain, self.server_id, self.sequence)
    }
}

/// A text that is no GTID of MariaDB's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoMariadbGtid {
    /// The text.
    pub part: String,
}

impl fmt::Display for NoMariadbGtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no GTID of MariaDB's, which looks like `0-1-100`", self.part)
    }
}

impl std::error::Error for NoMariadbGtid {}

impl FromStr for MariadbGtid {
    type Err = NoMariadbGtid;

    fn from_str(text: &str) -> Result<Self, NoMariadbGtid> {
        let mut numbers = text.split('-');
        let mut next = || numbers.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let gtid = (|| {
            Some(Self {
                domain: next()?.parse().ok()?,
                server_id: next()?.parse().ok()?,
                sequence: next()?.parse().ok()?,
            })
        })();
        match (gtid, numbers.next()) {
            (Some(gtid), None) => Ok(gtid),
            _ => Err(NoMariadbGtid { part: text.to_owned() }),
        }
    }
}

/// The last transaction of each domain.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MariadbPosition {
    domains: BTreeMap<u32, MariadbGtid>,
}

impl MariadbPosition {
    /// The last transaction of each domain, by domain.
    pub fn gtids(&self) -> impl Iterator<Item = &MariadbGtid> {
        self.domains.values()
    }

    /// Takes `gtid` for the last of its domain.
    pub fn set(&mut self, gtid: MariadbGtid) {
        self.domains.insert(gtid.domain, gtid);
    }

    /// True when the position is at or behind `gtid`.
    pub fn contains(&self, gtid: MariadbGtid) -> bool {
        self.domains.get(&gtid.domain).is_some_and(|last| last.sequence >= gtid.sequence)
    }

    /// Decodes the body of a GTID_LIST event: count and flags `u32le` (28 and 4 bits), then domain `u32le`, server id
    /// `u32le`, sequence `u64le` of each. The last of a domain counts.
    pub fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let count = (reader.u32_le("GTID list size")? & 0x0fff_ffff) as usize;
        reader.fits(count, 16, "GTID list size")?;
        let mut position = Self::default();
        for _ in 0..count {
            position.set(MariadbGtid {
                domain: reader.u32_le("GTID list domain")?,
                server_id: reader.u32_le("GTID list server id")?,
                sequence: reader.u64_le("GTID list sequence")?,
            });
        }
        // An empty list is padded to the size of one entry.
        if count > 0 {
            reader.finish("GTID list trailer")?;
        }
        Ok(position)
    }
}

impl FromStr for MariadbPosition {
    type Err = NoMariadbGtid;

    fn from_str(text: &str) -> Result<Self, NoMariadbGtid> {
        let mut position = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            position.set(part.parse()?);
        }
        Ok(position)
    }
}

impl fmt::Display for MariadbPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, gtid) in self.gtids().enumerate() {
            write!(f, "{}{gtid}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

/// A transaction begins (MariaDB).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MariadbGtidEvent {
    /// Its number; the server id stands in the event's header.
    pub gtid: MariadbGtid,
    /// See [`mariadb_flag`].
    pub flags: u8,
    /// Transactions with the same number were committed together; 0 for none.
    pub commit_id: u64,
}

/// Flags of [`MariadbGtidEvent`].
pub mod mariadb_flag {
    /// One event follows, without COMMIT or XID.
    pub const STANDALONE: u8 = 0x01;
    /// `commit_id` is there.
    pub const GROUP_COMMIT_ID: u8 = 0x02;
    /// Only transactional tables are touched.
    pub const TRANSACTIONAL: u8 = 0x04;
    /// A statement that changes definitions.
    pub const DDL: u8 = 0x20;
    /// An XA transaction is prepared here.
    pub const PREPARED_XA: u8 = 0x40;
    /// An XA transaction is completed here.
    pub const COMPLETED_XA: u8 = 0x80;
}

impl MariadbGtidEvent {
    /// Wire: sequence `u64le`, domain `u32le`, flags; with group commit its id `u64le`; further parts of later versions.
    pub fn decode(body: &[u8], server_id: u32) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let sequence = reader.u64_le("GTID sequence")?;
        let domain = reader.u32_le("GTID domain")?;
        let flags = reader.u8("GTID flags")?;
        let commit_id = if flags & mariadb_flag::GROUP_COMMIT_ID != 0 { reader.u64_le("GTID commit id")? } else { 0 };
        Ok(Self { gtid: MariadbGtid { domain, server_id, sequence }, flags, commit_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_keep_the_last_of_each_domain() {
        let mut position: MariadbPosition = "1-2-3, 0-1-100".parse().unwrap();
        assert_eq!(position.to_string(), "0-1-100,1-2-3");
        position.set("0-7-101".parse().unwrap());
        assert_eq!(position.to_string(), "0-7-101,1-2-3");
        assert!(position.contains("0-1-100".parse().unwrap()));
        assert!(!position.contains("0-1-102".parse().unwrap()) && !position.contains("5-1-1".parse().unwrap()));
        for text in ["1", "1-2", "1-2-3-4", "a-b-c", "1--3", "+1-2-3", "4294967296-1-1"] {
            assert!(text.parse::<MariadbPosition>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_list_must_hold_its_count() {
        let mut body = vec![1, 0, 0, 0x10];
        body.extend_from_slice(&[2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(MariadbPosition::decode(&body).unwrap().to_string(), "2-3-4");
        body[0] = 2;
        assert!(MariadbPosition::decode(&body).is_err());
        assert_eq!(MariadbPosition::decode(&[0; 6]).unwrap().to_string(), "");
    }
}
