//! PHOLD, the usual load of an event queue: every event changes its target and schedules one more, elsewhere and later.
//!
//! As many nodes as pending events; a node is a word of state. All contestants draw the same targets and delays, so
//! after the same number of events all nodes must be in the same state, whichever queue kept the events:
//! [`Simulation::digest`].
//!
//! - [`queues`]: heaps and a calendar, as one would write them.
//! - [`engine`]: the same load on simcore, a whole engine.

pub mod engine;
pub mod queues;

use std::fs;
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use gridweave_sim::event_queue::EventQueue;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// How long after its cause an event happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delays {
    /// Exponential with a mean of a second: linear between 1,024 quantiles, as a logarithm takes as long as a small
    /// heap.
    Exponential,
    /// A second, always.
    Constant,
    /// A millisecond or a day, as often.
    Bimodal,
    /// None at all, or exponential with a mean of a second, as often.
    HalfZero,
    /// All events at the same instant, nine generations of children without delay, and all again a second later.
    Bursts,
}

impl Delays {
    /// All of them, the usual one first.
    pub const ALL: [Self; 5] = [
        Self::Exponential,
        Self::Constant,
        Self::Bimodal,
        Self::HalfZero,
        Self::Bursts,
    ];

    /// What a table calls them.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential, 1 s",
            Self::Constant => "constant, 1 s",
            Self::Bimodal => "1 ms or 1 day",
            Self::HalfZero => "half zero, half exponential",
            Self::Bursts => "all at once, 9 of 10 zero",
        }
    }
}

/// Draws targets and delays, the same ones for all contestants.
#[derive(Clone, Debug)]
pub struct Draws {
    rng: Xoshiro256PlusPlus,
    delays: Delays,
    nodes: u32,
    drawn: u64,
    /// Of the exponential distribution, in microseconds.
    quantiles: Vec<u64>,
}

/// The exponential distribution is cut into this many pieces of the same probability.
const PIECES: u32 = 1024;

impl Draws {
    /// For this many nodes.
    pub fn new(delays: Delays, nodes: u32) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(1),
            delays,
            nodes,
            drawn: 0,
            quantiles: (0..=PIECES).map(quantile).collect(),
        }
    }

    /// How many nodes there are.
    pub const fn nodes(&self) -> u32 {
        self.nodes
    }

    /// When a node's first event happens: spread out, unless all are to happen at once.
    pub fn first_delay(&mut self) -> Span {
        match self.delays {
            Delays::Bursts => Span::ZERO,
            Delays::Constant => Span::from_micros(u64::from(self.rng.below(1_000_000))),
            Delays::Exponential | Delays::Bimodal | Delays::HalfZero => self.exponential(),
        }
    }

    /// The target of the next event, and its delay.
    #[inline]
    pub fn next_event(&mut self) -> (u32, Span) {
        let node = self.rng.below(self.nodes);
        let delays = self.delays;
        let delay = match delays {
            Delays::Exponential => self.exponential(),
            Delays::Constant => Span::from_secs(1),
            Delays::Bimodal if self.coin() => Span::from_millis(1),
            Delays::Bimodal => Span::from_secs(24 * 3600),
            Delays::HalfZero if self.coin() => Span::ZERO,
            Delays::HalfZero => self.exponential(),
            Delays::Bursts if self.drawn / u64::from(self.nodes) % 10 == 9 => Span::from_secs(1),
            Delays::Bursts => Span::ZERO,
        };
        self.drawn += 1;
        (node, delay)
    }

    fn coin(&mut self) -> bool {
        self.rng.below(2) == 0
    }

    #[inline]
    fn exponential(&mut self) -> Span {
        let random = self.rng.next_u64();
        let piece = (random % u64::from(PIECES)) as usize;
        let (low, high) = (self.quantiles[piece], self.quantiles[piece + 1]);
        Span::from_micros(low + (((random >> 32) * (high - low)) >> 32))
    }
}

/// Of an exponential distribution with a mean of a second, in microseconds; the last is where a tenth of a piece is
/// left.
fn quantile(piece: u32) -> u64 {
    let left = f64::from(PIECES - piece).max(0.1) / f64::from(PIECES);
    (-left.ln() * 1e6) as u64
}

/// The state of a node after an event at `now`; it depends on all events so far and on their order.
#[inline]
pub const fn stepped(state: u64, now: u64) -> u64 {
    state.wrapping_mul(31).wrapping_add(now)
}

/// Something that runs the load.
pub trait Simulation {
    /// Handles this many events.
    fn run(&mut self, events: usize);
    /// All nodes' states in one number.
    fn digest(&self) -> u64;
}

/// Something that keeps events in order.
pub trait Pending {
    /// Nothing pending; about `events` will be, over about `span`.
    fn expecting(events: u32, span: Span) -> Self;
    /// Adds an event for a node.
    fn push(&mut self, at: Time, node: u32);
    /// Takes out the next one.
    fn pop(&mut self) -> Option<(Time, u32)>;
    /// What comes next, if that can be known.
    fn upcoming(&self) -> &[(Time, u32)] {
        &[]
    }
}

impl Pending for EventQueue<u32> {
    fn expecting(_: u32, _: Span) -> Self {
        Self::new()
    }
    fn push(&mut self, at: Time, node: u32) {
        self.push(at, node);
    }
    fn pop(&mut self) -> Option<(Time, u32)> {
        self.pop()
    }
    fn upcoming(&self) -> &[(Time, u32)] {
        self.upcoming()
    }
}

/// Whether a host reads the targets of coming events before it handles them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LookAhead {
    /// It reads them.
    Touch,
    /// It does not read them.
    Ignore,
}

/// A host of the load around a queue.
#[derive(Clone, Debug)]
pub struct Phold<Q> {
    queue: Q,
    nodes: Vec<u64>,
    draws: Draws,
    look_ahead: LookAhead,
}

impl<Q: Pending> Phold<Q> {
    /// One event per node is pending.
    pub fn new(mut draws: Draws, look_ahead: LookAhead) -> Self {
        let mut queue = Q::expecting(draws.nodes(), Span::from_secs(1));
        for node in 0..draws.nodes() {
            queue.push(Time::ZERO + draws.first_delay(), node);
        }
        Self {
            queue,
            nodes: vec![0; draws.nodes() as usize],
            draws,
            look_ahead,
        }
    }

    #[inline]
    fn handle(&mut self, now: Time, node: u32) {
        let state = &mut self.nodes[node as usize];
        *state = stepped(*state, now.as_micros());
        let (next, delay) = self.draws.next_event();
        self.queue.push(now + delay, next);
    }

    fn run_plainly(&mut self, events: usize) {
        for _ in 0..events {
            let (now, node) = self.queue.pop().expect("every event schedules another");
            self.handle(now, node);
        }
    }

    fn run_touching(&mut self, events: usize) {
        let mut touched = 0_usize;
        for _ in 0..events {
            let (now, node) = self.queue.pop().expect("every event schedules another");
            if touched == 0 {
                // A lane can be long; what is touched too early is out of the cache again when it is needed.
                let upcoming = self.queue.upcoming();
                let near = &upcoming[..upcoming.len().min(128)];
                let states = near.iter().map(|&(_, node)| self.nodes[node as usize]);
                black_box(states.fold(0, u64::wrapping_add));
                touched = near.len();
            } else {
                touched -= 1;
            }
            self.handle(now, node);
        }
    }
}

impl<Q: Pending> Simulation for Phold<Q> {
    fn run(&mut self, events: usize) {
        match self.look_ahead {
            LookAhead::Touch => self.run_touching(events),
            LookAhead::Ignore => self.run_plainly(events),
        }
    }

    fn digest(&self) -> u64 {
        self.nodes.iter().copied().fold(0, stepped)
    }
}

/// How thoroughly to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How often each contestant has its turn.
    pub rounds: usize,
    /// How much processor time a turn takes.
    pub turn: Duration,
}

/// Events per CPU-second of each contestant in its fastest turn.
///
/// Before that all of them handle the same events, and must agree on what these did.
pub fn measure(contestants: &mut [Box<dyn Simulation>], events: usize, effort: Effort) -> Vec<f64> {
    contestants.iter_mut().for_each(|each| each.run(events));
    let digests: Vec<u64> = contestants.iter().map(|each| each.digest()).collect();
    assert!(
        digests.windows(2).all(|pair| pair[0] == pair[1]),
        "the contestants simulated different things: {digests:?}"
    );
    let mut rates = vec![0.0; contestants.len()];
    for _ in 0..effort.rounds {
        for (each, rate) in contestants.iter_mut().zip(&mut rates) {
            *rate = f64::max(*rate, rate_of(effort.turn, |events| each.run(events)));
        }
    }
    rates
}

/// How many items `handle` handles per CPU-second, over at least this much processor time.
pub fn rate_of(least: Duration, mut handle: impl FnMut(usize)) -> f64 {
    const BETWEEN_LOOKS: usize = 20_000;
    let begin = cpu_time();
    let mut events = 0;
    loop {
        handle(BETWEEN_LOOKS);
        events += BETWEEN_LOOKS;
        let spent = cpu_time().saturating_sub(begin);
        if spent >= least && !spent.is_zero() {
            return events as f64 / spent.as_secs_f64();
        }
    }
}

/// Processor time of this thread so far, which other work on the machine does not count towards. Linux knows it to a
/// few milliseconds; elsewhere it is the time that passed.
pub fn cpu_time() -> Duration {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let statistics = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = statistics.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanos.map_or_else(
        || BEGIN.get_or_init(Instant::now).elapsed(),
        Duration::from_nanos,
    )
}
