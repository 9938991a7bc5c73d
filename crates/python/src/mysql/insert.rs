use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use rowferry_client::mysql::{Template, split_insert};

use super::values::Encoding;
use crate::errors::{Class, error};

/// Rows to insert, packed into statements of many rows each.
#[pyclass(frozen, module = "rowferry._core.mysql")]
pub struct InsertBatch {
    inner: Mutex<Inner>,
}

struct Inner {
    sql: Vec<u8>,
    head: Vec<u8>,
    tail: Vec<u8>,
    values: Vec<u8>,
    template: Template,
    rows: Py<PyIterator>,
    encoding: Encoding,
    limit: usize,
    /// A row that did not fit any more.
    carried: Vec<u8>,
    taken: usize,
}

impl InsertBatch {
    /// `None` when the statement is none that may carry several rows.
    pub fn new(
        py: Python<'_>,
        sql: &[u8],
        rows: &Bound<'_, PyAny>,
        encoding: Encoding,
        limit: usize,
    ) -> PyResult<Option<Self>> {
        let escapes = !encoding.no_backslash_escapes;
        let Some(parts) = split_insert(sql, escapes) else { return Ok(None) };
        let invalid =
            |invalid: rowferry_client::mysql::TemplateError| error(py, Class::Programming, None, &invalid.to_string());
        // Head and tail are constant, but their `%%` still stands for one.
        let constant = |part: &[u8]| -> PyResult<Vec<u8>> {
            let template = Template::parse(part, escapes).map_err(invalid)?;
            let mut text = Vec::new();
            encoding.fill(&mut text, part, &template, pyo3::types::PyTuple::empty(py).as_any())?;
            Ok(text)
        };
        let values = sql[parts.values.clone()].to_vec();
        let inner = Inner {
            head: constant(&sql[parts.head])?,
            tail: constant(&sql[parts.tail])?,
            template: Template::parse(&values, escapes).map_err(invalid)?,
            values,
            sql: Vec::new(),
            rows: rows.try_iter()?.unbind(),
            encoding,
            limit,
            carried: Vec::new(),
            taken: 0,
        };
        Ok(Some(Self { inner: Mutex::new(inner) }))
    }
}

#[pymethods]
impl InsertBatch {
    /// The next statement and how many rows it carries; None when all rows are taken.
    fn next_statement<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyBytes>, usize)>> {
        let mut inner = self.inner.try_lock().map_err(|_| super::driver::busy(py))?;
        let Inner { sql, head, tail, values, template, rows, encoding, limit, carried, taken } = &mut *inner;
        sql.clear();
        sql.extend_from_slice(head);
        let mut count = 0;
        if !carried.is_empty() {
            sql.append(carried);
            count = 1;
        }
        let mut rows = rows.bind(py).clone();
        loop {
            let Some(row) = rows.next() else { break };
            let before = sql.len();
            if count > 0 {
                sql.push(b',');
            }
            let start = sql.len();
            encoding.fill(sql, values, template, &row?).inspect_err(|error| {
                // Batch errors say which row; the attribute is there on all of our classes.
                let _ = error.value(py).setattr("row", *taken);
            })?;
            *taken += 1;
            if count > 0 && sql.len() + tail.len() > *limit {
                carried.extend_from_slice(&sql[start..]);
                sql.truncate(before);
                break;
            }
            count += 1;
        }
        if count == 0 {
            return Ok(None);
        }
        sql.extend_from_slice(tail);
        Ok(Some((PyBytes::new(py, sql), count)))
    }
}
