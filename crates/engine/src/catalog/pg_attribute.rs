//! `pg_attribute` and `pg_attrdef`: columns and their defaults.

use rowferry_dialect::Type;
use rowferry_dialect::postgres::types;
use rowferry_dialect::schema::{Column, Relation, RelationKind};

use super::{Cell, Context, NULL, Row, Table, relations, row};
use crate::schema::PG_CATALOG;
use crate::schema::metadata::derived_oid;

pub(super) const TABLES: &[Table] = &[
    Table {
        namespace: PG_CATALOG,
        name: "pg_attribute",
        oid: 1_249,
        columns: "attrelid oid, attname name, atttypid oid, attlen int2, attnum int2, atttypmod int4, attndims int2, \
            attbyval bool, attalign char, attstorage char, attcompression char, attnotnull bool, atthasdef bool, \
            atthasmissing bool, attidentity char, attgenerated char, attisdropped bool, attislocal bool, \
            attinhcount int2, attcollation oid, attstattarget int2, attacl text[], attoptions text[], \
            attfdwoptions text[], attmissingval text",
        rows: attributes,
        live: false,
    },
    Table {
        namespace: PG_CATALOG,
        name: "pg_attrdef",
        oid: 2_604,
        columns: "oid oid, adrelid oid, adnum int2, adbin text",
        rows: defaults,
        live: false,
    },
];

/// The collation of text types: C, since texts are compared by their bytes.
pub fn collation_of(ty: &Type) -> u32 {
    match ty {
        Type::Name => 950,
        Type::Array(element) => collation_of(element),
        ty if ty.is_text() && !matches!(ty, Type::InternalChar) => 100,
        _ => 0,
    }
}

fn attributes(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in relations() {
        of_relation(relation, &mut rows);
    }
    for relation in context.schema.user_relations() {
        of_relation(relation, &mut rows);
        for index in &relation.indexes {
            for (at, column) in index.columns.iter().enumerate() {
                // An expression's type is not kept; texts are what is mostly indexed by one.
                let ty = column.map_or(Type::Text, |column| relation.columns[column].ty.clone());
                let name = column.map_or_else(
                    || if at == 0 { "expr".to_owned() } else { format!("expr{at}") },
                    |column| relation.columns[column].name.clone(),
                );
                rows.push(attribute(index.oid, &name, at + 1, &ty, None));
            }
        }
    }
    for details in context.schema.sequences() {
        for (at, (name, ty)) in
            [("last_value", Type::Int8), ("log_cnt", Type::Int8), ("is_called", Type::Bool)].iter().enumerate()
        {
            rows.push(attribute(details.sequence.oid, name, at + 1, ty, None));
        }
    }
    rows
}

fn of_relation(relation: &Relation, rows: &mut Vec<Row>) {
    for (at, column) in relation.columns.iter().enumerate() {
        rows.push(attribute(relation.oid, &column.name, at + 1, &column.ty, Some(column)));
    }
    if matches!(relation.kind, RelationKind::Table | RelationKind::Catalog) && !relation.without_rowid {
        let mut row = attribute(relation.oid, "ctid", 1, &Type::Int8, None);
        row[2] = Cell::from(27);
        row[4] = Cell::from(-1);
        rows.push(row);
    }
}

fn attribute(relation: u32, name: &str, number: usize, ty: &Type, column: Option<&Column>) -> Row {
    let shown = types::import(ty);
    let length = types::typlen(&shown);
    let generated = column.is_some_and(|column| column.generated.is_some());
    let default = column.is_some_and(|column| column.default.is_some() && column.identity.is_none());
    let identity = match column.and_then(|column| column.identity.as_ref()) {
        Some(identity) if identity.always => "a",
        Some(_) => "d",
        None => "",
    };
    row![
        relation,
        name,
        types::oid(&shown),
        length,
        number,
        types::typmod(&shown),
        i64::from(matches!(shown, Type::Array(_))),
        length > 0 && length <= 8,
        if length == 8 { "d" } else { "i" },
        if length > 0 { "p" } else { "x" },
        "",
        column.is_some_and(|column| column.not_null),
        default || generated,
        false,
        identity,
        if generated { "s" } else { "" },
        false,
        true,
        0,
        collation_of(&shown),
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
    ]
}

/// The object id of a column's default.
pub fn default_oid(relation: u32, column: usize) -> u32 {
    derived_oid("default", "", &[&relation.to_string(), &column.to_string()])
}

fn defaults(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        for (at, column) in relation.columns.iter().enumerate() {
            let default = column.default.as_ref().filter(|_| column.identity.is_none()).map(|default| &default.text);
            if let Some(text) = default.or(column.generated.as_ref()) {
                rows.push(row![default_oid(relation.oid, at), relation.oid, at + 1, text]);
            }
        }
    }
    rows
}
