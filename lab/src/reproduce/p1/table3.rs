//! Table III: dynamic and static overlays.

use super::{Planned, Setup, Trace};
use crate::experiment::InputError;
use crate::lasting::Lasting;
use crate::reproduce::{Cell, Claim, Finished, Part, Report, Sample, Table, part};
use crate::schedulers::asap::ExchangeName;
use gridweave_core::scheduler::asap::Links;

pub(super) const TABLE3: Part<Setup> = part(
    "table3",
    "Table III: waiting times in dynamic and static overlays",
    plan,
    report,
);

/// A trace with its published waits: dynamic, static.
const PUBLISHED: [(Trace, f64, f64); 2] = [
    (Trace::Plain, 936.0, 848.0),
    (Trace::Compressed, 16_858.0, 14_913.0),
];

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = PUBLISHED.map(|(trace, ..)| {
        let dynamic = setup.planned("pull-dynamic", trace, |config| {
            config.rules.asap.exchange = ExchangeName::Pull;
            config.rules.asap.links = Links::Dynamic;
        });
        [dynamic, setup.push(trace), setup.pull(trace)]
    });
    Ok(runs.into_iter().flatten().collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "table3",
        "mean waits in seconds",
        "trace | published dynamic | measured dynamic | published static | measured static, push | \
         measured static, pull | push and pull alike | published difference % | measured difference %",
    );
    for ((trace, dynamic, still), samples) in PUBLISHED.into_iter().zip(samples.chunks_exact(3)) {
        let (moving, pushing, pulling) = (samples[0], samples[1], samples[2]);
        let wait = |sample: Sample<'_>| sample.mean(0, &Finished::mean_wait);
        let alike = pushing.pairs(&pulling, &|one, other| {
            Some(f64::from(one.run.outcomes == other.run.outcomes))
        });
        let alike = alike.iter().all(|alike| *alike == Some(1.0));
        let difference = moving.against(&pushing, 1, &|moving, still| {
            let (moving, still) = (moving.mean_wait(), still.mean_wait());
            (still > 0.0).then(|| 100.0 * (moving / still - 1.0))
        });
        table.push([
            trace.title().into(),
            Cell::exact(dynamic, 0),
            wait(moving),
            Cell::exact(still, 0),
            wait(pushing),
            wait(pulling),
            if alike { "yes" } else { "no" }.into(),
            Cell::exact(100.0 * (dynamic / still - 1.0), 1),
            difference,
        ]);
    }
    let dynamic = format!(
        "the dynamic overlay shuffles every {} and uses Pull: without delay Push and Pull know the same, and Push would send \
         a subscription for every link that changes",
        Lasting(setup.base.rules.asap.shuffle_period)
    );
    let excerpts = "the paper does not say how often it shuffles (D20); its waits here and in Table II are from different excerpts (D15)";
    let row = |number: usize, trace: Trace, published: f64| {
        Claim::number(format!("dynamic longer than static, {}, %", trace.title()), published, 0.6)
            .or_above(0.0)
            .because("how much a changing overlay costs depends on how often it changes, which the paper does not say (D20)")
            .judge(&table, number, "measured difference %")
    };
    let findings = [row(0, Trace::Plain, 10.4), row(1, Trace::Compressed, 13.0)];
    Report::new([table], &[&dynamic, excerpts], setup.size.caveat()).judged(findings)
}
