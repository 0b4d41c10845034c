//! What a node must not forget: one file, in which a batch of changes becomes durable at once.
//!
//! The file has the machine's records, the jobs that were submitted at this node, the attempts that ended here, and
//! sums of what each user had. It names its format, its node and its scheduler: a store of another node or of a later
//! program is refused by name, and so is a damaged one. Each record has a checksum of its own, because the file's are
//! compared only after a crash.

mod batch;
mod error;
mod rows;
#[cfg(test)]
mod tests;

pub use batch::Batch;
pub use error::StoreError;
pub use rows::{EndedRow, JobRow, Phase, UsageRow};

use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::wire::{Stored, decode_record};
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use ring::digest;

/// The format of the file. Another one is refused.
const FORMAT: &str = "gridweave-node store, format 1";

const ABOUT: TableDefinition<'static, &str, &str> = TableDefinition::new("about");
const RECORDS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("records");
const JOBS: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("jobs");
const ENDED: TableDefinition<'static, (u64, u64), &[u8]> = TableDefinition::new("ended");
const USAGE: TableDefinition<'static, (u32, u32), (u64, u64)> = TableDefinition::new("usage");

/// The bytes of a checksum before each record.
const CHECKSUM: usize = 8;

/// The most finished jobs and ended attempts that are kept. The oldest go first.
pub const MOST_ROWS: usize = 10_000;

/// How many more there may be until the oldest are looked for, which takes long.
const SPARE_ROWS: usize = MOST_ROWS / 10;

/// The room for pages of the file in memory.
const CACHE: usize = 1 << 20;

/// Whose store it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    /// The node.
    pub node: NodeId,
    /// The name of its scheduler.
    pub scheduler: &'static str,
}

/// The store of a node, which only one process can have open.
pub struct Store {
    database: Database,
    file: PathBuf,
}

/// A record under its key.
pub type Entry<R> = (<R as Stored>::Key, R);

impl Store {
    /// Opens the store in this file, or makes a new one.
    pub fn open(file: &Path, owner: Owner) -> Result<Self, StoreError> {
        let database = opened(file, |file| {
            let mut builder = Database::builder();
            builder.set_cache_size(CACHE).create(file)
        })?;
        let store = Self {
            database,
            file: file.to_owned(),
        };
        // It has what users run.
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(file, private).map_err(|error| StoreError::Io {
            file: file.to_owned(),
            error,
        })?;
        store.guarded(|store| store.claim(owner))?;
        Ok(store)
    }

    /// Compares what the file says of itself; writes it into a new file.
    fn claim(&self, owner: Owner) -> Result<(), StoreError> {
        let node = owner.node.to_string();
        let own = [
            ("format", FORMAT),
            ("node", &node),
            ("scheduler", owner.scheduler),
        ];
        let write = self.database.begin_write()?;
        {
            let mut about = write.open_table(ABOUT)?;
            let is_new = about.is_empty()?;
            for (what, expected) in own {
                let found = about.get(what)?.map(|found| found.value().to_owned());
                match found {
                    Some(found) if found == expected => {}
                    None if is_new => {
                        about.insert(what, expected)?;
                    }
                    found => return Err(self.foreign(what, found, expected)),
                }
            }
            write.open_table(RECORDS)?;
            write.open_table(JOBS)?;
            write.open_table(ENDED)?;
            write.open_table(USAGE)?;
        }
        write.commit()?;
        Ok(())
    }

    fn foreign(&self, what: &'static str, found: Option<String>, expected: &str) -> StoreError {
        StoreError::Foreign {
            file: self.file.clone(),
            what,
            found: found.unwrap_or_else(|| "nothing".to_owned()),
            expected: expected.to_owned(),
        }
    }

    /// Makes all changes of a batch durable at once. If this fails, none of them has happened, and the node must stop.
    pub fn commit(&self, batch: &mut Batch) -> Result<(), StoreError> {
        let mut write = self.database.begin_write()?;
        if canary!("record-not-synced") {
            // If that fails, the mistake is not made, and the test bed says that it was not noticed.
            let _ = write.set_durability(redb::Durability::None);
        }
        batch.write_into(&write)?;
        write.commit()?;
        batch.clear();
        Ok(())
    }

    /// All records of the machine.
    pub fn records<R: Stored>(&self) -> Result<Vec<Entry<R>>, StoreError> {
        self.guarded(Self::read_records)
    }

    fn read_records<R: Stored>(&self) -> Result<Vec<Entry<R>>, StoreError> {
        let table = self.database.begin_read()?.open_table(RECORDS)?;
        let mut records = Vec::new();
        for row in table.iter()? {
            let (_, entry) = row?;
            records.push(self.record(entry.value())?);
        }
        Ok(records)
    }

    fn record<R: Stored>(&self, entry: &[u8]) -> Result<Entry<R>, StoreError> {
        let corrupt = |what: String| StoreError::Corrupt {
            file: self.file.clone(),
            what,
        };
        let (sum, entry) = entry
            .split_at_checked(CHECKSUM)
            .ok_or_else(|| corrupt("a record is cut short".to_owned()))?;
        if sum != checksum(entry) {
            return Err(corrupt("a record differs from its checksum".to_owned()));
        }
        decode_record(entry).map_err(|refused| corrupt(format!("a record: {refused}")))
    }

    /// The jobs that were submitted here, in the order of ids.
    pub fn jobs(&self) -> Result<Vec<(JobId, JobRow)>, StoreError> {
        let table = self.database.begin_read()?.open_table(JOBS)?;
        let mut jobs = Vec::new();
        for row in table.iter()? {
            let (job, text) = row?;
            jobs.push((JobId::new(job.value()), self.row(text.value())?));
        }
        Ok(jobs)
    }

    /// One of them.
    pub fn job(&self, job: JobId) -> Result<Option<JobRow>, StoreError> {
        let table = self.database.begin_read()?.open_table(JOBS)?;
        let text = table.get(job.get())?;
        text.map(|text| self.row(text.value())).transpose()
    }

    /// Whether an attempt was seen to end here.
    pub fn has_ended(&self, job: JobId, attempt: Epoch) -> Result<bool, StoreError> {
        let table = self.database.begin_read()?.open_table(ENDED)?;
        Ok(table.get((job.get(), attempt.get()))?.is_some())
    }

    /// The attempts that ended here, in the order of jobs.
    pub fn ended(&self) -> Result<Vec<(JobId, Epoch, EndedRow)>, StoreError> {
        let table = self.database.begin_read()?.open_table(ENDED)?;
        let mut ended = Vec::new();
        for row in table.iter()? {
            let (name, text) = row?;
            let (job, attempt) = name.value();
            let row = self.row(text.value())?;
            ended.push((JobId::new(job), Epoch::new(attempt), row));
        }
        Ok(ended)
    }

    /// What each user had here, by organisation and user.
    pub fn usage(&self) -> Result<Vec<UsageRow>, StoreError> {
        let table = self.database.begin_read()?.open_table(USAGE)?;
        let mut usage = Vec::new();
        for row in table.iter()? {
            let (name, sums) = row?;
            let ((organisation, user), (attempts, micros)) = (name.value(), sums.value());
            usage.push(UsageRow {
                organisation,
                user,
                attempts,
                node_seconds: micros as f64 / 1e6,
            });
        }
        Ok(usage)
    }

    fn row<T: serde::de::DeserializeOwned>(&self, text: &[u8]) -> Result<T, StoreError> {
        serde_json::from_slice(text).map_err(|error| StoreError::Corrupt {
            file: self.file.clone(),
            what: format!("a row: {error}"),
        })
    }

    /// The store is read by a library that may panic on a damaged file.
    fn guarded<T>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let result = quietly(|| read(self));
        let corrupt = |file: &Path| StoreError::Corrupt {
            file: file.to_owned(),
            what: "its pages do not fit together".to_owned(),
        };
        result
            .unwrap_or_else(|| Err(corrupt(&self.file)))
            .map_err(|error| error.at(&self.file))
    }

    /// Looks at a store without changing it: at a copy, because a store that was not closed is repaired when it is
    /// opened. Returns what it says of itself and how many records it has.
    pub fn check(file: &Path) -> Result<Vec<(String, String)>, StoreError> {
        // In the folder of the node, which is private as the store is.
        let copy = file.with_extension("check");
        let io = |error: std::io::Error| StoreError::Io {
            file: file.to_owned(),
            error,
        };
        let copied = std::fs::copy(file, &copy).map_err(io);
        let result = copied.and_then(|_| Self::check_copy(file, &copy));
        let removed = std::fs::remove_file(&copy).map_err(io);
        result.and_then(|facts| removed.map(|()| facts))
    }

    fn check_copy(file: &Path, copy: &Path) -> Result<Vec<(String, String)>, StoreError> {
        let mut database = opened(file, |_| Database::open(copy))?;
        let whole = quietly(|| database.check_integrity());
        if !matches!(whole, Some(Ok(_))) {
            return Err(StoreError::Corrupt {
                file: file.to_owned(),
                what: "its pages do not fit together".to_owned(),
            });
        }
        let store = Self {
            database,
            file: file.to_owned(),
        };
        store.guarded(Self::describe)
    }

    fn describe(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut facts = Vec::new();
        let read = self.database.begin_read()?;
        let about = read.open_table(ABOUT)?;
        for row in about.iter()? {
            let (what, value) = row?;
            facts.push((what.value().to_owned(), value.value().to_owned()));
        }
        let format = facts.iter().find(|(what, _)| what == "format");
        match format {
            Some((_, format)) if format == FORMAT => {}
            other => {
                let found = other.map(|(_, format)| format.clone());
                return Err(self.foreign("format", found, FORMAT));
            }
        }
        let scheduler = facts.iter().find(|(what, _)| what == "scheduler");
        let scheduler = scheduler.map(|(_, name)| name.clone()).unwrap_or_default();
        let records = match scheduler.as_str() {
            "asap" => self
                .read_records::<gridweave_core::scheduler::asap::Record>()?
                .len(),
            "criteria" => self
                .read_records::<gridweave_core::scheduler::criteria::Record>()?
                .len(),
            "aria" => self
                .read_records::<gridweave_core::scheduler::aria::Record>()?
                .len(),
            "desktop" => self
                .read_records::<gridweave_core::scheduler::desktop::Record>()?
                .len(),
            _ => return Err(self.foreign("scheduler", Some(scheduler), "one of four")),
        };
        let jobs = self.jobs()?;
        let open = jobs.iter().filter(|(_, row)| !row.phase.is_last()).count();
        facts.push(("records".to_owned(), records.to_string()));
        facts.push(("jobs".to_owned(), jobs.len().to_string()));
        facts.push(("unfinished jobs".to_owned(), open.to_string()));
        facts.push(("ended attempts".to_owned(), self.ended()?.len().to_string()));
        Ok(facts)
    }
}

/// Opens a file with the store's library, which may panic on a damaged one.
fn opened(
    file: &Path,
    open: impl FnOnce(&Path) -> Result<Database, redb::DatabaseError>,
) -> Result<Database, StoreError> {
    match quietly(|| open(file)) {
        Some(opened) => opened.map_err(|error| StoreError::of_opening(file, error)),
        None => Err(StoreError::Corrupt {
            file: file.to_owned(),
            what: "its pages do not fit together".to_owned(),
        }),
    }
}

/// `None` if this panics; not to be called from inside itself. The panic is not printed: the caller says what is wrong.
fn quietly<T>(act: impl FnOnce() -> T) -> Option<T> {
    // All threads have one hook.
    static HOOK: Mutex<()> = Mutex::new(());
    let _only = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = catch_unwind(AssertUnwindSafe(act));
    std::panic::set_hook(hook);
    result.ok()
}

/// The first bytes of the SHA-256.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let hash = digest::digest(&digest::SHA256, bytes);
    let mut sum = [0; CHECKSUM];
    for (to, from) in sum.iter_mut().zip(hash.as_ref()) {
        *to = *from;
    }
    sum
}
