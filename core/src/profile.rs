//! What a node tells its peers about itself: where it is, when it is free, and more that a cost function may use.
//!
//! A peer keeps the [`Profile`] of a node and can judge the node without asking it. Numbers are whole microseconds and
//! kilobits, so that profiles compare, hash and encode alike on every platform.
//!
//! ```
//! use gridweave_core::profile::Coordinate;
//! use gridweave_core::time::Span;
//!
//! let here = Coordinate::at([0, 0, 0]);
//! let there = Coordinate::at([3_000, 4_000, 0]).raised(Span::from_micros(10));
//! assert_eq!(here.latency(there), Span::from_micros(5_010));
//! ```

use core::num::NonZeroU32;

use crate::admission::Stated;
use crate::time::{Interval, Span};

/// A place in the space of network delays: a point, and the height of the node's own line above it (PROTOCOLS 6).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Coordinate {
    /// The point, in microseconds.
    pub point: [i32; Self::DIMENSIONS],
    /// The height, in microseconds.
    pub height: u32,
}

impl Coordinate {
    /// How many dimensions a point has.
    pub const DIMENSIONS: usize = 3;

    /// A point without height.
    pub const fn at(point: [i32; Self::DIMENSIONS]) -> Self {
        Self { point, height: 0 }
    }

    /// The same point, this much higher.
    #[must_use]
    pub fn raised(self, by: Span) -> Self {
        let by = u32::try_from(by.as_micros()).unwrap_or(u32::MAX);
        Self {
            height: self.height.saturating_add(by),
            ..self
        }
    }

    /// How far apart the points are, in microseconds; heights do not count.
    pub fn distance(self, other: Self) -> f64 {
        let squares = self.point.iter().zip(other.point).map(|(a, b)| {
            let apart = f64::from(*a) - f64::from(b);
            apart * apart
        });
        libm::sqrt(squares.sum())
    }

    /// The delay between the nodes as these coordinates predict it: the distance and both heights.
    pub fn latency(self, other: Self) -> Span {
        let micros = libm::round(self.distance(other)) as u64;
        let heights = u64::from(self.height).saturating_add(u64::from(other.height));
        Span::from_micros(micros.saturating_add(heights))
    }
}

/// What a node tells its peers about itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Profile {
    /// Where it is.
    pub coordinate: Coordinate,
    /// How far off its coordinate may be, in thousandths of a delay; 0 if the coordinate is known and not estimated.
    pub error: u16,
    /// The region, such as a country, by a number that the hosts of the grid agree on.
    pub region: u16,
    /// How much it can send or receive, in kilobits a second; 0 if unknown.
    pub bandwidth: u32,
    /// The first interval in which it is free.
    pub free: Interval,
    /// Anything else that the hosts of the grid agree on, such as a price.
    pub note: u32,
    /// The delay to the farthest of its links to near nodes, in microseconds rounded up, larger if some of these are
    /// busy; a small one means a dense place. `None` if it knows too few idle nodes, or does not tell.
    pub radius: Option<NonZeroU32>,
    /// What it has, and whose jobs it admits.
    pub stated: Stated,
}

impl Profile {
    /// A node at this place that is free for ever, with nothing else to tell.
    pub fn at(coordinate: Coordinate) -> Self {
        Self {
            coordinate,
            ..Self::default()
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            coordinate: Coordinate::default(),
            error: 0,
            region: 0,
            bandwidth: 0,
            free: Interval::ALWAYS,
            note: 0,
            radius: None,
            stated: Stated::NOTHING,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    #[test]
    fn distance_and_latency_are_right_at_the_largest_values() {
        let (low, high) = (Coordinate::at([i32::MIN; 3]), Coordinate::at([i32::MAX; 3]));
        let side = f64::from(u32::MAX);
        assert!((low.distance(high) / (side * 3_f64.sqrt()) - 1.0).abs() < 1e-12);
        let highest = low.raised(Span::MAX);
        assert_eq!(highest.height, u32::MAX);
        assert_eq!(
            highest.latency(highest),
            Span::from_micros(2 * u64::from(u32::MAX))
        );
    }

    #[test]
    fn heights_count_between_nodes_and_not_between_points() {
        let a = Coordinate::at([1, 2, 3]).raised(Span::from_micros(7));
        let b = Coordinate::at([1, 2, 3]).raised(Span::from_micros(5));
        assert_eq!((a.distance(b), a.latency(b)), (0.0, Span::from_micros(12)));
    }

    #[test]
    fn a_profile_is_no_larger_than_a_cache_line() {
        assert!(size_of::<Profile>() <= 64);
        assert_eq!(Profile::default().free, Interval::ALWAYS);
        assert_eq!(Interval::ALWAYS.start(), Time::ZERO);
    }
}
