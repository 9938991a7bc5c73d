//! Subscripts: `array[i]`, `array[l:u]`, `jsonb['key']`, read and assigned to.

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::super::binder::Binder;
use super::super::coerce::unvectored;
use super::super::types;
use crate::functions::{Subscripts, geometry};
use crate::ir::{CastContext, Expr, ExprKind};
use crate::scalar::hstore::HSTORE;
use crate::values::array::{MAX_DIMENSIONS, too_deep};
use crate::{Condition, Result, Type};

/// The subscripts at the beginning of an indirection.
fn leading(parts: &[Node]) -> Vec<&pg::AIndices> {
    let subscript = |node: &'_ Node| matches!(node.node, Some(N::AIndices(_)));
    let leading = parts.iter().take_while(|node| subscript(node));
    leading
        .filter_map(|node| match &node.node {
            Some(N::AIndices(indices)) => Some(&**indices),
            _ => None,
        })
        .collect()
}

fn called(construct: Subscripts, args: Vec<Expr>, ty: Type) -> Expr {
    Expr::new(ExprKind::Call { function: construct.function(), args }, ty)
}

impl Binder<'_> {
    /// `value[…].field…`
    pub(super) fn indirection(&mut self, indirection: &pg::AIndirection) -> Result<Expr> {
        let (mut value, at) = self.required(&indirection.arg)?;
        let mut parts = indirection.indirection.as_slice();
        while let Some(part) = parts.first() {
            let subscripts = leading(parts);
            value = match &part.node {
                Some(N::AIndices(_)) => self.subscripted(value, &subscripts, at)?,
                Some(N::String(name)) => {
                    value = self.field(value, &name.sval, at)?;
                    parts = &parts[1..];
                    continue;
                }
                _ => return Err(self.unsupported("this indirection", at)),
            };
            parts = &parts[subscripts.len()..];
        }
        Ok(value)
    }

    fn subscripted(&mut self, value: Expr, subscripts: &[&pg::AIndices], at: i32) -> Result<Expr> {
        let value = unvectored(below_domain(value));
        match value.ty.clone() {
            Type::Jsonb => {
                let mut args = vec![value];
                args.extend(self.jsonb_subscripts(subscripts)?);
                Ok(called(Subscripts::Jsonb, args, Type::Jsonb))
            }
            Type::Array(element) => {
                // Those of catalog vectors begin at 0.
                let shift = i64::from(self.is_vector(&value));
                let ty = value.ty.clone();
                let mut args = vec![value];
                args.extend(self.array_subscripts(subscripts, shift)?);
                Ok(match subscripts.iter().any(|one| one.is_slice) {
                    true => called(Subscripts::Slice, args, ty),
                    false => called(Subscripts::Element, args, *element),
                })
            }
            Type::Scalar(shape, _) if let Some((read, _, part)) = geometry::parts(shape) => {
                let mut args = vec![value];
                match self.shape_subscripts(subscripts)? {
                    Some(subscript) => args.push(subscript),
                    // A shape has one dimension.
                    None => return Ok(Expr::null(part.clone())),
                }
                Ok(Expr::new(ExprKind::Call { function: read, args }, part.clone()))
            }
            Type::Scalar(scalar, _) if *scalar == HSTORE => {
                let key = self.hstore_subscript(subscripts)?;
                Ok(called(Subscripts::Hstore, vec![value, key], Type::Text))
            }
            // The bytes of a name are an array of fixed length, counted from 0.
            Type::Name => Ok(match self.shape_subscripts(subscripts)? {
                Some(subscript) => called(Subscripts::Name, vec![value, subscript], Type::InternalChar),
                None => Expr::null(Type::InternalChar),
            }),
            ty => Err(self.not_subscriptable(&ty, at)),
        }
    }

    /// The subscript of a part of a shape; `None` when there are several.
    fn shape_subscripts(&mut self, subscripts: &[&pg::AIndices]) -> Result<Option<Expr>> {
        if subscripts.iter().any(|one| one.is_slice) {
            let message = "slices of fixed-length arrays not implemented";
            return Err(self.error(Condition::FeatureNotSupported, message, -1));
        }
        let mut args = self.array_subscripts(subscripts, 0)?;
        Ok(if args.len() == 1 { args.pop() } else { None })
    }

    fn hstore_subscript(&mut self, subscripts: &[&pg::AIndices]) -> Result<Expr> {
        let (Some(node), true) =
            (subscripts.first().and_then(|one| one.uidx.as_deref()), subscripts.len() == 1 && !subscripts[0].is_slice)
        else {
            return Err(self.error(Condition::FeatureNotSupported, "hstore allows only one subscript", -1));
        };
        let (key, at) = self.placed(node)?;
        self.try_coerce(key, &Type::Text, CastContext::Assignment, at)?
            .map_err(|_| self.error(Condition::DatatypeMismatch, "hstore subscript must have type text", at))
    }

    fn not_subscriptable(&self, ty: &Type, at: i32) -> crate::Error {
        let words = types::words(ty);
        self.error(
            Condition::DatatypeMismatch,
            format!("cannot subscript type {words} because it does not support subscripting"),
            at,
        )
    }

    /// The arguments that stand for subscripts of an array: one each; for slices a word and then pairs of bounds.
    fn array_subscripts(&mut self, subscripts: &[&pg::AIndices], shift: i64) -> Result<Vec<Expr>> {
        if subscripts.len() > MAX_DIMENSIONS {
            return Err(too_deep(subscripts.len()));
        }
        let sliced = subscripts.iter().any(|one| one.is_slice);
        let mut args = Vec::with_capacity(subscripts.len() * 2);
        let mut word = String::new();
        for one in subscripts {
            let lower = self.array_subscript(one.lidx.as_deref(), shift)?;
            let upper = self.array_subscript(one.uidx.as_deref(), shift)?;
            if !sliced {
                args.extend(upper);
                continue;
            }
            // Beside slices a single number is the upper bound of one that begins at 1.
            let lower = if one.is_slice { lower } else { Some(Expr::integer(1, Type::Int4)) };
            word.push(match (&lower, &upper) {
                (Some(_), Some(_)) => 'b',
                (Some(_), None) => 'l',
                (None, Some(_)) => 'u',
                (None, None) => 'n',
            });
            let bound = |bound: Option<Expr>| bound.unwrap_or_else(|| Expr::null(Type::Int4));
            args.extend([bound(lower), bound(upper)]);
        }
        if sliced {
            args.insert(0, Expr::text(&word));
        }
        Ok(args)
    }

    fn array_subscript(&mut self, node: Option<&Node>, shift: i64) -> Result<Option<Expr>> {
        let Some(node) = node else { return Ok(None) };
        let (index, at) = self.placed(node)?;
        let index = self
            .try_coerce(index, &Type::Int4, CastContext::Assignment, at)?
            .map_err(|_| self.error(Condition::DatatypeMismatch, "array subscript must have type integer", at))?;
        if shift == 0 {
            return Ok(Some(index));
        }
        self.operator("+", vec![(index, -1), (Expr::integer(shift, Type::Int4), -1)], -1).map(Some)
    }

    fn jsonb_subscripts(&mut self, subscripts: &[&pg::AIndices]) -> Result<Vec<Expr>> {
        let mut steps = Vec::with_capacity(subscripts.len());
        for one in subscripts {
            let Some(node) = one.uidx.as_deref().or(one.lidx.as_deref()) else {
                return Err(self.error(Condition::DatatypeMismatch, "jsonb subscript does not support slices", -1));
            };
            let (step, at) = self.placed(node)?;
            if one.is_slice {
                return Err(self.error(Condition::DatatypeMismatch, "jsonb subscript does not support slices", at));
            }
            let wanted = match &step.ty {
                Type::Unknown => Type::Text,
                ty => match (self.becomes(ty, &Type::Int4), self.becomes(ty, &Type::Text)) {
                    (true, false) => Type::Int4,
                    (false, true) => Type::Text,
                    (both, _) => {
                        let only = if both { "only one type, integer or text" } else { "either integer or text" };
                        return Err(self
                            .error(
                                Condition::DatatypeMismatch,
                                format!("subscript type {} is not supported", types::words(ty)),
                                at,
                            )
                            .hint(format!("jsonb subscript must be coercible to {only}.")));
                    }
                },
            };
            steps.push(self.coerce(step, &wanted, CastContext::Implicit, at)?);
        }
        Ok(steps)
    }

    /// The whole that a column holds after a part of it has been assigned; `whole` is what it held before.
    pub(in super::super) fn part_assigned(
        &mut self,
        whole: Expr,
        column: &str,
        parts: &[Node],
        value: Expr,
        at: (i32, i32),
    ) -> Result<Expr> {
        if whole.ty.is_domain() {
            let domain = whole.ty.clone();
            let whole = self.part_assigned(below_domain(whole), column, parts, value, at)?;
            return self.checked(whole, &domain, CastContext::Assignment);
        }
        let subscripts = leading(parts);
        if subscripts.is_empty() {
            return self.field_assigned(whole, column, parts, value, at);
        }
        if subscripts.len() < parts.len() {
            if subscripts.iter().any(|one| one.is_slice) {
                return Err(self.unsupported("assigning to a field of a slice", at.0));
            }
            // A field of a member: the member with the field assigned is assigned.
            let member = self.subscripted(whole.clone(), &subscripts, at.0)?;
            let value = self.part_assigned(member, column, &parts[subscripts.len()..], value, at)?;
            return self.part_assigned(whole, column, &parts[..subscripts.len()], value, at);
        }
        let ty = whole.ty.clone();
        let sliced = subscripts.iter().any(|one| one.is_slice);
        let (construct, wanted, args) = match &ty {
            Type::Jsonb => (Subscripts::SetJsonb, Type::Jsonb, self.jsonb_subscripts(&subscripts)?),
            Type::Array(element) => {
                let args = self.array_subscripts(&subscripts, 0)?;
                if sliced {
                    (Subscripts::SetSlice, ty.clone(), args)
                } else {
                    (Subscripts::SetElement, (**element).clone(), args)
                }
            }
            Type::Scalar(shape, _) if let Some((_, write, part)) = geometry::parts(shape) => {
                let Some(subscript) = self.shape_subscripts(&subscripts)? else {
                    return Err(self.error(Condition::ArraySubscriptError, "wrong number of array subscripts", -1));
                };
                let value = self.part_value(value, part, column, at)?;
                let args = vec![whole, value, subscript];
                return Ok(Expr::new(ExprKind::Call { function: write, args }, ty));
            }
            Type::Scalar(scalar, _) if **scalar == HSTORE => {
                (Subscripts::SetHstore, Type::Text, vec![self.hstore_subscript(&subscripts)?])
            }
            Type::Name => return Err(self.unsupported("assigning to a part of a name", at.0)),
            ty => return Err(self.not_subscriptable(ty, -1)),
        };
        let value = self.part_value(value, &wanted, column, at)?;
        let mut all = vec![whole, value];
        all.extend(args);
        Ok(called(construct, all, ty))
    }

    /// The value that becomes a part of a column.
    fn part_value(&mut self, value: Expr, wanted: &Type, column: &str, (place, value_at): (i32, i32)) -> Result<Expr> {
        let from = types::words(&value.ty);
        self.try_coerce(value, wanted, CastContext::Assignment, value_at)?.map_err(|_| {
            let wanted = types::words(wanted);
            self.error(
                Condition::DatatypeMismatch,
                format!(
                    "subscripted assignment to \"{column}\" requires type {wanted} but expression is of type {from}"
                ),
                place,
            )
            .hint("You will need to rewrite or cast the expression.")
        })
    }
}

/// A value of a domain as one of the type below. Of one whose parts are still being assigned nothing is asked yet.
fn below_domain(value: Expr) -> Expr {
    if !value.ty.is_domain() {
        return value;
    }
    match value.kind {
        ExprKind::Checked { arg, context: CastContext::Assignment, .. } => *arg,
        kind => {
            let below = value.ty.through_domains().clone();
            Expr::new(kind, value.ty).cast(below, CastContext::Implicit)
        }
    }
}
