//! DATE_FORMAT, TIME_FORMAT and STR_TO_DATE.

use std::fmt::Write as _;

use rowferry_wire::civil::days_from_civil;

use super::super::datetime_text::{HOUR, MINUTE, SECOND};
use super::moments::{DAYS_TO_1970, Moment, fraction, year_of_two};

pub use crate::values::datetime_read::MONTHS;

/// The names of the days, from Monday on.
pub const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A moment in a format; `None` where the format asks for a day that there is not. With `hours` the moment is a time, of
/// so many hours, perhaps negative.
pub fn moment_text(moment: &Moment, format: &str, is_time: bool) -> Option<String> {
    let mut out = String::new();
    let all = moment.micros.abs();
    let (hour, minute, second) = (all / HOUR, all / MINUTE % 60, all / SECOND % 60);
    let of_twelve = (hour % 24 + 11) % 12 + 1;
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    let month =
        |names: usize| MONTHS.get(usize::try_from(moment.month - 1).ok()?).map(|name| &name[..names.min(name.len())]);
    let day_name = |letters: usize| {
        let day = usize::try_from(moment.weekday()?).ok()?;
        Some(&DAYS[day][..letters.min(DAYS[day].len())])
    };
    let mut letters = format.chars();
    if moment.micros < 0 {
        out.push('-');
    }
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let Some(letter) = letters.next() else {
            out.push('%');
            break;
        };
        if is_time && "MabDjUuVvXxWw".contains(letter) {
            return None;
        }
        let written = match letter {
            'a' => write!(out, "{}", day_name(3)?),
            'b' => write!(out, "{}", month(3)?),
            'c' => write!(out, "{}", moment.month),
            'D' => write!(out, "{}{}", moment.day, ordinal(moment.day)),
            'd' => write!(out, "{:02}", moment.day),
            'e' => write!(out, "{}", moment.day),
            'f' => write!(out, "{:06}", all % SECOND),
            'H' => write!(out, "{hour:02}"),
            'h' | 'I' => write!(out, "{of_twelve:02}"),
            'i' => write!(out, "{minute:02}"),
            'j' => write!(out, "{:03}", moment.day_of_year()?),
            'k' => write!(out, "{hour}"),
            'l' => write!(out, "{of_twelve}"),
            'M' => write!(out, "{}", month(20)?),
            'm' => write!(out, "{:02}", moment.month),
            'p' => write!(out, "{half}"),
            'r' => write!(out, "{of_twelve:02}:{minute:02}:{second:02} {half}"),
            'S' | 's' => write!(out, "{second:02}"),
            'T' => write!(out, "{hour:02}:{minute:02}:{second:02}"),
            'U' => write!(out, "{:02}", moment.week(0, false)?.0),
            'u' => write!(out, "{:02}", moment.week(1, false)?.0),
            'V' => write!(out, "{:02}", moment.week(2, true)?.0),
            'v' => write!(out, "{:02}", moment.week(3, true)?.0),
            'W' => write!(out, "{}", day_name(20)?),
            'w' => write!(out, "{}", (moment.weekday()? + 1) % 7),
            'X' => write!(out, "{:04}", moment.week(2, true)?.1),
            'x' => write!(out, "{:04}", moment.week(3, true)?.1),
            'Y' => write!(out, "{:04}", moment.year),
            'y' => write!(out, "{:02}", moment.year % 100),
            other => {
                out.push(other);
                Ok(())
            }
        };
        written.ok()?;
    }
    Some(out)
}

fn ordinal(day: i64) -> &'static str {
    match (day / 10, day % 10) {
        (1, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

/// What a format has, by its letters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    /// Date alone.
    Date,
    /// Date and time.
    Both,
    /// Time alone.
    Time,
}

/// What comes of a text in a format.
pub fn shape(format: &str) -> Shape {
    let mut letters = format.chars();
    let (mut date, mut time) = (false, false);
    while let Some(letter) = letters.next() {
        if letter == '%' {
            match letters.next() {
                Some('f' | 'H' | 'h' | 'I' | 'i' | 'k' | 'l' | 'p' | 'r' | 'S' | 's' | 'T') => time = true,
                Some('%') | None => {}
                Some(_) => date = true,
            }
        }
    }
    match (date, time) {
        (_, false) => Shape::Date,
        (true, true) => Shape::Both,
        (false, true) => Shape::Time,
    }
}

/// The text at a place, in a hand that reads on.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn digits(&mut self, most: usize) -> Option<&'a str> {
        let count = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        (count > 0).then_some(digits)
    }

    fn number(&mut self, most: usize) -> Option<i64> {
        self.digits(most)?.parse().ok()
    }

    /// One of some names, or of their first letters; its place.
    fn name(&mut self, names: &[&str], letters: Option<usize>) -> Option<i64> {
        for (at, name) in names.iter().enumerate() {
            let name = &name[..letters.unwrap_or(name.len()).min(name.len())];
            if self.rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
                self.rest = &self.rest[name.len()..];
                return i64::try_from(at).ok();
            }
        }
        None
    }
}

/// Reads a text by a format; `None` where it does not follow it.
pub fn moment_of_text(text: &str, format: &str) -> Option<Moment> {
    let mut reader = Reader { rest: text };
    let (mut year, mut month, mut day) = (0, 0, 0);
    let (mut hour, mut minute, mut second, mut micros) = (0, 0, 0, 0);
    let (mut afternoon, mut of_twelve) = (None, false);
    let (mut day_of_year, mut weekday, mut week, mut week_year) = (None, None, None, None);
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if reader.rest.is_empty() {
            break;
        }
        if letter.is_whitespace() {
            reader.blanks();
            continue;
        }
        if letter != '%' {
            reader.blanks();
            reader.rest = reader.rest.strip_prefix(letter)?;
            continue;
        }
        let specifier = letters.next()?;
        reader.blanks();
        match specifier {
            'Y' => {
                let digits = reader.digits(4)?;
                year = digits.parse().ok()?;
                if digits.len() <= 2 {
                    year = year_of_two(year);
                }
            }
            'y' => year = year_of_two(reader.number(2)?),
            'm' | 'c' => month = reader.number(2)?,
            'M' => month = reader.name(&MONTHS, None)? + 1,
            'b' => month = reader.name(&MONTHS, Some(3))? + 1,
            'd' | 'e' => day = reader.number(2)?,
            'D' => {
                day = reader.number(2)?;
                reader.rest = reader.rest.get(2..)?;
            }
            'h' | 'I' | 'l' => {
                hour = reader.number(2)?;
                of_twelve = true;
            }
            'k' | 'H' => hour = reader.number(2)?,
            'i' => minute = reader.number(2)?,
            'S' | 's' => second = reader.number(2)?,
            'f' => micros = fraction(reader.digits(6)?),
            'p' => {
                let half = reader.rest.get(..2)?;
                afternoon = Some(if half.eq_ignore_ascii_case("PM") {
                    true
                } else if half.eq_ignore_ascii_case("AM") {
                    false
                } else {
                    return None;
                });
                reader.rest = &reader.rest[2..];
            }
            'W' => weekday = Some(reader.name(&DAYS, None)? + 1),
            'a' => weekday = Some(reader.name(&DAYS, Some(3))? + 1),
            'w' => {
                let number = reader.number(1)?;
                if number > 6 {
                    return None;
                }
                weekday = Some(if number == 0 { 7 } else { number });
            }
            'j' => day_of_year = Some(reader.number(3)?),
            'V' | 'U' | 'v' | 'u' => {
                let number = reader.number(2)?;
                if number > 53 || number == 0 && specifier.is_ascii_uppercase() && specifier == 'V' {
                    return None;
                }
                week = Some((number, matches!(specifier, 'V' | 'U'), matches!(specifier, 'V' | 'v')));
            }
            'X' | 'x' => week_year = Some((reader.number(4)?, specifier == 'X')),
            'r' | 'T' => {
                hour = reader.number(2)?;
                reader.rest = reader.rest.strip_prefix(':')?;
                minute = reader.number(2)?;
                reader.rest = reader.rest.strip_prefix(':')?;
                second = reader.number(2)?;
                if specifier == 'r' {
                    of_twelve = true;
                    reader.blanks();
                    afternoon = Some(reader.rest.get(..2)?.eq_ignore_ascii_case("PM"));
                    reader.rest = &reader.rest[2..];
                }
            }
            '.' => reader.rest = reader.rest.trim_start_matches(|letter: char| letter.is_ascii_punctuation()),
            '@' => reader.rest = reader.rest.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()),
            '#' => reader.rest = reader.rest.trim_start_matches(|letter: char| letter.is_ascii_digit()),
            other => reader.rest = reader.rest.strip_prefix(other)?,
        }
    }
    if of_twelve {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if afternoon == Some(true) { 12 } else { 0 };
    } else if afternoon.is_some() {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 || month > 12 || day > 31 {
        return None;
    }
    let of_day = hour * HOUR + minute * MINUTE + second * SECOND + micros;
    if let Some(number) = day_of_year {
        let first = days_from_civil(year, 1, 1);
        let found = Moment::of_days(first + number - 1, of_day, true)?;
        return (number > 0).then_some(found);
    }
    if let (Some((week, sunday_first, strict)), Some(weekday)) = (week, weekday) {
        // A week that belongs to a year has the year written as that of the week.
        let year = match (strict, week_year) {
            (true, Some((year, sunday))) if sunday == sunday_first => year,
            (false, None) => year,
            _ => return None,
        };
        let first = days_from_civil(year, 1, 1) + DAYS_TO_1970;
        let start = (first + 5 + i64::from(sunday_first)).rem_euclid(7);
        let days = if sunday_first {
            first + if start == 0 { 0 } else { 7 } - start + (week - 1) * 7 + weekday % 7
        } else {
            first + if start <= 3 { 0 } else { 7 } - start + (week - 1) * 7 + weekday - 1
        };
        return Moment::of_days(days - DAYS_TO_1970, of_day, true);
    }
    if month > 0 && day > i64::from(rowferry_wire::civil::days_in_month(year, u8::try_from(month).unwrap_or(1))) {
        return None;
    }
    Some(Moment { year, month, day, micros: of_day, timed: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_written_and_read() {
        let moment = moment_of_text("2009-10-04 22:23:00", "%Y-%m-%d %H:%i:%s").unwrap();
        assert_eq!(moment_text(&moment, "%W %M %Y", false).unwrap(), "Sunday October 2009");
        assert_eq!(moment_text(&moment, "%D %y %a %d %m %b %j", false).unwrap(), "4th 09 Sun 04 10 Oct 277");
        assert_eq!(moment_text(&moment, "%H %k %I %r %T %S %w", false).unwrap(), "22 22 10 10:23:00 PM 22:23:00 00 0");
        let first = moment_of_text("1999-01-01", "%Y-%m-%d").unwrap();
        assert_eq!(moment_text(&first, "%X %V", false).unwrap(), "1998 52");
        let read = |text: &str, format: &str| moment_of_text(text, format).map(|moment| moment.datetime_text());
        assert_eq!(read("01,5,2013", "%d,%m,%Y").as_deref(), Some("2013-05-01 00:00:00"));
        assert_eq!(read("May 1, 2013", "%M %d,%Y").as_deref(), Some("2013-05-01 00:00:00"));
        assert_eq!(read("200442 Monday", "%X%V %W").as_deref(), Some("2004-10-18 00:00:00"));
        assert_eq!(read("9:30:17 PM", "%h:%i:%s %p").as_deref(), Some("0000-00-00 21:30:17"));
        assert_eq!(read("abc", "%Y"), None);
        assert_eq!(read("2013-02-30", "%Y-%m-%d"), None);
    }
}
