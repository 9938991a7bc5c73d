//! `timestamp` and `timestamp with time zone`: microseconds since 1970-01-01, stored as `YYYY-MM-DD HH:MM:SS[.ffffff]`,
//! instants in UTC with `+00` behind.

use jiff::tz::TimeZone;
use rowferry_wire::civil::civil_from_days;

use super::datetime_text::{self, DAY, DAYS, FIRST_DAY, INFINITY, LAST_DAY, MONTHS, NEGATIVE_INFINITY};
use super::{DateOrder, DateStyle, Settings, ValueRef, misfit, zone};
use crate::{Condition, Error, Result, Type};

/// Reads a timestamp without zone; a zone in the text is ignored, as PostgreSQL does.
pub fn parse(text: &str, settings: &Settings) -> Result<i64> {
    if let Some((micros, None)) = iso(text.as_bytes()) {
        return check(micros);
    }
    let parsed = datetime_text::parse(text, "timestamp", settings)?;
    let micros = match (parsed.instant, parsed.days) {
        (Some(infinite @ (INFINITY | NEGATIVE_INFINITY)), _) => return Ok(infinite),
        (Some(0), _) => 0,
        (Some(instant), _) => zone::to_local(&settings.time_zone, instant),
        (None, Some(days)) => days.saturating_mul(DAY).saturating_add(parsed.micros.unwrap_or(0)),
        (None, None) => return Err(syntax("timestamp", text)),
    };
    check(micros).map_err(|error| Error::new(error.condition(), format!("timestamp out of range: \"{text}\"")))
}

/// Reads an instant; without a zone in the text the session's applies.
pub fn parse_tz(text: &str, settings: &Settings) -> Result<i64> {
    if let Some((micros, Some(offset))) = iso(text.as_bytes()) {
        return check(micros - i64::from(offset) * datetime_text::SECOND);
    }
    let name = "timestamp with time zone";
    let parsed = datetime_text::parse(text, name, settings)?;
    let micros = match (parsed.instant, parsed.days) {
        (Some(instant), _) => instant,
        (None, Some(days)) => {
            let local = days.saturating_mul(DAY).saturating_add(parsed.micros.unwrap_or(0));
            zone::to_instant(parsed.zone.as_ref().unwrap_or(&settings.time_zone), local)
        }
        (None, None) => return Err(syntax(name, text)),
    };
    check(micros).map_err(|error| Error::new(error.condition(), format!("timestamp out of range: \"{text}\"")))
}

fn syntax(name: &str, text: &str) -> Error {
    Error::new(Condition::InvalidDatetimeFormat, format!("invalid input syntax for type {name}: \"{text}\""))
}

/// `YYYY-MM-DD HH:MM:SS[.ffffff]` with an offset perhaps: what we store, and what most programs send.
fn iso(bytes: &[u8]) -> Option<(i64, Option<i32>)> {
    let days = datetime_text::iso_date(bytes.get(..10)?)?;
    if !matches!(bytes.get(10)?, b' ' | b'T') {
        return None;
    }
    let (micros, rest) = datetime_text::iso_time(&bytes[11..])?;
    let offset = match rest {
        [] => None,
        b"+00" | b"Z" => Some(0),
        _ => Some(zone::parse_offset(std::str::from_utf8(rest).ok()?)?),
    };
    Some((days * DAY + micros, offset))
}

/// The value if it is within what we keep.
pub fn check(micros: i64) -> Result<i64> {
    const FIRST: i64 = FIRST_DAY * DAY;
    const LAST: i64 = (LAST_DAY + 1) * DAY - 1;
    match micros {
        INFINITY | NEGATIVE_INFINITY | FIRST..=LAST => Ok(micros),
        _ => Err(datetime_text::out_of_range("timestamp")),
    }
}

/// Rounded to so many digits of the second's fraction.
pub fn round(micros: i64, digits: Option<u8>) -> i64 {
    if micros == INFINITY || micros == NEGATIVE_INFINITY { micros } else { super::time::round(micros, digits) }
}

/// The stored text of a timestamp.
pub fn to_stored(micros: i64) -> Result<String> {
    let mut out = Vec::with_capacity(29);
    write_iso(&mut out, check(micros)?);
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// The stored text of an instant.
pub fn to_stored_tz(micros: i64) -> Result<String> {
    let mut text = to_stored(micros)?;
    if micros != INFINITY && micros != NEGATIVE_INFINITY {
        text.push_str("+00");
    }
    Ok(text)
}

fn write_iso(out: &mut Vec<u8>, micros: i64) {
    match micros {
        INFINITY => out.extend_from_slice(b"infinity"),
        NEGATIVE_INFINITY => out.extend_from_slice(b"-infinity"),
        _ => {
            datetime_text::write_iso_date(out, micros.div_euclid(DAY));
            out.push(b' ');
            datetime_text::write_iso_time(out, micros.rem_euclid(DAY));
        }
    }
}

/// Microseconds of a stored timestamp or instant: canonical, or in another form that others have stored and that can
/// be read without doubt. A text without an offset is UTC.
pub fn micros(stored: &[u8]) -> Result<i64> {
    if let Some((micros, offset)) = iso(stored) {
        return Ok(micros - i64::from(offset.unwrap_or(0)) * datetime_text::SECOND);
    }
    if let Some(days) = datetime_text::iso_date(stored) {
        return Ok(days * DAY);
    }
    match stored {
        b"infinity" => return Ok(INFINITY),
        b"-infinity" => return Ok(NEGATIVE_INFINITY),
        _ => {}
    }
    let starts_with_year = stored.iter().take_while(|b| b.is_ascii_digit()).count() >= 4;
    let settings = Settings { date_order: DateOrder::Ymd, time_zone: TimeZone::UTC, ..Settings::default() };
    let text = std::str::from_utf8(stored).ok().filter(|_| starts_with_year);
    text.and_then(|text| parse_tz(text, &settings).ok())
        .ok_or_else(|| misfit(ValueRef::Text(stored), &Type::Timestamp(None)))
}

/// Appends a stored timestamp in the session's style.
pub fn write(out: &mut Vec<u8>, stored: &[u8], settings: &Settings) -> Result<()> {
    let micros = micros(stored)?;
    match settings.date_style {
        DateStyle::Iso => write_iso(out, micros),
        _ => write_styled(out, micros, None, settings),
    }
    Ok(())
}

/// Appends a stored instant in the session's zone and style.
pub fn write_tz(out: &mut Vec<u8>, stored: &[u8], settings: &Settings) -> Result<()> {
    let instant = micros(stored)?;
    write_instant(out, instant, settings);
    Ok(())
}

/// Appends an instant in the session's zone and style.
pub fn write_instant(out: &mut Vec<u8>, instant: i64, settings: &Settings) {
    if instant == INFINITY || instant == NEGATIVE_INFINITY {
        return write_iso(out, instant);
    }
    let offset = zone::offset_at(&settings.time_zone, instant);
    let local = instant + i64::from(offset) * datetime_text::SECOND;
    match settings.date_style {
        DateStyle::Iso => {
            write_iso(out, local);
            zone::write_offset(out, offset);
        }
        _ => write_styled(out, local, Some(&zone::abbreviation_at(&settings.time_zone, instant)), settings),
    }
}

fn write_styled(out: &mut Vec<u8>, local: i64, zone: Option<&str>, settings: &Settings) {
    if local == INFINITY || local == NEGATIVE_INFINITY {
        return write_iso(out, local);
    }
    let days = local.div_euclid(DAY);
    let mut time = Vec::new();
    datetime_text::write_iso_time(&mut time, local.rem_euclid(DAY));
    if settings.date_style == DateStyle::Postgres {
        let (year, month, day) = civil_from_days(days);
        let weekday = &DAYS[(days + 4).rem_euclid(7) as usize][..3];
        let month = &MONTHS[usize::from(month) - 1][..3];
        let date = if settings.date_order == DateOrder::Dmy {
            format!("{weekday} {day:02} {month} ")
        } else {
            format!("{weekday} {month} {day:02} ")
        };
        out.extend_from_slice(date.as_bytes());
        out.extend_from_slice(&time);
        out.extend_from_slice(format!(" {year:04}").as_bytes());
    } else {
        super::date::write_days(out, days, settings);
        out.push(b' ');
        out.extend_from_slice(&time);
    }
    if let Some(zone) = zone {
        out.push(b' ');
        out.extend_from_slice(zone.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_tz(text: &str) -> String {
        to_stored_tz(parse_tz(text, &Settings::default()).unwrap()).unwrap()
    }

    #[test]
    fn reads_what_postgres_reads() {
        for (text, stored) in [
            ("2024-05-06 12:30:00 America/New_York", "2024-05-06 16:30:00+00"),
            ("20240506T123000+0530", "2024-05-06 07:00:00+00"),
            ("Mon May 6 12:30:45.123456789 2024 PST", "2024-05-06 20:30:45.123457+00"),
            ("2024-05-06T12:30:00Z", "2024-05-06 12:30:00+00"),
            ("2024-05-06", "2024-05-06 00:00:00+00"),
            ("epoch", "1970-01-01 00:00:00+00"),
            ("infinity", "infinity"),
            ("2024-01-01 24:00", "2024-01-02 00:00:00+00"),
            ("2024-01-01 23:59:60", "2024-01-02 00:00:00+00"),
            ("2024-05-06 12:30:00.5 -08:00", "2024-05-06 20:30:00.5+00"),
        ] {
            assert_eq!(read_tz(text), stored, "{text}");
        }
        assert_eq!(
            to_stored(parse("2024-05-06T12:30:00+02", &Settings::default()).unwrap()).unwrap(),
            "2024-05-06 12:30:00"
        );
    }

    #[test]
    fn refuses_what_postgres_refuses() {
        for (text, sqlstate) in [
            ("2024-05-06 12", "22007"),
            ("12:30", "22007"),
            ("2024-13-01", "22008"),
            ("2024-05-06 25:00", "22008"),
            ("2024-01-01 00:00 Foo/Bar", "22023"),
            ("2024-01-01 00:00+99", "22009"),
            ("20000-01-01", "22008"),
        ] {
            let error = parse_tz(text, &Settings::default()).unwrap_err();
            assert_eq!(error.condition().sqlstate(), sqlstate, "{text}: {error}");
        }
    }

    #[test]
    fn prints_in_the_zone_and_style_of_the_session() {
        let print = |stored: &str, settings: &Settings| {
            let mut out = Vec::new();
            write_tz(&mut out, stored.as_bytes(), settings).unwrap();
            String::from_utf8(out).unwrap()
        };
        let vienna = Settings { time_zone: zone::find("Europe/Vienna").unwrap(), ..Settings::default() };
        assert_eq!(print("2024-05-06 12:30:00.25+00", &vienna), "2024-05-06 14:30:00.25+02");
        let kolkata = Settings { time_zone: zone::find("Asia/Kolkata").unwrap(), ..Settings::default() };
        assert_eq!(print("2024-05-06 12:30:00+00", &kolkata), "2024-05-06 18:00:00+05:30");
        let german = Settings { date_style: DateStyle::German, ..vienna.clone() };
        assert_eq!(print("2024-05-06 12:30:00+00", &german), "06.05.2024 14:30:00 CEST");
        let postgres = Settings { date_style: DateStyle::Postgres, ..vienna };
        assert_eq!(print("2024-05-06 12:30:00+00", &postgres), "Mon May 06 14:30:00 2024 CEST");
    }

    #[test]
    fn stored_text_sorts_as_time_does() {
        let mut instants = [INFINITY, 5, NEGATIVE_INFINITY, 1_000_000, 999_999, -1, 0, 500_000];
        instants.sort_unstable();
        let texts: Vec<String> = instants.iter().map(|micros| to_stored_tz(*micros).unwrap()).collect();
        let mut sorted = texts.clone();
        sorted.sort();
        assert_eq!(texts, sorted);
        for (text, micros_) in texts.iter().zip(instants) {
            assert_eq!(micros(text.as_bytes()).unwrap(), micros_);
        }
    }
}
