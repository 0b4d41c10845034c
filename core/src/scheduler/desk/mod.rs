//! The desk of a node: takes jobs, has places for them confirmed, and gives each its last word.
//!
//! A scheduler that reserves time on several nodes finds places; what happens to a job before and after that is the same
//! for all of them, and is here. The scheduler is told to search ([`Notice::Search`]), and answers with places
//! ([`Command::Place`]) or that there is none ([`Command::NotFound`]). Places are confirmed with [`commit`].
//!
//! ```text
//!  host          scheduler                      desk                       commit
//!   Submit ─────▶ Submit ─────────────────────▶ writes it down
//!                 looks for places ◀──── Search
//!                 Place ──────────────────────▶ Place ───────────────────▶ Prepare …
//!   Accepted ◀─────────────────────────── Job ◀─────────────────── Placed
//!                 looks for a better one,
//!                 Improve ────────────────────▶ Improve ─────────────────▶ Prepare …
//!   Finished ◀─────────────────────────── Job ◀───────────────── Finished
//! ```
//!
//! # Rules
//! - A job is searched a place for [`Config::rounds`] times, each time that it has none; then it fails. One that has got a place is
//!   given as many again, unless it had started: what is lost again and again after its start, as a job that never ends in
//!   its time is, fails when they are used up. So does one that has lost 64 places before its start: its nodes do not keep their word.
//! - A job that is cancelled has its last word when none of its nodes has anything of it.
//! - A node that leaves takes no job and no time of another's, and does what it has.
//! - What was submitted and what its submitter was told survives a crash. The last word on a job may then come twice, but never
//!   another one.

mod task;
#[cfg(test)]
mod tests;

pub use task::Stage;

use alloc::vec::Vec;

use crate::commit::coordinator::Setback;
use crate::commit::{self, AfterLoss, Candidate, Everyone, Policy, coordinator, participant};
use crate::id::{JobId, NodeId};
use crate::job::{self, Job, News, Outcome, Refusal};
use crate::machine::{Context, Embed, Event, Machine, Violation};
use crate::schedule::{Reservation, Schedule, Snapshot, Status};
use crate::time::{Interval, Time};
use task::Task;

/// The rules of a desk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// How often a place is searched for before a job fails.
    pub rounds: u8,
    /// What becomes of a job that ran when one of its nodes was lost.
    pub after_loss: AfterLoss,
    /// How places are confirmed.
    pub commit: commit::Config,
}

/// Where jobs are submitted, in a node that others may reserve time on.
///
/// Most effects per event, beside those of the commit: four for each job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Desk<P: Policy = Everyone> {
    config: Config,
    node: commit::Node<P>,
    /// In the order of jobs.
    tasks: Vec<Task>,
    leaving: bool,
}

/// What a scheduler asks of its desk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// Run this job.
    Submit {
        /// Which.
        job: Job,
        /// Why this scheduler does not take it, if so.
        refused: Option<Refusal>,
    },
    /// Run it no more.
    Cancel(JobId),
    /// The job that this node was told to start has ended by itself.
    Ended {
        /// Which.
        job: JobId,
        /// How.
        outcome: Outcome,
    },
    /// Take nothing new.
    Leave,
    /// Here are places for a job.
    Place {
        /// Which.
        job: JobId,
        /// When and where, best first.
        candidates: Vec<Candidate>,
        /// Nodes that could stand in for a lost one.
        spares: Vec<NodeId>,
    },
    /// There is no place for a job.
    NotFound {
        /// Which.
        job: JobId,
        /// Why there will be none; if it is not known, one is searched for again.
        refusal: Option<Refusal>,
    },
    /// Here is a better place for a job that has one.
    Improve {
        /// Which.
        job: JobId,
        /// When and where.
        candidate: Candidate,
    },
}

/// What a desk tells its scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Notice {
    /// For the host, about a job.
    Job(job::Notice),
    /// A place for this job is wanted.
    Search {
        /// Which.
        job: JobId,
        /// How often one will still be wanted if none is found now.
        left: u8,
        /// Why the last place came to nothing, if there was one.
        setback: Option<Setback>,
    },
    /// A job has a place.
    Placed {
        /// Which.
        job: JobId,
        /// When it starts.
        start: Time,
    },
    /// A better place could not be had.
    Kept {
        /// For which job.
        job: JobId,
        /// Why, if it was tried.
        setback: Option<Setback>,
    },
    /// No place is wanted for this job any more.
    Done {
        /// Which.
        job: JobId,
    },
    /// What others have reserved here has changed.
    Changed,
}

/// The name of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// Of the commit.
    Commit(commit::Key),
    /// A job that was submitted here.
    Job(JobId),
}

/// What a desk must not forget in a crash.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// Of the commit.
    Commit(commit::Record),
    /// A job that was submitted here, and how far it is.
    Job(Job, Stage),
}

/// The commit as a part of a desk.
struct AsCommit<'a> {
    tasks: &'a mut Vec<Task>,
    /// What the coordinator says, to be acted on when it is done.
    heard: Vec<coordinator::Notice>,
}

impl<P: Policy> Embed<commit::Node<P>, Desk<P>> for AsCommit<'_> {
    fn message(&mut self, message: commit::Message) -> commit::Message {
        message
    }
    fn timer(&mut self, timer: commit::Timer) -> commit::Timer {
        timer
    }
    fn key(&mut self, key: commit::Key) -> Key {
        Key::Commit(key)
    }
    fn record(&mut self, record: commit::Record) -> Record {
        Record::Commit(record)
    }
    fn notice(&mut self, notice: commit::Notice, cx: &mut dyn Context<Desk<P>>) {
        match notice {
            commit::Notice::Coordinator(coordinator::Notice::Finished { job }) => {
                // Told and forgotten here before the coordinator forgets it, so that no later life runs it again.
                if let Ok(index) = task::index_of(self.tasks, job) {
                    self.tasks.remove(index);
                    tell(job, News::Finished, cx);
                    cx.forget(Key::Job(job));
                    cx.notify(Notice::Done { job });
                }
            }
            commit::Notice::Coordinator(notice) => self.heard.push(notice),
            commit::Notice::Participant(participant::Notice::Begin { attempt, .. }) => {
                tell(attempt.job, News::Started, cx);
            }
            commit::Notice::Participant(participant::Notice::Stop { attempt, .. }) => {
                tell(attempt.job, News::Stopped, cx);
            }
            commit::Notice::Participant(participant::Notice::Changed) => {
                cx.notify(Notice::Changed);
            }
            commit::Notice::Participant(participant::Notice::Declined { .. }) => {}
        }
    }
}

/// Tells the host something of a job.
fn tell<P: Policy>(job: JobId, news: News, cx: &mut dyn Context<Desk<P>>) {
    cx.notify(Notice::Job(job::Notice { job, news }));
}

impl<P: Policy> Desk<P> {
    /// A desk without jobs. The configuration is that of all nodes; see [`commit::Config::checked`].
    pub fn new(config: Config, policy: P) -> Self {
        Self {
            config,
            node: commit::Node::new(config.commit, policy),
            tasks: Vec::new(),
            leaving: false,
        }
    }

    /// Its schedule, and what it has in common with others.
    pub const fn commitments(&self) -> &commit::Node<P> {
        &self.node
    }

    /// The jobs that were submitted here and have no last word yet.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> + '_ {
        self.tasks.iter().map(|task| &task.job)
    }

    /// One of them.
    pub fn job(&self, job: JobId) -> Option<&Job> {
        let index = task::index_of(&self.tasks, job).ok()?;
        self.tasks.get(index).map(|task| &task.job)
    }

    /// How far one of them is.
    pub fn stage(&self, job: JobId) -> Option<Stage> {
        let index = task::index_of(&self.tasks, job).ok()?;
        self.tasks.get(index).map(|task| task.stage)
    }

    /// Whether it takes nothing new.
    pub const fn is_leaving(&self) -> bool {
        self.leaving
    }

    /// What others may know of this node's schedule: when it is committed from `from` on, in at most so many windows, under a
    /// number of the caller's.
    ///
    /// Holds are left out: most become commitments or nothing within a few round trips, and whoever wants the same time
    /// meanwhile is refused.
    pub fn snapshot(&self, version: u64, from: Time, most: usize) -> Snapshot {
        let most = most.min(Snapshot::MAX_WINDOWS);
        let (windows, horizon) = if self.leaving {
            // It has no time for anyone any more.
            (Vec::new(), Time::ZERO)
        } else {
            committed(self.node.participant.schedule(), from, most)
        };
        // They are sorted and apart as commitments are, so this does not fail.
        Snapshot::new(version, horizon, &windows).unwrap_or_else(|_| Snapshot::empty(version))
    }

    /// Lets the commit handle something, and acts on what it has to say.
    fn confirm(&mut self, event: Event<commit::Node<P>>, cx: &mut dyn Context<Self>) {
        let mut embed = AsCommit {
            tasks: &mut self.tasks,
            heard: Vec::new(),
        };
        self.node.handle(event, &mut cx.lift(&mut embed));
        for notice in embed.heard {
            self.coordinated(notice, cx);
        }
    }

    fn coordinate(&mut self, command: coordinator::Command, cx: &mut dyn Context<Self>) {
        let command = commit::Command::Coordinator(command);
        self.confirm(Event::Command(command), cx);
    }

    fn receive(&mut self, from: NodeId, message: commit::Message, cx: &mut dyn Context<Self>) {
        match message {
            commit::Message::Prepare { attempt, .. } if self.leaving => {
                let refused = commit::Message::Refused {
                    attempt,
                    reason: commit::Refused::NotAccepted,
                    next_free: None,
                };
                cx.send(from, refused);
            }
            message => self.confirm(Event::Message { from, message }, cx),
        }
    }

    fn obey(&mut self, command: Command, cx: &mut dyn Context<Self>) {
        match command {
            Command::Submit { job, refused } => self.submit(job, refused, cx),
            Command::Cancel(job) => self.cancel(job, cx),
            Command::Ended { job, outcome } => {
                let mut running = self.node.participant.running();
                if let Some(attempt) = running.find(|attempt| attempt.job == job) {
                    drop(running);
                    let ended = participant::Command::Ended { attempt, outcome };
                    let ended = commit::Command::Participant(ended);
                    self.confirm(Event::Command(ended), cx);
                }
            }
            Command::Leave => self.leaving = true,
            Command::Place {
                job,
                candidates,
                spares,
            } => {
                if let Some(submitter) = self.job(job).map(|job| job.submitter) {
                    let place = coordinator::Command::Place {
                        job,
                        submitter,
                        candidates,
                        spares,
                    };
                    self.coordinate(place, cx);
                }
            }
            Command::NotFound { job, refusal } => match refusal {
                Some(refusal) => self.fail(job, job::Failure::Refused(refusal), cx),
                None => self.search(job, None, cx),
            },
            Command::Improve { job, candidate } => {
                self.coordinate(coordinator::Command::Improve { job, candidate }, cx);
            }
        }
    }
}

impl<P: Policy> Machine for Desk<P> {
    type Message = commit::Message;
    type Timer = commit::Timer;
    type Command = Command;
    type Notice = Notice;
    type Key = Key;
    type Record = Record;

    fn handle(&mut self, event: Event<Self>, cx: &mut dyn Context<Self>) {
        match event {
            Event::Start => {
                self.confirm(Event::Start, cx);
                self.resume(cx);
            }
            Event::Message { from, message } => self.receive(from, message, cx),
            Event::Unreachable { to } => self.confirm(Event::Unreachable { to }, cx),
            Event::Timer(timer) => self.confirm(Event::Timer(timer), cx),
            Event::Command(command) => self.obey(command, cx),
            Event::Restored(Key::Commit(key), Record::Commit(record)) => {
                self.confirm(Event::Restored(key, record), cx);
            }
            Event::Restored(Key::Job(id), Record::Job(job, stage)) if id == job.id => {
                if let Err(index) = task::index_of(&self.tasks, id) {
                    self.tasks.insert(index, Task::new(job, stage));
                }
            }
            // No such pair was ever written.
            Event::Restored(..) => {}
        }
    }

    fn check(&self) -> Result<(), Violation> {
        self.node.check()?;
        Violation::unless(
            self.tasks.is_sorted_by(|a, b| a.job.id < b.job.id)
                && self.tasks.len() <= usize::from(self.config.commit.tasks),
            "a node has no more jobs than it may, each once",
        )
    }
}

/// When a node is committed from `from` on, as windows with a gap between any two, at most so many; and from when on it
/// is not said.
fn committed(
    schedule: &Schedule<Vec<Reservation>>,
    from: Time,
    most: usize,
) -> (Vec<Interval>, Time) {
    let mut windows: Vec<Interval> = Vec::new();
    let standing = schedule
        .iter()
        .filter(|known| known.status == Status::Committed && known.interval.end() > from);
    for known in standing {
        let next = known.interval;
        let full = windows.len() >= most;
        match windows.last_mut() {
            Some(last) if next.start() <= last.end() => {
                if let Ok(joined) = Interval::new(last.start(), next.end().max(last.end())) {
                    *last = joined;
                }
            }
            _ if full => return (windows, next.start()),
            _ => windows.push(next),
        }
    }
    (windows, Time::MAX)
}
