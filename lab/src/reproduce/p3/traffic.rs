//! Figure 10: what is sent.

use super::{Planned, Scenario, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Cell, Finished, Report, Sample, Table};
use crate::schedulers::aria::{ACCEPT, ASSIGN, INFORM, REQUEST};

pub(super) const TITLE: &str = "Figure 10: network overhead";

const CASES: [Scenario; 12] = [
    Scenario::Fcfs,
    Scenario::Mixed,
    Scenario::Deadline,
    Scenario::Expanding,
    Scenario::IFcfs,
    Scenario::ISjf,
    Scenario::IMixed,
    Scenario::IDeadline,
    Scenario::IHighLoad,
    Scenario::IExpanding,
    Scenario::IInform1,
    Scenario::IInform4,
];

/// Each kind with the size that P3 gives it, in bytes (PROTOCOLS A25).
const SIZES: [(&str, f64); 4] = [
    (REQUEST, 1024.0),
    (INFORM, 1024.0),
    (ASSIGN, 1024.0),
    (ACCEPT, 128.0),
];

/// How long P3's runs are, in seconds.
const DURATION: f64 = 150_000.0;

pub(super) fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    setup.all(&CASES)
}

fn per_node(run: &Finished, bytes: f64) -> f64 {
    bytes / run.prepared.grid.len().max(1) as f64
}

/// Megabytes of a kind for each node, at P3's size of a message.
fn sized(run: &Finished, (kind, size): (&str, f64)) -> f64 {
    per_node(run, run.sent(&[kind]).messages as f64 * size) / 1e6
}

/// All four kinds.
fn all(run: &Finished) -> f64 {
    SIZES.iter().map(|kind| sized(run, *kind)).sum()
}

pub(super) fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "fig10",
        "megabytes sent by each node in the whole simulation, at P3's sizes of messages",
        &[
            "scenario",
            "REQUEST",
            "INFORM",
            "ASSIGN",
            "ACCEPT",
            "all",
            "bits/s",
            "encoded MB of these",
            "encoded MB of others",
        ],
    );
    for sample in samples {
        let mut row = vec![sample.name.into()];
        row.extend(SIZES.map(|kind| Cell::Number(sample.estimate(|run| sized(run, kind)), 3)));
        let kinds = SIZES.map(|(kind, _)| kind);
        let own = |run: &Finished| per_node(run, run.sent(&kinds).bytes as f64) / 1e6;
        let others = ["assign_ack", "notify", "verdict"];
        let rest = |run: &Finished| per_node(run, run.sent(&others).bytes as f64) / 1e6;
        row.extend([
            Cell::Number(sample.estimate(all), 2),
            Cell::Number(sample.estimate(|run| all(run) * 8e6 / DURATION), 0),
            Cell::Number(sample.estimate(own), 3),
            Cell::Number(sample.estimate(rest), 3),
        ]);
        table.push(row);
    }
    let mut notes = vec![
        "published: about 3 MB for each node in all scenarios, 149 bits/s over 41 h 40 min; REQUEST hardly differs, ASSIGN and ACCEPT are negligible; iExpanding needs less INFORM, and iInform1 much less".into(),
        "encoded: the real lengths of our messages; others are the acknowledgements and leases with which nothing is lost or run twice, which P3 does not have".into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}
