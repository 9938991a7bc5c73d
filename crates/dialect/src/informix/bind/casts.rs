//! Values of DISTINCT types and named ROW types where another type is wanted: the casts of users, and what is an error
//! without one.

use std::sync::Arc;

use super::Binder;
use super::coerce::{call, common};
use super::expr::Retyped;
use crate::informix::ast::Node;
use crate::informix::casts::{self, Definition, Found, Side, alike, find, no_cast};
use crate::informix::spl;
use crate::ir::{CompareOp, Expr, ExprKind, Value};
use crate::schema::{Column, Routine};
use crate::{Condition, Error, Result, Type};

/// The routine that does a cast.
pub(in crate::informix) struct CastRoutine {
    pub routine: Arc<Routine>,
    pub parsed: Arc<spl::Routine>,
    /// The type of its parameter.
    pub takes: Type,
    /// The type of its value.
    pub returns: Type,
}

/// A value of a DISTINCT type as one of its source type, as built-in functions take it.
pub(super) fn plain(expr: Expr) -> Expr {
    match expr.ty.distinct() {
        Some(_) => {
            let ty = expr.ty.without_distinct().clone();
            expr.retyped(ty)
        }
        None => expr,
    }
}

/// One of two expressions is of a DISTINCT type.
pub(super) fn is_distinct(left: &Expr, right: &Expr) -> bool {
    left.ty.distinct().is_some() || right.ty.distinct().is_some()
}

/// The function that an operator of comparison is.
const fn comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "equal",
        CompareOp::NotEqual => "notequal",
        CompareOp::Less => "lessthan",
        CompareOp::LessOrEqual => "lessthanorequal",
        CompareOp::Greater => "greaterthan",
        CompareOp::GreaterOrEqual => "greaterthanorequal",
    }
}

/// What casts look for: a quoted string is a CHAR.
fn source_type(expr: &Expr) -> Type {
    match (&expr.kind, &expr.ty) {
        (ExprKind::Literal(Value::Text(_)), Type::Unknown) => Type::Char(1),
        (_, ty) => ty.clone(),
    }
}

impl Binder<'_> {
    /// `expr::type`, `CAST(expr AS type)`.
    pub(super) fn cast(&mut self, expr: Expr, to: &Type, at: usize) -> Result<Expr> {
        match self.by_cast(&expr, to, true, at)? {
            Some(cast) => Ok(cast),
            None => self.coerce(expr, to, at),
        }
    }

    /// A value by a cast of users, where a DISTINCT type or a row takes part; `None` where none does, or a row has no cast.
    pub(super) fn by_cast(&mut self, expr: &Expr, to: &Type, asked: bool, at: usize) -> Result<Option<Expr>> {
        let is_row = |ty: &Type| matches!(ty, Type::Composite(words) if words.starts_with("ROW"));
        let distinct = expr.ty.distinct().is_some() || to.distinct().is_some();
        if !distinct && !is_row(&expr.ty) && !is_row(to) || expr.ty == *to {
            return Ok(None);
        }
        match (&expr.kind, &expr.ty) {
            (ExprKind::Param(index), Type::Unknown) if distinct && !to.is_constrained() => {
                self.params[*index] = Some(to.clone());
                return Ok(Some(expr.clone().retyped(to.clone())));
            }
            (ExprKind::Param(_), Type::Unknown) if distinct => return self.of_type(expr.clone(), to, at).map(Some),
            (ExprKind::Literal(Value::Null), _) if distinct => return self.of_type(expr.clone(), to, at).map(Some),
            (ExprKind::Literal(Value::Null), _) => return Ok(Some(expr.clone().retyped(to.clone()))),
            _ => {}
        }
        let from = source_type(expr);
        if let Some(found) = find(self.schema(), &from, to, !asked) {
            return self.cast_by(found, expr.clone(), to, at).map(Some);
        }
        if !distinct {
            return Ok(None);
        }
        // A row or a collection that is written out is text before it is of a type.
        let (base, written) = (to.without_distinct(), matches!(expr.ty, Type::Unknown | Type::Text));
        if asked && written && to.distinct().is_some() && matches!(base, Type::Composite(_)) {
            return self.of_type(expr.clone(), to, at).map(Some);
        }
        self.placed(Err(no_cast(&from, to)), at)
    }

    /// Does a cast.
    fn cast_by(&mut self, found: Found, expr: Expr, to: &Type, at: usize) -> Result<Expr> {
        let value = if expr.ty == Type::Unknown { expr } else { expr.retyped(found.from) };
        let Some(name) = &found.definition.function else {
            return self.of_type(plain(value), to, at);
        };
        let routine = self.placed(self.cast_routine(name, &found.definition), at)?;
        let value = self.argument(value, &routine.takes, at)?;
        let returns = routine.returns.clone();
        let value = self.called(routine.routine, routine.parsed, value);
        let value = call("ifx_routine", value, returns);
        if value.ty == *to {
            return Ok(value);
        }
        self.of_type(plain(value), to, at)
    }

    /// A value that a type's values lie as, as one of the type, for which PostgreSQL's clients may have made rules.
    fn of_type(&mut self, value: Expr, to: &Type, at: usize) -> Result<Expr> {
        if to.is_constrained() {
            return self.coerce_to_domain(value, to, at);
        }
        let value = self.coerce(value, to.without_distinct(), at)?;
        Ok(value.retyped(to.clone()))
    }

    /// The routine of this name that does a cast.
    pub(in crate::informix) fn cast_routine(&self, name: &str, cast: &Definition) -> Result<CastRoutine> {
        let mut nearest: Option<(bool, CastRoutine)> = None;
        for routine in self.schema().routines(name) {
            let parsed = routine.parsed()?.clone();
            let (params, returned) = (parsed.param_types(self.schema())?, parsed.result_columns(self.schema())?);
            let ([takes], [(_, returns)]) = (params.as_slice(), returned.as_slice()) else { continue };
            let exact = cast.source.takes(takes, self.schema(), true);
            if !exact && (nearest.is_some() || !cast.source.takes(takes, self.schema(), false)) {
                continue;
            }
            if nearest.as_ref().is_none_or(|(known, _)| exact && !known) {
                let (takes, returns) = (takes.clone(), returns.clone());
                nearest = Some((exact, CastRoutine { routine, parsed, takes, returns }));
            }
        }
        nearest.map(|(_, routine)| routine).ok_or_else(|| {
            let message = format!("the cast function ({name}) does not exist with one argument of that type");
            Error::new(Condition::UndefinedCastFunction, message).column(name)
        })
    }

    /// A value for a routine's parameter: one of a DISTINCT type is one of its source type, too.
    pub(super) fn argument(&mut self, expr: Expr, to: &Type, at: usize) -> Result<Expr> {
        if expr.ty == *to {
            return Ok(expr);
        }
        let mut ty = &expr.ty;
        while let Some(user) = ty.distinct()
            && let Some(domain) = user.domain()
        {
            ty = &domain.base;
            if ty == to || ty.distinct().is_none() && to.distinct().is_none() && alike(ty, to) {
                let ty = ty.clone();
                return self.coerce(expr.retyped(ty), to, at);
            }
        }
        self.coerce(expr, to, at)
    }

    /// How far an argument is from a parameter where a DISTINCT type takes part: `None` is too far.
    pub(super) fn distinct_cost(&self, from: &Type, to: &Type) -> Option<u32> {
        if *from == Type::Unknown {
            return Some(2);
        }
        let mut ty = from;
        let mut cost = 1;
        while let Some(user) = ty.distinct() {
            ty = &user.domain()?.base;
            if ty == to || ty.distinct().is_none() && to.distinct().is_none() && alike(ty, to) {
                return Some(cost);
            }
            cost += 1;
        }
        find(self.schema(), from, to, true).map(|_| 8)
    }

    /// `left op right` by a function of users that has the operator's name, where a type of users takes part.
    pub(super) fn by_operator(&mut self, name: &str, left: &Expr, right: &Expr, at: usize) -> Result<Option<Expr>> {
        let own = |ty: &Type| ty.distinct().is_some() || matches!(ty, Type::Composite(_));
        if !own(&left.ty) && !own(&right.ty) || self.schema().routines(name).is_empty() {
            return Ok(None);
        }
        self.routine_of(name, vec![left.clone(), right.clone()], at)
    }

    /// A comparison by a function of users.
    pub(super) fn compared_by(&mut self, op: CompareOp, left: &Expr, right: &Expr, at: usize) -> Result<Option<Expr>> {
        match self.by_operator(comparison(op), left, right, at)? {
            Some(found) if found.ty == Type::Bool => Ok(Some(found)),
            Some(_) | None => Ok(None),
        }
    }

    /// Both operands of a comparison as values of one type, where a DISTINCT type takes part.
    pub(super) fn compared(&mut self, op: CompareOp, left: Expr, right: Expr, at: usize) -> Result<(Expr, Expr)> {
        self.evened(comparison(op), left, right, at)
    }

    /// Both operands of an operator as values of one type, where a DISTINCT type takes part: one implicit cast may bring
    /// that about.
    pub(super) fn evened(&mut self, name: &str, left: Expr, right: Expr, at: usize) -> Result<(Expr, Expr)> {
        if left.ty == right.ty {
            return Ok((plain(left), plain(right)));
        }
        if let Some(right) = self.tried(&right, &left.ty, at)? {
            return Ok((plain(left), plain(right)));
        }
        if let Some(left) = self.tried(&left, &right.ty, at)? {
            return Ok((plain(left), plain(right)));
        }
        for to in self.implicit_targets(&left.ty)? {
            if right.ty.distinct().is_none() && common(&to, &right.ty).is_some() {
                let left = self.coerce(left, &to, at)?;
                return Ok((plain(left), right));
            }
        }
        for to in self.implicit_targets(&right.ty)? {
            if left.ty.distinct().is_none() && common(&left.ty, &to).is_some() {
                let right = self.coerce(right, &to, at)?;
                return Ok((left, plain(right)));
            }
        }
        Err(self.no_operator(name, &source_type(&left), &source_type(&right), at))
    }

    /// A value as one of another type, if that goes unasked.
    fn tried(&mut self, expr: &Expr, to: &Type, at: usize) -> Result<Option<Expr>> {
        let open =
            matches!((&expr.kind, &expr.ty), (ExprKind::Param(_), Type::Unknown) | (ExprKind::Literal(Value::Null), _));
        if *to == Type::Unknown || !open && find(self.schema(), &source_type(expr), to, true).is_none() {
            return Ok(None);
        }
        self.by_cast(expr, to, false, at)
    }

    /// The built-in types that a DISTINCT type becomes unasked.
    fn implicit_targets(&self, from: &Type) -> Result<Vec<Type>> {
        if from.distinct().is_none() {
            return Ok(Vec::new());
        }
        let mut targets = Vec::new();
        for cast in self.schema().informix_casts() {
            let cast = &cast.definition;
            if !cast.implicit || !matches!(cast.target, Side::BuiltIn(_)) {
                continue;
            }
            let mut ty = from;
            loop {
                if cast.source.takes(ty, self.schema(), true) {
                    targets.push(match &cast.function {
                        Some(name) => self.cast_routine(name, cast)?.returns,
                        None => ty.without_distinct().clone(),
                    });
                }
                match ty.distinct().and_then(|user| user.domain()) {
                    Some(domain) => ty = &domain.base,
                    None => break,
                }
            }
        }
        Ok(targets)
    }

    /// A value that is compared with a query's, whose type it gets.
    pub(super) fn compared_with(&mut self, op: CompareOp, expr: Expr, ty: &Type, at: usize) -> Result<Expr> {
        if expr.ty.distinct().is_none() && ty.distinct().is_none() {
            return if expr.ty.is_text() && ty.is_text() { Ok(expr) } else { self.coerce(expr, ty, at) };
        }
        if expr.ty == *ty {
            return Ok(expr);
        }
        match self.tried(&expr, ty, at)? {
            Some(expr) => Ok(expr),
            None => Err(self.no_operator(comparison(op), &source_type(&expr), ty, at)),
        }
    }

    fn no_operator(&self, name: &str, left: &Type, right: &Type, at: usize) -> Error {
        let message = format!(
            "routine ({name}) cannot be resolved: there is no implicit cast between {} and {}",
            casts::shown_side(left),
            casts::shown_side(right)
        );
        self.error(Condition::UndefinedFunction, message, at).column(name)
    }

    /// The type of two that both become unasked, where a DISTINCT type takes part.
    pub(super) fn common_distinct(&self, left: &Type, right: &Type) -> Option<Type> {
        if left == right || *right == Type::Unknown {
            return Some(left.clone());
        }
        if *left == Type::Unknown || find(self.schema(), left, right, true).is_some() {
            return Some(right.clone());
        }
        find(self.schema(), right, left, true).map(|_| left.clone())
    }

    /// The default of a column: a constant of a DISTINCT type's source type is one of it.
    pub fn default_of(&mut self, node: &Node, to: &Type) -> Result<Expr> {
        let expr = self.expr(node)?;
        if matches!(expr.kind, ExprKind::Default) {
            return Ok(expr);
        }
        match to.distinct() {
            Some(_) if expr.ty.distinct().is_none() => self.of_type(expr, to, node.at),
            _ => self.coerce(expr, to, node.at),
        }
    }

    /// A value that a column takes.
    pub(super) fn value_for(&mut self, expr: Expr, column: &Column, at: usize) -> Result<Expr> {
        if expr.ty.distinct().is_none() && column.ty.distinct().is_none() {
            return self.coerce(expr, &column.ty, at);
        }
        let from = source_type(&expr);
        self.coerce(expr, &column.ty, at).map_err(|error| match error.condition {
            Condition::CannotCoerce => {
                let message = format!(
                    "the value does not match the type of column ({}): there is no implicit cast from {} to {}",
                    column.name,
                    casts::shown_side(&from),
                    casts::shown_side(&column.ty)
                );
                self.error(Condition::ValueOfAnotherType, message, at).column(&*column.name)
            }
            _ => error,
        })
    }
}
