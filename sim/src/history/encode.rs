//! Values as bytes.

use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Postcard's output, appended to a buffer.
struct Append<'a>(&'a mut Vec<u8>);

impl Flavor for Append<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    /// Most pieces are numbers of a few bytes, for which a copy of any length would take longer than the rest of the encoding.
    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        match *bytes {
            [a] => self.0.push(a),
            [a, b] => self.0.extend_from_slice(&[a, b]),
            [a, b, c] => self.0.extend_from_slice(&[a, b, c]),
            [a, b, c, d] => self.0.extend_from_slice(&[a, b, c, d]),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Appends the encoding of a value.
///
/// # Panics
/// If the value's own `Serialize` fails; those of plain data never do.
pub(super) fn append(value: &impl Serialize, to: &mut Vec<u8>) {
    postcard::serialize_with_flavor(value, Append(to)).expect("plain data always encodes");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_postcards() {
        let value = (
            [1_u64, 1 << 10, 1 << 20, 1 << 27, 1 << 40],
            "word",
            [Some(7_u8), None],
        );
        let mut bytes = b"before".to_vec();
        append(&value, &mut bytes);
        let mut expected = b"before".to_vec();
        expected.extend(postcard::to_allocvec(&value).unwrap());
        assert_eq!(bytes, expected);
    }
}
