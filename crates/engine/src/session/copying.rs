//! COPY as it goes on: one statement to those who watch, and what `pg_stat_progress_copy` tells.

use std::sync::Arc;

use super::watched::Watched;
use super::{Prepared, Session};
use crate::statistics::{Measured, Progress};

/// A COPY that runs.
#[derive(Debug)]
pub(super) struct Copying {
    progress: Arc<Progress>,
    watched: Option<Box<Watched>>,
    measured: Option<Measured>,
}

impl Session {
    /// A COPY of a table (0: of a query) begins; `plan` is that of its query, or of the INSERT of one row.
    pub fn begin_copy(&mut self, plan: &Arc<Prepared>, table: u32, from: bool) {
        self.end_copy();
        let progress = Arc::new(Progress::new(table, from));
        *self.state.copying.lock() = Some(progress.clone());
        // What a query has done is told when its rows are all read.
        let watched = if from { self.watch(plan, &[], None) } else { None };
        let measured = if from { self.measure(plan) } else { None };
        self.copying = from.then(|| Box::new(Copying { progress: progress.clone(), watched, measured }));
    }

    /// So many bytes, and rows, of a COPY have been read or written.
    pub fn copied(&self, bytes: usize, rows: u64) {
        if let Some(progress) = &*self.state.copying.lock() {
            progress.add(bytes as u64, rows);
        }
    }

    /// A row of a COPY FROM has been written, or left out by its condition or a trigger.
    pub fn copied_row(&self, rows: u64) {
        if let Some(copying) = &self.copying {
            copying.progress.row(rows);
        }
    }

    /// The COPY has done what it was to do.
    pub(super) fn finish_copy(&mut self) {
        if let Some(copying) = self.copying.take() {
            let rows = copying.progress.rows();
            if let Some(watched) = copying.watched {
                watched.finish(rows);
            }
            if let Some(measured) = copying.measured {
                measured.finish(rows);
            }
        }
        self.end_copy();
    }

    /// The COPY is over.
    pub fn end_copy(&mut self) {
        if let Some(measured) = self.copying.take().and_then(|copying| copying.measured) {
            measured.fail();
        }
        *self.state.copying.lock() = None;
    }
}
