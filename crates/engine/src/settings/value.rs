//! Values of settings: from the words of SET to the form that is kept, and back to what SHOW prints.

use rowferry_dialect::values::{DateOrder, DateStyle, zone};
use rowferry_dialect::{Condition, Error, Result};
use rowferry_encodings::Encoding;

use super::{Context, ExtraChecks, Form, Kind, Meaning, Setting, Unit};
use crate::session::variables::date_style;

/// Sizes in bytes, the greatest first.
const SIZES: [(&str, f64); 5] =
    [("TB", 1_099_511_627_776.0), ("GB", 1_073_741_824.0), ("MB", 1_048_576.0), ("kB", 1_024.0), ("B", 1.0)];

/// Times in microseconds, the greatest first.
const TIMES: [(&str, f64); 6] = [
    ("d", 86_400_000_000.0),
    ("h", 3_600_000_000.0),
    ("min", 60_000_000.0),
    ("s", 1_000_000.0),
    ("ms", 1_000.0),
    ("us", 1.0),
];

impl Unit {
    /// The units that a value may be given in, and how much of the smallest of them this one is.
    fn scale(self) -> Option<(&'static [(&'static str, f64)], f64)> {
        Some(match self {
            Self::None => return None,
            Self::Bytes => (&SIZES, 1.0),
            Self::Kilobytes => (&SIZES, 1_024.0),
            Self::Blocks => (&SIZES, 8_192.0),
            Self::Megabytes => (&SIZES, 1_048_576.0),
            Self::Milliseconds => (&TIMES, 1_000.0),
            Self::Seconds => (&TIMES, 1_000_000.0),
            Self::Minutes => (&TIMES, 60_000_000.0),
        })
    }

    /// Its word in `pg_settings`.
    pub fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::None => return None,
            Self::Bytes => "B",
            Self::Kilobytes => "kB",
            Self::Blocks => "8kB",
            Self::Megabytes => "MB",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Minutes => "min",
        })
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Milliseconds | Self::Seconds | Self::Minutes => {
                "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\"."
            }
            _ => "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".",
        }
    }
}

fn invalid(setting: &Setting, value: &str) -> Error {
    let message = format!("invalid value for parameter \"{}\": \"{value}\"", setting.name);
    Error::new(Condition::InvalidParameterValue, message)
}

fn not_boolean(setting: &Setting) -> Error {
    let message = format!("parameter \"{}\" requires a Boolean value", setting.name);
    Error::new(Condition::InvalidParameterValue, message)
}

fn out_of_range(setting: &Setting, value: f64, (least, greatest): (f64, f64), unit: Unit) -> Error {
    let unit = unit.word().map_or(String::new(), |word| format!(" {word}"));
    let shown = |number: f64| if matches!(setting.kind, Kind::Real(..)) { short(number) } else { number.to_string() };
    let (value, least, greatest) = (shown(value), shown(least), shown(greatest));
    let message =
        format!("{value}{unit} is outside the valid range for parameter \"{}\" ({least} .. {greatest})", setting.name);
    Error::new(Condition::InvalidParameterValue, message)
}

fn unsupported(setting: &Setting, value: &str) -> Error {
    Error::unsupported(format!("setting \"{}\" to \"{value}\"", setting.name))
}

/// Whether SET may change it at all.
///
/// # Errors
/// `55P02`, in the words that PostgreSQL has for each reason.
pub(crate) fn changeable(setting: &Setting) -> Result<()> {
    let reason = match setting.context {
        Context::User | Context::Superuser => return Ok(()),
        Context::Internal => "cannot be changed",
        Context::Restart => "cannot be changed without restarting the server",
        Context::Reload => "cannot be changed now",
        Context::Connection => "cannot be set after connection start",
    };
    Err(Error::new(Condition::CantChangeRuntimeParam, format!("parameter \"{}\" {reason}", setting.name)))
}

/// The value of SET in the form that is kept: numbers in the setting's unit, words of enumerations as they are listed.
///
/// # Errors
/// `22023` for what is no value of the setting, `0A000` for what is one but would have no effect here.
pub(crate) fn read(setting: &Setting, value: &str) -> Result<String> {
    let kept = parse(setting, value)?;
    let plain = || match setting.kind {
        Kind::Text(Form::Names) => value.trim().trim_matches('"'),
        _ => kept.as_str(),
    };
    match setting.meaning {
        Meaning::Effective | Meaning::Hint | Meaning::Vacuous => {}
        Meaning::Fixed if kept == setting.value => {}
        Meaning::Existing(those) | Meaning::Only(those) if those.contains(&plain()) => {}
        Meaning::Existing(_) => return Err(invalid(setting, value)),
        Meaning::Fixed | Meaning::Only(_) => return Err(unsupported(setting, value)),
    }
    Ok(kept)
}

fn parse(setting: &Setting, value: &str) -> Result<String> {
    Ok(match &setting.kind {
        Kind::Bool => if truth(value).ok_or_else(|| not_boolean(setting))? { "on" } else { "off" }.to_owned(),
        Kind::Enum(allowed) => member(setting, allowed, value)?.to_owned(),
        Kind::Integer(least, greatest, unit) => {
            let number = in_unit(setting, value, *unit)?.round_ties_even();
            if !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number) {
                return Err(invalid(setting, value).hint("Value exceeds integer range."));
            }
            let range = (f64::from(*least), f64::from(*greatest));
            within(setting, number, range, *unit)?;
            (number as i32).to_string()
        }
        Kind::Octal(least, greatest) => {
            let number = in_unit(setting, value, Unit::None)?.round_ties_even();
            within(setting, number, (f64::from(*least), f64::from(*greatest)), Unit::None)?;
            (number as i32).to_string()
        }
        Kind::Real(least, greatest, unit) => {
            let number = in_unit(setting, value, *unit)?;
            within(setting, number, (*least, *greatest), *unit)?;
            number.to_string()
        }
        Kind::Text(Form::Any | Form::Names) => value.to_owned(),
        Kind::Text(Form::DateStyle) => date_style_words(setting, value)?,
        Kind::Text(Form::Encoding) => encoding(setting, value)?.to_owned(),
        Kind::Text(Form::ExtraChecks) => {
            ExtraChecks::read(value).map_err(|detail| invalid(setting, value).detail(detail))?;
            value.to_owned()
        }
        Kind::Text(Form::TimeZone) => zone::for_session(value).ok_or_else(|| invalid(setting, value))?.1,
    })
}

fn within(setting: &Setting, number: f64, range: (f64, f64), unit: Unit) -> Result<()> {
    if (range.0..=range.1).contains(&number) { Ok(()) } else { Err(out_of_range(setting, number, range, unit)) }
}

/// A member of an enumeration; where `on` and `off` are, other words for them are, too.
fn member<'a>(setting: &Setting, allowed: &[&'a str], value: &str) -> Result<&'a str> {
    let named = |name: &str| allowed.iter().find(|member| member.eq_ignore_ascii_case(name)).copied();
    let switch = || match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => named("on"),
        "false" | "no" | "0" => named("off"),
        "debug" => named("debug2"),
        // PostgreSQL takes it for client_min_messages without listing it.
        "info" => named("notice"),
        _ => None,
    };
    named(value).or_else(switch).ok_or_else(|| {
        let listed: Vec<&str> = allowed.iter().copied().filter(|member| !member.is_empty()).collect();
        invalid(setting, value).hint(format!("Available values: {}.", listed.join(", ")))
    })
}

/// A number with a unit, in the setting's; what C's `strtol` and `strtod` read.
fn in_unit(setting: &Setting, value: &str, unit: Unit) -> Result<f64> {
    let (number, rest) = number(value).ok_or_else(|| invalid(setting, value))?;
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok(number);
    }
    let (units, own) = unit.scale().ok_or_else(|| invalid(setting, value))?;
    let given = units.iter().find(|(name, _)| *name == rest);
    let (_, given) = given.ok_or_else(|| invalid(setting, value).hint(unit.hint()))?;
    Ok(number * given / own)
}

/// The number that a text begins with, and what comes behind it.
fn number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let number = u64::from_str_radix(&digits[..end], 16).ok()?;
        return Some((sign * number as f64, &digits[end..]));
    }
    let end = decimal_end(unsigned);
    let digits = &unsigned[..end];
    let octal = digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    let number: f64 = if octal { u64::from_str_radix(digits, 8).ok()? as f64 } else { digits.parse().ok()? };
    number.is_finite().then_some((sign * number, &unsigned[end..]))
}

/// Where the digits, the fraction and the exponent end.
fn decimal_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digits(signed) > signed {
            end = digits(signed);
        }
    }
    end
}

fn date_style_words(setting: &Setting, value: &str) -> Result<String> {
    let (style, order) = date_style(value).ok_or_else(|| {
        let known = |word: &&str| date_style(word).is_none();
        let word = value.split(',').map(str::trim).find(known).unwrap_or(value);
        invalid(setting, value).detail(format!("Unrecognized key word: \"{}\".", word.to_ascii_lowercase()))
    })?;
    let style = match style {
        DateStyle::German => "German",
        DateStyle::Iso => "ISO",
        DateStyle::Postgres => "Postgres",
        DateStyle::Sql => "SQL",
    };
    let order = match order {
        DateOrder::Dmy => "DMY",
        DateOrder::Mdy => "MDY",
        DateOrder::Ymd => "YMD",
    };
    Ok(format!("{style}, {order}"))
}

fn encoding(setting: &Setting, value: &str) -> Result<&'static str> {
    let encoding = Encoding::find(value).ok_or_else(|| invalid(setting, value))?;
    if !encoding.converts() {
        let message = format!("invalid value for parameter \"{}\": \"{value}\"", setting.name);
        let detail = format!("Conversion between {} and UTF8 is not supported.", encoding.name());
        return Err(Error::new(Condition::FeatureNotSupported, message).detail(detail));
    }
    Ok(encoding.name())
}

/// A kept value as SHOW prints it.
pub(crate) fn show(setting: &Setting, kept: &str) -> String {
    match setting.kind {
        Kind::Integer(_, _, unit) | Kind::Real(_, _, unit) => match (kept.parse::<f64>(), unit.scale()) {
            (Ok(number), Some((units, own))) if number > 0.0 => with_unit(number * own, units),
            (Ok(number), _) if matches!(setting.kind, Kind::Real(..)) && setting.name != "seed" => short(number),
            _ if setting.name == "seed" => "unavailable".to_owned(),
            _ => kept.to_owned(),
        },
        Kind::Octal(..) => kept.parse::<u32>().map_or_else(|_| kept.to_owned(), |mode| format!("{mode:04o}")),
        Kind::Text(_) if setting.name == "archive_command" && kept.is_empty() => "(disabled)".to_owned(),
        Kind::Bool | Kind::Enum(_) | Kind::Text(_) => kept.to_owned(),
    }
}

/// With the greatest unit that leaves no fraction.
fn with_unit(amount: f64, units: &[(&str, f64)]) -> String {
    let whole = |size: f64| (amount / size - (amount / size).round()).abs() < 1e-8 && amount / size > 0.5;
    let (name, size) = units.iter().find(|(_, size)| whole(*size)).unwrap_or(&units[units.len() - 1]);
    format!("{}{name}", amount / size)
}

/// C's `%g`.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = value.abs().log10().floor() as i32;
    if (-4..6).contains(&exponent) {
        let text = format!("{value:.*}", usize::try_from(5 - exponent).unwrap_or(0));
        let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return trimmed.to_owned();
    }
    let text = format!("{value:.5e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// A boolean in any of its words, or the beginning of one.
pub(crate) fn truth(value: &str) -> Option<bool> {
    let value = value.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']).to_ascii_lowercase();
    let is = |word: &str| word.starts_with(&value);
    match value.as_str() {
        "" | "o" => None,
        "1" => Some(true),
        "0" => Some(false),
        _ if is("on") || is("true") || is("yes") => Some(true),
        _ if is("off") || is("false") || is("no") => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::SETTINGS;
    use super::*;

    #[test]
    fn names_are_in_order_and_values_are_as_they_are_kept() {
        assert!(SETTINGS.is_sorted_by_key(|setting| setting.name.to_lowercase()));
        for setting in SETTINGS {
            assert!(std::ptr::eq(super::super::find(&setting.name.to_uppercase()).unwrap(), setting));
            // What tells that there is none of something need not be one of the values.
            if setting.value.is_empty() || setting.name == "seed" {
                continue;
            }
            assert_eq!(read(setting, setting.value).as_deref(), Ok(setting.value), "{}", setting.name);
        }
    }

    #[test]
    fn reals_are_shown_with_six_digits() {
        for (value, shown) in
            [(0.0, "0"), (100_000.0, "100000"), (1e6, "1e+06"), (0.0025, "0.0025"), (f64::MAX, "1.79769e+308")]
        {
            assert_eq!(short(value), shown);
        }
    }

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        for (text, read) in [
            ("0x10 kB", Some((16.0, " kB"))),
            ("010", Some((8.0, ""))),
            ("1.5e2x", Some((150.0, "x"))),
            (" -7", Some((-7.0, ""))),
            ("", None),
            ("kB", None),
        ] {
            assert_eq!(number(text), read, "{text}");
        }
    }
}
