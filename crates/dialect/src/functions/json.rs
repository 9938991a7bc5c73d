//! JSON. Functions of any argument are `Special`, since the back end must know the arguments' types.

use super::spec::*;

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "to_json" (ELEM) -> JSON, Special("to_json"), stable;
    Scalar "to_jsonb" (ELEM) -> JSONB, Special("to_jsonb"), stable;
    Scalar "row_to_json" (ANY) -> JSON, Special("to_json"), stable;
    Scalar "array_to_json" (ARRAY) -> JSON, Special("to_json"), stable;
    Scalar "json_build_object" () -> JSON, Special("json_build_object"), lenient, stable;
    Scalar "json_build_object" (ANY) -> JSON, Special("json_build_object"), lenient, variadic, stable;
    Scalar "jsonb_build_object" () -> JSONB, Special("jsonb_build_object"), lenient, stable;
    Scalar "jsonb_build_object" (ANY) -> JSONB, Special("jsonb_build_object"), lenient, variadic, stable;
    Scalar "json_build_array" () -> JSON, Special("json_build_array"), lenient, stable;
    Scalar "json_build_array" (ANY) -> JSON, Special("json_build_array"), lenient, variadic, stable;
    Scalar "jsonb_build_array" () -> JSONB, Special("jsonb_build_array"), lenient, stable;
    Scalar "jsonb_build_array" (ANY) -> JSONB, Special("jsonb_build_array"), lenient, variadic, stable;
    Scalar "json_typeof" (JSON) -> TEXT, F("rf_json_typeof");
    Scalar "jsonb_typeof" (JSONB) -> TEXT, F("rf_json_typeof");
    Scalar "json_array_length" (JSON) -> I4, F("rf_json_array_length");
    Scalar "jsonb_array_length" (JSONB) -> I4, F("rf_json_array_length");
    Scalar "json_extract_path" (JSON, TEXT) -> JSON, F("rf_json_extract_path"), variadic;
    Scalar "jsonb_extract_path" (JSONB, TEXT) -> JSONB, F("rf_jsonb_extract_path"), variadic;
    Scalar "json_extract_path_text" (JSON, TEXT) -> TEXT, F("rf_json_extract_path_text"), variadic;
    Scalar "jsonb_extract_path_text" (JSONB, TEXT) -> TEXT, F("rf_json_extract_path_text"), variadic;
    Scalar "jsonb_set" (JSONB, TEXTS, JSONB, BOOL) -> JSONB, F("rf_jsonb_set"), optional(1);
    Scalar "jsonb_insert" (JSONB, TEXTS, JSONB, BOOL) -> JSONB, F("rf_jsonb_insert"), optional(1);
    Scalar "jsonb_pretty" (JSONB) -> TEXT, F("rf_jsonb_pretty");
    Scalar "json_strip_nulls" (JSON) -> JSON, F("rf_json_strip_nulls");
    Scalar "jsonb_strip_nulls" (JSONB) -> JSONB, F("rf_jsonb_strip_nulls");
    SetReturning "json_array_elements" (JSON) -> JSON, Special("json_array_elements");
    SetReturning "jsonb_array_elements" (JSONB) -> JSONB, Special("jsonb_array_elements");
    SetReturning "json_array_elements_text" (JSON) -> TEXT, Special("json_array_elements_text");
    SetReturning "jsonb_array_elements_text" (JSONB) -> TEXT, Special("json_array_elements_text");
    SetReturning "json_object_keys" (JSON) -> TEXT, Special("json_object_keys");
    SetReturning "jsonb_object_keys" (JSONB) -> TEXT, Special("json_object_keys");
    SetReturning "json_each" (JSON) -> JSON, Special("json_each");
    SetReturning "jsonb_each" (JSONB) -> JSONB, Special("jsonb_each");
    SetReturning "json_each_text" (JSON) -> TEXT, Special("json_each_text");
    SetReturning "jsonb_each_text" (JSONB) -> TEXT, Special("json_each_text");
};
