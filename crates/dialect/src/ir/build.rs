//! Pieces of which queries and changes are made.

use super::{
    Body, ColumnIndex, ColumnRef, CompareOp, Cte, Distinct, Expr, ExprKind, From, GroupBy, OutputColumn, Query, RelId,
    Select,
};
use crate::Type;

/// The result of a query that stands inside no other.
const OUTPUT: RelId = RelId(u32::MAX);

/// A plain SELECT.
pub fn select(items: Vec<Expr>, ctes: Vec<Cte>, from: Option<From>, filter: Option<Expr>) -> Query {
    let columns = items.iter().map(|item| OutputColumn { name: "value".to_owned(), ty: item.ty.clone() }).collect();
    let (distinct, group_by) = (Distinct::All, GroupBy::None);
    Query {
        ctes,
        body: Body::Select(Box::new(Select { distinct, items, from, filter, group_by, having: None })),
        order_by: Vec::new(),
        limit: None,
        offset: None,
        with_ties: false,
        locking: Vec::new(),
        columns,
        output: OUTPUT,
    }
}

/// The identity of a relation's row.
pub fn row_identity(relation: RelId) -> Expr {
    Expr::new(ExprKind::Column(ColumnRef { relation, column: ColumnIndex::RowIdentity }), Type::Int8)
}

/// The row whose identity the first parameter is.
pub fn same_row(relation: RelId) -> Expr {
    let given = Expr::new(ExprKind::Param(0), Type::Int8);
    let kind =
        ExprKind::Compare { op: CompareOp::Equal, left: Box::new(row_identity(relation)), right: Box::new(given) };
    Expr::new(kind, Type::Bool)
}
