use super::results::State;
use super::{Client, Conversation, Misuse, Results};
use crate::messages::bulk::BulkRows;
use crate::messages::handshake::capability;
use crate::messages::status::ServerError;
use crate::packet::HEADER;

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

    /// True when several statements may be sent as one text: the server takes them, and the numbers of packets, which
    /// compression makes meaningless, tell when it does not go on.
    pub const fn takes_statements(&self) -> bool {
        self.session.capabilities & capability::MULTI_STATEMENTS != 0 && self.inbox.is_numbered
    }

    /// Sends up to [`MOST_STATEMENTS`] statements of one packet of answer each, and a ping behind them. Events as those of
    /// [`query`](Self::query), then [`Event::Done`](super::Event::Done) for the ping.
    ///
    /// A server that is told to end the query between two of its statements ends it without a word, whatever it has
    /// promised. The ping's answer then comes where the next result is due, and its number tells: that is the event
    /// [`Event::Error`](super::Event::Error).
    pub fn query_statements(&mut self, sql: &[u8]) -> Result<(), Misuse> {
        self.query(sql)?;
        if let Some((_, Conversation::Results(results))) = self.queue.back_mut() {
            *results = Results::guarded();
        }
        self.ping()
    }

    /// The answer to the ping is here, and results before it are missing.
    pub(super) fn was_left_unfinished(&mut self) -> bool {
        let Some((first, Conversation::Results(Results { state: State::Head, is_guarded: true, .. }))) =
            self.queue.front()
        else {
            return false;
        };
        let first = *first;
        self.inbox.settle();
        let next = self.inbox.buffer.unread().get(HEADER - 1);
        !self.inbox.joining && self.inbox.sequence != first && next == Some(&1)
    }
}

/// More statements than this in one text would use up the numbers that tell their answers from the next one's.
pub const MOST_STATEMENTS: usize = 250;

/// What the server would have said.
pub(super) fn interrupted() -> ServerError {
    ServerError { code: 1317, sqlstate: "70100".into(), message: "Query execution was interrupted".into() }
}
