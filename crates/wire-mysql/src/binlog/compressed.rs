//! What stands compressed in the log: MySQL's transactions (zstd), MariaDB's events and columns (zlib).

use std::io::Read;

use rowferry_wire::{Malformed, Reader, open_enum};

use super::Fault;
use crate::client::MESSAGE_LIMIT;
use crate::lenenc;

open_enum! {
    /// A field of a TRANSACTION_PAYLOAD.
    struct PayloadField(u64) {
        END = 0,
        SIZE = 1,
        COMPRESSION = 2,
        UNCOMPRESSED_SIZE = 3,
    }
}

/// The algorithms of TRANSACTION_PAYLOAD.
const ZSTD: u64 = 0;
const NONE: u64 = 255;

/// Reads at most `limit` bytes; more are an error.
fn read_all(reader: impl Read, expected: usize, what: &'static str) -> Result<Vec<u8>, Malformed> {
    // What is claimed is not believed before it is there.
    let mut bytes = Vec::with_capacity(expected.min(1 << 20));
    let read = reader.take(expected as u64 + 1).read_to_end(&mut bytes);
    if read.is_err() || bytes.len() != expected { Err(Malformed::new(what)) } else { Ok(bytes) }
}

/// The events inside of a TRANSACTION_PAYLOAD, one behind the other, without checksums.
///
/// Wire: fields (type, length, value: all length-encoded integers) up to type 0, then the events.
pub(super) fn expand_transaction(body: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut reader = Reader::new(body);
    let (mut size, mut algorithm, mut expected) = (None, NONE, None);
    loop {
        let what = "payload field";
        let field = PayloadField(lenenc::integer(&mut reader, what)?);
        if field == PayloadField::END {
            break;
        }
        let mut value = Reader::new(lenenc::bytes(&mut reader, what)?);
        match field {
            PayloadField::SIZE => size = Some(lenenc::integer(&mut value, what)?),
            PayloadField::COMPRESSION => algorithm = lenenc::integer(&mut value, what)?,
            PayloadField::UNCOMPRESSED_SIZE => expected = Some(lenenc::integer(&mut value, what)?),
            // A later version's.
            _ => {}
        }
    }
    let payload = reader.rest();
    if size.is_some_and(|size| size != payload.len() as u64) {
        return Err(Malformed::new("payload size").into());
    }
    match algorithm {
        NONE => Ok(payload.to_vec()),
        ZSTD => {
            let expected = expected.and_then(|size| usize::try_from(size).ok()).filter(|size| *size <= MESSAGE_LIMIT);
            let expected = expected.ok_or(Malformed::new("payload uncompressed size"))?;
            let decoder = zstd::stream::read::Decoder::with_buffer(payload);
            let decoder = decoder.map_err(|_| Malformed::new("payload compression"))?;
            Ok(read_all(decoder, expected, "payload compression")?)
        }
        other => Err(Fault::Unsupported(format!("a transaction is compressed by the unknown algorithm {other}"))),
    }
}

/// What MariaDB compressed as a part of an event.
///
/// Wire: 0x80 | algorithm (0: zlib) << 4 | bytes of the size; the size, big endian; the stream.
pub(super) fn expand_event(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let what = "compressed event";
    let mut reader = Reader::new(bytes);
    let head = reader.u8(what)?;
    if head & 0x80 == 0 || !(1..=4).contains(&(head & 0x07)) {
        return Err(Malformed::new(what).into());
    }
    match head >> 4 & 0x07 {
        0 => {}
        other => return Err(Fault::Unsupported(format!("an event is compressed by the unknown algorithm {other}"))),
    }
    let size = reader.take(usize::from(head & 0x07), what)?;
    let size = size.iter().fold(0_usize, |value, byte| value << 8 | usize::from(*byte));
    if size > MESSAGE_LIMIT {
        return Err(Malformed::new(what).into());
    }
    Ok(read_all(flate2::bufread::ZlibDecoder::new(reader.rest()), size, what)?)
}

/// The value of a column that MariaDB compressed.
///
/// Wire: algorithm (0: none, 8: zlib) << 4 | 8 when zlib's frame is left out | bytes of the size; the size, big endian; the
/// stream. Nothing at all is the empty value.
pub(super) fn expand_column(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let what = "compressed column";
    let Some((&head, rest)) = bytes.split_first() else { return Ok(Vec::new()) };
    match head >> 4 {
        0 => Ok(rest.to_vec()),
        8 => {
            let mut reader = Reader::new(rest);
            let size = reader.take(usize::from(head & 0x07).min(4), what)?;
            let size = size.iter().fold(0_usize, |value, byte| value << 8 | usize::from(*byte));
            if size > MESSAGE_LIMIT {
                return Err(Malformed::new(what));
            }
            match head & 0x08 {
                0 => read_all(flate2::bufread::ZlibDecoder::new(reader.rest()), size, what),
                _ => read_all(flate2::bufread::DeflateDecoder::new(reader.rest()), size, what),
            }
        }
        _ => Err(Malformed::new(what)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn sizes_must_be_true() {
        let text = b"INSERT INTO t VALUES (1)".repeat(10);
        let packed = zlib(&text);
        for (size, is_fine) in [(text.len(), true), (text.len() - 1, false), (text.len() + 1, false), (1 << 31, false)]
        {
            let mut bytes = vec![0x84];
            bytes.extend_from_slice(&(size as u32).to_be_bytes());
            bytes.extend_from_slice(&packed);
            assert_eq!(expand_event(&bytes).is_ok_and(|expanded| expanded == text), is_fine);
            assert_eq!(expand_column(&bytes).is_ok_and(|expanded| expanded == text), is_fine);
        }
        assert_eq!(expand_column(b""), Ok(Vec::new()));
        assert_eq!(expand_column(b"\0plain"), Ok(b"plain".to_vec()));
        assert!(matches!(expand_event(&[0x91, 1, 1]), Err(Fault::Unsupported(_))));
    }

    #[test]
    fn a_transaction_is_expanded_within_its_size() {
        let events = b"events ".repeat(100);
        let packed = zstd::bulk::compress(&events, 1).unwrap();
        let body = |size: u16| {
            let mut body = vec![2, 1, 0, 3, 3, 0xfc];
            body.extend_from_slice(&size.to_le_bytes());
            body.push(0);
            body.extend_from_slice(&packed);
            body
        };
        assert_eq!(expand_transaction(&body(700)), Ok(events.clone()));
        assert!(expand_transaction(&body(699)).is_err());
        assert!(expand_transaction(&body(701)).is_err());
        assert!(matches!(expand_transaction(&[2, 1, 9, 0]), Err(Fault::Unsupported(_))));
        assert_eq!(expand_transaction(&[0, b'x']), Ok(b"x".to_vec()));
    }
}
