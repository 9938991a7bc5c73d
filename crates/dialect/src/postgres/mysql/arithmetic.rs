//! Arithmetic: any value as a number, and what its operators make of two.
//!
//! Source: MySQL 8.0 Reference Manual, 14.3 "Type Conversion in Expression Evaluation", 14.6.1 "Arithmetic Operators".

use super::super::binder::Binder;
use super::Placed;
use super::classes::{Class, class, is_of_seconds, position_function};
use crate::ir::{CastContext, Expr, ExprKind, Value};
use crate::{Result, Type};

/// The number that bytes are: a hexadecimal literal beside a number.
pub(super) fn number_of_bytes(bytes: &[u8]) -> Expr {
    let value = bytes.iter().rev().take(8).rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    match i64::try_from(value) {
        Ok(value) => Expr::integer(value, Type::Int8),
        Err(_) => Expr::new(ExprKind::Literal(Value::Text(value.to_string())), Type::Numeric(None)),
    }
}

/// The number that a text begins with, 0 without one.
pub(super) fn number_of(text: &str) -> Expr {
    let text = text.trim_start();
    let mut end = 0;
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    if matches!(bytes.first(), Some(b'+' | b'-')) {
        end = 1;
    }
    let whole = digits(end);
    let mut real = false;
    let mut at = whole;
    if bytes.get(at) == Some(&b'.') && (whole > end || bytes.get(at + 1).is_some_and(u8::is_ascii_digit)) {
        at = digits(at + 1);
        real = true;
    }
    if at > end && matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let behind = digits(at + 1 + sign);
        if behind > at + 1 + sign {
            at = behind;
            real = true;
        }
    }
    let found = &text[..at];
    let digits = found.trim_start_matches('+');
    match digits.parse::<i64>() {
        Ok(value) if !real => Expr::integer(value, Type::Int8),
        _ if digits.parse::<u64>().is_ok() => {
            Expr::new(ExprKind::Literal(Value::Text(digits.trim_start_matches('0').to_owned())), Type::Numeric(None))
        }
        _ => Expr::new(ExprKind::Literal(Value::Real(found.parse().unwrap_or(0.0))), Type::Float8),
    }
}

impl Binder<'_> {
    /// What is a number where one is wanted: the index of an ENUM, the bits of a SET, a hexadecimal literal; anything else
    /// stays what it is.
    pub(super) fn mysql_position(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        if let ExprKind::Literal(Value::Blob(bytes)) = &expr.kind {
            return Ok(number_of_bytes(bytes));
        }
        match position_function(&expr.ty) {
            Some((function, words)) => {
                let words = Expr::text(words);
                self.mysql_call_of(function, vec![(expr, at), (words, -1)])
            }
            None => Ok(expr),
        }
    }

    /// The same where a column wants a number.
    pub(in crate::postgres) fn mysql_position_in(&mut self, expr: Expr, column: &Type, at: i32) -> Result<Expr> {
        if class(column).is_number() { self.mysql_position(expr, at) } else { Ok(expr) }
    }

    /// A value as a number: an integer of 64 bits, a decimal or a float.
    pub(in crate::postgres) fn mysql_number(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        let expr = self.mysql_position(expr, at)?;
        let expr = self.mysql_bare(expr, at)?;
        let expr = self.mysql_wide_number(expr, at)?;
        match class(&expr.ty) {
            Class::Truth => self.coerce(expr, &Type::Int8, CastContext::Implicit, at),
            Class::Integer => self.coerce(expr, &Type::Int8, CastContext::Implicit, at),
            Class::Decimal => self.coerce(expr, &Type::Numeric(None), CastContext::Implicit, at),
            Class::Float => self.coerce(expr, &Type::Float8, CastContext::Implicit, at),
            Class::Open => match &expr.kind {
                ExprKind::Literal(Value::Text(text)) => Ok(number_of(text)),
                ExprKind::Literal(Value::Null) => Ok(Expr::null(Type::Int8)),
                _ => self.decide(expr, &Type::Float8, CastContext::Implicit, at),
            },
            Class::Moment if is_of_seconds(&expr.ty) => self.mysql_call_of("mysql_to_integer", vec![(expr, at)]),
            Class::Moment => self.mysql_call_of("mysql_to_decimal", vec![(expr, at)]),
            Class::Text | Class::Bytes | Class::Other => self.mysql_call_of("mysql_to_double", vec![(expr, at)]),
        }
    }

    /// `+`, `-`, `*`, `/`, `%` and the sign.
    pub(in crate::postgres) fn mysql_arithmetic(
        &mut self,
        name: &str,
        operands: Vec<Placed>,
        place: i32,
    ) -> Result<Expr> {
        let mut numbers = Vec::with_capacity(2);
        // What a variable that nobody has set is, the other operand says.
        let beside = match operands.as_slice() {
            [(one, _), (other, _)] => {
                [one, other].into_iter().map(|operand| class(&operand.ty)).find(|class| class.is_number())
            }
            _ => None,
        };
        let unset = match beside {
            Some(Class::Truth | Class::Integer) => Type::Int8,
            Some(Class::Decimal) => Type::Numeric(None),
            _ => Type::Float8,
        };
        for (operand, at) in operands {
            let operand = self.mysql_unset(&operand, &unset, at)?.unwrap_or(operand);
            // A string is a double.
            let operand = match &operand.kind {
                ExprKind::Literal(Value::Text(text)) if operand.ty == Type::Unknown => {
                    let value = crate::values::mysql::numbers::double_of_text(text);
                    Expr::new(ExprKind::Literal(Value::Real(value)), Type::Float8)
                }
                _ => operand,
            };
            numbers.push((self.mysql_number(operand, at)?, at));
        }
        let whole = |number: &Expr| class(&number.ty) == Class::Integer || self.is_unsigned(number);
        if matches!(name, "+" | "-" | "*")
            && numbers.iter().all(|(number, _)| whole(number))
            && numbers.iter().any(|(number, _)| self.is_unsigned(number))
            && numbers.len() == 2
            && let (Some(right), Some(left)) = (numbers.pop(), numbers.pop())
        {
            return self.mysql_unsigned_arithmetic(name, left, right, place);
        }
        let is = |wanted: Class| numbers.iter().any(|(number, _)| class(&number.ty) == wanted);
        let mut ty = if is(Class::Float) {
            Type::Float8
        } else if is(Class::Decimal) {
            Type::Numeric(None)
        } else {
            Type::Int8
        };
        if name == "/" && ty == Type::Int8 {
            ty = Type::Numeric(None);
        }
        let is_decimal = |number: &Expr| {
            matches!(number.kind, ExprKind::Literal(Value::Text(_))) && class(&number.ty) == Class::Decimal
        };
        self.effects.tells_digits |= numbers.iter().any(|(number, _)| is_decimal(number));
        // Where values alone tell how many digits there are, each has those that it shows.
        let told = numbers.iter().all(|(number, _)| self.mysql_scale(number).is_some());
        let mut converted = Vec::with_capacity(2);
        for (number, at) in numbers {
            let number = if told { number } else { self.mysql_rounded(number) };
            converted.push((self.coerce(number, &ty, CastContext::Implicit, at)?, at));
        }
        if matches!(name, "/" | "%")
            && let Some(divisor) = converted.pop()
        {
            converted.push(self.mysql_divisor(divisor)?);
        }
        match (name, converted.pop(), converted.pop()) {
            ("/", Some(right), Some(left)) if ty == Type::Numeric(None) => {
                self.mysql_call_of(if told { "mysql_divide" } else { "mysql_rounded_divide" }, vec![left, right])
            }
            ("/", Some(right), Some(left)) => self.mysql_call_of("mysql_divide_double", vec![left, right]),
            ("%", Some(right), Some(left)) => match &right.0.kind {
                ExprKind::Literal(Value::Integer(1..)) => self.built_in_operator(name, vec![left, right], place),
                _ => self.mysql_call_of("mysql_modulo", vec![left, right]),
            },
            (_, Some(right), Some(left)) => self.built_in_operator(name, vec![left, right], place),
            (_, Some(only), None) => {
                // What has no sign is a BIGINT when it is given one.
                let signs = name == "-" && self.is_unsigned(&only.0) && !matches!(only.0.kind, ExprKind::Literal(_));
                let value = self.built_in_operator(name, vec![only], place)?;
                match signs && class(&value.ty) == Class::Decimal {
                    true => self.coerce(value, &Type::Int8, CastContext::Assignment, place),
                    false => Ok(value),
                }
            }
            _ => Err(crate::Error::internal("an operator without operands")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_number_that_it_begins_with() {
        let integer = |value| Expr::integer(value, Type::Int8);
        let real = |value| Expr::new(ExprKind::Literal(Value::Real(value)), Type::Float8);
        assert_eq!(number_of("12"), integer(12));
        assert_eq!(number_of(" -7abc"), integer(-7));
        assert_eq!(number_of("1.5e1x"), real(15.0));
        assert_eq!(number_of(".5"), real(0.5));
        assert_eq!(number_of("1e"), integer(1));
        assert_eq!(number_of("abc"), real(0.0));
        assert_eq!(number_of(""), real(0.0));
        let whole = |digits: &str| Expr::new(ExprKind::Literal(Value::Text(digits.to_owned())), Type::Numeric(None));
        assert_eq!(number_of("+018446744073709551615 and more"), whole("18446744073709551615"));
    }
}
