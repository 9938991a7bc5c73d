//! Calls of functions that users have made: which one is meant, and what becomes of the call.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use crate::composite::{Field, Shape, live};
use crate::functions::{self, FunctionKind, Volatility};
use crate::ir::{self, CallProcedure, CastContext, Expr, ExprKind, OutputColumn, Statement};
use crate::plan::ResultColumn;
use crate::postgres::binder::{Binder, computed};
use crate::postgres::coerce::{base, implicit};
use crate::postgres::expr::location;
use crate::postgres::polymorphic::{Standing, Unsettled};
use crate::postgres::resolve::{self, Candidate, Miss, Signature};
use crate::postgres::{names, types};
use crate::schema::QualifiedName;
use crate::stored_function::{ANY, Param, ParamMode, StoredFunction, TypeRef};
use crate::uses::NamedObject;
use crate::{Condition, Error, Language, Result, Type};

/// Arguments as a call gives them: name, value, place.
pub(in crate::postgres) type Given = Vec<(Option<String>, Expr, i32)>;

/// A function of users with the types that its arguments take in one call.
#[derive(Clone, Debug)]
pub(in crate::postgres) struct UserCandidate {
    pub(super) function: Arc<StoredFunction>,
    /// One for each argument given.
    args: Vec<Type>,
    /// The argument is of a polymorphic type.
    polymorphic: Vec<bool>,
    /// For each input parameter the argument that it takes; `None` takes its default.
    places: Vec<Option<usize>>,
    /// So many arguments at the end make the array of VARIADIC.
    gathered: Option<usize>,
    /// What polymorphic types stand for, where there are any.
    standing: Option<Result<Standing, Unsettled>>,
    /// Another takes the same arguments, and both fill up with defaults.
    twin: bool,
}

/// What a call may mean.
#[derive(Clone, Debug)]
pub(super) enum Choice {
    Builtin(Candidate),
    User(UserCandidate),
}

impl Signature for Choice {
    fn args(&self) -> &[Type] {
        match self {
            Self::Builtin(candidate) => candidate.args(),
            Self::User(candidate) => &candidate.args,
        }
    }

    fn declared(&self, index: usize) -> Option<&Type> {
        match self {
            Self::Builtin(candidate) => candidate.declared(index),
            Self::User(candidate) if candidate.polymorphic[index] => None,
            Self::User(candidate) => candidate.args.get(index),
        }
    }
}

/// What a call of a function of users is.
pub(in crate::postgres) enum Called {
    /// A built-in function of the name was nearer.
    Builtin(Candidate, Vec<(Expr, i32)>),
    /// It.
    User(Call),
}

/// A call, settled: the function and the values of its input parameters.
pub(in crate::postgres) struct Call {
    pub(in crate::postgres) function: Arc<StoredFunction>,
    pub(super) args: Vec<Expr>,
    pub(super) standing: Option<Standing>,
    /// The types of the parameters that come out.
    outputs: Vec<Type>,
    /// The type of its value.
    result: Type,
}

impl Call {
    /// The types of the parameters that come out, in order.
    pub(super) fn outputs(&self) -> &[Type] {
        &self.outputs
    }

    /// The type of its value.
    pub(in crate::postgres) fn result(&self) -> Type {
        self.result.clone()
    }

    /// The columns of its rows.
    pub(in crate::postgres) fn columns(&self) -> Option<Vec<OutputColumn>> {
        let outputs: Vec<&Param> = self.function.definition.outputs().collect();
        if outputs.len() > 1 {
            let column = |((at, param), ty): ((usize, &&Param), &Type)| OutputColumn {
                name: if param.name.is_empty() { format!("column{}", at + 1) } else { param.name.clone() },
                ty: ty.clone(),
            };
            return Some(outputs.iter().enumerate().zip(&self.outputs).map(column).collect());
        }
        if self.result.is_row() {
            let column = |(_, field): (usize, &Field)| OutputColumn { name: field.name.clone(), ty: field.ty.clone() };
            return self.result.row_fields().map(|fields| live(fields).map(column).collect());
        }
        let name = match outputs.as_slice() {
            [param] if !param.name.is_empty() => param.name.clone(),
            _ => self.function.name.clone(),
        };
        Some(vec![OutputColumn { name, ty: self.result() }])
    }

    /// What the engine is told: which function, what its polymorphic types stand for, and the values.
    pub(in crate::postgres) fn arguments(self) -> Vec<Expr> {
        let types = match &self.standing {
            Some(standing) => Expr::text(standing.words()),
            None => Expr::null(Type::Text),
        };
        let mut args = vec![Expr::integer(self.function.oid.into(), Type::Oid), types];
        args.extend(self.args);
        args
    }
}

/// True of a parameter of the type `void`: JDBC's drivers send one for what a function gives back, and PostgreSQL looks
/// for the function without it.
pub(in crate::postgres) fn is_no_argument(value: &Expr) -> bool {
    value.ty == Type::Void && matches!(value.kind, ExprKind::Param(_))
}

fn array_of(element: Type) -> Type {
    match element {
        Type::Array(_) => element,
        element => Type::Array(Box::new(element)),
    }
}

impl Binder<'_> {
    /// The functions of users that a name may mean, aggregates apart.
    ///
    /// # Errors
    /// `42501` for a schema that may not be used.
    pub(in crate::postgres) fn user_functions(&self, name: &[Node], at: i32) -> Result<Vec<Arc<StoredFunction>>> {
        let mut found = self.user_routines(name, at)?;
        found.retain(|function| function.definition.aggregate.is_none());
        Ok(found)
    }

    /// The functions, procedures and aggregates of users that a name may mean.
    ///
    /// # Errors
    /// `42501` for a schema that may not be used.
    pub(in crate::postgres) fn user_routines(&self, name: &[Node], at: i32) -> Result<Vec<Arc<StoredFunction>>> {
        let name = match names::strings(name).as_slice() {
            [name] => QualifiedName::bare(*name),
            [schema, name] => QualifiedName::new(*schema, *name),
            [database, schema, name] if *database == self.context.database => QualifiedName::new(*schema, *name),
            _ => return Ok(Vec::new()),
        };
        self.check_schema(&name, at)?;
        let mut found = self.schema.functions(&name);
        if let Some(making) = self.variables.as_ref().and_then(|levels| levels.making.as_ref())
            && making.name == name.name
            && name
                .schema
                .as_ref()
                .map_or_else(|| self.schema.is_in_path(&making.namespace), |schema| *schema == making.namespace)
        {
            found.retain(|known| known.namespace != making.namespace || known.signature() != making.signature());
            found.push(making.clone());
        }
        Ok(found)
    }

    /// A call whose name functions of users have.
    pub(in crate::postgres) fn user_call(
        &mut self,
        call: &pg::FuncCall,
        functions: &[Arc<StoredFunction>],
        procedure: bool,
    ) -> Result<Called> {
        let given = self.given(&call.args)?;
        self.user_call_of(call, functions, given, procedure)
    }

    /// `row.name` and `name(row)`: a call of one of these functions with a row; `None` where none takes it.
    pub(in crate::postgres) fn call_of_row(
        &mut self,
        functions: &[Arc<StoredFunction>],
        row: &Expr,
        at: i32,
    ) -> Result<Option<Expr>> {
        let inputs = [row.ty.clone()];
        let given: Given = vec![(None, row.clone(), at)];
        let takes = |function: &Arc<StoredFunction>| {
            candidate(self.schema, function, &given, &inputs, false)
                .is_some_and(|found| Choice::User(found).takes(&inputs, &|from, to| self.becomes(from, to)))
        };
        let Some(function) = functions.iter().find(|function| takes(function)) else { return Ok(None) };
        let found = candidate(self.schema, function, &given, &inputs, false)
            .ok_or_else(|| Error::internal("a lost function"))?;
        let settled = self.settle_call(found, given)?;
        self.call_value(settled, at).map(Some)
    }

    /// A call of just this function.
    pub(in crate::postgres) fn call_of_function(
        &mut self,
        function: &Arc<StoredFunction>,
        args: Vec<(Expr, i32)>,
        place: i32,
    ) -> Result<Expr> {
        let inputs: Vec<Type> = args.iter().map(|(arg, _)| base(&arg.ty)).collect();
        let given: Given = args.into_iter().map(|(value, at)| (None, value, at)).collect();
        let Some(found) = candidate(self.schema, function, &given, &inputs, false) else {
            return Err(self.no_user_function(&function.name, &given, &inputs, place, Miss::None, false));
        };
        let settled = self.settle_call(found, given)?;
        self.call_value(settled, place)
    }

    /// The same, its arguments bound.
    fn user_call_of(
        &mut self,
        call: &pg::FuncCall,
        functions: &[Arc<StoredFunction>],
        given: Given,
        procedure: bool,
    ) -> Result<Called> {
        let parts = names::strings(&call.funcname);
        let shown = parts.join(".");
        let inputs: Vec<Type> = given.iter().map(|(_, arg, _)| base(&arg.ty)).collect();
        let named = given.iter().any(|(name, ..)| name.is_some());
        let mut choices: Vec<Choice> = Vec::new();
        if !named && !call.func_variadic && matches!(parts.as_slice(), [_] | ["pg_catalog", _]) {
            let name = parts.last().copied().unwrap_or_default();
            let wanted = |kind| matches!(kind, FunctionKind::Scalar | FunctionKind::SetReturning);
            choices.extend(resolve::candidates(name, &inputs, wanted).into_iter().map(Choice::Builtin));
            choices.extend(self.extension_candidates(None, name, &inputs, wanted).into_iter().map(Choice::Builtin));
            choices.extend(self.range_constructors(None, name, &inputs).into_iter().map(Choice::Builtin));
        }
        for function in functions {
            if let Some(candidate) = candidate(self.schema, function, &given, &inputs, call.func_variadic) {
                // Of two alike the first in the search path counts, and one without VARIADIC.
                let hidden = choices.iter().any(|known| match known {
                    Choice::User(known) => {
                        known.args == candidate.args
                            && known.polymorphic == candidate.polymorphic
                            && known.gathered.is_some() <= candidate.gathered.is_some()
                            && known.function.namespace != candidate.function.namespace
                    }
                    Choice::Builtin(_) => false,
                });
                if !hidden {
                    choices.push(Choice::User(candidate));
                }
            }
        }
        prefer_single(&mut choices);
        mark_twins(&mut choices);
        let chosen = resolve::choose(choices, &inputs, false, &|from, to| self.becomes(from, to));
        match chosen {
            Ok(Choice::Builtin(candidate)) => {
                Ok(Called::Builtin(candidate, given.into_iter().map(|(_, arg, at)| (arg, at)).collect()))
            }
            Ok(Choice::User(candidate)) if candidate.twin => {
                Err(self.no_user_function(&shown, &given, &inputs, call.location, Miss::Ambiguous, procedure))
            }
            Ok(Choice::User(candidate)) => {
                let is_procedure = candidate.function.definition.procedure;
                if is_procedure != procedure {
                    let shown = format!("{shown}({})", resolve::signature(&inputs));
                    return Err(if is_procedure {
                        self.error(Condition::WrongObjectType, format!("{shown} is a procedure"), call.location)
                            .hint("To call a procedure, use CALL.")
                    } else {
                        self.error(Condition::WrongObjectType, format!("{shown} is not a procedure"), call.location)
                            .hint("To call a function, use SELECT.")
                    });
                }
                if let Ok(place) = usize::try_from(call.location) {
                    let (oid, namespace) = (candidate.function.oid, candidate.function.namespace.clone());
                    self.note(|uses| uses.names.push(NamedObject { place, oid, namespace }));
                }
                self.settle_call(candidate, given).map(Called::User)
            }
            Err(miss) => Err(self.no_user_function(&shown, &given, &inputs, call.location, miss, procedure)),
        }
    }

    pub(in crate::postgres) fn no_user_function(
        &self,
        name: &str,
        given: &Given,
        inputs: &[Type],
        place: i32,
        miss: Miss,
        procedure: bool,
    ) -> Error {
        let named = given.iter().any(|(name, ..)| name.is_some());
        if !named && !procedure {
            return self.no_function(name, inputs, place, miss);
        }
        let words: Vec<String> = given
            .iter()
            .zip(inputs)
            .map(|((name, ..), ty)| {
                let words = if *ty == Type::Unknown { "unknown".to_owned() } else { types::words(ty) };
                name.as_ref().map_or(words.clone(), |name| format!("{name} => {words}"))
            })
            .collect();
        let kind = if procedure { "procedure" } else { "function" };
        let shown = format!("{kind} {name}({})", words.join(", "));
        match miss {
            Miss::None => {
                self.error(Condition::UndefinedFunction, format!("{shown} does not exist"), place).hint(format!(
                    "No {kind} matches the given name and argument types. You might need to add explicit type casts."
                ))
            }
            Miss::Ambiguous => self
                .error(Condition::AmbiguousFunction, format!("{shown} is not unique"), place)
                .hint(format!("Could not choose a best candidate {kind}. You might need to add explicit type casts.")),
        }
    }

    pub(in crate::postgres) fn given(&mut self, nodes: &[Node]) -> Result<Given> {
        let mut given: Given = Vec::with_capacity(nodes.len());
        for node in nodes {
            match &node.node {
                Some(N::NamedArgExpr(named)) => {
                    if given.iter().any(|(known, ..)| known.as_deref() == Some(named.name.as_str())) {
                        let message = format!("argument name \"{}\" used more than once", named.name);
                        return Err(self.error(Condition::SyntaxError, message, location(node)));
                    }
                    let (value, at) = self.required(&named.arg)?;
                    given.push((Some(named.name.clone()), value, at));
                }
                _ => {
                    if given.iter().any(|(name, ..)| name.is_some()) {
                        let message = "positional argument cannot follow named argument";
                        return Err(self.error(Condition::SyntaxError, message, location(node)));
                    }
                    let (value, at) = self.placed(node)?;
                    given.push((None, value, at));
                }
            }
        }
        given.retain(|(_, value, _)| !is_no_argument(value));
        Ok(given)
    }

    /// The values of a candidate's parameters.
    pub(super) fn settle_call(&mut self, candidate: UserCandidate, given: Given) -> Result<Call> {
        let function = candidate.function;
        let definition = &function.definition;
        let oid = function.oid;
        let standing = match candidate.standing {
            None => None,
            Some(Ok(standing)) => Some(standing),
            Some(Err(why)) => {
                let message = why.message().unwrap_or_else(|| "could not determine polymorphic type".to_owned());
                return Err(Error::new(Condition::DatatypeMismatch, message));
            }
        };
        self.note(|uses| {
            uses.routines.insert(oid);
        });
        self.needs.call(&function);
        if definition.volatility != Volatility::Immutable {
            self.effects.volatile = true;
        }
        self.effects.reads = true;
        let inputs = called_params(definition);
        // MySQL gives its arguments to the parameters as it gives values to columns.
        let context = if self.is_mysql() { CastContext::Assignment } else { CastContext::Implicit };
        let mut args = Vec::with_capacity(inputs.len());
        let mut values: Vec<Option<(Expr, i32)>> = given.into_iter().map(|(_, value, at)| Some((value, at))).collect();
        for (param, place) in inputs.iter().zip(&candidate.places) {
            // What only comes out may be given as anything.
            if param.mode == ParamMode::Out {
                continue;
            }
            let Some(place) = *place else {
                let text = param.default.as_deref().unwrap_or("NULL");
                args.push(self.default_argument(text, &param.ty, standing.as_ref())?);
                continue;
            };
            if let Some(count) = candidate.gathered
                && param.mode == ParamMode::Variadic
            {
                let mut members = Vec::with_capacity(count);
                for (value, ty) in values.iter_mut().zip(&candidate.args).skip(place).take(count) {
                    let Some((value, location)) = value.take() else { continue };
                    members.push(self.coerce(value, ty, CastContext::Implicit, location)?);
                }
                let element = candidate.args.get(place).cloned().unwrap_or(Type::Text);
                args.push(Expr::new(ExprKind::Array(members), array_of(element)));
                continue;
            }
            let Some((value, location)) = values[place].take() else {
                return Err(Error::internal("an argument that was taken twice"));
            };
            args.push(self.coerce(value, &candidate.args[place], context, location)?);
        }
        self.effects.calls_writers |= function.may_write(self.schema);
        let outputs = definition.outputs().map(|param| self.settled_type(&param.ty, standing.as_ref()));
        let outputs = outputs.collect::<Result<Vec<Type>>>()?;
        let mut call = Call { function: function.clone(), args, standing, outputs, result: Type::RECORD };
        call.result = if definition.outputs().count() > 1 {
            let columns = call.columns().unwrap_or_default();
            let fields = columns.into_iter().map(|column| Field::new(column.name, column.ty));
            Type::Record(Shape::of(fields.collect()))
        } else {
            self.settled_type(&definition.returns, call.standing.as_ref())?
        };
        Ok(call)
    }

    /// A type of a function as it is in a call where polymorphic types stand for something.
    pub(super) fn settled_type(&self, ty: &TypeRef, standing: Option<&Standing>) -> Result<Type> {
        Ok(match (ty, standing) {
            (TypeRef::Any(any), Some(standing)) => standing.settled(*any),
            (TypeRef::Any(_), None) => Type::Text,
            _ => ty.looked_up(self.schema)?.unwrap_or(Type::RECORD),
        })
    }

    /// The default of a parameter that a call leaves out.
    fn default_argument(&mut self, text: &str, ty: &TypeRef, standing: Option<&Standing>) -> Result<Expr> {
        let ty = match ty {
            TypeRef::Is(ty) => ty.clone(),
            TypeRef::Any(any) => standing.map_or(Type::Text, |standing| standing.settled(*any)),
            ty => ty.looked_up(self.schema)?.ok_or_else(|| Error::unsupported("the default of such a parameter"))?,
        };
        crate::postgres::bind_default_of(self, text, &ty)
    }

    /// A call as a value.
    pub(in crate::postgres) fn call_value(&mut self, call: Call, place: i32) -> Result<Expr> {
        if call.function.returns_trigger() {
            let message = "trigger functions can only be called as triggers";
            return Err(self.error(Condition::FeatureNotSupported, message, place));
        }
        // What is printed is a call like others.
        if call.function.definition.set && self.shown.is_none() {
            return self.call_rows_in_select(call, place);
        }
        let ty = call.result();
        self.collated |= crate::collation::Collation::is_within(&ty);
        Ok(Expr::new(ExprKind::Call { function: functions::internal("stored function"), args: call.arguments() }, ty))
    }

    /// A set of values in a select list.
    fn call_rows_in_select(&mut self, call: Call, place: i32) -> Result<Expr> {
        self.check_rows_place(place)?;
        let ty = call.result();
        let columns = match call.columns() {
            Some(columns) => columns,
            None => return Err(self.unsupported("a set of rows in a select list", place)),
        };
        if columns.len() > MOST_COLUMNS {
            return Err(self.unsupported("so wide a set of rows in a select list", place));
        }
        let value = |id: ir::RelId| match &ty {
            ty if ty.is_row() => row_of_columns(id, &columns, ty),
            ty => Expr::column(id, 0, ty.clone()),
        };
        let id = self.ids.relation();
        let function = functions::internal("stored function rows");
        let value = value(id);
        let from = ir::From::Function { id, function, args: call.arguments(), columns, ordinality: false };
        self.scope().set_returning.push(from);
        Ok(value)
    }

    /// A call as a member of FROM, with the columns of a definition list if there is one.
    pub(in crate::postgres) fn call_from(
        &mut self,
        call: Call,
        defined: Option<Vec<OutputColumn>>,
        ordinality: bool,
        place: i32,
    ) -> Result<(ir::From, Vec<OutputColumn>)> {
        if call.function.returns_trigger() {
            let message = "trigger functions can only be called as triggers";
            return Err(self.error(Condition::FeatureNotSupported, message, place));
        }
        let known = call.columns();
        let mut columns = match (known, defined) {
            (None, Some(defined)) => defined,
            (None, None) => {
                let message = "a column definition list is required for functions returning \"record\"";
                return Err(self.error(Condition::SyntaxError, message, place));
            }
            (Some(_), Some(_)) => {
                let definition = &call.function.definition;
                let message = if definition.outputs().count() > 1 {
                    "a column definition list is redundant for a function with OUT parameters"
                } else if definition.returns_row() {
                    "a column definition list is redundant for a function returning a named composite type"
                } else {
                    "a column definition list is only allowed for functions returning \"record\""
                };
                return Err(self.error(Condition::SyntaxError, message, place));
            }
            (Some(known), None) => known,
        };
        if columns.len() > MOST_COLUMNS {
            return Err(self.unsupported(format!("a function of more than {MOST_COLUMNS} columns"), place));
        }
        if ordinality {
            columns.push(OutputColumn { name: "ordinality".to_owned(), ty: Type::Int8 });
        }
        let id = self.ids.relation();
        let function = functions::internal("stored function rows");
        if let Ok(Some(ty)) = call.function.definition.returns.looked_up(self.schema)
            && let (Some(oid), Some(fields)) = (ty.user_type_oid(), ty.row_fields())
        {
            let names = crate::composite::live(fields).map(|(_, field)| field.name.clone()).collect();
            self.note(|uses| uses.row_functions.push((id, oid, names)));
        }
        let from = ir::From::Function { id, function, args: call.arguments(), columns: columns.clone(), ordinality };
        Ok((from, columns))
    }

    /// `(f(…)).field` of a function of rows; `None` for other calls.
    pub(in crate::postgres) fn field_of_call(&mut self, call: &pg::FuncCall, field: &str) -> Result<Option<Expr>> {
        let functions = self.user_functions(&call.funcname, call.location)?;
        let gives_row = |function: &Arc<StoredFunction>| function.definition.returns_row() && !function.definition.set;
        // What is printed is a field like others.
        if self.shown.is_some() || !functions.iter().any(gives_row) {
            return Ok(None);
        }
        let Called::User(settled) = self.user_call(call, &functions, false)? else { return Ok(None) };
        let name = settled.function.name.clone();
        if let Ok(Some(ty)) = settled.function.definition.returns.looked_up(self.schema) {
            self.note_field(&ty, field, call.location);
        }
        let (from, columns) = self.call_from(settled, None, false, call.location)?;
        let ir::From::Function { id, .. } = &from else { return Err(Error::internal("a call that is none")) };
        let Some(at) = columns.iter().position(|column| column.name == field) else {
            let message = format!("column \"{field}\" not found in data type {name}");
            return Err(self.error(Condition::UndefinedColumn, message, call.location));
        };
        let value = Expr::column(*id, at, columns[at].ty.clone());
        let result = vec![computed(field, value.ty.clone())];
        let ty = value.ty.clone();
        let query = self.plain_select(vec![value], Some(from), &result);
        Ok(Some(Expr::new(ExprKind::Scalar(Box::new(query)), ty)))
    }

    /// CALL.
    pub(in crate::postgres) fn call_statement(
        &mut self,
        call: &pg::CallStmt,
    ) -> Result<(Statement, Vec<ResultColumn>)> {
        let Some(call) = &call.funccall else { return Err(Error::internal("CALL of nothing")) };
        if self.is_mysql() {
            return self.mysql_call_statement(call);
        }
        let functions = self.user_functions(&call.funcname, call.location)?;
        let shown = names::strings(&call.funcname).join(".");
        if functions.is_empty() {
            let given = self.given(&call.args)?;
            let inputs: Vec<Type> = given.iter().map(|(_, arg, _)| base(&arg.ty)).collect();
            let builtin = functions::named(Language::Postgres, &shown).next().is_some();
            if builtin
                && resolve::choose(resolve::candidates(&shown, &inputs, |_| true), &inputs, false, &implicit).is_ok()
            {
                let shown = format!("{shown}({})", resolve::signature(&inputs));
                return Err(self
                    .error(Condition::WrongObjectType, format!("{shown} is not a procedure"), call.location)
                    .hint("To call a function, use SELECT."));
            }
            return Err(self.no_user_function(&shown, &given, &inputs, call.location, Miss::None, true));
        }
        let Called::User(settled) = self.user_call(call, &functions, true)? else {
            return Err(Error::internal("CALL of a built-in function"));
        };
        let definition = &settled.function.definition;
        let columns: Vec<ResultColumn> = definition
            .outputs()
            .zip(settled.outputs())
            .enumerate()
            .map(|(at, (param, ty))| {
                let name = if param.name.is_empty() { format!("column{}", at + 1) } else { param.name.clone() };
                computed(name, ty.clone())
            })
            .collect();
        self.effects.volatile = true;
        let (function, standing, values) = (settled.function, settled.standing, settled.args);
        let outputs = values.iter().map(|value| OutputColumn { name: String::new(), ty: value.ty.clone() }).collect();
        let args = if values.is_empty() { None } else { Some(Box::new(self.query_of(values, outputs))) };
        Ok((Statement::CallProcedure(CallProcedure { function, standing, args, targets: Vec::new() }), columns))
    }

    /// CALL of MySQL's.
    fn mysql_call_statement(&mut self, call: &pg::FuncCall) -> Result<(Statement, Vec<ResultColumn>)> {
        let function = self.mysql_procedure(call)?;
        let targets = self.call_targets(call, &function)?;
        let settled = self.mysql_call_of_users(call, &function)?;
        self.effects.volatile = true;
        let (function, standing, values) = (settled.function, settled.standing, settled.args);
        let outputs = values.iter().map(|value| OutputColumn { name: String::new(), ty: value.ty.clone() }).collect();
        let args = if values.is_empty() { None } else { Some(Box::new(self.query_of(values, outputs))) };
        Ok((Statement::CallProcedure(CallProcedure { function, standing, args, targets }), Vec::new()))
    }

    /// A call of just this routine by MySQL's rules.
    pub(in crate::postgres) fn mysql_call_of_users(
        &mut self,
        call: &pg::FuncCall,
        function: &Arc<StoredFunction>,
    ) -> Result<Call> {
        let given = self.given(&call.args)?;
        let inputs: Vec<Type> = given.iter().map(|(_, arg, _)| base(&arg.ty)).collect();
        let Some(found) = candidate(self.schema, function, &given, &inputs, false) else {
            return Err(self.no_user_function(&function.name, &given, &inputs, call.location, Miss::None, false));
        };
        self.settle_call(found, given)
    }

    /// A query of one row.
    fn query_of(&mut self, values: Vec<Expr>, columns: Vec<OutputColumn>) -> ir::Query {
        let columns: Vec<ResultColumn> = columns.into_iter().map(|column| computed(column.name, column.ty)).collect();
        self.plain_select(values, None, &columns)
    }
}

/// The row that a function's columns make.
fn row_of_columns(id: ir::RelId, columns: &[OutputColumn], ty: &Type) -> Expr {
    let mut given = columns.iter().enumerate().map(|(at, column)| Expr::column(id, at, column.ty.clone()));
    let member = |field: &Field| match field.dropped {
        true => Expr::null(Type::Text),
        false => given.next().unwrap_or_else(|| Expr::null(Type::Text)),
    };
    let members = ty.row_fields().unwrap_or_default().iter().map(member).collect();
    Expr::new(ExprKind::Row(members), ty.clone())
}

/// The widest row that a function may return.
const MOST_COLUMNS: usize = 64;

/// Of two that take the same arguments the one without VARIADIC counts.
fn prefer_single(choices: &mut Vec<Choice>) {
    let single: Vec<Vec<Type>> = choices
        .iter()
        .filter_map(|choice| match choice {
            Choice::User(user) if user.gathered.is_none() => Some(user.args.clone()),
            _ => None,
        })
        .collect();
    choices.retain(|choice| match choice {
        Choice::User(user) => user.gathered.is_none() || !single.contains(&user.args),
        Choice::Builtin(_) => true,
    });
}

/// Marks those between which nothing decides: alike in what they take, and one of them fills up with defaults.
fn mark_twins(choices: &mut [Choice]) {
    let of_user = |choice: &Choice| match choice {
        Choice::User(user) => {
            Some((user.places.iter().any(Option::is_none), user.gathered.is_some(), user.args.clone()))
        }
        Choice::Builtin(_) => None,
    };
    let all: Vec<_> = choices.iter().map(of_user).collect();
    for (at, choice) in choices.iter_mut().enumerate() {
        let (Choice::User(user), Some((needs, gathers, args))) = (choice, &all[at]) else { continue };
        let others = all.iter().enumerate().filter(|(other, _)| *other != at).filter_map(|(_, other)| other.as_ref());
        user.twin = others
            .into_iter()
            .any(|(other, gathered, taken)| (*needs || *other) && gathers == gathered && taken == args);
    }
}

/// The parameters that a call gives: of a procedure those that only come out, too.
fn called_params(definition: &crate::stored_function::Definition) -> Vec<&Param> {
    let given = |param: &&Param| param.mode.is_input() || definition.procedure && param.mode == ParamMode::Out;
    definition.params.iter().filter(given).collect()
}

/// A function for a call; `None` when the number or the names of its arguments, or its polymorphic types, do not fit.
pub(super) fn candidate(
    schema: &dyn crate::Schema,
    function: &Arc<StoredFunction>,
    given: &Given,
    inputs: &[Type],
    variadic_call: bool,
) -> Option<UserCandidate> {
    let definition = &function.definition;
    // A procedure is called with all its parameters, those that only come out with any value.
    let params: Vec<&Param> = called_params(definition);
    let variadic = params.last().is_some_and(|param| param.mode == ParamMode::Variadic);
    let gathers = variadic && !variadic_call;
    let mut places: Vec<Option<usize>> = vec![None; params.len()];
    let mut gathered = None;
    let mut param_of: Vec<usize> = Vec::with_capacity(given.len());
    for (at, (name, ..)) in given.iter().enumerate() {
        let place = match name {
            Some(name) => params.iter().position(|param| param.name == *name)?,
            None if gathers && at + 1 >= params.len() => params.len() - 1,
            None => at,
        };
        if place >= params.len() {
            return None;
        }
        if gathers && place + 1 == params.len() && name.is_none() {
            *gathered.get_or_insert(0) += 1;
            places[place].get_or_insert(at);
        } else if places[place].replace(at).is_some() {
            return None;
        }
        param_of.push(place);
    }
    if variadic_call && !variadic {
        return None;
    }
    for (place, param) in places.iter().zip(&params) {
        if place.is_none() && (param.default.is_none() || param.mode == ParamMode::Out) {
            return None;
        }
    }
    let gathers_here = |param: &Param| gathered.is_some() && param.mode == ParamMode::Variadic;
    let of_argument = |param: &Param| match param.ty {
        TypeRef::Any(any) if gathers_here(param) => Some(any.of_member()),
        TypeRef::Any(any) => Some(any),
        _ => None,
    };
    let standing = if definition.is_polymorphic() {
        let arguments = inputs.iter().zip(&param_of);
        let arguments: Vec<_> =
            arguments.filter_map(|(input, place)| Some((of_argument(params[*place])?, input))).collect();
        match Standing::of(&arguments) {
            Err(Unsettled::Unfit) => return None,
            standing => Some(standing),
        }
    } else {
        None
    };
    let mut args = Vec::with_capacity(inputs.len());
    let mut polymorphic = Vec::with_capacity(inputs.len());
    for place in &param_of {
        let param = params[*place];
        let gathers_here = gathers_here(param);
        polymorphic.push(matches!(param.ty, TypeRef::Any(_)));
        args.push(match &param.ty {
            TypeRef::Is(Type::Array(member)) if gathers_here => (**member).clone(),
            TypeRef::Is(ty) => ty.clone(),
            // What nothing tells is said when this is the function that is meant.
            TypeRef::Any(_) => match (&standing, of_argument(param)) {
                (Some(Ok(standing)), Some(any)) => standing.settled(any),
                _ => Type::Unknown,
            },
            ty @ (TypeRef::Row(_) | TypeRef::Rows(_)) => match ty.looked_up(schema).ok()?? {
                Type::Array(member) if gathers_here => *member,
                ty => ty,
            },
            TypeRef::Pseudo(ANY) => match &inputs[args.len()] {
                Type::Unknown => Type::Text,
                given => given.clone(),
            },
            _ => return None,
        });
    }
    Some(UserCandidate { function: function.clone(), args, polymorphic, places, gathered, standing, twin: false })
}

/// The arguments of a CALL as they are written: names, and the values' texts where those are names alone.
///
/// # Errors
/// `42601`.
pub fn arguments_of(text: &str) -> Result<Vec<(Option<String>, Vec<String>)>> {
    let parsed = crate::postgres::parse(text)?;
    let Some(statement) = parsed.first() else { return Ok(Vec::new()) };
    let tree = statement.tree()?;
    let N::CallStmt(call) = &**tree else { return Ok(Vec::new()) };
    let Some(call) = &call.funccall else { return Ok(Vec::new()) };
    let name_of = |node: Option<&Node>| match node.and_then(|node| node.node.as_ref()) {
        Some(N::ColumnRef(column)) => names::strings(&column.fields).into_iter().map(str::to_owned).collect(),
        Some(N::ParamRef(param)) => vec![format!("${}", param.number)],
        _ => Vec::new(),
    };
    Ok(call
        .args
        .iter()
        .map(|node| match &node.node {
            Some(N::NamedArgExpr(named)) => (Some(named.name.clone()), name_of(named.arg.as_deref())),
            _ => (None, name_of(Some(node))),
        })
        .collect())
}
