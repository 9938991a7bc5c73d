//! What an INSERT completes: columns that it leaves out, columns that number themselves, and which take no value at all.

use super::query::{BoundQuery, computed};
use crate::ir::{Body, Cte, CteBody, Expr, ExprKind, From, Ids, InsertSource, OutputColumn, Query, Value};
use crate::plan::ResultColumn;
use crate::schema::{Column, ColumnDefault};
use crate::{Error, Result, Schema, Type};

/// What stands in a column to which nobody gives a value.
#[derive(Clone, Copy)]
pub(crate) enum LeftOut<'c> {
    /// The next number of a sequence.
    Number,
    /// Its default.
    Default(&'c ColumnDefault),
    /// The default of its domain, or NULL, of which the domain is asked.
    OfDomain,
    /// What the back end stores by itself.
    ByItself,
}

impl<'c> LeftOut<'c> {
    /// Rows that are `shown` are seen by a trigger or a policy before they are written.
    pub(crate) fn of(column: &'c Column, shown: bool) -> Self {
        match (&column.identity, &column.default) {
            _ if column.generated.is_some() => Self::ByItself,
            (Some(identity), _) if identity.sequence.is_some() => Self::Number,
            (Some(_), _) => Self::ByItself,
            (None, Some(default)) if shown || !default.native || column.ty.is_constrained() => Self::Default(default),
            (None, Some(_)) => Self::ByItself,
            (None, None) if column.ty.is_constrained() || domain_default(&column.ty).is_some() => Self::OfDomain,
            (None, None) => Self::ByItself,
        }
    }
}

/// The default that a column has from its domain.
pub(crate) fn domain_default(ty: &Type) -> Option<&str> {
    match ty {
        Type::User(user) => user.domain().and_then(|domain| domain.default.as_deref()),
        _ => None,
    }
}

/// The columns that are not `given`, with what `value` says of them.
pub(crate) fn left_out(
    columns: &[Column],
    given: &[usize],
    mut value: impl FnMut(usize, &Column) -> Result<Option<Expr>>,
) -> Result<Vec<(usize, Expr)>> {
    let mut added = Vec::new();
    for (position, column) in columns.iter().enumerate() {
        if !given.contains(&position)
            && column.generated.is_none()
            && let Some(value) = value(position, column)?
        {
            added.push((position, value));
        }
    }
    Ok(added)
}

/// Rows with some values behind those that they have.
pub(crate) fn with_values(source: InsertSource, values: Vec<Expr>, ids: &mut Ids) -> InsertSource {
    match source {
        InsertSource::Defaults => InsertSource::Values(vec![values]),
        InsertSource::Values(mut rows) => {
            for row in &mut rows {
                row.extend(values.iter().cloned());
            }
            InsertSource::Values(rows)
        }
        InsertSource::Query(query) => {
            let columns: Vec<ResultColumn> =
                query.columns.iter().map(|column| computed(column.name.clone(), column.ty.clone())).collect();
            let bound = BoundQuery { query: *query, columns, places: Vec::new() };
            let mut query = bound.wrapped(ids).query;
            keep_order(&mut query, ids);
            if let Body::Select(select) = &mut query.body {
                for value in values {
                    query.columns.push(OutputColumn { name: "?column?".to_owned(), ty: value.ty.clone() });
                    select.items.push(value);
                }
            }
            InsertSource::Query(Box::new(query))
        }
    }
}

/// Sequences number the rows of a sorted query in its order: they are sorted before anything is added to them.
pub(crate) fn keep_order(query: &mut Query, ids: &mut Ids) {
    let Body::Select(select) = &mut query.body else { return };
    match select.from.take() {
        Some(From::Query { id, query: sorted, lateral: false }) if !sorted.order_by.is_empty() => {
            let (cte, columns) = (ids.cte(), sorted.columns.clone());
            query.ctes.push(Cte {
                name: "sorted".to_owned(),
                id: cte,
                recursive: false,
                materialized: Some(true),
                body: CteBody::Query(sorted),
                columns: columns.clone(),
            });
            select.from = Some(From::Cte { id, cte, columns });
        }
        from => select.from = from,
    }
}

/// The sequence that numbers a column; none where the back end does.
pub(crate) fn sequence_of(schema: &dyn Schema, column: &Column) -> Result<Option<u32>> {
    let Some(name) = column.numbering() else { return Ok(None) };
    match schema.sequence(name) {
        Some(sequence) => Ok(Some(sequence.oid)),
        None => Err(Error::internal(format!("sequence {name} of column {} is gone", column.name))),
    }
}

/// A value for a column that numbers itself, where 0 and NULL ask for the next number.
pub(crate) fn numbered(value: Expr, sequence: Option<u32>) -> Expr {
    let ty = value.ty.clone();
    let given = match value.kind {
        ExprKind::Literal(Value::Integer(0) | Value::Null) => None,
        _ => Some(Box::new(value)),
    };
    Expr::new(ExprKind::Numbered { given, sequence }, ty)
}

/// Why a column takes no value from outside.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OwnValue {
    /// It is computed from the others.
    Generated,
    /// It always numbers itself.
    Numbered,
}

impl OwnValue {
    pub(crate) fn of(column: &Column) -> Option<Self> {
        match &column.identity {
            _ if column.generated.is_some() => Some(Self::Generated),
            Some(identity) if identity.always => Some(Self::Numbered),
            _ => None,
        }
    }
}
