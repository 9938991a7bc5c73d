//! `to_char` for dates and times: PostgreSQL's template patterns. Reading by them is in `from_char.rs`.

use rowferry_wire::civil::{civil_from_days, days_from_civil};

use super::datetime_text::{DAY, DAYS, HOUR, MINUTE, MONTHS, SECOND, year_of_era};
use super::moments::{day_of_week, day_of_year, iso_week};
use super::{Interval, zone};
use crate::{Condition, Error, Result};

/// A pattern word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Word {
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

impl Word {
    /// What is a name takes no `th`.
    const fn is_number(self) -> bool {
        use Word::{
            DayName, DayShort, Era, Meridiem, MonthName, MonthShort, Offset, Roman, Zone, ZoneHours, ZoneMinutes,
        };
        !matches!(
            self,
            DayName
                | DayShort
                | Era { .. }
                | Meridiem { .. }
                | MonthName
                | MonthShort
                | Offset
                | Roman
                | Zone
                | ZoneHours
                | ZoneMinutes
        )
    }
}

/// A piece of a template.
#[derive(Clone, Copy)]
pub(super) enum Piece<'a> {
    /// A character of no word.
    Literal(&'a str),
    /// A character between quotes.
    Quoted(&'a str),
    /// `FX`: blanks count from here on.
    Exact,
    /// A word as written, with its modifiers.
    Word { word: Word, written: &'a str, fill: bool, ordinal: Option<bool> },
}

/// Takes a template apart. A backslash escapes any character within quotes, and a quote outside.
pub(super) fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    let character = |text: &str| text.chars().next().map_or(0, char::len_utf8);
    while !rest.is_empty() {
        if let Some(mut quoted) = rest.strip_prefix('"') {
            while !quoted.is_empty() && !quoted.starts_with('"') {
                if quoted.len() > 1 {
                    quoted = quoted.strip_prefix('\\').unwrap_or(quoted);
                }
                let (literal, behind) = quoted.split_at(character(quoted));
                pieces.push(Piece::Quoted(literal));
                quoted = behind;
            }
            rest = quoted.get(1..).unwrap_or("");
            continue;
        }
        let mut fill = true;
        let mut at = rest;
        loop {
            match at.get(..2).map(str::to_ascii_uppercase).as_deref() {
                Some("FM") => fill = false,
                Some("TM") => {}
                _ => break,
            }
            at = &at[2..];
        }
        if at.get(..2).is_some_and(|word| word.eq_ignore_ascii_case("FX")) {
            pieces.push(Piece::Exact);
            rest = &at[2..];
            continue;
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
                let at = if at.starts_with("\\\"") { &at[1..] } else { at };
                let (literal, behind) = at.split_at(character(at));
                pieces.push(Piece::Literal(literal));
                rest = behind;
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
            Piece::Literal(text) | Piece::Quoted(text) => out.push_str(text),
            Piece::Exact => {}
            Piece::Word { word, written, fill, ordinal } => {
                let start = out.len();
                push_word(&mut out, fields, word, written, fill)?;
                if let Some(upper) = ordinal.filter(|_| word.is_number()) {
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

pub(super) const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

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
        _ => number(year % 10_i64.pow(u32::from(digits)), usize::from(digits)),
    };
    // What only a date has.
    let days = || {
        fields.days.ok_or_else(|| {
            Error::new(Condition::InvalidDatetimeFormat, "invalid format specification for an interval value")
                .hint("Intervals are not tied to specific calendar dates.")
        })
    };
    let is_interval = fields.days.is_none();
    // The sign of some fields takes the place of a digit.
    let narrow = |value: i64, width: usize| if fill { format!("{value:0width$}") } else { value.to_string() };
    // PostgreSQL takes an interval's years, months and days for a date where weeks, or days without end, are counted.
    let counted = || {
        fields.days.unwrap_or_else(|| {
            let months = fields.month - 1;
            let year = fields.year + months.div_euclid(12);
            days_from_civil(year, months.rem_euclid(12) + 1, 1) + fields.day - 1
        })
    };
    // An interval's months have thirty days each.
    let day_of_year = || fields.days.map_or((fields.year * 12 + fields.month) * 30 + fields.day, day_of_year);
    let text = match word {
        // The width leaves room for a sign that 12 does not have.
        Word::Hour12 if fields.hour % 12 == 0 => number(12, if fields.hour < 0 { 3 } else { 2 }),
        Word::Hour12 => number(fields.hour % 12, 2),
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
            days()?;
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
        Word::IsoYear(digits) if is_interval => {
            let year = iso_week(counted()).0 % 10_i64.pow(u32::from(digits));
            narrow(year, usize::from(digits) + usize::from(fields.year < 0 && digits > 1))
        }
        Word::IsoYear(digits) => last_digits(year_of_era(iso_week(days()?).0).0, digits),
        Word::Roman if fields.month == 0 && fields.year == 0 => String::new(),
        Word::MonthName => name(MONTHS[civil_from_days(days()?).1 as usize - 1], 9),
        Word::MonthShort => name(&MONTHS[civil_from_days(days()?).1 as usize - 1][..3], 3),
        Word::Month => number(fields.month, 2),
        Word::Roman => {
            // Months of a negative interval count backwards.
            let month = match fields.month {
                0 if fields.year < 0 => 1,
                0 => 12,
                month if month < 0 => 13 + month,
                month => month,
            };
            let roman = ROMAN[month as usize - 1];
            let roman = if written.starts_with('r') { roman.to_lowercase() } else { roman.to_owned() };
            if fill { format!("{roman:4}") } else { roman }
        }
        Word::DayName => name(DAYS[day_of_week(days()?) as usize], 9),
        Word::DayShort => name(&DAYS[day_of_week(days()?) as usize][..3], 3),
        Word::DayOfYear => narrow(day_of_year(), 3),
        Word::IsoDayOfYear => {
            let (_, week) = iso_week(counted());
            number((week - 1) * 7 + (counted() + 3).rem_euclid(7) + 1, 3)
        }
        Word::Day => narrow(fields.day, 2),
        Word::DayOfWeek => number(day_of_week(days()?) + 1, 1),
        Word::IsoDayOfWeek => number((days()? + 3).rem_euclid(7) + 1, 1),
        Word::WeekOfMonth => number((fields.day - 1) / 7 + 1, 1),
        Word::WeekOfYear => number((day_of_year() - 1) / 7 + 1, 2),
        Word::IsoWeek => number(iso_week(counted()).1, 2),
        Word::Century if is_interval => number(fields.year / 100, 2),
        Word::Century if fields.bc => number((1 - fields.year) / 100 - 1, 2),
        Word::Century => number((fields.year - 1).div_euclid(100) + 1, 2),
        Word::Julian => number(counted() + 2_440_588, 1),
        Word::Quarter if fields.month == 0 => String::new(),
        Word::Quarter => number((fields.month - 1) / 3 + 1, 1),
        Word::Zone => {
            days()?;
            let name = fields.zone.map_or("", |(_, name)| name);
            if written.starts_with('t') { name.to_lowercase() } else { name.to_owned() }
        }
        Word::ZoneHours => {
            days()?;
            let offset = fields.zone.map_or(0, |(offset, _)| offset);
            format!("{}{:02}", if offset < 0 { '-' } else { '+' }, offset.abs() / 3_600)
        }
        Word::ZoneMinutes => format!("{:02}", fields.zone.map_or(0, |(offset, _)| offset).abs() / 60 % 60),
        Word::Offset => {
            days()?;
            let mut text = Vec::new();
            zone::write_offset(&mut text, fields.zone.map_or(0, |(offset, _)| offset));
            String::from_utf8(text).unwrap_or_default()
        }
    };
    out.push_str(&text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{Settings, timestamp as stored};

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
}
