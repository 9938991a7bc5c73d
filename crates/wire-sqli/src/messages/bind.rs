//! Parameters: `SQ_BIND` and the values that `SQ_FPROUTINE` returns.

use rowferry_wire::{Malformed, Writer};

use super::statement::len32;
use crate::put::Put;
use crate::scan::{Scan, Stop, malformed};
use crate::tag::Tag;
use crate::values::{decode_int8, encode_int8};
use crate::{DecodeError, MAX_PAYLOAD, TooLong, TypeCode, Widths};

/// The bytes of a parameter, sorted by how their extent is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamValue<'a> {
    /// Indicator -1: no value follows.
    Null,
    /// Indicator -2: the server's default, and no value follows. Reported, not seen on any wire.
    Default,
    /// `SMALLINT`.
    SmallInt(i16),
    /// `INTEGER`, `SERIAL`.
    Integer(i32),
    /// `BIGINT`, `BIGSERIAL`.
    BigInt(i64),
    /// `INT8`, `SERIAL8`.
    Int8(i64),
    /// `FLOAT`.
    Float(f64),
    /// `SMALLFLOAT`.
    SmallFloat(f32),
    /// `DATE`: days since 1899-12-31.
    Date(i32),
    /// `CHAR` and the other character types: text in the code set of the client.
    Text(&'a [u8]),
    /// `DECIMAL`, `MONEY`, `DATETIME`, `INTERVAL`: base-100 bytes without trailing zeros.
    Base100(&'a [u8]),
    /// `BYTE`, `TEXT`: the descriptor; the data follows in `SQ_BBIND`.
    SimpleLob(&'a [u8]),
    /// `LVARCHAR`, `BOOLEAN` (one byte, 01 or 00), locators and other opaque values.
    Opaque(&'a [u8]),
}

/// One parameter of `SQ_BIND`, or one value that a routine returned.
///
/// Wire: `i16` type, owner and name for [named](TypeCode::is_named) types, `i16` indicator, `u16` precision, value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param<'a> {
    /// How the value is encoded.
    pub code: TypeCode,
    /// Owner of a named type.
    pub owner: &'a [u8],
    /// Name of a named type.
    pub name: &'a [u8],
    /// Digits, scale or qualifier, by the client's habit; only a qualifier matters.
    pub precision: u16,
    /// The value.
    pub value: ParamValue<'a>,
}

impl<'a> Param<'a> {
    /// A parameter of a built-in type.
    pub const fn new(code: TypeCode, precision: u16, value: ParamValue<'a>) -> Self {
        Self { code, owner: b"", name: b"", precision, value }
    }

    /// NULL of no particular type, as informix-driver sends it.
    pub const NULL: Self = Self::new(TypeCode::CHAR, 0, ParamValue::Null);

    fn decode(scan: &mut Scan<'a>, widths: Widths, named: fn(TypeCode) -> bool) -> Result<Self, Stop> {
        // Some clients leave flags such as NOT NULL in the high byte.
        let code = TypeCode(scan.u16()? as u8);
        let (owner, name) = if named(code) { (scan.char()?, scan.char()?) } else { (&b""[..], &b""[..]) };
        let indicator = scan.i16()?;
        let precision = scan.u16()?;
        let value = match indicator {
            -1 => ParamValue::Null,
            -2 => ParamValue::Default,
            0 => Self::decode_value(scan, code, widths)?,
            _ => return malformed("indicator of a parameter"),
        };
        Ok(Self { code, owner, name, precision, value })
    }

    fn decode_value(scan: &mut Scan<'a>, code: TypeCode, widths: Widths) -> Result<ParamValue<'a>, Stop> {
        Ok(match code {
            TypeCode::CHAR | TypeCode::VARCHAR | TypeCode::NCHAR | TypeCode::NVARCHAR => ParamValue::Text(scan.char()?),
            TypeCode::SMALLINT => ParamValue::SmallInt(scan.i16()?),
            TypeCode::INTEGER | TypeCode::SERIAL => ParamValue::Integer(scan.i32()?),
            TypeCode::BIGINT | TypeCode::BIGSERIAL => ParamValue::BigInt(scan.i64()?),
            TypeCode::INT8 | TypeCode::SERIAL8 => match decode_int8(scan.array()?)? {
                Some(value) => ParamValue::Int8(value),
                None => return Err(Malformed::new("INT8 parameter without a sign").into()),
            },
            TypeCode::FLOAT => ParamValue::Float(scan.f64()?),
            TypeCode::SMALLFLOAT => ParamValue::SmallFloat(scan.f32()?),
            TypeCode::DATE => ParamValue::Date(scan.i32()?),
            TypeCode::DECIMAL | TypeCode::MONEY | TypeCode::DATETIME | TypeCode::INTERVAL => {
                ParamValue::Base100(scan.char()?)
            }
            TypeCode::BYTE | TypeCode::TEXT => ParamValue::SimpleLob(scan.take(widths.simple_lob_descriptor())?),
            code if code.is_named() => {
                let len = scan.len32(MAX_PAYLOAD, "length of an opaque parameter")?;
                ParamValue::Opaque(scan.take_padded(len)?)
            }
            _ => return Err(DecodeError::Unsupported("a parameter of this type").into()),
        })
    }

    /// Appends the block of a parameter.
    pub(crate) fn put(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        self.encode(w, TypeCode::is_named)
    }

    fn encode(&self, w: &mut Writer<'_>, named: fn(TypeCode) -> bool) -> Result<(), TooLong> {
        w.u16(u16::from(self.code.0));
        if named(self.code) {
            w.char(self.owner, "owner of a type")?.char(self.name, "name of a type")?;
        }
        w.i16(match self.value {
            ParamValue::Null => -1,
            ParamValue::Default => -2,
            _ => 0,
        });
        w.u16(self.precision);
        match self.value {
            ParamValue::Null | ParamValue::Default => {}
            ParamValue::SmallInt(value) => {
                w.i16(value);
            }
            ParamValue::Integer(value) | ParamValue::Date(value) => {
                w.i32(value);
            }
            ParamValue::BigInt(value) => {
                w.i64(value);
            }
            ParamValue::Int8(value) => {
                w.raw(&encode_int8(Some(value)));
            }
            ParamValue::Float(value) => {
                w.f64(value);
            }
            ParamValue::SmallFloat(value) => {
                w.f32(value);
            }
            ParamValue::Text(bytes) => {
                w.char(bytes, "character parameter")?;
            }
            ParamValue::Base100(bytes) => {
                w.char(bytes, "number")?;
            }
            ParamValue::SimpleLob(descriptor) => {
                w.raw(descriptor);
            }
            ParamValue::Opaque(bytes) => {
                w.i32(len32(bytes, "parameter")?).padded(bytes);
            }
        }
        Ok(())
    }
}

/// Decodes the parameters of `SQ_BIND` (5).
pub(super) fn decode_bind<'a>(scan: &mut Scan<'a>, widths: Widths) -> Result<Vec<Param<'a>>, Stop> {
    let count = scan.count("number of parameters")?;
    scan.items(count, 6, |scan| Param::decode(scan, widths, TypeCode::is_named))
}

/// Encodes `SQ_BIND` (5).
pub(super) fn encode_bind(params: &[Param<'_>], w: &mut Writer<'_>) -> Result<(), TooLong> {
    w.u16(Tag::BIND.0).count(params.len(), "number of parameters")?;
    params.iter().try_for_each(|param| param.encode(w, TypeCode::is_named))
}

/// Returned values carry owner and name from type 18 on, parameters from 19 on.
fn is_named_result(code: TypeCode) -> bool {
    code.is_named() || code == TypeCode::SERIAL8
}

/// Decodes the values of `SQ_FPROUTINE` (103): out parameters in their order, then the result.
pub(super) fn decode_results<'a>(scan: &mut Scan<'a>, widths: Widths) -> Result<Vec<Param<'a>>, Stop> {
    let count = scan.count("number of results")?;
    scan.items(count, 6, |scan| Param::decode(scan, widths, is_named_result))
}

/// Encodes `SQ_FPROUTINE` (103).
pub(super) fn encode_results(values: &[Param<'_>], w: &mut Writer<'_>) -> Result<(), TooLong> {
    w.u16(Tag::FPROUTINE.0).count(values.len(), "number of results")?;
    values.iter().try_for_each(|value| value.encode(w, is_named_result))
}
