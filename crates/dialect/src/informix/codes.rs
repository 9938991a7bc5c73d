//! One table: each type's code and encoded length, as `syscolumns` and the SQLI wire have them.

use std::borrow::Cow;

use super::import;
use crate::Type;
use crate::types::{Field, IntervalQualifier, NumericModifier, Qualifier};
use crate::user_type::UserType;

/// A type as `syscolumns` and the wire describe it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TypeCode {
    /// The code: 0 CHAR, 1 SMALLINT, 2 INTEGER, …, 53 BIGSERIAL.
    pub code: u8,
    /// Width, precision and scale, or qualifier.
    pub length: i32,
    /// `sysxtdtypes.extended_id`; 0 for built-in types.
    pub extended_id: i32,
    /// The extended type's name; empty for built-in types; a row's or collection's own words.
    pub name: Cow<'static, str>,
    /// Alignment of an opaque type.
    pub alignment: i16,
    /// What the code has in its high byte: that the type is a DISTINCT one.
    pub flags: u16,
    /// `sysxtdtypes.extended_id` of a DISTINCT type's source; 0 for built-in types and for all others.
    pub source: i32,
}

/// A DISTINCT type, as the code's high byte says it.
const DISTINCT: u16 = 0x0800;
/// One of LVARCHAR.
const DISTINCT_LVARCHAR: u16 = 0x2000;
/// One of BOOLEAN.
const DISTINCT_BOOLEAN: u16 = 0x4000;

/// Describes a column's type; `identity` makes SERIAL of INTEGER, and so on.
pub fn type_code(ty: &Type, identity: bool) -> TypeCode {
    if let Some(user) = ty.distinct() {
        return distinct(user, identity);
    }
    let plain = |code, length| TypeCode {
        code,
        length,
        extended_id: 0,
        name: Cow::Borrowed(""),
        alignment: 0,
        flags: 0,
        source: 0,
    };
    let named = |code, length, extended_id, name, alignment| TypeCode {
        code,
        length,
        extended_id,
        name: Cow::Borrowed(name),
        alignment,
        flags: 0,
        source: 0,
    };
    let decimal =
        |NumericModifier { precision, scale }: NumericModifier| (i32::from(precision) << 8) | i32::from(scale);
    match import(ty) {
        Type::Char(n) => plain(0, n as i32),
        Type::Int2 => plain(1, 2),
        Type::Int4 => plain(if identity { 6 } else { 2 }, 4),
        Type::Float8 => plain(3, 8),
        Type::Float4 => plain(4, 4),
        Type::Numeric(Some(modifier)) => plain(5, decimal(modifier)),
        Type::FloatingDecimal(precision) => plain(5, (i32::from(precision) << 8) | 255),
        Type::Date => plain(7, 4),
        Type::Money(modifier) => plain(8, decimal(modifier)),
        Type::Datetime(qualifier) => plain(10, datetime_code(qualifier)),
        Type::Byte => plain(11, 56),
        Type::TextBlob => plain(12, 56),
        Type::Varchar(n) => plain(13, n.unwrap_or(255) as i32),
        Type::QualifiedInterval(qualifier) => plain(14, interval_code(qualifier)),
        Type::Nchar(n) => plain(15, n as i32),
        Type::Nvarchar(n) => plain(16, n as i32),
        Type::IfxInt8 => plain(if identity { 18 } else { 17 }, 10),
        Type::Int8 => plain(if identity { 53 } else { 52 }, 8),
        Type::Lvarchar(n) => named(40, n as i32, 1, "lvarchar", 1),
        Type::Json => named(40, 4_096, 25, "json", 1),
        Type::Jsonb => named(40, 4_096, 26, "bson", 1),
        Type::Bool => named(41, 1, 5, "boolean", 1),
        Type::Blob => named(41, 72, 10, "blob", 4),
        Type::Clob => named(41, 72, 11, "clob", 4),
        Type::Composite(words) => TypeCode {
            code: match words.split('(').next() {
                Some("SET") => 19,
                Some("MULTISET") => 20,
                Some("LIST") => 21,
                _ => 22,
            },
            length: words.len() as i32,
            extended_id: 2_048,
            name: Cow::Owned(words),
            alignment: 0,
            flags: 0,
            source: 0,
        },
        other => unreachable!("import leaves no {other:?}"),
    }
}

/// A DISTINCT type: its source's code and width under a name of its own.
fn distinct(user: &UserType, identity: bool) -> TypeCode {
    let Some(domain) = user.domain() else { return type_code(&Type::Text, identity) };
    let source = type_code(&domain.base, identity);
    let of = match domain.base.without_distinct() {
        Type::Bool => DISTINCT_BOOLEAN,
        Type::Lvarchar(_) => DISTINCT_LVARCHAR,
        _ => 0,
    };
    TypeCode {
        extended_id: user.oid as i32,
        name: Cow::Owned(user.name.clone()),
        flags: DISTINCT | of,
        source: source.extended_id,
        ..source
    }
}

const fn start(field: Field) -> i32 {
    match field {
        Field::Year => 0,
        Field::Month => 2,
        Field::Day => 4,
        Field::Hour => 6,
        Field::Minute => 8,
        Field::Second => 10,
        Field::Fraction(_) => 12,
    }
}

const fn end(field: Field) -> i32 {
    match field {
        Field::Fraction(digits) => 10 + digits as i32,
        other => start(other),
    }
}

/// `(digits << 8) | (first << 4) | last` of a DATETIME.
fn datetime_code(qualifier: Qualifier) -> i32 {
    let (first, last) = (start(qualifier.first), end(qualifier.last));
    let digits = match qualifier.first {
        Field::Year => 4 + last,
        Field::Fraction(digits) => i32::from(digits),
        _ => 2 + last - first,
    };
    (digits << 8) | (first << 4) | last
}

/// The same of an INTERVAL, whose first field has a precision of its own.
fn interval_code(qualifier: IntervalQualifier) -> i32 {
    let (first, last) = (start(qualifier.first), end(qualifier.last));
    let digits = match qualifier.first {
        Field::Fraction(digits) => i32::from(digits),
        _ => i32::from(qualifier.precision) + last - first,
    };
    (digits << 8) | (first << 4) | last
}

/// The qualifier with this code; `None` when it is none.
pub fn datetime_qualifier(code: i32) -> Option<Qualifier> {
    let (first, last) = fields(code)?;
    Some(Qualifier { first, last })
}

/// The interval qualifier with this code; `None` when it is none.
pub fn interval_qualifier(code: i32) -> Option<IntervalQualifier> {
    let (first, last) = fields(code)?;
    let precision = match first {
        Field::Fraction(digits) => i32::from(digits),
        _ => (code >> 8) - (end(last) - start(first)),
    };
    let precision = u8::try_from(precision).ok().filter(|precision| (1..=9).contains(precision))?;
    Some(IntervalQualifier { first, precision, last })
}

fn fields(code: i32) -> Option<(Field, Field)> {
    let field = |code| {
        Some(match code {
            0 => Field::Year,
            2 => Field::Month,
            4 => Field::Day,
            6 => Field::Hour,
            8 => Field::Minute,
            10 => Field::Second,
            11..=15 => Field::Fraction((code - 10) as u8),
            _ => return None,
        })
    };
    let last = field(code & 0xf)?;
    let first = if (code >> 4) & 0xf == 12 { last } else { field((code >> 4) & 0xf)? };
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informix::type_from_words;

    #[test]
    fn codes_are_those_of_real_servers() {
        for (words, code, length) in [
            ("INTEGER", 2, 4),
            ("VARCHAR(128)", 13, 0x80),
            ("DECIMAL(8,4)", 5, 0x0804),
            ("DECIMAL(16)", 5, 0x10ff),
            ("DATETIME YEAR TO SECOND", 10, 0x0e0a),
            ("DATETIME YEAR TO FRACTION(5)", 10, 0x130f),
            ("DATETIME HOUR TO MINUTE", 10, 0x0468),
            ("DATETIME YEAR TO YEAR", 10, 0x0400),
            ("DATETIME FRACTION TO FRACTION(5)", 10, 0x05cf),
            ("INTERVAL DAY(3) TO FRACTION(5)", 14, 0x0e4f),
            ("INTERVAL SECOND(3) TO FRACTION(2)", 14, 0x05ac),
            ("INTERVAL FRACTION TO FRACTION(5)", 14, 0x05cf),
            ("INTERVAL DAY(3) TO SECOND", 14, 0x094a),
            ("INTERVAL YEAR TO MONTH", 14, 0x0602),
            ("LVARCHAR(2048)", 40, 2_048),
            ("BOOLEAN", 41, 1),
        ] {
            let ty = type_from_words(words).unwrap();
            let found = type_code(&ty, false);
            assert_eq!((found.code, found.length), (code, length), "{words}");
            match ty {
                Type::Datetime(qualifier) => assert_eq!(datetime_qualifier(length), Some(qualifier), "{words}"),
                Type::QualifiedInterval(qualifier) if !matches!(qualifier.first, Field::Fraction(_)) => {
                    assert_eq!(interval_qualifier(length), Some(qualifier), "{words}");
                }
                _ => {}
            }
        }
        assert_eq!(type_code(&Type::Int4, true).code, 6);
        assert_eq!(datetime_qualifier(0x0e0b - 0x00f0), None);
    }
}
