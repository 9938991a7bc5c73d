//! CREATE, ALTER and DROP of functions made in PostgreSQL's way: their canonical text is kept.

use std::sync::Arc;

use rowferry_dialect::error::Severity;
use rowferry_dialect::ir::{AlterFunction, CreateFunction};
use rowferry_dialect::postgres::quote_ident;
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::{Error, Language, Schema as _};

use super::dependencies::Needed;
use super::{Changer, Done, cannot_drop};
use crate::schema::SessionSchema;
use crate::settings::ExtraCheck;

impl Changer<'_> {
    pub(super) fn create_function(&self, create: &CreateFunction) -> Done {
        for shadow in &create.shadows {
            match self.session.extra_check(ExtraCheck::ShadowedVariables) {
                Some(true) => return Err(shadow.clone().into()),
                Some(false) => self.session.remark(shadow.clone().with_severity(Severity::Warning)),
                None => break,
            }
        }
        match create.replaces {
            Some(oid) => self.rewrite(oid, &create.namespace, &create.signature, &create.text)?,
            None => {
                let text = Some(create.text.as_str());
                self.record("main", "function", &create.namespace, &create.signature, None, Language::Postgres, text)?;
            }
        }
        self.bump()
    }

    pub(super) fn alter_function(&self, alter: &AlterFunction) -> Done {
        self.rewrite(alter.function, &alter.namespace, &alter.signature, &alter.text)?;
        self.bump()
    }

    /// The function stays who it is under another text.
    pub(super) fn rewrite(&self, oid: u32, namespace: &str, signature: &str, text: &str) -> Done {
        self.touch("main", oid);
        self.store.rewrite_function(oid, namespace, signature, text)
    }

    pub(super) fn drop_functions(&self, functions: &[u32], cascade: bool) -> Done {
        for oid in functions {
            let schema = self.schema();
            let Some(function) = schema.function_by_oid(*oid) else { continue };
            let shown = described_function(&schema, &function);
            self.drop_dependents(&shown, vec![Needed::function(*oid, &shown)], cascade)?;
            self.drop_triggers_of_function(*oid, &shown, cascade)?;
            self.drop_aggregates_of_function(*oid, functions, &shown, cascade)?;
            self.drop_operators_of_function(*oid, &shown, cascade)?;
            self.drop_domain_checks_of_function(*oid, &shown, cascade)?;
            self.drop_callers_in_tables(&function, &shown, cascade)?;
            self.forget("main", *oid)?;
        }
        self.bump()
    }

    /// The aggregates that a function stands behind go with it, those apart that go anyway.
    fn drop_aggregates_of_function(&self, oid: u32, dropped: &[u32], shown: &str, cascade: bool) -> Done {
        let schema = self.schema();
        let rests = |function: &&Arc<StoredFunction>| {
            let part = function.definition.aggregate.as_ref();
            !dropped.contains(&function.oid) && part.is_some_and(|part| part.functions().any(|known| known == oid))
        };
        let found: Vec<_> = schema.main.functions.iter().filter(rests).cloned().collect();
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
