//! `asap` in a simulation: the kinds of its messages.

use gridweave_core::commit::{self, Policy};
use gridweave_core::id::NodeId;
use gridweave_core::overlay::cyclon;
use gridweave_core::scheduler::asap::{Asap, Message, Reason};

use super::Protocol;

/// The kinds of schedules that travel, by name; [`Protocol::items`] of the last says how many are in one message.
pub const PUSH: &str = "push";
/// A schedule that was asked for in a search.
pub const PULL: &str = "pull";
/// A schedule that was asked for from time to time.
pub const POLL: &str = "poll";
/// A schedule of a node that came into a view.
pub const NEW_LINK: &str = "new_link";
/// The schedules that a searcher was told of.
pub const OTHERS: &str = "others";

impl<const C: usize, const L: usize, P: Policy> Protocol for Asap<C, L, P> {
    const KINDS: &'static [&'static str] = &[
        PUSH,
        PULL,
        POLL,
        NEW_LINK,
        OTHERS,
        "who_else",
        "fetch",
        "subscribe",
        "unsubscribe",
        "search",
        "found",
        "not_found",
        "shuffle",
        "shuffled",
        "join",
        "join_walk",
        "join_give",
        "prepare",
        "prepared",
        "refused",
        "commit",
        "committed",
        "expired",
        "abort",
        "permit",
        "alive",
        "query",
        "release",
        "released",
        "ended",
        "extend",
    ];

    fn neighbours(&self) -> Vec<NodeId> {
        self.overlay().view().ids().to_vec()
    }

    fn read_ahead(&self, _from: Option<NodeId>) -> u64 {
        self.overlay().read_ahead()
    }

    fn kind(message: &Message<L>) -> usize {
        match message {
            Message::Schedule { reason, .. } => match reason {
                Reason::Changed => 0,
                Reason::Search(_) => 1,
                Reason::Poll => 2,
                Reason::NewLink => 3,
            },
            Message::Others { .. } => 4,
            Message::WhoElse { .. } => 5,
            Message::Fetch(_) => 6,
            Message::Subscribe { .. } => 7,
            Message::Unsubscribe => 8,
            Message::Search { .. } => 9,
            Message::Found { .. } => 10,
            Message::NotFound { .. } => 11,
            Message::Overlay(message) => 12 + <cyclon::Cyclon<C, L> as Protocol>::kind(message),
            Message::Commit(message) => 17 + <commit::Node<P> as Protocol>::kind(message),
        }
    }

    fn items(message: &Message<L>) -> u32 {
        match message {
            Message::Others { known, .. } => known.len() as u32,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridweave_core::id::{Epoch, JobId};
    use gridweave_core::schedule::Holder;

    type Node = Asap<20, 8>;

    #[test]
    fn kinds_of_the_parts_are_named_as_there() {
        let name = |message: &Message<8>| Node::KINDS[Node::kind(message)];
        let walk = cyclon::Message::Join {
            incarnation: gridweave_core::id::Incarnation::new(1),
        };
        assert_eq!(name(&Message::Overlay(walk)), "join");
        let holder = Holder {
            job: JobId::new(1),
            epoch: Epoch::new(1),
        };
        assert_eq!(
            name(&Message::Commit(commit::Message::Expired { holder })),
            "expired"
        );
        let parts = [
            <cyclon::Cyclon<20, 8> as Protocol>::KINDS,
            <commit::Node as Protocol>::KINDS,
        ];
        assert_eq!(Node::KINDS[12..], *parts.concat());
    }
}
