//! Values that become ones of types with domains in them: what the domains ask, bound.

use std::sync::Arc;

use super::binder::{Binder, Clause, Entry, EntryColumn};
use super::{coerce, mysql};
use crate::bind::insert::domain_default;
use crate::ir::{CastContext, DomainRules, Expr, ExprKind, RelId, Rules, Text, walk};
use crate::plan::Context;
use crate::schema::Schema;
use crate::user_type::UserType;
use crate::{Language, Result, Type};

/// The name by which a domain's CHECK knows the value.
const VALUE: &str = "value";

impl Binder<'_> {
    /// Converts an expression to a type with domains in it; gives it back when the context does not allow it.
    pub(super) fn try_coerce_to_domain(
        &mut self,
        expr: Expr,
        to: &Type,
        context: CastContext,
        location: i32,
    ) -> Result<Result<Expr, Expr>> {
        let plain = to.without_domains();
        let value = if self.is_mysql() && mysql::is_fitted(to) {
            self.mysql_fitted(expr, to, &plain, context, location)?
        } else if expr.ty == Type::Unknown && matches!(expr.kind, ExprKind::Param(_)) {
            self.param_of_domain(expr, to, &plain, context, location)?
        } else {
            match self.try_coerce_plainly(expr, &plain, context, location)? {
                Ok(value) => value,
                Err(expr) => return Ok(Err(expr)),
            }
        };
        self.checked(value, to, context).map(Ok)
    }

    /// A parameter where a domain is wanted is one of the domain.
    fn param_of_domain(
        &mut self,
        expr: Expr,
        to: &Type,
        plain: &Type,
        context: CastContext,
        location: i32,
    ) -> Result<Expr> {
        let ExprKind::Param(index) = expr.kind else { return Ok(expr) };
        if self.params[index].is_none() && self.variables.is_none() {
            self.params[index] = Some(to.clone());
            let param = Expr::new(ExprKind::Param(index), coerce::base(plain));
            return match self.try_coerce_plainly(param, plain, context, location)? {
                Ok(param) | Err(param) => Ok(param),
            };
        }
        self.decide_plainly(expr, plain, context, location)
    }

    /// A parameter of a type. What comes from outside must hold what the domains in it ask.
    pub(super) fn param_of(&mut self, index: usize, ty: Type) -> Result<Expr> {
        let outside = self.variables.is_none();
        if !outside || !ty.has_domain() {
            return Ok(Expr::new(ExprKind::Param(index), ty));
        }
        let param = Expr::new(ExprKind::Param(index), ty.without_domains());
        self.checked(param, &ty, CastContext::Assignment)
    }

    /// A value of the type without domains as one of the type with them.
    pub(super) fn checked(&mut self, value: Expr, to: &Type, context: CastContext) -> Result<Expr> {
        let Some(rules) = self.rules(to)? else {
            return Ok(Expr::new(ExprKind::Cast { arg: Box::new(value), context }, to.clone()));
        };
        let rules = Arc::new(rules);
        Ok(Expr::new(ExprKind::Checked { arg: Box::new(value), rules, context }, to.clone()))
    }

    /// What a type asks of its values; `None` when that is nothing.
    pub(super) fn rules(&mut self, ty: &Type) -> Result<Option<Rules>> {
        if !ty.is_constrained() {
            return Ok(None);
        }
        let members = match ty.through_domains() {
            Type::Array(element) => self.nested(|binder| binder.rules(element))?.map(Box::new),
            _ => None,
        };
        let mut fields = Vec::new();
        for (at, field) in ty.row_fields().unwrap_or_default().iter().enumerate().filter(|(_, field)| !field.dropped) {
            if let Some(rules) = self.nested(|binder| binder.rules(&field.ty))? {
                fields.push((at, rules));
            }
        }
        let bounds = match ty.through_domains() {
            Type::User(user) if let Some(subtype) = user.subtype() => {
                self.nested(|binder| binder.rules(subtype))?.map(|rules| (Type::clone(subtype), Box::new(rules)))
            }
            _ => None,
        };
        let domain = match ty {
            Type::User(user) if user.domain().is_some() => Some(self.domain_rules(user)?),
            _ => None,
        };
        Ok(Some(Rules { members, fields, bounds, domain }))
    }

    fn domain_rules(&mut self, of: &Arc<UserType>) -> Result<DomainRules> {
        let mut stack = vec![of.clone()];
        while let Some(Type::User(below)) = stack.last().and_then(|user| user.domain()).map(|domain| &domain.base)
            && below.domain().is_some()
        {
            let below = below.clone();
            stack.push(below);
        }
        let mut rules = DomainRules { domain: of.clone(), not_null: false, checks: Vec::new() };
        for user in stack.iter().rev() {
            let Some(domain) = user.domain() else { continue };
            rules.not_null |= domain.not_null;
            let mut checks: Vec<_> = domain.checks.iter().collect();
            checks.sort_by(|one, other| one.name.cmp(&other.name));
            for check in checks {
                rules.checks.push((check.name.clone(), self.domain_check(&check.text, &domain.base)?));
            }
        }
        Ok(rules)
    }

    /// A domain's CHECK from its text: it sees nothing of the statement around, nor where that looks for names.
    fn domain_check(&mut self, text: &str, base: &Type) -> Result<Expr> {
        let along = |binder: &mut Binder<'_>| binder.value_condition(text, base);
        // What it names has its schema with it. What has none, a type's name, is looked for along the path.
        match self.off_the_path(along) {
            Ok(condition) => Ok(condition),
            Err(_) => {
                let variables = self.variables.take();
                let condition = self.nested(along);
                self.variables = variables;
                condition
            }
        }
    }

    fn value_condition(&mut self, text: &str, base: &Type) -> Result<Expr> {
        let condition = self.stored(text, Language::Postgres, vec![value_entry(base)], Clause::Check)?;
        let mut condition = self.condition(condition, "CHECK", -1)?;
        walk::expr_mut(&mut condition, &mut |part| {
            if part.ty == Type::Unknown {
                part.ty = Type::Text;
            }
            true
        });
        self.derive_collations_over_value(&mut condition, base)?;
        Ok(condition)
    }
}

/// The name VALUE, for a value of a domain's base type.
pub(super) fn value_entry(base: &Type) -> Entry {
    let id: RelId = Text::TABLE;
    let column = EntryColumn {
        name: VALUE.to_owned(),
        expr: Expr::column(id, 0, base.clone()),
        origin: None,
        not_null: false,
        identity: false,
    };
    Entry {
        name: String::new(),
        schema: None,
        columns: vec![column],
        qualified: false,
        unqualified: true,
        row_is_value: false,
        row: None,
        nullable: false,
        hidden: 0,
        value: None,
        relation: None,
    }
}

/// What a type asks of its values, for the back end to tell its functions; `None` when that is nothing.
///
/// # Errors
/// As for any expression.
pub fn rules_of(ty: &Type, schema: &dyn Schema, context: &Context) -> Result<Option<Rules>> {
    Binder::detached(schema, context).rules(ty)
}

/// A domain's CHECK, bound over its value, which is column 0 of [`Text::TABLE`].
///
/// # Errors
/// As for any expression.
pub fn bind_domain_check(text: &str, base: &Type, schema: &dyn Schema, context: &Context) -> Result<Expr> {
    Binder::detached(schema, context).domain_check(text, base)
}

/// A bound CHECK asks an attribute of a composite type.
pub fn asks_field(check: &Expr, of: &UserType, at: usize) -> bool {
    let mut asked = false;
    walk::expr(check, &mut |part| {
        let field = super::expr::rows::field_of(part);
        asked |= field.is_some_and(|(row, place)| place == at && row.ty.user_type_oid() == Some(of.oid));
        !asked
    });
    asked
}

/// A bound query asks an attribute of a composite type.
pub fn reads_field(query: &crate::ir::Query, of: &UserType, at: usize) -> bool {
    let mut asked = false;
    walk::query(query, &mut |part| {
        let field = super::expr::rows::field_of(part);
        asked |= field.is_some_and(|(row, place)| place == at && row.ty.user_type_oid() == Some(of.oid));
        !asked
    });
    asked
}

/// What a domain's CHECK names.
///
/// # Errors
/// As for any expression.
pub fn uses_of_domain_check(
    text: &str,
    base: &Type,
    schema: &dyn Schema,
    context: &Context,
) -> Result<crate::uses::Uses> {
    let mut binder = Binder::detached(schema, context);
    binder.uses = Some(crate::uses::Uses::default());
    binder.value_condition(text, base)?;
    Ok(binder.uses.take().unwrap_or_default())
}

/// What stands in a column of a type that nothing is said of: its domain's default, or NULL where that must be checked;
/// `None` where it is simply NULL.
///
/// # Errors
/// As for any expression.
pub fn bind_domain_default(ty: &Type, schema: &dyn Schema, context: &Context) -> Result<Option<Expr>> {
    let mut binder = Binder::detached(schema, context);
    let value = match domain_default(ty) {
        Some(text) => binder.stored(text, Language::Postgres, Vec::new(), Clause::Default)?,
        None if ty.is_constrained() => Expr::null(Type::Unknown),
        None => return Ok(None),
    };
    binder.assign(value, "default", ty, -1).map(Some)
}
