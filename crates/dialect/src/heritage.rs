//! Tables that inherit from tables.
//!
//! A table keeps the object ids of those that it inherits from, and which of its columns and checks are there for their
//! sake alone. How often something is inherited is not kept: it is as often as a parent has something of that name.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Schema;
use crate::schema::{Check, Relation};

/// What a table has from others.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Heritage {
    /// Object ids of its parents, in the order in which it was told of them.
    pub parents: Vec<u32>,
    /// Columns that it would not have by itself, by name.
    pub columns: BTreeSet<String>,
    /// Checks that it would not have by itself, by name.
    pub checks: BTreeSet<String>,
    /// It is a partition of its one parent: which rows it has.
    pub bound: Option<crate::partition::Bound>,
    /// It is a table OF this composite type, by its object id.
    pub of_type: Option<u32>,
}

impl Heritage {
    /// The parents' ids as a file keeps them.
    pub fn parents_text(parents: &[u32]) -> String {
        parents.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    }

    /// The parents' ids, as a file keeps them; what is no number there is nobody's.
    pub fn parents_of_text(text: &str) -> Vec<u32> {
        text.split(',').filter_map(|part| part.trim().parse().ok()).collect()
    }
}

/// The property of a table that lists its parents.
pub const INHERITS: &str = "inherits";
/// The property of a table OF a composite type: the type's object id.
pub const OF_TYPE: &str = "of_type";
/// The property of a column that its table has for the sake of a parent alone.
pub const INHERITED_COLUMN: &str = "inherited";
/// The property of a check that its table has for the sake of a parent alone.
pub const INHERITED_CHECK: &str = "constraint_inherited";

impl Relation {
    /// Object ids of the tables that it inherits from.
    pub fn parents(&self) -> &[u32] {
        self.heritage.as_ref().map_or(&[], |heritage| heritage.parents.as_slice())
    }

    /// The table itself declares the column of a name; otherwise a parent has given it.
    pub fn declares_column(&self, name: &str) -> bool {
        !self.heritage.as_ref().is_some_and(|heritage| heritage.columns.contains(name))
    }

    /// The table itself declares the check of a name; otherwise a parent has given it.
    pub fn declares_check(&self, name: &str) -> bool {
        !self.heritage.as_ref().is_some_and(|heritage| heritage.checks.contains(name))
    }

    /// Which rows of its parent it has, where it is a partition.
    pub fn bound(&self) -> Option<&crate::partition::Bound> {
        self.heritage.as_ref()?.bound.as_ref()
    }

    /// The composite type that it is a table OF, by its object id.
    pub fn of_type(&self) -> Option<u32> {
        self.heritage.as_ref()?.of_type
    }

    /// It has partitions, and no rows itself.
    pub fn is_partitioned(&self) -> bool {
        self.partitioning.is_some()
    }

    /// The check of a name.
    pub fn check(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }
}

/// The rows of a partition may belong to another one, when columns for which `changed` holds are set.
pub fn parts_by(schema: &dyn Schema, partition: &Arc<Relation>, changed: &dyn Fn(usize) -> bool) -> bool {
    let mut below = partition.clone();
    while below.bound().is_some()
        && let Some(parent) = parents(schema, &below).into_iter().next()
    {
        let keys = parent.partitioning.iter().flat_map(|partitioning| &partitioning.keys);
        let touched = keys.into_iter().any(|key| match &key.column {
            Some(name) => partition.column(name).is_some_and(changed),
            None => (0..partition.columns.len()).any(changed),
        });
        if touched {
            return true;
        }
        below = parent;
    }
    false
}

/// The tables that a table inherits from.
pub fn parents(schema: &dyn Schema, table: &Relation) -> Vec<Arc<Relation>> {
    table.parents().iter().filter_map(|oid| schema.relation_by_oid(*oid)).collect()
}

/// How many of a table's parents have a column of this name.
pub fn times_inherited(schema: &dyn Schema, table: &Relation, column: &str) -> usize {
    let has = |parent: &Arc<Relation>| parent.columns.iter().any(|known| known.name == column);
    parents(schema, table).iter().filter(|parent| has(parent)).count()
}

/// How many of a table's parents have a check of this name that children get.
pub fn check_times_inherited(schema: &dyn Schema, table: &Relation, check: &str) -> usize {
    let has = |parent: &Arc<Relation>| parent.check(check).is_some_and(|check| !check.no_inherit);
    parents(schema, table).iter().filter(|parent| has(parent)).count()
}

/// A table with all that inherit from it, each once: itself first, then its children, then theirs.
pub fn family(schema: &dyn Schema, table: &Arc<Relation>) -> Vec<Arc<Relation>> {
    let mut members = vec![table.clone()];
    let mut at = 0;
    while at < members.len() {
        for heir in schema.heirs(members[at].oid) {
            if !members.iter().any(|known| known.oid == heir.oid) {
                members.push(heir);
            }
        }
        at += 1;
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_read_back() {
        assert_eq!(Heritage::parents_of_text(&Heritage::parents_text(&[16_400, 7])), [16_400, 7]);
        assert_eq!(Heritage::parents_of_text(""), [0; 0]);
        assert_eq!(Heritage::parents_of_text("12,x"), [12]);
    }
}
