//! `pg_cursors` and `pg_prepared_statements`: what this session has under names.

use super::pg_stat_activity::instant;
use super::{Context, Row, Table, array, row};

pub(super) const TABLES: &[Table] =
    &[Table::pg_catalog("pg_cursors", cursors).live(), Table::pg_catalog("pg_prepared_statements", statements).live()];

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
