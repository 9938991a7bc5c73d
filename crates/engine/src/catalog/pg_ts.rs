//! `pg_ts_*`: the parser, the templates, dictionaries and configurations of text search.

use std::sync::Arc;

use rowferry_dialect::text_search::{BUILT_IN, Body, SearchObject};
use rowferry_facts as facts;

use super::{Cell, Context, NULL, Row, Table, row};

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_ts_parser", |_| parsers()),
    Table::pg_catalog("pg_ts_template", |_| templates()),
    Table::pg_catalog("pg_ts_dict", dictionaries),
    Table::pg_catalog("pg_ts_config", configurations),
    Table::pg_catalog("pg_ts_config_map", tokens),
];

/// The schema of PostgreSQL's own.
const NAMESPACE: u32 = 11;

/// The parser `default`.
pub(super) const PARSER: u32 = 3_722;

/// The templates: object id, name, and the functions that start and ask a dictionary of it.
const TEMPLATES: [(u32, &str, &str, &str); 5] = [
    (3_727, "simple", "dsimple_init", "dsimple_lexize"),
    (3_730, "synonym", "dsynonym_init", "dsynonym_lexize"),
    (3_733, "ispell", "dispell_init", "dispell_lexize"),
    (3_742, "thesaurus", "thesaurus_init", "thesaurus_lexize"),
    (13_150, "snowball", "dsnowball_init", "dsnowball_lexize"),
];

/// True for the object id of a template.
pub(super) fn is_template(oid: u32) -> bool {
    TEMPLATES.iter().any(|(known, ..)| *known == oid)
}

/// The name of a parser or template, by its catalog's object id and its own.
pub(super) fn name(catalog: u32, oid: u32) -> Option<&'static str> {
    match catalog {
        3_601 => (oid == PARSER).then_some("default"),
        _ => TEMPLATES.iter().find(|(known, ..)| *known == oid).map(|(_, name, ..)| *name),
    }
}

/// The inverse of [`name`].
pub(super) fn oid(catalog: u32, name: &str) -> Option<u32> {
    match catalog {
        3_601 => (name == "default").then_some(PARSER),
        _ => TEMPLATES.iter().find(|(_, known, ..)| *known == name).map(|(oid, ..)| *oid),
    }
}

/// The object id of a function that has no namesake.
fn function(name: &str) -> u32 {
    let added = super::pg_proc::ADDED.iter().find(|added| added.name == name).map(|added| added.oid);
    added.or_else(|| facts::Function::named(name).first().map(|fact| fact.oid)).unwrap_or_default()
}

fn parsers() -> Vec<Row> {
    let [start, next, end, headline, kinds] =
        ["prsd_start", "prsd_nexttoken", "prsd_end", "prsd_headline", "prsd_lextype"].map(function);
    vec![row![PARSER, "default", NAMESPACE, start, next, end, headline, kinds]]
}

fn templates() -> Vec<Row> {
    let row =
        |(oid, name, start, ask): (u32, &'static str, _, _)| row![oid, name, NAMESPACE, function(start), function(ask)];
    TEMPLATES.into_iter().map(row).collect()
}

/// PostgreSQL's own, and those that users have made.
fn objects<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Arc<SearchObject>> {
    BUILT_IN.iter().chain(context.schema.main.search_objects.iter())
}

/// Whose an object is, and the schema that it is in.
fn place(context: &Context<'_>, object: &SearchObject) -> (u32, u32) {
    let owner = context.schema.rights().owner(object.oid);
    (owner, context.schema.namespace_oid(&object.namespace))
}

fn dictionaries(context: &Context<'_>) -> Vec<Row> {
    let row = |object: &Arc<SearchObject>| {
        let Body::Dictionary(dictionary) = &object.body else { return None };
        let (owner, namespace) = place(context, object);
        let options = dictionary.shown_options().map_or(NULL, Cell::from);
        Some(row![object.oid, object.name.clone(), namespace, owner, dictionary.template.oid(), options])
    };
    objects(context).filter_map(row).collect()
}

fn configurations(context: &Context<'_>) -> Vec<Row> {
    let row = |object: &Arc<SearchObject>| {
        let Body::Configuration(_) = &object.body else { return None };
        let (owner, namespace) = place(context, object);
        Some(row![object.oid, object.name.clone(), namespace, owner, PARSER])
    };
    objects(context).filter_map(row).collect()
}

/// Which dictionaries a configuration asks about each type of token.
fn tokens(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for object in objects(context) {
        let Body::Configuration(map) = &object.body else { continue };
        for (token, dictionaries) in map {
            let numbered = dictionaries.iter().zip(1_u32..);
            rows.extend(numbered.map(|(dictionary, at)| row![object.oid, u32::from(*token), at, *dictionary]));
        }
    }
    rows
}
