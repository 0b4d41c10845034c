//! Zones: the half-open boxes that nodes own, and how they lie to each other.

use alloc::vec::Vec;

use super::space::{END, Point};

/// A part of one dimension: from its first coordinate up to the one behind its last. Never empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stretch {
    from: u32,
    to: u32,
}

impl Stretch {
    /// All of a dimension.
    pub const WHOLE: Self = Self { from: 0, to: END };

    /// From one coordinate up to, but without, another; `None` if nothing is between.
    #[inline]
    pub const fn new(from: u32, to: u32) -> Option<Self> {
        if from < to {
            Some(Self { from, to })
        } else {
            None
        }
    }

    /// Its first coordinate.
    #[inline]
    pub const fn from(self) -> u32 {
        self.from
    }

    /// The coordinate behind its last.
    #[inline]
    pub const fn to(self) -> u32 {
        self.to
    }

    /// How many coordinates it has.
    pub const fn length(self) -> u32 {
        self.to.saturating_sub(self.from)
    }

    /// Whether a coordinate is in it.
    #[inline]
    pub const fn contains(self, at: u32) -> bool {
        self.from <= at && at < self.to
    }

    /// What two have in common.
    #[inline]
    pub fn overlap(self, other: Self) -> Option<Self> {
        Self::new(self.from.max(other.from), self.to.min(other.to))
    }

    /// How far a coordinate is from the closed stretch: the border counts as near, though it may be outside.
    #[inline]
    const fn distance(self, at: u32) -> u32 {
        if at < self.from {
            self.from.saturating_sub(at)
        } else {
            at.saturating_sub(self.to)
        }
    }
}

/// One of the two ways along a dimension.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Side {
    /// Towards zero.
    Lower,
    /// Towards the end.
    Upper,
}

impl Side {
    /// The other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Lower => Self::Upper,
            Self::Upper => Self::Lower,
        }
    }
}

/// One of the faces of a zone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Face {
    /// The dimension in which it ends the zone.
    pub dimension: u8,
    /// The side of the zone on which it is.
    pub side: Side,
}

/// How far a zone is from a point: first by the sum of the distances in each dimension, then by the number of
/// dimensions in which the point is outside.
///
/// The second part is needed because zones are half open: a point on an upper face is not inside, though at distance
/// zero. A route on which every hop is nearer ends, and in a space without holes it ends at the owner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Distance {
    sum: u64,
    outside: u8,
}

impl Distance {
    /// The distance of the zone that contains the point.
    pub const ZERO: Self = Self { sum: 0, outside: 0 };
}

/// A half-open box of the space. Never empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Zone<const D: usize> {
    stretches: [Stretch; D],
}

impl<const D: usize> Zone<D> {
    /// All of the space.
    pub const WHOLE: Self = Self {
        stretches: [Stretch::WHOLE; D],
    };

    /// The box with these stretches.
    pub const fn new(stretches: [Stretch; D]) -> Self {
        Self { stretches }
    }

    /// Its stretch in every dimension.
    pub const fn stretches(&self) -> &[Stretch; D] {
        &self.stretches
    }

    /// Its stretch in a dimension.
    pub fn stretch(&self, dimension: u8) -> Option<Stretch> {
        self.stretches.get(usize::from(dimension)).copied()
    }

    /// Whether the point is inside.
    pub fn contains(&self, point: &Point<D>) -> bool {
        let mut pairs = self.stretches.iter().zip(point.coordinates());
        pairs.all(|(stretch, at)| stretch.contains(*at))
    }

    /// Whether two zones have a point in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        let mut pairs = self.stretches.iter().zip(&other.stretches);
        pairs.all(|(one, two)| one.overlap(*two).is_some())
    }

    /// What two zones have in common.
    pub fn overlap(&self, other: &Self) -> Option<Self> {
        let mut common = *self;
        for (one, two) in common.stretches.iter_mut().zip(&other.stretches) {
            *one = one.overlap(*two)?;
        }
        Some(common)
    }

    /// The face at which another zone is a neighbour: the two touch in exactly one dimension and overlap in all others.
    pub fn neighbour_face(&self, other: &Self) -> Option<Face> {
        let mut face = None;
        let pairs = self.stretches.iter().zip(&other.stretches);
        for (dimension, (own, their)) in pairs.enumerate() {
            if own.overlap(*their).is_some() {
                continue;
            }
            let side = if own.to == their.from {
                Side::Upper
            } else if their.to == own.from {
                Side::Lower
            } else {
                return None;
            };
            if face.is_some() {
                return None;
            }
            face = Some(Face {
                dimension: u8::try_from(dimension).ok()?,
                side,
            });
        }
        face
    }

    /// How far it is from a point.
    pub fn distance(&self, point: &Point<D>) -> Distance {
        let mut distance = Distance::ZERO;
        for (stretch, at) in self.stretches.iter().zip(point.coordinates()) {
            distance.sum = distance
                .sum
                .saturating_add(u64::from(stretch.distance(*at)));
            let outside = u8::from(!stretch.contains(*at));
            distance.outside = distance.outside.saturating_add(outside);
        }
        distance
    }

    /// Where it ends on a side.
    pub fn bound(&self, face: Face) -> Option<u32> {
        let stretch = self.stretch(face.dimension)?;
        Some(match face.side {
            Side::Lower => stretch.from,
            Side::Upper => stretch.to,
        })
    }

    /// Whether it ends there only because the space does.
    pub fn is_at_border(&self, face: Face) -> bool {
        let border = match face.side {
            Side::Lower => 0,
            Side::Upper => END,
        };
        self.bound(face) == Some(border)
    }

    /// The same zone up to this bound on a side, unless it goes farther already.
    #[must_use]
    pub fn extended(mut self, face: Face, bound: u32) -> Self {
        if let Some(stretch) = self.stretches.get_mut(usize::from(face.dimension)) {
            match face.side {
                Side::Lower => stretch.from = stretch.from.min(bound),
                Side::Upper => stretch.to = stretch.to.max(bound),
            }
        }
        self
    }

    /// Whether it is within another zone in every dimension but one.
    pub(super) fn is_within(&self, other: &Self, but: u8) -> bool {
        let mut pairs = (0_u8..).zip(self.stretches.iter().zip(&other.stretches));
        pairs.all(|(dimension, (own, their))| {
            dimension == but || (their.from <= own.from && own.to <= their.to)
        })
    }

    /// The two parts on both sides of a plane, the lower one first; `None` if the plane does not cut it.
    pub fn cut(&self, dimension: u8, plane: u32) -> Option<(Self, Self)> {
        let whole = self.stretch(dimension)?;
        let lower = Stretch::new(whole.from, plane.min(whole.to))?;
        let upper_from = plane.saturating_sub(u32::from(canary!(SplitOffByOne)));
        let upper = Stretch::new(upper_from.max(whole.from), whole.to)?;
        Some((self.with(dimension, lower), self.with(dimension, upper)))
    }

    /// The same zone with another stretch in a dimension.
    fn with(mut self, dimension: u8, stretch: Stretch) -> Self {
        if let Some(old) = self.stretches.get_mut(usize::from(dimension)) {
            *old = stretch;
        }
        self
    }

    /// Behind a face, what of another zone touches it: one coordinate thick.
    pub(super) fn contact(&self, other: &Self) -> Option<Self> {
        self.behind(self.neighbour_face(other)?)?.overlap(other)
    }

    /// What is behind a face, one coordinate thick, unless the space ends there.
    pub(super) fn behind(&self, face: Face) -> Option<Self> {
        let bound = self.bound(face)?;
        let behind = match face.side {
            Side::Lower => Stretch::new(bound.checked_sub(1)?, bound)?,
            Side::Upper => Stretch::new(bound, bound.checked_add(1)?)?,
        };
        Some(self.with(face.dimension, behind))
    }

    /// Whether some other zones together leave nothing of this one. `false` also if to find out takes too much work.
    pub(super) fn is_covered<'a>(&self, by: impl Iterator<Item = &'a Self>) -> bool {
        self.rest(by) == Rest::Nothing
    }

    /// A point that some other zones together leave of this one. `None` also if to find out takes too much work: what
    /// is done about a gap harms the nodes there, so the gap has to be certain.
    pub(super) fn gap<'a>(&self, by: impl Iterator<Item = &'a Self>) -> Option<Point<D>> {
        match self.rest(by) {
            Rest::At(point) => Some(point),
            Rest::Nothing | Rest::Unknown => None,
        }
    }

    /// What some other zones together leave of this one: the first of it, if the others are taken away in their order.
    ///
    /// Each part is finished before the next. A face with a hundred neighbours falls into thousands of parts on the
    /// way, but only a few of them exist at a time.
    fn rest<'a>(&self, by: impl Iterator<Item = &'a Self>) -> Rest<D> {
        // The others that may overlap a part are a range of this list. What is behind that range is done with.
        let mut others: Vec<&Self> = by.collect();
        let mut parts = Vec::from([(*self, 0, others.len())]);
        let mut pieces = Vec::new();
        let mut work = MOST_WORK;
        while let Some((part, from, to)) = parts.pop() {
            others.truncate(to);
            let looks = to.saturating_sub(from).saturating_add(D);
            let Some(left) = work.checked_sub(looks) else {
                return Rest::Unknown;
            };
            work = left;
            for place in from..to {
                if let Some(&other) = others.get(place)
                    && part.overlaps(other)
                {
                    others.push(other);
                }
            }
            let Some(first) = others.get(to) else {
                return Rest::At(Point::new(part.stretches.map(Stretch::from)));
            };
            part.without(first, &mut pieces);
            let next = (to.saturating_add(1), others.len());
            let pieces = pieces.drain(..).rev();
            parts.extend(pieces.map(|piece| (piece, next.0, next.1)));
        }
        Rest::Nothing
    }

    /// What is left of it without another one that overlaps it, in boxes.
    fn without(mut self, other: &Self, left: &mut Vec<Self>) {
        for (dimension, their) in (0_u8..).zip(&other.stretches) {
            for (plane, outer) in [(their.from, Side::Lower), (their.to, Side::Upper)] {
                if let Some((lower, upper)) = self.cut(dimension, plane) {
                    let (out, rest) = match outer {
                        Side::Lower => (lower, upper),
                        Side::Upper => (upper, lower),
                    };
                    left.push(out);
                    self = rest;
                }
            }
        }
    }

    /// In how many dimensions both of two neighbours are as long as the space.
    pub(super) fn whole_sides(&self, other: &Self) -> usize {
        let pairs = self.stretches.iter().zip(&other.stretches);
        let whole = pairs.filter(|(one, two)| **one == Stretch::WHOLE && **two == Stretch::WHOLE);
        whole.count()
    }

    /// The area of the face at which two neighbours touch, with so many of their whole sides left out, in 63 bits:
    /// lengths are rounded down to fewer bits if their product would have more, but not to nothing.
    pub(super) fn shared_area(&self, other: &Self, without: usize) -> u64 {
        let sides = D.saturating_sub(1).saturating_sub(without);
        let each = |sides: usize| 63_usize.checked_div(sides).unwrap_or(63).clamp(1, 32);
        // No more than in a space of five dimensions: dimensions in which no zone is cut change nothing.
        let bits = each(sides).min(each(D.clamp(1, 5).saturating_sub(1)));
        let bits = u32::try_from(bits).unwrap_or(32);
        let part = |length: u32| (u64::from(length) >> 32_u32.saturating_sub(bits)).max(1);
        let pairs = self.stretches.iter().zip(&other.stretches);
        let common = pairs.filter_map(|(one, two)| one.overlap(*two));
        let mut left_out = 0;
        common.fold(1, |area: u64, common| {
            if left_out < without && common == Stretch::WHOLE {
                left_out = left_out.saturating_add(1);
                return area;
            }
            area.saturating_mul(part(common.length()))
        })
    }

    /// How much of the space it is, in parts of 2^32, rounded down.
    pub fn share_of_space(&self) -> u64 {
        let lengths = self.stretches.iter().map(|stretch| stretch.length());
        lengths.fold(1 << 32, |share: u64, length| {
            let part = u128::from(share).saturating_mul(u128::from(length));
            let part = part.checked_div(u128::from(END)).unwrap_or(0);
            u64::try_from(part).unwrap_or(u64::MAX)
        })
    }
}

/// What some zones leave of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest<const D: usize> {
    Nothing,
    /// At least this point.
    At(Point<D>),
    /// It took too much work to find out.
    Unknown,
}

/// The most overlap checks for one rest, where each cut counts once for every dimension: a few milliseconds. The worst
/// face in six dimensions with eight thousand nodes took 51,000, and in eight with four thousand 234,000.
const MOST_WORK: usize = 1 << 18;

/// All faces of a zone.
pub(super) fn faces<const D: usize>() -> impl Iterator<Item = Face> {
    (0..u8::try_from(D).unwrap_or(0))
        .flat_map(|dimension| [Side::Lower, Side::Upper].map(|side| Face { dimension, side }))
}

#[cfg(feature = "serde")]
mod encoding {
    use super::{Stretch, Zone};
    use crate::overlay::can::space::array;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl Serialize for Stretch {
        fn serialize<S: Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
            (self.from, self.to).serialize(encoder)
        }
    }

    impl<'de> Deserialize<'de> for Stretch {
        fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
            let (from, to) = <(u32, u32)>::deserialize(decoder)?;
            Self::new(from, to).ok_or_else(|| D::Error::custom("a stretch is not empty"))
        }
    }

    impl<const D: usize> Serialize for Zone<D> {
        fn serialize<S: Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
            array::serialize(&self.stretches, encoder)
        }
    }

    impl<'de, const D: usize> Deserialize<'de> for Zone<D> {
        fn deserialize<E: Deserializer<'de>>(decoder: E) -> Result<Self, E::Error> {
            Ok(Self::new(array::deserialize(decoder)?))
        }
    }
}
