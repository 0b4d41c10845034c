mod costs;
mod mirror;
mod order;
mod passing;
mod processors;
mod windows;

use super::*;
use crate::id::OrganisationId;
use crate::queue::{Change, Expected, LocalScheduler, NotRunning, QueueError, expected};
use std::vec::Vec;

fn t(secs: u64) -> Time {
    Time::from_secs(secs)
}

fn id(id: u64) -> JobId {
    JobId::new(id)
}

fn count(processors: u32) -> NonZeroU32 {
    NonZeroU32::new(processors).unwrap()
}

fn between(start: u64, end: u64) -> Interval {
    Interval::new(t(start), t(end)).unwrap()
}

fn job(id: u64, secs: u64) -> QueuedJob {
    QueuedJob::new(JobId::new(id), Span::from_secs(secs))
}

fn due(id: u64, secs: u64, deadline: u64) -> QueuedJob {
    QueuedJob {
        deadline: Some(t(deadline)),
        ..job(id, secs)
    }
}

/// A job that takes this many processors.
fn wide(id: u64, processors: u32, secs: u64) -> QueuedJob {
    QueuedJob {
        processors: count(processors),
        ..job(id, secs)
    }
}

fn site(policy: Policy, jobs: &[QueuedJob]) -> SiteQueue {
    filled(SiteQueue::new(policy, Speed::BASELINE, 9), jobs)
}

/// First come, first served on this many processors.
fn cluster(processors: u32, jobs: &[QueuedJob]) -> SiteQueue {
    let empty = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 9);
    filled(empty.with_processors(count(processors)), jobs)
}

fn filled(mut site: SiteQueue, jobs: &[QueuedJob]) -> SiteQueue {
    for job in jobs {
        site.push(t(0), *job).unwrap();
        site.check().unwrap();
    }
    site
}

/// Starts all that is to start.
fn started(site: &mut SiteQueue, now: u64) -> Vec<u64> {
    let started = core::iter::from_fn(|| site.start_next(t(now)));
    let started = started.map(JobId::get).collect();
    site.check().unwrap();
    started
}

fn waiting(site: &SiteQueue) -> Vec<u64> {
    site.waiting()
        .iter()
        .map(|queued| queued.job.get())
        .collect()
}

/// Which job is expected to start and end when, in seconds, by id.
fn plan(site: &SiteQueue, now: u64, change: Change<'_>) -> Vec<(u64, u64, u64)> {
    let mut plan = Vec::new();
    site.forecast(t(now), change, &mut |job: Expected| {
        plan.push((job.job.get(), job.start.as_secs(), job.end.as_secs()));
    });
    plan.sort_unstable();
    plan
}
