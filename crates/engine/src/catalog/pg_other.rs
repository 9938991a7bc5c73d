//! Small catalogs with rows of ours: the database, the language of functions, tablespaces, time zones.

use super::pg_stat_activity::DATABASE;
use super::{Context, NULL, OWNER, Row, Table, row};
use crate::schema::PG_CATALOG;

const fn table(name: &'static str, oid: u32, columns: &'static str, rows: fn(&Context<'_>) -> Vec<Row>) -> Table {
    Table { namespace: PG_CATALOG, name, oid, columns, rows, live: true }
}

pub(super) const TABLES: &[Table] = &[
    table(
        "pg_database",
        1_262,
        "oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn bool, \
            datconnlimit int4, datfrozenxid oid, datminmxid oid, dattablespace oid, datcollate text, datctype text, \
            daticulocale text, datcollversion text, datacl text[]",
        |context| {
            let rights = context.schema.rights();
            vec![row![
                DATABASE,
                &context.database.name,
                rights.owner(DATABASE),
                6,
                "c",
                false,
                true,
                -1,
                0,
                0,
                1_663,
                "C",
                "C.UTF-8",
                NULL,
                NULL,
                super::pg_roles::shown_list(context.schema, &rights, DATABASE),
            ]]
        },
    ),
    table(
        "pg_language",
        2_612,
        "oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool, lanplcallfoid oid, laninline oid, \
            lanvalidator oid, lanacl text[]",
        |_| {
            // The others are everywhere.
            let [call, inline, validator] = super::pg_proc::PLPGSQL_HANDLERS.map(|(oid, ..)| oid);
            vec![row![super::pg_proc::PLPGSQL, "plpgsql", OWNER, true, true, call, inline, validator, NULL]]
        },
    ),
    table("pg_tablespace", 1_213, "oid oid, spcname name, spcowner oid, spcacl text[], spcoptions text[]", |_| {
        vec![row![1_663, "pg_default", OWNER, NULL, NULL], row![1_664, "pg_global", OWNER, NULL, NULL]]
    }),
    table("pg_timezone_names", 0, "name text, abbrev text, utc_offset text, is_dst bool", |_| {
        jiff::tz::db().available().map(|name| row![name.as_str(), NULL, NULL, NULL]).collect()
    }),
];
