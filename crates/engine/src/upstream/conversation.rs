//! What is on a line, and what comes next: a pipeline's answers in their order, rows that make way, the point to go back to.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use rowferry_dialect::ir::Isolation;
use rowferry_dialect::lower::postgres::{LOOP, NO_DAY, NO_ROOM, NOT_SHOWN};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::line::{Modes, Request, Within};
use super::values::Reader;
use super::{Canceller, Link, Reply, RowBytes};
use crate::ir::Value;
use crate::spool::{Spool, SpoolReader};

/// Statements that a connection keeps prepared; the one that was used longest ago gives way.
const MAX_PREPARED: usize = 256;
/// Statements that have failed as they ran for the first time; beyond, the server forgets them.
const MAX_DOUBTFUL: usize = 64;
/// Rows of a part of a cursor in a transaction.
pub(super) const PART: u32 = 2_048;
/// Rows of a result that nobody wants any more that are read before the server is asked to stop.
const PASSED_OVER: usize = 1_000;
/// The savepoint to which a statement that fails goes back.
const POINT: &str = "rf_statement";

/// What a statement of ours has no other way to say than by a text that is no number.
fn meant(error: Error) -> Error {
    if error.condition() != Condition::InvalidTextRepresentation {
        return error;
    }
    if error.message.contains(LOOP) {
        return Error::new(Condition::ConnectByLoop, LOOP);
    }
    if error.message.contains(NO_DAY) {
        return Error::new(Condition::DatetimeArithmeticOverflow, NO_DAY);
    }
    if error.message.contains(NO_ROOM) {
        return Error::new(Condition::ConvertedTooLong, NO_ROOM);
    }
    let Some(at) = error.message.find(NOT_SHOWN) else { return error };
    let text = error.message[at..].trim_end_matches('"').trim_end_matches(|c: char| c.is_ascii_digit());
    Error::new(Condition::WithCheckOptionViolation, text)
}

/// A conversation with the server, and what is under way in it.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) link: Option<Box<dyn Link>>,
    pub(super) canceller: Option<Canceller>,
    /// A transaction is open there.
    pub(super) begun: bool,
    /// It was lost with the connection.
    pub(super) lost: bool,
    /// Savepoints of the session that are set there.
    pub(super) savepoints: usize,
    /// There is a point to go back to, and nothing has been changed or opened since.
    pub(super) pointed: bool,
    /// There is one, wherever.
    pub(super) has_point: bool,
    pub(super) prepared: HashMap<u64, Kept>,
    /// Statements that may be prepared there, which nobody has heard.
    pub(super) doubtful: HashSet<u64>,
    pub(super) clock: u64,
    /// When the connection was used last.
    pub(super) used: Option<Instant>,
    /// The result whose rows come next on the line.
    pub(super) running: Option<Running>,
    /// Results that had to make way.
    pub(super) aside: HashMap<u64, Result<SpoolReader>>,
    /// Cursors of the transaction that have more rows than have come.
    pub(super) parts: HashMap<u64, Running>,
    /// Cursors that nobody needs any more.
    pub(super) closing: Vec<u64>,
    pub(super) tickets: u64,
    pub(super) notices: Vec<Error>,
    /// What the session wants to be set there, and is.
    pub(super) settings: Set<String>,
    /// Whether foreign keys there look at nothing.
    pub(super) unchecked: Set<bool>,
}

/// Something that is set there. What is set in a transaction is undone with it.
#[derive(Debug)]
pub(super) struct Set<T> {
    /// `None` where nobody knows.
    value: Option<T>,
    /// It was set in the transaction that is open.
    within: bool,
}

impl<T> Default for Set<T> {
    fn default() -> Self {
        Self { value: None, within: false }
    }
}

impl<T> Set<T> {
    pub(super) const fn to(value: T) -> Self {
        Self { value: Some(value), within: false }
    }

    pub(super) fn is<U>(&self, value: &U) -> bool
    where
        T: Borrow<U>,
        U: PartialEq + ?Sized,
    {
        self.value.as_ref().is_some_and(|own| own.borrow() == value)
    }

    pub(super) fn set(&mut self, value: T, within: bool) {
        self.value = Some(value);
        self.within |= within;
    }

    /// The transaction, or a part of it, has been undone.
    fn undo(&mut self) {
        if self.within {
            self.value = None;
        }
    }
}

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) used: u64,
    pub(super) readers: Arc<[Reader]>,
    pub(super) formats: Arc<[u16]>,
}

/// What reads the columns of a statement, and the formats in which they are asked for.
pub(super) type Columns = (Arc<[Reader]>, Arc<[u16]>);

#[derive(Debug)]
pub(super) struct Running {
    pub(super) ticket: u64,
    pub(super) readers: Arc<[Reader]>,
    pub(super) alone: bool,
    /// It is a cursor of the transaction, which stays open there until it is closed.
    pub(super) parted: bool,
    /// The first row has been read already.
    pub(super) first: Option<RowBytes>,
}

pub(super) fn broken() -> Error {
    Error::new(Condition::ConnectionFailure, "the connection to the server behind is broken")
}

pub(super) fn lost() -> Error {
    let message =
        "the connection to the server behind was lost, and the transaction with it: nothing of it has been kept";
    Error::new(Condition::ConnectionFailure, message).hint("Roll it back and begin anew.")
}

/// What a running statement says.
pub(super) enum Answer {
    Row,
    Complete(u64),
    Suspended,
}

impl Conversation {
    /// The connection is over, and what was open on it.
    pub(super) fn break_off(&mut self) {
        self.link = None;
        self.canceller = None;
        self.running = None;
        self.prepared.clear();
        self.doubtful.clear();
        self.lost |= self.begun;
        self.is_over();
    }

    /// What was set since the transaction began may be so no more.
    pub(super) fn unset(&mut self) {
        self.settings.undo();
        self.unchecked.undo();
    }

    /// The transaction has ended: what was set in it is so for good, or no more.
    pub(super) fn settle(&mut self, committed: bool) {
        if !committed {
            self.unset();
        }
        (self.settings.within, self.unchecked.within) = (false, false);
    }

    /// The transaction is over.
    pub(super) fn is_over(&mut self) {
        self.begun = false;
        self.savepoints = 0;
        (self.pointed, self.has_point) = (false, false);
        self.parts.clear();
        self.closing.clear();
    }

    pub(super) fn reply(&mut self, row: &mut RowBytes) -> Result<Reply> {
        let Some(link) = &mut self.link else { return Err(if self.lost { lost() } else { broken() }) };
        loop {
            match link.reply(row) {
                Ok(Reply::Notice(notice)) => self.notices.push(notice),
                Ok(Reply::Failed(error)) => return Ok(Reply::Failed(meant(error))),
                Ok(reply) => return Ok(reply),
                Err(error) => {
                    self.break_off();
                    return Err(error);
                }
            }
        }
    }

    /// Takes the result's next row if it has come already: nobody waits for it, so that there is nothing to interrupt.
    pub(super) fn takes_row(&mut self, ticket: u64, row: &mut RowBytes) -> Result<bool> {
        match (&self.running, &mut self.link) {
            (Some(running), Some(link)) if running.ticket == ticket && running.first.is_none() => {
                let taken = link.next_row(row);
                if taken.is_err() {
                    self.break_off();
                }
                taken
            }
            _ => Ok(false),
        }
    }

    /// What the statement that runs says next; where it fails, the line is free again.
    pub(super) fn answer(&mut self, row: &mut RowBytes) -> Result<Answer> {
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
                Reply::Ready => {
                    self.running = None;
                    return Ok(Answer::Complete(0));
                }
                Reply::Columns(_) | Reply::Notice(_) => {}
            }
        }
    }

    /// Whether the first row comes, or an error.
    pub(super) fn peek(&mut self) -> Result<()> {
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
    pub(super) fn pass(&mut self, steps: usize) -> Result<()> {
        let mut row = RowBytes::default();
        for _ in 0..steps {
            self.answer(&mut row)?;
        }
        Ok(())
    }

    /// The statement has failed: what is left of the pipeline is passed over, and what it had begun is undone.
    pub(super) fn failed(&mut self, error: Error) -> Error {
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
    pub(super) fn ready(&mut self) -> Result<()> {
        let (mut row, mut failed) = (RowBytes::default(), None);
        loop {
            match self.reply(&mut row)? {
                Reply::Failed(error) => failed = Some(error),
                Reply::Ready => return failed.map_or(Ok(()), Err),
                _ => {}
            }
        }
    }

    /// The statement has ended well: the line is free.
    pub(super) fn finish(&mut self) -> Result<()> {
        if let Some(running) = self.running.take() {
            self.ready()?;
            if running.parted {
                self.closing.push(running.ticket);
            }
        }
        Ok(())
    }

    /// A part of a cursor is over: the line is free, and the cursor may go on.
    pub(super) fn suspend(&mut self) -> Result<()> {
        if let Some(running) = self.running.take() {
            self.ready()?;
            self.parts.insert(running.ticket, running);
        }
        Ok(())
    }

    /// Nobody wants the rest of what runs: what has come is passed over, and what has not need not.
    pub(super) fn abandon(&mut self) -> Result<()> {
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
    pub(super) fn skip(&mut self) -> Result<()> {
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
    pub(super) fn make_way(&mut self) -> Result<()> {
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
    pub(super) fn read_all(&mut self, ticket: u64) -> Result<()> {
        self.make_way()?;
        while self.parts.contains_key(&ticket) && !self.aside.get(&ticket).is_some_and(Result::is_err) {
            self.next_part(ticket)?;
            self.make_way()?;
        }
        Ok(())
    }

    /// Asks for the next part of a cursor of the transaction.
    pub(super) fn next_part(&mut self, ticket: u64) -> Result<()> {
        self.make_way()?;
        let Some(mut running) = self.parts.remove(&ticket) else {
            return Err(Error::new(Condition::InvalidCursorName, "the cursor's transaction has ended"));
        };
        let within = Within {
            transaction: Some(Modes::default()),
            savepoints: self.savepoints,
            alone: running.alone,
            unchecked: false,
        };
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
    pub(super) fn put_transaction(&mut self, within: &Within) -> Result<usize> {
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
    pub(super) fn go_back(&mut self) -> Result<()> {
        self.command(&format!("ROLLBACK TO SAVEPOINT {POINT}"))?;
        self.unset();
        (self.pointed, self.has_point) = (true, true);
        Ok(())
    }

    /// A text of statements of our own; the tag of the last of them.
    pub(super) fn command(&mut self, words: &str) -> Result<(String, u64)> {
        if words.is_empty() {
            return Ok(Default::default());
        }
        self.link.as_mut().ok_or_else(broken)?.query(words);
        let (mut last, mut failed, mut row) = (Default::default(), None, RowBytes::default());
        loop {
            match self.reply(&mut row)? {
                Reply::Complete(tag, rows) => last = (tag, rows),
                Reply::Failed(error) => failed = Some(error),
                Reply::Ready => return failed.map_or(Ok(last), Err),
                _ => {}
            }
        }
    }

    /// Prepares a statement, in the pipeline that is being made.
    pub(super) fn put_prepare(&mut self, name: &str, request: &Request<'_>) -> Result<()> {
        let oldest = (self.prepared.len() >= MAX_PREPARED)
            .then(|| self.prepared.iter().min_by_key(|(_, kept)| kept.used).map(|(plan, _)| *plan))
            .flatten();
        let link = self.link.as_mut().ok_or_else(broken)?;
        if let Some(oldest) = oldest {
            link.close_statement(&format!("rf_{oldest}"));
            self.prepared.remove(&oldest);
        }
        if self.doubtful.len() >= MAX_DOUBTFUL {
            for doubtful in self.doubtful.drain() {
                link.close_statement(&format!("rf_{doubtful}"));
            }
        }
        // One that has failed may be prepared there, or not.
        if !self.doubtful.insert(request.plan) {
            link.close_statement(name);
        }
        link.prepare(name, &request.there.said.sql);
        Ok(())
    }

    /// How the columns of a statement come that is prepared and runs in one pipeline: this time, as texts.
    pub(super) fn described(&mut self, request: &Request<'_>) -> Result<Arc<[Reader]>> {
        let mut row = RowBytes::default();
        let types = loop {
            match self.reply(&mut row)? {
                Reply::Columns(found) => break found,
                Reply::Failed(error) => return Err(self.failed(error)),
                _ => {}
            }
        };
        let kept = match self.kept(request, &types) {
            Ok((readers, _)) => readers,
            Err(error) => {
                self.skip()?;
                return Err(error);
            }
        };
        let readers: Arc<[Reader]> = kept.iter().map(Reader::of_text).collect();
        if let Some(running) = &mut self.running {
            running.readers = readers.clone();
        }
        Ok(readers)
    }

    /// Keeps what is known of a statement that is prepared there.
    pub(super) fn kept(&mut self, request: &Request<'_>, types: &[u32]) -> Result<Columns> {
        let said = &request.there.said;
        let told = said.told_columns();
        let wanted = if told > 0 { &[Type::Int8, Type::Int8, Type::Int8][..told] } else { request.columns };
        // Rows of a change that nobody has asked for are not there.
        let readers: Arc<[Reader]> = wanted.iter().zip(types).map(|(ty, oid)| Reader::new(ty, *oid)).collect();
        if readers.len() != types.len() && !wanted.is_empty() {
            return Err(Error::internal("the server behind answers with other columns"));
        }
        let formats: Arc<[u16]> = readers.iter().map(Reader::format).collect();
        let kept = Kept { used: self.clock, readers: readers.clone(), formats: formats.clone() };
        self.prepared.insert(request.plan, kept);
        self.doubtful.remove(&request.plan);
        Ok((readers, formats))
    }

    /// Prepares a statement, and finds out how its columns come.
    pub(super) fn prepare(&mut self, name: &str, request: &Request<'_>, steps: usize) -> Result<Columns> {
        let alone = request.within.alone && request.within.transaction.is_some();
        self.running = Some(Running { ticket: 0, readers: Arc::from([]), alone, parted: false, first: None });
        self.put_prepare(name, request)?;
        self.link.as_mut().ok_or_else(broken)?.sync();
        self.pass(steps)?;
        let (mut row, mut types) = (RowBytes::default(), Vec::new());
        loop {
            match self.reply(&mut row)? {
                Reply::Columns(found) => types = found,
                Reply::Failed(error) => return Err(self.failed(error)),
                Reply::Ready => break,
                _ => {}
            }
        }
        self.running = None;
        self.kept(request, &types)
    }
}

pub(super) fn begin_words(modes: Modes) -> String {
    let level = match modes.isolation {
        Some(Isolation::RepeatableRead) => " ISOLATION LEVEL REPEATABLE READ",
        Some(Isolation::Serializable) => " ISOLATION LEVEL SERIALIZABLE",
        _ => " ISOLATION LEVEL READ COMMITTED",
    };
    format!("BEGIN{level}{}", if modes.read_only { " READ ONLY" } else { "" })
}
