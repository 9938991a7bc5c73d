//! BSON documents, as BSON columns travel: stored is the JSON that they stand for.
//!
//! What JSON has no word for is written as MongoDB's extended JSON has it: `{"$oid": …}`, `{"$date": …}`,
//! `{"$binary": …}`. Other BSON types are refused by name.

use rowferry_engine::{Condition, Error, Result};
use serde_json::{Map, Number, Value};

/// Documents within documents: more are refused.
const MAX_DEPTH: usize = 100;

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const BINARY: u8 = 0x05;
const OBJECT_ID: u8 = 0x07;
const BOOLEAN: u8 = 0x08;
const DATE: u8 = 0x09;
const NULL: u8 = 0x0a;
const INT32: u8 = 0x10;
const INT64: u8 = 0x12;

fn invalid(what: impl std::fmt::Display) -> Error {
    Error::new(Condition::InvalidBinaryRepresentation, format!("BSON: {what}"))
}

/// The document of a JSON text.
///
/// # Errors
/// For text that is no JSON object or array; an array becomes a document of its places, as in MongoDB.
pub(super) fn from_json(text: &str) -> Result<Vec<u8>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => {
            let mut out = Vec::new();
            document(members.iter().map(|(name, value)| (name.as_str(), value)), &mut out)?;
            Ok(out)
        }
        Ok(Value::Array(elements)) => {
            let mut out = Vec::new();
            array(&elements, &mut out)?;
            Ok(out)
        }
        Ok(_) => Err(invalid("a document is a JSON object; cast the column to JSON (`::JSON`) to read other values")),
        Err(error) => Err(invalid(error)),
    }
}

fn document<'a>(members: impl Iterator<Item = (&'a str, &'a Value)>, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    for (name, value) in members {
        if name.contains('\0') {
            return Err(invalid("a name holds a NUL"));
        }
        let kind = out.len();
        out.push(0);
        out.extend_from_slice(name.as_bytes());
        out.push(0);
        out[kind] = put(value, out)?;
    }
    out.push(0);
    let len = i32::try_from(out.len() - start).map_err(|_| invalid("the document is too long"))?;
    out[start..start + 4].copy_from_slice(&len.to_le_bytes());
    Ok(())
}

fn array(elements: &[Value], out: &mut Vec<u8>) -> Result<()> {
    let names: Vec<String> = (0..elements.len()).map(|at| at.to_string()).collect();
    document(names.iter().map(String::as_str).zip(elements), out)
}

/// Appends a value and answers its type.
fn put(value: &Value, out: &mut Vec<u8>) -> Result<u8> {
    Ok(match value {
        Value::Null => NULL,
        Value::Bool(flag) => {
            out.push((*flag).into());
            BOOLEAN
        }
        Value::Number(number) => match number.as_i64() {
            Some(number) => match i32::try_from(number) {
                Ok(small) => {
                    out.extend_from_slice(&small.to_le_bytes());
                    INT32
                }
                Err(_) => {
                    out.extend_from_slice(&number.to_le_bytes());
                    INT64
                }
            },
            None => {
                let double = number.as_f64().ok_or_else(|| invalid(format!("{number} is no double")))?;
                out.extend_from_slice(&double.to_le_bytes());
                DOUBLE
            }
        },
        Value::String(text) => {
            let len = i32::try_from(text.len() + 1).map_err(|_| invalid("a string is too long"))?;
            out.extend_from_slice(&len.to_le_bytes());
            out.extend_from_slice(text.as_bytes());
            out.push(0);
            STRING
        }
        Value::Array(elements) => {
            array(elements, out)?;
            ARRAY
        }
        Value::Object(members) => match extended(members) {
            Some((kind, bytes)) => {
                out.extend_from_slice(&bytes);
                kind
            }
            None => {
                document(members.iter().map(|(name, value)| (name.as_str(), value)), out)?;
                DOCUMENT
            }
        },
    })
}

/// The type and bytes that `{"$oid": …}` or `{"$date": …}` stands for.
fn extended(members: &Map<String, Value>) -> Option<(u8, Vec<u8>)> {
    let (name, value) = members.iter().next().filter(|_| members.len() == 1)?;
    match (name.as_str(), value) {
        ("$oid", Value::String(hex)) if hex.len() == 24 => Some((OBJECT_ID, from_hex(hex)?)),
        ("$date", Value::Number(millis)) => Some((DATE, millis.as_i64()?.to_le_bytes().to_vec())),
        ("$binary", Value::String(hex)) => {
            let bytes = from_hex(hex)?;
            let mut out = i32::try_from(bytes.len()).ok()?.to_le_bytes().to_vec();
            out.push(0);
            out.extend_from_slice(&bytes);
            Some((BINARY, out))
        }
        _ => None,
    }
}

fn from_hex(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    hex.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
            _ => None,
        })
        .collect()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The JSON text of a document.
///
/// # Errors
/// For bytes that are no document, and for BSON types that JSON has no word for.
pub(super) fn to_json(bytes: &[u8]) -> Result<String> {
    let mut reader = Bytes { rest: bytes };
    let members = reader.document(0)?;
    if !reader.rest.is_empty() {
        return Err(invalid("bytes behind the document"));
    }
    Ok(Value::Object(members).to_string())
}

struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(|| invalid("the document is cut off"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into().unwrap_or([0; N]))
    }

    fn len(&mut self) -> Result<usize> {
        usize::try_from(i32::from_le_bytes(self.array()?)).map_err(|_| invalid("a length below zero"))
    }

    fn name(&mut self) -> Result<String> {
        let len = self.rest.iter().position(|&byte| byte == 0).ok_or_else(|| invalid("a name without end"))?;
        let name = String::from_utf8(self.take(len)?.to_vec()).map_err(|_| invalid("a name that is not UTF-8"))?;
        self.take(1)?;
        Ok(name)
    }

    fn document(&mut self, depth: usize) -> Result<Map<String, Value>> {
        if depth > MAX_DEPTH {
            return Err(invalid("documents are nested too deeply"));
        }
        let len = self.len()?.checked_sub(4).ok_or_else(|| invalid("the length of a document"))?;
        let mut inner = Bytes { rest: self.take(len)? };
        let mut members = Map::new();
        loop {
            match inner.array::<1>()? {
                [0] if inner.rest.is_empty() => return Ok(members),
                [0] => return Err(invalid("bytes behind the end of a document")),
                [kind] => {
                    let name = inner.name()?;
                    let value = inner.value(kind, depth)?;
                    members.insert(name, value);
                }
            }
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<Value> {
        let tagged = |name: &str, value: Value| Value::Object(Map::from_iter([(name.to_owned(), value)]));
        Ok(match kind {
            DOUBLE => Number::from_f64(f64::from_le_bytes(self.array()?)).map_or(Value::Null, Value::Number),
            STRING => {
                let len = self.len()?;
                let bytes = self.take(len)?.split_last().filter(|(last, _)| **last == 0);
                let text = bytes.ok_or_else(|| invalid("a string without end"))?.1.to_vec();
                Value::String(String::from_utf8(text).map_err(|_| invalid("a string that is not UTF-8"))?)
            }
            DOCUMENT => Value::Object(self.document(depth + 1)?),
            ARRAY => Value::Array(self.document(depth + 1)?.into_iter().map(|(_, value)| value).collect()),
            BINARY => {
                let len = self.len()?;
                self.take(1)?;
                tagged("$binary", Value::String(to_hex(self.take(len)?)))
            }
            OBJECT_ID => tagged("$oid", Value::String(to_hex(self.take(12)?))),
            BOOLEAN => Value::Bool(self.array::<1>()? != [0]),
            DATE => tagged("$date", Value::from(i64::from_le_bytes(self.array()?))),
            NULL => Value::Null,
            INT32 => Value::from(i32::from_le_bytes(self.array()?)),
            INT64 => Value::from(i64::from_le_bytes(self.array()?)),
            other => return Err(Error::unsupported(format!("BSON values of the type {other:#04x}"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example() {
        assert_eq!(from_json(r#"{"a":1}"#).unwrap(), [0x0c, 0, 0, 0, 0x10, b'a', 0, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn documents_come_back() {
        for text in [
            "{}",
            r#"{"a":null,"b":true,"c":-2147483649,"d":1.5,"e":"é","f":[1,[2],{}],"g":{"h":""}}"#,
            r#"{"i":{"$oid":"0123456789abcdef01234567"},"j":{"$date":1700000000000},"k":{"$binary":"00ff"}}"#,
        ] {
            assert_eq!(to_json(&from_json(text).unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn an_array_is_a_document_of_its_places() {
        assert_eq!(to_json(&from_json("[true,null]").unwrap()).unwrap(), r#"{"0":true,"1":null}"#);
    }

    #[test]
    fn refuses_what_is_no_document() {
        for text in ["\"x\"", "1", "", "{", "{\"a\\u0000\":1}"] {
            assert!(from_json(text).is_err(), "{text}");
        }
        let whole = from_json(r#"{"a":[1,"x"],"b":2.5}"#).unwrap();
        for cut in 0..whole.len() {
            assert!(to_json(&whole[..cut]).is_err(), "{cut}");
        }
        assert!(to_json(&[&whole[..], &[0]].concat()).is_err());
        assert!(to_json(&[0xff; 16]).is_err());
        assert!(to_json(&[8, 0, 0, 0, 0x13, b'a', 0, 0]).is_err());
    }
}
