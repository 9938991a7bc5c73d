//! What can be locked.

use rowferry_dialect::ir::LockMode;

/// A thing that can be locked.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Tag {
    /// A table, by its object id.
    Relation(u32),
    /// A row of a table, by its rowid. Tables without rowid have one lock for all of their rows.
    Row {
        /// The table.
        relation: u32,
        /// The row.
        row: i64,
    },
    /// What users agree upon.
    Advisory(AdvisoryKey),
    /// The back end's one write lock.
    Write,
}

/// The key of an advisory lock, as `pg_locks` shows it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct AdvisoryKey {
    /// The high half of one key, or the first of two.
    pub high: u32,
    /// The low half, or the second.
    pub low: u32,
    /// It was given as two keys: these are another space than single keys.
    pub pair: bool,
}

impl AdvisoryKey {
    /// One key.
    pub fn single(key: i64) -> Self {
        Self { high: (key as u64 >> 32) as u32, low: key as u32, pair: false }
    }

    /// Two keys.
    pub fn pair(first: i32, second: i32) -> Self {
        Self { high: first as u32, low: second as u32, pair: true }
    }
}

/// The row that stands for all rows of a table without rowid.
pub const ALL_ROWS: i64 = i64::MIN;

impl Tag {
    /// The mode in words, on the object in words: `ShareLock on transaction 745`. `holder` is the transaction that is in
    /// the way.
    pub(super) fn describe(&self, mode: LockMode, database: u32, holder: Option<i64>) -> String {
        match self {
            Self::Relation(oid) => format!("{} on relation {oid} of database {database}", mode.name()),
            Self::Advisory(key) => format!(
                "{} on advisory lock [{database},{},{},{}]",
                mode.name(),
                key.high,
                key.low,
                if key.pair { 2 } else { 1 }
            ),
            Self::Row { .. } | Self::Write => match holder {
                Some(xid) => format!("ShareLock on transaction {xid}"),
                None => format!("{} on tuple of database {database}", mode.name()),
            },
        }
    }

    /// What `pg_stat_activity.wait_event` calls a wait for it.
    pub fn wait_event(&self) -> &'static str {
        match self {
            Self::Relation(_) => "relation",
            Self::Row { .. } | Self::Write => "transactionid",
            Self::Advisory(_) => "advisory",
        }
    }
}
