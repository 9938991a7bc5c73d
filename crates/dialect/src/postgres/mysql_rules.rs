//! MySQL's rules, where they differ from PostgreSQL's: any value becomes any other, numbers and texts are compared as
//! numbers, a condition is a number that is not zero, functions are MySQL's own.
//!
//! Source: MySQL 8.0 Reference Manual, 14.3 "Type Conversion in Expression Evaluation", 14.4 "Operators", 13.2.15.

use pg_query::protobuf as pg;

use super::binder::{Binder, BoundQuery, Clause};
use super::coerce::{base, same};
use super::mysql_numbers::is_unsigned;
use super::resolve::{Candidate, Miss, choose, instantiate};
use super::types;
use crate::functions::{self, FunctionKind};
use crate::ir::{Body, CastContext, CompareOp, Expr, ExprKind, RelId, Value};
use crate::schema::{Column, Relation};
use crate::types::NumericModifier;
use crate::values::mysql::members;
use crate::values::mysql::moments::{self, Unit};
use crate::{Condition, Language, Result, Type};

/// An expression with its place.
pub(super) type Placed = (Expr, i32);

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
        Type::Date
        | Type::Time(_)
        | Type::TimeTz(_)
        | Type::Interval(_)
        | Type::Timestamp(_)
        | Type::TimestampTz(_) => Class::Moment,
        ty if ty.is_text() => Class::Text,
        _ => Class::Other,
    }
}

impl Class {
    const fn is_number(self) -> bool {
        matches!(self, Self::Truth | Self::Integer | Self::Decimal | Self::Float)
    }
}

/// MySQL's own words for a type, where it is one of MySQL's own.
pub(super) fn own_words(ty: &Type) -> Option<&str> {
    match ty {
        Type::User(user) if user.namespace == crate::mysql::types::SCHEMA && user.domain().is_some() => {
            Some(&user.name)
        }
        _ => None,
    }
}

/// The function that says which number a value of ENUM or SET is, for types that are one of these.
fn position_function(ty: &Type) -> Option<(&'static str, &str)> {
    let words = own_words(ty)?;
    let starts = |head: &str| words.get(..head.len()).is_some_and(|found| found.eq_ignore_ascii_case(head));
    match words {
        words if starts("enum(") => Some(("mysql_enum_number", words)),
        words if starts("set(") => Some(("mysql_set_number", words)),
        _ => None,
    }
}

/// A time, from -838:59:59 to 838:59:59: an interval. Tables that others have made have times of the day.
fn is_time(ty: &Type) -> bool {
    matches!(ty.through_domains(), Type::Time(_) | Type::TimeTz(_) | Type::Interval(_))
}

/// A date or a moment without a fraction of a second: a whole number beside numbers.
fn is_of_seconds(ty: &Type) -> bool {
    own_words(ty) == Some("time")
        || matches!(ty.through_domains(), Type::Date | Type::Timestamp(Some(0)) | Type::TimestampTz(Some(0)))
}

/// What is stored of a value follows from the type's own words.
pub(super) fn is_fitted(ty: &Type) -> bool {
    own_words(ty).is_some_and(|words| {
        ["enum(", "set(", "char(", "binary(", "bit(", "time("].iter().any(|head| words.starts_with(head))
            || words == "time"
    })
}

/// Values of the type are sorted by something else than what they are shown as.
pub(super) fn sorts_otherwise(ty: &Type) -> bool {
    *ty == Type::Json || position_function(ty).is_some()
}

/// The number that bytes are: a hexadecimal literal beside a number.
fn number_of_bytes(bytes: &[u8]) -> Expr {
    let value = bytes.iter().rev().take(8).rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    match i64::try_from(value) {
        Ok(value) => Expr::integer(value, Type::Int8),
        Err(_) => Expr::new(ExprKind::Literal(Value::Text(value.to_string())), Type::Numeric(None)),
    }
}

/// Functions that take the number of anything.
const OF_NUMBERS: &[&str] = &[
    "mysql_to_integer",
    "mysql_to_unsigned",
    "mysql_to_decimal",
    "mysql_to_double",
    "mysql_truth",
    "mysql_bit_and",
    "mysql_bit_or",
    "mysql_bit_xor",
    "mysql_shift_left",
    "mysql_shift_right",
    "mysql_bit_not",
    "bit_count",
    "bit_and",
    "bit_or",
    "bit_xor",
    "make_set",
    "export_set",
];
/// Those of them that MySQL does byte by byte where strings of bytes are given.
const OF_BITS: &[&str] = &[
    "mysql_bit_and",
    "mysql_bit_or",
    "mysql_bit_xor",
    "mysql_shift_left",
    "mysql_shift_right",
    "mysql_bit_not",
    "bit_and",
    "bit_or",
    "bit_xor",
];

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

    /// What `sql_mode` says of the statement.
    pub(super) fn mysql_modes(&self) -> crate::mysql::Modes {
        self.source.map(super::parse::Parsed::modes).unwrap_or_default()
    }

    /// A call of one of MySQL's functions that the binder itself makes.
    pub(super) fn mysql_call_of(&mut self, name: &str, args: Vec<Placed>) -> Result<Expr> {
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
        if all.len() > 1 {
            // One of MySQL's own types is what it is over.
            let plain: Vec<Type> = inputs.iter().map(|ty| base(&ty.without_domains())).collect();
            if let Ok(found) = choose(all.clone(), &plain, false, &|from, to| self.becomes(from, to)) {
                return Some(found);
            }
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
        let arg = if class(wanted).is_number() { arg } else { self.mysql_rounded(arg) };
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
        let meant = self.mysql_user_variable(&name, &mut args)?;
        if matches!(name.as_str(), "mysql_regexp" | "regexp_like" | "regexp_instr" | "regexp_substr" | "regexp_replace")
            && args.iter().any(|(arg, _)| class(&arg.ty) == Class::Bytes)
        {
            let message = format!(
                "Character set 'binary' cannot be used in conjunction with 'utf8mb4_0900_ai_ci' in call to {}.",
                name.trim_start_matches("mysql_")
            );
            return Err(self.error(Condition::DatatypeMismatch, message, -1).with_mysql(3995, "HY000"));
        }
        if OF_NUMBERS.contains(&name.as_str()) {
            args = self.mysql_numbers(&name, args)?;
        }
        if name == "mysql_integer_divide"
            && let Some((divisor, at)) = args.pop()
        {
            let divisor = self.coerce(divisor, &Type::Numeric(None), CastContext::Implicit, at)?;
            args.push(self.mysql_divisor((divisor, at))?);
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
        let is_whole = match args.as_slice() {
            [(moment, _)] if name == "unix_timestamp" => match &moment.kind {
                ExprKind::Literal(Value::Text(text)) => !text.contains('.'),
                _ => is_of_seconds(&moment.ty),
            },
            _ => false,
        };
        let called = match meant.as_str() {
            _ if is_moment => "mysql_moment_add",
            _ if is_whole => "mysql_unix_seconds",
            meant => meant,
        };
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

    /// The function behind a variable of the user's, which is of the kind of what it was given.
    fn mysql_user_variable(&mut self, called: &str, args: &mut Vec<Placed>) -> Result<String> {
        let same = || Ok(called.to_owned());
        let variable = match args.first().map(|(name, _)| &name.kind) {
            Some(ExprKind::Literal(Value::Text(name))) => name.clone(),
            _ => return same(),
        };
        match called {
            "mysql_set_user_variable" => {
                let Some((value, at)) = args.pop() else { return same() };
                let value = self.settle(value, at)?;
                let kind = match class(&value.ty) {
                    _ if matches!(value.kind, ExprKind::Literal(Value::Null)) => "text",
                    Class::Truth | Class::Integer if !is_unsigned(&value) => "integer",
                    Class::Truth | Class::Integer | Class::Decimal if is_unsigned(&value) => "unsigned",
                    Class::Decimal => "decimal",
                    Class::Float => "double",
                    Class::Bytes => "bytes",
                    _ => "text",
                };
                args.extend([(value, at), (Expr::text(kind), -1)]);
                self.user_kinds.insert(variable, kind);
                same()
            }
            "mysql_user_variable" => {
                let known = self.user_kinds.get(&variable).copied();
                let kind = known.or_else(|| crate::mysql::user_kind(&self.context.user_kinds, &variable));
                Ok(match kind {
                    None | Some("text") => called.to_owned(),
                    Some(kind) => format!("mysql_user_{kind}"),
                })
            }
            _ => same(),
        }
    }

    /// The arguments of a function that takes their numbers.
    fn mysql_numbers(&mut self, name: &str, args: Vec<Placed>) -> Result<Vec<Placed>> {
        let of_bits = OF_BITS.contains(&name);
        let mut numbers = Vec::with_capacity(args.len());
        for (arg, at) in args {
            let is_literal = matches!(arg.kind, ExprKind::Literal(_));
            if of_bits && class(&arg.ty) == Class::Bytes && !is_literal {
                return Err(self.unsupported("operations on the bits of strings of bytes", at));
            }
            numbers.push((self.mysql_position(arg, at)?, at));
        }
        Ok(numbers)
    }

    /// The row of an aggregate or window function, its arguments converted.
    pub(super) fn mysql_grouped(
        &mut self,
        name: &str,
        args: Vec<Placed>,
        windowed: bool,
    ) -> Result<std::result::Result<(Candidate, Vec<Placed>), Miss>> {
        let wanted = |kind| kind == FunctionKind::Aggregate || (windowed && kind == FunctionKind::Window);
        let args = if OF_NUMBERS.contains(&name) { self.mysql_numbers(name, args)? } else { args };
        // The average of what is known to have so many digits keeps more than it shows.
        let name = match args.as_slice() {
            [(arg, _)] if name == "avg" && self.mysql_scale(arg).is_some() => "mysql_exact_avg",
            _ => name,
        };
        let Some(candidate) = self.mysql_candidate(name, &args, wanted) else { return Ok(Err(Miss::None)) };
        let mut converted = Vec::with_capacity(args.len());
        for ((arg, at), wanted) in args.into_iter().zip(&candidate.args) {
            converted.push((self.mysql_argument(arg, wanted, at)?, at));
        }
        Ok(Ok((candidate, converted)))
    }

    /// The type of a query's column in a set operation, where a string that is written is a text.
    pub(super) fn mysql_column_type(&self, bound: &BoundQuery, index: usize) -> Type {
        let ty = self.mysql_shown_type(bound, index);
        let item = match &bound.query.body {
            Body::Select(select) => select.items.get(index),
            Body::Values(rows) => rows.first().and_then(|row| row.get(index)),
            Body::Set { .. } => None,
        };
        match item.map(|item| &item.kind) {
            Some(ExprKind::Literal(Value::Text(_))) if ty == Type::Unknown => Type::Text,
            _ => ty,
        }
    }

    /// What is a number where one is wanted: the index of an ENUM, the bits of a SET, a hexadecimal literal; anything else
    /// stays what it is.
    fn mysql_position(&mut self, expr: Expr, at: i32) -> Result<Expr> {
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
    pub(super) fn mysql_position_in(&mut self, expr: Expr, column: &Type, at: i32) -> Result<Expr> {
        if class(column).is_number() { self.mysql_position(expr, at) } else { Ok(expr) }
    }

    /// What rows are sorted by: an ENUM by its index, a SET by its bits, a document by its own order.
    pub(super) fn mysql_sorted(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        if expr.ty == Type::Json {
            return self.mysql_call_of("mysql_json_order", vec![(expr, at)]);
        }
        if position_function(&expr.ty).is_some() { self.mysql_position(expr, at) } else { Ok(expr) }
    }

    /// A value as a number: an integer of 64 bits, a decimal or a float.
    pub(super) fn mysql_number(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        let expr = self.mysql_position(expr, at)?;
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
    pub(super) fn mysql_arithmetic(&mut self, name: &str, operands: Vec<Placed>, place: i32) -> Result<Expr> {
        let mut numbers = Vec::with_capacity(2);
        for (operand, at) in operands {
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
        let whole = |number: &Expr| class(&number.ty) == Class::Integer || is_unsigned(number);
        if matches!(name, "+" | "-" | "*")
            && numbers.iter().all(|(number, _)| whole(number))
            && numbers.iter().any(|(number, _)| is_unsigned(number))
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
            (Class::Moment, Class::Text) if is_time(&left.ty) => {
                let time = self.mysql_call_of("mysql_to_time", vec![(right, right_at)])?;
                (self.coerce(left, &Type::Interval(None), CastContext::Implicit, left_at)?, time)
            }
            (Class::Text, Class::Moment) if is_time(&right.ty) => {
                let time = self.mysql_call_of("mysql_to_time", vec![(left, left_at)])?;
                (time, self.coerce(right, &Type::Interval(None), CastContext::Implicit, right_at)?)
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
            (Class::Moment, b) if b.is_number() && !is_time(&left.ty) => {
                let moment = self.mysql_call_of("mysql_to_datetime", vec![(right, right_at)])?;
                (self.coerce(left, &Type::Timestamp(None), CastContext::Explicit, left_at)?, moment)
            }
            (a, Class::Moment) if a.is_number() && !is_time(&right.ty) => {
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
            (Class::Other, Class::Other) if left.ty == Type::Json && right.ty == Type::Json => {
                let left = self.mysql_call_of("mysql_json_order", vec![(left, left_at)])?;
                (left, self.mysql_call_of("mysql_json_order", vec![(right, right_at)])?)
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

    /// A literal or parameter as a time.
    fn mysql_time(&mut self, open: Expr, at: i32) -> Result<Expr> {
        let text = self.settle(open, at)?;
        self.mysql_call_of("mysql_to_time", vec![(text, at)])
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
        let expr = if class(to).is_number() { self.mysql_position(expr, at)? } else { expr };
        if expr.ty == *to {
            return Ok(expr);
        }
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
                    Type::Time(_) | Type::TimeTz(_) | Type::Interval(_) => "mysql_to_time",
                    _ => "mysql_to_datetime",
                };
                let moment = self.mysql_call_of(function, vec![(expr, at)])?;
                Ok(if moment.ty == *to { moment } else { cast(moment, to) })
            }
            _ => Ok(cast(expr, to)),
        }
    }

    /// ON UPDATE CURRENT_TIMESTAMP: columns that are not assigned are told the time, where what is assigned changes the row.
    pub(super) fn mysql_renewed(
        &mut self,
        id: RelId,
        relation: &Relation,
        assignments: &mut Vec<(usize, Expr)>,
    ) -> Result<()> {
        let is_renewed =
            |column: &Column| own_words(&column.ty).is_some_and(|words| words.ends_with(crate::mysql::types::RENEWED));
        let assigned = |at: usize| assignments.iter().any(|(known, _)| *known == at);
        let renewed: Vec<usize> =
            (0..relation.columns.len()).filter(|at| is_renewed(&relation.columns[*at]) && !assigned(*at)).collect();
        if renewed.is_empty() {
            return Ok(());
        }
        let mut same = Vec::with_capacity(assignments.len());
        for (position, value) in assignments.iter() {
            let value = match &value.kind {
                ExprKind::Checked { arg, .. } => (**arg).clone(),
                _ => value.clone(),
            };
            let mut sides = Vec::with_capacity(2);
            for side in [Expr::column(id, *position, relation.columns[*position].ty.clone()), value] {
                // Letters of another case are a change.
                let by_bytes = matches!(class(&side.ty), Class::Text | Class::Other | Class::Bytes);
                let plain = if by_bytes { Type::Bytea } else { base(&side.ty.without_domains()) };
                sides.push(match by_bytes {
                    true => self.mysql_call_of("mysql_to_bytes", vec![(side, -1)])?,
                    false => self.coerce(side, &plain, CastContext::Implicit, -1)?,
                });
            }
            let (Some(right), Some(left)) = (sides.pop(), sides.pop()) else { continue };
            let (left, right) = (Box::new(left), Box::new(right));
            same.push(Expr::new(ExprKind::Distinct { negated: true, left, right }, Type::Bool));
        }
        let unchanged = super::expr::all_of(same);
        for at in renewed {
            let column = &relation.columns[at];
            let digits = match column.ty.through_domains() {
                Type::Timestamp(digits) | Type::TimestampTz(digits) => i64::from(digits.unwrap_or(0)),
                _ => 0,
            };
            let now = self.mysql_call_of("now", vec![(Expr::integer(digits, Type::Int8), -1)])?;
            let now = self.assign(now, &column.name, &column.ty, -1)?;
            let kept = Expr::column(id, at, column.ty.clone());
            let otherwise = Some(Box::new(now));
            let value = ExprKind::Case { branches: vec![(unchanged.clone(), kept)], otherwise };
            assignments.push((at, Expr::new(value, column.ty.clone())));
        }
        Ok(())
    }

    /// A value as a column of one of MySQL's own types keeps it: the member of an ENUM or SET that it means, CHAR without
    /// blanks at its end, BINARY filled with zeros.
    pub(super) fn mysql_fitted(
        &mut self,
        expr: Expr,
        to: &Type,
        plain: &Type,
        context: CastContext,
        at: i32,
    ) -> Result<Expr> {
        let words = own_words(to).unwrap_or_default().to_owned();
        let head = words.split('(').next().unwrap_or_default();
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
                let is_bytes = class(&expr.ty) == Class::Bytes && !matches!(expr.kind, ExprKind::Literal(_));
                let expr = if is_bytes { self.mysql_call_of("mysql_number_of_bytes", vec![(expr, at)])? } else { expr };
                coerced(self, expr)
            }
            "time" => {
                let digits = words.trim_end_matches(')').split('(').nth(1).and_then(|digits| digits.parse().ok());
                let digits: i64 = digits.unwrap_or(0);
                let value = self.settle(expr, at)?;
                self.mysql_call_of("mysql_kept_time", vec![(value, at), (Expr::integer(digits, Type::Int8), -1)])
            }
            _ => self.mysql_member(expr, head == "enum", &words, at),
        }
    }

    /// The member of an ENUM or SET that a value means. What means none stays what it is, for the type's own check.
    fn mysql_member(&mut self, expr: Expr, is_enum: bool, words: &str, at: i32) -> Result<Expr> {
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

    /// A string as a value of a type: moments are read as MySQL reads them.
    pub(super) fn mysql_literal(&mut self, text: &str, to: &Type, context: CastContext, place: i32) -> Result<Expr> {
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
    match (&a, b) {
        _ if a == *b => a,
        (Type::Numeric(_), Type::Numeric(_)) => decimals(&a, b),
        _ => base(&a),
    }
}

/// The decimals of two kinds of numbers.
fn decimals(a: &Type, b: &Type) -> Type {
    let scale = |ty: &Type| match ty.through_domains() {
        Type::Numeric(modifier) => modifier.map(|modifier| modifier.scale),
        _ => Some(0),
    };
    match (scale(a), scale(b)) {
        (Some(a), Some(b)) => Type::Numeric(Some(NumericModifier { precision: 65, scale: a.max(b) })),
        _ => Type::Numeric(None),
    }
}

/// The type in which two of different kinds meet.
fn together(a: &Type, b: &Type) -> Type {
    let (of_a, of_b) = (class(a), class(b));
    if of_a.is_number() && of_b.is_number() {
        return match (of_a, of_b) {
            (Class::Float, _) | (_, Class::Float) => Type::Float8,
            (Class::Decimal, _) | (_, Class::Decimal) => decimals(a, b),
            _ => Type::Int8,
        };
    }
    match (of_a, of_b) {
        (Class::Bytes, Class::Bytes) => Type::Bytea,
        (Class::Moment, Class::Moment) => match (a.through_domains(), b.through_domains()) {
            (a, b) if is_time(a) && is_time(b) => Type::Interval(None),
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
