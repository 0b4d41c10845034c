//! The load on simcore 0.1.0: every node is a component with its handler, and events go through its simulation.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;
use simcore::{Event, EventHandler, Simulation as Engine, SimulationContext, cast};

use super::{Draws, Simulation, stepped};

/// What every event carries: nothing, as in the load on bare queues.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Step {}

struct Node {
    context: SimulationContext,
    state: u64,
    draws: Rc<RefCell<Draws>>,
}

impl EventHandler for Node {
    fn on(&mut self, event: Event) {
        // simcore's time is a float. One unit is a microsecond here, so that all times are whole and exact.
        let now = event.time as u64;
        cast!(match event.data {
            Step {} => {
                self.state = stepped(self.state, now);
                let (next, delay) = self.draws.borrow_mut().next_event();
                self.context.emit(Step {}, next, delay.as_micros() as f64);
            }
        });
    }
}

/// The engine with all its nodes.
pub struct Simcore {
    engine: Engine,
    nodes: Vec<Rc<RefCell<Node>>>,
}

impl Simcore {
    /// One event per node is pending.
    pub fn new(mut draws: Draws) -> Self {
        let mut engine = Engine::new(1);
        let count = draws.nodes();
        let delays: Vec<f64> = (0..count)
            .map(|_| draws.first_delay().as_micros() as f64)
            .collect();
        let draws = Rc::new(RefCell::new(draws));
        let mut nodes = Vec::new();
        for delay in delays {
            let name = format!("node-{}", nodes.len());
            let context = engine.create_context(&name);
            context.emit_self(Step {}, delay);
            let draws = Rc::clone(&draws);
            let node = Node {
                context,
                state: 0,
                draws,
            };
            let node = Rc::new(RefCell::new(node));
            engine.add_handler(&name, node.clone());
            nodes.push(node);
        }
        Self { engine, nodes }
    }
}

impl Simulation for Simcore {
    fn run(&mut self, events: usize) {
        self.engine.steps(events as u64);
    }

    fn digest(&self) -> u64 {
        let states = self.nodes.iter().map(|node| node.borrow().state);
        states.fold(0, stepped)
    }
}

impl std::fmt::Debug for Simcore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simcore")
            .field("nodes", &self.nodes.len())
            .finish_non_exhaustive()
    }
}
