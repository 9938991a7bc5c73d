//! Values that are sent before an execution, piece by piece.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyIterator, PyMemoryView, PyString};

use crate::errors::{Class, error};
use crate::mysql::values::Encoding;

/// Values from this size on, in bytes, do not travel with the execution.
pub const LONG: usize = 1 << 20;
/// How large a piece may be, in bytes. Every server takes packets of this size, unless it was told otherwise.
const PIECE: usize = 256 * 1024;

/// A value that is sent before the execution.
pub struct LongValue {
    source: Source,
    encoding: Encoding,
    /// What the pieces have been so far.
    is_text: Option<bool>,
    /// The end of a piece that was too large for one.
    rest: Vec<u8>,
    at: usize,
    pieces: usize,
}

enum Source {
    Bytes(Py<PyBytes>),
    /// Encoded text.
    Text(Vec<u8>),
    /// A view of bytes.
    View(Py<PyAny>, usize),
    /// Something to read from.
    File(Py<PyAny>),
    Iterator(Py<PyIterator>),
}

impl LongValue {
    /// A value of the kinds that every parameter may have, if it is long.
    #[inline]
    pub fn of_value(object: &Bound<'_, PyAny>, encoding: &Encoding) -> PyResult<Option<Self>> {
        let source = if let Ok(text) = object.cast_exact::<PyString>() {
            if text.len()? < LONG {
                return Ok(None);
            }
            Source::Text(encoding.encode(text)?.into_owned())
        } else if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            if bytes.as_bytes().len() < LONG {
                return Ok(None);
            }
            Source::Bytes(bytes.clone().unbind())
        } else if object.is_exact_instance_of::<PyByteArray>() || object.is_exact_instance_of::<PyMemoryView>() {
            let view = PyMemoryView::from(object)?;
            let len = view.getattr(intern!(object.py(), "nbytes"))?.extract()?;
            if len < LONG {
                return Ok(None);
            }
            Source::View(view.call_method1(intern!(object.py(), "cast"), ("B",))?.unbind(), len)
        } else {
            return Ok(None);
        };
        Ok(Some(Self::new(source, encoding.share(object.py()))))
    }

    /// A file or an iterator, which only prepared statements take.
    pub fn of_stream(object: &Bound<'_, PyAny>, encoding: &Encoding) -> PyResult<Option<Self>> {
        let py = object.py();
        let source = if object.hasattr(intern!(py, "read"))? {
            Source::File(object.getattr(intern!(py, "read"))?.unbind())
        } else if let Ok(iterator) = object.cast::<PyIterator>() {
            Source::Iterator(iterator.clone().unbind())
        } else {
            return Ok(None);
        };
        Ok(Some(Self::new(source, encoding.share(py))))
    }

    const fn new(source: Source, encoding: Encoding) -> Self {
        Self { source, encoding, is_text: None, rest: Vec::new(), at: 0, pieces: 0 }
    }

    /// True when the value is text; bytes, when there was none of it.
    pub fn is_text(&self) -> bool {
        matches!(self.source, Source::Text(_)) || self.is_text == Some(true)
    }

    /// Hands the next piece to `send`; false when there is none. Of an empty value there is one, empty.
    pub fn next(&mut self, py: Python<'_>, send: impl FnOnce(&[u8]) -> PyResult<()>) -> PyResult<bool> {
        let at = self.at;
        let whole: &[u8] = match &self.source {
            Source::Bytes(bytes) => bytes.as_bytes(py),
            Source::Text(text) => text,
            Source::View(view, len) => {
                let end = (at + PIECE).min(*len);
                if at == end {
                    return Ok(false);
                }
                let piece = view.bind(py).get_item(pyo3::types::PySlice::new(py, at as isize, end as isize, 1))?;
                self.at = end;
                send(piece.call_method0(intern!(py, "tobytes"))?.cast::<PyBytes>()?.as_bytes())?;
                return Ok(true);
            }
            Source::File(_) | Source::Iterator(_) => return self.next_of_stream(py, send),
        };
        let end = (at + PIECE).min(whole.len());
        if at == end {
            return Ok(false);
        }
        send(&whole[at..end])?;
        self.at = end;
        Ok(true)
    }

    fn next_of_stream(&mut self, py: Python<'_>, send: impl FnOnce(&[u8]) -> PyResult<()>) -> PyResult<bool> {
        if self.rest.len() - self.at < PIECE {
            self.rest.drain(..self.at);
            self.at = 0;
        }
        // Many small pieces make a large one.
        while self.rest.len() - self.at < PIECE {
            let item = match &self.source {
                Source::File(read) => Some(read.bind(py).call1((PIECE,))?),
                Source::Iterator(iterator) => iterator.bind(py).clone().next().transpose()?,
                _ => None,
            };
            // A file ends with an empty piece, an iterator may have some.
            let item = item
                .filter(|item| matches!(self.source, Source::Iterator(_)) || item.len().map_or(true, |len| len > 0));
            let Some(item) = item else { break };
            self.take(py, &item)?;
        }
        if self.at == self.rest.len() && self.pieces > 0 {
            return Ok(false);
        }
        let end = (self.at + PIECE).min(self.rest.len());
        send(&self.rest[self.at..end])?;
        self.at = end;
        self.pieces += 1;
        Ok(true)
    }

    fn take(&mut self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let is_text = if let Ok(text) = item.cast::<PyString>() {
            self.rest.extend_from_slice(&self.encoding.encode(text)?);
            true
        } else if let Ok(bytes) = item.cast::<PyBytes>() {
            self.rest.extend_from_slice(bytes.as_bytes());
            false
        } else if item.is_instance_of::<PyByteArray>() || item.is_instance_of::<PyMemoryView>() {
            let copy = PyMemoryView::from(item)?.call_method0(intern!(py, "tobytes"))?;
            self.rest.extend_from_slice(copy.cast::<PyBytes>()?.as_bytes());
            false
        } else {
            let message = format!("a piece of a parameter is `{}`, not bytes or str", item.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        };
        if *self.is_text.get_or_insert(is_text) != is_text {
            return Err(error(py, Class::Programming, None, "the pieces of a parameter are partly bytes, partly str"));
        }
        Ok(())
    }
}
