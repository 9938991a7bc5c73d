//! LISTEN, NOTIFY and UNLISTEN of a session: what they ask for happens at its commit.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowferry_dialect::ir::Notify;
use rowferry_dialect::{Error, Result};

use super::Session;
use super::transaction::{Block, Open};
use crate::notifications::{Bell, Change, Mailbox, Notification, Reserved};

impl Session {
    /// What wakes this session's thread when others notify it. Without that, LISTEN is refused.
    pub fn set_bell(&mut self, bell: Arc<dyn Bell>) {
        *self.state.bell.lock() = Some(bell);
    }

    /// True when notifications may come: who waits for the client must be waked by the bell, too.
    pub fn is_listening(&self) -> bool {
        self.state.mailbox.get().is_some_and(|mailbox| mailbox.is_used())
    }

    /// What others have told since the last call, the oldest first; nothing inside a transaction, at whose end it is due.
    pub fn take_notifications(&self) -> impl Iterator<Item = Arc<Notification>> + use<> {
        let mailbox = self.state.mailbox.get().filter(|mailbox| mailbox.is_filled());
        let is_due = self.transaction.block == Block::None;
        mailbox.filter(|_| is_due).map(|mailbox| mailbox.take()).into_iter().flatten()
    }

    /// Runs one of the three statements.
    pub(super) fn notify(&mut self, notify: &Notify) -> Result<()> {
        match notify {
            Notify::Listen(channel) => {
                self.hang_bell()?;
                self.state.outgoing().change(Change::Listen(channel.as_str().into()));
            }
            Notify::Unlisten(channel) => {
                // Pools say it between clients: without a mailbox, and without LISTEN before it, it is nothing to do.
                let mut outgoing = self.state.outgoing();
                if self.state.mailbox.get().is_some() {
                    outgoing
                        .change(channel.as_deref().map_or(Change::UnlistenAll, |name| Change::Unlisten(name.into())));
                }
            }
            Notify::Notify(channel, payload) => self.state.outgoing().notify(channel, payload)?,
        }
        // A statement of its own is a transaction.
        if self.transaction.block == Block::None && !self.inner { self.end_commit() } else { Ok(()) }
    }

    /// From here on the session can be told something.
    fn hang_bell(&self) -> Result<()> {
        if self.state.mailbox.get().is_some() {
            return Ok(());
        }
        let bell = self.state.bell.lock().clone();
        let bell = bell.ok_or_else(|| Error::unsupported("LISTEN without a client that can be told"))?;
        bell.hang()?;
        self.state.mailbox.get_or_init(|| Mailbox::new(bell));
        Ok(())
    }

    /// What the transaction has told finds its place, before it commits; `None` where it has told nothing.
    pub(super) fn reserve_notifications(&self) -> Result<Option<Reserved>> {
        if !self.state.has_outgoing.load(Ordering::Acquire) {
            return Ok(None);
        }
        let outgoing = self.state.outgoing.lock();
        if outgoing.is_empty() {
            return Ok(None);
        }
        self.database.shared.exchange.reserve(&outgoing, self.state.pid).map(Some)
    }

    /// Tells what was reserved: the transaction is committed, and on disk if it waits for that. Whoever writes still has
    /// the write lock, so that notifications come in the order of commits.
    pub(super) fn publish_notifications(&mut self, reserved: Reserved) {
        self.database.shared.exchange.publish(reserved, self.state.mailbox.get());
        self.state.forget_outgoing();
    }

    /// A statement that was a transaction of its own may have called `pg_notify` while its rows were sent.
    pub(super) fn notify_now(&mut self) -> Result<()> {
        debug_assert!(!matches!(self.transaction.open, Open::Write { .. }));
        let reserved = self.reserve_notifications();
        if reserved.is_err() {
            self.state.forget_outgoing();
        }
        if let Some(reserved) = reserved? {
            self.publish_notifications(reserved);
        }
        Ok(())
    }

    /// The session listens to nothing any more.
    pub(super) fn unlisten(&self) {
        self.state.forget_outgoing();
        if let Some(mailbox) = self.state.mailbox.get() {
            self.database.shared.exchange.forget(mailbox);
        }
    }
}
