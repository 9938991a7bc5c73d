//! What `sql_mode` changes of how a statement is read and bound.

/// The setting behind `sql_mode`.
pub const SQL_MODE: &str = "mysql.sql_mode";

/// The modes of a session that have an effect.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Modes {
    /// Texts in double quotes are names.
    pub ansi_quotes: bool,
    /// `||` joins texts.
    pub pipes_as_concat: bool,
    /// A backslash is a letter.
    pub no_backslash_escapes: bool,
    /// Values that do not fit are errors.
    pub strict: bool,
    /// A quotient by zero is an error where it is stored.
    pub division_by_zero: bool,
    /// What a group leaves open may not be selected.
    pub full_group_by: bool,
    /// A difference of numbers without a sign may be negative.
    pub signed_subtraction: bool,
    /// REAL is FLOAT.
    pub real_as_float: bool,
    /// 0 is a number for a column that numbers itself.
    pub zero_is_a_number: bool,
    /// `0000-00-00` is a date.
    pub zero_dates: bool,
    /// A storage engine that nobody knows is an error.
    pub no_engine_substitution: bool,
}

impl Default for Modes {
    fn default() -> Self {
        Self::of(super::variables::DEFAULT_MODES)
    }
}

impl Modes {
    /// Of the value of `sql_mode`, as it is kept.
    pub fn of(value: &str) -> Self {
        let has = |wanted: &str| value.split(',').any(|mode| mode.trim().eq_ignore_ascii_case(wanted));
        let strict = has("STRICT_TRANS_TABLES") || has("STRICT_ALL_TABLES");
        Self {
            ansi_quotes: has("ANSI_QUOTES"),
            pipes_as_concat: has("PIPES_AS_CONCAT"),
            no_backslash_escapes: has("NO_BACKSLASH_ESCAPES"),
            strict,
            division_by_zero: has("ERROR_FOR_DIVISION_BY_ZERO"),
            full_group_by: has("ONLY_FULL_GROUP_BY"),
            signed_subtraction: has("NO_UNSIGNED_SUBTRACTION"),
            real_as_float: has("REAL_AS_FLOAT"),
            zero_is_a_number: has("NO_AUTO_VALUE_ON_ZERO"),
            zero_dates: !(strict && has("NO_ZERO_DATE")),
            no_engine_substitution: has("NO_ENGINE_SUBSTITUTION"),
        }
    }

    /// Strings are what they are in a new session.
    pub fn reads_strings_as_usual(self) -> bool {
        !self.ansi_quotes && !self.no_backslash_escapes
    }
}
