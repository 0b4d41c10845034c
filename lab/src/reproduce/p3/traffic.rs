//! Figure 10: traffic.

use super::{Planned, Scenario, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Claim, Finished, Part, Report, Rules, Sample, Table, part};
use crate::schedulers::aria::{ACCEPT, ASSIGN, AriaConfig, CUSTODY, INFORM, REQUEST};

pub(super) const FIG10: Part<Setup> = part("fig10", "Figure 10: network overhead", plan, report);

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

/// The scenarios that are made with our rules, too, each after the same without rescheduling.
const BOTH: [[Scenario; 2]; 3] = [
    [Scenario::Sjf, Scenario::ISjf],
    [Scenario::Mixed, Scenario::IMixed],
    [Scenario::HighLoad, Scenario::IHighLoad],
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let mut runs = setup.all(&CASES)?;
    for [still, moving] in BOTH {
        runs.push(setup.planned(still));
        runs.push(setup.planned(moving));
        runs.push(setup.changed(moving, "-ours", |config| {
            let aria = &mut config.rules.aria;
            let ours = AriaConfig::default();
            (aria.adverts, aria.gifts) = (ours.adverts, ours.gifts);
        }));
    }
    Ok(runs)
}

/// Each kind with its size in P3, in bytes (PROTOCOLS A25).
const SIZES: [(&str, f64); 4] = [
    (REQUEST, 1024.0),
    (INFORM, 1024.0),
    (ASSIGN, 1024.0),
    (ACCEPT, 128.0),
];

/// The length of P3's runs, in seconds.
const DURATION: f64 = 150_000.0;

fn per_node(run: &Finished, bytes: f64) -> f64 {
    bytes / run.prepared.grid.len().max(1) as f64
}

/// Megabytes of a kind per node, with P3's size of a message.
fn sized(run: &Finished, (kind, size): (&str, f64)) -> f64 {
    per_node(run, run.sent(&[kind]).messages as f64 * size) / 1e6
}

/// Megabytes of all four kinds per node.
fn all(run: &Finished) -> f64 {
    SIZES.iter().map(|kind| sized(run, *kind)).sum()
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "fig10",
        "megabytes sent by each node in the whole simulation, at P3's sizes of messages",
        "scenario | REQUEST | INFORM | ASSIGN | ACCEPT | all | bits/s | encoded MB of these | encoded MB of others",
    );
    for sample in &samples[..CASES.len()] {
        let mut row = vec![sample.name.into()];
        row.extend(SIZES.map(|kind| sample.mean(3, &|run| sized(run, kind))));
        let encoded = |kinds: &[&str]| {
            sample.mean(3, &|run| per_node(run, run.sent(kinds).bytes as f64) / 1e6)
        };
        row.extend([
            sample.mean(2, &all),
            sample.mean(0, &|run| all(run) * 8e6 / DURATION),
            encoded(&SIZES.map(|(kind, _)| kind)),
            encoded(&CUSTODY),
        ]);
        table.push(row);
    }
    let notes = [
        "published: about 3 MB for each node in all scenarios, 149 bits/s over 41 h 40 min; REQUEST hardly differs, ASSIGN and ACCEPT are negligible; iExpanding needs less INFORM, and iInform1 much less",
        "our rules: only jobs that may gain are advertised, a job that no site wanted less and less often, and sites keep to what they offer",
        "encoded: the real lengths of our messages; others are the acknowledgements and leases with which nothing is lost or run twice, which P3 does not have",
    ];
    let row = |wanted: Scenario| CASES.iter().position(|case| *case == wanted).unwrap_or(0);
    let informs = "nodes advertise for as long as jobs wait, also where nothing better can be had";
    let mut findings: Vec<_> = CASES
        .iter()
        .enumerate()
        .map(|(number, scenario)| {
            Claim::number(
                format!("all, {}, MB for each node", scenario.name()),
                3.0,
                0.4,
            )
            .or_below(6.0)
            .because(informs)
            .judge(&table, number, "all")
        })
        .collect();
    findings.push(
        Claim::sentence("INFORM, iInform1 / iMixed", "much less", 0.0..=0.8)
            .or_below(1.0)
            .because(informs)
            .judge_value(
                &table,
                table.ratio(row(Scenario::IInform1), row(Scenario::IMixed), "INFORM"),
            ),
    );
    let mut both = Table::unpublished(
        "fig10-ours",
        "what adverts cost and bring, by the paper's rules and by ours",
        "scenario | INFORM MB | all MB | waiting min | completion min | completed",
    );
    for (number, sample) in samples[CASES.len()..].iter().enumerate() {
        let rules = match number % 3 {
            2 => Rules::Ours,
            _ => Rules::Paper,
        };
        let row = [
            sample.name.trim_end_matches("-ours").into(),
            sample.mean(2, &|run| sized(run, (INFORM, 1024.0))),
            sample.mean(2, &all),
            sample.mean(1, &|run| run.mean_wait() / 60.0),
            sample.mean(1, &Finished::completion_minutes),
            sample.mean(0, &Finished::completed),
        ];
        both.push_by(rules, row);
    }
    Report::new([table, both], &notes, setup.size.caveat()).judged(findings)
}
