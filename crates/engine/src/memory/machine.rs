//! How much memory the process can have: what the machine has, what its control group grants, what its limits allow.

use std::path::Path;

/// What may be used when nobody says how much.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Defaults {
    /// By all sessions together, in bytes.
    pub server: usize,
    /// By one session, in bytes.
    pub session: usize,
}

/// When nothing can be found out.
const UNKNOWN: u64 = 4 << 30;

/// The least that a session is given, in bytes: room for its statements and their rows.
const LEAST_SESSION: usize = 32 << 20;

impl Defaults {
    /// Three quarters of the machine's memory, or half of what limits of the process leave (stacks, libraries and what
    /// the allocator cannot use count against those, too); a quarter of that for one session.
    pub fn of_this_machine() -> Self {
        let memory = [physical(), control_group()].into_iter().flatten().min().unwrap_or(UNKNOWN);
        let server = (memory / 4 * 3).min(address_space().map_or(u64::MAX, |bytes| bytes / 2));
        Self::with_server(usize::try_from(server).unwrap_or(usize::MAX))
    }

    /// What one session may use when all together may use so much.
    pub fn with_server(server: usize) -> Self {
        Self { server, session: (server / 4).max(LEAST_SESSION.min(server)) }
    }
}

fn physical() -> Option<u64> {
    // SAFETY: both take a number and return one.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    Some(u64::try_from(pages).ok()?.saturating_mul(u64::try_from(size).ok()?)).filter(|bytes| *bytes > 0)
}

/// What the process's address space is limited to (`ulimit -v`), if it is.
pub fn address_space() -> Option<u64> {
    [libc::RLIMIT_AS, libc::RLIMIT_DATA]
        .into_iter()
        .filter_map(|resource| {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the structure is there to be written.
            let code = unsafe { libc::getrlimit(resource, &mut limit) };
            (code == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
        })
        .min()
}

/// The memory of the process's control group (Linux, versions 1 and 2).
fn control_group() -> Option<u64> {
    let membership = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    limit_of_groups(Path::new("/sys/fs/cgroup"), &membership)
}

/// The least limit of the groups that `/proc/self/cgroup` names and of those around them.
fn limit_of_groups(root: &Path, membership: &str) -> Option<u64> {
    let mut found: Option<u64> = None;
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':');
        let (_, Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let (base, file) = match controllers {
            "" => (root.to_path_buf(), "memory.max"),
            list if list.split(',').any(|name| name == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
            _ => continue,
        };
        let directory = base.join(group.trim_start_matches('/'));
        for directory in directory.ancestors().take_while(|directory| directory.starts_with(&base)) {
            // "max", or no such file, is no limit; so is a number greater than any memory.
            let limit = std::fs::read_to_string(directory.join(file)).ok().and_then(|text| text.trim().parse().ok());
            found = [found, limit].into_iter().flatten().min();
        }
    }
    found
}

/// When the address space is limited, what the allocator would reserve of it for speed is given back sooner.
pub fn save_address_space() {
    #[cfg(target_env = "gnu")]
    if address_space().is_some() {
        // SAFETY: these take numbers; each is only advice.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 2);
            libc::mallopt(libc::M_MMAP_THRESHOLD, 256 * 1024);
            libc::mallopt(libc::M_TRIM_THRESHOLD, 1024 * 1024);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_limits_of_control_groups() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("memory.max"), "max\n").unwrap();
        assert_eq!(limit_of_groups(root.path(), "0::/a/b\n"), None);
        std::fs::write(root.path().join("a/memory.max"), "1048576\n").unwrap();
        assert_eq!(limit_of_groups(root.path(), "0::/a/b\n"), Some(1 << 20));
        let old = root.path().join("memory/docker");
        std::fs::create_dir_all(&old).unwrap();
        std::fs::write(old.join("memory.limit_in_bytes"), "524288").unwrap();
        assert_eq!(limit_of_groups(root.path(), "5:cpu:/x\n4:memory,x:/docker\n0::/a"), Some(1 << 19));
    }

    #[test]
    fn gives_a_session_a_part_of_the_whole() {
        assert_eq!(Defaults::with_server(1 << 30), Defaults { server: 1 << 30, session: 1 << 28 });
        assert_eq!(Defaults::with_server(1 << 20).session, 1 << 20);
        let defaults = Defaults::of_this_machine();
        assert!(defaults.session <= defaults.server && defaults.server > 0);
    }
}
