//! What an index keeps must be the same tomorrow: functions and conversions in it are IMMUTABLE.

use rowferry_facts::{Cast, Function, Type as TypeFact};

use super::super::binder::Binder;
use super::super::types;
use crate::ir::{Expr, ExprKind, walk};
use crate::{Condition, Error, Result, Type};

impl Binder<'_> {
    /// Binds something that must be IMMUTABLE; `what` it is.
    pub(super) fn immutable<T>(
        &mut self,
        what: &str,
        bind: impl FnOnce(&mut Self) -> Result<T>,
        expr: impl FnOnce(&T) -> &Expr,
    ) -> Result<T> {
        let volatile = std::mem::take(&mut self.effects.volatile);
        let bound = bind(self);
        let calls = std::mem::replace(&mut self.effects.volatile, volatile);
        let bound = bound?;
        if calls || !converts_immutably(expr(&bound)) {
            let message = format!("functions in {what} must be marked IMMUTABLE");
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        Ok(bound)
    }
}

/// Whether every conversion of an expression yields the same whatever the session's settings are.
pub(crate) fn converts_immutably(expr: &Expr) -> bool {
    let mut immutable = true;
    walk::expr(expr, &mut |part| {
        if let ExprKind::Cast { arg, .. } = &part.kind {
            // A constant has been read when the index is made.
            let constant = matches!(arg.kind, ExprKind::Literal(_));
            immutable &= constant || converts(arg.ty.through_domains(), part.ty.through_domains());
        }
        immutable
    });
    immutable
}

fn converts(from: &Type, to: &Type) -> bool {
    let (from, to) = (types::oid(from), types::oid(to));
    if from == to {
        return true;
    }
    let is_immutable = |function: u32| Function::by_oid(function).is_none_or(|function| function.volatility == 'i');
    if let Some(cast) = Cast::between(from, to).filter(|cast| cast.method != 'i') {
        return cast.function == 0 || is_immutable(cast.function);
    }
    // By the text of it.
    let text = |fact: &TypeFact| fact.category == 'S';
    match (TypeFact::by_oid(from), TypeFact::by_oid(to)) {
        (Some(from), Some(to)) if text(from) && text(to) => true,
        (Some(from), Some(to)) if text(to) => is_immutable(from.output),
        (Some(from), Some(to)) if text(from) => is_immutable(to.input),
        (Some(from), Some(to)) => is_immutable(from.output) && is_immutable(to.input),
        // A type of a user's by its text.
        (None, Some(other)) | (Some(other), None) => !text(other),
        (None, None) => true,
    }
}
