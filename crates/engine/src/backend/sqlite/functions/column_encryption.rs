//! ENCRYPT_AES, ENCRYPT_TDES, DECRYPT_CHAR, DECRYPT_BINARY and GETHINT of Informix.
//!
//! What is known of them is used: the ciphers, the sizes, the limits. How a server makes a key of a password is not
//! published, so that values are readable only where they were made: the key is PBKDF2's.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, Mac as _};
use rand::RngCore as _;
use rowferry_dialect::informix::values::encrypted::{Algorithm, HINT, Head, SALT};
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Condition, Error, Result};
use sha2::{Digest as _, Sha256};

use super::modules::ciphers;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    // (data, password, hint, AES or TDES); without a password or a hint the session's
    Row::new("rf_ifx_encrypt", 4, encrypt).lenient().volatile(),
    // (encrypted data, password)
    Row::new("rf_ifx_decrypt", 2, decrypt).lenient(),
    Row::new("rf_ifx_gethint", 1, hint),
];

/// The session's variable of SET ENCRYPTION PASSWORD: how long the hint is, a line's end, the hint, the password.
const VARIABLE: &str = "informix.encryption_password";
/// Bytes of a password, at least and at most.
const PASSWORD: std::ops::RangeInclusive<usize> = 6..=128;
/// Bytes of a string that is encrypted with a hint, and without.
const LONGEST: [usize; 2] = [32_640, 32_672];
const ROUNDS: usize = 20_000;
/// What hides a hint: who has the value may have it, but not read it by looking.
const OF_HINTS: &[u8] = b"the hint is no secret";

type Key = [u8; 32];

thread_local! {
    /// The last password of this thread, as its digest, and the key that it makes: rows come with the same one.
    static LAST: RefCell<Option<(Key, Key)>> = const { RefCell::new(None) };
}

fn encrypt(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let algorithm = if call.text(3)? == "AES" { Algorithm::Aes } else { Algorithm::TripleDes };
    let of_session = session(call);
    let hint = match call.is_null(2) {
        false => call.text(2)?.to_owned(),
        true => of_session.as_ref().map(|(_, hint)| hint.clone()).unwrap_or_default(),
    };
    if hint.len() > HINT {
        return Err(invalid(format!("a hint has up to {HINT} bytes, this one {}", hint.len())));
    }
    let key = key(&password(call, of_session)?);
    let data = call.bytes(0)?;
    let is_text = matches!(call.value(0), ValueRef::Text(_));
    if is_text && data.len() > LONGEST[usize::from(hint.is_empty())] {
        return Err(too_long());
    }
    let mut payload = vec![0; SALT];
    rand::rng().fill_bytes(&mut payload);
    let salt = payload.clone();
    if !hint.is_empty() {
        payload.extend(run(true, algorithm, hint.as_bytes(), &digest(&[OF_HINTS]), &salt)?);
    }
    let hint = payload.len() - SALT;
    payload.extend(run(true, algorithm, data, &key, &salt)?);
    let length = u32::try_from(payload.len() & 0xff_ffff).unwrap_or(0);
    let head = Head { algorithm, hint, length, check: check(&key, &salt, data) }.write();
    if !is_text {
        return Ok(Value::Blob([head.as_bytes(), &payload].concat()));
    }
    let text = head + &BASE64.encode(&payload);
    if text.len() > 32_767 { Err(too_long()) } else { Ok(Value::Text(text)) }
}

fn decrypt(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let key = key(&password(call, session(call))?);
    let (head, payload) = taken_apart(call)?;
    let (salt, rest) = payload.split_at(SALT);
    let failed = || {
        let message = "the data cannot be decrypted: this is not the password by which they were encrypted";
        Error::new(Condition::InvalidParameterValue, message).codes(-26_008, 0)
    };
    let data = run(false, head.algorithm, &rest[head.hint..], &key, salt).map_err(|_| failed())?;
    if check(&key, salt, &data) != head.check {
        return Err(failed());
    }
    Ok(match call.value(0) {
        ValueRef::Text(_) => Value::Text(String::from_utf8(data).map_err(|_| failed())?),
        _ => Value::Blob(data),
    })
}

fn hint(call: &Call<'_>) -> Result<Value> {
    let (head, payload) = taken_apart(call)?;
    if head.hint == 0 {
        return Ok(Value::Null);
    }
    let (salt, rest) = payload.split_at(SALT);
    let hint =
        run(false, head.algorithm, &rest[..head.hint], &digest(&[OF_HINTS]), salt).map_err(|_| not_encrypted())?;
    Ok(Value::Text(String::from_utf8(hint).map_err(|_| not_encrypted())?))
}

/// A value's head and what is behind it.
fn taken_apart(call: &Call<'_>) -> Result<(Head, Vec<u8>)> {
    let is_text = matches!(call.value(0), ValueRef::Text(_));
    // A CHAR may have come with its blanks.
    let bytes = if is_text { call.text(0)?.trim_end_matches(' ').as_bytes() } else { call.bytes(0)? };
    let (head, rest) = Head::read(bytes).ok_or_else(not_encrypted)?;
    let payload = if is_text { BASE64.decode(rest).map_err(|_| not_encrypted())? } else { rest.to_vec() };
    let whole = payload.len() & 0xff_ffff == head.length as usize && payload.len() > SALT + head.hint;
    if whole { Ok((head, payload)) } else { Err(not_encrypted()) }
}

/// The password and the hint of SET ENCRYPTION PASSWORD.
fn session(call: &Call<'_>) -> Option<(String, String)> {
    let kept = call.context().state().variable(VARIABLE).filter(|kept| !kept.is_empty())?;
    let (length, both) = kept.split_once('\n')?;
    let (hint, password) = both.split_at_checked(length.parse().ok()?)?;
    Some((password.to_owned(), hint.to_owned()))
}

fn password(call: &Call<'_>, of_session: Option<(String, String)>) -> Result<String> {
    let password = match call.is_null(1) {
        false => call.text(1)?.to_owned(),
        true => of_session.map(|(password, _)| password).ok_or_else(|| {
            invalid("no password is given, and SET ENCRYPTION PASSWORD has not set one in this session".to_owned())
        })?,
    };
    check_password(&password)?;
    Ok(password)
}

fn check_password(password: &str) -> Result<()> {
    if PASSWORD.contains(&password.len()) {
        return Ok(());
    }
    Err(invalid(format!(
        "a password has {} to {} bytes, this one {}",
        PASSWORD.start(),
        PASSWORD.end(),
        password.len()
    )))
}

/// Encrypts or decrypts.
fn run(encrypts: bool, algorithm: Algorithm, data: &[u8], key: &Key, salt: &[u8]) -> Result<Vec<u8>> {
    let vector = digest(&[b"vector", salt]);
    let (name, key) = match algorithm {
        Algorithm::Aes => ("aes-cbc", &key[..16]),
        Algorithm::TripleDes => ("3des-cbc", &key[..24]),
    };
    let vector = &vector[..algorithm.block()];
    let done =
        if encrypts { ciphers::encrypt(name, data, key, vector)? } else { ciphers::decrypt(name, data, key, vector)? };
    match done {
        Value::Blob(bytes) => Ok(bytes),
        _ => Err(Error::internal("a cipher yields bytes")),
    }
}

/// 18 bits of a digest of the data under the key.
fn check(key: &Key, salt: &[u8], data: &[u8]) -> u32 {
    let sum = keyed(key, &[salt, data]);
    u32::from_be_bytes([sum[0], sum[1], sum[2], sum[3]]) >> 14
}

/// The key that a password makes.
fn key(password: &str) -> Key {
    let known = digest(&[b"password", password.as_bytes()]);
    let found = LAST.with_borrow(|last| last.filter(|(of, _)| *of == known).map(|(_, key)| key));
    found.unwrap_or_else(|| {
        // PBKDF2 with one block, RFC 8018, 5.2.
        let mut block = keyed(password.as_bytes(), &[b"rowferry: columns of Informix", &1_u32.to_be_bytes()]);
        let mut key = block;
        for _ in 1..ROUNDS {
            block = keyed(password.as_bytes(), &[&block]);
            key.iter_mut().zip(block).for_each(|(byte, other)| *byte ^= other);
        }
        LAST.set(Some((known, key)));
        key
    })
}

fn keyed(key: &[u8], parts: &[&[u8]]) -> Key {
    // A key of any length is a key of HMAC's.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

fn digest(parts: &[&[u8]]) -> Key {
    let mut digest = Sha256::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().into()
}

fn invalid(message: String) -> Error {
    Error::new(Condition::InvalidParameterValue, message)
}

fn too_long() -> Error {
    Error::new(Condition::SubstringError, "the result of ENCRYPT would be longer than a string can be")
}

/// IBM's manual, "Levels of Encryption": decryption of data that are not encrypted.
fn not_encrypted() -> Error {
    Error::new(Condition::InvalidParameterValue, "the data are not encrypted, or not whole").codes(-26_005, 0)
}
