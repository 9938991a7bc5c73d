//! UNION, INTERSECT and EXCEPT: what both sides have in common, and by what their rows are sorted.

use super::query::{BoundQuery, Conversions, computed, converted, outputs};
use crate::ir::{Body, CastContext, ColumnIndex, ColumnRef, ExprKind, Ids, Query, SetOp, SortKey, walk};
use crate::plan::ResultColumn;
use crate::{Error, Result, Type};

/// Which set operation it is.
#[derive(Clone, Copy)]
pub(crate) struct SetOperation {
    pub(crate) op: SetOp,
    /// Rows that are alike stay as many as they are.
    pub(crate) all: bool,
}

impl SetOperation {
    /// UNION ALL looks at no row; any other asks whether two of them are alike.
    pub(crate) fn compares(self) -> bool {
        self.op != SetOp::Union || !self.all
    }

    pub(crate) const fn words(self) -> &'static str {
        match self.op {
            SetOp::Except => "EXCEPT",
            SetOp::Intersect => "INTERSECT",
            SetOp::Union => "UNION",
        }
    }
}

/// The columns that stand in one place of both sides.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'q> {
    pub(crate) left: &'q BoundQuery,
    pub(crate) right: &'q BoundQuery,
    pub(crate) index: usize,
}

/// What a dialect says of set operations.
pub(crate) trait Rules: Conversions {
    /// What is wrong with sides of different widths.
    fn widths_differ(&self, operation: SetOperation, right: &BoundQuery) -> Error;

    /// The type of two columns that stand in one place.
    fn common_type(&self, operation: SetOperation, pair: Pair<'_>) -> Result<Type>;

    /// Refuses a type of which nobody can say whether two values are alike.
    fn check_comparable(&self, ty: &Type, place: i32) -> Result<()>;

    /// Clients are told that a column has no NULLs.
    fn is_not_null(&self, left: &ResultColumn, right: &ResultColumn) -> bool;
}

/// The types of the columns of a set operation.
pub(crate) fn common_types(
    rules: &impl Rules,
    operation: SetOperation,
    left: &BoundQuery,
    right: &BoundQuery,
) -> Result<Vec<Type>> {
    if left.columns.len() != right.columns.len() {
        return Err(rules.widths_differ(operation, right));
    }
    let mut types = Vec::with_capacity(left.columns.len());
    for index in 0..left.columns.len() {
        let ty = rules.common_type(operation, Pair { left, right, index })?;
        if operation.compares() {
            rules.check_comparable(&ty, left.place(index))?;
        }
        types.push(ty);
    }
    Ok(types)
}

/// Both sides as one query, of the types that they have in common; its columns are called as those of the left side.
pub(crate) fn united(
    rules: &mut impl Rules,
    operation: SetOperation,
    left: BoundQuery,
    right: BoundQuery,
    types: Vec<Type>,
) -> Result<BoundQuery> {
    let left = converted(rules, left, &types, CastContext::Implicit, &[])?;
    let right = converted(rules, right, &types, CastContext::Implicit, &[])?;
    let mut columns = Vec::with_capacity(types.len());
    for ((left, right), ty) in left.columns.into_iter().zip(&right.columns).zip(types) {
        let not_null = rules.is_not_null(&left, right);
        columns.push(ResultColumn { not_null, ..computed(left.name, ty) });
    }
    let SetOperation { op, all } = operation;
    let body = Body::Set { op, all, left: Box::new(left.query), right: Box::new(right.query) };
    let query = Query::of(body, outputs(&columns), rules.ids().relation());
    Ok(BoundQuery { query, columns, places: left.places })
}

/// Sorts the rows of a set operation: by columns of its result, or around it by what is made of them.
pub(crate) fn sorted(bound: BoundQuery, mut keys: Vec<SortKey>, ids: &mut Ids) -> Result<BoundQuery> {
    let output = bound.query.output;
    if keys.iter().all(|key| matches!(key.expr.kind, ExprKind::Column(_))) {
        let mut bound = bound;
        bound.query.order_by = keys;
        return Ok(bound);
    }
    let mut bound = bound.wrapped(ids);
    let Body::Select(outer) = &bound.query.body else {
        return Err(Error::internal("a set operation was not wrapped"));
    };
    for key in &mut keys {
        walk::expr_mut(&mut key.expr, &mut |part| {
            if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = part.kind
                && relation == output
                && let Some(item) = outer.items.get(at)
            {
                *part = item.clone();
            }
            true
        });
    }
    bound.query.order_by = keys;
    Ok(bound)
}
