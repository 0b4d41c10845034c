//! Names of things: nodes, jobs, and the counters that tell an old attempt or life from a newer one.
//!
//! A name is a number with a type of its own, so that a node cannot stand where a job is meant.
//!
//! ```
//! use gridweave_core::id::{Epoch, Incarnation, JobId, NodeId};
//!
//! assert_eq!(format!("{} on {}", JobId::new(9), NodeId::new(7)), "j9 on n7");
//! assert!(Incarnation::new(2) < Incarnation::new(2).next());
//! // The next attempt fences the last one, and the numbers of attempts do not wrap.
//! assert_eq!(Epoch::new(0).next(), Some(Epoch::new(1)));
//! assert_eq!(Epoch::new(u64::MAX).next(), None);
//! ```

use core::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(transparent))]
        pub struct $name($inner);

        impl $name {
            /// The one with this number.
            pub const fn new(number: $inner) -> Self {
                Self(number)
            }

            /// Its number.
            pub const fn get(self) -> $inner {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

number! {
    /// A node of the grid: 64 bits that the node draws at random, without asking any other node.
    NodeId(u64), "n"
}

number! {
    /// A job. Its user chooses the number: 64 random bits, or any other number that is unique in the grid.
    JobId(u64), "j"
}

number! {
    /// A user of the grid.
    UserId(u32), "u"
}

number! {
    /// A virtual organisation.
    OrganisationId(u32), "o"
}

number! {
    /// The number of an attempt at a job. It strictly increases per job, so that a later attempt fences an earlier one.
    Epoch(u64), "e"
}

number! {
    /// The number of a node's life. It grows with each restart, so that a peer can tell messages of an earlier life.
    Incarnation(u32), "i"
}

#[cfg(test)]
impl From<u64> for NodeId {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl Epoch {
    /// The epoch of the next attempt, or `None` at the last one: a peer may forge that number, and saturating would
    /// give two attempts one name.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(next) => Some(Self(next)),
            None => None,
        }
    }
}

impl Incarnation {
    /// The incarnation of the next life; saturates after four billion restarts, which then count as one life.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_end_and_incarnations_saturate() {
        assert_eq!(Epoch::new(1).next(), Some(Epoch::new(2)));
        assert_eq!(Epoch::new(u64::MAX).next(), None);
        assert_eq!(Incarnation::new(1).next(), Incarnation::new(2));
        assert_eq!(
            Incarnation::new(u32::MAX).next(),
            Incarnation::new(u32::MAX)
        );
    }

    #[test]
    fn ids_print_with_their_kind() {
        assert_eq!(
            std::format!("{} {:?}", NodeId::new(7), JobId::new(9)),
            "n7 j9"
        );
        assert_eq!(NodeId::new(7).get(), 7);
    }
}
