//! How far it is: a bar on a terminal, lines elsewhere.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::state::Unit;

pub(super) struct Progress {
    bar: ProgressBar,
    /// Lines are for people who do not see a bar.
    lines: bool,
    tables: Vec<String>,
    told: Mutex<BTreeSet<String>>,
}

impl Progress {
    pub(super) fn new(quiet: bool, tables: Vec<String>) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        Self { bar, lines: !quiet && !terminal, tables, told: Mutex::default() }
    }

    /// Begins to count so many rows, of which some are there.
    pub(super) fn begin(&self, what: &str, rows: u64, there: u64) {
        let style =
            ProgressStyle::with_template("{msg} {bar:30} {human_pos} of {human_len} rows, {per_sec}, {eta} left");
        self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.set_message(what.to_owned());
        self.bar.reset();
        self.bar.set_length(rows);
        self.bar.set_position(there);
        self.bar.reset_eta();
    }

    pub(super) fn add(&self, rows: u64) {
        self.bar.inc(rows);
    }

    pub(super) fn say(&self, line: &str) {
        if self.lines {
            eprintln!("{line}");
        } else {
            self.bar.println(line);
        }
    }

    /// Tells of a table once all of its parts are done.
    pub(super) fn table_done(&self, name: &str, units: &[Unit]) {
        let mine = || units.iter().filter(|unit| self.tables[unit.table] == name);
        if mine().all(|unit| unit.done) {
            let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if told.insert(name.to_owned()) {
                self.say(&format!("{name}: {} rows", mine().map(|unit| unit.rows).sum::<u64>()));
            }
        }
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
