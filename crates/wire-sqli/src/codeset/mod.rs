//! Code sets: how text travels, by the last part of a locale such as `de_DE.8859-15`.
//!
//! Both roles use these: a character that a code set lacks is an error here and there, never a question mark. Code sets
//! of several bytes a character, other than UTF-8, are not known here.

mod tables;

use tables::TABLES;

/// A code set of one byte for each character.
#[derive(Debug, Eq, PartialEq)]
pub struct Table {
    codec: &'static str,
    names: &'static [&'static str],
    high: [u16; 128],
}

/// How text is written in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CodeSet {
    /// ISO 8859-1, which clients have unless they say otherwise.
    Latin1,
    /// UTF-8.
    Utf8,
    /// Another code set of one byte for each character.
    Table(&'static Table),
}

impl CodeSet {
    /// By a name or number that Informix or Python has for it, in any case: `8859-15`, `923`, `iso8859-15`.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase().replace('_', "-");
        let name = name.strip_prefix("iso-8859").map_or(name.clone(), |rest| format!("iso8859{rest}"));
        match name.as_str() {
            "8859-1" | "819" | "iso8859-1" | "latin-1" | "latin1" => Some(Self::Latin1),
            "utf8" | "utf-8" | "57372" => Some(Self::Utf8),
            other => TABLES.iter().find(|table| table.names.contains(&other)).map(Self::Table),
        }
    }

    /// Of a locale; without a code set it is ISO 8859-1. `None` when the code set is not known.
    pub fn of_locale(locale: &str) -> Option<Self> {
        let Some((_, code_set)) = locale.split_once('.') else { return Some(Self::Latin1) };
        Self::named(code_set.split('@').next().unwrap_or_default())
    }

    /// The name that Python has for it.
    pub const fn codec(self) -> &'static str {
        match self {
            Self::Latin1 => "iso-8859-1",
            Self::Utf8 => "utf-8",
            Self::Table(table) => table.codec,
        }
    }

    /// Appends the text that `bytes` are. The error is the place of the first byte that is no character; then nothing
    /// was appended.
    pub fn decode(self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
        if let Self::Utf8 = self {
            std::str::from_utf8(bytes).map_err(|error| error.valid_up_to())?;
            out.extend_from_slice(bytes);
            return Ok(());
        }
        if bytes.is_ascii() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let before = out.len();
        let mut buffer = [0; 4];
        for (at, &byte) in bytes.iter().enumerate() {
            let code = match self {
                Self::Table(table) if byte >= 0x80 => u32::from(table.high[usize::from(byte - 0x80)]),
                _ => u32::from(byte),
            };
            match char::from_u32(code) {
                Some(character) if code != 0 || byte == 0 => {
                    out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                }
                _ => {
                    out.truncate(before);
                    return Err(at);
                }
            }
        }
        Ok(())
    }

    /// Appends `text`. The error is the first character that the code set lacks; then nothing was appended.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) -> Result<(), char> {
        if self == Self::Utf8 || text.is_ascii() {
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        let before = out.len();
        for character in text.chars() {
            let code = u32::from(character);
            let byte = match self {
                _ if code < 0x80 => u8::try_from(code).ok(),
                Self::Table(table) => {
                    let place = table.high.iter().position(|&high| u32::from(high) == code);
                    place.and_then(|place| u8::try_from(place + 0x80).ok())
                }
                _ => u8::try_from(code).ok(),
            };
            match byte {
                Some(byte) => out.push(byte),
                None => {
                    out.truncate(before);
                    return Err(character);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str) -> CodeSet {
        CodeSet::named(name).unwrap()
    }

    #[test]
    fn names_of_locales() {
        for (locale, codec) in [
            ("en_US.8859-1", "iso-8859-1"),
            ("en_US", "iso-8859-1"),
            ("en_US.utf8", "utf-8"),
            ("en_US.57372", "utf-8"),
            ("de_DE.8859-15@euro", "iso8859-15"),
            ("de_DE.923", "iso8859-15"),
            ("pl_PL.CP1250", "cp1250"),
            ("ru_RU.1251", "cp1251"),
        ] {
            assert_eq!(CodeSet::of_locale(locale).map(CodeSet::codec), Some(codec), "{locale}");
        }
        for locale in ["ja_JP.sjis", "zh_CN.gb18030-2000", "en_US.nosuch", "en_US."] {
            assert_eq!(CodeSet::of_locale(locale), None, "{locale}");
        }
        assert_eq!(set("iso-8859-2"), set("8859_2"));
    }

    #[test]
    fn every_character_comes_back() {
        for table in TABLES {
            let set = CodeSet::Table(table);
            let defined: Vec<u8> =
                (0..=255).filter(|&byte| byte < 0x80 || table.high[usize::from(byte) - 0x80] != 0).collect();
            let mut text = Vec::new();
            set.decode(&defined, &mut text).unwrap();
            let mut back = Vec::new();
            set.encode(std::str::from_utf8(&text).unwrap(), &mut back).unwrap();
            assert_eq!(back, defined, "{}", table.codec);
        }
    }

    #[test]
    fn what_a_code_set_lacks_is_an_error() {
        let mut out = b"x".to_vec();
        assert_eq!(set("8859-1").encode("1 €", &mut out), Err('€'));
        assert_eq!(set("1252").decode(b"a\x81", &mut out), Err(1));
        assert_eq!(set("utf8").decode(b"ab\xff", &mut out), Err(2));
        assert_eq!(out, b"x");
        set("8859-15").encode("1 €", &mut out).unwrap();
        assert_eq!(out, b"x1 \xa4");
    }
}
