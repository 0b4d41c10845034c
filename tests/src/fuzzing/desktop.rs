//! One `desktop` node among liars: bytes choose messages, timers, commands and crashes.

use std::num::NonZeroU32;

use gridweave_core::custody::{
    self, Answer, Claim, Ending, Refused, Ruling, Standing, Tenure, Term,
};
use gridweave_core::id::{Epoch, Incarnation, JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, Notice, Outcome, Payload};
use gridweave_core::machine::Event;
use gridweave_core::overlay::can::{self, Account, Grant, Name, Point, Told};
use gridweave_core::overlay::flood::{FloodId, Header};
use gridweave_core::queue::Waiting;
use gridweave_core::resource::{Capability, Dimension, Dimensions, Kind, Requirement, Speed};
use gridweave_core::scheduler::desktop::{
    Bootstrap, Config, Desktop, Direction, Equipment, Errand, Gather, Merit, Merits, Message,
    MoveTo, Quest, Residues, Scheduling, Stand, Status, Trail, Turn, Wanted, Way,
};
use gridweave_core::shared::Shared;
use gridweave_core::time::{Span, Time};
use gridweave_core::wire::{self, Protocol, VERSION};
use rand::rngs::Xoshiro256PlusPlus;

use super::choices::{Choices, retry_of};
use super::host::{Host, ME, Runs, Seen, Subject, name_of, note_what_runs, survivors};

/// Cores, memory and one virtual dimension.
type Node = Desktop<3>;

const PEERS: u8 = 6;

/// One desktop, and what its host was told.
struct Working {
    config: Config,
    /// What runs here.
    runs: Runs,
    /// The parts of its zone that the node granted. Their new owners do not lie about them.
    granted: Vec<Shared<Grant<3>>>,
    /// The last search and, in `said`, the last message of custody, to be answered.
    quest: Option<(JobId, Quest)>,
    said: Option<custody::Message>,
}

fn dimensions() -> Dimensions {
    Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)]).expect("two are few")
}

fn dimension(name: &str) -> Dimension {
    dimensions().named(name).expect("there is such a dimension")
}

fn amounts(cores: u64, memory: u64) -> Capability {
    let amounts = dimensions().capability(&[cores, memory]);
    amounts.expect("there is one for each dimension")
}

fn config(choices: &mut Choices<'_>) -> Config {
    let mut config = Config::new(amounts(16, 64));
    config.scheduling = choices.pick([
        Scheduling::VANILLA,
        Scheduling::balanced(Direction::Pull),
        Scheduling::balanced(Direction::Push),
        Scheduling::balanced(Direction::Pull),
    ]);
    config.residues = choices.pick([Residues::Balloons, Residues::DualCan]);
    (config.owners.tasks, config.owners.held) = (3, 3);
    (config.runs.tasks, config.runs.held) = (3, 3);
    (config.queue, config.searches) = (3, 8);
    config
}

/// Drives a node, and says what came of it.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, PEERS);
    let subject = Working {
        config: config(&mut choices),
        runs: Runs::new(),
        granted: Vec::new(),
        quest: None,
        said: None,
    };
    let mut host = Host::start(subject, Time::from_secs(1));
    while !choices.is_empty() {
        host.step(&mut choices);
    }
    host.seen
}

impl Subject for Working {
    type Node = Node;

    // Some for each job and neighbour.
    const MOST_EFFECTS: usize = 400;
    const MOST_RINGS: usize = 64;

    fn build(&self, rng: &mut Xoshiro256PlusPlus) -> Node {
        let equipment = Equipment {
            dimensions: dimensions(),
            cores: dimension("cores"),
            capability: amounts(4, 8),
            speed: Speed::BASELINE,
        };
        Node::new(ME, self.config, Bootstrap::Alone, equipment, rng).expect("the rules are sound")
    }

    fn said(host: &mut Host<Self>, to: NodeId, message: Message<3>) {
        assert_ne!(to, ME, "it says {message:?} to itself by the network");
        let frame = wire::encode(&message).expect("what it says is not too long");
        assert_eq!(wire::decode(&frame).as_ref(), Ok(&message));
        host.heard(message);
    }

    fn told(host: &mut Host<Self>, notice: Notice) {
        host.count(name_of(&notice.news));
        note_what_runs(&mut host.subject.runs, notice.job, &notice.news);
    }

    fn look(host: &mut Host<Self>) {
        let Config { owners, runs, .. } = host.subject.config;
        // Five more: the life and the known peers, for each of two overlays, and that the node drains.
        let most_records = 5 + owners.tasks + owners.held + runs.tasks + runs.held;
        let records = host.records();
        assert!(records <= most_records as usize, "{records} records");
    }

    fn crashed(&mut self, now: Time) -> Vec<Command> {
        self.granted.clear();
        survivors(&mut self.runs, now)
    }
}

impl Host<Working> {
    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(20) {
            0..=7 => {
                let from = sender(choices);
                let message = self.message(choices);
                let crash = (choices.below(32) == 0).then(|| usize::from(choices.below(4)));
                self.feed_and_crash(Event::Message { from, message }, crash);
            }
            8 | 9 => {
                let submit = Command::submit(job(choices));
                self.feed(Event::Command(submit));
            }
            10 => {
                let cancel = (choices.below(4) == 0).then(|| Command::Cancel(choices.job()));
                if let Some(command) = cancel.or_else(|| choices.order()) {
                    self.feed(Event::Command(command));
                }
            }
            11 => {
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
            12 => {
                let to = choices.peer();
                self.feed(Event::Unreachable { to });
            }
            13 if choices.below(16) == 0 => self.restart(),
            14 => self.join(choices),
            15 => self.frame(choices),
            16 | 17 => self.answer(choices),
            _ => self.pass(Span::from_secs(u64::from(choices.byte() >> 2))),
        }
    }

    /// A peer asks for a part of the zone. Then every peer that was granted a part sends a heartbeat with its status.
    fn join(&mut self, choices: &mut Choices<'_>) {
        let from = sender(choices);
        let joiner = Name {
            id: from,
            life: Incarnation::new(u32::from(choices.byte())),
        };
        let point = point(choices);
        let join = can::Message::Join {
            joiner,
            point,
            hops: 9,
        };
        let message = Message::Overlay {
            message: join,
            status: None,
        };
        self.feed(Event::Message { from, message });
        self.subject.granted.truncate(usize::from(PEERS));
        for grant in self.subject.granted.clone() {
            let Grant { own, neighbours } = grant.get().clone();
            let from = own.name.id;
            let account = Shared::new(Account {
                own,
                edition: 0,
                neighbours,
                beyond: None,
            });
            let heartbeat = can::Message::Heartbeat {
                account,
                told: Told::default(),
            };
            let message = Message::Overlay {
                message: heartbeat,
                status: Some(status(choices)),
            };
            if from != ME {
                self.feed(Event::Message { from, message });
            }
        }
    }

    /// Arbitrary bytes from a peer; most do not decode.
    fn frame(&mut self, choices: &mut Choices<'_>) {
        let from = sender(choices);
        // Small numbers decode further than large ones, and short messages are more likely to be whole.
        let (length, most) = choices.pick([(3, 4), (8, 4), (16, 4), (u8::MAX, u8::MAX)]);
        let body = (0..length).map(|_| choices.below(most));
        let header = [VERSION, Protocol::DESKTOP.number()];
        let frame: Vec<u8> = header.into_iter().chain(body).collect();
        if let Ok(message) = wire::decode::<Message<3>>(&frame) {
            self.count("decoded");
            self.feed(Event::Message { from, message });
        }
    }

    /// A peer answers the last search, or the last message of custody, correctly or nearly so.
    fn answer(&mut self, choices: &mut Choices<'_>) {
        let from = sender(choices);
        let until = self.now + Span::from_secs(u64::from(choices.byte()));
        let message = match (
            choices.below(2),
            self.subject.quest,
            self.subject.said.clone(),
        ) {
            (0, Some((job, quest)), _) => Message::Found {
                job,
                quest,
                candidates: (0..choices.below(3)).map(|_| choices.peer()).collect(),
            },
            (_, _, Some(told)) => {
                let answer = match told {
                    custody::Message::Give { job, term, .. } => {
                        let answer = choices.pick([Answer::Taken, Answer::NotTaken(Refused::Full)]);
                        let job = job.get().id;
                        custody::Message::Answer { job, term, answer }
                    }
                    custody::Message::Report {
                        job, term, claim, ..
                    } => {
                        let granted = Ruling::Granted { until };
                        custody::Message::Verdict {
                            job,
                            term,
                            claim,
                            ruling: choices.pick([granted, granted, granted, Ruling::Withdraw]),
                        }
                    }
                    other => other,
                };
                match choices.below(2) {
                    0 => Message::Owners(answer),
                    _ => Message::Runs(answer),
                }
            }
            _ => return,
        };
        self.feed(Event::Message { from, message });
    }

    fn message(&self, choices: &mut Choices<'_>) -> Message<3> {
        let (id, point) = (choices.job(), point(choices));
        let hops = u16::from(choices.byte());
        let quest = quest(choices);
        let move_to = choices.pick([MoveTo::Start, MoveTo::Wait]);
        let version = choices.pick([0, 1, 2, u64::MAX]);
        match choices.below(16) {
            0 | 1 => Message::Owners(self.custody(choices)),
            2..=4 => Message::Runs(self.custody(choices)),
            5 => {
                let number = choices.pick([0, 1, 2, u32::MAX]);
                let errand = Errand::Route {
                    job: id,
                    quest,
                    point,
                    hops,
                };
                Message::Errand { number, errand }
            }
            6 => {
                let errand = Errand::Hunt {
                    job: Shared::new(job(choices)),
                    quest,
                    trail: trail(point, choices),
                };
                Message::Errand { number: 1, errand }
            }
            7 if choices.below(2) == 0 => {
                let errand = Errand::Gather(Gather {
                    asker: choices.peer(),
                    status: status(choices),
                    toward: point,
                    hops,
                });
                Message::Errand { number: 2, errand }
            }
            8 if choices.below(2) == 0 => {
                let members = (0..choices.below(3)).map(|_| choices.peer()).collect();
                let stand = match choices.below(3) {
                    0 => Stand::Outside,
                    1 => Stand::Inside(members),
                    _ => Stand::Gone,
                };
                let node = choices.peer();
                let errand = Errand::Enter { node, stand, hops };
                Message::Errand { number: 1, errand }
            }
            14 if choices.below(2) == 0 => {
                let errand = Errand::Forage {
                    job: Shared::new(job(choices)),
                    quest,
                    trail: trail(point, choices),
                    way: choices.pick([Way::Begins, Way::Hearsay, Way::Rendezvous, Way::Inside]),
                    steps: choices.byte(),
                };
                Message::Errand { number: 1, errand }
            }
            13 if choices.below(2) == 0 => match choices.below(3) {
                0 => Message::Members((0..choices.below(4)).map(|_| choices.peer()).collect()),
                1 => Message::ResidueChanged {
                    status: status(choices),
                },
                _ => Message::Residue {
                    message: can::Message::Join {
                        joiner: Name {
                            id: choices.peer(),
                            life: Incarnation::new(u32::from(choices.byte())),
                        },
                        point,
                        hops,
                    },
                    status: None,
                },
            },
            7 => Message::Acknowledged(choices.pick([0, 1, 2, 3, u32::MAX])),
            8 => {
                let id = FloodId {
                    origin: choices.peer(),
                    sequence: id.get(),
                    kind: choices.below(2),
                    round: choices.byte().into(),
                };
                let (ttl, hops) = (choices.byte(), choices.byte());
                let job = Shared::new(job(choices));
                let header = Header { id, ttl, hops };
                Message::Search { header, job, quest }
            }
            9 => {
                let passed = choices.pick([0, 1, u32::MAX]);
                let waiting = Waiting {
                    passed,
                    ..Waiting::from(&job(choices))
                };
                Message::Offer { waiting, move_to }
            }
            10 => Message::OfferAnswer {
                job: id,
                takes: choices.pick([true, false]),
                status: status(choices),
            },
            11 => Message::Pull {
                move_to,
                status: status(choices),
            },
            12 => Message::PullReject {
                status: status(choices),
            },
            13 => Message::Inflate {
                node: choices.peer(),
                version,
                status: status(choices),
                point,
                hops,
            },
            14 => Message::Deflate {
                node: choices.peer(),
                version,
                point,
                hops,
            },
            _ => Message::Overlay {
                message: can::Message::Beat {
                    life: Incarnation::new(u32::from(choices.byte())),
                    edition: u32::from(choices.below(3)),
                    told: Told::default(),
                },
                status: Some(status(choices)),
            },
        }
    }

    fn custody(&self, choices: &mut Choices<'_>) -> custody::Message {
        let id = choices.job();
        let term = Term {
            tenure: choices.pick([Tenure::ONLY, Tenure::ONLY, Tenure::under(Term::default())]),
            attempt: choices.pick([0, 1, 1, 2, u32::MAX]),
            moves: choices.pick([0, 0, 1, u32::MAX]),
        };
        let claim = Claim::new(choices.pick([0, 1, self.now.as_micros(), u64::MAX]));
        let until = self.now + Span::from_secs(u64::from(choices.byte()));
        match choices.below(6) {
            0..=2 => custody::Message::Give {
                job: Shared::new(job(choices)),
                home: choices.peer(),
                term,
                carried: choices.byte().into(),
                payload: Payload::EMPTY,
            },
            3 => custody::Message::Answer {
                job: id,
                term,
                answer: choices.pick([Answer::Taken, Answer::NotTaken(Refused::Full)]),
            },
            4 => custody::Message::Report {
                job: id,
                term,
                claim,
                standing: choices.pick([
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
                    Standing::Ended(Ending::Lost),
                    Standing::Ended(Ending::Withdrawn),
                ]),
            },
            _ => custody::Message::Verdict {
                job: id,
                term,
                claim,
                ruling: choices.pick([Ruling::Granted { until }, Ruling::Over, Ruling::Withdraw]),
            },
        }
    }

    fn heard(&mut self, message: Message<3>) {
        match message {
            Message::Overlay {
                message: can::Message::Grant(grant),
                ..
            } => {
                self.count("granted");
                self.subject.granted.push(grant);
            }
            Message::Owners(told) | Message::Runs(told) => {
                self.count("custody");
                self.subject.said = Some(told);
            }
            Message::Errand { errand, .. } => {
                self.count("errand");
                self.subject.quest = match errand {
                    Errand::Route { job, quest, .. } => Some((job, quest)),
                    Errand::Hunt { job, quest, .. } | Errand::Forage { job, quest, .. } => {
                        Some((job.get().id, quest))
                    }
                    Errand::Gather(_) | Errand::Enter { .. } => self.subject.quest,
                };
            }
            Message::Search { job, quest, .. } => {
                self.count("search");
                self.subject.quest = Some((job.get().id, quest));
            }
            Message::Found { .. } => self.count("found"),
            Message::Offer { .. } | Message::OfferAnswer { .. } => self.count("offer"),
            Message::Pull { .. } | Message::PullReject { .. } => self.count("pull"),
            Message::Inflate { .. } | Message::Deflate { .. } => self.count("balloon"),
            Message::Residue { .. } | Message::ResidueChanged { .. } | Message::Members(_) => {
                self.count("second");
            }
            Message::Overlay { .. } | Message::Acknowledged(_) => {}
        }
    }
}

/// Any peer: a host knows the sender of a message, and the node never sends one to itself.
fn sender(choices: &mut Choices<'_>) -> NodeId {
    NodeId::new(u64::from(choices.below(PEERS - 1)) + 1)
}

fn point(choices: &mut Choices<'_>) -> Point<3> {
    Point::new([0, 0, 0].map(|_: u32| u32::from(choices.byte()) << 24))
}

fn quest(choices: &mut Choices<'_>) -> Quest {
    Quest {
        asker: choices.peer(),
        attempt: choices.pick([0, 1, 2, u32::MAX]),
        wanted: choices.pick([Wanted::Owner, Wanted::RunNode, Wanted::Sooner]),
    }
}

fn trail(point: Point<3>, choices: &mut Choices<'_>) -> Trail<3> {
    let mut best = Merits::default();
    for _ in 0..choices.below(3) {
        best.see(Merit {
            turn: choices.pick([Turn::Free, Turn::Beside, Turn::Later]),
            cost: choices.pick([0, 1, u64::MAX]),
            lot: choices.byte().into(),
            node: choices.peer(),
        });
    }
    Trail {
        best,
        toward: choices.pick([None, Some(point)]),
        passed: choices.pick([0, 1, u32::MAX]),
        probes: choices.byte(),
        hops: choices.byte().into(),
    }
}

fn status(choices: &mut Choices<'_>) -> Shared<Status> {
    let total = choices.pick([amounts(4, 8), amounts(16, 64), amounts(u64::MAX, 1)]);
    Shared::new(Status {
        total,
        free: choices.pick([total, amounts(1, 1), amounts(0, 0)]),
        waiting: choices.pick([amounts(0, 0), amounts(9, 9), amounts(u64::MAX, u64::MAX)]),
        queue_len: choices.pick([0, 1, 9, u32::MAX]),
        running: choices.pick([0, 1, u32::MAX]),
        head_passed: choices.pick([0, 1, u32::MAX]),
        least: choices.pick([amounts(0, 0), amounts(1, 1), amounts(u64::MAX, u64::MAX)]),
        oldest: choices.pick([None, Some(Time::ZERO), Some(Time::MAX)]),
        speed: Speed::BASELINE,
    })
}

fn job(choices: &mut Choices<'_>) -> Job {
    let estimate = Span::from_secs(u64::from(choices.byte()) + 1);
    let one = Demand::Nodes(NonZeroU32::MIN);
    let mut job = Job::new(choices.job(), one, estimate).expect("it takes some time");
    let cores = choices.pick([1, 2, 4, 16, u64::MAX]);
    job.requirement = Requirement::any().with(dimension("cores"), cores);
    if choices.below(2) == 0 {
        let memory = choices.pick([1, 8, 64]);
        job.requirement = job.requirement.with(dimension("memory"), memory);
    }
    job.retry = retry_of(job.id);
    job
}
