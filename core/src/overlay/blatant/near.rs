//! Who was near lately.
//!
//! A node knows only a small part of the overlay at a time, in which many seem far that are near on ways it does not see just then.
//! So it remembers of whom it saw a short way, and links to nobody of those: that they seem far now means nothing.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::id::NodeId;

/// Nodes with the last iteration in which each was seen near, in the order of ids.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Near {
    most: u16,
    seen: Vec<(NodeId, u32)>,
}

impl Near {
    pub(super) const fn new(most: u16) -> Self {
        Self {
            most,
            seen: Vec::new(),
        }
    }

    /// Whether a node was seen near and is not forgotten.
    pub(super) fn contains(&self, id: NodeId) -> bool {
        self.seen.binary_search_by_key(&id, |(id, _)| *id).is_ok()
    }

    pub(super) fn forget(&mut self, id: NodeId) {
        if let Ok(place) = self.seen.binary_search_by_key(&id, |(id, _)| *id) {
            self.seen.remove(place);
        }
    }

    /// These nodes, in the order of ids, are near now. Who was not for so many iterations is forgotten, and those not seen for longest
    /// if there are too many.
    pub(super) fn see(&mut self, now: impl Iterator<Item = NodeId>, iteration: u32, most: u32) {
        let mut now = now.peekable();
        let mut seen: Vec<(NodeId, u32)> = Vec::with_capacity(self.seen.len());
        let age = |last: u32| iteration.wrapping_sub(last);
        for &(id, last) in &self.seen {
            while let Some(new) = now.next_if(|new| *new < id) {
                seen.push((new, iteration));
            }
            match now.peek().map(|new| new.cmp(&id)) {
                Some(Ordering::Equal) => {}
                _ if age(last) <= most => seen.push((id, last)),
                _ => {}
            }
        }
        seen.extend(now.map(|new| (new, iteration)));
        let limit = usize::from(self.most);
        if seen.len() > limit {
            let mut ages: Vec<u32> = seen.iter().map(|(_, last)| age(*last)).collect();
            ages.sort_unstable();
            // All that are younger than the first that is too much stay.
            let too_old = ages.get(limit).copied().unwrap_or(0);
            seen.retain(|(_, last)| age(*last) < too_old);
        }
        self.seen = seen;
    }

    pub(super) fn is_sound(&self) -> bool {
        self.seen.len() <= usize::from(self.most) && self.seen.is_sorted_by(|a, b| a.0 < b.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(near: &mut Near, ids: &[u64], iteration: u32) {
        near.see(ids.iter().map(|id| NodeId::new(*id)), iteration, 10);
        assert!(near.is_sound());
    }

    fn seen(near: &Near) -> Vec<u64> {
        near.seen.iter().map(|(id, _)| id.get()).collect()
    }

    #[test]
    fn who_is_not_seen_for_long_is_forgotten() {
        let mut near = Near::new(100);
        see(&mut near, &[3, 5, 9], 0);
        see(&mut near, &[1, 5, 7], 6);
        assert_eq!(seen(&near), [1, 3, 5, 7, 9]);
        see(&mut near, &[], 10);
        assert_eq!(seen(&near), [1, 3, 5, 7, 9]);
        see(&mut near, &[10], 11);
        assert_eq!(seen(&near), [1, 5, 7, 10]);
        assert!(near.contains(NodeId::new(5)) && !near.contains(NodeId::new(3)));
        near.forget(NodeId::new(5));
        near.forget(NodeId::new(5));
        assert_eq!(seen(&near), [1, 7, 10]);
    }

    #[test]
    fn of_too_many_those_seen_last_stay() {
        let mut near = Near::new(4);
        see(&mut near, &[1, 2], 0);
        see(&mut near, &[8, 9], 1);
        see(&mut near, &[5], 2);
        assert_eq!(seen(&near), [5, 8, 9]);
        see(&mut near, &[1, 2, 3, 4, 5, 6], 3);
        assert_eq!(near.seen.len(), 0);
    }
}
