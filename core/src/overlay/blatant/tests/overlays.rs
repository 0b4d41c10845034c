use super::super::*;
use super::network::{Faults, Network};
use std::vec::Vec;

/// Nodes that join one after another, each through a random one, several in an iteration.
fn grown(count: u64, faults: Faults, seed: u64) -> Network {
    let mut network = Network::new(Config::DEFAULT, faults, seed);
    for index in 0..count {
        let introducer = (index > 0).then(|| network.some_id());
        // Ids are drawn at random in a real grid.
        let id = NodeId::new(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        network.start(id);
        if let Some(introducer) = introducer {
            network.command(id, Command::Join { introducer });
        }
        if index.is_multiple_of(10) {
            network.run(1);
        }
    }
    network
}

#[test]
fn explore() {
    for (name, faults) in [("none", Faults::NONE), ("some", Faults::SOME)] {
        let begin = std::time::Instant::now();
        let mut network = grown(500, faults, 1);
        std::println!("{name} grown {:?} {:?}", network.shape(), begin.elapsed());
        for _ in 0..6 {
            let (e, l) = (network.entered, network.left);
            network.run(50);
            let shape = network.shape();
            std::println!(
                "{:.2} {shape:?} half {} +{} -{} {:?}",
                shape.degree(),
                network.half_open(),
                network.entered - e,
                network.left - l,
                begin.elapsed()
            );
        }
    }
}
