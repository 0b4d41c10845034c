//! Checks what must not happen to jobs, knowing only what the machines were told and what they say.

use std::collections::BTreeSet;

use gridweave_core::id::{Epoch, NodeId};
use gridweave_core::job::{Failure, News};
use gridweave_core::resource::{Capability, Dimensions, Requirement};
use gridweave_core::time::{Span, Time};

use super::grounds::{Asks, Grounds};
use super::invariant::{Breach, Invariant};

/// What is known of a job before it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wish {
    /// On how many nodes it runs at once.
    pub nodes: u32,
    /// What it takes of each, if it does not take them whole.
    pub takes: Option<Box<Requirement>>,
    /// How often it may begin again.
    pub reruns: u32,
    /// Which nodes it may run on.
    pub asks: Asks,
}

/// How jobs take nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a run has one of them, which is never moved"
)]
pub enum Rooms {
    /// A node runs one job at a time.
    Whole,
    /// A node runs what it has room for.
    Shared {
        /// The dimensions of the grid.
        dimensions: Dimensions,
        /// What each node has.
        nodes: Vec<Capability>,
    },
}

/// What a scheduler must keep to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    /// For how long a job may run on some of its nodes only, if jobs run on several.
    pub grace: Option<Span>,
    /// For how long a job may begin or run after it was said to be cancelled.
    pub lingers: Span,
    /// From when on nothing goes wrong but what goes wrong already; the end of time if that is never so.
    pub calm: Time,
    /// The invariants that must hold.
    pub kept: BTreeSet<Invariant>,
}

/// A job on one of its nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    node: NodeId,
    /// The number that its node gave the attempt.
    epoch: Epoch,
    since: Time,
}

/// One attempt to run a job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Attempt {
    number: u64,
    running: Vec<Part>,
    ended: Vec<NodeId>,
    /// When the last of its nodes began, and when the last ended.
    start: Option<Time>,
    end: Option<Time>,
    /// Since when it runs on some of its nodes only.
    incomplete_since: Option<Time>,
}

impl Attempt {
    fn part(&self, node: NodeId) -> Option<usize> {
        self.running.iter().position(|part| part.node == node)
    }

    fn part_of(&self, node: NodeId, epoch: Epoch) -> Option<usize> {
        let mut parts = self.running.iter();
        parts.position(|part| (part.node, part.epoch) == (node, epoch))
    }

    fn parts(&self) -> usize {
        self.running.len() + self.ended.len()
    }
}

/// The last word on a job.
#[derive(Clone, PartialEq, Eq, Debug)]
struct LastWord {
    at: Time,
    node: NodeId,
    news: News,
    /// How often that node had gone down before.
    crashes: u32,
}

/// How an outcome that a node tells is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// It is the first.
    First,
    /// The same again, from a node that went down since it first said it.
    Repeated,
    /// It breaks an invariant.
    Wrong,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Watched {
    wish: Wish,
    home: Option<NodeId>,
    unwanted: bool,
    broke: bool,
    /// In the order of their beginnings.
    attempts: Vec<Attempt>,
    /// The parts that ended early.
    cut_short: Vec<(NodeId, Epoch)>,
    said: Option<LastWord>,
}

impl Watched {
    fn is_running(&self) -> bool {
        let mut attempts = self.attempts.iter();
        attempts.any(|attempt| !attempt.running.is_empty())
    }

    /// The attempt that ran to its end on as many nodes as wanted.
    fn done(&self) -> Option<&Attempt> {
        let wanted = self.wish.nodes as usize;
        let mut attempts = self.attempts.iter().rev();
        attempts.find(|attempt| attempt.ended.len() >= wanted)
    }

    /// The number under which an attempt is watched. Nodes give it the same number if it needs several of them; if it
    /// needs one, each node counts by itself, so every start is an attempt of its own.
    fn number(&self, epoch: Epoch) -> u64 {
        match self.wish.nodes {
            0 | 1 => self.attempts.len() as u64,
            _ => epoch.get(),
        }
    }

    fn attempt(&mut self, number: u64) -> Option<&mut Attempt> {
        let mut attempts = self.attempts.iter_mut();
        attempts.find(|attempt| attempt.number == number)
    }
}

/// A run of a job that is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    /// When the last of its nodes began.
    pub start: Time,
    /// When the last of its nodes ended.
    pub end: Time,
}

/// All jobs of a grid, watched.
#[derive(Clone, Debug)]
pub struct Watch {
    terms: Terms,
    rooms: Rooms,
    grounds: Option<Grounds>,
    jobs: Vec<Watched>,
    /// Which jobs run on each node.
    on: Vec<Vec<usize>>,
    /// How often each node went down.
    crashes: Vec<u32>,
    /// When something last went wrong by which the end of a job may not have become known.
    last_mishap: Time,
    gone: BTreeSet<NodeId>,
    running: u64,
    breaches: Vec<Breach>,
    broken: u64,
    repeated: u64,
}

fn grown<T: Clone + Default>(list: &mut Vec<T>, node: NodeId) -> &mut T {
    let number = node.get() as usize;
    if number >= list.len() {
        list.resize(number + 1, T::default());
    }
    &mut list[number]
}

impl Watch {
    /// The most breaches that are remembered; the first ones matter.
    const MOST_BREACHES: usize = 1000;

    /// No jobs yet.
    pub const fn new(terms: Terms, rooms: Rooms) -> Self {
        Self {
            terms,
            rooms,
            grounds: None,
            jobs: Vec::new(),
            on: Vec::new(),
            crashes: Vec::new(),
            last_mishap: Time::ZERO,
            gone: BTreeSet::new(),
            running: 0,
            breaches: Vec::new(),
            broken: 0,
            repeated: 0,
        }
    }

    /// Checks that no job begins on a node that lacks what it requires or does not admit it.
    #[must_use]
    pub fn on_grounds(mut self, grounds: Option<Grounds>) -> Self {
        self.grounds = grounds;
        self
    }

    /// Adds a job. Jobs are numbered in the order of these calls.
    pub fn add(&mut self, wish: Wish) {
        self.jobs.push(Watched {
            wish,
            home: None,
            unwanted: false,
            broke: false,
            attempts: Vec::new(),
            cut_short: Vec::new(),
            said: None,
        });
    }

    /// The first breach.
    pub fn breach(&self) -> Option<&Breach> {
        self.breaches.first()
    }

    /// All breaches, up to the first thousand.
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// How many breaches there were.
    pub const fn broken(&self) -> u64 {
        self.broken
    }

    /// How often a node that had gone down told an outcome again.
    pub const fn repeated(&self) -> u64 {
        self.repeated
    }

    /// How many parts of jobs run.
    pub const fn running(&self) -> u64 {
        self.running
    }

    /// Records a breach, if the invariant is one that must hold.
    pub fn object(&mut self, invariant: Invariant, at: Time, node: Option<NodeId>, what: String) {
        if !self.terms.kept.contains(&invariant) {
            return;
        }
        self.broken += 1;
        if self.breaches.len() < Self::MOST_BREACHES {
            self.breaches.push(Breach {
                invariant,
                at,
                node,
                what,
            });
        }
    }

    /// A job is submitted to a node.
    pub fn submitted(&mut self, job: usize, home: NodeId) {
        self.jobs[job].home = Some(home);
    }

    /// A node did not take a job: the job has no submitter now.
    pub fn not_taken(&mut self, job: usize) {
        self.jobs[job].home = None;
    }

    /// The node at which a job was submitted.
    pub fn home(&self, job: usize) -> Option<NodeId> {
        self.jobs[job].home
    }

    /// A job is not wanted any more.
    pub fn unwanted(&mut self, job: usize) {
        self.jobs[job].unwanted = true;
    }

    /// The outcome that was told of a job.
    pub fn last_word(&self, job: usize) -> Option<News> {
        self.jobs[job].said.as_ref().map(|said| said.news.clone())
    }

    /// Whether the submitter of a job is gone for good, so that no node can tell its outcome.
    pub fn is_orphaned(&self, job: usize) -> bool {
        let home = self.jobs[job].home;
        home.is_some_and(|home| self.gone.contains(&home))
    }

    /// Whether a node has room for a job now, and what it requires, and admits it.
    pub fn may_run(&self, node: NodeId, job: usize) -> bool {
        let asks = &self.jobs[job].wish.asks;
        let grounds = self.grounds.as_ref();
        let forbidden = grounds.and_then(|grounds| grounds.forbid(node, asks));
        forbidden.is_none() && self.has_room(node, job)
    }

    /// Whether a node has room for a job beside the jobs that run there.
    fn has_room(&self, node: NodeId, job: usize) -> bool {
        let number = node.get() as usize;
        let there = self.on.get(number).map_or(&[][..], Vec::as_slice);
        match &self.rooms {
            Rooms::Whole => there.is_empty(),
            Rooms::Shared { dimensions, nodes } => {
                let Some(mut free) = nodes.get(number).copied() else {
                    return false;
                };
                let takes = |job: usize| self.jobs[job].wish.takes.as_deref();
                for used in there.iter().filter_map(|job| takes(*job)) {
                    for dimension in dimensions.amounts() {
                        let needed = used.value(dimension).unwrap_or(0);
                        let left = free.value(dimension).saturating_sub(needed);
                        free = free.with(dimension, left);
                    }
                }
                takes(job).is_none_or(|wanted| dimensions.matches(&free, wanted))
            }
        }
    }

    /// A job begins at a node, as a part of this attempt. Whether it does: a start that breaks an invariant does not
    /// count.
    pub fn started(&mut self, at: Time, node: NodeId, job: usize, epoch: Epoch) -> bool {
        let watched = &self.jobs[job];
        let attempt = watched.number(epoch);
        let mut wrong = Vec::new();
        if let Some(said) = &watched.said {
            let late = match said.news {
                News::Finished => true,
                News::Cancelled => at > said.at + self.terms.lingers,
                _ => false,
            };
            if late {
                let what = format!("job {job} begins after it was said: {:?}", said.news);
                wrong.push((Invariant::NoRerun, what));
            }
        }
        let earlier = watched.attempts.iter().filter(|it| it.number != attempt);
        let reruns = watched.wish.reruns;
        if earlier.count() > reruns as usize {
            let what = format!("job {job} begins again, more often than {reruns} times");
            wrong.push((Invariant::NoRerun, what));
        }
        let has_ended = |it: &Attempt| it.number == attempt && it.ended.contains(&node);
        if watched.cut_short.contains(&(node, epoch)) || watched.attempts.iter().any(has_ended) {
            let what = format!("attempt {epoch:?} at job {job} begins again at the same node");
            wrong.push((Invariant::OneExecution, what));
        }
        if let Some(done) = watched.done()
            && done
                .start
                .is_some_and(|start| start > self.terms.calm.max(self.last_mishap))
        {
            let what = format!("job {job} begins again, though it was done in the calm: {done:?}");
            wrong.push((Invariant::NoRerun, what));
        }
        let mut attempts = watched.attempts.iter();
        let wanted = watched.wish.nodes as usize;
        let is_whole = |it: &Attempt| it.part(node).is_some() || it.parts() >= wanted;
        if attempts.any(|it| it.number == attempt && is_whole(it)) {
            let what = format!("job {job} begins again, on more nodes than it wants: {watched:?}");
            wrong.push((Invariant::OneExecution, what));
        }
        let mut attempts = watched.attempts.iter();
        let runs = |it: &&Attempt| it.number != attempt && !it.running.is_empty();
        if let Some(other) = attempts.find(runs) {
            let what = format!(
                "attempt {attempt} at job {job} begins while attempt {} runs on {:?}",
                other.number, other.running
            );
            wrong.push((Invariant::OneExecution, what));
        }
        if !self.has_room(node, job) {
            let on = self.on.get(node.get() as usize);
            let what = format!("job {job} begins where these run: {on:?}");
            wrong.push((Invariant::Room, what));
        }
        let asks = &self.jobs[job].wish.asks;
        let grounds = self.grounds.as_ref();
        if let Some(why) = grounds.and_then(|grounds| grounds.forbid(node, asks)) {
            let what = format!("job {job} begins on a node that may not run it: {why}");
            wrong.push((Invariant::Admitted, what));
        }
        let mut counts = true;
        for (invariant, what) in wrong {
            counts &= !self.terms.kept.contains(&invariant);
            self.object(invariant, at, Some(node), what);
        }
        if !counts {
            return false;
        }
        let watched = &mut self.jobs[job];
        if watched.attempt(attempt).is_none() {
            watched.attempts.push(Attempt {
                number: attempt,
                ..Attempt::default()
            });
        }
        if let Some(it) = watched.attempt(attempt) {
            it.running.push(Part {
                node,
                epoch,
                since: at,
            });
            it.start = Some(at);
        }
        grown(&mut self.on, node).push(job);
        self.running += 1;
        self.count_parts(at, job);
        true
    }

    /// Notes since when each attempt at a job is incomplete.
    fn count_parts(&mut self, at: Time, job: usize) {
        let watched = &mut self.jobs[job];
        let wanted = watched.wish.nodes as usize;
        for attempt in &mut watched.attempts {
            let whole = attempt.running.is_empty() || attempt.parts() >= wanted;
            attempt.incomplete_since = match attempt.incomplete_since {
                _ if whole => None,
                Some(since) => Some(since),
                None => Some(at),
            };
        }
    }

    /// Whether this attempt runs there since then.
    pub fn runs(&self, node: NodeId, job: usize, epoch: Epoch, since: Time) -> bool {
        let part = Part { node, epoch, since };
        let mut attempts = self.jobs[job].attempts.iter();
        attempts.any(|it| it.running.contains(&part))
    }

    fn leave(&mut self, node: NodeId, job: usize) {
        let there = grown(&mut self.on, node);
        if let Some(index) = there.iter().position(|other| *other == job) {
            there.remove(index);
            self.running -= 1;
        }
    }

    /// A job ran to its end at a node, if it runs there.
    pub fn ended(&mut self, at: Time, node: NodeId, job: usize, epoch: Epoch, broke: bool) {
        let watched = &mut self.jobs[job];
        watched.broke |= broke;
        let mut attempts = watched.attempts.iter_mut();
        let part = attempts.find_map(|it| Some((it.part_of(node, epoch)?, it)));
        let Some((part, it)) = part else { return };
        it.running.swap_remove(part);
        if broke {
            watched.cut_short.push((node, epoch));
        } else {
            it.ended.push(node);
            it.end = Some(at);
        }
        self.leave(node, job);
        self.count_parts(at, job);
    }

    /// A node runs this attempt no longer, before its end; whether it did.
    pub fn stopped(&mut self, at: Time, node: NodeId, job: usize, epoch: Epoch) -> bool {
        let part = |it: &Attempt| it.part_of(node, epoch);
        let stopped = self.drop_parts(node, job, part);
        self.count_parts(at, job);
        stopped
    }

    /// Drops the parts of a job that `part` finds on a node. Whether there were any.
    fn drop_parts(
        &mut self,
        node: NodeId,
        job: usize,
        part: impl Fn(&Attempt) -> Option<usize>,
    ) -> bool {
        let mut ran = 0;
        let Watched {
            attempts,
            cut_short,
            ..
        } = &mut self.jobs[job];
        for attempt in attempts {
            if let Some(part) = part(attempt) {
                let part = attempt.running.swap_remove(part);
                cut_short.push((node, part.epoch));
                ran += 1;
            }
        }
        for _ in 0..ran {
            self.leave(node, job);
        }
        ran > 0
    }

    /// The machine of a node goes down, and its jobs go on.
    pub fn lost_its_machine(&mut self, at: Time, node: NodeId) {
        self.last_mishap = at;
        *grown(&mut self.crashes, node) += 1;
    }

    /// A node goes down; the jobs that ran there.
    pub fn crashed(&mut self, at: Time, node: NodeId) -> Vec<usize> {
        self.last_mishap = at;
        *grown(&mut self.crashes, node) += 1;
        let mut there = grown(&mut self.on, node).clone();
        there.dedup();
        there.retain(|job| {
            let ran = self.drop_parts(node, *job, |it| it.part(node));
            self.count_parts(at, *job);
            ran
        });
        there
    }

    /// A job begins where no machine can tell of its end.
    pub fn begins_untold(&mut self, at: Time) {
        self.last_mishap = at;
    }

    /// How often a node went down.
    pub fn crashes(&self, node: NodeId) -> u32 {
        let crashes = self.crashes.get(node.get() as usize);
        crashes.copied().unwrap_or(0)
    }

    /// A node that was asked to leave is gone: every job that it took must have its outcome.
    pub fn departs(&mut self, at: Time, node: NodeId) {
        let homed = |job: &Watched| job.home == Some(node) && job.said.is_none();
        if let Some(job) = self.jobs.iter().position(homed) {
            let what = format!("job {job} has no last word, and the node that took it leaves");
            self.object(Invariant::Outcome, at, Some(node), what);
        }
    }

    /// A node says that it is drained: nothing may run there.
    pub fn drained(&mut self, at: Time, node: NodeId) {
        let runs_there = |job: &Watched| {
            let mut parts = job.attempts.iter().flat_map(|it| &it.running);
            parts.any(|part| part.node == node)
        };
        if let Some(job) = self.jobs.iter().position(runs_there) {
            let what = format!("job {job} runs there, though the node is drained");
            self.object(Invariant::Drained, at, Some(node), what);
        }
    }

    /// A node is gone for ever.
    pub fn gone(&mut self, node: NodeId) {
        self.gone.insert(node);
    }

    /// A node tells the outcome of a job.
    pub fn said(&mut self, at: Time, node: NodeId, job: usize, news: News) -> Word {
        let crashes = self.crashes(node);
        let watched = &self.jobs[job];
        if let Some(before) = &watched.said {
            if (before.node, &before.news) == (node, &news) && before.crashes < crashes {
                self.repeated += 1;
                if let Some(said) = &mut self.jobs[job].said {
                    said.crashes = crashes;
                }
                return Word::Repeated;
            }
            let what = format!(
                "job {job}: {news:?}, after {:?} by {}",
                before.news, before.node
            );
            self.object(Invariant::LastWord, at, Some(node), what);
            return Word::Wrong;
        }
        let runs = watched.is_running();
        let lie = match news {
            News::Finished if runs => Some("it runs"),
            News::Finished if watched.done().is_none() => Some("it was never done"),
            News::Cancelled if !watched.unwanted => Some("the user did not want that"),
            News::Cancelled if runs && self.terms.lingers.is_zero() => Some("it runs"),
            News::Failed(Failure::Broke) if !watched.broke => Some("it did not break"),
            _ if watched.home != Some(node) => Some("it was submitted elsewhere"),
            _ => None,
        };
        if let Some(why) = lie {
            let what = format!("job {job} is said to be {news:?}, but {why}");
            self.object(Invariant::TrueWord, at, Some(node), what);
            if self.terms.kept.contains(&Invariant::TrueWord) {
                return Word::Wrong;
            }
        }
        self.jobs[job].said = Some(LastWord {
            at,
            node,
            news,
            crashes,
        });
        Word::First
    }

    /// What is wrong by now only because of the time.
    pub fn look(&mut self, now: Time) {
        let mut wrong = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            for attempt in &job.attempts {
                if let (Some(grace), Some(since)) = (self.terms.grace, attempt.incomplete_since)
                    && now > since + grace
                {
                    let what = format!(
                        "an attempt at job {number} wants {} nodes, and since {since:?} it is {attempt:?}",
                        job.wish.nodes
                    );
                    wrong.push((Invariant::Together, what));
                }
            }
            if let Some(said) = &job.said
                && said.news == News::Cancelled
                && job.is_running()
                && now > said.at + self.terms.lingers
            {
                let what = format!("job {number} still runs, cancelled at {:?}", said.at);
                wrong.push((Invariant::TrueWord, what));
            }
        }
        for (invariant, what) in wrong {
            self.object(invariant, now, None, what);
        }
    }

    /// A job that still runs.
    pub fn still_running(&self) -> Option<usize> {
        self.jobs.iter().position(Watched::is_running)
    }

    /// How a job ran to its end, if it did.
    pub fn ran(&self, job: usize) -> Option<Ran> {
        let done = self.jobs[job].done()?;
        Some(Ran {
            start: done.start?,
            end: done.end?,
        })
    }

    /// Since when a job runs, if it does.
    pub fn running_since(&self, job: usize) -> Option<Time> {
        let mut attempts = self.jobs[job].attempts.iter().rev();
        attempts.find(|it| !it.running.is_empty())?.start
    }

    /// Where a job ran or runs: in the attempt that is done, else in the last one.
    pub fn nodes(&self, job: usize) -> impl Iterator<Item = NodeId> {
        let watched = &self.jobs[job];
        let attempt = watched.done().or(watched.attempts.last());
        attempt.into_iter().flat_map(|attempt| {
            // Leave out the first nodes if more ended than the job wants: a part of their try never began.
            let surplus = attempt
                .ended
                .len()
                .saturating_sub(watched.wish.nodes as usize);
            let running = attempt.running.iter().map(|part| part.node);
            attempt.ended[surplus..].iter().copied().chain(running)
        })
    }
}
