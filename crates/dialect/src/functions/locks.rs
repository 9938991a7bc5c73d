//! Locks, transactions and sessions.

use super::TypeSpec;
use super::spec::*;
use crate::Type;
use crate::scalar::{numbers, snapshots};

const XID: TypeSpec = TypeSpec::Is(Type::Scalar(&numbers::XID, None));
const TID: TypeSpec = TypeSpec::Is(Type::Scalar(&numbers::TID, None));
const SNAPSHOT: TypeSpec = TypeSpec::Is(Type::Scalar(&snapshots::PG_SNAPSHOT, None));
const TXID_SNAPSHOT: TypeSpec = TypeSpec::Is(Type::Scalar(&snapshots::TXID_SNAPSHOT, None));
const XID8: TypeSpec = TypeSpec::Is(Type::Scalar(&numbers::XID8, None));

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "txid_current" () -> I8, F("rf_txid_current"), volatile;
    Scalar "txid_current_if_assigned" () -> I8, F("rf_txid_current_if_assigned"), volatile;
    Scalar "pg_current_xact_id" () -> XID8, T("CAST(rf_txid_current() AS TEXT)"), volatile;
    Scalar "pg_current_xact_id_if_assigned" () -> XID8, T("CAST(rf_txid_current_if_assigned() AS TEXT)"), volatile;
    Scalar "pg_export_snapshot" () -> TEXT, T("rf_ask('export_snapshot')"), volatile;
    Scalar "pg_current_snapshot" () -> SNAPSHOT, T("rf_ask('snapshot')"), stable;
    Scalar "txid_current_snapshot" () -> TXID_SNAPSHOT, T("rf_ask('snapshot')"), stable;
    Scalar "pg_snapshot_xmin" (SNAPSHOT) -> XID8, T("CAST(rf_ask('snapshot_xmin', {0}) AS TEXT)");
    Scalar "pg_snapshot_xmax" (SNAPSHOT) -> XID8, T("CAST(rf_ask('snapshot_xmax', {0}) AS TEXT)");
    SetReturning "pg_snapshot_xip" (SNAPSHOT) -> XID8, Special("snapshot_running");
    Scalar "pg_visible_in_snapshot" (XID8, SNAPSHOT) -> BOOL, T("rf_ask('snapshot_sees', {1}, CAST({0} AS INTEGER))");
    Scalar "txid_snapshot_xmin" (TXID_SNAPSHOT) -> I8, T("rf_ask('snapshot_xmin', {0})");
    Scalar "txid_snapshot_xmax" (TXID_SNAPSHOT) -> I8, T("rf_ask('snapshot_xmax', {0})");
    SetReturning "txid_snapshot_xip" (TXID_SNAPSHOT) -> I8, Special("snapshot_running_numbers");
    Scalar "txid_visible_in_snapshot" (I8, TXID_SNAPSHOT) -> BOOL, T("rf_ask('snapshot_sees', {1}, {0})");
    Aggregate "min" (TID) -> TID, Special("min");
    Aggregate "max" (TID) -> TID, Special("max");
    Aggregate "min" (XID8) -> XID8, Special("min");
    Aggregate "max" (XID8) -> XID8, Special("max");
    Scalar "xid8cmp" (XID8, XID8) -> I4, T("(({0} COLLATE rf_xid8 > {1}) - ({0} COLLATE rf_xid8 < {1}))");
    Operator "=" (XID, I4) -> BOOL, T("({0} = ({1} & 4294967295))");
    Operator "<>" (XID, I4) -> BOOL, T("({0} <> ({1} & 4294967295))");
    Scalar "age" (XID) -> I4, F("rf_age_xid"), stable;
    Scalar "txid_status" (I8) -> TEXT, F("rf_txid_status"), volatile;
    Scalar "pg_xact_status" (XID8) -> TEXT, T("rf_txid_status(CAST({0} AS INTEGER))"), volatile;
    Scalar "pg_cancel_backend" (I4) -> BOOL, F("rf_pg_cancel_backend"), volatile;
    Scalar "pg_terminate_backend" (I4) -> BOOL, F("rf_pg_terminate_backend"), volatile;
    Scalar "pg_terminate_backend" (I4, I8) -> BOOL, F("rf_pg_terminate_backend"), volatile;
    Scalar "pg_blocking_pids" (I4) -> INTS, F("rf_pg_blocking_pids"), volatile;
    Scalar "pg_safe_snapshot_blocking_pids" (I4) -> INTS, T("'[]'"), volatile;

    Scalar "pg_advisory_lock" (I8) -> VOID, F("rf_pg_advisory_lock"), volatile;
    Scalar "pg_advisory_lock" (I4, I4) -> VOID, F("rf_pg_advisory_lock"), volatile;
    Scalar "pg_try_advisory_lock" (I8) -> BOOL, F("rf_pg_try_advisory_lock"), volatile;
    Scalar "pg_try_advisory_lock" (I4, I4) -> BOOL, F("rf_pg_try_advisory_lock"), volatile;
    Scalar "pg_advisory_lock_shared" (I8) -> VOID, F("rf_pg_advisory_lock_shared"), volatile;
    Scalar "pg_advisory_lock_shared" (I4, I4) -> VOID, F("rf_pg_advisory_lock_shared"), volatile;
    Scalar "pg_try_advisory_lock_shared" (I8) -> BOOL, F("rf_pg_try_advisory_lock_shared"), volatile;
    Scalar "pg_try_advisory_lock_shared" (I4, I4) -> BOOL, F("rf_pg_try_advisory_lock_shared"), volatile;
    Scalar "pg_advisory_xact_lock" (I8) -> VOID, F("rf_pg_advisory_xact_lock"), volatile;
    Scalar "pg_advisory_xact_lock" (I4, I4) -> VOID, F("rf_pg_advisory_xact_lock"), volatile;
    Scalar "pg_try_advisory_xact_lock" (I8) -> BOOL, F("rf_pg_try_advisory_xact_lock"), volatile;
    Scalar "pg_try_advisory_xact_lock" (I4, I4) -> BOOL, F("rf_pg_try_advisory_xact_lock"), volatile;
    Scalar "pg_advisory_xact_lock_shared" (I8) -> VOID, F("rf_pg_advisory_xact_lock_shared"), volatile;
    Scalar "pg_advisory_xact_lock_shared" (I4, I4) -> VOID, F("rf_pg_advisory_xact_lock_shared"), volatile;
    Scalar "pg_try_advisory_xact_lock_shared" (I8) -> BOOL, F("rf_pg_try_advisory_xact_lock_shared"), volatile;
    Scalar "pg_try_advisory_xact_lock_shared" (I4, I4) -> BOOL, F("rf_pg_try_advisory_xact_lock_shared"), volatile;
    Scalar "pg_advisory_unlock" (I8) -> BOOL, F("rf_pg_advisory_unlock"), volatile;
    Scalar "pg_advisory_unlock" (I4, I4) -> BOOL, F("rf_pg_advisory_unlock"), volatile;
    Scalar "pg_advisory_unlock_shared" (I8) -> BOOL, F("rf_pg_advisory_unlock_shared"), volatile;
    Scalar "pg_advisory_unlock_shared" (I4, I4) -> BOOL, F("rf_pg_advisory_unlock_shared"), volatile;
    Scalar "pg_advisory_unlock_all" () -> VOID, F("rf_pg_advisory_unlock_all"), volatile;
};
