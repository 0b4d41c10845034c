//! Figures 2, 7, 8 and 9: how long jobs take, from submission to end.

use super::completed::POLICIES;
use super::{Scenario, Setup};
use crate::reproduce::{Claim, Finding, Finished, Part, Report, Sample, Table, part};
use crate::schedulers::aria::ANSWER;

pub(super) const FIG2: Part<Setup> = part(
    "fig2",
    "Figure 2: job completion time",
    |setup| setup.all(&POLICIES),
    |setup, samples| {
        let published = "published as bars only: with rescheduling jobs run longer and are done sooner, in all but the FCFS cases, which are the best without";
        report(setup, samples, "fig2", published, |table| {
            let mut findings: Vec<Finding> = [(1, "iSJF / SJF"), (2, "iMixed / Mixed")]
                .into_iter()
                .flat_map(|(plain, name)| {
                    [
                        Claim::sentence(format!("completion, {name}"), "done sooner", 0.0..=0.95)
                            .or_below(1.0)
                            .judge_value(table, table.ratio(plain + 3, plain, COMPLETION)),
                        Claim::sentence(format!("running, {name}"), "run longer", 1.01..=2.0)
                            .or_above(1.0)
                            .judge_value(table, table.ratio(plain + 3, plain, "running min")),
                    ]
                })
                .collect();
            findings.push(
                Claim::sentence("completion, iFCFS / FCFS", "the same", 0.95..=1.05)
                    .judge_value(table, table.ratio(3, 0, COMPLETION)),
            );
            findings
        })
    },
);
pub(super) const FIG7: Part<Setup> = part(
    "fig7",
    "Figure 7: job completion time, by load",
    |setup| setup.all(&LOADS),
    |setup, samples| {
        let published = "published as bars only: iHighLoad is comparable with LowLoad, though jobs come four times as fast";
        report(setup, samples, "fig7", published, |table| {
            vec![
                Claim::sentence("completion, iHighLoad / LowLoad", "comparable", 0.8..=1.25)
                    .or_below(1.5)
                    .judge_value(table, table.ratio(5, 0, COMPLETION)),
            ]
        })
    },
);
pub(super) const FIG8: Part<Setup> = part(
    "fig8",
    "Figure 8: job completion time, by rescheduling policy",
    |setup| setup.all(&RESCHEDULING),
    |setup, samples| {
        let published = "published as bars only: hardly any difference; iInform4 waits least";
        report(setup, samples, "fig8", published, |table| {
            vec![
                Claim::sentence(
                    "completion, iInform1 / iInform4",
                    "hardly any difference",
                    0.95..=1.05,
                )
                .judge_value(table, table.ratio(0, 2, COMPLETION)),
                Claim::sentence(
                    "waiting, iInform4 / iMixed",
                    "iInform4 waits least",
                    0.0..=1.0,
                )
                .judge_value(table, table.ratio(2, 1, "waiting min")),
            ]
        })
    },
);
pub(super) const FIG9: Part<Setup> = part(
    "fig9",
    "Figure 9: sensitivity to the accuracy of estimates",
    |setup| setup.all(&ACCURACIES),
    |setup, samples| {
        let published = "published as bars only: no difference but for AccuracyBad and iAccuracyBad, which are not excessively worse";
        report(setup, samples, "fig9", published, |table| {
            let mut findings = Vec::new();
            for (first, name) in [(0, ""), (4, "i")] {
                let ratio = |row: usize| table.ratio(first + row, first, COMPLETION);
                findings.push(
                    Claim::sentence(
                        format!("completion, {name}Accuracy25 / {name}Precise"),
                        "no difference",
                        0.95..=1.05,
                    )
                    .judge_value(table, ratio(2)),
                );
                findings.push(
                    Claim::sentence(
                        format!("completion, {name}AccuracyBad / {name}Precise"),
                        "not excessively worse",
                        1.0..=1.25,
                    )
                    .judge_value(table, ratio(3)),
                );
            }
            findings
        })
    },
);

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

/// The column that most claims are about.
const COMPLETION: &str = "completion min";

fn report(
    setup: &Setup,
    samples: &[Sample<'_>],
    name: &str,
    published: &str,
    judge: fn(&Table) -> Vec<Finding>,
) -> Report {
    let columns = "scenario | waiting min | running min | completion min | jobs moved | completed";
    let mut table = Table::new(name, "mean of all jobs", columns);
    for sample in samples {
        let running = |run: &Finished| {
            let whole = run.summary.turnaround.unwrap_or_default().mean;
            (whole - run.mean_wait()) / 60.0
        };
        // Each move of a job is acknowledged once.
        let moved = |run: &Finished| run.sent(&[ANSWER]).messages as f64;
        table.push([
            sample.name.into(),
            sample.mean(1, &|run| run.mean_wait() / 60.0),
            sample.mean(1, &running),
            sample.mean(1, &Finished::completion_minutes),
            sample.mean(0, &moved),
            sample.mean(0, &Finished::completed),
        ]);
    }
    let findings = judge(&table);
    Report::new([table], &[published], setup.size.caveat()).judged(findings)
}
