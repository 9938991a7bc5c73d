//! Type codes, qualifiers and statement types.

rowferry_wire::open_enum! {
    /// The low byte of a described type, or the type of a parameter.
    pub struct TypeCode(u8) {
        /// `CHAR(n)`, blank padded; every string parameter.
        CHAR = 0,
        /// `SMALLINT`.
        SMALLINT = 1,
        /// `INTEGER`.
        INTEGER = 2,
        /// `FLOAT`.
        FLOAT = 3,
        /// `SMALLFLOAT`.
        SMALLFLOAT = 4,
        /// `DECIMAL`.
        DECIMAL = 5,
        /// `SERIAL`.
        SERIAL = 6,
        /// `DATE`.
        DATE = 7,
        /// `MONEY`.
        MONEY = 8,
        /// No type.
        NULL = 9,
        /// `DATETIME`.
        DATETIME = 10,
        /// `BYTE`.
        BYTE = 11,
        /// `TEXT`.
        TEXT = 12,
        /// `VARCHAR`.
        VARCHAR = 13,
        /// `INTERVAL`.
        INTERVAL = 14,
        /// `NCHAR`.
        NCHAR = 15,
        /// `NVARCHAR`.
        NVARCHAR = 16,
        /// `INT8`.
        INT8 = 17,
        /// `SERIAL8`.
        SERIAL8 = 18,
        /// `SET`.
        SET = 19,
        /// `MULTISET`.
        MULTISET = 20,
        /// `LIST`.
        LIST = 21,
        /// `ROW`.
        ROW = 22,
        /// `COLLECTION`.
        COLLECTION = 23,
        /// Reference to a row.
        ROWREF = 24,
        /// Opaque of variable length: `lvarchar`, `json`, `bson`, user types.
        UDTVAR = 40,
        /// Opaque of fixed length: `boolean`, `blob`, `clob`, user types.
        UDTFIXED = 41,
        /// Reference to a smart large object.
        REFSER8 = 42,
        /// `LVARCHAR`, in parameters and requested rows.
        LVARCHAR = 43,
        /// An opaque value in its internal form, in parameters and requested rows.
        SENDRECV = 44,
        /// `BOOLEAN`, in parameters and requested rows.
        BOOLEAN = 45,
        /// `BIGINT`.
        BIGINT = 52,
        /// `BIGSERIAL`.
        BIGSERIAL = 53,
    }
}

impl TypeCode {
    /// True when an owner and a name follow the code in `SQ_BIND` and `SQ_RET_TYPE`, even empty ones.
    pub const fn is_named(self) -> bool {
        self.0 > 18 && self.0 != 52 && self.0 != 53
    }
}

/// Flags in the high byte of a described type.
pub mod type_flag {
    /// The column is `NOT NULL`.
    pub const NOT_NULL: u16 = 0x0100;
    /// A `DISTINCT` type.
    pub const DISTINCT: u16 = 0x0800;
    /// A named `ROW`.
    pub const NAMED_ROW: u16 = 0x1000;
    /// A `DISTINCT` type over `BOOLEAN`.
    pub const DISTINCT_BOOLEAN: u16 = 0x4000;
    /// A collection at the client.
    pub const CLIENT_COLLECTION: u16 = 0x8000;
}

rowferry_wire::open_enum! {
    /// What a statement is, by the server's word. Clients decide by it, never by the SQL text.
    pub struct StatementType(u16) {
        /// `DATABASE`.
        DATABASE = 1,
        /// `SELECT`.
        SELECT = 2,
        /// `SELECT … INTO TEMP`.
        SELECT_INTO_TEMP = 3,
        /// `UPDATE … WHERE`.
        UPDATE_WHERE = 4,
        /// `DELETE … WHERE`.
        DELETE_WHERE = 5,
        /// `INSERT`.
        INSERT = 6,
        /// `UPDATE … WHERE CURRENT OF`.
        UPDATE_CURRENT = 7,
        /// `DELETE … WHERE CURRENT OF`.
        DELETE_CURRENT = 8,
        /// `LOCK TABLE`.
        LOCK_TABLE = 10,
        /// `UNLOCK TABLE`.
        UNLOCK_TABLE = 11,
        /// `CREATE DATABASE`.
        CREATE_DATABASE = 12,
        /// `DROP DATABASE`.
        DROP_DATABASE = 13,
        /// `CREATE TABLE`.
        CREATE_TABLE = 14,
        /// `DROP TABLE`.
        DROP_TABLE = 15,
        /// `CREATE INDEX`.
        CREATE_INDEX = 16,
        /// `DROP INDEX`.
        DROP_INDEX = 17,
        /// `GRANT`.
        GRANT = 18,
        /// `REVOKE`.
        REVOKE = 19,
        /// `RENAME TABLE`.
        RENAME_TABLE = 20,
        /// `RENAME COLUMN`.
        RENAME_COLUMN = 21,
        /// `ALTER TABLE`.
        ALTER_TABLE = 29,
        /// `UPDATE STATISTICS`.
        UPDATE_STATISTICS = 30,
        /// `CLOSE DATABASE`.
        CLOSE_DATABASE = 31,
        /// `DELETE` without `WHERE`.
        DELETE_ALL = 32,
        /// `UPDATE` without `WHERE`.
        UPDATE_ALL = 33,
        /// `BEGIN WORK`.
        BEGIN_WORK = 34,
        /// `COMMIT WORK`.
        COMMIT_WORK = 35,
        /// `ROLLBACK WORK`.
        ROLLBACK_WORK = 36,
        /// `SAVEPOINT`.
        SAVEPOINT = 37,
        /// `CREATE VIEW`.
        CREATE_VIEW = 40,
        /// `DROP VIEW`.
        DROP_VIEW = 41,
        /// `CREATE SYNONYM`.
        CREATE_SYNONYM = 43,
        /// `DROP SYNONYM`.
        DROP_SYNONYM = 44,
        /// `CREATE TEMP TABLE`.
        CREATE_TEMP_TABLE = 45,
        /// `SET LOCK MODE`.
        SET_LOCK_MODE = 46,
        /// `ALTER INDEX`.
        ALTER_INDEX = 47,
        /// `SET ISOLATION`, `SET TRANSACTION`.
        SET_ISOLATION = 48,
        /// `SET LOG`.
        SET_LOG = 49,
        /// `SET EXPLAIN`.
        SET_EXPLAIN = 50,
        /// `CREATE SCHEMA`.
        CREATE_SCHEMA = 51,
        /// `SET OPTIMIZATION`.
        SET_OPTIMIZATION = 52,
        /// `CREATE PROCEDURE`, `CREATE FUNCTION`.
        CREATE_PROCEDURE = 53,
        /// `DROP PROCEDURE`.
        DROP_PROCEDURE = 54,
        /// `SET CONSTRAINTS`.
        SET_CONSTRAINTS = 55,
        /// `EXECUTE PROCEDURE`, `EXECUTE FUNCTION`.
        EXECUTE_PROCEDURE = 56,
    }
}

impl StatementType {
    /// True when a cursor must be opened: a query, or a routine that returns `fields` values.
    pub const fn needs_cursor(self, fields: usize) -> bool {
        self.0 == Self::SELECT.0 || (self.0 == Self::EXECUTE_PROCEDURE.0 && fields > 0)
    }
}

rowferry_wire::open_enum! {
    /// A field of `DATETIME` and `INTERVAL` qualifiers. `FRACTION(n)` ends at `10 + n`.
    pub struct TimeUnit(u8) {
        /// `YEAR`.
        YEAR = 0,
        /// `MONTH`.
        MONTH = 2,
        /// `DAY`.
        DAY = 4,
        /// `HOUR`.
        HOUR = 6,
        /// `MINUTE`.
        MINUTE = 8,
        /// `SECOND`.
        SECOND = 10,
        /// `FRACTION`, as the first field; as the last, `FRACTION(2)`.
        FRACTION = 12,
    }
}

/// The encoded length of a `DATETIME` or `INTERVAL`: digits, first and last field.
///
/// ```
/// use rowferry_wire_sqli::{Qualifier, types::TimeUnit};
/// assert_eq!(Qualifier::datetime(TimeUnit::YEAR, TimeUnit::SECOND), Qualifier::YEAR_TO_SECOND);
/// assert_eq!(Qualifier::YEAR_TO_SECOND.0, 0x0e0a);
/// assert_eq!(Qualifier::YEAR_TO_SECOND.width(), 8);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Qualifier(pub u16);

impl Qualifier {
    /// `DATETIME YEAR TO SECOND`.
    pub const YEAR_TO_SECOND: Self = Self(0x0e0a);
    /// `DATETIME YEAR TO FRACTION(5)`.
    pub const YEAR_TO_FRACTION5: Self = Self(0x130f);
    /// `DATETIME HOUR TO SECOND`.
    pub const HOUR_TO_SECOND: Self = Self(0x066a);
    /// `DATETIME HOUR TO FRACTION(5)`.
    pub const HOUR_TO_FRACTION5: Self = Self(0x0b6f);
    /// `INTERVAL DAY(9) TO FRACTION(5)`.
    pub const DAY9_TO_FRACTION5: Self = Self(0x144f);
    /// `INTERVAL YEAR(9) TO MONTH`.
    pub const YEAR9_TO_MONTH: Self = Self(0x0b02);

    /// The qualifier of a `DATETIME`; a fraction of n digits ends at `TimeUnit(10 + n)`.
    pub const fn datetime(first: TimeUnit, last: TimeUnit) -> Self {
        let digits = if first.0 >= 12 { last.0 - 10 } else { (if first.0 == 0 { 4 } else { 2 }) + last.0 - first.0 };
        Self(((digits as u16) << 8) | ((first.0 as u16) << 4) | last.0 as u16)
    }

    /// The qualifier of an `INTERVAL` whose first field has `precision` digits.
    pub const fn interval(first: TimeUnit, precision: u8, last: TimeUnit) -> Self {
        let digits = if first.0 >= 12 { last.0 - 10 } else { precision + last.0 - first.0 };
        Self(((digits as u16) << 8) | ((first.0 as u16) << 4) | last.0 as u16)
    }

    /// Decimal digits of the value.
    pub const fn digits(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// The largest field.
    pub const fn first(self) -> TimeUnit {
        TimeUnit(((self.0 >> 4) & 0x0f) as u8)
    }

    /// The smallest field.
    pub const fn last(self) -> TimeUnit {
        TimeUnit((self.0 & 0x0f) as u8)
    }

    /// Digits of the fraction, 0 to 5.
    pub const fn fraction_digits(self) -> u8 {
        self.last().0.saturating_sub(10)
    }

    /// Digits of the first field.
    pub const fn first_digits(self) -> u8 {
        if self.first().0 >= 12 {
            self.fraction_digits()
        } else {
            self.digits().saturating_sub(self.last().0.saturating_sub(self.first().0))
        }
    }

    /// True when both fields exist and the first is not smaller than the last.
    pub const fn is_valid(self) -> bool {
        let (first, last) = (self.first().0, self.last().0);
        first <= 12
            && first % 2 == 0
            && last <= 15
            && (last % 2 == 0 || last > 10)
            && (first <= last || (first == 12 && last == 11))
            && self.first_digits() >= 1
            && self.first_digits() <= 9
    }

    /// True for the year-month family of intervals.
    pub const fn is_year_month(self) -> bool {
        self.last().0 <= TimeUnit::MONTH.0
    }

    /// Bytes that a value takes in a row.
    pub const fn width(self) -> usize {
        decimal_width(self.0)
    }

    /// The qualifier in SQL words: `YEAR TO FRACTION(5)`.
    pub fn to_sql(self) -> String {
        let word = |unit: TimeUnit| match unit.0 {
            0 => "YEAR".to_owned(),
            2 => "MONTH".to_owned(),
            4 => "DAY".to_owned(),
            6 => "HOUR".to_owned(),
            8 => "MINUTE".to_owned(),
            10 => "SECOND".to_owned(),
            code => format!("FRACTION({})", code.saturating_sub(10)),
        };
        let first = if self.first().0 >= 12 { "FRACTION".to_owned() } else { word(self.first()) };
        format!("{first} TO {}", word(self.last()))
    }
}

/// Bytes that a base-100 number takes in a row: `(precision << 8) | scale`, or a [`Qualifier`].
pub const fn decimal_width(encoded_length: u16) -> usize {
    (((encoded_length >> 8) + (encoded_length & 1) + 3) / 2) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_say_what_their_bits_say() {
        assert_eq!(Qualifier::datetime(TimeUnit::HOUR, TimeUnit::MINUTE).0, 0x0468);
        assert_eq!(Qualifier::datetime(TimeUnit::YEAR, TimeUnit::YEAR).0, 0x0400);
        assert_eq!(Qualifier::datetime(TimeUnit::FRACTION, TimeUnit(15)).0, 0x05cf);
        assert_eq!(Qualifier::datetime(TimeUnit::HOUR, TimeUnit(15)), Qualifier::HOUR_TO_FRACTION5);
        assert_eq!(Qualifier::interval(TimeUnit::DAY, 3, TimeUnit(15)).0, 0x0e4f);
        assert_eq!(Qualifier::interval(TimeUnit::DAY, 9, TimeUnit(15)), Qualifier::DAY9_TO_FRACTION5);
        assert_eq!(Qualifier::interval(TimeUnit::YEAR, 9, TimeUnit::MONTH), Qualifier::YEAR9_TO_MONTH);
        assert_eq!(Qualifier(0x0e4f).first_digits(), 3);
        assert_eq!(Qualifier(0x05ac).first_digits(), 3);
        assert_eq!(Qualifier(0x130f).to_sql(), "YEAR TO FRACTION(5)");
        assert!(Qualifier(0x0602).is_year_month());
        assert!(!Qualifier(0x094a).is_year_month());
    }

    #[test]
    fn widths_are_those_of_the_vectors() {
        for (code, width) in
            [(0x0e0a, 8), (0x130f, 11), (0x0468, 3), (0x094a, 6), (0x0602, 4), (0x0e4f, 9), (0x05ac, 4)]
        {
            assert_eq!(Qualifier(code).width(), width, "{code:#06x}");
            assert!(Qualifier(code).is_valid(), "{code:#06x}");
        }
        assert_eq!(decimal_width(0x10ff), 10);
        assert_eq!(decimal_width(0x0804), 5);
        assert_eq!(decimal_width(0x0802), 5);
    }

    #[test]
    fn refuses_qualifiers_that_cannot_be() {
        for code in [0x0e01, 0x06a6, 0x02f0, 0x000f, 0xff0a] {
            assert!(!Qualifier(code).is_valid(), "{code:#06x}");
        }
    }
}
