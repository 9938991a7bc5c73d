//! Text in the code set of the client.

use std::ffi::CString;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use rowferry_wire_sqli::CodeSet;

use crate::cells::{self, Object};
use crate::errors::{Class, error};

/// Python's codec for a code set that Informix names, if it is one of those that the core has tables for.
#[pyfunction]
pub fn codec_of_code_set(name: &str) -> Option<&'static str> {
    CodeSet::named(name).map(CodeSet::codec)
}

/// A code set.
#[derive(Clone, Debug)]
pub enum Encoding {
    Latin1,
    Utf8,
    /// Another of one byte for each character.
    Table(CodeSet),
    /// Any other that Python knows, by its name there.
    Other(CString),
}

impl Encoding {
    /// By Python's name.
    pub fn named(name: &str) -> PyResult<Self> {
        Ok(match CodeSet::named(name) {
            Some(CodeSet::Latin1) => Self::Latin1,
            Some(CodeSet::Utf8) => Self::Utf8,
            Some(table) => Self::Table(table),
            None => Self::Other(CString::new(name)?),
        })
    }

    /// Decodes; null with an exception set when the bytes are no such text.
    #[inline]
    pub fn decode(&self, bytes: &[u8]) -> Object {
        match self {
            Self::Utf8 => cells::text(bytes),
            Self::Latin1 if bytes.is_ascii() => cells::text(bytes),
            // SAFETY: the GIL is held by whoever builds cells; pointer and length are of one slice.
            Self::Latin1 => unsafe {
                let len = bytes.len() as ffi::Py_ssize_t;
                ffi::PyUnicode_DecodeLatin1(bytes.as_ptr().cast(), len, c"strict".as_ptr())
            },
            Self::Table(_) if bytes.is_ascii() => cells::text(bytes),
            Self::Table(code_set) => {
                let mut text = Vec::with_capacity(bytes.len() * 2);
                match code_set.decode(bytes, &mut text) {
                    Ok(()) => cells::text(&text),
                    // Raises what Python raises for such bytes.
                    Err(_) => CString::new(code_set.codec())
                        .map_or(std::ptr::null_mut(), |name| cells::encoded_text(bytes, &name)),
                }
            }
            Self::Other(name) => cells::encoded_text(bytes, name),
        }
    }

    /// Decodes onto the end of `out`, in UTF-8. Needs the GIL only for code sets that Python alone knows.
    pub fn append_utf8(&self, bytes: &[u8], out: &mut Vec<u8>) -> PyResult<()> {
        match self {
            Self::Latin1 if !bytes.is_ascii() => {
                for &byte in bytes {
                    if byte < 0x80 {
                        out.push(byte);
                    } else {
                        out.extend_from_slice(&[0xc0 | (byte >> 6), 0x80 | (byte & 0x3f)]);
                    }
                }
            }
            Self::Latin1 => out.extend_from_slice(bytes),
            Self::Utf8 if std::str::from_utf8(bytes).is_ok() => out.extend_from_slice(bytes),
            Self::Table(code_set) if code_set.decode(bytes, out).is_ok() => {}
            Self::Utf8 | Self::Table(_) | Self::Other(_) => Python::attach(|py| -> PyResult<()> {
                // SAFETY: `decode` answers a new reference or null with an exception set.
                let text = unsafe { Bound::from_owned_ptr_or_err(py, self.decode(bytes)) }?;
                out.extend_from_slice(text.cast::<PyString>()?.to_str()?.as_bytes());
                Ok(())
            })?,
        }
        Ok(())
    }

    /// Encodes onto the end of `out`. `DataError` when the code set has no such character.
    pub fn encode(&self, text: &Bound<'_, PyString>, out: &mut Vec<u8>) -> PyResult<()> {
        let py = text.py();
        let refuse = |character: char| {
            let message = format!(
                "the character {character:?} is not in the code set of `client_locale`; connect with \
                 client_locale=\"en_US.utf8\""
            );
            error(py, Class::Data, None, &message)
        };
        match self {
            Self::Utf8 => out.extend_from_slice(text.to_str()?.as_bytes()),
            Self::Latin1 => {
                let text = text.to_str()?;
                if text.is_ascii() {
                    out.extend_from_slice(text.as_bytes());
                    return Ok(());
                }
                for character in text.chars() {
                    out.push(u8::try_from(u32::from(character)).map_err(|_| refuse(character))?);
                }
            }
            Self::Table(code_set) => code_set.encode(text.to_str()?, out).map_err(refuse)?,
            Self::Other(name) => {
                let name = name.to_str().unwrap_or_default();
                let bytes = text.call_method1("encode", (name,)).map_err(|_| {
                    let message = format!("a text cannot be written in the code set {name} of `client_locale`");
                    error(py, Class::Data, None, &message)
                })?;
                out.extend_from_slice(bytes.cast::<PyBytes>()?.as_bytes());
            }
        }
        Ok(())
    }
}
