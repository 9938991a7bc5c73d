//! What is told of a database to who watches its server from outside.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowferry_dialect::{Language, Result};

use crate::database::Shared;
use crate::statistics::{self, DatabaseCounts};
use crate::{Database, Databases};

pub use crate::statistics::{BUCKETS, Kind};

/// What has been counted of a database since its server began. `pg_stat_reset` does not set it back.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Measurements {
    /// The database's name.
    pub database: String,
    /// What `pg_stat_database` tells, too, and what its statements came to.
    pub counts: DatabaseCounts,
    /// Errors that clients were told, by the class of their SQLSTATE.
    pub errors: BTreeMap<String, u64>,
    /// Plans that had to be made.
    pub plans_made: u64,
    /// Sessions that are open, by their dialect and what they do.
    pub sessions: BTreeMap<(&'static str, &'static str), u64>,
    /// Sessions that wait for a lock at this moment.
    pub waiting: u64,
    /// Waits for locks that are over, and how long they took together, in microseconds.
    pub lock_waits: (u64, u64),
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of the log beside it.
    pub log_bytes: u64,
}

/// What sessions can be doing.
pub const STATES: [&str; 4] = ["active", "idle", "idle in transaction", "idle in transaction (aborted)"];

impl Database {
    /// What has been counted until now. Statements are counted only with [`Options::measured`](crate::Options).
    pub fn measurements(&self) -> Measurements {
        measurements(&self.shared)
    }

    /// Whether the file can be read: a new handle is opened on it, and looks into it.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn check_readable(&self) -> Result<()> {
        self.shared.check_readable()
    }
}

impl Databases {
    /// Those of the databases that are open in this process.
    pub fn measurements(&self) -> Vec<Measurements> {
        self.opened().iter().map(measurements).collect()
    }
}

fn measurements(database: &Arc<Shared>) -> Measurements {
    let counts = statistics::gather(database, None);
    let mut sessions: BTreeMap<(&'static str, &'static str), u64> = BTreeMap::new();
    for session in database.sessions() {
        let door = match session.language {
            Language::Informix => "informix",
            Language::Mysql => "mysql",
            _ => "postgres",
        };
        *sessions.entry((door, session.activity.lock().state)).or_default() += 1;
    }
    let locks = &database.locks;
    let (file_bytes, log_bytes) = database.sizes();
    Measurements {
        database: database.name.clone(),
        counts,
        errors: database.statistics.errors(),
        plans_made: database.statistics.plans_made.load(Ordering::Relaxed),
        sessions,
        waiting: locks.rows().iter().filter(|row| !row.granted).count() as u64,
        lock_waits: (locks.waits.load(Ordering::Relaxed), locks.waited.load(Ordering::Relaxed)),
        file_bytes,
        log_bytes,
    }
}
