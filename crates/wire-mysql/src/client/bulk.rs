use super::{Client, Conversation, Misuse, Results};
use crate::messages::bulk::BulkRows;
use crate::messages::handshake::capability;

impl Client {
    /// True when the server executes many rows at once, as [`execute_rows`](Self::execute_rows) asks.
    pub const fn takes_rows(&self) -> bool {
        self.session.capabilities & capability::MARIADB_BULK != 0
    }

    /// Runs a prepared statement for each of the rows. Events as those of [`execute`](Self::execute); with unit results a
    /// row of insert id and affected rows for each.
    pub fn execute_rows(&mut self, rows: &mut BulkRows) -> Result<(), Misuse> {
        self.ready()?;
        let following = self.put(rows.encode());
        self.begin(following, Conversation::Results(Results::of(rows.statement())));
        Ok(())
    }
}
