//! Where made-up messages get their values from.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// Decides every number, length and variant of a made-up message.
pub trait Fill {
    /// A number up to this one.
    fn number(&mut self, most: u64) -> u64;

    /// The number of items in a list that has room for `most`.
    fn count(&mut self, most: usize) -> usize;

    /// The index of one of `variants` variants. The last variant is the longest.
    fn variant(&mut self, variants: usize) -> usize;
}

/// The largest values.
#[derive(Clone, Copy, Debug)]
pub struct Largest;

impl Fill for Largest {
    fn number(&mut self, most: u64) -> u64 {
        most
    }

    fn count(&mut self, most: usize) -> usize {
        most
    }

    fn variant(&mut self, variants: usize) -> usize {
        variants - 1
    }
}

/// Values that are easy to read: different numbers from 1 up, every fourth of several bytes; lists of two; one variant
/// after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    drawn: u64,
    chosen: usize,
}

impl Fill for Sample {
    fn number(&mut self, most: u64) -> u64 {
        self.drawn += 1;
        let number = match self.drawn % 4 {
            0 => self.drawn * 1000,
            _ => self.drawn,
        };
        number.min(most)
    }

    fn count(&mut self, most: usize) -> usize {
        most.min(2)
    }

    fn variant(&mut self, variants: usize) -> usize {
        self.chosen += 1;
        (self.chosen - 1) % variants
    }
}

/// Random values: numbers of every length, short lists and sometimes a full one.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The values of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end as u64) as usize
    }
}

impl Fill for Random {
    fn number(&mut self, most: u64) -> u64 {
        let bits = self.0.next_u64() % 64;
        (self.0.next_u64() >> bits).min(most)
    }

    fn count(&mut self, most: usize) -> usize {
        let most = match self.below(16) {
            0 => most.min(64),
            _ => most.min(4),
        };
        self.below(most + 1)
    }

    fn variant(&mut self, variants: usize) -> usize {
        self.below(variants)
    }
}
