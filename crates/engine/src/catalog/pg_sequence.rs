//! `pg_sequence` and `pg_sequences`.

use rowferry_dialect::postgres::types;

use super::{Context, NULL, Row, Table, row};
use crate::schema::PG_CATALOG;

pub(super) const TABLES: &[Table] = &[
    Table {
        namespace: PG_CATALOG,
        name: "pg_sequence",
        oid: 2_224,
        columns: "seqrelid oid, seqtypid oid, seqstart bigint, seqincrement bigint, seqmax bigint, seqmin bigint, \
            seqcache bigint, seqcycle bool",
        rows: sequences,
        live: false,
    },
    Table {
        namespace: PG_CATALOG,
        name: "pg_sequences",
        oid: 0,
        columns: "schemaname name, sequencename name, sequenceowner name, data_type regtype, start_value bigint, \
            min_value bigint, max_value bigint, increment_by bigint, cycle bool, cache_size bigint, last_value bigint",
        rows: view,
        live: true,
    },
];

fn sequences(context: &Context<'_>) -> Vec<Row> {
    let sequences = context.schema.sequences();
    sequences
        .map(|details| {
            row![
                details.sequence.oid,
                types::oid(&types::import(&details.sequence.ty)),
                details.start,
                details.increment,
                details.max,
                details.min,
                details.cache,
                details.cycle,
            ]
        })
        .collect()
}

fn view(context: &Context<'_>) -> Vec<Row> {
    let rights = context.schema.rights();
    let sequences = context.schema.sequences();
    sequences
        .map(|details| {
            row![
                &details.sequence.namespace,
                &details.sequence.name,
                super::pg_roles::owner_name(context.schema, &rights, details.sequence.oid),
                types::oid(&types::import(&details.sequence.ty)),
                details.start,
                details.min,
                details.max,
                details.increment,
                details.cycle,
                details.cache,
                context.state.last_value(details).map_or(NULL, Into::into),
            ]
        })
        .collect()
}
