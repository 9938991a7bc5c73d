//! CREATE, ALTER and DROP of functions made in PostgreSQL's way: their canonical text is kept.

use std::sync::Arc;

use rowferry_dialect::error::Severity;
use rowferry_dialect::ir::{AlterFunction, CreateFunction};
use rowferry_dialect::postgres::quote_ident;
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::{Condition, Error, Language, Schema as _};

use super::dependencies::Needed;
use super::new_names::NewNames;
use super::{Changer, Done, cannot_drop};
use crate::schema::{PG_TEMP, SessionSchema};
use crate::settings::ExtraCheck;

/// Which of the databases that a session sees keeps the functions of a namespace.
pub(super) fn database_of_namespace(namespace: &str) -> &'static str {
    if namespace == PG_TEMP { "temp" } else { "main" }
}

/// Which of them keeps a function.
pub(super) fn database_of(function: &StoredFunction) -> &'static str {
    database_of_namespace(&function.namespace)
}

impl Changer<'_> {
    /// What everybody has cannot call a function that goes with its session.
    pub(super) fn refuse_users_of_temporary_functions(&self) -> Done {
        let schema = self.schema();
        for function in schema.temp.functions.iter() {
            let shown = function.shown_signature();
            let refused = |what: String| -> Done {
                Err(Error::unsupported(format!("{what} that calls the temporary function {shown}")).into())
            };
            let lasting = |relation: &Relation| !relation.is_temporary();
            if let Some((view, _)) = schema.users(function.oid).find(|(view, _)| lasting(view)) {
                return refused(format!("view {}", view.name));
            }
            let triggered = schema
                .main
                .triggered()
                .find(|relation| relation.triggers.iter().any(|trigger| trigger.function == function.oid));
            if let Some(relation) = triggered {
                return refused(format!("a trigger on {}", relation.name));
            }
            let parts =
                self.parts_with(&|table, text| lasting(table) && self.calls(table, text, function), &|_, _| false);
            if let Some((table, part)) = parts.first() {
                return refused(self.shown_part(table, part));
            }
            if let Some((ty, _)) = self.domain_checks_naming(function.oid).first() {
                return refused(format!("domain {}", ty.name));
            }
            let rests = |aggregate: &&Arc<StoredFunction>| {
                let part = aggregate.definition.aggregate.as_ref();
                part.is_some_and(|part| part.functions().any(|known| known == function.oid))
            };
            if let Some(aggregate) = schema.main.functions.iter().find(rests) {
                return refused(format!("aggregate {}", aggregate.name));
            }
            let needed = [Needed::function(function.oid, &shown)];
            if let Some(user) = self.policies_needing(&needed).find(|user| lasting(&user.table)) {
                return refused(user.shown);
            }
            if schema.main.operators.iter().any(|made| made.definition.function == function.oid) {
                return refused("an operator".to_owned());
            }
            if schema.main.casts.iter().any(|made| made.definition.method.function() == function.oid) {
                return refused("a cast".to_owned());
            }
        }
        Ok(())
    }

    pub(super) fn create_function(&self, create: &CreateFunction) -> Done {
        for shadow in &create.shadows {
            match self.session.extra_check(ExtraCheck::ShadowedVariables) {
                Some(true) => return Err(shadow.clone().into()),
                Some(false) => self.session.remark(shadow.clone().with_severity(Severity::Warning)),
                None => break,
            }
        }
        let text = self.with_current_settings(&create.text, &create.current, (&create.namespace, &create.name))?;
        match create.replaces {
            Some(oid) => self.rewrite(oid, &create.namespace, &create.signature, &text)?,
            None => {
                let text = Some(text.as_str());
                let (namespace, signature) = (&create.namespace, &create.signature);
                let database = database_of_namespace(namespace);
                self.record(database, "function", namespace, signature, None, Language::Postgres, text)?;
            }
        }
        self.bump()
    }

    /// The text of a function with what SET … FROM CURRENT makes of the session's settings.
    fn with_current_settings(&self, text: &str, current: &[String], (namespace, called): (&str, &str)) -> Done<String> {
        if current.is_empty() {
            return Ok(text.to_owned());
        }
        let (_, mut definition) = rowferry_dialect::postgres::routine::from_text(text)?;
        for name in current {
            let Some(value) = self.session.variable(name) else {
                let message = format!("unrecognized configuration parameter \"{name}\"");
                return Err(Error::new(Condition::UndefinedObject, message).into());
            };
            // A list of names is kept as one.
            let values = match name.as_str() {
                "search_path" => value.split(',').map(|part| part.trim().trim_matches('"').to_owned()).collect(),
                _ => vec![value],
            };
            definition.settings.push((name.clone(), values));
        }
        Ok(rowferry_dialect::postgres::routine::definition_text(namespace, called, &definition))
    }

    pub(super) fn alter_function(&self, alter: &AlterFunction) -> Done {
        let known = self.schema().function_by_oid(alter.function);
        let name = alter.name.as_str();
        let renamed = match known.filter(|known| known.name != name || known.namespace != alter.namespace) {
            Some(known) => {
                let to = (known.name != name).then_some(name);
                Some(self.rename_in_texts(&NewNames::of(known.oid, &known.name, &alter.namespace, to))?)
            }
            None => None,
        };
        let text = self.with_current_settings(&alter.text, &alter.current, (&alter.namespace, name))?;
        self.rewrite(alter.function, &alter.namespace, &alter.signature, &text)?;
        renamed.map_or(Ok(()), |renamed| self.check_renamed(&renamed))?;
        self.bump()
    }

    /// The function stays who it is under another text.
    pub(super) fn rewrite(&self, oid: u32, namespace: &str, signature: &str, text: &str) -> Done {
        let known = self.schema().function_by_oid(oid);
        let database = known.map_or("main", |function| database_of(&function));
        if database != database_of_namespace(namespace) {
            return Err(Error::unsupported("moving a function into or out of the temporary schema").into());
        }
        self.touch(database, oid);
        self.store.rewrite_function(database, oid, namespace, signature, text)
    }

    pub(super) fn drop_functions(&self, functions: &[u32], cascade: bool) -> Done {
        for oid in &self.users_first(functions) {
            let schema = self.schema();
            let Some(function) = schema.function_by_oid(*oid) else { continue };
            let shown = described_function(&schema, &function);
            self.drop_dependents(&shown, vec![Needed::function(*oid, &shown)], cascade)?;
            self.drop_triggers_of_function(*oid, &shown, cascade)?;
            self.drop_aggregates_of_function(*oid, functions, &shown, cascade)?;
            self.drop_operators_of_function(*oid, &shown, cascade)?;
            self.drop_domain_checks_of_function(*oid, &shown, cascade)?;
            self.drop_callers_in_tables(&function, &shown, cascade)?;
            self.forget(database_of(&function), *oid)?;
            if functions.len() > 1 {
                self.settle()?;
            }
        }
        self.bump()
    }

    /// Functions that go together: those whose bodies need others before these.
    fn users_first(&self, functions: &[u32]) -> Vec<u32> {
        let mut left = functions.to_vec();
        let mut ordered = Vec::with_capacity(left.len());
        while left.len() > 1 {
            let is_free = |oid: &u32| {
                let users = self.bodies_needing(&[Needed::function(*oid, "")]);
                !users.iter().any(|user| left.contains(&user.function.oid))
            };
            let at = left.iter().position(is_free).unwrap_or(0);
            ordered.push(left.remove(at));
        }
        ordered.append(&mut left);
        ordered
    }

    /// The aggregates that a function stands behind go with it, those apart that go anyway.
    fn drop_aggregates_of_function(&self, oid: u32, dropped: &[u32], shown: &str, cascade: bool) -> Done {
        let schema = self.schema();
        let rests = |function: &&Arc<StoredFunction>| {
            let part = function.definition.aggregate.as_ref();
            !dropped.contains(&function.oid) && part.is_some_and(|part| part.functions().any(|known| known == oid))
        };
        let found: Vec<_> = schema.stored_functions().filter(rests).cloned().collect();
        if found.is_empty() {
            return Ok(());
        }
        let names: Vec<String> =
            found.iter().map(|function| format!("function {}", function.shown_signature())).collect();
        if !cascade {
            let lines: Vec<(String, String)> = names.into_iter().map(|name| (name, shown.to_owned())).collect();
            return Err(cannot_drop(shown, &lines));
        }
        self.tell_cascade(&names);
        let oids: Vec<u32> = found.iter().map(|function| function.oid).collect();
        self.drop_functions(&oids, cascade)
    }
}

/// A function as messages about dependencies call it: with its schema where its name alone does not find it.
pub(super) fn described_function(schema: &SessionSchema, function: &StoredFunction) -> String {
    let found = schema.functions(&QualifiedName::bare(function.name.clone()));
    let signature = function.shown_signature();
    match found.iter().any(|found| found.oid == function.oid) {
        true => format!("function {signature}"),
        false => format!("function {}.{signature}", quote_ident(&function.namespace)),
    }
}
