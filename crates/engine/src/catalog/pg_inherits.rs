//! `pg_inherits`: which table inherits from which.

use super::{Context, Row, Table, row};

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_inherits", rows)];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let relations = context.schema.user_relations();
    let pairs = relations.flat_map(|relation| {
        relation.parents().iter().enumerate().map(|(at, parent)| row![relation.oid, *parent, at + 1, false])
    });
    pairs.collect()
}
