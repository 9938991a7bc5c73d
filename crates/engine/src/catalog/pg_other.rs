//! Small catalogs with rows of ours: databases, the language of functions, tablespaces, time zones.

use std::sync::Arc;

use rowferry_dialect::access::roles::DatabaseFacts;
use rowferry_dialect::access::{Rights, Roles};
use rowferry_dialect::stored_function::{RoutineLanguage, StoredFunction};
use rowferry_dialect::values::{Interval, IntervalStyle, zone};

use super::object_names::TABLESPACES;
use super::pg_stat_activity::DATABASE;
use super::{Cell, Context, NULL, OWNER, Row, Table, row};
use crate::databases::{Databases, Siblings};
use crate::schema::Snapshot;

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_database", databases).live(),
    Table::pg_catalog("pg_language", |context| {
        // The others are everywhere.
        let [call, inline, validator] = super::pg_proc::PLPGSQL_HANDLERS;
        let mut rows = vec![row![super::pg_proc::PLPGSQL, "plpgsql", OWNER, true, true, call, inline, validator, NULL]];
        let in_mysql = |function: &Arc<StoredFunction>| function.definition.language == RoutineLanguage::Mysql;
        if context.schema.stored_functions().any(in_mysql) {
            rows.push(row![super::pg_proc::MYSQL_LANGUAGE, "mysql", OWNER, true, true, 0, 0, 0, NULL]);
        }
        rows
    })
    .live(),
    Table::pg_catalog("pg_tablespace", |_| {
        TABLESPACES.iter().map(|(oid, name)| row![*oid, *name, OWNER, NULL, NULL]).collect()
    })
    .live(),
    Table::pg_catalog("pg_timezone_names", |_| {
        let row = |zone: zone::Clock| row![zone.name, zone.abbreviation, shown(zone.offset), zone.summer];
        zone::zones(crate::session::state::now()).into_iter().map(row).collect()
    })
    .live(),
    Table::pg_catalog("pg_timezone_abbrevs", |_| {
        let row = |zone: zone::Clock| row![zone.name, shown(zone.offset), zone.summer];
        zone::abbreviations(crate::session::state::now()).into_iter().map(row).collect()
    })
    .live(),
];

/// The databases of the server. What is granted on others their own sessions see.
fn databases(context: &Context<'_>) -> Vec<Row> {
    let rights = context.schema.rights();
    let told = |oid: u32, name: &str, owner: u32, facts: &DatabaseFacts, list: Cell| {
        let (template, open, limit) = (facts.is_template, facts.allows_connections, facts.connection_limit);
        row![oid, name, owner, 6, "c", template, open, limit, 0, 0, 1_663, "C", "C.UTF-8", NULL, NULL, list]
    };
    let own = super::pg_roles::shown_list(context.schema, &rights, DATABASE);
    let mut rows = vec![told(
        context.database.oid(),
        &context.database.name,
        rights.owner(DATABASE),
        rights.roles.database(),
        own,
    )];
    let all = context.database.siblings.get().and_then(Siblings::databases);
    for (name, _) in all.iter().flat_map(Databases::list).filter(|(name, _)| *name != context.database.name) {
        let oid = all.as_ref().map_or(DATABASE, |all| all.oid(&name));
        let there = all.as_ref().and_then(|all| all.open(&name).ok()).map(|database| database.shared.current());
        let facts = there.as_ref().map(|there| there.roles.database().clone()).unwrap_or_default();
        rows.push(told(oid, &name, owner_of(&rights.roles, there.as_deref()), &facts, NULL));
    }
    rows
}

/// The owner of another database, by the name that the role has there.
fn owner_of(roles: &Roles, there: Option<&Snapshot>) -> u32 {
    let Some(there) = there.filter(|_| !roles.is_simple()) else { return OWNER };
    let rights = Rights { roles: there.roles.clone(), main: there.grants.clone(), ..Rights::default() };
    let owner = there.roles.get(rights.owner(DATABASE)).and_then(|role| roles.oid(&role.name));
    owner.unwrap_or(OWNER)
}

/// Seconds as an interval is stored.
fn shown(seconds: i32) -> String {
    Interval { months: 0, days: 0, micros: i64::from(seconds) * 1_000_000 }.to_text(IntervalStyle::Postgres)
}
