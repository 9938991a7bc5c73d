//! Small catalogs with rows of ours: databases, the language of functions, tablespaces, time zones.

use rowferry_dialect::access::{Rights, Roles};
use rowferry_dialect::values::{Interval, IntervalStyle, zone};

use super::pg_stat_activity::DATABASE;
use super::{Cell, Context, NULL, OWNER, Row, Table, row};
use crate::databases::{Databases, Siblings};

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_database", databases).live(),
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

/// The databases of the server. Of those that are not open only as much is told as is known without: nobody has been given
/// anything of theirs where there are no roles.
fn databases(context: &Context<'_>) -> Vec<Row> {
    let rights = context.schema.rights();
    let told = |oid: u32, name: &str, owner: u32, list: Cell| {
        row![oid, name, owner, 6, "c", false, true, -1, 0, 0, 1_663, "C", "C.UTF-8", NULL, NULL, list]
    };
    let own = super::pg_roles::shown_list(context.schema, &rights, DATABASE);
    let mut rows = vec![told(context.database.oid(), &context.database.name, rights.owner(DATABASE), own)];
    let all = context.database.siblings.get().and_then(Siblings::databases);
    for (name, _) in all.iter().flat_map(Databases::list).filter(|(name, _)| *name != context.database.name) {
        let oid = all.as_ref().map_or(DATABASE, |all| all.oid(&name));
        rows.push(told(oid, &name, owner_of(&name, &rights.roles, all.as_ref()), NULL));
    }
    rows
}

/// The owner of another database, by the name that the role has there.
fn owner_of(name: &str, roles: &Roles, all: Option<&Databases>) -> u32 {
    if roles.is_simple() {
        return OWNER;
    }
    let Some(database) = all.and_then(|all| all.open(name).ok()) else { return OWNER };
    let there = database.shared.current();
    let rights = Rights { roles: there.roles.clone(), main: there.grants.clone(), ..Rights::default() };
    let owner = there.roles.get(rights.owner(DATABASE)).and_then(|role| roles.oid(&role.name));
    owner.unwrap_or(OWNER)
}

/// Seconds as an interval is stored.
fn shown(seconds: i32) -> String {
    Interval { months: 0, days: 0, micros: i64::from(seconds) * 1_000_000 }.to_text(IntervalStyle::Postgres)
}
