//! DROP of tables, views, indexes and schemas, and what depends on them.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::ir::{Drop, ObjectKind};
use rowferry_dialect::postgres::quote_ident;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::statistics::StatisticsObject;
use rowferry_dialect::text_search::SearchObject;
use rowferry_dialect::{Condition, Error, Schema, heritage};

use super::dependencies::Needed;
use super::policy::PolicyUser;
use super::user_type::{User, describe_user};
use super::{Changer, Done, PartKind, cannot_drop, cannot_drop_all, described};
use crate::schema::SequenceDetails;

impl Changer<'_> {
    pub(super) fn drop_objects(&self, drop: &Drop) -> Done {
        match drop.kind {
            ObjectKind::Table | ObjectKind::View | ObjectKind::MaterializedView => {
                let relations: Vec<Arc<Relation>> =
                    drop.names.iter().filter_map(|name| self.schema().relation(name)).collect();
                self.drop_relations(&relations, drop.cascade)
            }
            ObjectKind::Index => {
                for name in &drop.names {
                    if let Some((relation, at)) = self.schema().index(name) {
                        let name = &relation.indexes[at].name;
                        if !relation.indexes[at].constraint {
                            self.drop_keys_on_index(&relation, name, &format!("index {name}"), drop.cascade)?;
                        }
                        self.drop_index(&*self.current(relation.oid)?, at)?;
                    }
                }
                Ok(())
            }
            ObjectKind::Sequence => {
                for name in &drop.names {
                    let Some(details) = self.schema().sequence_details(name) else { continue };
                    self.drop_sequence(&details, drop.cascade)?;
                    self.settle()?;
                }
                Ok(())
            }
            ObjectKind::Synonym => {
                for name in &drop.names {
                    let schema = self.schema();
                    let found = schema.main.synonyms.iter().find(|synonym| synonym.name == name.name);
                    if let Some(synonym) = found {
                        self.forget("main", synonym.oid)?;
                    }
                }
                Ok(())
            }
            ObjectKind::Schema => {
                let names: Vec<String> = drop.names.iter().map(|name| name.name.clone()).collect();
                self.drop_schemas(&names, drop.cascade)
            }
        }
    }

    pub(super) fn drop_schemas(&self, names: &[String], cascade: bool) -> Done {
        let mut told = Vec::new();
        let mut reasons = Vec::new();
        for name in names.iter().rev() {
            let before = self.gone.replace(Some(Vec::new()));
            let dropped = self.drop_schema(name, cascade, &mut reasons);
            let gone = self.gone.replace(before);
            if dropped? {
                told.extend(gone.into_iter().flatten());
            }
        }
        if !reasons.is_empty() {
            let shown: Vec<String> = names.iter().map(|name| format!("schema {name}")).collect();
            return Err(cannot_drop_all(&shown.iter().map(String::as_str).collect::<Vec<_>>(), &reasons));
        }
        self.tell_cascade(&told);
        Ok(())
    }

    /// Drops a schema, or says what needs it; true when it has gone.
    fn drop_schema(&self, name: &str, cascade: bool, reasons: &mut Vec<(String, String)>) -> Done<bool> {
        let schema = self.schema();
        let Some(namespace) = schema.main.namespaces.iter().find(|namespace| namespace.name == name) else {
            return Err(Error::new(
                Condition::DependentObjectsStillExist,
                format!("cannot drop schema {name} because it is required by the database system"),
            )
            .into());
        };
        let relations: Vec<Arc<Relation>> =
            schema.main.relations().filter(|relation| relation.namespace == name).cloned().collect();
        let free: Vec<_> = schema
            .main
            .sequences()
            .filter(|details| details.sequence.namespace == name && details.owner.is_none())
            .cloned()
            .collect();
        let placed = |object: &str| match schema.is_in_path(name) {
            true => quote_ident(object),
            false => format!("{}.{}", quote_ident(name), quote_ident(object)),
        };
        let shown = |details: &Arc<SequenceDetails>| format!("sequence {}", placed(&details.sequence.name));
        let functions: Vec<_> =
            schema.main.functions.iter().filter(|function| function.namespace == name).cloned().collect();
        // What kind of routine it is makes no difference here, in PostgreSQL either.
        let called = |function: &Arc<rowferry_dialect::stored_function::StoredFunction>| {
            format!("function {}", self.session.function_signature(function))
        };
        let types: Vec<_> = schema.user_types().into_iter().filter(|ty| ty.namespace == name).collect();
        let typed = |ty: &Arc<rowferry_dialect::user_type::UserType>| format!("type {}", ty.shown());
        let collations: Vec<_> = schema.main.collations.iter().filter(|made| made.namespace == name).cloned().collect();
        let ordered = |made: &Arc<Collation>| format!("collation {}", super::collation::shown(&schema, made));
        let searches: Vec<_> =
            schema.main.search_objects.iter().filter(|object| object.namespace == name).cloned().collect();
        let searched = |object: &Arc<SearchObject>| format!("{} {}", object.kind().words(), object.shown(&schema));
        let operators: Vec<_> =
            schema.main.operators.iter().filter(|operator| operator.namespace == name).cloned().collect();
        let measured = self.statistics_within(name, &relations);
        let mut gone: Vec<(u32, String)> =
            relations.iter().map(|relation| (relation.oid, described(&schema, relation))).collect();
        gone.extend(free.iter().map(|details| (details.sequence.oid, shown(details))));
        gone.extend(functions.iter().map(|function| (function.oid, called(function))));
        gone.extend(types.iter().map(|ty| (ty.oid, typed(ty))));
        gone.extend(collations.iter().map(|made| (made.oid, ordered(made))));
        gone.extend(searches.iter().map(|object| (object.oid, searched(object))));
        gone.extend(measured.iter().map(|object| (object.oid, format!("statistics object {}", placed(&object.name)))));
        gone.extend(operators.iter().map(|found| (found.oid, super::operator::shown_operator(&schema, found))));
        // A partition goes with its table, and nobody tells of it.
        let is_part = |oid: &u32| {
            relations.iter().any(|relation| {
                relation.oid == *oid
                    && relation.bound().is_some()
                    && relation.parents().iter().any(|parent| relations.iter().any(|other| other.oid == *parent))
            })
        };
        gone.retain(|(oid, _)| !is_part(oid));
        // The oldest goes first.
        gone.sort_by_key(|(oid, _)| *oid);
        let dropped = format!("schema {name}");
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        for (oid, shown) in gone.into_iter().rev() {
            if !seen.insert(oid) {
                continue;
            }
            if let Some(relation) = relations.iter().find(|relation| relation.oid == oid) {
                self.find_dependents(relation, &[], &mut seen, &mut found);
            }
            found.push((shown, dropped.clone()));
        }
        found.reverse();
        let mut inner: Vec<Needed> = relations.iter().map(|relation| Needed::relation(&schema, relation)).collect();
        inner.extend(functions.iter().map(|function| Needed::function(function.oid, &called(function))));
        inner
            .extend(free.iter().map(|details| Needed::sequence(details.sequence.oid, &placed(&details.sequence.name))));
        let mut bodies = self.bodies_needing(&inner);
        bodies.retain(|user| user.function.namespace != name);
        found.extend(bodies.iter().map(|user| (user.shown.clone(), user.on.clone())));
        if !(cascade || found.is_empty()) {
            reasons.extend(found);
            return Ok(false);
        }
        let mut told: Vec<String> = found.into_iter().map(|(shown, _)| shown).collect();
        self.drop_bodies(&bodies)?;
        self.settle()?;
        let more = self.drop_relations_of(&relations, true)?;
        let inside: Vec<String> =
            functions.iter().map(|function| describe_user(&schema, &User::Function(function.clone()))).collect();
        let new = |shown: &String| !told.contains(shown) && !inside.contains(shown);
        let more: Vec<String> = more.into_iter().filter(new).collect();
        told.extend(more);
        self.forget_defaults(namespace.oid)?;
        free.iter().try_for_each(|details| self.forget("main", details.sequence.oid))?;
        operators.iter().try_for_each(|operator| self.take_operator(operator))?;
        for function in &functions {
            self.drop_triggers_of_function(function.oid, &called(function), true)?;
            self.drop_policies_of_function(function.oid, &called(function), true)?;
            self.drop_operators_of_function(function.oid, &called(function), true)?;
            self.forget("main", function.oid)?;
        }
        self.settle()?;
        self.drop_user_types(&types, true)?;
        collations.iter().try_for_each(|made| self.drop_collation(made, true))?;
        searches.iter().try_for_each(|object| self.drop_search_object(object, true))?;
        measured.iter().try_for_each(|object| self.forget("main", object.oid))?;
        if !(functions.is_empty()
            && types.is_empty()
            && collations.is_empty()
            && searches.is_empty()
            && measured.is_empty()
            && operators.is_empty())
        {
            self.bump()?;
        }
        self.forget("main", namespace.oid)?;
        // Triggers of tables of the schema go with them.
        let of_tables: Vec<String> = relations
            .iter()
            .flat_map(|relation| relation.triggers.iter().map(move |trigger| (relation, &trigger.name)))
            .map(|(relation, trigger)| format!("trigger {trigger} on table {}", relation.name))
            .collect();
        let nested = self.gone.take().unwrap_or_default();
        let news = nested.into_iter().filter(|line| !of_tables.contains(line));
        for line in news {
            if !told.contains(&line) {
                told.push(line);
            }
        }
        *self.gone.borrow_mut() = Some(told);
        Ok(true)
    }

    /// The objects of CREATE STATISTICS in a schema; those of tables that go are told with the tables.
    fn statistics_within(&self, schema: &str, going: &[Arc<Relation>]) -> Vec<Arc<StatisticsObject>> {
        let within = |object: &&Arc<StatisticsObject>| {
            object.namespace == schema && !going.iter().any(|relation| relation.oid == object.definition.table)
        };
        self.schema().main.statistics.iter().filter(within).cloned().collect()
    }

    /// Drops tables and views with what hangs on them, or refuses.
    pub(super) fn drop_relations(&self, relations: &[Arc<Relation>], cascade: bool) -> Done {
        let others = self.drop_relations_of(relations, cascade)?;
        self.tell_cascade(&others);
        Ok(())
    }

    /// The same; what goes with them is told by the caller.
    fn drop_relations_of(&self, relations: &[Arc<Relation>], cascade: bool) -> Done<Vec<String>> {
        let mut going: Vec<Arc<Relation>> = Vec::new();
        for relation in relations {
            if !going.iter().any(|other| other.oid == relation.oid) {
                going.push(relation.clone());
            }
        }
        let schema = self.schema();
        let named = with_partitions(&schema, going);
        let mut going = self.with_heirs(&named);
        let tables: Vec<_> = going.iter().filter(|relation| relation.keeps_rows()).collect();
        let mut keys = Vec::new();
        for table in &tables {
            for child in schema.children(table).filter(|child| !going.iter().any(|other| other.oid == child.oid)) {
                for key in child.foreign_keys.iter().filter(|key| key.leads_to(table)) {
                    keys.push((child.clone(), key.name.clone(), table.oid));
                }
            }
            for (child, key) in schema.keys_by_engine(table) {
                let known = keys.iter().any(|(known, name, _)| known.oid == child.oid && *name == key.name);
                if !known && !going.iter().any(|other| other.oid == child.oid) {
                    keys.push((child.clone(), key.name.clone(), table.oid));
                    for part in schema.heirs(child.oid) {
                        if let Some(own) = rowferry_dialect::partition::adopted_key(&child, &key, &part) {
                            keys.push((part.clone(), own.name.clone(), table.oid));
                        }
                    }
                }
            }
        }
        let first = named.first().map(|relation| described(&schema, relation)).unwrap_or_default();
        for table in &tables {
            for details in schema.sequences_of(table.oid) {
                self.drop_defaults_of(details, &first, cascade, &going)?;
            }
        }
        let mut needed: Vec<Needed> = going.iter().map(|relation| Needed::relation(&schema, relation)).collect();
        let rows: Vec<Arc<Relation>> =
            going.iter().cloned().chain(self.dependents_of(needed.clone()).0.into_iter().map(|it| it.view)).collect();
        let holders = self.users_of_rows(&rows);
        let line = |(user, on): &(User, String)| (describe_user(&schema, user), on.clone());
        let mut others: Vec<(String, String)> =
            holders.iter().filter(|(user, _)| !matches!(user, User::Function(_))).map(line).collect();
        let is_own = |(child, name, _): &&(Arc<Relation>, String, u32)| {
            let key = child.foreign_keys.iter().find(|key| key.name == *name);
            !key.is_some_and(|key| schema.is_parents_key(child, key))
        };
        let own: Vec<_> = keys.iter().filter(is_own).cloned().collect();
        others.extend(self.dependents_in_order(&named, &own));
        let functions = holders.iter().filter(|(user, _)| matches!(user, User::Function(_))).map(line);
        for function in functions {
            if !others.iter().any(|(known, _)| *known == function.0) {
                others.push(function);
            }
        }
        needed.extend(holders.iter().filter_map(|(user, _)| match user {
            User::Function(function) => Some(Needed::function(function.oid, &describe_user(&schema, user))),
            _ => None,
        }));
        let (views, bodies, all) = self.users_of(needed);
        let is_user = |oid: u32| holders.iter().any(|(user, _)| matches!(user, User::Function(f) if f.oid == oid));
        let bodies: Vec<_> = bodies.into_iter().filter(|user| !is_user(user.function.oid)).collect();
        let leaving: Vec<String> = going.iter().map(|relation| described(&schema, relation)).collect();
        for (shown, on) in self.listed(&views, &bodies) {
            if !leaving.contains(&shown) && !others.iter().any(|(known, _)| *known == shown) {
                others.push((shown, on));
            }
        }
        // Policies of tables that go themselves are no reason to keep anything.
        let goes = |oid: u32| {
            going.iter().any(|relation| relation.oid == oid) || views.iter().any(|dependent| dependent.view.oid == oid)
        };
        let stays = |user: &PolicyUser| !goes(user.table.oid);
        let policies: Vec<PolicyUser> = self.policies_needing(&all).filter(stays).collect();
        others.extend(policies.iter().map(|user| (user.shown.clone(), user.on.clone())));
        if !cascade && !others.is_empty() {
            let shown: Vec<String> = relations.iter().map(|relation| described(&schema, relation)).collect();
            return Err(cannot_drop_all(&shown.iter().map(String::as_str).collect::<Vec<_>>(), &others));
        }
        let others = others.into_iter().map(|(object, _)| object).collect();
        self.drop_policies(&policies)?;
        let stays = |view: &Relation| !going.iter().any(|relation| relation.oid == view.oid);
        let below = views.iter().filter(|dependent| stays(&dependent.view));
        below.into_iter().try_for_each(|dependent| self.drop_view(&dependent.view))?;
        self.drop_bodies(&bodies)?;
        for (user, _) in &holders {
            self.settle()?;
            self.drop_user(user)?;
        }
        for (child, key, _) in &keys {
            // An earlier constraint of the same table may have gone.
            self.settle()?;
            let Some(child) = self.schema().relation_by_oid(child.oid) else { continue };
            self.drop_constraint(&child, key)?;
        }
        let tables = tables.len();
        if tables > 1 {
            // Tables that refer to each other can only be dropped with the check put off; nothing of it remains.
            self.store.defer_keys(true)?;
        }
        while !going.is_empty() {
            // Children before their parents, or a parent's going would act on them.
            let leaf = going.iter().position(|relation| !going.iter().any(|other| Self::refers(other, relation)));
            let relation = going.remove(leaf.unwrap_or(0));
            self.drop_view(&relation)?;
        }
        Ok(others)
    }

    /// Drops views and policies that depend on what is to go, or refuses.
    pub(super) fn drop_dependents(&self, object: &str, needed: Vec<Needed>, cascade: bool) -> Done {
        let (views, bodies, all) = self.users_of(needed);
        let goes = |user: &PolicyUser| views.iter().any(|dependent| dependent.view.oid == user.table.oid);
        let policies: Vec<PolicyUser> = self.policies_needing(&all).filter(|user| !goes(user)).collect();
        let of_policies = policies.iter().map(|user| (user.shown.clone(), user.on.clone()));
        let others: Vec<(String, String)> = of_policies.chain(self.listed(&views, &bodies)).collect();
        if !cascade && !others.is_empty() {
            return Err(cannot_drop(object, &others));
        }
        self.tell_cascade(&others.into_iter().map(|(object, _)| object).collect::<Vec<_>>());
        self.drop_policies(&policies)?;
        views.iter().try_for_each(|dependent| self.drop_view(&dependent.view))?;
        self.drop_bodies(&bodies)
    }

    /// What goes with the object that the user has named.
    pub(super) fn tell_cascade(&self, gone: &[String]) {
        if let Some(together) = self.gone.borrow_mut().as_mut() {
            together.extend_from_slice(gone);
            return;
        }
        let lines: Vec<String> = gone.iter().map(|object| format!("drop cascades to {object}")).collect();
        match lines.as_slice() {
            [] => {}
            [line] => self.notice(Condition::SuccessfulCompletion, line.clone()),
            lines => {
                let message = format!("drop cascades to {} other objects", lines.len());
                let notice = Error::new(Condition::SuccessfulCompletion, message).detail(lines.join("\n"));
                self.session.state.notices.lock().push(notice);
            }
        }
    }

    /// True when a foreign key leads from one table to another.
    fn refers(child: &Relation, parent: &Relation) -> bool {
        child.oid != parent.oid && child.foreign_keys.iter().any(|key| key.leads_to(parent))
    }

    pub(super) fn drop_table(&self, relation: &Relation) -> Done {
        self.check_not_awaited(relation, "DROP TABLE")?;
        self.store.drop_table(relation)?;
        self.drop_statistics_of(relation)?;
        self.forget(relation.physical.database, relation.oid)?;
        for index in &relation.indexes {
            self.forget(relation.physical.database, index.oid)?;
        }
        let schema = self.schema();
        for details in schema.sequences_of(relation.oid).filter(|details| details.rowid_of.is_none()) {
            self.forget(details.database, details.sequence.oid)?;
        }
        // Views that somebody else has made may be readable no longer.
        let views = if relation.is_temporary() { &schema.temp } else { &schema.main };
        views.foreign_views().for_each(|view| self.touch(view.physical.database, view.oid));
        Ok(())
    }

    /// Drops a view, or what keeps rows like one.
    pub(super) fn drop_view(&self, view: &Relation) -> Done {
        if view.keeps_rows() {
            return self.drop_table(view);
        }
        let native = self.schema().details(view.oid).is_some_and(|details| details.native_view);
        if native {
            self.store.drop_view(view)?;
        }
        self.forget(view.physical.database, view.oid)
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
        self.check_not_adopted(relation, at)?;
        self.remove_index(relation, at)
    }

    /// A part of an index of a partitioned table goes with that one alone.
    fn check_not_adopted(&self, relation: &Relation, at: usize) -> Done {
        if relation.bound().is_none() {
            return Ok(());
        }
        for parent in heritage::parents(&self.schema(), relation) {
            if let Some(of) = rowferry_dialect::partition::parent_of_index(&parent, relation, at) {
                let (name, whole) = (&relation.indexes[at].name, &parent.indexes[of].name);
                let message = format!("cannot drop index {name} because index {whole} requires it");
                return Err(Error::new(Condition::DependentObjectsStillExist, message)
                    .hint(format!("You can drop index {whole} instead."))
                    .into());
            }
        }
        Ok(())
    }

    /// Drops an index, whatever it stands for, with its parts in partitions.
    pub(super) fn remove_index(&self, relation: &Relation, at: usize) -> Done {
        if relation.is_partitioned() {
            for partition in self.schema().heirs(relation.oid) {
                let adopted = rowferry_dialect::partition::adopted_indexes(relation, &partition);
                if let Some(own) = adopted.get(at).copied().flatten() {
                    self.remove_index(&partition, own)?;
                }
            }
        }
        self.remove_own_index(relation, at)
    }

    /// Drops an index, whatever it stands for, and none of its parts.
    pub(super) fn remove_own_index(&self, relation: &Relation, at: usize) -> Done {
        let index = &relation.indexes[at];
        self.touch(relation.physical.database, relation.oid);
        self.move_properties(relation, PartKind::Index, &index.name, None)?;
        let names = self.schema().details(relation.oid).map(|details| details.index_names.clone()).unwrap_or_default();
        let physical = names.get(at).cloned().unwrap_or_else(|| index.name.clone());
        self.store.drop_index(relation, &physical)?;
        self.forget(relation.physical.database, index.oid)
    }
}

/// What is to go, with the partitions of the tables: they go with them.
fn with_partitions(schema: &crate::schema::SessionSchema, mut going: Vec<Arc<Relation>>) -> Vec<Arc<Relation>> {
    let mut at = 0;
    while at < going.len() {
        if going[at].is_partitioned() {
            for partition in schema.heirs(going[at].oid) {
                if !going.iter().any(|other| other.oid == partition.oid) {
                    going.push(partition);
                }
            }
        }
        at += 1;
    }
    going
}
