//! Digests, ciphers, compression, UUIDs, addresses.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{SystemTime, UNIX_EPOCH};

use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use md5::Md5;
use rand::RngCore as _;
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, work};
use sha1::{Digest as _, Sha1};
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::super::call::{boolean, integer, text};
use super::super::{Call, Row};
use super::maybe;
use super::strings::unhex;

pub(in super::super) const ROWS: &[Row] = &[
    Row::new("rf_mysql_md5", 1, |call| text(small_hex(&Md5::digest(call.bytes(0)?)))),
    Row::new("rf_mysql_sha1", 1, |call| text(small_hex(&Sha1::digest(call.bytes(0)?)))),
    Row::new("rf_mysql_sha2", 2, |call| {
        let bytes = call.bytes(0)?;
        match call.integer(1)? {
            224 => text(small_hex(&Sha224::digest(bytes))),
            0 | 256 => text(small_hex(&Sha256::digest(bytes))),
            384 => text(small_hex(&Sha384::digest(bytes))),
            512 => text(small_hex(&Sha512::digest(bytes))),
            _ => Ok(Value::Null),
        }
    }),
    // (text, key, start, mode)
    Row::new("rf_mysql_aes_encrypt", 3, |call| match call.is_null(0) || call.is_null(1) {
        true => Ok(Value::Null),
        false => Ok(Value::Blob(encrypted(call)?)),
    })
    .optional(1)
    .lenient(),
    Row::new("rf_mysql_aes_decrypt", 3, |call| match call.is_null(0) || call.is_null(1) {
        true => Ok(Value::Null),
        false => maybe(decrypted(call)?, |bytes| Ok(Value::Blob(bytes))),
    })
    .optional(1)
    .lenient(),
    Row::new("rf_mysql_random_bytes", 1, |call| {
        let count = usize::try_from(call.integer(0)?).ok().filter(|count| (1..=1_024).contains(count));
        let Some(count) = count else { return Err(out_of_range("length value", "random_bytes")) };
        let mut bytes = vec![0; count];
        rand::rng().fill_bytes(&mut bytes);
        Ok(Value::Blob(bytes))
    })
    .volatile(),
    Row::new("rf_mysql_compress", 1, |call| {
        let bytes = call.bytes(0)?;
        if bytes.is_empty() {
            return Ok(Value::Blob(Vec::new()));
        }
        work::step(bytes.len())?;
        let mut out = (bytes.len() as u32 & 0x3fff_ffff).to_le_bytes().to_vec();
        let mut coder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        let packed = coder.write_all(bytes).and_then(|()| coder.finish());
        out.extend(packed.map_err(|error| Error::internal(error.to_string()))?);
        // A space at the end would be lost in a CHAR.
        if out.last() == Some(&b' ') {
            out.push(b'.');
        }
        Ok(Value::Blob(out))
    }),
    Row::new("rf_mysql_uncompress", 1, |call| {
        let bytes = call.bytes(0)?;
        if bytes.is_empty() {
            return Ok(Value::Blob(Vec::new()));
        }
        let Some((length, packed)) = bytes.split_first_chunk::<4>() else { return Ok(Value::Null) };
        let length = u64::from(u32::from_le_bytes(*length) & 0x3fff_ffff);
        work::room(length as usize)?;
        let mut out = Vec::new();
        match flate2::read::ZlibDecoder::new(packed).take(length + 1).read_to_end(&mut out) {
            Ok(_) if out.len() as u64 <= length => Ok(Value::Blob(out)),
            _ => Ok(Value::Null),
        }
    }),
    Row::new("rf_mysql_uncompressed_length", 1, |call| match call.bytes(0)?.first_chunk::<4>() {
        Some(length) => integer(u32::from_le_bytes(*length) & 0x3fff_ffff),
        None => integer(0),
    }),
    Row::new("rf_mysql_uuid", 0, |_| text(dashed(&by_time()))).volatile(),
    Row::new("rf_mysql_uuid_short", 0, |_| {
        use std::sync::atomic::{AtomicI64, Ordering};
        static NEXT: AtomicI64 = AtomicI64::new(0);
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        let _ = NEXT.compare_exchange(0, 1 << 56 | started << 24, Ordering::Relaxed, Ordering::Relaxed);
        integer(NEXT.fetch_add(1, Ordering::Relaxed))
    })
    .volatile(),
    Row::new("rf_mysql_is_uuid", 1, |call| boolean(uuid_bytes(call.text(0)?).is_some())),
    // (uuid, 1 with its times swapped)
    Row::new("rf_mysql_uuid_to_bin", 2, |call| {
        let written = call.text(0)?;
        let Some(bytes) = uuid_bytes(written) else {
            let message = format!("Incorrect string value: '{written}' for function uuid_to_bin");
            return Err(Error::new(Condition::InvalidTextRepresentation, message));
        };
        Ok(Value::Blob(if call.boolean(1)? { swapped(bytes).to_vec() } else { bytes.to_vec() }))
    }),
    Row::new("rf_mysql_bin_to_uuid", 2, |call| {
        let Ok(bytes) = <[u8; 16]>::try_from(call.bytes(0)?) else {
            let message = "Incorrect string value for function bin_to_uuid";
            return Err(Error::new(Condition::InvalidTextRepresentation, message));
        };
        text(dashed(&if call.boolean(1)? { unswapped(bytes) } else { bytes }))
    }),
    Row::new("rf_mysql_inet_aton", 1, |call| maybe(aton(call.text(0)?), integer)),
    Row::new("rf_mysql_inet_ntoa", 1, |call| {
        maybe(u32::try_from(call.integer(0)?).ok(), |address| text(Ipv4Addr::from(address).to_string()))
    }),
    Row::new("rf_mysql_inet6_aton", 1, |call| {
        maybe(call.text(0)?.parse::<IpAddr>().ok(), |address| {
            Ok(Value::Blob(match address {
                IpAddr::V4(address) => address.octets().to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            }))
        })
    }),
    Row::new("rf_mysql_inet6_ntoa", 1, |call| match call.bytes(0)? {
        bytes if bytes.len() == 4 => text(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).to_string()),
        bytes => maybe(<[u8; 16]>::try_from(bytes).ok(), |bytes| text(Ipv6Addr::from(bytes).to_string())),
    }),
    Row::new("rf_mysql_is_ipv4", 1, |call| boolean(call.text(0)?.parse::<Ipv4Addr>().is_ok())),
    Row::new("rf_mysql_is_ipv6", 1, |call| boolean(call.text(0)?.parse::<Ipv6Addr>().is_ok())),
    Row::new("rf_mysql_is_ipv4_compat", 1, |call| {
        let bytes = call.bytes(0)?;
        boolean(bytes.len() == 16 && bytes[..12] == [0; 12] && bytes[12..] != [0, 0, 0, 0])
    }),
    Row::new("rf_mysql_is_ipv4_mapped", 1, |call| {
        let bytes = call.bytes(0)?;
        boolean(bytes.len() == 16 && bytes[..10] == [0; 10] && bytes[10..12] == [255, 255])
    }),
];

/// Bytes in small digits.
fn small_hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn out_of_range(what: &str, function: &str) -> Error {
    Error::new(Condition::NumericValueOutOfRange, format!("{what} is out of range in '{function}'"))
}

/// A key of a length: what is longer is folded into it.
fn folded_key(key: &[u8], length: usize) -> Vec<u8> {
    let mut folded = vec![0; length];
    for (at, byte) in key.iter().enumerate() {
        folded[at % length] ^= byte;
    }
    folded
}

/// A cipher and what stands before its first block.
struct Aes {
    cipher: Width,
    chain: Option<[u8; 16]>,
}

enum Width {
    Narrow(Box<Aes128>),
    Middle(Box<Aes192>),
    Wide(Box<Aes256>),
}

impl Aes {
    fn of(call: &Call<'_>) -> Result<Self> {
        let mode = call.given(3).map_or(Ok("aes-128-ecb"), |_| call.text(3))?.to_ascii_lowercase();
        let key = call.bytes(1)?;
        let (bits, kind) = mode.strip_prefix("aes-").and_then(|rest| rest.split_once('-')).unwrap_or_default();
        let unusable = || Error::internal("a key of a wrong length");
        let cipher = match bits {
            "128" => Width::Narrow(Box::new(Aes128::new_from_slice(&folded_key(key, 16)).map_err(|_| unusable())?)),
            "192" => Width::Middle(Box::new(Aes192::new_from_slice(&folded_key(key, 24)).map_err(|_| unusable())?)),
            "256" => Width::Wide(Box::new(Aes256::new_from_slice(&folded_key(key, 32)).map_err(|_| unusable())?)),
            _ => return Err(Error::unsupported(format!("block_encryption_mode {mode}"))),
        };
        let chain = match kind {
            "ecb" => None,
            "cbc" => {
                match call.given(2).map(|_| call.bytes(2)).transpose()?.and_then(|start| start.first_chunk::<16>()) {
                    Some(start) => Some(*start),
                    None => {
                        let message = "The initialization vector supplied to aes_encrypt is too short. Must be at least 16 bytes long";
                        return Err(Error::new(Condition::InvalidParameterValue, message));
                    }
                }
            }
            _ => return Err(Error::unsupported(format!("block_encryption_mode {mode}"))),
        };
        Ok(Self { cipher, chain })
    }

    fn encrypt(&self, block: &mut [u8]) {
        let block = GenericArray::from_mut_slice(block);
        match &self.cipher {
            Width::Narrow(cipher) => cipher.encrypt_block(block),
            Width::Middle(cipher) => cipher.encrypt_block(block),
            Width::Wide(cipher) => cipher.encrypt_block(block),
        }
    }

    fn decrypt(&self, block: &mut [u8]) {
        let block = GenericArray::from_mut_slice(block);
        match &self.cipher {
            Width::Narrow(cipher) => cipher.decrypt_block(block),
            Width::Middle(cipher) => cipher.decrypt_block(block),
            Width::Wide(cipher) => cipher.decrypt_block(block),
        }
    }
}

fn encrypted(call: &Call<'_>) -> Result<Vec<u8>> {
    let mut aes = Aes::of(call)?;
    let mut out = call.bytes(0)?.to_vec();
    work::step(out.len())?;
    let fill = 16 - out.len() % 16;
    out.extend(std::iter::repeat_n(fill as u8, fill));
    for block in out.chunks_exact_mut(16) {
        if let Some(chain) = &aes.chain {
            block.iter_mut().zip(chain).for_each(|(byte, with)| *byte ^= with);
        }
        aes.encrypt(block);
        if let Some(chain) = &mut aes.chain {
            chain.copy_from_slice(block);
        }
    }
    Ok(out)
}

fn decrypted(call: &Call<'_>) -> Result<Option<Vec<u8>>> {
    let mut aes = Aes::of(call)?;
    let mut out = call.bytes(0)?.to_vec();
    work::step(out.len())?;
    if out.is_empty() || out.len() % 16 != 0 {
        return Ok(None);
    }
    for block in out.chunks_exact_mut(16) {
        let mut coded = [0; 16];
        coded.copy_from_slice(block);
        aes.decrypt(block);
        if let Some(chain) = &mut aes.chain {
            block.iter_mut().zip(chain.iter()).for_each(|(byte, with)| *byte ^= with);
            *chain = coded;
        }
    }
    let fill = usize::from(out.last().copied().unwrap_or(0));
    if !(1..=16).contains(&fill) || out[out.len() - fill..].iter().any(|byte| usize::from(*byte) != fill) {
        return Ok(None);
    }
    out.truncate(out.len() - fill);
    Ok(Some(out))
}

/// Bytes of a UUID with dashes, without, or in braces.
fn uuid_bytes(written: &str) -> Option<[u8; 16]> {
    let bare = written.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(written);
    let digits: String = match bare.len() {
        32 => bare.to_owned(),
        36 if [8, 13, 18, 23].iter().all(|at| bare.as_bytes()[*at] == b'-') => bare.replace('-', ""),
        _ => return None,
    };
    if digits.len() != 32 {
        return None;
    }
    unhex(digits.as_bytes())?.try_into().ok()
}

fn dashed(bytes: &[u8; 16]) -> String {
    let digits = small_hex(bytes);
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}

/// The high part of the time before the low one, so that they sort by it.
fn swapped(bytes: [u8; 16]) -> [u8; 16] {
    let mut out = bytes;
    out[..2].copy_from_slice(&bytes[6..8]);
    out[2..4].copy_from_slice(&bytes[4..6]);
    out[4..8].copy_from_slice(&bytes[..4]);
    out
}

fn unswapped(bytes: [u8; 16]) -> [u8; 16] {
    let mut out = bytes;
    out[..4].copy_from_slice(&bytes[4..8]);
    out[4..6].copy_from_slice(&bytes[2..4]);
    out[6..8].copy_from_slice(&bytes[..2]);
    out
}

/// A UUID of version 1, with a node made by chance.
fn by_time() -> [u8; 16] {
    const TO_1970: u64 = 0x01b2_1dd2_1381_4000;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64 / 100);
    let time = since.wrapping_add(TO_1970);
    let mut bytes = [0; 16];
    rand::rng().fill_bytes(&mut bytes[8..]);
    bytes[..4].copy_from_slice(&(time as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&((time >> 48) as u16 & 0x0fff | 0x1000).to_be_bytes());
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes[10] |= 1;
    bytes
}

/// An address of four numbers, of which those before the last may be left out.
fn aton(written: &str) -> Option<i64> {
    let parts: Vec<i64> = written
        .split('.')
        .map(|part| part.parse::<i64>().ok().filter(|number| (0..256).contains(number) && !part.starts_with('+')))
        .collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 {
        return None;
    }
    let head = first.iter().enumerate().map(|(at, part)| part << (24 - 8 * at)).sum::<i64>();
    Some(head + last)
}
