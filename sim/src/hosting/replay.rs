//! Jobs that come one after the other, submitted to nodes drawn at random.

use std::collections::BTreeMap;

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, Failure, Job, News, Notice, Outcome, Refusal};
use gridweave_core::rng::Choose;
use gridweave_core::time::{Span, Time};
use gridweave_core::trace::Tally;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::grounds::Grounds;
use super::invariant::Invariant;
use super::watch::{Rooms, Terms, Watch, Wish, Word};
use super::{Grid, Happened, Host};
use crate::engine::Happening;
use crate::monitor::{Monitor, Progress};

/// The jobs of a replay, in the order in which they come.
pub trait Jobs {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When a job is submitted.
    fn submitted_at(&self, job: usize) -> Time;

    /// The job as machines get it, with its place in this list as its id; `None` if there can be no such job.
    fn job(&self, job: usize) -> Option<Job>;

    /// On how many nodes it runs, and what it takes of each.
    fn wish(&self, job: usize) -> Wish;

    /// How long it runs on a node.
    fn takes(&self, job: usize, node: NodeId) -> Span;
}

/// What is done when a grid is looked at.
pub type Look<'a> = &'a mut dyn FnMut(Time, &dyn Grid);

/// How to replay.
pub struct Replay<'a> {
    /// How jobs take nodes.
    pub rooms: Rooms,
    /// What nodes state of themselves, if they state anything.
    pub grounds: Option<Grounds>,
    /// Decides where jobs are submitted.
    pub seed: u64,
    /// For how long nothing may happen to any job before the rest is given up as lost.
    pub patience: Span,
    /// When it ends at the latest; what would happen then or later does not.
    pub until: Time,
    /// How often to look at the grid, from the beginning on, and what to do then.
    pub observer: Option<(Span, Look<'a>)>,
    /// The job whose life is told.
    pub explained: Option<JobId>,
}

/// What became of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fate {
    /// It ran.
    Ran {
        /// When the last of its nodes began.
        start: Time,
        /// When the last of its nodes ended.
        end: Time,
    },
    /// It was never taken: no such grid could run it.
    Rejected(Refusal),
    /// It was taken, and then failed; `None` if its submitter told no reason.
    Failed(Option<Failure>),
    /// It was submitted, and its outcome was never told.
    Lost,
    /// Its submitter went down for good, so that no node can tell its outcome.
    Orphaned,
    /// The replay was stopped before it was submitted.
    NotSubmitted,
    /// The replay was stopped after it was submitted and before it ended.
    Unfinished {
        /// From when it runs, if it does.
        start: Option<Time>,
    },
}

/// What went wrong with nodes and jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Faults {
    /// How often a node went down.
    pub crashes: u64,
    /// How often a node came up after the beginning, again or for the first time.
    pub starts: u64,
    /// How often a node dropped a job as an orphan.
    pub orphaned: u64,
    /// How often a job was running on a node that went down, or was stopped before its end.
    pub interrupted: u64,
    /// How often an interrupted job ran again.
    pub recovered: u64,
    /// The seconds between interruption and next run, added up.
    pub recovery_seconds: u64,
    /// The longest of these times, in seconds.
    pub longest_recovery_seconds: u64,
}

/// What came of a replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// What became of each job.
    pub fates: Vec<Fate>,
    /// The first start that the submitter of each job was told to expect.
    pub promised: Vec<Option<Time>>,
    /// Where each job ran, or runs; nowhere if it did not.
    pub nodes: Vec<Box<[NodeId]>>,
    /// What went wrong.
    pub faults: Faults,
    /// When it was stopped, if that was before every job had its outcome.
    pub stopped: Option<Time>,
    /// When it ended.
    pub ended: Time,
    /// How many invariants were found broken.
    pub violations: u64,
    /// The life of the job that is explained.
    pub life: Option<Life>,
}

/// The life of a job: which nodes were asked, which refused and why, and which attempt ran where.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Life {
    /// Its moments, in order.
    pub moments: Vec<Moment>,
    /// How often which reason was given about any job.
    pub reasons: Tally,
}

/// A moment in the life of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// When it was.
    pub at: Time,
    /// The node that did or said something.
    pub node: NodeId,
    /// What it did or said.
    pub what: String,
}

struct Replaying<'a, 'b> {
    host: Host<'a, dyn Grid>,
    jobs: &'b dyn Jobs,
    replay: Replay<'b>,
    fates: Vec<Option<Fate>>,
    promised: Vec<Option<Time>>,
    /// When jobs were interrupted that have not run since.
    interrupted: BTreeMap<usize, Time>,
    /// All nodes that have come up, whether they still are or not.
    joined: Vec<NodeId>,
    /// Jobs that wait for any node to come up, to be submitted there: none is up while there are such.
    parked: Vec<usize>,
    /// The next job to be submitted.
    next: usize,
    rng: Xoshiro256PlusPlus,
    done: usize,
    faults: Faults,
    last_news: Time,
    observed: u64,
    happened: Vec<Happened>,
    moments: Vec<Moment>,
}

/// Submits each job to a node drawn at random when its time comes, and runs it, until every job has its outcome.
///
/// If it is stopped before, a job without outcome is [`Fate::Unfinished`] or [`Fate::NotSubmitted`]. No machine is
/// trusted. It is a violation if a node runs more than it has room for, or if a job runs on more nodes than it asked
/// for, runs again after its outcome, is falsely said to be done, or is [`Fate::Lost`].
pub fn replay<'a>(
    grid: &mut dyn Grid,
    jobs: &'a dyn Jobs,
    replay: Replay<'a>,
    monitor: &Monitor,
) -> Replayed {
    let terms = Terms {
        grace: None,
        lingers: Span::ZERO,
        calm: Time::MAX,
        kept: Invariant::ALL.into(),
    };
    let mut watch = Watch::new(terms, replay.rooms.clone()).on_grounds(replay.grounds.clone());
    for job in 0..jobs.len() {
        watch.add(jobs.wish(job));
    }
    if let Some(job) = replay.explained {
        grid.explain(job);
    }
    let mut replaying = Replaying {
        host: Host::new(grid, watch),
        jobs,
        fates: vec![None; jobs.len()],
        promised: vec![None; jobs.len()],
        interrupted: BTreeMap::new(),
        joined: Vec::new(),
        parked: Vec::new(),
        next: 0,
        rng: Xoshiro256PlusPlus::seed_from_u64(replay.seed),
        done: 0,
        faults: Faults::default(),
        last_news: Time::ZERO,
        observed: 0,
        happened: Vec::new(),
        moments: Vec::new(),
        replay,
    };
    let stopped = replaying.run(monitor);
    replaying.finish(stopped)
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stopped {
    /// Every job has its outcome.
    Done,
    /// The monitor was told to stop, or the time was over.
    OnRequest,
    /// Nothing happens any more.
    Stalled,
}

impl Replaying<'_, '_> {
    fn run(&mut self, monitor: &Monitor) -> Stopped {
        let mut steps = 0_u64;
        loop {
            if self.done == self.fates.len() {
                return Stopped::Done;
            }
            steps += 1;
            if steps.is_multiple_of(Monitor::EVERY) {
                monitor.report(Progress {
                    now: self.host.now,
                    jobs: self.done as u64,
                    events: self.host.grid.events(),
                });
                if monitor.stopped() {
                    return Stopped::OnRequest;
                }
            }
            let is_left = self.next < self.jobs.len();
            let submission = is_left.then(|| self.jobs.submitted_at(self.next));
            let ending = self.host.next_end();
            let event = self.host.grid.next_at();
            let earliest = [submission, ending, event].into_iter().flatten().min();
            let Some(now) = earliest else {
                return Stopped::Stalled;
            };
            if now >= self.replay.until {
                self.host.now = self.replay.until;
                return Stopped::OnRequest;
            }
            let idle = self.host.watch.running() == 0 && submission.is_none();
            if idle && now - self.last_news > self.replay.patience {
                return Stopped::Stalled;
            }
            self.observe(now);
            self.host.now = now;
            // Jobs that end come first, so that one that ends together with its reservation has ended; then what is
            // under way, then submissions of the same instant.
            if ending == Some(now) {
                if self.host.end_next() {
                    self.last_news = now;
                }
                self.look();
            } else if event == Some(now) {
                self.host.grid.step();
                self.look();
            } else {
                self.last_news = now;
                self.submit(self.next, now);
                self.next += 1;
            }
        }
    }

    /// Lets the observer look at each moment before this one at which that is due.
    fn observe(&mut self, now: Time) {
        let Some((every, observer)) = &mut self.replay.observer else {
            return;
        };
        while Time::ZERO + every.times(self.observed) <= now {
            observer(Time::ZERO + every.times(self.observed), self.host.grid);
            self.observed += 1;
        }
    }

    fn submit(&mut self, index: usize, now: Time) {
        let node = self.rng.pick(&self.joined).copied().unwrap_or_default();
        match self.jobs.job(index) {
            Some(job) => self.give(now, node, job),
            None => self.close(index, Fate::Rejected(Refusal::NoMatch)),
        }
    }

    /// Submits a job to a node.
    fn give(&mut self, at: Time, node: NodeId, job: Job) {
        self.host.watch.submitted(job.id.get() as usize, node);
        self.explain(job.id, at, node, || "gets it from its user".into());
        self.host.grid.command(at, node, Command::submit(job));
    }

    /// Notes a moment in the life of a job, if it is the job that is explained.
    fn explain(&mut self, job: JobId, at: Time, node: NodeId, what: impl FnOnce() -> String) {
        if self.replay.explained == Some(job) {
            let what = what();
            self.moments.push(Moment { at, node, what });
        }
    }

    /// A job came to a node that is down. It goes to a node that is up a second later, or as soon as a node is up.
    fn submit_elsewhere(&mut self, job: Job, now: Time) {
        self.host.watch.not_taken(job.id.get() as usize);
        match self.some_node_that_is_up() {
            Some(node) => {
                let later = now + Span::from_secs(1);
                self.give(later, node, job);
            }
            None => self.parked.push(job.id.get() as usize),
        }
    }

    /// The first node that is up, from one drawn at random on.
    fn some_node_that_is_up(&mut self) -> Option<NodeId> {
        if !self.parked.is_empty() {
            // No node was up when the first of these jobs came, and none has come up since.
            return None;
        }
        let drawn = self.rng.index(self.joined.len());
        let (before, from_drawn) = self.joined.split_at_checked(drawn)?;
        let mut from_drawn = from_drawn.iter().chain(before).copied();
        from_drawn.find(|node| self.host.grid.is_up(*node))
    }

    /// A node is up, so the jobs that wait for one are submitted there.
    fn submit_parked(&mut self, node: NodeId, now: Time) {
        for index in std::mem::take(&mut self.parked) {
            if let Some(job) = self.jobs.job(index) {
                self.last_news = now;
                self.give(now, node, job);
            }
        }
    }

    /// Acts on what the machines said.
    fn look(&mut self) {
        let mut happened = std::mem::take(&mut self.happened);
        self.host.grid.take_happenings(&mut happened);
        for happening in happened.drain(..) {
            match happening {
                Happening::Notice { at, node, notice } => self.hear(at, node, notice),
                Happening::Traced { at, node, trace } => self.moments.push(Moment {
                    at,
                    node,
                    what: trace.to_string(),
                }),
                Happening::Unheard { at, command, .. } => {
                    // A lost submission goes elsewhere; other commands have no receiver any more.
                    if let Command::Submit { job, .. } = command {
                        self.submit_elsewhere(job, at);
                    }
                }
                Happening::Crashed { at, node } => {
                    self.faults.crashes += 1;
                    for job in self.host.watch.crashed(at, node) {
                        let id = JobId::new(job as u64);
                        self.explain(id, at, node, || "goes down while it runs it".into());
                        self.interrupt(job);
                    }
                }
                Happening::Started { at, node } => {
                    self.faults.starts += u64::from(at > Time::ZERO);
                    if self.host.watch.crashes(node) == 0 {
                        self.joined.push(node);
                    }
                    self.submit_parked(node, at);
                }
            }
        }
        self.happened = happened;
    }

    fn hear(&mut self, at: Time, node: NodeId, notice: Notice) {
        let index = notice.job.get() as usize;
        self.explain(notice.job, at, node, || notice.news.to_string());
        if index >= self.next {
            let what = format!(
                "{} is {:?}, which was never submitted",
                notice.job, notice.news
            );
            let watch = &mut self.host.watch;
            return watch.object(Invariant::Known, at, Some(node), what);
        }
        self.last_news = at;
        match notice.news {
            News::Started { attempt, .. } => self.begin(index, node, attempt, at),
            News::Stopped { attempt } => {
                let ran = self.host.watch.stopped(at, node, index, attempt);
                if ran {
                    self.interrupt(index);
                }
            }
            News::Expected { start } => {
                self.promised[index].get_or_insert(start);
            }
            News::Accepted(placement) => {
                self.promised[index].get_or_insert(placement.get().start);
            }
            News::Orphaned => self.faults.orphaned += 1,
            news if news.is_last() => {
                let word = self.host.watch.said(at, node, index, news.clone());
                if word == Word::First {
                    self.close(index, self.fate(index, news));
                }
            }
            _ => {}
        }
    }

    fn fate(&self, index: usize, news: News) -> Fate {
        match (news, self.host.watch.ran(index)) {
            (News::Finished, Some(ran)) => Fate::Ran {
                start: ran.start,
                end: ran.end,
            },
            (News::Failed(Failure::Refused(why)), _) => Fate::Rejected(why),
            (News::Failed(why), _) => Fate::Failed(Some(why)),
            _ => Fate::Failed(None),
        }
    }

    fn close(&mut self, index: usize, fate: Fate) {
        self.fates[index] = Some(fate);
        self.done += 1;
    }

    fn interrupt(&mut self, index: usize) {
        self.faults.interrupted += 1;
        self.interrupted.entry(index).or_insert(self.host.now);
    }

    fn begin(&mut self, index: usize, node: NodeId, attempt: Epoch, now: Time) {
        let takes = self.jobs.takes(index, node);
        let ends = (takes, Outcome::Done);
        // Leases are watched by the torture. Here no job outlives its machine, and each extension would have to be noted.
        let limit = (attempt, Time::MAX);
        let runs = self.host.begin(now, node, index, limit, ends);
        if runs && let Some(since) = self.interrupted.remove(&index) {
            let seconds = (now - since).as_secs();
            self.faults.recovered += 1;
            self.faults.recovery_seconds += seconds;
            let longest = &mut self.faults.longest_recovery_seconds;
            *longest = seconds.max(*longest);
        }
    }

    fn finish(self, stopped: Stopped) -> Replayed {
        let Host {
            grid, watch, now, ..
        } = self.host;
        let mut violations = watch.broken() + grid.broken().len() as u64;
        let fate = |(index, fate): (usize, &Option<Fate>)| {
            fate.unwrap_or_else(|| {
                let gone = watch.home(index).is_some_and(|node| grid.is_gone(node));
                match stopped {
                    _ if gone => Fate::Orphaned,
                    Stopped::Stalled => Fate::Lost,
                    Stopped::Done | Stopped::OnRequest if index >= self.next => Fate::NotSubmitted,
                    Stopped::Done | Stopped::OnRequest => Fate::Unfinished {
                        start: watch.running_since(index),
                    },
                }
            })
        };
        let fates: Vec<Fate> = self.fates.iter().enumerate().map(fate).collect();
        violations += fates.iter().filter(|fate| **fate == Fate::Lost).count() as u64;
        Replayed {
            nodes: (0..fates.len())
                .map(|job| watch.nodes(job).collect())
                .collect(),
            fates,
            promised: self.promised,
            faults: self.faults,
            stopped: (stopped == Stopped::OnRequest).then_some(now),
            ended: now,
            violations,
            life: self.replay.explained.map(|_| Life {
                moments: self.moments,
                reasons: grid.reasons(),
            }),
        }
    }
}
