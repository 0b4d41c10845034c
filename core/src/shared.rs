//! An immutable value behind a pointer, for a message with many receivers.
//!
//! A node that sends one list to thirty neighbours copies thirty pointers. In a frame, a [`Shared`] value has the bytes
//! of the value alone.
//!
//! ```
//! use gridweave_core::shared::Shared;
//!
//! let told = Shared::new(vec![1, 2, 3]);
//! let copy = told.clone();
//! assert!(copy.is(&told));
//! assert_eq!(copy.get().len(), 3);
//! // An equal value of its own is equal, but not the same.
//! let other = Shared::new(vec![1, 2, 3]);
//! assert!(other == told && !other.is(&told));
//! ```

use alloc::sync::Arc;

/// A large value behind a pointer; clones share it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shared<T>(Arc<T>);

impl<T: Clone> Shared<T> {
    /// Moves a value behind a pointer.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// The value.
    pub fn get(&self) -> &T {
        &self.0
    }

    /// Whether both share one value; equal values in two places do not count.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Takes the value out, or a copy if it is shared.
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
