//! TABLESAMPLE: some of a table's rows.

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::super::binder::{Binder, Entry, computed, outputs};
use super::super::names;
use super::super::viewdef::Sample;
use crate::ir::{Body, CastContext, ColumnIndex, ColumnRef, Expr, ExprKind, From, Query, Select, walk};
use crate::schema::{Relation, RelationKind};
use crate::{Condition, Error, Result, Type};

impl Binder<'_> {
    /// Binds a table with TABLESAMPLE: the rows that are there are those of the sample.
    pub(super) fn range_sample(&mut self, sample: &pg::RangeTableSample, left: &[Entry]) -> Result<(From, Vec<Entry>)> {
        let Some(N::RangeVar(range)) = sample.relation.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(Error::internal("TABLESAMPLE of no table"));
        };
        if self.is_mysql() && names::strings(&sample.method) == [crate::mysql::SAMPLED] {
            return self.mysql_sampled(sample, range);
        }
        self.check_sampled(range)?;
        let (mut from, entries) = self.range_var(range)?;
        let blocks = self.samples_blocks(sample)?;
        let percent = self
            .laterally(false, left, |binder| binder.sample_argument(&sample.args[0], &Type::Float4, "TABLESAMPLE"))?;
        let seed = match sample.repeatable.as_deref() {
            Some(node) => {
                self.laterally(false, left, |binder| binder.sample_argument(node, &Type::Float8, "REPEATABLE"))?
            }
            None => self.drawn_seed(sample.location)?,
        };
        if self.shown.is_some() {
            // As they were written, without the conversions that the place asks for.
            let method = names::strings(&sample.method).last().copied().unwrap_or_default().to_owned();
            let (percent, _) = self.laterally(false, left, |binder| binder.placed(&sample.args[0]))?;
            let seed = match sample.repeatable.as_deref() {
                Some(node) => Some(self.laterally(false, left, |binder| binder.placed(node))?.0),
                None => None,
            };
            if let Some(table) = sample.relation.as_deref() {
                self.note_sample(table, &from, &entries, Sample { method, percent, seed });
            }
        }
        keep_sampled(&mut from, &|row| {
            vec![row, Expr::integer(i64::from(blocks), Type::Int4), percent.clone(), seed.clone()]
        });
        Ok((from, entries))
    }

    /// Refuses what has no rows of its own.
    fn check_sampled(&mut self, range: &pg::RangeVar) -> Result<()> {
        let is_query = range.schemaname.is_empty() && self.ctes.iter().any(|cte| cte.name == range.relname);
        let relation = if is_query { None } else { Some(self.relation(range)?) };
        let catalog = |relation: &Relation| matches!(relation.namespace.as_str(), "pg_catalog" | "information_schema");
        let sampled = |kind: &RelationKind| matches!(kind, RelationKind::Table | RelationKind::MaterializedView { .. });
        match relation {
            Some(relation) if catalog(&relation) || relation.without_identity => {
                Err(self.unsupported("TABLESAMPLE of a catalog or a table without rowid", range.location))
            }
            Some(relation) if sampled(&relation.kind) => Ok(()),
            _ => {
                let message = "TABLESAMPLE clause can only be applied to tables and materialized views";
                Err(self.error(Condition::FeatureNotSupported, message, range.location))
            }
        }
    }

    /// True for SYSTEM, which takes rows by blocks.
    fn samples_blocks(&self, sample: &pg::RangeTableSample) -> Result<bool> {
        let words = names::strings(&sample.method);
        let blocks = match words.as_slice() {
            ["system"] | ["pg_catalog", "system"] => true,
            ["bernoulli"] | ["pg_catalog", "bernoulli"] => false,
            _ => {
                let message = format!("tablesample method {} does not exist", words.join("."));
                return Err(self.error(Condition::UndefinedObject, message, sample.location));
            }
        };
        if sample.args.len() != 1 {
            let (method, given) = (words.join("."), sample.args.len());
            let message = format!("tablesample method {method} requires 1 argument, not {given}");
            return Err(self.error(Condition::InvalidTablesampleArgument, message, sample.location));
        }
        Ok(blocks)
    }

    fn sample_argument(&mut self, node: &Node, ty: &Type, what: &str) -> Result<Expr> {
        let (value, at) = self.placed(node)?;
        let (wanted, from) = (super::super::types::words(ty), super::super::types::words(&value.ty));
        self.try_coerce(value, ty, CastContext::Assignment, at)?.map_err(|_| {
            let message = format!("argument of {what} must be type {wanted}, not type {from}");
            self.error(Condition::DatatypeMismatch, message, at)
        })
    }

    /// A number that is drawn once for the statement.
    fn drawn_seed(&mut self, place: i32) -> Result<Expr> {
        let random = self.call_named("random", Vec::new(), place)?;
        let columns = [computed("random", Type::Float8)];
        let output = self.ids.relation();
        let query = Query::of(Body::Select(Box::new(Select::of(vec![random], None))), outputs(&columns), output);
        Ok(Expr::new(ExprKind::Scalar(Box::new(query)), Type::Float8))
    }
}

/// True for tables of which some rows are there.
pub(in super::super) fn holds_sample(from: &From) -> bool {
    match from {
        From::Relation { filter: Some(filter), .. } => {
            let mut found = false;
            walk::expr(filter, &mut |part| {
                found |= matches!(&part.kind, ExprKind::Call { function, .. } if function.name == SAMPLE);
                !found
            });
            found
        }
        From::Query { query, .. } => holds_sample_in(&query.body),
        From::Join { left, right, .. } => holds_sample(left) || holds_sample(right),
        From::Relation { .. } | From::Kept { .. } | From::Cte { .. } | From::Function { .. } => false,
    }
}

fn holds_sample_in(body: &Body) -> bool {
    match body {
        Body::Select(select) => select.from.as_ref().is_some_and(holds_sample),
        Body::Set { left, right, .. } => holds_sample_in(&left.body) || holds_sample_in(&right.body),
        Body::Values(_) => false,
    }
}

/// The function that chooses rows.
const SAMPLE: &str = "row of a sample";

/// Lets through the rows of the sample: those of a table, or of all tables that inherit from it.
fn keep_sampled(from: &mut From, args: &dyn Fn(Expr) -> Vec<Expr>) {
    match from {
        From::Relation { id, filter, .. } => {
            let row = ColumnRef { relation: *id, column: ColumnIndex::RowIdentity };
            let args = args(Expr::new(ExprKind::Column(row), Type::Int8));
            let function = crate::functions::internal(SAMPLE);
            let sampled = Expr::new(ExprKind::Call { function, args }, Type::Bool);
            *filter = Some(Box::new(match filter.take() {
                None => sampled,
                Some(policies) => Expr::new(ExprKind::And(vec![sampled, *policies]), Type::Bool),
            }));
        }
        From::Query { query, .. } => keep_sampled_of(query, args),
        From::Join { left, right, .. } => [left, right].into_iter().for_each(|side| keep_sampled(side, args)),
        From::Kept { .. } | From::Cte { .. } | From::Function { .. } => {}
    }
}

/// The same in the query that a family of tables is.
fn keep_sampled_of(query: &mut Query, args: &dyn Fn(Expr) -> Vec<Expr>) {
    match &mut query.body {
        Body::Select(select) => select.from.iter_mut().for_each(|from| keep_sampled(from, args)),
        Body::Set { left, right, .. } => [left, right].into_iter().for_each(|side| keep_sampled_of(side, args)),
        Body::Values(_) => {}
    }
}
