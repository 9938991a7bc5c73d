//! Functions of the calendar: months added, ends of months, next days, moments cut or rounded to a unit.

use super::arithmetic::{interval, moment_of, moment_text};
use super::datetime::days_in_month;
use super::format::{DAYS, weekday};
use super::{Decimal, Moment, Span};
use crate::informix::types::YEAR_TO_FRACTION5;
use crate::types::Field;
use crate::{Condition, Error, Result, Type};

/// `ADD_MONTHS`: the last day of a month stays the last day, and stands for days that a shorter month does not have.
pub fn add_months(start: &str, ty: &Type, months: i64) -> Result<String> {
    let moment = moment_of(start, ty)?;
    let target = Moment { day: 1, ..moment }.plus_months(months)?;
    let last = days_in_month(target.year, target.month);
    let is_last = moment.day == days_in_month(moment.year, moment.month);
    let day = if is_last { last } else { moment.day.min(last) };
    Ok(moment_text(Moment { day, ..target }, ty))
}

/// `LAST_DAY`.
pub fn last_day(start: &str, ty: &Type) -> Result<String> {
    let moment = moment_of(start, ty)?;
    Ok(moment_text(Moment { day: days_in_month(moment.year, moment.month), ..moment }, ty))
}

/// `NEXT_DAY`: the first such day of the week behind the moment.
///
/// # Errors
/// -1276 for a name that is no day's.
pub fn next_day(start: &str, ty: &Type, day: &str) -> Result<String> {
    let moment = moment_of(start, ty)?;
    let name = day.trim();
    let wanted = DAYS.iter().position(|known| {
        known.eq_ignore_ascii_case(name) || known.get(..3).is_some_and(|short| short.eq_ignore_ascii_case(name))
    });
    let Some(wanted) = wanted else {
        return Err(Error::new(Condition::InvalidFormatCharacter, format!("\"{name}\" is not a day of the week")));
    };
    let ahead = (wanted + 7 - weekday(&moment) - 1) % 7 + 1;
    let ticks = moment.ticks() + ahead as i128 * 8_640_000_000;
    Ok(moment_text(Moment::from_ticks(ticks)?, ty))
}

/// `MONTHS_BETWEEN`: whole months when the days are alike or both last, else with a fraction of 31 days.
pub fn months_between(left: &str, right: &str) -> Result<Decimal> {
    let full = Type::Datetime(YEAR_TO_FRACTION5);
    let (left, right) = (moment_of(left, &full)?, moment_of(right, &full)?);
    let months = (i64::from(left.year) - i64::from(right.year)) * 12 + i64::from(left.month) - i64::from(right.month);
    let is_last = |moment: &Moment| moment.day == days_in_month(moment.year, moment.month);
    if left.day == right.day || is_last(&left) && is_last(&right) {
        return Decimal::parse(&months.to_string());
    }
    let in_month = |moment: &Moment| moment.ticks() - Moment { day: 1, ..*moment }.start_of_day().ticks();
    // Ticks of 31 days; 32 digits of the quotient.
    let rest = in_month(&left) - in_month(&right);
    let whole = i128::from(months) * 31 * 8_640_000_000 + rest;
    quotient(whole, 31 * 8_640_000_000)
}

/// A quotient of whole numbers in 32 digits.
fn quotient(numerator: i128, denominator: i128) -> Result<Decimal> {
    let mut digits = (numerator.abs() / denominator).to_string();
    let mut rest = numerator.abs() % denominator;
    let places = 32 - digits.trim_start_matches('0').len();
    digits.push('.');
    for _ in 0..places {
        rest *= 10;
        digits.push(char::from(b'0' + (rest / denominator) as u8));
        rest %= denominator;
    }
    if numerator < 0 {
        digits.insert(0, '-');
    }
    Ok(Decimal::parse(&digits)?.floating(32))
}

/// ROUND (`up`) and TRUNC of a moment to a unit.
///
/// # Errors
/// -1276 for a unit that there is none of.
pub fn round_moment(value: &str, ty: &Type, unit: &str, up: bool) -> Result<String> {
    let moment = moment_of(value, ty)?;
    let start = moment.start_of_day();
    let first_of_month = Moment { day: 1, ..start };
    let first_of_year = Moment { month: 1, ..first_of_month };
    let (low, next) = match unit.trim().to_ascii_uppercase().as_str() {
        "CC" | "SCC" => {
            let century = (start.year - 1) / 100 * 100 + 1;
            let low = Moment { year: century, ..first_of_year };
            (low, (start.year - century >= 50).then(|| low.plus_months(1_200)).transpose()?)
        }
        "YEAR" | "YYYY" | "YYY" | "YY" | "Y" | "SYYYY" | "SYEAR" => {
            (first_of_year, (start.month >= 7).then(|| first_of_year.plus_months(12)).transpose()?)
        }
        "Q" | "QUARTER" => {
            let low = Moment { month: (start.month - 1) / 3 * 3 + 1, ..first_of_month };
            let late = start.month - low.month == 2 || start.month - low.month == 1 && start.day >= 16;
            (low, late.then(|| low.plus_months(3)).transpose()?)
        }
        "MONTH" | "MON" | "MM" | "RM" => {
            (first_of_month, (start.day >= 16).then(|| first_of_month.plus_months(1)).transpose()?)
        }
        "DAY" | "DY" | "D" => {
            let since = weekday(&start) as i128;
            let low = Moment::from_ticks(start.ticks() - since * DAY_TICKS)?;
            let late = since > 3 || since == 3 && moment.hour >= 12;
            (low, late.then(|| Moment::from_ticks(low.ticks() + 7 * DAY_TICKS)).transpose()?)
        }
        "DD" | "DDD" | "J" => {
            let late = moment.hour >= 12;
            (start, late.then(|| Moment::from_ticks(start.ticks() + DAY_TICKS)).transpose()?)
        }
        "HH" | "HH12" | "HH24" => {
            let low = Moment { hour: moment.hour, ..start };
            let late = moment.minute >= 30;
            (low, late.then(|| Moment::from_ticks(low.ticks() + HOUR_TICKS)).transpose()?)
        }
        "MI" => {
            let low = Moment { hour: moment.hour, minute: moment.minute, ..start };
            let late = moment.second >= 30;
            (low, late.then(|| Moment::from_ticks(low.ticks() + HOUR_TICKS / 60)).transpose()?)
        }
        other => {
            return Err(Error::new(
                Condition::InvalidFormatCharacter,
                format!("\"{other}\" is not a unit to round to"),
            ));
        }
    };
    Ok(moment_text(next.filter(|_| up).unwrap_or(low), ty))
}

const HOUR_TICKS: i128 = 360_000_000;
const DAY_TICKS: i128 = 24 * HOUR_TICKS;

impl Moment {
    fn start_of_day(self) -> Self {
        Self { hour: 0, minute: 0, second: 0, fraction: 0, ..self }
    }
}

/// NUMTODSINTERVAL and NUMTOYMINTERVAL: so many of a unit.
///
/// # Errors
/// -1276 for a unit that the kind of interval does not have, -1265 for too many.
pub fn number_to_interval(count: &str, unit: &str, ty: &Type) -> Result<String> {
    let qualifier = interval(ty)?;
    let field = match (unit.trim().to_ascii_uppercase().as_str(), qualifier.first) {
        ("DAY", Field::Day) => Field::Day,
        ("HOUR", Field::Day) => Field::Hour,
        ("MINUTE", Field::Day) => Field::Minute,
        ("SECOND", Field::Day) => Field::Second,
        ("YEAR", Field::Year) => Field::Year,
        ("MONTH", Field::Year) => Field::Month,
        (other, _) => {
            return Err(Error::new(Condition::InvalidFormatCharacter, format!("\"{other}\" is not a unit here")));
        }
    };
    let count: f64 = count.trim().parse().map_err(|_| {
        Error::new(Condition::InvalidTextRepresentation, format!("\"{}\" is not a number", count.trim()))
    })?;
    let one = Span::units(1, field);
    let total = (one.count() as f64 * count).round() as i128;
    let span = match one {
        Span::Months(_) => Span::Months(i64::try_from(total).unwrap_or(i64::MAX)),
        Span::Ticks(_) => Span::Ticks(total),
    };
    span.format(qualifier)
}

/// The interval that sorts as a number does; the inverse of [`super::arithmetic::interval_key`].
pub fn interval_of_key(key: i64, ty: &Type) -> Result<String> {
    let qualifier = interval(ty)?;
    let span = if qualifier.first <= Field::Month { Span::Months(key) } else { Span::Ticks(key.into()) };
    span.format(qualifier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informix::type_from_words;
    use crate::informix::types::YEAR_TO_SECOND;

    const SECOND: &Type = &Type::Datetime(YEAR_TO_SECOND);

    #[test]
    fn months_are_added_to_last_days() {
        assert_eq!(add_months("2024-01-31", &Type::Date, 1).unwrap(), "2024-02-29");
        assert_eq!(add_months("2024-02-29", &Type::Date, 1).unwrap(), "2024-03-31");
        assert_eq!(add_months("2024-01-15 10:00:00", SECOND, -1).unwrap(), "2023-12-15 10:00:00");
        assert_eq!(last_day("2024-02-10 10:00:00", SECOND).unwrap(), "2024-02-29 10:00:00");
    }

    #[test]
    fn days_and_months_between() {
        assert_eq!(next_day("2024-03-07", &Type::Date, "Monday").unwrap(), "2024-03-11");
        assert_eq!(next_day("2024-03-07", &Type::Date, "thu").unwrap(), "2024-03-14");
        let months = |left: &str, right: &str| {
            months_between(&format!("{left} 00:00:00.00000"), &format!("{right} 00:00:00.00000")).unwrap().to_string()
        };
        assert_eq!(months("2024-03-31", "2024-02-29"), "1");
        assert!(months("2024-03-07", "2024-02-01").starts_with("1.19354838709"));
        assert!(months("2024-02-01", "2024-03-07").starts_with("-1.19354838709"));
    }

    #[test]
    fn moments_are_cut_and_rounded() {
        let value = "2024-03-17 15:34:31";
        for (unit, cut, rounded) in [
            ("YEAR", "2024-01-01 00:00:00", "2024-01-01 00:00:00"),
            ("MONTH", "2024-03-01 00:00:00", "2024-04-01 00:00:00"),
            ("DD", "2024-03-17 00:00:00", "2024-03-18 00:00:00"),
            ("HH", "2024-03-17 15:00:00", "2024-03-17 16:00:00"),
            ("MI", "2024-03-17 15:34:00", "2024-03-17 15:35:00"),
            ("DAY", "2024-03-17 00:00:00", "2024-03-17 00:00:00"),
            ("Q", "2024-01-01 00:00:00", "2024-04-01 00:00:00"),
        ] {
            assert_eq!(round_moment(value, SECOND, unit, false).unwrap(), cut, "{unit}");
            assert_eq!(round_moment(value, SECOND, unit, true).unwrap(), rounded, "{unit}");
        }
        assert!(round_moment(value, SECOND, "FORTNIGHT", true).is_err());
    }

    #[test]
    fn numbers_become_intervals() {
        let ty = |words| type_from_words(words).unwrap();
        let seconds = &ty("INTERVAL DAY(9) TO FRACTION(5)");
        assert_eq!(number_to_interval("1.5", "DAY", seconds).unwrap(), "1 12:00:00.00000");
        assert_eq!(number_to_interval("14", "MONTH", &ty("INTERVAL YEAR(9) TO MONTH")).unwrap(), "1-02");
        assert!(number_to_interval("1", "MONTH", seconds).is_err());
        assert_eq!(interval_of_key(8_640_000_000, &ty("INTERVAL DAY TO SECOND")).unwrap(), "1 00:00:00");
    }
}
