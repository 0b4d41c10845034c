//! Figure 3: how long jobs wait, by the time between submissions.

use super::{OURS, Planned, Scheme, Setup, beside, steadiness, wait};
use crate::reproduce::chart::Chart;
use crate::reproduce::{Cell, Claim, Finding, Part, Report, Rules, Sample, Table, part};
use crate::schedulers::desktop::SchedulingName;

pub(super) const FIG3: Part<Setup> = part(
    "fig3",
    "Figure 3: mean wait, by the time between submissions",
    |setup| Ok(plan(setup, &GAPS, &Scheme::ALL_READINGS)),
    |setup, samples| report(setup, "fig3", &GAPS, &Scheme::ALL_READINGS, samples),
);
pub(super) const LIGHT: Part<Setup> = part(
    "light",
    "the same under light load, which P4 only mentions",
    |setup| Ok(plan(setup, &LIGHT_GAPS, &LIGHT_SCHEMES)),
    |setup, samples| report(setup, "light", &LIGHT_GAPS, &LIGHT_SCHEMES, samples),
);

/// Mean times between submissions, in milliseconds.
pub(super) const GAPS: [u64; 5] = [2000, 2250, 2500, 2750, 3000];
pub(super) const LIGHT_GAPS: [u64; 3] = [4000, 5000, 6000];

/// P4 only mentions light load: its simplest and its best scheme, and CENT in all readings.
const LIGHT_SCHEMES: [Scheme; 5] = [
    Scheme::Desktop(SchedulingName::Vanilla),
    OURS,
    Scheme::Cent,
    Scheme::CentBounded,
    Scheme::CentStrict,
];

fn plan(setup: &Setup, gaps: &[u64], schemes: &[Scheme]) -> Vec<Planned> {
    let pairs = gaps
        .iter()
        .flat_map(|gap| schemes.iter().map(|scheme| (*scheme, *gap)));
    let runs = pairs.map(|(scheme, gap)| setup.with_gap(scheme, gap));
    runs.collect()
}

/// The time between submissions, as text.
pub(super) fn between(gap: u64) -> String {
    format!("{:.2} s", gap as f64 / 1000.0)
}

/// A table of waits: one row for each sample, one column for each scheme, and LIQ-PULL compared with CENT.
pub(super) fn table(
    (name, title, first): (&str, &str, &str),
    rows: &[String],
    schemes: &[Scheme],
    samples: &[Sample<'_>],
    rules: Rules,
) -> Table {
    let mut columns = vec![first];
    columns.extend(schemes.iter().map(|scheme| scheme.name()));
    columns.extend([
        "LIQ-PULL / CENT",
        "s more",
        "offered",
        "used",
        "CENT, first half",
        "CENT, second half",
        "CENT steady",
    ]);
    let mut table = Table::new(name, title, &columns.join(" | ")).by(rules);
    let index = |wanted: Scheme| schemes.iter().position(|scheme| *scheme == wanted);
    for (row, samples) in rows.iter().zip(samples.chunks(schemes.len())) {
        let mut cells = vec![row.as_str().into()];
        cells.extend(samples.iter().map(wait));
        if let (Some(ours), Some(cent)) = (index(OURS), index(Scheme::Cent)) {
            cells.extend(beside(&samples[ours], &samples[cent]));
            cells.extend(steadiness(&samples[cent]));
        }
        table.push(cells);
    }
    table
}

/// From this wait of CENT on, in seconds, the ratio of waits is judged, and below it their difference.
pub(super) const LONG: f64 = 60.0;

/// How many times as long as CENT, and how many seconds longer, LIQ-PULL may wait.
pub(super) const KEEPS_UP: f64 = 1.15;
pub(super) const LATER: f64 = 20.0;

pub(super) const EARLY: &str =
    "jobs are bound to a node when they come, and CENT binds a job when a node is free";

/// Whether LIQ-PULL keeps up with CENT in a row.
pub(super) fn keeps_up(table: &Table, row: usize, when: &str, why: &'static str) -> Finding {
    let cent = table.at(row, "CENT").number();
    if cent.is_some_and(|wait| wait >= LONG) {
        let what = format!("LIQ-PULL / CENT {when}");
        let claim = Claim::sentence(what, "competitive", 0.0..=KEEPS_UP).or_below(2.0);
        return claim.because(why).judge(table, row, "LIQ-PULL / CENT");
    }
    let what = format!("s that LIQ-PULL waits longer than CENT {when}");
    let claim = Claim::sentence(what, "competitive", f64::NEG_INFINITY..=LATER);
    let claim = claim.or_below(3.0 * LATER).because(why);
    claim.judge(table, row, "s more")
}

fn report(
    setup: &Setup,
    name: &str,
    gaps: &[u64],
    schemes: &[Scheme],
    samples: &[Sample<'_>],
) -> Report {
    let rows: Vec<String> = gaps.iter().copied().map(between).collect();
    let title = "mean wait in seconds, clustered nodes and clustered jobs";
    let mut table = table(
        (name, title, "between"),
        &rows,
        schemes,
        samples,
        Rules::Ours,
    );
    table.published = gaps.first() == Some(&GAPS[0]);
    let findings = match table.published {
        true => judged(&table),
        false => Vec::new(),
    };
    let drawn = Scheme::ALL.iter().filter(|scheme| schemes.contains(scheme));
    let schemes: Vec<&str> = drawn.map(|scheme| scheme.name()).collect();
    let chart = Chart::columns(&table, "between", &schemes, "mean wait s")
        .axes("seconds between submissions", "mean wait in seconds")
        .named(
            &format!("p4-{name}"),
            "mean waits by the time between submissions",
        );
    let published = "P4 prints no numbers; it says that LIQ-PULL is best and competitive with CENT, LI similar to LIQ, PULL ahead of PUSH under high load, and L behind Vanilla at 2 s";
    Report::new([table], &[published], setup.size.caveat())
        .judged(findings)
        .drawn([chart])
}

/// The verdicts on waits by load, whose first row has the highest.
fn judged(table: &Table) -> Vec<Finding> {
    let last = table.rows.len().saturating_sub(1);
    let between = |row: usize, one: &str, other: &str| {
        let [one, other] = [one, other].map(|column| table.at(row, column).number());
        match (one, other) {
            (Some(one), Some(other)) if other > 0.0 => Cell::exact(one / other, 2),
            _ => Cell::Empty,
        }
    };
    vec![
        keeps_up(table, 0, "at the highest load", EARLY),
        keeps_up(table, last, "at the lowest load", EARLY),
        Claim::sentence("LIQ-PULL / Vanilla at the highest load", "best", 0.0..=0.8)
            .or_below(1.0)
            .judge_value(table, between(0, "LIQ-PULL", "Vanilla")),
        Claim::sentence(
            "LI-PULL / LIQ-PULL at the highest load",
            "similar",
            0.8..=1.25,
        )
        .judge_value(table, between(0, "LI-PULL", "LIQ-PULL")),
        Claim::sentence(
            "LIQ-PULL / LIQ-PUSH at the highest load",
            "PULL ahead of PUSH",
            0.0..=1.0,
        )
        .or_below(1.05)
        .because("the two differ less than seeds do")
        .judge_value(table, between(0, "LIQ-PULL", "LIQ-PUSH")),
        Claim::sentence(
            "L / Vanilla at the highest load",
            "L behind Vanilla",
            1.0..=f64::INFINITY,
        )
        .or_above(0.95)
        .because("the two differ less than seeds do")
        .judge_value(table, between(0, "L", "Vanilla")),
    ]
}
