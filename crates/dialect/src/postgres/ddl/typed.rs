//! Tables OF a composite type.

use pg_query::protobuf::{self as pg, AlterTableType, ConstrType, node::Node as N};

use super::super::binder::Binder;
use super::super::types;
use super::table::Draft;
use crate::collation::Collation;
use crate::composite::live;
use crate::heritage::OF_TYPE;
use crate::ir::{AlterTable, ColumnDefinition, Part};
use crate::schema::Relation;
use crate::user_type::UserType;
use crate::{Condition, Error, Result, Type};

fn wrong(message: impl Into<String>) -> Error {
    Error::new(Condition::WrongObjectType, message.into())
}

impl Binder<'_> {
    /// The composite type that OF names.
    fn type_of_table(&mut self, name: &pg::TypeName) -> Result<std::sync::Arc<UserType>> {
        let ty = self.resolve_type(name)?;
        let Type::User(user) = &ty else {
            return Err(wrong(format!("type {} is not a composite type", types::words(&ty))));
        };
        // That of a relation's rows is none of its own.
        let own = self.schema.user_type_by_oid(user.oid).filter(|user| user.composite().is_some());
        let known = own.filter(|user| crate::composite::relation_of_row_type(user.oid).is_none());
        known.ok_or_else(|| wrong(format!("type {} is not a composite type", types::words(&ty))))
    }

    /// The columns of a table OF a type.
    pub(super) fn columns_of_type(&mut self, name: &pg::TypeName, draft: &mut Draft) -> Result<()> {
        let ty = self.type_of_table(name)?;
        self.needs.declare(&Type::User(ty.clone()));
        let fields = ty.composite().map(|composite| composite.fields.as_slice()).unwrap_or_default();
        for (_, field) in live(fields) {
            draft.columns.push(ColumnDefinition {
                collation: field.collation.clone(),
                ..ColumnDefinition::plain(&field.name, types::import(&field.ty))
            });
        }
        draft.properties.push((String::new(), OF_TYPE.to_owned(), ty.oid.to_string()));
        Ok(())
    }

    /// What a table OF a type says more of a column; its place.
    pub(super) fn typed_column(
        &mut self,
        column: &pg::ColumnDef,
        draft: &mut Draft,
        before: &[(usize, &pg::ColumnDef)],
    ) -> Result<usize> {
        let name = &column.colname;
        let Some(at) = draft.columns.iter().position(|known| known.name == *name) else {
            return Err(Error::new(Condition::UndefinedColumn, format!("column \"{name}\" does not exist")));
        };
        if before.iter().any(|(known, _)| *known == at) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(Error::new(Condition::DuplicateColumn, message));
        }
        for node in &column.constraints {
            let Some(N::Constraint(constraint)) = &node.node else { continue };
            match constraint.contype() {
                ConstrType::ConstrNotnull | ConstrType::ConstrPrimary => draft.columns[at].not_null = true,
                ConstrType::ConstrIdentity => {
                    let message = "identity columns are not supported on typed tables";
                    return Err(Error::new(Condition::FeatureNotSupported, message));
                }
                ConstrType::ConstrGenerated => draft.generated.push(name.clone()),
                _ => {}
            }
        }
        Ok(at)
    }

    /// OF and NOT OF.
    pub(super) fn change_type_of_table(
        &mut self,
        command: &pg::AlterTableCmd,
        table: &Relation,
    ) -> Result<Option<Vec<AlterTable>>> {
        let value = match command.subtype() {
            AlterTableType::AtAddOf => {
                let Some(N::TypeName(name)) = command.def.as_deref().and_then(|node| node.node.as_ref()) else {
                    return Err(Error::internal("OF without a type"));
                };
                let ty = self.type_of_table(name)?;
                if !table.parents().is_empty() {
                    return Err(wrong("typed tables cannot inherit"));
                }
                check_columns(table, &ty)?;
                Some(ty.oid.to_string())
            }
            AlterTableType::AtDropOf if table.of_type().is_none() => {
                return Err(wrong(format!("\"{}\" is not a typed table", table.name)));
            }
            AlterTableType::AtDropOf => None,
            _ => return Ok(None),
        };
        Ok(Some(vec![AlterTable::SetProperty { part: Part::Table, name: OF_TYPE.to_owned(), value }]))
    }

    /// What the type of a table decides is not changed in the table.
    pub(super) fn refuse_typed(&self, subtype: AlterTableType, table: &Relation) -> Result<()> {
        if table.of_type().is_none() {
            return Ok(());
        }
        Err(wrong(match subtype {
            AlterTableType::AtAddColumn => "cannot add column to typed table",
            AlterTableType::AtDropColumn => "cannot drop column from typed table",
            AlterTableType::AtAlterColumnType => "cannot alter column type of typed table",
            AlterTableType::AtAddInherit => "cannot change inheritance of typed table",
            _ => return Ok(()),
        }))
    }
}

/// A table has the columns of a type, in their order.
fn check_columns(table: &Relation, ty: &UserType) -> Result<()> {
    let mismatch = |message: String| Err(Error::new(Condition::DatatypeMismatch, message));
    let fields = ty.composite().map(|composite| composite.fields.as_slice()).unwrap_or_default();
    let mut columns = table.columns.iter();
    for (_, field) in live(fields) {
        let Some(column) = columns.next() else {
            return mismatch(format!("table is missing column \"{}\"", field.name));
        };
        if column.name != field.name {
            return mismatch(format!("table has column \"{}\" where type requires \"{}\"", column.name, field.name));
        }
        let collation = |named: &Option<std::sync::Arc<Collation>>| named.as_ref().map(|named| named.oid);
        if types::import(&column.ty) != types::import(&field.ty)
            || collation(&column.collation) != collation(&field.collation)
        {
            return mismatch(format!("table \"{}\" has different type for column \"{}\"", table.name, column.name));
        }
    }
    match columns.next() {
        Some(column) => mismatch(format!("table has extra column \"{}\"", column.name)),
        None => Ok(()),
    }
}
