//! When jobs will start, as far as estimates tell.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::num::NonZeroU32;

use super::SiteQueue;
use crate::schedule::availability::Availability;
use crate::time::{Interval, Span, Time};

/// A plan of a site's processors, into which jobs are placed in the order of the queue.
pub(super) enum Plan {
    /// One processor and no windows: one job after another. Allocates nothing.
    Single { free: Time },
    /// No windows and no backfilling: processors come back, and no job starts before the job ahead of it.
    InOrder(Releases),
    /// All other cases.
    Profiled { profile: Profile, rule: Rule },
}

/// Whether a job may start before a job ahead of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Passing {
    /// Where it fits.
    Possible,
    /// The site does not let it, or all jobs take one processor: then each starts where the first processor comes back.
    Never,
}

/// Where in a profile a job may start.
pub(super) enum Rule {
    /// Not before the job ahead of it.
    NotBefore(Time),
    /// Where it first fits, beside all jobs ahead of it.
    FirstFit { now: Time },
}

impl Plan {
    /// A plan of what the running jobs leave.
    pub(super) fn new(site: &SiteQueue, now: Time, passing: Passing) -> Self {
        if site.windows.next_end(now).is_some() {
            let rule = if site.backfills() {
                Rule::FirstFit { now }
            } else {
                Rule::NotBefore(now)
            };
            let profile = Profile::new(site, now);
            return Self::Profiled { profile, rule };
        }
        // More than one job runs on one processor only at a foreign site that is mirrored.
        if site.processors == NonZeroU32::MIN && site.running.len() <= 1 {
            let free = site.running.first().map(|running| running.ends(now));
            let free = free.unwrap_or(now);
            return Self::Single { free };
        }
        if passing == Passing::Possible {
            let profile = Profile::new(site, now);
            let rule = Rule::FirstFit { now };
            return Self::Profiled { profile, rule };
        }
        Self::InOrder(Releases::new(site, now))
    }

    /// Places the next job, and tells when it starts.
    pub(super) fn place(&mut self, processors: NonZeroU32, length: Span) -> Time {
        match self {
            Self::Single { free } => {
                let start = *free;
                *free += length;
                start
            }
            Self::InOrder(releases) => releases.place(processors.get(), length),
            Self::Profiled { profile, rule } => {
                let (Rule::NotBefore(from) | Rule::FirstFit { now: from }) = *rule;
                let start = profile.earliest(from, processors.get(), length);
                profile.take(start, processors.get(), length);
                if let Rule::NotBefore(ahead) = rule {
                    *ahead = start;
                }
                start
            }
        }
    }
}

/// The processors that are free, and those that come back.
pub(super) struct Releases {
    clock: Time,
    free: u32,
    /// How many of those that come back were never there: a mirrored site may run more than it has by this count.
    excess: u32,
    /// No more of them than there are processors.
    back: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Releases {
    fn new(site: &SiteQueue, now: Time) -> Self {
        let jobs = site
            .running
            .len()
            .saturating_add(site.waiting.len())
            .saturating_add(1);
        let most = usize::try_from(site.processors.get()).unwrap_or(usize::MAX);
        let mut back = Vec::with_capacity(jobs.min(most.saturating_add(1)));
        let running = site.running.iter();
        back.extend(running.map(|job| Reverse((job.ends(now), job.job.processors.get()))));
        Self {
            clock: now,
            free: site.free_processors(),
            excess: site.busy_processors().saturating_sub(site.processors.get()),
            back: back.into(),
        }
    }

    fn place(&mut self, processors: u32, length: Span) -> Time {
        while self.free < processors {
            let Some(Reverse((at, returned))) = self.back.pop() else {
                // It wants more than the site has.
                return Time::MAX;
            };
            self.clock = self.clock.max(at);
            let kept = returned.min(self.excess);
            self.excess = self.excess.saturating_sub(kept);
            self.free = self.free.saturating_add(returned.saturating_sub(kept));
        }
        self.free = self.free.saturating_sub(processors);
        self.back.push(Reverse((self.clock + length, processors)));
        self.clock
    }
}

/// How many processors are free at each time, without those in windows.
pub(super) struct Profile(Availability);

impl Profile {
    /// What running jobs and windows leave free. Where they need more than there is, because a window was made late or
    /// a job overruns, nothing is free.
    pub(super) fn new(site: &SiteQueue, now: Time) -> Self {
        let processors = site.processors.get();
        let mut profile = Availability::with_limit(processors, usize::MAX)
            .expect("a site has at least one processor");
        let mut taken = u64::from(site.busy_processors());
        let most = site.windows.all().len().saturating_mul(2);
        let mut changes = Vec::with_capacity(site.running.len().saturating_add(most));
        for running in &site.running {
            let returned = i64::from(running.job.processors.get()).saturating_neg();
            changes.push((running.ends(now), returned));
        }
        for window in site.windows.all() {
            if window.interval.end() > now {
                let kept = i64::from(window.processors.get());
                changes.push((window.interval.start().max(now), kept));
                changes.push((window.interval.end(), kept.saturating_neg()));
            }
        }
        changes.sort_unstable();
        let mut since = now;
        for (at, change) in changes {
            let count = u32::try_from(taken).unwrap_or(u32::MAX).min(processors);
            take(&mut profile, since, at, count);
            taken = taken.saturating_add_signed(change);
            since = at;
        }
        Self(profile)
    }

    /// When `processors` are first free for `length`. A `length` beyond the end of time counts up to that end.
    pub(super) fn earliest(&mut self, from: Time, processors: u32, length: Span) -> Time {
        if let Ok(start) = self.0.earliest_fit(from, processors, length) {
            return start;
        }
        let mut since = None;
        for (at, free) in self.0.steps() {
            since = if free >= processors {
                since.or(Some(at))
            } else {
                None
            };
        }
        since.map_or(Time::MAX, |since: Time| since.max(from))
    }

    /// Takes what was found to be free.
    pub(super) fn take(&mut self, start: Time, processors: u32, length: Span) {
        take(&mut self.0, start, start + length, processors);
    }

    /// Whether `processors` are free from `start` for `length`.
    pub(super) fn fits(&self, start: Time, processors: u32, length: Span) -> bool {
        // At the end of time there is nothing left to plan.
        Interval::new(start, start + length)
            .map_or(true, |interval| self.0.least_free(interval) >= processors)
    }
}

fn take(profile: &mut Availability, start: Time, end: Time, count: u32) {
    if count == 0 {
        return;
    }
    if let Ok(interval) = Interval::new(start, end) {
        let taken = profile.reserve(interval, count);
        debug_assert!(taken.is_ok(), "only what is free is taken");
    }
}
