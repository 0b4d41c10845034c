//! A small grid in one process: eight `asap` nodes, a job for five of them, and a host that does what they ask.
//!
//! ```sh
//! cargo run -p gridweave-core --example asap
//! ```
//! Time is virtual here, so it is over at once. An agent would wait for its socket and the next timer instead, send messages over
//! the network, and write records to disk before it goes on.

use std::collections::VecDeque;
use std::error::Error;
use std::num::NonZeroU32;

use gridweave_core::commit::Everyone;
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, News, Notice, Outcome};
use gridweave_core::machine::{Effect, EffectQueue, Event, TimerQueue};
use gridweave_core::scheduler::asap::{Asap, Bootstrap, Config, Timer};
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// At most 20 links, of which 8 are exchanged at once.
type Node = Asap<20, 8>;

/// What a host is woken by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Alarm {
    Machine(usize, Timer),
    /// The program that a node runs for a job is done.
    Program(usize, JobId),
}

fn main() -> Result<(), Box<dyn Error>> {
    let ids: Vec<NodeId> = (0..8).map(NodeId::new).collect();
    // The first is alone, and introduces all others.
    let bootstrap = |id| match id {
        _ if id == ids[0] => Bootstrap::Alone,
        _ => Bootstrap::Join(ids[0]),
    };
    let nodes = ids
        .iter()
        .map(|&id| Node::new(id, Config::DEFAULT, bootstrap(id), Everyone));
    let mut nodes: Vec<Node> = nodes.collect::<Result<_, _>>()?;
    let mut inbox: VecDeque<(usize, Event<Node>)> =
        (0..8).map(|node| (node, Event::Start)).collect();

    // Five nodes for ten minutes, wanted at node 3 a minute after all of them have started.
    let five = Demand::Nodes(NonZeroU32::new(5).ok_or("five is not zero")?);
    let mut job = Some(Job::new(JobId::new(7), five, Span::from_secs(600))?);
    let (mut now, submission) = (Time::ZERO, Time::from_secs(60));
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
                    }
                }
            }
        }
        now = alarms
            .next_at()
            .ok_or("a node always has its next exchange ahead")?;
        if let Some(job) = job.take_if(|_| now >= submission) {
            now = submission;
            inbox.push_back((3, Event::Command(Command::Submit(job))));
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
