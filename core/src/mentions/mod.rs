//! Which nodes a message mentions, for a host that has to know how to reach them.
//!
//! A [`NodeId`] is no address. Nodes learn of each other from messages: a link, a joiner, a candidate for a job. So a
//! host that sends a message sends along the addresses of the nodes that it mentions, as far as it knows them, and a
//! host that receives one keeps them. [`Mentions`] lists these nodes for every message of this crate.
//!
//! The list is complete by construction: each message is taken apart field by field, and a field that is left out does
//! not compile. A test compares the lists with what a second reader of the wire format finds in the bytes.
//!
//! ```
//! use gridweave_core::id::{Incarnation, NodeId};
//! use gridweave_core::mentions::Mentions;
//! use gridweave_core::overlay::cyclon::Message;
//!
//! let walk: Message<8> = Message::JoinWalk {
//!     joiner: NodeId::new(7),
//!     incarnation: Incarnation::new(0),
//!     ttl: 5,
//!     spare: 5,
//! };
//! let mut nodes = Vec::new();
//! walk.mentions(&mut |node| nodes.push(node));
//! assert_eq!(nodes, [NodeId::new(7)]);
//! ```

#[cfg(feature = "alloc")]
mod schedulers;

use crate::few::Few;
use crate::heartbeat;
use crate::id::{Incarnation, NodeId};
use crate::overlay::view::Link;
use crate::overlay::{cyclon, vicinity};
use crate::profile::Profile;

/// A message, or a part of one, that can list the nodes that it mentions.
pub trait Mentions {
    /// Calls `each` for every node that is mentioned, in the order of the fields. A node that is mentioned twice comes
    /// twice. Neither the sender nor the receiver is left out.
    fn mentions(&self, each: &mut dyn FnMut(NodeId));
}

impl Mentions for NodeId {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        each(*self);
    }
}

impl<T: Mentions> Mentions for Option<T> {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.iter().for_each(|part| part.mentions(each));
    }
}

impl<T: Mentions> Mentions for [T] {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.iter().for_each(|part| part.mentions(each));
    }
}

impl<T: Mentions, const N: usize> Mentions for Few<T, N> {
    fn mentions(&self, each: &mut dyn FnMut(NodeId)) {
        self.as_slice().mentions(each);
    }
}

/// Values in which there are no nodes.
macro_rules! no_nodes {
    ($($type:ty $([$($generics:tt)*])?),* $(,)?) => {
        $(impl $(<$($generics)*>)? $crate::mentions::Mentions for $type {
            fn mentions(&self, _: &mut dyn FnMut($crate::id::NodeId)) {}
        })*
    };
}

/// `Type: { its fields }`.
macro_rules! fields {
    ($($type:ty $([$($generics:tt)*])?: { $($field:ident),* };)*) => {
        $(impl $(<$($generics)*>)? $crate::mentions::Mentions for $type {
            fn mentions(&self, each: &mut dyn FnMut($crate::id::NodeId)) {
                let Self { $($field),* } = self;
                $($field.mentions(each);)*
            }
        })*
    };
}

/// `Type; Kind { its fields } ...`, as in a pattern; `Kind(name)` for a tuple of one.
macro_rules! kinds {
    ($type:ty $([$($generics:tt)*])?; $($kind:ident $({ $($field:ident),* })? $(($inner:ident))?,)+) => {
        impl $(<$($generics)*>)? $crate::mentions::Mentions for $type {
            fn mentions(&self, _each: &mut dyn FnMut($crate::id::NodeId)) {
                match self {
                    $(Self::$kind $({ $($field),* })? $(($inner))? => {
                        $($($field.mentions(_each);)*)?
                        $($inner.mentions(_each);)?
                    })+
                }
            }
        }
    };
}
#[cfg(feature = "alloc")]
use {fields, kinds, no_nodes};

no_nodes! {
    bool, u8, u16, u32, u64, Incarnation, Profile, cyclon::ExchangeId, vicinity::ExchangeId,
}

fields! {
    Link: { id, incarnation, age };
    vicinity::Descriptor<P> [P: Mentions]: { id, age, version, profile };
}

kinds! {
    heartbeat::Message;
    Ping { asker, round },
    Pong { answerer, asker, round },
}

kinds! {
    cyclon::Message<L> [const L: usize];
    Shuffle { exchange, links },
    Shuffled { exchange, links },
    Join { incarnation },
    JoinWalk { joiner, incarnation, ttl, spare },
    JoinGive { joiner, link, giver },
}

kinds! {
    vicinity::Message<P, G> [P: Mentions, const G: usize];
    Request { exchange, descriptors },
    Reply { exchange, descriptors },
}
