//! The functions behind PostgreSQL's own aggregates whose state is a value: aggregates of users may be made of them.

use super::TypeSpec;
use super::spec::*;
use crate::Type;

const INTEGERS: TypeSpec = TypeSpec::ArrayOf(Type::Int8);
const FLOATS: TypeSpec = TypeSpec::ArrayOf(Type::Float8);

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "int8inc" (I8) -> I8, T("rf_int8_add({0}, 1)");
    Scalar "int8dec" (I8) -> I8, T("rf_int8_sub({0}, 1)");
    Scalar "int8inc_any" (I8, ANY) -> I8, F("rf_accum_count");
    Scalar "int8dec_any" (I8, ANY) -> I8, F("rf_accum_discount");
    Scalar "int8inc_float8_float8" (I8, F8, F8) -> I8, F("rf_accum_count");
    Scalar "int2_sum" (I8, I2) -> I8, F("rf_accum_sum"), lenient;
    Scalar "int4_sum" (I8, I4) -> I8, F("rf_accum_sum"), lenient;
    Scalar "int8_sum" (NUM, I8) -> NUM, F("rf_accum_sum_numeric"), lenient;
    Scalar "int2_avg_accum" (INTEGERS, I2) -> INTEGERS, F("rf_accum_integers");
    Scalar "int4_avg_accum" (INTEGERS, I4) -> INTEGERS, F("rf_accum_integers");
    Scalar "int2_avg_accum_inv" (INTEGERS, I2) -> INTEGERS, F("rf_accum_integers_inv");
    Scalar "int4_avg_accum_inv" (INTEGERS, I4) -> INTEGERS, F("rf_accum_integers_inv");
    Scalar "int4_avg_combine" (INTEGERS, INTEGERS) -> INTEGERS, F("rf_accum_integers_combine");
    Scalar "int8_avg" (INTEGERS) -> NUM, F("rf_accum_integers_avg");
    Scalar "int2int4_sum" (INTEGERS) -> I8, F("rf_accum_integers_sum");
    Scalar "float4_accum" (FLOATS, F4) -> FLOATS, F("rf_accum_floats");
    Scalar "float8_accum" (FLOATS, F8) -> FLOATS, F("rf_accum_floats");
    Scalar "float8_avg" (FLOATS) -> F8, F("rf_accum_floats_avg");
    Scalar "float8_var_pop" (FLOATS) -> F8, F("rf_accum_floats_var_pop");
    Scalar "float8_var_samp" (FLOATS) -> F8, F("rf_accum_floats_var_samp");
    Scalar "float8_stddev_pop" (FLOATS) -> F8, F("rf_accum_floats_stddev_pop");
    Scalar "float8_stddev_samp" (FLOATS) -> F8, F("rf_accum_floats_stddev_samp");
};
