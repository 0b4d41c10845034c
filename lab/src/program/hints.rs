//! Hints for a user about results that may surprise.

use crate::experiment::Prepared;
use crate::grid::Grid;
use crate::schedulers::Scheduler;

/// How many jobs need several nodes at once.
fn gangs(prepared: &Prepared) -> usize {
    let jobs = prepared.workload.jobs.iter();
    jobs.filter(|job| job.processors > 1).count()
}

/// Why the scheduler rejects gangs, and what to do; `None` if there are none or it can place them.
pub(super) fn rejected_gangs(prepared: &Prepared) -> Option<String> {
    let scheduler = prepared.config.scheduler;
    let side = scheduler.side();
    let gangs = gangs(prepared);
    if gangs == 0 || side.places_gangs() || !matches!(*prepared.grid, Grid::Uniform(_)) {
        return None;
    }
    let jobs = prepared.workload.jobs.len();
    let sites = if side.places_requirements() {
        ", and --set grid.sites=N makes sites that run whole jobs"
    } else {
        ""
    };
    Some(format!(
        "{scheduler} runs a job on one node, so it rejects {gangs} of {jobs} jobs, which need several; --set workload.shape=serial splits them{sites}"
    ))
}

/// Which of these schedulers a comparison shows only with split jobs, although the shape of jobs is gangs.
pub(super) fn only_serial(prepared: &Prepared, compared: &[Scheduler]) -> Option<String> {
    if gangs(prepared) == 0 || !matches!(*prepared.grid, Grid::Uniform(_)) {
        return None;
    }
    let lone = compared.iter().filter(|it| !it.side().places_gangs());
    let names: Vec<&str> = lone.map(|it| it.name()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "workload.shape is gangs, but some schedulers run a job on one node, and are only in the serial table, where parallel jobs are split: {}",
            names.join(", ")
        )
    })
}
