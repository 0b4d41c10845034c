//! Values as bytes.

use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Encodes values with postcard into a buffer that is used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Encoder {
    buffer: Vec<u8>,
}

/// Postcard's output, appended to a buffer.
struct Append<'a>(&'a mut Vec<u8>);

impl Flavor for Append<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

impl Encoder {
    /// The encoding of a value.
    ///
    /// # Panics
    /// If the value's own `Serialize` fails; those of plain data never do.
    pub(super) fn encode(&mut self, value: &impl Serialize) -> &[u8] {
        self.buffer.clear();
        postcard::serialize_with_flavor(value, Append(&mut self.buffer))
            .expect("plain data always encodes");
        &self.buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_postcards() {
        let value = (1_u64 << 40, "word", [Some(7_u8), None]);
        let mut encoder = Encoder::default();
        encoder.encode(&"something longer than what follows it");
        assert_eq!(
            encoder.encode(&value),
            postcard::to_allocvec(&value).unwrap()
        );
    }
}
