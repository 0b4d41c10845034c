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
    /// The host wants this node to leave: it goes as soon as its neighbours agree.
    pub(super) fn leave(&mut self, cx: &mut dyn Context<Can<D>>) -> Outcome {
        if self.is_to_leave() {
            return Outcome::Stays;
        }
        let tries = self.config.farewell;
        self.leaving = Leaving::Waiting { tries };
        self.try_to_leave(cx)
    }

    /// Asks the neighbours. Goes if it has no neighbour and no contact, or if it asked often enough.
    ///
    /// If all members are to leave while others want to join, the joiners must get in first. So a node beside a gap
    /// stays: the gap blocks joins, and ends by itself. The last node that has a zone waits for joiners.
    pub(super) fn try_to_leave(&mut self, cx: &mut dyn Context<Can<D>>) -> Outcome {
        let (Leaving::Waiting { tries } | Leaving::Asking { tries, .. }) = self.leaving else {
            return Outcome::Stays;
        };
        self.leaving = Leaving::Waiting { tries };
        let left = tries.checked_sub(1);
        // Beside a gap, this node may be the last one that has a zone.
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

    /// Waits for a random time, so that two leavers in each other's way do not collide again.
    fn wait_to_leave(&mut self, cx: &mut dyn Context<Can<D>>) {
        let part = u64::from(cx.rng().below(1 << 10)).saturating_add(1 << 10);
        let period = self.config.period.as_micros();
        let wait = period.saturating_mul(part) >> 12_u32;
        self.leave_due = cx.now() + Span::from_micros(wait);
        cx.wake(self.leave_due, Timer::Leave(self.name.life));
    }

    /// Tries again to leave, unless the timer comes too early.
    pub(super) fn try_again_to_leave(&mut self, cx: &mut dyn Context<Can<D>>) -> Outcome {
        if self.is_to_leave() && cx.now() < self.leave_due {
            cx.wake(self.leave_due, Timer::Leave(self.name.life));
            return Outcome::Stays;
        }
        self.try_to_leave(cx)
    }

    /// A neighbour wants to leave. Either agrees, and keeps its own zone unchanged for a while, or disagrees.
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
        // The leaver must know the current zones around its own.
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

    /// A neighbour agrees. When all have agreed, this node goes.
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

    /// A neighbour disagrees: releases all neighbours from their promises, and tries again later.
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

    /// A leaver stays for now: drops the promise to it.
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

/// Of how many others each contact is told.
const TOLD_OF: usize = 2;

/// A node that leaves for good tells its contacts of each other, in a circle: they may be in parts of the overlay that
/// only this node knows.
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
