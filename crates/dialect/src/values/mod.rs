//! Text input and output of each type, and the canonical stored form; one file per family.
//!
//! [`input`] takes what PostgreSQL takes and fails as PostgreSQL fails; [`write`] prints what PostgreSQL prints. The
//! canonical form in between is what [`Type`] documents: it is what lies in the file, what is bound, and what an
//! [`ir::Value`](crate::ir::Value) holds. No database and no clock here: time and zone are in [`Settings`].

pub mod array;
mod array_text;
pub mod boolean;
pub mod bytea;
pub mod cast;
pub mod date;
pub mod datetime_fields;
pub(crate) mod datetime_read;
pub mod datetime_text;
pub mod decimal;
pub mod decimal_math;
pub mod float;
pub mod from_char;
pub mod geometry;
pub mod informix;
pub mod integer;
pub mod interval;
mod interval_fields;
mod interval_read;
pub mod json;
mod json_check;
pub mod jsonpath;
pub mod moments;
pub mod mysql;
pub mod order;
pub mod range;
pub mod record;
pub mod search;
pub mod text;
pub mod time;
pub mod timestamp;
pub mod to_char;
pub mod to_char_number;
pub mod uuid;
pub mod zone;
mod zone_abbreviations;

use std::borrow::Cow;
use std::sync::Arc;

use rowferry_encodings::Encoding;

use jiff::tz::TimeZone;

use crate::ir::Value;
use crate::types::{Reg, Storage};
use crate::user_type::UserKind;
use crate::{Condition, Error, Result, Type};

pub use cast::cast;
pub use decimal::Decimal;
pub use interval::Interval;
pub use interval_fields::IntervalModifier;

/// A value as the back end yields it, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'a> {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL.
    Real(f64),
    /// TEXT.
    Text(&'a [u8]),
    /// BLOB.
    Blob(&'a [u8]),
}

/// What the text forms of values depend on.
#[derive(Clone)]
pub struct Settings {
    /// `TimeZone`.
    pub time_zone: TimeZone,
    /// The order of fields in `DateStyle`.
    pub date_order: DateOrder,
    /// The style of `DateStyle`, for output.
    pub date_style: DateStyle,
    /// `IntervalStyle`.
    pub interval_style: IntervalStyle,
    /// `bytea_output = hex`.
    pub bytea_hex: bool,
    /// `client_encoding`, where it is not UTF-8. What is printed and read here is UTF-8 all the same: the door converts.
    pub client_encoding: Option<&'static Encoding>,
    /// `extra_float_digits`; above 0 is the shortest exact text.
    pub extra_float_digits: i32,
    /// What strings of SQL mean.
    pub strings: crate::postgres::StringRules,
    /// `0000-00-00` is a date: MySQL's, unless its `sql_mode` says otherwise.
    pub zero_dates: bool,
    /// What `now` means: microseconds since 1970-01-01 UTC. `None` where a value is made before it is known (while a
    /// statement is compiled); the words that need it are then [`Condition::FeatureNotSupported`].
    pub now: Option<i64>,
    /// Names of objects, for `regclass` and its kin.
    pub names: Option<Arc<dyn RegNames>>,
}

/// Translates between object ids and names.
pub trait RegNames: Send + Sync {
    /// The name to print, qualified if need be.
    fn name(&self, reg: Reg, oid: u32) -> Option<String>;
    /// The object that a text names.
    fn oid(&self, reg: Reg, name: &str) -> Result<u32>;
}

/// Which field comes first in a date such as `1/2/2026`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum DateOrder {
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    #[default]
    Mdy,
    /// Year, month, day.
    Ymd,
}

/// How dates are printed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DateStyle {
    /// `17.12.1997 07:37:16.00 PST`
    German,
    /// `1997-12-17 07:37:16-08`
    #[default]
    Iso,
    /// `Wed Dec 17 07:37:16 1997 PST`
    Postgres,
    /// `12/17/1997 07:37:16.00 PST`
    Sql,
}

/// How intervals are printed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum IntervalStyle {
    /// `P1Y2M3DT4H5M6S`
    Iso8601,
    /// `1 year 2 mons 3 days 04:05:06`
    #[default]
    Postgres,
    /// `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs`
    PostgresVerbose,
    /// `+1-2 +3 +4:05:06`
    SqlStandard,
}

/// The settings that the meaning of a literal depends on while its statement is compiled. Zones and the clock are no
/// part of it: what depends on those is decided when the statement runs.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct LiteralStyle {
    /// The order of fields in `DateStyle`.
    pub date_order: DateOrder,
    /// `IntervalStyle`.
    pub interval_style: IntervalStyle,
    /// Backslashes escape in strings. Texts of clients have been spelled anew; those in bodies of routines have not.
    pub backslashes_escape: bool,
    /// As in [`Settings`].
    pub zero_dates: bool,
}

impl Settings {
    /// What compiling needs to know of these settings.
    pub fn literal_style(&self) -> LiteralStyle {
        LiteralStyle {
            date_order: self.date_order,
            interval_style: self.interval_style,
            backslashes_escape: !self.strings.standard,
            zero_dates: self.zero_dates,
        }
    }
}

impl From<LiteralStyle> for Settings {
    fn from(style: LiteralStyle) -> Self {
        Self {
            date_order: style.date_order,
            interval_style: style.interval_style,
            zero_dates: style.zero_dates,
            ..Self::default()
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_zone: TimeZone::UTC,
            date_order: DateOrder::default(),
            date_style: DateStyle::default(),
            interval_style: IntervalStyle::default(),
            bytea_hex: true,
            client_encoding: None,
            extra_float_digits: 1,
            strings: crate::postgres::StringRules::STANDARD,
            zero_dates: false,
            now: None,
            names: None,
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("time_zone", &self.time_zone)
            .field("date_order", &self.date_order)
            .field("date_style", &self.date_style)
            .field("interval_style", &self.interval_style)
            .finish_non_exhaustive()
    }
}

impl ValueRef<'_> {
    /// The same value, owned.
    pub fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Integer(value) => Value::Integer(value),
            Self::Real(value) => Value::Real(value),
            Self::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
            Self::Blob(bytes) => Value::Blob(bytes.to_vec()),
        }
    }
}

impl Value {
    /// The same value, borrowed.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }
    }
}

/// Reads a text as a value of a type, modifiers included, and gives its canonical stored form.
///
/// Over-long text for `varchar(n)` is refused unless the excess is blank, as on assignment; explicit casts cut it off
/// first.
pub fn input(text: &str, ty: &Type, settings: &Settings) -> Result<Value> {
    if is_stored_form(text, ty) {
        return Ok(Value::Text(text.to_owned()));
    }
    if settings.zero_dates
        && let Some(zero) = zero_date(text, ty)
    {
        return Ok(Value::Text(zero.to_owned()));
    }
    Ok(match ty {
        Type::Bool => Value::Integer(i64::from(boolean::parse(text)?)),
        Type::Int2 | Type::Int4 | Type::Int8 | Type::IfxInt8 => Value::Integer(integer::parse(text, ty)?),
        Type::Oid => Value::Integer(integer::parse_oid(text)?),
        Type::Reg(reg) => Value::Integer(reg_input(text, *reg, settings)?),
        Type::Float4 => float::to_value(f64::from(float::parse4(text)?)),
        Type::Float8 => float::to_value(float::parse8(text)?),
        Type::Numeric(_) | Type::Money(_) | Type::FloatingDecimal(_) => {
            Value::Text(Decimal::parse(text)?.constrained(ty)?.to_string())
        }
        Type::Text | Type::TextBlob | Type::Clob | Type::Unknown | Type::Composite(_) | Type::Lvarchar(_) => {
            Value::Text(text::assign(text, ty)?.into_owned())
        }
        Type::Varchar(_) | Type::Char(_) | Type::Nchar(_) | Type::Nvarchar(_) => {
            Value::Text(text::assign(text, ty)?.into_owned())
        }
        Type::Name | Type::InternalChar => Value::Text(text::assign(text, ty)?.into_owned()),
        Type::Bytea | Type::Byte | Type::Blob => Value::Blob(bytea::parse(text)?),
        Type::Date => Value::Text(date::to_stored(date::parse(text, settings)?)?),
        Type::Time(digits) => Value::Text(time::to_stored(time::round(time::parse(text, settings)?, *digits))),
        Type::TimeTz(digits) => {
            let mut value = time::parse_tz(text, settings)?;
            value.micros = time::round(value.micros, *digits);
            Value::Text(value.to_stored())
        }
        Type::Timestamp(digits) => {
            Value::Text(timestamp::to_stored(timestamp::round(timestamp::parse(text, settings)?, *digits))?)
        }
        Type::TimestampTz(digits) => {
            Value::Text(timestamp::to_stored_tz(timestamp::round(timestamp::parse_tz(text, settings)?, *digits))?)
        }
        Type::Interval(modifier) => {
            Value::Text(Interval::parse_for(text, settings.interval_style, *modifier)?.to_string())
        }
        Type::Datetime(qualifier) => Value::Text(informix::datetime_input(text, *qualifier)?),
        Type::QualifiedInterval(qualifier) => Value::Text(informix::interval_input(text, *qualifier)?),
        Type::Uuid => Value::Text(uuid::parse(text)?),
        Type::Json => Value::Text(json::check(text)?.to_owned()),
        Type::Jsonb => Value::Text(json::normalize(text)?),
        Type::Jsonpath => Value::Text(jsonpath::parse(text)?.to_string()),
        Type::Scalar(scalar, modifier) => scalar.fit((scalar.input)(text, settings)?, *modifier, false)?,
        Type::Array(element) => Value::Text(array::parse(text, element, settings)?),
        Type::User(user) => match &user.kind {
            UserKind::Enum(labels) => {
                user.check_label(labels, text)?;
                Value::Text(text.to_owned())
            }
            UserKind::Domain(domain) => input(text, &domain.base, settings)?,
            UserKind::Composite(_) => Value::Text(record::parse(text, ty, settings)?),
            UserKind::Range(_) | UserKind::Multirange(_) => Value::Text(range::input(text, user, settings)?),
            UserKind::Unresolved(ty) => input(text, ty, settings)?,
        },
        Type::Record(_) => Value::Text(record::parse(text, ty, settings)?),
        Type::Void => Value::Null,
    })
}

/// [`input`] into a place whose room is used again, where both values are texts.
///
/// # Errors
/// As [`input`]; the place then holds what it held.
pub fn input_into(place: &mut Value, text: &str, ty: &Type, settings: &Settings) -> Result<()> {
    let stored = match ty {
        _ if is_stored_form(text, ty) => Cow::Borrowed(text),
        Type::Text | Type::Varchar(_) | Type::Char(_) => text::assign(text, ty)?,
        _ => {
            *place = input(text, ty, settings)?;
            return Ok(());
        }
    };
    match place {
        Value::Text(room) => {
            room.clear();
            room.push_str(&stored);
        }
        other => *other = Value::Text(stored.into_owned()),
    }
    Ok(())
}

/// True for a text that is stored as it comes, whatever the settings are: what most programs send of the types that would
/// be taken apart and put together again otherwise. False is no answer.
pub fn is_stored_form(text: &str, ty: &Type) -> bool {
    let bytes = text.as_bytes();
    match ty {
        Type::Numeric(modifier) => decimal::is_plain(bytes, *modifier),
        Type::Date => datetime_text::is_shown_date(bytes),
        Type::Timestamp(None) => datetime_text::is_shown_timestamp(bytes),
        Type::TimestampTz(None) => bytes.strip_suffix(b"+00").is_some_and(datetime_text::is_shown_timestamp),
        _ => false,
    }
}

const ZERO_DATE: &str = "0000-00-00";

/// MySQL's date that is none, where a text says it.
fn zero_date(text: &str, ty: &Type) -> Option<&'static str> {
    let (date, time) = text.trim().split_at_checked(10).unwrap_or((text, ""));
    let is_zero = |part: &str| part.bytes().all(|byte| matches!(byte, b'0' | b'-' | b':' | b'.' | b' ' | b'T'));
    match ty {
        _ if date != ZERO_DATE || !is_zero(time) => None,
        Type::Date => Some(ZERO_DATE),
        Type::Timestamp(_) => Some("0000-00-00 00:00:00"),
        _ => None,
    }
}

/// The text of a value, as PostgreSQL prints it. NULL is empty: say so otherwise before.
pub fn output(value: &Value, ty: &Type, settings: &Settings) -> Result<String> {
    let mut out = Vec::new();
    write(&mut out, value.as_ref(), ty, settings)?;
    String::from_utf8(out).map_err(|_| Error::new(Condition::CharacterNotInRepertoire, "text is not valid UTF-8"))
}

/// Appends the text of a stored value, as PostgreSQL prints it; NULL appends nothing.
///
/// A stored value that does not have its type's form (files written by others have those) is printed as it is when it
/// reads as that type, and is [`Condition::DataCorrupted`] otherwise.
pub fn write(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    match (ty, value) {
        (_, ValueRef::Null) | (Type::Void, _) => {}
        (Type::User(user), value) => match (&user.kind, value) {
            (UserKind::Enum(labels), ValueRef::Text(bytes)) => {
                let label = std::str::from_utf8(bytes).ok().filter(|text| labels.position(text).is_some());
                out.extend_from_slice(label.ok_or_else(|| misfit(value, ty))?.as_bytes());
            }
            (UserKind::Composite(_), ValueRef::Text(bytes)) => record::write(out, bytes, ty, settings)?,
            (UserKind::Range(_) | UserKind::Multirange(_), ValueRef::Text(bytes)) => {
                range::write(out, bytes, user, settings)?;
            }
            (UserKind::Enum(_) | UserKind::Composite(_) | UserKind::Range(_) | UserKind::Multirange(_), _) => {
                return Err(misfit(value, ty));
            }
            (UserKind::Domain(_), ValueRef::Blob(bytes))
                if mysql::unsigned::is_wide(ty)
                    && let Some(number) = mysql::unsigned::of_bytes(bytes) =>
            {
                out.extend_from_slice(number.to_string().as_bytes());
            }
            (UserKind::Domain(domain), _) => write(out, value, &domain.base, settings)?,
            (UserKind::Unresolved(stored), _) => write(out, value, stored, settings)?,
        },
        (Type::Record(_), ValueRef::Text(bytes)) => record::write(out, bytes, ty, settings)?,
        (Type::Bool, ValueRef::Integer(value)) => out.push(if value == 0 { b'f' } else { b't' }),
        (Type::Int2 | Type::Int4 | Type::Int8 | Type::IfxInt8 | Type::Oid, ValueRef::Integer(value)) => {
            integer::write(out, value);
        }
        (Type::Reg(reg), ValueRef::Integer(value)) => reg_output(out, *reg, value, settings),
        (Type::Float4, ValueRef::Real(value)) => float::write4(out, value as f32, settings),
        (Type::Float8, ValueRef::Real(value)) => float::write8(out, value, settings),
        (Type::Float4, ValueRef::Integer(value)) => float::write4(out, value as f32, settings),
        (Type::Float8, ValueRef::Integer(value)) => float::write8(out, value as f64, settings),
        (Type::Numeric(_) | Type::Money(_) | Type::FloatingDecimal(_), value) => decimal::write(out, value, ty)?,
        (Type::Char(width) | Type::Nchar(width), ValueRef::Text(bytes)) => {
            text::write_padded(out, text::clean(bytes)?, *width);
        }
        (Type::Bytea | Type::Byte | Type::Blob, ValueRef::Blob(bytes) | ValueRef::Text(bytes)) => {
            bytea::write(out, bytes, settings)
        }
        (Type::Date, ValueRef::Text(bytes)) => date::write(out, bytes, settings)?,
        (Type::Time(_), ValueRef::Text(bytes)) => time::write(out, bytes)?,
        (Type::TimeTz(_), ValueRef::Text(bytes)) => out.extend_from_slice(text::clean(bytes)?),
        (Type::Timestamp(_), ValueRef::Text(bytes)) => timestamp::write(out, bytes, settings)?,
        (Type::TimestampTz(_), ValueRef::Text(bytes)) => timestamp::write_tz(out, bytes, settings)?,
        (Type::Interval(_), ValueRef::Text(bytes)) => interval::write(out, bytes, settings)?,
        (Type::Scalar(scalar, _), ValueRef::Text(_)) if scalar.storage == Storage::Text => {
            (scalar.output)(out, value, settings)?;
        }
        (Type::Scalar(scalar, _), ValueRef::Integer(_)) if scalar.storage == Storage::Integer => {
            (scalar.output)(out, value, settings)?;
        }
        (Type::Array(element), ValueRef::Text(bytes)) => array::write(out, bytes, element, settings)?,
        (_, ValueRef::Text(bytes)) if stored_as_text(ty) => out.extend_from_slice(text::clean(bytes)?),
        (_, other) => write_misfit(out, other, ty, settings)?,
    }
    Ok(())
}

fn stored_as_text(ty: &Type) -> bool {
    ty.storage() == Storage::Text
}

/// A value whose storage class is not its type's: files may hold any value in any column.
fn write_misfit(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    let text = match value {
        ValueRef::Null => return Ok(()),
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) if ty.is_integer() && value.fract() == 0.0 && value.abs() < 9.2e18 => {
            (value as i64).to_string()
        }
        ValueRef::Real(value) => {
            let mut text = Vec::new();
            float::write8(&mut text, value, settings);
            String::from_utf8_lossy(&text).into_owned()
        }
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return Err(misfit(value, ty)),
        },
        // Where anything may lie, a blob is served, too: as the text that it is, or as its bytes.
        ValueRef::Blob(bytes) if ty.is_text() || *ty == Type::Unknown => text::of_blob(bytes).into_owned(),
        ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return Err(misfit(value, ty)),
        },
    };
    if matches!(ty, Type::Bytea | Type::Byte | Type::Blob) {
        bytea::write(out, text.as_bytes(), settings);
        return Ok(());
    }
    if ty.is_text() || matches!(ty, Type::Unknown) {
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    let canonical = input(&text, ty, settings).map_err(|_| misfit(value, ty))?;
    let same_class = matches!(
        (&canonical, value),
        (Value::Integer(_), ValueRef::Integer(_))
            | (Value::Real(_), ValueRef::Real(_))
            | (Value::Text(_), ValueRef::Text(_))
            | (Value::Blob(_), ValueRef::Blob(_))
    );
    if same_class && !matches!(canonical, Value::Text(ref text) if text == "NaN") {
        return Err(misfit(value, ty));
    }
    match (&canonical, ty) {
        (Value::Text(text), Type::Float4 | Type::Float8) => out.extend_from_slice(text.as_bytes()),
        _ => write(out, canonical.as_ref(), ty, settings)?,
    }
    Ok(())
}

/// The error for a stored value that cannot be a value of its column's type.
pub fn misfit(value: ValueRef<'_>, ty: &Type) -> Error {
    if let (Type::Int8, ValueRef::Blob(bytes)) = (ty, value)
        && let Some(number) = mysql::unsigned::of_bytes(bytes)
    {
        return Error::new(Condition::BigintOutOfRange, "bigint out of range")
            .hint(format!("{number} is a BIGINT UNSIGNED of MySQL's; cast it to numeric."));
    }
    let shown = match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) => value.to_string(),
        ValueRef::Text(bytes) => format!("\"{}\"", String::from_utf8_lossy(bytes)),
        ValueRef::Blob(bytes) => format!("a blob of {} bytes", bytes.len()),
    };
    Error::new(Condition::DataCorrupted, format!("stored value {shown} is not a value of type {}", shown_name(ty)))
        .hint("The file holds a value that does not fit its column's declared type; correct it or change the type.")
}

fn shown_name(ty: &Type) -> Cow<'static, str> {
    match ty {
        Type::User(user) => Cow::Owned(user.shown()),
        ty => Cow::Borrowed(type_name(ty)),
    }
}

/// The name of a type in PostgreSQL's messages, without modifiers.
pub fn type_name(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "boolean",
        Type::Int2 => "smallint",
        Type::Int4 => "integer",
        Type::Int8 => "bigint",
        Type::IfxInt8 => "int8",
        Type::Oid => "oid",
        Type::Reg(Reg::Class) => "regclass",
        Type::Reg(Reg::Collation) => "regcollation",
        Type::Reg(Reg::Config) => "regconfig",
        Type::Reg(Reg::Dictionary) => "regdictionary",
        Type::Reg(Reg::Namespace) => "regnamespace",
        Type::Reg(Reg::Oper) => "regoper",
        Type::Reg(Reg::Operator) => "regoperator",
        Type::Reg(Reg::Proc) => "regproc",
        Type::Reg(Reg::Procedure) => "regprocedure",
        Type::Reg(Reg::Role) => "regrole",
        Type::Reg(Reg::Type) => "regtype",
        Type::Float4 => "real",
        Type::Float8 => "double precision",
        Type::Numeric(_) => "numeric",
        Type::FloatingDecimal(_) => "decimal",
        Type::Money(_) => "money",
        Type::Text => "text",
        Type::Varchar(_) => "character varying",
        Type::Char(_) => "character",
        Type::Lvarchar(_) => "lvarchar",
        Type::Nchar(_) => "nchar",
        Type::Nvarchar(_) => "nvarchar",
        Type::Name => "name",
        Type::InternalChar => "\"char\"",
        Type::Bytea => "bytea",
        Type::Byte => "byte",
        Type::TextBlob => "text",
        Type::Blob => "blob",
        Type::Clob => "clob",
        Type::Date => "date",
        Type::Time(_) => "time",
        Type::TimeTz(_) => "time with time zone",
        Type::Timestamp(_) => "timestamp",
        Type::TimestampTz(_) => "timestamp with time zone",
        Type::Interval(_) => "interval",
        Type::Datetime(_) => "datetime",
        Type::QualifiedInterval(_) => "interval",
        Type::Uuid => "uuid",
        Type::Json | Type::Jsonb => "json",
        Type::Jsonpath => "jsonpath",
        Type::Scalar(scalar, _) => scalar.words,
        Type::Array(_) => "array",
        Type::User(_) => "user-defined",
        Type::Record(_) | Type::Composite(_) => "record",
        Type::Void => "void",
        Type::Unknown => "unknown",
    }
}

/// `invalid input syntax for type …`, SQLSTATE 22P02.
pub(crate) fn invalid_syntax(name: &str, text: &str) -> Error {
    Error::new(Condition::InvalidTextRepresentation, format!("invalid input syntax for type {name}: \"{text}\""))
}

fn reg_input(text: &str, reg: Reg, settings: &Settings) -> Result<i64> {
    let trimmed = datetime_fields::trim(text);
    if trimmed == "-" {
        return Ok(0);
    }
    if let Ok(oid) = trimmed.parse::<u32>() {
        return Ok(i64::from(oid));
    }
    match &settings.names {
        Some(names) => Ok(i64::from(names.oid(reg, trimmed)?)),
        None => Err(Error::unsupported(format!("the name of a {} here", type_name(&Type::Reg(reg))))),
    }
}

fn reg_output(out: &mut Vec<u8>, reg: Reg, oid: i64, settings: &Settings) {
    if oid == 0 {
        out.push(b'-');
        return;
    }
    let name = settings.names.as_ref().and_then(|names| names.name(reg, u32::try_from(oid).ok()?));
    match name {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => integer::write(out, oid),
    }
}
