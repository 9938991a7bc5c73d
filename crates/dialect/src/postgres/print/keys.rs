//! What rows are sorted, grouped or told apart by, and what an index holds: members of lists that may need parentheses of
//! their own.

use super::{Names, VALUES, argument};
use crate::functions::{FunctionKind, Subscripts};
use crate::ir::{Expr, ExprKind};
use crate::postgres::expr::rows::field_of;
use crate::postgres::types::{oid, typmod};

/// The text of what rows are sorted or grouped by: what looks like a call could be read as ROLLUP or CUBE there, and stands in
/// parentheses; in the pretty form all does but a column or a constant.
pub fn key(expr: &Expr, names: &dyn Names, pretty: bool) -> Option<String> {
    let text = argument(expr, names, pretty)?;
    let bare = matches!(expr.kind, ExprKind::Column(_) | ExprKind::Literal(_));
    Some(if !bare && (pretty || is_call(expr)) { format!("({text})") } else { text })
}

/// Members of a list; one on a line of its own leaves no blank behind it.
pub fn joined(texts: &[String]) -> String {
    let mut out = String::new();
    for text in texts {
        if !out.is_empty() {
            out.push_str(if text.starts_with('\n') { "," } else { ", " });
        }
        out.push_str(text);
    }
    out
}

/// It looks like the call of a function, and stands bare as the key of an index.
pub fn looks_called(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { function, .. } => {
            function.kind != FunctionKind::Operator
                && !function.is(Subscripts::Element.function())
                && !function.is(Subscripts::Jsonb.function())
                && field_of(expr).is_none()
                && !matches!(function.name, "operator of users" | "cast of users")
        }
        ExprKind::Coalesce(_) | ExprKind::Greatest(_) | ExprKind::Least(_) | ExprKind::NullIf(..) => true,
        _ => false,
    }
}

/// PostgreSQL calls a function for it.
fn is_call(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Aggregate(_) | ExprKind::Window(_) => true,
        ExprKind::Call { function, args } => {
            let word = VALUES.contains(&function.name) && args.is_empty();
            function.kind != FunctionKind::Operator
                && !function.is(Subscripts::Element.function())
                && field_of(expr).is_none()
                && !word
                && !matches!(function.name, "operator of users" | "grouping of keys")
        }
        ExprKind::Cast { arg, .. } => {
            let (from, to) = (oid(&arg.ty), oid(&expr.ty));
            let length = typmod(&expr.ty) != -1 && rowferry_facts::Cast::between(to, to).is_some();
            length || rowferry_facts::Cast::between(from, to).is_some_and(|cast| cast.method == 'f')
        }
        _ => false,
    }
}
