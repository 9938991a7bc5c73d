//! Money in cents, and places in the log.

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar::numbers::{lsn_out_of_range, parse_lsn, print_lsn};
use rowferry_dialect::values::Decimal;
use rowferry_dialect::{Condition, Error, Result};

use super::call::{integer, text};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_money_add", 2, |call| cents(call.integer(0)?.checked_add(call.integer(1)?))),
    Row::new("rf_money_sub", 2, |call| cents(call.integer(0)?.checked_sub(call.integer(1)?))),
    Row::new("rf_money_mul", 2, |call| cents(call.integer(0)?.checked_mul(call.integer(1)?))),
    Row::new("rf_money_mul_float", 2, |call| rounded(call.integer(0)? as f64 * call.float(1)?)),
    Row::new("rf_money_div", 2, |call| match call.integer(1)? {
        0 => Err(division_by_zero()),
        divisor => cents(call.integer(0)?.checked_div(divisor)),
    }),
    Row::new("rf_money_div_float", 2, |call| match call.float(1)? {
        0.0 => Err(division_by_zero()),
        divisor => rounded(call.integer(0)? as f64 / divisor),
    }),
    Row::new("rf_money_ratio", 2, |call| match call.integer(1)? {
        0 => Err(division_by_zero()),
        divisor => Ok(Value::Real(call.integer(0)? as f64 / divisor as f64)),
    }),
    Row::new("rf_money_words", 1, |call| text(words(call.integer(0)?))),
    Row::new("rf_lsn", 1, |call| match call.decimal(0)? {
        Decimal::NaN => Err(Error::new(Condition::FeatureNotSupported, "cannot convert NaN to pg_lsn")),
        number if number.finite().is_none() => {
            Err(Error::new(Condition::FeatureNotSupported, "cannot convert infinity to pg_lsn"))
        }
        number => place_of(&number),
    }),
    Row::new("rf_lsn_diff", 2, |call| {
        let distance = i128::from(parse_lsn(call.text(0)?)?) - i128::from(parse_lsn(call.text(1)?)?);
        text(distance.to_string())
    }),
    Row::new("rf_lsn_add", 2, |call| moved(call, 1)),
    Row::new("rf_lsn_sub", 2, |call| moved(call, -1)),
];

/// An amount in English words, as they are written on cheques.
fn words(cents: i64) -> String {
    let amount = cents.unsigned_abs();
    let mut out = if cents < 0 { "minus ".to_owned() } else { String::new() };
    let whole = amount / 100;
    const GROUPS: [(u64, &str); 5] = [
        (1_000_000_000_000_000, " quadrillion "),
        (1_000_000_000_000, " trillion "),
        (1_000_000_000, " billion "),
        (1_000_000, " million "),
        (1_000, " thousand "),
    ];
    for (size, name) in GROUPS {
        let group = whole / size % 1_000;
        if group > 0 {
            out.push_str(&below_thousand(group));
            out.push_str(name);
        }
    }
    let rest = whole % 1_000;
    if rest > 0 {
        out.push_str(&below_thousand(rest));
    } else if whole == 0 {
        out.push_str("zero");
    }
    out.push_str(if whole == 1 { " dollar and " } else { " dollars and " });
    out.push_str(&below_thousand(amount % 100));
    out.push_str(if amount % 100 == 1 { " cent" } else { " cents" });
    let mut letters = out.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn below_thousand(number: u64) -> String {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let (hundreds, rest) = ((number / 100 % 10) as usize, (number % 100) as usize);
    let tens = |rest: usize| match (rest / 10, rest % 10) {
        (0 | 1, _) => SMALL[rest].to_owned(),
        (tens, 0) => TENS[tens].to_owned(),
        (tens, one) => format!("{} {}", TENS[tens], SMALL[one]),
    };
    match (hundreds, rest) {
        (0, rest) => tens(rest),
        (hundreds, 0) => format!("{} hundred", SMALL[hundreds]),
        // Round tens and what is below twenty join by a word.
        (hundreds, rest) if rest % 10 == 0 && rest > 10 => format!("{} hundred {}", SMALL[hundreds], tens(rest)),
        (hundreds, rest) if rest < 20 => format!("{} hundred and {}", SMALL[hundreds], tens(rest)),
        (hundreds, rest) => format!("{} hundred {}", SMALL[hundreds], tens(rest)),
    }
}

fn division_by_zero() -> Error {
    Error::new(Condition::DivisionByZero, "division by zero")
}

fn cents(value: Option<i64>) -> Result<Value> {
    match value {
        Some(value) => integer(value),
        None => Err(Error::new(Condition::NumericValueOutOfRange, "money out of range")),
    }
}

fn rounded(value: f64) -> Result<Value> {
    let value = value.round_ties_even();
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    cents(fits.then_some(value as i64))
}

/// A place in the log, so many bytes on or back.
fn moved(call: &Call<'_>, direction: i128) -> Result<Value> {
    let place = Decimal::parse(&parse_lsn(call.text(0)?)?.to_string())?;
    let by: Decimal = call.decimal(1)?;
    if by == Decimal::NaN {
        let what = if direction < 0 { "subtract NaN from" } else { "add NaN to" };
        return Err(Error::new(Condition::FeatureNotSupported, format!("cannot {what} pg_lsn")));
    }
    if by.finite().is_none() {
        return Err(Error::new(Condition::FeatureNotSupported, "cannot convert infinity to pg_lsn"));
    }
    place_of(&if direction < 0 { place.sub(&by)? } else { place.add(&by)? })
}

/// The place in the log that is nearest to a number.
fn place_of(number: &Decimal) -> Result<Value> {
    match number.rounded(0).to_string().parse::<u64>() {
        Ok(place) => text(print_lsn(place)),
        Err(_) => Err(lsn_out_of_range()),
    }
}
