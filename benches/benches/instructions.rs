//! Instructions that each hot path takes, counted under valgrind: the same on a loaded machine as on an idle one.
//!
//! Each count has a limit one per cent above what it is, so that a change that makes a path slower fails. A change that
//! is worth its instructions raises the limit here, where a reader sees it. The counts are those of
//! `.ci/long/instructions`, without link-time optimisation.

// The macros below generate what the lints ask for.
#![allow(missing_docs, unused_qualifications)]

use core::num::NonZeroU32;
use std::hint::black_box;

use gridweave_benches::availability::Dense;
use gridweave_benches::central;
use gridweave_benches::common_slot::{Answer, Workload};
use gridweave_benches::cyclon::{self, Overlay};
use gridweave_benches::events::{Delays, Draws, LookAhead, Phold, Simulation};
use gridweave_benches::schedule::{Ours, Work};
use gridweave_benches::select;
use gridweave_core::id::{Incarnation, JobId, NodeId};
use gridweave_core::machine::TimerQueue;
use gridweave_core::overlay::cyclon::{ExchangeId, Message};
use gridweave_core::overlay::vicinity::{Descriptor, Proximity, Target, nearest};
use gridweave_core::overlay::view::Link;
use gridweave_core::profile::{Coordinate, Profile};
use gridweave_core::queue::{
    BackfillQueue, Discipline, Lateness, LocalScheduler, Policy, QueuedJob, SiteQueue, Waiting,
    offer,
};
use gridweave_core::resource::{Dimensions, Kind, Pool, Requirement, Speed};
use gridweave_core::schedule::availability::Availability;
use gridweave_core::schedule::common_slot::CommonSearch;
use gridweave_core::select::{Config, Selector};
use gridweave_core::time::{Span, Time};
use gridweave_core::wire;
use gridweave_lab::schedulers::central::Central;
use gridweave_lab::workload::bundled;
use gridweave_sim::event_queue::EventQueue;
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
#[bench::at_20(args = (20, 1), setup = Work::with, config = at_most(1_563_166))]
#[bench::at_100(args = (100, 1), setup = Work::with, config = at_most(2_770_026))]
fn thousand_rounds_of_a_schedule(mut work: Work<Ours>) -> Work<Ours> {
    for _ in 0..1_000 {
        black_box(work.round());
    }
    work
}

#[library_benchmark]
#[bench::at_10_000(args = (10_000, 1), setup = Dense::build, config = at_most(2_447_266))]
fn thousand_finds_of_a_profile(mut dense: Dense<Availability>) -> Dense<Availability> {
    for _ in 0..1_000 {
        let request = dense.request();
        black_box(dense.find(request));
    }
    dense
}

#[library_benchmark]
#[bench::at_10_000(args = (10_000, 1), setup = Dense::build, config = at_most(11_311_619))]
fn thousand_churns_of_a_profile(mut dense: Dense<Availability>) -> Dense<Availability> {
    for _ in 0..1_000 {
        dense.churn();
    }
    dense
}

#[library_benchmark]
#[bench::near(args = (20, 64, Answer::NEAR), setup = search, config = at_most(126_662))]
#[bench::far(args = (20, 64, Answer::FAR), setup = search, config = at_most(263_982))]
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
#[bench::of_256(args = (256, 128), setup = candidates, config = at_most(40_758_621))]
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
#[bench::at_50(args = (50), setup = full_site, config = at_most(14_828))]
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
#[bench::in_order(args = (Passing::InOrder), setup = full_cluster, config = at_most(124_918))]
#[bench::backfilling(args = (Passing::Backfilling), setup = full_cluster, config = at_most(1_095_581))]
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
#[bench::at_50(args = (50), setup = full_desktop, config = at_most(15_060))]
fn backfill_a_desktop(mut queue: BackfillQueue) -> BackfillQueue {
    while queue.start_next(Discipline::Backfill).is_some() {}
    queue
}

#[library_benchmark]
#[bench::at_100(args = (), setup = TimerQueue::new, config = at_most(440_481))]
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

type Queue = Phold<EventQueue<u32>>;

/// As many nodes as pending events, after every node had its turn twice.
fn phold(nodes: u32) -> Queue {
    let mut queue = Phold::new(Draws::new(Delays::Exponential, nodes), LookAhead::Touch);
    queue.run(2 * nodes as usize);
    queue
}

#[library_benchmark]
#[bench::at_1_000(args = (1_000), setup = phold, config = at_most(3_792_800))]
#[bench::at_100_000(args = (100_000), setup = phold, config = at_most(5_108_883))]
fn ten_thousand_events(mut queue: Queue) -> Queue {
    queue.run(10_000);
    queue
}

/// An overlay after some cycles.
fn gossiping(nodes: u32) -> Overlay {
    let mut overlay = cyclon::overlay(nodes);
    cyclon::run(&mut overlay, 5);
    overlay
}

#[library_benchmark]
#[bench::of_100(args = (100), setup = gossiping, config = at_most(10_485_810))]
fn ten_cycles_of_cyclon(mut overlay: Overlay) -> Overlay {
    cyclon::run(&mut overlay, 10);
    overlay
}

type Pools = [Vec<Descriptor<Profile>>; 3];

/// What is known, what is fed and what came, twenty each; every fourth node is in all three.
fn pools() -> Pools {
    let descriptor = |pool: u64, place: u64| {
        let id = if place.is_multiple_of(4) {
            place
        } else {
            pool * 100 + place
        };
        let at = |factor: u64| (id * factor % 997) as i32;
        Descriptor {
            id: NodeId::new(id),
            age: (place % 7) as u16,
            version: pool,
            profile: Profile::at(Coordinate::at([at(7_919), at(104_729), 0])),
        }
    };
    [0, 1, 2].map(|pool| (0..20).map(|place| descriptor(pool, place)).collect())
}

#[library_benchmark]
#[bench::of_60(args = (), setup = pools, config = at_most(18_820))]
fn the_nearest_twenty(pools: Pools) -> Pools {
    let profile = Profile::default();
    let target = Target {
        id: NodeId::new(9_999),
        profile: &profile,
    };
    let lists = [&*pools[0], &*pools[1], &*pools[2]];
    black_box(nearest::<_, _, 20>(&Proximity, target, &lists, 20));
    pools
}

fn shuffle() -> Message<8> {
    let links = (1..=8).map(|id| Link {
        id: NodeId::new(id * 1_000),
        ..Link::default()
    });
    Message::Shuffle {
        exchange: ExchangeId {
            incarnation: Incarnation::new(1),
            cycle: 77,
        },
        links: links.collect(),
    }
}

#[library_benchmark]
#[bench::of_eight_links(args = (), setup = shuffle, config = at_most(4_614))]
fn a_message_as_bytes_and_back(message: Message<8>) -> Message<8> {
    let frame = wire::encode(black_box(&message)).expect("it is not too long");
    wire::decode(&frame).expect("it was encoded just now")
}

#[library_benchmark]
#[bench::the_bundled_week(config = at_most(6_905_706))]
fn reading_a_trace() -> usize {
    black_box(bundled()).workload.jobs.len()
}

#[library_benchmark]
#[bench::of_2_000(args = (2_000, 1), setup = central::workload, config = at_most(2_421_101))]
fn jobs_under_easy(
    workload: gridweave_lab::workload::Workload,
) -> gridweave_lab::workload::Workload {
    black_box(central::replay(Central::Easy, &workload));
    workload
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
        thousand_timers,
        ten_thousand_events,
        ten_cycles_of_cyclon,
        the_nearest_twenty,
        a_message_as_bytes_and_back,
        reading_a_trace,
        jobs_under_easy
    ]
);

main!(library_benchmark_groups = hot_paths);
