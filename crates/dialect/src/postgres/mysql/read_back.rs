//! A table that a statement changes may not be read by the statement's subqueries (errors 1093 and 1443): MySQL changes rows
//! while it reads others. What a derived table reads is read before, and so are the rows of INSERT … SELECT.

use std::sync::Arc;

use super::super::binder::Binder;
use crate::ir::{
    Body, ColumnIndex, ColumnRef, ConflictAction, CteBody, Dml, DmlAction, Expr, ExprKind, From, GroupBy, InsertSource,
    Query, Select, walk,
};
use crate::schema::Relation;
use crate::{Condition, Error, Result};

/// Where a subquery reads what is changed.
enum Read {
    /// By name.
    Table,
    /// Behind a view.
    View(Arc<Relation>),
}

impl Binder<'_> {
    /// # Errors
    /// 1093 for a change whose subqueries read the table that it changes, 1443 where a view does.
    pub(in crate::postgres) fn check_not_read(&self, dml: &Dml, called: &str, verb: &str) -> Result<()> {
        let mut changed = vec![dml.target.oid];
        changed.extend(dml.ctes.iter().filter_map(|cte| match &cte.body {
            CteBody::Dml(beside) => Some(beside.target.oid),
            CteBody::Query(_) => None,
        }));
        let mut found = None;
        let mut see = |expr: &Expr| {
            if found.is_none() {
                found = self.read_in(expr, &changed);
            }
        };
        match &dml.action {
            DmlAction::Insert { source, on_conflict, .. } => {
                match source {
                    InsertSource::Values(rows) => rows.iter().flatten().for_each(&mut see),
                    InsertSource::Query(query) => {
                        if let Body::Values(rows) = &query.body {
                            rows.iter().flatten().for_each(&mut see);
                        }
                    }
                    InsertSource::Defaults => {}
                }
                if let Some(ConflictAction::Update { assignments, .. }) = on_conflict.as_ref().map(|on| &on.action) {
                    assignments.iter().for_each(|(_, value)| see(value));
                }
            }
            DmlAction::Update { assignments, from, filter, .. } => {
                assignments.iter().for_each(|(_, value)| see(value));
                filter.iter().for_each(&mut see);
                // The join of which several tables are changed is a query of its own.
                if let Some(From::Query { query, .. }) = from {
                    of_join(query, &mut see);
                }
            }
            DmlAction::Delete { using, filter, .. } => {
                filter.iter().for_each(&mut see);
                using.iter().for_each(|using| conditions(using, &mut see));
            }
        }
        for cte in &dml.ctes {
            if let (super::changes::CHANGES, CteBody::Query(query)) = (cte.name.as_str(), &cte.body) {
                of_join(query, &mut see);
            }
        }
        match found {
            None => Ok(()),
            Some(Read::Table) if dml.view.is_some() => {
                let message =
                    format!("The definition of table '{called}' prevents operation {verb} on table '{called}'.");
                Err(Error::new(Condition::FeatureNotSupported, message).with_mysql(1443, "HY000"))
            }
            Some(Read::Table) => {
                let message = format!("You can't specify target table '{called}' for update in FROM clause");
                Err(Error::new(Condition::FeatureNotSupported, message).with_mysql(1093, "HY000"))
            }
            Some(Read::View(view)) => {
                let message =
                    format!("The definition of table '{}' prevents operation {verb} on table '{called}'.", view.name);
                Err(Error::new(Condition::FeatureNotSupported, message).with_mysql(1443, "HY000"))
            }
        }
    }

    /// How the subqueries of an expression read one of these tables.
    fn read_in(&self, expr: &Expr, changed: &[u32]) -> Option<Read> {
        let mut found = None;
        walk::expr(expr, &mut |part| match part.kind.query() {
            Some(query) if found.is_none() => {
                found = self.read_by(query, changed);
                false
            }
            _ => found.is_none(),
        });
        found
    }

    fn read_by(&self, query: &Query, changed: &[u32]) -> Option<Read> {
        match &query.body {
            Body::Select(select) => {
                // The rows that LIMIT lets a change have are no subquery that anybody has written.
                let is_place = |part: &Expr| {
                    matches!(part.kind, ExprKind::Column(ColumnRef { column: ColumnIndex::RowIdentity, .. }))
                };
                let of_limit = matches!(select.items.as_slice(), [item] if walk::any(item, is_place));
                let from = select.from.as_ref().filter(|_| !of_limit);
                let mut found = from.and_then(|from| self.read_from(from, changed));
                of_select(select, &mut |expr| {
                    if found.is_none() {
                        found = self.read_in(expr, changed);
                    }
                });
                found
            }
            Body::Set { left, right, .. } => self.read_by(left, changed).or_else(|| self.read_by(right, changed)),
            Body::Values(rows) => rows.iter().flatten().find_map(|value| self.read_in(value, changed)),
        }
    }

    fn read_from(&self, from: &From, changed: &[u32]) -> Option<Read> {
        match from {
            From::Relation { relation, .. } => changed.contains(&relation.oid).then_some(Read::Table),
            From::Query { id, query, .. } => {
                let view = self.views_behind.get(id)?;
                self.read_by(query, changed).map(|_| Read::View(Arc::clone(view)))
            }
            From::Join { left, right, .. } => self.read_from(left, changed).or_else(|| self.read_from(right, changed)),
            From::Cte { .. } | From::Kept { .. } | From::Function { .. } => None,
        }
    }
}

/// What the query over a join of changed tables computes.
fn of_join(query: &Query, see: &mut dyn FnMut(&Expr)) {
    if let Body::Select(select) = &query.body {
        of_select(select, see);
    }
}

fn of_select(select: &Select, see: &mut dyn FnMut(&Expr)) {
    select.items.iter().chain(&select.filter).chain(&select.having).for_each(&mut *see);
    if let GroupBy::Keys(keys) | GroupBy::Sets { keys, .. } = &select.group_by {
        keys.iter().for_each(&mut *see);
    }
    select.from.iter().for_each(|from| conditions(from, see));
}

/// The conditions of joins.
fn conditions(from: &From, see: &mut dyn FnMut(&Expr)) {
    if let From::Join { left, right, on, .. } = from {
        on.iter().for_each(&mut *see);
        conditions(left, see);
        conditions(right, see);
    }
}
