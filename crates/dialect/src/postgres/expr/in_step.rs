//! Set-returning functions of a select list: each is a member of FROM.
//!
//! Several run in step: there are as many rows as the longest has, and NULL where another has fewer. One whose arguments
//! are made of another's rows stands a floor above it, and runs for each of these.

use crate::functions::{self, Function, FunctionKind};
use crate::ir::walk;
use crate::ir::{
    Aggregate, Body, ColumnIndex, ColumnRef, CompareOp, Expr, ExprKind, From, JoinKind, OutputColumn, Query, RelId,
};
use crate::plan::ResultColumn;
use crate::postgres::binder::{Binder, computed};
use crate::stored_calls::may_be_volatile;
use crate::{Error, Language, Result, Type};

impl Binder<'_> {
    /// The same call within this select list: in step, it gives the same.
    pub(super) fn twin(&mut self, function: &'static Function, args: &[Expr]) -> Option<RelId> {
        self.scope().set_returning.iter().find_map(|earlier| match earlier {
            From::Function { id, function: called, args: given, .. }
                if *called == function && given == args && !is_volatile(earlier) =>
            {
                Some(*id)
            }
            _ => None,
        })
    }

    /// Lets the set-returning functions of a select list, in the order of their binding, join what stands in FROM.
    pub(in crate::postgres) fn join_set_returning(&mut self, query: &mut Query, functions: Vec<From>) -> Result<()> {
        let Body::Select(select) = &mut query.body else { return Err(Error::internal("sets of rows in no SELECT")) };
        let rows: Vec<(RelId, usize)> = functions.iter().filter_map(of_rows).collect();
        let from = self.with_set_returning(select.from.take(), functions)?;
        let numbered: Vec<(RelId, usize)> =
            rows.into_iter().filter(|(id, _)| from.as_ref().is_some_and(|from| is_numbered(from, *id))).collect();
        if !numbered.is_empty() {
            let items = select.items.iter_mut().chain(query.order_by.iter_mut().map(|key| &mut key.expr));
            items.for_each(|item| absent_rows(item, &numbered));
        }
        select.from = from;
        Ok(())
    }

    /// FROM, and the set-returning functions of the select list.
    pub(super) fn with_set_returning(&mut self, from: Option<From>, functions: Vec<From>) -> Result<Option<From>> {
        let mut floors: Vec<Vec<From>> = Vec::new();
        for function in functions {
            // Those that it refers to were bound before it.
            let above = |floor: &Vec<From>| floor.iter().any(|below| ids(below).any(|id| refers_to(&function, id)));
            let floor = floors.iter().rposition(above).map_or(0, |below| below + 1);
            if floor == floors.len() {
                floors.push(Vec::new());
            }
            floors[floor].push(function);
        }
        let mut from = from;
        for mut floor in floors {
            from = Some(match (floor.len(), floor.pop()) {
                (1, Some(function)) => beside(from, function),
                (_, Some(last)) => {
                    floor.push(last);
                    self.in_step(from, floor)?
                }
                (_, None) => return Err(Error::internal("a floor without functions")),
            });
        }
        Ok(from)
    }

    fn in_step(&mut self, from: Option<From>, functions: Vec<From>) -> Result<From> {
        let counts = |function: &From| matches!(function, From::Function { columns, .. } if columns.len() == 1);
        if functions.iter().any(takes_columns) && functions.iter().all(|each| counts(each) && !is_volatile(each)) {
            return self.counted(from, functions);
        }
        let mut joined: Option<(From, Vec<Expr>)> = None;
        for function in functions {
            let (member, number) = self.numbered(function)?;
            joined = Some(match joined {
                None => (member, vec![number]),
                Some((left, mut numbers)) => {
                    let met = Self::first_of(numbers.clone());
                    let on = self.compare(CompareOp::Equal, (met, -1), (number.clone(), -1), -1)?;
                    numbers.push(number);
                    let (left, right) = (Box::new(left), Box::new(member));
                    (From::Join { kind: JoinKind::Full, left, right, on: Some(on) }, numbers)
                }
            });
        }
        let Some((joined, _)) = joined else { return Err(Error::internal("no functions in step")) };
        Ok(beside(from, joined))
    }

    /// A function as a query with its rows numbered; and where it has its numbers.
    fn numbered(&mut self, function: From) -> Result<(From, Expr)> {
        let From::Function { id, function, args, columns, .. } = function else {
            return Err(Error::internal("a member that is no function"));
        };
        let inner = self.ids.relation();
        let columns = numbered(columns);
        let member = |(at, column): (usize, &OutputColumn)| Expr::column(inner, at, column.ty.clone());
        let items = columns.iter().enumerate().map(member).collect();
        let results: Vec<ResultColumn> =
            columns.iter().map(|column| computed(&column.name, column.ty.clone())).collect();
        let number = Expr::column(id, columns.len() - 1, Type::Int8);
        let from = From::Function { id: inner, function, args, columns, ordinality: true };
        let query = self.plain_select(items, Some(from), &results);
        Ok((From::Query { id, query: Box::new(query), lateral: false }, number))
    }

    /// Functions of columns on their left: numbers up to the length of the longest, and beside each the member of every
    /// function that has this number.
    fn counted(&mut self, from: Option<From>, functions: Vec<From>) -> Result<From> {
        let lengths = functions.iter().map(|function| self.length(function)).collect::<Result<Vec<Expr>>>()?;
        let longest = Expr::new(ExprKind::Greatest(lengths), Type::Int8);
        let series =
            self.find_function("generate_series", &[Type::Int8, Type::Int8], |kind| kind == FunctionKind::SetReturning);
        let Ok(series) = series else { return Err(Error::internal("no generate_series")) };
        let args = self.arguments(&series, vec![(Expr::integer(1, Type::Int8), -1), (longest, -1)])?;
        let id = self.ids.relation();
        let number = Expr::column(id, 0, Type::Int8);
        let columns = vec![OutputColumn { name: "number".to_owned(), ty: Type::Int8 }];
        let numbers = From::Function { id, function: series.function, args, columns, ordinality: false };
        let mut joined = beside(from, numbers);
        for function in functions {
            let From::Function { id, function, args, columns, .. } = function else {
                return Err(Error::internal("a member that is no function"));
            };
            let columns = numbered(columns);
            let its = Expr::column(id, columns.len() - 1, Type::Int8);
            let on = self.compare(CompareOp::Equal, (its, -1), (number.clone(), -1), -1)?;
            let right = From::Function { id, function, args, columns, ordinality: true };
            let (left, right) = (Box::new(joined), Box::new(right));
            joined = From::Join { kind: JoinKind::Left, left, right, on: Some(on) };
        }
        Ok(joined)
    }

    /// How many rows a function returns that returns as many the next time.
    fn length(&mut self, function: &From) -> Result<Expr> {
        let From::Function { function, args, columns, .. } = function else {
            return Err(Error::internal("a member that is no function"));
        };
        let count = functions::named(Language::Postgres, "count")
            .find(|row| row.kind == FunctionKind::Aggregate && row.args.is_empty())
            .ok_or_else(|| Error::internal("no count(*)"))?;
        let counted = Aggregate {
            function: count,
            args: Vec::new(),
            direct: Vec::new(),
            distinct: false,
            order_by: Vec::new(),
            filter: None,
        };
        let id = self.ids.relation();
        let (args, columns) = (args.clone(), columns.clone());
        let from = From::Function { id, function, args, columns, ordinality: false };
        let item = Expr::new(ExprKind::Aggregate(Box::new(counted)), Type::Int8);
        let query = self.plain_select(vec![item], Some(from), &[computed("count", Type::Int8)]);
        Ok(Expr::new(ExprKind::Scalar(Box::new(query)), Type::Int8))
    }
}

/// A function that returns rows of several columns, and how many.
fn of_rows(function: &From) -> Option<(RelId, usize)> {
    match function {
        From::Function { id, columns, .. } if columns.len() > 1 => Some((*id, columns.len())),
        _ => None,
    }
}

/// The function's rows are numbered: others are beside it, so that it may have fewer.
fn is_numbered(from: &From, function: RelId) -> bool {
    match from {
        From::Query { id, .. } => *id == function,
        From::Join { left, right, .. } => is_numbered(left, function) || is_numbered(right, function),
        _ => false,
    }
}

/// Makes NULL of the rows of functions where there is none: their numbers tell.
fn absent_rows(item: &mut Expr, functions: &[(RelId, usize)]) {
    walk::expr_mut(item, &mut |part| {
        let ExprKind::Row(members) = &part.kind else { return true };
        let first = members.first().map(|member| &member.kind);
        let Some(ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(0) })) = first else { return true };
        let Some((id, columns)) = functions.iter().find(|(id, _)| id == relation) else { return true };
        if *columns != members.len() {
            return true;
        }
        let number = Expr::column(*id, *columns, Type::Int8);
        let there = Expr::new(ExprKind::IsNull { arg: Box::new(number), negated: true }, Type::Bool);
        let row = std::mem::replace(part, Expr::null(Type::Int8));
        let ty = row.ty.clone();
        *part = Expr::new(ExprKind::Case { branches: vec![(there, row)], otherwise: None }, ty);
        false
    });
}

/// The columns, and the number of the row.
fn numbered(mut columns: Vec<OutputColumn>) -> Vec<OutputColumn> {
    columns.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
    columns
}

fn beside(left: Option<From>, right: From) -> From {
    match left {
        None => right,
        Some(left) => From::Join { kind: JoinKind::Inner, left: Box::new(left), right: Box::new(right), on: None },
    }
}

fn ids(from: &From) -> impl Iterator<Item = RelId> + '_ {
    match from {
        From::Function { id, .. } => Some(*id).into_iter(),
        _ => None.into_iter(),
    }
}

fn is_volatile(function: &From) -> bool {
    let From::Function { function: called, .. } = function else { return true };
    let mut found = may_be_volatile(called);
    walk::from(function, &mut |part| {
        found |= matches!(&part.kind, ExprKind::Call { function, .. } if may_be_volatile(function));
        !found
    });
    found
}

fn refers_to(function: &From, relation: RelId) -> bool {
    any_column(function, |column| column.relation == relation)
}

fn takes_columns(function: &From) -> bool {
    any_column(function, |_| true)
}

fn any_column(function: &From, is_it: impl Fn(&ColumnRef) -> bool) -> bool {
    let mut found = false;
    walk::from(function, &mut |part| {
        if let ExprKind::Column(column) = &part.kind {
            found |= is_it(column);
        }
        !found
    });
    found
}
