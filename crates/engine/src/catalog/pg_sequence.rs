//! `pg_sequence` and `pg_sequences`.

use rowferry_dialect::postgres::types;

use super::{Context, NULL, Row, Table, row};

pub(super) const TABLES: &[Table] =
    &[Table::pg_catalog("pg_sequence", sequences), Table::pg_catalog("pg_sequences", view).live()];

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
