//! How far other nodes seemed lately.
//!
//! A node knows a small part of the overlay at a time. In it, near nodes seem far if the short way is not known. So a
//! node remembers which nodes it saw near, and takes a node for far only after it saw no short way for a while.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::id::NodeId;

/// How a node was seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Sighting {
    id: NodeId,
    /// The last iteration that confirmed it: seen near if it counts as near, seen far if it counts as far.
    last: u32,
    /// The iteration since which it has seemed far, plus one; none while it is near. There are hundreds of these in
    /// every node, and an enum would need twice the space.
    far_since: Option<NonZeroU32>,
}

impl Sighting {
    fn new((id, is_far): (NodeId, bool), iteration: u32) -> Self {
        let since = NonZeroU32::MIN.saturating_add(iteration);
        Self {
            id,
            last: iteration,
            far_since: is_far.then_some(since),
        }
    }
}

/// Nodes that were seen lately, in the order of ids.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Sightings {
    most: u16,
    seen: Vec<Sighting>,
}

impl Sightings {
    pub(super) const fn new(most: u16) -> Self {
        Self {
            most,
            seen: Vec::new(),
        }
    }

    fn get(&self, id: NodeId) -> Option<&Sighting> {
        let index = self.seen.binary_search_by_key(&id, |it| it.id).ok()?;
        self.seen.get(index)
    }

    /// Whether a node counts as near.
    pub(super) fn is_near(&self, id: NodeId) -> bool {
        self.get(id).is_some_and(|it| it.far_since.is_none())
    }

    /// Whether a sighting of this node, near or far, was confirmed in the last `most` iterations.
    pub(super) fn was_seen(&self, id: NodeId, iteration: u32, most: u32) -> bool {
        let seen = self.get(id);
        seen.is_some_and(|it| iteration.wrapping_sub(it.last) <= most)
    }

    /// Whether a node has seemed far for at least `patience` iterations.
    pub(super) fn is_far(&self, id: NodeId, iteration: u32, patience: u32) -> bool {
        let since = self.get(id).and_then(|it| it.far_since);
        since.is_some_and(|since| iteration.wrapping_sub(since.get().wrapping_sub(1)) >= patience)
    }

    pub(super) fn forget(&mut self, id: NodeId) {
        if let Ok(index) = self.seen.binary_search_by_key(&id, |it| it.id) {
            self.seen.remove(index);
        }
    }

    /// Takes in the distances `now`, in the order of ids; `far` and beyond is far. A sighting that was not confirmed
    /// for more than `most` iterations is forgotten, and so are the oldest if there are too many.
    pub(super) fn see(
        &mut self,
        now: impl Iterator<Item = (NodeId, u16)>,
        far: u16,
        iteration: u32,
        most: u32,
    ) {
        let mut now = now.peekable();
        let mut seen: Vec<Sighting> = Vec::with_capacity(self.seen.len());
        let age = |it: &Sighting| iteration.wrapping_sub(it.last);
        let sighting = |(id, distance)| Sighting::new((id, distance >= far), iteration);
        for before in &self.seen {
            while let Some(new) = now.next_if(|(id, _)| *id < before.id) {
                seen.push(sighting(new));
            }
            if age(before) > most {
                continue;
            }
            let mut kept = *before;
            if let Some(new) = now.next_if(|(id, _)| *id == before.id) {
                match (before.far_since, sighting(new).far_since) {
                    (_, None) => kept = sighting(new),
                    (Some(_), Some(_)) => kept.last = iteration,
                    (None, Some(_)) => {}
                }
            }
            seen.push(kept);
        }
        seen.extend(now.map(sighting));
        let limit = usize::from(self.most);
        if seen.len() > limit {
            // Of those that are equally old, the higher ids go.
            let mut ages: Vec<(u32, NodeId)> = seen.iter().map(|it| (age(it), it.id)).collect();
            let (_, too_old, _) = ages.select_nth_unstable(limit);
            let too_old = *too_old;
            seen.retain(|it| (age(it), it.id) < too_old);
        }
        // Sightings are most of a node's memory, and a `Vec` grows by doubling.
        seen.shrink_to_fit();
        self.seen = seen;
    }

    pub(super) fn is_sound(&self) -> bool {
        self.seen.len() <= usize::from(self.most) && self.seen.is_sorted_by(|a, b| a.id < b.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(sightings: &mut Sightings, now: &[(u64, u16)], iteration: u32) {
        let now = now.iter().map(|(id, at)| (NodeId::new(*id), *at));
        sightings.see(now, 9, iteration, 10);
        assert!(sightings.is_sound());
    }

    fn seen(sightings: &Sightings) -> Vec<u64> {
        sightings.seen.iter().map(|it| it.id.get()).collect()
    }

    #[test]
    fn a_node_that_is_not_seen_for_long_is_forgotten() {
        let mut sightings = Sightings::new(100);
        see(&mut sightings, &[(3, 1), (5, 1), (9, 9)], 0);
        see(&mut sightings, &[(1, 1), (5, 1), (7, 1)], 6);
        assert_eq!(seen(&sightings), [1, 3, 5, 7, 9]);
        see(&mut sightings, &[], 10);
        assert_eq!(seen(&sightings), [1, 3, 5, 7, 9]);
        see(&mut sightings, &[(10, 1)], 11);
        assert_eq!(seen(&sightings), [1, 5, 7, 10]);
        sightings.forget(NodeId::new(5));
        sightings.forget(NodeId::new(5));
        assert_eq!(seen(&sightings), [1, 7, 10]);
    }

    #[test]
    fn a_node_seen_near_is_not_far_until_that_is_forgotten() {
        let mut sightings = Sightings::new(100);
        let id = NodeId::new(1);
        see(&mut sightings, &[(1, 9)], 0);
        see(&mut sightings, &[(1, 12)], 4);
        assert!(sightings.is_far(id, 4, 4) && !sightings.is_far(id, 4, 5));
        see(&mut sightings, &[(1, 8)], 5);
        assert!(sightings.is_near(id) && !sightings.is_far(id, 5, 0));
        for iteration in 6..=15 {
            see(&mut sightings, &[(1, 9)], iteration);
            assert!(sightings.is_near(id));
        }
        see(&mut sightings, &[(1, 9)], 16);
        assert!(!sightings.is_near(id));
        see(&mut sightings, &[(1, 9)], 17);
        see(&mut sightings, &[(1, 9)], 20);
        assert!(sightings.is_far(id, 20, 3) && !sightings.is_far(id, 20, 5));
    }

    #[test]
    fn the_oldest_sightings_go_if_there_are_too_many() {
        let mut sightings = Sightings::new(4);
        see(&mut sightings, &[(1, 1), (2, 1)], 0);
        see(&mut sightings, &[(8, 1), (9, 1)], 1);
        see(&mut sightings, &[(5, 1)], 2);
        assert_eq!(seen(&sightings), [1, 5, 8, 9]);
        let many = [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)];
        see(&mut sightings, &many, 3);
        assert_eq!(seen(&sightings), [1, 2, 3, 4]);
    }
}
