//! Routines: what their steps do with a session.
//!
//! A routine runs over [`Session`]'s own interface: each of its statements is prepared once for a schema and executed
//! as if a client had sent it, with the routine's variables for parameters. Called by EXECUTE it is a part of its
//! session; called by a function of a running query it gets a session *inside* that statement, which shares its handle
//! and transaction (see [`Session::inside`]).

mod actions;
mod built_in_triggers;
pub(crate) mod direct;
mod exceptions;
mod interpreter;
mod loops;
mod mysql;
mod plpgsql;
mod running;
mod sql_language;
mod statements;
mod stored;
pub(crate) mod trigger;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use rowferry_dialect::informix::spl;
use rowferry_dialect::ir::{CallRoutine, Value};
use rowferry_dialect::schema::Routine;
use rowferry_dialect::stored_function::StoredFunction;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Condition, Error, Result, Schema as _, Type};

use crate::functions::{Queried, RoutineRows};
use crate::session::state::State;
use crate::session::{Outcome, Prepared, Session};
use crate::spool::{Spool, SpoolReader};

pub use mysql::Answer;
pub(crate) use stored::{call_inside as call_stored, support_value, value_inside as stored_value};

/// How deep routines may call each other, whatever stack there is.
const MAX_DEPTH: u32 = 1_000;

/// What a session's routines share.
#[derive(Debug, Default)]
pub struct SessionRoutines {
    /// By object id.
    compiled: Mutex<HashMap<u32, Arc<Compiled>>>,
    /// Lists of actions of Informix triggers, by the trigger's object id.
    actions: Mutex<HashMap<u32, Arc<Routine>>>,
    /// What the triggers whose actions run are about, the innermost last.
    rows: Mutex<Vec<actions::Rows>>,
    /// Those made in PostgreSQL's way.
    functions: stored::CompiledFunctions,
    /// Rows that functions have returned, for the queries of the session that read them.
    results: Mutex<HashMap<i64, SpoolReader>>,
    /// DEFINE GLOBAL, by name.
    globals: Mutex<HashMap<String, (Type, Value)>>,
    /// Rows that the last statement processed.
    processed: AtomicI64,
    /// Rows that the last statement of MySQL's procedures has changed.
    called: AtomicU64,
    /// Microseconds that counted functions have taken for themselves.
    counted: AtomicU64,
    /// Where the stack stood when the outermost routine was called.
    base: AtomicUsize,
    /// How many functions run with the rights of their owners.
    definers: AtomicUsize,
    /// Functions of PostgreSQL's way that run.
    running: running::RunningFunctions,
    /// Plans that hand values on to MySQL's variables.
    handings: Mutex<mysql::Handings>,
    /// Rows that MySQL's procedures have for the client.
    answers: Mutex<Vec<Answer>>,
    /// What has come out of the parameters of the last CALL for the routine that calls: the variables by their names.
    outputs: Mutex<Vec<(Vec<String>, Value, Type)>>,
    /// The bodies of triggers in MySQL's language, by the trigger's object id, with the schema that they were made for.
    bodies: Mutex<HashMap<u32, (u64, Arc<StoredFunction>)>>,
    /// Tables whose triggers of MySQL's run.
    used: Mutex<Vec<u32>>,
    /// Loops over the rows of changes, which no transaction may end under.
    loops_over_changes: Arc<AtomicUsize>,
}

/// A loop over the rows of a change.
#[derive(Debug)]
struct LoopOverChanges(Arc<AtomicUsize>);

impl Drop for LoopOverChanges {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SessionRoutines {
    /// The rows under a number, which are read once.
    pub fn take_result(&self, number: i64) -> Option<RoutineRows> {
        let mut reader = self.results.lock().remove(&number)?;
        let columns = reader.columns();
        Some(Box::new(std::iter::from_fn(move || match reader.advance() {
            Ok(true) => Some(Ok((0..columns).map(|at| reader.column(at).to_value()).collect())),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        })))
    }

    /// A loop over the rows of a change begins; it ends with what is returned.
    fn loop_over_changes(&self) -> LoopOverChanges {
        self.loops_over_changes.fetch_add(1, Ordering::Relaxed);
        LoopOverChanges(self.loops_over_changes.clone())
    }

    /// A loop goes over the rows of a change.
    pub fn is_looping_over_changes(&self) -> bool {
        self.loops_over_changes.load(Ordering::Relaxed) > 0
    }

    /// Microseconds that counted functions have taken for themselves.
    pub fn counted_time(&self) -> u64 {
        self.counted.load(Ordering::Relaxed)
    }

    /// A counted function has taken so many microseconds for itself.
    pub fn count_time(&self, own: u64) {
        self.counted.fetch_add(own, Ordering::Relaxed);
    }

    /// Rows for the client.
    fn answer(&self, answer: Answer) {
        self.answers.lock().push(answer);
    }

    /// A table's triggers run.
    fn is_used_around(&self, table: u32) -> bool {
        self.used.lock().contains(&table)
    }

    /// A function runs with the rights of its owner.
    pub fn acts_for_owner(&self) -> bool {
        self.definers.load(Ordering::Relaxed) > 0
    }

    /// Rows that the last statement processed.
    pub fn rows_processed(&self) -> i64 {
        self.processed.load(Ordering::Relaxed)
    }

    /// A statement has processed so many rows.
    pub fn set_rows_processed(&self, rows: u64) {
        self.count_as_processed(i64::try_from(rows).unwrap_or(i64::MAX));
    }

    /// The same for a number of the statement's own: MySQL's queries count as -1.
    pub fn count_as_processed(&self, rows: i64) {
        self.processed.store(rows, Ordering::Relaxed);
    }
}

/// A routine made ready for a session: its types looked up, its statements compiled as they are needed.
#[derive(Debug)]
struct Compiled {
    /// What it was made from.
    source: Arc<Routine>,
    parsed: Arc<spl::Routine>,
    /// The schema that LIKE was looked up in.
    generation: u64,
    /// Of every variable.
    types: Vec<Type>,
    /// Of the returned values.
    returns: Vec<Type>,
    /// By the statement's number.
    plans: Mutex<Vec<Option<Arc<Prepared>>>>,
}

/// The arguments of a call: a value for each parameter, `None` for its default.
type Args = Vec<Option<Value>>;

impl Session {
    /// EXECUTE FUNCTION, EXECUTE PROCEDURE.
    pub(crate) fn call_routine(
        &mut self,
        prepared: &Arc<Prepared>,
        call: &CallRoutine,
        params: &[Value],
    ) -> Result<Outcome> {
        let mut values = Vec::new();
        if prepared.program.is_some()
            && let Outcome::Rows(mut cursor) = self.run_query(prepared, params)?
            && let Some(row) = cursor.next()?
        {
            values = (0..row.len()).map(|at| row.get(at).to_value()).collect();
        }
        let types: Vec<Type> = match &call.args {
            Some(query) => query.columns.iter().map(|column| column.ty.clone()).collect(),
            None => Vec::new(),
        };
        let mut given = values.into_iter().zip(types);
        let args = call.given.iter().map(|given_here| if *given_here { given.next() } else { None }).collect();
        let rows = self.run_routine(&call.routine, args)?;
        if prepared.bound.columns.is_empty() {
            return Ok(Outcome::Done { command: prepared.command, rows: 0 });
        }
        self.rows(prepared, rows)
    }

    /// Runs a routine with its arguments and their types; yields what it returns.
    fn run_routine(&mut self, routine: &Arc<Routine>, args: Vec<Option<(Value, Type)>>) -> Result<Spool> {
        let depth = self.interrupter().depth();
        if depth == 0 {
            self.routine_state().base.store(stack_address(), Ordering::Relaxed);
        }
        if depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        self.check_stack()?;
        let _nested = self.interrupter().enter();
        let compiled = self.compile_routine(routine)?;
        let mut values: Args = Vec::with_capacity(args.len());
        for (arg, ty) in args.into_iter().zip(&compiled.types) {
            values.push(match arg {
                Some((value, from)) => Some(rowferry_dialect::informix::values::computed(&value, &from, ty)?),
                None => None,
            });
        }
        interpreter::run(self, &compiled, values).map_err(|mut error| {
            // A position in the routine's text is none in the client's.
            error.position = None;
            if error.detail.is_none() {
                error = error.detail(format!("in routine {}", routine.name));
            }
            error
        })
    }

    /// Refuses to go deeper when the routines have used up their part of the stack.
    fn check_stack(&self) -> Result<()> {
        let used = self.routine_state().base.load(Ordering::Relaxed).abs_diff(stack_address());
        if used > self.database().shared.options.routine_stack { Err(too_deep()) } else { Ok(()) }
    }

    fn compile_routine(&mut self, routine: &Arc<Routine>) -> Result<Arc<Compiled>> {
        let schema = self.schema();
        let generation = schema.generation();
        let known = self.routine_state().compiled.lock().get(&routine.oid).cloned();
        if let Some(known) = &known
            && known.generation == generation
            && *known.source == **routine
        {
            return Ok(known.clone());
        }
        let parsed = routine.parsed()?.clone();
        let types = parsed.variables.iter().map(|variable| variable.ty.resolve(&schema)).collect::<Result<Vec<_>>>()?;
        let returns = parsed.returns.iter().map(|column| column.ty.resolve(&schema)).collect::<Result<Vec<_>>>()?;
        let plans = match known {
            // Another table has changed: what is compiled is looked at again, statement by statement.
            Some(known) if *known.source == **routine && known.types == types => known.plans.lock().clone(),
            _ => vec![None; parsed.statements],
        };
        let compiled = Arc::new(Compiled {
            source: routine.clone(),
            parsed,
            generation,
            types,
            returns,
            plans: Mutex::new(plans),
        });
        self.routine_state().compiled.lock().insert(routine.oid, compiled.clone());
        Ok(compiled)
    }
}

/// Where the stack stands, about.
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

fn too_deep() -> Error {
    Error::new(Condition::RoutineTooDeep, "routines call each other too deep")
        .hint("Is there a recursion that does not end?")
}

/// Runs a query for a function of a running statement; it must not change anything.
pub(crate) fn query_inside(state: &Arc<State>, sql: &str) -> Result<Queried> {
    let mut session = Session::inside(state, true)?;
    let _nested = session.enter_routine()?;
    let Some(plan) = session.prepare(sql, &[])? else { return Ok(Queried::default()) };
    if !plan.bound.params.is_empty() {
        return Err(Error::new(Condition::UndefinedParameter, "there is no parameter $1"));
    }
    let Outcome::Rows(mut cursor) = session.execute(&plan, &[])? else { return Ok(Queried::default()) };
    let columns = cursor.columns().iter().map(|column| (column.name.clone(), column.ty.clone())).collect();
    let mut rows = Vec::new();
    while let Some(row) = cursor.next()? {
        let row: Vec<Value> = (0..row.len()).map(|at| row.get(at).to_value()).collect();
        let length = |value: &Value| match value {
            Value::Text(text) => text.len(),
            Value::Blob(bytes) => bytes.len(),
            _ => 0,
        };
        rowferry_dialect::work::step(row.iter().map(|value| length(value) + size_of::<Value>()).sum())?;
        rows.push(row);
    }
    Ok(Queried { columns, rows })
}

/// Calls a routine for a function of a running statement.
pub(crate) fn call_inside(state: &Arc<State>, oid: u32, given: &str, args: Vec<Value>) -> Result<RoutineRows> {
    // A statement that changes data calls routines that must not.
    let (given, read_only) = given.strip_prefix('-').map_or((given, false), |given| (given, true));
    let mut session = Session::inside(state, read_only)?;
    let schema = session.schema();
    let found = schema.main.routines.iter().find(|routine| routine.oid == oid).cloned();
    let routine =
        found.ok_or_else(|| Error::new(Condition::UndefinedFunction, "the routine has been dropped meanwhile"))?;
    let types = routine.parsed()?.param_types(&schema)?;
    let mut values = args.into_iter();
    let args = types
        .into_iter()
        .zip(given.bytes())
        .map(|(ty, given)| if given == b'1' { values.next().map(|value| (value, ty)) } else { None })
        .collect();
    let mut reader = session.run_routine(&routine, args)?.into_reader()?;
    let columns = reader.columns();
    Ok(Box::new(std::iter::from_fn(move || match reader.advance() {
        Ok(true) => Some(Ok((0..columns).map(|at| reader.column(at).to_value()).collect())),
        Ok(false) => None,
        Err(error) => Some(Err(error)),
    })))
}

/// A value as rows hold it.
fn borrowed(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Integer(value) => ValueRef::Integer(*value),
        Value::Real(value) => ValueRef::Real(*value),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Blob(bytes) => ValueRef::Blob(bytes),
    }
}
