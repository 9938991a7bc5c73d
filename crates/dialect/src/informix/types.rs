//! Informix's types: their words, and the nearest of them for a type of another dialect.

use super::parse_types::default_precision;
use super::parser::Parser;
use crate::types::{Field, IntervalQualifier, NumericModifier, Qualifier};
use crate::{Condition, Error, Result, Type};

/// `DATETIME YEAR TO SECOND`.
pub const YEAR_TO_SECOND: Qualifier = Qualifier { first: Field::Year, last: Field::Second };
/// `DATETIME YEAR TO FRACTION(3)`: what CURRENT is without a qualifier.
pub const YEAR_TO_FRACTION3: Qualifier = Qualifier { first: Field::Year, last: Field::Fraction(3) };
/// `DATETIME YEAR TO FRACTION(5)`.
pub const YEAR_TO_FRACTION5: Qualifier = Qualifier { first: Field::Year, last: Field::Fraction(5) };
/// The longest LVARCHAR.
pub const LVARCHAR_MAX: u32 = 32_739;

/// The type that a text such as `DATETIME YEAR TO SECOND` names.
pub fn type_from_words(words: &str) -> Result<Type> {
    let mut parser = Parser::new(words)?;
    let ty = parser.type_name()?.ty;
    if super::named_types::is_named(&ty) {
        return Err(Error::new(Condition::UndefinedType, format!("type ({words}) not found")).column(words));
    }
    if parser.at_end() { Ok(ty) } else { Err(parser.unexpected()) }
}

/// A type in Informix's words; [`type_from_words`] reads them back.
pub fn type_words(ty: &Type) -> String {
    match import(ty) {
        Type::Bool => "BOOLEAN".into(),
        Type::Int2 => "SMALLINT".into(),
        Type::Int4 => "INTEGER".into(),
        Type::Int8 => "BIGINT".into(),
        Type::IfxInt8 => "INT8".into(),
        Type::Float4 => "SMALLFLOAT".into(),
        Type::Float8 => "FLOAT".into(),
        Type::Numeric(Some(NumericModifier { precision, scale })) => format!("DECIMAL({precision},{scale})"),
        Type::FloatingDecimal(precision) => format!("DECIMAL({precision})"),
        Type::Money(NumericModifier { precision, scale }) => format!("MONEY({precision},{scale})"),
        Type::Varchar(length) => format!("VARCHAR({})", length.unwrap_or(1)),
        Type::Nvarchar(length) => format!("NVARCHAR({length})"),
        Type::Char(length) => format!("CHAR({length})"),
        Type::Nchar(length) => format!("NCHAR({length})"),
        Type::Lvarchar(length) => format!("LVARCHAR({length})"),
        Type::Byte => "BYTE".into(),
        Type::TextBlob => "TEXT".into(),
        Type::Blob => "BLOB".into(),
        Type::Clob => "CLOB".into(),
        Type::Date => "DATE".into(),
        Type::Datetime(qualifier) => format!("DATETIME {}", qualifier_words(qualifier)),
        Type::QualifiedInterval(qualifier) => format!("INTERVAL {}", interval_qualifier_words(qualifier)),
        Type::Json => "JSON".into(),
        Type::Jsonb => "BSON".into(),
        Type::Composite(words) => words,
        other => unreachable!("import leaves no {other:?}"),
    }
}

/// `YEAR TO FRACTION(3)`.
pub fn qualifier_words(qualifier: Qualifier) -> String {
    format!("{} TO {}", qualifier.first.keyword(), qualifier.last)
}

/// `DAY(3) TO SECOND`; the first field's precision is left out when it is the default.
pub fn interval_qualifier_words(qualifier: IntervalQualifier) -> String {
    let precision =
        if matches!(qualifier.first, Field::Fraction(_)) || qualifier.precision == default_precision(qualifier.first) {
            String::new()
        } else {
            format!("({})", qualifier.precision)
        };
    format!("{}{precision} TO {}", qualifier.first.keyword(), qualifier.last)
}

/// The type that a new column or variable has for one of any dialect.
pub(super) fn kept(ty: &Type) -> Type {
    if ty.distinct().is_some() { ty.clone() } else { import(ty) }
}

/// The nearest type of Informix's own for a type of any dialect.
pub fn import(ty: &Type) -> Type {
    match ty {
        Type::Bool
        | Type::Int2
        | Type::Int4
        | Type::Int8
        | Type::IfxInt8
        | Type::Float4
        | Type::Float8
        | Type::FloatingDecimal(_)
        | Type::Money(_)
        | Type::Char(_)
        | Type::Nchar(_)
        | Type::Nvarchar(_)
        | Type::Lvarchar(_)
        | Type::Byte
        | Type::TextBlob
        | Type::Blob
        | Type::Clob
        | Type::Date
        | Type::Datetime(_)
        | Type::QualifiedInterval(_)
        | Type::Composite(_) => ty.clone(),
        Type::Oid | Type::Reg(_) => Type::Int8,
        Type::Numeric(Some(modifier))
            if modifier.precision <= 32 && modifier.scale >= 0 && modifier.scale <= modifier.precision as i16 =>
        {
            ty.clone()
        }
        Type::Numeric(_) => Type::FloatingDecimal(32),
        Type::Varchar(Some(length)) if *length <= 255 => ty.clone(),
        Type::Varchar(Some(length)) => Type::Lvarchar((*length).min(LVARCHAR_MAX)),
        Type::Varchar(None)
        | Type::Text
        | Type::Jsonpath
        | Type::Scalar(..)
        | Type::Array(_)
        | Type::Record(_)
        | Type::Unknown => Type::Lvarchar(LVARCHAR_MAX),
        Type::User(user) if user.subtype().is_some() => Type::Lvarchar(LVARCHAR_MAX),
        Type::User(user) => user.stored_as().map_or(Type::Varchar(Some(63)), import),
        Type::Name => Type::Varchar(Some(128)),
        Type::InternalChar | Type::Void => Type::Char(1),
        Type::Bytea => Type::Byte,
        Type::Time(_) | Type::TimeTz(_) => Type::Datetime(Qualifier { first: Field::Hour, last: Field::Fraction(5) }),
        Type::Timestamp(_) | Type::TimestampTz(_) => Type::Datetime(YEAR_TO_FRACTION5),
        Type::Interval(_) => {
            Type::QualifiedInterval(IntervalQualifier { first: Field::Day, precision: 9, last: Field::Fraction(5) })
        }
        Type::Uuid => Type::Char(36),
        Type::Json => Type::Json,
        Type::Jsonb => Type::Jsonb,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_as_the_type_that_made_them() {
        for words in [
            "SMALLINT",
            "INTEGER",
            "BIGINT",
            "INT8",
            "FLOAT",
            "SMALLFLOAT",
            "DECIMAL(16)",
            "DECIMAL(10,2)",
            "MONEY(16,2)",
            "CHAR(10)",
            "NCHAR(3)",
            "VARCHAR(255)",
            "NVARCHAR(7)",
            "LVARCHAR(2048)",
            "BOOLEAN",
            "DATE",
            "DATETIME YEAR TO SECOND",
            "DATETIME HOUR TO FRACTION(5)",
            "INTERVAL DAY(3) TO FRACTION(3)",
            "INTERVAL YEAR TO MONTH",
            "BYTE",
            "TEXT",
            "BLOB",
            "CLOB",
            "SET(integer not null)",
            "ROW(name varchar(50), age integer)",
        ] {
            assert_eq!(type_words(&type_from_words(words).unwrap()), words);
        }
    }

    #[test]
    fn qualifiers_out_of_order_are_refused() {
        for words in
            ["DATETIME SECOND TO YEAR", "INTERVAL MONTH TO DAY", "DATETIME YEAR TO FRACTION(6)", "VARCHAR(256)"]
        {
            assert!(type_from_words(words).is_err(), "{words}");
        }
    }
}
