//! Parts of tables that call a function: none of them can stay without it.

use std::sync::Arc;

use rowferry_dialect::ir::{AlterTable, Expr, ExprKind, Value, walk};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::stored_function::StoredFunction;

use super::{Changer, Done, cannot_drop, described};

/// A part of a table.
enum Part {
    Default(usize),
    Column(usize),
    Check(String),
    Index(String),
}

impl Changer<'_> {
    /// Drops the indexes, checks, defaults and generated columns that call a function, or refuses.
    pub(super) fn drop_callers_in_tables(&self, function: &StoredFunction, shown: &str, cascade: bool) -> Done {
        let schema = self.schema();
        let tables = schema.user_relations().filter(|relation| relation.keeps_rows());
        let callers: Vec<(Arc<Relation>, Part)> = tables
            .flat_map(|table| self.callers(table, function).into_iter().map(|part| (table.clone(), part)))
            .collect();
        if callers.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = callers.iter().map(|(table, part)| self.shown_part(table, part)).collect();
        if !cascade {
            let lines: Vec<(String, String)> = names.into_iter().map(|name| (name, shown.to_owned())).collect();
            return Err(cannot_drop(shown, &lines));
        }
        self.tell_cascade(&names);
        for (table, part) in callers {
            self.settle()?;
            let current = self.current(table.oid)?;
            let place = |at: usize| current.column(&table.columns[at].name);
            let action = match part {
                Part::Default(at) => place(at).map(|column| AlterTable::SetDefault { column, default: None }),
                Part::Column(at) => place(at).map(|column| AlterTable::DropColumn { column, cascade }),
                Part::Check(name) => {
                    let known = current.checks.iter().any(|check| check.name == name);
                    known.then_some(AlterTable::DropConstraint { name, if_exists: true, cascade })
                }
                Part::Index(name) => {
                    if let Some(at) = current.indexes.iter().position(|index| index.name == name) {
                        self.remove_index(&current, at)?;
                    }
                    None
                }
            };
            if let Some(action) = action {
                self.alter_table(&current, &[action])?;
            }
        }
        self.settle()
    }

    fn callers(&self, table: &Relation, function: &StoredFunction) -> Vec<Part> {
        let calls = |text: &str| self.calls(table, text, function);
        let columns = table.columns.iter().enumerate();
        let mut parts = Vec::new();
        parts.extend(columns.clone().filter_map(|(at, column)| {
            column.default.as_ref().filter(|default| calls(&default.text)).map(|_| Part::Default(at))
        }));
        parts.extend(columns.filter_map(|(at, column)| {
            column.generated.as_ref().filter(|generated| calls(&generated.text)).map(|_| Part::Column(at))
        }));
        let checks = table.checks.iter().filter(|check| calls(&check.text));
        parts.extend(checks.map(|check| Part::Check(check.name.clone())));
        let indexes = table.indexes.iter().filter(|index| {
            let keys = index.columns.iter().zip(&index.keys).filter(|(column, _)| column.is_none());
            keys.map(|(_, key)| key.text.as_str()).chain(index.predicate.as_deref()).any(calls)
        });
        parts.extend(indexes.map(|index| Part::Index(index.name.clone())));
        parts
    }

    /// Whether an expression over a table calls a function.
    fn calls(&self, table: &Relation, text: &str, function: &StoredFunction) -> bool {
        // Without its name it cannot.
        if !text.to_lowercase().contains(&function.name.to_lowercase()) {
            return false;
        }
        let Ok(expr) = self.session.bind_expression(text, table, &self.schema()) else { return false };
        let is_it = |arg: &Expr| arg.kind == ExprKind::Literal(Value::Integer(function.oid.into()));
        let mut found = false;
        walk::expr(&expr, &mut |part| {
            if let ExprKind::Call { function, args } = &part.kind {
                found |= function.name == "stored function" && args.first().is_some_and(is_it);
            }
            !found
        });
        found
    }

    fn shown_part(&self, table: &Relation, part: &Part) -> String {
        let of = described(&self.schema(), table);
        match part {
            Part::Default(at) => format!("default value for column {} of {of}", table.columns[*at].name),
            Part::Column(at) => format!("column {} of {of}", table.columns[*at].name),
            Part::Check(name) => format!("constraint {name} on {of}"),
            Part::Index(name) => format!("index {name}"),
        }
    }
}
