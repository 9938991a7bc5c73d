//! The table of locks: who holds what, who waits for what, and in which order. No waiting here, and no clocks.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rowferry_dialect::ir::LockMode;

use super::owner::Owner;
use super::tag::{ALL_ROWS, Tag};

/// Rows beyond this many that one transaction has changed in a table are not remembered one by one: then all of the
/// table's rows count as changed until it ends.
const ROWS_EACH: usize = 100_000;

/// For how long a lock is held.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hold {
    /// Until the transaction ends.
    Transaction,
    /// Until it is given back, or the session ends.
    Session,
}

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Request {
    pub owner: Arc<Owner>,
    pub mode: LockMode,
    pub hold: Hold,
    pub granted: AtomicBool,
    /// Since when, in microseconds since 1970.
    pub since: i64,
}

#[derive(Debug, Default)]
struct Object {
    holders: Vec<Holder>,
    queue: VecDeque<Arc<Request>>,
}

#[derive(Debug)]
struct Holder {
    pid: u32,
    /// How often each mode is held, by the transaction and by the session.
    counts: [[u32; 9]; 2],
}

impl Holder {
    fn modes(&self) -> u16 {
        LockMode::ALL
            .iter()
            .filter(|mode| self.counts.iter().any(|counts| counts[**mode as usize] > 0))
            .fold(0, |set, mode| set | mode.bit())
    }
}

impl Object {
    /// The modes that others than `pid` hold.
    fn held_by_others(&self, pid: u32) -> u16 {
        self.holders.iter().filter(|holder| holder.pid != pid).fold(0, |set, holder| set | holder.modes())
    }

    fn held_by(&self, pid: u32) -> u16 {
        self.holders.iter().find(|holder| holder.pid == pid).map_or(0, Holder::modes)
    }
}

/// A lock that an owner has, in the order of `serial`.
#[derive(Debug)]
struct Held {
    tag: Tag,
    mode: LockMode,
    hold: Hold,
    serial: u64,
}

#[derive(Debug)]
struct Entry {
    owner: Arc<Owner>,
    held: Vec<Held>,
    waits: Option<(Tag, Arc<Request>)>,
}

/// What the holder of the write lock has changed, and not committed.
#[derive(Debug, Default)]
struct Written {
    pid: u32,
    rows: HashMap<(u32, i64), LockMode>,
    counts: HashMap<u32, usize>,
    /// Tables all of whose rows count as changed.
    whole: HashMap<u32, LockMode>,
}

impl Written {
    fn mode(&self, relation: u32, row: i64) -> Option<LockMode> {
        if row == ALL_ROWS && self.counts.contains_key(&relation) {
            return Some(LockMode::AccessExclusive);
        }
        self.whole.get(&relation).or_else(|| self.rows.get(&(relation, row))).copied()
    }

    fn relations(&self) -> impl Iterator<Item = u32> + '_ {
        self.whole.keys().chain(self.counts.keys()).copied()
    }
}

/// A lock as `pg_locks` shows it.
#[derive(Clone, Debug)]
pub struct LockRow {
    /// What is locked.
    pub tag: Tag,
    /// How.
    pub mode: LockMode,
    /// By whom, or who waits for it.
    pub pid: u32,
    /// Held, not waited for.
    pub granted: bool,
    /// Known to its owner alone.
    pub fast_path: bool,
    /// Since when it is waited for, in microseconds since 1970.
    pub wait_start: Option<i64>,
    /// The transaction that is in the way of a waiter.
    pub blocker: Option<i64>,
}

/// What an attempt has led to.
#[derive(Debug)]
pub(super) enum Attempt {
    /// It was held before.
    Already,
    /// It is held now.
    New,
    /// Somebody stands in the way.
    Busy,
}

/// All locks of a database.
#[derive(Debug, Default)]
pub(super) struct Table {
    objects: HashMap<Tag, Object>,
    entries: HashMap<u32, Entry>,
    written: Option<Written>,
    /// How many rows have an entry in `objects`.
    row_objects: usize,
    serial: u64,
    /// For each table the number of the last commit that has changed or deleted rows of it.
    changed: HashMap<u32, u64>,
}

impl Table {
    pub fn enter(&mut self, owner: &Arc<Owner>) {
        self.entries.insert(owner.pid, Entry { owner: owner.clone(), held: Vec::new(), waits: None });
    }

    pub fn leave(&mut self, pid: u32) {
        self.entries.remove(&pid);
    }

    pub fn owners(&self) -> impl Iterator<Item = &Arc<Owner>> {
        self.entries.values().map(|entry| &entry.owner)
    }

    pub fn owner(&self, pid: u32) -> Option<&Arc<Owner>> {
        self.entries.get(&pid).map(|entry| &entry.owner)
    }

    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Takes a lock if nobody stands in the way, and nobody who waits already.
    pub fn attempt(&mut self, owner: &Owner, tag: Tag, mode: LockMode, hold: Hold) -> Attempt {
        self.settle_written(owner.pid, tag);
        if let Some(object) = self.objects.get(&tag) {
            if let Some(holder) = object.holders.iter().find(|holder| holder.pid == owner.pid)
                && holder.counts[Hold::Transaction as usize][mode as usize] > 0
                && hold == Hold::Transaction
            {
                return Attempt::Already;
            }
            if object.held_by_others(owner.pid) & mode.conflicts() != 0 {
                return Attempt::Busy;
            }
            let mine = object.held_by(owner.pid);
            for ahead in &object.queue {
                if mine & ahead.mode.conflicts() != 0 {
                    // It waits for us: whoever comes behind it cannot make us wait for it.
                    break;
                }
                if ahead.mode.conflicts() & mode.bit() != 0 {
                    return Attempt::Busy;
                }
            }
        }
        self.grant(owner.pid, tag, mode, hold);
        Attempt::New
    }

    /// A row that the writer has changed is the writer's as any locked row is, once somebody else asks for it.
    fn settle_written(&mut self, asking: u32, tag: Tag) {
        let Tag::Row { relation, row } = tag else { return };
        let Some(written) = self.written.as_ref().filter(|written| written.pid != asking) else { return };
        let (pid, Some(mode)) = (written.pid, written.mode(relation, row)) else { return };
        let known = self.objects.get(&tag).is_some_and(|object| object.held_by(pid) & mode.bit() != 0);
        if !known {
            self.grant(pid, tag, mode, Hold::Transaction);
        }
    }

    fn grant(&mut self, pid: u32, tag: Tag, mode: LockMode, hold: Hold) {
        let object = self.objects.entry(tag).or_insert_with(|| {
            if matches!(tag, Tag::Row { .. }) {
                self.row_objects += 1;
            }
            Object::default()
        });
        let holder = match object.holders.iter().position(|holder| holder.pid == pid) {
            Some(at) => &mut object.holders[at],
            None => {
                object.holders.push(Holder { pid, counts: [[0; 9]; 2] });
                let last = object.holders.len() - 1;
                &mut object.holders[last]
            }
        };
        holder.counts[hold as usize][mode as usize] += 1;
        self.serial += 1;
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.held.push(Held { tag, mode, hold, serial: self.serial });
            if hold == Hold::Transaction {
                entry.owner.held.fetch_add(1, Ordering::AcqRel);
            }
        }
    }

    /// Gets into line. Whoever holds something that another waits for goes in front of it: behind it both would wait
    /// for each other.
    pub fn enqueue(&mut self, tag: Tag, request: &Arc<Request>) {
        let pid = request.owner.pid;
        let object = self.objects.entry(tag).or_default();
        let mine = object.held_by(pid);
        let at = object.queue.iter().position(|ahead| mine & ahead.mode.conflicts() != 0);
        object.queue.insert(at.unwrap_or(object.queue.len()), request.clone());
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.waits = Some((tag, request.clone()));
        }
    }

    /// Leaves the line, with or without the lock.
    pub fn stop_waiting(&mut self, tag: Tag, request: &Arc<Request>) {
        if let Some(entry) = self.entries.get_mut(&request.owner.pid) {
            entry.waits = None;
        }
        if let Some(object) = self.objects.get_mut(&tag) {
            object.queue.retain(|other| !Arc::ptr_eq(other, request));
        }
        self.serve(tag);
    }

    /// Grants what can be granted now, in order.
    fn serve(&mut self, tag: Tag) {
        let Some(object) = self.objects.get(&tag) else { return };
        let mut ahead = 0_u16;
        let mut ready = Vec::new();
        // Those that are granted in this round are holders for those behind them.
        let mut granted: Vec<(u32, u16)> = Vec::new();
        for request in &object.queue {
            let pid = request.owner.pid;
            let conflicts = request.mode.conflicts();
            let fresh = granted.iter().filter(|(other, _)| *other != pid).fold(0, |set, (_, bit)| set | bit);
            if (object.held_by_others(pid) | ahead | fresh) & conflicts != 0 {
                ahead |= request.mode.bit();
            } else {
                granted.push((pid, request.mode.bit()));
                ready.push(request.clone());
            }
        }
        for request in ready {
            if let Some(object) = self.objects.get_mut(&tag) {
                object.queue.retain(|other| !Arc::ptr_eq(other, &request));
            }
            if let Some(entry) = self.entries.get_mut(&request.owner.pid) {
                entry.waits = None;
            }
            self.grant(request.owner.pid, tag, request.mode, request.hold);
            request.granted.store(true, Ordering::Release);
            request.owner.interrupter.wake();
        }
        if self.objects.get(&tag).is_some_and(|object| object.holders.is_empty() && object.queue.is_empty()) {
            self.objects.remove(&tag);
            if matches!(tag, Tag::Row { .. }) {
                self.row_objects = self.row_objects.saturating_sub(1);
            }
        }
    }

    fn count_down(&mut self, pid: u32, held: &Held) {
        if let Some(object) = self.objects.get_mut(&held.tag)
            && let Some(at) = object.holders.iter().position(|holder| holder.pid == pid)
        {
            let count = &mut object.holders[at].counts[held.hold as usize][held.mode as usize];
            *count = count.saturating_sub(1);
            if object.holders[at].modes() == 0 {
                object.holders.swap_remove(at);
            }
        }
    }

    /// Gives back all locks of an owner for which `which` holds, and says how many.
    fn release(&mut self, pid: u32, which: impl Fn(&Held) -> bool) -> usize {
        let Some(entry) = self.entries.get_mut(&pid) else { return 0 };
        let mut gone = Vec::new();
        let mut kept = Vec::new();
        for held in entry.held.drain(..) {
            if which(&held) { gone.push(held) } else { kept.push(held) }
        }
        entry.held = kept;
        let left = entry.held.iter().filter(|held| held.hold == Hold::Transaction).count();
        entry.owner.held.store(left, Ordering::Release);
        for held in &gone {
            self.count_down(pid, held);
        }
        for held in &gone {
            self.serve(held.tag);
        }
        gone.len()
    }

    /// The transaction is over.
    pub fn release_transaction(&mut self, pid: u32) {
        self.release(pid, |held| held.hold == Hold::Transaction);
    }

    /// Locks taken behind a mark; the write lock stays, since the back end's transaction does. `kept` are weak locks from
    /// before the mark that came into this table behind it.
    pub fn release_behind(&mut self, pid: u32, serial: u64, kept: &[(u32, LockMode)]) {
        self.release(pid, |held| {
            held.hold == Hold::Transaction
                && held.serial > serial
                && match held.tag {
                    Tag::Write => false,
                    Tag::Relation(oid) => !kept.contains(&(oid, held.mode)),
                    Tag::Row { .. } | Tag::Advisory(_) => true,
                }
        });
    }

    /// Row locks taken behind a mark on rows that are not among `kept`.
    pub fn release_rows(&mut self, pid: u32, serial: u64, kept: &HashSet<Tag>) {
        self.release(pid, |held| {
            held.serial > serial && matches!(held.tag, Tag::Row { .. }) && !kept.contains(&held.tag)
        });
    }

    /// All of a session's locks.
    pub fn release_all(&mut self, pid: u32) {
        self.release(pid, |_| true);
    }

    /// All advisory locks that the session holds as such; says how many.
    pub fn release_session(&mut self, pid: u32) -> usize {
        self.release(pid, |held| held.hold == Hold::Session)
    }

    /// One lock, once; false when it is not held.
    pub fn release_one(&mut self, pid: u32, tag: Tag, mode: LockMode, hold: Hold) -> bool {
        let Some(entry) = self.entries.get_mut(&pid) else { return false };
        let Some(at) = entry.held.iter().rposition(|held| held.tag == tag && held.mode == mode && held.hold == hold)
        else {
            return false;
        };
        let held = entry.held.remove(at);
        if hold == Hold::Transaction {
            entry.owner.held.fetch_sub(1, Ordering::AcqRel);
        }
        self.count_down(pid, &held);
        self.serve(tag);
        true
    }

    // The writer.

    /// The holder of the write lock has changed rows. Yields rows that others have locked in a mode that forbids it.
    pub fn wrote(&mut self, pid: u32, rows: &[(u32, i64)], whole: &[u32], mode: LockMode) -> Vec<Tag> {
        let written = self.written.get_or_insert_with(|| Written { pid, ..Written::default() });
        for (relation, row) in rows {
            let count = written.counts.entry(*relation).or_default();
            if *count >= ROWS_EACH {
                raise(written.whole.entry(*relation).or_insert(mode), mode);
                continue;
            }
            let known = written.rows.entry((*relation, *row));
            if matches!(known, std::collections::hash_map::Entry::Vacant(_)) {
                *count += 1;
            }
            raise(known.or_insert(mode), mode);
        }
        for relation in whole {
            raise(written.whole.entry(*relation).or_insert(mode), mode);
        }
        if self.row_objects == 0 {
            return Vec::new();
        }
        let locked = |tag: &Tag, object: &Object| (object.held_by_others(pid) & mode.conflicts() != 0).then_some(*tag);
        let mut found: Vec<Tag> = Vec::new();
        let mut look = |tag: Tag| {
            if let Some(tag) = self.objects.get(&tag).and_then(|object| locked(&tag, object)) {
                found.push(tag);
            }
        };
        for (relation, row) in rows {
            look(Tag::Row { relation: *relation, row: *row });
            look(Tag::Row { relation: *relation, row: ALL_ROWS });
        }
        if !whole.is_empty() {
            found.extend(self.objects.iter().filter_map(|(tag, object)| match tag {
                Tag::Row { relation, .. } if whole.contains(relation) => locked(tag, object),
                _ => None,
            }));
        }
        found
    }

    /// What the writer has changed is committed under this number.
    pub fn committed(&mut self, pid: u32, number: u64) {
        if let Some(written) = self.written.take_if(|written| written.pid == pid) {
            for relation in written.relations() {
                self.changed.insert(relation, number);
            }
        }
    }

    /// The write lock passes on.
    pub fn release_write(&mut self, pid: u32) {
        self.written.take_if(|written| written.pid == pid);
        self.release_one(pid, Tag::Write, LockMode::Exclusive, Hold::Transaction);
    }

    /// The number of the last commit that has changed rows of a table.
    pub fn last_change(&self, relation: u32) -> u64 {
        self.changed.get(&relation).copied().unwrap_or(0)
    }

    // Who waits for whom.

    /// Those for whom a session waits: holders, and those before it in line.
    pub fn blockers(&self, pid: u32) -> Vec<u32> {
        let Some((tag, request)) = self.entries.get(&pid).and_then(|entry| entry.waits.as_ref()) else {
            return Vec::new();
        };
        let Some(object) = self.objects.get(tag) else { return Vec::new() };
        let conflicts = request.mode.conflicts();
        let mut found: Vec<u32> = object
            .holders
            .iter()
            .filter(|holder| holder.pid != pid && holder.modes() & conflicts != 0)
            .map(|holder| holder.pid)
            .collect();
        for ahead in object.queue.iter().take_while(|ahead| !Arc::ptr_eq(ahead, request)) {
            if ahead.mode.bit() & conflicts != 0 && !found.contains(&ahead.owner.pid) {
                found.push(ahead.owner.pid);
            }
        }
        found
    }

    /// A circle of waiting sessions that begins and ends with `pid`: each waits for the next, the last for the first.
    pub fn circle(&self, pid: u32) -> Option<Vec<u32>> {
        let mut path = vec![pid];
        let mut pending = vec![self.blockers(pid)];
        let mut seen = HashSet::from([pid]);
        while let Some(next) = pending.last_mut() {
            match next.pop() {
                Some(blocker) if blocker == pid => return Some(path),
                Some(blocker) => {
                    if seen.insert(blocker) {
                        path.push(blocker);
                        pending.push(self.blockers(blocker));
                    }
                }
                None => {
                    pending.pop();
                    path.pop();
                }
            }
        }
        None
    }

    /// The lock that a session waits for, in words; `blocker` holds it.
    pub fn describe_wait(&self, pid: u32, blocker: u32, database: u32) -> String {
        let holder = self.entries.get(&blocker).and_then(|entry| entry.owner.xid());
        match self.entries.get(&pid).and_then(|entry| entry.waits.as_ref()) {
            Some((tag, request)) => tag.describe(request.mode, database, holder),
            None => "nothing".into(),
        }
    }

    /// What a session waits for.
    pub fn waits_for(&self, pid: u32) -> Option<Tag> {
        self.entries.get(&pid)?.waits.as_ref().map(|(tag, _)| *tag)
    }

    /// Every lock that is held or waited for.
    pub fn rows(&self) -> Vec<LockRow> {
        let mut rows = Vec::new();
        for (tag, object) in &self.objects {
            for holder in &object.holders {
                for mode in LockMode::ALL.into_iter().filter(|mode| holder.modes() & mode.bit() != 0) {
                    rows.push(LockRow {
                        tag: *tag,
                        mode,
                        pid: holder.pid,
                        granted: true,
                        fast_path: false,
                        wait_start: None,
                        blocker: None,
                    });
                }
            }
            for request in &object.queue {
                let pid = request.owner.pid;
                let blocker = self.blockers(pid).first().and_then(|pid| self.owner(*pid)?.xid());
                rows.push(LockRow {
                    tag: *tag,
                    mode: request.mode,
                    pid,
                    granted: false,
                    fast_path: false,
                    wait_start: Some(request.since),
                    blocker,
                });
            }
        }
        for owner in self.owners() {
            for weak in owner.weak.lock().iter().filter(|weak| !weak.transferred) {
                rows.push(LockRow {
                    tag: Tag::Relation(weak.relation),
                    mode: weak.mode,
                    pid: owner.pid,
                    granted: true,
                    fast_path: true,
                    wait_start: None,
                    blocker: None,
                });
            }
        }
        rows
    }

    /// Nothing is held and nobody waits; what tests ask at their end.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
            && self.row_objects == 0
            && self.written.is_none()
            && self.entries.values().all(|entry| entry.held.is_empty() && entry.waits.is_none())
    }

    /// Moves the weak locks on a table from their owners into this table.
    pub fn transfer_weak(&mut self, relation: u32) {
        let owners: Vec<Arc<Owner>> = self.owners().cloned().collect();
        for owner in owners {
            let mut weak = owner.weak.lock();
            for lock in weak.iter_mut().filter(|lock| lock.relation == relation && !lock.transferred) {
                lock.transferred = true;
                self.grant(owner.pid, Tag::Relation(relation), lock.mode, Hold::Transaction);
            }
        }
    }
}

fn raise(mode: &mut LockMode, to: LockMode) {
    *mode = (*mode).max(to);
}
