//! How PostgreSQL says functions that are called otherwise there, or that only Informix has.

use crate::functions::{Function, FunctionKind, Subscripts};
use crate::ir::{Expr, ExprKind, Value};

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

/// The routine in SPL that an expression calls, by its object id.
pub(super) fn routine(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Call { function, args } if function.name == ROUTINE => match args.first()?.kind {
            ExprKind::Literal(Value::Integer(oid)) => u32::try_from(oid).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// What calls a routine in SPL.
pub(super) const ROUTINE: &str = "ifx_routine";

/// What asks a sequence there, for what asks one here by its object id.
pub(super) fn of_sequences(function: &Function) -> Option<&'static str> {
    match function.name {
        "ifx_nextval" | "nextval" => Some("nextval"),
        "ifx_currval" | "currval" => Some("currval"),
        _ => None,
    }
}

/// True for the row of a function that takes an array behind the word VARIADIC.
pub(super) fn takes_variadic(function: &Function) -> bool {
    crate::functions::is_called_variadic(function)
}

/// An aggregate or window function by PostgreSQL's name.
pub(super) fn aggregate(function: &Function) -> Option<&'static str> {
    if let Some(name) = super::mysql::aggregate(function) {
        return Some(name);
    }
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
pub(super) fn said(function: &Function, args: usize) -> Option<&'static str> {
    if function.is(Subscripts::Element.function()) {
        return Some("({0})[{1}]");
    }
    let known = |(name, count, _): &&(&str, usize, &str)| *name == function.name && *count == args;
    TEMPLATES.iter().find(known).map(|(.., template)| *template)
}

/// The text of a function that converts its first argument to the type of its result.
pub(super) fn converts(function: &Function) -> Option<&'static str> {
    CONVERSIONS.iter().find(|(name, _)| *name == function.name).map(|(_, template)| *template)
}

/// A moment and an interval before or behind it.
pub(super) const DATETIME_ADD: &str = "{0} + {4} * {2}";

const CONVERSIONS: &[(&str, &str)] = &[
    ("ifx_add_months", "{0} + make_interval(months => {2})"),
    ("ifx_cast", "{0}"),
    ("ifx_current", "localtimestamp"),
    ("ifx_datetime_add", DATETIME_ADD),
    ("ifx_datetime_sub", "{0}::timestamp - {2}::timestamp"),
    ("ifx_interval_add", "{0} + {4} * {2}"),
    ("ifx_interval_mul", "{0} * {2}"),
    ("ifx_last_day", "{0} - make_interval(days => extract(day FROM {0})::integer - 1) + interval '1 month -1 day'"),
    ("ifx_units", "trunc({0}) * interval '1 {unit}'"),
];

/// A regular expression that matches what a pattern of MATCHES does.
pub(super) fn expression_of(pattern: &str, escape: char) -> String {
    let mut out = "^".to_owned();
    let mut chars = pattern.chars();
    let plain = |out: &mut String, c: char| {
        if !c.is_alphanumeric() && c != ' ' {
            out.push('\\');
        }
        out.push(c);
    };
    let mut set = false;
    while let Some(c) = chars.next() {
        match c {
            c if c == escape => plain(&mut out, chars.next().unwrap_or(escape)),
            ']' if set => {
                set = false;
                out.push(']');
            }
            c if set => out.push(c),
            '[' => {
                set = true;
                out.push('[');
            }
            '*' => out.push_str(".*"),
            '?' => out.push('.'),
            c => plain(&mut out, c),
        }
    }
    out.push('$');
    out
}

/// Names, how many arguments, and the text.
const TEMPLATES: &[(&str, usize, &str)] = &[
    ("abs", 1, "abs({0})"),
    ("acos", 1, "acos({0})"),
    ("ascii", 1, "ascii({0})"),
    ("asin", 1, "asin({0})"),
    ("atan", 1, "atan({0})"),
    ("atan2", 2, "atan2({0}, {1})"),
    ("bitand", 2, "({0} & {1})"),
    ("bitandnot", 2, "({0} & ~{1})"),
    ("bitnot", 1, "(~{0})"),
    ("bitor", 2, "({0} | {1})"),
    ("bitxor", 2, "({0} # {1})"),
    ("ceil", 1, "ceil({0})"),
    ("char_length", 1, "char_length({0})"),
    ("character_length", 1, "char_length({0})"),
    ("charindex", 2, "strpos({1}, {0})"),
    (
        "charindex",
        3,
        "(CASE WHEN strpos(substr({1}, {2}), {0}) = 0 THEN 0 ELSE strpos(substr({1}, {2}), {0}) + {2} - 1 END)",
    ),
    ("chr", 1, "chr({0})"),
    ("concat", 2, "({0} || {1})"),
    ("cos", 1, "cos({0})"),
    ("cosh", 1, "cosh({0})"),
    ("day", 1, "extract(day FROM {0})::smallint"),
    ("degrees", 1, "degrees({0})"),
    ("exp", 1, "exp({0})"),
    ("floor", 1, "floor({0})"),
    (
        "hex",
        1,
        "('0x' || lpad(upper(to_hex({0})), CASE WHEN pg_typeof({0}) = 'bigint'::regtype THEN 16 ELSE 8 END, '0'))",
    ),
    ("ifx_add_days", 2, "({0} + {1})"),
    ("ifx_days_between", 2, "({0} - {1})"),
    (
        "ifx_divide",
        2,
        "(round({0} * 1.0000000000000000000000000000000000000000 / {1}, 31 - CASE WHEN {0} = 0 THEN 0 ELSE floor(log(abs({0} * 1.0000000000000000000000000000000000000000 / {1})))::integer END))",
    ),
    ("ifx_char_length", 2, "(char_length({0}) + greatest({1} - octet_length({0}), 0))"),
    ("ifx_interval_key", 2, "(extract(epoch FROM {0}) * 100000)::bigint"),
    ("ifx_floating", 1, "(CASE WHEN {0} = 0 THEN {0} ELSE round({0}, 31 - floor(log(abs({0})))::integer) END)"),
    ("ifx_current_role", 0, "nullif(nullif(current_setting('informix.role', true), 'none'), '')"),
    ("ifx_default_role", 0, "(SELECT nullif(reset_val, '') FROM pg_settings WHERE name = 'informix.role')"),
    ("ifx_length", 1, "char_length(rtrim({0}, ' '))"),
    ("ifx_octet_length", 2, "(CASE WHEN {0} IS NOT NULL THEN greatest(octet_length({0}), {1}) END)"),
    (
        "ifx_spliced",
        4,
        "(rpad(coalesce({0}, ''), {1} - 1) || rpad(coalesce({3}, ''), {2} - {1} + 1) || coalesce(substr({0}, {2} + 1), ''))",
    ),
    ("ifx_today", 0, "current_date"),
    ("initcap", 1, "initcap({0})"),
    ("instr", 2, "strpos({0}, {1})"),
    ("left", 2, "left({0}, greatest({1}, 0))"),
    ("length", 1, "octet_length(rtrim({0}, ' '))"),
    ("ln", 1, "ln({0})"),
    ("log10", 1, "log({0})"),
    ("logn", 1, "ln({0})"),
    ("lower", 1, "lower({0})"),
    ("lpad", 2, "lpad({0}, {1})"),
    ("lpad", 3, "lpad({0}, {1}, {2})"),
    ("ltrim", 1, "ltrim({0}, ' ')"),
    ("ltrim", 2, "ltrim({0}, {1})"),
    ("mdy", 3, "make_date({2}, {0}, {1})"),
    ("mod", 2, "mod({0}, {1})"),
    ("month", 1, "extract(month FROM {0})::smallint"),
    ("octet_length", 1, "octet_length({0})"),
    ("pow", 2, "power({0}, {1})"),
    ("power", 2, "power({0}, {1})"),
    ("quarter", 1, "extract(quarter FROM {0})::smallint"),
    ("radians", 1, "radians({0})"),
    ("replace", 2, "replace({0}, {1}, '')"),
    ("replace", 3, "replace({0}, {1}, {2})"),
    ("reverse", 1, "reverse({0})"),
    ("right", 2, "right({0}, greatest({1}, 0))"),
    ("root", 1, "sqrt({0})"),
    ("root", 2, "power({0}, 1.0::float8 / {1})"),
    ("round", 1, "round({0})"),
    ("round", 2, "round({0}, {1})"),
    ("rpad", 2, "rpad({0}, {1})"),
    ("rpad", 3, "rpad({0}, {1}, {2})"),
    ("rtrim", 1, "rtrim({0}, ' ')"),
    ("rtrim", 2, "rtrim({0}, {1})"),
    ("sign", 1, "sign({0})::integer"),
    ("sin", 1, "sin({0})"),
    ("sinh", 1, "sinh({0})"),
    ("space", 1, "repeat(' ', {0})"),
    ("sqrt", 1, "sqrt({0})"),
    ("substr", 2, "substr({0}, CASE WHEN {1} < 0 THEN char_length({0}) + {1} + 1 WHEN {1} = 0 THEN 1 ELSE {1} END)"),
    (
        "substr",
        3,
        "(CASE WHEN {2} > 0 THEN substr({0}, CASE WHEN {1} < 0 THEN char_length({0}) + {1} + 1 WHEN {1} = 0 THEN 1 ELSE {1} END, {2}) END)",
    ),
    ("substring", 2, "substr({0}, greatest({1}, 1))"),
    ("substring", 3, "substring({0} FROM {1} FOR {2})"),
    ("tan", 1, "tan({0})"),
    ("tanh", 1, "tanh({0})"),
    ("trim", 2, "btrim({0}, {1})"),
    ("trunc", 1, "trunc({0})"),
    ("trunc", 2, "trunc({0}, {1})"),
    ("upper", 1, "upper({0})"),
    ("weekday", 1, "extract(dow FROM {0})::smallint"),
    ("year", 1, "extract(year FROM {0})::smallint"),
];

/// A template with its arguments.
pub(super) fn filled(template: &str, args: &[String]) -> String {
    let mut out = template.to_owned();
    for (at, arg) in args.iter().enumerate().rev() {
        out = out.replace(&format!("{{{at}}}"), arg);
    }
    out
}
