//! A queue that mirrors a foreign site.

use super::*;

fn mirror(processors: u32, jobs: &[QueuedJob]) -> SiteQueue {
    let empty = SiteQueue::new(Policy::FirstCome, Speed::BASELINE, 2);
    filled(empty.with_processors(count(processors)).mirroring(), jobs)
}

fn starts(site: &SiteQueue, now: u64, job: u64) -> Time {
    let expected = expected(site, t(now), Change::None, id(job));
    expected.map(|job| job.start).unwrap()
}

#[test]
fn a_mirror_starts_nothing_and_forecasts_as_if_the_site_did() {
    let mut site = mirror(1, &[job(1, 100), job(2, 100)]);
    assert!(site.is_mirror() && !cluster(1, &[]).is_mirror());
    assert_eq!((site.start_next(t(0)), site.look_again(t(0))), (None, None));
    assert_eq!((starts(&site, 0, 1), starts(&site, 0, 2)), (t(0), t(100)));
    // The site starts the second one first.
    let second = site.withdraw(id(2)).unwrap();
    site.resume(t(12), second, t(10)).unwrap();
    assert_eq!(starts(&site, 12, 1), t(110));
    assert_eq!(site.finish(t(50), id(2)), Ok(()));
    assert_eq!(starts(&site, 50, 1), t(50));
}

#[test]
fn a_mirror_takes_what_is_seen_but_admits_only_what_fits() {
    let mut site = mirror(2, &[job(1, 10), job(2, 10)]);
    assert_eq!(site.admits(&job(3, 10)), Err(QueueError::Full));
    assert_eq!(site.push(t(0), job(3, 10)), Ok(()));
    assert_eq!(site.push(t(0), wide(4, 3, 10)), Ok(()));
    assert_eq!(site.admits(&wide(5, 3, 10)), Err(QueueError::Unsuitable));
    assert_eq!(site.push(t(0), job(1, 10)), Err(QueueError::Known));
    assert_eq!(site.resume(t(0), job(1, 10), t(0)), Err(QueueError::Known));
    assert_eq!((site.room(), site.check()), (0, Ok(())));
    // A job that this site could never run is expected never.
    assert_eq!(starts(&site, 0, 4), Time::MAX);
    // The site's own jobs may be longer than it lets jobs of the grid be.
    let mut site = mirror(2, &[]).up_to(Span::from_secs(10));
    assert_eq!(site.admits(&job(1, 10)), Ok(()));
    assert_eq!(site.admits(&job(1, 11)), Err(QueueError::Unsuitable));
    assert_eq!(site.push(t(0), job(1, 11)), Ok(()));
}

#[test]
fn processors_that_a_site_uses_beyond_its_number_do_not_come_back() {
    for passing in [false, true] {
        let mut site = mirror(2, &[wide(9, 2, 10)]);
        if passing {
            site = site.backfilling();
        }
        // By the mirror's count three jobs use six processors of two, until 20, 30 and 40.
        for (name, secs) in [(1, 20), (2, 30), (3, 40)] {
            site.resume(t(0), wide(name, 2, secs), t(0)).unwrap();
        }
        assert_eq!(starts(&site, 0, 9), t(40));
    }
    let mut single = mirror(1, &[job(9, 10)]);
    for (name, secs) in [(1, 20), (2, 30)] {
        single.resume(t(0), job(name, secs), t(0)).unwrap();
    }
    assert_eq!(starts(&single, 0, 9), t(30));
}
