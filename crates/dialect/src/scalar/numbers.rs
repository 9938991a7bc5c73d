//! Numbers of PostgreSQL's inside that programs store or ask for: `xid`, `xid8`, `cid`, `tid`, `pg_lsn`.

use std::cmp::Ordering;

use super::{Casts, Modifiers, Order, Scalar, as_stored, fixed, stored_integer, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::invalid_syntax;
use crate::{Condition, Error, Result};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&XID, &XID8, &CID, &TID, &PG_LSN];

const fn short(name: &'static str, oid: u32) -> Scalar {
    Scalar {
        name,
        words: name,
        oid,
        delimiter: ',',
        storage: Storage::Integer,
        order: Order::Unordered,
        modifiers: Modifiers::None,
        casts: Casts::TEXT,
        // As PostgreSQL reads them: what is no number is 0, and a number is cut to 32 bits.
        input: |text, _| Ok(Value::Integer(i64::from(leading_number(text) as u32))),
        output: |out, value, _| {
            out.extend_from_slice(stored_integer(value)?.to_string().as_bytes());
            Ok(())
        },
        receive: |bytes| Ok(Value::Integer(i64::from(u32::from_be_bytes(fixed(bytes, "xid")?)))),
        send: |out, value| {
            out.extend_from_slice(&(stored_integer(value)? as u32).to_be_bytes());
            Ok(())
        },
    }
}

/// A transaction's number.
pub static XID: Scalar = short("xid", 28);

/// A command's number in its transaction.
pub static CID: Scalar = short("cid", 29);

/// A transaction's number that is never used twice.
pub static XID8: Scalar = Scalar {
    name: "xid8",
    words: "xid8",
    oid: 5069,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::By { collation: "rf_xid8", of_arrays: "rf_array_xid8", compare: compare_xid8 },
    modifiers: Modifiers::None,
    casts: Casts::TEXT,
    input: |text, _| Ok(Value::Text(leading_number(text).to_string())),
    output: as_stored,
    receive: |bytes| Ok(Value::Text(u64::from_be_bytes(fixed(bytes, "xid8")?).to_string())),
    send: |out, value| {
        out.extend_from_slice(&leading_number(stored_text(value)?).to_be_bytes());
        Ok(())
    },
};

/// The place of a row: block and number.
pub static TID: Scalar = Scalar {
    name: "tid",
    words: "tid",
    oid: 27,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::By { collation: "rf_tid", of_arrays: "rf_array_tid", compare: compare_tid },
    modifiers: Modifiers::None,
    casts: Casts::TEXT,
    input: |text, _| {
        let (block, offset) = tid(text).ok_or_else(|| invalid_syntax("tid", text))?;
        Ok(Value::Text(format!("({block},{offset})")))
    },
    output: as_stored,
    receive: |bytes| {
        let [a, b, c, d, e, f] = fixed::<6>(bytes, "tid")?;
        let (block, offset) = (u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f]));
        Ok(Value::Text(format!("({block},{offset})")))
    },
    send: |out, value| {
        let text = stored_text(value)?;
        let (block, offset) = tid(text).ok_or_else(|| invalid_syntax("tid", text))?;
        out.extend_from_slice(&block.to_be_bytes());
        out.extend_from_slice(&offset.to_be_bytes());
        Ok(())
    },
};

/// A place in the log.
pub static PG_LSN: Scalar = Scalar {
    name: "pg_lsn",
    words: "pg_lsn",
    oid: 3220,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::By { collation: "rf_pg_lsn", of_arrays: "rf_array_pg_lsn", compare: compare_lsn },
    modifiers: Modifiers::None,
    casts: Casts::TEXT,
    input: |text, _| Ok(Value::Text(print_lsn(parse_lsn(text)?))),
    output: as_stored,
    receive: |bytes| Ok(Value::Text(print_lsn(u64::from_be_bytes(fixed(bytes, "pg_lsn")?)))),
    send: |out, value| {
        out.extend_from_slice(&parse_lsn(stored_text(value)?)?.to_be_bytes());
        Ok(())
    },
};

/// What C's `strtoul` makes of a text with any base: blanks and a sign in front, `0x` and `0` for other bases.
fn leading_number(text: &str) -> u64 {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (base, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None if digits.starts_with('0') => (8, digits),
        None => (10, digits),
    };
    let mut number: u64 = 0;
    for digit in digits.chars().map_while(|c| c.to_digit(base)) {
        let Some(next) = number.checked_mul(u64::from(base)).and_then(|n| n.checked_add(u64::from(digit))) else {
            return u64::MAX;
        };
        number = next;
    }
    if negative { number.wrapping_neg() } else { number }
}

fn compare_xid8(left: &str, right: &str) -> Ordering {
    leading_number(left).cmp(&leading_number(right))
}

fn tid(text: &str) -> Option<(u32, u16)> {
    // As PostgreSQL reads it: whatever stands before the first parenthesis or comma, and behind the last parenthesis.
    let (mut starts, mut found) = ([0; 2], 0);
    for (at, character) in text.char_indices() {
        if found == starts.len() || character == ')' {
            break;
        }
        if character == ',' || (character == '(' && found == 0) {
            starts[found] = at + 1;
            found += 1;
        }
    }
    if found < starts.len() {
        return None;
    }
    let (block, ends) = decimal_number(&text[starts[0]..])?;
    if !ends.starts_with(',') {
        return None;
    }
    let (offset, ends) = decimal_number(&text[starts[1]..])?;
    if !ends.starts_with(')') {
        return None;
    }
    // Below zero as C's conversion has it.
    let block = u32::try_from(block).or_else(|_| i32::try_from(block).map(i32::cast_unsigned)).ok()?;
    Some((block, u16::try_from(offset).ok()?))
}

/// The number that a text begins with, behind blanks, and what stands behind it.
fn decimal_number(text: &str) -> Option<(i64, &str)> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let end = text.len() - digits.len() + end;
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn compare_tid(left: &str, right: &str) -> Ordering {
    tid(left).cmp(&tid(right))
}

/// A place in the log from its text.
///
/// # Errors
/// `22P02`
pub fn parse_lsn(text: &str) -> Result<u64> {
    let invalid = || invalid_syntax("pg_lsn", text);
    let half = |part: &str| -> Result<u64> {
        let hex = (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hex { u64::from_str_radix(part, 16).map_err(|_| invalid()) } else { Err(invalid()) }
    };
    let (high, low) = text.split_once('/').ok_or_else(invalid)?;
    Ok(half(high)? << 32 | half(low)?)
}

/// The text of a place in the log.
pub fn print_lsn(place: u64) -> String {
    format!("{:X}/{:X}", place >> 32, place & 0xffff_ffff)
}

/// The error for a place that cannot be.
pub fn lsn_out_of_range() -> Error {
    Error::new(Condition::InvalidParameterValue, "pg_lsn out of range")
}

fn compare_lsn(left: &str, right: &str) -> Ordering {
    match (parse_lsn(left), parse_lsn(right)) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_trip::{ascends, check, refuses};
    use super::*;

    #[test]
    fn numbers_are_read_and_printed_as_postgresql_does() {
        check(
            &XID,
            &[("42", "42"), ("-1", "4294967295"), ("0x10", "16"), ("", "0"), ("010", "8"), ("4294967296", "0")],
        );
        check(&XID8, &[("18446744073709551615", "18446744073709551615"), ("-1", "18446744073709551615")]);
        check(&TID, &[("(1,2)", "(1,2)"), ("'( 1, 2)x'", "(1,2)"), ("(-1,0)", "(4294967295,0)")]);
        check(&PG_LSN, &[("16/b374d848", "16/B374D848"), ("0/0", "0/0")]);
        for text in ["(1,70000)", "(1 ,2)", "(4294967296,1)", "(1,-1)", "1", "(1,2"] {
            refuses(&TID, &[(text, &format!("invalid input syntax for type tid: \"{text}\""))]);
        }
        refuses(&PG_LSN, &[("123456789/0", "invalid input syntax for type pg_lsn: \"123456789/0\"")]);
        ascends(&XID8, &["9", "10", "18446744073709551615"]);
        ascends(&TID, &["(1,9)", "(1,10)", "(2,1)", "(10,0)"]);
        ascends(&PG_LSN, &["0/9", "0/10", "1/0", "10/0"]);
    }
}
