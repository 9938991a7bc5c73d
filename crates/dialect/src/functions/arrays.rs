//! Arrays.

use super::spec::*;

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "array_length" (ARRAY, I4) -> I4, F("rf_array_length");
    Scalar "array_upper" (ARRAY, I4) -> I4, F("rf_array_length");
    Scalar "array_lower" (ARRAY, I4) -> I4, F("rf_array_lower");
    Scalar "array_ndims" (ARRAY) -> I4, F("rf_array_ndims");
    Scalar "array_dims" (ARRAY) -> TEXT, F("rf_array_dims");
    Scalar "cardinality" (ARRAY) -> I4, F("rf_cardinality");
    Scalar "array_append" (ARRAY, ELEM) -> ARRAY, F("rf_array_append"), lenient;
    Scalar "array_prepend" (ELEM, ARRAY) -> ARRAY, F("rf_array_prepend"), lenient;
    Scalar "array_cat" (ARRAY, ARRAY) -> ARRAY, F("rf_array_cat"), lenient;
    Scalar "array_remove" (ARRAY, ELEM) -> ARRAY, F("rf_array_remove"), lenient;
    Scalar "array_replace" (ARRAY, ELEM, ELEM) -> ARRAY, F("rf_array_replace"), lenient;
    Scalar "array_position" (ARRAY, ELEM) -> I4, F("rf_array_position"), lenient;
    Scalar "array_position" (ARRAY, ELEM, I4) -> I4, F("rf_array_position"), lenient;
    Scalar "array_positions" (ARRAY, ELEM) -> INTS, F("rf_array_positions"), lenient;
    Scalar "array_to_string" (ARRAY, TEXT) -> TEXT, Special("array_to_string"), stable;
    Scalar "array_to_string" (ARRAY, TEXT, TEXT) -> TEXT, Special("array_to_string"), lenient, stable;
    Scalar "array_fill" (ELEM, INTS) -> ARRAY, F("rf_array_fill"), lenient;
    Scalar "trim_array" (ARRAY, I4) -> ARRAY, F("rf_trim_array");
    SetReturning "unnest" (ARRAY) -> ELEM, Special("unnest");
    SetReturning "generate_subscripts" (ARRAY, I4) -> I4, Special("generate_subscripts");
    SetReturning "generate_subscripts" (ARRAY, I4, BOOL) -> I4, Special("generate_subscripts");
};
