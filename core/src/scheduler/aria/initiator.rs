//! A job where it was submitted, from its submission to its last word.

use alloc::vec::Vec;

use super::message::{Ending, Ruling, Standing, Term};
use super::offers::{Offer, Offers};
use super::relay::Kind;
use super::{Aria, Key, Message, Record, Timer};
use crate::id::{JobId, NodeId};
use crate::job::{Criterion, Failure, Job, News, Notice, Refusal};
use crate::machine::Context;
use crate::overlay::flood::FloodId;
use crate::queue::{Cost, LocalScheduler};
use crate::shared::Shared;
use crate::time::{Span, Time};

/// A job that was submitted here and has no last word yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Task {
    pub(super) job: Shared<Job>,
    /// How often offers may still be asked for.
    left: u8,
    /// The start that its submitter was told.
    told: Option<Time>,
    /// Whether it is known to have started somewhere. What is lost after that has only the rounds that are left: it may be what
    /// brings its nodes down.
    started: bool,
    phase: Phase,
    /// When something is to be done about it.
    due: Time,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Phase {
    /// It was read from disk.
    Restored(Stage),
    /// Offers come in; the last attempt had this number.
    Collecting {
        attempt: u32,
        flood: FloodId,
        offers: Offers,
    },
    /// Nobody offered, or whoever had it is lost; offers are asked for again when this is over.
    Pausing { attempt: u32 },
    /// This node is to take it, and has not said so.
    Assigning {
        term: Term,
        to: NodeId,
        tries: u8,
        others: Offers,
    },
    /// This node has it, until then unless it asks for more time.
    Held {
        term: Term,
        holder: NodeId,
        until: Time,
    },
    /// It is not wanted any more, but may still be there.
    Withdrawing {
        term: Term,
        holder: NodeId,
        until: Time,
    },
}

/// How far a job is, as far as its initiator must not forget.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stage {
    /// Nobody has it. It was given away so often.
    Open {
        /// How often.
        attempt: u32,
    },
    /// This node was given it.
    Given {
        /// Under which term.
        term: Term,
        /// Whom.
        holder: NodeId,
        /// The start that its submitter was told.
        told: Option<Time>,
    },
    /// It was cancelled, but this node may still have it.
    Cancelled {
        /// Under which term.
        term: Term,
        /// Who.
        holder: NodeId,
    },
    /// This was its last word, and its submitter was told so, or would have been.
    Over(News),
}

impl Task {
    /// A job from disk.
    pub(super) const fn restored(job: Shared<Job>, stage: Stage) -> Self {
        let told = match stage {
            Stage::Given { told, .. } => told,
            _ => None,
        };
        Self {
            job,
            left: 0,
            told,
            started: false,
            phase: Phase::Restored(stage),
            due: Time::MAX,
        }
    }

    /// Where it is, as far as its initiator knows.
    pub(super) const fn holder(&self) -> Option<NodeId> {
        match self.phase {
            Phase::Held { holder, .. } | Phase::Withdrawing { holder, .. } => Some(holder),
            _ => None,
        }
    }

    pub(super) fn is_sound(&self) -> bool {
        match &self.phase {
            Phase::Collecting { offers, .. } => offers.is_in_order(),
            Phase::Assigning { others, .. } => others.is_in_order(),
            _ => true,
        }
    }
}

fn tell<S: LocalScheduler>(job: JobId, news: News, cx: &mut impl Context<Aria<S>>) {
    cx.notify(Notice { job, news });
}

impl<S: LocalScheduler> Aria<S> {
    pub(super) fn task_place(&self, job: JobId) -> Result<usize, usize> {
        self.tasks
            .binary_search_by_key(&job, |task| task.job.get().id)
    }

    fn task_mut(&mut self, job: JobId) -> Option<&mut Task> {
        let place = self.task_place(job).ok()?;
        self.tasks.get_mut(place)
    }

    pub(super) fn submit(&mut self, job: Job, cx: &mut impl Context<Self>) {
        let place = self.task_place(job.id);
        // Known first: who is asked again after a crash must not have the job go elsewhere, too.
        let refused = if place.is_ok() {
            Some(Refusal::Known)
        } else if self.leaving {
            Some(Refusal::Leaving)
        } else if self.tasks.len() >= usize::from(self.config.tasks) {
            Some(Refusal::Full)
        } else if job.criterion != Criterion::Soonest {
            Some(Refusal::UnsupportedCriterion)
        } else if job.deadline.is_some_and(|deadline| deadline <= cx.now()) {
            Some(Refusal::DeadlinePassed)
        } else {
            self.site.refusal(&job)
        };
        let place = match (refused, place) {
            (None, Err(place)) => place,
            (refused, _) => {
                let refused = refused.unwrap_or(Refusal::Known);
                tell(job.id, News::Failed(Failure::Refused(refused)), cx);
                return;
            }
        };
        let stage = Stage::Open { attempt: 0 };
        cx.persist(Key::Task(job.id), Record::Task(Shared::new(job), stage));
        let mut task = Task::restored(Shared::new(job), stage);
        task.left = self.config.rounds;
        self.tasks.insert(place, task);
        self.ask_for_offers(job.id, 0, cx);
    }

    /// Takes up a job from disk.
    pub(super) fn resume_task(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let (rounds, until) = (self.config.rounds, cx.now() + self.config.lease);
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let Phase::Restored(stage) = task.phase else {
            return;
        };
        task.left = rounds;
        match stage {
            Stage::Open { attempt } => self.ask_for_offers(job, attempt, cx),
            // Whatever was granted in an earlier life ends before a lease from now is over.
            Stage::Given { term, holder, .. } => {
                task.phase = Phase::Held {
                    term,
                    holder,
                    until,
                };
                self.wait_out(job, until, cx);
            }
            Stage::Cancelled { term, holder } => {
                task.phase = Phase::Withdrawing {
                    term,
                    holder,
                    until,
                };
                self.attend_task(job, cx);
            }
            Stage::Over(news) => self.close(job, news, cx),
        }
    }

    fn persist_stage(&self, job: &Shared<Job>, stage: Stage, cx: &mut impl Context<Self>) {
        cx.persist(Key::Task(job.get().id), Record::Task(job.clone(), stage));
    }

    fn wake_task(&mut self, job: JobId, at: Time, cx: &mut impl Context<Self>) {
        if let Some(task) = self.task_mut(job) {
            task.due = at;
            cx.wake(at, Timer::Task(job));
        }
    }

    /// Does nothing about a job until whoever has it has surely let it go.
    fn wait_out(&mut self, job: JobId, until: Time, cx: &mut impl Context<Self>) {
        self.wake_task(job, until + self.config.max_skew, cx);
    }

    /// Floods a REQUEST, if it may.
    fn ask_for_offers(&mut self, job: JobId, attempt: u32, cx: &mut impl Context<Self>) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let Some(left) = task.left.checked_sub(1) else {
            let failure = match task.told {
                Some(_) => Failure::NodeLost,
                None => Failure::Refused(Refusal::NoMatch),
            };
            self.close(job, News::Failed(failure), cx);
            return;
        };
        task.left = left;
        let shared = task.job.clone();
        let flood = self.flood(Kind::Request, &shared, Cost::MAX, cx);
        if let Some(task) = self.task_mut(job) {
            task.phase = Phase::Collecting {
                attempt,
                flood,
                offers: Offers::default(),
            };
        }
        let due = cx.now() + self.config.window;
        self.wake_task(job, due, cx);
    }

    /// A node would take a job that it was asked about.
    pub(super) fn offered(&mut self, flood: FloodId, offer: Offer) {
        if let Some(task) = self.task_mut(JobId::new(flood.sequence))
            && let Phase::Collecting {
                flood: asked,
                offers,
                ..
            } = &mut task.phase
            && *asked == flood
        {
            offers.hear(offer);
        }
    }

    /// Something is to be done about a job, if it is time.
    pub(super) fn attend_task(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let (now, skew, retry) = (cx.now(), self.config.max_skew, self.config.retry);
        let Some(task) = self.task_mut(job) else {
            return;
        };
        if !matches!(task.phase, Phase::Withdrawing { .. }) && now < task.due {
            let due = task.due;
            cx.wake(due, Timer::Task(job));
            return;
        }
        match &mut task.phase {
            Phase::Restored(_) => {}
            Phase::Collecting {
                attempt, offers, ..
            } => {
                let (attempt, offers) = (*attempt, core::mem::take(offers));
                self.choose(job, attempt, offers, cx);
            }
            Phase::Pausing { attempt } => {
                let attempt = *attempt;
                self.ask_for_offers(job, attempt, cx);
            }
            Phase::Assigning {
                term,
                to,
                tries,
                others,
            } => match tries.checked_sub(1) {
                Some(left) => {
                    *tries = left;
                    let (term, to) = (*term, *to);
                    let assign = Message::Assign {
                        job: task.job.clone(),
                        initiator: self.me,
                        term,
                    };
                    self.say(to, assign, cx);
                    self.wake_task(job, now + retry, cx);
                }
                None => {
                    let (attempt, others) = (term.attempt, core::mem::take(others));
                    self.assign(job, attempt, others, cx);
                }
            },
            Phase::Held { term, .. } => {
                let attempt = term.attempt;
                self.place_again(job, attempt, cx);
            }
            Phase::Withdrawing {
                term,
                holder,
                until,
            } => {
                let (term, holder, gone) = (*term, *holder, *until + skew);
                if now >= gone {
                    self.close(job, News::Cancelled, cx);
                    return;
                }
                let ruling = Ruling::Withdraw;
                self.say(holder, Message::Verdict { job, term, ruling }, cx);
                self.wake_task(job, gone.min(now + retry), cx);
            }
        }
    }

    /// Whoever had a job is lost.
    fn place_again(&mut self, job: JobId, attempt: u32, cx: &mut impl Context<Self>) {
        self.counts.placed_again = self.counts.placed_again.saturating_add(1);
        if let Some(task) = self.task_mut(job) {
            let shared = task.job.clone();
            self.persist_stage(&shared, Stage::Open { attempt }, cx);
            self.ask_for_offers(job, attempt, cx);
        }
    }

    /// All offers are in, and this node's own.
    fn choose(
        &mut self,
        job: JobId,
        attempt: u32,
        mut offers: Offers,
        cx: &mut impl Context<Self>,
    ) {
        let Some(shared) = self.task_mut(job).map(|task| task.job.clone()) else {
            return;
        };
        // The initiator is a candidate like all others, at no cost of messages (PROTOCOLS A2).
        if !self.leaving && self.has_room() && self.site.takes(shared.get()) {
            let (cost, node) = (self.price(shared.get(), cx), self.me);
            offers.hear(Offer { cost, node });
        }
        self.assign(job, attempt, offers, cx);
    }

    /// Gives a job to the best of those that offered, or asks again later if there is none.
    fn assign(
        &mut self,
        job: JobId,
        attempt: u32,
        mut offers: Offers,
        cx: &mut impl Context<Self>,
    ) {
        let (tries, rounds) = (self.tries(), self.config.rounds);
        let pause = self.config.pause;
        let now = cx.now();
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let Some(attempt) = attempt.checked_add(1) else {
            self.close(job, News::Failed(Failure::NodeLost), cx);
            return;
        };
        let Some(Offer { node: to, .. }) = offers.take_best() else {
            let attempt = attempt.saturating_sub(1);
            task.phase = Phase::Pausing { attempt };
            let before = rounds.saturating_sub(task.left).saturating_sub(1).min(16);
            let wait = if task.left == 0 {
                Span::ZERO
            } else {
                pause.times(1_u64 << before)
            };
            self.wake_task(job, now + wait, cx);
            return;
        };
        let term = Term { attempt, moves: 0 };
        let (shared, told) = (task.job.clone(), task.told);
        task.phase = Phase::Assigning {
            term,
            to,
            tries,
            others: offers,
        };
        task.due = now;
        let holder = to;
        self.persist_stage(&shared, Stage::Given { term, holder, told }, cx);
        self.attend_task(job, cx);
    }

    /// A node does not take a job that it was given.
    pub(super) fn not_taken(
        &mut self,
        from: NodeId,
        job: JobId,
        refused: Term,
        cx: &mut impl Context<Self>,
    ) {
        if let Some(task) = self.task_mut(job)
            && let Phase::Assigning {
                term, to, others, ..
            } = &mut task.phase
            && (*to, *term) == (from, refused)
        {
            let (attempt, others) = (term.attempt, core::mem::take(others));
            self.assign(job, attempt, others, cx);
        }
    }

    /// A node cannot be reached, so that it takes nothing. Whether it has something that it was given before is another question.
    pub(super) fn assignee_unreachable(&mut self, node: NodeId, cx: &mut impl Context<Self>) {
        let waiting: Vec<(JobId, Term)> = self
            .tasks
            .iter()
            .filter_map(|task| match task.phase {
                Phase::Assigning { to, term, .. } if to == node => Some((task.job.get().id, term)),
                _ => None,
            })
            .collect();
        for (job, term) in waiting {
            self.not_taken(node, job, term, cx);
        }
    }

    /// A site tells how a job is that it has.
    pub(super) fn notified(
        &mut self,
        from: NodeId,
        job: JobId,
        term: Term,
        standing: Standing,
        cx: &mut impl Context<Self>,
    ) {
        let ruling = match standing {
            Standing::Ended(ending) => {
                self.ended_there(from, job, term, ending, cx);
                Ruling::Over
            }
            Standing::Waiting { start } => self.claimed(from, job, term, Some(start), cx),
            Standing::Running => self.claimed(from, job, term, None, cx),
        };
        self.say(from, Message::Verdict { job, term, ruling }, cx);
    }

    /// A site has a job, or says so: it is believed if it was given it, or by whoever was (PROTOCOLS A16).
    fn claimed(
        &mut self,
        from: NodeId,
        job: JobId,
        term: Term,
        start: Option<Time>,
        cx: &mut impl Context<Self>,
    ) -> Ruling {
        let until = cx.now() + self.config.lease;
        let rounds = self.config.rounds;
        let Some(task) = self.task_mut(job) else {
            return Ruling::Over;
        };
        let is_new = match task.phase {
            Phase::Assigning {
                term: given, to, ..
            } if (given, to) == (term, from) => true,
            Phase::Held {
                term: present,
                holder,
                ..
            } => match succeeds((present, holder), (term, from)) {
                Some(is_new) => is_new,
                None => return Ruling::Over,
            },
            Phase::Withdrawing {
                term: present,
                holder,
                ..
            } => {
                if succeeds((present, holder), (term, from)) != Some(true) {
                    return Ruling::Withdraw;
                }
                // It moved meanwhile. Nothing was granted there.
                task.phase = Phase::Withdrawing {
                    term,
                    holder: from,
                    until: cx.now(),
                };
                return Ruling::Withdraw;
            }
            _ => return Ruling::Over,
        };
        let holder = from;
        task.phase = Phase::Held {
            term,
            holder,
            until,
        };
        let news = match (task.told, start) {
            (None, start) => Some(News::Accepted {
                start: start.unwrap_or(until),
            }),
            (Some(_), Some(start)) if is_new => Some(News::Moved { start }),
            _ => None,
        };
        if let Some(News::Accepted { start } | News::Moved { start }) = news {
            task.told = Some(start);
            if !task.started {
                task.left = rounds;
            }
        }
        task.started |= start.is_none();
        let (shared, told) = (task.job.clone(), task.told);
        if is_new || news.is_some() {
            self.persist_stage(&shared, Stage::Given { term, holder, told }, cx);
        }
        if let Some(news) = news {
            tell(job, news, cx);
        }
        self.wait_out(job, until, cx);
        Ruling::Granted { until }
    }

    /// A job has ended where it was, if that was the place that counts.
    fn ended_there(
        &mut self,
        from: NodeId,
        job: JobId,
        term: Term,
        ending: Ending,
        cx: &mut impl Context<Self>,
    ) {
        let Some(task) = self.task_mut(job) else {
            return;
        };
        let (present, withdrawing) = match task.phase {
            Phase::Held { term, holder, .. } => ((term, holder), false),
            Phase::Assigning { term, to, .. } => ((term, to), false),
            Phase::Withdrawing { term, holder, .. } => ((term, holder), true),
            _ => return,
        };
        if present != (term, from) {
            return;
        }
        match ending {
            Ending::Done => self.close(job, News::Finished, cx),
            _ if withdrawing => self.close(job, News::Cancelled, cx),
            Ending::Broke => self.close(job, News::Failed(Failure::Broke), cx),
            Ending::Lost | Ending::Withdrawn => {
                task.started |= ending == Ending::Lost;
                self.place_again(job, term.attempt, cx);
            }
        }
    }

    pub(super) fn cancel(&mut self, job: JobId, cx: &mut impl Context<Self>) {
        let now = cx.now();
        let Some(task) = self.task_mut(job) else {
            return;
        };
        match task.phase {
            // Nobody was granted it, so nobody starts it.
            Phase::Restored(_)
            | Phase::Collecting { .. }
            | Phase::Pausing { .. }
            | Phase::Assigning { .. } => self.close(job, News::Cancelled, cx),
            Phase::Held {
                term,
                holder,
                until,
            } => {
                task.phase = Phase::Withdrawing {
                    term,
                    holder,
                    until,
                };
                task.due = now;
                let shared = task.job.clone();
                self.persist_stage(&shared, Stage::Cancelled { term, holder }, cx);
                self.attend_task(job, cx);
            }
            Phase::Withdrawing { .. } => {}
        }
    }

    /// The last word on a job. It lasts before it is said, so that no other is said after a crash.
    fn close(&mut self, job: JobId, news: News, cx: &mut impl Context<Self>) {
        if let Ok(place) = self.task_place(job) {
            let task = self.tasks.remove(place);
            self.persist_stage(&task.job, Stage::Over(news), cx);
            tell(job, news, cx);
            cx.forget(Key::Task(job));
            cx.cancel(Timer::Task(job));
        }
    }
}

/// Whether a claim to a job stands, given who has it: `Some(false)` is the same again, `Some(true)` the one that follows. Whoever has the
/// job gives it away under the very next term, and to one node only until that has failed; of two who claim that term, the first has
/// it. So nobody else can.
fn succeeds(present: (Term, NodeId), claim: (Term, NodeId)) -> Option<bool> {
    if present == claim {
        return Some(false);
    }
    (Some(claim.0) == present.0.moved()).then_some(true)
}
