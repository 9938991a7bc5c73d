//! GROUP BY and DISTINCT by hashing: one aggregate of ours takes all rows and keeps the groups, where SQLite would sort the rows first.
//!
//! `SELECT k, sum(v) FROM t GROUP BY k` becomes
//! `SELECT r.i0, r.c1 FROM (SELECT rf_group('…', k, v) AS c0 FROM t) AS s CROSS JOIN rf_groups(s.c0) AS r`. What is computed of keys and aggregates stays SQLite's. A query is left alone when SQLite need not sort, when only some of the
//! groups are asked for, and when one of its aggregates or keys is none of ours.

use foldhash::{HashSet, HashSetExt as _};

use super::fused::{Fused, Sum, digits};
use super::said::Said;
use super::spec::{Gather, Gathered};
use super::{Lowering, Repr, collation_of, repr_of};
use crate::functions::{Volatility, internal};
use crate::ir::{
    Aggregate, Body, ColumnIndex, CompareOp, CteId, Distinct, Expr, ExprKind, From, GroupBy, JoinKind, OutputColumn,
    Query, RelId, Select, Value, walk,
};
use crate::types::Storage;
use crate::values::moments::Unit;
use crate::{Result, Type};

/// The name of the subquery whose row is all groups.
pub const ROWS: &str = "hashed";
/// The same where all rows are one group.
pub const WHOLE: &str = "gathered";

/// Keys and aggregates that `rf_groups` has columns for.
pub const MOST: usize = 64;

/// The columns of `rf_groups`: each value has one without a type, one of integers and one of texts, by these letters. SQLite
/// makes an index for a join by a column only where it knows the type, and a CAST would change a value of another one, as
/// files of others may hold. It is told what is asked for, and gets the value as it is. The columns of a value stand side by side,
/// since SQLite keeps account of the first 63 columns alone, and puts all others into such an index where one of them is asked for.
pub const COLUMNS_OF_GROUPS: [(&str, &str); 3] = [("c", ""), ("i", " INTEGER"), ("t", " TEXT")];

/// The column of `rf_groups` for a value of a type.
pub(super) fn column_of_groups(at: usize, ty: &Type) -> String {
    let [(untyped, _), (integers, _), (texts, _)] = COLUMNS_OF_GROUPS;
    let letter = match ty.storage() {
        Storage::Integer => integers,
        Storage::Text if !ty.is_decimal() => texts,
        _ => untyped,
    };
    format!("{letter}{at}")
}

impl Lowering<'_> {
    /// The query over its groups, which a member of FROM yields; `None` for one that is left alone.
    pub(super) fn hashed(&mut self, query: &Query) -> Result<Option<Query>> {
        if !crate::optimise::passes().hash || self.unqualified || self.some_groups {
            return Ok(None);
        }
        let Body::Select(select) = &query.body else { return Ok(None) };
        if self.assigns && select.items.iter().any(super::variables::sets) {
            return Ok(None);
        }
        // All rows are one group. Inside of another query it may be asked for each of its rows: SQLite's way begins faster.
        let is_whole = is_whole(select) && self.order.is_empty();
        let is_distinct = select.group_by == GroupBy::None && !is_whole;
        let keys = match &select.group_by {
            GroupBy::Keys(keys) => keys,
            GroupBy::None if is_whole => &Vec::new(),
            // Rows that are alike are a group; but whoever wants some of them need not see all.
            GroupBy::None if select.distinct == Distinct::Rows && query.limit.is_none() && is_of_rows(select) => {
                &select.items
            }
            _ => return Ok(None),
        };
        if matches!(select.distinct, Distinct::On(_)) || (keys.is_empty() && !is_whole) {
            return Ok(None);
        }
        if !is_whole && is_in_order(query, select, keys) {
            return Ok(None);
        }
        let Some(from) = &select.from else { return Ok(None) };
        let mut parts = Parts {
            id: self.relation_of_groups(),
            own: from.relations().into_iter().collect(),
            keys: Vec::new(),
            others: Vec::new(),
            fails: !keys.iter().all(is_steady),
        };
        for key in keys {
            if !parts.keys.contains(key) {
                parts.keys.push(key.clone());
            }
        }
        let mut outer = (**select).clone();
        let mut order_by = query.order_by.clone();
        let sorted = order_by.iter_mut().map(|key| &mut key.expr);
        for expr in outer.items.iter_mut().chain(&mut outer.having).chain(sorted) {
            parts.replace(expr);
        }
        if parts.fails || parts.keys.len() + parts.others.len() > MOST || !parts.are_ours() || !parts.name_rows() {
            return Ok(None);
        }
        // One aggregate alone is as fast in SQLite's hands, which finds a count and an extreme without reading all rows; but a
        // sum over rows that an index finds is not.
        if is_whole {
            let few = match parts.others.as_slice() {
                [] => true,
                [only] => !(is_sum(only) && super::in_order::may_be(select)),
                _ => false,
            };
            if few || !parts.others.iter().all(is_aggregate) {
                return Ok(None);
            }
        }
        let sorted = query.order_by.is_empty() && !is_distinct && !is_whole;
        let Some((sql, reprs)) = self.grouped(select, from, &parts, sorted)? else {
            return Ok(None);
        };
        let cte = CteId(parts.id.0);
        let columns = parts.columns();
        self.groups.insert(cte, (sql, reprs));
        self.of_groups.insert(parts.id);
        outer.from = Some(From::Cte { id: parts.id, cte, columns });
        outer.filter = outer.having.take();
        outer.group_by = GroupBy::None;
        if is_distinct {
            outer.distinct = Distinct::All;
        }
        Ok(Some(Query { ctes: Vec::new(), body: Body::Select(Box::new(outer)), order_by, ..query.clone() }))
    }

    /// A number for a relation of ours, far from those of the binder and from the few at the top, which stand for rows of triggers
    /// and parts of statements.
    pub(super) fn relation_of_groups(&mut self) -> RelId {
        const TOP: u32 = u32::MAX - 1000;
        self.grouped += 1;
        RelId(TOP - self.grouped)
    }

    /// What yields the groups, and how each of its columns lies there.
    fn grouped(
        &mut self,
        select: &Select,
        from: &From,
        parts: &Parts,
        sorted: bool,
    ) -> Result<Option<(String, Vec<Repr>)>> {
        let is_outermost = self.order.is_empty();
        let from_clause = from;
        let from = self.own_from(from)?;
        let mut fused = Fused::default();
        let mut reprs = Vec::new();
        fused.spec.keys = parts.keys.len();
        fused.spec.sorted = sorted;
        for (at, key) in parts.keys.iter().enumerate() {
            if let Some((unit, moment)) = truncated(key) {
                let sql = self.expr(moment)?.sql;
                fused.spec.truncated.push((at, unit));
                fused.inputs.push(sql);
                reprs.push(Repr::Plain);
                continue;
            }
            let sql = self.expr(key)?;
            match sql.repr {
                Repr::Text => {
                    fused.spec.decimals.push(at);
                    fused.spec.sorted = false;
                }
                repr if collation_of(key, repr).is_some() || is_float(&key.ty) => return Ok(None),
                _ => {}
            }
            fused.inputs.push(sql.sql);
            reprs.push(sql.repr);
        }
        for other in &parts.others {
            let (gathered, repr) = match &other.kind {
                ExprKind::Aggregate(aggregate) => match self.gathered(&mut fused, aggregate)? {
                    Some(gathered) => (gathered, repr_of(&other.ty)),
                    None => return Ok(None),
                },
                _ => {
                    let sql = self.expr(other)?;
                    let input = fused.input(sql.sql);
                    (Gathered { what: Gather::First(input), filter: None, distinct: None }, sql.repr)
                }
            };
            fused.spec.aggregates.push(gathered);
            reprs.push(repr);
        }
        let in_order = match &select.filter {
            Some(filter) if is_outermost => self.in_order(from_clause, filter, &fused.spec)?,
            _ => None,
        };
        let (from, filter) = match (in_order, &select.filter) {
            (Some(in_order), _) => in_order,
            (None, Some(filter)) => (from, self.where_clause_of_all(filter, from_clause)?),
            (None, None) => (from, String::new()),
        };
        self.needs_row_function();
        // Not as the function's argument: SQLite would plan a query that is run for each group.
        let groups = format!("SELECT rf_group({}) AS c0 FROM {from}{filter}", fused.arguments());
        if fused.spec.keys == 0 {
            // Without rows there is a group, too, of which nothing but this tells.
            let told = super::quote_text(&fused.spec.to_string());
            let of = format!("coalesce({WHOLE}.c0, {told})");
            return Ok(Some((format!("({groups}) AS {WHOLE} CROSS JOIN rf_groups({of})"), reprs)));
        }
        Ok(Some((format!("({groups}) AS {ROWS} CROSS JOIN rf_groups({ROWS}.c0)"), reprs)))
    }

    /// What is to be gathered for an aggregate; `None` for one that is none of ours.
    pub(super) fn gathered(&mut self, fused: &mut Fused, aggregate: &Aggregate) -> Result<Option<Gathered>> {
        let function = aggregate.function;
        let filter = match &aggregate.filter {
            Some(filter) => {
                // An argument is not asked for where the row does not count.
                if !aggregate.args.iter().all(|arg| matches!(arg.kind, ExprKind::Column(_))) {
                    return Ok(None);
                }
                let sql = self.expr(filter)?.sql;
                Some(fused.input(sql))
            }
            None => None,
        };
        let distinct = match (aggregate.distinct, aggregate.args.as_slice()) {
            (false, _) => None,
            (true, [arg]) => {
                let sql = self.expr(arg)?;
                if sql.repr == Repr::Text || collation_of(arg, sql.repr).is_some() || is_float(&arg.ty) {
                    return Ok(None);
                }
                Some(fused.input(sql.sql))
            }
            (true, _) => return Ok(None),
        };
        let what = match (function.said, aggregate.args.as_slice()) {
            (Said::Special("count_star"), _) => Gather::Rows,
            (Said::Function("count"), [arg]) => {
                let sql = self.expr(arg)?.sql;
                Gather::Count(fused.input(sql))
            }
            (Said::Special(word @ ("min" | "max")), [arg]) => {
                let sql = self.expr(arg)?;
                let scale = digits(&arg.ty);
                let plain = match sql.repr {
                    Repr::Plain => collation_of(arg, sql.repr).is_none() && arg.ty.storage() != Storage::Blob,
                    Repr::Native => scale.is_some(),
                    Repr::Text => false,
                };
                if !plain {
                    return Ok(None);
                }
                let input = fused.input(sql.sql);
                let scale = scale.filter(|_| sql.repr == Repr::Native);
                if word == "min" { Gather::Least(input, scale) } else { Gather::Greatest(input, scale) }
            }
            (_, [arg]) => match Sum::of(function) {
                Some(Sum::Decimal) => Gather::Sum(self.number(fused, arg)?),
                Some(Sum::Average) => Gather::Average(self.number(fused, arg)?),
                Some(Sum::Whole) => Gather::IntegerSum(self.whole_number(fused, arg)?),
                Some(Sum::Integer) => Gather::Sum(self.whole_number(fused, arg)?),
                Some(Sum::IntegerAverage) => Gather::Average(self.whole_number(fused, arg)?),
                Some(Sum::Float) => {
                    let sql = self.expr(arg)?.sql;
                    Gather::FloatSum(fused.input(sql))
                }
                Some(Sum::FloatAverage) => {
                    let sql = self.expr(arg)?.sql;
                    Gather::FloatAverage(fused.input(sql))
                }
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(Gathered { what, filter, distinct }))
    }
}

/// Aggregates without GROUP BY.
fn is_whole(select: &Select) -> bool {
    select.group_by == GroupBy::None
        && select.distinct == Distinct::All
        && super::single::has_aggregate(select.from.as_ref(), &select.items)
}

fn is_sum(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Aggregate(aggregate) if Sum::of(aggregate.function).is_some())
}

fn is_aggregate(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Aggregate(_))
}

/// A timestamp that is cut off to a unit which its stored text shows.
fn truncated(key: &Expr) -> Option<(Unit, &Expr)> {
    let ExprKind::Call { function, args } = &key.kind else { return None };
    let (Said::Function("rf_date_trunc_timestamp"), [word, moment]) = (function.said, args.as_slice()) else {
        return None;
    };
    let ExprKind::Literal(Value::Text(word)) = &super::expr::constant(word).kind else { return None };
    let unit = Unit::parse(word).filter(|unit| unit.is_shown())?;
    Some((unit, moment))
}

pub(super) fn is_float(ty: &Type) -> bool {
    matches!(ty.through_domains(), Type::Float4 | Type::Float8)
}

/// The groups' columns.
struct Parts {
    id: RelId,
    own: HashSet<RelId>,
    keys: Vec<Expr>,
    /// Aggregates, and columns that the keys decide.
    others: Vec<Expr>,
    fails: bool,
}

impl Parts {
    fn columns(&self) -> Vec<OutputColumn> {
        let all = self.keys.iter().chain(&self.others).enumerate();
        all.map(|(at, part)| OutputColumn { name: format!("c{at}"), ty: part.ty.clone() }).collect()
    }

    /// True unless the types of keys and aggregates tell that something is none of ours: before anything is lowered, which
    /// would then be lowered twice.
    fn are_ours(&self) -> bool {
        let plain =
            |expr: &Expr| expr.ty.is_decimal() || (collation_of(expr, Repr::Plain).is_none() && !is_float(&expr.ty));
        let gathered = |expr: &Expr| match &expr.kind {
            ExprKind::Aggregate(aggregate) => match (aggregate.function.said, aggregate.args.as_slice()) {
                (Said::Special("count_star"), _) => !aggregate.distinct,
                (Said::Function("count"), [arg]) => !aggregate.distinct || plain(arg),
                (Said::Special("min" | "max"), [arg]) => plain(arg),
                (_, [_]) => Sum::of(aggregate.function).is_some(),
                _ => false,
            },
            _ => true,
        };
        self.keys.iter().all(plain) && self.others.iter().all(gathered)
    }

    /// True when keys or aggregates name a column of the query's own. The aggregate that takes them would be that of the query
    /// around otherwise.
    fn name_rows(&self) -> bool {
        self.keys.iter().chain(&self.others).any(|part| self.names_own(part))
    }

    /// A column of this query's rows is named.
    fn names_own(&self, expr: &Expr) -> bool {
        let mut found = false;
        walk::expr(expr, &mut |part| {
            found |= matches!(&part.kind, ExprKind::Column(column) if self.own.contains(&column.relation));
            !found
        });
        found
    }

    /// Puts columns of the groups in the place of what they hold.
    fn replace(&mut self, expr: &mut Expr) {
        walk::expr_mut(expr, &mut |part| {
            if self.hold_column(part) {
                return false;
            }
            match &part.kind {
                ExprKind::Aggregate(aggregate) => {
                    self.fails |=
                        !self.is_own(aggregate) || !aggregate.order_by.is_empty() || !aggregate.direct.is_empty();
                    self.hold(part);
                    false
                }
                ExprKind::Call { function, .. } if function.is(internal("grouping of keys")) => {
                    self.fails = true;
                    false
                }
                // Aggregates in there may be its own.
                kind if kind.query().is_some() => {
                    let mut aggregates = false;
                    walk::parts(part, &mut |inner| {
                        aggregates |= matches!(&inner.kind, ExprKind::Aggregate(inner) if self.takes_own(inner));
                        true
                    });
                    self.fails |= aggregates;
                    if !aggregates {
                        walk::parts_mut(part, &mut |inner| !self.hold_column(inner));
                    }
                    false
                }
                _ => true,
            }
        });
    }

    /// An aggregate of this query, over its rows.
    fn is_own(&self, aggregate: &Aggregate) -> bool {
        let mut own = true;
        for arg in aggregate.args.iter().chain(&aggregate.filter) {
            own &= is_steady(arg);
            walk::expr(arg, &mut |part| {
                own &= match &part.kind {
                    ExprKind::Column(column) => self.own.contains(&column.relation),
                    ExprKind::Aggregate(_) | ExprKind::Window(_) => false,
                    kind => kind.query().is_none(),
                };
                own
            });
        }
        own
    }

    fn takes_own(&self, aggregate: &Aggregate) -> bool {
        aggregate.args.iter().chain(&aggregate.filter).any(|arg| self.names_own(arg))
    }

    /// Puts a column in the place of a key, or of a column that the keys decide.
    fn hold_column(&mut self, part: &mut Expr) -> bool {
        if let Some(at) = self.keys.iter().position(|key| key == part) {
            *part = Expr::column(self.id, at, part.ty.clone());
            return true;
        }
        let own = matches!(&part.kind, ExprKind::Column(column) if self.own.contains(&column.relation));
        if own {
            self.hold(part);
        }
        own
    }

    fn hold(&mut self, expr: &mut Expr) {
        let at = self.others.iter().position(|part| part == expr).unwrap_or_else(|| {
            self.others.push(expr.clone());
            self.others.len() - 1
        });
        *expr = Expr::column(self.id, self.keys.len() + at, expr.ty.clone());
    }
}

/// A select list without aggregates and windows.
fn is_of_rows(select: &Select) -> bool {
    let mut of_rows = select.having.is_none();
    for item in &select.items {
        walk::expr(item, &mut |part| {
            of_rows &= !matches!(part.kind, ExprKind::Aggregate(_) | ExprKind::Window(_));
            of_rows
        });
    }
    of_rows
}

/// An expression whose calls may be merged.
fn is_steady(expr: &Expr) -> bool {
    let mut steady = true;
    walk::expr(expr, &mut |part| {
        steady &= !matches!(&part.kind, ExprKind::Call { function, .. } if function.volatility == Volatility::Volatile);
        steady
    });
    steady
}

/// True where the rows come in the order of the groups without being sorted: those of the table that a join begins with, by
/// their identity; or by an index, where not all groups are asked for.
fn is_in_order(query: &Query, select: &Select, keys: &[Expr]) -> bool {
    if select.from.as_ref().is_some_and(|from| begins_with_keys(from, keys)) {
        return true;
    }
    let Some(From::Relation { id, relation, .. }) = &select.from else { return false };
    if query.limit.is_none() {
        return false;
    }
    let places: Option<HashSet<usize>> = (keys.iter())
        .map(|key| match &key.kind {
            ExprKind::Column(column) if column.relation == *id => match column.column {
                ColumnIndex::At(at) => Some(at),
                ColumnIndex::RowIdentity => None,
            },
            _ => None,
        })
        .collect();
    let Some(places) = places else { return false };
    let by_identity = places.iter().any(|at| relation.columns[*at].row_identity);
    by_identity
        || relation.indexes.iter().any(|index| {
            let first = index.columns.iter().take(places.len());
            index.columns.len() >= places.len() && first.flatten().all(|at| places.contains(at))
        })
}

/// True for a table, alone or with others that are joined to its rows, when the keys are columns of it and its identity is
/// among them.
fn begins_with_keys(from: &From, keys: &[Expr]) -> bool {
    match from {
        From::Join { kind: JoinKind::Left, left, .. } => begins_with_keys(left, keys),
        From::Relation { id, relation, .. } => {
            let place = |key: &Expr| match &key.kind {
                ExprKind::Column(column) if column.relation == *id => Some(column.column),
                _ => None,
            };
            let identity = |column: ColumnIndex| match column {
                ColumnIndex::At(at) => relation.columns.get(at).is_some_and(|column| column.row_identity),
                ColumnIndex::RowIdentity => true,
            };
            keys.iter().all(|key| place(key).is_some()) && keys.iter().filter_map(place).any(identity)
        }
        _ => false,
    }
}

/// The conditions that all rows of a query meet.
pub(super) fn conditions(select: &Select) -> Vec<&Expr> {
    let mut conditions = Vec::new();
    if let Some(filter) = &select.filter {
        collect(filter, &mut conditions);
    }
    if let Some(from) = &select.from {
        collect_on(from, &mut conditions);
    }
    conditions
}

/// Members of FROM of which a condition asks for some rows: SQLite asks for them inside a grouping query, before it groups.
pub(super) fn asked_for(conditions: &[&Expr]) -> HashSet<RelId> {
    let mut asked = HashSet::new();
    let mut equal: Vec<(RelId, RelId)> = Vec::new();
    for &condition in conditions {
        let mut named = HashSet::new();
        walk::expr(condition, &mut |part| {
            if let ExprKind::Column(column) = &part.kind {
                named.insert(column.relation);
            }
            true
        });
        match &condition.kind {
            _ if named.len() == 1 => asked.extend(named),
            ExprKind::Compare { op: CompareOp::Equal, left, right } => {
                if let (ExprKind::Column(left), ExprKind::Column(right)) = (&left.kind, &right.kind) {
                    equal.push((left.relation, right.relation));
                }
            }
            _ => {}
        }
    }
    // What is known of one side of an equality is known of the other.
    let direct = asked.clone();
    for (left, right) in equal {
        if direct.contains(&left) {
            asked.insert(right);
        }
        if direct.contains(&right) {
            asked.insert(left);
        }
    }
    asked
}

fn collect<'e>(condition: &'e Expr, found: &mut Vec<&'e Expr>) {
    match &condition.kind {
        ExprKind::And(members) => members.iter().for_each(|member| collect(member, found)),
        _ => found.push(condition),
    }
}

fn collect_on<'e>(from: &'e From, found: &mut Vec<&'e Expr>) {
    if let From::Join { left, right, on, .. } = from {
        collect_on(left, found);
        collect_on(right, found);
        if let Some(on) = on {
            collect(on, found);
        }
    }
}

/// The members of WITH that stand in a FROM clause.
pub(super) fn ctes(from: &From, found: &mut dyn FnMut(RelId, CteId)) {
    match from {
        From::Cte { id, cte, .. } => found(*id, *cte),
        From::Join { left, right, .. } => {
            ctes(left, found);
            ctes(right, found);
        }
        _ => {}
    }
}
