//! Random draws that are the same on every computer.

use gridweave_core::rng::Choose;
use gridweave_core::time::Span;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// A generator of random numbers.
pub(super) type Stream = Xoshiro256PlusPlus;

/// Separate streams for nodes and for jobs, so that the grid stays the same when the parameters of jobs change.
pub(super) fn streams(seed: u64) -> (Stream, Stream) {
    let mut root = Stream::seed_from_u64(seed);
    let nodes = Stream::seed_from_u64(root.next_u64());
    let jobs = Stream::seed_from_u64(root.next_u64());
    (nodes, jobs)
}

/// The longest time that a uniform draw spans: 49 days, as milliseconds in 32 bits.
pub(super) const LONGEST: Span = Span::from_millis(u32::MAX as u64);

/// One of the values, with a probability by its weight; zero if there are none.
pub(super) fn weighted(rng: &mut Stream, values: &[(u64, u32)]) -> u64 {
    let total = values.iter().map(|&(_, weight)| weight).sum();
    let mut left = rng.below(total);
    for &(value, weight) in values {
        match left.checked_sub(weight) {
            Some(rest) => left = rest,
            None => return value,
        }
    }
    0
}

/// A whole number of milliseconds from `low` to `high`, both included; at most [`LONGEST`] above `low`.
pub(super) fn uniform(rng: &mut Stream, low: Span, high: Span) -> Span {
    let millis = (high - low).as_micros() / 1000;
    let choices = u32::try_from(millis.saturating_add(1)).unwrap_or(u32::MAX);
    low + Span::from_millis(u64::from(rng.below(choices)))
}

/// A number from 0 to 1, both included, in millionths.
pub(super) fn millionths(rng: &mut Stream) -> u32 {
    rng.below(1_000_001)
}

/// True with this probability, exact to the millionth.
pub(super) fn happens(rng: &mut Stream, probability: f64) -> bool {
    let threshold = (probability * 1e6 + 0.5) as u32;
    rng.below(1_000_000) < threshold
}

/// Seconds, rounded to milliseconds; zero if negative.
pub(super) fn rounded(seconds: f64) -> Span {
    // Casts from floats saturate.
    Span::from_millis((seconds * 1e3 + 0.5) as u64)
}

/// A span as a number of seconds.
pub(super) fn seconds(span: Span) -> f64 {
    span.as_micros() as f64 / 1e6
}
