//! `pg_statistic_ext`: the objects of CREATE STATISTICS, and their definitions as text.

use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::statistics::StatisticsObject;

use super::names::quote_ident;
use super::{Context, Row, Table, array, describe, names, row, text_array};
use crate::schema::SessionSchema;

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_statistic_ext", rows)];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let schema = context.schema;
    let rights = schema.rights();
    let row = |object: &Arc<StatisticsObject>| {
        let definition = &object.definition;
        let table = schema.relation_by_oid(definition.table)?;
        let keys = definition.columns.iter().filter_map(|name| Some(table.number_of(table.column(name)?)));
        let letters: Vec<String> = definition.kinds.iter().map(char::to_string).collect();
        let expressions: Vec<String> =
            definition.expressions.iter().map(|text| describe::expression(schema, &table, text, false)).collect();
        Some(row![
            object.oid,
            table.oid,
            &object.name,
            names::namespace_oid(schema, &object.namespace),
            rights.owner(object.oid),
            i64::from(definition.target),
            array(keys),
            text_array(letters.iter().map(String::as_str)),
            (!expressions.is_empty()).then(|| expressions.join(", ")),
        ])
    };
    schema.main.statistics.iter().filter_map(row).collect()
}

/// Which part of a definition is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// CREATE STATISTICS.
    Whole,
    /// What stands behind ON.
    Members,
    /// Its expressions, an array as it is stored; nothing where it has none.
    Expressions,
}

fn object(schema: &SessionSchema, oid: u32) -> Option<(&Arc<StatisticsObject>, Arc<Relation>)> {
    let object = schema.main.statistics.iter().find(|object| object.oid == oid)?;
    Some((object, schema.relation_by_oid(object.definition.table)?))
}

/// The definition of an object, or a part of it.
pub fn definition(schema: &SessionSchema, oid: u32, part: Part) -> Option<String> {
    if part == Part::Expressions {
        return expressions(schema, oid);
    }
    let (object, table) = object(schema, oid)?;
    let mut members: Vec<String> = object.definition.columns.iter().map(|name| quote_ident(name)).collect();
    members.extend(object.definition.expressions.iter().map(|text| {
        let printed = describe::expression(schema, &table, text, true);
        if describe::is_call_of(schema, &table, text) { printed } else { format!("({printed})") }
    }));
    let members = members.join(", ");
    if part == Part::Members {
        return Some(members);
    }
    let kinds = object.definition.kind_words();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let name = format!("{}.{}", quote_ident(&object.namespace), quote_ident(&object.name));
    let visible = names::is_visible(schema, table.oid) == Some(true);
    let of = if visible {
        quote_ident(&table.name)
    } else {
        format!("{}.{}", quote_ident(&table.namespace), quote_ident(&table.name))
    };
    Some(format!("CREATE STATISTICS {name}{kinds} ON {members} FROM {of}"))
}

fn expressions(schema: &SessionSchema, oid: u32) -> Option<String> {
    let (object, table) = object(schema, oid)?;
    let texts: Vec<String> =
        object.definition.expressions.iter().map(|text| describe::expression(schema, &table, text, false)).collect();
    (!texts.is_empty()).then(|| text_array(texts.iter().map(String::as_str)))
}

/// A bare name means the object; `None` where there is none.
pub fn is_visible(schema: &SessionSchema, oid: u32) -> Option<bool> {
    let object = schema.main.statistics.iter().find(|object| object.oid == oid)?;
    let found = schema.statistics_object(&QualifiedName::bare(object.name.clone()));
    Some(found.is_some_and(|found| found.oid == oid))
}
