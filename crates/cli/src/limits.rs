//! `rowferry serve`: how much of the machine its clients may use.

use clap::Args;
use rowferry_engine::memory::{self, machine};
use rowferry_server::{Capacity, Limits};

use crate::Failure;

/// Options about memory.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Memory")]
pub struct MemoryArguments {
    /// Memory that all sessions together may use, in mebibytes [default: three quarters of the machine's, or half of what
    /// `ulimit -v` allows]
    ///
    /// Statements that would use more fail with 53200, those of the sessions that use much first.
    #[arg(long, value_name = "MIB", env = "ROWFERRY_MEMORY_LIMIT")]
    memory_limit: Option<usize>,

    /// Memory that one session may use, in mebibytes [default: a quarter of --memory-limit]
    ///
    /// A statement that would use more fails with 53200; large sorts and results go to temporary files.
    #[arg(long, value_name = "MIB", env = "ROWFERRY_SESSION_MEMORY")]
    session_memory: Option<usize>,

    /// How much of a file is read through a mapping of it, in mebibytes; the rest, and all with 0, is read by calls
    /// [default: 2047, or 0 where `ulimit -v` limits the address space]
    ///
    /// A mapping shares the machine's cache of the file with all sessions.
    #[arg(long, value_name = "MIB", env = "ROWFERRY_MMAP_SIZE")]
    mmap_size: Option<u64>,
}

/// Mebibytes of a file that SQLite maps at most.
const MOST_MAPPED: u64 = 2047;

/// The least that makes sense, in mebibytes.
const LEAST: usize = 16;

impl MemoryArguments {
    /// Sets the server's limit; the limit of a session, in bytes.
    pub fn apply(self) -> Result<usize, Failure> {
        if [self.memory_limit, self.session_memory].into_iter().flatten().any(|mebibytes| mebibytes < LEAST) {
            return Err(Failure::new(format!("--memory-limit and --session-memory must be at least {LEAST} MiB")));
        }
        let bytes = |mebibytes: usize| mebibytes.saturating_mul(1 << 20);
        let defaults = match self.memory_limit {
            Some(limit) => machine::Defaults::with_server(bytes(limit)),
            None => machine::Defaults::of_this_machine(),
        };
        let session = self.session_memory.map_or(defaults.session, bytes).min(defaults.server);
        memory::set_server_limit(defaults.server);
        machine::save_address_space();
        tracing::info!(server = defaults.server >> 20, session = session >> 20, "memory limits in MiB");
        Ok(session)
    }

    /// Bytes of a file that are mapped.
    pub fn mapped(self) -> Result<u64, Failure> {
        let usual = if machine::address_space().is_some() { 0 } else { MOST_MAPPED };
        let wanted = self.mmap_size.unwrap_or(usual);
        if wanted > MOST_MAPPED {
            return Err(Failure::new(format!("--mmap-size can be at most {MOST_MAPPED} MiB")));
        }
        if wanted > 0 && !rowferry_engine::mapped::survive_losses() {
            return match self.mmap_size {
                Some(_) => Err(Failure::new("--mmap-size: files are not mapped on this system")),
                None => Ok(0),
            };
        }
        Ok(wanted << 20)
    }
}

/// A message, which is read before it is looked at, takes at most half of a session's memory.
pub fn fit_messages(limits: &mut Limits, session_memory: usize) {
    limits.max_message = limits.max_message.min(session_memory / 2);
}

/// Lets no more sessions in than the process can serve.
pub fn fit_connections(limits: &mut Limits) {
    let capacity = Capacity::raised();
    let wanted = limits.max_connections;
    limits.max_connections = capacity.sessions(wanted, limits.max_handshakes);
    if limits.max_connections < wanted {
        let reason = capacity.reason(limits.max_handshakes);
        tracing::warn!(wanted, served = limits.max_connections, reason, "fewer sessions than --max-connections allows");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_has_a_size_that_sqlite_has() {
        let mapped = |mmap_size| MemoryArguments { memory_limit: None, session_memory: None, mmap_size }.mapped();
        assert_eq!(mapped(Some(0)).ok(), Some(0));
        assert!(mapped(Some(MOST_MAPPED + 1)).is_err());
        #[cfg(target_os = "linux")]
        assert_eq!(mapped(Some(3)).ok(), Some(3 << 20));
    }
}
