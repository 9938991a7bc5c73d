//! Operators: comparisons, LIKE, IN, BETWEEN, DISTINCT, ANY and ALL over arrays; all others by the function table.

use pg_query::protobuf::{self as pg, AExprKind, Node, node::Node as N};

use super::super::binder::Binder;
use super::super::coerce::{as_it_lies, base, implicit, same, unvectored};
use super::super::resolve::{self, Miss};
use super::super::{names, types};
use super::subqueries::is_of_groups;
use super::user_operators::Meant;
use super::{all_of, any_of, location};
use crate::composite::live;
use crate::extension::{self, lacks_operator};
use crate::functions::{self, FunctionKind, TypeSpec};
use crate::ir::{
    Body, CastContext, CompareOp, Distinct, Expr, ExprKind, From, GroupBy, LikeKind, OutputColumn, Query, Select, Value,
};
use crate::scalar::citext::is_citext;
use crate::scalar::vectors;
use crate::values::mysql::unsigned::is_wide;
use crate::{Condition, Language, Result, Type};

/// The comparison that an operator's name means.
pub(in super::super) fn comparison(name: &str) -> Option<CompareOp> {
    Some(match name {
        "=" => CompareOp::Equal,
        "<>" | "!=" => CompareOp::NotEqual,
        "<" => CompareOp::Less,
        "<=" => CompareOp::LessOrEqual,
        ">" => CompareOp::Greater,
        ">=" => CompareOp::GreaterOrEqual,
        _ => return None,
    })
}

/// The pattern match that an operator's name means, and whether it is negated.
fn pattern(name: &str) -> Option<(LikeKind, bool)> {
    Some(match name {
        "~~" => (LikeKind::Like, false),
        "!~~" => (LikeKind::Like, true),
        "~~*" => (LikeKind::ILike, false),
        "!~~*" => (LikeKind::ILike, true),
        _ => return None,
    })
}

/// True for LIKE and its kin.
pub(in super::super) fn is_pattern(name: &str) -> bool {
    pattern(name).is_some()
}

/// The type in which two operands are compared; `None` when PostgreSQL has no operator for them.
pub(in super::super) fn comparison_type(left: &Type, right: &Type) -> Option<Type> {
    let ordered = |ty: Type| ty.is_comparable().then_some(ty);
    let (left, right) = (left.through_domains(), right.through_domains());
    match (left, right) {
        (Type::Unknown, Type::Unknown) => Some(Type::Text),
        (Type::Unknown, known) | (known, Type::Unknown) => match known {
            Type::Varchar(_) => Some(Type::Text),
            known => ordered(base(known)),
        },
        (left, right) if same(left, right) => match left {
            Type::Varchar(_) | Type::Name => Some(Type::Text),
            left => ordered(base(left)),
        },
        (left, right) if left.is_number() && right.is_number() => {
            let (left, right) = (base(left), base(right));
            Some(if matches!(left, Type::Float4 | Type::Float8) || matches!(right, Type::Float4 | Type::Float8) {
                Type::Float8
            } else if implicit(&left, &right) {
                right
            } else {
                left
            })
        }
        (left, right) if left.is_row() && right.is_row() => Some(Type::RECORD),
        // Arrays are compared with those of their own type alone; rows without a name are all of one.
        (Type::Array(left), Type::Array(right)) => match (&**left, &**right) {
            (Type::Record(_), Type::Record(_)) => Some(Type::Array(Box::new(Type::RECORD))),
            _ => None,
        },
        // `varchar` is as good as `bpchar` where the other is one; `text` is not.
        (Type::Char(_), Type::Varchar(_)) | (Type::Varchar(_), Type::Char(_)) => {
            Some(Type::Char(types::BLANK_PADDED_ANY))
        }
        (Type::Oid | Type::Reg(_), Type::Oid | Type::Reg(_)) => Some(Type::Oid),
        (Type::Oid | Type::Reg(_), other) | (other, Type::Oid | Type::Reg(_)) if other.is_integer() => Some(Type::Int8),
        (Type::Reg(_), other) | (other, Type::Reg(_)) if other.is_text() => None,
        (Type::Interval(_), Type::Time(_)) | (Type::Time(_), Type::Interval(_)) => Some(Type::Interval(None)),
        (Type::Scalar(..), _) | (_, Type::Scalar(..)) if implicit(left, right) => ordered(base(right)),
        (Type::Scalar(..), _) | (_, Type::Scalar(..)) if implicit(right, left) => ordered(base(left)),
        (left, right) => {
            let category = types::category(left);
            if category == 'D' && types::category(right) == 'D' {
                return if implicit(left, right) {
                    Some(base(right))
                } else if implicit(right, left) {
                    Some(base(left))
                } else {
                    None
                };
            }
            let textual = |ty: &Type| types::category(ty) == 'S' || matches!(ty, Type::InternalChar);
            (textual(left) && textual(right)).then_some(Type::Text)
        }
    }
}

/// True for two types whose comparison is a row of the table of functions: `xid = integer`.
fn is_compared_by_function(name: &str, left: &Type, right: &Type) -> bool {
    let Type::Scalar(..) = left else { return false };
    let (left, right) = (base(left), base(right));
    let is_of = |spec: &TypeSpec, ty: &Type| matches!(spec, TypeSpec::Is(declared) if same(declared, ty));
    functions::named(Language::Postgres, name).any(|row| match row.args {
        [first, second] => row.kind == FunctionKind::Operator && is_of(first, &left) && is_of(second, &right),
        _ => false,
    })
}

/// The type of a field without equality among those of a row that is compared.
fn strangers(row: &Type) -> Option<&Type> {
    live(row.row_fields()?).find_map(|(_, field)| match field.ty.through_domains() {
        ty if !ty.is_comparable() => Some(ty),
        ty => strangers(ty),
    })
}

/// Two expressions side by side, with their places.
type Pair = ((Expr, i32), (Expr, i32));

/// A row constructor's members.
fn row_of(node: Option<&Node>) -> Option<&pg::RowExpr> {
    match node.and_then(|node| node.node.as_ref()) {
        Some(N::RowExpr(row)) => Some(row),
        _ => None,
    }
}

/// The query of a node that is one in parentheses.
fn query_of(node: Option<&Node>) -> Option<&pg::SubLink> {
    match node.and_then(|node| node.node.as_ref()) {
        Some(N::SubLink(link)) if link.sub_link_type() == pg::SubLinkType::ExprSublink => Some(link),
        _ => None,
    }
}

impl Binder<'_> {
    pub(super) fn operator_expression(&mut self, expr: &pg::AExpr) -> Result<Expr> {
        let parts = names::strings(&expr.name);
        let schema = match parts.as_slice() {
            [schema, _] => Some((*schema).to_owned()),
            _ => None,
        };
        let name = parts.last().copied().unwrap_or_default();
        match expr.kind() {
            AExprKind::AexprOp => {
                match (row_of(expr.lexpr.as_deref()), query_of(expr.rexpr.as_deref()), comparison(name)) {
                    (Some(row), Some(link), Some(op)) if schema.is_none() => {
                        self.row_and_query(op, row, link, expr.location)
                    }
                    _ => self.plain_operator(schema, name, expr),
                }
            }
            AExprKind::AexprOpAny | AExprKind::AexprOpAll => {
                let all = expr.kind() == AExprKind::AexprOpAll;
                self.array_operator(schema, name, all, expr)
            }
            AExprKind::AexprDistinct | AExprKind::AexprNotDistinct => {
                let negated = expr.kind() == AExprKind::AexprNotDistinct;
                if let (Some(left), Some(right)) = (row_of(expr.lexpr.as_deref()), row_of(expr.rexpr.as_deref())) {
                    let pairs = self.row_pairs(left, right, expr.location)?;
                    let tests = pairs
                        .into_iter()
                        .map(|(left, right)| self.distinct(negated, left, right, expr.location))
                        .collect::<Result<Vec<_>>>()?;
                    return Ok(if negated { all_of(tests) } else { any_of(tests) });
                }
                let left = self.required(&expr.lexpr)?;
                let right = self.required(&expr.rexpr)?;
                self.distinct(negated, left, right, expr.location)
            }
            AExprKind::AexprNullif => {
                let left = self.required(&expr.lexpr)?;
                let right = self.required(&expr.rexpr)?;
                let (left, right) = (self.settled_pair(left.0, left.1)?, right);
                let other = right.0.ty.clone();
                let equal = self.compare(CompareOp::Equal, left.clone(), right, expr.location)?;
                let ty = left.0.ty.clone();
                Ok(match equal.kind {
                    // It is of the type that is compared, unless an operator takes two types.
                    ExprKind::Compare { left: first, right: second, .. }
                        if !is_wide(&ty)
                            && (!self.is_mysql() || *first == left.0)
                            && (first.ty == ty || !compares_across(&ty, &other)) =>
                    {
                        let ty = compared(&first.ty);
                        Expr::new(ExprKind::NullIf(first, second), ty)
                    }
                    kind => {
                        // MySQL's is its first value, whatever that was compared as.
                        let ty = if is_wide(&ty) || self.is_mysql() { ty } else { compared(&ty) };
                        let branches = vec![(Expr::new(kind, Type::Bool), Expr::null(ty.clone()))];
                        Expr::new(ExprKind::Case { branches, otherwise: Some(Box::new(left.0)) }, ty)
                    }
                })
            }
            AExprKind::AexprIn => self.in_list(name == "<>", expr),
            AExprKind::AexprLike | AExprKind::AexprIlike => match pattern(name) {
                Some((kind, negated)) => self.like(kind, negated, name, expr),
                None => Err(self.unsupported(format!("operator {name}"), expr.location)),
            },
            AExprKind::AexprSimilar => self.plain_operator(schema, name, expr),
            AExprKind::AexprBetween
            | AExprKind::AexprNotBetween
            | AExprKind::AexprBetweenSym
            | AExprKind::AexprNotBetweenSym => self.between(expr),
            AExprKind::Undefined => Err(self.unsupported("this operator", expr.location)),
        }
    }

    fn settled_pair(&mut self, expr: Expr, place: i32) -> Result<(Expr, i32)> {
        Ok((self.settle(expr, place)?, place))
    }

    fn plain_operator(&mut self, schema: Option<String>, name: &str, expr: &pg::AExpr) -> Result<Expr> {
        let rows = row_of(expr.lexpr.as_deref()).is_some() && row_of(expr.rexpr.as_deref()).is_some();
        if let Some(schema) = schema.filter(|schema| schema != "pg_catalog") {
            if rows {
                return Err(self.unsupported("OPERATOR with a schema between rows", expr.location));
            }
            let mut operands = Vec::with_capacity(2);
            if expr.lexpr.is_some() {
                operands.push(self.required(&expr.lexpr)?);
            }
            operands.push(self.required(&expr.rexpr)?);
            self.operator_schema = Some(schema);
            return self.apply_operator(name, operands, expr.location);
        }
        if let (Some(op), true) = (comparison(name), expr.lexpr.is_some()) {
            if let (Some(left), Some(right)) = (row_of(expr.lexpr.as_deref()), row_of(expr.rexpr.as_deref())) {
                let pairs = self.row_pairs(left, right, expr.location)?;
                return self.compare_rows(op, pairs, expr.location);
            }
            let left = self.required(&expr.lexpr)?;
            let right = self.required(&expr.rexpr)?;
            return self.compare(op, left, right, expr.location);
        }
        if self.is_mysql() && matches!(name, "+" | "-" | "*" | "/" | "%") {
            let left = if expr.lexpr.is_some() { Some(self.required(&expr.lexpr)?) } else { None };
            let right = self.required(&expr.rexpr)?;
            let operands = left.into_iter().chain([right]).collect();
            return self.mysql_arithmetic(name, operands, expr.location);
        }
        if let (Some((kind, negated)), true) = (pattern(name), expr.lexpr.is_some()) {
            return self.like(kind, negated, name, expr);
        }
        if let (Some(left), Some(right)) = (row_of(expr.lexpr.as_deref()), row_of(expr.rexpr.as_deref())) {
            for (left, right) in self.row_pairs(left, right, expr.location)? {
                self.operator(name, vec![left, right], expr.location)?;
            }
            let message = format!("could not determine interpretation of row comparison operator {name}");
            return Err(self
                .error(Condition::FeatureNotSupported, message, expr.location)
                .hint("Row comparison operators must be associated with btree operator families."));
        }
        let mut operands = Vec::with_capacity(2);
        if expr.lexpr.is_some() {
            operands.push(self.required(&expr.lexpr)?);
        }
        operands.push(self.required(&expr.rexpr)?);
        self.operator(name, operands, expr.location)
    }

    /// `left op right` in the type that both share.
    pub(in super::super) fn compare(
        &mut self,
        op: CompareOp,
        left: (Expr, i32),
        right: (Expr, i32),
        place: i32,
    ) -> Result<Expr> {
        let name = op.sign();
        if self.asks_users(name, &[&left.0.ty, &right.0.ty]) {
            return match self.meant_by_operator(name, vec![left, right], place)? {
                Meant::Value(value) => Ok(value),
                Meant::BuiltIn(mut operands) => match (operands.pop(), operands.pop()) {
                    (Some(right), Some(left)) => self.compare_built_in(op, left, right, place),
                    _ => Err(crate::Error::internal("an operator lost an operand")),
                },
            };
        }
        self.compare_built_in(op, left, right, place)
    }

    /// The same by PostgreSQL's own operators.
    fn compare_built_in(&mut self, op: CompareOp, left: (Expr, i32), right: (Expr, i32), place: i32) -> Result<Expr> {
        let (left, right) = match self.is_mysql() {
            true => {
                let (left, right) = self.mysql_years(left, right)?;
                self.mysql_comparable(left, right)?
            }
            false => (left, right),
        };
        if self.is_array_beside_vector(&left.0, &right.0) || self.is_array_beside_vector(&right.0, &left.0) {
            let shown = |expr: &Expr| self.vector_type(expr).unwrap_or_else(|| expr.ty.clone());
            return Err(self.no_operator(op.sign(), &[shown(&left.0), shown(&right.0)], place, Miss::None));
        }
        let (left, right) = self.compared_vectors(left, right)?;
        // Types without an order of their own may have functions for these operators.
        if [&left.0.ty, &right.0.ty].into_iter().any(|ty| !ty.is_comparable())
            || is_compared_by_function(op.sign(), &left.0.ty, &right.0.ty)
        {
            return self.built_in_operator(op.sign(), vec![left, right], place);
        }
        let (left, right) = self.comparable(op.sign(), left, right, place)?;
        Ok(Expr::new(ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) }, Type::Bool))
    }

    /// One is a vector, the other surely an array, with which PostgreSQL compares no vector. A column that has come through a
    /// subquery may be either.
    fn is_array_beside_vector(&self, vector: &Expr, array: &Expr) -> bool {
        let is_array = matches!(array.ty, Type::Array(_))
            && match &array.kind {
                ExprKind::Array(_) | ExprKind::Cast { .. } => true,
                ExprKind::Column(_) => self.origin_of(array).is_some() && !self.is_vector(array),
                _ => false,
            };
        is_array && self.vector_type(vector).is_some()
    }

    /// The vector type that a value is of.
    fn vector_type(&self, expr: &Expr) -> Option<Type> {
        match vectors::array_of(&expr.ty) {
            Some(_) => Some(expr.ty.clone()),
            None => self.origin_of(expr).and_then(|origin| self.catalogs_own_type(origin)),
        }
    }

    /// Vectors are compared as the arrays that they are; what is compared with one of the catalogs' is written as a vector.
    fn compared_vectors(&mut self, left: (Expr, i32), right: (Expr, i32)) -> Result<((Expr, i32), (Expr, i32))> {
        let literal = |expr: &Expr| {
            vectors::array_of(&expr.ty).is_some()
                || expr.ty == Type::Unknown && matches!(expr.kind, ExprKind::Literal(Value::Text(_)))
        };
        let written = |binder: &mut Self, (text, at): (Expr, i32), vector: &Expr| -> Result<(Expr, i32)> {
            let Type::Array(element) = &vector.ty else { return Ok((text, at)) };
            let scalar = if **element == Type::Oid { &vectors::OIDVECTOR } else { &vectors::INT2VECTOR };
            let vector = binder.coerce(text, &Type::Scalar(scalar, None), CastContext::Implicit, at)?;
            Ok((unvectored(vector), at))
        };
        if literal(&right.0) && self.is_vector(&left.0) {
            let right = written(self, right, &left.0)?;
            return Ok(((self.bounds_from_zero(left.0), left.1), right));
        }
        if literal(&left.0) && self.is_vector(&right.0) {
            let left = written(self, left, &right.0)?;
            return Ok((left, (self.bounds_from_zero(right.0), right.1)));
        }
        Ok(((unvectored(left.0), left.1), (unvectored(right.0), right.1)))
    }

    /// The type in which two operands are compared. Operators of an extension whose schema is not in the search path are not
    /// found, and a value of its type is compared as the text that it becomes, if it becomes one.
    pub(super) fn compared_as(&self, left: &Type, right: &Type) -> Option<Type> {
        let ty = comparison_type(left, right)?;
        if self.sees_operators_of(&ty) {
            return Some(ty);
        }
        implicit(&ty, &Type::Text).then_some(Type::Text)
    }

    /// True unless the type is one of an extension that is out of sight. What is stored has found its operators already.
    fn sees_operators_of(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(..) if self.source.is_some() => extension::of_type(ty)
                .is_none_or(|facts| extension::visible(self.schema, None).any(|extension| extension.facts == facts)),
            _ => true,
        }
    }

    /// Both operands in the type in which they are compared.
    fn comparable(
        &mut self,
        name: &str,
        (left, left_at): (Expr, i32),
        (right, right_at): (Expr, i32),
        place: i32,
    ) -> Result<(Expr, Expr)> {
        let ((left, left_at), (right, right_at)) = match self.is_mysql() {
            true => self.mysql_comparable((left, left_at), (right, right_at))?,
            false => ((left, left_at), (right, right_at)),
        };
        let ordering = !matches!(name, "=" | "<>");
        if left.ty.is_row()
            && right.ty.is_row()
            && let Some(stranger) = strangers(&left.ty).or_else(|| strangers(&right.ty))
        {
            let what = if ordering { "a comparison function" } else { "an equality operator" };
            let message = format!("could not identify {what} for type {}", types::words(stranger));
            return Err(self.error(Condition::UndefinedFunction, message, -1));
        }
        let ty = self
            .compared_as(&left.ty, &right.ty)
            .filter(|ty| (ty.is_ordered() || !ordering) && !lacks_operator(ty, name));
        let Some(ty) = ty else {
            let arrays = [&left.ty, &right.ty].into_iter().all(|ty| matches!(ty.through_domains(), Type::Array(_)));
            let given = [left.ty, right.ty];
            return Err(match arrays {
                true => self.operator_missed(name, &given, place, Miss::None),
                false => self.no_operator(name, &given, place, Miss::None),
            });
        };
        // Storage of oid and integers is the same, so that the wider integer holds both without loss.
        let context = if ty == Type::Int8 { CastContext::Assignment } else { CastContext::Implicit };
        let context = |from: &Type| {
            if matches!(from, Type::InternalChar) { CastContext::Implicit } else { context }
        };
        let (from_left, from_right) = (left.ty.clone(), right.ty.clone());
        let (left, right) = (as_it_lies(left, &ty), as_it_lies(right, &ty));
        Ok((
            self.coerce(left, &ty, context(&from_left), left_at)?,
            self.coerce(right, &ty, context(&from_right), right_at)?,
        ))
    }

    fn distinct(&mut self, negated: bool, left: (Expr, i32), right: (Expr, i32), place: i32) -> Result<Expr> {
        // IS DISTINCT FROM NULL needs no comparison.
        let null = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(Value::Null));
        if null(&right.0) {
            self.leaves_open(&left.0, left.1);
            return Ok(Expr::new(ExprKind::IsNull { arg: Box::new(left.0), negated: !negated }, Type::Bool));
        }
        if [&left.0.ty, &right.0.ty].into_iter().any(|ty| !ty.is_comparable())
            || self.asks_users("=", &[&left.0.ty, &right.0.ty])
        {
            return self.distinct_by_function(negated, left, right, place);
        }
        let (left, right) = self.comparable("=", left, right, place)?;
        Ok(Expr::new(ExprKind::Distinct { negated, left: Box::new(left), right: Box::new(right) }, Type::Bool))
    }

    /// The same for types whose equality is a function.
    fn distinct_by_function(
        &mut self,
        negated: bool,
        left: (Expr, i32),
        right: (Expr, i32),
        place: i32,
    ) -> Result<Expr> {
        let equal = self.compare(CompareOp::Equal, left.clone(), right.clone(), place)?;
        let is_null = |arg: Expr| Expr::new(ExprKind::IsNull { arg: Box::new(arg), negated: false }, Type::Bool);
        let (left, right) = (is_null(left.0), is_null(right.0));
        let same = Expr::new(
            ExprKind::Case {
                branches: vec![(left, right.clone()), (right, Expr::bool(false))],
                otherwise: Some(Box::new(equal)),
            },
            Type::Bool,
        );
        Ok(if negated { same } else { Expr::new(ExprKind::Not(Box::new(same)), Type::Bool) })
    }

    /// Members of two rows, side by side.
    fn row_pairs(&mut self, left: &pg::RowExpr, right: &pg::RowExpr, place: i32) -> Result<Vec<Pair>> {
        let left = self.placed_members(&left.args)?;
        let right = self.placed_members(&right.args)?;
        if left.len() != right.len() {
            return Err(self.error(Condition::SyntaxError, "unequal number of entries in row expressions", place));
        }
        if left.is_empty() {
            return Err(self.error(Condition::FeatureNotSupported, "cannot compare rows of zero length", place));
        }
        Ok(left.into_iter().zip(right).collect())
    }

    /// Rows compare as their members do, from left to right.
    pub(super) fn compare_rows(&mut self, op: CompareOp, pairs: Vec<Pair>, place: i32) -> Result<Expr> {
        match op {
            CompareOp::Equal | CompareOp::NotEqual => {
                let mut tests = Vec::with_capacity(pairs.len());
                for (left, right) in pairs {
                    tests.push(self.compare(op, left, right, place)?);
                }
                Ok(if op == CompareOp::Equal { all_of(tests) } else { any_of(tests) })
            }
            _ => {
                let strict = match op {
                    CompareOp::Less | CompareOp::LessOrEqual => CompareOp::Less,
                    _ => CompareOp::Greater,
                };
                // a < x OR (a = x AND (b < y OR …)); the last pair compares by the operator itself.
                let mut result: Option<Expr> = None;
                for (left, right) in pairs.into_iter().rev() {
                    result = Some(match result {
                        None => self.compare(op, left, right, place)?,
                        Some(rest) => {
                            let less = self.compare(strict, left.clone(), right.clone(), place)?;
                            let equal = self.compare(CompareOp::Equal, left, right, place)?;
                            any_of(vec![less, all_of(vec![equal, rest])])
                        }
                    });
                }
                result.ok_or_else(|| {
                    self.error(Condition::FeatureNotSupported, "cannot compare rows of zero length", place)
                })
            }
        }
    }

    /// An operator over operands that are bound already.
    pub(in super::super) fn apply_operator(
        &mut self,
        name: &str,
        mut operands: Vec<(Expr, i32)>,
        place: i32,
    ) -> Result<Expr> {
        if operands.len() == 2 && (comparison(name).is_some() || pattern(name).is_some()) {
            let (Some(right), Some(left)) = (operands.pop(), operands.pop()) else {
                return Err(crate::Error::internal("an operator lost an operand"));
            };
            return match (comparison(name), pattern(name)) {
                (Some(op), _) => self.compare(op, left, right, place),
                (None, Some((kind, negated))) => self.matches((kind, negated, name), left, right, None, place),
                (None, None) => Err(crate::Error::internal("an operator of no kind")),
            };
        }
        self.operator(name, operands, place)
    }

    fn like(&mut self, kind: LikeKind, negated: bool, name: &str, expr: &pg::AExpr) -> Result<Expr> {
        let text = self.required(&expr.lexpr)?;
        let (pattern, escape) = match expr.rexpr.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::FuncCall(call)) if names::strings(&call.funcname).last() == Some(&"like_escape") => {
                match call.args.as_slice() {
                    [pattern, escape] => (self.placed(pattern)?, Some(self.placed(escape)?)),
                    _ => return Err(self.unsupported("this ESCAPE", expr.location)),
                }
            }
            _ => (self.required(&expr.rexpr)?, None),
        };
        self.matches((kind, negated, name), text, pattern, escape, expr.location)
    }

    /// `text LIKE pattern ESCAPE escape`.
    fn matches(
        &mut self,
        (kind, negated, name): (LikeKind, bool, &str),
        text: (Expr, i32),
        pattern: (Expr, i32),
        escape: Option<(Expr, i32)>,
        place: i32,
    ) -> Result<Expr> {
        if self.is_mysql() {
            return self.mysql_like(negated, text, pattern, escape);
        }
        // LIKE of `citext` is ILIKE.
        let (text, pattern) = match escape {
            None if self.asks_users(name, &[&text.0.ty, &pattern.0.ty]) => {
                match self.meant_by_operator(name, vec![text, pattern], place)? {
                    Meant::Value(value) => return Ok(value),
                    Meant::BuiltIn(mut operands) => match (operands.pop(), operands.pop()) {
                        (Some(pattern), Some(text)) => (text, pattern),
                        _ => return Err(crate::Error::internal("LIKE lost an operand")),
                    },
                }
            }
            _ => (text, pattern),
        };
        let (from_text, from_pattern) = (base(&text.0.ty), base(&pattern.0.ty));
        let kind = if is_citext(&from_text) && self.sees_operators_of(&from_text) { LikeKind::ILike } else { kind };
        let of_bytes = kind == LikeKind::Like && [&from_text, &from_pattern].contains(&&Type::Bytea);
        let ty = if of_bytes { Type::Bytea } else { Type::Text };
        let mut sides = Vec::with_capacity(2);
        for (side, at) in [text, pattern] {
            match self.try_coerce(side, &ty, CastContext::Implicit, at)? {
                Ok(side) => sides.push(side),
                Err(_) => {
                    return Err(self.no_operator(name, &[from_text, from_pattern], place, Miss::None));
                }
            }
        }
        let escape = match escape {
            Some((escape, at)) => Some(Box::new(self.coerce(escape, &ty, CastContext::Implicit, at)?)),
            None => None,
        };
        let (Some(pattern), Some(text)) = (sides.pop(), sides.pop()) else {
            return Err(crate::Error::internal("LIKE lost an operand"));
        };
        Ok(Expr::new(
            ExprKind::Like { kind, negated, text: Box::new(text), pattern: Box::new(pattern), escape },
            Type::Bool,
        ))
    }

    fn between(&mut self, expr: &pg::AExpr) -> Result<Expr> {
        let Some(N::List(list)) = expr.rexpr.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(crate::Error::internal("BETWEEN without bounds"));
        };
        let [low, high] = list.items.as_slice() else {
            return Err(crate::Error::internal("BETWEEN without two bounds"));
        };
        let value = self.required(&expr.lexpr)?;
        let low = self.placed(low)?;
        let high = self.placed(high)?;
        let value = self.mysql_one_of(&low.0, value)?;
        let value = self.mysql_one_of(&high.0, value)?;
        let low = self.mysql_one_of(&value.0, low)?;
        let high = self.mysql_one_of(&value.0, high)?;
        let place = expr.location;
        let inside = |binder: &mut Self, low: (Expr, i32), high: (Expr, i32)| -> Result<Expr> {
            let above = binder.compare(CompareOp::GreaterOrEqual, value.clone(), low, place)?;
            let below = binder.compare(CompareOp::LessOrEqual, value.clone(), high, place)?;
            Ok(all_of(vec![above, below]))
        };
        let symmetric = matches!(expr.kind(), AExprKind::AexprBetweenSym | AExprKind::AexprNotBetweenSym);
        let mut result = inside(self, low.clone(), high.clone())?;
        if symmetric {
            let swapped = inside(self, high, low)?;
            result = any_of(vec![result, swapped]);
        }
        Ok(match expr.kind() {
            AExprKind::AexprNotBetween | AExprKind::AexprNotBetweenSym => {
                Expr::new(ExprKind::Not(Box::new(result)), Type::Bool)
            }
            _ => result,
        })
    }

    fn in_list(&mut self, negated: bool, expr: &pg::AExpr) -> Result<Expr> {
        let Some(N::List(list)) = expr.rexpr.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(crate::Error::internal("IN without a list"));
        };
        if let Some(left) = row_of(expr.lexpr.as_deref()) {
            let mut tests = Vec::with_capacity(list.items.len());
            for item in &list.items {
                let Some(right) = row_of(Some(item)) else {
                    return Err(self.unsupported("IN of a row and a value", location(item)));
                };
                let pairs = self.row_pairs(left, right, expr.location)?;
                tests.push(self.compare_rows(CompareOp::Equal, pairs, expr.location)?);
            }
            let found = any_of(tests);
            return Ok(if negated { Expr::new(ExprKind::Not(Box::new(found)), Type::Bool) } else { found });
        }
        let (arg, arg_at) = self.required(&expr.lexpr)?;
        let mut members = self.placed_all(&list.items)?;
        let mut arg = arg;
        if self.is_mysql() {
            if let [only] = members.as_mut_slice() {
                // One alone is compared as by `=`.
                let taken = std::mem::replace(only, (Expr::null(Type::Unknown), -1));
                (_, *only) = self.mysql_years((arg.clone(), arg_at), taken)?;
            } else {
                for (member, _) in &members {
                    arg = self.mysql_one_of(member, (arg, arg_at))?.0;
                }
                for member in &mut members {
                    let taken = std::mem::replace(member, (Expr::null(Type::Unknown), -1));
                    *member = self.mysql_one_of(&arg, taken)?;
                }
            }
            let mut subjects: Vec<Expr> = Vec::with_capacity(members.len());
            let mut compared = Vec::with_capacity(members.len());
            for (member, at) in &members {
                let ((subject, _), found) = self.mysql_comparable((arg.clone(), arg_at), (member.clone(), *at))?;
                if subjects.last() != Some(&subject) {
                    subjects.push(subject);
                }
                compared.push(found);
            }
            match (subjects.pop(), subjects.is_empty()) {
                (Some(subject), true) => {
                    arg = subject;
                    members = compared;
                }
                // What the argument is beside one of them it is not beside another.
                (Some(_), false) => {
                    let op = if negated { CompareOp::NotEqual } else { CompareOp::Equal };
                    let mut tests = Vec::with_capacity(members.len());
                    for member in members {
                        tests.push(self.compare(op, (arg.clone(), arg_at), member, expr.location)?);
                    }
                    return Ok(if negated { all_of(tests) } else { any_of(tests) });
                }
                (None, _) => {}
            }
        }
        let members = members;
        let sign = if negated { "<>" } else { "=" };
        let operands: Vec<&Type> = members.iter().map(|(member, _)| &member.ty).chain([&arg.ty]).collect();
        let by_users = self.asks_users(sign, &operands);
        // One type for all, if there is one; else each is compared by itself.
        let kinds: Vec<_> = members.iter().map(|(member, at)| (&member.ty, *at)).collect();
        let undecided = arg.ty == Type::Unknown || members.iter().any(|(member, _)| member.ty == Type::Unknown);
        let everywhere: Vec<_> = kinds.iter().copied().chain([(&arg.ty, arg_at)]).collect();
        let whole = by_users && members.len() > 1;
        let common =
            if undecided || whole { self.common_type(&everywhere, "IN") } else { self.common_type(&kinds, "IN") };
        let members = match &common {
            Ok(common) if whole => {
                let mut alike = Vec::with_capacity(members.len());
                for (member, at) in members {
                    alike.push((self.coerce(member, common, CastContext::Implicit, at)?, at));
                }
                alike
            }
            _ => members,
        };
        if let Ok(common) = common
            && !by_users
            && let Some(ty) = self.compared_as(&arg.ty, &common)
            && ty != Type::RECORD
        {
            let context = if ty == Type::Int8 { CastContext::Assignment } else { CastContext::Implicit };
            let arg = self.coerce(as_it_lies(arg, &ty), &ty, context, arg_at)?;
            let mut list = Vec::with_capacity(members.len());
            for (member, at) in members {
                list.push(self.coerce(as_it_lies(member, &ty), &ty, context, at)?);
            }
            return Ok(Expr::new(ExprKind::InList { arg: Box::new(arg), negated, list }, Type::Bool));
        }
        let mut tests = Vec::with_capacity(members.len());
        let op = if negated { CompareOp::NotEqual } else { CompareOp::Equal };
        for member in members {
            tests.push(self.compare(op, (arg.clone(), arg_at), member, expr.location)?);
        }
        Ok(if negated { all_of(tests) } else { any_of(tests) })
    }

    /// `value op ANY (array)`, `value op ALL (array)`.
    fn array_operator(&mut self, schema: Option<String>, name: &str, all: bool, expr: &pg::AExpr) -> Result<Expr> {
        let place = expr.location;
        let (arg, arg_at) = self.required(&expr.lexpr)?;
        let (array, array_at) = self.required(&expr.rexpr)?;
        let array = unvectored(array);
        let element = match &array.ty {
            Type::Array(element) => (**element).clone(),
            Type::Unknown => Type::Unknown,
            _ => {
                return Err(self.error(
                    Condition::WrongObjectType,
                    "op ANY/ALL (array) requires array on right side",
                    place,
                ));
            }
        };
        self.operator_schema = schema.filter(|schema| schema != "pg_catalog");
        let Some(op) = comparison(name).filter(|_| !self.asks_users(name, &[&arg.ty, &element])) else {
            return self.operator_over_members(name, all, (arg, arg_at), (array, array_at), place);
        };
        let Some(ty) = self.compared_as(&arg.ty, &element) else {
            return Err(self.no_operator(name, &[arg.ty, element], place, Miss::None));
        };
        let context = if ty == Type::Int8 { CastContext::Assignment } else { CastContext::Implicit };
        let arg = self.coerce(as_it_lies(arg, &ty), &ty, context, arg_at)?;
        let array = self.coerce(array, &Type::Array(Box::new(ty)), context, array_at)?;
        // A list of values is IN, which an index can serve.
        let listed = matches!((op, all), (CompareOp::Equal, false) | (CompareOp::NotEqual, true));
        if let ExprKind::Array(members) = &array.kind
            && listed
            && !members.is_empty()
            && members.iter().all(|member| !matches!(member.ty, Type::Array(_)))
        {
            return Ok(Expr::new(
                ExprKind::InList { arg: Box::new(arg), negated: all, list: members.clone() },
                Type::Bool,
            ));
        }
        Ok(Expr::new(ExprKind::QuantifiedArray { op, all, arg: Box::new(arg), array: Box::new(array) }, Type::Bool))
    }

    /// `value op ANY (array)` of an operator that is no comparison: `true IN (SELECT value op member FROM unnest(array))`,
    /// whose NULLs are those of ANY; ALL asks that none is false.
    fn operator_over_members(
        &mut self,
        name: &str,
        all: bool,
        (arg, arg_at): (Expr, i32),
        (array, array_at): (Expr, i32),
        place: i32,
    ) -> Result<Expr> {
        let array = match &array.ty {
            // The members of a literal are what the operator that takes the other operand wants beside it.
            Type::Unknown => {
                let inputs = [arg.ty.clone(), Type::Unknown];
                let all = resolve::candidates(name, &inputs, |kind| kind == FunctionKind::Operator);
                let found = resolve::choose(all, &inputs, true, &|from, to| self.becomes(from, to)).ok();
                let element = match found.as_ref().and_then(|found| found.args.get(1)) {
                    Some(wanted) if *wanted != Type::Unknown => base(wanted),
                    _ if arg.ty == Type::Unknown => Type::Text,
                    _ => base(&arg.ty),
                };
                self.coerce(array, &Type::Array(Box::new(element)), CastContext::Implicit, array_at)?
            }
            _ => array,
        };
        let Type::Array(element) = &array.ty else {
            return Err(crate::Error::internal("an array that is none"));
        };
        let element = (**element).clone();
        if is_of_groups(&arg) {
            return self.operator_beside_members(name, all, (arg, arg_at), (array, array_at), place);
        }
        let unnest = functions::named(Language::Postgres, "unnest").find(|row| row.args == [TypeSpec::AnyArray]);
        let Some(unnest) = unnest else { return Err(crate::Error::internal("no unnest of arrays")) };
        let (id, output) = (self.ids.relation(), self.ids.relation());
        let member = Expr::column(id, 0, element.clone());
        let test = self.apply_operator(name, vec![(arg, arg_at), (member, array_at)], place)?;
        if test.ty != Type::Bool {
            let message = "op ANY/ALL (array) requires operator to yield boolean";
            return Err(self.error(Condition::WrongObjectType, message, place));
        }
        let columns = |name: &str, ty: Type| vec![OutputColumn { name: name.to_owned(), ty }];
        let select = Select {
            distinct: Distinct::All,
            items: vec![test],
            from: Some(From::Function {
                id,
                function: unnest,
                args: vec![array.clone()],
                columns: columns("unnest", element),
                ordinality: false,
            }),
            filter: None,
            group_by: GroupBy::None,
            having: None,
        };
        let query = Query::of(Body::Select(Box::new(select)), columns("?column?", Type::Bool), output);
        let row = vec![Expr::bool(!all)];
        let found = Expr::new(ExprKind::InQuery { row, negated: all, query: Box::new(query) }, Type::Bool);
        let absent = Expr::new(ExprKind::IsNull { arg: Box::new(array), negated: false }, Type::Bool);
        Ok(Expr::new(
            ExprKind::Case { branches: vec![(absent, Expr::null(Type::Bool))], otherwise: Some(Box::new(found)) },
            Type::Bool,
        ))
    }
}

impl Binder<'_> {
    /// The same of a value that is no part of another query: it is asked of each member of a list that is written out.
    fn operator_beside_members(
        &mut self,
        name: &str,
        all: bool,
        (arg, arg_at): (Expr, i32),
        (array, array_at): (Expr, i32),
        place: i32,
    ) -> Result<Expr> {
        let ExprKind::Array(members) = array.kind else {
            self.refuse_groups(std::slice::from_ref(&arg), place)?;
            return Err(crate::Error::internal("a value of groups that is none"));
        };
        let mut tests = Vec::with_capacity(members.len());
        for member in members {
            if matches!(member.ty, Type::Array(_)) {
                return Err(self.unsupported("an aggregate or a window function beside such an array", place));
            }
            tests.push(self.apply_operator(name, vec![(arg.clone(), arg_at), (member, array_at)], place)?);
        }
        Ok(match (all, tests.is_empty()) {
            (all, true) => Expr::bool(all),
            (true, _) => all_of(tests),
            (false, _) => any_of(tests),
        })
    }
}

/// The type as which an operator takes values of a type that has none of its own.
fn compared(ty: &Type) -> Type {
    match ty.through_domains() {
        Type::Varchar(_) => Type::Text,
        ty => ty.clone(),
    }
}

/// There is an operator that compares values of these two types as they are.
fn compares_across(left: &Type, right: &Type) -> bool {
    let family = |ty: &Type| match base(ty) {
        Type::Int2 | Type::Int4 | Type::Int8 => 1,
        Type::Float4 | Type::Float8 => 2,
        Type::Date | Type::Timestamp(_) | Type::TimestampTz(_) => 3,
        _ => 0,
    };
    family(left) != 0 && family(left) == family(right)
}
