//! ROWS FROM with several functions: their rows stand side by side, and where one has fewer than another, its columns are
//! NULL.
//!
//! They are joined by the numbers of their rows, in a query of its own: a lateral one, since what the functions are told
//! may come from relations beside it.

use pg_query::protobuf::{self as pg, Node};

use super::function::FunctionSource;
use crate::ir::{CompareOp, Expr, ExprKind, From, JoinKind, OutputColumn, RelId, SortKey};
use crate::plan::ResultColumn;
use crate::postgres::binder::{Binder, Entry, computed};
use crate::postgres::viewdef::Called;
use crate::{Error, Result, Type};

/// A query whose last column numbers its rows.
struct Numbered {
    from: From,
    id: RelId,
    columns: Vec<OutputColumn>,
}

impl Numbered {
    fn number(&self) -> Expr {
        Expr::column(self.id, self.columns.len(), Type::Int8)
    }

    fn values(&self) -> impl Iterator<Item = Expr> {
        self.columns.iter().enumerate().map(|(at, column)| Expr::column(self.id, at, column.ty.clone()))
    }
}

fn ordinality() -> OutputColumn {
    OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 }
}

impl Binder<'_> {
    /// ROWS FROM (f(…), g(…), …)
    pub(super) fn rows_from(&mut self, range: &pg::RangeFunction, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        let mut name = None;
        let mut together: Option<Numbered> = None;
        let mut calls = Vec::new();
        for item in &range.functions {
            let source = self.numbered_source(item, left)?;
            name.get_or_insert_with(|| source.name.clone());
            calls.extend(self.take_call(&source.from));
            let numbered = self.with_number(source)?;
            together = Some(match together {
                None => numbered,
                Some(first) => self.side_by_side(first, numbered)?,
            });
        }
        let Some(Numbered { from, id, mut columns }) = together else { return Err(Error::internal("no functions")) };
        if range.ordinality {
            columns.push(ordinality());
        }
        if calls.len() == range.functions.len() {
            self.note_call(&from, || Called::Together(calls), range.ordinality, None);
        }
        let results: Vec<ResultColumn> = columns.into_iter().map(|column| computed(column.name, column.ty)).collect();
        let alias = range.alias.as_ref();
        let name = name.unwrap_or_default();
        let mut entry = Entry::of_columns(alias.map_or(name.as_str(), |alias| &alias.aliasname), id, &results);
        self.rename(&mut entry, alias, -1)?;
        Ok((from, vec![entry]))
    }

    /// One of the functions, its rows numbered.
    fn numbered_source(&mut self, item: &Node, left: &[Entry]) -> Result<FunctionSource> {
        let alone =
            pg::RangeFunction { functions: vec![item.clone()], ordinality: true, ..pg::RangeFunction::default() };
        self.function_source(&alone, left)
    }

    /// The values of a function, whose last one is the number of the row.
    fn with_number(&mut self, source: FunctionSource) -> Result<Numbered> {
        let inner = match &source.from {
            From::Function { id, .. } | From::Query { id, .. } => *id,
            _ => return Err(Error::internal("a function in FROM that is none")),
        };
        let FunctionSource { from, mut columns, mut values, .. } = source;
        if values.is_empty() {
            let column = |(at, column): (usize, &OutputColumn)| Expr::column(inner, at, column.ty.clone());
            values = columns.iter().enumerate().map(column).collect();
        }
        let results: Vec<ResultColumn> =
            columns.iter().map(|column| computed(column.name.clone(), column.ty.clone())).collect();
        let query = self.plain_select(values, Some(from), &results);
        columns.pop();
        let id = self.ids.relation();
        Ok(Numbered { from: From::Query { id, query: Box::new(query), lateral: true }, id, columns })
    }

    /// The rows of both side by side.
    fn side_by_side(&mut self, left: Numbered, right: Numbered) -> Result<Numbered> {
        let on = self.compare(CompareOp::Equal, (left.number(), -1), (right.number(), -1), -1)?;
        let number = Expr::new(ExprKind::Coalesce(vec![left.number(), right.number()]), Type::Int8);
        let mut items: Vec<Expr> = left.values().chain(right.values()).collect();
        items.push(number.clone());
        let mut columns = left.columns;
        columns.extend(right.columns);
        let mut results: Vec<ResultColumn> =
            columns.iter().map(|column| computed(column.name.clone(), column.ty.clone())).collect();
        results.push(computed("ordinality", Type::Int8));
        let (left, right) = (Box::new(left.from), Box::new(right.from));
        let from = From::Join { kind: JoinKind::Full, left, right, on: Some(on) };
        let mut query = self.plain_select(items, Some(from), &results);
        query.order_by = vec![SortKey { expr: number, descending: false, nulls_first: false }];
        let id = self.ids.relation();
        Ok(Numbered { from: From::Query { id, query: Box::new(query), lateral: true }, id, columns })
    }
}
