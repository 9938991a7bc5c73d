//! Subqueries in expressions.

use pg_query::protobuf::{self as pg, SubLinkType, node::Node as N};

use super::super::binder::{Binder, BoundQuery, Clause};
use super::super::names;
use super::super::resolve::{Miss, standing};
use super::super::with::Within;
use super::operators::comparison;
use crate::functions::Volatility;
use crate::ir::{Body, CastContext, CompareOp, Expr, ExprKind, From, OutputColumn, walk};
use crate::{Condition, Result, Type};

impl Binder<'_> {
    pub(super) fn sublink(&mut self, link: &pg::SubLink) -> Result<Expr> {
        if self.scopes.last().is_some_and(|scope| scope.clause == Clause::CopyWhere) {
            let message = "cannot use subquery in COPY FROM WHERE condition";
            return Err(self.error(Condition::FeatureNotSupported, message, link.location));
        }
        self.not_itself(Within::Subquery, |binder| binder.query_in_expression(link))
    }

    fn query_in_expression(&mut self, link: &pg::SubLink) -> Result<Expr> {
        let Some(N::SelectStmt(select)) = link.subselect.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(self.unsupported("this subquery", link.location));
        };
        let kind = link.sub_link_type();
        if kind == SubLinkType::ExistsSublink {
            let bound = self.subquery(select, true)?;
            return Ok(Expr::new(ExprKind::Exists(Box::new(bound.query)), Type::Bool));
        }
        match kind {
            SubLinkType::ExprSublink | SubLinkType::ArraySublink => {
                let bound = self.subquery(select, true)?;
                let [column] = bound.columns.as_slice() else {
                    return Err(self.error(
                        Condition::SyntaxError,
                        "subquery must return only one column",
                        link.location,
                    ));
                };
                let ty = column.ty.clone();
                Ok(if kind == SubLinkType::ExprSublink {
                    Expr::new(ExprKind::Scalar(Box::new(bound.query)), ty)
                } else {
                    let ty = if matches!(ty, Type::Array(_)) { ty } else { Type::Array(Box::new(standing(&ty))) };
                    Expr::new(ExprKind::ArrayQuery(Box::new(bound.query)), ty)
                })
            }
            SubLinkType::AnySublink | SubLinkType::AllSublink => self.quantified(link, select, kind),
            _ => Err(self.unsupported("comparing a row with a subquery", link.location)),
        }
    }

    /// The column at `place` of the row that a subquery returns, for `(a, b) = (SELECT …)`.
    ///
    /// With it comes its place in the text. Each column asks the subquery for itself, so nothing in it may return another value the next time.
    pub(in super::super) fn column_of_row(
        &mut self,
        link: &pg::SubLink,
        place: usize,
        columns: usize,
        location: i32,
    ) -> Result<(Expr, i32)> {
        let Some(N::SelectStmt(select)) = link.subselect.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(self.unsupported("this subquery", link.location));
        };
        let bound = self.not_itself(Within::Subquery, |binder| binder.subquery(select, true))?;
        if bound.columns.len() != columns {
            let message = "number of columns does not match number of values";
            return Err(self.error(Condition::SyntaxError, message, link.location));
        }
        let mut bound = self.wrap(bound);
        let (Some(column), Body::Select(outer)) = (bound.columns.get(place), &mut bound.query.body) else {
            return Err(crate::Error::internal("a row assignment lacks a value"));
        };
        let mut changes = false;
        if let Some(From::Query { query, .. }) = &outer.from {
            walk::query(query, &mut |part| {
                if let ExprKind::Call { function, .. } = &part.kind {
                    changes |= function.volatility == Volatility::Volatile || function.name == "stored function";
                }
                !changes
            });
        }
        if changes && columns > 1 {
            return Err(self.unsupported("assigning a row from a subquery that calls volatile functions", location));
        }
        let (ty, at) = (column.ty.clone(), bound.places.get(place).copied().unwrap_or(link.location));
        let item = outer.items.swap_remove(place);
        outer.items = vec![item];
        let output = bound.query.columns.swap_remove(place);
        bound.query.columns = vec![output];
        Ok((Expr::new(ExprKind::Scalar(Box::new(bound.query)), ty), at))
    }

    fn quantified(&mut self, link: &pg::SubLink, select: &pg::SelectStmt, kind: SubLinkType) -> Result<Expr> {
        let all = kind == SubLinkType::AllSublink;
        let name = names::strings(&link.oper_name).last().copied().unwrap_or("=");
        let Some(op) = comparison(name) else {
            return Err(self.unsupported(format!("operator {name} with a subquery"), link.location));
        };
        let members = match link.testexpr.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::RowExpr(row)) => self.placed_members(&row.args)?,
            _ => vec![self.required(&link.testexpr)?],
        };
        let bound = self.subquery(select, false)?;
        if bound.columns.len() != members.len() {
            let message = if bound.columns.len() < members.len() {
                "subquery has too few columns"
            } else {
                "subquery has too many columns"
            };
            return Err(self.error(Condition::SyntaxError, message, link.location));
        }
        let mut wanted = Vec::with_capacity(members.len());
        let mut row = Vec::with_capacity(members.len());
        for ((member, at), column) in members.into_iter().zip(&bound.columns) {
            let Some(ty) = self.compared_as(&member.ty, &column.ty) else {
                return Err(self.no_operator(name, &[member.ty, column.ty.clone()], link.location, Miss::None));
            };
            let context = if ty == Type::Int8 { CastContext::Assignment } else { CastContext::Implicit };
            row.push(self.coerce(member, &ty, context, at)?);
            wanted.push(ty);
        }
        let bound = self.coerce_columns(bound, &wanted, CastContext::Assignment, &[])?;
        let by_rows = !matches!((op, all), (CompareOp::Equal, false) | (CompareOp::NotEqual, true));
        if row.len() != 1 && by_rows {
            return self.quantified_row(op, all, row, bound, link.location);
        }
        let query = Box::new(bound.query);
        let any = |row, negated| Expr::new(ExprKind::InQuery { row, negated, query: query.clone() }, Type::Bool);
        match (op, all) {
            (CompareOp::Equal, false) => Ok(any(row, false)),
            (CompareOp::NotEqual, true) => Ok(any(row, true)),
            _ => {
                let arg = Box::new(row.swap_remove(0));
                Ok(Expr::new(ExprKind::Quantified { op, all, arg, query }, Type::Bool))
            }
        }
    }

    /// `(a, b) op ANY (query)`: `true IN (SELECT (a, b) op (x, y) FROM (query))`, whose NULLs are those of ANY; ALL asks that none is
    /// false.
    fn quantified_row(
        &mut self,
        op: CompareOp,
        all: bool,
        row: Vec<Expr>,
        bound: BoundQuery,
        place: i32,
    ) -> Result<Expr> {
        let mut wrapped = self.wrap(bound);
        let Body::Select(outer) = &mut wrapped.query.body else {
            return Err(crate::Error::internal("a query without a select list"));
        };
        let columns = std::mem::take(&mut outer.items);
        let pairs = row.into_iter().zip(columns).map(|(left, right)| ((left, place), (right, place))).collect();
        outer.items = vec![self.compare_rows(op, pairs, place)?];
        wrapped.query.columns = vec![OutputColumn { name: "?column?".to_owned(), ty: Type::Bool }];
        let row = vec![Expr::bool(!all)];
        Ok(Expr::new(ExprKind::InQuery { row, negated: all, query: Box::new(wrapped.query) }, Type::Bool))
    }
}
