use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use rowferry_wire::Malformed;

use super::StatementId;
use crate::messages::resultset::Columns;

/// Columns seen lately: most programs repeat a few statements, and decoding names costs more than comparing bytes. Also
/// those of prepared statements, which MariaDB leaves out of an answer when they have not changed.
#[derive(Debug, Default)]
pub(super) struct ColumnCache {
    recent: VecDeque<Arc<Columns>>,
    statements: HashMap<u32, Described>,
    /// What [`StatementId::LAST_PREPARED`] stands for.
    last: Option<u32>,
}

#[derive(Debug)]
struct Described {
    /// The preparation told columns: the statement has one result, with these or newer ones.
    by_preparation: bool,
    columns: Option<Arc<Columns>>,
}

impl ColumnCache {
    const SIZE: usize = 16;

    /// Decodes column definitions, or finds them.
    pub(super) fn columns(&mut self, raw: Vec<u8>) -> Result<Arc<Columns>, Malformed> {
        if let Some(known) = self.recent.iter().find(|columns| columns.is_from(&raw)) {
            return Ok(known.clone());
        }
        let columns = Arc::new(Columns::from_raw(raw)?);
        if self.recent.len() == Self::SIZE {
            self.recent.pop_front();
        }
        self.recent.push_back(columns.clone());
        Ok(columns)
    }

    /// A preparation succeeded.
    pub(super) fn prepared(&mut self, statement: StatementId, columns: Option<Arc<Columns>>) {
        self.last = Some(statement.0);
        self.statements.insert(statement.0, Described { by_preparation: columns.is_some(), columns });
    }

    /// A preparation failed: there is no last one.
    pub(super) const fn not_prepared(&mut self) {
        self.last = None;
    }

    fn described(&mut self, statement: StatementId) -> Option<&mut Described> {
        let number = if statement == StatementId::LAST_PREPARED { self.last? } else { statement.0 };
        self.statements.get_mut(&number)
    }

    /// The columns that the server takes for known; there must be `count`.
    pub(super) fn known(&mut self, statement: StatementId, count: u64) -> Result<Arc<Columns>, Malformed> {
        let known = self.described(statement).and_then(|described| described.columns.clone());
        known
            .filter(|columns| columns.definitions.len() as u64 == count)
            .ok_or(Malformed::new("columns that were never sent"))
    }

    /// Columns came in the answer to an execution.
    pub(super) fn came(&mut self, statement: StatementId, columns: &Arc<Columns>) {
        if let Some(described) = self.described(statement)
            && described.by_preparation
        {
            described.columns = Some(columns.clone());
        }
    }

    /// A result of an execution is over. `own` results are the statement's own: those from inside a procedure are
    /// always sent with their columns, and the server does not remember them.
    pub(super) fn ended(&mut self, statement: StatementId, columns: Arc<Columns>, own: bool) {
        if let Some(described) = self.described(statement)
            && !described.by_preparation
            // A result that failed amid its rows does not tell whose it was; one that is known wins.
            && (own || described.columns.is_none())
        {
            described.columns = Some(columns);
        }
    }

    /// A statement is forgotten.
    pub(super) fn closed(&mut self, statement: StatementId) {
        self.statements.remove(&statement.0);
    }

    /// All statements are forgotten.
    pub(super) fn reset(&mut self) {
        self.statements.clear();
        self.last = None;
    }
}
