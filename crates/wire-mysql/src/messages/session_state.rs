//! What OK tells of changes of session state.

use rowferry_wire::{Malformed, Reader, Writer, open_enum};

use crate::lenenc;

open_enum! {
    /// What has changed.
    pub struct Tracked(u8) {
        /// A system variable.
        SYSTEM_VARIABLES = 0,
        /// The default database.
        SCHEMA = 1,
        /// Something, not said what.
        STATE_CHANGE = 2,
        /// The transactions that the statement has committed.
        GTIDS = 3,
        /// The statements that would begin the open transaction anew.
        TRANSACTION_CHARACTERISTICS = 4,
        /// What the open transaction has done.
        TRANSACTION_STATE = 5,
    }
}

/// One change.
///
/// Wire: the kind `u8`, the length of what follows, then by kind: name and value of a variable, a flag in text, a
/// format byte and GTIDs, or a text; all of them length-encoded strings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StateChange<'a> {
    /// A system variable has a new value.
    Variable {
        /// In lower case.
        name: &'a [u8],
        /// As `SELECT @@name` would show it.
        value: &'a [u8],
    },
    /// The default database; empty for none.
    Schema(&'a [u8]),
    /// Some state has changed.
    Any(&'a [u8]),
    /// GTIDs, as `gtid_executed` spells them.
    Gtids(&'a [u8]),
    /// SQL that would begin the open transaction anew; empty when none is open.
    TransactionCharacteristics(&'a [u8]),
    /// Eight letters; see MySQL's `session_track_transaction_info`.
    TransactionState(&'a [u8]),
    /// A kind that is not known here.
    Unknown(Tracked, &'a [u8]),
}

impl<'a> StateChange<'a> {
    /// Calls `visit` with each change that `state`, the tail of an OK, tells of.
    pub fn visit(state: &'a [u8], mut visit: impl FnMut(Self)) -> Result<(), Malformed> {
        let mut reader = Reader::new(state);
        while !reader.is_empty() {
            let kind = Tracked(reader.u8("kind of a state change")?);
            let data = lenenc::bytes(&mut reader, "state change")?;
            let mut fields = Reader::new(data);
            match kind {
                // MariaDB may put several variables into one entry.
                Tracked::SYSTEM_VARIABLES => {
                    while !fields.is_empty() {
                        let name = lenenc::bytes(&mut fields, "name of a variable")?;
                        let value = lenenc::bytes(&mut fields, "value of a variable")?;
                        visit(Self::Variable { name, value });
                    }
                }
                Tracked::SCHEMA => visit(Self::Schema(lenenc::bytes(&mut fields, "schema")?)),
                Tracked::STATE_CHANGE => visit(Self::Any(lenenc::bytes(&mut fields, "flag of a state change")?)),
                Tracked::GTIDS => {
                    fields.u8("format of GTIDs")?;
                    visit(Self::Gtids(lenenc::bytes(&mut fields, "GTIDs")?));
                }
                Tracked::TRANSACTION_CHARACTERISTICS => {
                    let text = lenenc::bytes(&mut fields, "transaction characteristics")?;
                    visit(Self::TransactionCharacteristics(text));
                }
                Tracked::TRANSACTION_STATE => {
                    visit(Self::TransactionState(lenenc::bytes(&mut fields, "transaction state")?));
                }
                other => {
                    visit(Self::Unknown(other, fields.rest()));
                }
            }
            fields.finish("state change trailer")?;
        }
        Ok(())
    }

    /// Appends the change.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut data = Vec::new();
        let mut fields = Writer::new(&mut data);
        let kind = match self {
            Self::Variable { name, value } => {
                lenenc::put_bytes(&mut fields, name);
                lenenc::put_bytes(&mut fields, value);
                Tracked::SYSTEM_VARIABLES
            }
            Self::Schema(text) => {
                lenenc::put_bytes(&mut fields, text);
                Tracked::SCHEMA
            }
            Self::Any(text) => {
                lenenc::put_bytes(&mut fields, text);
                Tracked::STATE_CHANGE
            }
            Self::Gtids(text) => {
                fields.u8(0);
                lenenc::put_bytes(&mut fields, text);
                Tracked::GTIDS
            }
            Self::TransactionCharacteristics(text) => {
                lenenc::put_bytes(&mut fields, text);
                Tracked::TRANSACTION_CHARACTERISTICS
            }
            Self::TransactionState(text) => {
                lenenc::put_bytes(&mut fields, text);
                Tracked::TRANSACTION_STATE
            }
            Self::Unknown(kind, data) => {
                fields.raw(data);
                *kind
            }
        };
        let mut writer = Writer::new(bytes);
        writer.u8(kind.0);
        lenenc::put_bytes(&mut writer, &data);
    }
}

#[cfg(test)]
mod tests {
    use super::{StateChange, Tracked};

    fn decode(bytes: &[u8]) -> Result<Vec<StateChange<'_>>, rowferry_wire::Malformed> {
        let mut changes = Vec::new();
        StateChange::visit(bytes, |change| changes.push(change))?;
        Ok(changes)
    }

    #[test]
    fn every_change_comes_back() {
        let changes = [
            StateChange::Variable { name: b"autocommit", value: b"OFF" },
            StateChange::Schema(b"shop"),
            StateChange::Any(b"1"),
            StateChange::Gtids(b"3e11fa47-71ca-11e1-9e33-c80aa9429562:23"),
            StateChange::TransactionCharacteristics(b"START TRANSACTION READ ONLY;"),
            StateChange::TransactionState(b"T_______"),
            StateChange::Unknown(Tracked(9), b"xyz"),
        ];
        let mut bytes = Vec::new();
        for change in &changes {
            change.encode(&mut bytes);
        }
        assert_eq!(decode(&bytes).unwrap(), changes);
        for cut in 1..bytes.len() {
            // Cut between two changes it is well-formed, anywhere else it is not; it never panics.
            if let Ok(some) = decode(&bytes[..cut]) {
                assert_eq!(some, changes[..some.len()]);
            }
        }
    }

    #[test]
    fn several_variables_may_share_an_entry() {
        let changes = decode(b"\x00\x08\x01a\x01b\x01c\x01d").unwrap();
        assert_eq!(changes.len(), 2);
        assert_eq!(changes[1], StateChange::Variable { name: b"c", value: b"d" });
        assert!(decode(b"\x01\x03\x01ab").is_err(), "bytes behind the schema");
    }
}
