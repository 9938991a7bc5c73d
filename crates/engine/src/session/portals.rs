//! Portals: the cursors of DECLARE and those that the door's protocol binds are one name space, for FETCH, MOVE and CLOSE
//! as for the door's messages.

use std::any::Any;
use std::sync::Arc;

use rowferry_dialect::ir::{FetchDirection, Query, Statement as Ir, Value};
use rowferry_dialect::plan::{Command, ResultColumn};
use rowferry_dialect::postgres::{self, Positions};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Condition, Error, Result, budget, optimise, work};

use super::compile::Uses;
use super::names::Thing;
use super::transaction::Block;
use super::{Outcome, Prepared, Session};
use crate::backend::{Backend as _, InUse, Yield};
use crate::cursor::{Cursor, Row};
use crate::memory::Charge;
use crate::plans::next_id;
use crate::spool::Spool;

/// What a door keeps with a portal that it has bound: how its rows are sent.
pub type DoorPart = Arc<dyn Any + Send + Sync>;

/// A statement with its parameters, not run yet or somewhere among its rows.
#[derive(Debug)]
pub(super) struct Portal {
    /// Its statement; `None` when the text held none.
    plan: Option<Arc<Prepared>>,
    rows: Rows,
    /// What DECLARE has said of it.
    declared: Option<Declared>,
    door: Option<DoorPart>,
    /// What the log calls it, where it is logged.
    source: Option<Box<str>>,
    /// For WHERE CURRENT OF; `None` for what DECLARE has not made.
    positions: Option<Positions>,
    /// The tables' rows under the cursor; `None` before the first row, behind the last, and where nobody knows.
    current: Option<Vec<Value>>,
    /// How many savepoints there were when it was made; `None` once it has outlived its transaction.
    level: Option<usize>,
    created: i64,
}

#[derive(Clone, Debug)]
struct Declared {
    /// DECLARE itself.
    text: Arc<str>,
    /// WITH HOLD: it outlives its transaction.
    hold: bool,
    /// BINARY: a simple query fetches it in the binary format.
    binary: bool,
    /// A loop of a routine goes through it: it outlives a transaction that the routine ends.
    pinned: bool,
}

#[derive(Debug)]
enum Rows {
    /// Not run yet; with its parameters.
    Ready(Vec<Value>),
    /// Forward only: rows are pulled as they are fetched. The row where it stands is not kept.
    Forward { cursor: Cursor, at: i64 },
    /// SCROLL: rows that have been fetched can be fetched again. 0 is before the first.
    Scroll { cursor: Option<Cursor>, seen: Seen, at: usize },
    /// Run to its end.
    Done,
    /// It is being run, or failed when it was.
    Running,
}

/// Rows that can be fetched again; the session is charged for them.
#[derive(Debug, Default)]
struct Seen {
    rows: Vec<Vec<Value>>,
    charge: Charge,
}

impl Seen {
    fn push(&mut self, row: &Row<'_>) -> Result<()> {
        let bytes = (0..row.len()).map(|column| match row.get(column) {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() + size_of::<Value>(),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => size_of::<Value>(),
        });
        let bytes = bytes.sum();
        work::step(bytes)?;
        self.charge.grow(bytes)?;
        self.rows.push((0..row.len()).map(|column| owned(row.get(column))).collect());
        Ok(())
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, row: usize) -> Option<&Vec<Value>> {
        self.rows.get(row)
    }
}

/// Bytes of memory that a value takes.
fn bytes_of(value: &Value) -> usize {
    let bytes = match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::Null | Value::Integer(_) | Value::Real(_) => 0,
    };
    size_of::<Value>() + bytes
}

/// What `pg_cursors` shows.
#[derive(Clone, Debug)]
pub struct PortalFacts {
    /// Its statement's text.
    pub text: Arc<str>,
    /// WITH HOLD.
    pub hold: bool,
    /// BINARY.
    pub binary: bool,
    /// SCROLL.
    pub scroll: bool,
    /// When it was made: microseconds since 1970.
    pub created: i64,
}

/// How a door goes on with a portal.
#[derive(Debug)]
pub enum Resume {
    /// Its text held no statement.
    Empty,
    /// It has not been run: the statement, with its parameters.
    Start(Arc<Prepared>, Vec<Value>),
    /// Its rows go on here; the cursor is given back by [`Session::suspend_portal`] while there are more.
    Rows {
        /// The rows.
        cursor: Cursor,
        /// How many have been read before.
        at: u64,
    },
    /// The rows asked for, of one that goes both ways, which keeps the rest.
    Fetched {
        /// Them.
        rows: Cursor,
        /// There may be more.
        more: bool,
    },
    /// All its rows have been read.
    Done(Command),
}

impl Thing for Portal {
    type Facts = PortalFacts;
    const PLURAL: &'static str = "portals";

    fn facts(&self) -> PortalFacts {
        let of_plan = || self.plan.as_ref().map(|plan| plan.parsed.shared_text()).unwrap_or_else(|| "".into());
        let declared = self.declared.as_ref();
        PortalFacts {
            text: declared.map_or_else(of_plan, |declared| declared.text.clone()),
            hold: declared.is_some_and(|declared| declared.hold),
            binary: declared.is_some_and(|declared| declared.binary),
            scroll: matches!(self.rows, Rows::Scroll { .. }),
            created: self.created,
        }
    }

    fn size(&self) -> usize {
        let params = match &self.rows {
            Rows::Ready(params) => params.iter().map(bytes_of).sum(),
            _ => 0,
        };
        size_of::<Self>() + params
    }

    fn taken(name: &str) -> Error {
        Error::new(Condition::DuplicateCursor, format!("cursor \"{name}\" already exists"))
    }

    fn missing(name: &str) -> Error {
        Error::new(Condition::InvalidCursorName, format!("portal \"{name}\" does not exist"))
    }
}

/// FETCH and CLOSE say it in their own words.
fn no_cursor(name: &str) -> Error {
    Error::new(Condition::InvalidCursorName, format!("cursor \"{name}\" does not exist"))
}

fn cannot_run(name: &str) -> Error {
    Error::new(Condition::ObjectNotInPrerequisiteState, format!("portal \"{name}\" cannot be run"))
}

/// What the log calls the execution of a portal.
fn source(statement: &str, portal: &str) -> Box<str> {
    let statement = if statement.is_empty() { "<unnamed>" } else { statement };
    match portal {
        "" => format!("execute {statement}").into(),
        portal => format!("execute {statement}/{portal}").into(),
    }
}

/// What the door's protocol does with portals.
impl Session {
    /// Fails when a new portal cannot have this name.
    pub fn check_portal_name(&self, name: &str) -> Result<()> {
        self.portals.check_free(name)
    }

    /// Keeps a statement with its parameters under a name that [`Session::check_portal_name`] allowed; the empty name is
    /// the unnamed one.
    pub fn keep_portal(
        &mut self,
        name: &str,
        plan: Option<Arc<Prepared>>,
        params: Vec<Value>,
        door: DoorPart,
        statement: &str,
    ) -> Result<()> {
        let source = self.wanted.logged.any().then(|| source(statement, name));
        let created = if name.is_empty() { 0 } else { super::state::now() };
        let level = Some(self.transaction.savepoints.len());
        let (positions, current) = (None, None);
        let rows = Rows::Ready(params);
        let portal =
            Portal { plan, rows, declared: None, door: Some(door), source, positions, current, level, created };
        self.portals.insert(name, portal)
    }

    /// A portal's statement, `None` when its text held none, and what the door has kept with it: nothing for a cursor of
    /// DECLARE.
    pub fn portal(&self, name: &str) -> Result<(Option<&Arc<Prepared>>, Option<&DoorPart>)> {
        let portal = self.portals.get(name)?;
        Ok((portal.plan.as_ref(), portal.door.as_ref()))
    }

    /// Goes on with a portal for at most `limit` rows. Until [`Session::suspend_portal`] or [`Session::finish_portal`]
    /// it counts as failed.
    pub fn resume_portal(&mut self, name: &str, limit: Option<u64>) -> Result<Resume> {
        let portal = self.portals.get_mut(name)?;
        let Some(plan) = portal.plan.clone() else { return Ok(Resume::Empty) };
        // The door reads the rows by itself.
        portal.current = None;
        match std::mem::replace(&mut portal.rows, Rows::Running) {
            Rows::Ready(params) => {
                self.source = portal.source.take();
                Ok(Resume::Start(plan, params))
            }
            Rows::Forward { mut cursor, at } => {
                cursor.resume();
                Ok(Resume::Rows { cursor, at: at.unsigned_abs() })
            }
            Rows::Scroll { mut cursor, mut seen, mut at } => {
                let wanted = limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
                let mut spool = Rest::new(plan.bound.columns.len());
                scroll(&mut cursor, &mut seen, &mut at, FetchDirection::Forward(wanted), &mut spool)?;
                let spool = spool.spool;
                portal.rows = Rows::Scroll { cursor, seen, at };
                let more = limit.is_some_and(|limit| spool.rows() == limit);
                let rows = Cursor::spooled(spool.into_reader()?, plan, self.interrupter.clone(), 0);
                Ok(Resume::Fetched { rows, more })
            }
            Rows::Done if plan.returns_rows() => {
                portal.rows = Rows::Done;
                Ok(Resume::Done(plan.command))
            }
            Rows::Done | Rows::Running => Err(cannot_run(name)),
        }
    }

    /// Gives the rows back that a portal has still to send, if its statement has not closed it; `at` is how many have
    /// been read of them all.
    pub fn suspend_portal(&mut self, name: &str, mut cursor: Cursor, at: u64) {
        cursor.pause();
        if let Ok(portal) = self.portals.get_mut(name) {
            portal.rows = Rows::Forward { cursor, at: i64::try_from(at).unwrap_or(i64::MAX) };
        }
    }

    /// A portal has run to its end.
    pub fn finish_portal(&mut self, name: &str) {
        if let Ok(portal) = self.portals.get_mut(name) {
            portal.rows = Rows::Done;
        }
    }

    /// Forgets a portal; true when there was one.
    pub fn close_portal(&mut self, name: &str) -> bool {
        self.portals.remove(name)
    }

    /// True for a cursor that was declared BINARY.
    pub fn is_binary_cursor(&self, name: &str) -> bool {
        let declared = self.portals.get(name).ok().and_then(|portal| portal.declared.as_ref());
        declared.is_some_and(|declared| declared.binary)
    }
}

/// What SQL does with them.
impl Session {
    pub(super) fn declare(&mut self, prepared: &Arc<Prepared>, declare: Declare<'_>, params: &[Value]) -> Result<()> {
        let Declare { name, scroll, hold, binary, query } = declare;
        if name.is_empty() {
            return Err(Error::new(Condition::InvalidCursorName, "invalid cursor name: must not be empty"));
        }
        if matches!(self.transaction.block, Block::None | Block::Pipeline) && !hold {
            return Err(super::utility::only_in_blocks("DECLARE CURSOR"));
        }
        self.portals.check_free(name)?;
        let (plan, positions) = self.positioned(prepared, query)?;
        let Outcome::Rows(cursor) = self.run_query(&plan, params)? else {
            return Err(Error::internal("a query without rows"));
        };
        let rows = if scroll {
            Rows::Scroll { cursor: Some(cursor), seen: Seen::default(), at: 0 }
        } else {
            Rows::Forward { cursor, at: 0 }
        };
        let declared = Declared { text: prepared.parsed.whole_text(), hold, binary, pinned: false };
        let level = Some(self.transaction.savepoints.len());
        let created = super::state::now();
        let (plan, declared, positions) = (Some(plan), Some(declared), Some(positions));
        let portal =
            Portal { plan, rows, declared, door: None, source: None, positions, current: None, level, created };
        self.portals.insert(name, portal)
    }

    /// The plan of a cursor's query, which yields the places of its tables' rows, too.
    fn positioned(&self, prepared: &Prepared, query: &Query) -> Result<(Arc<Prepared>, Positions)> {
        let columns = query.columns.iter().map(|column| ResultColumn {
            name: column.name.clone(),
            ty: column.ty.clone(),
            origin: None,
            not_null: false,
            identity: false,
            listed: None,
        });
        let columns = match prepared.bound.columns.len() == query.columns.len() {
            true => prepared.bound.columns.clone(),
            false => columns.collect(),
        };
        let _budget = budget::begin(prepared.size);
        let _passes = optimise::choose(self.passes());
        let (query, positions) = postgres::with_positions(query);
        let mut bound = prepared.bound.clone();
        let program = InUse::lower_query(&query, Yield::Sent)?;
        bound.statement = Ir::Query(Box::new(query));
        bound.columns = columns;
        let plan = Arc::new(Prepared {
            in_parts: false,
            program: Some(program),
            uses: Uses::of(&bound.statement),
            direct: None,
            bound,
            command: Command::Select,
            elsewhere: prepared.elsewhere.clone(),
            there: None,
            upstream: None,
            made_for: prepared.made_for.clone(),
            triggers: None,
            id: next_id(),
            parsed: prepared.parsed.clone(),
            declared: prepared.declared.clone(),
            size: prepared.size,
            counting: Default::default(),
            rewritten: Vec::new(),
            kept_parts: std::sync::OnceLock::new(),
            door_parts: Default::default(),
        });
        Ok((plan, positions))
    }

    /// The rowid of the row of a table that a cursor stands on, for WHERE CURRENT OF; none where an outer join has made
    /// it up.
    ///
    /// # Errors
    /// `34000` for a cursor that is not there, `24000` for one that is not on a row of the table.
    pub(super) fn row_of_cursor(&self, name: &str, table: &Relation) -> Result<Option<i64>> {
        let portal = self.portals.get(name).map_err(|_| no_cursor(name))?;
        let state = |message: String| Error::new(Condition::InvalidCursorState, message);
        if portal.level.is_none() {
            return Err(state(format!("cursor \"{name}\" is held from a previous transaction")));
        }
        let Some(positions) = &portal.positions else {
            return Err(Error::unsupported("WHERE CURRENT OF a cursor that DECLARE has not made"));
        };
        let at = positions.of(name, table)?;
        match portal.current.as_ref().and_then(|current| current.get(at)) {
            Some(Value::Integer(row)) => Ok(Some(*row)),
            Some(_) => Ok(None),
            None => Err(state(format!("cursor \"{name}\" is not positioned on a row"))),
        }
    }

    /// The columns that FETCH will yield; none when there is no such cursor yet.
    pub(super) fn columns_of_portal(&self, name: &str) -> Vec<ResultColumn> {
        let plan = self.portals.get(name).ok().and_then(|portal| portal.plan.as_ref());
        plan.map(|plan| plan.bound.columns.clone()).unwrap_or_default()
    }

    pub(super) fn fetch(
        &mut self,
        prepared: &Arc<Prepared>,
        name: &str,
        direction: FetchDirection,
        no_rows: bool,
    ) -> Result<Outcome> {
        let portal = self.portals.get_mut(name).map_err(|_| no_cursor(name))?;
        let plan = portal.plan.clone();
        let mut rows = std::mem::replace(&mut portal.rows, Rows::Running);
        let Some(plan) = plan.filter(|plan| plan.returns_rows()) else { return Err(cannot_run(name)) };
        if let Rows::Ready(params) = rows {
            rows = match self.dispatch(&plan, &params).map_err(|error| {
                self.without_hidden_values(error, &super::identity::changed_columns(&plan.bound.statement))
            })? {
                Outcome::Rows(cursor) => Rows::Forward { cursor, at: 0 },
                Outcome::Done { .. } => Rows::Done,
            };
        }
        let columns = plan.bound.columns.clone();
        let mut spool = Rest::new(columns.len());
        let stays = matches!(direction, FetchDirection::Forward(0) | FetchDirection::Relative(0));
        let mut moved = None;
        match &mut rows {
            // MOVE only says whether there is a row under the cursor.
            Rows::Forward { at, .. } if no_rows && stays => moved = Some(u64::from(*at > 0)),
            Rows::Forward { cursor, at } => forward(cursor, at, direction, &mut spool)?,
            Rows::Scroll { cursor, seen, at } => scroll(cursor, seen, at, direction, &mut spool)?,
            Rows::Done => forward_at_end(direction)?,
            Rows::Ready(_) | Rows::Running => return Err(cannot_run(name)),
        }
        if let Ok(portal) = self.portals.get_mut(name) {
            portal.rows = rows;
            if moved.is_none() {
                portal.current = spool.last;
            }
        }
        let spool = spool.spool;
        let count = moved.unwrap_or_else(|| spool.rows());
        if no_rows {
            return Ok(Outcome::Done { command: Command::Move, rows: count });
        }
        let mut bound = prepared.bound.clone();
        bound.columns = columns;
        let plan = Arc::new(Prepared {
            in_parts: false,
            bound,
            command: Command::Fetch,
            program: None,
            uses: Uses::default(),
            elsewhere: Vec::new(),
            there: None,
            upstream: None,
            made_for: prepared.made_for.clone(),
            triggers: None,
            direct: None,
            id: next_id(),
            parsed: prepared.parsed.clone(),
            declared: Vec::new(),
            size: 0,
            counting: Default::default(),
            rewritten: Vec::new(),
            kept_parts: std::sync::OnceLock::new(),
            door_parts: Default::default(),
        });
        self.rows(&plan, spool)
    }

    /// Opens a cursor of a routine.
    pub(crate) fn open_cursor(
        &mut self,
        name: &str,
        plan: &Arc<Prepared>,
        params: &[Value],
        scroll: bool,
    ) -> Result<()> {
        if self.portals.get(name).is_ok() {
            return Err(Error::new(Condition::DuplicateCursor, format!("cursor \"{name}\" already in use")));
        }
        // What calls functions of users or changes rows is run as it stands; no change is made by such a cursor.
        let (plan, positions) = match &plan.bound.statement {
            Ir::Query(query) if plan.direct.is_none() && !plan.in_parts => {
                let (plan, positions) = self.positioned(plan, query)?;
                (plan, Some(positions))
            }
            _ => (plan.clone(), None),
        };
        let Outcome::Rows(cursor) = self.execute(&plan, params)? else {
            return Err(Error::new(Condition::InvalidCursorDefinition, "cannot open query as cursor"));
        };
        let rows = if scroll {
            Rows::Scroll { cursor: Some(cursor), seen: Seen::default(), at: 0 }
        } else {
            Rows::Forward { cursor, at: 0 }
        };
        let declared = Declared { text: plan.parsed.shared_text(), hold: false, binary: false, pinned: false };
        let level = Some(self.transaction.savepoints.len());
        let created = super::state::now();
        let (plan, declared) = (Some(plan), Some(declared));
        let portal =
            Portal { plan, rows, declared, door: None, source: None, positions, current: None, level, created };
        self.portals.insert(name, portal)
    }

    /// FETCH, or MOVE without the rows, from a cursor of a routine.
    pub(crate) fn fetch_cursor(&mut self, name: &str, direction: FetchDirection, no_rows: bool) -> Result<Outcome> {
        let portal = self.portals.get(name).map_err(|_| no_cursor(name))?;
        let Some(plan) = portal.plan.clone() else { return Err(cannot_run(name)) };
        self.fetch(&plan, name, direction, no_rows)
    }

    /// A loop begins to go through a cursor.
    pub(crate) fn pin_cursor(&mut self, name: &str) {
        if let Ok(portal) = self.portals.get_mut(name)
            && let Some(declared) = &mut portal.declared
        {
            declared.pinned = true;
        }
    }

    /// A routine ends the transaction: what its loops go through is held as WITH HOLD has it.
    pub(super) fn hold_pinned_portals(&mut self) {
        self.portals.retain(|portal| {
            if let Some(declared) = portal.declared.as_mut().filter(|declared| declared.pinned) {
                declared.hold = true;
                portal.level = None;
            }
            true
        });
    }

    /// CLOSE of a cursor of a routine.
    pub(crate) fn close_named_cursor(&mut self, name: &str) -> Result<()> {
        self.close_cursor(Some(name))
    }

    /// A name that no cursor has.
    pub(crate) fn free_cursor_name(&self) -> String {
        let mut number = 1_u64;
        loop {
            let name = format!("<unnamed portal {number}>");
            if self.portals.get(&name).is_err() {
                return name;
            }
            number += 1;
        }
    }

    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<()> {
        match name {
            None => self.portals.clear_named(),
            Some(name) if self.portals.remove(name) => {}
            Some(name) => return Err(no_cursor(name)),
        }
        Ok(())
    }
}

/// What transactions do with them.
impl Session {
    /// The transaction is about to commit: its portals end with it. Those that are to be held read their rows first, so
    /// that they hold no snapshot.
    pub(super) fn commit_portals(&mut self) -> Result<()> {
        let mut holds = false;
        self.portals.retain(|portal| {
            let hold = portal.declared.as_ref().is_some_and(|declared| declared.hold);
            holds |= hold && portal.level.take().is_some();
            hold
        });
        if holds { self.materialise_cursors() } else { Ok(()) }
    }

    /// The transaction was rolled back: all portals that it has made are gone.
    pub(super) fn roll_back_portals(&mut self) {
        self.portals.retain(|portal| portal.level.is_none());
    }

    /// Rolled back to the savepoint `at`, counted from 0: portals made behind it are gone.
    pub(super) fn roll_back_portals_to(&mut self, at: usize) {
        self.portals.retain(|portal| portal.level.is_none_or(|level| level <= at));
    }

    /// The savepoint `at` was released: portals made behind it belong to what is around it.
    pub(super) fn release_portals(&mut self, at: usize) {
        self.portals.retain(|portal| {
            portal.level = portal.level.map(|level| level.min(at));
            true
        });
    }
}

/// DECLARE.
pub(super) struct Declare<'a> {
    /// The name.
    pub name: &'a str,
    /// SCROLL.
    pub scroll: bool,
    /// WITH HOLD.
    pub hold: bool,
    /// BINARY.
    pub binary: bool,
    /// The query.
    pub query: &'a Query,
}

fn backward() -> Error {
    Error::new(Condition::ObjectNotInPrerequisiteState, "cursor can only scan forward")
        .hint("Declare it with SCROLL option to enable backward scan.")
}

/// The rows of a FETCH, and where the last of them is among its tables' rows.
struct Rest {
    spool: Spool,
    columns: usize,
    last: Option<Vec<Value>>,
}

impl Rest {
    fn new(columns: usize) -> Self {
        Self { spool: Spool::new(columns), columns, last: None }
    }

    fn push<'v>(&mut self, row: impl ExactSizeIterator<Item = ValueRef<'v>> + Clone) -> Result<()> {
        self.last = (row.len() > self.columns).then(|| row.clone().skip(self.columns).map(owned).collect());
        self.spool.push(row.take(self.columns))
    }
}

/// FETCH from a portal whose rows have all been read.
fn forward_at_end(direction: FetchDirection) -> Result<()> {
    match direction {
        FetchDirection::Forward(0..) | FetchDirection::Relative(1..) | FetchDirection::Absolute(1..) => Ok(()),
        _ => Err(backward()),
    }
}

/// FETCH from a cursor that only goes forward.
fn forward(cursor: &mut Cursor, at: &mut i64, direction: FetchDirection, spool: &mut Rest) -> Result<()> {
    let (skip, count) = match direction {
        // Before the first row there is none to be fetched again.
        FetchDirection::Forward(0) | FetchDirection::Relative(0) if *at == 0 => return Ok(()),
        FetchDirection::Forward(0) | FetchDirection::Relative(0) => return Err(backward()),
        FetchDirection::Forward(count) if count > 0 => (0, count),
        FetchDirection::Relative(offset) if offset > 0 => (offset - 1, 1),
        FetchDirection::Absolute(row) if row > *at => (row - *at - 1, 1),
        _ => return Err(backward()),
    };
    let mut wanted = 0;
    while wanted < skip.saturating_add(count) {
        let Some(row) = cursor.next()? else {
            spool.last = None;
            break;
        };
        *at += 1;
        if wanted >= skip {
            spool.push((0..row.len()).map(|column| row.get(column)))?;
        }
        wanted += 1;
    }
    Ok(())
}

/// FETCH from a cursor that goes both ways: what has been read is kept.
fn scroll(
    cursor: &mut Option<Cursor>,
    seen: &mut Seen,
    at: &mut usize,
    direction: FetchDirection,
    spool: &mut Rest,
) -> Result<()> {
    let mut read_to = |seen: &mut Seen, row: usize| -> Result<()> {
        while seen.len() < row {
            let Some(open) = cursor else { break };
            let Some(row) = open.next()? else {
                *cursor = None;
                break;
            };
            seen.push(&row)?;
        }
        Ok(())
    };
    let mut push = |seen: &Seen, row: usize| match row.checked_sub(1).and_then(|row| seen.get(row)) {
        Some(values) => spool.push(values.iter().map(borrowed)),
        None => Ok(()),
    };
    let go_to = |row: i64| usize::try_from(row.max(0)).unwrap_or(usize::MAX);
    match direction {
        FetchDirection::Forward(0) | FetchDirection::Relative(0) => push(seen, *at)?,
        FetchDirection::Forward(count) if count > 0 => {
            for _ in 0..count {
                read_to(seen, at.saturating_add(1))?;
                *at = (*at + 1).min(seen.len() + 1);
                if *at > seen.len() {
                    break;
                }
                push(seen, *at)?;
            }
        }
        FetchDirection::Forward(count) | FetchDirection::Backward(count) => {
            for _ in 0..count.unsigned_abs() {
                *at = at.saturating_sub(1);
                if *at == 0 {
                    break;
                }
                push(seen, *at)?;
            }
        }
        FetchDirection::Absolute(row) if row < 0 => {
            read_to(seen, usize::MAX)?;
            *at = go_to(seen.len() as i64 + 1 + row);
            push(seen, *at)?;
        }
        FetchDirection::Absolute(_) | FetchDirection::Relative(_) => {
            let target = match direction {
                FetchDirection::Relative(offset) => go_to((*at as i64).saturating_add(offset)),
                FetchDirection::Absolute(row) => go_to(row),
                FetchDirection::Forward(_) | FetchDirection::Backward(_) => *at,
            };
            read_to(seen, target)?;
            *at = target.min(seen.len() + 1);
            push(seen, *at)?;
        }
    }
    if *at == 0 || *at > seen.len() {
        spool.last = None;
    }
    Ok(())
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

fn borrowed(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Integer(value) => ValueRef::Integer(*value),
        Value::Real(value) => ValueRef::Real(*value),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Blob(bytes) => ValueRef::Blob(bytes),
    }
}
