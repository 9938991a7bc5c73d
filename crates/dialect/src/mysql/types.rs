//! MySQL's types as those of the file.
//!
//! What PostgreSQL has under another name is that; what it has not is a domain of the schema `mysql`, whose name is MySQL's
//! own words for the type, so that a file made through this door reads sensibly through the others.

use std::borrow::Cow;

use pg_query::protobuf::{self as pg, node::Node as N};
use sqlparser::ast::{BinaryLength, CharacterLength, DataType, EnumMember, ExactNumberInfo, TypeModifier};

use super::build::{NOWHERE, node, type_name, words};
use super::expressions::name_parts;
use crate::postgres::words::quote_literal;
use crate::{Condition, Error, Result, Type};

/// The schema of MySQL's own types.
pub const SCHEMA: &str = "mysql";

/// What stands behind the words of a type whose columns are told the time of each change.
pub const RENEWED: &str = " on update";

/// What a column is declared as.
pub(super) struct Declared {
    pub(super) name: pg::TypeName,
    /// The domain of MySQL's that it is.
    pub(super) domain: Option<String>,
    /// COLLATE, where the type says it.
    pub(super) collation: Option<String>,
}

/// A column's type.
///
/// # Errors
/// `0A000` for what is not there.
pub(super) fn declared(ty: &DataType) -> Result<Declared> {
    if let DataType::Collate(inner, collation) = ty {
        return Ok(Declared { collation: name_parts(collation)?.pop(), ..declared(inner)? });
    }
    let (is_own, words) = type_words(ty)?;
    let name = if is_own { domain_name(&words) } else { plain(&words) };
    Ok(Declared { name, domain: is_own.then_some(words), collation: None })
}

/// The type that a column has: what is too long for its type is an error, or, where values that do not fit are none, the
/// next longer type.
///
/// # Errors
/// `1074` for a length that is none.
pub(super) fn fitting(ty: &DataType, column: &str, strict: bool) -> Result<Option<DataType>> {
    let (length, most, longer) = match ty {
        DataType::Collate(inner, _) => return fitting(inner, column, true).map(|_| None),
        DataType::Char(of) | DataType::Character(of) => (length(of.as_ref()), 255, None),
        DataType::Binary(of) => (*of, 255, None),
        DataType::Varchar(of) | DataType::CharacterVarying(of) | DataType::CharVarying(of) | DataType::Nvarchar(of) => {
            (length(of.as_ref()), 16_383, Some(DataType::MediumText))
        }
        DataType::Varbinary(Some(BinaryLength::IntegerLength { length })) => {
            (Some(*length), 65_535, Some(DataType::MediumBlob))
        }
        _ => return Ok(None),
    };
    match (length.filter(|length| *length > most), longer) {
        (None, _) => Ok(None),
        (Some(_), Some(longer)) if !strict => Ok(Some(longer)),
        (Some(_), _) => {
            let message =
                format!("Column length too big for column '{column}' (max = {most}); use BLOB or TEXT instead");
            Err(Error::syntax(message).with_mysql(1074, "42000"))
        }
    }
}

/// The type of a column with ON UPDATE CURRENT_TIMESTAMP: its words say so.
///
/// # Errors
/// `1294` for a type that is no moment.
pub(super) fn renewed(ty: &DataType, column: &str) -> Result<Declared> {
    let words = match ty {
        DataType::Datetime(digits) | DataType::Timestamp(digits, _) => {
            let head = if matches!(ty, DataType::Datetime(_)) { "datetime" } else { "timestamp" };
            match fraction(*digits) {
                0 => format!("{head}{RENEWED}"),
                digits => format!("{head}({digits}){RENEWED}"),
            }
        }
        _ => {
            let message = format!("Invalid ON UPDATE clause for '{column}' column");
            return Err(Error::syntax(message).with_mysql(1294, "HY000"));
        }
    };
    Ok(Declared { name: domain_name(&words), domain: Some(words), collation: None })
}

fn domain_name(name: &str) -> pg::TypeName {
    pg::TypeName { names: words([SCHEMA, name]), typemod: -1, location: NOWHERE, ..Default::default() }
}

/// `varchar(20)` as a name with its modifiers.
fn plain(written: &str) -> pg::TypeName {
    let (name, modifiers) = written.split_once('(').unwrap_or((written, ""));
    let modifiers: Vec<i32> =
        modifiers.trim_end_matches(')').split(',').filter_map(|part| part.trim().parse().ok()).collect();
    type_name(name, &modifiers)
}

fn unsupported(ty: &DataType) -> Error {
    Error::unsupported(format!("the type {ty}"))
}

/// The digits of a fraction of a second, 0 unless they are said.
fn fraction(digits: Option<u64>) -> u64 {
    digits.unwrap_or(0)
}

pub(super) fn exact(of: &ExactNumberInfo) -> (u64, i64) {
    match of {
        ExactNumberInfo::None => (10, 0),
        ExactNumberInfo::Precision(precision) => (*precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (*precision, *scale),
    }
}

fn length(of: Option<&CharacterLength>) -> Option<u64> {
    match of {
        Some(CharacterLength::IntegerLength { length, .. }) => Some(*length),
        Some(CharacterLength::Max) | None => None,
    }
}

/// What stands behind the words of a whole number that is shown with zeros before it.
const ZEROFILL: &str = " zerofill";

/// The words of a whole number with ZEROFILL, which has no sign: so many digits are shown.
fn zerofilled(inner: &DataType) -> Result<(bool, String)> {
    use DataType as D;
    let (head, usual, said) = match inner {
        D::TinyInt(digits) | D::TinyIntUnsigned(digits) => ("tinyint", 3, digits),
        D::SmallInt(digits) | D::SmallIntUnsigned(digits) | D::Int2(digits) | D::Int2Unsigned(digits) => {
            ("smallint", 5, digits)
        }
        D::MediumInt(digits) | D::MediumIntUnsigned(digits) => ("mediumint", 8, digits),
        D::Int(digits)
        | D::IntUnsigned(digits)
        | D::Integer(digits)
        | D::IntegerUnsigned(digits)
        | D::Int4(digits)
        | D::Int4Unsigned(digits) => ("int", 10, digits),
        other => return Err(Error::unsupported(format!("{other} ZEROFILL"))),
    };
    let digits = said.unwrap_or(usual);
    if digits > 255 {
        let message = "Display width out of range for column (max = 255)";
        return Err(Error::syntax(message).with_mysql(1439, "42000"));
    }
    Ok((true, format!("{head}({digits}) unsigned{ZEROFILL}")))
}

/// How many digits of a whole number are shown at least, with zeros before it; `None` for other types.
pub fn zerofill(words: &str) -> Option<usize> {
    let (_, rest) = words.strip_suffix(ZEROFILL)?.split_once('(')?;
    rest.split_once(')')?.0.parse().ok()
}

/// The words of such a type without that.
pub fn without_zerofill(words: &str) -> Cow<'_, str> {
    let plain = words.strip_suffix(ZEROFILL).and_then(|words| {
        let (head, rest) = words.split_once('(')?;
        Some(format!("{head}{}", rest.split_once(')')?.1))
    });
    plain.map_or(Cow::Borrowed(words), Cow::Owned)
}

/// The words of a type, and whether they are those of a domain of MySQL's.
fn type_words(ty: &DataType) -> Result<(bool, String)> {
    use DataType as D;
    let own = |words: &str| Ok((true, words.to_owned()));
    let plain = |words: &str| Ok((false, words.to_owned()));
    match ty {
        D::Bool | D::Boolean => own("tinyint(1)"),
        D::TinyInt(Some(1)) => own("tinyint(1)"),
        D::TinyInt(_) => own("tinyint"),
        D::TinyIntUnsigned(_) | D::UTinyInt => own("tinyint unsigned"),
        D::SmallInt(_) | D::Int2(_) => plain("int2"),
        D::SmallIntUnsigned(_) | D::Int2Unsigned(_) | D::USmallInt => own("smallint unsigned"),
        D::MediumInt(_) => own("mediumint"),
        D::MediumIntUnsigned(_) => own("mediumint unsigned"),
        D::Int(_) | D::Integer(_) | D::Int4(_) => plain("int4"),
        D::IntUnsigned(_) | D::IntegerUnsigned(_) | D::Int4Unsigned(_) => own("int unsigned"),
        D::BigInt(_) | D::Int8(_) | D::Signed | D::SignedInteger => plain("int8"),
        D::BigIntUnsigned(_) | D::Int8Unsigned(_) | D::UBigInt | D::Unsigned | D::UnsignedInteger => {
            own("bigint unsigned")
        }
        D::Zerofill(inner) => zerofilled(inner),
        D::Float(ExactNumberInfo::Precision(digits)) if *digits > 24 => plain("float8"),
        D::Float(of) | D::FloatUnsigned(of) | D::Double(of) | D::DoubleUnsigned(of)
            if matches!(of, ExactNumberInfo::PrecisionAndScale(..)) =>
        {
            let (precision, scale) = exact(of);
            let name = if matches!(ty, D::Float(_) | D::FloatUnsigned(_)) { "float" } else { "double" };
            let unsigned = if matches!(ty, D::FloatUnsigned(_) | D::DoubleUnsigned(_)) { " unsigned" } else { "" };
            if !(1..=255).contains(&precision) || !(0..=30).contains(&scale) {
                return Err(Error::unsupported(format!("{name}({precision},{scale})")));
            }
            if u64::try_from(scale).is_ok_and(|scale| scale > precision) {
                let message = "For float(M,D), double(M,D) or decimal(M,D), M must be >= D";
                return Err(Error::new(Condition::InvalidParameterValue, message).with_mysql(1427, "42000"));
            }
            Ok((true, format!("{name}({precision},{scale}){unsigned}")))
        }
        D::Float(_) | D::Float4 => plain("float4"),
        D::Double(_) | D::DoublePrecision | D::Real | D::Float8 => plain("float8"),
        D::FloatUnsigned(_) => own("float unsigned"),
        D::DoubleUnsigned(_) | D::DoublePrecisionUnsigned | D::RealUnsigned => own("double unsigned"),
        D::Decimal(of) | D::Numeric(of) | D::Dec(of) => {
            let (precision, scale) = exact(of);
            Ok((false, format!("numeric({precision},{scale})")))
        }
        D::DecimalUnsigned(of) | D::DecUnsigned(of) => {
            let (precision, scale) = exact(of);
            Ok((true, format!("decimal({precision},{scale}) unsigned")))
        }
        D::Char(of) | D::Character(of) => Ok((true, format!("char({})", length(of.as_ref()).unwrap_or(1)))),
        D::Varchar(of) | D::CharacterVarying(of) | D::CharVarying(of) | D::Nvarchar(of) => match length(of.as_ref()) {
            Some(length) => Ok((false, format!("varchar({length})"))),
            None => Err(Error::syntax("VARCHAR wants a length")),
        },
        D::Text => plain("text"),
        D::TinyText => own("tinytext"),
        D::MediumText => own("mediumtext"),
        D::LongText => own("longtext"),
        D::Binary(of) => Ok((true, format!("binary({})", of.unwrap_or(1)))),
        D::Varbinary(Some(BinaryLength::IntegerLength { length })) => Ok((true, format!("varbinary({length})"))),
        // The smallest that holds so many bytes.
        D::Blob(Some(length)) => match length {
            0..256 => own("tinyblob"),
            256..65_536 => plain("bytea"),
            65_536..16_777_216 => own("mediumblob"),
            _ => own("longblob"),
        },
        D::Blob(None) | D::Bytea => plain("bytea"),
        D::TinyBlob => own("tinyblob"),
        D::MediumBlob => own("mediumblob"),
        D::LongBlob => own("longblob"),
        D::Date => plain("date"),
        D::Time(None | Some(0), _) => own("time"),
        D::Time(Some(digits), _) => Ok((true, format!("time({})", digits.min(&6)))),
        D::Datetime(digits) => Ok((false, format!("timestamp({})", fraction(*digits)))),
        D::Timestamp(None, _) => own("timestamp"),
        D::Timestamp(Some(0), _) => own("timestamp"),
        D::Timestamp(Some(digits), _) => Ok((true, format!("timestamp({digits})"))),
        D::JSON => plain("json"),
        D::Uuid => plain("uuid"),
        D::Bit(of) => Ok((true, format!("bit({})", of.unwrap_or(1)))),
        D::Enum(members, _) => {
            let label = |member: &EnumMember| match member {
                EnumMember::Name(name) | EnumMember::NamedValue(name, _) => quote_literal(name),
            };
            Ok((true, format!("enum({})", members.iter().map(label).collect::<Vec<_>>().join(","))))
        }
        D::Set(members) => {
            let labels: Vec<String> = members.iter().map(|member| quote_literal(member)).collect();
            Ok((true, format!("set({})", labels.join(","))))
        }
        D::Custom(name, modifiers) => {
            let has_length = |modifiers: &[TypeModifier]| match modifiers.first() {
                Some(TypeModifier::Number(digits, _)) => digits.parse::<u64>().ok(),
                _ => None,
            };
            match name.to_string().to_ascii_lowercase().as_str() {
                "year" => own("year"),
                // Of so many characters, of which each may take four bytes.
                "text" => match has_length(modifiers).unwrap_or(16_383) {
                    0..64 => own("tinytext"),
                    64..16_384 => plain("text"),
                    16_384..4_194_304 => own("mediumtext"),
                    _ => own("longtext"),
                },
                "nchar" => Ok((true, format!("char({})", has_length(modifiers).unwrap_or(1)))),
                "long" => own("mediumtext"),
                _ => Err(unsupported(ty)),
            }
        }
        _ => Err(unsupported(ty)),
    }
}

/// CREATE DOMAIN of these words; `None` for words that are none of MySQL's types.
pub(super) fn made(name: &str) -> Option<N> {
    let (base, check) = meaning(name, "VALUE")?;
    let check = match check {
        Some(text) => {
            let raw_expr = Some(Box::new(condition(&text)?));
            let made = pg::Constraint {
                contype: pg::ConstrType::ConstrCheck as i32,
                conname: RANGE.to_owned(),
                raw_expr,
                is_enforced: true,
                initially_valid: true,
                location: NOWHERE,
                ..Default::default()
            };
            vec![node(N::Constraint(Box::new(made)))]
        }
        None => Vec::new(),
    };
    Some(N::CreateDomainStmt(Box::new(pg::CreateDomainStmt {
        domainname: words([SCHEMA, name]),
        type_name: Some(plain(&base)),
        coll_clause: None,
        constraints: check,
    })))
}

/// A condition in PostgreSQL's words.
fn condition(text: &str) -> Option<pg::Node> {
    let tree = pg_query::parse(&format!("SELECT {text}"), pg_query::ParserOptions::default()).ok()?.protobuf;
    let statement = tree.stmts.into_iter().next()?.stmt?.node?;
    let N::SelectStmt(select) = statement else { return None };
    match select.target_list.into_iter().next()?.node? {
        N::ResTarget(target) => target.val.map(|value| *value),
        _ => None,
    }
}

/// The name of the CHECK of each of them.
pub const RANGE: &str = "out_of_range";

/// MySQL's own words for a type, where it is one of MySQL's own.
pub fn own_words(ty: &Type) -> Option<&str> {
    match ty {
        Type::User(user) if user.namespace == SCHEMA && user.domain().is_some() => Some(&user.name),
        _ => None,
    }
}

/// The greatest number of a column that counts, where it is less than the greatest of all.
pub fn greatest(ty: &Type) -> Option<i64> {
    if let Type::User(user) = ty
        && user.namespace == SCHEMA
        && user.domain().is_some()
    {
        match &*without_zerofill(&user.name) {
            "tinyint" => return Some(i64::from(i8::MAX)),
            "tinyint unsigned" => return Some(i64::from(u8::MAX)),
            "smallint unsigned" => return Some(i64::from(u16::MAX)),
            "mediumint" => return Some((1 << 23) - 1),
            "mediumint unsigned" => return Some((1 << 24) - 1),
            "int unsigned" => return Some(i64::from(u32::MAX)),
            _ => {}
        }
    }
    match ty.through_domains() {
        Type::Int2 => Some(i64::from(i16::MAX)),
        Type::Int4 => Some(i64::from(i32::MAX)),
        _ => None,
    }
}

/// How many digits `double(8,3)` and its kin have, and how many of them behind the point; `None` for other types.
pub fn scaled(words: &str) -> Option<(u8, u8)> {
    let numbers = words.strip_prefix("double(").or_else(|| words.strip_prefix("float("))?;
    let (precision, scale) = numbers.split_once(')')?.0.split_once(',')?;
    Some((precision.trim().parse().ok()?, scale.trim().parse().ok()?))
}

/// What must hold for `value`, an expression in PostgreSQL's words, to be one of the type that MySQL calls so; `None` where
/// nothing has to.
pub fn range(name: &str, value: &str) -> Option<String> {
    meaning(name, value)?.1
}

/// What a type of MySQL's lies as, and what must hold for `value`.
fn meaning(name: &str, value: &str) -> Option<(String, Option<String>)> {
    let between = |low: &str, high: &str| Some(format!("(({value} >= {low}) AND ({value} <= {high}))"));
    let of = |name: &str| name.to_owned();
    let positive = || Some(format!("({value} >= 0)"));
    let number = |name: &str| -> Option<u32> { name.split_once('(')?.1.trim_end_matches(')').parse().ok() };
    let octets = |most: u64| Some(format!("(octet_length({value}) <= {most})"));
    let plain = without_zerofill(name);
    let name = &*plain;
    Some(match name {
        "tinyint(1)" | "tinyint" => (of("int2"), between("-128", "127")),
        "tinyint unsigned" => (of("int2"), between("0", "255")),
        "smallint unsigned" => (of("int4"), between("0", "65535")),
        "mediumint" => (of("int4"), between("-8388608", "8388607")),
        "mediumint unsigned" => (of("int4"), between("0", "16777215")),
        "int unsigned" => (of("int8"), between("0", "4294967295")),
        "bigint unsigned" => (of("int8"), positive()),
        "float unsigned" => (of("float4"), positive()),
        "double unsigned" => (of("float8"), positive()),
        _ if name.starts_with("float(") || name.starts_with("double(") => {
            let (lies, digits) = if name.starts_with("float(") { ("float4", "real") } else { ("float8", "float8") };
            let (precision, scale) = scaled(name)?;
            let whole = "9".repeat(usize::from(precision.saturating_sub(scale)));
            let most = format!("'{whole}.{}'::{digits}", "9".repeat(usize::from(scale)));
            let least = if name.ends_with(" unsigned") { "0".to_owned() } else { most.replacen('\'', "'-", 1) };
            (of(lies), between(&least, &most))
        }
        "tinytext" => (of("text"), octets(255)),
        "mediumtext" | "longtext" => (of("text"), None),
        "tinyblob" => (of("bytea"), octets(255)),
        "mediumblob" | "longblob" => (of("bytea"), None),
        // An instant, told in the zone of the session.
        "timestamp" => (of("timestamptz(0)"), None),
        _ if name.ends_with(RENEWED) => {
            let plain = name.strip_suffix(RENEWED)?;
            return match plain.strip_prefix("datetime") {
                Some("") => Some((of("timestamp(0)"), None)),
                Some(digits) => Some((format!("timestamp{digits}"), None)),
                None => meaning(plain, value),
            };
        }
        // From -838:59:59 to 838:59:59.
        "time" => (of("interval"), None),
        _ if name.starts_with("time(") => (of("interval"), None),
        "year" => (of("int2"), Some(format!("(({value} = 0) OR (({value} >= 1901) AND ({value} <= 2155)))"))),
        _ if name.starts_with("timestamp(") => (name.replace("timestamp(", "timestamptz("), None),
        _ if name.starts_with("char(") => (format!("var{name}"), None),
        _ if name.starts_with("binary(") || name.starts_with("varbinary(") => {
            (of("bytea"), octets(u64::from(number(name)?)))
        }
        _ if name.starts_with("bit(") => {
            let bits = number(name)?;
            match bits {
                0..63 => (of("int8"), between("0", &((1_i64 << bits) - 1).to_string())),
                63 => (of("int8"), between("0", &i64::MAX.to_string())),
                // Beyond that it lies as BIGINT UNSIGNED does.
                _ => (of("int8"), positive()),
            }
        }
        _ if name.starts_with("decimal(") && name.ends_with(" unsigned") => {
            (format!("numeric{}", name.strip_prefix("decimal")?.strip_suffix(" unsigned")?), positive())
        }
        _ if name.starts_with("enum(") => {
            let labels = name.strip_prefix("enum(")?.strip_suffix(')')?;
            (of("text"), Some(format!("({value} IN ({labels}))")))
        }
        _ if name.starts_with("set(") => {
            let labels = name.strip_prefix("set(")?.strip_suffix(')')?;
            (of("text"), Some(format!("(({value} = '') OR (string_to_array({value}, ',') <@ ARRAY[{labels}]))")))
        }
        _ => return None,
    })
}

/// True for types whose values are texts with a collation.
pub(super) fn is_text(ty: &DataType) -> bool {
    use DataType as D;
    match ty {
        D::Collate(inner, _) => is_text(inner),
        D::Char(_)
        | D::Character(_)
        | D::Varchar(_)
        | D::CharacterVarying(_)
        | D::CharVarying(_)
        | D::Nvarchar(_)
        | D::Text
        | D::TinyText
        | D::MediumText
        | D::LongText
        | D::Enum(..)
        | D::Set(_) => true,
        D::Custom(name, _) => matches!(name.to_string().to_ascii_lowercase().as_str(), "nchar" | "long" | "text"),
        _ => false,
    }
}

/// True for numbers.
pub(super) fn is_number(ty: &DataType) -> bool {
    type_words(ty).is_ok_and(|(_, words)| {
        let kinds = ["int", "tinyint", "smallint", "mediumint", "bigint", "numeric", "decimal", "float", "double"];
        kinds.iter().any(|kind| words.starts_with(kind))
    })
}
