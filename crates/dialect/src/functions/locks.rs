//! Locks, transactions and sessions.

use super::TypeSpec;
use super::spec::*;
use crate::Type;
use crate::scalar::numbers;

const XID: TypeSpec = TypeSpec::Is(Type::Scalar(&numbers::XID, None));
const XID8: TypeSpec = TypeSpec::Is(Type::Scalar(&numbers::XID8, None));

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "txid_current" () -> I8, F("rf_txid_current"), volatile;
    Scalar "txid_current_if_assigned" () -> I8, F("rf_txid_current_if_assigned"), volatile;
    Scalar "pg_current_xact_id" () -> XID8, T("CAST(rf_txid_current() AS TEXT)"), volatile;
    Scalar "pg_current_xact_id_if_assigned" () -> XID8, T("CAST(rf_txid_current_if_assigned() AS TEXT)"), volatile;
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
