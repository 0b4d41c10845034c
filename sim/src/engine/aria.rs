//! `aria` in a simulation: the kinds of its messages.

use gridweave_core::custody;
use gridweave_core::id::NodeId;
use gridweave_core::overlay::blatant::Blatant;
use gridweave_core::queue::LocalScheduler;
use gridweave_core::scheduler::aria::{Aria, Message, links};

use super::Protocol;

/// The messages of P3's Table I, by name.
pub const REQUEST: &str = "request";
/// A job that waits is offered to others.
pub const INFORM: &str = "inform";
/// An offer.
pub const ACCEPT: &str = "accept";
/// A job is given to a site.
pub const ASSIGN: &str = "assign";

impl<S: LocalScheduler> Protocol for Aria<S> {
    const KINDS: &'static [&'static str] = &[
        REQUEST,
        INFORM,
        ACCEPT,
        ASSIGN,
        "assign_ack",
        "notify",
        "verdict",
        "ant",
        "links",
        "gossip",
    ];

    fn neighbours(&self) -> Vec<NodeId> {
        self.links().neighbours()
    }

    fn kind(message: &Message) -> usize {
        match message {
            Message::Request { .. } => 0,
            Message::Inform { .. } => 1,
            Message::Accept { .. } => 2,
            Message::Custody(message) => match message {
                custody::Message::Give { .. } => 3,
                custody::Message::Answer { .. } => 4,
                custody::Message::Report { .. } => 5,
                custody::Message::Verdict { .. } => 6,
            },
            Message::Overlay(links::Message::Blatant(message)) => 7 + Blatant::kind(message),
            Message::Overlay(links::Message::Cyclon(_)) => 9,
        }
    }
}
