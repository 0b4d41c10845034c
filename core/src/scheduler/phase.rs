//! Random phases, so that nodes and jobs that came together do not always act together.

use rand_core::Rng;

use crate::rng::Choose;
use crate::time::Span;

/// Into how many parts a span is divided.
const PHASES: u32 = 256;

/// A random part of a span: more than nothing, and at most all of it.
pub(super) fn random_part(span: Span, rng: &mut dyn Rng) -> Span {
    let phase = u64::from(rng.below(PHASES)).saturating_add(1);
    let step = span.as_micros().checked_div(u64::from(PHASES));
    step.map_or(span, Span::from_micros).times(phase)
}

/// Three to five quarters of a span.
pub(super) fn about(span: Span, rng: &mut dyn Rng) -> Span {
    let micros = span.as_micros();
    let (half, quarter) = (Span::from_micros(micros / 2), Span::from_micros(micros / 4));
    half + quarter + random_part(half, rng)
}
