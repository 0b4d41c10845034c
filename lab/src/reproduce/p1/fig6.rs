//! Figure 6: the cost of Push and Pull over time.

use super::{PULLED, Planned, Setup, Trace};
use crate::experiment::InputError;
use crate::reproduce::chart::Chart;
use crate::reproduce::{Cell, Claim, Finished, Part, Report, Sample, Table, part};
use crate::schedulers::asap::PUSH;

pub(super) const FIG6: Part<Setup> = part(
    "fig6",
    "Figure 6: schedules exchanged by Push and by Pull, over time",
    plan,
    report,
);

const TRACES: [Trace; 2] = [Trace::Plain, Trace::Compressed];

/// Bands of RU in percent, with the ratio of Pull to Push that the paper gives.
const BANDS: [(f64, f64, &str); 4] = [
    (0.0, 30.0, "close to 1"),
    (30.0, 60.0, "-"),
    (60.0, 100.0, "-"),
    (100.0, f64::INFINITY, "up to 100"),
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let both = TRACES.map(|trace| [setup.push(trace), setup.pull(trace)]);
    Ok(both.into_iter().flatten().collect())
}

/// One window of two runs of the same jobs.
struct Window {
    day: f64,
    requested: f64,
    push: f64,
    pull: f64,
}

fn windows(push: &Finished, pull: &Finished) -> Vec<Window> {
    let pushed = push.sent_over_time(&[PUSH]);
    let pulled = pull.sent_over_time(&PULLED);
    let rows = push.series.iter().zip(pushed.into_iter().zip(pulled));
    rows.map(|(row, (push, pull))| Window {
        day: row.time / 86_400.0,
        requested: row.requested_utilization,
        push: push.items as f64,
        pull: pull.items as f64,
    })
    .collect()
}

/// The sum of a figure; starts at a positive zero, so that an empty sum is not -0.
fn total(windows: &[Window], of: fn(&Window) -> f64) -> f64 {
    windows.iter().map(of).fold(0.0, |sum, next| sum + next)
}

fn ratio(pull: f64, push: f64) -> Option<f64> {
    (push > 0.0).then(|| pull / push)
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "fig6",
        "schedules exchanged",
        "trace | RU % | windows | push | pull | published pull / push | measured pull / push | largest in a window",
    );
    let mut series = Table::data(
        "fig6-series",
        "schedules exchanged in each window, under the first seed",
        "trace | day | requested | push | pull | ratio",
    );
    for (trace, pair) in TRACES.into_iter().zip(samples.chunks_exact(2)) {
        let (push, pull) = (pair[0], pair[1]);
        let whole = (0.0, f64::INFINITY, "over 10");
        for (from, until, published) in BANDS.into_iter().chain([whole]) {
            let of = |digits, figure: fn(&[Window]) -> Option<f64>| {
                push.against(&pull, digits, &|push, pull| {
                    let mut windows = windows(push, pull);
                    let last = push.prepared.workload.jobs.last();
                    let last = last.map_or(0.0, |job| job.at.as_micros() as f64 / 86_400e6);
                    windows.retain(|window| window.day <= last);
                    windows.retain(|window| (from..until).contains(&(100.0 * window.requested)));
                    figure(&windows)
                })
            };
            let name = if until.is_finite() {
                format!("{from} to {until}")
            } else if from > 0.0 {
                format!("above {from}")
            } else {
                "all".into()
            };
            table.push([
                trace.title().into(),
                name.into(),
                of(0, |windows| Some(windows.len() as f64)),
                of(0, |windows| Some(total(windows, |w| w.push))),
                of(0, |windows| Some(total(windows, |w| w.pull))),
                published.into(),
                of(1, |windows| {
                    ratio(total(windows, |w| w.pull), total(windows, |w| w.push))
                }),
                of(1, |windows| {
                    let ratios = windows.iter().filter_map(|w| ratio(w.pull, w.push));
                    ratios.max_by(f64::total_cmp)
                }),
            ]);
        }
        for window in windows(push.first(), pull.first()) {
            series.push([
                trace.name().into(),
                Cell::exact(window.day, 3),
                Cell::exact(window.requested, 4),
                Cell::exact(window.push, 0),
                Cell::exact(window.pull, 0),
                ratio(window.pull, window.push).map_or(Cell::Empty, |ratio| Cell::exact(ratio, 2)),
            ]);
        }
    }
    let notes = [
        "Push counts schedules that a node tells the nodes with a link to it (D7); Pull counts schedules asked for in a \
         search and all that are in the answers of neighbours, which pull theirs first (D9)",
        "windows after the last submission are left out of the table",
    ];
    // Each trace has a row for each band, and one for all windows.
    let row = |trace: usize, band: usize| trace * (BANDS.len() + 1) + band;
    let ratio = "measured pull / push";
    let early = "here a search pulls few schedules as long as its first ring is enough, and many once schedules are full: the ratio follows how full they are, and RU of a window only in so far";
    let findings = [
        Claim::sentence(
            "pull / push where RU is below 30, plain trace",
            "close to 1",
            0.5..=2.0,
        )
        .or_below(5.0)
        .because(early)
        .judge(&table, row(0, 0), ratio),
        Claim::sentence(
            "largest pull / push in a window where RU is above 100, at 95 %",
            "up to 100",
            30.0..=300.0,
        )
        .or_above(2.0)
        .because(early)
        .judge(&table, row(1, 3), "largest in a window"),
        Claim::sentence(
            "pull / push over all, plain trace",
            "over 10",
            10.0..=f64::INFINITY,
        )
        .or_above(1.0)
        .because(early)
        .judge(&table, row(0, 4), ratio),
        Claim::sentence(
            "pull / push over all, at 95 %",
            "over 10",
            10.0..=f64::INFINITY,
        )
        .or_above(1.0)
        .because(early)
        .judge(&table, row(1, 4), ratio),
    ];
    let chart = Chart::of(&series, &["trace"], "day", "ratio")
        .named("p1-fig6", "schedules exchanged by Pull / by Push");
    Report::new([table, series], &notes, setup.size.caveat())
        .judged(findings)
        .drawn([chart])
}
