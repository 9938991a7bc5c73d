//! The views of the extension `pg_stat_statements`, which are where the extension is installed.

use std::sync::Arc;

use rowferry_dialect::extension::PG_STAT_STATEMENTS;
use rowferry_dialect::schema::Relation;

use super::pg_stat_activity::instant;
use super::{Cell, Context, NULL, Row, Table, row};

/// The namespace under which the views are kept here; nobody can name it.
pub const HERE: &str = PG_STAT_STATEMENTS;

const COLUMNS: &str = "userid oid, dbid oid, toplevel bool, queryid int8, query text, plans int8, \
    total_plan_time float8, min_plan_time float8, max_plan_time float8, mean_plan_time float8, \
    stddev_plan_time float8, calls int8, total_exec_time float8, min_exec_time float8, max_exec_time float8, \
    mean_exec_time float8, stddev_exec_time float8, rows int8, shared_blks_hit int8, shared_blks_read int8, \
    shared_blks_dirtied int8, shared_blks_written int8, local_blks_hit int8, local_blks_read int8, \
    local_blks_dirtied int8, local_blks_written int8, temp_blks_read int8, temp_blks_written int8, \
    blk_read_time float8, blk_write_time float8, temp_blk_read_time float8, temp_blk_write_time float8, \
    wal_records int8, wal_fpi int8, wal_bytes numeric, jit_functions int8, jit_generation_time float8, \
    jit_inlining_count int8, jit_inlining_time float8, jit_optimization_count int8, jit_optimization_time float8, \
    jit_emission_count int8, jit_emission_time float8";

pub(super) const TABLES: &[Table] = &[
    Table {
        namespace: HERE,
        name: "pg_stat_statements",
        columns: COLUMNS,
        rows: |context| rows(context, true),
        live: true,
        one: None,
        chunks: None,
    },
    Table {
        namespace: HERE,
        name: "pg_stat_statements_info",
        columns: "dealloc int8, stats_reset timestamptz",
        rows: info,
        live: true,
        one: None,
        chunks: None,
    },
];

/// The object id of a view, among those of the extension's members.
pub fn oid(name: &str) -> u32 {
    if name == "pg_stat_statements" { 14_656 } else { 14_645 }
}

/// The view of a name, as it is seen in the extension's schema.
pub fn view(namespace: &str, name: &str) -> Option<Arc<Relation>> {
    let kept = super::relation(HERE, name)?;
    Some(Arc::new(Relation { namespace: namespace.to_owned(), ..Relation::clone(&kept) }))
}

/// Statements that have run; their texts only where they are asked for.
pub fn rows(context: &Context<'_>, texts: bool) -> Vec<Row> {
    /// What stands in front of a page in the log.
    const FRAME: u64 = 24;
    let rights = context.schema.rights();
    let all_stats = rights.roles.oid("pg_read_all_stats");
    let page = context.state.running.with(|connection| connection.page_size()).unwrap_or(0);
    let has_log = !context.database.has_rollback_journal();
    let mut all = context.database.statistics.statements.all();
    all.sort_by_key(|(key, statement)| (key.user, statement.text.clone(), key.top));
    let database = context.database.oid();
    all.into_iter()
        .map(|(key, statement)| {
            // What others do is only for those who have their rights, or those of who may see everything.
            let mut roles = [Some(key.user), all_stats].into_iter().flatten();
            let may_see = roles.any(|role| rights.roles.has_privileges_of(rights.role(), role));
            let text = match may_see {
                true if texts => Cell::from(&*rowferry_dialect::mask_secrets(&statement.text)),
                true => NULL,
                false if texts => Cell::from("<insufficient privilege>"),
                false => NULL,
            };
            let times = statement.times;
            let [hit, read, written] = statement.pages.map(|pages| i64::try_from(pages).unwrap_or(i64::MAX));
            let logged = if has_log { statement.pages[2] } else { 0 };
            let mut row = row![
                key.user,
                database,
                key.top,
                may_see.then_some(key.query),
                text,
                0,
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
                statement.calls as i64,
                times.total,
                times.min,
                times.max,
                times.mean,
                times.deviation(statement.calls),
                statement.rows as i64,
                hit,
                read,
                written,
                written,
            ];
            // Nothing is local to a session, nothing but rows is kept beside the file, and times of reading are not taken.
            row.extend([0, 0, 0, 0, 0, 0].map(Cell::Integer));
            row.extend([0.0, 0.0, 0.0, 0.0].map(Cell::Real));
            row.extend(row![logged as i64, logged as i64, (logged * (page + FRAME)).to_string()]);
            row.extend(row![0, 0.0, 0, 0.0, 0, 0.0, 0, 0.0]);
            row
        })
        .collect()
}

fn info(context: &Context<'_>) -> Vec<Row> {
    let (forgotten, reset) = context.database.statistics.statements.facts();
    vec![row![forgotten as i64, instant(reset)]]
}
