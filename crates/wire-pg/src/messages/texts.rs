//! The texts inside messages, for servers whose client wants them in another encoding.

use rowferry_wire::{Malformed, Reader};

/// Adds a message from a server to `out`, its texts as `map` writes them: bytes without a zero among them.
///
/// The values of rows and the data of COPY are left alone, as are messages without texts.
///
/// # Errors
/// Those of `map`; `out` is then as it was.
pub fn map_texts<E>(
    message: &[u8],
    out: &mut Vec<u8>,
    mut map: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    let mut result = Ok(());
    let mut mapped = |text: &[u8], out: &mut Vec<u8>| {
        if result.is_ok() {
            result = map(text, out);
        }
        out.push(0);
    };
    let body = message.get(5..).unwrap_or_default();
    out.extend_from_slice(&message[..message.len().min(5)]);
    let read = map_body(message.first().copied().unwrap_or_default(), &mut Reader::new(body), out, &mut mapped);
    if result.is_err() || read.is_err() {
        out.truncate(start);
        if read.is_err() {
            out.extend_from_slice(message);
        }
        return result;
    }
    if message.len() >= 5 {
        let length = u32::try_from(out.len() - start - 1).unwrap_or(u32::MAX);
        out[start + 1..start + 5].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

fn map_body(
    tag: u8,
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
    mapped: &mut dyn FnMut(&[u8], &mut Vec<u8>),
) -> Result<(), Malformed> {
    match tag {
        // ErrorResponse and NoticeResponse: a byte that says what, then the text; a zero at the end.
        b'E' | b'N' => loop {
            let field = reader.u8("field")?;
            out.push(field);
            if field == 0 {
                break;
            }
            mapped(reader.until_nul("field")?, out);
        },
        // ParameterStatus: name and value.
        b'S' => {
            mapped(reader.until_nul("name")?, out);
            mapped(reader.until_nul("value")?, out);
        }
        // NotificationResponse: the process, then channel and payload.
        b'A' => {
            out.extend_from_slice(reader.take(4, "process")?);
            mapped(reader.until_nul("channel")?, out);
            mapped(reader.until_nul("payload")?, out);
        }
        // RowDescription: each name with eighteen bytes of numbers behind it.
        b'T' => {
            let count = reader.u16("count")?;
            out.extend_from_slice(&count.to_be_bytes());
            for _ in 0..count {
                mapped(reader.until_nul("name")?, out);
                out.extend_from_slice(reader.take(18, "numbers")?);
            }
        }
        _ => {}
    }
    out.extend_from_slice(reader.rest());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;
    use crate::Format;
    use crate::messages::{FieldDescription, Notice, ParameterStatus, RowDescription, Severity};

    fn mapped(message: &Backend<'_>) -> Result<Vec<u8>, String> {
        let (mut plain, mut out) = (Vec::new(), b"before".to_vec());
        message.encode(&mut plain);
        map_texts(&plain, &mut out, |text, out| {
            let text = String::from_utf8_lossy(text);
            if text.contains('!') {
                return Err(text.into_owned());
            }
            out.extend_from_slice(text.replace('é', "E~").as_bytes());
            Ok(())
        })
        .map(|()| out.split_off(6))
    }

    fn encoded(message: &Backend<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        message.encode(&mut out);
        out
    }

    #[test]
    fn texts_are_mapped_and_lengths_follow() {
        let field = |name| FieldDescription {
            name,
            table: 1,
            column: 0x41,
            type_oid: 25,
            type_size: -1,
            type_modifier: -1,
            format: Format::TEXT,
        };
        let rows = |a, b| Backend::RowDescription(RowDescription { fields: vec![field(a), field(b)] });
        assert_eq!(mapped(&rows("é", "b")), Ok(encoded(&rows("E~", "b"))));
        let status = |value| Backend::ParameterStatus(ParameterStatus { name: "n", value });
        assert_eq!(mapped(&status("é")), Ok(encoded(&status("E~"))));
        let error = |message| Backend::ErrorResponse(Notice::new(Severity::Error, "22P05", message).into());
        assert_eq!(mapped(&error("xéy")), Ok(encoded(&error("xE~y"))));
        assert_eq!(mapped(&error("no!")), Err("no!".to_owned()));
        let data = Backend::CopyData("é!".as_bytes());
        assert_eq!(mapped(&data), Ok(encoded(&data)));
        assert_eq!(mapped(&Backend::NoData), Ok(encoded(&Backend::NoData)));
    }

    #[test]
    fn a_message_that_breaks_off_is_left_as_it_is() {
        for message in [b"".as_slice(), b"T", b"T\0\0\0\x05\0", b"E\0\0\0\x05Mabc", b"S\0\0\0\x05a\0b"] {
            let mut out = Vec::new();
            let _: Result<(), ()> = map_texts(message, &mut out, |text, out| {
                out.extend_from_slice(text);
                Ok(())
            });
            assert_eq!(out, message);
        }
    }
}
