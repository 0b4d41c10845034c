//! What P4 claims, in few runs: its best scheme keeps up with a scheduler that knows everything, at any load, and however
//! much jobs ask for.

use super::constraints::PERCENT;
use super::waits::{GAPS, LIGHT_GAPS, between, table};
use super::{OURS, Planned, Scheme, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Cell, Claim, Finding, Part, Report, Rules, Sample, Table, part};

pub(super) const CLAIM: Part<Setup> = part(
    "claim",
    "LIQ-PULL beside CENT, at any load and with any constraints",
    plan,
    report,
);

const SCHEMES: [Scheme; 2] = [OURS, Scheme::Cent];

/// From this wait of CENT on, in seconds, the ratio of waits is compared, and below it their difference.
const LONG: f64 = 60.0;

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let gaps = GAPS.iter().chain(&LIGHT_GAPS);
    let by_load = gaps.flat_map(|gap| SCHEMES.map(|scheme| setup.with_gap(scheme, *gap)));
    let by_constraints = PERCENT
        .iter()
        .flat_map(|percent| SCHEMES.map(|scheme| setup.with_constraints(scheme, *percent)));
    Ok(by_load.chain(by_constraints).collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let gaps = GAPS.iter().chain(&LIGHT_GAPS);
    let loads = gaps.map(|gap| format!("{}, 50 %", between(*gap)));
    let constraints = PERCENT.map(|percent| format!("{}, {percent} %", between(3000)));
    let rows: Vec<String> = loads.chain(constraints).collect();
    let title = "mean wait in seconds, by the time between submissions and how likely a job names each resource";
    let table = table(
        ("claim", title, "between, named"),
        &rows,
        &SCHEMES,
        samples,
        Rules::Ours,
    );
    let findings = judged(&table);
    Report::new([table], &[], setup.size.caveat()).judged(findings)
}

fn judged(table: &Table) -> [Finding; 2] {
    let number = |row: usize, column: &str| table.at(row, column).number();
    let worst = |column: &str, is_long: bool| {
        let rows = 0..table.rows.len();
        let rows =
            rows.filter(|row| number(*row, "CENT").is_some_and(|wait| (wait >= LONG) == is_long));
        let found = rows.filter_map(|row| number(row, column));
        found.reduce(f64::max)
    };
    let cell = |worst: Option<f64>, digits| worst.map_or(Cell::Empty, |it| Cell::exact(it, digits));
    let early = "jobs are bound to a node when they come, and CENT binds a job when a node is free";
    [
        Claim::sentence(
            "the largest LIQ-PULL / CENT where CENT waits a minute or more",
            "competitive",
            0.0..=1.15,
        )
        .or_below(2.0)
        .because(early)
        .judge_value(table, cell(worst("LIQ-PULL / CENT", true), 2)),
        Claim::sentence(
            "the most that LIQ-PULL waits longer where CENT waits less, s",
            "competitive",
            f64::NEG_INFINITY..=20.0,
        )
        .or_below(60.0)
        .because(early)
        .judge_value(table, cell(worst("s more", false), 0)),
    ]
}
