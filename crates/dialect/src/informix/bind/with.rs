//! WITH: common table expressions, recursive ones too.

use super::Binder;
use super::set_operation::{Sides, bound_query};
use crate::bind::query::outputs;
use crate::bind::set_operation::{self, SetOperation};
use crate::informix::ast::{Body, Cte, Query, Source};
use crate::informix::types::LVARCHAR_MAX;
use crate::ir::{self, CteBody, SetOp};
use crate::plan::ResultColumn;
use crate::{Condition, Result, Type};

impl Binder<'_> {
    /// Binds a query's WITH; its members stay visible until the caller takes them away.
    pub(super) fn with(&mut self, members: &[Cte], at: usize) -> Result<Vec<ir::Cte>> {
        let mut ctes = Vec::new();
        for member in members {
            let id = self.ids.cte();
            let recursive = mentions_body(&member.query.body, &member.name);
            let (bound, columns) = if recursive {
                self.recursive(member, id)?
            } else {
                let (bound, columns) = self.query(&member.query)?;
                (bound, self.named(columns, member, at)?)
            };
            let outputs = outputs(&columns);
            ctes.push(ir::Cte {
                name: member.name.clone(),
                id,
                recursive,
                materialized: None,
                body: CteBody::Query(Box::new(bound)),
                columns: outputs.clone(),
            });
            self.ctes.push((member.name.clone(), id, outputs));
        }
        Ok(ctes)
    }

    /// The columns under the names that WITH gives them.
    fn named(&self, mut columns: Vec<ResultColumn>, member: &Cte, at: usize) -> Result<Vec<ResultColumn>> {
        if !member.columns.is_empty() && member.columns.len() != columns.len() {
            return Err(self.error(Condition::ColumnCountMismatch, "WITH names another number of columns", at));
        }
        for (column, name) in columns.iter_mut().zip(&member.columns) {
            column.name.clone_from(name);
        }
        Ok(columns)
    }

    /// `seed UNION ALL step`, where the step names the member itself.
    fn recursive(&mut self, member: &Cte, id: ir::CteId) -> Result<(ir::Query, Vec<ResultColumn>)> {
        let query = &member.query;
        let Body::Set { op: SetOp::Union, all: true, left, right } = &query.body else {
            return self.unsupported("a recursive WITH other than seed UNION ALL step", query.at);
        };
        if mentions_body(&left.body, &member.name) {
            return self.unsupported("a recursive WITH whose seed names itself", left.at);
        }
        let sorted = !query.order_by.is_empty() || query.first.is_some() || query.skip.is_some();
        if sorted || !query.ctes.is_empty() {
            return self.unsupported("WITH, ORDER BY or FIRST in a recursive WITH", query.at);
        }
        let (seed, columns) = self.query(left)?;
        let mut columns = self.named(columns, member, query.at)?;
        for column in &mut columns {
            column.origin = None;
            column.not_null = false;
            column.identity = false;
        }
        // The step's types are known only when it has been bound; those that are wider make it be bound once more.
        let operation = SetOperation { op: SetOp::Union, all: true };
        let seed = bound_query((seed, columns.clone()));
        let mut step = bound_query(self.step(right, member, id, &columns)?);
        let sides = Sides { binder: self, at: right.at, recursive: true };
        let mut types = set_operation::common_types(&sides, operation, &seed, &step)?;
        let mut widened = false;
        for ((column, other), ty) in columns.iter_mut().zip(&step.columns).zip(&mut types) {
            // Text may grow with every step.
            if ty.is_text() && column.ty != other.ty {
                *ty = Type::Lvarchar(LVARCHAR_MAX);
            }
            widened |= column.ty != *ty;
            column.ty = ty.clone();
        }
        if widened {
            step = bound_query(self.step(right, member, id, &columns)?);
        }
        let sides = &mut Sides { binder: self, at: right.at, recursive: true };
        let bound = set_operation::united(sides, operation, seed, step, types)?;
        Ok((bound.query, columns))
    }

    fn step(
        &mut self,
        step: &Query,
        member: &Cte,
        id: ir::CteId,
        columns: &[ResultColumn],
    ) -> Result<(ir::Query, Vec<ResultColumn>)> {
        let visible = self.ctes.len();
        self.ctes.push((member.name.clone(), id, outputs(columns)));
        let bound = self.query(step);
        self.ctes.truncate(visible);
        bound
    }
}

/// True when a query's FROM names a table: a WITH of that name would then be recursive.
fn mentions_body(body: &Body, name: &str) -> bool {
    match body {
        Body::Select(select) => select.from.iter().any(|member| mentions_source(member, name)),
        Body::Set { left, right, .. } => mentions_body(&left.body, name) || mentions_body(&right.body, name),
    }
}

fn mentions_source(source: &Source, name: &str) -> bool {
    match source {
        Source::Table { name: table, .. } => table.owner.is_none() && table.name == name,
        Source::Query { query, .. } => mentions_body(&query.body, name),
        Source::Expression { .. } => false,
        Source::Join { left, right, .. } => mentions_source(left, name) || mentions_source(right, name),
        Source::Outer(members) => members.iter().any(|member| mentions_source(member, name)),
    }
}
