//! Checks that bytes are the encoding of a message, without writing the encoding anywhere.

use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Where the encoding of a message first differs from these bytes, if it does.
pub(super) fn first_difference<M: Serialize>(message: &M, bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let same = Same { bytes, at: &mut at };
    match postcard::serialize_with_flavor(message, same) {
        Ok(()) if at == bytes.len() => None,
        _ => Some(at),
    }
}

/// Accepts written bytes only while they equal the expected ones.
struct Same<'a> {
    bytes: &'a [u8],
    /// How many bytes were equal.
    at: &'a mut usize,
}

impl Flavor for Same<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        if self.bytes.get(*self.at) != Some(&byte) {
            return Err(postcard::Error::SerializeBufferFull);
        }
        *self.at = self.at.saturating_add(1);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
