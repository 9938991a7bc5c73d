//! Rows as values: ROW(…), fields, whole rows of relations, conversions to types with names.

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::super::binder::{Binder, EntryColumn, computed};
use super::super::{names, types};
use crate::composite::{Field, Shape, live};
use crate::functions;
use crate::ir::{CastContext, Expr, ExprKind, Value};
use crate::uses::NamedField;
use crate::{Condition, Error, Result, Type};

/// A row without a name, of these fields.
pub(in super::super) fn record(names: impl IntoIterator<Item = String>, members: Vec<Expr>) -> Expr {
    let fields = names.into_iter().zip(&members).map(|(name, member)| Field::new(name, member.ty.clone()));
    let ty = Type::Record(Shape::of(fields.collect()));
    Expr::new(ExprKind::Row(members), ty)
}

/// A row whose fields have no names of their own: `f1`, `f2`, ….
pub(in super::super) fn nameless(members: Vec<Expr>) -> Expr {
    record((1..=members.len()).map(|at| format!("f{at}")), members)
}

/// The field at a place of a row's value.
pub(in super::super) fn field_at(value: Expr, at: usize, ty: Type) -> Expr {
    match value.kind {
        ExprKind::Row(mut members) if at < members.len() => members.swap_remove(at),
        kind => {
            let value = Expr::new(kind, value.ty);
            let args = vec![value, Expr::integer(at as i64, Type::Int4)];
            Expr::new(ExprKind::Call { function: functions::internal("field"), args }, ty)
        }
    }
}

/// The row and the place of an expression that is a field of a row's value.
pub(in super::super) fn field_of(expr: &Expr) -> Option<(&Expr, usize)> {
    match &expr.kind {
        ExprKind::Call { function, args } if function.is(functions::internal("field")) => match args.as_slice() {
            [row, Expr { kind: ExprKind::Literal(Value::Integer(at)), .. }] => Some((row, usize::try_from(*at).ok()?)),
            _ => None,
        },
        _ => None,
    }
}

/// The row with another value of the field at a place.
fn with_field(row: Expr, at: usize, value: Expr) -> Expr {
    let ty = row.ty.clone();
    if let ExprKind::Row(mut members) = row.kind {
        members[at] = value;
        return Expr::new(ExprKind::Row(members), ty);
    }
    let count = ty.row_fields().map_or(0, <[Field]>::len);
    let args = vec![row, Expr::integer(count as i64, Type::Int4), Expr::integer(at as i64, Type::Int4), value];
    Expr::new(ExprKind::Call { function: functions::internal("row with field"), args }, ty)
}

impl Binder<'_> {
    /// `(value).name`: a field, or a function of the row.
    pub(in super::super) fn field(&mut self, value: Expr, name: &str, at: i32) -> Result<Expr> {
        match self.known_field(&value, name) {
            Some((place, ty)) => {
                let value = self.settle(value, at)?;
                self.note_field(&value.ty, name, at);
                Ok(field_at(value, place, ty))
            }
            None => match self.function_of_row(&value, name, at)? {
                Some(found) => Ok(found),
                None => Err(self.no_field(&value.ty, name, at)),
            },
        }
    }

    /// Notes that a field is named of a value of a type.
    pub(in super::super) fn note_field(&mut self, ty: &Type, name: &str, at: i32) {
        if let (Some(ty), Ok(place)) = (ty.through_domains().user_type_oid(), usize::try_from(at)) {
            let named = NamedField { place, ty, name: name.to_owned() };
            self.note(|uses| uses.fields.push(named));
        }
    }

    /// The place and type of a row's field.
    pub(in super::super) fn known_field(&self, value: &Expr, name: &str) -> Option<(usize, Type)> {
        let found = live(value.ty.row_fields()?).find(|(_, field)| field.name == name);
        found.map(|(place, field)| (place, field.ty.clone()))
    }

    /// `row.name` where the row has no such field: a function of that name that takes the row.
    pub(in super::super) fn function_of_row(&mut self, row: &Expr, name: &str, at: i32) -> Result<Option<Expr>> {
        if !row.ty.is_row() {
            return Ok(None);
        }
        let name = [Node { node: Some(N::String(pg::String { sval: name.to_owned() })) }];
        let users = self.user_functions(&name, at)?;
        self.call_of_row(&users, row, at)
    }

    fn no_field(&self, ty: &Type, name: &str, at: i32) -> Error {
        let (condition, message) = match ty.through_domains() {
            Type::Record(_) => {
                (Condition::UndefinedColumn, format!("could not identify column \"{name}\" in record data type"))
            }
            ty if ty.is_row() => {
                (Condition::UndefinedColumn, format!("column \"{name}\" not found in data type {}", types::words(ty)))
            }
            _ => {
                let words = if *ty == Type::Unknown { "unknown".to_owned() } else { types::words(ty) };
                (
                    Condition::WrongObjectType,
                    format!("column notation .{name} applied to type {words}, which is not a composite type"),
                )
            }
        };
        self.error(condition, message, at)
    }

    /// `(value).*`: the fields with their names.
    pub(in super::super) fn fields_of(&mut self, value: Expr, at: i32) -> Result<Vec<EntryColumn>> {
        let value = self.settle(value, at)?;
        let Some(fields) = value.ty.row_fields() else {
            return Err(if value.ty.is_row() {
                self.error(Condition::WrongObjectType, "record type has not been registered", at)
            } else {
                let words = types::words(&value.ty);
                let message = format!("type {words} is not composite");
                self.error(Condition::WrongObjectType, message, at)
            });
        };
        let column = |(place, field): (usize, &Field)| {
            let result = computed(field.name.clone(), field.ty.clone());
            EntryColumn {
                expr: field_at(value.clone(), place, field.ty.clone()),
                name: result.name,
                origin: None,
                not_null: false,
                identity: false,
            }
        };
        Ok(live(fields).map(column).collect())
    }

    /// The value before `.*` at the end of an indirection; `None` where there is no such end.
    pub(in super::super) fn spread_value(&mut self, node: &Node) -> Result<Option<(Expr, i32)>> {
        let Some(N::AIndirection(indirection)) = &node.node else { return Ok(None) };
        let Some((Node { node: Some(N::AStar(_)) }, before)) = indirection.indirection.split_last() else {
            return Ok(None);
        };
        let at = super::location(node);
        if before.is_empty() {
            return self.required(&indirection.arg).map(Some);
        }
        let inner = pg::AIndirection { arg: indirection.arg.clone(), indirection: before.to_vec() };
        let value = self.expr(&Node { node: Some(N::AIndirection(Box::new(inner))) })?;
        Ok(Some((value, at)))
    }

    /// The members of a row, as fields of a type with a name.
    pub(in super::super) fn row_as(
        &mut self,
        members: Vec<Expr>,
        to: &Type,
        context: CastContext,
        at: i32,
    ) -> Result<Expr> {
        let fields: Vec<Field> = to.row_fields().unwrap_or_default().to_vec();
        let refused = |binder: &Self, detail: String| {
            let message = format!("cannot cast type record to {}", types::words(to));
            binder.error(Condition::CannotCoerce, message, at).detail(detail)
        };
        let wanted = live(&fields).count();
        if members.len() != wanted {
            let which = if members.len() < wanted { "few" } else { "many" };
            return Err(refused(self, format!("Input has too {which} columns.")));
        }
        let mut members = members.into_iter();
        let mut made = Vec::with_capacity(fields.len());
        for (number, field) in fields.iter().enumerate() {
            if field.dropped {
                made.push(Expr::null(Type::Text));
                continue;
            }
            let Some(member) = members.next() else { break };
            let from = types::words(&member.ty);
            made.push(self.try_coerce(member, &field.ty, context, at)?.map_err(|_| {
                let column = number + 1;
                refused(self, format!("Cannot cast type {from} to {} in column {column}.", types::words(&field.ty)))
            })?);
        }
        Ok(Expr::new(ExprKind::Row(made), to.clone()))
    }

    /// The row with a part of it assigned: `whole.field… = value`.
    pub(in super::super) fn field_assigned(
        &mut self,
        whole: Expr,
        column: &str,
        parts: &[Node],
        value: Expr,
        at: (i32, i32),
    ) -> Result<Expr> {
        let (place, value_at) = at;
        let name = parts.first().and_then(names::string).unwrap_or_default();
        let Some(found) = self.known_field(&whole, name) else {
            let words = types::words(&whole.ty);
            let message = if whole.ty.is_row() {
                format!(
                    "cannot assign to field \"{name}\" of column \"{column}\" because there is no such column in data type {words}"
                )
            } else {
                format!(
                    "cannot assign to field \"{name}\" of column \"{column}\" because its type {words} is not a composite type"
                )
            };
            let condition = if whole.ty.is_row() { Condition::UndefinedColumn } else { Condition::DatatypeMismatch };
            return Err(self.error(condition, message, place));
        };
        let (index, ty) = found;
        let value = if parts.len() > 1 {
            let inner = field_at(whole.clone(), index, ty);
            self.part_assigned(inner, name, &parts[1..], value, at)?
        } else {
            let from = types::words(&value.ty);
            self.try_coerce(value, &ty, CastContext::Assignment, value_at)?.map_err(|_| {
                let wanted = types::words(&ty);
                let message = format!("subfield \"{name}\" is of type {wanted} but expression is of type {from}");
                self.error(Condition::DatatypeMismatch, message, value_at)
                    .hint("You will need to rewrite or cast the expression.")
            })?
        };
        Ok(with_field(whole, index, value))
    }

    /// A row whose members are decided.
    pub(in super::super) fn settled_row(&mut self, members: Vec<Expr>, ty: Type, at: i32) -> Result<Expr> {
        let settle = |member| if self.leaves_open(&member, at) { Ok(member) } else { self.settle(member, at) };
        let settled = members.into_iter().map(settle).collect::<Result<Vec<_>>>()?;
        let Type::Record(shape) = &ty else { return Ok(Expr::new(ExprKind::Row(settled), ty)) };
        let names: Vec<String> = shape.fields().unwrap_or_default().iter().map(|field| field.name.clone()).collect();
        Ok(record(names, settled))
    }
}
