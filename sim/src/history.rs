//! The digest of everything that happened in a run.

mod encode;

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3Default;

/// A running hash over the encoded bytes of every event, in order: equal digests mean equal histories.
///
/// It is no protection against forgery. Bytes are fed in little-endian order, so digests agree between machines.
#[derive(Clone)]
pub struct History {
    hash: Xxh3Default,
    /// What is not hashed yet: many small pieces at once are hashed faster than one by one.
    recent: Vec<u8>,
}

/// So many bytes are hashed at once, or a little more.
const BLOCK: usize = 4096;

impl History {
    /// Nothing has happened.
    pub fn new() -> Self {
        Self {
            hash: Xxh3Default::new(),
            recent: Vec::with_capacity(2 * BLOCK),
        }
    }

    /// Adds these bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.recent.extend_from_slice(bytes);
        self.hash_if_enough();
    }

    /// Adds these words.
    #[inline]
    pub fn words<const N: usize>(&mut self, words: [u64; N]) {
        self.append(words);
        self.hash_if_enough();
    }

    /// Adds these words, the length of a value's encoding as another word, and the encoding. Returns the length.
    pub fn value<const N: usize>(&mut self, words: [u64; N], value: &impl Serialize) -> usize {
        self.append(words);
        self.append([0]);
        let begin = self.recent.len();
        encode::append(value, &mut self.recent);
        let len = self.recent.len() - begin;
        let word = begin - size_of::<u64>()..begin;
        self.recent[word].copy_from_slice(&(len as u64).to_le_bytes());
        self.hash_if_enough();
        len
    }

    #[inline]
    fn append<const N: usize>(&mut self, words: [u64; N]) {
        let bytes = words.map(u64::to_le_bytes);
        self.recent.extend_from_slice(bytes.as_flattened());
    }

    #[inline]
    fn hash_if_enough(&mut self) {
        if self.recent.len() >= BLOCK {
            self.hash.update(&self.recent);
            self.recent.clear();
        }
    }

    /// The digest so far, as 32 hexadecimal digits.
    pub fn digest(&self) -> String {
        let mut hash = self.hash.clone();
        hash.update(&self.recent);
        format!("{:032x}", hash.digest128())
    }
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "History({})", self.digest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_128;

    #[test]
    fn the_digest_is_over_all_bytes_in_order_however_they_came() {
        let mut history = History::new();
        let mut all = Vec::new();
        for number in 0..3 * BLOCK as u64 {
            let text = "x".repeat((number % 300) as usize);
            let encoded = postcard::to_allocvec(&text).unwrap();
            match number % 3 {
                0 => history.bytes(&encoded),
                1 => history.words([number, 7]),
                _ => assert_eq!(history.value([number], &text), encoded.len()),
            }
            match number % 3 {
                0 => {}
                1 => all.extend([number, 7].map(u64::to_le_bytes).as_flattened()),
                _ => all.extend(
                    [number, encoded.len() as u64]
                        .map(u64::to_le_bytes)
                        .as_flattened(),
                ),
            }
            if number % 3 != 1 {
                all.extend(encoded);
            }
            if number % 1000 == 0 {
                assert_eq!(history.digest(), format!("{:032x}", xxh3_128(&all)));
            }
        }
        assert_eq!(history.digest(), format!("{:032x}", xxh3_128(&all)));
    }
}
