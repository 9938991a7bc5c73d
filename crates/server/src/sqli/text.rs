//! The client's code set: what CLIENT_LOCALE says.

use std::borrow::Cow;

use rowferry_engine::{Condition, Error};

/// How a client writes text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CodeSet {
    /// ISO 8859-1, what clients have unless they say otherwise.
    Latin1,
    /// UTF-8.
    Utf8,
}

impl CodeSet {
    /// The code set of a locale such as `en_US.8859-1`, `en_US.utf8`, `en_US.57372`.
    pub fn of_locale(locale: &str) -> Self {
        let code_set = locale.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        if matches!(code_set.as_str(), "utf8" | "utf-8" | "57372" | "utf16") { Self::Utf8 } else { Self::Latin1 }
    }

    /// Text from the client.
    pub fn decode(self, bytes: &[u8]) -> Result<String, Error> {
        match self {
            Self::Latin1 => Ok(bytes.iter().map(|&byte| char::from(byte)).collect()),
            Self::Utf8 => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.to_owned()),
                Err(_) => Err(Error::new(Condition::CharacterNotInRepertoire, "text is not valid UTF-8")),
            },
        }
    }

    /// A statement's text. informix-driver writes ISO 8859-1 whatever its locale, which is read when it is no UTF-8.
    pub fn decode_sql(self, bytes: &[u8]) -> String {
        match (self, std::str::from_utf8(bytes)) {
            (Self::Utf8, Ok(text)) => text.to_owned(),
            _ => bytes.iter().map(|&byte| char::from(byte)).collect(),
        }
    }

    /// Stored text, which is UTF-8, for the client.
    pub fn encode<'a>(self, stored: &'a [u8]) -> Result<Cow<'a, [u8]>, Error> {
        if self == Self::Utf8 || stored.is_ascii() {
            return Ok(Cow::Borrowed(stored));
        }
        // Text that is no UTF-8 was written by somebody else; its bytes are all that is known.
        let Ok(text) = std::str::from_utf8(stored) else { return Ok(Cow::Borrowed(stored)) };
        let mut bytes = Vec::with_capacity(text.len());
        for c in text.chars() {
            bytes.push(u8::try_from(u32::from(c)).map_err(|_| {
                Error::new(
                    Condition::UntranslatableCharacter,
                    format!("character {c:?} has no place in the client's code set; set CLIENT_LOCALE=en_US.utf8"),
                )
            })?);
        }
        Ok(Cow::Owned(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_both_ways() {
        assert_eq!(CodeSet::of_locale("en_US.8859-1"), CodeSet::Latin1);
        assert_eq!(CodeSet::of_locale("en_US.utf8"), CodeSet::Utf8);
        assert_eq!(CodeSet::of_locale("en_US.57372"), CodeSet::Utf8);
        assert_eq!(CodeSet::Latin1.decode(b"\xe9").unwrap(), "é");
        assert_eq!(CodeSet::Latin1.encode("é".as_bytes()).unwrap(), &b"\xe9"[..]);
        assert!(CodeSet::Latin1.encode("你".as_bytes()).is_err());
        assert!(CodeSet::Utf8.decode(b"\xff").is_err());
        assert_eq!(CodeSet::Utf8.decode_sql(b"'\xe9'"), "'é'");
    }
}
