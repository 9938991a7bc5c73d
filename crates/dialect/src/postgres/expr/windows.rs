//! Windows of window functions: their partitions, orders and frames.

use pg_query::protobuf::{self as pg, Node};

use super::super::binder::Binder;
use super::super::types;
use crate::ir::{self, CastContext, Expr, ExprKind, Frame, FrameBound, FrameExclude, FrameUnit};
use crate::{Condition, Result, Type};

impl Binder<'_> {
    /// The window of a call.
    #[allow(clippy::type_complexity)]
    pub(in super::super) fn window_of_call(
        &mut self,
        over: &pg::WindowDef,
    ) -> Result<(Vec<Expr>, Vec<ir::SortKey>, Option<Frame>)> {
        let inside = self.scope().inside;
        self.scope().windowed = true;
        self.scope().inside = inside.of_call(true);
        let window = self.window(over);
        self.scope().inside = inside;
        window
    }

    /// A window's definition: by name, or in place.
    #[allow(clippy::type_complexity)]
    fn window(&mut self, over: &pg::WindowDef) -> Result<(Vec<Expr>, Vec<ir::SortKey>, Option<Frame>)> {
        let base_name = if over.name.is_empty() { &over.refname } else { &over.name };
        let mut partition_by = Vec::new();
        let mut order_by = Vec::new();
        let mut frame = None;
        if !base_name.is_empty() {
            let Some((_, named)) = self.scope().windows.iter().find(|(name, _)| name == base_name).cloned() else {
                return Err(self.error(
                    Condition::UndefinedObject,
                    format!("window \"{base_name}\" does not exist"),
                    over.location,
                ));
            };
            let mut anonymous = named;
            anonymous.name = String::new();
            (partition_by, order_by, frame) = self.nested(|binder| binder.window(&anonymous))?;
            if !over.name.is_empty() {
                return Ok((partition_by, order_by, frame));
            }
            if !over.partition_clause.is_empty() {
                return Err(self.error(
                    Condition::WindowingError,
                    format!("cannot override PARTITION BY clause of window \"{base_name}\""),
                    over.location,
                ));
            }
            if !over.order_clause.is_empty() && !order_by.is_empty() {
                return Err(self.error(
                    Condition::WindowingError,
                    format!("cannot override ORDER BY clause of window \"{base_name}\""),
                    over.location,
                ));
            }
        }
        for node in &over.partition_clause {
            let (key, at) = self.placed(node)?;
            partition_by.push(self.settle(key, at)?);
        }
        for node in &over.order_clause {
            order_by.push(self.plain_sort_key(node)?);
        }
        if let Some(own) = self.frame(over, &order_by)? {
            frame = Some(own);
        }
        Ok((partition_by, order_by, frame))
    }

    /// A frame, from the bits of `parsenodes.h`.
    fn frame(&mut self, over: &pg::WindowDef, order_by: &[ir::SortKey]) -> Result<Option<Frame>> {
        const NON_DEFAULT: i32 = 0x0_0001;
        const RANGE: i32 = 0x0_0002;
        const GROUPS: i32 = 0x0_0008;
        const START_UNBOUNDED_PRECEDING: i32 = 0x0_0020;
        const END_UNBOUNDED_FOLLOWING: i32 = 0x0_0100;
        const START_CURRENT_ROW: i32 = 0x0_0200;
        const END_CURRENT_ROW: i32 = 0x0_0400;
        const START_OFFSET_PRECEDING: i32 = 0x0_0800;
        const END_OFFSET_PRECEDING: i32 = 0x0_1000;
        const START_OFFSET_FOLLOWING: i32 = 0x0_2000;
        const END_OFFSET_FOLLOWING: i32 = 0x0_4000;
        const EXCLUDE_CURRENT_ROW: i32 = 0x0_8000;
        const EXCLUDE_GROUP: i32 = 0x1_0000;
        const EXCLUDE_TIES: i32 = 0x2_0000;
        let options = over.frame_options;
        if options & NON_DEFAULT == 0 {
            return Ok(None);
        }
        let unit = if options & RANGE != 0 {
            FrameUnit::Range
        } else if options & GROUPS != 0 {
            FrameUnit::Groups
        } else {
            FrameUnit::Rows
        };
        let by_offset = START_OFFSET_PRECEDING | START_OFFSET_FOLLOWING | END_OFFSET_PRECEDING | END_OFFSET_FOLLOWING;
        if unit == FrameUnit::Range && options & by_offset != 0 && order_by.len() != 1 {
            let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
            return Err(self.error(Condition::WindowingError, message, over.location));
        }
        if unit == FrameUnit::Groups && order_by.is_empty() {
            return Err(self.error(
                Condition::WindowingError,
                "GROUPS mode requires an ORDER BY clause",
                over.location,
            ));
        }
        let offset = |binder: &mut Self, node: &Option<Box<Node>>| -> Result<Box<Expr>> {
            let (value, at) = binder.required(node)?;
            let words = match unit {
                FrameUnit::Range => "RANGE",
                FrameUnit::Groups => "GROUPS",
                FrameUnit::Rows => "ROWS",
            };
            // What stands around the query is the same for all of its rows.
            let own: Vec<&ExprKind> = binder.scopes.last().map_or_else(Vec::new, |scope| {
                scope.entries.iter().flat_map(|entry| &entry.columns).map(|column| &column.expr.kind).collect()
            });
            let mut reads = false;
            ir::walk::expr(&value, &mut |part| {
                reads |= matches!(part.kind, ExprKind::Column(_)) && own.contains(&&part.kind);
                !reads && part.kind.query().is_none()
            });
            if reads {
                let message = format!("argument of {words} must not contain variables");
                return Err(binder.error(Condition::InvalidColumnReference, message, at));
            }
            Ok(Box::new(match (unit, order_by) {
                (FrameUnit::Range, [key]) => binder.range_offset(value, &key.expr.ty, at)?,
                _ => match binder.try_coerce(value, &Type::Int8, CastContext::Assignment, at)? {
                    Ok(value) => value,
                    Err(value) => {
                        let given = types::words(&value.ty);
                        let message = format!("argument of {words} must be type bigint, not type {given}");
                        return Err(binder.error(Condition::DatatypeMismatch, message, at));
                    }
                },
            }))
        };
        let start = if options & START_UNBOUNDED_PRECEDING != 0 {
            FrameBound::UnboundedPreceding
        } else if options & START_CURRENT_ROW != 0 {
            FrameBound::CurrentRow
        } else if options & START_OFFSET_PRECEDING != 0 {
            FrameBound::Preceding(offset(self, &over.start_offset)?)
        } else if options & START_OFFSET_FOLLOWING != 0 {
            FrameBound::Following(offset(self, &over.start_offset)?)
        } else {
            FrameBound::UnboundedFollowing
        };
        let end = if options & END_UNBOUNDED_FOLLOWING != 0 {
            FrameBound::UnboundedFollowing
        } else if options & END_CURRENT_ROW != 0 {
            FrameBound::CurrentRow
        } else if options & END_OFFSET_PRECEDING != 0 {
            FrameBound::Preceding(offset(self, &over.end_offset)?)
        } else if options & END_OFFSET_FOLLOWING != 0 {
            FrameBound::Following(offset(self, &over.end_offset)?)
        } else {
            FrameBound::CurrentRow
        };
        let exclude = if options & EXCLUDE_CURRENT_ROW != 0 {
            FrameExclude::CurrentRow
        } else if options & EXCLUDE_GROUP != 0 {
            FrameExclude::Group
        } else if options & EXCLUDE_TIES != 0 {
            FrameExclude::Ties
        } else {
            FrameExclude::NoOthers
        };
        let mut frame = Frame { unit, start, end, exclude, limits: None };
        if options & by_offset != 0 && !frame.has_plain_offsets() {
            // What users' functions and queries say is asked once.
            for bound in [&mut frame.start, &mut frame.end] {
                if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
                    self.asked_once(offset);
                }
            }
        }
        frame.limits = match order_by {
            [key]
                if unit == FrameUnit::Range
                    && options & by_offset != 0
                    && !(key.expr.ty.is_integer() && frame.has_plain_offsets()) =>
            {
                Some(Box::new(self.frame_limits(key, &frame.start, &frame.end)?))
            }
            _ => None,
        };
        Ok(Some(frame))
    }

    /// An offset that is computed as a query of its own.
    fn asked_once(&mut self, offset: &mut Expr) {
        if !ir::is_plain_offset(offset) && !matches!(offset.kind, ExprKind::Literal(_) | ExprKind::Scalar(_)) {
            let ty = offset.ty.clone();
            let columns = vec![ir::OutputColumn { name: "?column?".to_owned(), ty: ty.clone() }];
            let computed = std::mem::replace(offset, Expr::null(ty.clone()));
            let select = ir::Body::Select(Box::new(ir::Select::of(vec![computed], None)));
            let query = ir::Query::of(select, columns, self.ids.relation());
            *offset = Expr::new(ExprKind::Scalar(Box::new(query)), ty);
        }
    }

    /// What is added to a key of a type to find where a RANGE begins or ends.
    fn range_offset(&mut self, offset: Expr, key: &Type, at: i32) -> Result<Expr> {
        let wanted = match key.through_domains() {
            ty if ty.is_integer() => Type::Int8,
            Type::Float4 | Type::Float8 => Type::Float8,
            Type::Numeric(_) => Type::Numeric(None),
            Type::Date | Type::Timestamp(_) | Type::TimestampTz(_) | Type::Interval(_) | Type::Time(_) => {
                Type::Interval(None)
            }
            Type::TimeTz(_) => return Err(self.unsupported("RANGE with an offset over time with time zone", at)),
            ty => {
                // A varchar is sorted as the text that it is.
                let ty = if matches!(ty, Type::Varchar(_)) { &Type::Text } else { ty };
                let message = format!(
                    "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}",
                    types::words(ty)
                );
                return Err(self.error(Condition::FeatureNotSupported, message, at));
            }
        };
        let given = offset.ty.clone();
        self.try_coerce(offset, &wanted, CastContext::Implicit, at)?.map_err(|_| {
            let message = format!(
                "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {} and offset type {}",
                types::words(key),
                types::words(&given)
            );
            let error = self.error(Condition::FeatureNotSupported, message, at);
            error.hint("Cast the offset value to an appropriate type.")
        })
    }

    /// The values between which the keys of a frame's rows lie.
    fn frame_limits(&mut self, sort: &ir::SortKey, start: &FrameBound, end: &FrameBound) -> Result<ir::FrameLimits> {
        let (kind, comparable) = match sort.expr.ty.through_domains() {
            Type::Float4 | Type::Float8 => ("float", Type::Float8),
            ty if ty.is_decimal() || ty.is_integer() => ("numeric", Type::Numeric(None)),
            Type::Date | Type::Timestamp(_) => ("interval", Type::Timestamp(None)),
            Type::TimestampTz(_) => ("interval", Type::TimestampTz(None)),
            Type::Time(_) => ("time", Type::Interval(None)),
            _ => ("interval", Type::Interval(None)),
        };
        let key = sort.expr.clone().cast(comparable, CastContext::Implicit);
        let mut limit = |bound: &FrameBound, ending: bool| {
            let (offset, before) = match bound {
                FrameBound::Preceding(offset) => ((**offset).clone(), true),
                FrameBound::Following(offset) => ((**offset).clone(), false),
                _ => return Ok(None),
            };
            let offset = match kind {
                "numeric" => offset.cast(Type::Numeric(None), CastContext::Implicit),
                _ => offset,
            };
            let ty = offset.ty.clone();
            let function = crate::functions::internal("frame offset");
            let args = vec![offset, Expr::text(kind), Expr::bool(ending)];
            let offset = Expr::new(ExprKind::Call { function, args }, ty);
            let sign = if before == sort.descending { "+" } else { "-" };
            let operands = vec![(key.clone(), -1), (offset, -1)];
            // MySQL's own operators would add numbers.
            match self.is_mysql() {
                true => self.built_in_operator(sign, operands, -1).map(Some),
                false => self.operator(sign, operands, -1).map(Some),
            }
        };
        let (start, end) = (limit(start, false)?, limit(end, true)?);
        Ok(ir::FrameLimits { key, start, end })
    }
}
