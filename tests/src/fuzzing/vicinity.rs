//! One node of VICINITY among liars: bytes choose messages, timers, random peers and profiles.

use gridweave_core::id::NodeId;
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine};
use gridweave_core::overlay::vicinity::{
    Command, Config, Descriptor, Descriptors, ExchangeId, Feed, FirstFree, Message, Proximity,
    Timer, Vicinity,
};
use gridweave_core::overlay::vicinity::{Distance, Target, nearest};
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::time::{Interval, Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::choices::Choices;
use super::host::{ME, Seen};

const LINKS: usize = 4;
const GOSSIP: usize = 3;
const RANDOM: usize = 4;

const CONFIG: Config = Config {
    links: 3,
    gossip: 3,
    period: Span::from_micros(256),
    timeout: Span::from_micros(20),
    max_age: 6,
    feed: Feed::Always,
};

struct Host<D: Distance<Profile>> {
    node: Vicinity<Profile, D, LINKS, GOSSIP, RANDOM>,
    now: Time,
    alarm: Option<(Time, Timer)>,
    /// The receiver and the exchange of the last request.
    sent: Option<(NodeId, ExchangeId)>,
    seen: Seen,
}

/// Runs one node on choices from bytes. Panics if an invariant breaks, or if it says what it may not.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, 7);
    if choices.below(2) == 0 {
        drive_with(Proximity, choices)
    } else {
        drive_with(FirstFree, choices)
    }
}

fn drive_with<D: Distance<Profile>>(distance: D, mut choices: Choices<'_>) -> Seen {
    let config = Config {
        feed: choices.pick([Feed::Always, Feed::WhenEmpty]),
        ..CONFIG
    };
    let profile = Profile::default();
    let mut host = Host {
        node: Vicinity::new(ME, config, distance, profile, 1).expect("the rules are sound"),
        now: Time::ZERO,
        alarm: None,
        sent: None,
        seen: Seen::new(),
    };
    host.feed(Event::Start);
    while !choices.is_empty() {
        match choices.below(12) {
            0..=2 => host.pass(Span::from_micros(u64::from(choices.byte()))),
            3 | 4 => {
                let from = choices.peer();
                let exchange = ExchangeId(u32::from(choices.below(4)));
                let mut descriptors = some(&mut choices);
                // Half of the senders include their own descriptor.
                if choices.below(2) == 0 {
                    let id = from;
                    descriptors.truncate(GOSSIP - 1);
                    let own = Descriptor {
                        id,
                        ..one(&mut choices)
                    };
                    descriptors.insert(0, own).expect("there is room");
                }
                let message = Message::Request {
                    exchange,
                    descriptors,
                };
                host.feed(Event::Message { from, message });
            }
            5..=7 => {
                let forged = (choices.peer(), ExchangeId(u32::from(choices.below(4))));
                let truly = choices.below(4) > 0;
                let (from, exchange) = host.sent.filter(|_| truly).unwrap_or(forged);
                let descriptors = some(&mut choices);
                let message = Message::Reply {
                    exchange,
                    descriptors,
                };
                host.feed(Event::Message { from, message });
            }
            8 | 9 => host.feed(Event::Command(Command::Random(some(&mut choices)))),
            10 => {
                let version = u64::from(choices.below(64));
                let profile = one(&mut choices).profile;
                host.feed(Event::Command(Command::Profile { profile, version }));
            }
            _ => {
                let to = choices.peer();
                host.feed(Event::Unreachable { to });
            }
        }
    }
    host.feed(Event::Command(Command::Leave));
    assert!(host.node.view().is_empty() && host.node.random().is_empty());
    host.seen
}

fn one(choices: &mut Choices<'_>) -> Descriptor<Profile> {
    let mut place = || choices.pick([0, 1, 5, 1_000, -1_000, i32::MAX, i32::MIN]);
    let coordinate = Coordinate::at([place(), place(), 0]);
    let start = Time::from_micros(u64::from(choices.below(20)));
    let length = Span::from_micros(u64::from(choices.below(9)) + 1);
    Descriptor {
        id: choices.peer(),
        age: choices.pick([0, 1, 2, 5, 6, 7, u16::MAX - 1, u16::MAX]),
        version: choices.pick([0, 1, 2, 3, 4, u64::MAX]),
        profile: Profile {
            free: Interval::starting(start, length).expect("it has a length"),
            ..Profile::at(coordinate)
        },
    }
}

fn some<const N: usize>(choices: &mut Choices<'_>) -> Descriptors<Profile, N> {
    let count = usize::from(choices.below(6)).min(N);
    (0..count).map(|_| one(choices)).collect()
}

impl<D: Distance<Profile>> Host<D> {
    fn count(&mut self, what: &'static str, is_so: bool) {
        *self.seen.entry(what).or_default() += usize::from(is_so);
    }

    fn pass(&mut self, span: Span) {
        self.now += span;
        if let Some((_, timer)) = self.alarm.take_if(|(at, _)| *at <= self.now) {
            self.feed(Event::Timer(timer));
        }
    }

    fn feed(&mut self, event: Event<Vicinity<Profile, D, LINKS, GOSSIP, RANDOM>>) {
        let before = self.node.clone();
        let cycle = matches!(&event, Event::Timer(_));
        let reply = matches!(
            &event,
            Event::Message {
                message: Message::Reply { .. },
                ..
            }
        );
        let mut effects = EffectQueue::new();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.now.as_micros());
        effects.feed(&mut self.node, event, self.now, &mut rng);
        let check = self.node.check();
        check.unwrap_or_else(|violation| panic!("{violation}, at {:?}", self.now));
        let effects: Vec<_> = effects.drain().collect();
        assert!(effects.len() <= 2, "{effects:?}");
        for effect in effects {
            match effect {
                Effect::Wake { at, timer } => self.alarm = Some((at, timer)),
                Effect::Send { to, message } => self.look_at(&before, to, message),
                Effect::Cancel(_) => self.alarm = None,
                other => panic!("it has nothing to tell or to keep: {other:?}"),
            }
        }
        let waited = before.waits_for().is_some();
        let heard = reply && waited && self.node.waits_for().is_none();
        self.count("heard", heard);
        self.count("unasked", reply && !heard);
        self.count("profiles", self.node.version() > before.version());
        assert!(self.node.version() >= before.version());
        for peer in self.node.view() {
            match before.view().iter().find(|known| known.id == peer.id) {
                // In a cycle a peer may be dropped for its age, and the random layer may bring an older profile of it.
                Some(known) => assert!(
                    cycle || peer.version >= known.version,
                    "a profile goes back"
                ),
                None => *self.seen.entry("entered").or_default() += 1,
            }
        }
        // The view holds what the selection function would select.
        let whom = Target {
            id: ME,
            profile: self.node.profile(),
        };
        let view = self.node.view();
        let again = nearest::<_, _, LINKS>(self.node.distance(), whom, &[view], LINKS);
        assert_eq!(again.as_slice(), view);
    }

    /// A message goes to a peer, and begins with the node's own descriptor. The others are distinct and known.
    fn look_at(
        &mut self,
        before: &Vicinity<Profile, D, LINKS, GOSSIP, RANDOM>,
        to: NodeId,
        message: Message<Profile, GOSSIP>,
    ) {
        assert_ne!(to, ME);
        let descriptors = match message {
            Message::Request {
                exchange,
                descriptors,
            } => {
                self.count("asked", true);
                assert!(before.waits_for().is_none() || self.sent != Some((to, exchange)));
                self.sent = Some((to, exchange));
                assert_eq!(self.node.waits_for(), Some(to));
                assert!(self.node.view().iter().all(|peer| peer.id != to));
                descriptors
            }
            Message::Reply { descriptors, .. } => {
                self.count("answered", true);
                descriptors
            }
        };
        let (own, others) = descriptors.split_first().expect("it says who it is");
        assert_eq!(*own, self.node.own());
        for (index, other) in others.iter().enumerate() {
            assert!(other.id != to && other.id != ME);
            assert!(others[..index].iter().all(|first| first.id != other.id));
            let known = before.view().iter().chain(before.random());
            assert!(known.into_iter().any(|known| known.id == other.id));
        }
    }
}
