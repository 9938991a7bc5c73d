//! What SQLite's own clauses do not tell apart, told by numbers of rows: FETCH FIRST … WITH TIES, INTERSECT ALL and
//! EXCEPT ALL.

use super::query::{output_column, renamed};
use super::{Lowering, Naming, ParamForm, Repr, Sql};
use crate::functions::{self, Function, FunctionKind};
use crate::ir::{
    Body, CollateRole, Expr, ExprKind, From, OutputColumn, Query, RelId, Select, SetOp, SortKey, WindowCall,
};
use crate::{Error, Language, Result, Type};

/// Relations that are made here have numbers beyond those of the binder, and of others who make some.
fn number(query: &Query) -> u32 {
    3 << 30 | query.output.0 << 1
}

fn window_function(name: &str) -> Result<&'static Function> {
    functions::named(Language::Postgres, name)
        .find(|function| function.kind == FunctionKind::Window && function.args.is_empty())
        .ok_or_else(|| Error::internal(format!("no window function {name}")))
}

/// The number of a row among those of the same partition.
fn numbered_by(name: &str, partition_by: Vec<Expr>, order_by: Vec<SortKey>) -> Result<Expr> {
    let function = window_function(name)?;
    let call = WindowCall { function, args: Vec::new(), filter: None, partition_by, order_by, frame: None };
    Ok(Expr::new(ExprKind::Window(Box::new(call)), Type::Int8))
}

/// The rows of a query with something more of each.
fn with_more(rows: Query, id: RelId, more: Vec<Expr>) -> Query {
    let mut columns = rows.columns.clone();
    let mut items: Vec<Expr> =
        columns.iter().enumerate().map(|(at, column)| Expr::column(id, at, column.ty.clone())).collect();
    columns.extend(more.iter().map(|item| OutputColumn { name: "number".to_owned(), ty: item.ty.clone() }));
    items.extend(more);
    let select = Select::of(items, Some(From::Query { id, query: Box::new(rows), lateral: false }));
    Query::of(Body::Select(Box::new(select)), columns, RelId(id.0 + 1))
}

/// The value under the collation that a key has.
fn keyed(key: &Expr, value: Expr) -> Expr {
    match &key.kind {
        ExprKind::Collate { collation, role: role @ CollateRole::Operand { .. }, place, .. } => {
            let kind =
                ExprKind::Collate { arg: Box::new(value), collation: collation.clone(), role: *role, place: *place };
            Expr::new(kind, key.ty.clone())
        }
        _ => value,
    }
}

impl Lowering<'_> {
    /// FETCH FIRST … WITH TIES: rows behind the offset, of those peers that begin before the end.
    pub(super) fn with_ties(&mut self, query: &Query, naming: Naming) -> Result<(String, Vec<Repr>)> {
        let width = query.columns.len();
        let id = RelId(number(query));
        let mut rows = query.clone();
        (rows.with_ties, rows.limit, rows.offset) = (false, None, None);
        let mut keys = Vec::with_capacity(query.order_by.len());
        for key in std::mem::take(&mut rows.order_by) {
            let at = match (output_column(query, &key.expr), &mut rows.body) {
                (Some(at), _) => at,
                (None, Body::Select(select)) => {
                    select.items.push(key.expr.clone());
                    rows.columns.push(OutputColumn { name: "key".to_owned(), ty: key.expr.ty.clone() });
                    rows.columns.len() - 1
                }
                _ => return Err(Error::internal("a sort key that is no column of the result")),
            };
            let value = keyed(&key.expr, Expr::column(id, at, key.expr.ty.clone()));
            keys.push(SortKey { expr: value, ..key });
        }
        let place = rows.columns.len();
        let more = vec![numbered_by("row_number", Vec::new(), keys.clone())?, numbered_by("rank", Vec::new(), keys)?];
        let (sql, mut reprs) = self.query(&with_more(rows, id, more), Naming::Positions)?;
        reprs.truncate(width);
        let mut conditions = Vec::new();
        let offset = match &query.offset {
            Some(offset) => self.row_count(offset, ParamForm::Offset, "rf_offset")?,
            None => "0".to_owned(),
        };
        conditions.push(format!("c{place} > {offset}"));
        if let Some(limit) = &query.limit {
            let limit = self.row_count(limit, ParamForm::Limit, "rf_limit")?;
            conditions.push(format!("({limit} < 0 OR {limit} > 0 AND c{} <= {offset} + {limit})", place + 1));
        }
        let columns = if width == 0 { "NULL".to_owned() } else { renamed(query, naming) };
        let conditions = conditions.join(" AND ");
        Ok((format!("SELECT {columns} FROM ({sql}) WHERE {conditions} ORDER BY c{place}"), reprs))
    }

    /// INTERSECT ALL and EXCEPT ALL: the first of equal rows meets the first, the second the second.
    pub(super) fn set_of_all(&mut self, op: SetOp, left: &Query, right: &Query) -> Result<String> {
        let numbered = |query: &Query| {
            let id = RelId(number(query));
            let row = query.columns.iter().enumerate().map(|(at, column)| Expr::column(id, at, column.ty.clone()));
            let more = vec![numbered_by("row_number", row.collect(), Vec::new())?];
            Ok(with_more(query.clone(), id, more))
        };
        let (left, right) = (numbered(left)?, numbered(right)?);
        let sql = self.set(op, false, &left, &right)?;
        let width = left.columns.len() - 1;
        let columns: Vec<String> = (left.columns[..width].iter().enumerate())
            .map(|(at, column)| {
                let repr = super::repr_of(&column.ty);
                let sql = self.with_collation(Sql { sql: format!("c{at}"), repr }, &column.ty).sql;
                format!("{sql} AS c{at}")
            })
            .collect();
        let columns = if columns.is_empty() { "NULL".to_owned() } else { columns.join(", ") };
        Ok(format!("SELECT {columns} FROM ({sql})"))
    }
}
