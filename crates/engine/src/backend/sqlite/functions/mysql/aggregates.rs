//! Aggregates.

use std::collections::VecDeque;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::Decimal;
use rowferry_dialect::{Condition, Error, Result, work};

use super::super::Call;
use super::super::aggregate::Accumulator;
use super::arithmetic::{bits_of, kept_quotient, quotient, scale};
use super::{number, unsigned};

/// AVG of exact numbers, with four digits more than they have.
pub(in super::super) struct Average {
    /// It keeps more digits than that.
    exact: bool,
    sum: Decimal,
    count: i64,
    scale: i64,
}

impl Default for Average {
    fn default() -> Self {
        Self { exact: false, sum: Decimal::ZERO, count: 0, scale: 0 }
    }
}

impl Average {
    /// One that keeps more digits than it shows.
    pub(in super::super) fn exact() -> Self {
        Self { exact: true, ..Self::default() }
    }
}

impl Accumulator for Average {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let value = call.decimal(0)?;
        self.scale = self.scale.max(scale(&value));
        self.sum = self.sum.add(&value)?;
        self.count += 1;
        Ok(())
    }

    fn inverse(&mut self, call: &Call<'_>) -> Result<()> {
        self.sum = self.sum.sub(&call.decimal(0)?)?;
        self.count -= 1;
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        match self.count {
            0 => Ok(Value::Null),
            count if self.exact => number(&kept_quotient(&self.sum, &Decimal::from_i64(count))?),
            count => number(&quotient(&self.sum, &Decimal::from_i64(count), self.scale + 4)?),
        }
    }
}

/// BIT_AND and its kin, over 64 bits.
pub(in super::super) struct Bits {
    start: u64,
    join: fn(u64, u64) -> u64,
    /// Those of the frame.
    values: VecDeque<u64>,
}

impl Bits {
    pub(in super::super) fn new(start: u64, join: fn(u64, u64) -> u64) -> Self {
        Self { start, join, values: VecDeque::new() }
    }
}

impl Accumulator for Bits {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        if call.is_null(0) {
            return Ok(());
        }
        work::room(size_of::<u64>())?;
        self.values.push_back(bits_of(call.value(0))?);
        Ok(())
    }

    fn inverse(&mut self, call: &Call<'_>) -> Result<()> {
        if !call.is_null(0) {
            self.values.pop_front();
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        unsigned(self.values.iter().fold(self.start, |bits, value| (self.join)(bits, *value)))
    }
}

/// BIT_AND, BIT_OR and BIT_XOR of strings of bytes, which are all of one length.
pub(in super::super) struct BytesBits {
    join: fn(u8, u8) -> u8,
    /// Those of the frame.
    values: VecDeque<Vec<u8>>,
}

impl BytesBits {
    pub(in super::super) fn new(join: fn(u8, u8) -> u8) -> Self {
        Self { join, values: VecDeque::new() }
    }
}

impl Accumulator for BytesBits {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        if call.is_null(0) {
            return Ok(());
        }
        let bytes = call.bytes(0)?;
        work::room(bytes.len() + size_of::<Vec<u8>>())?;
        if self.values.front().is_some_and(|first| first.len() != bytes.len()) {
            let message = "Binary operands of bitwise operators must be of equal length";
            return Err(Error::new(Condition::StringDataLengthMismatch, message).with_mysql(3513, "HY000"));
        }
        self.values.push_back(bytes.to_vec());
        Ok(())
    }

    fn inverse(&mut self, call: &Call<'_>) -> Result<()> {
        if !call.is_null(0) {
            self.values.pop_front();
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        let mut values = self.values.iter();
        let Some(mut bits) = values.next().cloned() else { return Ok(Value::Null) };
        for value in values {
            bits.iter_mut().zip(value).for_each(|(bits, byte)| *bits = (self.join)(*bits, *byte));
        }
        Ok(Value::Blob(bits))
    }
}

/// GROUP_CONCAT of texts that a collation tells apart: of those that are equal to it the first one.
#[derive(Default)]
pub(in super::super) struct Distinct {
    /// In the collation's order.
    seen: Vec<String>,
    joined: Option<String>,
}

impl Accumulator for Distinct {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let (text, separator) = (call.text(0)?, call.text(1)?);
        let number = u32::try_from(call.integer(2)?).unwrap_or_default();
        let collation = Collation::by_oid(number).unwrap_or_else(|| Collation::mysql_default());
        let Err(at) = self.seen.binary_search_by(|known| collation.compare(known, text)) else { return Ok(()) };
        work::room(text.len() * 2 + separator.len() + size_of::<String>())?;
        self.seen.insert(at, text.to_owned());
        match &mut self.joined {
            Some(joined) => {
                joined.push_str(separator);
                joined.push_str(text);
            }
            None => self.joined = Some(text.to_owned()),
        }
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        Err(Error::internal("DISTINCT over a window"))
    }

    fn value(&mut self) -> Result<Value> {
        Ok(self.joined.clone().map_or(Value::Null, Value::Text))
    }
}

/// ANY_VALUE: the first.
#[derive(Default)]
pub(in super::super) struct Any {
    values: VecDeque<Value>,
}

impl Accumulator for Any {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        work::room(call.length(0))?;
        self.values.push_back(call.owned(0));
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.values.pop_front();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        Ok(self.values.front().cloned().unwrap_or(Value::Null))
    }
}
