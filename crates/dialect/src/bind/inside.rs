//! Where aggregates and window functions may stand: not within each other, and not in every clause.

/// What an expression stands in, of its own query.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Inside {
    /// The arguments of an aggregate.
    pub(crate) aggregate: bool,
    /// The arguments of a window function, or its window.
    pub(crate) window: bool,
}

/// What is wrong with a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Misplaced {
    /// An aggregate in an aggregate.
    NestedAggregate,
    /// A window function in an aggregate.
    WindowInAggregate,
    /// A window function in another one.
    NestedWindow,
    /// An aggregate where the clause has none.
    Aggregate,
    /// A window function where the clause has none.
    Window,
}

impl Inside {
    /// Inside of a call, with a window or without.
    pub(crate) fn of_call(self, windowed: bool) -> Self {
        Self { aggregate: self.aggregate || !windowed, window: self.window || windowed }
    }

    /// Asks whether an aggregate may stand here, in a clause that has such or not.
    pub(crate) const fn aggregate_here(self, clause: bool) -> Result<(), Misplaced> {
        match self {
            Self { aggregate: true, .. } => Err(Misplaced::NestedAggregate),
            _ if !clause => Err(Misplaced::Aggregate),
            _ => Ok(()),
        }
    }

    /// The same of what is computed over a window. Its arguments may be aggregates, which are computed before it.
    pub(crate) const fn window_here(self, clause: bool) -> Result<(), Misplaced> {
        match self {
            Self { aggregate: true, .. } => Err(Misplaced::WindowInAggregate),
            Self { window: true, .. } => Err(Misplaced::NestedWindow),
            _ if !clause => Err(Misplaced::Window),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_computed_behind_aggregates() {
        let (top, aggregate, window) =
            (Inside::default(), Inside::default().of_call(false), Inside::default().of_call(true));
        assert_eq!(window.aggregate_here(true), Ok(()));
        assert_eq!(aggregate.aggregate_here(true), Err(Misplaced::NestedAggregate));
        assert_eq!(aggregate.window_here(true), Err(Misplaced::WindowInAggregate));
        assert_eq!(window.window_here(true), Err(Misplaced::NestedWindow));
        assert_eq!(top.window_here(false), Err(Misplaced::Window));
        assert_eq!(top.aggregate_here(false), Err(Misplaced::Aggregate));
    }
}
