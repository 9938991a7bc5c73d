//! Calls of functions that users have made, whose arguments are the function's object id, what its polymorphic types
//! stand for, and its own arguments; and of aggregates, whose are a plan, what the state begins with, and the aggregate's
//! own. Nobody can call these by name.

use super::TypeSpec;
use super::spec::*;
use crate::Type;
use crate::scalar::numbers;

const TID: TypeSpec = TypeSpec::Is(Type::Scalar(&numbers::TID, None));
const XID: TypeSpec = TypeSpec::Is(Type::Scalar(&numbers::XID, None));

/// What a call has settled.
const SETTLED: TypeSpec = TypeSpec::Is(Type::Unknown);

pub(super) const ROWS: &[Function] = rows! { &[];
    Scalar "stored function" (OID, TEXT, ANY) -> ANY, F("rf_stored_function"), optional(1), variadic, lenient, volatile;
    Scalar "operator of users" (OID, ANY) -> ANY, T("{1}"), lenient;
    Scalar "cast of users" (ANY, BOOL) -> ANY, T("{0}"), lenient;
    Scalar "grouping of keys" (ANY) -> I4, T("0"), lenient, variadic;
    Scalar "members of a vector" (ANY, TEXT) -> TEXT, F("rf_vector_members");
    Scalar "bigint of what is wide" (ANY) -> I8, F("rf_narrow");
    Scalar "numeric of what is wide" (ANY) -> NUM, F("rf_mysql_wide_number");
    Scalar "counted from zero" (ANY) -> ANY, F("rf_from_zero");
    Scalar "place of a row" (I8) -> TID, F("rf_ctid");
    Scalar "item of known roles" (TEXT) -> ANY, T("rf_ask('aclitem', {0})"), stable;
    Scalar "writer of a catalog" () -> XID, F("rf_catalog_xid"), stable;
    Scalar "own number" () -> XID, F("rf_own_xid"), volatile;
    Scalar "refuse a deferrable arbiter" (TEXT, TEXT) -> BOOL, F("rf_refuse_arbiter"), volatile;
    Scalar "note the met row" (I8) -> BOOL, F("rf_note_met_row"), lenient, volatile;
    Scalar "locker of the met row" () -> XID, F("rf_met_row_locker"), volatile;
    Scalar "row of the cursor" (TEXT) -> I8, F("rf_cursor_row"), optional(1), lenient, volatile;
    Scalar "row of a sample" (I8, I4, F4, F8) -> BOOL, F("rf_row_of_sample"), lenient;
    SetReturning "stored result rows" (I8) -> ANY, F("rf_stored_result_rows"), volatile;
    SetReturning "stored function rows" (OID, TEXT, ANY) -> ANY, F("rf_stored_function_rows"), optional(1), variadic, lenient, volatile;
    SetReturning "json records" (JSON, ANY, TEXT, TEXT, TEXT) -> ANY, F("rf_json_records"), lenient, stable;
    Aggregate "stored aggregate" (TEXT, ANY, ANY) -> ANY, F("rf_stored_aggregate"), optional(1), variadic, lenient;
    Scalar "stored aggregate result" (TEXT, ANY, ANY) -> ANY, F("rf_stored_aggregate_result"), optional(1), variadic, lenient, volatile;
    Scalar "range of a user" (SETTLED, SETTLED, TEXT) -> ANY, R("rf_make_range"), optional(1), lenient;
    Scalar "multirange of a user" (SETTLED) -> ANY, R("rf_make_multirange"), lenient, variadic;
    Scalar "multirange of a user by array" (SETTLED) -> ANY, R("rf_make_multirange_of_array");
    Scalar "frame offset" (ANY, TEXT, BOOL) -> ANY, F("rf_frame_offset"), lenient;
    Scalar "field" (ANY, I4) -> ANY, Special("field");
    Scalar "row with field" (ANY, I4, I4, ANY) -> ANY, F("rf_set_field"), lenient;
    Scalar "row is null" (ANY) -> BOOL, Special("row_is_null"), lenient;
    Scalar "row is not null" (ANY) -> BOOL, Special("row_is_not_null"), lenient;
};
