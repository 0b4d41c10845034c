use alloc::vec::Vec;

use super::Set;
use crate::profile::{Coordinate, Profile};

/// The candidates' points relative to their midst, rounded so that many fit into a register.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    midst: [f64; Coordinate::DIMENSIONS],
    near: Vec<[f32; 4]>,
}

/// How many distances are worked out side by side.
const LANES: usize = 8;
/// Sets of up to this many members are read once.
const BLOCK: usize = 256;

impl Points {
    /// Takes the points of other candidates.
    pub(super) fn fill(&mut self, profiles: &[Profile]) {
        self.midst = midst(profiles.iter());
        let midst = self.midst;
        self.near.clear();
        self.near.extend(profiles.iter().map(|profile| {
            let [x, y, z] = relative(profile, midst);
            [x as f32, y as f32, z as f32, 0.0]
        }));
    }

    /// The place that all points are relative to.
    pub(super) fn midst(&self) -> [f64; Coordinate::DIMENSIONS] {
        self.midst
    }

    pub(super) fn near(&self, at: u32) -> [f32; 4] {
        self.near.get(at as usize).copied().unwrap_or_default()
    }

    /// The sum of the distances to the centroid.
    ///
    /// Roots are taken by multiplication alone, so that they are the same everywhere and eight are taken at once.
    pub(super) fn spread(&self, chosen: &[u32]) -> f64 {
        let mut centre = [0.0_f32; 4];
        for &at in chosen {
            for (sum, part) in centre.iter_mut().zip(self.near(at)) {
                *sum += part;
            }
        }
        let share = 1.0 / chosen.len().max(1) as f32;
        let [cx, cy, cz, _] = centre.map(|sum| sum * share);
        let mut total = 0.0_f64;
        for block in chosen.chunks(BLOCK) {
            let mut sums = [0.0_f32; LANES];
            for lanes in block.chunks(LANES) {
                let mut squares = [0.0_f32; LANES];
                for (square, &at) in squares.iter_mut().zip(lanes) {
                    let [x, y, z, _] = self.near(at);
                    let (x, y, z) = (x - cx, y - cy, z - cz);
                    *square = x * x + y * y + z * z;
                }
                for (sum, square) in sums.iter_mut().zip(squares) {
                    *sum += root(square);
                }
            }
            total += f64::from(sums.iter().sum::<f32>());
        }
        total
    }
}

/// A square root within a few units of the last place: three of Newton's steps towards its inverse, from the usual guess.
fn root(square: f32) -> f32 {
    let guess = 0x5f37_59df_u32.wrapping_sub(square.to_bits() >> 1);
    let mut inverse = f32::from_bits(guess);
    let half = 0.5 * square;
    for _ in 0..3 {
        // In this order zero stays zero, however large the guess.
        inverse *= 1.5 - half * inverse * inverse;
    }
    square * inverse
}

/// The middle of the box around these points.
fn midst<'a>(profiles: impl Iterator<Item = &'a Profile> + Clone) -> [f64; Coordinate::DIMENSIONS] {
    let mut low = [i32::MAX; Coordinate::DIMENSIONS];
    let mut high = [i32::MIN; Coordinate::DIMENSIONS];
    for profile in profiles {
        for ((low, high), part) in low.iter_mut().zip(&mut high).zip(profile.coordinate.point) {
            *low = part.min(*low);
            *high = part.max(*high);
        }
    }
    let mut midst = [0.0; Coordinate::DIMENSIONS];
    for ((middle, low), high) in midst.iter_mut().zip(low).zip(high) {
        *middle = libm::floor((f64::from(low) + f64::from(high)) / 2.0);
    }
    midst
}

/// A node's point seen from another place.
pub(super) fn relative(
    profile: &Profile,
    midst: [f64; Coordinate::DIMENSIONS],
) -> [f64; Coordinate::DIMENSIONS] {
    let mut point = profile.coordinate.point.map(f64::from);
    for (part, middle) in point.iter_mut().zip(midst) {
        *part -= middle;
    }
    point
}

/// The centroid of a set's points; heights do not count (PROTOCOLS F11).
pub(super) fn centroid(set: &Set<'_>) -> [f64; Coordinate::DIMENSIONS] {
    let mut centre = [0.0; Coordinate::DIMENSIONS];
    for profile in set.profiles() {
        for (sum, part) in centre.iter_mut().zip(profile.coordinate.point) {
            *sum += f64::from(part);
        }
    }
    let count = set.len().max(1) as f64;
    centre.map(|sum| sum / count)
}

/// How far a node's point is from a place.
pub(super) fn square_distance(profile: &Profile, place: [f64; Coordinate::DIMENSIONS]) -> f64 {
    relative(profile, place)
        .iter()
        .map(|part| part * part)
        .sum()
}

/// The sum of the distances of a set's points to their centroid, exactly.
pub(super) fn spread(set: &Set<'_>) -> f64 {
    let centre = centroid(set);
    set.profiles()
        .map(|profile| libm::sqrt(square_distance(profile, centre)))
        .sum()
}
