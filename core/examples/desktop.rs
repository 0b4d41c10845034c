//! A small grid in one process: six desktops, one of them with an accelerator, three jobs, and a host that does what nodes ask.
//!
//! ```sh
//! cargo run -p gridweave-core --example desktop
//! ```
//! What nodes differ in is up to the grid: here cores, memory in gigabytes, and accelerators, which are a dimension like any other. Time is
//! virtual, so it is over at once.

use std::collections::VecDeque;
use std::error::Error;
use std::num::NonZeroU32;

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Demand, Job, News, Notice, Outcome};
use gridweave_core::machine::{Effect, EffectQueue, Event, TimerQueue};
use gridweave_core::resource::{Dimensions, Kind, Requirement, Speed};
use gridweave_core::scheduler::desktop::{Bootstrap, Config, Desktop, Equipment, Timer};
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// Three dimensions of the grid, and a virtual one that tells equal nodes apart.
type Node = Desktop<4>;

/// What a host is woken by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Alarm {
    Machine(usize, Timer),
    /// The program that a node runs for a job is done.
    Program(usize, JobId),
    /// A node comes up.
    Boot(usize),
    /// A job is submitted at node 1.
    Submission(usize),
}

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
    // Nobody has more than this, and who claims to is not believed.
    let config = Config::new(dimensions.capability(&[64, 256, 8])?);

    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut nodes: Vec<Node> = Vec::new();
    for (number, has) in desktops.iter().enumerate() {
        let bootstrap = match number {
            0 => Bootstrap::Alone,
            _ => Bootstrap::Join(NodeId::new(0)),
        };
        let equipment = Equipment {
            dimensions: dimensions.clone(),
            cores,
            capability: dimensions.capability(has)?,
            speed: Speed::BASELINE,
        };
        let id = NodeId::new(number as u64);
        nodes.push(Node::new(id, config, bootstrap, equipment, &mut rng)?);
    }
    let needs = [
        Requirement::any().with(cores, 2).with(accelerators, 1),
        Requirement::any().with(cores, 12),
        Requirement::any().with(memory, 6),
    ];

    let (mut effects, mut alarms) = (EffectQueue::new(), TimerQueue::new());
    // One node after the other, and jobs when all know each other.
    for node in 0..nodes.len() {
        alarms.wake(Time::from_secs(30 * node as u64), Alarm::Boot(node));
    }
    for job in 0..needs.len() {
        alarms.wake(Time::from_secs(300), Alarm::Submission(job));
    }
    let (mut inbox, mut finished) = (VecDeque::new(), 0);
    while let Some(now) = alarms.next_at() {
        if let Some((_, alarm)) = alarms.pop_due(now) {
            inbox.push_back(match alarm {
                Alarm::Machine(node, timer) => (node, Event::Timer(timer)),
                Alarm::Boot(node) => (node, Event::Start),
                Alarm::Program(node, job) => {
                    let outcome = Outcome::Done;
                    (node, Event::Command(Command::Ended { job, outcome }))
                }
                Alarm::Submission(number) => {
                    let one = Demand::Nodes(NonZeroU32::MIN);
                    let mut job = Job::new(JobId::new(number as u64), one, Span::from_secs(600))?;
                    (job.requirement, job.submitted) = (needs[number], now);
                    (1, Event::Command(Command::Submit(job)))
                }
            });
        }
        while let Some((node, event)) = inbox.pop_front() {
            effects.feed(&mut nodes[node], event, now, &mut rng);
            for effect in effects.drain() {
                match effect {
                    // To a folder of files in an agent; nothing crashes here.
                    Effect::Persist(..) | Effect::Forget(_) => {}
                    Effect::Send { to, message } => {
                        let from = NodeId::new(node as u64);
                        inbox.push_back((to.get() as usize, Event::Message { from, message }));
                    }
                    Effect::Wake { at, timer } => alarms.wake(at, Alarm::Machine(node, timer)),
                    Effect::Cancel(timer) => alarms.cancel(Alarm::Machine(node, timer)),
                    Effect::Notify(Notice { job, news }) => {
                        println!("{now:?}: node {node}, job {}: {news:?}", job.get());
                        let program = Alarm::Program(node, job);
                        match news {
                            News::Started => alarms.wake(now + Span::from_secs(480), program),
                            News::Stopped => alarms.cancel(program),
                            News::Finished => finished += 1,
                            News::Failed(failure) => return Err(failure.to_string().into()),
                            _ => {}
                        }
                    }
                }
            }
        }
        if finished == needs.len() {
            println!("all {finished} jobs are Finished");
            break;
        }
    }
    Ok(())
}
