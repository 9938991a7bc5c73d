//! How many sessions the process can serve: by its file descriptors, and by its address space where that is limited.

use std::io;

/// Descriptors that a session holds: its socket, the database and its write-ahead log, and one for rows that go to a
/// temporary file.
const PER_SESSION: u64 = 4;

/// Descriptors for everything else: listeners, the databases themselves, standard streams, log files.
const OTHERS: u64 = 48;

/// The part of a limited address space that is for stacks: one in so many.
const STACKS: u64 = 4;

/// What the process may open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Capacity {
    /// File descriptors; `None` is no limit.
    descriptors: Option<u64>,
    /// Bytes of address space; `None` is no limit.
    address_space: Option<u64>,
}

impl Capacity {
    /// Raises the soft limit of descriptors to the hard one, and looks what the limits are.
    pub fn raised() -> Self {
        Self { descriptors: raise(libc::RLIMIT_NOFILE), address_space: soft_limit(libc::RLIMIT_AS) }
    }

    /// How many sessions there can be, up to `wanted`, beside so many connections that have not authenticated yet.
    pub fn sessions(self, wanted: usize, handshakes: usize) -> usize {
        let by_descriptors = self.descriptors.map(|all| all.saturating_sub(OTHERS + handshakes as u64) / PER_SESSION);
        let by_stacks = self.address_space.map(|all| all / STACKS / crate::listener::SESSION_STACK as u64);
        let fits = [by_descriptors, by_stacks].into_iter().flatten().min().unwrap_or(u64::MAX);
        wanted.min(usize::try_from(fits).unwrap_or(usize::MAX)).max(1)
    }

    /// Which limit keeps the sessions from being more, in the words of those who can change it.
    pub fn reason(self, handshakes: usize) -> String {
        let without_stacks = Self { address_space: None, ..self };
        match (self.descriptors, self.address_space) {
            (_, Some(bytes))
                if self.sessions(usize::MAX, handshakes) < without_stacks.sessions(usize::MAX, handshakes) =>
            {
                format!("the process may use {} MiB of address space (ulimit -v)", bytes >> 20)
            }
            (Some(count), _) => format!("the process may open {count} files (ulimit -Hn)"),
            (None, _) => "nothing limits them".to_owned(),
        }
    }
}

fn limit(resource: Resource) -> Option<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is there to be written.
    (unsafe { libc::getrlimit(resource, &mut limit) } == 0).then_some(limit)
}

fn soft_limit(resource: Resource) -> Option<u64> {
    limit(resource).map(|limit| limit.rlim_cur).filter(|soft| *soft != libc::RLIM_INFINITY)
}

/// Raises a soft limit to its hard limit; what it is then.
fn raise(resource: Resource) -> Option<u64> {
    let mut limit = limit(resource)?;
    if limit.rlim_cur < limit.rlim_max {
        let before = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: the structure is there to be read.
        if unsafe { libc::setrlimit(resource, &limit) } != 0 {
            // Some systems have a lower limit of their own behind an unlimited hard one.
            limit.rlim_cur = ONE_PROCESS.min(limit.rlim_max);
            // SAFETY: as above.
            if limit.rlim_cur < before || unsafe { libc::setrlimit(resource, &limit) } != 0 {
                let error = io::Error::last_os_error();
                tracing::debug!(%error, "the soft limit of open files stays");
                limit.rlim_cur = before;
            }
        }
    }
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// What every system lets a process open that has no hard limit.
const ONE_PROCESS: libc::rlim_t = 10_240;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = libc::c_int;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_fits() {
        let unlimited = Capacity { descriptors: None, address_space: None };
        assert_eq!(unlimited.sessions(500, 64), 500);
        let files = Capacity { descriptors: Some(1024), ..unlimited };
        assert_eq!(files.sessions(500, 64), (1024 - 48 - 64) / 4);
        assert!(files.reason(64).contains("1024 files"), "{}", files.reason(64));
        let space = Capacity { address_space: Some(1 << 30), ..files };
        assert_eq!(space.sessions(500, 64), (1 << 28) / crate::listener::SESSION_STACK);
        assert!(space.reason(64).contains("1024 MiB"), "{}", space.reason(64));
        assert_eq!(Capacity { descriptors: Some(10), ..unlimited }.sessions(500, 64), 1);
    }

    #[test]
    fn raises_the_soft_limit() {
        Capacity::raised();
        let limit = limit(libc::RLIMIT_NOFILE).unwrap();
        assert!(limit.rlim_cur == limit.rlim_max || limit.rlim_cur >= ONE_PROCESS);
    }
}
