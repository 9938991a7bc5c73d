//! How SQLite says a function of the one table: the cells of its rows.

/// How SQLite says a function.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Said {
    /// A function with the same arguments: SQLite's own, or one that the engine registers (its name then begins with
    /// `rf_`).
    Function(&'static str),
    /// The same; behind the arguments comes the range type that the first range or multirange among them, or else the
    /// result, belongs to: the object id of a built-in one, a user's with its definition.
    OfRanges(&'static str),
    /// A function of an extension: the engine has one function for all of them, which is told this name first.
    Module(&'static str),
    /// `(left op right)`.
    Infix(&'static str),
    /// `(op arg)`.
    Prefix(&'static str),
    /// Text with `{0}`, `{1}`, … for the arguments.
    Template(&'static str),
    /// The lowering treats it by itself; the word says how (`count_star`, …). Every word has an arm there.
    Special(&'static str),
}
