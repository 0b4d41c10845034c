use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::{BusyTime, Reservation, Schedule, Storage};
use crate::time::{Interval, Time};

/// When a node is busy, as it was at one moment: immutable, shared when cloned, bounded when sent.
///
/// It holds at most [`MAX_WINDOWS`](Self::MAX_WINDOWS). A busier node is described up to a horizon, and what lies behind it
/// counts as busy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Sent", into = "Sent"))]
pub struct Snapshot {
    version: u64,
    horizon: Time,
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

/// The form in which a snapshot travels; decoding stops at the first window too many.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Sent {
    version: u64,
    horizon: Time,
    #[serde(deserialize_with = "bounded")]
    busy: Vec<Interval>,
}

#[cfg(feature = "serde")]
impl From<Snapshot> for Sent {
    fn from(snapshot: Snapshot) -> Self {
        let Snapshot {
            version,
            horizon,
            busy,
        } = snapshot;
        Self {
            version,
            horizon,
            busy: busy.to_vec(),
        }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Sent> for Snapshot {
    type Error = SnapshotError;
    fn try_from(sent: Sent) -> Result<Self, SnapshotError> {
        Self::new(sent.version, sent.horizon, &sent.busy)
    }
}

#[cfg(feature = "serde")]
fn bounded<'de, D: serde::Deserializer<'de>>(decoder: D) -> Result<Vec<Interval>, D::Error> {
    struct Windows;

    impl<'de> serde::de::Visitor<'de> for Windows {
        type Value = Vec<Interval>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("busy windows")
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut seq: A,
        ) -> Result<Vec<Interval>, A::Error> {
            let claimed = seq.size_hint().unwrap_or(0);
            let mut windows = Vec::with_capacity(claimed.min(Snapshot::MAX_WINDOWS));
            while let Some(window) = seq.next_element()? {
                if windows.len() == Snapshot::MAX_WINDOWS {
                    return Err(serde::de::Error::custom(SnapshotError::TooMany));
                }
                windows.push(window);
            }
            Ok(windows)
        }
    }

    decoder.deserialize_seq(Windows)
}
