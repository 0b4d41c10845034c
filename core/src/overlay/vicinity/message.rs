use crate::id::NodeId;

/// What a node knows of another: what that one told of itself, and how long ago that was news.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Descriptor<P> {
    /// The node that it describes.
    pub id: NodeId,
    /// For how many cycles it has been around, wherever it was; saturates.
    pub age: u16,
    /// The number of the profile: of two profiles of a node, the one with the larger number counts.
    pub version: u64,
    /// What the node tells of itself.
    pub profile: P,
}

impl<P> Descriptor<P> {
    /// Whether this one counts, and not another one of the same node that was found after it: the later profile, and of the same
    /// profile the younger word.
    pub(super) fn outdoes(&self, later: &Self) -> bool {
        (self.version, later.age) >= (later.version, self.age)
    }
}

/// Some descriptors, at most `N`, kept in place.
pub type Descriptors<P, const N: usize> = heapless::Vec<Descriptor<P>, N>;

/// What nodes say to each other; at most `G` descriptors at a time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<P, const G: usize> {
    /// Who of those you know is near me? Here are some who are near you.
    Request {
        /// The asker's name for the exchange.
        exchange: ExchangeId,
        /// The asker's own descriptor, first, and those of the nearest to the peer that it knows.
        descriptors: Descriptors<P, G>,
    },
    /// Here are some who are near you.
    Reply {
        /// The asker's name for the exchange.
        exchange: ExchangeId,
        /// The answerer's own descriptor, first, and those of the nearest to the asker that it knows.
        descriptors: Descriptors<P, G>,
    },
}

/// The name of an exchange, unique among those that a node begins in one life: the number of its cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct ExchangeId(pub u32);
