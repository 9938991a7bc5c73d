//! CREATE, ALTER and DROP of collations.

use std::sync::Arc;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::ir::{AlterTable, CollationChange};
use rowferry_dialect::postgres::quote_ident;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Language, Schema as _};

use super::{Changer, Done, cannot_drop, described};
use crate::backend::Fact;
use crate::schema::SessionSchema;

impl Changer<'_> {
    pub(super) fn change_collation(&self, change: &CollationChange) -> Done {
        let update = |fact: Fact, collation: &Collation, value: Option<&str>| -> Done {
            self.store.change_entry("main", collation.oid, fact, value)?;
            self.touch_collation(collation)
        };
        match change {
            CollationChange::Create { name, definition } => {
                let namespace = name.schema.as_deref().unwrap_or("public");
                let text = Some(definition.as_str());
                self.record("main", "collation", namespace, &name.name, None, Language::Postgres, text)?;
            }
            CollationChange::Rename { collation, to } => update(Fact::Name, collation, Some(to))?,
            CollationChange::SetSchema { collation, to } => update(Fact::Namespace, collation, Some(to))?,
            CollationChange::Comment { collation, text } => update(Fact::Comment, collation, text.as_deref())?,
            CollationChange::Drop { collations, cascade } => {
                collations.iter().try_for_each(|collation| self.drop_collation(collation, *cascade))?;
            }
        }
        self.bump()
    }

    /// The tables whose columns are in it tell its name.
    fn touch_collation(&self, collation: &Collation) -> Done {
        self.touch("main", collation.oid);
        for (table, _) in columns_in(&self.schema(), collation) {
            self.touch(table.physical.database, table.oid);
        }
        Ok(())
    }

    pub(super) fn drop_collation(&self, collation: &Collation, cascade: bool) -> Done {
        let schema = self.schema();
        let used = columns_in(&schema, collation);
        let shown = format!("collation {}", shown(&schema, collation));
        let column = |(table, at): &(Arc<Relation>, usize)| {
            format!("column {} of {}", quote_ident(&table.columns[*at].name), described(&schema, table))
        };
        if !(cascade || used.is_empty()) {
            let lines: Vec<_> = used.iter().map(|user| (column(user), shown.clone())).collect();
            return Err(cannot_drop(&shown, &lines));
        }
        self.tell_cascade(&used.iter().map(column).collect::<Vec<_>>());
        for (table, at) in &used {
            self.settle()?;
            let Some(now) = self.schema().relation_by_oid(table.oid) else { continue };
            let Some(column) = now.column(&table.columns[*at].name) else { continue };
            self.alter_table(&now, &[AlterTable::DropColumn { column, cascade: true }])?;
        }
        self.forget("main", collation.oid)?;
        self.settle()
    }
}

/// The columns that are in a collation.
fn columns_in(schema: &SessionSchema, collation: &Collation) -> Vec<(Arc<Relation>, usize)> {
    let mut found = Vec::new();
    for relation in schema.user_relations() {
        for (at, column) in relation.columns.iter().enumerate() {
            if column.collation.as_ref().is_some_and(|own| own.oid == collation.oid) {
                found.push((relation.clone(), at));
            }
        }
    }
    found
}

/// A collation's name, with its schema where a bare one would not mean it.
pub(super) fn shown(schema: &SessionSchema, collation: &Collation) -> String {
    let name = quote_ident(&collation.name);
    match schema.is_in_path(&collation.namespace) {
        true => name,
        false => format!("{}.{name}", quote_ident(&collation.namespace)),
    }
}
