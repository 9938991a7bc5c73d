use std::collections::VecDeque;

use pyo3::prelude::*;
use pyo3::types::PyIterator;

/// The rows of a batch, taken one by one: an iterator is never asked for more than is about to be sent.
pub struct Source {
    rows: Py<PyIterator>,
    returned: VecDeque<Py<PyAny>>,
    taken: usize,
    ended: bool,
    /// Raised behind the rows that come again.
    raised: Option<PyErr>,
}

impl Source {
    pub fn new(rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { rows: rows.try_iter()?.unbind(), returned: VecDeque::new(), taken: 0, ended: false, raised: None })
    }

    /// The index of the row that comes next.
    pub const fn position(&self) -> usize {
        self.taken
    }

    /// True when nothing can come any more.
    pub fn is_over(&self) -> bool {
        self.ended && self.returned.is_empty() && self.raised.is_none()
    }

    /// The next row. After an error there is none.
    pub fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(row) = self.returned.pop_front() {
            self.taken += 1;
            return Ok(Some(row.into_bound(py)));
        }
        if let Some(raised) = self.raised.take() {
            return Err(raised);
        }
        if self.ended {
            return Ok(None);
        }
        match self.rows.bind(py).clone().next() {
            Some(Ok(row)) => {
                self.taken += 1;
                Ok(Some(row))
            }
            Some(Err(raised)) => {
                self.ended = true;
                Err(raised)
            }
            None => {
                self.ended = true;
                Ok(None)
            }
        }
    }

    /// Takes back what the iterator raised.
    pub fn give_back_error(&mut self, raised: Option<PyErr>) {
        self.raised = raised;
    }

    /// Takes the rows taken last back, in their order; they come again.
    pub fn give_back(&mut self, rows: impl DoubleEndedIterator<Item = Py<PyAny>>) {
        for row in rows.rev() {
            self.returned.push_front(row);
            self.taken -= 1;
        }
    }
}
