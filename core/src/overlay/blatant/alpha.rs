//! The table alpha: neighbour lists of nodes beyond the neighbours. The least recently learnt one makes room.

use alloc::vec::Vec;

use super::Neighbourhood;
use crate::id::NodeId;

/// Neighbour lists of other nodes with the iteration in which each was learnt, the least recent first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Alpha {
    most: u8,
    known: Vec<(Neighbourhood, u32)>,
}

impl Alpha {
    pub(super) const fn new(most: u8) -> Self {
        Self {
            most,
            known: Vec::new(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Neighbourhood> {
        self.known.iter().map(|(record, _)| record)
    }

    /// Takes in a record, unless a later one of the same node is there.
    pub(super) fn learn(&mut self, record: Neighbourhood, iteration: u32) {
        let index = self.known.iter().position(|(it, _)| it.node == record.node);
        if let Some(index) = index {
            let known = self.known.get(index);
            if known.is_some_and(|(known, _)| known.stamp() > record.stamp()) {
                return;
            }
            self.known.remove(index);
        } else if self.known.len() >= usize::from(self.most) {
            if self.most == 0 {
                return;
            }
            self.known.remove(0);
        }
        self.known.push((record, iteration));
    }

    pub(super) fn forget(&mut self, node: NodeId) -> Option<Neighbourhood> {
        let index = self.known.iter().position(|(it, _)| it.node == node)?;
        Some(self.known.remove(index).0)
    }

    /// Drops the records that were learnt more than `most` iterations ago.
    pub(super) fn expire(&mut self, iteration: u32, most: u32) {
        let is_fresh = |heard: &u32| iteration.wrapping_sub(*heard) <= most;
        self.known.retain(|(_, heard)| is_fresh(heard));
    }

    pub(super) fn is_sound(&self) -> bool {
        let ids = || self.known.iter().map(|(record, _)| record.node);
        let distinct = |(index, id)| !ids().skip(index).skip(1).any(|other| other == id);
        self.known.len() <= usize::from(self.most) && ids().enumerate().all(distinct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Incarnation;
    use std::vec::Vec;

    fn record(node: u64, version: u32) -> Neighbourhood {
        Neighbourhood {
            node: NodeId::new(node),
            incarnation: Incarnation::new(0),
            version,
            neighbours: [NodeId::new(99)].into_iter().collect(),
        }
    }

    fn known(alpha: &Alpha) -> Vec<(u64, u32)> {
        let known = alpha.iter();
        known.map(|it| (it.node.get(), it.version)).collect()
    }

    #[test]
    fn the_least_recently_heard_of_makes_room() {
        let mut alpha = Alpha::new(3);
        for node in [1, 2, 3, 1, 4] {
            alpha.learn(record(node, 0), 0);
        }
        assert_eq!(known(&alpha), [(3, 0), (1, 0), (4, 0)]);
        assert!(alpha.is_sound());
        assert_eq!(alpha.forget(NodeId::new(1)), Some(record(1, 0)));
        assert_eq!(alpha.forget(NodeId::new(1)), None);
        let mut none = Alpha::new(0);
        none.learn(record(1, 0), 0);
        assert_eq!(none.known.len(), 0);
    }

    #[test]
    fn news_replaces_and_what_is_old_does_not() {
        let mut alpha = Alpha::new(3);
        for (node, version) in [(1, 5), (2, 0), (1, 4)] {
            alpha.learn(record(node, version), 0);
        }
        assert_eq!(known(&alpha), [(1, 5), (2, 0)]);
        alpha.learn(record(1, 6), 7);
        assert_eq!(known(&alpha), [(2, 0), (1, 6)]);
        alpha.expire(31, 30);
        assert_eq!(known(&alpha), [(1, 6)]);
    }
}
