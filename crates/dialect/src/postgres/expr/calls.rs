//! Function calls: scalar functions, casts in call form, aggregates, window functions, set-returning functions.

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use rowferry_facts as facts;

use super::super::binder::{Binder, Clause, Scope};
use super::super::choice::Choice;
use super::super::coerce::{base, unvectored_for};
use super::super::resolve::{Miss, of_domains};
use super::super::routine::{Called, is_no_argument};
use super::super::{absent, bind_default_of, bound, choice};
use super::super::{names, types};
use crate::bind::inside::Misplaced;
use crate::extension;
use crate::functions::{self, FunctionKind};
use crate::ir::{self, Aggregate, CastContext, Expr, ExprKind, WindowCall};
use crate::schema::QualifiedName;
use crate::types::Reg;
use crate::{Condition, Language, Result, Type};

/// The object id of `unknown`: the type of a literal that has none yet.
const UNKNOWN: u32 = 705;

/// The function's own name, when its schema is one where functions live.
pub(in super::super) fn function_name(call: &pg::FuncCall) -> std::result::Result<String, String> {
    match names::strings(&call.funcname).as_slice() {
        [name] | ["pg_catalog", name] => Ok((*name).to_owned()),
        // Those behind its views, which programs call.
        ["information_schema", name] if name.starts_with("_pg_") => Ok(format!("information_schema.{name}")),
        parts => Err(parts.join(".")),
    }
}

/// What MySQL's aggregates of strings of bytes yield without rows: as many bytes as their argument has.
fn of_no_bytes(function: &functions::Function, args: &[Expr]) -> Option<Expr> {
    let byte = match function.name {
        "mysql_bytes_bit_and" => 0xff,
        "mysql_bytes_bit_or" | "mysql_bytes_bit_xor" => 0,
        _ => return None,
    };
    let ExprKind::Literal(ir::Value::Integer(length)) = args.get(1)?.kind else { return None };
    let bytes = vec![byte; usize::try_from(length).unwrap_or(0)];
    Some(Expr::new(ExprKind::Literal(ir::Value::Blob(bytes)), Type::Bytea))
}

impl Binder<'_> {
    /// The schema and name of a call that means a function of an extension there, or one that makes ranges of a user's type.
    pub(in super::super) fn named_of_extension(&self, call: &pg::FuncCall) -> Option<(String, String)> {
        let parts = names::strings(&call.funcname);
        let [schema, name] = parts.as_slice() else { return None };
        let mut there = extension::visible(self.schema, Some(schema));
        let found = there.any(|extension| extension.functions(name).next().is_some());
        (found || self.makes_ranges(schema, name)).then(|| ((*schema).to_owned(), (*name).to_owned()))
    }

    /// Refuses a call of a function in a schema that is not there.
    fn check_namespace_of_call(&self, call: &pg::FuncCall) -> Result<()> {
        if let [schema, _] = names::strings(&call.funcname).as_slice()
            && !self.schema.has_namespace(schema)
        {
            let message = format!("schema \"{schema}\" does not exist");
            return Err(self.error(Condition::InvalidSchemaName, message, call.location));
        }
        Ok(())
    }

    pub(super) fn function_call(&mut self, call: &pg::FuncCall) -> Result<Expr> {
        if self.is_mysql()
            && let Some(function) = self.mysql_function_of_users(call)?
        {
            let settled = self.mysql_call_of_users(call, &function)?;
            return self.call_value(settled, call.location);
        }
        let mut users = self.user_routines(&call.funcname, call.location)?;
        if users.iter().any(|user| user.definition.aggregate.is_some()) {
            if let Some(found) = self.aggregate_of_users(call, &users)? {
                return Ok(found);
            }
            users.retain(|user| user.definition.aggregate.is_none());
        }
        if !users.is_empty()
            && let Some(found) = self.call_with_users(call, &users)?
        {
            return Ok(found);
        }
        if self.is_mysql() {
            return self.mysql_function_call(call);
        }
        let mut namespace = None;
        let name = match function_name(call) {
            Ok(name) => name,
            Err(_) if let Some((schema, name)) = self.named_of_extension(call) => {
                namespace = Some(schema);
                name
            }
            Err(name) => {
                self.check_namespace_of_call(call)?;
                let args = self.placed_all(&call.args)?;
                let inputs: Vec<Type> = args.iter().map(|(arg, _)| arg.ty.clone()).collect();
                return Err(self.no_function(&name, &inputs, call.location, Miss::None));
            }
        };
        if call.func_variadic {
            return self.variadic_call(namespace.as_deref(), &name, call);
        }
        if call.agg_within_group {
            return self.within_group(&name, call);
        }
        let over = call.over.as_deref();
        let is_aggregate = namespace.is_none()
            && functions::named(Language::Postgres, &name).any(|row| row.kind == FunctionKind::Aggregate);
        // Those that are window functions and, WITHIN GROUP, hypothetical-set aggregates.
        let needs_over = functions::named(Language::Postgres, &name).any(|row| row.kind == FunctionKind::Window);
        if is_aggregate && needs_over && over.is_none() && call.args.is_empty() {
            let message = format!("window function {name} requires an OVER clause");
            return Err(self.error(Condition::WrongObjectType, message, call.location));
        }
        if is_aggregate || over.is_some() {
            return self.grouped_call(&name, call, over);
        }
        if call.agg_star || call.agg_distinct || call.agg_filter.is_some() || !call.agg_order.is_empty() {
            let what = if call.agg_star {
                format!("{name}(*) specified, but {name} is not an aggregate function")
            } else if call.agg_distinct {
                format!("DISTINCT specified, but {name} is not an aggregate function")
            } else if call.agg_filter.is_some() {
                format!("FILTER specified, but {name} is not an aggregate function")
            } else {
                format!("ORDER BY specified, but {name} is not an aggregate function")
            };
            return Err(self.error(Condition::WrongObjectType, what, call.location));
        }
        let args = unvectored_for(&name, self.call_arguments(&name, &call.args, call.location)?);
        let inputs: Vec<Type> = args.iter().map(|(arg, _)| base(&arg.ty)).collect();
        let wanted = |kind| matches!(kind, FunctionKind::Scalar | FunctionKind::SetReturning);
        if let Some(cast) = self.literal_in_call_form(namespace.as_deref(), &name, &args)? {
            return Ok(cast);
        }
        let found = self.find_function_in(namespace.as_deref(), &name, &inputs, wanted);
        match found {
            Ok(candidate) if candidate.function.kind == FunctionKind::SetReturning => {
                let candidate = of_domains(candidate, args.iter().map(|(arg, _)| &arg.ty));
                self.set_returning(candidate, &name, args, call.location)
            }
            Ok(candidate) => {
                self.collated |= candidate.function.name == "pg_collation_for";
                let called = self.call(candidate, args)?;
                self.note_call_of_extension(&called, call.location);
                Ok(called)
            }
            Err(miss) => {
                if let Some((fact, operator)) = self.operator_behind(&name, &inputs) {
                    return self.operator_in_call_form(fact, operator, args, call.location);
                }
                if let Some(value) = self.extreme_in_call_form(&name, &args)? {
                    return Ok(value);
                }
                // `float8(x)`, `text(x)`: a type's name in call form is a cast.
                let of_extension = || extension::type_named(self.schema, None, &name);
                // No row is cast so.
                if let ([input], Some(ty)) = (inputs.as_slice(), types::named(&name, &[]).ok().or_else(of_extension))
                    && !input.is_row()
                    && let Some((arg, at)) = args.into_iter().next()
                    && let Ok(value) = self.try_coerce(arg, &ty, CastContext::Explicit, at)?
                {
                    return Ok(value);
                }
                if let ([_], [_]) = (inputs.as_slice(), call.funcname.as_slice())
                    && let Some(value) = self.field_in_call_form(&name, call)?
                {
                    return Ok(value);
                }
                if functions::named(Language::Postgres, &name).any(|row| row.kind == FunctionKind::Window) {
                    return Err(self.error(
                        Condition::WrongObjectType,
                        format!("window function {name} requires an OVER clause"),
                        call.location,
                    ));
                }
                Err(self.no_function(&name, &inputs, call.location, miss))
            }
        }
    }

    /// `date('2026-01-01')`: a type's name before a literal alone is a cast, whatever functions of the name there are.
    fn literal_in_call_form(
        &mut self,
        namespace: Option<&str>,
        name: &str,
        args: &[(Expr, i32)],
    ) -> Result<Option<Expr>> {
        let ([(arg, at)], None) = (args, namespace) else { return Ok(None) };
        if arg.ty != Type::Unknown || !matches!(arg.kind, ExprKind::Literal(_)) {
            return Ok(None);
        }
        // What nothing has given a type has none yet.
        if name == "pg_typeof" {
            return Ok(Some(Expr::integer(i64::from(UNKNOWN), Type::Reg(Reg::Type))));
        }
        let user = |binder: &Self| {
            let found = binder.schema.user_type(&QualifiedName::bare(name))?;
            Some(Type::User(found))
        };
        let known = facts::Type::named(name).and_then(|_| types::named(name, &[]).ok());
        let Some(ty) = known.or_else(|| user(self)) else { return Ok(None) };
        self.coerce(arg.clone(), &ty, CastContext::Explicit, *at).map(Some)
    }

    /// `name(row)`, which is `row.name`.
    fn field_in_call_form(&mut self, name: &str, call: &pg::FuncCall) -> Result<Option<Expr>> {
        let [node] = call.args.as_slice() else { return Ok(None) };
        let (row, at) = self.placed(node)?;
        match self.known_field(&row, name) {
            Some(_) => self.field(row, name, at).map(Some),
            None => Ok(None),
        }
    }

    /// A call with VARIADIC before its last argument, an array of what the function would take one by one.
    fn variadic_call(&mut self, namespace: Option<&str>, name: &str, call: &pg::FuncCall) -> Result<Expr> {
        let args = self.placed_all(&call.args)?;
        let inputs: Vec<Type> = args.iter().map(|(arg, _)| base(&arg.ty)).collect();
        let miss = match self.find_variadic(namespace, name, &inputs) {
            Ok(candidate) => return self.call(candidate, args),
            Err(miss) => miss,
        };
        let takes = |fact: &&&facts::Function| fact.variadic != 0 && fact.arguments.len() == inputs.len();
        let Some(fact) = facts::Function::named(name).iter().find(takes) else {
            return Err(self.undefined_function(name, &inputs, call.location, miss));
        };
        // Anything can be written there of a function of any types, but it must be an array.
        const ANY: u32 = 2_276;
        if let (ANY, Some((last, at))) = (fact.variadic, args.last())
            && !matches!(last.ty, Type::Array(_))
        {
            return Err(self.error(Condition::DatatypeMismatch, "VARIADIC argument must be an array", *at));
        }
        Err(self.no_function(name, &inputs, call.location, miss))
    }

    /// The function of PostgreSQL that a call means, when it stands behind an operator: that is what is to be done.
    fn operator_behind(
        &self,
        name: &str,
        inputs: &[Type],
    ) -> Option<(&'static facts::Function, &'static facts::Operator)> {
        match choice::function(name, &absent::oids(inputs), |kind| kind == 'f') {
            Choice::One(fact) => bound::behind(fact).map(|operator| (fact, operator)),
            Choice::None | Choice::Several => None,
        }
    }

    /// `int4pl(a, b)` is `a + b`.
    fn operator_in_call_form(
        &mut self,
        fact: &facts::Function,
        operator: &facts::Operator,
        args: Vec<(Expr, i32)>,
        place: i32,
    ) -> Result<Expr> {
        let mut operands = Vec::with_capacity(args.len());
        for ((arg, at), declared) in args.into_iter().zip(&fact.arguments) {
            let ty =
                facts::Type::by_oid(*declared).filter(|ty| ty.kind != 'p').and_then(|_| types::from_oid(*declared));
            operands.push(match ty {
                Some(ty) => (self.coerce(arg, &ty, CastContext::Implicit, at)?, at),
                None => (arg, at),
            });
        }
        self.apply_operator(operator.name, operands, place)
    }

    /// `int4larger(a, b)` is the greater of both: what stands behind `max` and `min`. They know no NULL.
    fn extreme_in_call_form(&mut self, name: &str, args: &[(Expr, i32)]) -> Result<Option<Expr>> {
        let behind = |aggregate: &str| {
            let rows = facts::Function::named(aggregate).iter().filter(|fact| fact.kind == 'a');
            let transitions =
                rows.filter_map(|fact| facts::Aggregate::all().iter().find(|row| row.function == fact.oid));
            let mut transitions = transitions.filter_map(|row| facts::Function::by_oid(row.transition));
            transitions.any(|fact| fact.name == name)
        };
        let [(left, left_at), (right, right_at)] = args else { return Ok(None) };
        let greatest = match (behind("max"), behind("min")) {
            (false, false) => return Ok(None),
            (greatest, _) => greatest,
        };
        let inputs = [base(&left.ty), base(&right.ty)];
        let Choice::One(fact) = choice::function(name, &absent::oids(&inputs), |kind| kind == 'f') else {
            return Ok(None);
        };
        if !(self.is_steady(left) && self.is_steady(right)) {
            return Err(self.unsupported(format!("{name} of what is another value each time"), *left_at));
        }
        let ty = types::from_oid(fact.arguments[0]).filter(|_| fact.arguments[0] == fact.arguments[1]);
        let ty = ty.unwrap_or_else(|| inputs[0].clone());
        let left = self.coerce(left.clone(), &ty, CastContext::Implicit, *left_at)?;
        let right = self.coerce(right.clone(), &ty, CastContext::Implicit, *right_at)?;
        let is_null = |arg: &Expr| {
            let kind = ExprKind::IsNull { arg: Box::new(arg.clone()), negated: false };
            Expr::new(kind, Type::Bool)
        };
        let unknown = Expr::new(ExprKind::Or(vec![is_null(&left), is_null(&right)]), Type::Bool);
        let both = vec![left, right];
        let extreme = if greatest { ExprKind::Greatest(both) } else { ExprKind::Least(both) };
        let branches = vec![(unknown, Expr::null(ty.clone()))];
        let otherwise = Some(Box::new(Expr::new(extreme, ty.clone())));
        Ok(Some(Expr::new(ExprKind::Case { branches, otherwise }, ty)))
    }

    /// A call of a function of PostgreSQL's own, whose arguments fit it.
    pub(in super::super) fn call_of_fact(
        &mut self,
        fact: &facts::Function,
        args: Vec<(Expr, i32)>,
        place: i32,
    ) -> Result<Expr> {
        let mut converted = Vec::with_capacity(args.len());
        for ((arg, at), declared) in args.into_iter().zip(&fact.arguments) {
            let ty =
                facts::Type::by_oid(*declared).filter(|ty| ty.kind != 'p').and_then(|_| types::from_oid(*declared));
            converted.push(match ty {
                Some(ty) => (self.coerce(arg, &ty, CastContext::Implicit, at)?, at),
                None => (arg, at),
            });
        }
        let inputs: Vec<Type> = converted.iter().map(|(arg, _)| base(&arg.ty)).collect();
        let miss = match self.find_function(fact.name, &inputs, |kind| kind == FunctionKind::Scalar) {
            Ok(candidate) => return self.call(candidate, converted),
            Err(miss) => miss,
        };
        if let Some((fact, operator)) = self.operator_behind(fact.name, &inputs) {
            return self.operator_in_call_form(fact, operator, converted, place);
        }
        if let Some(value) = self.extreme_in_call_form(fact.name, &converted)? {
            return Ok(value);
        }
        if let ([_], Ok(ty)) = (inputs.as_slice(), types::named(fact.name, &[]))
            && let Some((arg, at)) = converted.pop()
            && let Ok(value) = self.try_coerce(arg, &ty, CastContext::Explicit, at)?
        {
            return Ok(value);
        }
        Err(self.no_function(fact.name, &inputs, place, miss))
    }

    /// A call whose name functions of users have, too; `None` when it is one of an aggregate or window function.
    fn call_with_users(
        &mut self,
        call: &pg::FuncCall,
        users: &[std::sync::Arc<crate::stored_function::StoredFunction>],
    ) -> Result<Option<Expr>> {
        let name = names::strings(&call.funcname).join(".");
        let of_groups = |kind| matches!(kind, FunctionKind::Aggregate | FunctionKind::Window);
        if functions::named(Language::Postgres, &name).any(|row| of_groups(row.kind)) {
            return Ok(None);
        }
        let message = if call.agg_star {
            format!("{name}(*) specified, but {name} is not an aggregate function")
        } else if call.agg_within_group {
            format!("WITHIN GROUP specified, but {name} is not an aggregate function")
        } else if call.agg_distinct {
            format!("DISTINCT specified, but {name} is not an aggregate function")
        } else if !call.agg_order.is_empty() {
            format!("ORDER BY specified, but {name} is not an aggregate function")
        } else if call.agg_filter.is_some() {
            format!("FILTER specified, but {name} is not an aggregate function")
        } else if call.over.is_some() {
            format!("OVER specified, but {name} is not a window function nor an aggregate function")
        } else {
            return self.settled_with_users(call, users).map(Some);
        };
        Err(self.error(Condition::WrongObjectType, message, call.location))
    }

    fn settled_with_users(
        &mut self,
        call: &pg::FuncCall,
        users: &[std::sync::Arc<crate::stored_function::StoredFunction>],
    ) -> Result<Expr> {
        match self.user_call(call, users, false)? {
            Called::User(settled) => self.call_value(settled, call.location),
            Called::Builtin(candidate, args) if candidate.function.kind == FunctionKind::SetReturning => {
                let name = candidate.function.name;
                self.set_returning(candidate, name, args, call.location)
            }
            Called::Builtin(candidate, args) => self.call(candidate, args),
        }
    }

    /// Arguments in order; named ones are put into their places, with the defaults of those left out.
    pub(in super::super) fn call_arguments(
        &mut self,
        name: &str,
        nodes: &[Node],
        place: i32,
    ) -> Result<Vec<(Expr, i32)>> {
        if !nodes.iter().any(|node| matches!(node.node, Some(N::NamedArgExpr(_)))) {
            let mut args = self.placed_all(nodes)?;
            args.retain(|(value, _)| !is_no_argument(value));
            return Ok(args);
        }
        let given = self.given(nodes)?;
        let inputs: Vec<Type> = given.iter().map(|(_, arg, _)| base(&arg.ty)).collect();
        let names: Vec<Option<&str>> = given.iter().map(|(name, ..)| name.as_deref()).collect();
        let Some((fact, places)) = choice::by_name(name, &names, &absent::oids(&inputs)) else {
            if facts::Function::named(name).is_empty()
                && functions::named(Language::Postgres, name).any(|row| row.kind != FunctionKind::Operator)
            {
                return Err(self.unsupported(format!("named arguments of {name}"), place));
            }
            return Err(self.no_user_function(name, &given, &inputs, place, Miss::None, false));
        };
        let mut values: Vec<Option<(Expr, i32)>> = given.into_iter().map(|(_, arg, at)| Some((arg, at))).collect();
        let required = fact.arguments.len() - fact.defaults as usize;
        let defaults: Vec<&str> = fact.default_values.split(", ").collect();
        let mut args = Vec::with_capacity(places.len());
        for (at, place) in places.into_iter().enumerate() {
            args.push(match place.and_then(|place| values.get_mut(place)?.take()) {
                Some(value) => value,
                None => {
                    let default = at.checked_sub(required).and_then(|at| defaults.get(at));
                    let (Some(text), Some(ty)) = (default, types::from_oid(fact.arguments[at])) else {
                        return Err(self.unsupported(format!("named arguments of {name}"), -1));
                    };
                    (bind_default_of(self, text, &ty)?, -1)
                }
            });
        }
        Ok(args)
    }

    /// What is computed over windows does not stand everywhere; of aggregates that is seen when their arguments are
    /// known.
    pub(in super::super) fn check_grouping_place(&mut self, windowed: bool, place: i32) -> Result<()> {
        let Scope { clause, inside, .. } = *self.scope();
        match inside.window_here(clause.windows()) {
            Err(misplaced) if windowed => Err(self.misplaced(misplaced, clause, place)),
            _ => Ok(()),
        }
    }

    /// The error of an aggregate or a window function that cannot stand where it does.
    pub(in super::super) fn misplaced(&self, misplaced: Misplaced, clause: Clause, place: i32) -> crate::Error {
        let clause = clause.words();
        let (condition, message) = match misplaced {
            Misplaced::NestedAggregate => {
                (Condition::GroupingError, "aggregate function calls cannot be nested".to_owned())
            }
            Misplaced::WindowInAggregate => {
                (Condition::GroupingError, "aggregate function calls cannot contain window function calls".to_owned())
            }
            Misplaced::NestedWindow => (Condition::WindowingError, "window function calls cannot be nested".to_owned()),
            Misplaced::Aggregate => {
                (Condition::GroupingError, format!("aggregate functions are not allowed in {clause}"))
            }
            Misplaced::Window => (Condition::WindowingError, format!("window functions are not allowed in {clause}")),
        };
        self.error(condition, message, place)
    }

    /// An aggregate, a window function, or an aggregate over a window.
    pub(in super::super) fn grouped_call(
        &mut self,
        name: &str,
        call: &pg::FuncCall,
        over: Option<&pg::WindowDef>,
    ) -> Result<Expr> {
        self.check_grouping_place(over.is_some(), call.location)?;
        let inner = self.parts_of_group(call);
        let (args, mut order_by, filter) = inner?;
        let inputs: Vec<Type> = args.iter().map(|(arg, _)| base(&arg.ty)).collect();
        // What is written counts where ORDER BY must stand in DISTINCT's list, whatever it is converted to.
        let written: Vec<Expr> = match call.agg_distinct && !order_by.is_empty() {
            true => args.iter().map(|(arg, _)| arg.clone()).collect(),
            false => Vec::new(),
        };
        let (found, args) = match self.is_mysql() {
            true => match self.mysql_grouped(name, args, over.is_some())? {
                Ok((candidate, args)) => (Ok(candidate), args),
                Err(miss) => (Err(miss), Vec::new()),
            },
            false => {
                let found = self.find_function(name, &inputs, |kind| {
                    kind == FunctionKind::Aggregate || (over.is_some() && kind == FunctionKind::Window)
                });
                (found, args)
            }
        };
        let candidate = match found {
            Ok(candidate) => candidate,
            Err(miss) => {
                if over.is_some() && self.find_function(name, &inputs, |kind| kind == FunctionKind::Scalar).is_ok() {
                    return Err(self.error(
                        Condition::WrongObjectType,
                        format!("OVER specified, but {name} is not a window function nor an aggregate function"),
                        call.location,
                    ));
                }
                return Err(self.no_function(name, &inputs, call.location, miss));
            }
        };
        if name == "count" && args.is_empty() && !call.agg_star {
            return Err(self.error(
                Condition::WrongObjectType,
                "count(*) must be used to call a parameterless aggregate function",
                call.location,
            ));
        }
        if functions::is_within_group(candidate.function) {
            let (condition, message) = match over {
                Some(_) => {
                    (Condition::FeatureNotSupported, format!("OVER is not supported for ordered-set aggregate {name}"))
                }
                None => {
                    (Condition::WrongObjectType, format!("WITHIN GROUP is required for ordered-set aggregate {name}"))
                }
            };
            return Err(self.error(condition, message, call.location));
        }
        let candidate = of_domains(candidate, args.iter().map(|(arg, _)| &arg.ty));
        let mut args = self.arguments(&candidate, args)?;
        let ty = candidate.result;
        let function = candidate.function;
        let Some(over) = over else {
            let parts = args.iter().chain(order_by.iter().map(|key| &key.expr)).chain(&filter);
            self.claim_aggregate(parts, call.location)?;
            if call.agg_distinct {
                for key in &mut order_by {
                    ir::unify(&mut key.expr, &args);
                    ir::unify(&mut key.expr, &written);
                }
                // MySQL orders what is distinct by anything.
                if !self.is_mysql() {
                    self.check_distinct_order(call, &args, &written, &order_by)?;
                }
                // PostgreSQL finds what is distinct by sorting, and that is the order of what is collected.
                let collects = matches!(function.name, "array_agg" | "string_agg" | "json_agg" | "jsonb_agg");
                if collects && order_by.is_empty() && self.shown.is_none() && args[0].ty.is_ordered() {
                    order_by.push(ir::SortKey { expr: args[0].clone(), descending: false, nulls_first: false });
                }
            }
            let without_rows = of_no_bytes(function, &args);
            let aggregate =
                Aggregate { function, args, direct: Vec::new(), distinct: call.agg_distinct, order_by, filter };
            let value = Expr::new(ExprKind::Aggregate(Box::new(aggregate)), ty.clone());
            return Ok(match without_rows {
                Some(bytes) => Expr::new(ExprKind::Coalesce(vec![value, bytes]), ty),
                None => value,
            });
        };
        if call.agg_distinct {
            return Err(self.unsupported("DISTINCT for window functions", call.location));
        }
        if !order_by.is_empty() {
            return Err(self.unsupported("aggregate ORDER BY for window functions", call.location));
        }
        if function.kind == FunctionKind::Window && filter.is_some() {
            return Err(self.unsupported("FILTER for non-aggregate window functions", call.location));
        }
        let (partition_by, order_by, frame) = self.window_of_call(over)?;
        let offset = args.get(1).filter(|_| matches!(function.name, "lag" | "lead")).cloned();
        let offset = offset.or_else(|| self.number_of_buckets(function.name, &mut args));
        let without_rows = of_no_bytes(function, &args);
        let window = WindowCall { function, args, filter, partition_by, order_by, frame };
        let value = Expr::new(ExprKind::Window(Box::new(window)), ty.clone());
        let value = match without_rows {
            Some(bytes) => Expr::new(ExprKind::Coalesce(vec![value, bytes]), ty.clone()),
            None => value,
        };
        Ok(match offset {
            Some(offset) if !matches!(offset.kind, ExprKind::Literal(ir::Value::Integer(_))) => {
                // An offset that is NULL leads nowhere, not to the default; rows in NULL buckets are in none.
                let nowhere = Expr::new(ExprKind::IsNull { arg: Box::new(offset), negated: false }, Type::Bool);
                let branches = vec![(nowhere, Expr::null(ty.clone()))];
                Expr::new(ExprKind::Case { branches, otherwise: Some(Box::new(value)) }, ty)
            }
            _ => value,
        })
    }

    /// The argument of PostgreSQL's `ntile`, which may be NULL where it is the same for all rows; the call gets another then.
    fn number_of_buckets(&self, name: &str, args: &mut [Expr]) -> Option<Expr> {
        let [buckets] = args else { return None };
        let is_number = matches!(buckets.kind, ExprKind::Literal(ir::Value::Integer(_)));
        if name != "ntile" || self.is_mysql() || self.shown.is_some() || is_number || ir::walk::names_column(buckets) {
            return None;
        }
        let (given, ty) = (buckets.clone(), buckets.ty.clone());
        *buckets = Expr::new(ExprKind::Coalesce(vec![given.clone(), Expr::integer(1, ty.clone())]), ty);
        Some(given)
    }

    #[allow(clippy::type_complexity)]
    pub(in super::super) fn grouped_parts(
        &mut self,
        call: &pg::FuncCall,
    ) -> Result<(Vec<(Expr, i32)>, Vec<ir::SortKey>, Option<Expr>)> {
        let args = self.placed_all(&call.args)?;
        let mut order_by = Vec::with_capacity(call.agg_order.len());
        for node in &call.agg_order {
            order_by.push(self.plain_sort_key(node)?);
        }
        let filter = match call.agg_filter.as_deref() {
            Some(node) => {
                let scope = self.scope();
                let clause = std::mem::replace(&mut scope.clause, Clause::Filter);
                let inside = scope.inside;
                scope.inside.aggregate = false;
                let filter = self.placed(node);
                let scope = self.scope();
                (scope.clause, scope.inside) = (clause, inside);
                let (filter, at) = filter?;
                Some(self.condition(filter, "FILTER", at)?)
            }
            None => None,
        };
        Ok((args, order_by, filter))
    }

    /// A sort key that is an expression of the input, never a position or an output's name.
    pub(in super::super) fn plain_sort_key(&mut self, node: &Node) -> Result<ir::SortKey> {
        let Some(N::SortBy(sort)) = &node.node else {
            return Err(crate::Error::internal("a sort key that is none"));
        };
        let (expr, at) = self.required(&sort.node)?;
        let expr = self.settle(expr, at)?;
        self.sort_key(sort, expr, at)
    }
}
