//! The effect of choices that P4 leaves open.

use super::{OURS, Planned, Scheme, Setup, beside, wait};
use crate::experiment::InputError;
use crate::reproduce::{Case, Part, Report, Rules, Sample, Table, part};
use gridweave_core::scheduler::desktop::Residues;
use gridweave_core::time::Span;

pub(super) const SENSITIVITY: Part<Setup> = part(
    "sensitivity",
    "LIQ-PULL and CENT with other choices where P4 makes none",
    plan,
    report,
);

const CASES: [Case; 12] = [
    Case("as chosen", "", |_| {}),
    Case("10 kinds of nodes and of jobs", "kinds10", |config| {
        config.workload.desktop.clusters = 10;
    }),
    Case("40 kinds", "kinds40", |config| {
        config.workload.desktop.clusters = 40;
    }),
    Case("stopping factor 0.5", "stop0.5", |config| {
        config.rules.desktop.stopping = 0.5;
    }),
    Case("stopping factor 2", "stop2", |config| {
        config.rules.desktop.stopping = 2.0;
    }),
    Case("heartbeats every 20 s", "beat20", |config| {
        config.rules.desktop.heartbeat = Some(Span::from_secs(20));
    }),
    Case("heartbeats every 300 s", "beat300", |config| {
        config.rules.desktop.heartbeat = Some(Span::from_secs(300));
    }),
    Case("no balloons", "neighbours", |config| {
        config.rules.desktop.residues = Residues::Neighbours;
    }),
    Case("one virtual dimension", "virtual1", |config| {
        config.rules.desktop.virtual_dimensions = Some(1);
    }),
    Case("no searches elsewhere", "probes0", |config| {
        config.rules.desktop.probes = Some(0);
    }),
    Case("none for jobs that wait", "again0", |config| {
        config.rules.desktop.searches_again = Some(0);
    }),
    Case(
        "no questions for jobs beyond neighbours",
        "pull0",
        |config| {
            config.rules.desktop.pull_hops = Some(0);
        },
    ),
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = CASES.iter().flat_map(|Case(_, suffix, change)| {
        [OURS, Scheme::Cent].map(|scheme| {
            let mut planned = setup.with_gap(scheme, 2500);
            let plain = planned.config.clone();
            change(&mut planned.config);
            // Settings of `desktop` do not concern the centralised scheduler.
            if scheme == Scheme::Cent && planned.config.workload == plain.workload {
                planned.config = plain;
            } else if !suffix.is_empty() {
                planned.name = format!("{}-{suffix}", scheme.name());
            }
            planned
        })
    });
    Ok(runs.collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let columns = "choice | LIQ-PULL | CENT | LIQ-PULL / CENT | s more";
    let title = "mean wait in seconds, a job every 2.5 s";
    let mut table = Table::unpublished("sensitivity", title, columns).by(Rules::Ours);
    for (Case(title, ..), pair) in CASES.iter().zip(samples.chunks(2)) {
        let [ours, cent] = pair else { continue };
        let mut cells = vec![(*title).into(), wait(ours), wait(cent)];
        cells.extend(beside(ours, cent));
        table.push(cells);
    }
    Report::new([table], &[], setup.size.caveat())
}
