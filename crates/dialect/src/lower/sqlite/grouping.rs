//! GROUPING SETS, ROLLUP and CUBE: one grouped query for each set, put together by UNION ALL.
//!
//! In the branch of a set, keys that are not in it are NULL everywhere outside of aggregates' arguments.

use crate::functions::internal;
use crate::ir::{
    Body, CollateRole, ColumnIndex, ColumnRef, CompareOp, Distinct, Expr, ExprKind, From, GroupBy, OutputColumn, Query,
    RelId, Select, SetOp, SortKey, walk,
};
use crate::{Error, Result, Type};

/// The query with its grouping sets spelled out; `None` if it has none.
pub(super) fn expanded(query: &Query) -> Result<Option<Query>> {
    let Body::Select(select) = &query.body else { return Ok(None) };
    let GroupBy::Sets { keys, sets } = &select.group_by else { return Ok(None) };
    let members = reads_members(query, select);
    let keys = keys.as_slice();
    if members || needs_rows(query, select, &bare_keys(keys)) {
        return Ok(Some(around(query, select, keys, members)?));
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

/// Relations that are made here have numbers beyond those of the binder.
const ROWS: u32 = 1 << 30;
const BRANCHES: u32 = 1 << 31;

/// True when something is computed of the groups' rows that a branch cannot see: windows, DISTINCT, an order by what is not
/// selected; or in a subquery, whose keys are to be blanked.
fn needs_rows(query: &Query, select: &Select, keys: &[Expr]) -> bool {
    let mut found = select.distinct != Distinct::All;
    for item in &select.items {
        walk::expr(item, &mut |part| {
            if keys.contains(part) {
                return false;
            }
            found |= matches!(part.kind, ExprKind::Window(_)) || is_query(part);
            !found && !matches!(part.kind, ExprKind::Aggregate(_))
        });
    }
    found || query.order_by.iter().any(|key| !is_output(query, &key.expr) && !select.items.contains(&key.expr))
}

fn is_query(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Scalar(_)
            | ExprKind::Exists(_)
            | ExprKind::InQuery { .. }
            | ExprKind::Quantified { .. }
            | ExprKind::ArrayQuery(_)
    )
}

fn is_output(query: &Query, expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(ColumnRef { relation, .. }) if relation == query.output)
}

/// The query with its groups as the rows of a subquery where an array that is compared with is an aggregate, or a query in
/// it reads from one: SQLite has none in the arguments of the functions that yield members. `None` for other queries.
pub(super) fn members_of_aggregates(query: &Query) -> Result<Option<Query>> {
    let Body::Select(select) = &query.body else { return Ok(None) };
    let (GroupBy::None | GroupBy::Keys(_)) = &select.group_by else { return Ok(None) };
    if !reads_members(query, select) {
        return Ok(None);
    }
    around(query, select, select.group_by.keys(), true).map(Some)
}

/// True where members of an array are read that is an aggregate of the query.
fn reads_members(query: &Query, select: &Select) -> bool {
    let is_aggregate = |expr: &Expr| matches!(expr.kind, ExprKind::Aggregate(_));
    let own = select.from.as_ref().map(From::relations).unwrap_or_default();
    let asks = |expr: &Expr| match &expr.kind {
        ExprKind::QuantifiedArray { op, all, arg, array } => {
            any(array, &is_aggregate) || is_asked_of_each(*op, *all) && any(arg, &is_aggregate)
        }
        ExprKind::Quantified { op, all, arg, .. } if is_asked_of_each(*op, *all) && any(arg, &is_aggregate) => true,
        kind => kind.query().is_some_and(|query| reads_aggregates(query, &own)),
    };
    let exprs = || select.items.iter().chain(&select.having).chain(query.order_by.iter().map(|key| &key.expr));
    let (mut aggregates, mut readers) = (false, false);
    for expr in exprs() {
        walk::expr(expr, &mut |part| {
            aggregates |= is_aggregate(part);
            readers |= matches!(part.kind, ExprKind::QuantifiedArray { .. }) || part.kind.query().is_some();
            !(aggregates && readers)
        });
    }
    aggregates && readers && exprs().any(|expr| any(expr, &asks))
}

/// ANY and ALL that are no IN: the value stands in a query of the members.
const fn is_asked_of_each(op: CompareOp, all: bool) -> bool {
    !matches!((op, all), (CompareOp::Equal, false) | (CompareOp::NotEqual, true))
}

/// A member of the query's FROM is given an aggregate of the query around it, which reads these relations.
fn reads_aggregates(query: &Query, own: &[RelId]) -> bool {
    let Body::Select(select) = &query.body else { return false };
    let mut found = false;
    if let Some(from) = &select.from {
        walk::from(from, &mut |part| {
            found |= is_aggregate_of(part, own);
            !found
        });
    }
    found
}

/// An aggregate over columns of these relations alone.
fn is_aggregate_of(expr: &Expr, own: &[RelId]) -> bool {
    let ExprKind::Aggregate(_) = &expr.kind else { return false };
    let (mut any, mut all) = (false, true);
    walk::parts(expr, &mut |part| {
        if let ExprKind::Column(column) = &part.kind {
            any = true;
            all &= own.contains(&column.relation);
        }
        all
    });
    any && all
}

/// The groups' keys and aggregates as the rows of a subquery, and everything else around it: HAVING too where it is asked
/// for.
fn around(query: &Query, select: &Select, keys: &[Expr], having: bool) -> Result<Query> {
    let own = select.from.as_ref().map(From::relations).unwrap_or_default();
    let keys = bare_keys(keys);
    let mut rows = Rows { id: RelId(ROWS + query.output.0), keys: &keys, own: &own, parts: Vec::new() };
    let mut outer = select.clone();
    let mut order_by = query.order_by.clone();
    let distinct_on = match &mut outer.distinct {
        Distinct::On(exprs) => exprs.as_mut_slice(),
        Distinct::All | Distinct::Rows => &mut [],
    };
    let sorted = order_by.iter_mut().map(|key| &mut key.expr).filter(|expr| !is_output(query, expr));
    let mut filter = outer.having.take().filter(|_| having);
    for expr in outer.items.iter_mut().chain(distinct_on).chain(sorted).chain(&mut filter) {
        rows.replace(expr);
    }
    if rows.parts.is_empty() {
        rows.parts.push(Expr::integer(1, Type::Int4));
    }
    let column = |(at, part): (usize, &Expr)| OutputColumn { name: format!("c{at}"), ty: part.ty.clone() };
    let inner = Query {
        ctes: Vec::new(),
        order_by: Vec::new(),
        limit: None,
        offset: None,
        with_ties: false,
        locking: Vec::new(),
        columns: rows.parts.iter().enumerate().map(column).collect(),
        output: RelId(BRANCHES + query.output.0),
        body: Body::Select(Box::new(Select {
            distinct: Distinct::All,
            items: rows.parts,
            having: select.having.clone().filter(|_| !having),
            ..select.clone()
        })),
    };
    outer.from = Some(From::Query { id: rows.id, query: Box::new(inner), lateral: false });
    (outer.filter, outer.group_by) = (filter, GroupBy::None);
    Ok(Query { body: Body::Select(Box::new(outer)), order_by, ..query.clone() })
}

/// The rows of the groups, as they are asked for.
struct Rows<'a> {
    id: RelId,
    keys: &'a [Expr],
    own: &'a [RelId],
    parts: Vec<Expr>,
}

impl Rows<'_> {
    /// Puts columns of the rows in the place of what they hold.
    fn replace(&mut self, expr: &mut Expr) {
        walk::expr_mut(expr, &mut |part| {
            let held = match &part.kind {
                ExprKind::Aggregate(_) => true,
                ExprKind::Call { function, .. } if function.is(internal("grouping of keys")) => true,
                _ => self.is_of_group(part),
            };
            if held {
                self.hold(part);
                return false;
            }
            if let ExprKind::Quantified { arg, .. } = &mut part.kind {
                self.replace(arg);
            }
            if is_query(part) {
                // Other aggregates in there are its own.
                walk::parts_mut(part, &mut |inner| {
                    let held = self.is_of_group(inner) || is_aggregate_of(inner, self.own);
                    if held {
                        self.hold(inner);
                    }
                    !held
                });
                return false;
            }
            true
        });
    }

    fn is_of_group(&self, expr: &Expr) -> bool {
        self.keys.contains(expr)
            || matches!(&expr.kind, ExprKind::Column(column) if self.own.contains(&column.relation))
    }

    fn hold(&mut self, expr: &mut Expr) {
        let at = self.parts.iter().position(|part| part == expr).unwrap_or_else(|| {
            self.parts.push(expr.clone());
            self.parts.len() - 1
        });
        *expr = Expr::column(self.id, at, expr.ty.clone());
    }
}

/// A key without the collation in which it is compared: as it stands in the select list.
fn bare_key(key: &Expr) -> &Expr {
    match &key.kind {
        ExprKind::Collate { arg, role: CollateRole::Operand { .. }, .. } => bare_key(arg),
        _ => key,
    }
}

/// The same comparison of another value.
fn compared_as(key: &Expr, value: Expr) -> Expr {
    match &key.kind {
        ExprKind::Collate { arg, collation, role: role @ CollateRole::Operand { .. }, place } => {
            let (arg, ty) = (Box::new(compared_as(arg, value)), key.ty.clone());
            Expr::new(ExprKind::Collate { arg, collation: collation.clone(), role: *role, place: *place }, ty)
        }
        _ => value,
    }
}

fn bare_keys(keys: &[Expr]) -> Vec<Expr> {
    keys.iter().map(|key| bare_key(key).clone()).collect()
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
    let at = select.items.iter().position(|item| item == bare_key(&key.expr));
    let at = at.ok_or_else(|| Error::unsupported("ORDER BY of GROUPING SETS by what is not in the select list"))?;
    let kind = ExprKind::Column(ColumnRef { relation: query.output, column: ColumnIndex::At(at) });
    let column = Expr::new(kind, key.expr.ty.clone());
    Ok(SortKey { expr: compared_as(&key.expr, column), ..key.clone() })
}

fn branch(select: &Select, keys: &[Expr], set: &[usize]) -> Result<Select> {
    let absent: Vec<&Expr> =
        keys.iter().enumerate().filter(|(at, _)| !set.contains(at)).map(|(_, key)| bare_key(key)).collect();
    let present: Vec<Expr> = set.iter().map(|at| keys[*at].clone()).collect();
    let shown = bare_keys(&present);
    let mut branch = select.clone();
    for item in branch.items.iter_mut().chain(branch.having.as_mut()) {
        blank(item, &absent, &shown)?;
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
fn blank(expr: &mut Expr, absent: &[&Expr], present: &[Expr]) -> Result<()> {
    // GROUPING has a bit for each of its arguments, which says that the key is not in the set.
    if let ExprKind::Call { function, args } = &expr.kind
        && function.is(internal("grouping of keys"))
    {
        let bits = args.iter().fold(0, |bits, arg| bits << 1 | i64::from(absent.contains(&arg)));
        *expr = Expr::integer(bits, Type::Int4);
        return Ok(());
    }
    // What a key is made of is of no interest.
    if present.contains(expr) {
        return Ok(());
    }
    if absent.iter().any(|key| **key == *expr) {
        *expr = Expr::null(std::mem::replace(&mut expr.ty, Type::Unknown));
        return Ok(());
    }
    match &mut expr.kind {
        // Aggregates see the rows as they are; what they are told directly is the group's.
        ExprKind::Aggregate(aggregate) => {
            return aggregate.direct.iter_mut().try_for_each(|part| blank(part, absent, present));
        }
        ExprKind::Window(_) => return Err(Error::unsupported("a window function over GROUPING SETS")),
        ExprKind::Scalar(_)
        | ExprKind::Exists(_)
        | ExprKind::InQuery { .. }
        | ExprKind::Quantified { .. }
        | ExprKind::ArrayQuery(_) => return Err(Error::unsupported("a subquery over GROUPING SETS")),
        _ => {}
    }
    parts_mut(expr).into_iter().try_for_each(|part| blank(part, absent, present))
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
        | ExprKind::Collate { arg, .. }
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
        ExprKind::Numbered { given, .. } => given.as_deref_mut().into_iter().collect(),
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
        | ExprKind::Rules(_)
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
