//! A value of one type as a value of another, by Informix's rules.

use super::{Decimal, Document, Moment, Span, composite, date_from_days, date_to_days, encrypted, parse_date};
use crate::informix::types::{YEAR_TO_FRACTION5, type_words};
use crate::ir::Value;
use crate::types::{Field, NumericModifier, Qualifier};
use crate::values::json;
use crate::{Condition, Error, Result, Type};

/// Converts a stored value from one type to another, as an assignment or a cast does: text is cut to its length, decimals
/// are rounded, datetimes lose the fields that the target does not have.
///
/// # Errors
/// Informix's own conditions: -1213 for text that is not a number, -1214 to -1226 for numbers out of range, -1218 for
/// text that is not a date, and so on; -9634 for types between which there is no cast.
pub fn convert(value: &Value, from: &Type, to: &Type) -> Result<Value> {
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    // What a DISTINCT type may become of, the binder has seen to.
    let (from, to) = (from.without_distinct(), to.without_distinct());
    if from == to {
        return Ok(value.clone());
    }
    Ok(match to {
        Type::Bool => Value::Integer(boolean(value, from)?.into()),
        Type::Int2 | Type::Int4 | Type::Int8 | Type::IfxInt8 | Type::Oid => {
            Value::Integer(fits_integer(integer(value, from, to)?, to)?)
        }
        Type::Float8 => Value::Real(real(value, from, to)?),
        Type::Float4 => {
            let single = real(value, from, to)? as f32;
            Value::Real(single.into())
        }
        Type::Numeric(Some(modifier)) | Type::Money(modifier) => {
            stored_decimal(decimal(value, from, to)?.fitted(*modifier)?, to)
        }
        Type::Numeric(None) => Value::Text(decimal(value, from, to)?.to_string()),
        Type::FloatingDecimal(precision) => Value::Text(decimal(value, from, to)?.floating(*precision).to_string()),
        Type::Char(length) | Type::Nchar(length) => {
            Value::Text(of_length(value, from, *length)?.trim_end_matches(' ').to_owned())
        }
        Type::Varchar(Some(length)) | Type::Nvarchar(length) | Type::Lvarchar(length) => {
            Value::Text(of_length(value, from, *length)?)
        }
        Type::Varchar(None) | Type::Text | Type::Name | Type::TextBlob | Type::Clob | Type::InternalChar => {
            Value::Text(text(value, from)?)
        }
        Type::Date => {
            let (year, month, day) = date(value, from, to)?;
            Value::Text(format!("{year:04}-{month:02}-{day:02}"))
        }
        Type::Datetime(qualifier) => Value::Text(moment(value, from, *qualifier, to)?.format(*qualifier)),
        Type::Timestamp(_) => {
            let text = moment(value, from, YEAR_TO_FRACTION5, to)?.format(YEAR_TO_FRACTION5);
            Value::Text(text.trim_end_matches('0').trim_end_matches('.').to_owned())
        }
        Type::QualifiedInterval(qualifier) => match (value, from) {
            (Value::Text(text), Type::QualifiedInterval(source)) => {
                Value::Text(Span::parse(text, *source)?.format(*qualifier)?)
            }
            (Value::Text(text), _) if from.is_text() || *from == Type::Unknown => {
                Value::Text(Span::parse(text, *qualifier)?.format(*qualifier)?)
            }
            _ => return Err(no_cast(from, to)),
        },
        Type::Byte | Type::Blob | Type::Bytea => match value {
            Value::Blob(_) => value.clone(),
            Value::Text(text) => Value::Blob(text.as_bytes().to_vec()),
            _ => return Err(no_cast(from, to)),
        },
        Type::Composite(words) => match (value, from) {
            (Value::Text(text), Type::Composite(_) | Type::Unknown) => Value::Text(composite::converted(text, words)?),
            (Value::Text(text), from) if from.is_text() => Value::Text(composite::converted(text, words)?),
            _ => return Err(no_cast(from, to)),
        },
        Type::Json | Type::Jsonb if matches!(from, Type::Json | Type::Jsonb) => value.clone(),
        // What is JSON stays as it is written; what only servers read becomes JSON.
        Type::Json | Type::Jsonb if from.is_text() || *from == Type::Unknown => match value {
            Value::Text(text) if json::check(text).is_err() => Value::Text(Document::parse(text)?.to_string()),
            _ => value.clone(),
        },
        Type::Uuid if from.is_text() || *from == Type::Unknown => value.clone(),
        _ => return Err(no_cast(from, to)),
    })
}

/// As [`convert`], but an exact decimal is always its text with all its digits: the form in which it is computed with,
/// whatever column it may come from or go to.
///
/// # Errors
/// As [`convert`].
pub fn computed(value: &Value, from: &Type, to: &Type) -> Result<Value> {
    let (from, to) = (from.without_distinct(), to.without_distinct());
    match to {
        _ if *value == Value::Null => Ok(Value::Null),
        Type::Numeric(Some(modifier)) | Type::Money(modifier) => {
            Ok(Value::Text(decimal(value, from, to)?.fitted(*modifier)?.to_string()))
        }
        _ => convert(value, from, to),
    }
}

fn no_cast(from: &Type, to: &Type) -> Error {
    Error::new(Condition::CannotCoerce, format!("there is no cast from {} to {}", type_words(from), type_words(to)))
}

/// A decimal in the form in which its column stores it.
fn stored_decimal(decimal: Decimal, to: &Type) -> Value {
    let text = decimal.to_string();
    if to.storage() == crate::types::Storage::NativeDecimal {
        // Up to 15 digits a double holds exactly what the text says.
        if let Ok(integer) = text.parse::<i64>() {
            return Value::Integer(integer);
        }
        if let Ok(real) = text.parse::<f64>() {
            return Value::Real(real);
        }
    }
    Value::Text(text)
}

fn boolean(value: &Value, from: &Type) -> Result<bool> {
    match value {
        Value::Integer(number) if *from == Type::Bool || from.is_integer() => Ok(*number != 0),
        Value::Text(text) => match text.trim() {
            "t" | "T" | "1" => Ok(true),
            "f" | "F" | "0" => Ok(false),
            other => Err(Error::new(Condition::InvalidBoolean, format!("\"{other}\" is not a BOOLEAN"))),
        },
        _ => Err(no_cast(from, &Type::Bool)),
    }
}

fn integer(value: &Value, from: &Type, to: &Type) -> Result<i64> {
    let range = || out_of_range(to);
    match value {
        Value::Integer(number) if *from != Type::Bool => Ok(*number),
        Value::Real(number) => {
            let whole = number.trunc();
            if whole.is_finite() && (-9.3e18..9.3e18).contains(&whole) { Ok(whole as i64) } else { Err(range()) }
        }
        Value::Text(text) if *from == Type::Date => {
            let (year, month, day) = parse_date(text)?;
            Ok(date_to_days(year, month, day))
        }
        Value::Text(text) if from.is_text() || from.is_decimal() || *from == Type::Unknown => {
            Decimal::parse(text)?.to_integer().ok_or_else(range)
        }
        _ => Err(no_cast(from, to)),
    }
}

/// A number within its type's range; the least number of each type stands for NULL on Informix's wire and is refused.
pub fn fits_integer(number: i64, to: &Type) -> Result<i64> {
    let least = match to {
        Type::Int2 => i64::from(i16::MIN),
        Type::Int4 => i64::from(i32::MIN),
        _ => i64::MIN,
    };
    if number > least && number <= -(least + 1) { Ok(number) } else { Err(out_of_range(to)) }
}

fn out_of_range(to: &Type) -> Error {
    let (condition, name) = match to {
        Type::Int2 => (Condition::SmallintOutOfRange, "SMALLINT"),
        Type::Int4 => (Condition::IntegerOutOfRange, "INTEGER"),
        _ => (Condition::BigintOutOfRange, "BIGINT"),
    };
    Error::new(condition, format!("the number exceeds the range of {name}"))
}

fn real(value: &Value, from: &Type, to: &Type) -> Result<f64> {
    match value {
        Value::Integer(number) if *from != Type::Bool => Ok(*number as f64),
        Value::Real(number) => Ok(*number),
        Value::Text(text) if from.is_text() || from.is_decimal() || *from == Type::Unknown => {
            text.trim().parse().map_err(|_| {
                Error::new(Condition::InvalidTextRepresentation, format!("\"{}\" is not a number", text.trim()))
            })
        }
        _ => Err(no_cast(from, to)),
    }
}

fn decimal(value: &Value, from: &Type, to: &Type) -> Result<Decimal> {
    match value {
        Value::Integer(number) if *from != Type::Bool => Decimal::parse(&number.to_string()),
        // The shortest text that reads back as the same double.
        Value::Real(number) if number.is_finite() => Decimal::parse(&format!("{number:e}")),
        Value::Real(_) => Err(Error::new(Condition::NumericValueOutOfRange, "the number is not finite")),
        Value::Text(text) if from.is_text() || from.is_decimal() || *from == Type::Unknown => Decimal::parse(text),
        Value::Text(text) if *from == Type::Date => {
            let (year, month, day) = parse_date(text)?;
            Decimal::parse(&date_to_days(year, month, day).to_string())
        }
        _ => Err(no_cast(from, to)),
    }
}

/// A value as text, as Informix prints it.
fn text(value: &Value, from: &Type) -> Result<String> {
    Ok(match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) if *from == Type::Bool => if *number != 0 { "t" } else { "f" }.to_owned(),
        Value::Integer(number) => match from {
            Type::Numeric(Some(modifier)) | Type::Money(modifier) => {
                Decimal::parse(&number.to_string())?.rescaled(modifier.scale.into()).to_string()
            }
            _ => number.to_string(),
        },
        Value::Real(number) => match from {
            Type::Numeric(Some(modifier)) | Type::Money(modifier) => {
                Decimal::parse(&format!("{number:e}"))?.rescaled(modifier.scale.into()).to_string()
            }
            _ => {
                let plain = format!("{number:?}");
                plain.strip_suffix(".0").map_or(plain.clone(), |whole| format!("{whole}.00000000000000"))
            }
        },
        Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Null => String::new(),
    })
}

/// The first `length` characters: the default code set has one byte for each.
/// A text of a length at most. Strings are cut; numbers lose digits behind the point, but no others.
fn of_length(value: &Value, from: &Type, length: u32) -> Result<String> {
    let (text, length) = (text(value, from)?, length as usize);
    if text.len() <= length || !(from.is_integer() || from.is_decimal()) {
        if text.len() > length && encrypted::is_encrypted(&text) {
            return Err(cut_encrypted(text.len(), length));
        }
        return Ok(cut(text, length));
    }
    let whole = text.find('.').unwrap_or(text.len());
    if whole > length {
        let message = "a converted value does not fit into the allotted space";
        return Err(Error::new(Condition::ConvertedTooLong, message));
    }
    let scale = i16::try_from(length.saturating_sub(whole + 1)).unwrap_or(i16::MAX);
    let rounded = Decimal::parse(&text)?.fitted(NumericModifier { precision: 32, scale })?.to_string();
    Ok(cut(rounded, length).trim_end_matches('.').to_owned())
}

/// How long a string of a type can be.
pub fn string_length(ty: &Type) -> Option<u32> {
    match ty {
        Type::Char(n) | Type::Nchar(n) | Type::Varchar(Some(n)) | Type::Nvarchar(n) | Type::Lvarchar(n) => Some(*n),
        _ => None,
    }
}

/// A string as a type of so many bytes holds it, where the code set has several for a character: whole characters.
///
/// # Errors
/// `22001` for what ENCRYPT has made, of which a part is worth nothing.
pub fn within_bytes(value: Value, ty: &Type) -> Result<Value> {
    let (Value::Text(text), Some(length)) = (&value, string_length(ty)) else { return Ok(value) };
    let length = length as usize;
    if text.len() <= length {
        return Ok(value);
    }
    let part = &text[..super::strings::boundary_before(text, length)];
    if encrypted::is_encrypted(text) {
        return Err(cut_encrypted(text.len(), length));
    }
    let is_char = matches!(ty, Type::Char(_) | Type::Nchar(_));
    Ok(Value::Text(if is_char { part.trim_end_matches(' ') } else { part }.to_owned()))
}

fn cut_encrypted(bytes: usize, length: usize) -> Error {
    let message = format!("what ENCRYPT has made has {bytes} bytes and does not fit into {length}");
    Error::new(Condition::StringDataRightTruncation, message)
}

fn cut(mut text: String, length: usize) -> String {
    if text.len() > length
        && let Some((end, _)) = text.char_indices().nth(length)
    {
        text.truncate(end);
    }
    text
}

fn date(value: &Value, from: &Type, to: &Type) -> Result<(i32, u8, u8)> {
    match (value, from) {
        (Value::Integer(days), from) if from.is_number() => {
            if !(date_to_days(1, 1, 1)..=date_to_days(9999, 12, 31)).contains(days) {
                return Err(Error::new(Condition::InvalidYear, "the day is out of range"));
            }
            Ok(date_from_days(*days))
        }
        (Value::Text(text), Type::Datetime(_) | Type::Timestamp(_) | Type::TimestampTz(_)) => {
            let source = source_qualifier(from);
            let moment = Moment::parse(text, source, Moment::LEAST)?;
            Ok((moment.year, moment.month, moment.day))
        }
        (Value::Text(text), from) if from.is_text() || matches!(from, Type::Unknown | Type::Date) => parse_date(text),
        _ => Err(no_cast(from, to)),
    }
}

fn source_qualifier(from: &Type) -> Qualifier {
    match from {
        Type::Datetime(qualifier) => *qualifier,
        Type::Date => Qualifier { first: Field::Year, last: Field::Day },
        Type::Time(_) => Qualifier { first: Field::Hour, last: Field::Fraction(5) },
        _ => YEAR_TO_FRACTION5,
    }
}

fn moment(value: &Value, from: &Type, target: Qualifier, to: &Type) -> Result<Moment> {
    let Value::Text(text) = value else { return Err(no_cast(from, to)) };
    match from {
        Type::Datetime(_) | Type::Date | Type::Time(_) | Type::Timestamp(_) | Type::TimestampTz(_) => {
            let text = text.strip_suffix("+00").unwrap_or(text);
            Moment::parse(text, source_qualifier(from), Moment::LEAST)
        }
        _ if from.is_text() || *from == Type::Unknown => Moment::parse(text, target, Moment::LEAST),
        _ => Err(no_cast(from, to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informix::type_from_words;

    fn from_text(text: &str, to: &str) -> Result<Value> {
        convert(&Value::Text(text.into()), &Type::Text, &type_from_words(to).unwrap())
    }

    #[test]
    fn text_becomes_a_value_of_each_type() {
        assert_eq!(from_text(" 42 ", "INT").unwrap(), Value::Integer(42));
        assert_eq!(from_text("t", "BOOLEAN").unwrap(), Value::Integer(1));
        assert_eq!(from_text("1.005", "DECIMAL(20,2)").unwrap(), Value::Text("1.01".into()));
        assert_eq!(from_text("1.5", "DECIMAL(10,2)").unwrap(), Value::Real(1.5));
        assert_eq!(from_text("abcdef", "CHAR(3)").unwrap(), Value::Text("abc".into()));
        assert_eq!(from_text("ab   ", "CHAR(10)").unwrap(), Value::Text("ab".into()));
        assert_eq!(from_text("äöü", "VARCHAR(2)").unwrap(), Value::Text("äö".into()));
        assert_eq!(from_text("05/04/2026", "DATE").unwrap(), Value::Text("2026-05-04".into()));
        assert_eq!(
            from_text("2026-05-04 12:34:56.789", "DATETIME YEAR TO SECOND").unwrap(),
            Value::Text("2026-05-04 12:34:56".into())
        );
        assert_eq!(from_text("3 04:05:06", "INTERVAL DAY TO SECOND").unwrap(), Value::Text("3 04:05:06".into()));
    }

    #[test]
    fn failures_have_informix_codes() {
        for (text, to, code) in [
            ("x", "INT", -1213),
            ("99999", "SMALLINT", -1214),
            ("9999999999", "INT", -1215),
            ("123456", "DECIMAL(4,2)", -1226),
            ("2026-13-01", "DATE", -1205),
            ("nonsense", "DATE", -1218),
        ] {
            assert_eq!(from_text(text, to).unwrap_err().condition().informix_code(), code, "{text} {to}");
        }
    }
}
