//! An ordered map whose copies share what they have in common.
//!
//! A snapshot of the schema is never changed: each statement that changes the schema makes a new one. Copied whole,
//! a migration of n tables would copy n²/2 entries. Here a copy copies pointers to chunks, and a change copies the one
//! chunk that it touches.

use std::borrow::Borrow;
use std::sync::Arc;

/// Most entries of a chunk.
const LIMIT: usize = 128;

/// The map: chunks in order, none empty.
#[derive(Clone, Debug)]
pub struct Ordered<K, V> {
    chunks: Vec<Arc<Vec<(K, V)>>>,
}

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self { chunks: Vec::new() }
    }
}

impl<K: Ord + Clone, V: Clone> Ordered<K, V> {
    /// The chunk in which a key is, or would be.
    fn chunk_of<Q>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let behind = self.chunks.partition_point(|chunk| chunk.first().is_some_and(|(first, _)| first.borrow() <= key));
        behind.saturating_sub(1)
    }

    /// The value of a key.
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let chunk = self.chunks.get(self.chunk_of(key))?;
        let at = chunk.binary_search_by(|(known, _)| known.borrow().cmp(key)).ok()?;
        Some(&chunk[at].1)
    }

    /// Sets a key's value.
    pub fn insert(&mut self, key: K, value: V) {
        let at = self.chunk_of(&key);
        let Some(chunk) = self.chunks.get_mut(at) else {
            self.chunks.push(Arc::new(vec![(key, value)]));
            return;
        };
        let chunk = Arc::make_mut(chunk);
        match chunk.binary_search_by(|(known, _)| known.cmp(&key)) {
            Ok(found) => chunk[found].1 = value,
            Err(place) => {
                chunk.insert(place, (key, value));
                if chunk.len() > LIMIT {
                    let tail = chunk.split_off(LIMIT / 2);
                    self.chunks.insert(at + 1, Arc::new(tail));
                }
            }
        }
    }

    /// Takes a key out.
    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let at = self.chunk_of(key);
        let chunk = self.chunks.get_mut(at)?;
        let place = chunk.binary_search_by(|(known, _)| known.borrow().cmp(key)).ok()?;
        let chunk = Arc::make_mut(chunk);
        let (_, value) = chunk.remove(place);
        if chunk.is_empty() {
            self.chunks.remove(at);
        }
        Some(value)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.chunks.iter().flat_map(|chunk| chunk.iter().map(|(_, value)| value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.chunks.iter().flat_map(|chunk| chunk.iter().map(|(key, _)| key))
    }

    /// True when there is nothing.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }
}

/// Several object ids under one key, in order.
impl<K: Ord + Clone> Ordered<K, Vec<u32>> {
    /// The ids under a key.
    pub fn ids<Q>(&self, key: &Q) -> &[u32]
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.get(key).map_or(&[], Vec::as_slice)
    }

    /// Adds an id under a key.
    pub fn add(&mut self, key: K, oid: u32) {
        let mut ids = self.ids(&key).to_vec();
        if let Err(place) = ids.binary_search(&oid) {
            ids.insert(place, oid);
            self.insert(key, ids);
        }
    }

    /// Takes an id away from a key.
    pub fn strike<Q>(&mut self, key: &Q, oid: u32)
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let Some(ids) = self.get(key) else { return };
        let left: Vec<u32> = ids.iter().copied().filter(|known| *known != oid).collect();
        if left.is_empty() {
            self.remove(key);
            return;
        }
        let at = self.chunk_of(key);
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        if let Ok(place) = chunk.binary_search_by(|(known, _)| known.borrow().cmp(key)) {
            chunk[place].1 = left;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_answers_as_a_map_does_and_copies_keep_what_they_had() {
        let mut model = BTreeMap::new();
        let mut map = Ordered::default();
        let mut copies = Vec::new();
        // A fixed sequence without order.
        let mut number = 1_u64;
        for step in 0..5_000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = (number >> 33) % 700;
            if number.is_multiple_of(3) {
                assert_eq!(map.remove(&key), model.remove(&key));
            } else {
                map.insert(key, step);
                model.insert(key, step);
            }
            assert_eq!(map.get(&key), model.get(&key));
            if step % 1_000 == 0 {
                copies.push((map.clone(), model.clone()));
            }
        }
        copies.push((map, model));
        for (map, model) in copies {
            assert!(map.keys().eq(model.keys()));
            assert!(map.values().eq(model.values()));
            assert_eq!(map.is_empty(), model.is_empty());
        }
    }

    #[test]
    fn ids_gather_under_a_key() {
        let mut map: Ordered<String, Vec<u32>> = Ordered::default();
        map.add("a".into(), 7);
        map.add("a".into(), 3);
        map.add("a".into(), 7);
        assert_eq!(map.ids("a"), [3, 7]);
        map.strike("a", 3);
        map.strike("b", 3);
        assert_eq!(map.ids("a"), [7]);
        map.strike("a", 7);
        assert!(map.is_empty());
    }
}
