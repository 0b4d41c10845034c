//! Distances: what makes two nodes near, which is all that the layer must be told (PROTOCOLS 2.2).

use core::cmp::Reverse;

use crate::machine::Data;
use crate::profile::Profile;
use crate::time::{Interval, Span, Time};

/// Ranks nodes by how near they are to a target, from their profiles.
///
/// It need not be a distance in a space, nor the same both ways. It must only order the nodes for each target, and
/// always alike. Ties need no care: [`nearest`](super::nearest) breaks them.
pub trait Distance<P>: Data {
    /// How far away: the smaller, the nearer.
    type Rank: Data + Ord + Copy;

    /// How far `other` is from `target`.
    fn rank(&self, target: &P, other: &P) -> Self::Rank;
}

/// Nodes with short delays between them are near, as their coordinates predict, heights included.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Proximity;

impl Distance<Profile> for Proximity {
    type Rank = Span;

    fn rank(&self, target: &Profile, other: &Profile) -> Span {
        target.coordinate.latency(other.coordinate)
    }
}

/// Nodes that are free at the same time are near: the longer both first free windows overlap, the nearer. Of equals,
/// the node that is free earlier is nearer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FirstFree;

impl Distance<Profile> for FirstFree {
    type Rank = (Reverse<Span>, Time);

    fn rank(&self, target: &Profile, other: &Profile) -> Self::Rank {
        let overlap = target.free.intersection(other.free);
        let length = overlap.map_or(Span::ZERO, Interval::length);
        (Reverse(length), other.free.start())
    }
}
