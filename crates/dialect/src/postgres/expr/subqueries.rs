//! Subqueries in expressions.

use pg_query::protobuf::{self as pg, SubLinkType, node::Node as N};

use super::super::binder::{Binder, BoundQuery, Clause};
use super::super::coerce::as_it_lies;
use super::super::resolve::{Miss, standing};
use super::super::with::Within;
use super::super::{names, types};
use super::operators::comparison;
use super::rows::nameless;
use crate::bind::query::converted;
use crate::ir::{Body, CastContext, CompareOp, Expr, ExprKind, From, OutputColumn, Query, walk};
use crate::plan::ResultColumn;
use crate::stored_calls::may_be_volatile;
use crate::values::mysql::unsigned::is_wide;
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
        let mut bound = bound.wrapped(&mut self.ids);
        let changes = changes_by_itself(&bound.query);
        let (Some(column), Body::Select(outer)) = (bound.columns.get(place), &mut bound.query.body) else {
            return Err(crate::Error::internal("a row assignment lacks a value"));
        };
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
        let mut members = match link.testexpr.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::RowExpr(row)) => self.placed_members(&row.args)?,
            _ => vec![self.required(&link.testexpr)?],
        };
        let Some(op) = comparison(name) else {
            return match (members.pop(), members.is_empty()) {
                (Some(member), true) => self.operator_over_rows(name, all, member, select, link.location),
                _ => Err(self.unsupported(format!("operator {name} of a row with a subquery"), link.location)),
            };
        };
        let (mut row, bound) = self.row_beside(name, members, select, link.location)?;
        let alike = |(member, column): (&Expr, &ResultColumn)| self.compared_as(&member.ty, &column.ty).is_some();
        if self.is_mysql() && !row.iter().zip(&bound.columns).all(alike) {
            self.refuse_groups(&row, link.location)?;
            return self.quantified_row(op, all, row, bound, link.location);
        }
        let by_rows = !matches!((op, all), (CompareOp::Equal, false) | (CompareOp::NotEqual, true));
        if let (Some(_), true) = (&self.shown, by_rows || op == CompareOp::NotEqual) {
            // What is printed is what was asked.
            let arg = if row.len() == 1 { row.swap_remove(0) } else { nameless(row) };
            let kind = ExprKind::Quantified { op, all, arg: Box::new(arg), query: Box::new(bound.query) };
            return Ok(Expr::new(kind, Type::Bool));
        }
        if row.len() != 1 && by_rows {
            self.refuse_groups(&row, link.location)?;
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

    /// What goes into a query of its own is no aggregate of the one around it.
    pub(super) fn refuse_groups(&self, row: &[Expr], place: i32) -> Result<()> {
        match row.iter().any(is_of_groups) {
            true => Err(self.unsupported("an aggregate or a window function beside such a subquery", place)),
            false => Ok(()),
        }
    }

    /// `value op ANY (query)` of an operator that is no comparison: `true IN (SELECT value op x FROM (query))`, as
    /// [`Self::quantified_row`].
    fn operator_over_rows(
        &mut self,
        name: &str,
        all: bool,
        member: (Expr, i32),
        select: &pg::SelectStmt,
        place: i32,
    ) -> Result<Expr> {
        let bound = self.subquery(select, true)?;
        if bound.columns.len() != 1 {
            return Err(self.error(Condition::SyntaxError, "subquery has too many columns", place));
        }
        self.refuse_groups(std::slice::from_ref(&member.0), place)?;
        let mut wrapped = bound.wrapped(&mut self.ids);
        let Body::Select(outer) = &mut wrapped.query.body else {
            return Err(crate::Error::internal("a query without a select list"));
        };
        let Some(column) = outer.items.pop() else { return Err(crate::Error::internal("a query without a column")) };
        let test = self.apply_operator(name, vec![member, (column, place)], place)?;
        if test.ty != Type::Bool {
            let message = format!("operator {name} must return type boolean, not type {}", types::words(&test.ty));
            return Err(self.error(Condition::DatatypeMismatch, message, place));
        }
        outer.items = vec![test];
        wrapped.query.columns = vec![OutputColumn { name: "?column?".to_owned(), ty: Type::Bool }];
        let row = vec![Expr::bool(!all)];
        Ok(Expr::new(ExprKind::InQuery { row, negated: all, query: Box::new(wrapped.query) }, Type::Bool))
    }

    /// `(a, b) op (SELECT x, y …)`: what the row of the query is compared as, or NULL where there is none.
    pub(super) fn row_and_query(
        &mut self,
        op: CompareOp,
        row: &pg::RowExpr,
        link: &pg::SubLink,
        place: i32,
    ) -> Result<Expr> {
        let Some(N::SelectStmt(select)) = link.subselect.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(self.unsupported("this subquery", link.location));
        };
        let members = self.placed_members(&row.args)?;
        let (row, bound) =
            self.not_itself(Within::Subquery, |binder| binder.row_beside(op.sign(), members, select, place))?;
        if self.shown.is_some() {
            let (left, right) = (nameless(row), Expr::new(ExprKind::Scalar(Box::new(bound.query)), Type::RECORD));
            let kind = ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) };
            return Ok(Expr::new(kind, Type::Bool));
        }
        if row.iter().any(is_of_groups) {
            return self.row_and_columns(op, row, bound, place);
        }
        let compared = self.compared_with(op, row, bound, place)?;
        Ok(Expr::new(ExprKind::Scalar(Box::new(compared)), Type::Bool))
    }

    /// The same of a row with what is no part of another query: each column of the query
    /// stands for itself.
    fn row_and_columns(&mut self, op: CompareOp, row: Vec<Expr>, bound: BoundQuery, place: i32) -> Result<Expr> {
        let wrapped = bound.wrapped(&mut self.ids);
        if changes_by_itself(&wrapped.query) {
            return Err(self.unsupported("a row of aggregates beside a subquery that calls volatile functions", place));
        }
        let mut pairs = Vec::with_capacity(row.len());
        for (at, member) in row.into_iter().enumerate() {
            let mut query = wrapped.query.clone();
            let Body::Select(outer) = &mut query.body else {
                return Err(crate::Error::internal("a query without a select list"));
            };
            outer.items = vec![outer.items.swap_remove(at)];
            query.columns = vec![query.columns.swap_remove(at)];
            let ty = query.columns[0].ty.clone();
            pairs.push(((member, place), (Expr::new(ExprKind::Scalar(Box::new(query)), ty), place)));
        }
        self.compare_rows(op, pairs, place)
    }

    /// A row, and a query with as many columns, of the types as which both are compared.
    fn row_beside(
        &mut self,
        name: &str,
        members: Vec<(Expr, i32)>,
        select: &pg::SelectStmt,
        place: i32,
    ) -> Result<(Vec<Expr>, BoundQuery)> {
        let bound = self.subquery(select, true)?;
        if bound.columns.len() != members.len() {
            let message = if bound.columns.len() < members.len() {
                "subquery has too few columns"
            } else {
                "subquery has too many columns"
            };
            return Err(self.error(Condition::SyntaxError, message, place));
        }
        let mut wanted = Vec::with_capacity(members.len());
        let mut row = Vec::with_capacity(members.len());
        for ((member, at), column) in members.into_iter().zip(&bound.columns) {
            if (is_wide(&member.ty) || is_wide(&column.ty))
                && self.shown.is_none()
                && [&member.ty, &column.ty].iter().all(|ty| ty.through_domains().is_integer())
            {
                // They are compared as they lie.
                row.push(as_it_lies(member, &Type::Int8));
                wanted.push(column.ty.clone());
                continue;
            }
            let Some(ty) = self.compared_as(&member.ty, &column.ty) else {
                // To MySQL any two values compare.
                if self.is_mysql() {
                    row.push(member);
                    wanted.push(column.ty.clone());
                    continue;
                }
                return Err(self.no_operator(name, &[member.ty, column.ty.clone()], place, Miss::None));
            };
            let context = if ty == Type::Int8 { CastContext::Assignment } else { CastContext::Implicit };
            row.push(self.coerce(member, &ty, context, at)?);
            wanted.push(ty);
        }
        let bound = converted(self, bound, &wanted, CastContext::Assignment, &[])?;
        Ok((row, bound))
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
        let compared = self.compared_with(op, row, bound, place)?;
        let row = vec![Expr::bool(!all)];
        Ok(Expr::new(ExprKind::InQuery { row, negated: all, query: Box::new(compared) }, Type::Bool))
    }

    /// What comes of comparing a row with those of a query.
    fn compared_with(&mut self, op: CompareOp, row: Vec<Expr>, bound: BoundQuery, place: i32) -> Result<Query> {
        let mut wrapped = bound.wrapped(&mut self.ids);
        let Body::Select(outer) = &mut wrapped.query.body else {
            return Err(crate::Error::internal("a query without a select list"));
        };
        let columns = std::mem::take(&mut outer.items);
        let pairs = row.into_iter().zip(columns).map(|(left, right)| ((left, place), (right, place))).collect();
        outer.items = vec![self.compare_rows(op, pairs, place)?];
        wrapped.query.columns = vec![OutputColumn { name: "?column?".to_owned(), ty: Type::Bool }];
        Ok(wrapped.query)
    }
}

/// A window function, or an aggregate of no column (`count(*)`): in a query inside it would be that query's. Columns say
/// whose their aggregate is.
pub(super) fn is_of_groups(expr: &Expr) -> bool {
    walk::any(expr, |part| match &part.kind {
        ExprKind::Window(_) => true,
        ExprKind::Aggregate(aggregate) => {
            let keys = aggregate.order_by.iter().map(|key| &key.expr);
            !aggregate.args.iter().chain(keys).any(walk::names_column)
        }
        _ => false,
    })
}

/// What a query behind a select list of columns yields may be another thing the next time.
fn changes_by_itself(query: &Query) -> bool {
    let Body::Select(outer) = &query.body else { return true };
    let Some(From::Query { query, .. }) = &outer.from else { return false };
    let mut changes = false;
    walk::query(query, &mut |part| {
        changes |= matches!(&part.kind, ExprKind::Call { function, .. } if may_be_volatile(function));
        !changes
    });
    changes
}
