//! Random choices: each takes exactly one `u32` from the host's generator.
//!
//! Machines never draw bits themselves. They choose through [`Choose`], so that a stream of choices is the same on 32
//! and 64 bits, and a model checker can enumerate it: a choice among `n` is one draw with `n` outcomes, and a choice
//! among one or none draws nothing.
//!
//! A choice maps `u32` onto `0..n` by multiplication. It is uneven by less than `n / 2^32`, which no scheduler can
//! tell; rejecting draws to make it even would make the number of draws depend on their values.
//!
//! ```
//! use gridweave_core::rng::Choose;
//! use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//!
//! let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//! assert!(rng.below(6) < 6);
//!
//! let mut nodes = [10, 11, 12, 13, 14];
//! let (chosen, rest) = rng.sample(&mut nodes, 2);
//! assert_eq!((chosen.len(), rest.len()), (2, 3));
//! ```

use rand_core::Rng;

/// Choices on top of any generator.
pub trait Choose: Rng {
    /// A number in `0..n`; zero if `n` is 0 or 1, and then nothing is drawn.
    fn below(&mut self, n: u32) -> u32 {
        if n <= 1 {
            return 0;
        }
        let product = u64::from(self.next_u32()).wrapping_mul(u64::from(n));
        (product >> 32) as u32
    }

    /// An index into something of this length; lengths beyond `u32` are never reached.
    fn index(&mut self, len: usize) -> usize {
        self.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
    }

    /// One of the items.
    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// Puts a uniform sample of `count` items, in random order, at the front and returns it with the rest.
    ///
    /// Without replacement; one choice per sampled item. A `count` beyond the length shuffles everything.
    fn sample<'a, T>(&mut self, items: &'a mut [T], count: usize) -> (&'a mut [T], &'a mut [T]) {
        let count = count.min(items.len());
        for front in 0..count {
            let offset = self.index(items.len().saturating_sub(front));
            items.swap(front, front.saturating_add(offset));
        }
        items.split_at_mut(count)
    }

    /// Puts the items in random order.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        self.sample(items, items.len());
    }
}

impl<R: Rng + ?Sized> Choose for R {}

/// For tests: every choice takes the first option.
#[cfg(test)]
pub(crate) struct Zeros;

#[cfg(test)]
impl rand_core::TryRng for Zeros {
    type Error = core::convert::Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(0)
    }
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        panic!("a choice draws u32 only")
    }
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
        panic!("a choice draws u32 only")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;
    use std::vec::Vec;

    /// Counts draws and replays chosen ones.
    struct Script<'a>(&'a [u32], usize);

    impl rand_core::TryRng for Script<'_> {
        type Error = core::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            self.1 += 1;
            Ok(self.0[self.1 - 1])
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            panic!("a choice draws u32 only")
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            panic!("a choice draws u32 only")
        }
    }

    fn stream() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(0x6772_6964)
    }

    #[test]
    fn one_choice_is_one_draw_and_no_choice_is_none() {
        let mut script = Script(&[u32::MAX, 0, 1 << 31], 0);
        assert_eq!(script.below(0), 0);
        assert_eq!(script.below(1), 0);
        assert_eq!(script.1, 0);
        assert_eq!(script.below(7), 6);
        assert_eq!(script.below(7), 0);
        assert_eq!(script.below(7), 3);
        assert_eq!(script.1, 3);
    }

    #[test]
    fn the_streams_of_choices_are_golden() {
        let mut rng = stream();
        let below: Vec<u32> = (0..12).map(|_| rng.below(100)).collect();
        assert_eq!(below, GOLDEN_BELOW);
        let mut items: Vec<u32> = (0..10).collect();
        rng.shuffle(&mut items);
        assert_eq!(items, GOLDEN_SHUFFLE);
        let (sample, _) = rng.sample(&mut items, 3);
        assert_eq!(sample, GOLDEN_SAMPLE);
        assert_eq!(rng.pick(&items), Some(&GOLDEN_PICK));
    }
    const GOLDEN_BELOW: [u32; 12] = [52, 76, 86, 10, 35, 29, 22, 51, 52, 26, 94, 97];
    const GOLDEN_SHUFFLE: [u32; 10] = [5, 6, 9, 8, 3, 4, 0, 7, 2, 1];
    const GOLDEN_SAMPLE: [u32; 3] = [6, 9, 5];
    const GOLDEN_PICK: u32 = 8;

    #[test]
    fn a_sample_is_without_replacement_and_leaves_the_rest() {
        let mut rng = stream();
        for count in 0..8 {
            let mut items = [0, 1, 2, 3, 4];
            let (sample, rest) = rng.sample(&mut items, count);
            assert_eq!(sample.len(), count.min(5));
            assert_eq!(sample.len() + rest.len(), 5);
            items.sort_unstable();
            assert_eq!(items, [0, 1, 2, 3, 4]);
        }
        assert_eq!(rng.pick::<u8>(&[]), None);
    }

    #[test]
    fn every_outcome_is_about_as_likely() {
        let mut rng = stream();
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[rng.below(6) as usize] += 1;
        }
        assert!(
            counts.iter().all(|&c| (9_700..10_300).contains(&c)),
            "{counts:?}"
        );
        let mut first = [0_u32; 5];
        for _ in 0..50_000 {
            let mut items = [0_usize, 1, 2, 3, 4];
            rng.shuffle(&mut items);
            first[items[4]] += 1;
        }
        assert!(
            first.iter().all(|&c| (9_600..10_400).contains(&c)),
            "{first:?}"
        );
    }
}
