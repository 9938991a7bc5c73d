//! PostgreSQL's numbers for types: what `pg_type` lists, what its wire names, what `regtype` prints.
//!
//! One table, in the order of the oids. Source: PostgreSQL 18, `src/include/catalog/pg_type.dat` (the published catalog
//! data): oids are assigned for ever.

use crate::types::{NumericModifier, Reg, Type};

/// A row of the table.
#[derive(Clone, Debug)]
pub struct PgType {
    /// The type's oid.
    pub oid: u32,
    /// The oid of arrays of it; 0 for pseudo-types without.
    pub array_oid: u32,
    /// Its name in `pg_type`.
    pub name: &'static str,
    /// Its name as SQL has it, which `format_type` prints.
    pub sql_name: &'static str,
    /// `typlen`: bytes; -1 varies, -2 is terminated.
    pub size: i16,
    /// `typcategory`.
    pub category: char,
    /// The type, without modifiers.
    pub ty: Type,
}

macro_rules! table {
    ($($oid:literal $array:literal $name:literal $sql_name:literal $size:literal $category:literal $ty:expr;)*) => {
        /// The types that the wire can name.
        pub static PG_TYPES: &[PgType] = &[$(PgType {
            oid: $oid,
            array_oid: $array,
            name: $name,
            sql_name: $sql_name,
            size: $size,
            category: $category,
            ty: $ty,
        },)*];
    };
}

table! {
    16 1000 "bool" "boolean" 1 'B' Type::Bool;
    17 1001 "bytea" "bytea" -1 'U' Type::Bytea;
    18 1002 "char" "\"char\"" 1 'Z' Type::InternalChar;
    19 1003 "name" "name" 64 'S' Type::Name;
    20 1016 "int8" "bigint" 8 'N' Type::Int8;
    21 1005 "int2" "smallint" 2 'N' Type::Int2;
    23 1007 "int4" "integer" 4 'N' Type::Int4;
    24 1008 "regproc" "regproc" 4 'N' Type::Reg(Reg::Proc);
    25 1009 "text" "text" -1 'S' Type::Text;
    26 1028 "oid" "oid" 4 'N' Type::Oid;
    114 199 "json" "json" -1 'U' Type::Json;
    700 1021 "float4" "real" 4 'N' Type::Float4;
    701 1022 "float8" "double precision" 8 'N' Type::Float8;
    705 0 "unknown" "unknown" -2 'X' Type::Unknown;
    1042 1014 "bpchar" "character" -1 'S' Type::Char(1);
    1043 1015 "varchar" "character varying" -1 'S' Type::Varchar(None);
    1082 1182 "date" "date" 4 'D' Type::Date;
    1083 1183 "time" "time without time zone" 8 'D' Type::Time(None);
    1114 1115 "timestamp" "timestamp without time zone" 8 'D' Type::Timestamp(None);
    1184 1185 "timestamptz" "timestamp with time zone" 8 'D' Type::TimestampTz(None);
    1186 1187 "interval" "interval" 16 'T' Type::Interval;
    1266 1270 "timetz" "time with time zone" 12 'D' Type::TimeTz(None);
    1700 1231 "numeric" "numeric" -1 'N' Type::Numeric(None);
    2202 2207 "regprocedure" "regprocedure" 4 'N' Type::Reg(Reg::Procedure);
    2205 2210 "regclass" "regclass" 4 'N' Type::Reg(Reg::Class);
    2206 2211 "regtype" "regtype" 4 'N' Type::Reg(Reg::Type);
    2249 2287 "record" "record" -1 'P' Type::Record;
    2278 0 "void" "void" 4 'P' Type::Void;
    2950 2951 "uuid" "uuid" 16 'U' Type::Uuid;
    3802 3807 "jsonb" "jsonb" -1 'U' Type::Jsonb;
    4089 4090 "regnamespace" "regnamespace" 4 'N' Type::Reg(Reg::Namespace);
    4096 4097 "regrole" "regrole" 4 'N' Type::Reg(Reg::Role);
}

/// Bytes that PostgreSQL adds to the length in the modifier of a character type, for a header that is long gone.
const HEADER: i32 = 4;

impl Type {
    /// The oid under which PostgreSQL's clients know this type. A type of another dialect has its nearest relative's.
    pub fn pg_oid(&self) -> u32 {
        match self {
            Self::Array(element) => element.pg_row().map_or(1009, |row| row.array_oid),
            other => other.pg_row().map_or(25, |row| row.oid),
        }
    }

    /// `typlen`: the width of values in bytes; -1 varies, -2 is terminated.
    pub fn pg_size(&self) -> i16 {
        self.pg_row().map_or(-1, |row| row.size)
    }

    /// `atttypmod`: the type's modifier as PostgreSQL encodes it; -1 for none.
    pub fn pg_modifier(&self) -> i32 {
        let length = |length: u32| i32::try_from(length).map_or(-1, |length| length.saturating_add(HEADER));
        match self {
            Self::Char(size) | Self::Nchar(size) | Self::Lvarchar(size) | Self::Nvarchar(size) => length(*size),
            Self::Varchar(Some(size)) => length(*size),
            Self::Numeric(Some(modifier)) | Self::Money(modifier) => {
                // The scale is an eleven-bit two's complement number below the precision.
                ((i32::from(modifier.precision) << 16) | (i32::from(modifier.scale) & 0x7ff)) + HEADER
            }
            Self::Time(Some(digits))
            | Self::TimeTz(Some(digits))
            | Self::Timestamp(Some(digits))
            | Self::TimestampTz(Some(digits)) => i32::from(*digits),
            Self::Array(element) => element.pg_modifier(),
            _ => -1,
        }
    }

    /// The type with this oid and modifier (-1 for none).
    pub fn from_pg_oid(oid: u32, modifier: i32) -> Option<Self> {
        if oid == 0 {
            return None;
        }
        if let Some(row) = PG_TYPES.iter().find(|row| row.oid == oid) {
            return Some(row.ty.clone().with_pg_modifier(modifier));
        }
        let row = PG_TYPES.iter().find(|row| row.array_oid == oid)?;
        Some(Self::Array(Box::new(row.ty.clone().with_pg_modifier(modifier))))
    }

    fn with_pg_modifier(self, modifier: i32) -> Self {
        let length = u32::try_from(modifier - HEADER).ok().filter(|_| modifier >= HEADER);
        let digits = u8::try_from(modifier).ok();
        match self {
            // Without a modifier the wire's bpchar has no length of its own.
            Self::Char(_) => length.map_or(Self::Text, Self::Char),
            Self::Varchar(_) => Self::Varchar(length),
            Self::Numeric(_) => Self::Numeric(length.map(|bits| NumericModifier {
                precision: (bits >> 16) as u16,
                scale: (((bits & 0x7ff) as i16) ^ 0x400) - 0x400,
            })),
            Self::Time(_) => Self::Time(digits),
            Self::TimeTz(_) => Self::TimeTz(digits),
            Self::Timestamp(_) => Self::Timestamp(digits),
            Self::TimestampTz(_) => Self::TimestampTz(digits),
            other => other,
        }
    }

    /// The table's row for this type; `None` for arrays.
    pub fn pg_row(&self) -> Option<&'static PgType> {
        let like = match self {
            Self::Array(_) => return None,
            Self::Char(_) | Self::Nchar(_) => Self::Char(1),
            Self::Varchar(_) | Self::Lvarchar(_) | Self::Nvarchar(_) => Self::Varchar(None),
            Self::TextBlob | Self::Clob => Self::Text,
            Self::Byte | Self::Blob => Self::Bytea,
            Self::Numeric(_) | Self::FloatingDecimal(_) | Self::Money(_) => Self::Numeric(None),
            Self::IfxInt8 => Self::Int8,
            Self::Datetime(qualifier) => match (qualifier.first, qualifier.last) {
                (crate::types::Field::Year, crate::types::Field::Day) => Self::Date,
                (crate::types::Field::Hour, _) => Self::Time(None),
                (crate::types::Field::Year, _) => Self::Timestamp(None),
                _ => Self::Text,
            },
            Self::QualifiedInterval(_) => Self::Interval,
            other => other.base(),
        };
        PG_TYPES.iter().find(|row| row.ty == like)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oids_are_unique_and_go_round() {
        for row in PG_TYPES {
            assert_eq!(PG_TYPES.iter().filter(|other| other.oid == row.oid).count(), 1, "{}", row.name);
            assert_eq!(row.ty.pg_oid(), row.oid, "{}", row.name);
            if row.array_oid != 0 {
                assert_eq!(Type::Array(Box::new(row.ty.clone())).pg_oid(), row.array_oid, "{}", row.name);
            }
        }
        assert_eq!(Type::from_pg_oid(0, -1), None);
        assert_eq!(Type::from_pg_oid(1007, -1), Some(Type::Array(Box::new(Type::Int4))));
    }

    #[test]
    fn modifiers_are_postgresqls() {
        for (ty, modifier) in [
            (Type::Varchar(Some(20)), 24),
            (Type::Char(5), 9),
            (Type::Numeric(Some(NumericModifier { precision: 10, scale: 2 })), 655_366),
            (Type::Numeric(Some(NumericModifier { precision: 3, scale: -2 })), 198_658),
            (Type::Timestamp(Some(3)), 3),
            (Type::Int4, -1),
            (Type::Varchar(None), -1),
        ] {
            assert_eq!(ty.pg_modifier(), modifier, "{ty:?}");
            assert_eq!(Type::from_pg_oid(ty.pg_oid(), modifier), Some(ty));
        }
    }
}
