//! Locks, transactions, and what sessions do to each other.

use std::time::Duration;

use rowferry_dialect::Result;
use rowferry_dialect::ir::{LockMode, LockWait, Value};

use super::call::{boolean, integer, text};
use super::{Call, Row};
use crate::locks::{AdvisoryKey, Hold};

/// Lesser numbers are of no transaction.
const FIRST_NORMAL: i64 = 3;

/// The part of a transaction's number that `xid` has.
fn short(number: i64) -> i64 {
    (number & 0xffff_ffff).max(FIRST_NORMAL)
}

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_txid_current", 0, |call| integer(call.context().state().transaction_id()?)).volatile(),
    Row::new("rf_txid_current_if_assigned", 0, |call| {
        Ok(call.context().state().transaction_id_if_assigned()?.map_or(Value::Null, Value::Integer))
    })
    .volatile(),
    // The writer of all rows of the catalogs.
    Row::new("rf_catalog_xid", 0, |call| integer(short(call.context().state().catalog_writer()?))),
    Row::new("rf_own_xid", 0, |call| integer(short(call.context().state().transaction_id()?))).volatile(),
    Row::new("rf_note_met_row", 1, |call| {
        let row = if call.is_null(0) { None } else { Some(call.integer(0)?) };
        call.context().state().note_met(row)?;
        boolean(true)
    })
    .lenient()
    .volatile(),
    Row::new("rf_met_row_locker", 0, |call| {
        let state = call.context().state();
        integer(if state.has_met()? { short(state.transaction_id()?) } else { 0 })
    })
    .volatile(),
    Row::new("rf_age_xid", 1, |call| {
        let asked = call.integer(0)?;
        if asked < FIRST_NORMAL {
            return integer(i32::MAX);
        }
        // Numbers come round: of two the earlier is the one from which the other is less than half a round away.
        let latest = short(call.context().state().latest_transaction()?);
        integer((latest as u32).wrapping_sub(asked as u32) as i32)
    }),
    Row::new("rf_txid_status", 1, |call| {
        // The first two numbers stand for transactions that were before all others.
        if matches!(call.integer(0)?, 1 | 2) {
            return text("committed");
        }
        let status = call.context().state().transaction_outcome(call.integer(0)?)?;
        Ok(status.map_or(Value::Null, |status| Value::Text(status.to_owned())))
    })
    .volatile(),
    Row::new("rf_pg_cancel_backend", 1, |call| boolean(call.context().state().cancel(call.integer(0)? as i32)?))
        .volatile(),
    Row::new("rf_pg_terminate_backend", 1, |call| {
        let wait = if call.len() > 1 { call.integer(1)?.clamp(0, 86_400_000) as u64 } else { 0 };
        boolean(call.context().state().terminate(call.integer(0)? as i32, Duration::from_millis(wait))?)
    })
    .optional(1)
    .volatile(),
    Row::new("rf_pg_blocking_pids", 1, |call| {
        let pids = call.context().state().blocking_pids(call.integer(0)? as i32)?;
        text(crate::catalog::array(pids))
    })
    .volatile(),
    // SELECT … FOR UPDATE: table, row, mode, and what to do when it is locked.
    Row::new("rf_lock_row", 4, |call| {
        let mode = LockMode::ALL.into_iter().find(|mode| i64::from(*mode as u8) == call.integer(2).unwrap_or(0));
        let mode = mode.unwrap_or(LockMode::AccessExclusive);
        let wait = match call.integer(3)? {
            1 => LockWait::Skip,
            2 => LockWait::Fail,
            _ => LockWait::Block,
        };
        let row = if call.is_null(1) { None } else { Some(call.integer(1)?) };
        boolean(call.context().state().lock_row(call.integer(0)? as u32, row, mode, wait)?)
    })
    .lenient()
    .volatile(),
    // Advisory locks.
    Row::new("rf_pg_advisory_lock", 1, |call| advisory(call, LockMode::Exclusive, Hold::Session))
        .optional(1)
        .volatile(),
    Row::new("rf_pg_try_advisory_lock", 1, |call| try_advisory(call, LockMode::Exclusive, Hold::Session))
        .optional(1)
        .volatile(),
    Row::new("rf_pg_advisory_lock_shared", 1, |call| advisory(call, LockMode::Share, Hold::Session))
        .optional(1)
        .volatile(),
    Row::new("rf_pg_try_advisory_lock_shared", 1, |call| try_advisory(call, LockMode::Share, Hold::Session))
        .optional(1)
        .volatile(),
    Row::new("rf_pg_advisory_xact_lock", 1, |call| advisory(call, LockMode::Exclusive, Hold::Transaction))
        .optional(1)
        .volatile(),
    Row::new("rf_pg_try_advisory_xact_lock", 1, |call| try_advisory(call, LockMode::Exclusive, Hold::Transaction))
        .optional(1)
        .volatile(),
    Row::new("rf_pg_advisory_xact_lock_shared", 1, |call| advisory(call, LockMode::Share, Hold::Transaction))
        .optional(1)
        .volatile(),
    Row::new("rf_pg_try_advisory_xact_lock_shared", 1, |call| try_advisory(call, LockMode::Share, Hold::Transaction))
        .optional(1)
        .volatile(),
    Row::new("rf_pg_advisory_unlock", 1, |call| unlock(call, LockMode::Exclusive)).optional(1).volatile(),
    Row::new("rf_pg_advisory_unlock_shared", 1, |call| unlock(call, LockMode::Share)).optional(1).volatile(),
    Row::new("rf_pg_advisory_unlock_all", 0, |call| {
        call.context().state().advisory_unlock_all()?;
        text("")
    })
    .volatile(),
];

fn key(call: &Call<'_>) -> Result<AdvisoryKey> {
    let first = call.integer(0)?;
    Ok(if call.len() > 1 {
        AdvisoryKey::pair(first as i32, call.integer(1)? as i32)
    } else {
        AdvisoryKey::single(first)
    })
}

fn advisory(call: &Call<'_>, mode: LockMode, hold: Hold) -> Result<Value> {
    call.context().state().advisory_lock(key(call)?, mode, hold, true)?;
    text("")
}

fn try_advisory(call: &Call<'_>, mode: LockMode, hold: Hold) -> Result<Value> {
    boolean(call.context().state().advisory_lock(key(call)?, mode, hold, false)?)
}

fn unlock(call: &Call<'_>, mode: LockMode) -> Result<Value> {
    boolean(call.context().state().advisory_unlock(key(call)?, mode)?)
}
