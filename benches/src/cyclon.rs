//! CYCLON in the simulator: a whole engine under the load of gossip.
//!
//! Views of 20 links of which 8 are exchanged every ten seconds, from random links on, over a network that takes 10 to
//! 200 ms. A cycle is the time in which every node begins one exchange: three events for each node, a timer, a message
//! and its answer.

use std::time::Duration;

use gridweave_core::id::NodeId;
use gridweave_core::overlay::cyclon::{Changes, Command, Config, Cyclon};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use gridweave_sim::engine::Simulation;
use gridweave_sim::network::{Delay, Network, NetworkConfig};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::events::{Effort, cpu_time};

/// Links of a node, `c` in the paper.
pub const VIEW: usize = 20;
/// Links in a message, `l` in the paper.
pub const SHUFFLE: usize = 8;

/// The overlay, in simulated time.
pub type Overlay = Simulation<Cyclon<VIEW, SHUFFLE>>;

/// What handling cycles cost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rate {
    /// Cycles per CPU-second.
    pub cycles: f64,
    /// Events per CPU-second.
    pub events: f64,
}

const PERIOD: Span = Config::DEFAULT.period;

/// An overlay of this many nodes, each linked to [`VIEW`] others that are drawn at random.
pub fn overlay(nodes: u32) -> Overlay {
    let config = NetworkConfig {
        delay: Delay::Uniform {
            min: Span::from_millis(10),
            max: Span::from_millis(200),
        },
        ..NetworkConfig::default()
    };
    let network = Network::new(&config, 1).expect("a uniform delay needs nothing else");
    let config = Config {
        changes: Changes::Untold,
        ..Config::DEFAULT
    };
    let mut overlay = Simulation::new(nodes, network, 1, move |me| {
        Cyclon::new(me, config).expect("20 and 8 are the defaults")
    });
    overlay.run_until(Time::ZERO);
    overlay.happenings();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for node in (0..nodes).map(|node| NodeId::new(u64::from(node))) {
        for _ in 0..VIEW {
            let peer = NodeId::new(u64::from(rng.below(nodes)));
            overlay.command_first(Time::ZERO, node, Command::Meet(peer));
        }
    }
    overlay
}

/// Lets every node begin this many exchanges.
pub fn run(overlay: &mut Overlay, cycles: u64) {
    overlay.run_until(overlay.now() + PERIOD.times(cycles));
}

/// What a cycle costs in the fastest of some turns.
pub fn measure(overlay: &mut Overlay, effort: Effort) -> Rate {
    let turns = (0..effort.rounds).map(|_| turn(overlay, effort.turn));
    turns.fold(
        Rate {
            cycles: 0.0,
            events: 0.0,
        },
        |best, turn| {
            if turn.cycles > best.cycles {
                turn
            } else {
                best
            }
        },
    )
}

/// Whole cycles, over at least this much processor time.
fn turn(overlay: &mut Overlay, least: Duration) -> Rate {
    let (begin, before) = (cpu_time(), overlay.events());
    let mut cycles = 0;
    loop {
        run(overlay, 1);
        cycles += 1;
        let spent = cpu_time().saturating_sub(begin);
        if spent >= least && !spent.is_zero() {
            let seconds = spent.as_secs_f64();
            return Rate {
                cycles: f64::from(cycles) / seconds,
                events: (overlay.events() - before) as f64 / seconds,
            };
        }
    }
}
