//! Catalogs of what does not exist here (publications, foreign tables, replication, …): the relations are there, so that
//! any query can join them; they have no rows, and that is the truth.

use std::sync::LazyLock;

use super::{Context, Row, Table};

fn none(_: &Context<'_>) -> Vec<Row> {
    Vec::new()
}

/// All of them.
pub(super) fn tables() -> impl Iterator<Item = &'static Table> {
    static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
        let ours = PG_CATALOG.iter().map(|name| Table::pg_catalog(name, none));
        ours.chain(INFORMATION_SCHEMA.iter().map(|name| Table::information_schema(name, none))).collect()
    });
    TABLES.iter()
}

const PG_CATALOG: &[&str] = &[
    "pg_backend_memory_contexts",
    "pg_config",
    "pg_event_trigger",
    "pg_file_settings",
    "pg_foreign_data_wrapper",
    "pg_foreign_server",
    "pg_foreign_table",
    "pg_parameter_acl",
    "pg_prepared_xacts",
    "pg_publication",
    "pg_publication_namespace",
    "pg_publication_rel",
    "pg_publication_tables",
    "pg_replication_origin",
    "pg_replication_origin_status",
    "pg_replication_slots",
    "pg_seclabel",
    "pg_seclabels",
    "pg_shmem_allocations",
    "pg_shseclabel",
    "pg_stat_progress_analyze",
    "pg_stat_progress_basebackup",
    "pg_stat_progress_cluster",
    "pg_stat_progress_create_index",
    "pg_stat_progress_vacuum",
    "pg_stat_recovery_prefetch",
    "pg_stat_replication",
    "pg_stat_replication_slots",
    "pg_stat_slru",
    "pg_stat_ssl",
    "pg_stat_subscription",
    "pg_stat_subscription_stats",
    "pg_stat_wal_receiver",
    "pg_statio_sys_sequences",
    "pg_statistic",
    "pg_statistic_ext_data",
    "pg_stats",
    "pg_stats_ext",
    "pg_stats_ext_exprs",
    "pg_subscription",
    "pg_subscription_rel",
    "pg_transform",
    "pg_user_mapping",
    "pg_user_mappings",
];

const INFORMATION_SCHEMA: &[&str] = &[
    "_pg_foreign_data_wrappers",
    "_pg_foreign_servers",
    "_pg_foreign_table_columns",
    "_pg_foreign_tables",
    "_pg_user_mappings",
    "column_options",
    "foreign_data_wrapper_options",
    "foreign_data_wrappers",
    "foreign_server_options",
    "foreign_servers",
    "foreign_table_options",
    "foreign_tables",
    "transforms",
    "user_mapping_options",
    "user_mappings",
];
