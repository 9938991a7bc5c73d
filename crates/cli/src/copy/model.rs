//! Tables in words that belong to no kind of database.

use std::fmt;

/// The kinds of databases.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// A SQLite file, asked in PostgreSQL's SQL.
    Sqlite,
    /// A server that speaks PostgreSQL's protocol.
    Postgres,
    /// MySQL or MariaDB.
    MySql,
    /// A server that speaks Informix's protocol.
    Informix,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::MySql => "MySQL",
            Self::Informix => "Informix",
        }
    }

    /// True when the one knows the types of the other by their own names.
    pub(super) fn is_kin(self, other: Self) -> bool {
        let postgres = |kind| matches!(kind, Self::Sqlite | Self::Postgres);
        self == other || postgres(self) && postgres(other)
    }
}

/// What a column holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Type {
    Bool,
    /// Of so many bytes: 2, 4 or 8.
    Int(u8),
    /// With digits in all and behind the point, or of any size.
    Decimal(Option<(u32, u32)>),
    Float4,
    Float8,
    /// Blanks at its end mean nothing.
    Char(u32),
    VarChar(u32),
    Text,
    Bytes,
    Date,
    /// With so many digits of fractions of a second, as the next two.
    Time(u8),
    Timestamp(u8),
    /// A moment: in UTC while it travels.
    TimestampTz(u8),
    Uuid,
    Json,
    /// What only its own kind knows; elsewhere it is the text that its server shows.
    Own,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("boolean"),
            Self::Int(bytes) => write!(f, "integer of {bytes} bytes"),
            Self::Decimal(None) => f.write_str("decimal"),
            Self::Decimal(Some((precision, scale))) => write!(f, "decimal({precision},{scale})"),
            Self::Float4 => f.write_str("float of 4 bytes"),
            Self::Float8 => f.write_str("float of 8 bytes"),
            Self::Char(length) => write!(f, "char({length})"),
            Self::VarChar(length) => write!(f, "varchar({length})"),
            Self::Text => f.write_str("text"),
            Self::Bytes => f.write_str("bytes"),
            Self::Date => f.write_str("date"),
            Self::Time(digits) => write!(f, "time({digits})"),
            Self::Timestamp(digits) => write!(f, "timestamp({digits})"),
            Self::TimestampTz(digits) => write!(f, "timestamp({digits}) with time zone"),
            Self::Uuid => f.write_str("uuid"),
            Self::Json => f.write_str("json"),
            Self::Own => f.write_str("text of its own kind"),
        }
    }
}

/// What a column is when an INSERT does not say.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Default {
    /// The next number of the column's own.
    Identity,
    /// The moment.
    Now,
    /// The day.
    Today,
    Number(String),
    Text(String),
    Bool(bool),
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: String,
    pub ty: Type,
    /// The type in the words of its own kind; empty where only its own database knows it.
    pub words: String,
    pub not_null: bool,
    pub default: Option<Default>,
}

/// Columns by their places in the table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Key {
    pub name: String,
    pub columns: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Index {
    pub name: String,
    /// True for what counts down.
    pub columns: Vec<(usize, bool)>,
    pub unique: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ForeignKey {
    pub name: String,
    pub columns: Vec<usize>,
    pub target: String,
    pub target_columns: Vec<String>,
    /// `CASCADE`, `SET NULL`, `RESTRICT`, `SET DEFAULT`; empty for none.
    pub on_delete: String,
    pub on_update: String,
}

#[derive(Clone, Debug)]
pub(super) struct Check {
    pub name: String,
    /// In the words of its own kind.
    pub words: String,
}

#[derive(Clone, Debug, std::default::Default)]
pub(super) struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    pub primary: Option<Key>,
    pub uniques: Vec<Key>,
    pub indexes: Vec<Index>,
    pub foreign: Vec<ForeignKey>,
    pub checks: Vec<Check>,
    /// What of it is not copied, in words.
    pub left_out: Vec<String>,
    /// Others inherit from it in PostgreSQL: their rows are theirs.
    pub has_heirs: bool,
    /// Why it cannot be copied at all.
    pub refused: Option<String>,
}

impl Table {
    pub(super) fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|known| known.name == column)
    }

    /// The names of the columns at these places.
    pub(super) fn names(&self, places: &[usize]) -> Vec<&str> {
        places.iter().filter_map(|&at| self.columns.get(at)).map(|column| column.name.as_str()).collect()
    }

    /// The columns by which rows can be told apart and put in order, both without doubt; nothing where there are none.
    pub(super) fn walk(&self) -> Option<&[usize]> {
        let key = self.primary.as_ref()?;
        let walks = |ty: &Type| !matches!(ty, Type::Float4 | Type::Float8 | Type::Json | Type::Own);
        key.columns.iter().all(|&at| walks(&self.columns[at].ty)).then_some(&key.columns)
    }
}

/// A database's tables, and the names of what is beside them.
#[derive(Clone, Debug, std::default::Default)]
pub(super) struct Schema {
    pub tables: Vec<Table>,
    /// Views, routines, sequences: kind and name.
    pub others: Vec<(String, String)>,
}
