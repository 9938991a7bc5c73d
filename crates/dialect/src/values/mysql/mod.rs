//! Values as MySQL reads and prints them: numbers at the beginning of texts, dates in any form, doubles in their
//! shortest text.

pub mod format;
pub mod fulltext;
pub mod json;
pub mod json_table;
pub mod members;
pub mod moments;
pub mod numbers;
pub mod partitions;
pub mod unsigned;

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

/// True for what combines with the letter before it.
pub fn is_mark(character: char) -> bool {
    is_combining_mark(character)
}

/// The same of a text.
pub fn folded_text(text: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    for character in text.chars() {
        folded(character, &mut out);
    }
    out
}

/// Bytes by their hexadecimal digits; the first byte has one where they are odd.
pub fn bytes_of_digits(digits: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0) as u8;
    let (first, pairs) = digits.as_bytes().split_at(digits.len() % 2);
    let pairs = pairs.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1]));
    first.iter().map(|byte| digit(*byte)).chain(pairs).collect()
}

/// The bytes of so many bits.
pub fn bytes_of_bits(bits: &str) -> Vec<u8> {
    let bits = bits.as_bytes();
    let (first, bytes) = bits.split_at(bits.len() % 8);
    let byte = |bits: &[u8]| bits.iter().fold(0_u8, |byte, bit| byte << 1 | u8::from(*bit == b'1'));
    let first = (!first.is_empty()).then(|| byte(first));
    first.into_iter().chain(bytes.chunks_exact(8).map(byte)).collect()
}
