//! Expressions that mean the same though the relations inside their queries have numbers of their own.
//!
//! `SELECT (SELECT max(x) FROM b) FROM a GROUP BY (SELECT max(x) FROM b)` has one subquery written twice.

use std::collections::BTreeMap;

use super::{Body, CteBody, CteId, Expr, ExprKind, From, Query, RelId, walk};

/// True for expressions that are equal but for the numbers of relations in their subqueries.
pub fn alike(left: &Expr, right: &Expr) -> bool {
    left == right || (left.ty == right.ty && holds_query(left) && numbered_anew(left) == numbered_anew(right))
}

/// Puts one of `known` in the place of each part of an expression that is a subquery like it.
pub fn unify(expr: &mut Expr, known: &[Expr]) {
    if known.iter().any(holds_query) {
        walk::expr_mut(expr, &mut |part| {
            let Some(same) = known.iter().find(|known| alike(known, part)) else { return true };
            *part = same.clone();
            false
        });
    }
}

fn holds_query(expr: &Expr) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= part.kind.query().is_some();
        !found
    });
    found
}

/// The expression with the relations of its subqueries numbered in the order in which they stand there.
fn numbered_anew(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    let mut numbers = Numbers::default();
    walk::expr_mut(&mut expr, &mut |part| {
        if let Some(query) = part.kind.query_mut() {
            numbers.query(query);
        }
        if let ExprKind::Column(column) = &mut part.kind
            && let Some(number) = numbers.relations.get(&column.relation)
        {
            column.relation = *number;
        }
        true
    });
    expr
}

#[derive(Default)]
struct Numbers {
    relations: BTreeMap<RelId, RelId>,
    ctes: Vec<(CteId, CteId)>,
}

impl Numbers {
    /// Beyond the numbers that a binder gives.
    const FIRST: u32 = 1 << 29;

    fn query(&mut self, query: &mut Query) {
        for cte in &mut query.ctes {
            let number = CteId(Self::FIRST + u32::try_from(self.ctes.len()).unwrap_or(u32::MAX >> 2));
            self.ctes.push((cte.id, number));
            cte.id = number;
            if let CteBody::Query(query) = &mut cte.body {
                self.query(query);
            }
        }
        self.relation(&mut query.output);
        self.body(&mut query.body);
    }

    fn body(&mut self, body: &mut Body) {
        match body {
            Body::Select(select) => select.from.iter_mut().for_each(|from| self.from(from)),
            Body::Set { left, right, .. } => {
                self.query(left);
                self.query(right);
            }
            Body::Values(_) => {}
        }
    }

    fn from(&mut self, from: &mut From) {
        match from {
            From::Relation { id, .. } | From::Kept { id, .. } | From::Function { id, .. } => self.relation(id),
            From::Query { id, query, .. } => {
                self.relation(id);
                self.query(query);
            }
            From::Cte { id, cte, .. } => {
                self.relation(id);
                if let Some((_, number)) = self.ctes.iter().find(|(known, _)| known == cte) {
                    *cte = *number;
                }
            }
            From::Join { left, right, .. } => {
                self.from(left);
                self.from(right);
            }
        }
    }

    fn relation(&mut self, id: &mut RelId) {
        let number = RelId(Self::FIRST + u32::try_from(self.relations.len()).unwrap_or(u32::MAX >> 2));
        *id = *self.relations.entry(*id).or_insert(number);
    }
}
