use alloc::vec::Vec;
use core::fmt;

use super::{NotRunning, QueueError};
use crate::id::JobId;
use crate::job::Job;
use crate::machine::Violation;
use crate::resource::{Pool, Requirement};
use crate::time::Time;

/// A multi-core node that runs as many jobs at once as fit, and the jobs that wait for it.
///
/// Run times are unknown, so nothing tells whether a backfilled job delays another. Instead each waiting job counts how
/// often it was passed: its backfilling counter, BC. A job may pass the head of the queue only if its own counter is no
/// smaller (P4 section IV). While jobs arrive in the order in which they came into the grid and none migrates, two
/// bounds follow (PROTOCOLS L2): counters never increase along the queue, and a job is passed at most as often as it is
/// places ahead of the first job that passes it.
///
/// Jobs wait in the order in which they came into the grid, wherever they waited before (PROTOCOLS L13); of equals, the
/// first to arrive here is first.
///
/// ```
/// use gridweave_core::id::JobId;
/// use gridweave_core::queue::{BackfillQueue, Discipline, Waiting};
/// use gridweave_core::resource::{Dimensions, Kind, Pool, Requirement};
/// use gridweave_core::time::Time;
///
/// let dimensions = Dimensions::new(&[("cores", Kind::Amount)])?;
/// let cores = dimensions.named("cores").unwrap();
/// let quad = dimensions.capability(&[4])?;
/// let mut node = BackfillQueue::new(Pool::new(dimensions, quad), 100);
/// for (id, needs) in [(1, 3), (2, 2), (3, 1)] {
///     let requirement = Requirement::any().with(cores, needs);
///     let submitted = Time::from_secs(id);
///     node.push(Waiting { job: JobId::new(id), requirement, submitted, passed: 0 })?;
/// }
///
/// // Job 1 starts, job 2 does not fit beside it, and job 3 passes job 2.
/// let started: Vec<_> = std::iter::from_fn(|| node.start_next(Discipline::Backfill)).collect();
/// assert_eq!(started, [JobId::new(1), JobId::new(3)]);
/// assert_eq!(node.waiting()[0].passed, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BackfillQueue {
    pool: Pool,
    limit: usize,
    passing: Passing,
    /// Sorted by when they came into the grid; equals by arrival here.
    waiting: Vec<Waiting>,
    /// Sorted by job.
    running: Vec<(JobId, Requirement)>,
}

/// A waiting job; this is also what migrates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Waiting {
    /// The job that waits.
    pub job: JobId,
    /// What it needs.
    pub requirement: Requirement,
    /// When it came into the grid.
    pub submitted: Time,
    /// How often it was passed: P4's BC, which it keeps when it moves.
    pub passed: u32,
}

impl From<&Job> for Waiting {
    /// A job that was not passed yet.
    fn from(job: &Job) -> Self {
        Self {
            job: job.id,
            requirement: job.requirement,
            submitted: job.submitted,
            passed: 0,
        }
    }
}

/// How often a job may be passed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Passing {
    /// A job may pass others only if it was passed at least as often as the head, as in P4, and only while no waiting job
    /// was passed so often already. So no job is passed more often than this, wherever the jobs that pass it come from
    /// (PROTOCOLS L17).
    AtMost(u32),
    /// Any job may pass any other: for comparison.
    Unbounded,
}

/// Which waiting jobs may start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Discipline {
    /// Only the head, when it fits: P4's Vanilla (PROTOCOLS L15).
    HeadOnly,
    /// The head when it fits, else the best that may pass it: P4's local scheduling.
    Backfill,
}

/// Why a migrant does not start here. Nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum MigrantRefusal {
    /// The head of the queue was passed more often than the migrant.
    HeadPassedMore,
    /// What it needs is not free.
    NoRoom,
    /// It is in the queue or running already.
    Known,
    /// There is no room for another job.
    Full,
}

impl BackfillQueue {
    /// An idle node for at most `limit` jobs, waiting and running.
    pub const fn new(pool: Pool, limit: usize) -> Self {
        Self {
            pool,
            limit,
            passing: Passing::AtMost(u32::MAX),
            waiting: Vec::new(),
            running: Vec::new(),
        }
    }

    /// The same queue with another bound on passing; [`new`](Self::new) has that of P4 alone.
    #[must_use]
    pub fn with_passing(self, passing: Passing) -> Self {
        Self { passing, ..self }
    }

    /// What the node has and has left.
    pub const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The jobs that wait, in order.
    pub fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    /// The jobs that run, by id, and what each uses.
    pub fn running(&self) -> &[(JobId, Requirement)] {
        &self.running
    }

    /// P4's NBC: how often the head of the queue was passed; zero if the queue is empty (PROTOCOLS L1). The highest number
    /// if a waiting job must not be passed any more.
    pub fn head_passed(&self) -> u32 {
        match self.passing {
            Passing::Unbounded => 0,
            Passing::AtMost(most) if self.waiting.iter().any(|job| job.passed >= most) => NEVER,
            Passing::AtMost(_) => self.waiting.first().map_or(0, |head| head.passed),
        }
    }

    /// Lets a job wait here, with the counter it brings.
    pub fn push(&mut self, job: Waiting) -> Result<(), QueueError> {
        if self.knows(job.job) {
            return Err(QueueError::Known);
        }
        if !self.pool.suits(&job.requirement) {
            return Err(QueueError::Unsuitable);
        }
        if self.len()
            >= self
                .limit
                .saturating_add(usize::from(canary!(QueueOneTooLong)))
        {
            return Err(QueueError::Full);
        }
        let index = self
            .waiting
            .partition_point(|other| other.submitted <= job.submitted);
        self.waiting.insert(index, job);
        Ok(())
    }

    /// Takes a waiting job out, to wait elsewhere or never to run.
    pub fn remove(&mut self, job: JobId) -> Option<Waiting> {
        let index = self.waiting.iter().position(|waiting| waiting.job == job)?;
        Some(self.waiting.remove(index))
    }

    /// Starts one waiting job, if one may start now: the head, or under [`Discipline::Backfill`] the best-scoring job
    /// that fits and was passed no less often than the head. Every job that stood ahead of it counts one more pass.
    pub fn start_next(&mut self, discipline: Discipline) -> Option<JobId> {
        let head = self.waiting.first()?;
        let index = if self.pool.fits(&head.requirement) {
            0
        } else if discipline == Discipline::HeadOnly {
            return None;
        } else {
            best(&self.waiting, &self.pool, self.head_passed())?
        };
        let job = *self.waiting.get(index)?;
        self.run(&job).ok()?;
        self.waiting.remove(index);
        let passed = if canary!(PassingNotCounted) { 0 } else { index };
        for passed in self.waiting.iter_mut().take(passed) {
            passed.passed = passed.passed.saturating_add(1);
        }
        Some(job.job)
    }

    /// The job to offer to a node that pulls: of the waiting jobs that could start there at once and may pass its head,
    /// the job that fills that node best (PROTOCOLS L1: BC at least the target's NBC; L6).
    pub fn best_for(&self, target: &Pool, target_head_passed: u32) -> Option<&Waiting> {
        self.waiting
            .get(best(&self.waiting, target, target_head_passed)?)
    }

    /// Starts a job that comes from another node because it can start here at once. Every job that waits here counts
    /// one more pass (PROTOCOLS L3).
    pub fn start_migrant(&mut self, job: &Waiting) -> Result<(), MigrantRefusal> {
        if self.knows(job.job) {
            return Err(MigrantRefusal::Known);
        }
        if !may_pass(job.passed, self.head_passed()) {
            return Err(MigrantRefusal::HeadPassedMore);
        }
        if self.len() >= self.limit {
            return Err(MigrantRefusal::Full);
        }
        self.run(job)?;
        for passed in &mut self.waiting {
            passed.passed = passed.passed.saturating_add(1);
        }
        Ok(())
    }

    /// Takes a job that runs already: it went on while its scheduler restarted. It passes no job.
    pub fn resume(&mut self, job: &Waiting) -> Result<(), MigrantRefusal> {
        if self.knows(job.job) {
            return Err(MigrantRefusal::Known);
        }
        if self.len() >= self.limit {
            return Err(MigrantRefusal::Full);
        }
        self.run(job)
    }

    /// Frees what an ended job used.
    pub fn finish(&mut self, job: JobId) -> Result<(), NotRunning> {
        let index = self
            .running
            .binary_search_by_key(&job, |(id, _)| *id)
            .map_err(|_| NotRunning)?;
        let (_, requirement) = self.running.remove(index);
        let returned = self.pool.give_back(&requirement);
        debug_assert!(returned.is_ok(), "a running job took what it now returns");
        Ok(())
    }

    /// Names a rule that this queue breaks.
    pub fn check(&self) -> Result<(), Violation> {
        Violation::unless(
            self.waiting.is_sorted_by_key(|job| job.submitted),
            "waiting jobs stand in the order of their arrival in the grid",
        )?;
        Violation::unless(
            self.running.is_sorted_by(|a, b| a.0 < b.0),
            "running jobs are sorted and distinct",
        )?;
        let waits_once = |job: &Waiting| {
            let twins = self.waiting.iter().filter(|other| other.job == job.job);
            twins.count() == 1 && !self.runs(job.job)
        };
        Violation::unless(
            self.waiting.iter().all(waits_once),
            "a job waits or runs, and once",
        )?;
        let mut pool = Pool::new(self.pool.dimensions().clone(), *self.pool.total());
        let fit = self
            .running
            .iter()
            .all(|(_, requirement)| pool.take(requirement).is_ok());
        Violation::unless(
            fit && pool == self.pool,
            "running jobs use exactly what the node has not free",
        )?;
        Violation::unless(self.len() <= self.limit, "a queue keeps within its limit")
    }

    fn run(&mut self, job: &Waiting) -> Result<(), MigrantRefusal> {
        let index = self.running.binary_search_by_key(&job.job, |(id, _)| *id);
        let Err(index) = index else {
            return Err(MigrantRefusal::Known);
        };
        self.pool
            .take(&job.requirement)
            .map_err(|_| MigrantRefusal::NoRoom)?;
        self.running.insert(index, (job.job, job.requirement));
        Ok(())
    }

    fn knows(&self, job: JobId) -> bool {
        self.runs(job) || self.waiting.iter().any(|waiting| waiting.job == job)
    }

    fn runs(&self, job: JobId) -> bool {
        self.running
            .binary_search_by_key(&job, |(id, _)| *id)
            .is_ok()
    }

    fn len(&self) -> usize {
        self.waiting.len().saturating_add(self.running.len())
    }
}

/// [`BackfillQueue::head_passed`] of a queue with a job that must not be passed any more.
const NEVER: u32 = u32::MAX;

/// Whether a job that was passed so often may pass the jobs of a queue with this [`BackfillQueue::head_passed`].
pub(crate) fn may_pass(passed: u32, head_passed: u32) -> bool {
    head_passed != NEVER && passed >= head_passed
}

/// The index of the best-scoring job that fits and was passed at least this often; ties by arrival.
fn best(waiting: &[Waiting], pool: &Pool, least_passed: u32) -> Option<usize> {
    waiting
        .iter()
        .enumerate()
        .filter(|(_, job)| may_pass(job.passed, least_passed))
        .filter_map(|(index, job)| Some((pool.score(&job.requirement)?, index)))
        .min()
        .map(|(_, index)| index)
}

impl fmt::Display for MigrantRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HeadPassedMore => "the head of the queue was passed more often",
            Self::NoRoom => "what the job needs is not free",
            Self::Known => "the job is queued or running already",
            Self::Full => "the queue is full",
        })
    }
}

impl core::error::Error for MigrantRefusal {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{Dimensions, Kind};

    #[test]
    fn a_job_that_was_passed_so_often_is_passed_no_more() {
        let dimensions = Dimensions::new(&[("cores", Kind::Amount)]).unwrap();
        let cores = dimensions.named("cores").unwrap();
        let total = dimensions.capability(&[4]).unwrap();
        let waiting = |id: u64, count: u64, passed: u32| Waiting {
            job: JobId::new(id),
            requirement: Requirement::any().with(cores, count),
            submitted: Time::from_secs(id),
            passed,
        };
        for (passing, last) in [
            (Passing::AtMost(3), Err(MigrantRefusal::HeadPassedMore)),
            (Passing::AtMost(4), Ok(())),
            (Passing::Unbounded, Ok(())),
        ] {
            let pool = Pool::new(dimensions.clone(), total);
            let mut queue = BackfillQueue::new(pool, 10).with_passing(passing);
            for job in [waiting(1, 1, 0), waiting(2, 4, 0)] {
                queue.push(job).unwrap();
            }
            assert_eq!(queue.start_next(Discipline::Backfill), Some(JobId::new(1)));
            for id in 3..6 {
                let migrant = waiting(id, 1, 9);
                assert_eq!(queue.start_migrant(&migrant), Ok(()));
                queue.finish(migrant.job).unwrap();
            }
            assert_eq!(queue.start_migrant(&waiting(6, 1, 9)), last, "{passing:?}");
            // A job that was never passed passes one that was only if there is no bound.
            let passes = queue.start_migrant(&waiting(7, 1, 0)).is_ok();
            assert_eq!(passes, passing == Passing::Unbounded);
        }
    }

    #[test]
    fn a_broken_queue_is_named() {
        let dimensions = Dimensions::new(&[("cores", Kind::Amount)]).unwrap();
        let cores = dimensions.named("cores").unwrap();
        let total = dimensions.capability(&[4]).unwrap();
        let mut queue = BackfillQueue::new(Pool::new(dimensions, total), 2);
        let requirement = Requirement::any().with(cores, 1);
        for id in [1, 2] {
            let submitted = Time::from_secs(id);
            queue
                .push(Waiting {
                    job: JobId::new(id),
                    requirement,
                    submitted,
                    passed: 0,
                })
                .unwrap();
        }
        let named = |queue: &BackfillQueue| queue.check().unwrap_err().invariant;
        queue.limit = 1;
        assert_eq!(named(&queue), "a queue keeps within its limit");
        queue.waiting.reverse();
        assert!(named(&queue).starts_with("waiting jobs stand in the order"));
        queue.waiting = Vec::from([queue.waiting[0]; 2]);
        assert_eq!(named(&queue), "a job waits or runs, and once");
        queue.waiting.pop();
        queue.pool.take(&requirement).unwrap();
        queue.running.push((queue.waiting[0].job, requirement));
        assert_eq!(named(&queue), "a job waits or runs, and once");
        queue.running.clear();
        queue.pool.give_back(&requirement).unwrap();
        queue.waiting.clear();
        queue.running.push((JobId::new(1), requirement));
        assert!(named(&queue).starts_with("running jobs use exactly"));
        queue.running.push((JobId::new(1), requirement));
        assert_eq!(named(&queue), "running jobs are sorted and distinct");
    }
}
