//! DROP of tables, views, indexes and schemas, and what depends on them.

use std::sync::Arc;

use rowferry_dialect::ir::{Drop, ObjectKind};
use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::{Condition, Error, Schema};

use super::{Changed, Changer, Done, dependents, describe};

impl Changer<'_> {
    pub(super) fn drop_objects(&self, drop: &Drop) -> Done {
        for missing in &drop.missing {
            let kind = match drop.kind {
                ObjectKind::Index => "index",
                ObjectKind::Schema => "schema",
                ObjectKind::Sequence => "sequence",
                ObjectKind::Synonym => "synonym",
                ObjectKind::Table => "table",
                ObjectKind::View => "view",
            };
            self.notice(Condition::UndefinedTable, format!("{kind} \"{missing}\" does not exist, skipping"));
        }
        match drop.kind {
            ObjectKind::Table | ObjectKind::View => {
                let relations: Vec<Arc<Relation>> =
                    drop.names.iter().filter_map(|name| self.schema.relation(name)).collect();
                self.drop_relations(&relations, drop.cascade)
            }
            ObjectKind::Index => {
                for name in &drop.names {
                    if let Some((relation, at)) = self.schema.index(name) {
                        self.drop_index(&relation, at)?;
                    }
                }
                Ok(())
            }
            ObjectKind::Sequence => {
                for name in &drop.names {
                    let Some(details) = self.schema.sequence_details(name) else { continue };
                    if let Some((oid, _)) = details.owner {
                        let table =
                            self.schema.relation_by_oid(oid).map(|table| table.name.clone()).unwrap_or_default();
                        return Err(dependents(
                            &format!("sequence {}", name.name),
                            &[format!("default value of a column of table {table}")],
                        ));
                    }
                    self.forget(details.database, details.sequence.oid)?;
                }
                Ok(())
            }
            ObjectKind::Synonym => {
                for name in &drop.names {
                    let found = self.schema.main.synonyms.iter().find(|synonym| synonym.name == name.name);
                    if let Some(synonym) = found {
                        self.forget("main", synonym.oid)?;
                    }
                }
                Ok(())
            }
            ObjectKind::Schema => {
                for name in &drop.names {
                    self.drop_schema(&name.name, drop.cascade)?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn drop_schema(&self, name: &str, cascade: bool) -> Done {
        let Some(namespace) = self.schema.main.namespaces.iter().find(|namespace| namespace.name == name) else {
            return Err(Error::new(
                Condition::DependentObjectsStillExist,
                format!("cannot drop schema {name} because it is required by the database system"),
            )
            .into());
        };
        let relations: Vec<Arc<Relation>> =
            self.schema.main.relations.iter().filter(|relation| relation.namespace == name).cloned().collect();
        if !relations.is_empty() && !cascade {
            let names: Vec<String> = relations.iter().map(|relation| describe(relation)).collect();
            return Err(dependents(&format!("schema {name}"), &names));
        }
        self.drop_relations(&relations, true)?;
        self.forget("main", namespace.oid)
    }

    /// Drops tables and views with what hangs on them, or refuses.
    pub(super) fn drop_relations(&self, relations: &[Arc<Relation>], cascade: bool) -> Done {
        let mut going: Vec<Arc<Relation>> = Vec::new();
        for relation in relations {
            if !going.iter().any(|other| other.oid == relation.oid) {
                going.push(relation.clone());
            }
        }
        let oids = |going: &[Arc<Relation>]| going.iter().map(|relation| relation.oid).collect::<Vec<_>>();
        let changed = Changed { schema: self.schema, hidden: oids(&going), replaced: Vec::new() };
        let views = self.session.broken_views(&changed);
        let tables: Vec<_> = going.iter().filter(|relation| matches!(relation.kind, RelationKind::Table)).collect();
        let mut keys = Vec::new();
        for child in self.schema.user_relations().filter(|child| !changed.hidden.contains(&child.oid)) {
            for key in &child.foreign_keys {
                let target = self.schema.relation(&key.target);
                if target.is_some_and(|target| tables.iter().any(|table| table.oid == target.oid)) {
                    keys.push((child.clone(), key.name.clone()));
                }
            }
        }
        if !cascade && (!views.is_empty() || !keys.is_empty()) {
            let first = going.first().map(|relation| describe(relation)).unwrap_or_default();
            let mut names: Vec<String> =
                keys.iter().map(|(child, key)| format!("constraint {key} on table {}", child.name)).collect();
            names.extend(views.iter().map(|view| describe(view)));
            return Err(dependents(&first, &names));
        }
        for view in &views {
            self.notice(Condition::SuccessfulCompletion, format!("drop cascades to view {}", view.name));
            self.drop_view(view)?;
        }
        for (child, key) in &keys {
            self.notice(
                Condition::SuccessfulCompletion,
                format!("drop cascades to constraint {key} on table {}", child.name),
            );
            self.drop_constraint(child, key)?;
        }
        let tables = tables.len();
        if tables > 1 {
            // Tables that refer to each other can only be dropped with the check put off; nothing of it remains.
            self.batch("PRAGMA defer_foreign_keys = ON")?;
        }
        while !going.is_empty() {
            // Children before their parents, or a parent's going would act on them.
            let leaf = going.iter().position(|relation| !going.iter().any(|other| self.refers(other, relation)));
            let relation = going.remove(leaf.unwrap_or(0));
            match relation.kind {
                RelationKind::Table => self.drop_table(&relation)?,
                _ => self.drop_view(&relation)?,
            }
        }
        Ok(())
    }

    /// True when a foreign key leads from one table to another.
    pub(super) fn refers(&self, child: &Relation, parent: &Relation) -> bool {
        child.oid != parent.oid
            && child
                .foreign_keys
                .iter()
                .any(|key| self.schema.relation(&key.target).is_some_and(|target| target.oid == parent.oid))
    }

    pub(super) fn drop_table(&self, relation: &Relation) -> Done {
        self.batch(&format!("DROP TABLE {}.{}", relation.database, quote(&relation.physical_name)))?;
        self.forget(relation.database, relation.oid)?;
        for index in &relation.indexes {
            self.forget(relation.database, index.oid)?;
        }
        for details in self.schema.sequences() {
            if details.owner.is_some_and(|(oid, _)| oid == relation.oid) && details.rowid_of.is_none() {
                self.forget(details.database, details.sequence.oid)?;
            }
        }
        Ok(())
    }

    pub(super) fn drop_view(&self, view: &Relation) -> Done {
        let native = self.schema.details(view.oid).is_some_and(|details| details.native_view);
        if native {
            self.batch(&format!("DROP VIEW {}.{}", view.database, quote(&view.physical_name)))?;
        }
        self.forget(view.database, view.oid)
    }

    pub(super) fn drop_index(&self, relation: &Relation, at: usize) -> Done {
        let index = &relation.indexes[at];
        if index.constraint {
            return Err(Error::new(
                Condition::DependentObjectsStillExist,
                format!(
                    "cannot drop index {0} because constraint {0} on table {1} requires it",
                    index.name, relation.name
                ),
            )
            .hint(format!("You can drop constraint {} on table {} instead.", index.name, relation.name))
            .into());
        }
        let names = self.schema.details(relation.oid).map(|details| details.index_names.clone()).unwrap_or_default();
        let physical = names.get(at).cloned().unwrap_or_else(|| index.name.clone());
        self.batch(&format!("DROP INDEX {}.{}", relation.database, quote(&physical)))?;
        self.forget(relation.database, index.oid)
    }
}
