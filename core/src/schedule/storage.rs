use core::fmt::Debug;
use core::hash::Hash;

use crate::few::Few;
use sealed::Sealed;

mod sealed {
    /// Keeps [`Storage`](super::Storage) from being implemented elsewhere, so that it can grow.
    pub trait Sealed {}
}

#[cfg(feature = "alloc")]
impl<T> Sealed for alloc::vec::Vec<T> {}
impl<T, const N: usize> Sealed for Few<T, N> {}

/// Where a [`Schedule`](super::Schedule) keeps its reservations: a growable `Vec`, or a [`Few`] without an
/// allocator.
///
/// No other type implements it.
pub trait Storage<T>:
    Sealed + Clone + Eq + Hash + Debug + Default + AsRef<[T]> + AsMut<[T]>
{
    /// The most items it can ever hold.
    const CAPACITY: usize;

    /// The same kind of storage for other items.
    type Of<U: Clone + Eq + Hash + Debug>: Storage<U>;

    /// Puts an item at this place and moves the later ones back. Gives the item back if it is full or `place` is beyond
    /// its length.
    fn insert_at(&mut self, index: usize, item: T) -> Result<(), T>;

    /// Takes out the item at this place, if there is one, and moves the later ones up.
    fn remove_at(&mut self, index: usize) -> Option<T>;

    /// Keeps only the items for which `keep` says so, in their order.
    fn keep_if(&mut self, keep: impl FnMut(&T) -> bool);
}

#[cfg(feature = "alloc")]
impl<T: Clone + Eq + Hash + Debug> Storage<T> for alloc::vec::Vec<T> {
    const CAPACITY: usize = usize::MAX;

    type Of<U: Clone + Eq + Hash + Debug> = alloc::vec::Vec<U>;

    fn insert_at(&mut self, index: usize, item: T) -> Result<(), T> {
        if index > self.len() {
            return Err(item);
        }
        self.insert(index, item);
        Ok(())
    }

    fn remove_at(&mut self, index: usize) -> Option<T> {
        (index < self.len()).then(|| self.remove(index))
    }

    fn keep_if(&mut self, keep: impl FnMut(&T) -> bool) {
        self.retain(keep);
    }
}

impl<T: Clone + Eq + Hash + Debug, const N: usize> Storage<T> for Few<T, N> {
    const CAPACITY: usize = N;

    type Of<U: Clone + Eq + Hash + Debug> = Few<U, N>;

    fn insert_at(&mut self, index: usize, item: T) -> Result<(), T> {
        self.insert(index, item)
    }

    fn remove_at(&mut self, index: usize) -> Option<T> {
        self.remove(index)
    }

    fn keep_if(&mut self, keep: impl FnMut(&T) -> bool) {
        self.retain(keep);
    }
}
