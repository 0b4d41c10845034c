//! What a commit costs in messages and time: one coordinator, some nodes, a constant delay.

use gridweave_core::admission::Needs;
use gridweave_core::commit::{
    Candidate, Command, Config, Everyone, Node, Notice, Permission, coordinator,
};
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Payload, Submitter};
use gridweave_core::time::{Interval, Span, Time};
use gridweave_sim::engine::{Happening, Simulation};
use gridweave_sim::network::{Delay, Network, NetworkConfig};

/// The cost of one commit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Messages until the coordinator knew that all had committed.
    pub to_placed: u64,
    /// Messages until all could start.
    pub to_permitted: u64,
    /// Encoded bytes of all messages until all could start.
    pub bytes: u64,
    /// Round trips until the coordinator knew that all had committed.
    pub round_trips: f64,
}

/// Places one job on this many nodes.
pub fn measure(nodes: u32) -> Cost {
    const DELAY: Span = Span::from_millis(50);
    let network = NetworkConfig {
        delay: Delay::Constant(DELAY),
        ..NetworkConfig::default()
    };
    let config = Config {
        permission: Permission::UntilEnd,
        ..Config::DEFAULT
    };
    let network = Network::new(&network, 1).expect("the network is sound");
    let mut grid = Simulation::new(nodes + 1, network, 1, move |_| {
        Node::<Everyone>::new(config, Everyone)
    });
    let start = Time::from_secs(3600);
    let place = coordinator::Command::Place {
        job: JobId::new(1),
        submitter: Submitter::default(),
        needs: Needs::NOTHING,
        candidates: vec![Candidate {
            interval: Interval::starting(start, Span::from_secs(60))
                .expect("a minute is not empty"),
            nodes: (1..=u64::from(nodes)).map(NodeId::new).collect(),
        }],
        spares: Vec::new(),
        payload: Payload::EMPTY,
    };
    grid.command(Time::ZERO, NodeId::new(0), Command::Coordinator(place));
    let mut placed = None;
    // A permission is given shortly before the start.
    while grid.now() < start - Span::from_secs(1) && grid.step() {
        let messages = grid.traffic().total().messages;
        for happening in grid.happenings() {
            if let Happening::Notice {
                at,
                notice: Notice::Coordinator(coordinator::Notice::Placed { .. }),
                ..
            } = happening
            {
                placed = Some((at, messages));
            }
        }
    }
    let (at, before) = placed.expect("nothing stands in the way");
    let total = grid.traffic().total();
    let permits = grid.traffic().of(&["Permit"]);
    Cost {
        to_placed: before,
        to_permitted: before + permits.messages,
        bytes: total.bytes,
        round_trips: (at - Time::ZERO).as_micros() as f64 / (2 * DELAY.as_micros()) as f64,
    }
}
