//! MERGE: what is to be done is read to the end first, so that no row sees what another has changed.

use std::collections::HashSet;
use std::sync::Arc;

use rowferry_dialect::ir::{Statement as Ir, Value};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::execute::RunError;
use super::transaction::Block;
use super::{Outcome, Prepared, Session};

impl Session {
    pub(super) fn run_merge(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        self.open_write("MERGE")?;
        let atomic = self.transaction.block != Block::None;
        if atomic {
            self.run_own("SAVEPOINT rowferry_statement")?;
        }
        let result = self.with_renewals(prepared, params, |session, plan| session.merge_rows(plan, params));
        if atomic {
            let undo = result.is_err() && !self.handle()?.lock().is_autocommit();
            if undo {
                self.run_own("ROLLBACK TO rowferry_statement")?;
            }
            if undo || result.is_ok() {
                self.run_own("RELEASE rowferry_statement")?;
            }
        }
        let (plan, rows) = result?;
        self.settle_rows(&plan, false, true)?;
        if self.transaction.block == Block::None {
            self.end_commit()?;
        }
        Ok(Outcome::Done { command: plan.command, rows })
    }

    fn merge_rows(&mut self, plan: &Arc<Prepared>, params: &[Value]) -> std::result::Result<u64, RunError> {
        let Ir::Merge(merge) = &plan.bound.statement else {
            return Err(Error::internal("MERGE without its parts").into());
        };
        let types: Vec<Type> = merge.rows.columns.iter().map(|column| column.ty.clone()).collect();
        let query = self.part(Ir::Query(Box::new(merge.rows.clone())), plan.bound.params.clone(), plan)?;
        let mut dml = |part: &Option<rowferry_dialect::ir::Dml>| -> Result<Option<Arc<Prepared>>> {
            part.as_ref().map(|dml| self.part(Ir::Dml(Box::new(dml.clone())), types.clone(), plan)).transpose()
        };
        let (matched, unmatched) = (dml(&merge.matched)?, dml(&merge.unmatched)?);
        let statement = self.start(&query, params)?;
        let mut rows = self.read_all_of(&query, statement)?.into_reader()?;
        let mut seen = HashSet::new();
        let mut changed = 0;
        while rows.advance()? {
            let values: Vec<Value> = (0..types.len()).map(|at| rows.column(at).to_value()).collect();
            let part = match &values[0] {
                Value::Null => &unmatched,
                Value::Integer(rowid) => {
                    if matched.is_some() && !seen.insert(*rowid) {
                        return Err(Error::new(
                            Condition::TwoMatchingRows,
                            "more than one row of the source matches a row of the target",
                        )
                        .into());
                    }
                    &matched
                }
                other => return Err(Error::internal(format!("{other:?} is no rowid")).into()),
            };
            let Some(part) = part else { continue };
            if let Some(firing) = part.triggers.clone() {
                changed += self.change_under_triggers(part, &firing, &values)?.1;
                continue;
            }
            let statement = self.start(part, &values)?;
            self.read_all_of(part, statement)?;
            changed += self.handle()?.lock().changes();
            self.remember_serial(part)?;
        }
        Ok(changed)
    }
}
