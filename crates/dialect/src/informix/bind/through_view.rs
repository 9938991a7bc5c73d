//! Changes through views: of a view whose rows are one table's, the statement is bound to that table.

use std::sync::Arc;

use super::Binder;
use super::dml::statement;
use super::scope::Scope;
use crate::access::Privileges;
use crate::informix::ast::{Ast, ObjectName, Source};
use crate::ir::{self, DmlAction, Expr, From, RelId, Select, ViewCheck};
use crate::postgres::changed_views::{both, check_select, column_of, put_in_place, single_select};
use crate::schema::{CheckOption, Relation, RelationKind};
use crate::{Condition, Result};

/// The table behind a view, and what the view is of its rows.
struct Behind {
    table: Arc<Relation>,
    id: RelId,
    /// The view's columns over the table's row.
    items: Vec<Expr>,
    /// Of each, the column of the table that it is.
    columns: Vec<Option<usize>>,
    filter: Option<Expr>,
    checks: Vec<ViewCheck>,
}

impl Binder<'_> {
    /// A change through a view; `None` when no view is named.
    pub(super) fn through_view(&mut self, ast: &Ast) -> Result<Option<ir::Statement>> {
        let (name, alias, privileges, current_of) = match ast {
            Ast::Insert { table, .. } => (table, None, Privileges::INSERT, None),
            Ast::Update { table, alias, current_of, .. } => {
                (table, alias.as_ref(), Privileges::UPDATE, current_of.as_ref())
            }
            Ast::Delete { table, alias, current_of, .. } => {
                (table, alias.as_ref(), Privileges::DELETE, current_of.as_ref())
            }
            _ => return Ok(None),
        };
        let view = self.relation(name)?;
        if !matches!(view.kind, RelationKind::View { .. }) {
            return Ok(None);
        }
        if current_of.is_some() {
            return self.unsupported("WHERE CURRENT OF in a view", name.at);
        }
        let mark = self.needs.mark();
        self.scopes.push(Scope::default());
        let rows = self.source(&Source::Table { name: name.clone(), alias: alias.cloned() })?;
        let From::Query { id: shown, query, .. } = rows else {
            return Err(crate::Error::internal("a view is a query"));
        };
        let behind = self.behind(&view, *query, name, false)?;
        self.needs.change(mark, behind.id, privileges);
        self.needs.change_behind(mark, behind.id, privileges);
        let in_table = |expr: &mut Expr| put_in_place(expr, shown, &behind.items);
        let action = match ast {
            Ast::Insert { columns, source, .. } => {
                // The statement's values do not see the view's rows.
                self.scopes.pop();
                let all = || view.columns.iter().map(|column| (column.name.clone(), name.at)).collect();
                let named: Vec<(String, usize)> = if columns.is_empty() { all() } else { columns.clone() };
                let mut stored = Vec::with_capacity(named.len());
                for (column, at) in &named {
                    let place = self.stored(&view, &behind, column, *at)?;
                    stored.push((behind.table.columns[place].name.clone(), *at));
                }
                self.insert(&behind.table, &stored, source, name.at)?
            }
            Ast::Update { set, filter, .. } => {
                let mut assignments = self.assignments(&view, set)?;
                for (at, value) in &mut assignments {
                    let place = self.stored(&view, &behind, &view.columns[*at].name.clone(), name.at)?;
                    if behind.table.columns[place].identity.as_ref().is_some_and(|identity| identity.zero_is_next) {
                        return Err(self.error(
                            Condition::GeneratedAlways,
                            "a SERIAL column cannot be updated",
                            name.at,
                        ));
                    }
                    *at = place;
                    in_table(value);
                }
                let filter = filter.as_ref().map(|filter| self.condition(filter)).transpose()?;
                let filter = filter.map(|mut filter| {
                    in_table(&mut filter);
                    filter
                });
                let filter = both(behind.filter.clone(), filter);
                DmlAction::Update { assignments, from: None, filter, current_of: None }
            }
            Ast::Delete { filter, .. } => {
                let filter = filter.as_ref().map(|filter| self.condition(filter)).transpose()?;
                let filter = filter.map(|mut filter| {
                    in_table(&mut filter);
                    filter
                });
                DmlAction::Delete { using: None, filter: both(behind.filter.clone(), filter), current_of: None }
            }
            _ => return Ok(None),
        };
        self.change_columns(behind.id, &behind.table, &action);
        let checks = if matches!(action, DmlAction::Delete { .. }) { Vec::new() } else { behind.checks };
        Ok(Some(statement(behind.table, behind.id, None, action, checks)))
    }

    /// The table's column in which a value for a view's column is stored.
    fn stored(&self, view: &Relation, behind: &Behind, name: &str, at: usize) -> Result<usize> {
        let Some(column) = view.column(name) else {
            let message = format!("column ({name}) not found in any table in the query");
            return Err(self.error(Condition::UndefinedColumn, message, at).column(name));
        };
        match behind.columns.get(column) {
            Some(Some(place)) => Ok(*place),
            _ => self.unsupported(&format!("a value for the column ({name}), which the view computes,"), at),
        }
    }

    /// The table behind a view, through views of views; `checked` says that a view above asks for the conditions of those
    /// below it.
    fn behind(&mut self, view: &Arc<Relation>, query: ir::Query, name: &ObjectName, checked: bool) -> Result<Behind> {
        let RelationKind::View { options, .. } = &view.kind else {
            return Err(crate::Error::internal("a view is a view"));
        };
        let check = options.check();
        let cannot = "changing a view that is not of the rows of one table";
        let Ok(select) = single_select(query) else { return self.unsupported(cannot, name.at) };
        if check_select(&select).is_err() {
            return self.unsupported(cannot, name.at);
        }
        let Select { mut items, mut filter, from, .. } = select;
        let (below, mut behind) = match from {
            Some(From::Relation { id, relation, .. })
                if relation.kind == RelationKind::Table && relation.bound().is_none() && !relation.is_partitioned() =>
            {
                let all = (0..relation.columns.len()).map(Some).collect();
                let items = Vec::new();
                (id, Behind { table: relation, id, items, columns: all, filter: None, checks: Vec::new() })
            }
            Some(From::Query { id, query, lateral: false }) => {
                let Some((_, inner)) = self.shown_views.iter().find(|(shown, _)| *shown == id).cloned() else {
                    return self.unsupported(cannot, name.at);
                };
                let below = checked || check == Some(CheckOption::Cascaded);
                (id, self.behind(&inner, *query, name, below)?)
            }
            _ => return self.unsupported(cannot, name.at),
        };
        let columns = items.iter().map(|item| column_of(item, below).and_then(|at| behind.columns[at])).collect();
        if !behind.items.is_empty() {
            items.iter_mut().chain(&mut filter).for_each(|expr| put_in_place(expr, below, &behind.items));
        }
        if let Some(condition) = filter.clone().filter(|_| checked || check.is_some()) {
            behind.checks.push(ViewCheck { view: view.name.clone(), condition });
        }
        behind.columns = columns;
        behind.items = items;
        behind.filter = both(behind.filter.take(), filter);
        Ok(behind)
    }
}
