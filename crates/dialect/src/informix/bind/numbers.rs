//! Arithmetic on numbers and aggregates, with the types that Informix gives their results.
//!
//! Two fixed decimals give a fixed decimal, whose precision and scale follow from theirs; whatever has a floating operand,
//! and every quotient, is a floating DECIMAL(32). Sources: *Arithmetic operations* in the Guide to SQL: Reference,
//! *Obtain the DECIMAL data type of the arithmetic result* in the ESQL/C manual.

use super::Binder;
use super::casts::plain;
use super::coerce::{call, words};
use super::expr::Retyped;
use crate::functions::{Function, FunctionKind, named};
use crate::informix::ast::{Call, Node, NodeKind, Over};
use crate::informix::values::arithmetic;
use crate::ir::{self, Aggregate, CastContext, Expr, ExprKind, Frame, FrameBound, SortKey, WindowCall};
use crate::types::{Field, IntervalQualifier, NumericModifier};
use crate::{Condition, Language, Result, Type};

/// The type of quotients, and of whatever has no fixed scale.
pub(super) const FLOATING: Type = Type::FloatingDecimal(32);
/// Digits of a decimal, at most.
const MAX_PRECISION: u16 = 32;

/// Makes an aggregate of this name over these arguments.
type MakeAggregate<'m, B> = &'m dyn Fn(&mut B, &str, Vec<Expr>) -> Result<Expr>;

/// A number's digits, as a fixed decimal has them; `None` for a floating one.
fn fixed(ty: &Type) -> Option<NumericModifier> {
    let (precision, scale) = match ty {
        Type::Int2 => (5, 0),
        Type::Int4 => (10, 0),
        Type::Int8 | Type::IfxInt8 | Type::Oid => (19, 0),
        Type::Numeric(Some(modifier)) | Type::Money(modifier) => return Some(*modifier),
        _ => return None,
    };
    Some(NumericModifier { precision, scale })
}

/// The type of `left op right` on numbers.
pub(super) fn result_type(op: &str, left: &Type, right: &Type) -> Type {
    let either = |test: fn(&Type) -> bool| test(left) || test(right);
    let decimal = |ty: &Type| ty.is_decimal() || ty.is_text();
    let float = |ty: &Type| matches!(ty, Type::Float4 | Type::Float8);
    if float(left) && !decimal(right) || float(right) && !decimal(left) {
        return Type::Float8;
    }
    if op == "/" {
        return FLOATING;
    }
    if !either(Type::is_decimal) && !either(Type::is_text) {
        let long = either(|ty| matches!(ty, Type::Int8 | Type::IfxInt8 | Type::Oid));
        return if long { Type::Int8 } else { Type::Int4 };
    }
    let (Some(a), Some(b)) = (fixed(left), fixed(right)) else { return FLOATING };
    let whole = |modifier: NumericModifier| modifier.precision as i16 - modifier.scale;
    let (precision, scale) = match op {
        "*" => (a.precision + b.precision, a.scale + b.scale),
        "mod" => (a.precision.max(b.precision), a.scale.max(b.scale)),
        _ => {
            let scale = a.scale.max(b.scale);
            ((whole(a).max(whole(b)) + scale + 1) as u16, scale)
        }
    };
    let precision = precision.min(MAX_PRECISION);
    if scale > precision as i16 {
        return FLOATING;
    }
    let modifier = NumericModifier { precision, scale };
    if either(|ty| matches!(ty, Type::Money(_))) { Type::Money(modifier) } else { Type::Numeric(Some(modifier)) }
}

/// A decimal of any digits as a floating one: 32 of them, none of them a zero at the end.
pub(super) fn floating(expr: Expr) -> Expr {
    call("ifx_floating", vec![expr], FLOATING)
}

/// A value among those of a DISTINCT type is of it, too.
fn keeps(node: &Call, expr: Expr, own: Option<Type>) -> Expr {
    let among =
        matches!(node.name.as_str(), "min" | "max" | "lag" | "lead" | "first_value" | "last_value" | "nth_value");
    match own {
        Some(ty) if among => expr.retyped(ty),
        _ => expr,
    }
}

/// A window as bound.
#[derive(Clone)]
struct Window {
    partition_by: Vec<Expr>,
    order_by: Vec<SortKey>,
    frame: Option<Frame>,
}

impl Binder<'_> {
    /// `left op right` on operands that are no dates, datetimes or intervals.
    pub(super) fn number_arithmetic(&mut self, op: &'static str, left: Expr, right: Expr, at: usize) -> Result<Expr> {
        for side in [&left.ty, &right.ty] {
            if !(side.is_number() || side.is_text() || matches!(side, Type::Unknown | Type::Oid)) {
                return Err(self.error(
                    Condition::InconvertibleTypes,
                    format!("{} is no number", crate::informix::type_words(side)),
                    at,
                ));
            }
        }
        // What has no type yet takes that of the other side: a string is a number of any digits.
        let decided = |side: &Expr, other: &Expr| match (&side.kind, &side.ty) {
            (ExprKind::Param(_), Type::Unknown) if other.ty != Type::Unknown && !other.ty.is_text() => other.ty.clone(),
            (_, Type::Unknown) => FLOATING,
            (_, ty) => ty.clone(),
        };
        let (left_type, right_type) = (decided(&left, &right), decided(&right, &left));
        let ty = result_type(op, &left_type, &right_type);
        let operand = match &ty {
            other if other.is_decimal() => Type::Numeric(None),
            other => other.clone(),
        };
        let operand_of = |expr: &Expr, decided: &Type| match expr.kind {
            // A parameter must not lose digits to the other side's type.
            ExprKind::Param(_) if decided.is_decimal() => FLOATING,
            _ => decided.clone(),
        };
        let (left_type, right_type) = (operand_of(&left, &left_type), operand_of(&right, &right_type));
        let left = if left.ty == Type::Unknown { self.coerce(left, &left_type, at)? } else { left };
        let right = if right.ty == Type::Unknown { self.coerce(right, &right_type, at)? } else { right };
        let left = self.coerce(left, &operand, at)?;
        let right = self.coerce(right, &operand, at)?;
        let name = match op {
            "/" if operand == Type::Numeric(None) => "ifx_divide",
            "mod" => "%",
            other => other,
        };
        let value = self.resolved(name, vec![left, right], at)?;
        Ok(match &ty {
            Type::FloatingDecimal(_) if op != "/" => floating(value),
            Type::Numeric(_) | Type::Money(_) | Type::FloatingDecimal(_) => value.retyped(ty),
            _ => value,
        })
    }

    /// An aggregate or window function; `None` when the name is no such.
    pub(super) fn aggregate(&mut self, node: &Call, at: usize) -> Result<Option<Expr>> {
        let other = match node.name.as_str() {
            "denserank" => "dense_rank",
            "rownumber" => "row_number",
            "ratiotoreport" => "ratio_to_report",
            _ => "",
        };
        if !other.is_empty() {
            return self.aggregate(&Call { name: other.to_owned(), ..node.clone() }, at);
        }
        let known = matches!(node.name.as_str(), "range" | "stdev")
            || named(Language::Informix, &node.name)
                .any(|row| matches!(row.kind, FunctionKind::Aggregate | FunctionKind::Window));
        if !known {
            return Ok(None);
        }
        let window = match &node.over {
            Some(over) => {
                self.fits(node, over, at)?;
                Some(self.inside_call(true, |binder| binder.window(over))?)
            }
            None => None,
        };
        self.check_stands(window.is_some(), at)?;
        let args: Vec<Expr> = self.inside_call(window.is_some(), |binder| {
            node.args.iter().map(|arg| binder.expr(arg)).collect::<Result<_>>()
        })?;
        let own = args.first().map(|arg| arg.ty.clone()).filter(|ty| ty.distinct().is_some());
        let args: Vec<Expr> = args.into_iter().map(plain).collect();
        let make = |binder: &mut Self, name: &str, args: Vec<Expr>| -> Result<Expr> {
            let (function, args) = binder.resolve(name, args, at)?;
            binder.grouped_call(function, args, node.distinct, window.clone(), at)
        };
        let arg_type = args.first().map(|arg| arg.ty.clone());
        let adds = matches!(node.name.as_str(), "sum" | "avg" | "stdev" | "variance");
        if adds && arg_type.as_ref().is_some_and(|ty| ty.is_text() || *ty == Type::Bool) {
            return Err(self.error(
                Condition::SumOfCharacters,
                "sums and averages cannot be computed for character columns",
                at,
            ));
        }
        if let (Some(Type::QualifiedInterval(qualifier)), [arg]) = (&arg_type, &args[..])
            && matches!(node.name.as_str(), "min" | "max" | "sum" | "avg" | "range")
        {
            let found = self.interval_aggregate(&node.name, arg.clone(), *qualifier, &make)?;
            return Ok(Some(keeps(node, found, own)));
        }
        let expr = match (node.name.as_str(), &args[..]) {
            // Informix counts in DECIMAL(15,0).
            ("count", _) => {
                let ty = Type::Numeric(Some(NumericModifier { precision: 15, scale: 0 }));
                make(self, "count", args)?.cast(ty, CastContext::Implicit)
            }
            ("sum", [arg]) => {
                let ty = match &arg.ty {
                    Type::Money(modifier) => Type::Money(NumericModifier { precision: MAX_PRECISION, ..*modifier }),
                    Type::Numeric(Some(modifier)) => {
                        Type::Numeric(Some(NumericModifier { precision: MAX_PRECISION, ..*modifier }))
                    }
                    _ => FLOATING,
                };
                let sum = make(self, "sum", args)?;
                match (&sum.ty, &ty) {
                    (found, Type::FloatingDecimal(_)) if found.is_decimal() => floating(sum),
                    (found, _) if found.is_decimal() => sum.retyped(ty),
                    _ => sum,
                }
            }
            ("avg", [arg]) if !matches!(arg.ty, Type::Float4 | Type::Float8) => {
                let sum = make(self, "sum", args.clone())?;
                let sum = self.coerce(sum, &Type::Numeric(None), at)?;
                let count = make(self, "count", args)?.cast(Type::Numeric(None), CastContext::Implicit);
                call("ifx_divide", vec![sum, count], FLOATING)
            }
            ("range", [arg]) => {
                let ty = arg.ty.clone();
                let greatest = make(self, "max", args.clone())?.retyped(ty.clone());
                let least = make(self, "min", args)?.retyped(ty);
                match self.temporal("-", &greatest, &least, at)? {
                    Some(range) => range,
                    None => self.number_arithmetic("-", greatest, least, at)?,
                }
            }
            ("stdev" | "variance", [_]) => {
                let name = if node.name == "stdev" { "stddev" } else { "variance" };
                let spread = make(self, name, args.clone())?;
                let spread = if spread.ty.is_decimal() { floating(spread) } else { spread };
                // One value has no spread: 0, as documented.
                let ty = spread.ty.clone();
                let count = make(self, "count", args)?;
                let some = self.compare(ir::CompareOp::Greater, count, Expr::integer(0, Type::Int8), at)?;
                let zero = self.coerce(Expr::integer(0, Type::Int4), &ty, at)?;
                let zero = Expr::new(ExprKind::Case { branches: vec![(some, zero)], otherwise: None }, ty.clone());
                Expr::new(ExprKind::Coalesce(vec![spread, zero]), ty)
            }
            ("lag" | "lead" | "first_value" | "last_value", [..]) if node.ignore_nulls => {
                let Some(window) = window.clone() else {
                    return Err(self.error(Condition::WindowingError, format!("{} needs OVER", node.name), at));
                };
                self.nth_known(&node.name, args, window, at)?
            }
            // A minimum is a value of its argument's own type, and so is a neighbour.
            ("min" | "max" | "lag" | "lead" | "first_value" | "last_value" | "nth_value", [arg, ..])
                if arg.ty != Type::Unknown =>
            {
                let ty = arg.ty.clone();
                make(self, &node.name, args)?.retyped(ty)
            }
            ("ratio_to_report", [arg]) => {
                let arg = arg.clone();
                let sum = make(self, "sum", args)?;
                self.number_arithmetic("/", arg, sum, at)?
            }
            _ => make(self, &node.name, args)?,
        };
        Ok(Some(keeps(node, expr, own)))
    }

    /// Refuses windows that a function has no use for.
    fn fits(&self, node: &Call, over: &Over, at: usize) -> Result<()> {
        let ranks = matches!(
            node.name.as_str(),
            "rank" | "dense_rank" | "percent_rank" | "cume_dist" | "ntile" | "lag" | "lead"
        );
        if ranks && over.order_by.is_empty() {
            return Err(self.error(Condition::WindowingError, format!("{} needs ORDER BY in OVER", node.name), at));
        }
        if (ranks || node.name == "row_number") && over.frame.is_some() {
            return Err(self.error(Condition::WindowingError, format!("{} has no window frame", node.name), at));
        }
        Ok(())
    }

    /// LAG, LEAD, FIRST_VALUE or LAST_VALUE among the values that are not NULL.
    fn nth_known(&mut self, name: &str, args: Vec<Expr>, mut window: Window, at: usize) -> Result<Expr> {
        let mut args = args.into_iter();
        let value = args.next().ok_or_else(|| self.no_function(name, at))?;
        let value = self.decided(value, at)?;
        let place = match (name, args.next()) {
            ("first_value", None) => 1,
            ("last_value", None) => -1,
            ("lag" | "lead", None) => 1,
            ("lag" | "lead", Some(Expr { kind: ExprKind::Literal(ir::Value::Integer(offset)), .. })) => offset,
            _ => return self.unsupported("an offset of LAG or LEAD IGNORE NULLS that is no number", at),
        };
        let default = args.next();
        let one = || Box::new(Expr::integer(1, Type::Int8));
        let (start, end, place) = match name {
            // The row itself, whatever it has.
            "lag" | "lead" if place == 0 => return Ok(value),
            "lag" => (FrameBound::UnboundedPreceding, FrameBound::Preceding(one()), -place),
            "lead" => (FrameBound::Following(one()), FrameBound::UnboundedFollowing, place),
            _ => (FrameBound::UnboundedPreceding, FrameBound::CurrentRow, place),
        };
        if matches!(name, "lag" | "lead") {
            let exclude = ir::FrameExclude::NoOthers;
            window.frame = Some(Frame { unit: ir::FrameUnit::Rows, start, end, exclude, limits: None });
        }
        let ty = value.ty.clone();
        let function = super::coerce::row("ifx_nth_known");
        let args = vec![value, Expr::integer(place, Type::Int8)];
        let found = self.grouped_call(function, args, false, Some(window), at)?.retyped(ty.clone());
        Ok(match default {
            Some(default) => {
                let default = self.coerce(default, &ty, at)?;
                Expr::new(ExprKind::Coalesce(vec![found, default]), ty)
            }
            None => found,
        })
    }

    /// An aggregate of intervals: of numbers that sort and add as they do.
    fn interval_aggregate(
        &mut self,
        name: &str,
        arg: Expr,
        qualifier: IntervalQualifier,
        make: MakeAggregate<'_, Self>,
    ) -> Result<Expr> {
        let widest = IntervalQualifier { precision: 9, ..qualifier };
        let ty = Type::QualifiedInterval(if matches!(name, "min" | "max") { qualifier } else { widest });
        let key = super::expr::sortable(arg);
        let count = match name {
            "range" => {
                let greatest = make(self, "max", vec![key.clone()])?;
                let least = make(self, "min", vec![key])?;
                self.resolved("-", vec![greatest, least], 0)?
            }
            "avg" => {
                let sum = make(self, "sum", vec![key.clone()])?;
                let count = make(self, "count", vec![key])?.cast(Type::Numeric(None), CastContext::Implicit);
                let average = call("ifx_divide", vec![sum, count], FLOATING);
                self.coerce(average, &Type::Int8, 0)?
            }
            other => {
                let count = make(self, other, vec![key])?;
                self.coerce(count, &Type::Int8, 0)?
            }
        };
        Ok(call("ifx_interval_of_key", vec![count, words(&ty)], ty))
    }

    fn grouped_call(
        &mut self,
        function: &'static Function,
        args: Vec<Expr>,
        distinct: bool,
        window: Option<Window>,
        at: usize,
    ) -> Result<Expr> {
        let ty = super::call::result_type(function, &args);
        if let Some(Window { partition_by, order_by, frame }) = window {
            if distinct {
                return self.unsupported("DISTINCT in an OLAP aggregate", at);
            }
            let window = WindowCall { function, args, filter: None, partition_by, order_by, frame };
            return Ok(Expr::new(ExprKind::Window(Box::new(window)), ty));
        }
        if function.kind == FunctionKind::Window {
            return Err(self.error(Condition::WindowingError, format!("{} needs OVER", function.name), at));
        }
        let aggregate = Aggregate { function, args, direct: Vec::new(), distinct, order_by: Vec::new(), filter: None };
        Ok(Expr::new(ExprKind::Aggregate(Box::new(aggregate)), ty))
    }

    /// RANGE with an offset over a DATE or DATETIME: the key becomes the time since a day, in parts of a second.
    fn range_over_moments(
        &mut self,
        frame: &crate::informix::ast::Frame,
        order_by: &mut [SortKey],
        over: &Over,
    ) -> Result<bool> {
        use crate::informix::ast::Bound as B;
        let offset = |bound: &B| matches!(bound, B::Preceding(_) | B::Following(_));
        let ([key], [written]) = (&mut *order_by, &over.order_by[..]) else { return Ok(false) };
        if !(offset(&frame.start) || offset(&frame.end)) || !matches!(key.expr.ty, Type::Date | Type::Datetime(_)) {
            return Ok(false);
        }
        let at = written.expr.at;
        let full = Type::Datetime(crate::informix::types::YEAR_TO_FRACTION5);
        let moment = self.coerce(key.expr.clone(), &full, at)?;
        let base = Expr::new(ExprKind::Literal(ir::Value::Text("0001-01-01 00:00:00.00000".into())), full);
        let since = self.temporal("-", &moment, &base, at)?.ok_or_else(|| self.no_function("range", at))?;
        key.expr = super::expr::sortable(since);
        Ok(true)
    }

    /// How far a frame goes: rows, or a distance of keys; of days or an INTERVAL where those are moments.
    fn frame_offset(&mut self, node: &Node, moments: bool) -> Result<Expr> {
        /// Parts of a second in a day, as keys count them.
        const DAY: i64 = 86_400 * 100_000;
        let offset = self.expr(node)?;
        if !moments {
            return self.coerce(offset, &Type::Int8, node.at);
        }
        let parts = match (&offset.kind, &offset.ty, &node.kind) {
            (_, Type::QualifiedInterval(qualifier), _) if qualifier.first < Field::Day => {
                return self.unsupported("RANGE with an offset of years or months", node.at);
            }
            (ExprKind::Literal(ir::Value::Text(text)), ty @ Type::QualifiedInterval(_), _) => {
                arithmetic::interval_key(text, ty).ok()
            }
            (_, ty @ Type::QualifiedInterval(_), NodeKind::Units(count, _)) => match &count.kind {
                NodeKind::Number(count) => {
                    let text = self.placed(arithmetic::units(count, ty), node.at)?;
                    arithmetic::interval_key(&text, ty).ok()
                }
                _ => None,
            },
            (ExprKind::Literal(ir::Value::Integer(days)), ..) => days.checked_mul(DAY),
            _ => None,
        };
        match parts {
            Some(parts) => Ok(Expr::integer(parts, Type::Int8)),
            None => self.unsupported("RANGE over dates with an offset that is no constant", node.at),
        }
    }

    fn window(&mut self, over: &Over) -> Result<Window> {
        let mut partition_by = Vec::new();
        for key in &over.partition_by {
            let key = self.expr(key)?;
            partition_by.push(super::expr::sortable(key));
        }
        let mut order_by = Vec::new();
        for key in &over.order_by {
            let expr = self.expr(&key.expr)?;
            order_by.push(SortKey {
                expr: super::expr::sortable(expr),
                descending: key.descending,
                nulls_first: key.nulls_first.unwrap_or(!key.descending),
            });
        }
        let frame = match &over.frame {
            Some(frame) => {
                let moments = !frame.rows && self.range_over_moments(frame, &mut order_by, over)?;
                let mut bound = |bound: &crate::informix::ast::Bound| -> Result<FrameBound> {
                    use crate::informix::ast::Bound as B;
                    Ok(match bound {
                        B::UnboundedPreceding => FrameBound::UnboundedPreceding,
                        B::UnboundedFollowing => FrameBound::UnboundedFollowing,
                        B::CurrentRow => FrameBound::CurrentRow,
                        B::Preceding(node) => FrameBound::Preceding(Box::new(self.frame_offset(node, moments)?)),
                        B::Following(node) => FrameBound::Following(Box::new(self.frame_offset(node, moments)?)),
                    })
                };
                let start = bound(&frame.start)?;
                let end = bound(&frame.end)?;
                let unit = if frame.rows { ir::FrameUnit::Rows } else { ir::FrameUnit::Range };
                Some(Frame { unit, start, end, exclude: ir::FrameExclude::NoOthers, limits: None })
            }
            None => None,
        };
        Ok(Window { partition_by, order_by, frame })
    }
}
