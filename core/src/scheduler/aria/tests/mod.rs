//! Exact effects, phase by phase. Times are in seconds, jobs take a hundred, and random choices always take the first.

use crate::job::brief::Brief;
use core::num::NonZeroU32;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::custody::{Answer, Claim, Ending, Refused, Ruling, Standing, Tenure, Term};
use crate::id::Epoch;
use crate::job::{
    Assignment, Command, Demand, Failure, Job, News, Outcome, Payload, Refusal, Retry,
};
use crate::machine::{Driver, Effect, Shown};
use crate::overlay::flood::{FloodId, Header, Reach};
use crate::queue::{Policy, SiteQueue};
use crate::resource::{Dimensions, Kind as Measure, Speed};
use crate::shared::Shared;
use crate::time::{Interval, Span};

mod foreign;
mod hostile;
mod lasting;
mod moving;
mod placing;
mod running;

type Node = Aria<SiteQueue>;
type Effects = Vec<Did>;

const ME: u64 = 50;
const OWNER: u64 = 9;
const JOB: JobId = JobId::new(7);
const TASK: Key = Key::Custody(custody::Key::Task(JOB));
const HELD: Key = Key::Custody(custody::Key::Held(JOB));

const CONFIG: Config = Config {
    overlay: Overlay::Fixed,
    window: Span::from_secs(5),
    rounds: 2,
    pause: Span::from_secs(10),
    rescheduling: Some(Rescheduling {
        period: Span::from_secs(256),
        jobs: 1,
        adverts: Adverts::Neediest,
        threshold: Span::from_secs(30),
    }),
    lease: Span::from_secs(600),
    max_skew: Span::from_secs(1),
    retry: Span::from_secs(3),
    retries: 1,
    tasks: 2,
    held: 3,
    floods: 16,
    ..Config::PAPER
};

/// What a node did: its effects, with records only by their keys, and without timers.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Did {
    Persist(Key),
    Forget(Key),
    Send(u64, Message),
    Tell(News),
}

use Did::{Forget, Persist, Send, Tell};

impl Shown<Node> for Did {
    fn shown(effect: Effect<Node>) -> Option<Self> {
        match effect {
            Effect::Persist(key, _) => Some(Persist(key)),
            Effect::Forget(key) => Some(Forget(key)),
            Effect::Send { to, message } => Some(Send(to.get(), message)),
            Effect::Notify(Notice { news, .. }) => Some(Tell(news.brief()?)),
            Effect::Wake { .. } | Effect::Cancel(_) => None,
        }
    }
}

type Bench = Driver<Node, Did>;

/// A site with one processor, free from `free_from` on, with neighbours 1 and 2.
fn site(config: Config, free_from: u64, membership: Membership) -> Node {
    let queue = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 8);
    let local = match Interval::new(Time::ZERO, second(free_from)) {
        Ok(kept) => queue.reserving(kept, NonZeroU32::MIN).unwrap(),
        Err(_) => queue,
    };
    let dimensions = Dimensions::new(&[("memory", Measure::Level)]).unwrap();
    let site = Site {
        capability: dimensions.capability(&[4]).unwrap(),
        dimensions,
        membership,
        local,
    };
    let peers = Bootstrap::Meet(vec![id(1), id(2)]);
    Aria::new(id(ME), config, peers, site).unwrap()
}

fn members_only() -> Membership {
    Membership {
        serves: Serves::Members,
        ..Membership::default()
    }
}

/// The first job that comes here starts, under a lease until `until`.
fn started(until: u64) -> Did {
    let (attempt, until) = (ATTEMPT, second(until));
    Tell(News::Started {
        attempt,
        until,
        assignment: Assignment::any(),
    })
}

fn stopped() -> Did {
    Tell(News::Stopped { attempt: ATTEMPT })
}

impl Bench {
    fn boot(build: fn() -> Node) -> Self {
        let (bench, did) = Self::started(Time::ZERO, build);
        assert_eq!(did, []);
        bench
    }

    /// A site that starts a job immediately.
    fn idle() -> Self {
        Self::boot(|| site(CONFIG, 0, Membership::default()))
    }

    /// A node that only submits jobs.
    fn submitting() -> Self {
        Self::boot(|| site(CONFIG, 0, members_only()))
    }

    /// A site that is busy for the first thousand seconds.
    fn busy() -> Self {
        Self::boot(|| site(CONFIG, 1000, Membership::default()))
    }

    fn submit(&mut self) -> Effects {
        self.obey(Command::submit(job()))
    }

    fn cancel(&mut self) -> Effects {
        self.obey(Command::Cancel(JOB))
    }

    fn end(&mut self, outcome: Outcome) -> Effects {
        self.obey(Command::Ended {
            job: JOB,
            attempt: ATTEMPT,
            outcome,
        })
    }

    /// The job of the home, `OWNER`, comes here and is granted until `until`.
    fn granted(&mut self, until: u64) -> Effects {
        self.hear(OWNER, assign(job(), OWNER, 1, 0));
        self.hear(OWNER, verdict(1, 0, granted(until)))
    }

    /// The job that was submitted here is given to node 1 at second 5 and granted at second 6.
    fn given(&mut self) {
        self.submit();
        self.hear(1, accept(flood(0, 1), 100));
        assert_eq!(
            self.ring_until(5),
            [Persist(TASK), Send(1, assign(job(), ME, 1, 0))]
        );
        let did = self.at(6).hear(1, notify(1, 0, waiting(6)));
        let start = second(6);
        let verdict = Send(1, verdict(1, 0, granted(606)));
        assert_eq!(did, [Persist(TASK), Tell(News::accepted(start)), verdict]);
    }
}

fn id(id: u64) -> NodeId {
    NodeId::new(id)
}

fn second(second: u64) -> Time {
    Time::from_secs(second)
}

fn job() -> Job {
    let one = Demand::Nodes(NonZeroU32::MIN);
    let mut job = Job::new(JOB, one, Span::from_secs(100)).unwrap();
    job.retry = Retry::OnNodeLoss(2);
    job
}

/// The same job under another id.
fn named(name: u64) -> Job {
    let mut job = job();
    job.id = JobId::new(name);
    job
}

fn term(attempt: u32, moves: u32) -> Term {
    Term {
        tenure: Tenure::ONLY,
        attempt,
        moves,
    }
}

/// The name of a flood of this node.
fn flood(kind: u8, round: u32) -> FloodId {
    FloodId {
        origin: id(ME),
        sequence: JOB.get(),
        kind,
        round,
    }
}

/// The header of a flood of this node as it is sent.
fn sent(reach: Reach, flood: FloodId) -> Header {
    reach.begin(flood).onward(reach).unwrap()
}

fn request(round: u32) -> Message {
    Message::Request {
        header: sent(CONFIG.request, flood(0, round)),
        job: Shared::new(job()),
    }
}

/// The job after a loss, and the request for it.
fn lost_once() -> Job {
    let mut job = job();
    job.retry = Retry::OnNodeLoss(1);
    job
}

fn request_again(round: u32) -> Message {
    Message::Request {
        header: sent(CONFIG.request, flood(0, round)),
        job: Shared::new(lost_once()),
    }
}

fn inform(round: u32, cost: i64) -> Message {
    Message::Inform {
        header: sent(CONFIG.inform, flood(1, round)),
        job: Shared::new(job()),
        cost: seconds(cost),
    }
}

/// A REQUEST of `OWNER` for a job.
fn asked(job: Job) -> Message {
    let id = FloodId {
        origin: id(OWNER),
        sequence: job.id.get(),
        kind: 0,
        round: 1,
    };
    Message::Request {
        header: Reach::REQUEST.begin(id),
        job: Shared::new(job),
    }
}

fn seconds(cost: i64) -> Cost {
    Cost::from_micros(cost * 1_000_000)
}

fn accept(flood: FloodId, cost: i64) -> Message {
    let cost = seconds(cost);
    Message::Accept { flood, cost }
}

fn assign(job: Job, initiator: u64, attempt: u32, moves: u32) -> Message {
    Message::Custody(custody::Message::Give {
        job: Shared::new(job),
        home: id(initiator),
        term: term(attempt, moves),
        carried: 0,
        payload: Payload::EMPTY,
    })
}

fn ack(attempt: u32, moves: u32, answer: Answer) -> Message {
    Message::Custody(custody::Message::Answer {
        job: JOB,
        term: term(attempt, moves),
        answer,
    })
}

/// The claim when a node takes the job for the first time.
const FIRST: Claim = Claim::new(1);
/// The attempt under that claim.
const ATTEMPT: Epoch = FIRST.attempt();

fn notify(attempt: u32, moves: u32, standing: Standing) -> Message {
    claimed(FIRST, attempt, moves, standing)
}

fn claimed(claim: Claim, attempt: u32, moves: u32, standing: Standing) -> Message {
    Message::Custody(custody::Message::Report {
        job: JOB,
        term: term(attempt, moves),
        claim,
        standing,
    })
}

/// The job waits, and its start is not known yet.
const UNKNOWN: Standing = Standing::Waiting {
    start: None,
    at: None,
};

fn waiting(start: u64) -> Standing {
    let start = Some(second(start));
    Standing::Waiting { start, at: None }
}

const BROKE: Ending = Ending::Broke;

fn ended(ending: Ending) -> Standing {
    Standing::Ended(ending)
}

fn verdict(attempt: u32, moves: u32, ruling: Ruling) -> Message {
    Message::Custody(custody::Message::Verdict {
        job: JOB,
        term: term(attempt, moves),
        claim: FIRST,
        ruling,
    })
}

fn granted(until: u64) -> Ruling {
    let until = second(until);
    Ruling::Granted { until }
}

fn refused(refusal: Refusal) -> Effects {
    vec![Tell(News::Failed(Failure::Refused(refusal)))]
}

/// The effects when the outcome of a job is told.
fn last(news: News) -> Effects {
    vec![Persist(TASK), Tell(news), Forget(TASK)]
}
