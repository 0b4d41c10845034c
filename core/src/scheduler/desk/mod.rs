//! The desk of a node: takes jobs, has their placements confirmed, and tells the outcome of each.
//!
//! A scheduler that reserves time on several nodes finds placements; the desk does the rest, which is the same for all
//! such schedulers. It tells the scheduler to search ([`Notice::Search`]). The scheduler answers with placements
//! ([`Command::Place`]) or with none ([`Command::NotFound`]). Placements are confirmed with [`commit`].
//!
//! ```text
//!  host          scheduler                      desk                       commit
//!   Submit ─────▶ Submit ─────────────────────▶ persists it
//!                 finds placements ◀──── Search
//!                 Place ──────────────────────▶ Place ───────────────────▶ Prepare …
//!   Accepted ◀─────────────────────────── Job ◀─────────────────── Placed
//!                 finds a better one,
//!                 Improve ────────────────────▶ Improve ─────────────────▶ Prepare …
//!   Finished ◀─────────────────────────── Job ◀───────────────── Finished
//! ```
//!
//! # Rules
//! - A job without a placement is searched for up to [`Config::rounds`] times; then it fails. Each placement gives the
//!   job all its rounds again, unless it has lost 64 placements: its nodes do not keep their reservations.
//! - After an attempt that may have run, a job is searched for again only as its own policy says ([`job::Retry`]).
//! - The outcome of a cancelled job is told when none of its nodes has a hold or a reservation for it any more.
//! - A node that drains or leaves takes no jobs, gives no new holds, and goes on with the jobs it has. That a node
//!   drains survives a crash.
//! - Submitted jobs, and what their hosts were told, survive a crash. The outcome of a job may then be told twice, but
//!   never two different outcomes.
//!
//! # Example
//! A job comes in; the scheduler finds no nodes for it.
//! ```
//! use core::num::NonZeroU32;
//! use gridweave_core::commit::{self, Everyone};
//! use gridweave_core::id::JobId;
//! use gridweave_core::job::{self, Demand, Failure, Job, News, Refusal};
//! use gridweave_core::machine::{Effect, EffectQueue, Event};
//! use gridweave_core::scheduler::desk::{Command, Config, Desk, Notice};
//! use gridweave_core::time::{Span, Time};
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let config = Config { rounds: 2, commit: commit::Config::DEFAULT };
//! let (mut desk, mut effects) = (Desk::new(config, Everyone), EffectQueue::new());
//! let job = Job::new(JobId::new(7), Demand::Nodes(NonZeroU32::MIN), Span::from_secs(600))?;
//! effects.feed(&mut desk, Event::Start, Time::ZERO, &mut rng);
//! effects.feed(&mut desk, Event::Command(Command::submit(job)), Time::ZERO, &mut rng);
//! let search = Effect::Notify(Notice::Search { job: job.id, left: 1, setback: None });
//! assert!(effects.drain().any(|effect| effect == search));
//!
//! let none = Command::NotFound { job: job.id, refusal: Some(Refusal::NoMatch) };
//! effects.feed(&mut desk, Event::Command(none), Time::ZERO, &mut rng);
//! let news = News::Failed(Failure::Refused(Refusal::NoMatch));
//! let told = Effect::Notify(Notice::Job(job::Notice { job: job.id, news }));
//! assert!(effects.drain().any(|effect| effect == told));
//! # Ok::<(), gridweave_core::job::JobError>(())
//! ```

mod task;
#[cfg(test)]
mod tests;

pub use task::Stage;

use alloc::vec::Vec;

use super::duty::Duty;
use crate::admission::Needs;
use crate::commit::coordinator::Setback;
use crate::commit::{self, Candidate, Everyone, Policy, coordinator, participant};
use crate::config::{ConfigError, Limits};
use crate::id::{Epoch, JobId, NodeId};
use crate::job::{self, Job, News, Outcome, Payload, Refusal, Survival};
use crate::machine::{Context, Embed, Event, Machine, Violation};
use crate::schedule::{Attempt, Reservation, Schedule, Snapshot, SnapshotOptions, Status};
use crate::time::{Interval, Time};
use task::Task;

/// The rules of a desk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Config {
    /// How many searches for a placement are made before a job fails.
    pub rounds: u8,
    /// How placements are confirmed.
    pub commit: commit::Config,
}

impl Config {
    /// Refuses values that cannot work together. [`Desk::new`] does not call it: its caller does.
    pub const fn checked(self) -> Result<Self, ConfigError> {
        Limits::new()
            .number("rounds", self.rounds as u64)
            .at_least(1, "or no search begins")
            .part("commit", &self.commit.checked())
            .end(self)
    }
}

/// The part of a node where jobs are submitted and where coordinators reserve time.
///
/// Most effects per event, beside those of the commit: four for each job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Desk<P: Policy = Everyone> {
    config: Config,
    node: commit::Node<P>,
    /// In the order of jobs.
    tasks: Vec<Task>,
    duty: Duty,
}

/// The commands of a scheduler to its desk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// Take a new job.
    Submit {
        /// The new job.
        job: Job,
        /// What the hosts that run it are told.
        payload: Payload,
        /// Why this scheduler refuses the job; `None` if it takes it.
        refused: Option<Refusal>,
    },
    /// Cancel this job.
    Cancel(JobId),
    /// An attempt that runs on this node has ended by itself.
    Ended {
        /// The job that ended.
        job: JobId,
        /// The attempt that ran.
        attempt: Epoch,
        /// Whether it is done or broke.
        outcome: Outcome,
    },
    /// Between the records of an earlier life and `Start`: what became of an attempt that this node had started.
    Survived {
        /// The job.
        job: JobId,
        /// The attempt that ran.
        attempt: Epoch,
        /// What became of it.
        survival: Survival,
    },
    /// Take no new jobs and no new holds, for now or for good; or take them again. Other commands change nothing.
    OnDuty(job::Command),
    /// Have a placement confirmed, for a job that has none.
    Place {
        /// The job to place.
        job: JobId,
        /// The placements to try, best first.
        candidates: Vec<Candidate>,
        /// Nodes that can stand in for one that is lost before the start, best last.
        spares: Vec<NodeId>,
    },
    /// The search has found no placement.
    NotFound {
        /// The job that was searched for.
        job: JobId,
        /// Why the job fails; `None` to search again.
        refusal: Option<Refusal>,
    },
    /// The job waits without a placement. It gets all its rounds again.
    Wait {
        /// The job that waits.
        job: JobId,
    },
    /// Have a better placement confirmed, for a job that has one.
    Improve {
        /// The job to move.
        job: JobId,
        /// The better placement.
        candidate: Candidate,
        /// More nodes that can stand in for one that is lost before the start, best last.
        spares: Vec<NodeId>,
    },
}

impl Command {
    /// Take a new job without a payload, which the scheduler does not refuse.
    pub const fn submit(job: Job) -> Self {
        Self::Submit {
            job,
            payload: Payload::EMPTY,
            refused: None,
        }
    }

    /// What a host asks, as its scheduler passes it on. `refused` says why the scheduler refuses a new job. `None` if
    /// the desk has no part in it: in overlays and foreign sites.
    pub fn from_host(command: &job::Command, refused: Option<Refusal>) -> Option<Self> {
        Some(match *command {
            job::Command::Submit { job, ref payload } => Self::Submit {
                job,
                payload: payload.clone(),
                refused,
            },
            job::Command::Cancel(job) => Self::Cancel(job),
            job::Command::Ended {
                job,
                attempt,
                outcome,
            } => Self::Ended {
                job,
                attempt,
                outcome,
            },
            job::Command::Survived {
                job,
                attempt,
                survival,
            } => Self::Survived {
                job,
                attempt,
                survival,
            },
            job::Command::Leave | job::Command::Drain | job::Command::Resume => {
                Self::OnDuty(command.clone())
            }
            job::Command::Meet(_) | job::Command::Site(_) => return None,
        })
    }
}

/// The notices of a desk to its scheduler.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Notice {
    /// A notice for the host, about a job.
    Job(job::Notice),
    /// Search a placement.
    Search {
        /// The job without a placement.
        job: JobId,
        /// How many more searches there may be if this one finds nothing.
        left: u8,
        /// Why the last placement failed, if there was one.
        setback: Option<Setback>,
    },
    /// A placement is confirmed.
    Placed {
        /// The job that was placed.
        job: JobId,
        /// The start of the placement.
        start: Time,
    },
    /// A better placement was not confirmed.
    Kept {
        /// The job, which keeps the placement that it has, if any.
        job: JobId,
        /// Why the better placement failed; `None` if it was not tried.
        setback: Option<Setback>,
    },
    /// The search for a job is over.
    Done {
        /// The job that needs no placement any more.
        job: JobId,
    },
    /// The reservations at this node have changed, or whether it takes jobs.
    Changed,
}

/// The key of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// A key of the commit.
    Commit(commit::Key),
    /// A job that was submitted here.
    Job(JobId),
    /// That the node drains.
    Draining,
}

/// What a desk keeps on disk.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A record of the commit.
    Commit(commit::Record),
    /// A job that was submitted here.
    Job {
        /// The job.
        job: Job,
        /// What the hosts that run it are told.
        payload: Payload,
        /// How far it is.
        stage: Stage,
    },
    /// The node drains.
    Draining,
}

/// The commit as a part of a desk.
struct AsCommit<'a> {
    tasks: &'a mut Vec<Task>,
    /// Notices of the coordinator, handled after the commit has returned.
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
                // The job is told and forgotten here before the coordinator forgets it: no later life runs it again.
                if let Ok(index) = task::index_of(self.tasks, job) {
                    self.tasks.remove(index);
                    tell(job, News::Finished, cx);
                    cx.forget(Key::Job(job));
                    cx.notify(Notice::Done { job });
                }
            }
            commit::Notice::Coordinator(notice) => self.heard.push(notice),
            commit::Notice::Participant(participant::Notice::Changed) => {
                cx.notify(Notice::Changed);
            }
            commit::Notice::Participant(notice) => {
                if let Some((job, news)) = news_of(notice) {
                    tell(job, news, cx);
                }
            }
        }
    }
}

/// What the host is told of a job that is to run here.
fn news_of(notice: participant::Notice) -> Option<(JobId, News)> {
    use participant::Notice::{Assigned, Begin, Extended, Released, Stop};
    let (job, news) = match notice {
        Assigned { job, assignment } => (job, News::Assigned(assignment)),
        Released { attempt } => {
            let Attempt { job, epoch } = attempt;
            (job, News::Released { attempt: epoch })
        }
        Begin {
            attempt: Attempt { job, epoch },
            until,
            assignment,
        } => {
            let started = News::Started {
                attempt: epoch,
                until,
                assignment,
            };
            (job, started)
        }
        Extended { attempt, until } => {
            let Attempt { job, epoch } = attempt;
            let attempt = epoch;
            (job, News::Extended { attempt, until })
        }
        Stop { attempt, .. } => {
            let Attempt { job, epoch } = attempt;
            (job, News::Stopped { attempt: epoch })
        }
        _ => return None,
    };
    Some((job, news))
}

/// Tells the host news of a job.
fn tell<P: Policy>(job: JobId, news: News, cx: &mut dyn Context<Desk<P>>) {
    cx.notify(Notice::Job(job::Notice { job, news }));
}

impl<P: Policy> Desk<P> {
    /// A desk without jobs. All nodes of a grid have the same configuration; see [`commit::Config::checked`].
    pub fn new(config: Config, policy: P) -> Self {
        Self {
            config,
            node: commit::Node::new(config.commit, policy),
            tasks: Vec::new(),
            duty: Duty::Working,
        }
    }

    /// This node as a participant, with its schedule, and as a coordinator.
    pub const fn commitments(&self) -> &commit::Node<P> {
        &self.node
    }

    /// Which submitters may use this node, and what it has.
    pub const fn policy(&self) -> &P {
        self.node.participant.policy()
    }

    /// The jobs that were submitted here and have no outcome yet.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> + '_ {
        self.tasks.iter().map(|task| &task.job)
    }

    /// A job that was submitted here and has no outcome yet.
    pub fn job(&self, job: JobId) -> Option<&Job> {
        let index = task::index_of(&self.tasks, job).ok()?;
        self.tasks.get(index).map(|task| &task.job)
    }

    /// The stage of a job that was submitted here and has no outcome yet.
    pub fn stage(&self, job: JobId) -> Option<Stage> {
        let index = task::index_of(&self.tasks, job).ok()?;
        self.tasks.get(index).map(|task| task.stage)
    }

    /// Whether this node takes new jobs and holds: it neither drains nor leaves.
    pub fn takes_jobs(&self) -> bool {
        self.duty.takes_jobs()
    }

    /// Whether this node drains, and nothing runs or is to run here, and no job that was submitted here is open.
    pub fn is_drained(&self) -> bool {
        let is_idle = canary!(DrainedTooSoon) || self.node.participant.engaged().next().is_none();
        self.duty == Duty::Draining && is_idle && self.tasks.is_empty()
    }

    /// This node's schedule as it is told to peers: its committed reservations.
    ///
    /// Holds are left out: most of them are committed or aborted within a few round trips. A coordinator that wants the
    /// same time meanwhile is refused.
    pub fn snapshot(&self, options: SnapshotOptions) -> Snapshot {
        let SnapshotOptions {
            from,
            version,
            most_windows,
        } = options;
        let (windows, horizon) = if !self.duty.takes_jobs() {
            // A node that takes no jobs is busy for ever.
            (Vec::new(), Time::ZERO)
        } else {
            committed(self.node.participant.schedule(), from, most_windows)
        };
        // `committed` gives windows that are sorted and do not touch, so this does not fail.
        Snapshot::new(version, horizon, &windows).unwrap_or_else(|_| Snapshot::empty(version))
    }

    /// Lets the commit handle an event, then handles its notices.
    fn confirm(&mut self, event: Event<commit::Node<P>>, cx: &mut dyn Context<Self>) {
        let mut embed = AsCommit {
            tasks: &mut self.tasks,
            heard: Vec::new(),
        };
        self.node.handle(event, &mut cx.lift(&mut embed));
        for notice in embed.heard {
            self.on_coordinator_notice(notice, cx);
        }
    }

    fn coordinate(&mut self, command: coordinator::Command, cx: &mut dyn Context<Self>) {
        let command = commit::Command::Coordinator(command);
        self.confirm(Event::Command(command), cx);
    }

    fn receive(&mut self, from: NodeId, message: commit::Message, cx: &mut dyn Context<Self>) {
        match message {
            commit::Message::Prepare { attempt, .. } if !self.duty.takes_jobs() => {
                let refused = commit::Message::Refused {
                    attempt,
                    reason: commit::Refused::Draining,
                    next_free: None,
                };
                cx.send(from, refused);
            }
            message => self.confirm(Event::Message { from, message }, cx),
        }
    }

    fn obey(&mut self, command: Command, cx: &mut dyn Context<Self>) {
        match command {
            Command::Submit {
                job,
                payload,
                refused,
            } => self.submit(job, payload, refused, cx),
            Command::Cancel(job) => self.cancel(job, cx),
            Command::Ended {
                job,
                attempt,
                outcome,
            } => {
                let attempt = Attempt::new(job, attempt);
                let ended = participant::Command::Ended { attempt, outcome };
                let ended = commit::Command::Participant(ended);
                self.confirm(Event::Command(ended), cx);
            }
            Command::Survived {
                job,
                attempt,
                survival,
            } => {
                let attempt = Attempt::new(job, attempt);
                let survived = participant::Command::Survived { attempt, survival };
                let survived = commit::Command::Participant(survived);
                self.confirm(Event::Command(survived), cx);
            }
            Command::OnDuty(command) => {
                let draining = (Key::Draining, Record::Draining);
                let changed = self.duty.obey(&command, draining, cx);
                // A leaver tells that it goes.
                if changed && command != job::Command::Leave {
                    cx.notify(Notice::Changed);
                }
            }
            Command::Place {
                job,
                candidates,
                spares,
            } => {
                let task = task::index_of(&self.tasks, job).ok();
                if let Some(task) = task.and_then(|index| self.tasks.get(index)) {
                    let place = coordinator::Command::Place {
                        job,
                        submitter: task.job.submitter,
                        needs: Needs::of(&task.job),
                        payload: task.payload.clone(),
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
            Command::Wait { job } => self.renew_rounds(job),
            Command::Improve {
                job,
                candidate,
                spares,
            } => {
                let improve = coordinator::Command::Improve {
                    job,
                    candidate,
                    spares,
                };
                self.coordinate(improve, cx);
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
            Event::Restored(
                Key::Job(id),
                Record::Job {
                    job,
                    payload,
                    stage,
                },
            ) if id == job.id => {
                if let Err(index) = task::index_of(&self.tasks, id) {
                    self.tasks.insert(index, Task::new(job, payload, stage));
                }
            }
            Event::Restored(Key::Draining, Record::Draining) => self.duty = Duty::Draining,
            // A key and a record that do not match are never written together.
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

/// The committed time of a node from `from` on, as at most `most` windows that do not touch; and the horizon, from
/// which on nothing is said.
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
