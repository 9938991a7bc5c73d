//! Rows on their way: threads that take parts of tables, read them, write them, and look at them again.
//!
//! A part that has a key goes in batches, each a transaction of the target's. Before one is committed the state says its
//! last key; whoever goes on after a break asks the target for that key, and knows whether the batch is there. So no row
//! is copied twice and none is left out. In a table that had rows before, the state says how many have that key with the
//! batch's own.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

use super::ddl::{key_literal, quoted, rows_of, selected};
use super::model::{Kind, Type};
use super::moment::Moment;
use super::peer::{Peer, Place, Trouble};
use super::plan::{Plan, Step};
use super::postgres::to_hex;
use super::progress::Progress;
use super::row::Row;
use super::state::{Begun, State, Unit};
use super::values::{Misfit, canonical, hash};
use super::{Arguments, Verify};
use crate::Failure;
use crate::stop::Stop;

/// All that the threads share.
pub(super) struct Work<'a> {
    pub arguments: &'a Arguments,
    pub moment: &'a Moment<'a>,
    pub to: &'a Place,
    pub plan: &'a Plan,
    pub stop: &'a Stop,
    pub progress: &'a Progress,
    pub state: Mutex<State>,
    pub path: &'a std::path::Path,
    /// Somebody has failed: nobody begins anything.
    pub over: AtomicBool,
}

/// A thread's connection to the target, made when it is needed.
type Writer = Option<Box<dyn Peer>>;

/// The value of an error for people: not too long, and no secrets of the terminal.
fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let short: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().count() > 60 { format!("`{short}…`") } else { format!("`{short}`") }
}

impl Work<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What a thread that panicked has left is as it was before.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn save(&self, state: &State) -> Result<(), Trouble> {
        state.save(self.path).map_err(Trouble::Failed)
    }

    fn go_on(&self) -> Result<(), Trouble> {
        if self.stop.asked() || self.over.load(Ordering::Relaxed) { Err(Trouble::Stopped) } else { Ok(()) }
    }

    /// Runs `each` for all of so many things, in `jobs` threads. `ready` says which may begin when some are over.
    fn in_threads(
        &self,
        count: usize,
        ready: &(dyn Fn(usize, &BTreeSet<usize>) -> bool + Sync),
        each: &(dyn Fn(usize, &mut Writer) -> Result<(), Trouble> + Sync),
    ) -> Result<(), Trouble> {
        struct Queue {
            waiting: Vec<usize>,
            running: usize,
            over: BTreeSet<usize>,
            trouble: Option<Trouble>,
        }
        let queue = Queue { waiting: (0..count).collect(), running: 0, over: BTreeSet::new(), trouble: None };
        let (queue, changed) = (Mutex::new(queue), Condvar::new());
        let lock = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        std::thread::scope(|scope| {
            for _ in 0..self.arguments.jobs().min(count) {
                scope.spawn(|| {
                    let mut writer = None;
                    let mut held = lock();
                    loop {
                        if held.trouble.is_some() || held.waiting.is_empty() {
                            return;
                        }
                        let next = held.waiting.iter().position(|&item| ready(item, &held.over));
                        // Where all of them wait for each other, one of them begins.
                        let next = next.or((held.running == 0).then_some(0));
                        let Some(at) = next else {
                            held = changed.wait(held).unwrap_or_else(std::sync::PoisonError::into_inner);
                            continue;
                        };
                        let item = held.waiting.remove(at);
                        held.running += 1;
                        drop(held);
                        let done = each(item, &mut writer);
                        held = lock();
                        held.running -= 1;
                        match done {
                            Ok(()) => drop(held.over.insert(item)),
                            Err(trouble) => {
                                self.over.store(true, Ordering::Relaxed);
                                // Those that stop because of the first one have nothing to say.
                                if matches!(held.trouble, None | Some(Trouble::Stopped)) {
                                    held.trouble = Some(trouble);
                                }
                            }
                        }
                        changed.notify_all();
                    }
                });
            }
        });
        let queue = queue.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        queue.trouble.map_or(Ok(()), Err)
    }

    /// Does a piece of work, again with new connections when they are lost, some times.
    fn retrying(
        &self,
        what: &str,
        writer: &mut Writer,
        piece: &dyn Fn(&mut Writer) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let mut lost = 0;
        loop {
            match piece(writer) {
                Err(Trouble::Lost(why)) if lost < self.arguments.retries => {
                    lost += 1;
                    self.progress.say(&format!("{what}: {why}; trying again ({lost} of {})", self.arguments.retries));
                    *writer = None;
                    // Half a second, a second and a half, three seconds, …
                    for _ in 0..5 * lost * (lost + 1) / 2 {
                        self.go_on()?;
                        self.stop.pause();
                    }
                }
                Err(Trouble::Lost(why)) => return Err(Failure::new(format!("{what}: {why}")).into()),
                Err(Trouble::Failed(failure)) if !failure.message.starts_with(what) => {
                    return Err(Failure { message: format!("{what}: {}", failure.message), ..failure }.into());
                }
                other => return other,
            }
        }
    }

    /// Reads from the source, as soon as one of its connections is free.
    fn read<T>(&self, work: impl FnOnce(&mut Box<dyn Peer>) -> Result<T, Trouble>) -> Result<T, Trouble> {
        self.moment.read(&|| self.go_on(), work)
    }

    fn target<'w>(&self, writer: &'w mut Writer) -> Result<&'w mut Box<dyn Peer>, Trouble> {
        if writer.is_none() {
            *writer = Some(self.to.open(self.stop)?);
        }
        Ok(writer.as_mut().expect("just made"))
    }

    /// Divides the tables into parts, and looks at what is on the target already.
    pub(super) fn divide(&self) -> Result<(), Trouble> {
        let state = self.lock();
        if state.divided {
            return Ok(());
        }
        drop(state);
        let found = Mutex::new(Vec::new());
        self.in_threads(self.plan.steps.len(), &|_, _| true, &|at, writer| {
            let step = &self.plan.steps[at];
            self.retrying(&step.table.name, writer, &|writer| {
                self.go_on()?;
                let (expected, units) = self.read(|source| self.parts(at, step, source))?;
                let mut before = None;
                if !step.action.makes() {
                    let target = self.target(writer)?;
                    let mut rows = count(target, self.plan.to, &step.table.name)?;
                    let mut sum = 0;
                    if self.arguments.verify == Verify::Checksums && rows > 0 {
                        (rows, sum) = self.look(step, target)?;
                    }
                    before = Some((rows, sum));
                }
                found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, expected, before, units));
                Ok(())
            })
        })?;
        let mut state = self.lock();
        state.units.clear();
        let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.sort_by_key(|(at, ..)| *at);
        for (at, expected, before, units) in found {
            state.tables[at].expected = expected;
            state.tables[at].before = before;
            state.units.extend(units);
        }
        // Large tables first, so that the last part is a small one.
        let expected: Vec<u64> = state.tables.iter().map(|table| table.expected).collect();
        state.units.sort_by_key(|unit| std::cmp::Reverse(expected[unit.table]));
        state.divided = true;
        self.save(&state)
    }

    /// The number of a table's rows, and its parts.
    fn parts(&self, at: usize, step: &Step, source: &mut Box<dyn Peer>) -> Result<(u64, Vec<Unit>), Trouble> {
        let kind = self.plan.from;
        let rows = number(source.ask(&format!("SELECT count(*) FROM {}", rows_of(kind, &step.table)))?);
        let whole = Unit { table: at, ..Unit::default() };
        if let (Kind::Sqlite, Some(walk)) = (kind, step.table.walk()) {
            // Of all databases SQLite alone takes it, and no comparison with a key finds such rows.
            let names = walk.iter().map(|&at| format!("{} IS NULL", quoted(kind, &step.table.columns[at].name)));
            let filter = names.collect::<Vec<_>>().join(" OR ");
            let sql = format!("SELECT count(*) FROM {} WHERE {filter}", quoted(kind, &step.table.name));
            let rows = number(source.ask(&sql)?);
            if rows > 0 {
                return Err(Failure::new(format!("{rows} rows have NULL in their primary key"))
                    .hint(format!("give them a key, or leave the table out: --exclude {}", step.table.name))
                    .into());
            }
        }
        let Some(&first) = step.table.walk().and_then(<[usize]>::first) else { return Ok((rows, vec![whole])) };
        let parts = (rows / self.arguments.batch.max(1)).min(self.arguments.jobs() as u64 * 2);
        if parts < 2 || self.arguments.jobs() < 2 || !matches!(step.table.columns[first].ty, Type::Int(_)) {
            return Ok((rows, vec![whole]));
        }
        let name = quoted(kind, &step.table.columns[first].name);
        let sql = format!("SELECT min({name}), max({name}) FROM {}", rows_of(kind, &step.table));
        let ends = source.ask(&sql)?;
        let end = |at: usize| ends.first()?.get(at)?.as_deref()?.trim().parse::<i128>().ok();
        let (Some(least), Some(greatest)) = (end(0), end(1)) else { return Ok((rows, vec![whole])) };
        let parts = i128::from(parts);
        let mut units = Vec::new();
        let mut from = None;
        for part in 1..=parts {
            let below = (part < parts).then(|| least + (greatest - least) * part / parts);
            if below.is_some() && below == from {
                continue;
            }
            units.push(Unit { table: at, from, below, ..Unit::default() });
            from = below;
        }
        Ok((rows, units))
    }

    /// Copies the rows.
    pub(super) fn copy(&self) -> Result<(), Trouble> {
        let units: Vec<(usize, bool)> = self.lock().units.iter().map(|unit| (unit.table, unit.done)).collect();
        let ready = |item: usize, over: &BTreeSet<usize>| {
            let waits = &self.plan.steps[units[item].0].waits;
            waits.iter().all(|&table| units.iter().enumerate().all(|(at, (of, _))| *of != table || over.contains(&at)))
        };
        self.in_threads(units.len(), &ready, &|at, writer| {
            let step = &self.plan.steps[units[at].0];
            self.retrying(&step.table.name, writer, &|writer| self.unit(at, step, writer))?;
            self.progress.table_done(&step.table.name, &self.lock().units);
            Ok(())
        })
    }

    /// Copies a part, from where it is.
    fn unit(&self, at: usize, step: &Step, writer: &mut Writer) -> Result<(), Trouble> {
        self.settle(at, step, writer)?;
        let walk = step.table.walk().map(<[usize]>::to_vec);
        loop {
            let unit = self.lock().units[at].clone();
            if unit.done {
                return Ok(());
            }
            self.go_on()?;
            let mut begun = self.batch(step, &unit, walk.as_deref(), writer)?;
            let target = self.target(writer)?;
            let rows = begun.rows;
            if rows == 0 {
                let mut state = self.lock();
                state.units[at].done = true;
                self.save(&state)?;
                return Ok(());
            }
            target.end()?;
            let had_rows = self.lock().tables[unit.table].before.is_some_and(|(rows, _)| rows > 0);
            if let (true, Some(walk)) = (had_rows, &walk) {
                begun.there = Some(self.with_key(step, walk, &begun.last, target)?);
            }
            {
                let mut state = self.lock();
                state.units[at].begun = Some(begun);
                self.save(&state)?;
            }
            if let Err(trouble) = target.commit() {
                // What the server refuses is not there; of what is lost, only the server knows.
                if matches!(trouble, Trouble::Failed(_)) {
                    let mut state = self.lock();
                    state.units[at].begun = None;
                    self.save(&state)?;
                }
                return Err(trouble);
            }
            let mut state = self.lock();
            state.units[at].settle();
            // The next batch, or the end, says so in the file.
            if state.units[at].done {
                self.save(&state)?;
            }
            drop(state);
            self.progress.add(rows);
        }
    }

    /// Finds out whether the transaction is committed that was begun when something broke.
    fn settle(&self, at: usize, step: &Step, writer: &mut Writer) -> Result<(), Trouble> {
        let (unit, before) = {
            let state = self.lock();
            let unit = state.units[at].clone();
            let before = state.tables[unit.table].before.map_or(0, |(rows, _)| rows);
            (unit, before)
        };
        let Some(begun) = &unit.begun else { return Ok(()) };
        let target = self.target(writer)?;
        let is_there = match step.table.walk() {
            Some(walk) if !begun.last.is_empty() => {
                self.with_key(step, walk, &begun.last, target)? >= begun.there.unwrap_or(1)
            }
            _ => count(target, self.plan.to, &step.table.name)? == before + begun.rows,
        };
        let mut state = self.lock();
        if is_there {
            state.units[at].settle();
            self.progress.add(begun.rows);
        } else {
            state.units[at].begun = None;
        }
        self.save(&state)
    }

    /// How many rows of the target have this key.
    fn with_key(
        &self,
        step: &Step,
        walk: &[usize],
        key: &[String],
        target: &mut Box<dyn Peer>,
    ) -> Result<u64, Trouble> {
        let kind = self.plan.to;
        let equal: Vec<String> = walk
            .iter()
            .zip(key)
            .map(|(&place, text)| {
                let value = key_literal(kind, &step.table.columns[place].ty, text);
                format!("{} = {value}", quoted(kind, &step.names[place]))
            })
            .collect();
        let table = quoted(kind, &step.table.name);
        Ok(number(target.ask(&format!("SELECT count(*) FROM {table} WHERE {}", equal.join(" AND ")))?))
    }

    /// Reads a batch and writes it, without committing it.
    fn batch(&self, step: &Step, unit: &Unit, walk: Option<&[usize]>, writer: &mut Writer) -> Result<Begun, Trouble> {
        let target = self.target(writer)?;
        let types = step.types();
        let columns: Vec<(String, Type)> = step.names.iter().cloned().zip(types.iter().cloned()).collect();
        let sql = page(self.plan.from, step, unit, walk, self.arguments.batch);
        let mut out = Row::default();
        let mut begun = self
            .read(|source| {
                let mut begun = Begun::default();
                let mut put = |row: &Row| {
                    self.convert(step, row, &mut out)?;
                    if begun.rows == 0 {
                        target.begin(&step.table.name, &columns)?;
                    }
                    target.put(&out).map_err(|trouble| placed(trouble, &step.table.name))?;
                    begun.rows += 1;
                    begun.bytes += out.size() as u64;
                    begun.sum = begun.sum.wrapping_add(hash(&types, &out));
                    if let Some(walk) = walk {
                        begun.last = walk.iter().map(|&place| key_text(&types[place], row.get(place))).collect();
                    }
                    Ok(())
                };
                // The connection whose rows are not read to their end is lost; where the moment goes with it, they are.
                let reads_on = self.moment.is_alone();
                let mut lost = None;
                source.read(&sql, &types, &mut |row| {
                    self.go_on()?;
                    if lost.is_some() {
                        return Ok(());
                    }
                    match put(row) {
                        Err(Trouble::Lost(why)) if reads_on => {
                            lost = Some(why);
                            Ok(())
                        }
                        done => done,
                    }
                })?;
                Ok(lost.map_or(Ok(begun), Err))
            })?
            .map_err(Trouble::Lost)?;
        begun.ends = walk.is_none() || begun.rows < self.arguments.batch;
        Ok(begun)
    }

    /// The row as the target gets it.
    fn convert(&self, step: &Step, row: &Row, out: &mut Row) -> Result<(), Trouble> {
        out.clear();
        for (at, (column, becomes)) in step.table.columns.iter().zip(&step.becomes).enumerate() {
            let Some(value) = row.get(at) else {
                out.push(None);
                continue;
            };
            let mut fits = || -> Result<(), Misfit> {
                let text = canonical(&column.ty, value)?;
                let text = becomes.fit.fit(&column.ty, &text, self.arguments.lossy)?;
                out.push(Some(&text));
                Ok(())
            };
            fits().map_err(|misfit| {
                let key: Vec<String> = step
                    .table
                    .walk()
                    .unwrap_or_default()
                    .iter()
                    .map(|&place| {
                        format!("{} = {}", step.table.columns[place].name, shown(row.get(place).unwrap_or_default()))
                    })
                    .collect();
                let row = if key.is_empty() { "a row".into() } else { format!("the row with {}", key.join(", ")) };
                let (table, column) = (&step.table.name, &column.name);
                let failure = Failure::new(format!("{table}: {row}: {column} {misfit}: {}", shown(value)));
                let cut = becomes.fit.fit(&step.table.columns[at].ty, value, true).is_ok();
                if cut { failure.hint("--lossy cuts what is too long or too precise") } else { failure }
            })?;
        }
        Ok(())
    }

    /// The rows of a table on the target, and their checksum.
    fn look(&self, step: &Step, target: &mut Box<dyn Peer>) -> Result<(u64, u128), Trouble> {
        let types = step.types();
        let columns: Vec<(&str, &Type)> =
            step.names.iter().map(String::as_str).zip(step.becomes.iter().map(|becomes| &becomes.stored)).collect();
        let kind = self.plan.to;
        let sql = format!("SELECT {} FROM {}", selected(kind, &columns), quoted(kind, &step.table.name));
        let (mut rows, mut sum) = (0, 0u128);
        let mut out = Row::default();
        target.read(&sql, &types, &mut |row| {
            self.go_on()?;
            out.clear();
            for (ty, value) in types.iter().zip(row.iter()) {
                match value {
                    None => out.push(None),
                    // What is no such value any more is not equal, which is what is asked.
                    Some(value) => out.push(Some(&canonical(ty, value).unwrap_or(value.into()))),
                }
            }
            rows += 1;
            sum = sum.wrapping_add(hash(&types, &out));
            self.progress.add(1);
            Ok(())
        })?;
        Ok((rows, sum))
    }

    /// Compares what was read with what is there; the tables that differ, in words.
    pub(super) fn verify(&self) -> Result<Vec<String>, Trouble> {
        let differ = Mutex::new(Vec::new());
        self.in_threads(self.plan.steps.len(), &|_, _| true, &|at, writer| {
            let step = &self.plan.steps[at];
            self.retrying(&step.table.name, writer, &|writer| {
                self.go_on()?;
                let (rows, sum) = {
                    let state = self.lock();
                    let before = state.tables[at].before.unwrap_or_default();
                    state
                        .units
                        .iter()
                        .filter(|unit| unit.table == at)
                        .fold(before, |(rows, sum), unit| (rows + unit.rows, sum.wrapping_add(unit.sum)))
                };
                let name = &step.table.name;
                let (there, other) = match self.arguments.verify {
                    Verify::Checksums => self.look(step, self.target(writer)?)?,
                    _ => (count(self.target(writer)?, self.plan.to, name)?, sum),
                };
                let sql = format!("SELECT count(*) FROM {}", rows_of(self.plan.from, &step.table));
                let source = number(self.read(|source| source.ask(&sql))?);
                let copied = rows - self.lock().tables[at].before.map_or(0, |(rows, _)| rows);
                let found = if there != rows {
                    Some(format!("{name}: {rows} rows were copied, {there} are there"))
                } else if other != sum {
                    Some(format!("{name}: {rows} rows, but not the same values"))
                } else {
                    (source != copied).then(|| format!("{name}: {copied} rows were copied, the source has {source}"))
                };
                differ.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(found);
                Ok(())
            })
        })?;
        Ok(differ.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

/// Says whose fault it is.
fn placed(trouble: Trouble, table: &str) -> Trouble {
    match trouble {
        Trouble::Failed(failure) if !failure.message.starts_with(table) => {
            Trouble::Failed(Failure { message: format!("{table}: {}", failure.message), ..failure })
        }
        other => other,
    }
}

fn key_text(ty: &Type, value: Option<&[u8]>) -> String {
    let value = value.unwrap_or_default();
    if *ty == Type::Bytes {
        let mut digits = Vec::new();
        to_hex(value, &mut digits);
        return String::from_utf8_lossy(&digits).into_owned();
    }
    let text = canonical(ty, value).unwrap_or(value.into());
    String::from_utf8_lossy(&text).into_owned()
}

/// The number that a query answers.
fn number(rows: Vec<Vec<Option<String>>>) -> u64 {
    let text = rows.first().and_then(|row| row.first()).and_then(Option::as_deref).unwrap_or("0").trim();
    // Informix counts in decimals.
    text.split('.').next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

pub(super) fn count(peer: &mut Box<dyn Peer>, kind: Kind, table: &str) -> Result<u64, Trouble> {
    Ok(number(peer.ask(&format!("SELECT count(*) FROM {}", quoted(kind, table)))?))
}

/// The query for the next batch of a part.
fn page(kind: Kind, step: &Step, unit: &Unit, walk: Option<&[usize]>, batch: u64) -> String {
    let columns: Vec<(&str, &Type)> =
        step.table.columns.iter().map(|column| (column.name.as_str(), &column.ty)).collect();
    let (columns, table) = (selected(kind, &columns), rows_of(kind, &step.table));
    let Some(walk) = walk else { return format!("SELECT {columns} FROM {table}") };
    let keys: Vec<String> = walk.iter().map(|&at| quoted(kind, &step.table.columns[at].name)).collect();
    let mut conditions = Vec::new();
    if let Some(from) = unit.from {
        conditions.push(format!("{} >= {from}", keys[0]));
    }
    if let Some(below) = unit.below {
        conditions.push(format!("{} < {below}", keys[0]));
    }
    if let Some(after) = &unit.after {
        let values: Vec<String> =
            walk.iter().zip(after).map(|(&at, text)| key_literal(kind, &step.table.columns[at].ty, text)).collect();
        // The first column's own condition, for planners that make nothing of OR.
        if values.len() > 1 {
            conditions.push(format!("{} >= {}", keys[0], values[0]));
        }
        let behind: Vec<String> = (0..values.len())
            .map(|last| {
                let equal = (0..last).map(|at| format!("{} = {}", keys[at], values[at]));
                let parts: Vec<String> = equal.chain([format!("{} > {}", keys[last], values[last])]).collect();
                format!("({})", parts.join(" AND "))
            })
            .collect();
        conditions.push(format!("({})", behind.join(" OR ")));
    }
    let filter = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    let order = keys.join(", ");
    match kind {
        Kind::Informix => format!("SELECT FIRST {batch} {columns} FROM {table}{filter} ORDER BY {order}"),
        _ => format!("SELECT {columns} FROM {table}{filter} ORDER BY {order} LIMIT {batch}"),
    }
}
