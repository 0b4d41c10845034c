use alloc::vec::Vec;

#[cfg(test)]
use super::standard::micros;
use super::{Form, Hints, Objective, Set, Standard, Sums};
use crate::profile::Profile;
use crate::time::Span;

/// How much a part counts, in millionths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Weight(u64);

impl Weight {
    /// As it is.
    pub const ONE: Self = Self::from_millionths(1_000_000);

    /// So many millionths; none means that the part does not count.
    pub const fn from_millionths(millionths: u64) -> Self {
        Self(millionths)
    }

    /// In millionths.
    pub const fn as_millionths(self) -> u64 {
        self.0
    }

    fn factor(self) -> f64 {
        self.0 as f64 / 1_000_000.0
    }
}

/// What must hold of a set for it to be acceptable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Limit {
    /// It starts no later than this after the first instant allowed.
    StartWithin(Span),
    /// An objective costs no more than this, in its own unit.
    AtMost {
        /// The objective that is limited.
        what: Standard,
        /// How much, rounded to whole units.
        cost: i64,
    },
}

/// Several objectives at once: a weighted sum, within limits (P2: "select nodes located as close to each other as
/// possible, such that the job starts in at most 1 hour").
///
/// Most objectives cost microseconds, so that their weights compare: two to one means that a microsecond of the first
/// is worth two of the second. [`Regions`](super::Regions) counts nodes, [`SquaredSpread`](super::SquaredSpread) square
/// microseconds.
///
/// ```
/// use gridweave_core::select::{Combined, Limit, Standard};
/// use gridweave_core::time::Span;
///
/// let close_and_soon = Combined::from(Standard::Closest).limited(Limit::StartWithin(Span::from_secs(3600)));
/// assert_eq!(close_and_soon.limits().len(), 1);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Combined {
    parts: Vec<(Weight, Standard)>,
    limits: Vec<Limit>,
}

impl From<Standard> for Combined {
    fn from(only: Standard) -> Self {
        Self::default().and(Weight::ONE, only)
    }
}

impl Combined {
    /// The same and one more part.
    #[must_use]
    pub fn and(mut self, weight: Weight, part: Standard) -> Self {
        self.parts.push((weight, part));
        self
    }

    /// The same and one more limit.
    #[must_use]
    pub fn limited(mut self, limit: Limit) -> Self {
        self.limits.push(limit);
        self
    }

    /// What is added up.
    pub fn parts(&self) -> &[(Weight, Standard)] {
        &self.parts
    }

    /// What must hold.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// The parts that count.
    fn weighted(&self) -> impl Iterator<Item = (f64, &Standard)> {
        let counting = self.parts.iter().filter(|(weight, _)| weight.0 > 0);
        counting.map(|(weight, part)| (weight.factor(), part))
    }

    fn total(&self, cost: impl Fn(&Standard) -> f64) -> f64 {
        self.weighted()
            .map(|(weight, part)| weight * cost(part))
            .sum()
    }

    fn limited_cost(
        &self,
        wait: Span,
        cost: impl Fn(&Standard) -> f64,
        exactly: impl Fn(&Standard) -> f64,
    ) -> f64 {
        let kept = self.limits.iter().all(|limit| match limit {
            Limit::StartWithin(most) => wait <= *most,
            Limit::AtMost { what, cost } => exactly(what) <= *cost as f64,
        });
        if kept {
            self.total(cost)
        } else {
            f64::INFINITY
        }
    }
}

impl Objective for Combined {
    fn cost(&self, set: &Set<'_>) -> f64 {
        let cost = |part: &Standard| part.cost(set);
        self.limited_cost(set.wait(), cost, cost)
    }

    fn estimate(&self, set: &Set<'_>) -> f64 {
        self.limited_cost(set.wait(), |part| part.estimate(set), |part| part.cost(set))
    }

    fn form(&self) -> Form {
        let only_start = |limit: &Limit| matches!(limit, Limit::StartWithin(_));
        if !self.limits.iter().all(only_start) {
            return Form::Whole;
        }
        let forms = self.weighted().map(|(_, part)| part.form());
        forms.max().unwrap_or(Form::Shares)
    }

    fn share(&self, profile: &Profile) -> f64 {
        self.total(|part| part.share(profile))
    }

    fn rest(&self, sums: &Sums) -> f64 {
        if self.latest().is_some_and(|latest| sums.wait() > latest) {
            return f64::INFINITY;
        }
        self.total(|part| part.rest(sums))
    }

    fn latest(&self) -> Option<Span> {
        let waits = self.limits.iter().filter_map(|limit| match limit {
            Limit::StartWithin(most) => Some(*most),
            Limit::AtMost {
                what: Standard::Soonest,
                cost,
            } => Some(Span::from_micros(u64::try_from(*cost).unwrap_or(0))),
            Limit::AtMost { .. } => None,
        });
        waits.min()
    }

    fn hints(&self) -> Hints {
        let limits = self.limits.iter().filter_map(|limit| match limit {
            Limit::AtMost { what, .. } => Some(what.hints()),
            Limit::StartWithin(_) => None,
        });
        let parts = self.weighted().map(|(_, part)| part.hints());
        parts.chain(limits).fold(Hints::NONE, Hints::or)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_limit_is_the_latest_start() {
        let hour = Span::from_secs(3600);
        let limited = |limit| Combined::from(Standard::Closest).limited(limit).latest();
        assert_eq!(limited(Limit::StartWithin(hour)), Some(hour));
        let at_most = |cost| Limit::AtMost {
            what: Standard::Soonest,
            cost,
        };
        assert_eq!(limited(at_most(micros(hour) as i64)), Some(hour));
        assert_eq!(Combined::from(Standard::Soonest).latest(), None);
    }
}
