//! Values: SQLite's stored form ⇄ the wire's cells and parameters.

use std::borrow::Cow;

use rowferry_dialect::informix::codes::{datetime_qualifier, interval_qualifier, type_code};
use rowferry_dialect::informix::types::LVARCHAR_MAX;
use rowferry_dialect::informix::values::{
    DateFormat, convert, convert_dated, date_from_days, date_to_days, parse_date, within_bytes,
};
use rowferry_dialect::informix::{codes, import};
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::{Settings, float, text};
use rowferry_engine::{Condition, Error, Result, ResultColumn, Session, Type, ValueRef};
use rowferry_wire_sqli::messages::{Param, ParamValue, SimpleLob, TypeDescription};
use rowferry_wire_sqli::types::type_flag;
use rowferry_wire_sqli::values::{Base100, Cell, CellFormat, DateTime, Interval};
use rowferry_wire_sqli::{Qualifier, TypeCode, Widths};

use super::bson;
use super::composites;
use super::objects::Objects;
use super::text::CodeSet;

/// A column as the client is told.
#[derive(Clone, Debug)]
pub(super) struct WireColumn {
    /// Its name, in the client's code set.
    pub name: Vec<u8>,
    /// The type in the stored form's terms.
    pub ty: Type,
    /// Informix's type for it.
    pub shown: Type,
    code: codes::TypeCode,
    not_null: bool,
    /// The column of the statement's result, to find in the file what cannot be sent.
    source: ResultColumn,
    /// The layout of its cells, unless the client asks for another.
    pub format: CellFormat,
}

impl WireColumn {
    /// Describes a result column.
    pub fn new(column: &ResultColumn, code_set: CodeSet, widths: Widths) -> Result<Self> {
        let mut code = wire_code(&column.ty, column.identity);
        if matches!(code.code, 11 | 12) {
            // IBM's driver takes as many bytes of a row as the column is described with.
            code.length = widths.simple_lob_descriptor() as i32;
        }
        let name = code_set.encode(column.name.as_bytes())?.into_owned();
        let mut described = Self {
            name,
            ty: column.ty.without_distinct().clone(),
            shown: import(&column.ty),
            code,
            not_null: column.not_null,
            source: column.clone(),
            format: CellFormat::LongText,
        };
        described.format = CellFormat::described(&described.description(), widths)
            .map_err(|error| Error::internal(format!("column {}: {error}", column.name)))?;
        Ok(described)
    }

    /// The type as it travels.
    pub fn description(&self) -> TypeDescription<'_> {
        description(&self.code, self.not_null)
    }

    /// The column's place in a row of declared widths.
    pub fn declared_width(&self) -> i32 {
        self.format.declared_width(&self.description())
    }
}

/// A type's code as it travels. A DISTINCT type of an opaque one, or of a row, keeps that one's name, by which clients
/// know how to read its values.
pub(super) fn wire_code(ty: &Type, identity: bool) -> codes::TypeCode {
    let code = type_code(ty, identity);
    if code.flags == 0 || code.code <= 18 || matches!(code.code, 52 | 53) {
        return code;
    }
    codes::TypeCode { flags: code.flags, ..type_code(ty.without_distinct(), identity) }
}

/// A type as it travels.
pub(super) fn description(code: &codes::TypeCode, not_null: bool) -> TypeDescription<'_> {
    TypeDescription {
        type_word: u16::from(code.code) | code.flags | if not_null { type_flag::NOT_NULL } else { 0 },
        extended_id: code.extended_id,
        owner: if matches!(code.extended_id, 1..=99) || code.flags != 0 { b"informix" } else { b"" },
        type_name: code.name.as_bytes(),
        by_reference: 0,
        alignment: code.alignment,
        source_type: code.source,
        encoded_length: code.length,
    }
}

/// A value for a moment, in a form from which a cell can borrow.
#[derive(Debug)]
enum Held<'a> {
    Cell(Cell<'a>),
    Text(Cow<'a, [u8]>),
    Opaque(Vec<u8>),
    Lob(Vec<u8>),
}

/// Appends one value to a row.
pub(super) fn encode_cell(
    column: &WireColumn,
    format: CellFormat,
    value: ValueRef<'_>,
    context: &mut RowContext<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    if let Some(text) = text_cell(column, format, value) {
        let text = text_bytes(text, format, context.code_set).map_err(|what| what.error(column, format, context))?;
        return put(column, format, &Held::Text(text), out);
    }
    put(column, format, &hold(column, format, value, context)?, out)
}

fn put(column: &WireColumn, format: CellFormat, held: &Held<'_>, out: &mut Vec<u8>) -> Result<()> {
    let cell = match held {
        Held::Cell(cell) => *cell,
        Held::Text(text) => Cell::Text(text),
        Held::Opaque(bytes) => Cell::Opaque(bytes),
        Held::Lob(descriptor) => Cell::SimpleLob(SimpleLob(descriptor)),
    };
    format.encode(&cell, out).map_err(|misfit| {
        Error::new(
            Condition::DataException,
            format!(
                "the value stored in column {} does not fit its type: {misfit}",
                String::from_utf8_lossy(&column.name)
            ),
        )
        .column(String::from_utf8_lossy(&column.name))
    })
}

/// What a row needs besides its values.
pub(super) struct RowContext<'a> {
    /// The client's code set.
    pub code_set: CodeSet,
    /// The widths agreed on.
    pub widths: Widths,
    /// Large objects that clients fetch by handle.
    pub objects: &'a mut Objects,
    /// The statement to which they belong.
    pub statement: usize,
    /// The session, to find in the file what cannot be sent.
    pub session: Option<&'a Session>,
}

fn hold<'a>(
    column: &WireColumn,
    format: CellFormat,
    value: ValueRef<'a>,
    context: &mut RowContext<'_>,
) -> Result<Held<'a>> {
    if let (CellFormat::Described, Type::Composite(words)) = (format, &column.shown) {
        return Ok(Held::Opaque(composites::encode(words, value, context)?));
    }
    if value == ValueRef::Null {
        return Ok(match format {
            CellFormat::SimpleLob(_) => Held::Lob(SimpleLob::row(0, None, context.widths)),
            _ => Held::Cell(Cell::Null),
        });
    }
    Ok(match format {
        CellFormat::SmallInt | CellFormat::Integer | CellFormat::BigInt | CellFormat::Int8 => match value {
            ValueRef::Integer(number) => Held::Cell(Cell::Int(number)),
            other => match converted(column, other, &column.shown)? {
                Value::Integer(number) => Held::Cell(Cell::Int(number)),
                _ => return Err(misfit(column)),
            },
        },
        CellFormat::Float | CellFormat::SmallFloat => {
            let number = match value {
                ValueRef::Real(number) => number,
                ValueRef::Integer(number) => number as f64,
                ValueRef::Text(text) => {
                    match std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok()) {
                        Some(number) => number,
                        None => return Err(misfit(column)),
                    }
                }
                _ => return Err(misfit(column)),
            };
            Held::Cell(if format == CellFormat::Float { Cell::Float(number) } else { Cell::SmallFloat(number as f32) })
        }
        CellFormat::Decimal { precision, scale } => {
            Held::Cell(Cell::Decimal(decimal(column, value, precision, scale)?))
        }
        CellFormat::Date => {
            let (year, month, day) = match value {
                ValueRef::Text(text) => parse_date(utf8(column, text)?.get(..10).unwrap_or_default())?,
                _ => return Err(misfit(column)),
            };
            let days = date_to_days(year, month, day);
            Held::Cell(Cell::Date(i32::try_from(days).map_err(|_| misfit(column))?))
        }
        CellFormat::DateTime(qualifier) => {
            // As it is stored: only when that is no text of this qualifier is there anything to convert.
            if let (ValueRef::Text(text), true) = (value, matches!(column.ty, Type::Datetime(_) | Type::Timestamp(_)))
                && let Ok(moment) = DateTime::from_text(utf8(column, text)?, qualifier)
            {
                return Ok(Held::Cell(Cell::DateTime(moment)));
            }
            let Value::Text(text) = converted(column, value, &column.shown)? else { return Err(misfit(column)) };
            Held::Cell(Cell::DateTime(DateTime::from_text(&text, qualifier).map_err(|_| misfit(column))?))
        }
        CellFormat::Interval(qualifier) => {
            let Value::Text(text) = converted(column, value, &column.shown)? else { return Err(misfit(column)) };
            Held::Cell(Cell::Interval(Interval::from_text(&text, qualifier).map_err(|_| misfit(column))?))
        }
        CellFormat::BooleanText | CellFormat::BooleanBinary => match value {
            ValueRef::Integer(number) => Held::Cell(Cell::Boolean(number != 0)),
            _ => return Err(misfit(column)),
        },
        CellFormat::Char(_) | CellFormat::VarChar(_) | CellFormat::LongText => {
            let Value::Text(text) = converted(column, value, &Type::Text)? else { return Err(misfit(column)) };
            let text = text_bytes(text.into_bytes().into(), format, context.code_set);
            Held::Text(text.map_err(|what| what.error(column, format, context))?.into_owned().into())
        }
        CellFormat::Opaque if column.shown == Type::Jsonb => match value {
            ValueRef::Text(text) => Held::Opaque(bson::from_json(utf8(column, text)?)?),
            _ => return Err(misfit(column)),
        },
        CellFormat::Opaque => match value {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Held::Opaque(bytes.to_vec()),
            _ => return Err(misfit(column)),
        },
        CellFormat::LocatorHex | CellFormat::LocatorRaw => {
            let bytes = large(value, context.code_set)
                .map_err(|what| what.error(column, format, context))?
                .ok_or_else(|| misfit(column))?;
            let locator = context.objects.locator(bytes);
            if format == CellFormat::LocatorRaw {
                Held::Opaque(locator)
            } else {
                let hex: String = locator.iter().map(|byte| format!("{byte:02x}")).collect();
                Held::Text(Cow::Owned(hex.into_bytes()))
            }
        }
        CellFormat::SimpleLob(_) => {
            let bytes = large(value, context.code_set)
                .map_err(|what| what.error(column, format, context))?
                .ok_or_else(|| misfit(column))?;
            let size = i32::try_from(bytes.len()).map_err(|_| misfit(column))?;
            let handle = context.objects.keep(context.statement, &bytes)?;
            Held::Lob(SimpleLob::row(handle, Some(size), context.widths))
        }
        CellFormat::Described => return Err(misfit(column)),
    })
}

/// The text of a cell of text; `None` when the cell is of another kind, or the value must be converted first.
///
/// A column of text may hold anything (one without a type, a view's expression): numbers are served as their digits, a
/// blob as the text that it is or as its bytes in hexadecimal.
fn text_cell<'a>(column: &WireColumn, format: CellFormat, value: ValueRef<'a>) -> Option<Cow<'a, [u8]>> {
    if !matches!(format, CellFormat::Char(_) | CellFormat::VarChar(_) | CellFormat::LongText) {
        return None;
    }
    match value {
        ValueRef::Text(text) => Some(Cow::Borrowed(text)),
        _ if !(column.ty.is_text() || column.ty == Type::Unknown) => None,
        ValueRef::Null => None,
        ValueRef::Blob(bytes) => Some(match text::of_blob(bytes) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }),
        ValueRef::Integer(number) => Some(Cow::Owned(number.to_string().into_bytes())),
        ValueRef::Real(number) => {
            let mut out = Vec::new();
            float::write8(&mut out, number, &Settings::default());
            Some(Cow::Owned(out))
        }
    }
}

/// Why a text cannot be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum BadText {
    /// It is not UTF-8, or holds NUL.
    NoText,
    /// A character has no place in the client's code set.
    Character(char),
    /// So many bytes are too many for the column.
    TooLong(usize),
}

impl BadText {
    /// The error, with the value's place. Its words reach clients as they are: with other codes than -746 they would see a
    /// column's name at most.
    fn error(self, column: &WireColumn, format: CellFormat, context: &RowContext<'_>) -> Error {
        let code_set = context.code_set;
        let fits = |value: ValueRef<'_>| match text_cell(column, format, value) {
            Some(text) => text_bytes(text, format, code_set).is_ok(),
            None => true,
        };
        let place = context.session.and_then(|session| session.find_misfit(&column.source, fits));
        let shown = match &place {
            Some(place) => place.to_string(),
            None => format!("column \"{}\"", column.source.name),
        };
        let what = match self {
            Self::NoText => "holds text that is not UTF-8, or a NUL; CAST it to BYTE, or correct the row".to_owned(),
            Self::Character(character) => format!(
                "holds U+{:04X}, which the client's code set does not have; connect with CLIENT_LOCALE=en_US.utf8",
                // Itself it could not be sent.
                u32::from(character)
            ),
            Self::TooLong(bytes) => {
                let width = widest(format);
                format!("holds a text of {bytes} bytes, and is declared with {width}; CAST it to LVARCHAR")
            }
        };
        let error = Error::new(Condition::RaiseException, format!("{shown} {what}"));
        match place {
            Some(place) => place.name_in(error),
            None => error.column(column.source.name.clone()),
        }
    }
}

/// How many bytes a cell of text takes.
fn widest(format: CellFormat) -> usize {
    match format {
        CellFormat::Char(width) => width,
        CellFormat::VarChar(width) => usize::from(width),
        _ => usize::MAX,
    }
}

/// A text in the client's code set, as long as its column allows: only blanks are cut off.
fn text_bytes(
    text: Cow<'_, [u8]>,
    format: CellFormat,
    code_set: CodeSet,
) -> std::result::Result<Cow<'_, [u8]>, BadText> {
    if !text::is_clean(&text) {
        return Err(BadText::NoText);
    }
    let mut bytes = code_set.encode_clean(text).map_err(BadText::Character)?;
    let widest = widest(format);
    if bytes.len() > widest {
        if bytes[widest..].iter().any(|byte| *byte != b' ') {
            return Err(BadText::TooLong(bytes.len()));
        }
        match &mut bytes {
            Cow::Borrowed(bytes) => *bytes = &bytes[..widest],
            Cow::Owned(bytes) => bytes.truncate(widest),
        }
    }
    Ok(bytes)
}

/// The bytes of a large object: text in the client's code set.
fn large(value: ValueRef<'_>, code_set: CodeSet) -> std::result::Result<Option<Vec<u8>>, BadText> {
    Ok(match value {
        ValueRef::Blob(bytes) => Some(bytes.to_vec()),
        ValueRef::Text(text) => {
            Some(code_set.encode_clean(Cow::Borrowed(text)).map_err(BadText::Character)?.into_owned())
        }
        _ => None,
    })
}

fn decimal(column: &WireColumn, value: ValueRef<'_>, precision: u8, scale: Option<u8>) -> Result<Base100> {
    if let Some(scale) = scale
        && let Some(units) = units(value, precision, scale)
    {
        return Ok(Base100::from_units(units, scale));
    }
    let text = match value {
        ValueRef::Integer(number) => Cow::Owned(number.to_string()),
        ValueRef::Real(number) => Cow::Owned(format!("{number:e}")),
        ValueRef::Text(text) => Cow::Borrowed(utf8(column, text)?),
        _ => return Err(misfit(column)),
    };
    Base100::from_text(&text, precision, scale).map_err(|_| misfit(column))
}

/// How many units of the last of `scale` digits a value is, when it is surely that: the short way of nearly all cells.
fn units(value: ValueRef<'_>, precision: u8, scale: u8) -> Option<i64> {
    /// Decimal numbers of up to 15 digits and doubles correspond one to one.
    const DIGITS: u8 = 15;
    const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let power = *POWERS.get(usize::from(scale))?;
    let limit = POWERS[usize::from(precision.min(DIGITS))];
    let number = match value {
        ValueRef::Real(number) => number,
        ValueRef::Integer(number) if number.unsigned_abs() < 1_000_000_000_000_000 => number as f64,
        _ => return None,
    };
    let units = (number * power).round();
    // Both are exact, so this quotient is the double nearest to the decimal number. When it is ours, its text is, too.
    (units.abs() < limit && units / power == number).then_some(units as i64)
}

fn converted(column: &WireColumn, value: ValueRef<'_>, to: &Type) -> Result<Value> {
    let value = match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(utf8(column, text)?.to_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    };
    convert(&value, &column.ty, to)
}

fn utf8<'a>(column: &WireColumn, text: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(text).map_err(|_| misfit(column))
}

fn misfit(column: &WireColumn) -> Error {
    let name = String::from_utf8_lossy(&column.name).into_owned();
    Error::new(Condition::DataException, format!("column {name} holds a value that is not of its type")).column(name)
}

/// A value that a client has bound: with the type that it says it is of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    pub value: Value,
    pub ty: Type,
    /// The data is still to come, in `SQ_BBIND`.
    pub awaits_data: bool,
}

impl Bound {
    const NULL: Self = Self { value: Value::Null, ty: Type::Unknown, awaits_data: false };

    fn new(value: Value, ty: Type) -> Self {
        Self { value, ty, awaits_data: false }
    }

    /// The value in the stored form of a parameter's type.
    pub fn stored(&self, to: &Type, code_set: CodeSet, dates: Option<DateFormat>) -> Result<Value> {
        if let (Value::Text(body), Type::Composite(word)) = (&self.value, &self.ty) {
            // A client that binds an object knows a set from a list no better than by its own types.
            let word = match to {
                Type::Composite(words) if word != "ROW" && !words.starts_with("ROW") => {
                    words.split('(').next().unwrap_or(word)
                }
                _ => word,
            };
            return convert(&Value::Text(format!("{word}{body}")), &Type::Lvarchar(LVARCHAR_MAX), to);
        }
        if let (Value::Blob(bytes), Type::TextBlob | Type::Clob) = (&self.value, to) {
            // Text that came as bytes is in the client's code set.
            return Ok(Value::Text(code_set.decode(bytes)?));
        }
        let stored = convert_dated(&self.value, &self.ty, to, dates)?;
        if code_set.is_multibyte() { within_bytes(stored, to) } else { Ok(stored) }
    }
}

/// Reads a bound parameter.
pub(super) fn bound(param: &Param<'_>, code_set: CodeSet, objects: &Objects) -> Result<Bound> {
    let text_type = Type::Lvarchar(LVARCHAR_MAX);
    Ok(match param.value {
        ParamValue::Null => Bound::NULL,
        ParamValue::Default => return Err(Error::unsupported("binding a default")),
        ParamValue::SmallInt(number) => Bound::new(Value::Integer(number.into()), Type::Int2),
        ParamValue::Integer(number) => Bound::new(Value::Integer(number.into()), Type::Int4),
        ParamValue::BigInt(number) | ParamValue::Int8(number) => Bound::new(Value::Integer(number), Type::Int8),
        ParamValue::Float(number) => Bound::new(Value::Real(number), Type::Float8),
        ParamValue::SmallFloat(number) => Bound::new(Value::Real(number.into()), Type::Float4),
        ParamValue::Date(days) => Bound::new(Value::Text(stored_date(days)?), Type::Date),
        ParamValue::Text(bytes) => Bound::new(Value::Text(code_set.decode(bytes)?), text_type),
        ParamValue::Base100(bytes) => base100(param, bytes)?,
        ParamValue::SimpleLob(_) => Bound {
            value: Value::Null,
            ty: if param.code == TypeCode::TEXT { Type::TextBlob } else { Type::Byte },
            awaits_data: true,
        },
        ParamValue::Opaque(bytes) => match (param.code, param.name) {
            (TypeCode::BOOLEAN, _) => {
                Bound::new(Value::Integer((bytes.first().is_some_and(|&byte| byte != 0)).into()), Type::Bool)
            }
            (TypeCode::SENDRECV, b"bson") => Bound::new(Value::Text(bson::to_json(bytes)?), Type::Jsonb),
            (TypeCode::SENDRECV, name) if is_composite(name) => {
                let (word, body) = composites::literal(bytes, code_set)?;
                Bound::new(Value::Text(body), Type::Composite(word.to_owned()))
            }
            (_, b"blob") => Bound::new(Value::Blob(objects.by_locator(bytes)?), Type::Blob),
            (_, b"clob") => Bound::new(Value::Text(code_set.decode(&objects.by_locator(bytes)?)?), Type::Clob),
            _ => Bound::new(Value::Text(code_set.decode(bytes)?), text_type),
        },
    })
}

/// `list(   int  not null) ` and the like, which the driver writes in a way of its own.
fn is_composite(name: &[u8]) -> bool {
    let word = name.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    name.contains(&b'(')
        && [&b"list"[..], b"set", b"multiset", b"row"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// A day as it is stored, of days since 1899-12-31.
pub(super) fn stored_date(days: i32) -> Result<String> {
    let days = i64::from(days);
    if !(date_to_days(1, 1, 1)..=date_to_days(9999, 12, 31)).contains(&days) {
        return Err(Error::new(Condition::InvalidYear, "the date is out of range"));
    }
    let (year, month, day) = date_from_days(days);
    Ok(format!("{year:04}-{month:02}-{day:02}"))
}

fn base100(param: &Param<'_>, bytes: &[u8]) -> Result<Bound> {
    let broken =
        |what: &str| Error::new(Condition::InvalidBinaryRepresentation, format!("a bound {what} cannot be read"));
    let qualifier = i32::from(param.precision);
    Ok(match param.code {
        TypeCode::DATETIME => {
            let decoded = DateTime::decode(bytes, Qualifier(param.precision)).map_err(|_| broken("DATETIME"))?;
            let ty = Type::Datetime(datetime_qualifier(qualifier).ok_or_else(|| broken("DATETIME"))?);
            match decoded {
                Some(moment) => Bound::new(Value::Text(moment.to_text(Qualifier(param.precision))), ty),
                None => Bound::NULL,
            }
        }
        TypeCode::INTERVAL => {
            let decoded = Interval::decode(bytes, Qualifier(param.precision)).map_err(|_| broken("INTERVAL"))?;
            let ty = Type::QualifiedInterval(interval_qualifier(qualifier).ok_or_else(|| broken("INTERVAL"))?);
            match decoded {
                Some(span) => Bound::new(Value::Text(span.to_text(Qualifier(param.precision))), ty),
                None => Bound::NULL,
            }
        }
        _ => match Base100::decode(bytes).map_err(|_| broken("DECIMAL"))? {
            Some(number) => Bound::new(Value::Text(number.to_text(None)), Type::Numeric(None)),
            None => Bound::NULL,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_of_decimals_leads_to_the_same_number() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        for round in 0..20_000_u32 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let scale = (seed >> 60) as u8 % 9;
            let whole = (seed >> 16) as i64 % 10_i64.pow(round % 16);
            let number = whole as f64 / 10_f64.powi(i32::from(scale));
            let text = format!("{number:e}");
            if let Some(units) = units(ValueRef::Real(number), 15, scale) {
                let expected = Base100::from_text(&text, 32, Some(scale)).unwrap();
                assert_eq!(Base100::from_units(units, scale), expected, "{text} {scale}");
            } else {
                assert!(whole.abs() >= 10_i64.pow(15), "{text} {scale}");
            }
        }
        for (number, precision, scale) in
            [(0.125, 10, 2), (1e15, 32, 0), (123.45, 4, 2), (f64::NAN, 10, 2), (0.1, 10, 16)]
        {
            assert_eq!(units(ValueRef::Real(number), precision, scale), None, "{number}");
        }
        assert_eq!(units(ValueRef::Integer(-7), 10, 2), Some(-700));
    }
}
