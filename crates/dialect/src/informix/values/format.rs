//! TO_CHAR and TO_DATE: moments and numbers by a format.

use super::{Decimal, Moment, date_to_days};
use crate::{Condition, Error, Result};

const MONTHS: [&str; 12] = [
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
/// From Sunday, as WEEKDAY counts.
pub(super) const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The day of the week, from 0 for Sunday.
pub(super) fn weekday(moment: &Moment) -> usize {
    // 1899-12-31, day 0, was a Sunday.
    date_to_days(moment.year, moment.month, moment.day).rem_euclid(7) as usize
}

fn unknown(character: char) -> Error {
    Error::new(Condition::InvalidFormatCharacter, format!("format conversion character %{character} is not supported"))
}

/// A moment in the words of a format of GL_DATETIME's kind (`%Y-%m-%d`).
///
/// # Errors
/// -1276 for a directive that there is none of.
pub fn moment_to_text(moment: &Moment, format: &str) -> Result<String> {
    let mut text = String::new();
    let mut characters = format.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        let hour12 = match moment.hour % 12 {
            0 => 12,
            hour => hour,
        };
        let half = if moment.hour < 12 { "AM" } else { "PM" };
        let Some(directive) = characters.next() else { return Err(unknown(' ')) };
        match directive {
            'a' => text.push_str(&DAYS[weekday(moment)][..3]),
            'A' => text.push_str(DAYS[weekday(moment)]),
            'b' | 'h' => text.push_str(&MONTHS[usize::from(moment.month) - 1][..3]),
            'B' => text.push_str(MONTHS[usize::from(moment.month) - 1]),
            'C' => text.push_str(&format!("{:02}", moment.year / 100)),
            'd' => text.push_str(&format!("{:02}", moment.day)),
            'D' | 'x' => text.push_str(&format!("{:02}/{:02}/{:02}", moment.month, moment.day, moment.year % 100)),
            'e' => text.push_str(&format!("{:2}", moment.day)),
            'F' => {
                let digits = match characters.peek().and_then(|next| next.to_digit(10)) {
                    Some(digits @ 1..=5) => {
                        characters.next();
                        digits as usize
                    }
                    _ => 3,
                };
                text.push_str(&format!("{:05}", moment.fraction)[..digits]);
            }
            'H' => text.push_str(&format!("{:02}", moment.hour)),
            'I' => text.push_str(&format!("{hour12:02}")),
            'j' => {
                let first = date_to_days(moment.year, 1, 1);
                let day = date_to_days(moment.year, moment.month, moment.day) - first + 1;
                text.push_str(&format!("{day:03}"));
            }
            'm' => text.push_str(&format!("{:02}", moment.month)),
            'M' => text.push_str(&format!("{:02}", moment.minute)),
            'n' => text.push('\n'),
            'p' => text.push_str(half),
            'r' => text.push_str(&format!("{hour12:02}:{:02}:{:02} {half}", moment.minute, moment.second)),
            'R' => text.push_str(&format!("{:02}:{:02}", moment.hour, moment.minute)),
            'S' => text.push_str(&format!("{:02}", moment.second)),
            't' => text.push('\t'),
            'T' | 'X' => text.push_str(&format!("{:02}:{:02}:{:02}", moment.hour, moment.minute, moment.second)),
            'w' => text.push_str(&weekday(moment).to_string()),
            'y' => text.push_str(&format!("{:02}", moment.year % 100)),
            'Y' => text.push_str(&format!("{:04}", moment.year)),
            '%' => text.push('%'),
            other => return Err(unknown(other)),
        }
    }
    Ok(text)
}

/// A moment from text by a format; fields that the format does not name are `base`'s.
///
/// # Errors
/// -1276 for an unknown directive, -1277 for text that does not follow the format, -1204 to -1206 and -1263 for fields
/// that are out of range.
pub fn moment_from_text(text: &str, format: &str, base: Moment) -> Result<Moment> {
    let mismatch =
        || Error::new(Condition::InputFormatMismatch, format!("\"{text}\" does not follow the format \"{format}\""));
    let mut moment = base;
    let mut rest = text.trim();
    let mut afternoon = None;
    let mut characters = format.trim().chars().peekable();
    while let Some(character) = characters.next() {
        if character.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        if character != '%' {
            rest = rest.strip_prefix(character).ok_or_else(mismatch)?;
            continue;
        }
        let Some(directive) = characters.next() else { return Err(unknown(' ')) };
        let mut number = |most: usize| -> Result<i64> {
            let blanks = rest.trim_start();
            let digits = blanks.bytes().take_while(u8::is_ascii_digit).count().min(most);
            let number = blanks[..digits].parse().map_err(|_| mismatch())?;
            rest = &blanks[digits..];
            Ok(number)
        };
        match directive {
            'Y' => moment.year = number(4)? as i32,
            'y' => moment.year = 2000 + number(2)? as i32,
            'm' => moment.month = checked(number(2)?, 1..=12, Condition::InvalidMonth)?,
            'd' | 'e' => moment.day = checked(number(2)?, 1..=31, Condition::InvalidDay)?,
            'H' => moment.hour = checked(number(2)?, 0..=23, Condition::DatetimeFieldOverflow)?,
            'I' => moment.hour = checked(number(2)?, 1..=12, Condition::DatetimeFieldOverflow)? % 12,
            'M' => moment.minute = checked(number(2)?, 0..=59, Condition::DatetimeFieldOverflow)?,
            'S' => moment.second = checked(number(2)?, 0..=59, Condition::DatetimeFieldOverflow)?,
            'R' | 'T' => {
                moment.hour = checked(number(2)?, 0..=23, Condition::DatetimeFieldOverflow)?;
                rest = rest.strip_prefix(':').ok_or_else(mismatch)?;
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count().min(2);
                let minute = rest[..digits].parse().map_err(|_| mismatch())?;
                moment.minute = checked(minute, 0..=59, Condition::DatetimeFieldOverflow)?;
                rest = &rest[digits..];
                if directive == 'T' {
                    rest = rest.strip_prefix(':').ok_or_else(mismatch)?;
                    let digits = rest.bytes().take_while(u8::is_ascii_digit).count().min(2);
                    let second = rest[..digits].parse().map_err(|_| mismatch())?;
                    moment.second = checked(second, 0..=59, Condition::DatetimeFieldOverflow)?;
                    rest = &rest[digits..];
                }
            }
            'D' => {
                return Err(unknown('D'));
            }
            'F' => {
                if characters.peek().is_some_and(char::is_ascii_digit) {
                    characters.next();
                }
                rest = rest.strip_prefix('.').unwrap_or(rest);
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let five = format!("{:0<5}", &rest[..digits.min(5)]);
                moment.fraction = five.parse().map_err(|_| mismatch())?;
                rest = &rest[digits..];
            }
            'p' => {
                let half = rest.get(..2).ok_or_else(mismatch)?;
                afternoon = Some(match half.to_ascii_uppercase().as_str() {
                    "AM" => false,
                    "PM" => true,
                    _ => return Err(mismatch()),
                });
                rest = &rest[2..];
            }
            'a' | 'A' => rest = named(rest, &DAYS).ok_or_else(mismatch)?.1,
            'b' | 'B' | 'h' => {
                let (month, tail) = named(rest, &MONTHS).ok_or_else(mismatch)?;
                moment.month = month as u8 + 1;
                rest = tail;
            }
            '%' => rest = rest.strip_prefix('%').ok_or_else(mismatch)?,
            other => return Err(unknown(other)),
        }
    }
    if !rest.trim_start().is_empty() {
        return Err(mismatch());
    }
    if afternoon == Some(true) {
        moment.hour = moment.hour % 12 + 12;
    }
    super::datetime::checked_date(moment.year, moment.month.into(), moment.day.into())?;
    Ok(moment)
}

fn checked(number: i64, range: std::ops::RangeInclusive<i64>, condition: Condition) -> Result<u8> {
    if range.contains(&number) {
        return Ok(number as u8);
    }
    Err(Error::new(condition, format!("{number} is out of range")))
}

/// Which of the names a text begins with, whole or in three letters, and what follows.
fn named<'a>(text: &'a str, names: &[&str]) -> Option<(usize, &'a str)> {
    let begins = |length: usize, name: &str| text.get(..length).is_some_and(|start| start.eq_ignore_ascii_case(name));
    names.iter().enumerate().find_map(|(at, name)| {
        let length = if begins(name.len(), name) {
            name.len()
        } else if begins(3, &name[..3]) {
            3
        } else {
            return None;
        };
        Some((at, &text[length..]))
    })
}

/// A number in the picture of a format: `9` and `#` are digits or blanks, `0` and `&` digits or zeros, `*` digits or
/// asterisks, `<` digits or nothing; `,`, `.`, `$`, `-`, `+`, `(` and `)` stand for themselves.
///
/// # Errors
/// -1276 for other characters.
pub fn number_to_text(number: &Decimal, format: &str) -> Result<String> {
    let (whole, fraction) = match format.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (format, None),
    };
    let digit = |character: char| matches!(character, '9' | '0' | '#' | '&' | '*' | '<');
    if let Some(wrong) =
        format.chars().find(|c| !digit(*c) && !matches!(c, ',' | '.' | '$' | '-' | '+' | '(' | ')' | ' '))
    {
        return Err(unknown(wrong));
    }
    let places = fraction.map_or(0, |fraction| fraction.chars().filter(|c| digit(*c)).count());
    let plain = number.clone().rescaled(places as i32).to_string();
    let negative = plain.starts_with('-');
    let plain = plain.trim_start_matches('-');
    let (own_whole, own_fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let own_whole = own_whole.trim_start_matches('0');
    let room = whole.chars().filter(|c| digit(*c)).count();
    if own_whole.len() > room {
        return Ok("*".repeat(format.chars().count()));
    }
    let mut digits = own_whole.chars().rev().peekable();
    let mut picture: Vec<char> = Vec::new();
    let mut signed = false;
    let mut fill = ' ';
    // Behind a 0 everything is filled with zeros.
    let zeros = whole.find('0').map_or(0, |at| whole.len() - at);
    for (at, symbol) in whole.chars().rev().enumerate() {
        let next = if digit(symbol) { digits.next() } else { None };
        if digit(symbol) {
            fill = match symbol {
                '0' | '&' => '0',
                _ if at < zeros => '0',
                '*' => '*',
                '<' => '\0',
                _ => ' ',
            };
        }
        picture.push(match (symbol, next) {
            (_, Some(found)) => found,
            (symbol, None) if digit(symbol) => fill,
            (',', None) => {
                if digits.peek().is_some() {
                    ','
                } else {
                    match fill {
                        '0' => ',',
                        other => other,
                    }
                }
            }
            ('-', None) => {
                signed = true;
                if negative { '-' } else { ' ' }
            }
            ('+', None) => {
                signed = true;
                if negative { '-' } else { '+' }
            }
            ('(', None) => {
                signed = true;
                if negative { '(' } else { ' ' }
            }
            (other, None) => other,
        });
    }
    let mut text: String = picture.into_iter().rev().filter(|c| *c != '\0').collect();
    if own_whole.is_empty() && fraction.is_none() && !text.contains('0') {
        // A zero is shown somewhere.
        if let Some(at) = text.rfind([' ', '*']) {
            text.replace_range(at..=at, "0");
        } else {
            text.push('0');
        }
    }
    if negative && !signed {
        // Directly before the first digit.
        let first = text.find(|c: char| !matches!(c, ' ')).unwrap_or(text.len());
        if first > 0 { text.replace_range(first - 1..first, "-") } else { text.insert(0, '-') }
    }
    if let Some(fraction) = fraction {
        text.push('.');
        let mut own = own_fraction.chars();
        for symbol in fraction.chars() {
            text.push(match symbol {
                symbol if digit(symbol) => own.next().unwrap_or('0'),
                ')' if negative => ')',
                ')' => ' ',
                '-' if negative => '-',
                '-' => ' ',
                other => other,
            });
        }
    }
    Ok(text)
}

/// A number from text with currency signs and thousands' commas, as a format describes it.
pub fn number_from_text(text: &str) -> Result<Decimal> {
    let trimmed = text.trim();
    let (negative, inner) = match trimmed.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => (true, inner),
        None => (false, trimmed),
    };
    let plain: String = inner.chars().filter(|c| !matches!(c, '$' | ',' | '*' | ' ')).collect();
    let mut number = Decimal::parse(&plain)?;
    number.negative ^= negative && !number.digits.is_empty();
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Moment = Moment { year: 2024, month: 3, day: 7, hour: 15, minute: 4, second: 5, fraction: 12_345 };

    #[test]
    fn moments_in_a_format() {
        for (format, text) in [
            ("%A %B %d, %Y %R", "Thursday March 07, 2024 15:04"),
            ("%a %b %e %y", "Thu Mar  7 24"),
            ("%I:%M:%S %p %F5", "03:04:05 PM 12345"),
            ("%D|%T|%j|%%", "03/07/24|15:04:05|067|%"),
        ] {
            assert_eq!(moment_to_text(&MOMENT, format).unwrap(), text);
        }
        assert_eq!(moment_to_text(&MOMENT, "%Q").unwrap_err().condition().informix_code(), -1276);
    }

    #[test]
    fn moments_from_a_format() {
        let base = Moment::LEAST;
        let read = |text: &str, format: &str| moment_from_text(text, format, base);
        let moment = read("March 7, 2024 03:04 PM", "%B %d, %Y %I:%M %p").unwrap();
        assert_eq!((moment.year, moment.month, moment.day, moment.hour, moment.minute), (2024, 3, 7, 15, 4));
        assert_eq!(read("07.03.2024", "%d.%m.%Y").unwrap().month, 3);
        assert_eq!(read("20240307", "%Y%m%d").unwrap().day, 7);
        assert_eq!(read("x", "%Y").unwrap_err().condition().informix_code(), -1277);
        assert_eq!(read("2024-02-30", "%Y-%m-%d").unwrap_err().condition().informix_code(), -1206);
    }

    #[test]
    fn numbers_in_a_picture() {
        for (number, format, text) in [
            ("1234.5", "9999.99", "1234.50"),
            ("1234.5", "$9,999.99", "$1,234.50"),
            ("-12", "9999", " -12"),
            ("12", "0999", "0012"),
            ("0.5", "9.99", " .50"),
            ("1234567.891", "&&,&&&,&&&.&&", "01,234,567.89"),
            ("12.5", "***.**", "*12.50"),
            ("123", "#####", "  123"),
            ("12", "<<<<", "12"),
            ("0", "###", "  0"),
            ("12345", "999", "***"),
        ] {
            let number = Decimal::parse(number).unwrap();
            assert_eq!(number_to_text(&number, format).unwrap(), text, "{format}");
        }
        assert_eq!(number_from_text("$1,234.50").unwrap().to_string(), "1234.50");
        assert_eq!(number_from_text("(5)").unwrap().to_string(), "-5");
    }
}
