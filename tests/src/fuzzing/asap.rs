//! One `asap` node among liars: bytes choose messages, timers, commands and crashes.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use gridweave_core::commit::{self, AfterLoss, Everyone, Permission, Refused, Standing};
use gridweave_core::id::{Epoch, Incarnation, JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, News, Notice, Outcome, Submitter};
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine};
use gridweave_core::overlay::cyclon;
use gridweave_core::overlay::view::{Link, Links as SomeLinks};
use gridweave_core::schedule::{Holder, Snapshot};
use gridweave_core::scheduler::asap::{
    Asap, AskId, Bootstrap, Choice, Config, Exchange, Key, Known, Links, Message, Offer, Others,
    Reason, Record, SearchId, Searcher, Timer, Wanted,
};
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::choices::Choices;

type Node = Asap<4, 3>;

const ME: NodeId = NodeId::new(0);

const CONFIG: Config = Config {
    overlay: cyclon::Config {
        view: 4,
        shuffle: 3,
        period: Span::from_micros(400),
        timeout: Span::from_micros(40),
        ..Config::DEFAULT.overlay
    },
    forward: 1,
    max_hops: 3,
    width: 2,
    slot: Span::from_micros(16),
    lead: Span::from_micros(32),
    rounds: 3,
    improve: Some(Span::from_micros(60)),
    timeout: Span::from_micros(8),
    search_limit: Span::from_micros(40),
    commit: commit::Config {
        lease: Span::from_micros(20),
        max_delay: Span::from_micros(4),
        max_skew: Span::from_micros(2),
        retry: Span::from_micros(5),
        jitter: Span::from_micros(2),
        retries: 1,
        lead: Span::from_micros(4),
        grace: Span::from_micros(6),
        permission: Permission::Renewed(Span::from_micros(30)),
        retention: Span::from_micros(50),
        seats: 4,
        holds_per_peer: 2,
        allowance: Span::from_micros(40),
        tasks: 3,
        members: 4,
        ..commit::Config::DEFAULT
    },
    after_loss: AfterLoss::Restart,
    windows: 2,
    subscribers: 2,
    searches: 2,
    candidates: 8,
    ..Config::DEFAULT
};

/// The most effects of one event: some for each seat, task, search, neighbour and subscriber.
const MOST_EFFECTS: usize = 1_000;

/// How often timers may ring at one instant.
const MOST_RINGS: usize = 24;

/// How many messages are remembered, to be answered.
const MOST_SENT: usize = 8;

/// What came of it, to show that much did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Jobs that were said to start.
    pub accepted: usize,
    /// Jobs that were said to start at another time.
    pub moved: usize,
    /// Jobs that were finished.
    pub finished: usize,
    /// Jobs that failed or were refused.
    pub failed: usize,
    /// Jobs that were cancelled.
    pub cancelled: usize,
    /// Jobs that were begun here.
    pub begun: usize,
    /// Places that were found for others.
    pub found: usize,
    /// Schedules that were pushed.
    pub pushed: usize,
    /// Restarts from disk.
    pub restarts: usize,
    /// How often there was no room for a search or a subscriber.
    pub declined: u64,
}

impl Seen {
    /// All of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            accepted: self.accepted + other.accepted,
            moved: self.moved + other.moved,
            finished: self.finished + other.finished,
            failed: self.failed + other.failed,
            cancelled: self.cancelled + other.cancelled,
            begun: self.begun + other.begun,
            found: self.found + other.found,
            pushed: self.pushed + other.pushed,
            restarts: self.restarts + other.restarts,
            declined: self.declined + other.declined,
        }
    }
}

struct Host {
    config: Config,
    node: Node,
    now: Time,
    disk: BTreeMap<Key, Record>,
    alarms: BTreeMap<Timer, Time>,
    /// The last messages, and to whom.
    sent: VecDeque<(NodeId, Message<3>)>,
    /// What runs here, as far as the host was told.
    live: Option<JobId>,
    /// The last word on each job that has one, and in which life it was said.
    last_words: BTreeMap<JobId, (News, usize)>,
    seen: Seen,
}

/// Runs one node on choices from bytes. Panics if an invariant breaks, if anything grows beyond its bound, if a timer
/// rings without end, if two jobs run at once, or if a job gets two last words.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, 7);
    let config = Config {
        links: choices.pick([Links::Static, Links::Dynamic]),
        exchange: choices.pick([
            Exchange::Push {
                lease: Span::from_micros(120),
            },
            Exchange::Pull,
            Exchange::Poll {
                period: Span::from_micros(60),
            },
        ]),
        searcher: choices.pick([Searcher::Included, Searcher::Excluded]),
        choice: choices.pick([Choice::Nearest, Choice::BestFit]),
        ..CONFIG
    };
    let mut host = Host {
        config,
        node: build(config),
        now: Time::ZERO,
        disk: BTreeMap::new(),
        alarms: BTreeMap::new(),
        sent: VecDeque::new(),
        live: None,
        last_words: BTreeMap::new(),
        seen: Seen::default(),
    };
    host.feed(Event::Start, None);
    while !choices.is_empty() {
        let kind = choices.byte();
        // One in sixty-four events is the last one before a crash, which comes after some of its effects.
        let crash = (kind >= 252).then(|| usize::from(choices.below(8)));
        match kind % 16 {
            0..=9 => {
                if let Some((from, message)) = host.answer(&mut choices) {
                    host.feed(Event::Message { from, message }, crash);
                }
            }
            10 => {
                let from = choices.peer();
                let message = host.forge(&mut choices);
                host.feed(Event::Message { from, message }, crash);
            }
            11 | 12 => host.pass(Span::from_micros(u64::from(choices.below(12)))),
            13 => {
                if let Some(command) = host.command(&mut choices) {
                    host.feed(Event::Command(command), crash);
                }
            }
            14 => {
                let to = choices.peer();
                host.feed(Event::Unreachable { to }, crash);
            }
            _ => {
                let timers = [
                    Timer::Due,
                    Timer::Desk(commit::Timer::Coordinator),
                    Timer::Desk(commit::Timer::Participant),
                ];
                let timer = choices.pick(timers);
                host.feed(Event::Timer(timer), crash);
            }
        }
        if crash.is_some() {
            host.restart();
        }
    }
    // Left alone, everything ends: nobody answers any more.
    for _ in 0..200 {
        host.pass(Span::from_micros(50));
    }
    assert_eq!(host.node.jobs().count(), 0, "a job has no last word");
    let parts = host.node.commitments();
    assert!(parts.participant.schedule().is_empty());
    host.seen
}

fn build(config: Config) -> Node {
    let peers = (1..4).map(NodeId::new).collect();
    Asap::new(ME, config, Bootstrap::Meet(peers), Everyone).expect("the rules are sound")
}

impl Host {
    fn feed(&mut self, event: Event<Node>, most: Option<usize>) {
        let mut effects = EffectQueue::new();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.now.as_micros());
        let declined = self.node.declined();
        effects.feed(&mut self.node, event, self.now, &mut rng);
        self.node
            .check()
            .unwrap_or_else(|violation| panic!("{violation}, at {:?}", self.now));
        let more = self.node.declined();
        self.seen.declined += more.searches - declined.searches;
        self.seen.declined += more.subscriptions - declined.subscriptions;
        let effects: Vec<Effect<Node>> = effects.drain().collect();
        assert!(effects.len() <= MOST_EFFECTS, "{} effects", effects.len());
        for effect in effects.into_iter().take(most.unwrap_or(usize::MAX)) {
            self.execute(effect);
        }
        let (seats, tasks) = (self.config.commit.seats, self.config.commit.tasks);
        assert!(self.node.jobs().count() <= usize::from(tasks));
        assert!(self.node.commitments().participant.running().count() <= 1);
        // Two lives and whom it knows; a request and a task of each job, and the seats.
        let records = 3 + usize::from(seats + 2 * tasks);
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
                self.seen.found += usize::from(matches!(message, Message::Found { .. }));
                let is_push = matches!(
                    message,
                    Message::Schedule {
                        reason: Reason::Changed,
                        ..
                    }
                );
                self.seen.pushed += usize::from(is_push);
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
            Effect::Notify(Notice { job, news }) => self.hear(job, news),
        }
    }

    fn hear(&mut self, job: JobId, news: News) {
        match news {
            News::Accepted { .. } => self.seen.accepted += 1,
            News::Moved { .. } => self.seen.moved += 1,
            News::Started => {
                assert_eq!(self.live, None, "nothing runs when {job} begins");
                self.live = Some(job);
                self.seen.begun += 1;
            }
            News::Stopped => {
                assert!(self.live.is_none_or(|live| live == job));
                self.live = None;
            }
            News::Orphaned => panic!("{job} has a submitter here, or a coordinator"),
            News::Finished => self.seen.finished += 1,
            News::Failed(_) => self.seen.failed += 1,
            News::Cancelled => self.seen.cancelled += 1,
        }
        if news.is_last() {
            let life = self.seen.restarts;
            // It may be said again in a later life, and it is forgotten when the job is submitted anew.
            if let Some((said, before)) = self.last_words.insert(job, (news, life)) {
                assert!(
                    said == news && before < life,
                    "{job} was {said:?}, and is {news:?}"
                );
            }
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
            assert!(rings <= MOST_RINGS, "{timer:?} rings without end");
            self.alarms.remove(&timer);
            self.feed(Event::Timer(timer), None);
        }
        self.now = end;
    }

    /// Comes back from disk; nothing runs.
    fn restart(&mut self) {
        self.node = build(self.config);
        self.alarms.clear();
        self.live = None;
        self.seen.restarts += 1;
        for (key, record) in self.disk.clone() {
            self.feed(Event::Restored(key, record), None);
        }
        self.feed(Event::Start, None);
    }

    /// What an honest peer says to one of the last messages, or that message itself if it goes to this node.
    fn answer(&mut self, choices: &mut Choices<'_>) -> Option<(NodeId, Message<3>)> {
        let place = self.sent.len().checked_sub(1)?;
        let back = usize::from(choices.below(MOST_SENT as u8)).min(place);
        // Most are answered once, some again.
        let (peer, message) = match choices.below(8) {
            0 => self.sent.get(place - back)?.clone(),
            _ => self.sent.remove(place - back)?,
        };
        if peer == ME {
            return Some((peer, message));
        }
        let answer = match message {
            Message::Commit(message) => Message::Commit(self.vote(message, choices)?),
            Message::Search { ask, wanted } if choices.below(4) > 0 => Message::Found {
                ask,
                offer: self.offer(wanted, choices),
            },
            Message::Search { ask, .. } => Message::NotFound {
                ask,
                seen: u32::from(choices.below(4)),
            },
            Message::WhoElse { search } => Message::Others {
                search,
                known: self.others(choices),
            },
            Message::Fetch(reason) => Message::Schedule {
                reason,
                schedule: self.schedule(choices),
            },
            Message::Subscribe { .. } => Message::Schedule {
                reason: Reason::NewLink,
                schedule: self.schedule(choices),
            },
            Message::Schedule { .. } => Message::Fetch(Reason::Poll),
            Message::Overlay(cyclon::Message::Shuffle { exchange, .. }) => {
                let links = self.links(choices);
                Message::Overlay(cyclon::Message::Shuffled { exchange, links })
            }
            _ => return None,
        };
        Some((peer, answer))
    }

    /// What an honest participant or coordinator says.
    fn vote(&self, message: commit::Message, choices: &mut Choices<'_>) -> Option<commit::Message> {
        use commit::Message as Vote;
        Some(match message {
            Vote::Prepare { holder, lease, .. } if choices.below(8) > 0 => {
                Vote::Prepared { holder, lease }
            }
            Vote::Prepare { holder, .. } => Vote::Refused {
                holder,
                reason: Refused::Busy,
                next_free: Time::MAX,
            },
            Vote::Prepared { holder, .. } => Vote::Commit { holder },
            Vote::Commit { holder } => Vote::Committed { holder },
            Vote::Permit { holder, .. } => match choices.below(8) {
                0..=3 => Vote::Ended {
                    holder,
                    outcome: Outcome::Done,
                },
                4 => Vote::Ended {
                    holder,
                    outcome: Outcome::Broke,
                },
                5 | 6 => Vote::Alive {
                    holder,
                    standing: Standing::Gone,
                },
                _ => Vote::Alive {
                    holder,
                    standing: Standing::Running,
                },
            },
            Vote::Committed { holder } | Vote::Query { holder } | Vote::Alive { holder, .. } => {
                Vote::Permit {
                    holder,
                    until: self.now + Span::from_micros(30),
                }
            }
            Vote::Release { job, through } => Vote::Released { job, through },
            Vote::Ended { holder, .. } => Vote::Release {
                job: holder.job,
                through: holder.epoch,
            },
            _ => return None,
        })
    }

    /// Any message at all.
    fn forge(&self, choices: &mut Choices<'_>) -> Message<3> {
        let ask = AskId {
            job: choices.job(),
            round: u32::from(choices.below(4)),
        };
        let wanted = Wanted {
            count: u32::from(choices.below(6)),
            from: self.time(choices),
            length: Span::from_micros(self.number(choices)),
        };
        match choices.below(14) {
            0 | 1 => Message::Search { ask, wanted },
            2 => Message::Found {
                ask,
                offer: self.offer(wanted, choices),
            },
            3 => Message::NotFound {
                ask,
                seen: u32::from(choices.byte()),
            },
            4 => Message::WhoElse {
                search: search_id(choices),
            },
            5 => Message::Others {
                search: search_id(choices),
                known: self.others(choices),
            },
            6 => Message::Fetch(reason(choices)),
            7 => Message::Schedule {
                reason: reason(choices),
                schedule: self.schedule(choices),
            },
            8 => Message::Subscribe {
                known: (choices.below(2) == 0).then(|| self.number(choices)),
            },
            9 => Message::Unsubscribe,
            10 | 11 => Message::Commit(commit::Message::Prepare {
                holder: self.holder(choices),
                interval: self.interval(choices),
                lease: Span::from_micros(self.number(choices)),
                submitter: Submitter::default(),
            }),
            12 => {
                let holder = self.holder(choices);
                let outcome = Outcome::Done;
                let votes = [
                    commit::Message::Commit { holder },
                    commit::Message::Abort { holder },
                    commit::Message::Committed { holder },
                    commit::Message::Expired { holder },
                    commit::Message::Ended { holder, outcome },
                    commit::Message::Permit {
                        holder,
                        until: self.time(choices),
                    },
                ];
                Message::Commit(choices.pick(votes))
            }
            _ => {
                let incarnation = Incarnation::new(u32::from(choices.below(3)));
                let exchange = cyclon::ExchangeId {
                    incarnation,
                    cycle: u32::from(choices.below(4)),
                };
                let links = self.links(choices);
                Message::Overlay(match choices.below(3) {
                    0 => cyclon::Message::Join { incarnation },
                    1 => cyclon::Message::Shuffled { exchange, links },
                    _ => cyclon::Message::Shuffle { exchange, links },
                })
            }
        }
    }

    fn holder(&self, choices: &mut Choices<'_>) -> Holder {
        Holder {
            job: choices.job(),
            epoch: Epoch::new(self.number(choices)),
        }
    }

    /// A number that is likely to matter: small, about now, or next to the end.
    fn number(&self, choices: &mut Choices<'_>) -> u64 {
        let small = u64::from(choices.below(8));
        match choices.below(4) {
            0 | 1 => small,
            2 => self.now.as_micros().saturating_add(small * 16),
            _ => u64::MAX - small,
        }
    }

    /// An instant that is likely to matter.
    fn time(&self, choices: &mut Choices<'_>) -> Time {
        match choices.below(4) {
            0 => Time::from_micros(self.number(choices)),
            _ => (self.now + Span::from_micros(u64::from(choices.below(64)))).round_up(CONFIG.slot),
        }
    }

    fn interval(&self, choices: &mut Choices<'_>) -> Interval {
        let start = self.now + Span::from_micros(u64::from(choices.below(64)));
        let length = Span::from_micros(1 + u64::from(choices.below(32)));
        Interval::starting(start, length).expect("the end of time is far")
    }

    /// A place, most often one that was asked for.
    fn offer(&self, wanted: Wanted, choices: &mut Choices<'_>) -> Offer {
        let count = match choices.below(8) {
            0 => usize::from(choices.below(5)),
            _ => wanted.count.min(4) as usize,
        };
        let start = match choices.below(4) {
            0 => self.time(choices),
            _ => wanted.from,
        };
        let first = choices.byte();
        let nodes = match choices.below(8) {
            0 => (0..count).map(|_| choices.peer()).collect(),
            _ => (0..count)
                .map(|node| NodeId::new((u64::from(first) + node as u64) % 7))
                .collect(),
        };
        Offer {
            start,
            hops: choices.below(4),
            nodes,
        }
    }

    fn schedule(&self, choices: &mut Choices<'_>) -> Snapshot {
        let version = u64::from(choices.below(8));
        if choices.below(2) == 0 {
            return Snapshot::empty(version);
        }
        let horizon = choices.pick([Time::MAX, self.now + Span::from_micros(200)]);
        let windows = [self.interval(choices)];
        Snapshot::new(version, horizon, &windows).expect("one window ends before the horizon")
    }

    fn others(&self, choices: &mut Choices<'_>) -> Others {
        (0..choices.below(7))
            .map(|_| Known {
                node: NodeId::new(u64::from(choices.below(12))),
                schedule: self.schedule(choices),
            })
            .collect()
    }

    fn links(&self, choices: &mut Choices<'_>) -> SomeLinks<3> {
        (0..choices.below(4))
            .map(|_| Link {
                id: choices.peer(),
                incarnation: Incarnation::new(u32::from(choices.below(3))),
                age: u16::from(choices.below(9)),
            })
            .collect()
    }

    fn command(&mut self, choices: &mut Choices<'_>) -> Option<Command> {
        let job = choices.job();
        let is_known = self.node.jobs().any(|known| known == job);
        Some(match choices.below(16) {
            // What is known, or has its last word on disk, is not submitted again, so that each last word is an answer to something.
            0..=7 if is_known => return None,
            0..=7 => {
                self.last_words.remove(&job);
                let count = NonZeroU32::new(1 + u32::from(choices.below(3)))?;
                let estimate = Span::from_micros(1 + u64::from(choices.below(40)));
                Command::Submit(Job::new(job, Demand::Nodes(count), estimate).ok()?)
            }
            8 | 9 => Command::Cancel(job),
            10 if choices.below(16) == 0 => Command::Leave,
            _ => Command::Ended {
                job: self.live.take()?,
                outcome: Outcome::Done,
            },
        })
    }
}

fn search_id(choices: &mut Choices<'_>) -> SearchId {
    // Names of searches are small numbers, which only their searcher makes; on the wire they are just that.
    postcard::from_bytes(&[choices.below(8)]).expect("a small number is a name")
}

fn reason(choices: &mut Choices<'_>) -> Reason {
    let search = search_id(choices);
    choices.pick([
        Reason::Changed,
        Reason::Search(search),
        Reason::Poll,
        Reason::NewLink,
    ])
}
