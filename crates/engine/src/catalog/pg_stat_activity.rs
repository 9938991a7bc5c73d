//! `pg_stat_activity` and `pg_locks`: what sessions do.

use rowferry_dialect::types::Type;
use rowferry_dialect::values::{self, Settings};

use super::{Cell, Context, NULL, OWNER, Row, Table, row};
use crate::schema::PG_CATALOG;

pub(super) const TABLES: &[Table] = &[
    Table {
        namespace: PG_CATALOG,
        name: "pg_stat_activity",
        oid: 0,
        columns: "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, \
            application_name text, client_addr text, client_hostname text, client_port int4, backend_start timestamptz, \
            xact_start timestamptz, query_start timestamptz, state_change timestamptz, wait_event_type text, \
            wait_event text, state text, backend_xid text, backend_xmin text, query_id bigint, query text, \
            backend_type text",
        rows: activity,
        live: true,
    },
    Table {
        namespace: PG_CATALOG,
        name: "pg_locks",
        oid: 0,
        columns: "locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, \
            transactionid text, classid oid, objid oid, objsubid int2, virtualtransaction text, pid int4, mode text, \
            granted bool, fastpath bool, waitstart timestamptz",
        rows: locks,
        live: true,
    },
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

fn activity(context: &Context<'_>) -> Vec<Row> {
    let mut sessions = context.database.sessions();
    sessions.sort_by_key(|session| session.pid);
    sessions
        .into_iter()
        .map(|session| {
            let activity = session.activity.lock().clone();
            let idle = activity.state == "idle";
            let started = session
                .started
                .duration_since(std::time::SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_micros() as i64);
            row![
                DATABASE,
                &session.database_name,
                session.pid,
                NULL,
                OWNER,
                &session.user,
                session.variables.read().get("application_name"),
                (!session.client_address.is_empty()).then_some(&session.client_address),
                NULL,
                NULL,
                instant(started),
                if idle { NULL } else { instant(activity.transaction_start) },
                instant(activity.statement_start),
                instant(activity.statement_start),
                if activity.waiting { Cell::from("Lock") } else { Cell::from("Client") },
                if activity.waiting { Cell::from("transactionid") } else { Cell::from("ClientRead") },
                activity.state,
                NULL,
                NULL,
                NULL,
                &*activity.query,
                "client backend",
            ]
        })
        .collect()
}

/// The one lock that there is: the turn to write.
fn locks(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for session in context.database.sessions() {
        let activity = session.activity.lock().clone();
        if activity.writing || activity.waiting {
            rows.push(row![
                "transactionid",
                DATABASE,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                format!("{}/1", session.pid),
                session.pid,
                "ExclusiveLock",
                activity.writing,
                false,
                if activity.waiting { instant(activity.statement_start) } else { NULL },
            ]);
        }
    }
    rows
}
