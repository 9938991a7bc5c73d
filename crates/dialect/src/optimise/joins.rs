//! A join in parentheses of which a member refers to what stands on the left of the parentheses.
//!
//! `a, (f(a.x) AS k JOIN b ON …)` is `(a, f(a.x) AS k) JOIN b ON …`: all are members of one join, whose order a back end
//! chooses and in which it looks rows up, where it would otherwise run a query of its own for each row of `a`.

use crate::Type;
use crate::ir::{Expr, ExprKind, From, JoinKind, RelId, walk};

/// Takes parentheses away where the join means the same without them.
pub(super) fn without_parentheses(from: From) -> From {
    let From::Join { kind, left, right, on } = from else { return from };
    let (left, right) = (Box::new(without_parentheses(*left)), Box::new(without_parentheses(*right)));
    if kind != JoinKind::Inner {
        return From::Join { kind, left, right, on };
    }
    match *right {
        From::Join { kind: inner @ (JoinKind::Inner | JoinKind::Left), left: first, right: second, on: condition }
            if (inner == JoinKind::Inner || on.is_none())
                && [&*first, &*second].into_iter().any(|member| refers_to(member, &left.relations())) =>
        {
            let pairs = From::Join { kind: JoinKind::Inner, left, right: first, on: None };
            let left = Box::new(without_parentheses(pairs));
            without_parentheses(From::Join { kind: inner, left, right: second, on: both(condition, on) })
        }
        right => From::Join { kind, left, right: Box::new(right), on },
    }
}

fn both(one: Option<Expr>, other: Option<Expr>) -> Option<Expr> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Expr::new(ExprKind::And(vec![one, other]), Type::Bool)),
        (one, other) => one.or(other),
    }
}

fn refers_to(from: &From, relations: &[RelId]) -> bool {
    let mut found = false;
    walk::from(from, &mut |part| {
        found |= matches!(part.kind, ExprKind::Column(column) if relations.contains(&column.relation));
        !found
    });
    found
}
