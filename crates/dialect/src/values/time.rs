//! `time` and `time with time zone`: microseconds of the day, stored as `HH:MM:SS[.ffffff]`.

use jiff::tz::TimeZone;

use super::datetime_text::{self, DAY, SECOND, Wanted, Zone};
use super::{Settings, ValueRef, misfit, zone};
use crate::{Condition, Error, Result, Type};

/// A time of day with an offset.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeTz {
    /// Microseconds of the day, by the clocks of the zone.
    pub micros: i64,
    /// Seconds east of Greenwich.
    pub offset: i32,
}

/// Reads a time of day; a date before it is ignored.
pub fn parse(text: &str, settings: &Settings) -> Result<i64> {
    if let Some((micros, [])) = datetime_text::iso_time(text.as_bytes()) {
        return Ok(micros);
    }
    Ok(datetime_text::parse(text, Wanted::Time, "time", settings)?.micros)
}

/// Reads a time of day with an offset; without one, the session zone's of today.
pub fn parse_tz(text: &str, settings: &Settings) -> Result<TimeTz> {
    let name = "time with time zone";
    let parsed = datetime_text::parse(text, Wanted::Time, name, settings)?;
    let local = |zone: &TimeZone| {
        let today = zone::to_local(zone, settings.now.unwrap_or(0)).div_euclid(DAY);
        parsed.days.unwrap_or(today) * DAY + parsed.micros
    };
    let offset = match &parsed.zone {
        Some(Zone::At(offset)) => *offset,
        Some(zone @ Zone::Abbreviated(..)) => zone.offset_at_local(local(&settings.time_zone)),
        // The offset of a zone that changes its clocks depends on the date.
        Some(zone) if parsed.days.is_none() && !zone.is_fixed() => return Err(syntax(name, text)),
        Some(zone) => zone.offset_at_local(local(&settings.time_zone)),
        None => zone::offset_at_local(&settings.time_zone, local(&settings.time_zone)),
    };
    Ok(TimeTz { micros: parsed.micros, offset })
}

fn syntax(name: &str, text: &str) -> Error {
    Error::new(Condition::InvalidDatetimeFormat, format!("invalid input syntax for type {name}: \"{text}\""))
}

/// Rounded to so many digits of the second's fraction.
pub fn round(micros: i64, digits: Option<u8>) -> i64 {
    match digits {
        Some(digits @ 0..=5) => {
            let unit = 10_i64.pow(6 - u32::from(digits));
            (micros + unit / 2).div_euclid(unit) * unit
        }
        _ => micros,
    }
}

/// The stored text.
pub fn to_stored(micros: i64) -> String {
    let mut out = Vec::with_capacity(15);
    datetime_text::write_iso_time(&mut out, micros);
    String::from_utf8(out).unwrap_or_default()
}

/// Microseconds of a stored time: canonical, or in another form that others have stored.
pub fn micros(stored: &[u8]) -> Result<i64> {
    if let Some((micros, [])) = datetime_text::iso_time(stored) {
        return Ok(micros);
    }
    let text = std::str::from_utf8(stored).ok();
    text.and_then(|text| parse(text, &Settings::default()).ok())
        .ok_or_else(|| misfit(ValueRef::Text(stored), &Type::Time(None)))
}

/// Appends a stored time.
pub fn write(out: &mut Vec<u8>, stored: &[u8]) -> Result<()> {
    if datetime_text::is_shown_time(stored) {
        out.extend_from_slice(stored);
        return Ok(());
    }
    datetime_text::write_iso_time(out, micros(stored)?);
    Ok(())
}

/// Order of two stored times with offsets; texts that are none come last.
pub fn compare_stored(left: &[u8], right: &[u8]) -> std::cmp::Ordering {
    match (TimeTz::from_stored(left), TimeTz::from_stored(right)) {
        (Ok(a), Ok(b)) => a.sort_key().cmp(&b.sort_key()),
        (Ok(_), Err(_)) => std::cmp::Ordering::Less,
        (Err(_), Ok(_)) => std::cmp::Ordering::Greater,
        (Err(_), Err(_)) => left.cmp(right),
    }
}

impl TimeTz {
    /// A stored value.
    pub fn from_stored(stored: &[u8]) -> Result<Self> {
        let corrupt = || misfit(ValueRef::Text(stored), &Type::TimeTz(None));
        if let Some((micros, rest)) = datetime_text::iso_time(stored) {
            let offset = std::str::from_utf8(rest).ok().and_then(zone::parse_offset);
            return Ok(Self { micros, offset: offset.ok_or_else(corrupt)? });
        }
        let text = std::str::from_utf8(stored).ok();
        text.and_then(|text| parse_tz(text, &Settings::default()).ok()).ok_or_else(corrupt)
    }

    /// The stored text.
    pub fn to_stored(self) -> String {
        let mut out = Vec::with_capacity(21);
        datetime_text::write_iso_time(&mut out, self.micros);
        zone::write_offset(&mut out, self.offset);
        String::from_utf8(out).unwrap_or_default()
    }

    /// What orders these values: the instant within the day, then the offset, east first.
    pub fn sort_key(self) -> (i64, i32) {
        (self.micros - i64::from(self.offset) * SECOND, -self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_postgres_reads() {
        for (text, stored) in [
            ("04:05:06.789", "04:05:06.789"),
            ("04:05", "04:05:00"),
            ("040506", "04:05:06"),
            ("04:05 AM", "04:05:00"),
            ("04:05 PM", "16:05:00"),
            ("12:00 am", "00:00:00"),
            ("2024-05-06 12:30", "12:30:00"),
            ("24:00:00", "24:00:00"),
            ("allballs", "00:00:00"),
            ("04:05:06.1234567", "04:05:06.123457"),
        ] {
            assert_eq!(to_stored(parse(text, &Settings::default()).unwrap()), stored, "{text}");
        }
        for (text, sqlstate) in [
            ("25:00", "22008"),
            ("12:60", "22008"),
            ("24:00:01", "22008"),
            ("x", "22007"),
            ("13:00 PM", "22008"),
            ("2024-05-06", "22007"),
        ] {
            assert_eq!(parse(text, &Settings::default()).unwrap_err().condition().sqlstate(), sqlstate, "{text}");
        }
    }

    #[test]
    fn offsets_stay() {
        let value = parse_tz("12:30:45.5+05:30", &Settings::default()).unwrap();
        assert_eq!(value.to_stored(), "12:30:45.5+05:30");
        assert_eq!(TimeTz::from_stored(value.to_stored().as_bytes()).unwrap(), value);
        assert_eq!(
            parse_tz("12:30 America/New_York", &Settings::default()).unwrap_err().condition().sqlstate(),
            "22007"
        );
        assert_eq!(
            parse_tz("2024-07-01 12:30 America/New_York", &Settings::default()).unwrap().to_stored(),
            "12:30:00-04"
        );
    }
}
