//! Which indexes and foreign keys of a partition are those of its parent.
//!
//! Nobody notes it: an index of a partition that is like one of its parent is that one's part there, as PostgreSQL finds it
//! when a table is attached.

use crate::Schema;
use crate::schema::{ForeignKey, Index, Relation};

/// For each index of a partitioned table the place of the partition's index that is its part.
pub fn adopted_indexes(parent: &Relation, partition: &Relation) -> Vec<Option<usize>> {
    let mut taken = vec![false; partition.indexes.len()];
    let mut found = Vec::with_capacity(parent.indexes.len());
    for index in &parent.indexes {
        let like = (partition.indexes.iter().enumerate())
            .position(|(at, own)| !taken[at] && is_like(parent, index, partition, own));
        if let Some(at) = like {
            taken[at] = true;
        }
        found.push(like);
    }
    found
}

/// The place of the parent's index that a partition's index is a part of.
pub fn parent_of_index(parent: &Relation, partition: &Relation, at: usize) -> Option<usize> {
    adopted_indexes(parent, partition).iter().position(|own| *own == Some(at))
}

/// True when every partition has its part of an index: one made with ON ONLY counts from then on.
pub fn is_whole(schema: &dyn Schema, parent: &Relation, at: usize) -> bool {
    schema.heirs(parent.oid).iter().all(|partition| match adopted_indexes(parent, partition)[at] {
        Some(own) => !partition.is_partitioned() || is_whole(schema, partition, own),
        None => false,
    })
}

fn is_like(parent: &Relation, index: &Index, partition: &Relation, own: &Index) -> bool {
    let name = |relation: &Relation, at: Option<usize>| at.map(|at| relation.columns[at].name.clone());
    let keys = |relation: &Relation, index: &Index| -> Vec<(Option<String>, String, bool)> {
        let keys = index.columns.iter().zip(&index.keys);
        keys.map(|(at, key)| {
            let text = if at.is_some() { String::new() } else { key.text.clone() };
            (name(relation, *at), text, key.descending)
        })
        .collect()
    };
    // Whether a key waits does not matter.
    (own.is_key(), own.primary, own.constraint, own.nulls_alike)
        == (index.is_key(), index.primary, index.constraint, index.nulls_alike)
        && own.predicate == index.predicate
        && keys(parent, index) == keys(partition, own)
}

/// The foreign key of a partition that is one of its parent.
pub fn adopted_key<'p>(parent: &Relation, key: &ForeignKey, partition: &'p Relation) -> Option<&'p ForeignKey> {
    let names = |relation: &Relation, columns: &[usize]| -> Vec<String> {
        columns.iter().map(|at| relation.columns[*at].name.clone()).collect()
    };
    let wanted = names(parent, &key.columns);
    partition.foreign_keys.iter().find(|own| {
        names(partition, &own.columns) == wanted
            && own.target == key.target
            && own.target_columns == key.target_columns
            && (own.rules.on_delete, own.rules.on_update, own.rules.full)
                == (key.rules.on_delete, key.rules.on_update, key.rules.full)
            && (own.rules.deferrable, own.rules.deferred) == (key.rules.deferrable, key.rules.deferred)
            && (own.by_engine, names(partition, &own.set_columns)) == (key.by_engine, names(parent, &key.set_columns))
    })
}
