//! The digest of everything that happened in a run.

use xxhash_rust::xxh3::Xxh3Default;

/// A running hash over the encoded bytes of every event, in order: equal digests mean equal histories.
///
/// It is no protection against forgery. Bytes are fed in little-endian order, so digests agree between machines.
#[derive(Clone)]
pub struct History {
    hash: Xxh3Default,
}

impl History {
    /// Nothing has happened.
    pub fn new() -> Self {
        Self {
            hash: Xxh3Default::new(),
        }
    }

    /// Adds these bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// Adds these words.
    pub fn words<const N: usize>(&mut self, words: [u64; N]) {
        for word in words {
            self.hash.update(&word.to_le_bytes());
        }
    }

    /// The digest so far, as 32 hexadecimal digits.
    pub fn digest(&self) -> String {
        format!("{:032x}", self.hash.digest128())
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
