//! CREATE EXTENSION, ALTER EXTENSION and DROP EXTENSION: modules that are built in.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, DropBehavior, Node, node::Node as N};
use rowferry_facts as facts;

use super::super::binder::Binder;
use super::super::names;
use crate::extension::{Installed, PLPGSQL, not_available};
use crate::ir::{Ddl, ExtensionChange, Statement};
use crate::schema::QualifiedName;
use crate::{Condition, Error, Result};

fn change(change: ExtensionChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::Extension(change)))
}

/// The text of an option.
fn text(option: &pg::DefElem) -> Option<&str> {
    match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
        Some(N::String(string)) => Some(&string.sval),
        _ => None,
    }
}

/// Options by their names, none twice.
fn options(nodes: &[Node]) -> Result<Vec<&pg::DefElem>> {
    let mut options: Vec<&pg::DefElem> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let Some(N::DefElem(option)) = &node.node else { continue };
        if options.iter().any(|other| other.defname == option.defname) {
            return Err(Error::new(Condition::SyntaxError, "conflicting or redundant options"));
        }
        options.push(option);
    }
    Ok(options)
}

/// A name that could be an extension's.
fn check_name(name: &str) -> Result<()> {
    let detail = if name.is_empty() {
        "Extension names must not be empty."
    } else if name.contains("--") {
        "Extension names must not contain \"--\"."
    } else if name.starts_with('-') || name.ends_with('-') {
        "Extension names must not begin or end with \"-\"."
    } else if name.contains(['/', '\\']) {
        "Extension names must not contain directory separator characters."
    } else {
        return Ok(());
    };
    let message = format!("invalid extension name: \"{name}\"");
    Err(Error::new(Condition::InvalidParameterValue, message).detail(detail))
}

impl Binder<'_> {
    fn installed(&self, name: &str) -> Option<Arc<Installed>> {
        self.schema.extensions().iter().find(|extension| extension.name() == name).cloned()
    }

    /// An extension that is there.
    fn extension(&self, name: &str) -> Result<Arc<Installed>> {
        if name == PLPGSQL {
            return Err(Error::unsupported("a change of the extension plpgsql"));
        }
        let missing = || Error::new(Condition::UndefinedObject, format!("extension \"{name}\" does not exist"));
        self.installed(name).ok_or_else(missing)
    }

    pub(super) fn create_extension(&mut self, create: &pg::CreateExtensionStmt) -> Result<Statement> {
        let name = create.extname.as_str();
        check_name(name)?;
        if name == PLPGSQL || self.installed(name).is_some() {
            let message = format!("extension \"{name}\" already exists");
            if create.if_not_exists {
                self.notices.push(Error::new(Condition::DuplicateObject, format!("{message}, skipping")));
                return Ok(Statement::Nothing { tag: "CREATE EXTENSION" });
            }
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        let (mut namespace, mut version) = (None, None);
        for option in options(&create.options)? {
            match option.defname.as_str() {
                "schema" => namespace = text(option),
                "new_version" => version = text(option),
                // What an extension needs is in it.
                "cascade" => {}
                other => return Err(self.unsupported(format!("the option {other} of CREATE EXTENSION"), -1)),
            }
        }
        let facts = facts::Extension::named(name).ok_or_else(|| not_available(name))?;
        if let Some(version) = version.filter(|version| *version != facts.version) {
            let message =
                format!("extension \"{name}\" has no installation script nor update path for version \"{version}\"");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        let namespace = self.schema.creation_schema(namespace)?;
        self.check_extension_fits(facts, &namespace)?;
        Ok(change(ExtensionChange::Create { name: facts.name, namespace }))
    }

    /// Refuses a schema that is not there, or where a name of the extension's types is taken.
    fn check_extension_fits(&self, facts: &facts::Extension, namespace: &str) -> Result<()> {
        if !self.schema.has_namespace(namespace) {
            let message = format!("schema \"{namespace}\" does not exist");
            return Err(Error::new(Condition::InvalidSchemaName, message));
        }
        if namespace == "pg_temp" {
            return Err(Error::unsupported("an extension in a temporary schema"));
        }
        let taken = facts.types().iter().find(|ty| {
            let name = QualifiedName::new(namespace, ty.name);
            self.schema.user_type(&name).is_some() || self.is_taken(&name)
        });
        match taken {
            Some(ty) => Err(Error::new(Condition::DuplicateObject, format!("type \"{}\" already exists", ty.name))),
            None => Ok(()),
        }
    }

    /// ALTER EXTENSION … UPDATE: of each there is one version.
    pub(super) fn update_extension(&mut self, alter: &pg::AlterExtensionStmt) -> Result<Statement> {
        let extension = self.extension(&alter.extname)?;
        let wanted = options(&alter.options)?.into_iter().find(|option| option.defname == "new_version");
        let (name, version) = (extension.name(), extension.facts.version);
        let wanted = wanted.and_then(text).unwrap_or(version);
        if wanted != version {
            let message =
                format!("extension \"{name}\" has no update path from version \"{version}\" to version \"{wanted}\"");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        self.remark(format!("version \"{version}\" of extension \"{name}\" is already installed"));
        Ok(Statement::Nothing { tag: "ALTER EXTENSION" })
    }

    /// ALTER EXTENSION … SET SCHEMA.
    pub(super) fn move_extension(&mut self, alter: &pg::AlterObjectSchemaStmt) -> Result<Statement> {
        let name = match alter.object.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::String(name)) => name.sval.as_str(),
            _ => return Err(Error::internal("an extension without a name")),
        };
        let extension = self.extension(name)?;
        let to = alter.newschema.clone();
        if !extension.facts.relocatable {
            let message = format!("extension \"{name}\" does not support SET SCHEMA");
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        if to == extension.namespace {
            return Ok(Statement::Nothing { tag: "ALTER EXTENSION" });
        }
        self.check_extension_fits(extension.facts, &to)?;
        Ok(change(ExtensionChange::SetSchema { extension, to }))
    }

    /// COMMENT ON EXTENSION.
    pub(super) fn comment_on_extension(&mut self, parts: &[String], text: Option<String>) -> Result<Ddl> {
        let extension = self.extension(parts.first().map_or("", String::as_str))?;
        Ok(Ddl::Extension(ExtensionChange::Comment { extension, text }))
    }

    pub(super) fn drop_extensions(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let mut extensions: Vec<Arc<Installed>> = Vec::new();
        for name in names::strings(&drop.objects) {
            if drop.missing_ok && name != PLPGSQL && self.installed(name).is_none() {
                self.remark(format!("extension \"{name}\" does not exist, skipping"));
                continue;
            }
            let extension = self.extension(name)?;
            if !extensions.contains(&extension) {
                extensions.push(extension);
            }
        }
        if extensions.is_empty() {
            return Ok(Statement::Nothing { tag: "DROP EXTENSION" });
        }
        let cascade = drop.behavior() == DropBehavior::DropCascade;
        Ok(change(ExtensionChange::Drop { extensions, cascade }))
    }
}
