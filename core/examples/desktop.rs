//! A small grid in one process: six desktops, one of them with an accelerator, three jobs, and a host that does what
//! nodes ask.
//!
//! ```sh
//! cargo run -p gridweave-core --example desktop
//! ```
//! What nodes differ in is up to the grid: here cores, memory in gigabytes, and accelerators, which are a dimension
//! like any other. Time is virtual, so it is over at once.

mod grid;

use std::error::Error;
use std::num::NonZeroU32;

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, News, Notice};
use gridweave_core::resource::{Dimensions, Kind, Requirement, Speed};
use gridweave_core::scheduler::desktop::{Bootstrap, Config, Desktop, Equipment};
use gridweave_core::time::{Span, Time};

use grid::Grid;

/// Three dimensions of the grid, and a virtual one that tells equal nodes apart.
type Node = Desktop<4>;

fn main() -> Result<(), Box<dyn Error>> {
    let dimensions = Dimensions::new(&[
        ("cores", Kind::Amount),
        ("memory", Kind::Amount),
        ("accelerators", Kind::Amount),
    ])?;
    let named = |name| dimensions.named(name).ok_or("there is such a dimension");
    let (cores, memory, accelerators) = (named("cores")?, named("memory")?, named("accelerators")?);
    let desktops = [
        [2, 4, 0],
        [4, 8, 0],
        [4, 8, 0],
        [8, 16, 0],
        [8, 32, 1],
        [16, 64, 0],
    ];
    // The most that any node has. A node that claims more is not believed.
    let config = Config::new(dimensions.capability(&[64, 256, 8])?);

    // Programs take eight minutes of the ten that their jobs ask for.
    let mut grid = Grid::new(Span::from_secs(480));
    let mut nodes: Vec<Node> = Vec::new();
    for (number, has) in (0..).zip(&desktops) {
        let bootstrap = match number {
            0 => Bootstrap::Alone,
            _ => Bootstrap::Join(NodeId::new(0).into()),
        };
        let equipment = Equipment {
            dimensions: dimensions.clone(),
            cores,
            capability: dimensions.capability(has)?,
            speed: Speed::BASELINE,
        };
        let (id, rng) = (NodeId::new(number), &mut grid.rng);
        nodes.push(Node::new(id, config, bootstrap, equipment, rng)?);
    }
    // One node after the other.
    for (number, node) in (0..).zip(nodes) {
        grid.news(Time::from_secs(30 * number));
        grid.start(node);
    }
    // Jobs come to node 1 when all know each other.
    grid.news(Time::from_secs(300));
    let needs = [
        Requirement::any().with(cores, 2).with(accelerators, 1),
        Requirement::any().with(cores, 12),
        Requirement::any().with(memory, 6),
    ];
    for (number, requirement) in (0..).zip(needs) {
        let one = Demand::Nodes(NonZeroU32::MIN);
        let mut job = Job::new(JobId::new(number), one, Span::from_secs(600))?;
        (job.requirement, job.submitted) = (requirement, grid.now);
        grid.tell(1, Command::submit(job));
    }
    let mut finished = 0;
    while let Some((node, Notice { job, news })) = grid.news(Time::MAX) {
        println!("{:?}: node {node}, job {}: {news:?}", grid.now, job.get());
        match news {
            News::Finished => finished += 1,
            News::Failed(failure) => return Err(failure.to_string().into()),
            _ => {}
        }
        if finished == needs.len() {
            println!("all {finished} jobs are Finished");
            break;
        }
    }
    Ok(())
}
