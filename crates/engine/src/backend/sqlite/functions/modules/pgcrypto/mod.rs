//! `pgcrypto`: digests, hashes of passwords, encryption. The arithmetic is RustCrypto's.

mod armor;
pub(in super::super) mod ciphers;
mod des_crypt;
mod passwords;
mod pgp;

use hmac::{Hmac, Mac as _};
use md5::Md5;
use rand::RngCore as _;
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, work};
use sha1::{Digest as _, Sha1};
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::super::call::text;
use super::{Call, Member};

pub(super) const MEMBERS: &[Member] = &[
    Member::new("pg_armor", armor::armored),
    Member::new("pg_dearmor", |call| Ok(Value::Blob(armor::read(call.text(0)?)?))),
    Member::new("pg_crypt", |call| text(passwords::crypt(call.text(0)?, call.text(1)?)?)),
    Member::new("pg_gen_salt", |call| text(passwords::salt(call.text(0)?, 0)?)),
    Member::new("pg_gen_salt_rounds", |call| text(passwords::salt(call.text(0)?, call.integer(1)?)?)),
    Member::new("pg_digest", |call| {
        let data = call.bytes(0)?;
        work::step(data.len())?;
        digest(call.text(1)?, data).map(Value::Blob)
    }),
    Member::new("pg_hmac", |call| {
        let data = call.bytes(0)?;
        work::step(data.len())?;
        hmac(call.text(2)?, call.bytes(1)?, data).map(Value::Blob)
    }),
    Member::new("pg_random_bytes", |call| match usize::try_from(call.integer(0)?) {
        Ok(count @ 1..=1024) => Ok(Value::Blob(random(count))),
        _ => Err(failed("Length not in range")),
    }),
    Member::new("pg_random_uuid", |_| {
        let mut bytes = [0; 16];
        rand::rng().fill_bytes(&mut bytes);
        super::uuid::print(bytes, 4)
    }),
    Member::new("pg_encrypt", |call| ciphers::encrypt(call.text(2)?, call.bytes(0)?, call.bytes(1)?, &[])),
    Member::new("pg_decrypt", |call| ciphers::decrypt(call.text(2)?, call.bytes(0)?, call.bytes(1)?, &[])),
    Member::new("pg_encrypt_iv", |call| {
        ciphers::encrypt(call.text(3)?, call.bytes(0)?, call.bytes(1)?, call.bytes(2)?)
    }),
    Member::new("pg_decrypt_iv", |call| {
        ciphers::decrypt(call.text(3)?, call.bytes(0)?, call.bytes(1)?, call.bytes(2)?)
    }),
    Member::new("pgp_sym_encrypt_text", |call| pgp::encrypt(call, true)),
    Member::new("pgp_sym_encrypt_bytea", |call| pgp::encrypt(call, false)),
    Member::new("pgp_sym_decrypt_text", |call| pgp::decrypt(call, true)),
    Member::new("pgp_sym_decrypt_bytea", |call| pgp::decrypt(call, false)),
];

fn random(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// The error of an operation that could not be done.
fn failed(message: impl Into<String>) -> Error {
    Error::new(Condition::ExternalRoutineInvocation, message.into())
}

/// The error for a name that means nothing.
fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidParameterValue, message.into())
}

fn no_such_hash(name: &str) -> Error {
    invalid(format!("Cannot use \"{name}\": No such hash algorithm"))
}

fn digest(name: &str, data: &[u8]) -> Result<Vec<u8>> {
    let name = name.to_ascii_lowercase();
    Ok(match name.as_str() {
        "md5" => Md5::digest(data).to_vec(),
        "sha1" => Sha1::digest(data).to_vec(),
        "sha224" => Sha224::digest(data).to_vec(),
        "sha256" => Sha256::digest(data).to_vec(),
        "sha384" => Sha384::digest(data).to_vec(),
        "sha512" => Sha512::digest(data).to_vec(),
        name => return Err(no_such_hash(name)),
    })
}

fn hmac(name: &str, key: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    macro_rules! with {
        ($hash:ty) => {{
            let mut mac = Hmac::<$hash>::new_from_slice(key).map_err(|_| failed("invalid key"))?;
            mac.update(data);
            Ok(mac.finalize().into_bytes().to_vec())
        }};
    }
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "md5" => with!(Md5),
        "sha1" => with!(Sha1),
        "sha224" => with!(Sha224),
        "sha256" => with!(Sha256),
        "sha384" => with!(Sha384),
        "sha512" => with!(Sha512),
        name => Err(no_such_hash(name)),
    }
}
