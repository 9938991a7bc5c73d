use rowferry_wire::{Malformed, Reader, Writer};

use super::{Base100, DateTime, Interval, Misfit, decode_int8, encode_int8};
use crate::messages::{RequestedType, SimpleLob, TypeDescription};
use crate::types::decimal_width;
use crate::{DecodeError, MAX_PAYLOAD, Qualifier, TypeCode, Widths};

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// NULL.
    Null,
    /// `SMALLINT`, `INTEGER`, `BIGINT`, `INT8` and the serial types.
    Int(i64),
    /// `FLOAT`.
    Float(f64),
    /// `SMALLFLOAT`.
    SmallFloat(f32),
    /// `DECIMAL`, `MONEY`.
    Decimal(Base100),
    /// `DATE`: days since 1899-12-31.
    Date(i32),
    /// `DATETIME`.
    DateTime(DateTime),
    /// `INTERVAL`.
    Interval(Interval),
    /// `BOOLEAN`.
    Boolean(bool),
    /// Text in the code set of the client; `CHAR` with its blanks.
    Text(&'a [u8]),
    /// Opaque bytes: locators, BSON, internal forms.
    Opaque(&'a [u8]),
    /// The descriptor of a `BYTE` or `TEXT` value.
    SimpleLob(SimpleLob<'a>),
}

/// How the cells of one column are laid out; decided once per result set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CellFormat {
    /// `SMALLINT`.
    SmallInt,
    /// `INTEGER`, `SERIAL`.
    Integer,
    /// `BIGINT`, `BIGSERIAL`.
    BigInt,
    /// `INT8`, `SERIAL8`.
    Int8,
    /// `FLOAT`.
    Float,
    /// `SMALLFLOAT`.
    SmallFloat,
    /// `DECIMAL`, `MONEY`: precision, and scale unless it floats.
    Decimal {
        /// Digits.
        precision: u8,
        /// Digits after the point.
        scale: Option<u8>,
    },
    /// `DATE`.
    Date,
    /// `DATETIME`.
    DateTime(Qualifier),
    /// `INTERVAL`.
    Interval(Qualifier),
    /// `CHAR`, `NCHAR`: so many bytes, blank padded.
    Char(usize),
    /// `VARCHAR`, `NVARCHAR`: a length byte. At most so many bytes.
    VarChar(u8),
    /// `BOOLEAN` in the envelope, as `t` or `f`.
    BooleanText,
    /// `BOOLEAN` in the envelope, as 01 or 00: what a client gets that asked for it.
    BooleanBinary,
    /// Text in the envelope: `LVARCHAR`, rows and collections, external forms.
    LongText,
    /// Bytes in the envelope: internal forms.
    Opaque,
    /// A locator of a smart large object in the envelope, in hexadecimal.
    LocatorHex,
    /// A locator of a smart large object in the envelope, as it is.
    LocatorRaw,
    /// The descriptor of a `BYTE` or `TEXT` value, of so many bytes.
    SimpleLob(usize),
    /// A row or collection with its description behind an `i32` length: see [`Described`](super::composite::Described).
    Described,
}

/// Bytes of a smart large object's locator.
const LOCATOR: usize = 72;

impl CellFormat {
    /// The format of a described column for a client that asked for nothing else.
    pub fn described(ty: &TypeDescription<'_>, widths: Widths) -> Result<Self, DecodeError> {
        let length = ty.encoded_length;
        let word = || u16::try_from(length).map_err(|_| Malformed::new("encoded length of a column"));
        let code = ty.code();
        Ok(match code {
            TypeCode::CHAR | TypeCode::NCHAR => match usize::try_from(length) {
                Ok(width @ 1..=32_767) => Self::Char(width),
                _ => return Err(Malformed::new("width of a CHAR").into()),
            },
            TypeCode::VARCHAR | TypeCode::NVARCHAR => Self::VarChar(length as u8),
            TypeCode::SMALLINT => Self::SmallInt,
            TypeCode::INTEGER | TypeCode::SERIAL => Self::Integer,
            TypeCode::BIGINT | TypeCode::BIGSERIAL => Self::BigInt,
            TypeCode::INT8 | TypeCode::SERIAL8 => Self::Int8,
            TypeCode::FLOAT => Self::Float,
            TypeCode::SMALLFLOAT => Self::SmallFloat,
            TypeCode::DATE => Self::Date,
            TypeCode::DECIMAL | TypeCode::MONEY => {
                let [precision, scale] = word()?.to_be_bytes();
                if !(1..=32).contains(&precision) || (scale != 255 && scale > precision) {
                    return Err(Malformed::new("precision of a DECIMAL").into());
                }
                Self::Decimal { precision, scale: (scale != 255).then_some(scale) }
            }
            TypeCode::DATETIME | TypeCode::INTERVAL => {
                let qualifier = Qualifier(word()?);
                if !qualifier.is_valid() {
                    return Err(Malformed::new("qualifier of a column").into());
                }
                if code == TypeCode::DATETIME { Self::DateTime(qualifier) } else { Self::Interval(qualifier) }
            }
            TypeCode::BYTE | TypeCode::TEXT => Self::SimpleLob(widths.simple_lob_descriptor()),
            TypeCode::UDTFIXED => match ty.type_name {
                b"boolean" => Self::BooleanText,
                b"blob" | b"clob" => Self::LocatorHex,
                _ => Self::LongText,
            },
            TypeCode::UDTVAR if ty.type_name == b"bson" => Self::Opaque,
            TypeCode::UDTVAR
            | TypeCode::LVARCHAR
            | TypeCode::SET
            | TypeCode::MULTISET
            | TypeCode::LIST
            | TypeCode::ROW
            | TypeCode::COLLECTION => Self::LongText,
            TypeCode::SENDRECV => Self::Opaque,
            TypeCode::BOOLEAN => Self::BooleanBinary,
            _ => return Err(DecodeError::Unsupported("a column of this type")),
        })
    }

    /// The format of a column that the client asked for in `SQ_RET_TYPE`.
    pub fn requested(ty: &RequestedType<'_>, widths: Widths) -> Result<Self, DecodeError> {
        match (ty.code, ty.name) {
            (TypeCode::SENDRECV, b"blob" | b"clob") => Ok(Self::LocatorRaw),
            (TypeCode::SENDRECV, b"json") => Ok(Self::LongText),
            _ => Self::described(
                &TypeDescription {
                    type_word: u16::from(ty.code.0),
                    owner: ty.owner,
                    type_name: ty.name,
                    encoded_length: ty.encoded_length,
                    ..TypeDescription::default()
                },
                widths,
            ),
        }
    }

    /// Bytes that a cell takes when all have the same number; `None` when it depends on the value.
    pub const fn fixed_width(self) -> Option<usize> {
        Some(match self {
            Self::SmallInt => 2,
            Self::Integer | Self::SmallFloat | Self::Date => 4,
            Self::BigInt | Self::Float => 8,
            Self::Int8 => 10,
            Self::Decimal { precision, scale } => {
                let scale = match scale {
                    Some(scale) => scale,
                    None => 255,
                };
                decimal_width(((precision as u16) << 8) | scale as u16)
            }
            Self::DateTime(qualifier) | Self::Interval(qualifier) => qualifier.width(),
            Self::Char(width) | Self::SimpleLob(width) => width,
            _ => return None,
        })
    }

    /// Reads the next cell of a row.
    #[inline]
    pub fn decode<'a>(self, row: &mut Reader<'a>) -> Result<Cell<'a>, Malformed> {
        const WHAT: &str = "row shorter than its columns";
        Ok(match self {
            Self::SmallInt => match row.i16(WHAT)? {
                i16::MIN => Cell::Null,
                value => Cell::Int(i64::from(value)),
            },
            Self::Integer => match row.i32(WHAT)? {
                i32::MIN => Cell::Null,
                value => Cell::Int(i64::from(value)),
            },
            Self::BigInt => match row.i64(WHAT)? {
                i64::MIN => Cell::Null,
                value => Cell::Int(value),
            },
            Self::Int8 => decode_int8(row.array(WHAT)?)?.map_or(Cell::Null, Cell::Int),
            Self::Float => match row.u64(WHAT)? {
                u64::MAX => Cell::Null,
                bits => Cell::Float(f64::from_bits(bits)),
            },
            Self::SmallFloat => match row.u32(WHAT)? {
                u32::MAX => Cell::Null,
                bits => Cell::SmallFloat(f32::from_bits(bits)),
            },
            Self::Decimal { precision, scale } => {
                let encoded = (u16::from(precision) << 8) | u16::from(scale.unwrap_or(255));
                Base100::decode(row.take(decimal_width(encoded), WHAT)?)?.map_or(Cell::Null, Cell::Decimal)
            }
            Self::Date => match row.i32(WHAT)? {
                i32::MIN => Cell::Null,
                days => Cell::Date(days),
            },
            Self::DateTime(qualifier) => {
                DateTime::decode(row.take(qualifier.width(), WHAT)?, qualifier)?.map_or(Cell::Null, Cell::DateTime)
            }
            Self::Interval(qualifier) => {
                Interval::decode(row.take(qualifier.width(), WHAT)?, qualifier)?.map_or(Cell::Null, Cell::Interval)
            }
            Self::Char(width) => match row.take(width, WHAT)? {
                [0, ..] => Cell::Null,
                text => Cell::Text(text),
            },
            Self::VarChar(_) => {
                let len = usize::from(row.u8(WHAT)?);
                match row.take(len, WHAT)? {
                    [0] => Cell::Null,
                    text => Cell::Text(text),
                }
            }
            Self::SimpleLob(width) => match SimpleLob(row.take(width, WHAT)?) {
                lob if lob.is_null() => Cell::Null,
                lob => Cell::SimpleLob(lob),
            },
            Self::BooleanText => match Self::open_envelope(row)? {
                None => Cell::Null,
                Some(b"t") => Cell::Boolean(true),
                Some(b"f") => Cell::Boolean(false),
                Some(_) => return Err(Malformed::new("BOOLEAN")),
            },
            Self::BooleanBinary => match Self::open_envelope(row)? {
                None => Cell::Null,
                Some([flag @ 0..=1]) => Cell::Boolean(*flag == 1),
                Some(_) => return Err(Malformed::new("BOOLEAN")),
            },
            Self::LongText | Self::LocatorHex => Self::open_envelope(row)?.map_or(Cell::Null, Cell::Text),
            Self::Opaque | Self::LocatorRaw => Self::open_envelope(row)?.map_or(Cell::Null, Cell::Opaque),
            Self::Described => {
                let len = usize::try_from(row.i32(WHAT)?).map_err(|_| Malformed::new(WHAT))?;
                Cell::Opaque(row.take(len, WHAT)?)
            }
        })
    }

    /// A null flag, a length that is present even when NULL, bytes.
    #[inline]
    fn open_envelope<'a>(row: &mut Reader<'a>) -> Result<Option<&'a [u8]>, Malformed> {
        const WHAT: &str = "envelope of a value";
        let flag = row.u8(WHAT)?;
        let len = usize::try_from(row.i32(WHAT)?).map_err(|_| Malformed::new(WHAT))?;
        let bytes = row.take(len, WHAT)?;
        match flag {
            0 => Ok(Some(bytes)),
            1 if len == 0 => Ok(None),
            _ => Err(Malformed::new(WHAT)),
        }
    }

    /// Appends a cell. On error `out` is as before.
    pub fn encode(self, cell: &Cell<'_>, out: &mut Vec<u8>) -> Result<(), Misfit> {
        let before = out.len();
        self.put(cell, out).inspect_err(|_| out.truncate(before))
    }

    fn put(self, cell: &Cell<'_>, out: &mut Vec<u8>) -> Result<(), Misfit> {
        let mut w = Writer::new(out);
        match (self, cell) {
            // NULL has a description, too.
            (Self::Described, Cell::Null) => return Err(Misfit::Kind),
            (_, Cell::Null) => self.put_null(out),
            (Self::SmallInt, &Cell::Int(value)) => match i16::try_from(value) {
                Ok(value) if value != i16::MIN => drop(w.i16(value)),
                _ => return Err(Misfit::Range),
            },
            (Self::Integer, &Cell::Int(value)) => match i32::try_from(value) {
                Ok(value) if value != i32::MIN => drop(w.i32(value)),
                _ => return Err(Misfit::Range),
            },
            (Self::BigInt | Self::Int8, &Cell::Int(i64::MIN)) => return Err(Misfit::Range),
            (Self::BigInt, &Cell::Int(value)) => drop(w.i64(value)),
            (Self::Int8, &Cell::Int(value)) => drop(w.raw(&encode_int8(Some(value)))),
            (Self::Float, &Cell::Float(value)) => match value.to_bits() {
                u64::MAX => return Err(Misfit::Range),
                bits => drop(w.u64(bits)),
            },
            (Self::SmallFloat, &Cell::SmallFloat(value)) => match value.to_bits() {
                u32::MAX => return Err(Misfit::Range),
                bits => drop(w.u32(bits)),
            },
            (Self::Decimal { precision, scale }, Cell::Decimal(value)) => {
                let encoded = (u16::from(precision) << 8) | u16::from(scale.unwrap_or(255));
                value.encode(decimal_width(encoded), out)?;
            }
            (Self::Date, &Cell::Date(days)) if days != i32::MIN => drop(w.i32(days)),
            (Self::DateTime(qualifier), Cell::DateTime(value)) => value.encode(qualifier, out)?,
            (Self::Interval(qualifier), Cell::Interval(value)) => value.encode(qualifier, out)?,
            (Self::Char(width), Cell::Text(text)) => {
                if text.len() > width {
                    return Err(Misfit::TooLong);
                }
                if text.first() == Some(&0) {
                    return Err(Misfit::Range);
                }
                let end = out.len() + width;
                out.extend_from_slice(text);
                out.resize(end, b' ');
            }
            (Self::VarChar(most), Cell::Text(text)) => match u8::try_from(text.len()) {
                Ok(len) if len <= most => {
                    if *text == [0] {
                        return Err(Misfit::Range);
                    }
                    w.u8(len).raw(text);
                }
                _ => return Err(Misfit::TooLong),
            },
            (Self::BooleanText, Cell::Boolean(flag)) => Self::put_envelope(if *flag { b"t" } else { b"f" }, out)?,
            (Self::BooleanBinary, Cell::Boolean(flag)) => Self::put_envelope(&[u8::from(*flag)], out)?,
            (Self::LongText, Cell::Text(bytes)) | (Self::Opaque, Cell::Opaque(bytes)) => {
                Self::put_envelope(bytes, out)?;
            }
            (Self::Described, Cell::Opaque(bytes)) => match i32::try_from(bytes.len()) {
                Ok(len) if bytes.len() <= MAX_PAYLOAD => drop(w.i32(len).raw(bytes)),
                _ => return Err(Misfit::TooLong),
            },
            (Self::LocatorHex, Cell::Text(hex)) if hex.len() == LOCATOR * 2 => Self::put_envelope(hex, out)?,
            (Self::LocatorRaw, Cell::Opaque(raw)) if raw.len() == LOCATOR => Self::put_envelope(raw, out)?,
            (Self::SimpleLob(width), Cell::SimpleLob(lob)) if lob.0.len() == width => drop(w.raw(lob.0)),
            _ => return Err(Misfit::Kind),
        }
        Ok(())
    }

    fn put_envelope(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit> {
        if bytes.len() > MAX_PAYLOAD {
            return Err(Misfit::TooLong);
        }
        Writer::new(out).u8(0).i32(bytes.len() as i32).raw(bytes);
        Ok(())
    }

    fn put_null(self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out);
        match self {
            Self::SmallInt => drop(w.i16(i16::MIN)),
            Self::Integer | Self::Date => drop(w.i32(i32::MIN)),
            Self::BigInt => drop(w.i64(i64::MIN)),
            Self::Float => drop(w.u64(u64::MAX)),
            Self::SmallFloat => drop(w.u32(u32::MAX)),
            Self::Int8 | Self::Decimal { .. } | Self::DateTime(_) | Self::Interval(_) => {
                let end = out.len() + self.fixed_width().unwrap_or(0);
                out.resize(end, 0);
            }
            Self::Char(width) => {
                let end = out.len() + width;
                out.push(0);
                out.resize(end, b' ');
            }
            Self::VarChar(_) => drop(w.u8(1).u8(0)),
            Self::SimpleLob(width) => {
                let start = out.len();
                out.resize(start + width, 0);
                out[start + 39] = 1;
            }
            _ => drop(w.u8(1).i32(0)),
        }
    }

    /// The declared width of a described column: what the next column's start position counts.
    pub fn declared_width(self, ty: &TypeDescription<'_>) -> i32 {
        match self {
            Self::VarChar(most) => i32::from(most) + 1,
            Self::Char(_) | Self::LongText | Self::Opaque | Self::LocatorHex | Self::LocatorRaw => ty.encoded_length,
            Self::BooleanText | Self::BooleanBinary => 1,
            _ => self.fixed_width().map_or(0, |width| width as i32),
        }
    }
}

/// Decodes a whole row, which must be consumed exactly.
pub fn decode_row<'a>(formats: &[CellFormat], payload: &'a [u8]) -> Result<Vec<Cell<'a>>, Malformed> {
    let mut row = Reader::new(payload);
    let cells = formats.iter().map(|format| format.decode(&mut row)).collect::<Result<_, _>>()?;
    row.finish("row longer than its columns")?;
    Ok(cells)
}

/// Appends a whole row. On error `out` is as before, and the index of the column is told.
pub fn encode_row(formats: &[CellFormat], cells: &[Cell<'_>], out: &mut Vec<u8>) -> Result<(), (usize, Misfit)> {
    let before = out.len();
    for (index, (format, cell)) in formats.iter().zip(cells).enumerate() {
        if let Err(misfit) = format.encode(cell, out) {
            out.truncate(before);
            return Err((index, misfit));
        }
    }
    Ok(())
}
