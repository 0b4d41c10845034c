//! Polling at different periods: refusals and failures.

use super::table1::{days, jobs, planned, refusals};
use super::{Planned, Setup};
use crate::experiment::InputError;
use crate::reproduce::{Cell, Claim, Part, Report, Sample, Size, Table, part};
use crate::schedulers::asap::ExchangeName;
use crate::schedulers::asap::POLL;
use gridweave_core::time::Span;

pub(super) const POLLED: Part<Setup> = part(
    "poll",
    "Poll by its period, on the day of high load",
    plan,
    report,
);

/// The periods, in seconds.
fn periods(setup: &Setup) -> &'static [u64] {
    match setup.size {
        Size::Full => &[30, 60, 120, 300, 600],
        Size::Quick => &[120, 300, 600],
    }
}

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let [_, day] = days(setup)?;
    let runs = periods(setup).iter().map(|&period| {
        let name = match period {
            120 => "poll".to_owned(),
            _ => format!("poll{period}s"),
        };
        let mut planned = planned(setup, &day, ExchangeName::Poll, &name);
        planned.config.rules.asap.poll_period = Span::from_secs(period);
        planned
    });
    Ok(runs.collect())
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "poll",
        "what polling more often buys",
        "period s | jobs | schedules | published failures % | measured failures % | refusals per 100 jobs",
    );
    let mut notes = Vec::new();
    if let Some([_, day]) = &setup.days {
        for (&period, sample) in periods(setup).iter().zip(samples) {
            let published = match period {
                120 => Cell::exact(0.21, 2),
                _ => Cell::Empty,
            };
            table.push([
                period.into(),
                sample.mean(0, &|run| jobs(run, day)),
                sample.mean(0, &|run| day.sent(run, &[POLL])),
                published,
                sample.mean(2, &|run| run.failures(day.begin(), day.end())),
                sample.mean(2, &|run| refusals(run, day)),
            ]);
        }
        notes.push(day.title_with_load(&samples[0]));
    }
    let mut notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    notes.push(
        "the paper says that failures shrink with the period and messages grow, without figures",
    );
    let last = table.rows.len().saturating_sub(1);
    let (failures, refusals) = ("measured failures %", "refusals per 100 jobs");
    let few = "failures are few and of few jobs, so that the day decides more than the period";
    let findings = [
        Claim::sentence("failures, shortest / longest period", "shrink with the period", 0.0..=0.9)
            .or_below(1.0)
            .because(few)
            .judge_value(&table, table.ratio(0, last, failures)),
        Claim::sentence("refusals, shortest / longest period", "shrink with the period", 0.0..=0.9)
            .or_below(1.0)
            .because("nodes that poll more often see more of the schedules that others have just filled, but jobs of one instant cannot know of each other")
            .judge_value(&table, table.ratio(0, last, refusals)),
    ];
    Report::new([table], &notes, setup.size.caveat()).judged(findings)
}
