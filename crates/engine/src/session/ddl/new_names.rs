//! New names of objects in the texts that a schema keeps: defaults, checks, keys and conditions of indexes, views, policies.
//!
//! These texts name functions, types, operators, collations and sequences by their names. When one gets another name or
//! schema, the texts that name it are written anew, before it gets it; afterwards they must mean what they meant.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowferry_dialect::pins::Pins;
use rowferry_dialect::schema::{QualifiedName, Relation, RelationKind};
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::user_type::{UserKind, UserType};
use rowferry_dialect::uses::{Edit, NewName, Uses, edited};
use rowferry_dialect::{Error, Language, Result, Schema as _, partition, postgres};

use super::{Changer, Done};
use crate::backend::Fact;
use crate::schema::SessionSchema;

/// What an expression is bound behind.
const BEFORE: &str = "SELECT ";

/// How objects are called from now on.
#[derive(Debug, Default)]
pub(super) struct NewNames {
    to: BTreeMap<u32, NewName>,
    /// A label of an enum type: the type's object id, and what it is called before and after.
    label: Option<(u32, String, String)>,
    /// A field of a composite type, or of the rows of a table: the type's object id, and what it is called before and after.
    field: Option<(u32, String, String)>,
    /// Names that they have until then, of which a text that names one has at least one; lower-case.
    words: Vec<String>,
}

/// Texts that were written anew, of which has to be seen whether they still can be read.
#[derive(Default)]
pub(super) struct Renamed {
    views: Vec<u32>,
    policies: Vec<u32>,
    /// Some belong to tables.
    tables: bool,
    /// Defaults of columns that are still to be given: the column's relation and name, and the text.
    defaults: Vec<(u32, String, String)>,
}

impl Renamed {
    /// Nothing was written anew that has to be looked at.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty() && self.policies.is_empty() && !self.tables
    }
}

impl NewNames {
    /// One object gets another name, another schema, or both.
    pub fn of(oid: u32, name: &str, namespace: &str, to: Option<&str>) -> Self {
        let mut all = Self { words: vec![name.to_lowercase()], ..Self::default() };
        all.add(oid, namespace, to);
        all
    }

    /// Everything in a schema gets another schema.
    pub fn within(namespace: &str) -> Self {
        Self { words: vec![namespace.to_lowercase()], ..Self::default() }
    }

    /// A label of an enum type gets another text.
    pub fn label(ty: u32, from: &str, to: &str) -> Self {
        let label = Some((ty, from.to_owned(), to.to_owned()));
        Self { label, words: vec![from.to_lowercase()], ..Self::default() }
    }

    /// A field of a type gets another name.
    pub fn field(ty: u32, from: &str, to: &str) -> Self {
        let field = Some((ty, from.to_owned(), to.to_owned()));
        Self { field, words: vec![from.to_lowercase()], ..Self::default() }
    }

    /// The same with an object that gets another schema.
    pub fn moving(mut self, oid: u32, namespace: &str) -> Self {
        self.add(oid, namespace, None);
        self
    }

    /// One more object.
    pub fn add(&mut self, oid: u32, namespace: &str, to: Option<&str>) {
        self.to.insert(oid, NewName { namespace: namespace.to_owned(), name: to.map(str::to_owned) });
    }

    /// One more object that goes with another into its schema.
    pub fn add_along(&mut self, oid: u32, name: &str, namespace: &str) {
        self.words.push(name.to_lowercase());
        self.add(oid, namespace, None);
    }

    /// What changes in a text; nothing where none of the objects is named, or where the text cannot be read as it is.
    fn edits(&self, text: &str, before: &str, pinned: bool, uses: impl FnOnce() -> Result<Uses>) -> Done<Vec<Edit>> {
        let lower = text.to_lowercase();
        if !self.words.iter().any(|word| lower.contains(word)) {
            return Ok(Vec::new());
        }
        let Ok(uses) = uses() else { return Ok(Vec::new()) };
        let whole = format!("{before}{text}");
        let edits = match (&self.label, &self.field) {
            (Some((ty, from, to)), _) => uses.relabelling(&whole, *ty, from, to),
            (None, Some((ty, from, to))) => uses.renaming_field(&whole, (*ty, from, to), &postgres::quote_ident),
            (None, None) => uses.renaming(&whole, &self.to, pinned, &postgres::quote_ident),
        };
        Ok(edits.ok_or_else(|| Error::unsupported(format!("a new name of what {text} names in this way")))?)
    }

    /// The text of an expression with the new names, where it names one of the objects.
    fn rewritten(&self, text: &str, uses: impl FnOnce() -> Result<Uses>) -> Done<Option<String>> {
        let edits = self.edits(text, BEFORE, false, uses)?;
        if edits.is_empty() {
            return Ok(None);
        }
        let whole = edited(&format!("{BEFORE}{text}"), edits);
        Ok(whole.strip_prefix(BEFORE).map(str::to_owned))
    }
}

/// The expressions over a table's rows that are kept with it.
fn texts_over(table: &Relation) -> Vec<&str> {
    let keys = table.indexes.iter().flat_map(|index| {
        let keys = index.columns.iter().zip(&index.keys).filter(|(own, _)| own.is_none());
        keys.map(|(_, key)| key.text.as_str()).chain(index.predicate.as_deref())
    });
    let generated = table.columns.iter().filter_map(|column| Some(column.generated.as_ref()?.text.as_str()));
    table.checks.iter().map(|check| check.text.as_str()).chain(generated).chain(keys).collect()
}

/// Something is called otherwise in another schema.
pub(super) fn is_renamed(before: &SessionSchema, now: &SessionSchema, oid: u32, column: Option<&str>) -> bool {
    let relation = |schema: &SessionSchema| {
        let relation = schema.relation_by_oid(oid)?;
        let at = column.map(|column| before.relation_by_oid(oid)?.column(column));
        let column = at.flatten().and_then(|at| relation.columns.get(at)).map(|column| column.name.clone());
        Some((relation.namespace.clone(), relation.name.clone(), column))
    };
    let function = |schema: &SessionSchema| {
        schema.function_by_oid(oid).map(|function| (function.namespace.clone(), function.name.clone()))
    };
    let ty = |schema: &SessionSchema| schema.user_type_by_oid(oid).map(|ty| (ty.namespace.clone(), ty.name.clone()));
    relation(before) != relation(now) || function(before) != function(now) || ty(before) != ty(now)
}

impl Changer<'_> {
    /// Writes new names of objects into the texts that name them.
    pub(super) fn rename_in_texts(&self, names: &NewNames) -> Done<Renamed> {
        let schema = self.schema();
        let mut renamed = Renamed::default();
        for relation in schema.user_relations().filter(|relation| relation.language != Language::Informix) {
            if relation.definition().is_some() && self.rename_in_view(relation, names, &schema)? {
                renamed.views.push(relation.oid);
            }
            self.rename_in_table(relation, names, &schema, &mut renamed)?;
        }
        for (table, policy) in schema.policies() {
            let mut changed = rowferry_dialect::schema::Policy::clone(policy);
            for text in [&mut changed.using, &mut changed.check].into_iter().flatten() {
                if let Some(new) = names.rewritten(text, || self.policy_uses_of(text, table))? {
                    *text = new;
                }
            }
            if changed != **policy {
                self.record_policy(table, &changed)?;
                renamed.policies.push(table.oid);
            }
        }
        // What domains ask of the fields of their values is written anew with the type.
        for ty in schema.user_types().into_iter().filter(|_| names.field.is_none()) {
            self.rename_in_domain(&ty, names, &schema)?;
        }
        for function in schema.stored_functions() {
            let mut definition = function.definition.clone();
            for param in &mut definition.params {
                let ty = param.ty.looked_up(&schema).ok().flatten();
                let Some(text) = &mut param.default else { continue };
                let context = self.session.text_context();
                let uses = || postgres::uses_of_default(text, ty.as_ref(), &schema, &context);
                if let Some(new) = names.rewritten(text, uses)? {
                    *text = new;
                }
            }
            if definition != function.definition {
                let text = postgres::routine::definition_text(&function.namespace, &function.name, &definition);
                self.rewrite(function.oid, &function.namespace, &function.signature(), &text)?;
            }
        }
        for object in schema.main.statistics.iter() {
            let Some(table) = schema.relation_by_oid(object.definition.table) else { continue };
            let mut definition = object.definition.clone();
            for text in &mut definition.expressions {
                if let Some(new) = self.renamed_expression(text, &table, names, &schema)? {
                    *text = new;
                }
            }
            if definition != object.definition {
                self.redefine_statistics(object, &definition)?;
            }
        }
        Ok(renamed)
    }

    /// The schema before a change of names, where there are functions with bodies in SQL's own grammar, or rules.
    pub(super) fn bodies_before(&self) -> Option<SessionSchema> {
        let schema = self.schema();
        let some = schema.stored_functions().any(|function| function.definition.sql_body);
        (some || schema.rules().next().is_some()).then_some(schema)
    }

    /// Rules, and bodies in SQL's own grammar, name what they named before, as it is called now.
    pub(super) fn rename_in_bodies(&self, before: &SessionSchema) -> Done {
        self.settle()?;
        self.rename_in_rules(before)?;
        let now = self.schema();
        let context = rowferry_dialect::plan::Context::default();
        for function in before.stored_functions().filter(|function| function.definition.sql_body) {
            let Some(today) = now.function_by_oid(function.oid) else { continue };
            let body = postgres::renamed_body(function, &today.name, (before, &now), &context);
            let Some(body) = body else {
                let uses = postgres::body_uses(function, before, &context);
                if uses.iter().any(|(oid, column)| is_renamed(before, &now, *oid, column.as_deref())) {
                    let what = format!("a new name of what function \"{}\" names in this way", function.name);
                    return Err(Error::unsupported(what).into());
                }
                continue;
            };
            let text = postgres::routine::definition_with(&today.namespace, &today.name, &today.definition, Some(body));
            let (_, definition) = postgres::routine::from_text(&text)?;
            if definition.source != function.definition.source {
                self.rewrite(function.oid, &today.namespace, &today.signature(), &text)?;
            }
        }
        Ok(())
    }

    /// The rows of a relation have another name in the signatures of functions.
    pub(super) fn rename_rows_in_functions(&self, relation: &Relation, namespace: &str, name: &str) -> Done {
        let from = QualifiedName::new(relation.namespace.clone(), relation.name.clone());
        let to = QualifiedName::new(namespace, name);
        for function in self.schema().stored_functions() {
            let Some(definition) = function.definition.with_rows_renamed(&from, &to) else { continue };
            let text = postgres::routine::definition_text(&function.namespace, &function.name, &definition);
            let (place, owner) = ((function.namespace.clone(), function.name.clone()), function.owner.clone());
            let renamed = StoredFunction::new(function.oid, place.0, place.1, owner, definition);
            self.rewrite(function.oid, &function.namespace, &renamed.signature(), &text)?;
        }
        Ok(())
    }

    /// The texts that were written anew can be read under the new names, or the change is refused.
    pub(super) fn check_renamed(&self, renamed: &Renamed) -> Done {
        if renamed.views.is_empty() && renamed.policies.is_empty() {
            return Ok(());
        }
        self.settle()?;
        let schema = self.schema();
        for oid in &renamed.views {
            let Some(view) = schema.relation_by_oid(*oid) else { continue };
            if self.session.bind_view(&view, &schema).is_err() {
                let what = format!("a new name of what view \"{}\" names in this way", view.name);
                return Err(Error::unsupported(what).into());
            }
        }
        for oid in &renamed.policies {
            let Some(table) = schema.relation_by_oid(*oid) else { continue };
            for policy in table.policies() {
                for text in [&policy.using, &policy.check].into_iter().flatten() {
                    if self.policy_uses_of(text, &table).is_err() {
                        let what = format!("a new name of what policy \"{}\" names in this way", policy.name);
                        return Err(Error::unsupported(what).into());
                    }
                }
            }
        }
        Ok(())
    }

    /// Refuses a new name of a column that views name as one of a function which returns the table's rows, or that the
    /// table's own expressions ask of a row.
    pub(super) fn refuse_named_field(&self, table: &Relation, ty: u32, name: &str) -> Done {
        let schema = self.schema();
        let context = self.session.text_context();
        let word = name.to_lowercase();
        for relation in schema.user_relations().filter(|relation| relation.language == Language::Postgres) {
            let of_view = relation.definition().filter(|(text, _)| text.to_lowercase().contains(&word));
            let as_column = of_view.is_some_and(|(text, pins)| {
                let uses = self.session.uses(text, Some(pins), relation.language, &schema);
                uses.is_ok_and(|uses| uses.names_field_as_column(text, ty, name))
            });
            let own = texts_over(relation).into_iter().filter(|text| text.to_lowercase().contains(&word));
            let mut own = own.filter(|_| relation.oid == table.oid);
            let names = |text: &str| {
                let uses = postgres::uses_of_stored(text, relation, &schema, &context);
                uses.is_ok_and(|uses| uses.names_field(text, ty, name))
            };
            if as_column || own.any(names) {
                let kind = if relation.definition().is_some() { "view" } else { "table" };
                let what = format!("a new name of what {kind} \"{}\" names in this way", relation.name);
                return Err(Error::unsupported(what).into());
            }
        }
        Ok(())
    }

    /// What can be read that names a field as it was called, or the change of its name is refused.
    pub(super) fn check_renamed_field(&self, from: &str) -> Done {
        self.settle()?;
        let schema = self.schema();
        let from = from.to_lowercase();
        let refused = |kind: &str, name: &str| {
            Error::unsupported(format!("a new name of what {kind} \"{name}\" names in this way"))
        };
        for relation in schema.user_relations().filter(|relation| relation.language == Language::Postgres) {
            if let Some((text, _)) = relation.definition()
                && text.to_lowercase().contains(&from)
                && self.session.bind_view(relation, &schema).is_err()
            {
                return Err(refused("view", &relation.name).into());
            }
            let unread = |text: &&str| {
                text.to_lowercase().contains(&from) && self.session.bind_expression(text, relation, &schema).is_err()
            };
            if texts_over(relation).iter().any(unread) {
                return Err(refused("table", &relation.name).into());
            }
        }
        Ok(())
    }

    /// Gives columns the defaults that name a label as it is called now.
    pub(super) fn renew_defaults(&self, renamed: &Renamed) -> Done {
        for (table, column, text) in &renamed.defaults {
            self.settle()?;
            let schema = self.schema();
            let Some(table) = schema.relation_by_oid(*table) else { continue };
            let Some(at) = table.column(column) else { continue };
            let expr = postgres::bind_default(text, &table.columns[at].ty, &schema, &self.session.text_context())?;
            self.set_default(&table, at, Some(&rowferry_dialect::ir::Text { text: text.clone(), expr }))?;
        }
        Ok(())
    }

    fn policy_uses_of(&self, text: &str, table: &Arc<Relation>) -> Result<Uses> {
        postgres::policy_uses(text, table, &self.schema(), &self.session.text_context())
    }

    /// An expression over a table with the new names, where it names one of the objects.
    fn renamed_expression(
        &self,
        text: &str,
        table: &Arc<Relation>,
        names: &NewNames,
        schema: &SessionSchema,
    ) -> Done<Option<String>> {
        let context = self.session.text_context();
        names.rewritten(text, || postgres::uses_of_stored(text, table, schema, &context))
    }

    /// A view's query; true when it names one of the objects.
    fn rename_in_view(&self, view: &Relation, names: &NewNames, schema: &SessionSchema) -> Done<bool> {
        let Some((definition, pins)) = view.definition() else { return Ok(false) };
        let uses = || self.session.uses(definition, Some(pins), view.language, schema);
        let pinned = !pins.is_empty();
        let edits = names.edits(definition, "", pinned, uses)?;
        if edits.is_empty() {
            return Ok(false);
        }
        let database = view.physical.database;
        self.touch(database, view.oid);
        if pinned {
            self.record_pins(database, view.oid, &pins.moved(&edits))?;
        } else if names.field.is_some() {
            let pins = Pins::of(&self.session.uses(definition, None, view.language, schema)?);
            self.record_pins(database, view.oid, &pins.moved(&edits))?;
        }
        let text = edited(definition, edits);
        self.store.change_entry(database, view.oid, Fact::Definition, Some(&text))?;
        Ok(true)
    }

    /// Everything that is kept of a relation besides.
    fn rename_in_table(
        &self,
        table: &Arc<Relation>,
        names: &NewNames,
        schema: &SessionSchema,
        renamed: &mut Renamed,
    ) -> Done {
        let database = table.physical.database;
        let context = self.session.text_context();
        let expression = |text: &str| -> Done<Option<String>> {
            let new = self.renamed_expression(text, table, names, schema)?;
            // The back end keeps the constant, too.
            if new.is_some() && names.label.is_some() && table.keeps_rows() {
                let what = format!("renaming a label that {text} of table \"{}\" names", table.name);
                return Err(Error::unsupported(what).into());
            }
            Ok(new)
        };
        let mut touched = false;
        for column in &table.columns {
            if let Some(default) = &column.default {
                let uses = || postgres::uses_of_default(&default.text, Some(&column.ty), schema, &context);
                if let Some(text) = names.rewritten(&default.text, uses)? {
                    if names.label.is_some() && table.keeps_rows() {
                        renamed.defaults.push((table.oid, column.name.clone(), text));
                        continue;
                    }
                    self.store.rewrite_default(table, &column.name, &text)?;
                    touched = true;
                }
            }
            if let Some(generated) = &column.generated
                && let Some(text) = expression(&generated.text)?
            {
                self.store.rewrite_generated(table, &column.name, &text)?;
                touched = true;
            }
        }
        for check in &table.checks {
            if let Some(text) = expression(&check.text)? {
                self.store.rewrite_text_of_check(table, &check.name, &text)?;
                touched = true;
            }
        }
        for index in &table.indexes {
            for (at, key) in index.keys.iter().enumerate().filter(|(at, _)| index.columns[*at].is_none()) {
                if let Some(text) = expression(&key.text)? {
                    self.store.rewrite_index_key(database, index.oid, at, &text)?;
                    touched = true;
                }
            }
            if let Some(predicate) = &index.predicate
                && let Some(text) = expression(predicate)?
            {
                self.store.rewrite_predicate(database, index.oid, &text)?;
                touched = true;
            }
        }
        for trigger in table.named_triggers() {
            let Some(condition) = &trigger.condition else { continue };
            let uses = || postgres::trigger_condition_uses(condition, table, schema, &context);
            if let Some(text) = names.rewritten(condition, uses)? {
                let mut changed = rowferry_dialect::schema::Trigger::clone(trigger);
                changed.condition = Some(text);
                self.store.record_trigger(table, &changed)?;
                touched = true;
            }
        }
        if let Some(partitioning) = &table.partitioning {
            let mut changed = (**partitioning).clone();
            for key in changed.keys.iter_mut().filter(|key| key.column.is_none()) {
                if let Some(text) = expression(&key.text)? {
                    key.text = text;
                }
            }
            if changed != **partitioning {
                let text = changed.to_string();
                self.set_property(database, table.oid, "", partition::PARTITION_BY, Some(&text))?;
                touched = true;
            }
        }
        renamed.tables |= touched;
        if touched || matches!(table.kind, RelationKind::Sequence { .. }) {
            self.touch(database, table.oid);
        }
        Ok(())
    }

    fn rename_in_domain(&self, ty: &Arc<UserType>, names: &NewNames, schema: &SessionSchema) -> Done {
        let UserKind::Domain(domain) = &ty.kind else { return Ok(()) };
        let context = self.session.text_context();
        let mut changed = domain.clone();
        for check in &mut changed.checks {
            let uses = || postgres::uses_of_domain_check(&check.text, &domain.base, schema, &context);
            if let Some(text) = names.rewritten(&check.text, uses)? {
                check.text = text;
            }
        }
        if let Some(default) = &mut changed.default {
            let uses = || postgres::uses_of_default(default, Some(&domain.base), schema, &context);
            if let Some(text) = names.rewritten(default, uses)? {
                *default = text;
            }
        }
        let same = changed.default == domain.default
            && changed.checks.iter().zip(&domain.checks).all(|(new, old)| new.text == old.text);
        if same {
            return Ok(());
        }
        self.store_type(&UserType { kind: UserKind::Domain(changed), ..UserType::clone(ty) })
    }
}
