//! LISTEN and NOTIFY: what the sessions of a database tell each other at their commits.
//!
//! ```text
//! NOTIFY ── Outgoing of the transaction ── COMMIT ──► Exchange ── one mailbox for each session that listens ──► its client
//! ```
//!
//! A notification is one piece of memory, however many mailboxes it lies in, and what all mailboxes of a database hold
//! together is limited: a listener that takes nothing makes NOTIFY fail at its commit, and loses nothing.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use rowferry_dialect::{Condition, Error, Result};

/// The longest name of a channel, in bytes.
const CHANNEL_BYTES: usize = 63;

/// The longest payload, in bytes.
const PAYLOAD_BYTES: usize = 7_999;

/// What notifications that listeners have not taken yet may hold of memory, for a database; and what one transaction may
/// have told before its commit.
const QUEUE_BYTES: usize = 64 * 1024 * 1024;

/// What a notification costs beside its texts, and what it costs for each mailbox that it lies in.
const NOTIFICATION_BYTES: usize = 96;
const PLACE_BYTES: usize = 16;

/// Wakes a session's thread, which may be waiting for its client, when there is something in its mailbox.
pub trait Bell: Send + Sync {
    /// The session is about to listen: from now on it must be possible to wake it.
    ///
    /// # Errors
    /// When the system has nothing to do that with.
    fn hang(&self) -> Result<()>;
    /// Something has come; called by any thread, and more often than there is something.
    fn ring(&self);
}

/// What a session has told those that listen to a channel.
#[derive(Debug)]
pub struct Notification {
    /// The session that notified, as `pg_backend_pid()` calls it.
    pub pid: u32,
    /// The channel.
    pub channel: Arc<str>,
    /// What it said; empty where it said nothing.
    pub payload: Arc<str>,
    /// How much of the queue it takes, which is given back when the last listener has taken it.
    _room: Room,
}

/// A part of the queue's memory.
#[derive(Debug)]
struct Room {
    bytes: usize,
    of: Arc<AtomicUsize>,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.of.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

/// Where the notifications for a session lie until its client can be told.
pub struct Mailbox {
    queue: Mutex<VecDeque<Arc<Notification>>>,
    /// There is something in it.
    filled: AtomicBool,
    /// What the session listens to, in the order in which it began.
    channels: Mutex<Vec<Arc<str>>>,
    bell: Arc<dyn Bell>,
}

impl std::fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mailbox").field("channels", &self.channels).finish_non_exhaustive()
    }
}

impl Mailbox {
    /// An empty one.
    pub fn new(bell: Arc<dyn Bell>) -> Arc<Self> {
        Arc::new(Self { queue: Mutex::default(), filled: AtomicBool::new(false), channels: Mutex::default(), bell })
    }

    /// True when there is something to take.
    pub fn is_filled(&self) -> bool {
        self.filled.load(Ordering::Acquire)
    }

    /// Takes everything, the oldest first.
    pub fn take(&self) -> VecDeque<Arc<Notification>> {
        let mut queue = self.queue.lock();
        self.filled.store(false, Ordering::Release);
        std::mem::take(&mut *queue)
    }

    /// What the session listens to.
    pub fn channels(&self) -> Vec<Arc<str>> {
        self.channels.lock().clone()
    }

    /// True when the session listens to anything.
    pub fn is_used(&self) -> bool {
        !self.channels.lock().is_empty()
    }

    /// True when it was empty: whoever has emptied it does not know of this one, and is to be waked.
    fn put(&self, notification: Arc<Notification>) -> bool {
        let mut queue = self.queue.lock();
        let was_empty = queue.is_empty();
        queue.push_back(notification);
        self.filled.store(true, Ordering::Release);
        was_empty
    }

    /// The session has ceased to listen to some channels: what came from them is not for it any more.
    fn keep_only(&self, channels: &[Arc<str>]) {
        let mut queue = self.queue.lock();
        queue.retain(|notification| channels.contains(&notification.channel));
        self.filled.store(!queue.is_empty(), Ordering::Release);
    }
}

/// LISTEN or UNLISTEN, which take effect at COMMIT.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Change {
    /// LISTEN.
    Listen(Arc<str>),
    /// UNLISTEN of one channel.
    Unlisten(Arc<str>),
    /// `UNLISTEN *`.
    UnlistenAll,
}

/// What a transaction has asked for so far.
#[derive(Debug, Default)]
pub struct Outgoing {
    told: Vec<(Arc<str>, Arc<str>)>,
    /// The same, to be found.
    known: HashSet<(Arc<str>, Arc<str>)>,
    changes: Vec<Change>,
    bytes: usize,
}

/// How much a transaction had asked for at a savepoint.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    told: usize,
    changes: usize,
}

impl Outgoing {
    /// NOTIFY. What was told already is not told again.
    ///
    /// # Errors
    /// `22023` for names and payloads that cannot be; `54000` for too many.
    pub fn notify(&mut self, channel: &str, payload: &str) -> Result<()> {
        let wrong = |message| Err(Error::new(Condition::InvalidParameterValue, message));
        if channel.is_empty() {
            return wrong("channel name cannot be empty");
        }
        if channel.len() > CHANNEL_BYTES {
            return wrong("channel name too long");
        }
        if payload.len() > PAYLOAD_BYTES {
            return wrong("payload string too long");
        }
        let told: (Arc<str>, Arc<str>) = (channel.into(), payload.into());
        if self.known.contains(&told) {
            return Ok(());
        }
        let bytes = cost(&told);
        if self.bytes.saturating_add(bytes) > QUEUE_BYTES {
            return Err(full());
        }
        self.bytes += bytes;
        self.known.insert(told.clone());
        self.told.push(told);
        Ok(())
    }

    /// LISTEN or UNLISTEN.
    pub fn change(&mut self, change: Change) {
        if change == Change::UnlistenAll {
            // What came before has no effect; but a savepoint may undo this one.
            self.changes.push(change);
        } else if self.changes.last() != Some(&change) {
            self.changes.push(change);
        }
    }

    /// True when there is nothing.
    pub fn is_empty(&self) -> bool {
        self.told.is_empty() && self.changes.is_empty()
    }

    /// How much there is: what a savepoint remembers.
    pub fn mark(&self) -> Mark {
        Mark { told: self.told.len(), changes: self.changes.len() }
    }

    /// What came behind a savepoint is undone.
    pub fn undo(&mut self, mark: Mark) {
        for told in self.told.drain(mark.told.min(self.told.len())..) {
            self.bytes -= cost(&told);
            self.known.remove(&told);
        }
        self.changes.truncate(mark.changes);
    }

    /// The transaction is over.
    pub fn clear(&mut self) {
        if !self.is_empty() {
            *self = Self::default();
        }
    }
}

/// What something that was told costs without a place in a mailbox.
fn cost((channel, payload): &(Arc<str>, Arc<str>)) -> usize {
    NOTIFICATION_BYTES + channel.len() + payload.len()
}

fn full() -> Error {
    Error::new(Condition::ProgramLimitExceeded, "too many notifications in the NOTIFY queue")
}

/// What a transaction is about to tell, with its room in the queue taken.
#[derive(Debug, Default)]
pub struct Reserved {
    notifications: Vec<Arc<Notification>>,
    changes: Vec<Change>,
}

/// Who listens to what, in a database.
#[derive(Debug, Default)]
pub struct Exchange {
    listeners: Mutex<HashMap<Arc<str>, Vec<Arc<Mailbox>>>>,
    /// Bytes of notifications that lie in mailboxes.
    used: Arc<AtomicUsize>,
}

impl Exchange {
    /// The part of the queue that is in use, 0 to 1.
    pub fn usage(&self) -> f64 {
        self.used.load(Ordering::Acquire).min(QUEUE_BYTES) as f64 / QUEUE_BYTES as f64
    }

    /// A transaction is about to commit: what it tells to whoever listens finds room in the queue.
    ///
    /// # Errors
    /// `54000` when there is none; nothing is taken then.
    pub fn reserve(&self, outgoing: &Outgoing, pid: u32) -> Result<Reserved> {
        let mut reserved = Reserved { notifications: Vec::new(), changes: outgoing.changes.clone() };
        let listeners = self.listeners.lock();
        for told in &outgoing.told {
            let own = |change: &Change| matches!(change, Change::Listen(channel) if *channel == told.0);
            let places = listeners.get(&told.0).map_or(0, Vec::len) + usize::from(outgoing.changes.iter().any(own));
            if places == 0 {
                continue;
            }
            let room = self.room(cost(told).saturating_add(places.saturating_mul(PLACE_BYTES)))?;
            let (channel, payload) = told.clone();
            reserved.notifications.push(Arc::new(Notification { pid, channel, payload, _room: room }));
        }
        Ok(reserved)
    }

    fn room(&self, bytes: usize) -> Result<Room> {
        self.used.fetch_add(bytes, Ordering::AcqRel);
        // Gives the bytes back where they are too many.
        let room = Room { bytes, of: self.used.clone() };
        if self.used.load(Ordering::Acquire) > QUEUE_BYTES { Err(full()) } else { Ok(room) }
    }

    /// A transaction has committed: those that listen are told, each of all of it or of nothing, and in the same order.
    /// Its own session listens to other channels from now on.
    pub fn publish(&self, reserved: Reserved, own: Option<&Arc<Mailbox>>) {
        let mut rung: Vec<Arc<Mailbox>> = Vec::new();
        {
            let mut listeners = self.listeners.lock();
            if let Some(own) = own {
                reserved.changes.iter().for_each(|change| apply(&mut listeners, own, change));
            }
            for notification in reserved.notifications {
                for mailbox in listeners.get(&notification.channel).into_iter().flatten() {
                    if mailbox.put(notification.clone()) {
                        rung.push(mailbox.clone());
                    }
                }
            }
        }
        for mailbox in rung {
            mailbox.bell.ring();
        }
    }

    /// The session listens to nothing any more: UNLISTEN of everything without a transaction, or its end.
    pub fn forget(&self, mailbox: &Arc<Mailbox>) {
        apply(&mut self.listeners.lock(), mailbox, &Change::UnlistenAll);
    }
}

fn apply(listeners: &mut HashMap<Arc<str>, Vec<Arc<Mailbox>>>, mailbox: &Arc<Mailbox>, change: &Change) {
    let mut channels = mailbox.channels.lock();
    let mut leave = |channel: &Arc<str>| {
        if let Some(all) = listeners.get_mut(channel) {
            all.retain(|other| !Arc::ptr_eq(other, mailbox));
            if all.is_empty() {
                listeners.remove(channel);
            }
        }
    };
    match change {
        Change::Listen(channel) if channels.contains(channel) => {}
        Change::Listen(channel) => {
            channels.push(channel.clone());
            listeners.entry(channel.clone()).or_default().push(mailbox.clone());
        }
        Change::Unlisten(channel) => {
            leave(channel);
            channels.retain(|other| other != channel);
            mailbox.keep_only(&channels);
        }
        Change::UnlistenAll => {
            channels.iter().for_each(&mut leave);
            channels.clear();
            mailbox.keep_only(&[]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts how often it was rung.
    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Bell for Counter {
        fn hang(&self) -> Result<()> {
            Ok(())
        }

        fn ring(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn listener(exchange: &Exchange, channels: &[&str]) -> (Arc<Mailbox>, Arc<Counter>) {
        let bell = Arc::new(Counter::default());
        let mailbox = Mailbox::new(bell.clone());
        let mut outgoing = Outgoing::default();
        channels.iter().for_each(|channel| outgoing.change(Change::Listen((*channel).into())));
        exchange.publish(exchange.reserve(&outgoing, 1).unwrap(), Some(&mailbox));
        (mailbox, bell)
    }

    fn tell(exchange: &Exchange, told: &[(&str, &str)]) -> Result<()> {
        let mut outgoing = Outgoing::default();
        told.iter().try_for_each(|(channel, payload)| outgoing.notify(channel, payload))?;
        exchange.publish(exchange.reserve(&outgoing, 9)?, None);
        Ok(())
    }

    fn taken(mailbox: &Mailbox) -> Vec<String> {
        mailbox.take().iter().map(|told| format!("{}:{}", told.channel, told.payload)).collect()
    }

    #[test]
    fn each_listener_gets_what_its_channels_were_told_in_order() {
        let exchange = Exchange::default();
        let (first, bell) = listener(&exchange, &["a", "b"]);
        let (second, _) = listener(&exchange, &["b"]);
        tell(&exchange, &[("a", "1"), ("b", "2"), ("c", "3"), ("a", "1"), ("a", "")]).unwrap();
        tell(&exchange, &[("b", "4")]).unwrap();
        assert_eq!(bell.0.load(Ordering::SeqCst), 1, "one ring for a mailbox that nobody has emptied since");
        assert_eq!(taken(&first), ["a:1", "b:2", "a:", "b:4"]);
        assert_eq!(taken(&second), ["b:2", "b:4"]);
        assert!(!first.is_filled() && !second.is_filled());
        assert_eq!(exchange.usage(), 0.0, "what was taken takes no room");
    }

    #[test]
    fn what_is_undone_was_never_told() {
        let mut outgoing = Outgoing::default();
        outgoing.notify("a", "before").unwrap();
        let mark = outgoing.mark();
        outgoing.notify("a", "before").unwrap();
        outgoing.notify("a", "behind").unwrap();
        outgoing.change(Change::Listen("a".into()));
        outgoing.undo(mark);
        assert_eq!(outgoing.mark().told, 1);
        assert_eq!(outgoing.mark().changes, 0);
        outgoing.notify("a", "behind").unwrap();
        assert_eq!(outgoing.mark().told, 2, "it may be told again");
    }

    #[test]
    fn a_session_that_unlistens_is_told_nothing_more() {
        let exchange = Exchange::default();
        let (mailbox, _) = listener(&exchange, &["a", "b"]);
        tell(&exchange, &[("a", "1"), ("b", "2")]).unwrap();
        let mut outgoing = Outgoing::default();
        outgoing.change(Change::Unlisten("a".into()));
        exchange.publish(exchange.reserve(&outgoing, 1).unwrap(), Some(&mailbox));
        assert_eq!(taken(&mailbox), ["b:2"]);
        tell(&exchange, &[("a", "3"), ("b", "4")]).unwrap();
        exchange.forget(&mailbox);
        assert!(!mailbox.is_filled() && !mailbox.is_used());
        tell(&exchange, &[("b", "5")]).unwrap();
        assert_eq!(taken(&mailbox), Vec::<String>::new());
        assert_eq!((exchange.usage(), exchange.listeners.lock().len()), (0.0, 0));
    }

    #[test]
    fn a_listener_that_takes_nothing_bounds_what_others_can_tell() {
        let exchange = Exchange::default();
        let (mailbox, _) = listener(&exchange, &["a"]);
        let payload = "x".repeat(PAYLOAD_BYTES - 8);
        let mut told = 0;
        let error = loop {
            match tell(&exchange, &[("a", &format!("{payload}{told:08}"))]) {
                Ok(()) => told += 1,
                Err(error) => break error,
            }
        };
        assert_eq!((error.sqlstate(), error.message.as_ref()), ("54000", "too many notifications in the NOTIFY queue"));
        assert!(told > 8_000 && exchange.usage() > 0.99);
        // Others are not bounded by it, and it has lost nothing.
        tell(&exchange, &[("b", "x")]).unwrap();
        assert_eq!(mailbox.take().len(), told);
        tell(&exchange, &[("a", &payload)]).unwrap();
    }

    #[test]
    fn names_and_payloads_have_limits() {
        let mut outgoing = Outgoing::default();
        let mut message = |channel: &str, payload: &str| {
            outgoing.notify(channel, payload).map_err(|error| (error.sqlstate().to_owned(), error.message.to_string()))
        };
        let wrong = |message: &str| Err(("22023".to_owned(), message.to_owned()));
        assert_eq!(message("", "x"), wrong("channel name cannot be empty"));
        assert_eq!(message(&"x".repeat(64), ""), wrong("channel name too long"));
        assert_eq!(message("x", &"x".repeat(8_000)), wrong("payload string too long"));
        assert_eq!(message(&"x".repeat(63), &"x".repeat(7_999)), Ok(()));
    }
}
