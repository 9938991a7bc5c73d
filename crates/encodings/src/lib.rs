//! The encodings that PostgreSQL knows, and what it makes of each of their codes.
//!
//! ```text
//! names     an encoding's number, name and other names
//! shape     how many bytes a character has, and which bytes it may have
//! table     code ⇄ character, read from `data` when an encoding is first used
//! direct    code ⇄ code of two encodings that PostgreSQL converts without UTF-8 between them
//! ```
//!
//! The tables are what a PostgreSQL 15 answers (`tools/postgres_encodings.py` asks it), since those of others differ in
//! a few hundred characters. Nothing of an encoding is in memory before a client uses it.

mod direct;
mod names;
mod shape;
mod table;

use std::fmt;

use shape::Shape;

/// One of PostgreSQL's encodings.
#[derive(Debug)]
pub struct Encoding {
    name: &'static str,
    shape: Shape,
    table: Option<table::Source>,
}

/// There is one of each name.
impl PartialEq for Encoding {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Encoding {}

/// Bytes that cannot be converted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Failure {
    /// They are no text in their encoding.
    Invalid {
        /// The encoding's name.
        encoding: &'static str,
        /// The character that is none: at most eight bytes.
        bytes: Vec<u8>,
    },
    /// They are a character that the other encoding does not have.
    Untranslatable {
        /// The character: at most eight bytes.
        bytes: Vec<u8>,
        /// The name of the encoding that it is in.
        from: &'static str,
        /// The name of the other.
        to: &'static str,
    },
}

/// PostgreSQL's words.
impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(" ");
        match self {
            Self::Invalid { encoding, bytes } => {
                write!(out, "invalid byte sequence for encoding \"{encoding}\": {}", hex(bytes))
            }
            Self::Untranslatable { bytes, from, to } => {
                let bytes = hex(bytes);
                write!(
                    out,
                    "character with byte sequence {bytes} in encoding \"{from}\" has no equivalent in encoding \"{to}\""
                )
            }
        }
    }
}

/// The encoding of everything inside.
const UTF8: &str = "UTF8";

impl Encoding {
    /// The encoding of a name, in any case and with any punctuation: its own name or another that PostgreSQL knows.
    pub fn find(name: &str) -> Option<&'static Self> {
        names::find(name)
    }

    /// The encoding of a number.
    pub fn numbered(number: i64) -> Option<&'static Self> {
        usize::try_from(number).ok().and_then(|number| names::ENCODINGS.get(number))
    }

    /// Its name, as `pg_encoding_to_char` has it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its number, as catalogs have it.
    pub fn number(&self) -> i32 {
        names::ENCODINGS.iter().position(|known| known.name == self.name).map_or(-1, |at| at as i32)
    }

    /// The greatest number of bytes of a character.
    pub fn max_length(&self) -> i32 {
        self.shape.max_length()
    }

    /// Whether it is UTF-8, or stands for bytes that nobody converts.
    pub fn is_utf8(&self) -> bool {
        self.name == UTF8 || self.name == "SQL_ASCII"
    }

    /// Whether bytes below 128 may be parts of its characters, so that no server keeps its texts in it.
    pub fn is_client_only(&self) -> bool {
        matches!(self.name, "BIG5" | "GB18030" | "GBK" | "JOHAB" | "SHIFT_JIS_2004" | "SJIS" | "UHC")
    }

    /// Whether there is a conversion between it and UTF-8.
    pub fn converts(&self) -> bool {
        self.table.is_some() || self.is_utf8()
    }

    /// Checks that bytes are a text in this encoding.
    ///
    /// # Errors
    /// [`Failure::Invalid`] with the first character that is none.
    pub fn verify(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            at += self.shape.verified(rest).ok_or_else(|| self.invalid(rest))?;
        }
        Ok(())
    }

    /// A text in this encoding as UTF-8.
    ///
    /// # Errors
    /// [`Failure`], in PostgreSQL's words. An encoding without a conversion has no characters but ASCII's.
    pub fn decode(&self, bytes: &[u8]) -> Result<String, Failure> {
        if self.is_utf8() {
            let text = std::str::from_utf8(bytes).map_err(|error| utf8_failure(&bytes[error.valid_up_to()..]))?;
            return match text.bytes().position(|byte| byte == 0) {
                Some(at) => Err(utf8_failure(&bytes[at..])),
                None => Ok(text.to_owned()),
            };
        }
        let mut text = String::with_capacity(bytes.len() + bytes.len() / 2);
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            if byte != 0 && byte.is_ascii() {
                text.push(char::from(byte));
                rest = &rest[1..];
                continue;
            }
            let length = self.shape.verified(rest).ok_or_else(|| self.invalid(rest))?;
            let untranslatable = || Failure::Untranslatable { bytes: self.shown(rest), from: self.name, to: UTF8 };
            let table = self.table.ok_or_else(untranslatable)?.read();
            table.decode(&rest[..length], &mut text).ok_or_else(untranslatable)?;
            rest = &rest[length..];
        }
        Ok(text)
    }

    /// A text as bytes of this encoding, at the end of `out`.
    ///
    /// # Errors
    /// [`Failure::Untranslatable`] with the first character that this encoding does not have; `out` is as it was.
    pub fn encode(&self, text: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
        if self.is_utf8() || text.is_ascii() {
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        let start = out.len();
        let mut rest = text.chars();
        while let Some(letter) = rest.next() {
            if letter.is_ascii() {
                out.push(letter as u8);
                continue;
            }
            let table = self.table.map(table::LazyTable::read);
            // Some pairs of characters are one code.
            let pair = rest.clone().next().filter(|next| !next.is_ascii());
            let pair = pair.and_then(|next| table.and_then(|table| table.encode_pair(letter, next)));
            let code = match pair {
                Some(code) => {
                    rest.next();
                    Some(code)
                }
                None => table.and_then(|table| table.encode(letter)),
            };
            let Some(code) = code else {
                out.truncate(start);
                let bytes = letter.to_string().into_bytes();
                return Err(Failure::Untranslatable { bytes, from: UTF8, to: self.name });
            };
            push_code(out, code);
        }
        Ok(())
    }

    /// Bytes of this encoding as bytes of another, by a table of the two's own; `None` where they have none.
    ///
    /// # Errors
    /// [`Failure`], with the first character that is none or that the other does not have.
    pub fn convert(&self, bytes: &[u8], to: &Self) -> Option<Result<Vec<u8>, Failure>> {
        let table = direct::between(self.name, to.name)?;
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            let Some(length) = self.shape.verified(rest) else { return Some(Err(self.invalid(rest))) };
            let (code, behind) = rest.split_at(length);
            if byte.is_ascii() {
                out.push(byte);
            } else {
                match table.converted(code.iter().fold(0, |code, byte| code << 8 | u32::from(*byte))) {
                    direct::Found::Code(code) => push_code(&mut out, code),
                    direct::Found::Invalid => return Some(Err(self.invalid(rest))),
                    direct::Found::Nothing => {
                        let bytes = self.shown(rest);
                        return Some(Err(Failure::Untranslatable { bytes, from: self.name, to: to.name }));
                    }
                }
            }
            rest = behind;
        }
        Some(Ok(out))
    }

    /// How many of these bytes are whole characters: the others are the beginning of one whose rest has not come.
    pub fn whole(&self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let Some(length) = self.shape.length(rest).filter(|length| *length <= rest.len()) else { break };
            at += length;
        }
        at
    }

    /// The length of the first character, as far as it is here.
    pub fn first(&self, bytes: &[u8]) -> usize {
        self.shape.length(bytes).unwrap_or(bytes.len()).min(bytes.len())
    }

    fn invalid(&self, bytes: &[u8]) -> Failure {
        Failure::Invalid { encoding: self.name, bytes: self.shown(bytes) }
    }

    /// The bytes of the first character, as many of them as there are.
    fn shown(&self, bytes: &[u8]) -> Vec<u8> {
        let length = self.shape.length(bytes).unwrap_or(usize::MAX);
        bytes[..length.min(bytes.len()).min(8)].to_vec()
    }
}

/// Adds the bytes of a code, of which the first is not zero.
fn push_code(out: &mut Vec<u8>, code: u32) {
    out.extend_from_slice(&code.to_be_bytes()[(code.leading_zeros() / 8).min(3) as usize..]);
}

/// Why bytes whose first character is none are not UTF-8.
pub fn utf8_failure(bytes: &[u8]) -> Failure {
    let length = Shape::Utf8.length(bytes).unwrap_or(1).min(bytes.len());
    Failure::Invalid { encoding: UTF8, bytes: bytes[..length].to_vec() }
}

#[cfg(test)]
mod tests;
