//! What must hold of every centralised schedule.

use gridweave_core::machine::Violation;

use crate::oracles::{Job, Plan};

pub(super) const IN_ORDER: &str = "first come, first served: no job starts before an earlier one";
pub(super) const NEVER_LATER: &str = "a promised start never moves later";
pub(super) const KEPT: &str = "a job starts no later than it was promised";
pub(super) const NOT_OVERBOOKED: &str = "no more is reserved than there is";
pub(super) const NONE_FITS: &str = "no job waits that fits";

/// First come, first served: no job starts before an earlier one.
pub fn starts_are_in_order(plan: &Plan) -> Result<(), Violation> {
    Violation::unless(plan.starts.iter().flatten().is_sorted(), IN_ORDER)
}

/// A promised start never moves later, and a job starts no later than promised. This holds for the head of EASY's queue
/// and for every job of a conservative scheduler (PROTOCOLS 7.1, 7.2).
pub fn promises_are_kept(plan: &Plan) -> Result<(), Violation> {
    for (index, promise) in plan.promises.iter().enumerate() {
        let later = plan.promises[index + 1..].iter();
        let mut renewed = later.filter(|other| other.job == promise.job);
        Violation::unless(
            renewed.all(|other| other.start <= promise.start),
            NEVER_LATER,
        )?;
        let kept = plan.starts[promise.job].is_some_and(|start| start <= promise.start);
        Violation::unless(kept, KEPT)?;
    }
    Ok(())
}

/// No more is reserved than there is: whenever a promise is made or a job ends, the running jobs up to their expected
/// ends and the promises to waiting jobs fit the machine together (PROTOCOLS 7.2).
pub fn reservations_fit_together(
    processors: u32,
    jobs: &[Job],
    plan: &Plan,
) -> Result<(), Violation> {
    let ends = jobs.iter().zip(&plan.starts);
    let ends = ends.filter_map(|(job, start)| start.map(|start| start + job.actual));
    let instants = plan.promises.iter().map(|promise| promise.now);
    for now in instants.chain(ends) {
        let mut reserved = Vec::new();
        for (index, job) in jobs.iter().enumerate() {
            let told = plan.promises.iter().rev();
            let mut told = told.filter(|promise| promise.job == index && promise.now <= now);
            let from = match plan.starts[index] {
                Some(start) if start + job.actual <= now => continue,
                Some(start) if start <= now => Some(start),
                _ => told.next().map(|promise| promise.start),
            };
            reserved.extend(from.map(|from| (from.max(now), from + job.estimate, job.size)));
        }
        super::capacity_is_never_exceeded(&reserved, processors).map_err(|_| Violation {
            invariant: NOT_OVERBOOKED,
        })?;
    }
    Ok(())
}

/// No job waits while it fits, at any tick (PROTOCOLS L16).
pub fn nobody_waits_who_fits(processors: u32, jobs: &[Job], plan: &Plan) -> Result<(), Violation> {
    for (waiting, start) in jobs.iter().zip(&plan.starts) {
        for tick in waiting.at..start.unwrap_or(waiting.at) {
            let runs = |(job, start): &(&Job, &Option<u64>)| {
                start.is_some_and(|start| (start..start + job.actual).contains(&tick))
            };
            let running = jobs.iter().zip(&plan.starts).filter(runs);
            let used: u32 = running.map(|(job, _)| job.size).sum();
            Violation::unless(used + waiting.size > processors, NONE_FITS)?;
        }
    }
    Ok(())
}
