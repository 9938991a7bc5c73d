use pyo3::prelude::*;
use rowferry_wire_sqli::client::{Client, Misuse};

use super::{Driver, Operation, misused};
use crate::informix::files::Files;
use crate::informix::routines;
use crate::informix::values::Encoder;

/// Answered by success, a value or an error.
struct Command;

impl Operation for Command {}

impl Driver {
    /// Sends a command.
    pub fn command(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        send: impl FnOnce(&mut Client) -> Result<(), Misuse>,
    ) -> PyResult<()> {
        self.check(py, client)?;
        self.shared.files = Files::default();
        send(client).map_err(|misuse| misused(py, misuse))?;
        self.start(Command);
        Ok(())
    }

    /// Calls a routine of the fast path. Values are bound by the types of its signature.
    #[allow(clippy::too_many_arguments)] // They are the caller's.
    pub fn call_routine(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        signature: &str,
        database: &str,
        handle: i32,
        args: &Bound<'_, PyAny>,
        begin: bool,
    ) -> PyResult<()> {
        let shared = &mut self.shared;
        let mut encoder =
            Encoder { encoding: &shared.encoding, widths: client.widths(), scratch: &mut shared.scratch, lists: None };
        routines::encode_arguments(&mut encoder, signature, args, &mut shared.params)?;
        let params = std::mem::take(&mut self.shared.params);
        let called =
            self.command(py, client, |client| client.call_routine(database.as_bytes(), handle, &params, begin));
        self.shared.params = params;
        called
    }
}
