//! How a node gets into the overlay, and back into it.
//!
//! A node enters as its bootstrap says, and asks the peers that the bootstrap names from time to time. If no request to
//! join is answered, it founds a space of its own.

use alloc::vec::Vec;

use super::status::fresh;
use super::{Bootstrap, Desktop, Key, Message, Record, Status, Timer};
use crate::id::NodeId;
use crate::machine::{Context, Embed, Event, Machine};
use crate::overlay::can::{self, Can};
use crate::rng::Choose;
use crate::scheduler::Introducers;
use crate::shared::Shared;

/// From this many unanswered requests to join on, a node founds its own space with a chance of 1/4 each time.
pub(super) const FOUNDS_AFTER: u8 = 8;

/// In every so many rounds a node looks for another overlay through a peer that its bootstrap names.
const ASKS_AGAIN: u32 = 32;

/// Embeds the overlay in a node. Heartbeats carry the node's status.
struct AsCan<'a> {
    status: &'a Shared<Status>,
    joined: bool,
    evicted: bool,
    unanswered: bool,
}

impl<const D: usize> Embed<Can<D>, Desktop<D>> for AsCan<'_> {
    fn message(&mut self, message: can::Message<D>) -> Message<D> {
        let status = message.is_heartbeat().then(|| self.status.clone());
        Message::Overlay { message, status }
    }
    fn timer(&mut self, timer: can::Timer) -> Timer {
        Timer::Overlay(timer)
    }
    fn key(&mut self, key: can::Key) -> Key {
        Key::Overlay(key)
    }
    fn record(&mut self, record: can::Record) -> Record {
        Record::Overlay(record)
    }
    fn notice(&mut self, notice: can::Notice<D>, _: &mut dyn Context<Desktop<D>>) {
        match notice {
            can::Notice::Joined => self.joined = true,
            can::Notice::Evicted => self.evicted = true,
            can::Notice::Unanswered(_) => self.unanswered = true,
            _ => {}
        }
    }
}

/// The commands to join through one of these. The overlay asks the first, and keeps the others for the next tries.
fn joins<const D: usize>(introducers: &Introducers) -> Vec<can::Command<D>> {
    let joins = introducers.as_told();
    joins
        .map(|introducer| can::Command::Join { introducer })
        .collect()
}

impl<const D: usize> Desktop<D> {
    /// Has the overlay handle an event, and asks for help if no member lets this node in.
    pub(super) fn overlay(&mut self, event: Event<Can<D>>, cx: &mut dyn Context<Self>) {
        let mut embed = AsCan {
            status: fresh(
                &mut self.status,
                &self.queue,
                self.speed,
                self.duty.takes_jobs(),
            ),
            joined: false,
            evicted: false,
            unanswered: false,
        };
        self.can.handle(event, &mut cx.lift(&mut embed));
        if embed.unanswered {
            self.unanswered = self.unanswered.saturating_add(1);
            let found = self.unanswered >= FOUNDS_AFTER && cx.rng().below(4) == 0;
            let commands = match &self.bootstrap {
                // All nodes may have crashed at once. If several found a space, all but one yield when they meet.
                _ if found => Vec::from([can::Command::Found]),
                // The introducers may still be in the overlay.
                Bootstrap::Join(introducers) => joins(introducers),
                Bootstrap::Alone | Bootstrap::Placed(..) => Vec::new(),
            };
            for command in commands {
                self.can
                    .handle(Event::Command(command), &mut cx.lift(&mut embed));
            }
        }
        if embed.joined {
            self.unanswered = 0;
        }
        if embed.evicted {
            self.balloons.clear();
        }
    }

    /// Enters the overlay as the bootstrap says. A restarted founder joins through peers it knew, if it knew any.
    pub(super) fn get_into_overlay(&mut self, cx: &mut dyn Context<Self>) {
        let commands = match &self.bootstrap {
            // It asks peers from its disk, and founds a space if none answers.
            Bootstrap::Alone if self.can.is_joining() => return,
            Bootstrap::Alone => Vec::from([can::Command::Found]),
            Bootstrap::Join(introducers) => joins(introducers),
            Bootstrap::Placed(_, grant) => Vec::from([can::Command::Place(grant.clone())]),
        };
        for command in commands {
            self.overlay(Event::Command(command), cx);
        }
        if matches!(self.bootstrap, Bootstrap::Placed(..)) && self.can.zone().is_none() {
            // It had that zone in an earlier life. The peers on its disk may be gone, so it also asks the neighbours
            // of its first zone.
            let around = self.first_peers();
            if around.is_empty() && !self.can.is_joining() {
                self.overlay(Event::Command(can::Command::Found), cx);
            }
            for introducer in around {
                self.overlay(Event::Command(can::Command::Join { introducer }), cx);
            }
        }
    }

    /// All nodes that it may ask for help with its overlay: neighbours, contacts, and those that its bootstrap names.
    pub fn contacts(&self) -> impl Iterator<Item = NodeId> {
        let neighbours = self.can.neighbours().map(can::Neighbour::id);
        let contacts = self.can.known().iter().chain(self.can.missed()).copied();
        neighbours.chain(contacts).chain(self.first_peers())
    }

    /// The peers that the bootstrap names.
    fn first_peers(&self) -> can::Known {
        let others = |id: &NodeId| *id != self.me;
        match &self.bootstrap {
            Bootstrap::Alone => can::Known::default(),
            Bootstrap::Join(introducers) => introducers.as_told().filter(others).collect(),
            Bootstrap::Placed(_, grant) => {
                let around = grant.get().neighbours.iter().map(|entry| entry.name.id);
                around.filter(others).take(can::KNOWN).collect()
            }
        }
    }

    /// Looks for another overlay through one of its first peers in turn. Nodes that lost their disks, and nodes that
    /// were cut off from these, may know no peer in each other's overlay; what a bootstrap names is never lost.
    pub(super) fn ask_first_peers_at_times(&mut self, cx: &mut dyn Context<Self>) {
        if !self.round.is_multiple_of(ASKS_AGAIN) {
            return;
        }
        let peers = self.first_peers();
        let turn = (self.round / ASKS_AGAIN) as usize;
        let next = turn.checked_rem(peers.len());
        if let Some(introducer) = next.and_then(|next| peers.get(next).copied()) {
            self.overlay(Event::Command(can::Command::Join { introducer }), cx);
        }
    }
}
