//! `criteria` in a simulation: the kinds of its messages.

use gridweave_core::commit::{self, Policy};
use gridweave_core::id::NodeId;
use gridweave_core::overlay::{cyclon, vicinity};
use gridweave_core::scheduler::criteria::{Catalogue, Criteria, Message};

use super::Protocol;

/// What is sent to find nodes.
pub const SEARCH: [&str; 2] = ["look", "seen"];
/// What the random overlay sends.
pub const RANDOM: [&str; 2] = ["shuffle", "shuffled"];
/// What the helper overlay of each number sends.
pub const HELPERS: [[&str; 2]; 4] = [
    ["near_0", "nearer_0"],
    ["near_1", "nearer_1"],
    ["near_2", "nearer_2"],
    ["near_3", "nearer_3"],
];

impl<const C: usize, const L: usize, const G: usize, U: Catalogue, P: Policy> Protocol
    for Criteria<C, L, G, U, P>
{
    const KINDS: &'static [&'static str] = &[
        SEARCH[0],
        SEARCH[1],
        HELPERS[0][0],
        HELPERS[0][1],
        HELPERS[1][0],
        HELPERS[1][1],
        HELPERS[2][0],
        HELPERS[2][1],
        HELPERS[3][0],
        HELPERS[3][1],
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

    fn kind(message: &Message<L, G>) -> usize {
        match message {
            Message::Look { .. } => 0,
            Message::Seen { .. } => 1,
            Message::Helper { number, message } => {
                let reply = matches!(message.get(), vicinity::Message::Reply { .. });
                2 + 2 * usize::from(*number).min(HELPERS.len() - 1) + usize::from(reply)
            }
            Message::Overlay { message, .. } => {
                10 + <cyclon::Cyclon<C, L> as Protocol>::kind(message)
            }
            Message::Commit(message) => 15 + <commit::Node<P> as Protocol>::kind(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Node = Criteria<20, 8, 10>;

    #[test]
    fn kinds_of_the_parts_are_named_as_there() {
        let parts = [
            <cyclon::Cyclon<20, 8> as Protocol>::KINDS,
            <commit::Node as Protocol>::KINDS,
        ];
        assert_eq!(Node::KINDS[10..], *parts.concat());
    }
}
