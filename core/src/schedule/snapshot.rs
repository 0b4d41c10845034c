use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::{BusyTime, Reservation, Schedule, Storage};
use crate::time::{Interval, Time};

/// When a node is busy, as it was at one moment: immutable, shared when cloned, bounded when sent.
///
/// It holds at most [`MAX_WINDOWS`](Self::MAX_WINDOWS). A busier node is described up to a horizon; all time after it
/// counts as busy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Received"))]
pub struct Snapshot {
    version: u64,
    horizon: Time,
    #[cfg_attr(feature = "serde", serde(serialize_with = "plainly"))]
    busy: Arc<[Interval]>,
}

/// Why windows are no snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SnapshotError {
    /// There are more than [`Snapshot::MAX_WINDOWS`].
    TooMany,
    /// They are not sorted with a gap between any two, or reach beyond the horizon.
    Unsorted,
}

impl Snapshot {
    /// The most windows it can hold.
    pub const MAX_WINDOWS: usize = 512;

    /// A snapshot of these windows, which must be sorted, have a gap between any two, and end by the horizon.
    pub fn new(version: u64, horizon: Time, busy: &[Interval]) -> Result<Self, SnapshotError> {
        if busy.len() > Self::MAX_WINDOWS {
            return Err(SnapshotError::TooMany);
        }
        let apart = busy.is_sorted_by(|a, b| a.end() < b.start());
        if !apart || busy.last().is_some_and(|last| last.end() > horizon) {
            return Err(SnapshotError::Unsorted);
        }
        Ok(Self {
            version,
            horizon,
            busy: Arc::from(busy),
        })
    }

    /// A snapshot of a node that is free for ever.
    pub fn empty(version: u64) -> Self {
        Self {
            version,
            horizon: Time::MAX,
            busy: Arc::from([]),
        }
    }

    /// The same under another number.
    #[must_use]
    pub fn renumbered(&self, version: u64) -> Self {
        Self {
            version,
            ..self.clone()
        }
    }

    /// Which of two snapshots of one node is newer: the one with the higher number.
    pub const fn version(&self) -> u64 {
        self.version
    }
}

impl BusyTime for Snapshot {
    fn windows(&self) -> &[Interval] {
        &self.busy
    }

    fn horizon(&self) -> Time {
        self.horizon
    }
}

impl<S: Storage<Reservation>> Schedule<S> {
    /// When this node is busy from `from` on, in at most `most` windows. The caller numbers its snapshots.
    pub fn snapshot(&self, version: u64, from: Time, most: usize) -> Snapshot {
        let mut windows = self.busy_windows(from);
        let busy: Vec<Interval> = windows
            .by_ref()
            .take(most.min(Snapshot::MAX_WINDOWS))
            .collect();
        let horizon = windows.next().map_or(Time::MAX, Interval::start);
        Snapshot {
            version,
            horizon,
            busy: busy.into(),
        }
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooMany => "a snapshot has too many windows",
            Self::Unsorted => "the windows of a snapshot are not sorted and apart",
        })
    }
}

impl core::error::Error for SnapshotError {}

#[cfg(feature = "serde")]
fn plainly<S: serde::Serializer>(busy: &[Interval], encoder: S) -> Result<S::Ok, S::Error> {
    encoder.collect_seq(busy)
}

/// A decoded snapshot before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Received {
    version: u64,
    horizon: Time,
    #[serde(deserialize_with = "crate::bounded::list::<_, _, { Snapshot::MAX_WINDOWS }>")]
    busy: Vec<Interval>,
}

#[cfg(feature = "serde")]
impl TryFrom<Received> for Snapshot {
    type Error = SnapshotError;
    fn try_from(received: Received) -> Result<Self, SnapshotError> {
        Self::new(received.version, received.horizon, &received.busy)
    }
}
