//! The only hasher of the core's maps. It has no random seed, so a run is the same on every machine.
//!
//! These maps are never iterated. Each holds only what its owner keeps pending, so colliding keys that an adversary
//! picks cost at most one pass over the pending entries.

#[cfg(feature = "alloc")]
use core::hash::BuildHasherDefault;
use core::hash::Hasher;

/// A map with the fixed hasher.
#[cfg(feature = "alloc")]
pub(crate) type FixedMap<K, V> = hashbrown::HashMap<K, V, BuildHasherDefault<Mix>>;

/// Folds words by multiplication, which moves bits up only, and brings the high bits down once at the end.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Mix(u64);

/// 2^64 divided by the golden ratio, made odd.
const PHI: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(PHI);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        let folded = (self.0 ^ (self.0 >> 32)).wrapping_mul(PHI);
        folded ^ (folded >> 29)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::hash::BuildHasher;
    use std::collections::BTreeSet;

    #[test]
    fn neighbouring_keys_differ_in_the_bits_that_a_map_uses() {
        let build = BuildHasherDefault::<Mix>::default();
        let low: BTreeSet<u64> = (0..1024_u64)
            .map(|key| build.hash_one(key) & 0xfff)
            .collect();
        let pairs: BTreeSet<u64> = (0..1024_u64)
            .map(|key| build.hash_one((key / 32, key % 32)) & 0xfff)
            .collect();
        assert!(pairs.len() > 850, "{}", pairs.len());
        let strides: BTreeSet<u64> = (0..1024_u64)
            .map(|key| build.hash_one(key << 40) & 0xfff)
            .collect();
        assert!(strides.len() > 850, "{}", strides.len());
        let high: BTreeSet<u64> = (0..1024_u64).map(|key| build.hash_one(key) >> 57).collect();
        assert!(low.len() > 850, "{}", low.len());
        assert_eq!(high.len(), 128);
    }

    #[test]
    fn a_hash_depends_on_every_part_and_on_nothing_else() {
        let build = BuildHasherDefault::<Mix>::default();
        assert_eq!(
            build.hash_one((1_u64, 2_u32, 3_u8)),
            build.hash_one((1_u64, 2_u32, 3_u8))
        );
        let parts = [(1_u64, 2_u32, 3_u8), (2, 2, 3), (1, 3, 3), (1, 2, 4)];
        let distinct: BTreeSet<u64> = parts.iter().map(|part| build.hash_one(part)).collect();
        assert_eq!(distinct.len(), parts.len());
        assert_ne!(build.hash_one("abcdefgh-a"), build.hash_one("abcdefgh-b"));
        assert_ne!(build.hash_one(1_usize), build.hash_one(2_usize));
        assert_ne!(build.hash_one([1_u8; 3]), build.hash_one([1_u8; 4]));
    }
}
