//! Old outer joins: `FROM a, OUTER (b, OUTER c)`, whose conditions stand in WHERE.

use super::Binder;
use super::query::{all_of, cross};
use crate::informix::ast::Source;
use crate::ir::{Expr, ExprKind, From, JoinKind, RelId, Value};
use crate::{Condition, Result, Type};

/// The tables of one OUTER, with those that are outer to them in turn.
pub(super) struct Outer {
    base: From,
    relations: Vec<RelId>,
    conditions: Vec<Expr>,
    inner: Vec<Outer>,
}

impl Binder<'_> {
    /// Binds the tables of an OUTER.
    pub(super) fn outer(&mut self, members: &[Source]) -> Result<Outer> {
        let mut base: Option<From> = None;
        let mut relations = Vec::new();
        let mut inner = Vec::new();
        for member in members {
            if let Source::Outer(nested) = member {
                inner.push(self.outer(nested)?);
                continue;
            }
            let before = self.visible_relations();
            let from = self.source(member)?;
            relations.extend(self.visible_relations().split_off(before.len()));
            base = Some(cross(base, from));
        }
        match base {
            Some(base) => Ok(Outer { base, relations, conditions: Vec::new(), inner }),
            None => Err(self.error(Condition::SyntaxError, "OUTER needs a table to preserve", 0)),
        }
    }
}

impl Outer {
    /// Takes a condition that is about these tables, or about those outer to them; gives it back otherwise.
    pub(super) fn take(&mut self, condition: Expr, touched: &[RelId]) -> Option<Expr> {
        let mut condition = condition;
        for inner in &mut self.inner {
            condition = inner.take(condition, touched)?;
        }
        if self.relations.iter().any(|relation| touched.contains(relation)) {
            self.conditions.push(condition);
            return None;
        }
        Some(condition)
    }

    /// Joins the tables to those that they are outer to.
    pub(super) fn join(self, left: From) -> From {
        let right = self.inner.into_iter().fold(self.base, |base, inner| inner.join(base));
        let always = || Expr::new(ExprKind::Literal(Value::Integer(1)), Type::Bool);
        let on = Some(all_of(self.conditions).unwrap_or_else(always));
        From::Join { kind: JoinKind::Left, left: Box::new(left), right: Box::new(right), on }
    }
}
