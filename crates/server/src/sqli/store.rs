//! Bytes that a session keeps for later: rows of scroll cursors, large objects. In memory at first, in a file without a
//! name once they are many, so that memory does not grow with what a client has read.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rowferry_engine::{Condition, Error, Result, anonymous_file};

/// Bytes in memory beyond this go to the file.
const MEMORY_LIMIT: usize = 4 << 20;
/// Bytes that a store takes at most.
const LIMIT: u64 = 16 << 30;

/// Bytes by their place, added at the end.
#[derive(Debug, Default)]
pub(super) struct Store {
    file: Option<File>,
    /// How many bytes are in the file.
    filed: u64,
    /// The bytes behind these.
    memory: Vec<u8>,
}

impl Store {
    /// Adds bytes; yields their place.
    pub fn add(&mut self, bytes: &[u8]) -> Result<u64> {
        let at = self.end();
        if at.saturating_add(bytes.len() as u64) > LIMIT {
            return Err(Error::new(Condition::ProgramLimitExceeded, "a cursor's rows are too many to be kept"));
        }
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > MEMORY_LIMIT {
            self.spill().map_err(|error| failed(&error))?;
        }
        Ok(at)
    }

    /// The place of what is added next.
    pub fn end(&self) -> u64 {
        self.filed + self.memory.len() as u64
    }

    fn spill(&mut self) -> std::io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(anonymous_file()?),
        };
        file.write_all_at(&self.memory, self.filed)?;
        self.filed += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    /// So many bytes from a place on, which [`Store::add`] has given; fewer at the end.
    pub fn read(&self, at: u64, length: usize) -> Result<Vec<u8>> {
        if let Some(start) = at.checked_sub(self.filed) {
            let start = usize::try_from(start).unwrap_or(usize::MAX).min(self.memory.len());
            let end = start.saturating_add(length).min(self.memory.len());
            return Ok(self.memory[start..end].to_vec());
        }
        let here = usize::try_from(self.filed - at).unwrap_or(usize::MAX).min(length);
        let mut bytes = vec![0; here];
        if let Some(file) = &self.file {
            file.read_exact_at(&mut bytes, at).map_err(|error| failed(&error))?;
        }
        if here < length {
            bytes.extend_from_slice(&self.memory[..(length - here).min(self.memory.len())]);
        }
        Ok(bytes)
    }
}

fn failed(error: &std::io::Error) -> Error {
    let full = error.kind() == std::io::ErrorKind::StorageFull;
    let condition = if full { Condition::DiskFull } else { Condition::IoError };
    Error::new(condition, format!("could not keep rows in a temporary file: {error}"))
}

/// One in so many rows has its place remembered; the others are found from there.
const STEP: usize = 16;
/// Bytes of a row's length.
const LENGTH: usize = 4;

/// Rows by their number, from 0.
#[derive(Debug, Default)]
pub(super) struct Rows {
    store: Store,
    count: usize,
    /// Places of the rows 0, [`STEP`], 2 [`STEP`], …
    places: Vec<u64>,
    /// The row read last and the place behind it.
    last: Option<(usize, u64)>,
}

impl Rows {
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn push(&mut self, row: &[u8]) -> Result<()> {
        let length = u32::try_from(row.len())
            .map_err(|_| Error::new(Condition::ProgramLimitExceeded, "a row is too long to be kept"))?;
        let at = self.store.add(&length.to_ne_bytes())?;
        self.store.add(row)?;
        if self.count.is_multiple_of(STEP) {
            self.places.push(at);
        }
        self.count += 1;
        Ok(())
    }

    /// The row of this number; `None` when there is none.
    pub fn get(&mut self, index: usize) -> Result<Option<Vec<u8>>> {
        if index >= self.count {
            return Ok(None);
        }
        let (mut row, mut at) = (index - index % STEP, self.places.get(index / STEP).copied().unwrap_or_default());
        if let Some((last, behind)) = self.last
            && (row..index).contains(&last)
        {
            (row, at) = (last + 1, behind);
        }
        loop {
            let mut length = [0; LENGTH];
            for (to, from) in length.iter_mut().zip(self.store.read(at, LENGTH)?) {
                *to = from;
            }
            let length = u32::from_ne_bytes(length) as usize;
            let behind = at + (LENGTH + length) as u64;
            if row == index {
                self.last = Some((row, behind));
                return self.store.read(at + LENGTH as u64, length).map(Some);
            }
            (row, at) = (row + 1, behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_by_number_from_memory_and_file() {
        let mut rows = Rows::default();
        let row = |number: usize| vec![number as u8; 1 + (number * 7919) % 90_000];
        for number in 0..300 {
            rows.push(&row(number)).unwrap();
        }
        assert!(rows.store.filed > 0 && !rows.store.memory.is_empty());
        for number in (0..300).chain([299, 0, 150, 151, 152, 17, 16, 15, 31, 298]) {
            assert_eq!(rows.get(number).unwrap().unwrap(), row(number), "{number}");
        }
        assert_eq!(rows.get(300).unwrap(), None);
        assert_eq!(rows.len(), 300);
    }

    #[test]
    fn a_value_may_lie_across_the_end_of_the_file() {
        let mut store = Store::default();
        let first = store.add(&vec![1; MEMORY_LIMIT + 1]).unwrap();
        store.add(b"tail").unwrap();
        assert_eq!(first, 0);
        assert_eq!(store.read(MEMORY_LIMIT as u64, 5).unwrap(), b"\x01tail");
        assert_eq!(store.read(store.end(), 5).unwrap(), b"");
    }
}
