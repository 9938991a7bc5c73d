//! PostgreSQL's names, object ids and modifiers of types: one table for the binder, the wire and `pg_type`.

use std::sync::LazyLock;

use crate::scalar::{self, Modifiers, Scalar, bits};
use crate::types::{Field, NumericModifier, Reg};
use crate::values::IntervalModifier;
use crate::{Condition, Error, Result, Type};

/// A row of `pg_type`, as far as it is known here.
#[derive(Clone, Debug)]
pub struct TypeRow {
    /// Name in `pg_type`.
    pub name: &'static str,
    /// The name that PostgreSQL prints, by SQL's standard.
    pub words: &'static str,
    /// Object id.
    pub oid: u32,
    /// Object id of its array type; 0 when it has none.
    pub array_oid: u32,
    /// Bytes of a value; -1 when they vary, -2 for C strings.
    pub length: i16,
    /// `typcategory`.
    pub category: char,
    /// `typispreferred`.
    pub preferred: bool,
    /// The type, without modifiers.
    pub ty: Type,
}

const fn row(
    name: &'static str,
    words: &'static str,
    oids: (u32, u32),
    length: i16,
    category: char,
    preferred: bool,
    ty: Type,
) -> TypeRow {
    TypeRow { name, words, oid: oids.0, array_oid: oids.1, length, category, preferred, ty }
}

/// Every type with a name of its own. Source: PostgreSQL's `pg_type.dat`.
pub static TYPES: &[TypeRow] = &[
    row("bool", "boolean", (16, 1000), 1, 'B', true, Type::Bool),
    row("bytea", "bytea", (17, 1001), -1, 'U', false, Type::Bytea),
    row("char", "\"char\"", (18, 1002), 1, 'Z', false, Type::InternalChar),
    row("name", "name", (19, 1003), 64, 'S', false, Type::Name),
    row("int8", "bigint", (20, 1016), 8, 'N', false, Type::Int8),
    row("int2", "smallint", (21, 1005), 2, 'N', false, Type::Int2),
    row("int4", "integer", (23, 1007), 4, 'N', false, Type::Int4),
    row("text", "text", (25, 1009), -1, 'S', true, Type::Text),
    row("oid", "oid", (26, 1028), 4, 'N', true, Type::Oid),
    row("json", "json", (114, 199), -1, 'U', false, Type::Json),
    row("float4", "real", (700, 1021), 4, 'N', false, Type::Float4),
    row("float8", "double precision", (701, 1022), 8, 'N', true, Type::Float8),
    row("unknown", "unknown", (705, 0), -2, 'X', false, Type::Unknown),
    row("bpchar", "character", (1042, 1014), -1, 'S', false, Type::Char(0)),
    row("varchar", "character varying", (1043, 1015), -1, 'S', false, Type::Varchar(None)),
    row("date", "date", (1082, 1182), 4, 'D', false, Type::Date),
    row("time", "time without time zone", (1083, 1183), 8, 'D', false, Type::Time(None)),
    row("timestamp", "timestamp without time zone", (1114, 1115), 8, 'D', false, Type::Timestamp(None)),
    row("timestamptz", "timestamp with time zone", (1184, 1185), 8, 'D', true, Type::TimestampTz(None)),
    row("interval", "interval", (1186, 1187), 16, 'T', true, Type::Interval(None)),
    row("timetz", "time with time zone", (1266, 1270), 12, 'D', false, Type::TimeTz(None)),
    row("numeric", "numeric", (1700, 1231), -1, 'N', false, Type::Numeric(None)),
    row("regoper", "regoper", (2203, 2208), 4, 'N', false, Type::Reg(Reg::Oper)),
    row("regoperator", "regoperator", (2204, 2209), 4, 'N', false, Type::Reg(Reg::Operator)),
    row("regproc", "regproc", (24, 1008), 4, 'N', false, Type::Reg(Reg::Proc)),
    row("regprocedure", "regprocedure", (2202, 2207), 4, 'N', false, Type::Reg(Reg::Procedure)),
    row("regclass", "regclass", (2205, 2210), 4, 'N', false, Type::Reg(Reg::Class)),
    row("regtype", "regtype", (2206, 2211), 4, 'N', false, Type::Reg(Reg::Type)),
    row("regcollation", "regcollation", (4191, 4192), 4, 'N', false, Type::Reg(Reg::Collation)),
    row("regconfig", "regconfig", (3734, 3735), 4, 'N', false, Type::Reg(Reg::Config)),
    row("regdictionary", "regdictionary", (3769, 3770), 4, 'N', false, Type::Reg(Reg::Dictionary)),
    row("regrole", "regrole", (4096, 4097), 4, 'N', false, Type::Reg(Reg::Role)),
    row("regnamespace", "regnamespace", (4089, 4090), 4, 'N', false, Type::Reg(Reg::Namespace)),
    row("uuid", "uuid", (2950, 2951), 16, 'U', false, Type::Uuid),
    row("record", "record", (2249, 2287), -1, 'P', false, Type::RECORD),
    row("void", "void", (2278, 0), 4, 'P', false, Type::Void),
    row("jsonpath", "jsonpath", (4072, 4073), -1, 'U', false, Type::Jsonpath),
    row("jsonb", "jsonb", (3802, 3807), -1, 'U', false, Type::Jsonb),
];

/// Object id of `int2vector`; columns of the catalogs are read as `smallint[]`.
pub const INT2VECTOR: u32 = 22;
/// Object id of `oidvector`; columns of the catalogs are read as `oid[]`.
pub const OIDVECTOR: u32 = 30;

/// The type that PostgreSQL's clients are told for a type of another dialect; itself for PostgreSQL's own.
pub fn import(ty: &Type) -> Type {
    match ty {
        Type::Money(modifier) => Type::Numeric(Some(*modifier)),
        Type::FloatingDecimal(_) => Type::Numeric(None),
        Type::Lvarchar(n) | Type::Nvarchar(n) => Type::Varchar(Some(*n)),
        Type::Nchar(n) => Type::Char(*n),
        Type::Byte | Type::Blob => Type::Bytea,
        Type::TextBlob | Type::Clob => Type::Text,
        Type::IfxInt8 => Type::Int8,
        Type::Datetime(qualifier) => {
            let digits = match qualifier.last {
                Field::Fraction(digits) => Some(digits),
                _ => Some(0),
            };
            match (qualifier.first, qualifier.last) {
                (Field::Year, Field::Day) => Type::Date,
                (Field::Year, Field::Second | Field::Fraction(_) | Field::Minute | Field::Hour) => {
                    Type::Timestamp(digits)
                }
                (Field::Hour, Field::Second | Field::Fraction(_) | Field::Minute) => Type::Time(digits),
                _ => Type::Text,
            }
        }
        Type::QualifiedInterval(_) => Type::Interval(None),
        Type::Array(element) => Type::Array(Box::new(import(element))),
        other => other.clone(),
    }
}

/// Every type of PostgreSQL's own with a name: [`TYPES`] and the rows of [`scalar`].
pub fn rows() -> impl Iterator<Item = &'static TypeRow> {
    every_row().filter(|row| !rowferry_facts::Extension::has(row.oid))
}

/// The same, and the types of extensions.
fn every_row() -> impl Iterator<Item = &'static TypeRow> {
    TYPES.iter().chain(SCALARS.iter())
}

/// The rows of [`scalar`], in their order.
static SCALARS: LazyLock<Vec<TypeRow>> = LazyLock::new(|| {
    let row = |scalar: &'static Scalar| {
        let facts = scalar.facts();
        TypeRow {
            name: scalar.name,
            words: scalar.words,
            oid: scalar.oid,
            array_oid: facts.array,
            length: facts.length as i16,
            category: facts.category,
            preferred: facts.preferred,
            ty: Type::Scalar(scalar, None),
        }
    };
    scalar::all().chain(scalar::of_extensions()).map(row).collect()
});

/// True for a row of a type, whatever the type's modifiers.
fn is_row_of(row: &TypeRow, ty: &Type) -> bool {
    match (&row.ty, ty) {
        (Type::Reg(a), Type::Reg(b)) => a == b,
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// The table's row for a type (an array has none).
pub fn row_of(ty: &Type) -> Option<&'static TypeRow> {
    match ty {
        Type::Char(_) | Type::Nchar(_) => TYPES.iter().find(|row| row.name == "bpchar"),
        Type::Array(_) | Type::User(_) => None,
        Type::Scalar(scalar, _) => SCALARS.iter().find(|row| row.oid == scalar.oid),
        ty => {
            let row_of = |ty: &Type| TYPES.iter().find(|row| is_row_of(row, ty));
            row_of(ty).or_else(|| row_of(&import(ty)))
        }
    }
}

/// The object id of a type.
pub fn oid(ty: &Type) -> u32 {
    match ty {
        Type::User(user) => user.oid,
        Type::Array(element) if matches!(**element, Type::User(_)) => match &**element {
            Type::User(user) => user.array_oid,
            _ => 0,
        },
        Type::Array(element) => match (row_of(element), &**element) {
            (Some(row), _) => row.array_oid,
            (None, Type::Scalar(scalar, _)) => rowferry_facts::Type::by_oid(scalar.oid).map_or(0, |fact| fact.array),
            (None, _) => 0,
        },
        Type::Scalar(scalar, _) => scalar.oid,
        ty => match row_of(ty) {
            Some(row) => row.oid,
            None => 25,
        },
    }
}

/// The type of an object id; `None` when it is not known here, or 0.
pub fn from_oid(oid: u32) -> Option<Type> {
    match oid {
        0 => None,
        INT2VECTOR => Some(Type::Array(Box::new(Type::Int2))),
        OIDVECTOR => Some(Type::Array(Box::new(Type::Oid))),
        oid => every_row().find_map(|row| {
            if row.oid == oid {
                Some(if row.ty == Type::Char(0) { Type::Char(BLANK_PADDED_ANY) } else { row.ty.clone() })
            } else if row.array_oid == oid {
                Some(Type::Array(Box::new(row.ty.clone())))
            } else {
                None
            }
        }),
    }
}

/// The type of an object id, users' own types among them.
pub fn of_oid(oid: u32, schema: &dyn crate::Schema) -> Option<Type> {
    if let Some(ty) = from_oid(oid) {
        return Some(ty);
    }
    if let Some(user) = schema.user_type_by_oid(oid) {
        return Some(Type::User(user));
    }
    if let Some((relation, is_array)) = crate::composite::relation_of_row_type(oid) {
        let row = Type::User(std::sync::Arc::new(crate::composite::row_type(&*schema.relation_by_oid(relation)?)));
        return Some(if is_array { Type::Array(Box::new(row)) } else { row });
    }
    let array = schema.user_types().into_iter().find(|user| user.array_oid == oid && oid != 0);
    array.map(|user| Type::Array(Box::new(Type::User(user))))
}

/// True for the name of a type of PostgreSQL's own, whether it is here or not.
pub fn is_known(name: &str) -> bool {
    !matches!(named(name, &[]), Err(error) if error.condition() == Condition::UndefinedObject)
}

/// `Char` of this length is `bpchar` without a modifier: of any length, trailing blanks not significant.
pub const BLANK_PADDED_ANY: u32 = 0;

/// PostgreSQL's number for a type's modifiers; -1 when there are none.
pub fn typmod(ty: &Type) -> i32 {
    match import(ty) {
        Type::Numeric(Some(m)) => ((i32::from(m.precision)) << 16 | (i32::from(m.scale) & 0x7ff)) + 4,
        Type::Varchar(Some(n)) => n as i32 + 4,
        Type::Char(n) if n != BLANK_PADDED_ANY => n as i32 + 4,
        Type::Time(Some(n)) | Type::TimeTz(Some(n)) | Type::Timestamp(Some(n)) | Type::TimestampTz(Some(n)) => {
            i32::from(n)
        }
        Type::Interval(Some(modifier)) => modifier.typmod(),
        Type::Scalar(_, Some(n)) => n as i32,
        Type::Array(element) => typmod(&element),
        _ => -1,
    }
}

/// The type with the modifiers that a number stands for: the inverse of [`typmod`].
pub fn with_typmod(ty: &Type, modifier: i32) -> Type {
    if modifier < 0 {
        return ty.clone();
    }
    match ty {
        Type::Numeric(_) if modifier >= 4 => {
            let bits = modifier - 4;
            let scale = ((bits & 0x7ff) ^ 1024) - 1024;
            Type::Numeric(Some(NumericModifier { precision: (bits >> 16) as u16, scale: scale as i16 }))
        }
        Type::Varchar(_) if modifier >= 4 => Type::Varchar(Some(modifier as u32 - 4)),
        Type::Char(_) if modifier >= 4 => Type::Char(modifier as u32 - 4),
        Type::Time(_) => Type::Time(Some(modifier.min(6) as u8)),
        Type::TimeTz(_) => Type::TimeTz(Some(modifier.min(6) as u8)),
        Type::Timestamp(_) => Type::Timestamp(Some(modifier.min(6) as u8)),
        Type::TimestampTz(_) => Type::TimestampTz(Some(modifier.min(6) as u8)),
        Type::Interval(_) => Type::Interval(IntervalModifier::from_typmod(modifier)),
        Type::Scalar(scalar, _) if modifier > 0 => Type::Scalar(scalar, Some(modifier as u32)),
        Type::Array(element) => Type::Array(Box::new(with_typmod(element, modifier))),
        other => other.clone(),
    }
}

/// Bytes of a value on the wire; -1 when they vary.
pub fn typlen(ty: &Type) -> i16 {
    let ty = ty.through_domains();
    if ty.labels().is_some() {
        return 4;
    }
    row_of(ty).map_or(-1, |row| row.length)
}

/// `typcategory` of a type.
pub fn category(ty: &Type) -> char {
    match ty.through_domains() {
        Type::Array(_) => 'A',
        Type::User(user) if user.composite().is_some() => 'C',
        Type::User(user) if user.subtype().is_some() => 'R',
        Type::User(_) => 'E',
        ty => row_of(ty).map_or('U', |row| row.category),
    }
}

/// `typispreferred` of a type.
pub fn is_preferred(ty: &Type) -> bool {
    row_of(ty.through_domains()).is_some_and(|row| row.preferred)
}

/// The words with which PostgreSQL prints a type, modifiers included (`format_type`).
pub fn format_type(ty: &Type) -> String {
    let ty = import(ty);
    match &ty {
        Type::User(user) => user.shown(),
        Type::Array(element) => format!("{}[]", format_type(element)),
        Type::Numeric(Some(m)) => format!("numeric({},{})", m.precision, m.scale),
        Type::Varchar(Some(n)) => format!("character varying({n})"),
        Type::Char(BLANK_PADDED_ANY) => "bpchar".to_owned(),
        // Without quotes it is bit(1) to whoever reads it.
        Type::Scalar(scalar, None) if **scalar == crate::scalar::bits::BIT => "\"bit\"".to_owned(),
        Type::Char(n) => format!("character({n})"),
        Type::Time(Some(n)) => format!("time({n}) without time zone"),
        Type::TimeTz(Some(n)) => format!("time({n}) with time zone"),
        Type::Timestamp(Some(n)) => format!("timestamp({n}) without time zone"),
        Type::TimestampTz(Some(n)) => format!("timestamp({n}) with time zone"),
        Type::Interval(Some(modifier)) => {
            let fields = modifier.words().map_or_else(String::new, |words| format!(" {words}"));
            let digits = modifier.digits.map_or_else(String::new, |digits| format!("({digits})"));
            format!("interval{fields}{digits}")
        }
        Type::Scalar(scalar, Some(n)) => format!("{}({n})", scalar.words),
        ty => row_of(ty).map_or("text", |row| row.words).to_owned(),
    }
}

/// The words of a type without its modifiers, as messages show them.
pub fn words(ty: &Type) -> String {
    match ty {
        Type::User(user) => user.shown(),
        Type::Array(element) => format!("{}[]", words(element)),
        ty => row_of(ty).map_or("text", |row| row.words).to_owned(),
    }
}

/// A type by its name in `pg_type` or an alias that the grammar has not rewritten, with its modifiers.
///
/// Errors: `UndefinedObject` for a name that does not exist, `FeatureNotSupported` for PostgreSQL's types that are not
/// here, `InvalidParameterValue` for modifiers out of range.
pub fn named(name: &str, modifiers: &[i64]) -> Result<Type> {
    if let Some(element) = name.strip_prefix('_')
        && rows().any(|row| row.name == element && row.array_oid != 0)
    {
        return Ok(Type::Array(Box::new(named(element, modifiers)?)));
    }
    let length = |least: i64, most: i64, what: &str| -> Result<Option<u32>> {
        match modifiers {
            [] => Ok(None),
            [n] if *n < least => Err(Error::new(
                Condition::InvalidParameterValue,
                format!("length for type {what} must be at least {least}"),
            )),
            [n] if *n > most => Err(Error::new(
                Condition::InvalidParameterValue,
                format!("length for type {what} cannot exceed {most}"),
            )),
            [n] => Ok(Some(*n as u32)),
            _ => Err(Error::new(Condition::InvalidParameterValue, "invalid type modifier")),
        }
    };
    let fraction = || -> Result<Option<u8>> {
        match modifiers {
            [] => Ok(None),
            [n] if (0..=6).contains(n) => Ok(Some(*n as u8)),
            // PostgreSQL warns and takes the greatest precision.
            [n] if *n > 6 => Ok(Some(6)),
            _ => Err(Error::new(Condition::InvalidParameterValue, "invalid type modifier")),
        }
    };
    let plain = |ty: Type| -> Result<Type> {
        if modifiers.is_empty() {
            Ok(ty)
        } else {
            Err(Error::new(Condition::SyntaxError, format!("type modifier is not allowed for type \"{name}\"")))
        }
    };
    match name {
        "varchar" => Ok(Type::Varchar(length(1, 10_485_760, "character varying")?)),
        "bpchar" | "character" => Ok(Type::Char(length(1, 10_485_760, "character")?.unwrap_or(BLANK_PADDED_ANY))),
        "numeric" | "decimal" => Ok(Type::Numeric(match modifiers {
            [] => None,
            [precision, rest @ ..] if rest.len() <= 1 => {
                let scale = rest.first().copied().unwrap_or(0);
                if !(1..=1000).contains(precision) {
                    return Err(Error::new(
                        Condition::InvalidParameterValue,
                        format!("NUMERIC precision {precision} must be between 1 and 1000"),
                    ));
                }
                if !(-1000..=1000).contains(&scale) {
                    return Err(Error::new(
                        Condition::InvalidParameterValue,
                        format!("NUMERIC scale {scale} must be between -1000 and 1000"),
                    ));
                }
                Some(NumericModifier { precision: *precision as u16, scale: scale as i16 })
            }
            _ => return Err(Error::new(Condition::InvalidParameterValue, "invalid NUMERIC type modifier")),
        })),
        _ if let Some(scalar) = scalar::named(name) => match scalar.modifiers {
            Modifiers::None => plain(Type::Scalar(scalar, None)),
            Modifiers::Length(_) => Ok(Type::Scalar(scalar, length(1, bits::MAX_LENGTH, name)?)),
        },
        "time" => Ok(Type::Time(fraction()?)),
        "timetz" => Ok(Type::TimeTz(fraction()?)),
        "timestamp" => Ok(Type::Timestamp(fraction()?)),
        "timestamptz" => Ok(Type::TimestampTz(fraction()?)),
        // The grammar gives `interval` its fields and precision as modifiers.
        "interval" => interval(modifiers),
        "serial" | "serial4" => plain(Type::Int4),
        "bigserial" | "serial8" => plain(Type::Int8),
        "smallserial" | "serial2" => plain(Type::Int2),
        "sql_identifier" => plain(Type::Name),
        "cardinal_number" => plain(Type::Int4),
        "character_data" | "yes_or_no" => plain(Type::Varchar(None)),
        "time_stamp" => plain(Type::TimestampTz(Some(2))),
        "int" | "integer" => plain(Type::Int4),
        "smallint" => plain(Type::Int2),
        "bigint" => plain(Type::Int8),
        "boolean" => plain(Type::Bool),
        "string" | "unknown" | "record" | "void" => {
            Err(Error::new(Condition::UndefinedObject, format!("type \"{name}\" does not exist")))
        }
        name => match TYPES.iter().find(|row| row.name == name) {
            Some(row) => plain(row.ty.clone()),
            None if is_absent(name) => Err(Error::unsupported(format!("type \"{name}\""))),
            None => Err(Error::new(Condition::UndefinedObject, format!("type \"{name}\" does not exist"))),
        },
    }
}

/// `interval` with the bits of its fields and its digits, as the grammar gives them.
fn interval(modifiers: &[i64]) -> Result<Type> {
    let invalid = |message: String| Error::new(Condition::InvalidParameterValue, message);
    let (fields, digits) = match modifiers {
        [] => return Ok(Type::Interval(None)),
        [fields] => (*fields, None),
        [_, digits] if *digits < 0 => {
            return Err(invalid(format!("INTERVAL({digits}) precision must not be negative")));
        }
        // PostgreSQL warns and takes the greatest precision.
        [fields, digits] => (*fields, Some((*digits).min(6) as u8)),
        _ => return Err(invalid("invalid INTERVAL type modifier".to_owned())),
    };
    let fields = u16::try_from(fields).unwrap_or(0);
    match IntervalModifier::new(fields, digits) {
        None if fields != IntervalModifier::ALL => Err(invalid("invalid INTERVAL type modifier".to_owned())),
        modifier => Ok(Type::Interval(modifier)),
    }
}

/// True for types of PostgreSQL's that are not here.
fn is_absent(name: &str) -> bool {
    name == "cstring" || rowferry_facts::Type::named(name).is_some_and(|ty| matches!(ty.kind, 'b' | 'r' | 'm'))
}

/// The type for which an operator class of another stands: its base, what it is written as, or its family.
pub fn class_input(ty: &Type) -> u32 {
    const TEXT: u32 = 25;
    const CIDR: u32 = 650;
    const INET: u32 = 869;
    const RECORD: u32 = 2_249;
    const ANY_ARRAY: u32 = 2_277;
    const ANY_ENUM: u32 = 3_500;
    const ANY_RANGE: u32 = 3_831;
    const ANY_MULTIRANGE: u32 = 4_537;
    let ty = ty.through_domains();
    let number = oid(ty);
    match ty {
        Type::Varchar(_) => TEXT,
        Type::Array(_) => ANY_ARRAY,
        ty if ty.labels().is_some() => ANY_ENUM,
        ty if ty.is_row() => RECORD,
        _ if number == CIDR => INET,
        _ => match rowferry_facts::Type::by_oid(number).map(|fact| fact.kind) {
            Some('r') => ANY_RANGE,
            Some('m') => ANY_MULTIRANGE,
            None if category(ty) == 'R' => ANY_RANGE,
            _ => number,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_ids_are_unique_and_lead_back_to_their_type() {
        let mut seen = std::collections::HashSet::new();
        for row in TYPES {
            assert!(seen.insert(row.oid), "{}", row.name);
            assert!(row.array_oid == 0 || seen.insert(row.array_oid), "{}", row.name);
            assert_eq!(oid(&from_oid(row.oid).expect("known")), row.oid, "{}", row.name);
        }
    }

    #[test]
    fn modifiers_survive_their_number() {
        for ty in [
            Type::Numeric(Some(NumericModifier { precision: 10, scale: 2 })),
            Type::Numeric(Some(NumericModifier { precision: 3, scale: -2 })),
            Type::Varchar(Some(20)),
            Type::Char(3),
            Type::Timestamp(Some(0)),
            Type::Interval(IntervalModifier::from_words(Some("day to second"), Some(3))),
        ] {
            assert_eq!(with_typmod(&ty.base(), typmod(&ty)), ty);
        }
        assert_eq!(typmod(&Type::Numeric(Some(NumericModifier { precision: 10, scale: 2 }))), 655_366);
        assert_eq!(typmod(&Type::Varchar(None)), -1);
    }

    #[test]
    fn types_print_in_the_standard_s_words() {
        assert_eq!(format_type(&Type::Varchar(Some(5))), "character varying(5)");
        assert_eq!(format_type(&Type::Array(Box::new(Type::Int4))), "integer[]");
        assert_eq!(format_type(&Type::Timestamp(Some(3))), "timestamp(3) without time zone");
        assert_eq!(format_type(&Type::Char(4)), "character(4)");
        let interval = |fields, digits| format_type(&Type::Interval(IntervalModifier::from_words(fields, digits)));
        assert_eq!(interval(Some("day to second"), Some(3)), "interval day to second(3)");
        assert_eq!(interval(None, Some(0)), "interval(0)");
    }
}
