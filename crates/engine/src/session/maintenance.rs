//! VACUUM, ANALYZE, REINDEX, CHECKPOINT: who may, what waits for what, and which tables are meant.

use std::sync::Arc;

use rowferry_dialect::ir::{LockMode, Maintenance};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Condition, Error, Result};

use super::Session;
use super::transaction::{Block, Open};
use crate::backend::{Failure, Handle};

impl Session {
    pub(super) fn maintain(&mut self, maintenance: &Maintenance) -> Result<()> {
        match maintenance {
            Maintenance::Analyze { tables, all, skipped } => {
                self.skip("analyze", skipped);
                let (tables, all) = self.maintainable(tables, *all, "analyze");
                self.analyze(&tables, all)
            }
            Maintenance::Checkpoint => {
                self.check_checkpoint()?;
                self.checkpoint()
            }
            Maintenance::Reindex { tables, all, alone } => {
                if let Some(words) = alone {
                    self.need_no_block(words)?;
                }
                self.check_reindex(tables, all.as_ref().map(Option::as_deref))?;
                self.reindex(tables, all.as_ref().map(Option::as_deref))
            }
            Maintenance::Vacuum { tables, all, full, analyze, skipped } => {
                self.need_no_block("VACUUM")?;
                self.skip("vacuum", skipped);
                let (tables, all) = self.maintainable(tables, *all, "vacuum");
                if all || *full && !tables.is_empty() {
                    self.vacuum()?;
                }
                if !*full {
                    self.tables_of(&tables, all)
                        .iter()
                        .for_each(|table| self.database.shared.statistics.vacuumed(table.oid));
                }
                if *analyze { self.analyze(&tables, all) } else { Ok(()) }
            }
        }
    }

    /// The tables that the role may look after; those that it may not are skipped with a warning.
    fn maintainable(&self, tables: &[Arc<Relation>], all: bool, verb: &str) -> (Vec<Arc<Relation>>, bool) {
        if !self.schema.is_restricted() || all && tables.is_empty() && self.owns_database() {
            return (tables.to_vec(), all);
        }
        let main = self.schema.main.clone();
        let every = main.relations().filter(|table| all && table.keeps_rows());
        let wanted = every.chain(tables).filter(|table| self.may_maintain(table, verb));
        (wanted.cloned().collect(), false)
    }

    fn skip(&self, verb: &str, names: &[String]) {
        for name in names {
            let message = format!("skipping \"{name}\" --- cannot {verb} non-tables or special system tables");
            self.warn(Condition::Warning, &message);
        }
    }

    /// The statement does what cannot be undone.
    pub(super) fn need_no_block(&self, words: &str) -> Result<()> {
        match self.transaction.block {
            Block::None => Ok(()),
            Block::Implicit | Block::Pipeline if !self.transaction.used => Ok(()),
            _ => Err(Error::new(
                Condition::ActiveSqlTransaction,
                format!("{words} cannot run inside a transaction block"),
            )),
        }
    }

    /// Rows get new places, by which transactions that have used their table may know them: it waits for those to end.
    fn vacuum(&mut self) -> Result<()> {
        if self.database.shared.options.read_only {
            return Err(read_only("VACUUM"));
        }
        let main = self.schema.main.clone();
        for table in main.relations().filter(|table| table.keeps_rows()) {
            self.lock_table(table.oid, &table.name, LockMode::AccessExclusive, true)?;
        }
        let patience = self.patience();
        let permit = self.database.shared.locks.write_within(&self.state.owner, Some(patience));
        let refused = Condition::LockNotAvailable.informix_code();
        let permit = permit.map_err(|refusal| self.refused(refusal, refused, String::new))?;
        self.materialise_cursors()?;
        let handle = self.handle()?;
        let guard = handle.lock();
        guard.set_busy_timeout(patience.timeout);
        guard.clear_statements();
        self.database.shared.file.look()?;
        self.checked(guard.compact())?;
        drop(guard);
        self.database.shared.committed();
        drop(permit);
        self.release_locks(true);
        self.database.shared.make_safe()?;
        self.checkpoint()
    }

    pub(super) fn analyze(&mut self, tables: &[Arc<Relation>], all: bool) -> Result<()> {
        if all {
            self.in_one_transaction("ANALYZE", |handle| handle.analyze(None))?;
        } else {
            self.for_each_table("ANALYZE", tables, |handle, table| handle.analyze(Some(table)))?;
        }
        // What was changed before has been seen by it.
        self.gather_done();
        for table in self.tables_of(tables, all) {
            let rows = self.on_handle(|handle| handle.analyzed_rows(&table))?;
            self.database.shared.statistics.analyzed(table.oid, rows);
        }
        Ok(())
    }

    /// Tables that are meant, one by one.
    fn tables_of(&self, tables: &[Arc<Relation>], all: bool) -> Vec<Arc<Relation>> {
        let every = self.schema.main.relations().filter(|table| all && table.keeps_rows());
        every.chain(tables.iter().filter(|_| !all)).cloned().collect()
    }

    /// `all` is the schema whose tables are meant, or every schema.
    fn reindex(&mut self, tables: &[Arc<Relation>], all: Option<Option<&str>>) -> Result<()> {
        let main = self.schema.main.clone();
        let of_schema = |table: &&Arc<Relation>, schema: Option<&str>| {
            table.keeps_rows() && schema.is_none_or(|schema| table.namespace == schema)
        };
        let wanted: Vec<Arc<Relation>> = match all {
            None => tables.to_vec(),
            Some(schema) => main.relations().filter(|table| of_schema(table, schema)).cloned().collect(),
        };
        self.for_each_table("REINDEX", &wanted, Handle::reindex)
    }

    pub(super) fn for_each_table(
        &mut self,
        command: &str,
        tables: &[Arc<Relation>],
        work: impl Fn(&Handle, &Relation) -> std::result::Result<(), Failure>,
    ) -> Result<()> {
        if tables.is_empty() {
            return Ok(());
        }
        self.in_one_transaction(command, |handle| tables.iter().try_for_each(|table| work(handle, table)))
    }

    fn in_one_transaction(
        &mut self,
        command: &str,
        work: impl FnOnce(&Handle) -> std::result::Result<(), Failure>,
    ) -> Result<()> {
        self.open_write(command)?;
        self.on_handle(work)?;
        if self.transaction.block == Block::None {
            self.end_commit()?;
        }
        Ok(())
    }

    /// Waits for nobody: what others still read from the log stays in it, which they are told.
    fn checkpoint(&mut self) -> Result<()> {
        if self.database.shared.options.read_only {
            return Err(read_only("CHECKPOINT"));
        }
        if matches!(self.transaction.open, Open::No) {
            self.materialise_cursors()?;
        }
        self.database.shared.statistics.checkpointed();
        if !self.checked(self.database.shared.checkpoint()?)? {
            self.warn(
                Condition::Warning,
                "a part of the write-ahead log stays: a transaction that is still open reads from it",
            );
        }
        Ok(())
    }
}

fn read_only(command: &str) -> Error {
    let message = format!("cannot execute {command}: the database is open for reading only");
    Error::new(Condition::ReadOnlySqlTransaction, message)
}
