//! MATCH … AGAINST.

use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::mysql::fulltext::{Found, Mode};
use rowferry_dialect::{Error, Result};

use super::super::rows_sources::Arguments;
use super::super::{Context, Row};

pub(in super::super) const ROWS: &[Row] = &[
    // (index, row, text, mode)
    Row::new("rf_mysql_match", 4, |call| {
        // There is no row on the other side of an outer join, and nothing is found by nothing.
        if call.is_null(1) || call.is_null(2) {
            return Ok(Value::Real(0.0));
        }
        let found = found(call.context(), call.integer(0)?, call.text(2)?, call.text(3)?)?;
        Ok(Value::Real(found.get(&call.integer(1)?).copied().unwrap_or(0.0)))
    })
    .lenient()
    .volatile(),
];

fn found(context: &Context, index: i64, text: &str, mode: &str) -> Result<Arc<Found>> {
    let index = u32::try_from(index).map_err(|_| Error::internal("a full-text index without an object id"))?;
    let mode = Mode::named(mode).ok_or_else(|| Error::internal(format!("\"{mode}\" of a search")))?;
    context.state().search_words(index, mode, text)
}

/// The rows that a search finds: (index, text, mode).
pub(in super::super) fn rows(call: &Arguments<'_>) -> Result<Vec<i64>> {
    let (Some(index), Some(text)) = (call.integer(0)?, call.text(1)?) else { return Ok(Vec::new()) };
    let found = found(call.context, index, text, call.needed(2)?)?;
    let mut rows: Vec<i64> = found.keys().copied().collect();
    rows.sort_unstable();
    Ok(rows)
}
