//! The history of a run, collected for its digest.

use gridweave_core::time::Time;

use gridweave_sim::history::History;

/// Events are hashed in batches of so many bytes: word by word, hashing would cost more than scheduling.
const BATCH: usize = 8 * 1024;
const RECORD: usize = 24;

/// What happens to a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Arrival = 0,
    Start = 1,
    End = 2,
}

/// The events of a run: three words each, the time in microseconds, the kind, and the job's number.
#[derive(Debug)]
pub(super) struct Journal {
    history: History,
    batch: Vec<u8>,
    events: u64,
}

impl Journal {
    pub(super) fn new() -> Self {
        Self {
            history: History::new(),
            batch: Vec::with_capacity(BATCH + RECORD),
            events: 0,
        }
    }

    /// Adds an event. On a mixed grid the kind of a start also tells the node, in the bits above the lowest eight.
    pub(super) fn add(&mut self, now: Time, kind: Kind, node: Option<u32>, number: u64) {
        let kind = kind as u64 | node.map_or(0, |node| u64::from(node) << 8);
        let mut record = [0; RECORD];
        for (place, word) in record
            .chunks_exact_mut(8)
            .zip([now.as_micros(), kind, number])
        {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.batch.extend_from_slice(&record);
        self.events += 1;
        if self.batch.len() >= BATCH {
            self.history.bytes(&self.batch);
            self.batch.clear();
        }
    }

    /// How many events there were.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// The digest of all of them.
    pub(super) fn digest(mut self) -> String {
        self.history.bytes(&self.batch);
        self.history.digest()
    }
}
