//! CREATE, ALTER and DROP of collations.

use std::sync::Arc;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::ir::{AlterTable, CollationChange};
use rowferry_dialect::plan::Context;
use rowferry_dialect::postgres::{self, quote_ident};
use rowferry_dialect::schema::{Index, Relation, Trigger};
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::{Language, Schema as _};

use super::dependencies::{Dependent, Needed};
use super::function_uses::Part;
use super::new_names::NewNames;
use super::policy::PolicyUser;
use super::user_type::{User, in_order, users_below};
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
            CollationChange::Rename { collation, to } => {
                let names = NewNames::of(collation.oid, &collation.name, &collation.namespace, Some(to));
                let renamed = self.rename_in_texts(&names)?;
                update(Fact::Name, collation, Some(to))?;
                self.check_renamed(&renamed)?;
            }
            CollationChange::SetSchema { collation, to } => {
                let renamed = self.rename_in_texts(&NewNames::of(collation.oid, &collation.name, to, None))?;
                update(Fact::Namespace, collation, Some(to))?;
                self.check_renamed(&renamed)?;
            }
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
        for ty in self.schema().user_types() {
            if ty.collations().iter().any(|named| named.oid == collation.oid) {
                self.touch("main", ty.oid);
            }
        }
        Ok(())
    }

    pub(super) fn drop_collation(&self, collation: &Collation, cascade: bool) -> Done {
        if self.schema().collation_by_oid(collation.oid).is_none() {
            // It has gone with another.
            return Ok(());
        }
        let shown = format!("collation {}", shown(&self.schema(), collation));
        let users = self.users_of_collation(collation, &shown);
        let lines = self.shown_users(&users, &shown);
        if !(cascade || lines.is_empty()) {
            return Err(cannot_drop(&shown, &lines));
        }
        self.tell_cascade(&lines.into_iter().map(|(gone, _)| gone).collect::<Vec<_>>());
        users.views.iter().try_for_each(|dependent| self.drop_view(&dependent.view))?;
        self.drop_triggers(users.triggers.iter().map(|(relation, trigger)| (&**relation, &**trigger)))?;
        self.drop_policies(&users.policies)?;
        self.drop_parts(users.parts)?;
        for (table, at) in &users.columns {
            self.settle()?;
            let Some(now) = self.schema().relation_by_oid(table.oid) else { continue };
            let Some(column) = now.column(&table.columns[*at].name) else { continue };
            self.alter_table(&now, &[AlterTable::DropColumn { column, cascade: true }])?;
        }
        for table in &users.parted {
            self.settle()?;
            if let Some(now) = self.schema().relation_by_oid(table.oid) {
                self.drop_relations(&[now], true)?;
            }
        }
        for (ty, check) in &users.checks {
            self.settle()?;
            self.drop_check_of_domain(ty.oid, check)?;
        }
        for user in &users.types {
            if let User::Domain(ty) = user {
                for (below, _) in users_below(&self.schema(), ty, &|_| false).iter().rev() {
                    self.settle()?;
                    self.drop_user(below)?;
                }
            }
            self.settle()?;
            self.drop_user(user)?;
        }
        self.forget("main", collation.oid)?;
        self.settle()
    }

    /// What cannot stay without a collation.
    fn users_of_collation(&self, collation: &Collation, shown: &str) -> Users {
        let schema = self.schema();
        let mut columns = columns_in(&schema, collation);
        // A domain's go with it.
        columns.retain(|(table, at)| {
            Collation::of_domain(&table.columns[*at].ty).is_none_or(|own| own.oid != collation.oid)
        });
        let property = collation.property();
        let names = |table: &Arc<Relation>, text: &str| {
            // Without its name it cannot.
            text.to_lowercase().contains(&collation.name.to_lowercase())
                && postgres::uses_of_stored(text, table, &schema, &Context::default())
                    .is_ok_and(|uses| uses.collations.contains(&collation.oid))
        };
        let in_index = |table: &Relation, index: &Index| {
            let Some(details) = schema.details(table.oid) else { return false };
            (1..=index.keys.len())
                .any(|at| details.properties.get(&index.name, &format!("index_collation {at}")) == Some(&property))
        };
        let mut types = Vec::new();
        for ty in schema.user_types() {
            match ty.composite() {
                Some(composite) => {
                    let fields = composite.live().filter(|(_, field)| field.collation.as_deref() == Some(collation));
                    types.extend(fields.map(|(at, _)| User::Field(ty.clone(), at)));
                }
                None if ty.collations().iter().any(|named| named.oid == collation.oid) => {
                    types.push(User::Domain(ty.clone()));
                }
                None => {}
            }
        }
        let parted = |table: &&Arc<Relation>| {
            let mut keys = table.partitioning.iter().flat_map(|parted| &parted.keys);
            keys.any(|key| key.collation.as_ref() == Some(&property))
        };
        let mut needed = vec![Needed::collation(collation.oid, shown)];
        let policies = self.policies_needing(&needed).collect();
        needed.extend(columns.iter().map(|(table, at)| Needed::column(&schema, table, &table.columns[*at].name)));
        Users {
            parts: self.parts_with(&names, &in_index),
            views: self.dependents(needed),
            triggers: self.triggers_in(collation.oid),
            policies,
            checks: self.domain_checks_naming(collation.oid),
            parted: schema.user_relations().filter(parted).cloned().collect(),
            columns,
            types,
        }
    }

    /// What messages call the users of a collation, with what they depend on.
    fn shown_users(&self, users: &Users, shown: &str) -> Vec<(String, String)> {
        let schema = self.schema();
        let on = |name: String| (name, shown.to_owned());
        let mut lines: Vec<(String, String)> = Vec::new();
        lines.extend(users.columns.iter().map(|(table, at)| {
            on(format!("column {} of {}", quote_ident(&table.columns[*at].name), described(&schema, table)))
        }));
        lines.extend(users.views.iter().map(|user| (described(&schema, &user.view), user.on.clone())));
        lines.extend(users.parts.iter().map(|(table, part)| on(self.shown_part(table, part))));
        lines.extend(users.triggers.iter().map(|(table, trigger)| {
            on(format!("trigger {} on {}", quote_ident(&trigger.name), described(&schema, table)))
        }));
        lines.extend(users.policies.iter().map(|user| on(user.shown.clone())));
        lines.extend(users.checks.iter().map(|(_, check)| on(format!("constraint {}", quote_ident(check)))));
        for user in &users.types {
            match user {
                User::Field(ty, at) => {
                    let field = ty.composite().map(|composite| composite.fields[*at].name.as_str());
                    let field = quote_ident(field.unwrap_or_default());
                    lines.push(on(format!("column {field} of composite type {}", ty.shown())));
                }
                User::Domain(ty) => {
                    lines.push(on(format!("type {}", ty.shown())));
                    let of_type = format!("type {}", ty.shown());
                    let below = in_order(&schema, ty, &users_below(&schema, ty, &|_| false), &[]);
                    // Its columns are in the collation, too.
                    let in_it = |on: &str| on == of_type && ty.domain().is_some();
                    lines.extend(below.into_iter().map(|(name, needs)| match in_it(&needs) {
                        true => on(name),
                        false => (name, needs),
                    }));
                }
                User::Column(..) | User::Function(_) | User::Operator(_) | User::Cast(_) => {}
            }
        }
        lines.extend(users.parted.iter().map(|table| on(described(&schema, table))));
        lines
    }
}

/// What cannot stay without a collation.
struct Users {
    columns: Vec<(Arc<Relation>, usize)>,
    views: Vec<Dependent>,
    parts: Vec<(Arc<Relation>, Part)>,
    triggers: Vec<(Arc<Relation>, Arc<Trigger>)>,
    policies: Vec<PolicyUser>,
    /// CHECKs of domains, by their names.
    checks: Vec<(Arc<UserType>, String)>,
    types: Vec<User>,
    /// Tables that are partitioned by a key in it.
    parted: Vec<Arc<Relation>>,
}

/// The columns that are in a collation.
fn columns_in(schema: &SessionSchema, collation: &Collation) -> Vec<(Arc<Relation>, usize)> {
    let mut found = Vec::new();
    // Views go with what they are of.
    let tables = schema.user_relations().filter(|relation| relation.keeps_rows() && !relation.is_materialized());
    for relation in tables.chain(schema.user_relations().filter(|relation| relation.is_partitioned())) {
        for (at, column) in relation.columns.iter().enumerate() {
            if !found.iter().any(|(known, place): &(Arc<Relation>, usize)| (known.oid, *place) == (relation.oid, at))
                && column.collation.as_ref().is_some_and(|own| own.oid == collation.oid)
            {
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
