//! Liars work together to fill every view. Random samples, which no peer can choose, limit their success.
//!
//! A liar answers every exchange with links to its accomplices only, all of age 0. In each cycle it also begins some
//! such exchanges with honest nodes drawn at random. Honest nodes run CYCLON. There is no delay and no loss.

use gridweave_core::id::{Incarnation, NodeId};
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine};
use gridweave_core::overlay::cyclon::{
    Changes, Command, Config, Cyclon, ExchangeId, Message, Timer,
};
use gridweave_core::overlay::view::{Link, Links};
use gridweave_core::rng::Choose;
use gridweave_core::time::Time;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

type Node = Cyclon<20, 8>;

const NODES: u32 = 500;
const CYCLES: u32 = if cfg!(debug_assertions) { 60 } else { 100 };

struct Attack {
    /// How many nodes lie: the first ones.
    liars: u32,
    /// How many exchanges each liar begins in a cycle.
    pushes: u32,
    honest: Vec<Node>,
    timers: Vec<Timer>,
    now: Time,
    effects: EffectQueue<Node>,
    rng: Xoshiro256PlusPlus,
}

/// The share of links of honest nodes that lead to liars, at the end.
#[derive(Clone, Copy, Debug)]
struct Shares {
    views: f64,
    samples: f64,
    /// Honest nodes whose views hold only liars.
    eclipsed: usize,
}

fn id(node: u32) -> NodeId {
    NodeId::new(u64::from(node))
}

impl Attack {
    fn new(liars: u32, pushes: u32, samples: u8) -> Self {
        let config = Config {
            samples,
            changes: Changes::Untold,
            ..Config::DEFAULT
        };
        let honest = (liars..NODES).map(|node| Node::new(id(node), config).unwrap());
        let mut attack = Self {
            liars,
            pushes,
            honest: honest.collect(),
            timers: Vec::new(),
            now: Time::ZERO,
            effects: EffectQueue::new(),
            rng: Xoshiro256PlusPlus::seed_from_u64(7),
        };
        for node in liars..NODES {
            attack.feed(node, Event::Start);
            for _ in 0..20 {
                let peer = id(attack.rng.below(NODES));
                attack.feed(node, Event::Command(Command::Meet(peer)));
            }
        }
        attack
    }

    /// Feeds an event to an honest node, and delivers its messages.
    fn feed(&mut self, node: u32, event: Event<Node>) {
        let place = (node - self.liars) as usize;
        let machine = &mut self.honest[place];
        self.effects.feed(machine, event, self.now, &mut self.rng);
        machine.check().unwrap();
        for effect in self.effects.drain().collect::<Vec<_>>() {
            match effect {
                Effect::Send { to, message } => self.carry(node, to.get() as u32, message),
                Effect::Wake { timer, .. } if place == self.timers.len() => self.timers.push(timer),
                Effect::Wake { timer, .. } => self.timers[place] = timer,
                _ => {}
            }
        }
    }

    fn carry(&mut self, from: u32, to: u32, message: Message<8>) {
        if to >= self.liars {
            let from = id(from);
            self.feed(to, Event::Message { from, message });
        } else if let Message::Shuffle { exchange, .. } = message {
            let links = self.accomplices();
            let lie = Message::Shuffled { exchange, links };
            self.carry(to, from, lie);
        }
    }

    fn accomplices(&mut self) -> Links<8> {
        let mut all: Vec<u32> = (0..self.liars).collect();
        let (some, _) = self.rng.sample(&mut all, 8);
        let link = |node: &u32| Link {
            id: id(*node),
            incarnation: Incarnation::default(),
            age: 0,
        };
        some.iter().map(link).collect()
    }

    fn run_cycles(&mut self) {
        for cycle in 0..CYCLES {
            self.now += Config::DEFAULT.period;
            let mut order: Vec<u32> = (0..NODES).collect();
            self.rng.shuffle(&mut order);
            for node in order {
                if node >= self.liars {
                    let timer = self.timers[(node - self.liars) as usize];
                    self.feed(node, Event::Timer(timer));
                    continue;
                }
                for _ in 0..self.pushes {
                    let victim = self.liars + self.rng.below(NODES - self.liars);
                    let links = self.accomplices();
                    let exchange = ExchangeId {
                        incarnation: Incarnation::default(),
                        cycle,
                    };
                    self.carry(node, victim, Message::Shuffle { exchange, links });
                }
            }
        }
    }

    fn run(mut self) -> Shares {
        self.run_cycles();
        let lies = |peer: &NodeId| peer.get() < u64::from(self.liars);
        let share = |peers: Vec<NodeId>| {
            peers.iter().filter(|peer| lies(peer)).count() as f64 / peers.len().max(1) as f64
        };
        let views = self.honest.iter().map(|node| node.view().ids());
        Shares {
            views: share(views.clone().flatten().copied().collect()),
            samples: share(self.honest.iter().flat_map(Node::samples).collect()),
            eclipsed: views.filter(|ids| ids.iter().all(lies)).count(),
        }
    }
}

/// The shares of liars after [`CYCLES`] cycles, without and with 32 samples.
#[test]
fn samples_keep_honest_nodes_in_the_views_of_honest_nodes() {
    println!(
        "| liars | exchanges a cycle | in views | eclipsed | with samples, in views | eclipsed | in samples |"
    );
    println!("|---|---|---|---|---|---|---|");
    // Liars, exchanges in a cycle, and the largest share of liars that views may have.
    let cases = [
        (25, 1, 0.15),
        (50, 1, 0.3),
        (100, 1, 0.5),
        (165, 1, 0.85),
        (50, 5, 0.5),
        (100, 5, 0.75),
    ];
    // A debug build tries only the second case.
    let tried = if cfg!(debug_assertions) { 1..2 } else { 0..6 };
    for (liars, pushes, most) in cases[tried].iter().copied() {
        let without = Attack::new(liars, pushes, 0).run();
        let with = Attack::new(liars, pushes, 32).run();
        println!(
            "| {:.0} % | {pushes} | {:.0} % | {} of {} | {:.0} % | {} | {:.0} % |",
            100.0 * f64::from(liars) / f64::from(NODES),
            100.0 * without.views,
            without.eclipsed,
            NODES - liars,
            100.0 * with.views,
            with.eclipsed,
            100.0 * with.samples,
        );
        assert!(with.views < most, "{liars} liars: {with:?}");
        assert!(with.views < without.views, "{liars} liars: {without:?}");
        let honest = (NODES - liars) as usize;
        assert!(with.eclipsed * 20 < honest, "{liars} liars: {with:?}");
    }
}

/// Without liars, samples do no harm: the overlay stays connected, and views stay full.
#[test]
fn without_liars_samples_do_no_harm() {
    let mut attack = Attack::new(0, 0, 32);
    attack.run_cycles();
    let full = attack.honest.iter().filter(|node| node.view().is_full());
    assert!(full.count() * 10 > attack.honest.len() * 9);
    let mut reached = vec![false; NODES as usize];
    let mut ways = vec![0_u32];
    while let Some(node) = ways.pop() {
        if !std::mem::replace(&mut reached[node as usize], true) {
            let peers = attack.honest[node as usize].view().ids();
            ways.extend(peers.iter().map(|peer| peer.get() as u32));
        }
    }
    assert!(reached.iter().all(|reached| *reached));
}
