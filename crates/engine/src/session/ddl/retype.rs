//! Checks of columns that get another type, and indexes on expressions over them.
//!
//! Each is bound for the types that its columns have. So it goes with the old type, as PostgreSQL prints it then, and
//! comes again when the statement has done everything else: bound anew, and looked at by every row.

use std::sync::Arc;

use rowferry_dialect::ir::{AlterTable, Constraint, ConstraintKind, ConstraintOptions, Text};
use rowferry_dialect::mysql::PREFIX;
use rowferry_dialect::postgres::check_key_types;
use rowferry_dialect::postgres::quote_ident;
use rowferry_dialect::schema::{Relation, Schema as _};

use super::{Changer, Done};
use crate::catalog::describe;

/// A table, which of its foreign keys, the table that this leads to, and the columns of both that are compared.
type KeyAbout = (Arc<Relation>, usize, Arc<Relation>, Vec<(usize, usize)>);

/// A check that comes again.
pub(super) struct LiftedCheck {
    pub(super) name: String,
    text: String,
    valid: bool,
    no_inherit: bool,
    /// What else is noted about it: a comment.
    properties: Vec<(String, String)>,
}

/// An index that comes again.
pub(super) struct LiftedIndex {
    name: String,
    unique: bool,
    keys: Vec<(bool, String)>,
    predicate: Option<String>,
    properties: Vec<(String, String)>,
}

impl Changer<'_> {
    /// Takes away the indexes on expressions over a column which gets another type, or with such a condition.
    pub(super) fn lift_indexes(&self, table: &Relation, column: usize) -> Done {
        let schema = self.schema();
        let relation = Arc::new(table.clone());
        for (at, index) in
            table.indexes.iter().enumerate().filter(|(_, index)| !index.constraint || index.exclusion.is_some())
        {
            let mut texts =
                index.columns.iter().zip(&index.keys).filter(|(own, _)| own.is_none()).map(|(_, key)| &key.text);
            let named = texts.any(|text| self.names_column(table, text, column))
                || index.predicate.as_ref().is_some_and(|text| self.names_column(table, text, column))
                // Its rows are compared anew.
                || index.exclusion.is_some() && index.columns.contains(&Some(column));
            let known = self.lifted_indexes.borrow().iter().any(|lifted| lifted.name == index.name);
            if known || !named {
                continue;
            }
            let keys = index
                .keys
                .iter()
                .enumerate()
                .map(|(place, key)| (key.descending, describe::index_key(&schema, &relation, index, place, false)));
            let noted = schema.details(table.oid).into_iter().flat_map(|details| details.properties.all());
            let properties = noted.filter(|(part, name, _)| *part == index.name && name.starts_with("index_"));
            self.lifted_indexes.borrow_mut().push(LiftedIndex {
                name: index.name.clone(),
                unique: index.unique,
                keys: keys.collect(),
                predicate: index.predicate.as_ref().map(|text| describe::expression(&schema, &relation, text, false)),
                properties: properties.map(|(_, name, value)| (name.to_owned(), value.to_owned())).collect(),
            });
            self.remove_index(table, at)?;
        }
        Ok(())
    }

    /// Takes a column that goes out of keys of several columns, as MySQL does: they come again with the others.
    pub(super) fn shorten_keys(&self, table: &Arc<Relation>, column: usize) -> Done {
        let schema = self.schema();
        let name = quote_ident(&table.columns[column].name);
        for lifted in self.lifted_indexes.borrow_mut().iter_mut() {
            lifted.keys.retain(|(_, text)| *text != name);
        }
        self.lifted_indexes.borrow_mut().retain(|lifted| !lifted.keys.is_empty());
        for (at, index) in table.indexes.iter().enumerate() {
            let several = index.columns.iter().flatten().any(|other| *other != column);
            if index.constraint || !several || !index.columns.contains(&Some(column)) {
                continue;
            }
            let left = index.columns.iter().enumerate().filter(|(_, own)| **own != Some(column));
            let places: Vec<usize> = left.map(|(place, _)| place).collect();
            let key = |place: &usize| {
                let text = describe::index_key(&schema, table, index, *place, false);
                (index.keys.get(*place).is_some_and(|key| key.descending), text)
            };
            let noted = schema.details(table.oid).into_iter().flat_map(|details| details.properties.all());
            let properties = noted.filter(|(part, ..)| *part == index.name).filter_map(|(_, name, value)| {
                // Each is of a key's place.
                let Some(number) = name.strip_prefix(PREFIX) else {
                    return name.starts_with("index_").then(|| (name.to_owned(), value.to_owned()));
                };
                let place = number.parse::<usize>().ok()?.checked_sub(1)?;
                let now = places.iter().position(|known| *known == place)?;
                Some((format!("{PREFIX}{}", now + 1), value.to_owned()))
            });
            self.lifted_indexes.borrow_mut().push(LiftedIndex {
                name: index.name.clone(),
                unique: index.unique,
                keys: places.iter().map(key).collect(),
                predicate: index.predicate.clone(),
                properties: properties.collect(),
            });
            self.remove_index(table, at)?;
        }
        Ok(())
    }

    /// Brings back the indexes that were taken away.
    pub(super) fn restore_indexes(&self, oid: u32) -> Done {
        for lifted in self.lifted_indexes.take() {
            let table = self.current(oid)?;
            // It may have been written anew.
            self.touch(table.physical.database, oid);
            self.settle()?;
            let table = self.current(oid)?;
            let named = (lifted.name.as_str(), lifted.unique);
            let index = self.index_of(&table, named, &lifted.keys, lifted.predicate.as_deref(), lifted.properties)?;
            self.create_index(&index)?;
            self.touch(table.physical.database, table.oid);
        }
        Ok(())
    }

    /// Foreign keys over columns that get another type: whether both sides can still be compared.
    pub(super) fn check_keys_to_be(&self, table: &Relation, actions: &[AlterTable]) -> Done {
        let retyped = |relation: &Relation, at: usize| {
            actions.iter().filter(|_| relation.oid == table.oid).find_map(|action| match action {
                AlterTable::SetType { column, ty, .. } if *column == at => Some(ty),
                _ => None,
            })
        };
        if !actions.iter().any(|action| matches!(action, AlterTable::SetType { .. })) {
            return Ok(());
        }
        let dropped = |key: &str| {
            actions.iter().any(|action| matches!(action, AlterTable::DropConstraint { name, .. } if name == key))
        };
        for (child, at, target, pairs) in self.keys_about(table) {
            let key = &child.foreign_keys[at];
            for (own, other) in pairs {
                let (here, there) = (retyped(&child, own), retyped(&target, other));
                if (here.is_none() && there.is_none()) || (child.oid == table.oid && dropped(&key.name)) {
                    continue;
                }
                let (own, other) = (&child.columns[own], &target.columns[other]);
                let (here, there) = (here.unwrap_or(&own.ty), there.unwrap_or(&other.ty));
                check_key_types(&key.name, (&own.name, here), (&other.name, there))?;
            }
        }
        Ok(())
    }

    /// Foreign keys over columns that have got another type: whether rows still refer to what is there.
    pub(super) fn recheck_keys(&self, oid: u32, columns: &[&str]) -> Done {
        if columns.is_empty() {
            return Ok(());
        }
        self.settle()?;
        let is_named = |relation: &Relation, at: usize| {
            relation.oid == oid && columns.contains(&relation.columns[at].name.as_str())
        };
        for (child, at, target, pairs) in self.keys_about(&*self.current(oid)?) {
            let changed = pairs.iter().any(|(own, other)| is_named(&child, *own) || is_named(&target, *other));
            if changed && child.foreign_keys[at].valid {
                self.validate_key(&child, at)?;
            }
        }
        Ok(())
    }

    /// The foreign keys of a table and those that lead to it: whose, which of its, to which table, and the columns that are
    /// compared.
    fn keys_about(&self, table: &Relation) -> Vec<KeyAbout> {
        let schema = self.schema();
        let own = schema.relation_by_oid(table.oid);
        let referring = schema.children(table).filter(|child| child.oid != table.oid).cloned();
        let mut found = Vec::new();
        for child in own.into_iter().chain(referring) {
            for (at, key) in child.foreign_keys.iter().enumerate() {
                let Some(target) = schema.relation(&key.target) else { continue };
                let pairs = key.columns.iter().copied().zip(describe::target_columns(&target, key)).collect();
                found.push((child.clone(), at, target, pairs));
            }
        }
        found
    }

    /// Takes away the checks that name a column which gets another type.
    pub(super) fn lift_checks(&self, table: &Relation, column: usize) -> Done {
        let schema = self.schema();
        for check in &table.checks {
            let known = self.lifted.borrow().iter().any(|lifted| lifted.name == check.name);
            if known || !self.names_column(table, &check.text, column) {
                continue;
            }
            let noted = schema.details(table.oid).into_iter().flat_map(|details| details.properties.all());
            let properties = noted
                .filter(|(part, name, _)| *part == check.name && name.starts_with("constraint_"))
                .map(|(_, name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            let text = describe::expression(&schema, &Arc::new(table.clone()), &check.text, false);
            self.lifted.borrow_mut().push(LiftedCheck {
                name: check.name.clone(),
                text,
                valid: check.valid,
                no_inherit: check.no_inherit,
                properties,
            });
            self.drop_constraint(table, &check.name)?;
        }
        Ok(())
    }

    /// Brings back the checks that were taken away.
    pub(super) fn restore_checks(&self, oid: u32) -> Done {
        for lifted in self.lifted.take() {
            self.settle()?;
            let table = self.current(oid)?;
            let expr = self.session.bind_expression(&lifted.text, &table, &self.schema())?;
            let constraint = Constraint {
                name: lifted.name.clone(),
                named: true,
                kind: ConstraintKind::Check(Text { text: lifted.text, expr }),
                options: ConstraintOptions { not_valid: !lifted.valid, no_inherit: lifted.no_inherit },
            };
            self.add_constraint(&table, &constraint)?;
            self.touch(table.physical.database, table.oid);
            let entry = self.entry(&table)?;
            for (name, value) in &lifted.properties {
                self.set_property(table.physical.database, entry, &lifted.name, name, Some(value))?;
            }
        }
        Ok(())
    }
}
