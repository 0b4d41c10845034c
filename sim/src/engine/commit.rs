use gridweave_core::commit::{Guards, Message, Node, Policy};

use super::Protocol;

impl<P: Policy, G: Guards> Protocol for Node<P, G> {
    const KINDS: &'static [&'static str] = &[
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

    fn kind(message: &Message) -> usize {
        match message {
            Message::Prepare { .. } => 0,
            Message::Prepared { .. } => 1,
            Message::Refused { .. } => 2,
            Message::Commit { .. } => 3,
            Message::Committed { .. } => 4,
            Message::Expired { .. } => 5,
            Message::Abort { .. } => 6,
            Message::Permit { .. } => 7,
            Message::Alive { .. } => 8,
            Message::Query { .. } => 9,
            Message::Release { .. } => 10,
            Message::Released { .. } => 11,
            Message::Ended { .. } => 12,
            Message::Extend { .. } => 13,
        }
    }
}
