//! Which query an aggregate belongs to: the innermost one that a column in its arguments is of.
//!
//! `SELECT (SELECT max(a.x) FROM b) FROM a` has an aggregate of the outer query, which makes that one return one row.

use super::super::binder::{Binder, Clause, Scope};
use crate::Result;
use crate::ir::{ColumnRef, Expr, ExprKind, walk};

impl Binder<'_> {
    /// Finds the query that an aggregate with such parts belongs to, asks whether the aggregate may stand where it does
    /// in that query, and tells the query of it.
    pub(in super::super) fn claim_aggregate<'e>(
        &mut self,
        parts: impl Iterator<Item = &'e Expr>,
        place: i32,
    ) -> Result<()> {
        let columns = columns_of(parts);
        let level = self.aggregate_level(&columns);
        self.leave_to_be_grouped(&columns, level);
        let scope = &mut self.scopes[level];
        if let Err(misplaced) = scope.inside.aggregate_here(scope.clause.aggregates()) {
            let clause = scope.clause;
            return Err(self.misplaced(misplaced, clause, place));
        }
        scope.aggregates = true;
        if level + 1 < self.scopes.len() && self.scope().clause != Clause::Select {
            let feature = format!("an aggregate of an outer query in {}", self.scope().clause.words());
            return Err(self.unsupported(feature, place));
        }
        Ok(())
    }

    fn aggregate_level(&mut self, columns: &[ColumnRef]) -> usize {
        self.scope();
        let level = |column| self.scopes.iter().rposition(|scope| has_column(scope, column));
        columns.iter().filter_map(level).max().unwrap_or(self.scopes.len() - 1)
    }

    /// What the aggregate takes of queries around its own must be grouped there.
    fn leave_to_be_grouped(&mut self, columns: &[ColumnRef], level: usize) {
        for column in columns {
            let around = self.scopes[..level].iter_mut().rfind(|scope| has_column(scope, column));
            if let Some(scope) = around
                && scope.clause.aggregates()
                && !scope.inside.aggregate
            {
                scope.loose.push(*column);
            }
        }
    }
}

/// The columns in the parts of an aggregate, those of queries in them among them.
fn columns_of<'e>(parts: impl Iterator<Item = &'e Expr>) -> Vec<ColumnRef> {
    let mut columns = Vec::new();
    for part in parts {
        walk::expr(part, &mut |part| {
            if let ExprKind::Column(column) = part.kind {
                columns.push(column);
            }
            true
        });
    }
    columns
}

/// Relations of a scope are known by the columns that can be named.
fn has_column(scope: &Scope, column: &ColumnRef) -> bool {
    scope.entries.iter().any(|entry| {
        entry.relation.as_ref().is_some_and(|(id, _)| *id == column.relation)
            || entry.columns.iter().any(|known| {
                let mut found = false;
                walk::expr(&known.expr, &mut |part| {
                    found |= matches!(&part.kind, ExprKind::Column(known) if known.relation == column.relation);
                    !found
                });
                found
            })
    })
}
