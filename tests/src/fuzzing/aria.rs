//! One `aria` node among liars: bytes choose messages, timers, commands and crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use gridweave_core::custody::{self, Answer, Claim, Ending, Ruling, Standing, Tenure, Term};
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Demand, Failure, Job, News, Notice, Outcome};
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine};
use gridweave_core::overlay::flood::{FloodId, Header};
use gridweave_core::queue::{Cost, Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Speed};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{
    Aria, Config, Key, Membership, Message, Overlay, Record, Rescheduling, Site, Timer,
};
use gridweave_core::shared::Shared;
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::choices::Choices;

type Node = Aria<SiteQueue>;

const ME: NodeId = NodeId::new(0);

const CONFIG: Config = Config {
    overlay: Overlay::Fixed,
    window: Span::from_micros(4),
    pause: Span::from_micros(4),
    rescheduling: Some(Rescheduling {
        period: Span::from_micros(16),
        jobs: 2,
        threshold: Span::from_micros(2),
    }),
    lease: Span::from_micros(36),
    max_skew: Span::from_micros(2),
    retry: Span::from_micros(4),
    retries: 1,
    retention: Span::from_micros(60),
    max_delay: Span::from_micros(1),
    tasks: 3,
    held: 3,
    floods: 8,
    ..Config::DEFAULT
};

/// The most effects of one event: some for each job and link.
const MOST_EFFECTS: usize = 200;

/// How often timers may ring at one instant.
const MOST_RINGS: usize = 64;

/// What came of it, by the names of news, to show that much did.
pub type Seen = BTreeMap<&'static str, usize>;

struct Host {
    node: Node,
    now: Time,
    disk: BTreeMap<Key, Record>,
    alarms: BTreeMap<Timer, Time>,
    /// What runs here, as far as this host was told.
    runs: BTreeSet<JobId>,
    /// The last question that was asked.
    asked: Option<FloodId>,
    /// Which time it was that the node had a job, as it said last.
    claims: BTreeMap<JobId, Claim>,
    rng: Xoshiro256PlusPlus,
    seen: Seen,
}

fn built() -> Node {
    let site = Site {
        dimensions: Dimensions::new(&[]).expect("none are not too many"),
        capability: Capability::none(),
        membership: Membership::default(),
        local: SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 2),
    };
    let peers = Bootstrap::Meet((1..4).map(NodeId::new).collect());
    Aria::new(ME, CONFIG, peers, site).expect("the rules are sound")
}

/// Drives a node, and says what came of it.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, 4);
    let mut host = Host {
        node: built(),
        now: Time::ZERO,
        disk: BTreeMap::new(),
        alarms: BTreeMap::new(),
        runs: BTreeSet::new(),
        asked: None,
        claims: BTreeMap::new(),
        rng: Xoshiro256PlusPlus::seed_from_u64(0),
        seen: Seen::new(),
    };
    host.feed(Event::Start, usize::MAX);
    while !choices.is_empty() {
        host.step(&mut choices);
    }
    host.seen
}

impl Host {
    fn count(&mut self, name: &'static str) {
        *self.seen.entry(name).or_default() += 1;
    }

    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(16) {
            0..=7 => {
                let from = choices.peer();
                let message = self.message(choices);
                let most = match choices.below(32) {
                    0 => usize::from(choices.below(4)),
                    _ => usize::MAX,
                };
                self.feed(Event::Message { from, message }, most);
                if most != usize::MAX {
                    self.restart();
                }
            }
            8 => self.feed(Event::Command(Command::Submit(job(choices))), usize::MAX),
            9 if choices.below(4) == 0 => {
                let cancel = Command::Cancel(choices.job());
                self.feed(Event::Command(cancel), usize::MAX);
            }
            10 => {
                let job = choices.job();
                let outcome = choices.pick([Outcome::Done, Outcome::Broke]);
                self.runs.remove(&job);
                self.feed(Event::Command(Command::Ended { job, outcome }), usize::MAX);
            }
            11 => {
                let to = choices.peer();
                self.feed(Event::Unreachable { to }, usize::MAX);
            }
            12 if choices.below(16) == 0 => self.restart(),
            _ => self.pass(Span::from_micros(u64::from(choices.below(8)))),
        }
    }

    fn message(&self, choices: &mut Choices<'_>) -> Message {
        let (job, cost) = (choices.job(), Cost::from_micros(choices.byte().into()));
        let term = Term {
            tenure: Tenure::ONLY,
            attempt: choices.pick([1, 1, 1, 2, u32::MAX]),
            moves: choices.pick([0, 0, 0, 1, 2, u32::MAX]),
        };
        let claim = choices.pick([1, 1, 1, 2].map(Claim::new));
        let until = self.now + Span::from_micros(u64::from(choices.byte()));
        let id = FloodId {
            origin: choices.peer(),
            sequence: job.get(),
            kind: choices.below(2),
            round: choices.byte().into(),
        };
        let header = Header {
            id,
            ttl: choices.byte(),
            hops: 0,
        };
        let shared = Shared::new(self::job(choices));
        match choices.below(8) {
            0 => Message::Request {
                header,
                job: shared,
            },
            1 => Message::Inform {
                header,
                job: shared,
                cost,
            },
            2 => {
                let flood = self.asked.unwrap_or(id);
                Message::Accept { flood, cost }
            }
            3 => Message::Custody(custody::Message::Give {
                job: shared,
                home: choices.peer(),
                term,
                carried: 0,
            }),
            4 => {
                let answer = choices.pick([Answer::Taken, Answer::NotTaken]);
                Message::Custody(custody::Message::Answer { job, term, answer })
            }
            5 => {
                let standing = choices.pick([
                    Standing::Waiting { start: None },
                    Standing::Waiting { start: Some(until) },
                    Standing::Running,
                    Standing::Ended(Ending::Done),
                    Standing::Ended(Ending::Failed(Failure::Broke)),
                    Standing::Ended(Ending::Lost),
                    Standing::Ended(Ending::Withdrawn),
                ]);
                Message::Custody(custody::Message::Report {
                    job,
                    term,
                    claim,
                    standing,
                })
            }
            _ => {
                let granted = Ruling::Granted { until };
                let ruling = choices.pick([granted, granted, Ruling::Over, Ruling::Withdraw]);
                // Mostly about the last time that the node had the job.
                let last = self.claims.get(&job).copied().unwrap_or(claim);
                let claim = choices.pick([last, last, last, claim]);
                Message::Custody(custody::Message::Verdict {
                    job,
                    term,
                    claim,
                    ruling,
                })
            }
        }
    }

    /// Lets time pass, and timers ring when they are due.
    fn pass(&mut self, span: Span) {
        let end = self.now + span;
        let mut rings = 0;
        while let Some((at, timer)) = self.alarms.iter().map(|(timer, at)| (*at, *timer)).min()
            && at <= end
        {
            rings = if at > self.now { 0 } else { rings + 1 };
            assert!(rings < MOST_RINGS, "timers ring without end");
            self.now = self.now.max(at);
            self.feed(Event::Timer(timer), usize::MAX);
        }
        self.now = end;
        for job in &self.runs {
            let lease = self.node.lease(*job);
            assert!(lease > Some(end), "{job:?} runs without a lease");
        }
    }

    fn restart(&mut self) {
        self.count("restart");
        self.node = built();
        self.alarms.clear();
        self.runs.clear();
        for (key, record) in self.disk.clone() {
            self.feed(Event::Restored(key, record), usize::MAX);
        }
        self.feed(Event::Start, usize::MAX);
    }

    /// Feeds an event and executes only so many of its effects.
    fn feed(&mut self, event: Event<Node>, most: usize) {
        if let Event::Timer(timer) = &event {
            self.alarms.remove(timer);
        }
        let mut effects = EffectQueue::new();
        effects.feed(&mut self.node, event, self.now, &mut self.rng);
        self.node.check().expect("its invariants hold");
        let effects: Vec<Effect<Node>> = effects.drain().collect();
        assert!(effects.len() <= MOST_EFFECTS, "{} effects", effects.len());
        for effect in effects.into_iter().take(most) {
            self.execute(effect);
        }
        let most_records = usize::from(CONFIG.tasks) + usize::from(CONFIG.held);
        assert!(self.disk.len() <= most_records, "records pile up");
    }

    fn execute(&mut self, effect: Effect<Node>) {
        match effect {
            Effect::Persist(key, record) => {
                self.disk.insert(key, record);
            }
            Effect::Forget(key) => {
                self.disk.remove(&key);
            }
            Effect::Send { to, message } => {
                assert_ne!(to, ME, "it says {message:?} to itself by the network");
                if let Message::Custody(custody::Message::Report { job, claim, .. }) = message {
                    self.claims.insert(job, claim);
                }
                if let Message::Request { header, .. } | Message::Inform { header, .. } = message
                    && header.id.origin == ME
                {
                    self.asked = Some(header.id);
                }
            }
            Effect::Wake { at, timer } => {
                self.alarms.insert(timer, at);
            }
            Effect::Cancel(timer) => {
                self.alarms.remove(&timer);
            }
            Effect::Notify(Notice { job, news }) => self.told(job, news),
        }
    }

    fn told(&mut self, job: JobId, news: News) {
        let name = match news {
            News::Started => {
                assert!(self.runs.insert(job), "{job:?} runs already");
                "started"
            }
            News::Stopped => {
                assert!(self.runs.remove(&job), "{job:?} does not run");
                "stopped"
            }
            News::Accepted { .. } => "accepted",
            News::Moved { .. } => "moved",
            News::Orphaned => "orphaned",
            News::Finished => "finished",
            News::Failed(_) => "failed",
            News::Cancelled => "cancelled",
        };
        self.count(name);
    }
}

fn job(choices: &mut Choices<'_>) -> Job {
    let estimate = Span::from_micros(u64::from(choices.byte()) + 1);
    let one = Demand::Nodes(NonZeroU32::MIN);
    let mut job = Job::new(choices.job(), one, estimate).expect("it takes some time");
    job.deadline = choices.pick([None, None, Some(Time::from_micros(200))]);
    job
}
