//! `pg_inherits`: which table inherits from which.

use super::{Context, Row, Table, row};
use crate::schema::PG_CATALOG;

pub(super) const TABLES: &[Table] = &[Table {
    namespace: PG_CATALOG,
    name: "pg_inherits",
    oid: 2_611,
    columns: "inhrelid oid, inhparent oid, inhseqno int4, inhdetachpending bool",
    rows,
    live: false,
}];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let relations = context.schema.user_relations();
    let pairs = relations.flat_map(|relation| {
        relation.parents().iter().enumerate().map(|(at, parent)| row![relation.oid, *parent, at + 1, false])
    });
    pairs.collect()
}
