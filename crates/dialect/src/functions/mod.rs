//! The one table of functions and operators: name, argument and result types, how each back end says it.
//!
//! A row is found by name and language, resolved by argument types with the dialect's own rules, and named by
//! reference in the IR. The same rows make `pg_proc`. Rows stand in one file per family; [`all`] chains them.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::{Language, Type};

pub use crate::lower::Said;
pub use arrays::Subscripts;
pub use extensions::{columns as columns_of_extension, of_extension, of_extensions};
pub(crate) use extensions::{columns_by_name, is_told_columns, told_columns_by_name};

mod accumulators;
mod administration;
mod aggregates;
mod arrays;
mod bits;
mod datetime;
mod extensions;
pub mod geometry;
mod informix;
mod json;
mod large_objects;
mod lengths;
mod locks;
mod money;
mod mysql;
mod mysql_session;
mod network;
mod numbers;
mod operators;
mod ordered_sets;
mod ranges;
mod records;
mod search;
mod statistics;
mod stored;
mod strings;
mod system;
mod variadic;
mod windows;

/// A function, operator, aggregate, window function or set-returning function.
#[derive(Debug, PartialEq)]
pub struct Function {
    /// Lower-case name; an operator's sign for operators.
    pub name: &'static str,
    /// Who can call it by that name.
    pub languages: &'static [Language],
    /// What it is.
    pub kind: FunctionKind,
    /// Argument types.
    pub args: &'static [TypeSpec],
    /// How many trailing arguments may be left out.
    pub optional: usize,
    /// The last argument's type may repeat without end.
    pub variadic: bool,
    /// Result type.
    pub result: TypeSpec,
    /// NULL in, NULL out.
    pub strict: bool,
    /// When calls may be merged or moved.
    pub volatility: Volatility,
    /// A call changes what is in the file.
    pub writes: bool,
    /// How the back end in use says it: for the lowering alone.
    pub said: Said,
}

/// What a row of the table is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FunctionKind {
    /// Called over a group of rows.
    Aggregate,
    /// Written between or before its operands.
    Operator,
    /// An ordinary function.
    Scalar,
    /// Returns rows.
    SetReturning,
    /// Called over a window only.
    Window,
}

/// When a function's result may change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Volatility {
    /// Never.
    Immutable,
    /// Between statements.
    Stable,
    /// At any call.
    Volatile,
}

/// A type in a signature.
#[derive(Debug, PartialEq)]
pub enum TypeSpec {
    /// This type, of any modifier.
    Is(Type),
    /// Any type, alone.
    Any,
    /// Any row.
    AnyRow,
    /// Any type, but the same wherever it stands in the signature.
    AnyElement,
    /// An array of `AnyElement`.
    AnyArray,
    /// As `AnyElement`, but an enum type.
    AnyEnum,
    /// An array of this type.
    ArrayOf(Type),
    /// A range of `AnyElement`, which is then the range's subtype and nothing else.
    AnyRange,
    /// A multirange of `AnyElement`.
    AnyMultirange,
    /// Whatever the argument at this place is, modifiers included.
    SameAs(usize),
}

/// Every row of the table.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The rows of this name that a language can call.
pub fn named(language: Language, name: &str) -> impl Iterator<Item = &'static Function> {
    static BY_NAME: OnceLock<HashMap<&'static str, Vec<&'static Function>>> = OnceLock::new();
    let rows = BY_NAME.get_or_init(|| {
        let mut rows: HashMap<_, Vec<_>> = HashMap::new();
        for function in all() {
            rows.entry(function.name).or_default().push(function);
        }
        rows
    });
    rows.get(name).into_iter().flatten().copied().filter(move |function| function.languages.contains(&language))
}

/// The rows of this name that take an array behind the word VARIADIC, as their last argument.
pub fn called_variadic(name: &str) -> impl Iterator<Item = &'static Function> {
    ranges::VARIADIC.iter().chain(variadic::ROWS).filter(move |function| function.name == name)
}

/// True for an aggregate that is called WITHIN GROUP.
pub(crate) fn is_within_group(function: &Function) -> bool {
    ordered_sets::ROWS.iter().any(|row| row.is(function))
}

/// True for a row whose last argument is an array behind the word VARIADIC.
pub(crate) fn is_called_variadic(function: &Function) -> bool {
    called_variadic(function.name).any(|row| row.is(function))
}

/// A built-in function that runs a query which it is given as a text.
pub(crate) fn runs_a_query(function: &Function) -> bool {
    let text = matches!(function.args.last(), Some(TypeSpec::Is(Type::Text)));
    match function.name {
        "ts_stat" => true,
        "ts_rewrite" => text,
        _ => is_told_columns(function),
    }
}

/// A row that no user can call by name: what the binder makes of constructs of their own.
///
/// # Panics
/// When there is no such row.
pub(crate) fn internal(name: &str) -> &'static Function {
    let mut found = stored::ROWS.iter();
    found.find(|row| row.name == name).expect("an internal function is named by a constant")
}

/// The view of the catalogs that a function of rows stands behind: its rows are the view's.
pub(crate) fn view_behind(function: &Function) -> Option<&'static str> {
    administration::view_behind(function)
}

/// The rows that a function of users has returned, by their number in the session.
pub fn stored_result_rows() -> &'static Function {
    internal("stored result rows")
}

/// The families, one file each.
static FAMILIES: &[&[Function]] = &[
    accumulators::ROWS,
    administration::ROWS,
    aggregates::ROWS,
    arrays::ROWS,
    bits::ROWS,
    datetime::ROWS,
    geometry::ROWS,
    informix::ROWS,
    json::ROWS,
    large_objects::ROWS,
    lengths::ROWS,
    locks::ROWS,
    money::ROWS,
    mysql::ROWS,
    mysql_session::ROWS,
    network::ROWS,
    numbers::ROWS,
    operators::ROWS,
    ordered_sets::ROWS,
    ranges::ROWS,
    records::ROWS,
    search::ROWS,
    strings::ROWS,
    statistics::ROWS,
    system::ROWS,
    windows::ROWS,
];

impl Function {
    /// True for the same row. What it says is compared, not where it lies: a row may be in memory more than once, in its
    /// family and in the list of families, say, since the compiler promises no constant a place of its own.
    pub fn is(&self, row: &Self) -> bool {
        std::ptr::eq(self, row) || self == row
    }
}

/// What a row says besides its signature; the methods are the words of the [`rows!`] macro.
#[derive(Clone, Copy)]
struct Traits {
    optional: usize,
    variadic: bool,
    strict: bool,
    volatility: Volatility,
    writes: bool,
}

impl Traits {
    const USUAL: Self =
        Self { optional: 0, variadic: false, strict: true, volatility: Volatility::Immutable, writes: false };

    /// The last `count` arguments may be left out.
    const fn optional(self, count: usize) -> Self {
        Self { optional: count, ..self }
    }

    /// The last argument's type may repeat.
    const fn variadic(self) -> Self {
        Self { variadic: true, ..self }
    }

    /// The function sees NULLs.
    const fn lenient(self) -> Self {
        Self { strict: false, ..self }
    }

    /// The result may change between statements.
    const fn stable(self) -> Self {
        Self { volatility: Volatility::Stable, ..self }
    }

    /// The result may change at any call.
    const fn volatile(self) -> Self {
        Self { volatility: Volatility::Volatile, ..self }
    }

    /// A call changes what is in the file.
    const fn writes(self) -> Self {
        Self { writes: true, ..self }
    }
}

/// Rows of the table: `Kind "name" (arguments) -> result, how the back end says it, traits…;`. A row is strict and immutable
/// unless its traits say otherwise.
macro_rules! rows {
    ($languages:expr; $($kind:ident $name:literal ($($arg:expr),*) -> $result:expr, $how:expr
        $(, $trait:ident $(($value:expr))?)*;)*) => {
        &[$(Function {
            name: $name,
            languages: $languages,
            kind: FunctionKind::$kind,
            args: &[$($arg),*],
            optional: const { Traits::USUAL$(.$trait($($value)?))*.optional },
            variadic: const { Traits::USUAL$(.$trait($($value)?))*.variadic },
            result: $result,
            strict: const { Traits::USUAL$(.$trait($($value)?))*.strict },
            volatility: const { Traits::USUAL$(.$trait($($value)?))*.volatility },
            writes: const { Traits::USUAL$(.$trait($($value)?))*.writes },
            said: $how,
        },)*]
    };
}
use rows;

/// Short names for the rows.
mod spec {
    pub(super) use super::Said::{Function as F, Infix, OfRanges as R, Special, Template as T};
    use super::TypeSpec::{self, ArrayOf, Is};
    pub(super) use super::{Function, FunctionKind, Traits, rows};
    use crate::types::Reg;
    use crate::{Language, Type};

    pub(super) const PG: &[Language] = &[Language::Postgres, Language::Native];
    pub(super) const BOTH: &[Language] = &[Language::Postgres, Language::Native, Language::Informix];
    pub(super) const ANY: TypeSpec = TypeSpec::Any;
    /// A row, of whatever type.
    pub(super) const ROW: TypeSpec = TypeSpec::AnyRow;
    pub(super) const ELEM: TypeSpec = TypeSpec::AnyElement;
    pub(super) const ENUM: TypeSpec = TypeSpec::AnyEnum;
    pub(super) const ARRAY: TypeSpec = TypeSpec::AnyArray;
    pub(super) const RANGE: TypeSpec = TypeSpec::AnyRange;
    pub(super) const MULTIRANGE: TypeSpec = TypeSpec::AnyMultirange;
    pub(super) const BOOL: TypeSpec = Is(Type::Bool);
    pub(super) const I2: TypeSpec = Is(Type::Int2);
    pub(super) const I4: TypeSpec = Is(Type::Int4);
    pub(super) const I8: TypeSpec = Is(Type::Int8);
    pub(super) const F4: TypeSpec = Is(Type::Float4);
    pub(super) const F8: TypeSpec = Is(Type::Float8);
    pub(super) const NUM: TypeSpec = Is(Type::Numeric(None));
    pub(super) const OID: TypeSpec = Is(Type::Oid);
    pub(super) const TEXT: TypeSpec = Is(Type::Text);
    pub(super) const NAME: TypeSpec = Is(Type::Name);
    pub(super) const BPCHAR: TypeSpec = Is(Type::Char(0));
    pub(super) const BYTEA: TypeSpec = Is(Type::Bytea);
    pub(super) const DATE: TypeSpec = Is(Type::Date);
    pub(super) const TIME: TypeSpec = Is(Type::Time(None));
    pub(super) const TIMETZ: TypeSpec = Is(Type::TimeTz(None));
    pub(super) const TS: TypeSpec = Is(Type::Timestamp(None));
    pub(super) const TSTZ: TypeSpec = Is(Type::TimestampTz(None));
    pub(super) const INTERVAL: TypeSpec = Is(Type::Interval(None));
    pub(super) const UUID: TypeSpec = Is(Type::Uuid);
    pub(super) const JSON: TypeSpec = Is(Type::Json);
    pub(super) const JSONB: TypeSpec = Is(Type::Jsonb);
    pub(super) const JSONPATH: TypeSpec = Is(Type::Jsonpath);
    pub(super) const VOID: TypeSpec = Is(Type::Void);
    pub(super) const REGCLASS: TypeSpec = Is(Type::Reg(Reg::Class));
    pub(super) const REGTYPE: TypeSpec = Is(Type::Reg(Reg::Type));
    pub(super) const REGNAMESPACE: TypeSpec = Is(Type::Reg(Reg::Namespace));
    pub(super) const REGPROC: TypeSpec = Is(Type::Reg(Reg::Proc));
    pub(super) const REGPROCEDURE: TypeSpec = Is(Type::Reg(Reg::Procedure));
    pub(super) const REGOPER: TypeSpec = Is(Type::Reg(Reg::Oper));
    pub(super) const REGOPERATOR: TypeSpec = Is(Type::Reg(Reg::Operator));
    pub(super) const REGCOLLATION: TypeSpec = Is(Type::Reg(Reg::Collation));
    pub(super) const REGCONFIG: TypeSpec = Is(Type::Reg(Reg::Config));
    pub(super) const REGDICTIONARY: TypeSpec = Is(Type::Reg(Reg::Dictionary));
    pub(super) const REGROLE: TypeSpec = Is(Type::Reg(Reg::Role));
    pub(super) const ICHAR: TypeSpec = Is(Type::InternalChar);
    pub(super) const RECORD: TypeSpec = Is(Type::RECORD);
    pub(super) const TEXTS: TypeSpec = ArrayOf(Type::Text);
    pub(super) const NAMES: TypeSpec = ArrayOf(Type::Name);
    pub(super) const INTS: TypeSpec = ArrayOf(Type::Int4);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_well_formed() {
        for row in all() {
            assert!(row.optional <= row.args.len(), "{}", row.name);
            assert!(!row.variadic || !row.args.is_empty(), "{}", row.name);
            assert_eq!(row.name, row.name.to_lowercase());
            if let TypeSpec::SameAs(index) = row.result {
                assert!(index < row.args.len(), "{}", row.name);
            }
        }
    }

    #[test]
    fn rows_are_found_by_name_and_language() {
        assert!(named(Language::Postgres, "lower").next().is_some());
        assert!(named(Language::Postgres, "no_such_function").next().is_none());
    }
}
