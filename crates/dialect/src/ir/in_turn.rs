//! Rows of a change that are computed one by one, each when its turn has come: functions of users that are called for them
//! may see, and change, what the statement itself has done so far, and who is told of a row may ask which number a sequence
//! gave last.
//!
//! PostgreSQL reads, computes and writes row by row, and what it reads is the state before the statement. Here the query is
//! taken apart: one part reads to its end, before anything is written, what the rows are made of, subqueries included; the
//! other part computes a row from that, its WHERE included as far as it calls such functions. A back end that runs the
//! second part has no table open meanwhile.

use super::{
    Body, ColumnIndex, ColumnRef, Cte, Distinct, Expr, ExprKind, From, GroupBy, OutputColumn, Query, RelId, Select,
    SortKey, walk,
};
use crate::Type;
use crate::functions::Volatility;
use crate::postgres::converts_immutably;
use crate::schema::Schema;
use crate::stored_calls::{VALUE, from_writes, query_writes, writes};

/// A query taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct InTurn {
    /// What is read before anything is written; nothing where a row is made of the statement's parameters alone.
    pub read: Option<Query>,
    /// What is computed of each row that has been read, one query after the other, from the statement's parameters and,
    /// behind them, the row. Each yields one row, or none where its WHERE does not hold.
    pub computed: Vec<Query>,
    /// The types of the columns that are read.
    pub types: Vec<Type>,
}

/// Stands in no statement of a front end.
const OUTPUT: RelId = RelId(u32::MAX);

/// A query whose rows come one by one: no grouping, no duplicates left out.
struct Plain {
    ctes: Vec<Cte>,
    /// What is computed of a row; several lists make several rows.
    items: Vec<Vec<Expr>>,
    from: Option<From>,
    filter: Vec<Expr>,
    order_by: Vec<SortKey>,
    limit: Option<Expr>,
    offset: Option<Expr>,
    locking: Vec<super::RowLock>,
}

/// Takes apart the query of a change's rows; `outer` is how many parameters the statement has. `None` where its rows call no
/// functions of users that may write and take no numbers of sequences, or where they cannot be told apart.
pub fn in_turn(rows: &Query, outer: usize, schema: &dyn Schema) -> Option<InTurn> {
    let calls = |expr: &Expr| acts(expr, schema);
    let plain = plain(rows, schema)?;
    let mut all_items = plain.items.iter().flatten().chain(&plain.filter);
    // A single row is computed right before it is written anyway.
    let single = plain.from.is_none() && plain.items.len() == 1;
    if !(if single { all_items.any(|expr| writes(expr, schema)) } else { all_items.any(calls) }) {
        return None;
    }
    let Plain { ctes, items, from, filter, order_by, limit, offset, locking } = plain;
    let (mut late, early): (Vec<Expr>, Vec<Expr>) = filter.into_iter().partition(calls);
    // What is left out later has been counted before.
    if !late.is_empty() && (limit.is_some() || offset.is_some()) {
        return None;
    }
    let own = from.as_ref().map(From::relations).unwrap_or_default();
    let mut given = Given { own: &own, outer, schema, gathered: false, items: Vec::new() };
    let whole = late.is_empty() && items.len() == 1;
    let items: Vec<Vec<Expr>> = items
        .into_iter()
        .map(|row| {
            row.into_iter()
                .map(|mut item| {
                    if whole && from.is_some() && !calls(&item) && !is_given(&item) && !waits(&item) {
                        return given.add(item);
                    }
                    given.bring(&mut item);
                    item
                })
                .collect()
        })
        .collect();
    late.iter_mut().for_each(|condition| given.bring(condition));
    let mut read = given.items;
    let computed = items.into_iter().map(|row| select(ctes.clone(), row, None, all(late.clone()))).collect();
    let limited = limit.is_some() || offset.is_some();
    if from.is_none() && read.is_empty() && early.is_empty() && !limited {
        return Some(InTurn { read: None, computed, types: Vec::new() });
    }
    if read.is_empty() {
        // A query has a column.
        read.push(Expr::integer(1, Type::Int4));
    }
    let types = read.iter().map(|item| item.ty.clone()).collect();
    let read = Query { order_by, limit, offset, locking, ..select(ctes, read, from, all(early)) };
    Some(InTurn { read: Some(read), computed, types })
}

/// What an expression calls does something each time.
fn acts(expr: &Expr, schema: &dyn Schema) -> bool {
    writes(expr, schema) || takes_number(expr)
}

/// A number of a sequence is taken, or given back, for each row; subqueries see the state before the statement as a whole.
fn takes_number(expr: &Expr) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= matches!(part.kind, ExprKind::Call { function, .. } if matches!(function.name, "nextval" | "setval"));
        !found && part.kind.query().is_none()
    });
    found
}

/// The same of the rows of a query.
fn query_acts(query: &Query, schema: &dyn Schema) -> bool {
    fn takes_numbers(query: &Query) -> bool {
        match &query.body {
            Body::Select(select) => {
                let below = matches!(&select.from, Some(From::Query { query, .. }) if takes_numbers(query));
                below || select.items.iter().any(takes_number)
            }
            Body::Values(rows) => rows.iter().flatten().any(takes_number),
            Body::Set { .. } => false,
        }
    }
    query_writes(query, schema) || takes_numbers(query)
}

fn is_given(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Default)
}

/// True for what is another value each time, such as the next number of a sequence, and for what the settings have a say in,
/// which functions of users may set: its turn is the row's. What users' functions do is told by [`writes`].
pub fn waits(expr: &Expr) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= matches!(part.kind, ExprKind::Call { function, .. }
            if function.volatility != Volatility::Immutable && function.name != VALUE);
        !found
    });
    found || !converts_immutably(expr)
}

/// An item of a select list that is computed when its turn has come: a query of it alone, from the statement's parameters and,
/// behind them, what is read for it. `None` where it is of several rows, or asks a query that calls such functions itself.
pub fn late(item: &Expr, select: &Select, outer: usize, schema: &dyn Schema) -> Option<(Query, Vec<Expr>)> {
    let grouped = !matches!(select.group_by, GroupBy::None) || select.having.is_some();
    let mut asks = false;
    walk::expr(item, &mut |part| {
        asks |= part.kind.query().is_some() && writes(part, schema);
        !asks
    });
    if grouped || asks || gathers(item) || !matches!(select.distinct, Distinct::All) {
        return None;
    }
    Some(brought(item, select, outer, schema, false))
}

/// The same of a query that another server answers, over groups of rows as well: what is computed of several rows is read.
/// `None` for a query whose rows must differ, and where the item asks a query that calls such functions itself.
pub fn late_over(item: &Expr, select: &Select, outer: usize, schema: &dyn Schema) -> Option<(Query, Vec<Expr>)> {
    let asks = walk::any(item, |part| part.kind.query().is_some() && writes(part, schema));
    if asks || !matches!(select.distinct, Distinct::All) {
        return None;
    }
    Some(brought(item, select, outer, schema, true))
}

fn brought(item: &Expr, select: &Select, outer: usize, schema: &dyn Schema, gathered: bool) -> (Query, Vec<Expr>) {
    let own = select.from.as_ref().map(From::relations).unwrap_or_default();
    let mut given = Given { own: &own, outer, schema, gathered, items: Vec::new() };
    let mut item = item.clone();
    given.bring(&mut item);
    (self::select(Vec::new(), vec![item], None, None), given.items)
}

fn all(mut conditions: Vec<Expr>) -> Option<Expr> {
    if conditions.len() < 2 { conditions.pop() } else { Some(Expr::new(ExprKind::And(conditions), Type::Bool)) }
}

fn select(ctes: Vec<Cte>, items: Vec<Expr>, from: Option<From>, filter: Option<Expr>) -> Query {
    let columns = items.iter().map(|item| OutputColumn { name: "value".to_owned(), ty: item.ty.clone() }).collect();
    let select = Select { filter, ..Select::of(items, from) };
    Query { ctes, ..Query::of(Body::Select(Box::new(select)), columns, OUTPUT) }
}

/// What is read for the rows.
struct Given<'a> {
    own: &'a [RelId],
    outer: usize,
    schema: &'a dyn Schema,
    /// What is computed of several rows is read, too.
    gathered: bool,
    items: Vec<Expr>,
}

impl Given<'_> {
    /// The parameter that brings a value.
    fn add(&mut self, value: Expr) -> Expr {
        let ty = value.ty.clone();
        let at = self.items.iter().position(|known| *known == value).unwrap_or_else(|| {
            self.items.push(value);
            self.items.len() - 1
        });
        Expr::new(ExprKind::Param(self.outer + at), ty)
    }

    /// Puts parameters in the place of columns, and of the subqueries that see the state before the statement.
    fn bring(&mut self, expr: &mut Expr) {
        walk::expr_mut(expr, &mut |part| {
            let read = match &part.kind {
                ExprKind::Column(column) => self.own.contains(&column.relation),
                ExprKind::Aggregate(_) | ExprKind::Window(_) if self.gathered => true,
                kind => kind.query().is_some() && !writes(part, self.schema),
            };
            if read {
                *part = self.add(part.clone());
            }
            !read
        });
    }
}

/// A query whose rows come one by one; derived tables that make such calls become part of it.
fn plain(query: &Query, schema: &dyn Schema) -> Option<Plain> {
    if query.with_ties {
        return None;
    }
    let (mut plain, has_rows) = match &query.body {
        Body::Values(rows) if query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none() => {
            return Some(Plain { items: rows.clone(), ..of_nothing(query) });
        }
        Body::Select(select) => {
            let grouped = !matches!(select.group_by, GroupBy::None) || select.having.is_some();
            if grouped || !matches!(select.distinct, Distinct::All) || select.items.iter().any(gathers) {
                return None;
            }
            let inner = match &select.from {
                Some(From::Query { id, query: inner, lateral: false }) if query_acts(inner, schema) => {
                    Some((*id, plain(inner, schema)?))
                }
                from => {
                    if from.as_ref().is_some_and(|from| from_writes(from, schema)) {
                        return None;
                    }
                    None
                }
            };
            let filter: Vec<Expr> = match &select.filter {
                Some(Expr { kind: ExprKind::And(parts), .. }) => parts.clone(),
                Some(condition) => vec![condition.clone()],
                None => Vec::new(),
            };
            match inner {
                None => {
                    let items = vec![select.items.clone()];
                    (Plain { items, from: select.from.clone(), filter, ..of_nothing(query) }, false)
                }
                Some((id, inner)) => (within(&select.items, filter, id, inner, schema)?, true),
            }
        }
        _ => return None,
    };
    if has_rows {
        let own = of_nothing(query);
        let sorted = !plain.order_by.is_empty() || plain.limit.is_some() || plain.offset.is_some();
        let sorts = !own.order_by.is_empty() || own.limit.is_some() || own.offset.is_some();
        if sorts || sorted && !own.locking.is_empty() {
            return None;
        }
        plain.ctes = own.ctes.into_iter().chain(plain.ctes).collect();
        return Some(plain);
    }
    for key in &mut plain.order_by {
        output_spelled(&mut key.expr, query.output, &plain.items[0])?;
        if acts(&key.expr, schema) {
            return None;
        }
    }
    Some(plain)
}

/// A query without rows yet, with all that stands around its body.
fn of_nothing(query: &Query) -> Plain {
    Plain {
        ctes: query.ctes.clone(),
        items: Vec::new(),
        from: None,
        filter: Vec::new(),
        order_by: query.order_by.clone(),
        limit: query.limit.clone(),
        offset: query.offset.clone(),
        locking: query.locking.clone(),
    }
}

/// A select list over a derived table, with the derived table's own expressions in the place of its columns.
fn within(items: &[Expr], filter: Vec<Expr>, id: RelId, inner: Plain, schema: &dyn Schema) -> Option<Plain> {
    let limited = inner.limit.is_some() || inner.offset.is_some();
    if !filter.is_empty() && (limited || inner.items.len() != 1) {
        return None;
    }
    // What a function does it does once.
    let width = inner.items.first().map_or(0, Vec::len);
    for at in 0..width {
        let uses = items.iter().chain(&filter).map(|expr| times_named(expr, id, at)).sum::<usize>();
        if uses != 1 && inner.items.iter().any(|row| acts(&row[at], schema)) {
            return None;
        }
    }
    let spelled = |mut expr: Expr, row: &[Expr]| {
        walk::expr_mut(&mut expr, &mut |part| match part.kind {
            ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if relation == id => {
                *part = row[at].clone();
                false
            }
            _ => true,
        });
        expr
    };
    let mut rows = Vec::with_capacity(inner.items.len());
    for row in &inner.items {
        rows.push(items.iter().map(|item| spelled(item.clone(), row)).collect());
    }
    let mut conditions = inner.filter.clone();
    conditions.extend(filter.into_iter().map(|condition| spelled(condition, &inner.items[0])));
    Some(Plain { items: rows, filter: conditions, ..inner })
}

fn times_named(expr: &Expr, id: RelId, at: usize) -> usize {
    let mut times = 0;
    walk::expr(expr, &mut |part| {
        let it = ColumnRef { relation: id, column: ColumnIndex::At(at) };
        times += usize::from(matches!(part.kind, ExprKind::Column(column) if column == it));
        true
    });
    times
}

/// A sort key with the select list's expressions in the place of output columns.
fn output_spelled(key: &mut Expr, output: RelId, items: &[Expr]) -> Option<()> {
    let mut known = true;
    walk::expr_mut(key, &mut |part| match part.kind {
        ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if relation == output => {
            match items.get(at) {
                Some(item) => *part = item.clone(),
                None => known = false,
            }
            false
        }
        _ => true,
    });
    known.then_some(())
}

/// An expression is of several rows.
fn gathers(expr: &Expr) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= matches!(part.kind, ExprKind::Aggregate(_) | ExprKind::Window(_));
        !found && part.kind.query().is_none()
    });
    found
}
