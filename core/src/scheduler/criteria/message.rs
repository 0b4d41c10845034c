use alloc::sync::Arc;

use crate::commit;
use crate::overlay::cyclon;
use crate::overlay::vicinity;
use crate::profile::Profile;
use crate::schedule::Snapshot;
use crate::shared::Shared;

/// What a node knows of another.
pub type Descriptor = vicinity::Descriptor<Profile>;

/// What nodes say to each other. Gossip carries profiles, so its bodies are behind a pointer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<const L: usize, const G: usize> {
    /// Of the random overlay.
    Overlay {
        /// The links.
        message: cyclon::Message<L>,
        /// The sender's own profile, and those of the nodes linked to that it knows.
        about: Descriptors,
    },
    /// Of a helper overlay.
    Helper {
        /// Its number.
        number: u8,
        /// What it says.
        message: Shared<vicinity::Message<Profile, G>>,
    },
    /// To confirm a place.
    Commit(commit::Message),
    /// When are you busy, and whom do you know?
    Look {
        /// The asker's name for the question.
        look: LookId,
        /// Which of your links.
        through: Through,
    },
    /// Then, and these.
    Seen {
        /// The asker's name for the question.
        look: LookId,
        /// What the node tells of itself.
        own: Descriptor,
        /// When it is busy.
        schedule: Snapshot,
        /// Its links.
        links: Descriptors,
    },
}

/// Through which links nodes are found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Through {
    /// Those of the random overlay.
    Random,
    /// Those of the helper overlay with this number.
    Helper(u8),
    /// None: only the node itself is asked about.
    Nobody,
}

/// An asker's name for a question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct LookId(pub(super) u32);

/// Some descriptors, shared when cloned.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Descriptors(Arc<[Descriptor]>);

impl Descriptors {
    /// The most of them that are told or read: as many as a view can have.
    pub const MOST: usize = 64;

    /// They.
    pub fn iter(&self) -> impl Iterator<Item = &Descriptor> {
        self.0.iter()
    }

    /// They, one after the other.
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
