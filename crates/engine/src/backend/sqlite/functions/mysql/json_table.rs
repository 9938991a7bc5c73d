//! The rows of JSON_TABLE: an array of arrays, whose members the columns are made of.

use rowferry_dialect::Result;
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::mysql::json;
use rowferry_dialect::values::mysql::json_table::{Column, Kind, Otherwise, Table, Value as JsonValue};
use rowferry_dialect::{Condition, Error, work};
use serde_json::Value as Json;

use super::super::Row;
use super::super::call::{integer, text};
use super::json::document;
use super::json_paths::Path;

pub(in super::super) const ROWS: &[Row] = &[
    // (document, columns)
    Row::new("rf_mysql_json_table", 2, |call| {
        let document = document(call, 0)?;
        let table = Table::read(call.text(1)?)?;
        let mut rows = Rows { made: Vec::new(), row: vec![Json::Null; table.shown().len()] };
        rows.of_path(&table, &document, 0)?;
        text(Json::Array(rows.made).to_string())
    }),
    // (row, which of its members)
    Row::new("rf_mysql_json_cell", 2, |call| {
        let row: Json = serde_json::from_str(call.text(0)?).unwrap_or(Json::Null);
        told(usize::try_from(call.integer(1)?).ok().and_then(|at| row.get(at)))
    }),
    // (document, what is asked of it)
    Row::new("rf_mysql_json_value_as", 2, |call| {
        let document = document(call, 0)?;
        let of = call.prepared(1, || JsonValue::of_text(call.text(1)?))?;
        told(Some(&value(&of, &document)?))
    }),
];

/// A member of a row, as it lies.
fn told(member: Option<&Json>) -> Result<Value> {
    match member {
        None | Some(Json::Null) => Ok(Value::Null),
        Some(Json::String(letters)) => text(letters.as_str()),
        Some(Json::Number(number)) => match number.as_i64() {
            Some(value) => integer(value),
            None => Ok(Value::Real(number.as_f64().unwrap_or(0.0))),
        },
        Some(other) => text(other.to_string()),
    }
}

/// A value of JSON_VALUE, whose fractions of a second are cut off and not rounded.
fn cut(kind: &Kind, document: &Json, name: &str) -> Result<Json> {
    let (whole, digits) = match kind {
        Kind::DateTime(digits) => (Kind::DateTime(6), *digits),
        Kind::Time(digits) => (Kind::Time(6), *digits),
        kind => return kind.value(document, name),
    };
    let made = whole.value(document, name)?;
    let shown = made.as_str().and_then(|text| text.split_once('.')).map(|(head, fraction)| {
        let kept: String = fraction.chars().take(usize::try_from(digits).unwrap_or(0)).collect();
        if kept.is_empty() { head.to_owned() } else { format!("{head}.{kept}") }
    });
    Ok(shown.map_or(made, Json::from))
}

/// What JSON_VALUE has of a document.
fn value(of: &JsonValue, document: &Json) -> Result<Json> {
    const NAME: &str = "json_value";
    let mut found = Vec::new();
    Path::read(&of.path)?.find(document, &mut found);
    let otherwise = |otherwise: &Otherwise, failed: Error| match otherwise {
        Otherwise::Null => Ok(Json::Null),
        Otherwise::Error => Err(failed),
        Otherwise::Default(document) => whole(&of.kind, of.kind.value(document, NAME)?),
    };
    let failed = |code: u16, state: &'static str, message: String| {
        Error::new(Condition::InvalidTextRepresentation, message).with_mysql(code, state)
    };
    let made = match found.as_slice() {
        [] => {
            let message = "No value was found by 'json_value' on the specified path.".to_owned();
            return otherwise(&of.empty, failed(3966, "22035", message));
        }
        // A text has them whole.
        [only] if (only.is_array() || only.is_object()) && matches!(of.kind, Kind::Text(..)) => {
            let mut shown = String::new();
            json::write(only, &mut shown)?;
            of.kind.value(&Json::from(shown), NAME)
        }
        [only] => cut(&of.kind, only, NAME),
        _ => {
            let message = "More than one value was found by 'json_value' on the specified path.".to_owned();
            return otherwise(&of.error, failed(3967, "22034", message));
        }
    };
    match made {
        Ok(made) => whole(&of.kind, made),
        Err(_) => {
            let message = format!("{} value is out of range in 'json_value'", of.kind.returned());
            let failed = Error::new(Condition::NumericValueOutOfRange, message).with_mysql(1690, "22003");
            otherwise(&of.error, failed)
        }
    }
}

struct Rows {
    made: Vec<Json>,
    row: Vec<Json>,
}

impl Rows {
    /// The rows of what a path leads to, whose columns begin at one; false where it leads nowhere.
    fn of_path(&mut self, table: &Table, document: &Json, at: usize) -> Result<bool> {
        let mut found = Vec::new();
        Path::read(&table.path)?.find(document, &mut found);
        for (number, value) in found.iter().enumerate() {
            self.of_value(&table.columns, value, number + 1, at)?;
        }
        Ok(!found.is_empty())
    }

    fn of_value(&mut self, columns: &[Column], value: &Json, number: usize, start: usize) -> Result<()> {
        work::step(1)?;
        let mut nested = Vec::new();
        let mut at = start;
        for column in columns {
            match column {
                Column::Ordinality(_) => self.row[at] = Json::from(number),
                Column::Value { .. } => self.row[at] = cell(column, value)?,
                Column::Nested(inner) => {
                    let end = at + inner.shown().len();
                    nested.push((inner, at, end));
                    self.row[at..end].fill(Json::Null);
                    at = end;
                    continue;
                }
            }
            at += 1;
        }
        let mut any = false;
        for (inner, from, to) in nested {
            any |= self.of_path(inner, value, from)?;
            self.row[from..to].fill(Json::Null);
        }
        if !any {
            work::room_to_work(self.row.len() * size_of::<Json>())?;
            self.made.push(Json::Array(self.row.clone()));
        }
        Ok(())
    }
}

/// What a column has of a value.
fn cell(column: &Column, value: &Json) -> Result<Json> {
    let Column::Value { name, path, kind, exists, empty, error } = column else { return Ok(Json::Null) };
    let mut found = Vec::new();
    Path::read(path)?.find(value, &mut found);
    let is_text = matches!(kind, Kind::Text(..));
    let otherwise = |otherwise: &Otherwise, failed: Error| match otherwise {
        Otherwise::Null => Ok(Json::Null),
        Otherwise::Error => Err(failed),
        Otherwise::Default(document) => whole(kind, kind.value(document, name)?),
    };
    if *exists {
        let there = Json::from(u8::from(!found.is_empty()));
        return match kind.value(&there, name) {
            Ok(value) if is_text => Ok(value),
            Ok(value) => whole(kind, value),
            Err(failed) => otherwise(error, failed),
        };
    }
    let value = match found.as_slice() {
        [] => {
            let message = format!("Missing value for JSON_TABLE column '{name}'");
            let failed = Error::new(Condition::InvalidTextRepresentation, message).with_mysql(3665, "22035");
            return otherwise(empty, failed);
        }
        [only] => kind.value(only, name),
        several => kind.value(&Json::Array(several.iter().map(|found| (*found).clone()).collect()), name),
    };
    match value {
        Ok(value) => whole(kind, value),
        Err(failed) => otherwise(error, failed),
    }
}

/// Integers beyond 63 bits are decimals, which lie as texts.
fn whole(kind: &Kind, value: Json) -> Result<Json> {
    Ok(match (kind, &value) {
        (Kind::Integer(_, most), Json::Number(number)) if *most > i128::from(i64::MAX) => {
            Json::from(number.to_string())
        }
        _ => value,
    })
}
