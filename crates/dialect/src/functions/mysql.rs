//! MySQL's own functions. Names of the `mysql_` kind are what the front end puts in: conversions, operators.
//!
//! The front end converts arguments to the types that a row names. `ANY` is a stored value, of which the function makes
//! what it needs: a text may be a date, a number, a decimal. A row of another type of the same count stands where the
//! stored value does not tell: a DATE as a number is 20240102, a text of the same letters is 2024.

use super::spec::*;
use crate::Language;

const MYSQL: &[Language] = &[Language::Mysql];

/// The rows.
pub(super) static ROWS: &[Function] = rows! { MYSQL;
    // Conversions.
    Scalar "mysql_to_double" (DATE) -> F8, T("rf_mysql_double(rf_mysql_moment_number({0}))"), stable;
    Scalar "mysql_to_double" (TS) -> F8, T("rf_mysql_double(rf_mysql_moment_number({0}))"), stable;
    Scalar "mysql_to_double" (TSTZ) -> F8, T("rf_mysql_double(rf_mysql_moment_number({0}))"), stable;
    Scalar "mysql_to_double" (TIME) -> F8, T("rf_mysql_double(rf_mysql_time_number({0}))"), stable;
    Scalar "mysql_to_double" (ANY) -> F8, F("rf_mysql_double");
    Scalar "mysql_to_integer" (DATE) -> I8, T("rf_mysql_decimal_integer(rf_mysql_moment_number({0}))"), stable;
    Scalar "mysql_to_integer" (TS) -> I8, T("rf_mysql_decimal_integer(rf_mysql_moment_number({0}))"), stable;
    Scalar "mysql_to_integer" (TSTZ) -> I8, T("rf_mysql_decimal_integer(rf_mysql_moment_number({0}))"), stable;
    Scalar "mysql_to_integer" (TIME) -> I8, T("rf_mysql_decimal_integer(rf_mysql_time_number({0}))"), stable;
    Scalar "mysql_to_integer" (NUM) -> I8, F("rf_mysql_decimal_integer");
    Scalar "mysql_to_integer" (ANY) -> I8, F("rf_mysql_integer");
    Scalar "mysql_to_decimal" (DATE) -> NUM, F("rf_mysql_moment_number"), stable;
    Scalar "mysql_to_decimal" (TS) -> NUM, F("rf_mysql_moment_number"), stable;
    Scalar "mysql_to_decimal" (TSTZ) -> NUM, F("rf_mysql_moment_number"), stable;
    Scalar "mysql_to_decimal" (TIME) -> NUM, F("rf_mysql_time_number"), stable;
    Scalar "mysql_to_decimal" (ANY) -> NUM, F("rf_mysql_decimal");
    Scalar "mysql_to_text" (F4) -> TEXT, F("rf_mysql_float_text");
    Scalar "mysql_to_text" (TSTZ) -> TEXT, F("rf_mysql_instant_text"), stable;
    Scalar "mysql_to_text" (ANY) -> TEXT, F("rf_mysql_text");
    Scalar "mysql_to_date" (TIME) -> DATE, T("substr(rf_mysql_time_datetime({0}), 1, 10)"), stable;
    Scalar "mysql_to_date" (ANY) -> DATE, F("rf_mysql_date"), stable;
    Scalar "mysql_to_datetime" (TIME) -> TS, F("rf_mysql_time_datetime"), stable;
    Scalar "mysql_to_datetime" (ANY) -> TS, F("rf_mysql_datetime"), stable;
    Scalar "mysql_to_time" (DATE) -> TIME, T("iif({0} IS NULL, NULL, '00:00:00')");
    Scalar "mysql_to_time" (ANY) -> TIME, F("rf_mysql_time"), stable;
    Scalar "mysql_truth" (ANY) -> BOOL, F("rf_mysql_truth");

    // Operators.
    Scalar "mysql_divide" (NUM, NUM) -> NUM, F("rf_mysql_divide");
    Scalar "mysql_divide_double" (F8, F8) -> F8, F("rf_mysql_divide_double");
    Scalar "mysql_integer_divide" (NUM, NUM) -> I8, F("rf_mysql_integer_divide");
    Scalar "mysql_modulo" (I8, I8) -> I8, F("rf_mysql_modulo_integer");
    Scalar "mysql_modulo" (NUM, NUM) -> NUM, F("rf_mysql_modulo");
    Scalar "mysql_modulo" (F8, F8) -> F8, F("rf_mysql_modulo_double");
    Scalar "mysql_bit_and" (ANY, ANY) -> NUM, T("rf_mysql_bits('&', {0}, {1})");
    Scalar "mysql_bit_or" (ANY, ANY) -> NUM, T("rf_mysql_bits('|', {0}, {1})");
    Scalar "mysql_bit_xor" (ANY, ANY) -> NUM, T("rf_mysql_bits('^', {0}, {1})");
    Scalar "mysql_shift_left" (ANY, ANY) -> NUM, T("rf_mysql_bits('<<', {0}, {1})");
    Scalar "mysql_shift_right" (ANY, ANY) -> NUM, T("rf_mysql_bits('>>', {0}, {1})");
    Scalar "mysql_bit_not" (ANY) -> NUM, F("rf_mysql_bit_not");
    Scalar "bit_count" (ANY) -> I8, F("rf_mysql_bit_count");
    // (text, pattern, escape)
    Scalar "mysql_like" (TEXT, TEXT, TEXT) -> BOOL, F("rf_mysql_like");
    Scalar "mysql_like_binary" (TEXT, TEXT, TEXT) -> BOOL, F("rf_mysql_like_binary");
};
