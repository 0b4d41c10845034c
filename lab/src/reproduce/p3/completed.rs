//! Figure 1: completed jobs over time.

use super::{Scenario, Setup};
use crate::outcome::Outcome;
use crate::reproduce::chart::Chart;
use crate::reproduce::{Cell, Claim, Finished, Part, Report, Sample, Table, part};

pub(super) const FIG1: Part<Setup> = part(
    "fig1",
    "Figure 1: completed jobs",
    |setup| setup.all(&POLICIES),
    report,
);

/// The scenarios of Figures 1 to 3.
pub(super) const POLICIES: [Scenario; 6] = [
    Scenario::Fcfs,
    Scenario::Sjf,
    Scenario::Mixed,
    Scenario::IFcfs,
    Scenario::ISjf,
    Scenario::IMixed,
];

/// When this part of the jobs had ended, in hours.
fn done_by(run: &Finished, part: f64) -> Option<f64> {
    let mut ends = ends(run);
    ends.sort_unstable_by(f64::total_cmp);
    let wanted = (part * run.summary.jobs.submitted as f64).ceil() as usize;
    ends.get(wanted.saturating_sub(1)).copied()
}

/// The end of each job that ran, in hours.
fn ends(run: &Finished) -> Vec<f64> {
    let ends = run.jobs().filter_map(|(_, outcome)| match outcome {
        Outcome::Ran { end, .. } => Some(end.as_micros() as f64 / 3.6e9),
        _ => None,
    });
    ends.collect()
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "fig1",
        "hours into the simulation at which so many jobs were done",
        "scenario | half | 90 % | 99 % | all | completed",
    );
    let mut data = Table::data(
        "fig1-completed",
        "completed jobs over time, the mean of all seeds",
        "scenario | hour | completed",
    );
    for sample in samples {
        let by = |part| sample.mean_of_some(2, &|run| done_by(run, part));
        table.push([
            sample.name.into(),
            by(0.5),
            by(0.9),
            by(0.99),
            by(1.0),
            sample.mean(0, &Finished::completed),
        ]);
        let all: Vec<Vec<f64>> = sample.all().iter().map(ends).collect();
        for step in 0..=250_u32 {
            let hour = f64::from(step) / 6.0;
            let done = all.iter().flatten().filter(|end| **end <= hour).count();
            data.push([
                sample.name.into(),
                Cell::exact(hour, 2),
                Cell::exact(done as f64 / all.len().max(1) as f64, 1),
            ]);
        }
    }
    let published = "published as curves only: iSJF and iMixed complete jobs sooner than SJF and Mixed; FCFS without rescheduling is as good as with it";
    // The scenarios without rescheduling come first, in the order of those with it.
    let sooner = |plain: usize, name: &str| {
        Claim::sentence(
            format!("hours until 90 % were done, {name}"),
            "sooner with rescheduling",
            0.0..=0.95,
        )
        .or_below(1.0)
        .judge_value(&table, table.ratio(plain + 3, plain, "90 %"))
    };
    let findings = [
        sooner(1, "iSJF / SJF"),
        sooner(2, "iMixed / Mixed"),
        Claim::sentence(
            "hours until 90 % were done, iFCFS / FCFS",
            "as good as with it",
            0.9..=1.1,
        )
        .judge_value(&table, table.ratio(3, 0, "90 %")),
    ];
    let chart = Chart::of(&data, &["scenario"], "hour", "completed")
        .named("p3-fig1", "completed jobs over time");
    Report::new([table, data], &[published], setup.size.caveat())
        .judged(findings)
        .drawn([chart])
}
