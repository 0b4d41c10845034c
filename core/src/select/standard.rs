use super::points::{relative, spread};
use super::{Form, Hints, Objective, Set, Sums};
use crate::job::Criterion;
use crate::profile::{Coordinate, Profile};
use crate::time::Span;

/// The earliest start: how long after the first instant allowed the set starts, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Soonest;

impl Objective for Soonest {
    fn cost(&self, set: &Set<'_>) -> f64 {
        micros(set.wait())
    }
    fn form(&self) -> Form {
        Form::Shares
    }
    fn rest(&self, sums: &Sums) -> f64 {
        micros(sums.wait())
    }
}

/// Nodes as close to each other as possible: the sum of the Euclidean distances to the centroid, in microseconds (P2
/// section 4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Closest;

impl Objective for Closest {
    fn cost(&self, set: &Set<'_>) -> f64 {
        spread(set)
    }
    fn estimate(&self, set: &Set<'_>) -> f64 {
        match set.points() {
            Some(points) => points.spread(set.chosen()),
            None => spread(set),
        }
    }
    fn hints(&self) -> Hints {
        Hints {
            near: true,
            ..Hints::NONE
        }
    }
}

/// Nodes as far from each other as possible: what [`Closest`] costs, negated.
///
/// It rewards distance from the middle and not even spacing: several nodes may share a far place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Farthest;

impl Objective for Farthest {
    fn cost(&self, set: &Set<'_>) -> f64 {
        -Closest.cost(set)
    }
    fn estimate(&self, set: &Set<'_>) -> f64 {
        -Closest.estimate(set)
    }
    fn hints(&self) -> Hints {
        Hints {
            far: true,
            ..Hints::NONE
        }
    }
}

/// Nodes close to each other, where one far node weighs more: the sum of the *squared* distances to the centroid, in
/// square microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SquaredSpread;

impl Objective for SquaredSpread {
    fn cost(&self, set: &Set<'_>) -> f64 {
        let centre = super::points::centroid(set);
        set.profiles()
            .flat_map(|profile| relative(profile, centre))
            .map(|part| part * part)
            .sum()
    }
    fn form(&self) -> Form {
        Form::Moments
    }
    fn rest(&self, sums: &Sums) -> f64 {
        // The squares around the centroid are those around any place, less what the centroid is away from it.
        let count = f64::from(sums.count.max(1));
        let away: f64 = sums.point.iter().map(|sum| sum * sum).sum();
        (sums.squares - away / count).max(0.0)
    }
    fn hints(&self) -> Hints {
        Closest.hints()
    }
}

/// As many regions as possible: the cost is the number of members less the number of their regions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Regions;

impl Regions {
    /// How many regions a set is in.
    pub fn count(set: &Set<'_>) -> u32 {
        let mut seen = [0_u64; 1024];
        let mut regions = 0_u32;
        for profile in set.profiles() {
            let region = usize::from(profile.region);
            if let Some(word) = seen.get_mut(region / 64) {
                let bit = 1 << (region % 64);
                regions = regions.saturating_add(u32::from(*word & bit == 0));
                *word |= bit;
            }
        }
        regions
    }
}

impl Objective for Regions {
    fn cost(&self, set: &Set<'_>) -> f64 {
        set.len() as f64 - f64::from(Self::count(set))
    }
    fn hints(&self) -> Hints {
        Hints {
            regions: true,
            ..Hints::NONE
        }
    }
}

/// Good bandwidth to the place where the data are: how long the nodes take to fetch it, all their times added up, in
/// microseconds.
///
/// A node asks once and is then sent `volume` at its own bandwidth: twice the latency between it and the data, heights
/// included, and the volume divided by the bandwidth. Nodes that fetch at the same time do not slow each other down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bandwidth {
    /// Where the data are.
    pub location: Coordinate,
    /// How much each node fetches, in kilobits.
    pub volume: u64,
    /// The bandwidth to assume where it is unknown, in kilobits a second; if 0, such nodes are not acceptable.
    pub unknown: u32,
}

impl Bandwidth {
    /// How long a node takes to fetch the data; `None` if its bandwidth is unknown and none is assumed.
    pub fn fetching(&self, profile: &Profile) -> Option<Span> {
        let rate = match profile.bandwidth {
            0 => self.unknown,
            known => known,
        };
        let round_trip = profile.coordinate.latency(self.location).times(2);
        let micros = u128::from(self.volume).saturating_mul(1_000_000);
        let sending = micros.checked_div(u128::from(rate))?;
        let sending = Span::from_micros(u64::try_from(sending).unwrap_or(u64::MAX));
        Some(round_trip + sending)
    }
}

impl Objective for Bandwidth {
    fn cost(&self, set: &Set<'_>) -> f64 {
        set.profiles().map(|profile| self.share(profile)).sum()
    }
    fn form(&self) -> Form {
        Form::Shares
    }
    fn share(&self, profile: &Profile) -> f64 {
        self.fetching(profile).map_or(f64::INFINITY, micros)
    }
}

/// One of the objectives that come with the scheduler, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Standard {
    /// [`Soonest`].
    Soonest,
    /// [`Closest`].
    Closest,
    /// [`Farthest`].
    Farthest,
    /// [`SquaredSpread`].
    SquaredSpread,
    /// [`Regions`].
    Regions,
    /// [`Bandwidth`].
    Bandwidth(Bandwidth),
}

impl Standard {
    /// The objective that a job's criterion asks for; a custom one is known to the hosts only.
    pub const fn of(criterion: Criterion) -> Option<Self> {
        match criterion {
            Criterion::Soonest => Some(Self::Soonest),
            Criterion::Closest => Some(Self::Closest),
            Criterion::Farthest => Some(Self::Farthest),
            Criterion::Custom(_) => None,
        }
    }
}

/// Does something with the objective that a [`Standard`] names.
macro_rules! each {
    ($standard:expr, $objective:ident => $call:expr) => {
        match $standard {
            Standard::Soonest => {
                let $objective = &Soonest;
                $call
            }
            Standard::Closest => {
                let $objective = &Closest;
                $call
            }
            Standard::Farthest => {
                let $objective = &Farthest;
                $call
            }
            Standard::SquaredSpread => {
                let $objective = &SquaredSpread;
                $call
            }
            Standard::Regions => {
                let $objective = &Regions;
                $call
            }
            Standard::Bandwidth($objective) => $call,
        }
    };
}

impl Objective for Standard {
    fn cost(&self, set: &Set<'_>) -> f64 {
        each!(self, objective => objective.cost(set))
    }
    fn estimate(&self, set: &Set<'_>) -> f64 {
        each!(self, objective => objective.estimate(set))
    }
    fn form(&self) -> Form {
        each!(self, objective => objective.form())
    }
    fn share(&self, profile: &Profile) -> f64 {
        each!(self, objective => objective.share(profile))
    }
    fn rest(&self, sums: &Sums) -> f64 {
        each!(self, objective => objective.rest(sums))
    }
    fn latest(&self) -> Option<Span> {
        each!(self, objective => objective.latest())
    }
    fn hints(&self) -> Hints {
        each!(self, objective => objective.hints())
    }
}

pub(super) fn micros(span: Span) -> f64 {
    span.as_micros() as f64
}
