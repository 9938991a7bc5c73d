//! What a WHERE clause asks for, so that a planner finds it.
//!
//! `(a AND b) OR (a AND c)` is `a AND (b OR c)`: the key of a join often hides in every member of an OR. And what each
//! member asks of one table alone implies an OR that can be asked of that table before it is joined: a back end whose
//! planner does not see it is told ([`implied`]).

use std::collections::BTreeSet;

use crate::Type;
use crate::functions::Volatility;
use crate::ir::{Expr, ExprKind, RelId, walk};

/// ORs of more members are lists that somebody has spelled out; looking into them would not be cheap.
const MOST: usize = 16;

/// Rewrites the condition of a WHERE clause: rows for which it is unknown do not pass.
pub(super) fn of_filter(filter: &mut Expr) {
    if !has_or(filter) {
        return;
    }
    let whole = std::mem::replace(filter, Expr::bool(true));
    let mut asked = Vec::new();
    for condition in conjuncts(whole) {
        match factored(condition) {
            Factored::As(condition) => asked.push(condition),
            Factored::Into(common, rest) => {
                asked.extend(common);
                asked.extend(rest);
            }
        }
    }
    *filter = all(asked);
}

fn has_or(filter: &Expr) -> bool {
    match &filter.kind {
        ExprKind::Or(_) => true,
        ExprKind::And(members) => members.iter().any(has_or),
        _ => false,
    }
}

fn conjuncts(condition: Expr) -> Vec<Expr> {
    match condition.kind {
        ExprKind::And(members) => members.into_iter().flat_map(conjuncts).collect(),
        _ => vec![condition],
    }
}

fn all(mut conditions: Vec<Expr>) -> Expr {
    match conditions.len() {
        1 => conditions.remove(0),
        _ => Expr::new(ExprKind::And(conditions), Type::Bool),
    }
}

enum Factored {
    As(Expr),
    /// What all members ask for, and what is left of the OR.
    Into(Vec<Expr>, Option<Expr>),
}

fn factored(condition: Expr) -> Factored {
    let ExprKind::Or(members) = condition.kind else { return Factored::As(condition) };
    if members.len() > MOST || members.iter().any(|member| !may_move(member)) {
        return Factored::As(Expr::new(ExprKind::Or(members), condition.ty));
    }
    let mut members: Vec<Vec<Expr>> = members.into_iter().map(conjuncts).collect();
    let mut common = Vec::new();
    let (first, others) = members.split_at_mut(1);
    first[0].retain(|asked| {
        let everywhere = others.iter().all(|member| member.contains(asked));
        if everywhere {
            common.push(asked.clone());
        }
        !everywhere
    });
    for member in others {
        member.retain(|asked| !common.contains(asked));
    }
    // A member that asks for nothing else holds whenever the others do.
    let rest = (members.iter().all(|member| !member.is_empty()))
        .then(|| Expr::new(ExprKind::Or(members.into_iter().map(all).collect()), Type::Bool));
    Factored::Into(common, rest)
}

/// The conditions that a WHERE clause asks for all together.
pub fn asked(filter: &Expr) -> Vec<&Expr> {
    match &filter.kind {
        ExprKind::And(members) => members.iter().flat_map(asked).collect(),
        _ => vec![filter],
    }
}

/// Conditions on one table each that hold for every row that a WHERE clause lets pass, by its ORs over several tables.
pub fn implied(filter: &Expr) -> Vec<Expr> {
    match &filter.kind {
        ExprKind::And(members) => members.iter().flat_map(implied).collect(),
        ExprKind::Or(_) => implied_by_or(filter),
        _ => Vec::new(),
    }
}

fn implied_by_or(condition: &Expr) -> Vec<Expr> {
    let ExprKind::Or(members) = &condition.kind else { return Vec::new() };
    if members.len() > MOST || !may_move(condition) || relations(condition).len() < 2 {
        return Vec::new();
    }
    let members: Vec<Vec<&Expr>> = members
        .iter()
        .map(|member| match &member.kind {
            ExprKind::And(parts) => parts.iter().collect(),
            _ => vec![member],
        })
        .collect();
    let mut found = Vec::new();
    for relation in relations(condition) {
        let of_relation = |asked: &&&Expr| {
            let named = relations(asked);
            named.len() == 1 && named.contains(&relation)
        };
        let alternatives: Vec<Vec<Expr>> = members
            .iter()
            .map(|member| member.iter().filter(of_relation).map(|asked| (*asked).clone()).collect())
            .collect();
        if alternatives.iter().all(|asked| !asked.is_empty()) {
            let alternatives = alternatives.into_iter().map(all).collect();
            found.push(Expr::new(ExprKind::Or(alternatives), Type::Bool));
        }
    }
    found
}

fn relations(condition: &Expr) -> BTreeSet<RelId> {
    let mut found = BTreeSet::new();
    walk::expr(condition, &mut |part| {
        if let ExprKind::Column(column) = &part.kind {
            found.insert(column.relation);
        }
        true
    });
    found
}

/// A condition that may be asked for at another time, or twice: no query, and nothing that is another value each time.
fn may_move(condition: &Expr) -> bool {
    let mut may = true;
    walk::expr(condition, &mut |part| {
        may &= match &part.kind {
            ExprKind::Call { function, .. } => function.volatility != Volatility::Volatile,
            ExprKind::Column(_)
            | ExprKind::Literal(_)
            | ExprKind::Param(_)
            | ExprKind::Cast { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Distinct { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::IsNull { .. }
            | ExprKind::IsTruth { .. }
            | ExprKind::Like { .. }
            | ExprKind::InList { .. }
            | ExprKind::Collate { .. } => true,
            _ => false,
        };
        may
    });
    may
}
