//! What needs what: views note in the metadata tables which relations, columns, routines and sequences their text names.
//!
//! DROP and ALTER ask these notes, and bind no view. Views without notes (of a file that an older version has made) get
//! them at the first change of the schema.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowferry_dialect::pins::Pins;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::uses::{Dependency, PRIMARY_KEY, Uses};
use rowferry_dialect::{Condition, Error, Language};

use super::{Changer, Done, describe, described};
use crate::backend::{Fact, is_native};
use crate::schema::SessionSchema;
use crate::session::transaction::Open;

/// Something on which views may depend.
#[derive(Clone)]
pub(super) struct Needed {
    oid: u32,
    /// One column of it; the whole otherwise.
    column: Option<String>,
    /// `table t`, `column c of table t`.
    shown: String,
}

/// A view that cannot stay without something.
pub(super) struct Dependent {
    pub view: Arc<Relation>,
    /// What it needs, as messages call it.
    pub on: String,
}

/// A view whose text has to be another when something has another name.
pub(super) struct Rewritten {
    view: Arc<Relation>,
    uses: Uses,
    text: String,
}

impl Needed {
    /// A table or view.
    pub fn relation(schema: &SessionSchema, relation: &Relation) -> Self {
        Self { oid: relation.oid, column: None, shown: described(schema, relation) }
    }

    /// A column of a table.
    pub fn column(schema: &SessionSchema, table: &Relation, name: &str) -> Self {
        let shown = format!("column {name} of {}", described(schema, table));
        Self { oid: table.oid, column: Some(name.to_owned()), shown }
    }

    /// A type that a user has made.
    pub fn user_type(ty: &UserType) -> Self {
        Self { oid: ty.oid, column: None, shown: format!("type {}", ty.shown()) }
    }

    /// The primary key of a table.
    pub fn primary_key(table: &Relation, shown: String) -> Self {
        Self { oid: table.oid, column: Some(PRIMARY_KEY.to_owned()), shown }
    }

    /// A sequence.
    pub fn sequence(oid: u32, name: &str) -> Self {
        Self { oid, column: None, shown: format!("sequence {name}") }
    }

    /// A function.
    pub fn function(oid: u32, shown: &str) -> Self {
        Self { oid, column: None, shown: shown.to_owned() }
    }

    /// A collation.
    pub fn collation(oid: u32, shown: &str) -> Self {
        Self { oid, column: None, shown: shown.to_owned() }
    }

    /// What messages call it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub fn is_among(&self, needs: &[Dependency]) -> bool {
        needs.iter().any(|(oid, column)| {
            *oid == self.oid
                && self
                    .column
                    .as_ref()
                    .is_none_or(|wanted| column.as_ref().is_some_and(|c| c.eq_ignore_ascii_case(wanted)))
        })
    }
}

/// A function whose body, in SQL's own grammar, or whose defaults cannot stay without something.
pub(super) struct BodyUser {
    pub function: Arc<StoredFunction>,
    pub shown: String,
    /// What it needs, as messages call it.
    pub on: String,
}

impl Changer<'_> {
    /// The functions whose bodies or defaults need some objects, and those that need these functions, and so on.
    pub(super) fn bodies_needing(&self, needed: &[Needed]) -> Vec<BodyUser> {
        let schema = self.schema();
        let context = rowferry_dialect::plan::Context::default();
        let bodies: Vec<_> = schema
            .stored_functions()
            .map(|function| (function, rowferry_dialect::postgres::body_uses(function, &schema, &context)))
            .filter(|(_, needs)| !needs.is_empty())
            .map(|(function, needs)| (function.clone(), needs.into_iter().collect::<Vec<Dependency>>()))
            .collect();
        let mut needed = needed.to_vec();
        let mut found: Vec<BodyUser> = Vec::new();
        let mut at = 0;
        while let Some(on) = needed.get(at).cloned() {
            at += 1;
            for (function, needs) in &bodies {
                let known = function.oid == on.oid || found.iter().any(|user| user.function.oid == function.oid);
                if known || !on.is_among(needs) {
                    continue;
                }
                let shown = super::function::described_function(&schema, function);
                needed.push(Needed::function(function.oid, &shown));
                found.push(BodyUser { function: function.clone(), shown, on: on.shown.clone() });
            }
        }
        found
    }

    /// The views, and the functions by their bodies, that need some objects or each other, with everything that would go.
    pub(super) fn users_of(&self, needed: Vec<Needed>) -> (Vec<Dependent>, Vec<BodyUser>, Vec<Needed>) {
        let mut bodies: Vec<BodyUser> = Vec::new();
        loop {
            let functions = bodies.iter().map(|user| Needed::function(user.function.oid, &user.shown));
            let (views, all) = self.dependents_of(needed.iter().cloned().chain(functions).collect());
            let found = self.bodies_needing(&all);
            let known = |user: &&BodyUser| bodies.iter().any(|known| known.function.oid == user.function.oid);
            let more: Vec<BodyUser> = found.into_iter().filter(|user| !known(&user)).collect();
            if more.is_empty() {
                return (views, bodies, all);
            }
            bodies.extend(more);
        }
    }

    /// Views and functions as PostgreSQL lists them: each behind what it needs, the older ones first.
    pub(super) fn listed(&self, views: &[Dependent], bodies: &[BodyUser]) -> Vec<(String, String)> {
        let schema = self.schema();
        let mut left: Vec<(u32, String, String)> = views
            .iter()
            .map(|user| (user.view.oid, described(&schema, &user.view), user.on.clone()))
            .chain(bodies.iter().map(|user| (user.function.oid, user.shown.clone(), user.on.clone())))
            .collect();
        left.sort_by_key(|(oid, ..)| std::cmp::Reverse(*oid));
        let (mut due, below): (Vec<_>, Vec<_>) = {
            let names: BTreeSet<String> = left.iter().map(|(_, shown, _)| shown.clone()).collect();
            left.into_iter().partition(|(_, _, on)| !names.contains(on))
        };
        let mut listed = Vec::new();
        while let Some((_, shown, on)) = due.pop() {
            due.extend(below.iter().filter(|(_, _, needs)| *needs == shown).cloned());
            listed.push((shown, on));
        }
        listed
    }

    /// Drops functions for the sake of what their bodies need, those that need others first.
    pub(super) fn drop_bodies(&self, bodies: &[BodyUser]) -> Done {
        bodies.iter().rev().try_for_each(|user| {
            self.settle()?;
            self.drop_functions(&[user.function.oid], true)
        })
    }

    /// The views that need some objects, and those that need these views, and so on: each behind what it needs, the older
    /// ones first, as PostgreSQL lists them.
    pub(super) fn dependents(&self, needed: Vec<Needed>) -> Vec<Dependent> {
        self.dependents_of(needed).0
    }

    /// The same, with everything that would go.
    pub(super) fn dependents_of(&self, mut needed: Vec<Needed>) -> (Vec<Dependent>, Vec<Needed>) {
        let schema = self.schema();
        let mut seen: BTreeSet<u32> = needed.iter().filter(|n| n.column.is_none()).map(|n| n.oid).collect();
        let mut found = Vec::new();
        for on in &needed {
            collect_dependents(&schema, on, &mut seen, &mut found);
        }
        found.reverse();
        needed.extend(found.iter().map(|dependent| Needed::relation(&schema, &dependent.view)));
        (found, needed)
    }

    /// Refuses to give another type to a column of which views are.
    pub(super) fn refuse_in_views(&self, table: &Relation, column: &str) -> Done {
        if self.session.language() == Language::Informix {
            return Ok(());
        }
        let schema = self.schema();
        let needed = Needed::column(&schema, table, column);
        let Some((view, _)) = schema.users(table.oid).find(|(_, needs)| needed.is_among(needs)) else { return Ok(()) };
        let message = "cannot alter type of a column used by a view or rule";
        let detail = format!("rule _RETURN on {} depends on column \"{column}\"", described(&schema, view));
        Err(Error::new(Condition::FeatureNotSupported, message).detail(detail).into())
    }

    /// Notes what a view needs.
    pub(super) fn record_needs(&self, database: &'static str, oid: u32, needs: &BTreeSet<Dependency>) -> Done {
        self.store.record_needs(database, oid, needs)?;
        self.touch(database, oid);
        Ok(())
    }

    /// Notes what those views need of which it is not known.
    pub(super) fn trace_views(&self) -> Done {
        let schema = self.schema();
        // Views of the file wait for a change that may write to it.
        let main = schema
            .main
            .untraced()
            .filter(|_| !matches!(self.session.transaction.open, Open::Temporary | Open::Snapshot));
        let views: Vec<Arc<Relation>> = main.chain(schema.temp.untraced()).cloned().collect();
        for view in &views {
            let Some((definition, pins)) = view.definition() else { continue };
            let needs = match self.session.uses(definition, Some(pins), view.language, &schema) {
                Ok(uses) => uses.dependencies(),
                Err(error) => {
                    tracing::warn!(view = view.name, %error, "a view that can no longer be read");
                    BTreeSet::new()
                }
            };
            self.record_needs(view.physical.database, view.oid, &needs)?;
            // Older versions kept views of catalogs where others see them, and where they stand in the way of ALTER TABLE.
            if schema.details(view.oid).is_some_and(|details| details.native_view) {
                let native = self.session.bind_view(view, &schema).is_ok_and(|query| is_native(&query));
                if !native || !self.store.is_readable(view) {
                    self.drop_native_view(view)?;
                }
            }
        }
        if views.is_empty() { Ok(()) } else { self.settle() }
    }

    /// Takes a view of ours from where others see it; it stays in our schema.
    pub(super) fn drop_native_view(&self, view: &Relation) -> Done {
        self.store.drop_view(view)?;
        self.store.note_view(view, false)
    }

    /// Notes what the names in a view's text stand for.
    pub(super) fn record_pins(&self, database: &'static str, oid: u32, pins: &Pins) -> Done {
        let text = (!pins.is_empty()).then(|| pins.to_json());
        self.set_property(database, oid, "", "pins", text.as_deref())
    }

    /// Tells the views that name a relation of a column's new name, or that it is dropped.
    pub(super) fn repin_column(&self, table: &Relation, from: &str, to: Option<&str>) -> Done {
        let schema = self.schema();
        for (view, needs) in schema.users(table.oid) {
            let Some((definition, pins)) = view.definition() else { continue };
            if view.language == Language::Informix {
                continue;
            }
            let mut pins = if pins.is_empty() {
                // One that names no relation, and asks a field of the table's rows, may have its new name already.
                let uses = self.session.uses(definition, None, view.language, &schema);
                uses.map(|uses| Pins::of(&uses)).unwrap_or_default()
            } else {
                (**pins).clone()
            };
            pins.rename(table.oid, from, to);
            self.record_pins(view.physical.database, view.oid, &pins)?;
            let Some(to) = to else { continue };
            let renamed = needs.iter().map(|(oid, column)| match column {
                Some(column) if *oid == table.oid && column.eq_ignore_ascii_case(from) => (*oid, Some(to.to_owned())),
                other => (*oid, other.clone()),
            });
            self.record_needs(view.physical.database, view.oid, &renamed.collect())?;
        }
        Ok(())
    }

    /// Notes what views mean by the name of a relation, where nobody has noted it, before it gets another one.
    pub(super) fn pin_views(&self, relation: &Relation) -> Done {
        let schema = self.schema();
        for (view, _) in schema.users(relation.oid) {
            let Some((definition, pins)) = view.definition() else { continue };
            if view.language != Language::Informix && pins.is_empty() {
                let uses = self.session.uses(definition, None, view.language, &schema)?;
                self.record_pins(view.physical.database, view.oid, &Pins::of(&uses))?;
            }
        }
        Ok(())
    }

    /// The views in Informix SQL that name a table or one of its columns, with their texts after it has got another name.
    /// Those in PostgreSQL's keep their texts, and know what is meant.
    pub(super) fn rewritten_views(&self, table: &Relation, column: Option<usize>, to: &str) -> Done<Vec<Rewritten>> {
        let schema = self.schema();
        let needed = match column {
            Some(at) => Needed::column(&schema, table, &table.columns[at].name),
            None => Needed::relation(&schema, table),
        };
        match column {
            Some(at) => self.repin_column(table, &table.columns[at].name, Some(to))?,
            None => self.pin_views(table)?,
        }
        let mut rewritten = Vec::new();
        for (view, needs) in schema.users(table.oid) {
            let Some((definition, _)) = view.definition() else { continue };
            if view.language != Language::Informix || !needed.is_among(needs) {
                continue;
            }
            let quote = |name: &str| name.to_owned();
            let uses = self.session.uses(definition, None, view.language, &schema)?;
            let text = match column {
                Some(at) => uses.with_column_renamed(definition, table.oid, at, to, &quote),
                None => uses.with_relation_renamed(definition, table.oid, to, &quote),
            };
            let Some(text) = text else { return Err(cannot_rewrite(&needed.shown, view).into()) };
            rewritten.push(Rewritten { view: view.clone(), uses, text });
        }
        // The back end changes its own views itself, those of views among them.
        for dependent in self.dependents(vec![Needed::relation(&schema, table)]) {
            self.touch(dependent.view.physical.database, dependent.view.oid);
        }
        Ok(rewritten)
    }

    /// Gives views their new texts, after the change; they must mean what they meant.
    pub(super) fn rewrite_views(&self, table: &Relation, rewritten: Vec<Rewritten>) -> Done {
        self.settle()?;
        let schema = self.schema();
        for Rewritten { view, uses, text } in rewritten {
            let now = self.session.uses(&text, None, view.language, &schema);
            let Some(now) = now.ok().filter(|now| now.means_the_same(&uses)) else {
                return Err(cannot_rewrite(&describe(table), &view).into());
            };
            self.store.change_entry(view.physical.database, view.oid, Fact::Definition, Some(&text))?;
            self.record_needs(view.physical.database, view.oid, &now.dependencies())?;
        }
        Ok(())
    }
}

/// Adds the views that need something, the newest first and each behind those that need it.
fn collect_dependents(schema: &SessionSchema, on: &Needed, seen: &mut BTreeSet<u32>, found: &mut Vec<Dependent>) {
    let users = schema.users(on.oid).filter(|(_, needs)| on.is_among(needs));
    let mut users: Vec<Arc<Relation>> = users.map(|(view, _)| view.clone()).collect();
    users.sort_by_key(|view| std::cmp::Reverse(view.oid));
    for view in users {
        if seen.insert(view.oid) {
            collect_dependents(schema, &Needed::relation(schema, &view), seen, found);
            found.push(Dependent { view, on: on.shown.clone() });
        }
    }
}

fn cannot_rewrite(what: &str, view: &Relation) -> Error {
    Error::unsupported(format!("RENAME of {what}, which view {} uses in a way that cannot be rewritten,", view.name))
}
