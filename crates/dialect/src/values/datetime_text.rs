//! Dates and times as people write them.
//!
//! One reader for `date`, `time`, `timestamp` and their kin with zones. It takes what PostgreSQL takes: ISO 8601,
//! month names, `1/2/2026` in the order of `DateStyle`, `AM` and `PM`, `BC`, Julian days, zones by name, abbreviation or
//! offset, and the words `epoch`, `infinity`, `now`, `today`, `tomorrow`, `yesterday`, `allballs`.

use jiff::tz::TimeZone;
use rowferry_wire::civil::{civil_from_days, days_from_civil};

use super::{DateOrder, Settings, invalid_syntax, zone};
use crate::{Condition, Error, Result};

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;
/// Microseconds of an hour.
pub const HOUR: i64 = 3_600_000_000;
/// Microseconds of a minute.
pub const MINUTE: i64 = 60_000_000;
/// Microseconds of a second.
pub const SECOND: i64 = 1_000_000;
/// `infinity`, for days and for microseconds.
pub const INFINITY: i64 = i64::MAX;
/// `-infinity`, for days and for microseconds.
pub const NEGATIVE_INFINITY: i64 = i64::MIN;
/// The first day that we keep, 0001-01-01: text order is the order of dates from here on.
pub const FIRST_DAY: i64 = -719_162;
/// The last day that we keep, 9999-12-31.
pub const LAST_DAY: i64 = 2_932_896;

/// What a text says.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// Day number since 1970-01-01; may be an infinity.
    pub days: Option<i64>,
    /// Microseconds of the day, up to and including 24:00.
    pub micros: Option<i64>,
    /// The zone.
    pub zone: Option<TimeZone>,
    /// The whole text was `now`, `epoch` or an infinity: an instant, in microseconds since 1970 UTC.
    pub instant: Option<i64>,
}

enum Problem {
    Syntax,
    /// The field is impossible; `true` asks whether another `DateStyle` was meant.
    Overflow(bool),
    Zone(String),
    ZoneOffset,
    NeedsNow,
}

/// Reads a text as a value of the type that messages call `name`.
pub fn parse(text: &str, name: &str, settings: &Settings) -> Result<Parsed> {
    Reader { rest: text.trim(), order: settings.date_order, fields: Fields::default() }.read(settings).map_err(
        |problem| match problem {
            Problem::Syntax => {
                let error = invalid_syntax(name, text);
                Error::new(Condition::InvalidDatetimeFormat, error.message.clone())
            }
            Problem::Overflow(hint) => {
                let error = field_overflow(text);
                if hint { error.hint("Perhaps you need a different \"datestyle\" setting.") } else { error }
            }
            Problem::Zone(zone) => zone::not_recognized(&zone),
            Problem::ZoneOffset => Error::new(
                Condition::InvalidTimeZoneDisplacement,
                format!("time zone displacement out of range: \"{text}\""),
            ),
            Problem::NeedsNow => Error::unsupported(format!("\"{}\" in a constant of this place", text.trim())),
        },
    )
}

/// `date/time field value out of range`, 22008.
pub fn field_overflow(text: &str) -> Error {
    Error::new(Condition::DatetimeFieldOverflow, format!("date/time field value out of range: \"{text}\""))
}

/// `timestamp out of range`, 22008: a result beyond what we keep.
pub fn out_of_range(name: &str) -> Error {
    Error::new(Condition::DatetimeFieldOverflow, format!("{name} out of range"))
        .hint("Dates are kept from 0001-01-01 to 9999-12-31.")
}

/// Reads the digits at the front of a byte string as a number of exactly `N` digits.
pub fn fixed_digits<const N: usize>(bytes: &[u8]) -> Option<i64> {
    let digits = bytes.get(..N)?;
    digits.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

/// Day number of `YYYY-MM-DD`.
pub fn iso_date(bytes: &[u8]) -> Option<i64> {
    let [.., b'-', _, _, b'-', _, _] = bytes else { return None };
    let (year, month, day) =
        (fixed_digits::<4>(bytes)?, fixed_digits::<2>(&bytes[5..])?, fixed_digits::<2>(&bytes[8..])?);
    (bytes.len() == 10 && year > 0 && valid_date(year, month, day)).then(|| days_from_civil(year, month, day))
}

/// Microseconds of `HH:MM:SS[.ffffff]`, up to 24:00:00, with the bytes behind it.
pub fn iso_time(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (hour, minute, second) =
        (fixed_digits::<2>(bytes)?, fixed_digits::<2>(bytes.get(3..)?)?, fixed_digits::<2>(bytes.get(6..)?)?);
    if bytes[2] != b':' || bytes[5] != b':' || minute > 59 || second > 59 {
        return None;
    }
    let mut micros = hour * HOUR + minute * MINUTE + second * SECOND;
    let mut rest = &bytes[8..];
    if let [b'.', digits @ ..] = rest {
        let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        if count == 0 || count > 6 {
            return None;
        }
        let fraction = digits[..count].iter().fold(0, |value, byte| value * 10 + i64::from(byte - b'0'));
        micros += fraction * 10_i64.pow(6 - count as u32);
        rest = &digits[count..];
    }
    (micros <= DAY).then_some((micros, rest))
}

/// True for dates that exist.
pub fn valid_date(year: i64, month: i64, day: i64) -> bool {
    (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month)
}

/// 28 to 31.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    days_from_civil(if month == 12 { year + 1 } else { year }, if month == 12 { 1 } else { month + 1 }, 1)
        - days_from_civil(year, month, 1)
}

/// Appends `YYYY-MM-DD`.
pub fn write_iso_date(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = civil_from_days(days);
    push_digits(out, year, 4);
    out.push(b'-');
    push_digits(out, i64::from(month), 2);
    out.push(b'-');
    push_digits(out, i64::from(day), 2);
}

/// Appends `HH:MM:SS[.ffffff]`, the fraction without trailing zeros.
pub fn write_iso_time(out: &mut Vec<u8>, micros: i64) {
    push_digits(out, micros / HOUR, 2);
    out.push(b':');
    push_digits(out, micros / MINUTE % 60, 2);
    out.push(b':');
    push_digits(out, micros / SECOND % 60, 2);
    write_fraction(out, micros % SECOND);
}

/// Appends a fraction of a second without trailing zeros; nothing for zero.
pub fn write_fraction(out: &mut Vec<u8>, micros: i64) {
    if micros != 0 {
        out.push(b'.');
        push_digits(out, micros, 6);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

fn push_digits(out: &mut Vec<u8>, value: i64, width: usize) {
    let start = out.len();
    out.resize(start + width, b'0');
    let mut rest = value;
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

#[derive(Default)]
struct Fields {
    year: Option<i64>,
    /// The year was written with two digits or fewer.
    short_year: bool,
    month: Option<i64>,
    day: Option<i64>,
    days: Option<i64>,
    micros: Option<i64>,
    zone: Option<TimeZone>,
    bc: bool,
    pm: Option<bool>,
    time_follows: bool,
    needs_today: Option<i64>,
    instant: Option<Instant>,
}

#[derive(Clone, Copy)]
enum Instant {
    At(i64),
    Now,
}

struct Reader<'a> {
    rest: &'a str,
    order: DateOrder,
    fields: Fields,
}

impl<'a> Reader<'a> {
    fn read(mut self, settings: &Settings) -> Result<Parsed, Problem> {
        if self.rest.is_empty() {
            return Err(Problem::Syntax);
        }
        while let Some(c) = self.rest.chars().next() {
            match c {
                ' ' | '\t' | '\n' | '\r' | ',' => self.rest = &self.rest[1..],
                '0'..='9' => self.number()?,
                '+' | '-' => self.sign()?,
                'A'..='Z' | 'a'..='z' => self.word()?,
                _ => return Err(Problem::Syntax),
            }
        }
        self.finish(settings)
    }

    fn finish(self, settings: &Settings) -> Result<Parsed, Problem> {
        let fields = self.fields;
        let has_date = fields.year.is_some() || fields.month.is_some() || fields.day.is_some();
        if let Some(instant) = fields.instant {
            if has_date || fields.micros.is_some() || fields.days.is_some() || fields.zone.is_some() {
                return Err(Problem::Syntax);
            }
            let instant = match instant {
                Instant::At(micros) => micros,
                Instant::Now => settings.now.ok_or(Problem::NeedsNow)?,
            };
            return Ok(Parsed { instant: Some(instant), ..Parsed::default() });
        }
        let mut days = fields.days;
        if let Some(offset) = fields.needs_today {
            let now = settings.now.ok_or(Problem::NeedsNow)?;
            days = Some(zone::to_local(&settings.time_zone, now).div_euclid(DAY) + offset);
        }
        if has_date {
            let (Some(mut year), Some(month), Some(day)) = (fields.year, fields.month, fields.day) else {
                return Err(Problem::Syntax);
            };
            if days.is_some() {
                return Err(Problem::Syntax);
            }
            if fields.short_year && !fields.bc {
                year += if year < 70 { 2_000 } else { 1_900 };
            }
            if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
                return Err(Problem::Overflow(true));
            }
            if fields.bc {
                year = 1 - year;
            } else if year == 0 {
                return Err(Problem::Overflow(false));
            }
            if year > 300_000 || !valid_date(year, month, day) {
                return Err(Problem::Overflow(false));
            }
            days = Some(days_from_civil(year, month, day));
        }
        let mut micros = fields.micros;
        if let Some(pm) = fields.pm {
            let Some(time) = micros else { return Err(Problem::Syntax) };
            let hour = time / HOUR;
            if hour > 12 {
                return Err(Problem::Overflow(false));
            }
            micros = Some(match (pm, hour) {
                (false, 12) => time - 12 * HOUR,
                (true, 0..=11) => time + 12 * HOUR,
                _ => time,
            });
        }
        if days.is_none() && micros.is_none() {
            return Err(Problem::Syntax);
        }
        Ok(Parsed { days, micros, zone: fields.zone, instant: None })
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c: char| !accept(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Something that begins with a digit: a time, a date with separators, or digits run together.
    fn number(&mut self) -> Result<(), Problem> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        let mut ahead = self.rest.chars();
        match (ahead.next(), ahead.next()) {
            (Some(':'), _) => self.time(digits),
            (Some('.'), Some('0'..='9')) if self.fields.time_follows || self.date_is_known() => {
                self.compact_time(digits)
            }
            (Some(separator @ ('-' | '/' | '.')), Some(next))
                if next.is_ascii_alphanumeric() && !self.date_is_known() =>
            {
                self.separated_date(digits, separator)
            }
            _ if self.fields.time_follows => self.compact_time(digits),
            _ => self.loose_digits(digits),
        }
    }

    fn date_is_known(&self) -> bool {
        self.fields.days.is_some()
            || self.fields.needs_today.is_some()
            || (self.fields.year.is_some() && self.fields.month.is_some() && self.fields.day.is_some())
    }

    fn time(&mut self, hour: &str) -> Result<(), Problem> {
        self.rest = &self.rest[1..];
        let minute = self.take_while(|c| c.is_ascii_digit());
        let mut second = "0";
        let mut micros = 0;
        if self.rest.starts_with(':') {
            self.rest = &self.rest[1..];
            second = self.take_while(|c| c.is_ascii_digit());
            micros = self.fraction()?;
        }
        self.set_time(number(hour)?, number(minute)?, number(second)?, micros)
    }

    fn compact_time(&mut self, digits: &str) -> Result<(), Problem> {
        let (hour, minute, second) = match digits.len() {
            2 => (digits, "0", "0"),
            4 => (&digits[..2], &digits[2..], "0"),
            6 => (&digits[..2], &digits[2..4], &digits[4..]),
            _ => return Err(Problem::Syntax),
        };
        let micros = self.fraction()?;
        self.set_time(number(hour)?, number(minute)?, number(second)?, micros)
    }

    /// A fraction behind seconds, rounded to microseconds.
    fn fraction(&mut self) -> Result<i64, Problem> {
        if !self.rest.starts_with('.') {
            return Ok(0);
        }
        self.rest = &self.rest[1..];
        Ok(fraction_micros(self.take_while(|c| c.is_ascii_digit())))
    }

    fn set_time(&mut self, hour: i64, minute: i64, second: i64, micros: i64) -> Result<(), Problem> {
        if self.fields.micros.is_some() {
            return Err(Problem::Syntax);
        }
        let total = hour * HOUR + minute * MINUTE + second * SECOND + micros;
        if hour > 24 || minute > 59 || second > 60 || total > DAY {
            return Err(Problem::Overflow(false));
        }
        self.fields.micros = Some(total);
        self.fields.time_follows = false;
        Ok(())
    }

    fn separated_date(&mut self, first: &str, separator: char) -> Result<(), Problem> {
        let mut parts = vec![first];
        while parts.len() < 3 && self.rest.starts_with(separator) {
            self.rest = &self.rest[1..];
            let starts_with_digit = self.rest.starts_with(|c: char| c.is_ascii_digit());
            parts.push(
                self.take_while(|c| if starts_with_digit { c.is_ascii_digit() } else { c.is_ascii_alphabetic() }),
            );
        }
        if let ([day, year], Some(_)) = (&parts[..], self.fields.month) {
            // `May-6-2024`: the month's name has been read.
            self.fields.day = Some(number(day)?);
            return self.set_year(year);
        }
        if let [year, day_of_year] = parts[..] {
            // `2024.127`: year and day of the year.
            if separator != '.' || day_of_year.len() != 3 {
                return Err(Problem::Syntax);
            }
            let (year, day) = (number(year)?, number(day_of_year)?);
            self.fields.days = Some(days_from_civil(year, 1, 1) + day - 1);
            return Ok(());
        }
        let [a, b, c] = parts[..] else { return Err(Problem::Syntax) };
        let (year, month, day) = if let Some(month) = month_name(b) {
            self.fields.month = Some(month);
            if a.len() >= 3 { (a, b, c) } else { (c, b, a) }
        } else if a.len() >= 3 {
            (a, b, c)
        } else {
            match self.order {
                DateOrder::Ymd => (a, b, c),
                DateOrder::Dmy => (c, b, a),
                DateOrder::Mdy => (c, a, b),
            }
        };
        self.set_year(year)?;
        if self.fields.month.is_none() {
            self.fields.month = Some(number(month)?);
        }
        self.fields.day = Some(number(day)?);
        Ok(())
    }

    fn set_year(&mut self, digits: &str) -> Result<(), Problem> {
        if self.fields.year.is_some() {
            return Err(Problem::Syntax);
        }
        self.fields.year = Some(number(digits)?);
        self.fields.short_year = digits.len() <= 2;
        Ok(())
    }

    fn loose_digits(&mut self, digits: &str) -> Result<(), Problem> {
        let no_date = self.fields.year.is_none() && self.fields.month.is_none() && self.fields.day.is_none();
        match digits.len() {
            8 if no_date && !self.date_is_known() => {
                self.set_year(&digits[..4])?;
                self.fields.month = Some(number(&digits[4..6])?);
                self.fields.day = Some(number(&digits[6..])?);
            }
            6 if no_date && !self.date_is_known() => {
                // A time is told from a date by what follows in PostgreSQL too: alone it is a date.
                self.set_year(&digits[..2])?;
                self.fields.month = Some(number(&digits[2..4])?);
                self.fields.day = Some(number(&digits[4..])?);
            }
            6 if self.date_is_known() => return self.compact_time(digits),
            _ if digits.len() >= 3 => self.set_year(digits)?,
            _ if self.fields.day.is_none() && !self.date_is_known() => self.fields.day = Some(number(digits)?),
            _ => self.set_year(digits)?,
        }
        Ok(())
    }

    fn sign(&mut self) -> Result<(), Problem> {
        let rest = self.rest;
        if rest.get(1..).is_some_and(|word| word.eq_ignore_ascii_case("infinity")) {
            let value = if rest.starts_with('-') { NEGATIVE_INFINITY } else { INFINITY };
            self.fields.instant = Some(Instant::At(value));
            self.rest = "";
            return Ok(());
        }
        // A sign can only begin an offset, and that stands behind a time (or, for dates, is ignored).
        let end = rest[1..].find(|c: char| !(c.is_ascii_digit() || c == ':')).map_or(rest.len(), |end| end + 1);
        let (text, rest) = rest.split_at(end);
        if self.fields.zone.is_some() || self.fields.micros.is_none() {
            return Err(Problem::Syntax);
        }
        let digits = text[1..].bytes().filter(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(Problem::Syntax);
        }
        let seconds = zone::parse_offset(text).ok_or(Problem::ZoneOffset)?;
        self.fields.zone = zone::fixed(seconds);
        self.rest = rest;
        Ok(())
    }

    fn word(&mut self) -> Result<(), Problem> {
        let full = self.rest;
        let word = self.take_while(|c| c.is_ascii_alphabetic());
        let lower = word.to_ascii_lowercase();
        if let Some(month) = month_name(&lower) {
            if let Some(number) = self.fields.month {
                // `5 May`: what was taken for a month by its place was the day.
                if self.fields.day.is_none() {
                    self.fields.day = Some(number);
                } else {
                    return Err(Problem::Syntax);
                }
            }
            self.fields.month = Some(month);
            // Separators after a name: `May-6-2024`.
            self.rest = self.rest.trim_start_matches(['-', '/', '.']);
            return Ok(());
        }
        if is_day_name(&lower) {
            self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
            return Ok(());
        }
        match lower.as_str() {
            "t" if self.date_is_known() && self.rest.starts_with(|c: char| c.is_ascii_digit()) => {
                self.fields.time_follows = true;
                return Ok(());
            }
            "j" if self.rest.starts_with(|c: char| c.is_ascii_digit()) => {
                let digits = self.take_while(|c| c.is_ascii_digit());
                // Julian day 2440588 is 1970-01-01.
                self.fields.days = Some(number(digits)? - 2_440_588);
                return Ok(());
            }
            "am" | "pm" => {
                self.fields.pm = Some(lower == "pm");
                return Ok(());
            }
            "bc" => {
                self.fields.bc = true;
                return Ok(());
            }
            "ad" | "at" | "on" => return Ok(()),
            "epoch" => {
                self.fields.instant = Some(Instant::At(0));
                return Ok(());
            }
            "infinity" | "inf" if lower == "infinity" => {
                self.fields.instant = Some(Instant::At(INFINITY));
                return Ok(());
            }
            "now" => {
                self.fields.instant = Some(Instant::Now);
                return Ok(());
            }
            "today" | "tomorrow" | "yesterday" => {
                self.fields.needs_today = Some(match lower.as_str() {
                    "tomorrow" => 1,
                    "yesterday" => -1,
                    _ => 0,
                });
                return Ok(());
            }
            "allballs" => return self.set_time(0, 0, 0, 0),
            _ => {}
        }
        self.rest = full;
        self.zone_name()
    }

    fn zone_name(&mut self) -> Result<(), Problem> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+' | ':'));
        if self.fields.zone.is_some() {
            return Err(Problem::Syntax);
        }
        match zone::find(name) {
            Some(zone) => self.fields.zone = Some(zone),
            None if name.contains('/') => return Err(Problem::Zone(name.to_ascii_lowercase())),
            None => return Err(Problem::Syntax),
        }
        Ok(())
    }
}

/// Microseconds of the digits behind a decimal point, rounded half up.
pub fn fraction_micros(digits: &str) -> i64 {
    let mut micros = 0;
    for at in 0..6 {
        micros = micros * 10 + digits.as_bytes().get(at).map_or(0, |byte| i64::from(byte - b'0'));
    }
    if digits.as_bytes().get(6).is_some_and(|byte| *byte >= b'5') { micros + 1 } else { micros }
}

/// A number of few digits.
fn number(digits: &str) -> Result<i64, Problem> {
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Problem::Syntax);
    }
    digits.parse().map_err(|_| Problem::Syntax)
}

/// 1 to 12 for a month's name or its first three letters.
pub fn month_name(word: &str) -> Option<i64> {
    let lower = word.to_ascii_lowercase();
    if lower == "sept" {
        return Some(9);
    }
    let at = MONTHS.iter().position(|month| {
        lower.eq_ignore_ascii_case(month) || (lower.len() == 3 && month[..3].eq_ignore_ascii_case(&lower))
    })?;
    Some(at as i64 + 1)
}

/// True for names of days of the week and their usual abbreviations.
fn is_day_name(word: &str) -> bool {
    matches!(word, "tues" | "weds" | "wednes" | "thur" | "thurs")
        || DAYS
            .iter()
            .any(|day| word.eq_ignore_ascii_case(day) || (word.len() == 3 && day[..3].eq_ignore_ascii_case(word)))
}

/// Months, in English.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days of the week, in English, from Sunday.
pub const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
