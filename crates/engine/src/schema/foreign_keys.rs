//! Foreign keys that the engine keeps, as the tables see them that they lead to.

use std::sync::Arc;

use rowferry_dialect::partition::{adopted_indexes, adopted_key};
use rowferry_dialect::schema::{ForeignKey, Relation};
use rowferry_dialect::{Schema as _, heritage};

use super::SessionSchema;

impl SessionSchema {
    /// The foreign keys of the engine that lead to a table, or to one that it is a partition of, with the tables that they
    /// start from. One that a partition has for its parent's sake counts as its parent's.
    pub fn keys_by_engine(&self, referred: &Arc<Relation>) -> Vec<(Arc<Relation>, ForeignKey)> {
        let mut found = Vec::new();
        let mut level = referred.clone();
        loop {
            for child in self.children(&level) {
                let keys = child.foreign_keys.iter().filter(|key| key.by_engine && key.leads_to(&level));
                let own = keys.filter(|key| !self.is_parents_key(child, key));
                found.extend(own.map(|key| (child.clone(), key.clone())));
            }
            let above = if level.bound().is_some() { heritage::parents(self, &level).into_iter().next() } else { None };
            match above {
                Some(above) => level = above,
                None => return found,
            }
        }
    }

    /// True for a foreign key that a partition has because its parent has it.
    pub fn is_parents_key(&self, table: &Relation, key: &ForeignKey) -> bool {
        let is_it = |parent: &Relation, of: &ForeignKey| {
            adopted_key(parent, of, table).is_some_and(|adopted| adopted.oid == key.oid)
        };
        table.bound().is_some()
            && heritage::parents(self, table)
                .iter()
                .any(|parent| parent.foreign_keys.iter().any(|of| is_it(parent, of)))
    }

    /// The tables whose rows would refer to nothing if a table were emptied.
    pub fn referring(&self, referred: &Arc<Relation>) -> Vec<Arc<Relation>> {
        let mut found: Vec<Arc<Relation>> = self.children(referred).cloned().collect();
        for (child, _) in self.keys_by_engine(referred) {
            if !found.iter().any(|known| known.oid == child.oid) {
                found.push(child);
            }
        }
        found
    }

    /// A foreign key by its object id, with the table that has it.
    pub fn foreign_key(&self, oid: u32) -> Option<(Arc<Relation>, ForeignKey)> {
        self.relations_with_part(oid).find_map(|relation| {
            let key = relation.foreign_keys.iter().find(|key| key.oid == oid)?;
            Some((relation.clone(), key.clone()))
        })
    }

    /// The foreign keys of partitions that are one of their parent, at all levels.
    pub fn adopted_keys(&self, table: &Relation, key: &ForeignKey) -> Vec<u32> {
        let mut found = Vec::new();
        if !table.is_partitioned() {
            return found;
        }
        for partition in self.heirs(table.oid) {
            if let Some(own) = adopted_key(table, key, &partition) {
                found.push(own.oid);
                found.extend(self.adopted_keys(&partition, own));
            }
        }
        found
    }

    /// The indexes of partitions that are one of their parent, at all levels: the partition, and the index's place in it.
    pub fn adopted_parts(&self, table: &Relation, at: usize) -> Vec<(Arc<Relation>, usize)> {
        let mut found = Vec::new();
        if !table.is_partitioned() {
            return found;
        }
        for partition in self.heirs(table.oid) {
            if let Some(own) = adopted_indexes(table, &partition)[at] {
                let below = self.adopted_parts(&partition, own);
                found.push((partition, own));
                found.extend(below);
            }
        }
        found
    }
}
