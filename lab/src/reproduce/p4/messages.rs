//! Figure 4: what each scheme sends.

use gridweave_core::time::Time;

use super::{Planned, Scheme, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Cell, Finished, Report, Sample, Table};
use crate::schedulers::desktop::OVERLAY;
use gridweave_sim::engine::{KindTraffic, is_of};

pub(super) const TITLE: &str = "Figure 4: messages and bytes, for each node and minute";

/// Mean times between submissions, in milliseconds.
const GAPS: [u64; 3] = [2000, 2500, 3000];

pub(super) fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let pairs = GAPS
        .iter()
        .flat_map(|gap| schemes().map(move |scheme| (*gap, scheme)));
    Ok(pairs
        .map(|(gap, scheme)| setup.with_gap(scheme, gap))
        .collect())
}

/// What keeps the overlay up to date.
pub(super) const UPKEEP: [&str; 1] = [OVERLAY];

/// CENT sends nothing.
fn schemes() -> impl Iterator<Item = Scheme> {
    Scheme::ALL
        .into_iter()
        .filter(|scheme| *scheme != Scheme::Cent)
}

/// What is sent while jobs come, but for about the first and the last fifth of that time, for each node and minute.
pub(super) fn steady(run: &Finished, kinds: &[&str]) -> (f64, f64) {
    let last = run.prepared.workload.jobs.last();
    let last = last.map_or(0, |job| job.at.as_micros());
    // In whole windows, since messages are counted in those.
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

/// All kinds but those that keep the overlay up to date.
pub(super) fn jobs_kinds(run: &Finished) -> Vec<&str> {
    let kinds = run
        .run
        .traffic
        .kinds()
        .iter()
        .map(|(name, _)| name.as_str());
    kinds.filter(|name| !is_of(name, &UPKEEP)).collect()
}

pub(super) fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "fig4",
        "for each node and minute, in the steady state",
        &[
            "between",
            "scheme",
            "heartbeats",
            "for jobs",
            "all messages",
            "heartbeats B",
            "for jobs B",
            "all B",
        ],
    );
    let rows = GAPS
        .iter()
        .flat_map(|gap| schemes().map(move |scheme| (*gap, scheme)));
    for ((gap, scheme), sample) in rows.zip(samples) {
        let upkeep = |run: &Finished| steady(run, &UPKEEP);
        let jobs = |run: &Finished| steady(run, &jobs_kinds(run));
        let cell = |figure: &dyn Fn(&Finished) -> f64, digits| {
            Cell::Number(sample.estimate(figure), digits)
        };
        table.push([
            format!("{:.2} s", gap as f64 / 1000.0).into(),
            scheme.name().into(),
            cell(&|run| upkeep(run).0, 1),
            cell(&|run| jobs(run).0, 1),
            cell(&|run| upkeep(run).0 + jobs(run).0, 1),
            cell(&|run| upkeep(run).1, 0),
            cell(&|run| jobs(run).1, 0),
            cell(&|run| upkeep(run).1 + jobs(run).1, 0),
        ]);
    }
    let mut notes = vec![
        "published: about 20 messages for each node and minute, one in three seconds, in a highly loaded system; PUSH and L like Vanilla, PULL some more; bytes about equal".into(),
        "heartbeats: all that keeps the overlay up to date, with how each node is".into(),
    ];
    notes.extend(setup.caveat());
    Report {
        tables: vec![table],
        notes,
    }
}
