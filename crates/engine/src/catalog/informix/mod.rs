//! Informix's system catalog: `informix.systables` and its kin, `sysmaster:sysdatabases`.
//!
//! Each table yields its rows from a [`View`] of the schema. Tables of a real server that have no rows here are there all
//! the same, so that queries over them bind.

mod columns;
mod constraints;
mod empty;
mod objects;
mod others;
mod privileges;
mod routines;
mod sysmaster;
mod tables;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rowferry_dialect::informix::codes::type_code;
use rowferry_dialect::schema::{Column, Relation, RelationKind, Sequence};

use super::{Cell, Context, Row, Table};

/// The schema as these tables show it.
struct View {
    /// Tables and views of users, by their ids.
    relations: Vec<Arc<Relation>>,
    sequences: Vec<Arc<Sequence>>,
    /// Sequences that belong to no column.
    free_sequences: HashSet<u32>,
    synonyms: Vec<crate::schema::Synonym>,
    /// Whose an object is, where that is known.
    owners: HashMap<u32, String>,
    /// The database's name.
    database: String,
}

impl View {
    fn of(context: &Context<'_>) -> Self {
        let mut relations: Vec<_> = context.schema.user_relations().cloned().collect();
        relations.sort_by_key(|relation| relation.oid);
        let sequences: Vec<_> = context.schema.sequences().map(|details| details.sequence.clone()).collect();
        let objects =
            relations.iter().map(|relation| relation.oid).chain(sequences.iter().map(|sequence| sequence.oid));
        let owners = objects.filter_map(|oid| Some((oid, context.schema.informix_owner(oid)?))).collect();
        Self {
            owners,
            relations,
            sequences,
            free_sequences: context
                .schema
                .sequences()
                .filter(|details| details.owner.is_none() && details.rowid_of.is_none())
                .map(|details| details.sequence.oid)
                .collect(),
            synonyms: context.schema.main.synonyms.to_vec(),
            database: context.database.name.clone(),
        }
    }
}

impl View {
    /// Whose an object is.
    fn owner(&self, oid: u32) -> &str {
        self.owners.get(&oid).map_or(OWNER, String::as_str)
    }

    /// The id of a table, view or sequence of this name.
    fn object(&self, name: &str) -> Option<i64> {
        let relation = self.relations.iter().find(|relation| relation.name.eq_ignore_ascii_case(name));
        let sequence = || self.sequences.iter().find(|sequence| sequence.name.eq_ignore_ascii_case(name));
        relation.map(|relation| relation.oid).or_else(|| sequence().map(|sequence| sequence.oid)).map(i64::from)
    }
}

/// The tables, family by family; those of the namespace `informix` are numbered from 1 in this order.
pub(super) const FAMILIES: [&[Table]; 9] = [
    tables::TABLES,
    columns::TABLES,
    constraints::TABLES,
    others::TABLES,
    routines::TABLES,
    objects::TABLES,
    empty::TABLES,
    others::SYSMASTER,
    sysmaster::TABLES,
];

/// A table's place among these, from 1; `None` for tables of others.
pub(super) fn number(table: &Table) -> Option<u32> {
    let mut all = FAMILIES.into_iter().flatten();
    let at = all.position(|other| other.namespace == table.namespace && other.name == table.name)?;
    u32::try_from(at + 1).ok()
}

/// The tables of the namespace `informix`, in the order of their numbers.
fn own() -> impl Iterator<Item = &'static Table> {
    FAMILIES.into_iter().flatten().filter(|table| table.namespace == crate::schema::INFORMIX)
}

/// The setting that says which role is enabled.
const ENABLED_ROLE: &str = "informix.role";

/// The owner of what is nobody's in particular: users of a file without roles share one set of tables.
const OWNER: &str = "informix";

fn text(value: impl Into<String>) -> Cell {
    Cell::from(value.into())
}

const fn int(value: i64) -> Cell {
    Cell::Integer(value)
}

/// `systables.tabid` of a relation.
fn tabid(relation: &Relation) -> i64 {
    i64::from(relation.oid)
}

/// The wire's code of a column, with the flag of NOT NULL; its length; its extended id.
fn coltype(column: &Column) -> (i64, i64, i64) {
    let code = type_code(&column.ty, column.identity.is_some());
    let flag = if column.not_null { 0x0100 } else { 0 };
    (i64::from(code.code) | i64::from(code.flags) | flag, i64::from(code.length), i64::from(code.extended_id))
}

fn is_view(relation: &Relation) -> bool {
    matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_informix_types() {
        for table in FAMILIES.into_iter().flatten() {
            for part in table.columns.split(", ") {
                let (name, words) = part.split_once(' ').unwrap();
                assert!(rowferry_dialect::informix::type_from_words(words).is_ok(), "{}.{name}: {words}", table.name);
            }
        }
        let all = FAMILIES.into_iter().flatten().count();
        assert!(own().count() >= 65 && all >= 85, "{} tables, {all} with those of sysmaster", own().count());
    }
}
