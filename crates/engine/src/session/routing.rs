//! Rows of a partitioned table: for each row that is decided on, the leaf where it is written.

use std::collections::HashMap;
use std::sync::Arc;

use rowferry_dialect::ir::routing::{from_leaf, in_leaf};
use rowferry_dialect::ir::{Dml, DmlAction, Expr, ExprKind, Routing, TriggerEvent, TriggerLevel, TriggerTime, Value};
use rowferry_dialect::lower::parts::ByRows;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Error, Result, heritage};

use super::parts::{Done, Kept, Run};
use super::triggers::canonical_value;
use super::{Prepared, Session};

/// What is done with a row that has been decided on.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The row.
    pub(super) row: usize,
    /// The action.
    pub(super) action: usize,
    /// It takes the row away from where it is; the next step puts it elsewhere. Nobody is told of it.
    pub(super) moves: bool,
    /// The row as it will be, where foreign keys are to hear that it moves.
    pub(super) told: Option<Told>,
}

/// A row that moves between partitions, in the columns of the table that the statement names.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) head: Arc<Relation>,
    pub(super) from: Arc<Relation>,
    pub(super) new: Arc<Vec<Value>>,
}

/// What is done in a leaf.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum There {
    /// The statement's own action.
    Same,
    /// A row goes.
    Gone,
    /// A row comes from another leaf.
    Come,
}

/// The actions in leaves, by the action that they are made of.
type Leaves = HashMap<(usize, usize, There), usize>;

impl Session {
    /// What is done with each of the rows: where they are routed, the actions in leaves are added to the others.
    pub(super) fn route(
        &mut self,
        run: &Run<'_>,
        by_rows: &ByRows,
        rows: &Kept,
        actions: &mut Vec<Arc<Prepared>>,
        kept: bool,
    ) -> Done<Vec<Step>> {
        let mut steps = Vec::with_capacity(rows.rows().len());
        let mut leaves = Leaves::new();
        for (at, row) in rows.rows().iter().enumerate() {
            let Some(Value::Integer(action)) = row.get(1) else { continue };
            let action = usize::try_from(*action).unwrap_or(usize::MAX);
            let Some(dml) = by_rows.actions.get(action) else {
                return Err(Error::internal("a row without its action").into());
            };
            let Some(routing) = &dml.routing else {
                steps.push(Step { row: at, action, moves: false, told: None });
                continue;
            };
            let leaf = self.leaf_of(routing, row)?;
            let target = &routing.members[leaf];
            if target.oid == dml.target.oid {
                steps.push(Step { row: at, action, moves: false, told: None });
                continue;
            }
            let mut make = |there: There, dml: Result<Dml>| -> Done<usize> {
                // Where a row goes from is the action's own table.
                let place = if there == There::Gone { usize::MAX } else { leaf };
                if let Some(known) = leaves.get(&(action, place, there)) {
                    return Ok(*known);
                }
                actions.push(self.action(run, by_rows, &dml?, kept)?);
                leaves.insert((action, place, there), actions.len() - 1);
                Ok(actions.len() - 1)
            };
            match (&dml.action, &routing.moved) {
                (DmlAction::Update { .. }, Some(moved)) => {
                    check_moves(&dml.target)?;
                    let gone = make(There::Gone, from_leaf(dml, &dml.target))?;
                    let come = make(There::Come, in_leaf(moved, target))?;
                    let told = self.told(routing, &dml.target, row)?;
                    steps.push(Step { row: at, action: gone, moves: true, told });
                    steps.push(Step { row: at, action: come, moves: false, told: None });
                }
                _ => {
                    let same = make(There::Same, in_leaf(dml, target))?;
                    steps.push(Step { row: at, action: same, moves: false, told: None });
                }
            }
        }
        Ok(steps)
    }

    /// A row that moves, where foreign keys lead to the table that the statement names.
    fn told(&self, routing: &Routing, from: &Arc<Relation>, row: &[Value]) -> Result<Option<Told>> {
        let head = &routing.tree.head;
        let above = heritage::parents(&self.schema, from).into_iter().next();
        if self.schema.keys_by_engine(from).is_empty() && above.is_none_or(|above| above.oid == head.oid) {
            return Ok(None);
        }
        let settings = self.state.settings();
        let mut new = Vec::with_capacity(routing.row.len());
        for (expr, column) in routing.row.iter().zip(&head.columns) {
            new.push(canonical_value(value_of(expr, row)?, &column.ty, &settings)?);
        }
        Ok(Some(Told { head: head.clone(), from: from.clone(), new: Arc::new(new) }))
    }

    /// The leaf that a row goes to.
    fn leaf_of(&self, routing: &Routing, row: &[Value]) -> Result<usize> {
        let values = |exprs: &[Expr]| exprs.iter().map(|expr| value_of(expr, row)).collect::<Result<Vec<Value>>>();
        let keys = values(&routing.keys)?;
        match routing.tree.leaf(&keys)? {
            Ok(leaf) => Ok(leaf),
            Err(misfit) => {
                let settings = self.state.settings();
                Err(routing.tree.error(misfit, &keys, &values(&routing.row)?, &settings))
            }
        }
    }
}

/// A value that the query of rows has for a statement of one row.
fn value_of(expr: &Expr, row: &[Value]) -> Result<Value> {
    match &expr.kind {
        ExprKind::Param(at) => row.get(*at).cloned().ok_or_else(|| Error::internal("a row without its key")),
        _ => Err(Error::internal("a partition key that nobody has computed")),
    }
}

/// A trigger that would see an UPDATE first may change where the row goes.
fn check_moves(leaf: &Relation) -> Result<()> {
    if leaf.has_trigger(TriggerTime::Before, TriggerLevel::Row, TriggerEvent::Update) {
        return Err(Error::unsupported("moving a row to another partition under a BEFORE UPDATE trigger for each row"));
    }
    Ok(())
}
