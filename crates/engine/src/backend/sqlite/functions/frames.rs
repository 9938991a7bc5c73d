//! Offsets of window frames.

use rowferry_dialect::ir::Value;
use rowferry_dialect::lower::sqlite::no_frame_offset;
use rowferry_dialect::values::{Decimal, Interval};
use rowferry_dialect::{Condition, Error, Result};

use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[Row::new("rf_frame_offset", 3, offset).lenient()];

/// An offset of a frame: what it is, of which kind, and whether the frame ends by it.
fn offset(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Err(no_frame_offset(call.boolean(2)?));
    }
    let negative = match call.text(1)? {
        "float" => {
            let offset = call.float(0)?;
            offset.is_nan() || offset < 0.0
        }
        "rows" => {
            if call.integer(0)? < 0 {
                let which = if call.boolean(2)? { "ending" } else { "starting" };
                let message = format!("frame {which} offset must not be negative");
                return Err(Error::new(Condition::InvalidPrecedingOrFollowingSize, message));
            }
            false
        }
        "numeric" => {
            let offset = call.decimal(0)?;
            matches!(offset, Decimal::NaN) || offset.signum() < 0
        }
        kind => {
            let offset = Interval::from_stored(call.text(0)?.as_bytes())?;
            if kind == "time" {
                // Of an offset to a time of day, days and months do not count.
                if offset.micros < 0 {
                    return Err(invalid());
                }
                return Ok(Value::Text(Interval { months: 0, days: 0, ..offset }.to_string()));
            }
            offset.total_micros() < 0
        }
    };
    if negative { Err(invalid()) } else { Ok(call.owned(0)) }
}

fn invalid() -> Error {
    Error::new(Condition::InvalidPrecedingOrFollowingSize, "invalid preceding or following size in window function")
}
