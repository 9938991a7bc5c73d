//! `pg_stat_activity`, `pg_stat_gssapi` and `pg_locks`: what sessions do.

use std::sync::Arc;

use rowferry_dialect::types::Type;
use rowferry_dialect::values::{self, Settings};

use super::{Cell, Context, NULL, OWNER, Row, Table, row};
use crate::database::Shared;
use crate::locks::{LockRow, Tag};
use crate::session::state::State;

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_stat_activity", activity).live(),
    Table::pg_catalog("pg_stat_gssapi", gssapi).live(),
    Table::pg_catalog("pg_stat_progress_copy", copying).live(),
    Table::pg_catalog("pg_locks", locks).live(),
];

/// The database's object id.
pub const DATABASE: u32 = 16_383;

/// An instant as it is stored.
pub(super) fn instant(microseconds: i64) -> Cell {
    let parts = (microseconds.div_euclid(1_000_000), microseconds.rem_euclid(1_000_000));
    let stamp = jiff::Timestamp::new(parts.0, parts.1 as i32 * 1_000).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let text = format!("{}+00", stamp.strftime("%Y-%m-%d %H:%M:%S%.6f"));
    match values::input(&text, &Type::TimestampTz(None), &Settings::default()) {
        Ok(rowferry_dialect::ir::Value::Text(text)) => Cell::from(text),
        _ => NULL,
    }
}

/// Every session of the server, with the object ids of its database and of its role, and whether the reader may see what it
/// does.
fn sessions(context: &Context<'_>) -> Vec<(u32, Arc<State>, u32, bool)> {
    let of = |database: &Arc<Shared>| {
        let oid = database.oid();
        database.sessions().into_iter().map(move |session| (oid, session)).collect::<Vec<_>>()
    };
    let mut sessions: Vec<(u32, Arc<State>)> = context.database.neighbours().iter().flat_map(of).collect();
    sessions.sort_by_key(|(_, session)| session.pid);
    let rights = context.schema.rights();
    let seen = |(database, session): (u32, Arc<State>)| {
        // Where nobody has made roles, whoever comes is the first one.
        let role = rights.roles.oid(&session.user).unwrap_or(OWNER);
        // What others do is only for those who have their rights, or those of who may see everything.
        let mut roles = [Some(role), rights.roles.oid("pg_read_all_stats")].into_iter().flatten();
        let may_see = roles.any(|role| rights.roles.has_privileges_of(rights.role(), role));
        (database, session, role, may_see)
    };
    sessions.into_iter().map(seen).collect()
}

/// Every session of the server, and whether the reader may see what it does.
pub(super) fn visible(context: &Context<'_>) -> Vec<(Arc<State>, bool)> {
    sessions(context).into_iter().map(|(_, session, _, may_see)| (session, may_see)).collect()
}

/// How far COPYs have come.
fn copying(context: &Context<'_>) -> Vec<Row> {
    let row = |(database, session, _, may_see): (u32, Arc<State>, u32, bool)| {
        let progress = session.copying.lock().clone()?;
        let mut row = row![session.pid, database, &session.database_name];
        if may_see {
            let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            row.extend(row![
                progress.table,
                if progress.from { "COPY FROM" } else { "COPY TO" },
                "PIPE",
                count(progress.bytes()),
                0,
                count(progress.rows()),
                count(progress.excluded()),
            ]);
        } else {
            row.resize(10, NULL);
        }
        Some(row)
    };
    sessions(context).into_iter().filter_map(row).collect()
}

/// Nobody proves by GSSAPI who they are.
fn gssapi(context: &Context<'_>) -> Vec<Row> {
    sessions(context).into_iter().map(|(_, session, ..)| row![session.pid, false, NULL, false]).collect()
}

fn activity(context: &Context<'_>) -> Vec<Row> {
    sessions(context)
        .into_iter()
        .map(|(database, session, role, may_see)| {
            if !may_see {
                return hidden(database, &session, role);
            }
            let activity = session.activity.lock().clone();
            let idle = activity.state == "idle";
            let shown = session.variables.read().kept("track_activities") != Some("off");
            let waits = context.database.locks.waits_for(session.pid);
            let wait_event = match waits {
                _ if !shown => None,
                Some(tag) => Some(("Lock", tag.wait_event())),
                None if activity.state == "active" => None,
                None => Some(("Client", "ClientRead")),
            };
            let client: Option<std::net::SocketAddr> = session.client_address.parse().ok();
            let started = session
                .started
                .duration_since(std::time::SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_micros() as i64);
            row![
                database,
                &session.database_name,
                session.pid,
                NULL,
                role,
                &session.user,
                session.variables.read().get("application_name"),
                client.map(|client| client.ip().to_canonical().to_string()),
                NULL,
                // What is on no network has no port, which is told so.
                client.map_or(-1, |client| i64::from(client.port())),
                instant(started),
                if idle || !shown { NULL } else { instant(activity.transaction_start) },
                if shown { instant(activity.statement_start) } else { NULL },
                if shown { instant(activity.state_change.max(activity.statement_start)) } else { NULL },
                wait_event.map(|(class, _)| class),
                wait_event.map(|(_, event)| event),
                if shown { activity.state } else { "disabled" },
                session.owner.xid().map(short_xid),
                NULL,
                activity.query_id.filter(|_| shown),
                if shown { rowferry_dialect::mask_secrets(&activity.query).into_owned() } else { String::new() },
                "client backend",
            ]
        })
        .collect()
}

/// What everybody may know of a session.
fn hidden(database: u32, session: &State, role: u32) -> Row {
    row![
        database,
        &session.database_name,
        session.pid,
        NULL,
        role,
        &session.user,
        session.variables.read().get("application_name"),
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        session.owner.xid().map(short_xid),
        NULL,
        NULL,
        "<insufficient privilege>",
        NULL,
    ]
}

/// The low half of a transaction's number, as columns of type `xid` have it.
fn short_xid(xid: i64) -> u32 {
    xid as u32
}

/// Locks on tables, advisory locks, and transactions: whoever waits for a row, or for the write lock, waits for the
/// transaction that has it. Rows that are locked and waited for by nobody are not shown, as in PostgreSQL.
fn locks(context: &Context<'_>) -> Vec<Row> {
    let mut sessions = context.database.sessions();
    sessions.sort_by_key(|session| session.pid);
    let mut rows = Vec::new();
    for session in &sessions {
        let activity = session.activity.lock().clone();
        let virtual_id = format!("{}/1", session.pid);
        let own = |kind: &str, virtual_xid: Option<&str>, xid: Option<u32>| {
            row![
                kind,
                NULL,
                NULL,
                NULL,
                NULL,
                virtual_xid,
                xid,
                NULL,
                NULL,
                NULL,
                &virtual_id,
                session.pid,
                "ExclusiveLock",
                true,
                kind == "virtualxid",
                NULL,
            ]
        };
        if activity.state != "idle" {
            rows.push(own("virtualxid", Some(&virtual_id), None));
        }
        if let Some(xid) = session.owner.xid() {
            rows.push(own("transactionid", None, Some(short_xid(xid))));
        }
    }
    let database = context.database.oid();
    rows.extend(context.database.locks.rows().iter().filter_map(|row| lock(database, row)));
    rows
}

fn lock(database: u32, lock: &LockRow) -> Option<Row> {
    let waits_for_transaction = matches!(lock.tag, Tag::Row { .. } | Tag::Write);
    if waits_for_transaction && lock.granted {
        return None;
    }
    let (kind, relation, key) = match lock.tag {
        Tag::Relation(oid) => ("relation", Some(oid), None),
        Tag::Advisory(key) => ("advisory", None, Some(key)),
        Tag::Row { .. } | Tag::Write => ("transactionid", None, None),
    };
    Some(row![
        kind,
        (!waits_for_transaction).then_some(database),
        relation,
        NULL,
        NULL,
        NULL,
        lock.blocker.filter(|_| waits_for_transaction).map(short_xid),
        key.map(|key| key.high),
        key.map(|key| key.low),
        key.map(|key| if key.pair { 2_i16 } else { 1 }),
        format!("{}/1", lock.pid),
        lock.pid,
        if waits_for_transaction { "ShareLock" } else { lock.mode.name() },
        lock.granted,
        lock.fast_path,
        lock.wait_start.map_or(NULL, instant),
    ])
}
