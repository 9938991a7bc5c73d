//! What is going on, and what the server has said about it so far.

use std::sync::Arc;

use super::batch::Batch;
use super::connect::Connect;
use super::{Prepared, Returned, Session, SqlError};
use crate::messages::{Done, InsertDone, StatementId};
use crate::{Capabilities, StatementType};

/// A reply that is awaited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Awaited {
    /// To the current operation.
    Operation,
    /// To the closing of a cursor or the release of a statement; it does not matter what it says.
    Cleanup,
}

#[derive(Debug)]
pub(super) enum Operation {
    None,
    Connect(Box<Connect>),
    Prepare {
        key: Option<Box<[u8]>>,
        sql: Arc<[u8]>,
        params: u16,
    },
    /// Described; the caller has the next word.
    Described(Running),
    /// `SQ_BEGIN` is on its way; then these bytes follow.
    Begin {
        then: Vec<u8>,
        next: Box<Operation>,
        /// How many groups these bytes are.
        groups: usize,
    },
    Run(Running),
    Batch(Batch),
    Fetch {
        prepared: Arc<Prepared>,
        stays_open: bool,
    },
    /// So many requests for a row each are not answered yet.
    Scroll {
        prepared: Arc<Prepared>,
        groups: usize,
        position: Option<i64>,
        error: Option<SqlError>,
    },
    /// A value of this many bytes.
    Blob {
        size: usize,
    },
    FindRoutine,
    Call,
    /// Up to this many bytes of a smart large object.
    LoRead {
        size: usize,
    },
    LoWrite {
        written: i64,
    },
    /// One group whose reply is of no further interest; what it does to the transaction is.
    Simple(Transaction),
    Exit,
}

/// A statement with what it takes to prepare it again.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) prepared: Arc<Prepared>,
    pub(super) sql: Arc<[u8]>,
    pub(super) params: u16,
    /// Prepared by an earlier operation, so that the schema may have changed since.
    pub(super) reused: bool,
    /// Its cursor is open until somebody closes it.
    pub(super) stays_open: bool,
    /// Its cursor fetches nothing by being opened.
    pub(super) scrolls: bool,
}

/// What an operation does to the transaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Transaction {
    Unchanged,
    Begins,
    Ends,
}

impl Transaction {
    pub(super) fn of(statement_type: StatementType) -> Self {
        match statement_type {
            StatementType::BEGIN_WORK => Self::Begins,
            StatementType::COMMIT_WORK | StatementType::ROLLBACK_WORK => Self::Ends,
            _ => Self::Unchanged,
        }
    }
}

/// What a group of the server has said so far.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub(super) error: Option<SqlError>,
    pub(super) done: Option<Done>,
    pub(super) inserted: Option<InsertDone>,
    /// How many `SQ_DONE` came: one for each execution.
    pub(super) count: u64,
    pub(super) affected: i64,
    pub(super) prepared: Option<Prepared>,
    /// The statement has a column of this kind, which cannot be read.
    pub(super) unsupported: Option<(StatementId, String)>,
    /// Rows that came; those that came together may count as one.
    pub(super) tuples: u64,
    /// The number of the last of them, in a scroll cursor.
    pub(super) position: Option<i32>,
    pub(super) routine: Option<(Vec<u8>, i32)>,
    pub(super) returned: Option<Vec<Returned>>,
    pub(super) protocols: Option<Capabilities>,
    pub(super) challenge: Option<(i16, Vec<u8>)>,
    pub(super) admitted: bool,
    pub(super) blob: Vec<u8>,
}

impl Session {
    pub(super) fn apply(&mut self, transaction: Transaction) {
        match transaction {
            Transaction::Unchanged => {}
            Transaction::Begins => self.in_transaction = true,
            Transaction::Ends => self.in_transaction = false,
        }
    }

    /// What a failure tells of the transaction.
    pub(super) fn hear(&mut self, error: &SqlError) {
        if error.sqlcode == super::replies::NOT_IN_TRANSACTION {
            self.in_transaction = false;
        }
    }
}

impl Operation {
    pub(super) fn prepared(&self) -> Option<&Arc<Prepared>> {
        match self {
            Self::Described(running) | Self::Run(running) => Some(&running.prepared),
            Self::Batch(batch) => Some(&batch.prepared),
            Self::Fetch { prepared, .. } | Self::Scroll { prepared, .. } => Some(prepared),
            _ => None,
        }
    }

    /// True when success is said by `SQ_DONE`: an end without it, and without an error, is no answer.
    pub(super) fn ends_in_done(&self) -> bool {
        match self {
            Self::Run(running) => !running.prepared.is_query(),
            Self::Begin { .. } | Self::Simple(Transaction::Begins | Transaction::Ends) => true,
            _ => false,
        }
    }

    /// True when rows, or `SQ_DONE` for their end, must come. The opening of a scroll cursor fetches none.
    pub(super) fn fetches(&self) -> bool {
        match self {
            Self::Run(running) => running.prepared.is_query() && !running.scrolls,
            Self::Fetch { .. } => true,
            _ => false,
        }
    }

    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::None => "nothing was asked",
            Self::Connect(_) => "connecting",
            Self::Prepare { .. } | Self::Described(_) => "preparing",
            Self::Begin { .. } => "beginning a transaction",
            Self::Run(_) => "running a statement",
            Self::Batch(_) => "running a batch",
            Self::Fetch { .. } | Self::Scroll { .. } | Self::Blob { .. } => "fetching",
            Self::FindRoutine => "looking for a routine",
            Self::Call => "calling a routine",
            Self::LoRead { .. } => "reading a large object",
            Self::LoWrite { .. } => "writing a large object",
            Self::Simple(_) => "an answer was awaited",
            Self::Exit => "leaving",
        }
    }
}

/// The value that an `INSERT` generated, of whichever serial type.
pub(super) fn serial_of(reply: &Reply) -> i64 {
    let serial = reply.done.map_or(0, |done| i64::from(done.serial));
    let inserted = reply.inserted.unwrap_or_default();
    [serial, inserted.bigserial, inserted.serial8.unwrap_or(0)].into_iter().find(|&value| value != 0).unwrap_or(0)
}
