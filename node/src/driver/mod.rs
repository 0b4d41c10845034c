//! One thread owns one machine: it takes events in, and carries effects out, in order.
//!
//! Inputs that are there at the same time are one batch: ends of jobs first, then messages, timers and requests, and
//! what the node then says to itself. All records of the batch, and what users will read of their jobs, become durable
//! at once, before its first message is sent, its first program is started and its first user is answered. If a batch
//! cannot be made durable, the driver ends, and nothing of the batch has happened.

mod again;
mod input;
mod jobs;
mod requests;
mod site;
#[cfg(test)]
mod tests;

pub use input::{Inbox, Input, Inputs, NotTaken};

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gridweave_core::config::ConfigError;
use gridweave_core::id::{JobId, NodeId, OrganisationId};
use gridweave_core::job::{
    Assignment, Command, Failure, Job, News, Notice, Outcome, Refusal, Seen, SiteReport, Survival,
};
use gridweave_core::machine::{Effect, Event, Host};
use gridweave_core::mentions::Mentions;
use gridweave_core::scheduler::agent::{Scheduler, Setup};
use gridweave_core::shared::Shared;
use gridweave_core::time::{Span, Time};
use gridweave_core::wire::{self, Framed, Stored};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use tracing::{debug, info, warn};

use crate::clock::Clock;
use crate::control::{Answer, Request};
use crate::executor::{AttemptId, Ended, Executor, ExecutorError, Program, Start, Survivor};
use crate::identity::Identity;
use crate::observe::{Events, Metrics};
use crate::policy::may_speak_for;
use crate::store::{Batch, EndedRow, Store, StoreError};
use again::Recent;
use jobs::Jobs;

/// The most inputs of a batch.
const BATCH: usize = 256;

/// The most timers that ring in a batch.
const TIMERS: usize = 256;

/// How often in a batch the node hears what it said to itself; the rest waits for the next one.
const OWN_ROUNDS: usize = 32;

/// The longest pause between looks at the clock, which may be set.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How often the processes of attempts are looked at, in case that a supervisor was killed.
const LOOK: Duration = Duration::from_secs(1);

/// How often the links of the node are compared with its connections.
const MEET: Duration = Duration::from_secs(2);

/// The same for a node without any link: its searches would find only itself.
const MEET_AT_ONCE: Duration = Duration::from_millis(250);

/// How long a submission waits for a link of the node.
const POSTPONE: Duration = Duration::from_secs(3);

/// With fewer links than this, and fewer than connections, the node asks a peer for more. In a grid of a few nodes,
/// gossip alone may leave a node without links for long.
const FEW_LINKS: usize = 3;

/// Where messages go.
pub trait Outbox: Send {
    /// Sends a frame, which mentions these nodes. It may be lost.
    fn send(&mut self, to: NodeId, frame: Vec<u8>, mentions: &[NodeId]);

    /// The network address of a node, without a port, if it is known.
    fn host_of(&self, node: NodeId) -> Option<String>;

    /// Some of the nodes with which there is a connection, and which were heard lately.
    fn peers(&self) -> Vec<NodeId>;

    /// How many nodes are known, this one included.
    fn known(&self) -> usize;
}

/// Why a driver ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The settings do not fit together.
    #[error("the settings are refused: {0}")]
    Config(#[from] ConfigError),
    /// The store cannot be read or written.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Attempts of an earlier life cannot be read.
    #[error("{0}")]
    Executor(#[from] ExecutorError),
    /// A record is too long to be kept.
    #[error("a record cannot be kept: {0}")]
    Record(#[from] wire::NotEncoded),
}

/// What a driver works with.
pub struct Parts<O, E> {
    /// The node in the certificate.
    pub identity: Identity,
    /// Where records are.
    pub store: Store,
    /// Where messages go.
    pub outbox: O,
    /// What runs attempts.
    pub executor: E,
    /// The time of the grid.
    pub clock: Clock,
    /// Counts what happens.
    pub metrics: Arc<Metrics>,
    /// Tells what happens to jobs.
    pub events: Events,
    /// Random choices.
    pub rng: StdRng,
    /// The most unfinished jobs of one user.
    pub most_jobs_per_user: Option<u32>,
}

/// A node: its machine, and what carries out the effects.
pub struct Driver<S, O, E>
where
    S: Scheduler,
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
{
    parts: Parts<O, E>,
    host: Host<S>,
    /// What becomes durable next.
    batch: Batch,
    /// What is done when that is durable.
    later: Vec<Later<S::Message>>,
    jobs: Jobs,
    recent: Recent,
    /// Messages of the node to itself.
    own: VecDeque<S::Message>,
    /// Attempts that could not be started.
    broken: Vec<AttemptId>,
    /// What this node was assigned, until it is queued at a site or started.
    assigned: BTreeMap<JobId, Shared<Assignment>>,
    /// Submissions that wait until the node has a link.
    postponed: Vec<(Instant, Request, u32, AnswerTo)>,
    /// Answers that are given when the batch is durable.
    answers: Vec<(AnswerTo, Pending)>,
    now: Time,
    looked: Instant,
    met: Instant,
    is_draining: bool,
}

/// Takes an answer.
type AnswerTo = Box<dyn FnOnce(Answer) + Send>;

/// An answer that depends on what the batch brings.
enum Pending {
    Now(Answer),
    Submitted(Vec<JobId>),
}

/// What waits for the records of its batch.
enum Later<M> {
    Send(NodeId, M),
    Act(Notice),
}

impl<S, O, E> Driver<S, O, E>
where
    S: Scheduler,
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
    O: Outbox,
    E: Executor,
{
    /// Starts a node with what its store has, and with what became of its attempts.
    pub fn start(setup: &Setup, mut parts: Parts<O, E>) -> Result<Self, DriverError> {
        let node = S::build(setup, &mut parts.rng)?;
        let records = parts.store.records::<S::Record>()?;
        let jobs = Jobs::read(&parts.store)?;
        info!(
            records = records.len(),
            unfinished = jobs.len(),
            "the store is read"
        );
        let mut host = Host::with_records(records.into_iter().collect());
        host.keep_traces();
        let mut survived = Vec::new();
        let mut over = Vec::new();
        for (attempt, survivor) in parts.executor.survivors()? {
            let survival = match survivor {
                Survivor::Runs { until } => {
                    info!(%attempt, "still runs");
                    Survival::Runs { until }
                }
                Survivor::Ended(ended) => {
                    info!(%attempt, how = ended.how, "has ended while the agent was down");
                    let outcome = ended.outcome;
                    over.push((attempt, Some(ended)));
                    Survival::Ended(outcome)
                }
                Survivor::Lost => {
                    warn!(%attempt, "does not run any more, and left no outcome");
                    over.push((attempt, None));
                    continue;
                }
            };
            survived.push(Command::Survived {
                job: attempt.job,
                attempt: attempt.number,
                survival,
            });
        }
        let now = parts.clock.now();
        host.start_with(node, survived, now, &mut parts.rng);
        let mut driver = Self {
            parts,
            host,
            batch: Batch::default(),
            later: Vec::new(),
            jobs,
            recent: Recent::default(),
            own: VecDeque::new(),
            broken: Vec::new(),
            assigned: BTreeMap::new(),
            postponed: Vec::new(),
            answers: Vec::new(),
            now,
            looked: Instant::now(),
            met: Instant::now(),
            is_draining: false,
        };
        for (attempt, ended) in &over {
            if let Some(ended) = ended {
                driver.charge(*attempt, ended);
            }
        }
        driver.settle()?;
        driver.give_up_unknown()?;
        for (attempt, _) in over {
            driver.parts.executor.forget(attempt);
        }
        Ok(driver)
    }

    /// Tells of jobs that were to be submitted again when the agent ended.
    fn give_up_unknown(&mut self) -> Result<(), DriverError> {
        let machine = self.host.machine();
        let is_lost = |job: &JobId| machine.is_some_and(|machine| !machine.has(*job));
        let lost: Vec<JobId> = self.jobs.open().filter(is_lost).collect();
        for job in lost {
            let news = News::Failed(Failure::Refused(Refusal::NotFound));
            self.hear(Notice { job, news });
        }
        self.settle()
    }

    /// The node.
    pub const fn machine(&self) -> Option<&S> {
        self.host.machine()
    }

    /// Works until it is told to stop, or until no input can come any more.
    pub fn run(&mut self, inbox: &Inbox) -> Result<(), DriverError> {
        loop {
            let wait = self.wait();
            let Some(inputs) = inbox.take(wait, BATCH) else {
                return Ok(());
            };
            if self.step(inputs)? == Goes::Ends {
                return Ok(());
            }
        }
    }

    /// How long nothing has to be done, if no input comes.
    fn wait(&mut self) -> Duration {
        if !self.own.is_empty() || !self.broken.is_empty() {
            return Duration::ZERO;
        }
        let now = self.parts.clock.now();
        let timer = self.host.next_at().map(|at| Duration::from(at - now));
        let mut wait = timer.map_or(LONGEST_WAIT, |timer| timer.min(LONGEST_WAIT));
        if self.parts.executor.running() > 0 {
            wait = wait.min(LOOK);
        }
        if let Some(again) = self.recent.next_at() {
            wait = wait.min(again.saturating_duration_since(Instant::now()));
        }
        let links = self.host.machine().map_or(0, Scheduler::neighbours);
        if links < FEW_LINKS && links < self.parts.outbox.peers().len() {
            let pause = if links == 0 { MEET_AT_ONCE } else { MEET };
            wait = wait.min(pause);
        }
        wait
    }

    /// One batch.
    fn step(&mut self, inputs: Vec<Input>) -> Result<Goes, DriverError> {
        self.now = self.parts.clock.now();
        let mut goes = Goes::On;
        let is_told = inputs.iter().any(|input| matches!(input, Input::Look));
        let mut over = Vec::new();
        // Of all that is due at one instant, ends come first.
        if is_told || (self.parts.executor.running() > 0 && self.looked.elapsed() >= LOOK) {
            self.looked = Instant::now();
            over = self.look();
            over.extend(self.see_site());
        }
        for attempt in std::mem::take(&mut self.broken) {
            self.end(attempt, Outcome::Broke);
        }
        self.hear_own();
        for input in inputs {
            match input {
                Input::Frame {
                    from,
                    organisation,
                    bytes,
                } => self.receive(from, organisation, &bytes),
                Input::Unreachable(to) => self.feed(Event::Unreachable { to }),
                Input::Look => {}
                Input::Request {
                    request: request @ Request::Submit(_),
                    user,
                    answer,
                } if self.lacks_links() => {
                    let since = Instant::now();
                    self.postponed.push((since, request, user, answer));
                }
                Input::Request {
                    request,
                    user,
                    answer,
                } => {
                    let pending = self.request(request, user);
                    self.answers.push((answer, pending));
                }
                Input::Stop => goes = Goes::Ends,
            }
        }
        self.meet();
        self.submit_postponed();
        for (job, payload) in self.recent.due() {
            self.feed(Event::Command(Command::Submit { job, payload }));
        }
        for _ in 0..TIMERS {
            if self.host.fire(self.now, &mut self.parts.rng).is_none() {
                break;
            }
        }
        self.settle()?;
        for attempt in over {
            self.parts.executor.forget(attempt);
        }
        for (answer, pending) in std::mem::take(&mut self.answers) {
            answer(match pending {
                Pending::Now(answer) => answer,
                Pending::Submitted(jobs) => self.jobs.submitted(&jobs),
            });
        }
        self.observe();
        Ok(goes)
    }

    fn feed(&mut self, event: Event<S>) {
        self.host.handle(event, self.now, &mut self.parts.rng);
    }

    /// Whether a search would find only this node, although there are others.
    fn lacks_links(&self) -> bool {
        let links = self.host.machine().map_or(0, Scheduler::neighbours);
        links == 0 && !self.parts.outbox.peers().is_empty()
    }

    /// Takes submissions that waited for a link of the node.
    fn submit_postponed(&mut self) {
        for (since, request, user, answer) in std::mem::take(&mut self.postponed) {
            if self.lacks_links() && since.elapsed() < POSTPONE {
                self.postponed.push((since, request, user, answer));
            } else {
                let pending = self.request(request, user);
                self.answers.push((answer, pending));
            }
        }
    }

    /// Asks connected peers for links, if the node has few.
    fn meet(&mut self) {
        let links = self.host.machine().map_or(0, Scheduler::neighbours);
        let pause = if links == 0 { MEET_AT_ONCE } else { MEET };
        if self.met.elapsed() < pause {
            return;
        }
        self.met = Instant::now();
        let peers = self.parts.outbox.peers();
        if links < peers.len().min(FEW_LINKS) {
            let some: Vec<_> = peers.sample(&mut self.parts.rng, FEW_LINKS).collect();
            for peer in some {
                self.feed(Event::Command(Command::Meet(*peer)));
            }
        }
    }

    /// Decodes a frame, and refuses what the sender may not say.
    fn receive(&mut self, from: NodeId, organisation: OrganisationId, bytes: &[u8]) {
        let message = match wire::decode::<S::Message>(bytes) {
            Ok(message) => message,
            Err(refused) => {
                self.parts.metrics.dropped("not in the wire format");
                return info!(%from, "a frame is refused: {refused}");
            }
        };
        if let Some(submitter) = S::asks_for(&message)
            && !may_speak_for(organisation, &submitter)
        {
            self.parts.metrics.dropped("for another organisation");
            return warn!(%from, "asks in the name of {}", submitter.organisation);
        }
        self.parts.metrics.received(message.kind());
        self.feed(Event::Message { from, message });
    }

    /// Reports attempts that have ended, and returns them.
    fn look(&mut self) -> Vec<AttemptId> {
        let mut over = Vec::new();
        for (attempt, ended) in self.parts.executor.look() {
            info!(%attempt, how = ended.how, "has ended");
            self.charge(attempt, &ended);
            self.end(attempt, ended.outcome);
            over.push(attempt);
        }
        over
    }

    fn end(&mut self, attempt: AttemptId, outcome: Outcome) {
        self.feed(Event::Command(Command::Ended {
            job: attempt.job,
            attempt: attempt.number,
            outcome,
        }));
    }

    fn charge(&mut self, attempt: AttemptId, ended: &Ended) {
        let row = EndedRow {
            user: ended.submitter.user.get(),
            organisation: ended.submitter.organisation.get(),
            began: ended.began.as_micros(),
            ended: ended.ended.as_micros(),
            outcome: ended.how.clone(),
        };
        self.batch.ended(attempt.job, attempt.number, row);
    }

    fn hear_own(&mut self) {
        let from = self.parts.identity.node;
        for message in std::mem::take(&mut self.own) {
            self.feed(Event::Message { from, message });
        }
    }

    /// Makes durable what the effects so far want to be kept, all of it at once, and then does what they want done.
    fn settle(&mut self) -> Result<(), DriverError> {
        for round in 0..=OWN_ROUNDS {
            while let Some(effect) = self.host.execute() {
                match effect {
                    Effect::Persist(key, record) => self.batch.persist(&key, &record)?,
                    Effect::Forget(key) => self.batch.forget::<S::Record>(&key)?,
                    Effect::Send { to, message } if to == self.parts.identity.node => {
                        self.own.push_back(message);
                    }
                    Effect::Send { to, message } => self.later.push(Later::Send(to, message)),
                    Effect::Notify(notice) => self.hear(notice),
                    Effect::Wake { .. } | Effect::Cancel(_) => {}
                }
            }
            if self.own.is_empty() || round == OWN_ROUNDS {
                break;
            }
            self.hear_own();
        }
        self.tell_traces();
        self.commit()?;
        for later in std::mem::take(&mut self.later) {
            match later {
                Later::Send(to, message) => self.send(to, &message),
                Later::Act(notice) => self.act(notice),
            }
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        if !self.batch.is_empty() {
            let (began, changes) = (Instant::now(), self.batch.len());
            self.parts.store.commit(&mut self.batch)?;
            self.parts.metrics.committed(changes, began.elapsed());
        }
        Ok(())
    }

    fn send(&mut self, to: NodeId, message: &S::Message) {
        match wire::encode(message) {
            Ok(frame) => {
                let mut mentions = Vec::new();
                message.mentions(&mut |node| mentions.push(node));
                mentions.sort_unstable();
                mentions.dedup();
                self.parts.metrics.sent(message.kind());
                self.parts.outbox.send(to, frame, &mentions);
            }
            Err(error) => {
                self.parts.metrics.dropped("too long to be sent");
                warn!(%to, "a message is not sent: {error}");
            }
        }
    }

    /// Notes what the machine says about a job, to be acted upon when that is durable.
    fn hear(&mut self, notice: Notice) {
        gridweave_tracing::notice(self.parts.identity.node, &notice);
        if self.recent.takes(&notice, self.parts.outbox.known()) {
            return debug!(job = %notice.job, "is submitted again");
        }
        if let Some(row) = self.jobs.hear(&notice, self.now) {
            self.batch.job(notice.job, row);
        }
        self.later.push(Later::Act(notice));
    }

    /// Does what the machine says about a job.
    fn act(&mut self, notice: Notice) {
        self.parts.events.tell(self.now, &notice);
        self.parts.metrics.heard(&notice.news);
        let Notice { job, news } = notice;
        let named = |number| AttemptId { job, number };
        if matches!(
            news,
            News::Started { .. } | News::Released { .. } | News::Stopped { .. } | News::Orphaned
        ) {
            self.assigned.remove(&job);
        }
        match news {
            News::Started {
                attempt,
                until,
                assignment,
            } => self.begin(named(attempt), until, assignment.get()),
            News::Extended { attempt, until } => {
                self.parts.executor.extend(named(attempt), until);
            }
            News::Stopped { attempt } => self.parts.executor.stop(named(attempt)),
            News::Assigned(assignment) => {
                self.assigned.insert(job, assignment);
            }
            News::Queue { attempt, until } => self.queue(named(attempt), until),
            News::Withdraw { attempt } => self.parts.executor.withdraw(named(attempt)),
            _ => {}
        }
    }

    /// A job that this node has, if its time is not bounded by its place in a schedule.
    fn held(&self, job: JobId) -> Option<Shared<Job>> {
        self.host.machine().and_then(|node| node.held(job))
    }

    /// What an attempt needs to begin.
    fn start_of(
        &self,
        attempt: AttemptId,
        until: Time,
        assignment: &Assignment,
    ) -> Result<Start, String> {
        let program = Program::from_payload(&assignment.payload);
        let nodes = &assignment.placement.nodes;
        let me = self.parts.identity.node;
        let host_of = |node: &NodeId| self.parts.outbox.host_of(*node);
        Ok(Start {
            attempt,
            until,
            submitter: assignment.submitter,
            longest: self.held(attempt.job).map(|job| job.get().estimate()),
            program: program.map_err(|error| error.to_string())?,
            rank: nodes.iter().position(|node| *node == me).unwrap_or(0),
            nodes: nodes.iter().map(ToString::to_string).collect(),
            addresses: nodes
                .iter()
                .map(|node| host_of(node).unwrap_or_else(|| "-".to_owned()))
                .collect(),
        })
    }

    fn begin(&mut self, attempt: AttemptId, until: Time, assignment: &Assignment) {
        let start = self.start_of(attempt, until, assignment);
        let executor = &mut self.parts.executor;
        let begin = |start: Start| executor.begin(&start).map_err(|error| error.to_string());
        let begun = start.and_then(begin);
        self.begun(attempt, begun);
    }

    /// If an attempt cannot be started, its job is told so in the next batch.
    fn begun(&mut self, attempt: AttemptId, begun: Result<(), String>) {
        if let Err(why) = begun {
            warn!(%attempt, "cannot be started: {why}");
            self.parts
                .metrics
                .dropped("attempt that could not be started");
            self.broken.push(attempt);
        }
    }

    fn tell_traces(&mut self) {
        let node = self.parts.identity.node;
        for trace in self.host.traces() {
            gridweave_tracing::trace(node, &trace);
            self.parts.metrics.traced(&trace);
        }
    }

    fn observe(&mut self) {
        let metrics = &self.parts.metrics;
        metrics.set_running(self.parts.executor.running());
        metrics.set_unfinished(self.jobs.len());
        if let Some(machine) = self.host.machine() {
            metrics.set_neighbours(machine.neighbours());
        }
    }

    /// How long a job may run at least, in whole microseconds.
    fn span(seconds: f64) -> Option<Span> {
        let micros = seconds * 1e6;
        let fits = micros.is_finite() && (1.0..1e17).contains(&micros);
        fits.then_some(Span::from_micros(micros as u64))
    }
}

/// Whether a driver goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Goes {
    On,
    Ends,
}
