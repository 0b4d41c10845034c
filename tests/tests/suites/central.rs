//! The centralised schedulers start every job when their rules say, and keep their promises.

use std::cell::Cell;

use gridweave_core::machine::Violation;
use gridweave_core::time::{Span, Time};
use gridweave_lab::grid::Grid;
use gridweave_lab::outcome::{Ending, Estimates, Outcome};
use gridweave_lab::schedulers::central::{self, Central, Observer, Run};
use gridweave_lab::workload::{Submission, Workload};
use gridweave_sim::monitor::Monitor;
use gridweave_tests::oracles::{self, Compression, Job, Order, Passing, Plan};
use gridweave_tests::{invariants, scaled};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// A job as a workload has it. Times are so small that jobs often come together, and often when others end.
#[derive(Clone, Copy, Debug)]
struct Raw {
    gap: u64,
    size: u32,
    run: u64,
    requested: Option<u64>,
}

#[derive(Clone, Debug)]
struct Case {
    processors: u32,
    estimates: Estimates,
    jobs: Vec<Raw>,
}

fn raws() -> impl Strategy<Value = Raw> {
    let gap = prop_oneof![3 => Just(0_u64), 3 => 1..4_u64, 1 => 4..9_u64];
    // Mostly small jobs, so that many run side by side, and some that hold up a queue.
    let size = prop_oneof![3 => 1..4_u32, 1 => 3..9_u32];
    let requested = prop::option::weighted(0.8, 1..14_u64);
    (gap, size, 1..8_u64, requested).prop_map(|(gap, size, run, requested)| Raw {
        gap,
        size,
        run,
        requested,
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let rule = prop_oneof![
        Just(Estimates::Kill),
        Just(Estimates::Extend),
        Just(Estimates::Exact)
    ];
    let jobs = prop::collection::vec(raws(), 1..24);
    (2..9_u32, rule, jobs).prop_map(|(processors, estimates, jobs)| Case {
        processors,
        estimates,
        jobs,
    })
}

/// Long queues on a small machine.
fn deep_cases() -> impl Strategy<Value = Case> {
    let gap = prop_oneof![20 => Just(0_u64), 1 => 1..3_u64];
    let size = prop_oneof![4 => 1..4_u32, 1 => 3..11_u32];
    let requested = prop::option::weighted(0.8, 1..12_u64);
    large_cases(7..11, gap.boxed(), size.boxed(), 1..7, requested.boxed())
}

/// Many jobs side by side.
fn wide_cases() -> impl Strategy<Value = Case> {
    let size = prop_oneof![8 => 1..3_u32, 1 => 1..90_u32];
    let requested = prop::option::weighted(0.8, 1..190_u64);
    large_cases(
        150..160,
        (0..2_u64).boxed(),
        size.boxed(),
        1..170,
        requested.boxed(),
    )
}

fn large_cases(
    processors: std::ops::Range<u32>,
    gap: BoxedStrategy<u64>,
    size: BoxedStrategy<u32>,
    run: std::ops::Range<u64>,
    requested: BoxedStrategy<Option<u64>>,
) -> impl Strategy<Value = Case> {
    let raw = (gap, size, run, requested).prop_map(|(gap, size, run, requested)| Raw {
        gap,
        size,
        run,
        requested,
    });
    let rule = prop_oneof![Just(Estimates::Kill), Just(Estimates::Extend)];
    let jobs = prop::collection::vec(raw, 250..300);
    (processors, rule, jobs).prop_map(|(processors, estimates, jobs)| Case {
        processors,
        estimates,
        jobs,
    })
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x6772_6964),
        ..Config::default()
    })
}

impl Case {
    fn workload(&self) -> Workload {
        let mut at = 0;
        let mut jobs = Vec::new();
        for raw in &self.jobs {
            at += raw.gap;
            let (number, run_time) = (1000 + jobs.len() as u64, Span::from_micros(raw.run));
            jobs.push(Submission {
                requested_time: raw.requested.map(Span::from_micros),
                ..Submission::new(number, Time::from_micros(at), run_time, raw.size)
            });
        }
        Workload {
            jobs,
            ..Workload::default()
        }
    }

    /// The same for the oracles, with the rule on estimates written out again.
    fn jobs(&self) -> Vec<Job> {
        let mut at = 0;
        let one = |raw: &Raw| {
            at += raw.gap;
            let (estimate, actual) = match (self.estimates, raw.requested) {
                (Estimates::Exact, _) | (_, None) => (raw.run, raw.run),
                (Estimates::Kill, Some(requested)) => (requested, raw.run.min(requested)),
                (Estimates::Extend | Estimates::Overrun, Some(requested)) => {
                    (raw.run.max(requested), raw.run)
                }
            };
            Job {
                at,
                size: raw.size,
                estimate,
                actual,
            }
        };
        self.jobs.iter().map(one).collect()
    }

    fn simulate(&self, central: Central) -> (Run, Plan) {
        let mut watch = Watch(Plan::new(self.jobs.len()));
        let grid = Grid::Uniform(self.processors);
        let monitor = Monitor::default();
        let workload = self.workload();
        let run = central::simulate_observed(
            central,
            &grid,
            &workload,
            self.estimates,
            &monitor,
            &mut watch,
        )
        .expect("a uniform grid suits all");
        (run, watch.0)
    }
}

/// Writes down what a scheduler does and promises.
struct Watch(Plan);

impl Observer for Watch {
    fn started(&mut self, now: Time, job: usize) {
        assert_eq!(self.0.starts[job], None, "a job starts once");
        self.0.starts[job] = Some(now.as_micros());
    }
    fn promised(&mut self, now: Time, job: usize, start: Time) {
        self.0.promise(now.as_micros(), job, start.as_micros());
    }
}

/// What should have become of each job, if the plan is right.
fn outcomes(case: &Case, jobs: &[Job], plan: &Plan) -> Vec<Outcome> {
    let all = case.jobs.iter().zip(jobs).zip(&plan.starts);
    let one = |((raw, job), start): ((&Raw, &Job), &Option<u64>)| match *start {
        None => Outcome::Rejected(gridweave_core::job::Refusal::TooLarge),
        Some(start) => Outcome::Ran {
            start: Time::from_micros(start),
            end: Time::from_micros(start + job.actual),
            ending: if job.actual < raw.run {
                Ending::Killed
            } else {
                Ending::Completed
            },
        },
    };
    all.map(one).collect()
}

fn capacity(case: &Case, jobs: &[Job], plan: &Plan) -> Result<(), Violation> {
    let ran = jobs.iter().zip(&plan.starts);
    let ran: Vec<_> = ran
        .filter_map(|(job, start)| start.map(|start| (start, start + job.actual, job.size)))
        .collect();
    invariants::capacity_is_never_exceeded(&ran, case.processors)
}

/// What must hold of this scheduler's plans.
fn checked(central: Central, case: &Case, jobs: &[Job], plan: &Plan) -> Result<(), Violation> {
    capacity(case, jobs, plan)?;
    match central {
        Central::Fcfs => invariants::starts_are_in_order(plan),
        // The oracle says all: the order is not that of arrival, and nothing is promised.
        Central::Sjf => Ok(()),
        Central::Easy => invariants::promises_are_kept(plan),
        Central::Conservative => invariants::promises_are_kept(plan)
            .and_then(|()| invariants::reservations_fit_together(case.processors, jobs, plan)),
        Central::Greedy => invariants::nobody_waits_who_fits(case.processors, jobs, plan),
        // Its order depends on all passes before. Capacity was checked above.
        Central::Bounded => Ok(()),
    }
}

/// How often what makes a workload hard came up.
#[derive(Default)]
struct Seen {
    waits: Cell<u32>,
    passes: Cell<u32>,
    early: Cell<u32>,
    rejected: Cell<u32>,
}

impl Seen {
    fn look(&self, jobs: &[Job], plan: &Plan) {
        let add = |cell: &Cell<u32>, seen: bool| cell.set(cell.get() + u32::from(seen));
        let started = || plan.starts.iter().zip(jobs);
        add(
            &self.waits,
            started().any(|(start, job)| start.is_some_and(|start| start > job.at)),
        );
        add(&self.passes, !plan.starts.iter().flatten().is_sorted());
        add(
            &self.early,
            jobs.iter().any(|job| job.actual < job.estimate),
        );
        add(&self.rejected, plan.starts.contains(&None));
    }

    /// Each in at least so many workloads.
    fn at_least(&self, least: u32) -> bool {
        [&self.waits, &self.passes, &self.early, &self.rejected]
            .iter()
            .all(|cell| cell.get() >= least)
    }
}

/// Runs a scheduler and its oracle side by side.
fn twins(central: Central, oracle: impl Fn(u32, &[Job]) -> Plan) -> Seen {
    let seen = Seen::default();
    let compared = runner(scaled(2000, 500)).run(&cases(), |case| {
        let jobs = case.jobs();
        let (run, plan) = case.simulate(central);
        prop_assert_eq!(&plan, &oracle(case.processors, &jobs));
        prop_assert_eq!(&run.outcomes, &outcomes(&case, &jobs, &plan));
        prop_assert_eq!(checked(central, &case, &jobs, &plan), Ok(()));
        let ran = plan.starts.iter().flatten().count();
        prop_assert_eq!(run.events, (jobs.len() + 2 * ran) as u64);
        prop_assert!(run.nodes.is_empty());
        seen.look(&jobs, &plan);
        Ok(())
    });
    compared.unwrap_or_else(|difference| panic!("{central}: {difference}"));
    seen
}

/// The same on workloads so large that queues are skipped over, tidied and split up; they tell of no promise but by the
/// plan.
fn large_twins(central: Central, oracle: impl Fn(u32, &[Job]) -> Plan) {
    for cases in [deep_cases().boxed(), wide_cases().boxed()] {
        let longest = Cell::new(0);
        let compared = runner(scaled(3, 2)).run(&cases, |case| {
            let jobs = case.jobs();
            let (_, plan) = case.simulate(central);
            prop_assert!(plan == oracle(case.processors, &jobs), "the plans differ");
            prop_assert_eq!(capacity(&case, &jobs, &plan), Ok(()));
            let waiting = |tick: u64| {
                let all = jobs.iter().zip(&plan.starts);
                all.filter(|(job, start)| job.at <= tick && start.is_some_and(|at| at > tick))
                    .count()
            };
            let most = plan
                .starts
                .iter()
                .flatten()
                .map(|&tick| waiting(tick))
                .max();
            longest.set(longest.get().max(most.unwrap_or(0)));
            Ok(())
        });
        compared.unwrap_or_else(|difference| panic!("{central}: {difference}"));
        assert!(longest.get() > 130, "only {} waited at once", longest.get());
    }
}

#[test]
fn long_queues_and_many_running_jobs_change_nothing_for_fcfs_and_greedy() {
    large_twins(Central::Fcfs, |processors, jobs| {
        oracles::fcfs(processors, jobs, Order::Strict)
    });
    large_twins(Central::Greedy, oracles::greedy);
}

#[test]
fn sjf_starts_every_job_when_the_oracle_does() {
    let seen = twins(Central::Sjf, oracles::sjf);
    assert!(seen.at_least(scaled(100, 40)));
    large_twins(Central::Sjf, oracles::sjf);
}

#[test]
fn long_queues_and_many_running_jobs_change_nothing_for_easy() {
    large_twins(Central::Easy, |processors, jobs| {
        oracles::easy(processors, jobs, Passing::WithoutDelay)
    });
}

#[test]
fn long_queues_and_many_running_jobs_change_nothing_for_conservative() {
    large_twins(Central::Conservative, |processors, jobs| {
        oracles::conservative(processors, jobs, Compression::OneByOne)
    });
}

#[test]
fn fcfs_starts_every_job_when_its_rule_says() {
    let seen = twins(Central::Fcfs, |processors, jobs| {
        oracles::fcfs(processors, jobs, Order::Strict)
    });
    assert_eq!(seen.passes.get(), 0);
    assert!(seen.waits.get().min(seen.rejected.get()) > scaled(500, 125));
}

#[test]
fn easy_starts_every_job_when_its_rule_says() {
    let seen = twins(Central::Easy, |processors, jobs| {
        oracles::easy(processors, jobs, Passing::WithoutDelay)
    });
    assert!(
        seen.at_least(scaled(300, 75)),
        "too few hard workloads to show anything"
    );
}

#[test]
fn conservative_starts_every_job_when_its_rule_says() {
    let seen = twins(Central::Conservative, |processors, jobs| {
        oracles::conservative(processors, jobs, Compression::OneByOne)
    });
    assert!(
        seen.at_least(scaled(300, 75)),
        "too few hard workloads to show anything"
    );
}

#[test]
fn greedy_starts_every_job_when_its_rule_says() {
    let seen = twins(Central::Greedy, oracles::greedy);
    assert!(
        seen.at_least(scaled(300, 75)),
        "too few hard workloads to show anything"
    );
}

/// How many of a thousand workloads show that this scheduler is wrong, to a comparison and to a checker.
fn caught(central: Central, invariant: &str, buggy: impl Fn(u32, &[Job]) -> Plan) -> (u32, u32) {
    let (different, broken) = (Cell::new(0), Cell::new(0));
    let tried = runner(scaled(1000, 400)).run(&cases(), |case| {
        let jobs = case.jobs();
        let plan = buggy(case.processors, &jobs);
        let (_, right) = case.simulate(central);
        different.set(different.get() + u32::from(plan.starts != right.starts));
        if let Err(violation) = checked(central, &case, &jobs, &plan) {
            broken.set(broken.get() + u32::from(violation.invariant == invariant));
        }
        Ok(())
    });
    tried.expect("nothing is asserted");
    (different.get(), broken.get())
}

#[test]
fn a_job_that_skips_the_queue_is_caught() {
    let name = "first come, first served: no job starts before an earlier one";
    let (different, broken) = caught(Central::Fcfs, name, |processors, jobs| {
        oracles::fcfs(processors, jobs, Order::SkipsOne)
    });
    assert!(
        different.min(broken) > scaled(100, 40),
        "{different}, {broken}"
    );
}

#[test]
fn backfilling_that_delays_the_head_is_caught() {
    let name = "a promised start never moves later";
    for passing in [Passing::IgnoresTheShadow, Passing::ForgetsWhoPassed] {
        let (different, broken) = caught(Central::Easy, name, |processors, jobs| {
            oracles::easy(processors, jobs, passing)
        });
        assert!(
            different.min(broken) > scaled(4, 1),
            "{different}, {broken}"
        );
    }
}

#[test]
fn backfilling_that_wastes_spare_processors_differs() {
    // It keeps every promise, so only the comparison can tell.
    let (different, _) = caught(Central::Easy, "", |processors, jobs| {
        oracles::easy(processors, jobs, Passing::ForgetsTheSpare)
    });
    assert!(different > scaled(50, 20), "{different}");
}

#[test]
fn compression_that_breaks_a_promise_is_caught() {
    let name = "a promised start never moves later";
    let (different, broken) = caught(Central::Conservative, name, |processors, jobs| {
        oracles::conservative(processors, jobs, Compression::FromScratch)
    });
    assert!(
        different.min(broken) > scaled(10, 4),
        "{different}, {broken}"
    );
}

#[test]
fn compression_that_overbooks_is_caught() {
    for name in [
        "no more is in use than there is",
        "no more is reserved than there is",
    ] {
        let (different, broken) = caught(Central::Conservative, name, |processors, jobs| {
            oracles::conservative(processors, jobs, Compression::LooksAtTheStartOnly)
        });
        assert!(
            different > scaled(10, 4) && broken > 0,
            "{name}: {different}, {broken}"
        );
    }
}

#[test]
fn a_scheduler_that_never_compresses_differs() {
    let (different, _) = caught(Central::Conservative, "", |processors, jobs| {
        oracles::conservative(processors, jobs, Compression::Never)
    });
    assert!(different > scaled(100, 40), "{different}");
}

#[test]
fn a_greedy_scheduler_that_lets_a_fitting_job_wait_is_caught() {
    let (different, broken) = caught(
        Central::Greedy,
        "no job waits that fits",
        |processors, jobs| oracles::fcfs(processors, jobs, Order::Strict),
    );
    assert!(
        different.min(broken) > scaled(100, 40),
        "{different}, {broken}"
    );
}
