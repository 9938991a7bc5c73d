//! A session's conversation with the server behind: transactions, prepared statements, rows that are on their way.
//!
//! Rows are read from the line as their cursor is asked for them. Whoever else needs the line makes them way: the rest is
//! put aside, in memory at first and in a file once it is much. In a transaction a cursor's rows come in parts, and
//! between two parts the line is free.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowferry_dialect::ir::Isolation;
use rowferry_dialect::values::Settings;
use rowferry_dialect::{Condition, Error, Result, Type};

use super::values::{Reader, parameter};
use super::{Canceller, Link, Reply, RowBytes, There, Upstream};
use crate::interrupt::Interrupter;
use crate::ir::Value;
use crate::spool::{Spool, SpoolReader};

/// Statements that a connection keeps prepared; the one that was used longest ago gives way.
const MAX_PREPARED: usize = 256;
/// Rows of a part of a cursor in a transaction.
const PART: u32 = 2_048;
/// Rows of a result that nobody wants any more that are read before the server is asked to stop.
const PASSED_OVER: usize = 1_000;
/// A connection that was used so shortly ago is not looked at before it is used again.
const SILENCE: Duration = Duration::from_millis(100);
/// The savepoint to which a statement that fails goes back.
const POINT: &str = "rf_statement";

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
}

/// What a statement yields.
#[derive(Debug)]
pub(crate) enum Begun {
    /// Rows, to be asked for under this number.
    Rows { readers: Arc<[Reader]>, ticket: u64 },
    /// It is over: how many rows it was about, and the number that it has given to the last of them.
    Done { rows: u64, number: Option<i64> },
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
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    link: Option<Box<dyn Link>>,
    canceller: Option<Canceller>,
    /// A transaction is open there.
    begun: bool,
    /// It was lost with the connection.
    lost: bool,
    /// Savepoints of the session that are set there.
    savepoints: usize,
    /// There is a point to go back to, and nothing has been changed or opened since.
    pointed: bool,
    /// There is one, wherever.
    has_point: bool,
    prepared: HashMap<u64, Kept>,
    clock: u64,
    /// When the connection was used last.
    used: Option<Instant>,
    /// The result whose rows come next on the line.
    running: Option<Running>,
    /// Results that had to make way.
    aside: HashMap<u64, Result<SpoolReader>>,
    /// Cursors of the transaction that have more rows than have come.
    parts: HashMap<u64, Running>,
    /// Cursors that nobody needs any more.
    closing: Vec<u64>,
    tickets: u64,
    notices: Vec<Error>,
    /// What the session wants to be set there, and is.
    settings: String,
}

#[derive(Debug)]
struct Kept {
    used: u64,
    readers: Arc<[Reader]>,
    formats: Arc<[u16]>,
}

/// What reads the columns of a statement, and the formats in which they are asked for.
type Columns = (Arc<[Reader]>, Arc<[u16]>);

#[derive(Debug)]
struct Running {
    ticket: u64,
    readers: Arc<[Reader]>,
    alone: bool,
    /// It is a cursor of the transaction, which stays open there until it is closed.
    parted: bool,
    /// The first row has been read already.
    first: Option<RowBytes>,
}

fn broken() -> Error {
    Error::new(Condition::ConnectionFailure, "the connection to the server behind is broken")
}

fn lost() -> Error {
    let message =
        "the connection to the server behind was lost, and the transaction with it: nothing of it has been kept";
    Error::new(Condition::ConnectionFailure, message).hint("Roll it back and begin anew.")
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

    fn watch(&self, state: &State) -> Watched<'_> {
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
        self.connected(state, settings)?;
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
        let (readers, formats) = match known {
            Some(known) => known,
            None => {
                // In which format its columns can come is known once their types are.
                let known = state.prepare(&name, request, steps)?;
                steps = 0;
                known
            }
        };
        let rows = !readers.is_empty() && !request.there.said.returns_numbers;
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
        if rows {
            state.peek()?;
            return Ok(Begun::Rows { readers, ticket });
        }
        let (mut row, mut number) = (RowBytes::default(), None);
        loop {
            match state.answer(&mut row)? {
                Answer::Row => number = row.cell(0).and_then(|cell| readers.first()?.number(cell)).or(number),
                Answer::Complete(rows) => {
                    state.finish()?;
                    return Ok(Begun::Done { rows, number });
                }
                Answer::Suspended => {}
            }
        }
    }

    /// Connects where there is no connection that stands.
    fn connected(&self, state: &mut State, settings: &str) -> Result<()> {
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
            state.settings.clear();
        }
        if state.settings != settings {
            let begun = state.begun;
            state.command(settings)?;
            // What is set in a transaction is undone with it.
            if !begun {
                settings.clone_into(&mut state.settings);
            }
        }
        Ok(())
    }

    /// The next row of a result.
    pub(crate) fn next(&self, ticket: u64, row: &mut RowBytes) -> Result<Next> {
        let mut state = self.state.lock();
        let state = &mut *state;
        if let Some(rows) = state.aside.remove(&ticket) {
            return rows.map(Next::Rows);
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
        match state.command("COMMIT") {
            Ok((tag, _)) if tag == "COMMIT" => Ok(()),
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
        self.connected(state, settings)?;
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
        self.connected(state, "")?;
        state.link.as_mut().ok_or_else(broken)?.query(sql);
        let (mut rows, mut failed, mut row) = (Vec::new(), None, RowBytes::default());
        loop {
            match state.reply(&mut row)? {
                Reply::Row => {
                    let text = |at| row.cell(at).map(|cell| String::from_utf8_lossy(cell).into_owned());
                    rows.push((0..row.cells.len()).map(text).collect());
                }
                Reply::Failed(error) => failed = Some(error),
                Reply::Ready { .. } => return failed.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }
}

/// What a running statement says.
enum Answer {
    Row,
    Complete(u64),
    Suspended,
}

impl State {
    /// The connection is over, and what was open on it.
    fn break_off(&mut self) {
        self.link = None;
        self.canceller = None;
        self.running = None;
        self.prepared.clear();
        self.lost |= self.begun;
        self.is_over();
    }

    /// The transaction is over.
    fn is_over(&mut self) {
        self.begun = false;
        self.savepoints = 0;
        (self.pointed, self.has_point) = (false, false);
        self.parts.clear();
        self.closing.clear();
    }

    fn reply(&mut self, row: &mut RowBytes) -> Result<Reply> {
        let Some(link) = &mut self.link else { return Err(if self.lost { lost() } else { broken() }) };
        loop {
            match link.reply(row) {
                Ok(Reply::Notice(notice)) => self.notices.push(notice),
                Ok(reply) => return Ok(reply),
                Err(error) => {
                    self.break_off();
                    return Err(error);
                }
            }
        }
    }

    /// What the statement that runs says next; where it fails, the line is free again.
    fn answer(&mut self, row: &mut RowBytes) -> Result<Answer> {
        if let Some(first) = self.running.as_mut().and_then(|running| running.first.take()) {
            *row = first;
            return Ok(Answer::Row);
        }
        loop {
            match self.reply(row)? {
                Reply::Row => return Ok(Answer::Row),
                Reply::Complete(_, rows) => return Ok(Answer::Complete(rows)),
                Reply::Suspended => return Ok(Answer::Suspended),
                Reply::Failed(error) => return Err(self.failed(error)),
                Reply::Ready { .. } => {
                    self.running = None;
                    return Ok(Answer::Complete(0));
                }
                Reply::Columns(_) | Reply::Notice(_) => {}
            }
        }
    }

    /// Whether the first row comes, or an error.
    fn peek(&mut self) -> Result<()> {
        let mut row = RowBytes::default();
        match self.answer(&mut row)? {
            Answer::Row => {
                if let Some(running) = &mut self.running {
                    running.first = Some(row);
                }
            }
            // A part that ends has rows.
            Answer::Complete(_) | Answer::Suspended => self.finish()?,
        }
        Ok(())
    }

    /// The answers to so many statements that stand before the session's own.
    fn pass(&mut self, steps: usize) -> Result<()> {
        let mut row = RowBytes::default();
        for _ in 0..steps {
            self.answer(&mut row)?;
        }
        Ok(())
    }

    /// The statement has failed: what is left of the pipeline is passed over, and what it had begun is undone.
    fn failed(&mut self, error: Error) -> Error {
        let alone = self.running.take().is_some_and(|running| running.alone);
        // What else fails behind it is told by the first failure.
        if let Err(worse) = self.ready()
            && self.link.is_none()
        {
            return worse;
        }
        if alone && let Err(worse) = self.go_back() {
            return worse;
        }
        error
    }

    /// The end of the pipeline, which may fail when all of its statements have not: it commits what is no transaction's.
    fn ready(&mut self) -> Result<()> {
        let (mut row, mut failed) = (RowBytes::default(), None);
        loop {
            match self.reply(&mut row)? {
                Reply::Failed(error) => failed = Some(error),
                Reply::Ready { .. } => return failed.map_or(Ok(()), Err),
                _ => {}
            }
        }
    }

    /// The statement has ended well: the line is free.
    fn finish(&mut self) -> Result<()> {
        if let Some(running) = self.running.take() {
            self.ready()?;
            if running.parted {
                self.closing.push(running.ticket);
            }
        }
        Ok(())
    }

    /// A part of a cursor is over: the line is free, and the cursor may go on.
    fn suspend(&mut self) -> Result<()> {
        if let Some(running) = self.running.take() {
            self.ready()?;
            self.parts.insert(running.ticket, running);
        }
        Ok(())
    }

    /// Nobody wants the rest of what runs: what has come is passed over, and what has not need not.
    fn abandon(&mut self) -> Result<()> {
        let mut row = RowBytes::default();
        if !self.begun {
            for _ in 0..PASSED_OVER {
                if self.running.is_none() || !self.link.as_mut().is_some_and(|link| link.has_reply()) {
                    break;
                }
                if let Answer::Complete(_) = self.answer(&mut row)? {
                    self.finish()?;
                }
            }
            // Without a transaction nothing but the query fails of it.
            if let (Some(_), Some(cancel)) = (&self.running, self.canceller.clone()) {
                cancel.cancel(true);
            }
        }
        self.skip()
    }

    /// What the running statement has still to say is for nobody.
    fn skip(&mut self) -> Result<()> {
        let mut row = RowBytes::default();
        while self.running.is_some() {
            match self.answer(&mut row)? {
                Answer::Row => {}
                Answer::Complete(_) | Answer::Suspended => self.finish()?,
            }
        }
        Ok(())
    }

    /// The rest of what the line carries is put aside.
    fn make_way(&mut self) -> Result<()> {
        let Some(running) = &self.running else { return Ok(()) };
        let (ticket, readers) = (running.ticket, running.readers.clone());
        let mut spool = Spool::new(readers.len());
        let mut values = vec![Value::Null; readers.len()];
        let mut row = RowBytes::default();
        if let Some(Ok(mut before)) = self.aside.remove(&ticket) {
            while before.advance()? {
                spool.push((0..before.columns()).map(|at| before.column(at)))?;
            }
        }
        let ended = loop {
            match self.answer(&mut row) {
                Ok(Answer::Row) => {
                    let kept = super::values::read_row(&readers, &row, &mut values)
                        .and_then(|()| spool.push(values.iter().map(Value::as_ref)));
                    if let Err(error) = kept {
                        self.skip()?;
                        break Err(error);
                    }
                }
                Ok(Answer::Complete(_)) => {
                    self.finish()?;
                    break Ok(());
                }
                Ok(Answer::Suspended) => {
                    self.suspend()?;
                    break Ok(());
                }
                // It is that result's failure; who wants the line meets it only where the line is gone.
                Err(error) => break Err(error),
            }
        };
        self.aside.insert(ticket, ended.and_then(|()| spool.into_reader()));
        Ok(())
    }

    /// What a cursor has still to yield is put aside.
    fn read_all(&mut self, ticket: u64) -> Result<()> {
        self.make_way()?;
        while self.parts.contains_key(&ticket) && !self.aside.get(&ticket).is_some_and(Result::is_err) {
            self.next_part(ticket)?;
            self.make_way()?;
        }
        Ok(())
    }

    /// Asks for the next part of a cursor of the transaction.
    fn next_part(&mut self, ticket: u64) -> Result<()> {
        self.make_way()?;
        let Some(mut running) = self.parts.remove(&ticket) else {
            return Err(Error::new(Condition::InvalidCursorName, "the cursor's transaction has ended"));
        };
        let within = Within { transaction: Some(Modes::default()), savepoints: self.savepoints, alone: running.alone };
        let steps = self.put_transaction(&within)?;
        let link = self.link.as_mut().ok_or_else(broken)?;
        link.run(&format!("rf_{ticket}"), PART);
        link.sync();
        self.pointed = false;
        running.first = None;
        self.running = Some(running);
        self.pass(steps)
    }

    /// What stands before a statement in its pipeline; how many answers that has.
    fn put_transaction(&mut self, within: &Within) -> Result<usize> {
        let link = self.link.as_mut().ok_or_else(broken)?;
        for ticket in self.closing.drain(..) {
            link.close_portal(&format!("rf_{ticket}"));
        }
        let Some(modes) = within.transaction else { return Ok(0) };
        let mut steps = 0;
        let mut put = |words: &str| {
            link.statement(words);
            steps += 1;
        };
        if !self.begun {
            put(&begin_words(modes));
            self.begun = true;
        }
        if self.has_point && (self.savepoints < within.savepoints || within.alone && !self.pointed) {
            put(&format!("RELEASE SAVEPOINT {POINT}"));
            (self.pointed, self.has_point) = (false, false);
        }
        while self.savepoints < within.savepoints {
            put(&format!("SAVEPOINT rf_{}", self.savepoints));
            self.savepoints += 1;
        }
        if within.alone && !self.pointed {
            put(&format!("SAVEPOINT {POINT}"));
            (self.pointed, self.has_point) = (true, true);
        }
        Ok(steps)
    }

    /// What the statement that has failed did is undone.
    fn go_back(&mut self) -> Result<()> {
        self.command(&format!("ROLLBACK TO SAVEPOINT {POINT}"))?;
        (self.pointed, self.has_point) = (true, true);
        Ok(())
    }

    /// A text of statements of our own; the tag of the last of them.
    fn command(&mut self, words: &str) -> Result<(String, u64)> {
        if words.is_empty() {
            return Ok(Default::default());
        }
        self.link.as_mut().ok_or_else(broken)?.query(words);
        let (mut last, mut failed, mut row) = (Default::default(), None, RowBytes::default());
        loop {
            match self.reply(&mut row)? {
                Reply::Complete(tag, rows) => last = (tag, rows),
                Reply::Failed(error) => failed = Some(error),
                Reply::Ready { .. } => return failed.map_or(Ok(last), Err),
                _ => {}
            }
        }
    }

    /// Prepares a statement, and finds out how its columns come.
    fn prepare(&mut self, name: &str, request: &Request<'_>, steps: usize) -> Result<Columns> {
        let alone = request.within.alone && request.within.transaction.is_some();
        self.running = Some(Running { ticket: 0, readers: Arc::from([]), alone, parted: false, first: None });
        let oldest = (self.prepared.len() >= MAX_PREPARED)
            .then(|| self.prepared.iter().min_by_key(|(_, kept)| kept.used).map(|(plan, _)| *plan))
            .flatten();
        let link = self.link.as_mut().ok_or_else(broken)?;
        if let Some(oldest) = oldest {
            link.close_statement(&format!("rf_{oldest}"));
            self.prepared.remove(&oldest);
        }
        link.prepare(name, &request.there.said.sql);
        link.sync();
        self.pass(steps)?;
        let (mut row, mut types) = (RowBytes::default(), Vec::new());
        loop {
            match self.reply(&mut row)? {
                Reply::Columns(found) => types = found,
                Reply::Failed(error) => return Err(self.failed(error)),
                Reply::Ready { .. } => break,
                _ => {}
            }
        }
        self.running = None;
        let wanted = if request.there.said.returns_numbers { &[Type::Int8][..] } else { request.columns };
        // Rows of a change that nobody has asked for are not there.
        let readers: Arc<[Reader]> = wanted.iter().zip(&types).map(|(ty, oid)| Reader::new(ty, *oid)).collect();
        if readers.len() != types.len() && !wanted.is_empty() {
            return Err(Error::internal("the server behind answers with other columns"));
        }
        let formats: Arc<[u16]> = readers.iter().map(Reader::format).collect();
        let kept = Kept { used: self.clock, readers: readers.clone(), formats: formats.clone() };
        self.prepared.insert(request.plan, kept);
        Ok((readers, formats))
    }
}

fn begin_words(modes: Modes) -> String {
    let level = match modes.isolation {
        Some(Isolation::RepeatableRead) => " ISOLATION LEVEL REPEATABLE READ",
        Some(Isolation::Serializable) => " ISOLATION LEVEL SERIALIZABLE",
        _ => " ISOLATION LEVEL READ COMMITTED",
    };
    format!("BEGIN{level}{}", if modes.read_only { " READ ONLY" } else { "" })
}
