//! Values out of their texts, as PostgreSQL spells them. `None` is what is none.

use rowferry_wire::civil;

const MICROS: i64 = 1_000_000;
/// Microseconds of a day.
const DAY: i64 = 86_400 * MICROS;

/// `t`, `true`, `1`, and their opposites.
pub(super) fn boolean(text: &[u8]) -> Option<bool> {
    match text {
        b"t" | b"true" | b"1" => Some(true),
        b"f" | b"false" | b"0" => Some(false),
        _ => None,
    }
}

/// What Rust reads.
pub(super) fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// An exact number without its point: of at most `precision` digits, `scale` of them behind the point. Digits that the type has
/// no room for are none that may be left out, unless they are 0.
pub(super) fn decimal(text: &[u8], precision: u8, scale: i8) -> Option<i128> {
    let scale = usize::try_from(scale).ok()?;
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let point = digits.iter().position(|&byte| byte == b'.');
    let (whole, fraction) = match point {
        Some(at) => (&digits[..at], &digits[at + 1..]),
        None => (digits, &[][..]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let all_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let whole = &whole[whole.iter().position(|&byte| byte != b'0').unwrap_or(whole.len())..];
    let (fraction, beyond) = fraction.split_at(fraction.len().min(scale));
    let fits = whole.len() + scale <= usize::from(precision) && beyond.iter().all(|&byte| byte == b'0');
    if !fits || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let mut spelled = Vec::with_capacity(40);
    spelled.extend_from_slice(if negative { b"-0" } else { b"0" });
    spelled.extend_from_slice(whole);
    spelled.extend_from_slice(fraction);
    spelled.resize(spelled.len() + scale - fraction.len(), b'0');
    number(&spelled)
}

/// `\x` and hexadecimal digits.
pub(super) fn bytes(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(b"\\x")?;
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = digits.chunks(2).map(|pair| match *pair {
        [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

/// Days since 1970.
pub(super) fn date(text: &[u8]) -> Option<i64> {
    let (text, before_christ) = without_era(text);
    let (days, rest) = day(text, before_christ)?;
    rest.is_empty().then_some(days)
}

/// Microseconds since midnight, less than a day's.
pub(super) fn time(text: &[u8]) -> Option<i64> {
    let (micros, rest) = time_of_day(text)?;
    rest.is_empty().then_some(micros)
}

/// Microseconds since 1970, without a zone.
pub(super) fn timestamp(text: &[u8]) -> Option<i64> {
    let (micros, rest) = date_and_time(text)?;
    rest.is_empty().then_some(micros)
}

/// Microseconds since 1970 in UTC; the text says how far its zone is from there.
pub(super) fn moment(text: &[u8]) -> Option<i64> {
    let (micros, rest) = date_and_time(text)?;
    let (sign, offset) = match rest {
        b"Z" => return Some(micros),
        [b'+', offset @ ..] => (-1, offset),
        [b'-', offset @ ..] => (1, offset),
        _ => return None,
    };
    let (offset, rest) = time_of_day(offset)?;
    if rest.is_empty() { micros.checked_add(sign * offset) } else { None }
}

fn without_era(text: &[u8]) -> (&[u8], bool) {
    match text.strip_suffix(b" BC") {
        Some(text) => (text, true),
        None => (text, false),
    }
}

fn date_and_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let (text, before_christ) = without_era(text);
    let (days, rest) = day(text, before_christ)?;
    let rest = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix(b"T"))?;
    let (micros, rest) = time_of_day(rest)?;
    Some((days.checked_mul(DAY)?.checked_add(micros)?, rest))
}

/// Year, month and day.
fn day(text: &[u8], before_christ: bool) -> Option<(i64, &[u8])> {
    let (year, rest) = digits(text, 4, 7)?;
    let (month, rest) = digits(rest.strip_prefix(b"-")?, 2, 2)?;
    let (day, rest) = digits(rest.strip_prefix(b"-")?, 2, 2)?;
    if year == 0 {
        return None;
    }
    // The year before the year 1 is the year 0.
    let year = if before_christ { 1 - year } else { year };
    let days = civil::days_in_month(year, u8::try_from(month).ok()?);
    (1..=i64::from(days)).contains(&day).then(|| (civil::days_from_civil(year, month, day), rest))
}

/// Hours and, where they are told, minutes, seconds and their fraction.
fn time_of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (hours, mut rest) = digits(text, 2, 2)?;
    let mut seconds = hours * 3_600;
    let mut micros = 0;
    let mut minutes = 0;
    if let Some(behind) = rest.strip_prefix(b":") {
        (minutes, rest) = digits(behind, 2, 2)?;
        seconds += minutes * 60;
        if let Some(behind) = rest.strip_prefix(b":") {
            let (second, behind) = digits(behind, 2, 2)?;
            if second > 59 {
                return None;
            }
            (seconds, rest) = (seconds + second, behind);
            if let Some(behind) = rest.strip_prefix(b".") {
                (micros, rest) = fraction(behind)?;
            }
        }
    }
    (hours <= 23 && minutes <= 59).then_some((seconds * MICROS + micros, rest))
}

/// A fraction of a second, in microseconds.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(count);
    let (kept, beyond) = digits.split_at(count.min(6));
    if kept.is_empty() || beyond.iter().any(|&byte| byte != b'0') {
        return None;
    }
    let mut micros = 0;
    for at in 0..6 {
        micros = micros * 10 + i64::from(kept.get(at).map_or(0, |byte| byte - b'0'));
    }
    Some((micros, rest))
}

/// A number of at least and at most so many digits.
fn digits(text: &[u8], least: usize, most: usize) -> Option<(i64, &[u8])> {
    let count = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if count < least {
        return None;
    }
    let (digits, rest) = text.split_at(count);
    Some((digits.iter().fold(0, |number, byte| number * 10 + i64::from(byte - b'0')), rest))
}

/// Why a text is no array of one dimension.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NoList {
    /// It has arrays for elements.
    Dimensions,
    /// It is none at all.
    Malformed,
}

/// The elements of an array, of which `None` is NULL. Where its first is not numbered 1, the numbers are left out.
pub(super) fn list(text: &[u8]) -> Result<Vec<Option<Vec<u8>>>, NoList> {
    let text = match text {
        [b'[', ..] => {
            let at = text.iter().position(|&byte| byte == b'=').ok_or(NoList::Malformed)?;
            &text[at + 1..]
        }
        _ => text,
    };
    let inner = text.strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}")).ok_or(NoList::Malformed)?;
    let mut elements = Vec::new();
    let mut rest = inner;
    if rest.is_empty() {
        return Ok(elements);
    }
    loop {
        let (element, behind) = match rest {
            [b'"', quoted @ ..] => {
                let (element, behind) = unquoted(quoted).ok_or(NoList::Malformed)?;
                (Some(element), behind)
            }
            [b'{', ..] => return Err(NoList::Dimensions),
            _ => {
                let end = rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len());
                let (element, behind) = rest.split_at(end);
                (plain(element)?, behind)
            }
        };
        elements.push(element);
        match behind {
            [] => return Ok(elements),
            [b',', next @ ..] => rest = next,
            _ => return Err(NoList::Malformed),
        }
    }
}

/// An element without quotes.
fn plain(element: &[u8]) -> Result<Option<Vec<u8>>, NoList> {
    match element {
        [] => Err(NoList::Malformed),
        null if null.eq_ignore_ascii_case(b"NULL") => Ok(None),
        _ if element.iter().any(|byte| b"{}\"\\".contains(byte)) => Err(NoList::Malformed),
        _ => Ok(Some(element.to_vec())),
    }
}

/// What stands before the closing quote, and behind it.
fn unquoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut element = Vec::new();
    let mut rest = text;
    loop {
        match rest {
            [b'\\', byte, behind @ ..] => {
                element.push(*byte);
                rest = behind;
            }
            [b'"', behind @ ..] => return Some((element, behind)),
            [byte, behind @ ..] => {
                element.push(*byte);
                rest = behind;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_fit_or_are_refused() {
        let number = |text: &str, precision, scale| decimal(text.as_bytes(), precision, scale);
        for (text, unscaled) in [("12.50", 1250), ("-0.01", -1), ("7", 700), ("0", 0), (".5", 50), ("1.230", 123)] {
            assert_eq!(number(text, 5, 2), Some(unscaled), "{text}");
        }
        for text in ["1000", "1.234", "NaN", "Infinity", "", "-", ".", "1e3", "1.2.3", "0x1"] {
            assert_eq!(number(text, 5, 2), None, "{text}");
        }
        assert_eq!(number("0.00012", 5, 5), Some(12));
        let longest = "9".repeat(38);
        assert_eq!(number(&longest, 38, 0).unwrap().to_string(), longest);
        assert_eq!(number(&format!("-{longest}"), 38, 0).unwrap().to_string(), format!("-{longest}"));
    }

    #[test]
    fn days_and_moments_are_counted_from_1970() {
        assert_eq!(date(b"1970-01-02"), Some(1));
        assert_eq!(date(b"0001-12-31 BC"), date(b"0001-01-01").map(|day| day - 1));
        assert_eq!(date(b"5874897-12-31"), Some(2_145_042_905));
        for text in ["infinity", "2023-02-29", "0000-01-01", "2024-13-01", "2024-01-00", "24-01-01", "2024-01-01x"] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
        assert_eq!(time(b"00:00:01.5"), Some(1_500_000));
        assert_eq!(time(b"23:59"), Some(86_340 * MICROS));
        assert_eq!(time(b"24:00:00"), None);
        assert_eq!(time(b"10:00:00.1234567"), None);
        assert_eq!(timestamp(b"1970-01-02 00:00:00.000001"), Some(DAY + 1));
        assert_eq!(timestamp(b"1969-12-31 23:59:59.999999"), Some(-1));
        assert_eq!(moment(b"1970-01-01 01:00:00+01"), Some(0));
        assert_eq!(moment(b"1969-12-31 18:30:00-05:30"), Some(0));
        assert_eq!(moment(b"1970-01-01 00:19:32+00:19:32"), Some(0));
        assert_eq!(moment(b"1970-01-01 00:00:00"), None);
        assert_eq!(timestamp(b"294277-01-01 00:00:00"), None);
        assert_eq!(timestamp(b"-infinity"), None);
    }

    #[test]
    fn arrays_have_one_dimension() {
        let read = |text: &str| {
            let elements = list(text.as_bytes())?;
            let shown = |element: Option<Vec<u8>>| element.map_or("-".into(), |text| String::from_utf8(text).unwrap());
            Ok(elements.into_iter().map(shown).collect::<Vec<_>>())
        };
        assert_eq!(read("{}"), Ok(vec![]));
        assert_eq!(read("{1,NULL,3}"), Ok(vec!["1".into(), "-".into(), "3".into()]));
        assert_eq!(
            read(r#"{"a,\"b\\",x y,"NULL",""}"#),
            Ok(vec!["a,\"b\\".into(), "x y".into(), "NULL".into(), "".into()])
        );
        assert_eq!(read("[0:1]={4,5}"), Ok(vec!["4".into(), "5".into()]));
        assert_eq!(read("{{1,2},{3,4}}"), Err(NoList::Dimensions));
        for text in ["", "{", "{1,}", "{1}x", "{\"a}", "{\"a\"b}"] {
            assert_eq!(read(text), Err(NoList::Malformed), "{text}");
        }
    }

    #[test]
    fn bytes_are_hexadecimal() {
        assert_eq!(bytes(b"\\x00fF"), Some(vec![0, 255]));
        assert_eq!(bytes(b"\\x"), Some(vec![]));
        assert_eq!(bytes(b"\\x0"), None);
        assert_eq!(bytes(b"00"), None);
        assert_eq!(bytes(b"\\x0g"), None);
    }
}
