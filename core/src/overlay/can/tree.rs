//! The tree of splits behind the zones. Each node knows only how its own zone came about.
//!
//! A zone is a leaf. Its history names its splits, the oldest first. When a leaf vanishes, its last split is undone:
//! the leaves that touch it across that plane grow over it. They are leaves of its sibling, and touch all of that face.
//! So no node ever has two zones, and every zone stays around its node's point (PROTOCOLS 3.2).
//!
//! A split farther up may be undone while a leaf is not at its plane. The record of that leaf is then stale, but
//! harmless: the last record holds only if the zone still ends at its plane, for nothing else can move that bound.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::space::Point;
use super::zone::{Face, Side, Zone};

/// A split that a zone came out of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Split {
    /// The dimension of the cut.
    pub dimension: u8,
    /// The side of the plane on which the zone is.
    pub side: Side,
    /// The coordinate of the cut.
    pub plane: u32,
}

impl Split {
    /// The face of the zone at the plane, if this is its last split.
    pub const fn face(self) -> Face {
        Face {
            dimension: self.dimension,
            side: self.side.opposite(),
        }
    }

    /// Whether a zone is on its side of the plane.
    fn is_kept_by<const D: usize>(self, zone: &Zone<D>) -> bool {
        zone.stretch(self.dimension)
            .is_some_and(|stretch| match self.side {
                Side::Lower => stretch.to() <= self.plane,
                Side::Upper => self.plane <= stretch.from(),
            })
    }

    /// Whether a zone ends at the plane.
    fn bounds<const D: usize>(self, zone: &Zone<D>) -> bool {
        zone.bound(self.face()) == Some(self.plane)
    }
}

/// The splits that a zone came out of, the oldest first; shared when cloned.
///
/// Each split by a node at least halves what is between its point and its bound on that side. So there are never more
/// than 32 for each side of each dimension.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct History(Arc<[Split]>);

impl History {
    /// The most splits that are sent or read: what eight dimensions can need.
    pub const MOST: usize = 512;

    /// The history of the whole space: no splits.
    pub fn none() -> Self {
        Self(Arc::new([]))
    }

    /// The splits, the oldest first.
    pub fn splits(&self) -> &[Split] {
        &self.0
    }

    /// The last split that this zone came out of.
    pub fn last<const D: usize>(&self, zone: &Zone<D>) -> Option<Split> {
        self.0
            .iter()
            .rev()
            .find(|split| split.bounds(zone))
            .copied()
    }
}

impl FromIterator<Split> for History {
    fn from_iter<I: IntoIterator<Item = Split>>(splits: I) -> Self {
        Self(splits.into_iter().take(Self::MOST).collect())
    }
}

/// A zone and how it came about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Leaf<const D: usize> {
    /// The zone.
    pub zone: Zone<D>,
    /// The splits that it came out of.
    pub history: History,
}

impl<const D: usize> Leaf<D> {
    /// The whole space.
    pub fn whole() -> Self {
        Self {
            zone: Zone::WHOLE,
            history: History::none(),
        }
    }

    /// The leaf that these splits make of the whole space.
    pub(super) fn of(splits: impl Iterator<Item = Split>) -> Self {
        let history: History = splits.collect();
        let mut zone = Zone::WHOLE;
        for split in history.splits() {
            if let Some((lower, upper)) = zone.cut(split.dimension, split.plane) {
                zone = match split.side {
                    Side::Lower => lower,
                    Side::Upper => upper,
                };
            }
        }
        Self { zone, history }
    }

    /// Splits it between two points inside: the owner's part, then the other's. `None` if the points are equal.
    ///
    /// The plane is in the middle of the points, in the first dimension after that of the last split in which they
    /// differ.
    pub fn split(&self, owner: &Point<D>, other: &Point<D>) -> Option<(Self, Self)> {
        let last = self.history.last(&self.zone);
        let first = last.map_or(0, |split| usize::from(split.dimension).saturating_add(1));
        let dimensions = (first..D).chain(0..first.min(D));
        let mut differ = dimensions.filter(|k| owner.at(*k) != other.at(*k));
        let k = differ.next()?;
        let (one, two) = (owner.at(k), other.at(k));
        // Rounded up, so that the lower point is below the plane and the upper one not.
        let plane = one.min(two).saturating_add(one.abs_diff(two).div_ceil(2));
        let dimension = u8::try_from(k).ok()?;
        let (lower, upper) = self.zone.cut(dimension, plane)?;
        let part = |zone: Zone<D>, side| {
            let split = Split {
                dimension,
                side,
                plane,
            };
            let splits = self.history.splits().iter().copied();
            Self {
                zone,
                history: splits.chain([split]).collect(),
            }
        };
        let (lower, upper) = (part(lower, Side::Lower), part(upper, Side::Upper));
        Some(if one < two {
            (lower, upper)
        } else {
            (upper, lower)
        })
    }

    /// Whether this leaf grows when another one vanishes.
    pub(super) fn inherits_from(&self, other: &Self) -> bool {
        other.is_left_to(&self.zone)
    }

    /// Whether a node with this zone grows when this leaf vanishes.
    pub(super) fn is_left_to(&self, zone: &Zone<D>) -> bool {
        let last = self.history.last(&self.zone);
        last.is_some_and(|split| {
            self.zone.neighbour_face(zone) == Some(split.face())
                && zone.is_within(&self.zone, split.dimension)
        })
    }

    /// Grows over the zone of another leaf, if it is one of its heirs.
    fn inherit(&mut self, other: &Self) {
        if !self.inherits_from(other) {
            return;
        }
        let Some(split) = other.history.last(&other.zone) else {
            return;
        };
        let outer = Face {
            dimension: split.dimension,
            side: split.side,
        };
        if let Some(bound) = other.zone.bound(outer) {
            *self = self.extended(outer, bound);
        }
    }

    /// The same leaf up to this bound on a side, without the splits that it grew over.
    #[must_use]
    pub(super) fn extended(&self, face: Face, bound: u32) -> Self {
        let zone = self.zone.extended(face, bound);
        let splits = self.history.splits().iter().copied();
        Self {
            zone,
            history: splits.filter(|split| split.is_kept_by(&zone)).collect(),
        }
    }

    /// What this leaf becomes when some others vanish, whichever of them goes first.
    ///
    /// The vanished inherit from each other as well, so that what two of them have goes to the heirs of the second.
    #[must_use]
    pub(super) fn after(&self, mut vanished: Vec<Self>) -> Self {
        let mut own = self.clone();
        while let Some(gone) = vanished.pop() {
            for heir in &mut vanished {
                heir.inherit(&gone);
            }
            own.inherit(&gone);
        }
        own
    }

    /// Whether the zone is on the right side of every split.
    pub(super) fn is_sound(&self) -> bool {
        let mut splits = self.history.splits().iter();
        splits.all(|split| split.is_kept_by(&self.zone))
    }
}

#[cfg(feature = "serde")]
mod encoding {
    use super::{History, Split};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl Serialize for History {
        fn serialize<S: Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
            encoder.collect_seq(self.0.iter())
        }
    }

    impl<'de> Deserialize<'de> for History {
        fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
            let read = crate::bounded::list::<Split, D, { Self::MOST }>(decoder)?;
            Ok(Self(read.into()))
        }
    }
}
