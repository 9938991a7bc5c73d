//! Function calls.

use super::Binder;
use super::casts::plain;
use crate::functions::{Function, FunctionKind, TypeSpec, named};
use crate::informix::ast::{Call, Node, NodeKind, ObjectName};
use crate::ir::{self, CompareOp, Expr, ExprKind};
use crate::plan::ResultColumn;
use crate::{Condition, Error, Language, Result, Type};

impl Binder<'_> {
    pub(super) fn call(&mut self, node: &Call, at: usize) -> Result<Expr> {
        if !node.star
            && !node.distinct
            && node.over.is_none()
            && self.is_own_routine(node.database.as_deref())
            && let Some(value) = self.routine_value(&node.name, &node.args, at)?
        {
            return Ok(value);
        }
        match node.name.as_str() {
            "nvl" => return self.nvl(&node.args, at),
            "nvl2" => {
                let [test, some, none] = self.fixed(node, at)?;
                let test = self.decided(test, at)?;
                let (mut results, ty) = self.united(vec![some, none], at)?;
                let otherwise = results.pop().map(Box::new);
                let condition = Expr::new(ExprKind::IsNull { arg: Box::new(test), negated: true }, Type::Bool);
                let branches = results.into_iter().map(|result| (condition.clone(), result)).collect();
                return Ok(Expr::new(ExprKind::Case { branches, otherwise }, ty));
            }
            "nullif" => {
                let [left, right] = self.fixed(node, at)?;
                let ty = left.ty.clone();
                let (left, right) = self.matched(left, right, at)?;
                let ty = if ty == Type::Unknown { left.ty.clone() } else { ty };
                return Ok(Expr::new(ExprKind::NullIf(Box::new(left), Box::new(right)), ty));
            }
            "coalesce" => {
                let mut args = Vec::new();
                for arg in &node.args {
                    args.push(self.expr(arg)?);
                }
                let (args, ty) = self.united(args, at)?;
                return Ok(Expr::new(ExprKind::Coalesce(args), ty));
            }
            "decode" => return self.decode(&node.args, at),
            "sys_connect_by_path" => return self.path_of_values(&node.args, at),
            "greatest" | "least" => {
                let mut args = Vec::new();
                for arg in &node.args {
                    args.push(self.expr(arg)?);
                }
                let (args, ty) = self.united(args, at)?;
                let kind = if node.name == "greatest" { ExprKind::Greatest(args) } else { ExprKind::Least(args) };
                return Ok(Expr::new(kind, ty));
            }
            "cardinality" => {
                let [arg] = self.plain_args(node, at)?;
                let text = self.coerce(arg, &Type::Text, at)?;
                return self.resolved("cardinality", vec![text], at);
            }
            _ => {}
        }
        if let Some(expr) = self.aggregate(node, at)? {
            return Ok(expr);
        }
        if let Some(expr) = self.user_aggregate(node, at)? {
            return Ok(expr);
        }
        if let Some(expr) = self.builtin(node, at)? {
            return Ok(expr);
        }
        if let Some((_, reason)) = REFUSED.iter().find(|(name, _)| *name == node.name) {
            return self.unsupported(&format!("{} ({reason})", node.name.to_uppercase()), at);
        }
        if node.over.is_some() || node.star || node.distinct {
            return Err(self.error(Condition::WindowingError, format!("{} is not an aggregate", node.name), at));
        }
        let mut args = Vec::new();
        for arg in &node.args {
            args.push(plain(self.expr(arg)?));
        }
        let text = super::texts::result_type(&node.name, &args);
        if node.name == "concat" {
            // As `||`, which takes numbers and dates, too.
            let as_texts: Result<Vec<_>> = args
                .into_iter()
                .map(|arg| if arg.ty.is_text() || arg.ty == Type::Unknown { Ok(arg) } else { self.as_text(arg, at) })
                .collect();
            args = as_texts?;
        }
        let (function, args) = self.resolve(&node.name, args, at)?;
        let ty = text.unwrap_or_else(|| result_type(function, &args));
        self.effects.volatile |= function.volatility != crate::functions::Volatility::Immutable;
        Ok(Expr::new(ExprKind::Call { function, args }, ty))
    }

    /// Exactly so many arguments.
    pub(super) fn fixed<const N: usize>(&mut self, node: &Call, at: usize) -> Result<[Expr; N]> {
        let mut args = Vec::new();
        for arg in &node.args {
            args.push(self.expr(arg)?);
        }
        args.try_into().map_err(|_| self.no_function(&node.name, at))
    }

    /// The same for a built-in function, to which a DISTINCT type is its source type.
    pub(super) fn plain_args<const N: usize>(&mut self, node: &Call, at: usize) -> Result<[Expr; N]> {
        Ok(self.fixed(node, at)?.map(plain))
    }

    pub(super) fn no_function(&self, name: &str, at: usize) -> crate::Error {
        self.error(Condition::UndefinedFunction, format!("routine ({name}) cannot be resolved"), at).column(name)
    }

    /// A call of a row that is found by name and argument types.
    pub(super) fn resolved(&mut self, name: &str, args: Vec<Expr>, at: usize) -> Result<Expr> {
        let (function, args) = self.resolve(name, args, at)?;
        let ty = result_type(function, &args);
        Ok(Expr::new(ExprKind::Call { function, args }, ty))
    }

    /// The row that takes these arguments with the least conversion, and the arguments converted.
    pub(super) fn resolve(&mut self, name: &str, args: Vec<Expr>, at: usize) -> Result<(&'static Function, Vec<Expr>)> {
        let args: Vec<Expr> = args.into_iter().map(plain).collect();
        let best = named(Language::Informix, name)
            .filter(|row| {
                let least = row.args.len() - row.optional;
                args.len() >= least && (args.len() <= row.args.len() || row.variadic)
            })
            .filter_map(|row| {
                let mut cost = 0;
                for (place, arg) in args.iter().enumerate() {
                    cost += conversion_cost(&arg.ty, spec_at(row, place))?;
                }
                Some((cost, row))
            })
            .min_by_key(|(cost, _)| *cost);
        let Some((_, row)) = best else {
            return Err(self.no_function(name, at));
        };
        let mut converted = Vec::with_capacity(args.len());
        for (place, arg) in args.into_iter().enumerate() {
            converted.push(match spec_at(row, place) {
                TypeSpec::Is(ty) => {
                    let keeps = matches!(row.name, "min" | "max") && arg.ty != Type::Unknown && !arg.ty.is_decimal();
                    if *ty == Type::Text && !keeps {
                        self.as_text(arg, at)?
                    } else if keeps {
                        arg
                    } else {
                        self.coerce(arg, ty, at)?
                    }
                }
                _ => self.decided(arg, at)?,
            });
        }
        Ok((row, converted))
    }

    fn nvl(&mut self, args: &[Node], at: usize) -> Result<Expr> {
        let [first, second] = args else { return Err(self.no_function("nvl", at)) };
        let first = self.expr(first)?;
        let second = self.expr(second)?;
        let (args, ty) = self.united(vec![first, second], at)?;
        Ok(Expr::new(ExprKind::Coalesce(args), ty))
    }

    /// `DECODE(expression, value, result, …, default)`; NULL equals NULL here.
    fn decode(&mut self, args: &[Node], at: usize) -> Result<Expr> {
        let [operand, rest @ ..] = args else { return Err(self.no_function("decode", at)) };
        if rest.len() < 2 {
            return Err(self.no_function("decode", at));
        }
        let (pairs, default) =
            if rest.len() % 2 == 0 { (rest, None) } else { rest.split_at(rest.len() - 1).into_pair() };
        let mut conditions = Vec::new();
        let mut results = Vec::new();
        for pair in pairs.chunks_exact(2) {
            let left = self.expr(operand)?;
            conditions.push(if pair[0].kind == NodeKind::Null {
                let left = self.decided(left, at)?;
                Expr::new(ExprKind::IsNull { arg: Box::new(left), negated: false }, Type::Bool)
            } else {
                let right = self.expr(&pair[0])?;
                let constant = matches!(pair[0].kind, NodeKind::Number(_) | NodeKind::String(_));
                match self.compare(CompareOp::Equal, left, right, at)? {
                    // A value that may be NULL equals one that is.
                    Expr { kind: ExprKind::Compare { op: CompareOp::Equal, left, right }, ty } if !constant => {
                        Expr { kind: ExprKind::Distinct { negated: true, left, right }, ty }
                    }
                    compared => compared,
                }
            });
            results.push(self.expr(&pair[1])?);
        }
        if let Some(default) = default {
            results.push(self.expr(default)?);
        }
        let (mut results, ty) = self.united(results, at)?;
        let otherwise = if default.is_some() { results.pop().map(Box::new) } else { None };
        Ok(Expr::new(ExprKind::Case { branches: conditions.into_iter().zip(results).collect(), otherwise }, ty))
    }

    /// EXECUTE FUNCTION: a query without FROM.
    pub(super) fn execute_routine(
        &mut self,
        name: &ObjectName,
        args: &[Node],
    ) -> Result<(ir::Statement, Vec<ResultColumn>)> {
        self.check_server(name)?;
        if self.is_own_routine(name.database.as_deref())
            && let Some(found) = self.routine_statement(&name.name, args)?
        {
            return Ok(found);
        }
        if let Some((from, id, columns)) = self.builtin_rows(&name.name, args, name.at)? {
            let column = &columns[0];
            let select = ir::Select::of(vec![Expr::column(id, 0, column.ty.clone())], Some(from));
            let column = ResultColumn {
                name: column.name.clone(),
                ty: column.ty.clone(),
                origin: None,
                not_null: false,
                identity: false,
                listed: None,
            };
            let body = ir::Body::Select(Box::new(select));
            let query = ir::Query::of(body, columns, self.ids.relation());
            return Ok((ir::Statement::Query(Box::new(query)), vec![column]));
        }
        if name.name == "ifx_allow_newline" {
            return Ok((self.allow_newline(args, name.at)?, Vec::new()));
        }
        let call = Call { database: name.database.clone(), ..Call::of(name.name.clone(), args.to_vec()) };
        let expr = self.call(&call, name.at)?;
        let expr = self.decided(expr, name.at)?;
        let ty = expr.ty.clone();
        let query = self.query_of(vec![expr], vec![ir::OutputColumn { name: "(expression)".into(), ty: ty.clone() }]);
        let column = ResultColumn {
            name: "(expression)".into(),
            ty,
            origin: None,
            not_null: false,
            identity: false,
            listed: None,
        };
        Ok((ir::Statement::Query(Box::new(query)), vec![column]))
    }

    /// The rows of a built-in function that returns several; `None` when the name is no such.
    pub(super) fn builtin_rows(
        &mut self,
        name: &str,
        args: &[Node],
        at: usize,
    ) -> Result<Option<(ir::From, ir::RelId, Vec<ir::OutputColumn>)>> {
        if name.starts_with("ifx_")
            || !named(Language::Informix, name).any(|row| row.kind == FunctionKind::SetReturning)
        {
            return Ok(None);
        }
        let args = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
        let (function, args) = self.resolve(name, args, at)?;
        let ty = result_type(function, &args);
        let columns = vec![ir::OutputColumn { name: "(expression)".to_owned(), ty }];
        let id = self.ids.relation();
        let from = ir::From::Function { id, function, args, columns: columns.clone(), ordinality: false };
        Ok(Some((from, id, columns)))
    }

    /// `EXECUTE PROCEDURE IFX_ALLOW_NEWLINE('t')`: quoted strings may always span lines.
    fn allow_newline(&self, args: &[Node], at: usize) -> Result<ir::Statement> {
        let [Node { kind: NodeKind::String(allow), .. }] = args else {
            return Err(self.no_function("ifx_allow_newline", at));
        };
        if !allow.eq_ignore_ascii_case("t") {
            return Err(Error::unsupported("IFX_ALLOW_NEWLINE('f'): newlines in quoted strings are always allowed"));
        }
        Ok(ir::Statement::Nothing { tag: "EXECUTE PROCEDURE" })
    }
}

/// Functions of the manual that are not here, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("genbson", "a row has no names for its values here"),
    ("seclabel_by_comp", LABELS),
    ("seclabel_by_name", LABELS),
    ("seclabel_to_char", LABELS),
    ("ifx_replace_module", MODULES),
    ("ifx_unload_module", MODULES),
    ("task", ADMINISTRATION),
    ("admin", ADMINISTRATION),
];
const LABELS: &str = "tables have no security labels here";
const MODULES: &str = "routines are written in SPL here";
const ADMINISTRATION: &str = "there is no server to administer, only files";

/// The signature's type at a place; the last repeats in a variadic row.
fn spec_at(row: &'static Function, place: usize) -> &'static TypeSpec {
    &row.args[place.min(row.args.len() - 1)]
}

pub(super) fn result_type(function: &'static Function, args: &[Expr]) -> Type {
    match &function.result {
        TypeSpec::Is(ty) => ty.clone(),
        TypeSpec::SameAs(place) => args.get(*place).map_or(Type::Text, |arg| arg.ty.clone()),
        _ => args.first().map_or(Type::Text, |arg| arg.ty.clone()),
    }
}

/// How far an argument is from what a row asks for; `None` is too far.
pub(super) fn conversion_cost(from: &Type, spec: &TypeSpec) -> Option<u32> {
    let TypeSpec::Is(to) = spec else {
        return Some(match spec {
            TypeSpec::Any | TypeSpec::AnyRow | TypeSpec::AnyElement => 5,
            _ => return None,
        });
    };
    if from == to || from.same_base(to) {
        return Some(0);
    }
    let rank = |ty: &Type| match ty {
        Type::Int2 => Some(1),
        Type::Int4 => Some(2),
        Type::Int8 | Type::IfxInt8 | Type::Oid => Some(3),
        Type::Numeric(_) | Type::FloatingDecimal(_) | Type::Money(_) => Some(4),
        Type::Float4 => Some(5),
        Type::Float8 => Some(6),
        _ => None,
    };
    match (from, to) {
        (Type::Unknown, Type::Text) => Some(1),
        (Type::Unknown, _) => Some(2),
        (from, Type::Text) if from.is_text() => Some(1),
        // Values whose order is their text's.
        (Type::Datetime(_), Type::Text) => Some(2),
        (from, Type::Text) if rank(from).is_some() => Some(30),
        (Type::Datetime(_) | Type::Timestamp(_), Type::Date) => Some(10),
        (from, to) if from.is_text() && rank(to).is_some() => Some(20 + rank(to)?),
        (from, Type::Date) if from.is_text() => Some(20),
        (from, to) => {
            let (from, to) = (rank(from)?, rank(to)?);
            if from == to {
                Some(0)
            } else if from < to {
                Some((to - from) * 2)
            } else {
                Some(10 + from - to)
            }
        }
    }
}

/// The halves of a split list with an odd last member.
trait IntoPair<'a> {
    fn into_pair(self) -> (&'a [Node], Option<&'a Node>);
}

impl<'a> IntoPair<'a> for (&'a [Node], &'a [Node]) {
    fn into_pair(self) -> (&'a [Node], Option<&'a Node>) {
        (self.0, self.1.first())
    }
}
