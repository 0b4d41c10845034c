//! One node of the commit protocol among liars: bytes choose messages, timers, commands and crashes.

use std::collections::{BTreeMap, VecDeque};

use gridweave_core::commit::coordinator::{self, Notice as Told};
use gridweave_core::commit::participant::{self, Notice as Heard};
use gridweave_core::commit::{
    AfterLoss, Candidate, Command, Config, Everyone, Key, Message, Node, Notice, Overrun,
    Permission, Record, Refused, Standing, Timer,
};
use gridweave_core::id::{Epoch, NodeId};
use gridweave_core::job::{Outcome, Submitter};
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine};
use gridweave_core::schedule::Holder;
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::choices::Choices;

const CONFIG: Config = Config {
    lease: Span::from_micros(20),
    max_delay: Span::from_micros(4),
    max_skew: Span::from_micros(2),
    retry: Span::from_micros(5),
    jitter: Span::from_micros(2),
    retries: 1,
    lead: Span::from_micros(4),
    grace: Span::from_micros(6),
    permission: Permission::Renewed(Span::from_micros(30)),
    after_loss: AfterLoss::Restart,
    overrun: Overrun::Extend {
        by: Span::from_micros(8),
        times: 2,
    },
    retention: Span::from_micros(50),
    seats: 4,
    holds_per_peer: 2,
    allowance: Span::from_micros(40),
    tasks: 3,
    members: 3,
};

/// The most effects of one event: some for each seat, and for each task some for each of its nodes, old ones included.
const MOST_EFFECTS: usize = 1_000;

/// How often one timer may ring at one instant.
const MOST_RINGS: usize = 8;

/// How many messages are remembered, to be answered.
const MOST_SENT: usize = 4;

/// What came of it, to show that much did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Jobs that were begun here.
    pub begun: usize,
    /// Jobs that were stopped here.
    pub stopped: usize,
    /// Coordinators that were refused.
    pub declined: usize,
    /// Jobs that got their time.
    pub placed: usize,
    /// Jobs that did not.
    pub unplaced: usize,
    /// Jobs that were finished.
    pub finished: usize,
    /// Restarts from disk.
    pub restarts: usize,
    /// How often a job ran on beyond the end it had.
    pub extended: usize,
}

impl Seen {
    /// All of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            begun: self.begun + other.begun,
            stopped: self.stopped + other.stopped,
            declined: self.declined + other.declined,
            placed: self.placed + other.placed,
            unplaced: self.unplaced + other.unplaced,
            finished: self.finished + other.finished,
            restarts: self.restarts + other.restarts,
            extended: self.extended + other.extended,
        }
    }
}

struct Host {
    node: Node,
    now: Time,
    disk: BTreeMap<Key, Record>,
    alarms: BTreeMap<Timer, Time>,
    /// The last messages, and to whom.
    sent: VecDeque<(NodeId, Message)>,
    /// What runs here, as far as the host was told.
    live: Option<Holder>,
    /// When its reservation ended with which it began; never, once it has run for longer.
    ends: Time,
    seen: Seen,
}

/// Runs one node on choices from bytes. Panics if an invariant breaks, if anything grows beyond its bound, if a timer
/// rings without end, or if two jobs run at once.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, 4);
    let mut host = Host {
        node: Node::new(CONFIG, Everyone),
        now: Time::ZERO,
        disk: BTreeMap::new(),
        alarms: BTreeMap::new(),
        sent: VecDeque::new(),
        live: None,
        ends: Time::MAX,
        seen: Seen::default(),
    };
    host.feed(Event::Start, None);
    while !choices.is_empty() {
        let kind = choices.byte();
        // One in sixty-four events is the last one before a crash, which comes after some of its effects.
        let crash = (kind >= 252).then(|| usize::from(choices.below(6)));
        match kind % 8 {
            0..=3 => {
                if let Some((from, message)) = host.answer(&mut choices) {
                    host.feed(Event::Message { from, message }, crash);
                }
            }
            4 => {
                let from = choices.peer();
                let message = host.forge(&mut choices);
                host.feed(Event::Message { from, message }, crash);
            }
            5 => host.pass(Span::from_micros(u64::from(choices.below(16)))),
            6 => {
                let command = host.command(&mut choices);
                host.feed(Event::Command(command), crash);
            }
            _ => {
                let timer = [Timer::Coordinator, Timer::Participant][usize::from(choices.below(2))];
                host.feed(Event::Timer(timer), crash);
            }
        }
        if crash.is_some() {
            host.restart();
        }
    }
    // Left alone, everything ends: nobody answers any more.
    for _ in 0..40 {
        host.pass(Span::from_micros(50));
    }
    host.seen
}

impl Host {
    fn feed(&mut self, event: Event<Node>, most: Option<usize>) {
        let mut effects = EffectQueue::new();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.now.as_micros());
        effects.feed(&mut self.node, event, self.now, &mut rng);
        self.node
            .check()
            .unwrap_or_else(|violation| panic!("{violation}, at {:?}", self.now));
        let effects: Vec<Effect<Node>> = effects.drain().collect();
        assert!(effects.len() <= MOST_EFFECTS, "{} effects", effects.len());
        for effect in effects.into_iter().take(most.unwrap_or(usize::MAX)) {
            self.execute(effect);
        }
        let schedule = self.node.participant.schedule();
        assert!(schedule.len() <= 2 * usize::from(CONFIG.seats));
        assert!(self.node.participant.running().count() <= 1);
        let running = self.node.participant.running().next();
        if running.is_some() && running == self.live && self.ends <= self.now {
            self.ends = Time::MAX;
            self.seen.extended += 1;
        }
        let records = usize::from(CONFIG.seats + CONFIG.tasks) + 1;
        assert!(self.disk.len() <= records, "{} records", self.disk.len());
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
                self.sent.push_back((to, message));
                if self.sent.len() > MOST_SENT {
                    self.sent.pop_front();
                }
            }
            Effect::Wake { at, timer } => {
                self.alarms.insert(timer, at);
            }
            Effect::Cancel(timer) => {
                self.alarms.remove(&timer);
            }
            Effect::Notify(Notice::Participant(notice)) => self.heard(notice),
            Effect::Notify(Notice::Coordinator(notice)) => match notice {
                Told::Placed { .. } => self.seen.placed += 1,
                Told::Unplaced { .. } => self.seen.unplaced += 1,
                Told::Finished { .. } => self.seen.finished += 1,
                Told::Kept { .. } | Told::Cleared { .. } => {}
            },
        }
    }

    fn heard(&mut self, notice: Heard) {
        match notice {
            Heard::Begin { holder, interval } => {
                assert_eq!(self.live, None, "nothing runs when {holder:?} begins");
                assert!(interval.contains(self.now));
                self.live = Some(holder);
                self.ends = interval.end();
                self.seen.begun += 1;
            }
            Heard::Stop { holder, .. } => {
                assert!(self.live.is_none_or(|live| live == holder));
                self.live = None;
                self.seen.stopped += 1;
            }
            Heard::Declined { .. } => self.seen.declined += 1,
            Heard::Changed => {}
        }
    }

    /// Lets time pass, timer by timer.
    fn pass(&mut self, span: Span) {
        let end = self.now + span;
        let (mut instant, mut rings) = (self.now, 0);
        while let Some((at, timer)) = self.alarms.iter().map(|(timer, at)| (*at, *timer)).min()
            && at <= end
        {
            self.now = self.now.max(at);
            rings = if instant == self.now { rings + 1 } else { 0 };
            instant = self.now;
            assert!(rings <= 2 * MOST_RINGS, "{timer:?} rings without end");
            self.alarms.remove(&timer);
            self.feed(Event::Timer(timer), None);
        }
        self.now = end;
    }

    /// Comes back from disk; nothing runs.
    fn restart(&mut self) {
        self.node = Node::new(CONFIG, Everyone);
        self.alarms.clear();
        self.live = None;
        self.seen.restarts += 1;
        for (key, record) in self.disk.clone() {
            self.feed(Event::Restored(key, record), None);
        }
        self.feed(Event::Start, None);
    }

    /// What an honest peer says to one of the last messages, or that message itself if it goes to this node.
    fn answer(&mut self, choices: &mut Choices<'_>) -> Option<(NodeId, Message)> {
        let place = self.sent.len().checked_sub(1)?;
        let back = usize::from(choices.below(4)).min(place);
        let &(peer, message) = self.sent.get(place - back)?;
        if peer == NodeId::new(0) {
            return Some((peer, message));
        }
        let answer = match message {
            Message::Prepare { holder, lease, .. } => Message::Prepared { holder, lease },
            Message::Prepared { holder, .. } => Message::Commit { holder },
            Message::Commit { holder } => Message::Committed { holder },
            Message::Permit { holder, .. } if choices.below(2) == 0 => Message::Ended {
                holder,
                outcome: self.outcome(choices),
            },
            Message::Permit { holder, .. } => Message::Alive {
                holder,
                standing: Standing::Running,
            },
            Message::Committed { holder }
            | Message::Query { holder }
            | Message::Alive { holder, .. } => Message::Permit {
                holder,
                until: self.now + Span::from_micros(30),
            },
            Message::Extend { holder, until } => Message::Permit { holder, until },
            Message::Release { job, through } => Message::Released { job, through },
            Message::Ended { holder, .. }
            | Message::Expired { holder }
            | Message::Refused { holder, .. }
            | Message::Abort { holder } => Message::Release {
                job: holder.job,
                through: holder.epoch,
            },
            Message::Released { .. } => return None,
        };
        Some((peer, answer))
    }

    /// Any message at all.
    fn forge(&self, choices: &mut Choices<'_>) -> Message {
        let job = choices.job();
        let epoch = Epoch::new(self.number(choices));
        let holder = Holder { job, epoch };
        let through = epoch;
        let outcome = self.outcome(choices);
        match choices.below(14) {
            0 | 1 => Message::Prepare {
                holder,
                interval: self.interval(choices),
                lease: Span::from_micros(self.number(choices)),
                submitter: Submitter::default(),
            },
            2 => Message::Prepared {
                holder,
                lease: Span::from_micros(self.number(choices)),
            },
            3 => Message::Refused {
                holder,
                reason: Refused::Busy,
                next_free: Time::from_micros(self.number(choices)),
            },
            4 => Message::Commit { holder },
            5 => Message::Committed { holder },
            6 => Message::Expired { holder },
            7 => Message::Abort { holder },
            8 => Message::Permit {
                holder,
                until: Time::from_micros(self.number(choices)),
            },
            9 => Message::Alive {
                holder,
                standing: [Standing::Waiting, Standing::Running, Standing::Gone]
                    [usize::from(choices.below(3))],
            },
            10 => Message::Query { holder },
            11 => Message::Release { job, through },
            12 => Message::Extend {
                holder,
                until: Time::from_micros(self.number(choices)),
            },
            _ => Message::Ended { holder, outcome },
        }
    }

    /// A number that is likely to matter: small, about now, an epoch that was used, or next to the end.
    fn number(&self, choices: &mut Choices<'_>) -> u64 {
        let small = u64::from(choices.below(8));
        match choices.below(4) {
            0 => small,
            1 => self.now.as_micros().saturating_add(small * 4),
            2 => {
                let sent = self.sent.back();
                sent.map_or(small, |(_, message)| {
                    message.epoch().get().saturating_add(small)
                })
            }
            _ => u64::MAX - small,
        }
    }

    fn interval(&self, choices: &mut Choices<'_>) -> Interval {
        let start = self.now + Span::from_micros(u64::from(choices.below(32)));
        let length = Span::from_micros(1 + u64::from(choices.below(16)));
        let since = if choices.byte() == 0 {
            Interval::since(start)
        } else {
            Interval::starting(start, length)
        };
        since.expect("the end of time is far")
    }

    fn outcome(&self, choices: &mut Choices<'_>) -> Outcome {
        if choices.below(4) == 0 {
            Outcome::Broke
        } else {
            Outcome::Done
        }
    }

    fn command(&mut self, choices: &mut Choices<'_>) -> Command {
        let job = choices.job();
        Command::Coordinator(match choices.below(6) {
            0 | 1 => coordinator::Command::Place {
                job,
                submitter: Submitter::default(),
                candidates: (0..choices.below(3))
                    .map(|_| self.candidate(choices))
                    .collect(),
                spares: (0..choices.below(3)).map(|_| choices.peer()).collect(),
            },
            2 => coordinator::Command::Improve {
                job,
                candidate: self.candidate(choices),
            },
            3 => coordinator::Command::Release { job },
            _ => {
                let epoch = Epoch::new(u64::from(choices.below(4)));
                let holder = self.live.take().unwrap_or(Holder { job, epoch });
                let outcome = self.outcome(choices);
                return Command::Participant(participant::Command::Ended { holder, outcome });
            }
        })
    }

    fn candidate(&self, choices: &mut Choices<'_>) -> Candidate {
        Candidate {
            interval: self.interval(choices),
            nodes: (0..=choices.below(3)).map(|_| choices.peer()).collect(),
        }
    }
}
