//! The criteria of a grid: what a job may ask for, and which helper overlay finds it.

use core::cmp::Reverse;

use crate::job::{Criterion, Job};
use crate::machine::Data;
use crate::overlay::vicinity::{Distance, FirstFree, Proximity};
use crate::profile::Profile;
use crate::select::{self, Objective, Standard};

/// The custom criteria that the hosts of a grid agree on, each by its number in [`Criterion::Custom`]. Only the
/// submitter of a job computes costs.
pub trait Catalogue: Data {
    /// The cost function of this criterion; `None` if there is no such criterion.
    fn objective(&self, number: u16) -> Option<&dyn Objective>;

    /// The helper overlay that links nodes that are good together; `None` if the search uses random links.
    fn helper(&self, _number: u16) -> Option<Helper> {
        None
    }

    /// How far apart two nodes are in the helper overlay [`Helper::Own`] of this number; the smaller, the nearer.
    fn distance(&self, _number: u8, _target: &Profile, _other: &Profile) -> u64 {
        0
    }

    /// Whether a node may run a job at all (PROTOCOLS F14).
    fn admits(&self, _job: &Job, _profile: &Profile) -> bool {
        true
    }
}

/// A catalogue without custom criteria.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct OnlyStandard;

impl Catalogue for OnlyStandard {
    fn objective(&self, _: u16) -> Option<&dyn Objective> {
        None
    }
}

/// A catalogue with one custom criterion, under number 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OneMore<O> {
    /// The cost function of the criterion.
    pub objective: O,
    /// The helper overlay that finds good nodes, if one suits the criterion.
    pub helper: Option<Helper>,
}

impl<O: Objective + Data> Catalogue for OneMore<O> {
    fn objective(&self, number: u16) -> Option<&dyn Objective> {
        (number == 0).then_some(&self.objective)
    }

    fn helper(&self, _: u16) -> Option<Helper> {
        self.helper
    }
}

/// Calls `run` with the objective of a criterion; `None` if the criterion is unknown.
pub(super) fn with_objective<U: Catalogue, T>(
    catalogue: &U,
    criterion: Criterion,
    run: impl FnOnce(&dyn Objective) -> T,
) -> Option<T> {
    match criterion {
        Criterion::Custom(number) => catalogue.objective(number).map(run),
        named => Standard::of(named).map(|standard| match standard {
            Standard::Soonest => run(&select::Soonest),
            Standard::Closest => run(&select::Closest),
            other => run(&other),
        }),
    }
}

/// The helper overlay that suits a criterion.
pub(super) fn helper_for<U: Catalogue>(catalogue: &U, criterion: Criterion) -> Option<Helper> {
    match criterion {
        Criterion::Soonest => Some(Helper::FirstFree),
        Criterion::Closest => Some(Helper::Proximity),
        Criterion::Farthest => Some(Helper::Remoteness),
        Criterion::Custom(number) => catalogue.helper(number),
    }
}

/// A kind of helper overlay.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Helper {
    /// Links nodes with short delays between them.
    Proximity,
    /// Links nodes whose first free windows overlap most.
    FirstFree,
    /// Links nodes with long delays between them.
    Remoteness,
    /// Links nodes that are near by [`Catalogue::distance`] with this number.
    Own(u8),
}

impl Helper {
    /// How far apart nodes are in this overlay; the smaller, the nearer.
    pub(super) fn rank<U: Catalogue>(
        self,
        catalogue: &U,
        target: &Profile,
        other: &Profile,
    ) -> (u64, u64) {
        match self {
            Self::Proximity => (Proximity.rank(target, other).as_micros(), 0),
            Self::FirstFree => {
                let (Reverse(overlap), start) = FirstFree.rank(target, other);
                (!overlap.as_micros(), start.as_micros())
            }
            Self::Remoteness => (!Proximity.rank(target, other).as_micros(), 0),
            Self::Own(number) => (catalogue.distance(number, target, other), 0),
        }
    }
}

/// The distance between nodes in a helper overlay.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Nearness<U> {
    pub(super) helper: Helper,
    pub(super) catalogue: U,
}

impl<U: Catalogue> Distance<Profile> for Nearness<U> {
    type Rank = (u64, u64);

    fn rank(&self, target: &Profile, other: &Profile) -> (u64, u64) {
        self.helper.rank(&self.catalogue, target, other)
    }
}
