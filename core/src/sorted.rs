//! A sorted map, for the few entries that one node keeps.
//!
//! ```
//! use gridweave_core::sorted::SortedMap;
//!
//! let mut ages = SortedMap::new();
//! ages.insert("Eve", 30);
//! ages.insert("Ada", 36);
//! assert_eq!(ages.insert("Eve", 31), Some(30));
//! assert!(ages.iter().eq([(&"Ada", &36), (&"Eve", &31)]));
//! assert_eq!(ages.remove(&"Ada"), Some(36));
//! ```

use alloc::vec::{self, Vec};
use core::fmt::{self, Debug};
use core::mem;

/// A map that is one vector, sorted by key.
///
/// A node has few timers and records, so a search is short and an insertion moves little. It takes a fraction of the
/// memory of a tree, and of its time to compile for each pair of types.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> SortedMap<K, V> {
    /// An empty map; it allocates nothing.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// How many keys it has.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no key.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes every key.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// All keys and values, in the order of keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// All keys, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }

    /// All values, in the order of their keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }
}

impl<K: Copy + Ord, V> SortedMap<K, V> {
    fn find(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by_key(key, |(key, _)| *key)
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        let index = self.find(key).ok()?;
        self.0.get(index).map(|(_, value)| value)
    }

    /// The value of a key, to change.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let index = self.find(key).ok()?;
        self.0.get_mut(index).map(|(_, value)| value)
    }

    /// Whether it has a key.
    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// Sets the value of a key, and returns its old value.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(index) => {
                let (_, before) = self.0.get_mut(index)?;
                Some(mem::replace(before, value))
            }
            Err(index) => {
                // From one to two to four: many maps never have more, and a vector would begin with four.
                if self.0.len() == self.0.capacity() {
                    self.0.reserve_exact(self.0.len().max(1));
                }
                self.0.insert(index, (key, value));
                None
            }
        }
    }

    /// Removes a key, and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let index = self.find(key).ok()?;
        Some(self.0.remove(index).1)
    }
}

impl<K: Debug, V: Debug> Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Copy + Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_is_a_map_however_many_keys_it_has() {
        let mut sorted = SortedMap::new();
        let mut map = BTreeMap::new();
        let mut state = 1_u32;
        for value in 0..1000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = (state >> 16) % if value < 500 { 8 } else { 40 };
            assert_eq!(sorted.get(&key), map.get(&key));
            assert_eq!(sorted.get_mut(&key), map.get_mut(&key));
            if state >> 31 == 0 {
                assert_eq!(sorted.insert(key, value), map.insert(key, value));
            } else {
                assert_eq!(sorted.remove(&key), map.remove(&key));
            }
            assert_eq!(sorted.contains_key(&key), map.contains_key(&key));
            assert!(
                sorted.iter().eq(&map)
                    && sorted.keys().eq(map.keys())
                    && sorted.values().eq(map.values())
            );
            assert_eq!(
                (sorted.len(), sorted.is_empty()),
                (map.len(), map.is_empty())
            );
        }
        assert_eq!(
            map.clone().into_iter().rev().collect::<SortedMap<_, _>>(),
            sorted
        );
        assert_eq!(std::format!("{sorted:?}"), std::format!("{map:?}"));
        assert!(sorted.clone().into_iter().eq(map));
        sorted.clear();
        assert!(sorted.is_empty());
    }
}
