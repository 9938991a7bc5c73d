//! Arrays.

use super::Said::Module;
use super::TypeSpec;
use super::spec::*;
use crate::Type;
use crate::scalar::hstore;

const HSTORE: TypeSpec = TypeSpec::Is(Type::Scalar(&hstore::HSTORE, None));

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Scalar "array_length" (ARRAY, I4) -> I4, F("rf_array_length");
    Scalar "array_upper" (ARRAY, I4) -> I4, F("rf_array_upper");
    Scalar "array_lower" (ARRAY, I4) -> I4, F("rf_array_lower");
    Scalar "array_ndims" (ARRAY) -> I4, F("rf_array_ndims");
    Scalar "array_dims" (ARRAY) -> TEXT, F("rf_array_dims");
    Scalar "cardinality" (ARRAY) -> I4, F("rf_cardinality");
    Scalar "array_append" (ARRAY, ELEM) -> ARRAY, F("rf_array_append"), lenient;
    Scalar "array_prepend" (ELEM, ARRAY) -> ARRAY, F("rf_array_prepend"), lenient;
    Scalar "array_cat" (ARRAY, ARRAY) -> ARRAY, F("rf_array_cat"), lenient;
    Scalar "array_remove" (ARRAY, ELEM) -> ARRAY, Special("array_remove"), lenient;
    Scalar "array_replace" (ARRAY, ELEM, ELEM) -> ARRAY, Special("array_replace"), lenient;
    Scalar "array_position" (ARRAY, ELEM) -> I4, Special("array_position"), lenient;
    Scalar "array_position" (ARRAY, ELEM, I4) -> I4, Special("array_position"), lenient;
    Scalar "array_positions" (ARRAY, ELEM) -> INTS, Special("array_positions"), lenient;
    Scalar "array_to_string" (ARRAY, TEXT) -> TEXT, Special("array_to_string"), stable;
    Scalar "array_to_string" (ARRAY, TEXT, TEXT) -> TEXT, Special("array_to_string"), lenient, stable;
    Scalar "array_fill" (ELEM, INTS) -> ARRAY, F("rf_array_fill"), lenient;
    Scalar "array_fill" (ELEM, INTS, INTS) -> ARRAY, F("rf_array_fill"), lenient;
    Scalar "enum_first" (ENUM) -> ENUM, Special("enum_first"), lenient, stable;
    Scalar "enum_last" (ENUM) -> ENUM, Special("enum_last"), lenient, stable;
    Scalar "enum_range" (ENUM) -> ARRAY, Special("enum_range"), lenient, stable;
    Scalar "enum_range" (ENUM, ENUM) -> ARRAY, Special("enum_range"), lenient, stable;
    Scalar "trim_array" (ARRAY, I4) -> ARRAY, F("rf_trim_array");
    SetReturning "unnest" (ARRAY) -> ELEM, Special("unnest");
    SetReturning "information_schema._pg_expandarray" (ARRAY) -> ELEM, Special("pg_expandarray");
    SetReturning "generate_subscripts" (ARRAY, I4) -> I4, Special("generate_subscripts");
    SetReturning "generate_subscripts" (ARRAY, I4, BOOL) -> I4, Special("generate_subscripts");
};

/// What subscripts become; nobody can call them by a name. See the engine's `subscripts.rs` for their arguments.
static CONSTRUCTS: &[Function] = rows! { &[];
    Scalar "array element" (ANY, I4) -> ELEM, F("rf_array_get"), variadic;
    Scalar "array slice" (ANY, TEXT, I4) -> ELEM, F("rf_array_slice"), variadic, lenient;
    Scalar "array element assignment" (ANY, ANY, I4) -> ELEM, F("rf_array_set"), variadic, lenient;
    Scalar "array slice assignment" (ANY, ANY, TEXT, I4) -> ELEM, F("rf_array_set_slice"), variadic, lenient;
    Scalar "jsonb element" (JSONB, ANY) -> JSONB, F("rf_jsonb_get_subscript"), variadic;
    Scalar "jsonb element assignment" (JSONB, JSONB, ANY) -> JSONB, F("rf_jsonb_set_subscript"), variadic, lenient;
    Scalar "hstore element" (HSTORE, TEXT) -> TEXT, Module("hstore_fetchval");
    Scalar "hstore element assignment" (HSTORE, TEXT, TEXT) -> HSTORE, Module("hstore_subscript_assign"), lenient;
    Scalar "name element" (NAME, I4) -> ICHAR, F("rf_name_get");
};

/// A construct of the grammar with subscripts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Subscripts {
    /// `array[i]`
    Element,
    /// `array[l:u]`
    Slice,
    /// `SET array[i] = …`
    SetElement,
    /// `SET array[l:u] = …`
    SetSlice,
    /// `jsonb['key']`
    Jsonb,
    /// `SET jsonb['key'] = …`
    SetJsonb,
    /// `hstore['key']`
    Hstore,
    /// `SET hstore['key'] = …`
    SetHstore,
    /// `name[i]`
    Name,
}

impl Subscripts {
    /// The function that a construct calls.
    pub fn function(self) -> &'static Function {
        &CONSTRUCTS[self as usize]
    }
}
