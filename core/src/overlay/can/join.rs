//! Founding the overlay, and joining it (PROTOCOLS 3.1).

use alloc::boxed::Box;
use core::mem;

use super::command::{Key, Notice, Record, Timer};
use super::member::Member;
use super::message::{Account, Entries, Entry, Grant, MOST_NEIGHBOURS, Message, Name, Refusal};
use super::peers::Neighbour;
use super::tree::Leaf;
use super::{Can, Life};
use crate::id::{Incarnation, NodeId};
use crate::machine::Context;
use crate::overlay::contacts::HALF;
use crate::rng::Choose;
use crate::shared::Shared;
use crate::time::{Span, Time};

/// The state of a node that asks for a zone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Joining {
    /// The life for which it asks. A zone for another life comes too late.
    pub life: Incarnation,
    /// The node that it asked.
    pub introducer: NodeId,
    /// Whether it was refused, for another reason than that the introducer has no zone.
    pub is_answered: bool,
    /// When it asks again.
    pub due: Time,
}

impl<const D: usize> Can<D> {
    /// Founds the overlay: takes the whole space.
    pub(super) fn found(&mut self, cx: &mut dyn Context<Self>) {
        // A joiner may found, too: perhaps no node has a zone, or none answers.
        let Some(last) = self.last_life() else {
            return;
        };
        let life = self.next_life(last, cx);
        let leaf = Leaf::whole();
        let own = Entry {
            name: Name { id: self.me, life },
            epoch: 0,
            rank: 0,
            zone: leaf.zone,
            history: leaf.history,
        };
        self.enter(&own, &Entries::none(), cx);
    }

    /// Takes this zone and these neighbours, because the host says so.
    pub(super) fn place(&mut self, grant: &Grant<D>, cx: &mut dyn Context<Self>) {
        // Only in its first life: later, other nodes have what it had.
        let Life::Outside { last: last @ None } = self.life else {
            return;
        };
        let Grant { own, neighbours } = grant;
        if own.zone.contains(&self.point) && own.leaf().is_sound() {
            let mut own = own.clone();
            let life = self.next_life(last, cx);
            own.name = Name { id: self.me, life };
            self.enter(&own, neighbours, cx);
        }
    }

    /// Begins a new life, and asks an introducer for a zone.
    pub(super) fn join(&mut self, introducer: NodeId, cx: &mut dyn Context<Self>) {
        let Some(last) = self.last_life().filter(|_| introducer != self.me) else {
            return;
        };
        self.contacts.note([introducer]);
        let life = self.next_life(last, cx);
        let due = cx.now() + self.config.timeout;
        self.life = Life::Joining(Joining {
            life,
            introducer,
            is_answered: false,
            due,
        });
        cx.send(
            introducer,
            Message::Join {
                joiner: Name { id: self.me, life },
                point: self.point,
                hops: self.config.hops,
            },
        );
        cx.wake(due, Timer::Join(life));
    }

    /// If it may get a zone: its last life, if there was one, in which it had or wanted a zone.
    const fn last_life(&self) -> Option<Option<Incarnation>> {
        match &self.life {
            Life::Outside { last } => Some(*last),
            Life::Joining(joining) => Some(Some(joining.life)),
            Life::NotStarted { .. } | Life::Inside(_) | Life::Left { .. } => None,
        }
    }

    /// The number of a new life. It is written to disk first: peers must never see a number twice.
    fn next_life(&mut self, last: Option<Incarnation>, cx: &mut dyn Context<Self>) -> Incarnation {
        let life = last.map_or(Incarnation::default(), Incarnation::next);
        cx.persist(Key::Life, Record::Life(life));
        life
    }

    fn enter(&mut self, own: &Entry<D>, neighbours: &Entries<D>, cx: &mut dyn Context<Self>) {
        let (config, point, load) = (self.config, self.point, self.load);
        let mut member = Member::begin(config, own, point, load, neighbours, cx);
        member.contacts = mem::take(&mut self.contacts);
        self.life = Life::Inside(Box::new(member));
        cx.notify(Notice::Joined);
        self.remember(cx);
    }

    /// A zone arrives. If it comes too late or is not sound, it goes back.
    pub(super) fn on_grant(
        &mut self,
        from: NodeId,
        grant: &Shared<Grant<D>>,
        cx: &mut dyn Context<Self>,
    ) {
        let Grant { own, neighbours } = grant.get();
        if own.name.id != self.me {
            return;
        }
        let in_time = match &self.life {
            Life::Joining(joining) => joining.life == own.name.life,
            Life::Inside(member) if member.name == own.name => return,
            _ => false,
        };
        let is_sound = own.zone.contains(&self.point) && own.leaf().is_sound();
        if in_time && is_sound {
            cx.cancel(Timer::Join(own.name.life));
            self.enter(own, neighbours, cx);
        } else {
            let account = Account {
                own: own.clone(),
                edition: 0,
                neighbours: neighbours.clone(),
                beyond: None,
            };
            cx.send(from, Message::Obituary(Shared::new(account)));
        }
    }

    /// The join request was refused: tries again, soon or at once.
    pub(super) fn on_refused(
        &mut self,
        life: Incarnation,
        why: Refusal,
        cx: &mut dyn Context<Self>,
    ) {
        let Life::Joining(joining) = &mut self.life else {
            return;
        };
        if joining.life != life {
            return;
        }
        joining.is_answered = why != Refusal::Outside;
        match why {
            // `Full` passes, too: when other nodes go, there is room.
            Refusal::Busy | Refusal::Outside | Refusal::Full => {
                // At a random moment, so that two joiners in each other's way do not collide again.
                let most = self.config.period.as_micros().saturating_mul(2);
                let part = u64::from(cx.rng().below(1 << 16)).saturating_add(1);
                let wait = most.saturating_mul(part) >> 16_u32;
                joining.due = cx.now() + Span::from_micros(wait);
                cx.wake(joining.due, Timer::Join(life));
                if why == Refusal::Full {
                    cx.notify(Notice::Full);
                }
            }
            Refusal::SamePoint => {
                let introducer = joining.introducer;
                let virtual_dimensions = usize::from(self.config.virtual_dimensions);
                self.point = self.point.redrawn(virtual_dimensions, cx.rng());
                cx.notify(Notice::Moved(self.point));
                // Without a virtual dimension the point stays the same, so leave the next try to the timer.
                if virtual_dimensions > 0 {
                    self.join(introducer, cx);
                }
            }
        }
    }

    /// No zone came in time, or the wait after a refusal is over.
    pub(super) fn ask_again(&mut self, life: Incarnation, cx: &mut dyn Context<Self>) {
        let Life::Joining(joining) = self.life else {
            return;
        };
        if joining.life == life {
            if cx.now() < joining.due {
                cx.wake(joining.due, Timer::Join(life));
                return;
            }
            if !joining.is_answered {
                cx.notify(Notice::Unanswered(joining.introducer));
            }
            let next = self.contacts.next_for_help();
            self.join(next.unwrap_or(joining.introducer), cx);
        }
    }

    /// Writes a few peers to disk, for a restart.
    pub(super) fn remember(&mut self, cx: &mut dyn Context<Self>) {
        let Life::Inside(member) = &mut self.life else {
            return;
        };
        let neighbours = member.peers.neighbours().map(Neighbour::id);
        let mut neighbours: heapless::Vec<NodeId, MOST_NEIGHBOURS> = neighbours.collect();
        let (few, _) = cx.rng().sample(&mut neighbours, HALF);
        // Only one becomes a contact, so that contacts are neighbours of different times, anywhere in the space.
        member.contacts.note(few.first().copied());
        if let Some(record) = member.contacts.record(few.iter().copied()) {
            cx.persist(Key::Known, Record::Known(record));
        }
    }
}
