use super::{Job, Plan, ticks};

/// Greedy (PROTOCOLS L16): at every tick each waiting job, in turn, starts if enough processors are free.
pub fn greedy(processors: u32, jobs: &[Job]) -> Plan {
    let mut plan = Plan::new(jobs.len());
    for now in ticks(jobs) {
        if plan.is_complete(jobs, processors) {
            break;
        }
        for job in plan.waiting(jobs, processors, now) {
            if jobs[job].size <= plan.free(jobs, processors, now) {
                plan.starts[job] = Some(now);
            }
        }
    }
    plan
}

/// A node of a grid of desktops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Desktop {
    /// How many cores it has.
    pub cores: u64,
    /// Its architecture, as a number.
    pub architecture: u64,
    /// How fast it is, in millionths of the baseline.
    pub speed: u64,
}

/// A job that takes a part of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// When it arrives.
    pub at: u64,
    /// How many cores it takes.
    pub cores: u64,
    /// The architecture it needs, if it cares.
    pub architecture: Option<u64>,
    /// How long it takes at the baseline.
    pub run: u64,
}

/// Greedy on nodes that differ: each waiting job, in turn, starts on the fastest node with room, the first of equals.
/// Returns the start, the end and the node of each job; `None` if it did not start within `ticks`.
pub fn greedy_on_desktops(
    nodes: &[Desktop],
    jobs: &[Part],
    ticks: u64,
) -> Vec<Option<(u64, u64, usize)>> {
    let mut ran: Vec<Option<(u64, u64, usize)>> = vec![None; jobs.len()];
    for now in 0..ticks {
        for (index, job) in jobs.iter().enumerate() {
            if job.at > now || ran[index].is_some() {
                continue;
            }
            let mut best: Option<usize> = None;
            for (candidate, node) in nodes.iter().enumerate() {
                let mut used = 0;
                for (other, run) in jobs.iter().zip(&ran) {
                    if let Some((start, end, on)) = *run
                        && on == candidate
                        && (start..end).contains(&now)
                    {
                        used += other.cores;
                    }
                }
                let suits = job.architecture.is_none_or(|a| a == node.architecture);
                if !suits || used + job.cores > node.cores {
                    continue;
                }
                if best.is_none_or(|best| nodes[best].speed < node.speed) {
                    best = Some(candidate);
                }
            }
            if let Some(node) = best {
                let takes = (job.run * 1_000_000).div_ceil(nodes[node].speed);
                ran[index] = Some((now, now + takes, node));
            }
        }
    }
    ran
}
