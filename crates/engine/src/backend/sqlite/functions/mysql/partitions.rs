//! In which partition of a table a row is.

use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::values::mysql::partitions::{Method, Partitioning};
use rowferry_dialect::values::mysql::unsigned;
use rowferry_dialect::{Condition, Error, Result};

use super::super::{Call, Row};

pub(in super::super) const ROWS: &[Row] = &[
    // (definition, what rows are parted by …)
    Row::new("rf_mysql_partition", 2, |call| {
        let (_, place) = place(call)?;
        Ok(place.and_then(|place| i64::try_from(place).ok()).map_or(Value::Null, Value::Integer))
    })
    .variadic()
    .lenient(),
    Row::new("rf_mysql_partitioned", 2, |call| match place(call)? {
        (_, Some(_)) => Ok(Value::Integer(1)),
        (of, None) => Err(no_partition(&of, call.value(1))),
    })
    .variadic()
    .lenient(),
    // (place, the places that it may be)
    Row::new("rf_mysql_within_partitions", 2, |call| {
        let place = if call.is_null(0) { None } else { Some(call.integer(0)?) };
        let within =
            place.is_some_and(|place| call.text(1).is_ok_and(|list| list.split(',').any(|at| at.parse() == Ok(place))));
        if within {
            return Ok(Value::Integer(1));
        }
        let message = "Found a row not matching the given partition set";
        Err(Error::new(Condition::CheckViolation, message).with_mysql(1748, "HY000"))
    })
    .lenient(),
];

fn place(call: &Call<'_>) -> Result<(Arc<Partitioning>, Option<usize>)> {
    let of = call.prepared(0, || {
        let of = Partitioning::of_text(call.text(0)?).and_then(|of| of.comparable());
        of.map(Arc::new).ok_or_else(|| Error::new(Condition::DataCorrupted, "partitions that cannot be read"))
    })?;
    let values: Vec<ValueRef<'_>> = (1..call.len()).map(|at| call.value(at)).collect();
    let place = of.place(&values);
    Ok((of, place))
}

fn no_partition(of: &Partitioning, value: ValueRef<'_>) -> Error {
    let shown = match value {
        _ if of.columns || of.method == Method::Key => "from column_list".to_owned(),
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Blob(bytes) => unsigned::of_bytes(bytes).unwrap_or_default().to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
    };
    Error::new(Condition::CheckViolation, format!("Table has no partition for value {shown}")).with_mysql(1526, "HY000")
}
