use super::{Client, Conversation, Misuse};
use crate::messages::command::Command;
use crate::messages::statement::StatementId;

impl Client {
    /// Sends a piece of the value of a prepared statement's parameter, the first of which is 0; the pieces of a value are
    /// put together by the server. Nothing is answered: what is wrong with them, the execution's answer says.
    pub fn send_long_data(&mut self, statement: StatementId, parameter: u16, piece: &[u8]) -> Result<(), Misuse> {
        self.ready()?;
        let mut payload = std::mem::take(&mut self.scratch);
        payload.clear();
        payload.push(Command::STMT_SEND_LONG_DATA.0);
        payload.extend_from_slice(&statement.0.to_le_bytes());
        payload.extend_from_slice(&parameter.to_le_bytes());
        payload.extend_from_slice(piece);
        self.put(&payload);
        self.scratch = payload;
        Ok(())
    }

    /// Forgets the pieces of values that were sent for a prepared statement. Event: [`Event::Done`](super::Event::Done).
    pub fn reset_statement(&mut self, statement: StatementId) -> Result<(), Misuse> {
        self.command(Command::STMT_RESET, &statement.0.to_le_bytes(), Conversation::Simple)
    }
}
