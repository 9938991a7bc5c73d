//! Time zones: names, abbreviations, offsets.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use crate::{Condition, Error, Result};

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// The zone of a name: the time zone database's, an abbreviation, a number of hours east (`+05:30`), or a POSIX rule.
pub fn find(name: &str) -> Option<TimeZone> {
    let name = name.trim();
    if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("z") {
        return Some(TimeZone::UTC);
    }
    if let Some(seconds) = abbreviation(name) {
        return fixed(seconds);
    }
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_name && let Ok(zone) = TimeZone::get(name) {
        return Some(zone);
    }
    if let Some(seconds) = parse_offset(name) {
        return fixed(seconds);
    }
    if is_name { TimeZone::posix(name).ok() } else { None }
}

/// As [`find`]; an unknown name is 22023.
pub fn named(name: &str) -> Result<TimeZone> {
    find(name).ok_or_else(|| not_recognized(name))
}

/// `time zone "…" not recognized`.
pub fn not_recognized(name: &str) -> Error {
    Error::new(Condition::InvalidParameterValue, format!("time zone \"{name}\" not recognized"))
}

/// The zone that is `seconds` east of Greenwich at all times.
pub fn fixed(seconds: i32) -> Option<TimeZone> {
    if seconds == 0 {
        return Some(TimeZone::UTC);
    }
    Offset::from_seconds(seconds).ok().map(TimeZone::fixed)
}

/// Seconds east of Greenwich of a number such as `+05:30`, `-0800`, `+2`; a sign is required.
pub fn parse_offset(text: &str) -> Option<i32> {
    let (sign, body) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    if body.is_empty() || !body.bytes().all(|b| b.is_ascii_digit() || b == b':') {
        return None;
    }
    let number = |text: &str| if text.len() <= 2 { text.parse::<i32>().ok() } else { None };
    let (hours, minutes, seconds) = if body.contains(':') {
        let mut parts = body.split(':');
        let hours = number(parts.next()?)?;
        let minutes = number(parts.next()?)?;
        let seconds = parts.next().map_or(Some(0), number)?;
        if parts.next().is_some() {
            return None;
        }
        (hours, minutes, seconds)
    } else {
        match body.len() {
            1 | 2 => (number(body)?, 0, 0),
            3 | 4 => (number(&body[..body.len() - 2])?, number(&body[body.len() - 2..])?, 0),
            6 => (number(&body[..2])?, number(&body[2..4])?, number(&body[4..])?),
            _ => return None,
        }
    };
    // PostgreSQL's limit: less than 16 hours either way.
    if hours > 15 || minutes > 59 || seconds > 59 {
        return None;
    }
    Some(sign * (hours * 3_600 + minutes * 60 + seconds))
}

/// Seconds east of Greenwich at an instant, in microseconds since 1970 UTC.
pub fn offset_at(zone: &TimeZone, instant: i64) -> i32 {
    if *zone == TimeZone::UTC {
        return 0;
    }
    match Timestamp::from_microsecond(instant) {
        Ok(timestamp) => zone.to_offset(timestamp).seconds(),
        Err(_) => 0,
    }
}

/// Seconds east of Greenwich when the clocks show `local`, in microseconds since 1970-01-01 00:00 by those clocks.
///
/// Times that a change of the clocks skips are read with the offset before it, times that it repeats with the one after
/// it, as PostgreSQL does.
pub fn offset_at_local(zone: &TimeZone, local: i64) -> i32 {
    if *zone == TimeZone::UTC {
        return 0;
    }
    let Some(datetime) = civil(local) else { return 0 };
    match zone.to_ambiguous_timestamp(datetime).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
        AmbiguousOffset::Gap { before, .. } => before.seconds(),
        AmbiguousOffset::Fold { after, .. } => after.seconds(),
    }
}

/// The zone's abbreviation at an instant (`CEST`).
pub fn abbreviation_at(zone: &TimeZone, instant: i64) -> String {
    match Timestamp::from_microsecond(instant) {
        Ok(timestamp) => zone.to_offset_info(timestamp).abbreviation().to_owned(),
        Err(_) => String::new(),
    }
}

fn civil(local: i64) -> Option<DateTime> {
    let timestamp = Timestamp::from_microsecond(local).ok()?;
    Some(Offset::UTC.to_datetime(timestamp))
}

/// Instant to the time that clocks in the zone show; both in microseconds.
pub fn to_local(zone: &TimeZone, instant: i64) -> i64 {
    instant.saturating_add(i64::from(offset_at(zone, instant)) * SECOND)
}

/// The instant at which clocks in the zone show `local`; both in microseconds.
pub fn to_instant(zone: &TimeZone, local: i64) -> i64 {
    local.saturating_sub(i64::from(offset_at_local(zone, local)) * SECOND)
}

/// Appends an offset as PostgreSQL prints it: `+00`, `+05:30`, `-00:25:21`.
pub fn write_offset(out: &mut Vec<u8>, seconds: i32) {
    let sign = if seconds < 0 { '-' } else { '+' };
    let magnitude = seconds.unsigned_abs();
    let (hours, minutes, rest) = (magnitude / 3_600, magnitude / 60 % 60, magnitude % 60);
    let text = match (minutes, rest) {
        (0, 0) => format!("{sign}{hours:02}"),
        (_, 0) => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
    };
    out.extend_from_slice(text.as_bytes());
}

/// Seconds east of Greenwich of an abbreviation of PostgreSQL's default set.
pub fn abbreviation(name: &str) -> Option<i32> {
    const HOUR: i32 = 3_600;
    let upper = name.to_ascii_uppercase();
    Some(match upper.as_str() {
        "UTC" | "UT" | "GMT" | "Z" | "ZULU" | "UCT" | "WET" => 0,
        "WEST" | "BST" | "CET" | "MET" => HOUR,
        "CEST" | "CETDST" | "MEST" | "METDST" | "EET" | "SAST" | "IST" => 2 * HOUR,
        "EEST" | "EETDST" | "MSK" | "IDT" => 3 * HOUR,
        "MSD" => 4 * HOUR,
        "PKT" => 5 * HOUR,
        "ICT" => 7 * HOUR,
        "HKT" | "PHT" | "AWST" => 8 * HOUR,
        "JST" | "KST" => 9 * HOUR,
        "ACST" => 9 * HOUR + HOUR / 2,
        "ACDT" => 10 * HOUR + HOUR / 2,
        "AEST" => 10 * HOUR,
        "AEDT" => 11 * HOUR,
        "NZST" => 12 * HOUR,
        "NZDT" => 13 * HOUR,
        "NST" => -(3 * HOUR + HOUR / 2),
        "NDT" => -(2 * HOUR + HOUR / 2),
        "ADT" | "BRT" | "ART" => -3 * HOUR,
        "AST" | "EDT" => -4 * HOUR,
        "EST" | "CDT" => -5 * HOUR,
        "CST" | "MDT" => -6 * HOUR,
        "MST" | "PDT" => -7 * HOUR,
        "PST" | "AKDT" => -8 * HOUR,
        "AKST" => -9 * HOUR,
        "HST" => -10 * HOUR,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowferry_wire::civil::days_from_civil;

    fn local(year: i64, month: i64, day: i64, hour: i64, minute: i64) -> i64 {
        ((days_from_civil(year, month, day) * 24 + hour) * 60 + minute) * 60 * SECOND
    }

    #[test]
    fn a_change_of_the_clocks_is_read_as_postgres_does() {
        let zone = find("Europe/Vienna").unwrap();
        assert_eq!(offset_at_local(&zone, local(2026, 3, 29, 2, 30)), 3_600, "skipped");
        assert_eq!(offset_at_local(&zone, local(2026, 10, 25, 2, 30)), 3_600, "repeated");
        assert_eq!(offset_at_local(&zone, local(2026, 7, 1, 12, 0)), 7_200);
    }

    #[test]
    fn reads_offsets() {
        for (text, seconds) in
            [("+02", 7_200), ("-08:00", -28_800), ("+0530", 19_800), ("+5", 18_000), ("-00:25:21", -1_521)]
        {
            assert_eq!(parse_offset(text), Some(seconds), "{text}");
        }
        for text in ["02", "+", "+25", "+02:60", "+02:00:00:00", "+x"] {
            assert_eq!(parse_offset(text), None, "{text}");
        }
        assert!(find("Foo/Bar").is_none());
    }
}
