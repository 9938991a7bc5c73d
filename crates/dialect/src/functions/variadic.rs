//! Functions of any number of arguments, called with all of them in one array behind the word VARIADIC.

use super::spec::*;

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "concat" (ARRAY) -> TEXT, Special("concat_array"), lenient, stable;
    Scalar "concat_ws" (TEXT, ARRAY) -> TEXT, Special("concat_array"), lenient, stable;
    Scalar "format" (TEXT, ARRAY) -> TEXT, Special("format_array"), lenient, stable;
    Scalar "num_nulls" (ARRAY) -> I4, F("rf_num_nulls_array");
    Scalar "num_nonnulls" (ARRAY) -> I4, F("rf_num_nonnulls_array");
    Scalar "json_build_array" (ARRAY) -> JSON, Special("json_build_array_of"), stable;
    Scalar "jsonb_build_array" (ARRAY) -> JSONB, Special("jsonb_build_array_of"), stable;
    Scalar "json_build_object" (ARRAY) -> JSON, Special("json_build_object_of"), stable;
    Scalar "jsonb_build_object" (ARRAY) -> JSONB, Special("jsonb_build_object_of"), stable;
    Scalar "json_extract_path" (JSON, TEXTS) -> JSON, F("rf_json_path");
    Scalar "json_extract_path_text" (JSON, TEXTS) -> TEXT, F("rf_json_path_text");
    Scalar "jsonb_extract_path" (JSONB, TEXTS) -> JSONB, F("rf_jsonb_path");
    Scalar "jsonb_extract_path_text" (JSONB, TEXTS) -> TEXT, F("rf_json_path_text");
};
