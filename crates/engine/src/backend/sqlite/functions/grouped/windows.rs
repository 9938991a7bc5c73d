//! Functions over windows: rows are gathered, parted by hashing, sorted within their parts, and told what stands around them.
//!
//! SQLite sorts and copies the rows once for each window, row by row through its own machine. Here they lie in memory once, and a
//! window is an order of their numbers. Where there is no memory for them nothing is kept, and the statement does it SQLite's way.

use std::cmp::Ordering;
use std::collections::HashMap;

use rowferry_dialect::ir::Value;
use rowferry_dialect::lower::sqlite::spec::{Gathered, Input, Number, Spec};
use rowferry_dialect::lower::sqlite::window_spec::{Call, Frame, Key, What, Window, WindowSpec};
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Result, work};

use super::cells::{Cell, Plan, order};
use super::fixed::{Fixed, Inputs, compute};
use super::groups::{Hashes, ROW, push_key};

/// A value of a row; texts and bytes lie elsewhere.
#[derive(Clone, Copy)]
enum Slot {
    Null,
    Integer(i64),
    Real(f64),
    /// Where it begins, and how many bytes it has.
    Text(u32, u32),
    Blob(u32, u32),
}

/// Rows while they come in.
pub(super) struct Windows {
    spec: WindowSpec,
    rows: Rows,
    /// There was no room for them.
    overflown: bool,
}

/// The arguments of all rows.
struct Rows {
    /// So many there are.
    count: usize,
    /// So many arguments a row has: none where nothing but their number is asked for.
    width: usize,
    slots: Vec<Slot>,
    bytes: Vec<u8>,
    /// Rows that there may be; for tests.
    most: usize,
}

/// A row that lies here.
struct Row<'a>(&'a Rows, usize);

impl Inputs for Row<'_> {
    #[inline]
    fn value(&self, at: usize) -> ValueRef<'_> {
        self.0.value(self.1, at)
    }
}

impl Rows {
    fn len(&self) -> usize {
        self.count
    }

    #[inline]
    fn slot(&self, row: usize, at: usize) -> Slot {
        self.slots[row * self.width + at]
    }

    #[inline]
    fn value(&self, row: usize, at: usize) -> ValueRef<'_> {
        self.shown(self.slot(row, at))
    }

    #[inline]
    fn shown(&self, slot: Slot) -> ValueRef<'_> {
        let bytes = |start: u32, length: u32| &self.bytes[start as usize..][..length as usize];
        match slot {
            Slot::Null => ValueRef::Null,
            Slot::Integer(value) => ValueRef::Integer(value),
            Slot::Real(value) => ValueRef::Real(value),
            Slot::Text(start, length) => ValueRef::Text(bytes(start, length)),
            Slot::Blob(start, length) => ValueRef::Blob(bytes(start, length)),
        }
    }

    /// Adds a row; false where there is no room for it, whatever was kept of it.
    fn push(&mut self, row: &impl Inputs) -> bool {
        if self.len() >= self.most {
            return false;
        }
        if self.slots.capacity() - self.slots.len() < self.width && !grow(&mut self.slots, self.width) {
            return false;
        }
        for at in 0..self.width {
            let Some(slot) = self.keep(row.value(at)) else { return false };
            self.slots.push(slot);
        }
        self.count += 1;
        true
    }

    /// A value that lies here from now on; `None` where there is no room for it.
    fn keep(&mut self, value: ValueRef<'_>) -> Option<Slot> {
        Some(match value {
            ValueRef::Null => Slot::Null,
            ValueRef::Integer(value) => Slot::Integer(value),
            ValueRef::Real(value) => Slot::Real(value),
            ValueRef::Text(text) => {
                let (start, length) = self.keep_bytes(text)?;
                Slot::Text(start, length)
            }
            ValueRef::Blob(bytes) => {
                let (start, length) = self.keep_bytes(bytes)?;
                Slot::Blob(start, length)
            }
        })
    }

    fn keep_bytes(&mut self, bytes: &[u8]) -> Option<(u32, u32)> {
        let start = u32::try_from(self.bytes.len()).ok()?;
        let length = u32::try_from(bytes.len()).ok()?;
        if self.bytes.capacity() - self.bytes.len() < bytes.len() && !grow(&mut self.bytes, bytes.len()) {
            return None;
        }
        self.bytes.extend_from_slice(bytes);
        Some((start, length))
    }
}

/// Makes room for so many more, and for as many as there are; false when the session has none.
fn grow<T>(all: &mut Vec<T>, more: usize) -> bool {
    let wanted = all.len().max(more).max(64);
    // What there is moves there, and is there twice for a while.
    let bytes = (all.len() + wanted).saturating_mul(size_of::<T>());
    work::room_to_work(bytes).is_ok() && all.try_reserve_exact(wanted).is_ok()
}

impl Windows {
    pub(super) fn new(spec: WindowSpec) -> Self {
        Self::within(spec, usize::MAX)
    }

    fn within(spec: WindowSpec, most: usize) -> Self {
        let width = spec.inputs();
        // Rows are numbered by 32 bits.
        let most = most.min(u32::MAX as usize);
        Self { spec, rows: Rows { count: 0, width, slots: Vec::new(), bytes: Vec::new(), most }, overflown: false }
    }

    /// A row comes in.
    pub(super) fn step(&mut self, row: &impl Inputs) -> Result<()> {
        work::step(ROW)?;
        if !self.overflown && !self.rows.push(row) {
            self.overflow();
        }
        Ok(())
    }

    fn overflow(&mut self) {
        self.overflown = true;
        self.rows.count = 0;
        self.rows.slots = Vec::new();
        self.rows.bytes = Vec::new();
    }

    /// All rows have come. `None` where there is no room for what is computed of them.
    pub(super) fn finish(mut self) -> Result<Option<Computed>> {
        if self.overflown {
            return Ok(None);
        }
        let count = self.rows.len();
        let width = self.spec.calls.len();
        // The order of a window, and where its partitions and peers end; a value for each call.
        let each = 6 * size_of::<u32>() + width * size_of::<Slot>();
        if work::room_to_work(count.saturating_mul(each)).is_err() {
            return Ok(None);
        }
        let mut values = vec![Slot::Null; count * width];
        let (shown_of, mut shown) = (self.spec.shown(), Vec::new());
        let WindowSpec { rows: spec, windows, calls } = self.spec;
        for (at, window) in windows.iter().enumerate() {
            let Some(sorted) = Sorted::of(&self.rows, window)? else { return Ok(None) };
            let mut aggregates = spec.aggregates.iter();
            for (place, call) in calls.iter().enumerate() {
                let aggregate = match call.what {
                    What::Aggregate(frame) => aggregates.next().map(|aggregate| (aggregate, frame)),
                    _ => None,
                };
                if call.window != at {
                    continue;
                }
                let mut aggregated = aggregate.map(|(aggregate, frame)| Aggregated::of(&spec, aggregate, frame));
                let mut start = 0;
                for &end in &sorted.partitions {
                    let end = end as usize;
                    let partition =
                        Partition { rows: &sorted.rows[start..end], ends: &sorted.peers[start..end], start };
                    work::step(partition.rows.len() * ROW)?;
                    let mut put = |row: u32, value: Slot| values[row as usize * width + place] = value;
                    match &mut aggregated {
                        Some(aggregated) => {
                            if !aggregated.put(&mut self.rows, &partition, &mut put)? {
                                return Ok(None);
                            }
                        }
                        None => called(&self.rows, call, &partition, &mut put),
                    }
                    start = end;
                }
            }
            if at == shown_of {
                shown = sorted.rows;
            }
        }
        Ok(Some(Computed { passed: spec.keys, rows: self.rows, shown, values, width }))
    }
}

/// The value of a function for each row of a partition.
fn called(rows: &Rows, call: &Call, partition: &Partition<'_>, put: &mut impl FnMut(u32, Slot)) {
    let count = partition.rows.len();
    let value = |at: usize, input: Input| rows.slot(partition.rows[at] as usize, input);
    let (mut first_peer, mut dense) = (0, 0);
    for (at, &row) in partition.rows.iter().enumerate() {
        if at == 0 || partition.end(at - 1) == at {
            (first_peer, dense) = (at, dense + 1);
        }
        let computed = match call.what {
            What::RowNumber => Slot::Integer(at as i64 + 1),
            What::Rank => Slot::Integer(first_peer as i64 + 1),
            What::DenseRank => Slot::Integer(dense),
            What::PercentRank if count == 1 => Slot::Real(0.0),
            What::PercentRank => Slot::Real(first_peer as f64 / (count - 1) as f64),
            What::CumeDist => Slot::Real(partition.end(at) as f64 / count as f64),
            What::Offset(input, distance, otherwise) => {
                let other = (at as i64).checked_sub(distance).and_then(|other| usize::try_from(other).ok());
                match (other.filter(|other| *other < count), otherwise) {
                    (Some(other), _) => value(other, input),
                    (None, Some(otherwise)) => value(at, otherwise),
                    (None, None) => Slot::Null,
                }
            }
            What::First(input) => value(0, input),
            What::Last(input, Frame::Partition) => value(count - 1, input),
            What::Last(input, Frame::Peers) => value(partition.end(at) - 1, input),
            What::Last(input, Frame::Rows) => value(at, input),
            What::Aggregate(_) => Slot::Null,
        };
        put(row, computed);
    }
}

/// An aggregate over a window.
struct Aggregated {
    nodes: Vec<Number>,
    plan: Plan,
    frame: Frame,
    /// What is computed of a row, and what is shown of an aggregate.
    numbers: Vec<Fixed>,
    shown: Vec<Value>,
}

impl Aggregated {
    fn of(spec: &Spec, aggregate: &Gathered, frame: Frame) -> Self {
        let only = Spec { aggregates: vec![aggregate.clone()], ..spec.clone() };
        let plan = Plan::of(&only);
        Self { nodes: only.nodes, plan, frame, numbers: Vec::new(), shown: Vec::with_capacity(1) }
    }

    /// Its value for each row of a partition; false where there is no room for the values.
    fn put(&mut self, rows: &mut Rows, partition: &Partition<'_>, put: &mut impl FnMut(u32, Slot)) -> Result<bool> {
        let mut cell = [Cell::default()];
        let mut start = 0;
        while start < partition.rows.len() {
            let end = match self.frame {
                Frame::Partition => partition.rows.len(),
                Frame::Peers => partition.end(start),
                Frame::Rows => start + 1,
            };
            for &row in &partition.rows[start..end] {
                let row = Row(rows, row as usize);
                compute(&self.nodes, &row, &mut self.numbers)?;
                if self.plan.cells[0].passes(&row) {
                    self.plan.cells[0].step(&mut cell[0], &row, &self.numbers)?;
                }
            }
            self.shown.clear();
            self.plan.values(&cell, &mut self.shown)?;
            let value = self.shown.pop().unwrap_or(Value::Null);
            let Some(slot) = rows.keep(value.as_ref()) else { return Ok(false) };
            for &row in &partition.rows[start..end] {
                put(row, slot);
            }
            start = end;
        }
        Ok(true)
    }
}

/// Rows as a window has them.
struct Sorted {
    /// Their numbers, partition by partition.
    rows: Vec<u32>,
    /// Behind the last row of each partition.
    partitions: Vec<u32>,
    /// For each place, behind the last row that sorts alike.
    peers: Vec<u32>,
}

/// A partition.
struct Partition<'a> {
    rows: &'a [u32],
    ends: &'a [u32],
    start: usize,
}

impl Partition<'_> {
    /// Behind the last row that sorts like that at a place.
    fn end(&self, at: usize) -> usize {
        self.ends[at] as usize - self.start
    }
}

impl Sorted {
    /// `None` where there is no room for the partitions.
    fn of(rows: &Rows, window: &Window) -> Result<Option<Self>> {
        let Some(mut parts) = parted(rows, &window.partition)? else { return Ok(None) };
        let compare = |a: u32, b: u32| by_keys(rows, &window.order, a as usize, b as usize);
        let partition = &window.keys()[..window.partition.len()];
        parts.sort_by(|a, b| by_keys(rows, partition, a[0] as usize, b[0] as usize));
        let mut sorted = Self {
            rows: Vec::with_capacity(rows.len()),
            partitions: Vec::with_capacity(parts.len()),
            peers: vec![0; rows.len()],
        };
        for mut part in parts {
            sort(&mut part, &compare)?;
            let start = sorted.rows.len();
            sorted.rows.extend_from_slice(&part);
            let end = sorted.rows.len();
            sorted.partitions.push(end as u32);
            let mut from = start;
            for at in start + 1..=end {
                if at == end || compare(sorted.rows[at - 1], sorted.rows[at]) != Ordering::Equal {
                    sorted.peers[from..at].fill(at as u32);
                    from = at;
                }
            }
        }
        Ok(Some(sorted))
    }
}

/// Sorts rows' numbers; those that sort alike stay as they came. Many are merged bit by bit, so that the work can be stopped.
fn sort(part: &mut Vec<u32>, compare: &impl Fn(u32, u32) -> Ordering) -> Result<()> {
    const AT_ONCE: usize = 4096;
    for some in part.chunks_mut(AT_ONCE) {
        work::step(some.len() * ROW)?;
        some.sort_by(|a, b| compare(*a, *b));
    }
    let mut size = AT_ONCE;
    let mut merged = Vec::new();
    while size < part.len() {
        merged.clear();
        merged.reserve_exact(part.len());
        for pair in part.chunks(size * 2) {
            let (mut left, mut right) = pair.split_at(size.min(pair.len()));
            while let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) {
                work::step(ROW)?;
                if compare(*second, *first) == Ordering::Less {
                    merged.push(*second);
                    right = right_rest;
                } else {
                    merged.push(*first);
                    left = left_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(part, &mut merged);
        size *= 2;
    }
    Ok(())
}

/// So many partitions are made before somebody looks whether there is room for as many again.
const PARTITIONS_AT_ONCE: usize = 1024;

/// The rows' numbers by what they are parted by; `None` where there is no room for so many partitions.
fn parted(rows: &Rows, partition: &[Input]) -> Result<Option<Vec<Vec<u32>>>> {
    if partition.is_empty() {
        return Ok(Some(if rows.len() == 0 { Vec::new() } else { vec![(0..rows.len() as u32).collect()] }));
    }
    let mut places: HashMap<Box<[u8]>, usize, Hashes> = HashMap::default();
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut key = Vec::new();
    let mut last: Option<(Vec<u8>, usize)> = None;
    for row in 0..rows.len() {
        work::step(1)?;
        key.clear();
        for at in partition {
            push_key(&mut key, rows.value(row, *at));
        }
        let part = match &last {
            Some((known, part)) if *known == key => *part,
            _ => match places.get(key.as_slice()) {
                Some(part) => *part,
                None => {
                    if parts.len().is_multiple_of(PARTITIONS_AT_ONCE) {
                        // What there is of them moves when the table of places grows, and is there twice for a while.
                        let each = size_of::<Vec<u32>>() + size_of::<(Box<[u8]>, usize)>() + key.len() + 64;
                        if work::room_to_work(each * (parts.len() + PARTITIONS_AT_ONCE)).is_err() {
                            return Ok(None);
                        }
                    }
                    places.insert(key.as_slice().into(), parts.len());
                    parts.push(Vec::new());
                    parts.len() - 1
                }
            },
        };
        match &mut last {
            Some((known, at)) => {
                known.clone_from(&key);
                *at = part;
            }
            last => *last = Some((key.clone(), part)),
        }
        parts[part].push(row as u32);
    }
    Ok(Some(parts))
}

fn by_keys(rows: &Rows, keys: &[Key], a: usize, b: usize) -> Ordering {
    for key in keys {
        let (left, right) = (rows.value(a, key.input), rows.value(b, key.input));
        let ordering = match (left == ValueRef::Null, right == ValueRef::Null) {
            (true, true) => Ordering::Equal,
            (true, false) if key.nulls_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if key.nulls_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) if key.descending => order(right, left),
            (false, false) => order(left, right),
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    Ordering::Equal
}

/// Rows with what has been computed of them.
pub(super) struct Computed {
    /// So many arguments, the first, are passed on.
    passed: usize,
    rows: Rows,
    /// The rows' numbers in the order in which they come out.
    shown: Vec<u32>,
    /// So many for each row.
    values: Vec<Slot>,
    width: usize,
}

impl Computed {
    /// How many values a row has.
    pub(super) fn columns(&self) -> usize {
        self.passed + self.width
    }

    /// The row at a place; false behind the last.
    pub(super) fn row(&self, at: usize, out: &mut Vec<Value>) -> bool {
        let Some(&row) = self.shown.get(at) else { return false };
        let row = row as usize;
        out.clear();
        out.extend((0..self.passed).map(|at| self.rows.value(row, at).to_value()));
        let values = &self.values[row * self.width..(row + 1) * self.width];
        out.extend(values.iter().map(|slot| self.rows.shown(*slot).to_value()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given(Vec<Value>);

    impl Inputs for Given {
        fn value(&self, at: usize) -> ValueRef<'_> {
            self.0[at].as_ref()
        }
    }

    fn computed(told: &str, rows: &[[i64; 3]], most: usize) -> Option<Vec<String>> {
        let mut windows = Windows::within(WindowSpec::read(told).unwrap(), most);
        for row in rows {
            // A number below 0 is NULL.
            let values = row.iter().map(|value| if *value < 0 { Value::Null } else { Value::Integer(*value) });
            windows.step(&Given(values.collect())).unwrap();
        }
        let computed = windows.finish().unwrap()?;
        let (mut row, mut all) = (Vec::new(), Vec::new());
        while computed.row(all.len(), &mut row) {
            assert_eq!(row.len(), computed.columns());
            let values = row.iter().map(|value| match value {
                Value::Null => "-".to_owned(),
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => value.to_string(),
                Value::Text(text) => text.clone(),
                Value::Blob(_) => "?".to_owned(),
            });
            all.push(values.collect::<Vec<_>>().join(" "));
        }
        Some(all)
    }

    const ROWS: [[i64; 3]; 6] = [[2, 7, 1], [1, 5, 2], [2, 3, 3], [1, -1, 4], [1, 5, 5], [2, 9, -1]];

    #[test]
    fn rows_are_ranked_within_their_partitions() {
        let told = "2;over 0 1.asc.last;0 row_number;0 rank;0 dense_rank;0 percent_rank;0 cume_dist";
        let third = 1.0 / 3.0;
        let expected = [
            "1 5 1 1 1 0 0.6666666666666666".to_owned(),
            "1 5 2 1 1 0 0.6666666666666666".to_owned(),
            "1 - 3 3 2 1 1".to_owned(),
            format!("2 3 1 1 1 0 {third}"),
            "2 7 2 2 2 0.5 0.6666666666666666".to_owned(),
            "2 9 3 3 3 1 1".to_owned(),
        ];
        assert_eq!(computed(told, &ROWS, 6).unwrap(), expected);
    }

    #[test]
    fn frames_end_with_the_partition_the_peers_or_the_row() {
        let told = "2 i.2 whole.0 whole.0 whole.0 count.2;over 0 1.desc.first;\
                    0 aggregate all;0 aggregate peers;0 aggregate rows;0 aggregate peers;0 last 2 all;0 last 2 peers;0 first 2";
        let expected = [
            "1 - 11 4 4 1 5 4 4",
            "1 5 11 11 6 3 5 5 4",
            "1 5 11 11 11 3 5 5 4",
            "2 9 4 - - 0 3 - -",
            "2 7 4 1 1 1 3 1 -",
            "2 3 4 4 4 2 3 3 -",
        ];
        assert_eq!(computed(told, &ROWS, 6).unwrap(), expected);
    }

    #[test]
    fn rows_see_those_before_and_behind() {
        let told = "1;over 2.asc.last;0 offset 1 1;0 offset 1 -2 0;0 offset 1 0";
        let expected = ["2 - 3 7", "1 7 - 5", "2 5 5 3", "1 3 9 -", "1 - 1 5", "2 5 2 9"];
        assert_eq!(computed(told, &ROWS, 6).unwrap(), expected);
        assert_eq!(computed(told, &[], 6).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn rows_of_which_nothing_is_asked_are_counted() {
        let told = "0 rows;over;0 aggregate all;0 row_number";
        assert_eq!(computed(told, &ROWS[..2], 6).unwrap(), ["2 1", "2 2"]);
    }

    #[test]
    fn rows_without_room_are_none() {
        assert_eq!(computed("1;over 2.asc.last;0 rank", &ROWS, 5), None);
    }

    #[test]
    fn many_rows_are_sorted_as_few_are() {
        let numbers: Vec<u32> = (0..30_000_u32).map(|at| at.wrapping_mul(2_654_435_761) % 1_000).collect();
        let compare = |a: u32, b: u32| numbers[a as usize].cmp(&numbers[b as usize]);
        let mut all: Vec<u32> = (0..30_000).collect();
        let mut expected = all.clone();
        expected.sort_by(|a, b| compare(*a, *b));
        sort(&mut all, &compare).unwrap();
        assert_eq!(all, expected);
    }
}
