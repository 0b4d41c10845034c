//! Exact effects, phase by phase. Times are in seconds.

use core::num::NonZeroU32;
use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::job::{Demand, Failure, Refusal};
use crate::machine::{Collect, Effect, EffectQueue};
use crate::rng::Zeros;
use crate::time::Span;

mod bounded;
mod config;
mod holding;
mod homing;
mod hostile;
mod moving;

type Effects = Vec<Did>;

const ME: u64 = 50;
/// Who answers for jobs that are here.
const HOME: u64 = 9;
const JOB: JobId = JobId::new(7);
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

/// What a node did: as effects, but a record only by its name, and no timers.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Did {
    Persist(Key),
    Forget(Key),
    Send(u64, Message),
    Say(Notice),
}

use Did::{Forget, Persist, Say, Send};

/// A node, its disk and its clock.
struct Bench {
    config: Config,
    node: Custody,
    now: Time,
    disk: BTreeMap<Key, Record>,
    alarms: BTreeMap<Timer, Time>,
}

impl Bench {
    fn new() -> Self {
        Self::with(CONFIG)
    }

    fn with(config: Config) -> Self {
        let mut bench = Self {
            config,
            node: Custody::new(id(ME), config).unwrap(),
            now: Time::ZERO,
            disk: BTreeMap::new(),
            alarms: BTreeMap::new(),
        };
        assert_eq!(bench.feed(Event::Start), []);
        bench
    }

    /// Has a parent do something, and executes the effects.
    fn act<R>(
        &mut self,
        act: impl FnOnce(&mut Custody, &mut Collect<'_, Custody, Zeros>) -> R,
    ) -> (Effects, R) {
        let mut effects = EffectQueue::new();
        let result = act(&mut self.node, &mut effects.at(self.now, &mut Zeros));
        (self.execute(effects, usize::MAX), result)
    }

    fn feed(&mut self, event: Event<Custody>) -> Effects {
        self.feed_some(event, usize::MAX)
    }

    /// Feeds an event and executes only so many of its effects.
    fn feed_some(&mut self, event: Event<Custody>, most: usize) -> Effects {
        if let Event::Timer(timer) = &event {
            self.alarms.remove(timer);
        }
        let mut effects = EffectQueue::new();
        effects.feed(&mut self.node, event, self.now, &mut Zeros);
        self.execute(effects, most)
    }

    fn execute(&mut self, mut effects: EffectQueue<Custody>, most: usize) -> Effects {
        self.node.check().unwrap();
        let mut did = Vec::new();
        for effect in effects.drain().take(most) {
            match effect {
                Effect::Persist(key, record) => {
                    self.disk.insert(key, record);
                    did.push(Persist(key));
                }
                Effect::Forget(key) => {
                    self.disk.remove(&key);
                    did.push(Forget(key));
                }
                Effect::Send { to, message } => did.push(Send(to.get(), message)),
                Effect::Notify(notice) => did.push(Say(notice)),
                Effect::Wake { at, timer } => {
                    self.alarms.insert(timer, at);
                }
                Effect::Cancel(timer) => {
                    self.alarms.remove(&timer);
                }
            }
        }
        did
    }

    /// Goes to this second, where nothing happens yet.
    fn at(&mut self, at: u64) -> &mut Self {
        self.now = second(at);
        self
    }

    fn hear(&mut self, from: u64, message: Message) -> Effects {
        let from = id(from);
        self.feed(Event::Message { from, message })
    }

    fn lose(&mut self, to: u64) -> Effects {
        self.feed(Event::Unreachable { to: id(to) })
    }

    fn keep(&mut self) -> Effects {
        self.keep_in(Tenure::ONLY)
    }

    fn keep_in(&mut self, tenure: Tenure) -> Effects {
        let (did, kept) = self.act(|node, cx| node.keep(Shared::new(job()), tenure, cx));
        assert_eq!(kept, Ok(()));
        did
    }

    fn find(&mut self, attempt: u32, nodes: &[u64]) -> Effects {
        let nodes = nodes.iter().copied().map(id).collect();
        self.act(|node, cx| node.found(JOB, attempt, nodes, cx)).0
    }

    fn cancel(&mut self) -> Effects {
        self.act(|node, cx| node.cancel(JOB, cx)).0
    }

    fn end(&mut self, ending: Ending) -> Effects {
        self.act(|node, cx| node.ended(JOB, ending, cx)).0
    }

    fn run(&mut self) -> (Effects, bool) {
        self.act(|node, cx| node.start(JOB, cx))
    }

    fn expect(&mut self, start: u64) -> Effects {
        self.act(|node, cx| node.expect(JOB, second(start), cx)).0
    }

    fn give_away(&mut self, to: u64) -> Effects {
        self.act(|node, cx| node.give_away(JOB, id(to), 5, cx)).0
    }

    /// Feeds the timers that are due until this second, one by one.
    fn ring_until(&mut self, until: u64) -> Effects {
        let mut did = Vec::new();
        let end = second(until);
        while let Some((at, timer)) = self.alarms.iter().map(|(timer, at)| (*at, *timer)).min()
            && at <= end
        {
            self.now = self.now.max(at);
            did.extend(self.feed(Event::Timer(timer)));
        }
        self.now = end;
        did
    }

    /// Comes back from disk.
    fn restart(&mut self) -> Effects {
        self.node = Custody::new(id(ME), self.config).unwrap();
        self.alarms.clear();
        for (key, record) in self.disk.clone() {
            assert_eq!(self.feed(Event::Restored(key, record)), []);
        }
        self.feed(Event::Start)
    }

    /// A job of this node is with node 1 since second 1.
    fn placed(&mut self) {
        self.keep();
        assert_eq!(
            self.find(0, &[1, 2]),
            [Persist(TASK), Send(1, give(ME, term(1, 0), 0))]
        );
        let did = self.at(1).hear(1, report(term(1, 0), waiting(20)));
        let accepted = Say(tell(News::Accepted { start: second(20) }));
        let verdict = Send(1, verdict(term(1, 0), granted(601)));
        assert_eq!(did, [Persist(TASK), accepted, verdict]);
    }

    /// A job of the home is here, granted until then.
    fn holding(&mut self, until: u64) {
        assert_eq!(
            self.hear(HOME, give(HOME, term(1, 0), 3)),
            [Persist(HELD), Send(HOME, report(term(1, 0), UNKNOWN))]
        );
        assert_eq!(
            self.hear(HOME, verdict(term(1, 0), granted(until))),
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
    Job::new(JobId::new(name), one, Span::from_secs(100)).unwrap()
}

fn term(attempt: u32, moves: u32) -> Term {
    Term {
        tenure: Tenure::ONLY,
        attempt,
        moves,
    }
}

/// A term of a home that has the job under that attempt itself.
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

/// The same at the second time that the node has the job.
fn second_time(mut message: Message) -> Message {
    if let Message::Report { claim, .. } | Message::Verdict { claim, .. } = &mut message {
        *claim = Claim::new(2);
    }
    message
}

/// It waits, and when it starts is not known.
const UNKNOWN: Standing = Standing::Waiting { start: None };

fn waiting(start: u64) -> Standing {
    let start = Some(second(start));
    Standing::Waiting { start }
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

/// The job is to be queued that is here since the beginning.
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
    })
}

fn extended(until: u64) -> Did {
    let until = second(until);
    Say(Notice::Extended { job: JOB, until })
}

const DROP: Did = Say(Notice::Drop(JOB));

/// What is done when a job has its last word.
fn last(news: News) -> Effects {
    vec![Persist(TASK), Say(tell(news)), Forget(TASK)]
}

/// What is done when a job is let go that the host has, or may have, and that does not run.
fn orphaned() -> Effects {
    vec![DROP, Forget(HELD), Say(tell(News::Orphaned))]
}
