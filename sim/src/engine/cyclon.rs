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

    fn touch(&self) -> u64 {
        // A cache line has eight of either.
        let ids = self.view().ids().iter().step_by(8);
        let ages = self.view().links().step_by(8);
        let waits_for = self.waits_for().map_or(0, NodeId::get);
        let ages = ages.fold(0, |sum, link| sum ^ u64::from(link.age));
        ids.fold(waits_for ^ ages, |sum, id| sum ^ id.get())
    }
}
