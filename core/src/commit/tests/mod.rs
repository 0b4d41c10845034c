//! Exact effects, phase by phase. Times are in seconds, and nothing is put off at random.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::vec::Vec;

use super::*;
use crate::id::{Epoch, JobId, NodeId, OrganisationId};
use crate::job::{Outcome, Submitter};
use crate::machine::{Effect, EffectQueue, Event, Machine};

use crate::schedule::Holder;
use crate::time::{Interval, Span, Time};

mod coordinator;
mod node;
mod overrun;
mod participant;
mod values;

const CONFIG: Config = Config {
    lease: Span::from_secs(5),
    max_delay: Span::from_secs(1),
    max_skew: Span::from_secs(1),
    retry: Span::from_secs(2),
    jitter: Span::ZERO,
    retries: 1,
    lead: Span::from_secs(5),
    grace: Span::from_secs(30),
    permission: Permission::Renewed(Span::from_secs(300)),
    after_loss: AfterLoss::Restart,
    overrun: Overrun::Cut,
    retention: Span::from_secs(600),
    seats: 6,
    holds_per_peer: 2,
    allowance: Span::from_secs(10),
    tasks: 2,
    members: 3,
};

const BOSS: NodeId = NodeId::new(1);
const RIVAL: NodeId = NodeId::new(2);
const A: NodeId = NodeId::new(10);
const B: NodeId = NodeId::new(11);
const SPARE: NodeId = NodeId::new(12);
const JOB: JobId = JobId::new(7);
const NOBODY: Submitter = Submitter {
    user: crate::id::UserId::new(0),
    organisation: OrganisationId::new(0),
};

/// What a machine did: as effects, but a record only by its name, and a timer only by its time.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Did<M: Machine> {
    Persist(M::Key),
    Forget(M::Key),
    Send(NodeId, M::Message),
    Wake(Time),
    Cancel,
    Tell(M::Notice),
}

/// A machine, its disk and its clock.
struct Bench<M: Machine> {
    build: fn() -> M,
    machine: M,
    now: Time,
    disk: BTreeMap<M::Key, M::Record>,
    alarms: BTreeMap<M::Timer, Time>,
}

impl<M: Machine> Bench<M> {
    /// Started at zero, with an empty disk.
    fn started(build: fn() -> M) -> Self {
        let mut bench = Self {
            build,
            machine: build(),
            now: Time::ZERO,
            disk: BTreeMap::new(),
            alarms: BTreeMap::new(),
        };
        bench.feed(Event::Start);
        bench
    }

    fn feed(&mut self, event: Event<M>) -> Vec<Did<M>> {
        self.feed_some(event, usize::MAX)
    }

    /// Feeds an event and executes only so many of its effects.
    fn feed_some(&mut self, event: Event<M>, most: usize) -> Vec<Did<M>> {
        if let Event::Timer(timer) = &event {
            self.alarms.remove(timer);
        }
        let mut effects = EffectQueue::new();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        effects.feed(&mut self.machine, event, self.now, &mut rng);
        self.machine.check().unwrap();
        let effects: Vec<Effect<M>> = effects.drain().collect();
        let executed = effects.into_iter().take(most);
        executed.map(|effect| self.execute(effect)).collect()
    }

    fn execute(&mut self, effect: Effect<M>) -> Did<M> {
        match effect {
            Effect::Persist(key, record) => {
                self.disk.insert(key, record);
                Did::Persist(key)
            }
            Effect::Forget(key) => {
                self.disk.remove(&key);
                Did::Forget(key)
            }
            Effect::Send { to, message } => Did::Send(to, message),
            Effect::Wake { at, timer } => {
                self.alarms.insert(timer, at);
                Did::Wake(at)
            }
            Effect::Cancel(timer) => {
                self.alarms.remove(&timer);
                Did::Cancel
            }
            Effect::Notify(notice) => Did::Tell(notice),
        }
    }

    /// Goes to this second, where nothing happens yet.
    fn at(&mut self, second: u64) -> &mut Self {
        self.now = Time::from_secs(second);
        self
    }

    fn hear(&mut self, from: NodeId, message: M::Message) -> Vec<Did<M>> {
        self.feed(Event::Message { from, message })
    }

    /// Feeds the next timer when it is due.
    fn ring(&mut self) -> Vec<Did<M>> {
        let (&timer, &at) = self
            .alarms
            .iter()
            .min_by_key(|(_, at)| **at)
            .expect("a timer is set");
        self.now = self.now.max(at);
        self.feed(Event::Timer(timer))
    }

    /// Feeds timers until this second.
    fn ring_until(&mut self, second: u64) -> Vec<Did<M>> {
        let mut did = Vec::new();
        while self
            .alarms
            .values()
            .any(|at| *at <= Time::from_secs(second))
        {
            did.extend(self.ring());
        }
        self.at(second);
        did
    }

    /// Comes back from disk.
    fn restart(&mut self) -> Vec<Did<M>> {
        self.machine = (self.build)();
        self.alarms.clear();
        for (key, record) in self.disk.clone() {
            assert_eq!(self.feed(Event::Restored(key, record)), []);
        }
        self.feed(Event::Start)
    }
}

/// Without timers, for where they do not matter.
fn sends<M: Machine>(did: Vec<Did<M>>) -> Vec<(NodeId, M::Message)> {
    let sent = did.into_iter().filter_map(|did| match did {
        Did::Send(to, message) => Some((to, message)),
        _ => None,
    });
    sent.collect()
}

/// Only what the host is told.
fn tells<M: Machine>(did: Vec<Did<M>>) -> Vec<M::Notice> {
    let told = did.into_iter().filter_map(|did| match did {
        Did::Tell(notice) => Some(notice),
        _ => None,
    });
    told.collect()
}

fn second(second: u64) -> Time {
    Time::from_secs(second)
}

/// Just after this second.
fn just_after(second: u64) -> Time {
    Time::from_secs(second) + Span::from_micros(1)
}

/// Ten minutes from this second on.
fn slot(start: u64) -> Interval {
    Interval::starting(second(start), Span::from_secs(600)).unwrap()
}

/// The attempt of this number, in the first life of a coordinator.
const fn attempt(number: u64) -> Holder {
    in_life(1, number)
}

const fn in_life(life: u64, number: u64) -> Holder {
    Holder {
        job: JOB,
        epoch: Epoch::new(life << 32 | number),
    }
}

fn prepare(holder: Holder, interval: Interval) -> Message {
    Message::Prepare {
        holder,
        interval,
        lease: CONFIG.lease,
        submitter: NOBODY,
    }
}

fn prepared(holder: Holder) -> Message {
    Message::Prepared {
        holder,
        lease: CONFIG.lease,
    }
}

fn commit(holder: Holder) -> Message {
    Message::Commit { holder }
}

fn committed(holder: Holder) -> Message {
    Message::Committed { holder }
}

fn expired(holder: Holder) -> Message {
    Message::Expired { holder }
}

fn abort(holder: Holder) -> Message {
    Message::Abort { holder }
}

fn query(holder: Holder) -> Message {
    Message::Query { holder }
}

fn permit(holder: Holder, until: u64) -> Message {
    let until = second(until);
    Message::Permit { holder, until }
}

const fn alive(holder: Holder, standing: Standing) -> Message {
    Message::Alive { holder, standing }
}

fn release(holder: Holder) -> Message {
    let Holder { job, epoch } = holder;
    Message::Release {
        job,
        through: epoch,
    }
}

fn released(holder: Holder) -> Message {
    let Holder { job, epoch } = holder;
    Message::Released {
        job,
        through: epoch,
    }
}

fn ended(holder: Holder, outcome: Outcome) -> Message {
    Message::Ended { holder, outcome }
}
