//! Gathering what sessions have counted, for somebody who asks.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use super::{DatabaseCounts, FunctionCounts, IndexCounts, Pending, TableCounts};
use crate::database::Shared;
use crate::session::state::State;

/// Takes in what the sessions of a database have counted in transactions that are over, and what is counted of them all.
/// `asks` is the session that asks: of its own database statements are asked for their ways on its handle.
///
/// A session that runs a statement meanwhile is not waited for: what it has read is taken in the next time.
pub fn collect(database: &Arc<Shared>, asks: &State) -> DatabaseCounts {
    let own = asks.database.upgrade().is_some_and(|own| Arc::ptr_eq(&own, database)).then_some(asks);
    gather(database, own)
}

/// The same for somebody who has no session.
pub fn gather(database: &Arc<Shared>, own: Option<&State>) -> DatabaseCounts {
    let asking = own.and_then(|own| own.handle.lock().upgrade());
    let asking = asking.as_ref().map(crate::backend::SharedHandle::lock);
    let statistics = &database.statistics;
    let mut taken = Pending::default();
    let mut counts = DatabaseCounts::default();
    for state in database.sessions() {
        let is_own = own.is_some_and(|own| std::ptr::eq(&raw const *state, own));
        let idle = state.activity.lock().state == "idle";
        if is_own {
            if let Some(handle) = &asking {
                state.gather_all(handle);
            }
        } else if idle {
            let handle = state.handle.lock().upgrade();
            if let Some(handle) = handle.as_ref().and_then(crate::backend::SharedHandle::try_lock) {
                state.gather_all(&handle);
            }
        }
        let mut done = state.counts.lock();
        // Who cannot ask for ways leaves what has been read where it is.
        taken.append(if asking.is_some() { std::mem::take(&mut done.done) } else { done.done.take_tables() });
        counts.add(&state.tally.counts(idle, age(&state)));
    }
    statistics.take_in(&taken);
    if let (Some(handle), Some(own)) = (&asking, own.and_then(|own| own.this.upgrade())) {
        for run in taken.runs() {
            // Catalogs that only others have read so far.
            let _ = handle.make_known(&run.reads.catalogs, &own);
        }
        statistics.settle(taken.runs(), handle);
    }
    let mut whole = statistics.whole();
    whole.add(&counts);
    whole.deadlocks = database.locks.deadlocks.load(Ordering::Relaxed);
    whole
}

/// What a session has counted in the transaction that is open, of tables and of indexes.
pub fn of_transaction(own: &State) -> (HashMap<u32, TableCounts>, HashMap<u32, IndexCounts>) {
    let (mut tables, mut indexes): (HashMap<u32, TableCounts>, HashMap<u32, IndexCounts>) = Default::default();
    let handle = own.handle.lock().upgrade();
    let Some(handle) = handle.as_ref().map(crate::backend::SharedHandle::lock) else { return (tables, indexes) };
    own.gather(&handle);
    let mut counts = own.counts.lock();
    if !own.tally.ask() {
        // What was read before is not told apart from what was read before the transaction.
        for run in counts.open.take_runs() {
            counts.done.ran(&run.reads, run.runs, run.steps);
        }
    }
    for (oid, changed) in counts.open.tables() {
        tables.entry(*oid).or_default().add(changed);
    }
    for run in counts.open.runs() {
        run.reads.ways(&handle).count(run.runs, run.steps, |way, rows| {
            way.count(run.runs, rows, &mut tables, &mut indexes);
        });
    }
    (tables, indexes)
}

/// What a session has counted of functions in the transaction that is open.
pub fn functions_of_transaction(own: &State) -> BTreeMap<u32, FunctionCounts> {
    own.counts.lock().open.functions().iter().copied().collect()
}

/// For how long a session has been there, in microseconds.
pub fn age(state: &State) -> u64 {
    SystemTime::now().duration_since(state.started).map_or(0, |age| age.as_micros() as u64)
}
