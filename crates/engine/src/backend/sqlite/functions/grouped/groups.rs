//! Groups of rows, told apart by their keys.
//!
//! All of them are in memory while the session has room. From then on the rows of groups that are not known yet go to
//! files, one for each part of the keys' hashes; when all rows have come, the groups that are known are written out, and the
//! parts are grouped one after the other, each by other bits of the hashes.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

use parking_lot::Mutex;
use rowferry_dialect::ir::Value;
use rowferry_dialect::lower::sqlite::spec::Spec;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::values::moments::{self, Unit};
use rowferry_dialect::{Condition, Error, Result, work};

use super::super::datetime::truncated;
use super::cells::{Cell, Plan, order};
use super::fixed::{Fixed, Inputs, compute};
use super::windows::Computed;
use crate::spool::{Spool, SpoolReader};

/// Files that the groups are parted among, a power of two.
const PARTS: usize = 16;
/// How often a part is parted again; there are no more bits in a hash.
const DEEPEST: u32 = 12;
/// What a row counts as work, beside its bytes.
pub(super) const ROW: usize = 16;

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BLOB: u8 = 4;

/// Hashes keys, eight bytes at a time.
#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    #[inline]
    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

pub(super) type Hashes = BuildHasherDefault<KeyHasher>;

/// Groups while rows come in.
pub(super) struct Groups {
    spec: Spec,
    plan: Plan,
    /// How often the rows have been parted.
    depth: u32,
    places: HashMap<Box<[u8]>, u32, Hashes>,
    /// Keys as they came first, where equal ones may look different.
    shown: Option<Vec<Box<[u8]>>>,
    /// Those of each group, one after the other.
    cells: Vec<Cell>,
    sets: Vec<HashSet<Box<[u8]>, Hashes>>,
    /// The key at hand, and the group that it was the last time.
    key: Vec<u8>,
    key_shown: Vec<u8>,
    last: Option<(Vec<u8>, usize)>,
    numbers: Vec<Fixed>,
    /// Rows of groups for which there was no room.
    parts: Option<Vec<Spool>>,
    /// So many groups there may be in memory; for tests.
    most: usize,
}

impl Groups {
    pub(super) fn new(spec: Spec) -> Self {
        Self::within(spec, 0, usize::MAX)
    }

    fn within(spec: Spec, depth: u32, most: usize) -> Self {
        let plan = Plan::of(&spec);
        Self {
            plan,
            depth,
            places: HashMap::default(),
            shown: None,
            cells: Vec::new(),
            sets: Vec::new(),
            key: Vec::new(),
            key_shown: Vec::new(),
            last: None,
            numbers: Vec::with_capacity(spec.nodes.len()),
            parts: None,
            most,
            spec,
        }
    }

    /// A row comes in.
    #[inline]
    pub(super) fn step(&mut self, row: &impl Inputs) -> Result<()> {
        work::step(ROW)?;
        let Some(group) = self.group(row)? else { return Ok(()) };
        compute(&self.spec.nodes, row, &mut self.numbers)?;
        let first = group * self.plan.cells.len();
        for at in 0..self.plan.cells.len() {
            let plan = self.plan.cells[at];
            if !plan.passes(row) {
                continue;
            }
            if let Some((input, set)) = plan.distinct() {
                let set = &mut self.sets[group * self.plan.sets + set];
                if !is_new(set, row.value(input), &mut self.key)? {
                    continue;
                }
            }
            plan.step(&mut self.cells[first + at], row, &self.numbers)?;
        }
        Ok(())
    }

    /// The group of a row; `None` when the row has gone to a file.
    #[inline]
    fn group(&mut self, row: &impl Inputs) -> Result<Option<usize>> {
        if self.spec.keys == 0 && !self.places.is_empty() {
            return Ok(Some(0));
        }
        self.key.clear();
        let mut differs = false;
        for at in 0..self.spec.keys {
            differs |= match row.value(at) {
                ValueRef::Text(text) if self.spec.decimals.contains(&at) => push_decimal(&mut self.key, text),
                value => match self.cut_off(at) {
                    Some(unit) => {
                        push_truncated(&mut self.key, unit, value)?;
                        false
                    }
                    None => push_key(&mut self.key, value),
                },
            };
        }
        if let Some((key, group)) = &self.last
            && *key == self.key
        {
            return Ok(Some(*group));
        }
        let group = match self.places.get(self.key.as_slice()) {
            Some(&group) => group as usize,
            None => {
                if self.parts.is_some() || !self.has_room() {
                    self.put_aside(row)?;
                    return Ok(None);
                }
                self.open(row, differs)?
            }
        };
        match &mut self.last {
            Some((key, last)) => {
                key.clone_from(&self.key);
                *last = group;
            }
            last => *last = Some((self.key.clone(), group)),
        }
        Ok(Some(group))
    }

    /// The unit that a key is cut off to.
    #[inline]
    fn cut_off(&self, at: usize) -> Option<Unit> {
        self.spec.truncated.iter().find(|(key, _)| *key == at).map(|(_, unit)| *unit)
    }

    /// True when there is memory for another group.
    fn has_room(&self) -> bool {
        let groups = self.places.len();
        if groups >= self.most.min(u32::MAX as usize - 1) {
            return false;
        }
        let grows = groups == self.places.capacity();
        let wanted = self.key.len()
            + if grows {
                // Tables that grow are there twice for a while.
                let each = size_of::<(Box<[u8]>, u32)>()
                    + self.plan.cells.len() * size_of::<Cell>()
                    + self.plan.sets * size_of::<HashSet<Box<[u8]>, Hashes>>();
                groups.max(4) * 2 * each
            } else {
                0
            };
        work::room_to_work(wanted).is_ok()
    }

    fn open(&mut self, row: &impl Inputs, differs: bool) -> Result<usize> {
        let group = self.places.len();
        work::step(self.key.len())?;
        if differs && self.shown.is_none() {
            let mut keys: Vec<(u32, Box<[u8]>)> = self.places.iter().map(|(key, at)| (*at, key.clone())).collect();
            keys.sort_unstable_by_key(|(at, _)| *at);
            self.shown = Some(keys.into_iter().map(|(_, key)| key).collect());
        }
        if let Some(shown) = &mut self.shown {
            self.key_shown.clear();
            for at in 0..self.spec.keys {
                match self.spec.truncated.iter().find(|(key, _)| *key == at) {
                    Some((_, unit)) => push_truncated(&mut self.key_shown, *unit, row.value(at))?,
                    None => push(&mut self.key_shown, row.value(at)),
                }
            }
            shown.push(self.key_shown.as_slice().into());
        }
        self.add(group);
        Ok(group)
    }

    /// Makes the place of a group, whose key is at hand.
    fn add(&mut self, group: usize) {
        self.places.insert(self.key.as_slice().into(), group as u32);
        self.cells.resize_with((group + 1) * self.plan.cells.len(), Cell::default);
        self.sets.resize_with((group + 1) * self.plan.sets, HashSet::default);
    }

    /// What comes of no rows: without keys they are a group, too.
    pub(super) fn of_nothing(spec: Spec) -> Result<Finished> {
        let mut groups = Self::new(spec);
        if groups.spec.keys == 0 {
            groups.add(0);
        }
        groups.finish()
    }

    fn put_aside(&mut self, row: &impl Inputs) -> Result<()> {
        if self.depth >= DEEPEST {
            let message = "there is no memory for the groups of a query";
            return Err(Error::new(Condition::OutOfMemory, message));
        }
        let inputs = self.spec.inputs();
        let hash = self.places.hasher().hash_one(self.key.as_slice());
        let part = (hash >> (self.depth * PARTS.ilog2())) as usize % PARTS;
        let parts = self.parts.get_or_insert_with(|| (0..PARTS).map(|_| Spool::new(inputs)).collect());
        parts[part].push((0..inputs).map(|at| row.value(at)))
    }

    /// The value of the only aggregate of the only group.
    pub(super) fn only(self) -> Result<Value> {
        let mut values = Vec::with_capacity(1);
        self.plan.values(&self.cells, &mut values)?;
        Ok(values.pop().unwrap_or(Value::Null))
    }

    /// All rows have come.
    pub(super) fn finish(mut self) -> Result<Finished> {
        let columns = self.spec.keys + self.plan.width();
        if self.parts.is_none() {
            let order = self.order()?;
            return Ok(Finished { columns, held: Held::Groups(self.into_memory()?, order) });
        }
        let mut rows = Spool::new(columns);
        self.drain(&mut rows)?;
        Finished::of_rows(columns, rows)
    }

    /// Writes all groups out, those of the parts, too.
    fn drain(&mut self, out: &mut Spool) -> Result<()> {
        let parts = self.parts.take();
        let (spec, depth, most) = (self.spec.clone(), self.depth + 1, self.most);
        let memory = std::mem::replace(self, Self::within(Spec::default(), 0, 0)).into_memory()?;
        let mut values = Vec::new();
        for group in 0..memory.keys.len() {
            memory.row(group, &mut values)?;
            out.push(values.iter().map(Value::as_ref))?;
        }
        drop(memory);
        for part in parts.into_iter().flatten() {
            let mut reader = part.into_reader()?;
            let mut groups = Self::within(spec.clone(), depth, most);
            while reader.advance()? {
                groups.step(&Kept(&reader))?;
            }
            drop(reader);
            groups.drain(out)?;
        }
        Ok(())
    }

    fn into_memory(self) -> Result<Memory> {
        let mut keys: Vec<Box<[u8]>> = vec![Box::default(); self.places.len()];
        match self.shown {
            Some(shown) => keys = shown,
            None => self.places.into_iter().for_each(|(key, at)| keys[at as usize] = key),
        }
        Ok(Memory { keys, cells: self.cells, plan: self.plan })
    }

    /// The groups in the order in which they are shown.
    fn order(&self) -> Result<Option<Vec<u32>>> {
        if !self.spec.sorted {
            return Ok(None);
        }
        let mut keys: Vec<(&[u8], u32)> = match &self.shown {
            Some(shown) => shown.iter().zip(0..).map(|(key, at)| (&**key, at)).collect(),
            None => self.places.iter().map(|(key, at)| (&**key, *at)).collect(),
        };
        work::step(keys.len() * ROW)?;
        keys.sort_unstable_by(|(a, at), (b, other)| by_values(a, b).then(at.cmp(other)));
        Ok(Some(keys.into_iter().map(|(_, at)| at).collect()))
    }
}

/// A row that was put aside.
struct Kept<'a>(&'a SpoolReader);

impl Inputs for Kept<'_> {
    fn value(&self, at: usize) -> ValueRef<'_> {
        self.0.column(at)
    }
}

/// Groups when all rows have come.
pub(super) struct Finished {
    /// Keys and aggregates.
    pub(super) columns: usize,
    held: Held,
}

enum Held {
    Groups(Memory, Option<Vec<u32>>),
    Numbers(Vec<i64>),
    Windows(Computed),
    Rows(Mutex<Option<SpoolReader>>),
}

struct Memory {
    keys: Vec<Box<[u8]>>,
    cells: Vec<Cell>,
    plan: Plan,
}

impl Memory {
    fn row(&self, group: usize, out: &mut Vec<Value>) -> Result<()> {
        out.clear();
        let mut rest = &*self.keys[group];
        while let Some((value, more)) = take(rest) {
            out.push(value.to_value());
            rest = more;
        }
        let width = self.plan.cells.len();
        self.plan.values(&self.cells[group * width..(group + 1) * width], out)
    }
}

/// A walk over groups.
pub(super) struct Walk {
    at: usize,
    reader: Option<SpoolReader>,
}

impl Finished {
    /// Numbers, each of them a row.
    pub(super) fn of_numbers(numbers: Vec<i64>) -> Self {
        Self { columns: 1, held: Held::Numbers(numbers) }
    }

    /// Rows with what has been computed over windows.
    pub(super) fn of_windows(computed: Computed) -> Self {
        Self { columns: computed.columns(), held: Held::Windows(computed) }
    }

    /// Rows that lie in a file.
    pub(super) fn of_rows(columns: usize, rows: Spool) -> Result<Self> {
        Ok(Self { columns, held: Held::Rows(Mutex::new(Some(rows.into_reader()?))) })
    }

    /// Begins a walk.
    pub(super) fn begin(&self) -> Result<Walk> {
        let reader = match &self.held {
            Held::Groups(..) | Held::Numbers(_) | Held::Windows(_) => None,
            Held::Rows(reader) => {
                let mut reader = reader.lock().take().ok_or_else(|| Error::internal("groups that are read already"))?;
                reader.rewind()?;
                Some(reader)
            }
        };
        Ok(Walk { at: 0, reader })
    }

    /// The next group's keys and aggregates; false after the last.
    pub(super) fn next(&self, walk: &mut Walk, out: &mut Vec<Value>) -> Result<bool> {
        match (&self.held, &mut walk.reader) {
            (Held::Groups(memory, order), _) => {
                let Some(group) = order.as_ref().map_or_else(
                    || (walk.at < memory.keys.len()).then_some(walk.at),
                    |order| order.get(walk.at).map(|group| *group as usize),
                ) else {
                    return Ok(false);
                };
                walk.at += 1;
                work::step(ROW)?;
                memory.row(group, out)?;
                Ok(true)
            }
            (Held::Numbers(numbers), _) => {
                let Some(number) = numbers.get(walk.at) else { return Ok(false) };
                walk.at += 1;
                work::step(1)?;
                out.clear();
                out.push(Value::Integer(*number));
                Ok(true)
            }
            (Held::Windows(computed), _) => {
                work::step(ROW)?;
                walk.at += 1;
                Ok(computed.row(walk.at - 1, out))
            }
            (Held::Rows(_), Some(reader)) => {
                if !reader.advance()? {
                    return Ok(false);
                }
                out.clear();
                out.extend((0..self.columns).map(|at| reader.column(at).to_value()));
                Ok(true)
            }
            (Held::Rows(_), None) => Ok(false),
        }
    }

    /// Ends a walk, so that there can be another.
    pub(super) fn end(&self, walk: Walk) {
        if let (Held::Rows(place), Some(reader)) = (&self.held, walk.reader) {
            *place.lock() = Some(reader);
        }
    }
}

/// True for a value that the set has not got yet; it has it then. NULL counts nowhere.
fn is_new(set: &mut HashSet<Box<[u8]>, Hashes>, value: ValueRef<'_>, scratch: &mut Vec<u8>) -> Result<bool> {
    if value == ValueRef::Null {
        return Ok(false);
    }
    scratch.clear();
    push_key(scratch, value);
    if set.contains(scratch.as_slice()) {
        return Ok(false);
    }
    if set.len() == set.capacity() {
        // The table moves into one of twice the size.
        work::room_to_work(set.len() * 2 * (size_of::<Box<[u8]>>() + 1))?;
    }
    work::step(scratch.len())?;
    set.insert(scratch.as_slice().into());
    Ok(true)
}

/// Adds a value, equal ones alike: a whole REAL of a NUMERIC column is the integer. True when it does not look as it did.
#[inline]
pub(super) fn push_key(out: &mut Vec<u8>, value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Real(real) if real.fract() == 0.0 && real.abs() < 9e15 => {
            push(out, ValueRef::Integer(real as i64));
            true
        }
        value => {
            push(out, value);
            false
        }
    }
}

/// Adds a stored timestamp, cut off to a unit.
#[inline]
fn push_truncated(out: &mut Vec<u8>, unit: Unit, value: ValueRef<'_>) -> Result<()> {
    match value {
        ValueRef::Text(stored) | ValueRef::Blob(stored) => match moments::truncate_stored(unit, stored) {
            Some(cut) => push(out, ValueRef::Text(&cut)),
            None => push(out, ValueRef::Text(truncated(unit.word(), stored)?.as_bytes())),
        },
        ValueRef::Null => out.push(NULL),
        other => return Err(Error::internal(format!("a timestamp is no {other:?}"))),
    }
    Ok(())
}

/// Adds a decimal without the zeros behind its fraction. True when it has some.
fn push_decimal(out: &mut Vec<u8>, text: &[u8]) -> bool {
    let mut kept = text;
    if text.contains(&b'.') {
        while let [rest @ .., b'0'] = kept {
            kept = rest;
        }
        if let [rest @ .., b'.'] = kept {
            kept = rest;
        }
    }
    push(out, ValueRef::Text(kept));
    kept.len() != text.len()
}

#[inline]
fn push(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.push(NULL),
        ValueRef::Integer(value) => {
            out.push(INTEGER);
            out.extend_from_slice(&value.to_le_bytes());
        }
        ValueRef::Real(value) => {
            out.push(REAL);
            out.extend_from_slice(&value.to_le_bytes());
        }
        ValueRef::Text(text) => {
            out.push(TEXT);
            out.extend_from_slice(&(text.len() as u64).to_le_bytes());
            out.extend_from_slice(text);
        }
        ValueRef::Blob(bytes) => {
            out.push(BLOB);
            out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            out.extend_from_slice(bytes);
        }
    }
}

/// The first value of a key, and the rest.
fn take(key: &[u8]) -> Option<(ValueRef<'_>, &[u8])> {
    let (class, rest) = key.split_first()?;
    if *class == NULL {
        return Some((ValueRef::Null, rest));
    }
    let (word, rest) = rest.split_first_chunk::<8>()?;
    Some(match *class {
        INTEGER => (ValueRef::Integer(i64::from_le_bytes(*word)), rest),
        REAL => (ValueRef::Real(f64::from_le_bytes(*word)), rest),
        class => {
            let (bytes, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*word)).ok()?)?;
            (if class == TEXT { ValueRef::Text(bytes) } else { ValueRef::Blob(bytes) }, rest)
        }
    })
}

fn by_values(mut a: &[u8], mut b: &[u8]) -> Ordering {
    while let (Some((first, a_rest)), Some((second, b_rest))) = (take(a), take(b)) {
        match order(first, second) {
            Ordering::Equal => (a, b) = (a_rest, b_rest),
            unequal => return unequal,
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row(Vec<Value>);

    impl Inputs for Row {
        fn value(&self, at: usize) -> ValueRef<'_> {
            self.0[at].as_ref()
        }
    }

    fn rows() -> Vec<Row> {
        (0..5_000_i64)
            .map(|at| {
                let text = if at % 11 == 0 { Value::Null } else { Value::Text(format!("key {}", at * 7_919 % 97)) };
                let amount = if at % 13 == 0 { Value::Null } else { Value::Real((at % 1_000) as f64 / 100.0) };
                Row(vec![text, Value::Integer(at % 5), amount, Value::Integer(at % 3)])
            })
            .collect()
    }

    fn spec(sorted: bool) -> Spec {
        let told = "2 n.2.2 c.1.0 -.1.0 *.0.2 rows count.2 sum.3 avg.0 min.2.2 max.0:w3 count.2:d2 sum.0:d3:w3 first.1";
        let told = if sorted { told.replacen('2', "2s", 1) } else { told.to_owned() };
        Spec::read(&told).unwrap()
    }

    fn shown(finished: &Finished) -> Vec<String> {
        let mut walk = finished.begin().unwrap();
        let (mut row, mut all) = (Vec::new(), Vec::new());
        while finished.next(&mut walk, &mut row).unwrap() {
            all.push(format!("{row:?}"));
        }
        finished.end(walk);
        all
    }

    fn grouped(most: usize, sorted: bool) -> Finished {
        let mut groups = Groups::within(spec(sorted), 0, most);
        for row in rows() {
            groups.step(&row).unwrap();
        }
        groups.finish().unwrap()
    }

    #[test]
    fn groups_without_room_are_the_same_groups() {
        let mut all = shown(&grouped(usize::MAX, false));
        all.sort();
        assert_eq!(all.len(), 98 * 5);
        for most in [1, 7, 100, 489] {
            let finished = grouped(most, false);
            let mut few = shown(&finished);
            assert_eq!(few, shown(&finished), "they can be walked over again");
            few.sort();
            assert_eq!(few, all, "{most}");
        }
    }

    #[test]
    fn groups_come_in_the_order_of_their_keys() {
        let sorted = shown(&grouped(usize::MAX, true));
        assert!(sorted[0].starts_with("[Null, Integer(0)"), "{}", sorted[0]);
        assert!(sorted[5].starts_with("[Text(\"key 0\"), Integer(0)"), "{}", sorted[5]);
    }

    #[test]
    fn timestamps_are_cut_off_on_the_way() {
        let mut groups = Groups::new(Spec::read("2 key.1 cut:month.0 rows").unwrap());
        for (at, decimal) in [
            ("2025-01-31 23:59:59.5", "1"),
            ("2025-02-01 00:00:00", "1"),
            ("2025-01-01 00:00:00", "1.0"),
            ("infinity", "1.0"),
            ("Y0012025-03-31 10:00:00", "1"),
            ("2025-02-11 00:00:00", "2.0"),
            ("2025-02-12T01:00:00", "2"),
        ] {
            groups.step(&Row(vec![Value::Text(at.to_owned()), Value::Text(decimal.to_owned())])).unwrap();
        }
        groups.step(&Row(vec![Value::Null, Value::Null])).unwrap();
        let all = shown(&groups.finish().unwrap());
        let expected = [
            "[Text(\"2025-01-01 00:00:00\"), Text(\"1\"), Integer(2)]",
            "[Text(\"2025-02-01 00:00:00\"), Text(\"1\"), Integer(1)]",
            "[Text(\"infinity\"), Text(\"1.0\"), Integer(1)]",
            "[Text(\"Y0012025-03-01 00:00:00\"), Text(\"1\"), Integer(1)]",
            "[Text(\"2025-02-01 00:00:00\"), Text(\"2.0\"), Integer(2)]",
            "[Null, Null, Integer(1)]",
        ];
        assert_eq!(all, expected);
        let mut invalid = Groups::new(Spec::read("1 cut:day.0 rows").unwrap());
        assert!(invalid.step(&Row(vec![Value::Text("2025-02-30 00:00:00".to_owned())])).is_err());
    }

    #[test]
    fn without_keys_no_rows_are_a_group() {
        let all = shown(&Groups::of_nothing(Spec::read("0 i.0 rows sum.0").unwrap()).unwrap());
        assert_eq!(all, ["[Integer(0), Null]"]);
        assert!(shown(&Groups::of_nothing(Spec::read("1 i.0 rows sum.0").unwrap()).unwrap()).is_empty());
    }

    #[test]
    fn equal_keys_are_one_and_look_as_they_came() {
        let mut groups = Groups::new(Spec::read("2 key.1 rows").unwrap());
        for (number, decimal) in [(1.5, "7"), (2.0, "1.50"), (2.0, "1.5"), (1.5, "7.0"), (0.0, "0.00"), (-0.0, "0")] {
            groups.step(&Row(vec![Value::Real(number), Value::Text(decimal.to_owned())])).unwrap();
        }
        groups.step(&Row(vec![Value::Integer(2), Value::Text("1.500".to_owned())])).unwrap();
        let all = shown(&groups.finish().unwrap());
        let expected = [
            "[Real(1.5), Text(\"7\"), Integer(2)]",
            "[Real(2.0), Text(\"1.50\"), Integer(3)]",
            "[Real(0.0), Text(\"0.00\"), Integer(2)]",
        ];
        assert_eq!(all, expected);
    }
}
