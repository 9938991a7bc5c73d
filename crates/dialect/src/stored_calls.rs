//! Calls of functions that users have made, in bound statements: which function a call is of, and whether it may change
//! something.

use crate::Schema;
use crate::functions::{Function, Volatility};
use crate::ir::{Body, CteBody, Dml, Expr, ExprKind, From, InsertSource, Query, Statement, Value, walk};
use crate::postgres::polymorphic::Standing;

/// The name of the function that such a call as a value is to the IR.
pub const VALUE: &str = "stored function";
/// The same of one that yields rows.
pub const ROWS: &str = "stored function rows";

/// What a call yields may be another thing the next time: a function of a user's counts as one that does.
pub fn may_be_volatile(function: &Function) -> bool {
    function.volatility == Volatility::Volatile || matches!(function.name, VALUE | ROWS)
}

/// Which function, and what its polymorphic types stand for.
#[derive(Clone, Debug)]
pub struct Callee {
    /// Its object id.
    pub oid: u32,
    /// The words that the call is told of its polymorphic types and of the collation of its arguments.
    pub standing: Option<String>,
}

impl Callee {
    fn may_write(&self, schema: &dyn Schema) -> bool {
        schema.function_by_oid(self.oid).is_none_or(|function| function.may_write(schema))
    }
}

/// The function of a call and its arguments; `None` for other expressions.
pub fn callee(expr: &Expr) -> Option<(Callee, &[Expr])> {
    match &expr.kind {
        ExprKind::Call { function, args } if function.name == VALUE => callee_of(args),
        _ => None,
    }
}

/// The same from the arguments that the IR has.
pub fn callee_of(args: &[Expr]) -> Option<(Callee, &[Expr])> {
    let [oid, standing, args @ ..] = args else { return None };
    let ExprKind::Literal(Value::Integer(oid)) = oid.kind else { return None };
    let standing = match &standing.kind {
        ExprKind::Literal(Value::Text(words)) => Some(words.clone()),
        _ => None,
    };
    Some((Callee { oid: u32::try_from(oid).ok()?, standing }, args))
}

/// Tells a call the collation of its arguments, by its object id: what stands in the function compares them in it.
pub fn tell_collation(args: &mut [Expr], collation: u32) {
    let [_, standing, ..] = args else { return };
    let known = match &standing.kind {
        ExprKind::Literal(Value::Text(words)) => Standing::from_words(words),
        _ => None,
    };
    *standing = Expr::text(known.unwrap_or_default().in_collation(collation).words());
}

/// A statement calls functions that may change something.
pub fn statement_writes(statement: &Statement, schema: &dyn Schema) -> bool {
    match statement {
        Statement::Query(query) => query_writes(query, schema),
        Statement::Dml(dml) => change_writes(dml, schema),
        statement => {
            let mut found = false;
            walk::statement(statement, &mut |expr| {
                found |= is_writer(expr, schema);
                !found
            });
            found
        }
    }
}

/// A change calls functions that may change something else.
pub fn change_writes(dml: &Dml, schema: &dyn Schema) -> bool {
    let mut found = false;
    walk::dml(dml, &mut |expr| {
        found |= is_writer(expr, schema);
        !found
    });
    found
        || match &dml.action {
            crate::ir::DmlAction::Insert { source: InsertSource::Query(query), .. } => query_writes(query, schema),
            crate::ir::DmlAction::Update { from: Some(from), .. }
            | crate::ir::DmlAction::Delete { using: Some(from), .. } => from_writes(from, schema),
            _ => false,
        }
}

/// A query calls functions that may change something.
pub fn query_writes(query: &Query, schema: &dyn Schema) -> bool {
    let mut found = false;
    walk::query(query, &mut |expr| {
        found |= is_writer(expr, schema);
        !found
    });
    found || rows_write(query, schema)
}

/// An expression, or a part of it, is a call of a function that may change something.
pub fn writes(expr: &Expr, schema: &dyn Schema) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= is_writer(part, schema);
        !found
    });
    found
}

/// A member of FROM makes such a call.
pub fn from_writes(from: &From, schema: &dyn Schema) -> bool {
    let mut found = false;
    walk::from(from, &mut |part| {
        found |= is_writer(part, schema);
        !found
    });
    found || members_write(from, schema)
}

/// It is itself such a call, or a query whose FROM has one.
fn is_writer(expr: &Expr, schema: &dyn Schema) -> bool {
    match expr.kind.query() {
        Some(query) => rows_write(query, schema),
        None => callee(expr).is_some_and(|(callee, _)| callee.may_write(schema)),
    }
}

/// Functions that yield rows stand beside expressions.
fn rows_write(query: &Query, schema: &dyn Schema) -> bool {
    let in_ctes = query.ctes.iter().any(|cte| match &cte.body {
        CteBody::Query(query) => rows_write(query, schema),
        CteBody::Dml(_) => false,
    });
    in_ctes
        || match &query.body {
            Body::Select(select) => select.from.as_ref().is_some_and(|from| members_write(from, schema)),
            Body::Set { left, right, .. } => rows_write(left, schema) || rows_write(right, schema),
            Body::Values(_) => false,
        }
}

fn members_write(from: &From, schema: &dyn Schema) -> bool {
    match from {
        From::Function { function, args, .. } if function.name == ROWS => {
            callee_of(args).is_some_and(|(callee, _)| callee.may_write(schema))
        }
        From::Query { query, .. } => rows_write(query, schema),
        From::Join { left, right, .. } => members_write(left, schema) || members_write(right, schema),
        From::Function { .. } | From::Relation { .. } | From::Kept { .. } | From::Cte { .. } => false,
    }
}
