//! `tablefunc`.

use rand::Rng as _;
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error};

use super::RowsMember;

pub(super) const ROWS: &[RowsMember] = &[("normal_rand", |call| {
    let count = call.integer(0)?.unwrap_or(0);
    if count < 0 {
        return Err(Error::new(Condition::InvalidParameterValue, "number of rows cannot be negative"));
    }
    let number = |at: usize| match call.value(at) {
        Some(Value::Real(value)) => *value,
        Some(Value::Integer(value)) => *value as f64,
        _ => f64::NAN,
    };
    let (mean, deviation) = (number(1), number(2));
    Ok(Box::new((0..count).map(move |_| {
        // Box and Muller's way from two even numbers to a normal one.
        let mut random = rand::rng();
        let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        Ok(vec![Value::Real(mean + deviation * normal)])
    })))
})];
