//! One immutable value behind a pointer, for messages that many get.

use alloc::sync::Arc;

/// Something large that travels behind one pointer and is shared when cloned.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shared<T>(Arc<T>);

impl<T: Clone> Shared<T> {
    /// Puts it there.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// A look at it.
    pub fn get(&self) -> &T {
        &self.0
    }

    /// Whether the two are one, not only equal.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Takes it out, or a copy if others share it.
    pub fn take(self) -> T {
        Arc::unwrap_or_clone(self.0)
    }
}

#[cfg(feature = "serde")]
mod encoding {
    use super::Shared;
    use alloc::sync::Arc;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl<T: Serialize> Serialize for Shared<T> {
        fn serialize<S: Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(encoder)
        }
    }

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
        fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
            Ok(Self(Arc::new(T::deserialize(decoder)?)))
        }
    }
}
