//! Choices by a seed: SplitMix64.

/// A stream of choices.
#[derive(Clone)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, which is not zero.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    /// A number between these two.
    pub(crate) fn between(&mut self, least: f64, most: f64) -> f64 {
        let part = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        least + part * (most - least)
    }

    /// Whether something happens that has this probability.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.between(0.0, 1.0) < probability
    }
}
