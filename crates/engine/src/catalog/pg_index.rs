//! `pg_index` and `pg_indexes`: indexes.

use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::collation::Collation;
use rowferry_dialect::postgres::types::class_input;
use rowferry_dialect::schema::{Index, Relation};
use rowferry_facts as facts;

use super::describe::{create_index, expression, included, index_column, nulls_first};
use super::{Context, NULL, Row, Table, array, row};

use crate::catalog::pg_attribute::collation_of;
use crate::schema::Properties;

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_index", indexes).one("indrelid", of_relation),
    Table::pg_catalog("pg_indexes", definitions),
];

fn indexes(context: &Context<'_>) -> Vec<Row> {
    context.schema.user_relations().flat_map(|relation| of_relation(context, relation)).collect()
}

fn of_relation(context: &Context<'_>, relation: &Arc<Relation>) -> Vec<Row> {
    let mut rows = Vec::new();
    let schema = context.schema;
    let none = Properties::default();
    let properties = schema.details(relation.oid).map_or(&none, |details| &details.properties);
    for (at, index) in relation.indexes.iter().enumerate().filter(|(_, index)| !index.fulltext) {
        let included = included(properties, &index.name);
        let included = included.iter().map(|name| relation.column(name).map_or(0, |column| relation.number_of(column)));
        let types = (0..index.keys.len()).map(|at| index_column(schema, relation, index, at).1);
        let expressions: Vec<String> = index
            .columns
            .iter()
            .zip(&index.keys)
            .filter(|(column, _)| column.is_none())
            .map(|(_, key)| expression(schema, relation, &key.text, false))
            .collect();
        rows.push(row![
            index.oid,
            relation.oid,
            index.keys.len() + included.len(),
            index.keys.len(),
            index.is_key(),
            index.nulls_alike,
            index.primary,
            index.exclusion.is_some(),
            index.deferrability().is_none(),
            properties.get("", "clustered") == Some(index.name.as_str()),
            !relation.is_partitioned() || rowferry_dialect::partition::is_whole(schema, relation, at),
            false,
            true,
            true,
            properties.get("", "replica_identity").and_then(|word| word.strip_prefix("i "))
                == Some(index.name.as_str()),
            array(
                index
                    .columns
                    .iter()
                    .map(|column| column.map_or(0, |column| relation.number_of(column)))
                    .chain(included)
            ),
            array(types.enumerate().map(|(at, ty)| {
                let named = key_collation(properties, &index.name, at);
                let named = named.and_then(|property| Collation::of_property(property, schema));
                let column = index.columns[at].and_then(|at| relation.columns[at].collation.clone());
                named.or(column).map_or_else(|| collation_of(&ty), |collation| collation.oid)
            })),
            array((0..index.keys.len()).map(|at| operator_class(context, relation, properties, index, at))),
            array(
                index
                    .keys
                    .iter()
                    .enumerate()
                    .map(|(at, key)| { u8::from(key.descending) + 2 * u8::from(nulls_first(properties, index, at)) })
            ),
            (!expressions.is_empty()).then(|| expressions.join(", ")),
            index.predicate.as_ref().map(|text| expression(schema, relation, text, false)),
        ]);
    }
    rows
}

/// The property that tells the collation of an index's key: the named one, or what an expression has.
pub fn key_collation<'p>(properties: &'p Properties, index: &str, at: usize) -> Option<&'p str> {
    let get = |word: &str| properties.get(index, &format!("{word} {}", at + 1));
    get("index_collation").or_else(|| get("index_derived"))
}

/// The operator class of a key: the named one, or the default one of the key's type.
fn operator_class(
    context: &Context<'_>,
    relation: &Arc<Relation>,
    properties: &Properties,
    index: &Index,
    at: usize,
) -> u32 {
    const BTREE: &str = "btree";
    let method = properties.get(&index.name, "index_method").unwrap_or(BTREE);
    let Some(method) = facts::AccessMethod::all_known().find(|known| known.name == method) else { return 0 };
    let (_, ty) = index_column(context.schema, relation, index, at);
    let input = class_input(&ty);
    let named = properties.get(&index.name, &format!("index_opclass {}", at + 1));
    let extensions = context.schema.extensions().iter();
    let mut classes = facts::OperatorClass::all()
        .iter()
        .chain(extensions.flat_map(|extension| extension.facts.operator_classes()))
        .filter(|class| class.method == method.oid);
    let found = match named {
        Some(name) => classes.find(|class| class.name == name),
        None => classes.find(|class| class.is_default && class.input == input),
    };
    found.map_or(0, |class| class.oid)
}

fn definitions(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        for index in relation.ordinary_indexes() {
            rows.push(row![
                &relation.namespace,
                &relation.name,
                &index.name,
                NULL,
                create_index(context.schema, relation, index, false)
            ]);
        }
    }
    rows
}
