//! Expressions.

use std::sync::Arc;

use super::functions::{self, Said};
use super::{Lowering, missing, mysql, type_words};
use crate::collation::Collation;
use crate::functions::{Function, FunctionKind, internal};
use crate::ir::{
    Aggregate, CastContext, CollateRole, ColumnIndex, ColumnRef, CompareOp, Expr, ExprKind, Frame, FrameBound,
    FrameExclude, FrameUnit, LikeKind, Query, Value, WindowCall,
};
use crate::types::{Field, Qualifier};
use crate::{Language, Result, Type, budget};

/// What stands in the error there when CONNECT BY meets a row again: a text that is no number.
pub const LOOP: &str = "CONNECT BY query resulted in a loop";

/// What stands in the error there when a month has no such day: a text that is no number.
pub const NO_DAY: &str = "the result of the datetime computation is out of range";

/// What stands in the error there when a number does not fit into a text: a text that is no number.
pub const NO_ROOM: &str = "a converted value does not fit into the allotted space";

impl Lowering<'_> {
    pub(super) fn exprs(&mut self, exprs: &[Expr]) -> Result<String> {
        let lowered: Result<Vec<String>> = exprs.iter().map(|expr| self.expr(expr)).collect();
        Ok(lowered?.join(", "))
    }

    /// An expression; operators stand in parentheses.
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<String> {
        if let Some((_, key)) = self.common.iter().find(|(common, _)| common == expr) {
            let key = key.clone();
            let common = std::mem::take(&mut self.common);
            let one = self.expr(expr);
            self.common = common;
            let one = format!("min({} COLLATE \"C\")", one?);
            return Ok(key.map_or_else(|| one.clone(), |key| format!("(CASE WHEN GROUPING({key}) = 0 THEN {one} END)")));
        }
        match budget::deeper(|| self.expr_kind(expr)) {
            Err(error) => self.ask(expr, error),
            lowered => lowered,
        }
    }

    fn expr_kind(&mut self, expr: &Expr) -> Result<String> {
        Ok(match &expr.kind {
            ExprKind::Literal(value) => self.constant(value, &expr.ty)?,
            ExprKind::Param(at) => {
                let ty = self.params.get(*at).unwrap_or(&expr.ty);
                // A width would cut what its column refuses.
                let words = match ty.through_domains() {
                    Type::Varchar(_) if self.manner.mysql => "varchar".to_owned(),
                    _ => type_words(ty)?,
                };
                format!("{}::{words}", self.parameter(*at))
            }
            ExprKind::Column(column) => self.column(*column)?,
            ExprKind::Call { function, args } => match functions::converts(function) {
                // What the arguments are converted to is told by the type of the result.
                Some(template) => self.converted(template, args, &expr.ty)?,
                None => self.call_of(function, args)?,
            },
            ExprKind::Cast { arg, context } => self.cast(arg, *context, &expr.ty)?,
            ExprKind::Aggregate(aggregate) => self.aggregate(aggregate)?,
            ExprKind::Window(call) => self.window(call)?,
            ExprKind::Compare { op, left, right } => match self.place(*op, left, right)? {
                Some(place) => place,
                None => {
                    let is_order = !matches!(op, CompareOp::Equal | CompareOp::NotEqual);
                    let by = if is_order { self.order_of(&left.ty) } else { "" };
                    let (left, right) = self.sides(left, right)?;
                    format!("({left}{by} {} {right})", op.sign())
                }
            },
            ExprKind::Distinct { negated, left, right } => {
                let words = if *negated { "IS NOT DISTINCT FROM" } else { "IS DISTINCT FROM" };
                let (left, right) = self.sides(left, right)?;
                format!("({left} {words} {right})")
            }
            ExprKind::And(members) => self.joined(" AND ", members)?,
            ExprKind::Or(members) => self.joined(" OR ", members)?,
            ExprKind::Not(arg) => format!("(NOT {})", self.expr(arg)?),
            ExprKind::IsNull { arg, negated } => {
                format!("({} IS{} NULL)", self.expr(arg)?, if *negated { " NOT" } else { "" })
            }
            ExprKind::IsTruth { arg, test, negated } => {
                let word = test.map_or("UNKNOWN", |test| if test { "TRUE" } else { "FALSE" });
                format!("({} IS{} {word})", self.expr(arg)?, if *negated { " NOT" } else { "" })
            }
            ExprKind::Like { kind, negated, text, pattern, escape } => {
                let word = match kind {
                    LikeKind::Like => "LIKE",
                    LikeKind::ILike => "ILIKE",
                    LikeKind::Matches => return self.matches(*negated, text, pattern, escape.as_deref()),
                };
                let (text, pattern) = (self.expr(text)?, self.expr(pattern)?);
                let escape = match escape {
                    Some(escape) => format!(" ESCAPE {}", self.expr(escape)?),
                    None => String::new(),
                };
                format!("({text}{} {word} {pattern}{escape})", if *negated { " NOT" } else { "" })
            }
            ExprKind::InList { arg, negated, list } => {
                let word = if *negated { "NOT IN" } else { "IN" };
                let padded = self.padded_of(std::iter::once(&**arg).chain(list));
                let key = self.key_in(arg, padded.as_deref())?;
                let list: Result<Vec<String>> =
                    list.iter().map(|member| self.key_in(member, padded.as_deref())).collect();
                format!("({key} {word} ({}))", list?.join(", "))
            }
            ExprKind::Case { branches, otherwise } => {
                let mut out = "CASE".to_owned();
                for (condition, result) in branches {
                    out.push_str(&format!(" WHEN {} THEN {}", self.expr(condition)?, self.expr(result)?));
                }
                if let Some(otherwise) = otherwise {
                    out.push_str(&format!(" ELSE {}", self.expr(otherwise)?));
                }
                out + " END"
            }
            ExprKind::Coalesce(members) => format!("COALESCE({})", self.exprs(members)?),
            ExprKind::NullIf(left, right) if self.padded_of([&**left, &**right]).is_some() => {
                let (one, other) = self.sides(left, right)?;
                format!("(CASE WHEN {one} = {other} THEN NULL ELSE {} END)", self.expr(left)?)
            }
            ExprKind::NullIf(left, right) => format!("NULLIF({}, {})", self.expr(left)?, self.expr(right)?),
            ExprKind::Greatest(members) | ExprKind::Least(members) if self.padded_of(members).is_some() => {
                return Err(missing("GREATEST and LEAST of texts in which blanks at the end do not count"));
            }
            ExprKind::Greatest(members) => format!("GREATEST({}{})", self.exprs(members)?, self.order_of(&expr.ty)),
            ExprKind::Least(members) => format!("LEAST({}{})", self.exprs(members)?, self.order_of(&expr.ty)),
            ExprKind::Scalar(query) => self.nested(query)?,
            ExprKind::Exists(query) => format!("EXISTS {}", self.nested(query)?),
            ExprKind::InQuery { row, negated, query } => {
                let word = if *negated { "NOT IN" } else { "IN" };
                let mut keys = Vec::with_capacity(row.len());
                let mut places = Vec::with_capacity(row.len());
                for (at, member) in row.iter().enumerate() {
                    let padded = self.padded(member);
                    keys.push(self.key_in(member, padded.as_deref())?);
                    let place = format!("c{at}");
                    places.push(padded.map_or_else(|| place.clone(), |_| format!("rtrim({place}, ' ')")));
                }
                let rows = self.nested_keys(query, &places)?;
                format!("(({}) {word} {rows})", keys.join(", "))
            }
            ExprKind::Quantified { op, all, arg, query } => {
                let word = if *all { "ALL" } else { "ANY" };
                let padded = self.padded(arg);
                let key = self.key_in(arg, padded.as_deref())?;
                let place = padded.map_or_else(|| "c0".to_owned(), |_| "rtrim(c0, ' ')".to_owned());
                let rows = self.nested_keys(query, &[place])?;
                format!("({key} {} {word} {rows})", op.sign())
            }
            ExprKind::QuantifiedArray { arg, .. } if self.padded(arg).is_some() => {
                return Err(missing("an array of texts in which blanks at the end do not count"));
            }
            ExprKind::QuantifiedArray { op, all, arg, array } => {
                let word = if *all { "ALL" } else { "ANY" };
                format!("({} {} {word} ({}))", self.expr(arg)?, op.sign(), self.expr(array)?)
            }
            ExprKind::ArrayQuery(query) => format!("ARRAY{}", self.nested(query)?),
            ExprKind::Row(members) => format!("ROW({})", self.exprs(members)?),
            ExprKind::Array(members) => format!("ARRAY[{}]::{}", self.exprs(members)?, type_words(&expr.ty)?),
            ExprKind::Collate { arg, collation, .. } if collation.namespace == crate::mysql::types::SCHEMA => {
                if self.is_declared(arg, collation) {
                    return self.expr(arg);
                }
                let words = mysql::collation(collation);
                if words != "\"C\"" {
                    self.own()?;
                }
                format!("({} COLLATE {words})", self.expr(arg)?)
            }
            ExprKind::Collate { arg, role: CollateRole::Operand { .. }, .. } => self.expr(arg)?,
            // The column's own CHECK asks it.
            ExprKind::Checked { arg, .. } if mysql::own_words(&expr.ty).is_some() => self.expr(arg)?,
            ExprKind::Collate { arg, collation, .. } => {
                format!("({} COLLATE {})", self.expr(arg)?, crate::postgres::quote_ident(&collation.name))
            }
            ExprKind::Default => "DEFAULT".to_owned(),
            #[allow(unreachable_patterns, reason = "kinds of values that come later are refused by name")]
            _ => return Err(missing("this expression")),
        })
    }

    /// What a text is compared as: in a collation in which blanks at the end do not count, what stands before them.
    pub(super) fn key(&mut self, expr: &Expr) -> Result<String> {
        let padded = self.padded(expr);
        self.key_in(expr, padded.as_deref())
    }

    /// The same of one that stands beside others.
    fn key_in(&mut self, expr: &Expr, padded: Option<&Collation>) -> Result<String> {
        let Some(collation) = padded else { return self.expr(expr) };
        self.own()?;
        let bare = match &expr.kind {
            ExprKind::Collate { arg, .. } => arg,
            _ => expr,
        };
        let is_own = matches!(&bare.kind, ExprKind::Column(column) if self.names.contains_key(&column.relation));
        let words = match is_own && mysql::keeps_no_blanks(&bare.ty) {
            true if self.is_declared(bare, collation) => return self.expr(bare),
            true => self.expr(bare)?,
            false => format!("rtrim({}, ' ')", self.expr(bare)?),
        };
        Ok(format!("({words} COLLATE {})", mysql::collation(collation)))
    }

    /// The collation that an expression is compared in, where blanks at the end do not count in it.
    pub(super) fn padded(&self, expr: &Expr) -> Option<Arc<Collation>> {
        match &expr.kind {
            ExprKind::Collate { collation, .. } => Some(collation.clone()).filter(|collation| mysql::pads(collation)),
            ExprKind::Cast { arg, .. } if expr.ty.is_text() => self.padded(arg),
            ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) => {
                let declared = self.names.get(relation).and_then(|named| named.collations.get(*at)?.clone());
                declared.filter(|collation| mysql::pads(collation))
            }
            _ => None,
        }
    }

    /// The same of what stands beside each other.
    fn padded_of<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Option<Arc<Collation>> {
        exprs.into_iter().find_map(|expr| self.padded(expr))
    }

    /// The two sides of a comparison.
    fn sides(&mut self, left: &Expr, right: &Expr) -> Result<(String, String)> {
        if let (ExprKind::Row(lefts), ExprKind::Row(rights)) = (&left.kind, &right.kind) {
            let sides: Result<Vec<(String, String)>> =
                lefts.iter().zip(rights).map(|(left, right)| self.sides(left, right)).collect();
            let (lefts, rights): (Vec<String>, Vec<String>) = sides?.into_iter().unzip();
            return Ok((format!("ROW({})", lefts.join(", ")), format!("ROW({})", rights.join(", "))));
        }
        // What is said of one side rules both.
        let named = [left, right].into_iter().find_map(|side| match &side.kind {
            ExprKind::Collate { collation, .. } => Some(collation.clone()),
            _ => None,
        });
        let padded = match named {
            Some(named) => Some(named).filter(|collation| mysql::pads(collation)),
            None => self.padded_of([left, right]),
        };
        Ok((self.key_in(left, padded.as_deref())?, self.key_in(right, padded.as_deref())?))
    }

    /// The rows of a query, with these words for its columns `c0`, `c1`, ….
    fn nested_keys(&mut self, query: &Query, words: &[String]) -> Result<String> {
        let rows = self.nested(query)?;
        if words.iter().enumerate().all(|(at, words)| *words == format!("c{at}")) {
            return Ok(rows);
        }
        let places: Vec<String> = (0..words.len()).map(|at| format!("c{at}")).collect();
        Ok(format!("(SELECT {} FROM {rows} AS keys ({}))", words.join(", "), places.join(", ")))
    }

    /// A row that is told by its place: what PostgreSQL finds without a look at the others.
    fn place(&mut self, op: CompareOp, left: &Expr, right: &Expr) -> Result<Option<String>> {
        let (ExprKind::Column(column), CompareOp::Equal, true) = (&left.kind, op, self.names_rows) else {
            return Ok(None);
        };
        let known = self.names.get(&column.relation).filter(|named| !named.placeless).map(|named| named.alias.clone());
        let (ColumnIndex::RowIdentity, Some(alias)) = (column.column, known) else { return Ok(None) };
        let number = self.expr(right)?;
        Ok(Some(format!("({alias}.ctid = format('(%s,%s)', ({number}) / 65536, ({number}) % 65536)::tid)")))
    }

    /// MATCHES with a pattern that is known now: a regular expression of the same meaning.
    fn matches(&mut self, negated: bool, text: &Expr, pattern: &Expr, escape: Option<&Expr>) -> Result<String> {
        let known = |expr: &Expr| match &expr.kind {
            ExprKind::Literal(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let escape = match escape {
            Some(escape) => known(escape).and_then(|escape| escape.chars().next()),
            None => Some('\\'),
        };
        let (Some(pattern), Some(escape)) = (known(pattern), escape) else {
            return Err(missing("MATCHES with a pattern that is computed"));
        };
        let sign = if negated { "!~" } else { "~" };
        Ok(format!("({} {sign} {})", self.expr(text)?, super::text(&functions::expression_of(&pattern, escape))))
    }

    /// A conversion by a function, whose result is of a type that the call alone does not say.
    fn converted(&mut self, template: &str, args: &[Expr], ty: &Type) -> Result<String> {
        let words = type_words(ty)?;
        let lowered: Result<Vec<String>> = args.iter().map(|arg| self.expr(arg)).collect();
        let mut lowered = lowered?;
        if let ("{0}", Some(arg), Some(first)) = (template, args.first(), lowered.first_mut()) {
            let (from, to) = (arg.ty.through_domains(), ty.through_domains());
            *first = self.number_as(std::mem::take(first), arg, from, to, CastContext::Explicit)?;
        }
        let mut converted = functions::filled(template, &lowered);
        // A month that has no such day is an error, and not its last day.
        let by_months = |arg: &Expr| matches!(&arg.ty, Type::QualifiedInterval(by) if matches!(by.first, Field::Year | Field::Month));
        if self.known.is_some()
            && template == functions::DATETIME_ADD
            && !args.first().is_some_and(by_months)
            && args.get(2).is_some_and(by_months)
            && let Some(moment) = lowered.first()
        {
            let failed = format!("('{NO_DAY}' || pg_backend_pid()::text)::integer::text::timestamp");
            converted = format!(
                "CASE WHEN extract(day FROM {converted}) <> extract(day FROM {moment}) THEN {failed} ELSE {converted} END"
            );
        }
        match (args.first().map(|arg| &arg.ty), ty) {
            (Some(Type::QualifiedInterval(_)), to) if to.is_text() => return Err(missing("the text of an INTERVAL")),
            (Some(Type::Datetime(qualifier)), to) if to.is_text() => converted = text_of_moment(&converted, *qualifier),
            (Some(Type::Bool), to) if to.is_text() => converted = format!("left(({converted})::text, 1)"),
            // Days are counted from the last of the year 1899.
            (Some(Type::Date), to) if to.is_integer() => converted = format!("({converted}) - date '1899-12-31'"),
            (Some(from), Type::Date) if from.is_integer() => converted = format!("date '1899-12-31' + ({converted})"),
            (_, Type::QualifiedInterval(qualifier)) => {
                converted = converted.replace("{unit}", &qualifier.first.to_string());
                if let Some(unit) = last_unit(qualifier.last) {
                    converted = format!("date_trunc('{unit}', {converted})");
                }
                if qualifier.first == Field::Day {
                    converted = format!("justify_hours({converted})");
                }
            }
            (from, Type::Datetime(qualifier)) if crate::postgres::types::import(ty) == Type::Text => {
                if from.is_some_and(|from| crate::postgres::types::import(from) == Type::Text && from != ty) {
                    return Err(missing("a computation with a DATETIME of these fields"));
                }
                if from != Some(ty) {
                    converted = text_of_moment(&converted, *qualifier);
                }
            }
            (_, Type::Datetime(qualifier)) => {
                let whole = if qualifier.first == Field::Hour { "time::interval" } else { "timestamp" };
                if let Some(unit) = last_unit(qualifier.last) {
                    converted = format!("date_trunc('{unit}', ({converted})::{whole})");
                }
            }
            _ => {}
        }
        Ok(format!("({converted})::{words}"))
    }

    fn infix(&mut self, sign: &str, left: &Expr, right: &Expr) -> Result<String> {
        Ok(format!("({} {sign} {})", self.expr(left)?, self.expr(right)?))
    }

    fn joined(&mut self, word: &str, members: &[Expr]) -> Result<String> {
        let lowered: Result<Vec<String>> = members.iter().map(|member| self.expr(member)).collect();
        Ok(format!("({})", lowered?.join(word)))
    }

    /// A conversion. What a column takes is left to its column, which alone knows an over-long value from one that was
    /// to be cut.
    fn cast(&mut self, arg: &Expr, context: CastContext, ty: &Type) -> Result<String> {
        let mut lowered = self.expr(arg)?;
        if let (Type::Datetime(qualifier), true) = (&arg.ty, ty.is_text()) {
            lowered = text_of_moment(&lowered, *qualifier);
        }
        let (from, to) = (arg.ty.through_domains(), ty.through_domains());
        lowered = self.number_as(lowered, arg, from, to, context)?;
        match (from, to) {
            (Type::Bool, to)
                if self.manner.mysql
                    && (to.is_integer() || to.is_decimal() || matches!(to, Type::Float4 | Type::Float8)) =>
            {
                lowered = format!("({lowered})::integer");
            }
            (Type::Bool, to) if self.manner.mysql && to.is_text() => return Err(missing("the text of a truth")),
            (from, Type::Bool) if self.manner.mysql && from.is_integer() => return Ok(format!("({lowered} <> 0)")),
            _ => {}
        }
        let ty = if mysql::own_words(ty).is_some() || ty.distinct().is_some() { ty.through_domains() } else { ty };
        let words = match ty {
            Type::Varchar(_) | Type::Lvarchar(_) | Type::Nvarchar(_) if context == CastContext::Assignment => {
                "varchar".to_owned()
            }
            Type::Char(_) | Type::Nchar(_) if context == CastContext::Assignment => "bpchar".to_owned(),
            Type::Scalar(scalar, Some(_)) if context == CastContext::Assignment => scalar.words.to_owned(),
            ty => type_words(ty)?,
        };
        Ok(format!("({lowered})::{words}"))
    }

    /// A value on its way to Informix's type: what stands behind the point is left out of an integer, and a number that a text
    /// has no room for is an error.
    fn number_as(&self, words: String, arg: &Expr, from: &Type, to: &Type, context: CastContext) -> Result<String> {
        if self.known.is_none() || self.manner.mysql {
            return Ok(words);
        }
        let floating = matches!(from, Type::Float4 | Type::Float8);
        if to.is_integer() && (from.is_decimal() || floating) {
            return Ok(format!("trunc({words})"));
        }
        if to.is_integer() && from.is_text() {
            return Ok(format!("trunc(({words})::numeric)"));
        }
        let room = match to {
            Type::Char(room)
            | Type::Nchar(room)
            | Type::Nvarchar(room)
            | Type::Lvarchar(room)
            | Type::Varchar(Some(room)) => *room,
            _ => return Ok(words),
        };
        if context == CastContext::Assignment || !(from.is_integer() || from.is_decimal() || floating) {
            return Ok(words);
        }
        let asks = |part: &Expr| matches!(&part.kind, ExprKind::Call { function, .. } if functions::of_sequences(function).is_some());
        if crate::ir::walk::any(arg, asks) {
            return Err(missing("a sequence's number as a text"));
        }
        let text = format!("({words})::text");
        Ok(format!(
            "(CASE WHEN char_length({text}) > {room} THEN ('{NO_ROOM}' || {text})::integer::text ELSE {text} END)"
        ))
    }

    /// A call of a function or operator.
    pub(super) fn call_of(&mut self, function: &Function, args: &[Expr]) -> Result<String> {
        if let Some(asked) = functions::of_sequences(function)
            && let Some(sequence) = self.sequence(args)
        {
            return Ok(format!("{asked}({sequence})"));
        }
        if function.name == "place of a row" {
            return self.place_of_row(args);
        }
        if function.is(internal("grouping of keys")) {
            // In the words of the keys, by which they are known there.
            let common = std::mem::take(&mut self.common);
            let words = |arg: &Expr| common.iter().find(|(of, _)| of == arg).and_then(|(_, words)| words.clone());
            let mut keys = Vec::with_capacity(args.len());
            for arg in args {
                keys.push(match words(arg) {
                    Some(words) => Ok(words),
                    None => self.expr(arg).map(|key| format!("({key})")),
                });
            }
            self.common = common;
            let keys: Result<Vec<String>> = keys.into_iter().collect();
            return Ok(format!("GROUPING({})", keys?.join(", ")));
        }
        if function.languages.contains(&Language::Mysql) && !function.languages.contains(&Language::Postgres) {
            return self.mysql_call(function, args);
        }
        if let ("ifx_connect_path" | "ifx_on_path", [above, keys @ ..]) = (function.name, args) {
            return self.path(above, keys, function.name == "ifx_on_path");
        }
        if function.name == functions::ROUTINE {
            return Err(missing("a routine in SPL of rows' values, outside of the select list"));
        }
        if !function.languages.contains(&Language::Postgres) || function.name.contains(' ') {
            let template = functions::said(function, args.len()).ok_or_else(|| missing(function.name))?;
            let lowered: Result<Vec<String>> = args.iter().map(|arg| self.expr(arg)).collect();
            return Ok(functions::filled(template, &lowered?));
        }
        if function.kind == FunctionKind::Operator {
            return match args {
                [left, right] => self.infix(function.name, left, right),
                [arg] => Ok(format!("({} {})", function.name, self.expr(arg)?)),
                _ => Err(missing(function.name)),
            };
        }
        Ok(match functions::form(function.name) {
            Said::Value => function.name.to_owned(),
            Said::Call => {
                let variadic = if functions::takes_variadic(function) { "VARIADIC " } else { "" };
                format!("{}({variadic}{})", super::quote(function.name), self.exprs(args)?)
            }
            Said::Construct => format!("{}({})", function.name, self.exprs(args)?),
        })
    }

    /// The keys of the rows above a row of CONNECT BY and its own, one behind the other, or whether its own is among them.
    fn path(&mut self, above: &Expr, keys: &[Expr], asks: bool) -> Result<String> {
        let above = self.expr(above)?;
        let mut own = Vec::with_capacity(keys.len());
        for key in keys {
            // By its bytes, among which no separator is.
            own.push(format!("coalesce(encode(convert_to(({})::text, 'UTF8'), 'hex'), 'null')", self.expr(key)?));
        }
        let own = format!("('/' || {} || '/')", own.join(" || ',' || "));
        let met = format!("(strpos({above}, {own}) > 0)");
        if asks {
            return Ok(met);
        }
        Ok(format!("(CASE WHEN {met} THEN ('{LOOP}' || {own})::integer::text ELSE {above} || {own} END)"))
    }

    fn aggregate(&mut self, aggregate: &Aggregate) -> Result<String> {
        let common = std::mem::take(&mut self.common);
        let lowered = self.aggregate_alone(aggregate);
        self.common = common;
        lowered
    }

    fn aggregate_alone(&mut self, aggregate: &Aggregate) -> Result<String> {
        if matches!(aggregate.function.name, "avg" | "mysql_exact_avg")
            && let ([arg], true, true) = (aggregate.args.as_slice(), self.manner.mysql, aggregate.filter.is_none())
        {
            return self.average(arg, aggregate.distinct, aggregate.function.name == "avg");
        }
        if let ("any_value", [arg], true) = (aggregate.function.name, aggregate.args.as_slice(), self.manner.mysql) {
            return Ok(format!("(array_agg({}))[1]", self.expr(arg)?));
        }
        if let Some(collation) = self.padded_of(&aggregate.args) {
            return self.padded_aggregate(aggregate, &collation);
        }
        let name = functions::aggregate(aggregate.function).ok_or_else(|| missing(aggregate.function.name))?;
        let ordered = functions::is_ordered_set(name) && !aggregate.order_by.is_empty();
        let mut out = format!("{name}({}", if aggregate.distinct { "DISTINCT " } else { "" });
        let star = aggregate.args.is_empty() && !ordered;
        out.push_str(&if star { "*".to_owned() } else { self.aggregated(aggregate.function, &aggregate.args)? });
        if let ("max" | "min", [arg]) = (name, aggregate.args.as_slice()) {
            out.push_str(self.order_of(&arg.ty));
        }
        let keys = self.keys(&aggregate.order_by, |_, _| None)?;
        if ordered {
            out.push_str(&format!(") WITHIN GROUP ({})", keys.trim_start()));
        } else {
            out.push_str(&keys);
            out.push(')');
        }
        self.filter_of(aggregate.filter.as_ref(), &mut out)?;
        Ok(out)
    }

    /// An aggregate of texts in whose collation blanks at the end do not count.
    fn padded_aggregate(&mut self, aggregate: &Aggregate, collation: &Collation) -> Result<String> {
        let mut out = match (aggregate.function.name, aggregate.args.as_slice()) {
            ("count", [arg]) => {
                let distinct = if aggregate.distinct { "DISTINCT " } else { "" };
                format!("count({distinct}{})", self.key_in(arg, Some(collation))?)
            }
            (name @ ("min" | "max"), [arg]) => {
                let order = if name == "max" { "DESC" } else { "ASC" };
                let (key, words) = (self.key_in(arg, Some(collation))?, self.expr(arg)?);
                let mut out = format!("(array_agg({words} ORDER BY {key} {order} NULLS LAST)");
                self.filter_of(aggregate.filter.as_ref(), &mut out)?;
                return Ok(out + ")[1]");
            }
            (name, args) if !aggregate.distinct => {
                let name = functions::aggregate(aggregate.function).ok_or_else(|| missing(name))?;
                let args = self.aggregated(aggregate.function, args)?;
                format!("{name}({args}{})", self.keys(&aggregate.order_by, |_, _| None)?)
            }
            (name, _) => {
                return Err(missing(&format!(
                    "{}(DISTINCT …) of texts in which blanks at the end do not count",
                    name.to_uppercase()
                )));
            }
        };
        self.filter_of(aggregate.filter.as_ref(), &mut out)?;
        Ok(out)
    }

    /// The arguments of an aggregate or window function.
    fn aggregated(&mut self, function: &Function, args: &[Expr]) -> Result<String> {
        if !self.manner.mysql {
            return self.exprs(args);
        }
        let mut lowered = Vec::with_capacity(args.len());
        for arg in args {
            let words = self.expr(arg)?;
            lowered.push(mysql::aggregated(function, arg, words)?);
        }
        Ok(lowered.join(", "))
    }

    /// The row's own key: it stays what it is where others change the row meanwhile.
    fn place_of_row(&mut self, args: &[Expr]) -> Result<String> {
        let [Expr { kind: ExprKind::Column(column), .. }] = args else { return Err(missing("place of a row")) };
        let key = self.names.get(&column.relation).and_then(|named| named.key.clone());
        match (key, self.manner.mysql) {
            (Some(key), true) => Ok(key),
            (None, true) => Err(missing("choosing rows to be changed in a table without a primary key")),
            _ => Err(missing("place of a row")),
        }
    }

    /// AVG, with more digits than are shown.
    fn average(&mut self, arg: &Expr, distinct: bool, of_float: bool) -> Result<String> {
        let ty = arg.ty.through_domains();
        let distinct = if distinct { "DISTINCT " } else { "" };
        let lowered = self.expr(arg)?;
        if matches!(ty, Type::Float4 | Type::Float8) {
            return Ok(format!("(sum({distinct}{lowered}) / nullif(count({distinct}{lowered}), 0))"));
        }
        // How many digits are shown hangs on the values.
        if of_float {
            return Err(missing("the average of decimals of any scale"));
        }
        let lowered = if *ty == Type::Bool { format!("({lowered})::integer") } else { lowered };
        self.own()?;
        Ok(format!("rowferry.quotient(sum({distinct}({lowered})::numeric), count({distinct}{lowered}))"))
    }

    fn filter_of(&mut self, filter: Option<&Expr>, out: &mut String) -> Result<()> {
        if let Some(filter) = filter {
            out.push_str(&format!(" FILTER (WHERE {})", self.expr(filter)?));
        }
        Ok(())
    }

    fn window(&mut self, call: &WindowCall) -> Result<String> {
        if let ("mysql_exact_avg", [arg], None) = (call.function.name, call.args.as_slice(), &call.filter) {
            self.own()?;
            let words = self.expr(arg)?;
            let words = if *arg.ty.through_domains() == Type::Bool { format!("({words})::integer") } else { words };
            let over = self.over(call)?;
            return Ok(format!("rowferry.quotient(sum(({words})::numeric){over}, count({words}){over})"));
        }
        let name = functions::aggregate(call.function).ok_or_else(|| missing(call.function.name))?;
        if matches!(name, "min" | "max") && self.padded_of(&call.args).is_some() {
            return Err(missing("MIN and MAX OVER texts in which blanks at the end do not count"));
        }
        let star = call.args.is_empty() && call.function.kind == FunctionKind::Aggregate;
        let args = if star { "*".to_owned() } else { self.aggregated(call.function, &call.args)? };
        let mut out = format!("{name}({args})");
        self.filter_of(call.filter.as_ref(), &mut out)?;
        out.push_str(&self.over(call)?);
        Ok(out)
    }

    fn over(&mut self, call: &WindowCall) -> Result<String> {
        let mut over = Vec::new();
        if !call.partition_by.is_empty() {
            let keys: Result<Vec<String>> = call.partition_by.iter().map(|key| self.key(key)).collect();
            over.push(format!("PARTITION BY {}", keys?.join(", ")));
        }
        let keys = self.keys(&call.order_by, |_, _| None)?;
        if !keys.is_empty() {
            over.push(keys.trim_start().to_owned());
        }
        if let Some(frame) = &call.frame {
            over.push(self.frame(frame)?);
        }
        Ok(format!(" OVER ({})", over.join(" ")))
    }

    fn frame(&mut self, frame: &Frame) -> Result<String> {
        let unit = match frame.unit {
            FrameUnit::Groups => "GROUPS",
            FrameUnit::Range => "RANGE",
            FrameUnit::Rows => "ROWS",
        };
        let (start, end) = (self.bound(&frame.start)?, self.bound(&frame.end)?);
        let exclude = match frame.exclude {
            FrameExclude::NoOthers => "",
            FrameExclude::CurrentRow => " EXCLUDE CURRENT ROW",
            FrameExclude::Group => " EXCLUDE GROUP",
            FrameExclude::Ties => " EXCLUDE TIES",
        };
        Ok(format!("{unit} BETWEEN {start} AND {end}{exclude}"))
    }

    fn bound(&mut self, bound: &FrameBound) -> Result<String> {
        Ok(match bound {
            FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_owned(),
            FrameBound::Preceding(by) => format!("{} PRECEDING", self.expr(by)?),
            FrameBound::CurrentRow => "CURRENT ROW".to_owned(),
            FrameBound::Following(by) => format!("{} FOLLOWING", self.expr(by)?),
            FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_owned(),
        })
    }
}

/// The text of a DATETIME: all of its fields, with as many digits as it has.
fn text_of_moment(moment: &str, qualifier: Qualifier) -> String {
    let fields = [
        (Field::Year, "", "YYYY"),
        (Field::Month, "-", "MM"),
        (Field::Day, "-", "DD"),
        (Field::Hour, " ", "HH24"),
        (Field::Minute, ":", "MI"),
        (Field::Second, ":", "SS"),
    ];
    let mut format = String::new();
    for (field, before, words) in fields {
        if field >= qualifier.first && field <= qualifier.last {
            format.push_str(if format.is_empty() { "" } else { before });
            format.push_str(words);
        }
    }
    if let Field::Fraction(digits) = qualifier.last {
        format.push_str(&format!(".FF{digits}"));
    }
    let kind = if qualifier.first >= Field::Hour { "interval" } else { "timestamp" };
    format!("to_char(({moment})::{kind}, '{format}')")
}

/// The field behind which nothing is kept; `None` for fractions.
fn last_unit(field: Field) -> Option<String> {
    (!matches!(field, Field::Fraction(_))).then(|| field.to_string().to_ascii_lowercase())
}
