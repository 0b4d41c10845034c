//! A small grid of each scheduler on a bad network, and a digest of all that happened: every event that a node was
//! given and every effect that it had, in order. No `std`: the same source is compiled for a microcontroller and for a
//! host, and both must tell the same history.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::num::NonZeroU32;

use gridweave_core::commit::Everyone;
use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Criterion, Demand, Job, News, Notice, Outcome, Retry};
use gridweave_core::machine::{Effect, EffectQueue, Event, Machine, TimerQueue};
use gridweave_core::overlay::cyclon;
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::queue::{Policy, SiteQueue};
use gridweave_core::resource::{Capability, Dimensions, Kind, Speed};
use gridweave_core::rng::Choose;
use gridweave_core::scheduler::Bootstrap;
use gridweave_core::scheduler::aria::{self, Aria, Membership, Site};
use gridweave_core::scheduler::asap::{self, Asap};
use gridweave_core::scheduler::criteria::{self, Criteria, OnlyStandard};
use gridweave_core::scheduler::desktop::{self, Desktop, Equipment};
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// How many nodes a grid has.
const NODES: usize = 6;
/// How many jobs it is given.
pub(crate) const JOBS: u32 = 12;
/// A node goes down while jobs run, and comes back with its records.
const DOWN: (usize, Time, Time) = (2, Time::from_secs(1_500), Time::from_secs(1_560));
/// Nothing takes longer.
const END: Time = Time::from_secs(4 * 3600);

/// What became of a grid.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct History {
    /// Of all lines of the history, in order.
    pub(crate) digest: Digest,
    /// Events that nodes were given.
    pub(crate) events: u32,
    /// Messages that were sent.
    pub(crate) sent: u32,
    /// Messages that were lost, also to a node that was down.
    pub(crate) lost: u32,
    /// Messages that came twice.
    pub(crate) doubled: u32,
    /// Records that were written.
    pub(crate) written: u32,
    /// Jobs that their submitters told to be finished.
    pub(crate) finished: u32,
    /// Jobs with another outcome.
    pub(crate) failed: u32,
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            digest: Digest(digest),
            events,
            sent,
            lost,
            doubled,
            written,
            finished,
            failed,
        } = self;
        write!(
            f,
            "{digest:016x}: {events} events, {sent} messages ({lost} lost, {doubled} doubled), {written} records, {finished} jobs finished, {failed} not"
        )
    }
}

/// FNV-1a of text, with 64 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Digest(pub(crate) u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// Runs the grid of one scheduler, by name, with the chances of a seed, and calls `watch` after every event.
pub(crate) fn run(scheduler: &str, seed: u64, watch: &mut dyn FnMut()) -> Option<History> {
    Some(match scheduler {
        "asap" => Grid::new(asap, several, seed).play(watch),
        "criteria" => Grid::new(criteria, several_near, seed).play(watch),
        "aria" => Grid::new(aria, one, seed).play(watch),
        "aria-cyclon" => Grid::new(aria_cyclon, one, seed).play(watch),
        "desktop" => Grid::new(desktop, one, seed).play(watch),
        _ => return None,
    })
}

/// The schedulers that there are, one of them on both of its overlays.
pub(crate) const SCHEDULERS: [&str; 5] = ["asap", "criteria", "aria", "aria-cyclon", "desktop"];

fn begins(number: usize) -> (NodeId, Bootstrap) {
    let bootstrap = match number {
        0 => Bootstrap::Alone,
        _ => Bootstrap::Join(NodeId::new(0).into()),
    };
    (NodeId::new(number as u64), bootstrap)
}

fn asap(number: usize, _: &mut Xoshiro256PlusPlus) -> Asap<20, 8> {
    let (id, bootstrap) = begins(number);
    Asap::new(id, asap::Config::DEFAULT, bootstrap, Everyone).expect("the defaults are sound")
}

fn criteria(number: usize, _: &mut Xoshiro256PlusPlus) -> Criteria<20, 8, 10, OnlyStandard> {
    let (id, bootstrap) = begins(number);
    // Two towns.
    let east = 30_000 * (number as i32 % 2);
    let profile = Profile::at(Coordinate::at([east + 100 * number as i32, 0, 0]));
    let config = criteria::Config::DEFAULT;
    Criteria::new(id, config, bootstrap, profile, OnlyStandard, Everyone)
        .expect("the defaults are sound")
}

fn aria(number: usize, _: &mut Xoshiro256PlusPlus) -> Aria<SiteQueue> {
    site(number, aria::Config::DEFAULT)
}

fn aria_cyclon(number: usize, _: &mut Xoshiro256PlusPlus) -> Aria<SiteQueue> {
    let overlay = aria::Overlay::Cyclon(cyclon::Config::DEFAULT);
    let config = aria::Config {
        overlay,
        ..aria::Config::DEFAULT
    };
    site(number, config)
}

fn site(number: usize, config: aria::Config) -> Aria<SiteQueue> {
    let (id, bootstrap) = begins(number);
    let site = Site {
        dimensions: Dimensions::new(&[]).expect("none is not too many"),
        capability: Capability::none(),
        membership: Membership::default(),
        local: SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 99),
    };
    Aria::new(id, config, bootstrap, site).expect("the defaults are sound")
}

fn desktop(number: usize, rng: &mut Xoshiro256PlusPlus) -> Desktop<3> {
    let (id, bootstrap) = match number {
        0 => (NodeId::new(0), desktop::Bootstrap::Alone),
        _ => {
            let first = NodeId::new(0);
            (
                NodeId::new(number as u64),
                desktop::Bootstrap::Join(first.into()),
            )
        }
    };
    let names = [("cores", Kind::Amount), ("memory", Kind::Amount)];
    let dimensions = Dimensions::new(&names).expect("two are not too many");
    let most = dimensions.capability(&[64, 64]).expect("there are two");
    let cores = dimensions.named("cores").expect("there are cores");
    let has = [2 + number as u64 % 4, 8];
    let equipment = Equipment {
        capability: dimensions.capability(&has).expect("there are two"),
        cores,
        speed: Speed::BASELINE,
        dimensions,
    };
    Desktop::new(id, desktop::Config::new(most), bootstrap, equipment, rng)
        .expect("the defaults are sound")
}

/// A job for one node.
fn one(number: u32) -> Job {
    let takes = Span::from_secs(120 + 60 * u64::from(number % 5));
    let (id, one) = (JobId::new(number.into()), Demand::Nodes(NonZeroU32::MIN));
    let mut job = Job::new(id, one, takes).expect("it takes some time");
    job.retry = Retry::OnNodeLoss(3);
    job
}

/// A job for up to three nodes.
fn several(number: u32) -> Job {
    let nodes = NonZeroU32::MIN.saturating_add(number % 3);
    let mut job = one(number);
    job.demand = Demand::Nodes(nodes);
    job
}

/// The same, and every second one wants its nodes close together.
fn several_near(number: u32) -> Job {
    let mut job = several(number);
    job.criterion = match number % 2 {
        0 => Criterion::Closest,
        _ => Criterion::Soonest,
    };
    job
}

/// What happens next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Alarm<T> {
    /// A node begins this life.
    Boot(usize, u32),
    /// A node goes down.
    Crash(usize),
    /// A timer that a node set in this life.
    Timer(usize, u32, T),
    /// The message of this number arrives.
    Arrival(u32),
    /// A user comes with the job of this number.
    Submission(u32),
    /// What a node runs for a job, in this life, is done.
    Program(usize, u32, JobId, Epoch),
}

/// A message on its way.
struct Message<M> {
    from: NodeId,
    to: usize,
    says: M,
}

/// A node, its disk, and how often it has been started.
struct Node<M: Machine> {
    machine: Option<M>,
    records: BTreeMap<M::Key, M::Record>,
    life: u32,
}

struct Grid<M: Machine, B> {
    build: B,
    job: fn(u32) -> Job,
    nodes: Vec<Node<M>>,
    alarms: TimerQueue<Alarm<M::Timer>>,
    network: BTreeMap<u32, Message<M::Message>>,
    rng: Xoshiro256PlusPlus,
    history: History,
}

impl<M, B> Grid<M, B>
where
    M: Machine<Command = Command, Notice = Notice>,
    B: Fn(usize, &mut Xoshiro256PlusPlus) -> M,
{
    fn new(build: B, job: fn(u32) -> Job, seed: u64) -> Self {
        let node = |_| Node {
            machine: None,
            records: BTreeMap::new(),
            life: 0,
        };
        Self {
            build,
            job,
            nodes: (0..NODES).map(node).collect(),
            alarms: TimerQueue::new(),
            network: BTreeMap::new(),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            history: History::default(),
        }
    }

    /// Boots the nodes one after the other, has jobs submitted all over the grid, and goes on until all have had their
    /// last word.
    fn play(mut self, watch: &mut dyn FnMut()) -> History {
        for node in 0..NODES {
            let at = Time::from_secs(30 * node as u64);
            self.alarms.wake(at, Alarm::Boot(node, 1));
        }
        for number in 0..JOBS {
            let at = Time::from_secs(600 + 90 * u64::from(number));
            self.alarms.wake(at, Alarm::Submission(number));
        }
        let (node, down, up) = DOWN;
        self.alarms.wake(down, Alarm::Crash(node));
        self.alarms.wake(up, Alarm::Boot(node, 2));
        while self.history.finished + self.history.failed < JOBS {
            let next = self.alarms.pop_due(END);
            let Some((now, alarm)) = next else { break };
            self.happens(now, alarm);
            watch();
        }
        self.history
    }

    fn happens(&mut self, now: Time, alarm: Alarm<M::Timer>) {
        match alarm {
            Alarm::Boot(node, life) => {
                let machine = (self.build)(node, &mut self.rng);
                self.nodes[node].machine = Some(machine);
                self.nodes[node].life = life;
                for (key, record) in self.nodes[node].records.clone() {
                    self.feed(now, node, Event::Restored(key, record));
                }
                self.feed(now, node, Event::Start);
            }
            Alarm::Crash(node) => self.nodes[node].machine = None,
            Alarm::Timer(node, life, timer) if life == self.nodes[node].life => {
                self.feed(now, node, Event::Timer(timer));
            }
            Alarm::Arrival(number) => {
                if let Some(Message { from, to, says }) = self.network.remove(&number) {
                    let message = says;
                    self.feed(now, to, Event::Message { from, message });
                }
            }
            Alarm::Submission(number) => {
                let mut job = (self.job)(number);
                job.submitted = now;
                let node = number as usize % NODES;
                self.feed(now, node, Event::Command(Command::submit(job)));
            }
            Alarm::Program(node, life, job, attempt) if life == self.nodes[node].life => {
                let outcome = Outcome::Done;
                let ended = Command::Ended {
                    job,
                    attempt,
                    outcome,
                };
                self.feed(now, node, Event::Command(ended));
            }
            // Of a life that is over.
            Alarm::Timer(..) | Alarm::Program(..) => {}
        }
    }

    /// Gives a node an event, if it is up, and does what it wants.
    fn feed(&mut self, now: Time, node: usize, event: Event<M>) {
        let history = &mut self.history;
        let Some(machine) = &mut self.nodes[node].machine else {
            history.lost += u32::from(matches!(event, Event::Message { .. }));
            return;
        };
        history.events += 1;
        note(history, format_args!("{now:?} {node} {event:?}"));
        let mut effects = EffectQueue::new();
        effects.feed(machine, event, now, &mut self.rng);
        for effect in effects.drain() {
            note(&mut self.history, format_args!("  {effect:?}"));
            self.execute(now, node, effect);
        }
    }

    fn execute(&mut self, now: Time, node: usize, effect: Effect<M>) {
        let life = self.nodes[node].life;
        match effect {
            Effect::Persist(key, record) => {
                self.history.written += 1;
                self.nodes[node].records.insert(key, record);
            }
            Effect::Forget(key) => {
                self.nodes[node].records.remove(&key);
            }
            Effect::Send { to, message } => self.send(now, node, to, &message),
            Effect::Wake { at, timer } => self.alarms.wake(at, Alarm::Timer(node, life, timer)),
            Effect::Cancel(timer) => self.alarms.cancel(Alarm::Timer(node, life, timer)),
            Effect::Notify(Notice { job, news }) => {
                let program = |attempt| Alarm::Program(node, life, job, attempt);
                match news {
                    News::Started { attempt, .. } => {
                        let end = now + Span::from_secs(100);
                        self.alarms.wake(end, program(attempt));
                    }
                    News::Stopped { attempt } => self.alarms.cancel(program(attempt)),
                    News::Finished => self.history.finished += 1,
                    News::Failed(_) | News::Cancelled => self.history.failed += 1,
                    _ => {}
                }
            }
        }
    }

    /// A message in 20 is lost, one in 20 comes twice, and each takes up to a fifth of a second.
    fn send(&mut self, now: Time, node: usize, to: NodeId, says: &M::Message) {
        let number = self.history.sent;
        self.history.sent += 1;
        let copies = match self.rng.below(20) {
            0 => 0,
            1 => 2,
            _ => 1,
        };
        self.history.lost += u32::from(copies == 0);
        self.history.doubled += u32::from(copies == 2);
        for copy in 0..copies {
            let delay = Span::from_micros(1_000 + u64::from(self.rng.below(200_000)));
            let message = Message {
                from: NodeId::new(node as u64),
                to: to.get() as usize,
                says: says.clone(),
            };
            self.network.insert(2 * number + copy, message);
            self.alarms
                .wake(now + delay, Alarm::Arrival(2 * number + copy));
        }
    }
}

fn note(history: &mut History, line: fmt::Arguments<'_>) {
    // A digest takes everything.
    let _ = history.digest.write_fmt(line);
    let _ = history.digest.write_char('\n');
}
