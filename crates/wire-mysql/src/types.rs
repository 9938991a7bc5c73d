//! The type-code table, and what the flags of a column say.

use rowferry_wire::open_enum;

open_enum! {
    /// The type code of a column or parameter.
    pub struct ColumnType(u8) {
        /// Exact number as text, before MySQL 5.
        DECIMAL = 0x00,
        /// 8-bit integer.
        TINY = 0x01,
        /// 16-bit integer.
        SHORT = 0x02,
        /// 32-bit integer.
        LONG = 0x03,
        /// IEEE single.
        FLOAT = 0x04,
        /// IEEE double.
        DOUBLE = 0x05,
        /// Only NULL.
        NULL = 0x06,
        /// Date and time, in UTC on the server.
        TIMESTAMP = 0x07,
        /// 64-bit integer.
        LONGLONG = 0x08,
        /// 24-bit integer, sent as 32.
        INT24 = 0x09,
        /// Date.
        DATE = 0x0a,
        /// Duration of up to ±838:59:59.
        TIME = 0x0b,
        /// Date and time.
        DATETIME = 0x0c,
        /// Year, 0 or 1901 to 2155.
        YEAR = 0x0d,
        /// Date, in an older storage form.
        NEWDATE = 0x0e,
        /// Text or bytes.
        VARCHAR = 0x0f,
        /// Up to 64 bits, most significant first.
        BIT = 0x10,
        /// Storage form, never on the wire of a client.
        TIMESTAMP2 = 0x11,
        /// Storage form, never on the wire of a client.
        DATETIME2 = 0x12,
        /// Storage form, never on the wire of a client.
        TIME2 = 0x13,
        /// Numbers as IEEE singles, MySQL 9.
        VECTOR = 0xf2,
        /// True or false; as a parameter only.
        BOOL = 0xf4,
        /// JSON text.
        JSON = 0xf5,
        /// Exact number as text.
        NEWDECIMAL = 0xf6,
        /// One of a list.
        ENUM = 0xf7,
        /// Some of a list.
        SET = 0xf8,
        /// Text or bytes up to 255.
        TINY_BLOB = 0xf9,
        /// Text or bytes up to 16 MiB.
        MEDIUM_BLOB = 0xfa,
        /// Text or bytes up to 4 GiB.
        LONG_BLOB = 0xfb,
        /// Text or bytes up to 64 KiB.
        BLOB = 0xfc,
        /// Text or bytes of varying length.
        VAR_STRING = 0xfd,
        /// Text or bytes of fixed length.
        STRING = 0xfe,
        /// Well-known binary behind four bytes of reference system.
        GEOMETRY = 0xff,
    }
}

/// How the binary protocol sends a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BinaryForm {
    /// So many bytes, little endian.
    Fixed(usize),
    /// A length byte, then that many bytes of date or time.
    Temporal,
    /// Length-encoded bytes.
    Bytes,
    /// Nothing.
    Nothing,
}

impl ColumnType {
    /// How the binary protocol sends this type; `None` for codes that no server sends to a client.
    pub const fn binary_form(self) -> Option<BinaryForm> {
        Some(match self {
            Self::TINY | Self::BOOL => BinaryForm::Fixed(1),
            Self::SHORT | Self::YEAR => BinaryForm::Fixed(2),
            Self::LONG | Self::INT24 | Self::FLOAT => BinaryForm::Fixed(4),
            Self::LONGLONG | Self::DOUBLE => BinaryForm::Fixed(8),
            Self::TIMESTAMP | Self::DATE | Self::DATETIME | Self::TIME | Self::NEWDATE => BinaryForm::Temporal,
            Self::NULL => BinaryForm::Nothing,
            Self::DECIMAL
            | Self::VARCHAR
            | Self::BIT
            | Self::VECTOR
            | Self::JSON
            | Self::NEWDECIMAL
            | Self::ENUM
            | Self::SET
            | Self::TINY_BLOB
            | Self::MEDIUM_BLOB
            | Self::LONG_BLOB
            | Self::BLOB
            | Self::VAR_STRING
            | Self::STRING
            | Self::GEOMETRY => BinaryForm::Bytes,
            _ => return None,
        })
    }
}

/// Flags of a column definition.
pub mod column_flag {
    /// Never NULL.
    pub const NOT_NULL: u16 = 0x0001;
    /// Part of the primary key.
    pub const PRIMARY_KEY: u16 = 0x0002;
    /// Part of a unique key.
    pub const UNIQUE_KEY: u16 = 0x0004;
    /// Part of a key that is not unique.
    pub const MULTIPLE_KEY: u16 = 0x0008;
    /// A BLOB or TEXT type.
    pub const BLOB: u16 = 0x0010;
    /// No sign.
    pub const UNSIGNED: u16 = 0x0020;
    /// Padded with zeros when sent as text.
    pub const ZEROFILL: u16 = 0x0040;
    /// Bytes, or text of a binary collation.
    pub const BINARY: u16 = 0x0080;
    /// An ENUM, whatever the type code says.
    pub const ENUM: u16 = 0x0100;
    /// Numbered by the server.
    pub const AUTO_INCREMENT: u16 = 0x0200;
    /// A TIMESTAMP that is set by itself.
    pub const TIMESTAMP: u16 = 0x0400;
    /// A SET, whatever the type code says.
    pub const SET: u16 = 0x0800;
    /// No default value.
    pub const NO_DEFAULT_VALUE: u16 = 0x1000;
    /// Part of a key, of whichever kind.
    pub const PART_KEY: u16 = 0x4000;
}

/// The number of the `binary` character set: bytes, not text.
pub const CHARSET_BINARY: u16 = 63;
