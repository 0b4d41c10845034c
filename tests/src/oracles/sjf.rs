use super::{Job, Plan, ticks};

/// The shortest job first: at every tick the waiting job of the least estimate starts if it fits, then the next, until
/// one does not fit. Of jobs of equal estimates the first to arrive comes first.
pub fn sjf(processors: u32, jobs: &[Job]) -> Plan {
    let mut plan = Plan::new(jobs.len());
    for now in ticks(jobs) {
        if plan.is_complete(jobs, processors) {
            break;
        }
        loop {
            let waiting = plan.waiting(jobs, processors, now);
            let shortest = waiting
                .into_iter()
                .min_by_key(|&job| (jobs[job].estimate, job));
            let free = plan.free(jobs, processors, now);
            match shortest.filter(|&job| jobs[job].size <= free) {
                Some(job) => plan.starts[job] = Some(now),
                None => break,
            }
        }
    }
    plan
}
