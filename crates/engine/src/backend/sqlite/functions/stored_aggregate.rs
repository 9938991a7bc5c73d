//! Aggregates that users have made: `rf_stored_aggregate` carries the state from row to row, and
//! `rf_stored_aggregate_result` makes the result of it. Both are told a [`Plan`] and what the state begins with; SQLite
//! calls the first for no row at all when there is none, so that only the second knows what an empty group has.
//!
//! Over a window whose first row moves, rows leave. An aggregate with an inverse function takes them out of the state;
//! for others the rows of the frame are kept, and the state is made anew of them.

use std::collections::{HashSet, VecDeque};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use rowferry_dialect::informix::values::computed;
use rowferry_dialect::ir::Value;
use rowferry_dialect::stored_aggregate::{Callee, Plan, Spl};
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Condition, Error, Result, work};
use rusqlite::Connection;
use rusqlite::functions::{Aggregate as SqliteAggregate, FunctionFlags, WindowAggregate};

use super::aggregate::row_key;
use super::{Call, Context, Output, Row, raise};

pub(super) const ROWS: &[Row] = &[Row::new("rf_stored_aggregate_result", 3, result).variadic().lenient().volatile()];

/// What a kept value counts as work, beside its bytes.
const VALUE: usize = size_of::<Value>();

/// The names of what carries a state, and whether only distinct arguments count.
pub(super) const NAMES: [(&str, bool); 2] = [("rf_stored_aggregate", false), ("rf_stored_aggregate_distinct", true)];

/// Makes what carries a state known to a connection.
pub(super) fn register(
    connection: &Connection,
    name: &str,
    distinct: bool,
    context: &Arc<Context>,
) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_window_function(name, -1, flags, Adapter { distinct, context: Arc::clone(context) })
}

fn plan_of(call: &Call<'_>) -> Result<Plan> {
    Plan::from_text(call.text(0)?).ok_or_else(|| Error::internal("an aggregate without a plan"))
}

/// A state on its way from one function to the other: a letter for its class, then its bytes.
fn packed(state: &Value) -> Value {
    let (class, bytes): (u8, &[u8]) = match state {
        Value::Null => (b'0', &[]),
        Value::Integer(value) => (b'1', &value.to_le_bytes()),
        Value::Real(value) => (b'2', &value.to_bits().to_le_bytes()),
        Value::Text(text) => (b'3', text.as_bytes()),
        Value::Blob(bytes) => (b'4', bytes),
    };
    let mut packed = Vec::with_capacity(bytes.len() + 1);
    packed.push(class);
    packed.extend_from_slice(bytes);
    Value::Blob(packed)
}

fn unpacked(packed: &[u8]) -> Option<Value> {
    let (class, bytes) = packed.split_first()?;
    Some(match class {
        b'0' => Value::Null,
        b'1' => Value::Integer(i64::from_le_bytes(bytes.try_into().ok()?)),
        b'2' => Value::Real(f64::from_bits(u64::from_le_bytes(bytes.try_into().ok()?))),
        b'3' => Value::Text(String::from_utf8(bytes.to_vec()).ok()?),
        b'4' => Value::Blob(bytes.to_vec()),
        _ => return None,
    })
}

/// The result: plan, what the state begins with, state, direct arguments.
fn result(call: &Call<'_>) -> Result<Value> {
    let plan = plan_of(call)?;
    let state = match call.value(2) {
        // No row came.
        ValueRef::Null => begin(call.context(), &plan, call.owned(1))?,
        ValueRef::Blob(packed) => {
            unpacked(packed).ok_or_else(|| Error::internal("an aggregate with a state that is none"))?
        }
        _ => return Err(Error::internal("an aggregate with a state that is none")),
    };
    let Some(finish) = &plan.finish else { return Ok(state) };
    let mut args = vec![state];
    args.extend((3..call.len()).map(|at| call.owned(at)));
    args.extend(std::iter::repeat_n(Value::Null, plan.extra));
    match &plan.spl {
        Some(spl) => call_spl(call.context(), spl, finish, args),
        None => call_support(call.context(), finish, args),
    }
}

/// What a state begins with.
fn begin(context: &Context, plan: &Plan, initial: Value) -> Result<Value> {
    let Some(spl) = &plan.spl else { return Ok(initial) };
    let Some(init) = &spl.init else { return Ok(Value::Null) };
    let state = call_spl(context, spl, &Callee { types: Vec::new(), ..init.clone() }, vec![Value::Null])?;
    match init.types.as_slice() {
        [from, to] => computed(&state, from, to),
        _ => Ok(state),
    }
}

/// Calls a routine in SPL behind an aggregate, whose first argument is the state in the type of its parameter.
fn call_spl(context: &Context, spl: &Spl, callee: &Callee, mut args: Vec<Value>) -> Result<Value> {
    if let ([from, to], Some(state)) = (callee.types.as_slice(), args.first_mut()) {
        *state = computed(state, from, to)?;
    }
    let given = if spl.only_reads { "-" } else { "" }.to_owned() + &"1".repeat(args.len());
    let mut rows = context.state().call_routine(callee.function, &given, args)?;
    let first = rows.next().transpose()?;
    Ok(first.and_then(|row| row.into_iter().next()).unwrap_or(Value::Null))
}

/// Calls a function behind an aggregate, a strict one not with NULLs.
fn call_support(context: &Context, callee: &Callee, args: Vec<Value>) -> Result<Value> {
    if callee.strict && args.contains(&Value::Null) {
        return Ok(Value::Null);
    }
    context.state().support_function(callee, args)
}

struct Adapter {
    /// Rows whose arguments have been seen before do not count.
    distinct: bool,
    context: Arc<Context>,
}

// A panic in a function ends the statement; what it leaves behind is dropped, and the session's state has locks that do
// not poison.
impl UnwindSafe for Adapter {}
impl RefUnwindSafe for Adapter {}

/// The state of one group or frame.
struct Group {
    context: Arc<Context>,
    plan: Plan,
    initial: Value,
    state: Value,
    /// So many rows are in the state.
    count: usize,
    /// The rows of the frame, where rows leave.
    rows: VecDeque<Vec<Value>>,
    /// So many of them the state has seen.
    seen: usize,
    /// Rows that have left, and that are in the state yet.
    left: Vec<Vec<Value>>,
    /// What the distinct rows are known by.
    keys: Option<HashSet<Vec<u8>>>,
}

impl UnwindSafe for Group {}
impl RefUnwindSafe for Group {}

impl Group {
    /// A row comes into a state that routines in SPL keep.
    fn add_spl(&mut self, spl: &Spl, row: &[Value]) -> Result<()> {
        if spl.skips_nulls && row.contains(&Value::Null) {
            return Ok(());
        }
        let state = std::mem::replace(&mut self.state, Value::Null);
        self.state = call_spl(&self.context, spl, &self.plan.transition, with_state(state, row))?;
        self.count += 1;
        Ok(())
    }

    fn restart(&mut self) {
        self.state = self.initial.clone();
        self.count = 0;
    }

    /// A row comes into the state.
    fn add(&mut self, row: &[Value]) -> Result<()> {
        if let Some(spl) = self.plan.spl.clone() {
            return self.add_spl(&spl, row);
        }
        let transition = &self.plan.transition;
        if transition.strict {
            if row.contains(&Value::Null) {
                return Ok(());
            }
            if self.state == Value::Null {
                // The first row is what the state begins with. Once it is NULL again, it stays that.
                if self.count == 0 && self.initial == Value::Null {
                    self.state = row.first().cloned().unwrap_or(Value::Null);
                    self.count = 1;
                }
                return Ok(());
            }
        }
        let state = std::mem::replace(&mut self.state, Value::Null);
        self.state = self.context.state().support_function(transition, with_state(state, row))?;
        self.count += 1;
        if self.plan.inverse.is_some() && self.state == Value::Null {
            let message = "moving-aggregate transition function must not return null";
            return Err(Error::new(Condition::NullValueNotAllowed, message));
        }
        Ok(())
    }

    /// The oldest row leaves the state; false when that cannot be done.
    fn take(&mut self, inverse: &Callee, row: &[Value]) -> Result<bool> {
        if inverse.strict && row.contains(&Value::Null) {
            return Ok(true);
        }
        if self.count <= 1 {
            self.restart();
            return Ok(true);
        }
        let state = std::mem::replace(&mut self.state, Value::Null);
        self.state = self.context.state().support_function(inverse, with_state(state, row))?;
        self.count -= 1;
        Ok(self.state != Value::Null)
    }

    /// Brings the state to the rows of the frame.
    fn settle(&mut self) -> Result<()> {
        let left = std::mem::take(&mut self.left);
        let mut anew = !left.is_empty() && (self.plan.inverse.is_none() || self.seen == 0);
        if !anew && let Some(inverse) = self.plan.inverse.clone() {
            for row in &left {
                if !self.take(&inverse, row)? {
                    anew = true;
                    break;
                }
            }
        }
        if anew {
            self.restart();
            self.seen = 0;
        }
        let rows = std::mem::take(&mut self.rows);
        let added = rows.iter().skip(self.seen).try_for_each(|row| self.add(row));
        self.seen = rows.len();
        self.rows = rows;
        added
    }
}

fn with_state(state: Value, row: &[Value]) -> Vec<Value> {
    let mut args = Vec::with_capacity(row.len() + 1);
    args.push(state);
    args.extend_from_slice(row);
    args
}

impl Adapter {
    fn start(&self, call: &Call<'_>) -> Result<Group> {
        let plan = plan_of(call)?;
        let initial = begin(&self.context, &plan, call.owned(1))?;
        Ok(Group {
            context: Arc::clone(&self.context),
            plan,
            state: initial.clone(),
            initial,
            count: 0,
            rows: VecDeque::new(),
            seen: 0,
            left: Vec::new(),
            keys: self.distinct.then(HashSet::new),
        })
    }

    fn add(&self, call: &Call<'_>, group: &mut Option<Group>) -> Result<()> {
        let group = match group {
            Some(group) => group,
            None => group.insert(self.start(call)?),
        };
        if let Some(keys) = &mut group.keys
            && !keys.insert(row_key(call)?)
        {
            return Ok(());
        }
        let row: Vec<Value> = (2..call.len()).map(|at| call.owned(at)).collect();
        if !group.plan.leaving {
            return group.add(&row);
        }
        work::step(row.len() * VALUE + (2..call.len()).map(|at| call.length(at)).sum::<usize>())?;
        group.rows.push_back(row);
        Ok(())
    }
}

impl SqliteAggregate<Option<Group>, Output> for Adapter {
    fn init(&self, _: &mut rusqlite::functions::Context<'_>) -> rusqlite::Result<Option<Group>> {
        Ok(None)
    }

    fn step(&self, raw: &mut rusqlite::functions::Context<'_>, group: &mut Option<Group>) -> rusqlite::Result<()> {
        self.add(&Call::new(raw, &self.context), group).map_err(raise)
    }

    fn finalize(
        &self,
        _: &mut rusqlite::functions::Context<'_>,
        group: Option<Option<Group>>,
    ) -> rusqlite::Result<Output> {
        state_of(group.flatten().as_mut()).map_err(raise)
    }
}

impl WindowAggregate<Option<Group>, Output> for Adapter {
    fn value(&self, group: Option<&mut Option<Group>>) -> rusqlite::Result<Output> {
        state_of(group.and_then(Option::as_mut)).map_err(raise)
    }

    fn inverse(&self, _: &mut rusqlite::functions::Context<'_>, group: &mut Option<Group>) -> rusqlite::Result<()> {
        if let Some(group) = group
            && let Some(row) = group.rows.pop_front()
            && group.seen > 0
        {
            group.seen -= 1;
            group.left.push(row);
        }
        Ok(())
    }
}

/// The state as it stands; NULL where no row has come.
fn state_of(group: Option<&mut Group>) -> Result<Output> {
    let Some(group) = group else { return Ok(Output(Value::Null)) };
    group.settle()?;
    Ok(Output(packed(&group.state)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_arrives_as_it_was_sent() {
        let states =
            [Value::Null, Value::Integer(-7), Value::Real(-0.0), Value::Text("é".to_owned()), Value::Blob(Vec::new())];
        for state in states {
            let Value::Blob(bytes) = packed(&state) else { panic!("bytes") };
            assert_eq!(unpacked(&bytes), Some(state));
        }
        assert_eq!(unpacked(b""), None);
        assert_eq!(unpacked(b"1123"), None);
    }
}
