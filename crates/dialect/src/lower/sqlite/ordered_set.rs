//! Aggregates WITHIN GROUP.
//!
//! Those that pick a value collect the values in order. Where a hypothetical row would stand is a matter of counting: the
//! rows that sort before it, and those that do not sort behind it.

use super::cast::type_words;
use super::{Lowering, Repr, Sql, repr_of};
use crate::ir::{Aggregate, CompareOp, Expr, ExprKind, SortKey};
use crate::{Error, Result, Type};

impl Lowering<'_> {
    /// `f(direct) WITHIN GROUP (ORDER BY keys)`.
    pub(super) fn within_group(&mut self, word: &str, aggregate: &Aggregate, ty: &Type) -> Result<Sql> {
        let sql = match word {
            "within mode" | "within percentile_disc" | "within percentile_cont" => self.picked(word, aggregate)?,
            "within rank" => format!("({} + 1)", self.count_of(&before(aggregate), aggregate)?),
            "within percent_rank" => {
                let all = self.count_of(&Expr::bool(true), aggregate)?;
                let before = self.count_of(&before(aggregate), aggregate)?;
                format!("coalesce(CAST({before} AS REAL) / nullif({all}, 0), 0.0)")
            }
            "within cume_dist" => {
                let all = self.count_of(&Expr::bool(true), aggregate)?;
                let level = any_of(vec![before(aggregate), level(aggregate)]);
                let level = self.count_of(&level, aggregate)?;
                format!("(({level} + 1.0) / ({all} + 1.0))")
            }
            "within dense_rank" => self.dense_rank(aggregate)?,
            _ => return Err(Error::internal(format!("no aggregate within a group: {word}"))),
        };
        Ok(Sql { sql, repr: repr_of(ty) })
    }

    fn picked(&mut self, word: &str, aggregate: &Aggregate) -> Result<String> {
        let [key] = aggregate.order_by.as_slice() else { return Err(Error::internal("an order of one key")) };
        self.needs_us();
        let mut args = self.texts(std::slice::from_ref(&key.expr))?;
        args.push(type_words(&key.expr.ty));
        let mut name = word.replace("within ", "rf_");
        if let [fraction] = aggregate.direct.as_slice() {
            args.extend(self.texts(std::slice::from_ref(fraction))?);
            if matches!(fraction.ty, Type::Array(_)) {
                name.push_str("_all");
            }
        }
        let order = self.sort_keys(&aggregate.order_by)?;
        let filter = self.filter(aggregate.filter.as_ref())?;
        Ok(format!("{name}({} ORDER BY {order}){filter}", args.join(", ")))
    }

    /// How many rows of the group a condition holds for.
    fn count_of(&mut self, condition: &Expr, aggregate: &Aggregate) -> Result<String> {
        let mut conditions: Vec<Expr> = aggregate.filter.iter().cloned().collect();
        conditions.push(condition.clone());
        Ok(format!("count(*) FILTER (WHERE {})", self.expr(&all_of(conditions))?.sql))
    }

    /// One more than the different rows before the hypothetical one.
    fn dense_rank(&mut self, aggregate: &Aggregate) -> Result<String> {
        let [key] = aggregate.order_by.as_slice() else {
            return Err(Error::unsupported("dense_rank WITHIN GROUP over several columns"));
        };
        let mut conditions: Vec<Expr> = aggregate.filter.iter().cloned().collect();
        conditions.push(before(aggregate));
        let condition = self.expr(&all_of(conditions))?.sql;
        let value = self.expr(&key.expr)?;
        let value = if value.repr == Repr::Native { value } else { self.with_collation(value, &key.expr.ty) };
        // NULLs are one value, too, which count() does not see.
        let nulls = format!("coalesce(max({} IS NULL) FILTER (WHERE {condition}), 0)", value.sql);
        Ok(format!("(count(DISTINCT {}) FILTER (WHERE {condition}) + {nulls} + 1)", value.sql))
    }
}

fn all_of(mut conditions: Vec<Expr>) -> Expr {
    if conditions.len() == 1 { conditions.remove(0) } else { Expr::new(ExprKind::And(conditions), Type::Bool) }
}

fn any_of(conditions: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::Or(conditions), Type::Bool)
}

/// A row sorts before the hypothetical one.
fn before(aggregate: &Aggregate) -> Expr {
    let mut level: Vec<Expr> = Vec::new();
    let mut ways = Vec::new();
    for (key, value) in aggregate.order_by.iter().zip(&aggregate.direct) {
        let mut way = level.clone();
        way.push(key_before(key, value));
        ways.push(all_of(way));
        level.push(same(key, value));
    }
    if ways.len() == 1 { ways.remove(0) } else { any_of(ways) }
}

/// A row sorts where the hypothetical one does.
fn level(aggregate: &Aggregate) -> Expr {
    all_of(aggregate.order_by.iter().zip(&aggregate.direct).map(|(key, value)| same(key, value)).collect())
}

fn same(key: &SortKey, value: &Expr) -> Expr {
    let (left, right) = (Box::new(key.expr.clone()), Box::new(value.clone()));
    Expr::new(ExprKind::Distinct { negated: true, left, right }, Type::Bool)
}

fn key_before(key: &SortKey, value: &Expr) -> Expr {
    let is_null =
        |expr: &Expr, negated| Expr::new(ExprKind::IsNull { arg: Box::new(expr.clone()), negated }, Type::Bool);
    let op = if key.descending { CompareOp::Greater } else { CompareOp::Less };
    let less = ExprKind::Compare { op, left: Box::new(key.expr.clone()), right: Box::new(value.clone()) };
    let (first, last) = if key.nulls_first { (&key.expr, value) } else { (value, &key.expr) };
    // A comparison with NULL is neither true nor false: here it is false.
    let less = Expr::new(
        ExprKind::IsTruth { arg: Box::new(Expr::new(less, Type::Bool)), test: Some(true), negated: false },
        Type::Bool,
    );
    any_of(vec![less, all_of(vec![is_null(first, false), is_null(last, true)])])
}
