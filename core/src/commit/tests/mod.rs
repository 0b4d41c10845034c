//! Exact effects, phase by phase. Times are in seconds, and there is no jitter.

use crate::admission::Needs;
use crate::job::brief::Brief;
use crate::shared::Shared;
use std::vec::Vec;

use super::*;
use crate::id::{Epoch, JobId, NodeId, OrganisationId};
use crate::job::{Assignment, Outcome, Payload, Placement, Submitter};
use crate::machine::{Driver, Effect, EffectQueue, Event, Machine, Shown};
use crate::rng::Zeros;

use crate::schedule::Attempt;
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

/// An effect, but with only the key of a record and only the time of a timer.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Did<M: Machine> {
    Persist(M::Key),
    Forget(M::Key),
    Send(NodeId, M::Message),
    Wake(Time),
    Cancel,
    Tell(M::Notice),
}

impl<M: Machine<Message: Brief, Notice: Brief>> Shown<M> for Did<M> {
    fn shown(effect: Effect<M>) -> Option<Self> {
        Some(match effect {
            Effect::Persist(key, _) => Self::Persist(key),
            Effect::Forget(key) => Self::Forget(key),
            Effect::Send { to, message } => Self::Send(to, message.brief()?),
            Effect::Wake { at, .. } => Self::Wake(at),
            Effect::Cancel(_) => Self::Cancel,
            Effect::Notify(notice) => Self::Tell(notice.brief()?),
        })
    }
}

type Bench<M> = Driver<M, Did<M>>;

/// A machine that started at second 0, with an empty disk.
fn started<M: Machine<Message: Brief, Notice: Brief>>(build: fn() -> M) -> Bench<M> {
    Bench::started(Time::ZERO, build).0
}

/// Only the messages, for tests in which other effects do not matter.
fn sends<M: Machine>(did: Vec<Did<M>>) -> Vec<(NodeId, M::Message)> {
    let sent = did.into_iter().filter_map(|did| match did {
        Did::Send(to, message) => Some((to, message)),
        _ => None,
    });
    sent.collect()
}

impl<M: Machine<Message: Brief, Notice: Brief>> Bench<M> {
    /// Checks that the machine answers a message with this one message; other effects do not matter.
    #[track_caller]
    fn sends_back(&mut self, from: NodeId, message: M::Message, answer: M::Message) {
        assert_eq!(sends(self.hear(from, message)), [(from, answer)]);
    }
}

/// Only the notices.
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
const fn attempt(number: u64) -> Attempt {
    in_life(1, number)
}

const fn in_life(life: u64, number: u64) -> Attempt {
    Attempt::new(JOB, Epoch::new(life << 32 | number))
}

fn prepare(attempt: Attempt, interval: Interval) -> Message {
    Message::Prepare {
        attempt,
        interval,
        lease: CONFIG.lease,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    }
}

fn prepared(attempt: Attempt) -> Message {
    Message::Prepared {
        attempt,
        lease: CONFIG.lease,
    }
}

/// The placement of an attempt in the slot that begins at `start`.
fn placement(number: u64, start: u64) -> Placement {
    Placement {
        attempt: attempt(number).epoch,
        end: Some(slot(start).end()),
        ..Placement::at(second(start))
    }
}

fn commit(attempt: Attempt) -> Message {
    let members = Shared::new(Members::default());
    Message::Commit { attempt, members }
}

fn committed(attempt: Attempt) -> Message {
    Message::Committed { attempt }
}

fn expired(attempt: Attempt) -> Message {
    Message::Expired { attempt }
}

fn abort(attempt: Attempt) -> Message {
    Message::Abort { attempt }
}

fn query(attempt: Attempt) -> Message {
    Message::Query { attempt }
}

fn permit(attempt: Attempt, until: u64) -> Message {
    let until = Some(second(until));
    Message::Permit { attempt, until }
}

/// Asks for a sign of life.
const fn ping(attempt: Attempt) -> Message {
    let until = None;
    Message::Permit { attempt, until }
}

const fn alive(attempt: Attempt, standing: Standing) -> Message {
    Message::Alive { attempt, standing }
}

fn release(attempt: Attempt) -> Message {
    let Attempt { job, epoch } = attempt;
    Message::Release {
        job,
        through: epoch,
    }
}

/// An attempt that had begun was let go.
fn stopped(attempt: Attempt) -> Message {
    let Attempt { job, epoch } = attempt;
    Message::Released {
        job,
        through: epoch,
        began: Some(epoch),
    }
}

fn released(attempt: Attempt) -> Message {
    let Attempt { job, epoch } = attempt;
    Message::Released {
        job,
        through: epoch,
        began: None,
    }
}

fn ended(attempt: Attempt, outcome: Outcome) -> Message {
    Message::Ended { attempt, outcome }
}
