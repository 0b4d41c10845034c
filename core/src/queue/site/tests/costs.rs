//! What a job costs at a site.

use super::*;
use crate::queue::{Cost, Lateness, offer, present_cost};

fn cost(secs: i64) -> Cost {
    Cost::from_micros(secs * 1_000_000)
}

/// How late all jobs are, which any job with a deadline is told.
fn lateness(site: &SiteQueue, now: u64) -> Cost {
    present_cost(site, t(now), &due(0, 1, 1), Lateness::Literal).unwrap()
}

fn literal(site: &SiteQueue, now: u64, job: &QueuedJob) -> Cost {
    offer(site, t(now), job, Lateness::Literal)
}

fn marginal(site: &SiteQueue, now: u64, job: &QueuedJob) -> Cost {
    offer(site, t(now), job, Lateness::Marginal)
}

#[test]
fn completion_counts_the_running_job_those_ahead_and_oneself() {
    let mut fcfs = site(Policy::FirstCome, &[job(1, 100), job(2, 40), job(3, 20)]);
    fcfs.start_next(t(0)).unwrap();
    assert_eq!(literal(&fcfs, 30, &job(9, 30)), cost(70 + 60 + 30));
    let present = |job: &QueuedJob| present_cost(&fcfs, t(30), job, Lateness::Literal);
    assert_eq!(present(&job(3, 20)), Some(cost(70 + 60)));
    assert_eq!(present(&job(2, 40)), Some(cost(70 + 40)));
    assert_eq!(present(&job(4, 40)), None);
    let sjf = site(Policy::ShortestFirst, &[job(2, 40), job(3, 20)]);
    assert_eq!(literal(&sjf, 30, &job(9, 30)), cost(20 + 30));
}

#[test]
fn a_fast_site_needs_less_and_an_overrun_needs_a_little_still() {
    let mut fast = SiteQueue::new(Policy::FirstCome, Speed::try_from(2.0).unwrap(), 9);
    fast.push(t(0), job(1, 100)).unwrap();
    fast.start_next(t(0)).unwrap();
    assert_eq!(literal(&fast, 0, &job(9, 10)), cost(50 + 5));
    assert_eq!(literal(&fast, 49, &job(9, 10)), cost(1 + 5));
    assert_eq!(literal(&fast, 500, &job(9, 10)), cost(1 + 5));
}

#[test]
fn a_job_that_has_not_outrun_its_estimate_needs_what_is_left_of_it() {
    let short = |id| QueuedJob {
        estimate: Span::from_millis(100),
        ..job(id, 0)
    };
    let mut site = site(Policy::FirstCome, &[short(1)]);
    let before = literal(&site, 0, &short(2));
    site.start_next(t(0)).unwrap();
    assert_eq!(literal(&site, 0, &short(2)), before);
    assert_eq!(before, Cost::from_micros(200_000));
    let late = Time::from_millis(100);
    assert_eq!(
        offer(&site, late, &short(2), Lateness::Literal),
        Cost::from_micros(1_100_000)
    );
}

#[test]
fn a_deadline_at_the_end_of_time_does_not_hide_what_another_job_adds() {
    let endless = QueuedJob {
        deadline: Some(Time::MAX),
        ..job(1, 10)
    };
    let site = site(Policy::EarliestDeadline, &[endless]);
    // It would end at 20 with 80 to spare, and the other one is 20 later than without it.
    assert_eq!(marginal(&site, 0, &due(9, 20, 100)), cost(-80 + 20));
}

#[test]
fn lateness_is_minus_the_slack_while_all_are_in_time() {
    let mut edf = site(Policy::EarliestDeadline, &[due(1, 10, 100), due(2, 10, 50)]);
    assert_eq!(lateness(&site(Policy::EarliestDeadline, &[]), 0), cost(0));
    // Job 2 ends at 10, 40 early; job 1 at 20, 80 early.
    assert_eq!(lateness(&edf, 0), cost(-120));
    edf.start_next(t(0)).unwrap();
    assert_eq!(lateness(&edf, 0), cost(-120));
    // A job due at 70 ends at 20, 50 early, and job 1 now at 30, 70 early.
    assert_eq!(literal(&edf, 0, &due(9, 10, 70)), cost(-(40 + 50 + 70)));
    assert_eq!(marginal(&edf, 0, &due(9, 10, 70)), cost(-40));
}

#[test]
fn lateness_counts_only_the_late_once_any_is_late() {
    let edf = site(Policy::EarliestDeadline, &[due(1, 30, 100), due(2, 30, 20)]);
    assert_eq!(lateness(&edf, 0), cost(10));
    // One due at 25 ends at 40, 15 late; job 2 is still 10 late; job 1 ends at 70, in time.
    assert_eq!(literal(&edf, 0, &due(9, 10, 25)), cost(10 + 15));
    assert_eq!(marginal(&edf, 0, &due(9, 10, 25)), cost(15));
    // Exactly in time is in time.
    assert_eq!(
        lateness(&site(Policy::EarliestDeadline, &[due(1, 30, 30)]), 0),
        cost(0)
    );
    // Without a deadline a job counts for nothing, but it takes its time.
    let mixed = site(Policy::FirstCome, &[job(1, 30), due(2, 10, 30)]);
    assert_eq!(lateness(&mixed, 0), cost(10));
}

#[test]
fn costs_saturate_and_compare_by_threshold() {
    let endless = QueuedJob {
        estimate: Span::MAX,
        ..job(1, 0)
    };
    let busy = site(Policy::FirstCome, &[endless]);
    assert_eq!(literal(&busy, 0, &job(2, 1)), Cost::MAX);
    let (low, high) = (Cost::from_micros(i64::MIN), Cost::from_micros(i64::MAX));
    assert!(low.beats(high, Span::MAX));
    assert!(cost(5).beats(cost(10), Span::from_secs(5)));
    assert!(!cost(5).beats(cost(10), Span::from_micros(5_000_001)));
    assert!(cost(5).beats(cost(5), Span::ZERO) && !cost(6).beats(cost(5), Span::ZERO));
    assert_eq!(cost(-2).as_micros(), -2_000_000);
    assert_eq!(
        std::format!("{:?} {:?} {:?}", cost(-2), cost(0), cost(2)),
        "-2s 0s 2s"
    );
    let far = QueuedJob {
        deadline: Some(Time::MAX),
        ..job(1, 1)
    };
    assert_eq!(lateness(&site(Policy::FirstCome, &[far]), 0), low);
}

#[test]
fn present_cost_in_the_marginal_reading_is_what_the_others_would_gain() {
    // Job 1 ends at 10, 90 early; job 2 at 20, 80 early, and at 10 without job 1.
    let edf = site(
        Policy::EarliestDeadline,
        &[due(1, 10, 100), due(2, 10, 100)],
    );
    let present = present_cost(&edf, t(0), &due(1, 10, 100), Lateness::Marginal);
    assert_eq!(present, Some(cost(-170 + 90)));
}

#[test]
fn a_job_too_large_for_the_site_costs_the_maximum_and_delays_no_other_job() {
    for site in [
        site(Policy::FirstCome, &[job(1, 10)]),
        cluster(2, &[wide(1, 2, 10)]),
    ] {
        let giant = wide(9, 3, 10);
        assert_eq!(literal(&site, 0, &giant), Cost::MAX);
        let short = QueuedJob {
            deadline: Some(t(1)),
            ..giant
        };
        assert_eq!(literal(&site, 0, &short), Cost::MAX);
        let behind = expected(&site, t(0), Change::With(&giant), id(1)).unwrap();
        assert_eq!(behind.end, t(10));
    }
}
