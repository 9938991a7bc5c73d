//! Statements that the back end does not run: transactions, variables, EXPLAIN, locks.

use std::sync::Arc;

use rowferry_dialect::ir::{
    Discard, Expr, ExprKind, SetVariable, Statement as Ir, Transaction as Control, TransactionModes, Value,
};
use rowferry_dialect::plan::Command;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Condition, Error, Language, Result};

use super::portals::Declare;
use super::transaction::{Block, isolation_from_name, isolation_name};
use super::{Outcome, Prepared, Session};
use crate::cursor::Cursor;
use crate::settings;
use crate::spool::Spool;

impl Session {
    pub(super) fn run_utility(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        let done = |command| Ok(Outcome::Done { command, rows: 0 });
        match &prepared.bound.statement {
            Ir::Transaction(control) => return self.control(control, prepared.command),
            Ir::Set(set) => {
                // Whether something is counted may change.
                self.gather();
                self.set_statement(set)?;
            }
            Ir::Show(name) => return self.show(name.as_deref(), prepared),
            Ir::Explain(explain) => return self.explain(prepared, explain, params),
            Ir::Prepare { name, text, params } => self.prepare_named(prepared, name, text, params)?,
            Ir::ExecutePrepared { name, args } => return self.execute_named(name, args),
            Ir::Deallocate(name) => self.deallocate(name.as_deref())?,
            Ir::DeclareCursor { name, scroll, hold, binary, query } => {
                let declare = Declare { name, scroll: *scroll, hold: *hold, binary: *binary, query };
                self.declare(prepared, declare, params)?;
            }
            Ir::Fetch { cursor, direction, no_rows } => return self.fetch(prepared, cursor, *direction, *no_rows),
            Ir::CloseCursor(name) => self.close_cursor(name.as_deref())?,
            Ir::Discard(what) => self.discard(*what)?,
            Ir::Lock(lock) => self.lock_statement(lock)?,
            Ir::Notify(notify) => self.notify(notify)?,
            Ir::Copy(_) => return Err(Error::unsupported("COPY")),
            Ir::SetConstraints { names, deferred } => self.set_constraints(names, *deferred)?,
            Ir::Maintain(maintenance) => self.maintain(maintenance)?,
            Ir::Database(change) => self.change_database(change)?,
            Ir::Nothing { .. } => {}
            Ir::Query(_)
            | Ir::CallRoutine(_)
            | Ir::CallProcedure(_)
            | Ir::Do(_)
            | Ir::CreateTableAs(_)
            | Ir::CreateTableOfPrepared(_)
            | Ir::RefreshView(_)
            | Ir::Dml(_)
            | Ir::Merge(_)
            | Ir::Rewritten(_)
            | Ir::Ddl(_) => {
                return Err(Error::internal("a statement went astray"));
            }
        }
        self.transaction.used |= !matches!(prepared.bound.statement, Ir::Set(_) | Ir::Show(_));
        done(prepared.command)
    }

    fn control(&mut self, control: &Control, command: Command) -> Result<Outcome> {
        let mut reported = command;
        match control {
            Control::Begin(modes) | Control::Start(modes) => self.begin(*modes)?,
            Control::Commit { chain } => {
                self.check_chain(*chain, "COMMIT AND CHAIN")?;
                let modes = self.modes();
                if !self.commit()? {
                    reported = Command::Utility("ROLLBACK");
                }
                if *chain {
                    self.begin(modes)?;
                }
            }
            Control::Rollback { chain } => {
                self.check_chain(*chain, "ROLLBACK AND CHAIN")?;
                let modes = self.modes();
                self.rollback()?;
                if *chain {
                    self.begin(modes)?;
                }
            }
            Control::Savepoint(name) => self.savepoint(name)?,
            Control::Release(name) => self.release(name)?,
            Control::RollbackTo(name) => self.rollback_to(name)?,
            Control::SetModes { session: true, modes } => {
                let on_off = |value: bool| if value { "on" } else { "off" };
                let defaults = [
                    ("default_transaction_isolation", modes.isolation.map(isolation_name)),
                    ("default_transaction_read_only", modes.read_only.map(on_off)),
                    ("default_transaction_deferrable", modes.deferrable.map(on_off)),
                ];
                let mut variables = self.state.variables.write();
                for (name, value) in defaults.into_iter().filter(|(_, value)| value.is_some()) {
                    variables.set(name, value, false)?;
                }
                if self.transaction.block == Block::None {
                    variables.commit();
                }
            }
            Control::ImportSnapshot(name) => {
                if matches!(self.transaction.block, Block::None | Block::Pipeline) {
                    let message = "SET TRANSACTION can only be used in transaction blocks";
                    self.warn(Condition::NoActiveSqlTransaction, message);
                }
                self.import_snapshot(name)?;
            }
            Control::SetModes { session: false, modes } if self.language() == Language::Mysql => {
                if self.transaction.block == Block::Explicit {
                    let message = "Transaction characteristics can't be changed while a transaction is in progress";
                    return Err(Error::new(Condition::ActiveSqlTransaction, message).with_mysql(1568, "25001"));
                }
                self.next_modes = *modes;
            }
            Control::SetModes { session: false, modes } => {
                if matches!(self.transaction.block, Block::None | Block::Pipeline) {
                    self.warn(
                        Condition::NoActiveSqlTransaction,
                        "SET TRANSACTION can only be used in transaction blocks",
                    );
                }
                // What a pipeline still holds is run as it says.
                if self.transaction.block != Block::None {
                    self.set_modes(*modes)?;
                }
            }
        }
        Ok(Outcome::Done { command: reported, rows: 0 })
    }

    /// What is a transaction of its own cannot be part of another.
    fn prevent_in_block(&self, command: &str) -> Result<()> {
        let place = match self.transaction.block {
            Block::Explicit | Block::Implicit => "run inside a transaction block",
            Block::Pipeline if self.transaction.used => "be executed within a pipeline",
            Block::Pipeline | Block::None => return Ok(()),
        };
        Err(Error::new(Condition::ActiveSqlTransaction, format!("{command} cannot {place}")))
    }

    /// AND CHAIN goes on from a transaction block.
    fn check_chain(&self, chain: bool, command: &str) -> Result<()> {
        if chain && self.transaction.block != Block::Explicit {
            return Err(only_in_blocks(command));
        }
        Ok(())
    }

    /// What the transaction is.
    pub(super) fn modes(&self) -> TransactionModes {
        TransactionModes {
            isolation: self.transaction.isolation,
            read_only: Some(self.transaction.read_only),
            deferrable: Some(self.transaction.deferrable),
        }
    }

    /// SET and RESET.
    fn set_statement(&mut self, set: &SetVariable) -> Result<()> {
        let outside = self.transaction.block == Block::None;
        if set.local && matches!(self.transaction.block, Block::None | Block::Pipeline) {
            self.warn(Condition::NoActiveSqlTransaction, "SET LOCAL can only be used in transaction blocks");
        }
        if let Some(name) = &set.name
            && name.starts_with("transaction_")
            && let Some(setting) = settings::find(name)
            && name != "transaction_timeout"
        {
            return self.set_transaction_setting(setting, set.values.as_deref());
        }
        if let Some(name) = &set.name {
            let value = set.values.as_ref().and_then(|values| values.first()).map(String::as_str);
            self.state.check_setting(name, value)?;
        }
        {
            let mut variables = self.state.variables.write();
            match (&set.name, &set.values) {
                (Some(name), Some(values)) => variables.set_list(name, values, set.local)?,
                (Some(name), None) => variables.set(name, None, set.local)?,
                (None, _) => variables.reset_all(),
            }
            if outside {
                variables.commit();
            }
        }
        self.sync_variables();
        Ok(())
    }

    /// `SET transaction_isolation = …` and its kin are SET TRANSACTION in other words. Outside a transaction they are
    /// without effect, as in PostgreSQL: their transaction is over with them.
    fn set_transaction_setting(&mut self, setting: &settings::Setting, values: Option<&[String]>) -> Result<()> {
        let value = match values {
            Some([value]) => settings::read(setting, value)?,
            Some(_) => {
                let message = format!("SET {} takes only one argument", setting.name);
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
            None => setting.value.to_owned(),
        };
        if self.transaction.block == Block::None {
            if values.is_none() {
                let message = "RESET TRANSACTION can only be used in transaction blocks";
                self.warn(Condition::NoActiveSqlTransaction, message);
            }
            return Ok(());
        }
        let mut modes = TransactionModes::default();
        match setting.name {
            "transaction_isolation" => modes.isolation = Some(isolation_from_name(&value)),
            "transaction_read_only" => modes.read_only = Some(value == "on"),
            _ => modes.deferrable = Some(value == "on"),
        }
        self.set_modes(modes)
    }

    fn show(&mut self, name: Option<&str>, prepared: &Arc<Prepared>) -> Result<Outcome> {
        let columns = prepared.bound.columns.len();
        let mut spool = Spool::new(columns);
        match name {
            Some(name) => {
                let value = self.variable(name).ok_or_else(|| {
                    Error::new(Condition::UndefinedObject, format!("unrecognized configuration parameter \"{name}\""))
                })?;
                spool.push([ValueRef::Text(value.as_bytes())].into_iter())?;
            }
            None => {
                for (name, value, words) in self.state.variables.read().all() {
                    let row = [name.as_bytes(), value.as_bytes(), words.as_bytes()].map(ValueRef::Text);
                    spool.push(row.into_iter().take(columns))?;
                }
            }
        }
        self.rows(prepared, spool)
    }

    /// Rows that have been put together here.
    pub(crate) fn rows(&mut self, prepared: &Arc<Prepared>, spool: Spool) -> Result<Outcome> {
        let reader = spool.into_reader()?;
        Ok(Outcome::Rows(Cursor::spooled(reader, prepared.clone(), self.interrupter.clone(), 0)))
    }

    fn discard(&mut self, what: Discard) -> Result<()> {
        match what {
            Discard::All => {
                self.prevent_in_block("DISCARD ALL")?;
                self.reset();
                Ok(())
            }
            Discard::Plans => Ok(()),
            Discard::Sequences => {
                self.state.sequences.lock().forget();
                Ok(())
            }
            Discard::Temp => self.drop_temporary_objects(),
        }
    }
}

pub(super) fn only_in_blocks(command: &str) -> Error {
    Error::new(Condition::NoActiveSqlTransaction, format!("{command} can only be used in transaction blocks"))
}

/// The value of a constant expression as it stands.
pub(super) fn literal(expr: &Expr) -> Option<&Value> {
    match &expr.kind {
        ExprKind::Literal(value) => Some(value),
        _ => None,
    }
}
