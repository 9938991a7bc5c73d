//! Text types and their lengths, counted in characters.

use std::borrow::Cow;

use crate::{Condition, Error, Result, Type};

/// The longest `name`, in bytes.
pub const NAME_BYTES: usize = 63;

/// True for bytes that clients can take as text: UTF-8 without NUL. A file holds whatever it was given.
#[inline]
pub fn is_clean(bytes: &[u8]) -> bool {
    is_ascii(bytes) || std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0)
}

/// True for ASCII without NUL; false is no answer. Most texts are, and it is seen in one pass.
#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // The top bit of each byte that is none of ASCII, or NUL, and perhaps of one that stands beside such a byte.
    let other = |word: u64| word | word.wrapping_sub(ONES);
    let Some(last) = bytes.last_chunk::<8>() else { return bytes.iter().all(|byte| (1..0x80).contains(byte)) };
    let (words, _) = bytes.as_chunks::<8>();
    let all = words.iter().fold(other(u64::from_le_bytes(*last)), |all, word| all | other(u64::from_le_bytes(*word)));
    all & (ONES << 7) == 0
}

/// The bytes, when [`is_clean`] says so; the error that PostgreSQL has for others.
#[inline]
pub fn clean(bytes: &[u8]) -> Result<&[u8]> {
    if is_clean(bytes) { Ok(bytes) } else { Err(unclean(bytes)) }
}

/// The bytes, when they are UTF-8, with NUL or without: what MySQL's clients take as text.
///
/// # Errors
/// As [`clean`].
#[inline]
pub fn clean_but_for_nul(bytes: &[u8]) -> Result<&[u8]> {
    if is_ascii(bytes) || std::str::from_utf8(bytes).is_ok() { Ok(bytes) } else { Err(unclean(bytes)) }
}

#[cold]
fn unclean(bytes: &[u8]) -> Error {
    let nul = bytes.iter().position(|byte| *byte == 0);
    let wrong = match std::str::from_utf8(bytes) {
        Err(error) if nul.is_none_or(|nul| error.valid_up_to() < nul) => {
            let from = error.valid_up_to();
            // What is cut off at the end is wrong to the end.
            &bytes[from..error.error_len().map_or(bytes.len(), |length| from + length)]
        }
        _ => &[0],
    };
    let shown: Vec<String> = wrong.iter().map(|byte| format!("0x{byte:02x}")).collect();
    Error::new(
        Condition::CharacterNotInRepertoire,
        format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
    )
    .hint("The file holds text that is none: correct the row, or give the column a type of bytes.")
}

/// A blob where text is expected: the text that it is, or its bytes as `\\x…`.
pub fn of_blob(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&0) => Cow::Borrowed(text),
        _ => {
            use std::fmt::Write as _;
            let mut text = String::with_capacity(2 + bytes.len() * 2);
            text.push_str("\\x");
            for byte in bytes {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            Cow::Owned(text)
        }
    }
}

/// The length limit of a text type, in characters; `char(0)` is blank-padded text of any length.
pub fn limit(ty: &Type) -> Option<u32> {
    match ty {
        Type::Varchar(limit) => *limit,
        Type::Char(0) => None,
        Type::Char(limit) | Type::Nchar(limit) | Type::Nvarchar(limit) | Type::Lvarchar(limit) => Some(*limit),
        _ => None,
    }
}

/// True for types that are stored without their trailing blanks: their width says how many there are. Without a width a
/// value has the blanks that it was given.
pub fn is_padded(ty: &Type) -> bool {
    matches!(ty, Type::Char(1..) | Type::Nchar(_))
}

/// A `char(n)` or `bpchar` with the blanks that belong to it, as PostgreSQL holds it.
pub fn padded<'a>(text: &'a str, ty: &Type) -> Cow<'a, str> {
    match ty {
        Type::Char(width @ 1..) | Type::Nchar(width) => {
            let missing = (*width as usize).saturating_sub(text.chars().count());
            if missing == 0 { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}{}", " ".repeat(missing))) }
        }
        _ => Cow::Borrowed(text),
    }
}

/// A text as a column of a type takes it: over-long text is refused unless the excess is blank.
pub fn assign<'a>(text: &'a str, ty: &Type) -> Result<Cow<'a, str>> {
    let text = if is_padded(ty) { text.trim_end_matches(' ') } else { text };
    if let Some(limit) = limit(ty)
        && let Some((end, _)) = excess(text, limit)
    {
        if text[end..].bytes().any(|b| b != b' ') {
            let name = match ty {
                Type::Char(_) => "character",
                Type::Varchar(_) => "character varying",
                other => super::type_name(other),
            };
            let message = format!("value too long for type {name}({limit})");
            return Err(Error::new(Condition::StringDataRightTruncation, message));
        }
        return Ok(Cow::Borrowed(&text[..end]));
    }
    Ok(cut_name(text, ty))
}

/// A text under an explicit cast: what is too long is cut off.
pub fn cast<'a>(text: &'a str, ty: &Type) -> Cow<'a, str> {
    let text = match limit(ty).and_then(|limit| excess(text, limit)) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    let text = if is_padded(ty) { text.trim_end_matches(' ') } else { text };
    cut_name(text, ty)
}

fn cut_name<'a>(text: &'a str, ty: &Type) -> Cow<'a, str> {
    match ty {
        Type::Name if text.len() > NAME_BYTES => {
            let mut end = NAME_BYTES;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            Cow::Borrowed(&text[..end])
        }
        Type::InternalChar => one_byte(text),
        _ => Cow::Borrowed(text),
    }
}

/// The one byte of a `"char"`, as it is printed: the text's first one, or the one that an octal escape names.
fn one_byte(text: &str) -> Cow<'_, str> {
    let byte = match text.as_bytes() {
        [b'\\', digits @ ..] if digits.len() == 3 && digits.iter().all(|digit| matches!(digit, b'0'..=b'7')) => {
            digits.iter().fold(0_u32, |byte, digit| byte * 8 + u32::from(digit - b'0')) as u8
        }
        bytes => bytes.first().copied().unwrap_or(0),
    };
    match text.get(..1) {
        Some(first) if first.as_bytes() == [byte] => Cow::Borrowed(first),
        _ => Cow::Owned(print_byte(byte)),
    }
}

/// A `"char"` of this byte: nothing for 0, an octal escape beyond ASCII.
pub fn print_byte(byte: u8) -> String {
    match byte {
        0 => String::new(),
        0x80.. => format!("\\{byte:03o}"),
        ascii => char::from(ascii).to_string(),
    }
}

/// The byte of a stored `"char"`.
pub fn byte_of(stored: &[u8]) -> u8 {
    match stored {
        [b'\\', digits @ ..] if digits.len() == 3 => {
            digits.iter().fold(0_u32, |byte, digit| byte * 8 + u32::from(digit.wrapping_sub(b'0'))) as u8
        }
        bytes => bytes.first().copied().unwrap_or(0),
    }
}

/// Where the character behind the limit begins, if there is one.
fn excess(text: &str, limit: u32) -> Option<(usize, char)> {
    // As many bytes as characters allowed cannot be too long.
    if text.len() <= limit as usize { None } else { text.char_indices().nth(limit as usize) }
}

/// Appends a text padded with blanks to `width` characters.
pub fn write_padded(out: &mut Vec<u8>, bytes: &[u8], width: u32) {
    out.extend_from_slice(bytes);
    // Continuation bytes of UTF-8 are no characters of their own.
    let characters = bytes.iter().filter(|b| (**b & 0xc0) != 0x80).count();
    out.extend(std::iter::repeat_n(b' ', (width as usize).saturating_sub(characters)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignment_refuses_and_a_cast_cuts() {
        assert_eq!(assign("abc  ", &Type::Varchar(Some(3))).unwrap(), "abc");
        let error = assign("abcd", &Type::Varchar(Some(3))).unwrap_err();
        assert_eq!(
            (error.condition().sqlstate(), error.to_string().as_str()),
            ("22001", "value too long for type character varying(3)")
        );
        assert_eq!(cast("abcd", &Type::Varchar(Some(3))), "abc");
        assert_eq!(cast("äöüß", &Type::Varchar(Some(3))), "äöü");
        assert_eq!(assign("ab  ", &Type::Char(3)).unwrap(), "ab");
        assert_eq!(cast("a  d", &Type::Char(3)), "a");
    }

    #[test]
    fn pads_by_characters() {
        let mut out = Vec::new();
        write_padded(&mut out, "ä".as_bytes(), 3);
        assert_eq!(out, "ä  ".as_bytes());
    }
}
