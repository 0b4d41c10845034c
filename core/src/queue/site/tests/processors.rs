//! Several processors, in strict order.

use super::*;

#[test]
fn a_site_runs_one_job_at_a_time_on_one_processor() {
    let mut site = site(Policy::FirstCome, &[job(1, 10), job(2, 10)]);
    assert_eq!(started(&mut site, 5), [1]);
    let running = Running {
        job: job(1, 10),
        started: t(5),
        estimated_end: t(15),
    };
    assert_eq!(site.running(), [running]);
    assert_eq!(site.finish(t(9), id(2)), Err(NotRunning));
    assert_eq!(site.finish(t(9), id(1)), Ok(()));
    assert_eq!(site.finish(t(9), id(1)), Err(NotRunning));
    assert_eq!(started(&mut site, 9), [2]);
    site.finish(t(10), id(2)).unwrap();
    assert_eq!(site.start_next(t(10)), None);
}

#[test]
fn a_job_wider_than_the_site_is_unsuitable() {
    let mut site = cluster(4, &[wide(1, 4, 10)]);
    assert_eq!(site.admits(&wide(2, 5, 1)), Err(QueueError::Unsuitable));
    assert_eq!(site.push(t(0), wide(2, 5, 1)), Err(QueueError::Unsuitable));
    assert_eq!(site.processors(), count(4));
}

#[test]
fn jobs_start_together_while_they_fit_and_the_first_that_does_not_blocks_all_behind_it() {
    let jobs = [
        wide(1, 2, 30),
        wide(2, 1, 20),
        wide(3, 2, 10),
        wide(4, 1, 10),
    ];
    let mut site = cluster(4, &jobs);
    assert_eq!(started(&mut site, 0), [1, 2]);
    assert_eq!(site.free_processors(), 1);
    assert_eq!(waiting(&site), [3, 4]);
    site.finish(t(5), id(2)).unwrap();
    assert_eq!(started(&mut site, 5), [3]);
    site.finish(t(6), id(1)).unwrap();
    assert_eq!(started(&mut site, 6), [4]);
    assert_eq!(site.free_processors(), 1);
}

#[test]
fn the_forecast_counts_processors_as_they_come_back() {
    let jobs = [
        wide(1, 2, 30),
        wide(2, 1, 20),
        wide(3, 2, 10),
        wide(4, 1, 50),
        wide(5, 4, 5),
    ];
    let mut site = cluster(4, &jobs);
    let fresh = [
        (1, 0, 30),
        (2, 0, 20),
        (3, 20, 30),
        (4, 30, 80),
        (5, 80, 85),
    ];
    assert_eq!(plan(&site, 0, Change::None), fresh);
    started(&mut site, 0);
    assert_eq!(plan(&site, 10, Change::None), fresh);
    assert_eq!(
        plan(&site, 10, Change::Without(id(3))),
        [(1, 0, 30), (2, 0, 20), (4, 10, 60), (5, 60, 65)]
    );
    assert_eq!(
        plan(&site, 10, Change::With(&wide(9, 1, 7)))[5],
        (9, 85, 92)
    );
}

#[test]
fn a_job_that_overruns_may_be_expected_to_end_after_a_job_with_a_later_estimate() {
    // Job 1 overruns at 10.5 and is expected at 11.5; job 2 ends at 11.
    let jobs = [wide(1, 1, 10), wide(2, 1, 11), wide(3, 1, 5), wide(4, 1, 5)];
    let mut site = cluster(2, &jobs);
    started(&mut site, 0);
    let now = Time::from_millis(10_500);
    let of = |job| expected(&site, now, Change::None, id(job)).unwrap();
    assert_eq!(of(1).end, Time::from_millis(11_500));
    assert_eq!((of(2).end, of(3).start), (t(11), t(11)));
    assert_eq!(of(4).start, Time::from_millis(11_500));
}

#[test]
fn work_without_length_takes_a_moment() {
    let mut site = cluster(2, &[wide(1, 2, 0), wide(2, 2, 0), wide(3, 1, 10)]);
    let start = |site: &SiteQueue, job| expected(site, t(0), Change::None, id(job)).unwrap().start;
    assert_eq!(start(&site, 3), Time::from_micros(2));
    assert_eq!(started(&mut site, 0), [1]);
    assert_eq!(start(&site, 3), Time::from_micros(2));
}

#[test]
fn at_the_end_of_time_plans_end() {
    let endless = QueuedJob {
        estimate: Span::MAX,
        ..wide(1, 2, 0)
    };
    for mut site in [
        cluster(2, &[endless, wide(2, 1, 5)]),
        cluster(2, &[endless, wide(2, 1, 5)]).backfilling(),
    ] {
        let second = |site: &SiteQueue, now| expected(site, now, Change::None, id(2)).unwrap();
        assert_eq!(second(&site, t(0)).start, Time::MAX);
        assert_eq!(site.start_next(Time::MAX), Some(id(1)));
        assert_eq!(site.start_next(Time::MAX), None);
        assert_eq!(second(&site, Time::MAX).end, Time::MAX);
        site.check().unwrap();
    }
}

#[test]
fn not_even_at_the_end_of_time_runs_more_than_fits() {
    let jobs = [wide(1, 2, 5), wide(2, 2, 5), wide(3, 2, 5)];
    let mut site = cluster(3, &jobs).backfilling();
    assert_eq!(site.start_next(Time::MAX), Some(id(1)));
    assert_eq!(site.start_next(Time::MAX), None);
    site.check().unwrap();
}
