//! CREATE, ALTER, DROP and COMMENT ON COLLATION.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, DropBehavior, node::Node as N};

use super::super::binder::Binder;
use super::super::names;
use crate::collation::{Collation, Made};
use crate::ir::{CollationChange, Ddl, Statement};
use crate::schema::QualifiedName;
use crate::{Condition, Error, Result};

fn change(change: CollationChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::Collation(change)))
}

/// A bare or qualified name.
fn qualified(parts: &[&str]) -> QualifiedName {
    match parts {
        [.., schema, name] => QualifiedName::new(*schema, *name),
        [name] => QualifiedName::bare(*name),
        [] => QualifiedName::bare(""),
    }
}

/// The text of an option: a word, a string, a name.
fn text(option: &pg::DefElem) -> String {
    match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
        Some(N::String(text)) => text.sval.clone(),
        Some(N::TypeName(name)) => names::strings(&name.names).join("."),
        Some(N::Integer(number)) => number.ival.to_string(),
        Some(N::Boolean(value)) => value.boolval.to_string(),
        _ => String::new(),
    }
}

/// What stands in the parentheses of CREATE COLLATION.
#[derive(Default)]
struct Options {
    from: Option<Vec<String>>,
    locale: Option<String>,
    collate: Option<String>,
    ctype: Option<String>,
    provider: Option<String>,
    deterministic: Option<bool>,
    version: bool,
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidObjectDefinition, message)
}

fn conflicting(detail: &str) -> Error {
    Error::new(Condition::SyntaxError, "conflicting or redundant options").detail(detail)
}

fn boolean(option: &pg::DefElem) -> Result<bool> {
    if option.arg.is_none() {
        return Ok(true);
    }
    match text(option).to_ascii_lowercase().as_str() {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(Error::new(Condition::SyntaxError, format!("{} requires a Boolean value", option.defname))),
    }
}

impl Binder<'_> {
    fn collation_options(&self, definition: &[pg::Node]) -> Result<Options> {
        let mut options = Options::default();
        let mut seen: Vec<&str> = Vec::new();
        for node in definition {
            let Some(N::DefElem(option)) = &node.node else { continue };
            let name = option.defname.as_str();
            if seen.contains(&name) {
                let message = "conflicting or redundant options";
                return Err(self.error(Condition::SyntaxError, message, option.location));
            }
            seen.push(name);
            match name {
                "from" => {
                    let parts = match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
                        Some(N::List(list)) => names::strings(&list.items).into_iter().map(str::to_owned).collect(),
                        Some(N::TypeName(name)) => names::strings(&name.names).into_iter().map(str::to_owned).collect(),
                        _ => vec![text(option)],
                    };
                    options.from = Some(parts);
                }
                "locale" => options.locale = Some(text(option)),
                "lc_collate" => options.collate = Some(text(option)),
                "lc_ctype" => options.ctype = Some(text(option)),
                "provider" => options.provider = Some(text(option)),
                "deterministic" => options.deterministic = Some(boolean(option)?),
                "version" => options.version = true,
                _ => {
                    let message = format!("collation attribute \"{name}\" not recognized");
                    return Err(self.error(Condition::SyntaxError, message, option.location));
                }
            }
        }
        if options.locale.is_some() && (options.collate.is_some() || options.ctype.is_some()) {
            return Err(conflicting("LOCALE cannot be specified together with LC_COLLATE or LC_CTYPE."));
        }
        if options.from.is_some() && seen.len() > 1 {
            return Err(conflicting("FROM cannot be specified together with any other options."));
        }
        Ok(options)
    }

    fn collation_made(&self, options: Options) -> Result<Made> {
        if let Some(parts) = &options.from {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let source = self.collation_named(&parts, -1)?;
            if source.oid == Collation::DEFAULT {
                return Err(invalid("collation \"default\" cannot be copied"));
            }
            return Ok(source.made());
        }
        if options.version {
            return Err(self.unsupported("the option VERSION of CREATE COLLATION", -1));
        }
        let provider = options.provider.unwrap_or_else(|| "libc".to_owned());
        let missing = |name: &str| invalid(format!("parameter \"{name}\" must be specified"));
        match provider.to_ascii_lowercase().as_str() {
            "icu" => {
                let locale = options.locale.ok_or_else(|| missing("locale"))?;
                Made::of_icu(locale, options.deterministic.unwrap_or(true))
            }
            "libc" => {
                let collate = options.collate.or_else(|| options.locale.clone()).ok_or_else(|| missing("lc_collate"));
                let collate = if options.ctype.is_none() && options.locale.is_none() && collate.is_err() {
                    return Err(missing("locale"));
                } else {
                    collate?
                };
                let ctype = options.ctype.or(options.locale).ok_or_else(|| missing("lc_ctype"))?;
                if options.deterministic == Some(false) {
                    let message = "nondeterministic collations not supported with this provider";
                    return Err(Error::new(Condition::FeatureNotSupported, message));
                }
                Made::of_libc(collate, ctype)
            }
            _ => Err(invalid(format!("unrecognized collation provider: {provider}"))),
        }
    }

    pub(super) fn create_collation(&mut self, define: &pg::DefineStmt) -> Result<Statement> {
        let name = qualified(&names::strings(&define.defnames));
        let namespace = self.schema.creation_schema(name.schema.as_deref())?;
        if matches!(namespace.as_str(), "pg_catalog" | "information_schema" | "pg_temp") {
            return Err(self.unsupported(format!("a collation in the schema {namespace}"), -1));
        }
        let options = self.collation_options(&define.definition)?;
        let made = self.collation_made(options)?;
        let name = QualifiedName::new(namespace, name.name);
        if self.schema.collation(&name).is_some() {
            let message = format!("collation \"{}\" already exists", name.name);
            if define.if_not_exists {
                self.notices.push(Error::new(Condition::DuplicateObject, format!("{message}, skipping")));
                return Ok(Statement::Nothing { tag: "CREATE COLLATION" });
            }
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        Ok(change(CollationChange::Create { name, definition: made.definition() }))
    }

    /// A collation that a user has made.
    fn own_collation(&self, parts: &[&str], doing: &str) -> Result<Arc<Collation>> {
        let collation = self.collation_named(parts, -1)?;
        if collation.is_built_in() {
            return Err(self.unsupported(format!("{doing} of a built-in collation"), -1));
        }
        Ok(collation)
    }

    /// The collation whose owner ALTER … OWNER TO changes.
    pub(in crate::postgres) fn owned_collation(&self, alter: &pg::AlterOwnerStmt) -> Result<Arc<Collation>> {
        self.own_collation(&as_strs(&object_names(alter.object.as_deref())), "ALTER COLLATION … OWNER TO")
    }

    pub(super) fn rename_collation(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let parts = object_names(rename.object.as_deref());
        let collation = self.own_collation(&as_strs(&parts), "ALTER COLLATION … RENAME")?;
        self.check_collation_free(&collation, &collation.namespace, &rename.newname)?;
        Ok(change(CollationChange::Rename { collation, to: rename.newname.clone() }))
    }

    pub(super) fn move_collation(&mut self, alter: &pg::AlterObjectSchemaStmt) -> Result<Statement> {
        let parts = object_names(alter.object.as_deref());
        let collation = self.own_collation(&as_strs(&parts), "ALTER COLLATION … SET SCHEMA")?;
        let to = alter.newschema.clone();
        if !self.schema.has_namespace(&to) {
            let message = format!("schema \"{to}\" does not exist");
            return Err(Error::new(Condition::InvalidSchemaName, message));
        }
        if matches!(to.as_str(), "pg_catalog" | "information_schema" | "pg_temp") {
            return Err(self.unsupported(format!("a collation in the schema {to}"), -1));
        }
        if to == collation.namespace {
            return Ok(Statement::Nothing { tag: "ALTER COLLATION" });
        }
        self.check_collation_free(&collation, &to, &collation.name)?;
        Ok(change(CollationChange::SetSchema { collation, to }))
    }

    fn check_collation_free(&self, collation: &Collation, namespace: &str, name: &str) -> Result<()> {
        if self.schema.collation(&QualifiedName::new(namespace, name)).is_none() {
            return Ok(());
        }
        // ICU's are of every encoding.
        let encoding = if collation.is_unicode() { "" } else { " for encoding \"UTF8\"" };
        let message = format!("collation \"{name}\"{encoding} already exists in schema \"{namespace}\"");
        Err(Error::new(Condition::DuplicateObject, message))
    }

    /// ALTER COLLATION … REFRESH VERSION: a collation is of the version of the orders that are built in.
    pub(super) fn refresh_collation(&mut self, alter: &pg::AlterCollationStmt) -> Result<Statement> {
        self.collation_named(&names::strings(&alter.collname), -1)?;
        self.remark("version has not changed".to_owned());
        Ok(Statement::Nothing { tag: "ALTER COLLATION" })
    }

    pub(super) fn comment_on_collation(&mut self, parts: &[String], text: Option<String>) -> Result<Ddl> {
        let collation = self.own_collation(&as_strs(parts), "COMMENT ON COLLATION")?;
        Ok(Ddl::Collation(CollationChange::Comment { collation, text }))
    }

    pub(super) fn drop_collations(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let mut collations: Vec<Arc<Collation>> = Vec::new();
        for node in &drop.objects {
            let parts = object_names(Some(node));
            let parts = as_strs(&parts);
            if drop.missing_ok && self.collation_named(&parts, -1).is_err() {
                let name = parts.last().copied().unwrap_or_default();
                match parts.as_slice() {
                    [schema, _] if !self.schema.has_namespace(schema) => {
                        self.remark(format!("schema \"{schema}\" does not exist, skipping"));
                    }
                    _ => self.remark(format!("collation \"{name}\" does not exist, skipping")),
                }
                continue;
            }
            let collation = self.own_collation(&parts, "DROP COLLATION")?;
            if !collations.contains(&collation) {
                collations.push(collation);
            }
        }
        if collations.is_empty() {
            return Ok(Statement::Nothing { tag: "DROP COLLATION" });
        }
        let cascade = drop.behavior() == DropBehavior::DropCascade;
        Ok(change(CollationChange::Drop { collations, cascade }))
    }
}

fn as_strs(parts: &[String]) -> Vec<&str> {
    parts.iter().map(String::as_str).collect()
}

/// The parts of an object's name.
fn object_names(node: Option<&pg::Node>) -> Vec<String> {
    match node.and_then(|node| node.node.as_ref()) {
        Some(N::List(list)) => names::strings(&list.items).into_iter().map(str::to_owned).collect(),
        Some(N::String(name)) => vec![name.sval.clone()],
        _ => Vec::new(),
    }
}
