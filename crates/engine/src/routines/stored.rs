//! Functions and procedures that users have made in PostgreSQL's way: how they are entered, and what they return.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use rowferry_dialect::collation::Collation;
use rowferry_dialect::composite::{Field, live, row_type};
use rowferry_dialect::functions::Volatility;
use rowferry_dialect::ir::{CallProcedure, CastContext, CteBody, Query, Statement, Value};
use rowferry_dialect::postgres::polymorphic::Standing;
use rowferry_dialect::postgres::{types, user_cast};
use rowferry_dialect::stored_aggregate::Callee;
use rowferry_dialect::stored_function::{RoutineLanguage, StoredFunction, TypeRef};
use rowferry_dialect::types::Storage;
use rowferry_dialect::user_cast::Method;
use rowferry_dialect::user_type::told_fields;
use rowferry_dialect::values::cast::cast;
use rowferry_dialect::values::{Settings, ValueRef, output, record};
use rowferry_dialect::{Condition, Error, Result, Schema as _, Type, work};

use super::{MAX_DEPTH, borrowed, plpgsql, sql_language, stack_address};
use crate::functions::RoutineRows;
use crate::session::state::State;
use crate::session::{Outcome, Prepared, Session, command_words};
use crate::spool::Spool;

/// Names and types of a row's fields.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    fields: Arc<[(String, Type)]>,
    /// The type with a name that the row is of.
    pub(super) named: Option<Type>,
}

impl Shape {
    /// The same fields of no type with a name.
    pub(super) fn nameless(&self) -> Self {
        Self { fields: self.fields.clone(), named: None }
    }
}

impl std::ops::Deref for Shape {
    type Target = [(String, Type)];

    fn deref(&self) -> &Self::Target {
        &self.fields
    }
}

impl FromIterator<(String, Type)> for Shape {
    fn from_iter<I: IntoIterator<Item = (String, Type)>>(fields: I) -> Self {
        Self { fields: fields.into_iter().collect(), named: None }
    }
}

impl<const N: usize> From<[(String, Type); N]> for Shape {
    fn from(fields: [(String, Type); N]) -> Self {
        fields.into_iter().collect()
    }
}

/// What a function returns.
#[derive(Clone, Debug)]
pub(super) enum Returns {
    /// Nothing.
    Void,
    /// Values of a type.
    Value(Type),
    /// Rows of a shape.
    Row(Shape),
    /// Rows of any shape.
    Record,
    /// The row of a trigger.
    Trigger,
}

impl Returns {
    /// How many columns its rows have; `None` where that shows later.
    pub(super) fn columns(&self) -> Option<usize> {
        match self {
            Self::Void | Self::Value(_) => Some(1),
            Self::Row(shape) => Some(shape.len()),
            Self::Record | Self::Trigger => None,
        }
    }
}

/// A function made ready for a session.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) function: Arc<StoredFunction>,
    /// The schema that its types were looked up in.
    generation: u64,
    /// Types of its input parameters.
    pub(super) inputs: Vec<Type>,
    pub(super) returns: Returns,
    /// The type of the rows that it returns, where they are rows.
    pub(super) row: Option<Type>,
    /// The collation of its arguments, where it is not the order of bytes.
    pub(super) collation: Option<Arc<Collation>>,
    /// In PL/pgSQL what its variables hold.
    pub(super) kinds: Vec<plpgsql::SlotKind>,
    /// In PL/pgSQL the collations that its variables are declared with.
    pub(super) collations: Vec<Option<Arc<Collation>>>,
    /// Plans, by the statement's number.
    pub(super) plans: Mutex<HashMap<usize, Arc<plpgsql::CachedPlan>>>,
    /// In SQL its statements, parsed and, as far as they have run, compiled.
    pub(super) statements: Mutex<Option<sql_language::Statements>>,
}

impl Compiled {
    /// Refuses a statement that may change something where the function says that it changes nothing.
    pub(super) fn check_allowed(&self, plan: &Prepared) -> Result<()> {
        let definition = &self.function.definition;
        if definition.volatility == Volatility::Volatile || definition.procedure {
            return Ok(());
        }
        let locks = |query: &Query| !query.locking.is_empty();
        let changes = |query: &Query| query.ctes.iter().any(|cte| matches!(cte.body, CteBody::Dml(_)));
        let locked;
        let command = match &plan.bound.statement {
            Statement::Query(query) if locks(query) => {
                locked = format!("SELECT {}", query.locking[0].mode.row_clause());
                &locked
            }
            Statement::Query(query) if changes(query) => "SELECT",
            Statement::Query(_) => return Ok(()),
            _ => command_words(plan.command),
        };
        let message = format!("{command} is not allowed in a non-volatile function");
        Err(Error::new(Condition::FeatureNotSupported, message))
    }
}

/// Functions that a session has made ready, by object id, by what their polymorphic types stand for, and, of triggers, by
/// the relation whose rows they see.
pub(super) type CompiledFunctions = Mutex<HashMap<(u32, Option<Standing>, u32), Arc<Compiled>>>;

/// What a call has returned.
#[derive(Debug)]
pub(super) struct Returned {
    pub(super) rows: Spool,
    /// Types of the rows' columns.
    pub(super) types: Vec<Type>,
    /// Their names, where the function itself does not tell them.
    pub(super) names: Vec<String>,
    /// It is NULL, and no row of NULLs.
    pub(super) null: bool,
    /// The type of the rows, where they are rows.
    pub(super) row: Option<Type>,
}

impl Returned {
    /// Rows of columns of these types.
    pub(super) fn of(rows: Spool, types: Vec<Type>) -> Self {
        Self { rows, types, names: Vec::new(), null: false, row: None }
    }
}

impl Session {
    /// Runs a function with its arguments, which are of its parameters' types.
    pub(super) fn run_stored(
        &mut self,
        function: &Arc<StoredFunction>,
        standing: Option<Standing>,
        args: Vec<Value>,
    ) -> Result<Returned> {
        self.run_routine_stored(function, standing, args, false)
    }

    /// The same; `ends` says that it may end the transaction, unless its own definition forbids it.
    fn run_routine_stored(
        &mut self,
        function: &Arc<StoredFunction>,
        standing: Option<Standing>,
        args: Vec<Value>,
        ends: bool,
    ) -> Result<Returned> {
        let _nested = self.enter_routine()?;
        self.check_recursion(function)?;
        let compiled = self.compile_stored(function, standing, 0)?;
        let definition = &function.definition;
        if definition.strict && args.contains(&Value::Null) {
            return nothing(&compiled.returns, definition.set);
        }
        let ends = ends && definition.settings.is_empty() && !definition.definer;
        let mut returned = self.count_call(function, |session| {
            session.as_function(function, |session| match definition.language {
                RoutineLanguage::Mysql | RoutineLanguage::Plpgsql => plpgsql::run(session, &compiled, args, ends),
                RoutineLanguage::Sql => sql_language::run(session, &compiled, args),
            })
        })?;
        returned.row.clone_from(&compiled.row);
        Ok(returned)
    }

    /// Does something under the settings of a function, and with its owner's rights where it says so.
    pub(super) fn as_function<T>(
        &mut self,
        function: &StoredFunction,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let settings = &function.definition.settings;
        if !function.definition.definer {
            return self.under_settings(settings, run);
        }
        let owner = self.schema().rights().owner(function.oid);
        let caller = self.act_as(owner);
        self.routine_state().definers.fetch_add(1, Ordering::Relaxed);
        let result = self.under_settings(settings, run);
        self.routine_state().definers.fetch_sub(1, Ordering::Relaxed);
        self.act_as(caller);
        result
    }

    /// Does something under the settings of a function.
    pub(super) fn under_settings<T>(
        &mut self,
        settings: &[(String, Vec<String>)],
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if settings.is_empty() {
            return run(self);
        }
        let restore = self.apply_settings(settings)?;
        let result = run(self);
        self.restore_settings(restore);
        result
    }

    /// Goes one level deeper, if the stack allows it.
    pub(crate) fn enter_routine(&mut self) -> Result<crate::interrupt::Nested> {
        // Its statements may all be too short to ask.
        work::step(CALL)?;
        let depth = self.interrupter().depth();
        if depth == 0 {
            self.routine_state().base.store(stack_address(), std::sync::atomic::Ordering::Relaxed);
        }
        if depth >= MAX_DEPTH || self.check_stack().is_err() {
            return Err(Error::new(Condition::StatementTooComplex, "stack depth limit exceeded").hint(
                "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the \
                 platform's stack depth limit is adequate.",
            ));
        }
        Ok(self.interrupter().enter())
    }

    /// A function with its types looked up.
    pub(super) fn compile_stored(
        &mut self,
        function: &Arc<StoredFunction>,
        standing: Option<Standing>,
        table: u32,
    ) -> Result<Arc<Compiled>> {
        let schema = self.schema();
        let generation = schema.generation();
        let key = (function.oid, standing.clone(), table);
        if function.oid != 0
            && let Some(known) = self.routine_state().functions.lock().get(&key)
            && known.generation == generation
            && *known.function == **function
        {
            return Ok(known.clone());
        }
        let definition = &function.definition;
        let settled = |ty: &TypeRef| -> Result<Type> {
            Ok(ty.looked_up(&schema)?.unwrap_or_else(|| settled(ty, standing.as_ref())))
        };
        let inputs: Vec<Type> = definition.inputs().map(|param| settled(&param.ty)).collect::<Result<_>>()?;
        let outputs: Vec<_> = definition.outputs().collect();
        let mut row = None;
        let returns = if outputs.len() > 1 || definition.procedure && !outputs.is_empty() {
            row = Some(Type::RECORD);
            let column = |(at, param): (usize, &&rowferry_dialect::stored_function::Param)| {
                let name = if param.name.is_empty() { format!("column{}", at + 1) } else { param.name.clone() };
                Ok((name, settled(&param.ty)?))
            };
            Returns::Row(outputs.iter().enumerate().map(column).collect::<Result<_>>()?)
        } else if definition.returns == TypeRef::Trigger {
            Returns::Trigger
        } else {
            match settled(&definition.returns)? {
                Type::Void => Returns::Void,
                Type::Record(_) => {
                    row = Some(Type::RECORD);
                    Returns::Record
                }
                ty if ty.is_row() => {
                    let shape = shape_of_type(&ty);
                    row = Some(ty);
                    Returns::Row(shape)
                }
                ty => Returns::Value(ty),
            }
        };
        let (kinds, collations) = match definition.language {
            RoutineLanguage::Mysql | RoutineLanguage::Plpgsql => {
                let parsed = function.plpgsql()?;
                let collations = rowferry_dialect::postgres::plpgsql::collations(parsed, &function.name, &schema)?;
                (plpgsql::slot_kinds(parsed, &schema, standing.as_ref())?, collations)
            }
            RoutineLanguage::Sql => Default::default(),
        };
        let collation = match standing.as_ref().and_then(Standing::collation) {
            None => None,
            Some(oid) => Some(schema.collation_by_oid(oid).ok_or_else(|| {
                Error::new(Condition::UndefinedObject, format!("collation with OID {oid} does not exist"))
            })?),
        };
        let compiled = Arc::new(Compiled {
            function: function.clone(),
            generation,
            inputs,
            returns,
            row,
            collation,
            kinds,
            collations,
            plans: Mutex::default(),
            statements: Mutex::default(),
        });
        if function.oid != 0 {
            let mut known = self.routine_state().functions.lock();
            if known.len() >= MOST_COMPILED {
                known.clear();
            }
            known.insert(key, compiled.clone());
        }
        Ok(compiled)
    }

    /// SET of a function: what the variables were before.
    pub(crate) fn apply_settings(
        &mut self,
        settings: &[(String, Vec<String>)],
    ) -> Result<Vec<(String, Option<String>)>> {
        let mut before = Vec::with_capacity(settings.len());
        for (name, values) in settings {
            before.push((name.clone(), self.variable(name)));
            if let Err(error) = self.set_local(name, values) {
                self.restore_settings(before);
                return Err(error);
            }
        }
        self.renew_settings();
        Ok(before)
    }

    pub(crate) fn restore_settings(&mut self, before: Vec<(String, Option<String>)>) {
        if before.is_empty() {
            return;
        }
        for (name, value) in before.into_iter().rev() {
            // What was its value is one that it may have.
            let _ = self.put_back_local(&name, value.as_deref());
        }
        self.renew_settings();
    }

    /// CALL.
    pub(crate) fn call_procedure(
        &mut self,
        prepared: &Arc<Prepared>,
        call: &CallProcedure,
        params: &[Value],
    ) -> Result<Outcome> {
        let ends = self.takes_transactions();
        if call.function.definition.language == RoutineLanguage::Mysql {
            return self.call_mysql_procedure(prepared, call, params);
        }
        self.as_one_transaction(|session| {
            let mut args = Vec::new();
            if prepared.program.is_some()
                && let Outcome::Rows(mut cursor) = session.run_query(prepared, params)?
                && let Some(row) = cursor.next()?
            {
                args = (0..row.len()).map(|at| row.get(at).to_value()).collect();
            }
            make_row_canonical(&mut args, call)?;
            session.transaction_is_used();
            let returned = session.run_routine_stored(&call.function, call.standing.clone(), args, ends)?;
            if prepared.bound.columns.is_empty() {
                return Ok(Outcome::Done { command: prepared.command, rows: 0 });
            }
            session.rows(prepared, returned.rows)
        })
    }

    /// CALL of a procedure in MySQL's language, whose statements are transactions of their own where the client has begun
    /// none.
    fn call_mysql_procedure(
        &mut self,
        prepared: &Arc<Prepared>,
        call: &CallProcedure,
        params: &[Value],
    ) -> Result<Outcome> {
        let mut args = Vec::new();
        if prepared.program.is_some()
            && let Outcome::Rows(mut cursor) = self.run_query(prepared, params)?
            && let Some(row) = cursor.next()?
        {
            args = (0..row.len()).map(|at| row.get(at).to_value()).collect();
        }
        make_row_canonical(&mut args, call)?;
        if self.interrupter().depth() == 0 {
            self.routine_state().called.store(0, Ordering::Relaxed);
        }
        let returned = self.run_routine_stored(&call.function, call.standing.clone(), args, true)?;
        if prepared.bound.columns.is_empty() {
            self.hand_out(call, returned)?;
            let rows = self.routine_state().called.load(Ordering::Relaxed);
            self.routine_state().set_rows_processed(rows);
            return Ok(Outcome::Done { command: prepared.command, rows });
        }
        self.rows(prepared, returned.rows)
    }

    /// DO.
    pub(crate) fn run_do(&mut self, prepared: &Arc<Prepared>, function: &Arc<StoredFunction>) -> Result<Outcome> {
        let ends = self.takes_transactions();
        self.as_one_transaction(|session| {
            session.transaction_is_used();
            session.run_routine_stored(function, None, Vec::new(), ends)?;
            Ok(Outcome::Done { command: prepared.command, rows: 0 })
        })
    }
}

/// Gives a value the canonical form of its type: a decimal that lies as a number in the file is text to those who compare it.
pub(super) fn make_canonical(value: &mut Value, ty: &Type) -> Result<()> {
    if matches!(value, Value::Integer(_) | Value::Real(_)) && ty.storage() == Storage::NativeDecimal {
        *value = Value::Text(output(value, ty, &Settings::default())?);
    }
    Ok(())
}

/// The same for the arguments of a CALL.
fn make_row_canonical(args: &mut [Value], call: &CallProcedure) -> Result<()> {
    let columns = call.args.iter().flat_map(|query| &query.columns);
    args.iter_mut().zip(columns).try_for_each(|(value, column)| make_canonical(value, &column.ty))
}

/// Units of work that a call is, before its statements do anything.
const CALL: usize = work::STRIDE / 16;

/// Functions that a session keeps ready.
const MOST_COMPILED: usize = 1_000;

/// A type of a definition in one call.
pub(super) fn settled(ty: &TypeRef, standing: Option<&Standing>) -> Type {
    match ty {
        TypeRef::Is(ty) => ty.clone(),
        TypeRef::Any(any) => standing.map_or(Type::Text, |standing| standing.settled(*any)),
        TypeRef::Row(_) | TypeRef::Rows(_) | TypeRef::Trigger | TypeRef::EventTrigger | TypeRef::Pseudo(_) => {
            Type::RECORD
        }
    }
}

/// The columns of a relation in PostgreSQL's types.
pub(super) fn shape_of(relation: &rowferry_dialect::schema::Relation) -> Shape {
    let fields = relation.columns.iter().map(|column| (column.name.clone(), types::import(&column.ty))).collect();
    Shape { fields, named: Some(Type::User(Arc::new(row_type(relation)))) }
}

/// The fields of a type of rows.
pub(super) fn shape_of_type(ty: &Type) -> Shape {
    let fields = live(ty.row_fields().unwrap_or_default());
    let fields = fields.map(|(_, field)| (field.name.clone(), field.ty.clone())).collect();
    Shape { fields, named: Some(ty.clone()).filter(|ty| !matches!(ty, Type::Record(_))) }
}

/// What a strict function returns for NULL.
fn nothing(returns: &Returns, set: bool) -> Result<Returned> {
    let columns = returns.columns().unwrap_or(1);
    let mut rows = Spool::new(columns);
    if !set {
        rows.push((0..columns).map(|_| borrowed(&Value::Null)))?;
    }
    Ok(Returned { null: true, ..Returned::of(rows, vec![Type::Unknown; columns]) })
}

/// Calls a function for one of a running statement.
pub(crate) fn call_inside(state: &Arc<State>, oid: u32, words: Option<&str>, args: Vec<Value>) -> Result<RoutineRows> {
    let mut session = Session::inside(state, false)?;
    let function = find(&mut session, oid)?;
    let standing = words.map(standing).transpose()?;
    let returned = session.run_stored(&function, standing, args)?;
    let mut reader = returned.rows.into_reader()?;
    let columns = reader.columns();
    Ok(Box::new(std::iter::from_fn(move || match reader.advance() {
        Ok(true) => Some(Ok((0..columns).map(|at| reader.column(at).to_value()).collect())),
        Ok(false) => None,
        Err(error) => Some(Err(error)),
    })))
}

/// The same for one value; a row is its text.
pub(crate) fn value_inside(state: &Arc<State>, oid: u32, words: Option<&str>, args: Vec<Value>) -> Result<Value> {
    let mut session = Session::inside(state, false)?;
    let function = find(&mut session, oid)?;
    let standing = words.map(standing).transpose()?;
    let returned = session.run_stored(&function, standing, args)?;
    session.one_value(&function, returned)
}

/// The same for a function behind an aggregate.
pub(crate) fn support_value(state: &Arc<State>, callee: &Callee, args: Vec<Value>) -> Result<Value> {
    let mut session = Session::inside(state, false)?;
    let function = match rowferry_facts::Function::by_oid(callee.function) {
        Some(fact) => Arc::new(StoredFunction::calling(fact, &callee.types)),
        None => find(&mut session, callee.function)?,
    };
    let returned = session.run_stored(&function, callee.standing.clone(), args)?;
    session.one_value(&function, returned)
}

fn find(session: &mut Session, oid: u32) -> Result<Arc<StoredFunction>> {
    session
        .schema()
        .function_by_oid(oid)
        .ok_or_else(|| Error::new(Condition::InternalError, format!("cache lookup failed for function {oid}")))
}

impl Session {
    /// The value of a call that stands where one value is wanted.
    pub(super) fn one_value(&mut self, function: &StoredFunction, returned: Returned) -> Result<Value> {
        let mut reader = returned.rows.into_reader()?;
        if !reader.advance()? {
            return Ok(Value::Null);
        }
        let Some(row) = returned.row else { return Ok(reader.column(0).to_value()) };
        if returned.null {
            return Ok(Value::Null);
        }
        let values: Vec<Value> = (0..reader.columns()).map(|at| reader.column(at).to_value()).collect();
        let outputs: Vec<_> = function.definition.outputs().collect();
        if row != Type::RECORD {
            return Ok(Value::Text(row_of_type(&values, &row)?));
        }
        let name = |at: usize| match (outputs.get(at), returned.names.get(at)) {
            (Some(param), _) if !param.name.is_empty() => param.name.clone(),
            (Some(_), _) => format!("column{}", at + 1),
            (None, Some(name)) => name.clone(),
            (None, None) => format!("f{}", at + 1),
        };
        let names: Vec<String> = (0..values.len()).map(name).collect();
        record_of(names.iter().map(String::as_str).zip(&returned.types), &values).map(Value::Text)
    }

    /// Fails for a row that a function returns, or for none, where domains in its type ask for something else.
    pub(super) fn check_returned_row(&self, function: &StoredFunction, row: Option<&[Value]>) -> Result<()> {
        match &function.definition.returns {
            TypeRef::Is(ty) if ty.is_row() && ty.is_constrained() => {
                let row = row.map(|values| row_of_type(values, ty).map(Value::Text)).transpose()?;
                self.check_domains(&row.unwrap_or(Value::Null), ty)
            }
            _ => Ok(()),
        }
    }

    /// Converts a value as an assignment does, by way of its text where there is no other.
    pub(super) fn converted(&self, value: &Value, from: &Type, to: &Type) -> Result<Value> {
        if from == to {
            return Ok(value.clone());
        }
        let schema = self.known_schema();
        let by_users = user_cast(schema, from, to).filter(|cast| cast.definition.context != CastContext::Explicit);
        let value = match (value, by_users.map(|cast| cast.definition.method)) {
            (value, Some(Method::Function(function))) => {
                let made = self.cast_by_function(schema, function, value, (from, to))?;
                cast(&made, &to.through_domains().base(), to, CastContext::Assignment, &self.settings())?
            }
            (Value::Null, _) => Value::Null,
            (value, _) => cast(value, from, to, CastContext::Assignment, &self.settings())?,
        };
        self.check_domains(&value, to)?;
        Ok(value)
    }

    /// A value as the function of a users' cast makes it.
    fn cast_by_function(
        &self,
        schema: &crate::schema::SessionSchema,
        function: u32,
        value: &Value,
        (from, to): (&Type, &Type),
    ) -> Result<Value> {
        let mut args = vec![value.clone(), Value::Integer(i64::from(types::typmod(to))), Value::Integer(0)];
        let mut kinds = vec![from.clone(), Type::Int4, Type::Bool];
        let (count, strict) = match rowferry_facts::Function::by_oid(function) {
            Some(fact) => (fact.arguments.len(), fact.strict),
            None => match schema.function_by_oid(function) {
                Some(found) => (found.definition.inputs().count(), found.definition.strict),
                None => return Err(Error::internal("the function behind a cast is gone")),
            },
        };
        if strict && *value == Value::Null {
            return Ok(Value::Null);
        }
        args.truncate(count);
        kinds.truncate(count);
        kinds.push(to.through_domains().base());
        support_value(self.shared_state(), &Callee { function, strict, standing: None, types: kinds }, args)
    }
}

/// The stored form of a row of a type with a name, whose live fields hold these values.
pub(super) fn row_of_type(values: &[Value], ty: &Type) -> Result<String> {
    let mut values = values.iter();
    let field = |field: &Field| {
        if field.dropped { ValueRef::Null } else { values.next().map_or(ValueRef::Null, Value::as_ref) }
    };
    record::stored(ty.row_fields().unwrap_or_default().iter().map(field).collect::<Vec<_>>())
}

/// The same of a row without a name.
pub(super) fn record_of<'n>(fields: impl Iterator<Item = (&'n str, &'n Type)>, values: &[Value]) -> Result<String> {
    record::stored_record(&told_fields(fields), values.iter().map(Value::as_ref))
}

/// What the polymorphic types of a call stand for, from the words that the call has been told.
pub(super) fn standing(words: &str) -> Result<Standing> {
    Standing::from_words(words).ok_or_else(|| Error::internal("the words of polymorphic types cannot be read"))
}
