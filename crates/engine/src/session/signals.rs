//! One session stops another, by the number that clients know it by.

use std::sync::Arc;
use std::time::Duration;

use rowferry_dialect::Result;

use super::Session;
use super::functions::FunctionState;
use crate::functions::SessionState as _;

impl Session {
    /// Stops the statement of another session, if one runs; false when there is no such session.
    ///
    /// # Errors
    /// `42501` when the session is not this user's to disturb.
    pub fn cancel_other(&self, number: u32) -> Result<bool> {
        self.signal(number, |state, pid| state.cancel(pid))
    }

    /// Ends another session; false when there is none.
    ///
    /// # Errors
    /// As [`Session::cancel_other`].
    pub fn end_other(&self, number: u32) -> Result<bool> {
        self.signal(number, |state, pid| state.terminate(pid, Duration::ZERO))
    }

    fn signal(&self, number: u32, send: impl FnOnce(&FunctionState, i32) -> Result<bool>) -> Result<bool> {
        let Ok(pid) = i32::try_from(number) else { return Ok(false) };
        let state = FunctionState(Arc::downgrade(&self.state));
        let sent = send(&state, pid)?;
        if !sent {
            // That there is none is told in PostgreSQL's words.
            self.state.notices.lock().pop();
        }
        Ok(sent)
    }
}
