//! Block ciphers, and what `encrypt` and `decrypt` make of them.

use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use blowfish::Blowfish;
use des::{Des, TdesEde3};
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Result, work};

use super::{failed, invalid};

/// A cipher with its key.
pub(super) enum Cipher {
    Aes128(Box<Aes128>),
    Aes192(Box<Aes192>),
    Aes256(Box<Aes256>),
    Blowfish(Box<Blowfish>),
    Des(Box<Des>),
    TripleDes(Box<TdesEde3>),
}

/// A cipher by its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Aes,
    Blowfish,
    Des,
    TripleDes,
}

macro_rules! each {
    ($self:expr, $cipher:ident => $body:expr) => {
        match $self {
            Cipher::Aes128($cipher) => $body,
            Cipher::Aes192($cipher) => $body,
            Cipher::Aes256($cipher) => $body,
            Cipher::Blowfish($cipher) => $body,
            Cipher::Des($cipher) => $body,
            Cipher::TripleDes($cipher) => $body,
        }
    };
}

impl Cipher {
    /// A key that is too short is filled with zeros, one that is too long is cut off.
    pub(super) fn new(kind: Kind, key: &[u8]) -> Result<Self> {
        let longest = match kind {
            Kind::Aes => 32,
            Kind::Blowfish => 56,
            Kind::Des => 8,
            Kind::TripleDes => 24,
        };
        let key = &key[..key.len().min(longest)];
        let too_big = || failed("Key was too big");
        let filled = |length: usize| {
            let mut key = key.to_vec();
            key.resize(length, 0);
            key
        };
        let cipher = match (kind, key.len()) {
            (Kind::Aes, 0..=16) => Aes128::new_from_slice(&filled(16)).ok().map(|c| Self::Aes128(Box::new(c))),
            (Kind::Aes, 17..=24) => Aes192::new_from_slice(&filled(24)).ok().map(|c| Self::Aes192(Box::new(c))),
            (Kind::Aes, 25..=32) => Aes256::new_from_slice(&filled(32)).ok().map(|c| Self::Aes256(Box::new(c))),
            // A key is repeated until it fills the cipher's state, so that a short one can be given as it is, repeated.
            (Kind::Blowfish, 1..=3) => {
                Blowfish::new_from_slice(&key.repeat(4)).ok().map(|c| Self::Blowfish(Box::new(c)))
            }
            (Kind::Blowfish, 4..=56) => Blowfish::new_from_slice(key).ok().map(|c| Self::Blowfish(Box::new(c))),
            (Kind::Des, 0..=8) => Des::new_from_slice(&filled(8)).ok().map(|c| Self::Des(Box::new(c))),
            (Kind::TripleDes, 0..=24) => {
                TdesEde3::new_from_slice(&filled(24)).ok().map(|c| Self::TripleDes(Box::new(c)))
            }
            _ => None,
        };
        cipher.ok_or_else(too_big)
    }

    /// Bytes of a block.
    pub(super) fn block(&self) -> usize {
        match self {
            Self::Aes128(_) | Self::Aes192(_) | Self::Aes256(_) => 16,
            Self::Blowfish(_) | Self::Des(_) | Self::TripleDes(_) => 8,
        }
    }

    /// Encrypts one block in its place.
    pub(super) fn encrypt_block(&self, block: &mut [u8]) {
        each!(self, cipher => cipher.encrypt_block(GenericArray::from_mut_slice(block)));
    }

    fn decrypt_block(&self, block: &mut [u8]) {
        each!(self, cipher => cipher.decrypt_block(GenericArray::from_mut_slice(block)));
    }
}

/// `cipher-mode/pad:how` taken apart.
struct Scheme {
    kind: Kind,
    chained: bool,
    padded: bool,
}

fn scheme(name: &str) -> Result<Scheme> {
    let no_such = || invalid(format!("Cannot use \"{name}\": No such cipher algorithm"));
    let bad = || invalid(format!("Cannot use \"{name}\": Bad option"));
    let lower = name.to_ascii_lowercase();
    let (cipher, options) = lower.split_once('/').map_or((lower.as_str(), None), |(c, o)| (c, Some(o)));
    let padded = match options {
        None | Some("pad:pkcs") => true,
        Some("pad:none") => false,
        Some(_) => return Err(bad()),
    };
    let (kind, chained) = match cipher {
        "aes" | "aes-cbc" | "rijndael" | "rijndael-cbc" => (Kind::Aes, true),
        "aes-ecb" | "rijndael-ecb" => (Kind::Aes, false),
        "bf" | "bf-cbc" | "blowfish" | "blowfish-cbc" => (Kind::Blowfish, true),
        "bf-ecb" | "blowfish-ecb" => (Kind::Blowfish, false),
        "des" | "des-cbc" => (Kind::Des, true),
        "des-ecb" => (Kind::Des, false),
        "3des" | "3des-cbc" | "des3" | "des3-cbc" => (Kind::TripleDes, true),
        "3des-ecb" | "des3-ecb" => (Kind::TripleDes, false),
        _ => return Err(no_such()),
    };
    Ok(Scheme { kind, chained, padded })
}

/// The first block to chain with: as much of it as is given.
fn vector(given: &[u8], block: usize) -> Vec<u8> {
    let mut vector = given.to_vec();
    vector.resize(block, 0);
    vector
}

pub(in super::super::super) fn encrypt(name: &str, data: &[u8], key: &[u8], iv: &[u8]) -> Result<Value> {
    let scheme = scheme(name)?;
    let cipher = Cipher::new(scheme.kind, key)?;
    let size = cipher.block();
    work::room_to_work(data.len() + size)?;
    let mut out = data.to_vec();
    if scheme.padded {
        let filling = size - data.len() % size;
        out.resize(data.len() + filling, filling as u8);
    } else if !out.len().is_multiple_of(size) {
        return Err(failed("encrypt error: Encryption failed"));
    }
    let mut last = vector(iv, size);
    for block in out.chunks_exact_mut(size) {
        work::step(size)?;
        if scheme.chained {
            block.iter_mut().zip(&last).for_each(|(byte, other)| *byte ^= other);
        }
        cipher.encrypt_block(block);
        last.copy_from_slice(block);
    }
    Ok(Value::Blob(out))
}

pub(in super::super::super) fn decrypt(name: &str, data: &[u8], key: &[u8], iv: &[u8]) -> Result<Value> {
    let scheme = scheme(name)?;
    let cipher = Cipher::new(scheme.kind, key)?;
    let size = cipher.block();
    let failure = || failed("decrypt error: Decryption failed");
    if data.is_empty() && !scheme.padded {
        return Ok(Value::Blob(Vec::new()));
    }
    if data.is_empty() || !data.len().is_multiple_of(size) {
        return Err(failure());
    }
    work::room_to_work(data.len())?;
    let mut out = data.to_vec();
    let mut last = vector(iv, size);
    for (block, given) in out.chunks_exact_mut(size).zip(data.chunks_exact(size)) {
        work::step(size)?;
        cipher.decrypt_block(block);
        if scheme.chained {
            block.iter_mut().zip(&last).for_each(|(byte, other)| *byte ^= other);
            last.copy_from_slice(given);
        }
    }
    if scheme.padded {
        let filling = usize::from(out.last().copied().unwrap_or(0));
        let right =
            (1..=size).contains(&filling) && out[out.len() - filling..].iter().all(|b| usize::from(*b) == filling);
        if !right {
            return Err(failure());
        }
        out.truncate(out.len() - filling);
    }
    Ok(Value::Blob(out))
}
