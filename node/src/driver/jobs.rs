use std::collections::BTreeMap;

use gridweave_core::id::JobId;
use gridweave_core::job::{News, Notice, Placement};
use gridweave_core::time::Time;

use crate::control::Answer;
use crate::store::{JobRow, Phase, Store, StoreError};

/// The unfinished jobs that were submitted at this node, and those that have just ended.
pub(super) struct Jobs {
    open: BTreeMap<JobId, JobRow>,
    /// How the last jobs ended, until their submitters are answered.
    ended: BTreeMap<JobId, JobRow>,
}

pub(super) fn seconds(time: Time) -> f64 {
    time.as_micros() as f64 / 1e6
}

impl Jobs {
    pub(super) fn read(store: &Store) -> Result<Self, StoreError> {
        let mut open = BTreeMap::new();
        for (job, row) in store.jobs()? {
            if !row.phase.is_last() {
                open.insert(job, row);
            }
        }
        let ended = BTreeMap::new();
        Ok(Self { open, ended })
    }

    pub(super) fn open(&self) -> impl Iterator<Item = JobId> + '_ {
        self.open.keys().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn add(&mut self, job: JobId, row: JobRow) {
        self.open.insert(job, row);
    }

    pub(super) fn has(&self, job: JobId) -> bool {
        self.open.contains_key(&job)
    }

    pub(super) fn of_user(&self, user: u32) -> usize {
        self.open.values().filter(|row| row.user == user).count()
    }

    pub(super) fn user_of(&self, job: JobId) -> Option<u32> {
        self.open.get(&job).map(|row| row.user)
    }

    /// Notes what a notice says, and returns the row if it is to be written.
    pub(super) fn hear(&mut self, notice: &Notice, now: Time) -> Option<JobRow> {
        let row = self.open.get_mut(&notice.job)?;
        let place = |row: &mut JobRow, placement: &Placement| {
            row.phase = Phase::Placed;
            row.attempt = Some(placement.attempt.get());
            row.start = Some(seconds(placement.start));
            row.placed = placement.nodes.iter().map(ToString::to_string).collect();
        };
        match &notice.news {
            News::Accepted(placement) | News::Moved(placement) => place(row, placement.get()),
            News::Expected { start } => {
                row.phase = Phase::Waiting;
                row.start = Some(seconds(*start));
                row.placed.clear();
            }
            News::Finished => row.phase = Phase::Done,
            News::Cancelled => row.phase = Phase::Cancelled,
            News::Failed(failure) => {
                row.phase = Phase::Failed;
                row.why = Some(failure.to_string());
            }
            _ => return None,
        }
        if row.phase.is_last() {
            row.ended = Some(seconds(now));
        }
        let row = row.clone();
        if row.phase.is_last() {
            self.open.remove(&notice.job);
            if self.ended.len() >= 64 {
                self.ended.pop_first();
            }
            self.ended.insert(notice.job, row.clone());
        }
        Some(row)
    }

    /// What a user is told when a submission is durable. It is refused if all its jobs are.
    pub(super) fn submitted(&mut self, jobs: &[JobId]) -> Answer {
        let refused = jobs.iter().filter_map(|job| match self.ended.remove(job) {
            Some(JobRow {
                phase: Phase::Failed,
                why,
                ..
            }) => Some(format!("{job} is {}", why.unwrap_or_default())),
            _ => None,
        });
        let refused: Vec<String> = refused.collect();
        match (refused.first(), jobs.first()) {
            (Some(why), _) if refused.len() == jobs.len() => Answer::error(why),
            (_, first) => {
                let names: Vec<String> = jobs.iter().map(ToString::to_string).collect();
                let first = first.map(ToString::to_string);
                Answer::ok(serde_json::json!({ "job": first, "jobs": names }))
            }
        }
    }
}
