//! Sums, averages, variances and bits.

use std::collections::{BTreeMap, VecDeque};

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::mysql::unsigned;
use rowferry_dialect::values::{Decimal, Interval, ValueRef, decimal_math, float};
use rowferry_dialect::{Condition, Error, Result, work};

use super::super::Call;
use super::Accumulator;

/// Sum or average of integers, in 128 bits: no number of 64-bit rows overflows that.
#[derive(Default)]
pub(super) struct IntegerSum {
    average: bool,
    count: i64,
    sum: i128,
}

impl IntegerSum {
    /// The average in place of the sum.
    pub(super) fn average() -> Self {
        Self { average: true, ..Self::default() }
    }
}

impl Accumulator for IntegerSum {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        self.count += 1;
        self.sum += whole(call)?;
        Ok(())
    }

    fn inverse(&mut self, call: &Call<'_>) -> Result<()> {
        self.count -= 1;
        self.sum -= whole(call)?;
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        if self.count == 0 {
            return Ok(Value::Null);
        }
        let sum = Decimal::from_parts(self.sum, 0);
        Ok(Value::Text(if self.average { sum.div(&Decimal::from_i64(self.count))? } else { sum }.to_string()))
    }
}

/// An integer, or one of MySQL's without a sign.
fn whole(call: &Call<'_>) -> Result<i128> {
    match call.value(0) {
        ValueRef::Integer(number) => Ok(i128::from(number)),
        ValueRef::Blob(bytes) if let Some(number) = unsigned::of_bytes(bytes) => Ok(i128::from(number)),
        _ => call.integer(0).map(i128::from),
    }
}

/// Sum of decimals; what is not finite is counted apart, so that it can leave again.
pub(in crate::backend::sqlite::functions) struct NumericSum {
    average: bool,
    pub(in crate::backend::sqlite::functions) count: i64,
    sum: Decimal,
    /// How many rows of each scale there are: the sum shows the greatest.
    scales: BTreeMap<u32, u64>,
    not_a_number: u64,
    infinite: u64,
    negative_infinite: u64,
}

impl Default for NumericSum {
    fn default() -> Self {
        Self {
            average: false,
            count: 0,
            sum: Decimal::ZERO,
            scales: BTreeMap::new(),
            not_a_number: 0,
            infinite: 0,
            negative_infinite: 0,
        }
    }
}

impl NumericSum {
    /// The average in place of the sum.
    pub(super) fn average() -> Self {
        Self { average: true, ..Self::default() }
    }

    fn special(&mut self, value: &Decimal) -> Option<&mut u64> {
        match value {
            Decimal::NaN => Some(&mut self.not_a_number),
            Decimal::Infinity => Some(&mut self.infinite),
            Decimal::NegativeInfinity => Some(&mut self.negative_infinite),
            Decimal::Finite(_) => None,
        }
    }

    pub(in crate::backend::sqlite::functions) fn add(&mut self, value: &Decimal) -> Result<()> {
        self.count += 1;
        if let Some(count) = self.special(value) {
            *count += 1;
            return Ok(());
        }
        self.sum = self.sum.add(value)?;
        if let Some(number) = value.finite() {
            *self.scales.entry(number.scale()).or_default() += 1;
        }
        Ok(())
    }

    fn remove(&mut self, value: &Decimal) -> Result<()> {
        self.count -= 1;
        if let Some(count) = self.special(value) {
            *count -= 1;
            return Ok(());
        }
        self.sum = self.sum.sub(value)?;
        if let Some(number) = value.finite() {
            let scale = number.scale();
            if let Some(count) = self.scales.get_mut(&scale) {
                *count -= 1;
                if *count == 0 {
                    self.scales.remove(&scale);
                }
            }
        }
        Ok(())
    }

    pub(in crate::backend::sqlite::functions) fn total(&self) -> Decimal {
        if self.not_a_number > 0 || (self.infinite > 0 && self.negative_infinite > 0) {
            return Decimal::NaN;
        }
        if self.infinite > 0 {
            return Decimal::Infinity;
        }
        if self.negative_infinite > 0 {
            return Decimal::NegativeInfinity;
        }
        let scale = self.scales.keys().next_back().copied().unwrap_or(0);
        self.sum.rounded(i64::from(scale))
    }
}

impl Accumulator for NumericSum {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        self.add(&call.decimal(0)?)
    }

    fn inverse(&mut self, call: &Call<'_>) -> Result<()> {
        self.remove(&call.decimal(0)?)
    }

    fn value(&mut self) -> Result<Value> {
        if self.count == 0 {
            return Ok(Value::Null);
        }
        let total = self.total();
        let shown = if self.average { total.div(&Decimal::from_i64(self.count))? } else { total };
        Ok(Value::Text(shown.to_string()))
    }
}

/// Variance and standard deviation of exact numbers.
pub(super) struct NumericVariance {
    sample: bool,
    root: bool,
    sum: NumericSum,
    squares: NumericSum,
}

impl NumericVariance {
    pub(super) fn new(sample: bool, root: bool) -> Self {
        Self { sample, root, sum: NumericSum::default(), squares: NumericSum::default() }
    }
}

impl Accumulator for NumericVariance {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let value = call.decimal(0)?;
        self.squares.add(&value.mul(&value)?)?;
        self.sum.add(&value)
    }

    fn inverse(&mut self, call: &Call<'_>) -> Result<()> {
        let value = call.decimal(0)?;
        self.squares.remove(&value.mul(&value)?)?;
        self.sum.remove(&value)
    }

    fn value(&mut self) -> Result<Value> {
        let count = self.sum.count;
        if count < if self.sample { 2 } else { 1 } {
            return Ok(Value::Null);
        }
        let (sum, squares) = (self.sum.total(), self.squares.total());
        if sum.finite().is_none() {
            return Ok(Value::Text("NaN".to_owned()));
        }
        let number = Decimal::from_i64(count);
        let numerator = number.mul(&squares)?.sub(&sum.mul(&sum)?)?;
        if numerator.signum() <= 0 {
            return Ok(Value::Text("0".to_owned()));
        }
        let variance = numerator.div(&number.mul(&Decimal::from_i64(count - i64::from(self.sample)))?)?;
        Ok(Value::Text(if self.root { decimal_math::sqrt_same_scale(&variance)? } else { variance }.to_string()))
    }
}

/// What a pass over floats is to yield.
#[derive(Clone, Copy)]
pub(super) enum FloatResult {
    Sum4,
    Sum,
    Average,
    Variance { sample: bool, root: bool },
}

/// Floats: PostgreSQL's own running sums, so that the digits agree.
pub(super) struct Floats {
    kind: FloatResult,
    count: f64,
    sum: f64,
    /// Sum of squared distances from the mean (Youngs and Cramer).
    squares: f64,
    frame: Frame<f64>,
}

/// The rows of a frame, for what cannot be taken back. A plain group is a frame that nothing leaves; its rows are kept
/// only for windows, which is known once a row leaves: until then the memory is the price of not knowing.
pub(super) struct Frame<T> {
    rows: VecDeque<T>,
    stale: bool,
}

impl<T> Frame<T> {
    pub(super) fn new() -> Self {
        Self { rows: VecDeque::new(), stale: false }
    }

    fn leave(&mut self) {
        self.rows.pop_front();
        self.stale = true;
    }
}

impl Floats {
    pub(super) fn new(kind: FloatResult) -> Self {
        Self { kind, count: 0.0, sum: 0.0, squares: 0.0, frame: Frame::new() }
    }

    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let value = if matches!(self.kind, FloatResult::Sum4) { f64::from(value as f32) } else { value };
        self.sum += value;
        if matches!(self.kind, FloatResult::Sum4) {
            self.sum = f64::from(self.sum as f32);
        }
        if self.count > 1.0 {
            let distance = value * self.count - self.sum;
            self.squares += distance * distance / (self.count * (self.count - 1.0));
        } else if !value.is_finite() {
            self.squares = f64::NAN;
        }
    }
}

impl Accumulator for Floats {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let value = call.float(0)?;
        self.frame.rows.push_back(value);
        let finite_before = self.sum.is_finite();
        self.add(value);
        if self.sum.is_infinite() && finite_before && value.is_finite() {
            return Err(Error::new(Condition::NumericValueOutOfRange, "value out of range: overflow"));
        }
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.frame.leave();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        if self.frame.stale {
            (self.count, self.sum, self.squares) = (0.0, 0.0, 0.0);
            let rows = std::mem::take(&mut self.frame.rows);
            for value in &rows {
                self.add(*value);
            }
            self.frame = Frame { rows, stale: false };
        }
        if self.count == 0.0 {
            return Ok(Value::Null);
        }
        Ok(float::to_value(match self.kind {
            FloatResult::Sum | FloatResult::Sum4 => self.sum,
            FloatResult::Average => self.sum / self.count,
            FloatResult::Variance { sample, root } => {
                if sample && self.count < 2.0 {
                    return Ok(Value::Null);
                }
                let variance = self.squares / (self.count - if sample { 1.0 } else { 0.0 });
                if root { variance.sqrt() } else { variance }
            }
        }))
    }
}

/// Sum and average of intervals.
#[derive(Default)]
pub(super) struct Intervals {
    average: bool,
    count: i64,
    sum: Interval,
}

impl Intervals {
    /// The average in place of the sum.
    pub(super) fn average() -> Self {
        Self { average: true, ..Self::default() }
    }
}

impl Accumulator for Intervals {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        self.count += 1;
        self.sum = self.sum.add(Interval::from_stored(call.bytes(0)?)?)?;
        Ok(())
    }

    fn inverse(&mut self, call: &Call<'_>) -> Result<()> {
        self.count -= 1;
        self.sum = self.sum.add(Interval::from_stored(call.bytes(0)?)?.neg()?)?;
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        if self.count == 0 {
            return Ok(Value::Null);
        }
        let shown = if self.average { self.sum.div(self.count as f64)? } else { self.sum };
        Ok(Value::Text(shown.to_string()))
    }
}

/// Bitwise aggregates.
pub(super) struct Bits {
    combine: fn(i64, i64) -> i64,
    frame: VecDeque<i64>,
}

impl Bits {
    pub(super) fn new(combine: fn(i64, i64) -> i64) -> Self {
        Self { combine, frame: VecDeque::new() }
    }
}

impl Accumulator for Bits {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        self.frame.push_back(call.integer(0)?);
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.frame.pop_front();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        Ok(self.frame.iter().copied().reduce(self.combine).map_or(Value::Null, Value::Integer))
    }
}

/// The same for bit strings, as the digits that they are stored as.
pub(super) struct BitStrings {
    what: &'static str,
    combine: fn(u8, u8) -> u8,
    frame: VecDeque<String>,
}

impl BitStrings {
    pub(super) fn new(what: &'static str, combine: fn(u8, u8) -> u8) -> Self {
        Self { what, combine, frame: VecDeque::new() }
    }
}

impl Accumulator for BitStrings {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let bits = call.text(0)?;
        if self.frame.front().is_some_and(|first| first.len() != bits.len()) {
            let message = format!("cannot {} bit strings of different sizes", self.what);
            return Err(Error::new(Condition::StringDataLengthMismatch, message));
        }
        work::room(bits.len())?;
        self.frame.push_back(bits.to_owned());
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.frame.pop_front();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        let Some(first) = self.frame.front() else { return Ok(Value::Null) };
        let mut all: Vec<u8> = first.bytes().map(|bit| bit & 1).collect();
        for bits in self.frame.iter().skip(1) {
            work::step(all.len())?;
            for (bit, other) in all.iter_mut().zip(bits.bytes()) {
                *bit = (self.combine)(*bit, other & 1);
            }
        }
        Ok(Value::Text(all.into_iter().map(|bit| char::from(b'0' + bit)).collect()))
    }
}
