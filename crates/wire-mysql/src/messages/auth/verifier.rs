//! What servers keep of passwords, in MySQL's own forms.

use std::fmt;

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

/// The longest password that is stretched: the work grows with it.
pub const LONGEST_PASSWORD: usize = 256;

/// Bytes of salt.
const SALT: usize = 20;
/// Digits of a stretched password.
const DIGITS: usize = 43;
/// Rounds of stretching per step of the number that stands in the text.
const ROUNDS_PER_STEP: u32 = 1_000;
/// The steps of what is made here, as MySQL's servers make it.
const STEPS: u32 = 5;

/// What is kept of a password.
///
/// Of `mysql_native_password`: `*` and the digits of `SHA1(SHA1(password))`. Of `caching_sha2_password`:
/// `$A$<steps>$<salt><digits>`, the password stretched by SHA-256 in a thousand rounds a step, as Drepper's `crypt` does.
/// Of `sha256_password`: `$5$<salt>$<digits>`, as `crypt` itself writes it.
#[derive(Clone, Eq, PartialEq)]
pub enum Verifier {
    /// Of `mysql_native_password`.
    Native([u8; 20]),
    /// Of `caching_sha2_password`.
    Caching {
        /// Thousands of rounds.
        steps: u32,
        /// Salt.
        salt: Vec<u8>,
        /// The digits.
        digits: String,
    },
    /// Of `sha256_password`.
    Sha256 {
        /// Salt.
        salt: Vec<u8>,
        /// The digits.
        digits: String,
    },
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native(_) => "Verifier::Native",
            Self::Caching { .. } => "Verifier::Caching",
            Self::Sha256 { .. } => "Verifier::Sha256",
        })
    }
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Native(digest) => {
                f.write_str("*")?;
                digest.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
            }
            Self::Caching { steps, salt, digits } => {
                write!(f, "$A${steps:03X}${}{digits}", String::from_utf8_lossy(salt))
            }
            Self::Sha256 { salt, digits } => write!(f, "$5${}${digits}", String::from_utf8_lossy(salt)),
        }
    }
}

impl Verifier {
    /// For `mysql_native_password`.
    pub fn native(password: &[u8]) -> Self {
        Self::Native(Sha1::digest(Sha1::digest(password)).into())
    }

    /// For `caching_sha2_password`; `seed` are fresh random bytes.
    pub fn caching(password: &[u8], seed: [u8; SALT]) -> Self {
        let salt = letters(seed);
        let digits = stretched(password, &salt, STEPS * ROUNDS_PER_STEP);
        Self::Caching { steps: STEPS, salt, digits }
    }

    /// For `sha256_password`; `seed` are fresh random bytes.
    pub fn sha256(password: &[u8], seed: [u8; SALT]) -> Self {
        let salt = letters(seed);
        let digits = stretched(password, &salt, STEPS * ROUNDS_PER_STEP);
        Self::Sha256 { salt, digits }
    }

    /// Reads what [`fmt::Display`] writes; `None` for anything else.
    pub fn read(text: &str) -> Option<Self> {
        if let Some(digits) = text.strip_prefix('*') {
            let mut digest = [0; 20];
            if digits.len() != 40 || !digits.is_ascii() {
                return None;
            }
            for (at, byte) in digest.iter_mut().enumerate() {
                *byte = u8::from_str_radix(digits.get(at * 2..at * 2 + 2)?, 16).ok()?;
            }
            return Some(Self::Native(digest));
        }
        if let Some(rest) = text.strip_prefix("$5$") {
            let (salt, digits) = rest.split_once('$')?;
            let known = salt.len() == SALT && digits.len() == DIGITS;
            return known.then(|| Self::Sha256 { salt: salt.as_bytes().to_vec(), digits: digits.to_owned() });
        }
        let (steps, rest) = text.strip_prefix("$A$")?.split_once('$')?;
        let steps = u32::from_str_radix(steps, 16).ok().filter(|steps| (1..=0xfff).contains(steps))?;
        if rest.len() != SALT + DIGITS || !rest.is_char_boundary(SALT) {
            return None;
        }
        let (salt, digits) = rest.split_at(SALT);
        Some(Self::Caching { steps, salt: salt.as_bytes().to_vec(), digits: digits.to_owned() })
    }

    /// Whether this is the password.
    pub fn accepts(&self, password: &[u8]) -> bool {
        match self {
            Self::Native(digest) => alike(digest, &Sha1::digest(Sha1::digest(password))),
            Self::Caching { .. } | Self::Sha256 { .. } if password.len() > LONGEST_PASSWORD => false,
            Self::Sha256 { salt, digits } => {
                let made = stretched(password, salt, STEPS * ROUNDS_PER_STEP);
                alike(digits.as_bytes(), made.as_bytes())
            }
            Self::Caching { steps, salt, digits } => {
                let made = stretched(password, salt, steps.saturating_mul(ROUNDS_PER_STEP));
                alike(digits.as_bytes(), made.as_bytes())
            }
        }
    }

    /// Whether a scramble of `mysql_native_password` is that of the password. Never for a verifier of the other kind, out of
    /// which it cannot be known.
    pub fn accepts_scramble(&self, nonce: &[u8], scramble: &[u8]) -> bool {
        let Self::Native(digest) = self else { return false };
        let mixed = Sha1::new().chain_update(nonce).chain_update(digest).finalize();
        scramble.len() == mixed.len() && {
            let once: Vec<u8> = scramble.iter().zip(&mixed).map(|(left, right)| left ^ right).collect();
            alike(&Sha1::digest(once), digest)
        }
    }
}

/// A salt of letters.
fn letters(seed: [u8; SALT]) -> Vec<u8> {
    seed.iter().map(|byte| LETTERS[usize::from(byte & 0x3f)]).collect()
}

/// `SHA256(SHA256(password))`: what tells the scrambles of `caching_sha2_password`, for memory alone.
pub fn double_sha256(password: &[u8]) -> [u8; 32] {
    Sha256::digest(Sha256::digest(password)).into()
}

/// Whether a scramble of `caching_sha2_password` is that of the password of which this is the [`double_sha256`].
pub fn accepts_sha256_scramble(double: &[u8; 32], nonce: &[u8], scramble: &[u8]) -> bool {
    let mixed = Sha256::new().chain_update(double).chain_update(nonce).finalize();
    scramble.len() == mixed.len() && {
        let once: Vec<u8> = scramble.iter().zip(&mixed).map(|(left, right)| left ^ right).collect();
        alike(&Sha256::digest(once), double)
    }
}

/// Compares in a time that does not tell where two texts differ.
fn alike(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

const LETTERS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A password under SHA-256 in many rounds, as `crypt` of `$5$` makes it: 43 letters.
fn stretched(password: &[u8], salt: &[u8], rounds: u32) -> String {
    let repeated = |digest: &[u8], length: usize| digest.iter().copied().cycle().take(length).collect::<Vec<u8>>();
    let other = Sha256::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut first = Sha256::new();
    first.update(password);
    first.update(salt);
    first.update(repeated(&other, password.len()));
    let mut length = password.len();
    while length > 0 {
        match length & 1 {
            1 => first.update(other),
            _ => first.update(password),
        }
        length >>= 1;
    }
    let mut digest = first.finalize();
    let mut of_password = Sha256::new();
    password.iter().for_each(|_| of_password.update(password));
    let password = repeated(&of_password.finalize(), password.len());
    let mut of_salt = Sha256::new();
    (0..16 + usize::from(digest[0])).for_each(|_| of_salt.update(salt));
    let salt = repeated(&of_salt.finalize(), salt.len());
    for round in 0..rounds {
        let mut next = Sha256::new();
        let odd = round & 1 == 1;
        next.update(if odd { &password[..] } else { &digest[..] });
        if round % 3 != 0 {
            next.update(&salt);
        }
        if round % 7 != 0 {
            next.update(&password);
        }
        next.update(if odd { &digest[..] } else { &password[..] });
        digest = next.finalize();
    }
    let mut text = String::with_capacity(DIGITS);
    let mut write = |bytes: [u8; 3], count: usize| {
        let mut bits = u32::from(bytes[0]) << 16 | u32::from(bytes[1]) << 8 | u32::from(bytes[2]);
        for _ in 0..count {
            text.push(char::from(LETTERS[(bits & 0x3f) as usize]));
            bits >>= 6;
        }
    };
    for group in 0..10 {
        let of = |third: usize| digest[third * 10 + group];
        match group % 3 {
            0 => write([of(0), of(1), of(2)], 4),
            1 => write([of(2), of(0), of(1)], 4),
            _ => write([of(1), of(2), of(0)], 4),
        }
    }
    write([0, digest[31], digest[30]], 3);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::auth::{scramble_native, scramble_sha256};

    #[test]
    fn passwords_are_stretched_as_crypt_does_it() {
        // The examples of Drepper's specification.
        assert_eq!(stretched(b"Hello world!", b"saltstring", 5_000), "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5");
        assert_eq!(
            stretched(b"we have a short salt string but not a short password", b"short", 77_777),
            "JiO1O3ZpDAxGJeaDIuqCoEFysAe1mZNJRs3pw0KQRd/"
        );
    }

    #[test]
    fn verifiers_read_as_they_are_written_and_know_their_password() {
        let seed = *b"01234567890123456789";
        for verifier in
            [Verifier::native(b"secret"), Verifier::caching(b"secret", seed), Verifier::sha256(b"secret", seed)]
        {
            let text = verifier.to_string();
            assert_eq!(Verifier::read(&text).as_ref(), Some(&verifier), "{text}");
            assert!(verifier.accepts(b"secret") && !verifier.accepts(b"Secret") && !verifier.accepts(b""));
            assert!(!verifier.accepts(&[b'x'; LONGEST_PASSWORD + 1]));
        }
        // SELECT PASSWORD('secret') of MariaDB.
        assert_eq!(Verifier::native(b"secret").to_string(), "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7");
        for wrong in [
            "",
            "*",
            "*14E65567ABDB5135D0CFD9A70B3032C179A49EEX",
            "$A$005$short",
            "$A$xyz$",
            "$5$x$y",
            "SCRAM-SHA-256$",
        ] {
            assert_eq!(Verifier::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn scrambles_are_told_without_the_password() {
        let nonce = b"01234567890123456789";
        let native = Verifier::native(b"secret");
        assert!(native.accepts_scramble(nonce, &scramble_native(b"secret", nonce)));
        assert!(!native.accepts_scramble(nonce, &scramble_native(b"Secret", nonce)));
        assert!(
            !native.accepts_scramble(nonce, b"") && !native.accepts_scramble(b"x", &scramble_native(b"secret", nonce))
        );
        let double = double_sha256(b"secret");
        assert!(accepts_sha256_scramble(&double, nonce, &scramble_sha256(b"secret", nonce)));
        assert!(!accepts_sha256_scramble(&double, nonce, &scramble_sha256(b"Secret", nonce)));
        assert!(!accepts_sha256_scramble(&double, nonce, b""));
    }
}
