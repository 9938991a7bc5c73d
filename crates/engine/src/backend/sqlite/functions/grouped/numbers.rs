//! `rf_row_numbers`: the numbers of rows that an index has found, to be read in their order by `rf_groups`.
//!
//! Those for which there is no memory go to a file, in the order in which they come: their rows are fetched later, and slower.

use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Error, Result, work};

use super::groups::Finished;
use crate::spool::Spool;

/// What a number counts as work, beside the step that finds it.
const NUMBER: usize = 8;
/// Numbers for which there is room in the beginning.
const FIRST: usize = 1024;

/// Numbers while rows are found.
#[derive(Default)]
pub(super) struct Numbers {
    all: Vec<i64>,
    /// Those behind the last for which there was memory.
    more: Option<Spool>,
}

impl Numbers {
    /// A row has been found.
    #[inline]
    pub(super) fn step(&mut self, value: ValueRef<'_>) -> Result<()> {
        work::step(NUMBER)?;
        let ValueRef::Integer(number) = value else {
            return Err(Error::internal(format!("a row's number is no {value:?}")));
        };
        if self.more.is_none() && self.all.len() < self.all.capacity() {
            self.all.push(number);
            return Ok(());
        }
        self.grow(number)
    }

    #[cold]
    fn grow(&mut self, number: i64) -> Result<()> {
        let more = self.all.capacity().max(FIRST);
        // A table that grows is there twice for a while.
        if self.more.is_none() && work::room_to_work((self.all.capacity() + more) * 2 * size_of::<i64>()).is_ok() {
            self.all.reserve_exact(more);
            self.all.push(number);
            return Ok(());
        }
        self.more.get_or_insert_with(|| Spool::new(1)).push(std::iter::once(ValueRef::Integer(number)))
    }

    /// All rows have been found.
    pub(super) fn finish(mut self) -> Result<Finished> {
        work::step(self.all.len() * NUMBER)?;
        // An index has rows of equal keys in the order of their numbers: they come in runs, which this sort merges.
        self.all.sort();
        let Some(more) = self.more else { return Ok(Finished::of_numbers(self.all)) };
        let mut rows = Spool::new(1);
        for number in std::mem::take(&mut self.all) {
            rows.push(std::iter::once(ValueRef::Integer(number)))?;
        }
        let mut more = more.into_reader()?;
        while more.advance()? {
            rows.push(std::iter::once(more.column(0)))?;
        }
        Finished::of_rows(1, rows)
    }
}

#[cfg(test)]
mod tests {
    use rowferry_dialect::ir::Value;

    use super::*;

    fn read(numbers: Numbers) -> Vec<i64> {
        let finished = numbers.finish().unwrap();
        let (mut walk, mut row, mut all) = (finished.begin().unwrap(), Vec::new(), Vec::new());
        while finished.next(&mut walk, &mut row).unwrap() {
            match row.as_slice() {
                [Value::Integer(number)] => all.push(*number),
                other => panic!("{other:?}"),
            }
        }
        finished.end(walk);
        all
    }

    #[test]
    fn numbers_are_read_in_their_order() {
        let mut numbers = Numbers::default();
        for at in 0..5_000 {
            numbers.step(ValueRef::Integer(at * 7_919 % 5_000 - 100)).unwrap();
        }
        assert_eq!(read(numbers), (-100..4_900).collect::<Vec<_>>());
        assert!(read(Numbers::default()).is_empty());
        assert!(Numbers::default().step(ValueRef::Null).is_err());
    }

    #[test]
    fn numbers_without_room_come_last() {
        let mut numbers = Numbers { all: vec![3, 1, 2], more: Some(Spool::new(1)) };
        numbers.step(ValueRef::Integer(9)).unwrap();
        numbers.step(ValueRef::Integer(0)).unwrap();
        assert_eq!(read(numbers), [1, 2, 3, 9, 0]);
    }
}
