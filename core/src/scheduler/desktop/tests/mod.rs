//! Small grids whose whole state the tests can see.

mod dual_can;
mod hostile;
mod moving;
mod placing;
mod recovering;

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::*;
use crate::job::{Outcome, Retry};
use crate::machine::{Effect, EffectQueue};
use crate::resource::{Kind, Requirement};

/// A space of cores, memory and one virtual dimension.
type Node = Desktop<3>;

/// How long a message takes.
const DELAY: Span = Span::from_millis(20);

fn id(number: u64) -> NodeId {
    NodeId::new(number)
}

fn dimensions() -> Dimensions {
    Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)]).unwrap()
}

fn dimension(name: &str) -> Dimension {
    dimensions().named(name).unwrap()
}

fn equipment(cores: u64, memory: u64) -> Equipment {
    Equipment {
        dimensions: dimensions(),
        cores: dimension("cores"),
        capability: dimensions().capability(&[cores, memory]).unwrap(),
        speed: Speed::BASELINE,
    }
}

fn config() -> Config {
    let mut config = Config::new(dimensions().capability(&[16, 64]).unwrap());
    config.resend = None;
    config
}

fn needs(cores: u64, memory: u64) -> Requirement {
    Requirement::any()
        .with(dimension("cores"), cores)
        .with(dimension("memory"), memory)
}

fn job(number: u64, cores: u64, memory: u64) -> Job {
    let one = Demand::Nodes(core::num::NonZeroU32::MIN);
    let mut job = Job::new(JobId::new(number), one, Span::from_secs(1000)).unwrap();
    job.requirement = needs(cores, memory);
    job.retry = Retry::OnNodeLoss(9);
    job
}

/// A search by node 77.
fn quest(wanted: Wanted) -> Quest {
    Quest {
        asker: id(77),
        attempt: 0,
        wanted,
    }
}

/// The trail of a search that has rated no node yet.
fn fresh_trail() -> Trail<3> {
    Trail {
        best: Merits::default(),
        toward: None,
        passed: 0,
        probes: 0,
        hops: 9,
    }
}

/// Delivers a message from node 77 to a node, and returns the node's messages to node 77.
fn answers(network: &mut Network, node: u64, message: Message<3>) -> Vec<Message<3>> {
    let machine = network.nodes.get_mut(&id(node)).unwrap();
    let mut effects = EffectQueue::new();
    let event = Event::Message {
        from: id(77),
        message,
    };
    effects.feed(machine, event, network.now, &mut network.rng);
    machine.check().unwrap();
    let sent = effects.drain().filter_map(|effect| match effect {
        Effect::Send { to, message } if to == id(77) => Some(message),
        _ => None,
    });
    sent.collect()
}

/// Nodes, the messages between them, and their hosts.
struct Network {
    now: Time,
    nodes: BTreeMap<NodeId, Node>,
    disks: BTreeMap<NodeId, BTreeMap<Key, Record>>,
    equipment: BTreeMap<NodeId, Equipment>,
    config: Config,
    events: BTreeMap<(Time, u64), (NodeId, Event<Node>)>,
    timers: BTreeSet<(Time, NodeId, Timer)>,
    numbered: u64,
    /// When each running job ends.
    running: BTreeMap<(NodeId, JobId, Epoch), Time>,
    news: Vec<(NodeId, JobId, News)>,
    /// How long each job runs.
    run_time: Span,
    /// One of so many messages is lost, if any.
    loss: Option<u32>,
    rng: Xoshiro256PlusPlus,
}

impl Network {
    /// Nodes with these cores and memories. The first founds the overlay; the others join one after the other.
    fn new(config: Config, nodes: &[(u64, u64)]) -> Self {
        let mut network = Self {
            now: Time::from_secs(1),
            nodes: BTreeMap::new(),
            disks: BTreeMap::new(),
            equipment: BTreeMap::new(),
            config,
            events: BTreeMap::new(),
            timers: BTreeSet::new(),
            numbered: 0,
            running: BTreeMap::new(),
            news: Vec::new(),
            run_time: Span::from_secs(1000),
            loss: None,
            rng: Xoshiro256PlusPlus::seed_from_u64(nodes.len() as u64),
        };
        for (number, &(cores, memory)) in (0..).zip(nodes) {
            network
                .equipment
                .insert(id(number), equipment(cores, memory));
            network.boot(id(number));
            network.pass(25);
        }
        network.pass(60);
        let inside = network
            .nodes
            .values()
            .filter(|node| node.can().is_settled());
        assert_eq!(inside.count(), nodes.len(), "all have joined");
        network
    }

    /// Starts a node with the records on its disk.
    fn boot(&mut self, node: NodeId) {
        let bootstrap = if node == id(0) && !self.disks.contains_key(&node) {
            Bootstrap::Alone
        } else {
            let other = self.nodes.keys().find(|other| **other != node);
            Bootstrap::Join((*other.expect("somebody is there")).into())
        };
        let equipment = self.equipment[&node].clone();
        let machine = Node::new(node, self.config, bootstrap, equipment, &mut self.rng).unwrap();
        self.nodes.insert(node, machine);
        let disk = self.disks.entry(node).or_default().clone();
        for (key, record) in disk {
            self.feed(node, Event::Restored(key, record));
        }
        self.feed(node, Event::Start);
    }

    /// Crashes a node and the jobs that run there.
    fn crash(&mut self, node: NodeId) {
        self.nodes.remove(&node);
        self.timers.retain(|(_, of, _)| *of != node);
        self.running.retain(|(of, ..), _| *of != node);
    }

    fn feed(&mut self, node: NodeId, event: Event<Node>) {
        let Some(machine) = self.nodes.get_mut(&node) else {
            return;
        };
        let mut effects = EffectQueue::new();
        effects.feed(machine, event, self.now, &mut self.rng);
        machine.check().unwrap();
        let effects: Vec<Effect<Node>> = effects.drain().collect();
        for effect in effects {
            self.carry_out(node, effect);
        }
    }

    fn carry_out(&mut self, node: NodeId, effect: Effect<Node>) {
        match effect {
            Effect::Persist(key, record) => {
                self.disks.entry(node).or_default().insert(key, record);
            }
            Effect::Forget(key) => {
                self.disks.entry(node).or_default().remove(&key);
            }
            Effect::Send { to, message } => {
                assert_ne!(to, node, "nobody sends to itself: {message:?}");
                if self.loss.is_some_and(|one_of| self.rng.below(one_of) == 0) {
                    return;
                }
                let from = node;
                self.numbered += 1;
                let at = (self.now + DELAY, self.numbered);
                self.events
                    .insert(at, (to, Event::Message { from, message }));
            }
            Effect::Wake { at, timer } => {
                self.timers
                    .retain(|(_, of, old)| (*of, *old) != (node, timer));
                self.timers.insert((at, node, timer));
            }
            Effect::Cancel(timer) => {
                self.timers
                    .retain(|(_, of, old)| (*of, *old) != (node, timer));
            }
            Effect::Notify(Notice { job, news }) => {
                match news {
                    News::Started { attempt, .. } => {
                        let live = self.running.keys().filter(|(_, other, _)| *other == job);
                        assert_eq!(live.count(), 0, "{job:?} runs twice");
                        let end = self.now + self.run_time;
                        self.running.insert((node, job, attempt), end);
                    }
                    News::Stopped { attempt } => {
                        self.running.remove(&(node, job, attempt));
                    }
                    _ => {}
                }
                self.news.push((node, job, news));
            }
        }
    }

    fn command(&mut self, node: NodeId, command: job::Command) {
        self.feed(node, Event::Command(command));
    }

    /// The event that a job which runs on a node has ended.
    fn end_of(&self, node: NodeId, job: u64) -> Event<Node> {
        let job = JobId::new(job);
        let attempt = self.nodes[&node].runs.running(job);
        Event::Command(job::Command::Ended {
            job,
            attempt: attempt.expect("it runs there"),
            outcome: Outcome::Done,
        })
    }

    fn submit(&mut self, node: u64, mut job: Job) {
        job.submitted = self.now;
        self.command(id(node), job::Command::submit(job));
    }

    /// Lets so many seconds pass.
    fn pass(&mut self, seconds: u64) {
        let until = self.now + Span::from_secs(seconds);
        loop {
            let message = self.events.keys().next().map(|(at, _)| *at);
            let timer = self.timers.first().map(|(at, ..)| *at);
            let end = self.running.values().min().copied();
            let next = [end, message, timer].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= until) else {
                break;
            };
            self.now = self.now.max(next);
            if end == Some(next) {
                let ended = self.running.iter().find(|(_, at)| **at == next);
                let (node, job, attempt) = *ended.unwrap().0;
                self.running.remove(&(node, job, attempt));
                let outcome = Outcome::Done;
                let ended = job::Command::Ended {
                    job,
                    attempt,
                    outcome,
                };
                self.command(node, ended);
            } else if message == Some(next) {
                let (_, (to, event)) = self.events.pop_first().unwrap();
                self.feed(to, event);
            } else {
                let (_, node, timer) = self.timers.pop_first().unwrap();
                self.feed(node, Event::Timer(timer));
            }
        }
        self.now = until;
    }

    /// All news of a job, from all nodes.
    fn news_of(&self, job: u64) -> Vec<News> {
        let job = JobId::new(job);
        let news = self.news.iter().filter(|(_, of, _)| *of == job);
        news.map(|(_, _, news)| news.clone()).collect()
    }

    /// The node of each start of a job.
    fn started(&self, job: u64) -> Vec<NodeId> {
        let is_start = |news: &News| matches!(news, News::Started { .. });
        let news = self.news.iter();
        let news = news.filter(|(_, of, news)| *of == JobId::new(job) && is_start(news));
        news.map(|(node, ..)| *node).collect()
    }

    /// The owner of a job.
    fn owner(&self, job: u64) -> Option<NodeId> {
        let job = JobId::new(job);
        let mut owners = self.nodes.iter();
        owners
            .find(|(_, node)| node.owned().any(|owned| owned == job))
            .map(|(id, _)| *id)
    }
}
