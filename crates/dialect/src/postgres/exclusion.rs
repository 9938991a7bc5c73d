//! The query that looks for a row in conflict with another by an EXCLUDE constraint.

use std::sync::Arc;

use super::binder::Binder;
use super::choice::{self, Choice};
use super::{bind_generated, types};
use crate::ir::{
    self, Body, ColumnIndex, ColumnRef, Expr, ExprKind, From, JoinKind, OutputColumn, Query, RelId, Select, SortKey,
    Value, walk,
};
use crate::plan::Context;
use crate::schema::{Relation, Schema};
use crate::{Result, Type};

/// For which rows others are looked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Against {
    /// The row whose identity is the only parameter.
    Stored,
    /// A row that is not there yet: its columns are the parameters.
    Given,
    /// All, one after the other.
    Each,
}

/// The query of the first row that conflicts: the keys of the row in question, then those of the one that it meets.
///
/// Keys and condition are over [`ir::Text::TABLE`].
///
/// # Errors
/// What an operator cannot be bound for.
pub fn exclusion_query(
    relation: &Arc<Relation>,
    keys: &[Expr],
    predicate: Option<&Expr>,
    operators: &[String],
    against: Against,
    schema: &dyn Schema,
    context: &Context,
) -> Result<Query> {
    let mut binder = Binder::detached(schema, context);
    let (mine, other) = (binder.ids.relation(), binder.ids.relation());
    binder.collated |= relation.columns.iter().any(|column| column.collation.is_some());
    let mut conditions = Vec::with_capacity(keys.len() + 3);
    if against != Against::Given {
        conditions.push(distinct(identity(mine), identity(other)));
    }
    if against == Against::Stored {
        let row = Expr::new(ExprKind::Param(0), Type::Int8);
        let (left, right) = (Box::new(identity(mine)), Box::new(row));
        conditions.push(Expr::new(ExprKind::Compare { op: ir::CompareOp::Equal, left, right }, Type::Bool));
    }
    for (key, operator) in keys.iter().zip(operators) {
        let sides = vec![(of(key, mine), -1), (of(key, other), -1)];
        let mut holds = binder.apply_operator(operator, sides, -1)?;
        binder.derive_collations_of(&mut holds, &[(mine, relation.clone()), (other, relation.clone())])?;
        conditions.push(holds);
    }
    conditions.extend(predicate.into_iter().flat_map(|predicate| [of(predicate, mine), of(predicate, other)]));
    let mut items: Vec<Expr> =
        keys.iter().map(|key| of(key, mine)).chain(keys.iter().map(|key| of(key, other))).collect();
    if against == Against::Given {
        let parts = items.iter_mut().chain(&mut conditions);
        parts.into_iter().try_for_each(|part| given(part, mine, relation, schema, context))?;
    }
    let scan = |id| From::Relation { id, relation: relation.clone(), filter: None };
    let from = match against {
        Against::Given => scan(other),
        Against::Stored | Against::Each => {
            From::Join { kind: JoinKind::Inner, left: Box::new(scan(mine)), right: Box::new(scan(other)), on: None }
        }
    };
    let columns = items.iter().map(|item| OutputColumn { name: "key".to_owned(), ty: item.ty.clone() }).collect();
    let mut select = Select::of(items, Some(from));
    select.filter = Some(Expr::new(ExprKind::And(conditions), Type::Bool));
    let mut query = Query::of(Body::Select(Box::new(select)), columns, RelId(u32::MAX));
    let sorted = if against == Against::Each { vec![mine, other] } else { vec![other] };
    let by = |id| SortKey { expr: identity(id), descending: false, nulls_first: false };
    query.order_by = sorted.into_iter().map(by).collect();
    query.limit = Some(Expr::new(ExprKind::Literal(Value::Integer(1)), Type::Int8));
    Ok(query)
}

/// The operator that compares a key of a type with another, for `pg_constraint.conexclop`; 0 where PostgreSQL's catalog has
/// none.
pub fn operator_oid(name: &str, key: &Type) -> u32 {
    let oid = types::class_input(key);
    match choice::operator(name, &[oid, oid]) {
        Choice::One(operator) => operator.oid,
        Choice::None | Choice::Several => 0,
    }
}

fn identity(relation: RelId) -> Expr {
    let column = ColumnRef { relation, column: ColumnIndex::RowIdentity };
    Expr::new(ExprKind::Column(column), Type::Int8)
}

fn distinct(left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::new(ExprKind::Compare { op: ir::CompareOp::NotEqual, left, right }, Type::Bool)
}

/// An expression over the table, of one of its rows.
fn of(expr: &Expr, row: RelId) -> Expr {
    let mut expr = expr.clone();
    walk::expr_mut(&mut expr, &mut |part| {
        if let ExprKind::Column(column) = &mut part.kind
            && column.relation == ir::Text::TABLE
        {
            column.relation = row;
        }
        true
    });
    expr
}

/// Puts parameters in the place of a row's columns, and what computes them where the back end is still to do so.
fn given(expr: &mut Expr, row: RelId, relation: &Arc<Relation>, schema: &dyn Schema, context: &Context) -> Result<()> {
    let mut result = Ok(());
    walk::expr_mut(expr, &mut |part| {
        let ExprKind::Column(ColumnRef { relation: of_row, column: ColumnIndex::At(at) }) = part.kind else {
            return true;
        };
        if of_row != row {
            return true;
        }
        let column = &relation.columns[at];
        let Some(generated) = column.generated.as_ref().filter(|generated| generated.native) else {
            part.kind = ExprKind::Param(at);
            return true;
        };
        match bind_generated(&generated.text, &column.ty, relation, schema, context) {
            Ok(mut computed) => {
                walk::expr_mut(&mut computed, &mut |inner| {
                    if let ExprKind::Column(ColumnRef { relation: ir::Text::TABLE, column: ColumnIndex::At(at) }) =
                        inner.kind
                    {
                        inner.kind = ExprKind::Param(at);
                    }
                    true
                });
                *part = computed;
            }
            Err(error) => result = Err(error),
        }
        false
    });
    result
}
