//! The functions behind casts to a length or precision, in call form: `"varchar"(text, 7, true)`. The modifier is a value, as
//! `pg_attribute` keeps it.

use super::TypeSpec::{self, Is};
use super::spec::*;
use crate::Type;
use crate::scalar::bits;

const BIT: TypeSpec = Is(Type::Scalar(&bits::BIT, None));
const VARBIT: TypeSpec = Is(Type::Scalar(&bits::VARBIT, None));
const VARCHAR: TypeSpec = Is(Type::Varchar(None));

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "bit" (BIT, I4, BOOL) -> BIT, T("rf_with_modifier({0}, 1560, 1560, {1}, {2})");
    Scalar "bit" (I4, I4) -> BIT, T("rf_with_modifier({0}, 23, 1560, max({1}, 1), 1)");
    Scalar "bit" (I8, I4) -> BIT, T("rf_with_modifier({0}, 20, 1560, max({1}, 1), 1)");
    Scalar "bpchar" (BPCHAR, I4, BOOL) -> BPCHAR, T("rf_with_modifier({0}, 1042, 1042, {1}, {2})");
    Scalar "interval" (INTERVAL, I4) -> INTERVAL, T("rf_with_modifier({0}, 1186, 1186, {1}, 1)");
    Scalar "numeric" (NUM, I4) -> NUM, T("rf_with_modifier({0}, 1700, 1700, {1}, 1)");
    Scalar "time" (TIME, I4) -> TIME, T("rf_with_modifier({0}, 1083, 1083, {1}, 1)");
    Scalar "timestamp" (TS, I4) -> TS, T("rf_with_modifier({0}, 1114, 1114, {1}, 1)");
    Scalar "timestamptz" (TSTZ, I4) -> TSTZ, T("rf_with_modifier({0}, 1184, 1184, {1}, 1)");
    Scalar "timetz" (TIMETZ, I4) -> TIMETZ, T("rf_with_modifier({0}, 1266, 1266, {1}, 1)");
    Scalar "varbit" (VARBIT, I4, BOOL) -> VARBIT, T("rf_with_modifier({0}, 1562, 1562, {1}, {2})");
    Scalar "varchar" (VARCHAR, I4, BOOL) -> VARCHAR, T("rf_with_modifier({0}, 1043, 1043, {1}, {2})");
};
