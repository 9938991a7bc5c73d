//! The steps in which SQLite runs a program, and what it has counted of them.
//!
//! SQLite tells its steps in words (<https://sqlite.org/eqp.html>), which are read here and nowhere else, and counts loops,
//! rows and time of each where it is asked to (<https://sqlite.org/c3ref/stmt_scanstatus.html>).

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use libsqlite3_sys as ffi;
use rowferry_dialect::ir::RelId;
use rowferry_dialect::lower::sqlite::{FOUND, GATHERED, HASHED, Ranged, WINDOWS};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::handle::Handle;
use super::session::Program;
use super::statement::{Failure, Statement};

type Done<T = ()> = std::result::Result<T, Failure>;

/// A step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// Its number.
    pub id: i64,
    /// The step that it is a part of; 0 for the plan itself.
    pub parent: i64,
    /// What it does.
    pub operation: Operation,
    /// What was counted when it ran.
    pub counted: Option<Counted>,
}

/// What was counted of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// How often it began.
    pub loops: Option<u64>,
    /// The rows that it has read in all of these, before conditions that it does not search by.
    pub rows: Option<u64>,
    /// Its part of the whole statement's time, from 0 to 1.
    pub share: Option<f64>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Reads rows.
    Read {
        /// Of what.
        of: Target,
        /// By which way; `None` reads all in the order in which they are kept.
        by: Option<Way>,
    },
    /// Keeps what is read until all is there: `ORDER BY`, `GROUP BY`, `DISTINCT` say what for.
    Sort(String),
    /// Makes the rows of a subquery that others read by its name.
    Rows {
        /// The name.
        name: Target,
        /// They are kept.
        kept: bool,
    },
    /// Makes groups of rows by hashing.
    Hash,
    /// Makes one group of all rows.
    Gather,
    /// Computes functions over windows of rows.
    Windows,
    /// Fetches rows of a table that an index has found in the order in which they lie.
    Fetch {
        /// The table.
        of: Target,
    },
    /// A set operation; its parts are [`Operation::Arm`]s.
    Compound,
    /// A set operation of sorted arms: its words.
    Merge(String),
    /// A part of a set operation: the words of the operation, none before the first.
    Arm(String),
    /// WITH RECURSIVE: what is there in the beginning.
    Beginning,
    /// WITH RECURSIVE: what comes again and again.
    Recursion,
    /// A subquery of an expression.
    Subquery {
        /// Its number.
        number: String,
        /// It is run anew for each row.
        correlated: bool,
    },
    /// Rows by several indexes, each once.
    Either,
    /// Anything else, in SQLite's words.
    Other(String),
}

/// What rows are read of.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A relation of the statement.
    Relation(RelId),
    /// A name of SQLite's.
    Named(String),
    /// A row of no table.
    OneRow,
    /// VALUES.
    Values,
}

/// The way to rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// By what.
    pub index: Index,
    /// The table itself is not needed.
    pub covering: bool,
    /// The columns that are searched by, as conditions.
    pub condition: Option<String>,
}

/// By what rows are found.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    /// The rows' own numbers: the primary key where that is an integer.
    Row,
    /// An index of the file.
    Named(String),
    /// One that is made for the statement.
    Automatic,
    /// A function's own.
    Function,
}

impl Handle {
    /// The steps in which a program would be run.
    pub fn plan(&self, program: &Program) -> Done<Vec<PlanStep>> {
        self.steps_of(&program.sql)
    }

    /// The form of a program that is the faster one here.
    pub fn faster(&self, mut program: Program) -> Program {
        let Some((other, ranged)) = program.in_order.take().map(|other| *other) else { return program };
        match self.plan(&program) {
            Ok(steps) if ranged.iter().all(|table| is_ranged(&steps, table)) => other,
            _ => program,
        }
    }

    /// The same of a statement in SQLite's words.
    pub fn steps_of(&self, sql: &str) -> Done<Vec<PlanStep>> {
        let mut query = self.bound().prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
        let mut steps = Vec::new();
        // Nothing is run: parameters need no values.
        let mut rows = query.raw_query();
        while let Some(row) = rows.next()? {
            let words: String = row.get(3)?;
            let operation = Operation::read(&words);
            steps.push(PlanStep { id: row.get(0)?, parent: row.get(1)?, operation, counted: None });
        }
        Ok(with_groups(with_windows(steps)))
    }

    /// From now on the steps of statements that are prepared are counted, or are not.
    pub fn count_steps(&self, on: bool) -> Done {
        self.learn_file();
        set_counting(self.bare(), on)?;
        Ok(())
    }

    /// What was counted of the statement of the plan `key`, which has run, and is not kept.
    pub fn counted(&self, key: u64) -> Vec<PlanStep> {
        self.take(key).map_or_else(Vec::new, |statement| statement.counted())
    }
}

/// True where the rows of a table are found by a range of an index, and fetched one after the other.
fn is_ranged(steps: &[PlanStep], table: &Ranged) -> bool {
    steps.iter().any(|step| match &step.operation {
        Operation::Read {
            of: Target::Relation(id),
            by: Some(Way { index: Index::Named(_), covering: false, condition: Some(condition) }),
        } => {
            let range =
                condition.strip_prefix(table.column.as_str()).is_some_and(|rest| rest.starts_with([' ', '>', '<']));
            *id == table.relation && range && !condition.contains('=')
        }
        _ => false,
    })
}

/// SQLite counts from the beginning where it can count at all.
pub fn set_counting(connection: &Connection, on: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_STMT_SCANSTATUS, on).map(|_| ())
}

impl Statement {
    fn counted(&self) -> Vec<PlanStep> {
        let whole = self.number(-1, ffi::SQLITE_SCANSTAT_NCYCLE).unwrap_or(0);
        let mut steps = Vec::new();
        for at in 0.. {
            let Some(words) = self.words(at) else { break };
            let id = self.small_number(at, ffi::SQLITE_SCANSTAT_SELECTID).unwrap_or(0);
            let parent = self.small_number(at, ffi::SQLITE_SCANSTAT_PARENTID).unwrap_or(0);
            let cycles = self.number(at, ffi::SQLITE_SCANSTAT_NCYCLE);
            #[allow(clippy::cast_precision_loss, reason = "a part of a time")]
            let share = cycles.filter(|_| whole > 0).map(|cycles| (cycles as f64 / whole as f64).clamp(0.0, 1.0));
            let counted = Counted {
                loops: self.number(at, ffi::SQLITE_SCANSTAT_NLOOP),
                rows: self.number(at, ffi::SQLITE_SCANSTAT_NVISIT),
                share,
            };
            steps.push(PlanStep { id, parent, operation: Operation::read(&words), counted: Some(counted) });
        }
        with_groups(with_windows(steps))
    }

    /// # Safety
    /// `out` is of the type that SQLite documents for `what`.
    unsafe fn scan_status(&self, at: c_int, what: c_int, out: *mut c_void) -> bool {
        // SAFETY: the statement lives; the caller's promise.
        unsafe {
            ffi::sqlite3_stmt_scanstatus_v2(self.raw(), at, what, ffi::SQLITE_SCANSTAT_COMPLEX, out) == ffi::SQLITE_OK
        }
    }

    /// A count, if this is counted of such a step: SQLite says -1 otherwise.
    fn number(&self, at: c_int, what: c_int) -> Option<u64> {
        let mut number: i64 = -1;
        // SAFETY: these are `sqlite3_int64`.
        let known = unsafe { self.scan_status(at, what, (&raw mut number).cast()) };
        if known { u64::try_from(number).ok() } else { None }
    }

    fn small_number(&self, at: c_int, what: c_int) -> Option<i64> {
        let mut number: c_int = 0;
        // SAFETY: these are `int`.
        let known = unsafe { self.scan_status(at, what, (&raw mut number).cast()) };
        known.then_some(i64::from(number))
    }

    fn words(&self, at: c_int) -> Option<String> {
        let mut words: *const c_char = ptr::null();
        // SAFETY: this is a text of the statement's, or null.
        unsafe {
            let known = self.scan_status(at, ffi::SQLITE_SCANSTAT_EXPLAIN, (&raw mut words).cast());
            (known && !words.is_null()).then(|| CStr::from_ptr(words).to_string_lossy().into_owned())
        }
    }
}

/// One step for rows with windows: to SQLite it is a set operation, of which the one arm keeps the rows and yields them again, and the
/// other is there for those for which there is no memory.
fn with_windows(mut steps: Vec<PlanStep>) -> Vec<PlanStep> {
    let is_kept = |step: &PlanStep| matches!(&step.operation, Operation::Rows { name: Target::Named(name), .. } if name.starts_with(WINDOWS));
    let mut from = 0;
    while let Some(kept) = (from..steps.len()).find(|at| is_kept(&steps[*at])) {
        from = kept + 1;
        let (kept, arm) = (steps[kept].id, steps[kept].parent);
        let parent_of = |steps: &[PlanStep], id| steps.iter().find(|step| step.id == id).map(|step| step.parent);
        let Some(compound) = parent_of(&steps, arm) else { continue };
        let Some(at) = steps.iter().position(|step| step.id == compound && step.operation == Operation::Compound)
        else {
            continue;
        };
        let yielded = steps.iter().find(|step| {
            step.parent == arm
                && matches!(step.operation, Operation::Read { by: Some(Way { index: Index::Function, .. }), .. })
        });
        let counted = yielded.and_then(|step| step.counted);
        steps[at].operation = Operation::Windows;
        steps[at].counted = counted;
        // What is below the compound but not below the rows that are kept.
        let mut gone: Vec<_> = vec![compound];
        let mut left = Vec::with_capacity(steps.len());
        for mut step in std::mem::take(&mut steps) {
            if step.parent == kept {
                step.parent = compound;
            } else if step.id != compound && gone.contains(&step.parent) {
                gone.push(step.id);
                continue;
            }
            left.push(step);
        }
        steps = left;
        from = from.min(steps.len());
    }
    steps
}

/// One step for what is three to SQLite: a subquery of one row, which is all groups, its reading, and the function that
/// yields them. Behind the numbers of rows comes the reading of these, too.
fn with_groups(mut steps: Vec<PlanStep>) -> Vec<PlanStep> {
    let known =
        |name: &Target| [HASHED, GATHERED, FOUND].into_iter().find(|known| *name == Target::Named((*known).to_owned()));
    let mut at = 0;
    while at < steps.len() {
        if let Operation::Rows { name, .. } = &steps[at].operation
            && let Some(name) = known(name)
        {
            let rows = Target::Named(name.to_owned());
            let parent = steps[at].parent;
            let mut following = |wanted: &dyn Fn(&Operation) -> bool| {
                let found =
                    (at + 1..steps.len()).find(|&at| steps[at].parent == parent && wanted(&steps[at].operation));
                found.map(|found| steps.remove(found))
            };
            following(&|operation| matches!(operation, Operation::Read { of, .. } if *of == rows));
            let mut yielded = following(&|operation| {
                matches!(operation, Operation::Read { by: Some(Way { index: Index::Function, .. }), .. })
            });
            let mut operation = if name == HASHED { Operation::Hash } else { Operation::Gather };
            if name == FOUND {
                yielded = following(&|operation| {
                    matches!(operation, Operation::Read { by: Some(Way { index: Index::Row, .. }), .. })
                });
                match yielded.as_ref().map(|read| &read.operation) {
                    Some(Operation::Read { of, .. }) => operation = Operation::Fetch { of: of.clone() },
                    _ => operation = steps[at].operation.clone(),
                }
            }
            steps[at].operation = operation;
            steps[at].counted = yielded.and_then(|step| step.counted);
        }
        at += 1;
    }
    steps
}

impl Operation {
    fn read(words: &str) -> Self {
        let other = || Self::Other(words.to_owned());
        if let Some(rest) = words.strip_prefix("SCAN ").or_else(|| words.strip_prefix("SEARCH ")) {
            return Self::reading(rest);
        }
        if let Some(what) = words.strip_prefix("USE TEMP B-TREE FOR ") {
            return Self::Sort(what.to_owned());
        }
        if let Some(name) = words.strip_prefix("CO-ROUTINE ") {
            return Self::Rows { name: Target::read(name), kept: false };
        }
        if let Some(name) = words.strip_prefix("MATERIALIZE ") {
            return Self::Rows { name: Target::read(name), kept: true };
        }
        for (prefix, correlated) in [
            ("SCALAR SUBQUERY ", false),
            ("LIST SUBQUERY ", false),
            ("CORRELATED SCALAR SUBQUERY ", true),
            ("CORRELATED LIST SUBQUERY ", true),
        ] {
            if let Some(number) = words.strip_prefix(prefix) {
                return Self::Subquery { number: number.to_owned(), correlated };
            }
        }
        match words {
            "COMPOUND QUERY" => Self::Compound,
            "LEFT-MOST SUBQUERY" | "LEFT" | "RIGHT" => Self::Arm(String::new()),
            "SETUP" => Self::Beginning,
            "RECURSIVE STEP" => Self::Recursion,
            "MULTI-INDEX OR" => Self::Either,
            _ => {
                if let Some(operation) = words.strip_prefix("MERGE (").and_then(|rest| rest.strip_suffix(')')) {
                    return Self::Merge(operation.to_owned());
                }
                let operations = ["UNION ALL", "UNION", "INTERSECT", "EXCEPT"];
                let operation = operations.into_iter().find(|operation| {
                    words.strip_prefix(operation).is_some_and(|rest| rest.is_empty() || rest.starts_with(" USING"))
                });
                operation.map_or_else(other, |operation| Self::Arm(operation.to_owned()))
            }
        }
    }

    /// `r1 USING COVERING INDEX i (a=? AND b>?)`, as after SCAN or SEARCH; LEFT-JOIN may stand behind.
    fn reading(words: &str) -> Self {
        let words = words.strip_suffix(" LEFT-JOIN").unwrap_or(words);
        if words == "CONSTANT ROW" {
            return Self::Read { of: Target::OneRow, by: None };
        }
        if words.ends_with("VALUES CLAUSE") {
            return Self::Read { of: Target::Values, by: None };
        }
        if let Some((name, _)) = words.split_once(" VIRTUAL TABLE INDEX") {
            let by = Way { index: Index::Function, covering: false, condition: None };
            return Self::Read { of: Target::read(name), by: Some(by) };
        }
        let Some((name, way)) = words.split_once(" USING ") else {
            return Self::Read { of: Target::read(words), by: None };
        };
        let (way, condition) = match way.split_once(" (") {
            Some((way, condition)) => (way, condition.strip_suffix(')').map(spaced)),
            None => (way, None),
        };
        let covering = way.contains("COVERING INDEX");
        let index = if way.starts_with("INTEGER PRIMARY KEY") {
            Index::Row
        } else if way.starts_with("AUTOMATIC") {
            Index::Automatic
        } else {
            Index::Named(way.rsplit("INDEX ").next().unwrap_or(way).to_owned())
        };
        Self::Read { of: Target::read(name), by: Some(Way { index, covering, condition }) }
    }
}

/// `a=? AND b>?` with spaces around the operators.
fn spaced(condition: &str) -> String {
    ["=", "<", ">"]
        .iter()
        .fold(condition.to_owned(), |words, operator| words.replace(&format!("{operator}?"), &format!(" {operator} ?")))
}

impl Target {
    /// Relations of the statement are called `r` with their number.
    fn read(name: &str) -> Self {
        let number = name.strip_prefix('r').and_then(|number| number.parse().ok());
        let named = || Self::Named(name.trim_start_matches('(').trim_end_matches(')').to_owned());
        number.map_or_else(named, |number| Self::Relation(RelId(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(index: Index, covering: bool, condition: Option<&str>) -> Option<Way> {
        Some(Way { index, covering, condition: condition.map(str::to_owned) })
    }

    #[test]
    fn reads_the_words_of_sqlite() {
        let read = |of: Target, by: Option<Way>| Operation::Read { of, by };
        let one = || Target::Relation(RelId(1));
        let cases = [
            ("SCAN r1", read(one(), None)),
            ("SCAN r1 USING COVERING INDEX i", read(one(), by(Index::Named("i".into()), true, None))),
            (
                "SEARCH r1 USING INDEX i (a=? AND b>?)",
                read(one(), by(Index::Named("i".into()), false, Some("a = ? AND b > ?"))),
            ),
            ("SEARCH r1 USING INTEGER PRIMARY KEY (rowid=?)", read(one(), by(Index::Row, false, Some("rowid = ?")))),
            (
                "SEARCH r1 USING AUTOMATIC COVERING INDEX (b=?) LEFT-JOIN",
                read(one(), by(Index::Automatic, true, Some("b = ?"))),
            ),
            ("SCAN r1 VIRTUAL TABLE INDEX 3:", read(one(), by(Index::Function, false, None))),
            ("SCAN CONSTANT ROW", read(Target::OneRow, None)),
            ("SCAN 3-ROW VALUES CLAUSE", read(Target::Values, None)),
            ("USE TEMP B-TREE FOR ORDER BY", Operation::Sort("ORDER BY".into())),
            ("MATERIALIZE c2", Operation::Rows { name: Target::Named("c2".into()), kept: true }),
            ("CORRELATED SCALAR SUBQUERY 4", Operation::Subquery { number: "4".into(), correlated: true }),
            ("UNION USING TEMP B-TREE", Operation::Arm("UNION".into())),
            ("UNION ALL", Operation::Arm("UNION ALL".into())),
            ("MERGE (EXCEPT)", Operation::Merge("EXCEPT".into())),
            ("SCAN (subquery-2)", read(Target::Named("subquery-2".into()), None)),
            ("BLOOM FILTER ON r1 (a=?)", Operation::Other("BLOOM FILTER ON r1 (a=?)".into())),
        ];
        for (words, operation) in cases {
            assert_eq!(Operation::read(words), operation, "{words}");
        }
    }
}
