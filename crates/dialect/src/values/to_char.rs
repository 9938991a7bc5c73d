//! `to_char`, `to_date`, `to_timestamp` for dates and times: PostgreSQL's template patterns.

use rowferry_wire::civil::{civil_from_days, days_from_civil};

use super::datetime_text::{
    DAY, DAYS, HOUR, MINUTE, MONTHS, SECOND, field_overflow, month_name, valid_date, year_of_era,
};
use super::moments::{day_of_week, day_of_year, iso_week};
use super::{Interval, zone};
use crate::{Condition, Error, Result};

/// A pattern word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Word {
    Hour12,
    Hour24,
    Minute,
    Second,
    /// Digits of the fraction.
    Fraction(u8),
    SecondsOfDay,
    Meridiem {
        dots: bool,
    },
    YearWithComma,
    /// Last digits of the year.
    Year(u8),
    IsoYear(u8),
    Era {
        dots: bool,
    },
    MonthName,
    MonthShort,
    Month,
    DayName,
    DayShort,
    DayOfYear,
    IsoDayOfYear,
    Day,
    DayOfWeek,
    IsoDayOfWeek,
    WeekOfMonth,
    WeekOfYear,
    IsoWeek,
    Century,
    Julian,
    Quarter,
    Roman,
    Zone,
    ZoneHours,
    ZoneMinutes,
    Offset,
}

/// The words as they are written, longer before shorter.
const WORDS: &[(&str, Word)] = &[
    ("SSSSS", Word::SecondsOfDay),
    ("Y,YYY", Word::YearWithComma),
    ("MONTH", Word::MonthName),
    ("IYYY", Word::IsoYear(4)),
    ("IDDD", Word::IsoDayOfYear),
    ("HH24", Word::Hour24),
    ("HH12", Word::Hour12),
    ("SSSS", Word::SecondsOfDay),
    ("YYYY", Word::Year(4)),
    ("A.M.", Word::Meridiem { dots: true }),
    ("P.M.", Word::Meridiem { dots: true }),
    ("B.C.", Word::Era { dots: true }),
    ("A.D.", Word::Era { dots: true }),
    ("YYY", Word::Year(3)),
    ("IYY", Word::IsoYear(3)),
    ("MON", Word::MonthShort),
    ("DAY", Word::DayName),
    ("DDD", Word::DayOfYear),
    ("TZH", Word::ZoneHours),
    ("TZM", Word::ZoneMinutes),
    ("FF1", Word::Fraction(1)),
    ("FF2", Word::Fraction(2)),
    ("FF3", Word::Fraction(3)),
    ("FF4", Word::Fraction(4)),
    ("FF5", Word::Fraction(5)),
    ("FF6", Word::Fraction(6)),
    ("HH", Word::Hour12),
    ("MI", Word::Minute),
    ("SS", Word::Second),
    ("MS", Word::Fraction(3)),
    ("US", Word::Fraction(6)),
    ("AM", Word::Meridiem { dots: false }),
    ("PM", Word::Meridiem { dots: false }),
    ("BC", Word::Era { dots: false }),
    ("AD", Word::Era { dots: false }),
    ("YY", Word::Year(2)),
    ("IY", Word::IsoYear(2)),
    ("MM", Word::Month),
    ("DY", Word::DayShort),
    ("DD", Word::Day),
    ("ID", Word::IsoDayOfWeek),
    ("WW", Word::WeekOfYear),
    ("IW", Word::IsoWeek),
    ("CC", Word::Century),
    ("RM", Word::Roman),
    ("TZ", Word::Zone),
    ("OF", Word::Offset),
    ("Y", Word::Year(1)),
    ("I", Word::IsoYear(1)),
    ("D", Word::DayOfWeek),
    ("W", Word::WeekOfMonth),
    ("J", Word::Julian),
    ("Q", Word::Quarter),
];

/// A piece of a template.
enum Piece<'a> {
    Literal(&'a str),
    /// A word as written, with its modifiers.
    Word {
        word: Word,
        written: &'a str,
        fill: bool,
        ordinal: Option<bool>,
    },
}

fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').unwrap_or(quoted.len());
            pieces.push(Piece::Literal(&quoted[..end]));
            rest = quoted.get(end + 1..).unwrap_or("");
            continue;
        }
        if let Some(escaped) = rest.strip_prefix('\\') {
            let length = escaped.chars().next().map_or(0, char::len_utf8);
            pieces.push(Piece::Literal(&escaped[..length]));
            rest = &escaped[length..];
            continue;
        }
        let mut fill = true;
        let mut at = rest;
        loop {
            match at.get(..2).map(str::to_ascii_uppercase).as_deref() {
                Some("FM") => fill = false,
                Some("TM" | "FX") => {}
                _ => break,
            }
            at = &at[2..];
        }
        let found =
            WORDS.iter().find(|(name, _)| at.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
        match found {
            Some((name, word)) => {
                let (written, mut behind) = at.split_at(name.len());
                let mut ordinal = None;
                if behind.get(..2).is_some_and(|th| th.eq_ignore_ascii_case("th")) {
                    ordinal = Some(behind.starts_with('T'));
                    behind = &behind[2..];
                }
                pieces.push(Piece::Word { word: *word, written, fill, ordinal });
                rest = behind;
            }
            None => {
                let length = at.chars().next().map_or(0, char::len_utf8);
                pieces.push(Piece::Literal(&at[..length]));
                rest = &at[length..];
            }
        }
    }
    pieces
}

/// What the fields of a template are filled from.
struct Fields<'a> {
    days: Option<i64>,
    /// As people count it.
    year: i64,
    bc: bool,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    zone: Option<(i32, &'a str)>,
}

/// A timestamp by its local clocks, in the form of a template; with its offset and the zone's abbreviation if it is an
/// instant.
pub fn timestamp(local: i64, template: &str, zone: Option<(i32, &str)>) -> Result<String> {
    let days = local.div_euclid(DAY);
    let time = local.rem_euclid(DAY);
    let (year, month, day) = civil_from_days(days);
    let (year, bc) = year_of_era(year);
    let fields = Fields {
        days: Some(days),
        year,
        bc,
        month: i64::from(month),
        day: i64::from(day),
        hour: time / HOUR,
        minute: time / MINUTE % 60,
        second: time / SECOND % 60,
        micros: time % SECOND,
        zone,
    };
    format(&fields, template)
}

/// An interval in the form of a template.
pub fn interval(value: Interval, template: &str) -> Result<String> {
    let fields = Fields {
        days: None,
        year: i64::from(value.months / 12),
        bc: false,
        month: i64::from(value.months % 12),
        day: i64::from(value.days),
        hour: value.micros / HOUR,
        minute: value.micros / MINUTE % 60,
        second: value.micros / SECOND % 60,
        micros: value.micros % SECOND,
        zone: None,
    };
    format(&fields, template)
}

fn format(fields: &Fields<'_>, template: &str) -> Result<String> {
    let mut out = String::new();
    for piece in pieces(template) {
        match piece {
            Piece::Literal(text) => out.push_str(text),
            Piece::Word { word, written, fill, ordinal } => {
                let start = out.len();
                push_word(&mut out, fields, word, written, fill)?;
                if let Some(upper) = ordinal {
                    let suffix = ordinal_suffix(&out[start..]);
                    out.push_str(&if upper { suffix.to_uppercase() } else { suffix.to_owned() });
                }
            }
        }
    }
    Ok(out)
}

/// `st`, `nd`, `rd` or `th` behind a number.
pub(super) fn ordinal_suffix(number: &str) -> &'static str {
    let digits: Vec<u8> = number.bytes().filter(u8::is_ascii_digit).collect();
    let tens = digits.len().checked_sub(2).map(|at| digits[at]);
    match (tens, digits.last()) {
        (Some(b'1'), _) => "th",
        (_, Some(b'1')) => "st",
        (_, Some(b'2')) => "nd",
        (_, Some(b'3')) => "rd",
        _ => "th",
    }
}

/// `name` in the case in which the pattern is written.
fn cased(name: &str, written: &str) -> String {
    let mut letters = written.chars();
    match (letters.next().is_some_and(char::is_uppercase), letters.next().is_some_and(char::is_uppercase)) {
        (true, true) => name.to_uppercase(),
        (false, _) => name.to_lowercase(),
        _ => name.to_owned(),
    }
}

const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

fn push_word(out: &mut String, fields: &Fields<'_>, word: Word, written: &str, fill: bool) -> Result<()> {
    let number = |value: i64, width: usize| {
        if !fill {
            value.to_string()
        } else if value < 0 {
            format!("-{:0width$}", -value)
        } else {
            format!("{value:0width$}")
        }
    };
    let name = |name: &str, width: usize| {
        let name = cased(name, written);
        if fill { format!("{name:width$}") } else { name }
    };
    let last_digits = |year: i64, digits: u8| match digits {
        4 => number(year, 4),
        _ => number(year.rem_euclid(10_i64.pow(u32::from(digits))), usize::from(digits)),
    };
    // What only a date has.
    let days = || {
        fields.days.ok_or_else(|| {
            Error::new(Condition::InvalidDatetimeFormat, "invalid format specification for an interval value")
                .hint("Intervals are not tied to specific calendar dates.")
        })
    };
    let hour12 = if fields.hour % 12 == 0 { 12 } else { fields.hour % 12 };
    let text = match word {
        Word::Hour12 if fields.days.is_some() => number(hour12, 2),
        Word::Hour12 => number(if fields.hour % 12 == 0 { 12 } else { fields.hour % 12 }, 2),
        Word::Hour24 => number(fields.hour, 2),
        Word::Minute => number(fields.minute, 2),
        Word::Second => number(fields.second, 2),
        Word::Fraction(digits) => {
            format!("{:0width$}", fields.micros / 10_i64.pow(6 - u32::from(digits)), width = usize::from(digits))
        }
        Word::SecondsOfDay => number((fields.hour * 60 + fields.minute) * 60 + fields.second, 1),
        Word::Meridiem { dots } => {
            let pm = fields.hour % 24 >= 12;
            let name = match (pm, dots) {
                (true, false) => "pm",
                (false, false) => "am",
                (true, true) => "p.m.",
                (false, true) => "a.m.",
            };
            if written.starts_with(|c: char| c.is_uppercase()) { name.to_uppercase() } else { name.to_owned() }
        }
        Word::Era { dots } => {
            let name = match (fields.bc, dots) {
                (false, true) => "a.d.",
                (false, false) => "ad",
                (true, true) => "b.c.",
                (true, false) => "bc",
            };
            if written.starts_with(|c: char| c.is_uppercase()) { name.to_uppercase() } else { name.to_owned() }
        }
        Word::YearWithComma => format!("{},{:03}", fields.year / 1_000, fields.year % 1_000),
        Word::Year(digits) => last_digits(fields.year, digits),
        Word::IsoYear(digits) => last_digits(year_of_era(iso_week(days()?).0).0, digits),
        Word::MonthName | Word::MonthShort | Word::Roman if fields.month == 0 => String::new(),
        Word::MonthName => name(MONTHS[fields.month.unsigned_abs() as usize - 1], 9),
        Word::MonthShort => name(&MONTHS[fields.month.unsigned_abs() as usize - 1][..3], 3),
        Word::Month => number(fields.month, 2),
        Word::Roman => {
            let roman = ROMAN[fields.month.unsigned_abs() as usize - 1];
            let roman = if written.starts_with('r') { roman.to_lowercase() } else { roman.to_owned() };
            if fill { format!("{roman:4}") } else { roman }
        }
        Word::DayName => name(DAYS[day_of_week(days()?) as usize], 9),
        Word::DayShort => name(&DAYS[day_of_week(days()?) as usize][..3], 3),
        Word::DayOfYear => number(day_of_year(days()?), 3),
        Word::IsoDayOfYear => {
            let (_, week) = iso_week(days()?);
            number((week - 1) * 7 + (days()? + 3).rem_euclid(7) + 1, 3)
        }
        Word::Day => number(fields.day, 2),
        Word::DayOfWeek => number(day_of_week(days()?) + 1, 1),
        Word::IsoDayOfWeek => number((days()? + 3).rem_euclid(7) + 1, 1),
        Word::WeekOfMonth => number((fields.day - 1) / 7 + 1, 1),
        Word::WeekOfYear => number((day_of_year(days()?) - 1) / 7 + 1, 2),
        Word::IsoWeek => number(iso_week(days()?).1, 2),
        Word::Century if fields.bc => number((1 - fields.year) / 100 - 1, 2),
        Word::Century => number((fields.year - 1).div_euclid(100) + 1, 2),
        Word::Julian => number(days()? + 2_440_588, 1),
        Word::Quarter => number((fields.month - 1) / 3 + 1, 1),
        Word::Zone => {
            let name = fields.zone.map_or("", |(_, name)| name);
            if written.starts_with('t') { name.to_lowercase() } else { name.to_owned() }
        }
        Word::ZoneHours => {
            let offset = fields.zone.map_or(0, |(offset, _)| offset);
            format!("{}{:02}", if offset < 0 { '-' } else { '+' }, offset.abs() / 3_600)
        }
        Word::ZoneMinutes => format!("{:02}", fields.zone.map_or(0, |(offset, _)| offset).abs() / 60 % 60),
        Word::Offset => {
            let mut text = Vec::new();
            zone::write_offset(&mut text, fields.zone.map_or(0, |(offset, _)| offset));
            String::from_utf8(text).unwrap_or_default()
        }
    };
    out.push_str(&text);
    Ok(())
}

/// What a text says by a template.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Parts {
    /// Day number since 1970-01-01.
    pub days: i64,
    /// Microseconds of the day.
    pub micros: i64,
    /// Seconds east of Greenwich, if the template asks for them.
    pub offset: Option<i32>,
}

/// Reads a text by a template (`to_date`, `to_timestamp`).
pub fn parse(text: &str, template: &str) -> Result<Parts> {
    let mut rest = text.trim_start();
    let (mut year, mut month, mut day) = (None, None, None);
    let (mut hour, mut minute, mut second, mut micros) = (0, 0, 0, 0);
    let (mut pm, mut twelve) = (None, false);
    let (mut day_of_year, mut julian, mut bc) = (None, None, false);
    let (mut iso_year, mut iso_week, mut iso_day) = (None, None, None);
    let (mut zone_hours, mut zone_minutes) = (None, 0);
    let pieces = pieces(template);
    for (at, piece) in pieces.iter().enumerate() {
        let (word, written) = match piece {
            Piece::Word { word, written, .. } => (*word, *written),
            Piece::Literal(literal) => {
                // A separator takes any separators; other text takes as many characters.
                let separates = literal.chars().all(|c| !c.is_alphanumeric());
                rest = if separates {
                    rest.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '-'))
                        .strip_prefix('-')
                        .filter(|_| literal.contains('-'))
                        .unwrap_or_else(|| {
                            rest.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '-'))
                        })
                } else {
                    rest.get(literal.len()..).unwrap_or("")
                };
                continue;
            }
        };
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let invalid = || {
            let shown: String = rest.chars().take(written.len().max(1)).collect();
            Error::new(Condition::InvalidDatetimeFormat, format!("invalid value \"{shown}\" for \"{written}\""))
        };
        // Digits run on if nothing but another number follows.
        let glued = matches!(pieces.get(at + 1), Some(Piece::Word { .. }));
        let mut take = |width: usize| -> Result<i64> {
            let signed = rest.starts_with(['-', '+']);
            let body = if signed { &rest[1..] } else { rest };
            let run = body.bytes().take_while(u8::is_ascii_digit).count();
            let count = if glued { run.min(width) } else { run.min(width.max(9)) };
            let value: i64 = body[..count].parse().map_err(|_| invalid())?;
            let negative = signed && rest.starts_with('-');
            rest = &body[count..];
            Ok(if negative { -value } else { value })
        };
        match word {
            Word::Year(4) => year = Some(take(4)?),
            Word::Year(digits) => {
                let value = take(usize::from(digits))?;
                // PostgreSQL takes the year nearest to 2020.
                year = Some(match digits {
                    _ if value >= 1_000 => value,
                    3 => value + if value < 520 { 2_000 } else { 1_000 },
                    _ => {
                        value
                            + if value < 70 {
                                2_000
                            } else if value < 100 {
                                1_900
                            } else {
                                0
                            }
                    }
                });
            }
            Word::YearWithComma => {
                let thousands = take(1)?;
                rest = rest.strip_prefix(',').unwrap_or(rest);
                let run = rest.bytes().take_while(u8::is_ascii_digit).count().min(3);
                year = Some(thousands * 1_000 + rest[..run].parse::<i64>().unwrap_or(0));
                rest = &rest[run..];
            }
            Word::IsoYear(_) => iso_year = Some(take(4)?),
            Word::IsoWeek | Word::WeekOfYear => iso_week = Some(take(2)?),
            Word::IsoDayOfWeek => iso_day = Some(take(1)?),
            Word::Month => month = Some(take(2)?),
            Word::MonthName | Word::MonthShort => {
                let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                let length = if word == Word::MonthShort { end.min(3) } else { end };
                month = Some(month_name(&rest[..length]).ok_or_else(invalid)?);
                rest = &rest[length..];
            }
            Word::DayName | Word::DayShort => {
                let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                rest = &rest[if word == Word::DayShort { end.min(3) } else { end }..];
            }
            Word::Roman => {
                let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                let found = ROMAN.iter().position(|roman| roman.eq_ignore_ascii_case(&rest[..end]));
                month = Some(found.ok_or_else(invalid)? as i64 + 1);
                rest = &rest[end..];
            }
            Word::Day => day = Some(take(2)?),
            Word::DayOfYear => day_of_year = Some(take(3)?),
            Word::Julian => julian = Some(take(9)?),
            Word::Hour24 => hour = take(2)?,
            Word::Hour12 => {
                hour = take(2)?;
                twelve = true;
            }
            Word::Minute => minute = take(2)?,
            Word::Second => second = take(2)?,
            Word::SecondsOfDay => {
                let total = take(5)?;
                (hour, minute, second) = (total / 3_600, total / 60 % 60, total % 60);
            }
            Word::Fraction(digits) => {
                let width = if matches!(written.to_ascii_uppercase().as_str(), "MS") { 3 } else { usize::from(digits) };
                let run = rest.bytes().take_while(u8::is_ascii_digit).count().min(width.max(1));
                micros = super::datetime_text::fraction_micros(&rest[..run]);
                rest = &rest[run..];
            }
            Word::Meridiem { .. } => {
                let lower = rest.to_ascii_lowercase();
                let forms = [("a.m.", false), ("p.m.", true), ("am", false), ("pm", true)];
                let (form, is_pm) = forms.into_iter().find(|(form, _)| lower.starts_with(form)).ok_or_else(invalid)?;
                pm = Some(is_pm);
                twelve = true;
                rest = &rest[form.len()..];
            }
            Word::Era { .. } => {
                let lower = rest.to_ascii_lowercase();
                let forms = [("b.c.", true), ("a.d.", false), ("bc", true), ("ad", false)];
                let (form, is_bc) = forms.into_iter().find(|(form, _)| lower.starts_with(form)).ok_or_else(invalid)?;
                bc = is_bc;
                rest = &rest[form.len()..];
            }
            Word::ZoneHours => zone_hours = Some(take(2)?),
            Word::ZoneMinutes => zone_minutes = take(2)?,
            Word::Offset | Word::Zone => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let found = zone::parse_offset(&rest[..end]).or_else(|| match zone::abbreviated(&rest[..end])? {
                    zone::Abbreviation::Fixed { offset, .. } => Some(offset),
                    zone::Abbreviation::Of(zone) => Some(zone::offset_at(&zone, 0)),
                });
                let seconds = i64::from(found.ok_or_else(invalid)?);
                zone_hours = Some(seconds / 3_600);
                zone_minutes = (seconds / 60 % 60).abs();
                rest = &rest[end..];
            }
            Word::Quarter | Word::Century | Word::DayOfWeek | Word::WeekOfMonth => {
                take(2)?;
            }
            Word::IsoDayOfYear => return Err(Error::unsupported("reading a date by IDDD")),
        }
    }
    let overflow = || field_overflow(text);
    if twelve {
        if !(1..=12).contains(&hour) {
            let message = format!("hour \"{hour}\" is invalid for the 12-hour clock");
            return Err(Error::new(Condition::InvalidDatetimeFormat, message)
                .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
        }
        hour %= 12;
        if pm == Some(true) {
            hour += 12;
        }
    }
    if !(0..=24).contains(&hour) || !(0..60).contains(&minute) || !(0..60).contains(&second) {
        return Err(overflow());
    }
    let days = if let Some(julian) = julian {
        julian - 2_440_588
    } else if let Some(week_year) = iso_year {
        let fourth = days_from_civil(week_year, 1, 4);
        let monday = fourth - (fourth + 3).rem_euclid(7);
        monday + (iso_week.unwrap_or(1) - 1) * 7 + iso_day.unwrap_or(1) - 1
    } else {
        let mut year = year.unwrap_or(1);
        if bc {
            year = 1 - year;
        }
        match day_of_year {
            Some(day) if month.is_none() => days_from_civil(year, 1, 1) + day - 1,
            _ => {
                let (month, day) = (month.unwrap_or(1), day.unwrap_or(1));
                if !valid_date(year, month, day) {
                    return Err(overflow());
                }
                days_from_civil(year, month, day)
            }
        }
    };
    let offset = zone_hours.map(|hours| {
        let sign = if hours < 0 { -1 } else { 1 };
        (hours * 3_600 + sign * zone_minutes * 60) as i32
    });
    Ok(Parts { days, micros: hour * HOUR + minute * MINUTE + second * SECOND + micros, offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{Settings, date, timestamp as stored};

    #[test]
    fn prints_as_postgres() {
        let at = stored::parse("2024-05-06 14:03:07.089", &Settings::default()).unwrap();
        for (template, shown) in [
            ("YYYY-MM-DD HH24:MI:SS.MS", "2024-05-06 14:03:07.089"),
            ("Day, DD Month YYYY", "Monday   , 06 May       2024"),
            ("FMDay, FMDD FMMonth YYYY", "Monday, 6 May 2024"),
            ("HH12:MI AM", "02:03 PM"),
            ("DY dy Dy MON", "MON mon Mon MAY"),
            ("DDD IW Q CC J", "127 19 2 21 2460437"),
            ("FMDDth \"of\" FMMonth", "6th of May"),
            ("YY Y,YYY", "24 2,024"),
            ("US SSSS", "089000 50587"),
            ("RM rm", "V    v   "),
            ("ID D WW W", "1 2 19 1"),
        ] {
            assert_eq!(timestamp(at, template, None).unwrap(), shown, "{template}");
        }
        assert_eq!(timestamp(at, "TZ OF TZH:TZM", Some((19_800, "IST"))).unwrap(), "IST +05:30 +05:30");
        let span = Interval::parse("1 year 2 mons 3 days 4:05:06").unwrap();
        assert_eq!(interval(span, "YYYY-MM-DD HH24:MI:SS").unwrap(), "0001-02-03 04:05:06");
    }

    #[test]
    fn reads_what_it_prints() {
        for (text, template, day) in [
            ("2024-05-06", "YYYY-MM-DD", "2024-05-06"),
            ("06 May 2024", "DD Mon YYYY", "2024-05-06"),
            ("20240506", "YYYYMMDD", "2024-05-06"),
            ("05/06/24", "MM/DD/YY", "2024-05-06"),
            ("6 january 2024", "DD MONTH YYYY", "2024-01-06"),
            ("2024 127", "YYYY DDD", "2024-05-06"),
        ] {
            assert_eq!(date::to_stored(parse(text, template).unwrap().days).unwrap(), day, "{text}");
        }
        let parts = parse("2024-05-06 02:30:15.5 PM", "YYYY-MM-DD HH:MI:SS.MS AM").unwrap();
        assert_eq!(parts.micros, 14 * HOUR + 30 * MINUTE + 15 * SECOND + 500_000);
        assert_eq!(parse("2024-13-06", "YYYY-MM-DD").unwrap_err().condition().sqlstate(), "22008");
        assert_eq!(parse("x", "YYYY").unwrap_err().condition().sqlstate(), "22007");
    }
}
