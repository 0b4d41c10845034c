//! The selection function (PROTOCOLS 2.2).

use core::cmp::Ordering;

use super::{Descriptor, Descriptors, Distance};
use crate::id::NodeId;

/// The node for which descriptors are chosen.
#[derive(PartialEq, Eq, Debug)]
pub struct Target<'a, P> {
    /// Its id; a node is never among its own nearest.
    pub id: NodeId,
    /// Its profile, from which the distances are.
    pub profile: &'a P,
}

// By hand, for a profile need not be `Copy`.
impl<P> Clone for Target<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Target<'_, P> {}

/// A candidate with its place in the order of nearness.
struct Ranked<'a, P, Rank> {
    key: (Rank, u64),
    descriptor: &'a Descriptor<P>,
}

/// The nearest of some pools to a target, nearest first: at most `most`, and no more than `K`.
///
/// Of several descriptors of a node, the one with the largest version counts, of these the youngest, and of these the
/// first. Equally near nodes are ordered by a fixed hash of both ids: the order is the same at every node, but not for
/// every target. The rank of each descriptor is computed once.
pub fn nearest<P: Clone, D: Distance<P>, const K: usize>(
    distance: &D,
    target: Target<'_, P>,
    pools: &[&[Descriptor<P>]],
    most: usize,
) -> Descriptors<P, K> {
    let most = most.min(K);
    let mut ranked: heapless::Vec<Ranked<'_, P, D::Rank>, K> = heapless::Vec::new();
    if most == 0 {
        return Descriptors::new();
    }
    let twice = Twice::among(pools);
    let pooled = (0..).zip(pools).flat_map(|(pool, descriptors)| {
        let placed = (0..).zip(*descriptors);
        placed.map(move |(index, descriptor)| ((pool, index), descriptor))
    });
    for (at, descriptor) in pooled {
        if descriptor.id == target.id {
            continue;
        }
        let rank = distance.rank(target.profile, &descriptor.profile);
        let key = (rank, tie_break(target.id, descriptor.id));
        let full = ranked.len() >= most;
        // Most candidates are too far: no need to look for their other descriptors.
        let too_far = full && ranked.last().is_some_and(|farthest| farthest.key <= key);
        if too_far || twice.may_have(descriptor.id) && is_outdone(descriptor, pools, at) {
            continue;
        }
        if full {
            ranked.pop();
        }
        let nearer = ranked.partition_point(|other| other.key < key);
        let _ = ranked.insert(nearer, Ranked { key, descriptor });
    }
    ranked
        .iter()
        .map(|ranked| ranked.descriptor.clone())
        .collect()
}

/// The nodes that may have several descriptors: two or more descriptors hit their bit in a small table.
///
/// Most nodes have one, and need no search among all the others.
struct Twice([u64; PLACES / 64]);

/// Several times as many bits as most selections have descriptors, so that few nodes share a bit.
const PLACES: usize = 512;

impl Twice {
    fn among<P>(pools: &[&[Descriptor<P>]]) -> Self {
        let (mut once, mut twice) = ([0; PLACES / 64], [0; PLACES / 64]);
        for descriptor in pools.iter().copied().flatten() {
            let (word, bit) = Self::place(descriptor.id);
            if let (Some(once), Some(twice)) = (once.get_mut(word), twice.get_mut(word)) {
                *twice |= *once & bit;
                *once |= bit;
            }
        }
        Self(twice)
    }

    fn may_have(&self, id: NodeId) -> bool {
        let (word, bit) = Self::place(id);
        self.0.get(word).is_none_or(|twice| twice & bit != 0)
    }

    /// The word and the bit of a node: the upper bits of a product depend on all of its id.
    const fn place(id: NodeId) -> (usize, u64) {
        let hash = id.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55;
        ((hash >> 6) as usize, 1 << (hash & 63))
    }
}

/// Whether another descriptor of the same node counts instead of this one; `at` is its pool and its index there.
fn is_outdone<P>(
    descriptor: &Descriptor<P>,
    pools: &[&[Descriptor<P>]],
    at: (usize, usize),
) -> bool {
    (0..).zip(pools).any(|(pool, others)| {
        (0..).zip(*others).any(|(index, other)| {
            other.id == descriptor.id
                && !canary!(SamePeerTwice)
                && match (pool, index).cmp(&at) {
                    Ordering::Less => other.outdoes(descriptor),
                    Ordering::Equal => false,
                    Ordering::Greater => !descriptor.outdoes(other),
                }
        })
    })
}

/// Orders nodes that are equally near to a target: no two have the same value, and each target has its own order.
///
/// If all targets had the same order, and all nodes were equally near, then all would link to the same few.
pub(super) const fn tie_break(target: NodeId, other: NodeId) -> u64 {
    mix(other.get() ^ mix(target.get()))
}

/// Mixes the bits of a word so that no two words become the same one: the last steps of `splitmix64`.
const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
