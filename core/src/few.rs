//! A list of a few items, kept in place.
//!
//! Machines that need no allocator keep their lists in it, and so do messages whose lists are bounded.
//!
//! ```
//! use gridweave_core::few::Few;
//!
//! let mut few = Few::<u32, 3>::from([5, 1]);
//! assert_eq!(few.push(3), Ok(()));
//! // It is full, so the item comes back.
//! assert_eq!(few.push(7), Err(7));
//!
//! // It is a slice in all else.
//! few.sort_unstable();
//! assert_eq!(few, [1, 3, 5]);
//!
//! // What collects takes as many items as there is room for, and leaves the others.
//! let mut numbers = 1..;
//! assert_eq!(numbers.by_ref().collect::<Few<_, 3>>(), [1, 2, 3]);
//! assert_eq!(numbers.next(), Some(4));
//! ```

use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Deref, DerefMut};

/// At most `N` items, in an array inside the value.
///
/// Nothing here panics: what has no room comes back or is left with the caller.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Few<T, const N: usize>(heapless::Vec<T, N>);

impl<T, const N: usize> Few<T, N> {
    /// The most items that it takes.
    pub const CAPACITY: usize = N;

    /// An empty list.
    pub const fn new() -> Self {
        Self(heapless::Vec::new())
    }

    /// All items.
    pub fn as_slice(&self) -> &[T] {
        self
    }

    /// Whether there is no room for another item.
    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Adds an item behind the last one. Gives it back if the list is full.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        self.0.push(item)
    }

    /// Takes out the last item.
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Puts an item at `index` and moves the later ones back. Gives it back if the list is full or shorter than that.
    pub fn insert(&mut self, index: usize, item: T) -> Result<(), T> {
        if index > self.len() {
            return Err(item);
        }
        self.0.insert(index, item)
    }

    /// Takes out the item at `index`, if there is one, and moves the later ones up.
    pub fn remove(&mut self, index: usize) -> Option<T> {
        (index < self.len()).then(|| self.0.remove(index))
    }

    /// Takes out the item at `index`, if there is one, and puts the last one there.
    pub fn swap_remove(&mut self, index: usize) -> Option<T> {
        (index < self.len()).then(|| self.0.swap_remove(index))
    }

    /// Keeps only the items for which `keep` says so, in their order.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }

    /// Drops all items but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Drops all items.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<T, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T, const N: usize> AsRef<[T]> for Few<T, N> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T, const N: usize> AsMut<[T]> for Few<T, N> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

/// Of an array longer than `N`, the compiler refuses the conversion.
impl<T, const N: usize, const M: usize> From<[T; M]> for Few<T, N> {
    fn from(items: [T; M]) -> Self {
        const { assert!(M <= N, "the array is longer than the list") };
        items.into_iter().collect()
    }
}

/// Takes items while there is room.
impl<T, const N: usize> Extend<T> for Few<T, N> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let room = N.saturating_sub(self.len());
        self.0.extend(items.into_iter().take(room));
    }
}

/// Takes the first `N` items.
impl<T, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().take(N).collect())
    }
}

impl<T, const N: usize> IntoIterator for Few<T, N> {
    type Item = T;
    type IntoIter = IntoIter<T, N>;
    fn into_iter(self) -> IntoIter<T, N> {
        IntoIter(self.0.into_iter())
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a Few<T, N> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a mut Few<T, N> {
    type Item = &'a mut T;
    type IntoIter = core::slice::IterMut<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// The items of a [`Few`], one after the other.
#[derive(Clone)]
pub struct IntoIter<T, const N: usize>(heapless::vec::IntoIter<T, N, usize>);

impl<T, const N: usize> Iterator for IntoIter<T, N> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T, const N: usize> DoubleEndedIterator for IntoIter<T, N> {
    fn next_back(&mut self) -> Option<T> {
        self.0.next_back()
    }
}

impl<T, const N: usize> ExactSizeIterator for IntoIter<T, N> {}
impl<T, const N: usize> FusedIterator for IntoIter<T, N> {}

impl<T: fmt::Debug, const N: usize> fmt::Debug for IntoIter<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<T: PartialEq, const N: usize> PartialEq<[T]> for Few<T, N> {
    fn eq(&self, other: &[T]) -> bool {
        **self == *other
    }
}

impl<T: PartialEq, const N: usize> PartialEq<&[T]> for Few<T, N> {
    fn eq(&self, other: &&[T]) -> bool {
        **self == **other
    }
}

impl<T: PartialEq, const N: usize, const M: usize> PartialEq<[T; M]> for Few<T, N> {
    fn eq(&self, other: &[T; M]) -> bool {
        **self == *other
    }
}

impl<T: PartialEq, const N: usize, const M: usize> PartialEq<Few<T, N>> for [T; M] {
    fn eq(&self, other: &Few<T, N>) -> bool {
        *self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{format, vec::Vec};

    #[test]
    fn what_has_no_room_comes_back_and_nothing_changes() {
        let mut few = Few::<_, 3>::from([1, 2]);
        assert_eq!(few.insert(3, 9), Err(9));
        assert_eq!((few.remove(2), few.swap_remove(2)), (None, None));
        assert_eq!((few.insert(0, 0), few.is_full()), (Ok(()), true));
        assert_eq!((few.push(9), few.insert(1, 9)), (Err(9), Err(9)));
        few.extend([7, 8]);
        assert_eq!(few, [0, 1, 2]);
        assert_eq!((1..9).collect::<Few<_, 3>>(), [1, 2, 3]);
        assert_eq!(Few::<u8, 0>::new().push(1), Err(1));
    }

    #[test]
    fn items_are_taken_out_in_every_way() {
        let mut few = Few::<_, 8>::from([0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(
            (few.pop(), few.remove(0), few.swap_remove(0)),
            (Some(6), Some(0), Some(1))
        );
        assert_eq!([5, 2, 3, 4], few);
        few.retain(|item| item % 2 == 1);
        assert_eq!(few, [5, 3][..]);
        few.iter_mut().for_each(|item| *item += 1);
        for item in &mut few {
            *item += 1;
        }
        let mut items = few.clone().into_iter();
        assert_eq!((items.len(), format!("{items:?}")), (2, "[7, 5]".into()));
        assert_eq!(
            (items.next_back(), items.next(), items.next()),
            (Some(5), Some(7), None)
        );
        few.truncate(1);
        assert_eq!((&few).into_iter().collect::<Vec<_>>(), [&7]);
        few.clear();
        assert_eq!((few.is_empty(), few), (true, Few::default()));
    }

    #[test]
    fn a_list_takes_no_more_memory_than_its_array_and_a_count() {
        assert_eq!(
            size_of::<Few<u64, 4>>(),
            4 * size_of::<u64>() + size_of::<usize>().max(align_of::<u64>())
        );
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_list_travels_as_any_other_list_and_a_longer_one_is_refused() {
        let few = Few::<u16, 3>::from([1, 300]);
        let bytes = postcard::to_allocvec(&few).unwrap();
        assert_eq!(bytes, postcard::to_allocvec(&[1_u16, 300][..]).unwrap());
        assert_eq!(postcard::from_bytes::<Few<u16, 3>>(&bytes), Ok(few));
        assert!(postcard::from_bytes::<Few<u16, 1>>(&bytes).is_err());
        assert_eq!(serde_json::from_str::<Few<u8, 2>>("[1,2]").unwrap(), [1, 2]);
        assert!(serde_json::from_str::<Few<u8, 2>>("[1,2,3]").is_err());
    }
}
