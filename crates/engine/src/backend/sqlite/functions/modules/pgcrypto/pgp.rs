//! Messages for a password, as OpenPGP (RFC 4880) has them.
//!
//! What is written: a packet that says how the key comes from the password, and one of encrypted data with a digest
//! (MDC) at its end; inside it the data, perhaps compressed. What is read may also have a key of its own, and packets in
//! parts.

use std::io::Read as _;

use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder, ZlibDecoder, ZlibEncoder};
use md5::Md5;
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Error, Result, work};
use sha1::{Digest as _, Sha1};
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::super::super::call::text;
use super::ciphers::{Cipher, Kind};
use super::{Call, failed, random};

/// Kinds of packets.
const SYMMETRIC_KEY: u8 = 3;
const COMPRESSED: u8 = 8;
const ENCRYPTED: u8 = 9;
const MARKER: u8 = 10;
const LITERAL: u8 = 11;
const ENCRYPTED_WITH_DIGEST: u8 = 18;

/// The packet of the digest begins so: its tag, and a length of 20.
const DIGEST_HEAD: [u8; 2] = [0xd3, 20];

fn corrupt() -> Error {
    failed("Wrong key or corrupt data")
}

/// A cipher's number, its kind, and the bytes of its key.
const CIPHERS: [(u8, &str, Kind, usize); 5] = [
    (2, "3des", Kind::TripleDes, 24),
    (4, "bf", Kind::Blowfish, 16),
    (7, "aes128", Kind::Aes, 16),
    (8, "aes192", Kind::Aes, 24),
    (9, "aes256", Kind::Aes, 32),
];

fn cipher(number: u8) -> Result<(Kind, usize)> {
    let found = CIPHERS.iter().find(|(known, ..)| *known == number).map(|(_, _, kind, size)| (*kind, *size));
    found.ok_or_else(|| failed("Unsupported cipher algorithm"))
}

/// Numbers of digests.
const DIGESTS: [(u8, &str); 6] =
    [(1, "md5"), (2, "sha1"), (8, "sha256"), (9, "sha384"), (10, "sha512"), (11, "sha224")];

/// What a call asks for.
struct Options {
    cipher: u8,
    compression: u8,
    level: u32,
    digest: u8,
    /// How the key comes from the password: plain, salted, salted and repeated.
    mode: u8,
    /// How often, as a message has it.
    count: u8,
    own_key: bool,
    unicode: bool,
    crlf: bool,
}

impl Options {
    fn read(text: &str) -> Result<Self> {
        let mut options = Self {
            cipher: 7,
            compression: 0,
            level: 6,
            digest: 2,
            mode: 3,
            // Between 65,536 and 253,952 bytes, as PostgreSQL draws it.
            count: 96 + random(1)[0] % 32,
            own_key: false,
            unicode: false,
            crlf: false,
        };
        for option in text.split(',').map(str::trim).filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').ok_or_else(|| failed("Illegal argument to function"))?;
            options.set(&name.trim().to_ascii_lowercase(), &value.trim().to_ascii_lowercase())?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let illegal = || failed("Illegal argument to function");
        let number = || value.parse::<u32>().map_err(|_| illegal());
        let of_cipher = || {
            let value = if value == "aes" {
                "aes128"
            } else if value == "blowfish" {
                "bf"
            } else {
                value
            };
            let found = CIPHERS.iter().find(|(_, name, ..)| *name == value).map(|(number, ..)| *number);
            found.ok_or_else(|| failed("Unsupported cipher algorithm"))
        };
        match name {
            "cipher-algo" => self.cipher = of_cipher()?,
            "s2k-cipher-algo" if of_cipher()? == self.cipher => {}
            "compress-algo" => {
                self.compression = u8::try_from(number()?).ok().filter(|n| *n <= 2).ok_or_else(illegal)?
            }
            "compress-level" => self.level = Some(number()?).filter(|level| *level <= 9).ok_or_else(illegal)?,
            "s2k-mode" => {
                self.mode =
                    [0, 1, 3].into_iter().find(|mode| u32::from(*mode) == number().unwrap_or(9)).ok_or_else(illegal)?
            }
            "s2k-count" => {
                let wanted = Some(number()?).filter(|count| (1024..=65_011_712).contains(count)).ok_or_else(illegal)?;
                self.count = (0..=255).find(|count| repeated(*count) >= wanted as usize).unwrap_or(255);
            }
            "s2k-digest-algo" => {
                let found = DIGESTS.iter().find(|(_, name)| *name == value).map(|(number, _)| *number);
                self.digest = found.ok_or_else(|| failed("Unsupported digest algorithm"))?;
            }
            "sess-key" => self.own_key = number()? != 0,
            "unicode-mode" => self.unicode = number()? != 0,
            "convert-crlf" => self.crlf = number()? != 0,
            "disable-mdc" if number()? == 0 => {}
            "disable-mdc" | "s2k-cipher-algo" => {
                return Err(Error::unsupported(format!("the option {name} of pgp_sym_encrypt")));
            }
            _ => return Err(illegal()),
        }
        Ok(())
    }
}

/// How many bytes are hashed for a count.
fn repeated(count: u8) -> usize {
    (16 + usize::from(count & 15)) << (usize::from(count >> 4) + 6)
}

/// The key that comes from a password.
struct KeySource<'a> {
    mode: u8,
    digest: u8,
    salt: &'a [u8],
    count: u8,
}

impl KeySource<'_> {
    fn key(&self, password: &[u8], size: usize) -> Result<Vec<u8>> {
        let mut key = Vec::with_capacity(size + 64);
        let mut zeros = 0;
        while key.len() < size {
            let mut data = vec![0; zeros];
            let whole = [if self.mode == 0 { &[] } else { self.salt }, password].concat();
            let length = if self.mode == 3 { repeated(self.count).max(whole.len()) } else { whole.len() };
            work::step(length)?;
            data.extend(whole.iter().cycle().take(length));
            key.extend(match self.digest {
                1 => Md5::digest(&data).to_vec(),
                2 => Sha1::digest(&data).to_vec(),
                8 => Sha256::digest(&data).to_vec(),
                9 => Sha384::digest(&data).to_vec(),
                10 => Sha512::digest(&data).to_vec(),
                11 => Sha224::digest(&data).to_vec(),
                _ => return Err(failed("Unsupported digest algorithm")),
            });
            zeros += 1;
        }
        key.truncate(size);
        Ok(key)
    }
}

/// Cipher feedback over whole data, from a vector of zeros.
fn feedback(cipher: &Cipher, data: &mut [u8], encrypts: bool) -> Result<()> {
    let size = cipher.block();
    let mut last = vec![0; size];
    for block in data.chunks_mut(size) {
        work::step(size)?;
        cipher.encrypt_block(&mut last);
        for (byte, mask) in block.iter_mut().zip(&mut last) {
            let given = *byte;
            *byte ^= *mask;
            *mask = if encrypts { *byte } else { given };
        }
    }
    Ok(())
}

fn push_packet(out: &mut Vec<u8>, tag: u8, body: &[u8]) {
    out.push(0xc0 | tag);
    match body.len() {
        length @ 0..=191 => out.push(length as u8),
        length @ 192..=8_383 => out.extend([((length - 192) >> 8) as u8 + 192, (length - 192) as u8]),
        length => {
            out.push(0xff);
            out.extend((length as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(body);
}

pub(super) fn encrypt(call: &Call<'_>, is_text: bool) -> Result<Value> {
    let options = Options::read(if call.len() > 2 { call.text(2)? } else { "" })?;
    let given = call.bytes(0)?;
    work::room_to_work(given.len() * 4)?;
    let mut literal = vec![
        if !is_text {
            b'b'
        } else if options.unicode {
            b'u'
        } else {
            b't'
        },
        0,
        0,
        0,
        0,
        0,
    ];
    if is_text && options.crlf {
        literal.extend(
            given.iter().flat_map(|byte| if *byte == b'\n' { &b"\r\n"[..] } else { std::slice::from_ref(byte) }),
        );
    } else {
        literal.extend_from_slice(given);
    }
    let mut inner = Vec::new();
    push_packet(&mut inner, LITERAL, &literal);
    if options.compression > 0 && options.level > 0 {
        let mut body = vec![options.compression];
        let level = Compression::new(options.level);
        let done = match options.compression {
            1 => DeflateEncoder::new(inner.as_slice(), level).read_to_end(&mut body),
            _ => ZlibEncoder::new(inner.as_slice(), level).read_to_end(&mut body),
        };
        done.map_err(|_| failed("Compression error"))?;
        inner.clear();
        push_packet(&mut inner, COMPRESSED, &body);
    }
    let (kind, size) = cipher(options.cipher)?;
    let salt = random(8);
    let source = KeySource { mode: options.mode, digest: options.digest, salt: &salt, count: options.count };
    let mut key = source.key(call.bytes(1)?, size)?;
    let mut head = vec![4, options.cipher, options.mode, options.digest];
    if options.mode != 0 {
        head.extend_from_slice(&salt);
    }
    if options.mode == 3 {
        head.push(options.count);
    }
    if options.own_key {
        let own = random(size);
        let mut sealed = [&[options.cipher][..], &own].concat();
        feedback(&Cipher::new(kind, &key)?, &mut sealed, true)?;
        head.extend(sealed);
        key = own;
    }
    let cipher = Cipher::new(kind, &key)?;
    let mut data = random(cipher.block());
    data.extend_from_within(cipher.block() - 2..);
    data.extend(inner);
    data.extend(DIGEST_HEAD);
    let digest = Sha1::digest(&data);
    data.extend(digest);
    feedback(&cipher, &mut data, true)?;
    data.insert(0, 1);
    let mut out = Vec::new();
    push_packet(&mut out, SYMMETRIC_KEY, &head);
    push_packet(&mut out, ENCRYPTED_WITH_DIGEST, &data);
    Ok(Value::Blob(out))
}

/// Cuts a packet off: its kind and its body, put together where it comes in parts.
fn packet<'a>(rest: &mut &'a [u8]) -> Result<(u8, std::borrow::Cow<'a, [u8]>)> {
    let mut take = |count: usize| -> Result<&'a [u8]> {
        let (taken, left) = rest.split_at_checked(count).ok_or_else(corrupt)?;
        *rest = left;
        Ok(taken)
    };
    let number = |bytes: &[u8]| bytes.iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
    let head = take(1)?[0];
    if head & 0xc0 == 0x80 {
        // The old form; a length that is not known reaches to the end.
        let length = match head & 3 {
            3 => rest.len(),
            size => number(take(1 << size)?),
        };
        let (body, left) = rest.split_at_checked(length).ok_or_else(corrupt)?;
        *rest = left;
        return Ok((head >> 2 & 15, body.into()));
    }
    if head & 0xc0 != 0xc0 {
        return Err(corrupt());
    }
    let mut parts: Vec<u8> = Vec::new();
    loop {
        let first = usize::from(take(1)?[0]);
        let (length, is_last) = match first {
            0..=191 => (first, true),
            192..=223 => (((first - 192) << 8) + usize::from(take(1)?[0]) + 192, true),
            255 => (number(take(4)?), true),
            part => (1 << (part & 31), false),
        };
        let body = take(length)?;
        if is_last && parts.is_empty() {
            return Ok((head & 63, body.into()));
        }
        parts.extend_from_slice(body);
        if is_last {
            return Ok((head & 63, parts.into()));
        }
    }
}

pub(super) fn decrypt(call: &Call<'_>, is_text: bool) -> Result<Value> {
    let options = Options::read(if call.len() > 2 { call.text(2)? } else { "" })?;
    let mut rest = call.bytes(0)?;
    work::room_to_work(rest.len() * 4)?;
    let mut key = None;
    while !rest.is_empty() {
        let (tag, body) = packet(&mut rest)?;
        match (tag, &key) {
            (MARKER, _) => {}
            (SYMMETRIC_KEY, None) => key = Some(session_key(&body, call.bytes(1)?)?),
            (ENCRYPTED_WITH_DIGEST, Some((kind, key))) => {
                let inner = opened(&body, &Cipher::new(*kind, key)?)?;
                return literal(&inner, is_text, options.crlf, 0);
            }
            (ENCRYPTED, Some(_)) => return Err(Error::unsupported("a message without a digest of its data")),
            _ => return Err(corrupt()),
        }
    }
    Err(corrupt())
}

/// The cipher and key that a packet and a password give.
fn session_key(body: &[u8], password: &[u8]) -> Result<(Kind, Vec<u8>)> {
    let [4, number, mode, digest, rest @ ..] = body else { return Err(corrupt()) };
    let (kind, size) = cipher(*number)?;
    let (salt, rest) = rest.split_at_checked(if *mode == 0 { 0 } else { 8 }).ok_or_else(corrupt)?;
    let (count, sealed) = match (mode, rest) {
        (3, [count, rest @ ..]) => (*count, rest),
        (0 | 1, rest) => (0, rest),
        _ => return Err(failed("Bad S2K mode")),
    };
    let key = KeySource { mode: *mode, digest: *digest, salt, count }.key(password, size)?;
    if sealed.is_empty() {
        return Ok((kind, key));
    }
    let mut sealed = sealed.to_vec();
    feedback(&Cipher::new(kind, &key)?, &mut sealed, false)?;
    // A wrong password yields anything here.
    let (kind, size) = cipher(sealed[0]).map_err(|_| corrupt())?;
    if sealed.len() == size + 1 { Ok((kind, sealed.split_off(1))) } else { Err(corrupt()) }
}

/// The packets inside encrypted data.
fn opened(body: &[u8], cipher: &Cipher) -> Result<Vec<u8>> {
    let [1, data @ ..] = body else { return Err(corrupt()) };
    let size = cipher.block();
    let mut data = data.to_vec();
    feedback(cipher, &mut data, false)?;
    let at = data.len().checked_sub(20).filter(|at| *at >= size + 4).ok_or_else(corrupt)?;
    let right = data[size - 2..size] == data[size..size + 2]
        && data[at - 2..at] == DIGEST_HEAD
        && Sha1::digest(&data[..at])[..] == data[at..];
    if !right {
        return Err(corrupt());
    }
    data.truncate(at - 2);
    data.drain(..size + 2);
    Ok(data)
}

/// How deep packets may be within each other.
const DEEPEST: usize = 4;

/// The data of a literal packet, or of one inside a compressed packet.
fn literal(mut rest: &[u8], is_text: bool, crlf: bool, depth: usize) -> Result<Value> {
    let (tag, body) = packet(&mut rest)?;
    match (tag, &*body) {
        (COMPRESSED, [how, data @ ..]) if depth < DEEPEST => {
            let inner = match how {
                0 => data.to_vec(),
                1 => inflated(DeflateDecoder::new(data))?,
                2 => inflated(ZlibDecoder::new(data))?,
                _ => return Err(failed("Unsupported compression algorithm")),
            };
            literal(&inner, is_text, crlf, depth + 1)
        }
        (LITERAL, [kind, length, data @ ..]) => {
            let data = data.get(usize::from(*length) + 4..).ok_or_else(corrupt)?;
            if !is_text {
                return Ok(Value::Blob(data.to_vec()));
            }
            if !matches!(kind, b't' | b'u') {
                return Err(failed("Not text data"));
            }
            let all = std::str::from_utf8(data).map_err(|_| corrupt())?;
            text(if crlf { all.replace("\r\n", "\n") } else { all.to_owned() })
        }
        _ => Err(corrupt()),
    }
}

/// What a compressed packet holds; little may become very much.
fn inflated(mut from: impl std::io::Read) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut buffer).map_err(|_| failed("Compression error"))?;
        if count == 0 {
            return Ok(out);
        }
        work::step(count)?;
        work::room_to_work(out.len() + count)?;
        out.extend_from_slice(&buffer[..count]);
    }
}
