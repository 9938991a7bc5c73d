//! Conversions by casts that users have made, beside those that PostgreSQL has.

use super::binder::Binder;
use super::coerce::{base, cast_context, rank};
use super::types;
use crate::functions;
use crate::ir::{CastContext, Expr, ExprKind};
use crate::schema::Schema;
use crate::types::Type;
use crate::user_cast::{Method, UserCast};
use crate::{Error, Result};

/// The users' cast from one type to another, the types behind domains.
pub fn user_cast(schema: &dyn Schema, from: &Type, to: &Type) -> Option<UserCast> {
    among(schema.casts(), from, to)
}

fn among(casts: &[UserCast], from: &Type, to: &Type) -> Option<UserCast> {
    if casts.is_empty() || *from == Type::Unknown {
        return None;
    }
    let (from, to) = (types::oid(from.through_domains()), types::oid(to.through_domains()));
    casts.iter().find(|cast| (cast.definition.source, cast.definition.target) == (from, to)).copied()
}

impl Binder<'_> {
    /// The users' cast from one type to another, the types behind domains.
    pub(super) fn user_cast(&self, from: &Type, to: &Type) -> Option<UserCast> {
        user_cast(self.schema, from, to).or_else(|| among(self.dropped_casts(), from, to))
    }

    /// Casts that are there no more but for what is stored, as it has found them when it was made.
    fn dropped_casts(&self) -> &[UserCast] {
        if self.source.is_none() { self.schema.dropped_casts() } else { &[] }
    }

    /// The least context in which `from` becomes `to`, by users' casts, too; `None` when it never does.
    pub(super) fn context_of_cast(&self, from: &Type, to: &Type) -> Option<CastContext> {
        match self.user_cast(from, to) {
            Some(cast) => Some(cast.definition.context),
            None => cast_context(from, to),
        }
    }

    /// The same of arrays, by way of their members.
    pub(super) fn context_of_members(&self, from: &Type, to: &Type) -> Option<CastContext> {
        match (from, to) {
            (Type::Array(from), Type::Array(to)) => self.context_of_members(from, to),
            (from, to) => self.context_of_cast(from, to),
        }
    }

    /// True when `from` becomes `to` without being asked, by users' casts, too.
    pub(super) fn becomes(&self, from: &Type, to: &Type) -> bool {
        self.context_of_cast(from, to) == Some(CastContext::Implicit)
    }

    /// True when a users' cast may take values of a type unasked.
    pub(super) fn has_casts_from(&self, ty: &Type) -> bool {
        let mut casts = self.schema.casts().iter().chain(self.dropped_casts()).peekable();
        if casts.peek().is_none() || *ty == Type::Unknown {
            return false;
        }
        let from = types::oid(ty.through_domains());
        casts.any(|cast| cast.definition.source == from && cast.definition.context == CastContext::Implicit)
    }

    /// A conversion by a users' cast, where there is one: the value, or itself where the context does not allow it.
    pub(super) fn try_user_cast(
        &mut self,
        expr: Expr,
        to: &Type,
        context: CastContext,
        location: i32,
    ) -> Result<std::result::Result<Expr, Expr>> {
        if let (Type::Array(from), Type::Array(element)) = (&expr.ty, to)
            && let Some(cast) = self.user_cast(from, element)
            && rank(cast.definition.context) <= rank(context)
        {
            return Err(self.unsupported("a cast of arrays by a cast that users have made", location));
        }
        let Some(cast) = self.user_cast(&expr.ty, to) else { return Ok(Err(expr)) };
        if rank(cast.definition.context) > rank(context) {
            return Ok(Err(expr));
        }
        self.note(|uses| {
            uses.routines.insert(cast.oid);
        });
        let whole = base(to);
        let made = match cast.definition.method {
            Method::AsItIs => Expr::new(expr.kind, whole.clone()),
            Method::Text => self.by_text(expr, &whole)?,
            Method::Function(function) => {
                let explicit = context == CastContext::Explicit;
                let modifier = Expr::integer(i64::from(types::typmod(to)), Type::Int4);
                let args = vec![(expr, location), (modifier, location), (Expr::bool(explicit), location)];
                let call = self.call_of_oid(function, args, location)?;
                self.coerce(call, &whole, CastContext::Explicit, location)?
            }
        };
        // What a printer shows as a cast, whatever carries it out.
        let shown = Expr::bool(context == CastContext::Explicit);
        let function = functions::internal("cast of users");
        let made = Expr::new(ExprKind::Call { function, args: vec![made, shown] }, whole);
        if types::typmod(to) == -1 {
            return Ok(Ok(made));
        }
        Ok(Ok(Expr::new(ExprKind::Cast { arg: Box::new(made), context }, to.clone())))
    }

    /// A value read from the text that another type's value is printed as.
    fn by_text(&mut self, expr: Expr, to: &Type) -> Result<Expr> {
        let text = match expr.ty.through_domains() {
            // What is printed is one letter, where a cast makes a word.
            Type::Bool => {
                let digit = expr.cast(Type::Int4, CastContext::Explicit).cast(Type::Text, CastContext::Explicit);
                let letters = [Expr::text("10"), Expr::text("tf")].map(|text| (text, -1));
                self.call_named("translate", std::iter::once((digit, -1)).chain(letters).collect(), -1)?
            }
            _ => expr.cast(Type::Text, CastContext::Explicit),
        };
        Ok(if *to == Type::Text { text } else { text.cast(to.clone(), CastContext::Explicit) })
    }

    /// A call of a function by its object id with as many of the arguments as it takes.
    pub(super) fn call_of_oid(&mut self, oid: u32, mut args: Vec<(Expr, i32)>, place: i32) -> Result<Expr> {
        if let Some(fact) = rowferry_facts::Function::by_oid(oid) {
            args.truncate(fact.arguments.len());
            return self.call_of_fact(fact, args, place);
        }
        let Some(function) = self.schema.function_by_oid(oid) else {
            return Err(Error::internal("a function behind an operator or a cast is gone"));
        };
        args.truncate(function.definition.inputs().count());
        self.call_of_function(&function, args, place)
    }
}
