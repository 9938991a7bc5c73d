//! Types and qualifiers as written.

use super::ast::TypeName;
use super::lexer::TokenKind;
use super::named_types;
use super::parser::Parser;
use crate::types::{Field, IntervalQualifier, NumericModifier, Qualifier};
use crate::{Condition, Result, Type};

/// `LVARCHAR` without a length.
const LVARCHAR_DEFAULT: u32 = 2_048;
/// The longest CHAR and LVARCHAR.
const CHAR_MAX: u32 = 32_767;
/// The longest VARCHAR.
const VARCHAR_MAX: u32 = 255;

impl Parser<'_> {
    pub fn type_name(&mut self) -> Result<TypeName> {
        let at = self.start();
        let word = match self.peek() {
            TokenKind::Word(word) => word.clone(),
            TokenKind::Quoted(_) => {
                // "informix".lvarchar
                self.take();
                self.expect_sign(".")?;
                return self.type_name();
            }
            _ => return Err(self.unexpected()),
        };
        if word == "informix" && self.is_sign_at(1, ".") {
            self.take();
            self.take();
            return self.type_name();
        }
        self.take();
        let mut serial = None;
        let ty = match word.as_str() {
            "char" | "character" => {
                if word == "character" && self.word("varying") {
                    self.varchar(Type::Varchar, at)?
                } else {
                    Type::Char(self.length(1, CHAR_MAX, at)?)
                }
            }
            "nchar" => Type::Nchar(self.length(1, CHAR_MAX, at)?),
            "varchar" => self.varchar(Type::Varchar, at)?,
            "nvarchar" => self.varchar(|length| Type::Nvarchar(length.unwrap_or(1)), at)?,
            "lvarchar" => Type::Lvarchar(self.length(LVARCHAR_DEFAULT, CHAR_MAX, at)?),
            "smallint" | "int2" => Type::Int2,
            "int" | "integer" | "int4" => Type::Int4,
            "bigint" => Type::Int8,
            "int8" => Type::IfxInt8,
            "serial" => {
                serial = Some(self.serial_start()?);
                Type::Int4
            }
            "bigserial" => {
                serial = Some(self.serial_start()?);
                Type::Int8
            }
            "serial8" => {
                serial = Some(self.serial_start()?);
                Type::IfxInt8
            }
            "float" => {
                if self.is_sign("(") {
                    self.skip_parentheses()?;
                }
                Type::Float8
            }
            "double" => {
                self.word("precision");
                Type::Float8
            }
            "smallfloat" | "real" => Type::Float4,
            "decimal" | "dec" | "numeric" => self.decimal(at)?,
            "money" => {
                let (precision, scale) = self.precision(at)?.map_or((16, 2), |(p, s)| (p, s.unwrap_or(2)));
                Type::Money(NumericModifier { precision: precision.into(), scale: scale.into() })
            }
            "date" => Type::Date,
            "datetime" => Type::Datetime(self.qualifier()?),
            "interval" => Type::QualifiedInterval(self.interval_qualifier()?),
            "boolean" => Type::Bool,
            "byte" => self.large_object(Type::Byte)?,
            "text" => self.large_object(Type::TextBlob)?,
            "blob" => self.large_object(Type::Blob)?,
            "clob" => self.large_object(Type::Clob)?,
            "json" => Type::Json,
            "bson" => Type::Jsonb,
            "set" | "multiset" | "list" => {
                self.expect_sign("(")?;
                let element = self.nested(Self::type_name)?;
                let not_null = if self.words(&["not", "null"]) { " not null" } else { "" };
                self.expect_sign(")")?;
                let words = super::types::type_words(&element.ty).to_lowercase();
                Type::Composite(format!("{}({words}{not_null})", word.to_uppercase()))
            }
            "row" => self.row_type()?,
            _ if self.is_sign(".") => {
                // An owner.
                self.take();
                named_types::placeholder(&self.name()?)
            }
            _ => named_types::placeholder(&word),
        };
        Ok(TypeName { ty, serial })
    }

    /// `(n)`, or `default`.
    fn length(&mut self, default: u32, max: u32, at: usize) -> Result<u32> {
        if !self.sign("(") {
            return Ok(default);
        }
        let length = self.unsigned()?;
        self.expect_sign(")")?;
        if length == 0 || length > max {
            return Err(self.error_at(Condition::LengthTooLarge, format!("length {length} is out of range"), at));
        }
        Ok(length)
    }

    /// `(max[, reserve])`
    fn varchar(&mut self, make: impl Fn(Option<u32>) -> Type, at: usize) -> Result<Type> {
        if !self.sign("(") {
            return Ok(make(Some(1)));
        }
        let length = self.unsigned()?;
        if self.sign(",") {
            self.unsigned()?;
        }
        self.expect_sign(")")?;
        if length == 0 || length > VARCHAR_MAX {
            return Err(self.error_at(Condition::VarcharTooLong, format!("length {length} is out of range"), at));
        }
        Ok(make(Some(length)))
    }

    /// `(p[, s])`
    fn precision(&mut self, at: usize) -> Result<Option<(u8, Option<u8>)>> {
        if !self.sign("(") {
            return Ok(None);
        }
        let precision = self.unsigned()?;
        let scale = if self.sign(",") { Some(self.unsigned()?) } else { None };
        self.expect_sign(")")?;
        if !(1..=32).contains(&precision) || scale.is_some_and(|scale| scale > precision) {
            return Err(self.error_at(Condition::PrecisionTooLarge, "precision or scale is out of range", at));
        }
        Ok(Some((precision as u8, scale.map(|scale| scale as u8))))
    }

    fn decimal(&mut self, at: usize) -> Result<Type> {
        Ok(match self.precision(at)? {
            None => Type::FloatingDecimal(16),
            Some((precision, None)) => Type::FloatingDecimal(precision),
            Some((precision, Some(scale))) => {
                Type::Numeric(Some(NumericModifier { precision: precision.into(), scale: scale.into() }))
            }
        })
    }

    fn serial_start(&mut self) -> Result<i64> {
        if !self.sign("(") {
            return Ok(1);
        }
        let start = self.signed()?;
        self.expect_sign(")")?;
        Ok(start)
    }

    /// `IN TABLE`, `IN blobspace`
    fn large_object(&mut self, ty: Type) -> Result<Type> {
        if self.word("in") {
            self.name()?;
        }
        Ok(ty)
    }

    fn field(&mut self) -> Result<Field> {
        let TokenKind::Word(word) = self.peek() else { return Err(self.unexpected()) };
        let field = match word.as_str() {
            "year" => Field::Year,
            "month" => Field::Month,
            "day" => Field::Day,
            "hour" => Field::Hour,
            "minute" => Field::Minute,
            "second" => Field::Second,
            "fraction" => Field::Fraction(3),
            _ => return Err(self.unexpected()),
        };
        self.take();
        Ok(field)
    }

    fn fraction_digits(&mut self) -> Result<u8> {
        if !self.sign("(") {
            return Ok(3);
        }
        let at = self.start();
        let digits = self.unsigned()?;
        self.expect_sign(")")?;
        if !(1..=5).contains(&digits) {
            return Err(self.error_at(Condition::InvalidColumnDefinition, "FRACTION has 1 to 5 digits", at));
        }
        Ok(digits as u8)
    }

    /// True when a qualifier begins here.
    pub fn is_qualifier(&self) -> bool {
        let TokenKind::Word(word) = self.peek() else { return false };
        matches!(word.as_str(), "year" | "month" | "day" | "hour" | "minute" | "second" | "fraction")
            && (self.is_word_at(1, "to") || self.is_sign_at(1, "("))
    }

    /// `first TO last` of a DATETIME.
    pub fn qualifier(&mut self) -> Result<Qualifier> {
        let at = self.start();
        let first = self.field()?;
        if self.is_sign("(") {
            self.skip_parentheses()?;
        }
        self.expect_word("to")?;
        let mut last = self.field()?;
        if matches!(last, Field::Fraction(_)) {
            last = Field::Fraction(self.fraction_digits()?);
        }
        let first = if matches!(first, Field::Fraction(_)) { last } else { first };
        if first > last {
            return Err(self.error_at(Condition::SyntaxError, "a qualifier goes from a larger field to a smaller", at));
        }
        Ok(Qualifier { first, last })
    }

    /// `first[(precision)] TO last` of an INTERVAL.
    pub fn interval_qualifier(&mut self) -> Result<IntervalQualifier> {
        let at = self.start();
        let first = self.field()?;
        let mut precision = default_precision(first);
        if self.sign("(") {
            let digits = self.unsigned()?;
            if !(1..=9).contains(&digits) {
                return Err(self.error_at(
                    Condition::InvalidColumnDefinition,
                    "an interval's first field has 1 to 9 digits",
                    at,
                ));
            }
            precision = digits as u8;
            self.expect_sign(")")?;
        }
        self.expect_word("to")?;
        let mut last = self.field()?;
        if matches!(last, Field::Fraction(_)) {
            last = Field::Fraction(self.fraction_digits()?);
        }
        let first = if matches!(first, Field::Fraction(_)) { last } else { first };
        if first > last || (first <= Field::Month) != (last <= Field::Month) {
            return Err(self.error_at(
                Condition::SyntaxError,
                "an interval is YEAR TO MONTH or within DAY TO FRACTION",
                at,
            ));
        }
        Ok(IntervalQualifier { first, precision, last })
    }

    /// A single field behind UNITS.
    pub fn units(&mut self) -> Result<IntervalQualifier> {
        let first = self.field()?;
        let field = if matches!(first, Field::Fraction(_)) { Field::Fraction(5) } else { first };
        Ok(IntervalQualifier { first: field, precision: 9, last: field })
    }
}

/// Digits of an interval's first field when none are given.
pub(super) const fn default_precision(first: Field) -> u8 {
    match first {
        Field::Year => 4,
        _ => 2,
    }
}
