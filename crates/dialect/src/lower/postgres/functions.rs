//! How PostgreSQL says functions that are called otherwise there, or that only Informix has.

use crate::functions::{Function, FunctionKind, Subscripts};

/// How a function of PostgreSQL's is called.
pub(super) enum Said {
    /// By its name alone.
    Value,
    /// By its name in quotes: some names are words of the grammar, too.
    Call,
    /// As a construct of the grammar.
    Construct,
}

/// How the function of this name is called.
pub(super) fn form(name: &str) -> Said {
    match name {
        "current_catalog" | "current_date" | "current_role" | "current_schema" | "current_time"
        | "current_timestamp" | "current_user" | "localtime" | "localtimestamp" | "session_user" | "user" => {
            Said::Value
        }
        "grouping" => Said::Construct,
        _ => Said::Call,
    }
}

/// True for the row of a function that takes an array behind the word VARIADIC.
pub(super) fn takes_variadic(function: &Function) -> bool {
    crate::functions::called_variadic(function.name).any(|row| std::ptr::eq(row, function))
}

/// An aggregate or window function by PostgreSQL's name.
pub(super) fn aggregate(function: &Function) -> Option<&'static str> {
    let known = function.languages.contains(&crate::Language::Postgres);
    let both = matches!(function.kind, FunctionKind::Aggregate | FunctionKind::Window);
    (known && both && !function.name.contains(' ')).then_some(function.name)
}

/// True for aggregates whose ORDER BY stands in WITHIN GROUP.
pub(super) fn is_ordered_set(name: &str) -> bool {
    matches!(
        name,
        "cume_dist" | "dense_rank" | "mode" | "percent_rank" | "percentile_cont" | "percentile_disc" | "rank"
    )
}

/// The text of a function that PostgreSQL has not under this name, with `{0}`, `{1}`, … for its arguments; `None` for
/// what it cannot say.
pub(super) fn said(function: &Function) -> Option<&'static str> {
    if std::ptr::eq(function, Subscripts::Element.function()) {
        return Some("({0})[{1}]");
    }
    TEMPLATES.iter().find(|(name, _)| *name == function.name).map(|(_, template)| *template)
}

const TEMPLATES: &[(&str, &str)] = &[
    ("day", "extract(day FROM {0})::smallint"),
    ("ifx_add_days", "({0} + {1})"),
    ("ifx_days_between", "({0} - {1})"),
    ("mdy", "make_date({2}, {0}, {1})"),
    ("month", "extract(month FROM {0})::smallint"),
    ("quarter", "extract(quarter FROM {0})::smallint"),
    ("weekday", "extract(dow FROM {0})::smallint"),
    ("year", "extract(year FROM {0})::smallint"),
];

/// A template with its arguments.
pub(super) fn filled(template: &str, args: &[String]) -> String {
    let mut out = template.to_owned();
    for (at, arg) in args.iter().enumerate().rev() {
        out = out.replace(&format!("{{{at}}}"), arg);
    }
    out
}
