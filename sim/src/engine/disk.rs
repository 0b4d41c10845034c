//! The disk of one node.

use std::collections::BTreeMap;

/// Records by their keys.
///
/// Many machines keep a record or two: those lie in one small piece of memory, which is a fraction of a tree's.
#[derive(Debug)]
pub(super) enum Disk<K, R> {
    /// Sorted.
    Few(Vec<(K, R)>),
    Many(BTreeMap<K, R>),
}

impl<K: Copy + Ord, R> Disk<K, R> {
    /// More than this are many.
    const FEW: usize = 8;

    /// An empty disk.
    pub(super) const fn new() -> Self {
        Self::Few(Vec::new())
    }

    /// Writes a record in place of what was under its key.
    pub(super) fn write(&mut self, key: K, record: R) {
        let few = match self {
            Self::Many(records) => {
                records.insert(key, record);
                return;
            }
            Self::Few(few) => few,
        };
        match few.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(place) => few[place].1 = record,
            Err(place) if few.len() < Self::FEW => {
                if few.len() == few.capacity() {
                    few.reserve_exact(few.len().max(1));
                }
                few.insert(place, (key, record));
            }
            Err(_) => {
                let records = std::mem::take(few).into_iter().chain([(key, record)]);
                *self = Self::Many(records.collect());
            }
        }
    }

    /// Removes the record under a key.
    pub(super) fn erase(&mut self, key: K) {
        match self {
            Self::Few(few) => {
                if let Ok(place) = few.binary_search_by_key(&key, |(key, _)| *key) {
                    few.remove(place);
                }
            }
            Self::Many(records) => {
                records.remove(&key);
            }
        }
    }

    /// All records, in the order of keys.
    pub(super) fn records(&self) -> impl Iterator<Item = (&K, &R)> {
        let (few, many) = match self {
            Self::Few(few) => (Some(few), None),
            Self::Many(records) => (None, Some(records)),
        };
        let few = few.into_iter().flatten().map(|(key, record)| (key, record));
        few.chain(many.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_a_map_however_much_is_on_it() {
        let mut disk = Disk::new();
        let mut map = BTreeMap::new();
        let mut state = 1_u32;
        for record in 0..1000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // At most so many keys: few for a while, then many.
            let key = (state >> 16) % if record < 500 { 8 } else { 40 };
            if state >> 31 == 0 {
                disk.write(key, record);
                map.insert(key, record);
            } else {
                disk.erase(key);
                map.remove(&key);
            }
            assert!(disk.records().eq(&map));
        }
        assert!(matches!(disk, Disk::Many(_)));
    }
}
