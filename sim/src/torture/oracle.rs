//! What must not happen to jobs, kept by one who knows nothing of the machines: only what they were told, and what they say.

use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::id::NodeId;
use gridweave_core::job::{Failure, News};
use gridweave_core::time::{Span, Time};

use super::invariant::{Breach, Invariant};
use super::scenario::Equipped;

/// What is known of a job before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wish {
    /// On how many nodes it runs at once.
    pub(super) nodes: u32,
    /// What it takes on each.
    pub(super) takes: Equipped,
}

/// One attempt to run a job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Attempt {
    running: BTreeSet<NodeId>,
    ended: BTreeSet<NodeId>,
    /// Since when it runs on some of its nodes only.
    incomplete_since: Option<Time>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Said {
    at: Time,
    node: NodeId,
    news: News,
    /// How often that node had gone down before.
    downs: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Tracked {
    wish: Wish,
    home: Option<NodeId>,
    unwanted: bool,
    broke: bool,
    attempts: BTreeMap<u64, Attempt>,
    said: Option<Said>,
}

impl Tracked {
    fn is_running(&self) -> bool {
        self.attempts
            .values()
            .any(|attempt| !attempt.running.is_empty())
    }

    fn is_done(&self) -> bool {
        let wanted = self.wish.nodes as usize;
        self.attempts
            .values()
            .any(|attempt| attempt.ended.len() >= wanted)
    }
}

/// How the oracle sees one scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Terms {
    /// For how long a job may run on some of its nodes only, if jobs run on several.
    pub(super) grace: Option<Span>,
    /// For how long a job may begin or run after it was said to be cancelled.
    pub(super) lingers: Span,
}

/// The ledger of all jobs.
#[derive(Clone, Debug)]
pub(super) struct Oracle {
    terms: Terms,
    kept: BTreeSet<Invariant>,
    jobs: Vec<Tracked>,
    room: BTreeMap<NodeId, Equipped>,
    downs: BTreeMap<NodeId, u32>,
    gone: BTreeSet<NodeId>,
    breaches: Vec<Breach>,
    repeated: u64,
}

impl Oracle {
    pub(super) fn new(terms: Terms, kept: BTreeSet<Invariant>) -> Self {
        Self {
            terms,
            kept,
            jobs: Vec::new(),
            room: BTreeMap::new(),
            downs: BTreeMap::new(),
            gone: BTreeSet::new(),
            breaches: Vec::new(),
            repeated: 0,
        }
    }

    /// Takes down a job; they are numbered as they come.
    pub(super) fn add(&mut self, wish: Wish) {
        self.jobs.push(Tracked {
            wish,
            home: None,
            unwanted: false,
            broke: false,
            attempts: BTreeMap::new(),
            said: None,
        });
    }

    /// Takes down what a node has.
    pub(super) fn equip(&mut self, node: NodeId, room: Equipped) {
        self.room.insert(node, room);
    }

    /// The first thing that should not have happened.
    pub(super) fn breach(&self) -> Option<&Breach> {
        self.breaches.first()
    }

    /// How often a last word was said again by a node that had gone down.
    pub(super) const fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Takes down that an invariant does not hold, if it was promised.
    pub(super) fn object(
        &mut self,
        invariant: Invariant,
        at: Time,
        node: Option<NodeId>,
        what: String,
    ) {
        if self.kept.contains(&invariant) {
            self.breaches.push(Breach {
                invariant,
                at,
                node,
                what,
            });
        }
    }

    pub(super) fn submitted(&mut self, job: usize, home: NodeId) {
        self.jobs[job].home = Some(home);
    }

    /// A node would not take a job, and is not asked again.
    pub(super) fn not_taken(&mut self, job: usize) {
        self.jobs[job].home = None;
    }

    pub(super) fn unwanted(&mut self, job: usize) {
        self.jobs[job].unwanted = true;
    }

    pub(super) fn last_word(&self, job: usize) -> Option<News> {
        self.jobs[job].said.map(|said| said.news)
    }

    /// Whether nobody can tell of a job any more.
    pub(super) fn is_orphaned(&self, job: usize) -> bool {
        let home = self.jobs[job].home;
        home.is_some_and(|home| self.gone.contains(&home))
    }

    fn used(&self, node: NodeId) -> Equipped {
        let mut used = Equipped {
            cores: 0,
            memory: 0,
        };
        for job in &self.jobs {
            let here = job.attempts.values();
            let here = here
                .filter(|attempt| attempt.running.contains(&node))
                .count() as u32;
            used.cores += here * job.wish.takes.cores;
            used.memory += here * job.wish.takes.memory;
        }
        used
    }

    /// A job begins at a node.
    pub(super) fn began(&mut self, at: Time, node: NodeId, job: usize, attempt: u64) {
        let tracked = &self.jobs[job];
        let mut wrong = Vec::new();
        if let Some(said) = tracked.said {
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
        let others = tracked.attempts.iter();
        let mut others =
            others.filter(|(number, it)| **number != attempt && !it.running.is_empty());
        if let Some((other, it)) = others.next() {
            let what = format!(
                "attempt {attempt} at job {job} begins while attempt {other} runs on {:?}",
                it.running
            );
            wrong.push((Invariant::OneExecution, what));
        }
        if let Some(it) = tracked.attempts.get(&attempt) {
            let running = it.running.len() + it.ended.len();
            if it.running.contains(&node) || running >= tracked.wish.nodes as usize {
                let what = format!("job {job} begins again, on more nodes than it wants: {it:?}");
                wrong.push((Invariant::OneExecution, what));
            }
        }
        let (used, takes) = (self.used(node), tracked.wish.takes);
        if let Some(room) = self.room.get(&node)
            && (used.cores + takes.cores > room.cores || used.memory + takes.memory > room.memory)
        {
            let what = format!("job {job} begins where {used:?} of {room:?} is in use");
            wrong.push((Invariant::Room, what));
        }
        for (invariant, what) in wrong {
            self.object(invariant, at, Some(node), what);
        }
        let attempt = self.jobs[job].attempts.entry(attempt).or_default();
        attempt.running.insert(node);
        self.count_parts(at, job);
    }

    /// Notes since when each attempt at a job is incomplete.
    fn count_parts(&mut self, at: Time, job: usize) {
        let tracked = &mut self.jobs[job];
        let wanted = tracked.wish.nodes as usize;
        for attempt in tracked.attempts.values_mut() {
            let parts = attempt.running.len() + attempt.ended.len();
            attempt.incomplete_since = match attempt.incomplete_since {
                _ if attempt.running.is_empty() || parts >= wanted => None,
                Some(since) => Some(since),
                None => Some(at),
            };
        }
    }

    /// A job ran to its end at a node.
    pub(super) fn ended(&mut self, at: Time, node: NodeId, job: usize, attempt: u64, broke: bool) {
        let tracked = &mut self.jobs[job];
        tracked.broke |= broke;
        if let Some(attempt) = tracked.attempts.get_mut(&attempt) {
            attempt.running.remove(&node);
            if !broke {
                attempt.ended.insert(node);
            }
        }
        self.count_parts(at, job);
    }

    /// Whether this attempt runs there.
    pub(super) fn runs(&self, node: NodeId, job: usize, attempt: u64) -> bool {
        let attempt = self.jobs[job].attempts.get(&attempt);
        attempt.is_some_and(|attempt| attempt.running.contains(&node))
    }

    /// A node runs a job no longer; whether it did.
    pub(super) fn stopped(&mut self, at: Time, node: NodeId, job: usize) -> bool {
        let attempts = self.jobs[job].attempts.values_mut();
        let ran = attempts
            .filter_map(|attempt| attempt.running.take(&node))
            .count()
            > 0;
        self.count_parts(at, job);
        ran
    }

    /// A node goes down; how many jobs ran there.
    pub(super) fn down(&mut self, at: Time, node: NodeId) -> u64 {
        *self.downs.entry(node).or_default() += 1;
        let all = 0..self.jobs.len();
        all.filter(|job| self.stopped(at, node, *job)).count() as u64
    }

    /// A node that was asked to leave does: whatever it took must have its last word.
    pub(super) fn departs(&mut self, at: Time, node: NodeId) {
        let homed = |job: &Tracked| job.home == Some(node) && job.said.is_none();
        if let Some(job) = self.jobs.iter().position(homed) {
            let what = format!("job {job} has no last word, and who took it leaves");
            self.object(Invariant::Outcome, at, Some(node), what);
        }
    }

    /// A node is gone for ever.
    pub(super) fn gone(&mut self, node: NodeId) {
        self.gone.insert(node);
    }

    /// A node says the last word on a job.
    pub(super) fn said(&mut self, at: Time, node: NodeId, job: usize, news: News) {
        let downs = self.downs.get(&node).copied().unwrap_or(0);
        let tracked = &self.jobs[job];
        if let Some(before) = tracked.said {
            if (before.node, before.news) == (node, news) && before.downs < downs {
                self.repeated += 1;
                return;
            }
            let what = format!(
                "job {job}: {news:?}, after {:?} by {}",
                before.news, before.node
            );
            self.object(Invariant::LastWord, at, Some(node), what);
            return;
        }
        let runs = tracked.is_running();
        let lie = match news {
            News::Finished if runs => Some("it runs"),
            News::Finished if !tracked.is_done() => Some("it was never done"),
            News::Cancelled if !tracked.unwanted => Some("nobody wanted that"),
            News::Cancelled if runs && self.terms.lingers.is_zero() => Some("it runs"),
            News::Failed(Failure::Broke) if !tracked.broke => Some("it did not break"),
            _ if tracked.home != Some(node) => Some("it was submitted elsewhere"),
            _ => None,
        };
        if let Some(why) = lie {
            let what = format!("job {job} is said to be {news:?}, but {why}");
            self.object(Invariant::TrueWord, at, Some(node), what);
        }
        self.jobs[job].said = Some(Said {
            at,
            node,
            news,
            downs,
        });
    }

    /// What is wrong by now only because of the time.
    pub(super) fn look(&mut self, now: Time) {
        let mut wrong = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            for (epoch, attempt) in &job.attempts {
                if let (Some(grace), Some(since)) = (self.terms.grace, attempt.incomplete_since)
                    && now > since + grace
                {
                    let what = format!(
                        "attempt {epoch} at job {number} wants {} nodes, and since {since:?} it is {attempt:?}",
                        job.wish.nodes
                    );
                    wrong.push((Invariant::Together, what));
                }
            }
            if let Some(said) = job.said
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

    /// Where jobs still run.
    pub(super) fn still_running(&self) -> impl Iterator<Item = usize> + '_ {
        let jobs = self.jobs.iter().enumerate();
        jobs.filter(|(_, job)| job.is_running())
            .map(|(number, _)| number)
    }
}

#[cfg(test)]
mod tests;
