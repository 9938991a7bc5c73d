//! `boolean`.

use super::{datetime_fields, invalid_syntax};
use crate::Result;

/// Reads `true`, `yes`, `on`, `1` and their opposites, any unique prefix of them, in any case, blanks around ignored.
pub fn parse(text: &str) -> Result<bool> {
    let word = datetime_fields::trim(text).to_ascii_lowercase();
    let prefix_of = |full: &str, at_least: usize| word.len() >= at_least && full.starts_with(&word);
    if word == "1" || prefix_of("true", 1) || prefix_of("yes", 1) || word == "on" {
        Ok(true)
    } else if word == "0" || prefix_of("false", 1) || prefix_of("no", 1) || prefix_of("off", 2) {
        Ok(false)
    } else {
        Err(invalid_syntax("boolean", text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_words_and_prefixes() {
        for text in ["t", " TRUE ", "\u{b}y\u{c}", "ye", "on", "1"] {
            assert!(parse(text).unwrap(), "{text}");
        }
        for text in ["f", "fal", "n", "no", "of", "off", "0"] {
            assert!(!parse(text).unwrap(), "{text}");
        }
        for text in ["", "o", "2", "truex", "maybe", "\u{a0}t", "\u{85}t"] {
            assert_eq!(parse(text).unwrap_err().condition().sqlstate(), "22P02", "{text}");
        }
    }
}
