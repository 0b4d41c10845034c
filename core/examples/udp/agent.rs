//! An agent: one `asap` node with a socket, a clock, timers and a disk.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gridweave_core::commit::{self, Everyone, Permission};
use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Demand, Failure, Job, News, Notice, Outcome, Retry};
use gridweave_core::machine::{Effect, Event, Host, TimerQueue};
use gridweave_core::overlay::cyclon;
use gridweave_core::scheduler::asap::{Asap, Bootstrap, Config, Exchange};
use gridweave_core::time::{Span, Time};
use gridweave_core::wire;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::disk::Disk;

/// At most 20 links, of which 8 are exchanged at once.
pub(super) type Node = Asap<20, 8>;

/// How long a job is expected to run, and how long it does.
const ESTIMATE: Span = Span::from_secs(2);
const RUN_TIME: Span = Span::from_millis(700);

/// When a refused job is submitted again: other jobs may have been faster, or a lost node is not detected yet.
const PAUSE: Span = Span::from_millis(500);

/// How long an agent waits for a datagram before it looks for orders.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// The largest datagram.
const ROOM: usize = 65_507;

/// Times for processes of one machine, which answer within half a second: jobs start at quarters of a second.
fn config() -> Config {
    let millis = Span::from_millis;
    Config {
        overlay: cyclon::Config {
            period: millis(500),
            timeout: millis(400),
            ..Config::DEFAULT.overlay
        },
        exchange: Exchange::Push {
            lease: millis(3000),
        },
        slot: millis(250),
        lead: millis(1500),
        timeout: millis(500),
        search_limit: millis(2000),
        // Three of four are busy with others' jobs while a process is down, and ask each other at once.
        rounds: 32,
        // Jobs take two seconds here.
        improve: Some(millis(500)),
        commit: commit::Config {
            lease: millis(2500),
            max_delay: millis(500),
            max_skew: millis(50),
            retry: millis(400),
            jitter: millis(100),
            lead: millis(1000),
            grace: millis(3000),
            permission: Permission::Renewed(millis(4000)),
            ..commit::Config::DEFAULT
        },
        ..Config::DEFAULT
    }
}

/// What an agent is woken by, beside the timers of its machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Alarm {
    /// The program that runs for an attempt at a job is done.
    Program(JobId, Epoch),
    /// A job that found no place may find one now.
    Again(JobId),
}

struct Agent {
    host: Host<Node>,
    socket: UdpSocket,
    disk: Disk,
    /// The address of each peer, by which a sender is also recognised.
    peers: BTreeMap<NodeId, SocketAddr>,
    alarms: TimerQueue<Alarm>,
    /// The jobs that were submitted here.
    jobs: BTreeMap<JobId, Job>,
    /// Microseconds between 1970 and the time zero of the grid.
    origin: u64,
    now: Time,
    rng: Xoshiro256PlusPlus,
}

/// Says its port, takes orders, and does its work until there are no more orders.
pub(super) fn run(id: u64, folder: &Path) -> Result<(), Box<dyn Error>> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{}", socket.local_addr()?.port());
    let orders = orders();
    let bootstrap = match id {
        0 => Bootstrap::Alone,
        _ => Bootstrap::Join(NodeId::new(0).into()),
    };
    let node = Node::new(NodeId::new(id), config(), bootstrap, Everyone)?;
    // The host provides the seed; a real agent would ask its operating system.
    let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64 ^ id;
    let mut agent = Agent {
        host: Host::new(),
        socket,
        disk: Disk::open(folder)?,
        peers: BTreeMap::new(),
        alarms: TimerQueue::new(),
        jobs: BTreeMap::new(),
        origin: 0,
        now: Time::ZERO,
        rng: Xoshiro256PlusPlus::seed_from_u64(seed),
    };
    // It starts only when it knows the addresses of its peers and the origin of time.
    while agent.origin == 0 {
        agent.order(&orders.recv()?)?;
    }
    agent.boot(node)?;
    loop {
        match orders.try_recv() {
            Ok(order) => agent.order(&order)?,
            Err(TryRecvError::Empty) => {
                agent.listen()?;
                agent.ring()?;
            }
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
    }
}

/// The lines of the input, as they come.
fn orders() -> Receiver<String> {
    let (giving, orders) = channel();
    std::thread::spawn(move || {
        for order in std::io::stdin().lock().lines().map_while(Result::ok) {
            if giving.send(order).is_err() {
                return;
            }
        }
    });
    orders
}

impl Agent {
    /// Restores what was persisted, then starts.
    fn boot(&mut self, node: Node) -> Result<(), Box<dyn Error>> {
        let records = self.disk.read()?;
        if !records.is_empty() {
            say(&format!("{} records are on its disk", records.len()))?;
        }
        self.host = Host::with_records(records.into_iter().collect());
        let now = self.clock()?;
        self.host.start(node, now, &mut self.rng);
        self.execute()
    }

    fn order(&mut self, order: &str) -> Result<(), Box<dyn Error>> {
        let words: Vec<&str> = order.split(' ').collect();
        match words.as_slice() {
            ["peer", id, port] => {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse()?));
                self.peers.insert(NodeId::new(id.parse()?), address);
            }
            ["start", origin] => self.origin = origin.parse()?,
            ["submit", id, nodes] => {
                let demand = Demand::Nodes(nodes.parse::<NonZeroU32>()?);
                let mut job = Job::new(JobId::new(id.parse()?), demand, ESTIMATE)?;
                // The agent that is killed takes its job with it.
                job.retry = Retry::OnNodeLoss(3);
                self.jobs.insert(job.id, job);
                self.submit(job.id)?;
            }
            _ => return Err(format!("what is '{order}'?").into()),
        }
        Ok(())
    }

    fn submit(&mut self, job: JobId) -> Result<(), Box<dyn Error>> {
        let mut job = *self.jobs.get(&job).ok_or("it was submitted here")?;
        job.submitted = self.clock()?;
        self.feed(Event::Command(Command::submit(job)))
    }

    /// The time of the grid, which does not go back when the clock of the machine does.
    fn clock(&mut self) -> Result<Time, Box<dyn Error>> {
        let micros = SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros() as u64;
        let now = Time::from_micros(micros.saturating_sub(self.origin));
        self.now = self.now.max(now);
        Ok(self.now)
    }

    /// Waits for a datagram, no longer than until the next alarm.
    fn listen(&mut self) -> Result<(), Box<dyn Error>> {
        let now = self.clock()?;
        let next = [self.host.next_at(), self.alarms.next_at()];
        let next = next
            .into_iter()
            .flatten()
            .min()
            .map_or(LONGEST_WAIT, |at| Duration::from(at - now));
        let wait = next.clamp(Duration::from_millis(1), LONGEST_WAIT);
        self.socket.set_read_timeout(Some(wait))?;
        let mut room = [0; ROOM];
        let (length, address) = match self.socket.recv_from(&mut room) {
            Ok(received) => received,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(());
            }
            // An earlier message went to the port of a killed peer.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // Datagrams from unknown addresses are ignored. (On a real network addresses can be forged.)
        let known = self.peers.iter().find(|(_, peer)| **peer == address);
        let Some((&from, _)) = known else {
            return Ok(());
        };
        match wire::decode(&room[..length]) {
            Ok(message) => self.feed(Event::Message { from, message }),
            Err(refused) => say(&format!("a frame from {address} is refused: {refused}")),
        }
    }

    /// All timers and alarms that are due.
    fn ring(&mut self) -> Result<(), Box<dyn Error>> {
        let now = self.clock()?;
        // A program that ends with its reservation has ended: ends come before timers.
        while let Some((_, alarm)) = self.alarms.pop_due(now) {
            match alarm {
                Alarm::Program(job, attempt) => {
                    let outcome = Outcome::Done;
                    let ended = Command::Ended {
                        job,
                        attempt,
                        outcome,
                    };
                    self.feed(Event::Command(ended))?;
                }
                Alarm::Again(job) => self.submit(job)?,
            }
        }
        while self.host.fire(now, &mut self.rng).is_some() {
            self.execute()?;
        }
        Ok(())
    }

    fn feed(&mut self, event: Event<Node>) -> Result<(), Box<dyn Error>> {
        let now = self.clock()?;
        self.host.handle(event, now, &mut self.rng);
        self.execute()
    }

    /// Executes effects in order: a record is durable before the next effect.
    fn execute(&mut self) -> Result<(), Box<dyn Error>> {
        let now = self.now;
        while let Some(effect) = self.host.execute() {
            match effect {
                Effect::Persist(key, record) => self.disk.write(&key, &record)?,
                Effect::Forget(key) => self.disk.erase(&key)?,
                Effect::Send { to, message } => {
                    let mut room = [0; ROOM];
                    let length = wire::encode_into(&message, &mut room);
                    // A message that is too long, or cannot be sent, is lost: a network may lose messages.
                    if let (Ok(length), Some(address)) = (length, self.peers.get(&to)) {
                        let _ = self.socket.send_to(&room[..length], address);
                    }
                }
                // The host has set its timers.
                Effect::Wake { .. } | Effect::Cancel(_) => {}
                Effect::Notify(Notice { job, news }) => {
                    let number = job.get();
                    match news {
                        News::Failed(Failure::Refused(why)) => {
                            say(&format!("job {number} finds no place: {why}; tries again"))?;
                            self.alarms.wake(now + PAUSE, Alarm::Again(job));
                        }
                        ref news => say(&format!("job {number}: {news:?}"))?,
                    }
                    match news {
                        News::Started { attempt, .. } => {
                            let program = Alarm::Program(job, attempt);
                            self.alarms.wake(now + RUN_TIME, program);
                        }
                        News::Stopped { attempt } => {
                            self.alarms.cancel(Alarm::Program(job, attempt));
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }
}

/// Writes a line for the process that started this agent.
fn say(line: &str) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
