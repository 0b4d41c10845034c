//! What the papers leave out: users' estimates, delay, loss and churn, on a bundled week of a real cluster.
//!
//! A paper that has such parts names its contenders; the conditions are the same for all. Each is beside EASY, which
//! knows everything at once and loses nothing, with the same estimates.

use gridweave_core::rng::Choose;
use gridweave_core::time::Span;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::{Finished, Part, Planned, Report, Rules, Sample, Size, Table, part};
use crate::config::{Config, DelayConfig, Fault};
use crate::experiment::{InputError, wait_ratio};
use crate::outcome::Estimates;
use crate::schedulers::Scheduler;

/// A paper with such parts.
pub(super) trait Conditioned {
    /// The schedulers that are compared with EASY.
    const CONTENDERS: &'static [Contender];
    /// How large the simulations are.
    fn size(&self) -> Size;
    /// The first seed.
    fn seed(&self) -> u64;
}

/// A scheduler: its title, its name in runs, whose rules it follows, and its configuration.
pub(super) struct Contender(
    pub &'static str,
    pub &'static str,
    pub Rules,
    pub fn(&mut Config),
);

/// A kind of conditions: the name and the title of its part, and the conditions.
struct Kind {
    name: &'static str,
    title: &'static str,
    conditions: &'static [Condition],
    note: Option<&'static str>,
}

/// A condition: its title, its name in runs, and how the configuration changes.
struct Condition(&'static str, &'static str, fn(&mut Config));

const KINDS: [Kind; 4] = [
    Kind {
        name: "estimates",
        title: "What users say about run times, on the bundled week",
        conditions: &[
            NORMAL,
            Condition("requested times, a limit", "kill", |config| {
                config.workload.estimates = Estimates::Kill;
            }),
            Condition("requested times, may be overrun", "overrun", |config| {
                config.workload.estimates = Estimates::Overrun;
            }),
        ],
        note: Some(
            "a job that is still running when its requested time is over, and may not overrun it, is killed",
        ),
    },
    Kind {
        name: "delay",
        title: "Messages that take time, on the bundled week",
        conditions: &[
            NORMAL,
            Condition("50 ms", "delay50", |config| {
                config.network.delay = DelayConfig::Constant {
                    delay: Span::from_millis(50),
                };
            }),
            Condition("points in a square of 150 ms", "plane150", |config| {
                config.network.delay = DelayConfig::Plane {
                    side: Span::from_millis(150),
                };
            }),
        ],
        note: None,
    },
    Kind {
        name: "loss",
        title: "Messages that are lost, on the bundled week",
        conditions: &[
            NORMAL,
            Condition("1 % lost, 50 ms", "loss1", |config| lose(config, 0.01)),
            Condition("5 % lost, 50 ms", "loss5", |config| lose(config, 0.05)),
        ],
        note: None,
    },
    Kind {
        name: "churn",
        title: "Nodes that crash and return, on the bundled week",
        conditions: &[
            NORMAL,
            Condition("1 % of nodes an hour, back after 10 min", "churn1", churn),
        ],
        note: Some(
            "a job that runs again after a node was lost has waited until its last start; one that loses nodes more often \
             than it may begin anew fails",
        ),
    },
];

const NORMAL: Condition = Condition(
    "none: exact run times, no delay, no faults",
    "normal",
    |_| {},
);

fn lose(config: &mut Config, part: f64) {
    config.network.delay = DelayConfig::Constant {
        delay: Span::from_millis(50),
    };
    config.network.loss = part;
}

/// How many nodes the bundled week has.
const NODES: u32 = 2004;

/// In each hour one node of a hundred, drawn with a fixed seed, crashes, and returns ten minutes later.
fn churn(config: &mut Config) {
    let nodes = config.grid.nodes.unwrap_or(NODES);
    let hours = config
        .workload
        .until
        .map_or(168, |until| until.as_secs() / 3_600);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0xc4a5);
    for hour in 0..hours {
        for _ in 0..nodes / 100 {
            let node = rng.below(nodes);
            let at = Span::from_secs(3_600 * hour + u64::from(rng.below(3_600)));
            config.faults.push(Fault::Crash { at, node });
            let at = at + Span::from_secs(600);
            config.faults.push(Fault::Restart { at, node });
        }
    }
}

/// The part for the kind of conditions of this index.
pub(super) const fn condition<S: Conditioned, const KIND: usize>() -> Part<S> {
    let Kind { name, title, .. } = KINDS[KIND];
    part(name, title, plan::<S, KIND>, report::<S, KIND>)
}

/// The week under a condition; six hours of it, on a tenth of the nodes, in quick runs.
fn planned(setup: &impl Conditioned, name: &str, condition: &Condition) -> Planned {
    let Condition(_, condition, change) = condition;
    let mut config = Config {
        seed: setup.seed(),
        ..Config::default()
    };
    config.workload.estimates = Estimates::Exact;
    config.report.window = Span::from_secs(3_600);
    config.report.check_every = 4096;
    if setup.size() == Size::Quick {
        config.workload.until = Some(Span::from_secs(6 * 3_600));
        config.grid.nodes = Some(NODES / 10);
    }
    change(&mut config);
    Planned {
        name: format!("week-{name}-{condition}"),
        config,
    }
}

/// EASY with the estimates of a condition. Nothing else concerns it.
fn easy(setup: &impl Conditioned, condition: &Condition) -> Planned {
    let estimates = planned(setup, "", condition).config.workload.estimates;
    let mut easy = planned(setup, "easy", &NORMAL);
    easy.name = format!("week-easy-{estimates:?}").to_lowercase();
    easy.config.workload.estimates = estimates;
    easy.config.scheduler = Scheduler::CentralEasy;
    easy
}

fn plan<S: Conditioned, const KIND: usize>(setup: &S) -> Result<Vec<Planned>, InputError> {
    let mut runs = Vec::new();
    for condition in KINDS[KIND].conditions {
        runs.push(easy(setup, condition));
        for Contender(_, name, _, change) in S::CONTENDERS {
            let mut planned = planned(setup, name, condition);
            change(&mut planned.config);
            runs.push(planned);
        }
    }
    Ok(runs)
}

fn report<S: Conditioned, const KIND: usize>(setup: &S, samples: &[Sample<'_>]) -> Report {
    let kind = &KINDS[KIND];
    let title = match setup.size() {
        Size::Quick => "jobs of six hours of the week, on 200 nodes",
        Size::Full => "1,984 jobs of a week on 2,004 nodes",
    };
    let mut table = Table::unpublished(
        kind.name,
        title,
        "condition | scheduler | completed | killed | not done | wait s | p99 wait s | wait / easy | messages for each job | violations",
    );
    let each = samples.chunks_exact(S::CONTENDERS.len() + 1);
    for (Condition(condition, ..), samples) in kind.conditions.iter().zip(each) {
        let easy = samples[0];
        let titles = S::CONTENDERS.iter().map(|known| (known.0, known.2));
        let titles = [("central-easy", Rules::Other)].into_iter().chain(titles);
        for ((title, rules), sample) in titles.zip(samples) {
            table.push_by(
                rules,
                [
                    (*condition).into(),
                    title.into(),
                    sample.mean(0, &Finished::completed),
                    sample.mean(0, &Finished::killed),
                    sample.mean(0, &Finished::not_done),
                    sample.mean(0, &Finished::mean_wait),
                    sample.mean(0, &|run| run.wait().p99),
                    sample.against(&easy, 2, &|run, easy| {
                        wait_ratio(&run.waits(), &easy.waits())
                    }),
                    sample.mean(0, &|run| run.summary.messages.per_job),
                    sample.mean(0, &|run| run.summary.violations as f64),
                ],
            );
        }
    }
    let mut notes = vec![
        "central-easy has the estimates of the condition, and neither delay nor faults: it shows what could be had. Where \
         times may be overrun, it is told the true ones of jobs that do",
        "ratios are over the jobs that ran under both; not done: refused, failed, lost or not at their end",
    ];
    notes.extend(kind.note);
    Report::new([table], &notes, setup.size().caveat())
}
