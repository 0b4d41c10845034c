//! Leaving: all neighbours are asked first, so that none of them changes while the zone changes hands.

use alloc::vec::Vec;

use super::Can;
use super::command::Timer;
use super::member::{Leaving, Member, Outcome};
use super::message::{Entry, Message, Name};
use super::peers::Neighbour;
use super::promises::Share;
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;
use crate::time::Span;

impl<const D: usize> Member<D> {
    /// Is to leave: as soon as its neighbours agree.
    pub(super) fn leave(&mut self, cx: &mut dyn Context<Can<D>>) -> Outcome {
        if self.is_to_leave() {
            return Outcome::Stays;
        }
        let tries = self.config.farewell;
        self.leaving = Leaving::Waiting { tries };
        self.try_to_leave(cx)
    }

    /// Asks the neighbours. Goes if there never were others, or if it asked often enough.
    ///
    /// If all are to leave and others want to join, these must get in first. So nobody goes from a gap that keeps them
    /// out, which ends by itself; and who is the last to have a zone waits for them.
    pub(super) fn try_to_leave(&mut self, cx: &mut dyn Context<Can<D>>) -> Outcome {
        let (Leaving::Waiting { tries } | Leaving::Asking { tries, .. }) = self.leaving else {
            return Outcome::Stays;
        };
        self.leaving = Leaving::Waiting { tries };
        let left = tries.checked_sub(1);
        // Where somebody is missing it may be the last that has the space.
        let has_gap = !self.peers.is_full() && self.gaps().next().is_some();
        if left.is_none() && !has_gap {
            return self.depart(cx);
        }
        self.wait_to_leave(cx);
        let Some(left) = left.filter(|_| !self.is_forsaken()) else {
            return Outcome::Stays;
        };
        let is_last = self.peers.neighbours().next().is_none() && !self.contacts.known().is_empty();
        if is_last || self.is_changing(cx.now()) {
            self.leaving = Leaving::Waiting { tries: left };
            return Outcome::Stays;
        }
        let own = self.entry();
        let mut missing = Vec::new();
        for peer in self.peers.neighbours() {
            let (own, epoch) = (own.clone(), peer.entry.epoch);
            cx.send(peer.id(), Message::MayLeave { own, epoch });
            missing.push(peer.entry.name);
        }
        if missing.is_empty() {
            return self.depart(cx);
        }
        self.leaving = Leaving::Asking {
            tries: left,
            missing,
        };
        Outcome::Stays
    }

    /// At a random moment, so that two in each other's way are not so again.
    fn wait_to_leave(&mut self, cx: &mut dyn Context<Can<D>>) {
        let part = u64::from(cx.rng().below(1 << 10)).saturating_add(1 << 10);
        let period = self.config.period.as_micros();
        let wait = period.saturating_mul(part) >> 12_u32;
        self.leave_due = cx.now() + Span::from_micros(wait);
        cx.wake(self.leave_due, Timer::Leave(self.name.life));
    }

    /// It is time to try again, if it is.
    pub(super) fn try_again_to_leave(&mut self, cx: &mut dyn Context<Can<D>>) -> Outcome {
        if self.is_to_leave() && cx.now() < self.leave_due {
            cx.wake(self.leave_due, Timer::Leave(self.name.life));
            return Outcome::Stays;
        }
        self.try_to_leave(cx)
    }

    /// Somebody wants to leave: agrees, and keeps its zone as it is for a while, or not.
    pub(super) fn on_may_leave(
        &mut self,
        from: NodeId,
        entry: &Entry<D>,
        epoch: u32,
        cx: &mut dyn Context<Can<D>>,
    ) {
        let name = entry.name;
        let share = if self.leaf.inherits_from(&entry.leaf()) {
            Share::Heir
        } else {
            Share::Witness
        };
        let is_leaving = matches!(self.leaving, Leaving::Asking { .. });
        // It has to know just who is around what it leaves.
        let agrees = name.id == from
            && epoch == self.epoch
            && !is_leaving
            && !self.is_disturbed()
            && self
                .promises
                .promise(name, share, cx.now(), self.config.timeout);
        let (life, epoch) = (name.life, entry.epoch);
        cx.send(
            from,
            if agrees {
                Message::Agreed { life, epoch }
            } else {
                Message::Disagreed { life, epoch }
            },
        );
    }

    /// A neighbour agrees. With all of them, it goes.
    pub(super) fn on_agreed(
        &mut self,
        from: NodeId,
        epoch: u32,
        cx: &mut dyn Context<Can<D>>,
    ) -> Outcome {
        let is_current = epoch == self.epoch && !self.is_disturbed();
        let Leaving::Asking { missing, .. } = &mut self.leaving else {
            return Outcome::Stays;
        };
        missing.retain(|heir| heir.id != from);
        if missing.is_empty() && is_current {
            return self.depart(cx);
        }
        Outcome::Stays
    }

    /// A neighbour has something else to do: those that agreed need not wait, and it tries again later.
    pub(super) fn on_disagreed(&mut self, epoch: u32, cx: &mut dyn Context<Can<D>>) {
        let Leaving::Asking { tries, .. } = &self.leaving else {
            return;
        };
        if epoch != self.epoch {
            return;
        }
        self.leaving = Leaving::Waiting { tries: *tries };
        for peer in self.peers.neighbours() {
            cx.send(peer.id(), Message::Stays(self.name.life));
        }
    }

    /// Somebody does not leave now.
    pub(super) fn on_stays(&mut self, name: Name) {
        self.promises.release(name);
    }

    fn depart(&mut self, cx: &mut dyn Context<Can<D>>) -> Outcome {
        self.tell_the_end(cx);
        let neighbours = self.peers.neighbours().map(Neighbour::id);
        let stays = neighbours.take(1).filter(|id| !self.contacts.contains(*id));
        say_farewell(stays.chain(self.contacts.iter()), cx);
        Outcome::Left
    }
}

/// How many of the others each is told of.
const TOLD_OF: usize = 2;

/// A node that leaves for good tells those it knows of each other, in a circle: they may be in parts of the overlay that
/// nobody else knows of.
pub(super) fn say_farewell<const D: usize>(
    known: impl Iterator<Item = NodeId>,
    cx: &mut dyn Context<Can<D>>,
) {
    let known: Vec<NodeId> = known.collect();
    for (index, peer) in known.iter().enumerate() {
        let others = known.iter().cycle().skip(index).skip(1).take(TOLD_OF);
        for other in others.filter(|other| *other != peer) {
            cx.send(*peer, Message::Farewell(*other));
        }
    }
}
