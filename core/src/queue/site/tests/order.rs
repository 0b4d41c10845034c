//! The order in which jobs wait.

use super::*;
use std::string::ToString;

#[test]
fn each_policy_has_its_order_and_ties_go_by_arrival() {
    let jobs = [
        due(1, 30, 90),
        due(2, 10, 50),
        job(3, 20),
        due(4, 10, 50),
        due(5, 30, 90),
        job(6, 5),
    ];
    let order = |policy| waiting(&site(policy, &jobs));
    assert_eq!(order(Policy::FirstCome), [1, 2, 3, 4, 5, 6]);
    assert_eq!(order(Policy::ShortestFirst), [6, 2, 4, 3, 1, 5]);
    assert_eq!(order(Policy::EarliestDeadline), [2, 4, 1, 5, 3, 6]);
    assert_eq!(site(Policy::FirstCome, &[]).policy(), Policy::FirstCome);
}

#[test]
fn a_withdrawn_job_that_comes_back_is_ordered_by_its_first_arrival() {
    let come = |id, secs, arrived| QueuedJob {
        arrived: t(arrived),
        ..job(id, secs)
    };
    let jobs = [come(1, 10, 1), come(2, 10, 2), come(3, 5, 3)];
    for (policy, order) in [
        (Policy::FirstCome, [1, 2, 3]),
        (Policy::ShortestFirst, [3, 1, 2]),
        (Policy::EarliestDeadline, [1, 2, 3]),
    ] {
        let mut site = site(policy, &jobs);
        let first = site.withdraw(id(1)).unwrap();
        site.push(t(9), first).unwrap();
        assert_eq!(waiting(&site), order);
    }
}

#[test]
fn a_job_is_queued_once_and_only_while_there_is_room() {
    let mut site = SiteQueue::new(Policy::ShortestFirst, Speed::BASELINE, 3);
    site.push(t(0), job(1, 10)).unwrap();
    site.start_next(t(0)).unwrap();
    assert_eq!(site.push(t(0), job(1, 10)), Err(QueueError::Known));
    site.push(t(0), job(2, 10)).unwrap();
    assert_eq!(site.push(t(0), job(2, 10)), Err(QueueError::Known));
    site.push(t(0), job(3, 10)).unwrap();
    assert_eq!(site.admits(&job(4, 10)), Err(QueueError::Full));
    assert_eq!(site.push(t(0), job(4, 10)), Err(QueueError::Full));
    assert_eq!(site.withdraw(id(1)), None);
    assert_eq!(site.withdraw(id(2)), Some(job(2, 10)));
    assert_eq!(site.withdraw(id(2)), None);
    assert_eq!(site.push(t(0), job(4, 10)), Ok(()));
    assert_eq!(waiting(&site), [3, 4]);
}

/// A job of this organisation that came into the grid then.
fn of(id: u64, organisation: u32, submitted: u64) -> QueuedJob {
    let mut job = QueuedJob {
        submitted: t(submitted),
        ..job(id, 10)
    };
    job.submitter.organisation = OrganisationId::new(organisation);
    job
}

/// Organisation 7 has class 2 and organisation 8 class 1; a class is worth 100 s.
fn priorities() -> Priorities {
    let priorities = Priorities::ageing(Span::from_secs(100));
    let priorities = priorities.with(OrganisationId::new(7), 2).unwrap();
    priorities.with(OrganisationId::new(8), 1).unwrap()
}

#[test]
fn the_owners_jobs_come_first_until_others_have_waited_long() {
    let jobs = [
        of(1, 0, 0),   // rank 0
        of(2, 7, 150), // rank -50
        of(3, 8, 60),  // rank -40
        of(4, 7, 250), // rank 50
        of(5, 7, 200), // rank 0, and arrived after job 1
        of(6, 9, 49),  // rank 49
    ];
    let mut site = site(Policy::Priority(priorities()), &jobs);
    assert_eq!(waiting(&site), [2, 3, 1, 5, 6, 4]);
    assert_eq!(started(&mut site, 300), [2]);
    assert_eq!(
        plan(&site, 300, Change::With(&of(9, 8, 120))),
        [
            (1, 320, 330),
            (2, 300, 310),
            (3, 310, 320),
            (4, 360, 370),
            (5, 330, 340),
            (6, 350, 360),
            (9, 340, 350),
        ]
    );
}

#[test]
fn a_stream_of_preferred_jobs_does_not_starve_another() {
    // One of the owner's jobs comes every ten seconds and fills the site. The stranger of time 5 may wait until time
    // 205.
    let mut site = SiteQueue::new(Policy::Priority(priorities()), Speed::BASELINE, 99);
    let stranger = of(999, 0, 5);
    assert_eq!(priorities().closed_to_newcomers(&stranger), t(205));
    let mut order = Vec::new();
    for now in (0..400).step_by(10) {
        if now == 10 {
            site.push(t(now), stranger).unwrap();
        }
        if let Some(running) = site.running().first() {
            let job = running.job.job;
            site.finish(t(now), job).unwrap();
        }
        site.push(t(now), of(now, 7, now)).unwrap();
        order.extend(started(&mut site, now));
    }
    let waited_for: Vec<u64> = (0..=200).step_by(10).collect();
    assert_eq!(order[..21], waited_for);
    assert_eq!(order[21..23], [999, 210]);
}

#[test]
fn with_zero_ageing_the_oldest_job_is_first_whatever_its_organisation() {
    let priorities = Priorities::ageing(Span::ZERO);
    let priorities = priorities.with(OrganisationId::new(7), 255).unwrap();
    let site = site(
        Policy::Priority(priorities),
        &[of(1, 7, 9), of(2, 0, 8), of(3, 7, 7)],
    );
    assert_eq!(waiting(&site), [3, 2, 1]);
}

#[test]
fn the_largest_class_and_the_slowest_ageing_keep_their_order() {
    let priorities = Priorities::ageing(Span::MAX);
    let priorities = priorities.with(OrganisationId::new(7), 255).unwrap();
    let priorities = priorities.with(OrganisationId::new(8), 254).unwrap();
    let late = QueuedJob {
        submitted: Time::MAX,
        ..of(3, 7, 0)
    };
    let site = site(
        Policy::Priority(priorities),
        &[of(1, 0, 0), of(2, 8, 0), late, of(4, 7, 0)],
    );
    assert_eq!(waiting(&site), [4, 2, 3, 1]);
    assert_eq!(priorities.closed_to_newcomers(&of(1, 0, 0)), Time::MAX);
}

#[test]
fn eight_organisations_can_be_named_and_the_last_word_counts() {
    let mut priorities = Priorities::ageing(Span::from_secs(1));
    assert_eq!(priorities.top(), 0);
    for organisation in 0..8 {
        priorities = priorities
            .with(OrganisationId::new(organisation), 5)
            .unwrap();
    }
    let refused = priorities.with(OrganisationId::new(8), 1);
    assert_eq!(refused, Err(TooManyOrganisations));
    assert!(TooManyOrganisations.to_string().contains("eight"));
    let changed = priorities.with(OrganisationId::new(7), 9).unwrap();
    assert_eq!(changed.class(OrganisationId::new(7)), 9);
    assert_eq!(changed.class(OrganisationId::new(6)), 5);
    assert_eq!(changed.class(OrganisationId::new(8)), 0);
    assert_eq!((priorities.top(), changed.top()), (5, 9));
}

#[test]
fn a_broken_queue_is_named() {
    let named = |site: &SiteQueue| site.check().unwrap_err().invariant;
    let mut site = SiteQueue::new(Policy::ShortestFirst, Speed::BASELINE, 2);
    site.waiting.extend([due(1, 20, 5), due(2, 10, 9)]);
    assert_eq!(
        named(&site),
        "waiting jobs stand in the order of the policy"
    );
    site.policy = Policy::EarliestDeadline;
    assert_eq!(site.check(), Ok(()));
    site.waiting.reverse();
    assert!(site.check().is_err());
    site.policy = Policy::FirstCome;
    assert_eq!(site.check(), Ok(()));
    site.limit = 1;
    assert_eq!(named(&site), "a queue keeps within its limit");
    site.waiting = Vec::from([due(1, 1, 1); 2]);
    assert_eq!(named(&site), "a job waits or runs, and once");
    site.waiting = Vec::from([wide(1, 2, 1)]);
    assert_eq!(named(&site), "no job wants more processors than there are");
    let runs = |id, end| Running {
        job: job(id, 1),
        started: t(0),
        estimated_end: t(end),
    };
    site.waiting.clear();
    site.running = Vec::from([runs(1, 5), runs(2, 4)]);
    assert_eq!(
        named(&site),
        "running jobs stand in the order of their estimated ends"
    );
    site.running.reverse();
    assert_eq!(
        named(&site),
        "jobs run on no more processors than there are"
    );
    site.running.clear();
    site.processors = count(2);
    site.reserve(t(0), between(0, 9), count(2)).unwrap();
    site.processors = count(1);
    assert_eq!(named(&site), "the owner keeps no more than there is");
}
