//! The links of a node, and how much pheromone is on them.

use super::{MOST_LINKS, Neighbourhood, Nodes, Purpose};
use crate::id::NodeId;
use crate::time::Time;

/// All the pheromone that a link can have. Parts of it are whole numbers, so that decay is the same everywhere.
const FULL: u32 = 1_000_000;

/// A neighbour of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Neighbour {
    /// The node at the other end of the link.
    pub id: NodeId,
    /// What the link is for.
    pub purpose: Purpose,
    /// How recently something came over the link, in millionths.
    pub(super) pheromone: u32,
    /// How many pings in a row had no answer.
    pub(super) pings: u8,
    /// Until when a change of another node relies on this link.
    pub(super) held_until: Time,
    /// The neighbour list that it told last.
    pub(super) around: Option<Neighbourhood>,
}

impl Neighbour {
    pub(super) const fn new(id: NodeId, purpose: Purpose, around: Option<Neighbourhood>) -> Self {
        Self {
            id,
            purpose,
            pheromone: FULL,
            pings: 0,
            held_until: Time::ZERO,
            around,
        }
    }

    /// The pheromone on the link, in millionths.
    pub const fn pheromone(&self) -> u32 {
        self.pheromone
    }

    /// Something came over the link.
    pub(super) const fn refresh(&mut self) {
        self.pheromone = FULL;
        self.pings = 0;
    }

    /// An iteration passes.
    pub(super) fn decay(&mut self, thousandths: u16) {
        let left = u64::from(self.pheromone).saturating_mul(u64::from(thousandths));
        self.pheromone = u32::try_from(left.checked_div(1000).unwrap_or(0)).unwrap_or(FULL);
    }

    /// Whether there is less pheromone than this.
    pub(super) fn is_fainter_than(&self, thousandths: u16) -> bool {
        self.pheromone < u32::from(thousandths).saturating_mul(1000)
    }

    /// Whether a change of another node relies on the link.
    pub(super) fn is_held(&self, now: Time) -> bool {
        now < self.held_until
    }
}

/// The links of a node, in the order of ids.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Neighbours {
    list: heapless::Vec<Neighbour, MOST_LINKS>,
}

impl Neighbours {
    pub(super) fn as_slice(&self) -> &[Neighbour] {
        &self.list
    }

    pub(super) fn iter(&self) -> core::slice::Iter<'_, Neighbour> {
        self.list.iter()
    }

    pub(super) fn iter_mut(&mut self) -> core::slice::IterMut<'_, Neighbour> {
        self.list.iter_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn optimising(&self) -> usize {
        let optimising = |it: &&Neighbour| it.purpose == Purpose::Optimisation;
        self.iter().filter(optimising).count()
    }

    pub(super) fn ids(&self) -> Nodes {
        self.iter().map(|neighbour| neighbour.id).collect()
    }

    pub(super) fn contains(&self, id: NodeId) -> bool {
        self.get(id).is_some()
    }

    pub(super) fn get(&self, id: NodeId) -> Option<&Neighbour> {
        self.iter().find(|neighbour| neighbour.id == id)
    }

    pub(super) fn get_mut(&mut self, id: NodeId) -> Option<&mut Neighbour> {
        self.iter_mut().find(|neighbour| neighbour.id == id)
    }

    /// Adds a neighbour that is not there yet, if there is room. Returns whether it was added.
    pub(super) fn insert(&mut self, neighbour: Neighbour) -> bool {
        let index = self.iter().take_while(|it| it.id < neighbour.id).count();
        !self.contains(neighbour.id) && self.list.insert(index, neighbour).is_ok()
    }

    pub(super) fn remove(&mut self, id: NodeId) -> Option<Neighbour> {
        let index = self.iter().position(|neighbour| neighbour.id == id)?;
        Some(self.list.remove(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pheromone_is_faint_after_fourteen_silent_iterations() {
        let mut link = Neighbour::new(NodeId::new(1), Purpose::Construction, None);
        let mut silent = 0;
        while !link.is_fainter_than(250) {
            link.decay(900);
            silent += 1;
        }
        assert_eq!((silent, link.pheromone()), (14, 228_766));
        link.refresh();
        assert_eq!(link.pheromone(), FULL);
    }

    #[test]
    fn neighbours_are_distinct_in_order_and_no_more_than_fit() {
        let mut neighbours = Neighbours::default();
        let link = |id| Neighbour::new(NodeId::new(id), Purpose::Optimisation, None);
        for id in (0..MOST_LINKS as u64).rev() {
            assert!(neighbours.insert(link(id)));
            assert!(!neighbours.insert(link(id)));
        }
        assert!(!neighbours.insert(link(99)));
        assert!(neighbours.ids().is_sorted());
        assert_eq!(neighbours.optimising(), MOST_LINKS);
        assert_eq!(
            neighbours.remove(NodeId::new(3)).unwrap().id,
            NodeId::new(3)
        );
        assert_eq!(neighbours.remove(NodeId::new(3)), None);
        assert!(neighbours.insert(link(99)));
    }
}
