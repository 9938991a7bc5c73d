//! MySQL's rules, where they differ from PostgreSQL's: any value becomes any other, numbers and texts are compared as
//! numbers, a condition is a number that is not zero, functions are MySQL's own.
//!
//! Source: MySQL 8.0 Reference Manual, 14.3 "Type Conversion in Expression Evaluation", 14.4 "Operators", 13.2.15.

use pg_query::protobuf as pg;

use super::binder::{Binder, Clause};
use super::coerce::{base, same};
use super::resolve::{Candidate, Miss, choose, instantiate};
use super::types;
use crate::functions::{self, FunctionKind};
use crate::ir::{CastContext, CompareOp, Expr, ExprKind, Value};
use crate::values::mysql::moments::Unit;
use crate::{Condition, Language, Result, Type};

/// An expression with its place.
type Placed = (Expr, i32);

/// What a value is to MySQL's rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Class {
    Truth,
    Integer,
    Decimal,
    Float,
    Text,
    Bytes,
    Moment,
    /// A literal or parameter of no type yet.
    Open,
    Other,
}

fn class(ty: &Type) -> Class {
    match ty.through_domains() {
        Type::Bool => Class::Truth,
        Type::Unknown => Class::Open,
        Type::Float4 | Type::Float8 => Class::Float,
        ty if ty.is_integer() => Class::Integer,
        ty if ty.is_decimal() => Class::Decimal,
        Type::Bytea | Type::Byte | Type::Blob => Class::Bytes,
        Type::Date | Type::Time(_) | Type::TimeTz(_) | Type::Timestamp(_) | Type::TimestampTz(_) => Class::Moment,
        ty if ty.is_text() => Class::Text,
        _ => Class::Other,
    }
}

impl Class {
    const fn is_number(self) -> bool {
        matches!(self, Self::Truth | Self::Integer | Self::Decimal | Self::Float)
    }
}

/// The number that a text begins with, 0 without one.
fn number_of(text: &str) -> Expr {
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
    match found.trim_start_matches('+').parse::<i64>() {
        Ok(value) if !real => Expr::integer(value, Type::Int8),
        _ => Expr::new(ExprKind::Literal(Value::Real(found.parse().unwrap_or(0.0))), Type::Float8),
    }
}

impl Binder<'_> {
    /// What is bound follows MySQL's rules.
    pub(super) fn is_mysql(&self) -> bool {
        self.language == Language::Mysql
    }

    /// A call of one of MySQL's functions that the binder itself makes.
    fn mysql_call_of(&mut self, name: &str, args: Vec<Placed>) -> Result<Expr> {
        match self.mysql_candidate(name, &args, |kind| kind == FunctionKind::Scalar) {
            Some(candidate) => self.mysql_called(candidate, args),
            None => Err(self.unsupported(format!("the function {name}"), -1)),
        }
    }

    /// There is no column of this name where an expression looks for it.
    pub(super) fn mysql_unknown_column(&self, name: &str) -> crate::Error {
        let place = match self.scopes.last().map(|scope| scope.clause) {
            Some(Clause::Where) => "where clause",
            Some(Clause::Join) => "on clause",
            Some(Clause::GroupBy) => "group statement",
            Some(Clause::Having) => "having clause",
            Some(Clause::OrderBy) => "order clause",
            Some(Clause::Check) => "check constraint",
            Some(Clause::Generated) => "generated column function",
            _ => "field list",
        };
        let message = format!("Unknown column '{name}' in '{place}'");
        crate::Error::new(Condition::UndefinedColumn, message).with_mysql(1054, "42S22")
    }

    /// The same for what only the binder calls.
    pub(super) fn mysql_internal_call(&mut self, name: &str, args: Vec<Placed>) -> Result<Expr> {
        self.mysql_call_of(name, args)
    }

    /// The row that a call means: one of so many arguments, the one whose types fit best where there are several.
    fn mysql_candidate(&self, name: &str, args: &[Placed], wanted: impl Fn(FunctionKind) -> bool) -> Option<Candidate> {
        let inputs: Vec<Type> = args.iter().map(|(arg, _)| base(&arg.ty)).collect();
        let rows = functions::named(Language::Mysql, name).filter(|row| wanted(row.kind));
        let mut all: Vec<Candidate> = rows.filter_map(|row| instantiate(row, &inputs)).collect();
        if all.len() > 1
            && let Ok(found) = choose(all.clone(), &inputs, false, &|from, to| self.becomes(from, to))
        {
            return Some(found);
        }
        if all.is_empty() { None } else { Some(all.swap_remove(0)) }
    }

    /// The call, its arguments made what the row takes.
    fn mysql_called(&mut self, candidate: Candidate, args: Vec<Placed>) -> Result<Expr> {
        let mut converted = Vec::with_capacity(args.len());
        for ((arg, at), wanted) in args.into_iter().zip(&candidate.args) {
            converted.push((self.mysql_argument(arg, wanted, at)?, at));
        }
        self.call(candidate, converted)
    }

    /// An argument as a function takes it.
    pub(super) fn mysql_argument(&mut self, arg: Expr, wanted: &Type, at: i32) -> Result<Expr> {
        if *wanted == Type::Unknown {
            return self.settle(arg, at);
        }
        if class(&arg.ty) == Class::Open && class(wanted).is_number() {
            let arg = self.mysql_number(arg, at)?;
            return self.coerce(arg, wanted, CastContext::Implicit, at);
        }
        self.coerce(arg, wanted, CastContext::Implicit, at)
    }

    /// A call that is written.
    pub(super) fn mysql_function_call(&mut self, call: &pg::FuncCall) -> Result<Expr> {
        let parts = super::names::strings(&call.funcname);
        let Some(name) = parts.last().map(|name| (*name).to_owned()) else {
            return Err(crate::Error::internal("a call without a name"));
        };
        let rows = || functions::named(Language::Mysql, &name);
        let is_grouped = rows().any(|row| matches!(row.kind, FunctionKind::Aggregate | FunctionKind::Window));
        if parts.len() == 1 && (is_grouped || call.over.is_some()) {
            return self.grouped_call(&name, call, call.over.as_deref());
        }
        let mut args = Vec::with_capacity(call.args.len());
        for arg in self.placed_all(&call.args)? {
            args.push(arg);
        }
        // A date and hours are a moment.
        let is_moment = match args.as_slice() {
            [(date, _), _, (unit, _), _] if name == "mysql_date_add" && base(&date.ty) == Type::Date => {
                match &unit.kind {
                    ExprKind::Literal(Value::Text(unit)) => Unit::named(unit).is_some_and(Unit::is_of_time),
                    _ => false,
                }
            }
            _ => false,
        };
        let called = if is_moment { "mysql_moment_add" } else { name.as_str() };
        if parts.len() == 1
            && let Some(candidate) = self.mysql_candidate(called, &args, |kind| kind == FunctionKind::Scalar)
        {
            if candidate.function.volatility == functions::Volatility::Volatile {
                self.effects.volatile = true;
            }
            return self.mysql_called(candidate, args);
        }
        if parts.len() == 1 && rows().next().is_some() {
            let message = format!("Incorrect parameter count in the call to native function '{name}'");
            return Err(self.error(Condition::UndefinedFunction, message, call.location));
        }
        let shown = match parts.as_slice() {
            [name] => format!("{}.{name}", self.context.database),
            parts => parts.join("."),
        };
        Err(self.error(Condition::UndefinedFunction, format!("FUNCTION {shown} does not exist"), call.location))
    }

    /// The row of an aggregate or window function, its arguments converted.
    pub(super) fn mysql_grouped(
        &mut self,
        name: &str,
        args: Vec<Placed>,
        windowed: bool,
    ) -> Result<std::result::Result<(Candidate, Vec<Placed>), Miss>> {
        let wanted = |kind| kind == FunctionKind::Aggregate || (windowed && kind == FunctionKind::Window);
        let Some(candidate) = self.mysql_candidate(name, &args, wanted) else { return Ok(Err(Miss::None)) };
        let mut converted = Vec::with_capacity(args.len());
        for ((arg, at), wanted) in args.into_iter().zip(&candidate.args) {
            converted.push((self.mysql_argument(arg, wanted, at)?, at));
        }
        Ok(Ok((candidate, converted)))
    }

    /// A value as a number: an integer of 64 bits, a decimal or a float.
    pub(super) fn mysql_number(&mut self, expr: Expr, at: i32) -> Result<Expr> {
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
            Class::Moment => self.mysql_call_of("mysql_to_decimal", vec![(expr, at)]),
            Class::Text | Class::Bytes | Class::Other => self.mysql_call_of("mysql_to_double", vec![(expr, at)]),
        }
    }

    /// `+`, `-`, `*`, `/`, `%` and the sign.
    pub(super) fn mysql_arithmetic(&mut self, name: &str, operands: Vec<Placed>, place: i32) -> Result<Expr> {
        let mut numbers = Vec::with_capacity(2);
        for (operand, at) in operands {
            numbers.push((self.mysql_number(operand, at)?, at));
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
        let mut converted = Vec::with_capacity(2);
        for (number, at) in numbers {
            converted.push((self.coerce(number, &ty, CastContext::Implicit, at)?, at));
        }
        match (name, converted.pop(), converted.pop()) {
            ("/", Some(right), Some(left)) if ty == Type::Numeric(None) => {
                self.mysql_call_of("mysql_divide", vec![left, right])
            }
            ("/" | "%", Some((right, at)), Some(left)) => {
                let zero = match ty {
                    Type::Float8 => Expr::new(ExprKind::Literal(Value::Real(0.0)), ty.clone()),
                    Type::Int8 => Expr::integer(0, ty.clone()),
                    _ => Expr::new(ExprKind::Literal(Value::Text("0".to_owned())), ty.clone()),
                };
                if name == "%" && ty == Type::Float8 {
                    return self.mysql_call_of("mysql_modulo", vec![left, (right, at)]);
                }
                let right = Expr::new(ExprKind::NullIf(Box::new(right), Box::new(zero)), ty);
                self.built_in_operator(name, vec![left, (right, at)], place)
            }
            (_, Some(right), Some(left)) => self.built_in_operator(name, vec![left, right], place),
            (_, Some(only), None) => self.built_in_operator(name, vec![only], place),
            _ => Err(crate::Error::internal("an operator without operands")),
        }
    }

    /// Two values in what they are compared as.
    pub(super) fn mysql_comparable(
        &mut self,
        (left, left_at): Placed,
        (right, right_at): Placed,
    ) -> Result<(Placed, Placed)> {
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
            (Class::Moment, Class::Text) => {
                let moment = self.mysql_call_of("mysql_to_datetime", vec![(right, right_at)])?;
                let left = self.coerce(left, &Type::Timestamp(None), CastContext::Explicit, left_at)?;
                (left, moment)
            }
            (Class::Text, Class::Moment) => {
                let moment = self.mysql_call_of("mysql_to_datetime", vec![(left, left_at)])?;
                let right = self.coerce(right, &Type::Timestamp(None), CastContext::Explicit, right_at)?;
                (moment, right)
            }
            (Class::Bytes, Class::Text | Class::Open) => {
                let right = self.coerce(right, &Type::Bytea, CastContext::Implicit, right_at)?;
                (left, right)
            }
            (Class::Text | Class::Open, Class::Bytes) => {
                let left = self.coerce(left, &Type::Bytea, CastContext::Implicit, left_at)?;
                (left, right)
            }
            // A number beside a date is a date.
            (Class::Moment, b) if b.is_number() && !matches!(left.ty.through_domains(), Type::Time(_)) => {
                let moment = self.mysql_call_of("mysql_to_datetime", vec![(right, right_at)])?;
                (self.coerce(left, &Type::Timestamp(None), CastContext::Explicit, left_at)?, moment)
            }
            (a, Class::Moment) if a.is_number() && !matches!(right.ty.through_domains(), Type::Time(_)) => {
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

    /// A literal or parameter beside a number.
    fn mysql_beside(&mut self, open: Expr, number: &Expr, at: i32) -> Result<Expr> {
        match &open.kind {
            ExprKind::Literal(Value::Text(text)) => Ok(number_of(text)),
            _ => self.decide(open, &base(&number.ty), CastContext::Implicit, at),
        }
    }

    /// A condition.
    pub(super) fn mysql_condition(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        if class(&expr.ty) == Class::Truth {
            return self.coerce(expr, &Type::Bool, CastContext::Implicit, at);
        }
        let number = match class(&expr.ty) {
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

    /// The type that several values have in common.
    pub(super) fn mysql_common_type(&self, members: &[(&Type, i32)]) -> Type {
        let mut common: Option<Type> = None;
        for (ty, _) in members {
            if class(ty) == Class::Open {
                continue;
            }
            let Some(current) = common.take() else {
                common = Some((*ty).clone());
                continue;
            };
            common = Some(if same(&current, ty) { widest(current, ty) } else { together(&current, ty) });
        }
        common.unwrap_or(Type::Text)
    }

    /// A value of a known type as one of another, as MySQL converts it. What is assigned must mean a value of the type.
    pub(super) fn mysql_converted(&mut self, expr: Expr, to: &Type, context: CastContext, at: i32) -> Result<Expr> {
        let cast = |expr: Expr, ty: &Type| {
            let kind = ExprKind::Cast { arg: Box::new(expr), context: CastContext::Explicit };
            Expr::new(kind, ty.clone())
        };
        let assigned = context == CastContext::Assignment;
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
            (Class::Moment, Class::Moment) => Ok(cast(expr, to)),
            (_, Class::Moment) if assigned && from == Class::Text => Ok(cast(expr, to)),
            (_, Class::Moment) => {
                let function = match to.through_domains() {
                    Type::Date => "mysql_to_date",
                    Type::Time(_) | Type::TimeTz(_) => "mysql_to_time",
                    _ => "mysql_to_datetime",
                };
                let moment = self.mysql_call_of(function, vec![(expr, at)])?;
                Ok(if moment.ty == *to { moment } else { cast(moment, to) })
            }
            _ => Ok(cast(expr, to)),
        }
    }

    /// A string as a value of a type: moments are read as MySQL reads them.
    pub(super) fn mysql_literal(&mut self, text: &str, to: &Type, context: CastContext, place: i32) -> Result<Expr> {
        use crate::values::mysql::moments;
        let refused = match self.literal(text, to, context, place) {
            Ok(value) => return Ok(value),
            Err(refused) => refused,
        };
        let zone = jiff::tz::TimeZone::UTC;
        let read = match to.through_domains() {
            Type::Date => moments::parse(text, &zone).map(|moment| moment.date_text()),
            Type::Timestamp(_) => moments::parse(text, &zone).map(|moment| moment.stored()),
            Type::Time(_) => moments::parse_time(text, &zone).map(moments::time_text),
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

    /// LIKE.
    pub(super) fn mysql_like(
        &mut self,
        negated: bool,
        text: Placed,
        pattern: Placed,
        escape: Option<Placed>,
    ) -> Result<Expr> {
        let by_bytes = [&text.0.ty, &pattern.0.ty].into_iter().any(|ty| class(ty) == Class::Bytes);
        let escape = match escape {
            Some(escape) => escape,
            None => (Expr::text("\\"), -1),
        };
        let mut args = Vec::with_capacity(3);
        for (arg, at) in [text, pattern, escape] {
            args.push((self.coerce(arg, &Type::Text, CastContext::Implicit, at)?, at));
        }
        let name = if by_bytes { "mysql_like_binary" } else { "mysql_like" };
        let found = self.mysql_call_of(name, args)?;
        Ok(if negated { Expr::new(ExprKind::Not(Box::new(found)), Type::Bool) } else { found })
    }
}

/// The longer of two types that differ in their modifiers.
fn widest(a: Type, b: &Type) -> Type {
    if a == *b { a } else { base(&a) }
}

/// The type in which two of different kinds meet.
fn together(a: &Type, b: &Type) -> Type {
    let (of_a, of_b) = (class(a), class(b));
    if of_a.is_number() && of_b.is_number() {
        return match (of_a, of_b) {
            (Class::Float, _) | (_, Class::Float) => Type::Float8,
            (Class::Decimal, _) | (_, Class::Decimal) => Type::Numeric(None),
            _ => Type::Int8,
        };
    }
    match (of_a, of_b) {
        (Class::Bytes, Class::Bytes) => Type::Bytea,
        (Class::Moment, Class::Moment) => match (a.through_domains(), b.through_domains()) {
            (Type::Time(_), Type::Time(_)) => Type::Time(None),
            _ => Type::Timestamp(None),
        },
        (Class::Other, Class::Other) => types::import(a),
        (Class::Bytes, _) | (_, Class::Bytes) => Type::Bytea,
        _ => Type::Text,
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
    }
}
