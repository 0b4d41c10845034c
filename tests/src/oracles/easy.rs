use super::{Job, Plan, ticks};

/// Which jobs may pass the head of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// Jobs that fit now and do not delay the head.
    WithoutDelay,
    /// A planted bug: all jobs that fit now.
    IgnoresTheShadow,
    /// A planted bug: jobs that fit now and alone do not delay the head; two of them together may delay it.
    ForgetsWhoPassed,
    /// A planted bug: only jobs that fit now and end by the shadow time, though processors may be spare then.
    ForgetsTheSpare,
}

/// The shadow time: when the head can start if all running jobs end as estimated. Tried tick by tick.
fn shadow(processors: u32, jobs: &[Job], starts: &[Option<u64>], now: u64, head: usize) -> u64 {
    let all = jobs.iter().zip(starts);
    let running = all.filter_map(|(job, start)| start.map(|start| (job, start)));
    let running = running.filter(|(job, start)| start + job.actual > now);
    let expected: Vec<_> = running
        .map(|(job, start)| (start + job.estimate, job.size))
        .collect();
    let free_at = |tick: u64| {
        let holding = expected.iter().filter(|(end, _)| *end > tick);
        let used: u32 = holding.map(|(_, size)| size).sum();
        processors.saturating_sub(used)
    };
    (now..)
        .find(|&tick| free_at(tick) >= jobs[head].size)
        .expect("it fits an idle machine")
}

/// EASY (PROTOCOLS 7.1), by its purpose rather than by its formula: at every tick the head starts if it fits. If not,
/// each later job in turn starts if it fits and the head could still start as early as without it.
pub fn easy(processors: u32, jobs: &[Job], passing: Passing) -> Plan {
    let mut plan = Plan::new(jobs.len());
    for now in ticks(jobs) {
        if plan.is_complete(jobs, processors) {
            break;
        }
        let head = loop {
            let Some(&head) = plan.waiting(jobs, processors, now).first() else {
                break None;
            };
            if jobs[head].size > plan.free(jobs, processors, now) {
                break Some(head);
            }
            plan.starts[head] = Some(now);
        };
        let Some(head) = head else { continue };
        let before = plan.starts.clone();
        let promised = shadow(processors, jobs, &before, now, head);
        plan.promise(now, head, promised);
        for job in plan.waiting(jobs, processors, now).split_off(1) {
            if jobs[job].size > plan.free(jobs, processors, now) {
                continue;
            }
            let mut with = match passing {
                Passing::ForgetsWhoPassed => before.clone(),
                _ => plan.starts.clone(),
            };
            with[job] = Some(now);
            let delays = shadow(processors, jobs, &with, now, head) > promised;
            let passes = match passing {
                Passing::WithoutDelay | Passing::ForgetsWhoPassed => !delays,
                Passing::IgnoresTheShadow => true,
                Passing::ForgetsTheSpare => now + jobs[job].estimate <= promised,
            };
            if passes {
                plan.starts[job] = Some(now);
            }
        }
    }
    plan
}
