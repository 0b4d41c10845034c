//! In which order jobs wait.

use core::cmp::Ordering;
use core::fmt;

use super::QueuedJob;
use crate::id::OrganisationId;
use crate::time::{Span, Time};

/// The order in which a site runs its jobs. Ties go by [arrival](QueuedJob::arrived), and then by the order of pushing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Policy {
    /// First come, first served: by arrival at the site.
    FirstCome,
    /// The shortest estimate first, at baseline speed.
    ShortestFirst,
    /// The earliest deadline first; jobs without one come last.
    EarliestDeadline,
    /// The organisations that the site prefers first, and waiting raises a job.
    Priority(Priorities),
}

impl Policy {
    /// Whether one job comes before another, whichever was queued first. It is the same at any time.
    pub(super) fn compare(&self, a: &QueuedJob, b: &QueuedJob) -> Ordering {
        let by_policy = match self {
            Self::FirstCome => Ordering::Equal,
            Self::ShortestFirst => a.estimate.cmp(&b.estimate),
            Self::EarliestDeadline => due(a).cmp(&due(b)),
            Self::Priority(priorities) => priorities.rank(a).cmp(&priorities.rank(b)),
        };
        by_policy.then(a.arrived.cmp(&b.arrived))
    }
}

fn due(job: &QueuedJob) -> Time {
    job.deadline.unwrap_or(Time::MAX)
}

/// The organisations whose jobs a site prefers, and how fast waiting makes up for that.
///
/// Every organisation has a class: the class it was given, or zero. At time `now` a job of class `c` that entered the
/// grid at `submitted` has the priority
///
/// ```text
/// c + (now - submitted) / ageing        as an exact fraction; the highest runs first
/// ```
///
/// All jobs age alike, so of two jobs the same one is ahead at any time: the one with the smaller `submitted - c *
/// ageing`, in whole microseconds. A queue that was sorted stays so.
///
/// **No job starves**: if a job of class `c` came at `submitted`, no job that came after `submitted + (top - c) *
/// ageing` gets ahead of it; `top` is the highest class. (A site that backfills lets others pass, but never delays the
/// first.)
///
/// ```
/// use gridweave_core::id::OrganisationId;
/// use gridweave_core::queue::{Policy, Priorities};
/// use gridweave_core::time::Span;
///
/// let own = OrganisationId::new(7);
/// let priorities = Priorities::ageing(Span::from_secs(3600)).with(own, 2)?;
/// assert_eq!(priorities.class(own), 2);
/// assert_eq!(priorities.class(OrganisationId::new(8)), 0);
/// let policy = Policy::Priority(priorities);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Priorities {
    ageing: Span,
    /// The first `named` are in use; the others are as they were made.
    classes: [(OrganisationId, u8); Self::MOST],
    named: u8,
}

/// A site can prefer no more than [`Priorities::MOST`] organisations. Nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TooManyOrganisations;

impl Priorities {
    /// How many organisations can be named.
    pub const MOST: usize = 8;

    /// No organisation is preferred. A wait of `ageing` counts as one class; if `ageing` is zero, only waiting counts.
    pub const fn ageing(ageing: Span) -> Self {
        Self {
            ageing,
            classes: [(OrganisationId::new(0), 0); Self::MOST],
            named: 0,
        }
    }

    /// Gives an organisation a class; the higher, the more its jobs are preferred. The last word counts.
    pub fn with(
        mut self,
        organisation: OrganisationId,
        class: u8,
    ) -> Result<Self, TooManyOrganisations> {
        let known = self.named().iter().position(|(id, _)| *id == organisation);
        let index = known.unwrap_or(usize::from(self.named));
        *self.classes.get_mut(index).ok_or(TooManyOrganisations)? = (organisation, class);
        if known.is_none() {
            self.named = self.named.saturating_add(1);
        }
        Ok(self)
    }

    /// The class of an organisation.
    pub fn class(&self, organisation: OrganisationId) -> u8 {
        let named = self.named().iter().find(|(id, _)| *id == organisation);
        named.map_or(0, |(_, class)| *class)
    }

    /// The highest class there is.
    pub fn top(&self) -> u8 {
        self.named()
            .iter()
            .map(|(_, class)| *class)
            .max()
            .unwrap_or(0)
    }

    /// After this time no newcomer gets ahead of a job.
    pub fn closed_to_newcomers(&self, job: &QueuedJob) -> Time {
        let above = self
            .top()
            .saturating_sub(self.class(job.submitter.organisation));
        job.submitted + self.ageing.times(u64::from(above))
    }

    fn named(&self) -> &[(OrganisationId, u8)] {
        self.classes.get(..usize::from(self.named)).unwrap_or(&[])
    }

    /// The smaller, the earlier.
    fn rank(&self, job: &QueuedJob) -> i128 {
        let class = i128::from(self.class(job.submitter.organisation));
        let ahead = class.saturating_mul(i128::from(self.ageing.as_micros()));
        i128::from(job.submitted.as_micros()).saturating_sub(ahead)
    }
}

impl fmt::Display for TooManyOrganisations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a site can prefer eight organisations at most")
    }
}

impl core::error::Error for TooManyOrganisations {}
