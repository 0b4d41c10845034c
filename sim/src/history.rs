//! The digest of everything that happened in a run.
//!
//! A [`Simulation`](crate::engine::Simulation) adds every event to its [`History`], in order. Values are added as
//! their bytes in postcard's format ([`encoded`]).
//!
//! ```
//! use gridweave_sim::history::{History, encoded};
//!
//! let (mut one, mut other) = (History::new(), History::new());
//! one.words([1, 2]);
//! other.words([1]);
//! assert_ne!(one.digest(), other.digest());
//! // Only the bytes and their order count, not how many calls add them.
//! other.words([2]);
//! assert_eq!(one.digest(), other.digest());
//!
//! assert_eq!(one.value([3], &"up"), encoded(&"up"));
//! ```

mod encode;

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3Default;

/// A running hash over the encoded bytes of every event, in order: equal digests mean equal histories.
///
/// It is no protection against forgery. Bytes are fed in little-endian order, so digests agree between machines.
#[derive(Clone)]
pub struct History {
    hash: Xxh3Default,
    /// Its beginning is what is not hashed yet: many small pieces at once are hashed faster than one by one.
    recent: Vec<u8>,
    /// How much that is.
    len: usize,
}

/// How many bytes a value has in a history, and so in postcard's format.
///
/// # Panics
/// If the value's own `Serialize` fails; those of plain data never do.
pub fn encoded_len(value: &impl Serialize) -> usize {
    encode::write(value, &mut [])
}

/// A value as its bytes in a history, which are postcard's format.
///
/// # Panics
/// If the value's own `Serialize` fails; those of plain data never do.
pub fn encoded(value: &impl Serialize) -> Vec<u8> {
    let len = encoded_len(value);
    let mut bytes = vec![0; len + encode::SPARE];
    encode::write(value, &mut bytes);
    bytes.truncate(len);
    bytes
}

/// How many bytes are hashed at once, or a little more.
const BLOCK: usize = 4096;

impl History {
    /// Nothing has happened.
    pub fn new() -> Self {
        Self {
            hash: Xxh3Default::new(),
            recent: vec![0; 2 * BLOCK],
            len: 0,
        }
    }

    /// Adds these bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.append(bytes);
        self.hash_if_enough();
    }

    /// Adds these words.
    #[inline]
    pub fn words<const N: usize>(&mut self, words: [u64; N]) {
        self.append(words.map(u64::to_le_bytes).as_flattened());
        self.hash_if_enough();
    }

    /// Adds these words, the length of a value's encoding as another word, and the encoding. Returns the encoding.
    pub fn value<const N: usize>(&mut self, words: [u64; N], value: &impl Serialize) -> &[u8] {
        self.append(words.map(u64::to_le_bytes).as_flattened());
        let begin = self.len + size_of::<u64>();
        self.make_room(begin);
        let mut len = encode::write(value, &mut self.recent[begin..]);
        if begin + len + encode::SPARE > self.recent.len() {
            self.make_room(begin + len + encode::SPARE);
            len = encode::write(value, &mut self.recent[begin..]);
        }
        self.append(&(len as u64).to_le_bytes());
        self.len += len;
        self.hash_if_enough();
        // What is hashed is still there until something else takes its place.
        &self.recent[begin..begin + len]
    }

    #[inline]
    fn append(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        self.make_room(end);
        self.recent[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    /// Makes room for `len` bytes that are not hashed yet.
    #[inline]
    fn make_room(&mut self, len: usize) {
        if len > self.recent.len() {
            self.recent.resize(len, 0);
        }
    }

    #[inline]
    fn hash_if_enough(&mut self) {
        if self.len >= BLOCK {
            self.hash.update(&self.recent[..self.len]);
            self.len = 0;
        }
    }

    /// The digest so far, as 32 hexadecimal digits.
    pub fn digest(&self) -> String {
        let mut hash = self.hash.clone();
        hash.update(&self.recent[..self.len]);
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
    fn what_is_encoded_is_what_postcard_writes() {
        for value in [vec![], vec![1_u64], vec![u64::MAX; 100]] {
            let bytes = postcard::to_allocvec(&value).unwrap();
            assert_eq!((encoded_len(&value), encoded(&value)), (bytes.len(), bytes));
        }
    }

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
                _ => assert_eq!(history.value([number], &text), encoded),
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
