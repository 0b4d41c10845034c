//! One node of one scheduler, behind an interface that is the same for all four.

use std::collections::BTreeMap;

use gridweave_core::id::NodeId;
use gridweave_core::job::{Command, Demand, Job};
use gridweave_core::machine::{Effect, Event, Group, Host};
use gridweave_core::mentions::Mentions;
use gridweave_core::scheduler::agent::Scheduler;
use gridweave_core::time::Time;
use gridweave_core::trace::Trace;
use gridweave_core::wire::{self, Framed, Stored};
use rand::rngs::Xoshiro256PlusPlus;
use std::num::NonZeroU32;

use super::effect::{
    GW_CANCEL_TIMER, GW_FORGET, GW_NOTIFY, GW_PERSIST, GW_SEND, GW_WAKE, Kept, gw_effect,
};
use crate::status::{Fault, gw_status};

/// A node, whichever its scheduler is.
pub(super) trait Hosted: Send {
    fn restore(&mut self, record: &[u8]) -> Result<(), Fault>;
    fn survived(&mut self, survived: Command);
    fn start(&mut self, now: Time);
    fn message(&mut self, now: Time, from: NodeId, frame: &[u8]) -> Result<(), Fault>;
    fn unreachable(&mut self, now: Time, to: NodeId);
    fn command(&mut self, now: Time, command: Command);
    fn next_timer(&self) -> Option<Time>;
    fn fire(&mut self, now: Time) -> bool;
    fn ring(&mut self, now: Time, timer: u64) -> Result<(), Fault>;
    fn next(&mut self, told: &mut gw_effect) -> Result<(), Fault>;
    fn group_records(&mut self) -> Group;
    fn keep_traces(&mut self);
    fn traces(&mut self, each: &mut dyn FnMut(Trace));
    fn state(&self) -> (usize, bool);
    fn most_bytes(&self) -> usize;
    fn check(&self) -> Result<(), &'static str>;
    /// What a user asks for, as this scheduler wants it.
    fn demand(&self, nodes: NonZeroU32, cores: Option<NonZeroU32>) -> Demand;
    /// Adds what the job needs.
    fn complete(&self, job: &mut Job, cores: Option<NonZeroU32>, memory: u64, accelerators: u64);
}

/// A node, and what it needs of the library between two calls.
pub(super) struct Hosting<S>
where
    S: Scheduler,
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
{
    host: Host<S>,
    /// What the node starts as.
    unstarted: Option<S>,
    /// What outlived the earlier life of the node.
    survived: Vec<Command>,
    rng: Xoshiro256PlusPlus,
    timers: Numbers<S::Timer>,
    /// What the last effect points to.
    kept: Kept,
}

/// Numbers for timers. A timer keeps its number while it is set, and no number is used twice.
struct Numbers<T> {
    numbers: BTreeMap<T, u64>,
    timers: BTreeMap<u64, T>,
    last: u64,
}

impl<T: Copy + Ord> Numbers<T> {
    fn of(&mut self, timer: T) -> u64 {
        let number = *self.numbers.entry(timer).or_insert_with(|| {
            self.last = self.last.saturating_add(1);
            self.last
        });
        self.timers.insert(number, timer);
        number
    }

    fn forget(&mut self, timer: T) -> Option<u64> {
        let number = self.numbers.remove(&timer)?;
        self.timers.remove(&number);
        Some(number)
    }

    /// Drops the numbers of timers that have rung, once they are most of all.
    fn tidy(&mut self, pending: usize, is_set: impl Fn(T) -> bool) {
        if self.numbers.len() > pending.saturating_mul(2).saturating_add(64) {
            self.numbers.retain(|timer, _| is_set(*timer));
            self.timers.retain(|_, timer| is_set(*timer));
        }
    }
}

impl<S> Hosting<S>
where
    S: Scheduler,
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
{
    pub(super) fn new(node: S, rng: Xoshiro256PlusPlus) -> Self {
        Self {
            host: Host::new(),
            unstarted: Some(node),
            survived: Vec::new(),
            rng,
            timers: Numbers {
                numbers: BTreeMap::new(),
                timers: BTreeMap::new(),
                last: 0,
            },
            kept: Kept::default(),
        }
    }

    fn feed(&mut self, event: Event<S>, now: Time) {
        self.host.handle(event, now, &mut self.rng);
    }
}

impl<S> Hosted for Hosting<S>
where
    S: Scheduler,
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
{
    fn restore(&mut self, record: &[u8]) -> Result<(), Fault> {
        let (key, record) = wire::decode_record(record)?;
        // The node is down: the record is on its disk, and no more.
        self.feed(Event::Restored(key, record), Time::ZERO);
        Ok(())
    }

    fn survived(&mut self, command: Command) {
        self.survived.push(command);
    }

    fn start(&mut self, now: Time) {
        if let Some(node) = self.unstarted.take() {
            let survived = std::mem::take(&mut self.survived);
            self.host.start_with(node, survived, now, &mut self.rng);
        }
    }

    fn message(&mut self, now: Time, from: NodeId, frame: &[u8]) -> Result<(), Fault> {
        let message = wire::decode(frame)?;
        self.feed(Event::Message { from, message }, now);
        Ok(())
    }

    fn unreachable(&mut self, now: Time, to: NodeId) {
        self.feed(Event::Unreachable { to }, now);
    }

    fn command(&mut self, now: Time, command: Command) {
        self.feed(Event::Command(command), now);
    }

    fn next_timer(&self) -> Option<Time> {
        self.host.next_at()
    }

    fn fire(&mut self, now: Time) -> bool {
        self.host.fire(now, &mut self.rng).is_some()
    }

    fn ring(&mut self, now: Time, timer: u64) -> Result<(), Fault> {
        let timer = self.timers.timers.get(&timer).copied();
        let set = timer.filter(|timer| self.host.timers().due(*timer).is_some());
        let timer = set.ok_or(gw_status::GW_NO_TIMER)?;
        self.timers.forget(timer);
        self.feed(Event::Timer(timer), now);
        Ok(())
    }

    fn next(&mut self, told: &mut gw_effect) -> Result<(), Fault> {
        self.kept.clear();
        match self.host.execute().ok_or(gw_status::GW_NONE)? {
            Effect::Persist(key, record) => {
                told.kind = GW_PERSIST;
                told.key = self.kept.key(wire::encode_key::<S::Record>(&key)?);
                told.bytes = self.kept.bytes(wire::encode_record(&key, &record)?);
            }
            Effect::Forget(key) => {
                told.kind = GW_FORGET;
                told.key = self.kept.key(wire::encode_key::<S::Record>(&key)?);
            }
            Effect::Send { to, message } => {
                told.kind = GW_SEND;
                told.node = to.get();
                let frame = wire::encode(&message)?;
                let mut mentioned = Vec::new();
                message.mentions(&mut |node| mentioned.push(node.get()));
                told.bytes = self.kept.bytes(frame);
                (told.nodes, told.node_count) = self.kept.nodes(mentioned);
            }
            // Such a timer never rings.
            Effect::Wake {
                at: Time::MAX,
                timer,
            }
            | Effect::Cancel(timer) => {
                told.kind = GW_CANCEL_TIMER;
                // A timer that was never told: no timer has this number.
                told.timer = self.timers.forget(timer).unwrap_or(0);
            }
            Effect::Wake { at, timer } => {
                told.kind = GW_WAKE;
                told.timer = self.timers.of(timer);
                told.time = at.as_micros();
                let timers = self.host.timers();
                self.timers
                    .tidy(timers.len(), |timer| timers.due(timer).is_some());
            }
            Effect::Notify(notice) => {
                told.kind = GW_NOTIFY;
                self.kept.notice(&notice, told);
            }
        }
        Ok(())
    }

    fn group_records(&mut self) -> Group {
        self.host.group_records()
    }

    fn keep_traces(&mut self) {
        self.host.keep_traces();
    }

    fn traces(&mut self, each: &mut dyn FnMut(Trace)) {
        self.host.traces().for_each(each);
    }

    fn state(&self) -> (usize, bool) {
        let machine = self.host.machine();
        machine.map_or((0, false), |machine| {
            (machine.neighbours(), machine.is_drained())
        })
    }

    fn most_bytes(&self) -> usize {
        S::most_bytes()
    }

    fn check(&self) -> Result<(), &'static str> {
        self.host.check().map_err(|violation| violation.invariant)
    }

    fn demand(&self, nodes: NonZeroU32, cores: Option<NonZeroU32>) -> Demand {
        S::demand(nodes, cores)
    }

    fn complete(&self, job: &mut Job, cores: Option<NonZeroU32>, memory: u64, accelerators: u64) {
        S::complete(job, cores, memory, accelerators);
    }
}
