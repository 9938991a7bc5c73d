//! What a copy has done, in a file, so that another run can go on.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Failure;

/// A part of a table's rows, in the order of its key.
#[derive(Clone, Debug, Default)]
pub(super) struct Unit {
    pub table: usize,
    /// The numbers between which the first column of the key is: from, and below.
    pub from: Option<i128>,
    pub below: Option<i128>,
    /// The key of the last row that is committed.
    pub after: Option<Vec<String>>,
    /// What was about to be committed.
    pub begun: Option<Begun>,
    pub rows: u64,
    pub bytes: u64,
    pub sum: u128,
    pub done: bool,
}

/// A transaction of which only the target knows whether it is committed.
#[derive(Clone, Debug, Default)]
pub(super) struct Begun {
    /// The key of its last row; empty for a table without one.
    pub last: Vec<String>,
    /// The rows with this key that are there once it is committed; told where others were there before the copy.
    pub there: Option<u64>,
    pub rows: u64,
    pub bytes: u64,
    pub sum: u128,
    /// Nothing follows it.
    pub ends: bool,
}

impl Unit {
    /// What was begun is committed.
    pub(super) fn settle(&mut self) {
        let Some(begun) = self.begun.take() else { return };
        self.rows += begun.rows;
        self.bytes += begun.bytes;
        self.sum = self.sum.wrapping_add(begun.sum);
        self.done = begun.ends;
        if !begun.last.is_empty() {
            self.after = Some(begun.last);
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct TableState {
    pub name: String,
    /// It was on the target before.
    pub existed: bool,
    /// It is made, or emptied.
    pub made: bool,
    /// The rows that were there, and their checksum.
    pub before: Option<(u64, u128)>,
    /// The rows of the source, for the bar.
    pub expected: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub from: String,
    pub to: String,
    /// The options and the shape of what is copied; another run must have the same.
    pub shape: String,
    pub existed: Vec<String>,
    pub tables: Vec<TableState>,
    pub units: Vec<Unit>,
    /// The units are all of the rows.
    pub divided: bool,
}

/// A file of this name beside another one.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Keeps others from the state, in a file beside it that goes with this.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    pub(super) fn of(state: &Path) -> Result<Self, Failure> {
        if state.is_dir() {
            return Err(Failure::new(format!("`{}` is a directory", state.display()))
                .hint("name a file of this directory: --state FILE"));
        }
        let path = beside(state, ".lock");
        let fail = |error: std::io::Error| Failure::new(format!("cannot write `{}`: {error}", path.display()));
        loop {
            let mut options = std::fs::OpenOptions::new();
            let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path).map_err(fail)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Failure::new(format!("another copy is at work with the state `{}`", state.display()))
                        .hint("wait for it, or name another state: --state FILE"));
                }
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
            // One that has just ended has removed it.
            let is_there = std::fs::metadata(&path).map(|there| there.ino()).ok();
            if is_there == Some(file.metadata().map_err(fail)?.ino()) {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn sum_text(sum: u128) -> Value {
    format!("{sum:032x}").into()
}

fn read_sum(value: &Value) -> u128 {
    value.as_str().and_then(|text| u128::from_str_radix(text, 16).ok()).unwrap_or(0)
}

fn strings(value: &Value) -> Option<Vec<String>> {
    Some(value.as_array()?.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
}

impl State {
    fn to_json(&self) -> Value {
        let tables: Vec<_> = self
            .tables
            .iter()
            .map(|table| {
                json!({
                    "name": table.name, "existed": table.existed, "made": table.made, "expected": table.expected,
                    "before": table.before.map(|(rows, sum)| json!([rows, sum_text(sum)])),
                })
            })
            .collect();
        let units: Vec<_> = self
            .units
            .iter()
            .map(|unit| {
                let begun = unit.begun.as_ref().map(|begun| {
                    json!({
                        "last": begun.last, "there": begun.there, "rows": begun.rows, "bytes": begun.bytes, "sum": sum_text(begun.sum),
                        "ends": begun.ends,
                    })
                });
                json!({
                    "table": unit.table, "from": unit.from.map(|number| number.to_string()),
                    "below": unit.below.map(|number| number.to_string()), "after": unit.after, "begun": begun,
                    "rows": unit.rows, "bytes": unit.bytes, "sum": sum_text(unit.sum), "done": unit.done,
                })
            })
            .collect();
        json!({
            "rowferry_copy": 1, "from": self.from, "to": self.to, "shape": self.shape, "existed": self.existed,
            "divided": self.divided, "tables": tables, "units": units,
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        if value["rowferry_copy"] != 1 {
            return None;
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let number = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
        let mut state = Self {
            from: text(&value["from"])?,
            to: text(&value["to"])?,
            shape: text(&value["shape"])?,
            existed: strings(&value["existed"])?,
            divided: value["divided"].as_bool()?,
            ..Self::default()
        };
        for table in value["tables"].as_array()? {
            state.tables.push(TableState {
                name: text(&table["name"])?,
                existed: table["existed"].as_bool()?,
                made: table["made"].as_bool()?,
                expected: table["expected"].as_u64()?,
                before: table["before"].as_array().map(|pair| (pair[0].as_u64().unwrap_or(0), read_sum(&pair[1]))),
            });
        }
        for unit in value["units"].as_array()? {
            let begun = &unit["begun"];
            state.units.push(Unit {
                table: usize::try_from(unit["table"].as_u64()?).ok()?,
                from: number(&unit["from"]),
                below: number(&unit["below"]),
                after: strings(&unit["after"]),
                begun: begun.is_object().then(|| Begun {
                    last: strings(&begun["last"]).unwrap_or_default(),
                    there: begun["there"].as_u64(),
                    rows: begun["rows"].as_u64().unwrap_or(0),
                    bytes: begun["bytes"].as_u64().unwrap_or(0),
                    sum: read_sum(&begun["sum"]),
                    ends: begun["ends"].as_bool().unwrap_or(false),
                }),
                rows: unit["rows"].as_u64()?,
                bytes: unit["bytes"].as_u64()?,
                sum: read_sum(&unit["sum"]),
                done: unit["done"].as_bool()?,
            });
        }
        state.units.iter().all(|unit| unit.table < state.tables.len()).then_some(state)
    }

    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let fail = |what: String| Failure::new(format!("cannot go on from `{}`: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| {
            fail(error.to_string())
                .hint("without a state there is nothing to resume: leave --resume out, or name it with --state")
        })?;
        let value: Value = serde_json::from_str(&text).map_err(|error| fail(error.to_string()))?;
        Self::from_json(&value).ok_or_else(|| fail("it is no state of a copy".into()))
    }

    /// Writes it whole, or leaves what was there.
    pub(super) fn save(&self, path: &Path) -> Result<(), Failure> {
        let fail = |error: std::io::Error| Failure::new(format!("cannot write `{}`: {error}", path.display()));
        let partial = beside(path, ".new");
        // Keys are somebody's data.
        let file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&partial);
        let mut file = file.map_err(fail)?;
        file.write_all(self.to_json().to_string().as_bytes()).map_err(fail)?;
        file.sync_data().map_err(fail)?;
        std::fs::rename(&partial, path).map_err(fail)?;
        // Whoever commits afterwards counts on this one, also when the machine is lost.
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new("."))).and_then(|directory| directory.sync_all()).map_err(fail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.json");
        let mut unit = Unit { table: 0, from: Some(-5), after: Some(vec!["a\"b".into()]), rows: 7, ..Unit::default() };
        unit.begun =
            Some(Begun { last: vec!["c".into()], there: Some(2), rows: 3, bytes: 9, sum: u128::MAX, ends: true });
        let state = State {
            from: "x".into(),
            divided: true,
            tables: vec![TableState { name: "t".into(), before: Some((4, 5)), ..TableState::default() }],
            units: vec![unit],
            ..State::default()
        };
        state.save(&path).unwrap();
        let mut read = State::read(&path).unwrap();
        assert_eq!(format!("{state:?}"), format!("{read:?}"));
        assert!(Lock::of(&path).is_ok_and(|_one| Lock::of(&path).is_err()));
        assert!(Lock::of(&path).is_ok() && Lock::of(directory.path()).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        read.units[0].settle();
        assert_eq!((read.units[0].rows, read.units[0].done, read.units[0].sum), (10, true, u128::MAX));
        assert_eq!(read.units[0].after, Some(vec!["c".to_owned()]));
    }
}
