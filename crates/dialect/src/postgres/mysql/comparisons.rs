//! Comparisons, conditions and order.
//!
//! Source: MySQL 8.0 Reference Manual, 14.3 "Type Conversion in Expression Evaluation", 14.4.2 "Comparison Functions and
//! Operators".

use jiff::tz::TimeZone;

use super::super::binder::Binder;
use super::super::coerce::{as_it_lies, base};
use super::Placed;
use super::arithmetic::number_of;
use super::classes::{Class, class, is_time, is_wide, own_words, position_function};
use crate::ir::{CastContext, CompareOp, Expr, ExprKind, Value};
use crate::values::mysql::moments;
use crate::{Error, Result, Type};

impl Binder<'_> {
    /// The operand of a CASE and one of its values: a document is none there, but its text, or a number beside numbers.
    pub(in crate::postgres) fn mysql_case_operands(
        &mut self,
        (subject, subject_at): Placed,
        (value, value_at): Placed,
    ) -> Result<(Placed, Placed)> {
        let told = |binder: &mut Self, expr: Expr, at: i32, beside: &Type| match binder.is_mysql()
            && *expr.ty.through_domains() == Type::Json
        {
            true if class(beside).is_number() => binder.mysql_bare(expr, at),
            true => binder.coerce(expr, &Type::Text, CastContext::Explicit, at),
            false => Ok(expr),
        };
        let (value, value_at) = self.mysql_one_of(&subject, (value, value_at))?;
        let (of_subject, of_value) = (subject.ty.clone(), value.ty.clone());
        let subject = told(self, subject, subject_at, &of_value)?;
        let value = told(self, value, value_at, &of_subject)?;
        Ok(((subject, subject_at), (value, value_at)))
    }

    /// Two values in what they are compared as.
    pub(in crate::postgres) fn mysql_comparable(
        &mut self,
        (left, left_at): Placed,
        (right, right_at): Placed,
    ) -> Result<(Placed, Placed)> {
        if is_wide(&left.ty) || is_wide(&right.ty) {
            return self.mysql_beside_wide((left, left_at), (right, right_at));
        }
        // What stands beside a document is one, too.
        if left.ty == Type::Json || right.ty == Type::Json {
            let left = self.mysql_document_order(left, left_at)?;
            let right = self.mysql_document_order(right, right_at)?;
            return Ok(((left, left_at), (right, right_at)));
        }
        let (of_left, of_right) = (class(&left.ty), class(&right.ty));
        let left = if of_right.is_number() { self.mysql_position(left, left_at)? } else { left };
        let right = if of_left.is_number() { self.mysql_position(right, right_at)? } else { right };
        let (of_left, of_right) = (class(&left.ty), class(&right.ty));
        let (left, right) = match (of_left, of_right) {
            (Class::Open, Class::Open) => {
                let left = self.settle(left, left_at)?;
                (left, self.settle(right, right_at)?)
            }
            (Class::Truth, Class::Truth) => (left, right),
            (Class::Integer, Class::Integer) | (Class::Decimal, Class::Decimal) | (Class::Float, Class::Float) => {
                (left, right)
            }
            (a, b) if a.is_number() && b.is_number() => {
                let truth_is_number = |binder: &mut Self, expr: Expr, at: i32| match class(&expr.ty) {
                    Class::Truth => binder.coerce(expr, &Type::Int8, CastContext::Implicit, at),
                    _ => Ok(expr),
                };
                let left = truth_is_number(self, left, left_at)?;
                (left, truth_is_number(self, right, right_at)?)
            }
            (a, Class::Open) if a.is_number() => {
                let left = if a == Class::Truth { self.mysql_number(left, left_at)? } else { left };
                let right = self.mysql_beside(right, &left, right_at)?;
                (left, right)
            }
            (Class::Open, b) if b.is_number() => {
                let right = if b == Class::Truth { self.mysql_number(right, right_at)? } else { right };
                let left = self.mysql_beside(left, &right, left_at)?;
                (left, right)
            }
            // A time beside a text is one.
            (Class::Moment, Class::Text) if is_time(&left.ty) => (self.mysql_as_shown(left, left_at)?, right),
            (Class::Text, Class::Moment) if is_time(&right.ty) => (left, self.mysql_as_shown(right, right_at)?),
            (Class::Moment, Class::Open) if is_time(&left.ty) && is_no_time(&right) => {
                let text = self.settle(right, right_at)?;
                (self.mysql_as_shown(left, left_at)?, text)
            }
            (Class::Open, Class::Moment) if is_time(&right.ty) && is_no_time(&left) => {
                let text = self.settle(left, left_at)?;
                (text, self.mysql_as_shown(right, right_at)?)
            }
            (Class::Moment, Class::Open) if is_time(&left.ty) => {
                let left = self.coerce(left, &Type::Interval(None), CastContext::Implicit, left_at)?;
                (left, self.mysql_time(right, right_at)?)
            }
            (Class::Open, Class::Moment) if is_time(&right.ty) => {
                let right = self.coerce(right, &Type::Interval(None), CastContext::Implicit, right_at)?;
                (self.mysql_time(left, left_at)?, right)
            }
            // A time beside a date is one of today.
            (Class::Moment, Class::Moment) if is_time(&left.ty) && !is_time(&right.ty) => {
                let moment = self.mysql_call_of("mysql_to_datetime", vec![(left, left_at)])?;
                (moment, self.coerce(right, &Type::Timestamp(None), CastContext::Explicit, right_at)?)
            }
            (Class::Moment, Class::Moment) if !is_time(&left.ty) && is_time(&right.ty) => {
                let moment = self.mysql_call_of("mysql_to_datetime", vec![(right, right_at)])?;
                (self.coerce(left, &Type::Timestamp(None), CastContext::Explicit, left_at)?, moment)
            }
            (Class::Moment, Class::Open) => self.mysql_beside_moment((left, left_at), (right, right_at))?,
            (Class::Open, Class::Moment) => {
                let (right, left) = self.mysql_beside_moment((right, right_at), (left, left_at))?;
                (left, right)
            }
            (Class::Moment, Class::Text | Class::Bytes) if !is_time(&left.ty) => {
                self.mysql_beside_moment((left, left_at), (right, right_at))?
            }
            (Class::Text | Class::Bytes, Class::Moment) if !is_time(&right.ty) => {
                let (right, left) = self.mysql_beside_moment((right, right_at), (left, left_at))?;
                (left, right)
            }
            (Class::Moment, Class::Bytes) => {
                let text = self.mysql_as_shown(left, left_at)?;
                (self.coerce(text, &Type::Bytea, CastContext::Implicit, left_at)?, right)
            }
            (Class::Bytes, Class::Moment) => {
                let text = self.mysql_as_shown(right, right_at)?;
                (left, self.coerce(text, &Type::Bytea, CastContext::Implicit, right_at)?)
            }
            (Class::Bytes, Class::Text | Class::Open) => {
                let right = self.coerce(right, &Type::Bytea, CastContext::Implicit, right_at)?;
                (left, right)
            }
            (Class::Text | Class::Open, Class::Bytes) => {
                let left = self.coerce(left, &Type::Bytea, CastContext::Implicit, left_at)?;
                (left, right)
            }
            // A number that no date is written as leaves both numbers.
            (Class::Moment, _) if is_no_date(&right) => (self.mysql_number(left, left_at)?, right),
            (_, Class::Moment) if is_no_date(&left) => (left, self.mysql_number(right, right_at)?),
            // A number that is written beside a date is a date; any other leaves both numbers.
            (Class::Moment, b) if b.is_number() && !is_time(&left.ty) && is_written(&right) => {
                let moment = self.mysql_call_of("mysql_to_datetime", vec![(right, right_at)])?;
                (self.coerce(left, &Type::Timestamp(None), CastContext::Explicit, left_at)?, moment)
            }
            (a, Class::Moment) if a.is_number() && !is_time(&right.ty) && is_written(&left) => {
                let moment = self.mysql_call_of("mysql_to_datetime", vec![(left, left_at)])?;
                (moment, self.coerce(right, &Type::Timestamp(None), CastContext::Explicit, right_at)?)
            }
            // The back end compares its integers with any number by their values, and by way of an index.
            (Class::Integer, Class::Text | Class::Bytes) => {
                let ty = base(&left.ty);
                let number = self.mysql_call_of("mysql_to_number", vec![(right, right_at)])?;
                (left, Expr { ty, ..number })
            }
            (Class::Text | Class::Bytes, Class::Integer) => {
                let ty = base(&right.ty);
                let number = self.mysql_call_of("mysql_to_number", vec![(left, left_at)])?;
                (Expr { ty, ..number }, right)
            }
            (a, b) if a.is_number() || b.is_number() => {
                let left = self.mysql_number(left, left_at)?;
                let right = self.mysql_number(right, right_at)?;
                let left = self.coerce(left, &Type::Float8, CastContext::Implicit, left_at)?;
                (left, self.coerce(right, &Type::Float8, CastContext::Implicit, right_at)?)
            }
            (Class::Other, Class::Text | Class::Open) => {
                let right = self.settle(right, right_at)?;
                (self.coerce(left, &Type::Text, CastContext::Implicit, left_at)?, right)
            }
            (Class::Text | Class::Open, Class::Other) => {
                let left = self.settle(left, left_at)?;
                let right = self.coerce(right, &Type::Text, CastContext::Implicit, right_at)?;
                (left, right)
            }
            _ => (left, right),
        };
        Ok(((left, left_at), (right, right_at)))
    }

    /// A value beside a document, by which the two are compared.
    fn mysql_document_order(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        if expr.ty == Type::Json {
            return self.mysql_call_of("mysql_json_order", vec![(expr, at)]);
        }
        if matches!(expr.kind, ExprKind::Literal(Value::Null)) {
            return Ok(Expr::null(Type::Bytea));
        }
        let expr = self.settle(expr, at)?;
        let expr = self.mysql_local(expr, at)?;
        self.mysql_call_of("mysql_json_order_of", vec![(expr, at)])
    }

    /// The same where one is a BIGINT UNSIGNED as it lies: the back end compares that with what lies beside it, by way of
    /// an index.
    fn mysql_beside_wide(&mut self, (left, left_at): Placed, (right, right_at): Placed) -> Result<(Placed, Placed)> {
        let plain = |expr: Expr| as_it_lies(expr, &Type::Int8);
        let (wide, other, other_at, swapped) = match is_wide(&left.ty) {
            true => (left, right, right_at, false),
            false => (right, left, left_at, true),
        };
        let wide_at = if swapped { right_at } else { left_at };
        let other = self.mysql_position(other, other_at)?;
        let other = match class(&other.ty) {
            Class::Open => self.mysql_beside(other, &plain(wide.clone()), other_at)?,
            Class::Truth => self.coerce(other, &Type::Int8, CastContext::Implicit, other_at)?,
            _ => other,
        };
        let (wide, other) = match class(&other.ty) {
            _ if is_wide(&other.ty) => (plain(wide), plain(other)),
            Class::Integer => (plain(wide), other),
            // Doubles are compared as such. A fraction need not have a place beside whole numbers of this size.
            Class::Float => (self.mysql_wide_number(wide, wide_at)?, other),
            Class::Decimal if self.mysql_scale(&other) != Some(0) => (self.mysql_wide_number(wide, wide_at)?, other),
            Class::Decimal | Class::Text | Class::Bytes => {
                (plain(wide), self.mysql_call_of("mysql_beside_wide", vec![(other, other_at)])?)
            }
            _ => (self.mysql_wide_number(wide, wide_at)?, other),
        };
        let pair = if swapped { (other, wide) } else { (wide, other) };
        let ((left, left_at), (right, right_at)) = ((pair.0, left_at), (pair.1, right_at));
        match class(&left.ty) {
            Class::Integer => Ok(((left, left_at), (right, right_at))),
            _ => self.mysql_comparable((left, left_at), (right, right_at)),
        }
    }

    /// A date or a moment and a text beside it, in what they are compared as. A text that is written must be a moment, and beside
    /// a date it is one where it has a time of day; any other is a date beside a date, and the least of all where it is none.
    fn mysql_beside_moment(&mut self, (moment, moment_at): Placed, (text, text_at): Placed) -> Result<(Expr, Expr)> {
        let is_date = *moment.ty.through_domains() == Type::Date;
        if class(&text.ty) == Class::Open {
            let Some(written) = written(&text) else {
                let text = self.decide(text, &base(&moment.ty), CastContext::Implicit, text_at)?;
                return Ok((moment, text));
            };
            let has_time = moments::parse(&written, &TimeZone::UTC).is_some_and(|moment| moment.micros != 0);
            let ty = if is_date && has_time { Type::Timestamp(None) } else { base(&moment.ty) };
            let moment = match is_date && has_time {
                true => self.coerce(moment, &ty, CastContext::Explicit, moment_at)?,
                false => moment,
            };
            let kind = match moment.ty.through_domains() {
                Type::Date => "DATE",
                Type::TimestampTz(_) => "TIMESTAMP",
                _ => "DATETIME",
            };
            let text = self.decide(text, &ty, CastContext::Implicit, text_at).map_err(|error| {
                let message = format!("Incorrect {kind} value: '{written}'");
                Error::new(error.condition(), message).with_mysql(1525, "HY000")
            })?;
            return Ok((moment, text));
        }
        let function = if is_date { "mysql_beside_date" } else { "mysql_beside_datetime" };
        let text = self.mysql_call_of(function, vec![(text, text_at)])?;
        let ty = if is_date { Type::Date } else { Type::Timestamp(None) };
        Ok((self.coerce(moment, &ty, CastContext::Explicit, moment_at)?, text))
    }

    /// A value as the text that is shown of it.
    fn mysql_as_shown(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        self.mysql_call_of("mysql_to_text", vec![(expr, at)])
    }

    /// One of several values that something is compared with, as BETWEEN, IN and CASE do: none need be a moment beside one.
    pub(in crate::postgres) fn mysql_one_of(&mut self, arg: &Expr, (member, at): Placed) -> Result<Placed> {
        let is_moment = class(&arg.ty) == Class::Moment && !is_time(&arg.ty);
        let is_none = is_moment
            && class(&member.ty) == Class::Open
            && written(&member).is_some_and(|text| moments::parse(&text, &TimeZone::UTC).is_none());
        Ok(match self.is_mysql() && is_none {
            true => (self.settle(member, at)?, at),
            false => (member, at),
        })
    }

    /// Two values of a comparison, where a literal or parameter beside a YEAR means what it would be stored as.
    pub(in crate::postgres) fn mysql_years(&mut self, left: Placed, right: Placed) -> Result<(Placed, Placed)> {
        let is_year = |(expr, _): &Placed| own_words(&expr.ty) == Some("year");
        Ok(match (is_year(&left), is_year(&right)) {
            (true, false) => (left, self.mysql_beside_year(right)?),
            (false, true) => (self.mysql_beside_year(left)?, right),
            _ => (left, right),
        })
    }

    fn mysql_beside_year(&mut self, (expr, at): Placed) -> Result<Placed> {
        let number = match &expr.kind {
            ExprKind::Param(_) => return Ok((self.mysql_year(expr, at)?, at)),
            ExprKind::Literal(Value::Text(_)) if class(&expr.ty) == Class::Open => {
                return Ok((self.mysql_year(expr, at)?, at));
            }
            ExprKind::Literal(Value::Integer(number)) => *number as f64,
            ExprKind::Literal(Value::Real(number)) => *number,
            ExprKind::Literal(Value::Text(text)) if class(&expr.ty) == Class::Decimal => text.parse().unwrap_or(0.0),
            _ => return Ok((expr, at)),
        };
        // With a fraction it is no year.
        let is_short = number.fract() == 0.0 && (1.0..100.0).contains(&number);
        Ok((if is_short { Expr::integer(moments::year_of_number(number as i64), Type::Int8) } else { expr }, at))
    }

    /// A literal or parameter as a time.
    pub(super) fn mysql_time(&mut self, open: Expr, at: i32) -> Result<Expr> {
        let text = self.settle(open, at)?;
        self.mysql_call_of("mysql_to_time", vec![(text, at)])
    }

    /// A literal or parameter beside a number.
    pub(super) fn mysql_beside(&mut self, open: Expr, number: &Expr, at: i32) -> Result<Expr> {
        match &open.kind {
            ExprKind::Literal(Value::Text(text)) => Ok(number_of(text)),
            _ => self.decide(open, &base(&number.ty), CastContext::Implicit, at),
        }
    }

    /// A condition.
    pub(in crate::postgres) fn mysql_condition(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        if class(&expr.ty) == Class::Truth {
            return self.coerce(expr, &Type::Bool, CastContext::Implicit, at);
        }
        let number = match class(&expr.ty) {
            _ if is_wide(&expr.ty) => as_it_lies(expr, &Type::Int8),
            Class::Integer | Class::Decimal | Class::Float => expr,
            _ => self.mysql_number(expr, at)?,
        };
        let ty = base(&number.ty);
        let number = self.coerce(number, &ty, CastContext::Implicit, at)?;
        let zero = match class(&ty) {
            Class::Float => Expr::new(ExprKind::Literal(Value::Real(0.0)), ty),
            Class::Integer => Expr::integer(0, ty),
            _ => Expr::new(ExprKind::Literal(Value::Text("0".to_owned())), ty),
        };
        let (left, right) = (Box::new(number), Box::new(zero));
        Ok(Expr::new(ExprKind::Compare { op: CompareOp::NotEqual, left, right }, Type::Bool))
    }

    /// What rows are sorted by: an ENUM by its index, a SET by its bits, a document by its own order.
    pub(in crate::postgres) fn mysql_sorted(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        if expr.ty == Type::Json {
            return self.mysql_call_of("mysql_json_order", vec![(expr, at)]);
        }
        if position_function(&expr.ty).is_some() { self.mysql_position(expr, at) } else { Ok(expr) }
    }
}

/// The text of a literal.
fn written(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

/// A whole number or a decimal that is written or given, which a date beside it makes one.
fn is_written(expr: &Expr) -> bool {
    let is_exact = matches!(class(&expr.ty), Class::Integer | Class::Decimal);
    is_exact && matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_))
}

/// A text that is written, and is no time.
fn is_no_time(expr: &Expr) -> bool {
    written(expr)
        .is_some_and(|text| moments::time_of_text(&text).is_none() && moments::parse(&text, &TimeZone::UTC).is_none())
}

/// A literal number that is written as no date.
fn is_no_date(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Value::Integer(number))
        if class(&expr.ty) == Class::Integer && moments::of_number(number, 0).is_none())
}
