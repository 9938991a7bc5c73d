//! What is counted of databases, tables, indexes and sequences (`pg_stat_…`, `pg_statio_…`, [`crate::statistics`]).
//!
//! What the back end does not tell is NULL from the moment on when there is something to tell, and 0 before: blocks of single tables,
//! rows found by an index.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowferry_dialect::Schema as _;
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_facts as facts;

use super::pg_stat_activity::instant;
use super::{Cell, Context, NULL, Row, Table, row};
use crate::database::Shared;
use crate::databases::Siblings;
use crate::schema::{INFORMATION_SCHEMA, PG_CATALOG};
use crate::statistics::{self, DatabaseCounts, IndexCounts, TableCounts};

/// Of which schemas a view tells.
#[derive(Clone, Copy)]
enum Of {
    All,
    System,
    Users,
}

impl Of {
    fn tells(self, relation: &Relation) -> bool {
        let system = [PG_CATALOG, INFORMATION_SCHEMA].contains(&relation.namespace.as_str());
        match self {
            Self::All => true,
            Self::System => system,
            Self::Users => !system,
        }
    }
}

macro_rules! views {
    ($($make:ident($name:literal, $of:ident)),* $(,)?) => {
        &[$(Table::pg_catalog($name, |context| $make(context, $name, Of::$of)).live(),)*
            Table::pg_catalog("pg_stat_archiver", |context| vec![archiver(context)]).live(),
            Table::pg_catalog("pg_stat_bgwriter", |context| vec![writer(context)]).live(),
            Table::pg_catalog("pg_stat_database", databases).live(),
            Table::pg_catalog("pg_stat_database_conflicts", conflicts).live(),
            Table::pg_catalog("pg_stat_user_functions", |context| functions(context, "pg_stat_user_functions")).live(),
            Table::pg_catalog("pg_stat_xact_user_functions", |context| {
                functions(context, "pg_stat_xact_user_functions")
            })
            .live(),
            Table::pg_catalog("pg_stat_wal", |context| vec![log(context)]).live(),
        ]
    };
}

pub(super) const TABLES: &[Table] = views![
    tables("pg_stat_all_tables", All),
    tables("pg_stat_sys_tables", System),
    tables("pg_stat_user_tables", Users),
    tables("pg_stat_xact_all_tables", All),
    tables("pg_stat_xact_sys_tables", System),
    tables("pg_stat_xact_user_tables", Users),
    tables("pg_statio_all_tables", All),
    tables("pg_statio_sys_tables", System),
    tables("pg_statio_user_tables", Users),
    indexes("pg_stat_all_indexes", All),
    indexes("pg_stat_sys_indexes", System),
    indexes("pg_stat_user_indexes", Users),
    indexes("pg_statio_all_indexes", All),
    indexes("pg_statio_sys_indexes", System),
    indexes("pg_statio_user_indexes", Users),
    sequences("pg_statio_all_sequences", All),
    sequences("pg_statio_user_sequences", Users),
];

/// A count as a cell: users of such numbers are far from their end.
fn count(number: u64) -> Cell {
    Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// What nobody tells, once there is something to tell.
fn untold(something: bool) -> Cell {
    if something { NULL } else { Cell::Integer(0) }
}

/// Microseconds as the milliseconds of such views.
fn milliseconds(microseconds: u64) -> Cell {
    #[allow(clippy::cast_precision_loss, reason = "exact up to 285 years")]
    Cell::Real(microseconds as f64 / 1_000.0)
}

/// A row, column by column.
fn filled(view: &str, mut cell: impl FnMut(&str) -> Cell) -> Row {
    facts::Relation::columns(PG_CATALOG, view).iter().map(|column| cell(column.name)).collect()
}

/// What has been counted of tables and indexes, by whom it is asked for.
struct Counts<'a> {
    database: &'a Arc<Shared>,
    /// Of the transaction that is open, where that alone is asked for.
    open: Option<(HashMap<u32, TableCounts>, HashMap<u32, IndexCounts>)>,
}

impl<'a> Counts<'a> {
    fn of(context: &'a Context<'_>, view: &str) -> Self {
        let open = view.starts_with("pg_stat_xact_").then(|| statistics::of_transaction(context.state));
        if open.is_none() {
            statistics::collect(context.database, context.state);
        }
        Self { database: context.database, open }
    }

    fn table(&self, oid: u32) -> TableCounts {
        match &self.open {
            Some((tables, _)) => tables.get(&oid).copied().unwrap_or_default(),
            None => self.database.statistics.table(oid).unwrap_or_default(),
        }
    }

    fn index(&self, oid: u32) -> IndexCounts {
        match &self.open {
            Some((_, indexes)) => indexes.get(&oid).copied().unwrap_or_default(),
            None => self.database.statistics.index(oid).unwrap_or_default(),
        }
    }
}

/// Tables, the catalogs among them, and materialised views.
fn counted_relations<'a>(context: &'a Context<'_>, of: Of) -> impl Iterator<Item = &'a Arc<Relation>> {
    let relations = super::postgres_relations().chain(context.schema.user_relations());
    relations.filter(move |relation| {
        let stored = matches!(relation.kind, RelationKind::Table | RelationKind::Catalog) && !super::is_view(relation);
        (stored || relation.is_materialized()) && of.tells(relation)
    })
}

fn tables(context: &Context<'_>, view: &str, of: Of) -> Vec<Row> {
    let counts = Counts::of(context, view);
    let io = view.starts_with("pg_statio");
    // A partitioned table has no pages of its own.
    let relations = counted_relations(context, of).filter(|relation| !(io && relation.is_partitioned()));
    relations.map(|relation| filled(view, |column| of_table(relation, &counts.table(relation.oid), column))).collect()
}

fn of_table(relation: &Relation, counts: &TableCounts, column: &str) -> Cell {
    let indexed = || !relation.indexes.is_empty() || catalog_indexes(relation).next().is_some();
    let time = |at: Option<i64>| at.map_or(NULL, instant);
    let used = counts.seq_scans + counts.idx_scans + counts.inserted + counts.updated + counts.deleted > 0;
    match column {
        "relid" => Cell::from(relation.oid),
        "schemaname" => Cell::from(&relation.namespace),
        "relname" => Cell::from(&relation.name),
        "seq_scan" => count(counts.seq_scans),
        "seq_tup_read" => count(counts.seq_rows),
        "n_tup_ins" => count(counts.inserted),
        "n_tup_upd" => count(counts.updated),
        "n_tup_del" => count(counts.deleted),
        "n_live_tup" => Cell::Integer(counts.live),
        "n_mod_since_analyze" => count(counts.modified),
        "n_ins_since_vacuum" => count(counts.inserted_since_vacuum),
        "last_vacuum" => time(counts.vacuumed),
        "last_analyze" => time(counts.analyzed),
        "vacuum_count" => count(counts.vacuums),
        "analyze_count" => count(counts.analyses),
        // There is nobody who does these.
        "last_autovacuum" | "last_autoanalyze" => NULL,
        // Long values stay in the table.
        _ if column.starts_with("toast_") || column.starts_with("tidx_") => NULL,
        _ if column.starts_with("idx_") && !indexed() => NULL,
        "idx_scan" => count(counts.idx_scans),
        "idx_tup_fetch" => untold(counts.idx_scans > 0),
        "heap_blks_read" | "heap_blks_hit" | "idx_blks_read" | "idx_blks_hit" => untold(used),
        // Rows are changed in their place, and the space of deleted ones is free at once.
        _ => Cell::Integer(0),
    }
}

fn catalog_indexes(relation: &Relation) -> impl Iterator<Item = &'static facts::Index> {
    let name = (relation.namespace == PG_CATALOG).then(|| relation.name.clone());
    facts::Index::all().iter().filter(move |index| name.as_deref() == Some(index.relation))
}

fn indexes(context: &Context<'_>, view: &str, of: Of) -> Vec<Row> {
    let counts = Counts::of(context, view);
    let mut rows = Vec::new();
    for relation in counted_relations(context, of).filter(|relation| !relation.is_partitioned()) {
        let own = relation.ordinary_indexes().map(|index| (index.oid, index.name.as_str()));
        for (oid, name) in own.chain(catalog_indexes(relation).map(|index| (index.oid, index.name))) {
            let counts = counts.index(oid);
            rows.push(filled(view, |column| match column {
                "relid" => Cell::from(relation.oid),
                "indexrelid" => Cell::from(oid),
                "schemaname" => Cell::from(&relation.namespace),
                "relname" => Cell::from(&relation.name),
                "indexrelname" => Cell::from(name),
                column => of_index(&counts, column),
            }));
        }
    }
    rows
}

fn of_index(counts: &IndexCounts, column: &str) -> Cell {
    match column {
        "idx_scan" => count(counts.scans),
        "idx_tup_read" if !counts.untold => count(counts.rows),
        _ => untold(counts.scans > 0),
    }
}

/// Functions that have been called while `track_functions` counted them.
fn functions(context: &Context<'_>, view: &str) -> Vec<Row> {
    let counts = if view == "pg_stat_xact_user_functions" {
        statistics::functions_of_transaction(context.state)
    } else {
        statistics::collect(context.database, context.state);
        context.database.statistics.functions()
    };
    let row = |function: &StoredFunction| {
        let counts = counts.get(&function.oid)?;
        Some(filled(view, |column| match column {
            "funcid" => Cell::from(function.oid),
            "schemaname" => Cell::from(&function.namespace),
            "funcname" => Cell::from(&function.name),
            "calls" => count(counts.calls),
            "total_time" => milliseconds(counts.total),
            "self_time" => milliseconds(counts.own),
            _ => NULL,
        }))
    };
    context.schema.stored_functions().filter_map(|function| row(function)).collect()
}

/// Sequences are users'.
fn sequences(context: &Context<'_>, view: &str, _: Of) -> Vec<Row> {
    let sequences = context.schema.sequences().map(|details| &details.sequence);
    sequences
        .map(|sequence| {
            filled(view, |column| match column {
                "relid" => Cell::from(sequence.oid),
                "schemaname" => Cell::from(&sequence.namespace),
                "relname" => Cell::from(&sequence.name),
                // A sequence is a row of a table of ours, of which the server keeps a copy.
                _ => Cell::Integer(0),
            })
        })
        .collect()
}

/// The databases of the server: their object ids, names, and themselves where they are open.
fn all_databases(context: &Context<'_>) -> Vec<(u32, String, Option<Arc<Shared>>)> {
    let neighbours = context.database.neighbours();
    let opened = |oid: u32| neighbours.iter().find(|database| database.oid() == oid).cloned();
    let own = context.database.oid();
    let mut all = vec![(own, context.database.name.clone(), Some(context.database.clone()))];
    if let Some(siblings) = context.database.siblings.get().and_then(Siblings::databases) {
        for (name, _) in siblings.list().into_iter().filter(|(name, _)| *name != context.database.name) {
            let oid = siblings.oid(&name);
            all.push((oid, name, opened(oid)));
        }
    }
    all
}

/// The databases of the server, and a row for what belongs to none.
fn databases(context: &Context<'_>) -> Vec<Row> {
    let of_none = of_database(0, None, 0, &DatabaseCounts::default(), None);
    let of = |(oid, name, database): (u32, String, Option<Arc<Shared>>)| match database {
        Some(database) => {
            let counts = database.statistics.since_reset(&statistics::collect(&database, context.state));
            of_database(oid, Some(&name), database.sessions().len(), &counts, database.statistics.reset_at())
        }
        None => of_database(oid, Some(&name), 0, &DatabaseCounts::default(), None),
    };
    std::iter::once(of_none).chain(all_databases(context).into_iter().map(of)).collect()
}

fn of_database(oid: u32, name: Option<&str>, sessions: usize, counts: &DatabaseCounts, reset: Option<i64>) -> Row {
    filled("pg_stat_database", |column| match column {
        "datid" => Cell::from(oid),
        "datname" => Cell::from(name),
        "numbackends" => Cell::from(sessions),
        "xact_commit" => count(counts.commits),
        "xact_rollback" => count(counts.rollbacks),
        "blks_read" => count(counts.pages_read),
        "blks_hit" => count(counts.pages_hit),
        "tup_returned" => count(counts.rows_returned),
        "tup_inserted" => count(counts.rows_inserted),
        "tup_updated" => count(counts.rows_updated),
        "tup_deleted" => count(counts.rows_deleted),
        "deadlocks" => count(counts.deadlocks),
        "sessions" => count(counts.sessions),
        "sessions_abandoned" => count(counts.abandoned),
        "sessions_fatal" => count(counts.fatal),
        "sessions_killed" => count(counts.killed),
        "session_time" => milliseconds(counts.session_time),
        "active_time" => milliseconds(counts.active_time),
        "idle_in_transaction_time" => milliseconds(counts.idle_in_transaction_time),
        "stats_reset" => reset.map_or(NULL, instant),
        // There are no checksums of pages.
        "checksum_failures" | "checksum_last_failure" => NULL,
        "blk_read_time" | "blk_write_time" => Cell::Real(0.0),
        // Of rows that indexes find, and of files for rows that are too many, nobody counts any; programs that watch
        // databases do not expect NULL here.
        _ => Cell::Integer(0),
    })
}

/// Nothing recovers here, so nothing is in its way.
fn conflicts(context: &Context<'_>) -> Vec<Row> {
    all_databases(context).into_iter().map(|(oid, name, _)| row![oid, name, 0, 0, 0, 0, 0]).collect()
}

/// Nothing is archived.
fn archiver(context: &Context<'_>) -> Row {
    let reset = context.database.statistics.archiver_reset.load(Ordering::Relaxed);
    row![0, NULL, NULL, 0, NULL, NULL, instant(reset)]
}

/// There is no background writer: sessions write their pages themselves.
fn writer(context: &Context<'_>) -> Row {
    let counts = server_counts(context);
    let reset = context.database.statistics.bgwriter_reset.load(Ordering::Relaxed);
    filled("pg_stat_bgwriter", |column| match column {
        "checkpoints_req" => count(counts.checkpoints),
        "checkpoint_write_time" | "checkpoint_sync_time" => Cell::Real(0.0),
        "buffers_checkpoint" => untold(counts.checkpoints > 0),
        "buffers_backend" => count(counts.pages_written),
        "buffers_alloc" => count(counts.pages_read),
        "stats_reset" => instant(reset),
        _ => Cell::Integer(0),
    })
}

/// The write-ahead log of the back end is pages: each is a record and an image of a page.
fn log(context: &Context<'_>) -> Row {
    /// What stands in front of a page.
    const FRAME: u64 = 24;
    let counts = server_counts(context);
    let pages = if context.database.has_rollback_journal() { 0 } else { counts.pages_written };
    let page = context.state.running.with(|connection| connection.page_size()).unwrap_or(0);
    let reset = context.database.statistics.wal_reset.load(Ordering::Relaxed);
    filled("pg_stat_wal", |column| match column {
        "wal_records" | "wal_fpi" => count(pages),
        "wal_bytes" => Cell::from((pages * (page + FRAME)).to_string()),
        "wal_sync" => count(context.database.log_sync.syncs()),
        "wal_write" => untold(pages > 0),
        "wal_write_time" | "wal_sync_time" => Cell::Real(0.0),
        "stats_reset" => instant(reset),
        _ => Cell::Integer(0),
    })
}

/// What all sessions of the server have counted.
fn server_counts(context: &Context<'_>) -> DatabaseCounts {
    let mut counts = DatabaseCounts::default();
    for database in context.database.neighbours() {
        counts.add(&statistics::collect(&database, context.state));
    }
    counts
}

/// What the function behind a column of such a view answers: of a table or an index, a database, or the server.
///
/// What is not there has counts of 0 and no times.
pub fn statistic(context: &Context<'_>, view: &str, column: &str, oid: Option<u32>) -> Cell {
    let rows = match view {
        "pg_stat_database" => databases(context),
        "pg_stat_bgwriter" => vec![writer(context)],
        // NULL for what was not called.
        "pg_stat_user_functions" | "pg_stat_xact_user_functions" => {
            let row = functions(context, view).into_iter().find(|row| oid.is_some_and(|oid| row[0] == Cell::from(oid)));
            let at = facts::Relation::columns(PG_CATALOG, view).iter().position(|known| known.name == column);
            return row.zip(at).map_or(NULL, |(mut row, at)| row.swap_remove(at));
        }
        _ => {
            let counts = Counts::of(context, view);
            let oid = oid.unwrap_or(0);
            if context.schema.index_by_oid(oid).is_some() {
                let column = match column {
                    "seq_scan" => "idx_scan",
                    "seq_tup_read" => "idx_tup_read",
                    column => column,
                };
                return of_index(&counts.index(oid), column);
            }
            let relation = context.schema.relation_by_oid(oid).or_else(|| super::relation_by_oid(oid));
            return match relation {
                Some(relation) => of_table(&relation, &counts.table(oid), column),
                None if column.starts_with("last_") => NULL,
                None => Cell::Integer(0),
            };
        }
    };
    let at = facts::Relation::columns(PG_CATALOG, view).iter().position(|known| known.name == column);
    let Some(at) = at else { return NULL };
    let row = rows.into_iter().find(|row| oid.is_none_or(|oid| row[0] == Cell::from(oid)));
    match row {
        Some(mut row) => row.swap_remove(at),
        None if column.ends_with("_time") => Cell::Real(0.0),
        None if column == "stats_reset" => NULL,
        None => Cell::Integer(0),
    }
}
