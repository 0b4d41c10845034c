//! What the owner keeps.

use super::*;
use std::string::ToString;

/// Four processors of which the owner keeps three from 100 to 200.
fn kept(jobs: &[QueuedJob]) -> SiteQueue {
    let site = cluster(4, &[]);
    filled(site.reserving(between(100, 200), count(3)).unwrap(), jobs)
}

#[test]
fn a_job_starts_only_if_it_is_expected_to_be_done_before_the_window_or_fits_beside_it() {
    let mut site = kept(&[
        wide(1, 2, 100),
        wide(2, 1, 500),
        wide(3, 1, 101),
        wide(4, 1, 1),
    ]);
    // Job 3 would need a processor of the owner's for a second, and job 4 is behind it.
    assert_eq!(started(&mut site, 0), [1, 2]);
    assert_eq!(
        plan(&site, 0, Change::None),
        [(1, 0, 100), (2, 0, 500), (3, 200, 301), (4, 200, 201)]
    );
    assert_eq!(site.look_again(t(0)), Some(t(200)));
    site.finish(t(90), id(1)).unwrap();
    assert_eq!(started(&mut site, 90), Vec::<u64>::new());
    assert_eq!(started(&mut site, 199), Vec::<u64>::new());
    assert_eq!(started(&mut site, 200), [3, 4]);
    assert_eq!((site.windows().len(), site.look_again(t(200))), (0, None));
}

#[test]
fn a_short_job_passes_one_that_waits_for_the_end_of_a_window() {
    let mut site = kept(&[
        wide(1, 2, 101),
        wide(2, 2, 90),
        wide(3, 4, 1),
        wide(4, 1, 150),
    ])
    .backfilling();
    // Job 1 has all of 200 to 301. Job 4 fits beside the window, and beside job 1.
    assert_eq!(started(&mut site, 0), [2, 4]);
    assert_eq!(waiting(&site), [1, 3]);
    assert_eq!(
        plan(&site, 0, Change::None),
        [(1, 200, 301), (2, 0, 90), (3, 301, 302), (4, 0, 150)]
    );
}

#[test]
fn one_processor_can_be_kept_too() {
    let site = site(Policy::FirstCome, &[]);
    let site = site.reserving(between(10, 20), count(1)).unwrap();
    let mut site = filled(site, &[job(1, 10), job(2, 1), job(3, 1)]);
    assert_eq!(
        plan(&site, 0, Change::None),
        [(1, 0, 10), (2, 20, 21), (3, 21, 22)]
    );
    assert_eq!(started(&mut site, 1), Vec::<u64>::new());
    assert_eq!(
        plan(&site, 1, Change::None),
        [(1, 20, 30), (2, 30, 31), (3, 31, 32)]
    );
    let mut passing = site.clone().backfilling();
    assert_eq!(started(&mut passing, 1), [2]);
    assert_eq!(
        plan(&passing, 1, Change::None),
        [(1, 20, 30), (2, 1, 2), (3, 2, 3)]
    );
}

#[test]
fn a_job_that_runs_into_a_window_is_not_stopped_and_leaves_nothing_to_others() {
    let mut site = cluster(2, &[wide(1, 1, 100), wide(2, 1, 10), wide(3, 1, 10)]);
    assert_eq!(started(&mut site, 0), [1, 2]);
    site.reserve(t(5), between(20, 50), count(2)).unwrap();
    site.check().unwrap();
    site.finish(t(12), id(2)).unwrap();
    assert_eq!(started(&mut site, 12), Vec::<u64>::new());
    assert_eq!(plan(&site, 12, Change::None), [(1, 0, 100), (3, 50, 60)]);
}

#[test]
fn what_no_window_leaves_time_for_is_planned_after_the_last() {
    let endless = QueuedJob {
        estimate: Span::MAX,
        ..wide(1, 2, 0)
    };
    let mut site = kept(&[endless, wide(2, 3, 10)]);
    let of = |site: &SiteQueue, job| expected(site, t(0), Change::None, id(job)).unwrap();
    assert_eq!((of(&site, 1).start, of(&site, 1).end), (t(200), Time::MAX));
    assert_eq!(of(&site, 2).start, Time::MAX);
    assert_eq!(site.start_next(t(0)), None);
    assert_eq!(site.start_next(t(200)), Some(id(1)));
}

#[test]
fn the_owner_cannot_keep_more_than_there_is_nor_in_more_windows_than_can_be_nor_for_ever() {
    let mut site = kept(&[]);
    let refusal = |site: &mut SiteQueue, now, interval, processors| {
        let before = site.clone();
        let refused = site
            .reserve(t(now), interval, count(processors))
            .unwrap_err();
        assert_eq!(*site, before);
        refused
    };
    assert_eq!(
        refusal(&mut site, 0, between(0, 1), 5),
        WindowError::TooLarge
    );
    assert_eq!(
        refusal(&mut site, 0, between(50, 101), 2),
        WindowError::TooLarge
    );
    assert_eq!(
        refusal(&mut site, 0, between(199, 300), 2),
        WindowError::TooLarge
    );
    assert_eq!(
        refusal(&mut site, 60, between(50, 60), 1),
        WindowError::Past
    );
    let forever = Interval::since(t(9)).unwrap();
    assert_eq!(refusal(&mut site, 0, forever, 1), WindowError::Endless);
    site.reserve(t(0), between(0, 100), count(4)).unwrap();
    site.reserve(t(0), between(150, 300), count(1)).unwrap();
    for start in 3..16 {
        let interval = between(100 * start, 100 * start + 100);
        site.reserve(t(0), interval, count(4)).unwrap();
    }
    site.check().unwrap();
    assert_eq!(site.windows().len(), SiteQueue::MOST_WINDOWS);
    assert_eq!(
        refusal(&mut site, 0, between(5_000, 6_000), 1),
        WindowError::TooMany
    );
    // At 100 the first one is over.
    site.reserve(t(100), between(5_000, 6_000), count(1))
        .unwrap();
    assert_eq!(site.windows()[0].interval, between(100, 200));
}

#[test]
fn there_is_no_time_to_look_again_without_waiting_jobs_or_without_windows() {
    assert_eq!(kept(&[]).look_again(t(0)), None);
    assert_eq!(cluster(4, &[wide(1, 4, 10)]).look_again(t(0)), None);
    let two = kept(&[wide(1, 4, 101)])
        .reserving(between(50, 60), count(1))
        .unwrap();
    assert_eq!(two.look_again(t(0)), Some(t(60)));
    assert_eq!(two.look_again(t(60)), Some(t(200)));
    assert_eq!(two.look_again(t(200)), None);
}

#[test]
fn refusals_of_windows_say_why() {
    assert!(WindowError::TooMany.to_string().contains("as many"));
    assert!(WindowError::TooLarge.to_string().contains("so many"));
    assert!(WindowError::Past.to_string().contains("over"));
    assert!(WindowError::Endless.to_string().contains("no end"));
}
