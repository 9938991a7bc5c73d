//! Time zones: names, abbreviations, offsets.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::zone_abbreviations::{CHANGING, FIXED};
use crate::{Condition, Error, Result};

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// What an abbreviation stands for.
#[derive(Clone, Debug)]
pub enum Abbreviation {
    /// An offset, always the same.
    Fixed {
        /// Seconds east of Greenwich.
        offset: i32,
        /// It is a summer time.
        summer: bool,
    },
    /// Different offsets at different times: the zone's history says which.
    Of(TimeZone),
}

/// What an abbreviation of PostgreSQL's default set stands for; any case.
pub fn abbreviated(name: &str) -> Option<Abbreviation> {
    let lower = name.to_ascii_lowercase();
    if let Ok(at) = FIXED.binary_search_by(|row| row.0.cmp(&lower)) {
        let (_, offset, summer) = FIXED[at];
        return Some(Abbreviation::Fixed { offset, summer });
    }
    let at = CHANGING.binary_search_by(|row| row.0.cmp(&lower)).ok()?;
    TimeZone::get(CHANGING[at].1).ok().map(Abbreviation::Of)
}

/// The zone that `AT TIME ZONE` means: an abbreviation, or else a name.
pub fn find(name: &str) -> Option<TimeZone> {
    match abbreviated(name) {
        Some(Abbreviation::Fixed { offset, .. }) => fixed(offset),
        Some(Abbreviation::Of(zone)) => Some(zone),
        None => by_name(name),
    }
}

/// The zone of a full name: the time zone database's, or a rule as POSIX writes it (`EST5EDT`, `<+03>-3`, `-02:00`),
/// whose offsets count *west* of Greenwich.
pub fn by_name(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("utc") {
        return Some(TimeZone::UTC);
    }
    if name.starts_with(|c: char| c.is_ascii_alphabetic())
        && let Ok(zone) = TimeZone::get(name)
    {
        return Some(zone);
    }
    posix(name)
}

/// The zone that `SET timezone` means, and the name that `SHOW` gives it: a number is hours *east* of Greenwich.
pub fn for_session(value: &str) -> Option<(TimeZone, String)> {
    if let Ok(hours) = value.trim_start_matches(' ').parse::<f64>()
        && hours.is_finite()
    {
        let seconds = (hours * 3_600.0) as i32;
        let mut shown = Vec::new();
        write_offset(&mut shown, seconds);
        let shown = String::from_utf8(shown).unwrap_or_default();
        // Clocks east of Greenwich have names with `+` and offsets with `-`.
        let opposite = if seconds < 0 { '+' } else { '-' };
        return Some((fixed(seconds)?, format!("<{shown}>{opposite}{}", &shown[1..])));
    }
    let zone = by_name(value)?;
    let name = match zone.iana_name() {
        Some(name) => name.to_owned(),
        None => value.to_ascii_uppercase(),
    };
    Some((zone, name))
}

/// A rule as POSIX writes it. Summer time without a rule follows that of the United States, as the database's
/// `posixrules` has it.
fn posix(rule: &str) -> Option<TimeZone> {
    let upper = rule.to_ascii_uppercase();
    let (name, rest) = posix_name(&upper)?;
    let (offset, rest) = posix_offset(rest)?;
    let quoted = |name: &str| format!("<{name}>");
    let printable =
        |name: &str| name.len() >= 3 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'-');
    let western = |seconds: i32| {
        let (sign, size) = if seconds < 0 { ("-", -seconds) } else { ("", seconds) };
        format!("{sign}{:02}:{:02}:{:02}", size / 3_600, size / 60 % 60, size % 60)
    };
    if rest.is_empty() {
        let named = printable(name).then(|| TimeZone::posix(&format!("{}{}", quoted(name), western(offset))).ok());
        return named.flatten().or_else(|| fixed(-offset));
    }
    let (summer_name, rest) = posix_name(rest)?;
    if summer_name.is_empty() {
        return None;
    }
    let (summer, rest) = match rest.as_bytes().first() {
        None | Some(b',' | b';') => (offset - 3_600, rest),
        _ => posix_offset(rest)?,
    };
    let changes = if rest.is_empty() { ",M3.2.0,M11.1.0" } else { rest };
    let pad = |name: &str| if printable(name) { quoted(name) } else { "<-00>".to_owned() };
    TimeZone::posix(&format!("{}{}{}{}{changes}", pad(name), western(offset), pad(summer_name), western(summer))).ok()
}

/// A zone's name in a rule, quoted or not; it may be empty.
fn posix_name(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>'),
        None => {
            let end = text.find(|c: char| c.is_ascii_digit() || matches!(c, ',' | '-' | '+'));
            Some(text.split_at(end.unwrap_or(text.len())))
        }
    }
}

/// `[±]hh[:mm[:ss]]`, in seconds.
fn posix_offset(text: &str) -> Option<(i32, &str)> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (mut total, mut unit) = (0, 3_600);
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let part: i32 = if end > 3 { return None } else { rest[..end].parse().ok()? };
        if part > if unit == 3_600 { 167 } else { 59 } {
            return None;
        }
        total += part * unit;
        rest = &rest[end..];
        unit /= 60;
        match rest.strip_prefix(':') {
            Some(behind) if unit > 0 => rest = behind,
            _ => return Some((if negative { -total } else { total }, rest)),
        }
    }
}

/// Seconds east of Greenwich that an abbreviation means for clocks that show `local`: what it meant last until then, or
/// first after it, or whatever the zone has.
pub fn offset_of_abbreviation(zone: &TimeZone, name: &str, local: i64) -> i32 {
    let offset = offset_at_local(zone, local);
    let instant = local.saturating_sub(i64::from(offset) * SECOND);
    let Ok(at) = Timestamp::from_microsecond(instant) else { return offset };
    meaning(zone, name, at).map_or(offset, |(offset, _)| offset)
}

/// What an abbreviation meant last at an instant, or first after it: seconds east of Greenwich, and whether it is a summer
/// time.
fn meaning(zone: &TimeZone, name: &str, at: Timestamp) -> Option<(i32, bool)> {
    let same = |abbreviation: &str| abbreviation.eq_ignore_ascii_case(name);
    let now = zone.to_offset_info(at);
    if same(now.abbreviation()) {
        return Some((now.offset().seconds(), now.dst().is_dst()));
    }
    let mut changes = zone.preceding(at).chain(zone.following(at).take(200));
    let change = changes.find(|change| same(change.abbreviation()))?;
    Some((change.offset().seconds(), change.dst().is_dst()))
}

/// What a zone or an abbreviation of one is at some instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// The zone's name, or the abbreviation.
    pub name: String,
    /// The abbreviation.
    pub abbreviation: String,
    /// Seconds east of Greenwich.
    pub offset: i32,
    /// It is summer time.
    pub summer: bool,
}

/// All abbreviations, in order, with what they mean at an instant in microseconds.
pub fn abbreviations(at: i64) -> Vec<Clock> {
    let at = Timestamp::from_microsecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
    let fixed = FIXED.iter().map(|(name, offset, summer)| (*name, (*offset, *summer)));
    let changing = CHANGING.iter().map(|(name, zone)| {
        let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        let now = zone.to_offset_info(at);
        (*name, meaning(&zone, name, at).unwrap_or((now.offset().seconds(), now.dst().is_dst())))
    });
    let clock = |(name, (offset, summer)): (&str, _)| {
        let name = name.to_ascii_uppercase();
        Clock { abbreviation: name.clone(), name, offset, summer }
    };
    let mut all: Vec<Clock> = fixed.chain(changing).map(clock).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// All zones by their names, with what their clocks show at an instant in microseconds.
pub fn zones(at: i64) -> Vec<Clock> {
    let at = Timestamp::from_microsecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
    let zones = jiff::tz::db().available().filter_map(|name| {
        let zone = TimeZone::get(name.as_str()).ok()?;
        let now = zone.to_offset_info(at);
        Some(Clock {
            name: name.as_str().to_owned(),
            abbreviation: now.abbreviation().to_owned(),
            offset: now.offset().seconds(),
            summer: now.dst().is_dst(),
        })
    });
    zones.collect()
}

/// The instant at which clocks in the zone that a text names show `local`; both in microseconds.
pub fn named_to_instant(name: &str, local: i64) -> Result<i64> {
    let offset = match abbreviated(name) {
        Some(Abbreviation::Of(zone)) => offset_of_abbreviation(&zone, name, local),
        _ => offset_at_local(&named(name)?, local),
    };
    Ok(local.saturating_sub(i64::from(offset) * SECOND))
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
            _ => return None,
        }
    };
    // PostgreSQL's limit: less than 16 hours either way.
    if hours > 15 || minutes > 59 || seconds > 59 {
        return None;
    }
    Some(sign * (hours * 3_600 + minutes * 60 + seconds))
}

/// A moment of the same weekday, day and rules within the time that the zone database covers: years beyond it repeat
/// every 400.
fn within_reach(micros: i64) -> i64 {
    const CYCLE: i64 = 146_097 * 86_400 * SECOND;
    // Within a day of the years -9998 and 9998.
    const LAST: i64 = 8_028 * 31_556_952 * SECOND;
    const FIRST: i64 = -11_967 * 31_556_952 * SECOND;
    match micros {
        FIRST..=LAST => micros,
        ..FIRST => micros + (FIRST - micros).div_euclid(CYCLE).saturating_add(1) * CYCLE,
        _ => micros - (micros - LAST).div_euclid(CYCLE).saturating_add(1) * CYCLE,
    }
}

/// Seconds east of Greenwich at an instant, in microseconds since 1970 UTC.
pub fn offset_at(zone: &TimeZone, instant: i64) -> i32 {
    if *zone == TimeZone::UTC {
        return 0;
    }
    match Timestamp::from_microsecond(within_reach(instant)) {
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
    match Timestamp::from_microsecond(within_reach(instant)) {
        Ok(timestamp) => zone.to_offset_info(timestamp).abbreviation().to_owned(),
        Err(_) => String::new(),
    }
}

fn civil(local: i64) -> Option<DateTime> {
    let timestamp = Timestamp::from_microsecond(within_reach(local)).ok()?;
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

    #[test]
    fn rules_count_westwards_as_posix_does() {
        // Offsets at 2026-01-01 and 2026-07-01, from PostgreSQL 15's `AT TIME ZONE`.
        let (winter, summer) = (local(2026, 1, 1, 12, 0), local(2026, 7, 1, 12, 0));
        for (name, in_winter, in_summer) in [
            ("+10", -36_000, -36_000),
            ("-02:00", 7_200, 7_200),
            ("+03:30", -12_600, -12_600),
            ("UTC+3", -10_800, -10_800),
            ("utc-5:30:15", 19_815, 19_815),
            ("<+03>-3", 10_800, 10_800),
            ("EST5EDT", -18_000, -14_400),
            ("FOO5BAR", -18_000, -14_400),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 3_600, 7_200),
            ("Etc/GMT+3", -10_800, -10_800),
            ("A5", -18_000, -18_000),
        ] {
            let zone = by_name(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((offset_at(&zone, winter), offset_at(&zone, summer)), (in_winter, in_summer), "{name}");
        }
        for name in ["", "FOO", "+0800", "UTC+", "UTC+3:99", "CEST", "+168"] {
            assert!(by_name(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_number_for_the_session_counts_eastwards() {
        let show = |value: &str| {
            let (zone, name) = for_session(value).unwrap();
            (offset_at(&zone, 0), name)
        };
        assert_eq!(show("-7"), (-25_200, "<-07>+07".to_owned()));
        assert_eq!(show("5.5"), (19_800, "<+05:30>-05:30".to_owned()));
        assert_eq!(show("-02:00"), (7_200, "-02:00".to_owned()));
        assert_eq!(show("europe/vienna"), (3_600, "Europe/Vienna".to_owned()));
        assert_eq!(show("utc+3"), (-10_800, "UTC+3".to_owned()));
    }

    #[test]
    fn abbreviations_mean_what_they_meant_then() {
        let Some(Abbreviation::Of(moscow)) = abbreviated("MSK") else { panic!("MSK has changed") };
        assert_eq!(offset_of_abbreviation(&moscow, "msk", local(2010, 1, 1, 0, 0)), 10_800);
        assert_eq!(offset_of_abbreviation(&moscow, "msk", local(2012, 1, 1, 0, 0)), 14_400);
        assert_eq!(offset_of_abbreviation(&moscow, "msk", local(2020, 1, 1, 0, 0)), 10_800);
        assert!(matches!(abbreviated("cest"), Some(Abbreviation::Fixed { offset: 7_200, summer: true })));
    }

    #[test]
    fn years_beyond_the_database_repeat() {
        let zone = find("America/New_York").unwrap();
        assert_eq!(offset_at(&zone, local(50_000, 7, 1, 0, 0)), -14_400);
        assert_eq!(offset_at(&zone, local(50_000, 1, 1, 0, 0)), -18_000);
        assert_eq!(offset_at(&zone, local(-4_712, 1, 1, 0, 0)), -17_762);
        assert_eq!(offset_at_local(&zone, local(50_000, 7, 1, 0, 0)), -14_400);
    }
}
