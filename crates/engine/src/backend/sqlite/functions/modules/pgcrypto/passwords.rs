//! `crypt` and `gen_salt`: hashes of passwords that are dear to guess.

use md5::{Digest as _, Md5};
use rowferry_dialect::{Error, Result, work};

use super::{des_crypt, invalid, random};

/// The digits of most hashes, least first.
pub(super) const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Those of bcrypt.
const BCRYPT_DIGITS: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The greatest cost of bcrypt that is worked out: each one more takes twice the time, and nothing can stop it.
const MOST_ROUNDS: u32 = 16;

/// So many digits of a number, the least first.
pub(super) fn push_number(out: &mut String, mut number: u32, count: usize) {
    for _ in 0..count {
        out.push(char::from(DIGITS[(number & 0x3f) as usize]));
        number >>= 6;
    }
}

/// A salt of an algorithm; 0 rounds are as many as is usual.
pub(super) fn salt(algorithm: &str, rounds: i64) -> Result<String> {
    let bad_rounds = || invalid("gen_salt: Incorrect number of rounds");
    let three = |bytes: &[u8]| u32::from(bytes[0]) | u32::from(bytes[1]) << 8 | u32::from(bytes[2]) << 16;
    let bytes = random(16);
    let mut out = String::new();
    match (algorithm.to_ascii_lowercase().as_str(), rounds) {
        ("des", 0 | 25) => {
            push_number(&mut out, u32::from(bytes[0]), 1);
            push_number(&mut out, u32::from(bytes[1]), 1);
        }
        ("md5", 0 | 1000) => {
            out.push_str("$1$");
            push_number(&mut out, three(&bytes), 4);
            push_number(&mut out, three(&bytes[3..]), 4);
        }
        ("xdes", 0..=0xff_ffff) if rounds == 0 || rounds % 2 == 1 => {
            out.push('_');
            push_number(&mut out, if rounds == 0 { 725 } else { rounds as u32 }, 4);
            push_number(&mut out, three(&bytes), 4);
        }
        ("bf", 0 | 4..=31) => {
            let rounds = if rounds == 0 { 6 } else { rounds };
            out.push_str(&format!("$2a${rounds:02}$"));
            push_bcrypt(&mut out, &bytes);
        }
        ("des" | "md5" | "xdes" | "bf", _) => return Err(bad_rounds()),
        _ => return Err(invalid("gen_salt: Unknown salt algorithm")),
    }
    Ok(out)
}

/// The hash of a password as the salt, or an earlier hash, says.
pub(super) fn crypt(password: &str, salt: &str) -> Result<String> {
    if let Some(rest) = salt.strip_prefix("$2a$") {
        return bcrypt(password, rest);
    }
    if salt.starts_with("$2x$") {
        return Err(Error::unsupported("a password hash of the kind $2x$"));
    }
    if let Some(rest) = salt.strip_prefix("$1$") {
        return md5_crypt(password.as_bytes(), rest);
    }
    des_crypt::crypt(password.as_bytes(), salt.as_bytes())
}

pub(super) fn invalid_salt() -> Error {
    invalid("invalid salt")
}

fn push_bcrypt(out: &mut String, bytes: &[u8]) {
    for chunk in bytes.chunks(3) {
        let mut number = 0_u32;
        for at in 0..3 {
            number = number << 8 | u32::from(chunk.get(at).copied().unwrap_or(0));
        }
        for at in 0..=chunk.len() {
            out.push(char::from(BCRYPT_DIGITS[(number >> (18 - 6 * at) & 0x3f) as usize]));
        }
    }
}

/// bcrypt: `rest` is the cost in two digits and 22 digits of salt, and perhaps a hash.
fn bcrypt(password: &str, rest: &str) -> Result<String> {
    let (cost, rest) = rest.split_once('$').ok_or_else(invalid_salt)?;
    let cost = (cost.len() == 2).then(|| cost.parse::<u32>().ok()).flatten();
    let cost = cost.filter(|cost| (4..=31).contains(cost)).ok_or_else(invalid_salt)?;
    if cost > MOST_ROUNDS {
        return Err(Error::unsupported(format!("a password hash of more than {MOST_ROUNDS} rounds")));
    }
    let digits = rest.as_bytes().get(..22).ok_or_else(invalid_salt)?;
    let mut bits = Vec::with_capacity(132);
    for digit in digits {
        let value = BCRYPT_DIGITS.iter().position(|other| other == digit).ok_or_else(invalid_salt)?;
        bits.extend((0..6).rev().map(|at| value >> at & 1 == 1));
    }
    let mut salt = [0_u8; 16];
    for (byte, bits) in salt.iter_mut().zip(bits.chunks(8)) {
        *byte = bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    }
    // The zero byte behind a password counts.
    let mut key = password.as_bytes().to_vec();
    key.push(0);
    key.truncate(72);
    work::check()?;
    let hash = bcrypt::bcrypt(cost, salt, &key);
    let mut out = format!("$2a${cost:02}$");
    push_bcrypt(&mut out, &salt);
    push_bcrypt(&mut out, &hash[..23]);
    Ok(out)
}

/// The hash that FreeBSD made of MD5.
fn md5_crypt(password: &[u8], rest: &str) -> Result<String> {
    const ROUNDS: usize = 1000;
    let salt = rest.split('$').next().unwrap_or_default();
    let salt = &salt.as_bytes()[..salt.len().min(8)];
    let inner = Md5::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut hash = Md5::new().chain_update(password).chain_update(b"$1$").chain_update(salt);
    for chunk in password.chunks(16) {
        hash.update(&inner[..chunk.len()]);
    }
    let mut length = password.len();
    while length > 0 {
        hash.update(if length & 1 == 1 { &[0][..] } else { &password[..1] });
        length >>= 1;
    }
    let mut last = hash.finalize();
    for round in 0..ROUNDS {
        work::step(password.len() + 32)?;
        let mut hash = Md5::new();
        if round & 1 == 1 {
            hash.update(password)
        } else {
            hash.update(last)
        }
        if round % 3 != 0 {
            hash.update(salt);
        }
        if round % 7 != 0 {
            hash.update(password);
        }
        if round & 1 == 1 {
            hash.update(last)
        } else {
            hash.update(password)
        }
        last = hash.finalize();
    }
    let mut out = format!("$1${}$", String::from_utf8_lossy(salt));
    for [a, b, c] in [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]] {
        push_number(&mut out, u32::from(last[a]) << 16 | u32::from(last[b]) << 8 | u32::from(last[c]), 4);
    }
    push_number(&mut out, u32::from(last[11]), 2);
    Ok(out)
}
