use super::Set;
use crate::profile::{Coordinate, Profile};
use crate::time::{Span, Time};

/// What makes one set of nodes better than another (P2: `Opt`).
///
/// Only [`cost`](Self::cost) has to be written. The other methods say more about the objective, which makes a search
/// for it faster; what they say must agree with `cost`.
pub trait Objective {
    /// What a set costs: the smaller the better. `+∞` is a set that must not be chosen; `NaN` and `-∞` end the search
    /// with an error. It must not depend on the order of the members.
    fn cost(&self, set: &Set<'_>) -> f64;

    /// A fast approximation of [`cost`](Self::cost): sets are bred by it, and the last generation is judged by `cost`.
    fn estimate(&self, set: &Set<'_>) -> f64 {
        self.cost(set)
    }

    /// How the cost comes about.
    fn form(&self) -> Form {
        Form::Whole
    }

    /// What one node adds to the cost, if the [`form`](Self::form) has shares.
    fn share(&self, _profile: &Profile) -> f64 {
        0.0
    }

    /// What is added to the shares of all members, if the [`form`](Self::form) has shares.
    fn rest(&self, _sums: &Sums) -> f64 {
        0.0
    }

    /// How long after the first instant allowed a set may start at the latest; `None` if there is no such limit.
    fn latest(&self) -> Option<Span> {
        None
    }

    /// Where good sets are likely to be found.
    fn hints(&self) -> Hints {
        Hints::NONE
    }
}

impl<O: Objective + ?Sized> Objective for &O {
    fn cost(&self, set: &Set<'_>) -> f64 {
        (**self).cost(set)
    }
    fn estimate(&self, set: &Set<'_>) -> f64 {
        (**self).estimate(set)
    }
    fn form(&self) -> Form {
        (**self).form()
    }
    fn share(&self, profile: &Profile) -> f64 {
        (**self).share(profile)
    }
    fn rest(&self, sums: &Sums) -> f64 {
        (**self).rest(sums)
    }
    fn latest(&self) -> Option<Span> {
        (**self).latest()
    }
    fn hints(&self) -> Hints {
        (**self).hints()
    }
}

/// How the cost of a set comes about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// It is the shares of its members and a rest that depends on nothing but their number and the start, and that is
    /// never less for a later start. The best set is found outright.
    Shares,
    /// It is the shares of its members and a rest that depends on [`Sums`]: a swap is judged without a look at the
    /// others.
    Moments,
    /// It has to be worked out for each set.
    Whole,
}

/// Where good sets are likely to be found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hints {
    /// Around one place.
    pub near: bool,
    /// Away from each other.
    pub far: bool,
    /// In many regions.
    pub regions: bool,
}

impl Hints {
    /// No hint.
    pub const NONE: Self = Self {
        near: false,
        far: false,
        regions: false,
    };

    /// The hints of both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            near: self.near | other.near,
            far: self.far | other.far,
            regions: self.regions | other.regions,
        }
    }
}

/// Sums over the members of a set, easy to update when a member joins or leaves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sums {
    /// How many members there are.
    pub count: u32,
    /// The shares of all members.
    pub shares: f64,
    /// The points of all members, added up, relative to some place in their midst.
    pub point: [f64; Coordinate::DIMENSIONS],
    /// The squares of these points' distances from that place, added up.
    pub squares: f64,
    /// When they can start.
    pub start: Time,
    /// The first instant at which a set may start.
    pub from: Time,
}

impl Sums {
    /// The sums of a set without members.
    pub const fn new(start: Time, from: Time) -> Self {
        Self {
            count: 0,
            shares: 0.0,
            point: [0.0; Coordinate::DIMENSIONS],
            squares: 0.0,
            start,
            from,
        }
    }

    /// How long after the first instant allowed they start.
    pub fn wait(&self) -> Span {
        self.start - self.from
    }

    /// A member joins, whose point lies here relative to the midst.
    pub fn add(&mut self, share: f64, point: [f64; Coordinate::DIMENSIONS]) {
        self.count = self.count.saturating_add(1);
        self.change(share, point, 1.0);
    }

    /// A member leaves.
    pub fn remove(&mut self, share: f64, point: [f64; Coordinate::DIMENSIONS]) {
        self.count = self.count.saturating_sub(1);
        self.change(share, point, -1.0);
    }

    fn change(&mut self, share: f64, point: [f64; Coordinate::DIMENSIONS], sign: f64) {
        self.shares += sign * share;
        for (sum, part) in self.point.iter_mut().zip(point) {
            *sum += sign * part;
            self.squares += sign * part * part;
        }
    }

    /// What a set with these sums costs.
    pub fn cost<O: Objective + ?Sized>(&self, objective: &O) -> f64 {
        self.shares + objective.rest(self)
    }
}
