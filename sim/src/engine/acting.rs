//! What happens to the effects of a machine: each is carried out as it comes.

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::machine::{Context, Effect};
use gridweave_core::rand_core::Rng;
use gridweave_core::sorted::SortedMap;
use gridweave_core::time::Time;
use gridweave_core::trace::{Tally, Trace};
use rand::rngs::Xoshiro256PlusPlus;
use serde::Serialize;

use super::handle::{Handle, What};
use super::slab::Slab;
use super::timers::Timers;
use super::{Happening, Simulated, Traffic};
use crate::event_queue::EventQueue;
use crate::history::History;
use crate::network::Network;

/// Everything around the machines.
#[derive(Debug)]
pub(super) struct World<M: Simulated> {
    pub(super) now: Time,
    /// How many nodes there are.
    pub(super) nodes: u32,
    pub(super) queue: EventQueue<Handle>,
    pub(super) disks: Vec<SortedMap<M::Key, M::Record>>,
    pub(super) messages: Slab<Travelling<M>>,
    pub(super) timers: Slab<Armed<M::Timer>>,
    pub(super) network: Network,
    pub(super) happenings: Vec<Happening<M::Command, M::Notice>>,
    pub(super) history: History,
    pub(super) traffic: Traffic,
    pub(super) items: fn(&M::Message) -> u32,
    pub(super) explained: Option<Explained>,
}

/// The job whose steps are told, and how often which reason was given about any job.
#[derive(Debug)]
pub(super) struct Explained {
    pub(super) job: JobId,
    pub(super) reasons: Tally,
}

/// A message under way.
#[derive(Debug)]
pub(super) struct Travelling<M: Simulated> {
    pub(super) from: u32,
    /// The number of its sending, which stands for its content in the history.
    pub(super) sent: u64,
    pub(super) message: M::Message,
}

/// A timer that waits in the event queue.
#[derive(Debug)]
pub(super) enum Armed<T> {
    Live(T),
    /// Replaced, cancelled, or its node went down.
    Stale,
}

/// The kind of an entry in the history: the first word of each entry.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(super) enum Entry {
    Start = 1,
    SendTo,
    Send,
    Deliver,
    Undelivered,
    Unreachable,
    Timer,
    Command,
    Unheard,
    Persist,
    Forget,
    Notice,
    Crash,
}

impl<M: Simulated> World<M> {
    pub(super) fn note(&mut self, entry: Entry, node: u32, detail: u64) {
        self.history
            .words([entry as u64, self.now.as_micros(), u64::from(node), detail]);
    }

    /// Adds an entry with the encoding of a value to the history.
    pub(super) fn note_value(&mut self, entry: Entry, node: u32, value: &impl Serialize) {
        let words = [entry as u64, self.now.as_micros(), u64::from(node)];
        self.history.value(words, value);
    }

    fn send(&mut self, node: u32, to: NodeId, message: M::Message) {
        self.note(Entry::SendTo, node, to.get());
        let words = [Entry::Send as u64, self.now.as_micros(), u64::from(node)];
        let encoding = self.history.value(words, &message);
        let items = (self.items)(&message);
        self.traffic.sent(self.now, encoding, items);
        let sent = self.traffic.total().messages;
        let target = match u32::try_from(to.get()) {
            Ok(target) if target < self.nodes => target,
            // No node has this id. If the id could be a node's, the sender may learn that the message did not arrive.
            Ok(target) if target <= Handle::MOST => return self.undelivered(target, node, sent),
            _ => return self.traffic.undelivered(),
        };
        let mut arrivals = self.network.transmit(self.now, node, target);
        let first = arrivals.next();
        for at in arrivals {
            self.travel(at, target, node, sent, message.clone());
        }
        if let Some(at) = first {
            self.travel(at, target, node, sent, message);
        }
    }

    #[inline]
    fn travel(&mut self, at: Time, to: u32, from: u32, sent: u64, message: M::Message) {
        let slot = self.messages.insert(Travelling {
            from,
            sent,
            message,
        });
        self.queue.push(at, Handle::new(to, What::Message(slot)));
    }

    /// A message came to a node that is down or does not exist.
    pub(super) fn undelivered(&mut self, node: u32, from: u32, sent: u64) {
        self.note(Entry::Undelivered, node, sent);
        self.traffic.undelivered();
        if let Some(at) = self.network.bounce(self.now, from, node) {
            self.queue
                .push(at, Handle::new(from, What::Unreachable(node)));
        }
    }

    fn persist(&mut self, node: u32, key: M::Key, record: M::Record) {
        self.note_value(Entry::Persist, node, &(key, &record));
        self.disks[node as usize].insert(key, record);
    }

    fn forget(&mut self, node: u32, key: M::Key) {
        self.note_value(Entry::Forget, node, &key);
        self.disks[node as usize].remove(&key);
    }

    fn notify(&mut self, node: u32, notice: M::Notice) {
        self.note_value(Entry::Notice, node, &notice);
        self.happenings.push(Happening::Notice {
            at: self.now,
            node: NodeId::new(u64::from(node)),
            notice,
        });
    }

    fn wake(&mut self, node: u32, timers: &mut Timers<M::Timer>, at: Time, timer: M::Timer) {
        if at == Time::MAX {
            // The end of time means never.
            return self.cancel(timers, timer);
        }
        let slot = self.timers.insert(Armed::Live(timer));
        if let Some(before) = timers.set(timer, slot) {
            self.timers.replace(before, Armed::Stale);
        }
        self.queue
            .push(at.max(self.now), Handle::new(node, What::Timer(slot)));
    }

    fn cancel(&mut self, timers: &mut Timers<M::Timer>, timer: M::Timer) {
        if let Some(slot) = timers.remove(timer) {
            self.timers.replace(slot, Armed::Stale);
        }
    }
}

/// A machine's context, in which its effects happen at once.
pub(super) struct Acting<'a, M: Simulated> {
    pub(super) node: u32,
    pub(super) timers: &'a mut Timers<M::Timer>,
    /// After how many more effects the node goes down, if it is to.
    pub(super) doomed: &'a mut Option<u32>,
    pub(super) rng: &'a mut Xoshiro256PlusPlus,
    pub(super) world: &'a mut World<M>,
}

impl<M: Simulated> Context<M> for Acting<'_, M> {
    fn now(&self) -> Time {
        self.world.now
    }

    fn rng(&mut self) -> &mut dyn Rng {
        self.rng
    }

    fn push(&mut self, effect: Effect<M>) {
        if !self.may_act() {
            return;
        }
        let (node, world) = (self.node, &mut *self.world);
        match effect {
            Effect::Persist(key, record) => world.persist(node, key, record),
            Effect::Forget(key) => world.forget(node, key),
            Effect::Send { to, message } => world.send(node, to, message),
            Effect::Wake { at, timer } => world.wake(node, self.timers, at, timer),
            Effect::Cancel(timer) => world.cancel(self.timers, timer),
            Effect::Notify(notice) => world.notify(node, notice),
        }
    }

    fn trace(&mut self, trace: Trace) {
        let world = &mut *self.world;
        let Some(explained) = &mut world.explained else {
            return;
        };
        explained.reasons.count(&trace);
        if trace.job() == Some(explained.job) {
            world.happenings.push(Happening::Traced {
                at: world.now,
                node: NodeId::new(u64::from(self.node)),
                trace,
            });
        }
    }

    /// The same as to push it, with the message moved once less.
    fn send(&mut self, to: NodeId, message: M::Message) {
        if self.may_act() {
            self.world.send(self.node, to, message);
        }
    }

    fn wake(&mut self, at: Time, timer: M::Timer) {
        if self.may_act() {
            self.world.wake(self.node, self.timers, at, timer);
        }
    }
}

impl<M: Simulated> Acting<'_, M> {
    /// Whether the node is there for another effect.
    #[inline]
    fn may_act(&mut self) -> bool {
        match self.doomed {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}
