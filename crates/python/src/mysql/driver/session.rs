use std::ffi::CString;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use rowferry_wire_mysql::client::{Client, Event, Options, SessionState};
use rowferry_wire_mysql::messages::attributes::Attributes;

use super::{Driver, Operation, Shared, Step, command, misused, server_error};
use crate::errors::{Class, error};
use crate::mysql::values::Encoding;

/// Which of the session's changes have been taken over.
#[derive(Default)]
pub struct Followed {
    revision: u64,
    client: Option<String>,
    results: Option<String>,
    /// A character set that Python does not know.
    unfit: Option<PyErr>,
}

impl Followed {
    /// Takes over what the server has told since the last call: text is in other character sets from here on.
    #[inline]
    pub fn follow(&mut self, py: Python<'_>, state: &SessionState, encoding: &mut Encoding, shared: &mut Shared) {
        if state.revision != self.revision {
            self.revision = state.revision;
            if let Err(unfit) = self.follow_charsets(py, state, encoding, shared) {
                self.unfit = Some(unfit);
            }
        }
    }

    /// The error of a character set that cannot be followed; once.
    pub const fn take_unfit(&mut self) -> Option<PyErr> {
        self.unfit.take()
    }

    fn follow_charsets(
        &mut self,
        py: Python<'_>,
        state: &SessionState,
        encoding: &mut Encoding,
        shared: &mut Shared,
    ) -> PyResult<()> {
        let (client, results) = ("character_set_client", "character_set_results");
        let mut outcome = Ok(());
        let told = state.variables.get(client);
        if told.is_some() && told != self.client.as_ref() {
            self.client = told.cloned();
            if let Some(name) = told {
                match codec(py, name, client) {
                    Ok(codec) => encoding.name = codec,
                    // Text fails to be encoded from here on, rather than to be taken for something else.
                    Err(unknown) => (encoding.name, outcome) = (Some(name.clone()), Err(unknown)),
                }
            }
        }
        let told = state.variables.get(results);
        if told.is_some() && told != self.results.as_ref() {
            self.results = told.cloned();
            if let Some(name) = told {
                let codec = match codec(py, name, results) {
                    Ok(codec) => codec,
                    Err(unknown) => {
                        outcome = Err(unknown);
                        Some(name.clone())
                    }
                };
                shared.taste.encoding = codec.map(CString::new).transpose()?;
                shared.plans.clear();
            }
        }
        outcome
    }
}

/// Python's name of a character set; `None` for UTF-8.
fn codec(py: Python<'_>, name: &str, variable: &str) -> PyResult<Option<String>> {
    static CODEC: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CODEC.import(py, "rowferry.mysql._charsets", "followed_codec")?.call1((name, variable))?.extract()
}

impl Driver {
    /// Sends statements whose rows do not matter, all in one write; before them the request to forget all session state
    /// but the login, if `reset`. The error is that of the first that fails.
    pub fn set_up(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        statements: &Bound<'_, PyAny>,
        reset: bool,
    ) -> PyResult<()> {
        self.begin(py, client)?;
        let mut texts = Vec::new();
        for statement in statements.try_iter()? {
            texts.push(self.fill(py, client, &statement?, None)?.to_vec());
        }
        if reset {
            client.reset().map_err(|misuse| misused(py, misuse))?;
        }
        for text in &texts {
            client.query(text).map_err(|misuse| misused(py, misuse))?;
        }
        self.start(SetUp { failed: None });
        Ok(())
    }

    /// Sends these named values with every later statement.
    pub fn set_attributes(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        attributes: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        if !client.takes_attributes() && !attributes.is_empty() {
            let message = "the server takes no query attributes: MySQL does since 8.0.23, MariaDB does not";
            return Err(error(py, Class::NotSupported, None, message));
        }
        let mut taken = Attributes::default();
        for (name, value) in attributes {
            let name = name.cast_into::<PyString>()?;
            self.encoding.bind(taken.add(&self.encoding.encode(&name)?), &value)?;
        }
        client.set_attributes(taken);
        Ok(())
    }

    /// Logs in again on the same connection.
    pub fn change_user(&mut self, py: Python<'_>, client: &mut Client, options: Options) -> PyResult<()> {
        self.begin(py, client)?;
        client.change_user(options).map_err(|misuse| misused(py, misuse))?;
        self.start(command::Login);
        Ok(())
    }
}

/// The answers to several requests, of which only errors matter.
struct SetUp {
    failed: Option<PyErr>,
}

impl Operation for SetUp {
    fn before(&mut self, py: Python<'_>, client: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        if client.awaited() > 0 {
            client.visit_rows(|_| true);
            return Ok(None);
        }
        match self.failed.take() {
            Some(failed) => Err(failed),
            None => Ok(Some(Step::Done(py.None()))),
        }
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, _: &mut Shared) -> PyResult<Option<Step>> {
        if let Event::Error(error) = event {
            self.failed.get_or_insert_with(|| server_error(py, &error));
        }
        Ok(None)
    }

    fn may_be_done(&self) -> bool {
        true
    }
}
