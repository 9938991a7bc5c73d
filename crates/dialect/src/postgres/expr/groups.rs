//! What is computed of a whole group in an order: aggregates WITHIN GROUP; and GROUPING.

use pg_query::protobuf as pg;

use super::super::binder::Binder;
use super::super::coerce::base;
use super::super::resolve::{Miss, of_domains};
use crate::functions::{self, Function, FunctionKind, internal};
use crate::ir::{Aggregate, CastContext, Expr, ExprKind, GroupBy, SortKey};
use crate::{Condition, Language, Result, Type};

/// The most arguments of GROUPING: its bits must fit an integer.
const MOST_KEYS: usize = 31;

/// A bit for each of these keys, set where a row is of all its values.
fn grouping(keys: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::Call { function: internal("grouping of keys"), args: keys }, Type::Int4)
}

impl Binder<'_> {
    /// GROUPING(…): a bit for each argument. That they are keys is seen when the keys are known.
    pub(super) fn grouping_of_keys(&mut self, function: &pg::GroupingFunc) -> Result<Expr> {
        if function.args.len() > MOST_KEYS {
            let message = "GROUPING must have fewer than 32 arguments";
            return Err(self.error(Condition::TooManyArguments, message, function.location));
        }
        let clause = self.scope().clause;
        if !clause.aggregates() {
            let message = format!("grouping operations are not allowed in {}", clause.words());
            return Err(self.error(Condition::GroupingError, message, function.location));
        }
        let args = self.placed_all(&function.args)?;
        let mut keys = Vec::with_capacity(args.len());
        for (arg, at) in args {
            keys.push(self.settle(arg, at)?);
        }
        self.scope().aggregates = true;
        Ok(grouping(keys))
    }

    /// The order in which MySQL tells the rows of a ROLLUP for which none is asked: a sum behind what it is the sum of.
    pub(in super::super) fn rolled_up(&mut self, group_by: &GroupBy) -> Result<Vec<SortKey>> {
        let GroupBy::Sets { keys, .. } = group_by else { return Ok(Vec::new()) };
        let ascending = pg::SortBy { sortby_nulls: pg::SortByNulls::SortbyNullsFirst as i32, ..Default::default() };
        let mut order = Vec::with_capacity(2 * keys.len());
        for key in keys {
            order.push(self.sort_key(&ascending, grouping(vec![key.clone()]), -1)?);
            order.push(self.sort_key(&ascending, key.clone(), -1)?);
        }
        Ok(order)
    }

    /// `f(direct) WITHIN GROUP (ORDER BY keys)`
    pub(in super::super) fn within_group(&mut self, name: &str, call: &pg::FuncCall) -> Result<Expr> {
        let mut rows = functions::named(Language::Postgres, name);
        if !functions::named(Language::Postgres, name).any(functions::is_within_group) {
            let message = match rows.any(|row| row.kind == FunctionKind::Aggregate) {
                true => format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"),
                false => format!("WITHIN GROUP specified, but {name} is not an aggregate function"),
            };
            return Err(self.error(Condition::WrongObjectType, message, call.location));
        }
        if call.over.is_some() {
            let message = format!("OVER is not supported for ordered-set aggregate {name}");
            return Err(self.error(Condition::FeatureNotSupported, message, call.location));
        }
        let parts = self.parts_of_group(call);
        let (direct, order_by, filter) = parts?;
        let written = direct.iter().map(|(arg, _)| arg).chain(order_by.iter().map(|key| &key.expr)).chain(&filter);
        self.claim_aggregate(written, call.location)?;
        let inputs: Vec<Type> =
            direct.iter().map(|(arg, _)| base(&arg.ty)).chain(order_by.iter().map(|key| base(&key.expr.ty))).collect();
        let found = self.find_function(name, &inputs, |kind| kind == FunctionKind::Aggregate);
        let candidate = found.ok().filter(|candidate| functions::is_within_group(candidate.function));
        let Some(candidate) =
            candidate.filter(|found| !is_hypothetical(found.function) || direct.len() == order_by.len())
        else {
            return Err(self.no_such_set(name, &inputs, direct.len(), order_by.len(), call.location));
        };
        let given = direct.iter().map(|(arg, _)| &arg.ty).chain(order_by.iter().map(|key| &key.expr.ty));
        let candidate = of_domains(candidate, given);
        let (function, ty) = (candidate.function, candidate.result.clone());
        let (direct, order_by) = if is_hypothetical(function) {
            self.hypothetical(direct, order_by)?
        } else {
            let count = direct.len();
            let keys = order_by.iter().map(|key| (key.expr.clone(), -1));
            let mut all = self.arguments(&candidate, direct.into_iter().chain(keys).collect())?;
            let keys = all.split_off(count);
            let order_by = order_by.into_iter().zip(keys).map(|(key, expr)| SortKey { expr, ..key }).collect();
            (all, order_by)
        };
        let aggregate = Aggregate { function, args: Vec::new(), direct, distinct: false, order_by, filter };
        Ok(Expr::new(ExprKind::Aggregate(Box::new(aggregate)), ty))
    }

    /// A hypothetical row and the keys, each pair of one type.
    fn hypothetical(&mut self, direct: Vec<(Expr, i32)>, order_by: Vec<SortKey>) -> Result<(Vec<Expr>, Vec<SortKey>)> {
        let (mut row, mut keys) = (Vec::with_capacity(direct.len()), Vec::with_capacity(direct.len()));
        for ((value, at), key) in direct.into_iter().zip(order_by) {
            let ty = self.common_type(&[(&key.expr.ty, at), (&value.ty, at)], "WITHIN GROUP")?;
            row.push(self.coerce(value, &ty, CastContext::Implicit, at)?);
            let expr = self.coerce(key.expr, &ty, CastContext::Implicit, at)?;
            keys.push(SortKey { expr, ..key });
        }
        Ok((row, keys))
    }

    fn no_such_set(&self, name: &str, inputs: &[Type], direct: usize, keys: usize, place: i32) -> crate::Error {
        let error = self.undefined_function(name, inputs, place, Miss::None);
        if !functions::named(Language::Postgres, name).any(is_hypothetical) || direct == keys {
            return error;
        }
        error.hint(format!(
            "To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments (here {direct}) must \
             match the number of ordering columns (here {keys})."
        ))
    }
}

/// An aggregate that says where a row would stand.
fn is_hypothetical(function: &Function) -> bool {
    functions::is_within_group(function) && function.variadic
}
