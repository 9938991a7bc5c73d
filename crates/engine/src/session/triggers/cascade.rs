//! Foreign keys that change rows under a trigger's eyes.
//!
//! The back end would change them by itself, and tell nobody. So the engine does it first, by a statement on the referencing
//! table whose own triggers fire; the back end then finds nothing left to do.

use std::sync::Arc;

use rowferry_dialect::ir::{
    ColumnIndex, ColumnRef, CompareOp, Dml, DmlAction, Expr, ExprKind, ReferentialChange, RelId, Statement,
    TriggerEvent, Value,
};
use rowferry_dialect::plan::{Bound, Effects};
use rowferry_dialect::schema::{ForeignKey, Relation};
use rowferry_dialect::{Error, Result, Schema as _, Type};

use super::super::{Parsed, Prepared, Session};
use super::plan::leads_to;
use super::queue::{Changes, Row};

/// The referencing table in its statement.
const CHILD: RelId = RelId(1);

impl Session {
    /// Does what foreign keys do about a row that goes, or gets another key.
    pub(super) fn cascade(
        &mut self,
        changes: &mut Changes,
        event: TriggerEvent,
        old: &Row,
        new: Option<&Row>,
    ) -> Result<()> {
        // Foreign keys do nothing about what comes from elsewhere.
        if self.keys_off {
            return Ok(());
        }
        let parent = changes.relation.clone();
        let children: Vec<Arc<Relation>> = self.schema.children(&parent).cloned().collect();
        for child in children {
            for key in child.foreign_keys.iter().filter(|key| leads_to(key, &parent)) {
                let Some(change) = ReferentialChange::of(key, event) else { continue };
                let columns = crate::catalog::describe::target_columns(&parent, key);
                let values = |row: &Row| -> Vec<Value> { columns.iter().map(|at| row[*at].clone()).collect() };
                let from = values(old);
                let to = new.map(&values);
                if to.as_ref() == Some(&from) || from.contains(&Value::Null) {
                    continue;
                }
                let plan = self.referential_plan(changes, &child, key, change, &parent, &columns, event)?;
                let nothing = || vec![Value::Null; columns.len()];
                let params = [from, to.unwrap_or_else(nothing)].concat();
                let below = self.change_below(&plan, &params)?;
                if let Some(below) = below {
                    changes.meddled = true;
                    changes.below.push(below);
                }
            }
        }
        Ok(())
    }

    fn change_below(&mut self, plan: &Arc<Prepared>, params: &[Value]) -> Result<Option<Changes>> {
        let Some(firing) = plan.triggers.clone() else {
            self.run_part(plan, params)?;
            return Ok(None);
        };
        let mut below = self.start_changes(plan, &firing)?;
        if firing.steps.is_some() {
            self.change_by_rows(&firing, params, &mut below)?;
            if below.kept > 0 {
                return Err(Error::unsupported("a BEFORE trigger that keeps a row from what a foreign key does to it"));
            }
        } else {
            self.run_part(plan, params)?;
        }
        self.queue_statement_triggers(&firing, &mut below)?;
        Ok(Some(below))
    }

    /// The statement on the referencing table. Its parameters are the old key, and the new one if there is one.
    #[allow(clippy::too_many_arguments, reason = "the two ends of a foreign key")]
    fn referential_plan(
        &mut self,
        changes: &mut Changes,
        child: &Arc<Relation>,
        key: &ForeignKey,
        change: ReferentialChange,
        parent: &Relation,
        columns: &[usize],
        event: TriggerEvent,
    ) -> Result<Arc<Prepared>> {
        if let Some(known) = changes.cascades.get(&(key.oid, event)) {
            return Ok(known.clone());
        }
        let types: Vec<Type> = columns.iter().map(|at| parent.columns[*at].ty.clone()).collect();
        let width = columns.len();
        let mut tests = Vec::with_capacity(width);
        for (place, at) in key.columns.iter().enumerate() {
            let own = ColumnRef { relation: CHILD, column: ColumnIndex::At(*at) };
            let own = Expr::new(ExprKind::Column(own), child.columns[*at].ty.clone());
            let given = Expr::new(ExprKind::Param(place), types[place].clone());
            let kind = ExprKind::Compare { op: CompareOp::Equal, left: Box::new(own), right: Box::new(given) };
            tests.push(Expr::new(kind, Type::Bool));
        }
        let filter =
            Some(if tests.len() == 1 { tests.swap_remove(0) } else { Expr::new(ExprKind::And(tests), Type::Bool) });
        let assigned = |value: &dyn Fn(usize, usize) -> Result<Expr>| -> Result<DmlAction> {
            let mut assignments = Vec::with_capacity(width);
            for (place, at) in key.columns.iter().enumerate() {
                assignments.push((*at, value(place, *at)?));
            }
            Ok(DmlAction::Update { assignments, from: None, filter: filter.clone(), current_of: None })
        };
        let action = match change {
            ReferentialChange::Delete => DmlAction::Delete { using: None, filter, current_of: None },
            ReferentialChange::Follow => {
                assigned(&|place, _| Ok(Expr::new(ExprKind::Param(width + place), types[place].clone())))?
            }
            ReferentialChange::SetNull => assigned(&|_, at| Ok(Expr::null(child.columns[at].ty.clone())))?,
            ReferentialChange::SetDefault => assigned(&|_, at| match &child.columns[at].default {
                None => Ok(Expr::null(child.columns[at].ty.clone())),
                Some(_) => Err(Error::unsupported("SET DEFAULT of a foreign key to a table with row triggers")),
            })?,
        };
        let dml = Dml {
            family: None,
            routing: None,
            heir: false,
            guards: None,
            ctes: Vec::new(),
            target: child.clone(),
            id: CHILD,
            view: None,
            action,
            checks: Vec::new(),
            returning: Vec::new(),
            columns: Vec::new(),
        };
        let bound = Bound {
            statement: Statement::Dml(Box::new(dml)),
            params: [types.clone(), types].concat(),
            columns: Vec::new(),
            effects: Effects { reads: true, writes: true, ..Effects::default() },
            generation: self.schema.generation(),
            needs: Default::default(),
            inside: Vec::new(),
            notices: Vec::new(),
        };
        let plan = Arc::new(self.lower(bound, &Parsed::of_nothing(&key.name), &[])?);
        changes.cascades.insert((key.oid, event), plan.clone());
        Ok(plan)
    }
}
