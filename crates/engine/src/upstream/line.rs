//! A session's line to the server behind: what a session may ask of it.
//!
//! Rows are read from the line as their cursor is asked for them. Whoever else needs the line makes them way: the rest is
//! put aside, in memory at first and in a file once it is much. In a transaction a cursor's rows come in parts, and
//! between two parts the line is free.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowferry_dialect::ir::Isolation;
use rowferry_dialect::values::Settings;
use rowferry_dialect::{Condition, Error, Result, Type};

use super::conversation::{Answer, Conversation, PART, Running, Set, broken, lost};
use super::values::{Reader, parameter};
use super::{Kind, Reply, RowBytes, There, Upstream};
use crate::interrupt::Interrupter;
use crate::ir::Value;
use crate::spool::SpoolReader;

/// A connection that was used so shortly ago is not looked at before it is used again.
const SILENCE: Duration = Duration::from_millis(100);

/// What a transaction is to be.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Modes {
    pub isolation: Option<Isolation>,
    pub read_only: bool,
}

/// Where in the session's transaction something is to be done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Within {
    /// The transaction; none where the statement is one by itself.
    pub transaction: Option<Modes>,
    /// How many savepoints it has.
    pub savepoints: usize,
    /// A failure undoes the statement alone, and not its transaction.
    pub alone: bool,
    /// No foreign key there looks at what it changes.
    pub unchecked: bool,
}

/// A statement to run.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// The number of its plan, under which it stays prepared.
    pub plan: u64,
    pub there: &'a There,
    pub params: &'a [Value],
    pub types: &'a [Type],
    /// The types of the columns that the session awaits.
    pub columns: &'a [Type],
    pub within: Within,
    /// It may change something.
    pub writes: bool,
    /// All numbers that rows are given are told, and not the last alone.
    pub all_numbers: bool,
}

/// What a statement yields.
#[derive(Debug)]
pub(crate) enum Begun {
    /// Rows, to be asked for under this number.
    Rows { readers: Arc<[Reader]>, ticket: u64 },
    /// It is over: how many rows it was about, and the number that it has given to the last of them.
    Done {
        rows: u64,
        number: Option<i64>,
        /// The numbers of all of them, where somebody wants to know.
        numbers: Vec<i64>,
        /// How many of them were there before, where that is told.
        updated: u64,
        /// What LAST_INSERT_ID was told.
        told: Option<i64>,
    },
}

/// What comes next of a result.
pub(crate) enum Next {
    /// A row, which has been put where it was wanted.
    Row,
    /// These rows come first.
    Rows(SpoolReader),
    /// Nothing more.
    End,
}

/// A line to the server.
#[derive(Debug)]
pub struct Line {
    server: Arc<dyn Upstream>,
    application: String,
    interrupter: Interrupter,
    /// Savepoints of the session, of its routines as well.
    depth: AtomicUsize,
    state: Mutex<Conversation>,
}

/// While it lives, who interrupts the session interrupts the server's statement.
struct Watched<'a>(&'a Interrupter);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.0.also(None);
    }
}

impl Line {
    pub(crate) fn new(server: Arc<dyn Upstream>, application: String, interrupter: Interrupter) -> Self {
        Self { server, application, interrupter, depth: AtomicUsize::new(0), state: Mutex::default() }
    }

    /// How many savepoints there are.
    pub(crate) fn depth(&self) -> usize {
        self.depth.load(Ordering::Relaxed)
    }

    /// One more, which is set there before the next statement; its number.
    pub(crate) fn deepen(&self) -> usize {
        self.depth.fetch_add(1, Ordering::Relaxed)
    }

    /// A transaction is open there.
    pub(crate) fn is_begun(&self) -> bool {
        let state = self.state.lock();
        state.begun || state.lost
    }

    /// The last statement of the transaction is undone.
    pub(crate) fn undo_statement(&self) {
        let mut state = self.state.lock();
        if state.begun && state.has_point && state.make_way().is_ok() && state.go_back().is_err() {
            state.break_off();
        }
    }

    /// Messages of the server's since the last call.
    pub(crate) fn drain_notices(&self) -> Vec<Error> {
        std::mem::take(&mut self.state.lock().notices)
    }

    fn watch(&self, state: &Conversation) -> Watched<'_> {
        self.interrupter.also(state.canceller.clone());
        Watched(&self.interrupter)
    }

    /// Runs a statement as far as its first answer. `settings` is what the session wants to be set there.
    pub(crate) fn run(&self, request: &Request<'_>, settings: &str) -> Result<Begun> {
        let own = Settings::default();
        let params = request.params.iter().zip(request.types).map(|(value, ty)| parameter(value, ty, &own));
        // Nothing fails here between the first part of the pipeline and its end: answers are counted.
        let params = params.collect::<Result<Vec<_>>>()?;
        let mut state = self.state.lock();
        let state = &mut *state;
        state.make_way()?;
        self.connected(state, settings, request.within.unchecked)?;
        let _watched = self.watch(state);
        let name = format!("rf_{}", request.plan);
        let mut steps = state.put_transaction(&request.within)?;
        state.clock += 1;
        let known = match state.prepared.get_mut(&request.plan) {
            Some(kept) => {
                kept.used = state.clock;
                Some((kept.readers.clone(), kept.formats.clone()))
            }
            None => None,
        };
        let said = &request.there.said;
        let is_query = request.there.kind == Kind::Query && !request.columns.is_empty();
        // Whether rows come is known beforehand: it is prepared and run in one pipeline.
        let at_once = known.is_none() && (is_query || request.columns.is_empty() || said.told_columns() > 0);
        let (mut readers, formats) = match known {
            Some(known) => known,
            None if at_once => {
                state.put_prepare(&name, request)?;
                Default::default()
            }
            None => {
                // In which format its columns can come is known once their types are.
                let known = state.prepare(&name, request, steps)?;
                steps = 0;
                known
            }
        };
        let rows = (!readers.is_empty() || at_once && is_query) && said.told_columns() == 0;
        let parted = rows && request.within.transaction.is_some();
        state.tickets += 1;
        let ticket = state.tickets;
        let portal = if parted { format!("rf_{ticket}") } else { String::new() };
        let link = state.link.as_mut().ok_or_else(broken)?;
        link.bind(&portal, &name, &params, &formats);
        link.run(&portal, if parted { PART } else { 0 });
        link.sync();
        if request.writes || parted {
            state.pointed = false;
        }
        let alone = request.within.alone && request.within.transaction.is_some();
        state.running = Some(Running { ticket, readers: readers.clone(), alone, parted, first: None });
        state.pass(steps)?;
        if at_once && (is_query || said.told_columns() > 0) {
            readers = state.described(request)?;
        }
        if rows {
            state.peek()?;
            return Ok(Begun::Rows { readers, ticket });
        }
        let (mut row, mut number, mut numbers) = (RowBytes::default(), None, Vec::new());
        let (mut updated, mut told, mut counted) = (0, None, None);
        let cell = |row: &RowBytes, at: usize| row.cell(at).and_then(|cell| readers.get(at)?.number(cell));
        loop {
            match state.answer(&mut row)? {
                Answer::Row if said.returns_count => {
                    counted = cell(&row, 0).and_then(|count| u64::try_from(count).ok());
                }
                Answer::Row => {
                    let was_there = said.returns_fates && cell(&row, readers.len().saturating_sub(1)) == Some(1);
                    updated += u64::from(was_there);
                    if said.returns_said && (was_there || !said.returns_fates) {
                        told = cell(&row, usize::from(said.returns_numbers)).or(told);
                    }
                    if !said.returns_numbers || was_there {
                        continue;
                    }
                    let next = cell(&row, 0);
                    numbers.extend(next.filter(|_| request.all_numbers));
                    number = next.or(number);
                }
                Answer::Complete(rows) => {
                    state.finish()?;
                    if at_once && readers.is_empty() {
                        state.kept(request, &[])?;
                    }
                    let rows = counted.unwrap_or(rows);
                    return Ok(Begun::Done { rows, number, numbers, updated, told });
                }
                Answer::Suspended => {}
            }
        }
    }

    /// Connects where there is no connection that stands.
    fn connected(&self, state: &mut Conversation, settings: &str, unchecked: bool) -> Result<()> {
        if state.lost {
            return Err(lost());
        }
        let now = Instant::now();
        let silent = state.used.is_none_or(|used| now.duration_since(used) > SILENCE);
        state.used = Some(now);
        if silent && state.link.as_ref().is_some_and(|link| !link.is_quiet()) {
            // It has been closed, or the server says that it goes.
            state.break_off();
            if state.lost {
                return Err(lost());
            }
        }
        if state.link.is_none() {
            let mut link = self.server.connect(&self.application)?;
            let (interrupter, canceller) = (self.interrupter.clone(), link.canceller());
            let cancel = canceller.clone();
            let mut asked = false;
            link.on_wait(Box::new(move || {
                // A time-out is nobody's call: it is looked for here.
                let stop = interrupter.must_stop();
                if stop
                    && !asked
                    && let Some(cancel) = &cancel
                {
                    cancel.cancel(false);
                }
                asked = stop;
            }));
            state.canceller = canceller;
            state.link = Some(link);
            (state.settings, state.unchecked) = (Set::to(String::new()), Set::to(false));
        }
        let (other, another_role) = (!state.settings.is(settings), !state.unchecked.is(&unchecked));
        if other || another_role {
            let role = match (another_role, unchecked) {
                (false, _) => "",
                (true, true) => "; SET session_replication_role = replica",
                (true, false) => "; SET session_replication_role = origin",
            };
            let begun = state.begun;
            state.command(&format!("{}{role}", if other { settings } else { "" }))?;
            if other {
                state.settings.set(settings.to_owned(), begun);
            }
            if another_role {
                state.unchecked.set(unchecked, begun);
            }
        }
        Ok(())
    }

    /// The next row of a result.
    pub(crate) fn next(&self, ticket: u64, row: &mut RowBytes) -> Result<Next> {
        let mut state = self.state.lock();
        let state = &mut *state;
        if !state.aside.is_empty()
            && let Some(rows) = state.aside.remove(&ticket)
        {
            return rows.map(Next::Rows);
        }
        if state.takes_row(ticket, row)? {
            return Ok(Next::Row);
        }
        let _watched = self.watch(state);
        if state.running.as_ref().is_none_or(|running| running.ticket != ticket) {
            if !state.parts.contains_key(&ticket) {
                return Ok(Next::End);
            }
            state.next_part(ticket)?;
        }
        loop {
            match state.answer(row)? {
                Answer::Row => return Ok(Next::Row),
                Answer::Complete(_) => {
                    state.finish()?;
                    return Ok(Next::End);
                }
                Answer::Suspended => {
                    state.suspend()?;
                    state.next_part(ticket)?;
                }
            }
        }
    }

    /// All rows that a result has still to yield are read now: it is to outlive its transaction.
    pub(crate) fn read_ahead(&self, ticket: u64) -> Result<()> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let _watched = self.watch(state);
        state.read_all(ticket)
    }

    /// A result is not wanted any more.
    pub(crate) fn forget(&self, ticket: u64) {
        let mut state = self.state.lock();
        let state = &mut *state;
        state.aside.remove(&ticket);
        if state.running.as_ref().is_some_and(|running| running.ticket == ticket) {
            // What it fails with is what was wanted.
            let _ = state.abandon();
        }
        if state.parts.remove(&ticket).is_some() && state.begun {
            state.closing.push(ticket);
        }
    }

    /// Commits what is open there.
    pub(crate) fn commit(&self) -> Result<()> {
        self.depth.store(0, Ordering::Relaxed);
        let mut state = self.state.lock();
        let state = &mut *state;
        if std::mem::take(&mut state.lost) {
            return Err(lost());
        }
        if !state.begun {
            return Ok(());
        }
        state.make_way()?;
        let _watched = self.watch(state);
        state.is_over();
        let done = state.command("COMMIT");
        let committed = matches!(&done, Ok((tag, _)) if tag == "COMMIT");
        state.settle(committed);
        match done {
            Ok(_) if committed => Ok(()),
            Ok(_) => Err(Error::new(
                Condition::InFailedSqlTransaction,
                "the server behind has rolled the transaction back: one of its statements had failed",
            )),
            Err(error) if state.link.is_none() => {
                let mut unknown = Error::new(
                    Condition::TransactionResolutionUnknown,
                    "the connection to the server behind broke while it committed: whether it has is not known",
                );
                unknown.detail = Some(error.message.clone());
                Err(unknown)
            }
            Err(error) => Err(error),
        }
    }

    /// Undoes what is open there. What cannot be reached any more has been undone.
    pub(crate) fn roll_back(&self) {
        self.depth.store(0, Ordering::Relaxed);
        let mut state = self.state.lock();
        let state = &mut *state;
        state.lost = false;
        if !state.begun {
            return;
        }
        // Rows that have not come yet are those of the transaction that goes.
        let stood = state.make_way().is_ok();
        state.is_over();
        if !stood || state.link.is_some() && state.command("ROLLBACK").is_err() {
            state.break_off();
        }
        state.settle(false);
        state.lost = false;
    }

    /// Goes back to the savepoint of this number, which stays.
    pub(crate) fn go_back_to(&self, at: usize) -> Result<()> {
        self.depth.store(at + 1, Ordering::Relaxed);
        let mut state = self.state.lock();
        let state = &mut *state;
        if state.lost {
            return Err(lost());
        }
        if !state.begun {
            return Ok(());
        }
        state.make_way()?;
        if at < state.savepoints {
            state.command(&format!("ROLLBACK TO SAVEPOINT rf_{at}"))?;
            state.unset();
            state.savepoints = at + 1;
            (state.pointed, state.has_point) = (false, false);
            // Cursors that were opened since are gone; their next part says so.
        }
        Ok(())
    }

    /// The savepoint of this number is none any more, nor are later ones.
    pub(crate) fn release(&self, at: usize) -> Result<()> {
        self.depth.store(at, Ordering::Relaxed);
        let mut state = self.state.lock();
        let state = &mut *state;
        if state.lost {
            return Err(lost());
        }
        if state.begun && at < state.savepoints {
            state.make_way()?;
            state.command(&format!("RELEASE SAVEPOINT rf_{at}"))?;
            state.savepoints = at;
            (state.pointed, state.has_point) = (false, false);
        }
        Ok(())
    }

    /// Runs a text of statements without parameters; how many rows the last of them was about.
    pub(crate) fn command(&self, words: &str, within: Within, settings: &str) -> Result<u64> {
        let mut state = self.state.lock();
        let state = &mut *state;
        state.make_way()?;
        self.connected(state, settings, within.unchecked)?;
        let _watched = self.watch(state);
        // A table that a cursor reads cannot be changed.
        for ticket in state.parts.keys().copied().collect::<Vec<_>>() {
            state.read_all(ticket)?;
        }
        let steps = state.put_transaction(&within)?;
        if steps > 0 {
            state.link.as_mut().ok_or_else(broken)?.sync();
            state.running =
                Some(Running { ticket: 0, readers: Arc::from([]), alone: false, parted: false, first: None });
            state.pass(steps)?;
            state.finish()?;
        }
        state.pointed = false;
        let done = state.command(words);
        if done.is_err() && within.alone && within.transaction.is_some() && state.link.is_some() {
            state.go_back()?;
        }
        done.map(|(_, rows)| rows)
    }

    /// All rows of a query of our own, as texts.
    pub(crate) fn texts(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        let mut state = self.state.lock();
        let state = &mut *state;
        state.make_way()?;
        self.connected(state, "", false)?;
        state.link.as_mut().ok_or_else(broken)?.query(sql);
        let (mut rows, mut failed, mut row) = (Vec::new(), None, RowBytes::default());
        loop {
            match state.reply(&mut row)? {
                Reply::Row => {
                    let text = |at| row.cell(at).map(|cell| String::from_utf8_lossy(cell).into_owned());
                    rows.push((0..row.cells.len()).map(text).collect());
                }
                Reply::Failed(error) => failed = Some(error),
                Reply::Ready => return failed.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }
}
