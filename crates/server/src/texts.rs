//! Texts between the clients' encodings and ours, which is UTF-8.

use std::borrow::Cow;

use rowferry_encodings::{Encoding, Failure};
use rowferry_engine::{Condition, Error};

/// `bytes` as text, or the error that PostgreSQL has for bytes that are none.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    let fail = |bytes: &[u8]| conversion(&rowferry_encodings::utf8_failure(bytes));
    let text = std::str::from_utf8(bytes).map_err(|error| fail(&bytes[error.valid_up_to()..]))?;
    match memchr::memchr(0, bytes) {
        Some(at) => Err(fail(&bytes[at..])),
        None => Ok(text),
    }
}

/// `bytes` in the client's encoding (`None` is UTF-8) as text.
pub(crate) fn text<'b>(bytes: &'b [u8], encoding: Option<&'static Encoding>) -> Result<Cow<'b, str>, Error> {
    match encoding {
        None => utf8(bytes).map(Cow::Borrowed),
        Some(encoding) => encoding.decode(bytes).map(Cow::Owned).map_err(|failure| conversion(&failure)),
    }
}

/// The same where a NUL is a letter like others, as MySQL has it.
pub(crate) fn text_with_nul<'b>(bytes: &'b [u8], encoding: Option<&'static Encoding>) -> Result<Cow<'b, str>, Error> {
    match std::str::from_utf8(bytes) {
        Ok(found) if encoding.is_none() => Ok(Cow::Borrowed(found)),
        _ => text(bytes, encoding),
    }
}

/// Puts what was written to `out` since `start`, which is UTF-8, into the client's encoding.
pub(crate) fn recode(out: &mut Vec<u8>, start: usize, encoding: &'static Encoding) -> Result<(), Error> {
    if out[start..].is_ascii() {
        return Ok(());
    }
    let plain = out.split_off(start);
    encoding.encode(utf8(&plain)?, out).map_err(|failure| conversion(&failure))
}

/// A text that one of the encodings does not have.
pub(crate) fn conversion(failure: &Failure) -> Error {
    let condition = match failure {
        Failure::Invalid { .. } => Condition::CharacterNotInRepertoire,
        Failure::Untranslatable { .. } => Condition::UntranslatableCharacter,
    };
    Error::new(condition, failure.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_which_bytes_are_no_text() {
        assert_eq!(utf8(b"abc"), Ok("abc"));
        let message = |bytes: &[u8]| utf8(bytes).unwrap_err().message.clone();
        assert_eq!(message(b"ab\xffcd"), "invalid byte sequence for encoding \"UTF8\": 0xff");
        assert_eq!(message(b"\xe2\x82"), "invalid byte sequence for encoding \"UTF8\": 0xe2 0x82");
        assert_eq!(message(b"\xe2\x28\xa1"), "invalid byte sequence for encoding \"UTF8\": 0xe2 0x28 0xa1");
        assert_eq!(message(b"a\0b"), "invalid byte sequence for encoding \"UTF8\": 0x00");
    }
}
