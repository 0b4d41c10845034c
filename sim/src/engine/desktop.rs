//! `desktop` in a simulation: the kinds of its messages.

use gridweave_core::custody;
use gridweave_core::scheduler::desktop::{Desktop, Message};

use super::Protocol;

/// What keeps the overlay up to date, and tells neighbours how a node is.
pub const HEARTBEAT: &str = "heartbeat";
/// What else the overlay says.
pub const OVERLAY: &str = "overlay";

impl<const D: usize> Protocol for Desktop<D> {
    const KINDS: &'static [&'static str] = &[
        HEARTBEAT,
        OVERLAY,
        "route",
        "hunt",
        "search",
        "found",
        "give",
        "answer",
        "report",
        "verdict",
        "offer",
        "offer_answer",
        "pull",
        "pull_reject",
        "balloon",
    ];

    fn kind(message: &Message<D>) -> usize {
        match message {
            Message::Overlay { message, .. } => usize::from(!message.is_heartbeat()),
            Message::Route { .. } => 2,
            Message::Hunt { .. } => 3,
            Message::Search { .. } => 4,
            Message::Found { .. } => 5,
            Message::Owners(message) | Message::Runs(message) => match message {
                custody::Message::Give { .. } => 6,
                custody::Message::Answer { .. } => 7,
                custody::Message::Report { .. } => 8,
                custody::Message::Verdict { .. } => 9,
            },
            Message::Offer { .. } => 10,
            Message::OfferAnswer { .. } => 11,
            Message::Pull { .. } => 12,
            Message::PullReject { .. } => 13,
            Message::Inflate { .. } | Message::Deflate { .. } => 14,
        }
    }
}
