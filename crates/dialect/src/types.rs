//! The types that the IR knows, and how a value of each is stored.
//!
//! One set for all dialects: a front end maps its own type names onto it, a door maps it onto its wire's codes. A type
//! that only one dialect can name (an Informix `DATETIME HOUR TO MINUTE`, say) still stands here, and each other
//! dialect has a nearest type of its own for it (see its `import` function).

use std::fmt;
use std::sync::Arc;

use crate::composite::{Field as RowField, Shape};
use crate::user_type::{UserKind, UserType};
use crate::values::IntervalModifier;

use crate::scalar::{Order, Scalar};

/// A data type with its modifiers.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Type {
    /// True or false; stored as 1 and 0.
    Bool,
    /// 16-bit integer.
    Int2,
    /// 32-bit integer.
    Int4,
    /// 64-bit integer.
    Int8,
    /// PostgreSQL's object identifier: an unsigned 32-bit integer, stored as INTEGER.
    Oid,
    /// An object identifier with a name in text form (`regclass`, …); stored as INTEGER.
    Reg(Reg),
    /// IEEE single; stored as REAL.
    Float4,
    /// IEEE double; stored as REAL; NaN as the text `NaN`.
    Float8,
    /// Exact decimal, fixed or unconstrained.
    Numeric(Option<NumericModifier>),
    /// Informix `DECIMAL(p)`: a floating decimal of `p` significant digits.
    FloatingDecimal(u8),
    /// Informix `MONEY(p,s)`; the modifier as in `Numeric`.
    Money(NumericModifier),
    /// Unbounded text.
    Text,
    /// `varchar(n)`; `None` is unbounded. Length in characters.
    Varchar(Option<u32>),
    /// `char(n)`: blank-padded; stored without the padding.
    Char(u32),
    /// Informix `LVARCHAR(n)`.
    Lvarchar(u32),
    /// Informix `NCHAR(n)`: as `Char`.
    Nchar(u32),
    /// Informix `NVARCHAR(n)`: as `Varchar`.
    Nvarchar(u32),
    /// PostgreSQL's identifier type (63 bytes).
    Name,
    /// PostgreSQL's one-byte `"char"`.
    InternalChar,
    /// Bytes; stored as BLOB.
    Bytea,
    /// Informix simple large objects: `BYTE`, stored as BLOB.
    Byte,
    /// Informix simple large objects: `TEXT`, stored as TEXT.
    TextBlob,
    /// Informix smart large object `BLOB`.
    Blob,
    /// Informix smart large object `CLOB`.
    Clob,
    /// Calendar date, `YYYY-MM-DD`.
    Date,
    /// Time of day, `HH:MM:SS[.ffffff]`; modifier: digits of the fraction.
    Time(Option<u8>),
    /// Time of day with an offset, `HH:MM:SS[.ffffff]±HH[:MM]`.
    TimeTz(Option<u8>),
    /// Date and time, `YYYY-MM-DD HH:MM:SS[.ffffff]`, fraction without trailing zeros.
    Timestamp(Option<u8>),
    /// An instant, in UTC, as `Timestamp` with `+00` behind it.
    TimestampTz(Option<u8>),
    /// PostgreSQL's interval, in the canonical text of its `postgres` style; modifier: its fields and digits.
    Interval(Option<IntervalModifier>),
    /// Informix `DATETIME first TO last`; the fields' own digits, as Informix prints them.
    Datetime(Qualifier),
    /// Informix `INTERVAL first TO last`, as Informix prints it.
    QualifiedInterval(IntervalQualifier),
    /// UUID, canonical lower-case text.
    Uuid,
    /// JSON text as given.
    Json,
    /// JSON in PostgreSQL's `jsonb` normal form, as text.
    Jsonb,
    /// A path of SQL/JSON, as PostgreSQL prints it.
    Jsonpath,
    /// Informix `INT8`: a 64-bit integer with a wire type of its own.
    IfxInt8,
    /// Informix `ROW(…)`, `SET(…)`, `MULTISET(…)`, `LIST(…)`, in its own words; stored as the text that Informix prints.
    Composite(String),
    /// A built-in type that the compiler need not know by name, with the length that its modifier says.
    Scalar(&'static Scalar, Option<u32>),
    /// Array of an element type; stored as JSON text.
    Array(Box<Type>),
    /// A type that a user has made: an enum type, a domain.
    User(Arc<UserType>),
    /// An anonymous row, with its fields where they are known.
    Record(Shape),
    /// No value (functions called for their effect).
    Void,
    /// A string literal, NULL or parameter whose type the context has not decided yet.
    Unknown,
}

/// Precision and scale of an exact decimal: `numeric(precision, scale)`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct NumericModifier {
    /// Significant digits in all, 1 to 1,000.
    pub precision: u16,
    /// Digits behind the point; may be negative in PostgreSQL.
    pub scale: i16,
}

/// What a `reg*` type names.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Reg {
    /// A relation.
    Class,
    /// A collation.
    Collation,
    /// A configuration of text search.
    Config,
    /// A dictionary of text search.
    Dictionary,
    /// A namespace.
    Namespace,
    /// An operator, by name.
    Oper,
    /// An operator, with operand types.
    Operator,
    /// A function, by name.
    Proc,
    /// A function, with argument types.
    Procedure,
    /// A role.
    Role,
    /// A type.
    Type,
}

/// A field of a datetime, from the largest to the smallest.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Field {
    /// Year, four digits.
    Year,
    /// Month.
    Month,
    /// Day of the month.
    Day,
    /// Hour.
    Hour,
    /// Minute.
    Minute,
    /// Second.
    Second,
    /// Fraction of a second, with its digits (1 to 5) as `last` of a qualifier; the digits are 3 by default.
    Fraction(u8),
}

/// `first TO last` of an Informix DATETIME.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Qualifier {
    /// The largest field.
    pub first: Field,
    /// The smallest field.
    pub last: Field,
}

/// `first(precision) TO last` of an Informix INTERVAL.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct IntervalQualifier {
    /// The largest field.
    pub first: Field,
    /// Digits of the largest field, 1 to 9.
    pub precision: u8,
    /// The smallest field.
    pub last: Field,
}

/// How values of a type are stored.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Storage {
    /// INTEGER.
    Integer,
    /// REAL (or the text `NaN`).
    Real,
    /// A decimal of at most 15 digits in a NUMERIC column: INTEGER or REAL, exact by that column's definition.
    NativeDecimal,
    /// A canonical decimal as TEXT, compared under the `decimal` collation.
    DecimalText,
    /// TEXT.
    Text,
    /// BLOB.
    Blob,
}

impl Type {
    /// An anonymous row of which nothing is known.
    pub const RECORD: Self = Self::Record(Shape::UNKNOWN);

    /// The widest decimal that rides in a NUMERIC column without losing a digit.
    pub const NATIVE_DECIMAL_DIGITS: u16 = 15;

    /// How a *column* of this type is stored. An expression's value may be wider: an arithmetic result is always
    /// [`Storage::DecimalText`], whatever its operands were.
    pub fn storage(&self) -> Storage {
        match self {
            Self::Bool | Self::Int2 | Self::Int4 | Self::Int8 | Self::IfxInt8 | Self::Oid | Self::Reg(_) => {
                Storage::Integer
            }
            Self::Float4 | Self::Float8 => Storage::Real,
            Self::Numeric(Some(modifier)) | Self::Money(modifier)
                if modifier.precision <= Self::NATIVE_DECIMAL_DIGITS
                    && modifier.scale >= 0
                    && modifier.scale <= modifier.precision as i16 =>
            {
                Storage::NativeDecimal
            }
            Self::Numeric(_) | Self::Money(_) | Self::FloatingDecimal(_) => Storage::DecimalText,
            Self::Bytea | Self::Byte | Self::Blob => Storage::Blob,
            Self::Scalar(scalar, _) => scalar.storage,
            Self::Text
            | Self::Varchar(_)
            | Self::Char(_)
            | Self::Lvarchar(_)
            | Self::Nchar(_)
            | Self::Nvarchar(_)
            | Self::Name
            | Self::InternalChar
            | Self::TextBlob
            | Self::Clob
            | Self::Date
            | Self::Time(_)
            | Self::TimeTz(_)
            | Self::Timestamp(_)
            | Self::TimestampTz(_)
            | Self::Interval(_)
            | Self::Datetime(_)
            | Self::QualifiedInterval(_)
            | Self::Uuid
            | Self::Json
            | Self::Jsonb
            | Self::Jsonpath
            | Self::Composite(_)
            | Self::Array(_)
            | Self::Record(_)
            | Self::Void
            | Self::Unknown => Storage::Text,
            Self::User(user) => user.stored_as().map_or(Storage::Text, Self::storage),
        }
    }

    /// The type without its modifiers: what decides which function or operator applies.
    pub fn base(&self) -> Self {
        match self {
            Self::Numeric(_) => Self::Numeric(None),
            Self::Varchar(_) => Self::Varchar(None),
            Self::Time(_) => Self::Time(None),
            Self::TimeTz(_) => Self::TimeTz(None),
            Self::Timestamp(_) => Self::Timestamp(None),
            Self::TimestampTz(_) => Self::TimestampTz(None),
            Self::Interval(_) => Self::Interval(None),
            Self::Scalar(scalar, _) => Self::Scalar(scalar, None),
            Self::Array(element) => Self::Array(Box::new(element.base())),
            other => other.clone(),
        }
    }

    /// The type whose values a domain's are, through all domains; itself for any other type.
    pub fn through_domains(&self) -> &Self {
        let mut ty = self;
        while let Self::User(user) = ty
            && let UserKind::Domain(domain) = &user.kind
        {
            ty = &domain.base;
        }
        ty
    }

    /// The type with every domain in it replaced by what it is over. One over arrays stays where it stands for members of
    /// an array: they are no further dimension of that.
    pub fn without_domains(&self) -> Self {
        match self.through_domains() {
            Self::Array(element) if matches!(element.through_domains(), Self::Array(_)) => Self::Array(element.clone()),
            Self::Array(element) => Self::Array(Box::new(element.without_domains())),
            ty => ty.clone(),
        }
    }

    /// It is a domain, or made of such.
    pub fn has_domain(&self) -> bool {
        match self {
            Self::User(user) => user.domain().is_some() || self.is_constrained(),
            Self::Array(element) => element.has_domain(),
            _ => false,
        }
    }

    /// Not every value of the type without domains is one of it.
    pub fn is_constrained(&self) -> bool {
        match self {
            Self::User(user) => match &user.kind {
                UserKind::Domain(domain) => {
                    domain.not_null || !domain.checks.is_empty() || domain.base.is_constrained()
                }
                UserKind::Composite(row) => row.fields.iter().any(|field| !field.dropped && field.ty.is_constrained()),
                UserKind::Range(_) | UserKind::Multirange(_) => user.parts().any(Self::is_constrained),
                UserKind::Enum(_) | UserKind::Unresolved(_) => false,
            },
            Self::Array(element) => element.is_constrained(),
            _ => false,
        }
    }

    /// It is a domain.
    pub fn is_domain(&self) -> bool {
        matches!(self, Self::User(user) if user.domain().is_some())
    }

    /// The DISTINCT type of Informix's that it is.
    pub fn distinct(&self) -> Option<&Arc<UserType>> {
        match self {
            Self::User(user) if user.is_distinct() => Some(user),
            _ => None,
        }
    }

    /// The type that a DISTINCT type is made of; itself for any other.
    pub fn without_distinct(&self) -> &Self {
        let mut ty = self;
        while let Self::User(user) = ty
            && let UserKind::Domain(domain) = &user.kind
            && domain.distinct
        {
            ty = &domain.base;
        }
        ty
    }

    /// The labels of an enum type.
    pub fn labels(&self) -> Option<&crate::user_type::Labels> {
        match self {
            Self::User(user) => user.labels(),
            _ => None,
        }
    }

    /// It is a row, be it of a type with a name or not.
    pub fn is_row(&self) -> bool {
        match self.through_domains() {
            Self::Record(_) => true,
            Self::User(user) => user.composite().is_some(),
            _ => false,
        }
    }

    /// The fields of a row, as far as they are known; those that are gone are among them.
    pub fn row_fields(&self) -> Option<&[RowField]> {
        match self.through_domains() {
            Self::Record(shape) => shape.fields(),
            Self::User(user) => user.composite().map(|composite| composite.fields.as_slice()),
            _ => None,
        }
    }

    /// The object id of the user's type that it is, or is an array of.
    pub fn user_type_oid(&self) -> Option<u32> {
        match self {
            Self::User(user) => Some(user.oid),
            Self::Array(element) => element.user_type_oid(),
            _ => None,
        }
    }

    /// It is a type of which functions inside the back end must be told more than words can say, or an array of such.
    pub(crate) fn is_told(&self) -> bool {
        match self {
            Self::User(_) | Self::Record(_) => true,
            Self::Array(element) => element.is_told(),
            _ => false,
        }
    }

    /// It is a user's type, or an array of such.
    pub fn has_user_type(&self) -> bool {
        match self {
            Self::User(_) => true,
            Self::Array(element) => element.has_user_type(),
            _ => false,
        }
    }

    /// True for two types that differ in modifiers at most.
    pub fn same_base(&self, other: &Self) -> bool {
        self.base() == other.base()
    }

    /// What stands between the members of an array's text.
    pub fn delimiter(&self) -> char {
        match self {
            Self::Scalar(scalar, _) => scalar.delimiter,
            _ => ',',
        }
    }

    /// False for types without an operator of equality.
    pub fn is_comparable(&self) -> bool {
        match self {
            Self::Json | Self::Jsonpath | Self::Void => false,
            Self::Scalar(scalar, _) => !matches!(scalar.order, Order::None),
            _ => true,
        }
    }

    /// False for types without an order.
    pub fn is_ordered(&self) -> bool {
        let fields = self.row_fields().unwrap_or_default();
        self.is_comparable()
            && !matches!(self, Self::Scalar(Scalar { order: Order::Unordered, .. }, _))
            && fields.iter().all(|field| field.dropped || field.ty.is_ordered())
    }

    /// Types whose values are numbers.
    pub fn is_number(&self) -> bool {
        matches!(
            self.through_domains(),
            Self::Int2
                | Self::Int4
                | Self::Int8
                | Self::IfxInt8
                | Self::Float4
                | Self::Float8
                | Self::Numeric(_)
                | Self::FloatingDecimal(_)
                | Self::Money(_)
        )
    }

    /// Types of whole numbers (not `oid`).
    pub fn is_integer(&self) -> bool {
        matches!(self.through_domains(), Self::Int2 | Self::Int4 | Self::Int8 | Self::IfxInt8)
    }

    /// Exact decimals.
    pub fn is_decimal(&self) -> bool {
        matches!(self.through_domains(), Self::Numeric(_) | Self::FloatingDecimal(_) | Self::Money(_))
    }

    /// Types whose values are text to the user.
    pub fn is_text(&self) -> bool {
        matches!(
            self.through_domains(),
            Self::Text
                | Self::Varchar(_)
                | Self::Char(_)
                | Self::Lvarchar(_)
                | Self::Nchar(_)
                | Self::Nvarchar(_)
                | Self::Name
                | Self::TextBlob
                | Self::Clob
                | Self::InternalChar
        )
    }
}

impl Field {
    /// The field's keyword, without a fraction's digits.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Year => "YEAR",
            Self::Month => "MONTH",
            Self::Day => "DAY",
            Self::Hour => "HOUR",
            Self::Minute => "MINUTE",
            Self::Second => "SECOND",
            Self::Fraction(_) => "FRACTION",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fraction(digits) => write!(f, "FRACTION({digits})"),
            field => f.write_str(field.keyword()),
        }
    }
}
