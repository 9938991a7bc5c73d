//! VACUUM, ANALYZE, REINDEX, CHECKPOINT on SQLite's file.
//!
//! | PostgreSQL           | here                                                                                     |
//! |----------------------|------------------------------------------------------------------------------------------|
//! | VACUUM [FULL]        | the file is written anew, without what is free in it (`VACUUM`)                          |
//! | VACUUM t             | nothing is left to do: SQLite uses the space of deleted rows again at once               |
//! | VACUUM FULL t        | as VACUUM FULL                                                                           |
//! | ANALYZE [t]          | statistics for SQLite's planner (`ANALYZE`)                                              |
//! | REINDEX              | the indexes of the tables named are made anew (`REINDEX`)                                |
//! | CHECKPOINT           | the write-ahead log goes into the file, and is cut off where nobody reads it (`PRAGMA`)  |

use std::sync::Arc;

use rowferry_dialect::ir::{LockMode, Maintenance};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Condition, Error, Result};

use super::Session;
use super::transaction::{Block, Open};

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
        self.checked(guard.prepare_to_write().and_then(|()| guard.run("VACUUM main")))?;
        drop(guard);
        self.database.shared.committed();
        drop(permit);
        self.release_locks(true);
        self.database.shared.make_safe()?;
        self.checkpoint()
    }

    fn analyze(&mut self, tables: &[Arc<Relation>], all: bool) -> Result<()> {
        let wanted: Vec<String> = if all {
            vec!["ANALYZE main".to_owned()]
        } else {
            tables.iter().map(|table| format!("ANALYZE {}", physical(table))).collect()
        };
        self.run_all("ANALYZE", &wanted)
    }

    /// `all` is the schema whose tables are meant, or every schema.
    fn reindex(&mut self, tables: &[Arc<Relation>], all: Option<Option<&str>>) -> Result<()> {
        let wanted: Vec<String> = match all {
            None => tables.iter().map(|table| format!("REINDEX {}", physical(table))).collect(),
            Some(schema) => {
                let of_schema = |table: &&Arc<Relation>| {
                    table.keeps_rows() && schema.is_none_or(|schema| table.namespace == schema)
                };
                let main = self.schema.main.clone();
                main.relations().filter(of_schema).map(|table| format!("REINDEX {}", physical(table))).collect()
            }
        };
        self.run_all("REINDEX", &wanted)
    }

    fn run_all(&mut self, command: &str, statements: &[String]) -> Result<()> {
        if statements.is_empty() {
            return Ok(());
        }
        self.open_write(command)?;
        let handle = self.handle()?;
        for statement in statements {
            let guard = handle.lock();
            self.checked(guard.batch(statement))?;
        }
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

/// A table as SQLite knows it.
fn physical(table: &Relation) -> String {
    format!("\"{}\".\"{}\"", table.physical.database, table.physical.name.replace('"', "\"\""))
}
