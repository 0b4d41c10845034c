use super::{Job, Plan, ticks};

/// Who may start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The first who waits.
    Strict,
    /// A planted bug: also the one behind it.
    SkipsOne,
}

/// First come, first served: at every tick, the first who waits starts if it fits, and so on until one does not.
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
