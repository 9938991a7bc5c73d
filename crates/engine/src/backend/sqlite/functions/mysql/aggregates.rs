//! Aggregates.

use std::collections::VecDeque;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::Decimal;
use rowferry_dialect::{Result, work};

use super::super::Call;
use super::super::aggregate::Accumulator;
use super::arithmetic::{bits_of, quotient, scale};
use super::{number, unsigned};

/// AVG of exact numbers, with four digits more than they have.
pub(in super::super) struct Average {
    sum: Decimal,
    count: i64,
    scale: i64,
}

impl Default for Average {
    fn default() -> Self {
        Self { sum: Decimal::ZERO, count: 0, scale: 0 }
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
