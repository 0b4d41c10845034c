//! A small grid in one process: eight `asap` nodes, a job for five of them, and a host that does what they ask.
//!
//! ```sh
//! cargo run -p gridweave-core --example asap
//! ```
//! Time is virtual here, so it is over at once.

mod grid;

use std::error::Error;
use std::num::NonZeroU32;

use gridweave_core::commit::Everyone;
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, News, Notice};
use gridweave_core::scheduler::asap::{Asap, Bootstrap, Config};
use gridweave_core::time::{Span, Time};

use grid::Grid;

/// At most 20 links, of which 8 are exchanged at once.
type Node = Asap<20, 8>;

fn main() -> Result<(), Box<dyn Error>> {
    // Programs take eight minutes of the ten that their jobs ask for.
    let mut grid = Grid::new(Span::from_secs(480));
    for number in 0..8 {
        // The first is alone, and introduces all others.
        let bootstrap = match number {
            0 => Bootstrap::Alone,
            _ => Bootstrap::Join(NodeId::new(0).into()),
        };
        let id = NodeId::new(number);
        grid.start(Node::new(id, Config::DEFAULT, bootstrap, Everyone)?);
    }
    // Five nodes for ten minutes, wanted at node 3 a minute after all of them have started.
    grid.news(Time::from_secs(60));
    let five = Demand::Nodes(NonZeroU32::new(5).ok_or("five is not zero")?);
    let job = Job::new(JobId::new(7), five, Span::from_secs(600))?;
    grid.tell(3, Command::submit(job));
    while let Some((node, Notice { job, news })) = grid.news(Time::MAX) {
        println!("{:?}: node {node}, job {}: {news:?}", grid.now, job.get());
        match news {
            News::Finished => return Ok(()),
            News::Failed(failure) => return Err(failure.to_string().into()),
            _ => {}
        }
    }
    Err("a node always has its next exchange ahead".into())
}
