//! Parts of tables that call a function or name a collation: none of them can stay without it.

use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::ir::{AlterTable, Expr, ExprKind, Value, walk};
use rowferry_dialect::schema::{Index, Relation};
use rowferry_dialect::stored_function::StoredFunction;

use super::{Changer, Done, cannot_drop, described};

/// A part of a table.
pub(super) enum Part {
    Default(usize),
    Column(usize),
    Check(String),
    Index(String),
}

impl Changer<'_> {
    /// Drops the indexes, checks, defaults and generated columns that call a function, or refuses.
    pub(super) fn drop_callers_in_tables(&self, function: &StoredFunction, shown: &str, cascade: bool) -> Done {
        let callers = self.parts_with(&|table, text| self.calls(table, text, function), &|_, _| false);
        if callers.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = callers.iter().map(|(table, part)| self.shown_part(table, part)).collect();
        if !cascade {
            let lines: Vec<(String, String)> = names.into_iter().map(|name| (name, shown.to_owned())).collect();
            return Err(cannot_drop(shown, &lines));
        }
        self.tell_cascade(&names);
        self.drop_parts(callers)
    }

    /// Drops parts of tables, as far as they have not gone with others.
    pub(super) fn drop_parts(&self, parts: Vec<(Arc<Relation>, Part)>) -> Done {
        for (table, part) in parts {
            self.settle()?;
            let Some(current) = self.schema().relation_by_oid(table.oid) else { continue };
            let cascade = true;
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

    /// The parts of tables of which a text, or an index itself, is such.
    pub(super) fn parts_with(
        &self,
        is_user: &dyn Fn(&Arc<Relation>, &str) -> bool,
        is_index: &dyn Fn(&Relation, &Index) -> bool,
    ) -> Vec<(Arc<Relation>, Part)> {
        let schema = self.schema();
        let tables = schema.user_relations().filter(|relation| relation.keeps_rows() || relation.is_partitioned());
        let parts = |table: &Arc<Relation>| {
            let parts = parts_of(table, &|text| is_user(table, text), &|index| is_index(table, index));
            parts.into_iter().map(|part| (table.clone(), part)).collect::<Vec<_>>()
        };
        tables.flat_map(parts).collect()
    }

    /// Whether an expression over a table calls a function.
    pub(super) fn calls(&self, table: &Relation, text: &str, function: &StoredFunction) -> bool {
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

    pub(super) fn shown_part(&self, table: &Relation, part: &Part) -> String {
        let of = described(&self.schema(), table);
        match part {
            Part::Default(at) => format!("default value for column {} of {of}", table.columns[*at].name),
            Part::Column(at) => format!("column {} of {of}", table.columns[*at].name),
            Part::Check(name) => format!("constraint {name} on {of}"),
            Part::Index(name) => format!("index {name}"),
        }
    }
}

fn parts_of(table: &Relation, calls: &dyn Fn(&str) -> bool, is_index: &dyn Fn(&Index) -> bool) -> Vec<Part> {
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
        keys.map(|(_, key)| key.text.as_str()).chain(index.predicate.as_deref()).any(calls) || is_index(index)
    });
    parts.extend(indexes.map(|index| Part::Index(index.name.clone())));
    parts
}
