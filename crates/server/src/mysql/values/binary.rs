//! The binary protocol.

use rowferry_dialect::values::{self, Settings, ValueRef};
use rowferry_engine::{Result, Type};
use rowferry_wire_mysql::messages::resultset::{DateTime, Time};
use rowferry_wire_mysql::server::RowWriter as Cells;

use super::{Form, recode, text};

/// Appends a value that is not NULL.
#[inline]
pub(super) fn write(
    cells: &mut Cells<'_>,
    value: ValueRef<'_>,
    form: Form,
    ty: &Type,
    settings: &Settings,
) -> Result<()> {
    match form {
        Form::Bool => {
            let byte = u8::from(text::truth(value, ty, settings)?);
            cells.payload().push(byte);
        }
        Form::Int { bytes, .. } => {
            // Both signs fit in as many bytes; too wide a value is one of somebody else's making.
            let number = text::unsigned(value, ty, settings)?;
            check_width(number, bytes, value, ty)?;
            cells.payload().extend_from_slice(&number.to_le_bytes()[..usize::from(bytes)]);
        }
        Form::Year => {
            let year = text::unsigned(value, ty, settings)?;
            cells.payload().extend_from_slice(&year.to_le_bytes()[..2]);
        }
        Form::Float | Form::Fixed { single: true, .. } => {
            let number = real(value, ty, settings)? as f32;
            cells.payload().extend_from_slice(&number.to_le_bytes());
        }
        Form::Double | Form::Fixed { single: false, .. } => {
            let number = real(value, ty, settings)?;
            cells.payload().extend_from_slice(&number.to_le_bytes());
        }
        Form::Date | Form::DateTime(_) | Form::Instant(_) | Form::Time(_) => {
            let mut shown = Vec::with_capacity(26);
            text::write(&mut shown, value, form, ty, settings)?;
            let misfit = || values::misfit(value, ty);
            match form {
                Form::Time(_) => read_time(&shown).ok_or_else(misfit)?.encode(cells.payload()),
                _ => read_datetime(&shown).ok_or_else(misfit)?.encode(cells.payload()),
            }
        }
        Form::Text | Form::Document | Form::Bytes | Form::Decimal | Form::Bits(_) | Form::Shown => {
            cells.cell_with(|out| {
                rowferry_dialect::work::reserve(out, super::length(value))?;
                let start = out.len();
                text::write(out, value, form, ty, settings)?;
                recode(out, start, form, settings)
            })?
        }
    }
    Ok(())
}

fn check_width(number: u64, bytes: u8, value: ValueRef<'_>, ty: &Type) -> Result<()> {
    if bytes >= 8 {
        return Ok(());
    }
    let bits = u32::from(bytes) * 8;
    let signed = number.cast_signed();
    let fits = number < 1 << bits || signed >= -(1 << (bits - 1)) && signed < 0;
    if fits { Ok(()) } else { Err(values::misfit(value, ty)) }
}

fn real(value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<f64> {
    match value {
        ValueRef::Real(value) => Ok(value),
        ValueRef::Integer(value) => Ok(value as f64),
        other => {
            let mut shown = Vec::new();
            values::write(&mut shown, other, ty, settings)?;
            let shown = std::str::from_utf8(&shown).unwrap_or_default();
            shown.parse().map_err(|_| values::misfit(value, ty))
        }
    }
}

/// `YYYY-MM-DD[ HH:MM:SS[.ffffff]]`.
pub(super) fn read_datetime(text: &[u8]) -> Option<DateTime> {
    let text = std::str::from_utf8(text).ok()?;
    let (date, time) = text.split_once(' ').unwrap_or((text, "0:0:0"));
    let mut parts = date.split('-');
    let mut value = DateTime {
        year: parts.next()?.parse().ok()?,
        month: parts.next()?.parse().ok()?,
        day: parts.next()?.parse().ok()?,
        ..DateTime::default()
    };
    let time = read_time(time.as_bytes())?;
    if parts.next().is_some() || time.negative || time.days > 0 || value.year > 9999 {
        return None;
    }
    (value.hour, value.minute, value.second, value.microsecond) =
        (time.hours, time.minutes, time.seconds, time.microseconds);
    Some(value)
}

/// `[-]HHH:MM:SS[.ffffff]`.
pub(super) fn read_time(text: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(text).ok()?;
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':');
    let hours: u32 = parts.next()?.parse().ok()?;
    let minutes: u8 = parts.next()?.parse().ok()?;
    let seconds: u8 = parts.next()?.parse().ok()?;
    if parts.next().is_some() || fraction.len() > 6 || minutes > 59 || seconds > 59 {
        return None;
    }
    let scale = 10_u32.pow(6 - fraction.len() as u32);
    let microseconds = if fraction.is_empty() { 0 } else { fraction.parse::<u32>().ok()? * scale };
    Some(Time { negative, days: hours / 24, hours: (hours % 24) as u8, minutes, seconds, microseconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_from_their_texts() {
        let noon = DateTime { year: 2024, month: 2, day: 29, hour: 12, microsecond: 500_000, ..DateTime::default() };
        assert_eq!(read_datetime(b"2024-02-29 12:00:00.5"), Some(noon));
        assert_eq!(read_datetime(b"0000-00-00"), Some(DateTime::default()));
        let long = Time { negative: true, days: 34, hours: 22, minutes: 59, seconds: 59, microseconds: 0 };
        assert_eq!(read_time(b"-838:59:59"), Some(long));
        for bad in ["infinity", "2024-02-29 25", "2024-02-29 12:00:00 BC", "2024-02", "12:60:00"] {
            assert_eq!(read_datetime(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit_their_width_are_none() {
        let fits = |number: i64, bytes| {
            check_width(number.cast_unsigned(), bytes, ValueRef::Integer(number), &Type::Int2).is_ok()
        };
        assert!(fits(-128, 1) && fits(255, 1) && fits(-32_768, 2) && fits(65_535, 2) && fits(i64::MIN, 8));
        assert!(!fits(-129, 1) && !fits(256, 1) && !fits(65_536, 2) && !fits(-32_769, 2));
    }
}
