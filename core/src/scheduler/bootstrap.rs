use alloc::vec::Vec;
use core::fmt;

use rand_core::Rng;

use crate::config::{Bound, ConfigError, Value};
use crate::id::NodeId;
use crate::overlay::cyclon;
use crate::rng::Choose;

/// How a node gets into the overlay.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Bootstrap {
    /// The node is the first, or the only one.
    Alone,
    /// The introducers, through one of which the node joins.
    Join(Introducers),
    /// The node's neighbours, for a host that lays out an overlay by hand.
    Meet(Vec<NodeId>),
}

/// The nodes through which another one joins: at least one, at most [`Introducers::MOST`].
///
/// The joiner asks the first one. If it gets no link, it asks the next one, and so on, and then begins again. It keeps
/// all of them as contacts. All nodes may have the same list: a node that finds itself in it does not ask itself.
///
/// ```
/// use gridweave_core::id::NodeId;
/// use gridweave_core::scheduler::{Bootstrap, Introducers, IntroducersError};
///
/// // One, or several.
/// let one = Bootstrap::Join(NodeId::new(7).into());
/// let some = Bootstrap::Join([7, 8, 9].map(NodeId::new).into());
/// assert_ne!(one, some);
///
/// // From a file, perhaps, in which there may be too many.
/// let read: Vec<NodeId> = (0..5).map(NodeId::new).collect();
/// assert_eq!(Introducers::try_from(&read[..]), Err(IntroducersError::TooMany { count: 5 }));
/// assert_eq!(Introducers::try_from(&read[..1]), Ok(NodeId::new(0).into()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Introducers {
    first: NodeId,
    others: [Option<NodeId>; Introducers::MOST - 1],
}

/// Why a list cannot be [`Introducers`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum IntroducersError {
    /// The list is empty. A node that joins through none starts [`Bootstrap::Alone`].
    None,
    /// There are more than [`Introducers::MOST`].
    TooMany {
        /// How many there are.
        count: usize,
    },
}

impl fmt::Display for IntroducersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("there is no introducer: name one, or start alone"),
            Self::TooMany { count } => {
                let most = Introducers::MOST;
                write!(f, "there are {count} introducers: name at most {most}")
            }
        }
    }
}

impl core::error::Error for IntroducersError {}

impl Introducers {
    /// The most introducers of a node: half of its contacts, so that the other half may be peers that it met later.
    pub const MOST: usize = 4;

    /// The introducers, the one that is asked first before the others.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        [self.first]
            .into_iter()
            .chain(self.others.into_iter().flatten())
    }

    /// Refuses a list that has no node but the joiner itself.
    pub(super) fn check(&self, me: NodeId) -> Result<(), ConfigError> {
        match self.iter().all(|introducer| introducer == me) {
            true => Err(joins_itself(me)),
            false => Ok(()),
        }
    }

    /// The introducers in the order in which an overlay hears of them: the first one, which it asks at once, and then
    /// the others from the last one on, for overlays ask the newest contact first.
    pub(crate) fn as_told(&self) -> impl Iterator<Item = NodeId> + '_ {
        let others = self.others.into_iter().flatten();
        [self.first].into_iter().chain(others.rev())
    }
}

impl From<NodeId> for Introducers {
    fn from(first: NodeId) -> Self {
        let others = [None; Self::MOST - 1];
        Self { first, others }
    }
}

/// An array that is empty or too long does not compile.
impl<const N: usize> From<[NodeId; N]> for Introducers {
    fn from(introducers: [NodeId; N]) -> Self {
        const {
            assert!(N > 0, "a node that joins needs an introducer");
            assert!(N <= Self::MOST, "there are too many introducers");
        }
        let mut introducers = introducers.into_iter();
        // The array is not empty, so there is a first one.
        let first = introducers.next().unwrap_or_default();
        let others = core::array::from_fn(|_| introducers.next());
        Self { first, others }
    }
}

impl TryFrom<&[NodeId]> for Introducers {
    type Error = IntroducersError;

    fn try_from(introducers: &[NodeId]) -> Result<Self, IntroducersError> {
        let [first, others @ ..] = introducers else {
            return Err(IntroducersError::None);
        };
        if others.len() >= Self::MOST {
            let count = introducers.len();
            return Err(IntroducersError::TooMany { count });
        }
        let mut others = others.iter().copied();
        let others = core::array::from_fn(|_| others.next());
        Ok(Self {
            first: *first,
            others,
        })
    }
}

/// What a node that wants into an overlay tells its overlay about a peer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Approach {
    /// Ask this introducer.
    Join(NodeId),
    /// Keep this introducer as a contact, to be asked if the others do not answer.
    Know(NodeId),
    /// Link to this peer.
    Meet(NodeId),
}

impl From<Approach> for cyclon::Command {
    fn from(approach: Approach) -> Self {
        match approach {
            Approach::Join(introducer) => Self::Join { introducer },
            Approach::Know(peer) => Self::Know(peer),
            Approach::Meet(peer) => Self::Meet(peer),
        }
    }
}

/// The error of a node that is told to join or to meet itself.
fn joins_itself(me: NodeId) -> ConfigError {
    ConfigError::new(
        "bootstrap",
        Value::Node(me),
        Bound::Only(Value::Word("another node")),
        "this is the node itself",
    )
}

impl Bootstrap {
    /// Refuses a node that would join through itself only, or meet itself.
    pub(super) fn check(&self, me: NodeId) -> Result<(), ConfigError> {
        match self {
            Self::Alone => Ok(()),
            Self::Join(introducers) => introducers.check(me),
            Self::Meet(peers) => match peers.iter().position(|peer| *peer == me) {
                None => Ok(()),
                Some(index) => Err(joins_itself(me).at(index)),
            },
        }
    }

    /// What the overlay is told at the start.
    pub(crate) fn approaches(&self) -> impl Iterator<Item = Approach> + '_ {
        let (introducers, peers) = match self {
            Self::Alone => (None, &[][..]),
            Self::Join(introducers) => (Some(introducers), &[][..]),
            Self::Meet(peers) => (None, peers.as_slice()),
        };
        let mut introducers = introducers.into_iter().flat_map(Introducers::as_told);
        let join = introducers.next().map(Approach::Join);
        let know = introducers.map(Approach::Know);
        let meet = peers.iter().map(|peer| Approach::Meet(*peer));
        join.into_iter().chain(know).chain(meet)
    }

    /// What the overlay is told after it has lost all its links: the introducers, or a random one of the peers to meet.
    pub(crate) fn approaches_again(&self, rng: &mut dyn Rng) -> Vec<Approach> {
        match self {
            Self::Alone => Vec::new(),
            Self::Join(_) => self.approaches().collect(),
            Self::Meet(peers) => Vec::from_iter(rng.pick(peers).copied().map(Approach::Join)),
        }
    }
}
