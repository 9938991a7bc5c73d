//! `money`: cents in 64 bits, in the C locale's form.

use super::{Casts, Modifiers, Order, Scalar, fixed, stored_integer};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::{Decimal, datetime_fields::trim, invalid_syntax};
use crate::{Condition, Error, Result};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&MONEY];

/// An amount of money; stored as its cents.
pub static MONEY: Scalar = Scalar {
    name: "money",
    words: "money",
    oid: 790,
    delimiter: ',',
    storage: Storage::Integer,
    order: Order::Stored,
    modifiers: Modifiers::None,
    casts: Casts {
        from: |value, from, _| match value {
            Value::Integer(number) if from.is_integer() => Some(match number.checked_mul(100) {
                Some(cents) => Ok(Value::Integer(cents)),
                None => Err(Error::new(Condition::NumericValueOutOfRange, "bigint out of range")),
            }),
            _ => None,
        },
        into: |value, to| match value {
            Value::Integer(cents) if to.is_decimal() => {
                Some(to_decimal(*cents).constrained(to).map(|amount| Value::Text(amount.to_string())))
            }
            _ => None,
        },
    },
    input: |text, _| Ok(Value::Integer(parse(text)?)),
    output: |out, value, _| {
        out.extend_from_slice(print(stored_integer(value)?).as_bytes());
        Ok(())
    },
    receive: |bytes| Ok(Value::Integer(i64::from_be_bytes(fixed(bytes, "money")?))),
    send: |out, value| {
        out.extend_from_slice(&stored_integer(value)?.to_be_bytes());
        Ok(())
    },
};

/// Cents of a text: a sign or parentheses, a dollar sign, digits with commas among them, a point; further digits round.
fn parse(text: &str) -> Result<i64> {
    let invalid = || invalid_syntax("money", text);
    let out_of_range =
        || Error::new(Condition::NumericValueOutOfRange, format!("value \"{text}\" is out of range for type money"));
    let mut rest = trim(text);
    let mut negative = false;
    loop {
        rest = trim(rest);
        match rest.chars().next() {
            Some('-' | '(') => negative = true,
            Some('+' | '$') => {}
            _ => break,
        }
        rest = &rest[1..];
    }
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(rest.len());
    let (whole, mut rest) = rest.split_at(end);
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        (fraction, rest) = after.split_at(end);
    }
    // What may stand behind: the other parenthesis, a sign, the dollar.
    for c in rest.chars() {
        match c {
            ')' | '+' | '$' | ' ' | '\t' | '\n' | '\r' => {}
            '-' => negative = true,
            _ => return Err(invalid()),
        }
    }
    let mut cents: i128 = 0;
    for digit in whole.bytes().filter(u8::is_ascii_digit).chain(fraction.bytes().chain(*b"00").take(2)) {
        cents = cents * 10 + i128::from(digit - b'0');
        if cents > 1 << 70 {
            return Err(out_of_range());
        }
    }
    if fraction.as_bytes().get(2).is_some_and(|digit| *digit >= b'5') {
        cents += 1;
    }
    i64::try_from(if negative { -cents } else { cents }).map_err(|_| out_of_range())
}

fn to_decimal(cents: i64) -> Decimal {
    let sign = if cents < 0 { "-" } else { "" };
    let amount = cents.unsigned_abs();
    Decimal::parse(&format!("{sign}{}.{:02}", amount / 100, amount % 100)).expect("digits are a decimal")
}

fn print(cents: i64) -> String {
    let amount = cents.unsigned_abs();
    let whole = (amount / 100).to_string();
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{}${grouped}.{:02}", if cents < 0 { "-" } else { "" }, amount % 100)
}

#[cfg(test)]
mod tests {
    use super::super::round_trip::{ascends, check, refuses};
    use super::*;

    #[test]
    fn money_is_read_and_printed_as_postgresql_does() {
        check(
            &MONEY,
            &[
                ("12.345", "$12.35"),
                ("(1.5)", "-$1.50"),
                ("$1,234,567.89", "$1,234,567.89"),
                ("-1", "-$1.00"),
                ("$ 1.2", "$1.20"),
                ("1.999", "$2.00"),
                ("", "$0.00"),
                ("+5", "$5.00"),
                ("-92233720368547758.08", "-$92,233,720,368,547,758.08"),
            ],
        );
        refuses(&MONEY, &[("abc", "invalid input syntax for type money: \"abc\"")]);
        refuses(&MONEY, &[("92233720368547758.08", "value \"92233720368547758.08\" is out of range for type money")]);
        ascends(&MONEY, &["-1", "0", "0.01", "2", "10"]);
    }
}
