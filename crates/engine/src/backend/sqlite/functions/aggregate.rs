//! Aggregates: their names, and what lets SQLite call them; each works over windows, too.
//!
//! Exact sums take rows back exactly. What cannot be taken back (floats, bits, texts in order) keeps the rows of the
//! frame and, once one has left, is computed anew from those that remain.

mod gathered;
mod numbers;

use std::collections::HashSet;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Condition, Error, Result, work};
use rusqlite::Connection;
use rusqlite::functions::{Aggregate as SqliteAggregate, FunctionFlags, WindowAggregate};

use super::mysql::aggregates as mysql;
use super::ordered_set::{Pick, Picked};
use super::ranges::{Gather, Ranges};
use super::regression::{Measure, Pairs};
use super::{Call, Context, Output, raise};
use gathered::{Known, Members, Shape, Strings};
pub(super) use numbers::NumericSum;
use numbers::{BitStrings, Bits, FloatResult, Floats, IntegerSum, Intervals, NumericVariance};

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
    strict("rf_mysql_wide_sum", 1, || Box::new(IntegerSum::default())),
    strict("rf_mysql_avg", 1, || Box::new(mysql::Average::default())),
    strict("rf_mysql_exact_avg", 1, || Box::new(mysql::Average::exact())),
    strict("rf_mysql_group_concat_unique", 3, || Box::new(mysql::Distinct::default())),
    lenient("rf_mysql_bit_and_agg", 1, || Box::new(mysql::Bits::new(u64::MAX, |a, b| a & b))),
    lenient("rf_mysql_bit_or_agg", 1, || Box::new(mysql::Bits::new(0, |a, b| a | b))),
    lenient("rf_mysql_bit_xor_agg", 1, || Box::new(mysql::Bits::new(0, |a, b| a ^ b))),
    lenient("rf_mysql_bytes_and_agg", 2, || Box::new(mysql::BytesBits::new(|a, b| a & b))),
    lenient("rf_mysql_bytes_or_agg", 2, || Box::new(mysql::BytesBits::new(|a, b| a | b))),
    lenient("rf_mysql_bytes_xor_agg", 2, || Box::new(mysql::BytesBits::new(|a, b| a ^ b))),
    lenient("rf_mysql_json_arrayagg", 2, || Box::new(super::mysql::json::Gathered::default())),
    lenient("rf_mysql_json_objectagg", 4, || Box::new(super::mysql::json::Gathered::keyed())),
    lenient("rf_mysql_any_value", 1, || Box::new(mysql::Any::default())),
    strict("rf_int8_avg", 1, || Box::new(IntegerSum::average())),
    strict("rf_numeric_sum", 1, || Box::new(NumericSum::default())),
    strict("rf_numeric_avg", 1, || Box::new(NumericSum::average())),
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
    strict("rf_interval_avg", 1, || Box::new(Intervals::average())),
    strict("rf_bit_and", 1, || Box::new(Bits::new(|a, b| a & b))),
    strict("rf_bit_or", 1, || Box::new(Bits::new(|a, b| a | b))),
    strict("rf_bit_xor", 1, || Box::new(Bits::new(|a, b| a ^ b))),
    strict("rf_bits_and_agg", 1, || Box::new(BitStrings::new("AND", |a, b| a & b))),
    strict("rf_bits_or_agg", 1, || Box::new(BitStrings::new("OR", |a, b| a | b))),
    strict("rf_bits_xor_agg", 1, || Box::new(BitStrings::new("XOR", |a, b| a ^ b))),
    strict("rf_string_agg", 2, || Box::new(Strings::default())),
    strict("rf_bytea_agg", 2, || Box::new(Strings::of_bytes())),
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
