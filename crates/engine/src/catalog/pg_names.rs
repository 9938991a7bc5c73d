//! `pg_cursors` and `pg_prepared_statements`: what this session has under names.

use super::pg_stat_activity::instant;
use super::{Context, Row, Table, array, row};
use crate::schema::PG_CATALOG;

pub(super) const TABLES: &[Table] = &[
    Table {
        namespace: PG_CATALOG,
        name: "pg_cursors",
        oid: 0,
        columns: "name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool, \
            creation_time timestamptz",
        rows: cursors,
        live: true,
    },
    Table {
        namespace: PG_CATALOG,
        name: "pg_prepared_statements",
        oid: 0,
        columns: "name text, statement text, prepare_time timestamptz, parameter_types regtype[], from_sql bool, \
            generic_plans bigint, custom_plans bigint",
        rows: statements,
        live: true,
    },
];

fn cursors(context: &Context<'_>) -> Vec<Row> {
    let shown = context.state.portals.lock();
    let rows = shown.iter().map(|(name, facts)| {
        row![&**name, &*facts.text, facts.hold, facts.binary, facts.scroll, instant(facts.created)]
    });
    rows.collect()
}

/// Plans do not depend on parameters here, so all of them are generic; nobody counts how often they run.
fn statements(context: &Context<'_>) -> Vec<Row> {
    let shown = context.state.statements.lock();
    let rows = shown.iter().map(|(name, facts)| {
        let params = facts.params.iter().map(rowferry_dialect::postgres::types::oid);
        row![&**name, &*facts.text, instant(facts.prepared), array(params), facts.from_sql, 0_i64, 0_i64]
    });
    rows.collect()
}
