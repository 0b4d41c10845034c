//! One `criteria` node among liars: bytes choose messages, timers, commands and crashes.

use core::num::NonZeroU32;

use gridweave_core::commit::{self, Everyone};
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Criterion, Job};
use gridweave_core::overlay::{cyclon, vicinity, vivaldi};
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::criteria::{
    Config, Coordinates, Criteria, Descriptor, Descriptors, Exploration, Helper, LookId, Message,
    OneMore, Shared, Through, Timer,
};
use gridweave_core::select::{Objective, Set};
use gridweave_core::time::{Interval, Span, Time};

use super::choices::Choices;
use super::coallocation::{self, COMMIT, PEERS, SLOT, Scheduler};
use super::host::{ME, Seen};

type Said = Message<3, 3>;

/// Prices; nodes without one may not be chosen, and one price is no number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Cheapest;

impl Objective for Cheapest {
    fn cost(&self, set: &Set<'_>) -> f64 {
        let price = |profile: &Profile| match profile.note {
            0 => f64::INFINITY,
            u32::MAX => f64::NAN,
            price => f64::from(price),
        };
        set.profiles().map(price).sum()
    }
}

const CONFIG: Config = Config {
    overlay: cyclon::Config {
        view: 4,
        shuffle: 3,
        period: Span::from_micros(400),
        timeout: Span::from_micros(40),
        ..Config::DEFAULT.overlay
    },
    helper: vicinity::Config {
        links: 4,
        gossip: 3,
        period: Span::from_micros(400),
        timeout: Span::from_micros(40),
        max_age: 6,
        feed: vicinity::Feed::Always,
    },
    helpers: [
        Some(Helper::Proximity),
        Some(Helper::FirstFree),
        None,
        Some(Helper::Remoteness),
    ],
    breadth: 2,
    iterations: 3,
    improve: Some(Span::from_micros(60)),
    patience: Span::from_micros(300),
    width: 2,
    slot: SLOT,
    lead: Span::from_micros(32),
    margin: Span::from_micros(4),
    horizon: Span::from_micros(1000),
    rounds: 3,
    timeout: Span::from_micros(8),
    commit: COMMIT,
    windows: 2,
    candidates: 8,
    ..Config::DEFAULT
};

struct Subject {
    config: Config,
}

/// Drives a node, and says what came of it.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, PEERS);
    let config = Config {
        exploration: choices.pick([Exploration::Basic, Exploration::Proactive]),
        parallel: choices.pick([1, 2]),
        pause: choices.pick([Span::ZERO, Span::from_micros(3), Span::from_micros(50)]),
        coordinates: choices.pick([
            Coordinates::Given,
            Coordinates::Learned(vivaldi::Config::DEFAULT),
        ]),
        ..CONFIG
    };
    coallocation::drive(Subject { config }, choices)
}

impl Scheduler for Subject {
    type Node = Criteria<4, 3, 3, OneMore<Cheapest>>;

    const TIMERS: [Timer; 3] = [
        Timer::Due,
        Timer::Desk(commit::Timer::Coordinator),
        Timer::Desk(commit::Timer::Participant),
    ];

    fn build(&self) -> Self::Node {
        let peers = Bootstrap::Meet((1..4).map(NodeId::new).collect());
        let catalogue = OneMore {
            objective: Cheapest,
            helper: Some(Helper::Proximity),
        };
        let profile = Profile {
            note: 3,
            ..Profile::default()
        };
        Criteria::new(ME, self.config, peers, profile, catalogue, Everyone)
            .expect("the rules are sound")
    }

    fn commitments(node: &Self::Node) -> &commit::Node<Everyone> {
        node.commitments()
    }

    fn jobs(node: &Self::Node) -> Vec<JobId> {
        node.jobs().collect()
    }

    fn kind_of(message: &Said) -> Option<&'static str> {
        match message {
            Message::Look { .. } => Some("looked"),
            Message::Seen { .. } => Some("told"),
            _ => None,
        }
    }

    fn answer(
        &self,
        now: Time,
        peer: NodeId,
        message: Said,
        choices: &mut Choices<'_>,
    ) -> Option<Said> {
        Some(match message {
            Message::Commit(message) => {
                Message::Commit(coallocation::vote(now, &message, choices)?)
            }
            Message::Look { look, .. } => seen(now, look, peer, choices),
            Message::Overlay {
                message: cyclon::Message::Shuffle { exchange, .. },
                ..
            } => Message::Overlay {
                message: cyclon::Message::Shuffled {
                    exchange,
                    links: coallocation::links(choices),
                },
                about: descriptors(now, choices),
            },
            Message::Helper { number, message } => match message.take() {
                vicinity::Message::Request { exchange, .. } => {
                    let descriptors = near(now, peer, choices);
                    let reply = vicinity::Message::Reply {
                        exchange,
                        descriptors,
                    };
                    let message = Shared::new(reply);
                    Message::Helper { number, message }
                }
                vicinity::Message::Reply { .. } => return None,
            },
            _ => return None,
        })
    }

    fn forge(now: Time, choices: &mut Choices<'_>) -> Said {
        let look = look_id(choices);
        match choices.below(12) {
            0 | 1 => {
                let number = choices.below(5);
                let kinds = [Through::Random, Through::Helper(number), Through::NoLink];
                let through = choices.pick(kinds);
                Message::Look { look, through }
            }
            2 | 3 => {
                let node = choices.peer();
                seen(now, look, node, choices)
            }
            4 | 5 => {
                let exchange = vicinity::ExchangeId(u32::from(choices.below(8)));
                let teller = choices.peer();
                let descriptors = near(now, teller, choices);
                let message = match choices.below(2) {
                    0 => vicinity::Message::Request {
                        exchange,
                        descriptors,
                    },
                    _ => vicinity::Message::Reply {
                        exchange,
                        descriptors,
                    },
                };
                Message::Helper {
                    number: choices.below(6),
                    message: Shared::new(message),
                }
            }
            6 | 7 => Message::Commit(coallocation::forged_request(now, choices)),
            8 => Message::Commit(coallocation::forged_vote(now, choices)),
            _ => Message::Overlay {
                message: coallocation::forged_exchange(choices),
                about: descriptors(now, choices),
            },
        }
    }

    fn wish(mut job: Job, choices: &mut Choices<'_>) -> Job {
        job.criterion = choices.pick([
            Criterion::Soonest,
            Criterion::Closest,
            Criterion::Farthest,
            Criterion::Custom(0),
        ]);
        job
    }
}

/// The answer of a node, most often about itself.
fn seen(now: Time, look: LookId, node: NodeId, choices: &mut Choices<'_>) -> Said {
    let id = match choices.below(8) {
        0 => choices.peer(),
        _ => node,
    };
    Message::Seen {
        look,
        own: descriptor(now, id, choices),
        schedule: coallocation::schedule(now, choices),
        links: descriptors(now, choices),
    }
}

fn profile(choices: &mut Choices<'_>) -> Profile {
    let x = match choices.below(8) {
        0 => i32::MIN,
        1 => i32::MAX,
        near => i32::from(near) * 100,
    };
    let note = match choices.below(32) {
        0 => 0,
        1 => u32::MAX,
        price => u32::from(price),
    };
    Profile {
        coordinate: Coordinate {
            point: [x, 0, x],
            height: choices.pick([0, 10, u32::MAX]),
        },
        error: choices.pick([0, 100, u16::MAX]),
        free: choices.pick([Interval::ALWAYS, Interval::LAST]),
        note,
        radius: NonZeroU32::new(choices.pick([0, 1, 5000, u32::MAX])),
        ..Profile::default()
    }
}

fn descriptor(now: Time, id: NodeId, choices: &mut Choices<'_>) -> Descriptor {
    Descriptor {
        id,
        age: choices.pick([0, 3, u16::MAX]),
        version: coallocation::number(now, choices),
        profile: profile(choices),
    }
}

fn descriptors(now: Time, choices: &mut Choices<'_>) -> Descriptors {
    (0..choices.below(7))
        .map(|_| {
            let id = NodeId::new(u64::from(choices.below(12)));
            descriptor(now, id, choices)
        })
        .collect()
}

/// The descriptors that a node sends in a helper overlay: its own first.
fn near(now: Time, teller: NodeId, choices: &mut Choices<'_>) -> vicinity::Descriptors<Profile, 3> {
    let others = choices.below(3);
    (0..=others)
        .map(|place| {
            let id = if place == 0 { teller } else { choices.peer() };
            descriptor(now, id, choices)
        })
        .collect()
}

fn look_id(choices: &mut Choices<'_>) -> LookId {
    // Only the asking node can make this id. On the wire it is a small number.
    postcard::from_bytes(&[choices.below(16)]).expect("a small number is a name")
}
