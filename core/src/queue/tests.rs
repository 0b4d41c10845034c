use super::*;
use crate::id::JobId;
use crate::job::{Demand, Job};
use crate::resource::{Dimensions, Kind, Pool, Requirement};
use crate::time::{Span, Time};
use core::num::NonZeroU32;
use std::string::ToString;
use std::vec::Vec;

fn t(secs: u64) -> Time {
    Time::from_secs(secs)
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
fn the_head_starts_whenever_it_fits_and_passes_no_job() {
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
fn backfilling_counts_a_pass_for_every_job_that_is_passed() {
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
        deadline: Some(t(50)),
        submitted: t(2),
        ..QueuedJob::new(JobId::new(4), Span::from_secs(9))
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
