//! Expressions, as PostgreSQL's parser would have them; what only MySQL has is a call of a function of its own.

use jiff::tz::TimeZone;
use pg_query::protobuf::{
    self as pg, AExprKind, BoolExprType, BoolTestType, MinMaxOp, Node, SubLinkType, node::Node as N,
};
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DataType, DateTimeField, DuplicateTreatment, ExactNumberInfo,
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList, FunctionArguments,
    Ident, InTarget, Interval, ObjectName, ObjectNamePart, TrimWhereField, UnaryOperator, Value, ValueWithSpan,
    WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

use super::build::{
    NOWHERE, binary, boxed, call, case, cast, column, integer, is_null, list, logic, node, not, null, number, operator,
    param, placed, plain_call, star, sublink, text, truth, type_name, word,
};
use super::grammar::CHAR_USING;
use super::tree::Converter;
use crate::values::mysql::format::{Shape, shape};
use crate::values::mysql::moments;
use crate::{Condition, Error, Result};

/// The parts of a name, as they were written.
pub(super) fn name_parts(name: &ObjectName) -> Result<Vec<String>> {
    let part = |part: &ObjectNamePart| match part {
        ObjectNamePart::Identifier(ident) => Ok(ident.value.clone()),
        ObjectNamePart::Function(_) => Err(Error::unsupported("this name")),
    };
    name.0.iter().map(part).collect()
}

/// A variable of the server's, `@@name`, `@@session.name`: its scope and its name.
fn system_variable(parts: &[Ident]) -> Option<(&'static str, String)> {
    let first = parts.first()?.value.strip_prefix("@@")?;
    let rest = |from: usize| parts[from..].iter().map(|part| part.value.clone()).collect::<Vec<_>>().join(".");
    Some(match first.to_ascii_lowercase().as_str() {
        "global" => ("global", rest(1)),
        "session" | "local" => ("session", rest(1)),
        _ if parts.len() == 1 => ("", first.to_owned()),
        _ => ("", format!("{first}.{}", rest(1))),
    })
}

/// A variable of the user's, `@name`.
pub(super) fn user_variable(ident: &Ident) -> Option<String> {
    let name = ident.value.strip_prefix('@').filter(|name| !name.starts_with('@'))?;
    Some(name.trim_matches(['`', '\'', '"']).to_ascii_lowercase())
}

/// The word for a unit of time, as MySQL has it.
fn unit(field: &DateTimeField) -> Result<String> {
    let written = field.to_string().to_ascii_uppercase();
    let written = match super::tree::UNITS.iter().find(|(_, known)| *known == written) {
        Some((unit, _)) => (*unit).to_owned(),
        None => written,
    };
    let known = [
        "MICROSECOND",
        "SECOND",
        "MINUTE",
        "HOUR",
        "DAY",
        "WEEK",
        "MONTH",
        "QUARTER",
        "YEAR",
        "SECOND_MICROSECOND",
        "MINUTE_MICROSECOND",
        "MINUTE_SECOND",
        "HOUR_MICROSECOND",
        "HOUR_SECOND",
        "HOUR_MINUTE",
        "DAY_MICROSECOND",
        "DAY_SECOND",
        "DAY_MINUTE",
        "DAY_HOUR",
        "YEAR_MONTH",
    ];
    match known.contains(&written.as_str()) {
        true => Ok(written),
        false => Err(Error::unsupported(format!("the unit {written}"))),
    }
}

/// A literal of a date, a time or a moment is one. What is zero is for the mode to say.
fn check_moment(written: &str, ty: &DataType) -> Result<()> {
    let moment = || moments::parse(written, &TimeZone::UTC);
    let (kind, is_one) = match ty {
        DataType::Date => ("DATE", moment().is_some_and(|moment| !moment.timed)),
        DataType::Timestamp(..) => ("DATETIME", moment().is_some_and(|moment| moment.timed)),
        DataType::Time(..) => ("TIME", moments::parse_time(written, &TimeZone::UTC).is_some()),
        _ => return Ok(()),
    };
    if is_one || written.starts_with("0000-00-00") {
        return Ok(());
    }
    let message = format!("Incorrect {kind} value: '{written}'");
    Err(Error::new(Condition::InvalidDatetimeFormat, message).with_mysql(1525, "HY000"))
}

/// How many digits a moment that is written has behind the point; `None` without a point.
fn fraction_digits(written: &str) -> Option<u64> {
    let fraction = written.split_once('.')?.1;
    Some(fraction.bytes().take_while(u8::is_ascii_digit).count().min(6) as u64)
}

impl Converter<'_> {
    pub(super) fn expressions(&mut self, all: &[Expr]) -> Result<Vec<Node>> {
        all.iter().map(|expr| self.expression(expr)).collect()
    }

    pub(super) fn expression(&mut self, expr: &Expr) -> Result<Node> {
        self.deeper(|converter| converter.expression_inner(expr))
    }

    fn expression_inner(&mut self, expr: &Expr) -> Result<Node> {
        Ok(match expr {
            Expr::Identifier(ident) => self.identifier(ident),
            Expr::CompoundIdentifier(parts) => match system_variable(parts) {
                Some((scope, name)) => {
                    self.names_variables = true;
                    variable(scope, name)
                }
                None => {
                    let mut names: Vec<String> = parts.iter().map(|part| part.value.clone()).collect();
                    if let [database, _, _] = names.as_mut_slice() {
                        *database = self.schema(std::mem::take(database));
                    }
                    if let ([first, _], Some(alias)) = (names.as_mut_slice(), &self.row_alias)
                        && first.eq_ignore_ascii_case(alias)
                    {
                        // The row that an INSERT proposes.
                        *first = "excluded".to_owned();
                    }
                    column(names)
                }
            },
            Expr::Nested(inner) => self.expression(inner)?,
            Expr::Value(value) => self.value(value)?,
            Expr::Prefixed { prefix, value } => {
                // Bytes that are written as a text may hold anything.
                if let (true, Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(content), .. })) =
                    (prefix.value.eq_ignore_ascii_case("_binary"), &**value)
                    && content.contains('\0')
                {
                    let digits: String = content.bytes().map(|byte| format!("{byte:02x}")).collect();
                    return Ok(super::build::bits(format!("x{digits}")));
                }
                let value = self.expression(value)?;
                if prefix.value.eq_ignore_ascii_case("_binary") { call("mysql_to_bytes", vec![value]) } else { value }
            }
            Expr::TypedString(typed) => {
                // As many digits behind the point as are written.
                let digits = match &typed.value.value {
                    Value::SingleQuotedString(content) | Value::DoubleQuotedString(content) => {
                        check_moment(content, &typed.data_type)?;
                        fraction_digits(content)
                    }
                    _ => None,
                };
                let value = self.value(&typed.value)?;
                match &typed.data_type {
                    DataType::Timestamp(None, zone) => self.converted(value, &DataType::Timestamp(digits, *zone))?,
                    ty => self.converted(value, ty)?,
                }
            }
            Expr::IsNull(arg) => is_null(self.expression(arg)?, false),
            Expr::IsNotNull(arg) => is_null(self.expression(arg)?, true),
            Expr::IsTrue(arg) => self.truth_test(arg, BoolTestType::IsTrue)?,
            Expr::IsNotTrue(arg) => self.truth_test(arg, BoolTestType::IsNotTrue)?,
            Expr::IsFalse(arg) => self.truth_test(arg, BoolTestType::IsFalse)?,
            Expr::IsNotFalse(arg) => self.truth_test(arg, BoolTestType::IsNotFalse)?,
            Expr::IsUnknown(arg) => self.truth_test(arg, BoolTestType::IsUnknown)?,
            Expr::IsNotUnknown(arg) => self.truth_test(arg, BoolTestType::IsNotUnknown)?,
            Expr::In { expr, target, negated, .. } => self.in_target(expr, target, *negated)?,
            Expr::Between { expr, negated, low, high } => {
                let kind = if *negated { AExprKind::AexprNotBetween } else { AExprKind::AexprBetween };
                let bounds = list(vec![self.expression(low)?, self.expression(high)?]);
                let name = if *negated { "NOT BETWEEN" } else { "BETWEEN" };
                operator(kind, name, Some(self.expression(expr)?), bounds)
            }
            Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                let pattern = self.expression(pattern)?;
                let pattern = match escape_char {
                    Some(escape) => call("like_escape", vec![pattern, self.expression(escape)?]),
                    None => pattern,
                };
                let name = if *negated { "!~~" } else { "~~" };
                operator(AExprKind::AexprLike, name, Some(self.expression(expr)?), pattern)
            }
            Expr::RLike { negated, expr, pattern, .. } => {
                let found = call("mysql_regexp", vec![self.expression(expr)?, self.expression(pattern)?]);
                if *negated { not(found) } else { found }
            }
            Expr::AnyOp { left, compare_op, right, .. } => self.quantified(left, compare_op, right, false)?,
            Expr::AllOp { left, compare_op, right } => self.quantified(left, compare_op, right, true)?,
            Expr::UnaryOp { op, expr } => self.unary(op, expr)?,
            Expr::BinaryOp { left, op, right } => self.binary_operator(left, op, right)?,
            Expr::Convert { expr, data_type, charset, .. } => {
                let value = self.expression(expr)?;
                match (data_type, charset) {
                    (Some(ty), _) => self.converted(value, ty)?,
                    (None, Some(charset)) => in_charset(&charset.to_string(), value)?,
                    (None, None) => call("mysql_to_text", vec![value]),
                }
            }
            Expr::Cast { kind: CastKind::SafeCast, expr, data_type, .. } => self.json_value(expr, data_type)?,
            Expr::Cast { expr, data_type, .. } => {
                let value = self.expression(expr)?;
                self.converted(value, data_type)?
            }
            Expr::Extract { field, expr, .. } => {
                call("mysql_extract", vec![text(unit(field)?), self.expression(expr)?])
            }
            Expr::Ceil { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                call("ceil", vec![self.expression(expr)?])
            }
            Expr::Floor { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                call("floor", vec![self.expression(expr)?])
            }
            Expr::Position { expr, r#in } => call("locate", vec![self.expression(expr)?, self.expression(r#in)?]),
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                let mut args = vec![self.expression(expr)?];
                args.push(match substring_from {
                    Some(from) => self.expression(from)?,
                    None => integer(1),
                });
                if let Some(length) = substring_for {
                    args.push(self.expression(length)?);
                }
                call("substring", args)
            }
            Expr::Trim { trim_where, trim_what, expr, .. } => {
                let what = match trim_what {
                    Some(what) => self.expression(what)?,
                    None => text(" "),
                };
                let side = match trim_where {
                    Some(TrimWhereField::Leading) => "leading",
                    Some(TrimWhereField::Trailing) => "trailing",
                    Some(TrimWhereField::Both) | None => "both",
                };
                call("mysql_trim", vec![text(side), what, self.expression(expr)?])
            }
            Expr::Collate { expr, collation } => {
                let collname = name_parts(collation)?.into_iter().map(word).collect();
                let arg = boxed(self.expression(expr)?);
                node(N::CollateClause(Box::new(pg::CollateClause { arg, collname, location: NOWHERE })))
            }
            Expr::Function(function) => self.function(function)?,
            Expr::Case { operand, conditions, else_result, .. } => {
                let arg = operand.as_deref().map(|operand| self.expression(operand)).transpose()?;
                let branch = |converter: &mut Self, when: &CaseWhen| {
                    Ok((converter.expression(&when.condition)?, converter.expression(&when.result)?))
                };
                let branches = conditions.iter().map(|when| branch(self, when)).collect::<Result<_>>()?;
                let otherwise = else_result.as_deref().map(|otherwise| self.expression(otherwise)).transpose()?;
                case(arg, branches, otherwise)
            }
            Expr::Exists { subquery, negated } => {
                let found = sublink(SubLinkType::ExistsSublink, None, None, self.query(subquery)?);
                if *negated { not(found) } else { found }
            }
            Expr::Subquery(query) => sublink(SubLinkType::ExprSublink, None, None, self.query(query)?),
            Expr::Tuple(members) => self.row(members)?,
            Expr::MemberOf(member) => {
                let value = self.expression(&member.value)?;
                let array = self.expression(&member.array)?;
                call("mysql_member_of", vec![value, array])
            }
            Expr::Interval(_) => return Err(Error::syntax("INTERVAL stands beside + and - and in DATE_ADD alone")),
            other => return Err(Error::unsupported(format!("the expression {other}"))),
        })
    }

    fn identifier(&mut self, ident: &Ident) -> Node {
        if let Some((scope, name)) = system_variable(std::slice::from_ref(ident)) {
            self.names_variables = true;
            return variable(scope, name);
        }
        if let Some(name) = user_variable(ident) {
            self.names_variables = true;
            return call("mysql_user_variable", vec![text(name)]);
        }
        if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default") {
            return node(N::SetToDefault(Box::new(pg::SetToDefault { location: NOWHERE, ..Default::default() })));
        }
        column(vec![ident.value.clone()])
    }

    pub(super) fn value(&mut self, value: &ValueWithSpan) -> Result<Node> {
        Ok(match &value.value {
            // With an exponent it is no decimal.
            Value::Number(digits, _) if digits.contains(['e', 'E']) => cast(number(digits), type_name("float8", &[])),
            Value::Number(digits, _) => placed(number(digits), self.place_of(value.span)),
            Value::SingleQuotedString(content) | Value::DoubleQuotedString(content) => {
                placed(text(content.as_str()), self.place_of(value.span))
            }
            Value::NationalStringLiteral(value) | Value::EscapedStringLiteral(value) => text(value.as_str()),
            Value::HexStringLiteral(digits) => {
                // 0xf is 0x0f, x'f' is nothing.
                let written = value.span.end.column.saturating_sub(value.span.start.column);
                if !digits.len().is_multiple_of(2) && written == digits.len() as u64 + 3 {
                    return Err(Error::syntax("a hexadecimal literal has an even number of digits"));
                }
                super::build::bits(format!("x{digits}"))
            }
            Value::SingleQuotedByteStringLiteral(bits) => {
                if bits.bytes().any(|bit| !matches!(bit, b'0' | b'1')) {
                    return Err(Error::syntax("a literal of bits has zeros and ones"));
                }
                super::build::bits(format!("b{bits}"))
            }
            Value::Boolean(value) => truth(*value),
            Value::Null => null(),
            Value::Placeholder(name) => param(self.number_of_param(name, value.span)?),
            other => return Err(Error::unsupported(format!("the literal {other}"))),
        })
    }

    fn row(&mut self, members: &[Expr]) -> Result<Node> {
        let args = self.expressions(members)?;
        let row_format = pg::CoercionForm::CoerceImplicitCast as i32;
        Ok(node(N::RowExpr(Box::new(pg::RowExpr { args, row_format, location: NOWHERE, ..Default::default() }))))
    }

    fn truth_test(&mut self, arg: &Expr, kind: BoolTestType) -> Result<Node> {
        let arg = boxed(self.expression(arg)?);
        Ok(node(N::BooleanTest(Box::new(pg::BooleanTest {
            arg,
            booltesttype: kind as i32,
            location: NOWHERE,
            ..Default::default()
        }))))
    }

    fn in_target(&mut self, expr: &Expr, target: &InTarget, negated: bool) -> Result<Node> {
        let arg = self.expression(expr)?;
        match target {
            InTarget::List(members) => {
                let name = if negated { "<>" } else { "=" };
                let members = self.expressions(members)?;
                Ok(operator(AExprKind::AexprIn, name, Some(arg), list(members)))
            }
            InTarget::Subquery(query) => {
                let found = sublink(SubLinkType::AnySublink, Some(arg), None, self.query(query)?);
                Ok(if negated { not(found) } else { found })
            }
            _ => Err(Error::unsupported("IN of this")),
        }
    }

    fn quantified(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr, all: bool) -> Result<Node> {
        let Expr::Subquery(query) = right else { return Err(Error::unsupported("ANY and ALL of a list")) };
        let name = comparison(op).ok_or_else(|| Error::unsupported(format!("{op} ANY")))?;
        let kind = if all { SubLinkType::AllSublink } else { SubLinkType::AnySublink };
        Ok(sublink(kind, Some(self.expression(left)?), Some(name), self.query(query)?))
    }

    fn unary(&mut self, op: &UnaryOperator, arg: &Expr) -> Result<Node> {
        // A negative number is a number.
        if let (UnaryOperator::Minus, Expr::Value(ValueWithSpan { value: Value::Number(digits, _), span })) = (op, arg)
        {
            let literal = number(&format!("-{digits}"));
            // With an exponent it is no decimal.
            return Ok(match digits.contains(['e', 'E']) {
                true => cast(literal, type_name("float8", &[])),
                false => placed(literal, self.place_of_minus(*span)),
            });
        }
        let arg = self.expression(arg)?;
        Ok(match op {
            UnaryOperator::Plus => arg,
            UnaryOperator::Minus => operator(AExprKind::AexprOp, "-", None, arg),
            UnaryOperator::Not | UnaryOperator::BangNot => not(arg),
            UnaryOperator::BitwiseNot => call("mysql_bit_not", vec![arg]),
            other => return Err(Error::unsupported(format!("the operator {other}"))),
        })
    }

    fn binary_operator(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Node> {
        use BinaryOperator as B;
        // A chain is as long as a text, and no deeper than its operators.
        if let (B::Plus | B::Minus, Expr::Interval(interval)) = (op, right) {
            let left = self.expression(left)?;
            return self.moved(left, interval, matches!(op, B::Plus));
        }
        if let (B::Plus, Expr::Interval(interval)) = (op, left) {
            let right = self.expression(right)?;
            return self.moved(right, interval, true);
        }
        if let (B::Assignment, Expr::Identifier(ident)) = (op, left)
            && let Some(name) = user_variable(ident)
        {
            let value = self.expression(right)?;
            self.assignments += 1;
            self.names_variables = true;
            return Ok(call("mysql_set_user_variable", vec![text(name), value]));
        }
        check_columns(left, op, right)?;
        let (left, right) = (self.expression(left)?, self.expression(right)?);
        if let Some(name) = comparison(op) {
            return Ok(binary(name, left, right));
        }
        Ok(match op {
            B::Plus => binary("+", left, right),
            B::Minus => binary("-", left, right),
            B::Multiply => binary("*", left, right),
            B::Divide => binary("/", left, right),
            B::Modulo => binary("%", left, right),
            B::MyIntegerDivide | B::DuckIntegerDivide => call("mysql_integer_divide", vec![left, right]),
            B::And | B::PGOverlap => logic(BoolExprType::AndExpr, vec![left, right]),
            B::StringConcat if self.modes.pipes_as_concat => call("concat", vec![left, right]),
            B::Or | B::StringConcat => logic(BoolExprType::OrExpr, vec![left, right]),
            B::Xor => binary("<>", call("mysql_truth", vec![left]), call("mysql_truth", vec![right])),
            B::Spaceship => operator(AExprKind::AexprNotDistinct, "=", Some(left), right),
            B::BitwiseAnd => call("mysql_bit_and", vec![left, right]),
            B::BitwiseOr => call("mysql_bit_or", vec![left, right]),
            B::BitwiseXor => call("mysql_bit_xor", vec![left, right]),
            B::PGBitwiseShiftLeft => call("mysql_shift_left", vec![left, right]),
            B::PGBitwiseShiftRight => call("mysql_shift_right", vec![left, right]),
            B::Arrow => call("json_extract", vec![left, right]),
            B::LongArrow => call("json_unquote", vec![call("json_extract", vec![left, right])]),
            B::Regexp => call("mysql_regexp", vec![left, right]),
            other => return Err(Error::unsupported(format!("the operator {other}"))),
        })
    }

    /// A moment and an interval behind it or before it.
    fn moved(&mut self, moment: Node, interval: &Interval, forward: bool) -> Result<Node> {
        let Some(field) = &interval.leading_field else { return Err(Error::syntax("INTERVAL wants a unit")) };
        let value = self.expression(&interval.value)?;
        let sign = integer(if forward { 1 } else { -1 });
        Ok(call("mysql_date_add", vec![moment, value, text(unit(field)?), sign]))
    }

    /// CAST and CONVERT, whose types are those of values.
    pub(super) fn converted(&mut self, value: Node, ty: &DataType) -> Result<Node> {
        use DataType as D;
        Ok(match ty {
            D::Signed | D::SignedInteger | D::Int(_) | D::Integer(_) | D::BigInt(_) => {
                call("mysql_to_integer", vec![value])
            }
            D::Unsigned | D::UnsignedInteger | D::BigIntUnsigned(_) | D::IntUnsigned(_) | D::IntegerUnsigned(_) => {
                call("mysql_to_unsigned", vec![value])
            }
            D::Char(length) | D::Character(length) | D::Varchar(length) => {
                let value = call("mysql_to_text", vec![value]);
                match length {
                    Some(sqlparser::ast::CharacterLength::IntegerLength { length, .. }) => {
                        call("left", vec![value, number(&length.to_string())])
                    }
                    _ => value,
                }
            }
            D::Binary(length) => {
                let value = call("mysql_to_bytes", vec![value]);
                match length {
                    // Zeros are put behind what is shorter.
                    Some(length) => {
                        let length = || number(&length.to_string());
                        call("mysql_filled", vec![call("left", vec![value, length()]), length()])
                    }
                    None => value,
                }
            }
            D::Date => call("mysql_to_date", vec![value]),
            D::Time(_, _) => call("mysql_to_time", vec![value]),
            D::Datetime(digits) | D::Timestamp(digits, _) => {
                let moment = call("mysql_to_datetime", vec![value]);
                let digits = i32::try_from(digits.unwrap_or(0)).unwrap_or(6);
                cast(moment, type_name("timestamp", &[digits.min(6)]))
            }
            D::Decimal(of) | D::Numeric(of) | D::Dec(of) => {
                let (precision, scale) = super::types::exact(of);
                let modifiers = [i32::try_from(precision).unwrap_or(65), i32::try_from(scale).unwrap_or(30)];
                let [digits, behind] = modifiers.map(integer);
                let nearest = call("mysql_nearest", vec![call("mysql_to_decimal", vec![value]), digits, behind]);
                cast(nearest, type_name("numeric", &modifiers))
            }
            // Up to 24 bits.
            D::Float(ExactNumberInfo::None | ExactNumberInfo::Precision(..=24)) => {
                cast(call("mysql_to_double", vec![value]), type_name("float4", &[]))
            }
            D::Double(_) | D::DoublePrecision | D::Real | D::Float(_) => call("mysql_to_double", vec![value]),
            D::JSON => cast(value, type_name("json", &[])),
            other => return Err(Error::unsupported(format!("CAST to {other}"))),
        })
    }

    /// The arguments of a call, which are expressions.
    fn arguments(&mut self, args: &FunctionArgumentList) -> Result<Vec<Node>> {
        let argument = |converter: &mut Self, arg: &FunctionArg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => converter.expression(expr),
            FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(name)) => Ok(star(name_parts(name)?)),
            _ => Err(Error::unsupported("this argument of a function")),
        };
        args.args.iter().map(|arg| argument(self, arg)).collect()
    }

    fn function(&mut self, function: &Function) -> Result<Node> {
        let mut parts = name_parts(&function.name)?;
        let name = parts.pop().unwrap_or_default().to_ascii_lowercase();
        let empty = FunctionArgumentList { duplicate_treatment: None, args: Vec::new(), clauses: Vec::new() };
        let written = match &function.args {
            FunctionArguments::List(list) => list,
            FunctionArguments::None => &empty,
            FunctionArguments::Subquery(_) => return Err(Error::unsupported("a query as an argument")),
        };
        if let ([], Some(special)) = (parts.as_slice(), self.special_function(&name, written)?) {
            return Ok(special);
        }
        let is_star = matches!(written.args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]);
        let mut args = if is_star { Vec::new() } else { self.arguments(written)? };
        let mut order = Vec::new();
        let mut separator = None;
        for clause in &written.clauses {
            match clause {
                FunctionArgumentClause::OrderBy(keys) => order = self.sort_keys(keys)?,
                FunctionArgumentClause::Separator(value) => separator = Some(self.value(value)?),
                other => return Err(Error::unsupported(format!("{other} in a call"))),
            }
        }
        if name == "group_concat" {
            let joined = match args.len() {
                1 => args.remove(0),
                _ => call("concat", std::mem::take(&mut args)),
            };
            args = vec![joined, separator.unwrap_or_else(|| text(","))];
        }
        parts.push(name);
        let over = function.over.as_ref().map(|over| self.window(over)).transpose()?;
        let agg_filter = function.filter.as_deref().map(|filter| self.expression(filter)).transpose()?;
        let call = pg::FuncCall {
            agg_order: order,
            agg_filter: agg_filter.map(Box::new),
            over: over.map(Box::new),
            agg_star: is_star,
            agg_distinct: written.duplicate_treatment == Some(DuplicateTreatment::Distinct),
            ..plain_call(parts.into_iter().map(word).collect(), args)
        };
        Ok(node(N::FuncCall(Box::new(call))))
    }

    /// What is written like a call and is something else.
    fn special_function(&mut self, name: &str, written: &FunctionArgumentList) -> Result<Option<Node>> {
        let exprs: Vec<&Expr> = written
            .args
            .iter()
            .filter_map(|arg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
                _ => None,
            })
            .collect();
        let word_of = |expr: &Expr| match expr {
            Expr::Identifier(ident) => Some(ident.value.to_ascii_uppercase()),
            _ => None,
        };
        Ok(Some(match (name, exprs.as_slice()) {
            ("if", [condition, yes, no]) => {
                let branch = (self.expression(condition)?, self.expression(yes)?);
                case(None, vec![branch], Some(self.expression(no)?))
            }
            ("ifnull", [first, second]) => coalesce(vec![self.expression(first)?, self.expression(second)?]),
            ("coalesce", members @ [_, ..]) => {
                coalesce(members.iter().map(|expr| self.expression(expr)).collect::<Result<_>>()?)
            }
            ("nullif", [first, second]) => {
                let (first, second) = (self.expression(first)?, self.expression(second)?);
                operator(AExprKind::AexprNullif, "=", Some(first), second)
            }
            ("greatest" | "least", members @ [_, ..]) => {
                let args: Vec<Node> = members.iter().map(|expr| self.expression(expr)).collect::<Result<_>>()?;
                // NULL where one of them is.
                let unknown: Vec<Node> = args.iter().map(|arg| is_null(arg.clone(), false)).collect();
                let unknown = if unknown.len() == 1 { unknown } else { vec![logic(BoolExprType::OrExpr, unknown)] };
                let op = if name == "greatest" { MinMaxOp::IsGreatest } else { MinMaxOp::IsLeast };
                let extreme = pg::MinMaxExpr { op: op as i32, args, location: NOWHERE, ..Default::default() };
                let branches = unknown.into_iter().map(|condition| (condition, null())).collect();
                case(None, branches, Some(node(N::MinMaxExpr(Box::new(extreme)))))
            }
            ("isnull", [arg]) => is_null(self.expression(arg)?, false),
            (CHAR_USING, [Expr::Value(charset), members @ ..]) => {
                let bytes = call("char", members.iter().map(|expr| self.expression(expr)).collect::<Result<_>>()?);
                let charset = charset.value.clone().into_string().unwrap_or_default().to_ascii_lowercase();
                match charset.as_str() {
                    "binary" => bytes,
                    "utf8mb4" | "utf8mb3" | "utf8" | "ascii" | "latin1" | "ucs2" | "utf16" | "utf16le" | "utf32" => {
                        call("mysql_char_text", vec![bytes, text(charset)])
                    }
                    other => return Err(Error::unsupported(format!("CHAR … USING {other}"))),
                }
            }
            ("values", [Expr::Identifier(ident)]) => column(vec!["excluded".to_owned(), ident.value.clone()]),
            ("values", [Expr::CompoundIdentifier(parts)]) if !parts.is_empty() => {
                column(vec!["excluded".to_owned(), parts[parts.len() - 1].value.clone()])
            }
            ("date_add" | "adddate", [moment, Expr::Interval(interval)]) => {
                let moment = self.expression(moment)?;
                self.moved(moment, interval, true)?
            }
            ("date_sub" | "subdate", [moment, Expr::Interval(interval)]) => {
                let moment = self.expression(moment)?;
                self.moved(moment, interval, false)?
            }
            ("adddate" | "subdate", [moment, days]) => {
                let sign = integer(if name == "adddate" { 1 } else { -1 });
                call("mysql_date_add", vec![self.expression(moment)?, self.expression(days)?, text("DAY"), sign])
            }
            ("timestampdiff" | "timestampadd", [first, second, third]) if word_of(first).is_some() => {
                let unit = word_of(first).unwrap_or_default();
                let unit = unit.strip_prefix("SQL_TSI_").unwrap_or(&unit).to_owned();
                let (second, third) = (self.expression(second)?, self.expression(third)?);
                match name {
                    "timestampadd" => call("mysql_date_add", vec![third, second, text(unit), integer(1)]),
                    _ => call(name, vec![text(unit), second, third]),
                }
            }
            ("get_format", [kind, place]) if word_of(kind).is_some() => {
                call(name, vec![text(word_of(kind).unwrap_or_default()), self.expression(place)?])
            }
            ("str_to_date", [written, Expr::Value(format)]) => {
                let function = match &format.value {
                    Value::SingleQuotedString(format) | Value::DoubleQuotedString(format) => match shape(format) {
                        Shape::Date => "mysql_str_to_date",
                        Shape::Both => "mysql_str_to_datetime",
                        Shape::Time => "mysql_str_to_time",
                    },
                    _ => name,
                };
                call(function, vec![self.expression(written)?, self.value(format)?])
            }
            ("mod", [left, right]) => binary("%", self.expression(left)?, self.expression(right)?),
            ("ucase", [arg]) => call("upper", vec![self.expression(arg)?]),
            ("lcase", [arg]) => call("lower", vec![self.expression(arg)?]),
            ("trim", [arg]) => call("mysql_trim", vec![text("both"), text(" "), self.expression(arg)?]),
            ("binary", [arg]) => call("mysql_to_bytes", vec![self.expression(arg)?]),
            ("count", members @ [_, _, ..]) if written.duplicate_treatment == Some(DuplicateTreatment::Distinct) => {
                // Rows with a NULL do not count.
                let args: Vec<Node> = members.iter().map(|expr| self.expression(expr)).collect::<Result<_>>()?;
                let known: Vec<Node> = args.iter().map(|arg| is_null(arg.clone(), true)).collect();
                let texts = args.into_iter().map(|arg| call("quote", vec![arg])).collect();
                let joined = call("concat", texts);
                let joined = case(None, vec![(logic(BoolExprType::AndExpr, known), joined)], None);
                let counted = pg::FuncCall { agg_distinct: true, ..plain_call(vec![word("count")], vec![joined]) };
                node(N::FuncCall(Box::new(counted)))
            }
            _ => return Ok(None),
        }))
    }

    fn window(&mut self, over: &WindowType) -> Result<pg::WindowDef> {
        match over {
            WindowType::NamedWindow(name) => {
                Ok(pg::WindowDef { name: name.value.clone(), location: NOWHERE, ..window_without_frame() })
            }
            WindowType::WindowSpec(spec) => self.window_spec(spec),
        }
    }

    /// How far a frame reaches.
    fn frame_offset(&mut self, offset: &Expr) -> Result<Node> {
        match offset {
            Expr::Interval(interval) => Ok(cast(text(span(interval)?), type_name("interval", &[]))),
            other => self.expression(other),
        }
    }

    pub(super) fn window_spec(&mut self, spec: &WindowSpec) -> Result<pg::WindowDef> {
        let mut window = pg::WindowDef {
            refname: spec.window_name.as_ref().map(|name| name.value.clone()).unwrap_or_default(),
            partition_clause: self.expressions(&spec.partition_by)?,
            order_clause: self.sort_keys(&spec.order_by)?,
            ..window_without_frame()
        };
        if let Some(frame) = &spec.window_frame {
            // PostgreSQL's FRAMEOPTION_ bits.
            let mut options = 0x0001
                | match frame.units {
                    WindowFrameUnits::Range => 0x0002,
                    WindowFrameUnits::Rows => 0x0004,
                    WindowFrameUnits::Groups => 0x0008,
                };
            options |= match &frame.start_bound {
                WindowFrameBound::Preceding(None) => 0x0020,
                WindowFrameBound::Following(None) => 0x0080,
                WindowFrameBound::CurrentRow => 0x0200,
                WindowFrameBound::Preceding(Some(offset)) => {
                    window.start_offset = boxed(self.frame_offset(offset)?);
                    0x0800
                }
                WindowFrameBound::Following(Some(offset)) => {
                    window.start_offset = boxed(self.frame_offset(offset)?);
                    0x2000
                }
            };
            if frame.end_bound.is_some() {
                options |= 0x0010;
            }
            options |= match frame.end_bound.as_ref().unwrap_or(&WindowFrameBound::CurrentRow) {
                WindowFrameBound::Preceding(None) => 0x0040,
                WindowFrameBound::Following(None) => 0x0100,
                WindowFrameBound::CurrentRow => 0x0400,
                WindowFrameBound::Preceding(Some(offset)) => {
                    window.end_offset = boxed(self.frame_offset(offset)?);
                    0x1000
                }
                WindowFrameBound::Following(Some(offset)) => {
                    window.end_offset = boxed(self.frame_offset(offset)?);
                    0x4000
                }
            };
            window.frame_options = options;
        }
        Ok(window)
    }
}

/// How far a frame of moments reaches, in PostgreSQL's words: `3 month`.
fn span(interval: &Interval) -> Result<String> {
    let Some(field) = &interval.leading_field else { return Err(Error::syntax("INTERVAL wants a unit")) };
    let unit = unit(field)?;
    let written = match &*interval.value {
        Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) => digits.as_str(),
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(digits), .. }) => digits.trim(),
        _ => return Err(Error::unsupported("a frame of an INTERVAL that is computed")),
    };
    let count: f64 = written.parse().map_err(|_| Error::unsupported("a frame of this INTERVAL"))?;
    // Seconds alone have a fraction.
    Ok(match unit.as_str() {
        "SECOND" => format!("{count} second"),
        "QUARTER" => format!("{} month", count.round() * 3.0),
        "MICROSECOND" | "MINUTE" | "HOUR" | "DAY" | "WEEK" | "MONTH" | "YEAR" => {
            format!("{} {}", count.round(), unit.to_ascii_lowercase())
        }
        _ => return Err(Error::unsupported(format!("a frame of an INTERVAL of {unit}"))),
    })
}

/// RANGE UNBOUNDED PRECEDING, as PostgreSQL's parser has it where nothing is said.
fn window_without_frame() -> pg::WindowDef {
    pg::WindowDef { frame_options: 0x0002 | 0x0020 | 0x0400, location: NOWHERE, ..Default::default() }
}

/// `CONVERT(value USING charset)`.
fn in_charset(charset: &str, value: Node) -> Result<Node> {
    match charset.to_ascii_lowercase().as_str() {
        "binary" => Ok(call("mysql_to_bytes", vec![value])),
        "utf8mb4" => Ok(call("mysql_to_text", vec![value])),
        "utf8mb3" | "utf8" | "ascii" | "latin1" | "ucs2" | "utf16" | "utf16le" | "utf32" => {
            Ok(call("mysql_in_charset", vec![value, text(charset.to_ascii_lowercase())]))
        }
        other => Err(Error::unsupported(format!("CONVERT … USING {other}"))),
    }
}

/// A system variable: a number or a text.
fn variable(scope: &str, name: String) -> Node {
    let function = if super::variables::is_number(&name) { "mysql_variable_number" } else { "mysql_variable" };
    call(function, vec![text(scope), text(name)])
}

fn coalesce(args: Vec<Node>) -> Node {
    node(N::CoalesceExpr(Box::new(pg::CoalesceExpr { args, location: NOWHERE, ..Default::default() })))
}

/// Rows are compared with rows of as many members, and are nothing else's operands.
fn check_columns(left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<()> {
    let members = |expr: &Expr| match expr {
        Expr::Tuple(members) => Some(members.len()),
        // How many columns a query has is the binder's to know.
        Expr::Subquery(_) => None,
        _ => Some(1),
    };
    let is_comparison = comparison(op).is_some() || matches!(op, BinaryOperator::Spaceship);
    let wanted = match (members(left), members(right)) {
        (Some(left), Some(right)) if is_comparison && left != right => left,
        (Some(left), Some(right)) if !is_comparison && (left > 1 || right > 1) => 1,
        _ => return Ok(()),
    };
    let message = format!("Operand should contain {wanted} column(s)");
    Err(Error::syntax(message).with_mysql(1241, "21000"))
}

fn comparison(op: &BinaryOperator) -> Option<&'static str> {
    Some(match op {
        BinaryOperator::Eq => "=",
        BinaryOperator::NotEq => "<>",
        BinaryOperator::Lt => "<",
        BinaryOperator::LtEq => "<=",
        BinaryOperator::Gt => ">",
        BinaryOperator::GtEq => ">=",
        _ => return None,
    })
}
