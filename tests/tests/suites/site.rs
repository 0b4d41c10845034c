//! Whole days of a site, run by its own scheduler: what holds whatever comes (proptest).

use core::num::NonZeroU32;
use std::collections::BTreeMap;

use gridweave_core::id::{JobId, OrganisationId};
use gridweave_core::queue::{
    Change, Expected, LocalScheduler, Policy, Priorities, QueuedJob, SiteQueue, Window,
};
use gridweave_core::resource::Speed;
use gridweave_core::time::{Interval, Span, Time};
use gridweave_tests::scaled;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::RngSeed;

/// A job that comes, and how long it really runs.
#[derive(Clone, Copy, Debug)]
struct Coming {
    job: QueuedJob,
    comes: Time,
    runs: Span,
}

/// Observes what the scheduler does.
trait Observer {
    fn before_start(&mut self, _: Time, _: &SiteQueue) {}
    fn started(&mut self, _: Time, _: &SiteQueue, _: JobId) {}
    /// Nothing more is to start now.
    fn settled(&mut self, _: Time, _: &SiteQueue) {}
}

/// Runs all jobs to their ends, and returns their starts. The scheduler is asked when a job arrives or ends, and when
/// it wants to look again.
fn run(
    site: &mut SiteQueue,
    jobs: &[Coming],
    observer: &mut impl Observer,
) -> BTreeMap<JobId, Time> {
    let mut coming: Vec<Coming> = jobs.to_vec();
    let mut ends: Vec<(Time, JobId)> = Vec::new();
    let mut starts = BTreeMap::new();
    let mut now = Time::ZERO;
    loop {
        for (_, job) in ends.extract_if(.., |(at, _)| *at <= now) {
            site.finish(now, job).unwrap();
        }
        for coming in coming.extract_if(.., |coming| coming.comes <= now) {
            site.push(now, coming.job).unwrap();
        }
        loop {
            observer.before_start(now, site);
            let Some(job) = site.start_next(now) else {
                break;
            };
            site.check().unwrap();
            let started = jobs.iter().find(|coming| coming.job.job == job).unwrap();
            assert_eq!(starts.insert(job, now), None, "{job} starts twice");
            ends.push((now + started.runs, job));
            observer.started(now, site, job);
        }
        observer.settled(now, site);
        let next = ends.iter().map(|(at, _)| *at);
        let next = next.chain(coming.iter().map(|coming| coming.comes));
        let Some(next) = next.chain(site.look_again(now)).min() else {
            assert_eq!(starts.len(), jobs.len(), "a job is left over: {site:?}");
            return starts;
        };
        assert!(next > now, "the time stands still");
        now = next;
    }
}

fn secs(range: core::ops::Range<u64>) -> impl Strategy<Value = Span> {
    range.prop_map(Span::from_secs)
}

fn at(range: core::ops::Range<u64>) -> impl Strategy<Value = Time> {
    range.prop_map(Time::from_secs)
}

fn count(processors: u32) -> NonZeroU32 {
    NonZeroU32::new(processors).unwrap()
}

/// Up to 40 jobs that come before `within`, in seconds, on a site with so many processors, whose run times are as far
/// off their estimates as `drift` says.
fn jobs(processors: u32, within: u64, drift: Drift) -> impl Strategy<Value = Vec<Coming>> {
    let job = (
        at(0..within.max(1)),
        secs(1..60),
        1..=processors,
        0..4_u32,
        prop::option::of(at(0..400)),
        0..200_u64,
    );
    prop::collection::vec(job, 1..40).prop_map(move |jobs| {
        let jobs = jobs.into_iter().enumerate();
        jobs.map(
            |(id, (comes, estimate, wide, organisation, deadline, percent))| {
                let mut job = QueuedJob {
                    deadline,
                    processors: count(wide),
                    submitted: comes,
                    ..QueuedJob::new(JobId::new(id as u64), estimate)
                };
                job.submitter.organisation = OrganisationId::new(organisation);
                let micros = estimate.as_micros();
                let runs = match drift {
                    Drift::None => micros,
                    Drift::Shorter => (micros * percent.min(100) / 100).max(1),
                    Drift::Any => (micros * percent / 100).max(1),
                };
                let runs = Span::from_micros(runs);
                Coming { job, comes, runs }
            },
        )
        .collect()
    })
}

#[derive(Clone, Copy, Debug)]
enum Drift {
    None,
    Shorter,
    Any,
}

/// Windows, some of which a site will refuse.
fn windows(processors: u32) -> impl Strategy<Value = Vec<Window>> {
    let window =
        (at(0..300), secs(1..80), 1..=processors).prop_map(|(start, length, wide)| Window {
            interval: Interval::starting(start, length).unwrap(),
            processors: count(wide),
        });
    prop::collection::vec(window, 0..5)
}

/// Organisation 1 has class 3, organisation 2 class 1.
fn priorities() -> Priorities {
    let priorities = Priorities::ageing(Span::from_secs(20));
    let priorities = priorities.with(OrganisationId::new(1), 3).unwrap();
    priorities.with(OrganisationId::new(2), 1).unwrap()
}

fn policy() -> impl Strategy<Value = Policy> {
    prop::sample::select(vec![
        Policy::FirstCome,
        Policy::ShortestFirst,
        Policy::EarliestDeadline,
        Policy::Priority(priorities()),
    ])
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Passing {
    InOrder,
    Backfilling,
}

/// The site, with all windows that it takes.
fn site(policy: Policy, processors: u32, passing: Passing, windows: &[Window]) -> SiteQueue {
    let empty = SiteQueue::new(policy, Speed::BASELINE, 100).with_processors(count(processors));
    let mut site = match passing {
        Passing::InOrder => empty,
        Passing::Backfilling => empty.backfilling(),
    };
    for window in windows {
        let _ = site.reserve(Time::ZERO, window.interval, window.processors);
    }
    site
}

/// A size, jobs for it and windows on it.
fn days(within: u64, drift: Drift) -> impl Strategy<Value = (u32, Vec<Coming>, Vec<Window>)> {
    let size = prop_oneof![Just(1_u32), 2..12_u32];
    size.prop_flat_map(move |size| (Just(size), jobs(size, within, drift), windows(size)))
}

fn passing() -> impl Strategy<Value = Passing> {
    prop::sample::select(vec![Passing::InOrder, Passing::Backfilling])
}

/// How many processors those that run at that time have, told by starts and real run times.
fn busy(jobs: &[Coming], starts: &BTreeMap<JobId, Time>, at: Time) -> u32 {
    let runs = |coming: &&Coming| {
        let started = starts[&coming.job.job];
        started <= at && at < started + coming.runs
    };
    let running = jobs.iter().filter(runs);
    running.map(|coming| coming.job.processors.get()).sum()
}

/// All that is expected, by job.
fn forecast(site: &SiteQueue, now: Time) -> BTreeMap<JobId, Expected> {
    let mut all = BTreeMap::new();
    site.forecast(now, Change::None, &mut |job: Expected| {
        assert!(all.insert(job.job, job).is_none(), "told twice");
    });
    all
}

struct Nothing;
impl Observer for Nothing {}

/// The promised starts of queue heads. Asserts that a job that passes the head does not delay it.
#[derive(Default)]
struct Promises {
    before: Option<(JobId, Time)>,
    first: BTreeMap<JobId, Time>,
    passed: u64,
}

fn head(site: &SiteQueue, now: Time) -> Option<(JobId, Time)> {
    let head = site.waiting().first()?.job;
    Some((head, forecast(site, now)[&head].start))
}

impl Observer for Promises {
    fn before_start(&mut self, now: Time, site: &SiteQueue) {
        self.before = head(site, now);
    }

    fn started(&mut self, now: Time, site: &SiteQueue, job: JobId) {
        if self.before.is_some_and(|(head, _)| head != job) {
            assert_eq!(head(site, now), self.before, "{job} delays the first");
            self.passed += 1;
        }
    }

    fn settled(&mut self, now: Time, site: &SiteQueue) {
        if let Some((head, start)) = head(site, now) {
            self.first.entry(head).or_insert(start);
        }
    }
}

/// Asserts that no job starts before a waiting job that it came too late to overtake.
struct Fairness(Priorities);

impl Observer for Fairness {
    fn started(&mut self, _: Time, site: &SiteQueue, job: JobId) {
        let started = site.running().iter().find(|running| running.job.job == job);
        let submitted = started.unwrap().job.submitted;
        for waits in site.waiting() {
            let closed = self.0.closed_to_newcomers(waits);
            assert!(submitted <= closed, "{job} gets ahead of {}", waits.job);
        }
    }
}

/// Asserts that the first forecast never changes.
struct Unchanged(Option<BTreeMap<JobId, Expected>>);

impl Observer for Unchanged {
    fn before_start(&mut self, now: Time, site: &SiteQueue) {
        let expected = forecast(site, now);
        let at_first = self.0.get_or_insert_with(|| expected.clone());
        for (job, expected) in expected {
            assert_eq!(at_first[&job], expected);
        }
    }
}

fn seeded() -> ProptestConfig {
    ProptestConfig {
        cases: scaled(1_000, 100),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x7369_7465),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn processors_are_never_oversubscribed_and_every_job_runs(
        (size, jobs, windows) in days(200, Drift::Any),
        policy in policy(),
        passing in passing(),
    ) {
        let mut site = site(policy, size, passing, &windows);
        let starts = run(&mut site, &jobs, &mut Nothing);
        for at in starts.values() {
            prop_assert!(busy(&jobs, &starts, *at) <= size);
        }
    }

    #[test]
    fn reserved_windows_stay_free_if_no_job_outruns_its_estimate(
        (size, jobs, windows) in days(200, Drift::Shorter),
        policy in policy(),
        passing in passing(),
    ) {
        let mut site = site(policy, size, passing, &windows);
        let kept = site.windows().to_vec();
        let starts = run(&mut site, &jobs, &mut Nothing);
        let begins = kept.iter().map(|window| window.interval.start());
        for at in starts.values().copied().chain(begins) {
            let open = kept.iter().filter(|window| window.interval.contains(at));
            let owner: u32 = open.map(|window| window.processors.get()).sum();
            prop_assert!(busy(&jobs, &starts, at) + owner <= size);
        }
    }

    #[test]
    fn a_job_that_passes_the_head_does_not_delay_its_estimated_start(
        (size, jobs, windows) in days(200, Drift::Any),
        policy in policy(),
    ) {
        run(&mut site(policy, size, Passing::Backfilling, &windows), &jobs, &mut Promises::default());
    }

    #[test]
    fn the_head_starts_no_later_than_promised_if_no_job_outruns_its_estimate(
        (size, jobs, windows) in days(200, Drift::Shorter),
    ) {
        let mut promises = Promises::default();
        let mut site = site(Policy::FirstCome, size, Passing::Backfilling, &windows);
        let starts = run(&mut site, &jobs, &mut promises);
        for (job, promised) in promises.first {
            prop_assert!(starts[&job] <= promised, "{job} was promised {promised}");
        }
    }

    #[test]
    fn no_job_starves_under_priorities_that_age(
        (size, jobs, windows) in days(200, Drift::Any),
    ) {
        let policy = Policy::Priority(priorities());
        run(&mut site(policy, size, Passing::InOrder, &windows), &jobs, &mut Fairness(priorities()));
    }

    #[test]
    fn a_forecast_comes_true_if_estimates_do_and_nothing_else_happens(
        (size, jobs, windows) in days(0, Drift::None),
        policy in policy(),
    ) {
        let mut unchanged = Unchanged(None);
        let starts = run(&mut site(policy, size, Passing::InOrder, &windows), &jobs, &mut unchanged);
        for (job, expected) in unchanged.0.unwrap() {
            prop_assert_eq!(starts[&job], expected.start);
        }
    }
}

#[test]
fn jobs_pass_the_head_in_generated_days() {
    let mut runner = proptest::test_runner::TestRunner::new(seeded());
    let days = days(200, Drift::Any);
    let mut passed = 0;
    for _ in 0..100 {
        let (size, jobs, windows) = days.new_tree(&mut runner).unwrap().current();
        let mut promises = Promises::default();
        let mut site = site(Policy::FirstCome, size, Passing::Backfilling, &windows);
        run(&mut site, &jobs, &mut promises);
        passed += promises.passed;
    }
    assert!(passed > 100, "only {passed}");
}
