//! Indexes of PostgreSQL's catalogs, as its own catalogs show them. Here a catalog is looked up by any of its columns.

use rowferry_facts as facts;

use super::names::quote_ident;
use super::pg_attribute::index_attribute;
use super::{NULL, OWNER, Row, array, letter, row};
use crate::schema::PG_CATALOG;

/// The access method `btree`.
const BTREE: u32 = 403;

/// The object id of the constraint that an index keeps, behind those of the catalogs' views.
fn constraint_oid(index: &facts::Index) -> u32 {
    12_400 + facts::Index::all().iter().position(|other| other.oid == index.oid).unwrap_or_default() as u32
}

fn table(index: &facts::Index) -> u32 {
    facts::Relation::named(PG_CATALOG, index.relation).map_or(0, |relation| relation.oid)
}

/// True for a catalog with an index.
pub fn has_some(relation: &str) -> bool {
    facts::Index::all().iter().any(|index| index.relation == relation)
}

fn columns(index: &facts::Index) -> impl Iterator<Item = &'static facts::Column> {
    let columns = facts::Relation::columns(PG_CATALOG, index.relation);
    index.columns.iter().filter_map(|number| columns.get(*number as usize - 1).copied())
}

/// Rows of `pg_class`.
pub(super) fn classes() -> Vec<Row> {
    let class = |index: &facts::Index| {
        row![
            index.oid,
            index.name,
            11,
            0,
            0,
            OWNER,
            BTREE,
            index.oid,
            0,
            0,
            -1.0,
            0,
            0,
            false,
            false,
            "p",
            "i",
            index.columns.len(),
            0,
            false,
            false,
            false,
            false,
            false,
            true,
            "n",
            false,
            0,
            0,
            0,
            NULL,
            NULL,
            NULL,
        ]
    };
    facts::Index::all().iter().map(class).collect()
}

/// Rows of `pg_index`.
pub(super) fn indexes() -> Vec<Row> {
    let row = |index: &facts::Index| {
        let width = index.columns.len();
        row![
            index.oid,
            table(index),
            width,
            width,
            index.is_unique,
            false,
            index.is_primary,
            false,
            true,
            false,
            true,
            false,
            true,
            true,
            false,
            array(index.columns.iter()),
            array(index.collations.iter()),
            array(index.classes.iter()),
            array(index.columns.iter().map(|_| 0)),
            NULL,
            NULL,
        ]
    };
    facts::Index::all().iter().map(row).collect()
}

/// Rows of `pg_attribute`.
pub(super) fn attributes() -> Vec<Row> {
    let all = facts::Index::all().iter();
    all.flat_map(|index| columns(index).enumerate().map(|(at, column)| index_attribute(index.oid, at + 1, column)))
        .collect()
}

/// Rows of `pg_constraint`.
pub(super) fn constraints() -> Vec<Row> {
    let constraint = |index: &facts::Index| {
        let kind = letter(if index.is_primary { 'p' } else { 'u' });
        row![
            constraint_oid(index),
            index.name,
            11,
            kind,
            false,
            false,
            true,
            table(index),
            0,
            index.oid,
            0,
            0,
            " ",
            " ",
            " ",
            true,
            0,
            true,
            array(index.columns.iter()),
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
        ]
    };
    facts::Index::all().iter().filter(|index| index.is_constraint).map(constraint).collect()
}

/// Rows of `pg_indexes`.
pub(super) fn shown() -> Vec<Row> {
    let row = |index: &facts::Index| row![PG_CATALOG, index.relation, index.name, NULL, create(index, false)];
    facts::Index::all().iter().map(row).collect()
}

fn create(index: &facts::Index, bare: bool) -> String {
    let unique = if index.is_unique { "UNIQUE " } else { "" };
    let schema = if bare { "" } else { "pg_catalog." };
    let (name, relation, keys) = (index.name, index.relation, keys(index));
    format!("CREATE {unique}INDEX {name} ON {schema}{relation} USING btree ({keys})")
}

fn keys(index: &facts::Index) -> String {
    columns(index).map(|column| quote_ident(column.name)).collect::<Vec<_>>().join(", ")
}

/// CREATE INDEX of an index, or one of its keys when `column` is above 0.
pub fn definition(oid: u32, column: i32, pretty: bool) -> Option<String> {
    let index = facts::Index::by_oid(oid)?;
    match usize::try_from(column) {
        Ok(column @ 1..) => Some(columns(index).nth(column - 1).map_or_else(String::new, |key| quote_ident(key.name))),
        _ => Some(create(index, pretty)),
    }
}

/// The definition of the constraint that an index keeps.
pub fn constraint_definition(oid: u32) -> Option<String> {
    let index = facts::Index::all().get(oid.checked_sub(12_400)? as usize).filter(|index| index.is_constraint)?;
    let words = if index.is_primary { "PRIMARY KEY" } else { "UNIQUE" };
    Some(format!("{words} ({})", keys(index)))
}
