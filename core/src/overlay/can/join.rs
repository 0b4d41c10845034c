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

/// What a node does to get a zone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Joining {
    /// Its next life. A zone for another one comes too late.
    pub life: Incarnation,
    /// Whom it asks.
    pub introducer: NodeId,
    /// It was told to try again.
    pub is_answered: bool,
    /// When it asks again.
    pub due: Time,
}

impl<const D: usize> Can<D> {
    /// Has the whole space.
    pub(super) fn found(&mut self, cx: &mut dyn Context<Self>) {
        // If it is joining: whoever has a zone is not there, or never answers.
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

    /// Has this zone, and these neighbours, because its host says so.
    pub(super) fn place(&mut self, grant: &Grant<D>, cx: &mut dyn Context<Self>) {
        // Only at first: later, others have what it had.
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

    /// Asks somebody for a zone, or somebody else than before.
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

    /// If it may get a zone: the last life, in which it had or wanted one.
    const fn last_life(&self) -> Option<Option<Incarnation>> {
        match &self.life {
            Life::Outside { last } => Some(*last),
            Life::Joining(joining) => Some(Some(joining.life)),
            Life::NotStarted { .. } | Life::Inside(_) | Life::Left { .. } => None,
        }
    }

    /// The number of a new life, which is written down first: others must never see it twice.
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

    /// Here is a zone. If it comes too late, it goes back.
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

    /// There is no zone: tries again, soon or at once.
    pub(super) fn on_refused(&mut self, life: Incarnation, why: Refusal, cx: &mut dyn Context<Self>) {
        let Life::Joining(joining) = &mut self.life else {
            return;
        };
        if joining.life != life {
            return;
        }
        joining.is_answered = why != Refusal::Outside;
        match why {
            // Others go, so that one day there is room where there was none.
            Refusal::Busy | Refusal::Outside | Refusal::Full => {
                // At a random moment, so that two in each other's way are not so again.
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
                // Without a virtual dimension the point is the same, so there is no use in haste.
                if virtual_dimensions > 0 {
                    self.join(introducer, cx);
                }
            }
        }
    }

    /// No zone came in time, or it is time to ask again.
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

    /// Writes down a few peers, for a restart.
    pub(super) fn remember(&mut self, cx: &mut dyn Context<Self>) {
        let Life::Inside(member) = &mut self.life else {
            return;
        };
        let neighbours = member.peers.neighbours().map(Neighbour::id);
        let mut neighbours: heapless::Vec<NodeId, MOST_NEIGHBOURS> = neighbours.collect();
        let (few, _) = cx.rng().sample(&mut neighbours, HALF);
        // Only one becomes a contact, so that these remain nodes that are anywhere, and were neighbours at different times.
        member.contacts.note(few.first().copied());
        if let Some(record) = member.contacts.record(few.iter().copied()) {
            cx.persist(Key::Known, Record::Known(record));
        }
    }
}
