//! Functions that make rows of JSON objects, whose type an argument or a column definition list tells.

use std::sync::Arc;

use pg_query::protobuf as pg;

use super::function::FunctionSource;
use crate::composite::{Composite, Field, live};
use crate::ir::{CastContext, Expr, ExprKind, From, OutputColumn};
use crate::postgres::binder::Binder;
use crate::postgres::expr::rows::field_at;
use crate::postgres::{coerce, types};
use crate::user_type::{self, UserKind, UserType};
use crate::{Condition, Result, Type, functions};

/// True for the names of these functions.
pub(in crate::postgres) fn makes_records(name: &str) -> bool {
    matches!(
        name.strip_prefix("json").map(|rest| rest.strip_prefix('b').unwrap_or(rest)),
        Some("_populate_record" | "_populate_recordset" | "_to_record" | "_to_recordset")
    )
}

/// Refuses a row of other columns than those that the call defines.
fn check_row(given: Option<&[Field]>, defined: &[OutputColumn]) -> Result<()> {
    let Some(given) = given else { return Ok(()) };
    let refused = |detail: String| {
        let message = "function return row and query-specified return row do not match";
        Err(crate::Error::new(Condition::DatatypeMismatch, message).detail(detail))
    };
    if given.len() != defined.len() {
        let attributes = if given.len() == 1 { "attribute" } else { "attributes" };
        let (given, defined) = (given.len(), defined.len());
        return refused(format!("Returned row contains {given} {attributes}, but query expects {defined}."));
    }
    for (at, (given, defined)) in given.iter().zip(defined).enumerate() {
        if !given.ty.same_base(&defined.ty) {
            let (given, defined) = (types::words(&given.ty), types::words(&defined.ty));
            let place = at + 1;
            return refused(format!("Returned type {given} at ordinal position {place}, but query expects {defined}."));
        }
    }
    Ok(())
}

/// The type of a row of these columns while its fields are taken out of it.
fn type_of_columns(columns: &[OutputColumn]) -> Type {
    let fields = columns.iter().map(|column| Field::new(column.name.clone(), column.ty.clone())).collect();
    Type::User(Arc::new(UserType {
        oid: crate::postgres::types::oid(&Type::RECORD),
        array_oid: 0,
        namespace: "pg_catalog".to_owned(),
        name: "record".to_owned(),
        comment: None,
        kind: UserKind::Composite(Composite { relation: 0, fields }),
    }))
}

impl Binder<'_> {
    /// The arguments of a call that makes rows of a type: the JSON, the row beneath, the type and the call told in
    /// words, and what the domains in the type ask.
    pub(in crate::postgres) fn json_record_arguments(
        &mut self,
        name: &str,
        mut args: Vec<Expr>,
        ty: &Type,
    ) -> Result<Vec<Expr>> {
        let (json, base) = if name.contains("populate") {
            let base = args.swap_remove(0);
            let json = args.pop().filter(|arg| arg.ty != Type::Bool).or_else(|| args.pop());
            (json.unwrap_or_else(|| Expr::null(Type::Json)), base.cast(ty.clone(), CastContext::Explicit))
        } else {
            (args.swap_remove(0), Expr::null(Type::Text))
        };
        let words = user_type::told(ty).unwrap_or_default();
        let rules = match self.rules(ty)? {
            Some(rules) => Expr::new(ExprKind::Rules(Arc::new(rules)), Type::Text),
            None => Expr::null(Type::Text),
        };
        Ok(vec![json, base, Expr::text(words), Expr::text(name), rules])
    }

    pub(super) fn json_records_in_from(
        &mut self,
        name: &str,
        call: &pg::FuncCall,
        defined: Option<Vec<OutputColumn>>,
        ordinality: bool,
        place: i32,
    ) -> Result<FunctionSource> {
        let args = self.call_arguments(name, &call.args, place)?;
        let inputs: Vec<Type> = args.iter().map(|(arg, _)| coerce::base(&arg.ty)).collect();
        let candidate = match self.find_function(name, &inputs, |_| true) {
            Ok(candidate) => candidate,
            Err(miss) => return Err(self.no_function(name, &inputs, place, miss)),
        };
        let result = match args.first() {
            Some((base, _)) if name.contains("populate") && base.ty.is_row() => base.ty.clone(),
            _ if name.contains("populate") => {
                let message = format!("first argument of {name} must be a row type");
                return Err(self.error(Condition::DatatypeMismatch, message, -1));
            }
            _ => candidate.result.clone(),
        };
        let args = self.arguments(&candidate, args)?;
        let ty = match (defined, result) {
            (Some(columns), Type::Record(_)) => {
                check_row(args.first().and_then(|row| row.ty.row_fields()), &columns)?;
                type_of_columns(&columns)
            }
            (Some(_), _) => {
                let message = "a column definition list is redundant for a function returning a named composite type";
                return Err(self.error(Condition::SyntaxError, message, place));
            }
            (None, Type::Record(_)) => {
                let message = "a column definition list is required for functions returning \"record\"";
                return Err(self.error(Condition::SyntaxError, message, place));
            }
            (None, ty) => ty,
        };
        let id = self.ids.relation();
        let args = self.json_record_arguments(name, args, &ty)?;
        let mut produced = vec![OutputColumn { name: name.to_owned(), ty: ty.clone() }];
        if ordinality {
            produced.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
        }
        let function = functions::internal("json records");
        let from = From::Function { id, function, args, columns: produced, ordinality };
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for (at, field) in live(ty.row_fields().unwrap_or_default()) {
            columns.push(OutputColumn { name: field.name.clone(), ty: field.ty.clone() });
            values.push(field_at(Expr::column(id, 0, ty.clone()), at, field.ty.clone()));
        }
        if ordinality {
            columns.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
            values.push(Expr::column(id, 1, Type::Int8));
        }
        let row = Some(ty.clone()).filter(|ty| matches!(ty, Type::User(user) if user.namespace != "pg_catalog"));
        Ok(FunctionSource { from, name: name.to_owned(), columns, values, row })
    }
}
