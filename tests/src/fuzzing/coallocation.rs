//! What the fuzz bodies of `asap` and `criteria` have in common: both schedulers use the commit protocol.

use gridweave_core::admission::Needs;
use gridweave_core::shared::Shared;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use gridweave_core::commit::{self, Everyone, Members, Permission, Refused, Standing};
use gridweave_core::id::{Epoch, Incarnation, JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, News, Notice, Outcome, Payload, Submitter};
use gridweave_core::machine::{Event, Machine};
use gridweave_core::overlay::cyclon;
use gridweave_core::overlay::view::{Link, Links};
use gridweave_core::schedule::{Attempt, Snapshot};
use gridweave_core::time::{Interval, Span, Time};

use super::choices::{Choices, retry_of};
use super::host::{Host, ME, Runs, Seen, Sent, Subject, name_of, note_what_runs, survivors};

pub(super) const PEERS: u8 = 7;

pub(super) const SLOT: Span = Span::from_micros(16);

pub(super) const COMMIT: commit::Config = commit::Config {
    lease: Span::from_micros(20),
    max_delay: Span::from_micros(4),
    max_skew: Span::from_micros(2),
    retry: Span::from_micros(5),
    jitter: Span::from_micros(2),
    retries: 1,
    lead: Span::from_micros(4),
    grace: Span::from_micros(21),
    permission: Permission::Renewed(Span::from_micros(30)),
    retention: Span::from_micros(50),
    seats: 4,
    holds_per_peer: 2,
    allowance: Span::from_micros(40),
    tasks: 3,
    members: 4,
    ..commit::Config::DEFAULT
};

/// A scheduler that commits.
pub(super) trait Scheduler {
    type Node: Machine<Command = Command, Notice = Notice>;

    /// Timers that may fire when they are not due.
    const TIMERS: [<Self::Node as Machine>::Timer; 3];

    fn build(&self) -> Self::Node;

    fn commitments(node: &Self::Node) -> &commit::Node<Everyone>;

    /// The jobs that were submitted here and have no outcome yet.
    fn jobs(node: &Self::Node) -> Vec<JobId>;

    /// The name under which a message is counted, if it is.
    fn kind_of(message: &<Self::Node as Machine>::Message) -> Option<&'static str>;

    /// What an honest peer says to a message.
    fn answer(
        &self,
        now: Time,
        peer: NodeId,
        message: <Self::Node as Machine>::Message,
        choices: &mut Choices<'_>,
    ) -> Option<<Self::Node as Machine>::Message>;

    /// Any message at all.
    fn forge(now: Time, choices: &mut Choices<'_>) -> <Self::Node as Machine>::Message;

    /// A job, with whatever else this scheduler lets it wish for.
    fn wish(job: Job, choices: &mut Choices<'_>) -> Job;

    /// Looks at the node after an event.
    fn look(&mut self, _node: &Self::Node, _seen: &mut Seen) {}
}

/// A scheduler, and what its host was told.
pub(super) struct Coallocator<S: Scheduler> {
    scheduler: S,
    sent: Sent<<S::Node as Machine>::Message>,
    /// What runs here.
    runs: Runs,
    /// How often the node has restarted.
    life: usize,
    /// The outcome of each job that has one, and the life in which it was told.
    last_words: BTreeMap<JobId, (News, usize)>,
}

/// Runs one node on choices from bytes. Panics if an invariant breaks, if anything grows beyond its bound, if a timer
/// rings without end, if two jobs run at once, or if a job gets two last words.
pub(super) fn drive<S: Scheduler>(scheduler: S, mut choices: Choices<'_>) -> Seen {
    let subject = Coallocator {
        scheduler,
        sent: Sent::new(),
        runs: Runs::new(),
        life: 0,
        last_words: BTreeMap::new(),
    };
    let mut host = Host::start(subject, Time::ZERO);
    while !choices.is_empty() {
        let kind = choices.byte();
        // One in sixty-four events is the last one before a crash, which comes after some of its effects.
        let crash = (kind >= 252).then(|| usize::from(choices.below(8)));
        let event = match kind % 16 {
            0..=9 => host.answer(&mut choices),
            10 => {
                let from = choices.peer();
                let message = S::forge(host.now, &mut choices);
                Some(Event::Message { from, message })
            }
            11 | 12 => {
                host.pass(Span::from_micros(u64::from(choices.below(12))));
                None
            }
            13 => host.command(&mut choices).map(Event::Command),
            14 => Some(Event::Unreachable { to: choices.peer() }),
            _ => Some(Event::Timer(choices.pick(S::TIMERS))),
        };
        match event {
            Some(event) => host.feed_and_crash(event, crash),
            None if crash.is_some() => host.restart(),
            None => {}
        }
    }
    // No peer answers any more: everything must end.
    for _ in 0..200 {
        host.pass(Span::from_micros(50));
    }
    assert!(S::jobs(host.node()).is_empty(), "a job has no last word");
    let parts = S::commitments(host.node());
    assert!(parts.participant.schedule().is_empty());
    host.seen
}

impl<S: Scheduler> Subject for Coallocator<S> {
    type Node = S::Node;

    // Some for each seat, task, search, neighbour and subscriber.
    const MOST_EFFECTS: usize = 1_000;
    const MOST_RINGS: usize = 24;

    fn build(&self, _rng: &mut rand::rngs::Xoshiro256PlusPlus) -> S::Node {
        self.scheduler.build()
    }

    fn said(host: &mut Host<Self>, to: NodeId, message: <S::Node as Machine>::Message) {
        if let Some(kind) = S::kind_of(&message) {
            host.count(kind);
        }
        host.subject.sent.push(to, message);
    }

    fn told(host: &mut Host<Self>, Notice { job, news }: Notice) {
        host.count(name_of(&news));
        let subject = &mut host.subject;
        match news {
            News::Started { until, .. } => {
                assert!(subject.runs.is_empty(), "nothing runs when {job} begins");
                assert!(until > host.now, "{job} begins when its time is over");
            }
            News::Extended { until, .. } => {
                assert!(until > host.now, "{job} is extended into the past");
            }
            News::Orphaned => panic!("{job} has a submitter here, or a coordinator"),
            _ => {}
        }
        note_what_runs(&mut subject.runs, job, &news);
        if news.is_last() {
            let life = subject.life;
            // An outcome may be told again in a later life. It is forgotten when the job is submitted again.
            if let Some((said, before)) = subject.last_words.insert(job, (news.clone(), life)) {
                assert!(
                    said == news && before < life,
                    "{job} was {said:?}, and is {news:?}"
                );
            }
        }
    }

    fn look(host: &mut Host<Self>) {
        let (seats, tasks) = (COMMIT.seats, COMMIT.tasks);
        assert!(S::jobs(host.node()).len() <= usize::from(tasks));
        let parts = S::commitments(host.node());
        assert!(parts.participant.running().count() <= 1);
        // Two lives and the known peers; a request and a task for each job; the seats.
        let records = 3 + usize::from(seats + 2 * tasks);
        assert!(host.records() <= records, "{} records", host.records());
        let node = host.host.machine().expect("it comes back at once");
        host.subject.scheduler.look(node, &mut host.seen);
    }

    fn crashed(&mut self, now: Time) -> Vec<Command> {
        self.life += 1;
        survivors(&mut self.runs, now)
    }
}

impl<S: Scheduler> Host<Coallocator<S>> {
    /// What an honest peer says to one of the last messages, or that message itself if it goes to this node.
    fn answer(&mut self, choices: &mut Choices<'_>) -> Option<Event<S::Node>> {
        let (from, message) = self.subject.sent.pick(choices)?;
        let scheduler = &self.subject.scheduler;
        let message = if from == ME {
            message
        } else {
            scheduler.answer(self.now, from, message, choices)?
        };
        Some(Event::Message { from, message })
    }

    fn command(&mut self, choices: &mut Choices<'_>) -> Option<Command> {
        let job = choices.job();
        Some(match choices.below(16) {
            // A known job is not submitted again, so that each outcome belongs to one submission.
            0..=7 if S::jobs(self.node()).contains(&job) => return None,
            0..=7 => {
                self.subject.last_words.remove(&job);
                let count = NonZeroU32::new(1 + u32::from(choices.below(3)))?;
                let estimate = Span::from_micros(1 + u64::from(choices.below(40)));
                let mut job = Job::new(job, Demand::Nodes(count), estimate).ok()?;
                job.retry = retry_of(job.id);
                Command::submit(S::wish(job, choices))
            }
            8 | 9 => Command::Cancel(job),
            10 => choices.order()?,
            _ => {
                let (job, (attempt, _)) = self.subject.runs.pop_first()?;
                Command::Ended {
                    job,
                    attempt,
                    outcome: Outcome::Done,
                }
            }
        })
    }
}

/// What an honest participant or coordinator says.
pub(super) fn vote(
    now: Time,
    message: &commit::Message,
    choices: &mut Choices<'_>,
) -> Option<commit::Message> {
    use commit::Message as Vote;
    Some(match *message {
        Vote::Prepare { attempt, lease, .. } if choices.below(8) > 0 => {
            Vote::Prepared { attempt, lease }
        }
        Vote::Prepare { attempt, .. } => Vote::Refused {
            attempt,
            reason: Refused::Busy,
            next_free: None,
        },
        Vote::Prepared { attempt, .. } => Vote::Commit {
            attempt,
            members: Shared::new(Members::default()),
        },
        Vote::Commit { attempt, .. } => Vote::Committed { attempt },
        Vote::Permit { attempt, .. } => match choices.below(8) {
            0..=3 => Vote::Ended {
                attempt,
                outcome: Outcome::Done,
            },
            4 => Vote::Ended {
                attempt,
                outcome: Outcome::Broke,
            },
            5 | 6 => Vote::Alive {
                attempt,
                standing: Standing::Gone,
            },
            _ => Vote::Alive {
                attempt,
                standing: Standing::Running,
            },
        },
        Vote::Committed { attempt } | Vote::Query { attempt } | Vote::Alive { attempt, .. } => {
            Vote::Permit {
                attempt,
                until: Some(now + Span::from_micros(30)),
            }
        }
        Vote::Release { job, through } => Vote::Released {
            job,
            through,
            began: None,
        },
        Vote::Ended { attempt, .. } => Vote::Release {
            job: attempt.job,
            through: attempt.epoch,
        },
        _ => return None,
    })
}

/// A forged request for a node's time.
pub(super) fn forged_request(now: Time, choices: &mut Choices<'_>) -> commit::Message {
    commit::Message::Prepare {
        attempt: attempt(now, choices),
        interval: interval(now, choices),
        lease: Span::from_micros(number(now, choices)),
        submitter: Submitter::default(),
        needs: Needs::NOTHING,
        payload: Payload::EMPTY,
    }
}

/// Any other forged message about a job.
pub(super) fn forged_vote(now: Time, choices: &mut Choices<'_>) -> commit::Message {
    let attempt = attempt(now, choices);
    let outcome = Outcome::Done;
    let votes = [
        commit::Message::Commit {
            attempt,
            members: Shared::new(Members::default()),
        },
        commit::Message::Abort { attempt },
        commit::Message::Committed { attempt },
        commit::Message::Expired { attempt },
        commit::Message::Ended { attempt, outcome },
        commit::Message::Permit {
            attempt,
            until: Some(time(now, choices)),
        },
    ];
    choices.pick(votes)
}

/// Any message of CYCLON.
pub(super) fn forged_exchange(choices: &mut Choices<'_>) -> cyclon::Message<3> {
    let incarnation = Incarnation::new(u32::from(choices.below(3)));
    let exchange = cyclon::ExchangeId {
        incarnation,
        cycle: u32::from(choices.below(4)),
    };
    let links = links(choices);
    match choices.below(3) {
        0 => cyclon::Message::Join { incarnation },
        1 => cyclon::Message::Shuffled { exchange, links },
        _ => cyclon::Message::Shuffle { exchange, links },
    }
}

fn attempt(now: Time, choices: &mut Choices<'_>) -> Attempt {
    Attempt::new(choices.job(), Epoch::new(number(now, choices)))
}

/// A number that is likely to matter: small, about now, or next to the end.
pub(super) fn number(now: Time, choices: &mut Choices<'_>) -> u64 {
    let small = u64::from(choices.below(8));
    match choices.below(4) {
        0 | 1 => small,
        2 => now.as_micros().saturating_add(small * 16),
        _ => u64::MAX - small,
    }
}

/// An instant that is likely to matter.
pub(super) fn time(now: Time, choices: &mut Choices<'_>) -> Time {
    match choices.below(4) {
        0 => Time::from_micros(number(now, choices)),
        _ => (now + Span::from_micros(u64::from(choices.below(64)))).round_up(SLOT),
    }
}

fn interval(now: Time, choices: &mut Choices<'_>) -> Interval {
    let start = now + Span::from_micros(u64::from(choices.below(64)));
    let length = Span::from_micros(1 + u64::from(choices.below(32)));
    Interval::starting(start, length).expect("the end of time is far")
}

pub(super) fn schedule(now: Time, choices: &mut Choices<'_>) -> Snapshot {
    let version = u64::from(choices.below(8));
    if choices.below(2) == 0 {
        return Snapshot::empty(version);
    }
    let horizon = choices.pick([Time::MAX, now + Span::from_micros(200)]);
    let windows = [interval(now, choices)];
    Snapshot::new(version, horizon, &windows).expect("one window ends before the horizon")
}

pub(super) fn links(choices: &mut Choices<'_>) -> Links<3> {
    (0..choices.below(4))
        .map(|_| Link {
            id: choices.peer(),
            incarnation: Incarnation::new(u32::from(choices.below(3))),
            age: u16::from(choices.below(9)),
        })
        .collect()
}
