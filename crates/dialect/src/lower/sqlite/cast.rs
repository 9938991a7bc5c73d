//! Conversions: of literals here, of parameters when they are bound, of anything else by `rf_cast`.

use std::borrow::Cow;

use super::{Lowering, Repr, Sql, quote_text, repr_of, types};
use crate::ir::{CastContext, Expr, ExprKind, Value};
use crate::scalar::ranges;
use crate::types::Storage;
use crate::values::decimal::native::stored_number;
use crate::values::{self, Settings};
use crate::{Condition, Error, Language, Result, Type};

/// What becomes of a parameter's value before it is bound.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamForm {
    /// It is bound as it is.
    AsIs,
    /// An exact decimal that is compared with a NUMERIC column: as a number, if no digit is lost.
    NativeDecimal,
    /// An exact decimal that goes into a NUMERIC column: as the number that it becomes there, if no digit is lost.
    StoredDecimal,
    /// The same of what is converted to an exact decimal first.
    StoredCast {
        /// The parameter's type.
        from: Type,
        /// The wanted type.
        to: Type,
        /// The rules.
        context: CastContext,
    },
    /// It is converted first.
    Cast {
        /// The parameter's type.
        from: Type,
        /// The wanted type.
        to: Type,
        /// The rules.
        context: CastContext,
    },
    /// NULL violates a constraint; checked here because SQLite would give such a column a number.
    NotNull {
        /// What comes first.
        inner: Box<ParamForm>,
        /// The table's name.
        table: String,
        /// The column's name.
        column: String,
    },
    /// The offset of a window's frame, which must not be NULL.
    FrameOffset {
        /// What comes first.
        inner: Box<ParamForm>,
        /// It is that of the frame's end.
        ending: bool,
    },
    /// LIMIT: NULL is no limit.
    Limit,
    /// OFFSET: NULL is no offset.
    Offset,
}

impl ParamForm {
    /// The value to bind.
    ///
    /// # Errors
    /// What the conversion raises: `22001`, `22003`, `22P02`, `23502`, `2201W`, …
    pub fn apply<'v>(&self, value: &'v Value, settings: &Settings) -> Result<Cow<'v, Value>> {
        match self {
            Self::AsIs => Ok(Cow::Borrowed(value)),
            Self::NativeDecimal => Ok(native_decimal(value)),
            Self::StoredDecimal => match value {
                Value::Text(text) => Ok(stored_number(text).map_or(Cow::Borrowed(value), Cow::Owned)),
                _ => Ok(Cow::Borrowed(value)),
            },
            Self::StoredCast { from, to, context } => match (value, from, to) {
                (Value::Text(text), Type::Numeric(_), Type::Numeric(modifier))
                    if values::decimal::fits(text.as_bytes(), *modifier) =>
                {
                    Ok(stored_number(text).map_or(Cow::Borrowed(value), Cow::Owned))
                }
                _ => {
                    let converted = values::cast(value, from, to, *context, settings)?;
                    let number = match &converted {
                        Value::Text(text) => stored_number(text),
                        _ => None,
                    };
                    Ok(Cow::Owned(number.unwrap_or(converted)))
                }
            },
            Self::Cast { from, to, context } => values::cast(value, from, to, *context, settings).map(Cow::Owned),
            Self::NotNull { inner, table, column } => {
                let value = inner.apply(value, settings)?;
                if *value == Value::Null {
                    return Err(Error::new(
                        Condition::NotNullViolation,
                        format!(
                            "null value in column \"{column}\" of relation \"{table}\" violates not-null constraint"
                        ),
                    )
                    .table("public", table)
                    .column(column));
                }
                Ok(value)
            }
            Self::FrameOffset { inner, ending } => {
                let value = inner.apply(value, settings)?;
                if *value == Value::Null { Err(no_frame_offset(*ending)) } else { Ok(value) }
            }
            Self::Limit => row_count(value, -1, Condition::InvalidRowCountInLimit, "LIMIT"),
            Self::Offset => row_count(value, 0, Condition::InvalidRowCountInOffset, "OFFSET"),
        }
    }
}

/// The offset of a window's frame is NULL.
pub fn no_frame_offset(ending: bool) -> Error {
    let which = if ending { "ending" } else { "starting" };
    Error::new(Condition::NullValueNotAllowed, format!("frame {which} offset must not be null"))
}

fn row_count<'v>(value: &Value, none: i64, condition: Condition, clause: &str) -> Result<Cow<'v, Value>> {
    match value {
        Value::Null => Ok(Cow::Owned(Value::Integer(none))),
        Value::Integer(count) if *count < 0 => Err(Error::new(condition, format!("{clause} must not be negative"))),
        other => Ok(Cow::Owned(other.clone())),
    }
}

/// A decimal as SQLite's NUMERIC affinity would store it, when it has at most 15 digits. One of more digits, which no
/// such column can hold, becomes a number between the same two that it can: bound as it is, SQLite would round it to
/// one of them.
pub fn native_decimal(value: &Value) -> Cow<'_, Value> {
    let Value::Text(text) = value else { return Cow::Borrowed(value) };
    if let Some(number) = stored_number(text) {
        return Cow::Owned(number);
    }
    let Ok(decimal) = values::Decimal::parse(text) else { return Cow::Borrowed(value) };
    let digits = i64::from(Type::NATIVE_DECIMAL_DIGITS);
    let scale = decimal.finite().map_or(0, |number| digits - 1 - number.exponent());
    Cow::Owned(decimal.to_native(scale))
}

impl Lowering<'_> {
    /// True where whoever binds a parameter of this type may convert it: not where it may be one that cannot be, and nobody asks
    /// for it.
    pub(super) fn converts_params_of(&self, from: &Type) -> bool {
        !self.perhaps || *from == Type::Unknown
    }

    pub(super) fn cast(&mut self, arg: &Expr, to: &Type, context: CastContext) -> Result<Sql> {
        let from = &arg.ty;
        if keeps_value(from, to) {
            let inner = self.expr(arg)?;
            // A wider type shows the digits that the narrower one promised.
            return if inner.repr == Repr::Native && scale(from) != scale(to) {
                Ok(self.decimal_text(inner, from))
            } else {
                Ok(inner)
            };
        }
        match &arg.kind {
            // Who binds a parameter converts it, unless it may be one that cannot be and nobody asks for.
            ExprKind::Param(param) if self.converts_params_of(from) => {
                let form = ParamForm::Cast { from: from.clone(), to: to.clone(), context };
                return Ok(Sql { sql: self.param(*param, form), repr: repr_of(to) });
            }
            ExprKind::Literal(Value::Null) => return Ok(Sql { sql: "NULL".into(), repr: repr_of(to) }),
            ExprKind::Literal(value)
                if folds(from)
                    && folds(to)
                    && !(is_textual(from) && reads_by_settings(to))
                    && !(is_textual(to) && prints_by_settings(from)) =>
            {
                // A literal that cannot be converted is reported when the statement runs, as for any other value.
                if let Ok(value) = values::cast(value, from, to, context, &Settings::default()) {
                    return self.literal(&value, to);
                }
            }
            _ => {}
        }
        let inner = self.expr(arg)?;
        if *from.through_domains() == Type::Char(0) && is_unbounded_text(to) {
            return Ok(Sql { sql: format!("rtrim({}, ' ')", inner.sql), repr: Repr::Plain });
        }
        self.needs_us();
        let context = match context {
            CastContext::Implicit => "i",
            CastContext::Assignment => "a",
            CastContext::Explicit => "e",
        };
        let sql = format!("rf_cast({}, {}, {}, '{context}')", inner.sql, type_words(from), type_words(to));
        Ok(Sql { sql, repr: repr_of(to) })
    }

    /// The expression's value as text for the user, whatever its type.
    pub(super) fn as_text(&mut self, arg: &Expr) -> Result<String> {
        Ok(self.cast(arg, &Type::Text, CastContext::Explicit)?.sql)
    }

    /// A decimal in its text representation.
    pub(super) fn decimal_text(&mut self, sql: Sql, ty: &Type) -> Sql {
        if sql.repr != Repr::Native {
            return sql;
        }
        self.needs_us();
        let sql = match scale(ty) {
            Some(scale) => format!("rf_numeric_text({}, {scale})", sql.sql),
            None => format!("rf_numeric_text({})", sql.sql),
        };
        Sql { sql, repr: Repr::Text }
    }
}

/// A type as `rf_cast` and its kin are told of it.
pub(super) fn type_words(ty: &Type) -> String {
    quote_text(&crate::user_type::told(ty).unwrap_or_else(|| types::words(ty, Language::Postgres)))
}

/// Digits behind the point that the type promises.
fn scale(ty: &Type) -> Option<i16> {
    match ty.through_domains() {
        Type::Numeric(Some(modifier)) | Type::Money(modifier) => Some(modifier.scale),
        _ => None,
    }
}

/// Conversions that leave the stored value as it is.
fn keeps_value(from: &Type, to: &Type) -> bool {
    let (from, to) = (from.through_domains(), to.through_domains());
    if from == to {
        return true;
    }
    match (from, to) {
        // Nothing is known of it but that it is text already.
        (Type::Unknown, to) => to.storage() == Storage::Text && is_unbounded_text(to),
        (Type::Int2, Type::Int4 | Type::Int8 | Type::IfxInt8) => true,
        (Type::Int4, Type::Int8 | Type::IfxInt8) => true,
        (Type::Int8, Type::IfxInt8) | (Type::IfxInt8, Type::Int8) => true,
        (Type::Oid | Type::Reg(_), Type::Oid | Type::Int8 | Type::Reg(_)) => true,
        (Type::Float4, Type::Float8) => true,
        (Type::Numeric(Some(narrow)), Type::Numeric(Some(wide))) => {
            i32::from(narrow.precision) - i32::from(narrow.scale) <= i32::from(wide.precision) - i32::from(wide.scale)
                && narrow.scale == wide.scale
        }
        (from, Type::Numeric(None)) => from.is_decimal(),
        (Type::Varchar(Some(from)), Type::Varchar(Some(to))) => from <= to,
        // Without a length it has its blanks, with one it has none.
        (Type::Char(from), Type::Char(to)) => *from != 0 && *to != 0 && from <= to,
        (Type::Char(0), to) if is_unbounded_text(to) => *to == Type::Unknown,
        (from, Type::Char(0)) if from.is_text() => !matches!(from, Type::Nchar(_) | Type::InternalChar),
        (from, to) if from.is_text() && is_unbounded_text(to) => true,
        // A label lies as its text.
        (Type::User(user), to) => user.labels().is_some() && is_unbounded_text(to),
        (Type::Time(_), Type::Time(None))
        | (Type::TimeTz(_), Type::TimeTz(None))
        | (Type::Timestamp(_), Type::Timestamp(None))
        | (Type::TimestampTz(_), Type::TimestampTz(None))
        | (Type::Interval(_), Type::Interval(None)) => true,
        (Type::Bytea | Type::Byte | Type::Blob, Type::Bytea | Type::Byte | Type::Blob) => true,
        (Type::Array(from), Type::Array(to)) => keeps_value(from, to),
        _ => false,
    }
}

/// Text types that take any text; `name` cuts at 63 bytes, so it is not among them.
fn is_unbounded_text(ty: &Type) -> bool {
    matches!(ty, Type::Text | Type::Varchar(None) | Type::TextBlob | Type::Clob | Type::Unknown)
}

/// Types whose conversion depends on nothing but the value: not on the session's zone, nor on the schema. The settings
/// that literals are read under (DateStyle) reach a literal only through the front end, which has read it already.
fn folds(ty: &Type) -> bool {
    match ty {
        Type::TimestampTz(_) | Type::TimeTz(_) | Type::Reg(_) | Type::Record(_) => false,
        Type::Array(element) => folds(element),
        Type::User(user) => user.parts().all(folds),
        Type::Scalar(..) => ranges::subtype(ty).is_none_or(|subtype| folds(&subtype.ty())),
        _ => true,
    }
}

/// Types whose text means something else under another setting: no literal of text becomes one of them here.
fn reads_by_settings(ty: &Type) -> bool {
    match ty {
        Type::Date | Type::Timestamp(_) | Type::Interval(_) => true,
        Type::Array(element) => reads_by_settings(element),
        Type::User(user) => user.parts().any(reads_by_settings),
        Type::Scalar(..) => ranges::subtype(ty).is_some_and(|subtype| reads_by_settings(&subtype.ty())),
        _ => false,
    }
}

fn is_textual(ty: &Type) -> bool {
    match ty {
        Type::Array(element) => is_textual(element),
        ty => ty.is_text() || matches!(ty, Type::Unknown | Type::Json | Type::Jsonb),
    }
}

/// Types that are printed by settings.
fn prints_by_settings(ty: &Type) -> bool {
    reads_by_settings(ty)
        || match ty {
            Type::Float4 | Type::Float8 | Type::Bytea => true,
            Type::Array(element) => prints_by_settings(element),
            Type::User(user) => user.parts().any(prints_by_settings),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_not_negative() {
        let settings = Settings::default();
        assert_eq!(*ParamForm::Limit.apply(&Value::Null, &settings).unwrap(), Value::Integer(-1));
        let error = ParamForm::Limit.apply(&Value::Integer(-2), &settings).unwrap_err();
        assert_eq!(error.condition(), Condition::InvalidRowCountInLimit);
    }

    #[test]
    fn a_parameter_that_no_column_can_hold_stays_between_its_neighbours() {
        let bound = |text: &str| {
            let value = Value::Text(text.to_owned());
            ParamForm::NativeDecimal.apply(&value, &Settings::default()).unwrap().into_owned()
        };
        assert_eq!(bound("12.50"), Value::Real(12.5));
        assert_eq!(bound("12.00"), Value::Integer(12));
        let Value::Real(above) = bound("12.5000000000000000000001") else { panic!("a number") };
        assert!(above > 12.5 && above < 12.500_000_000_001);
        let Value::Real(below) = bound("-0.1000000000000000000001") else { panic!("a number") };
        assert!(below < -0.1 && below > -0.100_000_000_001);
        assert_eq!(bound("-Infinity"), Value::Real(f64::NEG_INFINITY));
        assert!(matches!(bound("123456789012345678901234567890.5"), Value::Real(huge) if huge > 1e29));
    }
}
