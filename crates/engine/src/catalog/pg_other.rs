//! Small catalogs with fixed rows: databases, roles, access methods, languages, collations, casts.

use super::pg_stat_activity::DATABASE;
use super::{Context, NULL, OWNER, Row, Table, row};
use crate::schema::PG_CATALOG;

const fn table(name: &'static str, oid: u32, columns: &'static str, rows: fn(&Context<'_>) -> Vec<Row>) -> Table {
    Table { namespace: PG_CATALOG, name, oid, columns, rows, live: true }
}

pub(super) const TABLES: &[Table] = &[
    table("pg_am", 2_601, "oid oid, amname name, amhandler regproc, amtype char", |_| {
        vec![row![2, "heap", 3, "t"], row![403, "btree", 330, "i"], row![405, "hash", 331, "i"]]
    }),
    table(
        "pg_cast",
        2_605,
        "oid oid, castsource oid, casttarget oid, castfunc oid, castcontext char, castmethod char",
        |_| {
            [
                (20, 23, "a"),
                (23, 20, "i"),
                (21, 23, "i"),
                (23, 21, "a"),
                (25, 1_043, "i"),
                (1_043, 25, "i"),
                (23, 1_700, "i"),
            ]
            .into_iter()
            .enumerate()
            .map(|(at, (source, target, context))| row![10_100 + at, source, target, 0, context, "f"])
            .collect()
        },
    ),
    table(
        "pg_collation",
        3_456,
        "oid oid, collname name, collnamespace oid, collowner oid, collprovider char, collisdeterministic bool, \
            collencoding int4, collcollate text, collctype text, colllocale text, collicurules text, collversion text",
        |_| {
            [(100, "default", "d", -1), (950, "C", "c", -1), (951, "POSIX", "c", -1)]
                .into_iter()
                .map(|(oid, name, provider, encoding)| {
                    row![oid, name, 11, OWNER, provider, true, encoding, "C", "C", NULL, NULL, NULL]
                })
                .collect()
        },
    ),
    table(
        "pg_database",
        1_262,
        "oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn bool, \
            dathasloginevt bool, datconnlimit int4, datfrozenxid oid, datminmxid oid, dattablespace oid, \
            datcollate text, datctype text, datlocale text, daticurules text, datcollversion text, datacl text[], \
            daticulocale text",
        |context| {
            // `daticulocale` is what `datlocale` was called up to PostgreSQL 16: psql 15 and 16 ask for it.
            let rights = context.schema.rights();
            vec![row![
                DATABASE,
                &context.database.name,
                rights.owner(DATABASE),
                6,
                "c",
                false,
                true,
                false,
                -1,
                0,
                0,
                1_663,
                "C",
                "C.UTF-8",
                NULL,
                NULL,
                NULL,
                super::pg_roles::shown_list(context.schema, &rights, DATABASE),
                NULL
            ]]
        },
    ),
    table(
        "pg_language",
        2_612,
        "oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool, lanplcallfoid oid, laninline oid, \
            lanvalidator oid, lanacl text[]",
        |_| {
            vec![
                row![12, "internal", OWNER, false, false, 0, 0, 0, NULL],
                row![13, "c", OWNER, false, false, 0, 0, 0, NULL],
                row![14, "sql", OWNER, false, true, 0, 0, 0, NULL],
                row![super::pg_proc::PLPGSQL, "plpgsql", OWNER, true, true, 0, 0, 0, NULL],
            ]
        },
    ),
    table(
        "pg_opclass",
        2_616,
        "oid oid, opcmethod oid, opcname name, opcnamespace oid, opcowner oid, opcfamily oid, opcintype oid, \
            opcdefault bool, opckeytype oid",
        |_| vec![row![10_000, 403, "any_ops", 11, OWNER, 10_001, 2_283, true, 0]],
    ),
    table("pg_tablespace", 1_213, "oid oid, spcname name, spcowner oid, spcacl text[], spcoptions text[]", |_| {
        vec![row![1_663, "pg_default", OWNER, NULL, NULL], row![1_664, "pg_global", OWNER, NULL, NULL]]
    }),
    table("pg_timezone_names", 0, "name text, abbrev text, utc_offset text, is_dst bool", |_| {
        jiff::tz::db().available().map(|name| row![name.as_str(), NULL, NULL, NULL]).collect()
    }),
];
