//! Wrong passwords make the next attempt wait: of the same user from the same address, and nobody else.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::Peer;

/// How many wrong passwords cost nothing: people mistype.
const FREE: u32 = 3;
/// What the next one costs; each further one twice as much.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause, and the longest that an attempt waits: who would wait longer is refused.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// After this long without a wrong password all is forgotten.
const FORGET: Duration = Duration::from_secs(15 * 60);
/// How many pairs of address and user are kept in mind. When there are more, those that failed longest ago are forgotten.
const KEPT: usize = 10_000;

/// Whose attempts are counted together.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Who {
    /// `None` for unix sockets. Of a version 6 address the network: a host has all of it.
    address: Option<IpAddr>,
    /// Names come from the wire: only their hash is kept.
    user: u64,
}

impl Who {
    pub(super) fn new(peer: &Peer, user: &str) -> Self {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let address = match peer {
            Peer::Tcp(address) => Some(match address.ip().to_canonical() {
                IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
                v4 => v4,
            }),
            Peer::Unix => None,
        };
        let mut hasher = DefaultHasher::new();
        user.hash(&mut hasher);
        Self { address, user: hasher.finish() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Record {
    count: u32,
    last: Instant,
    /// When the next attempt may be made.
    free: Instant,
}

impl Record {
    fn pause(self) -> Duration {
        match self.count.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(beyond) => FIRST_PAUSE.saturating_mul(1 << beyond.min(8)).min(LONGEST_PAUSE),
        }
    }
}

/// Who has failed lately.
#[derive(Debug, Default)]
pub(super) struct Failures {
    records: Mutex<HashMap<Who, Record>>,
}

impl Failures {
    /// How long an attempt must wait before its password is looked at; `None` when that is too long.
    ///
    /// With wrong passwords on record each attempt takes a turn, so that nothing is gained by many at a time.
    pub(super) fn begin(&self, who: &Who, now: Instant) -> Option<Duration> {
        let mut records = self.records.lock();
        let Some(record) = records.get_mut(who) else { return Some(Duration::ZERO) };
        if now.saturating_duration_since(record.last) > FORGET {
            records.remove(who);
            return Some(Duration::ZERO);
        }
        let wait = record.free.saturating_duration_since(now);
        if wait > LONGEST_PAUSE {
            return None;
        }
        record.free = record.free.max(now) + record.pause();
        Some(wait)
    }

    /// The password was wrong.
    pub(super) fn failed(&self, who: Who, now: Instant) {
        let mut records = self.records.lock();
        if records.len() >= KEPT && !records.contains_key(&who) {
            make_room(&mut records);
        }
        let record = records.entry(who).or_insert(Record { count: 0, last: now, free: now });
        record.count = record.count.saturating_add(1);
        record.last = now;
        // The first that costs something has not taken a turn.
        record.free = record.free.max(now + record.pause());
    }

    /// The password was right.
    pub(super) fn succeeded(&self, who: &Who) {
        self.records.lock().remove(who);
    }
}

/// Forgets the half that failed longest ago, so that this is rare.
fn make_room(records: &mut HashMap<Who, Record>) {
    let mut times: Vec<Instant> = records.values().map(|record| record.last).collect();
    let middle = times.len() / 2;
    let (_, median, _) = times.select_nth_unstable(middle);
    let median = *median;
    records.retain(|_, record| record.last > median);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(address: &str, user: &str) -> Who {
        Who::new(&Peer::Tcp(address.parse().unwrap()), user)
    }

    #[test]
    fn wrong_passwords_make_the_next_attempt_wait_longer_and_longer() {
        let failures = Failures::default();
        let ada = who("192.0.2.1:1", "ada");
        let mut now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..10 {
            let wait = failures.begin(&ada, now).unwrap();
            waits.push(wait.as_millis());
            now += wait;
            failures.failed(ada.clone(), now);
        }
        assert_eq!(waits[..4], [0, 0, 0, 250]);
        assert!(waits[4..].iter().zip(&waits[5..]).all(|(before, after)| before <= after), "{waits:?}");
        assert_eq!(waits[9], 5_000);
        // Others are not concerned: another user, another address.
        assert_eq!(failures.begin(&who("192.0.2.1:1", "bob"), now), Some(Duration::ZERO));
        assert_eq!(failures.begin(&who("192.0.2.2:1", "ada"), now), Some(Duration::ZERO));
        // The port does not matter, nor where in its network a version 6 host is.
        assert!(failures.begin(&who("192.0.2.1:2", "ada"), now).is_none_or(|wait| !wait.is_zero()));
        assert_eq!(who("[2001:db8::1]:1", "ada"), who("[2001:db8::2]:1", "ada"));
        assert_eq!(failures.begin(&ada, now + FORGET + Duration::from_secs(1)), Some(Duration::ZERO));
    }

    #[test]
    fn many_attempts_at_a_time_gain_nothing() {
        let failures = Failures::default();
        let ada = who("192.0.2.1:1", "ada");
        let now = Instant::now();
        for _ in 0..8 {
            failures.failed(ada.clone(), now);
        }
        let waits: Vec<_> = (0..50).map(|_| failures.begin(&ada, now)).collect();
        assert!(waits.iter().flatten().count() <= 2, "{waits:?}");
        failures.succeeded(&ada);
        assert_eq!(failures.begin(&ada, now), Some(Duration::ZERO));
    }

    #[test]
    fn memory_is_bounded() {
        let failures = Failures::default();
        let mut now = Instant::now();
        for number in 0..KEPT * 2 {
            now += Duration::from_millis(1);
            failures.failed(who("192.0.2.1:1", &number.to_string()), now);
        }
        assert!(failures.records.lock().len() <= KEPT);
        assert!(failures.records.lock().contains_key(&who("192.0.2.1:1", &(KEPT * 2 - 1).to_string())));
    }
}
