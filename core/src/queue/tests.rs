use super::*;
use crate::id::JobId;
use crate::job::{Demand, Job};
use crate::resource::{Dimensions, Kind, Pool, Requirement, Speed};
use crate::time::{Span, Time};
use core::num::NonZeroU32;
use std::string::ToString;
use std::vec::Vec;

fn t(secs: u64) -> Time {
    Time::from_secs(secs)
}

fn job(id: u64, secs: u64) -> QueuedJob {
    QueuedJob::new(JobId::new(id), Span::from_secs(secs))
}

fn due(id: u64, secs: u64, deadline: u64) -> QueuedJob {
    QueuedJob {
        deadline: Some(t(deadline)),
        ..job(id, secs)
    }
}

fn site(policy: Policy, jobs: &[QueuedJob]) -> SiteQueue {
    let mut site = SiteQueue::new(policy, Speed::BASELINE, 9);
    for job in jobs {
        site.push(*job).unwrap();
        site.check().unwrap();
    }
    site
}

fn ids(site: &SiteQueue) -> Vec<u64> {
    site.waiting()
        .iter()
        .map(|queued| queued.job.get())
        .collect()
}

fn cost(secs: i64) -> Cost {
    Cost::from_micros(secs * 1_000_000)
}

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
    assert_eq!(ids(&site(Policy::FirstCome, &jobs)), [1, 2, 3, 4, 5, 6]);
    assert_eq!(ids(&site(Policy::ShortestFirst, &jobs)), [6, 2, 4, 3, 1, 5]);
    assert_eq!(
        ids(&site(Policy::EarliestDeadline, &jobs)),
        [2, 4, 1, 5, 3, 6]
    );
    assert_eq!(site(Policy::FirstCome, &[]).policy(), Policy::FirstCome);
}

#[test]
fn a_site_runs_one_job_at_a_time() {
    let mut site = site(Policy::FirstCome, &[job(1, 10), job(2, 10)]);
    assert_eq!(site.start_next(t(5)), Some(job(1, 10)));
    assert_eq!(site.start_next(t(5)), None);
    assert_eq!(
        site.running(),
        Some(&Running {
            job: job(1, 10),
            started: t(5)
        })
    );
    assert_eq!(site.finish(JobId::new(2)), Err(NotRunning));
    assert_eq!(
        site.finish(JobId::new(1)),
        Ok(Running {
            job: job(1, 10),
            started: t(5)
        })
    );
    assert_eq!(site.finish(JobId::new(1)), Err(NotRunning));
    assert_eq!(site.start_next(t(9)), Some(job(2, 10)));
    site.finish(JobId::new(2)).unwrap();
    assert_eq!(site.start_next(t(9)), None);
}

#[test]
fn a_job_is_queued_once_and_only_while_there_is_room() {
    let mut site = SiteQueue::new(Policy::ShortestFirst, Speed::BASELINE, 3);
    site.push(job(1, 10)).unwrap();
    site.start_next(t(0)).unwrap();
    assert_eq!(site.push(job(1, 10)), Err(QueueError::Known));
    site.push(job(2, 10)).unwrap();
    assert_eq!(site.push(job(2, 10)), Err(QueueError::Known));
    site.push(job(3, 10)).unwrap();
    assert_eq!(site.push(job(4, 10)), Err(QueueError::Full));
    assert_eq!(site.remove(JobId::new(2)), Some(job(2, 10)));
    assert_eq!(site.remove(JobId::new(2)), None);
    assert_eq!(site.push(job(4, 10)), Ok(()));
    assert_eq!(ids(&site), [3, 4]);
}

#[test]
fn completion_counts_the_running_job_those_ahead_and_oneself() {
    let mut fcfs = site(Policy::FirstCome, &[job(1, 100), job(2, 40), job(3, 20)]);
    fcfs.start_next(t(0)).unwrap();
    assert_eq!(fcfs.completion_with(t(30), &job(9, 30)), cost(70 + 60 + 30));
    assert_eq!(
        fcfs.completion_of(t(30), JobId::new(3)),
        Some(cost(70 + 60))
    );
    assert_eq!(
        fcfs.completion_of(t(30), JobId::new(2)),
        Some(cost(70 + 40))
    );
    assert_eq!(fcfs.completion_of(t(30), JobId::new(1)), None);
    let sjf = site(Policy::ShortestFirst, &[job(2, 40), job(3, 20)]);
    assert_eq!(sjf.completion_with(t(30), &job(9, 30)), cost(20 + 30));
}

#[test]
fn a_fast_site_needs_less_and_an_overrun_needs_a_little_still() {
    let mut fast = SiteQueue::new(Policy::FirstCome, Speed::try_from(2.0).unwrap(), 9);
    fast.push(job(1, 100)).unwrap();
    fast.start_next(t(0)).unwrap();
    assert_eq!(fast.completion_with(t(0), &job(9, 10)), cost(50 + 5));
    assert_eq!(fast.completion_with(t(49), &job(9, 10)), cost(1 + 5));
    assert_eq!(fast.completion_with(t(500), &job(9, 10)), cost(1 + 5));
}

#[test]
fn a_job_that_has_not_outrun_its_estimate_needs_what_is_left_of_it() {
    let short = QueuedJob {
        estimate: Span::from_millis(100),
        ..job(1, 0)
    };
    let mut site = site(Policy::FirstCome, &[short]);
    let before = site.completion_with(t(0), &short);
    site.start_next(t(0)).unwrap();
    assert_eq!(site.completion_with(t(0), &short), before);
    assert_eq!(before, Cost::from_micros(200_000));
    let late = Time::from_millis(100);
    assert_eq!(
        site.completion_with(late, &short),
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
    assert_eq!(site.added_lateness(t(0), &due(9, 20, 100)), cost(-80 + 20));
}

#[test]
fn lateness_is_minus_the_slack_while_all_are_in_time() {
    let mut edf = site(Policy::EarliestDeadline, &[due(1, 10, 100), due(2, 10, 50)]);
    assert_eq!(site(Policy::EarliestDeadline, &[]).lateness(t(0)), cost(0));
    // Job 2 ends at 10, 40 early; job 1 at 20, 80 early.
    assert_eq!(edf.lateness(t(0)), cost(-120));
    edf.start_next(t(0)).unwrap();
    assert_eq!(edf.lateness(t(0)), cost(-120));
    // A job due at 70 ends at 20, 50 early, and job 1 now at 30, 70 early.
    assert_eq!(
        edf.lateness_with(t(0), &due(9, 10, 70)),
        cost(-(40 + 50 + 70))
    );
    assert_eq!(edf.added_lateness(t(0), &due(9, 10, 70)), cost(-40));
}

#[test]
fn lateness_counts_only_the_late_once_any_is_late() {
    let edf = site(Policy::EarliestDeadline, &[due(1, 30, 100), due(2, 30, 20)]);
    assert_eq!(edf.lateness(t(0)), cost(10));
    // One due at 25 ends at 40, 15 late; job 2 is still 10 late; job 1 ends at 70, in time.
    assert_eq!(edf.lateness_with(t(0), &due(9, 10, 25)), cost(10 + 15));
    assert_eq!(edf.added_lateness(t(0), &due(9, 10, 25)), cost(15));
    // Exactly in time is in time.
    assert_eq!(
        site(Policy::EarliestDeadline, &[due(1, 30, 30)]).lateness(t(0)),
        cost(0)
    );
    // Without a deadline a job counts for nothing, but it takes its time.
    let mixed = site(Policy::FirstCome, &[job(1, 30), due(2, 10, 30)]);
    assert_eq!(mixed.lateness(t(0)), cost(10));
}

#[test]
fn costs_saturate_and_compare_by_threshold() {
    let endless = QueuedJob {
        estimate: Span::MAX,
        ..job(1, 0)
    };
    let site = site(Policy::FirstCome, &[endless]);
    assert_eq!(
        site.completion_with(t(0), &endless),
        Cost::from_micros(i64::MAX)
    );
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
    assert_eq!(self::site(Policy::FirstCome, &[far]).lateness(t(0)), low);
}

/// A quad-core node with 100 units of memory.
fn quad(limit: usize) -> BackfillQueue {
    let dimensions = Dimensions::new(&[("cores", Kind::Amount), ("memory", Kind::Amount)]).unwrap();
    let total = dimensions.capability(&[4, 100]).unwrap();
    BackfillQueue::new(Pool::new(dimensions, total), limit)
}

fn needs(queue: &BackfillQueue, cores: u64, memory: u64) -> Requirement {
    let at = |name| queue.pool().dimensions().named(name).unwrap();
    Requirement::any()
        .with(at("cores"), cores)
        .with(at("memory"), memory)
}

fn enqueue(queue: &mut BackfillQueue, id: u64, cores: u64, memory: u64) {
    let requirement = needs(queue, cores, memory);
    let job = Waiting {
        job: JobId::new(id),
        requirement,
        submitted: t(id),
        passed: 0,
    };
    queue.push(job).unwrap();
}

fn counters(queue: &BackfillQueue) -> Vec<(u64, u32)> {
    queue
        .waiting()
        .iter()
        .map(|job| (job.job.get(), job.passed))
        .collect()
}

#[test]
fn the_head_starts_whenever_it_fits_and_passes_nobody() {
    let mut queue = quad(9);
    for (id, cores) in [(1, 2), (2, 2), (3, 1)] {
        enqueue(&mut queue, id, cores, 0);
    }
    assert_eq!(queue.start_next(Discipline::Backfill), Some(JobId::new(1)));
    assert_eq!(queue.start_next(Discipline::HeadOnly), Some(JobId::new(2)));
    assert_eq!(queue.start_next(Discipline::Backfill), None);
    assert_eq!(counters(&queue), [(3, 0)]);
    assert_eq!(queue.running().len(), 2);
    queue.check().unwrap();
}

#[test]
fn backfilling_counts_everyone_who_is_passed() {
    // P4's figure 1: two cores are free, the head wants four, and the job behind two others takes them.
    let mut queue = quad(9);
    enqueue(&mut queue, 1, 2, 0);
    queue.start_next(Discipline::Backfill).unwrap();
    for (id, cores) in [(2, 4), (3, 3), (4, 2), (5, 3)] {
        enqueue(&mut queue, id, cores, 0);
    }
    assert_eq!(queue.start_next(Discipline::HeadOnly), None);
    assert_eq!(queue.start_next(Discipline::Backfill), Some(JobId::new(4)));
    assert_eq!(counters(&queue), [(2, 1), (3, 1), (5, 0)]);
    assert_eq!(queue.head_passed(), 1);
    // Job 3 may pass the head, which was passed as often; job 5 may not.
    queue.finish(JobId::new(4)).unwrap();
    queue.finish(JobId::new(1)).unwrap();
    enqueue(&mut queue, 6, 1, 0);
    queue.remove(JobId::new(2)).unwrap();
    assert_eq!(queue.start_next(Discipline::Backfill), Some(JobId::new(3)));
    queue.check().unwrap();
}

#[test]
fn a_job_passed_less_often_than_the_head_may_not_pass_it() {
    let mut queue = quad(9);
    enqueue(&mut queue, 1, 3, 0);
    queue.start_next(Discipline::Backfill).unwrap();
    for (id, cores) in [(2, 4), (3, 1), (4, 1)] {
        enqueue(&mut queue, id, cores, 0);
    }
    assert_eq!(queue.start_next(Discipline::Backfill), Some(JobId::new(3)));
    queue.finish(JobId::new(3)).unwrap();
    assert_eq!(counters(&queue), [(2, 1), (4, 0)]);
    assert_eq!(queue.start_next(Discipline::Backfill), None);
}

#[test]
fn of_several_the_best_balanced_and_fullest_passes() {
    let mut queue = quad(9);
    enqueue(&mut queue, 1, 1, 0);
    queue.start_next(Discipline::Backfill).unwrap();
    enqueue(&mut queue, 2, 4, 0);
    enqueue(&mut queue, 3, 3, 0);
    enqueue(&mut queue, 4, 2, 75);
    enqueue(&mut queue, 5, 2, 75);
    // Job 3 leaves (1, 0): product 1·(2-1)/1; job 4 leaves (3/4, 3/4): product 3/4·(2-3/2)/(3/2).
    assert_eq!(queue.start_next(Discipline::Backfill), Some(JobId::new(4)));
}

#[test]
fn jobs_wait_in_the_order_they_came_into_the_grid() {
    let mut queue = quad(9);
    for id in [5, 2, 9] {
        enqueue(&mut queue, id, 1, 0);
    }
    let requirement = needs(&queue, 1, 0);
    let late = Waiting {
        job: JobId::new(1),
        requirement,
        submitted: t(5),
        passed: 7,
    };
    queue.push(late).unwrap();
    assert_eq!(counters(&queue), [(2, 0), (5, 0), (1, 7), (9, 0)]);
    assert_eq!(queue.remove(JobId::new(1)), Some(late));
    assert_eq!(queue.remove(JobId::new(1)), None);
    queue.check().unwrap();
}

#[test]
fn of_jobs_that_came_at_once_the_first_to_arrive_here_is_first() {
    // A newcomer of equal time may not stand ahead of those that were already passed.
    let mut queue = quad(9);
    let requirement = needs(&queue, 4, 0);
    for id in [7, 3, 5] {
        let job = Waiting {
            job: JobId::new(id),
            requirement,
            submitted: t(1),
            passed: 0,
        };
        queue.push(job).unwrap();
    }
    assert_eq!(counters(&queue), [(7, 0), (3, 0), (5, 0)]);
    queue.check().unwrap();
}

#[test]
fn a_shared_job_becomes_a_queued_one() {
    let mut shared = Job::new(
        JobId::new(4),
        Demand::Nodes(NonZeroU32::MIN),
        Span::from_secs(9),
    )
    .unwrap();
    shared.deadline = Some(t(50));
    shared.submitted = t(2);
    shared.requirement = needs(&quad(1), 1, 1);
    let queued = QueuedJob {
        submitted: t(2),
        ..due(4, 9, 50)
    };
    assert_eq!(QueuedJob::from(&shared), queued);
    let Waiting {
        job,
        requirement,
        submitted,
        passed,
    } = Waiting::from(&shared);
    assert_eq!((job, requirement), (shared.id, shared.requirement));
    assert_eq!((submitted, passed), (t(2), 0));
}

#[test]
fn what_can_never_run_or_is_known_or_finds_no_room_is_refused() {
    let mut queue = quad(2);
    let job = |id, requirement| Waiting {
        job: JobId::new(id),
        requirement,
        submitted: t(id),
        passed: 0,
    };
    assert_eq!(
        queue.push(job(1, needs(&queue, 5, 0))),
        Err(QueueError::Unsuitable)
    );
    enqueue(&mut queue, 1, 1, 0);
    queue.start_next(Discipline::Backfill).unwrap();
    let one = needs(&queue, 1, 0);
    assert_eq!(queue.push(job(1, one)), Err(QueueError::Known));
    enqueue(&mut queue, 2, 1, 0);
    assert_eq!(queue.push(job(2, one)), Err(QueueError::Known));
    assert_eq!(queue.push(job(3, one)), Err(QueueError::Full));
    assert_eq!(queue.start_migrant(&job(3, one)), Err(MigrantRefusal::Full));
    assert_eq!(queue.finish(JobId::new(2)), Err(NotRunning));
    assert_eq!(queue.finish(JobId::new(1)), Ok(()));
    assert!(queue.pool().is_idle());
}

#[test]
fn a_migrant_starts_only_if_it_was_passed_as_often_as_the_head() {
    // P4's figure 2: a job whose counter is 1 may not pass a head with 2, and may pass one with 0.
    let mut queue = quad(9);
    enqueue(&mut queue, 1, 3, 0);
    queue.start_next(Discipline::Backfill).unwrap();
    let requirement = needs(&queue, 4, 0);
    for (id, passed) in [(2, 2), (3, 0)] {
        let job = Waiting {
            job: JobId::new(id),
            requirement,
            submitted: t(id),
            passed,
        };
        queue.push(job).unwrap();
    }
    let one = needs(&queue, 1, 0);
    let migrant = |id, passed| Waiting {
        job: JobId::new(id),
        requirement: one,
        submitted: t(1),
        passed,
    };
    assert_eq!(
        queue.start_migrant(&migrant(9, 1)),
        Err(MigrantRefusal::HeadPassedMore)
    );
    assert_eq!(
        queue.start_migrant(&migrant(1, 2)),
        Err(MigrantRefusal::Known)
    );
    assert_eq!(
        queue.start_migrant(&migrant(2, 2)),
        Err(MigrantRefusal::Known)
    );
    assert_eq!(queue.start_migrant(&migrant(9, 2)), Ok(()));
    assert_eq!(counters(&queue), [(2, 3), (3, 1)]);
    assert_eq!(
        queue.start_migrant(&migrant(8, 3)),
        Err(MigrantRefusal::NoRoom)
    );
    assert_eq!(quad(9).start_migrant(&migrant(9, 0)), Ok(()));
    queue.check().unwrap();
}

#[test]
fn a_node_offers_the_job_that_fills_the_puller_best() {
    let mut queue = quad(9);
    for (id, cores, memory) in [(1, 4, 0), (2, 2, 50), (3, 2, 50), (4, 1, 0)] {
        enqueue(&mut queue, id, cores, memory);
    }
    let puller = quad(9);
    let offer = |pool: &Pool, counter| queue.best_for(pool, counter).map(|job| job.job.get());
    // Job 2 leaves the puller balanced, at (1/2, 1/2): 1/2; job 1 at (1, 0): 1; job 4 at (1/4, 0): 7/4.
    assert_eq!(offer(puller.pool(), 0), Some(2));
    assert_eq!(offer(puller.pool(), 1), None);
    let mut busy = puller.clone();
    enqueue(&mut busy, 1, 3, 0);
    busy.start_next(Discipline::HeadOnly).unwrap();
    assert_eq!(offer(busy.pool(), 0), Some(4));
}

#[test]
fn refusals_say_why() {
    assert!(QueueError::Known.to_string().contains("already"));
    assert!(QueueError::Full.to_string().contains("full"));
    assert!(QueueError::Unsuitable.to_string().contains("never"));
    assert!(NotRunning.to_string().contains("not run"));
    assert!(MigrantRefusal::HeadPassedMore.to_string().contains("head"));
    assert!(MigrantRefusal::NoRoom.to_string().contains("not free"));
    assert!(MigrantRefusal::Known.to_string().contains("already"));
    assert!(MigrantRefusal::Full.to_string().contains("full"));
}
