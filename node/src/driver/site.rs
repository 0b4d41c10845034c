//! A site that the node does not own: its executor queues attempts there, and sees what becomes of them.

use gridweave_core::job::Demand;

use super::*;
use crate::executor::Needs;

impl<S, O, E> Driver<S, O, E>
where
    S: Scheduler,
    S::Message: Framed + Mentions,
    S::Record: Stored<Key = S::Key>,
    O: Outbox,
    E: Executor,
{
    /// Reports what was seen at the site, and returns the attempts that are gone.
    pub(super) fn see_site(&mut self) -> Vec<AttemptId> {
        let mut gone = Vec::new();
        let (began, reports) = (Instant::now(), self.parts.executor.reports());
        let count = reports.len();
        for report in reports {
            if let SiteReport::Attempt { job, attempt, seen } = report {
                let number = attempt;
                let attempt = AttemptId { job, number };
                debug!(%attempt, ?seen, "is seen at the site");
                if seen == Seen::Vanished {
                    gone.push(attempt);
                }
            }
            self.feed(Event::Command(Command::Site(report)));
        }
        if count > 0 {
            self.parts.metrics.reported(count, began.elapsed());
        }
        gone
    }

    /// Has the site queue what was assigned.
    pub(super) fn queue(&mut self, attempt: AttemptId, until: Time) {
        let assigned = self.assigned.remove(&attempt.job);
        let (Some(assignment), Some(job)) = (assigned, self.held(attempt.job)) else {
            return warn!(%attempt, "is to be queued, and was not assigned");
        };
        let start = self.start_of(attempt, until, assignment.get());
        let needs = needs(job.get());
        let executor = &mut self.parts.executor;
        let queue = |start: Start| {
            executor
                .queue(&start, &needs)
                .map_err(|error| error.to_string())
        };
        let queued = start.and_then(queue);
        self.begun(attempt, queued);
    }
}

/// What a job takes at a site.
fn needs(job: &Job) -> Needs {
    let (Demand::Nodes(cores) | Demand::Cores(cores)) = job.demand;
    let named: Vec<(usize, u64)> = job
        .requirement
        .named()
        .map(|(dimension, value)| (dimension.position(), value))
        .collect();
    // Cores, memory and accelerators are the dimensions of all agents.
    let of = |place| {
        let found = named.iter().find(|(position, _)| *position == place);
        found.map_or(0, |(_, value)| *value)
    };
    Needs {
        cores: cores.get(),
        memory: of(1),
        accelerators: of(2),
        length: job.estimate(),
    }
}
