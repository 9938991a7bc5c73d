//! Aggregates; each works over windows, too.
//!
//! Exact sums take rows back exactly. What cannot be taken back (floats, bits, texts in order) keeps the rows of the
//! frame and, once one has left, is computed anew from those that remain.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::array::{Array, Dimension};
use rowferry_dialect::values::{Decimal, Interval, ValueRef, array, decimal_math, float};
use rowferry_dialect::{Condition, Error, Result, Type, work};
use rusqlite::Connection;
use rusqlite::functions::{Aggregate as SqliteAggregate, FunctionFlags, WindowAggregate};

use super::cast::type_at;
use super::ordered_set::{Pick, Picked};
use super::ranges::{Gather, Ranges};
use super::regression::{Measure, Pairs};
use super::{Call, Context, Output, arrays, json, raise};

/// The state of one group or frame.
pub(super) trait Accumulator: Send + UnwindSafe + RefUnwindSafe {
    /// A row comes in.
    fn step(&mut self, call: &Call<'_>) -> Result<()>;
    /// The row that came in first leaves.
    fn inverse(&mut self, call: &Call<'_>) -> Result<()>;
    /// The result as it stands.
    fn value(&mut self) -> Result<Value>;
    /// The result, of which there will be no other.
    fn finish(&mut self) -> Result<Value> {
        self.value()
    }
}

/// What a row counts as work, beside its bytes.
const ROW: usize = 16;

/// An aggregate function.
pub(super) struct Row {
    name: &'static str,
    arguments: u8,
    /// Rows whose first argument is NULL do not count.
    strict: bool,
    make: fn() -> Box<dyn Accumulator>,
}

const ROWS: &[Row] = &[
    strict("rf_int8_sum", 1, || Box::new(IntegerSum::default())),
    strict("rf_int8_avg", 1, || Box::new(IntegerSum { average: true, ..IntegerSum::default() })),
    strict("rf_numeric_sum", 1, || Box::new(NumericSum::default())),
    strict("rf_numeric_avg", 1, || Box::new(NumericSum { average: true, ..NumericSum::default() })),
    strict("rf_numeric_var_samp", 1, || Box::new(NumericVariance::new(true, false))),
    strict("rf_numeric_var_pop", 1, || Box::new(NumericVariance::new(false, false))),
    strict("rf_numeric_stddev_samp", 1, || Box::new(NumericVariance::new(true, true))),
    strict("rf_numeric_stddev_pop", 1, || Box::new(NumericVariance::new(false, true))),
    strict("rf_float4_sum", 1, || Box::new(Floats::new(FloatResult::Sum4))),
    strict("rf_float8_sum", 1, || Box::new(Floats::new(FloatResult::Sum))),
    strict("rf_float8_avg", 1, || Box::new(Floats::new(FloatResult::Average))),
    strict("rf_float8_var_samp", 1, || Box::new(Floats::new(FloatResult::Variance { sample: true, root: false }))),
    strict("rf_float8_var_pop", 1, || Box::new(Floats::new(FloatResult::Variance { sample: false, root: false }))),
    strict("rf_float8_stddev_samp", 1, || Box::new(Floats::new(FloatResult::Variance { sample: true, root: true }))),
    strict("rf_float8_stddev_pop", 1, || Box::new(Floats::new(FloatResult::Variance { sample: false, root: true }))),
    strict("rf_interval_sum", 1, || Box::new(Intervals::default())),
    strict("rf_interval_avg", 1, || Box::new(Intervals { average: true, ..Intervals::default() })),
    strict("rf_bit_and", 1, || Box::new(Bits::new(|a, b| a & b))),
    strict("rf_bit_or", 1, || Box::new(Bits::new(|a, b| a | b))),
    strict("rf_bit_xor", 1, || Box::new(Bits::new(|a, b| a ^ b))),
    strict("rf_bits_and_agg", 1, || Box::new(BitStrings::new("AND", |a, b| a & b))),
    strict("rf_bits_or_agg", 1, || Box::new(BitStrings::new("OR", |a, b| a | b))),
    strict("rf_bits_xor_agg", 1, || Box::new(BitStrings::new("XOR", |a, b| a ^ b))),
    strict("rf_string_agg", 2, || Box::new(Strings::default())),
    strict("rf_bytea_agg", 2, || Box::new(Strings { bytes: true, ..Strings::default() })),
    strict("rf_range_agg", 2, || Box::new(Ranges::new(Gather::Union))),
    strict("rf_range_intersect_agg", 2, || Box::new(Ranges::new(Gather::RangeIntersection))),
    strict("rf_multirange_intersect_agg", 2, || Box::new(Ranges::new(Gather::MultirangeIntersection))),
    strict("rf_regr_count", 2, || Box::new(Pairs::new(Measure::Count))),
    strict("rf_regr_sxx", 2, || Box::new(Pairs::new(Measure::SquaresOfX))),
    strict("rf_regr_syy", 2, || Box::new(Pairs::new(Measure::SquaresOfY))),
    strict("rf_regr_sxy", 2, || Box::new(Pairs::new(Measure::Products))),
    strict("rf_regr_avgx", 2, || Box::new(Pairs::new(Measure::AverageOfX))),
    strict("rf_regr_avgy", 2, || Box::new(Pairs::new(Measure::AverageOfY))),
    strict("rf_covar_pop", 2, || Box::new(Pairs::new(Measure::PopulationCovariance))),
    strict("rf_covar_samp", 2, || Box::new(Pairs::new(Measure::SampleCovariance))),
    strict("rf_corr", 2, || Box::new(Pairs::new(Measure::Correlation))),
    strict("rf_regr_r2", 2, || Box::new(Pairs::new(Measure::Determination))),
    strict("rf_regr_slope", 2, || Box::new(Pairs::new(Measure::Slope))),
    strict("rf_regr_intercept", 2, || Box::new(Pairs::new(Measure::Intercept))),
    lenient("rf_mode", 2, || Box::new(Picked::new(Pick::Mode, false))),
    lenient("rf_percentile_disc", 3, || Box::new(Picked::new(Pick::Discrete, false))),
    lenient("rf_percentile_disc_all", 3, || Box::new(Picked::new(Pick::Discrete, true))),
    lenient("rf_percentile_cont", 3, || Box::new(Picked::new(Pick::Continuous, false))),
    lenient("rf_percentile_cont_all", 3, || Box::new(Picked::new(Pick::Continuous, true))),
    strict("rf_nth_known", 2, || Box::new(Known::default())),
    // A subquery that stands for a value.
    lenient("rf_single", 1, || Box::new(Single::default())),
    lenient("rf_pack", MANY, || Box::new(super::lateral::Packed::default())),
    lenient("rf_array_agg", 1, || Box::new(Members::new(Shape::Array))),
    lenient("rf_array_agg_nested", 1, || Box::new(Members::new(Shape::NestedArray))),
    lenient("rf_json_agg", 2, || Box::new(Members::new(Shape::Json))),
    lenient("rf_jsonb_agg", 2, || Box::new(Members::new(Shape::Jsonb))),
    lenient("rf_json_object_agg", 4, || Box::new(Members::new(Shape::JsonObject))),
    lenient("rf_jsonb_object_agg", 4, || Box::new(Members::new(Shape::JsonbObject))),
];

/// Any number of arguments.
const MANY: u8 = u8::MAX;

const fn strict(name: &'static str, arguments: u8, make: fn() -> Box<dyn Accumulator>) -> Row {
    Row { name, arguments, strict: true, make }
}

const fn lenient(name: &'static str, arguments: u8, make: fn() -> Box<dyn Accumulator>) -> Row {
    Row { name, arguments, strict: false, make }
}

/// The names of the aggregates, for the test that none is missing.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}

/// The aggregates by their names in SQLite; whether only distinct arguments count, where SQLite's DISTINCT cannot say so: it is
/// for aggregates of one argument.
pub(super) fn each() -> impl Iterator<Item = (String, &'static Row, bool)> {
    ROWS.iter().flat_map(|row| {
        let distinct = row.arguments > 1 && row.arguments != MANY;
        let distinct = distinct.then(|| (format!("{}_distinct", row.name), row, true));
        std::iter::once((row.name.to_owned(), row, false)).chain(distinct)
    })
}

/// Makes an aggregate known to a connection.
pub(super) fn register(
    connection: &Connection,
    row: &'static Row,
    name: &str,
    distinct: bool,
    context: &Arc<Context>,
) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let arguments = if row.arguments == MANY { -1 } else { i32::from(row.arguments) };
    connection.create_window_function(name, arguments, flags, Adapter { row, distinct, context: Arc::clone(context) })
}

struct Adapter {
    row: &'static Row,
    /// Rows whose arguments have been seen before do not count.
    distinct: bool,
    context: Arc<Context>,
}

// A panic in an accumulator ends the statement; what it leaves behind is dropped, and the session's state has locks
// that do not poison.
impl UnwindSafe for Adapter {}
impl RefUnwindSafe for Adapter {}

impl Adapter {
    fn counts(&self, call: &Call<'_>) -> bool {
        !(self.row.strict && call.is_null(0))
    }

    fn start(&self) -> Box<dyn Accumulator> {
        let inner = (self.row.make)();
        if self.distinct { Box::new(Distinct { inner, seen: HashSet::new() }) } else { inner }
    }
}

impl SqliteAggregate<Box<dyn Accumulator>, Output> for Adapter {
    fn init(&self, _: &mut rusqlite::functions::Context<'_>) -> rusqlite::Result<Box<dyn Accumulator>> {
        Ok(self.start())
    }

    fn step(
        &self,
        raw: &mut rusqlite::functions::Context<'_>,
        state: &mut Box<dyn Accumulator>,
    ) -> rusqlite::Result<()> {
        let call = Call::new(raw, &self.context);
        if self.counts(&call) {
            // Each row may be kept.
            work::step(ROW).and_then(|()| state.step(&call)).map_err(raise)
        } else {
            Ok(())
        }
    }

    fn finalize(
        &self,
        _: &mut rusqlite::functions::Context<'_>,
        state: Option<Box<dyn Accumulator>>,
    ) -> rusqlite::Result<Output> {
        state.unwrap_or_else(|| self.start()).finish().map(Output).map_err(raise)
    }
}

impl WindowAggregate<Box<dyn Accumulator>, Output> for Adapter {
    fn value(&self, state: Option<&mut Box<dyn Accumulator>>) -> rusqlite::Result<Output> {
        match state {
            Some(state) => state.value(),
            None => self.start().value(),
        }
        .map(Output)
        .map_err(raise)
    }

    fn inverse(
        &self,
        raw: &mut rusqlite::functions::Context<'_>,
        state: &mut Box<dyn Accumulator>,
    ) -> rusqlite::Result<()> {
        let call = Call::new(raw, &self.context);
        if self.counts(&call) { state.inverse(&call).map_err(raise) } else { Ok(()) }
    }
}

/// An aggregate of distinct rows, told apart by the stored forms of all arguments.
struct Distinct {
    inner: Box<dyn Accumulator>,
    seen: HashSet<Vec<u8>>,
}

/// The value of at most one row.
#[derive(Default)]
struct Single(Option<Value>);

impl Accumulator for Single {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        if self.0.is_some() {
            return Err(Error::new(
                Condition::CardinalityViolation,
                "more than one row returned by a subquery used as an expression",
            ));
        }
        work::room(call.length(0))?;
        self.0 = Some(call.owned(0));
        Ok(())
    }

    fn inverse(&mut self, _call: &Call<'_>) -> Result<()> {
        self.0 = None;
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        Ok(self.0.clone().unwrap_or(Value::Null))
    }
}

impl Accumulator for Distinct {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let key = row_key(call)?;
        if self.seen.len() == self.seen.capacity() {
            // The table moves into one of twice the size.
            work::room_to_work(self.seen.len() * 2 * (size_of::<Vec<u8>>() + 1))?;
        }
        if self.seen.insert(key) { self.inner.step(call) } else { Ok(()) }
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        Err(Error::unsupported("DISTINCT in a window function"))
    }

    fn value(&mut self) -> Result<Value> {
        self.inner.value()
    }

    fn finish(&mut self) -> Result<Value> {
        self.inner.finish()
    }
}

/// What a row is known by among distinct ones: its arguments, told apart by their stored forms.
pub(super) fn row_key(call: &Call<'_>) -> Result<Vec<u8>> {
    let mut key = Vec::new();
    for at in 0..call.len() {
        // Each argument with its storage class and length, so that no two rows share a key.
        let (class, bytes): (u8, &[u8]) = match &call.value(at) {
            ValueRef::Null => (b'0', &[]),
            ValueRef::Integer(value) => (b'1', &value.to_le_bytes()),
            ValueRef::Real(value) => (b'2', &value.to_bits().to_le_bytes()),
            ValueRef::Text(bytes) => (b'3', bytes),
            ValueRef::Blob(bytes) => (b'4', bytes),
        };
        work::step(bytes.len())?;
        work::reserve(&mut key, bytes.len() + 9)?;
        key.push(class);
        key.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        key.extend_from_slice(bytes);
    }
    Ok(key)
}

/// Sum or average of integers, in 128 bits: no number of 64-bit rows overflows that.
#[derive(Default)]
struct IntegerSum {
    average: bool,
    count: i64,
    sum: i128,
}

impl Accumulator for IntegerSum {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        self.count += 1;
        self.sum += i128::from(call.integer(0)?);
        Ok(())
    }

    fn inverse(&mut self, call: &Call<'_>) -> Result<()> {
        self.count -= 1;
        self.sum -= i128::from(call.integer(0)?);
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

/// Sum of decimals; what is not finite is counted apart, so that it can leave again.
pub(super) struct NumericSum {
    average: bool,
    pub(super) count: i64,
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
    fn special(&mut self, value: &Decimal) -> Option<&mut u64> {
        match value {
            Decimal::NaN => Some(&mut self.not_a_number),
            Decimal::Infinity => Some(&mut self.infinite),
            Decimal::NegativeInfinity => Some(&mut self.negative_infinite),
            Decimal::Finite(_) => None,
        }
    }

    pub(super) fn add(&mut self, value: &Decimal) -> Result<()> {
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

    pub(super) fn total(&self) -> Decimal {
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
struct NumericVariance {
    sample: bool,
    root: bool,
    sum: NumericSum,
    squares: NumericSum,
}

impl NumericVariance {
    fn new(sample: bool, root: bool) -> Self {
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
enum FloatResult {
    Sum4,
    Sum,
    Average,
    Variance { sample: bool, root: bool },
}

/// Floats: PostgreSQL's own running sums, so that the digits agree.
struct Floats {
    kind: FloatResult,
    count: f64,
    sum: f64,
    /// Sum of squared distances from the mean (Youngs and Cramer).
    squares: f64,
    frame: Frame<f64>,
}

/// The rows of a frame, for what cannot be taken back. A plain group is a frame that nothing leaves; its rows are kept
/// only for windows, which is known once a row leaves: until then the memory is the price of not knowing.
struct Frame<T> {
    rows: VecDeque<T>,
    stale: bool,
}

impl<T> Frame<T> {
    fn new() -> Self {
        Self { rows: VecDeque::new(), stale: false }
    }

    fn leave(&mut self) {
        self.rows.pop_front();
        self.stale = true;
    }
}

impl Floats {
    fn new(kind: FloatResult) -> Self {
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
struct Intervals {
    average: bool,
    count: i64,
    sum: Interval,
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
struct Bits {
    combine: fn(i64, i64) -> i64,
    frame: VecDeque<i64>,
}

impl Bits {
    fn new(combine: fn(i64, i64) -> i64) -> Self {
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
struct BitStrings {
    what: &'static str,
    combine: fn(u8, u8) -> u8,
    frame: VecDeque<String>,
}

impl BitStrings {
    fn new(what: &'static str, combine: fn(u8, u8) -> u8) -> Self {
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

/// Values joined one behind the other as they come, so that they are in memory once; those of a window leave in front.
#[derive(Default)]
struct Joined {
    bytes: Vec<u8>,
    /// Where the first separator that counts begins.
    start: usize,
    /// The lengths of each row's separator and value.
    rows: VecDeque<(usize, usize)>,
}

impl Joined {
    /// Adds a row's value; `write` appends it.
    fn push(&mut self, separator: &[u8], write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let start = self.bytes.len();
        work::append(&mut self.bytes, separator)?;
        let middle = self.bytes.len();
        if let Err(error) = write(&mut self.bytes) {
            self.bytes.truncate(start);
            return Err(error);
        }
        work::step(self.bytes.len() - start)?;
        if self.rows.len() == self.rows.capacity() {
            work::room_to_work(self.rows.len() * size_of::<(usize, usize)>())?;
        }
        self.rows.push_back((middle - start, self.bytes.len() - middle));
        Ok(())
    }

    /// The first row leaves.
    fn leave(&mut self) {
        let Some((separator, value)) = self.rows.pop_front() else { return };
        self.start += separator + value;
        if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }

    /// The values with the separators between them; `None` without rows.
    fn joined(&self) -> Option<&[u8]> {
        let (separator, _) = self.rows.front()?;
        Some(&self.bytes[self.start + separator..])
    }

    /// The same, taken.
    fn take(&mut self) -> Option<Vec<u8>> {
        let (separator, _) = *self.rows.front()?;
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.drain(..self.start + separator);
        *self = Self::default();
        Some(bytes)
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Texts or bytes joined; the first separator does not show.
#[derive(Default)]
struct Strings {
    bytes: bool,
    joined: Joined,
}

impl Strings {
    fn result(&self, joined: Option<Vec<u8>>) -> Value {
        match joined {
            None => Value::Null,
            Some(joined) if self.bytes => Value::Blob(joined),
            Some(joined) => Value::Text(into_text(joined)),
        }
    }
}

impl Accumulator for Strings {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let separator = if call.is_null(1) { &[] } else { call.bytes(1)? };
        let value = call.bytes(0)?;
        self.joined.push(separator, |out| work::append(out, value))
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.joined.leave();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        let joined = self.joined.joined().map(copied).transpose()?;
        Ok(self.result(joined))
    }

    fn finish(&mut self) -> Result<Value> {
        let joined = self.joined.take();
        Ok(self.result(joined))
    }
}

fn copied(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = work::bytes(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// The value at a place among those of a frame that are not NULL, counted from 1, or from the end with -1.
#[derive(Default)]
struct Known {
    values: VecDeque<Value>,
    place: i64,
}

impl Accumulator for Known {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        self.place = call.integer(1)?;
        work::room(ROW + call.length(0))?;
        self.values.push_back(call.owned(0));
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.values.pop_front();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        let back = self.place < 0;
        let Some(at) = self.place.unsigned_abs().checked_sub(1).and_then(|at| usize::try_from(at).ok()) else {
            return Ok(Value::Null);
        };
        let found = if back { self.values.iter().rev().nth(at) } else { self.values.get(at) };
        Ok(found.cloned().unwrap_or(Value::Null))
    }
}

/// What members are put together to.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Shape {
    Array,
    NestedArray,
    Json,
    Jsonb,
    JsonObject,
    JsonbObject,
}

impl Shape {
    /// What stands around the members.
    fn brackets(self) -> (&'static str, &'static str) {
        match self {
            Self::Array | Self::NestedArray | Self::Json | Self::Jsonb => ("[", "]"),
            Self::JsonObject => ("{ ", " }"),
            Self::JsonbObject => ("{", "}"),
        }
    }
}

/// Members in JSON form, NULLs too.
struct Members {
    shape: Shape,
    /// The dimensions that all members have which are arrays.
    dimensions: Option<Vec<Dimension>>,
    joined: Joined,
}

impl Members {
    fn new(shape: Shape) -> Self {
        Self { shape, dimensions: None, joined: Joined::default() }
    }

    fn result(&self, joined: Option<Vec<u8>>) -> Result<Value> {
        let Some(mut joined) = joined else { return Ok(Value::Null) };
        let (open, close) = self.shape.brackets();
        let lower = || std::iter::once(1).chain(self.dimensions.iter().flatten().map(|one| one.lower));
        if self.shape == Shape::NestedArray && lower().any(|lower| lower != 1) {
            let mut whole = String::new();
            array::open_bounded(&mut whole, lower());
            whole.push_str(open);
            work::append_text(&mut whole, &into_text(joined))?;
            whole.push_str("]}");
            return Ok(Value::Text(whole));
        }
        work::reserve(&mut joined, open.len() + close.len())?;
        joined.splice(..0, open.bytes());
        joined.extend_from_slice(close.as_bytes());
        let joined = into_text(joined);
        Ok(Value::Text(match self.shape {
            Shape::Jsonb | Shape::JsonbObject => rowferry_dialect::values::json::normalize(&joined)?,
            _ => joined,
        }))
    }
}

impl Accumulator for Members {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let mut member = work::text(call.length(0))?;
        match self.shape {
            Shape::Array => array::push_element(&mut member, call.value(0), &json::element_type(call.value(0))),
            Shape::NestedArray => {
                if call.is_null(0) {
                    return Err(Error::new(Condition::NullValueNotAllowed, "cannot accumulate null arrays"));
                }
                let stored = call.text(0)?;
                let Array { dimensions, members } = arrays::parse(stored)?;
                if dimensions.is_empty() {
                    return Err(Error::new(Condition::IllegalSubscript, "cannot accumulate empty arrays"));
                }
                if *self.dimensions.get_or_insert_with(|| dimensions.clone()) != dimensions {
                    let message = "cannot accumulate arrays of different dimensionality";
                    return Err(Error::new(Condition::IllegalSubscript, message));
                }
                // The lower bounds stand before the whole.
                let dimensions = dimensions.into_iter().map(|one| Dimension { lower: 1, ..one }).collect();
                work::append_text(&mut member, &Array { dimensions, members }.stored()?)?;
            }
            Shape::Json | Shape::Jsonb => member = json::argument(call, 0)?,
            Shape::JsonObject | Shape::JsonbObject => {
                if call.is_null(0) {
                    return Err(Error::new(Condition::InvalidParameterValue, "field name must not be null"));
                }
                member.push_str(&json::key_argument(call, 0)?);
                member.push_str(if self.shape == Shape::JsonObject { " : " } else { ": " });
                work::append_text(&mut member, &json::argument(call, 2)?)?;
            }
        }
        let separator: &[u8] = match self.shape {
            Shape::Array | Shape::NestedArray => b",",
            // What has a structure stands in a line of its own.
            Shape::Json if matches!(type_at(call, 1)?, ty if ty.is_row() || matches!(ty, Type::Array(_))) => b", \n ",
            _ => b", ",
        };
        self.joined.push(separator, |out| work::append(out, member.as_bytes()))
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.joined.leave();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        let joined = self.joined.joined().map(copied).transpose()?;
        self.result(joined)
    }

    fn finish(&mut self) -> Result<Value> {
        let joined = self.joined.take();
        self.result(joined)
    }
}
