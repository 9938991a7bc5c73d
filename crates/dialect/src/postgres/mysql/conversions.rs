//! Any value becomes one of any type: by a cast, when it is assigned, and as one of MySQL's own types keeps it.
//!
//! Source: MySQL 8.0 Reference Manual, 13 "Data Types", 14.10 "Cast Functions and Operators".

use super::super::binder::Binder;
use super::classes::{Class, class, is_time, is_wide, own_words};
use crate::ir::{CastContext, Expr, ExprKind, Value};
use crate::values::mysql::json;
use crate::values::mysql::members;
use crate::values::mysql::moments;
use crate::{Result, Type};

impl Binder<'_> {
    /// A value of a known type as one of another, as MySQL converts it. What is assigned must mean a value of the type.
    pub(in crate::postgres) fn mysql_converted(
        &mut self,
        expr: Expr,
        to: &Type,
        context: CastContext,
        at: i32,
    ) -> Result<Expr> {
        let cast = |expr: Expr, ty: &Type| {
            let kind = ExprKind::Cast { arg: Box::new(expr), context: CastContext::Explicit };
            Expr::new(kind, ty.clone())
        };
        let assigned = context == CastContext::Assignment;
        let expr = self.mysql_wide_number(expr, at)?;
        let expr = if class(to) == Class::Bytes { self.mysql_bytes_in_charset(expr, at)? } else { expr };
        let expr = if class(to).is_number() { self.mysql_position(expr, at)? } else { expr };
        if expr.ty == *to {
            return Ok(expr);
        }
        if *to == Type::Json {
            return self.mysql_document(expr, context, at);
        }
        let expr = if class(to).is_number() || class(to) == Class::Moment { self.mysql_bare(expr, at)? } else { expr };
        let (from, wanted) = (class(&expr.ty), class(to));
        if from == Class::Truth && wanted.is_number() {
            let number = cast(expr, &Type::Int4);
            return Ok(if *to == Type::Int4 { number } else { cast(number, to) });
        }
        match (from, wanted) {
            (_, Class::Truth) => self.mysql_condition(expr, at),
            (Class::Text | Class::Bytes | Class::Other, Class::Integer | Class::Decimal | Class::Float) if assigned => {
                let text =
                    if from == Class::Text { expr } else { self.mysql_call_of("mysql_to_text", vec![(expr, at)])? };
                // By way of a decimal: 12.5 is 13.
                let number = if wanted == Class::Float { text } else { cast(text, &Type::Numeric(None)) };
                Ok(cast(number, to))
            }
            (
                Class::Text | Class::Bytes | Class::Other | Class::Moment,
                Class::Integer | Class::Decimal | Class::Float,
            ) => {
                let function = if wanted == Class::Float { "mysql_to_double" } else { "mysql_to_decimal" };
                let number = self.mysql_call_of(function, vec![(expr, at)])?;
                Ok(if number.ty == *to { number } else { cast(number, to) })
            }
            (Class::Bytes, Class::Bytes) => Ok(cast(expr, to)),
            (_, Class::Bytes) => self.mysql_call_of("mysql_to_bytes", vec![(expr, at)]),
            (Class::Text, Class::Text) => Ok(cast(expr, to)),
            (_, Class::Text) => {
                let text = self.mysql_call_of("mysql_to_text", vec![(expr, at)])?;
                Ok(if text.ty == *to {
                    text
                } else {
                    Expr::new(ExprKind::Cast { arg: Box::new(text), context }, to.clone())
                })
            }
            // A time is one of today, and of a moment there is its time.
            (Class::Moment, Class::Moment) if is_time(&expr.ty) != is_time(to) => {
                let function = match to.through_domains() {
                    Type::Date => "mysql_to_date",
                    Type::Timestamp(_) | Type::TimestampTz(_) => "mysql_to_datetime",
                    _ => "mysql_to_time",
                };
                let moment = self.mysql_call_of(function, vec![(expr, at)])?;
                Ok(if moment.ty == *to { moment } else { cast(moment, to) })
            }
            (Class::Moment, Class::Moment) => Ok(cast(expr, to)),
            (_, Class::Moment) if assigned && from == Class::Text => Ok(cast(expr, to)),
            (_, Class::Moment) => {
                let is_number = assigned && from.is_number();
                let function = match to.through_domains() {
                    Type::Date if is_number => "mysql_assigned_date",
                    Type::Timestamp(_) | Type::TimestampTz(_) if is_number => "mysql_assigned_datetime",
                    Type::Date => "mysql_to_date",
                    Type::Time(_) | Type::TimeTz(_) | Type::Interval(_) => "mysql_to_time",
                    _ => "mysql_to_datetime",
                };
                let moment = self.mysql_call_of(function, vec![(expr, at)])?;
                Ok(if moment.ty == *to { moment } else { cast(moment, to) })
            }
            _ => Ok(cast(expr, to)),
        }
    }

    /// A value as a document: a text is read, where it is cast anything else is a scalar, and nothing else is stored.
    fn mysql_document(&mut self, expr: Expr, context: CastContext, at: i32) -> Result<Expr> {
        let is_text = class(&expr.ty) == Class::Text;
        match (is_text, context) {
            (true, CastContext::Explicit) => {
                let (number, function) = (Expr::integer(1, Type::Int8), Expr::text("cast_as_json"));
                self.mysql_call_of("mysql_json_argument", vec![(expr, at), (number, -1), (function, -1)])
            }
            (true, _) => self.mysql_call_of("mysql_json", vec![(expr, at)]),
            (false, CastContext::Assignment) => self.mysql_call_of("mysql_json_refused", vec![(expr, at)]),
            (false, _) => {
                let expr = self.mysql_local(expr, at)?;
                self.mysql_call_of("mysql_json_scalar", vec![(expr, at)])
            }
        }
    }

    /// An instant as the session's clocks show it; anything else stays what it is.
    pub(super) fn mysql_local(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        match expr.ty.through_domains() {
            Type::TimestampTz(digits) => {
                let ty = Type::Timestamp(*digits);
                self.coerce(expr, &ty, CastContext::Explicit, at)
            }
            _ => Ok(expr),
        }
    }

    /// A document where a number or a moment is asked for: a text's own letters, 1 and 0 for truths.
    pub(super) fn mysql_bare(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        match *expr.ty.through_domains() == Type::Json {
            true => self.mysql_call_of("mysql_json_bare", vec![(expr, at)]),
            false => Ok(expr),
        }
    }

    /// A string as a value of a type: moments are read as MySQL reads them.
    pub(in crate::postgres) fn mysql_literal(
        &mut self,
        text: &str,
        to: &Type,
        context: CastContext,
        place: i32,
    ) -> Result<Expr> {
        if *to == Type::Json {
            return match (json::normal(text), context) {
                (Ok(document), _) => Ok(Expr::new(ExprKind::Literal(Value::Text(document)), Type::Json)),
                (Err(refused), CastContext::Explicit) => Err(refused.argument(1, "cast_as_json")),
                (Err(refused), _) => Err(refused.stored()),
            };
        }
        let zone = jiff::tz::TimeZone::UTC;
        // '1112' is eleven minutes to MySQL and half an hour to others.
        if let (Type::Interval(_), Some(micros)) = (to.through_domains(), moments::time_of_text(text)) {
            return self.literal(&moments::time_text(micros), to, context, place);
        }
        let refused = match self.literal(text, to, context, place) {
            Ok(value) => return Ok(value),
            Err(refused) => refused,
        };
        let read = match to.through_domains() {
            Type::Date => moments::parse(text, &zone).map(|moment| moment.date_text()),
            Type::Timestamp(_) => moments::parse(text, &zone).map(|moment| moment.stored()),
            Type::Time(_) => moments::parse_time(text, &zone).map(moments::time_text),
            Type::TimestampTz(_) => moments::parse(text, &zone).map(|moment| moment.stored()),
            Type::Int2 | Type::Int4 | Type::Int8 if context == CastContext::Assignment => {
                // 12.5 is 13.
                let number = self.literal(text, &Type::Numeric(None), context, place).map_err(|_| refused.clone())?;
                return self.coerce(number, to, context, place);
            }
            _ => None,
        };
        match read {
            Some(read) => self.literal(&read, to, context, place).map_err(|_| refused),
            None => Err(refused),
        }
    }

    /// A value as a column of one of MySQL's own types keeps it: the member of an ENUM or SET that it means, CHAR without
    /// blanks at its end, BINARY filled with zeros.
    pub(in crate::postgres) fn mysql_fitted(
        &mut self,
        expr: Expr,
        to: &Type,
        plain: &Type,
        context: CastContext,
        at: i32,
    ) -> Result<Expr> {
        let words = own_words(to).unwrap_or_default().to_owned();
        let head = words.split('(').next().unwrap_or_default();
        if is_wide(to) && head != "bit" {
            return self.mysql_wide(expr, plain, context, at);
        }
        let coerced = |binder: &mut Self, expr: Expr| match binder.try_coerce_plainly(expr, plain, context, at)? {
            Ok(value) | Err(value) => Ok(value),
        };
        match head {
            "char" => {
                let value = coerced(self, expr)?;
                if let ExprKind::Literal(Value::Text(text)) = &value.kind {
                    let kind = ExprKind::Literal(Value::Text(text.trim_end_matches(' ').to_owned()));
                    return Ok(Expr { kind, ..value });
                }
                let value = self.mysql_call_of("mysql_without_blanks", vec![(value, at)])?;
                Ok(Expr { ty: plain.clone(), ..value })
            }
            "binary" => {
                let value = coerced(self, expr)?;
                let length = words.trim_end_matches(')').split('(').nth(1).and_then(|length| length.parse().ok());
                let length: usize = length.unwrap_or(0);
                if let ExprKind::Literal(Value::Blob(bytes)) = &value.kind {
                    let mut bytes = bytes.clone();
                    bytes.resize(bytes.len().max(length), 0);
                    return Ok(Expr { kind: ExprKind::Literal(Value::Blob(bytes)), ..value });
                }
                let length = Expr::integer(i64::try_from(length).unwrap_or(i64::MAX), Type::Int8);
                self.mysql_call_of("mysql_filled", vec![(value, at), (length, -1)])
            }
            "bit" => {
                // The letters of a text are bytes, however many of them are digits.
                let is_text = class(&expr.ty) == Class::Text
                    || matches!(expr.kind, ExprKind::Literal(Value::Text(_))) && class(&expr.ty) == Class::Open;
                let expr = match is_text {
                    true => {
                        let text = self.settle(expr, at)?;
                        self.mysql_call_of("mysql_to_bytes", vec![(text, at)])?
                    }
                    false => expr,
                };
                let is_bytes = class(&expr.ty) == Class::Bytes && !matches!(expr.kind, ExprKind::Literal(_));
                let expr = if is_bytes { self.mysql_call_of("mysql_number_of_bytes", vec![(expr, at)])? } else { expr };
                if !is_wide(to) {
                    return coerced(self, expr);
                }
                // All its bits are those of the number, which may have a sign.
                let bits = match class(&expr.ty) {
                    Class::Integer => self.mysql_call_of("mysql_to_unsigned", vec![(expr, at)])?,
                    _ => expr,
                };
                self.mysql_wide(bits, plain, context, at)
            }
            "time" => {
                let digits = words.trim_end_matches(')').split('(').nth(1).and_then(|digits| digits.parse().ok());
                let digits: i64 = digits.unwrap_or(0);
                let value = self.settle(expr, at)?;
                self.mysql_call_of("mysql_kept_time", vec![(value, at), (Expr::integer(digits, Type::Int8), -1)])
            }
            "double" | "float" => {
                let value = coerced(self, expr)?;
                let scale = crate::mysql::types::scaled(&words).map_or(0, |(_, scale)| scale);
                let digits = Expr::integer(scale.into(), Type::Int8);
                let rounded = self.mysql_call_of("mysql_fraction", vec![(value, at), (digits, -1)])?;
                coerced(self, rounded)
            }
            "year" => {
                let year = self.mysql_year(expr, at)?;
                coerced(self, year)
            }
            _ => self.mysql_member(expr, head == "enum", &words, at),
        }
    }

    /// A value as a YEAR means it: one or two digits are a year from 1970 to 2069.
    pub(super) fn mysql_year(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        match &expr.kind {
            ExprKind::Literal(Value::Text(text)) if class(&expr.ty) == Class::Open => {
                return Ok(match moments::year_of_text(text) {
                    Some(year) => Expr::integer(year, Type::Int8),
                    None => expr,
                });
            }
            ExprKind::Literal(Value::Integer(number)) => {
                return Ok(Expr::integer(moments::year_of_number(*number), Type::Int8));
            }
            _ => {}
        }
        let expr = self.settle(expr, at)?;
        match class(&expr.ty) {
            Class::Integer | Class::Decimal | Class::Float if own_words(&expr.ty) != Some("year") => {
                let number = self.coerce(expr, &Type::Int8, CastContext::Assignment, at)?;
                self.mysql_call_of("mysql_year_of_number", vec![(number, at)])
            }
            Class::Text => self.mysql_call_of("mysql_year_of_text", vec![(expr, at)]),
            // A date is its year.
            Class::Moment if !is_time(&expr.ty) => self.mysql_call_of("year", vec![(expr, at)]),
            _ => Ok(expr),
        }
    }

    /// The member of an ENUM or SET that a value means. What means none stays what it is, for the type's own check.
    pub(super) fn mysql_member(&mut self, expr: Expr, is_enum: bool, words: &str, at: i32) -> Result<Expr> {
        let expr = self.settle(expr, at)?;
        if let ExprKind::Literal(Value::Text(text)) = &expr.kind {
            let labels = members::labels(words);
            let found = match is_enum {
                true => members::enum_of_text(&labels, text).map(str::to_owned),
                false => members::set_of_text(&labels, text),
            };
            return Ok(Expr::text(found.unwrap_or_else(|| text.clone())));
        }
        let by_number = class(&expr.ty).is_number();
        let value = match by_number {
            true => self.coerce(expr, &Type::Int8, CastContext::Implicit, at)?,
            false => self.coerce(expr, &Type::Text, CastContext::Implicit, at)?,
        };
        let function = match (is_enum, by_number) {
            (true, true) => "mysql_enum_of_number",
            (true, false) => "mysql_enum_of_text",
            (false, true) => "mysql_set_of_number",
            (false, false) => "mysql_set_of_text",
        };
        self.mysql_call_of(function, vec![(value, at), (Expr::text(words), -1)])
    }
}
