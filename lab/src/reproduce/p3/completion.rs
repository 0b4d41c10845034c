//! Figures 2, 7, 8 and 9: how long jobs take, waiting and running.

use super::completed::POLICIES;
use super::{Planned, Scenario, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Cell, Finished, Report, Sample, Table};

pub(super) const FIG2: &str = "Figure 2: job completion time";
pub(super) const FIG7: &str = "Figure 7: job completion time, by load";
pub(super) const FIG8: &str = "Figure 8: job completion time, by rescheduling policy";
pub(super) const FIG9: &str = "Figure 9: sensitivity to the accuracy of estimates";

/// The scenarios of Figures 6 and 7.
pub(super) const LOADS: [Scenario; 6] = [
    Scenario::LowLoad,
    Scenario::Mixed,
    Scenario::HighLoad,
    Scenario::ILowLoad,
    Scenario::IMixed,
    Scenario::IHighLoad,
];

const RESCHEDULING: [Scenario; 5] = [
    Scenario::IInform1,
    Scenario::IMixed,
    Scenario::IInform4,
    Scenario::IInform15m,
    Scenario::IInform30m,
];

const ACCURACIES: [Scenario; 8] = [
    Scenario::Precise,
    Scenario::Mixed,
    Scenario::Accuracy25,
    Scenario::AccuracyBad,
    Scenario::IPrecise,
    Scenario::IMixed,
    Scenario::IAccuracy25,
    Scenario::IAccuracyBad,
];

pub(super) fn plan2(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    setup.all(&POLICIES)
}
pub(super) fn plan7(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    setup.all(&LOADS)
}
pub(super) fn plan8(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    setup.all(&RESCHEDULING)
}
pub(super) fn plan9(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    setup.all(&ACCURACIES)
}

pub(super) fn report2(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    report(
        setup,
        samples,
        "fig2",
        "published as bars only: with rescheduling jobs run longer and are done sooner, in all but the FCFS cases, which are the best without",
    )
}
pub(super) fn report7(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    report(
        setup,
        samples,
        "fig7",
        "published as bars only: iHighLoad is comparable with LowLoad, though jobs come four times as fast",
    )
}
pub(super) fn report8(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    report(
        setup,
        samples,
        "fig8",
        "published as bars only: hardly any difference; iInform4 waits least",
    )
}
pub(super) fn report9(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    report(
        setup,
        samples,
        "fig9",
        "published as bars only: no difference but for AccuracyBad and iAccuracyBad, which are not excessively worse",
    )
}

/// Waiting time and the rest of the completion time, in minutes.
fn minutes(run: &Finished) -> (f64, f64) {
    let (wait, whole) = (
        run.wait().mean,
        run.summary.turnaround.unwrap_or_default().mean,
    );
    (wait / 60.0, (whole - wait) / 60.0)
}

fn report(setup: &Setup, samples: &[Sample<'_>], name: &str, published: &str) -> Report {
    let mut table = Table::new(
        name,
        "mean of all jobs",
        &[
            "scenario",
            "waiting min",
            "running min",
            "completion min",
            "jobs moved",
            "completed",
        ],
    );
    for sample in samples {
        let whole = |run: &Finished| run.summary.turnaround.unwrap_or_default().mean / 60.0;
        // Each job is assigned once, and once more each time that it moves.
        let moved = |run: &Finished| run.sent(&["assign_ack"]).messages as f64;
        table.push([
            sample.name.into(),
            Cell::Number(sample.estimate(|run| minutes(run).0), 1),
            Cell::Number(sample.estimate(|run| minutes(run).1), 1),
            Cell::Number(sample.estimate(whole), 1),
            Cell::Number(sample.estimate(moved), 0),
            Cell::Number(sample.estimate(|run| run.summary.jobs.completed as f64), 0),
        ]);
    }
    let mut notes = vec![published.to_owned()];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}
