//! Values: the one text that each has, whether it fits, and what it adds to a checksum.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use super::model::Type;
use super::row::Row;

/// Why a value cannot be copied, in words that end a sentence.
pub(super) type Misfit = String;

/// The one text of a value, from that of any kind of server.
pub(super) fn canonical<'a>(ty: &Type, value: &'a [u8]) -> Result<Cow<'a, [u8]>, Misfit> {
    let borrowed = Ok(Cow::Borrowed(value));
    match ty {
        Type::Bool => match value {
            b"t" | b"true" | b"1" => Ok(Cow::Borrowed(b"t")),
            b"f" | b"false" | b"0" => Ok(Cow::Borrowed(b"f")),
            _ => Err("is neither true nor false".into()),
        },
        Type::Float8 => float(value, |text| text.parse::<f64>().ok().map(|number| format!("{number:e}"))),
        // Also where a server writes the digits of a double.
        Type::Float4 => float(value, |text| text.parse::<f32>().ok().map(|number| format!("{number:e}"))),
        Type::Char(_) => {
            let end = value.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            Ok(Cow::Borrowed(&value[..end]))
        }
        Type::Time(_) | Type::Timestamp(_) => Ok(Cow::Borrowed(without_zeros(value))),
        Type::TimestampTz(_) => {
            if value.ends_with(b"infinity") || value.ends_with(b"BC") {
                return borrowed;
            }
            let mut moment = without_zeros(value.strip_suffix(b"+00").unwrap_or(value)).to_vec();
            moment.extend_from_slice(b"+00");
            Ok(Cow::Owned(moment))
        }
        Type::Uuid if value.iter().any(u8::is_ascii_uppercase) => Ok(Cow::Owned(value.to_ascii_lowercase())),
        _ => borrowed,
    }
}

fn float(value: &[u8], read: impl Fn(&str) -> Option<String>) -> Result<Cow<'_, [u8]>, Misfit> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let number = read(text).ok_or("is no number")?;
    Ok(Cow::Owned(match number.as_str() {
        "inf" => b"Infinity".to_vec(),
        "-inf" => b"-Infinity".to_vec(),
        _ => number.into_bytes(),
    }))
}

/// A time without zeros at the end of its fraction.
fn without_zeros(value: &[u8]) -> &[u8] {
    if !value.contains(&b'.') {
        return value;
    }
    let end = value.iter().rposition(|&byte| byte != b'0').map_or(0, |last| last + 1);
    let value = &value[..end];
    value.strip_suffix(b".").unwrap_or(value)
}

/// What a column takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fit {
    /// The least and the greatest whole number.
    pub whole: Option<(i128, i128)>,
    /// Digits before and behind the point.
    pub digits: Option<(u32, u32)>,
    /// Digits in all, wherever the point stands.
    pub significant: Option<u32>,
    pub characters: Option<usize>,
    pub bytes: Option<usize>,
    /// Digits of fractions of a second.
    pub fraction: Option<u8>,
    /// From the year 1 to 9999.
    pub years: bool,
    /// No NaN, no infinity.
    pub finite: bool,
    /// Not the number 0, in whose place a serial column makes one of its own.
    pub not_zero: bool,
    /// Text has no NUL.
    pub no_nul: bool,
}

impl Fit {
    /// The value as it can be stored: as it is, or with `lossy` without what is too long or too precise.
    pub(super) fn fit<'a>(&self, ty: &Type, value: &'a [u8], lossy: bool) -> Result<Cow<'a, [u8]>, Misfit> {
        let kept = Ok(Cow::Borrowed(value));
        match ty {
            Type::Int(_) | Type::Decimal(_) => self.number(value, lossy),
            Type::Float4 | Type::Float8 if self.finite && !value.last().is_some_and(u8::is_ascii_digit) => {
                Err("is no finite number".into())
            }
            Type::Date if self.years => year_is_plain(value).and(kept),
            Type::Time(_) if self.years && !is_time_of_day(value) => Err("is no time of a day".into()),
            Type::Time(_) | Type::Timestamp(_) | Type::TimestampTz(_) => {
                if self.years && !matches!(ty, Type::Time(_)) {
                    year_is_plain(value)?;
                }
                self.moment(value, lossy)
            }
            Type::Char(_) | Type::VarChar(_) | Type::Text | Type::Json | Type::Own | Type::Uuid => {
                self.text(value, lossy)
            }
            Type::Bytes if self.bytes.is_some_and(|most| value.len() > most) => {
                Err(format!("has {} bytes, more than {}", value.len(), self.bytes.unwrap_or(0)))
            }
            _ => kept,
        }
    }

    fn number<'a>(&self, value: &'a [u8], lossy: bool) -> Result<Cow<'a, [u8]>, Misfit> {
        let text = std::str::from_utf8(value).unwrap_or_default();
        if !text.ends_with(|last: char| last.is_ascii_digit()) {
            return if self.finite { Err("is no finite number".into()) } else { Ok(Cow::Borrowed(value)) };
        }
        if self.not_zero && text.trim_matches(['0', '.', '-']).is_empty() {
            return Err("is 0, in whose place a serial column makes a number of its own".into());
        }
        if let Some((least, greatest)) = self.whole {
            let number: i128 = text.parse().map_err(|_| "is no whole number")?;
            if number < least || number > greatest {
                return Err(format!("is not between {least} and {greatest}"));
            }
        }
        if self.digits.is_none() && self.significant.is_none() {
            return Ok(Cow::Borrowed(value));
        }
        let plain = plain_decimal(text).ok_or("is no number")?;
        let unsigned = plain.strip_prefix('-').unwrap_or(&plain);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let whole = if whole == "0" { "" } else { whole };
        if let Some((before, behind)) = self.digits {
            if whole.len() > before as usize {
                return Err(format!("has {} digits before the point, more than {before}", whole.len()));
            }
            if fraction.len() > behind as usize {
                if !lossy {
                    return Err(format!("has {} digits behind the point, more than {behind}", fraction.len()));
                }
                let cut = plain.len() - (fraction.len() - behind as usize);
                return Ok(Cow::Owned(plain[..cut].trim_end_matches('.').as_bytes().to_vec()));
            }
        }
        if let Some(most) = self.significant {
            let digits = format!("{whole}{fraction}");
            let count = digits.trim_start_matches('0').trim_end_matches('0').len();
            if count > most as usize {
                if !lossy || fraction.len() < count - most as usize {
                    return Err(format!("has {count} digits, more than {most}"));
                }
                let cut = plain.len() - (count - most as usize);
                return Ok(Cow::Owned(plain[..cut].trim_end_matches('.').as_bytes().to_vec()));
            }
        }
        Ok(Cow::Borrowed(value))
    }

    fn moment<'a>(&self, value: &'a [u8], lossy: bool) -> Result<Cow<'a, [u8]>, Misfit> {
        let (Some(most), Some(point)) = (self.fraction, value.iter().position(|&byte| byte == b'.')) else {
            return Ok(Cow::Borrowed(value));
        };
        let digits = value[point + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits <= usize::from(most) {
            return Ok(Cow::Borrowed(value));
        }
        if !lossy {
            return Err(format!("has {digits} digits of fractions of a second, more than {most}"));
        }
        let mut cut = value[..point + 1 + usize::from(most)].to_vec();
        cut.truncate(without_zeros(&cut).len());
        cut.extend_from_slice(&value[point + 1 + digits..]);
        Ok(Cow::Owned(cut))
    }

    fn text<'a>(&self, value: &'a [u8], lossy: bool) -> Result<Cow<'a, [u8]>, Misfit> {
        if self.no_nul && value.contains(&0) {
            return Err("has a NUL in its text".into());
        }
        let text = std::str::from_utf8(value).map_err(|_| "is no UTF-8")?;
        let longest = match (self.bytes, self.characters) {
            (Some(most), _) if value.len() > most => {
                if !lossy {
                    return Err(format!("has {} bytes, more than {most}", value.len()));
                }
                (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
            }
            (_, Some(most)) if value.len() > most => match text.char_indices().nth(most) {
                None => return Ok(Cow::Borrowed(value)),
                Some(_) if !lossy => {
                    return Err(format!("has {} characters, more than {most}", text.chars().count()));
                }
                Some((at, _)) => at,
            },
            _ => return Ok(Cow::Borrowed(value)),
        };
        Ok(Cow::Borrowed(&value[..longest]))
    }
}

fn year_is_plain(value: &[u8]) -> Result<(), Misfit> {
    let plain = value.len() >= 10 && value[4] == b'-' && !value.starts_with(b"0000") && !value.ends_with(b"BC");
    if plain { Ok(()) } else { Err("is no day of the years 1 to 9999".into()) }
}

fn is_time_of_day(value: &[u8]) -> bool {
    value.len() >= 8 && value[2] == b':' && value[..2] < b"24"[..]
}

/// A number without an exponent and without zeros that say nothing.
pub(super) fn plain_decimal(text: &str) -> Option<String> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok().filter(|e| e.abs() < 100_000)?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let point = i64::try_from(whole.len()).ok()? + exponent;
    let (mut whole, mut fraction) = if point <= 0 {
        (String::new(), format!("{}{digits}", "0".repeat(usize::try_from(-point).ok()?)))
    } else if point >= i64::try_from(digits.len()).ok()? {
        let zeros = usize::try_from(point).ok()? - digits.len();
        (format!("{digits}{}", "0".repeat(zeros)), String::new())
    } else {
        let (whole, fraction) = digits.split_at(usize::try_from(point).ok()?);
        (whole.to_owned(), fraction.to_owned())
    };
    whole = whole.trim_start_matches('0').to_owned();
    fraction.truncate(fraction.trim_end_matches('0').len());
    if whole.is_empty() {
        whole.push('0');
    }
    let zero = whole == "0" && fraction.is_empty();
    let sign = if negative && !zero { "-" } else { "" };
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

/// What a row adds to its table's checksum, whichever server it was read from.
pub(super) fn hash(types: &[Type], row: &Row) -> u128 {
    let mut digest = Sha256::new();
    for (ty, value) in types.iter().zip(row.iter()) {
        let Some(value) = value else {
            digest.update([0]);
            continue;
        };
        let value = meaning(ty, value);
        digest.update([1]);
        digest.update((value.len() as u64).to_le_bytes());
        digest.update(&value);
    }
    let bytes: [u8; 32] = digest.finalize().into();
    u128::from_le_bytes(bytes[..16].try_into().expect("half of it"))
}

/// Equal for values that are equal.
fn meaning<'a>(ty: &Type, value: &'a [u8]) -> Cow<'a, [u8]> {
    let text = || std::str::from_utf8(value).ok();
    match ty {
        Type::Decimal(_) => text().and_then(plain_decimal).map_or(value.into(), |plain| plain.into_bytes().into()),
        Type::Json => match serde_json::from_slice::<serde_json::Value>(value) {
            Ok(document) => {
                let mut out = String::new();
                in_order(&document, &mut out);
                out.into_bytes().into()
            }
            Err(_) => value.into(),
        },
        // The sign of zero is lost by arithmetic that some servers need to show all digits.
        Type::Float4 | Type::Float8 if value == b"-0e0" => b"0e0"[..].into(),
        _ => value.into(),
    }
}

/// JSON with its keys in order, its numbers plain, and no blanks.
fn in_order(value: &serde_json::Value, out: &mut String) {
    use serde_json::Value;
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                in_order(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, value) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                in_order(value, out);
            }
            out.push(']');
        }
        Value::Number(number) => {
            let number = number.to_string();
            out.push_str(&plain_decimal(&number).unwrap_or(number));
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Cow<'_, [u8]>) -> String {
        String::from_utf8(value.into_owned()).unwrap()
    }

    #[test]
    fn numbers_have_one_text() {
        for (text, plain) in [
            ("12.50", "12.5"),
            ("-0.00", "0"),
            ("007", "7"),
            ("1e3", "1000"),
            ("1.25E-3", "0.00125"),
            ("-12e-1", "-1.2"),
            ("100", "100"),
        ] {
            assert_eq!(plain_decimal(text).as_deref(), Some(plain), "{text}");
        }
        assert_eq!(plain_decimal("NaN"), None);
    }

    #[test]
    fn moments_have_one_text() {
        let moment = |value: &str| text(canonical(&Type::TimestampTz(6), value.as_bytes()).unwrap());
        assert_eq!(moment("2024-01-02 03:04:05.500000"), "2024-01-02 03:04:05.5+00");
        assert_eq!(moment("2024-01-02 03:04:00+00"), "2024-01-02 03:04:00+00");
        assert_eq!(text(canonical(&Type::Time(6), b"10:00:00.000000").unwrap()), "10:00:00");
        assert_eq!(text(canonical(&Type::Float4, b"0.10000000149011612").unwrap()), "1e-1");
    }

    #[test]
    fn what_does_not_fit_is_refused_or_cut() {
        let fit = Fit { digits: Some((3, 2)), ..Fit::default() };
        let number = Type::Decimal(None);
        assert_eq!(text(fit.fit(&number, b"123.40", false).unwrap()), "123.40");
        assert!(fit.fit(&number, b"1234", true).is_err());
        assert!(fit.fit(&number, b"1.234", false).unwrap_err().contains("behind the point"));
        assert_eq!(text(fit.fit(&number, b"1.239", true).unwrap()), "1.23");
        let fit = Fit { bytes: Some(5), ..Fit::default() };
        assert_eq!(text(fit.fit(&Type::Text, "grüße".as_bytes(), true).unwrap()), "grü");
        let fit = Fit { characters: Some(5), ..Fit::default() };
        assert_eq!(text(fit.fit(&Type::Text, "grüße".as_bytes(), false).unwrap()), "grüße");
        let fit = Fit { fraction: Some(5), years: true, ..Fit::default() };
        let moment = Type::TimestampTz(6);
        assert_eq!(
            text(fit.fit(&moment, b"2024-01-02 00:00:00.123456+00", true).unwrap()),
            "2024-01-02 00:00:00.12345+00"
        );
        assert!(fit.fit(&moment, b"0044-03-15 00:00:00+00 BC", true).is_err());
        assert!(fit.fit(&moment, b"infinity", true).is_err());
    }

    #[test]
    fn documents_are_equal_whatever_their_form() {
        let hashed = |document: &str| {
            let mut row = Row::default();
            row.push(Some(document.as_bytes()));
            hash(&[Type::Json], &row)
        };
        assert_eq!(hashed(r#"{"b": [1.50, null], "a": "x"}"#), hashed(r#"{"a":"x","b":[1.5,null]}"#));
        assert_ne!(hashed("[1,2]"), hashed("[2,1]"));
    }
}
