//! Routines of users, called without SQL (SQ_GETROUTINE, SQ_EXFPROUTINE).

use std::sync::Arc;

use rowferry_dialect::informix::codes::type_code;
use rowferry_dialect::informix::spl::Signature;
use rowferry_dialect::informix::values::{date_to_days, parse_date};
use rowferry_dialect::ir::Value;
use rowferry_engine::{Condition, Error, Outcome, Prepared, Result, Session, Type};
use rowferry_wire_sqli::Qualifier;
use rowferry_wire_sqli::TypeCode;
use rowferry_wire_sqli::messages::{Param, ParamValue};
use rowferry_wire_sqli::values::{Base100, DateTime, Interval};

use super::text::CodeSet;
use super::values::Bound;

/// Handles below this are those of built-in routines.
const FIRST_HANDLE: i32 = 1_000;

/// The routines that a client has asked for.
#[derive(Debug, Default)]
pub(super) struct Routines {
    calls: Vec<String>,
}

/// A value that a routine has returned, on its way to the client.
#[derive(Debug)]
pub(super) struct Returned {
    code: TypeCode,
    name: &'static str,
    precision: u16,
    value: ReturnedValue,
}

#[derive(Debug)]
enum ReturnedValue {
    Null,
    Int(i64),
    Float(f64),
    Date(i32),
    Text(Vec<u8>),
    Base100(Vec<u8>),
    Opaque(Vec<u8>),
}

impl Routines {
    /// The handle of the routine that a signature names; `None` when users have made no such routine.
    pub fn find(&mut self, session: &mut Session, signature: &str) -> Option<i32> {
        let call = Signature::parse(signature).ok()?.call(&session.schema())?;
        let at = self.calls.iter().position(|known| *known == call).unwrap_or_else(|| {
            self.calls.push(call);
            self.calls.len() - 1
        });
        i32::try_from(at).ok().map(|at| FIRST_HANDLE + at)
    }

    /// True for a handle of one of these.
    pub fn has(&self, handle: i32) -> bool {
        self.call_of(handle).is_some()
    }

    fn call_of(&self, handle: i32) -> Option<&str> {
        let at = usize::try_from(handle.checked_sub(FIRST_HANDLE)?).ok()?;
        self.calls.get(at).map(String::as_str)
    }

    /// Calls a routine: what it returns.
    pub fn call(&self, session: &mut Session, handle: i32, args: &[Bound], code_set: CodeSet) -> Result<Vec<Returned>> {
        let unknown = || Error::new(Condition::UndefinedFunction, format!("there is no routine {handle}"));
        let call = self.call_of(handle).ok_or_else(unknown)?;
        let plan: Arc<Prepared> = session.prepare(call, &[])?.ok_or_else(unknown)?;
        let wanted = &plan.bound.params;
        if wanted.len() != args.len() {
            let message = format!("the routine has {} parameters, but {} values are bound", wanted.len(), args.len());
            return Err(Error::new(Condition::TooFewParameters, message));
        }
        let values =
            args.iter().zip(wanted).map(|(arg, ty)| arg.stored(ty, code_set, None)).collect::<Result<Vec<_>>>()?;
        let Outcome::Rows(mut cursor) = session.execute(&plan, &values)? else { return Ok(Vec::new()) };
        let types: Vec<Type> = cursor.columns().iter().map(|column| column.ty.clone()).collect();
        let Some(row) = cursor.next()? else {
            return types.iter().map(|ty| returned(&Value::Null, ty, code_set)).collect();
        };
        let values: Vec<Value> = (0..row.len()).map(|at| row.get(at).to_value()).collect();
        drop(row);
        if cursor.next()?.is_some() {
            return Err(Error::new(Condition::RoutineManyRows, "the routine has returned more than one row"));
        }
        values.iter().zip(&types).map(|(value, ty)| returned(value, ty, code_set)).collect()
    }
}

impl Returned {
    /// The value as it travels.
    pub fn param(&self) -> Param<'_> {
        let number = |number: i64| match self.code {
            TypeCode::SMALLINT => ParamValue::SmallInt(number as i16),
            TypeCode::BIGINT => ParamValue::BigInt(number),
            TypeCode::INT8 => ParamValue::Int8(number),
            _ => ParamValue::Integer(number as i32),
        };
        let value = match &self.value {
            ReturnedValue::Null => ParamValue::Null,
            ReturnedValue::Int(value) => number(*value),
            ReturnedValue::Float(value) if self.code == TypeCode::SMALLFLOAT => ParamValue::SmallFloat(*value as f32),
            ReturnedValue::Float(value) => ParamValue::Float(*value),
            ReturnedValue::Date(days) => ParamValue::Date(*days),
            ReturnedValue::Text(bytes) => ParamValue::Text(bytes),
            ReturnedValue::Base100(bytes) => ParamValue::Base100(bytes),
            ReturnedValue::Opaque(bytes) => ParamValue::Opaque(bytes),
        };
        let owner: &[u8] = if self.name.is_empty() { b"" } else { b"informix" };
        Param { code: self.code, owner, name: self.name.as_bytes(), precision: self.precision, value }
    }
}

fn returned(value: &Value, ty: &Type, code_set: CodeSet) -> Result<Returned> {
    let ty = ty.without_distinct();
    let described = type_code(ty, false);
    let misfit =
        || Error::new(Condition::DataException, "a returned value does not fit its type").data_type(format!("{ty:?}"));
    let (code, name) = match ty {
        Type::Bool => (TypeCode::BOOLEAN, "boolean"),
        Type::Lvarchar(_) => (TypeCode::LVARCHAR, "lvarchar"),
        _ if described.code <= 18 || matches!(described.code, 52 | 53) => (TypeCode(described.code), ""),
        _ => return Err(Error::unsupported("a returned value of this type on the fast path")),
    };
    let precision = described.length as u16;
    let digits = |base: &Base100| {
        let mut bytes = Vec::new();
        base.encode_short(&mut bytes);
        ReturnedValue::Base100(bytes)
    };
    let value = match (value, ty) {
        (Value::Null, _) => ReturnedValue::Null,
        (Value::Integer(number), Type::Bool) => ReturnedValue::Opaque(vec![u8::from(*number != 0)]),
        (Value::Real(number), Type::Float4 | Type::Float8) => ReturnedValue::Float(*number),
        (Value::Integer(number), Type::Float4 | Type::Float8) => ReturnedValue::Float(*number as f64),
        (value, ty) if ty.is_decimal() => {
            let text = match value {
                Value::Text(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Real(number) => number.to_string(),
                _ => return Err(misfit()),
            };
            digits(&Base100::from_text(&text, 32, None).map_err(|_| misfit())?)
        }
        (Value::Integer(number), _) => ReturnedValue::Int(*number),
        (Value::Text(text), Type::Date) => {
            let (year, month, day) = parse_date(text)?;
            ReturnedValue::Date(i32::try_from(date_to_days(year, month, day)).map_err(|_| misfit())?)
        }
        (Value::Text(text), Type::Datetime(_)) => {
            let qualifier = Qualifier(precision);
            let moment = DateTime::from_text(text, qualifier).and_then(|moment| moment.to_number(qualifier));
            digits(&moment.map_err(|_| misfit())?)
        }
        (Value::Text(text), Type::QualifiedInterval(_)) => {
            let qualifier = Qualifier(precision);
            let span = Interval::from_text(text, qualifier).and_then(|span| span.to_number(qualifier));
            digits(&span.map_err(|_| misfit())?)
        }
        (Value::Text(text), Type::Lvarchar(_)) => ReturnedValue::Opaque(code_set.encode(text.as_bytes())?.into_owned()),
        (Value::Text(text), _) => ReturnedValue::Text(code_set.encode(text.as_bytes())?.into_owned()),
        _ => return Err(misfit()),
    };
    Ok(Returned { code, name, precision, value })
}
