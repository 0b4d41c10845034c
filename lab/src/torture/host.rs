//! The host of a tortured grid: submits, runs and cancels jobs, makes things go wrong, and tells the oracle all of it.

use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Demand, Failure, Job, News, Notice, Outcome, Refusal};
use gridweave_core::resource::{Capability, Dimensions, Kind, Requirement};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use gridweave_sim::engine::{Checking, Happening, Simulation};
use gridweave_sim::hosting::{self, Breach, Happened, Invariant, Rooms, Terms, Watch, Wish};
use gridweave_sim::network::Network;

use super::dice::{Dice, For};
use super::fault::Fault;
use super::liar::Liar;
use super::player::{self, Player, Role};
use super::report::{Jobs, Report};
use super::scenario::{Equipped, Mishap, PROBE, PROBES, Planned, STALE, Scenario};
use super::subject::Subject;
use super::tortured::Tortured;
use super::witness::{Traced, Witness};

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

/// On how many nodes a job runs at once.
const fn nodes_of(job: &Job) -> u32 {
    match job.demand {
        Demand::Nodes(nodes) => nodes.get(),
        Demand::Cores(_) => 1,
    }
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
    /// How many events there had been at the last check.
    events: u64,
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

/// The simulated nodes of a scenario.
pub(super) fn simulation<M: Subject>(
    scenario: &Scenario,
    witness: &Witness,
) -> Simulation<Player<M>> {
    let seed = scenario.request.seed;
    let network = Network::new(&scenario.network, Dice::new(seed, For::Network, 0).seed());
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
    if scenario.request.group_commit {
        simulation.group_commit(Span::ZERO);
    }
    for at in &scenario.joins {
        simulation.join(*at);
    }
    simulation
}

/// The oracle for a scenario, with its jobs and nodes and the promises it checks.
fn watch<M: Subject>(scenario: &Scenario) -> (Watch, Facts) {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)])
        .expect("two dimensions are not too many");
    let named = |name| dimensions.named(name).expect("it was named just now");
    let (cores, memory) = (named("cores"), named("memory"));
    let all = u64::from(scenario.nodes) + scenario.joins.len() as u64;
    let rooms = (0..all).map(|node| {
        let room = M::room(scenario, NodeId::new(node));
        Capability::none()
            .with(cores, u64::from(room.cores))
            .with(memory, u64::from(room.memory))
    });
    let grace = M::grace(scenario);
    let terms = Terms {
        grace,
        lingers: M::lingers(),
        kept: Fault::all_keep(&scenario.faults),
    };
    let rooms = Rooms::Shared {
        nodes: rooms.collect(),
        dimensions,
    };
    let mut watch = Watch::new(terms, rooms);
    let mut facts = Facts {
        reserves: grace.is_some(),
        jobs: Vec::new(),
    };
    let probes = core::iter::repeat_n(&PROBE, PROBES);
    for (number, planned) in scenario.jobs.iter().chain(probes).enumerate() {
        let number = number as u64;
        let mut dice = Dice::new(scenario.request.seed, For::Job, 1 << 32 | number);
        let mut job = M::job(JobId::new(number), planned.estimate, scenario, &mut dice);
        job.submitted = planned.at;
        let nodes = nodes_of(&job);
        let takes = M::takes(&job);
        let requirement = Requirement::any()
            .with(cores, u64::from(takes.cores))
            .with(memory, u64::from(takes.memory));
        let takes_of_each = Some(Box::new(requirement));
        watch.add(Wish {
            nodes,
            takes: takes_of_each,
        });
        facts.jobs.push((job, takes));
    }
    (watch, facts)
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
            let all = [ending, todo, event].into_iter().flatten();
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
                    self.host.grid.restart(self.host.now, node);
                }
            }
            Todo::Depart(node) => self.depart(node),
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
        let submitted = hosted.job;
        self.host.watch.submitted(job, home);
        self.tell(home, Command::Submit(submitted));
    }

    /// A random node that is up and is not leaving.
    fn some_node(&self, job: usize) -> Option<NodeId> {
        let number = u64::from(self.jobs[job].asked) << 32 | job as u64;
        let mut dice = Dice::new(self.scenario.request.seed, For::Submission, number);
        let fit = self
            .all()
            .filter(|node| self.is_up(*node) && !self.leaving.contains(node));
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
                self.host.grid.crash(at, node);
            }
            Mishap::Doom(effects, down) => {
                self.down_for.insert(node, down);
                self.host.grid.crash_after(at, node, effects);
            }
            Mishap::Gone => {
                self.gone.insert(node);
                self.host.watch.gone(node);
                self.witness.count(Fault::DiskLoss.name());
                self.host.grid.crash(at, node);
            }
            Mishap::Leave => {
                self.leaving.insert(node);
                if self.is_up(node) {
                    self.tell(node, Command::Leave);
                }
                self.todo
                    .insert((self.host.now + OFTEN, Todo::Depart(node)));
            }
        }
    }

    fn depart(&mut self, node: NodeId) {
        if self.gone.contains(&node) {
            return;
        }
        if self.is_up(node) && self.host.grid.may_go(node) {
            self.host.watch.departs(self.host.now, node);
            self.gone.insert(node);
            self.host.watch.gone(node);
            self.witness.count("churn: a node left for good");
            self.host.grid.crash(self.host.now, node);
        } else {
            self.todo
                .insert((self.host.now + OFTEN, Todo::Depart(node)));
        }
    }

    /// Handles all that happened since the last call.
    fn look(&mut self) {
        let mut happenings = Vec::new();
        self.host.grid.take_happenings(&mut happenings);
        for (index, happening) in happenings.iter().enumerate() {
            match *happening {
                Happening::Notice { at, node, notice } => {
                    if let News::Started { attempt, .. } = notice.news {
                        let rest = &happenings[index + 1..];
                        self.expect_a_place(at, node, notice.job, attempt, rest);
                    }
                    self.hear(at, node, notice);
                }
                Happening::Crashed { at, node } => self.went_down(at, node),
                Happening::Started { at, node } => self.came_up(at, node),
                Happening::Unheard { .. } => {}
            }
        }
        if let Some(broken) = self.host.grid.broken().get(self.broken) {
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
            self.host.watch.object(invariant, at, Some(node), what);
        }
    }

    fn went_down(&mut self, at: Time, node: NodeId) {
        self.witness.line(at, &node, format_args!("goes down"));
        // Half of the crashes take the jobs of the node with them, and all that are for good.
        let alone = !self.gone.contains(&node) && self.scenario.crashes_alone(node, at);
        if alone {
            let survive = self.host.outlive(at, node, self.scenario.clock(node));
            self.witness
                .add("job: goes on without its machine", survive as u64);
        } else {
            let interrupted = self.host.watch.crashed(at, node);
            let interrupted = interrupted.len() as u64;
            self.witness.add("job: interrupted by a crash", interrupted);
        }
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

    /// Repeats what the node may have missed when it went down. It must remember the jobs that it accepted.
    fn came_up(&mut self, at: Time, node: NodeId) {
        if at == Time::ZERO {
            return;
        }
        if self.is_up(node) {
            self.host.joined(node);
        }
        if node.get() >= u64::from(self.scenario.nodes + self.scenario.replacements) {
            self.witness.count(Fault::Churn.name());
        }
        if self.leaving.contains(&node) && !self.gone.contains(&node) {
            self.tell(node, Command::Leave);
        }
        for number in 0..self.jobs.len() {
            let hosted = &self.jobs[number];
            if hosted.home != Some(node) || self.host.watch.last_word(number).is_some() {
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
            let what = format!("{job} is {news:?}, which was never submitted");
            self.host
                .watch
                .object(Invariant::Known, at, Some(node), what);
            if let News::Started { attempt, .. } = news {
                let end = Todo::EndMadeUp(job, attempt, node);
                self.todo.insert((at + MADE_UP, end));
            }
            return;
        }
        match news {
            News::Started { attempt, until } => self.begin(at, node, number, (attempt, until)),
            News::Extended { attempt, until } => {
                self.witness.count("job: extended");
                let limit = until - self.scenario.clock(node);
                self.host.extend(node, number, attempt, limit);
            }
            News::Stopped { attempt } => {
                self.witness.count("job: stopped");
                self.host.watch.stopped(at, node, number, attempt);
            }
            News::Accepted { .. } => {
                self.witness.count("job: accepted");
                self.jobs[number].accepted = true;
            }
            News::Moved { .. } => self.witness.count("job: moved"),
            News::Orphaned => self.witness.count("job: orphaned"),
            // The host asked again after a crash, since it could not know whether the node had taken the job.
            News::Failed(Failure::Refused(Refusal::Known)) if self.jobs[number].asked > 1 => {}
            News::Failed(Failure::Refused(Refusal::Leaving)) => {
                self.witness.count("job: refused by a node that leaves");
                self.jobs[number].home = None;
                self.host.watch.not_taken(number);
                self.todo.insert((at, Todo::Submit(number)));
            }
            _ if news.is_last() => {
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
                self.host.watch.said(at, node, number, news);
            }
            _ => self.witness.count("job: other news"),
        }
    }

    /// If jobs run under reservations, an attempt that begins must have one, unless it is stopped in the same event.
    fn expect_a_place(
        &mut self,
        at: Time,
        node: NodeId,
        job: JobId,
        attempt: Epoch,
        rest: &[Happened],
    ) {
        let news = News::Stopped { attempt };
        let stopped = Notice { job, news };
        let is_stopped = rest.iter().any(|happening| {
            matches!(happening, Happening::Notice { node: by, notice, .. } if (*by, *notice) == (node, stopped))
        });
        if self.facts.reserves
            && self.is_up(node)
            && self.host.grid.attempt(node, job) != Some(attempt)
            && !is_stopped
        {
            let what = format!("{job} begins without a place");
            self.host
                .watch
                .object(Invariant::Room, at, Some(node), what);
        }
    }

    fn begin(&mut self, at: Time, node: NodeId, number: usize, (attempt, until): (Epoch, Time)) {
        // If the node went down while it told of the start, the job does not run.
        if !self.is_up(node) {
            return;
        }
        let hosted = &mut self.jobs[number];
        hosted.starts += 1;
        self.witness.count("job: started");
        let mut runs = hosted.planned.runs;
        if self.scenario.slow.contains(&node) && at < self.scenario.calm {
            runs = runs.times(3);
        }
        let ends = (runs, hosted.planned.outcome);
        let limit = until - self.scenario.clock(node);
        self.host.begin(at, node, number, (attempt, limit), ends);
    }

    fn report(mut self) -> Report {
        let (mishaps, met) = (
            self.host.grid.network().mishaps(),
            self.host.grid.network().trouble_met(),
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
                (
                    self.host.watch.last_word(job),
                    self.host.watch.is_orphaned(job),
                )
            });
        let (mut counters, trace) = self.witness.take();
        counters.add("job: its last word said again", self.host.watch.repeated());
        let all: Vec<NodeId> = self.all().collect();
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
            if !self.is_up(*node) {
                continue;
            }
            self.host.grid.count(*node, &mut counters);
            for peer in self.host.grid.knows(*node) {
                liar_links[0] += u64::from(self.scenario.liars.contains(&peer));
                liar_links[1] += 1;
            }
        }
        let kinds = self.host.grid.traffic().kinds().iter();
        let sent: Vec<(String, u64)> = kinds
            .map(|(name, traffic)| (name.clone(), traffic.messages))
            .collect();
        let breach: Option<Breach> = self.host.watch.breach().cloned();
        Report {
            request: self.scenario.request.clone(),
            faults: self.scenario.faults.clone(),
            breach,
            counters,
            sent,
            jobs: self.tally,
            liar_links,
            ended: self.host.now,
            events: self.host.grid.events(),
            digest: self.host.grid.digest(),
            trace,
        }
    }

    fn jobs_by_home(&self) -> Vec<Option<NodeId>> {
        let planned = self.jobs.iter().take(self.scenario.jobs.len());
        planned.map(|job| job.home).collect()
    }
}

mod calm;

#[cfg(test)]
mod tests;
