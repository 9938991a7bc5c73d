//! Names and object ids: what `regclass` and its kin read and print.

use std::sync::Arc;

pub use rowferry_dialect::postgres::quote_ident;
use rowferry_dialect::postgres::{qualified_name, regproc, regtype};
use rowferry_dialect::schema::QualifiedName;
use rowferry_dialect::text_search::{self, Kind};
use rowferry_dialect::types::Reg;
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::{Condition, Error, Result, Schema as _};

use crate::schema::{INFORMATION_SCHEMA, INFORMIX, PG_CATALOG, PG_TEMP, PG_TOAST, PUBLIC, SessionSchema};
use crate::session::state::State;

/// The fixed ids of namespaces: PostgreSQL's where it has them.
pub const NAMESPACES: &[(u32, &str)] = &[
    (11, PG_CATALOG),
    (2_200, PUBLIC),
    (13_000, INFORMATION_SCHEMA),
    (TEMPORARY, PG_TEMP),
    (13_002, INFORMIX),
    (99, PG_TOAST),
];

/// The schema of a session's temporary objects.
pub const TEMPORARY: u32 = 13_001;

/// A namespace's object id.
pub fn namespace_oid(schema: &SessionSchema, name: &str) -> u32 {
    let fixed = NAMESPACES.iter().find(|(_, known)| *known == name).map(|(oid, _)| *oid);
    let made = || schema.main.namespaces.iter().find(|namespace| namespace.name == name).map(|namespace| namespace.oid);
    fixed.or_else(made).unwrap_or(0)
}

/// A namespace's name.
pub fn namespace_name(schema: &SessionSchema, oid: u32) -> Option<String> {
    let fixed = NAMESPACES.iter().find(|(known, _)| *known == oid).map(|(_, name)| (*name).to_owned());
    fixed.or_else(|| {
        schema.main.namespaces.iter().find(|namespace| namespace.oid == oid).map(|namespace| namespace.name.clone())
    })
}

/// A role's name as it stands in a list of privileges.
pub fn acl_name(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The relation, sequence, index or composite type with an object id: namespace and name.
pub fn class_name(schema: &SessionSchema, oid: u32) -> Option<(String, String)> {
    if let Some(relation) = schema.relation_by_oid(oid) {
        return Some((relation.namespace.clone(), relation.name.clone()));
    }
    if let Some(details) = schema.sequence_by_oid(oid) {
        return Some((details.sequence.namespace.clone(), details.sequence.name.clone()));
    }
    if let Some(index) = rowferry_facts::Index::by_oid(oid) {
        return Some((PG_CATALOG.to_owned(), index.name.to_owned()));
    }
    if let Some((relation, at)) = schema.index_by_oid(oid) {
        return Some((relation.namespace.clone(), relation.indexes[at].name.clone()));
    }
    let ty = composite_of(schema, oid)?;
    Some((ty.namespace.clone(), ty.name.clone()))
}

/// The composite type of an entry of `pg_class`.
pub fn composite_of(schema: &SessionSchema, relation: u32) -> Option<Arc<UserType>> {
    schema.user_types().into_iter().find(|ty| ty.composite().is_some_and(|composite| composite.relation == relation))
}

/// The entry of `pg_class` that a composite type has.
fn composite_entry(schema: &SessionSchema, name: &QualifiedName) -> Option<u32> {
    let ty = schema.user_type(name).filter(|ty| !ty.is_row_type())?;
    ty.composite().map(|composite| composite.relation)
}

/// The index of a catalog with a name.
fn system_index(name: &QualifiedName) -> Option<u32> {
    let inside = name.schema.as_deref().is_none_or(|schema| schema == PG_CATALOG);
    let mut all = rowferry_facts::Index::all().iter().filter(|_| inside);
    all.find(|index| index.name == name.name).map(|index| index.oid)
}

/// The object id of a relation, sequence, index or composite type.
pub fn class_oid(schema: &SessionSchema, name: &QualifiedName) -> Option<u32> {
    let relation = schema.relation(name).map(|relation| relation.oid);
    let sequence = || schema.sequence(name).map(|sequence| sequence.oid);
    let index = || schema.index(name).map(|(relation, at)| relation.indexes[at].oid);
    relation.or_else(sequence).or_else(index).or_else(|| composite_entry(schema, name)).or_else(|| system_index(name))
}

/// Whether a name without schema finds this very object; `None` where there is none.
pub fn is_visible(schema: &SessionSchema, oid: u32) -> Option<bool> {
    let (_, name) = class_name(schema, oid)?;
    Some(class_oid(schema, &QualifiedName::bare(name)) == Some(oid))
}

/// True when the name of a collation without schema finds this very one. PostgreSQL's own are in `pg_catalog`.
pub fn is_collation_visible(schema: &SessionSchema, oid: u32) -> bool {
    let made = schema.main.collations.iter().find(|made| made.oid == oid);
    made.is_none_or(|made| schema.collation(&QualifiedName::bare(&made.name)).is_some_and(|found| found.oid == oid))
}

/// The name to print for a function or operator.
pub fn function_name(schema: &SessionSchema, reg: Reg, oid: u32) -> Option<String> {
    regproc::name(schema, reg, oid).or_else(|| super::pg_proc::added_name(reg, oid))
}

/// What `regconfig` and `regdictionary` name.
pub fn search_kind(reg: Reg) -> Kind {
    if reg == Reg::Dictionary { Kind::Dictionary } else { Kind::Configuration }
}

/// The name of a configuration or dictionary of text search, with its schema where a bare one would not mean it.
pub fn search_name(schema: &SessionSchema, kind: Kind, oid: u32) -> Option<String> {
    let object = schema.search_object_by_oid(oid).filter(|object| object.kind() == kind)?;
    Some(object.shown(schema))
}

/// The name of a collation, with its schema where a bare one would not mean it.
pub fn collation_name(schema: &SessionSchema, oid: u32) -> Option<String> {
    let made = schema.main.collations.iter().find(|made| made.oid == oid).cloned();
    let found = made.or_else(|| rowferry_dialect::collation::Collation::by_oid(oid).cloned())?;
    let name = quote_ident(&found.name);
    Some(match is_collation_visible(schema, oid) {
        true => name,
        false => format!("{}.{name}", quote_ident(&found.namespace)),
    })
}

/// The name to print for an object id.
pub fn name(state: &State, reg: Reg, oid: u32) -> Option<String> {
    let schema = state.schema();
    match reg {
        Reg::Class => {
            let (namespace, name) = class_name(&schema, oid)?;
            let bare = class_oid(&schema, &QualifiedName::bare(name.clone())) == Some(oid);
            let name = quote_ident(&name);
            Some(if bare { name } else { format!("{}.{name}", quote_ident(&namespace)) })
        }
        Reg::Namespace => namespace_name(&schema, oid).map(|name| quote_ident(&name)),
        Reg::Type => regtype::shown_in(&schema, oid, None),
        Reg::Collation => collation_name(&schema, oid),
        Reg::Config | Reg::Dictionary => search_name(&schema, search_kind(reg), oid),
        Reg::Role => schema.role_name(oid).map(|name| quote_ident(&name)),
        Reg::Oper | Reg::Operator | Reg::Proc | Reg::Procedure => function_name(&schema, reg, oid),
    }
}

/// The object that a text names.
pub fn oid(state: &State, reg: Reg, text: &str) -> Result<u32> {
    if let Ok(number) = text.trim().parse() {
        return Ok(number);
    }
    let schema = state.schema();
    let invalid = || Error::new(Condition::InvalidName, format!("invalid name syntax: \"{text}\""));
    match reg {
        Reg::Class => {
            let name = qualified_name(text).ok_or_else(invalid)?;
            (&schema as &dyn rowferry_dialect::Schema).check_usage(&name)?;
            class_oid(&schema, &name)
                .ok_or_else(|| Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist")))
        }
        Reg::Namespace => {
            let name = qualified_name(text).ok_or_else(invalid)?.name;
            match namespace_oid(&schema, &name) {
                0 => Err(Error::new(Condition::InvalidSchemaName, format!("schema \"{name}\" does not exist"))),
                oid => Ok(oid),
            }
        }
        Reg::Collation => {
            let name = qualified_name(text).ok_or_else(invalid)?;
            if let Some(namespace) = name.schema.as_deref().filter(|namespace| !schema.has_namespace(namespace)) {
                let message = format!("schema \"{namespace}\" does not exist");
                return Err(Error::new(Condition::InvalidSchemaName, message));
            }
            let missing = || {
                let message = format!("collation \"{name}\" for encoding \"UTF8\" does not exist");
                Error::new(Condition::UndefinedObject, message)
            };
            let of_catalogs = matches!(name.schema.as_deref(), None | Some(PG_CATALOG));
            let mut built_in = rowferry_dialect::collation::Collation::all().iter().filter(|_| of_catalogs);
            let found = built_in.find(|collation| collation.name == name.name).cloned();
            let found = found.or_else(|| schema.collation(&name));
            found.map(|collation| collation.oid).ok_or_else(missing)
        }
        Reg::Config | Reg::Dictionary => text_search::named(&schema, search_kind(reg), text).map(|object| object.oid),
        Reg::Type => regtype::oid_in(&schema, text),
        Reg::Role => {
            let name = qualified_name(text).ok_or_else(invalid)?.name;
            let unknown = || Error::new(Condition::UndefinedObject, format!("role \"{name}\" does not exist"));
            schema.role_oid(&name).ok_or_else(unknown)
        }
        Reg::Proc | Reg::Procedure => match regproc::oid(&schema, reg, text) {
            Err(error) if error.condition() == Condition::UndefinedFunction => {
                let bare = text.trim().strip_prefix("pg_catalog.").unwrap_or(text.trim());
                let mut added = super::pg_proc::ADDED.iter().map(|added| added.oid);
                added.find(|oid| super::pg_proc::added_name(reg, *oid).as_deref() == Some(bare)).ok_or(error)
            }
            found => found,
        },
        Reg::Oper | Reg::Operator => regproc::oid(&schema, reg, text),
    }
}
