//! The columns of JSON_TABLE, as a text tells them, and the values that a document has for them.
//!
//! Source: MySQL 9.7 Reference Manual, 14.17.6 "JSON Table Functions"; what conversions yield is what MySQL 9.7 answers.

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use super::json::number_text;
use super::{json, moments, numbers};
use crate::types::NumericModifier;
use crate::{Condition, Error, Result, Type};

/// What a column's values are.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Integers from one to another.
    Integer(i128, i128),
    /// IEEE doubles; singles.
    Double(bool),
    /// Exact numbers of so many digits, and so many behind the point.
    Decimal(u16, i16),
    /// Texts of at most so many letters; without blanks at their end where the type is CHAR.
    Text(Option<usize>, bool),
    /// Dates.
    Date,
    /// Moments, with so many digits of a second's fraction.
    DateTime(i64),
    /// Times, likewise.
    Time(i64),
    /// Documents.
    Json,
}

/// What becomes of a column without a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Otherwise {
    /// NULL.
    Null,
    /// An error.
    Error,
    /// Another document.
    Default(Json),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// The number of the row.
    Ordinality(String),
    /// What a path leads to.
    Value {
        /// Its name.
        name: String,
        /// The path.
        path: String,
        /// What it is.
        kind: Kind,
        /// It only says whether there is something.
        exists: bool,
        /// Where there is nothing.
        empty: Otherwise,
        /// Where there is something else.
        error: Otherwise,
    },
    /// Columns of each of the values that a path leads to.
    Nested(Table),
}

/// What JSON_TABLE is told behind its document.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The path to the rows.
    pub path: String,
    /// Their columns.
    pub columns: Vec<Column>,
}

fn unreadable() -> Error {
    Error::new(Condition::InvalidParameterValue, "the columns of JSON_TABLE cannot be read")
}

impl Table {
    /// Reads it.
    ///
    /// # Errors
    /// For types that no such column has, and defaults that are no documents.
    pub fn read(told: &str) -> Result<Self> {
        let told: Json = serde_json::from_str(told).map_err(|_| unreadable())?;
        Self::of(&told)
    }

    fn of(told: &Json) -> Result<Self> {
        let path = told.get("path").and_then(Json::as_str).ok_or_else(unreadable)?.to_owned();
        let columns = told.get("columns").and_then(Json::as_array).ok_or_else(unreadable)?;
        Ok(Self { path, columns: columns.iter().map(Column::of).collect::<Result<_>>()? })
    }

    /// All columns with their types, those of nested paths where these stand.
    pub fn shown(&self) -> Vec<(&str, Type)> {
        let mut all = Vec::new();
        for column in &self.columns {
            match column {
                Column::Ordinality(name) => all.push((name.as_str(), Type::Int8)),
                Column::Value { name, kind, .. } => all.push((name.as_str(), kind.ty())),
                Column::Nested(inner) => all.extend(inner.shown()),
            }
        }
        all
    }
}

/// What JSON_VALUE is told behind its document.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The path.
    pub path: String,
    /// What the value is.
    pub kind: Kind,
    /// Where there is nothing.
    pub empty: Otherwise,
    /// Where there is something else.
    pub error: Otherwise,
}

impl Value {
    /// Reads it, with the words of its type.
    ///
    /// # Errors
    /// For types that no value has.
    pub fn read(told: &Json, words: &str) -> Result<Self> {
        let path = told.get("path").and_then(Json::as_str).ok_or_else(unreadable)?.to_owned();
        let otherwise = |key: &str| match told.get(key) {
            None | Some(Json::Null) => Ok(Otherwise::Null),
            Some(Json::String(text)) => json::read(text).map(Otherwise::Default).map_err(|_| unreadable()),
            Some(_) => Ok(Otherwise::Error),
        };
        Ok(Self { path, kind: Kind::of(words)?, empty: otherwise("empty")?, error: otherwise("error")? })
    }

    /// The same, from the text that the function is called with.
    ///
    /// # Errors
    /// For what is none.
    pub fn of_text(told: &str) -> Result<Self> {
        let told: Json = serde_json::from_str(told).map_err(|_| unreadable())?;
        let words = told.get("type").and_then(Json::as_str).ok_or_else(unreadable)?;
        Self::read(&told, words)
    }
}

impl Column {
    fn of(told: &Json) -> Result<Self> {
        let word = |key: &str| told.get(key).and_then(Json::as_str).map(str::to_owned).ok_or_else(unreadable);
        if told.get("columns").is_some() {
            return Table::of(told).map(Self::Nested);
        }
        if told.get("ordinality").is_some() {
            return word("name").map(Self::Ordinality);
        }
        let name = word("name")?;
        let otherwise = |key: &str| match told.get(key) {
            None | Some(Json::Null) => Ok(Otherwise::Null),
            Some(Json::String(text)) => match json::read(text) {
                Ok(document) => Ok(Otherwise::Default(document)),
                Err(_) => {
                    let message = format!("Invalid default value for '{name}'");
                    Err(Error::new(Condition::InvalidTextRepresentation, message).with_mysql(1067, "42000"))
                }
            },
            Some(_) => Ok(Otherwise::Error),
        };
        let (empty, error) = (otherwise("empty")?, otherwise("error")?);
        let kind = Kind::of(&word("type")?)?;
        Ok(Self::Value { path: word("path")?, kind, exists: told.get("exists").is_some(), empty, error, name })
    }
}

impl Kind {
    fn of(words: &str) -> Result<Self> {
        let (head, rest) = words.split_once('(').unwrap_or((words, ""));
        let mut modifiers = rest.trim_end_matches(')').split(',').map(|part| part.trim().parse::<i64>().ok());
        let first = modifiers.next().flatten();
        let second = modifiers.next().flatten();
        let digits = first.unwrap_or(0).clamp(0, 6);
        let signed = |bits: u32| Self::Integer(-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
        let unsigned = |bits: u32| Self::Integer(0, (1_i128 << bits) - 1);
        Ok(match head {
            "tinyint" => signed(8),
            "tinyint unsigned" => unsigned(8),
            "smallint" => signed(16),
            "smallint unsigned" => unsigned(16),
            "mediumint" => signed(24),
            "mediumint unsigned" => unsigned(24),
            "int" => signed(32),
            "int unsigned" => unsigned(32),
            "bigint" => signed(64),
            "bigint unsigned" => unsigned(64),
            "year" => Self::Integer(0, 2155),
            "float" => Self::Double(true),
            "double" => Self::Double(false),
            "decimal" => {
                let precision = u16::try_from(first.unwrap_or(10).clamp(1, 65)).unwrap_or(10);
                Self::Decimal(precision, i16::try_from(second.unwrap_or(0).clamp(0, 30)).unwrap_or(0))
            }
            "char" | "varchar" => Self::Text(first.and_then(|length| usize::try_from(length).ok()), head == "char"),
            "text" | "tinytext" | "mediumtext" | "longtext" => Self::Text(None, false),
            "date" => Self::Date,
            "datetime" => Self::DateTime(digits),
            "time" => Self::Time(digits),
            "json" => Self::Json,
            _ => return Err(Error::unsupported(format!("JSON_TABLE with a column of the type {words}"))),
        })
    }

    /// The type that values are told as.
    pub fn ty(&self) -> Type {
        match self {
            Self::Integer(_, most) if *most <= i128::from(i16::MAX) => Type::Int2,
            Self::Integer(_, most) if *most <= i128::from(i32::MAX) => Type::Int4,
            Self::Integer(_, most) if *most <= i128::from(i64::MAX) => Type::Int8,
            Self::Integer(..) => Type::Numeric(Some(NumericModifier { precision: 20, scale: 0 })),
            Self::Double(true) => Type::Float4,
            Self::Double(false) => Type::Float8,
            Self::Decimal(precision, scale) => {
                Type::Numeric(Some(NumericModifier { precision: *precision, scale: *scale }))
            }
            Self::Text(Some(length), _) => Type::Varchar(Some(u32::try_from(*length).unwrap_or(u32::MAX))),
            Self::Text(None, _) => Type::Text,
            Self::Date => Type::Date,
            Self::DateTime(digits) => Type::Timestamp(Some(u8::try_from(*digits).unwrap_or(6))),
            Self::Time(_) => Type::Interval(None),
            Self::Json => Type::Json,
        }
    }

    /// What the function yields that has such values.
    pub fn result(&self) -> &'static str {
        match self {
            Self::Integer(_, most) if *most <= i128::from(i64::MAX) => "integer",
            Self::Integer(..) | Self::Decimal(..) => "decimal",
            Self::Double(_) => "double",
            Self::Text(..) => "text",
            Self::Date => "date",
            Self::DateTime(_) => "datetime",
            Self::Time(_) => "time",
            Self::Json => "json",
        }
    }

    /// What JSON_VALUE calls it where a value is none.
    pub fn returned(&self) -> &'static str {
        match self {
            Self::Integer(least, _) if *least < 0 => "SIGNED",
            Self::Integer(_, 2155) => "YEAR",
            Self::Integer(..) => "UNSIGNED",
            Self::Text(..) => "STRING",
            other => other.words(),
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Self::Integer(..) => "INTEGER",
            Self::Double(_) => "DOUBLE",
            Self::Decimal(..) => "DECIMAL",
            Self::Text(..) => "CHAR",
            Self::Date => "DATE",
            Self::DateTime(_) => "DATETIME",
            Self::Time(_) => "TIME",
            Self::Json => "JSON",
        }
    }

    /// A document as a value of the column, in a form that a document has, too: a number for whole ones, a text for the rest.
    ///
    /// # Errors
    /// Where it is none.
    pub fn value(&self, document: &Json, column: &str) -> Result<Json> {
        let misfit = || {
            let message = format!("Invalid JSON value for CAST to {} from column {column} at row 1", self.words());
            Error::new(Condition::InvalidTextRepresentation, message).with_mysql(3156, "22018")
        };
        let beyond = || {
            let message = format!("Value is out of range for JSON_TABLE's column '{column}'");
            Error::new(Condition::NumericValueOutOfRange, message).with_mysql(3669, "22003")
        };
        let mut shown = String::new();
        if *self == Self::Json {
            if document.is_null() {
                return Ok(Json::Null);
            }
            json::write(document, &mut shown)?;
            return Ok(Json::from(shown));
        }
        let letters = match document {
            Json::Null => return Ok(Json::Null),
            Json::Array(_) | Json::Object(_) => {
                let message = format!("Can't store an array or an object in the scalar JSON_TABLE column '{column}'");
                return Err(Error::new(Condition::InvalidTextRepresentation, message).with_mysql(3666, "2203F"));
            }
            Json::Bool(truth) if matches!(self, Self::Text(..)) => truth.to_string(),
            Json::Bool(truth) => i32::from(*truth).to_string(),
            Json::Number(number) => number_text(number),
            Json::String(text) => text.clone(),
        };
        let is_text = document.is_string();
        let is_moment = matches!(self, Self::Date | Self::DateTime(_) | Self::Time(_));
        if is_moment && document.is_boolean() {
            return Err(misfit());
        }
        // A number is all of a text that means one.
        let decimal = || {
            let all = numbers::prefix(&letters);
            match all.len() == letters.trim_start().len() && !all.is_empty() {
                true => Ok(numbers::decimal_of_text(&letters)),
                false => Err(misfit()),
            }
        };
        match self {
            Self::Integer(least, most) => {
                let value = match document {
                    Json::Number(number) if number.is_f64() && letters.contains(['.', 'e']) => {
                        number.as_f64().unwrap_or(0.0).round_ties_even() as i128
                    }
                    _ if is_text => letters.trim().parse::<i128>().map_err(|_| misfit())?,
                    _ => numbers::integer_of_decimal(&decimal()?),
                };
                match (*least..=*most).contains(&value) {
                    true => Ok(json::number(&value.to_string())),
                    false => Err(beyond()),
                }
            }
            Self::Double(is_single) => {
                decimal()?;
                let value = numbers::double_of_text(&letters);
                Ok(json::double(if *is_single { f64::from(value as f32) } else { value }))
            }
            Self::Decimal(precision, scale) => {
                let rounded = decimal()?.rounded(i64::from(*scale)).to_string();
                let whole =
                    rounded.trim_start_matches('-').split('.').next().unwrap_or_default().trim_start_matches('0');
                match i64::try_from(whole.len()).unwrap_or(i64::MAX) > i64::from(*precision) - i64::from(*scale) {
                    true => Err(beyond()),
                    false => Ok(Json::from(rounded)),
                }
            }
            Self::Text(length, is_char) => {
                let letters = if *is_char { letters.trim_end_matches(' ').to_owned() } else { letters };
                match length.is_some_and(|length| letters.chars().count() > length) {
                    true => Err(beyond()),
                    false => Ok(Json::from(letters)),
                }
            }
            Self::Date | Self::DateTime(_) => {
                let moment = if is_text { moments::parse(&letters, &TimeZone::UTC) } else { None };
                let moment = moment.ok_or_else(misfit)?;
                Ok(Json::from(match self {
                    Self::DateTime(digits) => {
                        let unit = 10_i64.pow(u32::try_from(6 - digits).unwrap_or(0));
                        let nearest = |at: i64| (at + unit / 2).div_euclid(unit) * unit;
                        let rounded = moment.since_1970().and_then(|at| moments::Moment::of_micros(nearest(at)));
                        rounded.unwrap_or(moment).stored()
                    }
                    _ => moment.date_text(),
                }))
            }
            Self::Time(digits) => {
                let micros = moments::parse_time(&letters, &TimeZone::UTC).ok_or_else(misfit)?;
                Ok(Json::from(moments::time_text(moments::rounded(micros, *digits))))
            }
            Self::Json => Ok(Json::Null),
        }
    }
}
