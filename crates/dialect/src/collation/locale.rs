//! ICU's names of locales as language tags: `de@collation=phonebook` is `de-u-co-phonebk`.

use crate::{Condition, Error, Result};

/// The tag of what a user has written, with what it asks of the order behind `-u-`.
///
/// # Errors
/// What ICU would not open, and what is not there.
pub(super) fn tag(locale: &str) -> Result<String> {
    let (base, attributes) = locale.split_once('@').unwrap_or((locale, ""));
    // What stands behind a point is an encoding.
    let base = base.split('.').next().unwrap_or_default().replace('_', "-").to_ascii_lowercase();
    let (language, extension) = match base.split_once("-u-") {
        Some((language, extension)) => (language.to_owned(), extension.to_owned()),
        None => (base, String::new()),
    };
    let plain = |part: &str| !part.is_empty() && part.len() <= 8 && part.bytes().all(|b| b.is_ascii_alphanumeric());
    let language = if language.is_empty() || language == "root" { "und".to_owned() } else { language };
    if !language.split('-').all(plain) || matches!(language.split('-').next(), Some(first) if first.len() == 1) {
        return Err(Error::unsupported(format!("the locale \"{locale}\"")));
    }
    let mut keys = Vec::new();
    let mut parts = extension.split('-').filter(|part| !part.is_empty()).peekable();
    while let Some(key) = parts.next() {
        let mut value = Vec::new();
        while let Some(part) = parts.next_if(|part| part.len() > 2) {
            value.push(part);
        }
        let value = if value.is_empty() { "true".to_owned() } else { value.join("-") };
        known(locale, key, &value)?;
        keys.push((key.to_owned(), value));
    }
    for attribute in attributes.split(';').filter(|attribute| !attribute.is_empty()) {
        let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        keys.extend(keyword(locale, &name.to_ascii_lowercase(), &value.to_ascii_lowercase())?);
    }
    keys.sort();
    keys.dedup_by(|a, b| a.0 == b.0);
    let keys: String = keys.iter().map(|(key, value)| format!("-{key}-{value}")).collect();
    Ok(if keys.is_empty() { language } else { format!("{language}-u{keys}") })
}

fn not_opened(locale: &str) -> Error {
    let message = format!("could not open collator for locale \"{locale}\": U_ILLEGAL_ARGUMENT_ERROR");
    Error::new(Condition::InternalError, message)
}

/// An attribute in ICU's older way of writing; `None` for one that changes nothing.
fn keyword(locale: &str, name: &str, value: &str) -> Result<Option<(String, String)>> {
    let flag = || match value {
        "yes" => Ok("true"),
        "no" => Ok("false"),
        _ => Err(not_opened(locale)),
    };
    let (key, value) = match name {
        "collation" => match value {
            "phonebook" => ("co", "phonebk"),
            "traditional" => ("co", "trad"),
            "dictionary" => ("co", "dict"),
            other => ("co", other),
        },
        "colstrength" => match value {
            "primary" => ("ks", "level1"),
            "secondary" => ("ks", "level2"),
            "tertiary" => ("ks", "level3"),
            "quaternary" => ("ks", "level4"),
            "identical" => ("ks", "identic"),
            _ => return Err(not_opened(locale)),
        },
        "colcaselevel" => ("kc", flag()?),
        "colnumeric" => ("kn", flag()?),
        "colbackwards" => ("kb", flag()?),
        // Texts are always compared in normal form.
        "colnormalization" => return flag().map(|_| None),
        "colcasefirst" => match value {
            "upper" | "lower" => ("kf", value),
            "off" => ("kf", "false"),
            _ => return Err(not_opened(locale)),
        },
        "colalternate" => match value {
            "shifted" => ("ka", "shifted"),
            "non-ignorable" => ("ka", "noignore"),
            _ => return Err(not_opened(locale)),
        },
        other => return Err(Error::unsupported(format!("the attribute {other} of the locale \"{locale}\""))),
    };
    known(locale, key, value)?;
    Ok(Some((key.to_owned(), value.to_owned())))
}

/// Refuses what the orders here do not know.
fn known(locale: &str, key: &str, value: &str) -> Result<()> {
    let there = match key {
        "co" => !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric()) && (3..=8).contains(&value.len()),
        "ks" => matches!(value, "level1" | "level2" | "level3" | "level4"),
        "ka" => matches!(value, "shifted" | "noignore"),
        "kf" => matches!(value, "upper" | "lower" | "false"),
        "kc" | "kn" => matches!(value, "true" | "false"),
        "kb" => value == "false",
        _ => false,
    };
    let what = || Error::unsupported(format!("the attribute {key}-{value} of the locale \"{locale}\""));
    if there { Ok(()) } else { Err(what()) }
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn locales_of_icu_are_language_tags() {
        for (locale, wanted) in [
            ("", "und"),
            ("en_US.utf8", "en-us"),
            ("de@collation=phonebook", "de-u-co-phonebk"),
            ("@colStrength=primary;colCaseLevel=yes", "und-u-kc-true-ks-level1"),
            ("und-u-ks-level2", "und-u-ks-level2"),
            ("en-u-kn-kf-upper", "en-u-kf-upper-kn-true"),
            ("@colNumeric=yes", "und-u-kn-true"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(tag(locale).unwrap(), wanted, "{locale}");
        }
        assert_eq!(tag("@colNumeric=lower").unwrap_err().condition(), crate::Condition::InternalError);
        for locale in ["@colBackwards=yes", "und-u-ks-identic", "en US", "x-y"] {
            assert_eq!(tag(locale).unwrap_err().condition(), crate::Condition::FeatureNotSupported, "{locale}");
        }
    }
}
