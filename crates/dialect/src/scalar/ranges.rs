//! The six range types and their multiranges, and the families of all range types, those of users among them. What their
//! values do stands in [`crate::values::range`].

use std::cmp::Ordering;

use super::{Casts, Modifiers, Order, Scalar, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::user_type;
use crate::values::range::{self, Subtype, binary, text};
use crate::{Result, Type};

/// A range type with its multirange type.
#[derive(Clone, Debug)]
pub struct Family {
    /// The type of its ranges.
    pub range: Type,
    /// The type of its multiranges.
    pub multirange: Type,
    /// What they are of.
    pub subtype: Subtype,
}

/// A family of PostgreSQL's own.
struct BuiltIn {
    range: &'static Scalar,
    multirange: &'static Scalar,
    subtype: Subtype,
}

/// The family of a range type.
pub fn of_range(ty: &Type) -> Option<Family> {
    match ty {
        Type::Scalar(scalar, _) => FAMILIES.iter().find(|family| family.range == *scalar).map(BuiltIn::family),
        Type::User(user) => user.range().map(|_| user_type::family(user)),
        _ => None,
    }
}

/// The family of a multirange type.
pub fn of_multirange(ty: &Type) -> Option<Family> {
    match ty {
        Type::Scalar(scalar, _) => FAMILIES.iter().find(|family| family.multirange == *scalar).map(BuiltIn::family),
        Type::User(user) => user.range_of_multirange().map(user_type::family),
        _ => None,
    }
}

/// The family of a range or multirange type.
pub fn of(ty: &Type) -> Option<Family> {
    of_range(ty).or_else(|| of_multirange(ty))
}

/// What a range or multirange type is of.
pub fn subtype(ty: &Type) -> Option<Subtype> {
    of(ty).map(|family| family.subtype)
}

/// What the built-in range type with an object id is of.
pub fn subtype_by_oid(oid: u32) -> Option<&'static Subtype> {
    FAMILIES.iter().find(|family| family.range.oid == oid).map(|family| &family.subtype)
}

impl BuiltIn {
    fn family(&self) -> Family {
        Family {
            range: Type::Scalar(self.range, None),
            multirange: Type::Scalar(self.multirange, None),
            subtype: self.subtype.clone(),
        }
    }
}

/// The stored multirange of a stored range.
pub fn multirange_of(range: &str) -> Value {
    Value::Text(if range == text::EMPTY { "{}".to_owned() } else { format!("{{{range}}}") })
}

/// A multirange from a range of its family.
fn from_range(value: &Value, ty: &Type, range: &Scalar) -> Option<Result<Value>> {
    match (value, ty) {
        (Value::Text(text), Type::Scalar(scalar, _)) if **scalar == *range => Some(Ok(multirange_of(text))),
        _ => None,
    }
}

/// The order of two stored ranges or multiranges.
pub fn compare(left: &str, right: &str, subtype: &Subtype) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    match (text::from_stored(left, subtype), text::from_stored(right, subtype)) {
        (Ok(left), Ok(right)) => range::compare(&left, &right),
        // What others have stored and is no range comes behind all ranges.
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => left.cmp(right),
    }
}

macro_rules! scalar {
    ($name:literal $oid:literal of $range:literal $subtype:ident, $multirange:literal, $read:path, $receive:path, $casts:expr) => {
        Scalar {
            name: $name,
            words: $name,
            oid: $oid,
            delimiter: ',',
            storage: Storage::Text,
            order: Order::By {
                collation: concat!("rf_", $range),
                of_arrays: concat!("rf_array_", $range),
                compare: |left, right| compare(left, right, &Subtype::$subtype),
            },
            modifiers: Modifiers::None,
            casts: $casts,
            input: |given, settings| {
                let ranges = $read(given, &Subtype::$subtype, settings)?;
                Ok(Value::Text(text::to_stored(&ranges, $multirange, &Subtype::$subtype)?))
            },
            output: |out, value, settings| {
                let ranges = text::from_stored(stored_text(value)?, &Subtype::$subtype)?;
                text::print(out, &ranges, $multirange, &Subtype::$subtype, settings)
            },
            receive: |bytes| {
                let ranges = $receive(bytes, &Subtype::$subtype)?;
                Ok(Value::Text(text::to_stored(&ranges, $multirange, &Subtype::$subtype)?))
            },
            send: |out, value| {
                let ranges = text::from_stored(stored_text(value)?, &Subtype::$subtype)?;
                binary::send(out, &ranges, $multirange, &Subtype::$subtype)
            },
        }
    };
}

macro_rules! families {
    ($($subtype:ident: $range:ident $name:literal $oid:literal, $multirange:ident $multi:literal $multi_oid:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub static $range: Scalar =
                scalar!($name $oid of $name $subtype, false, text::read_range, binary::receive_range, Casts::TEXT);
            #[doc = concat!("`", $multi, "`")]
            pub static $multirange: Scalar =
                scalar!($multi $multi_oid of $name $subtype, true, text::read_multirange, binary::receive_multirange, Casts {
                    from: |value, ty, _| from_range(value, ty, &$range),
                    ..Casts::TEXT
                });
        )*
        /// Every range type with its multirange type.
        static FAMILIES: &[BuiltIn] = &[$(
            BuiltIn { range: &$range, multirange: &$multirange, subtype: Subtype::$subtype },
        )*];
        /// The rows.
        pub(super) static ROWS: &[&Scalar] = &[$(&$range, &$multirange,)*];
    };
}

families! {
    Int4: INT4RANGE "int4range" 3904, INT4MULTIRANGE "int4multirange" 4451;
    Int8: INT8RANGE "int8range" 3926, INT8MULTIRANGE "int8multirange" 4536;
    Numeric: NUMRANGE "numrange" 3906, NUMMULTIRANGE "nummultirange" 4532;
    Timestamp: TSRANGE "tsrange" 3908, TSMULTIRANGE "tsmultirange" 4533;
    TimestampTz: TSTZRANGE "tstzrange" 3910, TSTZMULTIRANGE "tstzmultirange" 4534;
    Date: DATERANGE "daterange" 3912, DATEMULTIRANGE "datemultirange" 4535;
}
