use crate::few::Few;
use crate::id::NodeId;

/// What a node knows of another node: its profile, and how old that is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Descriptor<P> {
    /// The node that it describes.
    pub id: NodeId,
    /// How many cycles old it is, counted at all nodes that had it; saturates.
    pub age: u16,
    /// The number of the profile: of two profiles of a node, the one with the larger number counts.
    pub version: u64,
    /// What the node tells of itself.
    pub profile: P,
}

impl<P> Descriptor<P> {
    /// Whether this descriptor counts, and not `later`, which is of the same node and was found after it: the later
    /// profile counts, and of one profile the younger descriptor.
    pub(super) fn outdoes(&self, later: &Self) -> bool {
        (self.version, later.age) >= (later.version, self.age)
    }
}

/// Some descriptors, at most `N`, kept in place.
pub type Descriptors<P, const N: usize> = Few<Descriptor<P>, N>;

/// What nodes say to each other; at most `G` descriptors at a time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<P, const G: usize> {
    /// Which nodes that you know are near me? Here are some near you.
    Request {
        /// The asker's name for the exchange.
        exchange: ExchangeId,
        /// The asker's own descriptor, first, and those of the nearest to the peer that it knows.
        descriptors: Descriptors<P, G>,
    },
    /// Here are some nodes near you.
    Reply {
        /// The asker's name for the exchange.
        exchange: ExchangeId,
        /// The answerer's own descriptor, first, and those of the nearest to the asker that it knows.
        descriptors: Descriptors<P, G>,
    },
}

/// The name of an exchange, unique among the exchanges that a node begins in one life: the number of its cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct ExchangeId(pub u32);
