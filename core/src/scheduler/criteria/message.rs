use alloc::sync::Arc;

use crate::commit;
use crate::overlay::cyclon;
use crate::overlay::vicinity;
use crate::profile::Profile;
use crate::schedule::Snapshot;
use crate::shared::Shared;

/// What a node knows of another.
pub type Descriptor = vicinity::Descriptor<Profile>;

/// The messages between nodes. Gossip carries profiles, so its bodies are behind a pointer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<const L: usize, const G: usize> {
    /// A message of the random overlay, with profiles.
    Overlay {
        /// The message of the overlay, with its links.
        message: cyclon::Message<L>,
        /// The sender's own profile, and the known profiles of the nodes in `message`.
        about: Descriptors,
    },
    /// A message of a helper overlay.
    Helper {
        /// The number of the helper overlay.
        number: u8,
        /// The message of the helper overlay.
        message: Shared<vicinity::Message<Profile, G>>,
    },
    /// A message of the two-phase commit, which confirms a placement.
    Commit(commit::Message),
    /// From a submitter: asks for the receiver's profile, schedule and links.
    Look {
        /// The submitter's name for the question.
        look: LookId,
        /// Which links of the receiver are wanted.
        through: Through,
    },
    /// The answer to [`Look`](Self::Look).
    Seen {
        /// The submitter's name for the question.
        look: LookId,
        /// The sender's own descriptor.
        own: Descriptor,
        /// When the sender is busy.
        schedule: Snapshot,
        /// The sender's links of the wanted kind.
        links: Descriptors,
    },
}

/// Which links of a node are asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Through {
    /// The links of the random overlay.
    Random,
    /// The links of the helper overlay with this number.
    Helper(u8),
    /// No links: only the node itself is of interest.
    NoLink,
}

/// A submitter's name for one search for nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct LookId(pub(super) u32);

/// A list of descriptors. Clones share it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Descriptors(Arc<[Descriptor]>);

impl Descriptors {
    /// The most entries that are sent or decoded.
    pub const MOST: usize = 64;

    /// The descriptors, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &Descriptor> {
        self.0.iter()
    }

    /// The descriptors as a slice, in the order in which they were given.
    pub fn as_slice(&self) -> &[Descriptor] {
        &self.0
    }
}

impl FromIterator<Descriptor> for Descriptors {
    fn from_iter<I: IntoIterator<Item = Descriptor>>(descriptors: I) -> Self {
        Self(descriptors.into_iter().take(Self::MOST).collect())
    }
}

#[cfg(feature = "serde")]
mod encoding {
    use super::{Descriptor, Descriptors};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl Serialize for Descriptors {
        fn serialize<S: Serializer>(&self, encoder: S) -> Result<S::Ok, S::Error> {
            encoder.collect_seq(self.0.iter())
        }
    }

    impl<'de> Deserialize<'de> for Descriptors {
        fn deserialize<D: Deserializer<'de>>(decoder: D) -> Result<Self, D::Error> {
            let read = crate::bounded::list::<Descriptor, D, { Self::MOST }>(decoder)?;
            Ok(Self(read.into()))
        }
    }
}
