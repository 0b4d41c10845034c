//! The site's queue as it was seen: which jobs of its own users came, started and went, and when each waiting job is
//! expected to start.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use gridweave_core::id::JobId;
use gridweave_core::job::{OwnJob, Seen, SiteReport};
use gridweave_core::queue::{Change, LocalScheduler, Policy, QueuedJob, SiteQueue};
use gridweave_core::resource::Speed;
use gridweave_core::time::{Span, Time};

use super::habits::{Habits, steady};
use super::listing::{Listed, State};
use super::shape::Shape;

/// How long a job without a time limit is expected to run, if its partition has none either.
const UNLIMITED: Span = Span::from_secs(365 * 86_400);

/// The most jobs that are remembered.
const MOST: usize = 100_000;

/// The longest queue for which forecasts are compared with starts: the work grows with its square.
const COMPARED: usize = 256;

/// By how much a job of the site's own users that passes one of the grid is said to have come before that: an attempt is
/// submitted a moment after it came, and Slurm tells whole seconds.
const BEFORE: Span = Span::from_secs(30);

/// The jobs of the site's own users.
#[derive(Default)]
pub(super) struct Mirror {
    /// As they were reported last.
    told: BTreeMap<JobId, (OwnJob, Seen)>,
    habits: Habits,
}

/// A name that no job of the grid has: those have fewer digits. An id alone is used again by a controller that forgot it.
fn name_of(listed: &Listed) -> JobId {
    let mut hasher = DefaultHasher::new();
    (&listed.id, listed.submitted).hash(&mut hasher);
    JobId::new(hasher.finish() | 1 << 63)
}

/// How long it is expected to run.
fn length(listed: &Listed, shape: &Shape) -> Span {
    let longest = shape.longest.map_or(UNLIMITED, Span::from_micros);
    listed.limit.unwrap_or(longest).max(Span::from_secs(1))
}

/// Whether it may run in this partition: a waiting job may name several.
fn is_in(listed: &Listed, shape: &Shape) -> bool {
    listed
        .partition
        .split(',')
        .any(|name| name == shape.partition)
}

impl Mirror {
    /// What is new, in the order in which the site would start the jobs. `owns` says which are those of the grid.
    pub(super) fn report(
        &mut self,
        listing: &[Listed],
        shape: &Shape,
        at: Time,
        owns: impl Fn(&Listed) -> bool,
    ) -> Vec<SiteReport> {
        let mut order: Vec<&Listed> = listing.iter().filter(|job| is_in(job, shape)).collect();
        order.sort_by_key(|listed| (std::cmp::Reverse(listed.priority), listed.submitted));
        let theirs = order.iter().filter(|listed| !owns(listed));
        let theirs = theirs.map(|listed| (name_of(listed), *listed));
        self.habits.note(theirs, at);
        // From the last to the first: when the first of those of the grid came that stand behind.
        let mut behind = Time::MAX;
        let mut passing = BTreeMap::new();
        let waiting = order.iter().filter(|listed| listed.state == State::Waiting);
        for listed in waiting.rev() {
            if owns(listed) {
                behind = behind.min(listed.submitted);
            } else if behind < listed.submitted {
                passing.insert(name_of(listed), behind - BEFORE);
            }
        }
        let mut now = BTreeMap::new();
        let mut reports = Vec::new();
        for listed in order {
            let seen = match (listed.state, listed.start) {
                (State::Waiting, _) => Seen::Queued,
                (State::Running, Some(at)) => Seen::Started { at },
                _ => continue,
            };
            if owns(listed) || now.len() >= MOST {
                continue;
            }
            let id = name_of(listed);
            let mut own = OwnJob {
                id,
                processors: listed.processors,
                estimate: self.expected(listed, shape, at),
                submitted: passing.get(&id).copied().unwrap_or(listed.submitted),
            };
            if let Some((before, _)) = self.told.get(&id) {
                own.estimate = steady(before.estimate, own.estimate);
                own.submitted = own.submitted.min(before.submitted);
            }
            if self.told.get(&id) != Some(&(own, seen)) {
                reports.push(SiteReport::Own { job: own, seen });
            }
            now.insert(own.id, (own, seen));
        }
        let gone = self.told.iter();
        let gone = gone.filter(|(name, _)| !now.contains_key(name));
        let seen = Seen::Vanished;
        let gone = gone.map(|(_, (job, _))| SiteReport::Own { job: *job, seen });
        let reports = gone.chain(reports).collect();
        self.told = now;
        reports
    }

    /// How long a job of the site's own users is expected to run.
    pub(super) fn expected(&self, listed: &Listed, shape: &Shape, now: Time) -> Span {
        self.habits.expected(listed, length(listed, shape), now)
    }
}

/// When a waiting job was expected to start, when it was first seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Forecast {
    pub(super) at: Time,
    pub(super) own: Time,
    /// Slurm's own, if it had one by then.
    pub(super) slurm: Option<Time>,
}

/// A job that was forecast, and has started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Started {
    pub(super) name: String,
    pub(super) forecast: Forecast,
    pub(super) start: Time,
}

/// Forecasts of jobs that wait.
#[derive(Default)]
pub(super) struct Forecasts(BTreeMap<JobId, Forecast>);

impl Forecasts {
    /// Notes forecasts for jobs that are new, and returns jobs that have started. `estimate` says how long a job runs.
    ///
    /// Slurm's own forecast comes some seconds after a job: the first that it gives counts, with ours of that moment.
    pub(super) fn note(
        &mut self,
        listing: &[Listed],
        shape: &Shape,
        now: Time,
        estimate: impl Fn(&Listed) -> Span,
    ) -> Vec<Started> {
        let here = || listing.iter().filter(|listed| is_in(listed, shape));
        let mut started = Vec::new();
        let mut waiting: Vec<&Listed> = Vec::new();
        for listed in here() {
            match (listed.state, listed.start) {
                (State::Running, Some(start)) => {
                    if let Some(forecast) = self.0.remove(&name_of(listed)) {
                        let name = listed.name.clone();
                        started.push(Started {
                            name,
                            forecast,
                            start,
                        });
                    }
                }
                (State::Waiting, _) => waiting.push(listed),
                _ => {}
            }
        }
        let names: BTreeSet<JobId> = waiting.iter().map(|listed| name_of(listed)).collect();
        self.0.retain(|name, _| names.contains(name));
        let lacks = |name| {
            let known = self.0.get(name);
            known.is_none_or(|forecast| forecast.slurm.is_none())
        };
        if !names.iter().any(lacks) || waiting.len() > COMPARED {
            return started;
        }
        waiting.sort_by_key(|listed| (std::cmp::Reverse(listed.priority), listed.submitted));
        let queue = queue(&waiting, here(), shape, now, estimate);
        let mut starts = BTreeMap::new();
        queue.forecast(now, Change::None, &mut |expected| {
            starts.insert(expected.job, expected.start);
        });
        for listed in waiting {
            let name = name_of(listed);
            let slurm = listed.start.filter(|start| *start >= now);
            let known = self.0.get(&name);
            if let Some(own) = starts.get(&name)
                && known.is_none_or(|known| known.slurm.is_none() && slurm.is_some())
            {
                let (at, own) = (now, *own);
                self.0.insert(name, Forecast { at, own, slurm });
            }
        }
        started
    }
}

/// The queue as the scheduler mirrors it, with jobs of the grid.
fn queue<'a>(
    waiting: &[&Listed],
    all: impl Iterator<Item = &'a Listed>,
    shape: &Shape,
    now: Time,
    estimate: impl Fn(&Listed) -> Span,
) -> SiteQueue {
    let queue = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, MOST);
    let mut queue = queue.with_processors(shape.processors).mirroring();
    if shape.backfills {
        queue = queue.backfilling();
    }
    let job = |listed: &Listed, arrived| QueuedJob {
        processors: listed.processors,
        arrived,
        ..QueuedJob::new(name_of(listed), estimate(listed))
    };
    for listed in all.filter(|listed| listed.state == State::Running) {
        if let Some(start) = listed.start {
            // A job that is listed twice counts once.
            let _ = queue.resume(now, job(listed, start), start);
        }
    }
    for (place, listed) in waiting.iter().enumerate() {
        // The order is Slurm's.
        let _ = queue.push(now, job(listed, Time::from_micros(place as u64)));
    }
    queue
}
