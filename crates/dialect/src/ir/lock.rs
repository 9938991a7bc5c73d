//! Locks that statements ask for.

use std::sync::Arc;

use super::query::{From, RelId};
use crate::schema::{Relation, RelationKind};

/// A lock's mode, with PostgreSQL's eight and their numbers. Row locks use four of them, as PostgreSQL does inside.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum LockMode {
    /// SELECT. Of a row: FOR KEY SHARE.
    AccessShare = 1,
    /// SELECT FOR UPDATE and its kin. Of a row: FOR SHARE.
    RowShare = 2,
    /// INSERT, UPDATE, DELETE.
    RowExclusive = 3,
    /// Changes of what is known of a table.
    ShareUpdateExclusive = 4,
    /// CREATE INDEX.
    Share = 5,
    /// Nobody else changes the table.
    ShareRowExclusive = 6,
    /// Nobody else does more than read. Of a row: FOR NO KEY UPDATE.
    Exclusive = 7,
    /// Nobody else does anything. Of a row: FOR UPDATE.
    AccessExclusive = 8,
}

impl LockMode {
    /// All of them, the weakest first.
    pub const ALL: [Self; 8] = [
        Self::AccessShare,
        Self::RowShare,
        Self::RowExclusive,
        Self::ShareUpdateExclusive,
        Self::Share,
        Self::ShareRowExclusive,
        Self::Exclusive,
        Self::AccessExclusive,
    ];

    /// The mode as a bit of a set.
    pub const fn bit(self) -> u16 {
        1 << self as u8
    }

    /// The modes that two holders cannot have at once, as a set: PostgreSQL's table "Conflicting Lock Modes".
    pub const fn conflicts(self) -> u16 {
        use LockMode as M;
        let strong = M::AccessExclusive.bit();
        let exclusive = strong | M::Exclusive.bit();
        let share = M::Share.bit() | M::ShareRowExclusive.bit();
        match self {
            M::AccessShare => strong,
            M::RowShare => exclusive,
            M::RowExclusive => exclusive | share,
            M::ShareUpdateExclusive => exclusive | share | self.bit(),
            M::Share => exclusive | M::RowExclusive.bit() | M::ShareUpdateExclusive.bit() | M::ShareRowExclusive.bit(),
            M::ShareRowExclusive => exclusive | share | M::RowExclusive.bit() | M::ShareUpdateExclusive.bit(),
            M::Exclusive => {
                exclusive | share | M::RowShare.bit() | M::RowExclusive.bit() | M::ShareUpdateExclusive.bit()
            }
            M::AccessExclusive => {
                exclusive
                    | share
                    | M::AccessShare.bit()
                    | M::RowShare.bit()
                    | M::RowExclusive.bit()
                    | M::ShareUpdateExclusive.bit()
            }
        }
    }

    /// It conflicts with none of the three modes that queries and changes of rows take.
    pub const fn is_weak(self) -> bool {
        matches!(self, Self::AccessShare | Self::RowShare | Self::RowExclusive)
    }

    /// The clause that locks a row so.
    pub const fn row_clause(self) -> &'static str {
        match self {
            Self::AccessShare => "FOR KEY SHARE",
            Self::RowShare => "FOR SHARE",
            Self::Exclusive => "FOR NO KEY UPDATE",
            _ => "FOR UPDATE",
        }
    }

    /// As LOCK TABLE says it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AccessShare => "ACCESS SHARE",
            Self::RowShare => "ROW SHARE",
            Self::RowExclusive => "ROW EXCLUSIVE",
            Self::ShareUpdateExclusive => "SHARE UPDATE EXCLUSIVE",
            Self::Share => "SHARE",
            Self::ShareRowExclusive => "SHARE ROW EXCLUSIVE",
            Self::Exclusive => "EXCLUSIVE",
            Self::AccessExclusive => "ACCESS EXCLUSIVE",
        }
    }

    /// As `pg_locks` and messages about deadlocks call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AccessShare => "AccessShareLock",
            Self::RowShare => "RowShareLock",
            Self::RowExclusive => "RowExclusiveLock",
            Self::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
            Self::Share => "ShareLock",
            Self::ShareRowExclusive => "ShareRowExclusiveLock",
            Self::Exclusive => "ExclusiveLock",
            Self::AccessExclusive => "AccessExclusiveLock",
        }
    }
}

/// LOCK TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct LockTable {
    /// The tables, in the order in which they are locked.
    pub relations: Vec<Arc<Relation>>,
    /// IN … MODE.
    pub mode: LockMode,
    /// NOWAIT.
    pub nowait: bool,
}

/// FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE or FOR KEY SHARE of one relation of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct RowLock {
    /// The relation as the query knows it.
    pub id: RelId,
    /// The table.
    pub relation: Arc<Relation>,
    /// How strong.
    pub mode: LockMode,
    /// What to do about rows that somebody else has locked.
    pub wait: LockWait,
    /// The table is locked instead, since the query's rows are made of several of its: MySQL's way of asking for them.
    pub whole: bool,
}

/// What to do about rows that somebody else has locked.
#[derive(Clone, Copy, Debug, Eq, PartialEq, PartialOrd, Ord)]
pub enum LockWait {
    /// Wait for them.
    Block,
    /// SKIP LOCKED.
    Skip,
    /// NOWAIT: fail.
    Fail,
}

/// A lock of each table that stands in a FROM clause, those inside of its subqueries left out.
pub fn row_locks_of(from: Option<&From>, mode: LockMode, wait: LockWait) -> Vec<RowLock> {
    fn add(from: &From, mode: LockMode, wait: LockWait, locks: &mut Vec<RowLock>) {
        match from {
            From::Relation { id, relation, .. } if relation.kind == RelationKind::Table => {
                locks.push(RowLock { id: *id, relation: relation.clone(), mode, wait, whole: false });
            }
            From::Join { left, right, .. } => {
                add(left, mode, wait, locks);
                add(right, mode, wait, locks);
            }
            From::Relation { .. }
            | From::Query { .. }
            | From::Cte { .. }
            | From::Kept { .. }
            | From::Function { .. } => {}
        }
    }
    let mut locks = Vec::new();
    if let Some(from) = from {
        add(from, mode, wait, &mut locks);
    }
    locks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_mutual() {
        for one in LockMode::ALL {
            for other in LockMode::ALL {
                assert_eq!(one.conflicts() & other.bit() != 0, other.conflicts() & one.bit() != 0, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn the_table_of_the_manual() {
        // Rows and columns from ACCESS SHARE to ACCESS EXCLUSIVE.
        let expected = [".......x", "......xx", "....xxxx", "...xxxxx", "..xx.xxx", "..xxxxxx", ".xxxxxxx", "xxxxxxxx"];
        for (row, mode) in expected.iter().zip(LockMode::ALL) {
            let shown: String =
                LockMode::ALL.iter().map(|other| if mode.conflicts() & other.bit() != 0 { 'x' } else { '.' }).collect();
            assert_eq!(*row, shown, "{mode:?}");
        }
    }
}
