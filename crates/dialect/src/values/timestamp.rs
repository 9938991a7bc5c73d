//! `timestamp` and `timestamp with time zone`: microseconds since 1970-01-01, stored as `YYYY-MM-DD HH:MM:SS[.ffffff]`,
//! instants in UTC with `+00` behind.

use jiff::tz::{Offset, TimeZone};
use rowferry_wire::civil::civil_from_days;

use super::datetime_text::{
    self, DAY, DAYS, FIRST_DAY, INFINITY, LAST_TIMESTAMP_DAY, MONTHS, NEGATIVE_INFINITY, SECOND, Wanted,
};
use super::{DateOrder, DateStyle, Settings, ValueRef, misfit, zone};
use crate::{Condition, Error, Result, Type};

/// Reads a timestamp without zone; a zone in the text is ignored, as PostgreSQL does.
pub fn parse(text: &str, settings: &Settings) -> Result<i64> {
    if let Some((micros, None)) = iso_input(text) {
        return check(micros);
    }
    let parsed = datetime_text::parse(text, Wanted::DateTime, "timestamp", settings)?;
    let micros = match (parsed.instant, parsed.days) {
        (Some(infinite @ (INFINITY | NEGATIVE_INFINITY)), _) => return Ok(infinite),
        (Some(0), _) => 0,
        (Some(instant), _) => zone::to_local(&settings.time_zone, instant),
        (None, Some(days)) => at(days, parsed.micros).ok_or_else(|| beyond(text))?,
        (None, None) => return Err(syntax("timestamp", text)),
    };
    check(micros).map_err(|_| beyond(text))
}

/// Reads an instant; without a zone in the text the session's applies.
pub fn parse_tz(text: &str, settings: &Settings) -> Result<i64> {
    if let Some((micros, Some(offset))) = iso_input(text) {
        return check(micros - i64::from(offset) * datetime_text::SECOND);
    }
    let name = "timestamp with time zone";
    let parsed = datetime_text::parse(text, Wanted::DateTime, name, settings)?;
    let micros = match (parsed.instant, parsed.days) {
        (Some(instant), _) => instant,
        (None, Some(days)) => {
            let local = at(days, parsed.micros).ok_or_else(|| beyond(text))?;
            let offset = match &parsed.zone {
                Some(zone) => zone.offset_at_local(local),
                None => zone::offset_at_local(&settings.time_zone, local),
            };
            local.saturating_sub(i64::from(offset) * SECOND)
        }
        (None, None) => return Err(syntax(name, text)),
    };
    check(micros).map_err(|_| beyond(text))
}

fn beyond(text: &str) -> Error {
    Error::new(Condition::DatetimeFieldOverflow, format!("timestamp out of range: \"{text}\""))
}

/// So many microseconds into a day, if the type reaches it.
pub fn at(days: i64, micros: i64) -> Option<i64> {
    let at = days.checked_mul(DAY)?.checked_add(micros)?;
    check(at).ok().filter(|at| *at != INFINITY && *at != NEGATIVE_INFINITY)
}

fn syntax(name: &str, text: &str) -> Error {
    Error::new(Condition::InvalidDatetimeFormat, format!("invalid input syntax for type {name}: \"{text}\""))
}

/// [`iso`] for what people write: years of four digits.
fn iso_input(text: &str) -> Option<(i64, Option<i32>)> {
    if text.starts_with(|c: char| c.is_ascii_digit()) { iso(text.as_bytes()) } else { None }
}

/// `YYYY-MM-DD HH:MM:SS[.ffffff]` with an offset perhaps: what we store, and what most programs send.
fn iso(bytes: &[u8]) -> Option<(i64, Option<i32>)> {
    let (days, [b' ' | b'T', rest @ ..]) = datetime_text::stored_date(bytes)? else { return None };
    let (micros, rest) = datetime_text::iso_time(rest)?;
    let offset = match rest {
        [] => None,
        b"+00" | b"Z" => Some(0),
        _ => Some(zone::parse_offset(std::str::from_utf8(rest).ok()?)?),
    };
    Some((days.checked_mul(DAY)?.checked_add(micros)?, offset))
}

/// The value if it is within the type's range.
pub fn check(micros: i64) -> Result<i64> {
    const FIRST: i64 = FIRST_DAY * DAY;
    const LAST: i64 = (LAST_TIMESTAMP_DAY + 1) * DAY - 1;
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
    match check(micros)? {
        INFINITY => out.extend_from_slice(b"infinity"),
        NEGATIVE_INFINITY => out.extend_from_slice(b"-infinity"),
        micros => {
            datetime_text::write_stored_date(&mut out, micros.div_euclid(DAY));
            out.push(b' ');
            datetime_text::write_iso_time(&mut out, micros.rem_euclid(DAY));
        }
    }
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

/// Microseconds of a stored timestamp or instant: canonical, or in another form that others have stored and that can
/// be read without doubt. A text without an offset is UTC.
pub fn micros(stored: &[u8]) -> Result<i64> {
    if let Some((micros, offset)) = iso(stored) {
        return Ok(micros - i64::from(offset.unwrap_or(0)) * datetime_text::SECOND);
    }
    if let Some((days, [])) = datetime_text::stored_date(stored) {
        return at(days, 0).ok_or_else(|| datetime_text::out_of_range("timestamp"));
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
    if settings.date_style == DateStyle::Iso && datetime_text::is_shown_timestamp(stored) {
        out.extend_from_slice(stored);
        return Ok(());
    }
    write_local(out, micros(stored)?, None, settings);
    Ok(())
}

/// Appends a stored instant in the session's zone and style.
pub fn write_tz(out: &mut Vec<u8>, stored: &[u8], settings: &Settings) -> Result<()> {
    if settings.date_style == DateStyle::Iso
        && let Some(local) = stored.strip_suffix(b"+00")
        && settings.time_zone.to_fixed_offset().is_ok_and(Offset::is_zero)
        && datetime_text::is_shown_timestamp(local)
    {
        out.extend_from_slice(stored);
        return Ok(());
    }
    let instant = micros(stored)?;
    write_instant(out, instant, settings);
    Ok(())
}

/// Appends an instant in the session's zone and style.
pub fn write_instant(out: &mut Vec<u8>, instant: i64, settings: &Settings) {
    if instant == INFINITY || instant == NEGATIVE_INFINITY {
        return write_local(out, instant, None, settings);
    }
    let offset = zone::offset_at(&settings.time_zone, instant);
    write_local(out, instant.saturating_add(i64::from(offset) * SECOND), Some((offset, instant)), settings);
}

/// Appends what the clocks show, with the zone of an instant: its offset, or its abbreviation.
fn write_local(out: &mut Vec<u8>, local: i64, zone: Option<(i32, i64)>, settings: &Settings) {
    match local {
        INFINITY => return out.extend_from_slice(b"infinity"),
        NEGATIVE_INFINITY => return out.extend_from_slice(b"-infinity"),
        _ => {}
    }
    let days = local.div_euclid(DAY);
    let bc = if settings.date_style == DateStyle::Postgres {
        let (year, month, day) = civil_from_days(days);
        let (year, bc) = datetime_text::year_of_era(year);
        let weekday = &DAYS[(days + 4).rem_euclid(7) as usize][..3];
        let month = &MONTHS[usize::from(month) - 1][..3];
        let date = if settings.date_order == DateOrder::Dmy {
            format!("{weekday} {day:02} {month} ")
        } else {
            format!("{weekday} {month} {day:02} ")
        };
        out.extend_from_slice(date.as_bytes());
        datetime_text::write_iso_time(out, local.rem_euclid(DAY));
        out.extend_from_slice(format!(" {year:04}").as_bytes());
        bc
    } else {
        let bc = super::date::write_bare(out, days, settings);
        out.push(b' ');
        datetime_text::write_iso_time(out, local.rem_euclid(DAY));
        bc
    };
    match zone {
        Some((offset, _)) if settings.date_style == DateStyle::Iso => zone::write_offset(out, offset),
        Some((_, instant)) => {
            out.push(b' ');
            out.extend_from_slice(zone::abbreviation_at(&settings.time_zone, instant).as_bytes());
        }
        None => {}
    }
    if bc {
        out.extend_from_slice(b" BC");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_copied_is_what_would_be_written(
            micros in -62_135_596_800_000_000_i64..=253_402_300_799_999_999, whole: bool, zone in 0..3_usize
        ) {
            let micros = if whole { micros.div_euclid(SECOND) * SECOND } else { micros };
            let time_zone = [TimeZone::UTC, TimeZone::fixed(Offset::constant(2)), TimeZone::get("Europe/Berlin").unwrap()];
            let settings = Settings { time_zone: time_zone[zone].clone(), ..Settings::default() };
            let (mut copied, mut written) = (Vec::new(), Vec::new());
            write(&mut copied, to_stored(micros).unwrap().as_bytes(), &settings).unwrap();
            write_local(&mut written, micros, None, &settings);
            prop_assert_eq!(&copied, &written);
            copied.clear();
            written.clear();
            write_tz(&mut copied, to_stored_tz(micros).unwrap().as_bytes(), &settings).unwrap();
            write_instant(&mut written, micros, &settings);
            prop_assert_eq!(&copied, &written);
        }
    }

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
            ("294247-01-01", "22008"),
            ("4714-11-23 BC", "22008"),
            ("\u{2028}2024-05-06", "22007"),
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
    fn what_is_printed_reads_back_in_every_style() {
        let zones = ["UTC", "Europe/Vienna", "America/New_York", "Asia/Kathmandu", "<+03>-3"];
        let instants = [
            0,
            1_714_998_600_250_000,
            1_704_067_199_999_999,
            -2_000_000_000_000_000,
            -70_000_000_000_000_000,
            500_000_000_000_000_000,
            951_782_400_000_000,
            INFINITY,
            NEGATIVE_INFINITY,
        ];
        for date_style in [DateStyle::Iso, DateStyle::Sql, DateStyle::German, DateStyle::Postgres] {
            for date_order in [DateOrder::Dmy, DateOrder::Mdy, DateOrder::Ymd] {
                // German dates are days first for their reader, too, only under DMY, as in PostgreSQL.
                if date_style == DateStyle::German && date_order != DateOrder::Dmy
                    || date_style != DateStyle::Iso && date_order == DateOrder::Ymd
                {
                    continue;
                }
                for name in zones {
                    let time_zone = zone::find(name).unwrap();
                    let settings = Settings { date_style, date_order, time_zone, ..Settings::default() };
                    for step in 0..40 {
                        for base in instants {
                            let infinite = base == INFINITY || base == NEGATIVE_INFINITY;
                            let at = if infinite { base } else { base + step * 3_456_789_012_345 };
                            let (mut local, mut instant, mut day) = (Vec::new(), Vec::new(), Vec::new());
                            write_local(&mut local, at, None, &settings);
                            let text = String::from_utf8(local).unwrap();
                            assert_eq!(parse(&text, &settings).ok(), Some(at), "{text} under {settings:?}");
                            let days = if at == INFINITY || at == NEGATIVE_INFINITY { at } else { at.div_euclid(DAY) };
                            super::super::date::write_days(&mut day, days, &settings);
                            let text = String::from_utf8(day).unwrap();
                            let read = super::super::date::parse(&text, &settings);
                            assert_eq!(read.ok(), Some(days), "{text} under {settings:?}");
                            // Abbreviations of local mean time are no input.
                            let styled_mean_time = date_style != DateStyle::Iso && at < 0 && name != "UTC";
                            if styled_mean_time || name == "Asia/Kathmandu" && date_style != DateStyle::Iso {
                                continue;
                            }
                            write_instant(&mut instant, at, &settings);
                            let text = String::from_utf8(instant).unwrap();
                            assert_eq!(parse_tz(&text, &settings).ok(), Some(at), "{text} under {settings:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn stored_text_sorts_as_time_does() {
        let mut instants = [
            INFINITY,
            5,
            NEGATIVE_INFINITY,
            -90_000_000_000_000_000,
            400_000_000_000_000_000,
            1_000_000,
            999_999,
            -1,
            0,
            500_000,
        ];
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
