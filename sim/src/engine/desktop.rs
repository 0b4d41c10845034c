//! `desktop` in a simulation: the kinds of its messages.

use gridweave_core::custody;
use gridweave_core::id::NodeId;
use gridweave_core::overlay::can::{END, Point};
use gridweave_core::scheduler::desktop::{Desktop, Errand, Message};

use super::Protocol;
use crate::picture::Drawn;

/// What keeps the overlay up to date, and tells neighbours how a node is.
pub const HEARTBEAT: &str = "heartbeat";
/// What else the overlay says.
pub const OVERLAY: &str = "overlay";

/// What keeps the second space of the Dual-CAN model up to date.
pub const RESIDUE_HEARTBEAT: &str = "residue_heartbeat";
/// What else is said in the second space.
pub const RESIDUE_OVERLAY: &str = "residue_overlay";
/// What is said about who is in the second space.
pub const RENDEZVOUS: &str = "rendezvous";

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
        "acknowledged",
        "gather",
        RESIDUE_HEARTBEAT,
        RESIDUE_OVERLAY,
        RENDEZVOUS,
        "forage",
    ];

    fn drawn(&self) -> Option<Drawn> {
        let part = |at: u32| f64::from(at) / f64::from(END);
        let point = |point: &Point<D>| point.coordinates().iter().map(|at| part(*at)).collect();
        let stretches = self.can().zone()?.stretches().iter();
        let load = self.can().load();
        Some(Drawn {
            node: self.id().get(),
            point: point(self.can().point()),
            zone: stretches
                .map(|stretch| [part(stretch.from()), part(stretch.to())])
                .collect(),
            running: self.queue().running().len() as u64,
            waiting: self.queue().waiting().len() as u64,
            used: (load.required_cores as f64 / load.cores.max(1) as f64).min(1.0),
            balloons: self
                .balloons()
                .map(|(node, at)| (node.get(), point(at)))
                .collect(),
        })
    }

    fn neighbours(&self) -> Vec<NodeId> {
        self.can()
            .neighbours()
            .map(|other| other.entry.name.id)
            .collect()
    }

    fn read_ahead(&self, from: Option<NodeId>) -> u64 {
        Self::read_ahead(self, from)
    }

    fn kind(message: &Message<D>) -> usize {
        match message {
            Message::Overlay { message, .. } => usize::from(!message.is_heartbeat()),
            Message::Errand { errand, .. } => match errand {
                Errand::Route { .. } => 2,
                Errand::Hunt { .. } => 3,
                Errand::Gather(_) => 16,
                Errand::Enter { .. } => 19,
                Errand::Forage { .. } => 20,
            },
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
            Message::Acknowledged(_) => 15,
            Message::Residue { message, .. } => 17 + usize::from(!message.is_heartbeat()),
            Message::ResidueChanged { .. } => 18,
            Message::Members(_) => 19,
        }
    }
}
