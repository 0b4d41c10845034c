//! The host of a tortured grid: it submits, runs and cancels jobs, lets things go wrong, and tells the oracle what happens.

use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::id::{JobId, NodeId};
use gridweave_core::job::{Command, Demand, Failure, Job, News, Notice, Outcome, Refusal};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};

use super::dice::{Dice, For};
use super::fault::Fault;
use super::invariant::{Breach, Invariant};
use super::liar::Liar;
use super::oracle::{Oracle, Terms, Wish};
use super::player::{self, Player, Role};
use super::scenario::{Mishap, Planned, STALE, Scenario};
use super::subject::Subject;
use super::witness::Witness;
use super::{Jobs, Report};
use crate::engine::{Checking, Happening, Simulation};
use crate::network::Network;

/// How often it is looked at whether all is over, or a node may go.
const OFTEN: Span = Span::from_secs(10);

/// How long the calm lasts at most, beside ten times what all jobs would take one after the other: one that overruns begins in each round anew.
const PATIENCE: Span = Span::from_secs(1800);

/// More events than this between two looks never end.
const MOST_EVENTS: u64 = 200_000;

/// How long a job takes that a liar made up.
const MADE_UP: Span = Span::from_secs(5);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Todo {
    /// First of what is to be done at an instant: a job that ends with its reservation has ended.
    End {
        job: usize,
        node: NodeId,
        attempt: u64,
    },
    /// A job that nobody submitted ends.
    EndMadeUp(JobId, NodeId),
    Submit(usize),
    Cancel(usize),
    Mishap(usize),
    ComeUp(NodeId),
    Depart(NodeId),
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

/// A grid and its host.
pub(super) struct Host<M: Subject> {
    scenario: Scenario,
    simulation: Simulation<Player<M>>,
    oracle: Oracle,
    witness: Witness,
    jobs: Vec<Hosted>,
    todo: BTreeSet<(Time, Todo)>,
    now: Time,
    /// How long a node that goes down next stays so.
    down_for: BTreeMap<NodeId, Span>,
    gone: BTreeSet<NodeId>,
    leaving: BTreeSet<NodeId>,
    /// How many events there were at the last look.
    events: u64,
    /// The broken invariants of machines that were taken down.
    broken: usize,
    tally: Jobs,
}

impl<M: Subject> Host<M> {
    fn new(scenario: &Scenario, traces: bool) -> Self {
        let seed = scenario.request.seed;
        let witness = Witness::new(traces);
        let all = scenario.nodes + scenario.joins.len() as u32;
        let network = Network::new(
            &scenario.network,
            all,
            Dice::new(seed, For::Network, 0).seed(),
        );
        let network = network.and_then(|network| network.troubled(scenario.trouble.clone()));
        let network = network.expect("planned networks are sound");
        let mut build = M::build(scenario);
        let (plan, seen, caps) = (scenario.clone(), witness.clone(), M::caps(scenario));
        let player = move |me: NodeId| {
            let role = Role {
                me,
                clock: plan.clock(me),
                caps,
                flaw: plan.request.flaw,
                witness: seen.clone(),
            };
            let lies = plan.liars.contains(&me);
            let liar = lies.then(|| Liar::new(Dice::new(seed, For::Lies, me.get())));
            Player::new(role, build(me), liar)
        };
        let engine = Dice::new(seed, For::Engine, 0).seed();
        let mut simulation = Simulation::new(scenario.nodes, network, engine, player);
        simulation.check(Checking::EveryEvent);
        for at in &scenario.joins {
            simulation.join(*at);
        }
        let terms = Terms {
            grace: M::grace(scenario),
            lingers: M::lingers(),
        };
        let mut oracle = Oracle::new(terms, Fault::all_keep(&scenario.faults));
        for node in (0..u64::from(all)).map(NodeId::new) {
            oracle.equip(node, M::room(scenario, node));
        }
        let mut host = Self {
            scenario: scenario.clone(),
            simulation,
            oracle,
            witness,
            jobs: Vec::new(),
            todo: BTreeSet::new(),
            now: Time::ZERO,
            down_for: BTreeMap::new(),
            gone: BTreeSet::new(),
            leaving: BTreeSet::new(),
            events: 0,
            broken: 0,
            tally: Jobs::default(),
        };
        host.plan();
        host
    }

    /// All that a scenario says happens, until everything is over or something breaks.
    pub(super) fn play(scenario: &Scenario, traces: bool) -> Report {
        let mut host = Self::new(scenario, traces);
        host.run();
        host.report()
    }

    fn plan(&mut self) {
        for number in 0..self.scenario.jobs.len() {
            let planned = self.scenario.jobs[number];
            let mut dice = Dice::new(
                self.scenario.request.seed,
                For::Job,
                1 << 32 | number as u64,
            );
            let id = JobId::new(number as u64);
            let mut job = M::job(id, planned.estimate, &self.scenario, &mut dice);
            job.submitted = planned.at;
            let nodes = match job.demand {
                Demand::Nodes(nodes) => nodes.get(),
                Demand::Cores(_) => 1,
            };
            let takes = M::takes(&job);
            self.oracle.add(Wish { nodes, takes });
            self.jobs.push(Hosted {
                job,
                planned,
                home: None,
                asked: 0,
                accepted: false,
                unwanted: false,
                starts: 0,
            });
            self.todo.insert((planned.at, Todo::Submit(number)));
            if let Some(later) = planned.cancelled {
                self.todo.insert((planned.at + later, Todo::Cancel(number)));
            }
        }
        for (number, (at, ..)) in self.scenario.mishaps.iter().enumerate() {
            self.todo.insert((*at, Todo::Mishap(number)));
        }
        self.todo.insert((Time::ZERO + OFTEN, Todo::Look));
    }

    fn run(&mut self) {
        let work: Span = self.scenario.jobs.iter().map(|job| job.estimate).sum();
        let deadline = self.scenario.calm + PATIENCE + work.times(10);
        // All jobs have come, and nothing goes wrong any more.
        let latest = self.scenario.jobs.iter().map(|job| job.at).max();
        let earliest = self.scenario.calm.max(latest.unwrap_or(Time::ZERO)) + OFTEN;
        self.run_until(earliest);
        while self.oracle.breach().is_none() && self.now < deadline {
            if self.unfinished().is_none() {
                return;
            }
            self.run_until(self.now + OFTEN);
        }
        if self.oracle.breach().is_none()
            && let Some((invariant, what)) = self.unfinished()
        {
            self.oracle.object(invariant, self.now, None, what);
        }
    }

    /// What is not over yet, if anything is not that should be.
    fn unfinished(&self) -> Option<(Invariant, String)> {
        let kept = Fault::all_keep(&self.scenario.faults);
        for (number, job) in self.jobs.iter().enumerate() {
            let by_liar = job
                .home
                .is_some_and(|home| self.scenario.liars.contains(&home));
            let over = self.oracle.last_word(number).is_some() || self.oracle.is_orphaned(number);
            if !over && !by_liar && kept.contains(&Invariant::Outcome) {
                let what = format!(
                    "job {number}, submitted at {:?}, has no last word",
                    job.home
                );
                return Some((Invariant::Outcome, what));
            }
        }
        let up = (0..self.simulation.len() as u64).map(NodeId::new);
        let up = up.filter_map(|node| Some((node, self.simulation.machine(node)?.machine())));
        let up: Vec<(NodeId, &M)> = up.collect();
        if kept.contains(&Invariant::Settled) {
            if let Some(job) = self.oracle.still_running().next() {
                return Some((Invariant::Settled, format!("job {job} still runs")));
            }
            let mut left = up.iter().map(|(node, machine)| (node, machine.left()));
            if let Some((node, left)) = left.find(|(_, left)| *left > 0) {
                let what = format!("{node} still has {left} jobs, places or tasks");
                return Some((Invariant::Settled, what));
            }
        }
        if kept.contains(&Invariant::Overlay) {
            let stay = up.iter().filter(|(node, _)| !self.leaving.contains(node));
            let leave = up
                .iter()
                .filter(|(node, machine)| self.leaving.contains(node) && !machine.may_go());
            let inside: Vec<(NodeId, &M)> = stay.chain(leave).copied().collect();
            if let Err(what) = M::is_whole(&inside) {
                return Some((Invariant::Overlay, what));
            }
        }
        None
    }

    fn run_until(&mut self, end: Time) {
        while self.oracle.breach().is_none() {
            let event = self.simulation.next_at().filter(|at| *at <= end);
            let todo = self.todo.first().copied().filter(|(at, _)| *at <= end);
            match (event, todo) {
                (event, Some((at, todo))) if event.is_none_or(|event| at <= event) => {
                    self.todo.pop_first();
                    self.now = self.now.max(at);
                    self.act(todo);
                }
                (Some(event), _) => {
                    self.now = event;
                    self.simulation.step();
                    self.look();
                    if self.simulation.events() - self.events > MOST_EVENTS {
                        let what = format!("more than {MOST_EVENTS} events in {OFTEN}");
                        self.oracle.object(Invariant::Bounded, event, None, what);
                    }
                }
                (None, _) => {
                    self.simulation.run_until(end);
                    self.now = end;
                    return;
                }
            }
        }
    }

    fn is_up(&self, node: NodeId) -> bool {
        self.simulation.machine(node).is_some()
    }

    fn tell(&mut self, node: NodeId, command: Command) {
        self.simulation.command_first(self.now, node, command);
        self.look();
    }

    fn later(&mut self, todo: Todo) {
        self.todo.insert((self.now + Span::from_secs(1), todo));
    }

    fn act(&mut self, todo: Todo) {
        match todo {
            Todo::End { job, node, attempt } => self.end(job, node, attempt),
            Todo::EndMadeUp(job, node) => {
                let outcome = Outcome::Done;
                if self.is_up(node) {
                    self.tell(node, Command::Ended { job, outcome });
                }
            }
            Todo::Submit(job) => self.submit(job),
            Todo::Cancel(job) => {
                let hosted = &mut self.jobs[job];
                hosted.unwanted = true;
                self.oracle.unwanted(job);
                let (home, id) = (hosted.home, hosted.job.id);
                match home {
                    Some(home) if self.is_up(home) => self.tell(home, Command::Cancel(id)),
                    // It is cancelled when the node comes up.
                    Some(_) => {}
                    None => self.later(todo),
                }
            }
            Todo::Mishap(number) => self.go_wrong(number),
            Todo::ComeUp(node) => {
                if !self.gone.contains(&node) {
                    self.simulation.restart(self.now, node);
                }
            }
            Todo::Depart(node) => self.depart(node),
            Todo::Look => {
                self.oracle.look(self.now);
                self.events = self.simulation.events();
                self.todo.insert((self.now + OFTEN, Todo::Look));
            }
        }
    }

    fn end(&mut self, job: usize, node: NodeId, attempt: u64) {
        if !self.oracle.runs(node, job, attempt) {
            return;
        }
        let outcome = self.jobs[job].planned.outcome;
        let broke = outcome == Outcome::Broke;
        self.oracle.ended(self.now, node, job, attempt, broke);
        let job = self.jobs[job].job.id;
        self.tell(node, Command::Ended { job, outcome });
    }

    fn submit(&mut self, job: usize) {
        if self.oracle.last_word(job).is_some() {
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
        let submitted = hosted.job;
        self.oracle.submitted(job, home);
        self.tell(home, Command::Submit(submitted));
    }

    /// A node by chance that is up and stays.
    fn some_node(&self, job: usize) -> Option<NodeId> {
        let number = u64::from(self.jobs[job].asked) << 32 | job as u64;
        let mut dice = Dice::new(self.scenario.request.seed, For::Submission, number);
        let all = (0..self.simulation.len() as u64).map(NodeId::new);
        let fit = all.filter(|node| self.is_up(*node) && !self.leaving.contains(node));
        let fit: Vec<NodeId> = fit.collect();
        dice.pick(&fit).copied()
    }

    fn go_wrong(&mut self, number: usize) {
        let (at, node, mishap) = self.scenario.mishaps[number];
        if self.gone.contains(&node) {
            return;
        }
        match mishap {
            Mishap::Crash(down) => {
                self.down_for.insert(node, down);
                self.simulation.crash(at, node);
            }
            Mishap::Doom(effects, down) => {
                self.down_for.insert(node, down);
                self.simulation.crash_after(at, node, effects);
            }
            Mishap::Gone => {
                self.gone.insert(node);
                self.oracle.gone(node);
                self.witness.count(Fault::DiskLoss.name());
                self.simulation.crash(at, node);
            }
            Mishap::Leave => {
                self.leaving.insert(node);
                if self.is_up(node) {
                    self.tell(node, Command::Leave);
                }
                self.todo.insert((self.now + OFTEN, Todo::Depart(node)));
            }
        }
    }

    fn depart(&mut self, node: NodeId) {
        if self.gone.contains(&node) {
            return;
        }
        let machine = self.simulation.machine(node);
        if machine.is_some_and(|player| player.machine().may_go()) {
            self.oracle.departs(self.now, node);
            self.gone.insert(node);
            self.oracle.gone(node);
            self.witness.count("churn: a node left for good");
            self.simulation.crash(self.now, node);
        } else {
            self.todo.insert((self.now + OFTEN, Todo::Depart(node)));
        }
    }

    /// Takes in what happened.
    fn look(&mut self) {
        let happenings: Vec<Happening<Player<M>>> = self.simulation.happenings().collect();
        for (place, happening) in happenings.iter().enumerate() {
            match *happening {
                Happening::Notice { at, node, notice } => {
                    if notice.news == News::Started {
                        let rest = &happenings[place + 1..];
                        self.expect_a_place(at, node, notice.job, rest);
                    }
                    self.hear(at, node, notice);
                }
                Happening::Crashed { at, node } => self.went_down(at, node),
                Happening::Started { at, node } => self.came_up(at, node),
                Happening::Unheard { .. } => {}
            }
        }
        if let Some(broken) = self.simulation.broken().get(self.broken) {
            self.broken += 1;
            let caps = [
                player::MOST_BYTES,
                player::MOST_EFFECTS,
                player::MOST_RECORDS,
                player::MOST_TIMERS,
            ];
            let is_cap = caps.contains(&broken.violation.invariant);
            let invariant = if is_cap {
                Invariant::Bounded
            } else {
                Invariant::State
            };
            let what = broken.violation.to_string();
            let (at, node) = (broken.at, broken.node);
            self.oracle.object(invariant, at, Some(node), what);
        }
    }

    fn went_down(&mut self, at: Time, node: NodeId) {
        self.witness.line(at, &node, format_args!("goes down"));
        let interrupted = self.oracle.down(at, node);
        self.witness.add("job: interrupted by a crash", interrupted);
        if self.gone.contains(&node) {
            return;
        }
        let down = self.down_for.remove(&node).unwrap_or(Span::from_secs(1));
        let up = (at + down).min(self.scenario.calm.max(at + Span::from_secs(1)));
        if up - at >= STALE {
            self.witness.count(Fault::Stale.name());
        } else {
            self.witness.count(Fault::Crash.name());
        }
        self.todo.insert((up, Todo::ComeUp(node)));
    }

    /// Whatever the node was told before it went down, it may not have heard; but what it accepted it must not forget.
    fn came_up(&mut self, at: Time, node: NodeId) {
        if at == Time::ZERO {
            return;
        }
        if node.get() >= u64::from(self.scenario.nodes + self.scenario.replacements) {
            self.witness.count(Fault::Churn.name());
        }
        if self.leaving.contains(&node) && !self.gone.contains(&node) {
            self.tell(node, Command::Leave);
        }
        for number in 0..self.jobs.len() {
            let hosted = &self.jobs[number];
            if hosted.home != Some(node) || self.oracle.last_word(number).is_some() {
                continue;
            }
            if !hosted.accepted {
                self.todo.insert((at, Todo::Submit(number)));
            }
            if hosted.unwanted {
                self.todo.insert((at, Todo::Cancel(number)));
            }
        }
    }

    fn hear(&mut self, at: Time, node: NodeId, Notice { job, news }: Notice) {
        let number = usize::try_from(job.get()).unwrap_or(usize::MAX);
        let known = self.jobs.get(number).is_some_and(|job| job.asked > 0);
        if !known {
            let what = format!("{job} is {news:?}, which nobody submitted");
            self.oracle.object(Invariant::Known, at, Some(node), what);
            if news == News::Started {
                let end = Todo::EndMadeUp(job, node);
                self.todo.insert((at + MADE_UP, end));
            }
            return;
        }
        match news {
            News::Started => self.begin(at, node, number),
            News::Stopped => {
                self.witness.count("job: stopped");
                self.oracle.stopped(at, node, number);
            }
            News::Accepted { .. } => {
                self.witness.count("job: accepted");
                self.jobs[number].accepted = true;
            }
            News::Moved { .. } => self.witness.count("job: moved"),
            News::Orphaned => self.witness.count("job: orphaned"),
            // Asked again by a host that could not know whether it was heard.
            News::Failed(Failure::Refused(Refusal::Known)) if self.jobs[number].asked > 1 => {}
            News::Failed(Failure::Refused(Refusal::Leaving)) => {
                self.witness.count("job: refused by a node that leaves");
                self.jobs[number].home = None;
                self.oracle.not_taken(number);
                self.todo.insert((at, Todo::Submit(number)));
            }
            News::Finished | News::Failed(_) | News::Cancelled => {
                self.witness.count(match news {
                    News::Finished => "job: finished",
                    News::Cancelled => "job: cancelled",
                    News::Failed(Failure::Refused(Refusal::Full)) => "job: refused, full",
                    News::Failed(Failure::Refused(_)) => "job: refused",
                    News::Failed(Failure::NodeLost) => "job: failed, node lost",
                    News::Failed(Failure::Overran) => "job: failed, overran",
                    News::Failed(Failure::Broke) => "job: failed, broke",
                    _ => "job: failed",
                });
                self.oracle.said(at, node, number, news);
            }
        }
    }

    /// Where jobs run in places that were confirmed, one that begins has such a place, unless it is stopped in the same breath.
    fn expect_a_place(
        &mut self,
        at: Time,
        node: NodeId,
        job: JobId,
        rest: &[Happening<Player<M>>],
    ) {
        let Some(player) = self.simulation.machine(node) else {
            return;
        };
        let stopped = Notice {
            job,
            news: News::Stopped,
        };
        let is_stopped = rest.iter().any(|happening| {
            matches!(happening, Happening::Notice { node: by, notice, .. } if (*by, *notice) == (node, stopped))
        });
        if M::grace(&self.scenario).is_some()
            && player.machine().attempt(job).is_none()
            && !is_stopped
        {
            let what = format!("{job} begins without a place");
            self.oracle.object(Invariant::Room, at, Some(node), what);
        }
    }

    fn begin(&mut self, at: Time, node: NodeId, number: usize) {
        // Who goes down while it says so runs nothing.
        let Some(player) = self.simulation.machine(node) else {
            return;
        };
        let hosted = &mut self.jobs[number];
        let attempt = if M::grace(&self.scenario).is_none() {
            hosted.starts + 1
        } else {
            // It was stopped in the same breath.
            let Some(attempt) = player.machine().attempt(hosted.job.id) else {
                return;
            };
            attempt
        };
        hosted.starts += 1;
        self.witness.count("job: started");
        let mut runs = hosted.planned.runs;
        if self.scenario.slow.contains(&node) && at < self.scenario.calm {
            runs = runs.times(3);
        }
        self.oracle.began(at, node, number, attempt);
        let job = number;
        self.todo
            .insert((at + runs, Todo::End { job, node, attempt }));
    }

    fn report(mut self) -> Report {
        let (mishaps, met) = (
            self.simulation.network().mishaps(),
            self.simulation.network().trouble_met(),
        );
        for (fault, count) in [
            (Fault::Loss, mishaps.lost),
            (Fault::Duplication, mishaps.duplicated),
            (Fault::Reordering, mishaps.held_up),
            (Fault::Delay, met.late),
            (Fault::OneWay, met.cut_one_way),
            (Fault::Partition, met.cut),
            (Fault::Slow, met.slowed),
        ] {
            self.witness.add(fault.name(), count);
        }
        self.tally
            .take(&self.scenario, &self.jobs_by_home(), |job| {
                (self.oracle.last_word(job), self.oracle.is_orphaned(job))
            });
        let (mut counters, trace) = self.witness.take();
        counters.add("job: its last word said again", self.oracle.repeated());
        let all: Vec<NodeId> = (0..self.simulation.len() as u64).map(NodeId::new).collect();
        let mut clocks: Vec<Span> = all.iter().map(|node| self.scenario.clock(*node)).collect();
        clocks.sort_unstable();
        clocks.dedup();
        if self.scenario.has(Fault::FarClocks) {
            counters.add(Fault::FarClocks.name(), clocks.len() as u64 - 1);
        } else {
            counters.add(Fault::Skew.name(), clocks.len() as u64 - 1);
        }
        counters.add(Fault::Full.name(), counters.get("job: refused, full"));
        let bad = counters.get("job: failed, broke") + counters.get("job: failed, overran");
        counters.add(Fault::BadJobs.name(), bad);
        counters.add(Fault::Cancels.name(), counters.get("job: cancelled"));
        let lies = counters
            .iter()
            .filter(|(name, _)| name.starts_with("lie: "));
        let lies = lies.map(|(_, count)| count).sum();
        counters.add(Fault::Liars.name(), lies);
        let mut liar_links = [0, 0];
        for node in all
            .iter()
            .filter(|node| !self.scenario.liars.contains(node))
        {
            let Some(player) = self.simulation.machine(*node) else {
                continue;
            };
            player.machine().count(&mut counters);
            for peer in player.machine().knows() {
                liar_links[0] += u64::from(self.scenario.liars.contains(&peer));
                liar_links[1] += 1;
            }
        }
        let kinds = self.simulation.traffic().kinds().iter();
        let sent: Vec<(&'static str, u64)> = kinds
            .map(|(name, traffic)| (*name, traffic.messages))
            .collect();
        let breach: Option<Breach> = self.oracle.breach().cloned();
        Report {
            request: self.scenario.request.clone(),
            faults: self.scenario.faults.clone(),
            breach,
            counters,
            sent,
            jobs: self.tally,
            liar_links,
            ended: self.now,
            events: self.simulation.events(),
            digest: self.simulation.digest(),
            trace,
        }
    }

    fn jobs_by_home(&self) -> Vec<Option<NodeId>> {
        self.jobs.iter().map(|job| job.home).collect()
    }
}

#[cfg(test)]
mod tests;
