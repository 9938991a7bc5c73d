//! Which row of a change a constraint has refused.
//!
//! The back end names the constraint. The change is undone when it has failed, so that the rows which it would have
//! written can be asked again: which of them is the first that the constraint does not let in.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rowferry_dialect::functions::Volatility;
use rowferry_dialect::ir::build::row_identity;
use rowferry_dialect::ir::{
    Body, ColumnIndex, CteBody, Dml, DmlAction, Expr, ExprKind, From, InsertSource, OutputColumn, Query, RelId, Select,
    Statement, Text, Value, walk,
};
use rowferry_dialect::schema::{Index, Relation};
use rowferry_dialect::{Condition, Error, Language, Result, Type, postgres, values};

use super::broken_keys::{OTHER, about, column, equal, exists, first, is_plain, not};
use super::triggers::canonical_value;
use super::{Prepared, Session};
use crate::backend::errors::row_text;

/// The rows of an INSERT in a question.
const NEW: RelId = RelId(u32::MAX - 2);
/// How many rows are looked at for one that shares its key.
const MOST_ROWS: usize = 10_000;

/// The rows that a change would write.
pub(super) struct NewRows {
    pub(super) from: Option<From>,
    /// What each column of the table gets; `None` where that cannot be told again.
    values: Vec<Option<Expr>>,
    pub(super) filter: Option<Expr>,
}

impl NewRows {
    /// The new values of some columns.
    pub(super) fn of(&self, columns: &[usize]) -> Option<Vec<Expr>> {
        columns.iter().map(|at| self.values.get(*at)?.clone()).collect()
    }

    /// An expression over the table's columns, over the new row.
    fn over(&self, mut expr: Expr) -> Option<Expr> {
        let mut known = true;
        walk::expr_mut(&mut expr, &mut |part| {
            let ExprKind::Column(read) = &part.kind else { return known && part.kind.query().is_none() };
            let new = match read.column {
                ColumnIndex::At(at) if read.relation == Text::TABLE => self.values.get(at).cloned().flatten(),
                _ => None,
            };
            match new {
                Some(new) => *part = new,
                None => known = false,
            }
            false
        });
        known.then_some(expr)
    }
}

impl Session {
    /// The error of a constraint with the row that it is about, where that can be found out.
    pub(super) fn with_failing_row(&mut self, error: Error, plan: &Prepared, params: &[Value]) -> Error {
        let Statement::Dml(dml) = &plan.bound.statement else { return error };
        let asked;
        let dml = match self.language() {
            // It is asked again, and neither counts nor warns.
            Language::Mysql => {
                let mut again = dml.clone();
                walk::dml_mut(&mut again, &mut |part| {
                    postgres::quieten(part);
                    true
                });
                asked = again;
                &asked
            }
            _ => dml,
        };
        let about_row = matches!(
            error.condition(),
            Condition::NotNullViolation | Condition::CheckViolation | Condition::UniqueViolation
        );
        let own = error.table.as_deref() == Some(dml.target.name.as_str());
        if !about_row || !own || error.detail.is_some() {
            return error;
        }
        if error.condition() == Condition::UniqueViolation {
            return match self.shared_key(&error, dml, &plan.bound.params, params) {
                Ok(Some(detail)) => error.detail(detail),
                _ => error,
            };
        }
        match self.failing_row(&error, dml, &plan.bound.params, params) {
            Ok(Some(row)) => error.failing_row(row),
            _ => error,
        }
    }

    fn failing_row(
        &mut self,
        error: &Error,
        dml: &Dml,
        types: &[Type],
        params: &[Value],
    ) -> Result<Option<Vec<String>>> {
        let target = dml.target.clone();
        let names = |relation: &Relation| relation.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        if dml.heir.as_ref().is_some_and(|heir| names(&heir.head) != names(&target)) {
            // PostgreSQL shows the row as one of the table that the statement names.
            return Ok(None);
        }
        let Some(mut rows) = self.new_rows(dml) else { return Ok(None) };
        for (at, column) in target.columns.iter().enumerate() {
            if let Some(generated) = &column.generated {
                let expr = self.bind_expression(&generated.text, &target, &self.schema)?;
                rows.values[at] = rows.over(expr);
            }
        }
        let every: Vec<usize> = (0..target.columns.len()).collect();
        let Some(items) = rows.of(&every) else { return Ok(None) };
        let refused = match (error.condition(), &error.column, &error.constraint) {
            (Condition::NotNullViolation, Some(name), _) => {
                let Some(at) = target.column(name) else { return Ok(None) };
                Expr::new(ExprKind::IsNull { arg: Box::new(items[at].clone()), negated: false }, Type::Bool)
            }
            (Condition::CheckViolation, _, Some(name)) => {
                let Some(check) = target.checks.iter().find(|check| check.name == *name) else { return Ok(None) };
                let expr = self.bind_expression(&check.text, &target, &self.schema)?;
                match rows.over(expr) {
                    Some(expr) => not(expr),
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let conditions = rows.filter.into_iter().chain([refused]).collect();
        let found = self.first_values(first(items, rows.from, conditions), types, params)?;
        Ok(found.map(|row| row_text(&target, &row, &self.settings())))
    }

    /// The first key that a row to be written shares with another row, as PostgreSQL meets them: in the order of the rows.
    fn shared_key(&mut self, error: &Error, dml: &Dml, types: &[Type], params: &[Value]) -> Result<Option<String>> {
        let target = dml.target.clone();
        let meant = |index: &&Index| Some(&index.name) == error.constraint.as_ref();
        let Some(index) = target.indexes.iter().find(meant) else { return Ok(None) };
        let columns: Option<Vec<usize>> = index.columns.iter().copied().collect();
        let Some(columns) = columns.filter(|_| index.predicate.is_none() && !index.nulls_alike) else {
            return Ok(None);
        };
        let Some(rows) = self.new_rows(dml) else { return Ok(None) };
        let Some(mut items) = rows.of(&columns) else { return Ok(None) };
        let pairs = items.iter().zip(&columns);
        let pairs = pairs.map(|(value, at)| equal(column(OTHER, &target, *at), value.clone())).collect();
        let updates = matches!(dml.action, DmlAction::Update { .. });
        if updates && target.without_identity {
            return Ok(None);
        }
        items.push(holder(&target, pairs, updates));
        items.push(if updates { row_identity(dml.id) } else { Expr::integer(0, Type::Int8) });
        let mut query = first(items, rows.from, rows.filter.into_iter().chain([Expr::bool(true)]).collect());
        query.limit = Some(Expr::integer(MOST_ROWS as i64, Type::Int8));
        let mut read = self.rows_of(query, types, params)?;
        let settings = self.settings();
        let (mut written, mut moved) = (HashSet::new(), HashMap::new());
        while read.advance()? {
            let value = |at: usize| read.column(at).to_value();
            let key = columns.iter().enumerate();
            let key: Vec<Value> = key
                .map(|(place, at)| canonical_value(value(place), &target.columns[*at].ty, &settings))
                .collect::<Result<_>>()?;
            if key.contains(&Value::Null) {
                continue;
            }
            let shown: Vec<String> = (key.iter().zip(&columns))
                .map(|(value, at)| values::output(value, &target.columns[*at].ty, &settings))
                .collect::<Result<_>>()?;
            let (held_by, own) = (value(columns.len()), value(columns.len() + 1));
            let held = match (&held_by, &own) {
                (Value::Integer(holder), Value::Integer(own)) if updates => {
                    holder != own && !moved.contains_key(holder)
                }
                (held, _) => *held == Value::Integer(1),
            };
            if held || !written.insert(shown.clone()) {
                let names: Vec<&str> = columns.iter().map(|at| target.columns[*at].name.as_str()).collect();
                return Ok(Some(format!("Key ({})=({}) already exists.", names.join(", "), shown.join(", "))));
            }
            if let Value::Integer(own) = own {
                moved.insert(own, ());
            }
        }
        Ok(None)
    }

    /// The rows that a change would write; `None` where asking for them again could answer otherwise.
    pub(super) fn new_rows(&self, dml: &Dml) -> Option<NewRows> {
        let target = &dml.target;
        let simple = dml.ctes.is_empty() && dml.family.is_none() && dml.routing.is_none() && dml.view.is_none();
        if !simple || dml.guards.is_some() || target.language == Language::Informix {
            return None;
        }
        let (columns, source) = match &dml.action {
            // Of several rows, those that are there already are not written.
            DmlAction::Insert { columns, source, on_conflict }
                if on_conflict.is_none() || matches!(source, InsertSource::Values(rows) if rows.len() == 1) =>
            {
                (columns, source)
            }
            DmlAction::Update { .. } => {
                let (filter, assignments) = about(dml)?;
                let new = |at: usize| {
                    let set = assignments.iter().find(|(set, _)| *set == at).map(|(_, value)| value.clone());
                    Some(set.unwrap_or_else(|| column(dml.id, target, at))).filter(|new| new.kind != ExprKind::Default)
                };
                return Some(NewRows {
                    from: Some(From::Relation { id: dml.id, relation: target.clone(), filter: None }),
                    values: (0..target.columns.len()).map(new).collect(),
                    filter: filter.cloned(),
                });
            }
            _ => return None,
        };
        let types: Vec<Type> = columns.iter().map(|at| target.columns[*at].ty.clone()).collect();
        let outputs = || types.iter().map(|ty| OutputColumn { name: "value".to_owned(), ty: ty.clone() }).collect();
        let query = match source {
            InsertSource::Values(rows) => {
                let told = |(value, at): (&Expr, &usize)| match &value.kind {
                    ExprKind::Default | ExprKind::Numbered { given: None, .. } => self.default_again(target, *at),
                    ExprKind::Numbered { given: Some(given), .. } => self.plain_again((**given).clone()),
                    _ => self.plain_again(value.clone()),
                };
                let rows = rows.iter().map(|row| row.iter().zip(columns).map(told).collect::<Option<Vec<_>>>());
                Query::of(Body::Values(rows.collect::<Option<_>>()?), outputs(), RelId(NEW.0 - 1))
            }
            InsertSource::Query(query) => {
                let mut plain = !query.ctes.iter().any(|cte| matches!(cte.body, CteBody::Dml(_)));
                walk::query(query, &mut |part| {
                    if let ExprKind::Call { function, args } = &part.kind
                        && !postgres::is_quiet(function, args)
                    {
                        plain &= function.volatility != Volatility::Volatile && !function.writes;
                    }
                    plain
                });
                if !plain {
                    return None;
                }
                (**query).clone()
            }
            InsertSource::Defaults => {
                let select = Select::of(vec![Expr::integer(1, Type::Int4)], None);
                let output = OutputColumn { name: "value".to_owned(), ty: Type::Int4 };
                Query::of(Body::Select(Box::new(select)), vec![output], RelId(NEW.0 - 1))
            }
        };
        let value = |at: usize| match columns.iter().position(|column| *column == at) {
            Some(place) if !matches!(source, InsertSource::Defaults) => {
                Some(Expr::column(NEW, place, types[place].clone()))
            }
            _ => self.default_again(target, at),
        };
        Some(NewRows {
            values: (0..target.columns.len()).map(value).collect(),
            from: Some(From::Query { id: NEW, query: Box::new(query), lateral: false }),
            filter: None,
        })
    }

    /// What a column has that a row is given nothing for.
    fn default_again(&self, target: &Relation, at: usize) -> Option<Expr> {
        let column = &target.columns[at];
        // A number that nobody was told is no value of a key that was met.
        if column.identity.is_some() && target.language == Language::Mysql {
            return Some(Expr::null(column.ty.clone()));
        }
        if column.identity.is_some() || column.generated.is_some() {
            return None;
        }
        match &column.default {
            None => Some(Expr::null(column.ty.clone())),
            Some(default) => {
                let context = self.postgres_context();
                let bound = postgres::bind_default(&default.text, &column.ty, &self.schema, &context).ok()?;
                self.plain_again(bound)
            }
        }
    }

    /// An expression without what is another at each call: a sequence's number is the last that was given.
    fn plain_again(&self, mut expr: Expr) -> Option<Expr> {
        walk::expr_mut(&mut expr, &mut |part| {
            let ExprKind::Call { function, args } = &part.kind else { return true };
            if function.name != "nextval" {
                return true;
            }
            if let Some(ExprKind::Literal(Value::Integer(oid))) = args.first().map(|arg| &arg.kind)
                && let Some(last) = u32::try_from(*oid).ok().and_then(|oid| self.state.sequences.lock().current(oid))
            {
                part.kind = ExprKind::Literal(Value::Integer(last));
            }
            false
        });
        is_plain(&expr).then_some(expr)
    }
}

/// Which row has these values already; for rows that are new, whether one has.
fn holder(target: &Arc<Relation>, pairs: Vec<Expr>, updates: bool) -> Expr {
    if !updates {
        return exists(target, pairs);
    }
    let from = From::Relation { id: OTHER, relation: target.clone(), filter: None };
    let query = first(vec![row_identity(OTHER)], Some(from), pairs);
    Expr::new(ExprKind::Scalar(Box::new(query)), Type::Int8)
}
