//! SEARCH and CYCLE: columns of a recursive query that tell in which order its rows are found, and which have been met
//! before.
//!
//! They are ordinary columns of both sides of its UNION: a list of what was met on the way, to which the recursive side
//! adds, or the depth. The recursive side sees them, but `*` does not spread them there.

use pg_query::protobuf::{self as pg, Node};

use super::binder::{Binder, BoundQuery, Scope, computed};
use super::expr::rows::{field_at, nameless};
use super::names;
use crate::ir::{
    Body, CastContext, CompareOp, CteId, Distinct, Expr, ExprKind, From, GroupBy, Query, RelId, Select, walk,
};
use crate::plan::ResultColumn;
use crate::stored_calls::may_be_volatile;
use crate::{Condition, Error, Result, Type};

/// The columns that SEARCH and CYCLE add to a recursive query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Added {
    pub(super) search: Option<Search>,
    pub(super) cycle: Option<Cycle>,
}

/// SEARCH … FIRST BY columns SET sequence
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Search {
    pub(super) columns: Vec<String>,
    pub(super) breadth: bool,
    pub(super) sequence: String,
    location: i32,
}

/// CYCLE columns SET mark TO value DEFAULT default USING path
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cycle {
    pub(super) columns: Vec<String>,
    pub(super) mark: String,
    pub(super) value: Expr,
    pub(super) default: Expr,
    pub(super) path: String,
    location: i32,
}

fn records() -> Type {
    Type::Array(Box::new(Type::RECORD))
}

fn owned(nodes: &[Node]) -> Vec<String> {
    names::strings(nodes).into_iter().map(str::to_owned).collect()
}

impl Added {
    /// The columns behind those of the query.
    fn columns(&self, known: &[ResultColumn]) -> Vec<ResultColumn> {
        let mut columns = Vec::with_capacity(3);
        if let Some(search) = &self.search {
            let nulls = known.iter().map(|column| Expr::null(column.ty.clone())).collect::<Vec<_>>();
            let ty = if search.breadth { depth(search, known, &nulls, Expr::null(Type::Int8)).ty } else { records() };
            columns.push(computed(&search.sequence, ty));
        }
        if let Some(cycle) = &self.cycle {
            columns.push(computed(&cycle.mark, cycle.value.ty.clone()));
            columns.push(computed(&cycle.path, records()));
        }
        columns
    }
}

/// The values of some columns of a row.
fn picked(names: &[String], columns: &[ResultColumn], items: &[Expr]) -> Vec<Expr> {
    let place = |name: &String| columns.iter().position(|column| column.name == *name);
    names.iter().filter_map(place).filter_map(|at| items.get(at).cloned()).collect()
}

/// `ROW(depth, columns…)`
fn depth(search: &Search, columns: &[ResultColumn], items: &[Expr], depth: Expr) -> Expr {
    let mut members = vec![depth];
    members.extend(picked(&search.columns, columns, items));
    nameless(members)
}

/// `ARRAY[ROW(columns…)]`
fn met(names: &[String], columns: &[ResultColumn], items: &[Expr]) -> Expr {
    Expr::new(ExprKind::Array(vec![nameless(picked(names, columns, items))]), records())
}

/// The relation by which the recursive side refers to the query; it must not stand within another.
pub(super) fn reference(from: &From, query: CteId) -> Option<RelId> {
    match from {
        From::Cte { id, cte, .. } if *cte == query => Some(*id),
        From::Join { left, right, .. } => reference(left, query).or_else(|| reference(right, query)),
        _ => None,
    }
}

impl Binder<'_> {
    /// What SEARCH and CYCLE say; `None` without them.
    pub(super) fn search_and_cycle(&mut self, cte: &pg::CommonTableExpr) -> Result<Option<Added>> {
        if cte.search_clause.is_none() && cte.cycle_clause.is_none() {
            return Ok(None);
        }
        let search = cte.search_clause.as_ref().map(|clause| Search {
            columns: owned(&clause.search_col_list),
            breadth: clause.search_breadth_first,
            sequence: clause.search_seq_column.clone(),
            location: clause.location,
        });
        let cycle = match &cte.cycle_clause {
            None => None,
            Some(clause) => {
                let (value, default) = self.marks(clause)?;
                Some(Cycle {
                    columns: owned(&clause.cycle_col_list),
                    mark: clause.cycle_mark_column.clone(),
                    value,
                    default,
                    path: clause.cycle_path_column.clone(),
                    location: clause.location,
                })
            }
        };
        Ok(Some(Added { search, cycle }))
    }

    fn marks(&mut self, clause: &pg::CteCycleClause) -> Result<(Expr, Expr)> {
        let mut mark =
            |node: &Option<Box<Node>>| Ok(self.with_scope(Scope::default(), |binder| binder.required(node))?.0);
        let marks = vec![mark(&clause.cycle_mark_value)?, mark(&clause.cycle_mark_default)?];
        let (marks, ty) = self.unify(marks, "CYCLE")?;
        if !ty.is_comparable() {
            let message =
                format!("could not identify an equality operator for type {}", super::types::format_type(&ty));
            return Err(Error::new(Condition::UndefinedFunction, message));
        }
        match <[Expr; 2]>::try_from(marks) {
            Ok([value, default]) => Ok((value, default)),
            Err(_) => Err(Error::internal("a mark was lost")),
        }
    }

    /// The columns that the recursive side sees behind its own; `columns` are those of the query.
    pub(super) fn added_columns(&self, added: &Added, columns: &[ResultColumn]) -> Result<Vec<ResultColumn>> {
        let known = |name: &str| columns.iter().any(|column| column.name == name);
        if let Some(search) = &added.search {
            self.check_columns("search", &search.columns, columns, search.location)?;
            if known(&search.sequence) {
                let what = format!("search sequence column name \"{}\"", search.sequence);
                return Err(self.used_already(&what, search.location));
            }
        }
        if let Some(cycle) = &added.cycle {
            self.check_columns("cycle", &cycle.columns, columns, cycle.location)?;
            for (what, name) in [("mark", &cycle.mark), ("path", &cycle.path)] {
                if known(name) {
                    return Err(self.used_already(&format!("cycle {what} column name \"{name}\""), cycle.location));
                }
            }
            if cycle.mark == cycle.path {
                let message = "cycle mark column name and cycle path column name are the same";
                return Err(self.error(Condition::SyntaxError, message, cycle.location));
            }
            if let Some(search) = &added.search {
                for (what, name) in [("mark", &cycle.mark), ("path", &cycle.path)] {
                    if *name == search.sequence {
                        let message = format!("search sequence column name and cycle {what} column name are the same");
                        return Err(self.error(Condition::SyntaxError, message, search.location));
                    }
                }
            }
        }
        Ok(added.columns(columns))
    }

    fn used_already(&self, what: &str, location: i32) -> Error {
        self.error(Condition::SyntaxError, format!("{what} already used in WITH query column list"), location)
    }

    fn check_columns(&self, what: &str, named: &[String], columns: &[ResultColumn], location: i32) -> Result<()> {
        for (at, name) in named.iter().enumerate() {
            if !columns.iter().any(|column| column.name == *name) {
                let message = format!("{what} column \"{name}\" not in WITH query column list");
                return Err(self.error(Condition::SyntaxError, message, location));
            }
            if named[..at].contains(name) {
                let message = format!("{what} column \"{name}\" specified more than once");
                return Err(self.error(Condition::DuplicateColumn, message, location));
            }
        }
        Ok(())
    }

    /// Refuses what SEARCH and CYCLE cannot be added to.
    pub(super) fn check_expandable(left: &Query, right: &Query) -> Result<()> {
        if matches!(left.body, Body::Set { .. }) {
            let message = "with a SEARCH or CYCLE clause, the left side of the UNION must be a SELECT";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        if matches!(right.body, Body::Set { .. }) {
            let message = "with a SEARCH or CYCLE clause, the right side of the UNION must be a SELECT";
            return Err(Error::new(Condition::SyntaxError, message));
        }
        Ok(())
    }

    /// The recursive query with the columns that are added to it; `columns` are its own.
    pub(super) fn extended(
        &mut self,
        added: &Added,
        name: &str,
        query: CteId,
        columns: &[ResultColumn],
        mut bound: BoundQuery,
    ) -> Result<BoundQuery> {
        let more = added.columns(columns);
        bound.columns = columns.iter().cloned().chain(more.iter().cloned()).collect();
        if self.shown.is_some() {
            // It is printed as it is written.
            return Ok(bound);
        }
        let Body::Set { left, right, .. } = &mut bound.query.body else {
            return Err(Error::internal("a recursive query that is no UNION"));
        };
        let first = std::mem::replace(&mut **left, (**right).clone());
        let own: Vec<ResultColumn> =
            first.columns.iter().map(|column| computed(&column.name, column.ty.clone())).collect();
        let mut first = BoundQuery { query: first, columns: own, places: Vec::new() }.wrapped(&mut self.ids).query;
        if let Body::Select(select) = &mut first.body {
            self.add_first(added, columns, select);
        }
        let Body::Select(select) = &mut right.body else {
            return Err(Error::internal("a recursive side that is no SELECT"));
        };
        let plain = matches!((&select.distinct, &select.group_by), (Distinct::All, GroupBy::None));
        if !plain || right.limit.is_some() || right.offset.is_some() {
            return Err(Error::unsupported("SEARCH or CYCLE over DISTINCT, GROUP BY or LIMIT"));
        }
        let Some(found) = select.from.as_ref().and_then(|from| reference(from, query)) else {
            let message = format!(
                "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{name}\" must be at the top \
                 level of its right-hand SELECT"
            );
            return Err(Error::new(Condition::FeatureNotSupported, message));
        };
        self.add_next(added, columns, select, found)?;
        **left = first;
        for side in [left, right] {
            side.columns.extend(super::binder::outputs(&more));
        }
        bound.query.columns.extend(super::binder::outputs(&more));
        Ok(bound)
    }

    /// What a row has with which the search begins.
    fn add_first(&mut self, added: &Added, columns: &[ResultColumn], select: &mut Select) {
        let own = select.items.clone();
        if let Some(search) = &added.search {
            select.items.push(match search.breadth {
                true => depth(search, columns, &own, Expr::integer(0, Type::Int8)),
                false => met(&search.columns, columns, &own),
            });
        }
        if let Some(cycle) = &added.cycle {
            select.items.push(cycle.default.clone());
            select.items.push(met(&cycle.columns, columns, &own));
        }
    }

    /// What a row has that follows on another, of the relation `before`.
    fn add_next(&mut self, added: &Added, columns: &[ResultColumn], select: &mut Select, before: RelId) -> Result<()> {
        let own = select.items.clone();
        let named = added.search.iter().map(|search| &search.columns);
        for names in named.chain(added.cycle.iter().map(|cycle| &cycle.columns)) {
            if picked(names, columns, &own).iter().any(is_volatile) {
                return Err(Error::unsupported("SEARCH or CYCLE by what is another value each time"));
            }
        }
        let mut place = columns.len();
        if let Some(search) = &added.search {
            if search.breadth {
                let nulls: Vec<Expr> = columns.iter().map(|column| Expr::null(column.ty.clone())).collect();
                let ty = depth(search, columns, &nulls, Expr::null(Type::Int8)).ty;
                let so_far = field_at(Expr::column(before, place, ty), 0, Type::Int8);
                let one = Expr::integer(1, Type::Int8);
                let next = self.operator("+", vec![(so_far, -1), (one, -1)], -1)?;
                select.items.push(depth(search, columns, &own, next));
            } else {
                let so_far = Expr::column(before, place, records());
                select.items.push(self.appended(so_far, met(&search.columns, columns, &own))?);
            }
            place += 1;
        }
        if let Some(cycle) = &added.cycle {
            let mark = Expr::column(before, place, cycle.value.ty.clone());
            let path = Expr::column(before, place + 1, records());
            let row = nameless(picked(&cycle.columns, columns, &own)).cast(Type::RECORD, CastContext::Implicit);
            let (arg, array) = (Box::new(row), Box::new(path.clone()));
            let known = ExprKind::QuantifiedArray { op: CompareOp::Equal, all: false, arg, array };
            let branches = vec![(Expr::new(known, Type::Bool), cycle.value.clone())];
            let otherwise = Some(Box::new(cycle.default.clone()));
            select.items.push(Expr::new(ExprKind::Case { branches, otherwise }, cycle.value.ty.clone()));
            select.items.push(self.appended(path, met(&cycle.columns, columns, &own))?);
            let goes_on = self.compare(CompareOp::NotEqual, (mark, -1), (cycle.value.clone(), -1), -1)?;
            select.filter = Some(match select.filter.take() {
                None => goes_on,
                Some(filter) => Expr::new(ExprKind::And(vec![filter, goes_on]), Type::Bool),
            });
        }
        Ok(())
    }

    fn appended(&mut self, path: Expr, row: Expr) -> Result<Expr> {
        self.operator("||", vec![(path, -1), (row, -1)], -1)
    }
}

/// True for what may be another value each time that it is computed.
pub(super) fn is_volatile(expr: &Expr) -> bool {
    walk::any(expr, |part| matches!(&part.kind, ExprKind::Call { function, .. } if may_be_volatile(function)))
}
