//! DATE and DATETIME.

use crate::types::{Field, Qualifier};
use crate::{Condition, Error, Result};

/// The fields of a DATETIME; those outside its qualifier have the value that EXTEND gives them by default (1 or 0,
/// today's for larger fields when the caller fills them in).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Moment {
    /// Year, 1 to 9999.
    pub year: i32,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, from 1.
    pub day: u8,
    /// Hour.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
    /// Hundred-thousandths of a second.
    pub fraction: u32,
}

/// Days from 1899-12-31, Informix's day 0, back to 1970-01-01.
const EPOCH: i64 = 25_568;

/// Days since 1899-12-31 of a calendar date.
pub fn date_to_days(year: i32, month: u8, day: u8) -> i64 {
    // Days from civil, after Howard Hinnant: years begin in March.
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_of_year = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * month_of_year + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468 + EPOCH
}

/// The calendar date (year, month, day) of a day counted from 1899-12-31.
pub fn date_from_days(days: i64) -> (i32, u8, u8) {
    let shifted = days - EPOCH + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_of_year = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_of_year + 2) / 5 + 1;
    let month = if month_of_year < 10 { month_of_year + 3 } else { month_of_year - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as i32, month as u8, day as u8)
}

/// Days of a month.
pub(super) fn days_in_month(year: i32, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// A date from text: `YYYY-MM-DD` (DBDATE=Y4MD-, what both drivers ask for) or `MM/DD/YYYY` (the server's default), each
/// with `-`, `/` or `.` between. A year of two digits is one of this century, as DBCENTURY has it by default.
pub fn parse_date(text: &str) -> Result<(i32, u8, u8)> {
    if let Some((year, month, day)) = stored_date(text.as_bytes()) {
        return checked_date(year, month, day);
    }
    let invalid = || Error::new(Condition::InvalidDateText, format!("\"{text}\" is not a date"));
    let parts: Vec<&str> = text.trim().split(['-', '/', '.']).collect();
    let [a, b, c] = parts[..] else { return Err(invalid()) };
    let number = |part: &str| -> Result<i32> {
        if part.is_empty() || part.len() > 4 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid());
        }
        part.parse().map_err(|_| invalid())
    };
    let (year, month, day) = match (a.len(), c.len()) {
        (4, _) => (number(a)?, number(b)?, number(c)?),
        (_, 1 | 2) => (in_this_century(number(c)?), number(a)?, number(b)?),
        _ => (number(c)?, number(a)?, number(b)?),
    };
    checked_date(year, month, day)
}

/// The parts of `YYYY-MM-DD`, the form in which dates are stored.
fn stored_date(text: &[u8]) -> Option<(i32, i32, i32)> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else { return None };
    if ![y1, y2, y3, y4, m1, m2, d1, d2].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let two = |high: u8, low: u8| i32::from(high - b'0') * 10 + i32::from(low - b'0');
    Some((two(y1, y2) * 100 + two(y3, y4), two(m1, m2), two(d1, d2)))
}

/// A year that is written in two digits.
pub(super) const fn in_this_century(year: i32) -> i32 {
    2000 + year
}

/// A date whose parts are in range.
pub(super) fn checked_date(year: i32, month: i32, day: i32) -> Result<(i32, u8, u8)> {
    if !(1..=9999).contains(&year) {
        return Err(Error::new(Condition::InvalidYear, format!("year {year} is out of range")));
    }
    if !(1..=12).contains(&month) {
        return Err(Error::new(Condition::InvalidMonth, format!("month {month} is out of range")));
    }
    if day < 1 || day > i32::from(days_in_month(year, month as u8)) {
        return Err(Error::new(Condition::InvalidDay, format!("day {day} is out of range")));
    }
    Ok((year, month as u8, day as u8))
}

impl Moment {
    /// Every field at its least.
    pub const LEAST: Self = Self { year: 1, month: 1, day: 1, hour: 0, minute: 0, second: 0, fraction: 0 };

    /// A DATETIME in text, read by its qualifier; fields outside it are taken from `base`.
    ///
    /// # Errors
    /// `22007` (-1262, -1263) for text that is not of the qualifier's form, `22008` for fields out of range.
    pub fn parse(text: &str, qualifier: Qualifier, base: Self) -> Result<Self> {
        let text = text.trim();
        let invalid =
            || Error::new(Condition::InvalidDatetimeFormat, format!("\"{text}\" is not a DATETIME of this qualifier"));
        let mut moment = base;
        let mut rest = text;
        let mut field = qualifier.first;
        loop {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let most = match field {
                Field::Year => 4,
                Field::Fraction(_) => 9,
                _ => 2,
            };
            if digits == 0 || digits > most {
                return Err(invalid());
            }
            let number: i32 = rest[..digits].parse().map_err(|_| invalid())?;
            moment.set(field, number, digits);
            rest = &rest[digits..];
            let Some(next) = following(field, qualifier.last) else { break };
            if rest.is_empty() && matches!(next, Field::Fraction(_)) {
                moment.fraction = 0;
                break;
            }
            let separators: &[char] = match next {
                Field::Month | Field::Day => &['-', '/'],
                Field::Hour => &[' ', 'T'],
                Field::Minute | Field::Second => &[':'],
                _ => &['.'],
            };
            rest = rest.strip_prefix(separators).ok_or_else(invalid)?;
            field = next;
        }
        // Smaller fields than the qualifier's are dropped when they are there.
        let dropped = match qualifier.last {
            Field::Second => rest
                .strip_prefix('.')
                .is_some_and(|tail| !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_digit())),
            _ => false,
        };
        if !rest.is_empty() && !dropped {
            return Err(Error::new(
                Condition::ExtraDatetimeFields,
                format!("\"{text}\" has more than the qualifier's fields"),
            ));
        }
        moment.checked()?;
        Ok(moment.truncated(qualifier.last))
    }

    fn set(&mut self, field: Field, number: i32, digits: usize) {
        match field {
            Field::Year if digits <= 2 => self.year = 2000 + number,
            Field::Year => self.year = number,
            Field::Month => self.month = number as u8,
            Field::Day => self.day = number as u8,
            Field::Hour => self.hour = number as u8,
            Field::Minute => self.minute = number as u8,
            Field::Second => self.second = number as u8,
            Field::Fraction(_) => {
                let number = number as u32;
                self.fraction = if digits <= 5 {
                    number * 10_u32.pow(5 - digits as u32)
                } else {
                    number / 10_u32.pow(digits as u32 - 5)
                };
            }
        }
    }

    fn checked(&self) -> Result<()> {
        checked_date(self.year, self.month.into(), self.day.into())
            .map_err(|_| Error::new(Condition::DatetimeFieldOverflow, "a field of the DATETIME is out of range"))?;
        if self.hour > 23 || self.minute > 59 || self.second > 59 {
            return Err(Error::new(Condition::DatetimeFieldOverflow, "a field of the DATETIME is out of range"));
        }
        Ok(())
    }

    /// Digits of the fraction beyond the qualifier's are cut off.
    fn truncated(mut self, last: Field) -> Self {
        self.fraction = match last {
            Field::Fraction(digits) => {
                let unit = 10_u32.pow(5 - u32::from(digits.min(5)));
                self.fraction / unit * unit
            }
            _ => 0,
        };
        self
    }

    /// This moment's fields that are larger than one, the least of all others: what EXTEND fills in.
    pub fn before(self, first: Field) -> Self {
        let mut base = Self::LEAST;
        if first > Field::Year {
            base.year = self.year;
        }
        if first > Field::Month {
            base.month = self.month;
        }
        if first > Field::Day {
            base.day = self.day;
        }
        if first > Field::Hour {
            base.hour = self.hour;
        }
        if first > Field::Minute {
            base.minute = self.minute;
        }
        if first > Field::Second {
            base.second = self.second;
        }
        base
    }

    /// The text of the qualifier's fields.
    pub fn format(&self, qualifier: Qualifier) -> String {
        let mut text = String::with_capacity(25);
        let mut field = qualifier.first;
        loop {
            if field != qualifier.first {
                text.push(match field {
                    Field::Month | Field::Day => '-',
                    Field::Hour => ' ',
                    Field::Fraction(_) => '.',
                    _ => ':',
                });
            }
            match field {
                Field::Year => text.push_str(&format!("{:04}", self.year)),
                Field::Month => text.push_str(&format!("{:02}", self.month)),
                Field::Day => text.push_str(&format!("{:02}", self.day)),
                Field::Hour => text.push_str(&format!("{:02}", self.hour)),
                Field::Minute => text.push_str(&format!("{:02}", self.minute)),
                Field::Second => text.push_str(&format!("{:02}", self.second)),
                Field::Fraction(digits) => {
                    text.push_str(&format!("{:05}", self.fraction)[..usize::from(digits.min(5))]);
                }
            }
            match following(field, qualifier.last) {
                Some(next) => field = next,
                None => return text,
            }
        }
    }

    /// Hundred-thousandths of a second since 1899-12-31 00:00.
    pub fn ticks(&self) -> i128 {
        let days = i128::from(date_to_days(self.year, self.month, self.day));
        let seconds =
            days * 86_400 + i128::from(self.hour) * 3_600 + i128::from(self.minute) * 60 + i128::from(self.second);
        seconds * 100_000 + i128::from(self.fraction)
    }

    /// The moment so many hundred-thousandths of a second after 1899-12-31 00:00.
    pub fn from_ticks(ticks: i128) -> Result<Self> {
        let fraction = ticks.rem_euclid(100_000) as u32;
        let seconds = ticks.div_euclid(100_000);
        let second_of_day = seconds.rem_euclid(86_400) as u32;
        let days = i64::try_from(seconds.div_euclid(86_400)).unwrap_or(i64::MAX);
        if !(date_to_days(1, 1, 1)..=date_to_days(9999, 12, 31)).contains(&days) {
            return Err(Error::new(Condition::DatetimeFieldOverflow, "the DATETIME is out of range"));
        }
        let (year, month, day) = date_from_days(days);
        Ok(Self {
            year,
            month,
            day,
            hour: (second_of_day / 3_600) as u8,
            minute: (second_of_day / 60 % 60) as u8,
            second: (second_of_day % 60) as u8,
            fraction,
        })
    }

    /// So many months later. A day that the month does not have is an error, as in Informix (-1267).
    pub fn plus_months(self, months: i64) -> Result<Self> {
        let total = i64::from(self.year) * 12 + i64::from(self.month) - 1 + months;
        let year = i32::try_from(total.div_euclid(12)).unwrap_or(i32::MAX);
        let month = total.rem_euclid(12) as u8 + 1;
        if !(1..=9999).contains(&year) || self.day > days_in_month(year, month) {
            return Err(Error::new(
                Condition::DatetimeArithmeticOverflow,
                "the result of the datetime computation is out of range",
            ));
        }
        Ok(Self { year, month, ..self })
    }
}

/// The field after `field` in a qualifier that ends with `last`.
pub(super) fn following(field: Field, last: Field) -> Option<Field> {
    let next = match field {
        Field::Year => Field::Month,
        Field::Month => Field::Day,
        Field::Day => Field::Hour,
        Field::Hour => Field::Minute,
        Field::Minute => Field::Second,
        Field::Second => match last {
            Field::Fraction(_) => last,
            _ => return None,
        },
        Field::Fraction(_) => return None,
    };
    (next <= last).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_count_from_the_last_of_1899() {
        assert_eq!(date_to_days(1899, 12, 31), 0);
        assert_eq!(date_to_days(1900, 1, 1), 1);
        assert_eq!(date_to_days(1970, 1, 1), EPOCH);
        for days in [-693_594, -1, 0, 25_568, 46_000, 2_958_464] {
            let (year, month, day) = date_from_days(days);
            assert_eq!(date_to_days(year, month, day), days);
        }
    }

    #[test]
    fn datetimes_read_and_print_by_their_qualifier() {
        let qualifier = Qualifier { first: Field::Year, last: Field::Fraction(5) };
        let moment = Moment::parse("2026-01-02 03:04:05.12", qualifier, Moment::LEAST).unwrap();
        assert_eq!(moment.format(qualifier), "2026-01-02 03:04:05.12000");
        let hours = Qualifier { first: Field::Hour, last: Field::Minute };
        assert_eq!(Moment::parse("23:59", hours, Moment::LEAST).unwrap().format(hours), "23:59");
        assert!(Moment::parse("24:00", hours, Moment::LEAST).is_err());
        assert!(Moment::parse("x", hours, Moment::LEAST).is_err());
        assert!(
            Moment::parse("2026-02-29", Qualifier { first: Field::Year, last: Field::Day }, Moment::LEAST).is_err()
        );
        assert_eq!(Moment::from_ticks(moment.ticks()).unwrap(), moment);
    }

    #[test]
    fn dates_in_both_orders() {
        assert_eq!(parse_date("2026-05-04").unwrap(), (2026, 5, 4));
        assert_eq!(parse_date("05/04/2026").unwrap(), (2026, 5, 4));
        assert_eq!(parse_date("13/04/2026").unwrap_err().condition(), Condition::InvalidMonth);
        assert_eq!(parse_date("02/30/2026").unwrap_err().condition(), Condition::InvalidDay);
        assert_eq!(parse_date("yesterday").unwrap_err().condition(), Condition::InvalidDateText);
    }
}
