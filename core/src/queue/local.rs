//! What a meta-scheduler needs of a site's own scheduler, and what a job costs at a site.

use super::cost::AccumulatedLateness;
use super::{Cost, NotRunning, QueueError, QueuedJob};
use crate::id::JobId;
use crate::machine::{Data, Violation};
use crate::time::{Span, Time};

/// A site's own scheduler, as a meta-scheduler sees it: it alone decides when a job runs, and it forecasts that.
///
/// [`SiteQueue`](super::SiteQueue) is one. To use another scheduler, implement this trait for it. Its answers may
/// depend only on its past calls and on the time, so that a run can be replayed.
pub trait LocalScheduler: Data {
    /// Whether it would take this job now, or why not. A job that it can never run is [`QueueError::Unsuitable`].
    fn admits(&self, job: &QueuedJob) -> Result<(), QueueError>;

    /// For how many more jobs of any kind there is room.
    fn room(&self) -> usize;

    /// Takes a job to be run.
    fn push(&mut self, now: Time, job: QueuedJob) -> Result<(), QueueError>;

    /// Gives a job back that has not started.
    fn withdraw(&mut self, job: JobId) -> Option<QueuedJob>;

    /// Starts a job if one is to start now, and names it. The caller repeats this until it gets `None`.
    fn start_next(&mut self, now: Time) -> Option<JobId>;

    /// Takes a job that runs already, since `started`: it went on while its scheduler restarted.
    fn resume(&mut self, now: Time, job: QueuedJob, started: Time) -> Result<(), QueueError>;

    /// A job that was started runs no longer.
    fn finish(&mut self, now: Time, job: JobId) -> Result<(), NotRunning>;

    /// Whether it only mirrors a foreign site, which starts jobs itself. Then [`start_next`](Self::start_next) starts
    /// nothing, [`resume`](Self::resume) notes what has started, and what is seen at the site is always taken.
    fn is_mirror(&self) -> bool {
        false
    }

    /// The next time at which a job may start even if no job ends or arrives before.
    fn look_again(&self, now: Time) -> Option<Time>;

    /// Tells when each job, running or waiting, is expected to start and end after this change, in any order. For a
    /// running job the start is the time when it started.
    fn forecast(&self, now: Time, change: Change<'_>, tell: &mut dyn FnMut(Expected));

    /// Names a rule that its state breaks.
    fn check(&self) -> Result<(), Violation>;
}

/// What is different in a forecast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change<'a> {
    /// Nothing.
    None,
    /// This job comes now.
    With(&'a QueuedJob),
    /// This job, which waits, is not there.
    Without(JobId),
}

/// When a job is expected to run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Expected {
    /// The job that is expected to run.
    pub job: JobId,
    /// When it should be done.
    pub deadline: Option<Time>,
    /// When it starts.
    pub start: Time,
    /// When it ends.
    pub end: Time,
}

/// How P3's negative accumulated lateness is read (PROTOCOLS A9).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Lateness {
    /// As printed: the lateness of all jobs of the site. A site with many jobs in time asks less than an idle one.
    Literal,
    /// As printed, but of the jobs that wait only (PROTOCOLS A10).
    Waiting,
    /// What the job adds to the lateness of the others.
    #[default]
    Marginal,
}

/// What a site asks for a job: the time until it is done (P3's ETTC), or its lateness (NAL) if it has a deadline.
pub fn offer<S: LocalScheduler>(site: &S, now: Time, job: &QueuedJob, lateness: Lateness) -> Cost {
    let with = Change::With(job);
    if job.deadline.is_none() {
        return completion(site, now, with, job.job).unwrap_or(Cost::MAX);
    }
    let all = summed(site, now, with, lateness);
    let before = match lateness {
        Lateness::Literal | Lateness::Waiting => 0,
        Lateness::Marginal => summed(site, now, Change::None, lateness),
    };
    Cost::saturating(all.saturating_sub(before))
}

/// What a job costs that waits at a site, in the same terms as [`offer`].
pub fn present_cost<S: LocalScheduler>(
    site: &S,
    now: Time,
    job: &QueuedJob,
    lateness: Lateness,
) -> Option<Cost> {
    if job.deadline.is_none() {
        return completion(site, now, Change::None, job.job);
    }
    let all = summed(site, now, Change::None, lateness);
    let others = match lateness {
        Lateness::Literal | Lateness::Waiting => 0,
        Lateness::Marginal => summed(site, now, Change::Without(job.job), lateness),
    };
    Some(Cost::saturating(all.saturating_sub(others)))
}

/// When a site expects one of its jobs to run, if it has it.
pub fn expected<S: LocalScheduler>(
    site: &S,
    now: Time,
    change: Change<'_>,
    job: JobId,
) -> Option<Expected> {
    let mut found = None;
    site.forecast(now, change, &mut |expected| {
        if expected.job == job {
            found = Some(expected);
        }
    });
    found
}

fn completion<S: LocalScheduler>(
    site: &S,
    now: Time,
    change: Change<'_>,
    job: JobId,
) -> Option<Cost> {
    let end = expected(site, now, change, job)?.end;
    let whole: Span = end - now;
    Some(Cost::saturating(i128::from(whole.as_micros())))
}

fn summed<S: LocalScheduler>(site: &S, now: Time, change: Change<'_>, lateness: Lateness) -> i128 {
    let counts = |start: Time| lateness != Lateness::Waiting || start >= now;
    let mut all = AccumulatedLateness::default();
    site.forecast(now, change, &mut |expected| {
        if counts(expected.start) {
            all.add(expected.deadline, expected.end);
        }
    });
    all.total()
}
