//! Remembers what searches of a profile found, so that equal jobs are not searched for one by one.

use gridweave_core::time::{Span, Time};

/// How many shapes are remembered. Users submit many jobs of one shape in a row, so a few are enough.
const SHAPES: usize = 64;
const TICK: Span = Span::from_micros(1);

/// No job of this size and length fits before `none_before`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Known {
    size: u32,
    length: Span,
    none_before: Time,
}

/// For some shapes of jobs, a time before which none fits in the profile as it stands.
///
/// Reservations keep this true. Releases must be reported to it.
#[derive(Debug)]
pub(super) struct KnownFits {
    known: [Known; SHAPES],
}

impl KnownFits {
    const NOTHING: Known = Known {
        size: 0,
        length: Span::ZERO,
        none_before: Time::ZERO,
    };

    /// Nothing is known.
    pub(super) const fn new() -> Self {
        Self {
            known: [Self::NOTHING; SHAPES],
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.known.fill(Self::NOTHING);
    }

    /// The earliest start that a search for this shape must consider.
    pub(super) fn none_before(&self, size: u32, length: Span) -> Time {
        let known = &self.known[slot(size, length)];
        if (known.size, known.length) == (size, length) {
            known.none_before
        } else {
            Time::ZERO
        }
    }

    /// A search for this shape found that none fits before this time.
    pub(super) fn learn(&mut self, size: u32, length: Span, none_before: Time) {
        self.known[slot(size, length)] = Known {
            size,
            length,
            none_before,
        };
    }

    /// Processors became free from this time on: a job that reaches into that time may fit now.
    pub(super) fn released(&mut self, from: Time) {
        for known in &mut self.known {
            known.none_before = known.none_before.min(from + TICK - known.length);
        }
    }
}

/// The index at which a shape is remembered. Another shape may have the same.
fn slot(size: u32, length: Span) -> usize {
    let mixed =
        (length.as_micros() ^ u64::from(size).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 58) as usize
}
