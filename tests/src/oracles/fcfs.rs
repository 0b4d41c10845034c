use super::{Job, Plan, ticks};

/// Which jobs may start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Only the head of the queue.
    Strict,
    /// A planted bug: also the job behind the head.
    SkipsOne,
}

/// First come, first served: at every tick the head starts if it fits, then the next head, until one does not fit.
pub fn fcfs(processors: u32, jobs: &[Job], order: Order) -> Plan {
    let mut plan = Plan::new(jobs.len());
    for now in ticks(jobs) {
        if plan.is_complete(jobs, processors) {
            break;
        }
        loop {
            let waiting = plan.waiting(jobs, processors, now);
            let free = plan.free(jobs, processors, now);
            let candidates = match order {
                Order::Strict => 1,
                Order::SkipsOne => 2,
            };
            let mut candidates = waiting.into_iter().take(candidates);
            match candidates.find(|&job| jobs[job].size <= free) {
                Some(job) => plan.starts[job] = Some(now),
                None => break,
            }
        }
    }
    plan
}
