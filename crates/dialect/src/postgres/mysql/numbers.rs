//! MySQL's exact numbers: how many digits behind the point an expression has, which numbers have no sign, and what is an
//! error where it is stored.
//!
//! A quotient keeps more digits than it shows, nine at a time, as long as numbers are made of it; it is rounded where it
//! leaves: in a result, a text, an argument that is no number.
//!
//! Source: MySQL 8.0 Reference Manual, 14.6.1 "Arithmetic Operators", 14.24 "Precision Math"; compared with a server.

use std::sync::{Arc, LazyLock};

use super::super::binder::{Binder, BoundQuery};
use super::super::coerce::as_it_lies;
use super::classes::{Class, class, is_wide, moment_digits, own_words, without_zerofill};
use super::{Clips, Placed};
use crate::bind::query::converted;
use crate::functions::Function;
use crate::ir::{Body, CastContext, ColumnIndex, Distinct, Expr, ExprKind, GroupBy, RelId, Value, walk};
use crate::schema::{Column, QualifiedName};
use crate::types::NumericModifier;
use crate::user_type::{Domain, UserKind, UserType};
use crate::{Result, Type};

/// The most digits behind the point.
const MOST: i16 = 30;
/// Digits that a quotient shows beyond those of its dividend.
const MORE: i16 = 4;
/// The most digits in all.
const DIGITS: u16 = 65;

/// The aggregate that keeps what it does not show.
const AVERAGE: &str = "mysql_exact_avg";

/// A decimal of so many digits behind the point.
fn decimal(scale: i16) -> Type {
    Type::Numeric(Some(NumericModifier { precision: DIGITS, scale }))
}

/// A type that clients are told of what is worked out.
fn told(name: &str, base: Type) -> Type {
    let domain = Domain { base, not_null: false, default: None, checks: Vec::new(), collation: None, distinct: false };
    Type::User(Arc::new(UserType {
        oid: 0,
        array_oid: 0,
        namespace: crate::mysql::types::SCHEMA.to_owned(),
        name: name.to_owned(),
        comment: None,
        kind: UserKind::Domain(domain),
    }))
}

/// `BIGINT UNSIGNED`, as what is worked out is.
pub(in crate::postgres) fn unsigned() -> Type {
    static TYPE: LazyLock<Type> = LazyLock::new(|| told("bigint unsigned", Type::Numeric(None)));
    TYPE.clone()
}

/// `YEAR`, as the year of a date is.
fn year() -> Type {
    static TYPE: LazyLock<Type> = LazyLock::new(|| told("year", Type::Int8));
    TYPE.clone()
}

fn is_open_decimal(ty: &Type) -> bool {
    matches!(ty.through_domains(), Type::Numeric(None))
}

fn is_whole(ty: &Type) -> bool {
    ty.is_integer() || *ty.through_domains() == Type::Bool
}

fn digits_behind_point(digits: &str) -> Option<i16> {
    if digits.contains(['e', 'E']) {
        return None;
    }
    let behind = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    i16::try_from(behind).ok()
}

/// Functions whose numbers have no sign.
fn makes_unsigned(function: &Function) -> bool {
    matches!(
        function.name,
        "mysql_to_unsigned"
            | "mysql_wide_number"
            | "mysql_bit_and"
            | "mysql_bit_or"
            | "mysql_bit_xor"
            | "mysql_shift_left"
            | "mysql_shift_right"
            | "mysql_bit_not"
            | "mysql_unsigned"
            | "mysql_user_unsigned"
            | "bit_and"
            | "bit_or"
            | "bit_xor"
            | "crc32"
            | "inet_aton"
            | "last_insert_id"
            | "release_all_locks"
    )
}

impl Binder<'_> {
    /// A whole number without a sign, as MySQL knows it before there is a value.
    pub(in crate::postgres) fn is_unsigned(&self, expr: &Expr) -> bool {
        let is_one = |value: &Expr| self.is_unsigned(value);
        if own_words(&expr.ty).is_some_and(|words| {
            let words = without_zerofill(words);
            words.ends_with(" unsigned") && words.contains("int") || words.starts_with("bit(") || words == "year"
        }) {
            return true;
        }
        // A parameter beyond 63 bits.
        if matches!(expr.kind, ExprKind::Param(_))
            && expr.ty == Type::Numeric(Some(NumericModifier { precision: 20, scale: 0 }))
        {
            return true;
        }
        let whole_decimal = is_open_decimal(&expr.ty);
        if !whole_decimal && !expr.ty.is_integer() {
            return false;
        }
        match &expr.kind {
            ExprKind::Literal(Value::Text(digits)) => digits.parse::<u64>().is_ok_and(|value| value > i64::MAX as u64),
            ExprKind::Cast { arg, .. } => (arg.ty.is_integer() || is_open_decimal(&arg.ty)) && self.is_unsigned(arg),
            ExprKind::Call { function, args } => {
                let of_variable = || match args.last().map(|name| &name.kind) {
                    Some(ExprKind::Literal(Value::Text(name))) => crate::mysql::variables::is_unsigned(name),
                    _ => false,
                };
                // The sign of a remainder is the dividend's, a quotient has none where an operand has none.
                let of_operands = match function.name {
                    "%" | "mod" | "mysql_modulo" => args.first().is_some_and(is_one),
                    "mysql_unsigned_divide" => true,
                    _ => false,
                };
                of_operands
                    || makes_unsigned(function)
                    || function.name == "mysql_not_zero" && args.first().is_some_and(is_one)
                    || function.name == "mysql_variable_number" && of_variable()
            }
            ExprKind::Aggregate(aggregate) => match aggregate.function.name {
                "min" | "max" | "any_value" => aggregate.args.first().is_some_and(is_one),
                _ => makes_unsigned(aggregate.function),
            },
            ExprKind::Window(window) => {
                let of_one = matches!(
                    window.function.name,
                    "min" | "max" | "first_value" | "last_value" | "nth_value" | "lag" | "lead"
                );
                matches!(window.function.name, "row_number" | "rank" | "dense_rank" | "ntile")
                    || makes_unsigned(window.function)
                    || of_one && window.args.first().is_some_and(is_one)
            }
            ExprKind::Coalesce(members) | ExprKind::Greatest(members) | ExprKind::Least(members) => {
                members.iter().all(is_one)
            }
            ExprKind::Column(column) => match column.column {
                ColumnIndex::At(at) => self.unsigned.contains(&(column.relation, at)),
                ColumnIndex::RowIdentity => false,
            },
            ExprKind::Scalar(query) => match &query.body {
                Body::Select(select) => select.items.first().is_some_and(is_one),
                Body::Set { .. } | Body::Values(_) => false,
            },
            ExprKind::NullIf(value, _) => self.is_unsigned(value),
            ExprKind::Case { branches, otherwise } => {
                let values = branches.iter().map(|(_, value)| value).chain(otherwise.as_deref());
                let is_null = |value: &&Expr| matches!(value.kind, ExprKind::Literal(Value::Null));
                let mut known = values.filter(|value| !is_null(value)).peekable();
                known.peek().is_some() && known.all(is_one)
            }
            _ => false,
        }
    }

    /// A value of BIGINT UNSIGNED as it lies as the number that it is; anything else as it is.
    pub(super) fn mysql_wide_number(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        if !is_wide(&expr.ty) {
            return Ok(expr);
        }
        // The call takes what lies there.
        let bare = as_it_lies(expr, &Type::Int8);
        self.mysql_call_of("mysql_wide_number", vec![(bare, at)])
    }

    /// A value as BIGINT UNSIGNED lies, before its range is looked at.
    pub(super) fn mysql_wide(&mut self, expr: Expr, plain: &Type, context: CastContext, at: i32) -> Result<Expr> {
        let whole = match (class(&expr.ty), &expr.kind) {
            (Class::Integer | Class::Truth, _) => true,
            (Class::Open, ExprKind::Literal(Value::Text(text))) => text.parse::<u64>().is_err(),
            (Class::Open, _) => true,
            _ => false,
        };
        if whole {
            return match self.try_coerce_plainly(expr, plain, context, at)? {
                Ok(value) | Err(value) => Ok(value),
            };
        }
        let number = match class(&expr.ty) {
            Class::Open => self.decide(expr, &Type::Numeric(None), context, at)?,
            _ => self.coerce(expr, &Type::Numeric(None), context, at)?,
        };
        self.mysql_call_of("mysql_wide", vec![(number, at)])
    }

    /// The digits behind the point that a number shows; `None` where only its values tell.
    pub(in crate::postgres) fn mysql_scale(&self, expr: &Expr) -> Option<i16> {
        let ty = expr.ty.through_domains();
        if is_whole(ty) {
            return Some(0);
        }
        match ty {
            Type::Numeric(Some(modifier)) => return Some(modifier.scale),
            Type::Numeric(None) => {}
            _ => return None,
        }
        let of = |args: &[Expr], at: usize| args.get(at).and_then(|arg| self.mysql_scale(arg));
        let most = |args: &mut dyn Iterator<Item = &Expr>| {
            args.filter(|arg| !matches!(arg.kind, ExprKind::Literal(Value::Null)))
                .try_fold(0, |most: i16, arg| Some(most.max(self.mysql_scale(arg)?)))
        };
        let scale = match &expr.kind {
            ExprKind::Literal(Value::Text(digits)) => digits_behind_point(digits),
            ExprKind::Literal(Value::Null) => Some(0),
            ExprKind::Cast { arg, .. } => self.mysql_scale(arg),
            ExprKind::Column(column) => match column.column {
                ColumnIndex::At(at) => self.scales.get(&(column.relation, at)).copied(),
                ColumnIndex::RowIdentity => None,
            },
            ExprKind::Call { function, .. } if makes_unsigned(function) => Some(0),
            ExprKind::Call { function, args } => match (function.name, args.as_slice()) {
                ("mysql_divide", args) => Some(of(args, 0)? + MORE),
                ("+" | "-" | "%" | "mod" | "mysql_modulo", args) => most(&mut args.iter()),
                ("*", args) => Some(of(args, 0)?.saturating_add(of(args, 1)?)),
                ("abs" | "mysql_not_zero", args) => of(args, 0),
                ("round" | "mysql_floor" | "mysql_ceil", [_]) => Some(0),
                ("round" | "truncate", [value, Expr { kind: ExprKind::Literal(Value::Integer(digits)), .. }]) => {
                    let digits = i16::try_from((*digits).clamp(0, i64::from(MOST))).ok();
                    // None is added, but to a quotient, which has more than it shows.
                    let own = self.mysql_scale(value).filter(|_| !self.keeps_more(value));
                    digits.map(|digits| own.map_or(digits, |own| own.min(digits)))
                }
                ("round" | "truncate", [value, _]) => self.mysql_scale(value),
                ("unix_timestamp", [moment]) => moment_digits(&moment.ty).map(i16::from),
                _ => None,
            },
            ExprKind::Case { branches, otherwise } => {
                most(&mut branches.iter().map(|(_, value)| value).chain(otherwise.as_deref()))
            }
            ExprKind::Coalesce(members) | ExprKind::Greatest(members) | ExprKind::Least(members) => {
                most(&mut members.iter())
            }
            ExprKind::NullIf(value, _) => self.mysql_scale(value),
            ExprKind::Aggregate(aggregate) if makes_unsigned(aggregate.function) => Some(0),
            ExprKind::Window(window) if makes_unsigned(window.function) => Some(0),
            ExprKind::Aggregate(aggregate) => self.scale_of_group(aggregate.function.name, &aggregate.args),
            ExprKind::Window(window) => self.scale_of_group(window.function.name, &window.args),
            ExprKind::Scalar(query) => match &query.body {
                Body::Select(select) => select.items.first().and_then(|item| self.mysql_scale(item)),
                Body::Set { .. } | Body::Values(_) => None,
            },
            _ => None,
        };
        scale.map(|scale| scale.min(MOST))
    }

    fn scale_of_group(&self, name: &str, args: &[Expr]) -> Option<i16> {
        let scale = self.mysql_scale(args.first()?)?;
        match name {
            "sum" | "mysql_wide_sum" | "min" | "max" | "any_value" | "first_value" | "last_value" | "nth_value"
            | "lag" | "lead" => Some(scale),
            "avg" | AVERAGE => Some(scale + MORE),
            _ => None,
        }
    }

    /// A number has digits that it does not show.
    fn keeps_more(&self, expr: &Expr) -> bool {
        let mut found = false;
        walk::expr(expr, &mut |part| {
            found |= match &part.kind {
                ExprKind::Call { function, .. } => function.name == "mysql_divide",
                ExprKind::Aggregate(aggregate) => aggregate.function.name == AVERAGE,
                ExprKind::Window(window) => window.function.name == AVERAGE,
                ExprKind::Column(column) => match column.column {
                    ColumnIndex::At(at) => self.scales.contains_key(&(column.relation, at)),
                    ColumnIndex::RowIdentity => false,
                },
                ExprKind::Scalar(query) => match &query.body {
                    Body::Select(select) => select.items.first().is_some_and(|item| self.keeps_more(item)),
                    Body::Set { .. } | Body::Values(_) => false,
                },
                _ => false,
            };
            !found
        });
        found
    }

    /// A number as it is shown.
    pub(in crate::postgres) fn mysql_rounded(&self, expr: Expr) -> Expr {
        if !is_open_decimal(&expr.ty) || !self.keeps_more(&expr) {
            return expr;
        }
        match self.mysql_scale(&expr) {
            Some(scale) => expr.cast(decimal(scale), CastContext::Explicit),
            None => expr,
        }
    }

    /// The type of a query's column where its numbers are told as they are shown.
    pub(in crate::postgres) fn mysql_shown_type(&self, bound: &BoundQuery, index: usize) -> Type {
        let ty = &bound.columns[index].ty;
        let item = match &bound.query.body {
            Body::Select(select) => select.items.get(index),
            Body::Set { .. } | Body::Values(_) => None,
        };
        match item.and_then(|item| self.mysql_scale(item)) {
            Some(scale) if is_open_decimal(ty) => decimal(scale),
            _ => ty.clone(),
        }
    }

    /// What a query answers, with each number as it is shown.
    pub(in crate::postgres) fn mysql_rows_shown(&self, mut bound: BoundQuery) -> BoundQuery {
        let output = bound.query.output;
        if let Body::Set { .. } = &bound.query.body {
            for index in 0..bound.columns.len() {
                if self.is_unsigned_everywhere(&bound.query.body, index) == Some(true)
                    && own_words(&bound.columns[index].ty).is_none()
                {
                    bound.columns[index].ty = unsigned();
                }
            }
            return bound;
        }
        for index in 0..bound.columns.len() {
            let Body::Select(select) = &mut bound.query.body else { return bound };
            let Some(item) = select.items.get_mut(index) else { continue };
            if self.is_unsigned(item) && own_words(&item.ty).is_none() {
                // The values stay what they are.
                bound.columns[index].ty = unsigned();
                continue;
            }
            if matches!(&item.kind, ExprKind::Literal(Value::Null)) && item.ty.is_text() {
                // It has no type.
                bound.columns[index].ty = Type::Unknown;
                continue;
            }
            if matches!(&item.kind, ExprKind::Call { function, .. } if function.name == "year") {
                bound.columns[index].ty = year();
                continue;
            }
            let Some(scale) = self.mysql_scale(item).filter(|_| is_open_decimal(&item.ty)) else { continue };
            let ty = decimal(scale);
            let value = std::mem::replace(item, Expr::null(Type::Text));
            *item = value.cast(ty.clone(), CastContext::Explicit);
            bound.columns[index].ty = ty.clone();
            bound.query.columns[index].ty = ty.clone();
            for key in &mut bound.query.order_by {
                if let ExprKind::Column(column) = key.expr.kind
                    && column.relation == output
                    && column.column == ColumnIndex::At(index)
                {
                    key.expr.ty = ty.clone();
                }
            }
        }
        bound
    }

    /// Whether a column of what is put together has no sign in any of the queries; `None` where it is nothing but NULL.
    fn is_unsigned_everywhere(&self, body: &Body, index: usize) -> Option<bool> {
        match body {
            Body::Select(select) => {
                let mut item = select.items.get(index)?;
                // What it becomes to be put together is of no account.
                while let ExprKind::Cast { arg, .. } | ExprKind::Checked { arg, .. } = &item.kind {
                    item = arg;
                }
                let is_null = matches!(item.kind, ExprKind::Literal(Value::Null));
                (!is_null).then(|| self.is_unsigned(item))
            }
            Body::Set { left, right, .. } => {
                let sides = [left, right].map(|side| self.is_unsigned_everywhere(&side.body, index));
                sides.into_iter().flatten().reduce(|one, other| one && other)
            }
            Body::Values(_) => Some(false),
        }
    }

    /// A query in FROM. One that MySQL makes a part of the query around it keeps what its numbers do not show.
    pub(in crate::postgres) fn mysql_derived(&mut self, bound: BoundQuery, id: RelId) -> BoundQuery {
        let Body::Select(select) = &bound.query.body else { return bound };
        let is_merged = select.group_by == GroupBy::None
            && select.having.is_none()
            && select.distinct == Distinct::All
            && bound.query.limit.is_none()
            && bound.query.offset.is_none()
            && !select.items.iter().any(is_grouped);
        for (index, item) in select.items.iter().enumerate() {
            if is_merged
                && is_open_decimal(&item.ty)
                && let Some(scale) = self.mysql_scale(item)
            {
                self.scales.insert((id, index), scale);
            }
            if own_words(&item.ty).is_none() && self.is_unsigned(item) {
                self.unsigned.insert((id, index));
            }
        }
        if is_merged { bound } else { self.mysql_kept(bound) }
    }

    /// What a query answers, where its rows are kept: each number has the digits that it shows.
    pub(in crate::postgres) fn mysql_kept(&self, bound: BoundQuery) -> BoundQuery {
        let types: Vec<Type> = bound.columns.iter().map(|column| column.ty.clone()).collect();
        let mut bound = self.mysql_rows_shown(bound);
        // What has no sign is told at the end.
        for (column, ty) in bound.columns.iter_mut().zip(types) {
            if own_words(&column.ty).is_some() || column.ty == Type::Unknown {
                column.ty = ty;
            }
        }
        bound
    }

    /// The same where a table is made of the rows: a whole number without a sign is a BIGINT UNSIGNED.
    pub(in crate::postgres) fn mysql_columns(&mut self, bound: BoundQuery) -> Result<BoundQuery> {
        let wide = QualifiedName::new(crate::mysql::types::SCHEMA, "bigint unsigned");
        let wide = self.schema.user_type(&wide).map(|ty| Type::User(ty.clone())).filter(is_wide);
        // A file whose tables have none yet has no such type.
        let wide = wide.unwrap_or(Type::Numeric(Some(NumericModifier { precision: 20, scale: 0 })));
        let unsigned: Vec<bool> = match &bound.query.body {
            Body::Select(select) => {
                let is_computed = |item: &Expr| self.is_unsigned(item) && own_words(&item.ty).is_none();
                select.items.iter().map(is_computed).collect()
            }
            Body::Set { .. } | Body::Values(_) => Vec::new(),
        };
        let bound = self.mysql_kept(bound);
        let types = bound.columns.iter().zip(unsigned.into_iter().chain(std::iter::repeat(false)));
        let types: Vec<Type> =
            types.map(|(column, unsigned)| if unsigned { wide.clone() } else { column.ty.clone() }).collect();
        converted(self, bound, &types, CastContext::Assignment, &[])
    }

    /// A divisor where a quotient is stored: zero is an error in the usual modes.
    pub(in crate::postgres) fn mysql_divisor(&mut self, (divisor, at): Placed) -> Result<Placed> {
        let is_number = |value: &Value| match value {
            Value::Integer(value) => *value != 0,
            Value::Text(digits) => digits.contains(|digit| matches!(digit, '1'..='9')),
            _ => false,
        };
        let known = matches!(&divisor.kind, ExprKind::Literal(value) if is_number(value));
        if !self.refuses_zero || known {
            return Ok((divisor, at));
        }
        Ok((self.mysql_call_of("mysql_not_zero", vec![(divisor, at)])?, at))
    }

    /// A value that does not fit its column becomes the nearest that does, with a warning.
    pub(in crate::postgres) fn mysql_fitting(
        &mut self,
        value: Expr,
        column: &Column,
        clips: Clips,
        at: i32,
    ) -> Result<Expr> {
        let value = self.settle(value, at)?;
        let words = own_words(&column.ty).unwrap_or_default();
        let is_null = matches!(value.kind, ExprKind::Literal(Value::Null) | ExprKind::Default);
        if value.ty == column.ty || is_null || words == "year" {
            return Ok(value);
        }
        let number = |value: i64| (Expr::integer(value, Type::Int8), -1);
        let place = (Expr::text(format!("'{}' at row {}", column.name, clips.row)), -1);
        let of_words = |words: &str| words.split(['(', ')']).nth(1)?.parse::<i64>().ok();
        let (function, bounds) = match column.ty.through_domains() {
            _ if is_wide(&column.ty) => ("mysql_fitting_wide", Vec::new()),
            _ if words.starts_with("bit(") => {
                let bits = of_words(words).unwrap_or(1);
                let most = if bits >= 63 { i64::MAX } else { (1 << bits) - 1 };
                ("mysql_fitting_integer", vec![number(0), number(most)])
            }
            _ if words.starts_with("set(") && class(&value.ty) == Class::Text => {
                ("mysql_fitting_set", vec![(Expr::text(words), -1)])
            }
            ty if ty.is_integer() => {
                let (low, high) = whole_numbers(&column.ty);
                ("mysql_fitting_integer", vec![number(low), number(high)])
            }
            Type::Numeric(Some(modifier)) => {
                let (digits, behind) = (i64::from(modifier.precision), i64::from(modifier.scale));
                let has_sign = i64::from(!words.ends_with(" unsigned"));
                ("mysql_fitting_decimal", vec![number(digits), number(behind), number(has_sign)])
            }
            ty @ (Type::Float4 | Type::Float8) if class(&value.ty) == Class::Text => {
                let kind = if *ty == Type::Float4 { "FLOAT" } else { "DOUBLE" };
                ("mysql_fitting_double", vec![(Expr::text(kind), -1)])
            }
            Type::Varchar(Some(length)) => ("mysql_fitting_text", vec![number(i64::from(*length))]),
            Type::Text if words == "tinytext" => ("mysql_fitting_octets", vec![number(255)]),
            Type::Bytea if words == "tinyblob" => ("mysql_fitting_bytes", vec![number(255)]),
            Type::Bytea => match of_words(words) {
                Some(length) => ("mysql_fitting_bytes", vec![number(length)]),
                None => return Ok(value),
            },
            Type::Date if class(&value.ty) != Class::Moment => ("mysql_fitting_date", Vec::new()),
            Type::Timestamp(_) if class(&value.ty) != Class::Moment => ("mysql_fitting_datetime", Vec::new()),
            _ => return Ok(value),
        };
        if fits(&value, column) {
            return Ok(value);
        }
        let value = self.mysql_position_in(value, &column.ty, at)?;
        let value = match class(&value.ty) == Class::Moment && class(&column.ty).is_number() {
            true => self.mysql_number(value, at)?,
            false => value,
        };
        let args = std::iter::once((value, at)).chain(bounds).chain([place]).collect();
        self.mysql_call_of(function, args)
    }

    /// NULL for a column that has none becomes its implicit value, with a warning.
    pub(in crate::postgres) fn mysql_not_null(&mut self, value: Expr, column: &Column) -> Result<Expr> {
        let known = matches!(&value.kind, ExprKind::Literal(literal) if *literal != Value::Null);
        if !column.not_null || column.identity.is_some() || known || matches!(value.kind, ExprKind::Default) {
            return Ok(value);
        }
        let Some(implicit) = self.mysql_implicit(column)? else { return Ok(value) };
        let warned = self.mysql_call_of("mysql_warned_of_null", vec![(Expr::text(&column.name), -1)])?;
        let ty = value.ty.clone();
        let otherwise = Expr::new(ExprKind::Case { branches: vec![(warned, implicit)], otherwise: None }, ty.clone());
        Ok(Expr::new(ExprKind::Coalesce(vec![value, otherwise]), ty))
    }

    /// What a column without a default holds where it is given nothing and may not be NULL; `None` for types that have no
    /// such value.
    pub(in crate::postgres) fn mysql_implicit(&mut self, column: &Column) -> Result<Option<Expr>> {
        let ty = super::super::types::import(&column.ty);
        let words = own_words(&column.ty).unwrap_or_default();
        let text = match column.ty.through_domains() {
            _ if words.starts_with("enum(") => {
                let labels = crate::values::mysql::members::labels(words);
                return Ok(labels.first().map(|label| Expr::new(Expr::text(label).kind, ty)));
            }
            ty if ty.is_integer() || ty.is_decimal() => "0",
            Type::Float4 | Type::Float8 => "0",
            Type::Bytea => {
                let length = match words.strip_prefix("binary(") {
                    Some(length) => length.trim_end_matches(')').parse().unwrap_or(0),
                    None => 0,
                };
                return Ok(Some(Expr::new(ExprKind::Literal(Value::Blob(vec![0; length])), ty)));
            }
            Type::Date => return Ok(Some(Expr::new(Expr::text("0000-00-00").kind, ty))),
            Type::Timestamp(_) => return Ok(Some(Expr::new(Expr::text("0000-00-00 00:00:00").kind, ty))),
            Type::Interval(_) => "00:00:00",
            Type::Json => "null",
            ty if ty.is_text() => "",
            _ => return Ok(None),
        };
        let (clips, value) = (self.clips.take(), Expr::new(Expr::text(text).kind, Type::Unknown));
        let value = self.assign(value, &column.name, &ty, -1);
        self.clips = clips;
        value.map(Some)
    }

    /// A sum, a difference or a product of whole numbers of which one has no sign: neither has it.
    pub(in crate::postgres) fn mysql_unsigned_arithmetic(
        &mut self,
        name: &str,
        left: Placed,
        right: Placed,
        place: i32,
    ) -> Result<Expr> {
        let mut operands = Vec::with_capacity(2);
        for (operand, at) in [left, right] {
            operands.push((self.coerce(operand, &Type::Numeric(None), CastContext::Implicit, at)?, at));
        }
        let value = self.built_in_operator(name, operands, place)?;
        if name == "-" && self.mysql_modes().signed_subtraction {
            return self.coerce(value, &Type::Int8, CastContext::Assignment, place);
        }
        self.mysql_call_of("mysql_unsigned", vec![(value, place)])
    }
}

/// A literal of which nobody need be asked whether it fits.
fn fits(value: &Expr, column: &Column) -> bool {
    match (&value.kind, column.ty.through_domains()) {
        (ExprKind::Literal(Value::Integer(number)), ty) if ty.is_integer() && value.ty.is_integer() => {
            let (low, high) = whole_numbers(&column.ty);
            let is_wide = is_wide(&column.ty) && *number >= 0;
            is_wide
                || own_words(&column.ty).is_none_or(|words| !words.starts_with("bit(")) && (low..=high).contains(number)
        }
        (ExprKind::Literal(Value::Text(text)), Type::Varchar(Some(length))) => {
            u32::try_from(text.chars().count()).is_ok_and(|letters| i64::from(letters) <= i64::from(*length))
        }
        _ => false,
    }
}

/// The least and the greatest of a type's whole numbers.
fn whole_numbers(ty: &Type) -> (i64, i64) {
    match (own_words(ty).map(without_zerofill).as_deref(), ty.through_domains()) {
        (Some("tinyint" | "tinyint(1)"), _) => (-128, 127),
        (Some("tinyint unsigned"), _) => (0, 255),
        (Some("smallint unsigned"), _) => (0, 65_535),
        (Some("mediumint"), _) => (-8_388_608, 8_388_607),
        (Some("mediumint unsigned"), _) => (0, 16_777_215),
        (Some("int unsigned"), _) => (0, 4_294_967_295),
        (Some("bigint unsigned"), _) => (0, i64::MAX),
        (_, Type::Int2) => (i64::from(i16::MIN), i64::from(i16::MAX)),
        (_, Type::Int4) => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

fn is_grouped(expr: &Expr) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= matches!(part.kind, ExprKind::Aggregate(_) | ExprKind::Window(_));
        !found
    });
    found
}
