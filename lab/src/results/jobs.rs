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

/// When a job started and ended, if it did.
struct Times {
    start: Option<Time>,
    end: Option<Time>,
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
    for (index, (job, outcome)) in facts.workload.jobs.iter().zip(&run.outcomes).enumerate() {
        let (state, times) = match *outcome {
            Outcome::Ran { start, end, ending } => {
                let state = match ending {
                    Ending::Completed => "COMPLETED_SUCCESSFULLY",
                    Ending::Killed => "COMPLETED_WALLTIME_REACHED",
                };
                (
                    state,
                    Times {
                        start: Some(start),
                        end: Some(end),
                    },
                )
            }
            Outcome::Rejected(_) => (
                "REJECTED",
                Times {
                    start: None,
                    end: None,
                },
            ),
            Outcome::Failed(_) | Outcome::Lost | Outcome::Orphaned => (
                "COMPLETED_FAILED",
                Times {
                    start: None,
                    end: None,
                },
            ),
            Outcome::NotSubmitted => (
                "NOT_SUBMITTED",
                Times {
                    start: None,
                    end: None,
                },
            ),
            Outcome::Unfinished { start } => {
                let state = if start.is_some() {
                    "RUNNING"
                } else {
                    "SUBMITTED"
                };
                (state, Times { start, end: None })
            }
        };
        let success = u8::from(state == "COMPLETED_SUCCESSFULLY").to_string();
        let wait = times.start.map(|start| start - job.at);
        let execution = times.start.zip(times.end).map(|(start, end)| end - start);
        let turnaround = times.end.map(|end| end - job.at);
        let stretch = turnaround.zip(execution).map(|(turnaround, execution)| {
            format!(
                "{:.6}",
                turnaround.as_micros() as f64 / execution.as_micros() as f64
            )
        });
        let since_origin = |time: Option<Time>| some(time.map(|time| time - Time::ZERO));
        let estimate = facts
            .estimates
            .apply(job.run_time, job.requested_time)
            .estimate;
        csv.write_record([
            job.number.to_string(),
            facts.workload.name.clone(),
            String::new(),
            since_origin(Some(job.at)),
            facts.weight(index).to_string(),
            some(Some(estimate)),
            success,
            state.into(),
            since_origin(times.start),
            some(execution),
            since_origin(times.end),
            some(wait),
            some(turnaround),
            stretch.unwrap_or_default(),
            sets[index].to_string(),
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
