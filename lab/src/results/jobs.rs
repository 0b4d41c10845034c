//! `jobs.csv`: one row per job, in the columns that Batsim's tools read.

use std::fmt;
use std::io::{self, Write};

use gridweave_core::time::{Span, Time};

use super::Facts;
use super::allocation::allocations;
use crate::outcome::{Ending, Outcome};
use crate::run::Run;

const COLUMNS: [&str; 17] = [
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
];

/// A time in seconds, exact: with as many decimals as it needs.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        write!(f, "{whole}")?;
        if micros > 0 {
            let mut digits = 6;
            while micros.is_multiple_of(10) {
                micros /= 10;
                digits -= 1;
            }
            write!(f, ".{micros:0digits$}")?;
        }
        Ok(())
    }
}

/// What became of a job, in the words of Batsim.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FinalState {
    /// It ran to its end.
    Completed,
    /// It was killed when its requested time was over.
    Killed,
    /// It was refused.
    Rejected,
    /// It was accepted, and failed or got no outcome.
    Failed,
    /// The run was stopped before it was submitted.
    NotSubmitted,
    /// The run was stopped while it ran.
    Running,
    /// The run was stopped while it waited.
    Submitted,
}

impl FinalState {
    /// All of them; each is at the index that it has as a number.
    pub const ALL: [Self; 7] = [
        Self::Completed,
        Self::Killed,
        Self::Rejected,
        Self::Failed,
        Self::NotSubmitted,
        Self::Running,
        Self::Submitted,
    ];

    /// Its name in `jobs.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "COMPLETED_SUCCESSFULLY",
            Self::Killed => "COMPLETED_WALLTIME_REACHED",
            Self::Rejected => "REJECTED",
            Self::Failed => "COMPLETED_FAILED",
            Self::NotSubmitted => "NOT_SUBMITTED",
            Self::Running => "RUNNING",
            Self::Submitted => "SUBMITTED",
        }
    }
}

/// A row of `jobs.csv`, without the nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobRow {
    /// The number of the job in its trace.
    pub number: u64,
    /// When it was submitted.
    pub submitted: Time,
    /// How many nodes, or cores where jobs share nodes, it takes.
    pub size: u32,
    /// How long the scheduler was told that it runs.
    pub requested: Span,
    /// What became of it.
    pub state: FinalState,
    /// When it started, if it did.
    pub start: Option<Time>,
    /// When it ended, if it did.
    pub end: Option<Time>,
}

impl JobRow {
    /// The row of the job with this index.
    pub fn of(facts: &Facts<'_>, run: &Run, index: usize) -> Self {
        let job = &facts.workload.jobs[index];
        let (state, start, end) = match run.outcomes[index] {
            Outcome::Ran { start, end, ending } => {
                let state = match ending {
                    Ending::Completed => FinalState::Completed,
                    Ending::Killed => FinalState::Killed,
                };
                (state, Some(start), Some(end))
            }
            Outcome::Rejected(_) => (FinalState::Rejected, None, None),
            Outcome::Failed(_) | Outcome::Lost | Outcome::Orphaned => {
                (FinalState::Failed, None, None)
            }
            Outcome::NotSubmitted => (FinalState::NotSubmitted, None, None),
            Outcome::Unfinished { start: None } => (FinalState::Submitted, None, None),
            Outcome::Unfinished { start } => (FinalState::Running, start, None),
        };
        let told = facts.estimates.apply(job.run_time, job.requested_time);
        Self {
            number: job.number,
            submitted: job.at,
            size: facts.weight(index),
            requested: told.estimate,
            state,
            start,
            end,
        }
    }

    /// How long it waited, if it started.
    pub fn wait(&self) -> Option<Span> {
        self.start.map(|start| start - self.submitted)
    }

    /// How long it ran, if it ended.
    pub fn execution(&self) -> Option<Span> {
        self.start.zip(self.end).map(|(start, end)| end - start)
    }

    /// The time from its submission to its end, if it ended.
    pub fn turnaround(&self) -> Option<Span> {
        self.end.map(|end| end - self.submitted)
    }

    /// Turnaround divided by run time, if it ended.
    pub fn stretch(&self) -> Option<f64> {
        let (turnaround, execution) = self.turnaround().zip(self.execution())?;
        Some(turnaround.as_micros() as f64 / execution.as_micros() as f64)
    }
}

/// Writes a row for each job of the workload, in its order.
///
/// A field is empty if it did not happen: the times of a job that never started, the end of one that still runs.
pub fn write_jobs(facts: &Facts<'_>, run: &Run, to: impl Write) -> io::Result<()> {
    let nodes = u32::try_from(facts.nodes()).unwrap_or(u32::MAX);
    let sets = allocations(run, facts.workload, nodes);
    let mut csv = csv::Writer::from_writer(to);
    csv.write_record(COLUMNS)?;
    let some = |span: Option<Span>| {
        span.map(|span| Seconds(span.as_micros()).to_string())
            .unwrap_or_default()
    };
    let since_origin = |time: Option<Time>| some(time.map(|time| time - Time::ZERO));
    for (index, set) in sets.iter().enumerate() {
        let row = JobRow::of(facts, run, index);
        let stretch = row.stretch().map(|stretch| format!("{stretch:.6}"));
        csv.write_record([
            row.number.to_string(),
            facts.workload.name.clone(),
            String::new(),
            since_origin(Some(row.submitted)),
            row.size.to_string(),
            some(Some(row.requested)),
            u8::from(row.state == FinalState::Completed).to_string(),
            row.state.name().into(),
            since_origin(row.start),
            some(row.execution()),
            since_origin(row.end),
            some(row.wait()),
            some(row.turnaround()),
            stretch.unwrap_or_default(),
            set.to_string(),
            "-1".into(),
            String::new(),
        ])?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact_and_short() {
        for (micros, text) in [
            (0, "0"),
            (1, "0.000001"),
            (1_500_000, "1.5"),
            (60_000_000, "60"),
            (1_000_010, "1.00001"),
        ] {
            assert_eq!(Seconds(micros).to_string(), text);
        }
    }
}
