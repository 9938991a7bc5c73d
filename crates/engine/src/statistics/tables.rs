//! What is counted of a table and of an index.

/// What is counted of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TableCounts {
    /// Statements that have read it through, each as often as it stands in their plan.
    pub seq_scans: u64,
    /// Rows that these have read, as far as the back end tells them apart.
    pub seq_rows: u64,
    /// Statements that have looked rows up by an index.
    pub idx_scans: u64,
    /// Rows inserted, undone ones among them.
    pub inserted: u64,
    /// Rows updated.
    pub updated: u64,
    /// Rows deleted.
    pub deleted: u64,
    /// Rows that are there, as far as they have been counted.
    pub live: i64,
    /// Rows changed since ANALYZE.
    pub modified: u64,
    /// Rows inserted since VACUUM.
    pub inserted_since_vacuum: u64,
    /// When it was last analyzed: microseconds since 1970.
    pub analyzed: Option<i64>,
    /// How often.
    pub analyses: u64,
    /// When VACUUM was there last.
    pub vacuumed: Option<i64>,
    /// How often.
    pub vacuums: u64,
}

impl TableCounts {
    /// Adds what a transaction has counted.
    pub(super) fn add(&mut self, counted: &super::pending::Changed) {
        self.inserted += counted.inserted;
        self.updated += counted.updated;
        self.deleted += counted.deleted;
        self.live = (self.live + counted.live).max(0);
        self.modified += counted.kept;
        self.inserted_since_vacuum += counted.inserted;
    }
}

/// What is counted of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IndexCounts {
    /// Statements that have looked something up in it.
    pub scans: u64,
    /// Entries that these have read, as far as the back end tells.
    pub rows: u64,
    /// There were scans of which it does not tell.
    pub untold: bool,
}

impl IndexCounts {
    /// Adds scans; `rows` are what they have read, where that is known.
    pub(super) fn add(&mut self, scans: u64, rows: Option<u64>) {
        self.scans += scans;
        self.rows += rows.unwrap_or(0);
        self.untold |= rows.is_none();
    }
}
