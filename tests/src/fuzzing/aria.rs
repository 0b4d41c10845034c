//! One `aria` node among liars: bytes choose messages, timers, commands and crashes, and whether its site is foreign.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use gridweave_core::custody::{
    self, Answer, Claim, Ending, Refused, Ruling, Standing, Tenure, Term,
};
use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{
    Command, Demand, Failure, Job, News, Notice, Outcome, OwnJob, Payload, Seen as SeenThere,
    SiteReport,
};
use gridweave_core::machine::Event;
use gridweave_core::overlay::flood::{FloodId, Header, Reach};
use gridweave_core::queue::{Cost, Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Speed};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{
    Adverts, Aria, Config, Membership, Message, Overlay, Rescheduling, Site,
};
use gridweave_core::shared::Shared;
use gridweave_core::time::{Span, Time};
use rand::rngs::Xoshiro256PlusPlus;

use super::choices::{Choices, retry_of};
use super::host::{Host, ME, Runs, Seen, Subject, name_of, note_what_runs, survivors};

type Node = Aria<SiteQueue>;

const CONFIG: Config = Config {
    overlay: Overlay::Fixed,
    request: Reach { ttl: 2, fan_out: 4 },
    inform: Reach { ttl: 2, fan_out: 2 },
    window: Span::from_micros(4),
    pause: Span::from_micros(4),
    rescheduling: Some(Rescheduling {
        period: Span::from_micros(16),
        jobs: 2,
        adverts: Adverts::Promising,
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
    ..Config::PAPER
};

/// One site, and what its host was told.
#[derive(Default)]
struct Scheduling {
    /// What runs here.
    runs: Runs,
    /// The last flood that the node began.
    asked: Option<FloodId>,
    /// The claim in the last report about each job.
    claims: BTreeMap<JobId, Claim>,
    /// What is known of its site, if that is foreign.
    foreign: Option<Foreign>,
}

/// A foreign site, which does and reports anything.
#[derive(Default)]
struct Foreign {
    /// The attempts that it was told to queue.
    queued: BTreeMap<JobId, Epoch>,
    /// The attempts that it reported as started.
    begun: BTreeSet<(JobId, Epoch)>,
}

impl Foreign {
    /// Only attempts that it was told to queue and that it reported are started, extended and withdrawn.
    fn hear(&mut self, runs: &mut Runs, Notice { job, news }: Notice) {
        let queued = self.queued.get(&job).copied();
        match news {
            News::Queue { attempt, .. } => {
                assert!(queued <= Some(attempt), "{job} has an older attempt");
                self.queued.insert(job, attempt);
            }
            News::Withdraw { attempt } => assert_eq!(queued, Some(attempt), "{job} is not there"),
            News::Started { attempt, until, .. } => {
                let begun = self.begun.contains(&(job, attempt));
                assert!(begun, "{job} starts before its site starts it");
                runs.insert(job, (attempt, until));
            }
            News::Extended { attempt, until } => {
                if let Some(it) = runs.get_mut(&job).filter(|it| it.0 == attempt) {
                    it.1 = until;
                }
            }
            News::Stopped { attempt } if runs.get(&job).is_some_and(|it| it.0 == attempt) => {
                runs.remove(&job);
            }
            _ => {}
        }
    }
}

/// Drives a node, and says what came of it.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, 4);
    let foreign = (choices.below(2) == 0).then(Foreign::default);
    let subject = Scheduling {
        foreign,
        ..Scheduling::default()
    };
    let mut host = Host::start(subject, Time::ZERO);
    host.feed(Event::Command(Command::Site(SiteReport::Reachable)));
    while !choices.is_empty() {
        host.step(&mut choices);
    }
    host.seen
}

impl Subject for Scheduling {
    type Node = Node;

    // Some for each job and link.
    const MOST_EFFECTS: usize = 200;
    const MOST_RINGS: usize = 64;

    fn build(&self, _rng: &mut Xoshiro256PlusPlus) -> Node {
        let queue = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 2);
        let site = Site {
            dimensions: Dimensions::new(&[]).expect("none are not too many"),
            capability: Capability::none(),
            membership: Membership::default(),
            local: match self.foreign {
                Some(_) => queue.mirroring(),
                None => queue,
            },
        };
        let peers = Bootstrap::Meet((1..4).map(NodeId::new).collect());
        Aria::new(ME, CONFIG, peers, site).expect("the rules are sound")
    }

    fn said(host: &mut Host<Self>, to: NodeId, message: Message) {
        assert_ne!(to, ME, "it says {message:?} to itself by the network");
        if let Message::Custody(custody::Message::Report { job, claim, .. }) = message {
            host.subject.claims.insert(job, claim);
        }
        if let Message::Request { header, .. } | Message::Inform { header, .. } = message
            && header.id.origin == ME
        {
            host.subject.asked = Some(header.id);
        }
    }

    fn told(host: &mut Host<Self>, notice: Notice) {
        host.count(name_of(&notice.news));
        let Scheduling { runs, foreign, .. } = &mut host.subject;
        match foreign {
            Some(foreign) => foreign.hear(runs, notice),
            None => note_what_runs(runs, notice.job, &notice.news),
        }
    }

    fn look(host: &mut Host<Self>) {
        // Three more: the life and the known peers of the overlay, and that the node drains.
        let most_records = 3 + usize::from(CONFIG.tasks) + usize::from(CONFIG.held);
        let records = host.records();
        assert!(records <= most_records, "{records} records");
    }

    fn crashed(&mut self, now: Time) -> Vec<Command> {
        survivors(&mut self.runs, now)
    }
}

impl Host<Scheduling> {
    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(16) {
            0..=7 => {
                let from = choices.peer();
                let message = self.message(choices);
                let crash = (choices.below(32) == 0).then(|| usize::from(choices.below(4)));
                self.feed_and_crash(Event::Message { from, message }, crash);
            }
            8 => self.feed(Event::Command(Command::submit(job(choices)))),
            9 => {
                let cancel = (choices.below(4) == 0).then(|| Command::Cancel(choices.job()));
                if let Some(command) = cancel.or_else(|| choices.order()) {
                    self.feed(Event::Command(command));
                }
            }
            10 => {
                let job = choices.job();
                let outcome = choices.pick([Outcome::Done, Outcome::Broke, Outcome::Overran]);
                // Without an attempt that runs, one that is over or was never made.
                let attempt = self.subject.runs.remove(&job);
                let attempt = attempt.map_or(Epoch::new(u64::from(choices.below(4))), |it| it.0);
                let ended = Command::Ended {
                    job,
                    attempt,
                    outcome,
                };
                self.feed(Event::Command(ended));
            }
            11 => {
                let to = choices.peer();
                self.feed(Event::Unreachable { to });
            }
            12 if choices.below(16) == 0 => self.restart(),
            13 | 14 if self.subject.foreign.is_some() => {
                let report = self.report(choices);
                self.feed(Event::Command(Command::Site(report)));
            }
            _ => self.wait(Span::from_micros(u64::from(choices.below(8)))),
        }
    }

    /// A report of a foreign site, true or not.
    fn report(&mut self, choices: &mut Choices<'_>) -> SiteReport {
        let job = choices.job();
        let Scheduling { runs, foreign, .. } = &mut self.subject;
        let queued = foreign.as_ref().and_then(|it| it.queued.get(&job).copied());
        let other = Epoch::new(u64::from(choices.below(4)));
        let attempt = choices.pick([queued, queued, queued, None]);
        let attempt = attempt.unwrap_or(other);
        let outcome = choices.pick([Outcome::Done, Outcome::Broke]);
        let at = self.now;
        let seen = choices.pick([
            SeenThere::Queued,
            SeenThere::Started { at },
            SeenThere::Started { at },
            SeenThere::Ended(outcome),
            SeenThere::Vanished,
        ]);
        match choices.below(16) {
            0 => SiteReport::Unreachable,
            1..=4 => SiteReport::Reachable,
            5 => {
                let own = OwnJob {
                    id: choices.pick([job, JobId::new(100), JobId::new(101)]),
                    processors: NonZeroU32::MIN.saturating_add(choices.below(2).into()),
                    estimate: Span::from_micros(u64::from(choices.byte())),
                    submitted: at,
                };
                SiteReport::Own { job: own, seen }
            }
            _ => {
                let goes = matches!(seen, SeenThere::Ended(_) | SeenThere::Vanished);
                if goes && runs.get(&job).is_some_and(|it| it.0 == attempt) {
                    runs.remove(&job);
                }
                if let (SeenThere::Started { .. }, Some(foreign)) = (seen, foreign) {
                    foreign.begun.insert((job, attempt));
                }
                SiteReport::Attempt { job, attempt, seen }
            }
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
                let flood = self.subject.asked.unwrap_or(id);
                Message::Accept { flood, cost }
            }
            3 => Message::Custody(custody::Message::Give {
                job: shared,
                home: choices.peer(),
                term,
                carried: 0,
                payload: Payload::EMPTY,
            }),
            4 => {
                let answer = choices.pick([Answer::Taken, Answer::NotTaken(Refused::Full)]);
                Message::Custody(custody::Message::Answer { job, term, answer })
            }
            5 => {
                let standing = choices.pick([
                    Standing::Waiting {
                        start: None,
                        at: None,
                    },
                    Standing::Waiting {
                        start: Some(until),
                        at: None,
                    },
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
                // Most verdicts are about the node's last claim.
                let last = self.subject.claims.get(&job).copied().unwrap_or(claim);
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

    /// Lets time pass, and asserts that every running job has a lease.
    fn wait(&mut self, span: Span) {
        self.pass(span);
        for job in self.subject.runs.keys() {
            let lease = self.node().lease(*job);
            assert!(lease > Some(self.now), "{job:?} runs without a lease");
        }
    }
}

fn job(choices: &mut Choices<'_>) -> Job {
    let estimate = Span::from_micros(u64::from(choices.byte()) + 1);
    let one = Demand::Nodes(NonZeroU32::MIN);
    let mut job = Job::new(choices.job(), one, estimate).expect("it takes some time");
    job.deadline = choices.pick([None, None, Some(Time::from_micros(200))]);
    job.retry = retry_of(job.id);
    job
}
