//! Random numbers that depend only on the seed and on their use. So leaving one thing out changes no other.

use gridweave_core::rand_core::{Infallible, TryRng};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};

/// A small generator (SplitMix64) that can be part of a machine's state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Dice(u64);

/// What a random number is for. Each use has its own stream.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(crate) enum For {
    Shape = 1,
    Picks,
    Network,
    Engine,
    Overlay,
    Rules,
    Equipment,
    Job,
    Submission,
    Fault,
    Lies,
    Clocks,
    Residues,
    Samples,
    Lengths,
    Survivors,
    Foreign,
    Retries,
    Kinds,
    Recoveries,
}

impl Dice {
    /// The dice of a seed for one use; `number` tells several dice of one use apart.
    pub(crate) fn new(seed: u64, use_for: For, number: u64) -> Self {
        let mut dice = Self(seed ^ 0x5851_f42d_4c95_7f2d);
        for word in [use_for as u64, number] {
            let mixed = dice.next();
            dice = Self(mixed ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        dice
    }

    /// A seed for a generator of another kind.
    pub(crate) fn seed(mut self) -> u64 {
        self.next()
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// True with a chance of so many in a hundred.
    pub(crate) fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    /// A number between two, both included.
    pub(crate) fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most.saturating_sub(least).saturating_add(1))
    }

    /// A whole number of milliseconds below a span.
    pub(crate) fn within(&mut self, span: Span) -> Span {
        let millis = u32::try_from(span.as_micros() / 1000).unwrap_or(u32::MAX);
        Span::from_millis(u64::from(self.below(millis)))
    }

    /// A moment before this.
    pub(crate) fn before(&mut self, end: Time) -> Time {
        Time::ZERO + self.within(end - Time::ZERO)
    }
}

impl TryRng for Dice {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for byte in bytes {
            *byte = self.next() as u8;
        }
        Ok(())
    }
}
