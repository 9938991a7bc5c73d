use pyo3::prelude::*;
use rowferry_wire_sqli::client::Client;

use super::{Driver, Operation, Shared, Step, misused};

/// From the first request to the open database. The outcome is None, where the server sends us, or a question of PAM with
/// its style.
struct Login {
    /// The login has brought all that sets the session up.
    early: bool,
}

impl Driver {
    /// Waits for the login to be over.
    pub fn login(&mut self, client: &Client) {
        self.start(Login { early: client.sent_all_with_login() });
    }

    /// Answers a question of PAM, and goes on with the login; without an answer the server's words are only taken note
    /// of.
    pub fn answer(&mut self, py: Python<'_>, client: &mut Client, answer: Option<&[u8]>) -> PyResult<()> {
        let told = match answer {
            Some(answer) => client.answer(answer),
            None => client.acknowledge(),
        };
        told.map_err(|misuse| misused(py, misuse))?;
        self.login(client);
        Ok(())
    }
}

impl Operation for Login {
    fn connected(&mut self, py: Python<'_>, client: &Client, shared: &mut Shared) -> PyResult<Step> {
        shared.known.opened(client.session().takes_groups_ahead);
        Ok(Step::Done(py.None()))
    }

    fn broken(&self, shared: &mut Shared) {
        shared.known.opened(false);
        shared.displaced = self.early;
    }
}
