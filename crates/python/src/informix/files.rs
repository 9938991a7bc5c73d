//! Files of the client, which the server reads and writes: those that the caller allowed, and no others.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rowferry_wire_sqli::client::{Client, FileEvent, Misuse};

use super::text::Encoding;
use crate::errors::{Class, error};

/// Bytes of a file that are handed to the wire at once.
const PIECE: usize = 256 * 1024;

/// What the server may use during an operation; see `rowferry.informix._files.ClientFiles`.
#[derive(Default)]
pub struct Files {
    allowed: Option<Py<PyAny>>,
    /// What went wrong with a file: the operation fails with it once the server has finished.
    pub failed: Option<PyErr>,
    /// The file under way may not be used: what the server writes to it is dropped.
    refused: bool,
}

impl Files {
    pub const fn new(allowed: Option<Py<PyAny>>) -> Self {
        Self { allowed, failed: None, refused: false }
    }

    /// Does what the server asks. True when there is something to be sent before more of it is made.
    ///
    /// An error cannot be told to the server: the connection must be closed.
    pub fn answer(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        asked: FileEvent,
        encoding: &Encoding,
        draining: bool,
    ) -> PyResult<bool> {
        match asked {
            FileEvent::Open(name) => {
                // SAFETY: `decode` answers a new reference or null with an exception set.
                let name = unsafe { Bound::from_owned_ptr_or_err(py, encoding.decode(&name)) }?;
                self.refused = draining;
                if !draining {
                    let opened = match &self.allowed {
                        Some(allowed) => allowed.call_method1(py, intern!(py, "open"), (&name,)).map(drop),
                        None => Err(not_allowed(py, &name)),
                    };
                    if let Err(refused) = opened {
                        self.fail(refused);
                    }
                }
                client.file_done().map_err(|misuse| misused(py, &misuse))?;
                Ok(true)
            }
            FileEvent::Read(limit) => {
                let allowed = self.allowed.as_ref().filter(|_| !self.refused);
                let Some(allowed) = allowed else {
                    // To send nothing would be to store an empty value.
                    return Err(self.failed.take().unwrap_or_else(|| closed_for(py, "the operation was cancelled")));
                };
                let total: usize = allowed.call_method1(py, intern!(py, "size"), (limit,))?.extract(py)?;
                client.file_total(total).map_err(|misuse| misused(py, &misuse))?;
                // What follows travels together with it.
                Ok(total == 0)
            }
            FileEvent::Wanted(left) => {
                let Some(allowed) = &self.allowed else { return Err(closed_for(py, "it has no source")) };
                let bytes = allowed.call_method1(py, intern!(py, "read"), (left.min(PIECE),))?;
                let bytes = bytes.bind(py).cast::<PyBytes>()?.as_bytes();
                if bytes.is_empty() {
                    return Err(closed_for(py, "it is shorter than announced"));
                }
                client.file_chunk(bytes).map_err(|misuse| misused(py, &misuse))?;
                Ok(true)
            }
            FileEvent::Write(bytes) => {
                if let Some(allowed) = self.allowed.as_ref().filter(|_| !self.refused)
                    && let Err(refused) = allowed.call_method1(py, intern!(py, "write"), (PyBytes::new(py, &bytes),))
                {
                    self.fail(refused);
                }
                Ok(false)
            }
            FileEvent::Close => {
                if let Some(allowed) = self.allowed.as_ref().filter(|_| !self.refused)
                    && let Err(refused) = allowed.call_method0(py, intern!(py, "close"))
                {
                    self.fail(refused);
                }
                client.file_done().map_err(|misuse| misused(py, &misuse))?;
                Ok(true)
            }
        }
    }

    fn fail(&mut self, failure: PyErr) {
        self.refused = true;
        if self.failed.is_none() {
            self.failed = Some(failure);
        }
    }
}

fn not_allowed(py: Python<'_>, name: &Bound<'_, PyAny>) -> PyErr {
    let message = format!("the server asks for the file {name} of the client, which was not allowed");
    error(py, Class::Interface, None, &message)
}

fn closed_for(py: Python<'_>, why: &str) -> PyErr {
    let message = format!("the server waits for a file of the client, but {why}; the connection is closed");
    error(py, Class::Operational, None, &message)
}

fn misused(py: Python<'_>, misuse: &Misuse) -> PyErr {
    error(py, Class::Internal, None, &misuse.to_string())
}
