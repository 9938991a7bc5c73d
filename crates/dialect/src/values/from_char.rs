//! `to_date` and `to_timestamp`: texts read by PostgreSQL's template patterns.
//!
//! Separators and blanks of the template match any of the text or none; other characters pass one of the text. A number
//! takes as many digits as its word is long, or all that are there when no digit can follow it.

use rowferry_wire::civil::days_from_civil;

use super::datetime_text::{DAYS, HOUR, MINUTE, MONTHS, SECOND, field_overflow, valid_date};
use super::to_char::{Piece, ROMAN, Word, pieces};
use crate::{Condition, Error, Result, work};

/// What a text says by a template.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Parts {
    /// Day number since 1970-01-01.
    pub days: i64,
    /// Microseconds of the day.
    pub micros: i64,
    /// Seconds east of Greenwich, if the template asks for them.
    pub offset: Option<i32>,
    /// Digits of the fraction that `FF1` to `FF6` asked for.
    pub precision: Option<u8>,
}

/// Which calendar the words of a template belong to.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Calendar {
    Gregorian,
    IsoWeek,
}

/// The numbers that have been read; 0 is one that has not.
#[derive(Default)]
struct Numbers {
    calendar: Option<Calendar>,
    hour: i64,
    /// Hours count to 12.
    twelve: bool,
    afternoon: i64,
    minute: i64,
    second: i64,
    seconds_of_day: i64,
    millis: i64,
    micros: i64,
    precision: Option<u8>,
    weekday: i64,
    day: i64,
    day_of_year: i64,
    month: i64,
    year: i64,
    /// Digits of the word that the year was read by.
    year_digits: usize,
    before_christ: i64,
    week: i64,
    week_of_month: i64,
    century: i64,
    julian: i64,
    zone_sign: i64,
    zone_hours: i64,
    zone_minutes: i64,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Characters of the text that were passed beyond what the template says.
    extra: i64,
    /// `FX`
    exact: bool,
    numbers: Numbers,
}

fn invalid(message: String) -> Error {
    Error::new(Condition::InvalidDatetimeFormat, message)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

fn is_separator(c: char) -> bool {
    c.is_ascii_punctuation()
}

/// Reads a text by a template (`to_date`, `to_timestamp`).
pub fn parse(text: &str, template: &str) -> Result<Parts> {
    let pieces = pieces(template);
    let mut reader = Reader { text, at: 0, extra: 0, exact: false, numbers: Numbers::default() };
    for (at, piece) in pieces.iter().enumerate() {
        work::step(1)?;
        if reader.rest().is_empty() {
            break;
        }
        if !reader.exact && (matches!(piece, Piece::Word { .. }) || at == 0 && !matches!(piece, Piece::Exact)) {
            reader.skip_blanks();
        }
        match *piece {
            Piece::Exact => reader.exact = true,
            Piece::Literal(literal) | Piece::Quoted(literal) => {
                let quoted = matches!(piece, Piece::Quoted(_));
                reader.literal(literal.chars().all(|c| !quoted && (is_blank(c) || is_separator(c))));
            }
            Piece::Word { word, written, fill, ordinal } => {
                let field =
                    Field { name: written, whole: !fill || ordinal.is_some() || ends_number(pieces.get(at + 1)) };
                reader.word(word, &field)?;
                if ordinal.is_some() {
                    reader.pass();
                    reader.pass();
                }
                if !reader.exact {
                    reader.extra = 0;
                    reader.skip_blanks();
                }
            }
        }
    }
    reader.numbers.result(text)
}

/// A text read by a template of SQL/JSON, and what the template says of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Standard {
    /// The fields.
    pub parts: Parts,
    /// The template has fields of a date.
    pub dated: bool,
    /// It has fields of a time of day.
    pub timed: bool,
    /// It has fields of a zone.
    pub zoned: bool,
}

/// Reads a text by a template as the SQL standard has it: separators match themselves, and all of the text belongs to the
/// template.
///
/// # Errors
/// `22007` and `22008` in PostgreSQL's words.
pub fn parse_standard(text: &str, template: &str) -> Result<Standard> {
    let pieces = pieces(template);
    for piece in &pieces {
        if let Piece::Literal(literal) = piece
            && !literal.starts_with(['-', '.', '/', ',', '\'', ':', ';', ' '])
        {
            return Err(invalid(format!("invalid datetime format separator: \"{literal}\"")));
        }
    }
    let mut reader = Reader { text, at: 0, extra: 0, exact: true, numbers: Numbers::default() };
    let mut rest = pieces.iter().enumerate();
    while !reader.rest().is_empty() {
        work::step(1)?;
        let Some((at, piece)) = rest.next() else { break };
        match *piece {
            Piece::Exact => {}
            Piece::Literal(literal) => {
                if !reader.rest().starts_with(literal) {
                    return Err(invalid(format!("unmatched format separator \"{literal}\"")));
                }
                reader.pass();
            }
            Piece::Quoted(literal) => {
                if !reader.rest().starts_with(literal) {
                    return Err(invalid(format!("unmatched format character \"{literal}\"")));
                }
                reader.pass();
            }
            Piece::Word { word, written, fill, ordinal } => {
                let whole = !fill || ordinal.is_some() || ends_number(pieces.get(at + 1));
                reader.word(word, &Field { name: written, whole })?;
                if ordinal.is_some() {
                    reader.pass();
                    reader.pass();
                }
            }
        }
    }
    if rest.next().is_some() {
        return Err(invalid("input string is too short for datetime format".to_owned()));
    }
    reader.skip_blanks();
    if !reader.rest().is_empty() {
        return Err(invalid("trailing characters remain in input string after datetime format".to_owned()));
    }
    let has = |of: fn(Word) -> bool| pieces.iter().any(|piece| matches!(piece, Piece::Word { word, .. } if of(*word)));
    let (timed, zoned) = (has(is_of_time), has(is_of_zone));
    let dated = has(|word| !is_of_time(word) && !is_of_zone(word));
    Ok(Standard { parts: reader.numbers.result(text)?, dated, timed, zoned })
}

fn is_of_time(word: Word) -> bool {
    matches!(
        word,
        Word::Hour12
            | Word::Hour24
            | Word::Minute
            | Word::Second
            | Word::Fraction(_)
            | Word::SecondsOfDay
            | Word::Meridiem { .. }
    )
}

fn is_of_zone(word: Word) -> bool {
    matches!(word, Word::Zone | Word::ZoneHours | Word::ZoneMinutes | Word::Offset)
}

/// No digit of another field can follow.
fn ends_number(next: Option<&Piece<'_>>) -> bool {
    match next {
        Some(Piece::Word { word, .. }) => !is_number(*word),
        Some(Piece::Literal(text) | Piece::Quoted(text)) => !text.starts_with(|c: char| c.is_ascii_digit()),
        Some(Piece::Exact) | None => true,
    }
}

fn is_number(word: Word) -> bool {
    !matches!(
        word,
        Word::Meridiem { .. }
            | Word::Era { .. }
            | Word::MonthName
            | Word::MonthShort
            | Word::DayName
            | Word::DayShort
            | Word::Roman
            | Word::Zone
            | Word::ZoneHours
            | Word::Offset
    )
}

fn calendar(word: Word) -> Option<Calendar> {
    match word {
        Word::YearWithComma
        | Word::Year(_)
        | Word::MonthName
        | Word::MonthShort
        | Word::Month
        | Word::DayOfYear
        | Word::Day
        | Word::DayOfWeek
        | Word::WeekOfMonth
        | Word::WeekOfYear
        | Word::Roman => Some(Calendar::Gregorian),
        Word::IsoYear(_) | Word::IsoDayOfYear | Word::IsoDayOfWeek | Word::IsoWeek => Some(Calendar::IsoWeek),
        _ => None,
    }
}

/// A word of the template where it stands.
struct Field<'a> {
    /// As it is written.
    name: &'a str,
    /// A number takes all digits that are there.
    whole: bool,
}

impl Field<'_> {
    fn set(&self, number: &mut i64, value: i64) -> Result<()> {
        if *number != 0 && *number != value {
            return Err(invalid(format!("conflicting values for \"{}\" field in formatting string", self.name))
                .detail("This value contradicts a previous setting for the same field type."));
        }
        *number = value;
        Ok(())
    }
}

/// The year nearest to 2020 with these last digits.
fn near_2020(year: i64) -> i64 {
    year + match year {
        ..70 => 2_000,
        70..100 => 1_900,
        100..520 => 2_000,
        520..1_000 => 1_000,
        _ => 0,
    }
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Passes one character.
    fn pass(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
        self.at += blanks;
        self.extra += blanks as i64;
    }

    fn literal(&mut self, separates: bool) {
        if self.exact {
            self.pass();
        } else if separates {
            self.extra -= 1;
            if self.rest().starts_with(|c| is_blank(c) || is_separator(c)) {
                self.pass();
                self.extra += 1;
            }
        } else if self.extra > 0 {
            self.extra -= 1;
        } else {
            self.pass();
        }
    }

    /// Reads a number of so many characters, and says how many it took.
    fn number(&mut self, field: &Field<'_>, length: usize) -> Result<(i64, usize)> {
        self.at += self.rest().len() - self.rest().trim_start_matches(is_blank).len();
        let rest = self.rest();
        let wide = "If your source string is not fixed-width, try using the \"FM\" modifier.";
        let end = rest.char_indices().take_while(|(at, _)| *at < length).last();
        let copy = &rest[..end.map_or(0, |(at, c)| at + c.len_utf8())];
        let source = if field.whole { rest } else { copy };
        if !field.whole && copy.len() < length {
            let message = format!("source string too short for \"{}\" formatting field", field.name);
            return Err(invalid(message)
                .detail(format!("Field requires {length} characters, but only {} remain.", copy.len()))
                .hint(wide));
        }
        let blanks = source.len() - source.trim_start_matches(is_blank).len();
        let sign = usize::from(source[blanks..].starts_with(['-', '+']));
        let digits = source[blanks + sign..].bytes().take_while(u8::is_ascii_digit).count();
        let used = if digits == 0 { 0 } else { blanks + sign + digits };
        let error = || invalid(format!("invalid value \"{copy}\" for \"{}\"", field.name));
        if used == 0 {
            return Err(error().detail("Value must be an integer."));
        }
        if !field.whole && used < length {
            return Err(error()
                .detail(format!("Field requires {length} characters, but only {used} could be parsed."))
                .hint(wide));
        }
        let value = source[blanks..used].parse::<i64>().ok().filter(|value| i32::try_from(*value).is_ok());
        let value = value.ok_or_else(|| {
            let message = format!("value for \"{}\" in source string is out of range", field.name);
            Error::new(Condition::DatetimeFieldOverflow, message).detail(format!(
                "Value must be in the range {} to {}.",
                i32::MIN,
                i32::MAX
            ))
        })?;
        self.at += used;
        Ok((value, used))
    }

    fn set(&mut self, field: &Field<'_>, length: usize, pick: fn(&mut Numbers) -> &mut i64) -> Result<usize> {
        let (value, used) = self.number(field, length)?;
        field.set(pick(&mut self.numbers), value)?;
        Ok(used)
    }

    /// The place of the name that stands here among `names`.
    fn name(&mut self, field: &Field<'_>, names: impl IntoIterator<Item = &'a str>) -> Result<usize> {
        let rest = self.rest();
        let starts = |name: &str| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        match names.into_iter().enumerate().find(|(_, name)| starts(name)) {
            Some((at, name)) => {
                self.at += name.len();
                Ok(at)
            }
            None => {
                let shown = rest.split(is_blank).next().unwrap_or(rest);
                Err(invalid(format!("invalid value \"{shown}\" for \"{}\"", field.name))
                    .detail("The given value did not match any of the allowed values for this field."))
            }
        }
    }

    fn word(&mut self, word: Word, field: &Field<'_>) -> Result<()> {
        if let Some(calendar) = calendar(word)
            && *self.numbers.calendar.get_or_insert(calendar) != calendar
        {
            return Err(invalid("invalid combination of date conventions".to_owned())
                .hint("Do not mix Gregorian and ISO week date conventions in a formatting template."));
        }
        let length = field.name.len();
        match word {
            Word::Meridiem { dots } => {
                let names = if dots { ["a.m.", "p.m."] } else { ["am", "pm"] };
                let at = self.name(field, names)?;
                field.set(&mut self.numbers.afternoon, at as i64)?;
                self.numbers.twelve = true;
            }
            Word::Era { dots } => {
                let names = if dots { ["a.d.", "b.c."] } else { ["ad", "bc"] };
                let at = self.name(field, names)?;
                field.set(&mut self.numbers.before_christ, at as i64)?;
            }
            Word::Hour12 => {
                self.set(field, 2, |numbers| &mut numbers.hour)?;
                self.numbers.twelve = true;
            }
            Word::Hour24 => drop(self.set(field, 2, |numbers| &mut numbers.hour)?),
            Word::Minute => drop(self.set(field, 2, |numbers| &mut numbers.minute)?),
            Word::Second => drop(self.set(field, 2, |numbers| &mut numbers.second)?),
            Word::Fraction(digits) => self.fraction(field, digits)?,
            Word::SecondsOfDay => drop(self.set(field, length, |numbers| &mut numbers.seconds_of_day)?),
            Word::Zone | Word::Offset => {
                let message = format!("formatting field \"{}\" is only supported in to_char", field.name);
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            Word::ZoneHours => self.zone_hours(field)?,
            Word::ZoneMinutes => {
                if self.numbers.zone_sign == 0 {
                    self.numbers.zone_sign = 1;
                }
                self.set(field, 2, |numbers| &mut numbers.zone_minutes)?;
            }
            Word::YearWithComma | Word::Year(_) | Word::IsoYear(_) => self.year(word, field)?,
            Word::MonthName | Word::MonthShort => {
                let short = word == Word::MonthShort;
                let names = MONTHS.iter().map(|name| if short { &name[..3] } else { name });
                let at = self.name(field, names)?;
                field.set(&mut self.numbers.month, at as i64 + 1)?;
            }
            Word::Roman => {
                let at = self.name(field, ROMAN.into_iter().rev())?;
                field.set(&mut self.numbers.month, 12 - at as i64)?;
            }
            Word::Month => drop(self.set(field, 2, |numbers| &mut numbers.month)?),
            Word::DayName | Word::DayShort => {
                let short = word == Word::DayShort;
                let names = DAYS.iter().map(|name| if short { &name[..3] } else { name });
                let at = self.name(field, names)?;
                field.set(&mut self.numbers.weekday, at as i64)?;
                self.numbers.weekday += 1;
            }
            Word::DayOfYear | Word::IsoDayOfYear => drop(self.set(field, 3, |numbers| &mut numbers.day_of_year)?),
            Word::Day => drop(self.set(field, 2, |numbers| &mut numbers.day)?),
            Word::DayOfWeek => drop(self.set(field, 1, |numbers| &mut numbers.weekday)?),
            Word::IsoDayOfWeek => {
                self.set(field, 1, |numbers| &mut numbers.weekday)?;
                // Sunday is the first day of a week elsewhere.
                let day = self.numbers.weekday + 1;
                self.numbers.weekday = if day > 7 { 1 } else { day };
            }
            Word::WeekOfMonth => drop(self.set(field, 1, |numbers| &mut numbers.week_of_month)?),
            Word::WeekOfYear | Word::IsoWeek => drop(self.set(field, 2, |numbers| &mut numbers.week)?),
            Word::Century => drop(self.set(field, 2, |numbers| &mut numbers.century)?),
            Word::Julian => drop(self.set(field, 1, |numbers| &mut numbers.julian)?),
            // Which day of a quarter is meant, nobody says.
            Word::Quarter => drop(self.number(field, 1)?),
        }
        Ok(())
    }

    fn fraction(&mut self, field: &Field<'_>, digits: u8) -> Result<()> {
        let millis = field.name.eq_ignore_ascii_case("MS");
        let padded = |used: usize, width: usize| 10_i64.pow(width.saturating_sub(used) as u32);
        if millis {
            let used = self.set(field, 3, |numbers| &mut numbers.millis)?;
            self.numbers.millis *= padded(used, 3);
            return Ok(());
        }
        if !field.name.eq_ignore_ascii_case("US") {
            self.numbers.precision = Some(digits);
        }
        let used = self.set(field, usize::from(digits), |numbers| &mut numbers.micros)?;
        self.numbers.micros *= padded(used, 6);
        Ok(())
    }

    /// A minus sign before the hours may have been passed as a separator.
    fn zone_hours(&mut self, field: &Field<'_>) -> Result<()> {
        let sign = match self.rest().bytes().next() {
            Some(sign @ (b'+' | b'-' | b' ')) => {
                self.at += 1;
                sign
            }
            _ if self.extra > 0 && self.text[..self.at].ends_with('-') => b'-',
            _ => b'+',
        };
        self.numbers.zone_sign = if sign == b'-' { -1 } else { 1 };
        self.set(field, 2, |numbers| &mut numbers.zone_hours)?;
        Ok(())
    }

    fn year(&mut self, word: Word, field: &Field<'_>) -> Result<()> {
        match word {
            Word::YearWithComma => {
                let wrong = || invalid("invalid input string for \"Y,YYY\"".to_owned());
                let (thousands, behind) = self.rest().split_once(',').ok_or_else(wrong)?;
                let thousands: i32 = thousands.trim_start_matches(is_blank).parse().map_err(|_| wrong())?;
                let run = behind.bytes().take_while(u8::is_ascii_digit).count().min(3);
                let years: i64 = behind[..run].parse().map_err(|_| wrong())?;
                self.at = self.text.len() - behind.len() + run;
                field.set(&mut self.numbers.year, years + i64::from(thousands) * 1_000)?;
                self.numbers.year_digits = 4;
            }
            Word::Year(digits) | Word::IsoYear(digits) => {
                let used = self.set(field, field.name.len(), |numbers| &mut numbers.year)?;
                if digits < 4 && used < 4 {
                    self.numbers.year = near_2020(self.numbers.year);
                }
                self.numbers.year_digits = usize::from(digits);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The Monday of the first week of a year of weeks.
fn first_monday(year: i64) -> i64 {
    let fourth = days_from_civil(year, 1, 4);
    fourth - (fourth + 3).rem_euclid(7)
}

impl Numbers {
    /// The year as the calendar counts it, with 0 for 1 BC; 0 when none was given, too.
    fn calendar_year(&self) -> i64 {
        let before_christ = self.before_christ != 0;
        let century = if before_christ { -self.century } else { self.century };
        if self.year != 0 && self.century != 0 && self.year_digits <= 2 {
            return match self.year % 100 {
                0 => century * 100 + i64::from(century < 0),
                year if century >= 0 => year + (century - 1) * 100,
                year => (century + 1) * 100 - year + 1,
            };
        }
        if self.year != 0 {
            let year = if before_christ { -self.year } else { self.year };
            return year + i64::from(year < 0);
        }
        match century {
            0 => 0,
            1.. => (century - 1) * 100 + 1,
            _ => century * 100 + 1,
        }
    }

    fn time(&self, overflow: impl Fn() -> Error) -> Result<i64> {
        let or = |number: i64, otherwise: i64| if number != 0 { number } else { otherwise };
        let mut hour = or(self.hour, self.seconds_of_day / 3_600);
        let minute = or(self.minute, self.seconds_of_day / 60 % 60);
        let second = or(self.second, self.seconds_of_day % 60);
        if self.twelve {
            if !(1..=12).contains(&hour) {
                return Err(invalid(format!("hour \"{hour}\" is invalid for the 12-hour clock"))
                    .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
            }
            hour = hour % 12 + if self.afternoon != 0 { 12 } else { 0 };
        }
        let fraction = self.millis * 1_000 + self.micros;
        let fits = (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second)
            && (0..SECOND).contains(&fraction);
        if !fits {
            return Err(overflow());
        }
        Ok(hour * HOUR + minute * MINUTE + second * SECOND + fraction)
    }

    fn days(&self, overflow: impl Fn() -> Error) -> Result<i64> {
        let year = self.calendar_year();
        let iso = self.calendar == Some(Calendar::IsoWeek);
        if iso && self.week != 0 {
            // Days of the week count from Sunday, which ends the week here.
            let day = if self.weekday > 1 {
                self.weekday - 2
            } else if self.weekday == 1 {
                6
            } else {
                0
            };
            return Ok(first_monday(year) + (self.week - 1) * 7 + day);
        }
        let mut day_of_year = self.day_of_year;
        if self.week != 0 {
            day_of_year = (self.week - 1) * 7 + 1;
        }
        let day = if self.week_of_month != 0 { (self.week_of_month - 1) * 7 + 1 } else { self.day };
        if self.julian != 0 && self.month == 0 && day == 0 && day_of_year == 0 {
            return Ok(self.julian - 2_440_588);
        }
        let (mut month, mut day) = (if self.month != 0 { self.month } else { 1 }, if day != 0 { day } else { 1 });
        if day_of_year != 0 && (month <= 1 || day <= 1) {
            if year == 0 && self.before_christ == 0 {
                return Err(invalid("cannot calculate day of year without year information".to_owned()));
            }
            if iso {
                return Ok(first_monday(year) + day_of_year - 1);
            }
            let length = days_from_civil(year + 1, 1, 1) - days_from_civil(year, 1, 1);
            if day_of_year > length || day_of_year < 1 {
                return Err(overflow());
            }
            let (_, found_month, found_day) =
                rowferry_wire::civil::civil_from_days(days_from_civil(year, 1, 1) + day_of_year - 1);
            if month <= 1 {
                month = i64::from(found_month);
            }
            if day <= 1 {
                day = i64::from(found_day);
            }
        }
        if !valid_date(year, month, day) {
            return Err(overflow());
        }
        Ok(days_from_civil(year, month, day))
    }

    fn result(&self, text: &str) -> Result<Parts> {
        let overflow = || field_overflow(text);
        let micros = self.time(overflow);
        let days = match &micros {
            // The clock's own rule is looked at first, the ranges of its numbers last.
            Err(error) if error.condition() == Condition::InvalidDatetimeFormat => return Err(error.clone()),
            _ => self.days(overflow)?,
        };
        let micros = micros?;
        let offset = match self.zone_sign {
            0 => None,
            _ if !(0..=15).contains(&self.zone_hours) || !(0..60).contains(&self.zone_minutes) => {
                let message = format!("time zone displacement out of range: \"{text}\"");
                return Err(Error::new(Condition::InvalidTimeZoneDisplacement, message));
            }
            sign => Some((sign * (self.zone_hours * 60 + self.zone_minutes) * 60) as i32),
        };
        Ok(Parts { days, micros, offset, precision: self.precision })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::date;

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
