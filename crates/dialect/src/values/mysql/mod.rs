//! Values as MySQL reads and prints them: numbers at the beginning of texts, dates in any form, doubles in their
//! shortest text.

pub mod format;
pub mod moments;
pub mod numbers;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The letters that a character is compared by where case and accents are of no account.
pub fn folded(character: char, out: &mut Vec<char>) {
    if character.is_ascii() {
        return out.push(character.to_ascii_lowercase());
    }
    let bare = std::iter::once(character).nfd().filter(|part| !is_combining_mark(*part));
    out.extend(bare.flat_map(char::to_lowercase));
}

/// The same of a text.
pub fn folded_text(text: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    for character in text.chars() {
        folded(character, &mut out);
    }
    out
}

/// Bytes by their hexadecimal digits, of which there are two for each.
pub fn bytes_of_digits(digits: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0) as u8;
    digits.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
