use gridweave_core::id::{Epoch, JobId};
use gridweave_core::wire::{NotEncoded, Stored, encode_key, encode_record};
use redb::{ReadableTable, ReadableTableMetadata, WriteTransaction};

use super::{ENDED, EndedRow, JOBS, JobRow, MOST_ROWS, RECORDS, StoreError, USAGE, checksum};

/// Changes that become durable together.
#[derive(Default)]
pub struct Batch {
    changes: Vec<Change>,
}

enum Change {
    Put(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
    Job(JobId, JobRow),
    Ended(JobId, Epoch, EndedRow),
}

impl Batch {
    /// Whether nothing is to be written.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// How many changes it has.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) fn clear(&mut self) {
        self.changes.clear();
    }

    /// A record, which replaces that under the same key.
    pub fn persist<R: Stored>(&mut self, key: &R::Key, record: &R) -> Result<(), NotEncoded> {
        let entry = encode_record(key, record)?;
        let mut checked = checksum(&entry).to_vec();
        checked.extend_from_slice(&entry);
        self.changes
            .push(Change::Put(encode_key::<R>(key)?, checked));
        Ok(())
    }

    /// The record under this key is not needed any more.
    pub fn forget<R: Stored>(&mut self, key: &R::Key) -> Result<(), NotEncoded> {
        self.changes.push(Change::Remove(encode_key::<R>(key)?));
        Ok(())
    }

    /// What is known of a job that was submitted here.
    pub fn job(&mut self, job: JobId, row: JobRow) {
        self.changes.push(Change::Job(job, row));
    }

    /// An attempt has ended here. Its user is charged for it once, however often this is written.
    pub fn ended(&mut self, job: JobId, attempt: Epoch, row: EndedRow) {
        self.changes.push(Change::Ended(job, attempt, row));
    }

    pub(super) fn write_into(&self, write: &WriteTransaction) -> Result<(), StoreError> {
        let mut records = write.open_table(RECORDS)?;
        for change in &self.changes {
            match change {
                Change::Put(key, entry) => {
                    records.insert(key.as_slice(), entry.as_slice())?;
                }
                Change::Remove(key) => {
                    records.remove(key.as_slice())?;
                }
                Change::Job(job, row) => write_job(write, *job, row)?,
                Change::Ended(job, attempt, row) => write_ended(write, *job, *attempt, row)?,
            }
        }
        Ok(())
    }
}

fn text(row: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(row).unwrap_or_default()
}

fn write_job(write: &WriteTransaction, job: JobId, row: &JobRow) -> Result<(), StoreError> {
    let mut jobs = write.open_table(JOBS)?;
    jobs.insert(job.get(), text(row).as_slice())?;
    let too_many = jobs.len()? > MOST_ROWS as u64;
    if too_many && row.phase.is_last() {
        let mut oldest: Option<(f64, u64)> = None;
        for other in jobs.iter()? {
            let (job, other) = other?;
            let row: Option<JobRow> = serde_json::from_slice(other.value()).ok();
            let ended = match row {
                Some(row) if !row.phase.is_last() => continue,
                Some(row) => row.ended.unwrap_or(0.0),
                None => 0.0,
            };
            if oldest.is_none_or(|(first, _)| ended < first) {
                oldest = Some((ended, job.value()));
            }
        }
        if let Some((_, job)) = oldest {
            jobs.remove(job)?;
        }
    }
    Ok(())
}

fn write_ended(
    write: &WriteTransaction,
    job: JobId,
    attempt: Epoch,
    row: &EndedRow,
) -> Result<(), StoreError> {
    let mut ended = write.open_table(ENDED)?;
    let name = (job.get(), attempt.get());
    if ended.get(name)?.is_some() {
        return Ok(());
    }
    ended.insert(name, text(row).as_slice())?;
    let mut usage = write.open_table(USAGE)?;
    let user = (row.organisation, row.user);
    let (attempts, micros) = usage.get(user)?.map_or((0, 0), |sums| sums.value());
    let took = row.ended.saturating_sub(row.began);
    let sums = (attempts.saturating_add(1), micros.saturating_add(took));
    usage.insert(user, sums)?;
    if ended.len()? > MOST_ROWS as u64 {
        let mut oldest: Option<(u64, (u64, u64))> = None;
        for other in ended.iter()? {
            let (name, other) = other?;
            let row: Option<EndedRow> = serde_json::from_slice(other.value()).ok();
            let at = row.map_or(0, |row| row.ended);
            if oldest.is_none_or(|(first, _)| at < first) {
                oldest = Some((at, name.value()));
            }
        }
        if let Some((_, name)) = oldest {
            ended.remove(name)?;
        }
    }
    Ok(())
}
