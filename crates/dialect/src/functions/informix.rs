//! Informix's own functions. Names of the `ifx_` kind cannot be called by users: the front end puts them in.
//!
//! Datetimes and intervals arrive as their stored text, each followed by its type in words, as the front end adds them.

use super::TypeSpec::{self, Is};
use super::spec::*;
use crate::{Language, Type};

const IFX: &[Language] = &[Language::Informix];
const LVARCHAR: TypeSpec = Is(Type::Text);

/// The rows.
pub(super) static ROWS: &[Function] = rows! { IFX;
    // (value, its type, the type wanted)
    Scalar "ifx_cast" (ANY, TEXT, TEXT) -> ANY, F("rf_ifx_cast");
    // (type wanted)
    Scalar "ifx_current" (TEXT) -> TEXT, F("rf_ifx_current"), stable;
    Scalar "ifx_current_role" () -> TEXT, T("nullif(nullif(rf_current_setting('informix.role', 1), 'none'), '')"), stable;
    Scalar "ifx_default_role" () -> TEXT, F("rf_ifx_default_role"), stable;
    Scalar "ifx_today" () -> DATE, F("rf_ifx_today"), stable;
    // (datetime, its type, interval, its type, 1 or -1, type of the result)
    Scalar "ifx_datetime_add" (ANY, TEXT, ANY, TEXT, I4, TEXT) -> ANY, F("rf_ifx_datetime_add");
    // (datetime, its type, datetime, its type, type of the result)
    Scalar "ifx_datetime_sub" (ANY, TEXT, ANY, TEXT, TEXT) -> ANY, F("rf_ifx_datetime_sub");
    // (interval, its type, interval, its type, 1 or -1, type of the result)
    Scalar "ifx_interval_add" (ANY, TEXT, ANY, TEXT, I4, TEXT) -> ANY, F("rf_ifx_interval_add");
    // (interval, its type, factor, type of the result)
    Scalar "ifx_interval_mul" (ANY, TEXT, F8, TEXT) -> ANY, F("rf_ifx_interval_mul");
    // (interval, its type): a number that sorts as the interval does
    Scalar "ifx_interval_key" (ANY, TEXT) -> I8, F("rf_ifx_interval_key");
    // (number, type of the result)
    Scalar "ifx_units" (NUM, TEXT) -> ANY, F("rf_ifx_units");
    // (text, form of dates), (date, form of dates)
    Scalar "ifx_date_read" (TEXT, TEXT) -> TEXT, F("rf_ifx_date_read");
    Scalar "ifx_date_shown" (DATE, TEXT) -> TEXT, F("rf_ifx_date_shown");
    // (row, field from 1)
    Scalar "ifx_row_field" (TEXT, I4) -> TEXT, F("rf_ifx_row_field");
    // (value, its type): as a member of a row or collection
    Scalar "ifx_member" (ANY, TEXT) -> TEXT, F("rf_ifx_member"), lenient;
    // (collection, type of its members)
    SetReturning "ifx_members" (TEXT, TEXT) -> ANY, F("rf_ifx_members"), lenient;
    // (collection, member)
    Scalar "ifx_holds" (TEXT, TEXT) -> BOOL, F("rf_ifx_holds");
    // CONNECT BY: (keys of the rows above, the row's own keys): with it behind them, or -26079 when it is among them
    Scalar "ifx_connect_path" (TEXT, ANY) -> TEXT, F("rf_ifx_connect_path"), variadic, lenient;
    // The same: whether it is among them.
    Scalar "ifx_on_path" (TEXT, ANY) -> BOOL, F("rf_ifx_on_path"), variadic, lenient;
    Scalar "cardinality" (TEXT) -> I4, F("rf_ifx_cardinality");
    Scalar "ifx_add_days" (DATE, I4) -> DATE, F("rf_ifx_add_days");
    Scalar "ifx_days_between" (DATE, DATE) -> I4, F("rf_ifx_days_between");

    Scalar "mdy" (I4, I4, I4) -> DATE, F("rf_ifx_mdy");
    Scalar "year" (DATE) -> I2, T("CAST(substr({0}, 1, 4) AS INTEGER)");
    Scalar "month" (DATE) -> I2, T("CAST(substr({0}, 6, 2) AS INTEGER)");
    Scalar "day" (DATE) -> I2, T("CAST(substr({0}, 9, 2) AS INTEGER)");
    Scalar "weekday" (DATE) -> I2, T("CAST(strftime('%w', {0}) AS INTEGER)");
    Scalar "quarter" (DATE) -> I2, T("((CAST(substr({0}, 6, 2) AS INTEGER) + 2) / 3)");
    // (moment, its type, …)
    Scalar "ifx_add_months" (ANY, TEXT, I4) -> ANY, F("rf_ifx_add_months");
    Scalar "ifx_last_day" (ANY, TEXT) -> ANY, F("rf_ifx_last_day");
    Scalar "ifx_next_day" (ANY, TEXT, TEXT) -> ANY, F("rf_ifx_next_day");
    Scalar "ifx_months_between" (ANY, ANY) -> NUM, F("rf_ifx_months_between");
    // (moment, its type, unit, 1 to round and 0 to cut)
    Scalar "ifx_round_moment" (ANY, TEXT, TEXT, I4) -> ANY, F("rf_ifx_round_moment");
    // (number, unit, type of the result)
    Scalar "ifx_number_to_interval" (NUM, TEXT, TEXT) -> ANY, F("rf_ifx_number_to_interval");
    // (key, type): the interval that sorts as this number
    Scalar "ifx_interval_of_key" (I8, TEXT) -> ANY, F("rf_ifx_interval_of_key");
    // (DATETIME YEAR TO FRACTION(5), format)
    Scalar "ifx_to_char" (ANY, TEXT) -> TEXT, F("rf_ifx_to_char");
    Scalar "ifx_to_char_number" (NUM, TEXT) -> TEXT, F("rf_ifx_to_char_number");
    Scalar "ifx_to_date" (TEXT, TEXT) -> ANY, F("rf_ifx_to_date");
    Scalar "ifx_to_number" (TEXT, TEXT) -> NUM, F("rf_ifx_to_number");
    Scalar "ifx_utc_to_datetime" (I8) -> ANY, F("rf_ifx_utc_to_datetime"), stable;
    Scalar "ifx_utc_current" () -> I4, F("rf_ifx_utc_current"), stable;
    Scalar "ifx_time_zone" () -> TEXT, F("rf_ifx_time_zone"), stable;
    Scalar "ifx_session" () -> I4, F("rf_ifx_session"), stable;
    // Decimals of 32 digits, without zeros at the end.
    Scalar "ifx_floating" (NUM) -> NUM, F("rf_ifx_floating");
    Scalar "ifx_divide" (NUM, NUM) -> NUM, F("rf_ifx_divide");

    Scalar "bson_value_int" (ANY, TEXT) -> I4, T("rf_ifx_bson_value({0}, {1}, 'INTEGER')");
    Scalar "bson_value_bigint" (ANY, TEXT) -> I8, T("rf_ifx_bson_value({0}, {1}, 'BIGINT')");
    Scalar "bson_value_double" (ANY, TEXT) -> F8, T("rf_ifx_bson_value({0}, {1}, 'FLOAT')");
    Scalar "bson_value_boolean" (ANY, TEXT) -> BOOL, T("rf_ifx_bson_value({0}, {1}, 'BOOLEAN')");
    Scalar "bson_value_date" (ANY, TEXT) -> DATE, T("rf_ifx_bson_value({0}, {1}, 'DATE')");
    Scalar "bson_value_timestamp" (ANY, TEXT) -> Is(Type::Datetime(crate::informix::types::YEAR_TO_FRACTION5)),
        T("rf_ifx_bson_value({0}, {1}, 'DATETIME YEAR TO FRACTION(5)')");
    Scalar "bson_value_lvarchar" (ANY, TEXT) -> LVARCHAR, T("rf_ifx_bson_value({0}, {1}, 'LVARCHAR(32739)')");
    Scalar "bson_value_varchar" (ANY, TEXT) -> Is(Type::Varchar(Some(255))), T("rf_ifx_bson_value({0}, {1}, 'VARCHAR(255)')");
    Scalar "bson_value_objectid" (ANY, TEXT) -> Is(Type::Varchar(Some(255))), T("rf_ifx_bson_value({0}, {1}, 'VARCHAR(255)')");
    // (document, field, type wanted)
    Scalar "ifx_bson_value" (ANY, TEXT, TEXT) -> ANY, F("rf_ifx_bson_value");
    Scalar "bson_get" (ANY, TEXT) -> JSONB, F("rf_ifx_bson_get");
    Scalar "bson_get" (ANY, TEXT, TEXT) -> JSONB, F("rf_ifx_bson_get");
    Scalar "bson_size" (ANY, TEXT) -> I4, F("rf_ifx_bson_size");
    Scalar "bson_size" (ANY) -> I4, T("rf_ifx_bson_size({0}, '')");
    Scalar "bson_update" (ANY, ANY) -> JSONB, F("rf_ifx_bson_update");
    Scalar "bson_keys_exist" (ANY, TEXT) -> BOOL, F("rf_ifx_bson_keys_exist"), variadic;

    // NULL is an empty text to be searched. (text, pattern, 0 basic, 1 extended, 2 and 3 the same of any case)
    Scalar "regex_match" (TEXT, TEXT) -> BOOL, T("rf_ifx_regex_match(coalesce({0}, ''), {1}, 1)"), lenient;
    Scalar "regex_match" (TEXT, TEXT, I4) -> BOOL, T("rf_ifx_regex_match(coalesce({0}, ''), {1}, {2})"), lenient;
    // (text, pattern, replacement, how many matches or 0 for all, as above)
    Scalar "regex_replace" (TEXT, TEXT, TEXT) -> LVARCHAR, T("rf_ifx_regex_replace(coalesce({0}, ''), {1}, {2}, 0, 1)"), lenient;
    Scalar "regex_replace" (TEXT, TEXT, TEXT, I4) -> LVARCHAR,
        T("rf_ifx_regex_replace(coalesce({0}, ''), {1}, {2}, {3}, 1)"), lenient;
    Scalar "regex_replace" (TEXT, TEXT, TEXT, I4, I4) -> LVARCHAR,
        T("rf_ifx_regex_replace(coalesce({0}, ''), {1}, {2}, {3}, {4})"), lenient;
    SetReturning "regex_extract" (TEXT, TEXT, I4, I4) -> LVARCHAR, F("rf_ifx_regex_extract"), optional(2), lenient;
    SetReturning "regex_split" (TEXT, TEXT, I4, I4) -> LVARCHAR, F("rf_ifx_regex_split"), optional(2), lenient;

    Scalar "upper" (TEXT) -> LVARCHAR, F("rf_upper");
    Scalar "lower" (TEXT) -> LVARCHAR, F("rf_lower");
    Scalar "initcap" (TEXT) -> LVARCHAR, F("rf_initcap");
    // Trailing blanks do not count, in bytes.
    Scalar "length" (TEXT) -> I4, T("octet_length(rtrim({0}, ' '))");
    Scalar "length" (Is(Type::Byte)) -> I4, T("octet_length({0})");
    // Where a character is a byte.
    Scalar "ifx_length" (TEXT) -> I4, T("length(rtrim({0}, ' '))");
    // (text of a CHAR, its length in bytes): with blanks behind
    Scalar "ifx_octet_length" (TEXT, I4) -> I4, T("(CASE WHEN {0} IS NOT NULL THEN max(octet_length({0}), {1}) END)");
    Scalar "ifx_char_length" (TEXT, I4) -> I4, T("(length({0}) + max({1} - octet_length({0}), 0))");
    // (text, bytes, whether blanks at the end are of no account)
    Scalar "ifx_within" (TEXT, I4, I4) -> TEXT, F("rf_ifx_within");
    // (text, first byte, how many)
    Scalar "ifx_part" (TEXT, I4, I4) -> TEXT, F("rf_ifx_part");
    Scalar "octet_length" (TEXT) -> I4, T("octet_length({0})");
    Scalar "char_length" (TEXT) -> I4, T("length({0})");
    Scalar "character_length" (TEXT) -> I4, T("length({0})");
    // Counted from 1, where 0 stands, too; from the end when negative.
    Scalar "substr" (TEXT, I4) -> LVARCHAR, T("substr({0}, CASE {1} WHEN 0 THEN 1 ELSE {1} END)");
    Scalar "substr" (TEXT, I4, I4) -> LVARCHAR,
        T("CASE WHEN {2} > 0 THEN substr({0}, CASE {1} WHEN 0 THEN 1 ELSE {1} END, {2}) END");
    Scalar "substrb" (TEXT, I4) -> LVARCHAR, F("rf_ifx_substrb");
    Scalar "substrb" (TEXT, I4, I4) -> LVARCHAR, F("rf_ifx_substrb");
    // The standard's: places before the first count, and hold nothing.
    Scalar "substring" (TEXT, I4) -> LVARCHAR, T("substr({0}, max({1}, 1))");
    Scalar "substring" (TEXT, I4, I4) -> LVARCHAR,
        T("substr({0}, max({1}, 1), max({2} + min({1} - 1, 0), 0))");
    // (data, password, hint, AES or TDES)
    Scalar "ifx_encrypt" (ANY, TEXT, TEXT, TEXT) -> ANY, F("rf_ifx_encrypt"), lenient, volatile;
    // (encrypted data, password)
    Scalar "ifx_decrypt" (ANY, TEXT) -> ANY, F("rf_ifx_decrypt"), lenient, stable;
    Scalar "gethint" (ANY) -> Is(Type::Varchar(Some(32))), F("rf_ifx_gethint");
    // (column, first place, last place, what comes there); places are characters, or bytes
    Scalar "ifx_spliced" (TEXT, I4, I4, TEXT) -> TEXT, F("rf_ifx_spliced"), lenient;
    Scalar "ifx_spliced_bytes" (TEXT, I4, I4, TEXT) -> TEXT, F("rf_ifx_spliced_bytes"), lenient;
    Scalar "substring_index" (TEXT, TEXT, I4) -> LVARCHAR, F("rf_ifx_substring_index");
    Scalar "left" (TEXT, I4) -> LVARCHAR, T("substr({0}, 1, max({1}, 0))");
    Scalar "right" (TEXT, I4) -> LVARCHAR, T("substr({0}, max(length({0}) - max({1}, 0), 0) + 1)");
    Scalar "space" (I4) -> LVARCHAR, T("rf_repeat(' ', {0})");
    Scalar "trim" (TEXT, TEXT) -> LVARCHAR, T("trim({0}, {1})");
    Scalar "ltrim" (TEXT) -> LVARCHAR, T("ltrim({0}, ' ')");
    Scalar "ltrim" (TEXT, TEXT) -> LVARCHAR, T("ltrim({0}, {1})");
    Scalar "rtrim" (TEXT) -> LVARCHAR, T("rtrim({0}, ' ')");
    Scalar "rtrim" (TEXT, TEXT) -> LVARCHAR, T("rtrim({0}, {1})");
    Scalar "replace" (TEXT, TEXT) -> LVARCHAR, T("replace({0}, {1}, '')");
    Scalar "replace" (TEXT, TEXT, TEXT) -> LVARCHAR, T("replace({0}, {1}, {2})");
    Scalar "lpad" (TEXT, I4) -> LVARCHAR, F("rf_lpad");
    Scalar "lpad" (TEXT, I4, TEXT) -> LVARCHAR, F("rf_lpad");
    Scalar "rpad" (TEXT, I4) -> LVARCHAR, F("rf_rpad");
    Scalar "rpad" (TEXT, I4, TEXT) -> LVARCHAR, F("rf_rpad");
    Scalar "instr" (TEXT, TEXT) -> I4, T("instr({0}, {1})");
    Scalar "instr" (TEXT, TEXT, I4) -> I4, F("rf_ifx_instr");
    Scalar "instr" (TEXT, TEXT, I4, I4) -> I4, F("rf_ifx_instr");
    Scalar "charindex" (TEXT, TEXT) -> I4, T("instr({1}, {0})");
    Scalar "charindex" (TEXT, TEXT, I4) -> I4, T("rf_ifx_instr({1}, {0}, max({2}, 1))");
    Scalar "reverse" (TEXT) -> LVARCHAR, F("rf_reverse");
    Scalar "concat" (TEXT, TEXT) -> LVARCHAR, T("({0} || {1})");
    Scalar "ascii" (TEXT) -> I4, F("rf_ascii");
    Scalar "chr" (I4) -> LVARCHAR, F("rf_chr");
    Scalar "hex" (I4) -> LVARCHAR, T("printf('0x%08X', {0} & 4294967295)");
    Scalar "hex" (I8) -> LVARCHAR, T("printf('0x%016X', {0})");
    Scalar "bitand" (I8, I8) -> I8, T("({0} & {1})");
    Scalar "bitor" (I8, I8) -> I8, T("({0} | {1})");
    Scalar "bitxor" (I8, I8) -> I8, F("rf_int8_xor");
    Scalar "bitandnot" (I8, I8) -> I8, T("({0} & ~{1})");
    Scalar "bitnot" (I8) -> I8, T("(~{0})");

    Scalar "abs" (I4) -> I4, F("rf_int4_abs");
    Scalar "abs" (I8) -> I8, F("rf_int8_abs");
    Scalar "abs" (NUM) -> NUM, F("rf_numeric_abs");
    Scalar "abs" (F8) -> F8, F("rf_float8_abs");
    Scalar "mod" (I4, I4) -> I4, F("rf_int4_mod");
    Scalar "mod" (I8, I8) -> I8, F("rf_int8_mod");
    Scalar "mod" (NUM, NUM) -> NUM, F("rf_numeric_mod");
    Scalar "round" (NUM) -> NUM, T("rf_numeric_round({0}, 0)");
    Scalar "round" (NUM, I4) -> NUM, F("rf_numeric_round");
    Scalar "trunc" (NUM) -> NUM, T("rf_numeric_trunc({0}, 0)");
    Scalar "trunc" (NUM, I4) -> NUM, F("rf_numeric_trunc");
    Scalar "ceil" (NUM) -> NUM, F("rf_numeric_ceil");
    Scalar "floor" (NUM) -> NUM, F("rf_numeric_floor");
    Scalar "power" (F8, F8) -> F8, F("rf_float8_power");
    Scalar "pow" (F8, F8) -> F8, F("rf_float8_power");
    Scalar "root" (F8) -> F8, F("rf_float8_sqrt");
    Scalar "root" (F8, F8) -> F8, T("rf_float8_power({0}, rf_float8_div(1.0, {1}))");
    Scalar "sign" (F8) -> I4, T("CAST(rf_float8_sign({0}) AS INTEGER)");
    Scalar "degrees" (F8) -> F8, F("degrees");
    Scalar "radians" (F8) -> F8, F("radians");
    Scalar "sinh" (F8) -> F8, F("rf_float8_sinh");
    Scalar "cosh" (F8) -> F8, F("rf_float8_cosh");
    Scalar "tanh" (F8) -> F8, F("rf_float8_tanh");
    Scalar "sqrt" (F8) -> F8, F("rf_float8_sqrt");
    Scalar "exp" (F8) -> F8, F("rf_float8_exp");
    Scalar "ln" (F8) -> F8, F("rf_float8_ln");
    Scalar "logn" (F8) -> F8, F("rf_float8_ln");
    Scalar "log10" (F8) -> F8, F("rf_float8_log10");
    Scalar "sin" (F8) -> F8, F("rf_float8_sin");
    Scalar "cos" (F8) -> F8, F("rf_float8_cos");
    Scalar "tan" (F8) -> F8, F("rf_float8_tan");
    Scalar "asin" (F8) -> F8, F("rf_float8_asin");
    Scalar "acos" (F8) -> F8, F("rf_float8_acos");
    Scalar "atan" (F8) -> F8, F("rf_float8_atan");
    Scalar "asinh" (F8) -> F8, T("rf_trigonometry('asinh', {0})");
    Scalar "acosh" (F8) -> F8, T("rf_trigonometry('acosh', {0})");
    Scalar "atanh" (F8) -> F8, T("rf_trigonometry('atanh', {0})");
    // (number of bytes, or a number with its unit)
    Scalar "format_units" (TEXT) -> Is(Type::Varchar(Some(255))), T("rf_ifx_format_units({0}, 'B')");
    Scalar "format_units" (TEXT, TEXT) -> Is(Type::Varchar(Some(255))), F("rf_ifx_format_units");
    Scalar "atan2" (F8, F8) -> F8, F("rf_float8_atan2");

    // The binder spells it out; the row says that it needs OVER.
    Window "ratio_to_report" (NUM) -> NUM, F("rf_numeric_sum");
    // (value, place): of the values of a frame that are not NULL; counted from the end when negative
    Aggregate "ifx_nth_known" (ELEM, I8) -> ELEM, F("rf_nth_known");
    Scalar "ifx_nextval" (OID) -> I8, F("rf_nextval"), volatile;
    Scalar "ifx_currval" (OID) -> I8, F("rf_currval"), volatile;
    // (routine's object id, `1` or `0` for each parameter that is given or not, values): see the front end's `bind/routine.rs`
    Scalar "ifx_routine" (OID, TEXT, ANY) -> ANY, F("rf_ifx_routine"), optional(1), variadic, lenient, volatile;
    SetReturning "ifx_routine_rows" (OID, TEXT, ANY) -> ANY, F("rf_ifx_routine_rows"), optional(1), variadic, lenient, volatile;
    Scalar "ifx_rows_processed" () -> I4, F("rf_ifx_rows_processed"), volatile;
    Scalar "ifx_last_serial" () -> I8, F("rf_ifx_last_serial"), volatile;
    // Smart large objects: the door turns these results into what the client sees.
    Scalar "ifx_lo_open" (Is(Type::Blob), I4) -> I4, F("rf_ifx_lo_open"), volatile;
    Scalar "filetoblob" (TEXT, TEXT) -> Is(Type::Blob), F("rf_ifx_filetoblob"), volatile;
    Scalar "filetoclob" (TEXT, TEXT) -> Is(Type::Clob), F("rf_ifx_filetoclob"), volatile;
    Scalar "locopy" (Is(Type::Blob)) -> Is(Type::Blob), T("{0}");
    Scalar "locopy" (Is(Type::Blob), TEXT, TEXT) -> Is(Type::Blob), T("{0}");
    Scalar "locopy" (Is(Type::Clob)) -> Is(Type::Clob), T("{0}");
    Scalar "locopy" (Is(Type::Clob), TEXT, TEXT) -> Is(Type::Clob), T("{0}");
    Scalar "lotofile" (ANY, TEXT, TEXT) -> Is(Type::Lvarchar(2_048)), F("rf_ifx_lotofile"), volatile;

    // What IBM's JDBC driver calls for its metadata; sysprocedures of a real server has them.
    Scalar "schema_coltypename" (I4, I4) -> LVARCHAR, F("rf_ifx_coltypename");
    Scalar "schema_precision" (I4, I4, I4) -> I4, F("rf_ifx_precision");
    Scalar "schema_numscale" (I4, I4) -> I4, F("rf_ifx_numscale");
    Scalar "schema_numprecradix" (I4) -> I4, F("rf_ifx_numprecradix");
    Scalar "schema_isnullable" (I4) -> I4, T("(CASE WHEN ({0} & 256) THEN 0 ELSE 1 END)");
    Scalar "schema_nullable" (I4) -> LVARCHAR, T("(CASE WHEN ({0} & 256) THEN 'NO' ELSE 'YES' END)");
    Scalar "schema_bufflen" (I4, I4) -> I4, T("(CASE {0} & 255 WHEN 1 THEN 2 WHEN 2 THEN 4 WHEN 3 THEN 8 WHEN 4 THEN 4 \
        WHEN 5 THEN ({1} >> 8) + 2 WHEN 6 THEN 4 WHEN 7 THEN 4 WHEN 8 THEN ({1} >> 8) + 2 WHEN 13 THEN {1} & 255 \
        WHEN 16 THEN {1} & 255 WHEN 52 THEN 8 WHEN 53 THEN 8 ELSE {1} END)");
    // (routine's number): the types of its parameters, of its values
    Scalar "ifx_param_types" (I4) -> LVARCHAR, F("rf_ifx_param_types"), stable;
    Scalar "ifx_ret_types" (I4) -> LVARCHAR, F("rf_ifx_ret_types"), stable;
    Scalar "schema_datetype" (I4, I4) -> I4, F("rf_ifx_datetype");
    Scalar "schema_charlen" (I4, I4, I4) -> I4, F("rf_ifx_charlen");
    Scalar "schema_isautoincr" (I4) -> LVARCHAR, T("(CASE WHEN ({0} & 255) IN (6, 18, 53) THEN 'YES' ELSE 'NO' END)");
    Scalar "get_data_type" (I4, I4, I4) -> I4, F("rf_ifx_jdbc_type");
    // Defaults of other than text have a word before them.
    Scalar "get_default_value" (I4, I4, I4, TEXT) -> LVARCHAR, T("(CASE WHEN {3} LIKE 'AAAAAA %' THEN substr({3}, 8) ELSE {3} END)");
};
