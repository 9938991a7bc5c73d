//! `pg_attribute` and `pg_attrdef`: columns and their defaults.

use std::sync::Arc;

use rowferry_dialect::postgres::types;
use rowferry_dialect::schema::{Column, Index, Relation, RelationKind};
use rowferry_dialect::{Type, heritage};

use super::describe::{default_expression, included, index_column, options};
use super::{Cell, Context, NULL, Row, Table, relations, row, text_array};
use crate::schema::metadata::derived_oid;
use crate::schema::{PG_CATALOG, Properties, SessionSchema};

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
    let none = Properties::default();
    for relation in relations() {
        of_relation(relation, &none, &mut rows);
    }
    let rights = context.schema.rights();
    let schema = context.schema;
    for relation in schema.user_relations() {
        let properties = schema.details(relation.oid).map_or(&none, |details| &details.properties);
        let first = rows.len();
        of_relation(relation, properties, &mut rows);
        for (row, column) in rows[first..].iter_mut().zip(&relation.columns) {
            if relation.heritage.is_some() {
                row[LOCAL] = Cell::from(relation.declares_column(&column.name));
                row[TIMES_INHERITED] = Cell::from(heritage::times_inherited(schema, relation, &column.name));
            }
            if let Some(granted) = rights.column_list(relation.oid, &column.name) {
                row[21] = super::pg_roles::list(context.schema, granted);
            }
        }
        for index in &relation.indexes {
            of_index(schema, relation, index, properties, &mut rows);
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

fn of_index(
    schema: &SessionSchema,
    relation: &Arc<Relation>,
    index: &Index,
    properties: &Properties,
    rows: &mut Vec<Row>,
) {
    let mut names: Vec<String> = Vec::with_capacity(index.keys.len());
    let mut add = |wish: String, ty: &Type, column: Option<usize>| {
        let mut name = wish.clone();
        let mut number = 0;
        while names.contains(&name) {
            number += 1;
            name = format!("{wish}{number}");
        }
        let place = names.len() + 1;
        let mut row = attribute(index.oid, &name, place, ty, None);
        if let Some(word) = column.and_then(|at| properties.get(&relation.columns[at].name, "storage")) {
            row[STORAGE] = Cell::from(storage_letter(word));
        }
        if let Some(target) = properties.get(&index.name, &format!("index_statistics {place}")) {
            row[STATISTICS] = Cell::from(target.parse::<i64>().unwrap_or(-1));
        }
        names.push(name);
        rows.push(row);
    };
    for at in 0..index.keys.len() {
        let (name, ty) = index_column(schema, relation, index, at);
        add(name, &ty, index.columns[at]);
    }
    for name in included(properties, &index.name) {
        if let Some(column) = relation.column(&name) {
            add(name, &relation.columns[column].ty, Some(column));
        }
    }
}

/// Columns of `pg_attribute` that inheritance decides.
const LOCAL: usize = 17;
const TIMES_INHERITED: usize = 18;
/// Columns of `pg_attribute` that a user may set.
const STORAGE: usize = 9;
const COMPRESSION: usize = 10;
const STATISTICS: usize = 20;
const OPTIONS: usize = 22;

/// `attstorage` of a word.
fn storage_letter(word: &str) -> &'static str {
    match word {
        "plain" => "p",
        "main" => "m",
        "external" => "e",
        _ => "x",
    }
}

fn of_relation(relation: &Relation, properties: &Properties, rows: &mut Vec<Row>) {
    for (at, column) in relation.columns.iter().enumerate() {
        let mut row = attribute(relation.oid, &column.name, at + 1, &column.ty, Some(column));
        if let Some(word) = properties.get(&column.name, "storage") {
            row[STORAGE] = Cell::from(storage_letter(word));
        }
        if let Some(word) = properties.get(&column.name, "compression") {
            row[COMPRESSION] = Cell::from(&word[..1]);
        }
        if let Some(target) = properties.get(&column.name, "statistics") {
            row[STATISTICS] = Cell::from(target.parse::<i64>().unwrap_or(-1));
        }
        let options = options(properties, &column.name, "option ");
        if !options.is_empty() {
            row[OPTIONS] = Cell::from(text_array(options.iter().map(String::as_str)));
        }
        rows.push(row);
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
        match (length > 0, &shown) {
            (true, _) => "p",
            (false, Type::Numeric(_)) => "m",
            (false, _) => "x",
        },
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
        -1,
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
        for at in 0..relation.columns.len() {
            if let Some(text) = default_expression(context.schema, relation, at) {
                rows.push(row![default_oid(relation.oid, at), relation.oid, at + 1, text]);
            }
        }
    }
    rows
}
