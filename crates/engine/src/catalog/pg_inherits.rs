//! `pg_inherits`: which table inherits from which.

use super::{Context, Row, Table, row};

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_inherits", rows)];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let relations = context.schema.user_relations();
    let pairs = relations.flat_map(|relation| {
        relation.parents().iter().enumerate().map(|(at, parent)| row![relation.oid, *parent, at + 1, false])
    });
    let parts = super::partitions::index_pairs(context.schema);
    pairs.chain(parts.into_iter().map(|(index, parent)| row![index, parent, 1, false])).collect()
}
