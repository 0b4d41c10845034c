//! Leaving: the heirs are asked first, so that none of them changes while the zone changes hands.

use alloc::vec::Vec;

use super::member::{Member, Outcome};
use super::message::{Entry, Message, Name};
use super::peers::Neighbour;
use super::{Can, Timer};
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;
use crate::time::Span;

/// Whether a node is to leave, and how far it is with that.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Leaving {
    /// It stays.
    No,
    /// It tries so often yet, and then goes without asking.
    Waiting { tries: u8 },
    /// It asked its heirs, of whom these have not agreed.
    Asking { tries: u8, missing: Vec<Name> },
}

impl<const D: usize> Member<D> {
    /// Is to leave: as soon as its heirs agree.
    pub(super) fn leave(&mut self, cx: &mut impl Context<Can<D>>) -> Outcome {
        if self.leaving != Leaving::No {
            return Outcome::Stays;
        }
        let tries = self.config.farewell;
        self.leaving = Leaving::Waiting { tries };
        self.try_to_leave(cx)
    }

    /// Asks the heirs. Goes if there are none, or if it asked often enough.
    pub(super) fn try_to_leave(&mut self, cx: &mut impl Context<Can<D>>) -> Outcome {
        let (Leaving::Waiting { tries } | Leaving::Asking { tries, .. }) = self.leaving else {
            return Outcome::Stays;
        };
        self.leaving = Leaving::Waiting { tries };
        let Some(left) = tries.checked_sub(1) else {
            return self.depart(cx);
        };
        self.wait_to_leave(cx);
        if self.is_changing(cx.now()) {
            self.leaving = Leaving::Waiting { tries: left };
            return Outcome::Stays;
        }
        let own = self.leaf.clone();
        let heirs = self.peers.neighbours();
        let heirs = heirs.filter(|peer| peer.entry.leaf().inherits_from(&own));
        let heirs: Vec<&Neighbour<D>> = heirs.collect();
        let Some(split) = own.history.last(&own.zone) else {
            return self.depart(cx);
        };
        let zones = heirs.iter().map(|peer| &peer.entry.zone);
        if !own.zone.behind(split.face()).is_some_and(|face| face.is_covered(zones)) {
            // Somebody there is not known yet.
            self.leaving = Leaving::Waiting { tries: left };
            return Outcome::Stays;
        }
        let own = self.entry();
        for heir in &heirs {
            let (own, epoch) = (own.clone(), heir.entry.epoch);
            cx.send(heir.id(), Message::MayLeave { own, epoch });
        }
        let missing = heirs.iter().map(|peer| peer.entry.name).collect();
        self.leaving = Leaving::Asking {
            tries: left,
            missing,
        };
        Outcome::Stays
    }

    /// At a random moment, so that two in each other's way are not so again.
    fn wait_to_leave(&self, cx: &mut impl Context<Can<D>>) {
        let part = u64::from(cx.rng().below(1 << 10)).saturating_add(1 << 10);
        let period = self.config.period.as_micros();
        let wait = (period >> 12).saturating_mul(part);
        let at = cx.now() + Span::from_micros(wait);
        cx.wake(at, Timer::Leave(self.name.life));
    }

    /// Somebody wants to leave its zone to this node: agrees, and does nothing else for a while, or not.
    pub(super) fn asked_to_inherit(
        &mut self,
        from: NodeId,
        entry: &Entry<D>,
        epoch: u32,
        cx: &mut impl Context<Can<D>>,
    ) {
        let name = entry.name;
        let again = self.promised.is_some_and(|(to, _)| to == name);
        // It has to know just what it leaves to whom.
        let is_heir = epoch == self.epoch && self.leaf.inherits_from(&entry.leaf());
        let agrees = name.id == from && is_heir && (again || !self.is_changing(cx.now()));
        if agrees {
            self.promised = Some((name, cx.now() + self.config.timeout));
        }
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

    /// An heir agrees. With all of them, it goes.
    pub(super) fn agreed(
        &mut self,
        from: NodeId,
        epoch: u32,
        cx: &mut impl Context<Can<D>>,
    ) -> Outcome {
        let is_current = epoch == self.epoch && !self.is_unsettled();
        let Leaving::Asking { missing, .. } = &mut self.leaving else {
            return Outcome::Stays;
        };
        missing.retain(|heir| heir.id != from);
        if missing.is_empty() && is_current {
            return self.depart(cx);
        }
        Outcome::Stays
    }

    /// An heir has something else to do: those that agreed need not wait, and it tries again later.
    pub(super) fn disagreed(&mut self, epoch: u32, cx: &mut impl Context<Can<D>>) {
        let Leaving::Asking { tries, .. } = &self.leaving else {
            return;
        };
        if epoch != self.epoch {
            return;
        }
        self.leaving = Leaving::Waiting { tries: *tries };
        let own = self.leaf.clone();
        for peer in self.peers.neighbours() {
            if peer.entry.leaf().inherits_from(&own) {
                cx.send(peer.id(), Message::Stays(self.name.life));
            }
        }
    }

    /// Somebody does not leave now.
    pub(super) fn released(&mut self, name: Name) {
        self.promised = self.promised.filter(|(to, _)| *to != name);
    }

    fn depart(&mut self, cx: &mut impl Context<Can<D>>) -> Outcome {
        self.tell_the_end(cx);
        Outcome::Left
    }
}
