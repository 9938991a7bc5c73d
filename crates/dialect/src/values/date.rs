//! `date`: days since 1970-01-01, stored as `YYYY-MM-DD`.

use rowferry_wire::civil::civil_from_days;

use super::datetime_text::{self, DAY, FIRST_DAY, INFINITY, LAST_DAY, NEGATIVE_INFINITY, Wanted};
use super::{DateOrder, DateStyle, Settings, ValueRef, misfit, zone};
use crate::{Condition, Error, Result, Type};

/// Reads a date; a time behind it is ignored, as PostgreSQL does.
pub fn parse(text: &str, settings: &Settings) -> Result<i64> {
    if let Some(days) = datetime_text::iso_date(text.as_bytes()) {
        return Ok(days);
    }
    let parsed = datetime_text::parse(text, Wanted::DateTime, "date", settings)?;
    let days = match (parsed.instant, parsed.days) {
        (Some(infinite @ (INFINITY | NEGATIVE_INFINITY)), _) => return Ok(infinite),
        (Some(0), _) => 0,
        (Some(instant), _) => zone::to_local(&settings.time_zone, instant).div_euclid(DAY),
        (None, Some(days)) => days,
        (None, None) => {
            let message = format!("invalid input syntax for type date: \"{text}\"");
            return Err(Error::new(Condition::InvalidDatetimeFormat, message));
        }
    };
    check(days).map_err(|error| Error::new(error.condition(), format!("date out of range: \"{text}\"")))
}

/// The days if they are within the type's range.
pub fn check(days: i64) -> Result<i64> {
    match days {
        INFINITY | NEGATIVE_INFINITY | FIRST_DAY..=LAST_DAY => Ok(days),
        _ => Err(datetime_text::out_of_range("date")),
    }
}

/// The stored text of a day number.
pub fn to_stored(days: i64) -> Result<String> {
    let mut out = Vec::with_capacity(10);
    match check(days)? {
        INFINITY => return Ok("infinity".to_owned()),
        NEGATIVE_INFINITY => return Ok("-infinity".to_owned()),
        days => datetime_text::write_stored_date(&mut out, days),
    }
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// The day number of a stored date: canonical, or in any other form that reads as a date without doubt.
pub fn days(stored: &[u8]) -> Result<i64> {
    if let Some((days, [])) = datetime_text::stored_date(stored) {
        return Ok(days);
    }
    let text = std::str::from_utf8(stored).map_err(|_| misfit(ValueRef::Text(stored), &Type::Date))?;
    match text {
        "infinity" => Ok(INFINITY),
        "-infinity" => Ok(NEGATIVE_INFINITY),
        // A text that others have stored: only the order that ISO 8601 fixes.
        _ => {
            let starts_with_year = text.bytes().take_while(u8::is_ascii_digit).count() >= 4;
            let settings = Settings { date_order: DateOrder::Ymd, ..Settings::default() };
            if starts_with_year { parse(text, &settings).ok() } else { None }
                .ok_or_else(|| misfit(ValueRef::Text(stored), &Type::Date))
        }
    }
}

/// Appends a stored date in the session's style.
pub fn write(out: &mut Vec<u8>, stored: &[u8], settings: &Settings) -> Result<()> {
    if settings.date_style == DateStyle::Iso && datetime_text::is_shown_date(stored) {
        out.extend_from_slice(stored);
        return Ok(());
    }
    let days = days(stored)?;
    write_days(out, days, settings);
    Ok(())
}

/// Appends a day number in the session's style.
pub fn write_days(out: &mut Vec<u8>, days: i64, settings: &Settings) {
    match days {
        INFINITY => return out.extend_from_slice(b"infinity"),
        NEGATIVE_INFINITY => return out.extend_from_slice(b"-infinity"),
        _ => {}
    }
    if write_bare(out, days, settings) {
        out.extend_from_slice(b" BC");
    }
}

/// Appends a day in the session's style; true when ` BC` has to follow, perhaps behind a time.
pub(super) fn write_bare(out: &mut Vec<u8>, days: i64, settings: &Settings) -> bool {
    if settings.date_style == DateStyle::Iso {
        return datetime_text::write_iso_date(out, days);
    }
    let (year, month, day) = civil_from_days(days);
    let (year, bc) = datetime_text::year_of_era(year);
    let (first, second) = if settings.date_order == DateOrder::Dmy { (day, month) } else { (month, day) };
    let text = match settings.date_style {
        DateStyle::German => format!("{day:02}.{month:02}.{year:04}"),
        DateStyle::Sql => format!("{first:02}/{second:02}/{year:04}"),
        _ => format!("{first:02}-{second:02}-{year:04}"),
    };
    out.extend_from_slice(text.as_bytes());
    bc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        to_stored(parse(text, &Settings::default()).unwrap()).unwrap()
    }

    #[test]
    fn reads_what_postgres_reads() {
        for (text, stored) in [
            ("2024-05-06", "2024-05-06"),
            ("2024/5/6", "2024-05-06"),
            ("Jan 5 2024", "2024-01-05"),
            ("January 5, 2024", "2024-01-05"),
            ("20240506", "2024-05-06"),
            ("J2451187", "1999-01-08"),
            ("5/6/24", "2024-05-06"),
            ("5/6/71", "1971-05-06"),
            ("2024 May 6", "2024-05-06"),
            ("6-May-2024", "2024-05-06"),
            ("May-6-2024", "2024-05-06"),
            ("2024.127", "2024-05-06"),
            ("2024-05-06 12:30", "2024-05-06"),
            ("01.02.2024", "2024-01-02"),
            ("epoch", "1970-01-01"),
            ("infinity", "infinity"),
            ("-infinity", "-infinity"),
            (" \u{b}2024-05-06\r\n", "2024-05-06"),
            ("4714-11-24 BC", ".095287-11-24"),
            ("0001-01-01 BC", ".100000-01-01"),
            ("5874897-12-31", "Y5874897-12-31"),
            ("y2001m02d04", "2001-02-04"),
        ] {
            assert_eq!(read(text), stored, "{text}");
        }
        let dmy = Settings { date_order: DateOrder::Dmy, ..Settings::default() };
        assert_eq!(to_stored(parse("1/2/2024", &dmy).unwrap()).unwrap(), "2024-02-01");
    }

    #[test]
    fn refuses_what_postgres_refuses() {
        for (text, sqlstate) in [
            ("", "22007"),
            ("x", "22007"),
            ("2024-02-30", "22008"),
            ("2024-13-01", "22008"),
            ("99-1-1", "22008"),
            ("12:30", "22007"),
            ("2024-05", "22007"),
            ("2024-05-06-07", "22007"),
            ("\u{a0}2024-05-06", "22007"),
            ("5874898-01-01", "22008"),
            ("4715-01-01 BC", "22008"),
            ("0000-01-01", "22008"),
        ] {
            let error = parse(text, &Settings::default()).unwrap_err();
            assert_eq!(error.condition().sqlstate(), sqlstate, "{text}: {error}");
        }
        assert_eq!(parse("now", &Settings::default()).unwrap_err().condition().sqlstate(), "0A000");
        let now = Settings { now: Some(86_400_000_000), ..Settings::default() };
        assert_eq!(parse("tomorrow", &now).unwrap(), 2);
    }

    #[test]
    fn a_foreign_text_is_read_only_without_doubt() {
        assert_eq!(days(b"2024-05-06T10:00:00").unwrap(), days(b"2024-05-06").unwrap());
        assert_eq!(days(b"05/06/2024").unwrap_err().condition().sqlstate(), "XX001");
    }
}
