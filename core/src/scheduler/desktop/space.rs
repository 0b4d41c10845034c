//! The coordinates of nodes and jobs in the space of capabilities (PROTOCOLS 3.2, coordinates).

use rand_core::Rng;

use crate::overlay::can::{END, Point};
use crate::resource::{Capability, Dimensions, Requirement};

/// Fraction bits of a logarithm.
const PLACES: u32 = 26;

/// The point of a node's capability. Virtual coordinates are drawn.
pub(super) fn point_of<const D: usize>(
    dimensions: &Dimensions,
    most: &Capability,
    has: &Capability,
    virtual_dimensions: usize,
    rng: &mut (impl Rng + ?Sized),
) -> Point<D> {
    let amounts = dimensions
        .iter()
        .map(|(k, ..)| (has.value(k), most.value(k)));
    drawn(amounts, virtual_dimensions, rng)
}

/// The point of a requirement: zero where it names nothing. Virtual coordinates are drawn.
pub(super) fn point_for<const D: usize>(
    dimensions: &Dimensions,
    most: &Capability,
    needs: &Requirement,
    virtual_dimensions: usize,
    rng: &mut (impl Rng + ?Sized),
) -> Point<D> {
    let needed = dimensions.iter();
    let amounts = needed.map(|(k, ..)| (needs.value(k).unwrap_or(0), most.value(k)));
    drawn(amounts, virtual_dimensions, rng)
}

fn drawn<const D: usize>(
    amounts: impl Iterator<Item = (u64, u64)>,
    virtual_dimensions: usize,
    rng: &mut (impl Rng + ?Sized),
) -> Point<D> {
    let mut coordinates = [0; D];
    for (at, (amount, most)) in coordinates.iter_mut().zip(amounts) {
        *at = coordinate(amount, most);
    }
    Point::new(coordinates).redrawn(virtual_dimensions, rng)
}

/// Maps an amount between zero and the most to a coordinate, by its logarithm: each doubling is about equally far.
/// Never decreasing, and the same for all nodes.
pub(super) fn coordinate(amount: u64, most: u64) -> u32 {
    // One more, so that the most lies below `END`.
    let whole = logarithm(most).saturating_add(1);
    let part = u128::from(logarithm(amount.min(most))).saturating_mul(u128::from(END));
    let at = part.checked_div(u128::from(whole)).unwrap_or(0);
    u32::try_from(at).unwrap_or(END)
}

/// The binary logarithm of `amount + 1` in fixed point, linear between powers of two.
fn logarithm(amount: u64) -> u64 {
    let one_more = amount.saturating_add(1);
    let power = one_more.ilog2();
    // The bits below the leading one are the fraction, shifted to `PLACES` bits.
    let rest = one_more ^ (1_u64 << power);
    let places = if power >= PLACES {
        rest >> power.saturating_sub(PLACES)
    } else {
        rest << PLACES.saturating_sub(power)
    };
    (u64::from(power) << PLACES) | places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_grow_with_the_amount_and_stay_below_the_end() {
        let most = 1_000_000;
        assert_eq!(coordinate(0, most), 0);
        let all = (0..2000).chain((1..1000).map(|k| k * 1000)).chain([most]);
        let mut last = 0;
        for amount in all.collect::<std::collections::BTreeSet<u64>>() {
            let at = coordinate(amount, most);
            assert!(at > last || amount == 0, "{amount}");
            last = at;
        }
        assert!(last < END);
        assert_eq!(coordinate(u64::MAX, most), coordinate(most, most));
        assert!(coordinate(u64::MAX, u64::MAX) < END);
        assert!(coordinate(0, 0) < END);
    }
}
