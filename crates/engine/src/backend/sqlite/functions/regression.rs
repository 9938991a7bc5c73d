//! Statistics of pairs of numbers: correlation, covariance, linear regression.

use std::collections::VecDeque;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::float;
use rowferry_dialect::{Condition, Error, Result};

use super::Call;
use super::aggregate::Accumulator;

/// What the pairs are to yield.
#[derive(Clone, Copy, Debug)]
pub(super) enum Measure {
    Count,
    SquaresOfX,
    SquaresOfY,
    Products,
    AverageOfX,
    AverageOfY,
    PopulationCovariance,
    SampleCovariance,
    Correlation,
    Determination,
    Slope,
    Intercept,
}

/// Running sums by the method of Youngs and Cramer, in PostgreSQL's order of operations, so that the digits agree.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    x: f64,
    xx: f64,
    y: f64,
    yy: f64,
    xy: f64,
}

impl Sums {
    fn add(&mut self, y: f64, x: f64) -> Result<()> {
        let before = *self;
        self.count += 1.0;
        self.x += x;
        self.y += y;
        if before.count == 0.0 {
            if !x.is_finite() {
                (self.xx, self.xy) = (f64::NAN, f64::NAN);
            }
            if !y.is_finite() {
                (self.yy, self.xy) = (f64::NAN, f64::NAN);
            }
            return Ok(());
        }
        let (from_x, from_y) = (x * self.count - self.x, y * self.count - self.y);
        let scale = 1.0 / (self.count * before.count);
        self.xx += from_x * from_x * scale;
        self.yy += from_y * from_y * scale;
        self.xy += from_x * from_y * scale;
        // Finite numbers must not become infinite; squares of infinite ones are no numbers.
        let finite_x = !before.x.is_infinite() && !x.is_infinite();
        let finite_y = !before.y.is_infinite() && !y.is_infinite();
        let infinite = |sums: &[f64]| sums.iter().any(|sum| sum.is_infinite());
        if (infinite(&[self.x, self.xx]) && finite_x)
            || (infinite(&[self.y, self.yy]) && finite_y)
            || (infinite(&[self.xy]) && finite_x && finite_y)
        {
            return Err(Error::new(Condition::NumericValueOutOfRange, "value out of range: overflow"));
        }
        for sum in [&mut self.xx, &mut self.yy, &mut self.xy] {
            if sum.is_infinite() {
                *sum = f64::NAN;
            }
        }
        Ok(())
    }

    fn measured(&self, measure: Measure) -> Option<f64> {
        if self.count < 1.0 {
            return None;
        }
        let varies = (self.xx != 0.0).then_some(());
        match measure {
            Measure::Count => None,
            Measure::SquaresOfX => Some(self.xx),
            Measure::SquaresOfY => Some(self.yy),
            Measure::Products => Some(self.xy),
            Measure::AverageOfX => Some(self.x / self.count),
            Measure::AverageOfY => Some(self.y / self.count),
            Measure::PopulationCovariance => Some(self.xy / self.count),
            Measure::SampleCovariance => (self.count >= 2.0).then(|| self.xy / (self.count - 1.0)),
            Measure::Correlation => varies.filter(|()| self.yy != 0.0).map(|()| self.xy / (self.xx * self.yy).sqrt()),
            Measure::Determination => varies.map(|()| {
                // A horizontal line fits without error.
                if self.yy == 0.0 { 1.0 } else { (self.xy * self.xy) / (self.xx * self.yy) }
            }),
            Measure::Slope => varies.map(|()| self.xy / self.xx),
            Measure::Intercept => varies.map(|()| (self.y - self.x * self.xy / self.xx) / self.count),
        }
    }
}

/// Pairs of which neither is NULL; the arguments are y and x.
pub(super) struct Pairs {
    measure: Measure,
    sums: Sums,
    /// What the frame of a window holds: sums cannot be taken back.
    rows: VecDeque<(f64, f64)>,
    stale: bool,
}

impl Pairs {
    pub(super) fn new(measure: Measure) -> Self {
        Self { measure, sums: Sums::default(), rows: VecDeque::new(), stale: false }
    }
}

impl Accumulator for Pairs {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        if call.is_null(1) {
            return Ok(());
        }
        let (y, x) = (call.float(0)?, call.float(1)?);
        self.rows.push_back((y, x));
        self.sums.add(y, x)
    }

    fn inverse(&mut self, call: &Call<'_>) -> Result<()> {
        if !call.is_null(1) {
            self.rows.pop_front();
            self.stale = true;
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        if self.stale {
            self.sums = Sums::default();
            for (y, x) in &self.rows {
                self.sums.add(*y, *x)?;
            }
            self.stale = false;
        }
        Ok(match self.measure {
            Measure::Count => Value::Integer(self.sums.count as i64),
            measure => self.sums.measured(measure).map_or(Value::Null, float::to_value),
        })
    }
}
