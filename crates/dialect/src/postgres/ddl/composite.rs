//! CREATE TYPE … AS (…) and what ALTER TYPE does to attributes.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, AlterTableType, DropBehavior, node::Node as N};

use super::super::binder::Binder;
use super::super::types;
use super::user_type::change;
use crate::composite::{Field, check_part, live};
use crate::ir::{AlterUserType, NewUserType, Statement, UserTypeChange};
use crate::schema::QualifiedName;
use crate::user_type::UserType;
use crate::{Condition, Error, Result, Type};

const TAG: &str = "ALTER TYPE";

fn name_of(range: &pg::RangeVar) -> QualifiedName {
    let schema = (!range.schemaname.is_empty()).then(|| range.schemaname.clone());
    QualifiedName { schema, name: range.relname.clone() }
}

impl Binder<'_> {
    pub(super) fn create_composite(&mut self, create: &pg::CompositeTypeStmt) -> Result<Statement> {
        let Some(range) = &create.typevar else { return Err(Error::internal("CREATE TYPE without a name")) };
        let name = self.new_type_name_of(name_of(range))?;
        let mut fields: Vec<Field> = Vec::with_capacity(create.coldeflist.len());
        for node in &create.coldeflist {
            let Some(N::ColumnDef(column)) = &node.node else { continue };
            let field = self.new_field(column)?;
            if fields.iter().any(|known| known.name == field.name) {
                let message = format!("column \"{}\" specified more than once", field.name);
                return Err(Error::new(Condition::DuplicateColumn, message));
            }
            fields.push(field);
        }
        Ok(change(UserTypeChange::Create { name, kind: NewUserType::Composite(fields) }))
    }

    fn new_field(&mut self, column: &pg::ColumnDef) -> Result<Field> {
        let Some(ty) = &column.type_name else { return Err(Error::internal("an attribute without a type")) };
        let ty = self.resolve_type(ty)?;
        self.needs.declare(&ty);
        self.check_field_type(&column.colname, &ty)?;
        check_part(&ty, None)?;
        let collation = self.declared_collation(column.coll_clause.as_deref(), &ty)?;
        Ok(Field { collation, ..Field::new(column.colname.clone(), ty) })
    }

    fn check_field_type(&self, name: &str, ty: &Type) -> Result<()> {
        if matches!(ty, Type::Unknown | Type::Record(_) | Type::Void) {
            let message = format!("column \"{name}\" has pseudo-type {}", types::words(ty));
            return Err(Error::new(Condition::InvalidTableDefinition, message));
        }
        Ok(())
    }

    /// The composite type that ALTER TYPE names.
    fn altered_composite(&self, range: Option<&pg::RangeVar>) -> Result<Arc<UserType>> {
        let name = range.map(name_of).unwrap_or_else(|| QualifiedName::bare(""));
        match self.schema.user_type(&name) {
            Some(ty) if ty.composite().is_some() => Ok(ty),
            Some(ty) => {
                let message = format!("\"{}\" is not a composite type", ty.name);
                Err(Error::new(Condition::WrongObjectType, message))
            }
            None if self.schema.relation(&name).is_some() => {
                let message = format!("\"{}\" is not a composite type", name.name);
                Err(Error::new(Condition::WrongObjectType, message))
            }
            None => Err(Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist"))),
        }
    }

    pub(super) fn alter_composite(&mut self, alter: &pg::AlterTableStmt) -> Result<Statement> {
        let name = alter.relation.as_ref();
        if alter.missing_ok && name.is_some_and(|range| self.schema.user_type(&name_of(range)).is_none()) {
            let shown = name.map(name_of).unwrap_or_else(|| QualifiedName::bare(""));
            self.remark(format!("relation \"{shown}\" does not exist, skipping"));
            return Ok(Statement::Nothing { tag: TAG });
        }
        let ty = self.altered_composite(name)?;
        let mut now = UserType::clone(&ty);
        let mut actions = Vec::with_capacity(alter.cmds.len());
        for node in &alter.cmds {
            let Some(N::AlterTableCmd(command)) = &node.node else { continue };
            if let Some(action) = self.field_change(&now, command)? {
                action.apply(&mut now);
                actions.push((action, command.behavior() == DropBehavior::DropCascade));
            }
        }
        Ok(change(UserTypeChange::AlterFields { ty, actions }))
    }

    fn field_change(&mut self, ty: &UserType, command: &pg::AlterTableCmd) -> Result<Option<AlterUserType>> {
        let fields = ty.composite().map(|composite| composite.fields.as_slice()).unwrap_or_default();
        let place = |name: &str| live(fields).find(|(_, field)| field.name == name).map(|(at, _)| at);
        let missing = |name: &str| {
            let message = format!("column \"{name}\" of relation \"{}\" does not exist", ty.name);
            Error::new(Condition::UndefinedColumn, message)
        };
        let definition = match command.def.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::ColumnDef(column)) => Some(column),
            _ => None,
        };
        match (command.subtype(), definition) {
            (AlterTableType::AtAddColumn, Some(column)) => {
                let field = self.new_field(column)?;
                if place(&field.name).is_some() {
                    let message = format!("column \"{}\" of relation \"{}\" already exists", field.name, ty.name);
                    return Err(Error::new(Condition::DuplicateColumn, message));
                }
                check_part(&field.ty, Some((ty.oid, &ty.shown())))?;
                Ok(Some(AlterUserType::AddField(field)))
            }
            (AlterTableType::AtDropColumn, _) => match place(&command.name) {
                Some(at) => Ok(Some(AlterUserType::DropField(at))),
                None if command.missing_ok => {
                    self.remark(format!(
                        "column \"{}\" of relation \"{}\" does not exist, skipping",
                        command.name, ty.name
                    ));
                    Ok(None)
                }
                None => Err(missing(&command.name)),
            },
            (AlterTableType::AtAlterColumnType, Some(column)) => {
                let at = place(&command.name).ok_or_else(|| missing(&command.name))?;
                let to = self.new_field(&pg::ColumnDef { colname: command.name.clone(), ..(**column).clone() })?;
                check_part(&to.ty, Some((ty.oid, &ty.shown())))?;
                Ok(Some(AlterUserType::RetypeField(at, to.ty, to.collation)))
            }
            _ => Err(Error::unsupported("this change of a composite type")),
        }
    }

    /// ALTER TYPE … RENAME ATTRIBUTE.
    pub(super) fn rename_field(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let ty = self.altered_composite(rename.relation.as_ref())?;
        let fields = ty.composite().map(|composite| composite.fields.as_slice()).unwrap_or_default();
        let place = |name: &str| live(fields).find(|(_, field)| field.name == name).map(|(at, _)| at);
        let Some(at) = place(&rename.subname) else {
            let message = format!("column \"{}\" does not exist", rename.subname);
            return Err(Error::new(Condition::UndefinedColumn, message));
        };
        if place(&rename.newname).is_some() {
            let message = format!("column \"{}\" of relation \"{}\" already exists", rename.newname, ty.name);
            return Err(Error::new(Condition::DuplicateColumn, message));
        }
        let cascade = rename.behavior() == DropBehavior::DropCascade;
        let action = AlterUserType::RenameField(at, rename.newname.clone());
        Ok(change(UserTypeChange::AlterFields { ty, actions: vec![(action, cascade)] }))
    }
}
