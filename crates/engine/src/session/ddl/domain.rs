//! ALTER DOMAIN, and the rows that stand in its way.

use std::sync::Arc;

use rowferry_dialect::ir::{AlterUserType, CastContext, Expr, ExprKind, Text, walk};
use rowferry_dialect::plan::Context;
use rowferry_dialect::postgres::{self, quote_ident};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::user_type::{self, Domain, DomainCheck, UserKind, UserType};
use rowferry_dialect::{Condition, Error, Schema as _, Type};

use super::user_type::{User, users};
use super::{Changer, Done, cannot_drop};
use crate::catalog::describe;

/// A column of a table, by its place.
type Place = (Arc<Relation>, usize);

impl Changer<'_> {
    pub(super) fn alter_domain(&self, ty: &mut UserType, action: &AlterUserType) -> Done {
        let oid = ty.oid;
        let shown = ty.shown();
        let UserKind::Domain(domain) = &mut ty.kind else { return Err(Error::internal("no domain").into()) };
        match action {
            AlterUserType::SetDefault(text) => domain.default.clone_from(text),
            AlterUserType::SetNotNull(not_null) => {
                if *not_null && !domain.not_null {
                    let places = self.columns_of_domain(oid, &shown)?;
                    places.iter().try_for_each(|(table, at)| self.refuse_nulls_of_domain(table, *at))?;
                }
                domain.not_null = *not_null;
            }
            AlterUserType::AddCheck { name, text, valid } => {
                if *valid {
                    self.validate_domain_check(oid, &shown, text, &domain.base)?;
                }
                let (name, text) = (name.clone(), text.clone());
                domain.checks.push(DomainCheck { oid: self.new_oid()?, name, text, valid: *valid });
            }
            AlterUserType::DropCheck(name) => domain.checks.retain(|check| check.name != *name),
            AlterUserType::ValidateCheck(name) => {
                let found = domain.checks.iter().find(|check| check.name == *name && !check.valid);
                if let Some(text) = found.map(|check| check.text.clone()) {
                    self.validate_domain_check(oid, &shown, &text, &domain.base)?;
                }
                check_of(domain, name).for_each(|check| check.valid = true);
            }
            AlterUserType::RenameCheck { from, to } => {
                check_of(domain, from).for_each(|check| check.name.clone_from(to));
            }
            _ => return Err(Error::internal("this is no ALTER DOMAIN").into()),
        }
        Ok(())
    }

    /// The checks of domains that call a function, or name a collation.
    pub(super) fn domain_checks_naming(&self, oid: u32) -> Vec<(Arc<UserType>, String)> {
        let schema = self.schema();
        let context = Context::default();
        let mut found = Vec::new();
        for ty in schema.user_types() {
            let Some(domain) = ty.domain() else { continue };
            for check in &domain.checks {
                let uses = postgres::uses_of_domain_check(&check.text, &domain.base, &schema, &context);
                if uses.is_ok_and(|uses| uses.routines.contains(&oid) || uses.collations.contains(&oid)) {
                    found.push((ty.clone(), check.name.clone()));
                }
            }
        }
        found
    }

    /// The checks of domains that call a function stand in its way, or go with it.
    pub(super) fn drop_domain_checks_of_function(&self, function: u32, shown: &str, cascade: bool) -> Done {
        let found = self.domain_checks_naming(function);
        if found.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = found.iter().map(|(_, check)| format!("constraint {}", quote_ident(check))).collect();
        if !cascade {
            let lines: Vec<_> = lines.into_iter().map(|line| (line, shown.to_owned())).collect();
            return Err(cannot_drop(shown, &lines));
        }
        self.tell_cascade(&lines);
        for (ty, check) in found {
            self.drop_check_of_domain(ty.oid, &check)?;
        }
        Ok(())
    }

    /// The checks of domains that ask an attribute of a composite type stand in the way of its end, or go with it.
    pub(super) fn drop_checks_of_field(&self, ty: &UserType, at: usize, cascade: bool) -> Done {
        let mut found = Vec::new();
        for (domain, check, bound) in self.bound_checks(ty) {
            if postgres::asks_field(&bound, ty, at) {
                found.push((domain.oid, check));
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let field = ty.composite().map(|composite| composite.fields[at].name.as_str()).unwrap_or_default();
        let column = format!("column {field} of composite type {}", ty.shown());
        let lines = || found.iter().map(|(_, check)| format!("constraint {}", quote_ident(check)));
        if !cascade {
            let lines: Vec<_> = lines().map(|line| (line, column.clone())).collect();
            return Err(cannot_drop(&column, &lines));
        }
        self.tell_cascade(&lines().collect::<Vec<_>>());
        found.iter().try_for_each(|(domain, check)| self.drop_check_of_domain(*domain, check))?;
        self.settle()
    }

    /// The checks of the domains over a composite type, bound: the domain, the check's name, the condition.
    fn bound_checks(&self, ty: &UserType) -> Vec<(Arc<UserType>, String, Expr)> {
        let schema = self.schema();
        let mut found = Vec::new();
        for domain in schema.user_types() {
            let Some(rules) = domain.domain() else { continue };
            let over = match rules.base.through_domains() {
                Type::Array(element) => element.through_domains().user_type_oid(),
                base => base.user_type_oid(),
            };
            for check in rules.checks.iter().filter(|_| over == Some(ty.oid)) {
                let bound = postgres::bind_domain_check(&check.text, &rules.base, &schema, &Context::default());
                found.extend(bound.map(|bound| (domain.clone(), check.name.clone(), bound)));
            }
        }
        found
    }

    /// The checks of the domains over a composite type, with the names that its attributes are about to have: the
    /// domain, the check's name, its text.
    pub(super) fn checks_over_rows(&self, now: &UserType) -> Done<Vec<(u32, String, String)>> {
        let schema = self.schema();
        let renamed = Arc::new(now.clone());
        let mut texts = Vec::new();
        for (domain, check, mut bound) in self.bound_checks(now) {
            walk::expr_mut(&mut bound, &mut |part| {
                part.ty = user_type::resolved(&part.ty, &|oid| (oid == renamed.oid).then(|| renamed.clone()));
                true
            });
            let text = describe::printed_check(&schema, &bound, false);
            let text = text.ok_or_else(|| Error::unsupported("a change of a type that such a check is over"))?;
            texts.push((domain.oid, check, text));
        }
        Ok(texts)
    }

    /// The composite type is another now: its domains' checks must still be true conditions.
    pub(super) fn rewrite_checks(&self, checks: Vec<(u32, String, String)>) -> Done {
        for (domain, name, text) in checks {
            let schema = self.schema();
            let Some(ty) = schema.user_type_by_oid(domain) else { continue };
            let mut ty = UserType::clone(&ty);
            let UserKind::Domain(rules) = &mut ty.kind else { continue };
            postgres::bind_domain_check(&text, &rules.base, &schema, &Context::default())?;
            check_of(rules, &name).for_each(|check| check.text.clone_from(&text));
            self.store_type(&ty)?;
            self.settle()?;
        }
        Ok(())
    }

    /// Refuses rows whose values do not hold a new check.
    fn validate_domain_check(&self, oid: u32, shown: &str, text: &str, base: &Type) -> Done {
        let places = self.columns_of_domain(oid, shown)?;
        if places.is_empty() {
            return Ok(());
        }
        let condition = self.session.bind_domain_check(text, base, &self.schema())?;
        for (table, at) in places {
            let column = &table.columns[at];
            let mut condition = condition.clone();
            walk::expr_mut(&mut condition, &mut |part| {
                if matches!(part.kind, ExprKind::Column(_)) {
                    let stored = Expr::column(Text::TABLE, at, column.ty.clone());
                    *part = stored.cast(part.ty.clone(), CastContext::Implicit);
                    return false;
                }
                true
            });
            if self.store.refuses(&table, &condition)? {
                return Err(in_the_way(&table, &column.name, Condition::CheckViolation).into());
            }
        }
        Ok(())
    }

    fn refuse_nulls_of_domain(&self, table: &Relation, at: usize) -> Done {
        let column = &table.columns[at].name;
        if self.store.holds_null(table, column)? {
            return Err(in_the_way(table, column, Condition::NotNullViolation).into());
        }
        Ok(())
    }

    /// The columns of a domain, and of domains over it. Columns of what else is made of it stand in the way of a change.
    fn columns_of_domain(&self, oid: u32, shown: &str) -> Done<Vec<Place>> {
        let schema = self.schema();
        let mut places = Vec::new();
        let mut left = vec![oid];
        while let Some(oid) = left.pop() {
            for user in users(&schema, oid) {
                match user {
                    User::Column(table, at) if matches!(table.columns[at].ty, Type::User(_)) => {
                        places.push((table, at))
                    }
                    User::Column(table, at) => return Err(made_of(shown, &table, at).into()),
                    User::Domain(over) if matches!(over.domain().map(|d| &d.base), Some(Type::User(_))) => {
                        left.push(over.oid);
                    }
                    User::Domain(over) | User::Field(over, _) => {
                        if let Some((table, at)) = self.column_through(&over) {
                            return Err(made_of(shown, &table, at).into());
                        }
                    }
                    User::Function(_) | User::Operator(_) | User::Cast(_) => {}
                }
            }
        }
        places.sort_by_key(|(table, at)| (table.oid, *at));
        Ok(places)
    }

    /// A column of a type, or of one that is made of it.
    fn column_through(&self, ty: &UserType) -> Option<Place> {
        users(&self.schema(), ty.oid).into_iter().find_map(|user| match user {
            User::Column(table, at) => Some((table, at)),
            User::Domain(over) | User::Field(over, _) => self.column_through(&over),
            User::Function(_) | User::Operator(_) | User::Cast(_) => None,
        })
    }
}

fn check_of<'d>(domain: &'d mut Domain, name: &'d str) -> impl Iterator<Item = &'d mut DomainCheck> {
    domain.checks.iter_mut().filter(move |check| check.name == name)
}

fn made_of(domain: &str, table: &Relation, at: usize) -> Error {
    let column = &table.columns[at].name;
    let message = format!("cannot alter type \"{domain}\" because column \"{}.{column}\" uses it", table.name);
    Error::new(Condition::FeatureNotSupported, message)
}

fn in_the_way(table: &Relation, column: &str, condition: Condition) -> Error {
    let what = match condition {
        Condition::NotNullViolation => "contains null values",
        _ => "contains values that violate the new constraint",
    };
    let message = format!("column \"{column}\" of table \"{}\" {what}", table.name);
    Error::new(condition, message).table(table.namespace.clone(), table.name.clone()).column(column)
}
