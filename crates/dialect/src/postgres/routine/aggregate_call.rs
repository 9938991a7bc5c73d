//! Calls of aggregates that users have made.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, node::Node as N};

use rowferry_facts as facts;

use super::aggregate::is_for_windows;
use super::call::{Call, Choice, Given, UserCandidate, candidate};
use super::support::Support;
use crate::functions::{self, FunctionKind, Volatility, internal};
use crate::ir::{self, Aggregate, Expr, ExprKind, Frame, FrameBound, SortKey, WindowCall};
use crate::postgres::binder::Binder;
use crate::postgres::coerce::base;
use crate::postgres::names;
use crate::postgres::resolve::{self, Miss};
use crate::stored_aggregate::{AggregateKind, AggregatePart, Callee, Plan};
use crate::stored_function::{INTERNAL, ParamMode, StoredFunction, TypeRef};
use crate::{Condition, Error, Language, Result, Schema, Type};

/// The built-in aggregate that one with a state of type `internal` is: what stands in such a state only the functions of
/// its own know.
pub(super) fn builtin_of(function: &StoredFunction, schema: &dyn Schema) -> Option<&'static facts::Function> {
    let definition = &function.definition;
    let part = definition.aggregate.as_ref().filter(|part| part.state == TypeRef::Pseudo(INTERNAL))?;
    let inputs: Vec<u32> = definition.inputs().map(|param| param.ty.oid(schema)).collect();
    let alike = |row: &&facts::Aggregate| {
        row.state == INTERNAL
            && (row.transition, row.finish, row.finish_extra) == (part.transition, part.finish, part.finish_extra)
            && part.kind.letter().starts_with(row.kind)
            && row.direct_arguments as usize == part.direct
    };
    let mut found =
        facts::Aggregate::all().iter().filter(alike).filter_map(|row| facts::Function::by_oid(row.function));
    found.find(|fact| *fact.arguments == *inputs)
}

/// The parts of a call: its arguments, its order, its condition.
type Parts = (Vec<(Expr, i32)>, Vec<SortKey>, Option<Expr>);

impl Binder<'_> {
    /// A call of a name that aggregates of users have; `None` when it means something else.
    pub(in crate::postgres) fn aggregate_of_users(
        &mut self,
        call: &pg::FuncCall,
        routines: &[Arc<StoredFunction>],
    ) -> Result<Option<Expr>> {
        let parts = names::strings(&call.funcname);
        let shown = parts.join(".");
        let builtin = match parts.as_slice() {
            [name] | ["pg_catalog", name] => Some(*name),
            _ => None,
        };
        let known = |name: &str| functions::named(Language::Postgres, name).next().is_some();
        let others = builtin.is_some_and(known) || routines.iter().any(|one| one.definition.aggregate.is_none());
        let parts = match self.parts_of_group(call) {
            Err(_) if others => return Ok(None),
            parts => parts?,
        };
        let (args, order_by, _) = &parts;
        let mut given: Given = args.iter().map(|(arg, at)| (None, arg.clone(), *at)).collect();
        if call.agg_within_group {
            given.extend(order_by.iter().map(|key| (None, key.expr.clone(), -1)));
        }
        let inputs: Vec<Type> = given.iter().map(|(_, arg, _)| base(&arg.ty)).collect();
        let candidate = match self.choose_aggregate(builtin, routines, &given, &inputs, call) {
            Ok(Choice::User(candidate)) if candidate.function.definition.aggregate.is_some() => candidate,
            Ok(_) => return Ok(None),
            Err(_) if others => return Ok(None),
            Err(miss) => return Err(self.no_function(&shown, &inputs, call.location, miss)),
        };
        let function = candidate.function.clone();
        self.needs.call(&function);
        self.note_place(call.location, function.oid, &function.namespace);
        if let Some(fact) = builtin_of(&function, self.schema) {
            self.note(|uses| {
                uses.routines.insert(function.oid);
            });
            return match call.agg_within_group {
                true => self.within_group(fact.name, call).map(Some),
                false => self.grouped_call(fact.name, call, call.over.as_deref()).map(Some),
            };
        }
        self.check_grouping_place(call.over.is_some(), call.location)?;
        self.check_aggregate_call(call, &function, &shown, args.len())?;
        self.settled_aggregate(call, candidate, given, parts).map(Some)
    }

    /// The parts of a call, bound as those of an aggregate are.
    pub(in super::super) fn parts_of_group(&mut self, call: &pg::FuncCall) -> Result<Parts> {
        let inside = self.scope().inside;
        self.scope().inside = inside.of_call(call.over.is_some());
        let parts = self.grouped_parts(call);
        self.scope().inside = inside;
        parts
    }

    fn choose_aggregate(
        &self,
        builtin: Option<&str>,
        routines: &[Arc<StoredFunction>],
        given: &Given,
        inputs: &[Type],
        call: &pg::FuncCall,
    ) -> std::result::Result<Choice, Miss> {
        let mut choices: Vec<Choice> = Vec::new();
        if let Some(name) = builtin.filter(|_| !call.func_variadic) {
            let wanted = |kind| kind != FunctionKind::Operator;
            choices.extend(resolve::candidates(name, inputs, wanted).into_iter().map(Choice::Builtin));
        }
        for function in routines {
            let Some(found) = candidate(self.schema, function, given, inputs, call.func_variadic) else { continue };
            let hidden = choices.iter().any(|known| match known {
                Choice::User(known) => known.function.definition.input_words() == function.definition.input_words(),
                Choice::Builtin(_) => false,
            });
            if !hidden {
                choices.push(Choice::User(found));
            }
        }
        resolve::choose(choices, inputs, false, &|from, to| self.becomes(from, to))
    }

    /// What a call says that the aggregate does not allow.
    fn check_aggregate_call(
        &self,
        call: &pg::FuncCall,
        function: &StoredFunction,
        shown: &str,
        direct: usize,
    ) -> Result<()> {
        let Some(part) = &function.definition.aggregate else { return Err(Error::internal("no aggregate")) };
        let wrong = |message: String| Err(self.error(Condition::WrongObjectType, message, call.location));
        let ordered = part.kind != AggregateKind::Normal;
        if ordered && call.over.is_some() {
            let message = format!("OVER is not supported for ordered-set aggregate {shown}");
            return Err(self.error(Condition::FeatureNotSupported, message, call.location));
        }
        if ordered && !call.agg_within_group {
            return wrong(format!("WITHIN GROUP is required for ordered-set aggregate {shown}"));
        }
        if !ordered && call.agg_within_group {
            return wrong(format!("{shown} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"));
        }
        if ordered && direct != part.direct {
            let inputs: Vec<Type> = Vec::new();
            return Err(self.no_function(shown, &inputs, call.location, Miss::None));
        }
        if !ordered && call.args.is_empty() && !call.agg_star {
            return wrong(format!("{shown}(*) must be used to call a parameterless aggregate function"));
        }
        Ok(())
    }

    /// The call of an aggregate that is settled.
    fn settled_aggregate(
        &mut self,
        call: &pg::FuncCall,
        candidate: UserCandidate,
        given: Given,
        (args, mut order_by, filter): Parts,
    ) -> Result<Expr> {
        let written: Vec<Expr> = args.into_iter().map(|(arg, _)| arg).collect();
        let settled = self.settle_call(candidate, given)?;
        let function = settled.function.clone();
        let Some(part) = &function.definition.aggregate else { return Err(Error::internal("no aggregate")) };
        for support in part.functions() {
            self.effects.volatile |= self.volatility_of(support) == Volatility::Volatile;
        }
        let keys = order_by.len();
        let mut values = settled.args.clone();
        let direct: Vec<Expr> = values.drain(..part.direct.min(values.len())).collect();
        if part.kind != AggregateKind::Normal {
            // Sorting them is what the transition function does, if it does.
            order_by.clear();
        }
        let Some(over) = call.over.as_deref() else {
            let parts = settled.args.iter().chain(order_by.iter().map(|key| &key.expr)).chain(&filter);
            self.claim_aggregate(parts, call.location)?;
            if call.agg_distinct {
                self.check_distinct_order(call, &values, &written, &order_by)?;
                order_by.extend(missing_keys(&values, &order_by));
            }
            let (plan, initial) = self.plan(part, &settled, &values, &direct, (false, false), keys)?;
            let mut args = vec![plan.clone(), initial.clone()];
            args.extend(values);
            let function = internal("stored aggregate");
            let distinct = call.agg_distinct;
            let aggregate = Aggregate { function, args, direct: Vec::new(), distinct, order_by, filter };
            let state = Expr::new(ExprKind::Aggregate(Box::new(aggregate)), Type::Bytea);
            return Ok(result_of(plan, initial, state, direct, settled.result()));
        };
        if call.agg_distinct {
            let message = "DISTINCT is not implemented for window functions";
            return Err(self.error(Condition::FeatureNotSupported, message, call.location));
        }
        if !order_by.is_empty() {
            let message = "aggregate ORDER BY is not implemented for window functions";
            return Err(self.error(Condition::FeatureNotSupported, message, call.location));
        }
        let (partition_by, order_by, frame) = self.window_of_call(over)?;
        let leaving = frame.as_ref().is_some_and(|frame| frame.start != FrameBound::UnboundedPreceding);
        let moving = self.is_moving(part, frame.as_ref(), &values, filter.as_ref());
        if !is_for_windows(part, moving) {
            let message =
                format!("aggregate function {} does not support use as a window function", function.shown_signature());
            return Err(self.error(Condition::FeatureNotSupported, message, -1));
        }
        let (plan, initial) = self.plan(part, &settled, &values, &direct, (moving, leaving), 0)?;
        let mut args = vec![plan.clone(), initial.clone()];
        args.extend(values);
        let function = internal("stored aggregate");
        let window = WindowCall { function, args, filter, partition_by, order_by, frame };
        let state = Expr::new(ExprKind::Window(Box::new(window)), Type::Bytea);
        Ok(result_of(plan, initial, state, direct, settled.result()))
    }

    /// The inverse function is used where rows leave, unless values are others each time or may be dear.
    fn is_moving(&self, part: &AggregatePart, frame: Option<&Frame>, args: &[Expr], filter: Option<&Expr>) -> bool {
        if part.moving_inverse == 0 {
            return false;
        }
        if !is_for_windows(part, false) && is_for_windows(part, true) {
            return true;
        }
        let leaves = frame.is_some_and(|frame| frame.start != FrameBound::UnboundedPreceding);
        leaves && args.iter().chain(filter).all(|expr| self.is_steady(expr))
    }

    /// Without subqueries and without functions that are volatile.
    pub(in crate::postgres) fn is_steady(&self, expr: &Expr) -> bool {
        let mut steady = true;
        ir::walk::expr(expr, &mut |part| {
            steady &= match &part.kind {
                ExprKind::Call { function, args } if function.name == "stored function" => match &args[0].kind {
                    ExprKind::Literal(ir::Value::Integer(oid)) => {
                        u32::try_from(*oid).is_ok_and(|oid| self.volatility_of(oid) != Volatility::Volatile)
                    }
                    _ => false,
                },
                ExprKind::Call { function, .. } => function.volatility != Volatility::Volatile,
                kind => kind.query().is_none(),
            };
            steady
        });
        steady
    }

    fn volatility_of(&self, function: u32) -> Volatility {
        match facts::Function::by_oid(function).map(|fact| fact.volatility) {
            Some('i') => Volatility::Immutable,
            Some('s') => Volatility::Stable,
            Some(_) => Volatility::Volatile,
            None => {
                let function = self.schema.function_by_oid(function);
                function.map_or(Volatility::Volatile, |function| function.definition.volatility)
            }
        }
    }

    /// What the engine is told, and what the state begins with.
    fn plan(
        &mut self,
        part: &AggregatePart,
        call: &Call,
        values: &[Expr],
        direct: &[Expr],
        (moving, leaving): (bool, bool),
        keys: usize,
    ) -> Result<(Expr, Expr)> {
        let state = match (moving, &part.moving_state) {
            (true, Some(state)) => state,
            _ => &part.state,
        };
        let state = self.settled_type(state, call.standing.as_ref())?;
        let (transition, inverse, finish, extra, initial) = match moving {
            true => (
                part.moving_transition,
                part.moving_inverse,
                part.moving_finish,
                part.moving_finish_extra,
                &part.moving_initial,
            ),
            false => (part.transition, 0, part.finish, part.finish_extra, &part.initial),
        };
        let types = |exprs: &[Expr]| exprs.iter().map(|expr| base(&expr.ty)).collect::<Vec<Type>>();
        let mut given = vec![state.clone()];
        given.extend(types(values));
        let transition = self.callee(transition, &given, &state)?;
        let inverse = if inverse == 0 { None } else { Some(self.callee(inverse, &given, &state)?) };
        let mut finish_args = vec![state.clone()];
        finish_args.extend(types(direct));
        let extra = if extra { values.len() } else { 0 };
        finish_args.extend(types(&values[..extra]));
        let finish = if finish == 0 { None } else { Some(self.callee(finish, &finish_args, &call.result())?) };
        let initial = match initial {
            Some(value) => self.initial_value(value, &state)?,
            None => Expr::null(state),
        };
        let definition = &call.function.definition;
        let plain = part.kind == AggregateKind::Normal
            && definition.params.iter().all(|param| param.mode != ParamMode::Variadic);
        let (aggregate, keys) = (call.function.oid, plain.then_some(keys));
        let plan = Plan { aggregate, keys, transition, inverse, finish, extra, leaving, spl: None };
        Ok((Expr::text(plan.to_text()), initial))
    }

    /// A function behind an aggregate as a call has it.
    fn callee(&self, function: u32, given: &[Type], result: &Type) -> Result<Callee> {
        let support = Support::by_oid(self.schema, function).ok_or_else(|| {
            Error::new(Condition::InternalError, format!("cache lookup failed for function {function}"))
        })?;
        let (mut standing, mut own) = (None, Vec::new());
        if facts::Function::by_oid(function).is_some() {
            own.extend(given.iter().cloned());
            own.push(result.clone());
        } else {
            standing = support.standing(given);
        }
        Ok(Callee { function, strict: support.strict, standing, types: own })
    }

    /// With DISTINCT, ORDER BY sorts by arguments alone.
    pub(in crate::postgres) fn check_distinct_order(
        &self,
        call: &pg::FuncCall,
        args: &[Expr],
        written: &[Expr],
        order_by: &[SortKey],
    ) -> Result<()> {
        let is_there = |key: &SortKey| args.contains(&key.expr) || written.contains(&key.expr);
        let Some(at) = order_by.iter().position(|key| !is_there(key)) else { return Ok(()) };
        let place = match call.agg_order[at].node.as_ref() {
            Some(N::SortBy(sort)) => sort.node.as_deref().map_or(-1, crate::postgres::expr::location),
            _ => -1,
        };
        Err(self.error(
            Condition::InvalidColumnReference,
            "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
            place,
        ))
    }
}

/// DISTINCT finds equal rows by sorting them: the arguments that ORDER BY does not name come behind it.
fn missing_keys(args: &[Expr], order_by: &[SortKey]) -> Vec<SortKey> {
    let missing = args.iter().filter(|arg| !order_by.iter().any(|key| key.expr == **arg));
    missing.map(|arg| SortKey { expr: arg.clone(), descending: false, nulls_first: false }).collect()
}

/// The value of an aggregate whose state is computed.
fn result_of(plan: Expr, initial: Expr, state: Expr, direct: Vec<Expr>, ty: Type) -> Expr {
    let mut args = vec![plan, initial, state];
    args.extend(direct);
    Expr::new(ExprKind::Call { function: internal("stored aggregate result"), args }, ty)
}
