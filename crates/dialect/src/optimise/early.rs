//! Rows of the right side of a join, grouped before they are joined.
//!
//! `SELECT c.id, count(o.id) FROM c LEFT JOIN o ON o.c_id = c.id GROUP BY c.id` is
//! `SELECT c.id, coalesce(g.n, 0) FROM c LEFT JOIN (SELECT c_id, count(id) AS n FROM o GROUP BY c_id) g ON g.c_id = c.id`: each group
//! has one row of the left table, whose key is among the keys of the groups. The right table is then read once from its beginning
//! to its end, where its rows would be looked up one by one, all over the file.

use crate::Type;
use crate::functions::{Volatility, internal};
use crate::ir::{
    Aggregate, Body, ColumnIndex, ColumnRef, CompareOp, Distinct, Expr, ExprKind, From, GroupBy, JoinKind,
    OutputColumn, Query, RelId, Select, SortKey, walk,
};
use crate::schema::RelationKind;

/// What is added to a relation's number for that of its groups: far from those of the binder and of back ends.
const OF_GROUPS: u32 = 1 << 30;

/// Groups the right side of a join by itself, where that means the same. With `limited` not all groups may be wanted.
pub(super) fn groups(select: &mut Select, order_by: &mut [SortKey], limited: bool) {
    let Some(join) = Join::of(select) else { return };
    // Those that come first are known before all others then.
    if limited && !order_by.iter().any(|key| walk::any(&key.expr, |part| matches!(part.kind, ExprKind::Aggregate(_)))) {
        return;
    }
    let mut aggregates = Vec::new();
    let sorted = order_by.iter().map(|key| &key.expr);
    let all_ours =
        select.items.iter().chain(&select.having).chain(sorted).all(|part| join.collect(part, &mut aggregates));
    if !all_ours || aggregates.is_empty() {
        return;
    }
    let id = RelId(join.right.0 + OF_GROUPS);
    let sorted = order_by.iter_mut().map(|key| &mut key.expr);
    for expr in select.items.iter_mut().chain(&mut select.having).chain(sorted) {
        walk::expr_mut(expr, &mut |part| match aggregates.iter().position(|aggregate| aggregate == part) {
            Some(at) => {
                *part = join.value(Expr::column(id, at + 1, part.ty.clone()), part);
                false
            }
            None => true,
        });
    }
    select.from = Some(join.with_groups(id, aggregates));
    select.group_by = GroupBy::None;
    select.filter = select.having.take();
}

/// A join of two tables of which the left one's key is among the groups' keys.
struct Join {
    kind: JoinKind,
    left: From,
    from: From,
    right: RelId,
    /// The column of the right table that is joined by.
    key: Expr,
    /// The left table's that is equal to it.
    other: Expr,
    /// What else is asked of the right table's rows.
    conditions: Vec<Expr>,
}

impl Join {
    fn of(select: &Select) -> Option<Self> {
        let GroupBy::Keys(keys) = &select.group_by else { return None };
        let Some(From::Join { kind: kind @ (JoinKind::Left | JoinKind::Inner), left, right, on: Some(on) }) =
            &select.from
        else {
            return None;
        };
        let (From::Relation { id: left_id, relation, .. }, From::Relation { id: right_id, relation: other, .. }) =
            (&**left, &**right)
        else {
            return None;
        };
        let are_tables = [relation, other].iter().all(|relation| relation.kind == RelationKind::Table);
        if select.filter.is_some() || !matches!(select.distinct, Distinct::All | Distinct::Rows) || !are_tables {
            return None;
        }
        // One row of the left table is one group.
        let is_identity = |key: &Expr| {
            matches!(&key.kind, ExprKind::Column(ColumnRef { relation: id, column: ColumnIndex::At(at) })
                if id == left_id && relation.columns.get(*at).is_some_and(|column| column.row_identity))
        };
        let of_left = |key: &Expr| names_only(key, *left_id);
        if !keys.iter().any(is_identity) || !keys.iter().all(of_left) {
            return None;
        }
        let members = match &on.kind {
            ExprKind::And(members) => members.as_slice(),
            _ => std::slice::from_ref(on),
        };
        let mut pair = None;
        let mut conditions = Vec::new();
        for member in members {
            match &member.kind {
                ExprKind::Compare { op: CompareOp::Equal, left, right }
                    if pair.is_none() && is_column(left, *left_id) && is_column(right, *right_id) =>
                {
                    pair = Some(((**right).clone(), (**left).clone()));
                }
                ExprKind::Compare { op: CompareOp::Equal, left, right }
                    if pair.is_none() && is_column(right, *left_id) && is_column(left, *right_id) =>
                {
                    pair = Some(((**left).clone(), (**right).clone()));
                }
                _ if names_only(member, *right_id) => conditions.push(member.clone()),
                _ => return None,
            }
        }
        let (key, other) = pair.filter(|(key, other)| key.ty.is_integer() && other.ty.is_integer())?;
        let (left, from) = ((**left).clone(), (**right).clone());
        Some(Self { kind: *kind, left, from, right: *right_id, key, other, conditions })
    }

    /// Notes the aggregates of an expression; false when something else of the right table is named, or an aggregate is of more.
    fn collect(&self, expr: &Expr, aggregates: &mut Vec<Expr>) -> bool {
        let mut ours = true;
        walk::expr(expr, &mut |part| {
            match &part.kind {
                ExprKind::Aggregate(aggregate) => {
                    ours &= self.is_ours(aggregate);
                    if !aggregates.contains(part) {
                        aggregates.push(part.clone());
                    }
                    return false;
                }
                ExprKind::Column(column) => ours &= column.relation != self.right,
                ExprKind::Call { function, .. } => ours &= !function.is(internal("grouping of keys")),
                // An aggregate in there may be this query's.
                kind => ours &= kind.query().is_none(),
            }
            ours
        });
        ours
    }

    /// An aggregate whose value of no rows is known, and is that of one row of NULLs.
    fn is_ours(&self, aggregate: &Aggregate) -> bool {
        let plain = aggregate.order_by.is_empty() && aggregate.direct.is_empty();
        let filtered = aggregate.filter.as_ref().is_none_or(|filter| names_only(filter, self.right));
        let known = match (aggregate.function.name, aggregate.args.as_slice()) {
            ("count", []) => aggregate.filter.is_none(),
            ("count" | "sum" | "avg" | "min" | "max", [arg]) => self.is_null_of_nulls(arg),
            _ => false,
        };
        plain && filtered && known
    }

    /// An expression that is NULL where the right table's columns are.
    fn is_null_of_nulls(&self, arg: &Expr) -> bool {
        match &arg.kind {
            ExprKind::Column(column) => column.relation == self.right,
            ExprKind::Cast { arg, .. } => self.is_null_of_nulls(arg),
            ExprKind::Call { function, args } if matches!(function.name, "+" | "-" | "*" | "/") => {
                args.iter().any(|arg| self.is_null_of_nulls(arg)) && args.iter().all(|arg| names_only(arg, self.right))
            }
            _ => false,
        }
    }

    /// An aggregate's value, from the column that has it where there were rows.
    fn value(&self, column: Expr, aggregate: &Expr) -> Expr {
        let of_none = match &aggregate.kind {
            ExprKind::Aggregate(aggregate) if self.kind == JoinKind::Left && aggregate.function.name == "count" => {
                // A row without a partner is a row, whose columns are NULL.
                i64::from(aggregate.args.is_empty())
            }
            _ => return column,
        };
        let ty = column.ty.clone();
        Expr::new(ExprKind::Coalesce(vec![column, Expr::integer(of_none, ty.clone())]), ty)
    }

    /// The join with the groups in the right table's place.
    fn with_groups(self, id: RelId, aggregates: Vec<Expr>) -> From {
        let Self { kind, left, from, key, other, mut conditions, .. } = self;
        let items: Vec<Expr> = std::iter::once(key.clone()).chain(aggregates).collect();
        let column = |(at, item): (usize, &Expr)| OutputColumn { name: format!("c{at}"), ty: item.ty.clone() };
        let columns = items.iter().enumerate().map(column).collect();
        let mut inner = Select::of(items, Some(from));
        inner.filter = match conditions.len() {
            0 | 1 => conditions.pop(),
            _ => Some(Expr::new(ExprKind::And(conditions), Type::Bool)),
        };
        inner.group_by = GroupBy::Keys(vec![key.clone()]);
        let query = Query::of(Body::Select(Box::new(inner)), columns, RelId(id.0 + OF_GROUPS));
        let right = From::Query { id, query: Box::new(query), lateral: false };
        let on = ExprKind::Compare {
            op: CompareOp::Equal,
            left: Box::new(other),
            right: Box::new(Expr::column(id, 0, key.ty.clone())),
        };
        From::Join { kind, left: Box::new(left), right: Box::new(right), on: Some(Expr::new(on, Type::Bool)) }
    }
}

fn is_column(expr: &Expr, relation: RelId) -> bool {
    matches!(&expr.kind, ExprKind::Column(column) if column.relation == relation)
}

/// An expression that may be computed as often as one likes, of no other relation's columns.
fn names_only(expr: &Expr, relation: RelId) -> bool {
    let mut only = true;
    walk::expr(expr, &mut |part| {
        only &= match &part.kind {
            ExprKind::Column(column) => column.relation == relation,
            ExprKind::Aggregate(_) | ExprKind::Window(_) | ExprKind::Checked { .. } => false,
            ExprKind::Call { function, .. } => function.volatility != Volatility::Volatile,
            kind => kind.query().is_none(),
        };
        only
    });
    only
}
