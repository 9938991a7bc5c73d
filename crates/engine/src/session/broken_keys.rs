//! Which foreign key a change has violated, and by which row.
//!
//! The back end says neither. The change is undone when it has failed, so that the rows can be asked: which of those that it
//! was about others refer to, and which new values refer to nothing.

use std::sync::Arc;

use rowferry_dialect::functions::Volatility;
use rowferry_dialect::ir::{
    Body, CastContext, CompareOp, Dml, DmlAction, Expr, ExprKind, From, OutputColumn, Query, RelId, Select, Statement,
    Value, walk,
};
use rowferry_dialect::schema::{ForeignKey, Relation};
use rowferry_dialect::{Condition, Error, Result, Schema as _, Type, postgres};

use super::ddl::constraints::{not_present, shown};
use super::triggers::canonical_value;
use super::{Prepared, Session};
use crate::catalog::describe::target_columns;
use crate::spool::SpoolReader;

/// The other table in a question.
pub(super) const OTHER: RelId = RelId(u32::MAX - 1);

impl Session {
    /// The error of a violated foreign key with its name and the row's key, where they can be found out.
    pub(super) fn with_broken_key(&mut self, error: Error, plan: &Prepared, params: &[Value]) -> Error {
        let about_key =
            matches!(error.condition(), Condition::ForeignKeyViolation | Condition::ForeignKeyViolationByParent);
        let Statement::Dml(dml) = &plan.bound.statement else { return error };
        if !about_key || error.detail.is_some() || !dml.ctes.is_empty() || dml.family.is_some() || dml.routing.is_some()
        {
            return error;
        }
        match self.broken_key(dml, &plan.bound.params, params) {
            Ok(Some(found)) => found,
            _ => error,
        }
    }

    fn broken_key(&mut self, dml: &Dml, types: &[Type], params: &[Value]) -> Result<Option<Error>> {
        let target = dml.target.clone();
        let children: Vec<Arc<Relation>> = self.schema.children(&target).cloned().collect();
        let leading = |child: &Arc<Relation>| -> Vec<(Arc<Relation>, ForeignKey)> {
            let keys = child.foreign_keys.iter().filter(|key| !key.by_engine && key.leads_to(&target));
            keys.map(|key| (child.clone(), key.clone())).collect()
        };
        let mut keys: Vec<(Arc<Relation>, ForeignKey)> = children.iter().flat_map(leading).collect();
        // Rows that go along, or lose their key, refuse nothing themselves.
        keys.sort_by_key(|(_, key)| match dml.action {
            DmlAction::Delete { .. } => key.rules.on_delete.changes_rows(),
            _ => key.rules.on_update.changes_rows(),
        });
        for (child, key) in &keys {
            let columns = target_columns(&target, key);
            let Some(query) = still_referenced(dml, child, key, &columns) else { continue };
            let Some(values) = self.first_values(query, types, params)? else { continue };
            return Ok(Some(self.referenced(&target, child, key, &columns, &values)));
        }
        for key in target.foreign_keys.iter().filter(|key| !key.by_engine) {
            let Some(parent) = self.schema.relation(&key.target) else { continue };
            let Some(query) = self.refers_to_nothing(dml, key, &parent) else { continue };
            let Some(values) = self.first_values(query, types, params)? else { continue };
            let shown = shown(&values, &target, &key.columns, &self.settings());
            return Ok(Some(not_present(&target, key, shown.as_deref())));
        }
        Ok(None)
    }

    fn referenced(
        &self,
        target: &Relation,
        child: &Relation,
        key: &ForeignKey,
        columns: &[usize],
        values: &[Value],
    ) -> Error {
        let message = format!(
            "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
            target.name, key.name, child.name
        );
        let error = Error::new(Condition::ForeignKeyViolationByParent, message)
            .table(child.namespace.clone(), child.name.clone())
            .constraint(key.name.clone());
        let names: Vec<&str> = columns.iter().map(|at| target.columns[*at].name.as_str()).collect();
        match shown(values, target, columns, &self.settings()) {
            Some(shown) => error.detail(format!(
                "Key ({})=({shown}) is still referenced from table \"{}\".",
                names.join(", "),
                child.name
            )),
            None => error,
        }
    }

    pub(super) fn first_values(
        &mut self,
        query: Query,
        types: &[Type],
        params: &[Value],
    ) -> Result<Option<Vec<Value>>> {
        let columns: Vec<Type> = query.columns.iter().map(|column| column.ty.clone()).collect();
        let mut rows = self.rows_of(query, types, params)?;
        if !rows.advance()? {
            return Ok(None);
        }
        let settings = self.settings();
        let values = columns.iter().enumerate();
        values
            .map(|(at, ty)| canonical_value(rows.column(at).to_value(), ty, &settings))
            .collect::<Result<_>>()
            .map(Some)
    }

    /// The rows of a question about a violated constraint.
    pub(super) fn rows_of(&mut self, query: Query, types: &[Type], params: &[Value]) -> Result<SpoolReader> {
        let plan = Prepared::of_query(query, types.to_vec(), self.schema.generation(), "a violated constraint")?;
        self.run_part(&plan, params)
    }
}

pub(super) fn column(of: RelId, table: &Relation, at: usize) -> Expr {
    Expr::column(of, at, table.columns[at].ty.clone())
}

pub(super) fn equal(left: Expr, right: Expr) -> Expr {
    let right = if left.ty == right.ty { right } else { right.cast(left.ty.clone(), CastContext::Implicit) };
    let kind = ExprKind::Compare { op: CompareOp::Equal, left: Box::new(left), right: Box::new(right) };
    Expr::new(kind, Type::Bool)
}

pub(super) fn all(mut conditions: Vec<Expr>) -> Expr {
    if conditions.len() == 1 {
        return conditions.swap_remove(0);
    }
    Expr::new(ExprKind::And(conditions), Type::Bool)
}

pub(super) fn not(expr: Expr) -> Expr {
    Expr::new(ExprKind::Not(Box::new(expr)), Type::Bool)
}

/// Whether the other table has a row for which conditions hold.
pub(super) fn exists(table: &Arc<Relation>, conditions: Vec<Expr>) -> Expr {
    let from = From::Relation { id: OTHER, relation: table.clone(), filter: None };
    let query = first(vec![Expr::integer(1, Type::Int4)], Some(from), conditions);
    Expr::new(ExprKind::Exists(Box::new(query)), Type::Bool)
}

/// The first row of a query.
pub(super) fn first(items: Vec<Expr>, from: Option<From>, conditions: Vec<Expr>) -> Query {
    let columns = items.iter().map(|item| OutputColumn { name: "key".to_owned(), ty: item.ty.clone() }).collect();
    let mut select = Select::of(items, from);
    select.filter = Some(all(conditions));
    let mut query = Query::of(Body::Select(Box::new(select)), columns, RelId(u32::MAX));
    query.limit = Some(Expr::integer(1, Type::Int8));
    query
}

/// True for what is the same each time that it is asked, and does nothing else.
pub(super) fn is_plain(expr: &Expr) -> bool {
    let mut plain = true;
    walk::expr(expr, &mut |part| {
        plain &= match &part.kind {
            ExprKind::Call { function, args } if postgres::is_quiet(function, args) => true,
            ExprKind::Call { function, .. } => function.volatility != Volatility::Volatile && !function.writes,
            ExprKind::Aggregate(_) | ExprKind::Window(_) | ExprKind::Numbered { .. } | ExprKind::Default => false,
            kind => kind.query().is_none(),
        };
        plain
    });
    plain
}

/// A condition, and columns with what they are set to.
pub(super) type Rows<'d> = (Option<&'d Expr>, &'d [(usize, Expr)]);

/// The rows that a change is about: its condition, and what it sets.
pub(super) fn about(dml: &Dml) -> Option<Rows<'_>> {
    let (filter, assignments): (_, &[(usize, Expr)]) = match &dml.action {
        DmlAction::Delete { using: None, filter, current_of: None } => (filter, &[]),
        DmlAction::Update { assignments, from: None, filter, current_of: None } => (filter, assignments),
        _ => return None,
    };
    let plain = filter.iter().chain(assignments.iter().map(|(_, value)| value)).all(is_plain);
    plain.then_some((filter.as_ref(), assignments))
}

/// The keys of rows that go, or get another key, and that others refer to.
fn still_referenced(dml: &Dml, child: &Arc<Relation>, key: &ForeignKey, columns: &[usize]) -> Option<Query> {
    let (filter, assignments) = about(dml)?;
    let target = &dml.target;
    let pairs = key.columns.iter().zip(columns);
    let pairs = pairs.map(|(own, at)| equal(column(dml.id, target, *at), column(OTHER, child, *own)));
    let mut conditions: Vec<Expr> = filter.into_iter().cloned().collect();
    conditions.push(exists(child, pairs.collect()));
    if matches!(dml.action, DmlAction::Update { .. }) {
        let new = |at: &usize| assignments.iter().find(|(set, _)| set == at).map(|(_, value)| value.clone());
        let same: Vec<Expr> =
            columns.iter().filter_map(|at| Some(equal(column(dml.id, target, *at), new(at)?))).collect();
        if same.is_empty() {
            return None;
        }
        conditions.push(not(all(same)));
    }
    let from = From::Relation { id: dml.id, relation: target.clone(), filter: None };
    Some(first(columns.iter().map(|at| column(dml.id, target, *at)).collect(), Some(from), conditions))
}

impl Session {
    /// The new values of a key that no row of the other table has.
    fn refers_to_nothing(&self, dml: &Dml, key: &ForeignKey, parent: &Arc<Relation>) -> Option<Query> {
        let sets = |(set, _): &(usize, Expr)| key.columns.contains(set);
        if matches!(&dml.action, DmlAction::Update { assignments, .. } if !assignments.iter().any(sets)) {
            return None;
        }
        let rows = self.new_rows(dml)?;
        let values = rows.of(&key.columns)?;
        let columns = target_columns(parent, key);
        let pairs = values.iter().zip(&columns);
        let pairs = pairs.map(|(value, at)| equal(column(OTHER, parent, *at), value.clone())).collect();
        let mut conditions: Vec<Expr> = rows.filter.into_iter().collect();
        conditions.push(not(exists(parent, pairs)));
        conditions.extend(values.iter().map(|value| {
            let kind = ExprKind::IsNull { arg: Box::new(value.clone()), negated: true };
            Expr::new(kind, Type::Bool)
        }));
        Some(first(values, rows.from, conditions))
    }
}
