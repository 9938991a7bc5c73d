//! Dates and times in whatever form MySQL reads them, and what is worked out of them.

use jiff::tz::TimeZone;
use rowferry_wire::civil::{civil_from_days, days_from_civil, days_in_month, is_leap_year};

use super::super::datetime_text::{DAY, HOUR, MINUTE, SECOND};
use super::super::{ValueRef, zone};
use super::numbers;

/// MySQL's number of the day 1970-01-01: days since the year 0.
pub const DAYS_TO_1970: i64 = 719_528;
/// The greatest TIME: 838:59:59.
pub const LONGEST_TIME: i64 = 838 * HOUR + 59 * MINUTE + 59 * SECOND;

/// A date as it was written, month and day possibly 0, and a time of day.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Moment {
    /// 0 to 9999.
    pub year: i64,
    /// 0 to 12.
    pub month: i64,
    /// 0 to 31.
    pub day: i64,
    /// Microseconds of the day.
    pub micros: i64,
    /// A time was written, or may have been.
    pub timed: bool,
}

impl Moment {
    /// Of a day number since 1970; `None` outside of the years 0 to 9999.
    pub fn of_days(days: i64, micros: i64, timed: bool) -> Option<Self> {
        // The year 0 has no day but its 366 that MySQL counts.
        if !(-DAYS_TO_1970..=2_932_896).contains(&days) {
            return None;
        }
        let (year, month, day) = civil_from_days(days);
        Some(Self { year, month: i64::from(month), day: i64::from(day), micros, timed })
    }

    /// Of microseconds since 1970-01-01 00:00.
    pub fn of_micros(micros: i64) -> Option<Self> {
        Self::of_days(micros.div_euclid(DAY), micros.rem_euclid(DAY), true)
    }

    /// The day number since 1970; `None` where month or day are 0.
    pub fn days(&self) -> Option<i64> {
        (self.month > 0 && self.day > 0).then(|| days_from_civil(self.year, self.month, self.day))
    }

    /// Microseconds since 1970-01-01 00:00; `None` where month or day are 0.
    pub fn since_1970(&self) -> Option<i64> {
        Some(self.days()? * DAY + self.micros)
    }

    /// Day of the week, Monday is 0.
    pub fn weekday(&self) -> Option<i64> {
        Some((self.days()? + 3).rem_euclid(7))
    }

    /// Day of the year.
    pub fn day_of_year(&self) -> Option<i64> {
        Some(self.days()? - days_from_civil(self.year, 1, 1) + 1)
    }

    /// Week of the year and the year that it belongs to, by MySQL's mode 0 to 7.
    pub fn week(&self, mode: i64, with_year: bool) -> Option<(i64, i64)> {
        let monday_first = mode & 1 != 0;
        let mut week_year = with_year || mode & 2 != 0;
        let first_weekday = (mode & 4 != 0) ^ !monday_first;
        let length = |year: i64| if is_leap_year(year) { 366 } else { 365 };
        let day = self.days()? + DAYS_TO_1970;
        let mut year = self.year;
        let mut first = days_from_civil(year, 1, 1) + DAYS_TO_1970;
        let mut weekday = (first + 5 + i64::from(!monday_first)).rem_euclid(7);
        let later = |weekday: i64| if first_weekday { weekday != 0 } else { weekday >= 4 };
        if self.month == 1 && self.day <= 7 - weekday {
            if !week_year && later(weekday) {
                return Some((0, year));
            }
            week_year = true;
            year -= 1;
            let days = length(year);
            first -= days;
            weekday = (weekday + 53 * 7 - days) % 7;
        }
        let days = if later(weekday) { day - (first + 7 - weekday) } else { day - (first - weekday) };
        if week_year && days >= 52 * 7 {
            weekday = (weekday + length(year)) % 7;
            if !later(weekday) {
                return Some((1, year + 1));
            }
        }
        Some((days / 7 + 1, year))
    }

    /// `YYYY-MM-DD`.
    pub fn date_text(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// `YYYY-MM-DD HH:MM:SS`, with six digits of the second where there is a fraction.
    pub fn datetime_text(&self) -> String {
        format!("{} {}", self.date_text(), time_text(self.micros))
    }

    /// As it is stored: without zeros at the end of the fraction.
    pub fn stored(&self) -> String {
        let text = self.datetime_text();
        if text.contains('.') { text.trim_end_matches('0').to_owned() } else { text }
    }

    /// The moment at the second that is nearest.
    #[must_use]
    pub fn to_seconds(self) -> Self {
        let micros = rounded(self.micros, 0);
        if micros < DAY {
            return Self { micros, ..self };
        }
        match self.since_1970().map(|since| since - self.micros + micros).and_then(Self::of_micros) {
            Some(next) => Self { timed: self.timed, ..next },
            None => self,
        }
    }

    /// As a number: `20240102`, or `20240102101112` with a time.
    pub fn number(&self) -> i64 {
        let date = self.year * 10_000 + self.month * 100 + self.day;
        if self.timed { date * 1_000_000 + time_number(self.micros) } else { date }
    }
}

/// `[-]HH:MM:SS`, with six digits of the second where there is a fraction.
pub fn time_text(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let micros = micros.abs();
    let (hours, minutes, seconds) = (micros / HOUR, micros / MINUTE % 60, micros / SECOND % 60);
    match micros % SECOND {
        0 => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
        fraction => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}.{fraction:06}"),
    }
}

/// A time as a number: `101112`, without its fraction.
pub fn time_number(micros: i64) -> i64 {
    let all = micros.abs();
    let number = all / HOUR * 10_000 + all / MINUTE % 60 * 100 + all / SECOND % 60;
    if micros < 0 { -number } else { number }
}

/// The year that a number means: of one or two digits 1970 to 2069, and 0 is 0.
pub fn year_of_number(number: i64) -> i64 {
    if (1..100).contains(&number) { year_of_two(number) } else { number }
}

/// The year that a text of one to three digits means, of which 0 is 2000; `None` for others, which mean what they say.
pub fn year_of_text(text: &str) -> Option<i64> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(fraction) || whole.len() > 3 {
        return None;
    }
    let number: i64 = whole.parse().ok()?;
    let number = number + i64::from(fraction.as_bytes()[0] >= b'5');
    (number < 100).then(|| year_of_two(number))
}

/// A year of two digits, which is 1970 to 2069.
pub fn year_of_two(year: i64) -> i64 {
    if year < 70 { year + 2_000 } else { year + 1_900 }
}

/// True for a date that the calendar has, where month and day may be 0.
fn is_valid(year: i64, month: i64, day: i64) -> bool {
    (0..=9_999).contains(&year)
        && (0..=12).contains(&month)
        && (0..=31).contains(&day)
        && (month == 0 || day <= i64::from(days_in_month(year, u8::try_from(month).unwrap_or(1))))
}

/// A stored value as a date with or without a time; `None` for NULL, and for what is none.
pub fn read(value: ValueRef<'_>, zone: &TimeZone) -> Option<Moment> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => of_number(number, 0),
        ValueRef::Real(number) => {
            let micros = (number.fract() * 1e6).round() as i64;
            of_number(number.trunc() as i64, micros)
        }
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => parse(&String::from_utf8_lossy(bytes), zone),
    }
}

/// A number such as `20240102` or `240102101112` as a date.
pub fn of_number(number: i64, fraction: i64) -> Option<Moment> {
    let (number, timed) = match number {
        0 => return None,
        ..101 => return None,
        101..=691_231 => ((number + 20_000_000) * 1_000_000, false),
        700_101..=991_231 => ((number + 19_000_000) * 1_000_000, false),
        10_000_101..=99_991_231 => (number * 1_000_000, false),
        101_000_000..=691_231_235_959 => (number + 20_000_000_000_000, true),
        700_101_000_000..=991_231_235_959 => (number + 19_000_000_000_000, true),
        10_000_101_000_000..=99_991_231_235_959 => (number, true),
        _ => return None,
    };
    let (date, time) = (number / 1_000_000, number % 1_000_000);
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
    (is_valid(year, month, day) && hour < 24 && minute < 60 && second < 60).then(|| Moment {
        year,
        month,
        day,
        micros: hour * HOUR + minute * MINUTE + second * SECOND + if timed { fraction } else { 0 },
        timed,
    })
}

/// Microseconds of the digits behind a point, the seventh of which rounds.
pub fn fraction(digits: &str) -> i64 {
    let mut micros = 0;
    for at in 0..6 {
        micros = micros * 10 + digits.as_bytes().get(at).map_or(0, |digit| i64::from(digit - b'0'));
    }
    micros + i64::from(digits.as_bytes().get(6).is_some_and(|digit| *digit >= b'5'))
}

/// A moment's or a time's text with so many digits behind the point, of which those that it has not are zeros.
pub fn with_digits(text: &str, digits: usize) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let shown: String = fraction.chars().chain(std::iter::repeat('0')).take(digits).collect();
    if digits == 0 { whole.to_owned() } else { format!("{whole}.{shown}") }
}

/// Reads a date, with or without a time, in any of MySQL's forms; what stands behind it is of no account. An offset
/// behind a time moves it into `zone`.
pub fn parse(text: &str, zone: &TimeZone) -> Option<Moment> {
    parse_whole(text, zone).map(|(moment, _)| moment)
}

/// The same, with whether a blank or a `T` stood between date and time, or all were digits.
fn parse_whole(text: &str, zone: &TimeZone) -> Option<(Moment, bool)> {
    let text = text.trim_start();
    let bytes = text.as_bytes();
    let digits_at =
        |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let leading = bytes.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'T').count();
    let packed = leading > 0 && matches!(bytes.get(leading), None | Some(b'.'));
    let mut year_length = match (packed, leading) {
        (true, 4 | 8 | 14..) => 4,
        _ => 2,
    };
    let (mut fields, mut at, mut count) = ([0_i64; 6], 0, 0);
    let (mut micros, mut spaced, mut delimited) = (0, packed, false);
    while count < 6 {
        let width = match (packed, count) {
            (true, 0) => digits_at(at).min(year_length),
            (true, _) => digits_at(at).min(2),
            (false, _) => digits_at(at),
        };
        if width == 0 || width > 6 {
            break;
        }
        fields[count] = text[at..at + width].parse().ok()?;
        if !packed && count == 0 {
            year_length = width;
        }
        at += width;
        count += 1;
        if count == 3 && bytes.get(at) == Some(&b'T') {
            spaced = true;
            at += 1;
        } else if count == 6 {
            if bytes.get(at) == Some(&b'.') {
                let digits = digits_at(at + 1);
                micros = fraction(&text[at + 1..at + 1 + digits]);
                at += 1 + digits;
            }
        } else {
            while let Some(byte) = bytes.get(at) {
                let blank = byte.is_ascii_whitespace();
                if !(byte.is_ascii_punctuation() || blank && count == 3) {
                    break;
                }
                spaced |= blank;
                delimited = true;
                at += 1;
            }
        }
    }
    let [mut year, month, day, hour, minute, second] = fields;
    if year_length <= 2 && (year != 0 || month != 0 || day != 0) {
        year = year_of_two(year);
    }
    if count < 3 || !is_valid(year, month, day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let written = hour * HOUR + minute * MINUTE + second * SECOND + micros;
    let mut moment = Moment { year, month, day, micros: written, timed: count > 3 };
    if moment.micros >= DAY {
        moment = Moment::of_micros(moment.since_1970()?)?;
    }
    if count > 4
        && let Some(offset) = offset(&text[at.min(text.len())..])
    {
        let instant = moment.since_1970()? - offset * SECOND;
        moment = Moment::of_micros(zone::to_local(zone, instant))?;
    }
    Some((moment, spaced || !delimited))
}

/// Seconds of an offset: `+05:30`, or `+00` as it is stored.
fn offset(text: &str) -> Option<i64> {
    let negative = match text.as_bytes().first()? {
        b'+' => false,
        b'-' => true,
        _ => return None,
    };
    let (hours, minutes) = text[1..].split_once(':').unwrap_or((&text[1..], "0"));
    let part = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok()).flatten();
    let seconds = part(hours)? * 3_600 + part(minutes)? * 60;
    (seconds <= 14 * 3_600).then_some(if negative { -seconds } else { seconds })
}

/// A stored value as a time, possibly negative and longer than a day, in microseconds; `None` for NULL, and for what is
/// none. Of a date with a time the time.
pub fn read_time(value: ValueRef<'_>, zone: &TimeZone) -> Option<i64> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => time_of_number(number, 0),
        ValueRef::Real(number) => time_of_number(number.trunc() as i64, (number.fract() * 1e6).round() as i64),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => parse_time(&String::from_utf8_lossy(bytes), zone),
    }
}

/// A number such as `101112` as a time; one of a date with a time as its time.
fn time_of_number(number: i64, fraction: i64) -> Option<i64> {
    if number.abs() > 8_385_959 {
        // A whole date is what is meant where it has more digits.
        if number >= 10_000_000_000 {
            return of_number(number, fraction).map(|moment| moment.micros);
        }
        return Some(if number < 0 { -LONGEST_TIME } else { LONGEST_TIME });
    }
    let (hours, minutes, seconds) = (number.abs() / 10_000, number.abs() / 100 % 100, number.abs() % 100);
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let micros = hours * HOUR + minutes * MINUTE + seconds * SECOND + fraction.abs();
    Some(clipped(if number < 0 || fraction < 0 { -micros } else { micros }))
}

/// A time within MySQL's range.
pub fn clipped(micros: i64) -> i64 {
    micros.clamp(-LONGEST_TIME, LONGEST_TIME)
}

/// Reads a time: `[-][D ]HH:MM[:SS[.f]]`, `[D ]HH`, digits without colons, or a date with a time.
pub fn parse_time(text: &str, zone: &TimeZone) -> Option<i64> {
    let text = text.trim_start();
    if text.len() >= 12
        && let Some((moment, true)) = parse_whole(text, zone)
        && moment.timed
    {
        return Some(moment.micros);
    }
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let bytes = text.as_bytes();
    let digits_at =
        |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number =
        |from: usize, count: usize| text[from..from + count].parse::<i64>().ok().filter(|number| *number < 1 << 40);
    let first = digits_at(0);
    if first == 0 {
        return None;
    }
    let value = number(0, first).unwrap_or(i64::from(u32::MAX));
    let blanks = bytes[first..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut at = first + blanks;
    let (mut parts, mut state) = ([0_i64; 4], 0);
    if blanks > 0 && digits_at(at) > 0 {
        parts[0] = value;
        state = 1;
    } else if bytes.get(first) == Some(&b':') && digits_at(first + 1) > 0 {
        parts[1] = value;
        state = 2;
        at = first + 1;
    } else {
        parts = [0, value / 10_000, value / 100 % 100, value % 100];
        at = first;
    }
    if state > 0 {
        while state < 4 {
            let digits = digits_at(at);
            parts[state] = number(at, digits)?;
            at += digits;
            state += 1;
            if bytes.get(at) != Some(&b':') || digits_at(at + 1) == 0 || state == 4 {
                break;
            }
            at += 1;
        }
    }
    let mut micros = 0;
    if bytes.get(at) == Some(&b'.') {
        micros = fraction(&text[at + 1..at + 1 + digits_at(at + 1)]);
    }
    let [days, hours, minutes, seconds] = parts;
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let hours = days.saturating_mul(24).saturating_add(hours).min(1 << 20);
    let micros = clipped(hours * HOUR + minutes * MINUTE + seconds * SECOND + micros);
    Some(if negative { -micros } else { micros })
}

/// A text that is a time within MySQL's range, and nothing else; `None` where a column would refuse it.
pub fn time_of_text(text: &str) -> Option<i64> {
    let trimmed = text.trim();
    let micros = parse_time(trimmed, &TimeZone::UTC)?;
    let plain = trimmed.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-' | b' '));
    let fits = micros.abs() < LONGEST_TIME || is_longest(trimmed);
    (plain && fits).then_some(micros)
}

/// The longest time as it may be written, and no longer one that was cut off.
fn is_longest(text: &str) -> bool {
    let text = text.trim_start_matches('-');
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    matches!(whole, "838:59:59" | "8385959" | "34 22:59:59") && fraction.bytes().all(|digit| digit == b'0')
}

/// A time of so many digits behind the point.
pub fn rounded(micros: i64, digits: i64) -> i64 {
    let unit = 10_i64.pow(u32::try_from(6 - digits.clamp(0, 6)).unwrap_or(0));
    let all = (micros.abs() + unit / 2) / unit * unit;
    clipped(if micros < 0 { -all } else { all })
}

/// A unit of an interval.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unit {
    /// The greatest part: 0 is a year, 6 a microsecond.
    first: usize,
    /// The smallest part.
    last: usize,
    /// How many of the part one is, for weeks and quarters.
    times: i64,
}

const UNITS: &[(&str, Unit)] = &[
    ("year", unit(0, 0, 1)),
    ("quarter", unit(1, 1, 3)),
    ("month", unit(1, 1, 1)),
    ("week", unit(2, 2, 7)),
    ("day", unit(2, 2, 1)),
    ("hour", unit(3, 3, 1)),
    ("minute", unit(4, 4, 1)),
    ("second", unit(5, 5, 1)),
    ("microsecond", unit(6, 6, 1)),
    ("year_month", unit(0, 1, 1)),
    ("day_hour", unit(2, 3, 1)),
    ("day_minute", unit(2, 4, 1)),
    ("day_second", unit(2, 5, 1)),
    ("day_microsecond", unit(2, 6, 1)),
    ("hour_minute", unit(3, 4, 1)),
    ("hour_second", unit(3, 5, 1)),
    ("hour_microsecond", unit(3, 6, 1)),
    ("minute_second", unit(4, 5, 1)),
    ("minute_microsecond", unit(4, 6, 1)),
    ("second_microsecond", unit(5, 6, 1)),
];

const fn unit(first: usize, last: usize, times: i64) -> Unit {
    Unit { first, last, times }
}

impl Unit {
    /// By its word, also as `SQL_TSI_DAY`.
    pub fn named(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let word = word.strip_prefix("sql_tsi_").unwrap_or(&word);
        UNITS.iter().find(|(name, _)| *name == word).map(|(_, unit)| *unit)
    }

    /// True where days do not matter: the sum with a date has a time.
    pub fn is_of_time(self) -> bool {
        self.last >= 3
    }

    /// An interval of so many, as it was given: a decimal is rounded where a text is read up to its point.
    pub fn of(self, value: ValueRef<'_>, is_decimal: bool) -> Option<Step> {
        let mut parts = [0_i64; 7];
        if self.first == self.last {
            let number = match (self.first, value) {
                (5, _) => {
                    let micros = numbers::decimal_of(value)?.mul(&super::super::Decimal::from_i64(SECOND)).ok()?;
                    parts[6] = i64::try_from(numbers::integer_of_decimal(&micros)).ok()?;
                    0
                }
                _ if is_decimal => i64::try_from(numbers::integer_of_decimal(&numbers::decimal_of(value)?)).ok()?,
                _ => numbers::integer_of(value)?,
            };
            parts[self.first] = parts[self.first].checked_add(number.checked_mul(self.times)?)?;
            return Some(Step { parts });
        }
        let text = numbers::text_of(value)?;
        let text = text.trim_start();
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let fields: Vec<&str> =
            text.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
        let count = self.last - self.first + 1;
        let fields = &fields[..fields.len().min(count)];
        for (at, field) in fields.iter().enumerate() {
            let mut number: i64 = field.parse().ok()?;
            let place = self.last + 1 - fields.len() + at;
            if place == 6 && field.len() < 6 {
                number *= 10_i64.pow(u32::try_from(6 - field.len()).unwrap_or(0));
            }
            parts[place] = if negative { -number } else { number };
        }
        Some(Step { parts })
    }
}

/// How far a moment is moved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    /// Years, months, days, hours, minutes, seconds, microseconds.
    parts: [i64; 7],
}

impl Step {
    /// The other way.
    pub fn negated(self) -> Option<Self> {
        let mut parts = self.parts;
        for part in &mut parts {
            *part = part.checked_neg()?;
        }
        Some(Self { parts })
    }

    /// Hours and what is below them, in microseconds.
    pub fn micros(&self) -> Option<i64> {
        let [_, _, _, hours, minutes, seconds, micros] = self.parts;
        let hours = hours.checked_mul(HOUR)?.checked_add(minutes.checked_mul(MINUTE)?)?;
        hours.checked_add(seconds.checked_mul(SECOND)?)?.checked_add(micros)
    }

    /// Days, hours and what is below them, in microseconds: for a time.
    pub fn of_time(&self) -> Option<i64> {
        self.micros()?.checked_add(self.parts[2].checked_mul(DAY)?)
    }

    /// The moment moved; `None` outside of the years 0 to 9999.
    pub fn from(&self, start: Moment, timed: bool) -> Option<Moment> {
        let [years, months, days, ..] = self.parts;
        let mut start = start;
        let by_months = years.checked_mul(12)?.checked_add(months)?;
        if by_months != 0 || years != 0 {
            let month = (start.year * 12 + start.month - 1).checked_add(by_months)?;
            if !(0..120_000).contains(&month) || start.month == 0 {
                return None;
            }
            (start.year, start.month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
            start.day = start.day.min(i64::from(days_in_month(start.year, u8::try_from(start.month).unwrap_or(1))));
        }
        let micros = start.micros.checked_add(self.micros()?)?;
        let days = start.days()?.checked_add(days)?.checked_add(micros.div_euclid(DAY))?;
        Moment::of_days(days, micros.rem_euclid(DAY), timed || start.timed)
    }
}

/// Whole units from one moment to another.
pub fn difference(unit: &str, from: Moment, to: Moment) -> Option<i64> {
    let (start, end) = (from.since_1970()?, to.since_1970()?);
    let micros = end - start;
    let months = || {
        let sign = if start <= end { 1 } else { -1 };
        let (first, last) = if start <= end { (from, to) } else { (to, from) };
        let mut months = (last.year - first.year) * 12 + last.month - first.month;
        if (last.day, last.micros) < (first.day, first.micros) {
            months -= 1;
        }
        months * sign
    };
    let unit = unit.to_ascii_lowercase();
    Some(match unit.strip_prefix("sql_tsi_").unwrap_or(&unit) {
        "year" => months() / 12,
        "quarter" => months() / 3,
        "month" => months(),
        "week" => micros / (7 * DAY),
        "day" => micros / DAY,
        "hour" => micros / HOUR,
        "minute" => micros / MINUTE,
        "second" => micros / SECOND,
        "microsecond" => micros,
        _ => return None,
    })
}

/// A part of a moment, as EXTRACT has it; `None` for what is no unit.
pub fn extract(unit: &str, moment: &Moment) -> Option<i64> {
    let micros = moment.micros.abs();
    let sign = if moment.micros < 0 { -1 } else { 1 };
    let (hour, minute, second, micro) = (micros / HOUR, micros / MINUTE % 60, micros / SECOND % 60, micros % SECOND);
    Some(match unit.to_ascii_lowercase().as_str() {
        "year" => moment.year,
        "quarter" => (moment.month + 2) / 3,
        "month" => moment.month,
        "week" => return moment.week(0, false).map(|(week, _)| week),
        "day" => moment.day,
        "hour" => sign * hour,
        "minute" => sign * minute,
        "second" => sign * second,
        "microsecond" => sign * micro,
        "year_month" => moment.year * 100 + moment.month,
        "day_hour" => moment.day * 100 + sign * hour,
        "day_minute" => moment.day * 10_000 + sign * (hour * 100 + minute),
        "day_second" => moment.day * 1_000_000 + sign * (hour * 10_000 + minute * 100 + second),
        "day_microsecond" => {
            (moment.day * 1_000_000 + sign * (hour * 10_000 + minute * 100 + second)) * 1_000_000 + sign * micro
        }
        "hour_minute" => sign * (hour * 100 + minute),
        "hour_second" => sign * (hour * 10_000 + minute * 100 + second),
        "hour_microsecond" => sign * ((hour * 10_000 + minute * 100 + second) * 1_000_000 + micro),
        "minute_second" => sign * (minute * 100 + second),
        "minute_microsecond" => sign * ((minute * 100 + second) * 1_000_000 + micro),
        "second_microsecond" => sign * (second * 1_000_000 + micro),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        parse(text, &TimeZone::UTC).map_or("NULL".to_owned(), |moment| match moment.timed {
            true => moment.datetime_text(),
            false => moment.date_text(),
        })
    }

    #[test]
    fn dates_are_read_in_many_forms() {
        for (text, wanted) in [
            ("2024-01-02", "2024-01-02"),
            ("2024-1-2", "2024-01-02"),
            ("20240102", "2024-01-02"),
            ("240102", "2024-01-02"),
            ("70-1-1", "1970-01-01"),
            ("2024-01-02 10:11:12", "2024-01-02 10:11:12"),
            ("2024-01-02T10:11:12.5", "2024-01-02 10:11:12.500000"),
            ("20240102101112", "2024-01-02 10:11:12"),
            ("2024/01/02 10.11.12", "2024-01-02 10:11:12"),
            ("2024-01-02abc", "2024-01-02"),
            ("2024-02-30", "NULL"),
            ("2024-13-01", "NULL"),
            ("2024-01", "NULL"),
            ("abc", "NULL"),
            ("", "NULL"),
            ("2024-01-00", "2024-01-00"),
            ("2024-01-02 10:11:12+02:00", "2024-01-02 08:11:12"),
            ("2024-01-02 10:11:12+00", "2024-01-02 10:11:12"),
            ("2024-01-02 25:00:00", "NULL"),
            ("2024-01-02 10:11", "2024-01-02 10:11:00"),
            ("2023-12-31 23:59:59.9999999", "2024-01-01 00:00:00"),
        ] {
            assert_eq!(shown(text), wanted, "{text}");
        }
    }

    #[test]
    fn times_are_read_in_many_forms() {
        for (text, wanted) in [
            ("10:11:12", "10:11:12"),
            ("10:11", "10:11:00"),
            ("1 10:11", "34:11:00"),
            ("1112", "00:11:12"),
            ("12", "00:00:12"),
            ("-10:11:12.5", "-10:11:12.500000"),
            ("2024-01-02 10:11:12", "10:11:12"),
            ("900:00:00", "838:59:59"),
            ("10:61", "NULL"),
        ] {
            let read = parse_time(text, &TimeZone::UTC).map_or("NULL".to_owned(), time_text);
            assert_eq!(read, wanted, "{text}");
        }
    }

    #[test]
    fn weeks_follow_the_modes() {
        let day = parse("2008-02-20", &TimeZone::UTC).unwrap();
        assert_eq!(day.week(0, false), Some((7, 2008)));
        assert_eq!(day.week(1, false), Some((8, 2008)));
        let last = parse("2008-12-31", &TimeZone::UTC).unwrap();
        assert_eq!(last.week(1, false).unwrap().0, 53);
        assert_eq!(parse("2000-01-01", &TimeZone::UTC).unwrap().week(0, true), Some((52, 1999)));
    }

    #[test]
    fn intervals_move_moments() {
        let start = parse("2018-01-31 23:59:59", &TimeZone::UTC).unwrap();
        let moved = |value: &str, unit: &str| {
            let step = Unit::named(unit).unwrap().of(ValueRef::Text(value.as_bytes()), false).unwrap();
            step.from(start, false).map(|moment| moment.datetime_text())
        };
        assert_eq!(moved("1", "MONTH").as_deref(), Some("2018-02-28 23:59:59"));
        assert_eq!(moved("1:1", "MINUTE_SECOND").as_deref(), Some("2018-02-01 00:01:00"));
        assert_eq!(moved("1.999999", "SECOND_MICROSECOND").as_deref(), Some("2018-02-01 00:00:00.999999"));
        assert_eq!(moved("-1 1:1:1", "DAY_SECOND").as_deref(), Some("2018-01-30 22:58:58"));
        assert_eq!(moved("1.5", "second").as_deref(), Some("2018-02-01 00:00:00.500000"));
        assert_eq!(moved("9000", "year"), None);
    }
}
