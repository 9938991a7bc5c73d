//! The one table of functions and operators: name, argument and result types, how each back end says it.
//!
//! A row is found by name and language, resolved by argument types with the dialect's own rules, and named by
//! reference in the IR. The same rows make `pg_proc`. Rows stand in one file per family; [`all`] chains them.

use crate::{Language, Type};

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
    /// How SQLite says it.
    pub sqlite: Sqlite,
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
    /// Any type, but the same wherever it stands in the signature.
    AnyElement,
    /// An array of `AnyElement`.
    AnyArray,
    /// An array of this type.
    ArrayOf(Type),
    /// Whatever the argument at this place is, modifiers included.
    SameAs(usize),
}

/// How SQLite says it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sqlite {
    /// A function with the same arguments: SQLite's own, or one that the engine registers (its name then begins with
    /// `rf_`).
    Function(&'static str),
    /// `(left op right)`.
    Infix(&'static str),
    /// `(op arg)`.
    Prefix(&'static str),
    /// Text with `{0}`, `{1}`, … for the arguments.
    Template(&'static str),
    /// The back end treats it by itself; the word says how (`count_star`, …). Every word has an arm in
    /// `lower::sqlite`.
    Special(&'static str),
}

/// Every row of the table.
pub fn all() -> impl Iterator<Item = &'static Function> {
    [].into_iter()
}

/// The rows of this name that a language can call.
pub fn named(language: Language, name: &str) -> impl Iterator<Item = &'static Function> {
    all().filter(move |function| function.name == name && function.languages.contains(&language))
}
