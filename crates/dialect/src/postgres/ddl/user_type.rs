//! CREATE TYPE, ALTER TYPE and DROP TYPE: the types that users make.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, DropBehavior, Node, ObjectType, node::Node as N};

use super::super::binder::Binder;
use super::super::names;
use crate::bind::names::NAME_LENGTH;
use crate::ir::{AlterUserType, Ddl, NewUserType, Statement, UserTypeChange};
use crate::schema::QualifiedName;
use crate::user_type::{UserKind, UserType};
use crate::{Condition, Error, Result};

/// A type or a domain.
pub(in crate::postgres) const fn is_type(kind: ObjectType) -> bool {
    matches!(kind, ObjectType::ObjectType | ObjectType::ObjectDomain)
}

pub(super) fn change(change: UserTypeChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::UserType(change)))
}

/// A name from the strings of which it is made.
pub(in crate::postgres) fn name_of_parts(parts: &[Node]) -> QualifiedName {
    match names::strings(parts).as_slice() {
        [.., schema, name] => QualifiedName::new(*schema, *name),
        [name] => QualifiedName::bare(*name),
        [] => QualifiedName::bare(""),
    }
}

/// The name in a node of an object.
fn name_of_object(node: Option<&Node>) -> QualifiedName {
    match node.and_then(|node| node.node.as_ref()) {
        Some(N::TypeName(name)) => name_of_parts(&name.names),
        Some(N::List(list)) => name_of_parts(&list.items),
        _ => QualifiedName::bare(""),
    }
}

impl Binder<'_> {
    /// The name of a type to be, its schema decided.
    pub(in crate::postgres) fn new_type_name(&self, parts: &[Node]) -> Result<QualifiedName> {
        self.new_type_name_of(name_of_parts(parts))
    }

    /// The same, its name read.
    pub(super) fn new_type_name_of(&self, name: QualifiedName) -> Result<QualifiedName> {
        let schema = self.schema.creation_schema(name.schema.as_deref())?;
        match schema.as_str() {
            "pg_catalog" | "information_schema" => {
                Err(Error::new(Condition::InsufficientPrivilege, format!("permission denied for schema {schema}")))
            }
            "pg_temp" => Err(Error::unsupported("a temporary type")),
            _ => {
                let name = QualifiedName::new(schema, name.name);
                self.check_type_free(&name)?;
                Ok(name)
            }
        }
    }

    /// Refuses a type's name that is taken by a type, or by a relation, whose rows are of a type of its name.
    fn check_type_free(&self, name: &QualifiedName) -> Result<()> {
        let taken = self.schema.user_type(name).is_some() || self.is_taken(name);
        if taken {
            let message = format!("type \"{}\" already exists", name.name);
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        Ok(())
    }

    /// A type that a statement changes.
    pub(super) fn owned_type(&self, name: &QualifiedName) -> Result<Arc<UserType>> {
        if let Some(found) = self.schema.user_type(name) {
            return Ok(found);
        }
        let builtin = super::super::types::rows().find(|row| row.name == name.name);
        if let Some(row) = builtin.filter(|_| name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog")) {
            let message = format!("must be owner of type {}", row.words);
            return Err(Error::new(Condition::InsufficientPrivilege, message));
        }
        if self.schema.relation(name).is_some() {
            return Err(Error::unsupported(format!("a change of the row type of \"{}\"", name.name)));
        }
        Err(no_type(name))
    }

    pub(super) fn create_enum(&mut self, create: &pg::CreateEnumStmt) -> Result<Statement> {
        let name = self.new_type_name(&create.type_name)?;
        let labels: Vec<String> = names::strings(&create.vals).into_iter().map(str::to_owned).collect();
        for (at, label) in labels.iter().enumerate() {
            check_label(label)?;
            if labels[..at].contains(label) {
                return Err(Error::new(
                    Condition::UniqueViolation,
                    "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"",
                ));
            }
        }
        Ok(change(UserTypeChange::Create { name, kind: NewUserType::Enum(labels) }))
    }

    pub(super) fn alter_enum(&mut self, alter: &pg::AlterEnumStmt) -> Result<Statement> {
        const TAG: &str = "ALTER TYPE";
        let ty = self.owned_type(&name_of_parts(&alter.type_name))?;
        let UserKind::Enum(labels) = &ty.kind else {
            return Err(Error::new(Condition::WrongObjectType, format!("{} is not an enum", ty.shown())));
        };
        check_label(&alter.new_val)?;
        let no_label = |label: &str| {
            Error::new(Condition::InvalidParameterValue, format!("\"{label}\" is not an existing enum label"))
        };
        let exists = |label: &str| format!("enum label \"{label}\" already exists");
        if !alter.old_val.is_empty() {
            if labels.position(&alter.old_val).is_none() {
                return Err(no_label(&alter.old_val));
            }
            if labels.position(&alter.new_val).is_some() {
                return Err(Error::new(Condition::DuplicateObject, exists(&alter.new_val)));
            }
            let action = AlterUserType::RenameValue { from: alter.old_val.clone(), to: alter.new_val.clone() };
            return Ok(change(UserTypeChange::Alter { ty, action, tag: TAG }));
        }
        if labels.position(&alter.new_val).is_some() {
            let message = exists(&alter.new_val);
            if alter.skip_if_new_val_exists {
                self.notices.push(Error::new(Condition::DuplicateObject, format!("{message}, skipping")));
                return Ok(Statement::Nothing { tag: TAG });
            }
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        let at = if alter.new_val_neighbor.is_empty() {
            labels.all().len()
        } else {
            let neighbour =
                labels.position(&alter.new_val_neighbor).ok_or_else(|| no_label(&alter.new_val_neighbor))?;
            neighbour + usize::from(alter.new_val_is_after)
        };
        let action = AlterUserType::AddValue { label: alter.new_val.clone(), at };
        Ok(change(UserTypeChange::Alter { ty, action, tag: TAG }))
    }

    /// ALTER TYPE … RENAME TO, ALTER DOMAIN … RENAME TO.
    pub(super) fn rename_type(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let (ty, tag) = self.altered_type(rename.object.as_deref(), rename.rename_type())?;
        self.check_type_free(&QualifiedName::new(ty.namespace.clone(), rename.newname.clone()))?;
        let action = AlterUserType::Rename(rename.newname.clone());
        Ok(change(UserTypeChange::Alter { ty, action, tag }))
    }

    /// ALTER TYPE … SET SCHEMA, ALTER DOMAIN … SET SCHEMA.
    pub(super) fn move_type(&mut self, alter: &pg::AlterObjectSchemaStmt) -> Result<Statement> {
        let (ty, tag) = self.altered_type(alter.object.as_deref(), alter.object_type())?;
        let to = alter.newschema.clone();
        if !self.schema.has_namespace(&to) {
            return Err(Error::new(Condition::InvalidSchemaName, format!("schema \"{to}\" does not exist")));
        }
        match to.as_str() {
            "pg_temp" => {
                let message = "cannot move objects into or out of temporary schemas";
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            "pg_catalog" | "information_schema" => {
                return Err(self.unsupported(format!("moving a type to \"{to}\""), -1));
            }
            to if to == ty.namespace => return Ok(Statement::Nothing { tag }),
            _ => {}
        }
        if self.schema.user_type(&QualifiedName::new(to.clone(), ty.name.clone())).is_some() {
            let message = format!("type \"{}\" already exists in schema \"{to}\"", ty.name);
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        Ok(change(UserTypeChange::Alter { ty, action: AlterUserType::SetSchema(to), tag }))
    }

    /// The type that ALTER TYPE or ALTER DOMAIN names, and the tag.
    pub(super) fn altered_type(
        &self,
        object: Option<&Node>,
        kind: ObjectType,
    ) -> Result<(Arc<UserType>, &'static str)> {
        let name = name_of_object(object);
        let ty = self.owned_type(&name)?;
        if kind == ObjectType::ObjectDomain {
            check_domain(&ty, &ty.shown())?;
            return Ok((ty, "ALTER DOMAIN"));
        }
        Ok((ty, "ALTER TYPE"))
    }

    /// COMMENT ON TYPE, COMMENT ON DOMAIN.
    pub(super) fn comment_on_type(&mut self, comment: &pg::CommentStmt) -> Result<Ddl> {
        let ty = self.altered_type(comment.object.as_deref(), comment.objtype())?.0;
        let text = (!comment.comment.is_empty()).then(|| comment.comment.clone());
        Ok(Ddl::UserType(UserTypeChange::Alter { ty, action: AlterUserType::Comment(text), tag: "COMMENT" }))
    }

    /// COMMENT ON CONSTRAINT name ON DOMAIN domain.
    pub(super) fn comment_on_domain_constraint(
        &mut self,
        comment: &pg::CommentStmt,
        text: Option<String>,
    ) -> Result<Ddl> {
        let Some(N::List(named)) = comment.object.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(Error::internal("a comment on a constraint of nothing"));
        };
        let ty = self.altered_type(named.items.first(), ObjectType::ObjectDomain)?.0;
        let name = names::strings(&named.items[1..]).concat();
        let found = ty.domain().and_then(|domain| domain.checks.iter().find(|check| check.name == name));
        let Some(check) = found else {
            let message = format!("constraint \"{name}\" for domain {} does not exist", ty.shown());
            return Err(Error::new(Condition::UndefinedObject, message));
        };
        let (oid, owner) = (check.oid, (ty.oid, ty.name.clone()));
        Ok(Ddl::CommentObject { oid: Some(oid), kind: "domain constraint", name, owner: Some(owner), text })
    }

    pub(super) fn drop_types(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let domain = drop.remove_type() == ObjectType::ObjectDomain;
        let tag = if domain { "DROP DOMAIN" } else { "DROP TYPE" };
        let mut types: Vec<Arc<UserType>> = Vec::with_capacity(drop.objects.len());
        for node in &drop.objects {
            let name = name_of_object(Some(node));
            if drop.missing_ok && self.schema.user_type(&name).is_none() {
                match &name.schema {
                    Some(schema) if !self.schema.has_namespace(schema) => {
                        self.remark(format!("schema \"{schema}\" does not exist, skipping"));
                        continue;
                    }
                    _ if super::super::types::named(&name.name, &[]).is_err()
                        && self.schema.relation(&name).is_none() =>
                    {
                        self.remark(format!("type \"{name}\" does not exist, skipping"));
                        continue;
                    }
                    _ => {}
                }
            }
            if self.schema.user_type(&name).is_none()
                && let Some(relation) = self.schema.relation(&name)
            {
                let message = format!(
                    "cannot drop type {0} because table {0} requires it",
                    super::super::quote_ident(&relation.name)
                );
                let hint = format!("You can drop table {} instead.", super::super::quote_ident(&relation.name));
                return Err(Error::new(Condition::DependentObjectsStillExist, message).hint(hint));
            }
            let ty = self.owned_type(&name)?;
            if let Some(range) = ty.range_of_multirange() {
                let message = format!("cannot drop type {} because type {} requires it", ty.shown(), range.shown());
                let hint = format!("You can drop type {} instead.", range.shown());
                return Err(Error::new(Condition::DependentObjectsStillExist, message).hint(hint));
            }
            if domain {
                check_domain(&ty, &format!("\"{}\"", ty.name))?;
            }
            if !types.contains(&ty) {
                types.push(ty);
            }
        }
        let cascade = drop.behavior() == DropBehavior::DropCascade;
        Ok(change(UserTypeChange::Drop { types, cascade, tag }))
    }
}

fn no_type(name: &QualifiedName) -> Error {
    Error::new(Condition::UndefinedObject, format!("type \"{name}\" does not exist"))
}

/// Refuses what is no domain; DROP shows names in quotes.
pub(super) fn check_domain(ty: &UserType, shown: &str) -> Result<()> {
    match ty.domain() {
        Some(_) => Ok(()),
        None => Err(Error::new(Condition::WrongObjectType, format!("{shown} is not a domain"))),
    }
}

fn check_label(label: &str) -> Result<()> {
    if label.len() > NAME_LENGTH {
        let message = format!("invalid enum label \"{label}\"");
        let detail = format!("Labels must be {NAME_LENGTH} bytes or less.");
        return Err(Error::new(Condition::InvalidName, message).detail(detail));
    }
    Ok(())
}
