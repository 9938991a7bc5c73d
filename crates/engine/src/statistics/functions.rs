//! What is counted of users' functions (`pg_stat_user_functions`), where `track_functions` asks for it.

/// How often a function was called, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FunctionCounts {
    /// Calls that have come to their end.
    pub calls: u64,
    /// Microseconds with what it called; of a function that calls itself those of the outermost call.
    pub total: u64,
    /// Microseconds without.
    pub own: u64,
}

impl FunctionCounts {
    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.total += other.total;
        self.own += other.own;
    }
}
