//! Functions in SQL: their statements, and what CREATE FUNCTION finds out about them.

use std::sync::Arc;

use crate::composite::live;
use crate::plan::Context;
use crate::postgres::parse::{self, Parsed};
use crate::postgres::plpgsql::Conflict;
use crate::postgres::types;
use crate::schema::Schema;
use crate::stored_function::{Param, StoredFunction, TypeRef};
use crate::{Condition, Error, Result, Type};

use super::{VariableScope, Variables, bind_inside};

/// The names that a function in SQL gives its statements: its parameters, each value of the type that it has here.
///
/// # Errors
/// `42704` when the table of a row type is gone.
pub fn variables(function: &StoredFunction, types: &[Type], schema: &dyn Schema) -> Result<Variables> {
    let mut scope = VariableScope { label: Some(function.name.clone()), ..VariableScope::default() };
    let mut variables = Variables { conflict: Conflict::Column, ..Variables::default() };
    for (param, ty) in function.definition.inputs().zip(types) {
        // The table of a row type may be gone.
        param.ty.relation(schema)?;
        if !param.name.is_empty() {
            scope.values.push((param.name.clone(), variables.types.len()));
        }
        variables.positional.push(variables.types.len());
        variables.types.push(ty.clone());
    }
    variables.scopes.push(scope);
    Ok(variables)
}

/// The statements of a body.
///
/// # Errors
/// `42601`.
pub fn statements(function: &StoredFunction) -> Result<Vec<Parsed>> {
    parse::parse(&function.definition.source)
}

/// What can be said of a body before it is called.
pub(super) fn check(function: &Arc<StoredFunction>, schema: &dyn Schema, context: &Context) -> Result<()> {
    let definition = &function.definition;
    let statements = statements(function)?;
    if definition.is_polymorphic() {
        return Ok(());
    }
    let types: Vec<Type> = definition.inputs().map(|param| plain(&param.ty, schema)).collect::<Result<_>>()?;
    let mut variables = variables(function, &types, schema)?;
    // A body in quotes may call the function that it is the body of; one in SQL's own grammar is read before that is there.
    variables.making = (!definition.sql_body).then(|| Arc::clone(function));
    let in_function = |error: Error| {
        let context = format!("SQL function \"{}\"", function.name);
        if error.position.is_some() { error } else { error.context(context) }
    };
    let mut last = None;
    for statement in &statements {
        if statement.ends_transaction() {
            let message = "transaction control statements are not allowed in an SQL function";
            return Err(in_function(Error::new(Condition::FeatureNotSupported, message)));
        }
        let bound = bind_inside(statement, schema, context, &variables).map_err(in_function)?;
        if matches!(bound.statement, crate::ir::Statement::CallProcedure(_)) && !bound.columns.is_empty() {
            let message = "calling procedures with output arguments is not supported in SQL functions";
            return Err(in_function(Error::new(Condition::FeatureNotSupported, message)));
        }
        last = Some(bound.columns);
    }
    check_result(function, last.as_deref(), schema).map_err(in_function)
}

fn plain(ty: &TypeRef, schema: &dyn Schema) -> Result<Type> {
    Ok(ty.looked_up(schema)?.unwrap_or(Type::RECORD))
}

/// The last statement's columns must make what the function returns.
fn check_result(
    function: &StoredFunction,
    columns: Option<&[crate::plan::ResultColumn]>,
    schema: &dyn Schema,
) -> Result<()> {
    let definition = &function.definition;
    if definition.returns == TypeRef::Is(Type::Void) {
        return Ok(());
    }
    let words = definition.returns.words();
    let mismatch = |detail: String| {
        let message = format!("return type mismatch in function declared to return {words}");
        Err(Error::new(Condition::InvalidFunctionDefinition, message).detail(detail))
    };
    let Some(columns) = columns.filter(|columns| !columns.is_empty()) else {
        return mismatch("Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.".to_owned());
    };
    let outputs: Vec<&Param> = definition.outputs().collect();
    let row = if outputs.len() > 1 { None } else { definition.returns.row_type(schema)? };
    let wanted: Option<Vec<Type>> = if let Some(row) = &row {
        Some(live(row.row_fields().unwrap_or_default()).map(|(_, field)| field.ty.clone()).collect())
    } else {
        match (outputs.len() > 1, &definition.returns) {
            (true, _) => Some(outputs.iter().map(|param| plain(&param.ty, schema)).collect::<Result<_>>()?),
            (false, TypeRef::Is(Type::Record(_))) => return Ok(()),
            (false, ty) => Some(vec![plain(ty, schema)?]),
        }
    };
    let Some(wanted) = wanted else { return Ok(()) };
    let scalar = !definition.returns_row();
    // A row as a whole is what a function of rows may return, too.
    if !scalar && columns.len() == 1 && (columns[0].ty == Type::RECORD || row.as_ref() == Some(&columns[0].ty)) {
        return Ok(());
    }
    if scalar && columns.len() != 1 {
        return mismatch("Final statement must return exactly one column.".to_owned());
    }
    if columns.len() < wanted.len() {
        return mismatch("Final statement returns too few columns.".to_owned());
    }
    if columns.len() > wanted.len() {
        return mismatch("Final statement returns too many columns.".to_owned());
    }
    for (at, (column, wanted)) in columns.iter().zip(&wanted).enumerate() {
        let context = match crate::postgres::user_cast(schema, &column.ty, wanted) {
            Some(cast) => Some(cast.definition.context),
            None => crate::postgres::coerce::cast_context(&column.ty, wanted),
        };
        let assignable =
            column.ty == Type::Unknown || context.is_some_and(|context| context != crate::ir::CastContext::Explicit);
        if !assignable {
            let actual = types::words(&column.ty);
            return if scalar {
                mismatch(format!("Actual return type is {actual}."))
            } else {
                mismatch(format!(
                    "Final statement returns {actual} instead of {} at column {}.",
                    types::words(wanted),
                    at + 1
                ))
            };
        }
    }
    Ok(())
}
