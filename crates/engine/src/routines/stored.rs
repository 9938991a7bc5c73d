//! Functions and procedures that users have made in PostgreSQL's way: how they are entered, and what they return.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rowferry_dialect::ir::{CallProcedure, CastContext, Value};
use rowferry_dialect::postgres::types;
use rowferry_dialect::stored_function::{RoutineLanguage, StoredFunction, TypeRef};
use rowferry_dialect::values::cast::cast;
use rowferry_dialect::{Condition, Error, Result, Schema as _, Type};

use super::{MAX_DEPTH, borrowed, plpgsql, sql_language, stack_address};
use crate::functions::RoutineRows;
use crate::session::state::State;
use crate::session::{Outcome, Prepared, Session};
use crate::spool::Spool;

/// Names and types of a row's fields.
pub(super) type Shape = Arc<[(String, Type)]>;

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
    /// In PL/pgSQL what its variables hold.
    pub(super) kinds: Vec<plpgsql::SlotKind>,
    /// Plans, by the statement's number.
    pub(super) plans: Mutex<HashMap<usize, Arc<plpgsql::CachedPlan>>>,
}

/// Functions that a session has made ready, by object id, by what their polymorphic types stand for, and, of triggers, by
/// the relation whose rows they see.
pub(super) type CompiledFunctions = Mutex<HashMap<(u32, Option<Type>, u32), Arc<Compiled>>>;

/// What a call has returned.
#[derive(Debug)]
pub(super) struct Returned {
    pub(super) rows: Spool,
    /// Types of the rows' columns.
    pub(super) types: Vec<Type>,
}

impl Session {
    /// Runs a function with its arguments, which are of its parameters' types.
    pub(super) fn run_stored(
        &mut self,
        function: &Arc<StoredFunction>,
        element: Option<Type>,
        args: Vec<Value>,
    ) -> Result<Returned> {
        let _nested = self.enter_routine()?;
        let compiled = self.compile_stored(function, element, 0)?;
        let definition = &function.definition;
        if definition.strict && args.contains(&Value::Null) {
            return nothing(&compiled.returns, definition.set);
        }
        let restore = self.apply_settings(&definition.settings)?;
        let result = match definition.language {
            RoutineLanguage::Plpgsql => plpgsql::run(self, &compiled, args),
            RoutineLanguage::Sql => sql_language::run(self, &compiled, args),
        };
        self.restore_settings(restore);
        result
    }

    /// Goes one level deeper, if the stack allows it.
    pub(crate) fn enter_routine(&mut self) -> Result<crate::interrupt::Nested> {
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
        element: Option<Type>,
        table: u32,
    ) -> Result<Arc<Compiled>> {
        let schema = self.schema();
        let generation = schema.generation();
        let key = (function.oid, element.clone(), table);
        if function.oid != 0
            && let Some(known) = self.routine_state().functions.lock().get(&key)
            && known.generation == generation
            && *known.function == **function
        {
            return Ok(known.clone());
        }
        let definition = &function.definition;
        let settled = |ty: &TypeRef| settled(ty, element.as_ref());
        let inputs: Vec<Type> = definition.inputs().map(|param| settled(&param.ty)).collect();
        let outputs: Vec<_> = definition.outputs().collect();
        let returns = if outputs.len() > 1 || definition.procedure && !outputs.is_empty() {
            let column = |(at, param): (usize, &&rowferry_dialect::stored_function::Param)| {
                let name = if param.name.is_empty() { format!("column{}", at + 1) } else { param.name.clone() };
                (name, settled(&param.ty))
            };
            Returns::Row(outputs.iter().enumerate().map(column).collect())
        } else if definition.returns == TypeRef::Trigger {
            Returns::Trigger
        } else if let Some(relation) = definition.returns.relation(&schema)? {
            Returns::Row(shape_of(&relation))
        } else {
            match settled(&definition.returns) {
                Type::Void => Returns::Void,
                Type::Record => Returns::Record,
                ty => Returns::Value(ty),
            }
        };
        let kinds = match definition.language {
            RoutineLanguage::Plpgsql => {
                let parsed = function.plpgsql()?;
                plpgsql::slot_kinds(parsed, &schema, element.as_ref())?
            }
            RoutineLanguage::Sql => Vec::new(),
        };
        let compiled = Arc::new(Compiled {
            function: function.clone(),
            generation,
            inputs,
            returns,
            kinds,
            plans: Mutex::default(),
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
            self.set_local(name, values)?;
        }
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
    }

    /// CALL.
    pub(crate) fn call_procedure(
        &mut self,
        prepared: &Arc<Prepared>,
        call: &CallProcedure,
        params: &[Value],
    ) -> Result<Outcome> {
        self.as_one_transaction(|session| {
            let mut args = Vec::new();
            if prepared.program.is_some()
                && let Outcome::Rows(mut cursor) = session.run_query(prepared, params)?
                && let Some(row) = cursor.next()?
            {
                args = (0..row.len()).map(|at| row.get(at).to_value()).collect();
            }
            let returned = session.run_stored(&call.function, call.element.clone(), args)?;
            if prepared.bound.columns.is_empty() {
                return Ok(Outcome::Done { command: prepared.command, rows: 0 });
            }
            session.rows(prepared, returned.rows)
        })
    }

    /// DO.
    pub(crate) fn run_do(&mut self, prepared: &Arc<Prepared>, function: &Arc<StoredFunction>) -> Result<Outcome> {
        self.as_one_transaction(|session| {
            session.run_stored(function, None, Vec::new())?;
            Ok(Outcome::Done { command: prepared.command, rows: 0 })
        })
    }
}

/// Functions that a session keeps ready.
const MOST_COMPILED: usize = 1_000;

/// A type of a definition in one call.
pub(super) fn settled(ty: &TypeRef, element: Option<&Type>) -> Type {
    match ty {
        TypeRef::Is(ty) => ty.clone(),
        TypeRef::Any(any) => {
            let element = element.cloned().unwrap_or(Type::Text);
            match (any.is_array(), &element) {
                (true, Type::Array(_)) | (false, _) => element,
                (true, _) => Type::Array(Box::new(element)),
            }
        }
        TypeRef::Row(_) | TypeRef::Trigger | TypeRef::EventTrigger => Type::Record,
    }
}

/// The columns of a relation in PostgreSQL's types.
pub(super) fn shape_of(relation: &rowferry_dialect::schema::Relation) -> Shape {
    relation.columns.iter().map(|column| (column.name.clone(), types::import(&column.ty))).collect()
}

/// What a strict function returns for NULL.
fn nothing(returns: &Returns, set: bool) -> Result<Returned> {
    let columns = returns.columns().unwrap_or(1);
    let mut rows = Spool::new(columns);
    if !set {
        rows.push((0..columns).map(|_| borrowed(&Value::Null)))?;
    }
    Ok(Returned { rows, types: vec![Type::Unknown; columns] })
}

/// Calls a function for one of a running statement.
pub(crate) fn call_inside(
    state: &Arc<State>,
    oid: u32,
    element: Option<&str>,
    args: Vec<Value>,
) -> Result<RoutineRows> {
    let mut session = Session::inside(state, false)?;
    let function = find(&mut session, oid)?;
    let element = element.map(element_type).transpose()?;
    let returned = session.run_stored(&function, element, args)?;
    let mut reader = returned.rows.into_reader()?;
    let columns = reader.columns();
    Ok(Box::new(std::iter::from_fn(move || match reader.advance() {
        Ok(true) => Some(Ok((0..columns).map(|at| reader.column(at).to_value()).collect())),
        Ok(false) => None,
        Err(error) => Some(Err(error)),
    })))
}

/// The same for one value; a row is its text.
pub(crate) fn value_inside(state: &Arc<State>, oid: u32, element: Option<&str>, args: Vec<Value>) -> Result<Value> {
    let mut session = Session::inside(state, false)?;
    let function = find(&mut session, oid)?;
    let element = element.map(element_type).transpose()?;
    let returned = session.run_stored(&function, element, args)?;
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
        if !function.definition.returns_row() {
            return Ok(reader.column(0).to_value());
        }
        let values: Vec<Value> = (0..reader.columns()).map(|at| reader.column(at).to_value()).collect();
        if values.iter().all(|value| *value == Value::Null) && function.definition.strict {
            return Ok(Value::Null);
        }
        self.record_text(&values, &returned.types).map(Value::Text)
    }

    /// A row as PostgreSQL prints it: `(a,"b c",)`.
    pub(super) fn record_text(&self, values: &[Value], types: &[Type]) -> Result<String> {
        let settings = self.settings();
        let mut out = String::from("(");
        for (at, (value, ty)) in values.iter().zip(types).enumerate() {
            if at > 0 {
                out.push(',');
            }
            if *value == Value::Null {
                continue;
            }
            let text = rowferry_dialect::values::output(value, ty, &settings)?;
            let plain = !text.is_empty()
                && !text.contains(|c: char| matches!(c, '"' | '\\' | '(' | ')' | ',') || c.is_whitespace());
            if plain {
                out.push_str(&text);
            } else {
                out.push('"');
                out.push_str(&text.replace('\\', "\\\\").replace('"', "\"\""));
                out.push('"');
            }
        }
        out.push(')');
        Ok(out)
    }

    /// Converts a value as an assignment does, by way of its text where there is no other.
    pub(super) fn converted(&self, value: &Value, from: &Type, to: &Type) -> Result<Value> {
        if *value == Value::Null || from == to {
            return Ok(value.clone());
        }
        cast(value, from, to, CastContext::Assignment, &self.settings())
    }
}

/// What the polymorphic types of a call stand for, from the words that the call has been told.
pub(super) fn element_type(words: &str) -> Result<Type> {
    match rowferry_dialect::user_type::from_told(words) {
        Some(ty) => Ok(ty),
        None => rowferry_dialect::postgres::type_from_words(words),
    }
}
