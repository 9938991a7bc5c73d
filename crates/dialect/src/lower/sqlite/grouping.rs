//! GROUPING SETS, ROLLUP and CUBE: one grouped query for each set, put together by UNION ALL.
//!
//! In the branch of a set, keys that are not in it are NULL everywhere outside of aggregates' arguments.

use crate::functions::internal;
use crate::ir::{Body, ColumnIndex, ColumnRef, Distinct, Expr, ExprKind, GroupBy, Query, Select, SetOp, SortKey};
use crate::{Error, Result, Type};

/// The query with its grouping sets spelled out; `None` if it has none.
pub(super) fn expanded(query: &Query) -> Result<Option<Query>> {
    let Body::Select(select) = &query.body else { return Ok(None) };
    let GroupBy::Sets { keys, sets } = &select.group_by else { return Ok(None) };
    if select.distinct != Distinct::All {
        return Err(Error::unsupported("DISTINCT over GROUPING SETS"));
    }
    let order_by = query.order_by.iter().map(|key| sort_key(query, select, key)).collect::<Result<_>>()?;
    let mut body = None;
    for set in sets {
        let branch = Body::Select(Box::new(branch(select, keys, set)?));
        body = Some(match body {
            None => branch,
            Some(left) => Body::Set {
                op: SetOp::Union,
                all: true,
                left: Box::new(bare(query, left)),
                right: Box::new(bare(query, branch)),
            },
        });
    }
    let body = body.ok_or_else(|| Error::internal("no grouping set"))?;
    Ok(Some(Query { body, order_by, ..query.clone() }))
}

/// A branch as a query: what stands around the whole stays there.
fn bare(query: &Query, body: Body) -> Query {
    Query {
        ctes: Vec::new(),
        body,
        order_by: Vec::new(),
        limit: None,
        offset: None,
        with_ties: false,
        locking: Vec::new(),
        columns: query.columns.clone(),
        output: query.output,
    }
}

/// A sort key as a column of the result.
fn sort_key(query: &Query, select: &Select, key: &SortKey) -> Result<SortKey> {
    let is_output = matches!(key.expr.kind, ExprKind::Column(ColumnRef { relation, .. }) if relation == query.output);
    if is_output {
        return Ok(key.clone());
    }
    let at = select.items.iter().position(|item| *item == key.expr);
    let at = at.ok_or_else(|| Error::unsupported("ORDER BY of GROUPING SETS by what is not in the select list"))?;
    let kind = ExprKind::Column(ColumnRef { relation: query.output, column: ColumnIndex::At(at) });
    Ok(SortKey { expr: Expr::new(kind, key.expr.ty.clone()), ..key.clone() })
}

fn branch(select: &Select, keys: &[Expr], set: &[usize]) -> Result<Select> {
    let absent: Vec<&Expr> = keys.iter().enumerate().filter(|(at, _)| !set.contains(at)).map(|(_, key)| key).collect();
    let present: Vec<Expr> = set.iter().map(|at| keys[*at].clone()).collect();
    let mut branch = select.clone();
    for item in branch.items.iter_mut().chain(branch.having.as_mut()) {
        blank(item, &absent)?;
    }
    branch.group_by = if present.is_empty() { GroupBy::None } else { GroupBy::Keys(present) };
    let is_group = |expr: &Expr| matches!(expr.kind, ExprKind::Aggregate(_));
    if set.is_empty() && branch.having.is_none() && !branch.items.iter().any(|item| any(item, &is_group)) {
        // Nothing else says that all rows are one group.
        branch.having = Some(Expr::bool(true));
    }
    Ok(branch)
}

/// Puts NULL in the place of keys that are absent.
fn blank(expr: &mut Expr, absent: &[&Expr]) -> Result<()> {
    // GROUPING has a bit for each of its arguments, which says that the key is not in the set.
    if let ExprKind::Call { function, args } = &expr.kind
        && std::ptr::eq(*function, internal("grouping of keys"))
    {
        let bits = args.iter().fold(0, |bits, arg| bits << 1 | i64::from(absent.contains(&arg)));
        *expr = Expr::integer(bits, Type::Int4);
        return Ok(());
    }
    if absent.iter().any(|key| **key == *expr) {
        *expr = Expr::null(std::mem::replace(&mut expr.ty, Type::Unknown));
        return Ok(());
    }
    match &expr.kind {
        // Aggregates see the rows as they are.
        ExprKind::Aggregate(_) => return Ok(()),
        ExprKind::Window(_) => return Err(Error::unsupported("a window function over GROUPING SETS")),
        ExprKind::Scalar(_)
        | ExprKind::Exists(_)
        | ExprKind::InQuery { .. }
        | ExprKind::Quantified { .. }
        | ExprKind::ArrayQuery(_) => return Err(Error::unsupported("a subquery over GROUPING SETS")),
        _ => {}
    }
    parts_mut(expr).into_iter().try_for_each(|part| blank(part, absent))
}

/// True if the expression or one of its parts is such a one.
fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    test(expr) || parts_mut(&mut expr.clone()).into_iter().any(|part| any(part, test))
}

/// The parts of an expression that are computed from the same row.
fn parts_mut(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Call { args, .. } => args.iter_mut().collect(),
        ExprKind::Cast { arg, .. }
        | ExprKind::Checked { arg, .. }
        | ExprKind::IsNull { arg, .. }
        | ExprKind::IsTruth { arg, .. } => vec![arg],
        ExprKind::Compare { left, right, .. } | ExprKind::Distinct { left, right, .. } => vec![left, right],
        ExprKind::And(members)
        | ExprKind::Or(members)
        | ExprKind::Coalesce(members)
        | ExprKind::Greatest(members)
        | ExprKind::Least(members)
        | ExprKind::Row(members)
        | ExprKind::Array(members) => members.iter_mut().collect(),
        ExprKind::Not(arg) => vec![arg],
        ExprKind::NullIf(left, right) => vec![left, right],
        ExprKind::Like { text, pattern, escape, .. } => {
            let mut parts: Vec<&mut Expr> = vec![text, pattern];
            parts.extend(escape.as_deref_mut());
            parts
        }
        ExprKind::InList { arg, list, .. } => std::iter::once(&mut **arg).chain(list).collect(),
        ExprKind::Case { branches, otherwise } => {
            let mut parts = Vec::new();
            for (condition, result) in branches {
                parts.push(condition);
                parts.push(result);
            }
            parts.extend(otherwise.as_deref_mut());
            parts
        }
        ExprKind::QuantifiedArray { arg, array, .. } => vec![arg, array],
        ExprKind::Literal(_)
        | ExprKind::Param(_)
        | ExprKind::Column(_)
        | ExprKind::Aggregate(_)
        | ExprKind::Window(_)
        | ExprKind::Scalar(_)
        | ExprKind::Exists(_)
        | ExprKind::InQuery { .. }
        | ExprKind::Quantified { .. }
        | ExprKind::ArrayQuery(_)
        | ExprKind::Default => Vec::new(),
    }
}
