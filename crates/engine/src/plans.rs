//! The plan caches that the sessions of a database share: plans by their text, and by the shape of texts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use foldhash::HashMap;
use parking_lot::RwLock;
use rowferry_dialect::optimise::Passes;
use rowferry_dialect::values::LiteralStyle;
use rowferry_dialect::{Language, Type};

use crate::session::Prepared;

/// How many plans are kept.
const CAPACITY: usize = 2_000;

/// How many bytes they may take together, and which part of the server's memory: one in so many.
const CAPACITY_BYTES: usize = 128 << 20;
const PART: usize = 8;

/// Longer texts, in bytes, are not kept: they are literals written out, rarely asked twice, and their plans are large.
pub const LONGEST_TEXT: usize = 16 * 1024;

/// What a plan depends on.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct PlanKey {
    /// The statement's text.
    pub text: Arc<str>,
    /// Whose SQL it is.
    pub language: Language,
    /// Where names are looked for.
    pub search_path: Arc<[String]>,
    /// The schema that it was bound against.
    pub generation: u64,
    /// Who asks: `current_user` may be part of the plan.
    pub user: Arc<str>,
    /// How literals are read: by DateStyle and IntervalStyle.
    pub literals: LiteralStyle,
    /// What the Informix door has told the session: which database is open under which name, how names are written, what
    /// lengths are.
    pub told: Arc<str>,
    /// What was done to make it faster.
    pub passes: Passes,
    /// Parameter types that the client has declared.
    pub params: Vec<Option<Type>>,
}

/// What a cache keeps.
pub trait Kept: Clone {
    /// About how many bytes of memory it takes.
    fn size(&self) -> usize;
}

impl Kept for Arc<Prepared> {
    fn size(&self) -> usize {
        self.size
    }
}

/// Plans by their texts.
pub type PlanCache = Cache<Arc<Prepared>>;

/// What is known by what it depends on.
#[derive(Debug)]
pub struct Cache<V> {
    plans: RwLock<HashMap<PlanKey, (V, AtomicU64)>>,
    tick: AtomicU64,
    /// What all of it takes together.
    bytes: AtomicUsize,
}

impl<V> Default for Cache<V> {
    fn default() -> Self {
        Self { plans: RwLock::default(), tick: AtomicU64::new(0), bytes: AtomicUsize::new(0) }
    }
}

impl<V: Kept> Cache<V> {
    /// What is known of a key.
    pub fn get(&self, key: &PlanKey) -> Option<V> {
        let plans = self.plans.read();
        let (plan, used) = plans.get(key)?;
        used.store(self.tick.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(plan.clone())
    }

    /// Keeps it unless its text is very long; the less recently used half goes when there are too many.
    pub fn insert(&self, key: PlanKey, plan: V) {
        if key.text.len() > LONGEST_TEXT {
            return;
        }
        let mut plans = self.plans.write();
        let bytes = self.bytes.load(Ordering::Relaxed) + plan.size();
        if !plans.is_empty()
            && (plans.len() >= CAPACITY || bytes > CAPACITY_BYTES.min(crate::memory::server_limit() / PART))
        {
            let mut used: Vec<u64> = plans.values().map(|(_, used)| used.load(Ordering::Relaxed)).collect();
            used.sort_unstable();
            let median = used[used.len() / 2];
            plans.retain(|_, (_, used)| used.load(Ordering::Relaxed) > median);
            self.bytes.store(plans.values().map(|(plan, _)| plan.size()).sum(), Ordering::Relaxed);
        }
        self.bytes.fetch_add(plan.size(), Ordering::Relaxed);
        let used = AtomicU64::new(self.tick.fetch_add(1, Ordering::Relaxed));
        if let Some((replaced, _)) = plans.insert(key, (plan, used)) {
            self.bytes.fetch_sub(replaced.size(), Ordering::Relaxed);
        }
    }
}

/// The next plan's number: under it sessions keep the back end's statements.
pub fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
