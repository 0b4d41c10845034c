//! Exact effects, phase by phase. Times are in seconds, slots take a minute, and random choices always take the first.

use crate::admission::{Needs, Preselection, Stated, Tally};
use crate::job::brief::Brief;
use core::num::NonZeroU32;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::commit::{Message as Vote, Permission, coordinator};
use crate::id::{Epoch, Incarnation};
use crate::job::{Command, Demand, Failure, Job, News, Outcome, Payload, Retry, Submitter};
use crate::machine::{Driver, Effect, Shown};
use crate::overlay::view::Link;
use crate::schedule::Attempt;
use crate::scheduler::desk::Stage;
use crate::time::{Interval, Span};

mod admitting;
mod exchange;
mod hostile;
mod last_word;
mod placing;
mod search;
mod values;
mod waiting;

type Node = Asap<6, 3>;
type Effects = Vec<Did>;

const ME: NodeId = NodeId::new(50);
const JOB: JobId = JobId::new(7);
const NOBODY: Submitter = Submitter {
    user: crate::id::UserId::new(0),
    organisation: crate::id::OrganisationId::new(0),
};

const CONFIG: Config = Config {
    overlay: cyclon::Config {
        view: 6,
        shuffle: 3,
        period: Span::from_secs(256),
        ..cyclon::Config::DEFAULT
    },
    links: Links::Static,
    exchange: Exchange::Push {
        lease: Span::from_secs(300),
    },
    forward: 2,
    max_hops: 2,
    breadth: 1,
    width: 1,
    searcher: Searcher::Excluded,
    preselection: Preselection::ByAttributes,
    choice: Choice::Nearest,
    slot: Span::from_secs(60),
    lead: Span::from_secs(60),
    margin: Span::ZERO,
    horizon: Span::from_secs(86_400),
    rounds: 2,
    improve: None,
    patience: Span::ZERO,
    timeout: Span::from_secs(2),
    search_limit: Span::from_secs(9),
    commit: commit::Config {
        retry: Span::from_secs(2),
        jitter: Span::ZERO,
        retries: 1,
        permission: Permission::Renewed(Span::from_secs(300)),
        tasks: 2,
        members: 3,
        ..commit::Config::DEFAULT
    },
    windows: 2,
    subscribers: 2,
    searches: 4,
    candidates: 8,
};

/// What a node did: its effects, with records only by their keys, and without timers.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Did {
    Persist(Key),
    Forget(Key),
    Send(u64, Message<3>),
    Tell(u64, News),
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
    /// A node that started at zero, with these neighbours, whose schedules it does not know.
    fn meeting(config: Config, peers: &[u64]) -> Self {
        let peers = peers.iter().map(|peer| id(*peer)).collect();
        Self::boot(config, Bootstrap::Meet(peers)).0
    }

    fn boot(config: Config, bootstrap: Bootstrap) -> (Self, Effects) {
        let build = move || Asap::new(ME, config, bootstrap.clone(), Everyone).unwrap();
        Self::started(Time::ZERO, build)
    }

    /// A node that started at zero, with neighbours from 1 on, whose schedules it knows to be free.
    fn among(config: Config, peers: u64) -> Self {
        let all: Vec<u64> = (1..=peers).collect();
        let mut bench = Self::meeting(config, &all);
        for peer in all {
            assert_eq!(bench.hear(peer, schedule(Reason::NewLink, 1, &[])), []);
        }
        bench
    }

    /// `from` gives the joining node a link to `to`.
    fn get_link(&mut self, from: u64, to: u64) -> Effects {
        let gift = cyclon::Message::JoinGive {
            joiner: self.machine().overlay().incarnation().unwrap(),
            link: Link {
                id: id(to),
                ..Link::default()
            },
            giver: Incarnation::default(),
        };
        self.hear(from, Message::Overlay(gift))
    }

    fn vote(&mut self, from: u64, message: Vote) -> Effects {
        self.hear(from, Message::Commit(message))
    }

    /// Submits a job for `count` nodes and one slot.
    fn submit(&mut self, name: u64, count: u32) -> Effects {
        self.obey(Command::submit(job(name, count)))
    }

    /// Submits job 7 for one node, with this policy.
    fn submit_with(&mut self, retry: Retry) {
        let mut job = job(7, 1);
        job.retry = retry;
        self.obey(Command::submit(job));
    }

    fn cancel(&mut self) -> Effects {
        self.obey(Command::Cancel(JOB))
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

fn job(name: u64, count: u32) -> Job {
    let count = Demand::Nodes(NonZeroU32::new(count).unwrap());
    Job::new(JobId::new(name), count, Span::from_secs(50)).unwrap()
}

/// The attempt with this number in this life of the coordinator.
fn attempt(life: u64, number: u64) -> Attempt {
    Attempt::new(JOB, Epoch::new(life << 32 | number))
}

fn snapshot(version: u64, windows: &[Interval]) -> Snapshot {
    Snapshot::new(version, Time::MAX, windows).unwrap()
}

fn schedule(reason: Reason, version: u64, windows: &[Interval]) -> Message<3> {
    let schedule = snapshot(version, windows);
    Message::Schedule {
        reason,
        stated: Stated::NOTHING,
        schedule,
    }
}

/// The question of this round for the job.
fn ask(round: u32) -> AskId {
    AskId { job: JOB, round }
}

fn wanted(count: u32, from: u64) -> Wanted {
    Wanted {
        count,
        from: second(from),
        length: Span::from_secs(60),
        organisation: Submitter::NOBODY.organisation,
        needs: Needs::NOTHING,
    }
}

fn search(round: u32, count: u32, from: u64) -> Message<3> {
    Message::Search {
        ask: ask(round),
        wanted: wanted(count, from),
    }
}

fn found(round: u32, start: u64, hops: u8, nodes: &[u64]) -> Message<3> {
    let nodes = nodes.iter().map(|node| id(*node)).collect();
    let start = second(start);
    Message::Found {
        ask: ask(round),
        offer: Offer { start, hops, nodes },
    }
}

/// A search found no placement, although it saw so many nodes that could run the job.
fn not_found(round: u32, suited: u32) -> Message<3> {
    let ask = ask(round);
    let seen = Tally {
        suited,
        ..Tally::default()
    };
    Message::NotFound { ask, seen }
}

fn others(search: u32, known: &[(u64, &[Interval])]) -> Message<3> {
    let known = known.iter().map(|(node, windows)| Known {
        node: id(*node),
        stated: Stated::NOTHING,
        schedule: snapshot(1, windows),
    });
    Message::Others {
        search: SearchId(search),
        known: known.collect(),
    }
}

fn who_else(search: u32) -> Message<3> {
    let search = SearchId(search);
    Message::WhoElse { search }
}

fn prepare(attempt: Attempt, start: u64) -> Message<3> {
    Message::Commit(Vote::Prepare {
        attempt,
        interval: busy(start, start + 60),
        lease: CONFIG.commit.lease,
        submitter: NOBODY,
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    })
}

fn abort(attempt: Attempt) -> Message<3> {
    Message::Commit(Vote::Abort { attempt })
}

fn permit(attempt: Attempt, until: u64) -> Message<3> {
    let until = Some(second(until));
    Message::Commit(Vote::Permit { attempt, until })
}

fn release(attempt: Attempt) -> Message<3> {
    let Attempt { job, epoch } = attempt;
    Message::Commit(Vote::Release {
        job,
        through: epoch,
    })
}

fn alive(attempt: Attempt, standing: commit::Standing) -> Vote {
    Vote::Alive { attempt, standing }
}

fn released(attempt: Attempt) -> Vote {
    let Attempt { job, epoch } = attempt;
    Vote::Released {
        job,
        through: epoch,
        began: None,
    }
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

fn accepted(start: u64) -> News {
    News::accepted(second(start))
}

const OF_JOB: Key = Key::Desk(desk::Key::Job(JOB));
const TASK: Key = Key::Desk(desk::Key::Commit(commit::Key::Coordinator(
    coordinator::Key::Task(JOB),
)));
const SEAT: Key = Key::Desk(desk::Key::Commit(commit::Key::Participant(JOB)));
const LIFE: Key = Key::Desk(desk::Key::Commit(commit::Key::Coordinator(
    coordinator::Key::Life,
)));
