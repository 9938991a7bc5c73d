//! Expressions.

use super::late::is_volatile;
use super::{
    Lowering, Naming, ParamForm, Repr, Sql, collation, collation_of, equality_collation_of, quote_text, repr_of,
};
use crate::ir::{CastContext, CollateRole, CompareOp, Expr, ExprKind, LikeKind, Query, Value, walk};
use crate::types::Storage;
use crate::values::decimal::native::stored_number;
use crate::{Error, Result, Type, budget};

impl Lowering<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Sql> {
        let sql = budget::deeper(|| self.expr_kind(expr))?;
        budget::written(sql.sql.len())?;
        Ok(sql)
    }

    fn expr_kind(&mut self, expr: &Expr) -> Result<Sql> {
        let ty = &expr.ty;
        let sql = match &expr.kind {
            ExprKind::Literal(value) => return self.literal(value, ty),
            ExprKind::Param(param) => {
                return Ok(Sql { sql: self.param(*param, ParamForm::AsIs), repr: repr_of(ty) });
            }
            ExprKind::Column(column) => return self.column(*column, ty),
            ExprKind::Call { function, args } => return self.call(function, args, ty),
            ExprKind::Cast { arg, context } => return self.cast(arg, ty, *context),
            ExprKind::Checked { arg, rules, .. } => return self.checked(arg, rules),
            ExprKind::Rules(rules) => super::quote_text(&super::rules::rules_words(rules)?),
            ExprKind::Aggregate(aggregate) => return self.aggregate(aggregate, ty),
            ExprKind::Window(window) => return self.window(window, ty),
            ExprKind::Compare { op, left, right } => self.compare(op.sign(), left, right)?,
            ExprKind::Distinct { negated, left, right } => {
                self.compare(if *negated { "IS" } else { "IS NOT" }, left, right)?
            }
            ExprKind::And(members) => self.chain(members, " AND ")?,
            ExprKind::Or(members) => self.chain(members, " OR ")?,
            ExprKind::Not(arg) => format!("(NOT {})", self.expr(arg)?.sql),
            ExprKind::IsNull { arg, negated } => {
                let arg = self.expr(arg)?.sql;
                format!("({arg} IS {}NULL)", not(*negated))
            }
            ExprKind::IsTruth { arg, test, negated } => {
                let arg = self.expr(arg)?.sql;
                let test = match test {
                    Some(true) => "TRUE",
                    Some(false) => "FALSE",
                    None => "NULL",
                };
                format!("({arg} IS {}{test})", not(*negated))
            }
            ExprKind::Like { kind, negated, text, pattern, escape } => {
                self.like(*kind, *negated, text, pattern, escape.as_deref())?
            }
            ExprKind::InList { arg, negated, list } => self.in_list(arg, *negated, list)?,
            ExprKind::Case { branches, otherwise } => return self.case(branches, otherwise.as_deref(), ty),
            ExprKind::Coalesce(members) => {
                let Some((first, others)) = members.split_first() else {
                    return Err(Error::internal("COALESCE of nothing"));
                };
                let (mut members, repr) = self.alike(std::slice::from_ref(first), ty)?;
                members.extend(self.perhaps(|lowering| lowering.alike(others, ty))?.0);
                return Ok(match members.len() {
                    1 => Sql { sql: members.into_iter().next().unwrap_or_default(), repr },
                    _ => Sql { sql: format!("coalesce({})", members.join(", ")), repr },
                });
            }
            ExprKind::NullIf(value, other) => {
                let equal = self.compare("=", value, other)?;
                let value = self.expr(value)?;
                return Ok(Sql {
                    sql: format!("CASE WHEN {equal} THEN NULL ELSE {} END", value.sql),
                    repr: value.repr,
                });
            }
            ExprKind::Numbered { given, sequence } => return self.numbered(given.as_deref(), *sequence),
            ExprKind::Greatest(members) => return self.extreme("max", members, ty),
            ExprKind::Least(members) => return self.extreme("min", members, ty),
            ExprKind::Scalar(query) => {
                let (sql, reprs) = self.subquery(query)?;
                let repr = reprs.first().copied().unwrap_or(Repr::Plain);
                if super::single::has_one_row(query) {
                    return Ok(Sql { sql: format!("({sql})"), repr });
                }
                // SQLite would take the first of many rows.
                self.needs_us();
                return Ok(Sql { sql: format!("(SELECT rf_single(c0) FROM ({sql}))"), repr });
            }
            ExprKind::Exists(query) => {
                // One row is enough.
                self.some_groups = true;
                format!("EXISTS ({})", self.subquery(query)?.0)
            }
            ExprKind::InQuery { row, negated, query } => self.in_query(row, *negated, query)?,
            ExprKind::Quantified { op, all, arg, query } => {
                let (sql, reprs) = self.subquery(query)?;
                let item_ty = query.columns.first().map_or(Type::Unknown, |column| column.ty.clone());
                let item = Sql { sql: "c0".into(), repr: reprs.first().copied().unwrap_or(Repr::Plain) };
                self.quantified(*op, *all, arg, item, &item_ty, &format!("({sql})"))?
            }
            ExprKind::QuantifiedArray { op, all, arg, array } => {
                let Type::Array(element) = &array.ty else {
                    return Err(Error::internal("op ANY/ALL (array) requires array on right side"));
                };
                let array = self.expr(array)?.sql;
                self.needs_row_function();
                let item = Sql { sql: "c0".into(), repr: repr_of(element) };
                let bytes = if element.storage() == Storage::Blob { ", 1" } else { "" };
                self.quantified(*op, *all, arg, item, element, &format!("rf_array_items({array}{bytes})"))?
            }
            ExprKind::ArrayQuery(query) => {
                let (sql, reprs) = self.subquery(query)?;
                let item = self.stored_text(Sql { sql: "c0".into(), repr: reprs[0] }, &query.columns[0].ty);
                self.needs_us();
                let aggregate = array_aggregate(&query.columns[0].ty);
                format!("(SELECT coalesce({aggregate}({}), '[]') FROM ({sql}))", item.sql)
            }
            ExprKind::Array(members) => {
                let nested = members.iter().any(|member| matches!(member.ty, Type::Array(_)));
                let members = self.texts(members)?;
                self.needs_us();
                let make = if nested { "rf_make_array_nested" } else { "rf_make_array" };
                format!("{make}({})", members.join(", "))
            }
            ExprKind::Row(members) => self.row_value(members, ty)?,
            ExprKind::Collate { collation, role: CollateRole::Written, .. } if collation.is_unicode() => {
                return Err(Error::unsupported(format!("COLLATE \"{}\" in this place", collation.name)));
            }
            // Whatever compares the value further out would do so in the column's order.
            ExprKind::Collate { arg, collation, role: CollateRole::Obeyed { against_column: true }, .. } => {
                let value = self.expr(arg)?;
                let spelled = self.spelled(value, Some(super::named_collation(collation, &arg.ty).into()));
                return Ok(Sql { sql: format!("({})", spelled.sql), repr: spelled.repr });
            }
            ExprKind::Collate { arg, .. } => return self.expr(arg),
            ExprKind::Default => return Err(Error::internal("DEFAULT outside INSERT and SET")),
        };
        Ok(Sql { sql, repr: repr_of(ty) })
    }

    pub(super) fn literal(&mut self, value: &Value, ty: &Type) -> Result<Sql> {
        let sql = match value {
            Value::Null => "NULL".into(),
            Value::Integer(i64::MIN) => "(-9223372036854775807 - 1)".into(),
            Value::Integer(number) if ty.is_decimal() => quote_text(&number.to_string()),
            Value::Integer(number) if *number < 0 => format!("({number})"),
            Value::Integer(number) => number.to_string(),
            Value::Real(number) if number.is_nan() => "'NaN'".into(),
            Value::Real(number) if number.is_infinite() => (if *number > 0.0 { "9e999" } else { "(-9e999)" }).into(),
            Value::Real(number) if number.is_sign_negative() => format!("({number:?})"),
            Value::Real(number) => format!("{number:?}"),
            Value::Text(text) => {
                // A statement of SQLite's ends at a NUL.
                match text.contains('\0') {
                    true => format!("CAST({} AS TEXT)", quote_bytes(text.as_bytes())),
                    false => quote_text(text),
                }
            }
            Value::Blob(bytes) => quote_bytes(bytes),
        };
        Ok(Sql { sql, repr: repr_of(ty) })
    }

    fn chain(&mut self, members: &[Expr], separator: &str) -> Result<String> {
        let members = members.iter().map(|member| Ok(self.expr(member)?.sql)).collect::<Result<Vec<_>>>()?;
        Ok(balanced(&members, separator))
    }

    /// `left sign right`, with a bare NUMERIC column kept bare.
    pub(super) fn compare(&mut self, sign: &str, left: &Expr, right: &Expr) -> Result<String> {
        if left.ty.is_decimal() && right.ty.is_decimal() {
            return self.compare_decimals(sign, left, right);
        }
        if is_blank_padded(&left.ty) && is_blank_padded(&right.ty) {
            return self.compare_blank_padded(sign, left, right);
        }
        if left.ty == Type::RECORD {
            return self.compare_records(sign, left, right);
        }
        let equality = matches!(sign, "=" | "<>" | "IS" | "IS NOT");
        let collated =
            if equality { equality_collation_of(left, Repr::Plain) } else { collation_of(left, Repr::Plain) };
        let left = self.expr(left)?.sql;
        let right = self.expr(right)?.sql;
        Ok(match collated {
            Some(collation) => {
                self.needs_us();
                format!("({left} COLLATE {collation} {sign} {right})")
            }
            None => format!("({left} {sign} {right})"),
        })
    }

    /// Of texts filled with blanks: the blanks do not count.
    fn compare_blank_padded(&mut self, sign: &str, left: &Expr, right: &Expr) -> Result<String> {
        let column = |expr: &Expr, wanted: fn(u32) -> bool| {
            let expr = without_padding(expr);
            matches!((&expr.kind, expr.ty.through_domains()), (ExprKind::Column(_), Type::Char(width)) if wanted(*width))
        };
        let has_width = |width| width != 0;
        let has_none = |width| width == 0;
        let named = [left, right].into_iter().any(|side| matches!(side.kind, ExprKind::Collate { .. }));
        // An index of such a column is in its collation.
        if !named
            && (column(left, has_none) || column(right, has_none))
            && !column(left, has_width)
            && !column(right, has_width)
        {
            let (left, right) = (self.expr(without_padding(left))?.sql, self.expr(without_padding(right))?.sql);
            return Ok(format!("({left} COLLATE {} {sign} {right})", super::types::BLANKS_ASIDE));
        }
        let equality = matches!(sign, "=" | "<>" | "IS" | "IS NOT");
        let order = match (&left.kind, equality) {
            (ExprKind::Collate { .. }, false) => collation_of(left, Repr::Plain),
            (ExprKind::Collate { collation, role, .. }, true)
                if !collation.deterministic || matches!(role, CollateRole::Operand { against_column: true }) =>
            {
                collation_of(left, Repr::Plain)
            }
            _ => None,
        };
        let left = self.without_blanks(left)?;
        let left = self.spelled(Sql { sql: left, repr: Repr::Plain }, order).sql;
        Ok(format!("({left} {sign} {})", self.without_blanks(right)?))
    }

    /// A `char(n)` or `bpchar` without the blanks at its end.
    pub(super) fn without_blanks(&mut self, expr: &Expr) -> Result<String> {
        let expr = without_padding(expr);
        Ok(match (&expr.kind, expr.ty.through_domains()) {
            (ExprKind::Collate { arg, .. }, _) => self.without_blanks(arg)?,
            (ExprKind::Literal(Value::Text(text)), _) => quote_text(text.trim_end_matches(' ')),
            (_, Type::Char(1..) | Type::Nchar(_)) => self.expr(expr)?.sql,
            _ => self.cast(expr, &Type::Text, CastContext::Implicit)?.sql,
        })
    }

    fn compare_decimals(&mut self, sign: &str, left: &Expr, right: &Expr) -> Result<String> {
        let (left, right) = (without_widening(left), without_widening(right));
        let native = [left, right].into_iter().any(|side| self.is_native(side));
        if native && let (Some(left), Some(right)) = (self.as_native(left)?, self.as_native(right)?) {
            return Ok(format!("({left} {sign} {right})"));
        }
        if crate::optimise::passes().rewrite && (self.is_number(left) || self.is_number(right)) {
            let (left, right) = (self.beside_number(left)?, self.beside_number(right)?);
            return Ok(format!("({left} {sign} {right})"));
        }
        let left = self.stored_text_of(left)?;
        let right = self.stored_text_of(right)?;
        Ok(format!("({left} COLLATE decimal {sign} {right})"))
    }

    /// True for a column that lies in SQLite as a number of at most fifteen digits, be it an integer that has become a
    /// decimal.
    fn is_number(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Cast { arg, .. } => {
                matches!(arg.ty, Type::Int2 | Type::Int4) && matches!(arg.kind, ExprKind::Column(_))
            }
            _ => self.is_native(expr),
        }
    }

    /// A decimal as a number that compares with one of at most fifteen digits as the decimal does.
    fn beside_number(&mut self, expr: &Expr) -> Result<String> {
        Ok(match &expr.kind {
            ExprKind::Cast { arg, .. } if self.is_number(expr) => self.expr(arg)?.sql,
            _ if self.is_native(expr) => self.expr(expr)?.sql,
            _ => {
                let text = self.stored_text_of(expr)?;
                self.needs_us();
                format!("rf_numeric_native({text})")
            }
        })
    }

    /// True for a column that lies in SQLite as a number.
    fn is_native(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Column(column) => self.column(*column, &expr.ty).is_ok_and(|sql| sql.repr == Repr::Native),
            _ => false,
        }
    }

    /// A decimal that can stand beside a NUMERIC column without losing a digit, as SQL of a number.
    fn as_native(&mut self, expr: &Expr) -> Result<Option<String>> {
        Ok(match &expr.kind {
            ExprKind::Column(_) if self.is_native(expr) => Some(self.expr(expr)?.sql),
            ExprKind::Param(param) => Some(self.param(*param, ParamForm::NativeDecimal)),
            ExprKind::Literal(Value::Null) => Some("NULL".into()),
            ExprKind::Literal(Value::Integer(number)) => Some(format!("({number})")),
            ExprKind::Literal(Value::Text(text)) => match stored_number(text) {
                Some(value) => Some(self.literal(&value, &Type::Float8)?.sql),
                None => None,
            },
            // An integer of any width compares exactly with such a number.
            ExprKind::Cast { arg, .. } if arg.ty.is_integer() => Some(self.expr(arg)?.sql),
            _ => None,
        })
    }

    /// The value in the form in which text functions and collations take it.
    fn stored_text(&mut self, sql: Sql, ty: &Type) -> Sql {
        self.decimal_text(sql, ty)
    }

    pub(super) fn stored_text_of(&mut self, expr: &Expr) -> Result<String> {
        let sql = self.expr(expr)?;
        Ok(self.stored_text(sql, &expr.ty).sql)
    }

    pub(super) fn texts(&mut self, exprs: &[Expr]) -> Result<Vec<String>> {
        exprs.iter().map(|expr| self.stored_text_of(expr)).collect()
    }

    /// The value with its collation spelled, for places that compare by themselves (DISTINCT, GROUP BY, IN, max).
    pub(super) fn collated(&mut self, expr: &Expr) -> Result<Sql> {
        let sql = self.expr(expr)?;
        Ok(self.with_collation_of(sql, expr))
    }

    /// The SQL of an expression with the collation that it is compared under.
    pub(super) fn with_collation_of(&mut self, sql: Sql, expr: &Expr) -> Sql {
        let collation = collation_of(expr, sql.repr);
        self.spelled(sql, collation)
    }

    pub(super) fn with_collation(&mut self, sql: Sql, ty: &Type) -> Sql {
        let collation = collation(ty, sql.repr);
        self.spelled(sql, collation)
    }

    fn spelled(&mut self, sql: Sql, collation: Option<std::borrow::Cow<'static, str>>) -> Sql {
        match collation {
            Some(collation) => {
                if collation != "decimal" && collation != super::types::BLANKS_ASIDE {
                    self.needs_us();
                }
                Sql { sql: format!("{} COLLATE {collation}", sql.sql), repr: sql.repr }
            }
            None => sql,
        }
    }

    /// As [`Lowering::with_collation`], for places that ask for equality alone.
    pub(super) fn with_equality(&mut self, sql: Sql, expr: &Expr) -> Sql {
        let collation = equality_collation_of(expr, sql.repr);
        self.spelled(sql, collation)
    }

    fn row(&mut self, members: &[Expr]) -> Result<String> {
        let members = members
            .iter()
            .map(|member| {
                let text = self.expr(member)?;
                let text = self.stored_text(text, &member.ty);
                Ok(self.with_collation_of(text, member).sql)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(format!("({})", members.join(", ")))
    }

    fn in_list(&mut self, arg: &Expr, negated: bool, list: &[Expr]) -> Result<String> {
        if arg.ty.is_decimal() {
            let arg = without_widening(arg);
            if self.is_native(arg) {
                let natives =
                    list.iter().map(|item| self.as_native(without_widening(item))).collect::<Result<Vec<_>>>()?;
                if let Some(natives) = natives.into_iter().collect::<Option<Vec<_>>>() {
                    let arg = self.expr(arg)?.sql;
                    return Ok(format!("({arg} {}IN ({}))", not(negated), natives.join(", ")));
                }
            }
            let arg = self.stored_text_of(arg)?;
            let list = self.texts(list)?;
            return Ok(format!("({arg} COLLATE decimal {}IN ({}))", not(negated), list.join(", ")));
        }
        if is_blank_padded(&arg.ty) && !matches!(arg.kind, ExprKind::Collate { .. }) {
            let column = without_padding(arg);
            if matches!((&column.kind, column.ty.through_domains()), (ExprKind::Column(_), Type::Char(1..))) {
                let list = list.iter().map(|item| self.without_blanks(item)).collect::<Result<Vec<_>>>()?;
                return Ok(format!("({} {}IN ({}))", self.expr(column)?.sql, not(negated), list.join(", ")));
            }
        }
        let sql = self.expr(arg)?;
        let arg = self.with_equality(sql, arg).sql;
        let list = list.iter().map(|item| Ok(self.expr(item)?.sql)).collect::<Result<Vec<_>>>()?;
        Ok(format!("({arg} {}IN ({}))", not(negated), list.join(", ")))
    }

    fn in_query(&mut self, row: &[Expr], negated: bool, query: &Query) -> Result<String> {
        let (mut sql, reprs) = self.subquery(query)?;
        if reprs.contains(&Repr::Native) {
            let columns: Vec<_> = (reprs.iter().zip(&query.columns).enumerate())
                .map(|(at, (repr, column))| {
                    self.stored_text(Sql { sql: format!("c{at}"), repr: *repr }, &column.ty).sql
                })
                .collect();
            sql = format!("SELECT {} FROM ({sql})", columns.join(", "));
        }
        let row = match row {
            [only] => {
                let text = self.expr(only)?;
                let text = self.stored_text(text, &only.ty);
                self.with_equality(text, only).sql
            }
            members => self.row(members)?,
        };
        Ok(format!("({row} {}IN ({sql}))", not(negated)))
    }

    /// `arg op ANY|ALL (items)` with the standard's treatment of NULLs.
    fn quantified(
        &mut self,
        op: CompareOp,
        all: bool,
        arg: &Expr,
        item: Sql,
        item_ty: &Type,
        items: &str,
    ) -> Result<String> {
        let item = self.stored_text(item, item_ty);
        let arg_sql = self.expr(arg)?;
        let arg_sql = self.stored_text(arg_sql, &arg.ty);
        let arg_sql = match op {
            CompareOp::Equal | CompareOp::NotEqual => self.with_equality(arg_sql, arg).sql,
            _ => self.with_collation_of(arg_sql, arg).sql,
        };
        match (op, all) {
            (CompareOp::Equal, false) => Ok(format!("({arg_sql} IN (SELECT {} FROM {items}))", item.sql)),
            (CompareOp::NotEqual, true) => Ok(format!("({arg_sql} NOT IN (SELECT {} FROM {items}))", item.sql)),
            _ if any_part(arg, &|part| matches!(part.kind, ExprKind::Window(_))) => {
                Err(Error::unsupported("a window function compared with ANY or ALL"))
            }
            _ => {
                let test = format!("({arg_sql} {} {})", op.sign(), item.sql);
                let (decisive, verdict, otherwise) = if all { ("min", 0, 1) } else { ("max", 1, 0) };
                Ok(format!(
                    "(SELECT CASE WHEN {decisive}{test} = {verdict} THEN {verdict} WHEN count(*) > count{test} THEN \
                     NULL ELSE {otherwise} END FROM {items})"
                ))
            }
        }
    }

    fn case(&mut self, branches: &[(Expr, Expr)], otherwise: Option<&Expr>, ty: &Type) -> Result<Sql> {
        let mut conditions = Vec::with_capacity(branches.len());
        for (at, (condition, _)) in branches.iter().enumerate() {
            conditions.push(match at {
                0 => self.expr(condition)?.sql,
                _ => self.perhaps(|lowering| lowering.expr(condition))?.sql,
            });
        }
        let results: Vec<Expr> = branches.iter().map(|(_, result)| result.clone()).chain(otherwise.cloned()).collect();
        let (results, repr) = self.perhaps(|lowering| lowering.alike(&results, ty))?;
        let mut sql = String::from("CASE");
        for (condition, result) in conditions.iter().zip(&results) {
            sql.push_str(&format!(" WHEN {condition} THEN {result}"));
        }
        if otherwise.is_some() {
            sql.push_str(&format!(" ELSE {}", results[results.len() - 1]));
        }
        sql.push_str(" END");
        Ok(Sql { sql, repr })
    }

    /// Alternatives for one value, brought to one representation.
    pub(super) fn alike(&mut self, members: &[Expr], ty: &Type) -> Result<(Vec<String>, Repr)> {
        let members = members
            .iter()
            .map(|member| {
                let sql = self.expr(member)?;
                Ok(self.decimal_text(sql, &member.ty).sql)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok((members, repr_of(ty)))
    }

    fn extreme(&mut self, function: &str, members: &[Expr], ty: &Type) -> Result<Sql> {
        let order = members.first().and_then(|member| collation_of(member, repr_of(ty)));
        let of_groups = members.iter().any(is_of_groups);
        if of_groups && members.iter().any(is_volatile) {
            return Err(Error::unsupported("GREATEST or LEAST of aggregates beside volatile functions"));
        }
        let (members, repr) = self.alike(members, ty)?;
        if of_groups {
            return Ok(self.extreme_beside(function, &members, repr, order));
        }
        let member = self.spelled(Sql { sql: "c0".into(), repr }, order);
        // SQLite takes no query in what it computes by itself.
        self.needs_us();
        // Not VALUES: SQLite gives its columns no names when they refer to an outer query.
        let rows: Vec<_> = members.iter().map(|member| format!("SELECT {member} AS c0")).collect();
        Ok(Sql { sql: format!("(SELECT {function}({}) FROM ({}))", member.sql, rows.join(" UNION ALL ")), repr })
    }

    /// The same of what would be of another query in one: SQLite's function of several arguments, which is NULL where one is.
    fn extreme_beside(
        &mut self,
        function: &str,
        members: &[String],
        repr: Repr,
        order: Option<std::borrow::Cow<'static, str>>,
    ) -> Sql {
        let known = |at: usize| {
            let (before, from) = members.split_at(at);
            let all: Vec<&str> = from.iter().chain(before).map(String::as_str).collect();
            if all.len() == 1 { all[0].to_owned() } else { format!("coalesce({})", all.join(", ")) }
        };
        let first = self.spelled(Sql { sql: known(0), repr }, order);
        if members.len() == 1 {
            return first;
        }
        let others: Vec<String> = (1..members.len()).map(known).collect();
        Sql { sql: format!("{function}({}, {})", first.sql, others.join(", ")), repr }
    }

    fn like(
        &mut self,
        kind: LikeKind,
        negated: bool,
        text: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
    ) -> Result<String> {
        let is_bytes = text.ty == Type::Bytea;
        let is_column = matches!(constant(text).kind, ExprKind::Column(_));
        let ascii_alone = kind == LikeKind::ILike && super::call::knows_ascii_alone(std::slice::from_ref(text));
        let text = self.blank_padded(text)?;
        // A constant LIKE is a GLOB, which SQLite can answer from an index.
        if kind == LikeKind::Like
            && escape.is_none()
            && let ExprKind::Literal(Value::Text(pattern)) = &constant(pattern).kind
            && let Some(glob) = glob_of_like(pattern)
        {
            return Ok(format!("({text} {}GLOB {})", not(negated), quote_text(&glob)));
        }
        // So is a parameter's once it is known: SQLite makes the GLOB pattern once a statement. What is none, by its end or
        // its length, is left to the function.
        let known_once = kind == LikeKind::Like && escape.is_none() && !is_bytes;
        let known_once = known_once && matches!(constant(pattern).kind, ExprKind::Param(_));
        let pattern = self.expr(pattern)?.sql;
        self.needs_us();
        if known_once && is_column {
            let glob = format!("{GLOB_OF_LIKE}({pattern})");
            return Ok(format!(
                "(CASE WHEN {glob} IS NULL THEN {}rf_like({text}, {pattern}) ELSE {text} {}GLOB {glob} END)",
                not(negated),
                not(negated)
            ));
        }
        // SQLite's own `lower` knows no other letters.
        let (text, pattern) = match ascii_alone {
            true => (format!("lower({text})"), format!("lower({pattern})")),
            false => (text, pattern),
        };
        let function = match kind {
            LikeKind::ILike if ascii_alone => "rf_like",
            LikeKind::Like if is_bytes => "rf_bytea_like",
            LikeKind::Like => "rf_like",
            LikeKind::ILike => "rf_ilike",
            LikeKind::Matches => "rf_matches",
        };
        let call = match escape {
            Some(escape) => format!("{function}({text}, {pattern}, {})", self.expr(escape)?.sql),
            None => format!("{function}({text}, {pattern})"),
        };
        Ok(if negated { format!("(NOT {call})") } else { call })
    }

    /// A text that functions look into: a `char(n)` with the blanks that it is stored without, unless it has been made a
    /// text by a cast, which takes them away.
    pub(super) fn blank_padded(&mut self, text: &Expr) -> Result<String> {
        if let ExprKind::Cast { arg, context: CastContext::Implicit } = &text.kind
            && is_blank_padded(&arg.ty)
        {
            return Ok(self.cast(arg, &Type::Char(0), CastContext::Implicit)?.sql);
        }
        Ok(self.expr(text)?.sql)
    }

    /// A subquery whose columns others refer to as `c0`, `c1`, ….
    pub(super) fn subquery(&mut self, query: &Query) -> Result<(String, Vec<Repr>)> {
        self.query(query, Naming::Positions)
    }
}

/// Bytes as a literal of SQLite's.
fn quote_bytes(bytes: &[u8]) -> String {
    let mut sql = String::with_capacity(bytes.len() * 2 + 3);
    sql.push_str("x'");
    for byte in bytes {
        sql.push_str(&format!("{byte:02x}"));
    }
    sql.push('\'');
    sql
}

/// `(a op b op …)`. SQLite's parser makes a tree as deep as the chain is long, and refuses one of 1,000; halves in
/// parentheses keep it shallow.
fn balanced(members: &[String], operator: &str) -> String {
    const CHAIN: usize = 64;
    if members.len() <= CHAIN {
        return format!("({})", members.join(operator));
    }
    let (left, right) = members.split_at(members.len() / 2);
    format!("({}{operator}{})", balanced(left, operator), balanced(right, operator))
}

fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

/// The literal inside casts that change no text.
pub(super) fn constant(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { arg, .. } if arg.ty.storage() == Storage::Text && expr.ty == Type::Text => constant(arg),
        _ => expr,
    }
}

/// Looks through casts that only forget a decimal's modifier.
fn without_widening(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { arg, .. } if arg.ty.is_decimal() && expr.ty == Type::Numeric(None) => without_widening(arg),
        _ => expr,
    }
}

/// It is a `char(n)` or `bpchar`.
fn is_blank_padded(ty: &Type) -> bool {
    matches!(ty.through_domains(), Type::Char(_))
}

/// Looks through casts that only bring the blanks back.
fn without_padding(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { arg, .. }
            if *expr.ty.through_domains() == Type::Char(0) && (is_blank_padded(&arg.ty) || is_constant_text(arg)) =>
        {
            without_padding(arg)
        }
        _ => expr,
    }
}

fn is_constant_text(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Literal(Value::Text(_))) && expr.ty == Type::Text
}

/// The function that makes GLOB patterns as [`glob_of_like`] does; NULL for what is none.
pub const GLOB_OF_LIKE: &str = "rf_glob";

/// What SQLite takes for a pattern, in bytes (`SQLITE_MAX_LIKE_PATTERN_LENGTH`).
const LONGEST_GLOB: usize = 50_000;

/// The GLOB pattern that says what a LIKE pattern with backslash escapes says; `None` for a dangling escape, which is an
/// error where matching gets there, and for one that is too long.
pub fn glob_of_like(pattern: &str) -> Option<String> {
    // An escape character goes with another.
    if pattern.len() > 2 * LONGEST_GLOB {
        return None;
    }
    let mut glob = String::with_capacity(pattern.len() + 4);
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        let literal = match character {
            '%' => {
                glob.push('*');
                continue;
            }
            '_' => {
                glob.push('?');
                continue;
            }
            '\\' => characters.next()?,
            other => other,
        };
        if matches!(literal, '*' | '?' | '[') {
            glob.push('[');
            glob.push(literal);
            glob.push(']');
        } else {
            glob.push(literal);
        }
    }
    (glob.len() <= LONGEST_GLOB).then_some(glob)
}

/// The aggregate that makes an array of values of a type.
pub(super) fn array_aggregate(element: &Type) -> &'static str {
    if matches!(element, Type::Array(_)) { "rf_array_agg_nested" } else { "rf_array_agg" }
}

/// An aggregate or a window function of the query that the expression stands in.
fn is_of_groups(expr: &Expr) -> bool {
    any_part(expr, &|part| matches!(part.kind, ExprKind::Aggregate(_) | ExprKind::Window(_)))
}

fn any_part(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= test(part);
        !found
    });
    found
}

#[cfg(test)]
mod tests {
    use super::{balanced, glob_of_like};

    #[test]
    fn long_chains_are_shallow() {
        let members: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
        let chain = balanced(&members, " OR ");
        assert_eq!(chain.replace(['(', ')'], ""), members.join(" OR "));
        let (mut depth, mut deepest) = (0, 0);
        for character in chain.chars() {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        assert!(deepest <= 8, "{deepest}");
    }

    #[test]
    fn a_like_pattern_becomes_a_glob() {
        assert_eq!(glob_of_like("a%b_c").as_deref(), Some("a*b?c"));
        assert_eq!(glob_of_like(r"50\%*[x]?").as_deref(), Some("50%[*][[]x][?]"));
        assert_eq!(glob_of_like("dangling\\"), None);
    }
}
