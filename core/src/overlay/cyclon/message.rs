use crate::id::{Incarnation, NodeId};
use crate::overlay::view::{Link, Links};

/// What nodes say to each other; at most `L` links at a time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<const L: usize> {
    /// Let us exchange links; here are some of mine, the first to myself.
    Shuffle {
        /// The asker's name for the exchange.
        exchange: ExchangeId,
        /// The asker's links.
        links: Links<L>,
    },
    /// Here are some of mine.
    Shuffled {
        /// The asker's name for the exchange.
        exchange: ExchangeId,
        /// The answerer's links.
        links: Links<L>,
    },
    /// I am new here: please introduce me.
    Join {
        /// The joiner's life.
        incarnation: Incarnation,
    },
    /// A random walk that looks for a node to trade links with a joiner.
    JoinWalk {
        /// The node that joins.
        joiner: NodeId,
        /// The joiner's life.
        incarnation: Incarnation,
        /// How many steps the walk has left.
        ttl: u8,
        /// How many more steps it may take if it ends where the joiner is known.
        spare: u8,
    },
    /// To the joiner, from the end of a walk: I have a link to you now, and here is one for you.
    JoinGive {
        /// The joiner's life.
        joiner: Incarnation,
        /// The link for the joiner.
        link: Link,
        /// The giver's life.
        giver: Incarnation,
    },
}

impl<const L: usize> Message<L> {
    /// The links that it carries.
    pub fn links(&self) -> &[Link] {
        match self {
            Self::Shuffle { links, .. } | Self::Shuffled { links, .. } => links,
            Self::JoinGive { link, .. } => core::slice::from_ref(link),
            Self::Join { .. } | Self::JoinWalk { .. } => &[],
        }
    }
}

/// The name of an exchange, unique among the exchanges that a node begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ExchangeId {
    /// The life in which it began.
    pub incarnation: Incarnation,
    /// The cycle in which it began.
    pub cycle: u32,
}
