//! Exact effects, phase by phase. Times are in seconds, slots take a minute, and random choices always take the first.
//! Node `n` is `n` milliseconds from the origin, and its price is `n`.

use crate::admission::Needs;
use crate::job::brief::Brief;
use core::num::NonZeroU32;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::commit::{Message as Vote, Permission, coordinator};
use crate::id::{Epoch, Incarnation};
use crate::job::{Command, Criterion, Demand, Failure, Job, News, Outcome, Payload, Submitter};
use crate::machine::{Driver, Effect, Shown};
use crate::overlay::view::Link;
use crate::overlay::vivaldi;
use crate::profile::Coordinate;
use crate::schedule::{Attempt, BusyTime};
use crate::select::{Objective, Set};
use crate::time::{Interval, Span};

mod admitting;
mod dense;
mod exploring;
mod hostile;
mod improving;
mod lasting;
mod placing;
mod profiles;
mod replacing;
mod values;
mod waiting;

type Node = Criteria<6, 3, 4, Market>;
type Said = Message<3, 4>;
type Effects = Vec<Did>;

/// Custom criteria: the cheapest nodes, and three that refuse some or all sets.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Market;

const CHEAPEST: Criterion = Criterion::Custom(0);
const BROKEN: Criterion = Criterion::Custom(1);
const NEVER: Criterion = Criterion::Custom(2);
const WITHIN_A_MINUTE: Criterion = Criterion::Custom(3);

/// Nodes with this price or a higher one may not run jobs.
const CLOSED: u32 = 1000;

struct Cheapest;
struct Broken;
struct Never;
struct WithinAMinute;

impl Objective for Cheapest {
    fn cost(&self, set: &Set<'_>) -> f64 {
        set.profiles().map(|profile| f64::from(profile.note)).sum()
    }
}

impl Objective for Broken {
    fn cost(&self, _: &Set<'_>) -> f64 {
        f64::NAN
    }
}

impl Objective for Never {
    fn cost(&self, _: &Set<'_>) -> f64 {
        f64::INFINITY
    }
}

impl Objective for WithinAMinute {
    fn cost(&self, set: &Set<'_>) -> f64 {
        if set.wait() > Span::from_secs(60) {
            return f64::INFINITY;
        }
        Cheapest.cost(set)
    }
}

impl Catalogue for Market {
    fn objective(&self, number: u16) -> Option<&dyn Objective> {
        match number {
            0 => Some(&Cheapest),
            1 => Some(&Broken),
            2 => Some(&Never),
            3 => Some(&WithinAMinute),
            _ => None,
        }
    }

    fn helper(&self, number: u16) -> Option<Helper> {
        (number == 0).then_some(Helper::Own(0))
    }

    fn distance(&self, _: u8, target: &Profile, other: &Profile) -> u64 {
        u64::from(target.note.abs_diff(other.note))
    }

    fn admits(&self, _: &Job, profile: &Profile) -> bool {
        profile.note < CLOSED
    }
}

const ME: NodeId = NodeId::new(50);
const JOB: JobId = JobId::new(7);
const NOBODY: Submitter = Submitter {
    user: crate::id::UserId::new(0),
    organisation: crate::id::OrganisationId::new(0),
};

/// So long that no gossip begins during a test.
const PERIOD: Span = Span::from_secs(2_560_000);

const CONFIG: Config = Config {
    overlay: cyclon::Config {
        view: 6,
        shuffle: 3,
        period: PERIOD,
        ..cyclon::Config::DEFAULT
    },
    helper: vicinity::Config {
        links: 6,
        gossip: 4,
        period: PERIOD,
        ..vicinity::Config::DEFAULT
    },
    helpers: [
        Some(Helper::Proximity),
        Some(Helper::FirstFree),
        Some(Helper::Own(0)),
        Some(Helper::Remoteness),
    ],
    exploration: Exploration::Basic,
    alpha: 200,
    iterations: 1,
    parallel: 1,
    pause: Span::ZERO,
    width: 2,
    slot: Span::from_secs(60),
    lead: Span::from_secs(60),
    horizon: Span::from_secs(3600),
    rounds: 2,
    timeout: Span::from_secs(2),
    commit: commit::Config {
        retry: Span::from_secs(2),
        jitter: Span::ZERO,
        retries: 1,
        permission: Permission::UntilEnd,
        tasks: 2,
        members: 3,
        ..commit::Config::DEFAULT
    },
    windows: 2,
    candidates: 8,
    ..Config::PAPER
};

const PROACTIVE: Config = Config {
    exploration: Exploration::Proactive,
    ..CONFIG
};

/// What a node did: its effects, with records only by their keys, and without timers.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Did {
    Persist(Key),
    Forget(Key),
    Send(u64, Said),
    Tell(u64, News),
}

fn build(config: Config, bootstrap: Bootstrap) -> Node {
    Criteria::new(ME, config, bootstrap, profile(50), Market, Everyone).unwrap()
}

impl Shown<Node> for Did {
    fn shown(effect: Effect<Node>) -> Option<Self> {
        match effect {
            Effect::Persist(key, _) => Some(Self::Persist(key)),
            Effect::Forget(key) => Some(Self::Forget(key)),
            Effect::Send { to, mut message } => {
                if let Message::Commit(vote) = message {
                    message = Message::Commit(vote.brief()?);
                }
                Some(Self::Send(to.get(), message))
            }
            Effect::Notify(Notice { job, news }) => Some(Self::Tell(job.get(), news.brief()?)),
            Effect::Wake { .. } | Effect::Cancel(_) => None,
        }
    }
}

type Bench = Driver<Node, Did>;

impl Bench {
    /// A node that started at zero, with these neighbours.
    fn meeting(config: Config, peers: &[u64]) -> Self {
        let peers = peers.iter().map(|peer| id(*peer)).collect();
        Self::boot(config, Bootstrap::Meet(peers)).0
    }

    fn boot(config: Config, bootstrap: Bootstrap) -> (Self, Effects) {
        Self::started(Time::ZERO, move || build(config, bootstrap.clone()))
    }

    /// A node with neighbours 1 to 3, and a job for `count` nodes submitted at zero.
    fn searching(config: Config, count: u32, criterion: Criterion) -> (Self, Effects) {
        let mut bench = Self::meeting(config, &[1, 2, 3]);
        let did = bench.obey(Command::submit(wanting(count, criterion)));
        (bench, did)
    }

    /// Goes to the next cycle of the random overlay. Returns its effects.
    fn cycle(&mut self) -> Effects {
        let (at, timer) = self.pending(|timer| matches!(timer, Timer::Overlay(_)));
        self.now = at;
        self.feed(Event::Timer(timer))
    }

    fn vote(&mut self, from: u64, message: Vote) -> Effects {
        self.hear(from, Message::Commit(message))
    }

    /// `peer` shuffles with the node, and so comes into its view.
    fn meet(&mut self, peer: u64) -> Effects {
        self.hear(peer, shuffle(peer, &[descriptor(peer)]))
    }

    fn unreachable(&mut self, to: u64) -> Effects {
        self.feed(Event::Unreachable { to: id(to) })
    }

    /// All `nodes` prepare and commit an attempt. Returns the effects of the last commit.
    fn agree(&mut self, nodes: &[u64], attempt: Attempt) -> Effects {
        let lease = CONFIG.commit.lease;
        for node in nodes {
            self.vote(*node, Vote::Prepared { attempt, lease });
        }
        let commits = nodes
            .iter()
            .map(|node| self.vote(*node, Vote::Committed { attempt }));
        commits.last().unwrap()
    }

    /// All `nodes` report the end of an attempt. Returns the effects of the last report.
    fn end(&mut self, nodes: &[u64], attempt: Attempt) -> Effects {
        let outcome = Outcome::Done;
        let ends = nodes
            .iter()
            .map(|node| self.vote(*node, Vote::Ended { attempt, outcome }));
        ends.last().unwrap()
    }

    /// Every node that is asked answers that it is free, with its links from `known`. Returns the last effects.
    fn explore(&mut self, asked: Effects, known: &[(u64, &[u64])]) -> Effects {
        let mut last = asked;
        let mut waiting: Vec<(u64, LookId)> = Vec::new();
        loop {
            waiting.extend(last.iter().filter_map(|did| match did {
                Did::Send(to, Message::Look { look, .. }) => Some((*to, *look)),
                _ => None,
            }));
            if waiting.is_empty() {
                return last;
            }
            let (node, look) = waiting.remove(0);
            let links = known.iter().find(|(known, _)| *known == node);
            let links = links.map_or(&[][..], |(_, links)| links);
            last = self.hear(node, seen(look.0, node, &[], links));
        }
    }

    fn jobs(&self) -> usize {
        self.machine().jobs().count()
    }
}

fn id(id: u64) -> NodeId {
    NodeId::new(id)
}

fn second(second: u64) -> Time {
    Time::from_secs(second)
}

fn busy(start: u64, end: u64) -> Interval {
    Interval::new(second(start), second(end)).unwrap()
}

fn nodes(count: u32) -> Demand {
    Demand::Nodes(NonZeroU32::new(count).unwrap())
}

/// The job, for `count` nodes and one slot.
fn wanting(count: u32, criterion: Criterion) -> Job {
    let mut job = Job::new(JOB, nodes(count), Span::from_secs(50)).unwrap();
    job.criterion = criterion;
    job
}

/// The profile of node `n`: its coordinate and its price are both given by `n`.
fn profile(node: u64) -> Profile {
    let x = i32::try_from(node).unwrap() * 1000;
    Profile {
        note: u32::try_from(node).unwrap(),
        ..Profile::at(Coordinate::at([x, 0, 0]))
    }
}

fn descriptor(node: u64) -> Descriptor {
    Descriptor {
        id: id(node),
        age: 0,
        version: 1,
        profile: profile(node),
    }
}

fn snapshot(windows: &[Interval]) -> Snapshot {
    Snapshot::new(1, Time::MAX, windows).unwrap()
}

fn look(number: u32, through: Through) -> Said {
    let look = LookId(number);
    Message::Look { look, through }
}

/// The answer of a node that is busy in these windows and has these links.
fn seen(number: u32, node: u64, windows: &[Interval], links: &[u64]) -> Said {
    Message::Seen {
        look: LookId(number),
        own: descriptor(node),
        schedule: snapshot(windows),
        links: links.iter().map(|link| descriptor(*link)).collect(),
    }
}

/// A shuffle from a node, with these profiles.
fn shuffle(from: u64, about: &[Descriptor]) -> Said {
    let link = Link {
        id: id(from),
        incarnation: Incarnation::new(1),
        age: 0,
    };
    Message::Overlay {
        message: cyclon::Message::Shuffle {
            exchange: cyclon::ExchangeId {
                incarnation: Incarnation::new(1),
                cycle: 1,
            },
            links: [link].into_iter().collect(),
        },
        about: about.iter().cloned().collect(),
    }
}

/// The attempt with this number in this life of the coordinator.
fn attempt(life: u64, number: u64) -> Attempt {
    Attempt::new(JOB, Epoch::new(life << 32 | number))
}

fn prepare(attempt: Attempt, start: u64) -> Said {
    Message::Commit(Vote::Prepare {
        attempt,
        interval: busy(start, start + 60),
        lease: CONFIG.commit.lease,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    })
}

fn abort(attempt: Attempt) -> Said {
    Message::Commit(Vote::Abort { attempt })
}

fn permit(attempt: Attempt, until: u64) -> Said {
    let until = Some(second(until));
    Message::Commit(Vote::Permit { attempt, until })
}

fn release(attempt: Attempt) -> Said {
    let Attempt { job, epoch } = attempt;
    let through = epoch;
    Message::Commit(Vote::Release { job, through })
}

fn refused(attempt: Attempt) -> Vote {
    Vote::Refused {
        attempt,
        reason: commit::Refused::Busy,
        next_free: None,
    }
}

fn failed(refusal: Refusal) -> News {
    News::Failed(Failure::Refused(refusal))
}

/// The effects when a job is refused after it was persisted, without a vote.
fn given_up(refusal: Refusal) -> Effects {
    use Did::{Forget, Persist, Tell};
    vec![Persist(OF_JOB), Tell(7, failed(refusal)), Forget(OF_JOB)]
}

fn accepted(start: u64) -> News {
    News::accepted(second(start))
}

fn moved(start: u64) -> News {
    News::moved(second(start))
}

const OF_JOB: Key = Key::Desk(desk::Key::Job(JOB));
const TASK: Key = Key::Desk(desk::Key::Commit(commit::Key::Coordinator(
    coordinator::Key::Task(JOB),
)));
