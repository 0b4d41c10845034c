//! The nodes and times of jobs: the data of a Gantt chart.

use gridweave_core::time::Time;
use serde::Serialize;

use super::Packed;
use crate::outcome::{Ending, Outcome};
use crate::results::{Facts, NodeSet, allocations};
use crate::run::Run;

/// What all runs of the same jobs have in common. Times are in milliseconds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct Jobs {
    /// How many there are.
    pub count: u64,
    /// How many nodes there are.
    pub nodes: u64,
    /// Whether several jobs may run on one node at a time.
    pub shared: bool,
    /// What a job takes: `nodes`, or the name of the dimension that jobs share.
    pub unit: String,
    /// For each job, the step from the number of the job before.
    pub numbers: Packed,
    /// For each job, the time since the submission of the job before.
    pub submitted: Packed,
    /// For each job, how many nodes or shared units it takes.
    pub sizes: Packed,
    /// For each job, its estimate.
    pub requested: Packed,
}

fn millis(time: Time) -> u64 {
    time.as_micros() / 1000
}

impl Jobs {
    /// The jobs of a workload.
    pub(crate) fn of(facts: &Facts<'_>) -> Self {
        use crate::grid::Grid;
        use crate::workload::WorkUnit;

        let unit = match (facts.grid, facts.unit()) {
            (Grid::Mixed(mixed), WorkUnit::Share(dimension)) => {
                let mut named = mixed.dimensions.iter();
                let found = named.find(|(own, ..)| *own == dimension);
                found.map_or("units", |(_, name, _)| name).to_owned()
            }
            _ => "nodes".to_owned(),
        };
        let mut jobs = Self {
            count: facts.workload.jobs.len() as u64,
            nodes: facts.nodes(),
            shared: matches!(facts.grid, Grid::Mixed(_)),
            unit,
            ..Self::default()
        };
        let (mut number, mut at) = (0, 0);
        for (index, job) in facts.workload.jobs.iter().enumerate() {
            jobs.numbers.push_step(number, job.number);
            number = job.number;
            jobs.submitted.push(millis(job.at).saturating_sub(at));
            at = millis(job.at);
            jobs.sizes.push(u64::from(facts.weight(index)));
            let told = facts.estimates.apply(job.run_time, job.requested_time);
            jobs.requested.push(told.estimate.as_micros() / 1000);
        }
        jobs
    }

    /// Removes the columns of single jobs, and keeps the totals.
    pub(super) fn forget_each(&mut self) {
        for column in [
            &mut self.numbers,
            &mut self.submitted,
            &mut self.sizes,
            &mut self.requested,
        ] {
            *column = Packed::default();
        }
    }

    /// How many bytes it takes in a page.
    pub(crate) fn size(&self) -> usize {
        let columns = [&self.numbers, &self.submitted, &self.sizes, &self.requested];
        columns.iter().map(|column| column.size()).sum()
    }
}

/// The state of each job in one run, and its nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct Places {
    /// When the run was over, in milliseconds.
    pub over_at: u64,
    /// For each job, the index of its state in `STATES` of `data.js`. The first three are of jobs that started.
    pub states: Packed,
    /// For each job that started, how long it waited and how long it ran, in milliseconds.
    pub times: Packed,
    /// For each job that started, the number of intervals of its nodes. For each interval, the step from the last node
    /// of the interval before to its first node, and its length less one.
    pub nodes: Packed,
}

impl Places {
    /// How many of the states are of jobs that started.
    const STARTED: u64 = 3;

    /// The places of jobs in a run.
    pub(crate) fn of(facts: &Facts<'_>, run: &Run) -> Self {
        let over_at = run.over_at(facts.workload);
        let nodes = u32::try_from(facts.nodes()).unwrap_or(u32::MAX);
        let sets = allocations(run, facts.workload, nodes);
        let mut places = Self {
            over_at: millis(over_at),
            ..Self::default()
        };
        let jobs = facts.workload.jobs.iter().zip(&run.outcomes).zip(&sets);
        for ((job, outcome), set) in jobs {
            let (state, times) = match *outcome {
                Outcome::Ran { start, end, ending } => {
                    let killed = u64::from(ending == Ending::Killed);
                    (killed, Some((start, end)))
                }
                Outcome::Unfinished { start: Some(start) } => (2, Some((start, over_at))),
                Outcome::Unfinished { start: None } => (3, None),
                Outcome::NotSubmitted => (4, None),
                Outcome::Rejected(_) => (5, None),
                Outcome::Failed(_) => (6, None),
                Outcome::Lost => (7, None),
                Outcome::Orphaned => (8, None),
            };
            debug_assert_eq!(state < Self::STARTED, times.is_some());
            places.states.push(state);
            if let Some((start, end)) = times {
                let times = &mut places.times;
                times.push(millis(start).saturating_sub(millis(job.at)));
                times.push(millis(end).saturating_sub(millis(start)));
                places.push_nodes(set);
            }
        }
        places
    }

    fn push_nodes(&mut self, set: &NodeSet) {
        let stretches = set.intervals();
        self.nodes.push(stretches.len() as u64);
        let mut before = 0;
        for &(first, last) in stretches {
            self.nodes.push_step(before, u64::from(first));
            self.nodes.push(u64::from(last - first));
            before = u64::from(last);
        }
    }

    /// How many bytes it takes in a page.
    pub(crate) fn size(&self) -> usize {
        self.states.size() + self.times.size() + self.nodes.size()
    }
}
