//! An agent: one `asap` node with a socket, a disk, and programs that run for its jobs.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gridweave_core::commit::{self, Everyone, Permission};
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Assignment, Command, Demand, Job, News, Notice, Payload, Survival};
use gridweave_core::machine::{Effect, Event, Host};
use gridweave_core::scheduler::asap::{Asap, Bootstrap, Config};
use gridweave_core::time::{Span, Time};
use gridweave_core::wire;
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};

use super::disk::Disk;
use super::supervisor::{Attempt, clock};
use super::{LIMIT, NODES, Result, TICK};

/// At most 20 links, of which 8 are exchanged at once.
type Node = Asap<20, 8>;

/// A program may run for eight seconds without a message from the node where its job was submitted. An agent that is
/// down for less than five does not count as lost.
const CONFIG: Config = Config {
    commit: commit::Config {
        permission: Permission::Renewed(Span::from_secs(8)),
        retries: 19,
        ..commit::Config::LAN
    },
    ..Config::LAN
};

/// The largest datagram.
const ROOM: usize = 65_507;

struct Agent {
    me: NodeId,
    host: Host<Node>,
    socket: UdpSocket,
    /// The ports of all nodes, and last that of the user.
    ports: Vec<u16>,
    disk: Disk,
    /// Has a folder for each attempt that runs.
    attempts: PathBuf,
    now: Time,
    rng: Xoshiro256PlusPlus,
}

pub(super) fn run(me: usize, ports: &[&str]) -> Result<()> {
    let ports: std::result::Result<Vec<u16>, _> = ports.iter().map(|port| port.parse()).collect();
    let ports = ports?;
    let folder = PathBuf::from(me.to_string());
    let disk = Disk::open(&folder.join("records"))?;
    let attempts = folder.join("attempts");
    fs::create_dir_all(&attempts)?;
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, ports[me]))?;
    socket.set_read_timeout(Some(TICK))?;
    let mut agent = Agent {
        me: NodeId::new(me as u64),
        host: Host::with_records(disk.read()?.into_iter().collect()),
        socket,
        ports,
        disk,
        attempts,
        now: Time::ZERO,
        // A real agent takes the seed from its operating system.
        rng: Xoshiro256PlusPlus::seed_from_u64(clock().as_micros() ^ me as u64),
    };
    agent.boot()?;
    let (began, mut is_joining) = (Instant::now(), true);
    while began.elapsed() < LIMIT {
        agent.look()?;
        agent.ring()?;
        agent.listen()?;
        let node = agent.host.machine().ok_or("it has started")?;
        if is_joining && node.overlay().view().len() + 1 == NODES {
            agent.say("knows the others")?;
            is_joining = false;
        }
    }
    Err("the user has gone away".into())
}

impl Agent {
    /// Starts with the records of an earlier life, and with what became of its programs.
    fn boot(&mut self) -> Result<()> {
        let bootstrap = match self.me.get() {
            0 => Bootstrap::Alone,
            _ => Bootstrap::Join(NodeId::new(0).into()),
        };
        let node = Node::new(self.me, CONFIG, bootstrap, Everyone)?;
        let mut survived = Vec::new();
        for attempt in Attempt::all(&self.attempts)? {
            // The node takes an attempt that is not named for lost.
            if let Some(survival) = attempt.survival() {
                let what = match survival {
                    Survival::Runs { .. } => "still runs",
                    Survival::Ended(_) => "has ended",
                };
                self.say(&format!("job {} {what}", attempt.job.get()))?;
                survived.push(Command::Survived {
                    job: attempt.job,
                    attempt: attempt.number,
                    survival,
                });
            }
        }
        self.now = clock();
        self.host
            .start_with(node, survived, self.now, &mut self.rng);
        self.execute()
    }

    /// Reports the programs that have ended.
    fn look(&mut self) -> Result<()> {
        for attempt in Attempt::all(&self.attempts)? {
            if let Some(outcome) = attempt.outcome() {
                self.feed(Event::Command(Command::Ended {
                    job: attempt.job,
                    attempt: attempt.number,
                    outcome,
                }))?;
                // Its end is among the records now.
                attempt.forget()?;
            }
        }
        Ok(())
    }

    /// All timers that are due.
    fn ring(&mut self) -> Result<()> {
        self.now = self.now.max(clock());
        while self.host.fire(self.now, &mut self.rng).is_some() {
            self.execute()?;
        }
        Ok(())
    }

    /// Waits a little for a datagram: a message, or a job of the user.
    fn listen(&mut self) -> Result<()> {
        let mut room = [0; ROOM];
        // Nothing has come, or an earlier message went to a killed agent.
        let Ok((length, address)) = self.socket.recv_from(&mut room) else {
            return Ok(());
        };
        let mut ports = self.ports.iter();
        match ports.position(|port| *port == address.port()) {
            Some(NODES) => self.submit(std::str::from_utf8(&room[..length])?),
            Some(node) => {
                let from = NodeId::new(node as u64);
                let message = wire::decode(&room[..length])?;
                self.feed(Event::Message { from, message })
            }
            // It is from a stranger.
            None => Ok(()),
        }
    }

    /// A line has the name of the job, how many nodes it wants and for how many seconds, and its program.
    fn submit(&mut self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let [name, nodes, seconds, program] = words[..] else {
            return Err("a job has four words".into());
        };
        let (name, time) = (JobId::new(name.parse()?), Span::from_secs(seconds.parse()?));
        let job = Job::new(name, Demand::Nodes(nodes.parse()?), time)?;
        let payload = Payload::new(program.as_bytes())?;
        self.feed(Event::Command(Command::Submit { job, payload }))
    }

    fn feed(&mut self, event: Event<Node>) -> Result<()> {
        self.now = self.now.max(clock());
        self.host.handle(event, self.now, &mut self.rng);
        self.execute()
    }

    fn execute(&mut self) -> Result<()> {
        while let Some(effect) = self.host.execute() {
            match effect {
                Effect::Persist(key, record) => self.disk.write(&key, &record)?,
                Effect::Forget(key) => self.disk.erase(&key)?,
                Effect::Send { to, message } => {
                    let frame = wire::encode(&message)?;
                    // What cannot be sent is lost: a network may lose messages.
                    let _ = self.send(to.get() as usize, &frame);
                }
                // The host has set its timers.
                Effect::Wake { .. } | Effect::Cancel(_) => {}
                Effect::Notify(Notice { job, news }) => self.hear(job, news)?,
            }
        }
        Ok(())
    }

    /// Starts and stops programs, and tells the user.
    fn hear(&mut self, job: JobId, news: News) -> Result<()> {
        let at = |attempt| Attempt::new(&self.attempts, job, attempt);
        let left = |until: Time| Duration::from(until - self.now).as_secs_f64();
        let name = job.get();
        match news {
            News::Accepted(placement) => self.say(&format!(
                "job {name} is accepted for nodes {:?}",
                placement.get().nodes
            )),
            News::Finished => self.say(&format!("job {name} is done")),
            News::Started {
                attempt,
                until,
                assignment,
            } => {
                let rank = self.begin(&at(attempt), until, assignment.get())?;
                self.say(&format!(
                    "job {name} starts with rank {rank}, for {:.1} s",
                    left(until)
                ))
            }
            News::Extended { attempt, until } => {
                at(attempt).may_run(until)?;
                self.say(&format!("job {name} may run for {:.1} s more", left(until)))
            }
            News::Stopped { attempt } => at(attempt).may_run(Time::ZERO),
            // Nothing is fetched before the start.
            News::Assigned(_) | News::Released { .. } => Ok(()),
            other => self.say(&format!("job {name}: {other:?}")),
        }
    }

    /// Starts the program of an attempt, and returns the rank of this node.
    fn begin(&self, attempt: &Attempt, until: Time, assignment: &Assignment) -> Result<usize> {
        let nodes = &assignment.placement.nodes;
        let rank = nodes.iter().position(|node| *node == self.me);
        let rank = rank.ok_or("a node that runs a job is one of its nodes")?;
        let nodes: Vec<String> = nodes.iter().map(|node| node.get().to_string()).collect();
        let environment = [
            ("GRIDWEAVE_JOB", attempt.job.get().to_string()),
            ("GRIDWEAVE_ATTEMPT", attempt.number.get().to_string()),
            ("GRIDWEAVE_RANK", rank.to_string()),
            ("GRIDWEAVE_NODES", nodes.join(" ")),
        ];
        let program = std::str::from_utf8(assignment.payload.as_bytes())?;
        attempt.begin(program, environment, until)?;
        Ok(rank)
    }

    /// Tells the user.
    fn say(&self, what: &str) -> Result<()> {
        self.send(NODES, what.as_bytes())
    }

    fn send(&self, index: usize, bytes: &[u8]) -> Result<()> {
        let port = *self.ports.get(index).ok_or("all nodes have a port")?;
        self.socket.send_to(bytes, (Ipv4Addr::LOCALHOST, port))?;
        Ok(())
    }
}
