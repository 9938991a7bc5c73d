use rowferry_wire::Malformed;

use super::MAX_DEPTH;
use crate::types::TimeUnit;
use crate::{Qualifier, TypeCode};

/// Which collection.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CollectionKind {
    /// In order, with duplicates.
    List,
    /// Without order, with duplicates.
    Multiset,
    /// Without order or duplicates.
    Set,
}

impl CollectionKind {
    /// By its word, in any case.
    pub fn named(word: &str) -> Option<Self> {
        [Self::List, Self::Multiset, Self::Set].into_iter().find(|kind| kind.name().eq_ignore_ascii_case(word))
    }

    /// The word in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Multiset => "multiset",
            Self::Set => "set",
        }
    }
}

/// The type of a composite value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CompositeType {
    /// A `ROW`: names and types of its fields; none when the type is a named one, whose fields are not told.
    Row(Option<Vec<(String, ElementType)>>),
    /// A collection of elements; their type is [`ElementType::Untold`] when it is not told.
    Collection(CollectionKind, Box<ElementType>),
}

/// The type of a field or element.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ElementType {
    /// `SMALLINT` to `BIGSERIAL`.
    Integer,
    /// `FLOAT`.
    Float,
    /// `SMALLFLOAT`.
    SmallFloat,
    /// `DECIMAL`, `MONEY`.
    Decimal {
        /// Digits.
        precision: u8,
        /// Digits after the point, unless it floats.
        scale: Option<u8>,
    },
    /// `CHAR`, `NCHAR`: padding is no part of the value.
    Char,
    /// Any other text.
    Text,
    /// `BOOLEAN`.
    Boolean,
    /// `DATE`.
    Date,
    /// `DATETIME`.
    DateTime(Qualifier),
    /// `INTERVAL`.
    Interval(Qualifier),
    /// A row or collection.
    Composite(CompositeType),
    /// A type whose values are read as their literals say.
    Untold,
}

impl CompositeType {
    /// The type of a column by its code and the text of its type.
    pub fn described(code: TypeCode, text: &str) -> Self {
        match Self::from_text(text) {
            Ok(ty) => ty,
            // A named row type, or words that are not known: the literal says enough to be read.
            Err(_) => match code {
                TypeCode::SET => Self::Collection(CollectionKind::Set, Box::new(ElementType::Untold)),
                TypeCode::MULTISET => Self::Collection(CollectionKind::Multiset, Box::new(ElementType::Untold)),
                TypeCode::LIST | TypeCode::COLLECTION => {
                    Self::Collection(CollectionKind::List, Box::new(ElementType::Untold))
                }
                _ => Self::Row(None),
            },
        }
    }

    /// Reads `ROW(name varchar(50), age integer)`, `LIST(integer not null)` and the like.
    pub fn from_text(text: &str) -> Result<Self, Malformed> {
        let mut words = Words { rest: text };
        let ty = words.element(0)?;
        match ty {
            ElementType::Composite(ty) if words.rest.trim().is_empty() => Ok(ty),
            _ => Err(UNREADABLE),
        }
    }
}

const UNREADABLE: Malformed = Malformed::new("type of a row or collection");

/// Type text, word by word.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// A word in lower case, or a number, or one sign.
    fn peek(&self) -> &'a str {
        let rest = self.rest.trim_start();
        let len = match rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')) {
            Some(0) => rest.chars().next().map_or(0, char::len_utf8),
            Some(len) => len,
            None => rest.len(),
        };
        &rest[..len]
    }

    fn next(&mut self) -> &'a str {
        let word = self.peek();
        self.rest = &self.rest.trim_start()[word.len()..];
        word
    }

    fn eat(&mut self, word: &str) -> bool {
        let is = self.peek().eq_ignore_ascii_case(word);
        if is {
            self.next();
        }
        is
    }

    fn expect(&mut self, word: &str) -> Result<(), Malformed> {
        if self.eat(word) { Ok(()) } else { Err(UNREADABLE) }
    }

    /// A name, quoted or not.
    fn name(&mut self) -> Result<String, Malformed> {
        if self.eat("\"") {
            let (name, rest) = self.rest.split_once('"').ok_or(UNREADABLE)?;
            self.rest = rest;
            return Ok(name.to_owned());
        }
        let name = self.next();
        if name.starts_with(|c: char| c.is_alphabetic() || c == '_') { Ok(name.to_owned()) } else { Err(UNREADABLE) }
    }

    /// `(8)`, `(8,2)`, or nothing.
    fn numbers(&mut self) -> Result<(Option<u8>, Option<u8>), Malformed> {
        if !self.eat("(") {
            return Ok((None, None));
        }
        let number =
            |word: &str| word.parse::<u32>().map(|n| u8::try_from(n).unwrap_or(u8::MAX)).map_err(|_| UNREADABLE);
        let first = number(self.next())?;
        let second = if self.eat(",") { Some(number(self.next())?) } else { None };
        self.expect(")")?;
        Ok((Some(first), second))
    }

    fn element(&mut self, depth: usize) -> Result<ElementType, Malformed> {
        if depth > MAX_DEPTH {
            return Err(UNREADABLE);
        }
        let word = self.next().to_ascii_lowercase();
        let ty = match word.as_str() {
            "row" => {
                self.expect("(")?;
                let mut fields = Vec::new();
                loop {
                    let name = self.name()?;
                    fields.push((name, self.element(depth + 1)?));
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")")?;
                ElementType::Composite(CompositeType::Row(Some(fields)))
            }
            "set" | "multiset" | "list" => {
                self.expect("(")?;
                let element = self.element(depth + 1)?;
                self.expect(")")?;
                let kind = CollectionKind::named(&word).ok_or(UNREADABLE)?;
                ElementType::Composite(CompositeType::Collection(kind, Box::new(element)))
            }
            "smallint" | "integer" | "int" | "bigint" | "int8" | "serial" | "serial8" | "bigserial" => {
                self.numbers()?;
                ElementType::Integer
            }
            "float" => {
                self.numbers()?;
                ElementType::Float
            }
            "double" => {
                self.expect("precision")?;
                self.numbers()?;
                ElementType::Float
            }
            "smallfloat" | "real" => ElementType::SmallFloat,
            "decimal" | "dec" | "numeric" => match self.numbers()? {
                (precision, Some(scale)) if scale != 255 => {
                    ElementType::Decimal { precision: precision.unwrap_or(16), scale: Some(scale) }
                }
                (precision, _) => ElementType::Decimal { precision: precision.unwrap_or(16), scale: None },
            },
            "money" => {
                let (precision, scale) = self.numbers()?;
                ElementType::Decimal { precision: precision.unwrap_or(16), scale: Some(scale.unwrap_or(2)) }
            }
            "char" | "character" | "nchar" => {
                let varying = self.eat("varying");
                self.numbers()?;
                if varying { ElementType::Text } else { ElementType::Char }
            }
            "varchar" | "nvarchar" | "lvarchar" => {
                self.numbers()?;
                ElementType::Text
            }
            "boolean" => ElementType::Boolean,
            "date" => ElementType::Date,
            "datetime" => ElementType::DateTime(self.qualifier(false)?),
            "interval" => ElementType::Interval(self.qualifier(true)?),
            _ => {
                // A type of a name: `person_t`, `informix.person_t`.
                if !word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '"') {
                    return Err(UNREADABLE);
                }
                if word == "\"" {
                    let (_, rest) = self.rest.split_once('"').ok_or(UNREADABLE)?;
                    self.rest = rest;
                }
                if self.eat(".") {
                    self.name()?;
                }
                self.numbers()?;
                ElementType::Untold
            }
        };
        if self.eat("not") {
            self.expect("null")?;
        }
        Ok(ty)
    }

    /// `YEAR TO SECOND`, `DAY(3) TO FRACTION(5)`.
    fn qualifier(&mut self, is_interval: bool) -> Result<Qualifier, Malformed> {
        let unit = |word: &str| {
            Ok(match word.to_ascii_lowercase().as_str() {
                "year" => TimeUnit::YEAR,
                "month" => TimeUnit::MONTH,
                "day" => TimeUnit::DAY,
                "hour" => TimeUnit::HOUR,
                "minute" => TimeUnit::MINUTE,
                "second" => TimeUnit::SECOND,
                "fraction" => TimeUnit::FRACTION,
                _ => return Err(UNREADABLE),
            })
        };
        let first = unit(self.next())?;
        let precision = self.numbers()?.0.unwrap_or(if first == TimeUnit::YEAR { 4 } else { 2 });
        self.expect("to")?;
        let mut last = unit(self.next())?;
        if last == TimeUnit::FRACTION {
            let digits = self.numbers()?.0.unwrap_or(3);
            if !(1..=5).contains(&digits) {
                return Err(UNREADABLE);
            }
            last = TimeUnit(10 + digits);
        } else {
            self.numbers()?;
        }
        if last.0 < first.0 && first != TimeUnit::FRACTION || precision > 9 {
            return Err(UNREADABLE);
        }
        let qualifier =
            if is_interval { Qualifier::interval(first, precision, last) } else { Qualifier::datetime(first, last) };
        if qualifier.is_valid() { Ok(qualifier) } else { Err(UNREADABLE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_words_of_sql() {
        let row = CompositeType::from_text("ROW(name varchar(50), age integer)").unwrap();
        let CompositeType::Row(Some(fields)) = &row else { panic!("{row:?}") };
        assert_eq!(fields[0], ("name".to_owned(), ElementType::Text));
        assert_eq!(fields[1], ("age".to_owned(), ElementType::Integer));
        let nested = "SET(ROW(a decimal(8,2), b LIST(interval day(3) to second not null) , \"c d\" char(3)) not null)";
        let CompositeType::Collection(CollectionKind::Set, element) = CompositeType::from_text(nested).unwrap() else {
            panic!()
        };
        let ElementType::Composite(CompositeType::Row(Some(fields))) = *element else { panic!("{element:?}") };
        assert_eq!(fields[0].1, ElementType::Decimal { precision: 8, scale: Some(2) });
        assert_eq!(
            fields[1].1,
            ElementType::Composite(CompositeType::Collection(
                CollectionKind::List,
                Box::new(ElementType::Interval(Qualifier(0x094a)))
            ))
        );
        assert_eq!(fields[2], ("c d".to_owned(), ElementType::Char));
        let named = CompositeType::from_text("MULTISET(informix.person_t not null)").unwrap();
        assert_eq!(named, CompositeType::Collection(CollectionKind::Multiset, Box::new(ElementType::Untold)));
    }

    #[test]
    fn words_that_are_no_type_leave_the_literal_to_speak() {
        for text in
            ["", "person_t", "ROW(", "ROW()", "LIST(integer", "SET()", "ROW(a datetime year)", "LIST(integer) x"]
        {
            assert!(CompositeType::from_text(text).is_err(), "{text}");
        }
        assert_eq!(CompositeType::described(TypeCode::ROW, "person_t"), CompositeType::Row(None));
        let deep = format!("{}integer{}", "LIST(".repeat(40), ")".repeat(40));
        assert!(CompositeType::from_text(&deep).is_err());
    }
}
