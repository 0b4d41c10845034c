//! What P4 claims, in few runs: its best scheme keeps up with a scheduler that knows everything, at any load, and however
//! much jobs ask for.

use super::constraints::PERCENT;
use super::waits::{EARLY, GAPS, KEEPS_UP, LATER, LIGHT_GAPS, LONG, between, table};
use super::{OURS, Planned, Scheme, Setup, halves, is_steady, steady_wait};
use crate::experiment::InputError;
use crate::reproduce::statistics::percent;
use crate::reproduce::{Cell, Claim, Finding, Part, Report, Rules, Sample, Table, part};

pub(super) const CLAIM: Part<Setup> = part(
    "claim",
    "LIQ-PULL beside CENT, at any load and with any constraints",
    plan,
    report,
);

const SCHEMES: [Scheme; 2] = [OURS, Scheme::Cent];

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
    let findings = judged(&table, samples);
    let notes = [
        "rows in which CENT is not steady are not judged: there it starves jobs of several cores, and its mean wait is that of few jobs",
    ];
    Report::new([table], &notes, setup.size.caveat()).judged(findings)
}

/// The part of all pairs of a row and a seed under which LIQ-PULL keeps up, in percent, among those with a steady CENT.
fn kept_up(samples: &[Sample<'_>]) -> Cell {
    let keeps_up = samples.chunks_exact(SCHEMES.len()).flat_map(|row| {
        row[0].pairs(&row[1], &|ours, cent| {
            is_steady(halves(cent)).then(|| {
                let (ours, cent) = (steady_wait(ours), steady_wait(cent));
                f64::from(ours <= (KEEPS_UP * cent).max(cent + LATER))
            })
        })
    });
    let keeps_up: Vec<f64> = keeps_up.flatten().collect();
    match keeps_up.len() {
        0 => Cell::Empty,
        all => Cell::exact(percent(keeps_up.iter().sum(), all as f64), 0),
    }
}

fn judged(table: &Table, samples: &[Sample<'_>]) -> Vec<Finding> {
    let number = |row: usize, column: &str| table.at(row, column).number();
    let is_steady = |row: usize| match table.at(row, "CENT steady") {
        Cell::Text(text) => text.starts_with("yes"),
        _ => false,
    };
    let worst = |column: &str, is_long: bool| {
        let rows = (0..table.rows.len()).filter(|row| is_steady(*row));
        let rows =
            rows.filter(|row| number(*row, "CENT").is_some_and(|wait| (wait >= LONG) == is_long));
        let found = rows.filter_map(|row| number(row, column));
        found.reduce(f64::max)
    };
    let cell = |worst: Option<f64>, digits| worst.map_or(Cell::Empty, |it| Cell::exact(it, digits));
    let later = Claim::sentence(
        "the most that LIQ-PULL waits longer where CENT waits less than a minute, s",
        "competitive",
        f64::NEG_INFINITY..=LATER,
    )
    .or_below(3.0 * LATER)
    .because(EARLY)
    .judge_value(table, cell(worst("s more", false), 0));
    let kept_up = Claim::sentence(
        "pairs of a row and a seed, with a steady CENT, in which LIQ-PULL waits at most 1.15 times as long or 20 s longer, %",
        "competitive",
        95.0..=100.0,
    )
    .or_above(50.0)
    .because(EARLY)
    .judge_value(table, kept_up(samples));
    let ratio = worst("LIQ-PULL / CENT", true).map(|worst| {
        Claim::sentence(
            "the largest LIQ-PULL / CENT where CENT waits a minute or more",
            "competitive",
            0.0..=KEEPS_UP,
        )
        .or_below(2.0)
        .because(EARLY)
        .judge_value(table, Cell::exact(worst, 2))
    });
    // CENT may never wait a minute in a steady row.
    ratio.into_iter().chain([later, kept_up]).collect()
}
