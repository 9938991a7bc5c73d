//! Calls of functions in SQL that are nothing but an expression become that expression, under PostgreSQL's conditions
//! (`inline_function` of its planner): what the function promises (IMMUTABLE, STABLE, STRICT) must follow from the expression
//! itself, and no argument is computed twice that is dear or might differ.
//!
//! An expression with a query in it stays a call.

use std::collections::HashMap;

use super::bind_inside;
use super::sql_language;
use crate::Type;
use crate::access::Needs;
use crate::functions::Volatility;
use crate::ir::{Body, CastContext, Distinct, Expr, ExprKind, GroupBy, Statement, walk};
use crate::plan::{Bound, Context};
use crate::postgres::coerce::cast_context;
use crate::postgres::user_cast;
use crate::schema::Schema;
use crate::stored_calls::{VALUE, callee};
use crate::stored_function::{RoutineLanguage, StoredFunction, TypeRef};

/// An argument that is computed more than once is no more than so many operators.
const CHEAP: usize = 10;
/// An expression of more parts stays a call: those that call one another twice would double with each level.
const LONGEST: usize = 256;

/// Puts expressions in the place of calls. What the expressions call is asked for as before.
pub fn inline(bound: &mut Bound, schema: &dyn Schema, context: &Context) {
    let mut inliner = Inliner { schema, context, bodies: HashMap::new(), active: Vec::new(), needs: Needs::default() };
    walk::statement_mut(&mut bound.statement, &mut |expr| inliner.visit(expr));
    for (oid, called) in inliner.needs.functions {
        bound.needs.functions.entry(oid).or_insert(called);
    }
}

struct Inliner<'a> {
    schema: &'a dyn Schema,
    context: &'a Context,
    /// By the function's object id; `None` for one that stays a call.
    bodies: HashMap<u32, Option<Template>>,
    /// Functions whose bodies are being looked at.
    active: Vec<u32>,
    needs: Needs,
}

/// A function's expression, over its parameters.
struct Template {
    body: Expr,
    /// How often each parameter stands in it.
    uses: Vec<usize>,
    /// It is longer than what is put in the place of a call.
    is_long: bool,
    strict: bool,
    types: Vec<Type>,
}

impl Inliner<'_> {
    /// Whether to go on into the parts.
    fn visit(&mut self, expr: &mut Expr) -> bool {
        if callee(expr).is_none() {
            return true;
        }
        if let ExprKind::Call { args, .. } = &mut expr.kind {
            for arg in args.iter_mut().skip(2) {
                walk::expr_mut(arg, &mut |part| self.visit(part));
            }
        }
        if let Some(body) = self.inlined(expr) {
            *expr = body;
        }
        false
    }

    fn inlined(&mut self, call: &Expr) -> Option<Expr> {
        let (callee, args) = callee(call)?;
        if callee.standing.is_some() || self.active.contains(&callee.oid) {
            return None;
        }
        if !self.bodies.contains_key(&callee.oid) {
            let template = self.template(callee.oid);
            self.bodies.insert(callee.oid, template);
        }
        let template = self.bodies.get(&callee.oid)?.as_ref()?;
        if template.uses.len() != args.len() || template.is_long {
            return None;
        }
        for (arg, uses) in args.iter().zip(&template.uses) {
            let unfit = match uses {
                0 => template.strict,
                1 => false,
                _ => volatility(arg, self.schema) == Volatility::Volatile || cost(arg).is_none_or(|cost| cost > CHEAP),
            };
            if unfit {
                return None;
            }
        }
        let mut body = template.body.clone();
        walk::expr_mut(&mut body, &mut |part| match part.kind {
            ExprKind::Param(at) => {
                let (arg, ty) = (&args[at], &template.types[at]);
                *part = if arg.ty == *ty { arg.clone() } else { arg.clone().cast(ty.clone(), CastContext::Implicit) };
                false
            }
            _ => true,
        });
        (body.ty == call.ty).then_some(body)
    }

    fn template(&mut self, oid: u32) -> Option<Template> {
        let function = self.schema.function_by_oid(oid)?;
        let (returns, types) = signature(&function)?;
        let definition = &function.definition;
        let statements = sql_language::statements(&function).ok()?;
        let [statement] = statements.as_slice() else { return None };
        let variables = sql_language::variables(&function, &types, self.schema).ok()?;
        let bound = bind_inside(statement, self.schema, self.context, &variables).ok()?;
        let mut body = expression(bound.statement)?;
        let mut uses = vec![0_usize; types.len()];
        let mut known = true;
        walk::expr_mut(&mut body, &mut |part| {
            if let ExprKind::Param(at) = &mut part.kind {
                match bound.inside.get(*at).filter(|place| **place < uses.len()) {
                    Some(place) => {
                        *at = *place;
                        uses[*place] += 1;
                    }
                    None => known = false,
                }
            }
            true
        });
        let promised = match definition.volatility {
            Volatility::Immutable => !bound.effects.volatile,
            Volatility::Stable => volatility(&body, self.schema) != Volatility::Volatile,
            Volatility::Volatile => true,
        };
        if !known || !promised || definition.strict && !is_strict(&body, self.schema) {
            return None;
        }
        if body.ty != returns {
            let fits = !matches!(cast_context(&body.ty, &returns), None | Some(CastContext::Explicit));
            if !fits || user_cast(self.schema, &body.ty, &returns).is_some() {
                return None;
            }
            body = body.cast(returns, CastContext::Assignment);
        }
        for (oid, called) in bound.needs.functions {
            self.needs.functions.entry(oid).or_insert(called);
        }
        self.active.push(oid);
        walk::expr_mut(&mut body, &mut |part| self.visit(part));
        self.active.pop();
        Some(Template { is_long: is_long(&body), body, uses, strict: definition.strict, types })
    }
}

/// What a function returns and takes, when its kind is one that can be an expression.
fn signature(function: &StoredFunction) -> Option<(Type, Vec<Type>)> {
    let definition = &function.definition;
    let plain = definition.language == RoutineLanguage::Sql
        && !definition.set
        && !definition.procedure
        && !definition.definer
        && definition.aggregate.is_none()
        && definition.settings.is_empty()
        && definition.outputs().next().is_none();
    let value = |ty: &TypeRef| match ty {
        TypeRef::Is(ty) if !ty.is_row() && !ty.is_constrained() && !matches!(ty, Type::Record(_)) => Some(ty.clone()),
        _ => None,
    };
    let returns = value(&definition.returns).filter(|_| plain)?;
    Some((returns, definition.inputs().map(|param| value(&param.ty)).collect::<Option<_>>()?))
}

/// The one value of a SELECT that is nothing else.
fn expression(statement: Statement) -> Option<Expr> {
    let Statement::Query(query) = statement else { return None };
    let bare = query.ctes.is_empty()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locking.is_empty();
    let Body::Select(select) = query.body else { return None };
    let alone = matches!(select.distinct, Distinct::All)
        && select.from.is_none()
        && select.filter.is_none()
        && select.having.is_none()
        && matches!(select.group_by, GroupBy::None);
    let [item] = <[Expr; 1]>::try_from(select.items).ok()?;
    let mut one = bare && alone;
    walk::expr(&item, &mut |part| {
        one &= part.kind.query().is_none() && !matches!(part.kind, ExprKind::Aggregate(_) | ExprKind::Window(_));
        one
    });
    one.then_some(item)
}

/// The least that an expression's calls promise.
fn volatility(expr: &Expr, schema: &dyn Schema) -> Volatility {
    let mut least = Volatility::Immutable;
    walk::expr(expr, &mut |part| {
        let here = match (&part.kind, callee(part)) {
            (_, Some((callee, _))) => schema
                .function_by_oid(callee.oid)
                .map_or(Volatility::Volatile, |function| function.definition.volatility),
            (ExprKind::Call { function, .. }, None) => function.volatility,
            // A query may do anything.
            (kind, None) if kind.query().is_some() => Volatility::Volatile,
            _ => Volatility::Immutable,
        };
        least = match (least, here) {
            (Volatility::Volatile, _) | (_, Volatility::Volatile) => Volatility::Volatile,
            (Volatility::Stable, _) | (_, Volatility::Stable) => Volatility::Stable,
            _ => Volatility::Immutable,
        };
        least != Volatility::Volatile
    });
    least
}

/// NULL in, NULL out.
fn is_strict(expr: &Expr, schema: &dyn Schema) -> bool {
    let mut strict = true;
    walk::expr(expr, &mut |part| {
        strict &= match (&part.kind, callee(part)) {
            (_, Some((callee, _))) => {
                schema.function_by_oid(callee.oid).is_some_and(|function| function.definition.strict)
            }
            (ExprKind::Call { function, .. }, None) => function.strict,
            (
                ExprKind::Literal(_)
                | ExprKind::Param(_)
                | ExprKind::Compare { .. }
                | ExprKind::Cast { .. }
                | ExprKind::Not(_)
                | ExprKind::Like { .. }
                | ExprKind::Collate { .. },
                None,
            ) => true,
            _ => false,
        };
        strict
    });
    strict
}

/// How many operators and functions an expression is; `None` for one that calls functions of users, or asks a query.
fn cost(expr: &Expr) -> Option<usize> {
    let (mut cost, mut known) = (0, true);
    walk::expr(expr, &mut |part| {
        known &= part.kind.query().is_none();
        match &part.kind {
            ExprKind::Call { function, .. } => {
                known &= function.name != VALUE;
                cost += 1;
            }
            ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Column(_) => {}
            _ => cost += 1,
        }
        known
    });
    known.then_some(cost)
}

/// True for more parts than what is put in the place of a call.
fn is_long(expr: &Expr) -> bool {
    let mut parts = 0;
    walk::expr(expr, &mut |_| {
        parts += 1;
        parts <= LONGEST
    });
    parts > LONGEST
}
