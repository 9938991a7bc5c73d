//! PostgreSQL's binary formats to stored values, as its `recv` functions read them.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::time::TimeTz;
use rowferry_dialect::values::{self, Interval, Settings, datetime_text};
use rowferry_engine::{Condition, Error, Result, Type};
use rowferry_wire::civil::DAYS_TO_2000;
use rowferry_wire::{Malformed, Reader};

use super::binary_out::{JSONB_VERSION, MICROS_TO_2000};
use super::{array, ranges, report, rows};

/// Reads a value in the binary format of its type.
pub(super) fn read(bytes: &[u8], ty: &Type, settings: &Settings) -> Result<Value> {
    let mut reader = Reader::new(bytes);
    let reader = &mut reader;
    let value = match ty {
        Type::Bool => Value::Integer(i64::from(reader.u8("bool").map_err(malformed)? != 0)),
        Type::Int2 => Value::Integer(i64::from(reader.i16("int2").map_err(malformed)?)),
        Type::Int4 => Value::Integer(i64::from(reader.i32("int4").map_err(malformed)?)),
        Type::Int8 | Type::IfxInt8 => Value::Integer(reader.i64("int8").map_err(malformed)?),
        Type::Oid | Type::Reg(_) => Value::Integer(i64::from(reader.u32("oid").map_err(malformed)?)),
        Type::Float4 => values::float::to_value(f64::from(reader.f32("float4").map_err(malformed)?)),
        Type::Float8 => values::float::to_value(reader.f64("float8").map_err(malformed)?),
        Type::Numeric(_) | Type::Money(_) | Type::FloatingDecimal(_) => {
            Value::Text(values::decimal::binary::receive(reader)?.to_string())
        }
        Type::Bytea | Type::Byte | Type::Blob => Value::Blob(reader.rest().to_vec()),
        Type::Date => Value::Text(values::date::to_stored(match reader.i32("date").map_err(malformed)? {
            i32::MAX => datetime_text::INFINITY,
            i32::MIN => datetime_text::NEGATIVE_INFINITY,
            days => i64::from(days) + DAYS_TO_2000,
        })?),
        Type::Time(_) => Value::Text(values::time::to_stored(time_of_day(reader)?)),
        Type::TimeTz(_) => {
            let micros = time_of_day(reader)?;
            let west = reader.i32("timetz offset").map_err(malformed)?;
            if west.unsigned_abs() >= 16 * 3600 {
                let message = "time zone displacement out of range";
                return Err(Error::new(Condition::InvalidTimeZoneDisplacement, message));
            }
            Value::Text(TimeTz { micros, offset: -west }.to_stored())
        }
        Type::Timestamp(_) => Value::Text(values::timestamp::to_stored(instant(reader)?)?),
        Type::TimestampTz(_) => Value::Text(values::timestamp::to_stored_tz(instant(reader)?)?),
        Type::Interval(_) => {
            let micros = reader.i64("interval time").map_err(malformed)?;
            let days = reader.i32("interval days").map_err(malformed)?;
            let months = reader.i32("interval months").map_err(malformed)?;
            Value::Text(Interval { months, days, micros }.to_string())
        }
        Type::InternalChar => {
            let [byte] = reader.array("\"char\"").map_err(malformed)?;
            Value::Text(values::text::print_byte(byte))
        }
        Type::Uuid => Value::Text(values::uuid::format(reader.array("uuid").map_err(malformed)?)),
        Type::Jsonb | Type::Jsonpath => {
            let version = reader.u8("jsonb version").map_err(malformed)?;
            if version != JSONB_VERSION {
                return Err(Error::new(
                    Condition::FeatureNotSupported,
                    format!(
                        "unsupported {} version number {version}",
                        if *ty == Type::Jsonb { "jsonb" } else { "jsonpath" }
                    ),
                ));
            }
            values::input(&report::text(reader.rest(), settings.client_encoding)?, ty, settings)?
        }
        Type::Scalar(scalar, modifier) => {
            let value = (scalar.receive)(reader.rest())?;
            // The types that hold texts among other things take those as they are.
            if settings.client_encoding.is_some() && matches!(&value, Value::Text(text) if !text.is_ascii()) {
                let name = values::type_name(ty);
                let what = format!("the binary format of type {name} in a client_encoding other than UTF8");
                return Err(Error::unsupported(what));
            }
            scalar.fit(value, *modifier, false)?
        }
        Type::Record(_) => rows::read(reader, ty, settings)?,
        Type::User(_) if ty.is_row() => rows::read(reader, ty, settings)?,
        Type::User(user) if user.subtype().is_some() => ranges::read(reader, ty, settings)?,
        Type::User(user) => match user.stored_as() {
            Some(stored) => return read(reader.rest(), stored, settings),
            None => values::input(&report::text(reader.rest(), settings.client_encoding)?, ty, settings)?,
        },
        Type::Array(element) => array::read(reader, element, settings)?,
        // Their binary form is their text.
        Type::Text
        | Type::Varchar(_)
        | Type::Char(_)
        | Type::Lvarchar(_)
        | Type::Nchar(_)
        | Type::Nvarchar(_)
        | Type::Name
        | Type::TextBlob
        | Type::Clob
        | Type::Json
        | Type::Unknown
        | Type::Void => values::input(&report::text(reader.rest(), settings.client_encoding)?, ty, settings)?,
        Type::Composite(_) | Type::Datetime(_) | Type::QualifiedInterval(_) => {
            return Err(Error::unsupported(format!("the binary format of type {}", values::type_name(ty))));
        }
    };
    reader.finish("bytes after the value").map_err(malformed)?;
    Ok(value)
}

pub(super) fn malformed(error: Malformed) -> Error {
    Error::new(Condition::InvalidBinaryRepresentation, format!("Cannot read: {}.", error.what))
}

fn time_of_day(reader: &mut Reader<'_>) -> Result<i64> {
    let micros = reader.i64("time").map_err(malformed)?;
    if (0..=datetime_text::DAY).contains(&micros) {
        Ok(micros)
    } else {
        Err(Error::new(Condition::DatetimeFieldOverflow, "time out of range"))
    }
}

/// Microseconds since 1970-01-01.
fn instant(reader: &mut Reader<'_>) -> Result<i64> {
    match reader.i64("timestamp").map_err(malformed)? {
        infinite @ (i64::MAX | i64::MIN) => Ok(infinite),
        micros => micros
            .checked_add(MICROS_TO_2000)
            .ok_or_else(|| Error::new(Condition::DatetimeFieldOverflow, "timestamp out of range")),
    }
}
