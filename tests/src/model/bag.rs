use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A set that only grows. Two bags of the same values are equal, whatever the order of insertion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bag<T> {
    /// By a fixed hash, so that values need no order of their own.
    items: Vec<(u64, Arc<T>)>,
}

impl<T: Hash + Eq> Bag<T> {
    /// Adds a value, unless it is there.
    pub fn insert(&mut self, value: T) {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        let hash = hasher.finish();
        let index = self.items.partition_point(|(other, _)| *other < hash);
        let same = self.items[index..]
            .iter()
            .take_while(|(other, _)| *other == hash);
        if !same.into_iter().any(|(_, other)| **other == value) {
            self.items.insert(index, (hash, Arc::new(value)));
        }
    }

    /// All values, in an order that depends on nothing but the values.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, value)| &**value)
    }
}

impl<T> Hash for Bag<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (hash, _) in &self.items {
            hash.hash(state);
        }
    }
}

impl<T> Default for Bag<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}
