//! Table I: the three messaging policies on single days.

use super::day::Day;
use super::{PULLED, Planned, Setup};
use crate::config::ConfigError;
use crate::experiment::InputError;
use crate::reproduce::{Cell, Claim, Finished, Part, Report, Sample, Table, part};
use crate::schedulers::asap::ExchangeName;
use crate::schedulers::asap::{NEW_LINK, OTHERS, POLL, PUSH, REFUSED};

pub(super) const TABLE1: Part<Setup> = part(
    "table1",
    "Table I: messaging policies on a day of low and one of high load",
    plan,
    report,
);

/// A policy, the kinds of messages that count as its cost, and the published values.
struct Policy {
    name: &'static str,
    exchange: ExchangeName,
    cost: &'static [&'static str],
    published: f64,
    published_failures: f64,
}

const POLICIES: [Policy; 3] = [
    Policy {
        name: "push",
        exchange: ExchangeName::Push,
        cost: &[PUSH],
        published: 152_277.0,
        published_failures: 0.0,
    },
    Policy {
        name: "pull",
        exchange: ExchangeName::Pull,
        cost: &PULLED,
        published: 2_187_928.0,
        published_failures: 0.0,
    },
    Policy {
        name: "poll",
        exchange: ExchangeName::Poll,
        cost: &[POLL],
        published: 72_000_000.0,
        published_failures: 0.21,
    },
];

/// The two days, or an error if the trace is too short.
pub(super) fn days(setup: &Setup) -> Result<[Day; 2], InputError> {
    setup.days.ok_or_else(|| {
        let what = "table1 and poll need a trace of at least a day, also when it is compressed to 95 %; leave them out with --only";
        ConfigError::from(what).into()
    })
}

/// A run of this day under this policy, with the paper's period of polling.
pub(super) fn planned(setup: &Setup, day: &Day, exchange: ExchangeName, name: &str) -> Planned {
    day.planned(setup, name, |config| config.rules.asap.exchange = exchange)
}

fn plan(setup: &Setup) -> Result<Vec<Planned>, InputError> {
    let runs = days(setup)?
        .map(|day| POLICIES.map(|policy| planned(setup, &day, policy.exchange, policy.name)));
    Ok(runs.into_iter().flatten().collect())
}

/// Conflicts found at commit per hundred jobs of the day; each node that refuses counts as one.
pub(super) fn refusals(run: &Finished, day: &Day) -> f64 {
    let refused = run.sent_between(&[REFUSED], day.begin(), day.end());
    100.0 * refused.messages as f64 / jobs(run, day).max(1.0)
}

/// How many jobs were submitted on the day.
pub(super) fn jobs(run: &Finished, day: &Day) -> f64 {
    let in_day = |at| day.begin() <= at && at < day.end();
    run.jobs().filter(|(job, _)| in_day(job.at)).count() as f64
}

fn report(setup: &Setup, samples: &[Sample<'_>]) -> Report {
    let mut table = Table::new(
        "table1",
        "schedules exchanged in one day",
        "day | jobs | policy | published schedules | measured schedules | published / push | measured / push | \
         published failures % | measured failures % | refusals per 100 jobs | in answers to searches | view change",
    );
    let mut titles = Vec::new();
    let days = ["low", "high"].into_iter().zip(setup.days.iter().flatten());
    for ((name, day), samples) in days.zip(samples.chunks_exact(3)) {
        titles.push(format!("{name}: {}", day.title_with_load(&samples[0])));
        let push = samples[0];
        for (policy, sample) in POLICIES.iter().zip(samples) {
            let others = match policy.exchange {
                // For Pull they are a part of the cost.
                ExchangeName::Pull => Cell::Empty,
                _ => sample.mean(0, &|run| day.sent(run, &[OTHERS])),
            };
            table.push([
                name.into(),
                sample.mean(0, &|run| jobs(run, day)),
                policy.name.into(),
                Cell::exact(policy.published, 0),
                sample.mean(0, &|run| day.sent(run, policy.cost)),
                Cell::exact(policy.published / POLICIES[0].published, 1),
                sample.against(&push, 1, &|run, push| {
                    let pushed = day.sent(push, &[PUSH]);
                    (pushed > 0.0).then(|| day.sent(run, policy.cost) / pushed)
                }),
                Cell::exact(policy.published_failures, 2),
                sample.mean(2, &|run| run.failures(day.begin(), day.end())),
                sample.mean(2, &|run| refusals(run, day)),
                others,
                sample.mean(0, &|run| day.sent(run, &[NEW_LINK])),
            ]);
        }
    }
    let mut notes: Vec<&str> = titles.iter().map(String::as_str).collect();
    notes.extend([
        "the paper's 72,000,000 is 5000 nodes x 20 neighbours x 720 polls: one day at 120 s, so ratios compare and absolutes \
         depend on the day (D14)",
        "a conflict at commit leads to the next best allocation and then to a fresh search, so it is a failure only if those \
         conflict too; the paper's 0.21 % is closest to jobs with a first conflict, which are fewer than the conflicts here: each node \
         that refuses is one (D10, D11)",
        "schedules in answers to searches beyond the first hop and after view changes are stated apart under Push and Poll (D8)",
    ]);
    let (ratio, failures) = ("measured / push", "measured failures %");
    let day = "the published day is not named, and the ratio follows how many jobs come on it and how full schedules are";
    let days = [("low", 0), ("high", 3)];
    let findings = days.into_iter().flat_map(|(name, row)| {
        [
            Claim::number(format!("pull / push, {name} load"), 14.37, 0.5)
                .or_above(1.0)
                .because(day)
                .judge(&table, row + 1, ratio),
            Claim::number(format!("poll / push, {name} load"), 472.82, 0.5)
                .or_above(10.0)
                .because(day)
                .judge(&table, row + 2, ratio),
            Claim::number(format!("failures of push, {name} load, %"), 0.0, 0.0)
                .or_below(0.1)
                .because("a job for more nodes than a searcher sees within two hops fails (D1)")
                .judge(&table, row, failures),
            Claim::number(format!("failures of poll, {name} load, %"), 0.21, 0.5)
                .or_above(0.01)
                .because("the paper counts jobs whose first allocation was in conflict; here a job fails only after further allocations and another search (D10, D11), and busy days have more jobs at the same nodes")
                .judge(&table, row + 2, failures),
        ]
    });
    let findings: Vec<_> = findings.collect();
    Report::new([table], &notes, setup.size.caveat()).judged(findings)
}
