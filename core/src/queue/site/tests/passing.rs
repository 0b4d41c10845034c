//! EASY backfilling.

use super::*;

#[test]
fn a_job_passes_if_it_ends_by_the_shadow_time_or_needs_only_spare_processors() {
    // Job 1 holds three of five until 100. Job 2 wants four: it starts at 100, and one is spare then.
    let jobs = [
        wide(1, 3, 100),
        wide(2, 4, 10),
        wide(3, 2, 101), // not over by 100, and two are not spare
        wide(4, 1, 100), // over by 100
        wide(5, 1, 500), // takes the spare one
        wide(6, 1, 500),
    ];
    let mut site = cluster(5, &jobs).backfilling();
    assert_eq!(started(&mut site, 0), [1, 4, 5]);
    assert_eq!(waiting(&site), [2, 3, 6]);
    // Job 4 ends early. Job 6 would take what job 2 needs.
    site.finish(t(50), id(4)).unwrap();
    assert_eq!(started(&mut site, 50), Vec::<u64>::new());
    site.finish(t(100), id(1)).unwrap();
    assert_eq!(started(&mut site, 100), [2]);
    site.finish(t(110), id(2)).unwrap();
    assert_eq!(started(&mut site, 110), [3, 6]);
}

#[test]
fn of_those_that_may_pass_the_first_in_the_policys_order_does() {
    let jobs = [
        wide(1, 2, 5),
        wide(2, 3, 10),
        wide(3, 1, 50),
        wide(4, 1, 40),
    ];
    let site = SiteQueue::new(Policy::ShortestFirst, Speed::BASELINE, 9);
    let mut site = filled(site.with_processors(count(3)).backfilling(), &jobs);
    assert_eq!(started(&mut site, 0), [1]);
    assert_eq!(waiting(&site), [2, 4, 3]);
    // Both would delay job 2, until it is gone.
    site.withdraw(id(2)).unwrap();
    site.push(t(0), wide(5, 2, 30)).unwrap();
    assert_eq!(started(&mut site, 0), [4]);
    assert_eq!(waiting(&site), [5, 3]);
}

#[test]
fn the_forecast_places_each_job_where_it_delays_no_job_ahead() {
    let jobs = [
        wide(1, 3, 100),
        wide(2, 4, 10),
        wide(3, 2, 101),
        wide(4, 1, 100),
        wide(5, 4, 5),
    ];
    let mut site = cluster(5, &jobs).backfilling();
    let first_fit = [
        (1, 0, 100),
        (2, 100, 110),
        (3, 110, 211),
        (4, 0, 100),
        (5, 211, 216),
    ];
    assert_eq!(plan(&site, 0, Change::None), first_fit);
    assert_eq!(started(&mut site, 0), [1, 4]);
    assert_eq!(plan(&site, 0, Change::None), first_fit);
    // In order, job 4 would wait for job 3.
    assert_eq!(plan(&cluster(5, &jobs), 0, Change::None)[3], (4, 110, 210));
}

#[test]
fn an_overrun_moves_the_shadow_time_and_does_not_stop_short_jobs_from_passing() {
    let mut site = cluster(
        2,
        &[wide(1, 1, 10), wide(2, 2, 10), wide(3, 1, 1), wide(4, 1, 2)],
    );
    assert_eq!(started(&mut site, 0), [1]);
    site = site.backfilling();
    // Job 1 overruns and is always expected in a second: time enough for job 3, not for job 4.
    assert_eq!(started(&mut site, 20), [3]);
    site.finish(t(21), id(3)).unwrap();
    assert_eq!(started(&mut site, 21), Vec::<u64>::new());
    site.finish(t(22), id(1)).unwrap();
    assert_eq!(started(&mut site, 22), [2]);
}

#[test]
fn jobs_of_one_processor_are_planned_as_if_they_were_wide() {
    // A job that waits for more than there is makes the site plan by its profile, and changes no other start.
    let never = wide(99, 9, 1);
    let jobs: Vec<QueuedJob> = (1..=8)
        .map(|name| wide(name, 1, name * 7 % 11 + 1))
        .collect();
    for processors in 1..=5 {
        let mut site = cluster(processors, &jobs).backfilling();
        started(&mut site, 0);
        for now in [0, 1, 3, 8, 30] {
            let mut expected = plan(&site, now, Change::With(&never));
            expected.retain(|(name, ..)| *name != 99);
            assert_eq!(
                plan(&site, now, Change::None),
                expected,
                "{processors} at {now}"
            );
        }
    }
}
