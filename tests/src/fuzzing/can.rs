//! One node of the CAN among liars: bytes choose messages of every kind, timers, commands and restarts.

use gridweave_core::id::{Incarnation, NodeId};
use gridweave_core::machine::{self, Effect, Event, Machine};
use gridweave_core::overlay::can::{
    Account, Beyond, Can, Command, Config, Entries, Entry, Grant, Key, Load, MOST_NEIGHBOURS,
    Message, Name, Notice, Point, Record, Refusal, Side, Split, Stretch, Told, Zone,
};
use gridweave_core::shared::Shared;
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::choices::Choices;
use super::host::{ME, Seen};

const PEERS: u8 = 7;

struct Host {
    host: machine::Host<Can<2>>,
    now: Time,
    rng: Xoshiro256PlusPlus,
    has_left: bool,
    /// The parts of its zone that the node granted. Their new owners do not lie.
    granted: Vec<Shared<Grant<2>>>,
    seen: Seen,
}

/// Runs one node on choices from bytes. Panics if an invariant breaks, or if it says what it may not.
pub fn drive(bytes: &[u8]) -> Seen {
    let mut choices = Choices::new(bytes, PEERS);
    let mut host = Host {
        host: machine::Host::unstarted(node(&mut choices)),
        now: Time::ZERO,
        rng: Xoshiro256PlusPlus::seed_from_u64(1),
        has_left: false,
        granted: Vec::new(),
        seen: Seen::new(),
    };
    host.feed(Event::Start);
    host.feed(Event::Command(Command::Found));
    while !choices.is_empty() {
        // A node that has left for good does nothing more, so it is started again.
        if host.has_left {
            host.restart(&mut choices);
        }
        match choices.below(16) {
            0..=2 => host.pass(Span::from_secs(u64::from(choices.below(32)))),
            3 => host.feed(Event::Command(match choices.below(8) {
                0 => Command::Leave,
                1 | 2 => Command::Found,
                3..=5 => Command::Join {
                    introducer: choices.peer(),
                },
                _ => Command::Load(load(&mut choices)),
            })),
            4 => {
                let to = choices.peer();
                host.feed(Event::Unreachable { to });
            }
            5 if choices.below(4) == 0 => host.restart(&mut choices),
            6 => host.grant(&mut choices),
            7 => host.hear_from_granted(),
            8 => host.miss_one_of_granted(&mut choices),
            _ => {
                let from = choices.peer();
                let message = message(from, &host, &mut choices);
                host.feed(Event::Message { from, message });
            }
        }
    }
    host.seen
}

fn node(choices: &mut Choices<'_>) -> Can<2> {
    let config = Config {
        listed: choices.pick([0, Config::DEFAULT.listed]),
        ..Config::DEFAULT
    };
    Can::new(ME, point(choices), config).expect("the rules are sound")
}

impl Host {
    fn count(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    fn pass(&mut self, how_long: Span) {
        self.now += how_long;
        while self.host.fire(self.now, &mut self.rng).is_some() {
            self.execute();
        }
    }

    /// A peer asks for a part of the zone. Then every peer that was granted a part sends a heartbeat.
    fn grant(&mut self, choices: &mut Choices<'_>) {
        let from = choices.peer();
        let life = Incarnation::new(u32::from(choices.byte()));
        let message = Message::Join {
            joiner: Name { id: from, life },
            point: point(choices),
            hops: 0,
        };
        self.feed(Event::Message { from, message });
        self.hear_from_granted();
    }

    /// Every peer that was granted a part of the zone sends a heartbeat.
    fn hear_from_granted(&mut self) {
        for grant in self.granted.clone() {
            let Grant { own, neighbours } = grant.get().clone();
            let from = own.name.id;
            let account = Shared::new(Account {
                own,
                edition: 0,
                neighbours,
                beyond: None,
            });
            let told = Told::default();
            let message = Message::Heartbeat { account, told };
            self.feed(Event::Message { from, message });
        }
    }

    /// The peer that was last granted a part of the zone is unreachable, and some time passes.
    fn miss_one_of_granted(&mut self, choices: &mut Choices<'_>) {
        let Some(grant) = self.granted.pop() else {
            return;
        };
        let to = grant.get().own.name.id;
        self.feed(Event::Unreachable { to });
        self.pass(Span::from_secs(u64::from(choices.below(32))));
    }

    /// The life on disk: the current one, or the one that the node wants to begin.
    fn life(&self) -> Option<Incarnation> {
        match self.host.records().get(&Key::Life) {
            Some(Record::Life(life)) => Some(*life),
            _ => None,
        }
    }

    /// Restarts the node from its disk.
    fn restart(&mut self, choices: &mut Choices<'_>) {
        self.count("restart");
        self.has_left = false;
        self.granted.clear();
        self.host.start(node(choices), self.now, &mut self.rng);
        self.execute();
        self.feed(Event::Command(Command::Found));
    }

    fn feed(&mut self, event: Event<Can<2>>) {
        self.host.handle(event, self.now, &mut self.rng);
        self.execute();
    }

    fn node(&self) -> &Can<2> {
        self.host.machine().expect("it comes back at once")
    }

    fn execute(&mut self) {
        let node = self.node();
        node.check().expect("every invariant holds");
        assert!(node.neighbours().count() <= MOST_NEIGHBOURS);
        if let Some(zone) = node.zone() {
            assert!(zone.contains(node.point()));
        }
        while let Some(effect) = self.host.execute() {
            match effect {
                Effect::Send { to, message } => {
                    assert_ne!(to, ME, "it talks to itself: {message:?}");
                    if let Message::Grant(grant) = &message {
                        self.granted.push(grant.clone());
                    }
                    self.count(match message {
                        Message::Grant(_) => "granted",
                        Message::Refused { .. } => "refused",
                        Message::Beat { .. } => "beat",
                        Message::Here { .. } => "told its zone",
                        Message::Pulse { .. } => "told its epoch",
                        Message::Claim { .. } => "claimed",
                        Message::Obituary(_) => "mourned",
                        Message::Agreed { .. } => "agreed",
                        Message::Seek { .. } => "sought",
                        _ => "said",
                    });
                }
                Effect::Notify(notice) => {
                    self.has_left |= notice == Notice::Left;
                    if notice == Notice::Evicted {
                        self.granted.clear();
                    }
                    self.count(match notice {
                        Notice::Joined => "joined",
                        Notice::Zone => "changed",
                        Notice::Moved(_) => "moved",
                        Notice::Evicted => "evicted",
                        Notice::Left => "left",
                        _ => "waited",
                    });
                }
                _ => {}
            }
        }
    }
}

fn message(from: NodeId, host: &Host, choices: &mut Choices<'_>) -> Message<2> {
    let hops = u16::from(choices.below(4));
    // Half of the messages are about the life on the node's disk.
    let own_life = host.life();
    let life = own_life
        .filter(|_| choices.below(2) == 0)
        .unwrap_or_else(|| Incarnation::new(u32::from(choices.below(4))));
    let own_epoch = host.node().entry().map_or(0, |entry| entry.epoch);
    let epoch = choices.pick([0, 1, own_epoch, own_epoch, u32::MAX]);
    match choices.below(24) {
        0 | 1 => Message::Join {
            joiner: Name { id: from, life },
            point: point(choices),
            hops,
        },
        2 => {
            // A grant for this node, in a life that it may be waiting for.
            let mut own = entry(choices);
            own.name = Name { id: ME, life };
            Message::Grant(Shared::new(Grant {
                own,
                neighbours: entries(choices),
            }))
        }
        3 => Message::Refused {
            life,
            why: choices.pick([
                Refusal::Busy,
                Refusal::SamePoint,
                Refusal::Full,
                Refusal::Outside,
            ]),
        },
        4..=7 => Message::Heartbeat {
            account: account(Some(from), choices),
            told: told(choices),
        },
        8 => Message::Beat {
            life,
            edition: u32::from(choices.below(4)),
            told: told(choices),
        },
        9 => Message::Ping,
        10 => Message::Introduction(entries(choices)),
        11 => Message::Seek {
            seeker: entry(choices),
            point: point(choices),
            hops,
        },
        12 => Message::Inquiry(entry(choices).name),
        13 => Message::Claim {
            missed: entries(choices),
            zone: zone(choices),
        },
        14 => Message::Alive {
            entry: entry(choices),
            ago: Span::from_secs(u64::from(choices.byte())),
        },
        15 => {
            let mut own = entry(choices);
            own.name.id = from;
            Message::MayLeave { own, epoch }
        }
        16 => Message::Agreed { life, epoch },
        17 => choices
            .pick([true, false])
            .then_some(life)
            .map_or(Message::Disagreed { life, epoch }, Message::Stays),
        18 => Message::Obituary(account(Some(from).filter(|_| hops > 1), choices)),
        19 | 20 => {
            let mut own = entry(choices);
            own.name.id = from;
            Message::Here {
                own: Shared::new(own),
                yours: choices.pick([None, Some(epoch)]),
                neighbours: choices.pick([0, 1, u16::MAX]),
                told: told(choices),
            }
        }
        21 => Message::Pulse {
            life,
            epoch: u32::from(choices.below(4)),
            yours: epoch,
            neighbours: choices.pick([0, 1, u16::MAX]),
            told: told(choices),
        },
        22 => Message::Farewell(entry(choices).name.id),
        _ => Message::Evicted(life),
    }
}

fn point(choices: &mut Choices<'_>) -> Point<2> {
    Point::new([0, 0].map(|_: u32| u32::from(choices.byte()) << 24))
}

fn zone(choices: &mut Choices<'_>) -> Zone<2> {
    let mut stretch = || {
        let from = u32::from(choices.below(7));
        let to = from + 1 + u32::from(choices.below(3));
        Stretch::new(from << 28, to << 28).expect("it has a length")
    };
    Zone::new([stretch(), stretch()])
}

fn entry(choices: &mut Choices<'_>) -> Entry<2> {
    let splits = (0..choices.below(3)).map(|_| Split {
        dimension: choices.below(4),
        side: choices.pick([Side::Lower, Side::Upper]),
        plane: choices.pick([0, 1 << 28, 1 << 29, 1 << 31, u32::MAX]),
    });
    let history = splits.collect();
    Entry {
        name: Name {
            id: choices.peer(),
            life: Incarnation::new(u32::from(choices.below(3))),
        },
        epoch: choices.pick([0, 1, 2, u32::MAX]),
        rank: choices.pick([0, 0, 0, 1, u32::MAX]),
        zone: zone(choices),
        history,
    }
}

fn entries(choices: &mut Choices<'_>) -> Entries<2> {
    (0..choices.below(6)).map(|_| entry(choices)).collect()
}

fn account(of: Option<NodeId>, choices: &mut Choices<'_>) -> Shared<Account<2>> {
    let mut own = entry(choices);
    own.name.id = of.unwrap_or(own.name.id);
    let beyond = (choices.below(3) == 0).then(|| Beyond {
        second: entries(choices),
        third: entries(choices),
    });
    Shared::new(Account {
        own,
        edition: choices.pick([0, 1, 2, u32::MAX]),
        neighbours: entries(choices),
        beyond,
    })
}

fn load(choices: &mut Choices<'_>) -> Load {
    Load {
        nodes: choices.pick([0, Load::ONE, u64::MAX]),
        cores: choices.pick([0, 7, u64::MAX]),
        ..Load::default()
    }
}

fn told(choices: &mut Choices<'_>) -> Told {
    Told {
        own: load(choices),
        beyond: load(choices),
        share: load(choices),
    }
}
