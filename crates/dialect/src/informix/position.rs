//! WHERE CURRENT OF: a cursor's row is known by its identity, which a query FOR UPDATE yields behind its own columns.

use crate::Type;
use crate::ir::{
    Body, ColumnIndex, ColumnRef, Distinct, DmlAction, Expr, ExprKind, From, GroupBy, OutputColumn, Query, Statement,
};
use crate::plan::Bound;
use crate::schema::RelationKind;

/// Adds the rowid of its one table to a query FOR UPDATE, behind its columns. A query whose rows are not rows of one
/// table stays as it is: nothing can be changed through its cursor.
pub(super) fn add(query: &mut Query) {
    let Body::Select(select) = &mut query.body else { return };
    let Some(From::Relation { id, relation, .. }) = &select.from else { return };
    let plain = select.distinct == Distinct::All && select.group_by == GroupBy::None && select.having.is_none();
    if !plain || relation.kind != RelationKind::Table || relation.without_identity {
        return;
    }
    let rowid = ColumnRef { relation: *id, column: ColumnIndex::RowIdentity };
    select.items.push(Expr::new(ExprKind::Column(rowid), Type::Int8));
    query.columns.push(OutputColumn { name: "rowid".into(), ty: Type::Int8 });
}

/// True when each row of a query has its rowid behind its columns.
pub fn has_position(bound: &Bound) -> bool {
    matches!(&bound.statement, Statement::Query(query) if query.columns.len() == bound.columns.len() + 1)
}

/// The cursor whose row an UPDATE or DELETE is about. The row's rowid is the statement's last parameter.
pub fn current_of(bound: &Bound) -> Option<&str> {
    let Statement::Dml(dml) = &bound.statement else { return None };
    match &dml.action {
        DmlAction::Update { current_of, .. } | DmlAction::Delete { current_of, .. } => current_of.as_deref(),
        DmlAction::Insert { .. } => None,
    }
}
