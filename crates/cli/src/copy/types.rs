//! The table of types: what a column becomes on another kind of database, and what it takes there.
//!
//! The guide's table (docs/guide/copy.md) is this file in prose.

use super::model::{Column, Default, Kind, Type};
use super::values::Fit;

/// What a column becomes.
#[derive(Clone, Debug)]
pub(super) struct Becomes {
    /// The type in the target's words.
    pub words: String,
    /// What that holds.
    pub stored: Type,
    pub fit: Fit,
    /// What may be lost, in words.
    pub note: Option<String>,
}

/// Characters of a text that stands in a key or an index, where long ones cannot.
const IN_KEY: u32 = 255;

/// What a column of a database of kind `from` becomes in one of kind `to`.
///
/// # Errors
/// Why it cannot be there.
pub(super) fn becomes(from: Kind, to: Kind, column: &Column, in_key: bool) -> Result<Becomes, String> {
    let is_kin = from.is_kin(to) && !column.words.is_empty();
    if is_kin && !(to == Kind::Informix && column.default == Some(Default::Identity)) {
        // A file's columns hold what they like.
        let fit = if from == Kind::Sqlite { limits(to, &column.ty) } else { Fit::default() };
        return Ok(Becomes { words: column.words.clone(), stored: column.ty.clone(), fit, note: None });
    }
    let (words, stored, note) = match to {
        Kind::Sqlite | Kind::Postgres => postgres(column),
        Kind::MySql => mysql(column, in_key),
        Kind::Informix => informix(column, in_key)?,
    };
    let mut fit = limits(to, &stored);
    fit.not_zero = to == Kind::Informix && column.default == Some(Default::Identity);
    Ok(Becomes { words, stored, fit, note })
}

type Chosen = (String, Type, Option<String>);

fn plain(words: impl Into<String>, stored: &Type) -> Chosen {
    (words.into(), stored.clone(), None)
}

fn noted(words: impl Into<String>, stored: Type, note: impl Into<String>) -> Chosen {
    (words.into(), stored, Some(note.into()))
}

const AS_TEXT: &str = "as the text that its server shows";
const IN_UTC: &str = "in UTC, without its zone";

fn postgres(column: &Column) -> Chosen {
    let ty = &column.ty;
    let digits = |digits: u8| if digits >= 6 { String::new() } else { format!("({digits})") };
    match ty {
        Type::Bool => plain("boolean", ty),
        Type::Int(2) => plain("smallint", ty),
        Type::Int(4) => plain("integer", ty),
        Type::Int(_) => plain("bigint", ty),
        Type::Decimal(Some((precision, scale))) => plain(format!("numeric({precision},{scale})"), ty),
        Type::Decimal(None) => plain("numeric", ty),
        Type::Float4 => plain("real", ty),
        Type::Float8 => plain("double precision", ty),
        Type::Char(length) => plain(format!("character({length})"), ty),
        Type::VarChar(length) => plain(format!("character varying({length})"), ty),
        Type::Text => plain("text", ty),
        Type::Bytes => plain("bytea", ty),
        Type::Date => plain("date", ty),
        Type::Time(p) => plain(format!("time{}", digits(*p)), ty),
        Type::Timestamp(p) => plain(format!("timestamp{}", digits(*p)), ty),
        Type::TimestampTz(p) => plain(format!("timestamptz{}", digits(*p)), ty),
        Type::Uuid => plain("uuid", ty),
        Type::Json => plain("json", ty),
        Type::Own => noted("text", Type::Text, AS_TEXT),
    }
}

fn mysql(column: &Column, in_key: bool) -> Chosen {
    let ty = &column.ty;
    let digits = |digits: u8| if digits == 0 { String::new() } else { format!("({})", digits.min(6)) };
    let short = |note: &str| {
        noted(format!("VARCHAR({IN_KEY})"), Type::VarChar(IN_KEY), format!("{note}{IN_KEY} characters in a key"))
    };
    match ty {
        Type::Bool => plain("TINYINT(1)", ty),
        Type::Int(2) => plain("SMALLINT", ty),
        Type::Int(4) => plain("INT", ty),
        Type::Int(_) => plain("BIGINT", ty),
        &Type::Decimal(Some((precision, scale))) if precision <= 65 && scale <= 30 => {
            plain(format!("DECIMAL({precision},{scale})"), ty)
        }
        Type::Decimal(_) => {
            noted("DECIMAL(65,30)", Type::Decimal(Some((65, 30))), "35 digits before the point and 30 behind it")
        }
        Type::Float4 => plain("FLOAT", ty),
        Type::Float8 => plain("DOUBLE", ty),
        Type::Char(length @ ..=255) => plain(format!("CHAR({length})"), ty),
        Type::Char(length) | Type::VarChar(length) if *length <= if in_key { 768 } else { 4_000 } => {
            plain(format!("VARCHAR({length})"), ty)
        }
        Type::Char(_) | Type::VarChar(_) | Type::Text if in_key => short(""),
        Type::Char(length) | Type::VarChar(length) => {
            noted("LONGTEXT", Type::Text, format!("its length of {length} is not kept"))
        }
        Type::Text => plain("LONGTEXT", ty),
        Type::Bytes if in_key => noted(format!("VARBINARY({IN_KEY})"), Type::Bytes, format!("{IN_KEY} bytes in a key")),
        Type::Bytes => plain("LONGBLOB", ty),
        Type::Date => plain("DATE", ty),
        Type::Time(p) => plain(format!("TIME{}", digits(*p)), ty),
        Type::Timestamp(p) => plain(format!("DATETIME{}", digits(*p)), ty),
        Type::TimestampTz(p) => noted(format!("DATETIME{}", digits(*p)), Type::Timestamp(*p), IN_UTC),
        Type::Uuid => noted("CHAR(36)", Type::Char(36), "as text"),
        Type::Json => plain("JSON", ty),
        Type::Own if in_key => short("as the text that its server shows, "),
        Type::Own => noted("LONGTEXT", Type::Text, AS_TEXT),
    }
}

fn informix(column: &Column, in_key: bool) -> Result<Chosen, String> {
    let ty = &column.ty;
    let identity = column.default == Some(Default::Identity);
    let bytes = "its length counts bytes";
    let short = |note: &str| {
        noted(format!("VARCHAR({IN_KEY})"), Type::VarChar(IN_KEY), format!("{note}{IN_KEY} bytes in a key"))
    };
    let to = |first: &str, digits: u8| match digits.min(5) {
        0 => format!("DATETIME {first} TO SECOND"),
        digits => format!("DATETIME {first} TO FRACTION({digits})"),
    };
    let fraction = |digits: u8| (digits > 5).then(|| "5 digits of fractions of a second".to_owned());
    Ok(match ty {
        Type::Int(8) if identity => plain("BIGSERIAL", ty),
        Type::Int(_) if identity => plain("SERIAL", &Type::Int(4)),
        Type::Bool => plain("BOOLEAN", ty),
        Type::Int(2) => plain("SMALLINT", ty),
        Type::Int(4) => plain("INTEGER", ty),
        Type::Int(_) => plain("BIGINT", ty),
        &Type::Decimal(Some((precision, scale))) if precision <= 32 => {
            plain(format!("DECIMAL({precision},{scale})"), ty)
        }
        &Type::Decimal(Some((_, scale))) => {
            let scale = scale.min(32);
            noted(format!("DECIMAL(32,{scale})"), Type::Decimal(Some((32, scale))), "32 digits")
        }
        Type::Decimal(None) => noted("DECIMAL(32)", Type::Decimal(None), "32 digits"),
        Type::Float4 => plain("SMALLFLOAT", ty),
        Type::Float8 => plain("FLOAT", ty),
        Type::Char(length) if *length <= if in_key { IN_KEY } else { 32_767 } => {
            noted(format!("CHAR({length})"), ty.clone(), bytes)
        }
        Type::VarChar(length @ ..=255) => noted(format!("VARCHAR({length})"), ty.clone(), bytes),
        Type::Char(_) | Type::VarChar(_) | Type::Text if in_key => short(""),
        Type::VarChar(length @ ..=32_739) => noted(format!("LVARCHAR({length})"), ty.clone(), bytes),
        Type::Char(length) | Type::VarChar(length) => {
            noted("TEXT", Type::Text, format!("its length of {length} is not kept"))
        }
        Type::Text => plain("TEXT", ty),
        Type::Bytes if in_key => return Err("Informix has no bytes in a key".into()),
        Type::Bytes => plain("BYTE", ty),
        Type::Date => plain("DATE", ty),
        Type::Time(digits) => (to("HOUR", *digits), ty.clone(), fraction(*digits)),
        Type::Timestamp(digits) => (to("YEAR", *digits), ty.clone(), fraction(*digits)),
        Type::TimestampTz(digits) => {
            let note = fraction(*digits).map_or_else(|| IN_UTC.to_owned(), |fraction| format!("{IN_UTC}; {fraction}"));
            (to("YEAR", *digits), Type::Timestamp(*digits), Some(note))
        }
        Type::Uuid => noted("CHAR(36)", Type::Char(36), "as text"),
        Type::Json => noted("TEXT", Type::Text, "as text"),
        Type::Own if in_key => short("as the text that its server shows, "),
        Type::Own => noted("TEXT", Type::Text, AS_TEXT),
    })
}

/// What a column of this type takes on a database of this kind.
pub(super) fn limits(kind: Kind, ty: &Type) -> Fit {
    let informix = kind == Kind::Informix;
    // MySQL's numbers and days end where Informix's do; PostgreSQL has NaN, infinity and days before Christ.
    let bounded = !matches!(kind, Kind::Sqlite | Kind::Postgres);
    let mut fit = Fit { finite: bounded, years: bounded, no_nul: kind != Kind::MySql, ..Fit::default() };
    match *ty {
        Type::Int(bytes) => {
            let greatest = (1i128 << (u32::from(bytes) * 8 - 1)) - 1;
            // The least number of each width is NULL there.
            let least = if informix { -greatest } else { -greatest - 1 };
            fit.whole = Some((least, greatest));
        }
        Type::Decimal(Some((precision, scale))) => fit.digits = Some((precision.saturating_sub(scale), scale)),
        Type::Decimal(None) if informix => fit.significant = Some(32),
        Type::Char(length) | Type::VarChar(length) if informix => fit.bytes = Some(length as usize),
        Type::Char(length) | Type::VarChar(length) => fit.characters = Some(length as usize),
        Type::Time(digits) | Type::Timestamp(digits) | Type::TimestampTz(digits) => {
            fit.fraction = Some(if informix { digits.min(5) } else { digits });
        }
        _ => {}
    }
    fit
}
