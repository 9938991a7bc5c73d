//! Functions over windows: one aggregate of ours takes all rows, sorts them as each window asks, and yields them again with what the
//! functions make of them.
//!
//! `SELECT a, rank() OVER (PARTITION BY k ORDER BY v) FROM t` becomes
//! `SELECT r.c0, r.c1 FROM (WITH w(c0) AS MATERIALIZED (SELECT rf_window('…', a, k, v) FROM t)
//! SELECT r.i0 AS c0, r.i1 AS c1 FROM w CROSS JOIN rf_groups(w.c0) AS r UNION ALL
//! SELECT c0, c1 FROM (SELECT c0, c1 FROM (SELECT a AS c0, rank() OVER (…) AS c1 FROM t)
//! LIMIT (SELECT CASE WHEN c0 IS 0 THEN -1 ELSE 0 END FROM w))) AS r`:
//! where there was no memory for the rows `w.c0` is 0, and SQLite does it, which sorts in files. A query is left alone when one of its
//! functions, frames or orders is none of ours, when SQLite would stop early, and when it may look at some partitions only.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use super::fused::Fused;
use super::hashed::{MOST, column_of_groups, is_float};
use super::said::Said;
use super::window_spec::{Call, Frame, Key, What, Window, WindowSpec};
use super::{Lowering, Naming, Repr, collation_of, repr_of};
use crate::Result;
use crate::functions::{FunctionKind, Volatility};
use crate::ir::{
    Aggregate, Body, CteId, Distinct, Expr, ExprKind, FrameBound, FrameExclude, FrameUnit, From, GroupBy, OutputColumn,
    Query, RelId, Select, SortKey, Value, WindowCall, walk,
};

/// What the names of members of WITH begin with that are all rows of a query.
pub const NAME: &str = "rf_windows_";

/// Arguments that a function of SQLite's takes, the first not counted.
const MOST_INPUTS: usize = 100;

impl Lowering<'_> {
    /// The query over its rows with what is computed of them, which a member of FROM yields; `None` for one that is left alone.
    pub(super) fn windowed(&mut self, query: &Query, asked: &HashSet<usize>) -> Result<Option<Query>> {
        if !crate::optimise::passes().hash || self.unqualified || self.plain_windows {
            return Ok(None);
        }
        let Body::Select(select) = &query.body else { return Ok(None) };
        let Some(from) = &select.from else { return Ok(None) };
        if select.group_by != GroupBy::None || select.having.is_some() || matches!(select.distinct, Distinct::On(_)) {
            return Ok(None);
        }
        let id = self.relation_of_groups();
        let own = from.relations().into_iter().collect();
        let mut parts = Parts { id, own, passed: Vec::new(), calls: Vec::new(), fails: false };
        for expr in select.items.iter().chain(query.order_by.iter().map(|key| &key.expr)) {
            parts.find(expr);
        }
        if parts.calls.is_empty() || parts.fails || parts.passed.len() + parts.calls.len() > MOST {
            return Ok(None);
        }
        let alone = parts.calls().all(|call| !ends_with_partition(call) && call.partition_by.is_empty());
        if (query.limit.is_some() && alone) || self.may_be_part(select, &parts, asked) || self.repeats(query) {
            return Ok(None);
        }
        let Some((sql, reprs)) = self.windows(select, from, &parts)? else { return Ok(None) };
        let cte = CteId(id.0);
        self.groups.insert(cte, (sql, reprs));
        let mut outer = Select::of(select.items.clone(), Some(From::Cte { id, cte, columns: parts.columns() }));
        outer.distinct = select.distinct.clone();
        let mut order_by = query.order_by.clone();
        for expr in outer.items.iter_mut().chain(order_by.iter_mut().map(|key| &mut key.expr)) {
            parts.replace(expr);
        }
        Ok(Some(Query {
            ctes: Vec::new(),
            body: Body::Select(Box::new(outer)),
            order_by,
            limit: query.limit.clone(),
            offset: query.offset.clone(),
            with_ties: query.with_ties,
            locking: Vec::new(),
            columns: query.columns.clone(),
            output: query.output,
        }))
    }

    /// True when only some partitions are asked for, which SQLite would look for before it sorts.
    fn may_be_part(&self, select: &Select, parts: &Parts, asked: &HashSet<usize>) -> bool {
        let parts_rows = |item: &Expr| parts.calls().all(|call| call.partition_by.contains(item));
        asked.iter().filter_map(|at| select.items.get(*at)).any(parts_rows)
    }

    /// True for what must not be computed twice, and for what depends on the row of a query around it.
    fn repeats(&self, query: &Query) -> bool {
        let mut found = false;
        let from = match &query.body {
            Body::Select(select) => select.from.as_ref(),
            _ => None,
        };
        walk::query(query, &mut |part| {
            found |= match &part.kind {
                ExprKind::Call { function, .. } => function.volatility == Volatility::Volatile,
                ExprKind::Column(column) => self.order.contains(&column.relation),
                _ => false,
            };
            !found
        });
        found || from.is_some_and(calls_volatile)
    }

    /// What yields the rows, and how each of their columns lies there.
    fn windows(&mut self, select: &Select, from: &From, parts: &Parts) -> Result<Option<(String, Vec<Repr>)>> {
        let name = format!("{NAME}{}", self.grouped);
        let groups = self.groups.clone();
        let gathered = self.gathered_rows(select, from, parts)?;
        // What yields groups is needed once more, whoever computes the windows.
        self.groups.clone_from(&groups);
        let Some((gathered, reprs)) = gathered else { return Ok(None) };
        let mut plain = Select::of(parts.passed.iter().chain(&parts.calls).cloned().collect(), Some(from.clone()));
        plain.filter.clone_from(&select.filter);
        let plain = Query::of(Body::Select(Box::new(plain)), parts.columns(), parts.id);
        let before = std::mem::replace(&mut self.plain_windows, true);
        let lowered = self.query(&plain, Naming::Positions);
        self.plain_windows = before;
        let (plain, plain_reprs) = lowered?;
        if plain_reprs != reprs {
            self.groups = groups;
            return Ok(None);
        }
        self.needs_row_function();
        let columns: Vec<String> = (0..reprs.len()).map(|at| format!("c{at}")).collect();
        let held = parts.passed.iter().chain(&parts.calls).enumerate();
        let of_rows: Vec<String> =
            held.map(|(at, part)| format!("r.{} AS c{at}", column_of_groups(at, &part.ty))).collect();
        let (columns, of_rows) = (columns.join(", "), of_rows.join(", "));
        let sql = format!(
            "(WITH {name}(c0) AS MATERIALIZED ({gathered}) \
             SELECT {of_rows} FROM {name} CROSS JOIN rf_groups({name}.c0) AS r \
             UNION ALL SELECT {columns} FROM (SELECT {columns} FROM ({plain}) \
             LIMIT (SELECT CASE WHEN c0 IS 0 THEN -1 ELSE 0 END FROM {name})))"
        );
        Ok(Some((sql, reprs)))
    }

    /// The query whose one value is all rows.
    fn gathered_rows(&mut self, select: &Select, from: &From, parts: &Parts) -> Result<Option<(String, Vec<Repr>)>> {
        let from_clause = from;
        let from = self.own_from(from)?;
        let mut fused = Fused::default();
        let mut reprs = Vec::new();
        fused.spec.keys = parts.passed.len();
        for column in &parts.passed {
            let sql = self.expr(column)?;
            fused.inputs.push(sql.sql);
            reprs.push(sql.repr);
        }
        let mut spec = WindowSpec::default();
        let mut windows: Vec<(&[Expr], &[SortKey])> = Vec::new();
        for call in parts.calls() {
            let asked = (call.partition_by.as_slice(), call.order_by.as_slice());
            let window = match windows.iter().position(|known| *known == asked) {
                Some(window) => window,
                None => {
                    let Some(window) = self.window_of(&mut fused, call)? else { return Ok(None) };
                    windows.push(asked);
                    spec.windows.push(window);
                    windows.len() - 1
                }
            };
            let Some(what) = self.what(&mut fused, call)? else { return Ok(None) };
            spec.calls.push(Call { window, what });
        }
        reprs.extend(parts.calls.iter().map(|call| repr_of(&call.ty)));
        let filter = match &select.filter {
            Some(filter) => self.where_clause_of_all(filter, from_clause)?,
            None => String::new(),
        };
        if fused.inputs.len() > MOST_INPUTS {
            return Ok(None);
        }
        spec.rows = fused.spec;
        let mut call = super::quote_text(&spec.to_string());
        for input in &fused.inputs {
            call.push_str(", ");
            call.push_str(input);
        }
        Ok(Some((format!("SELECT rf_window({call}) FROM {from}{filter}"), reprs)))
    }

    /// How a call's window parts and sorts; `None` for what is compared by more than its bytes and numbers.
    fn window_of(&mut self, fused: &mut Fused, call: &WindowCall) -> Result<Option<Window>> {
        let mut window = Window::default();
        for key in &call.partition_by {
            let Some(input) = self.compared(fused, key)? else { return Ok(None) };
            window.partition.push(input);
        }
        for key in &call.order_by {
            let Some(input) = self.compared(fused, &key.expr)? else { return Ok(None) };
            window.order.push(Key { input, descending: key.descending, nulls_first: key.nulls_first });
        }
        Ok(Some(window))
    }

    fn compared(&mut self, fused: &mut Fused, key: &Expr) -> Result<Option<usize>> {
        let sql = self.expr(key)?;
        if sql.repr == Repr::Text || collation_of(key, sql.repr).is_some() || is_float(&key.ty) {
            return Ok(None);
        }
        Ok(Some(fused.input(sql.sql)))
    }

    /// What a call computes; `None` for what is none of ours.
    fn what(&mut self, fused: &mut Fused, call: &WindowCall) -> Result<Option<What>> {
        let Some(frame) = frame(call) else { return Ok(None) };
        if call.function.kind == FunctionKind::Aggregate {
            let aggregate = Aggregate {
                function: call.function,
                args: call.args.clone(),
                direct: Vec::new(),
                distinct: false,
                order_by: Vec::new(),
                filter: call.filter.clone(),
            };
            let Some(gathered) = self.gathered(fused, &aggregate)? else { return Ok(None) };
            fused.spec.aggregates.push(gathered);
            return Ok(Some(What::Aggregate(frame)));
        }
        let Said::Function(name) = call.function.said else { return Ok(None) };
        Ok(Some(match (name, call.args.as_slice()) {
            ("row_number", []) => What::RowNumber,
            ("rank", []) => What::Rank,
            ("dense_rank", []) => What::DenseRank,
            ("percent_rank", []) => What::PercentRank,
            ("cume_dist", []) => What::CumeDist,
            ("lag" | "lead", [value, rest @ ..]) => {
                let distance = match rest.first() {
                    None => 1,
                    Some(distance) => match distance_of(distance) {
                        Some(distance) => distance,
                        None => return Ok(None),
                    },
                };
                let value = self.stored_text_of(value)?;
                let value = fused.input(value);
                let otherwise = match rest.get(1) {
                    Some(otherwise) => {
                        let otherwise = self.stored_text_of(otherwise)?;
                        Some(fused.input(otherwise))
                    }
                    None => None,
                };
                What::Offset(value, if name == "lag" { distance } else { -distance }, otherwise)
            }
            ("first_value", [value]) => {
                let value = self.stored_text_of(value)?;
                What::First(fused.input(value))
            }
            ("last_value", [value]) => {
                let value = self.stored_text_of(value)?;
                What::Last(fused.input(value), frame)
            }
            _ => return Ok(None),
        }))
    }
}

/// So many rows, where it is told in the statement's own text.
fn distance_of(distance: &Expr) -> Option<i64> {
    match &super::expr::constant(distance).kind {
        ExprKind::Literal(Value::Integer(distance)) if (0..=i64::from(i32::MAX)).contains(distance) => Some(*distance),
        _ => None,
    }
}

/// The rows of a call's frame; `None` for one that begins elsewhere than its partition.
fn frame(call: &WindowCall) -> Option<Frame> {
    let Some(frame) = &call.frame else {
        return Some(if call.order_by.is_empty() { Frame::Partition } else { Frame::Peers });
    };
    let plain = frame.limits.is_none() && frame.exclude == FrameExclude::NoOthers;
    match (&frame.start, &frame.end) {
        (FrameBound::UnboundedPreceding, FrameBound::UnboundedFollowing) if plain => Some(Frame::Partition),
        (FrameBound::UnboundedPreceding, FrameBound::CurrentRow) if plain => Some(match frame.unit {
            FrameUnit::Rows => Frame::Rows,
            FrameUnit::Range | FrameUnit::Groups => Frame::Peers,
        }),
        _ => None,
    }
}

/// True for what is not known before the last row of a partition.
fn ends_with_partition(call: &WindowCall) -> bool {
    let of_rows = matches!(call.function.name, "row_number" | "rank" | "dense_rank" | "lag" | "first_value");
    !of_rows && frame(call) == Some(Frame::Partition)
}

/// A function in FROM may return something else the next time.
fn calls_volatile(from: &From) -> bool {
    match from {
        From::Function { function, .. } => function.volatility == Volatility::Volatile,
        From::Join { left, right, .. } => calls_volatile(left) || calls_volatile(right),
        From::Query { query, .. } => match &query.body {
            Body::Select(select) => select.from.as_ref().is_some_and(calls_volatile),
            Body::Set { .. } => true,
            Body::Values(_) => false,
        },
        From::Kept { .. } => true,
        From::Relation { .. } | From::Cte { .. } => false,
    }
}

/// The rows' columns.
struct Parts {
    id: RelId,
    own: HashSet<RelId>,
    /// Columns that are named outside of the calls.
    passed: Vec<Expr>,
    /// Calls over windows.
    calls: Vec<Expr>,
    fails: bool,
}

impl Parts {
    fn calls(&self) -> impl Iterator<Item = &WindowCall> {
        self.calls.iter().filter_map(|call| match &call.kind {
            ExprKind::Window(call) => Some(&**call),
            _ => None,
        })
    }

    fn columns(&self) -> Vec<OutputColumn> {
        let all = self.passed.iter().chain(&self.calls).enumerate();
        all.map(|(at, part)| OutputColumn { name: format!("c{at}"), ty: part.ty.clone() }).collect()
    }

    /// Notes what an expression takes of the rows.
    fn find(&mut self, expr: &Expr) {
        walk::expr(expr, &mut |part| {
            match &part.kind {
                ExprKind::Window(_) => {
                    self.fails |= has_inner(part);
                    hold(&mut self.calls, part);
                    return false;
                }
                ExprKind::Aggregate(_) => self.fails = true,
                ExprKind::Column(column) if self.own.contains(&column.relation) => hold(&mut self.passed, part),
                kind if kind.query().is_some() => {
                    walk::parts(part, &mut |inner| {
                        match &inner.kind {
                            // Its own, or that of the query in there.
                            ExprKind::Window(_) | ExprKind::Aggregate(_) => self.fails |= names(inner, &self.own),
                            ExprKind::Column(column) if self.own.contains(&column.relation) => {
                                hold(&mut self.passed, inner);
                            }
                            _ => {}
                        }
                        true
                    });
                    return false;
                }
                _ => {}
            }
            true
        });
    }

    /// Puts columns of the rows in the place of what they hold.
    fn replace(&self, expr: &mut Expr) {
        walk::expr_mut(expr, &mut |part| {
            let at = match &part.kind {
                ExprKind::Window(_) => self.calls.iter().position(|call| call == part).map(|at| self.passed.len() + at),
                ExprKind::Column(column) if self.own.contains(&column.relation) => {
                    self.passed.iter().position(|column| column == part)
                }
                _ => None,
            };
            if let Some(at) = at {
                *part = Expr::column(self.id, at, part.ty.clone());
            }
            at.is_none()
        });
    }
}

fn hold(all: &mut Vec<Expr>, expr: &Expr) {
    if !all.contains(expr) {
        all.push(expr.clone());
    }
}

/// A call within a call, a query within it, or an aggregate of a query around.
fn has_inner(call: &Expr) -> bool {
    let mut found = false;
    walk::parts(call, &mut |part| {
        found |= matches!(part.kind, ExprKind::Window(_) | ExprKind::Aggregate(_)) || part.kind.query().is_some();
        !found
    });
    found
}

fn names(expr: &Expr, own: &HashSet<RelId>) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= matches!(&part.kind, ExprKind::Column(column) if own.contains(&column.relation));
        !found
    });
    found
}

/// Columns of members of FROM that conditions on one member alone name.
pub(super) fn asked_columns<'e>(conditions: impl Iterator<Item = &'e Expr>) -> HashMap<RelId, HashSet<usize>> {
    let mut asked: HashMap<RelId, HashSet<usize>> = HashMap::new();
    for condition in conditions {
        let mut named = HashSet::new();
        walk::expr(condition, &mut |part| {
            if let ExprKind::Column(column) = &part.kind {
                named.insert((column.relation, column.column));
            }
            true
        });
        let mut relations = named.iter().map(|(relation, _)| *relation);
        let Some(first) = relations.next() else { continue };
        if relations.all(|relation| relation == first) {
            let columns = named.iter().filter_map(|(_, column)| match column {
                crate::ir::ColumnIndex::At(at) => Some(*at),
                crate::ir::ColumnIndex::RowIdentity => None,
            });
            asked.entry(first).or_default().extend(columns);
        }
    }
    asked
}
