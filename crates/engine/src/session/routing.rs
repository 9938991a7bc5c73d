//! Rows of a partitioned table: for each row that is decided on, the leaf where it is written.

use std::sync::Arc;

use rowferry_dialect::ir::{
    Body, ColumnIndex, ColumnRef, Dml, DmlAction, Expr, ExprKind, OutputColumn, Query, RelId, Routing, Select, Text,
    TriggerEvent, TriggerLevel, TriggerTime, Value, walk,
};
use rowferry_dialect::lower::parts::ByRows;
use rowferry_dialect::partition::Tree;
use rowferry_dialect::plan::Context;
use rowferry_dialect::schema::{Column, Relation};
use rowferry_dialect::{Error, Result, heritage};

use super::parts::Kept;
use super::triggers::canonical_value;
use super::{Prepared, Session};

/// What is done with a row that has been decided on.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The row.
    pub(super) row: usize,
    /// The action.
    pub(super) action: usize,
    /// Where it is done.
    pub(super) goes: Goes,
}

/// Where a row goes.
#[derive(Clone, Debug)]
pub(super) enum Goes {
    /// It is one of the table that the action is about.
    Here,
    /// It is written to a leaf.
    To(Arc<Relation>),
    /// It moves to another leaf: the row in the columns of the table that the statement names.
    Away(Arc<Relation>, Arc<Vec<Value>>),
    /// Triggers are asked for it first.
    Asked,
}

/// Where the rows of a table belong that are known as a whole.
#[derive(Debug)]
pub struct Placement {
    tree: Arc<Tree>,
    members: Vec<Arc<Relation>>,
    /// The keys, of a row that is the parameters.
    keys: Prepared,
}

impl Session {
    /// What is done with a row; `None` where nothing is.
    pub(super) fn route(&mut self, by_rows: &ByRows, rows: &Kept, at: usize) -> Result<Option<Step>> {
        let row = rows.row(at).ok_or_else(|| Error::internal("a row that nobody has decided on"))?;
        let Some(Value::Integer(action)) = row.get(1) else { return Ok(None) };
        let action = usize::try_from(*action).unwrap_or(usize::MAX);
        let Some(dml) = by_rows.actions.get(action) else {
            return Err(Error::internal("a row without its action"));
        };
        let goes = match &dml.routing {
            None => Goes::Here,
            Some(routing) => self.way_of(dml, routing, row)?,
        };
        Ok(Some(Step { row: at, action, goes }))
    }

    fn way_of(&self, dml: &Dml, routing: &Routing, row: &[Value]) -> Result<Goes> {
        let moves = matches!(dml.action, DmlAction::Update { .. }) && routing.moved.is_some();
        if moves && dml.target.has_trigger(TriggerTime::Before, TriggerLevel::Row, TriggerEvent::Update) {
            return Ok(Goes::Asked);
        }
        let leaf = &routing.members[self.leaf_of(routing, row)?];
        Ok(if leaf.oid == dml.target.oid {
            Goes::Here
        } else if moves {
            Goes::Away(leaf.clone(), self.moved_row(routing, row)?)
        } else {
            Goes::To(leaf.clone())
        })
    }

    /// The row that is to be written, in the columns of the table that the statement names.
    fn moved_row(&self, routing: &Routing, row: &[Value]) -> Result<Arc<Vec<Value>>> {
        let settings = self.state.settings();
        let columns = routing.row.iter().zip(&routing.tree.head.columns);
        let value = |(expr, column): (&Expr, &Column)| canonical_value(value_of(expr, row)?, &column.ty, &settings);
        columns.map(value).collect::<Result<Vec<_>>>().map(Arc::new)
    }

    /// Foreign keys are to hear of rows that move within a table.
    pub(super) fn hears_of_moves(&self, head: &Relation, from: &Arc<Relation>) -> bool {
        let above = heritage::parents(&self.schema, from).into_iter().next();
        !self.schema.keys_by_engine(from).is_empty() || above.is_some_and(|above| above.oid != head.oid)
    }

    /// The table where a row of another one belongs, or what is wrong with it.
    pub(super) fn place_of(&mut self, table: &Arc<Relation>, row: &[Value]) -> Result<Result<Arc<Relation>>> {
        let placement = self.placement(table)?;
        let mut found = self.run_part(&placement.keys, row)?;
        if !found.advance()? {
            return Err(Error::internal("a row without its key"));
        }
        let keys: Vec<Value> = (0..placement.tree.width()).map(|at| found.column(at).to_value()).collect();
        Ok(match placement.tree.leaf(&keys)? {
            Ok(leaf) => Ok(placement.members[leaf].clone()),
            Err(misfit) => Err(placement.tree.error(misfit, &keys, row, &self.state.settings())),
        })
    }

    fn placement(&self, table: &Arc<Relation>) -> Result<Arc<Placement>> {
        let generation = self.generation();
        let known = self.state.placements.lock().get(&table.oid).cloned();
        if let Some(known) = known.filter(|known| known.keys.bound.generation == generation) {
            return Ok(known);
        }
        let routing = rowferry_dialect::postgres::bind_routing(table, &self.schema, &Context::default())?;
        let Some(Routing { tree, members, mut keys, .. }) = routing else {
            return Err(Error::internal("a table whose rows are not parted"));
        };
        for key in &mut keys {
            walk::expr_mut(key, &mut |part| {
                if let ExprKind::Column(ColumnRef { relation: Text::TABLE, column: ColumnIndex::At(at) }) = part.kind {
                    part.kind = ExprKind::Param(at);
                }
                true
            });
        }
        let params = table.columns.iter().map(|column| column.ty.clone()).collect();
        let keys = Prepared::of_query(values_query(keys), params, generation, "a partition key")?;
        let placement = Arc::new(Placement { tree, members, keys });
        self.state.placements.lock().insert(table.oid, placement.clone());
        Ok(placement)
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

/// A row of a table in the columns of another one.
pub(super) fn in_columns_of(head: &Relation, own: &Relation, row: &[Value]) -> Arc<Vec<Value>> {
    let place = |column: &Column| own.columns.iter().position(|known| known.name == column.name);
    let value = |column: &Column| place(column).map_or(Value::Null, |at| row[at].clone());
    Arc::new(head.columns.iter().map(value).collect())
}

/// A query of one row.
fn values_query(values: Vec<Expr>) -> Query {
    let column = |value: &Expr| OutputColumn { name: "?column?".to_owned(), ty: value.ty.clone() };
    let columns = values.iter().map(column).collect();
    Query::of(Body::Select(Box::new(Select::of(values, None))), columns, RelId(u32::MAX))
}
