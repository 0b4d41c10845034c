//! Distances in the part of the overlay that a node knows.
//!
//! One breadth-first search from a node finds, for each node in reach, the two shortest ways that begin with different
//! neighbours. The first is its distance. The second, for a neighbour, is the way around the link to it.

use alloc::vec;
use alloc::vec::Vec;

use super::{Neighbourhood, Way};
use crate::id::NodeId;

/// Two ways to a node at most, over different neighbours, the shorter first.
type Ways = [Option<Step>; 2];

/// The last step of a way.
#[derive(Clone, Copy)]
struct Step {
    /// The neighbour with which the way begins.
    first: usize,
    distance: u16,
    /// The node before this one; `first` itself at the beginning of the way.
    from: usize,
}

/// The known links, with nodes as indices into the names. A link may be there twice.
struct Links {
    /// The other ends of the links of each node, node by node.
    ends: Vec<usize>,
    /// The index in `ends` at which each node begins.
    begins: Vec<usize>,
}

impl Links {
    /// The links that a record lists and no record denies, without those of `me`. Both slices are in the order of ids.
    fn of(me: NodeId, records: &[&Neighbourhood], names: &[NodeId]) -> Self {
        let mut links: Vec<(usize, usize)> = Vec::new();
        for record in records {
            let Ok(one) = names.binary_search(&record.node) else {
                continue;
            };
            for neighbour in record.neighbours.iter().filter(|id| **id != me) {
                let told = records.binary_search_by_key(neighbour, |it| it.node);
                let told = told.ok().and_then(|index| records.get(index));
                let denied = told.is_some_and(|told| !told.lists(record.node));
                if !denied && let Ok(other) = names.binary_search(neighbour) {
                    links.extend([(one, other), (other, one)]);
                }
            }
        }
        // A counting sort: faster here than a comparison sort.
        let mut begins = vec![0_usize; names.len().saturating_add(1)];
        for (one, _) in &links {
            if let Some(count) = begins.get_mut(one.saturating_add(1)) {
                *count = count.saturating_add(1);
            }
        }
        let mut sum = 0_usize;
        for begin in &mut begins {
            sum = sum.saturating_add(*begin);
            *begin = sum;
        }
        let mut free = begins.clone();
        let mut ends = vec![0_usize; links.len()];
        for (one, other) in links {
            if let Some(free) = free.get_mut(one)
                && let Some(end) = ends.get_mut(*free)
            {
                *end = other;
                *free = free.saturating_add(1);
            }
        }
        Self { ends, begins }
    }

    fn from(&self, one: usize) -> &[usize] {
        let begin = self.begins.get(one).copied().unwrap_or(0);
        let end = self.begins.get(one.saturating_add(1)).copied();
        let ends = self.ends.get(begin..end.unwrap_or(begin));
        ends.unwrap_or_default()
    }
}

/// What a node knows of ways from itself.
pub(super) struct Routes {
    names: Vec<NodeId>,
    ways: Vec<Ways>,
}

impl Routes {
    /// The ways from a node to all nodes that the records connect with it. A link counts unless one of its ends has a
    /// record that does not list it. The node's own links are those of its own record.
    pub(super) fn find<'a>(
        own: &'a Neighbourhood,
        others: impl Iterator<Item = &'a Neighbourhood>,
    ) -> Self {
        let mut names: Vec<NodeId> = Vec::new();
        let mut records: Vec<&Neighbourhood> = Vec::new();
        names.push(own.node);
        names.extend(&own.neighbours);
        for record in others.filter(|record| record.node != own.node) {
            records.push(record);
            names.push(record.node);
            names.extend(&record.neighbours);
        }
        names.sort_unstable();
        names.dedup();
        records.sort_unstable_by_key(|record| record.node);
        let links = Links::of(own.node, &records, &names);
        let ways = vec![[None; 2]; names.len()];
        let mut routes = Self { names, ways };
        routes.search(own, &links);
        routes
    }

    fn search(&mut self, own: &Neighbourhood, links: &Links) {
        let mut queue: Vec<(usize, Step)> = Vec::new();
        for neighbour in &own.neighbours {
            if let Ok(first) = self.names.binary_search(neighbour) {
                let step = Step {
                    first,
                    distance: 1,
                    from: first,
                };
                self.reach(first, step, &mut queue);
            }
        }
        let mut next = 0_usize;
        while let Some(&(at, step)) = queue.get(next) {
            next = next.saturating_add(1);
            for &to in links.from(at) {
                let step = Step {
                    first: step.first,
                    distance: step.distance.saturating_add(1),
                    from: at,
                };
                self.reach(to, step, &mut queue);
            }
        }
    }

    /// Notes a way to a node, if fewer than two are noted and none begins with the same neighbour.
    fn reach(&mut self, to: usize, step: Step, queue: &mut Vec<(usize, Step)>) {
        let Some(ways) = self.ways.get_mut(to) else {
            return;
        };
        if ways.iter().flatten().any(|way| way.first == step.first) {
            return;
        }
        if let Some(free) = ways.iter_mut().find(|way| way.is_none()) {
            *free = Some(step);
            queue.push((to, step));
        }
    }

    fn ways(&self, to: NodeId) -> Option<&Ways> {
        let index = self.names.binary_search(&to).ok()?;
        self.ways.get(index)
    }

    /// How far a node is, if a way is known.
    pub(super) fn distance(&self, to: NodeId) -> Option<u16> {
        let [first, _] = self.ways(to)?;
        first.map(|step| step.distance)
    }

    /// All nodes with their distances, in the order of ids.
    pub(super) fn distances(&self) -> impl Iterator<Item = (NodeId, u16)> {
        let all = self.names.iter().zip(&self.ways);
        all.filter_map(|(name, [first, _])| first.map(|step| (*name, step.distance)))
    }

    /// All nodes at this distance or beyond, in the order of ids.
    pub(super) fn beyond(&self, distance: u16) -> impl Iterator<Item = NodeId> {
        let all = self.distances();
        all.filter(move |(_, at)| *at >= distance).map(|(id, _)| id)
    }

    /// How far it is to a neighbour without the link to it.
    pub(super) fn detour(&self, neighbour: NodeId) -> Option<u16> {
        let [_, second] = self.ways(neighbour)?;
        second.map(|step| step.distance)
    }

    /// The nodes on a shortest way to a node, without this node and with the other, in no order.
    pub(super) fn way_to(&self, to: NodeId) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        let mut at = self.names.binary_search(&to).ok();
        // A way has no more nodes than there are.
        while let Some(index) = at.filter(|_| nodes.len() < self.names.len())
            && let (Some(name), Some([Some(step), _])) =
                (self.names.get(index), self.ways.get(index))
        {
            nodes.push(*name);
            at = Some(step.from).filter(|_| step.distance > 1);
        }
        nodes
    }

    /// The shortest way to a neighbour around the link to it, both ends included, unless it does not fit in a [`Way`].
    pub(super) fn way_around(&self, me: NodeId, neighbour: NodeId) -> Option<Way> {
        let [_, second] = self.ways(neighbour)?;
        let mut step = (*second)?;
        let mut backwards = Way::new();
        backwards.push(neighbour).ok()?;
        for _ in 1..step.distance {
            backwards.push(*self.names.get(step.from)?).ok()?;
            let ways = self.ways.get(step.from)?;
            step = *ways.iter().flatten().find(|way| way.first == step.first)?;
        }
        backwards.push(me).ok()?;
        backwards.reverse();
        Some(backwards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Incarnation;
    use std::vec::Vec;

    fn record(node: u64, neighbours: &[u64]) -> Neighbourhood {
        Neighbourhood {
            node: NodeId::new(node),
            incarnation: Incarnation::new(0),
            version: 0,
            neighbours: neighbours.iter().map(|id| NodeId::new(*id)).collect(),
        }
    }

    fn ids(nodes: impl IntoIterator<Item = NodeId>) -> Vec<u64> {
        nodes.into_iter().map(NodeId::get).collect()
    }

    #[test]
    fn in_a_ring_the_way_around_a_link_is_all_the_others() {
        let ring: Vec<_> = (0..6)
            .map(|node| record(node, &[(node + 5) % 6, (node + 1) % 6]))
            .collect();
        let routes = Routes::find(&ring[0], ring.iter());
        let distances = [1, 2, 3, 4, 5].map(|node| routes.distance(NodeId::new(node)).unwrap());
        assert_eq!(distances, [1, 2, 3, 2, 1]);
        assert_eq!(routes.detour(NodeId::new(1)), Some(5));
        let way = routes.way_around(NodeId::new(0), NodeId::new(1)).unwrap();
        assert_eq!(ids(way), [0, 5, 4, 3, 2, 1]);
        assert_eq!(ids(routes.beyond(2)), [2, 3, 4]);
        assert_eq!(routes.distance(NodeId::new(7)), None);
    }

    #[test]
    fn a_link_that_one_end_denies_is_none() {
        let own = record(0, &[1]);
        let others = [record(1, &[0, 2]), record(2, &[3])];
        let routes = Routes::find(&own, others.iter());
        assert_eq!(ids(routes.beyond(1)), [1]);
        // If a node has no record, the record of the other end is enough.
        let routes = Routes::find(&own, others[..1].iter());
        assert_eq!(ids(routes.beyond(1)), [1, 2]);
        assert_eq!(routes.detour(NodeId::new(1)), None);
        assert_eq!(routes.way_around(NodeId::new(0), NodeId::new(1)), None);
    }

    /// Compares with a plain search on random graphs, with and without each link.
    #[test]
    fn distances_and_ways_around_are_those_of_a_plain_search() {
        use crate::rng::Choose;
        use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut detours = 0;
        for _ in 0..2000 {
            let n = 3 + rng.below(10) as usize;
            let mut edge = std::vec![std::vec![false; n]; n];
            for _ in 0..n + rng.below(6) as usize {
                let (a, b) = (rng.index(n), rng.index(n));
                edge[a][b] = a != b;
                edge[b][a] = a != b;
            }
            let records: Vec<_> = (0..n)
                .map(|a| {
                    let list: Vec<u64> = (0..n).filter(|b| edge[a][*b]).map(|b| b as u64).collect();
                    record(a as u64, &list)
                })
                .collect();
            let routes = Routes::find(&records[0], records.iter());
            let plain = |without: Option<usize>| {
                let mut at = std::vec![u16::MAX; n];
                at[0] = 0;
                for distance in 0..n as u16 {
                    for a in 0..n {
                        for b in 0..n {
                            let cut = without.is_some_and(|cut| (a, b) == (0, cut));
                            if edge[a][b] && !cut && at[a] == distance {
                                at[b] = at[b].min(distance + 1);
                            }
                        }
                    }
                }
                at
            };
            let at = plain(None);
            for to in 1..n {
                let id = NodeId::new(to as u64);
                let expected = Some(at[to]).filter(|at| *at < u16::MAX);
                assert_eq!(routes.distance(id), expected);
                if edge[0][to] {
                    let around = Some(plain(Some(to))[to]).filter(|at| *at < u16::MAX);
                    assert_eq!(routes.detour(id), around);
                    if let Some(around) = around {
                        detours += 1;
                        let way = ids(routes.way_around(NodeId::new(0), id).unwrap());
                        assert_eq!(way.len(), usize::from(around) + 1);
                        assert!(way.windows(2).all(|w| edge[w[0] as usize][w[1] as usize]));
                        assert_ne!(way[1], to as u64);
                    }
                }
            }
        }
        assert!(detours > 1000, "{detours}");
    }
}
