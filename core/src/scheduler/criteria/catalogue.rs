//! The criteria of a grid: what a job may ask for, and which helper overlay finds it.

use core::cmp::Reverse;

use crate::job::{Criterion, Job};
use crate::machine::Data;
use crate::overlay::vicinity::{Distance, FirstFree, Proximity};
use crate::profile::Profile;
use crate::select::{self, Objective, Standard};

/// The criteria that the hosts of a grid agree on beside those that have a name, each by its number in
/// [`Criterion::Custom`]. Only the node where a job is submitted works out what nodes cost.
pub trait Catalogue: Data {
    /// What makes nodes good under this criterion; none if there is no such criterion.
    fn objective(&self, number: u16) -> Option<&dyn Objective>;

    /// Which helper overlay links nodes that are good together; none if random links must do.
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

/// No criteria but those that have a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct OnlyStandard;

impl Catalogue for OnlyStandard {
    fn objective(&self, _: u16) -> Option<&dyn Objective> {
        None
    }
}

/// One criterion beside those that have a name, under number 0: any objective, guided by a helper overlay if one suits it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OneMore<O> {
    /// What makes nodes good.
    pub objective: O,
    /// Which helper overlay finds them.
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

/// Does something with the objective of a criterion.
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

/// Which helper overlay suits a criterion.
pub(super) fn helper_for<U: Catalogue>(catalogue: &U, criterion: Criterion) -> Option<Helper> {
    match criterion {
        Criterion::Soonest => Some(Helper::FirstFree),
        Criterion::Closest => Some(Helper::Proximity),
        Criterion::Farthest => Some(Helper::Remoteness),
        Criterion::Custom(number) => catalogue.helper(number),
    }
}

/// A helper overlay, by what it links.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Helper {
    /// Nodes with short delays between them.
    Proximity,
    /// Nodes that are free for the first time at about the same time.
    FirstFree,
    /// Nodes with long delays between them.
    Remoteness,
    /// Nodes that the catalogue calls near, by this number.
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

/// How near nodes are in a helper overlay.
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
