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

    /// The sum of the distances to the centroid.
    ///
    /// Roots are taken by multiplication alone, so that they are the same everywhere and several are taken at once.
    pub(super) fn spread(&self, chosen: &[u32]) -> f64 {
        let near = self.near.as_slice();
        let (chunks, rest) = chosen.as_chunks::<LANES>();
        let mut sums = [[0.0_f32; 4]; 2];
        for chunk in chunks {
            let [even, odd] = &mut sums;
            for [one, other] in chunk.as_chunks::<2>().0 {
                add(even, point(near, *one));
                add(odd, point(near, *other));
            }
        }
        let [mut centre, odd] = sums;
        add(&mut centre, &odd);
        rest.iter()
            .for_each(|&at| add(&mut centre, point(near, at)));
        let share = 1.0 / chosen.len().max(1) as f32;
        let [cx, cy, cz, _] = centre.map(|sum| sum * share);
        let centre = [cx, cy, cz];
        let mut total = [0.0_f32; LANES];
        for chunk in chunks {
            add_distances(&gather(near, chunk), centre, &mut total);
        }
        let last = rest.iter().map(|&at| {
            let [x, y, z, _] = point(near, at);
            let (x, y, z) = (x - cx, y - cy, z - cz);
            root(x * x + y * y + z * z)
        });
        f64::from(total.iter().copied().chain(last).sum::<f32>())
    }
}

/// Points by dimension, so that a register holds one dimension of several.
type Block = [[f32; LANES]; Coordinate::DIMENSIONS];

fn gather(near: &[[f32; 4]], chunk: &[u32; LANES]) -> Block {
    let points = chunk.map(|at| *point(near, at));
    [
        points.map(|[x, _, _, _]| x),
        points.map(|[_, y, _, _]| y),
        points.map(|[_, _, z, _]| z),
    ]
}

/// Adds each point's distance from the centre to the sum of its lane.
fn add_distances(
    [xs, ys, zs]: &Block,
    [cx, cy, cz]: [f32; Coordinate::DIMENSIONS],
    total: &mut [f32; LANES],
) {
    for (((total, x), y), z) in total.iter_mut().zip(xs).zip(ys).zip(zs) {
        let (x, y, z) = (x - cx, y - cy, z - cz);
        *total += root(x * x + y * y + z * z);
    }
}

fn point(near: &[[f32; 4]], at: u32) -> &[f32; 4] {
    near.get(at as usize).unwrap_or(&[0.0; 4])
}

fn add(sums: &mut [f32; 4], point: &[f32; 4]) {
    for (sum, part) in sums.iter_mut().zip(point) {
        *sum += part;
    }
}

/// A square root within a few units of the last place: three of Newton's steps towards its inverse, from the usual
/// guess.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_within_a_millionth_and_that_of_zero_is_zero() {
        assert_eq!(root(0.0), 0.0);
        let mut square = f32::MIN_POSITIVE;
        while square < 1e38 {
            let off = f64::from(root(square)) / libm::sqrt(f64::from(square)) - 1.0;
            assert!(off.abs() < 1e-6, "{square}: off by {off}");
            square *= 1.001;
        }
    }
}
