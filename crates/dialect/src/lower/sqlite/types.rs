//! The words with which a type is declared in a SQLite file, and how they are read back.
//!
//! SQLite derives a column's *affinity* from the letters of its declared type, and an affinity rewrites values: a
//! decimal of 30 digits in a NUMERIC column becomes a float. The words are therefore the dialect's own where they do no
//! harm, and carry a `text` where the value must stay the text that it is (`numeric text(30,5)`). Note that any `INT`
//! inside the words makes the column INTEGER, which is why Informix's INTERVAL is a `timespan` here.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::scalar;
use crate::types::{Field, IntervalQualifier, NumericModifier, Qualifier, Storage, Type};
use crate::values::IntervalModifier;
use crate::{Language, extension, user_type};

/// The declared type of a column, ready to stand in CREATE TABLE.
pub fn words(ty: &Type, language: Language) -> String {
    let informix = language == Language::Informix;
    match ty {
        Type::Bool => "boolean".into(),
        Type::Int2 => "smallint".into(),
        Type::Int4 => "integer".into(),
        Type::Int8 => "bigint".into(),
        Type::IfxInt8 => "int8".into(),
        Type::Oid => "oid".into(),
        Type::Reg(reg) => format!("{} oid", reg_name(*reg)),
        Type::Float4 if informix => "smallfloat".into(),
        Type::Float4 => "real".into(),
        Type::Float8 if informix => "float".into(),
        Type::Float8 => "double precision".into(),
        Type::Numeric(modifier) => {
            let name = if informix { "decimal" } else { "numeric" };
            match modifier {
                None => format!("{name} text"),
                Some(modifier) => decimal(name, ty, *modifier),
            }
        }
        Type::FloatingDecimal(precision) => format!("decimal text({precision})"),
        Type::Money(modifier) => decimal("money", ty, *modifier),
        Type::Text => "text".into(),
        Type::TextBlob => "text byte".into(),
        Type::Varchar(None) => "varchar".into(),
        Type::Varchar(Some(length)) => format!("varchar({length})"),
        // Of any length.
        Type::Char(0) => "bpchar".into(),
        Type::Char(length) => format!("char({length})"),
        Type::Lvarchar(length) => format!("lvarchar({length})"),
        Type::Nchar(length) => format!("nchar({length})"),
        Type::Nvarchar(length) => format!("nvarchar({length})"),
        Type::Name => "name text".into(),
        Type::InternalChar => "system char".into(),
        Type::Bytea => "bytea".into(),
        Type::Byte => "byte".into(),
        Type::Blob => "blob".into(),
        Type::Clob => "clob".into(),
        Type::Date => "date".into(),
        Type::Time(digits) => with_digits("time", *digits),
        Type::TimeTz(digits) => with_digits("timetz", *digits),
        Type::Timestamp(digits) => with_digits("timestamp", *digits),
        Type::TimestampTz(digits) => with_digits("timestamptz", *digits),
        Type::Interval(None) => "interval".into(),
        Type::Interval(Some(modifier)) => {
            let fields = modifier.words().map_or_else(String::new, |words| format!(" \"{words}\""));
            let digits = modifier.digits.map_or_else(String::new, |digits| format!("({digits})"));
            format!("interval{fields}{digits}")
        }
        Type::Datetime(qualifier) => {
            format!("datetime text \"{} to {}\"", lower(qualifier.first), lower(qualifier.last))
        }
        Type::QualifiedInterval(qualifier) => {
            let (first, last) = (lower(qualifier.first), lower(qualifier.last));
            format!("timespan text \"{first}({}) to {last}\"", qualifier.precision)
        }
        Type::Uuid => "uuid".into(),
        Type::Jsonpath => "jsonpath text".into(),
        Type::Json => "json text".into(),
        Type::Jsonb => "jsonb text".into(),
        Type::Scalar(scalar, modifier) => {
            // Behind the name, what decides SQLite's affinity.
            let class = if scalar.storage == Storage::Integer { "integer" } else { "text" };
            let name = scalar.name;
            modifier.map_or_else(|| format!("{name} {class}"), |length| format!("{name} {class}({length})"))
        }
        Type::Array(element) => match &**element {
            Type::User(user) => user_type::declared(&array_words(element.through_domains()), user.oid, true),
            element => array_words(element),
        },
        Type::Composite(words) => format!("composite text \"{}\"", words.to_lowercase()),
        Type::User(user) => {
            let stored = user.stored_as().map_or_else(|| "text".to_owned(), |ty| words(ty.through_domains(), language));
            user_type::declared(&stored, user.oid, false)
        }
        Type::Record(_) | Type::Void | Type::Unknown => "text".into(),
    }
}

/// SQLite's own collation that does not look at the blanks at the end: that of `bpchar`.
pub(super) const BLANKS_ASIDE: &str = "RTRIM";

/// The column's collation, where its order is not that of its bytes.
pub fn collation(ty: &Type) -> Option<&'static str> {
    match ty.through_domains() {
        Type::Scalar(scalar, _) => scalar.collation(),
        Type::Char(0) => Some(BLANKS_ASIDE),
        ty => (ty.storage() == Storage::DecimalText).then_some("decimal"),
    }
}

/// The type that declared words stand for.
///
/// Never fails: SQLite takes any words, so a file may hold any. Words of a table that was not made through us
/// ([`Language::Native`]) are read by SQLite's own habits: its integers are 64 bits wide, its text is of any length.
pub fn parse(words: &str, language: Language) -> Type {
    let declared = Declared::scan(words);
    if language == Language::Native {
        declared.foreign()
    } else {
        declared.own(language).unwrap_or_else(|| declared.foreign())
    }
}

fn decimal(name: &str, ty: &Type, modifier: NumericModifier) -> String {
    let text = if ty.storage() == Storage::DecimalText { " text" } else { "" };
    format!("{name}{text}({},{})", modifier.precision, modifier.scale)
}

fn with_digits(name: &str, digits: Option<u8>) -> String {
    digits.map_or_else(|| name.to_owned(), |digits| format!("{name}({digits})"))
}

fn lower(field: Field) -> String {
    field.to_string().to_ascii_lowercase()
}

fn reg_name(reg: crate::types::Reg) -> &'static str {
    use crate::types::Reg;
    match reg {
        Reg::Class => "regclass",
        Reg::Collation => "regcollation",
        Reg::Config => "regconfig",
        Reg::Dictionary => "regdictionary",
        Reg::Namespace => "regnamespace",
        Reg::Oper => "regoper",
        Reg::Operator => "regoperator",
        Reg::Proc => "regproc",
        Reg::Procedure => "regprocedure",
        Reg::Role => "regrole",
        Reg::Type => "regtype",
    }
}

/// An array's values are JSON texts, which no affinity touches; the element's words need no `text`.
/// Limits stand behind the brackets (`varchar[](2)`), where SQLite's grammar has a place for them.
fn array_words(element: &Type) -> String {
    let element = if matches!(element, Type::User(_)) { &Type::Text } else { element };
    let all = words(element, Language::Postgres);
    let mut kept = String::new();
    for word in all.split('"').next().unwrap_or(&all).split_whitespace() {
        let word = word.split('(').next().unwrap_or(word);
        if kept.is_empty() || word == "precision" {
            let _ = write!(kept, "{}{word}", if kept.is_empty() { "" } else { " " });
        }
    }
    kept.push_str("[]");
    let limited = matches!(
        element,
        Type::Varchar(_)
            | Type::Char(_)
            | Type::Numeric(_)
            | Type::Time(_)
            | Type::TimeTz(_)
            | Type::Timestamp(_)
            | Type::TimestampTz(_)
            | Type::Interval(_)
            | Type::Scalar(..)
    );
    if let (true, Some(at)) = (limited, all.find(['(', '"'])) {
        kept.push_str(&all[at..]);
    }
    kept
}

/// Declared words, taken apart.
struct Declared {
    /// Lower-case words without the quoted one.
    words: Vec<String>,
    /// A quoted word: an Informix qualifier.
    quoted: Option<String>,
    /// Numbers in parentheses.
    numbers: Vec<i64>,
    /// `[]` behind.
    array: bool,
}

impl Declared {
    fn scan(text: &str) -> Self {
        let mut declared = Self { words: Vec::new(), quoted: None, numbers: Vec::new(), array: false };
        let text = text.trim();
        let element = text.split_once("[]").map(|(name, limits)| format!("{name}{limits}"));
        declared.array = element.is_some();
        let mut rest = element.as_deref().unwrap_or(text);
        while let Some(first) = rest.chars().next() {
            if matches!(first, '"' | '\'' | '`' | '[') {
                let close = if first == '[' { ']' } else { first };
                let end = rest[1..].find(close).map_or(rest.len(), |at| at + 1);
                declared.quoted = Some(rest[1..end].to_ascii_lowercase());
                rest = rest.get(end + 1..).unwrap_or("");
            } else if first == '(' {
                let end = rest.find(')').unwrap_or(rest.len());
                declared.numbers = rest[1..end].split(',').filter_map(|number| number.trim().parse().ok()).collect();
                rest = rest.get(end + 1..).unwrap_or("");
            } else if first.is_whitespace() {
                rest = rest.trim_start();
            } else {
                let end =
                    rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '\'' | '`')).unwrap_or(rest.len());
                declared.words.push(rest[..end].to_ascii_lowercase());
                rest = &rest[end..];
            }
        }
        declared
    }

    fn length(&self) -> Option<u32> {
        self.numbers.first().and_then(|&length| u32::try_from(length).ok()).filter(|&length| length > 0)
    }

    fn digits(&self) -> Option<u8> {
        self.numbers.first().and_then(|&digits| u8::try_from(digits).ok()).filter(|&digits| digits <= 6)
    }

    fn modifier(&self) -> Option<NumericModifier> {
        let precision = self.numbers.first().and_then(|&p| u16::try_from(p).ok()).filter(|p| (1..=1000).contains(p))?;
        let scale =
            self.numbers.get(1).map_or(Some(0), |&s| i16::try_from(s).ok()).filter(|s| (-1000..=1000).contains(s))?;
        Some(NumericModifier { precision, scale })
    }

    /// The first of two words, which is all that an array keeps of its element.
    fn cut(&self) -> Option<Type> {
        match self.words.as_slice() {
            [word] if word == "system" => Some(Type::InternalChar),
            [word] => reg_from(word).map(Type::Reg),
            _ => None,
        }
    }

    /// Words that [`words`] writes.
    fn own(&self, language: Language) -> Option<Type> {
        if let Some((oid, array)) = self.quoted.as_deref().and_then(user_type::from_declared) {
            let stored = Self { words: self.words.clone(), quoted: None, numbers: self.numbers.clone(), ..*self };
            let stored = stored.own(language).unwrap_or(Type::Text);
            return Some(match (array, stored) {
                (true, stored) => {
                    let element = match stored {
                        Type::Array(element) => *element,
                        other => other,
                    };
                    Type::Array(Box::new(Type::User(Arc::new(user_type::UserType::unresolved(oid, element)))))
                }
                (false, stored) => Type::User(Arc::new(user_type::UserType::unresolved(oid, stored))),
            });
        }
        if self.array {
            let element = Self {
                words: self.words.clone(),
                quoted: self.quoted.clone(),
                numbers: self.numbers.clone(),
                array: false,
            };
            let element = element.own(language).or_else(|| element.cut());
            return element.map(|element| Type::Array(Box::new(element)));
        }
        let name: Vec<&str> = self.words.iter().map(String::as_str).collect();
        Some(match name.as_slice() {
            ["boolean" | "bool"] => Type::Bool,
            ["smallint" | "int2"] => Type::Int2,
            ["integer" | "int" | "int4"] => Type::Int4,
            ["int8"] if language == Language::Informix => Type::IfxInt8,
            ["bigint" | "int8"] => Type::Int8,
            ["oid"] => Type::Oid,
            [reg, "oid"] => Type::Reg(reg_from(reg)?),
            ["real" | "smallfloat" | "float4"] => Type::Float4,
            ["double", "precision"] | ["float" | "float8"] => Type::Float8,
            ["decimal", "text"] if self.numbers.len() == 1 => {
                Type::FloatingDecimal(u8::try_from(self.numbers[0]).ok().filter(|p| (1..=32).contains(p))?)
            }
            ["numeric" | "decimal"] | ["numeric" | "decimal", "text"] => Type::Numeric(self.modifier()),
            [name, "text" | "integer"] if scalar::named(name).is_some_and(|_| language != Language::Informix) => {
                Type::Scalar(scalar::named(name)?, self.length())
            }
            // The element of an array.
            [name] if language != Language::Informix && self.numbers.len() < 2 && scalar::named(name).is_some() => {
                Type::Scalar(scalar::named(name)?, self.length())
            }
            // Whoever reads a file's schema asks whether it has the extension.
            [name, "text"] | [name] if language == Language::Postgres && extension::declared(name).is_some() => {
                Type::Scalar(extension::declared(name)?, None)
            }
            ["money"] | ["money", "text"] => Type::Money(self.modifier()?),
            ["text", "byte"] => Type::TextBlob,
            ["text"] => Type::Text,
            ["varchar"] => Type::Varchar(self.length()),
            ["bpchar"] => Type::Char(self.length().unwrap_or(0)),
            // As earlier versions wrote `bpchar`.
            ["char"] if self.numbers == [0] => Type::Char(0),
            ["char" | "character"] => Type::Char(self.length().unwrap_or(1)),
            ["lvarchar"] => Type::Lvarchar(self.length().unwrap_or(2048)),
            ["nchar"] => Type::Nchar(self.length().unwrap_or(1)),
            ["nvarchar"] => Type::Nvarchar(self.length().unwrap_or(255)),
            ["name", "text"] | ["name"] => Type::Name,
            ["system", "char"] => Type::InternalChar,
            ["bytea"] => Type::Bytea,
            ["byte"] => Type::Byte,
            ["blob"] => Type::Blob,
            ["clob"] => Type::Clob,
            ["date"] => Type::Date,
            ["time"] => Type::Time(self.digits()),
            ["timetz"] => Type::TimeTz(self.digits()),
            ["timestamp"] => Type::Timestamp(self.digits()),
            ["timestamptz"] => Type::TimestampTz(self.digits()),
            ["interval"] => Type::Interval(IntervalModifier::from_words(self.quoted.as_deref(), self.digits())),
            ["datetime", "text"] => {
                let (first, _, last) = range(self.quoted.as_deref()?)?;
                Type::Datetime(Qualifier { first, last })
            }
            ["composite", "text"] => crate::informix::type_from_words(self.quoted.as_deref()?).ok()?,
            ["timespan", "text"] => {
                let (first, precision, last) = range(self.quoted.as_deref()?)?;
                Type::QualifiedInterval(IntervalQualifier { first, precision: precision?, last })
            }
            ["uuid"] => Type::Uuid,
            ["jsonpath", "text"] => Type::Jsonpath,
            ["json"] | ["json", "text"] => Type::Json,
            ["jsonb"] | ["jsonb", "text"] => Type::Jsonb,
            _ => return None,
        })
    }

    /// Words that somebody else wrote, most of whom think of SQLite's own documentation.
    fn foreign(&self) -> Type {
        let all = self.words.join(" ");
        let has = |part: &str| all.contains(part);
        if has("bool") {
            Type::Bool
        } else if has("int") {
            Type::Int8
        } else if has("char") {
            self.length().map_or(Type::Varchar(None), |length| Type::Varchar(Some(length)))
        } else if has("jsonb") {
            Type::Jsonb
        } else if has("json") {
            Type::Json
        } else if has("clob") || has("text") {
            Type::Text
        } else if has("blob") || has("binary") || has("bytea") {
            Type::Bytea
        } else if has("real") || has("floa") || has("doub") {
            Type::Float8
        } else if has("datetime") || has("timestamp") {
            Type::Timestamp(None)
        } else if has("date") {
            Type::Date
        } else if has("time") {
            Type::Time(None)
        } else if has("uuid") || has("guid") {
            Type::Uuid
        } else if has("dec") || has("num") || has("money") {
            Type::Numeric(self.modifier())
        } else {
            Type::Text
        }
    }
}

fn reg_from(name: &str) -> Option<crate::types::Reg> {
    use crate::types::Reg;
    use Reg::{Class, Collation, Config, Dictionary, Namespace, Oper, Operator, Proc, Procedure, Role};
    [Class, Collation, Config, Dictionary, Namespace, Oper, Operator, Proc, Procedure, Role, Reg::Type]
        .into_iter()
        .find(|&reg| reg_name(reg) == name)
}

/// `first[(precision)] to last` of a quoted qualifier.
fn range(text: &str) -> Option<(Field, Option<u8>, Field)> {
    let (first, last) = text.split_once(" to ")?;
    let (first, precision) = field(first)?;
    let (last, digits) = field(last)?;
    let last = match (last, digits) {
        (Field::Fraction(_), digits) => Field::Fraction(digits.unwrap_or(3)),
        (other, _) => other,
    };
    let first = match (first, precision) {
        (Field::Fraction(_), digits) => Field::Fraction(digits.unwrap_or(3)),
        (other, _) => other,
    };
    Some((first, precision, last))
}

fn field(text: &str) -> Option<(Field, Option<u8>)> {
    let (name, number) = match text.split_once('(') {
        Some((name, number)) => (name, number.trim_end_matches(')').parse().ok()),
        None => (text, None),
    };
    let field = match name.trim() {
        "year" => Field::Year,
        "month" => Field::Month,
        "day" => Field::Day,
        "hour" => Field::Hour,
        "minute" => Field::Minute,
        "second" => Field::Second,
        "fraction" => Field::Fraction(3),
        _ => return None,
    };
    Some((field, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every() -> Vec<(Type, Language)> {
        let decimal = |precision, scale| NumericModifier { precision, scale };
        let mut types: Vec<(Type, Language)> = [
            Type::Bool,
            Type::Int2,
            Type::Int4,
            Type::Int8,
            Type::Oid,
            Type::Reg(crate::types::Reg::Class),
            Type::Float4,
            Type::Float8,
            Type::Numeric(None),
            Type::Numeric(Some(decimal(10, 2))),
            Type::Numeric(Some(decimal(30, 5))),
            Type::Text,
            Type::Varchar(None),
            Type::Varchar(Some(20)),
            Type::Char(0),
            Type::Char(5),
            Type::Name,
            Type::InternalChar,
            Type::Bytea,
            Type::Date,
            Type::Time(None),
            Type::TimeTz(Some(3)),
            Type::Timestamp(Some(0)),
            Type::TimestampTz(None),
            Type::Interval(None),
            Type::Interval(IntervalModifier::from_words(Some("day to second"), Some(2))),
            Type::Interval(IntervalModifier::from_words(None, Some(0))),
            Type::Uuid,
            Type::Json,
            Type::Jsonb,
            Type::Array(Box::new(Type::Int4)),
            Type::Array(Box::new(Type::Float8)),
            Type::Array(Box::new(Type::Jsonb)),
            Type::Array(Box::new(Type::InternalChar)),
            Type::Array(Box::new(Type::Reg(crate::types::Reg::Namespace))),
            Type::Array(Box::new(Type::Varchar(Some(2)))),
            Type::Array(Box::new(Type::Char(3))),
            Type::Array(Box::new(Type::Numeric(Some(decimal(30, 5))))),
            Type::Array(Box::new(Type::Numeric(None))),
            Type::Array(Box::new(Type::Timestamp(Some(3)))),
        ]
        .into_iter()
        .map(|ty| (ty, Language::Postgres))
        .collect();
        types.extend(
            [
                Type::IfxInt8,
                Type::Float4,
                Type::Float8,
                Type::FloatingDecimal(16),
                Type::Numeric(Some(decimal(16, 2))),
                Type::Money(decimal(8, 2)),
                Type::Money(decimal(20, 2)),
                Type::TextBlob,
                Type::Byte,
                Type::Blob,
                Type::Clob,
                Type::Lvarchar(500),
                Type::Nchar(3),
                Type::Nvarchar(9),
                Type::Datetime(Qualifier { first: Field::Year, last: Field::Fraction(5) }),
                Type::Datetime(Qualifier { first: Field::Hour, last: Field::Hour }),
                Type::QualifiedInterval(IntervalQualifier {
                    first: Field::Day,
                    precision: 3,
                    last: Field::Fraction(2),
                }),
            ]
            .into_iter()
            .map(|ty| (ty, Language::Informix)),
        );
        types
    }

    #[test]
    fn words_read_back_as_the_type() {
        for (ty, language) in every() {
            assert_eq!(parse(&words(&ty, language), language), ty);
        }
    }

    /// SQLite's rules: <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>.
    #[test]
    fn no_affinity_rewrites_a_stored_value() {
        for (ty, language) in every() {
            let words = words(&ty, language).to_ascii_uppercase();
            let affinity = if words.contains("INT") {
                "integer"
            } else if ["CHAR", "CLOB", "TEXT"].iter().any(|part| words.contains(part)) {
                "text"
            } else if words.contains("BLOB") {
                "blob"
            } else if ["REAL", "FLOA", "DOUB"].iter().any(|part| words.contains(part)) {
                "real"
            } else {
                "numeric"
            };
            // Texts that never look like a number survive any affinity.
            let unlike_numbers = matches!(
                ty,
                Type::Date
                    | Type::Time(_)
                    | Type::TimeTz(_)
                    | Type::Timestamp(_)
                    | Type::TimestampTz(_)
                    | Type::Interval(_)
                    | Type::Uuid
                    | Type::Array(_)
            );
            let safe = match ty.storage() {
                Storage::Integer => affinity == "integer" || affinity == "numeric",
                Storage::Real => affinity == "real",
                Storage::NativeDecimal => affinity == "numeric",
                Storage::DecimalText => affinity == "text",
                Storage::Text => affinity == "text" || unlike_numbers,
                Storage::Blob => true,
            };
            assert!(safe, "{words} has {affinity} affinity");
        }
    }

    #[test]
    fn reads_what_others_declare() {
        for (words, ty) in [
            ("", Type::Text),
            ("INTEGER", Type::Int8),
            ("UNSIGNED BIG INT", Type::Int8),
            ("VARCHAR(255)", Type::Varchar(Some(255))),
            ("NATIVE CHARACTER(70)", Type::Varchar(Some(70))),
            ("DECIMAL(10,5)", Type::Numeric(Some(NumericModifier { precision: 10, scale: 5 }))),
            ("numeric", Type::Numeric(None)),
            ("DATETIME", Type::Timestamp(None)),
            ("DATE", Type::Date),
            ("BOOLEAN", Type::Bool),
            ("bool", Type::Bool),
            ("DOUBLE PRECISION", Type::Float8),
            ("GUID", Type::Uuid),
            ("whatever", Type::Text),
            ("VARCHAR(-1)", Type::Varchar(None)),
            ("\"odd", Type::Text),
        ] {
            assert_eq!(parse(words, Language::Native), ty, "{words}");
        }
    }
}
