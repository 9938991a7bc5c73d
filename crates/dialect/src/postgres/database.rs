//! CREATE DATABASE and DROP DATABASE.

use pg_query::protobuf::{self as pg, DefElem, Node, node::Node as N};
use rowferry_encodings::Encoding;

use super::binder::Binder;
use super::utility::{is_true, text_of};
use crate::access::roles::DatabaseFacts;
use crate::ir::{DatabaseChange, RoleSpec};
use crate::{Condition, Error, Result};

/// The names that an empty database has as a template.
const EMPTY: [&str; 2] = ["template0", "template1"];

impl Binder<'_> {
    pub(super) fn create_database(&mut self, create: &pg::CreatedbStmt) -> Result<DatabaseChange> {
        let (mut template, mut owner, mut locales, mut facts) = (None, None, Vec::new(), Vec::new());
        self.each_option(&create.options, |binder, option| {
            // DEFAULT stands for what there is without the option.
            let Some(value) = option.arg.as_deref() else { return Ok(()) };
            let value = text_of(Some(value));
            match option.defname.as_str() {
                "owner" => owner = Some(RoleSpec::Named(value)),
                "template" => template = Some(value).filter(|name| !EMPTY.contains(&name.as_str())),
                "encoding" => binder.check_encoding(&value, option)?,
                "locale" | "lc_collate" | "lc_ctype" | "icu_locale" => locales.push(value),
                "locale_provider" if value == "libc" => {}
                "locale_provider" if value == "icu" => {
                    return Err(binder.unsupported("CREATE DATABASE … LOCALE_PROVIDER icu", option.location));
                }
                "locale_provider" => {
                    let message = format!("unrecognized locale provider: {value}");
                    return Err(Error::new(Condition::InvalidParameterValue, message));
                }
                // How the copy is made shows nowhere.
                "strategy" if matches!(value.to_ascii_lowercase().as_str(), "wal_log" | "file_copy") => {
                    binder.remark("STRATEGY has no effect: the file is copied".to_owned());
                }
                "strategy" => {
                    let message = format!("invalid create database strategy \"{value}\"");
                    return Err(Error::new(Condition::InvalidParameterValue, message)
                        .hint("Valid strategies are \"wal_log\", and \"file_copy\"."));
                }
                "tablespace" if value == "pg_default" => {}
                "tablespace" => {
                    let message = format!("tablespace \"{value}\" does not exist");
                    return Err(Error::new(Condition::UndefinedObject, message));
                }
                "allow_connections" | "is_template" | "connection_limit" => facts.push(binder.database_fact(option)?),
                other @ ("collation_version" | "oid") => {
                    let words = format!("CREATE DATABASE … {}", other.to_uppercase());
                    return Err(binder.unsupported(words, option.location));
                }
                other => {
                    let message = format!("option \"{other}\" not recognized");
                    return Err(binder.error(Condition::SyntaxError, message, option.location));
                }
            }
            Ok(())
        })?;
        self.effects.volatile = true;
        Ok(DatabaseChange::Create { name: create.dbname.clone(), template, owner, locales, facts })
    }

    /// ALTER DATABASE … WITH.
    pub(super) fn database_facts(&mut self, options: &[Node]) -> Result<Vec<(&'static str, Option<String>)>> {
        let mut facts = Vec::new();
        self.each_option(options, |binder, option| {
            match option.defname.as_str() {
                "allow_connections" | "is_template" | "connection_limit" => facts.push(binder.database_fact(option)?),
                "tablespace" if text_of(option.arg.as_deref()) == "pg_default" => {}
                "tablespace" => {
                    let message = format!("tablespace \"{}\" does not exist", text_of(option.arg.as_deref()));
                    return Err(Error::new(Condition::UndefinedObject, message));
                }
                other => {
                    let message = format!("option \"{other}\" not recognized");
                    return Err(binder.error(Condition::SyntaxError, message, option.location));
                }
            }
            Ok(())
        })?;
        Ok(facts)
    }

    /// ALLOW_CONNECTIONS, IS_TEMPLATE and CONNECTION LIMIT, as a file keeps them.
    fn database_fact(&self, option: &DefElem) -> Result<(&'static str, Option<String>)> {
        let value = option.arg.as_deref();
        let truth = || is_true(value).to_string();
        Ok(match option.defname.as_str() {
            "allow_connections" => (DatabaseFacts::ALLOWS_CONNECTIONS, Some(truth())),
            "is_template" => (DatabaseFacts::IS_TEMPLATE, Some(truth())),
            _ => {
                let text = text_of(value);
                let limit = text.parse::<i32>().ok().filter(|limit| *limit >= -1);
                let Some(limit) = limit else {
                    let message = format!("invalid connection limit: {text}");
                    return Err(Error::new(Condition::InvalidParameterValue, message));
                };
                (DatabaseFacts::CONNECTION_LIMIT, Some(limit.to_string()))
            }
        })
    }

    pub(super) fn drop_database(&mut self, drop: &pg::DropdbStmt) -> Result<DatabaseChange> {
        let mut force = false;
        for option in drop.options.iter().filter_map(def_elem) {
            if option.defname != "force" {
                let message = format!("unrecognized DROP DATABASE option \"{}\"", option.defname);
                return Err(self.error(Condition::SyntaxError, message, option.location));
            }
            force = true;
        }
        self.effects.volatile = true;
        Ok(DatabaseChange::Drop { name: drop.dbname.clone(), if_exists: drop.missing_ok, force })
    }

    /// Every option once.
    fn each_option(&mut self, options: &[Node], mut take: impl FnMut(&mut Self, &DefElem) -> Result<()>) -> Result<()> {
        let mut seen = Vec::with_capacity(options.len());
        for option in options.iter().filter_map(def_elem) {
            if seen.contains(&option.defname.as_str()) {
                let message = "conflicting or redundant options";
                return Err(self.error(Condition::SyntaxError, message, option.location));
            }
            seen.push(&option.defname);
            take(self, option)?;
        }
        Ok(())
    }

    fn check_encoding(&self, value: &str, option: &DefElem) -> Result<()> {
        let found = match value.parse() {
            Ok(number) => Encoding::numbered(number),
            Err(_) => Encoding::find(value),
        };
        match found.map(Encoding::is_utf8) {
            Some(true) => Ok(()),
            Some(false) => Err(self
                .unsupported(format!("a database of the encoding {value}"), option.location)
                .hint("Databases are kept in UTF8; a client may set its client_encoding to another.")),
            None => {
                let message = format!("{value} is not a valid encoding name");
                Err(self.error(Condition::UndefinedObject, message, option.location))
            }
        }
    }
}

fn def_elem(node: &Node) -> Option<&DefElem> {
    match &node.node {
        Some(N::DefElem(option)) => Some(option),
        _ => None,
    }
}
