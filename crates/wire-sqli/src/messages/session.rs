//! The session: capabilities, environment, databases, PAM, savepoints.

use rowferry_wire::Writer;

use crate::put::Put;
use crate::scan::{Scan, Stop, malformed};
use crate::tag::Tag;
use crate::{Capabilities, DecodeError, TooLong};

/// Decodes the mask of `SQ_PROTOCOLS` (126).
pub(super) fn decode_protocols(scan: &mut Scan<'_>) -> Result<Capabilities, Stop> {
    let len = usize::from(scan.u16()?);
    if len > Capabilities::MAX_BYTES {
        return malformed("length of a capability mask");
    }
    Ok(Capabilities::new(scan.take_padded(len)?))
}

/// Encodes `SQ_PROTOCOLS` (126).
pub(super) fn encode_protocols(mask: &Capabilities, w: &mut Writer<'_>) -> Result<(), TooLong> {
    w.u16(Tag::PROTOCOLS.0).char(mask.as_bytes(), "capability mask")?;
    Ok(())
}

/// `SQ_INFO` (81) in its environment form: variables for the session.
///
/// Wire: `i16` 6, `i16` total (6 + the entries), `i16` longest name and `i16` longest value (rounded up to even), the
/// entries as `CHAR` name and `CHAR` value, `i16` 0 twice. Vectors: `info.env.*`, `real.info.fork`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Environment<'a> {
    /// Names and values.
    pub entries: Vec<(&'a [u8], &'a [u8])>,
}

const INFO_ENV: i16 = 6;

impl<'a> Environment<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        if scan.i16()? != INFO_ENV {
            return Err(DecodeError::Unsupported("this form of INFO").into());
        }
        let Some(total) = scan.count("length of INFO")?.checked_sub(6) else { return malformed("length of INFO") };
        let _longest = (scan.i16()?, scan.i16()?);
        if scan.remaining() < total + 4 {
            // Everything is there or nothing is tried.
            scan.take(total + 4)?;
        }
        let end = scan.position() + total;
        let mut entries = Vec::new();
        while scan.position() < end {
            let entry = (scan.char()?, scan.char()?);
            if scan.position() > end {
                return malformed("entry of INFO");
            }
            entries.push(entry);
        }
        if (scan.i16()?, scan.i16()?) != (0, 0) {
            return malformed("end of INFO");
        }
        Ok(Self { entries })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        let even = |bytes: &[u8]| bytes.len().next_multiple_of(2);
        let total: usize = 6 + self.entries.iter().map(|(name, value)| 4 + even(name) + even(value)).sum::<usize>();
        let longest_name = self.entries.iter().map(|entry| even(entry.0)).max().unwrap_or(0);
        let longest_value = self.entries.iter().map(|entry| even(entry.1)).max().unwrap_or(0);
        w.u16(Tag::INFO.0).i16(INFO_ENV).count(total, "environment of the session")?;
        w.count(longest_name, "name of a variable")?.count(longest_value, "value of a variable")?;
        for (name, value) in &self.entries {
            w.char(name, "name of a variable")?.char(value, "value of a variable")?;
        }
        w.i16(0).i16(0);
        Ok(())
    }
}

/// `SQ_DBOPEN` (36): open a database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DbOpen<'a> {
    /// Its name.
    pub database: &'a [u8],
    /// 0 shared; 1 is reported to mean exclusive.
    pub mode: i16,
}

impl<'a> DbOpen<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        Ok(Self { database: scan.char()?, mode: scan.i16()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::DBOPEN.0).char(self.database, "name of a database")?.i16(self.mode);
        Ok(())
    }
}

/// Decodes the names of `SQ_DBLIST` (26), which an empty one ends.
pub(super) fn decode_names<'a>(scan: &mut Scan<'a>) -> Result<Vec<&'a [u8]>, Stop> {
    let mut names = Vec::new();
    loop {
        let name = scan.char()?;
        if name.is_empty() {
            return Ok(names);
        }
        if names.len() == MAX_DATABASES {
            return malformed("number of databases");
        }
        names.push(name);
    }
}

/// Longer lists of databases are refused; the list is tried anew for each of its parts that arrives late.
const MAX_DATABASES: usize = 4096;

/// Encodes the reply to `SQ_DBLIST` (26).
pub(super) fn encode_names(names: &[&[u8]], w: &mut Writer<'_>) -> Result<(), TooLong> {
    w.u16(Tag::DBLIST.0);
    for name in names {
        w.char(name, "name of a database")?;
    }
    w.i16(0);
    Ok(())
}

rowferry_wire::open_enum! {
    /// How a PAM question is to be put.
    pub struct ChallengeStyle(i16) {
        /// Ask, and do not show the answer.
        PROMPT_ECHO_OFF = 1,
        /// Ask, and show the answer.
        PROMPT_ECHO_ON = 2,
        /// An error to be shown.
        ERROR_TEXT = 3,
        /// Information to be shown.
        INFORMATION_TEXT = 4,
    }
}

/// `SQ_CHALLENGE` (129): PAM asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Challenge<'a> {
    /// How.
    pub style: ChallengeStyle,
    /// What.
    pub text: &'a [u8],
}

impl<'a> Challenge<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        Ok(Self { style: ChallengeStyle(scan.i16()?), text: scan.char()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::CHALLENGE.0).i16(self.style.0).char(self.text, "challenge")?;
        Ok(())
    }
}

/// `SQ_XOPEN` (82): the first message of a client of distributed transactions (XA), before it opens a database.
///
/// Wire: `CHAR` database, `i32` number of the resource manager, `i32` flags; as IBM's `XADataSource` sends it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct XaOpen<'a> {
    /// The database.
    pub database: &'a [u8],
    /// What the client calls it.
    pub resource_manager: i32,
    /// 0 so far.
    pub flags: i32,
}

impl<'a> XaOpen<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        Ok(Self { database: scan.char()?, resource_manager: scan.i32()?, flags: scan.i32()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::XOPEN.0).char(self.database, "name of a database")?.i32(self.resource_manager).i32(self.flags);
        Ok(())
    }
}

/// `SQ_SQLISETSVPT` (137): set a savepoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SetSavepoint<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Not 0: the name must be new.
    pub unique: i16,
}

impl<'a> SetSavepoint<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        Ok(Self { name: scan.char()?, unique: scan.i16()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::SETSVPT.0).char(self.name, "name of a savepoint")?.i16(self.unique);
        Ok(())
    }
}
