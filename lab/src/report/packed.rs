//! Long columns of numbers in few bytes.

use serde::{Serialize, Serializer};

/// Numbers in variable length: seven bits per byte, the lowest first; the highest bit says that more bytes follow. In a
/// page they are base64.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Packed(Vec<u8>);

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Packed {
    /// Adds a number.
    pub(crate) fn push(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Adds the step from one number to another. A step up is doubled; a step down is doubled, less one.
    pub(crate) fn push_step(&mut self, from: u64, to: u64) {
        match to.checked_sub(from) {
            Some(up) => self.push(up.saturating_mul(2)),
            None => self.push((from - to).saturating_mul(2) - 1),
        }
    }

    /// How many bytes the column takes in a page.
    pub(crate) fn size(&self) -> usize {
        self.0.len().div_ceil(3) * 4
    }

    fn base64(&self) -> String {
        let mut text = String::with_capacity(self.size());
        for three in self.0.chunks(3) {
            let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
            let word = byte(0) << 16 | byte(1) << 8 | byte(2);
            for place in 0..4 {
                if place <= three.len() {
                    let letter = word >> (18 - 6 * place) & 63;
                    text.push(char::from(LETTERS[letter as usize]));
                } else {
                    text.push('=');
                }
            }
        }
        text
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.base64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_a_byte_for_each_seven_bits() {
        let mut packed = Packed::default();
        packed.push(0);
        packed.push(127);
        packed.push(128);
        packed.push(u64::MAX);
        let mut bytes = vec![0, 127, 0x80, 1];
        bytes.extend([0xff; 9]);
        bytes.push(1);
        assert_eq!(packed.0, bytes);
    }

    #[test]
    fn steps_go_both_ways() {
        let mut packed = Packed::default();
        packed.push_step(5, 5);
        packed.push_step(5, 8);
        packed.push_step(8, 5);
        assert_eq!(packed.0, [0, 6, 5]);
    }

    #[test]
    fn text_is_base64() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob\xff\xfe", "Zm9vYv/+"),
        ] {
            let packed = Packed(bytes.into());
            assert_eq!(packed.base64(), text);
            assert_eq!(packed.size(), text.len());
        }
    }
}
