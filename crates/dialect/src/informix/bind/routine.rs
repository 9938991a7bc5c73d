//! Routines of users: which one a call means, and what becomes of the call.

use std::collections::HashSet;
use std::sync::Arc;

use super::Binder;
use super::coerce::call;
use crate::functions::{self, TypeSpec};
use crate::informix::ast::{Call, CreateRoutine, Node, NodeKind, ObjectName};
use crate::informix::spl;
use crate::ir::{self, CreateRoutine as Create, Ddl, DropRoutine, Expr, From, OutputColumn};
use crate::plan::ResultColumn;
use crate::schema::Routine;
use crate::stored_aggregate::{Callee, Plan, Spl};
use crate::{Condition, Error, Language, Result, Type};

/// A routine, and the arguments of a call in the order of its parameters; `None` asks for the default.
struct Resolved {
    routine: Arc<Routine>,
    parsed: Arc<spl::Routine>,
    args: Vec<Option<Expr>>,
}

/// A routine that fits a call: cost, routine, its parameters' types, the argument of each.
struct Candidate {
    /// The cost of each argument's conversion.
    costs: Vec<u32>,
    routine: Arc<Routine>,
    parsed: Arc<spl::Routine>,
    types: Vec<Type>,
    places: Vec<Option<usize>>,
}

/// A routine behind an aggregate.
struct Support {
    routine: Arc<Routine>,
    parsed: Arc<spl::Routine>,
    params: Vec<Type>,
    returns: Type,
}

impl Candidate {
    /// What it is chosen by: the least of these among the candidates.
    fn rank(&self) -> (u32, &[u32], &str) {
        (self.costs.iter().sum(), &self.costs, &self.routine.signature)
    }
}

/// The cost from which on a conversion is none that anybody would expect.
const FAR: u32 = 20;

/// Most arguments of a routine, as many as servers take, and most values that it returns.
const MOST_PARAMS: usize = 341;
const MOST_RETURNS: usize = 64;

impl Binder<'_> {
    pub(super) fn create_routine(&mut self, create: &CreateRoutine) -> Result<ir::Statement> {
        self.effects.writes = true;
        self.effects.schema = true;
        let routine = &create.routine;
        if routine.params.len() > MOST_PARAMS || routine.returns.len() > MOST_RETURNS {
            let message = format!("a routine has at most {MOST_PARAMS} parameters and {MOST_RETURNS} returned values");
            return Err(self.error(Condition::TooManyArguments, message, create.at));
        }
        let signature = self.placed(routine.signature(self.schema), create.at)?;
        // LIKE in a variable's type is looked at now, so that a wrong name does not wait for the first call.
        for variable in &routine.variables {
            let ty = variable.ty.resolve(self.schema);
            self.placed(ty, create.at)?;
        }
        self.placed(routine.result_columns(self.schema), create.at)?;
        Ok(ir::Statement::Ddl(Box::new(Ddl::CreateRoutine(Create {
            name: routine.name.clone(),
            signature,
            specific: routine.specific.clone(),
            definition: self.kept(create.text),
            or_replace: create.or_replace,
            if_not_exists: create.if_not_exists,
        }))))
    }

    pub(super) fn drop_routine(
        &mut self,
        name: &ObjectName,
        function: Option<bool>,
        specific: bool,
        signature: Option<&[Type]>,
        if_exists: bool,
    ) -> Result<ir::Statement> {
        self.effects.writes = true;
        self.effects.schema = true;
        if if_exists && self.routines_named(name, function, specific, signature)?.is_empty() {
            return Ok(ir::Statement::Nothing { tag: "DROP FUNCTION" });
        }
        let oid = self.routine_named(name, function, specific, signature)?.oid;
        Ok(ir::Statement::Ddl(Box::new(Ddl::DropRoutine(DropRoutine { oid }))))
    }

    /// The routine of users that a statement names.
    pub(super) fn routine_named(
        &self,
        name: &ObjectName,
        function: Option<bool>,
        specific: bool,
        signature: Option<&[Type]>,
    ) -> Result<Arc<Routine>> {
        match self.routines_named(name, function, specific, signature)?.as_slice() {
            [routine] => Ok(routine.clone()),
            [] => Err(self.no_routine(&name.name, name.at)),
            _ => Err(self.error(
                Condition::AmbiguousFunction,
                format!("several routines have the name ({}); give the types of its parameters", name.name),
                name.at,
            )),
        }
    }

    fn routines_named(
        &self,
        name: &ObjectName,
        function: Option<bool>,
        specific: bool,
        signature: Option<&[Type]>,
    ) -> Result<Vec<Arc<Routine>>> {
        let words = |ty: &Type| Ok(spl::base_words(&self.named_type(ty, name.at)?));
        let wanted: Option<Vec<String>> =
            signature.map(|types| types.iter().map(words).collect::<Result<_>>()).transpose()?;
        let candidates = if specific { self.schema.all_routines() } else { self.schema.routines(&name.name) };
        let mut found = Vec::new();
        for routine in candidates {
            let Ok(parsed) = routine.parsed() else { continue };
            if specific && parsed.specific.as_deref() != Some(&*name.name)
                || function.is_some_and(|function| function != parsed.function)
            {
                continue;
            }
            if let Some(wanted) = &wanted {
                let types: Vec<String> = parsed.param_types(self.schema)?.iter().map(spl::base_words).collect();
                if types != *wanted {
                    continue;
                }
            }
            found.push(routine);
        }
        Ok(found)
    }

    fn no_routine(&self, name: &str, at: usize) -> Error {
        self.error(Condition::UndefinedFunction, format!("routine ({name}) cannot be resolved"), at).column(name)
    }

    /// The routine of users that a call means; `None` when none takes these arguments.
    fn user_routine(&mut self, name: &str, nodes: &[Node]) -> Result<Option<Resolved>> {
        if self.schema.routines(name).is_empty() {
            return Ok(None);
        }
        let mut given: Vec<(Option<&str>, Expr, usize)> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let (name, node) = match &node.kind {
                NodeKind::Named(name, value) => (Some(name.as_str()), &**value),
                _ => (None, node),
            };
            given.push((name, self.expr(node)?, node.at));
        }
        self.routine_for(name, &given)
    }

    /// A call with values for arguments; `None` when no routine of the name takes them.
    pub(super) fn routine_of(&mut self, name: &str, args: Vec<Expr>, at: usize) -> Result<Option<Expr>> {
        let given: Vec<_> = args.into_iter().map(|arg| (None, arg, at)).collect();
        let Some(resolved) = self.routine_for(name, &given)? else { return Ok(None) };
        let columns = resolved.parsed.result_columns(self.schema)?;
        let [(_, ty)] = columns.as_slice() else { return Ok(None) };
        let ty = ty.clone();
        let args = self.routine_args(resolved);
        Ok(Some(call("ifx_routine", args, ty)))
    }

    /// The arguments of a call of a routine of one parameter.
    pub(super) fn called(&mut self, routine: Arc<Routine>, parsed: Arc<spl::Routine>, arg: Expr) -> Vec<Expr> {
        self.note(|uses| {
            uses.routines.insert(routine.oid);
        });
        let kind = if parsed.function { "function" } else { "procedure" };
        self.needs.functions.entry(routine.oid).or_insert_with(|| (kind, routine.name.clone()));
        self.routine_args(Resolved { routine, parsed, args: vec![Some(arg)] })
    }

    /// The routine of users with this name that takes these arguments.
    fn routine_for(&mut self, name: &str, given: &[(Option<&str>, Expr, usize)]) -> Result<Option<Resolved>> {
        let candidates = self.schema.routines(name);
        // The nearest by all arguments together, then by the first, the second …: which of them was made first does not
        // matter, so where even that leaves two, their signatures decide.
        let mut best: Option<Candidate> = None;
        for routine in candidates {
            let parsed = routine.parsed()?.clone();
            let Some(places) = places(&parsed, given) else { continue };
            let types = parsed.param_types(self.schema)?;
            let costs: Option<Vec<u32>> = places
                .iter()
                .zip(&types)
                .map(|(place, ty)| place.map_or(Some(0), |place| self.cost(&given[place].1, ty)))
                .collect();
            let Some(costs) = costs else { continue };
            let candidate = Candidate { costs, routine, parsed, types, places };
            if best.as_ref().is_none_or(|best| candidate.rank() < best.rank()) {
                best = Some(candidate);
            }
        }
        let Some(Candidate { costs, routine, parsed, types, places }) = best else { return Ok(None) };
        let cost: u32 = costs.iter().sum();
        self.note(|uses| {
            uses.routines.insert(routine.oid);
        });
        // A built-in function of this name is nearer than a routine whose arguments would have to be read from text.
        if cost >= FAR && functions::named(Language::Informix, name).next().is_some() {
            return Ok(None);
        }
        let mut args = Vec::with_capacity(places.len());
        for (place, ty) in places.into_iter().zip(&types) {
            args.push(match place {
                Some(place) => Some(self.argument(given[place].1.clone(), ty, given[place].2)?),
                None => None,
            });
        }
        let kind = if parsed.function { "function" } else { "procedure" };
        self.needs.functions.entry(routine.oid).or_insert_with(|| (kind, routine.name.clone()));
        Ok(Some(Resolved { routine, parsed, args }))
    }

    /// A call inside an expression: one value.
    pub(super) fn routine_value(&mut self, name: &str, nodes: &[Node], at: usize) -> Result<Option<Expr>> {
        let Some(resolved) = self.user_routine(name, nodes)? else { return Ok(None) };
        let columns = resolved.parsed.result_columns(self.schema)?;
        let ty = match columns.as_slice() {
            [(_, ty)] => ty.clone(),
            [] => {
                let message = format!("routine ({name}) returns no value");
                return Err(self.error(Condition::RoutineTooFewValues, message, at).column(name));
            }
            _ => {
                let message = format!("routine ({name}) returns more than one value, an expression takes one");
                return Err(self.error(Condition::RoutineTooManyValues, message, at).column(name));
            }
        };
        let args = self.routine_args(resolved);
        Ok(Some(call("ifx_routine", args, ty)))
    }

    /// A call of an aggregate that users have made; `None` when the name is no such.
    pub(super) fn user_aggregate(&mut self, node: &Call, at: usize) -> Result<Option<Expr>> {
        let Some(found) = self.schema.informix_aggregate(&node.name) else { return Ok(None) };
        if node.over.is_some() {
            return self.unsupported("OVER behind an aggregate of users", at);
        }
        let [arg] = node.args.as_slice() else {
            return self.unsupported("an aggregate of users of other than one argument", at);
        };
        self.check_stands(false, at)?;
        let value = self.inside_call(false, |binder| binder.expr(arg))?;
        let parts = &found.parts;
        let init = match &parts.init {
            Some(name) => Some(self.support(name, &[Some(&value.ty)], at)?),
            None => None,
        };
        let begins = init.as_ref().map(|init| &init.returns);
        let iter = self.support(&parts.iter, &[begins, Some(&value.ty)], at)?;
        let finish = match &parts.finish {
            Some(name) => Some(self.support(name, &[Some(&iter.returns)], at)?),
            None => None,
        };
        let value = self.argument(value, &iter.params[1], at)?;
        let state = iter.returns.clone();
        let callee = |support: &Support, types: [&Type; 2]| Callee {
            function: support.routine.oid,
            strict: false,
            standing: None,
            types: types.into_iter().cloned().collect(),
        };
        let ty = finish.as_ref().map_or(&state, |finish| &finish.returns).clone();
        let plan = Plan {
            aggregate: found.oid,
            keys: None,
            transition: callee(&iter, [&state, &iter.params[0]]),
            inverse: None,
            finish: finish.as_ref().map(|finish| callee(finish, [&state, &finish.params[0]])),
            extra: 0,
            leaving: false,
            spl: Some(Spl {
                init: init.as_ref().map(|init| callee(init, [&init.returns, &state])),
                only_reads: self.changes_data,
                skips_nulls: !parts.handles_nulls,
            }),
        };
        self.effects.volatile = true;
        self.effects.reads = true;
        for support in init.iter().chain([&iter]).chain(&finish) {
            let Support { routine, parsed, .. } = support;
            if !self.changes_data && self.routine_writes(parsed, &mut HashSet::new()) {
                self.effects.writes = true;
            }
            self.note(|uses| {
                uses.routines.insert(routine.oid);
            });
            let kind = if parsed.function { "function" } else { "procedure" };
            self.needs.functions.entry(routine.oid).or_insert_with(|| (kind, routine.name.clone()));
        }
        let plan = Expr::text(plan.to_text());
        let nothing = Expr::new(ir::ExprKind::Literal(ir::Value::Null), Type::Unknown);
        let aggregate = ir::Aggregate {
            function: functions::internal("stored aggregate"),
            args: vec![plan.clone(), nothing.clone(), value],
            direct: Vec::new(),
            distinct: node.distinct,
            order_by: Vec::new(),
            filter: None,
        };
        let state = Expr::new(ir::ExprKind::Aggregate(Box::new(aggregate)), Type::Bytea);
        let function = functions::internal("stored aggregate result");
        Ok(Some(Expr::new(ir::ExprKind::Call { function, args: vec![plan, nothing, state] }, ty)))
    }

    /// The routine of this name behind an aggregate that takes such arguments, of any type where none is known, and returns
    /// one value.
    fn support(&self, name: &str, args: &[Option<&Type>], at: usize) -> Result<Support> {
        let mut best: Option<(u32, Support)> = None;
        for routine in self.schema.routines(name) {
            let parsed = routine.parsed()?.clone();
            let params = parsed.param_types(self.schema)?;
            let returned = parsed.result_columns(self.schema)?;
            let (true, [(_, returns)]) = (params.len() == args.len(), returned.as_slice()) else { continue };
            let costs: Option<Vec<u32>> = args
                .iter()
                .zip(&params)
                .map(|(arg, param)| arg.map_or(Some(0), |arg| self.type_cost(arg, param)))
                .collect();
            let Some(cost) = costs.map(|costs| costs.iter().sum::<u32>()) else { continue };
            let better = best
                .as_ref()
                .is_none_or(|(least, known)| (cost, &routine.signature) < (*least, &known.routine.signature));
            if better {
                best = Some((cost, Support { returns: returns.clone(), routine, parsed, params }));
            }
        }
        best.map(|(_, support)| support).ok_or_else(|| self.no_routine(name, at))
    }

    /// How far an argument is from a parameter; `None` is too far.
    fn cost(&self, arg: &Expr, to: &Type) -> Option<u32> {
        match (&arg.kind, &arg.ty) {
            // A quoted string is none of a DISTINCT type.
            (ir::ExprKind::Literal(ir::Value::Text(_)), Type::Unknown) if to.distinct().is_some() => {
                self.type_cost(&Type::Char(1), to)
            }
            (_, from) => self.type_cost(from, to),
        }
    }

    fn type_cost(&self, from: &Type, to: &Type) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        if from.distinct().is_some() || to.distinct().is_some() {
            return self.distinct_cost(from, to);
        }
        assignment_cost(from, to).or_else(|| {
            let row = |ty: &Type| matches!(ty, Type::Composite(_));
            (row(from) || row(to)).then(|| self.distinct_cost(from, to)).flatten()
        })
    }

    /// The arguments of `ifx_routine`: which routine, which parameters are given, and their values.
    fn routine_args(&mut self, resolved: Resolved) -> Vec<Expr> {
        self.effects.volatile = true;
        self.effects.reads = true;
        if !self.changes_data && self.routine_writes(&resolved.parsed, &mut HashSet::new()) {
            self.effects.writes = true;
        }
        let mut given = if self.changes_data { "-".to_owned() } else { String::new() };
        given.extend(resolved.args.iter().map(|arg| if arg.is_some() { '1' } else { '0' }));
        let mut args = vec![Expr::integer(resolved.routine.oid.into(), Type::Oid), Expr::text(given)];
        args.extend(resolved.args.into_iter().flatten());
        args
    }

    /// True when a routine, or one that it calls, may change data.
    fn routine_writes(&self, routine: &spl::Routine, seen: &mut HashSet<String>) -> bool {
        if routine.writes {
            return true;
        }
        routine.calls.iter().any(|name| {
            seen.insert(name.clone())
                && self
                    .schema
                    .routines(name)
                    .iter()
                    .filter_map(|routine| routine.parsed().ok())
                    .any(|routine| self.routine_writes(routine, seen))
        })
    }

    /// EXECUTE FUNCTION, EXECUTE PROCEDURE, CALL as a statement of its own.
    pub(super) fn routine_statement(
        &mut self,
        name: &str,
        nodes: &[Node],
    ) -> Result<Option<(ir::Statement, Vec<ResultColumn>)>> {
        let Some(resolved) = self.user_routine(name, nodes)? else { return Ok(None) };
        let columns = resolved
            .parsed
            .result_columns(self.schema)?
            .into_iter()
            .map(|(name, ty)| ResultColumn { name, ty, origin: None, not_null: false, identity: false, listed: None })
            .collect();
        let given = resolved.args.iter().map(Option::is_some).collect();
        let values: Vec<Expr> = resolved.args.into_iter().flatten().collect();
        let outputs = values.iter().map(|value| OutputColumn { name: String::new(), ty: value.ty.clone() }).collect();
        let args = if values.is_empty() { None } else { Some(Box::new(self.query_of(values, outputs))) };
        let call = ir::CallRoutine { routine: resolved.routine, args, given };
        Ok(Some((ir::Statement::CallRoutine(call), columns)))
    }

    /// `TABLE(FUNCTION f(…))`, `INSERT … EXECUTE FUNCTION f(…)`: a relation of the rows that the routine returns.
    pub(super) fn routine_rows(
        &mut self,
        name: &str,
        nodes: &[Node],
        at: usize,
    ) -> Result<Option<(From, ir::RelId, Vec<OutputColumn>)>> {
        let Some(resolved) = self.user_routine(name, nodes)? else { return Ok(None) };
        let columns: Vec<OutputColumn> = resolved
            .parsed
            .result_columns(self.schema)?
            .into_iter()
            .map(|(name, ty)| OutputColumn { name, ty })
            .collect();
        if columns.is_empty() {
            let message = format!("routine ({name}) returns no value");
            return Err(self.error(Condition::RoutineTooFewValues, message, at).column(name));
        }
        let args = self.routine_args(resolved);
        let id = self.ids.relation();
        let function = super::coerce::row("ifx_routine_rows");
        let from = From::Function { id, function, args, columns: columns.clone(), ordinality: false };
        Ok(Some((from, id, columns)))
    }
}

/// Which argument each parameter gets; `None` when the call does not fit.
fn places(routine: &spl::Routine, given: &[(Option<&str>, Expr, usize)]) -> Option<Vec<Option<usize>>> {
    if given.len() > routine.params.len() {
        return None;
    }
    let mut places = vec![None; routine.params.len()];
    for (at, (name, _, _)) in given.iter().enumerate() {
        let place = match name {
            None => at,
            Some(name) => routine.params.iter().position(|param| param.name == *name)?,
        };
        if places[place].replace(at).is_some() {
            return None;
        }
    }
    let complete = places.iter().zip(&routine.params).all(|(place, param)| place.is_some() || param.default.is_some());
    complete.then_some(places)
}

/// How far an argument is from a parameter; `None` is too far.
fn assignment_cost(from: &Type, to: &Type) -> Option<u32> {
    if from == to || from.same_base(to) {
        return Some(0);
    }
    // A quoted string is text before it is anything else.
    if *from == Type::Unknown && to.is_text() {
        return Some(1);
    }
    if let Some(cost) = super::call::conversion_cost(from, &TypeSpec::Is(to.clone())) {
        return Some(cost);
    }
    match (from, to) {
        (Type::Unknown, _) => Some(2),
        (from, to) if from.is_text() && to.is_text() => Some(1),
        (Type::Date | Type::Datetime(_), Type::Date | Type::Datetime(_)) => Some(5),
        (Type::QualifiedInterval(_), Type::QualifiedInterval(_)) => Some(5),
        (from, to) if super::coerce::castable(from, to) => Some(40),
        _ => None,
    }
}
