//! The client's code set: what CLIENT_LOCALE says.

use std::borrow::Cow;

use rowferry_engine::smart_objects::ClientText;
use rowferry_engine::{Condition, Error};
use rowferry_wire_sqli as wire;

/// How a client writes text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct CodeSet(wire::CodeSet);

impl CodeSet {
    /// UTF-8.
    #[cfg(test)]
    pub const UTF_8: Self = Self(wire::CodeSet::Utf8);

    /// ISO 8859-1.
    #[cfg(test)]
    pub const LATIN_1: Self = Self(wire::CodeSet::Latin1);

    /// The code set of a locale such as `en_US.8859-1`, `en_US.utf8`, `de_DE.8859-15`; `None` when it is not known.
    pub fn of_locale(locale: &str) -> Option<Self> {
        wire::CodeSet::of_locale(locale).map(Self)
    }

    /// A character may have several bytes.
    pub fn is_multibyte(self) -> bool {
        self.0 == wire::CodeSet::Utf8
    }

    /// Text from the client.
    pub fn decode(self, bytes: &[u8]) -> Result<String, Error> {
        let mut text = Vec::with_capacity(bytes.len());
        self.0.decode(bytes, &mut text).map_err(|at| {
            Error::new(
                Condition::CharacterNotInRepertoire,
                format!("text is not valid {}: byte {:#04x} at {at}", self.0.codec(), bytes.get(at).unwrap_or(&0)),
            )
        })?;
        // What was decoded is UTF-8.
        Ok(String::from_utf8(text).unwrap_or_default())
    }

    /// A statement's text. informix-driver writes ISO 8859-1 whatever its locale, which is read when it is no text of the
    /// code set.
    pub fn decode_sql(self, bytes: &[u8]) -> String {
        self.decode(bytes).unwrap_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect())
    }

    /// Stored text, which is UTF-8, for the client.
    pub fn encode<'a>(self, stored: &'a [u8]) -> Result<Cow<'a, [u8]>, Error> {
        if self.0 == wire::CodeSet::Utf8 || stored.is_ascii() {
            return Ok(Cow::Borrowed(stored));
        }
        self.encode_clean(Cow::Borrowed(stored)).map_err(|c| {
            Error::new(
                Condition::UntranslatableCharacter,
                format!("character {c:?} has no place in the client's code set; set CLIENT_LOCALE=en_US.utf8"),
            )
        })
    }

    /// As [`encode`](Self::encode); fails with the character that has no place in the client's code set.
    pub fn encode_clean(self, stored: Cow<'_, [u8]>) -> Result<Cow<'_, [u8]>, char> {
        if self.0 == wire::CodeSet::Utf8 || stored.is_ascii() {
            return Ok(stored);
        }
        // Text that is no UTF-8 was written by somebody else; its bytes are all that is known.
        let Ok(text) = std::str::from_utf8(&stored) else { return Ok(stored) };
        let mut bytes = Vec::with_capacity(text.len());
        self.0.encode(text, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }
}

impl ClientText for CodeSet {
    fn decode(&self, bytes: &[u8]) -> Result<String, Error> {
        (*self).decode(bytes)
    }

    fn encode(&self, text: &str) -> Result<Vec<u8>, Error> {
        (*self).encode(text.as_bytes()).map(Cow::into_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_both_ways() {
        assert_eq!(CodeSet::of_locale("en_US.8859-1"), Some(CodeSet::LATIN_1));
        assert_eq!(CodeSet::of_locale("en_US.57372"), Some(CodeSet::UTF_8));
        assert_eq!(CodeSet::of_locale("ja_JP.sjis"), None);
        assert_eq!(CodeSet::LATIN_1.decode(b"\xe9").unwrap(), "é");
        assert_eq!(CodeSet::LATIN_1.encode("é".as_bytes()).unwrap(), &b"\xe9"[..]);
        assert!(CodeSet::LATIN_1.encode("你".as_bytes()).is_err());
        assert!(CodeSet::UTF_8.decode(b"\xff").is_err());
        assert_eq!(CodeSet::UTF_8.decode_sql(b"'\xe9'"), "'é'");
        let euro = CodeSet::of_locale("de_DE.8859-15").unwrap();
        assert_eq!(euro.encode("€".as_bytes()).unwrap(), &b"\xa4"[..]);
        assert_eq!(euro.decode_sql(b"'\xa4'"), "'€'");
    }
}
