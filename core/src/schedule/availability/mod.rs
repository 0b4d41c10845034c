//! The free capacity of a multi-processor machine over time.
//!
//! Backfilling schedulers plan with an [`Availability`] (PROTOCOLS 7.1 and 7.2). It is a list of *steps*, from an
//! origin to the end of time. A step is an instant, and how many processors are free from then until the next step; two
//! steps in a row have different counts. An availability answers when a job of some size and length fits first, takes
//! and returns processors, and moves bookings earlier when a job has ended early.
//!
//! ```
//! use gridweave_core::schedule::availability::{Availability, Booking};
//! use gridweave_core::time::{Interval, Span, Time};
//!
//! let mut machine = Availability::new(8)?;
//! let hour = Span::from_secs(3600);
//!
//! // One job takes the machine for an hour, so the next starts after it.
//! let first = Interval::starting(Time::ZERO, hour)?;
//! machine.reserve(first, 8)?;
//! let start = machine.earliest_fit(Time::ZERO, 4, hour)?;
//! assert_eq!(start, first.end());
//! let mut queue = [Booking { interval: Interval::starting(start, hour)?, count: 4 }];
//! machine.reserve(queue[0].interval, queue[0].count)?;
//!
//! // The first job ends after ten minutes. What is left of its hour is free, and the other moves there.
//! let now = Time::from_secs(600);
//! machine.advance(now);
//! machine.release(Interval::new(now, first.end())?, 8)?;
//! assert_eq!(machine.compress(now, &mut queue), 1);
//! assert_eq!(queue[0].interval.start(), now);
//! assert_eq!(machine.free_at(now), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Early and late ends
//! An availability has numbers of processors and no jobs, so its caller says what a change of plan means:
//! - A job ends *early*, before its reserved time is over: [`release`](Availability::release) the rest, then
//!   [`compress`](Availability::compress), which moves the later bookings forward into the time that became free.
//! - A job *overruns*, that is, it still runs when its reserved time is over. No booking is extended by itself.
//!   [`reserve`](Availability::reserve) the time after it. If that is [`NotFree`](ReserveError::NotFree), a later
//!   booking has those processors: stop the job, or release that booking and find it another time.
//!
//! # Cost
//! Steps are kept in blocks of at most 64.
//!
//! | operation | cost |
//! |---|---|
//! | [`earliest_fit`](Availability::earliest_fit) | a binary search, one comparison per block that cannot have the answer, and a look at up to 64 steps for each that may |
//! | [`reserve`](Availability::reserve), [`release`](Availability::release) | a binary search and the steps that the interval spans |
//! | [`free_at`](Availability::free_at) | a binary search |
//! | [`least_free`](Availability::least_free) | a binary search and the steps that the interval spans |
//! | [`advance`](Availability::advance) | what it forgets; if that is whole blocks, also a move of what is known about the others |
//! | [`compress`](Availability::compress) | a release, a search and a reservation per booking |
//!
//! Every 32 insertions or so a block splits, or two merge; that moves a few bytes per block and size class, and is the
//! only part of a change that grows with the number of steps.
//!
//! Blocks that are not needed any more are kept and used again: once there have been as many steps as there ever are,
//! operations allocate nothing. Nothing here panics, whatever the arguments.

mod block;
mod compress;
mod error;
mod reserve;
mod summary;
#[cfg(test)]
mod tests;
mod timeline;

pub use compress::Booking;
pub use error::{FitError, NoProcessors, ReleaseError, ReserveError};

use core::fmt;
use core::hash::{Hash, Hasher};

use crate::machine::Violation;
use crate::time::{Interval, Span, Time};
use timeline::Timeline;

/// How many processors are free, from an origin to the end of time.
///
/// Two of them are equal if their processors, limits and steps are.
#[derive(Clone)]
pub struct Availability {
    processors: u32,
    limit: usize,
    timeline: Timeline,
}

impl Availability {
    /// The most steps after [`Availability::new`]; they take some 12 MiB.
    pub const DEFAULT_LIMIT: usize = 1 << 20;

    /// A machine with this many processors, all free from [`Time::ZERO`] on.
    pub fn new(processors: u32) -> Result<Self, NoProcessors> {
        Self::with_limit(processors, Self::DEFAULT_LIMIT)
    }

    /// As [`Availability::new`], with at most `limit` steps. A reservation adds two at most; the origin always has one,
    /// even under a limit of zero.
    pub fn with_limit(processors: u32, limit: usize) -> Result<Self, NoProcessors> {
        if processors == 0 {
            return Err(NoProcessors);
        }
        Ok(Self {
            processors,
            limit: limit.max(1),
            timeline: Timeline::new(Time::ZERO, processors),
        })
    }

    /// How many processors the machine has.
    pub fn processors(&self) -> u32 {
        self.processors
    }

    /// Where the first step begins; nothing is known of the time before.
    pub fn origin(&self) -> Time {
        self.timeline.origin()
    }

    /// How many steps there are; at least one, at the origin.
    pub fn step_count(&self) -> usize {
        self.timeline.len()
    }

    /// The most steps there may be.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How many processors are free at that instant; none before the origin.
    pub fn free_at(&self, at: Time) -> u32 {
        if at < self.origin() {
            return 0;
        }
        let step = self.timeline.step(self.timeline.locate(at));
        step.map_or(0, |(_, free)| free)
    }

    /// How many processors are free throughout the interval; none if it begins before the origin.
    pub fn least_free(&self, interval: Interval) -> u32 {
        if interval.start() < self.origin() {
            return 0;
        }
        let first = self.timeline.locate(interval.start());
        self.timeline.survey(first, interval.end()).least
    }

    /// The steps in order: a time, and how many processors are free from it until the time of the next step.
    pub fn steps(&self) -> impl Iterator<Item = (Time, u32)> + Clone + '_ {
        self.timeline.blocks().iter().flat_map(|block| {
            let steps = block.times().iter().zip(block.free());
            steps.map(|(&time, &free)| (time, free))
        })
    }

    /// The earliest time, at or after `from` and the origin, from which `count` processors are free for `length`.
    ///
    /// It takes `&mut self` to remember what it learns about blocks that changed; the steps stay as they are.
    pub fn earliest_fit(&mut self, from: Time, count: u32, length: Span) -> Result<Time, FitError> {
        if count == 0 {
            return Err(FitError::ZeroCount);
        }
        if length.is_zero() {
            return Err(FitError::ZeroLength);
        }
        if count > self.processors {
            return Err(FitError::MoreThanProcessors);
        }
        let from = from.max(self.origin());
        let fit = self.timeline.earliest_fit(from, count, length);
        fit.ok_or(FitError::BeyondTime)
    }

    /// Forgets everything before `now`, which becomes the origin; a time before the origin changes nothing.
    pub fn advance(&mut self, now: Time) {
        self.timeline.advance(now);
    }

    /// Names a rule that this availability breaks, reading all of it.
    pub fn check(&self) -> Result<(), Violation> {
        let blocks = self.timeline.blocks();
        let placed = !blocks.is_empty()
            && blocks.len() == self.timeline.starts().len()
            && blocks
                .iter()
                .zip(self.timeline.starts())
                .all(|(block, &start)| block.is_sound() && block.time(0) == Some(start));
        Violation::unless(
            placed,
            "every block holds steps and is where the index says",
        )?;
        let pairs = || self.steps().zip(self.steps().skip(1));
        Violation::unless(
            pairs().all(|((time, _), (next, _))| time < next),
            "steps are in the order of time",
        )?;
        Violation::unless(
            pairs().all(|((_, free), (_, next))| free != next),
            "adjacent steps have different counts",
        )?;
        Violation::unless(
            self.steps().all(|(_, free)| free <= self.processors),
            "no more processors are free than there are",
        )?;
        Violation::unless(
            self.steps().count() == self.step_count() && self.step_count() <= self.limit,
            "steps are counted rightly and within their limit",
        )?;
        Violation::unless(
            self.timeline.summaries().agree_with(blocks),
            "what is known about a block agrees with its steps",
        )
    }
}

impl PartialEq for Availability {
    fn eq(&self, other: &Self) -> bool {
        (self.processors, self.limit, self.step_count())
            == (other.processors, other.limit, other.step_count())
            && self.steps().eq(other.steps())
    }
}

impl Eq for Availability {}

impl Hash for Availability {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.processors, self.limit, self.step_count()).hash(state);
        for step in self.steps() {
            step.hash(state);
        }
    }
}

impl fmt::Debug for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} processors, free ", self.processors)?;
        f.debug_map().entries(self.steps()).finish()
    }
}
