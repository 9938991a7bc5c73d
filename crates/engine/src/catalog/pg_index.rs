//! `pg_index` and `pg_indexes`: indexes.

use super::describe::create_index;
use super::{Context, NULL, Row, Table, array, row};
use crate::catalog::pg_attribute::collation_of;
use crate::schema::PG_CATALOG;

pub(super) const TABLES: &[Table] = &[
    Table {
        namespace: PG_CATALOG,
        name: "pg_index",
        oid: 2_610,
        columns: "indexrelid oid, indrelid oid, indnatts int2, indnkeyatts int2, indisunique bool, \
            indnullsnotdistinct bool, indisprimary bool, indisexclusion bool, indimmediate bool, indisclustered bool, \
            indisvalid bool, indcheckxmin bool, indisready bool, indislive bool, indisreplident bool, indkey int2[], \
            indcollation oid[], indclass oid[], indoption int2[], indexprs text, indpred text",
        rows: indexes,
        live: false,
    },
    Table {
        namespace: PG_CATALOG,
        name: "pg_indexes",
        oid: 0,
        columns: "schemaname name, tablename name, indexname name, tablespace name, indexdef text",
        rows: definitions,
        live: false,
    },
];

fn indexes(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        for index in &relation.indexes {
            let types = index.columns.iter().map(|column| column.map(|column| &relation.columns[column].ty));
            let expressions: Vec<&str> = index
                .columns
                .iter()
                .zip(&index.keys)
                .filter(|(column, _)| column.is_none())
                .map(|(_, key)| key.text.as_str())
                .collect();
            rows.push(row![
                index.oid,
                relation.oid,
                index.keys.len(),
                index.keys.len(),
                index.unique,
                false,
                index.primary,
                false,
                true,
                false,
                true,
                false,
                true,
                true,
                false,
                array(index.columns.iter().map(|column| column.map_or(0, |column| column + 1))),
                array(types.map(|ty| ty.map_or(100, collation_of))),
                array(index.keys.iter().map(|_| 10_000)),
                // Descending keys come with NULLs first, as PostgreSQL's do by default.
                array(index.keys.iter().map(|key| if key.descending { 3 } else { 0 })),
                (!expressions.is_empty()).then(|| expressions.join(", ")),
                index.predicate.as_ref(),
            ]);
        }
    }
    rows
}

fn definitions(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        for index in &relation.indexes {
            rows.push(row![&relation.namespace, &relation.name, &index.name, NULL, create_index(relation, index)]);
        }
    }
    rows
}
