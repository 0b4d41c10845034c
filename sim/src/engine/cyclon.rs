use gridweave_core::id::NodeId;
use gridweave_core::overlay::cyclon::{Cyclon, Message};

use super::Protocol;

impl<const C: usize, const L: usize> Protocol for Cyclon<C, L> {
    const KINDS: &'static [&'static str] =
        &["shuffle", "shuffled", "join", "join_walk", "join_give"];

    fn kind(message: &Message<L>) -> usize {
        match message {
            Message::Shuffle { .. } => 0,
            Message::Shuffled { .. } => 1,
            Message::Join { .. } => 2,
            Message::JoinWalk { .. } => 3,
            Message::JoinGive { .. } => 4,
        }
    }

    fn read_ahead(&self, _from: Option<NodeId>) -> u64 {
        Self::read_ahead(self)
    }
}
