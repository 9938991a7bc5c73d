//! Catalogs of what does not exist here (publications, subscriptions, …): the tables are there, with
//! their columns, so that any query can join them; they have no rows.

use super::{Context, Row, Table};
use crate::schema::PG_CATALOG;

const fn table(name: &'static str, oid: u32, columns: &'static str) -> Table {
    fn none(_: &Context<'_>) -> Vec<Row> {
        Vec::new()
    }
    Table { namespace: PG_CATALOG, name, oid, columns, rows: none, live: false }
}

pub(super) const TABLES: &[Table] = &[
    table(
        "pg_event_trigger",
        3_466,
        "oid oid, evtname name, evtevent name, evtowner oid, evtfoid oid, \
        evtenabled char, evttags text[]",
    ),
    table(
        "pg_extension",
        3_079,
        "oid oid, extname name, extowner oid, extnamespace oid, extrelocatable bool, \
        extversion text, extconfig oid[], extcondition text[]",
    ),
    table(
        "pg_foreign_data_wrapper",
        2_328,
        "oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, \
        fdwacl text[], fdwoptions text[]",
    ),
    table(
        "pg_foreign_server",
        1_417,
        "oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text, \
        srvacl text[], srvoptions text[]",
    ),
    table("pg_foreign_table", 3_118, "ftrelid oid, ftserver oid, ftoptions text[]"),
    table("pg_init_privs", 3_394, "objoid oid, classoid oid, objsubid int4, privtype char, initprivs text[]"),
    table("pg_largeobject_metadata", 2_995, "oid oid, lomowner oid, lomacl text[]"),
    table(
        "pg_matviews",
        0,
        "schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool, \
        ispopulated bool, definition text",
    ),
    table(
        "pg_partitioned_table",
        3_350,
        "partrelid oid, partstrat char, partnatts int2, partdefid oid, \
        partattrs int2[], partclass oid[], partcollation oid[], partexprs text",
    ),
    table("pg_prepared_xacts", 0, "transaction text, gid text, prepared timestamptz, owner name, database name"),
    table(
        "pg_publication",
        6_104,
        "oid oid, pubname name, pubowner oid, puballtables bool, pubinsert bool, \
        pubupdate bool, pubdelete bool, pubtruncate bool, pubviaroot bool",
    ),
    table("pg_publication_namespace", 6_237, "oid oid, pnpubid oid, pnnspid oid"),
    table("pg_publication_rel", 6_106, "oid oid, prpubid oid, prrelid oid, prqual text, prattrs int2[]"),
    table("pg_publication_tables", 0, "pubname name, schemaname name, tablename name, attnames name[], rowfilter text"),
    table("pg_rules", 0, "schemaname name, tablename name, rulename name, definition text"),
    table("pg_seclabel", 3_596, "objoid oid, classoid oid, objsubid int4, provider text, label text"),
    table(
        "pg_shdepend",
        1_214,
        "dbid oid, classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, \
        deptype char",
    ),
    table("pg_shseclabel", 3_592, "objoid oid, classoid oid, provider text, label text"),
    table(
        "pg_stat_user_tables",
        0,
        "relid oid, schemaname name, relname name, seq_scan bigint, seq_tup_read bigint, \
        idx_scan bigint, idx_tup_fetch bigint, n_tup_ins bigint, n_tup_upd bigint, n_tup_del bigint, n_live_tup bigint, \
        n_dead_tup bigint, last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz, \
        last_autoanalyze timestamptz",
    ),
    table(
        "pg_statistic_ext",
        3_381,
        "oid oid, stxrelid oid, stxname name, stxnamespace oid, stxowner oid, \
        stxstattarget int4, stxkeys int2[], stxkind char[], stxexprs text",
    ),
    table(
        "pg_stats",
        0,
        "schemaname name, tablename name, attname name, inherited bool, null_frac float4, \
        avg_width int4, n_distinct float4",
    ),
    table(
        "pg_subscription",
        6_100,
        "oid oid, subdbid oid, subname name, subowner oid, subenabled bool, \
        subconninfo text, subslotname name, subsynccommit text, subpublications text[]",
    ),
    table("pg_subscription_rel", 6_102, "srsubid oid, srrelid oid, srsubstate char, srsublsn text"),
    table("pg_transform", 3_576, "oid oid, trftype oid, trflang oid, trffromsql regproc, trftosql regproc"),
    table("pg_ts_config", 3_602, "oid oid, cfgname name, cfgnamespace oid, cfgowner oid, cfgparser oid"),
    table(
        "pg_ts_dict",
        3_600,
        "oid oid, dictname name, dictnamespace oid, dictowner oid, dicttemplate oid, \
        dictinitoption text",
    ),
    table("pg_user_mapping", 1_418, "oid oid, umuser oid, umserver oid, umoptions text[]"),
];
