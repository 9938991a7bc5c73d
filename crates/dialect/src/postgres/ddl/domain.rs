//! CREATE DOMAIN, ALTER DOMAIN.

use pg_query::protobuf::{self as pg, ConstrType, DropBehavior, Node, node::Node as N};

use super::super::binder::{Binder, Clause, Scope};
use super::super::domains::value_entry;
use super::super::{names, raw, types};
use super::user_type::{change, check_domain, name_of_parts};
use crate::bind::names::{Unnamed, postgres_name};
use crate::collation::Collation;
use crate::ir::{AlterUserType, Expr, ExprKind, NewUserType, Statement, UserTypeChange, Value, walk};
use crate::postgres::quote_ident as quote;
use crate::user_type::UserType;
use crate::uses::Uses;
use crate::{Condition, Error, Result, Type};

const TAG: &str = "ALTER DOMAIN";

/// What the constraints of CREATE DOMAIN say.
#[derive(Default)]
struct Parts<'a> {
    default: Option<&'a pg::Constraint>,
    /// NOT NULL, or NULL.
    not_null: Option<bool>,
    checks: Vec<&'a pg::Constraint>,
}

impl Binder<'_> {
    pub(super) fn create_domain(&mut self, create: &pg::CreateDomainStmt) -> Result<Statement> {
        let name = self.new_type_name(&create.domainname)?;
        let Some(type_name) = &create.type_name else { return Err(Error::internal("a domain over no type")) };
        let word = names::of_type(type_name).1;
        if rowferry_facts::Type::named(word).is_some_and(|fact| fact.kind == 'p') {
            let message = format!("\"{word}\" is not a valid base type for a domain");
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        let base = self.resolve_type(type_name)?;
        self.needs.declare(&base);
        crate::composite::check_part(&base, None)?;
        let collation = match &create.coll_clause {
            Some(collate) => {
                let collation = self.collation(&collate.collname, collate.location)?;
                if Collation::of_type(&base).is_none() {
                    let message = format!("collations are not supported by type {}", types::words(&base));
                    return Err(Error::new(Condition::DatatypeMismatch, message));
                }
                Some(collation).filter(|named| Some(named) != Collation::of_type(&base))
            }
            None => None,
        };
        let parts = parts_of(&create.constraints)?;
        let inherited = match &base {
            Type::User(user) => user.domain().and_then(|below| below.default.clone()),
            _ => None,
        };
        let default = match parts.default.and_then(|constraint| constraint.raw_expr.as_deref()) {
            Some(node) => self.domain_default(node, &name.name, &base)?,
            None => inherited,
        };
        let mut taken = self.domain_constraints(&name.schema);
        let mut checks: Vec<(String, String)> = Vec::with_capacity(parts.checks.len());
        for constraint in parts.checks {
            let own: Vec<&str> = checks.iter().map(|(name, _)| name.as_str()).collect();
            let named = self.domain_constraint_name(&constraint.conname, &name.name, &own, &taken)?;
            let text = self.domain_check_text(constraint, &base)?;
            taken.push(named.clone());
            checks.push((named, text));
        }
        let not_null = parts.not_null == Some(true);
        let kind = NewUserType::Domain { base, not_null, default, checks, collation };
        Ok(change(UserTypeChange::Create { name, kind }))
    }

    pub(super) fn alter_domain(&mut self, alter: &pg::AlterDomainStmt) -> Result<Statement> {
        let ty = self.owned_type(&name_of_parts(&alter.type_name))?;
        check_domain(&ty, &ty.shown())?;
        let Some(domain) = ty.domain() else { return Err(Error::internal("no domain")) };
        let base = domain.base.clone();
        let holds = |name: &str| domain.checks.iter().any(|check| check.name == name);
        let action = match alter.subtype.as_str() {
            "T" => {
                let text = match alter.def.as_deref() {
                    Some(node) => self.domain_default(node, &ty.name, &base)?,
                    None => None,
                };
                AlterUserType::SetDefault(text)
            }
            "N" => AlterUserType::SetNotNull(false),
            "O" => AlterUserType::SetNotNull(true),
            "C" => match alter.def.as_deref().and_then(|node| node.node.as_ref()) {
                Some(N::Constraint(constraint)) => self.added_check(&ty, constraint)?,
                _ => return Err(Error::internal("a domain's constraint is none")),
            },
            "X" if !holds(&alter.name) => {
                let message = no_constraint(&alter.name, &ty.name);
                if alter.missing_ok {
                    self.remark(format!("{message}, skipping"));
                    return Ok(Statement::Nothing { tag: TAG });
                }
                return Err(Error::new(Condition::UndefinedObject, message));
            }
            "X" => {
                // Nothing depends on a domain's check.
                let _: DropBehavior = alter.behavior();
                AlterUserType::DropCheck(alter.name.clone())
            }
            "V" if holds(&alter.name) => AlterUserType::ValidateCheck(alter.name.clone()),
            "V" => return Err(Error::new(Condition::UndefinedObject, no_constraint(&alter.name, &ty.name))),
            _ => return Err(Error::unsupported("this form of ALTER DOMAIN")),
        };
        Ok(change(UserTypeChange::Alter { ty, action, tag: TAG }))
    }

    fn added_check(&mut self, ty: &UserType, constraint: &pg::Constraint) -> Result<AlterUserType> {
        let Some(domain) = ty.domain() else { return Err(Error::internal("no domain")) };
        check_kind(constraint)?;
        if constraint.contype() != ConstrType::ConstrCheck {
            return Err(Error::unsupported("this constraint of a domain"));
        }
        let own: Vec<&str> = domain.checks.iter().map(|check| check.name.as_str()).collect();
        let taken = self.domain_constraints(&Some(ty.namespace.clone()));
        let name = self.domain_constraint_name(&constraint.conname, &ty.name, &own, &taken)?;
        let text = self.domain_check_text(constraint, &domain.base)?;
        Ok(AlterUserType::AddCheck { name, text, valid: !constraint.skip_validation })
    }

    /// ALTER DOMAIN … RENAME CONSTRAINT.
    pub(super) fn rename_domain_constraint(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let ty = self.altered_type(rename.object.as_deref(), pg::ObjectType::ObjectDomain)?.0;
        let names: Vec<&str> = ty.domain().into_iter().flat_map(|d| d.checks.iter()).map(|c| c.name.as_str()).collect();
        let (from, to) = (rename.subname.clone(), rename.newname.clone());
        if !names.contains(&from.as_str()) {
            let message = format!("constraint \"{from}\" for domain {} does not exist", ty.shown());
            return Err(Error::new(Condition::UndefinedObject, message));
        }
        if names.contains(&to.as_str()) {
            let message = format!("constraint \"{to}\" for domain {} already exists", ty.shown());
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        Ok(change(UserTypeChange::Alter { ty, action: AlterUserType::RenameCheck { from, to }, tag: TAG }))
    }

    /// The names of the constraints of domains in a schema.
    fn domain_constraints(&self, schema: &Option<String>) -> Vec<String> {
        let types = self.schema.user_types();
        let there = types.iter().filter(|ty| Some(&ty.namespace) == schema.as_ref());
        let checks = there.filter_map(|ty| ty.domain()).flat_map(|domain| &domain.checks);
        checks.map(|check| check.name.clone()).collect()
    }

    fn domain_constraint_name(&self, given: &str, domain: &str, own: &[&str], taken: &[String]) -> Result<String> {
        if given.is_empty() {
            let taken = |name: &str| own.contains(&name) || taken.iter().any(|taken| taken == name);
            return Ok(postgres_name(Unnamed::Check, domain, [], taken));
        }
        if own.contains(&given) {
            let message = format!("constraint \"{given}\" for domain \"{domain}\" already exists");
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        Ok(given.to_owned())
    }

    /// Binds what PostgreSQL tells no places of in its errors.
    fn placeless<T>(&mut self, scope: Scope, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let source = self.source.take();
        let stored = std::mem::replace(&mut self.stored, true);
        let result = self.with_scope(scope, bind);
        self.stored = stored;
        self.source = source;
        Ok(result?.0)
    }

    /// The text of a domain's default; none for NULL.
    fn domain_default(&mut self, node: &Node, domain: &str, base: &Type) -> Result<Option<String>> {
        let scope = Scope { clause: Clause::Default, ..Scope::default() };
        let value = self.placeless(scope, |binder| {
            let value = binder.placed(node)?.0;
            let from = types::words(&value.ty);
            binder.try_coerce(value, base, crate::ir::CastContext::Assignment, -1)?.map_err(|_| {
                let to = types::words(base);
                let message = format!("column \"{domain}\" is of type {to} but default expression is of type {from}");
                Error::new(Condition::DatatypeMismatch, message)
                    .hint("You will need to rewrite or cast the expression.")
            })
        })?;
        if is_null(&value) {
            return Ok(None);
        }
        let unsupported = || Error::unsupported("this expression in a domain's default");
        let text = raw::print_expression(node).ok_or_else(unsupported)?;
        Ok(Some(self.in_schemas(text, Vec::new(), Clause::Default)))
    }

    /// The text of a CHECK over VALUE; the functions in it are named with their schemas.
    fn domain_check_text(&mut self, constraint: &pg::Constraint, base: &Type) -> Result<String> {
        let Some(node) = constraint.raw_expr.as_deref() else { return Err(Error::internal("a check of nothing")) };
        let scope = || Scope { entries: vec![value_entry(base)], clause: Clause::Check, ..Scope::default() };
        let bound = self.placeless(scope(), |binder| {
            let condition = binder.placed(node)?.0;
            binder.condition(condition, "CHECK", -1)
        })?;
        if has_query(&bound) {
            return Err(Error::new(Condition::FeatureNotSupported, "cannot use subquery in check constraint"));
        }
        let text = raw::print_expression(node).ok_or_else(|| Error::unsupported("this expression in a check"))?;
        let mut along = Binder::detached(self.path, self.context);
        along.uses = Some(Uses::default());
        along.stored(&text, crate::Language::Postgres, vec![value_entry(base)], Clause::Check)?;
        let uses = along.uses.take().unwrap_or_default();
        let qualified = uses.with_schemas(&format!("SELECT {text}"), &quote);
        let qualified = qualified.and_then(|text| text.strip_prefix("SELECT ").map(str::to_owned));
        qualified.ok_or_else(|| Error::unsupported("a check that names something in this way"))
    }
}

fn parts_of(nodes: &[Node]) -> Result<Parts<'_>> {
    let mut parts = Parts::default();
    let syntax = |message: &str| Err(Error::new(Condition::SyntaxError, message));
    for node in nodes {
        let Some(N::Constraint(constraint)) = &node.node else { continue };
        check_kind(constraint)?;
        match constraint.contype() {
            ConstrType::ConstrDefault if parts.default.is_some() => return syntax("multiple default expressions"),
            ConstrType::ConstrDefault => parts.default = Some(constraint),
            kind @ (ConstrType::ConstrNotnull | ConstrType::ConstrNull) => {
                let not_null = kind == ConstrType::ConstrNotnull;
                if parts.not_null.is_some_and(|before| before != not_null) {
                    return syntax("conflicting NULL/NOT NULL constraints");
                }
                parts.not_null = Some(not_null);
            }
            ConstrType::ConstrCheck => parts.checks.push(constraint),
            _ => return Err(Error::unsupported("this constraint of a domain")),
        }
    }
    Ok(parts)
}

/// Refuses constraints that no domain has.
fn check_kind(constraint: &pg::Constraint) -> Result<()> {
    let impossible = match constraint.contype() {
        ConstrType::ConstrCheck if constraint.is_no_inherit => {
            let message = "check constraints for domains cannot be marked NO INHERIT";
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        ConstrType::ConstrUnique => "unique",
        ConstrType::ConstrPrimary => "primary key",
        ConstrType::ConstrExclusion => "exclusion",
        ConstrType::ConstrForeign => "foreign key",
        ConstrType::ConstrAttrDeferrable
        | ConstrType::ConstrAttrNotDeferrable
        | ConstrType::ConstrAttrDeferred
        | ConstrType::ConstrAttrImmediate => {
            let message = "specifying constraint deferrability not supported for domains";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        _ => return Ok(()),
    };
    Err(Error::new(Condition::SyntaxError, format!("{impossible} constraints not possible for domains")))
}

fn no_constraint(constraint: &str, domain: &str) -> String {
    format!("constraint \"{constraint}\" of domain \"{domain}\" does not exist")
}

fn is_null(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Literal(Value::Null))
}

fn has_query(expr: &Expr) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= part.kind.query().is_some();
        !found
    });
    found
}
