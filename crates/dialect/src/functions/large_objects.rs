//! Large objects. All are one function of the back end, which is told what is asked for.

use super::spec::*;

pub(super) const ROWS: &[Function] = rows! { PG;
    Scalar "lo_creat" (I4) -> OID, T("rf_large_object('create', {0} * 0)"), volatile, writes;
    Scalar "lo_create" (OID) -> OID, T("rf_large_object('create', {0})"), volatile, writes;
    Scalar "lo_from_bytea" (OID, BYTEA) -> OID, T("rf_large_object('from bytes', {0}, {1})"), volatile, writes;
    Scalar "lo_open" (OID, I4) -> I4, T("rf_large_object('open', {0}, {1})"), volatile;
    Scalar "lo_close" (I4) -> I4, T("rf_large_object('close', {0})"), volatile;
    Scalar "loread" (I4, I4) -> BYTEA, T("rf_large_object('read', {0}, {1})"), volatile;
    Scalar "lowrite" (I4, BYTEA) -> I4, T("rf_large_object('write', {0}, {1})"), volatile, writes;
    Scalar "lo_lseek" (I4, I4, I4) -> I4, T("rf_large_object('seek', {0}, {1}, {2})"), volatile;
    Scalar "lo_lseek64" (I4, I8, I4) -> I8, T("rf_large_object('seek64', {0}, {1}, {2})"), volatile;
    Scalar "lo_tell" (I4) -> I4, T("rf_large_object('tell', {0})"), volatile;
    Scalar "lo_tell64" (I4) -> I8, T("rf_large_object('tell64', {0})"), volatile;
    Scalar "lo_truncate" (I4, I4) -> I4, T("rf_large_object('truncate', {0}, {1})"), volatile, writes;
    Scalar "lo_truncate64" (I4, I8) -> I4, T("rf_large_object('truncate', {0}, {1})"), volatile, writes;
    Scalar "lo_unlink" (OID) -> I4, T("rf_large_object('unlink', {0})"), volatile, writes;
    Scalar "lo_get" (OID) -> BYTEA, T("rf_large_object('get', {0})"), volatile;
    Scalar "lo_get" (OID, I8, I4) -> BYTEA, T("rf_large_object('get', {0}, {1}, {2})"), volatile;
    Scalar "lo_put" (OID, I8, BYTEA) -> VOID, T("rf_large_object('put', {0}, {1}, {2})"), volatile, writes;
    Scalar "lo_import" (TEXT) -> OID, T("rf_large_object('import', {0})"), volatile;
    Scalar "lo_import" (TEXT, OID) -> OID, T("rf_large_object('import', {0}, {1})"), volatile;
    Scalar "lo_export" (OID, TEXT) -> I4, T("rf_large_object('export', {0}, {1})"), volatile;
};
