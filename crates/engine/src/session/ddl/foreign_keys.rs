//! Foreign keys that the engine keeps: facts about the table that refers, and rows that stand in their way.

use std::sync::Arc;

use rowferry_dialect::foreign_key::{PROPERTY, Stored};
use rowferry_dialect::ir::{Constraint, ConstraintKind, Statement, TriggerState, Value};
use rowferry_dialect::partition::{adopted_indexes, adopted_key};
use rowferry_dialect::postgres::{key_moves_rows, quote_ident as quote};
use rowferry_dialect::schema::{ForeignKey, KeyRules, Relation};
use rowferry_dialect::{Condition, Error, Schema as _, heritage};

use super::constraints::{mixed_nulls, not_present, shown};
use super::{Changer, Done, PartKind, cannot_drop, described};
use crate::catalog::describe::target_columns;
use crate::catalog::referenced_index;
use crate::session::triggers::only;

/// How many bytes PostgreSQL lets a name have.
const LONGEST_NAME: usize = 63;

impl Changer<'_> {
    /// SET LOGGED and SET UNLOGGED: a table that is there after a crash refers to none that may be empty then.
    pub(super) fn check_logging(&self, table: &Relation, unlogged: bool) -> Done {
        let schema = self.schema();
        let is_unlogged = |oid| schema.details(oid).is_some_and(|details| details.properties.has("", "unlogged"));
        let broken = if unlogged {
            schema.referring(&self.current(table.oid)?).into_iter().find_map(|child| {
                let stands = child.oid != table.oid && !is_unlogged(child.oid);
                let key = child.foreign_keys.iter().find(|key| stands && key.leads_to(table))?;
                Some((key.name.clone(), child.name.clone()))
            })
        } else {
            table.foreign_keys.iter().find_map(|key| {
                let parent = schema.relation(&key.target)?;
                (parent.oid != table.oid && is_unlogged(parent.oid)).then(|| (key.name.clone(), parent.name.clone()))
            })
        };
        let Some((key, other)) = broken else { return Ok(()) };
        let (now, theirs) = if unlogged { ("unlogged", "logged") } else { ("logged", "unlogged") };
        let message = format!(
            "could not change table \"{}\" to {now} because it references {theirs} table \"{other}\"",
            table.name
        );
        let error = Error::new(Condition::InvalidTableDefinition, message);
        Err(error.table(table.namespace.clone(), table.name.clone()).constraint(key).into())
    }

    /// Notes a new foreign key of the engine.
    pub(super) fn note_key(&self, oid: u32, constraint: &Constraint) -> Done {
        let ConstraintKind::ForeignKey(key) = &constraint.kind else { return Ok(()) };
        let table = self.current(oid)?;
        let target = self.schema().relation(&key.target);
        let target = target.ok_or_else(|| Error::internal("a foreign key to a table that there is not"))?;
        let target = self.entry(&target)?;
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let Some(stored) = Stored::of_constraint(&constraint.kind, &names, target) else { return Ok(()) };
        self.entry(&table)?;
        self.store_key(&table, &constraint.name, &stored)?;
        self.settle()?;
        self.name_parts(oid, &constraint.name)
    }

    fn store_key(&self, table: &Relation, name: &str, stored: &Stored) -> Done {
        self.set_property(table.physical.database, table.oid, name, PROPERTY, Some(&stored.property()))
    }

    /// A key that is there, as the file keeps it.
    fn stored_key(&self, table: &Relation, key: &ForeignKey) -> Option<Stored> {
        let target = self.schema().relation(&key.target)?;
        Some(Stored::of_key(key, table, target.oid))
    }

    /// Gives a key its names at the partitions of the table that it leads to: those that are there now.
    pub(super) fn name_parts(&self, oid: u32, name: &str) -> Done {
        let schema = self.schema();
        let table = self.current(oid)?;
        let Some(key) = table.foreign_keys.iter().find(|key| key.name == name && key.by_engine) else { return Ok(()) };
        let (Some(target), Some(mut stored)) = (schema.relation(&key.target), self.stored_key(&table, key)) else {
            return Ok(());
        };
        let mut partitions = Vec::new();
        if !schema.is_parents_key(&table, key) {
            collect_partitions(&schema, &target, &mut partitions);
        }
        let before = stored.parts.clone();
        stored.parts.retain(|(partition, _)| partitions.contains(partition));
        for partition in partitions {
            if !stored.parts.iter().any(|(known, _)| *known == partition) {
                let part = self.part_name(&table, key, &stored.parts);
                stored.parts.push((partition, part));
            }
        }
        if stored.parts == before {
            return Ok(());
        }
        self.store_key(&table, name, &stored)?;
        self.settle()
    }

    /// The keys that lead to a partitioned table hear that its partitions are others.
    pub(super) fn name_parts_at(&self, parent: &Arc<Relation>) -> Done {
        let keys = self.schema().keys_by_engine(parent);
        keys.iter().try_for_each(|(child, key)| self.name_parts(child.oid, &key.name))
    }

    /// A name that no constraint of the schema has, chosen as PostgreSQL does.
    fn part_name(&self, table: &Relation, key: &ForeignKey, parts: &[(u32, String)]) -> String {
        let schema = self.schema();
        let names: Vec<&str> = key.columns.iter().map(|at| table.columns[*at].name.as_str()).collect();
        let base = format!("{}_{}_fkey", table.name, names.join("_"));
        let taken = |name: &str| {
            let beside = schema.user_relations().filter(|other| other.namespace == table.namespace);
            parts.iter().any(|(_, known)| known == name) || beside.into_iter().any(|other| has_constraint(other, name))
        };
        (0..)
            .map(|number: u32| {
                let suffix = if number == 0 { String::new() } else { number.to_string() };
                let room = LONGEST_NAME.saturating_sub(suffix.len()).min(base.len());
                let end = (0..=room).rev().find(|end| base.is_char_boundary(*end)).unwrap_or(0);
                format!("{}{suffix}", &base[..end])
            })
            .find(|name| !taken(name))
            .unwrap_or_default()
    }

    /// Takes a key of the engine out; false for one of the back end's.
    pub(super) fn drop_key_by_engine(&self, table: &Relation, name: &str) -> Done<bool> {
        if !table.foreign_keys.iter().any(|key| key.by_engine && key.name == name) {
            return Ok(false);
        }
        self.move_properties(table, PartKind::Constraint, name, None)?;
        Ok(true)
    }

    /// ALTER CONSTRAINT of a key of the engine.
    pub(super) fn defer_key_by_engine(
        &self,
        table: &Relation,
        key: &ForeignKey,
        deferrable: bool,
        deferred: bool,
    ) -> Done {
        let Some(stored) = self.stored_key(table, key) else { return Ok(()) };
        self.store_key(
            table,
            &key.name,
            &Stored { rules: KeyRules { deferrable: deferrable || deferred, deferred, ..stored.rules }, ..stored },
        )
    }

    /// ALTER CONSTRAINT of a key that a partition has for its parent's sake.
    pub(super) fn derived_constraint(&self, table: &Relation, key: &ForeignKey) -> Error {
        let name = &key.name;
        let error = Error::internal(format!("cannot alter constraint \"{name}\" on relation \"{}\"", table.name));
        let parents = heritage::parents(&self.schema(), table);
        let above = parents.iter().find_map(|parent| {
            let is_its = |own: &&ForeignKey| adopted_key(parent, own, table).is_some_and(|key| key.name == *name);
            Some((parent, parent.foreign_keys.iter().find(is_its)?))
        });
        let Some((parent, own)) = above else { return error };
        error
            .detail(format!(
                "Constraint \"{name}\" is derived from constraint \"{}\" of relation \"{}\".",
                own.name, parent.name
            ))
            .hint("You may alter the constraint it derives from, instead.")
    }

    /// Has the engine keep a foreign key of the back end's from now on.
    pub(super) fn give_to_engine(&self, oid: u32, name: &str) -> Done {
        let table = self.current(oid)?;
        let Some(key) = table.foreign_keys.iter().find(|key| key.name == name && !key.by_engine) else { return Ok(()) };
        let kind = ConstraintKind::of_key(&ForeignKey { by_engine: true, ..key.clone() }, key.columns.clone());
        let target = self.schema().relation(&key.target);
        // The names of columns are needed that the back end looks up itself.
        let kind = match (kind, target) {
            (ConstraintKind::ForeignKey(key), None) if key.target_columns.is_empty() => return Ok(()),
            (mut kind, Some(target)) => {
                let columns = target_columns(&target, key);
                if let ConstraintKind::ForeignKey(key) = &mut kind {
                    key.target_columns = columns.iter().map(|at| target.columns[*at].name.clone()).collect();
                }
                kind
            }
            (kind, None) => kind,
        };
        let mut form = self.form(&table)?;
        form.drop_constraint(&table, name);
        self.edit(&table, &form)?;
        self.touch(table.physical.database, oid);
        self.settle()?;
        self.note_key(oid, &Constraint { name: name.to_owned(), named: true, kind, options: Default::default() })
    }

    /// Gives a foreign key back to the back end, rows unseen.
    fn give_to_back_end(&self, oid: u32, name: &str) -> Done {
        let table = self.current(oid)?;
        let Some(key) = table.foreign_keys.iter().find(|key| key.name == name && key.by_engine) else { return Ok(()) };
        let kind = ConstraintKind::of_key(&ForeignKey { by_engine: false, ..key.clone() }, key.columns.clone());
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let constraint = Constraint { name: name.to_owned(), named: true, kind, options: Default::default() };
        let mut form = self.form(&table)?;
        form.add_constraint(&constraint, &names, &|name| self.target_name(name))?;
        self.set_property(table.physical.database, oid, name, PROPERTY, None)?;
        self.edit(&table, &form)?;
        self.settle()
    }

    /// ENABLE and DISABLE TRIGGER ALL: whether foreign keys that start from a table are asked there, and those that lead to
    /// it. The engine keeps those that are not: the back end would ask.
    pub(super) fn set_keys(&self, table: &Relation, state: TriggerState) -> Done {
        let schema = self.schema();
        let table = self.current(table.oid)?;
        let mut keys: Vec<(u32, u32, bool)> = Vec::new();
        for key in &table.foreign_keys {
            let parts = schema.adopted_keys(&table, key);
            keys.push((table.oid, key.oid, true));
            keys.extend(parts.iter().filter_map(|part| Some((schema.foreign_key(*part)?.0.oid, *part, true))));
        }
        for child in schema.referring(&table) {
            for key in child.foreign_keys.iter().filter(|key| key.leads_to(&table)) {
                keys.push((child.oid, key.oid, false));
            }
        }
        let above = schema.keys_by_engine(&table).into_iter().any(|(_, key)| !key.leads_to(&table));
        if above && state == TriggerState::Disabled {
            return Err(Error::unsupported("DISABLE TRIGGER ALL of a partition to which foreign keys lead").into());
        }
        if let Some((_, key, here)) = keys.first().filter(|_| !self.rights().is_superuser()) {
            let side = if *here { "c" } else { "a" };
            let message = format!("permission denied: \"RI_ConstraintTrigger_{side}_{key}\" is a system trigger");
            return Err(Error::new(Condition::InsufficientPrivilege, message).into());
        }
        for (oid, key, here) in keys {
            let Some((_, key)) = self.schema().foreign_key(key) else { continue };
            self.set_key(oid, &key, here, state == TriggerState::Disabled)?;
        }
        Ok(())
    }

    fn set_key(&self, oid: u32, key: &ForeignKey, here: bool, off: bool) -> Done {
        let was = if here { key.disabled.here } else { key.disabled.there };
        if was == off {
            return Ok(());
        }
        self.give_to_engine(oid, &key.name)?;
        let table = self.current(oid)?;
        let Some(ours) = table.foreign_keys.iter().find(|ours| ours.name == key.name) else { return Ok(()) };
        let Some(mut stored) = self.stored_key(&table, ours) else { return Ok(()) };
        stored.disabled.lent |= !key.by_engine;
        if here {
            stored.disabled.here = off;
        } else {
            stored.disabled.there = off;
        }
        self.store_key(&table, &key.name, &stored)?;
        self.settle()?;
        let asked = !(stored.disabled.here || stored.disabled.there);
        if asked && stored.disabled.lent { self.give_to_back_end(oid, &key.name) } else { Ok(()) }
    }

    /// A table becomes a partition: what would give its rows other values behind the engine's back is the engine's.
    pub(super) fn take_moving_keys(&self, oid: u32) -> Done {
        let table = self.current(oid)?;
        let moving = |key: &&ForeignKey| !key.by_engine && key_moves_rows(key.rules.on_delete, key.rules.on_update);
        table.foreign_keys.iter().filter(moving).try_for_each(|key| self.give_to_engine(oid, &key.name))
    }

    /// The foreign keys that need a unique index, with their tables.
    fn keys_on_index(&self, table: &Arc<Relation>, index: &str) -> Vec<(Arc<Relation>, ForeignKey)> {
        let schema = self.schema();
        let mut found = Vec::new();
        for child in schema.children(table) {
            let keys =
                child.foreign_keys.iter().filter(|key| key.leads_to(table) && !schema.is_parents_key(child, key));
            let on_index = keys.filter(|key| referenced_index(table, key).is_some_and(|found| found.name == index));
            found.extend(on_index.map(|key| (child.clone(), key.clone())));
        }
        found
    }

    /// A key or an index goes: with CASCADE the foreign keys that need it go, too.
    pub(super) fn drop_keys_on_index(&self, table: &Relation, index: &str, shown: &str, cascade: bool) -> Done {
        let keys = self.keys_on_index(&Arc::new(table.clone()), index);
        // Of a partitioned table PostgreSQL names a part of the index.
        let at = table.indexes.iter().position(|known| known.name == index).filter(|_| table.is_partitioned());
        let part = self.schema().heirs(table.oid).into_iter().next().zip(at).and_then(|(partition, at)| {
            let own = adopted_indexes(table, &partition)[at]?;
            Some(partition.indexes[own].name.clone())
        });
        let needed = format!("index {}", part.as_deref().unwrap_or(index));
        self.drop_keys_that_need(keys, shown, &needed, cascade)
    }

    /// A column goes: with CASCADE the foreign keys of other tables that lead to it go, too.
    pub(super) fn drop_keys_to_column(&self, table: &Relation, column: usize, cascade: bool) -> Done {
        let schema = self.schema();
        let mut keys = Vec::new();
        for child in schema.children(table).filter(|child| child.oid != table.oid) {
            let to_column = child.foreign_keys.iter().filter(|key| {
                key.leads_to(table)
                    && !schema.is_parents_key(child, key)
                    && target_columns(table, key).contains(&column)
            });
            keys.extend(to_column.map(|key| (child.clone(), key.clone())));
        }
        let shown = format!("column {} of {}", table.columns[column].name, described(&schema, table));
        self.drop_keys_that_need(keys, &shown, &shown, cascade)
    }

    fn drop_keys_that_need(
        &self,
        keys: Vec<(Arc<Relation>, ForeignKey)>,
        shown: &str,
        needed: &str,
        cascade: bool,
    ) -> Done {
        if keys.is_empty() {
            return Ok(());
        }
        let schema = self.schema();
        let words: Vec<String> = (keys.iter())
            .map(|(child, key)| format!("constraint {} on {}", key.name, described(&schema, child)))
            .collect();
        if !cascade {
            let lines: Vec<(String, String)> = words.into_iter().map(|words| (words, needed.to_owned())).collect();
            return Err(cannot_drop(shown, &lines));
        }
        self.tell_cascade(&words);
        for (child, key) in keys {
            let parts = self.schema().adopted_keys(&child, &key);
            let all = std::iter::once(key.oid).chain(parts);
            for oid in all {
                self.settle()?;
                if let Some((table, key)) = self.schema().foreign_key(oid) {
                    self.drop_constraint(&table, &key.name)?;
                }
            }
        }
        self.settle()
    }

    /// A column's new name in the keys that start from it, and in those that lead to it.
    pub(super) fn rename_in_keys(&self, table: &Relation, from: &str, to: &str) -> Done {
        let rename = |names: &mut Vec<String>| {
            names.iter_mut().filter(|name| *name == from).for_each(|name| to.clone_into(name))
        };
        let schema = self.schema();
        let mut concerned: Vec<Arc<Relation>> = schema.children(table).cloned().collect();
        if !concerned.iter().any(|child| child.oid == table.oid) {
            concerned.push(Arc::new(table.clone()));
        }
        for child in concerned {
            for key in child.foreign_keys.iter().filter(|key| key.by_engine) {
                let Some(mut stored) = self.stored_key(&child, key) else { continue };
                let before = stored.clone();
                if child.oid == table.oid {
                    rename(&mut stored.columns);
                    rename(&mut stored.set_columns);
                }
                if stored.target == table.oid {
                    rename(&mut stored.target_columns);
                }
                if stored != before {
                    self.store_key(&child, &key.name, &stored)?;
                }
            }
        }
        Ok(())
    }

    /// The keys of the engine that start from a column go with it.
    pub(super) fn drop_keys_of_column(&self, table: &Relation, column: usize) -> Done {
        let keys = table.foreign_keys.iter().filter(|key| key.by_engine && key.columns.contains(&column));
        keys.into_iter().try_for_each(|key| self.move_properties(table, PartKind::Constraint, &key.name, None))
    }

    /// Refuses rows whose key is not in the table that a key of the engine leads to.
    pub(super) fn validate_key_by_engine(&self, table: &Arc<Relation>, key: &ForeignKey) -> Done {
        let schema = self.schema();
        let Some(parent) = schema.relation(&key.target) else { return Ok(()) };
        let own: Vec<String> = key.columns.iter().map(|at| format!("t.{}", quote(&table.columns[*at].name))).collect();
        let tests: Vec<String> =
            (own.iter().zip(&key.target_columns)).map(|(own, target)| format!("p.{} = {own}", quote(target))).collect();
        let given: Vec<String> = own.iter().map(|own| format!("{own} IS NOT NULL")).collect();
        let refers = given.join(if key.rules.full { " OR " } else { " AND " });
        let text = format!(
            "SELECT {} FROM {} AS t WHERE ({refers}) AND NOT EXISTS (SELECT FROM {} AS p WHERE {}) LIMIT 1",
            own.join(", "),
            only(table),
            only(&parent),
            tests.join(" AND ")
        );
        let Some(values) = self.first_row_of(&text)? else { return Ok(()) };
        if values.contains(&Value::Null) {
            return Err(mixed_nulls(table, key).into());
        }
        let shown = shown(&values, table, &key.columns, &self.session.settings());
        Err(not_present(table, key, shown.as_deref()).into())
    }

    fn first_row_of(&self, text: &str) -> Done<Option<Vec<Value>>> {
        let (_, bound) = self.session.bind_own(text, &[], &self.schema())?;
        let Statement::Query(query) = bound.statement else {
            return Err(Error::internal("a query of the engine's own that is none").into());
        };
        self.store.first_row(&query, &self.session.state)
    }

    /// A partition that leaves the table to which keys lead: nothing refers to its rows.
    pub(super) fn check_leaving(&self, parent: &Arc<Relation>, partition: &Arc<Relation>) -> Done {
        let schema = self.schema();
        for (child, key) in schema.keys_by_engine(parent) {
            let columns = target_columns(partition, &key);
            let named: Vec<String> =
                columns.iter().map(|at| format!("p.{}", quote(&partition.columns[*at].name))).collect();
            let own = key.columns.iter().map(|at| format!("t.{}", quote(&child.columns[*at].name)));
            let tests: Vec<String> = named.iter().zip(own).map(|(named, own)| format!("{named} = {own}")).collect();
            let text = format!(
                "SELECT {} FROM {} AS p, {} AS t WHERE {} LIMIT 1",
                named.join(", "),
                only(partition),
                only(&child),
                tests.join(" AND ")
            );
            let Some(values) = self.first_row_of(&text)? else { continue };
            let name = key.name_at(partition.oid);
            let message =
                format!("removing partition \"{}\" violates foreign key constraint \"{name}\"", partition.name);
            let error = Error::new(Condition::ForeignKeyViolationByParent, message)
                .table(child.namespace.clone(), child.name.clone())
                .constraint(name);
            let names: Vec<&str> = columns.iter().map(|at| partition.columns[*at].name.as_str()).collect();
            let shown = shown(&values, partition, &columns, &self.session.settings()).unwrap_or_default();
            let detail =
                format!("Key ({})=({shown}) is still referenced from table \"{}\".", names.join(", "), child.name);
            return Err(error.detail(detail).into());
        }
        Ok(())
    }
}

fn has_constraint(table: &Relation, name: &str) -> bool {
    let keys = &table.foreign_keys;
    keys.iter().any(|key| key.name == name || key.parts.iter().any(|part| part.name == name))
        || table.checks.iter().any(|check| check.name == name)
        || table.indexes.iter().any(|index| index.constraint && index.name == name)
}

/// The partitions of a table, each before its own.
fn collect_partitions(schema: &crate::schema::SessionSchema, table: &Relation, found: &mut Vec<u32>) {
    if !table.is_partitioned() {
        return;
    }
    for partition in schema.heirs(table.oid) {
        found.push(partition.oid);
        collect_partitions(schema, &partition, found);
    }
}
