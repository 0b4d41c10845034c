//! A host for one node among liars: it executes the node's effects, and checks every state.

use std::collections::{BTreeMap, VecDeque};

use gridweave_core::id::{Epoch, JobId, NodeId};
use gridweave_core::job::{Command, News, Survival};
use gridweave_core::machine::{self, Effect, Event, Machine};
use gridweave_core::time::{Span, Time};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::choices::Choices;
use crate::steps;

/// How often each thing happened, to show that a run was not vacuous.
pub type Seen = BTreeMap<&'static str, usize>;

/// The node under test: number zero in every fuzz body.
pub(super) const ME: NodeId = NodeId::new(0);

/// What is special about the host of one kind of node.
pub(super) trait Subject: Sized {
    type Node: Machine;

    /// The most effects of one event.
    const MOST_EFFECTS: usize;
    /// How often timers may fire at one instant.
    const MOST_RINGS: usize;

    /// A node that knows nothing yet. Its configuration is the same in every life.
    fn build(&self, rng: &mut Xoshiro256PlusPlus) -> Self::Node;

    /// The node sent a message.
    fn said(host: &mut Host<Self>, to: NodeId, message: <Self::Node as Machine>::Message);

    /// The node gave a notice.
    fn told(host: &mut Host<Self>, notice: <Self::Node as Machine>::Notice);

    /// After an event: nothing may have grown beyond its bound.
    fn look(host: &mut Host<Self>);

    /// The node restarts. Returns what it is told of what outlived the crash; nothing else runs.
    fn crashed(&mut self, now: Time) -> Vec<<Self::Node as Machine>::Command>;
}

/// A node, its clock, and what happened to it.
pub(super) struct Host<S: Subject> {
    pub host: machine::Host<S::Node>,
    pub now: Time,
    rng: Xoshiro256PlusPlus,
    pub seen: Seen,
    pub subject: S,
}

impl<S: Subject> Host<S> {
    /// A node that has started.
    pub(super) fn start(subject: S, now: Time) -> Self {
        steps::watch();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let mut host = Self {
            host: machine::Host::unstarted(subject.build(&mut rng)),
            now,
            rng,
            seen: Seen::new(),
            subject,
        };
        host.feed(Event::Start);
        host
    }

    pub(super) fn node(&self) -> &S::Node {
        self.host.machine().expect("it comes back at once")
    }

    /// How many records it has on its disk.
    pub(super) fn records(&self) -> usize {
        self.host.records().len()
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    pub(super) fn feed(&mut self, event: Event<S::Node>) {
        self.feed_and_crash(event, None);
    }

    /// Handles an event. If the node is to crash, it does so after `crash` effects, and restarts.
    pub(super) fn feed_and_crash(&mut self, event: Event<S::Node>, crash: Option<usize>) {
        self.host.handle(event, self.now, &mut self.rng);
        self.execute(crash);
    }

    fn execute(&mut self, crash: Option<usize>) {
        let check = self.host.check();
        check.unwrap_or_else(|violation| panic!("{violation}, at {:?}", self.now));
        let effects = self.host.pending();
        assert!(effects <= S::MOST_EFFECTS, "{effects} effects");
        for _ in 0..crash.unwrap_or(effects) {
            match self.host.execute() {
                Some(Effect::Send { to, message }) => S::said(self, to, message),
                Some(Effect::Notify(notice)) => S::told(self, notice),
                _ => {}
            }
        }
        S::look(self);
        if crash.is_some() {
            self.restart();
        }
    }

    /// Lets time pass, timer by timer.
    pub(super) fn pass(&mut self, span: Span) {
        let end = self.now + span;
        let mut rings = 0;
        while let Some(at) = self.host.next_at().filter(|at| *at <= end) {
            rings = if at > self.now { 0 } else { rings + 1 };
            assert!(rings <= S::MOST_RINGS, "timers ring without end");
            self.now = self.now.max(at);
            self.host.fire(self.now, &mut self.rng);
            self.execute(None);
        }
        self.now = end;
    }

    /// Restarts the node from its disk.
    pub(super) fn restart(&mut self) {
        self.count("restart");
        let records = self.host.records().clone();
        self.host = machine::Host::unstarted(self.subject.build(&mut self.rng));
        let survived = self.subject.crashed(self.now);
        for (key, record) in records {
            self.feed(Event::Restored(key, record));
        }
        for command in survived {
            self.feed(Event::Command(command));
        }
        self.feed(Event::Start);
    }
}

/// The last messages, each with its receiver.
pub(super) struct Sent<M>(VecDeque<(NodeId, M)>);

impl<M: Clone> Sent<M> {
    /// How many are remembered, to be answered.
    const MOST: u8 = 8;

    pub(super) const fn new() -> Self {
        Self(VecDeque::new())
    }

    pub(super) fn push(&mut self, to: NodeId, message: M) {
        self.0.push_back((to, message));
        if self.0.len() > usize::from(Self::MOST) {
            self.0.pop_front();
        }
    }

    pub(super) fn last(&self) -> Option<&M> {
        self.0.back().map(|(_, message)| message)
    }

    /// Picks a message to answer. It forgets most of them, so that few are answered twice.
    pub(super) fn pick(&mut self, choices: &mut Choices<'_>) -> Option<(NodeId, M)> {
        let index = self.0.len().checked_sub(1)?;
        let index = index - usize::from(choices.below(Self::MOST)).min(index);
        match choices.below(8) {
            0 => self.0.get(index).cloned(),
            _ => self.0.remove(index),
        }
    }
}

/// The kind of news.
pub(super) const fn name_of(news: &News) -> &'static str {
    match news {
        News::Expected { .. } => "expected",
        News::Accepted { .. } => "accepted",
        News::Moved { .. } => "moved",
        News::Assigned(_) => "assigned",
        News::Released { .. } => "released",
        News::Started { .. } => "started",
        News::Extended { .. } => "extended",
        News::Stopped { .. } => "stopped",
        News::Orphaned => "orphaned",
        News::Finished => "finished",
        News::Failed(_) => "failed",
        News::Cancelled => "cancelled",
        News::Queue { .. } => "queue",
        News::Withdraw { .. } => "withdraw",
        _ => "other news",
    }
}

/// The attempts that run at a node, each until a time.
pub(super) type Runs = BTreeMap<JobId, (Epoch, Time)>;

/// What outlives a crash: the attempts with an odd number whose time is not over. All others are gone.
pub(super) fn survivors(runs: &mut Runs, now: Time) -> Vec<Command> {
    runs.retain(|_, (attempt, until)| attempt.get() % 2 == 1 && *until > now);
    let runs = runs.iter();
    let survived = runs.map(|(&job, &(attempt, until))| Command::Survived {
        job,
        attempt,
        survival: Survival::Runs { until },
    });
    survived.collect()
}

/// Keeps track of the attempts that run at a node: no running job starts, and only running attempts are extended and
/// stopped.
pub(super) fn note_what_runs(runs: &mut Runs, job: JobId, news: &News) {
    match *news {
        News::Started { attempt, until, .. } => {
            assert_eq!(
                runs.insert(job, (attempt, until)),
                None,
                "{job} runs already"
            );
        }
        News::Extended { attempt, until } => {
            let before = runs.insert(job, (attempt, until));
            assert!(before.is_some_and(|(known, told)| known == attempt && told < until));
        }
        News::Stopped { attempt } => {
            // An attempt that a crash ended is stopped, too.
            let running = runs.remove(&job);
            assert!(running.is_none_or(|(known, _)| known == attempt));
        }
        _ => {}
    }
}
