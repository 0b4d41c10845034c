//! Centralised schedulers written straight from their rules, tick by tick, too slow to use and too simple to be wrong.
//!
//! Each knows nothing of `gridweave-sim`: it asks its rule at every tick, whether anything happened or not, and works
//! out everything anew from the list of jobs that run. The suites `central` and `central_mixed` in `tests/tests` hold
//! the simulator to the same starts and the same promises.

mod conservative;
mod easy;
mod fcfs;
mod greedy;
mod sjf;

pub use conservative::{Compression, conservative};
pub use easy::{Passing, easy};
pub use fcfs::{Order, fcfs};
pub use greedy::{Desktop, Part, greedy, greedy_on_desktops};
pub use sjf::sjf;

/// A job: times and lengths are in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// When it arrives; jobs are listed in this order.
    pub at: u64,
    /// How many processors it takes.
    pub size: u32,
    /// How long the scheduler thinks it takes.
    pub estimate: u64,
    /// How long it takes; never longer than the estimate.
    pub actual: u64,
}

/// What a scheduler did and meant to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// When each job started; `None` if it was rejected.
    pub starts: Vec<Option<u64>>,
    /// The promised starts, in the order in which they were made. A promise that repeats the last one is left out.
    pub promises: Vec<Promise>,
    /// The last promise to each job.
    told: Vec<Option<u64>>,
}

/// A job is promised a latest start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Promise {
    /// When the promise is made.
    pub now: u64,
    /// The index of the job in the list.
    pub job: usize,
    /// The latest start of the job.
    pub start: u64,
}

impl Plan {
    /// A plan for `jobs` jobs, none of which has started.
    pub fn new(jobs: usize) -> Self {
        Self {
            starts: vec![None; jobs],
            promises: Vec::new(),
            told: vec![None; jobs],
        }
    }

    /// Adds a promise, unless it repeats the last one to this job.
    pub fn promise(&mut self, now: u64, job: usize, start: u64) {
        if self.told[job].replace(start) != Some(start) {
            self.promises.push(Promise { now, job, start });
        }
    }

    /// Whether all jobs have started, but for those that are too large.
    fn is_complete(&self, jobs: &[Job], processors: u32) -> bool {
        let mut all = jobs.iter().zip(&self.starts);
        all.all(|(job, start)| start.is_some() || job.size > processors)
    }

    /// The jobs that have arrived, are not too large and have not started, in the order of arrival.
    fn waiting(&self, jobs: &[Job], processors: u32, now: u64) -> Vec<usize> {
        let waits = |&job: &usize| {
            jobs[job].at <= now && jobs[job].size <= processors && self.starts[job].is_none()
        };
        (0..jobs.len()).filter(waits).collect()
    }

    /// How many processors are free now.
    fn free(&self, jobs: &[Job], processors: u32, now: u64) -> u32 {
        let runs = |(job, start): (&Job, &Option<u64>)| {
            let running = start.is_some_and(|start| start <= now && now < start + job.actual);
            if running { job.size } else { 0 }
        };
        let used: u32 = jobs.iter().zip(&self.starts).map(runs).sum();
        processors - used
    }
}

/// Every tick until all jobs would be over even if they ran one after another.
fn ticks(jobs: &[Job]) -> std::ops::Range<u64> {
    let last = jobs.iter().map(|job| job.at).max().unwrap_or(0);
    let longest: u64 = jobs.iter().map(|job| job.estimate).sum();
    0..last + longest + 1
}
