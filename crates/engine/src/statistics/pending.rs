//! What a session has counted and nobody has asked for yet.

use std::sync::Arc;

use super::{FunctionCounts, Reads};

/// Statements of which a session remembers how often they have run before it works out what they have read.
const READS: usize = 512;

/// What a transaction has changed in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Changed {
    /// Rows inserted.
    pub inserted: u64,
    /// Rows updated.
    pub updated: u64,
    /// Rows deleted.
    pub deleted: u64,
    /// By how many rows the table has grown, without what was undone.
    pub live: i64,
    /// Rows changed that stay changed.
    pub kept: u64,
}

/// How often a statement has run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it reads.
    pub reads: Arc<Reads>,
    /// How often.
    pub runs: u64,
    /// Steps from row to row of whole tables.
    pub steps: u64,
}

/// What has been counted and is not given to tables yet.
#[derive(Debug, Default)]
pub struct Pending {
    tables: Vec<(u32, Changed)>,
    runs: Vec<Run>,
    functions: Vec<(u32, FunctionCounts)>,
}

/// What stays of a transaction's changes when it returns to a savepoint.
#[derive(Clone, Debug, Default)]
pub struct Mark(Vec<(u32, i64, u64)>);

impl Pending {
    /// Rows of a table have been changed.
    pub fn changed(&mut self, table: u32, inserted: u64, updated: u64, deleted: u64) {
        let at = match self.tables.iter().position(|(oid, _)| *oid == table) {
            Some(at) => at,
            None => {
                self.tables.push((table, Changed::default()));
                self.tables.len() - 1
            }
        };
        let counts = &mut self.tables[at].1;
        counts.inserted += inserted;
        counts.updated += updated;
        counts.deleted += deleted;
        counts.live += inserted as i64 - deleted as i64;
        counts.kept += inserted + updated + deleted;
    }

    /// A table has been emptied that had so many rows before the transaction.
    pub fn emptied(&mut self, table: u32, rows: i64) {
        self.changed(table, 0, 0, 0);
        if let Some((_, counts)) = self.tables.iter_mut().find(|(oid, _)| *oid == table) {
            counts.live = -rows;
        }
    }

    /// By how many rows a table has grown.
    pub fn live(&self, table: u32) -> i64 {
        self.tables.iter().find(|(oid, _)| *oid == table).map_or(0, |(_, counts)| counts.live)
    }

    /// A statement has run; true when too many are remembered.
    pub fn ran(&mut self, reads: &Arc<Reads>, runs: u64, steps: u64) -> bool {
        match self.runs.iter_mut().find(|run| Arc::ptr_eq(&run.reads, reads)) {
            Some(run) => {
                run.runs += runs;
                run.steps += steps;
            }
            None => self.runs.push(Run { reads: reads.clone(), runs, steps }),
        }
        self.runs.len() >= READS
    }

    /// What has been counted of a function.
    pub fn function(&mut self, oid: u32) -> &mut FunctionCounts {
        let at = match self.functions.iter().position(|(known, _)| *known == oid) {
            Some(at) => at,
            None => {
                self.functions.push((oid, FunctionCounts::default()));
                self.functions.len() - 1
            }
        };
        &mut self.functions[at].1
    }

    /// Functions that have been called.
    pub fn functions(&self) -> &[(u32, FunctionCounts)] {
        &self.functions
    }

    /// Tables with what has been changed in them.
    pub fn tables(&self) -> &[(u32, Changed)] {
        &self.tables
    }

    /// Statements that have run.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Statements that have run, remembered no more.
    pub fn take_runs(&mut self) -> Vec<Run> {
        std::mem::take(&mut self.runs)
    }

    /// What has been changed, taken out.
    pub fn take_tables(&mut self) -> Self {
        Self {
            tables: std::mem::take(&mut self.tables),
            functions: std::mem::take(&mut self.functions),
            runs: Vec::new(),
        }
    }

    /// Nothing has been counted.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.runs.is_empty() && self.functions.is_empty()
    }

    /// Nothing of the changes stays.
    fn undo(&mut self) {
        self.tables.iter_mut().for_each(|(_, counts)| (counts.live, counts.kept) = (0, 0));
    }

    fn mark(&self) -> Mark {
        Mark(self.tables.iter().map(|(oid, counts)| (*oid, counts.live, counts.kept)).collect())
    }

    fn return_to(&mut self, mark: &Mark) {
        for (oid, counts) in &mut self.tables {
            let before = mark.0.iter().find(|(table, ..)| table == oid);
            (counts.live, counts.kept) = before.map_or((0, 0), |(_, live, kept)| (*live, *kept));
        }
    }

    /// Adds what another has counted.
    pub(super) fn append(&mut self, other: Self) {
        for (oid, counts) in other.tables {
            match self.tables.iter_mut().find(|(table, _)| *table == oid) {
                Some((_, own)) => {
                    own.inserted += counts.inserted;
                    own.updated += counts.updated;
                    own.deleted += counts.deleted;
                    own.live += counts.live;
                    own.kept += counts.kept;
                }
                None => self.tables.push((oid, counts)),
            }
        }
        for (oid, counts) in &other.functions {
            self.function(*oid).add(counts);
        }
        for run in other.runs {
            self.ran(&run.reads, run.runs, run.steps);
        }
    }
}

/// What a session has counted.
#[derive(Debug, Default)]
pub struct SessionCounts {
    /// In transactions that are over.
    pub done: Pending,
    /// In the one that is open.
    pub open: Pending,
}

impl SessionCounts {
    /// The transaction is over.
    pub fn end(&mut self, committed: bool) {
        if self.open.is_empty() {
            return;
        }
        let mut open = std::mem::take(&mut self.open);
        if !committed {
            open.undo();
        }
        self.done.append(open);
    }

    /// Where the transaction stands.
    pub fn mark(&self) -> Mark {
        self.open.mark()
    }

    /// It goes back there.
    pub fn return_to(&mut self, mark: &Mark) {
        self.open.return_to(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_undone_is_counted_and_leaves_nothing() {
        let mut counts = SessionCounts::default();
        counts.open.changed(1, 5, 0, 0);
        let mark = counts.mark();
        counts.open.changed(1, 2, 3, 1);
        counts.open.changed(2, 1, 0, 0);
        counts.return_to(&mark);
        counts.end(true);
        let one = Changed { inserted: 7, updated: 3, deleted: 1, live: 5, kept: 5 };
        let two = Changed { inserted: 1, ..Changed::default() };
        assert_eq!(counts.done.tables(), [(1, one), (2, two)]);
        counts.open.changed(1, 0, 0, 4);
        counts.end(false);
        assert_eq!(counts.done.tables()[0].1, Changed { deleted: 5, ..one });
    }
}
