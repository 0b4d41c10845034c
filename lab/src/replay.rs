//! Replays a workload through a scheduler that is one machine per node.
//!
//! [`simulate`] submits the jobs of [`Submissions`] to the machines of a [`Simulation`], and returns a [`Run`].
//!
//! ```
//! use gridweave_core::job::{Criterion, Demand};
//! use gridweave_core::time::{Span, Time};
//! use gridweave_lab::grid::Grid;
//! use gridweave_lab::outcome::Estimates;
//! use gridweave_lab::replay::Submissions;
//! use gridweave_lab::workload::{Submission, Workload};
//! use gridweave_sim::hosting::Jobs;
//!
//! // Two processors for a minute, which the trace calls job 70.
//! let jobs = vec![Submission::new(70, Time::ZERO, Span::from_secs(60), 2)];
//! let submissions = Submissions {
//!     grid: &Grid::Uniform(4),
//!     workload: &Workload { jobs, ..Workload::default() },
//!     kinds: None,
//!     estimates: Estimates::Exact,
//!     criterion: Criterion::Soonest,
//! };
//! // What machines get. A job's id is its index, since numbers in traces may repeat.
//! let job = submissions.job(0).unwrap();
//! assert_eq!((job.id.get(), job.estimate()), (0, Span::from_secs(60)));
//! assert!(matches!(job.demand, Demand::Nodes(nodes) if nodes.get() == 2));
//! ```

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use gridweave_core::id::{JobId, NodeId, OrganisationId, UserId};
use gridweave_core::job::{Command, Criterion, Demand, Job, Notice, Retry, Submitter};
use gridweave_core::machine::Machine;
use gridweave_core::resource::Speed;
use gridweave_core::time::{Span, Time};
use gridweave_sim::engine::{Simulated, Simulation};
use gridweave_sim::hosting::{self, Asks, Fate, Jobs, Replay, Rooms, Wish};
use gridweave_sim::monitor::Monitor;

use crate::grid::Grid;
use crate::kinds::Kinds;
use crate::outcome::{Estimates, Outcome};
use crate::picture::{Drawn, Picture};
use crate::run::{Faults, Placement, Run};
use crate::workload::Workload;

/// The most snapshots of a run.
const MOST_PICTURES: usize = 1000;

/// How often a job of an experiment may run again after a node was lost. Users would set it to zero; the papers place
/// lost jobs again.
const RERUNS: u8 = 3;

/// The jobs to replay, and the grid.
#[derive(Clone, Copy, Debug)]
pub struct Submissions<'a> {
    /// The nodes.
    pub grid: &'a Grid,
    /// The jobs.
    pub workload: &'a Workload,
    /// The kinds of nodes, if nodes differ and jobs take them whole.
    pub kinds: Option<&'a Kinds>,
    /// How estimates are made from run times.
    pub estimates: Estimates,
    /// The criterion of all jobs.
    pub criterion: Criterion,
}

impl Jobs for Submissions<'_> {
    fn len(&self) -> usize {
        self.workload.jobs.len()
    }

    fn submitted_at(&self, job: usize) -> Time {
        self.workload.jobs[job].at
    }

    /// The job as machines get it. Its id is its index in the workload, since numbers in traces may repeat.
    fn job(&self, index: usize) -> Option<Job> {
        let submission = &self.workload.jobs[index];
        let demand = match self.grid {
            Grid::Mixed(mixed) => {
                let share = mixed.shares().and_then(|shares| {
                    let taken = self.workload.requirement(index).value(shares)?;
                    NonZeroU32::new(u32::try_from(taken).ok()?)
                });
                Demand::Cores(share.unwrap_or(NonZeroU32::MIN))
            }
            Grid::Uniform(_) => Demand::Nodes(NonZeroU32::new(submission.processors)?),
        };
        let duration = self
            .estimates
            .apply(submission.run_time, submission.requested_time);
        let mut job = Job::new(JobId::new(index as u64), demand, duration.estimate).ok()?;
        job.submitter = Submitter {
            user: UserId::new(submission.user),
            organisation: OrganisationId::new(submission.group),
        };
        job.submitted = submission.at;
        job.criterion = self.criterion;
        job.retry = Retry::OnNodeLoss(RERUNS);
        job.deadline = self.workload.deadlines.get(index).copied();
        if let Some(requirement) = self.workload.requirements.get(index) {
            job.requirement = *requirement;
        }
        Some(job)
    }

    fn wish(&self, job: usize) -> Wish {
        Wish {
            nodes: self.workload.jobs[job].processors,
            takes: match self.grid {
                Grid::Uniform(_) => None,
                Grid::Mixed(_) => Some(Box::new(self.workload.requirement(job))),
            },
            // Torture holds schedulers to what a job allows; `flood` knows no such limit.
            reruns: u32::MAX,
            asks: self
                .kinds
                .and_then(|_| self.job(job))
                .map(|job| Asks::of(&job))
                .unwrap_or_default(),
        }
    }

    fn takes(&self, job: usize, node: NodeId) -> Span {
        let speed = match self.grid {
            Grid::Uniform(_) => Speed::BASELINE,
            Grid::Mixed(mixed) => mixed
                .nodes
                .get(node.get() as usize)
                .map_or(Speed::BASELINE, |profile| profile.speed),
        };
        let submission = &self.workload.jobs[job];
        self.estimates.run_time_on(submission, speed)
    }
}

impl Submissions<'_> {
    fn rooms(&self) -> Rooms {
        match self.grid {
            Grid::Uniform(_) => Rooms::Whole,
            Grid::Mixed(mixed) => Rooms::Shared {
                dimensions: mixed.dimensions.clone(),
                nodes: mixed.nodes.iter().map(|node| node.capability).collect(),
            },
        }
    }

    fn outcome(&self, job: usize, fate: Fate) -> Outcome {
        let submission = &self.workload.jobs[job];
        match fate {
            Fate::Ran { start, end } => Outcome::Ran {
                start,
                end,
                ending: self
                    .estimates
                    .apply(submission.run_time, submission.requested_time)
                    .ending,
            },
            Fate::Rejected(why) => Outcome::Rejected(why),
            Fate::Failed(why) => Outcome::Failed(why),
            Fate::Lost => Outcome::Lost,
            Fate::Orphaned => Outcome::Orphaned,
            Fate::NotSubmitted => Outcome::NotSubmitted,
            Fate::Unfinished { start } => Outcome::Unfinished { start },
        }
    }
}

/// How a node is drawn in a space; `None` if it is in none.
pub type Draw<M> = fn(&M) -> Option<Drawn>;

/// Settings of a replay.
pub struct Hosting<M> {
    /// Decides at which nodes jobs are submitted.
    pub seed: u64,
    /// How often to take a snapshot, and how to draw a node; `None` takes none.
    pub pictures: Option<(Span, Draw<M>)>,
    /// The peers to which a node has links; empty if it keeps none.
    pub neighbours: fn(&M) -> Vec<NodeId>,
    /// What a node counted, by name: a sum over nodes, or the highest if the name begins with `most`.
    pub counts: fn(&M) -> Vec<(&'static str, u64)>,
    /// If nothing happens to any job for so long, the jobs without an outcome count as lost.
    pub patience: Span,
    /// The job whose life is told.
    pub explained: Option<JobId>,
    /// When the replay ends at the latest. Events at this time or later do not happen.
    pub until: Time,
}

/// Replays a workload through the machines of this simulation until every job has its outcome.
///
/// On a stop of the monitor, or at `until`, open jobs become [`Outcome::Unfinished`] or [`Outcome::NotSubmitted`].
pub fn simulate<M>(
    mut simulation: Simulation<M>,
    submissions: Submissions<'_>,
    hosting: &Hosting<M>,
    monitor: &Monitor,
) -> Run
where
    M: Simulated + Machine<Command = Command, Notice = Notice>,
{
    let mut pictures = Vec::new();
    let mut draw = |at: Time, grid: &dyn hosting::Grid| {
        let simulation = grid.as_any().downcast_ref::<Simulation<M>>();
        if let (Some(simulation), Some((_, drawn))) = (simulation, hosting.pictures)
            && pictures.len() < MOST_PICTURES
        {
            let machines = ids(simulation).filter_map(|node| simulation.machine(node));
            pictures.push(Picture {
                at: at.as_micros() as f64 / 1e6,
                nodes: machines.filter_map(drawn).collect(),
            });
        }
    };
    let replay = Replay {
        rooms: submissions.rooms(),
        grounds: submissions.kinds.map(Kinds::grounds),
        seed: hosting.seed,
        patience: hosting.patience,
        until: hosting.until,
        explained: hosting.explained,
        observer: match hosting.pictures {
            Some((every, _)) => Some((every, &mut draw)),
            None => None,
        },
    };
    let replayed = hosting::replay(&mut simulation, &submissions, replay, monitor);
    let in_degrees = in_degrees(&simulation, hosting.neighbours);
    let counts = counts(&simulation, hosting.counts);
    let run = summed_up(&simulation, submissions, &replayed, pictures, in_degrees);
    Run { counts, ..run }
}

fn ids<M: Simulated>(simulation: &Simulation<M>) -> impl Iterator<Item = NodeId> + use<M> {
    (0..simulation.len() as u64).map(NodeId::new)
}

/// For each node that is up, how many links lead to it; empty if nodes keep no links.
fn in_degrees<M: Simulated>(
    simulation: &Simulation<M>,
    neighbours: fn(&M) -> Vec<NodeId>,
) -> Vec<u32> {
    let mut known_by = vec![0_u32; simulation.len()];
    let mut linked = false;
    let up = || ids(simulation).filter_map(|node| Some((node, simulation.machine(node)?)));
    for other in up().flat_map(|(_, machine)| neighbours(machine)) {
        if let Some(count) = known_by.get_mut(other.get() as usize) {
            *count += 1;
            linked = true;
        }
    }
    let known_by = up().map(|(node, _)| known_by[node.get() as usize]);
    if linked {
        known_by.collect()
    } else {
        Vec::new()
    }
}

/// What the nodes counted that are up.
fn counts<M: Simulated>(
    simulation: &Simulation<M>,
    of: fn(&M) -> Vec<(&'static str, u64)>,
) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    let machines = ids(simulation).filter_map(|node| simulation.machine(node));
    for (name, count) in machines.flat_map(of) {
        let so_far: &mut u64 = all.entry(name.to_owned()).or_default();
        *so_far = match name.starts_with("most") {
            true => count.max(*so_far),
            false => count.saturating_add(*so_far),
        };
    }
    all
}

fn summed_up(
    grid: &dyn hosting::Grid,
    submissions: Submissions<'_>,
    replayed: &hosting::Replayed,
    pictures: Vec<Picture>,
    in_degrees: Vec<u32>,
) -> Run {
    let fates = replayed.fates.iter().enumerate();
    let nodes = replayed.nodes.iter().map(|nodes| {
        let numbers = nodes.iter().map(|node| node.get() as u32);
        numbers.collect()
    });
    Run {
        outcomes: fates
            .map(|(job, fate)| submissions.outcome(job, *fate))
            .collect(),
        promised: replayed.promised.clone(),
        placement: Placement::Assigned(nodes.collect()),
        faults: Faults {
            jobs: replayed.faults,
            undelivered: grid.traffic().to_nobody(),
            network: grid.network().mishaps(),
        },
        traffic: grid.traffic().clone(),
        stopped: replayed.stopped,
        ended: replayed.ended,
        pictures,
        in_degrees,
        counts: BTreeMap::new(),
        violations: replayed.violations,
        life: replayed.life.clone(),
        events: grid.events(),
        digest: grid.digest(),
    }
}

#[cfg(test)]
mod tests;
