//! What MySQL's rules come to in PostgreSQL's words, and what has to be there for that: the schema `rowferry`, with
//! collations by which texts are compared as MySQL does, and functions of SQL.
//!
//! Nothing here is near to what MySQL does: a function that PostgreSQL does otherwise for some value is not in the list,
//! and is refused by its name.

use std::collections::BTreeMap;

use super::{Lowering, missing, text};
use crate::collation::unicode::PADS;
use crate::collation::{Collation, Order};
use crate::functions::Function;
use crate::ir::{Expr, ExprKind, Value};
use crate::{Error, Language, Result, Type};

/// The schema of what is made there for MySQL's rules.
pub const SCHEMA: &str = "rowferry";

/// Which state of it this is; it grows with each change.
pub const VERSION: u32 = 3;

/// The statements that make the schema what it is now, whatever version of it is there.
pub fn installation() -> Vec<String> {
    let orders: BTreeMap<&str, bool> =
        Collation::of_mysql().iter().filter_map(|collation| Some((tag(collation)?, collation.deterministic))).collect();
    let mut statements = vec![format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}")];
    for (tag, deterministic) in orders {
        // ICU knows nothing of blanks that do not count: the name says it, and who compares leaves them out.
        let locale = tag.strip_suffix(PADS).unwrap_or(tag);
        statements.push(format!(
            "CREATE COLLATION IF NOT EXISTS {SCHEMA}.\"{tag}\" (provider = icu, locale = '{locale}', deterministic = {deterministic})"
        ));
    }
    statements.extend(FUNCTIONS.iter().map(|function| function.replace("{marks}", &marks())));
    statements.push(format!(
        "CREATE OR REPLACE FUNCTION {SCHEMA}.version() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT {VERSION}'"
    ));
    statements.push(format!("GRANT USAGE ON SCHEMA {SCHEMA} TO PUBLIC"));
    statements
}

/// Functions of the schema. They are called with texts of any collation, which their results have, too.
const FUNCTIONS: &[&str] = &[
    "CREATE OR REPLACE FUNCTION rowferry.lower(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ SELECT pg_catalog.lower($1 COLLATE \"und-x-icu\") $$",
    "CREATE OR REPLACE FUNCTION rowferry.upper(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ SELECT pg_catalog.upper($1 COLLATE \"und-x-icu\") $$",
    // The letters by which LIKE compares where neither case nor accents count.
    "CREATE OR REPLACE FUNCTION rowferry.folded(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ SELECT CASE WHEN octet_length($1) = char_length($1) THEN pg_catalog.lower($1 COLLATE \"C\") COLLATE \"default\" \
     ELSE translate(pg_catalog.lower(regexp_replace(normalize($1, NFD) COLLATE \"C\", '[{marks}]', '', 'g') \
     COLLATE \"und-x-icu\"), 'ς', 'σ') COLLATE \"default\" END $$",
    "CREATE OR REPLACE FUNCTION rowferry.\"like\"(text, text, text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ SELECT rowferry.folded($1) COLLATE \"C\" LIKE rowferry.folded($2) COLLATE \"C\" ESCAPE $3 $$",
    // The number that a text begins with, 0 without one.
    "CREATE OR REPLACE FUNCTION rowferry.number(text) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ SELECT coalesce(substring($1 COLLATE \"C\" FROM '^[ \\t\\n\\r\\f\\v]*([+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?)'), \
     '0')::double precision $$",
    // Places are counted from 1, and from the end where they are negative.
    "CREATE OR REPLACE FUNCTION rowferry.\"substring\"(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ SELECT CASE WHEN $2 = 0 OR $2 > char_length($1) OR -$2 > char_length($1) THEN '' \
     WHEN $2 > 0 THEN substr($1, $2::integer) ELSE substr($1, (char_length($1) + $2 + 1)::integer) END $$",
    "CREATE OR REPLACE FUNCTION rowferry.\"substring\"(text, bigint, bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ SELECT CASE WHEN $3 < 1 THEN '' ELSE pg_catalog.\"left\"(rowferry.\"substring\"($1, $2), least($3, 2147483647)::integer) END $$",
    // A quotient, cut off behind so many groups of nine digits as it takes to show four more than the dividend has.
    "CREATE OR REPLACE FUNCTION rowferry.quotient(numeric, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ SELECT CASE WHEN $2 <> 0 THEN div($1 * power(10::numeric, digits), $2) / power(10::numeric, digits) END FROM \
     (SELECT (l + r + greatest(4 - (l - scale(trim_scale($1))) - (r - scale(trim_scale($2))), 0) + 8) / 9 * 9 FROM \
     (SELECT (scale(trim_scale($1)) + 8) / 9 * 9, (scale(trim_scale($2)) + 8) / 9 * 9) AS g (l, r)) AS d (digits) $$",
    // A divisor that must not be zero.
    "CREATE OR REPLACE FUNCTION rowferry.not_zero(numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ BEGIN IF $1 = 0 THEN RAISE EXCEPTION USING ERRCODE = '22012', MESSAGE = 'Division by 0'; END IF; RETURN $1; END $$",
    "CREATE OR REPLACE FUNCTION rowferry.not_zero(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ BEGIN IF $1 = 0 THEN RAISE EXCEPTION USING ERRCODE = '22012', MESSAGE = 'Division by 0'; END IF; RETURN $1; END $$",
    "CREATE OR REPLACE FUNCTION rowferry.not_zero(double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ BEGIN IF $1 = 0 THEN RAISE EXCEPTION USING ERRCODE = '22012', MESSAGE = 'Division by 0'; END IF; RETURN $1; END $$",
    // 64 bits as the number without a sign that they are.
    "CREATE OR REPLACE FUNCTION rowferry.bits(bigint) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ SELECT $1::numeric + CASE WHEN $1 < 0 THEN 18446744073709551616 ELSE 0 END $$",
    // A value of BIGINT UNSIGNED.
    "CREATE OR REPLACE FUNCTION rowferry.unsigned(numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS \
     $$ BEGIN IF $1 < 0 OR $1 > 18446744073709551615 THEN RAISE EXCEPTION USING ERRCODE = '22003', \
     MESSAGE = format('BIGINT UNSIGNED value is out of range in ''%s''', $1); END IF; RETURN $1; END $$",
];

/// All marks that combine with a letter, as the members of a set of a regular expression.
fn marks() -> String {
    let mut out = String::new();
    let mut open: Option<(u32, u32)> = None;
    let mut close = |range: Option<(u32, u32)>| {
        if let Some((first, last)) = range {
            out.push_str(&format!("\\U{first:08x}-\\U{last:08x}"));
        }
    };
    for code in 0x300..=0xe01ef_u32 {
        let is_mark = char::from_u32(code).is_some_and(crate::values::mysql::is_mark);
        match (&mut open, is_mark) {
            (Some((_, last)), true) => *last = code,
            (None, true) => open = Some((code, code)),
            (_, false) => close(open.take()),
        }
    }
    close(open);
    out
}

/// The order of Unicode that a collation of MySQL's is, by its tag; `None` for that of bytes.
fn tag(collation: &Collation) -> Option<&str> {
    match &collation.order {
        Order::Unicode(tag) => Some(tag),
        Order::Bytes => None,
    }
}

/// Blanks at the end of texts say nothing in it.
pub(super) fn pads(collation: &Collation) -> bool {
    collation.namespace == crate::mysql::types::SCHEMA && tag(collation).is_some_and(|tag| tag.ends_with(PADS))
}

/// The collation there that is one of MySQL's.
pub(super) fn collation(collation: &Collation) -> String {
    match tag(collation) {
        Some(tag) => format!("{SCHEMA}.\"{tag}\""),
        None => "\"C\"".to_owned(),
    }
}

/// What a column of one of MySQL's collations is declared with there, as a catalog has it: schema and name.
pub fn declared_collation(collation: &Collation) -> Option<String> {
    (collation.namespace == crate::mysql::types::SCHEMA).then(|| match tag(collation) {
        Some(tag) => format!("{SCHEMA}.{tag}"),
        None => "pg_catalog.C".to_owned(),
    })
}

/// A collation of MySQL's by what a column is declared with there.
pub fn collation_there(declared: &str) -> Option<&'static str> {
    let tag_there = declared.strip_prefix(SCHEMA)?.strip_prefix('.')?;
    Collation::of_mysql().iter().find(|known| tag(known) == Some(tag_there)).map(|known| known.name.as_str())
}

pub(super) use crate::mysql::types::own_words;

/// A CHAR has no blanks at its end, which its CHECK says to everybody.
pub(super) fn keeps_no_blanks(ty: &Type) -> bool {
    own_words(ty).is_some_and(|words| words.starts_with("char("))
}

/// The name of the CHECK that a column of one of MySQL's own types has.
pub(super) fn range_name(column: &str) -> String {
    format!("{column}.{}", crate::mysql::types::RANGE)
}

/// The condition under which a value is one of a type of MySQL's; `None` for every value.
pub(super) fn range(ty: &Type, value: &str) -> Option<String> {
    let words = own_words(ty)?;
    if keeps_no_blanks(ty) {
        return Some(format!("({value} COLLATE \"C\") = rtrim({value}, ' ')"));
    }
    // Members are told apart by their letters.
    let collated = ty.through_domains().is_text().then(|| format!("({value} COLLATE \"C\")"));
    crate::mysql::types::range(words, collated.as_deref().unwrap_or(value))
}

/// True for functions of MySQL's whose value no statement's rows decide, and that are another at each call.
pub(super) fn varies(expr: &Expr) -> bool {
    let ExprKind::Call { function, args } = &expr.kind else { return false };
    let stays = ["mysql_user_", "mysql_variable"].iter().any(|head| function.name.starts_with(head))
        || matches!(
            (function.name, args.len()),
            ("last_insert_id" | "row_count" | "found_rows", 0) | ("aes_encrypt" | "aes_decrypt", _)
        )
        || crate::postgres::is_quiet(function, args);
    function.name == "stored function"
        || function.languages.contains(&Language::Mysql)
            && function.volatility == crate::functions::Volatility::Volatile
            && !stays
}

/// An aggregate or window function of MySQL's that is one of PostgreSQL's.
pub(super) fn aggregate(function: &Function) -> Option<&'static str> {
    if !function.languages.contains(&Language::Mysql) {
        return None;
    }
    Some(match function.name {
        "group_concat" => "string_agg",
        "mysql_wide_sum" => "sum",
        name @ ("count" | "sum" | "min" | "max" | "row_number" | "rank" | "dense_rank" | "percent_rank"
        | "cume_dist" | "ntile" | "lag" | "lead" | "first_value" | "last_value" | "nth_value") => name,
        _ => return None,
    })
}

/// An argument of an aggregate of MySQL's, as PostgreSQL takes it.
pub(super) fn aggregated(function: &Function, arg: &Expr, lowered: String) -> Result<String> {
    let ty = arg.ty.through_domains();
    Ok(match function.name {
        "sum" if *ty == Type::Bool => format!("({lowered})::integer::numeric"),
        "sum" | "mysql_wide_sum" if ty.is_integer() => format!("({lowered})::numeric"),
        "ntile" => format!("({lowered})::integer"),
        "min" | "max" if *ty == Type::Bool => format!("({lowered})::integer"),
        "min" | "max" if *ty == Type::Bytea => return Err(missing("the least or greatest of bytes")),
        "min" | "max" if *ty == Type::Json => return Err(missing("the least or greatest of documents")),
        "count" if lowered == "NULL" => "NULL::integer".to_owned(),
        _ => lowered,
    })
}

/// A function as people call it: what stands for an operator or a clause has a name of ours.
fn shown(name: &str) -> String {
    match name {
        "mysql_set_found_rows" => "SQL_CALC_FOUND_ROWS".to_owned(),
        name => name.strip_prefix("mysql_").unwrap_or(name).to_uppercase(),
    }
}

/// The type that a value has there. A BIGINT UNSIGNED is a `bigint`.
fn type_there(arg: &Expr) -> &Type {
    match &arg.kind {
        ExprKind::Call { function, .. } if function.name == "mysql_wide_number" => &Type::Int8,
        _ => arg.ty.through_domains(),
    }
}

/// A function of MySQL's in PostgreSQL's words, with `{0}`, … for its arguments; `None` for what is not said there.
fn said(name: &str, args: &[Expr]) -> Option<&'static str> {
    let first = args.first().map(type_there);
    let is_text = first.is_some_and(Type::is_text);
    let is_integer = first.is_some_and(Type::is_integer);
    let all_integers = args.iter().all(|arg| type_there(arg).is_integer());
    let is_decimal = first.is_some_and(Type::is_decimal);
    let is_float = matches!(first, Some(Type::Float4 | Type::Float8));
    let is_date = matches!(first, Some(Type::Date));
    let moment = |ty: &Type| matches!(ty, Type::Date | Type::Timestamp(_) | Type::TimestampTz(_));
    let is_moment = first.is_some_and(moment);
    let is_own = args.first().is_some_and(|arg| {
        own_words(&arg.ty)
            .is_some_and(|words| ["enum(", "set(", "year", "bit("].iter().any(|head| words.starts_with(head)))
    });
    Some(match (name, args.len()) {
        ("mysql_to_double" | "mysql_to_number", 1) if is_text => "rowferry.number({0})",
        ("mysql_to_double" | "mysql_to_number", 1) if is_integer || is_decimal || is_float => "({0})::double precision",
        ("mysql_to_decimal", 1) if is_integer || is_decimal => "({0})::numeric",
        ("mysql_to_text", 1) if is_text || is_integer => "({0})::text",
        ("mysql_to_text", 1) if is_date => "to_char({0}, 'YYYY-MM-DD')",
        ("mysql_to_text", 1) if matches!(first, Some(Type::Timestamp(Some(0)))) => {
            "to_char({0}, 'YYYY-MM-DD HH24:MI:SS')"
        }
        ("mysql_to_bytes", 1) if is_text => "convert_to({0}, 'UTF8')",
        ("mysql_to_date" | "date", 1) if is_moment => "({0})::date",
        ("mysql_to_datetime", 1) if is_moment => "({0})::timestamp",
        ("mysql_truth", 1) if is_text => "(rowferry.number({0}) <> 0)",
        ("mysql_truth", 1) if is_integer || is_decimal || is_float => "({0} <> 0)",
        ("mysql_fraction", 2) => "round(({0})::numeric, ({1})::integer)::double precision",
        ("mysql_filled", 2) => "({0} || decode(repeat('00', greatest(({1})::integer - octet_length({0}), 0)), 'hex'))",
        ("mysql_without_blanks", 1) => "rtrim({0}, ' ')",
        ("mysql_divide", 2) => "rowferry.quotient({0}, {1})",
        ("mysql_divide_double", 2) => "({0} / nullif({1}, 0))",
        ("mysql_integer_divide", 2) => "div({0}, nullif({1}, 0))::bigint",
        ("mysql_unsigned_divide", 2) => "rowferry.unsigned(div({0}, nullif({1}, 0)))",
        ("mysql_floor", 1) => "floor({0})",
        ("mysql_ceil", 1) => "ceil({0})",
        ("mysql_modulo", 2) if is_integer || is_decimal => "mod({0}, nullif({1}, 0))",
        ("mod", 2) if is_integer || is_decimal => "mod({0}, nullif({1}, 0))",
        ("mysql_not_zero", 1) => "rowferry.not_zero({0})",
        ("mysql_wide_number", 1) => "({0})::numeric",
        ("mysql_wide", 1) => "round({0})::bigint",
        ("mysql_beside_wide", 1) if is_integer || is_decimal || is_float => "({0})",
        ("mysql_beside_wide", 1) if is_text => "rowferry.number({0})",
        ("mysql_unsigned", 1) => "rowferry.unsigned({0})",
        ("lower" | "lcase", 1) => "rowferry.lower({0})",
        ("upper" | "ucase", 1) => "rowferry.upper({0})",
        ("substring" | "substr" | "mid", 2) if is_text => "rowferry.\"substring\"({0}, {1})",
        ("substring" | "substr" | "mid", 3) if is_text => "rowferry.\"substring\"({0}, {1}, {2})",
        ("left", 2) if is_text => "\"left\"({0}, greatest(least({1}, 2147483647), 0)::integer)",
        ("right", 2) if is_text => "\"right\"({0}, greatest(least({1}, 2147483647), 0)::integer)",
        ("length" | "octet_length", 1) if !is_own => "octet_length({0})::bigint",
        ("char_length" | "character_length", 1) if is_text && !is_own => "char_length({0})::bigint",
        ("reverse", 1) if is_text => "reverse({0})",
        ("trim", 1) => "btrim({0}, ' ')",
        ("ltrim", 1) => "ltrim({0}, ' ')",
        ("rtrim", 1) => "rtrim({0}, ' ')",
        ("isnull", 1) => "({0} IS NULL)",
        ("abs", 1) if is_integer => "abs(({0})::bigint)",
        ("abs", 1) if is_decimal || is_float => "abs({0})",
        ("ceil" | "ceiling" | "floor" | "round", 1) if is_integer => "({0})::bigint",
        ("ceil" | "ceiling", 1) if is_decimal => "ceil({0})::bigint",
        ("floor", 1) if is_decimal => "floor({0})::bigint",
        ("round", 1) if is_decimal => "round({0})",
        ("ceil" | "ceiling", 1) if is_float => "ceil({0})",
        ("floor", 1) if is_float => "floor({0})",
        ("round", 2) if is_decimal => "round({0}, ({1})::integer)",
        ("truncate", 2) if is_decimal => "trunc({0}, ({1})::integer)",
        ("mysql_to_integer", 1) if is_integer => "({0})::bigint",
        ("mysql_to_integer", 1) if is_decimal => "round({0})::bigint",
        ("mysql_bit_and", 2) if all_integers => "rowferry.bits(({0})::bigint & ({1})::bigint)",
        ("mysql_bit_or", 2) if all_integers => "rowferry.bits(({0})::bigint | ({1})::bigint)",
        ("mysql_bit_xor", 2) if all_integers => "rowferry.bits(({0})::bigint # ({1})::bigint)",
        ("mysql_shift_left", 2) if all_integers => {
            "(CASE WHEN ({1})::bigint BETWEEN 0 AND 63 THEN rowferry.bits(({0})::bigint << ({1})::integer) \
             WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN 0 END)"
        }
        ("mysql_shift_right", 2) if all_integers => {
            "(CASE WHEN ({1})::bigint = 0 THEN rowferry.bits(({0})::bigint) WHEN ({1})::bigint BETWEEN 1 AND 63 THEN \
             ((({0})::bigint >> ({1})::integer) & ~((-1)::bigint << (64 - ({1})::integer)))::numeric \
             WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN 0 END)"
        }
        ("mysql_bit_not", 1) if all_integers => "rowferry.bits(~({0})::bigint)",
        ("sign", 1) if is_float => "sign({0})::bigint",
        ("sign", 1) if is_integer || is_decimal => "sign(({0})::numeric)::bigint",
        ("sqrt", 1) if is_integer || is_decimal || is_float => {
            "(CASE WHEN {0} >= 0 THEN sqrt(({0})::double precision) END)"
        }
        ("hex", 1) if is_text && !is_own => "upper(encode(convert_to({0}, 'UTF8'), 'hex'))",
        ("hex", 1) if is_integer && !is_own => "upper(to_hex(({0})::bigint))",
        ("datediff", 2) if args.iter().all(|arg| moment(type_there(arg))) => "(({0})::date - ({1})::date)::bigint",
        ("weekofyear", 1) if is_moment => "extract(week FROM {0})::bigint",
        ("year", 1) if is_moment => "extract(year FROM {0})::bigint",
        ("month", 1) if is_moment => "extract(month FROM {0})::bigint",
        ("day" | "dayofmonth", 1) if is_moment => "extract(day FROM {0})::bigint",
        ("hour", 1) if is_moment && !is_date => "extract(hour FROM {0})::bigint",
        ("minute", 1) if is_moment && !is_date => "extract(minute FROM {0})::bigint",
        ("second", 1) if is_moment && !is_date => "floor(extract(second FROM {0}))::bigint",
        ("quarter", 1) if is_moment => "extract(quarter FROM {0})::bigint",
        ("dayofyear", 1) if is_moment => "extract(doy FROM {0})::bigint",
        ("dayofweek", 1) if is_moment => "(extract(dow FROM {0})::bigint + 1)",
        ("weekday", 1) if is_moment => "(extract(isodow FROM {0})::bigint - 1)",
        ("last_day", 1) if is_moment => "(date_trunc('month', ({0})::timestamp) + interval '1 month -1 day')::date",
        ("md5", 1) if is_text => "md5({0})",
        _ => return None,
    })
}

/// The value of a text that is known now.
fn known(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => Some(text),
        _ => None,
    }
}

/// A format of DATE_FORMAT's as one of `to_char`'s; `None` for what that has not.
fn format_of(format: &str) -> Option<String> {
    let mut out = String::new();
    let mut letters = format.chars();
    // Two patterns side by side would be read as one.
    let mut after_pattern = false;
    let plain = |out: &mut String, letter: char| match letter {
        '"' | '\\' => out.push_str(&format!("\\{letter}")),
        letter if letter.is_alphanumeric() => out.push_str(&format!("\"{letter}\"")),
        letter => out.push(letter),
    };
    while let Some(letter) = letters.next() {
        if letter != '%' {
            plain(&mut out, letter);
            after_pattern = false;
            continue;
        }
        if std::mem::replace(&mut after_pattern, true) {
            out.push_str("\"\"");
        }
        out.push_str(match letters.next()? {
            'Y' => "YYYY",
            'y' => "YY",
            'm' => "MM",
            'c' => "FMMM",
            'M' => "FMMonth",
            'b' => "Mon",
            'd' => "DD",
            'e' => "FMDD",
            'j' => "DDD",
            'W' => "FMDay",
            'a' => "Dy",
            'H' => "HH24",
            'k' => "FMHH24",
            'h' | 'I' => "HH12",
            'l' => "FMHH12",
            'i' => "MI",
            's' | 'S' => "SS",
            'T' => "HH24:MI:SS",
            'p' => "AM",
            'f' => "US",
            '%' => "%",
            _ => return None,
        });
    }
    Some(out)
}

impl Lowering<'_> {
    /// What stands in the schema that has to be there.
    ///
    /// # Errors
    /// `0A000` where it is not.
    pub(super) fn own(&self) -> Result<()> {
        if self.manner.installed {
            return Ok(());
        }
        Err(Error::unsupported(format!("what needs the schema {SCHEMA} in the PostgreSQL database"))
            .hint("Start the server with --install once."))
    }

    /// A call of a function of MySQL's.
    pub(super) fn mysql_call(&mut self, function: &Function, args: &[Expr]) -> Result<String> {
        let is_null = |arg: &Expr| matches!(arg.kind, ExprKind::Literal(Value::Null));
        if function.strict && function.volatility != crate::functions::Volatility::Volatile && args.iter().any(is_null)
        {
            return Ok("NULL".to_owned());
        }
        match (function.name, args) {
            // The server behind tells the numbers.
            ("mysql_met", _) => return Ok("true".to_owned()),
            ("mysql_changes", [mode, pairs @ ..]) => return self.changes(mode, pairs),
            ("mysql_like" | "mysql_like_binary", [value, pattern, escape]) => {
                return self.mysql_like(function.name == "mysql_like", value, pattern, escape);
            }
            ("mysql_regexp", [value, pattern]) => return self.regexp(value, pattern, None),
            ("regexp_like", [value, pattern]) => return self.regexp(value, pattern, None),
            ("regexp_like", [value, pattern, kind]) => return self.regexp(value, pattern, Some(kind)),
            ("concat", [_, ..]) if args.iter().all(|arg| arg.ty.through_domains().is_text()) => {
                let members: Result<Vec<String>> = args.iter().map(|arg| self.expr(arg)).collect();
                return Ok(format!("({})", members?.join(" || ")));
            }
            ("field", [value, list @ ..]) if args.iter().all(|arg| arg.ty.through_domains().is_integer()) => {
                let members: Result<Vec<String>> =
                    list.iter().map(|member| Ok(format!("({})::bigint", self.expr(member)?))).collect();
                let (value, members) = (self.expr(value)?, members?.join(", "));
                return Ok(format!(
                    "(CASE WHEN {value} IS NULL THEN 0 ELSE coalesce(array_position(ARRAY[{members}], ({value})::bigint), 0) \
                     END)::bigint"
                ));
            }
            ("concat_ws", [_, _, ..]) if args.iter().all(|arg| arg.ty.through_domains().is_text()) => {
                let members: Result<Vec<String>> = args.iter().map(|arg| self.expr(arg)).collect();
                return Ok(format!("concat_ws({})", members?.join(", ")));
            }
            ("mysql_extract", [part, moment])
                if matches!(moment.ty.through_domains(), Type::Date | Type::Timestamp(_) | Type::TimestampTz(_)) =>
            {
                let part = match known(part).map(str::to_ascii_lowercase).as_deref() {
                    Some("year") => "year",
                    Some("month") => "month",
                    Some("day") => "day",
                    Some("hour") => "hour",
                    Some("minute") => "minute",
                    Some("second") => "second",
                    Some("quarter") => "quarter",
                    _ => return Err(missing("this part of EXTRACT")),
                };
                return Ok(format!("floor(extract({part} FROM ({})::timestamp))::bigint", self.expr(moment)?));
            }
            ("date_format", [moment, format])
                if matches!(moment.ty.through_domains(), Type::Date | Type::Timestamp(_) | Type::TimestampTz(_)) =>
            {
                let format = known(format).and_then(format_of).ok_or_else(|| missing("this format of DATE_FORMAT"))?;
                let ty = if *moment.ty.through_domains() == Type::Date { "::timestamp" } else { "" };
                return Ok(format!("to_char(({}){ty}, {})", self.expr(moment)?, text(&format)));
            }
            ("mysql_date_add" | "mysql_moment_add", [moment, number, unit, sign]) => {
                return self.date_add(moment, number, unit, sign);
            }
            // What is no member stays what it is, for the column's CHECK.
            ("mysql_enum_of_text", [value, words]) => {
                self.own()?;
                let labels = crate::values::mysql::members::labels(known(words).unwrap_or_default());
                let labels: Vec<String> = labels.iter().map(|label| text(label)).collect();
                let (value, labels) = (self.expr(value)?, labels.join(", "));
                let order = collation(Collation::mysql_default());
                return Ok(format!(
                    "coalesce((ARRAY[{labels}]::text[])[array_position(ARRAY[{labels}]::text[], ({value})::text COLLATE {order})], {value})"
                ));
            }
            ("mysql_enum_number", [value, words]) => {
                let labels = crate::values::mysql::members::labels(known(words).unwrap_or_default());
                let value = self.expr(value)?;
                let labels: Vec<String> = labels.iter().map(|label| text(label)).collect();
                let labels = labels.join(", ");
                return Ok(format!(
                    "(CASE WHEN {value} IS NOT NULL THEN coalesce(array_position(ARRAY[{labels}]::text[], ({value}) COLLATE \"C\"), 0)::bigint END)"
                ));
            }
            _ => {}
        }
        let template = said(function.name, args).ok_or_else(|| missing(&shown(function.name)))?;
        if template.contains("rowferry.") {
            self.own()?;
        }
        let lowered: Result<Vec<String>> = args.iter().map(|arg| self.expr(arg)).collect();
        Ok(super::functions::filled(template, &lowered?))
    }

    /// A regular expression that is known now, and that finds the same there.
    fn regexp(&mut self, value: &Expr, pattern: &Expr, kind: Option<&Expr>) -> Result<String> {
        let refused = || missing("REGEXP with this pattern");
        let mut any_case = true;
        for letter in kind.map_or(Some(""), known).ok_or_else(refused)?.chars() {
            match letter {
                'c' => any_case = false,
                'i' => any_case = true,
                _ => return Err(refused()),
            }
        }
        if !value.ty.through_domains().is_text()
            || own_words(&value.ty).is_some_and(|words| !words.starts_with("char("))
        {
            return Err(missing("REGEXP of other than texts"));
        }
        let pattern = match &pattern.kind {
            ExprKind::Collate { arg, .. } | ExprKind::Cast { arg, .. } => arg,
            _ => pattern,
        };
        let pattern = known(pattern).and_then(|pattern| super::patterns::pattern_of(pattern, any_case));
        let pattern = pattern.ok_or_else(refused)?;
        Ok(format!("(({}) COLLATE \"und-x-icu\" ~ {})", self.expr(value)?, text(&pattern)))
    }

    /// True for a row that is changed. Who counts the rows that are found changes each of them.
    fn changes(&mut self, mode: &Expr, pairs: &[Expr]) -> Result<String> {
        let ExprKind::Literal(Value::Integer(mode)) = mode.kind else { return Err(missing("how rows are counted")) };
        match mode {
            0 if self.manner.counts_found => return Ok("true".to_owned()),
            // A row that goes beside others.
            4 => return Ok("true".to_owned()),
            -1..=3 => {}
            _ => return Err(missing("how rows are counted")),
        }
        // What a default becomes is known when it is stored.
        if pairs.chunks(2).any(|pair| pair.get(1).is_some_and(super::query::is_default)) {
            return Ok("true".to_owned());
        }
        let mut parts = Vec::new();
        for pair in pairs.chunks(2) {
            let [old, new] = pair else { continue };
            if *old.ty.through_domains() == Type::Bool && matches!(new.kind, ExprKind::Literal(Value::Integer(0))) {
                parts.push(self.expr(old)?);
                continue;
            }
            let by = if old.ty.through_domains().is_text() { " COLLATE \"C\"" } else { "" };
            // Documents have no equality there.
            let (by, told) =
                if *old.ty.through_domains() == Type::Json { (" COLLATE \"C\"", "::text") } else { (by, "") };
            let new = super::dml::said_number(new).unwrap_or(new);
            let (old_words, new_words) = (self.expr(old)?, self.expr(new)?);
            parts.push(format!("({old_words}){told}{by} IS DISTINCT FROM ({new_words}){told}{by}"));
        }
        Ok(format!("({})", parts.join(" OR ")))
    }

    fn mysql_like(&mut self, folds: bool, value: &Expr, pattern: &Expr, escape: &Expr) -> Result<String> {
        let Some(escape) = known(escape).filter(|escape| !escape.chars().any(char::is_alphanumeric)) else {
            return Err(missing("LIKE with this ESCAPE"));
        };
        let (value, pattern, escape) = (self.expr(value)?, self.expr(pattern)?, text(escape));
        if folds {
            self.own()?;
            return Ok(format!("rowferry.\"like\"({value}, {pattern}, {escape})"));
        }
        Ok(format!("(({value}) COLLATE \"C\" LIKE ({pattern}) COLLATE \"C\" ESCAPE {escape})"))
    }

    /// A moment and so many units of time, where both are what they are there.
    fn date_add(&mut self, moment: &Expr, number: &Expr, unit: &Expr, sign: &Expr) -> Result<String> {
        let (Some(unit), ExprKind::Literal(Value::Integer(sign))) = (known(unit), &sign.kind) else {
            return Err(missing("a unit of time that is computed"));
        };
        let is_date = *moment.ty.through_domains() == Type::Date;
        if !is_date && !matches!(moment.ty.through_domains(), Type::Timestamp(_))
            || !number.ty.through_domains().is_integer()
        {
            return Err(missing("this sum of a moment and a time"));
        }
        let interval = match unit.to_ascii_lowercase().as_str() {
            "year" => "make_interval(years => {n})",
            "quarter" => "make_interval(months => 3 * {n})",
            "month" => "make_interval(months => {n})",
            "week" => "make_interval(days => 7 * {n})",
            "day" => "make_interval(days => {n})",
            "hour" if !is_date => "make_interval(hours => {n})",
            "minute" if !is_date => "make_interval(mins => {n})",
            "second" if !is_date => "make_interval(secs => {n})",
            _ => return Err(missing("this unit of time")),
        };
        let sign = if *sign < 0 { "-" } else { "" };
        let interval = interval.replace("{n}", &format!("({sign}({}))::integer", self.expr(number)?));
        let kind = if is_date { "date" } else { "timestamp" };
        Ok(format!("({} + {interval})::{kind}", self.expr(moment)?))
    }
}
