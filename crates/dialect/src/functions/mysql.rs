//! MySQL's own functions. Names of the `mysql_` kind are what the front end puts in: conversions, operators.
//!
//! The front end converts arguments to the types that a row names. `ANY` is a stored value, of which the function makes
//! what it needs: a text may be a date, a number, a decimal. A row of another type of the same count stands where the
//! stored value does not tell: a DATE as a number is 20240102, a text of the same letters is 2024.

use super::spec::*;
use crate::Language;

const MYSQL: &[Language] = &[Language::Mysql];

/// The rows. Of several rows of one number of arguments the first is called where no other fits better.
pub(super) static ROWS: &[Function] = rows! { MYSQL;
    // Conversions.
    Scalar "mysql_to_double" (ANY) -> F8, F("rf_mysql_double");
    Scalar "mysql_to_double" (DATE) -> F8, T("rf_mysql_double(rf_mysql_moment_number({0}))"), stable;
    Scalar "mysql_to_double" (TS) -> F8, T("rf_mysql_double(rf_mysql_moment_number({0}))"), stable;
    Scalar "mysql_to_double" (TSTZ) -> F8, T("rf_mysql_double(rf_mysql_moment_number({0}))"), stable;
    Scalar "mysql_to_double" (INTERVAL) -> F8, T("rf_mysql_double(rf_mysql_time_number({0}))"), stable;
    Scalar "mysql_to_integer" (ANY) -> I8, F("rf_mysql_integer");
    Scalar "mysql_to_integer" (DATE) -> I8, F("rf_mysql_moment_integer"), stable;
    Scalar "mysql_to_integer" (TS) -> I8, F("rf_mysql_moment_integer"), stable;
    Scalar "mysql_to_integer" (TSTZ) -> I8, F("rf_mysql_moment_integer"), stable;
    Scalar "mysql_to_integer" (INTERVAL) -> I8, F("rf_mysql_time_integer"), stable;
    Scalar "mysql_to_integer" (NUM) -> I8, F("rf_mysql_decimal_integer");
    Scalar "mysql_to_unsigned" (ANY) -> NUM, T("rf_mysql_bits('|', {0}, 0)");
    Scalar "mysql_to_decimal" (ANY) -> NUM, F("rf_mysql_decimal");
    Scalar "mysql_to_decimal" (DATE) -> NUM, F("rf_mysql_moment_number"), stable;
    Scalar "mysql_to_decimal" (TS) -> NUM, F("rf_mysql_moment_number"), stable;
    Scalar "mysql_to_decimal" (TSTZ) -> NUM, F("rf_mysql_moment_number"), stable;
    Scalar "mysql_to_decimal" (INTERVAL) -> NUM, F("rf_mysql_time_number"), stable;
    Scalar "mysql_to_text" (ANY) -> TEXT, F("rf_mysql_text");
    Scalar "mysql_to_text" (JSON) -> TEXT, F("rf_mysql_json_shown");
    Scalar "mysql_to_text" (F4) -> TEXT, F("rf_mysql_float_text");
    Scalar "mysql_to_text" (DATE) -> TEXT, F("rf_mysql_text");
    Scalar "mysql_to_text" (INTERVAL) -> TEXT, F("rf_mysql_text");
    Scalar "mysql_to_text" (TS) -> TEXT, F("rf_mysql_text");
    Scalar "mysql_to_text" (TSTZ) -> TEXT, F("rf_mysql_instant_text"), stable;
    // (number, digits that are shown at least)
    Scalar "mysql_zerofilled" (I8, I8) -> TEXT, T("printf('%0*d', {1}, {0})");
    Scalar "mysql_fraction" (F8, I8) -> F8, F("rf_mysql_fraction");
    Scalar "mysql_fixed" (F8, I8) -> TEXT, F("rf_mysql_fixed");
    Scalar "mysql_digits" (TEXT, I8) -> TEXT, F("rf_mysql_digits");
    Scalar "mysql_to_bytes" (ANY) -> BYTEA, F("rf_mysql_bytes");
    Scalar "mysql_to_date" (ANY) -> DATE, F("rf_mysql_date"), stable;
    Scalar "mysql_to_date" (INTERVAL) -> DATE, T("substr(rf_mysql_time_datetime({0}), 1, 10)"), stable;
    Scalar "mysql_to_datetime" (ANY) -> TS, F("rf_mysql_datetime"), stable;
    // What a text is beside a date or a moment.
    Scalar "mysql_beside_date" (ANY) -> DATE, F("rf_mysql_beside_date"), stable;
    Scalar "mysql_beside_datetime" (ANY) -> TS, F("rf_mysql_beside_datetime"), stable;
    Scalar "mysql_assigned_date" (ANY) -> DATE, F("rf_mysql_assigned_date"), stable;
    Scalar "mysql_assigned_datetime" (ANY) -> TS, F("rf_mysql_assigned_datetime"), stable;
    Scalar "mysql_to_datetime" (INTERVAL) -> TS, F("rf_mysql_time_datetime"), stable;
    Scalar "mysql_to_time" (ANY) -> INTERVAL, F("rf_mysql_time"), stable;
    Scalar "mysql_to_time" (DATE) -> INTERVAL, T("iif({0} IS NULL, NULL, '00:00:00')");
    // An integer where it is one, else a float: what an integer is compared with.
    Scalar "mysql_to_number" (ANY) -> F8, T("CAST(rf_mysql_decimal({0}) AS NUMERIC)");
    Scalar "mysql_truth" (ANY) -> BOOL, F("rf_mysql_truth");
    // (value, the words of its type)
    Scalar "mysql_enum_number" (TEXT, TEXT) -> I8, F("rf_mysql_enum_number");
    Scalar "mysql_set_number" (TEXT, TEXT) -> I8, F("rf_mysql_set_number");
    // What is stored of a value. (value, the words of the column's type)
    Scalar "mysql_enum_of_text" (TEXT, TEXT) -> TEXT, F("rf_mysql_enum_of_text");
    Scalar "mysql_enum_of_number" (I8, TEXT) -> TEXT, F("rf_mysql_enum_of_number");
    Scalar "mysql_set_of_text" (TEXT, TEXT) -> TEXT, F("rf_mysql_set_of_text");
    Scalar "mysql_set_of_number" (I8, TEXT) -> TEXT, F("rf_mysql_set_of_number");
    Scalar "mysql_without_blanks" (TEXT) -> TEXT, T("rtrim({0}, ' ')");
    Scalar "mysql_filled" (BYTEA, I8) -> BYTEA, F("rf_mysql_filled");
    // (value, digits behind the point)
    Scalar "mysql_kept_time" (ANY, I8) -> INTERVAL, F("rf_mysql_kept_time"), stable;
    Scalar "mysql_number_of_bytes" (BYTEA) -> I8, F("rf_mysql_number_of_bytes");
    // Bytes in the order of documents; and those of what any other value is beside one.
    Scalar "mysql_json_order" (JSON) -> BYTEA, F("rf_mysql_json_order");
    Scalar "mysql_json_order_of" (ANY) -> BYTEA, Special("mysql_json_order_of"), stable;

    // (definition, what rows are parted by): the place of a row's part; true, or an error where there is none; and true, or an
    // error for a place that is none of these.
    Scalar "mysql_partition" (TEXT, ANY) -> I8, F("rf_mysql_partition"), variadic, lenient;
    Scalar "mysql_partitioned" (TEXT, ANY) -> BOOL, F("rf_mysql_partitioned"), variadic, lenient;
    Scalar "mysql_within_partitions" (I8, TEXT) -> BOOL, F("rf_mysql_within_partitions"), lenient;

    // Operators.
    // With digits beyond those that it shows, nine at a time; and with those alone.
    Scalar "mysql_divide" (NUM, NUM) -> NUM, F("rf_mysql_divide");
    Scalar "mysql_rounded_divide" (NUM, NUM) -> NUM, F("rf_mysql_rounded_divide");
    Scalar "mysql_not_zero" (I8) -> I8, F("rf_mysql_not_zero");
    Scalar "mysql_not_zero" (F8) -> F8, F("rf_mysql_not_zero");
    Scalar "mysql_not_zero" (NUM) -> NUM, F("rf_mysql_not_zero");
    // (number, digits in all, behind the point): the nearest that has no more.
    Scalar "mysql_nearest" (NUM, I8, I8) -> NUM, F("rf_mysql_nearest");
    // What a column takes of a value: the nearest, with a warning that says where. The least and the greatest; digits in all
    // and behind the point, 1 where it has a sign; letters; bytes.
    Scalar "mysql_fitting_integer" (ANY, I8, I8, TEXT) -> I8, F("rf_mysql_fitting_integer"), volatile;
    Scalar "mysql_fitting_decimal" (ANY, I8, I8, I8, TEXT) -> NUM, F("rf_mysql_fitting_decimal"), volatile;
    Scalar "mysql_fitting_text" (TEXT, I8, TEXT) -> TEXT, F("rf_mysql_fitting_text"), volatile;
    Scalar "mysql_fitting_bytes" (BYTEA, I8, TEXT) -> BYTEA, F("rf_mysql_fitting_bytes"), volatile;
    Scalar "mysql_fitting_octets" (TEXT, I8, TEXT) -> TEXT, F("rf_mysql_fitting_octets"), volatile;
    Scalar "mysql_fitting_double" (ANY, TEXT, TEXT) -> F8, F("rf_mysql_fitting_double"), volatile;
    Scalar "mysql_fitting_date" (ANY, TEXT) -> DATE, F("rf_mysql_fitting_date"), volatile;
    Scalar "mysql_fitting_datetime" (ANY, TEXT) -> TS, F("rf_mysql_fitting_datetime"), volatile;
    // (text, the type's words, where)
    Scalar "mysql_fitting_set" (TEXT, TEXT, TEXT) -> TEXT, F("rf_mysql_fitting_set"), volatile;
    // True, with a warning: NULL has come where none may be.
    Scalar "mysql_warned_of_null" (TEXT) -> BOOL, F("rf_mysql_warned_of_null"), volatile;
    // BIGINT UNSIGNED and BIT(64) as they lie: as a number; a number as one, -1 for what is none, or the nearest with a
    // warning; and any value as what compares with them as its number does.
    Scalar "mysql_wide_number" (I8) -> NUM, F("rf_mysql_wide_number");
    Scalar "mysql_wide" (NUM) -> I8, F("rf_mysql_wide");
    Scalar "mysql_fitting_wide" (ANY, TEXT) -> I8, F("rf_mysql_fitting_wide"), volatile;
    Scalar "mysql_beside_wide" (ANY) -> I8, F("rf_mysql_beside_wide");
    // A number within 0 and 2^64.
    Scalar "mysql_unsigned" (NUM) -> NUM, F("rf_mysql_unsigned");
    Scalar "mysql_divide_double" (F8, F8) -> F8, F("rf_mysql_divide_double");
    Scalar "mysql_integer_divide" (NUM, NUM) -> I8, F("rf_mysql_integer_divide");
    Scalar "mysql_unsigned_divide" (NUM, NUM) -> NUM, T("rf_mysql_unsigned(rf_numeric_div_trunc({0}, nullif({1}, 0)))");
    Scalar "mysql_modulo" (F8, F8) -> F8, F("rf_mysql_modulo_double");
    Scalar "mysql_modulo" (I8, I8) -> I8, F("rf_mysql_modulo_integer");
    Scalar "mysql_modulo" (NUM, NUM) -> NUM, F("rf_mysql_modulo");
    Scalar "mysql_bit_and" (ANY, ANY) -> NUM, T("rf_mysql_bits('&', {0}, {1})");
    Scalar "mysql_bit_or" (ANY, ANY) -> NUM, T("rf_mysql_bits('|', {0}, {1})");
    Scalar "mysql_bit_xor" (ANY, ANY) -> NUM, T("rf_mysql_bits('^', {0}, {1})");
    Scalar "mysql_shift_left" (ANY, ANY) -> NUM, T("rf_mysql_bits('<<', {0}, {1})");
    Scalar "mysql_shift_right" (ANY, ANY) -> NUM, T("rf_mysql_bits('>>', {0}, {1})");
    Scalar "mysql_bit_not" (ANY) -> NUM, F("rf_mysql_bit_not");
    Scalar "bit_count" (ANY) -> I8, F("rf_mysql_bit_count");
    // What a YEAR means by it.
    Scalar "mysql_year_of_number" (I8) -> I8, F("rf_mysql_year_of_number");
    Scalar "mysql_year_of_text" (TEXT) -> TEXT, F("rf_mysql_year_of_text");
    // The same of strings of bytes.
    Scalar "mysql_bytes_and" (BYTEA, BYTEA) -> BYTEA, T("rf_mysql_bits_of_bytes('&', {0}, {1})");
    Scalar "mysql_bytes_or" (BYTEA, BYTEA) -> BYTEA, T("rf_mysql_bits_of_bytes('|', {0}, {1})");
    Scalar "mysql_bytes_xor" (BYTEA, BYTEA) -> BYTEA, T("rf_mysql_bits_of_bytes('^', {0}, {1})");
    Scalar "mysql_bytes_shift_left" (BYTEA, ANY) -> BYTEA, T("rf_mysql_shifted_bytes({0}, {1}, 1)");
    Scalar "mysql_bytes_shift_right" (BYTEA, ANY) -> BYTEA, T("rf_mysql_shifted_bytes({0}, {1}, 0)");
    Scalar "mysql_bytes_not" (BYTEA) -> BYTEA, F("rf_mysql_bytes_not");
    Scalar "mysql_bytes_bit_count" (BYTEA) -> I8, F("rf_mysql_bytes_bit_count");
    // (text, pattern, escape)
    Scalar "mysql_like" (TEXT, TEXT, TEXT) -> BOOL, F("rf_mysql_like");
    Scalar "mysql_like_binary" (TEXT, TEXT, TEXT) -> BOOL, F("rf_mysql_like_binary");
    Scalar "mysql_regexp" (TEXT, TEXT) -> BOOL, F("rf_mysql_regexp");

    // Texts.
    Scalar "concat" (TEXT) -> TEXT, F("rf_mysql_concat"), variadic;
    Scalar "concat" (BYTEA) -> BYTEA, F("rf_mysql_concat_bytes"), variadic;
    Scalar "concat_ws" (TEXT, TEXT) -> TEXT, F("rf_mysql_concat_ws"), variadic, lenient;
    Scalar "substring" (TEXT, I8, I8) -> TEXT, F("rf_mysql_substring"), optional(1);
    Scalar "substring" (BYTEA, I8, I8) -> BYTEA, F("rf_mysql_substring_bytes"), optional(1);
    Scalar "substr" (TEXT, I8, I8) -> TEXT, F("rf_mysql_substring"), optional(1);
    Scalar "substr" (BYTEA, I8, I8) -> BYTEA, F("rf_mysql_substring_bytes"), optional(1);
    Scalar "mid" (TEXT, I8, I8) -> TEXT, F("rf_mysql_substring"), optional(1);
    Scalar "mid" (BYTEA, I8, I8) -> BYTEA, F("rf_mysql_substring_bytes"), optional(1);
    Scalar "left" (TEXT, I8) -> TEXT, F("rf_mysql_left");
    Scalar "left" (BYTEA, I8) -> BYTEA, T("rf_mysql_substring_bytes({0}, 1, {1})");
    Scalar "right" (TEXT, I8) -> TEXT, F("rf_mysql_right");
    Scalar "right" (BYTEA, I8) -> BYTEA, T("rf_mysql_substring_bytes({0}, max(length({0}) - {1}, 0) + 1, {1})");
    Scalar "locate" (TEXT, TEXT, I8) -> I8, F("rf_mysql_locate"), optional(1);
    Scalar "position" (TEXT, TEXT) -> I8, F("rf_mysql_locate");
    Scalar "instr" (TEXT, TEXT) -> I8, T("rf_mysql_locate({1}, {0})");
    Scalar "replace" (TEXT, TEXT, TEXT) -> TEXT, T("replace({0}, {1}, {2})");
    Scalar "insert" (TEXT, I8, I8, TEXT) -> TEXT, F("rf_mysql_insert");
    Scalar "lpad" (TEXT, I8, TEXT) -> TEXT, F("rf_mysql_lpad");
    Scalar "rpad" (TEXT, I8, TEXT) -> TEXT, F("rf_mysql_rpad");
    // (both, leading or trailing; what; text)
    Scalar "mysql_trim" (TEXT, TEXT, TEXT) -> TEXT, T("rf_mysql_trim({2}, {1}, {0})");
    Scalar "trim" (TEXT) -> TEXT, T("rf_mysql_trim({0}, ' ', 'both')");
    Scalar "ltrim" (TEXT) -> TEXT, T("rf_mysql_trim({0}, ' ', 'leading')");
    Scalar "rtrim" (TEXT) -> TEXT, T("rf_mysql_trim({0}, ' ', 'trailing')");
    Scalar "repeat" (TEXT, I8) -> TEXT, F("rf_mysql_repeat");
    Scalar "space" (I8) -> TEXT, T("rf_mysql_repeat(' ', {0})");
    Scalar "reverse" (TEXT) -> TEXT, F("rf_reverse");
    Scalar "lower" (TEXT) -> TEXT, F("rf_lower");
    Scalar "lcase" (TEXT) -> TEXT, F("rf_lower");
    Scalar "upper" (TEXT) -> TEXT, F("rf_upper");
    Scalar "ucase" (TEXT) -> TEXT, F("rf_upper");
    // Bytes have no case.
    Scalar "lower" (BYTEA) -> BYTEA, T("{0}");
    Scalar "lcase" (BYTEA) -> BYTEA, T("{0}");
    Scalar "upper" (BYTEA) -> BYTEA, T("{0}");
    Scalar "ucase" (BYTEA) -> BYTEA, T("{0}");
    Scalar "ascii" (TEXT) -> I8, F("rf_mysql_ascii");
    Scalar "ascii" (BYTEA) -> I8, F("rf_mysql_first_byte");
    Scalar "ord" (TEXT) -> I8, F("rf_mysql_ord");
    Scalar "ord" (BYTEA) -> I8, F("rf_mysql_first_byte");
    Scalar "char" (I8) -> BYTEA, F("rf_mysql_char"), variadic, lenient;
    // As CHAR … USING utf8mb4.
    // (bytes, of which character set)
    Scalar "mysql_char_text" (BYTEA, TEXT) -> TEXT, F("rf_mysql_char_text");
    // A text with what a character set has of it, and its bytes there.
    Scalar "mysql_in_charset" (TEXT, TEXT) -> TEXT, F("rf_mysql_in_charset");
    Scalar "mysql_in_charset" (BYTEA, TEXT) -> TEXT, F("rf_mysql_char_text");
    Scalar "mysql_encoded" (TEXT, TEXT) -> BYTEA, F("rf_mysql_encoded");
    Scalar "hex" (ANY) -> TEXT, F("rf_mysql_hex");
    Scalar "hex" (NUM) -> TEXT, F("rf_mysql_hex_number");
    Scalar "unhex" (TEXT) -> BYTEA, F("rf_mysql_unhex");
    Scalar "bin" (ANY) -> TEXT, T("rf_mysql_base({0}, 2)");
    Scalar "oct" (ANY) -> TEXT, T("rf_mysql_base({0}, 8)");
    Scalar "conv" (ANY, I8, I8) -> TEXT, F("rf_mysql_conv");
    Scalar "format" (NUM, I8, TEXT) -> TEXT, F("rf_mysql_format"), optional(1);
    Scalar "field" (ANY, ANY) -> I8, F("rf_mysql_field"), variadic, lenient;
    Scalar "field" (NUM, NUM) -> I8, F("rf_mysql_field_decimal"), variadic, lenient;
    Scalar "find_in_set" (TEXT, TEXT) -> I8, F("rf_mysql_find_in_set");
    Scalar "interval" (F8, F8) -> I8, F("rf_mysql_interval"), variadic, lenient;
    Scalar "interval" (NUM, NUM) -> I8, F("rf_mysql_interval_decimal"), variadic, lenient;
    Scalar "elt" (I8, TEXT) -> TEXT, F("rf_mysql_elt"), variadic, lenient;
    Scalar "make_set" (ANY, TEXT) -> TEXT, F("rf_mysql_make_set"), variadic, lenient;
    Scalar "export_set" (ANY, TEXT, TEXT, TEXT, I8) -> TEXT, F("rf_mysql_export_set"), optional(2);
    Scalar "substring_index" (TEXT, TEXT, I8) -> TEXT, F("rf_mysql_substring_index");
    Scalar "length" (TEXT) -> I8, T("octet_length({0})");
    Scalar "length" (BYTEA) -> I8, T("octet_length({0})");
    Scalar "octet_length" (TEXT) -> I8, T("octet_length({0})");
    Scalar "octet_length" (BYTEA) -> I8, T("octet_length({0})");
    Scalar "char_length" (TEXT) -> I8, Special("mysql_char_length");
    Scalar "char_length" (BYTEA) -> I8, T("length({0})");
    Scalar "character_length" (TEXT) -> I8, Special("mysql_char_length");
    Scalar "character_length" (BYTEA) -> I8, T("length({0})");
    Scalar "bit_length" (TEXT) -> I8, T("(octet_length({0}) * 8)");
    Scalar "bit_length" (BYTEA) -> I8, T("(octet_length({0}) * 8)");
    Scalar "quote" (TEXT) -> TEXT, F("rf_mysql_quote"), lenient;
    Scalar "soundex" (TEXT) -> TEXT, F("rf_mysql_soundex");
    Scalar "strcmp" (TEXT, TEXT) -> I8, F("rf_mysql_strcmp");
    Scalar "to_base64" (TEXT) -> TEXT, F("rf_mysql_to_base64");
    Scalar "to_base64" (BYTEA) -> TEXT, F("rf_mysql_to_base64");
    Scalar "from_base64" (TEXT) -> BYTEA, F("rf_mysql_from_base64");
    Scalar "weight_string" (ANY) -> BYTEA, T("rf_mysql_refused('WEIGHT_STRING')"), volatile;
    Scalar "load_file" (TEXT) -> BYTEA, T("rf_mysql_refused('LOAD_FILE')"), volatile;
    Scalar "regexp_like" (TEXT, TEXT, TEXT) -> BOOL, F("rf_mysql_regexp"), optional(1);
    Scalar "regexp_instr" (TEXT, TEXT, I8, I8, I8, TEXT) -> I8, F("rf_mysql_regexp_instr"), optional(4);
    Scalar "regexp_substr" (TEXT, TEXT, I8, I8, TEXT) -> TEXT, F("rf_mysql_regexp_substr"), optional(3);
    Scalar "regexp_replace" (TEXT, TEXT, TEXT, I8, I8, TEXT) -> TEXT, F("rf_mysql_regexp_replace"), optional(3);

    // Numbers.
    Scalar "abs" (F8) -> F8, F("rf_mysql_abs");
    Scalar "abs" (I2) -> I8, F("rf_mysql_abs_integer");
    Scalar "abs" (I4) -> I8, F("rf_mysql_abs_integer");
    Scalar "abs" (I8) -> I8, F("rf_mysql_abs_integer");
    Scalar "abs" (NUM) -> NUM, F("rf_mysql_abs_decimal");
    Scalar "ceil" (F8) -> F8, F("rf_mysql_ceil");
    Scalar "ceil" (I2) -> I8, T("{0}");
    Scalar "ceil" (I4) -> I8, T("{0}");
    Scalar "ceil" (I8) -> I8, T("{0}");
    Scalar "ceil" (NUM) -> I8, F("rf_mysql_ceil_decimal");
    Scalar "ceiling" (F8) -> F8, F("rf_mysql_ceil");
    Scalar "ceiling" (I2) -> I8, T("{0}");
    Scalar "ceiling" (I4) -> I8, T("{0}");
    Scalar "ceiling" (I8) -> I8, T("{0}");
    Scalar "ceiling" (NUM) -> I8, F("rf_mysql_ceil_decimal");
    Scalar "floor" (F8) -> F8, F("rf_mysql_floor");
    Scalar "floor" (I2) -> I8, T("{0}");
    Scalar "floor" (I4) -> I8, T("{0}");
    Scalar "floor" (I8) -> I8, T("{0}");
    Scalar "floor" (NUM) -> I8, F("rf_mysql_floor_decimal");
    // Of a decimal that may have more digits than an integer.
    Scalar "mysql_ceil" (NUM) -> NUM, F("rf_numeric_ceil");
    Scalar "mysql_floor" (NUM) -> NUM, F("rf_numeric_floor");
    Scalar "round" (F8) -> F8, T("rf_mysql_round({0}, 0, 0)");
    Scalar "round" (I2) -> I8, T("{0}");
    Scalar "round" (I4) -> I8, T("{0}");
    Scalar "round" (I8) -> I8, T("{0}");
    Scalar "round" (NUM) -> NUM, T("rf_mysql_round_decimal({0}, 0, 0)");
    Scalar "round" (F8, I8) -> F8, T("rf_mysql_round({0}, {1}, 0)");
    Scalar "round" (I2, I8) -> I8, T("rf_mysql_round_integer({0}, {1}, 0)");
    Scalar "round" (I4, I8) -> I8, T("rf_mysql_round_integer({0}, {1}, 0)");
    Scalar "round" (I8, I8) -> I8, T("rf_mysql_round_integer({0}, {1}, 0)");
    Scalar "round" (NUM, I8) -> NUM, T("rf_mysql_round_decimal({0}, {1}, 0)");
    Scalar "truncate" (F8, I8) -> F8, T("rf_mysql_round({0}, {1}, 1)");
    Scalar "truncate" (I2, I8) -> I8, T("rf_mysql_round_integer({0}, {1}, 1)");
    Scalar "truncate" (I4, I8) -> I8, T("rf_mysql_round_integer({0}, {1}, 1)");
    Scalar "truncate" (I8, I8) -> I8, T("rf_mysql_round_integer({0}, {1}, 1)");
    Scalar "truncate" (NUM, I8) -> NUM, T("rf_mysql_round_decimal({0}, {1}, 1)");
    Scalar "mod" (F8, F8) -> F8, F("rf_mysql_modulo_double");
    Scalar "mod" (I8, I8) -> I8, F("rf_mysql_modulo_integer");
    Scalar "mod" (NUM, NUM) -> NUM, F("rf_mysql_modulo");
    Scalar "pow" (F8, F8) -> F8, F("rf_mysql_power");
    Scalar "power" (F8, F8) -> F8, F("rf_mysql_power");
    Scalar "exp" (F8) -> F8, F("rf_mysql_exp");
    Scalar "sqrt" (F8) -> F8, F("rf_mysql_sqrt");
    Scalar "ln" (F8) -> F8, F("rf_mysql_ln");
    Scalar "log" (F8) -> F8, F("rf_mysql_ln");
    Scalar "log2" (F8) -> F8, F("rf_mysql_log2");
    Scalar "log10" (F8) -> F8, F("rf_mysql_log10");
    Scalar "sin" (F8) -> F8, F("rf_mysql_sin");
    Scalar "cos" (F8) -> F8, F("rf_mysql_cos");
    Scalar "tan" (F8) -> F8, F("rf_mysql_tan");
    Scalar "cot" (F8) -> F8, F("rf_mysql_cot");
    Scalar "asin" (F8) -> F8, F("rf_mysql_asin");
    Scalar "acos" (F8) -> F8, F("rf_mysql_acos");
    Scalar "atan" (F8) -> F8, F("rf_mysql_atan");
    Scalar "radians" (F8) -> F8, F("rf_mysql_radians");
    Scalar "degrees" (F8) -> F8, F("rf_mysql_degrees");
    // (base, number)
    Scalar "log" (F8, F8) -> F8, F("rf_mysql_log");
    Scalar "atan" (F8, F8) -> F8, F("rf_mysql_atan2");
    Scalar "atan2" (F8, F8) -> F8, F("rf_mysql_atan2");
    Scalar "pi" () -> F8, T("pi()");
    Scalar "sign" (F8) -> I8, F("rf_mysql_sign");
    Scalar "rand" () -> F8, F("rf_mysql_rand"), volatile;
    Scalar "rand" (I8) -> F8, F("rf_mysql_rand_from"), volatile, lenient;
    Scalar "crc32" (TEXT) -> I8, F("rf_mysql_crc32");
    Scalar "crc32" (BYTEA) -> I8, F("rf_mysql_crc32");
    Scalar "format_bytes" (F8) -> TEXT, F("rf_mysql_format_bytes");
    Scalar "format_pico_time" (F8) -> TEXT, F("rf_mysql_format_pico_time");

    // The clock.
    Scalar "now" () -> TS, T("rf_mysql_now(0)"), stable;
    Scalar "now" (I8) -> TS, F("rf_mysql_now"), stable;
    Scalar "current_timestamp" () -> TS, T("rf_mysql_now(0)"), stable;
    Scalar "current_timestamp" (I8) -> TS, F("rf_mysql_now"), stable;
    Scalar "localtime" () -> TS, T("rf_mysql_now(0)"), stable;
    Scalar "localtime" (I8) -> TS, F("rf_mysql_now"), stable;
    Scalar "localtimestamp" () -> TS, T("rf_mysql_now(0)"), stable;
    Scalar "localtimestamp" (I8) -> TS, F("rf_mysql_now"), stable;
    Scalar "sysdate" () -> TS, T("rf_mysql_sysdate(0)"), volatile;
    Scalar "sysdate" (I8) -> TS, F("rf_mysql_sysdate"), volatile;
    Scalar "curdate" () -> DATE, T("substr(rf_mysql_now(0), 1, 10)"), stable;
    Scalar "current_date" () -> DATE, T("substr(rf_mysql_now(0), 1, 10)"), stable;
    Scalar "curtime" () -> INTERVAL, T("rf_mysql_curtime(0)"), stable;
    Scalar "curtime" (I8) -> INTERVAL, F("rf_mysql_curtime"), stable;
    Scalar "current_time" () -> INTERVAL, T("rf_mysql_curtime(0)"), stable;
    Scalar "current_time" (I8) -> INTERVAL, F("rf_mysql_curtime"), stable;
    Scalar "utc_timestamp" () -> TS, T("rf_mysql_utc(0)"), stable;
    Scalar "utc_timestamp" (I8) -> TS, F("rf_mysql_utc"), stable;
    Scalar "utc_date" () -> DATE, T("substr(rf_mysql_utc(0), 1, 10)"), stable;
    Scalar "utc_time" () -> INTERVAL, T("rf_mysql_utc_time(0)"), stable;
    Scalar "utc_time" (I8) -> INTERVAL, F("rf_mysql_utc_time"), stable;

    // Dates and times: what is none is NULL. Times that may be longer than a day are texts. What a date or a moment has
    // asks nobody for the zone or the day, so that columns may be computed of it.
    Scalar "date" (ANY) -> DATE, F("rf_mysql_date"), stable;
    Scalar "date" (DATE) -> DATE, T("{0}");
    Scalar "date" (TS) -> DATE, T("substr({0}, 1, 10)");
    Scalar "time" (ANY) -> INTERVAL, F("rf_mysql_time"), stable;
    Scalar "timestamp" (ANY) -> TS, F("rf_mysql_datetime"), stable;
    Scalar "timestamp" (ANY, ANY) -> TS, F("rf_mysql_timestamp_of"), stable;
    Scalar "year" (ANY) -> I8, T("rf_mysql_part('year', {0})"), stable;
    Scalar "year" (DATE) -> I8, T("CAST(substr({0}, 1, 4) AS INTEGER)");
    Scalar "year" (TS) -> I8, T("CAST(substr({0}, 1, 4) AS INTEGER)");
    Scalar "month" (ANY) -> I8, T("rf_mysql_part('month', {0})"), stable;
    Scalar "month" (DATE) -> I8, T("CAST(substr({0}, 6, 2) AS INTEGER)");
    Scalar "month" (TS) -> I8, T("CAST(substr({0}, 6, 2) AS INTEGER)");
    Scalar "day" (ANY) -> I8, T("rf_mysql_part('day', {0})"), stable;
    Scalar "day" (DATE) -> I8, T("CAST(substr({0}, 9, 2) AS INTEGER)");
    Scalar "day" (TS) -> I8, T("CAST(substr({0}, 9, 2) AS INTEGER)");
    // Without a sign, other than EXTRACT.
    Scalar "hour" (ANY) -> I8, T("abs(rf_mysql_part('hour', {0}))"), stable;
    Scalar "hour" (TS) -> I8, T("CAST(substr({0}, 12, 2) AS INTEGER)");
    Scalar "minute" (ANY) -> I8, T("abs(rf_mysql_part('minute', {0}))"), stable;
    Scalar "minute" (TS) -> I8, T("CAST(substr({0}, 15, 2) AS INTEGER)");
    Scalar "second" (ANY) -> I8, T("abs(rf_mysql_part('second', {0}))"), stable;
    Scalar "second" (TS) -> I8, T("CAST(substr({0}, 18, 2) AS INTEGER)");
    Scalar "microsecond" (ANY) -> I8, T("abs(rf_mysql_part('microsecond', {0}))"), stable;
    Scalar "dayofmonth" (ANY) -> I8, T("rf_mysql_part('day', {0})"), stable;
    Scalar "dayofmonth" (DATE) -> I8, T("CAST(substr({0}, 9, 2) AS INTEGER)");
    Scalar "dayofmonth" (TS) -> I8, T("CAST(substr({0}, 9, 2) AS INTEGER)");
    // (unit, moment)
    Scalar "mysql_extract" (TEXT, ANY) -> I8, F("rf_mysql_part"), stable;
    Scalar "quarter" (ANY) -> I8, F("rf_mysql_quarter"), stable;
    Scalar "quarter" (DATE) -> I8, T("(CAST(substr({0}, 6, 2) AS INTEGER) + 2) / 3");
    Scalar "quarter" (TS) -> I8, T("(CAST(substr({0}, 6, 2) AS INTEGER) + 2) / 3");
    Scalar "quarter" (INTERVAL) -> I8, T("rf_mysql_quarter(rf_mysql_time_datetime({0}))"), stable;
    Scalar "weekday" (ANY) -> I8, F("rf_mysql_weekday"), stable;
    Scalar "weekday" (DATE) -> I8, F("rf_mysql_weekday");
    Scalar "weekday" (TS) -> I8, F("rf_mysql_weekday");
    Scalar "weekday" (INTERVAL) -> I8, T("rf_mysql_weekday(rf_mysql_time_datetime({0}))"), stable;
    Scalar "dayofweek" (ANY) -> I8, F("rf_mysql_dayofweek"), stable;
    Scalar "dayofweek" (DATE) -> I8, F("rf_mysql_dayofweek");
    Scalar "dayofweek" (TS) -> I8, F("rf_mysql_dayofweek");
    Scalar "dayofweek" (INTERVAL) -> I8, T("rf_mysql_dayofweek(rf_mysql_time_datetime({0}))"), stable;
    Scalar "dayofyear" (ANY) -> I8, F("rf_mysql_dayofyear"), stable;
    Scalar "dayofyear" (DATE) -> I8, F("rf_mysql_dayofyear");
    Scalar "dayofyear" (TS) -> I8, F("rf_mysql_dayofyear");
    Scalar "dayofyear" (INTERVAL) -> I8, T("rf_mysql_dayofyear(rf_mysql_time_datetime({0}))"), stable;
    Scalar "week" (ANY) -> I8, T("rf_mysql_week({0}, 0)"), stable;
    Scalar "week" (DATE) -> I8, T("rf_mysql_week({0}, 0)");
    Scalar "week" (TS) -> I8, T("rf_mysql_week({0}, 0)");
    Scalar "week" (ANY, I8) -> I8, F("rf_mysql_week"), stable;
    Scalar "week" (DATE, I8) -> I8, F("rf_mysql_week");
    Scalar "week" (TS, I8) -> I8, F("rf_mysql_week");
    Scalar "weekofyear" (ANY) -> I8, T("rf_mysql_week({0}, 3)"), stable;
    Scalar "weekofyear" (DATE) -> I8, T("rf_mysql_week({0}, 3)");
    Scalar "weekofyear" (TS) -> I8, T("rf_mysql_week({0}, 3)");
    Scalar "yearweek" (ANY) -> I8, T("rf_mysql_yearweek({0}, 0)"), stable;
    Scalar "yearweek" (DATE) -> I8, T("rf_mysql_yearweek({0}, 0)");
    Scalar "yearweek" (TS) -> I8, T("rf_mysql_yearweek({0}, 0)");
    Scalar "yearweek" (ANY, I8) -> I8, F("rf_mysql_yearweek"), stable;
    Scalar "yearweek" (DATE, I8) -> I8, F("rf_mysql_yearweek");
    Scalar "yearweek" (TS, I8) -> I8, F("rf_mysql_yearweek");
    Scalar "dayname" (ANY) -> TEXT, F("rf_mysql_dayname"), stable;
    Scalar "dayname" (DATE) -> TEXT, F("rf_mysql_dayname");
    Scalar "dayname" (TS) -> TEXT, F("rf_mysql_dayname");
    Scalar "dayname" (INTERVAL) -> TEXT, T("rf_mysql_dayname(rf_mysql_time_datetime({0}))"), stable;
    Scalar "monthname" (ANY) -> TEXT, F("rf_mysql_monthname"), stable;
    Scalar "monthname" (DATE) -> TEXT, F("rf_mysql_monthname");
    Scalar "monthname" (TS) -> TEXT, F("rf_mysql_monthname");
    Scalar "monthname" (INTERVAL) -> TEXT, T("rf_mysql_monthname(rf_mysql_time_datetime({0}))"), stable;
    Scalar "last_day" (ANY) -> DATE, F("rf_mysql_last_day"), stable;
    Scalar "last_day" (DATE) -> DATE, F("rf_mysql_last_day");
    Scalar "last_day" (TS) -> DATE, F("rf_mysql_last_day");
    Scalar "last_day" (INTERVAL) -> DATE, T("rf_mysql_last_day(rf_mysql_time_datetime({0}))"), stable;
    Scalar "to_days" (ANY) -> I8, F("rf_mysql_to_days"), stable;
    Scalar "to_days" (DATE) -> I8, F("rf_mysql_to_days");
    Scalar "to_days" (TS) -> I8, F("rf_mysql_to_days");
    Scalar "to_days" (INTERVAL) -> I8, T("rf_mysql_to_days(rf_mysql_time_datetime({0}))"), stable;
    Scalar "from_days" (I8) -> DATE, F("rf_mysql_from_days");
    Scalar "to_seconds" (ANY) -> I8, F("rf_mysql_to_seconds"), stable;
    Scalar "to_seconds" (DATE) -> I8, F("rf_mysql_to_seconds");
    Scalar "to_seconds" (TS) -> I8, F("rf_mysql_to_seconds");
    Scalar "to_seconds" (INTERVAL) -> I8, T("rf_mysql_to_seconds(rf_mysql_time_datetime({0}))"), stable;
    Scalar "time_to_sec" (ANY) -> I8, F("rf_mysql_time_to_sec"), stable;
    Scalar "sec_to_time" (NUM) -> INTERVAL, F("rf_mysql_sec_to_time");
    Scalar "makedate" (I8, I8) -> DATE, F("rf_mysql_makedate");
    Scalar "maketime" (I8, I8, NUM) -> INTERVAL, F("rf_mysql_maketime");
    Scalar "period_add" (I8, I8) -> I8, F("rf_mysql_period_add");
    Scalar "period_diff" (I8, I8) -> I8, F("rf_mysql_period_diff");
    Scalar "datediff" (ANY, ANY) -> I8, F("rf_mysql_datediff"), stable;
    Scalar "datediff" (DATE, DATE) -> I8, F("rf_mysql_datediff");
    Scalar "datediff" (DATE, TS) -> I8, F("rf_mysql_datediff");
    Scalar "datediff" (TS, DATE) -> I8, F("rf_mysql_datediff");
    Scalar "datediff" (TS, TS) -> I8, F("rf_mysql_datediff");
    Scalar "timediff" (ANY, ANY) -> INTERVAL, F("rf_mysql_timediff"), stable;
    // (unit, from, to)
    Scalar "timestampdiff" (TEXT, ANY, ANY) -> I8, F("rf_mysql_timestampdiff"), stable;
    Scalar "timestampdiff" (TEXT, DATE, DATE) -> I8, F("rf_mysql_timestampdiff");
    Scalar "timestampdiff" (TEXT, DATE, TS) -> I8, F("rf_mysql_timestampdiff");
    Scalar "timestampdiff" (TEXT, TS, DATE) -> I8, F("rf_mysql_timestampdiff");
    Scalar "timestampdiff" (TEXT, TS, TS) -> I8, F("rf_mysql_timestampdiff");
    // (unit, number, moment)
    Scalar "timestampadd" (TEXT, ANY, ANY) -> TEXT, T("rf_mysql_date_add({2}, {1}, {0}, 1, 'x')"), stable;
    Scalar "timestampadd" (TEXT, ANY, TS) -> TS, T("rf_mysql_date_add({2}, {1}, {0}, 1, 't')"), stable;
    // (moment, number, unit, 1 or -1). A date and a unit of time are a moment, which the binder says.
    Scalar "mysql_date_add" (ANY, ANY, TEXT, I8) -> TEXT, T("rf_mysql_date_add({0}, {1}, {2}, {3}, 'x')"), stable;
    Scalar "mysql_date_add" (DATE, ANY, TEXT, I8) -> DATE, T("rf_mysql_date_add({0}, {1}, {2}, {3}, 'd')"), stable;
    Scalar "mysql_date_add" (TS, ANY, TEXT, I8) -> TS, T("rf_mysql_date_add({0}, {1}, {2}, {3}, 't')"), stable;
    Scalar "mysql_date_add" (TSTZ, ANY, TEXT, I8) -> TS, T("rf_mysql_date_add({0}, {1}, {2}, {3}, 't')"), stable;
    Scalar "mysql_date_add" (INTERVAL, ANY, TEXT, I8) -> INTERVAL, T("rf_mysql_date_add({0}, {1}, {2}, {3}, 'm')"), stable;
    Scalar "mysql_moment_add" (ANY, ANY, TEXT, I8) -> TS, T("rf_mysql_date_add({0}, {1}, {2}, {3}, 't')"), stable;
    Scalar "addtime" (ANY, ANY) -> TEXT, T("rf_mysql_add_time({0}, {1}, 1)"), stable;
    Scalar "addtime" (INTERVAL, ANY) -> INTERVAL, T("rf_mysql_add_time({0}, {1}, 1)"), stable;
    Scalar "addtime" (TS, ANY) -> TS, T("rf_mysql_add_time({0}, {1}, 1)"), stable;
    Scalar "addtime" (TSTZ, ANY) -> TS, T("rf_mysql_add_time({0}, {1}, 1)"), stable;
    Scalar "subtime" (ANY, ANY) -> TEXT, T("rf_mysql_add_time({0}, {1}, -1)"), stable;
    Scalar "subtime" (INTERVAL, ANY) -> INTERVAL, T("rf_mysql_add_time({0}, {1}, -1)"), stable;
    Scalar "subtime" (TS, ANY) -> TS, T("rf_mysql_add_time({0}, {1}, -1)"), stable;
    Scalar "subtime" (TSTZ, ANY) -> TS, T("rf_mysql_add_time({0}, {1}, -1)"), stable;
    Scalar "date_format" (ANY, TEXT) -> TEXT, F("rf_mysql_date_format"), stable;
    Scalar "date_format" (DATE, TEXT) -> TEXT, F("rf_mysql_date_format");
    Scalar "date_format" (TS, TEXT) -> TEXT, F("rf_mysql_date_format");
    // A time is one of today.
    Scalar "date_format" (INTERVAL, TEXT) -> TEXT, T("rf_mysql_date_format(rf_mysql_time_datetime({0}), {1})"), stable;
    Scalar "time_format" (ANY, TEXT) -> TEXT, F("rf_mysql_time_format"), stable;
    // What it is follows from the format, where that is a literal.
    Scalar "str_to_date" (TEXT, TEXT) -> TEXT, F("rf_mysql_str_to_date");
    Scalar "mysql_str_to_date" (TEXT, TEXT) -> DATE, F("rf_mysql_str_to_date");
    Scalar "mysql_str_to_time" (TEXT, TEXT) -> INTERVAL, T("rf_mysql_time(rf_mysql_str_to_date({0}, {1}))");
    Scalar "mysql_str_to_datetime" (TEXT, TEXT) -> TS, T("rf_mysql_datetime(rf_mysql_str_to_date({0}, {1}))");
    Scalar "get_format" (TEXT, TEXT) -> TEXT, F("rf_mysql_get_format");
    Scalar "unix_timestamp" () -> I8, F("rf_mysql_unix_now"), stable;
    Scalar "unix_timestamp" (ANY) -> NUM, F("rf_mysql_unix_timestamp"), stable;
    Scalar "unix_timestamp" (DATE) -> I8, T("CAST(rf_mysql_unix_timestamp({0}) AS INTEGER)"), stable;
    Scalar "mysql_unix_seconds" (ANY) -> I8, T("CAST(rf_mysql_unix_timestamp({0}) AS INTEGER)"), stable;
    Scalar "from_unixtime" (NUM) -> TS, F("rf_mysql_from_unixtime"), stable;
    Scalar "from_unixtime" (NUM, TEXT) -> TEXT, T("rf_mysql_date_format(rf_mysql_from_unixtime({0}), {1})"), stable;
    Scalar "convert_tz" (ANY, TEXT, TEXT) -> TS, F("rf_mysql_convert_tz"), stable;

    // The session.
    Scalar "isnull" (ANY) -> BOOL, T("({0} IS NULL)"), lenient;
    Scalar "version" () -> TEXT, T("rf_mysql_variable('', 'version')"), stable;
    Scalar "database" () -> TEXT, F("rf_mysql_database"), stable;
    Scalar "schema" () -> TEXT, F("rf_mysql_database"), stable;
    Scalar "user" () -> TEXT, F("rf_mysql_user"), stable;
    Scalar "mysql_check_account" (TEXT, TEXT, TEXT) -> TEXT, F("rf_mysql_check_account"), stable;
    Scalar "session_user" () -> TEXT, F("rf_mysql_user"), stable;
    Scalar "system_user" () -> TEXT, F("rf_mysql_user"), stable;
    Scalar "current_user" () -> TEXT, F("rf_mysql_current_user"), stable;
    Scalar "current_role" () -> TEXT, T("'NONE'"), stable;
    Scalar "connection_id" () -> I8, F("rf_mysql_connection_id"), stable;
    Scalar "last_insert_id" () -> I8, F("rf_mysql_last_insert_id"), volatile;
    Scalar "last_insert_id" (I8) -> I8, F("rf_mysql_set_last_insert_id"), volatile;
    Scalar "row_count" () -> I8, F("rf_mysql_row_count"), volatile;
    Scalar "found_rows" () -> I8, F("rf_mysql_found_rows"), volatile;
    Scalar "benchmark" (I8, ANY) -> I8, T("rf_mysql_refused('BENCHMARK')"), volatile;
    Scalar "sleep" (F8) -> I8, F("rf_mysql_sleep"), volatile;
    Scalar "charset" (ANY) -> TEXT, F("rf_mysql_charset"), lenient;
    Scalar "collation" (ANY) -> TEXT, F("rf_mysql_collation"), lenient;
    Scalar "coercibility" (ANY) -> I8, T("iif({0} IS NULL, 6, 4)"), lenient;
    Scalar "get_lock" (TEXT, F8) -> I8, F("rf_mysql_get_lock"), volatile;
    Scalar "release_lock" (TEXT) -> I8, F("rf_mysql_release_lock"), volatile;
    Scalar "release_all_locks" () -> I8, F("rf_mysql_release_all_locks"), volatile;
    Scalar "is_free_lock" (TEXT) -> I8, F("rf_mysql_is_free_lock"), volatile;
    Scalar "is_used_lock" (TEXT) -> I8, F("rf_mysql_is_used_lock"), volatile;
    // (number, 1 to end the session)
    Scalar "mysql_kill" (I8, BOOL) -> I8, F("rf_mysql_kill"), volatile;
    // (scope, name)
    Scalar "mysql_variable" (TEXT, TEXT) -> TEXT, F("rf_mysql_variable"), volatile;
    Scalar "mysql_variable_number" (TEXT, TEXT) -> I8, F("rf_mysql_variable_number"), volatile;
    Scalar "mysql_variable_shown" (TEXT, TEXT) -> TEXT, F("rf_mysql_variable_shown"), volatile;
    Scalar "mysql_set_variable" (TEXT, TEXT, ANY) -> TEXT, F("rf_mysql_set_variable"), volatile, lenient;
    Scalar "mysql_set_names" (TEXT, TEXT) -> TEXT, F("rf_mysql_set_names"), optional(1), volatile;
    Scalar "mysql_user_variable" (TEXT) -> TEXT, F("rf_mysql_user_variable"), volatile;
    Scalar "mysql_user_unset" (TEXT) -> TEXT, F("rf_mysql_user_variable"), volatile;
    Scalar "mysql_changes" (I8, ANY) -> BOOL, F("rf_mysql_changes"), variadic, lenient, volatile;
    Scalar "mysql_met" (I8, I8) -> BOOL, F("rf_mysql_met"), lenient, volatile;
    Scalar "mysql_into_one" (I8) -> I8, F("rf_mysql_into_one"), volatile;
    Scalar "mysql_set_found_rows" (I8, I8) -> I8, F("rf_mysql_set_found_rows"), volatile, lenient;
    Scalar "mysql_user_integer" (TEXT) -> I8, F("rf_mysql_user_integer"), volatile;
    Scalar "mysql_user_unsigned" (TEXT) -> NUM, F("rf_mysql_user_decimal"), volatile;
    Scalar "mysql_user_decimal" (TEXT) -> NUM, F("rf_mysql_user_decimal"), volatile;
    Scalar "mysql_user_double" (TEXT) -> F8, F("rf_mysql_user_double"), volatile;
    Scalar "mysql_user_bytes" (TEXT) -> BYTEA, F("rf_mysql_user_bytes"), volatile;
    // (name, value, its kind)
    Scalar "mysql_set_user_variable" (TEXT, ELEM, TEXT) -> ELEM, F("rf_mysql_set_user_variable"), volatile, lenient;

    // Digests and codes.
    Scalar "md5" (TEXT) -> TEXT, F("rf_mysql_md5");
    Scalar "md5" (BYTEA) -> TEXT, F("rf_mysql_md5");
    Scalar "sha1" (TEXT) -> TEXT, F("rf_mysql_sha1");
    Scalar "sha1" (BYTEA) -> TEXT, F("rf_mysql_sha1");
    Scalar "sha" (TEXT) -> TEXT, F("rf_mysql_sha1");
    Scalar "sha" (BYTEA) -> TEXT, F("rf_mysql_sha1");
    Scalar "sha2" (TEXT, I8) -> TEXT, F("rf_mysql_sha2");
    Scalar "sha2" (BYTEA, I8) -> TEXT, F("rf_mysql_sha2");
    Scalar "aes_encrypt" (TEXT, TEXT, BYTEA) -> BYTEA,
        T("rf_mysql_aes_encrypt({0}, {1}, {2}, rf_mysql_variable('', 'block_encryption_mode'))"), lenient, volatile;
    Scalar "aes_encrypt" (TEXT, TEXT) -> BYTEA,
        T("rf_mysql_aes_encrypt({0}, {1}, NULL, rf_mysql_variable('', 'block_encryption_mode'))"), volatile;
    Scalar "aes_decrypt" (BYTEA, TEXT, BYTEA) -> BYTEA,
        T("rf_mysql_aes_decrypt({0}, {1}, {2}, rf_mysql_variable('', 'block_encryption_mode'))"), lenient, volatile;
    Scalar "aes_decrypt" (BYTEA, TEXT) -> BYTEA,
        T("rf_mysql_aes_decrypt({0}, {1}, NULL, rf_mysql_variable('', 'block_encryption_mode'))"), volatile;
    Scalar "random_bytes" (I8) -> BYTEA, F("rf_mysql_random_bytes"), volatile;
    Scalar "compress" (TEXT) -> BYTEA, F("rf_mysql_compress");
    Scalar "compress" (BYTEA) -> BYTEA, F("rf_mysql_compress");
    Scalar "uncompress" (BYTEA) -> BYTEA, F("rf_mysql_uncompress");
    Scalar "uncompressed_length" (BYTEA) -> I8, F("rf_mysql_uncompressed_length");
    Scalar "uuid" () -> TEXT, F("rf_mysql_uuid"), volatile;
    Scalar "uuid_short" () -> I8, F("rf_mysql_uuid_short"), volatile;
    Scalar "is_uuid" (TEXT) -> BOOL, F("rf_mysql_is_uuid");
    Scalar "uuid_to_bin" (TEXT) -> BYTEA, T("rf_mysql_uuid_to_bin({0}, 0)");
    Scalar "uuid_to_bin" (TEXT, BOOL) -> BYTEA, F("rf_mysql_uuid_to_bin");
    Scalar "bin_to_uuid" (BYTEA) -> TEXT, T("rf_mysql_bin_to_uuid({0}, 0)");
    Scalar "bin_to_uuid" (BYTEA, BOOL) -> TEXT, F("rf_mysql_bin_to_uuid");
    Scalar "inet_aton" (TEXT) -> I8, F("rf_mysql_inet_aton");
    Scalar "inet_ntoa" (I8) -> TEXT, F("rf_mysql_inet_ntoa");
    Scalar "inet6_aton" (TEXT) -> BYTEA, F("rf_mysql_inet6_aton");
    Scalar "inet6_ntoa" (BYTEA) -> TEXT, F("rf_mysql_inet6_ntoa");
    Scalar "is_ipv4" (TEXT) -> BOOL, F("rf_mysql_is_ipv4");
    Scalar "is_ipv6" (TEXT) -> BOOL, F("rf_mysql_is_ipv6");
    Scalar "is_ipv4_compat" (BYTEA) -> BOOL, F("rf_mysql_is_ipv4_compat");
    Scalar "is_ipv4_mapped" (BYTEA) -> BOOL, F("rf_mysql_is_ipv4_mapped");

    // JSON. The `Special` ones are told the types of their arguments.
    Scalar "json_extract" (JSON, TEXT) -> JSON, F("rf_mysql_json_extract"), variadic;
    Scalar "json_unquote" (TEXT) -> TEXT, F("rf_mysql_json_unquote");
    Scalar "json_value" (JSON, TEXT) -> TEXT, F("rf_mysql_json_value");
    Scalar "json_schema_valid" (JSON, JSON) -> BOOL, F("rf_mysql_json_schema_valid");
    Scalar "json_schema_validation_report" (JSON, JSON) -> JSON, F("rf_mysql_json_schema_report");
    // (document, path, type and what becomes of what is not there)
    Scalar "mysql_json_value_integer" (JSON, TEXT) -> I8, F("rf_mysql_json_value_as");
    Scalar "mysql_json_value_decimal" (JSON, TEXT) -> NUM, F("rf_mysql_json_value_as");
    Scalar "mysql_json_value_double" (JSON, TEXT) -> F8, F("rf_mysql_json_value_as");
    Scalar "mysql_json_value_text" (JSON, TEXT) -> TEXT, F("rf_mysql_json_value_as");
    Scalar "mysql_json_value_date" (JSON, TEXT) -> DATE, F("rf_mysql_json_value_as");
    Scalar "mysql_json_value_datetime" (JSON, TEXT) -> TS, F("rf_mysql_json_value_as");
    Scalar "mysql_json_value_time" (JSON, TEXT) -> INTERVAL, F("rf_mysql_json_value_as");
    Scalar "mysql_json_value_json" (JSON, TEXT) -> JSON, F("rf_mysql_json_value_as");
    Scalar "json_array" (ANY) -> JSON, Special("mysql_json_array"), variadic, optional(1), lenient;
    Scalar "json_object" (ANY) -> JSON, Special("mysql_json_object"), variadic, optional(1), lenient;
    Scalar "json_set" (JSON, ANY) -> JSON, Special("mysql_json_set"), variadic, lenient;
    Scalar "json_insert" (JSON, ANY) -> JSON, Special("mysql_json_insert"), variadic, lenient;
    Scalar "json_replace" (JSON, ANY) -> JSON, Special("mysql_json_replace"), variadic, lenient;
    Scalar "json_array_append" (JSON, ANY) -> JSON, Special("mysql_json_array_append"), variadic, lenient;
    Scalar "json_array_insert" (JSON, ANY) -> JSON, Special("mysql_json_array_insert"), variadic, lenient;
    Scalar "json_remove" (JSON, TEXT) -> JSON, F("rf_mysql_json_remove"), variadic;
    Scalar "json_contains" (JSON, JSON, TEXT) -> BOOL, F("rf_mysql_json_contains"), optional(1);
    Scalar "json_contains_path" (JSON, TEXT, TEXT) -> BOOL, F("rf_mysql_json_contains_path"), variadic;
    Scalar "json_keys" (JSON, TEXT) -> JSON, F("rf_mysql_json_keys"), optional(1);
    Scalar "json_length" (JSON, TEXT) -> I8, F("rf_mysql_json_length"), optional(1);
    Scalar "json_depth" (JSON) -> I8, F("rf_mysql_json_depth");
    Scalar "json_type" (JSON) -> TEXT, F("rf_mysql_json_type");
    Scalar "json_valid" (ANY) -> BOOL, F("rf_mysql_json_valid");
    Scalar "json_quote" (TEXT) -> TEXT, F("rf_mysql_json_quote");
    Scalar "json_pretty" (JSON) -> TEXT, F("rf_mysql_json_pretty");
    // A document in MySQL's normal form: of a text that is stored; of a function's argument, with its number and the
    // function's name; of a value that is cast. What is no text is not stored.
    Scalar "mysql_json" (TEXT) -> JSON, F("rf_mysql_json_normal");
    Scalar "mysql_json_argument" (TEXT, I8, TEXT) -> JSON, F("rf_mysql_json_argument");
    Scalar "mysql_json_scalar" (ANY) -> JSON, Special("mysql_json_scalar");
    Scalar "mysql_json_refused" (ANY) -> JSON, F("rf_mysql_json_refused");
    // JSON_TABLE: an array of its rows, of a document and what its columns are; and one member of such a row.
    // (index, row, text, mode): how relevant the row is. (index, text, mode): the rows that have any relevance.
    Scalar "mysql_match" (I8, I8, TEXT, TEXT) -> F8, F("rf_mysql_match"), stable, lenient;
    SetReturning "mysql_match_rows" (I8, TEXT, TEXT) -> I8, F("rf_mysql_match_rows"), stable;
    Scalar "mysql_json_table" (JSON, TEXT) -> JSON, F("rf_mysql_json_table");
    Scalar "mysql_json_cell" (JSON, I8) -> TEXT, F("rf_mysql_json_cell");
    // What a document is where a number or a moment is asked for.
    Scalar "mysql_json_bare" (JSON) -> TEXT, F("rf_mysql_json_bare");
    Scalar "json_merge_patch" (JSON, JSON) -> JSON, F("rf_mysql_json_merge_patch"), variadic;
    Scalar "json_merge_preserve" (JSON, JSON) -> JSON, F("rf_mysql_json_merge_preserve"), variadic;
    Scalar "json_merge" (JSON, JSON) -> JSON, F("rf_mysql_json_merge_preserve"), variadic;
    Scalar "json_search" (JSON, TEXT, TEXT, TEXT) -> JSON, F("rf_mysql_json_search"), variadic, optional(1), lenient;
    Scalar "json_overlaps" (JSON, JSON) -> BOOL, F("rf_mysql_json_overlaps");
    Scalar "mysql_member_of" (ANY, JSON) -> BOOL, Special("mysql_json_member_of"), lenient;
    Scalar "json_storage_size" (JSON) -> I8, F("rf_mysql_json_storage_size");

    // Aggregates.
    Aggregate "json_arrayagg" (ANY) -> JSON, Special("mysql_json_arrayagg"), lenient;
    Aggregate "json_objectagg" (TEXT, ANY) -> JSON, Special("mysql_json_objectagg"), lenient;
    Aggregate "count" () -> I8, Special("count_star"), lenient;
    Aggregate "count" (ANY) -> I8, F("count"), lenient;
    Aggregate "sum" (F8) -> F8, F("rf_float8_sum");
    Aggregate "sum" (I2) -> NUM, F("rf_int8_sum");
    Aggregate "sum" (I4) -> NUM, F("rf_int8_sum");
    Aggregate "sum" (I8) -> NUM, F("rf_int8_sum");
    Aggregate "sum" (BOOL) -> NUM, F("rf_int8_sum");
    // Of what lies as BIGINT UNSIGNED.
    Aggregate "mysql_wide_sum" (I8) -> NUM, F("rf_mysql_wide_sum");
    Aggregate "sum" (NUM) -> NUM, F("rf_numeric_sum");
    Aggregate "avg" (F8) -> F8, F("rf_float8_avg");
    Aggregate "avg" (I2) -> NUM, F("rf_mysql_avg");
    Aggregate "avg" (I4) -> NUM, F("rf_mysql_avg");
    Aggregate "avg" (I8) -> NUM, F("rf_mysql_avg");
    Aggregate "avg" (BOOL) -> NUM, F("rf_mysql_avg");
    Aggregate "avg" (NUM) -> NUM, F("rf_mysql_avg");
    Aggregate "mysql_exact_avg" (I2) -> NUM, F("rf_mysql_exact_avg");
    Aggregate "mysql_exact_avg" (I4) -> NUM, F("rf_mysql_exact_avg");
    Aggregate "mysql_exact_avg" (I8) -> NUM, F("rf_mysql_exact_avg");
    Aggregate "mysql_exact_avg" (BOOL) -> NUM, F("rf_mysql_exact_avg");
    Aggregate "mysql_exact_avg" (NUM) -> NUM, F("rf_mysql_exact_avg");
    Aggregate "min" (TEXT) -> TEXT, Special("min");
    Aggregate "min" (BOOL) -> I8, Special("min");
    Aggregate "min" (I2) -> I2, Special("min");
    Aggregate "min" (I4) -> I4, Special("min");
    Aggregate "min" (I8) -> I8, Special("min");
    Aggregate "min" (F4) -> F4, Special("min");
    Aggregate "min" (F8) -> F8, Special("min");
    Aggregate "min" (NUM) -> NUM, Special("min");
    Aggregate "min" (BYTEA) -> BYTEA, Special("min");
    Aggregate "min" (DATE) -> DATE, Special("min");
    Aggregate "min" (INTERVAL) -> INTERVAL, Special("min");
    Aggregate "min" (TS) -> TS, Special("min");
    Aggregate "min" (TSTZ) -> TSTZ, Special("min");
    Aggregate "max" (TEXT) -> TEXT, Special("max");
    Aggregate "max" (BOOL) -> I8, Special("max");
    Aggregate "max" (I2) -> I2, Special("max");
    Aggregate "max" (I4) -> I4, Special("max");
    Aggregate "max" (I8) -> I8, Special("max");
    Aggregate "max" (F4) -> F4, Special("max");
    Aggregate "max" (F8) -> F8, Special("max");
    Aggregate "max" (NUM) -> NUM, Special("max");
    Aggregate "max" (BYTEA) -> BYTEA, Special("max");
    Aggregate "max" (DATE) -> DATE, Special("max");
    Aggregate "max" (INTERVAL) -> INTERVAL, Special("max");
    Aggregate "max" (TS) -> TS, Special("max");
    Aggregate "max" (TSTZ) -> TSTZ, Special("max");
    Aggregate "std" (F8) -> F8, F("rf_float8_stddev_pop");
    Aggregate "stddev" (F8) -> F8, F("rf_float8_stddev_pop");
    Aggregate "stddev_pop" (F8) -> F8, F("rf_float8_stddev_pop");
    Aggregate "stddev_samp" (F8) -> F8, F("rf_float8_stddev_samp");
    Aggregate "variance" (F8) -> F8, F("rf_float8_var_pop");
    Aggregate "var_pop" (F8) -> F8, F("rf_float8_var_pop");
    Aggregate "var_samp" (F8) -> F8, F("rf_float8_var_samp");
    Aggregate "bit_and" (ANY) -> NUM, F("rf_mysql_bit_and_agg");
    Aggregate "bit_or" (ANY) -> NUM, F("rf_mysql_bit_or_agg");
    Aggregate "bit_xor" (ANY) -> NUM, F("rf_mysql_bit_xor_agg");
    // (bytes, as many as there are where there is no row): NULL without rows, which whoever calls makes bytes of.
    Aggregate "mysql_bytes_bit_and" (BYTEA, I8) -> BYTEA, F("rf_mysql_bytes_and_agg"), lenient;
    Aggregate "mysql_bytes_bit_or" (BYTEA, I8) -> BYTEA, F("rf_mysql_bytes_or_agg"), lenient;
    Aggregate "mysql_bytes_bit_xor" (BYTEA, I8) -> BYTEA, F("rf_mysql_bytes_xor_agg"), lenient;
    // (text, what stands between)
    Aggregate "group_concat" (TEXT, TEXT) -> TEXT, F("rf_string_agg");
    // (text, what stands between, the number of the collation that tells which texts are the same)
    Aggregate "mysql_group_concat_unique" (TEXT, TEXT, I8) -> TEXT, F("rf_mysql_group_concat_unique");
    Aggregate "any_value" (ELEM) -> ELEM, F("rf_mysql_any_value"), lenient;

    // Windows.
    Window "row_number" () -> I8, F("row_number");
    Window "rank" () -> I8, F("rank");
    Window "dense_rank" () -> I8, F("dense_rank");
    Window "percent_rank" () -> F8, F("percent_rank");
    Window "cume_dist" () -> F8, F("cume_dist");
    Window "ntile" (I8) -> I8, F("ntile");
    Window "lag" (ELEM, I8, ELEM) -> ELEM, F("lag"), optional(2), lenient;
    Window "lead" (ELEM, I8, ELEM) -> ELEM, F("lead"), optional(2), lenient;
    Window "first_value" (ELEM) -> ELEM, F("first_value"), lenient;
    Window "last_value" (ELEM) -> ELEM, F("last_value"), lenient;
    Window "nth_value" (ELEM, I8) -> ELEM, F("nth_value"), lenient;
};
