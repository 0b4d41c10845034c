//! A small grid in one process whose users want cheap nodes that are near each other: a cost function of their own, twelve
//! `criteria` nodes in three towns, and a host that does what they ask.
//!
//! ```sh
//! cargo run -p gridweave-core --example criteria
//! ```
//! Time is virtual here, so it is over at once. An agent would wait for its socket and the next timer instead, send messages over
//! the network, and write records to disk before it goes on.

use std::collections::VecDeque;
use std::error::Error;
use std::num::NonZeroU32;

use gridweave_core::commit::Everyone;
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Criterion, Demand, Job, News, Notice, Outcome};
use gridweave_core::machine::{Effect, EffectQueue, Event, TimerQueue};
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::criteria::{Config, Criteria, Helper, OneMore, Timer};
use gridweave_core::select::{Objective, Set, Standard};
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// What the nodes of a set ask for, in cents, which they tell in their notes; and one cent for each millisecond between them.
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

/// What a host is woken by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Alarm {
    Machine(usize, Timer),
    /// The program that a node runs for a job is done.
    Program(usize, JobId),
}

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
    let ids: Vec<NodeId> = (0..12).map(NodeId::new).collect();
    // The first is alone, and introduces all others.
    let bootstrap = |id| match id {
        _ if id == ids[0] => Bootstrap::Alone,
        _ => Bootstrap::Join(ids[0]),
    };
    // Who is near is likely to be good.
    let catalogue = OneMore {
        objective: Cheapest,
        helper: Some(Helper::Proximity),
    };
    let nodes = ids.iter().map(|&id| {
        let profile = profile(id.get());
        Node::new(
            id,
            Config::DEFAULT,
            bootstrap(id),
            profile,
            catalogue,
            Everyone,
        )
    });
    let mut nodes: Vec<Node> = nodes.collect::<Result<_, _>>()?;
    let mut inbox: VecDeque<(usize, Event<Node>)> =
        (0..12).map(|node| (node, Event::Start)).collect();

    // Three nodes for ten minutes, wanted at node 1 two minutes after all of them have started.
    let three = Demand::Nodes(NonZeroU32::new(3).ok_or("three is not zero")?);
    let mut wanted = Job::new(JobId::new(7), three, Span::from_secs(600))?;
    wanted.criterion = CHEAPEST;
    let mut job = Some(wanted);
    let (mut now, submission) = (Time::ZERO, Time::from_secs(120));
    let (mut effects, mut alarms) = (EffectQueue::new(), TimerQueue::new());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    loop {
        while let Some((node, event)) = inbox.pop_front() {
            effects.feed(&mut nodes[node], event, now, &mut rng);
            // In this order: a record lasts before anything behind it is done.
            for effect in effects.drain() {
                match effect {
                    // To a folder of files in an agent; nothing crashes here.
                    Effect::Persist(..) | Effect::Forget(_) => {}
                    Effect::Send { to, message } => {
                        let from = ids[node];
                        inbox.push_back((to.get() as usize, Event::Message { from, message }));
                    }
                    Effect::Wake { at, timer } => alarms.wake(at, Alarm::Machine(node, timer)),
                    Effect::Cancel(timer) => alarms.cancel(Alarm::Machine(node, timer)),
                    Effect::Notify(Notice { job, news }) => {
                        println!("{now:?}: node {node}, job {}: {news:?}", job.get());
                        let program = Alarm::Program(node, job);
                        match news {
                            // The program takes eight minutes of the ten that it asked for.
                            News::Started => alarms.wake(now + Span::from_secs(480), program),
                            News::Stopped => alarms.cancel(program),
                            News::Finished => return Ok(()),
                            News::Failed(failure) => return Err(failure.to_string().into()),
                            _ => {}
                        }
                        if let Some(has) = nodes[node].progress(job)
                            && let Some(cost) = has.cost
                        {
                            let chosen: Vec<u64> = has.nodes.iter().map(|id| id.get()).collect();
                            println!("    nodes {chosen:?} for {cost:.2} cents");
                        }
                    }
                }
            }
        }
        now = alarms
            .next_at()
            .ok_or("a node always has its next exchange ahead")?;
        if let Some(job) = job.take_if(|_| now >= submission) {
            now = submission;
            inbox.push_back((1, Event::Command(Command::Submit(job))));
        } else if let Some((_, alarm)) = alarms.pop_due(now) {
            inbox.push_back(match alarm {
                Alarm::Machine(node, timer) => (node, Event::Timer(timer)),
                Alarm::Program(node, job) => {
                    let outcome = Outcome::Done;
                    (node, Event::Command(Command::Ended { job, outcome }))
                }
            });
        }
    }
}
