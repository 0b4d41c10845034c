//! Lists of bounded length as they travel: decoding stops at the first item too many, and believes no claimed length.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// Decodes at most `MOST` items.
pub(crate) fn list<'de, T, D, const MOST: usize>(decoder: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    decoder.deserialize_seq(Items::<T, MOST>(PhantomData))
}

struct Items<T, const MOST: usize>(PhantomData<fn() -> T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Items<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
        let claimed = seq.size_hint().unwrap_or(0);
        let mut items = Vec::with_capacity(claimed.min(MOST));
        while let Some(item) = seq.next_element()? {
            if items.len() == MOST {
                return Err(A::Error::invalid_length(MOST.saturating_add(1), &self));
            }
            items.push(item);
        }
        Ok(items)
    }
}
