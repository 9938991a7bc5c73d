//! INTERVAL: a count of months, or a count of hundred-thousandths of a second.

use super::datetime::following;
use crate::types::{Field, IntervalQualifier};
use crate::{Condition, Error, Result};

/// The value of an INTERVAL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Span {
    /// YEAR TO MONTH: months.
    Months(i64),
    /// DAY TO FRACTION: hundred-thousandths of a second.
    Ticks(i128),
}

/// Units of a field: months, or ticks.
fn unit(field: Field) -> i128 {
    match field {
        Field::Year => 12,
        Field::Month => 1,
        Field::Day => 8_640_000_000,
        Field::Hour => 360_000_000,
        Field::Minute => 6_000_000,
        Field::Second => 100_000,
        Field::Fraction(_) => 1,
    }
}

impl Span {
    /// An INTERVAL in text, read by its qualifier.
    ///
    /// # Errors
    /// `22007` for text that is not of the qualifier's form, `22015` (-1265) for a first field with too many digits.
    pub fn parse(text: &str, qualifier: IntervalQualifier) -> Result<Self> {
        let invalid = || {
            let letters = text.chars().any(char::is_alphabetic);
            Error::new(
                if letters { Condition::InvalidDatetimeFormat } else { Condition::InvalidIntervalFormat },
                format!("\"{}\" is not an INTERVAL of this qualifier", text.trim()),
            )
        };
        let trimmed = text.trim();
        let (negative, mut rest) = match trimmed.strip_prefix('-') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
        };
        let mut total: i128 = 0;
        let mut field = qualifier.first;
        loop {
            if let Field::Fraction(_) = field {
                rest = if field == qualifier.first { rest.strip_prefix('.').unwrap_or(rest) } else { rest };
            }
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 || digits > 18 {
                return Err(invalid());
            }
            let number: i128 = rest[..digits].parse().map_err(|_| invalid())?;
            if field == qualifier.first && !matches!(field, Field::Fraction(_)) {
                if number.to_string().len() > usize::from(qualifier.precision) {
                    return Err(overflow());
                }
            } else if digits > 2 && !matches!(field, Field::Fraction(_)) {
                return Err(invalid());
            }
            if let Field::Fraction(_) = field {
                let five = format!("{:0<5}", &rest[..digits.min(5)]);
                total += five.parse::<i128>().map_err(|_| invalid())?;
            } else {
                let most = match field {
                    Field::Month => 11,
                    Field::Hour => 23,
                    Field::Minute | Field::Second => 59,
                    _ => i128::MAX,
                };
                if field != qualifier.first && number > most {
                    return Err(Error::new(
                        Condition::DatetimeFieldOverflow,
                        "a field of the INTERVAL is out of range",
                    ));
                }
                total += number * unit(field);
            }
            rest = &rest[digits..];
            let Some(next) = following(field, qualifier.last) else { break };
            if rest.is_empty() && matches!(next, Field::Fraction(_)) {
                break;
            }
            let separator = match next {
                Field::Month => '-',
                Field::Hour => ' ',
                Field::Fraction(_) => '.',
                _ => ':',
            };
            rest = rest.strip_prefix(separator).ok_or_else(invalid)?;
            field = next;
        }
        if !rest.is_empty() {
            return Err(invalid());
        }
        let total = if negative { -total } else { total };
        Self::of(total, qualifier)
    }

    fn of(total: i128, qualifier: IntervalQualifier) -> Result<Self> {
        let span = if qualifier.first <= Field::Month {
            Self::Months(i64::try_from(total).map_err(|_| overflow())?)
        } else {
            Self::Ticks(total)
        };
        Ok(span)
    }

    /// The count of months or ticks.
    pub fn count(self) -> i128 {
        match self {
            Self::Months(months) => months.into(),
            Self::Ticks(ticks) => ticks,
        }
    }

    /// The value in the fields of a qualifier; what is smaller than its last field is cut off.
    ///
    /// # Errors
    /// `22015` (-1265) when the first field has too few digits for it; `22007` between months and days.
    pub fn format(self, qualifier: IntervalQualifier) -> Result<String> {
        if matches!(self, Self::Months(_)) != (qualifier.first <= Field::Month) {
            return Err(Error::new(Condition::IncompatibleIntervals, "intervals of months and of days do not mix"));
        }
        let total = self.count();
        let mut rest = total.unsigned_abs() as i128;
        // Cut to the last field first, so that no minus sign stands before a zero.
        let least = match qualifier.last {
            Field::Fraction(digits) => 10_i128.pow(5 - u32::from(digits.min(5))),
            last => unit(last),
        };
        rest = rest / least * least;
        let mut text = String::new();
        if total < 0 && rest > 0 {
            text.push('-');
        }
        let mut field = qualifier.first;
        loop {
            if let Field::Fraction(digits) = field {
                if field == qualifier.first || text.is_empty() || text == "-" {
                    text.push('.');
                }
                if rest >= 100_000 {
                    return Err(overflow());
                }
                text.push_str(&format!("{rest:05}")[..usize::from(digits.min(5))]);
                return Ok(text);
            }
            let number = rest / unit(field);
            rest %= unit(field);
            if field == qualifier.first {
                if number.to_string().len() > usize::from(qualifier.precision) {
                    return Err(overflow());
                }
                text.push_str(&number.to_string());
            } else {
                text.push_str(&format!("{number:02}"));
            }
            match following(field, qualifier.last) {
                Some(next) => {
                    text.push(match next {
                        Field::Month => '-',
                        Field::Hour => ' ',
                        Field::Fraction(_) => '.',
                        _ => ':',
                    });
                    field = next;
                }
                None => return Ok(text),
            }
        }
    }

    /// So many of one field.
    pub fn units(count: i128, field: Field) -> Self {
        let total = count.saturating_mul(unit(field));
        if field <= Field::Month { Self::Months(i64::try_from(total).unwrap_or(i64::MAX)) } else { Self::Ticks(total) }
    }
}

fn overflow() -> Error {
    Error::new(Condition::IntervalFieldOverflow, "the INTERVAL does not fit its first field")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informix::type_from_words;
    use crate::types::Type;

    fn qualifier(words: &str) -> IntervalQualifier {
        match type_from_words(&format!("INTERVAL {words}")).unwrap() {
            Type::QualifiedInterval(qualifier) => qualifier,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn intervals_read_and_print_by_their_qualifier() {
        for (words, text, printed) in [
            ("DAY(3) TO SECOND", "3 01:01:01", "3 01:01:01"),
            ("DAY(3) TO SECOND", "-3 01:01:01", "-3 01:01:01"),
            ("YEAR TO MONTH", "-1-2", "-1-02"),
            ("SECOND(3) TO FRACTION(2)", "-999.99", "-999.99"),
            ("DAY(9) TO FRACTION(5)", "3 03:27:01.12345", "3 03:27:01.12345"),
            ("MINUTE TO SECOND", "23:45", "23:45"),
            ("FRACTION TO FRACTION(5)", ".00001", ".00001"),
            ("DAY TO DAY", "5", "5"),
        ] {
            let qualifier = qualifier(words);
            assert_eq!(Span::parse(text, qualifier).unwrap().format(qualifier).unwrap(), printed, "{words} {text}");
        }
        assert!(Span::parse("100 00:00:00", qualifier("DAY TO SECOND")).is_err());
        assert!(Span::parse("1 24:00:00", qualifier("DAY TO SECOND")).is_err());
    }
}
