//! Stored values to PostgreSQL's binary formats, as its `send` functions write them.

use rowferry_dialect::ir::Value;
use rowferry_dialect::types::Storage;
use rowferry_dialect::values::{self, Decimal, Interval, Settings, ValueRef, datetime_text};
use rowferry_engine::{Error, Result, Type};
use rowferry_wire::civil::DAYS_TO_2000;
use rowferry_wire_pg::Format;

use super::{Write, array, canonical, ranges, rows};

/// Microseconds from 1970-01-01 to the day that PostgreSQL counts from.
pub(super) const MICROS_TO_2000: i64 = DAYS_TO_2000 * 86_400_000_000;

/// The version byte in front of a binary `jsonb`.
pub(super) const JSONB_VERSION: u8 = 1;

/// The writer for a type.
pub(super) fn writer(ty: &Type) -> Result<Write> {
    Ok(match ty {
        Type::Bool => bool_,
        Type::Int2 => int2,
        Type::Int4 => int4,
        Type::Int8 | Type::IfxInt8 => int8,
        Type::Oid | Type::Reg(_) => oid,
        Type::Float4 => float4,
        Type::Float8 => float8,
        Type::Numeric(_) | Type::Money(_) | Type::FloatingDecimal(_) => numeric,
        Type::Bytea | Type::Byte | Type::Blob => bytea,
        Type::Date => date,
        Type::Time(_) => time,
        Type::TimeTz(_) => timetz,
        Type::Timestamp(_) | Type::TimestampTz(_) => timestamp,
        Type::Interval(_) => interval,
        Type::Uuid => uuid,
        Type::InternalChar => single_byte,
        Type::Jsonb | Type::Jsonpath => jsonb,
        Type::Scalar(..) => scalar,
        Type::Array(_) => array::write,
        Type::User(user) if user.domain().is_some() => writer(ty.through_domains())?,
        Type::Record(_) => rows::write,
        Type::User(_) if ty.is_row() => rows::write,
        Type::User(user) if user.subtype().is_some() => ranges::write,
        // Their binary form is their text. An Informix DATETIME or INTERVAL reaches the wire as its relative in
        // PostgreSQL, which the front end has put in its place.
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
        | Type::User(_)
        | Type::Void => text_of,
        Type::Composite(_) | Type::Datetime(_) | Type::QualifiedInterval(_) => {
            return Err(Error::unsupported(format!("the binary format of type {}", values::type_name(ty))));
        }
    })
}

/// A built-in type that sends itself.
fn scalar(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    let Type::Scalar(scalar, _) = ty else { return Err(values::misfit(value, ty)) };
    match (value, scalar.storage) {
        // The types that hold texts among other things send those as they are.
        (ValueRef::Text(bytes), Storage::Text) if settings.client_encoding.is_some() && !bytes.is_ascii() => {
            let name = values::type_name(ty);
            Err(Error::unsupported(format!("the binary format of type {name} in a client_encoding other than UTF8")))
        }
        (ValueRef::Text(_), Storage::Text) | (ValueRef::Integer(_), Storage::Integer) => (scalar.send)(out, value),
        _ => (scalar.send)(out, canonical(value, ty, settings)?.as_ref()),
    }
}

/// A `"char"`.
fn single_byte(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    let mut text = Vec::new();
    values::write(&mut text, value, ty, settings)?;
    out.push(values::text::byte_of(&text));
    Ok(())
}

/// An integer, whatever the storage class; the error when the stored value is none.
fn integer(value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<i64> {
    if let ValueRef::Integer(value) = value {
        return Ok(value);
    }
    match canonical(value, ty, settings)? {
        Value::Integer(value) => Ok(value),
        _ => Err(values::misfit(value, ty)),
    }
}

fn real(value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<f64> {
    match value {
        ValueRef::Real(value) => Ok(value),
        ValueRef::Integer(value) => Ok(value as f64),
        ValueRef::Text(b"NaN") => Ok(f64::NAN),
        other => match canonical(other, ty, settings)? {
            Value::Real(value) => Ok(value),
            Value::Text(text) if text == "NaN" => Ok(f64::NAN),
            _ => Err(values::misfit(other, ty)),
        },
    }
}

/// Runs `write` on the text of a value that is stored as text.
fn text(value: ValueRef<'_>, ty: &Type, settings: &Settings, write: impl FnOnce(&[u8]) -> Result<()>) -> Result<()> {
    if let ValueRef::Text(bytes) = value {
        return write(bytes);
    }
    match canonical(value, ty, settings)? {
        Value::Text(text) => write(text.as_bytes()),
        _ => Err(values::misfit(value, ty)),
    }
}

fn bool_(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    out.push(u8::from(integer(value, ty, settings)? != 0));
    Ok(())
}

macro_rules! integers {
    ($($name:ident $ty:ty;)*) => {$(
        fn $name(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
            let number = integer(value, ty, settings)?;
            let narrow = <$ty>::try_from(number).map_err(|_| values::misfit(value, ty))?;
            out.extend_from_slice(&narrow.to_be_bytes());
            Ok(())
        }
    )*};
}

integers! {
    int2 i16;
    int4 i32;
    int8 i64;
    oid u32;
}

fn float4(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    out.extend_from_slice(&(real(value, ty, settings)? as f32).to_be_bytes());
    Ok(())
}

fn float8(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    out.extend_from_slice(&real(value, ty, settings)?.to_be_bytes());
    Ok(())
}

fn numeric(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, _settings: &Settings) -> Result<()> {
    if let Some(native) = values::decimal::native::Native::of(value, values::decimal::scale_of(ty)) {
        native.send(out);
        return Ok(());
    }
    // Through its text form, which pads to the column's scale.
    let mut text = Vec::with_capacity(24);
    values::decimal::write(&mut text, value, ty)?;
    let text = std::str::from_utf8(&text).map_err(|_| values::misfit(value, ty))?;
    values::decimal::binary::send(out, &Decimal::parse(text)?);
    Ok(())
}

fn bytea(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    match value {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => out.extend_from_slice(bytes),
        other => match canonical(other, ty, settings)? {
            Value::Blob(bytes) => out.extend_from_slice(&bytes),
            _ => return Err(values::misfit(other, ty)),
        },
    }
    Ok(())
}

fn date(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    text(value, ty, settings, |stored| {
        let days = match values::date::days(stored)? {
            datetime_text::INFINITY => i32::MAX,
            datetime_text::NEGATIVE_INFINITY => i32::MIN,
            days => i32::try_from(days - DAYS_TO_2000).map_err(|_| values::misfit(value, ty))?,
        };
        out.extend_from_slice(&days.to_be_bytes());
        Ok(())
    })
}

fn time(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    text(value, ty, settings, |stored| {
        out.extend_from_slice(&values::time::micros(stored)?.to_be_bytes());
        Ok(())
    })
}

fn timetz(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    text(value, ty, settings, |stored| {
        let time = values::time::TimeTz::from_stored(stored)?;
        out.extend_from_slice(&time.micros.to_be_bytes());
        // PostgreSQL counts offsets westwards.
        out.extend_from_slice(&(-time.offset).to_be_bytes());
        Ok(())
    })
}

fn timestamp(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    text(value, ty, settings, |stored| {
        let micros = match values::timestamp::micros(stored)? {
            infinite @ (datetime_text::INFINITY | datetime_text::NEGATIVE_INFINITY) => infinite,
            micros => micros - MICROS_TO_2000,
        };
        out.extend_from_slice(&micros.to_be_bytes());
        Ok(())
    })
}

fn interval(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    text(value, ty, settings, |stored| {
        let stored = std::str::from_utf8(stored).map_err(|_| values::misfit(value, ty))?;
        let interval = Interval::parse(stored).map_err(|_| values::misfit(value, ty))?;
        out.extend_from_slice(&interval.micros.to_be_bytes());
        out.extend_from_slice(&interval.days.to_be_bytes());
        out.extend_from_slice(&interval.months.to_be_bytes());
        Ok(())
    })
}

fn uuid(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    text(value, ty, settings, |stored| {
        let stored = std::str::from_utf8(stored).map_err(|_| values::misfit(value, ty))?;
        let bytes = values::uuid::bytes(stored).map_err(|_| values::misfit(value, ty))?;
        out.extend_from_slice(&bytes);
        Ok(())
    })
}

fn jsonb(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    out.push(JSONB_VERSION);
    text_of(out, value, ty, settings)
}

/// The text of a value, in the client's encoding.
fn text_of(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    super::write_for_client(values::write, Format::TEXT, out, value, ty, settings)
}
