//! Any object in words: `pg_describe_object`.

use rowferry_dialect::postgres::regtype;
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::text_search::Kind;
use rowferry_dialect::types::Reg;
use rowferry_dialect::{Error, Result, Schema as _};
use rowferry_facts as facts;

use super::describe::constraint_oid;
use super::names::{
    class_name, collation_name, composite_of, function_name, is_visible, namespace_name, quote_ident, search_name,
};
use super::pg_attribute::default_oid;
use crate::schema::SessionSchema;
use crate::schema::metadata::derived_oid;

/// The rule behind a view.
pub fn rule_oid(view: u32) -> u32 {
    derived_oid("rule", "", &[&view.to_string()])
}

/// An object in words, by its catalog's object id, its own and the number of a column; `None` for one that is not there.
///
/// # Errors
/// `XX000` for what is no catalog of objects.
pub fn describe(schema: &SessionSchema, catalog: u32, oid: u32, column: i32) -> Result<Option<String>> {
    if catalog == 0 && oid == 0 {
        return Ok(None);
    }
    Ok(match catalog {
        1_259 => class(schema, oid, column),
        1_255 => function_name(schema, Reg::Procedure, oid).map(|name| format!("function {name}")),
        1_247 => regtype::shown_in(schema, oid, None).map(|name| format!("type {name}")),
        1_260 => schema.role_name(oid).map(|name| format!("role {name}")),
        1_213 => tablespace(oid).map(|name| format!("tablespace {name}")),
        2_601 => method(oid).map(|name| format!("access method {name}")),
        2_604 => default(schema, oid),
        2_605 => cast(schema, oid),
        2_606 => constraint(schema, oid),
        2_607 => {
            facts::Conversion::all().iter().find(|row| row.oid == oid).map(|row| format!("conversion {}", row.name))
        }
        2_612 => language(oid).map(|name| format!("language {name}")),
        2_615 => namespace_name(schema, oid).map(|name| format!("schema {name}")),
        2_616 => operator_class(oid),
        2_617 => function_name(schema, Reg::Operator, oid).map(|name| format!("operator {name}")),
        2_618 => rule(schema, oid),
        2_620 => trigger(schema, oid),
        2_753 => operator_family(oid),
        3_079 => extension(schema, oid).map(|name| format!("extension {name}")),
        3_256 => policy(schema, oid),
        3_381 => statistics(schema, oid),
        3_601 => super::pg_ts::name(catalog, oid).map(|name| format!("text search parser {}", quote_ident(name))),
        3_764 => super::pg_ts::name(catalog, oid).map(|name| format!("text search template {}", quote_ident(name))),
        3_456 => collation_name(schema, oid).map(|name| format!("collation {name}")),
        3_600 => search_name(schema, Kind::Dictionary, oid).map(|name| format!("text search dictionary {name}")),
        3_602 => search_name(schema, Kind::Configuration, oid).map(|name| format!("text search configuration {name}")),
        catalog => return Err(Error::internal(format!("unrecognized object class: {catalog}"))),
    })
}

/// A relation's name, with its schema unless it is found without.
fn shown(schema: &SessionSchema, oid: u32) -> Option<String> {
    let (namespace, name) = class_name(schema, oid)?;
    let name = quote_ident(&name);
    Some(if is_visible(schema, oid) == Some(true) { name } else { format!("{}.{name}", quote_ident(&namespace)) })
}

/// `table t`, `view v`.
fn relation_words(schema: &SessionSchema, relation: &Relation) -> Option<String> {
    let kind = match super::is_view(relation) {
        true => "view",
        false => rowferry_dialect::access::relation_words(relation),
    };
    Some(format!("{kind} {}", shown(schema, relation.oid)?))
}

fn class(schema: &SessionSchema, oid: u32, column: i32) -> Option<String> {
    let relation = schema.relation_by_oid(oid).filter(|found| !matches!(found.kind, RelationKind::Sequence { .. }));
    let words = match &relation {
        Some(relation) => relation_words(schema, relation)?,
        None if schema.sequence_by_oid(oid).is_some() => {
            format!("sequence {}", shown(schema, oid)?)
        }
        None => match composite_of(schema, oid) {
            Some(ty) => format!("composite type {}", ty.shown()),
            None => format!("index {}", shown(schema, oid)?),
        },
    };
    if column <= 0 {
        return Some(words);
    }
    let relation = relation?;
    let name = relation.columns[relation.column_numbered(column.into())?].name.clone();
    Some(format!("column {name} of {words}"))
}

/// With its schema unless it is found without.
fn statistics(schema: &SessionSchema, oid: u32) -> Option<String> {
    let object = schema.main.statistics.iter().find(|object| object.oid == oid)?;
    let name = quote_ident(&object.name);
    Some(match super::pg_statistic_ext::is_visible(schema, oid) {
        Some(true) => format!("statistics object {name}"),
        _ => format!("statistics object {}.{name}", quote_ident(&object.namespace)),
    })
}

fn default(schema: &SessionSchema, oid: u32) -> Option<String> {
    schema.user_relations().find_map(|relation| {
        let at = (0..relation.columns.len()).find(|at| default_oid(relation, *at) == oid)?;
        let column = &relation.columns[at].name;
        Some(format!("default value for column {column} of {}", relation_words(schema, relation)?))
    })
}

/// Object ids of the types between which a cast is.
pub(super) fn types_of_cast(schema: &SessionSchema, oid: u32) -> Option<(u32, u32)> {
    let own = schema.main.casts.iter().find(|cast| cast.oid == oid);
    let fact = || facts::Cast::all().iter().find(|cast| cast.oid == oid).map(|cast| (cast.source, cast.target));
    own.map(|cast| (cast.definition.source, cast.definition.target)).or_else(fact)
}

fn cast(schema: &SessionSchema, oid: u32) -> Option<String> {
    let (source, target) = types_of_cast(schema, oid)?;
    let ty = |oid| regtype::shown_in(schema, oid, None);
    Some(format!("cast from {} to {}", ty(source)?, ty(target)?))
}

fn constraint(schema: &SessionSchema, oid: u32) -> Option<String> {
    let of_relation = schema.relations_with_part(oid).find_map(|relation| {
        let index = relation.indexes.iter().find(|index| index.constraint && constraint_oid(index) == oid);
        let check = || relation.checks.iter().find(|check| check.oid == oid).map(|check| &check.name);
        let key = || relation.foreign_keys.iter().find_map(|key| key.name_of(oid));
        let name = index.map(|index| &index.name).or_else(check).or_else(key)?;
        Some(format!("constraint {name} on {}", relation_words(schema, relation)?))
    });
    of_relation.or_else(|| {
        schema.user_types().iter().find_map(|ty| {
            let check = ty.domain()?.checks.iter().find(|check| check.oid == oid)?;
            Some(format!("constraint {}", check.name))
        })
    })
}

pub(super) fn method(oid: u32) -> Option<&'static str> {
    facts::AccessMethod::all_known().find(|method| method.oid == oid).map(|method| method.name)
}

/// The tablespaces, which are PostgreSQL's.
pub(super) const TABLESPACES: [(u32, &str); 2] = [(1_663, "pg_default"), (1_664, "pg_global")];

pub(super) fn tablespace(oid: u32) -> Option<&'static str> {
    TABLESPACES.iter().find(|(known, _)| *known == oid).map(|(_, name)| *name)
}

pub(super) fn language(oid: u32) -> Option<&'static str> {
    if oid == super::pg_proc::PLPGSQL {
        return Some("plpgsql");
    }
    facts::Language::all().iter().find(|language| language.oid == oid).map(|language| language.name)
}

fn operator_class(oid: u32) -> Option<String> {
    let class = facts::OperatorClass::all().iter().find(|class| class.oid == oid)?;
    Some(format!("operator class {} for access method {}", class.name, method(class.method)?))
}

fn operator_family(oid: u32) -> Option<String> {
    let family = facts::OperatorFamily::all().iter().find(|family| family.oid == oid)?;
    Some(format!("operator family {} for access method {}", family.name, method(family.method)?))
}

fn rule(schema: &SessionSchema, oid: u32) -> Option<String> {
    if let Some((relation, rule)) = schema.rules().find(|(_, rule)| rule.oid == oid) {
        return Some(format!("rule {} on {}", rule.name, relation_words(schema, relation)?));
    }
    let view = schema.user_relations().find(|relation| rule_oid(relation.oid) == oid)?;
    Some(format!("rule _RETURN on {}", relation_words(schema, view)?))
}

fn trigger(schema: &SessionSchema, oid: u32) -> Option<String> {
    let (relation, trigger) = super::pg_trigger::all(schema).find(|(_, trigger)| trigger.oid == oid)?;
    Some(format!("trigger {} on {}", trigger.name, relation_words(schema, relation)?))
}

fn policy(schema: &SessionSchema, oid: u32) -> Option<String> {
    let (relation, policy) = schema.policies().find(|(_, policy)| policy.oid == oid)?;
    Some(format!("policy {} on {}", policy.name, relation_words(schema, relation)?))
}

pub(super) fn extension(schema: &SessionSchema, oid: u32) -> Option<String> {
    if oid == super::pg_extension::OF_PLPGSQL.0 {
        return Some("plpgsql".to_owned());
    }
    schema.extensions().iter().find(|known| known.oid == oid).map(|known| known.name().to_owned())
}
