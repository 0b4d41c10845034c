mod frozen;
mod hostile;
mod joining;
mod restarting;
mod samples;
mod shuffling;

use super::*;
use crate::machine::{Driver, Effect};
use crate::overlay::view::Links;
use std::vec::Vec;

type Small = Cyclon<4, 3>;

type Effects = Vec<Effect<Small>>;

const ME: NodeId = NodeId::new(50);

const BORN: Incarnation = Incarnation::new(0);

const CONFIG: Config = Config {
    view: 4,
    shuffle: 3,
    period: Span::from_secs(256),
    timeout: Span::from_secs(2),
    walk: 3,
    patience: 2,
    remember: 1000,
    replacement: Replacement::Recommended,
    changes: Changes::Told,
    samples: 0,
};

const SAMPLING: Config = Config {
    samples: 1,
    ..CONFIG
};

/// When a node that starts at 100 s has its first cycle: a 256th of a period later.
const FIRST: Time = Time::from_secs(101);

type Bench = Driver<Small>;

impl Bench {
    fn unborn(config: Config) -> Self {
        let build = move || Cyclon::new(ME, config).unwrap();
        Self::new(Time::from_secs(100), build)
    }

    /// A started node with links of these ages.
    fn with_config(config: Config, links: &[(u64, u16)]) -> Self {
        let mut bench = Self::unborn(config);
        bench.feed(Event::Start);
        for &(id, age) in links {
            bench.machine_mut().view.insert(link(id, age)).unwrap();
        }
        bench
    }

    fn with(links: &[(u64, u16)]) -> Self {
        Self::with_config(CONFIG, links)
    }

    /// A node after its first cycle, in which it asked its oldest link, 9, and sent 1 and 2.
    fn waiting() -> Self {
        let mut bench = Self::with(&[(1, 0), (2, 0), (3, 0), (9, 5)]);
        bench.cycle(0);
        assert_eq!(bench.machine().waits_for(), Some(id(9)));
        bench
    }

    /// The time of this cycle comes.
    fn cycle(&mut self, cycle: u32) -> Effects {
        self.now = FIRST + CONFIG.period.times(u64::from(cycle));
        self.feed(Event::Timer(Timer { cycle }))
    }

    fn links(&self) -> Vec<(u64, u16)> {
        let links = self.machine().view().links();
        links.map(|link| (link.id.get(), link.age)).collect()
    }

    fn ignores_message(&mut self, from: u64, message: Message<3>) {
        let from = id(from);
        self.ignores(Event::Message { from, message });
    }
}

fn id(number: u64) -> NodeId {
    NodeId::new(number)
}

fn link(id: u64, age: u16) -> Link {
    Link {
        id: NodeId::new(id),
        incarnation: BORN,
        age,
    }
}

fn links(list: &[(u64, u16)]) -> Links<3> {
    list.iter().map(|&(id, age)| link(id, age)).collect()
}

fn exchange(cycle: u32) -> ExchangeId {
    ExchangeId {
        incarnation: BORN,
        cycle,
    }
}

fn shuffle(list: &[(u64, u16)]) -> Message<3> {
    Message::Shuffle {
        exchange: exchange(77),
        links: links(list),
    }
}

fn shuffled(cycle: u32, list: &[(u64, u16)]) -> Message<3> {
    Message::Shuffled {
        exchange: exchange(cycle),
        links: links(list),
    }
}

fn walk(joiner: u64, ttl: u8, spare: u8) -> Message<3> {
    Message::JoinWalk {
        joiner: id(joiner),
        incarnation: BORN,
        ttl,
        spare,
    }
}

fn gift(link: Link) -> Message<3> {
    Message::JoinGive {
        joiner: BORN,
        link,
        giver: BORN,
    }
}

fn send(to: u64, message: Message<3>) -> Effect<Small> {
    let to = id(to);
    Effect::Send { to, message }
}

fn wake(cycle: u32) -> Effect<Small> {
    let at = FIRST + CONFIG.period.times(u64::from(cycle));
    let timer = Timer { cycle };
    Effect::Wake { at, timer }
}

fn entered(peer: u64) -> Effect<Small> {
    let peer = id(peer);
    Effect::Notify(Notice::Entered { peer })
}

fn left(peer: u64) -> Effect<Small> {
    let peer = id(peer);
    Effect::Notify(Notice::Left { peer })
}

fn knows(peers: &[u64]) -> Effect<Small> {
    let known = peers.iter().map(|&peer| id(peer)).collect();
    Effect::Persist(Key::Known, Record::Known(known))
}

fn join(introducer: u64) -> Event<Small> {
    let introducer = id(introducer);
    Event::Command(Command::Join { introducer })
}
