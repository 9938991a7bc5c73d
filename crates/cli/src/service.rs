//! What a service manager hands over and is told: systemd's socket activation and notifications.
//!
//! Without such a manager nothing of this has an effect: `NOTIFY_SOCKET`, `LISTEN_FDS` and `WATCHDOG_USEC` are not set then.

use std::os::fd::{FromRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rowferry_server::HandedSocket;
use sd_notify::NotifyState;

use crate::Failure;

/// The names of sockets that are handed over: which door they are for.
pub const POSTGRES: &str = "postgres";
/// As [`POSTGRES`].
pub const INFORMIX: &str = "informix";
/// As [`POSTGRES`].
pub const MYSQL: &str = "mysql";
/// What a socket without a name is called.
const UNNAMED: &str = "unknown";

/// The server's own pulse is a quarter of this.
const PULSE: Duration = Duration::from_secs(1);

/// A socket that a service manager listens at for us.
#[derive(Debug)]
pub struct Handed {
    /// The socket.
    pub socket: HandedSocket,
    /// For which door: [`POSTGRES`], [`INFORMIX`] or [`MYSQL`].
    pub door: &'static str,
}

/// The sockets that were handed over. To be asked once: they are the caller's then.
pub fn handed() -> Result<Vec<Handed>, Failure> {
    let invalid = |error: std::io::Error| Failure::new(format!("socket activation (LISTEN_FDS): {error}"));
    let mut handed = Vec::new();
    if sd_notify::listen_fds().map_err(invalid)?.len() == 0 {
        return Ok(handed);
    }
    for (number, name) in sd_notify::listen_fds_with_names().map_err(invalid)? {
        // SAFETY: the service manager has opened it for this process, which nobody has asked for it before.
        let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
        let door = match name.as_str() {
            POSTGRES | UNNAMED => POSTGRES,
            INFORMIX => INFORMIX,
            MYSQL => MYSQL,
            _ => {
                return Err(Failure::new(format!("socket activation: descriptor {number} is named \"{name}\""))
                    .hint("name sockets by their door: FileDescriptorName=postgres, informix or mysql"));
            }
        };
        let socket = HandedSocket::new(descriptor)
            .map_err(|error| Failure::new(format!("socket activation: descriptor {number} ({name}): {error}")))?;
        handed.push(Handed { socket, door });
    }
    Ok(handed)
}

/// The server listens. When the manager wants signs of life it gets them from now on, as long as `beats` grows.
pub fn begin(beats: Arc<AtomicU64>) -> Result<(), Failure> {
    ready();
    let Some(within) = sd_notify::watchdog_enabled().filter(|within| !within.is_zero()) else { return Ok(()) };
    // The manager waits twice as long.
    let interval = (within / 2).max(Duration::from_millis(10));
    let watchdog = std::thread::Builder::new().name("watchdog".into()).spawn(move || {
        let (mut last, mut changed) = (0, Instant::now());
        loop {
            let now = beats.load(Ordering::Relaxed);
            if now != last {
                (last, changed) = (now, Instant::now());
            }
            if changed.elapsed() < within.max(PULSE) {
                tell(&[NotifyState::Watchdog]);
            }
            std::thread::park_timeout(interval);
        }
    });
    watchdog.map(drop).map_err(|error| Failure::new(format!("cannot start a thread: {error}")))
}

/// All is as it should be.
pub fn ready() {
    tell(&[NotifyState::Ready]);
}

/// Files are being read again; [`ready`] follows.
pub fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// The server is about to end.
pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service manager cannot be told (NOTIFY_SOCKET)");
    }
}
