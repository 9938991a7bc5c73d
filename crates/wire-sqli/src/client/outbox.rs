//! What goes out: groups, and before them what cleans up behind earlier operations.

use std::sync::Arc;

use rowferry_wire::Writer;

use super::operation::{Awaited, Operation};
use super::{Client, Failure, Prepared};
use crate::TooLong;
use crate::messages::{ClientMessage, StatementId};
use crate::tag::Tag;

impl Client {
    /// Sends the group of an operation, after `SQ_BEGIN` and its answer if one is wanted.
    pub(super) fn send(&mut self, bytes: Vec<u8>, operation: Operation, begin: bool) {
        self.send_groups(bytes, 1, operation, begin);
    }

    /// As [`send`](Self::send), for so many groups.
    pub(super) fn send_groups(&mut self, bytes: Vec<u8>, groups: usize, operation: Operation, begin: bool) {
        self.flush_cleanup();
        if begin && self.session.logged && !self.session.in_transaction {
            Writer::new(&mut self.output).u16(Tag::BEGIN.0).u16(Tag::EOT.0);
            self.operation = Operation::Begin { then: bytes, next: Box::new(operation), groups };
            self.awaited.push_back(Awaited::Operation);
        } else {
            self.output.extend_from_slice(&bytes);
            self.operation = operation;
            self.awaited.extend(std::iter::repeat_n(Awaited::Operation, groups));
        }
    }

    /// Sends one group, after what waits for the next operation, and awaits its answer. On error nothing was sent.
    pub(super) fn ask(&mut self, messages: &[ClientMessage<'_>]) -> Result<(), TooLong> {
        let widths = self.decoder.widths();
        let mut bytes = Vec::new();
        for message in messages {
            message.encode(&mut bytes, widths)?;
        }
        ClientMessage::Eot.encode(&mut bytes, widths)?;
        self.flush_cleanup();
        self.output.extend_from_slice(&bytes);
        self.awaited.push_back(Awaited::Operation);
        Ok(())
    }

    /// For messages of our own making, whose size is known to be right.
    pub(super) fn must(&mut self, ask: impl FnOnce(&mut Self) -> Result<(), TooLong>) -> Result<(), Failure> {
        ask(self).map_err(|_| Failure::Unsupported("a message of this size"))
    }

    /// Keeps a statement for another execution, or releases it.
    pub(super) fn keep_or_release(&mut self, prepared: Arc<Prepared>) {
        let Some(key) = prepared.key.clone().filter(|key| !self.kept.contains_key(key)) else {
            return self.release(prepared.statement);
        };
        self.kept_order.push_back(key.clone());
        self.kept.insert(key, prepared);
        while self.kept.len() > self.keep {
            let Some(oldest) = self.kept_order.pop_front() else { break };
            if let Some(prepared) = self.kept.remove(&oldest) {
                self.release(prepared.statement);
            }
        }
    }

    pub(super) fn forget_kept(&mut self) {
        self.kept_order.clear();
        let kept: Vec<StatementId> = self.kept.drain().map(|(_, prepared)| prepared.statement).collect();
        kept.into_iter().for_each(|statement| self.release(statement));
    }

    pub(super) fn close_cursor(&mut self, statement: StatementId) {
        self.clean_up(statement, Tag::CLOSE);
    }

    pub(super) fn release(&mut self, statement: StatementId) {
        self.clean_up(statement, Tag::RELEASE);
    }

    pub(super) fn clean_up(&mut self, statement: StatementId, tag: Tag) {
        Writer::new(&mut self.cleanup).u16(Tag::ID.0).i16(statement.0).u16(tag.0).u16(Tag::EOT.0);
        self.cleanup_groups += 1;
    }

    pub(super) fn flush_cleanup(&mut self) {
        self.output.append(&mut self.cleanup);
        self.awaited.extend(std::iter::repeat_n(Awaited::Cleanup, std::mem::take(&mut self.cleanup_groups)));
    }
}
