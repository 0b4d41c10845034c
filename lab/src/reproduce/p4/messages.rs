//! Figure 4: the traffic of each scheme.

use gridweave_core::time::Time;

use super::waits::between;
use super::{Planned, Scheme, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Claim, Finding, Finished, Part, Report, Rules, Sample, Table, part};
use crate::schedulers::desktop::OVERLAY;
use crate::schedulers::desktop::SchedulingName;
use gridweave_sim::engine::{KindTraffic, is_of};

pub(super) const FIG4: Part<Setup> = part(
    "fig4",
    "Figure 4: messages and bytes, for each node and minute",
    plan,
    report,
);

/// Mean times between submissions, in milliseconds.
const GAPS: [u64; 3] = [2000, 2500, 3000];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = rows().map(|(gap, scheme)| setup.with_gap(scheme, gap));
    Ok(runs.collect())
}

/// The kinds of messages that maintain the overlay.
pub(super) const UPKEEP: [&str; 1] = [OVERLAY];

/// Each gap with each scheme except CENT, which sends nothing.
fn rows() -> impl Iterator<Item = (u64, Scheme)> {
    let pairs = GAPS
        .iter()
        .flat_map(|gap| Scheme::ALL.map(|scheme| (*gap, scheme)));
    pairs.filter(|(_, scheme)| *scheme != Scheme::Cent)
}

/// Messages and bytes per node and minute while jobs come, without about the first and the last fifth of that time.
pub(super) fn steady(run: &Finished, kinds: &[&str]) -> (f64, f64) {
    let last = run.prepared.workload.jobs.last();
    let last = last.map_or(0, |job| job.at.as_micros());
    // Whole windows, since messages are counted per window.
    let window = run.run.traffic.window_of_kinds();
    let window = window.map_or(1, |window| window.as_micros().max(1));
    let whole = |micros: u64| micros.next_multiple_of(window);
    let (from, until) = (whole(last / 5), whole(last - last / 5));
    let KindTraffic {
        messages, bytes, ..
    } = run.sent_between(kinds, Time::from_micros(from), Time::from_micros(until));
    let minutes = (until - from) as f64 / 60e6;
    let node_minutes = minutes.max(1.0) * run.prepared.grid.len().max(1) as f64;
    (messages as f64 / node_minutes, bytes as f64 / node_minutes)
}

/// All kinds except those that maintain the overlay.
pub(super) fn jobs_kinds(run: &Finished) -> Vec<&str> {
    let kinds = run
        .run
        .traffic
        .kinds()
        .iter()
        .map(|(name, _)| name.as_str());
    kinds.filter(|name| !is_of(name, &UPKEEP)).collect()
}

/// The table of traffic: a row for each of these runs.
pub(super) fn table(
    name: &str,
    rules: Rules,
    rows: impl Iterator<Item = (u64, Scheme)>,
    samples: &[Sample<'_>],
) -> Table {
    let mut table = Table::new(
        name,
        "for each node and minute, in the steady state",
        "between | scheme | heartbeats | for jobs | all messages | heartbeats B | for jobs B | all B",
    )
    .by(rules);
    for ((gap, scheme), sample) in rows.zip(samples) {
        let upkeep = |run: &Finished| steady(run, &UPKEEP);
        let jobs = |run: &Finished| steady(run, &jobs_kinds(run));
        table.push([
            between(gap).into(),
            scheme.name().into(),
            sample.mean(1, &|run| upkeep(run).0),
            sample.mean(1, &|run| jobs(run).0),
            sample.mean(1, &|run| upkeep(run).0 + jobs(run).0),
            sample.mean(0, &|run| upkeep(run).1),
            sample.mean(0, &|run| jobs(run).1),
            sample.mean(0, &|run| upkeep(run).1 + jobs(run).1),
        ]);
    }
    table
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let table = table("fig4", Rules::Ours, rows(), samples);
    let findings = judged(&table);
    Report::new([table], &NOTES, setup.size.caveat()).judged(findings)
}

pub(super) const NOTES: [&str; 2] = [
    "published: about 20 messages for each node and minute, one in three seconds, in a highly loaded system; PUSH and L like Vanilla, PULL some more; bytes about equal",
    "heartbeats: all that keeps the overlay up to date, with how each node is",
];

/// The verdicts on a table that begins with all schemes at 2 s.
pub(super) fn judged(table: &Table) -> [Finding; 4] {
    let row = |wanted: SchedulingName| {
        let mut schemes = Scheme::ALL.into_iter();
        let row = schemes.position(|scheme| scheme == Scheme::Desktop(wanted));
        row.unwrap_or(0)
    };
    let (vanilla, pull) = (row(SchedulingName::Vanilla), row(SchedulingName::LiqPull));
    let push = row(SchedulingName::LiqPush);
    let beats = "P4 does not say how often its nodes send heartbeats, and in how many dimensions: that decides most of this";
    [
        Claim::number("messages of Vanilla at 2 s", 20.0, 0.15)
            .or_below(20.0)
            .because(beats)
            .judge(table, vanilla, "all messages"),
        Claim::sentence(
            "messages of LIQ-PULL at 2 s",
            "about 20, some more than the rest",
            18.0..=24.0,
        )
        .or_below(24.0)
        .because(beats)
        .judge(table, pull, "all messages"),
        Claim::sentence(
            "messages, LIQ-PUSH / Vanilla at 2 s",
            "like Vanilla",
            0.95..=1.05,
        )
        .or_below(1.5)
        .because("nodes that offer jobs say so")
        .judge_value(table, table.ratio(push, vanilla, "all messages")),
        Claim::sentence(
            "bytes, LIQ-PULL / Vanilla at 2 s",
            "about equal",
            0.85..=1.15,
        )
        .or_below(1.6)
        .because("nodes that ask for jobs say so")
        .judge_value(table, table.ratio(pull, vanilla, "all B")),
    ]
}
