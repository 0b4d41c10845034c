//! The space: whole numbers in every dimension, and the points where nodes are.

use rand_core::Rng;

use crate::rng::Choose;

/// Where the space ends in every dimension; the coordinates of a point are below it.
pub const END: u32 = u32::MAX;

/// A point of the space: where a node is, or what a job needs. The virtual dimensions are the last ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point<const D: usize>([u32; D]);

impl<const D: usize> Point<D> {
    /// The point with these coordinates; one that is not below [`END`] becomes the last that is.
    pub fn new(coordinates: [u32; D]) -> Self {
        Self(coordinates.map(|at| at.min(END.saturating_sub(1))))
    }

    /// Its coordinates.
    pub const fn coordinates(&self) -> &[u32; D] {
        &self.0
    }

    /// Its coordinate in a dimension; zero where there is no such dimension.
    pub fn at(&self, dimension: usize) -> u32 {
        self.0.get(dimension).copied().unwrap_or(0)
    }

    /// The same point with its last coordinates, so many as there are virtual dimensions, drawn at random.
    #[must_use]
    pub fn redrawn(mut self, virtual_dimensions: usize, rng: &mut (impl Rng + ?Sized)) -> Self {
        for at in self.0.iter_mut().rev().take(virtual_dimensions) {
            *at = rng.below(END);
        }
        self
    }
}

/// Arrays as they travel: as many items as there are dimensions, no more and no less.
#[cfg(feature = "serde")]
pub(super) mod array {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<T: Serialize, S: Serializer, const D: usize>(
        items: &[T; D],
        encoder: S,
    ) -> Result<S::Ok, S::Error> {
        encoder.collect_seq(items)
    }

    pub(in super::super) fn deserialize<'de, T, E, const D: usize>(
        decoder: E,
    ) -> Result<[T; D], E::Error>
    where
        T: Deserialize<'de>,
        E: Deserializer<'de>,
    {
        let items = heapless::Vec::<T, D>::deserialize(decoder)?;
        let wrong = |items: heapless::Vec<T, D>| {
            E::Error::invalid_length(items.len(), &"one item for each dimension")
        };
        items.into_array().map_err(wrong)
    }
}

#[cfg(feature = "serde")]
impl<const D: usize> serde::Serialize for Point<D> {
    fn serialize<S: serde::Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
        array::serialize(&self.0, encoder)
    }
}

#[cfg(feature = "serde")]
impl<'de, const D: usize> serde::Deserialize<'de> for Point<D> {
    fn deserialize<E: serde::Deserializer<'de>>(decoder: E) -> Result<Self, E::Error> {
        Ok(Self::new(array::deserialize(decoder)?))
    }
}
