use std::num::NonZeroU32;

use gridweave_core::id::{JobId, UserId};
use gridweave_core::job::{Command, Job, News, Notice, Retry, Submitter};
use gridweave_core::machine::Event;
use gridweave_core::mentions::Mentions;
use gridweave_core::wire::{Framed, Stored};
use rand::RngExt;
use serde_json::json;

use super::jobs::seconds;
use super::{Driver, Outbox, Pending, Scheduler};
use crate::control::{Again, Answer, Request, Submission};
use crate::executor::Executor;
use crate::identity::number;
use crate::store::{JobRow, Phase, StoreError};

/// The most jobs of one submission.
const MOST_AT_ONCE: usize = 1000;

/// The most jobs in an answer.
const MOST_LISTED: usize = 1000;

impl<S, O, E> Driver<S, O, E>
where
    S: Scheduler,
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
    O: Outbox,
    E: Executor,
{
    /// Does what a user asks; the answer is given when that is durable.
    pub(super) fn request(&mut self, request: Request, user: u32) -> Pending {
        let answer = match request {
            Request::Submit(submission) => match self.submit(&submission, user) {
                Ok(jobs) => return Pending::Submitted(jobs),
                Err(why) => Err(why),
            },
            Request::Cancel { job } => self.cancel(&job, user),
            Request::Drain => Ok(self.drain(Command::Drain)),
            Request::Resume => Ok(self.drain(Command::Resume)),
            Request::Jobs { all } => self.list(all),
            Request::Job { job } => self.tell(&job),
            Request::Status => Ok(self.status()),
            Request::Usage => self.usage(),
            Request::Peers | Request::Events | Request::Figures => {
                Err("this is asked elsewhere".to_owned())
            }
        };
        Pending::Now(answer.unwrap_or_else(Answer::error))
    }

    fn submit(&mut self, submission: &Submission, user: u32) -> Result<Vec<JobId>, String> {
        let count = submission.count as usize;
        if count == 0 || count > MOST_AT_ONCE {
            return Err(format!(
                "the number of jobs must be from 1 to {MOST_AT_ONCE}"
            ));
        }
        if let Some(most) = self.parts.most_jobs_per_user
            && self.jobs.of_user(user).saturating_add(count) > most as usize
        {
            return Err(format!(
                "you would have more than {most} unfinished jobs: see policy.most_jobs_per_user"
            ));
        }
        let span = Self::span(submission.seconds);
        let span = span.ok_or("the time must be more than zero and less than 3000 years")?;
        let one = |count: u32, what: &str| {
            NonZeroU32::new(count).ok_or_else(|| format!("the number of {what} must not be zero"))
        };
        let nodes = one(submission.nodes, "nodes")?;
        let cores = submission
            .cores
            .map(|cores| one(cores, "cores"))
            .transpose()?;
        let mut program = submission.program.clone();
        let mut payloads = Vec::with_capacity(count);
        for index in 0..count {
            if count > 1 {
                let name = "GRIDWEAVE_INDEX".to_owned();
                program.environment.insert(name, index.to_string());
            }
            payloads.push(program.to_payload().map_err(|error| error.to_string())?);
        }
        let none = JobId::new(0);
        let demand = S::demand(nodes, cores);
        let mut job = Job::new(none, demand, span).map_err(|error| error.to_string())?;
        S::complete(&mut job, cores, submission.memory, submission.accelerators);
        job.submitter = Submitter {
            user: UserId::new(user),
            organisation: self.parts.identity.organisation,
        };
        job.submitted = self.now;
        job.retry = match submission.again {
            Again::Never => Retry::Never,
            Again::Lost => Retry::OnNodeLoss(submission.times),
            Again::Always => Retry::Always(submission.times),
        };
        let row = JobRow {
            user,
            organisation: self.parts.identity.organisation.get(),
            argv: submission.program.argv.clone(),
            nodes: nodes.get(),
            seconds: submission.seconds,
            submitted: seconds(self.now),
            phase: Phase::Waiting,
            attempt: None,
            placed: Vec::new(),
            start: None,
            ended: None,
            why: None,
        };
        let taken = payloads.into_iter().map(|payload| {
            while job.id == none || self.jobs.has(job.id) {
                // Long enough not to be given twice, and short enough to be typed.
                job.id = JobId::new(self.parts.rng.random::<u64>() >> 20);
            }
            self.batch.job(job.id, row.clone());
            self.jobs.add(job.id, row.clone());
            self.recent.add(job, payload.clone());
            self.feed(Event::Command(Command::Submit { job, payload }));
            job.id
        });
        Ok(taken.collect())
    }

    fn cancel(&mut self, job: &str, user: u32) -> Result<Answer, String> {
        let job = named(job)?;
        let owner = self.jobs.user_of(job);
        let owner =
            owner.ok_or_else(|| format!("there is no unfinished job {job} of this node"))?;
        if user != 0 && user != owner {
            return Err(format!(
                "{job} is a job of user {owner}: only that user and root may cancel it"
            ));
        }
        if self.recent.forget(job) {
            // The machine does not have it at the moment.
            let news = News::Cancelled;
            self.hear(Notice { job, news });
        }
        self.feed(Event::Command(Command::Cancel(job)));
        Ok(Answer::ok(json!({ "job": job.to_string() })))
    }

    fn drain(&mut self, command: Command) -> Answer {
        self.is_draining = command == Command::Drain;
        self.feed(Event::Command(command));
        Answer::ok(json!({ "draining": self.is_draining }))
    }

    fn list(&self, all: bool) -> Result<Answer, String> {
        let mut jobs = self.parts.store.jobs().map_err(|error| told(&error))?;
        jobs.retain(|(_, row)| all || !row.phase.is_last());
        jobs.sort_by(|(a, first), (b, second)| {
            first.submitted.total_cmp(&second.submitted).then(a.cmp(b))
        });
        let first = jobs.len().saturating_sub(MOST_LISTED);
        let rows = jobs.iter().skip(first).map(|(job, row)| shown(*job, row));
        Ok(Answer::ok(rows.collect()))
    }

    fn tell(&self, job: &str) -> Result<Answer, String> {
        let job = named(job)?;
        let row = self.parts.store.job(job).map_err(|error| told(&error))?;
        let row = row.ok_or_else(|| format!("no job {job} was submitted at this node"))?;
        Ok(Answer::ok(shown(job, &row)))
    }

    fn status(&self) -> Answer {
        let identity = &self.parts.identity;
        let (machine, running) = (self.host.machine(), self.parts.executor.running());
        Answer::ok(json!({
            "node": identity.node.to_string(),
            "name": identity.name,
            "organisation": identity.organisation.get(),
            "scheduler": S::NAME,
            "time": seconds(self.now),
            "neighbours": machine.map_or(0, Scheduler::neighbours),
            "running": running,
            "unfinished": self.jobs.len(),
            // A site takes a while to stop what it was told to.
            "drained": running == 0 && machine.is_some_and(Scheduler::is_drained),
            "records": self.host.records().len(),
            "site": self.parts.executor.site(),
        }))
    }

    fn usage(&self) -> Result<Answer, String> {
        let usage = self.parts.store.usage().map_err(|error| told(&error))?;
        Ok(Answer::ok(json!(usage)))
    }
}

fn told(error: &StoreError) -> String {
    error.to_string()
}

fn named(job: &str) -> Result<JobId, String> {
    let id = number(job, 'j').map(JobId::new);
    id.ok_or_else(|| format!("'{job}' is no job: write its id, as j7"))
}

fn shown(job: JobId, row: &JobRow) -> serde_json::Value {
    let mut shown = json!(row);
    if let Some(fields) = shown.as_object_mut() {
        fields.insert("job".to_owned(), json!(job.to_string()));
    }
    shown
}
