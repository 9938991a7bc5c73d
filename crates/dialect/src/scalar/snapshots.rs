//! What a transaction sees of others: `pg_snapshot`, and `txid_snapshot` of old.
//!
//! A value is its text `xmin:xmax:xip,xip,…`: all before `xmin` have ended, none from `xmax` on has begun, and those between
//! that are told had not ended.

use super::{Casts, Modifiers, Order, Scalar, as_stored, fixed, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::invalid_syntax;
use crate::{Condition, Error, Result};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&PG_SNAPSHOT, &TXID_SNAPSHOT];

/// What a transaction sees of others.
pub static PG_SNAPSHOT: Scalar = snapshot("pg_snapshot", 5_038);

/// The same under its old name.
pub static TXID_SNAPSHOT: Scalar = snapshot("txid_snapshot", 2_970);

const fn snapshot(name: &'static str, oid: u32) -> Scalar {
    Scalar {
        name,
        words: name,
        oid,
        delimiter: ',',
        storage: Storage::Text,
        order: Order::None,
        modifiers: Modifiers::None,
        casts: Casts::TEXT,
        input: |text, _| Ok(Value::Text(Snapshot::read(text)?.text())),
        output: as_stored,
        receive,
        send: |out, value| {
            let snapshot = Snapshot::read(stored_text(value)?)?;
            let count = i32::try_from(snapshot.running.len()).map_err(|_| malformed())?;
            out.extend_from_slice(&count.to_be_bytes());
            for number in [snapshot.xmin, snapshot.xmax].into_iter().chain(snapshot.running) {
                out.extend_from_slice(&number.to_be_bytes());
            }
            Ok(())
        },
    }
}

/// A snapshot by its parts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Snapshot {
    /// All transactions before have ended.
    pub xmin: i64,
    /// None from here on has begun.
    pub xmax: i64,
    /// Those between that had not ended, in their order.
    pub running: Vec<i64>,
}

impl Snapshot {
    /// Reads a text.
    ///
    /// # Errors
    /// `22P02`, under the type's newer name as in PostgreSQL.
    pub fn read(text: &str) -> Result<Self> {
        let invalid = || invalid_syntax("pg_snapshot", text);
        let number = |part: &str| part.trim_start().parse::<i64>().ok().filter(|number| *number > 0);
        let mut parts = text.splitn(3, ':');
        let (xmin, xmax, list) = (parts.next(), parts.next(), parts.next());
        let (Some(xmin), Some(xmax), Some(list)) = (xmin.and_then(number), xmax.and_then(number), list) else {
            return Err(invalid());
        };
        if xmax < xmin {
            return Err(invalid());
        }
        let mut running: Vec<i64> = Vec::new();
        let list = list.strip_suffix(',').unwrap_or(list);
        for part in list.split(',').filter(|_| !list.is_empty()) {
            let next = number(part).filter(|next| (xmin..xmax).contains(next)).ok_or_else(invalid)?;
            match running.last() {
                Some(last) if next < *last => return Err(invalid()),
                Some(last) if next == *last => {}
                _ => running.push(next),
            }
        }
        Ok(Self { xmin, xmax, running })
    }

    /// The text of it.
    pub fn text(&self) -> String {
        let running: Vec<String> = self.running.iter().map(i64::to_string).collect();
        format!("{}:{}:{}", self.xmin, self.xmax, running.join(","))
    }

    /// True for a transaction that had ended.
    pub fn sees(&self, transaction: i64) -> bool {
        transaction < self.xmin || (transaction < self.xmax && self.running.binary_search(&transaction).is_err())
    }
}

fn malformed() -> Error {
    Error::new(Condition::InvalidBinaryRepresentation, "invalid external pg_snapshot data")
}

fn receive(bytes: &[u8]) -> Result<Value> {
    let (count, rest) = bytes.split_at_checked(4).ok_or_else(malformed)?;
    let count = usize::try_from(i32::from_be_bytes(fixed(count, "pg_snapshot")?)).map_err(|_| malformed())?;
    if rest.len() / 8 < 2 || rest.len() % 8 != 0 || rest.len() / 8 - 2 != count {
        return Err(malformed());
    }
    let numbers: Vec<i64> = rest
        .chunks_exact(8)
        .map(|number| Ok(i64::from_be_bytes(fixed(number, "pg_snapshot")?)))
        .collect::<Result<_>>()?;
    let snapshot = Snapshot { xmin: numbers[0], xmax: numbers[1], running: numbers[2..].to_vec() };
    // What is read from its text is in order.
    Snapshot::read(&snapshot.text()).map(|snapshot| Value::Text(snapshot.text())).map_err(|_| malformed())
}

#[cfg(test)]
mod tests {
    use super::super::round_trip::{check, refuses};
    use super::*;

    #[test]
    fn snapshots_are_read_and_printed_as_postgresql_does() {
        let cases = [
            ("12:13:", "12:13:"),
            ("12:18:14,16", "12:18:14,16"),
            ("12:16:14,14", "12:16:14"),
            (" 12: 13:12,", "12:13:12"),
        ];
        check(&PG_SNAPSHOT, &cases);
        check(&TXID_SNAPSHOT, &[("1:9223372036854775807:3", "1:9223372036854775807:3")]);
        let wrong = |text| format!("invalid input syntax for type pg_snapshot: \"{text}\"");
        for text in ["31:12:", "0:1:", "12:13:0", "12:16:14,13", "1:9223372036854775808:3", "12:13", "x"] {
            refuses(&TXID_SNAPSHOT, &[(text, &wrong(text))]);
        }
    }

    #[test]
    fn a_snapshot_sees_what_had_ended() {
        let snapshot = Snapshot::read("12:20:14,16").unwrap();
        let seen: Vec<i64> = (10..22).filter(|number| snapshot.sees(*number)).collect();
        assert_eq!(seen, [10, 11, 12, 13, 15, 17, 18, 19]);
    }
}
