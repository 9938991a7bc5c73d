//! Changes of tables of other databases.
//!
//! A statement that changes a table of another database runs in a session of that database, with all that the table has
//! there: constraints, triggers, numbers, privileges, locks. Names that say no database are those of the database from which
//! it was asked, which that session reads beside its own. A transaction changes one database only: two files can
//! be committed one after the other alone, and whatever breaks in between would leave half of it.

use std::sync::Arc;

use rowferry_dialect::ir::{TransactionModes, Value};
use rowferry_dialect::{Error, Language, Result, informix};

use super::compile::MadeFor;
use super::parsed::{Parsed, Source};
use super::transaction::{Block, Open};
use super::{Outcome, Prepared, Session, TransactionStatus};
use crate::schema::Neighbours;
use crate::{SessionOptions, Type};

/// Settings of a session that hold for what it does in another database, too.
const SETTINGS: [&str; 3] = ["lock_timeout", "statement_timeout", "informix.server"];

fn two_databases() -> Error {
    Error::unsupported("a transaction that changes two databases")
}

impl Session {
    /// The plan of a statement that changes a table of another database; none for any other.
    pub(super) fn compile_there(
        &mut self,
        parsed: &Parsed,
        declared: &[Option<Type>],
    ) -> Result<Option<Arc<Prepared>>> {
        let Source::Informix(statement) = &parsed.source else { return Ok(None) };
        if parsed.asked_from.is_some() {
            return Ok(None);
        }
        let context = self.informix_context();
        // What cannot be found is told when it is bound.
        let Ok(Some(name)) = informix::changes_elsewhere(statement, &self.schema, &context) else { return Ok(None) };
        if self.for_another {
            return Err(two_databases());
        }
        let elsewhere = self.schema.neighbours.reached();
        let parsed_there = parsed.asked_from(&context.database);
        let there = self.in_database(&name, |there| there.prepare_parsed(&parsed_there, declared))?;
        let mut bound = there.bound.clone();
        bound.generation = self.generation();
        bound.needs = Default::default();
        bound.notices.clear();
        let made_for = MadeFor::of(&self.user, &self.schema.search_path);
        let command = there.command;
        let plan = Prepared::of_part_there(there, bound, parsed, declared, (elsewhere, made_for, command));
        Ok(Some(Arc::new(plan)))
    }

    /// Runs such a statement.
    pub(super) fn run_there(&mut self, plan: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        let (Some(there), Some(name)) = (&plan.there, plan.elsewhere.first().map(|reached| reached.name.clone()))
        else {
            return Err(Error::internal("a change of another database without one"));
        };
        if self.inner {
            return Err(Error::unsupported("a change of another database in a routine that a statement calls"));
        }
        if self.is_read_only() {
            return Err(Error::new(
                rowferry_dialect::Condition::ReadOnlySqlTransaction,
                "cannot change another database in a read-only transaction",
            ));
        }
        let in_block = self.transaction.block != Block::None;
        if in_block && matches!(self.transaction.open, Open::Write { .. } | Open::Temporary) {
            return Err(two_databases());
        }
        self.transaction.used = true;
        let there = there.clone();
        let outcome = self.in_database(&name, |session| {
            session.execute(&there, params).map(|outcome| (outcome, session.last_serial(), session.drain_notices()))
        });
        let (outcome, serial, notices) = outcome?;
        self.state.sequences.lock().serial = serial;
        self.state.notices.lock().extend(notices);
        if !in_block {
            self.end_commit()?;
        }
        Ok(outcome)
    }

    /// Runs a query of another database where the transaction has changed that; none for any other.
    pub(super) fn read_there(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Option<Outcome>> {
        let Some(name) = self.there.as_ref().map(|there| there.database.name().to_owned()) else { return Ok(None) };
        if self.inner || prepared.elsewhere.iter().all(|reached| reached.name != name) {
            return Ok(None);
        }
        let here = self.informix_context().database;
        let (parsed, declared) = (prepared.parsed.asked_from(&here), prepared.declared.clone());
        let outcome = self.in_database(&name, |there| {
            let plan = there.prepare_parsed(&parsed, &declared)?;
            let same = plan.bound.columns.len() == prepared.bound.columns.len()
                && plan.bound.columns.iter().zip(&prepared.bound.columns).all(|(a, b)| a.ty == b.ty)
                && plan.bound.params == prepared.bound.params;
            if same { there.execute(&plan, params) } else { Err(Error::stale_plan()) }
        });
        outcome.map(Some)
    }

    /// Does something in a session of another database, within this one's transaction.
    fn in_database<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let mut there = match self.there.take() {
            Some(there) if there.database.name() == name => there,
            Some(other) => {
                self.there = Some(other);
                return Err(two_databases());
            }
            None => Box::new(self.session_of(name)?),
        };
        for setting in SETTINGS {
            let value = self.state.variables.read().get(setting);
            if let Some(value) = value
                && there.state.variables.read().get(setting).as_ref() != Some(&value)
            {
                there.set_variable(setting, &value)?;
            }
        }
        if self.transaction.block != Block::None && there.transaction.block == Block::None {
            let modes = TransactionModes { isolation: self.transaction.isolation, ..TransactionModes::default() };
            there.begin(modes)?;
            self.transaction.savepoints.iter().try_for_each(|savepoint| there.push_savepoint(&savepoint.name))?;
        }
        self.interrupter.lend(Some(there.interrupter.clone()));
        let result = match self.interrupter.must_stop() {
            true => Err(self.interrupter.error()),
            false => work(&mut there),
        };
        self.interrupter.lend(None);
        if self.transaction.block != Block::None {
            let lost = there.transaction_status() == TransactionStatus::Idle;
            if !lost {
                self.there = Some(there);
            } else if result.is_err() {
                // What it had done there is undone, and nothing was done here.
                self.transaction.lost_there = true;
            }
        }
        result
    }

    /// A session of another database that finds names without one here.
    fn session_of(&self, name: &str) -> Result<Self> {
        let database = self.schema.neighbours.open(name)?.ok_or_else(|| Error::internal("a database beside itself"))?;
        let mut session = database.session(SessionOptions {
            user: self.state.user.clone(),
            application_name: String::new(),
            language: Language::Informix,
            client_address: self.state.client_address.clone(),
            server_address: self.state.server_address.clone(),
        });
        session.for_another = true;
        session.begin_with("informix.database", name);
        if self.is_delimited() {
            session.begin_with(informix::DELIMIDENT, "y");
        }
        if self.is_multibyte() {
            session.begin_with(informix::MULTIBYTE, "y");
        }
        if let Some(dates) = self.dates() {
            session.begin_with(informix::DATES, &dates.words());
        }
        // Who may look from here to there has come in here before.
        session.schema.neighbours = Neighbours::of(&session.database.shared, Box::new(|_| Ok(())));
        session.schema_moved();
        Ok(session)
    }

    /// What was changed in another database is so from now on.
    pub(super) fn commit_there(&mut self) -> Result<()> {
        if self.transaction.lost_there {
            return Err(super::transaction::lost());
        }
        if self.there.is_some() {
            // What may still fail here fails before anything is committed there.
            self.materialise_cursors()?;
        }
        match self.there.take() {
            Some(mut there) => there.commit().map(|_| ()),
            None => Ok(()),
        }
    }

    /// Nothing of what was changed there stays.
    pub(super) fn roll_back_there(&mut self) {
        // It rolls back when it goes.
        self.there = None;
    }

    /// Refuses a change here where the transaction has changed another database.
    pub(super) fn must_change_nothing_there(&self) -> Result<()> {
        if self.there.is_some() || self.transaction.lost_there { Err(two_databases()) } else { Ok(()) }
    }
}
