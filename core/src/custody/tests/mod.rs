//! Exact effects, phase by phase. Times are in seconds.

use crate::job::brief::Brief;
use core::num::NonZeroU32;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::id::Epoch;
use crate::job::{Demand, Failure, Refusal, Retry};
use crate::machine::{Driver, Effect, Shown};
use crate::time::Span;

mod assigning;
mod bounded;
mod holding;
mod homing;
mod hostile;
mod moving;

type Effects = Vec<Did>;

const ME: u64 = 50;
/// The home of jobs that are here.
const HOME: u64 = 9;
const JOB: JobId = JobId::new(7);
/// The first attempt that a node makes.
const ATTEMPT: Epoch = Claim::new(1).attempt();
const TASK: Key = Key::Task(JOB);
const HELD: Key = Key::Held(JOB);

const CONFIG: Config = Config {
    lease: Span::from_secs(600),
    max_skew: Span::from_secs(1),
    retry: Span::from_secs(3),
    retries: 1,
    retention: Span::from_secs(2000),
    search: Span::from_secs(30),
    rounds: 2,
    pause: Span::from_secs(10),
    tasks: 2,
    held: 3,
    bounded: false,
};

const BOUNDED: Config = Config {
    bounded: true,
    ..CONFIG
};

/// An effect, but with only the key of a record, and without timers.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Did {
    Persist(Key),
    Forget(Key),
    Send(u64, Message),
    Say(Notice),
}

use Did::{Forget, Persist, Say, Send};

impl Shown<Custody> for Did {
    fn shown(effect: Effect<Custody>) -> Option<Self> {
        match effect {
            Effect::Persist(key, _) => Some(Persist(key)),
            Effect::Forget(key) => Some(Forget(key)),
            Effect::Send { to, mut message } => {
                if let Message::Give { job, .. } = &mut message {
                    *job = as_submitted(job);
                }
                Some(Send(to.get(), message))
            }
            Effect::Notify(mut notice) => {
                if let Notice::Seek { job, .. } = &mut notice {
                    *job = as_submitted(job);
                }
                if let Notice::Tell(told) = notice {
                    notice = Notice::Tell(told.brief()?);
                }
                Some(Say(notice))
            }
            Effect::Wake { .. } | Effect::Cancel(_) => None,
        }
    }
}

/// A job of these tests with all its attempts. How often it may run again has tests of its own.
fn as_submitted(job: &Shared<Job>) -> Shared<Job> {
    let mut job = *job.get();
    job.retry = RETRY;
    Shared::new(job)
}

const RETRY: Retry = Retry::OnNodeLoss(2);

type Bench = Driver<Custody, Did>;

impl Bench {
    fn alone() -> Self {
        Self::with(CONFIG)
    }

    fn with(config: Config) -> Self {
        let build = move || Custody::new(id(ME), config).unwrap();
        let (bench, did) = Self::started(Time::ZERO, build);
        assert_eq!(did, []);
        bench
    }

    /// Acts as a host that takes every job that it is offered: the effects of that replace the offer.
    fn taking(&mut self, did: Effects) -> Effects {
        let mut settled = Vec::new();
        for did in did {
            match did {
                Say(Notice::Offered(gift)) => {
                    let taking = Taking::Takes { start: None };
                    let did = self.obey(Command::Take { gift, taking });
                    settled.extend(self.taking(did));
                }
                did => settled.push(did),
            }
        }
        settled
    }

    /// Delivers a message; an offered job is taken.
    fn receive(&mut self, from: u64, message: Message) -> Effects {
        let did = self.hear(from, message);
        self.taking(did)
    }

    /// The home gives a job to this node for the first time, and the host answers with `taking`.
    fn given(&mut self, job: Job, taking: Taking) -> Effects {
        let gift = Gift {
            job: Shared::new(job),
            carried: 0,
            from: id(HOME),
            home: id(HOME),
            term: term(1, 0),
            payload: Payload::EMPTY,
        };
        self.obey(Command::Take { gift, taking })
    }

    fn pass_until(&mut self, until: u64) -> Effects {
        let did = self.ring_until(until);
        self.taking(did)
    }

    fn bound(&mut self, until: Time) {
        assert_eq!(self.obey(Command::Bound { job: JOB, until }), []);
    }

    fn lose(&mut self, to: u64) -> Effects {
        self.feed(Event::Unreachable { to: id(to) })
    }

    fn keep(&mut self) -> Effects {
        self.keep_in(Tenure::ONLY)
    }

    fn keep_in(&mut self, tenure: Tenure) -> Effects {
        assert_eq!(self.machine().refusal(JOB), None);
        let (job, until) = (Shared::new(job()), None);
        self.obey(Command::Keep {
            job,
            tenure,
            until,
            payload: Payload::EMPTY,
        })
    }

    fn keep_with(&mut self, retry: Retry) {
        let mut job = job();
        job.retry = retry;
        let (job, tenure, until) = (Shared::new(job), Tenure::ONLY, None);
        self.obey(Command::Keep {
            job,
            tenure,
            until,
            payload: Payload::EMPTY,
        });
    }

    fn find(&mut self, attempt: u32, nodes: &[u64]) -> Effects {
        let did = self.obey(Command::Found {
            job: JOB,
            attempt,
            candidates: nodes.iter().copied().map(id).collect(),
        });
        self.taking(did)
    }

    fn cancel(&mut self) -> Effects {
        self.obey(Command::Cancel(JOB))
    }

    fn end(&mut self, ending: Ending) -> Effects {
        self.obey(Command::Ended { job: JOB, ending })
    }

    fn run(&mut self) -> Effects {
        self.obey(Command::Start(JOB))
    }

    fn expect(&mut self, start: u64) -> Effects {
        let start = second(start);
        self.obey(Command::Expect {
            job: JOB,
            start,
            at: None,
        })
    }

    fn give_away(&mut self, to: u64) -> Effects {
        self.obey(Command::GiveAway {
            job: JOB,
            to: id(to),
            carried: 5,
        })
    }

    /// This node is the home of a job, which node 1 has since second 1.
    fn placed(&mut self) {
        self.keep();
        assert_eq!(
            self.find(0, &[1, 2]),
            [Persist(TASK), Send(1, give(ME, term(1, 0), 0))]
        );
        let did = self.at(1).receive(1, report(term(1, 0), waiting(20)));
        let accepted = Say(tell(News::accepted(second(20))));
        let verdict = Send(1, verdict(term(1, 0), granted(601)));
        assert_eq!(did, [Persist(TASK), accepted, verdict]);
    }

    /// A job of `HOME` is here, granted until `until`.
    fn holding(&mut self, until: u64) {
        assert_eq!(
            self.receive(HOME, give(HOME, term(1, 0), 3)),
            [Persist(HELD), Send(HOME, report(term(1, 0), UNKNOWN))]
        );
        assert_eq!(
            self.receive(HOME, verdict(term(1, 0), granted(until))),
            [queue(term(1, 0), 3, until)]
        );
    }
}

fn id(id: u64) -> NodeId {
    NodeId::new(id)
}

fn second(second: u64) -> Time {
    Time::from_secs(second)
}

fn job() -> Job {
    named(JOB.get())
}

fn named(name: u64) -> Job {
    let one = Demand::Nodes(NonZeroU32::MIN);
    let mut job = Job::new(JobId::new(name), one, Span::from_secs(100)).unwrap();
    job.retry = RETRY;
    job
}

fn term(attempt: u32, moves: u32) -> Term {
    Term {
        tenure: Tenure::ONLY,
        attempt,
        moves,
    }
}

/// A term of a home that has the job itself, under the attempt `owner` of its own home.
fn under(owner: u32, attempt: u32, moves: u32) -> Term {
    Term {
        tenure: Tenure::under(term(owner, 0)),
        attempt,
        moves,
    }
}

fn give(home: u64, term: Term, carried: u32) -> Message {
    Message::Give {
        job: Shared::new(job()),
        home: id(home),
        term,
        carried,
        payload: Payload::EMPTY,
    }
}

fn answer(term: Term, answer: Answer) -> Message {
    let job = JOB;
    Message::Answer { job, term, answer }
}

fn report(term: Term, standing: Standing) -> Message {
    Message::Report {
        job: JOB,
        term,
        claim: Claim::new(1),
        standing,
    }
}

fn verdict(term: Term, ruling: Ruling) -> Message {
    Message::Verdict {
        job: JOB,
        term,
        claim: Claim::new(1),
        ruling,
    }
}

/// The same message with the second claim of the node.
fn second_time(mut message: Message) -> Message {
    if let Message::Report { claim, .. } | Message::Verdict { claim, .. } = &mut message {
        *claim = Claim::new(2);
    }
    message
}

/// The job waits, and its start is not known.
const UNKNOWN: Standing = Standing::Waiting {
    start: None,
    at: None,
};

fn waiting(start: u64) -> Standing {
    let start = Some(second(start));
    Standing::Waiting { start, at: None }
}

fn ended(ending: Ending) -> Standing {
    Standing::Ended(ending)
}

fn granted(until: u64) -> Ruling {
    let until = second(until);
    Ruling::Granted { until }
}

fn tell(news: News) -> Notice {
    Notice::Tell(job::Notice { job: JOB, news })
}

fn seek(attempt: u32) -> Did {
    let job = Shared::new(job());
    Say(Notice::Seek { job, attempt })
}

/// The host is to queue the job, which arrived at second 0.
fn queue(term: Term, carried: u32, until: u64) -> Did {
    queued_again(term, carried, 0, until)
}

fn queued_again(term: Term, carried: u32, arrived: u64, until: u64) -> Did {
    Say(Notice::Queue {
        job: Shared::new(job()),
        term,
        carried,
        arrived: second(arrived),
        until: second(until),
        payload: Payload::EMPTY,
    })
}

fn extended(until: u64) -> Did {
    let until = second(until);
    Say(Notice::Extended { job: JOB, until })
}

const DROP: Did = Say(Notice::Drop(JOB));

/// The effects when a job has its outcome.
fn last(news: News) -> Effects {
    vec![Persist(TASK), Say(tell(news)), Forget(TASK)]
}

/// The effects when a job that does not run is let go, if the host has it or may have it.
fn orphaned() -> Effects {
    vec![DROP, Forget(HELD), Say(tell(News::Orphaned))]
}
