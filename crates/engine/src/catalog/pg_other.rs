//! Small catalogs with rows of ours: the database, the language of functions, tablespaces, time zones.

use super::pg_stat_activity::DATABASE;
use super::{NULL, OWNER, Table, row};

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_database", |context| {
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
    })
    .live(),
    Table::pg_catalog("pg_language", |_| {
        // The others are everywhere.
        let [call, inline, validator] = super::pg_proc::PLPGSQL_HANDLERS;
        vec![row![super::pg_proc::PLPGSQL, "plpgsql", OWNER, true, true, call, inline, validator, NULL]]
    })
    .live(),
    Table::pg_catalog("pg_tablespace", |_| {
        vec![row![1_663, "pg_default", OWNER, NULL, NULL], row![1_664, "pg_global", OWNER, NULL, NULL]]
    })
    .live(),
    Table::pg_catalog("pg_timezone_names", |_| {
        jiff::tz::db().available().map(|name| row![name.as_str(), NULL, NULL, NULL]).collect()
    })
    .live(),
];
