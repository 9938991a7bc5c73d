//! Types made equal.

use super::Binder;
use super::casts::{is_distinct, plain};
use super::expr::text_length;
use crate::functions::{Function, named};
use crate::informix::ast::Node;
use crate::informix::casts::shown;
use crate::informix::types::{LVARCHAR_MAX, YEAR_TO_FRACTION5, type_words};
use crate::informix::values::{DateFormat, computed, convert, string_length, within_bytes};
use crate::ir::{CastContext, Expr, ExprKind, Value};
use crate::types::Field;
use crate::{Condition, Language, Result, Type};

/// The longest CHAR.
const CHAR_MAX: u32 = 32_767;

/// A row of the function table that the front end itself needs.
pub(super) fn row(name: &'static str) -> &'static Function {
    named(Language::Informix, name).next().unwrap_or_else(|| panic!("the function table has a row {name}"))
}

/// A call of such a row, of a type that the binder knows better.
pub(super) fn call(name: &'static str, args: Vec<Expr>, ty: Type) -> Expr {
    Expr::new(ExprKind::Call { function: row(name), args }, ty)
}

/// A type in words, as an argument.
pub(super) fn words(ty: &Type) -> Expr {
    Expr::text(type_words(ty))
}

/// The type that two operands are compared or united under.
pub(super) fn common(left: &Type, right: &Type) -> Option<Type> {
    if left == right {
        return Some(left.clone());
    }
    let pair = |test: fn(&Type) -> bool| test(left) && test(right);
    if [left, right].iter().any(|ty| ty.distinct().is_some()) && ![left, right].iter().any(|ty| **ty == Type::Unknown) {
        return None;
    }
    Some(match (left, right) {
        (Type::Unknown, other) | (other, Type::Unknown) => other.clone(),
        _ if pair(Type::is_text) => Type::Text,
        _ if pair(|ty| ty.is_integer() || matches!(ty, Type::Oid | Type::Reg(_))) => {
            if [left, right].iter().all(|ty| matches!(ty, Type::Int2 | Type::Int4)) { Type::Int4 } else { Type::Int8 }
        }
        _ if pair(|ty| ty.is_number() || matches!(ty, Type::Oid)) => {
            if [left, right].iter().any(|ty| matches!(ty, Type::Float4 | Type::Float8)) {
                Type::Float8
            } else {
                Type::Numeric(None)
            }
        }
        (Type::Date, Type::Datetime(_)) | (Type::Datetime(_), Type::Date) | (Type::Datetime(_), Type::Datetime(_)) => {
            Type::Datetime(YEAR_TO_FRACTION5)
        }
        (Type::Timestamp(_) | Type::TimestampTz(_), Type::Date | Type::Datetime(_) | Type::Timestamp(_)) => {
            left.clone()
        }
        (Type::Date | Type::Datetime(_), Type::Timestamp(_) | Type::TimestampTz(_)) => right.clone(),
        (Type::QualifiedInterval(_), Type::QualifiedInterval(_)) => left.clone(),
        // Text is converted to whatever it is compared with.
        (text, other) | (other, text) if text.is_text() && !matches!(other, Type::Composite(_)) => other.clone(),
        (Type::Date, number) | (number, Type::Date) if number.is_number() => Type::Date,
        (Type::Byte | Type::Bytea | Type::Blob, Type::Byte | Type::Bytea | Type::Blob) => left.clone(),
        _ => return None,
    })
}

impl Binder<'_> {
    /// An expression of another type, converted; a literal at once, a parameter by taking the type.
    pub fn coerce(&mut self, expr: Expr, to: &Type, at: usize) -> Result<Expr> {
        if let Some(cast) = self.by_cast(&expr, to, false, at)? {
            return Ok(cast);
        }
        let expr = match self.context.dates {
            Some(dates) => self.dated(expr, to, dates, at)?,
            None => expr,
        };
        if !self.context.multibyte || expr.ty == *to || !(expr.ty.is_text() || expr.ty == Type::Unknown) {
            return self.converted(expr, to, at);
        }
        // What comes from a column was cut when it was stored, a parameter of no type of its own when it was bound.
        let whole = match &expr.kind {
            ExprKind::Column(_) => common(&expr.ty, to).is_some() && text_length(&expr) <= string_length(to),
            ExprKind::Param(_) => expr.ty == Type::Unknown,
            _ => false,
        };
        let mut converted = self.converted(expr, to, at)?;
        let Some(length) = string_length(to).filter(|_| !whole) else { return Ok(converted) };
        if let ExprKind::Literal(value) = converted.kind {
            converted.kind = ExprKind::Literal(within_bytes(value, to)?);
            return Ok(converted);
        }
        let is_char = Expr::integer(i64::from(matches!(to, Type::Char(_) | Type::Nchar(_))), Type::Int4);
        let length = Expr::integer(i64::from(length), Type::Int4);
        Ok(call("ifx_within", vec![converted, length, is_char], to.clone()))
    }

    /// A date or the text of one on its way to the other, where texts of dates have a form of the session's own.
    fn dated(&mut self, expr: Expr, to: &Type, dates: DateFormat, at: usize) -> Result<Expr> {
        let reads = *to == Type::Date && (expr.ty.is_text() || expr.ty == Type::Unknown);
        let shows = expr.ty == Type::Date && to.is_text();
        Ok(match &expr.kind {
            // The door reads what is bound to a parameter.
            ExprKind::Param(_) if expr.ty == Type::Unknown => expr,
            ExprKind::Literal(Value::Text(text)) if reads => {
                let read = self.placed(dates.read(text), at)?;
                Expr::new(ExprKind::Literal(Value::Text(read)), expr.ty)
            }
            ExprKind::Literal(Value::Text(date)) if shows => {
                let shown = dates.shown(date);
                Expr::new(ExprKind::Literal(Value::Text(shown)), Type::Unknown)
            }
            ExprKind::Literal(_) => expr,
            _ if reads => call("ifx_date_read", vec![expr, Expr::text(dates.words())], Type::Text),
            _ if shows => call("ifx_date_shown", vec![expr, Expr::text(dates.words())], Type::Text),
            _ => expr,
        })
    }

    fn converted(&mut self, expr: Expr, to: &Type, at: usize) -> Result<Expr> {
        if expr.ty == *to {
            return Ok(expr);
        }
        if to.has_domain() {
            return self.coerce_to_domain(expr, to, at);
        }
        match &expr.kind {
            ExprKind::Param(index) if expr.ty == Type::Unknown => {
                let index = *index;
                self.params[index] = Some(to.clone());
                return Ok(Expr::new(ExprKind::Param(index), to.clone()));
            }
            ExprKind::Literal(Value::Null) => return Ok(Expr::new(expr.kind, to.clone())),
            // EXTEND to larger fields: they are the present's, so it waits for the execution.
            ExprKind::Literal(_)
                if matches!(&expr.ty, Type::Datetime(source) if source.first > Field::Year)
                    && matches!(to, Type::Date | Type::Datetime(_)) =>
            {
                self.effects.volatile = true;
            }
            ExprKind::Literal(value) => {
                let converted = self.placed(convert(value, &expr.ty, to), at)?;
                return Ok(Expr::new(ExprKind::Literal(converted), to.clone()));
            }
            _ => {}
        }
        let from = expr.ty.clone();
        let free = match (&from, to) {
            (from, Type::Text) => from.is_text(),
            (Type::Int2, Type::Int4 | Type::Int8 | Type::IfxInt8) | (Type::Int4, Type::Int8 | Type::IfxInt8) => true,
            (Type::Int8, Type::IfxInt8) | (Type::IfxInt8, Type::Int8) => true,
            (Type::Oid | Type::Reg(_), Type::Int8) => true,
            (from, Type::Numeric(None)) => from.is_integer() || from.is_decimal(),
            (from, Type::Float8) => from.is_number(),
            // Longer strings of the same kind.
            (Type::Varchar(Some(a)), Type::Varchar(Some(b))) => a <= b,
            (Type::Char(a), Type::Char(b)) => a <= b,
            (Type::Varchar(Some(a)) | Type::Char(a) | Type::Lvarchar(a), Type::Lvarchar(b)) => a <= b,
            (Type::Timestamp(_), Type::Timestamp(_)) => true,
            _ => false,
        };
        if free {
            return Ok(expr.cast(to.clone(), CastContext::Implicit));
        }
        if !castable(&from, to) {
            return Err(self.error(
                if [&from, to]
                    .into_iter()
                    .any(|ty| matches!(ty, Type::Bool | Type::Composite(_) | Type::Blob | Type::Clob))
                {
                    Condition::CannotCoerce
                } else {
                    Condition::InconvertibleTypes
                },
                format!("no cast from {} to {}", type_words(&from), type_words(to)),
                at,
            ));
        }
        Ok(call("ifx_cast", vec![expr, words(&from), words(to)], to.clone()))
    }

    /// A domain is PostgreSQL's; what it asks is asked of values from here, too.
    pub(super) fn coerce_to_domain(&mut self, expr: Expr, to: &Type, at: usize) -> Result<Expr> {
        let mut value = self.coerce(expr, &to.without_domains(), at)?;
        // What is asked of a decimal is asked of its text.
        if let ExprKind::Literal(literal @ (Value::Integer(_) | Value::Real(_))) = &value.kind
            && value.ty.is_decimal()
        {
            value.kind = ExprKind::Literal(self.placed(computed(literal, &value.ty, &value.ty), at)?);
        }
        let context = crate::plan::Context { database: self.context.database.clone(), ..Default::default() };
        Ok(match crate::postgres::rules_of(to, self.schema, &context)? {
            Some(rules) => {
                let kind = ExprKind::Checked {
                    arg: Box::new(value),
                    rules: std::sync::Arc::new(rules),
                    context: CastContext::Assignment,
                };
                Expr::new(kind, to.clone())
            }
            None => value.cast(to.clone(), CastContext::Assignment),
        })
    }

    /// The value of a node for a column or a place of type `to`.
    pub fn assigned(&mut self, node: &Node, to: &Type) -> Result<Expr> {
        let expr = self.expr(node)?;
        if matches!(expr.kind, ExprKind::Default) {
            return Ok(expr);
        }
        self.coerce(expr, to, node.at)
    }

    /// Gives an undecided literal a type of its own: text is CHAR of its length.
    pub fn decided(&mut self, expr: Expr, at: usize) -> Result<Expr> {
        if expr.ty != Type::Unknown {
            return Ok(expr);
        }
        match &expr.kind {
            ExprKind::Literal(Value::Text(text)) => {
                let length = u32::try_from(text.len().max(1)).unwrap_or(u32::MAX);
                if length > 32_767 {
                    return self.coerce(expr, &Type::Lvarchar(length), at);
                }
                // Blanks of a CHAR literal are the type's business, not the value's.
                let ty =
                    if text.ends_with(' ') && length <= 255 { Type::Varchar(Some(length)) } else { Type::Char(length) };
                self.coerce(expr, &ty, at)
            }
            ExprKind::Literal(Value::Null) => Ok(Expr::new(expr.kind, Type::Char(1))),
            ExprKind::Param(_) => Err(self.error(
                Condition::IndeterminateDatatype,
                "a parameter cannot stand here without a cast (`?::INTEGER`)",
                at,
            )),
            _ => Ok(expr),
        }
    }

    /// Text of any kind for a function's argument.
    pub fn as_text(&mut self, expr: Expr, at: usize) -> Result<Expr> {
        let expr = plain(expr);
        if expr.ty == Type::Unknown {
            let unbounded = Type::Lvarchar(LVARCHAR_MAX);
            let expr = self.coerce(expr, &unbounded, at)?;
            return self.coerce(expr, &Type::Text, at);
        }
        self.coerce(expr, &Type::Text, at)
    }

    /// Both operands under one type.
    pub fn matched(&mut self, left: Expr, right: Expr, at: usize) -> Result<(Expr, Expr)> {
        let (left, right) =
            if is_distinct(&left, &right) { self.evened("equal", left, right, at)? } else { (left, right) };
        let Some(mut ty) = common(&left.ty, &right.ty) else {
            return Err(self.error(
                Condition::InconvertibleTypes,
                format!("{} cannot be compared with {}", type_words(&left.ty), type_words(&right.ty)),
                at,
            ));
        };
        if ty == Type::Unknown {
            ty = Type::Lvarchar(LVARCHAR_MAX);
        }
        // A literal or parameter next to a string of bounded length must not be cut to it.
        if [&left, &right].iter().any(|side| side.ty == Type::Unknown) && ty.is_text() {
            // Against CHAR, trailing blanks do not count.
            let blank_padded = [&left, &right].iter().any(|side| matches!(side.ty, Type::Char(_) | Type::Nchar(_)));
            let mut sides = [left, right];
            for side in &mut sides {
                let mut expr = std::mem::replace(side, Expr::text(""));
                if blank_padded && expr.ty == Type::Unknown {
                    expr = self.coerce(expr, &Type::Char(CHAR_MAX), at)?;
                }
                *side = self.as_text(expr, at)?;
            }
            let [left, right] = sides;
            return Ok((left, right));
        }
        // Nor is an integer literal next to a narrower column an error: it is just not equal.
        if [&left, &right].iter().any(|side| side.ty == Type::Unknown)
            && matches!(ty, Type::Numeric(Some(_)) | Type::Money(_))
        {
            let left = self.coerce(left, &Type::Numeric(None), at)?;
            let right = self.coerce(right, &Type::Numeric(None), at)?;
            return Ok((left, right));
        }
        Ok((self.coerce(left, &ty, at)?, self.coerce(right, &ty, at)?))
    }

    /// All expressions under one type (CASE, NVL, IN).
    pub fn united(&mut self, exprs: Vec<Expr>, at: usize) -> Result<(Vec<Expr>, Type)> {
        let mut ty = Type::Unknown;
        let mut longest = 0_u32;
        for expr in &exprs {
            let distinct = ty.distinct().is_some() || expr.ty.distinct().is_some();
            let both = if distinct { self.common_distinct(&ty, &expr.ty) } else { common(&ty, &expr.ty) };
            ty = both.ok_or_else(|| {
                self.error(
                    Condition::InconvertibleTypes,
                    format!("{} and {} have no common type", shown(&ty), shown(&expr.ty)),
                    at,
                )
            })?;
            longest = longest.max(match (&expr.kind, &expr.ty) {
                (ExprKind::Literal(Value::Text(text)), _) => u32::try_from(text.len()).unwrap_or(u32::MAX),
                (
                    _,
                    Type::Char(n) | Type::Varchar(Some(n)) | Type::Lvarchar(n) | Type::Nchar(n) | Type::Nvarchar(n),
                ) => *n,
                (_, other) if other.is_text() => LVARCHAR_MAX,
                _ => 0,
            });
        }
        if ty == Type::Unknown || ty.is_text() && ty.distinct().is_none() {
            let literals_only = exprs.iter().all(|expr| matches!(expr.kind, ExprKind::Literal(_)));
            ty = match longest {
                _ if literals_only && (1..=32_767).contains(&longest) => Type::Char(longest),
                1..=255 => Type::Varchar(Some(longest)),
                256.. => Type::Lvarchar(longest.min(LVARCHAR_MAX)),
                0 => Type::Lvarchar(LVARCHAR_MAX),
            };
        }
        let mut coerced = Vec::with_capacity(exprs.len());
        for expr in exprs {
            coerced.push(self.coerce(expr, &ty, at)?);
        }
        Ok((coerced, ty))
    }
}

/// Types between which `ifx_cast` knows a way; whether a value takes it shows when it runs.
pub(super) fn castable(from: &Type, to: &Type) -> bool {
    let large = |ty: &Type| matches!(ty, Type::Byte | Type::Blob | Type::Bytea);
    let moment = |ty: &Type| {
        matches!(ty, Type::Date | Type::Datetime(_) | Type::Timestamp(_) | Type::TimestampTz(_) | Type::Time(_))
    };
    if matches!(from, Type::Composite(_)) {
        return to.is_text() || matches!(to, Type::Composite(_));
    }
    if *from == Type::Bool || *to == Type::Bool {
        return from == to || from.is_text() || to.is_text() || from.is_integer();
    }
    if from.is_text() || to.is_text() {
        return true;
    }
    (from.is_number() && to.is_number())
        || (moment(from) && moment(to))
        || (*from == Type::Date && to.is_number())
        || (from.is_number() && *to == Type::Date)
        || (large(from) && large(to))
        || matches!((from, to), (Type::QualifiedInterval(_), Type::QualifiedInterval(_)))
        || (matches!(from, Type::Json | Type::Jsonb) && matches!(to, Type::Json | Type::Jsonb))
        || matches!((from, to), (Type::Oid | Type::Reg(_), ty) if ty.is_number())
}
