//! Which of a result's columns are never NULL, as MySQL's clients are told.
//!
//! Those of Rust and Go make types of it: an `Option` for what may be NULL, a plain value for what may not.
//!
//! Source: compared with what MySQL 9.7 tells.

use super::super::binder::{Binder, EntryColumn};
use crate::Type;
use crate::ir::{Body, CastContext, Expr, ExprKind, Value};

/// Functions and operators that are NULL only where an argument is.
const KEEP: &[&str] = &[
    "*",
    "+",
    "-",
    "abs",
    "ascii",
    "bit_count",
    "ceil",
    "ceiling",
    "char_length",
    "character_length",
    "connection_id",
    "crc32",
    "curdate",
    "current_date",
    "current_time",
    "current_timestamp",
    "curtime",
    "degrees",
    "field",
    "find_in_set",
    "floor",
    "found_rows",
    "greatest",
    "instr",
    "interval",
    "is_ipv4",
    "is_ipv6",
    "last_insert_id",
    "least",
    "length",
    "localtime",
    "localtimestamp",
    "locate",
    "mysql_bit_and",
    "mysql_bit_not",
    "mysql_bit_or",
    "mysql_bit_xor",
    "mysql_like",
    "mysql_like_binary",
    "mysql_nearest",
    "mysql_not_zero",
    "mysql_regexp",
    "mysql_shift_left",
    "mysql_shift_right",
    "mysql_to_decimal",
    "mysql_to_double",
    "mysql_to_integer",
    "mysql_set_user_variable",
    "mysql_to_number",
    "mysql_to_unsigned",
    "mysql_truth",
    "mysql_unsigned",
    "mysql_wide_number",
    "now",
    "octet_length",
    "ord",
    "period_add",
    "period_diff",
    "pi",
    "radians",
    "rand",
    "regexp_like",
    "release_all_locks",
    "round",
    "row_count",
    "sign",
    "sleep",
    "strcmp",
    "truncate",
    "unix_timestamp",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "version",
];

/// Aggregates that have a value without rows.
const COUNTS: &[&str] = &["count", "bit_and", "bit_or", "bit_xor"];

/// Window functions that have a value for every row.
const RANKS: &[&str] = &["count", "row_number", "rank", "dense_rank", "ntile", "percent_rank", "cume_dist"];

impl Binder<'_> {
    /// True for a column that is never NULL, as far as is known: an outer join may have no row of it.
    pub(in crate::postgres) fn is_column_certain(&self, column: &EntryColumn) -> bool {
        column.not_null && (!self.is_mysql() || self.mysql_never_null(&column.expr))
    }

    /// True for what is never NULL, as far as MySQL knows.
    pub(in crate::postgres) fn mysql_never_null(&self, expr: &Expr) -> bool {
        let all = |members: &[Expr]| members.iter().all(|member| self.mysql_never_null(member));
        match &expr.kind {
            // A document may always be NULL, a written one, too.
            ExprKind::Literal(value) => *value != Value::Null && *expr.ty.through_domains() != Type::Json,
            ExprKind::Column(_) => {
                let mut entries = self.scopes.iter().rev().flat_map(|scope| &scope.entries);
                let found = entries.find_map(|entry| {
                    let column = entry.columns.iter().find(|column| column.expr == *expr)?;
                    Some(column.not_null && !entry.nullable)
                });
                found.unwrap_or(false)
            }
            ExprKind::Call { function, args } => KEEP.contains(&function.name) && all(args),
            // A text need not be a date, and a text that is asked for need not have room.
            ExprKind::Cast { arg, context } => {
                let number = expr.ty.is_number() || *expr.ty.through_domains() == Type::Bool;
                (number || *context == CastContext::Implicit && arg.ty.is_text()) && self.mysql_never_null(arg)
            }
            ExprKind::Checked { arg, .. } | ExprKind::Not(arg) => self.mysql_never_null(arg),
            ExprKind::Aggregate(aggregate) => match aggregate.function.name {
                "any_value" => all(&aggregate.args),
                name => COUNTS.contains(&name),
            },
            ExprKind::Window(window) => RANKS.contains(&window.function.name),
            ExprKind::Compare { left, right, .. } => self.mysql_never_null(left) && self.mysql_never_null(right),
            ExprKind::Like { text, pattern, .. } => self.mysql_never_null(text) && self.mysql_never_null(pattern),
            ExprKind::And(members) | ExprKind::Or(members) | ExprKind::Greatest(members) | ExprKind::Least(members) => {
                all(members)
            }
            ExprKind::InList { arg, list, .. } => self.mysql_never_null(arg) && all(list),
            ExprKind::Coalesce(members) => members.iter().any(|member| self.mysql_never_null(member)),
            ExprKind::Case { branches, otherwise } => {
                otherwise.as_deref().is_some_and(|value| self.mysql_never_null(value))
                    && branches.iter().all(|(_, value)| self.mysql_never_null(value))
            }
            ExprKind::Distinct { .. } | ExprKind::IsNull { .. } | ExprKind::IsTruth { .. } | ExprKind::Exists(_) => {
                true
            }
            ExprKind::Scalar(query) => match &query.body {
                // Without rows to choose from there is one.
                Body::Select(select) if select.from.is_none() && select.filter.is_none() => {
                    select.items.first().is_some_and(|item| self.mysql_never_null(item))
                }
                Body::Select(_) | Body::Set { .. } | Body::Values(_) => false,
            },
            _ => false,
        }
    }
}
