//! PARTITION BY, and what ALTER TABLE does with partitions: read by a grammar of our own, and left to the binder, which knows
//! the table, as an action of ALTER TABLE. See `postgres/ddl/mysql_partitions.rs`.
//!
//! The first argument of such an action is the [definition](Partitioning) as far as it is known here: of which kinds the
//! values are depends on the table.

use pg_query::protobuf::{self as pg, Node, node::Node as N};
use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

use super::alter::{option, took, took_all, unexpected};
use super::build::{NOWHERE, def, list, node, text};
use super::grammar::MySql;
use super::modes::Modes;
use super::statements::Failed;
use super::tokens::{is_blank, is_word};
use super::tree::Converter;
use crate::values::ValueRef;
use crate::values::mysql::moments;
use crate::values::mysql::partitions::{Bound, Method, Part, Partitioning};
use crate::{Condition, Error, Result};

/// The option of RETURNING, which MySQL has not, that says which partitions of a table are changed.
pub(crate) const PARTITIONS: &str = "partition";

/// The method of a sample that is some partitions of a table.
pub(crate) const SAMPLED: &str = "mysql_partition";

/// Functions of which rows may be parted by.
const ALLOWED: &[&str] = &[
    "abs",
    "ceiling",
    "datediff",
    "day",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "extract",
    "floor",
    "hour",
    "microsecond",
    "minute",
    "mod",
    "month",
    "quarter",
    "second",
    "time_to_sec",
    "to_days",
    "to_seconds",
    "unix_timestamp",
    "weekday",
    "year",
    "yearweek",
];

/// How many partitions a table may have.
pub(crate) const MOST: usize = 8192;

/// VALUES of a partition.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Values {
    Less,
    In,
}

/// Rows of values.
type Rows = Vec<Vec<Bound>>;

pub(crate) fn refused(code: u16, message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidTableDefinition, message.into()).with_mysql(code, "HY000")
}

/// Takes `PARTITION BY …` out of a CREATE TABLE, up to its query.
pub(super) fn of(tokens: &mut Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut words = tokens.iter().filter(|token| !is_blank(token));
    let creates = words.next().is_some_and(|token| is_word(&token.token, "create"))
        && words.next().is_some_and(|token| ["table", "temporary"].iter().any(|word| is_word(&token.token, word)));
    if !creates {
        return Vec::new();
    }
    let mut depth = 0_usize;
    let mut begin = None;
    let mut end = tokens.len();
    for (at, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            word if depth == 0 && begin.is_none() => {
                let next = tokens[at + 1..].iter().find(|token| !is_blank(token));
                if is_word(word, "partition") && next.is_some_and(|token| is_word(&token.token, "by")) {
                    begin = Some(at);
                } else if ["as", "select", "with"].iter().any(|query| is_word(word, query)) {
                    return Vec::new();
                }
            }
            word if depth == 0
                && ["as", "select", "with", "ignore", "replace"].iter().any(|end| is_word(word, end)) =>
            {
                end = at;
                break;
            }
            _ => {}
        }
    }
    begin.map(|begin| tokens.drain(begin..end).collect()).unwrap_or_default()
}

/// The names of partitions as constants.
pub(super) fn names(names: &[String]) -> Vec<Node> {
    names.iter().map(text).collect()
}

/// What says that partitions alone are changed.
pub(super) fn said(partitions: &[String]) -> Node {
    def(PARTITIONS, Some(list(names(partitions))))
}

/// A table of FROM, of which these partitions are there.
pub(super) fn sampled(table: Node, partitions: &[String]) -> Node {
    node(N::RangeTableSample(Box::new(pg::RangeTableSample {
        relation: Some(Box::new(table)),
        method: super::build::words([SAMPLED]),
        args: names(partitions),
        repeatable: None,
        location: NOWHERE,
    })))
}

fn partition_names(parser: &mut Parser<'_>) -> Result<Vec<String>, Failed> {
    Ok(parser.parse_comma_separated(Parser::parse_identifier)?.into_iter().map(|name| name.value).collect())
}

/// A constant of VALUES.
///
/// # Errors
/// `0A000` for what is not known before the statement runs.
fn constant(expr: &Expr) -> Result<Bound> {
    let number = |expr: &Expr| match constant(expr)? {
        Bound::Number(number) => Ok(Some(number)),
        _ => Ok(None),
    };
    let unknown = || Error::unsupported(format!("the value {expr} of a partition"));
    Ok(match expr {
        Expr::Identifier(name) if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("maxvalue") => {
            Bound::Most
        }
        Expr::Nested(inner) => constant(inner)?,
        Expr::Value(value) => match &value.value {
            Value::Null => Bound::Null,
            Value::Number(digits, _) => Bound::Number(digits.to_string().parse().map_err(|_| unknown())?),
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Bound::Text(text.clone()),
            _ => return Err(unknown()),
        },
        Expr::TypedString(typed) => match &typed.value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Bound::Text(text.clone()),
            _ => return Err(unknown()),
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: of } => {
            Bound::Number(number(of)?.and_then(i128::checked_neg).ok_or_else(unknown)?)
        }
        Expr::UnaryOp { op: UnaryOperator::Plus, expr: of } => constant(of)?,
        Expr::BinaryOp { left, op, right } => {
            let (Some(left), Some(right)) = (number(left)?, number(right)?) else { return Err(unknown()) };
            let made = match op {
                BinaryOperator::Plus => left.checked_add(right),
                BinaryOperator::Minus => left.checked_sub(right),
                BinaryOperator::Multiply => left.checked_mul(right),
                BinaryOperator::MyIntegerDivide => left.checked_div(right),
                _ => None,
            };
            Bound::Number(made.ok_or_else(unknown)?)
        }
        Expr::Function(function) => {
            let name = function.name.to_string().to_ascii_lowercase();
            let FunctionArguments::List(args) = &function.args else { return Err(unknown()) };
            let [FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))] = args.args.as_slice() else {
                return Err(unknown());
            };
            let arg = constant(arg)?;
            let zone = jiff::tz::TimeZone::UTC;
            let moment = match &arg {
                Bound::Text(text) => moments::parse(text, &zone),
                Bound::Number(number) => {
                    i64::try_from(*number).ok().and_then(|number| moments::read(ValueRef::Integer(number), &zone))
                }
                Bound::Null | Bound::Most => return Ok(Bound::Null),
            };
            let made = match name.as_str() {
                "to_days" => moment.and_then(|moment| moment.days()).map(|days| days + moments::DAYS_TO_1970),
                "to_seconds" => moment
                    .and_then(|moment| moment.since_1970())
                    .map(|micros| micros.div_euclid(1_000_000) + moments::DAYS_TO_1970 * 86_400),
                "year" | "month" | "day" | "quarter" => moment.and_then(|moment| moments::extract(&name, &moment)),
                _ => return Err(unknown()),
            };
            made.map_or(Bound::Null, |made| Bound::Number(made.into()))
        }
        _ => return Err(unknown()),
    })
}

/// A row of values: of one column, or of several in parentheses.
fn constants(expr: &Expr) -> Result<Vec<Bound>> {
    match expr {
        Expr::Tuple(exprs) => exprs.iter().map(constant).collect(),
        expr => Ok(vec![constant(expr)?]),
    }
}

/// VALUES of a partition, where it has them.
fn values(parser: &mut Parser<'_>) -> Result<Option<(Values, Rows)>, Failed> {
    if !took(parser, "values") {
        return Ok(None);
    }
    if took(parser, "in") {
        parser.expect_token(&Token::LParen)?;
        let rows = parser.parse_comma_separated(Parser::parse_expr)?;
        parser.expect_token(&Token::RParen)?;
        let rows: Rows = rows.iter().map(constants).collect::<Result<_>>()?;
        if rows.iter().flatten().any(|bound| *bound == Bound::Most) {
            return Err(Error::syntax("Cannot use MAXVALUE as value in VALUES IN").into());
        }
        return Ok(Some((Values::In, rows)));
    }
    if !took_all(parser, &["less", "than"]) {
        return unexpected("IN or LESS THAN");
    }
    if took(parser, "maxvalue") {
        return Ok(Some((Values::Less, vec![vec![Bound::Most]])));
    }
    parser.expect_token(&Token::LParen)?;
    let row = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RParen)?;
    Ok(Some((Values::Less, vec![row.iter().map(constant).collect::<Result<_>>()?])))
}

/// What stands behind a partition's values; its comment.
fn part_options(parser: &mut Parser<'_>, modes: Modes) -> Result<String, Failed> {
    let mut comment = String::new();
    loop {
        took(parser, "storage");
        if took(parser, "comment") {
            let _ = parser.consume_token(&Token::Eq);
            comment = parser.parse_literal_string()?;
        } else if took(parser, "engine") {
            let _ = parser.consume_token(&Token::Eq);
            super::alter::check_engine(&parser.parse_identifier()?.value, modes)?;
        } else if ["max_rows", "min_rows", "nodegroup", "tablespace"].iter().any(|word| took(parser, word)) {
            let _ = parser.consume_token(&Token::Eq);
            parser.next_token();
        } else if took(parser, "data") || took(parser, "index") {
            return Err(Error::unsupported("a directory of a partition").into());
        } else {
            return Ok(comment);
        }
    }
}

/// Definitions of partitions in parentheses, and of which kind their values are.
fn parts(parser: &mut Parser<'_>, modes: Modes) -> Result<(Vec<Part>, Option<Values>), Failed> {
    parser.expect_token(&Token::LParen)?;
    let mut made: Vec<Part> = Vec::new();
    let mut kind = None;
    loop {
        if !took(parser, "partition") {
            return unexpected("PARTITION");
        }
        let name = parser.parse_identifier()?.value;
        let values = values(parser)?;
        let (this, values) = values.map_or((None, Vec::new()), |(kind, values)| (Some(kind), values));
        if !made.is_empty() && this != kind {
            return Err(values_of_another_kind(this).into());
        }
        kind = this;
        let comment = part_options(parser, modes)?;
        if parser.peek_token_ref().token == Token::LParen || is_word(&parser.peek_token_ref().token, "subpartition") {
            return Err(Error::unsupported("SUBPARTITION").into());
        }
        made.push(Part { name, values, comment });
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    parser.expect_token(&Token::RParen)?;
    Ok((made, kind))
}

fn values_of_another_kind(kind: Option<Values>) -> Error {
    match kind {
        Some(Values::Less) => refused(1480, "Only RANGE PARTITIONING can use VALUES LESS THAN in partition definition"),
        Some(Values::In) => refused(1480, "Only LIST PARTITIONING can use VALUES IN in partition definition"),
        None => Error::syntax("Syntax error: PARTITIONING requires definition of VALUES for each partition"),
    }
}

/// Refuses values that a method has not.
///
/// # Errors
/// `1479` (told as a syntax error) and `1480`.
fn check_values(method: Method, kind: Option<Values>) -> Result<()> {
    match (method, kind) {
        (Method::Range, Some(Values::Less)) | (Method::List, Some(Values::In)) => Ok(()),
        (Method::Hash | Method::Key, None) => Ok(()),
        (_, Some(kind)) => Err(values_of_another_kind(Some(kind))),
        (method, None) => {
            let values = if method == Method::Range { "VALUES LESS THAN" } else { "VALUES IN" };
            let message = format!(
                "Syntax error: {} PARTITIONING requires definition of {values} for each partition",
                method.word()
            );
            Err(Error::syntax(message))
        }
    }
}

pub(crate) fn too_many() -> Error {
    refused(1499, "Too many partitions (including subpartitions) were defined")
}

/// Refuses a number of partitions that no table may have.
fn check_count(count: u64) -> Result<usize> {
    match count {
        0 => Err(refused(1504, "Number of partitions = 0 is not an allowed value")),
        count => usize::try_from(count).ok().filter(|count| *count <= MOST).ok_or_else(too_many),
    }
}

/// Partitions that have numbers alone are called so.
pub(crate) fn numbered(from: usize, count: usize) -> Vec<Part> {
    (from..from + count).map(|at| Part { name: format!("p{at}"), values: Vec::new(), comment: String::new() }).collect()
}

impl Converter<'_> {
    /// PARTITION BY, from these tokens, as an action of ALTER TABLE.
    pub(super) fn partition_by_of(&mut self, tokens: &[TokenWithSpan]) -> Result<Node> {
        let dialect = MySql::new(self.modes);
        let tokens: Vec<TokenWithSpan> = tokens
            .iter()
            .filter(|token| !matches!(token.token, Token::Whitespace(Whitespace::Space)))
            .cloned()
            .collect();
        let mut parser = Parser::new(&dialect).with_tokens_with_locations(tokens);
        let made = self.partition_by(&mut parser).and_then(|made| match parser.peek_token_ref().token {
            Token::EOF => Ok(made),
            _ => unexpected("the end of PARTITION BY"),
        });
        made.map_err(|failed| match failed {
            Failed::Meaning(error) => error,
            Failed::Parser(error) => Error::syntax(format!("You have an error in your SQL syntax; {error}")),
        })
    }

    /// PARTITION BY as an action of ALTER TABLE: the definition, and what rows are parted by.
    pub(super) fn partition_by(&mut self, parser: &mut Parser<'_>) -> Result<Node, Failed> {
        if !took_all(parser, &["partition", "by"]) {
            return unexpected("PARTITION BY");
        }
        let linear = took(parser, "linear");
        let methods = [("range", Method::Range), ("list", Method::List), ("hash", Method::Hash), ("key", Method::Key)];
        let Some((_, method)) = methods.into_iter().find(|(word, _)| took(parser, word)) else {
            return unexpected("RANGE, LIST, HASH or KEY");
        };
        if linear && method.has_values() {
            return unexpected("HASH or KEY");
        }
        let columns = method.has_values() && took(parser, "columns");
        if method == Method::Key && took(parser, "algorithm") {
            let _ = parser.consume_token(&Token::Eq);
            if parser.parse_literal_uint()? != 2 {
                return Err(Error::unsupported("ALGORITHM = 1 of PARTITION BY KEY").into());
            }
        }
        parser.expect_token(&Token::LParen)?;
        let by = match columns || method == Method::Key {
            true if parser.peek_token_ref().token == Token::RParen => Vec::new(),
            true => parser.parse_comma_separated(Parser::parse_identifier)?.into_iter().map(Expr::Identifier).collect(),
            false => vec![partitioning_expression(parser)?],
        };
        parser.expect_token(&Token::RParen)?;
        let count = match took(parser, "partitions") {
            true => Some(check_count(parser.parse_literal_uint()?)?),
            false => None,
        };
        if took_all(parser, &["subpartition", "by"]) {
            return Err(Error::unsupported("SUBPARTITION BY").into());
        }
        let (parts, named) = match parser.peek_token_ref().token == Token::LParen {
            true => {
                let (parts, kind) = parts(parser, self.modes)?;
                check_values(method, kind)?;
                (parts, true)
            }
            false if method.has_values() => {
                let message = format!("For {} partitions each partition must be defined", method.word());
                return Err(refused(1492, message).into());
            }
            false => (numbered(0, count.unwrap_or(1)), false),
        };
        if count.is_some_and(|count| count != parts.len()) {
            return Err(Error::syntax("Wrong number of partitions defined, mismatch with previous setting").into());
        }
        check_count(u64::try_from(parts.len()).unwrap_or(u64::MAX))?;
        let (of_key, counted, kinds) = (by.is_empty(), count.is_some(), Vec::new());
        let of = Partitioning { method, columns, linear, of_key, named, counted, kinds, parts };
        let mut args = vec![text(of.to_text())];
        for expr in &by {
            args.push(self.expression(expr)?);
        }
        Ok(option("partition_by", args))
    }

    /// What ALTER TABLE does with partitions; `None`, and nothing taken, where it is something else.
    pub(super) fn altered_partitions(
        &mut self,
        parser: &mut Parser<'_>,
        relation: &pg::RangeVar,
    ) -> Result<Option<Vec<N>>, Failed> {
        let action = |name: &str, args: Vec<Node>| super::alter::altered(relation, vec![option(name, args)]);
        if is_word(&parser.peek_token_ref().token, "partition") {
            let made = self.partition_by(parser)?;
            return Ok(Some(vec![super::alter::altered(relation, vec![made])]));
        }
        if took_all(parser, &["remove", "partitioning"]) {
            return Ok(Some(vec![action("remove_partitioning", Vec::new())]));
        }
        if took_all(parser, &["add", "partition"]) {
            no_binlog(parser);
            if took(parser, "partitions") {
                let count = parser.parse_literal_uint()?;
                return Ok(Some(vec![action("add_partitions", vec![text(count.to_string())])]));
            }
            let (made, kind) = parts(parser, self.modes)?;
            return Ok(Some(vec![action("add_partition", vec![told(made, kind)])]));
        }
        if took_all(parser, &["drop", "partition"]) {
            let named = partition_names(parser)?;
            return Ok(Some(vec![
                action("check_drop_partition", names(&named)),
                emptied(relation, &named),
                action("drop_partition", names(&named)),
            ]));
        }
        if took_all(parser, &["truncate", "partition"]) {
            if took(parser, "all") {
                let trees = vec![action("check_partitioned", Vec::new()), emptied(relation, &[])];
                return Ok(Some(trees.into_iter().chain([action("nothing", Vec::new())]).collect()));
            }
            let named = partition_names(parser)?;
            let check = action("check_partitioned", names(&named));
            return Ok(Some(vec![check, emptied(relation, &named), action("nothing", Vec::new())]));
        }
        if took_all(parser, &["coalesce", "partition"]) {
            no_binlog(parser);
            let count = parser.parse_literal_uint()?;
            return Ok(Some(vec![action("coalesce_partition", vec![text(count.to_string())])]));
        }
        if took_all(parser, &["reorganize", "partition"]) {
            no_binlog(parser);
            if !matches!(parser.peek_token_ref().token, Token::Word(_)) {
                // Rows lie where they lie.
                return Ok(Some(vec![action("check_partitioned", Vec::new())]));
            }
            let named = partition_names(parser)?;
            if !took(parser, "into") {
                return unexpected("INTO");
            }
            let (made, kind) = parts(parser, self.modes)?;
            let mut args = vec![told(made, kind)];
            args.extend(names(&named));
            return Ok(Some(vec![action("reorganize_partition", args)]));
        }
        if took_all(parser, &["rebuild", "partition"]) {
            no_binlog(parser);
            // Rows lie where they lie.
            let named = if took(parser, "all") { Vec::new() } else { partition_names(parser)? };
            return Ok(Some(vec![action("check_partitioned", names(&named))]));
        }
        for refused in ["exchange", "analyze", "check", "optimize", "repair", "discard", "import"] {
            let token = |at: usize| parser.peek_nth_token_ref(at).token.clone();
            if is_word(&token(0), refused) && is_word(&token(1), "partition") {
                return Err(Error::unsupported(format!("ALTER TABLE … {} PARTITION", refused.to_uppercase())).into());
            }
        }
        Ok(None)
    }
}

/// What rows are parted by, in parentheses.
fn partitioning_expression(parser: &mut Parser<'_>) -> Result<Expr, Failed> {
    let expr = parser.parse_expr()?;
    match names_column(&expr)? {
        true => Ok(expr),
        false => Err(refused(1486, CONSTANT).into()),
    }
}

/// Whether an expression names a column.
///
/// # Errors
/// `1564` for what rows may not be parted by.
fn names_column(expr: &Expr) -> Result<bool> {
    let all =
        |exprs: &[&Expr]| exprs.iter().try_fold(false, |named, expr| Ok::<_, Error>(names_column(expr)? || named));
    match expr {
        Expr::Identifier(name) if name.value.starts_with('@') => Err(Error::syntax(CONSTANT)),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => Ok(true),
        Expr::Value(_) => Ok(false),
        Expr::Nested(of)
        | Expr::UnaryOp { op: UnaryOperator::Plus | UnaryOperator::Minus, expr: of }
        | Expr::Ceil { expr: of, .. }
        | Expr::Floor { expr: of, .. }
        | Expr::Extract { expr: of, .. } => names_column(of),
        Expr::BinaryOp {
            left,
            op:
                BinaryOperator::Plus
                | BinaryOperator::Minus
                | BinaryOperator::Multiply
                | BinaryOperator::Modulo
                | BinaryOperator::MyIntegerDivide,
            right,
        } => all(&[left, right]),
        Expr::Function(function) => {
            let name = function.name.to_string().to_ascii_lowercase();
            if RANDOM.contains(&name.as_str()) {
                return Err(Error::syntax(CONSTANT));
            }
            let FunctionArguments::List(args) = &function.args else { return Err(not_allowed()) };
            if !ALLOWED.contains(&name.as_str()) {
                return Err(not_allowed());
            }
            let args = args.args.iter().map(|arg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) => Ok(arg),
                _ => Err(not_allowed()),
            });
            all(&args.collect::<Result<Vec<_>>>()?)
        }
        _ => Err(not_allowed()),
    }
}

fn not_allowed() -> Error {
    refused(1564, "This partition function is not allowed")
}

/// Functions that have another value each time.
const RANDOM: [&str; 6] = ["curdate", "current_date", "current_timestamp", "now", "rand", "uuid"];

const CONSTANT: &str =
    "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed";

fn no_binlog(parser: &mut Parser<'_>) {
    if !took(parser, "no_write_to_binlog") {
        took(parser, "local");
    }
}

/// Partitions to be, as a definition of which nothing else counts; the method is the one whose values they have.
fn told(parts: Vec<Part>, kind: Option<Values>) -> Node {
    let method = match kind {
        Some(Values::Less) => Method::Range,
        Some(Values::In) => Method::List,
        None => Method::Hash,
    };
    let (columns, linear, of_key, named, counted, kinds) = (false, false, false, true, false, Vec::new());
    text(Partitioning { method, columns, linear, of_key, named, counted, kinds, parts }.to_text())
}

/// Rows of partitions go; of all, for none.
fn emptied(relation: &pg::RangeVar, partitions: &[String]) -> N {
    let options = if partitions.is_empty() { Vec::new() } else { vec![said(partitions)] };
    N::DeleteStmt(Box::new(pg::DeleteStmt {
        relation: Some(relation.clone()),
        returning_clause: (!options.is_empty()).then(|| pg::ReturningClause { options, exprs: Vec::new() }),
        ..Default::default()
    }))
}
