//! A small grid in one process whose users want cheap nodes that are near each other: a cost function of their own,
//! twelve `criteria` nodes in three towns, and a host that does what they ask.
//!
//! ```sh
//! cargo run -p gridweave-core --example criteria
//! ```
//! Time is virtual here, so it is over at once.

mod grid;

use std::error::Error;
use std::num::NonZeroU32;

use gridweave_core::commit::Everyone;
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Criterion, Demand, Job, News, Notice};
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::criteria::{Config, Criteria, Helper, OneMore};
use gridweave_core::select::{Objective, Set, Standard};
use gridweave_core::time::{Span, Time};

use grid::Grid;

/// What the nodes of a set ask for, in cents, which they tell in their notes; and one cent for each millisecond between
/// them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Cheapest;

impl Objective for Cheapest {
    fn cost(&self, set: &Set<'_>) -> f64 {
        let prices: f64 = set.profiles().map(|node| f64::from(node.note)).sum();
        prices + Standard::Closest.cost(set) / 1000.0
    }
}

/// The criterion by which jobs ask for that.
const CHEAPEST: Criterion = Criterion::Custom(0);

/// At most 20 links in each overlay, of which 8 random ones and 10 of a helper are exchanged at once.
type Node = Criteria<20, 8, 10, OneMore<Cheapest>>;

/// Four nodes in each of three towns 30 ms apart. The second town is the cheapest, but for one node.
fn profile(node: u64) -> Profile {
    let (town, number) = (node / 4, node % 4);
    let x = i32::try_from(town * 30_000 + number * 100).unwrap_or_default();
    let price = match (town, number) {
        (1, 3) => 90,
        (1, _) => 10,
        _ => 20,
    };
    Profile {
        note: price,
        ..Profile::at(Coordinate::at([x, 0, 0]))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Near nodes are likely to be good together.
    let catalogue = OneMore {
        objective: Cheapest,
        helper: Some(Helper::Proximity),
    };
    // Programs take eight minutes of the ten that their jobs ask for.
    let mut grid = Grid::new(Span::from_secs(480));
    for number in 0..12 {
        // The first is alone, and introduces all others.
        let bootstrap = match number {
            0 => Bootstrap::Alone,
            _ => Bootstrap::Join(NodeId::new(0).into()),
        };
        let (id, config, profile) = (NodeId::new(number), Config::DEFAULT, profile(number));
        grid.start(Node::new(
            id, config, bootstrap, profile, catalogue, Everyone,
        )?);
    }
    // Three nodes for ten minutes, wanted at node 1 two minutes after all of them have started.
    grid.news(Time::from_secs(120));
    let three = Demand::Nodes(NonZeroU32::new(3).ok_or("three is not zero")?);
    let mut wanted = Job::new(JobId::new(7), three, Span::from_secs(600))?;
    wanted.criterion = CHEAPEST;
    grid.tell(1, Command::submit(wanted));
    while let Some((node, Notice { job, news })) = grid.news(Time::MAX) {
        println!("{:?}: node {node}, job {}: {news:?}", grid.now, job.get());
        match news {
            News::Finished => return Ok(()),
            News::Failed(failure) => return Err(failure.to_string().into()),
            _ => {}
        }
        let progress = grid.machine(node).and_then(|node| node.progress(job));
        if let Some(has) = progress
            && let Some(cost) = has.cost
        {
            let chosen: Vec<u64> = has.nodes.iter().map(|id| id.get()).collect();
            println!("    nodes {chosen:?} for {cost:.2} cents");
        }
    }
    Err("a node always has its next exchange ahead".into())
}
