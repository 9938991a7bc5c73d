//! Ranges and multiranges of users' types in binary format: their bounds in the formats of what they are of.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::range::{self, Point, binary, text};
use rowferry_dialect::values::{self, Settings, ValueRef};
use rowferry_engine::{Error, Result, Type};
use rowferry_wire::Reader;

use super::{binary_in, binary_out};

/// Writes a range or a multirange.
pub(super) fn write(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    let (ValueRef::Text(stored), Type::User(user)) = (value, ty.through_domains()) else {
        return Err(values::misfit(value, ty));
    };
    let stored = std::str::from_utf8(stored).map_err(|_| values::misfit(value, ty))?;
    let (subtype, multirange) = range::of_user(user)?;
    let of = subtype.ty();
    let writer = binary_out::writer(&of)?;
    let ranges = text::from_stored(stored, &subtype)?;
    binary::send_with(out, &ranges, multirange, &mut |out, point| match point {
        Point::Other(value, _) => writer(out, value.as_ref(), &of, settings),
        _ => Err(Error::internal("a bound of a built-in type in a user's range")),
    })
}

/// Reads a range or a multirange.
pub(super) fn read(reader: &mut Reader<'_>, ty: &Type, settings: &Settings) -> Result<Value> {
    let Type::User(user) = ty else { return Err(Error::internal("a range type that is none")) };
    let (subtype, multirange) = range::of_user(user)?;
    let of = subtype.ty();
    let ranges = binary::receive_with(reader.rest(), multirange, &subtype, &mut |bytes| {
        subtype.point(binary_in::read(bytes, &of, settings)?.as_ref())
    })?;
    text::to_stored(&ranges, multirange, &subtype).map(Value::Text)
}
