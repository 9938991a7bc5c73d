//! The rows of a member of FROM that refers to relations on its left: packed into one value, and taken apart again.
//!
//! A value is the number of its columns (eight bytes), then every row's values: a byte that says which class, then an
//! integer's or real's eight bytes, or a text's or blob's length in eight bytes and what it holds.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Condition, Error, Result, work};

use super::aggregate::Accumulator;
use super::rows::Source;
use super::rows_sources::Arguments;
use super::{Call, rows_sources};

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BLOB: u8 = 4;

/// Packs rows.
#[derive(Default)]
pub(super) struct Packed(Vec<u8>);

impl Accumulator for Packed {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        if self.0.is_empty() {
            self.0.extend_from_slice(&(call.len() as u64).to_le_bytes());
        }
        for at in 0..call.len() {
            push(&mut self.0, call.value(at))?;
        }
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        Err(Error::internal("packed rows have no window"))
    }

    fn value(&mut self) -> Result<Value> {
        Ok(if self.0.is_empty() { Value::Null } else { Value::Blob(std::mem::take(&mut self.0)) })
    }
}

fn push(out: &mut Vec<u8>, value: ValueRef<'_>) -> Result<()> {
    let (class, bytes) = match value {
        ValueRef::Null => return work::append(out, &[NULL]),
        ValueRef::Integer(value) => return number(out, INTEGER, value.to_le_bytes()),
        ValueRef::Real(value) => return number(out, REAL, value.to_le_bytes()),
        ValueRef::Text(bytes) => (TEXT, bytes),
        ValueRef::Blob(bytes) => (BLOB, bytes),
    };
    number(out, class, (bytes.len() as u64).to_le_bytes())?;
    work::append(out, bytes)
}

fn number(out: &mut Vec<u8>, class: u8, bytes: [u8; 8]) -> Result<()> {
    work::append(out, &[class])?;
    work::append(out, &bytes)
}

/// The arguments of a call, packed.
pub(super) fn pack(call: &Call<'_>) -> Result<Value> {
    let mut packed = Packed::default();
    packed.step(call)?;
    packed.value()
}

/// The arguments that [`pack`] has packed.
pub(super) fn values(packed: Option<&Value>) -> Result<Vec<Value>> {
    let Some(Value::Blob(packed)) = packed.cloned() else { return Err(corrupt()) };
    let mut reader = Reader { packed, at: 0 };
    let count = usize::try_from(reader.length()?).map_err(|_| corrupt())?;
    reader.row(count)
}

/// The rows of a packed value; NULL is none.
pub(super) fn rows(call: &Arguments<'_>) -> Result<Source> {
    let Some(Value::Blob(packed)) = call.value(0).cloned() else { return rows_sources::none() };
    let mut reader = Reader { packed, at: 0 };
    let columns = usize::try_from(reader.length()?).map_err(|_| corrupt())?;
    if columns == 0 {
        return Err(corrupt());
    }
    Ok(Box::new(std::iter::from_fn(move || (reader.at < reader.packed.len()).then(|| reader.row(columns)))))
}

fn corrupt() -> Error {
    Error::new(Condition::DataCorrupted, "rows of a lateral subquery are not as they were packed")
}

struct Reader {
    packed: Vec<u8>,
    at: usize,
}

impl Reader {
    fn take(&mut self, count: usize) -> Result<&[u8]> {
        let end = self.at.checked_add(count).ok_or_else(corrupt)?;
        let taken = self.packed.get(self.at..end).ok_or_else(corrupt)?;
        self.at = end;
        Ok(taken)
    }

    fn eight(&mut self) -> Result<[u8; 8]> {
        self.take(8)?.try_into().map_err(|_| corrupt())
    }

    fn length(&mut self) -> Result<u64> {
        self.eight().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let length = usize::try_from(self.length()?).map_err(|_| corrupt())?;
        let taken = self.take(length)?;
        let mut bytes = work::bytes(taken.len())?;
        bytes.extend_from_slice(taken);
        Ok(bytes)
    }

    fn value(&mut self) -> Result<Value> {
        Ok(match self.take(1)? {
            [NULL] => Value::Null,
            [INTEGER] => Value::Integer(i64::from_le_bytes(self.eight()?)),
            [REAL] => Value::Real(f64::from_le_bytes(self.eight()?)),
            [TEXT] => ValueRef::Text(&self.bytes()?).to_value(),
            [BLOB] => Value::Blob(self.bytes()?),
            _ => return Err(corrupt()),
        })
    }

    fn row(&mut self, columns: usize) -> Result<Vec<Value>> {
        work::step(columns)?;
        // The number is the packer's own: no more values than bytes can follow.
        let mut row = Vec::with_capacity(columns.min(self.packed.len()));
        for _ in 0..columns {
            row.push(self.value()?);
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(rows: &[&[Value]]) -> Vec<u8> {
        let mut out = (rows[0].len() as u64).to_le_bytes().to_vec();
        for value in rows.iter().copied().flatten() {
            push(&mut out, value.as_ref()).unwrap();
        }
        out
    }

    #[test]
    fn every_value_comes_back_as_it_was() {
        let first = [
            Value::Null,
            Value::Integer(i64::MIN),
            Value::Real(-0.0),
            Value::Text("é\n".into()),
            Value::Blob(vec![0, 255]),
        ];
        let second = [
            Value::Text(String::new()),
            Value::Null,
            Value::Real(f64::INFINITY),
            Value::Integer(0),
            Value::Blob(vec![]),
        ];
        let mut reader = Reader { packed: packed(&[&first, &second]), at: 0 };
        let columns = usize::try_from(reader.length().unwrap()).unwrap();
        assert_eq!(reader.row(columns).unwrap(), first);
        assert_eq!(reader.row(columns).unwrap(), second);
        assert_eq!(reader.at, reader.packed.len());
    }

    #[test]
    fn what_is_cut_off_is_no_value() {
        let whole = packed(&[&[Value::Integer(7), Value::Text("abc".into())]]);
        for length in 9..whole.len() {
            let mut reader = Reader { packed: whole[..length].to_vec(), at: 8 };
            assert_eq!(reader.row(2).unwrap_err().condition(), Condition::DataCorrupted, "{length} bytes");
        }
    }
}
