//! Centralised schedulers that know everything: baselines for the decentralised ones.
//!
//! | scheduler | file | what it does |
//! |---|---|---|
//! | `central-fcfs` | `fcfs`, `mixed` | jobs start strictly in the order of arrival (PROTOCOLS L15) |
//! | `central-easy` | `easy` | the first waiting job has a reservation; others must not delay it (PROTOCOLS 7.1) |
//! | `central-conservative` | `conservative` | every waiting job has a reservation (PROTOCOLS 7.2) |
//! | `central-sjf` | `sjf` | jobs start strictly in the order of their estimates, the shortest first |
//! | `central-greedy` | `greedy`, `mixed` | each job starts as soon as it fits; needs no run times (PROTOCOLS L16) |
//! | `central-bounded` | `bounded`, `mixed` | the same, but a job may pass the first only if it was passed as often (PROTOCOLS L1) |
//!
//! [`simulate`] replays a workload under one of them. It is a pure function, in which only jobs take time.
//! `docs/results/baselines.md` says exactly what each scheduler does.
//!
//! ```
//! use gridweave_core::time::{Span, Time};
//! use gridweave_lab::schedulers::central::{self, Central};
//! use gridweave_lab::grid::Grid;
//! use gridweave_sim::monitor::Monitor;
//! use gridweave_lab::outcome::{Estimates, Outcome};
//! use gridweave_lab::workload::{Submission, Workload};
//!
//! let job = |number, processors, seconds| {
//!     Submission::new(number, Time::ZERO, Span::from_secs(seconds), processors)
//! };
//! // The second job must wait for the first. The third fits beside the first and is gone before the second can start.
//! let jobs = vec![job(1, 3, 60), job(2, 4, 60), job(3, 1, 30)];
//! let workload = Workload { jobs, ..Workload::default() };
//! let grid = Grid::Uniform(4);
//!
//! let run = central::simulate(Central::Easy, &grid, &workload, Estimates::Exact, &Monitor::default())?;
//! let started = |job: usize| match run.outcomes[job] {
//!     Outcome::Ran { start, .. } => start.as_secs(),
//!     _ => unreachable!("all of them fit"),
//! };
//! assert_eq!([started(0), started(1), started(2)], [0, 60, 0]);
//! # Ok::<(), central::Refused>(())
//! ```

mod bounded;
mod conservative;
mod driver;
mod easy;
mod fcfs;
mod greedy;
mod journal;
mod known_fits;
mod mixed;
mod observer;
mod queue;
mod releases;
mod side;
mod sjf;
mod task;

pub use observer::Observer;

use core::fmt;

use gridweave_core::time::Time;

use gridweave_sim::monitor::Monitor;

use crate::grid::Grid;
use crate::outcome::{Estimates, Outcome};
use crate::workload::Workload;
use bounded::Bounded;
use conservative::Conservative;
use driver::drive;
use easy::Easy;
use fcfs::Fcfs;
use greedy::Greedy;
use mixed::{MixedGreedy, Order};
use sjf::Sjf;
use task::Tasks;

/// A centralised scheduler.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Central {
    /// Strictly first come, first served.
    Fcfs,
    /// First come, first served, with aggressive backfilling.
    Easy,
    /// First come, first served, with conservative backfilling.
    Conservative,
    /// Each job starts as soon as it fits.
    Greedy,
    /// Strictly the shortest estimate first.
    Sjf,
    /// Each job starts as soon as it fits, if it was passed at least as often as the first that waits.
    Bounded,
}

impl Central {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Fcfs,
        Self::Easy,
        Self::Conservative,
        Self::Greedy,
        Self::Sjf,
        Self::Bounded,
    ];

    /// Its name on the command line and in output files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fcfs => "central-fcfs",
            Self::Easy => "central-easy",
            Self::Conservative => "central-conservative",
            Self::Greedy => "central-greedy",
            Self::Sjf => "central-sjf",
            Self::Bounded => "central-bounded",
        }
    }

    /// The order in which it starts shares of nodes that differ; `None` if it counts equal processors.
    const fn order_on_mixed(self) -> Option<Order> {
        match self {
            Self::Fcfs => Some(Order::Strict),
            Self::Greedy => Some(Order::Any),
            Self::Bounded => Some(Order::Bounded),
            Self::Easy | Self::Conservative | Self::Sjf => None,
        }
    }

    /// The scheduler of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|central| central.name() == name)
    }
}

impl fmt::Display for Central {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The result of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// What became of each job, in the order of the workload.
    pub outcomes: Vec<Outcome>,
    /// The first planned start of each job: EASY plans for the first job that waits, others when a job starts.
    pub promised: Vec<Option<Time>>,
    /// The node on which each job ran, in the order of the workload; empty for a uniform grid, whose nodes are alike.
    pub nodes: Vec<Option<u32>>,
    /// When the run was stopped, if that was before every job had its outcome.
    pub stopped: Option<Time>,
    /// How many arrivals, starts and ends there were.
    pub events: u64,
    /// The digest of their history: for each its time, its kind and the job's number.
    pub digest: String,
}

/// Why there is no run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refused {
    /// This scheduler counts equal processors, so it cannot use a mixed grid.
    MixedGrid(Central),
    /// There are more jobs than a run can number.
    TooManyJobs,
    /// The sum of all run times is beyond the end of time.
    BeyondTime,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MixedGrid(central) => write!(
                f,
                "{central} needs a grid of equal nodes; for nodes that differ there are central-fcfs, central-greedy and central-bounded"
            ),
            Self::TooManyJobs => f.write_str("the workload has more than 4294967295 jobs"),
            Self::BeyondTime => {
                f.write_str("the workload's times add up to more than time can hold; check them")
            }
        }
    }
}

impl core::error::Error for Refused {}

/// Refuses what [`simulate`] would refuse.
pub fn check(
    central: Central,
    grid: &Grid,
    workload: &Workload,
    estimates: Estimates,
) -> Result<(), Refused> {
    if u32::try_from(workload.jobs.len()).is_err() {
        return Err(Refused::TooManyJobs);
    }
    match grid {
        Grid::Mixed(_) if central.order_on_mixed().is_some() => Ok(()),
        Grid::Mixed(_) => Err(Refused::MixedGrid(central)),
        Grid::Uniform(processors) => {
            let tasks = Tasks::on_uniform(*processors, workload, estimates);
            in_time(&tasks)
        }
    }
}

fn in_time(tasks: &Tasks) -> Result<(), Refused> {
    if tasks.over_by() == Time::MAX {
        return Err(Refused::BeyondTime);
    }
    Ok(())
}

/// Replays the workload under this scheduler.
///
/// If the monitor is told to stop, the run ends at its next report. Jobs that have not ended by then are
/// [`Outcome::Unfinished`] or [`Outcome::NotSubmitted`].
pub fn simulate(
    central: Central,
    grid: &Grid,
    workload: &Workload,
    estimates: Estimates,
    monitor: &Monitor,
) -> Result<Run, Refused> {
    simulate_observed(central, grid, workload, estimates, monitor, &mut ())
}

/// As [`simulate`], with an observer that is told every step.
pub fn simulate_observed(
    central: Central,
    grid: &Grid,
    workload: &Workload,
    estimates: Estimates,
    monitor: &Monitor,
    observer: &mut impl Observer,
) -> Result<Run, Refused> {
    if u32::try_from(workload.jobs.len()).is_err() {
        return Err(Refused::TooManyJobs);
    }
    let processors = match grid {
        // The largest number marks holes in queues, so no job may be that large.
        Grid::Uniform(processors) => (*processors).min(u32::MAX - 1),
        Grid::Mixed(mixed) => {
            let Some(order) = central.order_on_mixed() else {
                return Err(Refused::MixedGrid(central));
            };
            let tasks = Tasks::on_mixed(mixed, workload, estimates);
            let policy = MixedGreedy::new(mixed, workload, estimates, order);
            return Ok(drive(policy, workload, &tasks, monitor, observer));
        }
    };
    let tasks = Tasks::on_uniform(processors, workload, estimates);
    in_time(&tasks)?;
    Ok(match central {
        Central::Fcfs => {
            let policy = Fcfs::new(processors, &tasks);
            drive(policy, workload, &tasks, monitor, observer)
        }
        Central::Easy => {
            let policy = Easy::new(processors, &tasks);
            drive(policy, workload, &tasks, monitor, observer)
        }
        Central::Conservative => {
            let policy = Conservative::new(processors, &tasks);
            drive(policy, workload, &tasks, monitor, observer)
        }
        Central::Greedy => {
            let policy = Greedy::new(processors, &tasks);
            drive(policy, workload, &tasks, monitor, observer)
        }
        Central::Sjf => {
            let policy = Sjf::new(processors, &tasks);
            drive(policy, workload, &tasks, monitor, observer)
        }
        Central::Bounded => {
            let policy = Bounded::new(processors, &tasks);
            drive(policy, workload, &tasks, monitor, observer)
        }
    })
}
