//! The host of a tortured grid: submits, runs and cancels jobs, makes things go wrong, and tells the oracle all of it.

mod calm;
mod foreign;
mod hearing;
mod mishaps;
mod setup;
mod tally;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Job, Outcome, Payload};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use gridweave_sim::hosting::{self, Invariant, Watch};

use super::dice::{Dice, For};
use super::fault::Fault;
use super::report::{Jobs, Report};
use super::scenario::{Equipped, Planned, Scenario};
use super::site::ForeignSite;
use super::subject::Subject;
use super::tortured::Tortured;
use super::witness::{Traced, Witness};
use setup::{nodes_of, simulation, watch};

/// How often the host checks whether the run is over, and whether a leaver may go.
const OFTEN: Span = Span::from_secs(10);

/// The calm lasts at most this and ten times the sum of all estimates: a job that overruns begins anew in each round.
const PATIENCE: Span = Span::from_secs(1800);

/// More events than this between two checks count as an endless loop.
const MOST_EVENTS: u64 = 200_000;

/// How long a job runs that a liar made up.
const MADE_UP: Span = Span::from_secs(5);

/// What comes next. What is due at the same instant comes in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Next {
    End,
    Site(NodeId),
    Todo,
    Event,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Todo {
    /// The end of a job that a liar made up.
    EndMadeUp(JobId, Epoch, NodeId),
    Submit(usize),
    Cancel(usize),
    Mishap(usize),
    ComeUp(NodeId),
    Depart(NodeId),
    Resume(NodeId),
    Look,
}

/// A job, as its host sees it.
#[derive(Clone, Debug)]
struct Hosted {
    job: Job,
    planned: Planned,
    home: Option<NodeId>,
    asked: u32,
    accepted: bool,
    unwanted: bool,
    starts: u64,
}

impl Hosted {
    const fn new(job: Job, planned: Planned) -> Self {
        Self {
            job,
            planned,
            home: None,
            asked: 0,
            accepted: false,
            unwanted: false,
            starts: 0,
        }
    }
}

/// The payload of a job, by its number.
fn payload_of(job: usize) -> Payload {
    Payload::new(&job.to_le_bytes()).expect("it is short")
}

/// What is fixed before the run begins.
#[derive(Clone, Debug)]
struct Facts {
    /// Whether jobs run under confirmed reservations.
    reserves: bool,
    /// The jobs, and what each takes of its nodes; the probes of the calm come last.
    jobs: Vec<(Job, Equipped)>,
}

/// A grid and its host.
pub(super) struct Host<'a> {
    scenario: Scenario,
    facts: Facts,
    host: hosting::Host<'a, dyn Tortured>,
    witness: Witness,
    jobs: Vec<Hosted>,
    todo: BTreeSet<(Time, Todo)>,
    /// How long a node stays down, from its next crash on.
    down_for: BTreeMap<NodeId, Span>,
    gone: BTreeSet<NodeId>,
    leaving: BTreeSet<NodeId>,
    /// Nodes that were drained, and shall not take jobs yet.
    draining: BTreeSet<NodeId>,
    /// The sites that are not their nodes' own.
    sites: BTreeMap<NodeId, ForeignSite>,
    /// How many events there had been at the last check.
    events: u64,
    /// The attempts that nodes were told to run, and that have neither begun nor been released.
    assigned: BTreeSet<(NodeId, usize, Epoch)>,
    /// How many broken invariants of machines were already reported.
    broken: usize,
    tally: Jobs,
}

/// Runs a scenario with the nodes of one scheduler, with a trace if wanted.
pub(crate) type Play = fn(&Scenario, Traced) -> Report;

/// Runs a scenario until everything is over or an invariant breaks.
pub(crate) fn play<M: Subject>(scenario: &Scenario, traced: Traced) -> Report {
    let witness = Witness::new(traced);
    let mut simulation = simulation::<M>(scenario, &witness);
    let (watch, facts) = watch::<M>(scenario);
    let mut host = Host::new(scenario, facts, &mut simulation, watch, witness);
    host.run();
    host.report()
}

impl<'a> Host<'a> {
    fn new(
        scenario: &Scenario,
        facts: Facts,
        grid: &'a mut dyn Tortured,
        watch: Watch,
        witness: Witness,
    ) -> Self {
        let mut host = Self {
            scenario: scenario.clone(),
            facts,
            host: hosting::Host::new(grid, watch),
            witness,
            jobs: Vec::new(),
            todo: BTreeSet::new(),
            down_for: BTreeMap::new(),
            gone: BTreeSet::new(),
            leaving: BTreeSet::new(),
            draining: BTreeSet::new(),
            sites: BTreeMap::new(),
            assigned: BTreeSet::new(),
            events: 0,
            broken: 0,
            tally: Jobs::default(),
        };
        host.plan();
        host
    }

    fn plan(&mut self) {
        for number in 0..self.scenario.jobs.len() {
            let planned = self.scenario.jobs[number];
            let (job, _) = self.facts.jobs[number];
            self.jobs.push(Hosted::new(job, planned));
            self.todo.insert((planned.at, Todo::Submit(number)));
            if let Some(later) = planned.cancelled {
                self.todo.insert((planned.at + later, Todo::Cancel(number)));
            }
        }
        for (number, (at, ..)) in self.scenario.mishaps.iter().enumerate() {
            self.todo.insert((*at, Todo::Mishap(number)));
        }
        self.todo.insert((Time::ZERO + OFTEN, Todo::Look));
        let foreign = self.scenario.foreign.iter();
        let sites = foreign.map(|node| (*node, ForeignSite::new(&self.scenario, *node)));
        self.sites = sites.collect();
    }

    fn run(&mut self) {
        let work: Span = self.scenario.jobs.iter().map(|job| job.estimate).sum();
        let deadline = self.scenario.calm + PATIENCE + work.times(10);
        // By then all jobs have come, and nothing goes wrong any more.
        let latest = self.scenario.jobs.iter().map(|job| job.at).max();
        let earliest = self.scenario.calm.max(latest.unwrap_or(Time::ZERO)) + OFTEN;
        self.run_until(earliest);
        while self.host.watch.breach().is_none() && self.host.now < deadline {
            if self.unfinished().is_none() {
                return self.rest();
            }
            self.introduce_parts();
            self.run_until(self.host.now + OFTEN);
        }
        if self.host.watch.breach().is_none()
            && let Some((invariant, what)) = self.unfinished()
        {
            self.host.watch.object(invariant, self.host.now, None, what);
        }
    }

    /// What should be over and is not, with the invariant that says so.
    fn unfinished(&self) -> Option<(Invariant, String)> {
        let kept = Fault::all_keep(&self.scenario.faults);
        for (number, job) in self.jobs.iter().enumerate() {
            let by_liar = job
                .home
                .is_some_and(|home| self.scenario.liars.contains(&home));
            let over =
                self.host.watch.last_word(number).is_some() || self.host.watch.is_orphaned(number);
            if !over && !by_liar && kept.contains(&Invariant::Outcome) {
                let what = format!(
                    "job {number}, submitted at {:?}, has no last word",
                    job.home
                );
                return Some((Invariant::Outcome, what));
            }
        }
        let up: Vec<NodeId> = self.all().filter(|node| self.is_up(*node)).collect();
        if kept.contains(&Invariant::Settled) {
            if let Some(job) = self.host.watch.still_running() {
                return Some((Invariant::Settled, format!("job {job} still runs")));
            }
            let mut left = up.iter().map(|node| (node, self.host.grid.left(*node)));
            if let Some((node, left)) = left.find(|(_, left)| *left > 0) {
                let what = format!("{node} still has {left} jobs, places or tasks");
                return Some((Invariant::Settled, what));
            }
        }
        if kept.contains(&Invariant::Told)
            && let Some((node, job, attempt)) = self.assigned.first()
        {
            let what = format!("{node} still expects attempt {attempt} at job {job}");
            return Some((Invariant::Told, what));
        }
        if kept.contains(&Invariant::Overlay) {
            let leaves = |node: &NodeId| self.leaving.contains(node);
            let (leave, stay): (Vec<NodeId>, Vec<NodeId>) = up.into_iter().partition(leaves);
            let leave = leave
                .into_iter()
                .filter(|node| !self.host.grid.may_go(*node));
            let inside: Vec<NodeId> = stay.into_iter().chain(leave).collect();
            if let Err(what) = self.host.grid.is_whole(&inside) {
                return Some((Invariant::Overlay, what));
            }
        }
        None
    }

    /// Runs up to `end`. At one instant, ends of jobs come first, so that a job which ends together with its
    /// reservation counts as ended; then planned steps, then events.
    fn run_until(&mut self, end: Time) {
        while self.host.watch.breach().is_none() {
            let ending = self.host.next_end().map(|at| (at, Next::End));
            let todo = self.todo.first().map(|(at, _)| (*at, Next::Todo));
            let event = self.host.grid.next_at().map(|at| (at, Next::Event));
            let site = self
                .next_at_sites()
                .map(|(at, node)| (at, Next::Site(node)));
            let all = [ending, site, todo, event].into_iter().flatten();
            let Some((at, next)) = all.min().filter(|(at, _)| *at <= end) else {
                self.host.grid.run_until(end);
                self.host.now = end;
                return;
            };
            self.host.now = self.host.now.max(at);
            match next {
                Next::End => {
                    self.host.end_next();
                    self.look();
                }
                Next::Site(node) => self.step_at_site(node),
                Next::Todo => {
                    if let Some((_, todo)) = self.todo.pop_first() {
                        self.act(todo);
                    }
                }
                Next::Event => {
                    self.host.grid.step();
                    self.look();
                    if self.host.grid.events() - self.events > MOST_EVENTS {
                        let what = format!("more than {MOST_EVENTS} events in {OFTEN}");
                        let watch = &mut self.host.watch;
                        watch.object(Invariant::Bounded, at, None, what);
                    }
                }
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.host.grid.nodes()).map(NodeId::new)
    }

    fn is_up(&self, node: NodeId) -> bool {
        self.host.grid.is_up(node)
    }

    fn tell(&mut self, node: NodeId, command: Command) {
        self.host.grid.command_first(self.host.now, node, command);
        self.look();
    }

    fn later(&mut self, todo: Todo) {
        self.todo.insert((self.host.now + Span::from_secs(1), todo));
    }

    fn act(&mut self, todo: Todo) {
        match todo {
            Todo::EndMadeUp(job, attempt, node) => {
                let outcome = Outcome::Done;
                if self.is_up(node) {
                    let ended = Command::Ended {
                        job,
                        attempt,
                        outcome,
                    };
                    self.tell(node, ended);
                }
            }
            Todo::Submit(job) => self.submit(job),
            Todo::Cancel(job) => {
                let hosted = &mut self.jobs[job];
                hosted.unwanted = true;
                self.host.watch.unwanted(job);
                let (home, id) = (hosted.home, hosted.job.id);
                match home {
                    Some(home) if self.is_up(home) => self.tell(home, Command::Cancel(id)),
                    // The job is cancelled when the node comes up.
                    Some(_) => {}
                    None => self.later(todo),
                }
            }
            Todo::Mishap(number) => self.go_wrong(number),
            Todo::ComeUp(node) => {
                if !self.gone.contains(&node) {
                    self.name_survivors_at_site(node);
                    if let Some(effects) = self.scenario.falters(node, self.host.now) {
                        self.witness.count("a node goes down while it comes up");
                        self.host.grid.crash_after(self.host.now, node, effects);
                    }
                    self.host.grid.restart(self.host.now, node);
                }
            }
            Todo::Depart(node) => self.depart(node),
            Todo::Resume(node) => self.resume(node),
            Todo::Look => {
                self.host.watch.look(self.host.now);
                self.events = self.host.grid.events();
                self.todo.insert((self.host.now + OFTEN, Todo::Look));
            }
        }
    }

    fn submit(&mut self, job: usize) {
        if self.host.watch.last_word(job).is_some() {
            return;
        }
        let home = match self.jobs[job].home {
            Some(home) if !self.is_up(home) => return,
            Some(home) => Some(home),
            None => self.some_node(job),
        };
        let Some(home) = home else {
            return self.later(Todo::Submit(job));
        };
        let hosted = &mut self.jobs[job];
        hosted.home = Some(home);
        hosted.asked += 1;
        let submit = Command::Submit {
            job: hosted.job,
            payload: payload_of(job),
        };
        self.host.watch.submitted(job, home);
        self.tell(home, submit);
    }

    /// A random node that is up. Most users know which nodes take no jobs; one in eight does not.
    fn some_node(&self, job: usize) -> Option<NodeId> {
        let number = u64::from(self.jobs[job].asked) << 32 | job as u64;
        let dice = |number| Dice::new(self.scenario.request.seed, For::Submission, number);
        let knows = dice(number | 1 << 63).below(8) > 0;
        let refuses = |node: &NodeId| self.leaving.contains(node) || self.draining.contains(node);
        let fit = self
            .all()
            .filter(|node| self.is_up(*node) && !(knows && refuses(node)));
        let fit: Vec<NodeId> = fit.collect();
        dice(number).pick(&fit).copied()
    }
}
