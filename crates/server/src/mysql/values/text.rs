//! The text protocol.

use rowferry_dialect::values::mysql::{json, numbers, unsigned as wide};
use rowferry_dialect::values::{self, Settings, ValueRef, timestamp};
use rowferry_engine::{Result, Type};

use super::Form;

/// Appends a value's text, without its length.
#[inline]
pub(super) fn write(out: &mut Vec<u8>, value: ValueRef<'_>, form: Form, ty: &Type, settings: &Settings) -> Result<()> {
    match (form, value) {
        (Form::Text, ValueRef::Text(bytes)) => out.extend_from_slice(values::text::clean_but_for_nul(bytes)?),
        (Form::Document, ValueRef::Text(bytes)) => {
            out.extend_from_slice(&json::shown(values::text::clean_but_for_nul(bytes)?));
        }
        (Form::Bytes, ValueRef::Blob(bytes) | ValueRef::Text(bytes)) => out.extend_from_slice(bytes),
        (Form::Bool, ValueRef::Integer(value)) => out.push(if value == 0 { b'0' } else { b'1' }),
        (Form::Int { fill: 0, .. }, ValueRef::Integer(value)) => values::integer::write(out, value),
        (Form::Int { .. } | Form::Bool | Form::Year | Form::Bits(_), value) => {
            write_number(out, value, form, ty, settings)?;
        }
        (Form::Float, ValueRef::Real(number)) if number.is_finite() => {
            out.extend_from_slice(numbers::float_text(number).as_bytes());
        }
        (Form::Double, ValueRef::Real(number)) if number.is_finite() => {
            out.extend_from_slice(numbers::double_text(number).as_bytes());
        }
        (Form::Float | Form::Double, ValueRef::Integer(number)) => {
            out.extend_from_slice(numbers::double_text(number as f64).as_bytes());
        }
        (Form::Fixed { digits, .. }, ValueRef::Real(number)) => {
            out.extend_from_slice(format!("{number:.*}", usize::from(digits)).as_bytes());
        }
        (Form::Date, ValueRef::Text(bytes)) => out.extend_from_slice(bytes),
        (Form::Time(digits) | Form::DateTime(digits), ValueRef::Text(bytes)) => {
            out.extend_from_slice(bytes);
            pad_fraction(out, bytes.len(), digits);
        }
        (Form::Instant(digits), ValueRef::Text(bytes)) => {
            let start = out.len();
            write_local(out, bytes, settings)?;
            let len = out.len() - start;
            pad_fraction(out, len, digits);
        }
        // A value of another storage class, and types whose text is worked out.
        (_, value) => values::write(out, value, ty, settings)?,
    }
    Ok(())
}

fn write_number(out: &mut Vec<u8>, value: ValueRef<'_>, form: Form, ty: &Type, settings: &Settings) -> Result<()> {
    match form {
        Form::Bits(bytes) => {
            let number = unsigned(value, ty, settings)?;
            out.extend_from_slice(&number.to_be_bytes()[8 - usize::from(bytes)..]);
        }
        Form::Bool => out.push(if truth(value, ty, settings)? { b'1' } else { b'0' }),
        Form::Year => {
            let number = unsigned(value, ty, settings)?;
            out.extend_from_slice(format!("{number:04}").as_bytes());
        }
        Form::Int { fill, .. } => {
            let mut digits = Vec::new();
            match value {
                ValueRef::Blob(bytes) if let Some(number) = wide::of_bytes(bytes) => {
                    digits.extend_from_slice(number.to_string().as_bytes());
                }
                _ => values::write(&mut digits, value, ty, settings)?,
            }
            out.extend(std::iter::repeat_n(b'0', usize::from(fill).saturating_sub(digits.len())));
            out.extend_from_slice(&digits);
        }
        _ => values::write(out, value, ty, settings)?,
    }
    Ok(())
}

/// A truth value, whatever its storage class.
pub(super) fn truth(value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<bool> {
    if let ValueRef::Integer(value) = value {
        return Ok(value != 0);
    }
    let mut text = Vec::new();
    values::write(&mut text, value, ty, settings)?;
    Ok(matches!(text.first(), Some(b't' | b'1')))
}

/// A number without sign, whatever its storage class: what exceeds 63 bits is stored as a decimal.
pub(super) fn unsigned(value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<u64> {
    match value {
        ValueRef::Integer(value) => return Ok(value.cast_unsigned()),
        ValueRef::Blob(bytes) if let Some(number) = wide::of_bytes(bytes) => return Ok(number),
        _ => {}
    }
    let mut text = Vec::new();
    values::write(&mut text, value, ty, settings)?;
    let text = std::str::from_utf8(&text).unwrap_or_default();
    let parsed = text.parse::<u64>().or_else(|_| text.parse::<i64>().map(i64::cast_unsigned));
    parsed.map_err(|_| values::misfit(value, ty))
}

/// An instant in the session's zone, without saying which that is.
pub(super) fn write_local(out: &mut Vec<u8>, stored: &[u8], settings: &Settings) -> Result<()> {
    let start = out.len();
    timestamp::write_tz(out, stored, settings)?;
    // Behind the date, a sign begins the zone.
    let zone = out[start..].iter().skip(11).position(|byte| matches!(byte, b'+' | b'-'));
    if let Some(at) = zone {
        out.truncate(start + 11 + at);
    }
    Ok(())
}

/// Has what was written last, `len` bytes of time, show so many digits behind the point.
fn pad_fraction(out: &mut Vec<u8>, len: usize, digits: Option<u8>) {
    let Some(digits) = digits else { return };
    let start = out.len() - len;
    let shown = match out[start..].iter().rposition(|byte| *byte == b'.') {
        Some(point) => len - point - 1,
        None if digits > 0 => {
            out.push(b'.');
            0
        }
        None => return,
    };
    out.resize(out.len() + usize::from(digits).saturating_sub(shown), b'0');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: ValueRef<'_>, form: Form, ty: &Type) -> String {
        let mut out = b"before".to_vec();
        write(&mut out, value, form, ty, &Settings::default()).unwrap();
        String::from_utf8(out.split_off(6)).unwrap()
    }

    #[test]
    fn numbers_are_written_as_mysql_does() {
        let int = |fill| Form::Int { bytes: 4, fill };
        assert_eq!(shown(ValueRef::Integer(-7), int(0), &Type::Int4), "-7");
        assert_eq!(shown(ValueRef::Integer(7), int(5), &Type::Int4), "00007");
        assert_eq!(shown(ValueRef::Integer(1), Form::Bool, &Type::Bool), "1");
        assert_eq!(shown(ValueRef::Integer(69), Form::Year, &Type::Int2), "0069");
        assert_eq!(shown(ValueRef::Integer(0x4142), Form::Bits(2), &Type::Int8), "AB");
        assert_eq!(shown(ValueRef::Real(1e20), Form::Double, &Type::Float8), "1e20");
        assert_eq!(shown(ValueRef::Real(1.5e-7), Form::Double, &Type::Float8), "0.00000015");
        assert_eq!(shown(ValueRef::Real(123_456_792.0), Form::Float, &Type::Float4), "123457000");
        assert_eq!(shown(ValueRef::Real(0.1), Form::Double, &Type::Float8), "0.1");
    }

    #[test]
    fn times_show_the_digits_of_their_type() {
        let stamp = Type::Timestamp(None);
        let moment = ValueRef::Text(b"2024-02-29 12:00:00.5");
        assert_eq!(shown(moment, Form::DateTime(Some(3)), &stamp), "2024-02-29 12:00:00.500");
        assert_eq!(shown(moment, Form::DateTime(None), &stamp), "2024-02-29 12:00:00.5");
        let whole = ValueRef::Text(b"12:00:00");
        assert_eq!(shown(whole, Form::Time(Some(2)), &Type::Time(None)), "12:00:00.00");
        assert_eq!(shown(whole, Form::Time(Some(0)), &Type::Time(None)), "12:00:00");
        let instant = ValueRef::Text(b"2024-02-29 12:00:00+00");
        assert_eq!(shown(instant, Form::Instant(Some(0)), &Type::TimestampTz(None)), "2024-02-29 12:00:00");
    }
}
