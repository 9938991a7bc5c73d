//! Arithmetic on dates, datetimes and intervals, on stored text and its types: what the SQL functions compute.

use super::{Decimal, Moment, Span, date_from_days, date_to_days, parse_date};
use crate::informix::types::YEAR_TO_FRACTION5;
use crate::types::{Field, IntervalQualifier, Qualifier};
use crate::{Condition, Error, Result, Type};

pub(super) fn moment_of(text: &str, ty: &Type) -> Result<Moment> {
    let qualifier = match ty {
        Type::Datetime(qualifier) => *qualifier,
        Type::Date => Qualifier { first: Field::Year, last: Field::Day },
        _ => YEAR_TO_FRACTION5,
    };
    Moment::parse(text, qualifier, Moment::LEAST)
}

pub(super) fn moment_text(moment: Moment, ty: &Type) -> String {
    match ty {
        Type::Datetime(qualifier) => moment.format(*qualifier),
        Type::Date => moment.format(Qualifier { first: Field::Year, last: Field::Day }),
        _ => moment.format(YEAR_TO_FRACTION5).trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

/// The qualifier of a type that is an interval.
pub(super) fn interval(ty: &Type) -> Result<IntervalQualifier> {
    match ty {
        Type::QualifiedInterval(qualifier) => Ok(*qualifier),
        _ => Err(Error::internal(format!("{ty:?} is no interval"))),
    }
}

fn mixed() -> Error {
    Error::new(Condition::IncompatibleIntervals, "intervals of months and of days do not mix")
}

/// A datetime plus (`sign` 1) or minus (-1) an interval.
pub fn datetime_add(
    datetime: &str,
    ty: &Type,
    span: &str,
    span_type: &Type,
    sign: i64,
    result: &Type,
) -> Result<String> {
    let start = moment_of(datetime, ty)?;
    let moment = match Span::parse(span, widest(interval(span_type)?))? {
        Span::Months(months) => start.plus_months(months.saturating_mul(sign))?,
        Span::Ticks(ticks) => Moment::from_ticks(start.ticks() + ticks * i128::from(sign))?,
    };
    Ok(moment_text(moment, result))
}

/// One datetime minus another.
pub fn datetime_sub(left: &str, left_type: &Type, right: &str, right_type: &Type, result: &Type) -> Result<String> {
    let left = moment_of(left, left_type)?;
    let right = moment_of(right, right_type)?;
    let qualifier = interval(result)?;
    let span = if qualifier.first <= Field::Month {
        let months = |moment: Moment| i64::from(moment.year) * 12 + i64::from(moment.month);
        Span::Months(months(left) - months(right))
    } else {
        Span::Ticks(left.ticks() - right.ticks())
    };
    span.format(qualifier)
}

/// An interval plus or minus another.
pub fn interval_add(
    left: &str,
    left_type: &Type,
    right: &str,
    right_type: &Type,
    sign: i64,
    result: &Type,
) -> Result<String> {
    let left = Span::parse(left, widest(interval(left_type)?))?;
    let right = Span::parse(right, widest(interval(right_type)?))?;
    let span = match (left, right) {
        (Span::Months(a), Span::Months(b)) => Span::Months(a + b * sign),
        (Span::Ticks(a), Span::Ticks(b)) => Span::Ticks(a + b * i128::from(sign)),
        _ => return Err(mixed()),
    };
    span.format(interval(result)?)
}

/// An interval times a number.
pub fn interval_mul(span: &str, ty: &Type, factor: f64, result: &Type) -> Result<String> {
    if !factor.is_finite() {
        return Err(Error::new(Condition::DivisionByZero, "division by zero"));
    }
    let span = match Span::parse(span, widest(interval(ty)?))? {
        Span::Months(months) => Span::Months((months as f64 * factor).trunc() as i64),
        Span::Ticks(ticks) => Span::Ticks((ticks as f64 * factor).trunc() as i128),
    };
    span.format(interval(result)?)
}

/// A number that sorts as an interval does.
pub fn interval_key(span: &str, ty: &Type) -> Result<i64> {
    let count = Span::parse(span, widest(interval(ty)?))?.count();
    i64::try_from(count).map_err(|_| Error::new(Condition::IntervalFieldOverflow, "the INTERVAL is out of range"))
}

/// `n UNITS field`.
pub fn units(count: &str, result: &Type) -> Result<String> {
    let qualifier = interval(result)?;
    let whole = Decimal::parse(count)?.to_integer();
    let whole = whole.ok_or_else(|| Error::new(Condition::IntervalFieldOverflow, "the INTERVAL is out of range"))?;
    Span::units(whole.into(), qualifier.first).format(qualifier)
}

/// A date so many days later.
pub fn add_days(date: &str, days: i64) -> Result<String> {
    let (year, month, day) = parse_date(date)?;
    let total = date_to_days(year, month, day).saturating_add(days);
    if !(date_to_days(1, 1, 1)..=date_to_days(9999, 12, 31)).contains(&total) {
        return Err(Error::new(Condition::DatetimeArithmeticOverflow, "the date is out of range"));
    }
    let (year, month, day) = date_from_days(total);
    Ok(format!("{year:04}-{month:02}-{day:02}"))
}

/// Days from one date to another.
pub fn days_between(left: &str, right: &str) -> Result<i64> {
    let days = |text| parse_date(text).map(|(year, month, day)| date_to_days(year, month, day));
    Ok(days(left)? - days(right)?)
}

/// `MDY(month, day, year)`.
pub fn mdy(month: i64, day: i64, year: i64) -> Result<String> {
    let narrow = |number: i64| i32::try_from(number).unwrap_or(-1);
    let (year, month, day) = super::datetime::checked_date(narrow(year), narrow(month), narrow(day))?;
    Ok(format!("{year:04}-{month:02}-{day:02}"))
}

/// Reading has no limit of digits: the stored value was checked when it was stored.
const fn widest(qualifier: IntervalQualifier) -> IntervalQualifier {
    IntervalQualifier { precision: 18, ..qualifier }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informix::type_from_words;

    #[test]
    fn moments_and_spans_add_up() {
        let ty = |words| type_from_words(words).unwrap();
        let (second, date) = (&ty("DATETIME YEAR TO SECOND"), &Type::Date);
        let day = &ty("INTERVAL DAY(9) TO DAY");
        assert_eq!(datetime_add("2026-02-28 12:00:00", second, "1", day, 1, second).unwrap(), "2026-03-01 12:00:00");
        assert_eq!(datetime_add("2026-03-01", date, "1", day, -1, date).unwrap(), "2026-02-28");
        let months = &ty("INTERVAL YEAR TO MONTH");
        assert_eq!(datetime_add("2026-01-15", date, "1-02", months, 1, date).unwrap(), "2027-03-15");
        let error = datetime_add("2026-01-31", date, "0-01", months, 1, date).unwrap_err();
        assert_eq!(error.condition().informix_code(), -1267);
        assert_eq!(
            datetime_sub(
                "2026-01-02 00:00:01",
                second,
                "2026-01-01 00:00:00",
                second,
                &ty("INTERVAL DAY(8) TO SECOND")
            )
            .unwrap(),
            "1 00:00:01"
        );
        assert_eq!(
            interval_mul("1 12:00:00", &ty("INTERVAL DAY TO SECOND"), 2.0, &ty("INTERVAL DAY(9) TO SECOND")).unwrap(),
            "3 00:00:00"
        );
        assert!(interval_key("-1 00:00:00", &ty("INTERVAL DAY TO SECOND")).unwrap() < 0);
        assert_eq!(units("3", &ty("INTERVAL HOUR(9) TO HOUR")).unwrap(), "3");
    }

    #[test]
    fn dates_count() {
        assert_eq!(add_days("2026-12-31", 1).unwrap(), "2027-01-01");
        assert_eq!(days_between("2026-03-01", "2026-02-01").unwrap(), 28);
        assert_eq!(mdy(2, 29, 2028).unwrap(), "2028-02-29");
        assert_eq!(mdy(13, 1, 2026).unwrap_err().condition(), Condition::InvalidMonth);
    }
}
