//! One table: what MySQL's clients are told of each type, and how its values are sent.

use rowferry_engine::Type;
use rowferry_wire_mysql::types::{CHARSET_BINARY, ColumnType, column_flag};

/// Where MySQL's own types lie.
const SCHEMA: &str = "mysql";
/// `utf8mb4_0900_ai_ci`.
const UTF8: u16 = 255;
/// Bytes of a character at most.
const WIDTH: u32 = 4;
/// Digits behind the point that are not fixed.
const FLOATING: u8 = 31;
/// The length of LONGTEXT, LONGBLOB and JSON.
const LONGEST: u32 = u32::MAX;

/// How values are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::mysql) enum Form {
    /// 1 or 0.
    Bool,
    /// An integer of so many bytes in binary.
    Int {
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Texts are padded with zeros to so many digits; 0 for none.
        fill: u8,
    },
    /// Four digits; two bytes in binary.
    Year,
    /// Up to 64 bits, as so many bytes.
    Bits(u8),
    /// IEEE single.
    Float,
    /// IEEE double.
    Double,
    /// IEEE single or double whose text has so many digits behind the point.
    Fixed {
        /// How many.
        digits: u8,
        /// Four bytes in binary.
        single: bool,
    },
    /// Exact number, as text.
    Decimal,
    /// Text as it is stored.
    Text,
    /// A document in MySQL's normal form.
    Document,
    /// Bytes as they are stored.
    Bytes,
    /// `YYYY-MM-DD`.
    Date,
    /// `±HHH:MM:SS`, with so many digits behind the point.
    Time(Option<u8>),
    /// Date and time, likewise.
    DateTime(Option<u8>),
    /// An instant, told in the session's zone.
    Instant(Option<u8>),
    /// Whatever text the value has.
    Shown,
}

/// What a client is told of a type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::mysql) struct WireType {
    pub(in crate::mysql) column_type: ColumnType,
    pub(in crate::mysql) flags: u16,
    pub(in crate::mysql) charset: u16,
    pub(in crate::mysql) length: u32,
    pub(in crate::mysql) decimals: u8,
    pub(in crate::mysql) form: Form,
}

impl WireType {
    const fn number(column_type: ColumnType, length: u32, form: Form) -> Self {
        Self { column_type, flags: 0, charset: CHARSET_BINARY, length, decimals: 0, form }
    }

    const fn text(column_type: ColumnType, flags: u16, length: u32) -> Self {
        Self { column_type, flags, charset: UTF8, length, decimals: 0, form: Form::Text }
    }

    const fn bytes(column_type: ColumnType, flags: u16, length: u32) -> Self {
        let flags = flags | column_flag::BINARY;
        Self { column_type, flags, charset: CHARSET_BINARY, length, decimals: 0, form: Form::Bytes }
    }

    fn int(bytes: u8, digits: u32) -> Self {
        let column_type = match bytes {
            1 => ColumnType::TINY,
            2 => ColumnType::SHORT,
            4 => ColumnType::LONG,
            _ => ColumnType::LONGLONG,
        };
        Self::number(column_type, digits, Form::Int { bytes, fill: 0 })
    }

    fn temporal(column_type: ColumnType, length: u32, digits: Option<u8>, form: Form) -> Self {
        let shown = digits.unwrap_or(6);
        let length = length + if shown > 0 { 1 + u32::from(shown) } else { 0 };
        let flags = column_flag::BINARY;
        Self { column_type, flags, charset: CHARSET_BINARY, length, decimals: shown, form }
    }

    /// For a column of this type; `is_stored` where it is a table's.
    pub(in crate::mysql) fn of(ty: &Type, is_stored: bool) -> Self {
        if let Type::User(user) = ty
            && user.domain().is_some()
        {
            // Domains of this schema are MySQL's own types, under MySQL's own words for them.
            let named = if user.namespace == SCHEMA { Self::of_words(&user.name) } else { None };
            let Some(named) = named else { return Self::of(ty.through_domains(), is_stored) };
            return match (named.form, ty.through_domains()) {
                // Its values lie as what the clocks have shown.
                (Form::Instant(digits), Type::Timestamp(_)) => Self { form: Form::DateTime(digits), ..named },
                _ => named,
            };
        }
        match ty {
            Type::Bool if is_stored => Self::number(ColumnType::TINY, 1, Form::Bool),
            // What a condition is.
            Type::Bool => Self { length: 1, ..Self::int(8, 1) },
            Type::Int2 => Self::int(2, 6),
            Type::Int4 => Self::int(4, 11),
            Type::Int8 | Type::IfxInt8 | Type::Oid => Self::int(8, 20),
            Type::Float4 => Self { decimals: FLOATING, ..Self::number(ColumnType::FLOAT, 12, Form::Float) },
            Type::Float8 => Self { decimals: FLOATING, ..Self::number(ColumnType::DOUBLE, 22, Form::Double) },
            Type::Numeric(Some(modifier)) | Type::Money(modifier) => {
                let scale = u8::try_from(modifier.scale).unwrap_or(0);
                Self::decimal(u32::from(modifier.precision), scale)
            }
            Type::Numeric(None) | Type::FloatingDecimal(_) => {
                Self { decimals: FLOATING, ..Self::number(ColumnType::NEWDECIMAL, 67, Form::Decimal) }
            }
            Type::Varchar(Some(length)) | Type::Lvarchar(length) | Type::Nvarchar(length) => {
                Self::text(ColumnType::VAR_STRING, 0, length.saturating_mul(WIDTH))
            }
            Type::Char(length) | Type::Nchar(length) => Self::text(ColumnType::STRING, 0, length.saturating_mul(WIDTH)),
            Type::Text | Type::Varchar(None) | Type::TextBlob | Type::Clob if is_stored => {
                Self::text(ColumnType::BLOB, column_flag::BLOB, 65_535 * WIDTH)
            }
            Type::Bytea if !is_stored => Self::bytes(ColumnType::VAR_STRING, 0, 65_535),
            Type::Bytea | Type::Byte | Type::Blob => Self::bytes(ColumnType::BLOB, column_flag::BLOB, 65_535),
            Type::Date => Self::temporal(ColumnType::DATE, 10, Some(0), Form::Date),
            Type::Time(digits) => Self::temporal(ColumnType::TIME, 10, *digits, Form::Time(*digits)),
            // What is worked out; a column of others may be months.
            Type::Interval(_) if !is_stored => Self::temporal(ColumnType::TIME, 10, None, Form::Time(None)),
            Type::Timestamp(digits) => Self::temporal(ColumnType::DATETIME, 19, *digits, Form::DateTime(*digits)),
            Type::TimestampTz(digits) => Self::temporal(ColumnType::TIMESTAMP, 19, *digits, Form::Instant(*digits)),
            Type::Json | Type::Jsonb => Self {
                charset: if is_stored { CHARSET_BINARY } else { UTF8 },
                form: Form::Document,
                ..Self::text(ColumnType::JSON, column_flag::BLOB | column_flag::BINARY, LONGEST)
            },
            // NULL that is written.
            Type::Unknown => Self::number(ColumnType::NULL, 0, Form::Text),
            Type::Uuid => Self::text(ColumnType::STRING, 0, 36 * WIDTH),
            Type::Text | Type::Varchar(None) | Type::TextBlob | Type::Clob => {
                Self::text(ColumnType::VAR_STRING, 0, 65_535)
            }
            _ => Self { form: Form::Shown, ..Self::text(ColumnType::VAR_STRING, 0, 65_535) },
        }
    }

    fn decimal(precision: u32, scale: u8) -> Self {
        let length = precision + 1 + u32::from(scale > 0);
        Self { decimals: scale, ..Self::number(ColumnType::NEWDECIMAL, length, Form::Decimal) }
    }

    /// For MySQL's own words for a type: `tinyint(1)`, `int unsigned`, `enum('a','b')`.
    fn of_words(words: &str) -> Option<Self> {
        let (head, arguments, tail) = split(words);
        let has = |word: &str| tail.split_ascii_whitespace().any(|found| found.eq_ignore_ascii_case(word));
        let (unsigned, zerofill) = (has("unsigned") || has("zerofill"), has("zerofill"));
        let first = || arguments.split(',').next().and_then(|number| number.trim().parse::<u32>().ok());
        let digits = || first().and_then(|digits| u8::try_from(digits).ok()).unwrap_or(0);
        let integer = |bytes, signed: u32, plain: u32| {
            let mut ty = Self::int(bytes, first().unwrap_or(if unsigned { plain } else { signed }));
            if unsigned {
                ty.flags |= column_flag::UNSIGNED;
            }
            if zerofill {
                ty.flags |= column_flag::ZEROFILL;
                ty.form = Form::Int { bytes, fill: u8::try_from(ty.length).unwrap_or(0) };
            }
            ty
        };
        let signless = |ty: Self| if unsigned { Self { flags: ty.flags | column_flag::UNSIGNED, ..ty } } else { ty };
        let texts = |length: u32| Self::text(ColumnType::BLOB, column_flag::BLOB, length.saturating_mul(WIDTH));
        let blob = |length: u32| Self::bytes(ColumnType::BLOB, column_flag::BLOB, length);
        Some(match head.to_ascii_lowercase().as_str() {
            "bool" | "boolean" => integer(1, 1, 1),
            "tinyint" => integer(1, 4, 3),
            "smallint" => integer(2, 6, 5),
            "mediumint" => Self { column_type: ColumnType::INT24, ..integer(4, 9, 8) },
            "int" | "integer" => integer(4, 11, 10),
            "bigint" => integer(8, 20, 20),
            "year" => Self {
                flags: column_flag::UNSIGNED | column_flag::ZEROFILL,
                ..Self::number(ColumnType::YEAR, 4, Form::Year)
            },
            "bit" => {
                let bits = first().unwrap_or(1).clamp(1, 64);
                let form = Form::Bits(bits.div_ceil(8) as u8);
                Self { flags: column_flag::UNSIGNED, ..Self::number(ColumnType::BIT, bits, form) }
            }
            "float" | "double" if !arguments.is_empty() => {
                let mut numbers = arguments.split(',').map(|number| number.trim().parse::<u8>().unwrap_or(0));
                let (length, digits) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
                let single = head.eq_ignore_ascii_case("float");
                let column_type = if single { ColumnType::FLOAT } else { ColumnType::DOUBLE };
                let form = Form::Fixed { digits, single };
                signless(Self { decimals: digits, ..Self::number(column_type, length.into(), form) })
            }
            "float" => signless(Self { decimals: FLOATING, ..Self::number(ColumnType::FLOAT, 12, Form::Float) }),
            "double" | "real" => {
                signless(Self { decimals: FLOATING, ..Self::number(ColumnType::DOUBLE, 22, Form::Double) })
            }
            "decimal" | "numeric" => {
                let mut numbers = arguments.split(',').map(|number| number.trim().parse::<u8>().unwrap_or(0));
                let precision = numbers.next().filter(|precision| *precision > 0).unwrap_or(10);
                let mut ty = signless(Self::decimal(u32::from(precision), numbers.next().unwrap_or(0)));
                if unsigned {
                    ty.length -= 1;
                }
                ty
            }
            "char" => Self::text(ColumnType::STRING, 0, first().unwrap_or(1).saturating_mul(WIDTH)),
            "varchar" => Self::text(ColumnType::VAR_STRING, 0, first().unwrap_or(0).saturating_mul(WIDTH)),
            "binary" => Self::bytes(ColumnType::STRING, 0, first().unwrap_or(1)),
            "varbinary" => Self::bytes(ColumnType::VAR_STRING, 0, first().unwrap_or(0)),
            "tinytext" => texts(255),
            "text" => texts(65_535),
            "mediumtext" => texts(16_777_215),
            "longtext" => texts(LONGEST),
            "tinyblob" => blob(255),
            "blob" => blob(65_535),
            "mediumblob" => blob(16_777_215),
            "longblob" => blob(LONGEST),
            "json" => Self::of(&Type::Json, true),
            "date" => Self::of(&Type::Date, true),
            "time" => Self::of(&Type::Time(Some(digits())), true),
            "datetime" => Self::of(&Type::Timestamp(Some(digits())), true),
            "timestamp" => Self::of(&Type::TimestampTz(Some(digits())), true),
            "enum" => {
                let longest = labels(arguments).map(|label| label.chars().count()).max().unwrap_or(0);
                Self::text(ColumnType::STRING, column_flag::ENUM, longest as u32 * WIDTH)
            }
            "set" => {
                let (mut all, mut count) = (0, 0);
                for label in labels(arguments) {
                    all += label.chars().count();
                    count += 1;
                }
                let commas = usize::max(count, 1) - 1;
                Self::text(ColumnType::STRING, column_flag::SET, (all + commas) as u32 * WIDTH)
            }
            _ => return None,
        })
    }
}

/// `head(arguments) tail`.
fn split(words: &str) -> (&str, &str, &str) {
    let words = words.trim();
    match words.split_once('(') {
        Some((head, rest)) => {
            let (arguments, tail) = rest.rsplit_once(')').unwrap_or((rest, ""));
            (head.trim(), arguments, tail)
        }
        None => {
            let (head, tail) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
            (head, "", tail)
        }
    }
}

/// The labels of `'a','it''s'`.
fn labels(list: &str) -> impl Iterator<Item = String> {
    let mut letters = list.chars().peekable();
    std::iter::from_fn(move || {
        while letters.next()? != '\'' {}
        let mut label = String::new();
        loop {
            match letters.next()? {
                '\'' if letters.next_if_eq(&'\'').is_some() => label.push('\''),
                '\'' => return Some(label),
                letter => label.push(letter),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mysqls_words_say_what_a_client_is_told() {
        let told = |words: &str| {
            let ty = WireType::of_words(words).unwrap_or_else(|| panic!("{words}"));
            (ty.column_type, ty.flags, ty.length, ty.decimals)
        };
        use column_flag::*;
        for (words, expected) in [
            ("tinyint(1)", (ColumnType::TINY, 0, 1, 0)),
            ("tinyint", (ColumnType::TINY, 0, 4, 0)),
            ("int", (ColumnType::LONG, 0, 11, 0)),
            ("int unsigned", (ColumnType::LONG, UNSIGNED, 10, 0)),
            ("int(5) unsigned zerofill", (ColumnType::LONG, UNSIGNED | ZEROFILL, 5, 0)),
            ("mediumint", (ColumnType::INT24, 0, 9, 0)),
            ("bigint unsigned", (ColumnType::LONGLONG, UNSIGNED, 20, 0)),
            ("year", (ColumnType::YEAR, UNSIGNED | ZEROFILL, 4, 0)),
            ("bit(9)", (ColumnType::BIT, UNSIGNED, 9, 0)),
            ("decimal(10,2)", (ColumnType::NEWDECIMAL, 0, 12, 2)),
            ("decimal(10,2) unsigned", (ColumnType::NEWDECIMAL, UNSIGNED, 11, 2)),
            ("varchar(20)", (ColumnType::VAR_STRING, 0, 80, 0)),
            ("varbinary(20)", (ColumnType::VAR_STRING, BINARY, 20, 0)),
            ("text", (ColumnType::BLOB, BLOB, 262_140, 0)),
            ("mediumtext", (ColumnType::BLOB, BLOB, 67_108_860, 0)),
            ("longblob", (ColumnType::BLOB, BLOB | BINARY, u32::MAX, 0)),
            ("datetime(6)", (ColumnType::DATETIME, BINARY, 26, 6)),
            ("datetime", (ColumnType::DATETIME, BINARY, 19, 0)),
            ("timestamp", (ColumnType::TIMESTAMP, BINARY, 19, 0)),
            ("enum('a','it''s')", (ColumnType::STRING, ENUM, 16, 0)),
            ("set('a','bc','(')", (ColumnType::STRING, SET, 24, 0)),
        ] {
            assert_eq!(told(words), expected, "{words}");
        }
        assert_eq!(WireType::of_words("money"), None);
    }

    #[test]
    fn types_without_a_relative_are_texts() {
        let ty = WireType::of(&Type::Interval(None), true);
        assert_eq!((ty.column_type, ty.form, ty.charset), (ColumnType::VAR_STRING, Form::Shown, UTF8));
        assert_eq!(WireType::of(&Type::Text, true).column_type, ColumnType::BLOB);
        assert_eq!(WireType::of(&Type::Text, false).column_type, ColumnType::VAR_STRING);
    }
}
