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

    /// The same node, if it were free in this interval: for a job that would give up its time there.
    #[must_use]
    pub fn without(&self, free: Interval) -> Self {
        let parts = self.busy.iter().flat_map(|window| {
            let before = Interval::new(window.start(), window.end().min(free.start()));
            let after = Interval::new(window.start().max(free.end()), window.end());
            [before, after].into_iter().flatten()
        });
        let mut busy: Vec<Interval> = parts.collect();
        // A window in two parts may be one too many.
        let beyond = busy.get(Self::MAX_WINDOWS).map(|window| window.start());
        busy.truncate(Self::MAX_WINDOWS);
        Self {
            version: self.version,
            horizon: beyond.unwrap_or(self.horizon),
            busy: busy.into(),
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

/// Which part of a schedule a snapshot describes, and the snapshot's number.
///
/// ```
/// use gridweave_core::schedule::{Reservation, Schedule, Snapshot, SnapshotOptions};
/// use gridweave_core::time::Time;
///
/// let schedule = Schedule::<Vec<Reservation>>::new();
/// let now = Time::from_secs(60);
/// let whole = schedule.snapshot(SnapshotOptions::starting(now));
/// assert_eq!(whole, Snapshot::empty(0));
///
/// let short = schedule.snapshot(SnapshotOptions::starting(now).version(7).most_windows(16));
/// assert_eq!(short.version(), 7);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnapshotOptions {
    pub(crate) from: Time,
    pub(crate) version: u64,
    pub(crate) most_windows: usize,
}

impl SnapshotOptions {
    /// Busy time from this instant on, with the number 0, in at most [`Snapshot::MAX_WINDOWS`] windows.
    pub const fn starting(from: Time) -> Self {
        Self {
            from,
            version: 0,
            most_windows: Snapshot::MAX_WINDOWS,
        }
    }

    /// Sets the number. A node that tells its schedule to peers gives each snapshot a higher one than the last.
    #[must_use]
    pub const fn version(self, version: u64) -> Self {
        Self { version, ..self }
    }

    /// Describes the first windows only: at most this many, and never more than [`Snapshot::MAX_WINDOWS`]. All time
    /// from the next window on then counts as busy.
    #[must_use]
    pub const fn most_windows(self, most: usize) -> Self {
        let most_windows = if most < Snapshot::MAX_WINDOWS {
            most
        } else {
            Snapshot::MAX_WINDOWS
        };
        Self {
            most_windows,
            ..self
        }
    }
}

impl<S: Storage<Reservation>> Schedule<S> {
    /// The busy time of this node, to be sent to peers.
    pub fn snapshot(&self, options: SnapshotOptions) -> Snapshot {
        let mut windows = self.busy_windows(options.from);
        let busy: Vec<Interval> = windows.by_ref().take(options.most_windows).collect();
        let horizon = windows.next().map_or(Time::MAX, Interval::start);
        Snapshot {
            version: options.version,
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
