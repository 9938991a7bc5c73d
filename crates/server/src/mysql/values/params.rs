//! Parameters: their types as the client says them, and their values in stored form.

use rowferry_dialect::ir::Value;
use rowferry_dialect::types::NumericModifier;
use rowferry_dialect::values::{self, Settings};
use rowferry_engine::{Error, Result, Type};
use rowferry_wire_mysql::messages::execute::{ParamType, ParamValue};
use rowferry_wire_mysql::messages::resultset::{DateTime, Time};
use rowferry_wire_mysql::types::ColumnType;

use crate::mysql::report;
use crate::texts;

/// A parameter: what its client says that it is, and its value in the stored form of that.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::mysql) struct Given {
    /// `None` where nothing is said: NULL.
    pub(in crate::mysql) ty: Option<Type>,
    pub(in crate::mysql) value: Value,
}

/// What is beyond 63 bits.
const WHOLE: Type = Type::Numeric(Some(NumericModifier { precision: 20, scale: 0 }));

/// Reads a parameter. `long` is what has come of it piece by piece.
pub(in crate::mysql) fn given(
    ty: ParamType,
    value: &ParamValue<'_>,
    long: Option<&[u8]>,
    settings: &Settings,
) -> Result<Given> {
    let of = |ty, value| Ok(Given { ty: Some(ty), value });
    match value {
        ParamValue::Null => Ok(Given { ty: None, value: Value::Null }),
        ParamValue::Int(number) => of(Type::Int8, Value::Integer(*number)),
        ParamValue::Uint(number) => match i64::try_from(*number) {
            Ok(number) => of(Type::Int8, Value::Integer(number)),
            Err(_) => of(WHOLE, Value::Text(number.to_string())),
        },
        ParamValue::Float(number) => of(Type::Float8, real(shortest(*number))?),
        ParamValue::Double(number) => of(Type::Float8, real(*number)?),
        ParamValue::DateTime(moment) if ty.column_type == ColumnType::DATE => {
            of(Type::Date, Value::Text(date_text(moment)))
        }
        ParamValue::DateTime(moment) => of(Type::Timestamp(None), Value::Text(moment_text(moment))),
        // More than a day, or less than nothing, is no time of the day.
        ParamValue::Time(time) if time.negative || time.days > 0 => of(Type::Text, Value::Text(time_text(time))),
        ParamValue::Time(time) => of(Type::Time(None), Value::Text(time_text(time))),
        ParamValue::Bytes(bytes) => of_bytes(ty.column_type, bytes, settings),
        ParamValue::Long => of_bytes(ty.column_type, long.unwrap_or_default(), settings),
    }
}

fn of_bytes(column_type: ColumnType, bytes: &[u8], settings: &Settings) -> Result<Given> {
    let of = |ty, value| Ok(Given { ty: Some(ty), value });
    match column_type {
        ColumnType::DECIMAL | ColumnType::NEWDECIMAL => {
            let ty = Type::Numeric(None);
            let value = values::input(&texts::text(bytes, None)?, &ty, settings)?;
            of(ty, value)
        }
        ColumnType::TINY_BLOB
        | ColumnType::MEDIUM_BLOB
        | ColumnType::LONG_BLOB
        | ColumnType::BLOB
        | ColumnType::BIT
        | ColumnType::GEOMETRY
        | ColumnType::VECTOR => of(Type::Bytea, Value::Blob(bytes.to_vec())),
        // Some clients say "string" of bytes, too.
        _ => match texts::text_with_nul(bytes, settings.client_encoding) {
            Ok(text) => of(Type::Text, Value::Text(text.into_owned())),
            Err(_) => of(Type::Bytea, Value::Blob(bytes.to_vec())),
        },
    }
}

/// A parameter's value in the stored form of the type that the statement wants.
pub(in crate::mysql) fn stored(given: &Given, wanted: &Type, settings: &Settings) -> Result<Value> {
    let Some(ty) = &given.ty else { return Ok(Value::Null) };
    if ty == wanted || given.value == Value::Null {
        return Ok(given.value.clone());
    }
    match (&given.value, wanted.through_domains()) {
        (Value::Integer(number), Type::Int8) => Ok(Value::Integer(*number)),
        (Value::Text(text), Type::Bytea) if *ty == Type::Text => Ok(Value::Blob(text.clone().into_bytes())),
        (Value::Integer(number), Type::Bool) => Ok(Value::Integer(i64::from(*number != 0))),
        (Value::Blob(bytes), other) if *other != Type::Bytea => {
            let text = String::from_utf8(bytes.clone())
                .map_err(|_| report::own(1366, "HY000", "Incorrect string value in a parameter"))?;
            values::input(&text, wanted, settings)
        }
        (value, _) => values::input(&values::output(value, ty, settings)?, wanted, settings),
    }
}

fn real(number: f64) -> Result<Value> {
    if number.is_finite() {
        return Ok(values::float::to_value(number));
    }
    Err(Error::new(rowferry_engine::Condition::NumericValueOutOfRange, "a parameter is not a number"))
}

/// A single as the double of the same digits, as MySQL compares them.
fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

fn date_text(moment: &DateTime) -> String {
    format!("{:04}-{:02}-{:02}", moment.year, moment.month, moment.day)
}

fn moment_text(moment: &DateTime) -> String {
    let mut text = date_text(moment);
    text.push_str(&format!(" {:02}:{:02}:{:02}", moment.hour, moment.minute, moment.second));
    push_fraction(&mut text, moment.microsecond);
    text
}

fn time_text(time: &Time) -> String {
    let sign = if time.negative { "-" } else { "" };
    let hours = u64::from(time.days) * 24 + u64::from(time.hours);
    let mut text = format!("{sign}{hours:02}:{:02}:{:02}", time.minutes, time.seconds);
    push_fraction(&mut text, time.microseconds);
    text
}

/// As it is stored: without zeros at its end.
fn push_fraction(text: &mut String, microseconds: u32) {
    if microseconds > 0 {
        text.push_str(format!(".{microseconds:06}").trim_end_matches('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: ColumnType, value: ParamValue<'_>) -> Given {
        given(ParamType { column_type: code, unsigned: false }, &value, Some(b"long"), &Settings::default()).unwrap()
    }

    #[test]
    fn parameters_have_the_types_that_their_client_says() {
        let of = |ty, value| Given { ty: Some(ty), value };
        let moment = DateTime { year: 2024, month: 2, day: 3, hour: 4, microsecond: 500_000, ..DateTime::default() };
        assert_eq!(read(ColumnType::LONG, ParamValue::Int(-1)), of(Type::Int8, Value::Integer(-1)));
        let large = "18446744073709551615".to_owned();
        assert_eq!(read(ColumnType::LONGLONG, ParamValue::Uint(u64::MAX)), of(WHOLE, Value::Text(large)));
        assert_eq!(read(ColumnType::FLOAT, ParamValue::Float(0.1)), of(Type::Float8, Value::Real(0.1)));
        assert_eq!(
            read(ColumnType::DATETIME, ParamValue::DateTime(moment)),
            of(Type::Timestamp(None), Value::Text("2024-02-03 04:00:00.5".into()))
        );
        assert_eq!(
            read(ColumnType::DATE, ParamValue::DateTime(moment)),
            of(Type::Date, Value::Text("2024-02-03".into()))
        );
        let day = Time { negative: true, days: 1, hours: 1, ..Time::default() };
        assert_eq!(read(ColumnType::TIME, ParamValue::Time(day)), of(Type::Text, Value::Text("-25:00:00".into())));
        assert_eq!(read(ColumnType::VAR_STRING, ParamValue::Long), of(Type::Text, Value::Text("long".into())));
        assert_eq!(read(ColumnType::STRING, ParamValue::Bytes(b"\xff")), of(Type::Bytea, Value::Blob(vec![0xff])));
        assert_eq!(read(ColumnType::BLOB, ParamValue::Bytes(b"x")), of(Type::Bytea, Value::Blob(vec![b'x'])));
    }

    #[test]
    fn values_go_into_the_types_that_the_statement_wants() {
        let settings = Settings::default();
        let of = |ty, value| Given { ty: Some(ty), value };
        let text = of(Type::Text, Value::Text("12".into()));
        assert_eq!(stored(&text, &Type::Int4, &settings), Ok(Value::Integer(12)));
        assert_eq!(stored(&text, &Type::Bytea, &settings), Ok(Value::Blob(b"12".to_vec())));
        let int = of(Type::Int8, Value::Integer(12));
        assert_eq!(stored(&int, &Type::Text, &settings), Ok(Value::Text("12".into())));
        assert_eq!(stored(&int, &Type::Bool, &settings), Ok(Value::Integer(1)));
        let blob = of(Type::Bytea, Value::Blob(b"x".to_vec()));
        assert_eq!(stored(&blob, &Type::Text, &settings), Ok(Value::Text("x".into())));
        let null = Given { ty: None, value: Value::Null };
        assert_eq!(stored(&null, &Type::Int4, &settings), Ok(Value::Null));
    }
}
