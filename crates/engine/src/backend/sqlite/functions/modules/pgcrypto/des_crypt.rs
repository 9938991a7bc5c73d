//! The hashes that Unix made of DES with a salt: two digits of salt and 25 rounds, or `_`, a count, and 24 bits of salt.
//!
//! The salt exchanges bits of DES's expansion, so that no DES as such can be used.

use rowferry_dialect::{Result, work};

use super::passwords::{DIGITS, invalid_salt};

type Bits = Vec<u8>;

const INITIAL: [u8; 64] = [
    58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32,
    24, 16, 8, 57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47,
    39, 31, 23, 15, 7,
];
const FINAL: [u8; 64] = [
    40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31, 38, 6, 46, 14, 54, 22, 62, 30, 37, 5, 45, 13, 53, 21,
    61, 29, 36, 4, 44, 12, 52, 20, 60, 28, 35, 3, 43, 11, 51, 19, 59, 27, 34, 2, 42, 10, 50, 18, 58, 26, 33, 1, 41, 9,
    49, 17, 57, 25,
];
const EXPANSION: [u8; 48] = [
    32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17, 16, 17, 18, 19, 20, 21, 20, 21,
    22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1,
];
const PERMUTATION: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4,
    25,
];
const KEY_CHOICE: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36, 63, 55,
    47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
];
const ROUND_CHOICE: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55, 30,
    40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];
const SHIFTS: [usize; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];
const BOXES: [[u8; 64]; 8] = [
    [
        14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8, 4,
        1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13,
    ],
    [
        15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5, 0,
        14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9,
    ],
    [
        10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1, 13,
        6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12,
    ],
    [
        7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9, 10,
        6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14,
    ],
    [
        2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6, 4,
        2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3,
    ],
    [
        12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8, 9,
        14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13,
    ],
    [
        4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6, 1,
        4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12,
    ],
    [
        13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2, 7,
        11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11,
    ],
];

fn choose(bits: &[u8], places: &[u8]) -> Bits {
    places.iter().map(|place| bits[usize::from(*place) - 1]).collect()
}

fn bits_of(bytes: &[u8; 8]) -> Bits {
    bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).collect()
}

fn bytes_of(bits: &[u8]) -> [u8; 8] {
    let mut bytes = [0; 8];
    for (byte, bits) in bytes.iter_mut().zip(bits.chunks(8)) {
        *byte = bits.iter().fold(0, |byte, bit| byte << 1 | bit);
    }
    bytes
}

/// The sixteen keys of the rounds.
fn schedule(key: &[u8; 8]) -> Vec<Bits> {
    let chosen = choose(&bits_of(key), &KEY_CHOICE);
    let (mut left, mut right) = (chosen[..28].to_vec(), chosen[28..].to_vec());
    let mut keys = Vec::with_capacity(16);
    for shift in SHIFTS {
        left.rotate_left(shift);
        right.rotate_left(shift);
        keys.push(choose(&[left.as_slice(), right.as_slice()].concat(), &ROUND_CHOICE));
    }
    keys
}

/// DES so many times over, with a salt. A salt can ask for sixteen million times, so that it must be stopped on the way.
fn encrypt(keys: &[Bits], block: &[u8; 8], salt: u32, count: u32) -> Result<[u8; 8]> {
    let start = choose(&bits_of(block), &INITIAL);
    let (mut left, mut right) = (start[..32].to_vec(), start[32..].to_vec());
    for _ in 0..count {
        work::step(16)?;
        for key in keys {
            let mut wide = choose(&right, &EXPANSION);
            for at in (0..24).filter(|at| salt >> at & 1 == 1) {
                wide.swap(at, at + 24);
            }
            wide.iter_mut().zip(key).for_each(|(bit, key)| *bit ^= key);
            let mut narrow = Vec::with_capacity(32);
            for (six, values) in wide.chunks(6).zip(&BOXES) {
                let row = six[0] << 1 | six[5];
                let column = six[1] << 3 | six[2] << 2 | six[3] << 1 | six[4];
                let value = values[usize::from(row << 4 | column)];
                narrow.extend((0..4).rev().map(|at| value >> at & 1));
            }
            let mixed = choose(&narrow, &PERMUTATION);
            let next = left.iter().zip(&mixed).map(|(bit, other)| bit ^ other).collect();
            left = std::mem::replace(&mut right, next);
        }
        // After the last round the halves stand the other way about.
        std::mem::swap(&mut left, &mut right);
    }
    Ok(bytes_of(&choose(&[left, right].concat(), &FINAL)))
}

fn value(digit: u8) -> Option<u32> {
    DIGITS.iter().position(|other| *other == digit).map(|at| at as u32)
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().rev().try_fold(0, |number, digit| Some(number << 6 | value(*digit)?))
}

/// What a salt says: what the hash begins with, the bits to exchange, and how many times; `None` for one that is none.
fn asked(salt: &[u8]) -> Option<(&[u8], u32, u32)> {
    if salt.first() == Some(&b'_') {
        return Some((salt.get(..9)?, number(salt.get(5..9)?)?, number(salt.get(1..5)?)?));
    }
    Some((salt.get(..2)?, number(salt.get(..2)?)?, 25))
}

/// The hash of a password as a salt says.
///
/// # Errors
/// `22023` for a salt that is none; what stops the statement.
pub(super) fn crypt(password: &[u8], salt: &[u8]) -> Result<String> {
    let (prefix, bits, count) = asked(salt).ok_or_else(invalid_salt)?;
    let shifted = |byte: Option<&u8>| byte.map_or(0, |byte| byte << 1);
    let mut key: [u8; 8] = std::array::from_fn(|at| shifted(password.get(at)));
    if salt.first() == Some(&b'_') {
        for chunk in password.chunks(8).skip(1) {
            key = encrypt(&schedule(&key), &key, 0, 1)?;
            key.iter_mut().zip(chunk).for_each(|(byte, other)| *byte ^= other << 1);
        }
    }
    let hash = encrypt(&schedule(&key), &[0; 8], bits, count)?;
    let mut out = String::from_utf8_lossy(prefix).into_owned();
    let mut bits = bits_of(&hash);
    bits.extend([0, 0]);
    for six in bits.chunks(6) {
        let at = six.iter().fold(0, |number, bit| number << 1 | usize::from(*bit));
        out.push(char::from(DIGITS[at]));
    }
    Ok(out)
}
