//! Changes of temporary tables, which nobody else sees: they take no part of the file's write lock.
//!
//! The back end's transaction spans both databases, and reads the file from one snapshot. While a transaction has not looked
//! into the file, none is taken: it is [`Open::Temporary`] then, and whoever wants to write to the file does so. As soon
//! as a statement uses the file, it must see the newest state of it, and so must each statement behind it: the back end can
//! give that to a transaction that has changed something only together with the write lock, which is taken then. A
//! statement that is a transaction of its own needs one state of the file, and never takes the lock; a transaction that
//! keeps one snapshot throughout does not either.

use std::sync::Arc;

use rowferry_dialect::ir::{Ddl, ObjectKind, OnCommit, Statement as Ir};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Condition, Error, Result};

use super::transaction::{Block, Open};
use super::{Prepared, Session};
use crate::backend::Handle;
use crate::schema::PG_TEMP;
use crate::session::compile::Uses;

/// The property of a temporary table that says what becomes of it when a transaction commits.
pub(super) const ON_COMMIT: &str = "on_commit";

/// As the property has it; `None` for tables that stay as they are.
pub(super) const fn on_commit_words(on_commit: OnCommit) -> Option<&'static str> {
    match on_commit {
        OnCommit::PreserveRows => None,
        OnCommit::DeleteRows => Some("delete rows"),
        OnCommit::Drop => Some("drop"),
    }
}

/// True for a statement that changes temporary objects alone.
pub(super) fn changes_temporary(statement: &Ir) -> bool {
    let is_temporary = |relation: &Arc<Relation>| relation.is_temporary();
    match statement {
        Ir::Dml(dml) => is_temporary(&dml.target) && dml.ctes.is_empty() && dml.family.is_none(),
        Ir::CreateTableAs(create) => create.table.temporary,
        Ir::CreateTableOfPrepared(create) => create.table.temporary,
        Ir::Ddl(ddl) => match ddl.as_ref() {
            Ddl::CreateTable(table) => table.temporary,
            Ddl::CreateIndex(index) => is_temporary(&index.table),
            Ddl::Partition(change) => is_temporary(&change.partition) && is_temporary(&change.parent),
            Ddl::CreateSequence(sequence) => sequence.name.schema.as_deref() == Some(PG_TEMP),
            Ddl::AlterTable { table, heirs, .. } => {
                is_temporary(table) && heirs.iter().all(|(heir, _)| is_temporary(heir))
            }
            Ddl::Truncate { tables, .. } => tables.iter().all(is_temporary),
            Ddl::Drop(drop) => {
                matches!(drop.kind, ObjectKind::Table | ObjectKind::Sequence | ObjectKind::Index)
                    && drop.names.iter().all(|name| name.schema.as_deref() == Some(PG_TEMP))
            }
            _ => false,
        },
        _ => false,
    }
}

impl Uses {
    /// True when the statement may look into the file: at its tables, or by a function of which nobody knows what it
    /// looks at.
    fn looks_into_the_file(&self, prepared: &Prepared, temporary_numbers: bool) -> bool {
        let virtual_tables = || prepared.program.as_ref().is_none_or(|program| program.virtual_tables);
        !self.tables.is_empty()
            || (prepared.bound.effects.volatile && !temporary_numbers)
            || match &prepared.bound.statement {
                // Keys are checked by what the back end calls tables of the file.
                Ir::Ddl(ddl) => matches!(ddl.as_ref(), Ddl::AlterTable { .. }),
                _ => virtual_tables(),
            }
    }
}

impl Session {
    /// True for a change that needs no write lock now.
    fn needs_no_lock(&self, prepared: &Prepared) -> bool {
        let plain = !prepared.in_parts && prepared.direct.is_none() && prepared.triggers.is_none();
        if !plain || !prepared.uses.temporary || self.inner || self.language().undoes_statements() {
            return false;
        }
        let shared = &self.database.shared;
        // Functions of users may do anything.
        let functions = !self.schema.main.routines.is_empty() || self.schema.has_functions();
        if functions || shared.has_rollback_journal() || shared.options.read_only {
            return false;
        }
        match self.transaction.open {
            Open::No if self.transaction.block == Block::None => true,
            Open::No | Open::Temporary => !self.transaction.is_snapshot() && !self.looks_into_the_file(prepared),
            Open::Snapshot => true,
            Open::Write { .. } | Open::Outer { .. } => false,
        }
    }

    fn looks_into_the_file(&self, prepared: &Prepared) -> bool {
        let numbers = &prepared.uses.numbering;
        let temporary = |oid: &u32| self.schema.sequence_by_oid(*oid).is_some_and(|found| found.database == "temp");
        prepared.uses.looks_into_the_file(prepared, !numbers.is_empty() && numbers.iter().all(temporary))
    }

    /// A statement is about to change something: waits for its turn if others could see it.
    pub(super) fn open_change(&mut self, prepared: &Prepared, command: &str) -> Result<()> {
        let kept = self.transaction.is_snapshot() && self.transaction.block != Block::None;
        if kept && prepared.uses.temporary && matches!(self.transaction.open, Open::No) {
            self.open_read()?;
        }
        if !self.needs_no_lock(prepared) {
            return self.open_write(command);
        }
        // Rows of temporary tables may change in any transaction, the schema not.
        if prepared.bound.effects.schema && self.is_read_only() {
            let message = format!("cannot execute {command} in a read-only transaction");
            return Err(Error::new(Condition::ReadOnlySqlTransaction, message));
        }
        self.transaction.used = true;
        self.database.shared.locks.xids.assign(&self.state.owner);
        self.materialise_cursors()?;
        if matches!(self.transaction.open, Open::No) {
            self.on_handle(Handle::begin)?;
            self.transaction.open = Open::Temporary;
            self.set_savepoints()?;
        }
        self.install_checks()
    }

    /// A statement is about to run in a transaction that has changed temporary tables and not looked into the file: if
    /// this one does, it takes the write lock.
    pub(super) fn leave_temporary(&mut self, prepared: &Prepared) -> Result<()> {
        if !matches!(self.transaction.open, Open::Temporary) {
            return Ok(());
        }
        let stays = match &prepared.bound.statement {
            Ir::Transaction(_) | Ir::Set(_) | Ir::Show(_) | Ir::Deallocate(_) | Ir::CloseCursor(_) => true,
            Ir::Query(_) => {
                let plain = !prepared.in_parts && prepared.direct.is_none() && prepared.uses.rows.is_empty();
                plain && !prepared.bound.effects.writes && !self.looks_into_the_file(prepared)
            }
            _ => self.needs_no_lock(prepared),
        };
        if stays { Ok(()) } else { self.take_write_lock() }
    }

    /// What ON COMMIT says of temporary tables; before the back end's transaction ends.
    pub(super) fn run_on_commit(&mut self) -> Result<()> {
        if self.schema.temp.is_empty() || self.inner || matches!(self.transaction.open, Open::No | Open::Outer { .. }) {
            return Ok(());
        }
        let (mut emptied, mut dropped) = (Vec::new(), Vec::new());
        for relation in self.schema.temp.relations() {
            let details = self.schema.temp.details(relation.oid);
            match details.and_then(|details| details.properties.get("", ON_COMMIT)) {
                Some("drop") => dropped.push(relation.clone()),
                Some(_) => emptied.push(relation.clone()),
                None => {}
            }
        }
        for relation in emptied {
            self.on_handle(|handle| handle.empty_temporary(&relation))?;
        }
        if dropped.is_empty() {
            return Ok(());
        }
        self.drop_checks()?;
        self.drop_at_commit(&dropped)
    }
}
