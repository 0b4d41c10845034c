//! The commit protocol in runs that are too long for a model checker: ten coordinators and ten participants, with
//! crashes, over a bad network.

use gridweave_core::admission::Needs;
use std::collections::{BTreeMap, BTreeSet};

use crate::invariants::{Executions, Observation};
use crate::steps;
use gridweave_core::commit::coordinator::{self, Notice as Told, Setback};
use gridweave_core::commit::participant::{self, Cause, Notice as Heard};
use gridweave_core::commit::{
    Candidate, Command, Config, Everyone, Node, Notice, Overrun, Permission,
};
use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Outcome, Payload, Submitter};
use gridweave_core::rng::Choose;
use gridweave_core::schedule::{Attempt, Reservation, Status};
use gridweave_core::time::{Interval, Span, Time};
use gridweave_sim::engine::{Checking, Happening, Simulation};
use gridweave_sim::network::{Delay, Network, NetworkConfig};
use proptest::prop_assert;
use proptest::prop_assert_eq;
use proptest::test_runner::TestCaseError;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

const NODES: u64 = 10;
/// Far more than any sound run has.
const MOST_EVENTS: u64 = 100_000;

/// Minutes instead of hours, so that much happens.
const CONFIG: Config = Config {
    lease: Span::from_secs(6),
    max_delay: Span::from_secs(1),
    max_skew: Span::from_secs(1),
    retry: Span::from_millis(1500),
    jitter: Span::from_millis(500),
    retries: 3,
    lead: Span::from_secs(5),
    grace: Span::from_secs(20),
    permission: Permission::Renewed(Span::from_secs(30)),
    retention: Span::from_secs(120),
    ..Config::DEFAULT
};

/// Up to two extensions of 15 s each.
pub const EXTEND: Overrun = Overrun::Extend {
    by: Span::from_secs(15),
    times: 2,
};

/// How much goes wrong in a run.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// The seed of all random choices.
    pub seed: u64,
    /// How many jobs there are.
    pub jobs: u64,
    /// How many of a hundred messages are lost.
    pub lost: u32,
    /// How many of a hundred messages come twice.
    pub doubled: u32,
    /// How many of a hundred messages are held up.
    pub held_up: u32,
    /// How many nodes crash.
    pub crashes: u32,
    /// Jobs run for 20 s and up to this many seconds more; they have reserved 60 s.
    pub spread: u64,
    /// What happens to a job that needs more time.
    pub overrun: Overrun,
}

/// What happened in a run, faults included.
#[derive(Default, Debug)]
pub struct Ledger {
    placed: BTreeSet<Attempt>,
    coordinators: BTreeMap<JobId, NodeId>,
    running: BTreeMap<(NodeId, JobId), Attempt>,
    executions: Executions,
    /// How many nodes a job wants at a start; the fewest, if two of its candidates have the same start.
    gangs: BTreeMap<(JobId, Time), usize>,
    /// The attempts that each node holds and has not committed.
    held: BTreeMap<NodeId, Vec<Attempt>>,
    /// When the first reservation of an attempt that began ends.
    ends: BTreeMap<(NodeId, Attempt), Time>,
    /// Attempts that ran beyond that end.
    pub overran: BTreeSet<(NodeId, Attempt)>,
    /// How often an attempt was cut at its end.
    pub cut: u64,
    /// How often an attempt began on a node.
    pub begun: u64,
    /// Jobs that are done.
    pub finished: BTreeSet<JobId>,
    /// How often a job could not be placed.
    pub unplaced: u64,
    expired: u64,
    /// How many nodes crashed.
    pub crashed: u64,
    cleared: BTreeSet<JobId>,
    /// What should not have happened.
    pub faults: Vec<String>,
}

impl Ledger {
    fn observe(&mut self, at: Time, seen: Observation) {
        if let Err(broken) = self.executions.observe(seen) {
            self.faults.push(format!("{at:?}: {broken:?} by {seen:?}"));
        }
    }

    fn commit(&mut self, at: Time, node: NodeId, Attempt { job, epoch }: Attempt) {
        self.observe(at, Observation::Committed { job, epoch, node });
    }

    /// Takes note of what is in the schedule of a node.
    fn look<'a>(&mut self, at: Time, node: NodeId, all: impl Iterator<Item = &'a Reservation>) {
        let mut held = Vec::new();
        for reservation in all {
            match reservation.status {
                Status::Held { .. } => held.push(reservation.attempt),
                Status::Committed => self.commit(at, node, reservation.attempt),
            }
        }
        self.held.insert(node, held);
    }

    /// The attempts on a node that are over have stopped.
    fn stop(&mut self, at: Time, node: NodeId, is_over: impl Fn(Attempt) -> bool) {
        let running = self.running.iter();
        let over = running.filter(|((place, _), attempt)| *place == node && is_over(**attempt));
        let over: Vec<Attempt> = over.map(|(_, attempt)| *attempt).collect();
        for Attempt { job, epoch } in over {
            self.running.remove(&(node, job));
            self.observe(at, Observation::Stopped { job, epoch, node });
        }
    }

    fn crash(&mut self, at: Time, node: NodeId) {
        self.crashed += 1;
        self.stop(at, node, |_| true);
        // The node may have committed, and sent that, just before it crashed.
        for attempt in self.held.remove(&node).unwrap_or_default() {
            self.commit(at, node, attempt);
        }
    }

    fn hear(&mut self, at: Time, node: NodeId, notice: &Notice) {
        match *notice {
            Notice::Coordinator(Told::Placed { job, ref placement }) => {
                self.placed.insert(Attempt::new(job, placement.attempt));
                self.coordinators.insert(job, node);
            }
            Notice::Coordinator(Told::Unplaced { setback, .. }) => {
                self.unplaced += 1;
                self.expired += u64::from(matches!(setback, Setback::Expired { .. }));
            }
            Notice::Coordinator(Told::Finished { job }) => {
                if !self.finished.insert(job) {
                    self.faults.push(format!("{at:?}: {job} is finished twice"));
                }
            }
            Notice::Coordinator(Told::Cleared { job }) => {
                self.cleared.insert(job);
            }
            Notice::Participant(Heard::Begin {
                attempt,
                ref assignment,
                ..
            }) => {
                self.begun += 1;
                let end = assignment
                    .get()
                    .placement
                    .end
                    .expect("it has a reservation");
                self.ends.insert((node, attempt), end);
                if !self.placed.contains(&attempt) {
                    self.faults.push(format!(
                        "{at:?}: {node} starts {attempt:?} before all have committed"
                    ));
                }
                let here = self.running.iter().filter(|((place, _), _)| *place == node);
                for (_, other) in here {
                    self.faults.push(format!(
                        "{at:?}: {node} starts {attempt:?} while it runs {other:?}"
                    ));
                }
                let Attempt { job, epoch } = attempt;
                let gang = self
                    .gangs
                    .get(&(job, assignment.get().placement.start))
                    .copied();
                let gang = gang.unwrap_or(usize::MAX);
                let started = Observation::Started {
                    job,
                    epoch,
                    node,
                    gang,
                };
                self.observe(at, started);
                self.running.insert((node, job), attempt);
            }
            Notice::Participant(Heard::Stop { attempt, cause }) => {
                self.cut += u64::from(cause == Cause::Overran);
                self.stop(at, node, |running| running == attempt);
            }
            Notice::Coordinator(Told::Kept { .. })
            | Notice::Participant(
                Heard::Assigned { .. }
                | Heard::Released { .. }
                | Heard::Changed
                | Heard::Extended { .. },
            ) => {}
        }
    }
}

/// The coordinator of every running job must know that the job may run now.
fn watch(ledger: &mut Ledger, grid: &Simulation<Node>) {
    let now = grid.now();
    for (&(node, job), &attempt) in &ledger.running {
        if ledger.ends.get(&(node, attempt)) < Some(&now) {
            ledger.overran.insert((node, attempt));
        }
        let coordinator = ledger.coordinators.get(&job);
        let machine = coordinator.and_then(|coordinator| grid.machine(*coordinator));
        if machine.is_some_and(|machine| machine.coordinator.may_run_until(job, node) < Some(now)) {
            ledger.faults.push(format!(
                "{now:?}: {node} runs {attempt:?} for longer than its coordinator knows"
            ));
        }
    }
}

/// One run: ten coordinators, ten participants, jobs at random times, then calm until everything is over.
pub fn run(weather: Weather) -> (Ledger, Simulation<Node>) {
    steps::watch();
    let share = |percent: u32| f64::from(percent) / 100.0;
    let delay = Delay::Uniform {
        min: Span::from_millis(1),
        max: Span::from_millis(500),
    };
    let network = NetworkConfig {
        delay,
        loss: share(weather.lost),
        duplication: share(weather.doubled),
        reordering: share(weather.held_up),
        held_up: Span::from_millis(500),
        ..NetworkConfig::default()
    };
    let network = Network::new(&network, weather.seed).expect("the network is sound");
    let overrun = weather.overrun;
    let mut grid = Simulation::new(2 * NODES as u32, network, weather.seed, move |_| {
        Node::new(Config { overrun, ..CONFIG }, Everyone)
    });
    grid.check(Checking::EveryEvent);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(weather.seed);
    let mut ledger = Ledger::default();
    let participants: Vec<NodeId> = (NODES..2 * NODES).map(NodeId::new).collect();
    for job in 0..weather.jobs {
        let at = Time::from_secs(u64::from(rng.below(600)));
        let coordinator = NodeId::new(u64::from(rng.below(NODES as u32)));
        let mut candidate = || {
            let mut nodes = participants.clone();
            let count = 1 + rng.index(4);
            let (chosen, _) = Choose::sample(&mut rng, &mut nodes, count);
            let start = at + Span::from_secs(u64::from(10 + rng.below(120)));
            Candidate {
                interval: Interval::starting(start, Span::from_secs(60))
                    .expect("a minute is not empty"),
                nodes: chosen.to_vec(),
            }
        };
        let candidates = [candidate(), candidate(), candidate()];
        for candidate in &candidates {
            let start = (JobId::new(job), candidate.interval.start());
            let gang = ledger.gangs.entry(start).or_insert(usize::MAX);
            *gang = candidate.nodes.len().min(*gang);
        }
        let [first, second, better] = candidates;
        let place = coordinator::Command::Place {
            job: JobId::new(job),
            submitter: Submitter::default(),
            needs: Needs::NOTHING,
            candidates: vec![first, second],
            spares: participants.clone(),
            payload: Payload::EMPTY,
        };
        let improve = coordinator::Command::Improve {
            job: JobId::new(job),
            candidate: better,
            spares: Vec::new(),
        };
        grid.command(at, coordinator, Command::Coordinator(place));
        if job % 3 == 0 {
            grid.command(
                at + Span::from_secs(5),
                coordinator,
                Command::Coordinator(improve),
            );
        }
        if job % 7 == 0 {
            let release = coordinator::Command::Release {
                job: JobId::new(job),
            };
            grid.command(
                at + Span::from_secs(60),
                coordinator,
                Command::Coordinator(release),
            );
        }
    }
    for _ in 0..weather.crashes {
        let node = NodeId::new(u64::from(rng.below(2 * NODES as u32)));
        let at = Time::from_secs(u64::from(rng.below(700)));
        if rng.below(2) == 0 {
            grid.crash(at, node);
        } else {
            grid.crash_after(at, node, rng.below(6));
        }
        grid.restart(at + Span::from_secs(u64::from(1 + rng.below(60))), node);
    }
    // The attempts that end by themselves, by time.
    let mut endings: BTreeSet<(Time, NodeId, Attempt)> = BTreeSet::new();
    // Long enough after the last job for every lease, permission and retention to end.
    let end = Time::from_secs(1500);
    loop {
        let next = grid.next_at().unwrap_or(Time::MAX);
        match endings.first().copied() {
            Some((at, node, attempt)) if at <= next.min(end) => {
                endings.pop_first();
                let outcome = if attempt.job.get() % 11 == 10 {
                    Outcome::Broke
                } else {
                    Outcome::Done
                };
                ledger.stop(at, node, |running| running == attempt);
                let ended = participant::Command::Ended { attempt, outcome };
                grid.command_first(at, node, Command::Participant(ended));
            }
            _ if next <= end => {
                grid.step();
            }
            _ => break,
        }
        if grid.events() > MOST_EVENTS {
            ledger.faults.push("it goes on and on".into());
            break;
        }
        let happenings: Vec<_> = grid.happenings().collect();
        for happening in happenings {
            // A node that gives a notice or restarts may have committed an attempt.
            if let Happening::Notice { at, node, .. } | Happening::Started { at, node } = happening
                && let Some(machine) = grid.machine(node)
            {
                ledger.look(at, node, machine.participant.schedule().iter());
            }
            match happening {
                Happening::Notice { at, node, notice } => {
                    ledger.hear(at, node, &notice);
                    if let Notice::Participant(Heard::Begin { attempt, .. }) = notice {
                        // Most jobs end before their time; some run into its end.
                        let length = Span::from_secs(20 + attempt.job.get() * 7 % weather.spread);
                        endings.insert((at + length, node, attempt));
                    }
                }
                Happening::Crashed { at, node } => ledger.crash(at, node),
                Happening::Unheard { .. }
                | Happening::Started { .. }
                | Happening::Traced { .. } => {}
            }
        }
        watch(&mut ledger, &grid);
    }
    (ledger, grid)
}

/// What must hold after any run.
pub fn sound(ledger: &Ledger, grid: &Simulation<Node>) -> Result<(), TestCaseError> {
    prop_assert!(ledger.faults.is_empty(), "{:?}", ledger.faults);
    prop_assert!(grid.broken().is_empty(), "{:?}", grid.broken().first());
    for node in 0..2 * NODES {
        let Some(machine) = grid.machine(NodeId::new(node)) else {
            continue;
        };
        prop_assert_eq!(
            machine.participant.schedule().len(),
            0,
            "node {} still has reservations",
            node
        );
        prop_assert_eq!(
            machine.coordinator.jobs().count(),
            0,
            "node {} still has jobs",
            node
        );
        // Only the life stays on disk.
        prop_assert_eq!(
            grid.disk(NodeId::new(node)).count(),
            1,
            "node {} remembers too much",
            node
        );
    }
    Ok(())
}

/// A run in which much goes wrong.
pub fn stormy(seed: u64) -> Weather {
    Weather {
        seed,
        jobs: 60,
        lost: 10,
        doubled: 10,
        held_up: 20,
        crashes: 10,
        spread: 50,
        overrun: Overrun::Cut,
    }
}
