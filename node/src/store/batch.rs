use std::collections::BTreeMap;

use gridweave_core::id::{Epoch, JobId};
use gridweave_core::wire::{NotEncoded, Stored, encode_key, encode_record};
use redb::{ReadableTable, ReadableTableMetadata, WriteTransaction};

use super::{
    ENDED, EndedRow, JOBS, JobRow, MOST_ROWS, RECORDS, SPARE_ROWS, StoreError, USAGE, checksum,
};

/// Changes that become durable together. Of several for one record or job, the last counts.
#[derive(Default)]
pub struct Batch {
    /// What is under these keys from now on, if anything is.
    records: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    jobs: BTreeMap<JobId, JobRow>,
    ended: BTreeMap<(JobId, Epoch), EndedRow>,
}

impl Batch {
    /// Whether nothing is to be written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many changes it has.
    pub fn len(&self) -> usize {
        let rows = self.jobs.len().saturating_add(self.ended.len());
        self.records.len().saturating_add(rows)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A record, which replaces that under the same key.
    pub fn persist<R: Stored>(&mut self, key: &R::Key, record: &R) -> Result<(), NotEncoded> {
        let entry = encode_record(key, record)?;
        let mut checked = checksum(&entry).to_vec();
        checked.extend_from_slice(&entry);
        self.records.insert(encode_key::<R>(key)?, Some(checked));
        Ok(())
    }

    /// The record under this key is not needed any more.
    pub fn forget<R: Stored>(&mut self, key: &R::Key) -> Result<(), NotEncoded> {
        self.records.insert(encode_key::<R>(key)?, None);
        Ok(())
    }

    /// What is known of a job that was submitted here.
    pub fn job(&mut self, job: JobId, row: JobRow) {
        self.jobs.insert(job, row);
    }

    /// An attempt has ended here. Its user is charged for it once, however often this is written.
    pub fn ended(&mut self, job: JobId, attempt: Epoch, row: EndedRow) {
        self.ended.insert((job, attempt), row);
    }

    pub(super) fn write_into(&self, write: &WriteTransaction) -> Result<(), StoreError> {
        if !self.records.is_empty() {
            let mut records = write.open_table(RECORDS)?;
            for (key, entry) in &self.records {
                match entry {
                    Some(entry) => records.insert(key.as_slice(), entry.as_slice())?,
                    None => records.remove(key.as_slice())?,
                };
            }
        }
        if !self.jobs.is_empty() {
            write_jobs(write, &self.jobs)?;
        }
        if !self.ended.is_empty() {
            write_ended(write, &self.ended)?;
        }
        Ok(())
    }
}

fn text(row: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(row).unwrap_or_default()
}

/// When the row ended, if it may be dropped.
fn ended_at(row: &[u8]) -> Option<f64> {
    match serde_json::from_slice::<JobRow>(row) {
        Ok(row) => row.phase.is_last().then(|| row.ended.unwrap_or(0.0)),
        Err(_) => Some(0.0),
    }
}

fn write_jobs(write: &WriteTransaction, rows: &BTreeMap<JobId, JobRow>) -> Result<(), StoreError> {
    let mut jobs = write.open_table(JOBS)?;
    for (job, row) in rows {
        jobs.insert(job.get(), text(row).as_slice())?;
    }
    let too_many = usize::try_from(jobs.len()?).unwrap_or(usize::MAX);
    if too_many > MOST_ROWS + SPARE_ROWS {
        let mut oldest = Vec::new();
        for row in jobs.iter()? {
            let (job, row) = row?;
            if let Some(at) = ended_at(row.value()) {
                oldest.push((at, job.value()));
            }
        }
        oldest.sort_by(|(a, first), (b, second)| a.total_cmp(b).then(first.cmp(second)));
        for (_, job) in oldest.into_iter().take(too_many - MOST_ROWS) {
            jobs.remove(job)?;
        }
    }
    Ok(())
}

fn write_ended(
    write: &WriteTransaction,
    rows: &BTreeMap<(JobId, Epoch), EndedRow>,
) -> Result<(), StoreError> {
    let mut ended = write.open_table(ENDED)?;
    let mut usage = write.open_table(USAGE)?;
    for ((job, attempt), row) in rows {
        let name = (job.get(), attempt.get());
        if ended.get(name)?.is_some() {
            continue;
        }
        ended.insert(name, text(row).as_slice())?;
        let user = (row.organisation, row.user);
        let (attempts, micros) = usage.get(user)?.map_or((0, 0), |sums| sums.value());
        let took = row.ended.saturating_sub(row.began);
        let sums = (attempts.saturating_add(1), micros.saturating_add(took));
        usage.insert(user, sums)?;
    }
    let too_many = usize::try_from(ended.len()?).unwrap_or(usize::MAX);
    if too_many > MOST_ROWS + SPARE_ROWS {
        let mut oldest = Vec::new();
        for row in ended.iter()? {
            let (name, row) = row?;
            let row: Option<EndedRow> = serde_json::from_slice(row.value()).ok();
            oldest.push((row.map_or(0, |row| row.ended), name.value()));
        }
        oldest.sort_unstable();
        for (_, name) in oldest.into_iter().take(too_many - MOST_ROWS) {
            ended.remove(name)?;
        }
    }
    Ok(())
}
