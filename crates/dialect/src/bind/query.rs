//! Bound queries, and how their columns become those of other types.

use crate::ir::{
    Body, CastContext, ColumnIndex, Distinct, Expr, ExprKind, From, Ids, OutputColumn, Query, Select, SetOp,
};
use crate::plan::ResultColumn;
use crate::{Result, Type};

/// A query with what its columns are.
pub(crate) struct BoundQuery {
    pub(crate) query: Query,
    pub(crate) columns: Vec<ResultColumn>,
    /// Where each column was written, for dialects that tell.
    pub(crate) places: Vec<i32>,
}

impl BoundQuery {
    /// Where a column was written.
    pub(crate) fn place(&self, index: usize) -> i32 {
        self.places.get(index).copied().unwrap_or(-1)
    }

    /// `SELECT all FROM (query)`.
    pub(crate) fn wrapped(self, ids: &mut Ids) -> Self {
        let Self { query, columns, places } = self;
        let query = wrapped(query, outputs(&columns), ids);
        Self { query, columns, places }
    }
}

/// The output columns of result columns.
pub(crate) fn outputs(columns: &[ResultColumn]) -> Vec<OutputColumn> {
    columns.iter().map(|column| OutputColumn { name: column.name.clone(), ty: column.ty.clone() }).collect()
}

/// A result column that is nothing but a value.
pub(crate) fn computed(name: impl Into<String>, ty: Type) -> ResultColumn {
    ResultColumn { name: name.into(), ty, origin: None, not_null: false, identity: false, listed: None }
}

/// How a dialect converts values.
pub(crate) trait Conversions {
    /// The numbers of the statement's relations.
    fn ids(&mut self) -> &mut Ids;

    /// A value as one of another type.
    fn convert(&mut self, value: Expr, to: &Type, context: CastContext, place: i32) -> Result<Expr>;

    /// Two values that differ differ as values of the other type, too.
    fn keeps_apart(&self, from: &Type, to: &Type) -> bool;

    /// The types are one, whatever their lengths: a column that is converted remains the column that it was.
    fn is_same_type(&self, a: &Type, b: &Type) -> bool;
}

/// Converts the columns of a query: in place where that cannot change which rows there are, nor their order, else around it.
///
/// `places` say where the values stand, for messages; what they leave out, the query's own places say.
pub(crate) fn converted(
    rules: &mut impl Conversions,
    bound: BoundQuery,
    wanted: &[Type],
    context: CastContext,
    places: &[i32],
) -> Result<BoundQuery> {
    if bound.columns.iter().zip(wanted).all(|(column, ty)| column.ty == *ty) {
        return Ok(bound);
    }
    let BoundQuery { mut query, mut columns, places: own } = bound;
    let place = |index: usize| places.get(index).or_else(|| own.get(index)).copied().unwrap_or(-1);
    if !is_open(rules, &query, columns.iter().map(|column| &column.ty).zip(wanted)) {
        query = wrapped(query, outputs(&columns), rules.ids());
    }
    convert_in_place(rules, &mut query, wanted, context, &place)?;
    for (column, ty) in columns.iter_mut().zip(wanted) {
        if column.ty == *ty {
            continue;
        }
        if column.ty != Type::Unknown && !rules.is_same_type(&column.ty, ty) {
            column.origin = None;
        }
        column.ty = ty.clone();
    }
    Ok(BoundQuery { query, columns, places: own })
}

/// True when columns can be converted where the query makes them.
fn is_open<'t>(
    rules: &impl Conversions,
    query: &Query,
    columns: impl Iterator<Item = (&'t Type, &'t Type)> + Clone,
) -> bool {
    let changed = columns.filter(|(from, to)| from != to);
    // Sort keys that name an output column sort by the value before its conversion; only undecided columns have no value
    // yet.
    if !query.order_by.is_empty() && changed.clone().any(|(from, _)| *from != Type::Unknown) {
        return false;
    }
    let counts_rows = match &query.body {
        Body::Select(select) => !matches!(select.distinct, Distinct::All),
        Body::Values(_) => false,
        Body::Set { op, all, .. } => *op != SetOp::Union || !all,
    };
    // Rows that differ must not become alike before they are counted.
    !counts_rows || changed.into_iter().all(|(from, to)| rules.keeps_apart(from, to))
}

fn convert_in_place(
    rules: &mut impl Conversions,
    query: &mut Query,
    wanted: &[Type],
    context: CastContext,
    place: &dyn Fn(usize) -> i32,
) -> Result<()> {
    let mut convert = |items: &mut [Expr]| {
        for (index, (item, ty)) in items.iter_mut().zip(wanted).enumerate() {
            let value = std::mem::replace(item, Expr::null(Type::Unknown));
            *item = rules.convert(value, ty, context, place(index))?;
        }
        Ok(())
    };
    match &mut query.body {
        Body::Select(select) => convert(&mut select.items)?,
        Body::Values(rows) => rows.iter_mut().try_for_each(|row| convert(row))?,
        Body::Set { left, right, .. } => {
            for side in [left, right] {
                convert_side(rules, side, wanted, context, place)?;
            }
        }
    }
    for (index, (column, ty)) in query.columns.iter_mut().zip(wanted).enumerate() {
        if column.ty == *ty {
            continue;
        }
        column.ty = ty.clone();
        for key in &mut query.order_by {
            if let ExprKind::Column(reference) = key.expr.kind
                && reference.relation == query.output
                && reference.column == ColumnIndex::At(index)
            {
                key.expr.ty = ty.clone();
            }
        }
    }
    Ok(())
}

/// Converts the columns of a side of a set operation.
fn convert_side(
    rules: &mut impl Conversions,
    side: &mut Query,
    wanted: &[Type],
    context: CastContext,
    place: &dyn Fn(usize) -> i32,
) -> Result<()> {
    let columns = || side.columns.iter().map(|column| &column.ty).zip(wanted);
    if columns().all(|(from, to)| from == to) {
        return Ok(());
    }
    if !is_open(rules, side, columns()) {
        let bare = Query::of(Body::Values(Vec::new()), Vec::new(), side.output);
        let query = std::mem::replace(side, bare);
        let columns = query.columns.clone();
        *side = wrapped(query, columns, rules.ids());
    }
    convert_in_place(rules, side, wanted, context, place)
}

/// `SELECT all FROM (query)`.
fn wrapped(query: Query, columns: Vec<OutputColumn>, ids: &mut Ids) -> Query {
    let (id, output) = (ids.relation(), ids.relation());
    let items = columns.iter().enumerate().map(|(index, column)| Expr::column(id, index, column.ty.clone())).collect();
    let from = From::Query { id, query: Box::new(query), lateral: false };
    Query::of(Body::Select(Box::new(Select::of(items, Some(from)))), columns, output)
}
