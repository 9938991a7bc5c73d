//! Expressions over exact numbers as a whole: one call computes all of them, on numbers instead of texts.

use super::said::Said;
use super::spec::{Gather, Gathered, Input, Node, Number, Spec};
use super::{Lowering, Repr, Sql};
use crate::functions::Function;
use crate::ir::{Aggregate, Expr, ExprKind, Value};
use crate::types::Storage;
use crate::values::Decimal;
use crate::{Result, Type};

/// What is told of the arguments, and the arguments' SQL, each once.
#[derive(Default)]
pub(super) struct Fused {
    pub(super) spec: Spec,
    pub(super) inputs: Vec<String>,
}

impl Fused {
    pub(super) fn input(&mut self, sql: String) -> Input {
        // Keys are arguments by their places.
        let known = self.inputs.iter().skip(self.spec.keys).position(|input| *input == sql);
        known.map(|at| at + self.spec.keys).unwrap_or_else(|| {
            self.inputs.push(sql);
            self.inputs.len() - 1
        })
    }

    fn node(&mut self, number: Number) -> Node {
        self.spec.nodes.iter().position(|node| *node == number).unwrap_or_else(|| {
            self.spec.nodes.push(number);
            self.spec.nodes.len() - 1
        })
    }

    /// The call's arguments.
    pub(super) fn arguments(&self) -> String {
        let told = super::quote_text(&self.spec.to_string());
        self.inputs.iter().fold(told, |all, input| format!("{all}, {input}"))
    }
}

/// The SQL of what is computed may be asked for where the statement would not have asked for it.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Anyhow {
    /// Never: it could fail.
    No,
    Yes,
}

impl Lowering<'_> {
    /// An aggregate whose argument is computed on the way; `None` for what is as fast as it stands.
    pub(super) fn fused_aggregate(&mut self, aggregate: &Aggregate) -> Result<Option<Sql>> {
        if !crate::optimise::passes().hash || aggregate.distinct || !aggregate.order_by.is_empty() {
            return Ok(None);
        }
        let [arg] = aggregate.args.as_slice() else { return Ok(None) };
        let mut fused = Fused::default();
        let what = match Sum::of(aggregate.function) {
            Some(Sum::Decimal) => Gather::Sum(self.number(&mut fused, arg)?),
            Some(Sum::Average) => Gather::Average(self.number(&mut fused, arg)?),
            _ => return Ok(None),
        };
        if fused.spec.nodes.iter().all(|node| matches!(node, Number::Stored(_) | Number::Constant(..) | Number::Null)) {
            return Ok(None);
        }
        fused.spec.aggregates.push(Gathered { what, filter: None, distinct: None });
        let filter = self.filter(aggregate.filter.as_ref())?;
        self.needs_us();
        Ok(Some(Sql { sql: format!("rf_fused({}){filter}", fused.arguments()), repr: Repr::Text }))
    }

    /// A decimal expression as a node.
    pub(super) fn number(&mut self, fused: &mut Fused, expr: &Expr) -> Result<Node> {
        match self.node(fused, expr, Anyhow::Yes)? {
            Some(node) => Ok(node),
            None => {
                let text = self.stored_text_of(expr)?;
                let input = fused.input(text);
                Ok(fused.node(Number::Stored(input)))
            }
        }
    }

    /// An integer expression as a node.
    pub(super) fn whole_number(&mut self, fused: &mut Fused, expr: &Expr) -> Result<Node> {
        let sql = self.expr(expr)?.sql;
        let input = fused.input(sql);
        Ok(fused.node(Number::Integer(input)))
    }

    fn node(&mut self, fused: &mut Fused, expr: &Expr, anyhow: Anyhow) -> Result<Option<Node>> {
        let before = (fused.spec.nodes.len(), fused.inputs.len());
        let node = self.node_of_kind(fused, expr, anyhow)?;
        if node.is_none() {
            // What has been made for a part that comes to nothing.
            fused.spec.nodes.truncate(before.0);
            fused.inputs.truncate(before.1);
        }
        Ok(node)
    }

    fn node_of_kind(&mut self, fused: &mut Fused, expr: &Expr, anyhow: Anyhow) -> Result<Option<Node>> {
        if !expr.ty.is_decimal() {
            return Ok(None);
        }
        let made = match &expr.kind {
            ExprKind::Call { function, args } => return self.operation(fused, function, args, anyhow),
            ExprKind::Cast { arg, .. } if expr.ty == Type::Numeric(None) && arg.ty.is_decimal() => {
                return self.node(fused, arg, anyhow);
            }
            ExprKind::Cast { arg, .. } if expr.ty == Type::Numeric(None) && is_whole(&arg.ty) => match &arg.kind {
                ExprKind::Literal(Value::Integer(number)) => Number::Constant(i128::from(*number), 0),
                ExprKind::Column(_) => {
                    let sql = self.expr(arg)?.sql;
                    Number::Integer(fused.input(sql))
                }
                _ => return Ok(None),
            },
            ExprKind::Literal(Value::Integer(number)) => Number::Constant(i128::from(*number), 0),
            ExprKind::Literal(Value::Text(text)) => match Decimal::parse(text).ok().and_then(|number| number.small()) {
                Some((unscaled, scale)) => Number::Constant(unscaled, scale),
                None => return Ok(None),
            },
            ExprKind::Literal(Value::Null) => Number::Null,
            ExprKind::Column(_) => {
                let sql = self.expr(expr)?;
                match (sql.repr, digits(&expr.ty)) {
                    (Repr::Native, Some(scale)) => Number::Native(fused.input(sql.sql), scale),
                    (Repr::Text, _) => Number::Stored(fused.input(sql.sql)),
                    _ => return Ok(None),
                }
            }
            ExprKind::Case { branches, otherwise } => {
                let mut last = match otherwise {
                    Some(otherwise) => match self.node(fused, otherwise, Anyhow::No)? {
                        Some(node) => node,
                        None => return Ok(None),
                    },
                    None => fused.node(Number::Null),
                };
                // Conditions behind the first are asked for when those before do not hold.
                let [(condition, result)] = branches.as_slice() else { return Ok(None) };
                let Some(then) = self.node(fused, result, Anyhow::No)? else { return Ok(None) };
                if anyhow == Anyhow::No {
                    return Ok(None);
                }
                let condition = self.expr(condition)?.sql;
                let input = fused.input(condition);
                last = fused.node(Number::Choice(input, then, last));
                return Ok(Some(last));
            }
            _ => return Ok(None),
        };
        Ok(Some(fused.node(made)))
    }

    fn operation(
        &mut self,
        fused: &mut Fused,
        function: &Function,
        args: &[Expr],
        anyhow: Anyhow,
    ) -> Result<Option<Node>> {
        let Said::Function(name @ ("rf_numeric_add" | "rf_numeric_sub" | "rf_numeric_mul" | "rf_numeric_neg")) =
            function.said
        else {
            return Ok(None);
        };
        let mut operands = Vec::with_capacity(2);
        for arg in args {
            let node = match (self.node(fused, arg, anyhow)?, anyhow) {
                (Some(node), _) => node,
                (None, Anyhow::Yes) => self.number(fused, arg)?,
                (None, Anyhow::No) => return Ok(None),
            };
            operands.push(node);
        }
        let made = match (name, operands.as_slice()) {
            ("rf_numeric_add", [a, b]) => Number::Add(*a, *b),
            ("rf_numeric_sub", [a, b]) => Number::Sub(*a, *b),
            ("rf_numeric_mul", [a, b]) => Number::Mul(*a, *b),
            ("rf_numeric_neg", [a]) => Number::Neg(*a),
            _ => return Ok(None),
        };
        Ok(Some(fused.node(made)))
    }
}

/// Aggregates that add.
pub(super) enum Sum {
    /// Decimals.
    Decimal,
    /// The average of decimals.
    Average,
    /// Integers, to a `bigint`.
    Whole,
    /// Integers, to a decimal.
    Integer,
    /// The average of integers.
    IntegerAverage,
    /// Floats.
    Float,
    /// The average of floats.
    FloatAverage,
}

impl Sum {
    pub(super) fn of(function: &Function) -> Option<Self> {
        use crate::functions::TypeSpec::Is;
        let [Is(ty)] = function.args else { return None };
        Some(match (function.name, ty) {
            ("sum", Type::Numeric(None)) => Self::Decimal,
            ("avg", Type::Numeric(None)) => Self::Average,
            ("sum", Type::Int2 | Type::Int4) if matches!(function.result, Is(Type::Int8)) => Self::Whole,
            // MySQL's sums of integers are decimals, whatever the integers are.
            ("sum", Type::Int2 | Type::Int4 | Type::Int8) => Self::Integer,
            ("avg", Type::Int2 | Type::Int4 | Type::Int8) => Self::IntegerAverage,
            ("sum", Type::Float8) => Self::Float,
            ("avg", Type::Float8) => Self::FloatAverage,
            _ => return None,
        })
    }
}

fn is_whole(ty: &Type) -> bool {
    matches!(ty, Type::Int2 | Type::Int4 | Type::Int8)
}

/// Digits behind the point of a type whose values lie in a column as numbers.
pub(super) fn digits(ty: &Type) -> Option<u32> {
    let ty = ty.through_domains();
    match ty {
        Type::Numeric(Some(modifier)) | Type::Money(modifier) if ty.storage() == Storage::NativeDecimal => {
            u32::try_from(modifier.scale).ok()
        }
        _ => None,
    }
}
