//! The jobs of each organisation.

use std::collections::BTreeMap;

use serde::Serialize;

use super::statistics::Distribution;
use crate::outcome::Outcome;
use crate::run::Run;
use crate::workload::Workload;

/// What became of the jobs of one organisation.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Organisation {
    /// How many jobs were submitted.
    pub submitted: u64,
    /// How many ran to their end.
    pub ran: u64,
    /// How many were refused.
    pub rejected: u64,
    /// How long those that ran had waited, in seconds; `None` if none ran.
    pub wait: Option<Distribution>,
}

impl Organisation {
    /// Each organisation of a run, by its number.
    pub(crate) fn all(workload: &Workload, run: &Run) -> BTreeMap<u32, Self> {
        let mut all: BTreeMap<u32, (Self, Vec<f64>)> = BTreeMap::new();
        for (job, outcome) in workload.jobs.iter().zip(&run.outcomes) {
            let (organisation, waits) = all.entry(job.group).or_default();
            match outcome {
                Outcome::NotSubmitted => continue,
                Outcome::Ran { start, .. } => {
                    organisation.ran += 1;
                    waits.push((*start - job.at).as_micros() as f64 / 1e6);
                }
                Outcome::Rejected(_) => organisation.rejected += 1,
                _ => {}
            }
            organisation.submitted += 1;
        }
        let with_wait = |(number, (organisation, waits)): (u32, (Self, Vec<f64>))| {
            let wait = Distribution::of(waits);
            (
                number,
                Self {
                    wait,
                    ..organisation
                },
            )
        };
        all.into_iter().map(with_wait).collect()
    }
}
