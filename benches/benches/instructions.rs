//! Instructions that each hot path takes, counted under valgrind: the same on a loaded machine as on an idle one.
//!
//! Each count has a limit a few per cent above what it is, so that a change that makes a path slower fails. A change that
//! is worth its instructions raises the limit here, where a reader sees it.

// The macros below generate what the lints ask for.
#![allow(missing_docs, unused_qualifications)]

use core::num::NonZeroU32;
use std::hint::black_box;

use gridweave_benches::availability::Dense;
use gridweave_benches::common_slot::{Answer, Workload};
use gridweave_benches::schedule::{Ours, Work};
use gridweave_benches::select;
use gridweave_core::id::JobId;
use gridweave_core::machine::TimerQueue;
use gridweave_core::queue::{
    BackfillQueue, Discipline, Lateness, LocalScheduler, Policy, QueuedJob, SiteQueue, Waiting,
    offer,
};
use gridweave_core::resource::{Dimensions, Kind, Pool, Requirement, Speed};
use gridweave_core::schedule::availability::Availability;
use gridweave_core::schedule::common_slot::CommonSearch;
use gridweave_core::select::{Config, Selector};
use gridweave_core::time::{Span, Time};
use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};

/// Fails if more than this many instructions are executed.
fn at_most(instructions: u64) -> LibraryBenchmarkConfig {
    let callgrind = Callgrind::default()
        .hard_limits([(EventKind::Ir, instructions)])
        .clone();
    LibraryBenchmarkConfig::default().tool(callgrind).clone()
}

#[library_benchmark]
#[bench::at_20(args = (20, 1), setup = Work::with, config = at_most(1_494_000))]
#[bench::at_100(args = (100, 1), setup = Work::with, config = at_most(2_734_000))]
fn thousand_rounds_of_a_schedule(mut work: Work<Ours>) -> Work<Ours> {
    for _ in 0..1_000 {
        black_box(work.round());
    }
    work
}

#[library_benchmark]
#[bench::at_10_000(args = (10_000, 1), setup = Dense::build, config = at_most(2_463_000))]
fn thousand_finds_of_a_profile(mut dense: Dense<Availability>) -> Dense<Availability> {
    for _ in 0..1_000 {
        let request = dense.request();
        black_box(dense.find(request));
    }
    dense
}

#[library_benchmark]
#[bench::at_10_000(args = (10_000, 1), setup = Dense::build, config = at_most(11_354_000))]
fn thousand_churns_of_a_profile(mut dense: Dense<Availability>) -> Dense<Availability> {
    for _ in 0..1_000 {
        dense.churn();
    }
    dense
}

#[library_benchmark]
#[bench::near(args = (20, 64, Answer::NEAR), setup = search, config = at_most(125_000))]
#[bench::far(args = (20, 64, Answer::FAR), setup = search, config = at_most(265_400))]
fn a_common_slot((workload, mut search): (Workload, CommonSearch)) -> (Workload, CommonSearch) {
    black_box(workload.sweep(&mut search));
    (workload, search)
}

/// A workload, and a search that has grown to its size.
fn search(reservations: u64, count: u32, answer: Answer) -> (Workload, CommonSearch) {
    let workload = Workload::new(reservations, count, answer);
    let mut search = CommonSearch::default();
    workload.sweep(&mut search);
    (workload, search)
}

#[library_benchmark]
#[bench::of_256(args = (256, 128), setup = candidates, config = at_most(40_000_000))]
fn a_selection_by_breeding(
    (workload, mut selector): (select::Workload, Selector),
) -> (select::Workload, Selector) {
    black_box(workload.select(&mut selector, &Config::PAPER, 1));
    (workload, selector)
}

/// Nodes, and a selector that has grown to their number.
fn candidates(nodes: u32, count: u32) -> (select::Workload, Selector) {
    let workload = select::Workload::new(nodes, count);
    let mut selector = Selector::default();
    let brief = Config {
        generations: 1,
        ..Config::PAPER
    };
    workload.select(&mut selector, &brief, 1);
    (workload, selector)
}

fn full_site(jobs: u64) -> SiteQueue {
    let mut site = SiteQueue::new(Policy::EarliestDeadline, Speed::BASELINE, 1_000);
    for job in 0..jobs {
        let estimate = Span::from_secs(job * 7 % 50 + 1);
        let deadline = Some(Time::from_secs(job * 31 % 997 * 10));
        let job = QueuedJob {
            deadline,
            ..QueuedJob::new(JobId::new(job), estimate)
        };
        site.push(Time::ZERO, job).expect("there is room");
    }
    site
}

#[library_benchmark]
#[bench::at_50(args = (50), setup = full_site, config = at_most(14_920))]
fn bid_for_a_job(site: SiteQueue) -> SiteQueue {
    let deadline = Some(Time::from_secs(3_000));
    let undue = QueuedJob::new(JobId::new(9_999), Span::from_secs(60));
    let job = QueuedJob { deadline, ..undue };
    black_box(offer(&site, Time::ZERO, &undue, Lateness::Marginal));
    black_box(offer(&site, Time::ZERO, &job, Lateness::Marginal));
    site
}

/// A cluster of 256 processors, most of them busy, on which 300 jobs wait.
fn full_cluster(passing: Passing) -> SiteQueue {
    let many = |count: u64| NonZeroU32::new(count as u32).expect("it is not zero");
    let empty = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 1_000);
    let empty = empty.with_processors(many(256));
    let mut site = match passing {
        Passing::InOrder => empty,
        Passing::Backfilling => empty.backfilling(),
    };
    let mut started = 0;
    for job in 0.. {
        let estimate = Span::from_secs(job * 7_919 % 3_000 + 1);
        let job = QueuedJob {
            processors: many(if started < 200 { 1 } else { job * 31 % 97 + 1 }),
            ..QueuedJob::new(JobId::new(job), estimate)
        };
        site.push(Time::ZERO, job).expect("there is room");
        started += u64::from(site.start_next(Time::ZERO).is_some());
        if site.waiting().len() == 300 {
            break;
        }
    }
    site
}

#[derive(Clone, Copy)]
enum Passing {
    InOrder,
    Backfilling,
}

#[library_benchmark]
#[bench::in_order(args = (Passing::InOrder), setup = full_cluster, config = at_most(122_000))]
#[bench::backfilling(args = (Passing::Backfilling), setup = full_cluster, config = at_most(1_114_000))]
fn bid_for_a_job_on_a_cluster(site: SiteQueue) -> SiteQueue {
    let job = QueuedJob::new(JobId::new(9_999), Span::from_secs(60));
    black_box(offer(&site, Time::ZERO, &job, Lateness::Marginal));
    site
}

fn full_desktop(jobs: u64) -> BackfillQueue {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)])
        .expect("two dimensions are few");
    let cores = dimensions.named("cores").expect("it is configured");
    let total = dimensions.capability(&[8, 64]).expect("there are two");
    let mut queue = BackfillQueue::new(Pool::new(dimensions, total), 1_000);
    for job in 0..jobs {
        // The head wants everything, so that every start is a choice among all others.
        let needs = if job == 1 { 8 } else { job % 3 + 1 };
        let requirement = Requirement::any().with(cores, needs);
        let submitted = Time::from_secs(job);
        let job = Waiting {
            job: JobId::new(job),
            requirement,
            submitted,
            passed: 0,
        };
        queue.push(job).expect("there is room");
    }
    queue.start_next(Discipline::HeadOnly);
    queue
}

#[library_benchmark]
#[bench::at_50(args = (50), setup = full_desktop, config = at_most(15_360))]
fn backfill_a_desktop(mut queue: BackfillQueue) -> BackfillQueue {
    while queue.start_next(Discipline::Backfill).is_some() {}
    queue
}

#[library_benchmark]
#[bench::at_100(args = (), setup = TimerQueue::new, config = at_most(404_600))]
fn thousand_timers(mut timers: TimerQueue<u32>) -> TimerQueue<u32> {
    for round in 0..10_u64 {
        for timer in 0..100 {
            timers.wake(
                Time::from_secs(round * 100 + u64::from(timer) * 37 % 100),
                timer,
            );
        }
    }
    while let Some(due) = timers.pop_due(Time::MAX) {
        black_box(due);
    }
    timers
}

library_benchmark_group!(
    name = hot_paths,
    benchmarks = [
        thousand_rounds_of_a_schedule,
        thousand_finds_of_a_profile,
        thousand_churns_of_a_profile,
        a_common_slot,
        a_selection_by_breeding,
        bid_for_a_job,
        bid_for_a_job_on_a_cluster,
        backfill_a_desktop,
        thousand_timers
    ]
);

main!(library_benchmark_groups = hot_paths);
